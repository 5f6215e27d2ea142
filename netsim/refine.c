/*
 * Cost of a round: one pass over the words, and sorting the chips' colours. Rounds go on while
 * colours get more: at most as many as the widest part has hops across, and few where something
 * is odd in every part. A single part in which some colour has one chip has no symmetry at all
 * (every place is one to one, so the classes of a part are of one size), and the search ends.
 */
#include "netsim/refine.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define VISITS_MAX (UINT64_C(1) << 28) /* words looked at in all rounds */

struct coloured {
    uint64_t colour;
    topo_chip_id chip;
};

struct refiner {
    const struct net_schedules *all;
    const topo *t;
    struct net_usage usage;
    uint64_t *colour;         /* [chips] */
    uint64_t *next;           /* [chips] in the next round */
    uint64_t *link;           /* [links] colours of links */
    uint64_t *heard;          /* [chips] from those that send to them */
    struct coloured *ordered; /* [chips] by colour, then chip */
    uint32_t *stamp;          /* [the more of chips and links] place that was last seen there */
    uint32_t *times;          /* the same: how often it was */
    uint32_t stamps;          /* places seen so far */
    uint64_t visits;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    uint64_t z = (hash ^ value) + UINT64_C(0x9e3779b97f4a7c15); /* splitmix64's finish */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- what a chip does by itself ---- */

static uint64_t first_colour(const struct net_schedules *all, topo_chip_id chip)
{
    uint64_t colour = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const net_schedule *s = all->schedule[i];
        colour = mix(colour, net_role(s, chip));
        for (uint32_t g = 0; g < net_schedule_guards(s); g++)
            colour = mix(colour, net_is_under_guard(s, chip, g));
    }
    return colour;
}

static bool does_the_same(const struct net_schedules *all, topo_chip_id a, topo_chip_id b)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const net_schedule *s = all->schedule[i];
        if (net_role(s, a) != net_role(s, b)) return false;
        for (uint32_t g = 0; g < net_schedule_guards(s); g++)
            if (net_is_under_guard(s, a, g) != net_is_under_guard(s, b, g)) return false;
    }
    return true;
}

/* ---- rounds ---- */

static uint64_t colour_of_link(const topo *t, topo_link_id link)
{
    double rate = topo_link_rate(t, link);
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    return mix(bits, (uint64_t)topo_link_latency_ps(t, link));
}

/* Every link and chip hears the colour of whom it serves, and at which place. Sums do not depend on
 * the order. */
static void tell(struct refiner *r)
{
    const struct net_usage *u = &r->usage;
    for (topo_link_id l = 0; l < u->links; l++)
        r->link[l] = colour_of_link(r->t, l);
    memset(r->heard, 0, u->chips * sizeof *r->heard);
    for (topo_chip_id c = 0; c < u->chips; c++)
        for (size_t i = u->begin[c]; i < u->begin[c + 1]; i++) {
            uint32_t value = net_word_value(u->word[i]);
            uint64_t said = mix(r->colour[c], i - u->begin[c]);
            if (net_word_kind(u->word[i]) == NET_WORD_LINK) r->link[value] += said;
            if (net_word_kind(u->word[i]) == NET_WORD_CHIP) r->heard[value] += said;
        }
}

static uint64_t next_colour(const struct refiner *r, topo_chip_id chip)
{
    const struct net_usage *u = &r->usage;
    uint64_t colour = mix(r->colour[chip], r->heard[chip]);
    for (size_t i = u->begin[chip]; i < u->begin[chip + 1]; i++) {
        uint32_t value = net_word_value(u->word[i]);
        switch (net_word_kind(u->word[i])) {
        case NET_WORD_FORM:
            colour = mix(colour, value);
            break;
        case NET_WORD_LINK:
            colour = mix(colour, r->link[value]);
            break;
        case NET_WORD_CHIP:
            colour = mix(colour, r->colour[value]);
            break;
        }
    }
    return colour;
}

static int compare_coloured(const void *left, const void *right)
{
    const struct coloured *a = left, *b = right;
    if (a->colour != b->colour) return a->colour < b->colour ? -1 : 1;
    return (a->chip > b->chip) - (a->chip < b->chip);
}

/* The end of the run of one colour that begins at `begin` of the ordered chips. */
static uint32_t run_end(const struct refiner *r, uint32_t begin)
{
    uint32_t end = begin + 1;
    while (end < r->usage.chips && r->ordered[end].colour == r->ordered[begin].colour)
        end++;
    return end;
}

struct census {
    uint32_t colours, single; /* of them those that one chip has */
};

static struct census count_colours(struct refiner *r)
{
    uint32_t chips = r->usage.chips;
    struct census n = {0};
    for (topo_chip_id c = 0; c < chips; c++)
        r->ordered[c] = (struct coloured){r->colour[c], c};
    qsort(r->ordered, chips, sizeof *r->ordered, compare_coloured);
    for (uint32_t i = 0, end; i < chips; i = end) {
        end = run_end(r, i);
        n.colours++;
        n.single += end == i + 1;
    }
    return n;
}

/* Rounds until the colours stand. False: no symmetry, or too dear. */
static bool refine(struct refiner *r)
{
    uint32_t chips = r->usage.chips, before = 0;
    struct census now = count_colours(r);
    while (now.colours > before) {
        if (now.colours == chips || r->visits > VISITS_MAX) return false;
        if (now.single > 0 && r->usage.is_one_part) return false;
        before = now.colours;
        r->visits += r->usage.begin[chips] + chips;
        tell(r);
        for (topo_chip_id c = 0; c < chips; c++)
            r->next[c] = next_colour(r, c);
        memcpy(r->colour, r->next, chips * sizeof *r->colour);
        now = count_colours(r);
    }
    return true;
}

/* ---- places that lead one to one ---- */

/* Of the chips of one colour, those that meet at place `i` of their words, on a link or at a chip,
 * are told apart by their order. False: none meet. */
static bool part_at(struct refiner *r, uint32_t begin, uint32_t end, size_t i)
{
    const struct net_usage *u = &r->usage;
    bool meet = false;
    r->stamps++;
    for (uint32_t m = begin; m < end; m++) {
        uint32_t at = net_word_value(u->word[u->begin[r->ordered[m].chip] + i]);
        if (r->stamp[at] != r->stamps) r->times[at] = 0;
        r->stamp[at] = r->stamps;
        meet = meet || r->times[at] > 0;
        r->next[r->ordered[m].chip] = r->times[at]++;
    }
    for (uint32_t m = begin; m < end && meet; m++) {
        topo_chip_id c = r->ordered[m].chip;
        r->colour[c] = mix(r->colour[c], r->next[c]);
    }
    return meet;
}

static uint32_t words_of(const struct net_usage *u, topo_chip_id chip)
{
    return (uint32_t)(u->begin[chip + 1] - u->begin[chip]);
}

/* Are words of one form, up to the names in them? */
static bool is_same_form(const struct net_usage *u, topo_chip_id a, topo_chip_id b)
{
    const uint32_t *x = u->word + u->begin[a], *y = u->word + u->begin[b];
    if (words_of(u, a) != words_of(u, b)) return false;
    for (uint32_t i = 0; i < words_of(u, a); i++)
        if (net_word_kind(x[i]) != net_word_kind(y[i]) ||
            (net_word_kind(x[i]) == NET_WORD_FORM && x[i] != y[i]))
            return false;
    return true;
}

enum meeting { NOBODY_MEETS, SOME_PARTED, NOT_THE_SAME };

/* Looks for chips of one colour that meet, and parts them; also holds all chips of a colour to what
 * they do by themselves. */
static enum meeting part_colours(struct refiner *r)
{
    const struct net_usage *u = &r->usage;
    enum meeting found = NOBODY_MEETS;
    for (uint32_t begin = 0, end; begin < u->chips; begin = end) {
        topo_chip_id first = r->ordered[begin].chip;
        end = run_end(r, begin);
        for (uint32_t m = begin + 1; m < end; m++)
            if (!is_same_form(u, first, r->ordered[m].chip) ||
                !does_the_same(r->all, first, r->ordered[m].chip))
                return NOT_THE_SAME;
        for (uint32_t i = 0; i < words_of(u, first) && end > begin + 1; i++) {
            if (net_word_kind(u->word[u->begin[first] + i]) == NET_WORD_FORM) continue;
            if (!part_at(r, begin, end, i)) continue;
            found = SOME_PARTED;
            break;
        }
    }
    return found;
}

static bool find_colours(struct refiner *r)
{
    enum meeting found;
    do {
        if (!refine(r)) return false;
        found = part_colours(r);
    } while (found == SOME_PARTED);
    return found == NOBODY_MEETS;
}

/* ---- classes, compared word by word ---- */

/* Numbers the chips' classes by their lowest chips, which go to `lowest`. */
static void number_chips(const struct refiner *r, struct net_classes *out, topo_chip_id *lowest)
{
    uint32_t chips = r->usage.chips, *first = SIM_NEW(uint32_t, chips);
    for (uint32_t begin = 0, end; begin < chips; begin = end) {
        end = run_end(r, begin);
        for (uint32_t m = begin; m < end; m++)
            first[r->ordered[m].chip] = r->ordered[begin].chip;
    }
    for (topo_chip_id c = 0; c < chips; c++) {
        if (first[c] == c) lowest[out->chips++] = c;
        out->class_of_chip[c] = first[c] == c ? out->chips - 1 : out->class_of_chip[first[c]];
    }
    sim_free(first);
}

/* What the chips of one colour have at place `i` of their words is of one class; a link may have
 * got its class from another place already. */
static bool is_one_class_at(const struct refiner *r, uint32_t begin, uint32_t end, uint32_t i,
                            struct net_classes *out)
{
    const struct net_usage *u = &r->usage;
    uint32_t first = u->word[u->begin[r->ordered[begin].chip] + i];
    bool is_link = net_word_kind(first) == NET_WORD_LINK;
    uint32_t *class_of = is_link ? out->class_of_link : out->class_of_chip;
    uint32_t *wanted = &class_of[net_word_value(first)];
    if (*wanted == NET_NONE) *wanted = out->links++;
    for (uint32_t m = begin + 1; m < end; m++) {
        uint32_t *found = &class_of[net_word_value(u->word[u->begin[r->ordered[m].chip] + i])];
        if (*found == NET_NONE) *found = *wanted;
        if (*found != *wanted) return false;
    }
    return true;
}

/* Place by place, since the links of a class are all passed at the same places. */
static bool number_links(const struct refiner *r, struct net_classes *out)
{
    const struct net_usage *u = &r->usage;
    for (uint32_t begin = 0, end; begin < u->chips; begin = end) {
        topo_chip_id first = r->ordered[begin].chip;
        end = run_end(r, begin);
        for (uint32_t i = 0; i < words_of(u, first); i++)
            if (net_word_kind(u->word[u->begin[first] + i]) != NET_WORD_FORM &&
                !is_one_class_at(r, begin, end, i, out))
                return false;
    }
    return true;
}

/* Passages over links and messages to chips, by all chips, and by the lowest of each class as its
 * classes see them. */
struct tally {
    uint32_t *at_link, *at_chip, *of_link, *of_chip;
};

static void count_use(const struct net_usage *u, const struct net_classes *n,
                      const topo_chip_id *lowest, struct tally *tally)
{
    for (topo_chip_id c = 0; c < u->chips; c++) {
        bool is_lowest = lowest[n->class_of_chip[c]] == c;
        for (size_t i = u->begin[c]; i < u->begin[c + 1]; i++) {
            uint32_t at = net_word_value(u->word[i]);
            if (net_word_kind(u->word[i]) == NET_WORD_LINK) {
                tally->at_link[at]++;
                tally->of_link[n->class_of_link[at]] += is_lowest;
            } else if (net_word_kind(u->word[i]) == NET_WORD_CHIP) {
                tally->at_chip[at]++;
                tally->of_chip[n->class_of_chip[at]] += is_lowest;
            }
        }
    }
}

/* Each link and chip serves as many as its class's one link or chip will: with places one to one
 * that is each place once. */
static bool is_used_alike(const struct net_usage *u, const struct net_classes *n,
                          const topo_chip_id *lowest)
{
    struct tally tally = {SIM_NEW(uint32_t, u->links), SIM_NEW(uint32_t, u->chips),
                          SIM_NEW(uint32_t, n->links), SIM_NEW(uint32_t, n->chips)};
    bool is_alike = true;
    count_use(u, n, lowest, &tally);
    for (topo_chip_id c = 0; c < u->chips; c++)
        is_alike = is_alike && tally.at_chip[c] == tally.of_chip[n->class_of_chip[c]];
    for (topo_link_id l = 0; l < u->links; l++)
        if (n->class_of_link[l] != NET_NONE)
            is_alike = is_alike && tally.at_link[l] == tally.of_link[n->class_of_link[l]];
    sim_free(tally.at_link);
    sim_free(tally.at_chip);
    sim_free(tally.of_link);
    sim_free(tally.of_chip);
    return is_alike;
}

/* One rate and one latency in each class. */
static bool are_links_alike(const topo *t, const struct net_classes *n)
{
    topo_link_id *first = SIM_NEW(topo_link_id, n->links);
    bool is_alike = true;
    for (uint32_t k = 0; k < n->links; k++)
        first[k] = TOPO_NONE;
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        uint32_t k = n->class_of_link[l];
        if (k == NET_NONE) continue;
        if (first[k] == TOPO_NONE) first[k] = l;
        is_alike = is_alike && topo_link_rate(t, l) == topo_link_rate(t, first[k]) &&
                   topo_link_latency_ps(t, l) == topo_link_latency_ps(t, first[k]);
    }
    sim_free(first);
    return is_alike;
}

/* Links that nobody uses stand together. */
static void number_the_rest(const topo *t, struct net_classes *n)
{
    bool are_some = false;
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        if (n->class_of_link[l] != NET_NONE) continue;
        n->class_of_link[l] = n->links;
        are_some = true;
    }
    n->links += are_some;
}

static bool make_classes(const struct refiner *r, struct net_classes *out)
{
    const struct net_usage *u = &r->usage;
    topo_chip_id *lowest = SIM_NEW(topo_chip_id, u->chips);
    *out = (struct net_classes){.class_of_chip = SIM_NEW(uint32_t, u->chips),
                                .class_of_link = SIM_NEW(uint32_t, u->links)};
    for (topo_link_id l = 0; l < u->links; l++)
        out->class_of_link[l] = NET_NONE;
    number_chips(r, out, lowest);
    bool is_made =
        number_links(r, out) && is_used_alike(u, out, lowest) && are_links_alike(r->t, out);
    sim_free(lowest);
    number_the_rest(r->t, out);
    if (!is_made) {
        sim_free(out->class_of_chip);
        sim_free(out->class_of_link);
    }
    return is_made;
}

/* ---- the whole ---- */

bool net_refine(const struct net_schedules *all, size_t most, struct net_classes *out)
{
    struct refiner r = {.all = all, .t = net_schedule_topo(all->schedule[0])};
    if (!net_usage_write(all, most, &r.usage)) return false;
    uint32_t chips = r.usage.chips, links = r.usage.links, longer = chips > links ? chips : links;
    r.colour = SIM_NEW(uint64_t, chips);
    r.next = SIM_NEW(uint64_t, chips);
    r.link = SIM_NEW(uint64_t, links);
    r.heard = SIM_NEW(uint64_t, chips);
    r.ordered = SIM_NEW(struct coloured, chips);
    r.stamp = SIM_NEW(uint32_t, longer);
    r.times = SIM_NEW(uint32_t, longer);
    for (topo_chip_id c = 0; c < chips; c++)
        r.colour[c] = first_colour(all, c);
    bool is_found = find_colours(&r) && make_classes(&r, out);
    net_usage_release(&r.usage);
    sim_free(r.colour);
    sim_free(r.next);
    sim_free(r.link);
    sim_free(r.heard);
    sim_free(r.ordered);
    sim_free(r.stamp);
    sim_free(r.times);
    return is_found;
}
