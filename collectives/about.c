/*
 * Texts. n members, d axes of k, a the time of a hop, V the buffer, W a link's rate, q chunks; of
 * all-reduce unless said. The files of the algorithms have the rest.
 */
#include "collectives/about.h"

static const struct coll_about about[COLL_ALGORITHMS] = {
    [COLL_RING] = {"one way round a cycle of all members; both ways on a line",
                   "2(n-1) a + 2(n-1)/n V/W", "", "Patarasuk & Yuan 2009"},
    [COLL_BIDIRECTIONAL_RING] = {"half of the buffer each way round", "2(n-1) a + (n-1)/n V/W", "",
                                 "Patarasuk & Yuan 2009"},
    [COLL_SHORT_RING] = {"every shard both ways, half round", "2 ceil((n-1)/2) a + (n-1)/n V/W", "",
                         "Chan et al. 2007"},
    [COLL_BUCKET] = {"axis by axis, 2d colours that begin on different axes and directions",
                     "2d(k-1) a + (n-1)/n V/(dW)", "", "Jain & Sabharwal 2010"},
    [COLL_BUCKET_1] = {"axis by axis, one colour, one direction", "2d(k-1) a + 2(n-1)/n V/W", "",
                       "Barnett et al. 1993"},
    [COLL_BUCKET_2] = {"axis by axis, one colour, both directions", "2d(k-1) a + (n-1)/n V/W", "",
                       "Barnett et al. 1993"},
    [COLL_BUCKET_SHORT] = {"axis by axis, d colours, every shard both ways",
                           "2d ceil((k-1)/2) a + (n-1)/n V/(dW)", "", "Jain & Sabharwal 2010"},
    [COLL_BUCKET_ALL] = {"axis by axis in every order, in searched shares: for unequal sides",
                         "by a model of the colours", "at most 3 axes", "Jain & Sabharwal 2010"},
    [COLL_DIRECT] = {"every member to every other at once; the routing's way for messages",
                     "2 a + 2V/(nW) on a full mesh", "", "Thakur et al. 2005"},
    [COLL_RECURSIVE_DOUBLING] = {"partners 1, 2, 4, ... away exchange all they have",
                                 "log2 n (a + V/W) on a full mesh", "", "Thakur et al. 2005"},
    [COLL_HALVING_DOUBLING] = {"partners 1, 2, 4, ... away: halves, then doubled",
                               "2 log2 n a + 2(n-1)/n V/W on a full mesh", "", "Rabenseifner 2004"},
    [COLL_BRUCK] = {"partners 1, 2, 4, ... places back, any number of members",
                    "2 ceil(log2 n) a + 2(n-1)/n V/W on a full mesh", "", "Bruck et al. 1997"},
    [COLL_BINOMIAL] = {"a tree of distances n/2, ..., 2, 1", "2 log2 n (a + V/W) on a full mesh",
                       "", "Thakur et al. 2005"},
    [COLL_BINE] = {"a binomial tree on negabinary numbers: shorter ways",
                   "2 log2 n (a + V/W) on a full mesh", "a power of two members",
                   "De Sensi et al. 2025"},
    [COLL_CHAIN] = {"chunks along a line, from or to the root on both sides",
                    "2L a + (2L-1+q)/q V/W, L = ceil((n-1)/2)", "", "Thakur et al. 2005"},
    [COLL_BINARY_TREE] = {"chunks up a binary tree and down again",
                          "about 2 log2 n a + (2 log2 n + q)/q 3V/W", "", "Sanders et al. 2009"},
    [COLL_DOUBLE_TREE] = {"half of the buffer on each of two binary trees",
                          "about 2 log2 n a + (2 log2 n + q)/q 2V/W", "", "Sanders et al. 2009"},
    [COLL_SWING] = {"partners 1, 1, 3, 5, 11, ... away on alternating sides, 2d colours",
                    "2 sum of delta (a + V/(2d) / 2^(s+1) / W)", "axes that are powers of two",
                    "De Sensi et al. 2024"},
    [COLL_SWING_LATENCY] = {"the same partners exchanging all of the buffer",
                            "sum of delta (a + V/(2d) / W)", "axes that are powers of two",
                            "De Sensi et al. 2024"},
    [COLL_HIERARCHICAL] = {"inside slices, between them, inside again",
                           "2 T(bucket) + 2(m-1) a' + 2(m-1)/m V/(n W'), m slices",
                           "a group over several slices", "Cho et al. 2019"},
    [COLL_CHANNELS] = {"a ring for each chip of a domain, on a rail of its own",
                       "2(n-1) a + 2(n-1)/n V/(k W'), k rails of W'", "all of a fabric of domains",
                       "Hu et al. 2025"},
    [COLL_HAMILTONIAN] = {"short rings on c cycles past all chips that share no cable",
                          "2 floor(n/2) a + (n-1)/n V/(cW), c = d on a torus",
                          "all of a torus or mesh", "Bermond et al. 1989"},
    [COLL_PHASED] = {"all-to-all axis by axis, d colours, storing in between",
                     "about d floor(k/2) a + V k/(8W)", "", "Suh & Shin 2001"},
};

const struct coll_about *coll_about(enum coll_algorithm algorithm)
{
    return &about[algorithm];
}
