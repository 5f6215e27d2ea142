# What the plot-* scripts have in common; sourced by them, with
#
#   name      of the script, for messages
#   command   of podsim whose table it draws
#
# NAME.awk splits the table into the files that NAME.gp draws; it prints what is wrong with it.
set -euo pipefail
export LC_ALL=C
here=$(dirname -- "$0")

# die CODE TEXT: codes of <sysexits.h>, as podsim's own
die() {
    echo "plot-$name: $2" >&2
    exit "$1"
}

output='' input=''
while (($# > 0)); do
    case $1 in
    -h | --help)
        sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
    -o)
        (($# > 1)) || die 64 "-o needs a value: -o FILE.png"
        output=$2
        shift 2
        ;;
    --)
        shift
        break
        ;;
    -?*) die 64 "unknown option $1, want -o FILE [TABLE.csv] or -o FILE -- PODSIM OPTIONS" ;;
    *)
        [[ -z $input ]] || die 64 "two tables, $input and $1; want one"
        input=$1
        shift
        continue
        ;;
    esac
done
[[ -n $output ]] || die 64 "no output given, as in -o $name.png"
case $output in
*.png) font=22 dot=1.1 terminal='pngcairo size 1920,1080 linewidth 2.5' ;;
*.svg) font=20 dot=0.6 terminal='svg size 1600,900 linewidth 2' ;;
*.pdf) font=18 dot=0.6 terminal='pdfcairo size 13.33in,7.5in linewidth 2' ;;
*) die 64 "$output: want a name that ends in .png, .svg or .pdf" ;;
esac
[[ $# -eq 0 || -z $input ]] || die 64 "both a table, $input, and podsim options after --; want one"
[[ -z $input || $input == - || -r $input ]] || die 66 "$input: cannot be read"
command -v gnuplot >/dev/null || die 69 "gnuplot is missing; on Debian: apt install gnuplot-nox"

folder=$(dirname -- "$output")
[[ -d $folder && -w $folder ]] || die 73 "$output: cannot create a file in $folder"
work=$(mktemp -d)
partial=$(mktemp "$folder/.plot-$name.XXXXXX")
trap 'rm -rf "$work" "$partial"' EXIT

if (($# > 0)); then
    podsim=${PODSIM:-$here/../build/release/podsim}
    [[ -x $podsim ]] ||
        die 66 "$podsim is missing; scripts/build.sh release builds it, PODSIM names another"
    "$podsim" "$command" "$@" --format csv >"$work/table.csv"
    input=podsim
elif [[ -z $input || $input == - ]]; then
    cat >"$work/table.csv"
    input=stdin
else
    cat -- "$input" >"$work/table.csv"
fi

problem=$(awk -v work="$work" -f "$here/plot/table.awk" -f "$here/plot/$name.awk" "$work/table.csv")
[[ -z $problem ]] || die 65 "$input $problem"
look="background 'white' font 'Sans,$font'"
values="work = '$work'; base = $font; dot = $dot"
gnuplot -e "set terminal $terminal $look; set output '$partial'; $values" \
    "$here/plot/$name.gp" 2>"$work/errors" ||
    die 70 "gnuplot: $(grep -v '^ *$' "$work/errors" | tail -n 1)"
chmod "$(printf '%o' $((0666 & ~$(umask))))" "$partial"
mv -f -- "$partial" "$output"
