# The ways of dimension order with ties split, as a file for --routing: one line for each of the 2^j
# ways of a pair that is half way round on j axes. Axes of 3 and more.
# Usage: awk -v shape=4x4x4 -f torus-routes.awk
BEGIN {
    axes = split(shape, side, "x")
    chips = 1
    for (a = 1; a <= axes; a++) {
        stride[a] = chips
        chips *= side[a]
    }
    for (from = 0; from < chips; from++)
        for (to = 0; to < chips; to++)
            if (from != to)
                walk(from "", from, to, 1)
}

# walk(WAY, AT, TO, A): WAY has led to AT, which differs from TO in axis A and later ones
function walk(way, at, to, a,    ahead) {
    if (a > axes) {
        split(way, chip, " ")
        print chip[1], to ": " way
        return
    }
    ahead = (coordinate(to, a) - coordinate(at, a) + side[a]) % side[a]
    if (2 * ahead <= side[a])
        turn(way, at, to, a, ahead, 1)
    if (2 * ahead >= side[a])
        turn(way, at, to, a, side[a] - ahead, side[a] - 1)
}

# turn(..., HOPS, BY): along axis A, each hop adding BY to the coordinate
function turn(way, at, to, a, hops, by,    here) {
    while (hops-- > 0) {
        here = coordinate(at, a)
        at += ((here + by) % side[a] - here) * stride[a]
        way = way " " at
    }
    walk(way, at, to, a + 1)
}

function coordinate(chip, a) {
    return int(chip / stride[a]) % side[a]
}
