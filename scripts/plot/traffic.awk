# The table of `podsim traffic --format csv`, made ready for traffic.gp in the folder `work`:
# series.dat (offered, accepted, mean and 99 % latency in us; an index for each pattern), full.dat
# (offered, accepted of saturated points; the same indices) and head.gp. Prints what is wrong, if
# anything.

function read_row(    p) {
    if (value("offered") == "offered") return # the next table's heading
    same("topology")
    if (failed) exit
    p = value("pattern")
    if (!(p in points)) pattern[++patterns] = p
    if (value("saturated") == "true") {
        full[p] = full[p] value("offered") " " value("accepted") "\n"
        return
    }
    points[p]++
    carried++
    line[p] = line[p] value("offered") " " value("accepted") " " value("latency_mean_us") " " \
        value("latency_p99_us") "\n"
    if (low == "" || value("latency_p50_us") + 0 < low) low = value("latency_p50_us") + 0
    if (value("latency_p99_us") + 0 > high) high = value("latency_p99_us") + 0
}

# 1, 2 and 5 of each power of ten.
function tics(low, high,    e, i, v, text) {
    for (e = -6; e <= 9; e++)
        for (i = 1; i <= 3; i++) {
            v = step[i] * 10 ^ e
            if (v > low && v < high) text = text (text == "" ? "" : ", ") sprintf("%g", v)
        }
    return text
}

BEGIN {
    split("1 2 5", step, " ")
    command = "traffic"
    wanted = split("topology pattern offered accepted latency_mean_us latency_p50_us " \
                   "latency_p99_us saturated", want, " ")
}
END {
    finish_reading()
    if (carried == 0) fail("has no row that is not saturated")
    for (i = 1; i <= patterns; i++) {
        printf "%s\n\n", line[pattern[i]] > (work "/series.dat")
        # an index without a point would shift the others
        printf "%s\n\n", full[pattern[i]] == "" ? "nan nan\n" : full[pattern[i]] \
            > (work "/full.dat")
        names = names (i > 1 ? ", " : "") quoted(pattern[i])
    }
    print "title_text = " quoted("traffic on " only["topology"]) > (work "/head.gp")
    print "patterns = " patterns > (work "/head.gp")
    print "array name[" patterns "] = [" names "]" > (work "/head.gp")
    printf "us_low = %.17g; us_high = %.17g\n", low / 1.3, high * 1.3 > (work "/head.gp")
    print "set ytics (" tics(low / 1.3, high * 1.3) ")" > (work "/head.gp")
}
