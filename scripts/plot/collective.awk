# The table of `podsim collective --format csv`, made ready for collective.gp in the folder `work`:
# series.dat (bytes, GB/s, us; an index for each algorithm, best first), bound.dat (the same) and
# head.gp. Prints what is wrong, if anything.

function widen(us, gb_per_s) {
    if (low_us == "" || us < low_us) low_us = us
    if (high_us == "" || us > high_us) high_us = us
    if (low_rate == "" || gb_per_s < low_rate) low_rate = gb_per_s
    if (high_rate == "" || gb_per_s > high_rate) high_rate = gb_per_s
}

function read_row(    v, us, rate, a) {
    v = value("bytes") + 0
    us = value("time_us") + 0
    rate = value("busbw_gb_per_s") + 0
    if (v <= 0 || us <= 0 || rate <= 0) return
    same("op"); same("topology"); same("axes")
    if (failed) exit
    chips = value("chips")
    group = value("group")
    factor = rate / value("algbw_gb_per_s")
    a = value("algorithm")
    if (!(a in points)) algorithm[++algorithms] = a
    points[a]++
    bytes_of[a, points[a]] = v
    us_of[a, points[a]] = us
    rate_of[a, points[a]] = rate
    if (v >= largest[a]) { largest[a] = v; last_rate[a] = rate }
    if (!(v in bound)) size[++sizes] = v
    bound[v] = value("bound_us") + 0
    hops[v] = value("bound_latency_us") + 0
    moved[v] = value("bound_bytes_us") + 0
    widen(us, rate)
}

# ---- orders; there are few of each, so by insertion ----

function swap(list, i, j,    t) { t = list[i]; list[i] = list[j]; list[j] = t }

function sort_sizes(    i, j) {
    for (i = 2; i <= sizes; i++)
        for (j = i; j > 1 && size[j] < size[j - 1]; j--) swap(size, j, j - 1)
}

# A line goes from small to large.
function sort_points(a,    i, j) {
    for (i = 2; i <= points[a]; i++)
        for (j = i; j > 1 && bytes_of[a, j] < bytes_of[a, j - 1]; j--) {
            swap(bytes_of, a SUBSEP j, a SUBSEP (j - 1))
            swap(us_of, a SUBSEP j, a SUBSEP (j - 1))
            swap(rate_of, a SUBSEP j, a SUBSEP (j - 1))
        }
}

# The legend lists algorithms as their lines end, from top to bottom.
function ends_above(a, b) {
    return largest[a] != largest[b] ? largest[a] > largest[b] : last_rate[a] > last_rate[b]
}

function sort_algorithms(    i, j) {
    for (i = 2; i <= algorithms; i++)
        for (j = i; j > 1 && ends_above(algorithm[j], algorithm[j - 1]); j--)
            swap(algorithm, j, j - 1)
}

# ---- what gnuplot reads ----

function write_series(    i, k, a, file) {
    file = work "/series.dat"
    for (i = 1; i <= algorithms; i++) {
        a = algorithm[i]
        sort_points(a)
        for (k = 1; k <= points[a]; k++) print bytes_of[a, k], rate_of[a, k], us_of[a, k] > file
        printf "\n\n" > file
    }
}

function bound_point(v, us,    rate) {
    if (us <= 0) return
    rate = v * factor / us / 1e3
    print v, rate, us > (work "/bound.dat")
    widen(us, rate)
    has_bound = 1
}

# The bound is the larger of hops and bytes, two lines on logarithmic axes: where bytes overtake
# hops between two sizes it has a corner.
function corner(w, v,    below, above, share) {
    if (!(hops[w] > moved[w] && moved[v] > hops[v] && moved[w] > 0)) return
    below = log(moved[w] / hops[w])
    above = log(moved[v] / hops[v])
    share = below / (below - above)
    bound_point(w * exp(share * log(v / w)), hops[w] * exp(share * log(hops[v] / hops[w])))
}

function write_bound(    i) {
    for (i = 1; i <= sizes; i++) {
        if (i > 1) corner(size[i - 1], size[i])
        bound_point(size[i], bound[size[i]])
    }
}

function bytes_text(v,    u) {
    for (u = 1; v >= 1024 && u < 5; u++) v /= 1024
    return sprintf("%g %s", v, unit[u])
}

function time_text(us) {
    if (us >= 1e6) return sprintf("%g s", us / 1e6)
    if (us >= 1e3) return sprintf("%g ms", us / 1e3)
    return us >= 1 ? sprintf("%g us", us) : sprintf("%g ns", us * 1e3)
}

# Powers of two, as many as there is room for.
function byte_tics(low, high,    octaves, step, e, text) {
    octaves = log(high / low) / log(2)
    step = octaves > 32 ? 10 : octaves > 12 ? 5 : octaves > 6 ? 2 : 1
    for (e = 0; e <= 63; e += step)
        if (2 ^ e > low * 0.999 && 2 ^ e < high * 1.001)
            text = text (text == "" ? "" : ", ") quoted(bytes_text(2 ^ e)) " " 2 ^ e
    return text
}

function time_tics(low, high,    e, text) {
    for (e = -6; e <= 15; e++)
        if (10 ^ e > low && 10 ^ e < high)
            text = text (text == "" ? "" : ", ") quoted(time_text(10 ^ e)) " 1e" e
    return text
}

function write_head(    file, low, high, i, names) {
    file = work "/head.gp"
    low = size[1]
    high = size[sizes]
    if (low == high) { low /= 2; high *= 2 }
    for (i = 1; i <= algorithms; i++) names = names (i > 1 ? ", " : "") quoted(algorithm[i])
    print "title_text = " quoted(only["op"] " on " only["topology"]) > file
    print "detail_text = " quoted(chips == group ? chips " chips" : \
        "groups of " group " along " only["axes"] ", all " chips " chips at once") > file
    print "algorithms = " algorithms > file
    print "array name[" algorithms "] = [" names "]" > file
    print "has_bound = " has_bound + 0 > file
    printf "set xrange [%.17g:%.17g]\n", low, high > file
    printf "rate_low = %.17g; rate_high = %.17g\n", low_rate / 1.6, high_rate * 2 > file
    printf "us_low = %.17g; us_high = %.17g\n", low_us / 2, high_us * 1.6 > file
    print "set xtics (" byte_tics(low, high) ")" > file
    print "us_tics = " quoted(time_tics(low_us / 2, high_us * 1.6)) > file
}

BEGIN {
    command = "collective"
    split("B KiB MiB GiB TiB", unit, " ")
    wanted = split("op algorithm topology chips axes group bytes time_us algbw_gb_per_s " \
                   "busbw_gb_per_s bound_us bound_latency_us bound_bytes_us", want, " ")
}
END {
    finish_reading()
    if (algorithms == 0) fail("has no row with bytes and time above 0")
    sort_sizes()
    sort_algorithms()
    write_series()
    write_bound()
    write_head()
}
