# Reading a table of `podsim COMMAND --format csv`, for the *.awk files beside it: they set `command`
# and the columns want[1 .. wanted], and define read_row().

# Fields of a CSV line; quoted ones may hold commas and doubled quotes.
function split_csv(line, field,    n, rest, part) {
    rest = line ","
    while (rest != "") {
        if (match(rest, /^"([^"]|"")*",/)) {
            part = substr(rest, 2, RLENGTH - 3)
            gsub(/""/, "\"", part)
        } else {
            match(rest, /^[^,]*,/)
            part = substr(rest, 1, RLENGTH - 1)
        }
        field[++n] = part
        rest = substr(rest, RLENGTH + 1)
    }
    return n
}

function fail(text) {
    print text
    failed = 1
    exit
}

function value(column) { return field[at[column]] }

# All rows must agree on what a picture has one of.
function same(column) {
    if (column in only && only[column] != value(column))
        fail("holds rows of " column " " only[column] " and " value(column) "; plot one at a time")
    only[column] = value(column)
}

function read_head(    i) {
    columns = split_csv($0, name)
    for (i = 1; i <= columns; i++) at[name[i]] = i
    for (i = 1; i <= wanted; i++)
        if (!(want[i] in at))
            fail("has no column " want[i] "; want the table of podsim " command " --format csv")
}

function quoted(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}

function finish_reading() {
    if (failed) exit
    if (NR == 0) fail("is empty; want the table of podsim " command " --format csv")
}

{ sub(/\r$/, "") }
NR == 1 { read_head(); next }
$0 == "" { next }
{
    if (split_csv($0, field) != columns)
        fail("line " NR " has another number of columns than line 1")
    read_row()
}
