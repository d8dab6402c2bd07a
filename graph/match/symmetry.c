/* SPDX-License-Identifier: Apache-2.0 */
/* Colours come from what the pattern says, spelled out: equal texts, equal colours. They are refined by the
 * colours around until nothing changes; what is left is a backtracking search for single automorphisms, since
 * an orbit needs one for each of its members and the size of the group is the product of orbits along a chain
 * of stabilizers. */
#include "graph/match/symmetry.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

enum { MOST_STEPS = 20000000 };

static uint64_t pair(const sf_symmetry *s, uint32_t u, uint32_t w)
{
    return s->pairs[u * s->count + w];
}

/* ---- colours ---- */

/* One round of splitmix64, which maps none of the values hashed here to 0. */
static uint64_t mix(uint64_t h)
{
    h += UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    return h ^ h >> 31;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text != '\0'; text++)
        h = mix(h + (unsigned char)*text);
    return mix(h + 256); /* so that "ab", "c" differs from "a", "bc" */
}

/* Terms in any order say the same, so their hashes are added. */
static uint64_t hash_terms(const sf_term *terms, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t number, h = hash_text((uint64_t)terms[i].comparison, terms[i].attribute);
        memcpy(&number, &terms[i].number, sizeof number);
        sum += terms[i].word != NULL ? hash_text(h + 1, terms[i].word) : mix(h ^ mix(number));
    }
    return sum;
}

static uint64_t hash_edge(const sf_pattern_edge *edge)
{
    return mix(mix(edge->label + ((uint64_t)edge->absent << 32)) + hash_terms(edge->terms, edge->term_count));
}

static bool is_repeated(const sf_symmetry *s, const sf_pattern *pattern, size_t index, uint64_t hash)
{
    const sf_pattern_edge *edge = &pattern->edges[index];
    for (size_t e = 0; e < index && pair(s, edge->from, edge->to) != 0; e++) {
        const sf_pattern_edge *other = &pattern->edges[e];
        bool same = other->from == edge->from && other->to == edge->to;
        bool turned = !pattern->directed && other->from == edge->to && other->to == edge->from;
        if ((same || turned) && hash_edge(other) == hash) return true;
    }
    return false;
}

/* Members of a class of exchanges share its smallest vertex; every other vertex is alone. */
static void find_classes(uint32_t *class, const sf_pattern *pattern)
{
    for (uint32_t u = 0; u < pattern->vertex_count; u++)
        class[u] = u;
    for (size_t x = 0; x < pattern->exchange_count; x++) {
        uint32_t a = class[pattern->exchanges[x].left], b = class[pattern->exchanges[x].right];
        for (uint32_t u = 0; u < pattern->vertex_count; u++)
            class[u] = class[u] == a || class[u] == b ? (a < b ? a : b) : class[u];
    }
}

static void color_vertices(sf_symmetry *s, const sf_pattern *pattern)
{
    uint32_t class[SF_PATTERN_MOST];
    find_classes(class, pattern);
    for (uint32_t u = 0; u < s->count; u++) {
        const sf_pattern_vertex *vertex = &pattern->vertices[u];
        s->colors[u] = mix(vertex->label) + hash_terms(vertex->terms, vertex->term_count);
        if (pattern->exchange_count > 0) s->colors[u] = mix(s->colors[u] + class[u]);
    }
}

static void say(sf_symmetry *s, uint32_t u, uint32_t w, uint64_t hash)
{
    s->pairs[u * s->count + w] += hash;
    s->near[u] |= sf_bit(w);
    s->near[w] |= sf_bit(u);
}

static void color_pairs(sf_symmetry *s, const sf_pattern *pattern)
{
    for (size_t e = 0; e < pattern->edge_count; e++) {
        const sf_pattern_edge *edge = &pattern->edges[e];
        uint64_t hash = hash_edge(edge);
        if (is_repeated(s, pattern, e, hash)) continue;
        say(s, edge->from, edge->to, hash);
        if (!pattern->directed && edge->from != edge->to) say(s, edge->to, edge->from, hash);
    }
    for (size_t r = 0; r < pattern->relation_count; r++) {
        const sf_relation *relation = &pattern->relations[r];
        uint64_t hash = hash_text(hash_text((uint64_t)relation->comparison, relation->left_attribute),
                                  relation->right_attribute);
        say(s, relation->left, relation->right, mix(hash));
    }
}

static uint32_t count_colors(const sf_symmetry *s)
{
    uint32_t colors = 0;
    for (uint32_t u = 0; u < s->count; u++) {
        uint32_t w = 0;
        while (s->colors[w] != s->colors[u])
            w++;
        colors += w == u;
    }
    return colors;
}

/* Vertices whose surroundings differ in colours get different colours, until a round tells no more of them
 * apart, or all are. */
static void refine(sf_symmetry *s)
{
    uint32_t known = 0, found = count_colors(s);
    while (found > known && found < s->count) {
        uint64_t colors[SF_PATTERN_MOST];
        for (uint32_t u = 0; u < s->count; u++) {
            colors[u] = mix(s->colors[u] + mix(pair(s, u, u)));
            for (uint64_t left = s->near[u]; left != 0; left &= left - 1) {
                uint32_t w = sf_lowest(left);
                colors[u] += mix(mix(mix(pair(s, u, w)) + pair(s, w, u)) + s->colors[w]);
            }
        }
        memcpy(s->colors, colors, s->count * sizeof *colors);
        known = found;
        found = count_colors(s);
    }
}

int sf_symmetry_open(sf_symmetry *symmetry, const sf_pattern *pattern, sf_error *error)
{
    symmetry->count = pattern->vertex_count;
    memset(symmetry->near, 0, sizeof symmetry->near);
    symmetry->pairs = sf_alloc((size_t)symmetry->count * symmetry->count, sizeof *symmetry->pairs);
    if (symmetry->pairs == NULL) return sf_fail_memory(error);
    color_vertices(symmetry, pattern);
    color_pairs(symmetry, pattern);
    refine(symmetry);
    return SF_OK;
}

void sf_symmetry_close(sf_symmetry *symmetry)
{
    sf_free(symmetry->pairs);
    symmetry->pairs = NULL;
}

/* ---- automorphisms ---- */

typedef struct search {
    const sf_symmetry *symmetry;
    uint32_t image[SF_PATTERN_MOST];
    uint64_t assigned, taken; /* vertices with an image; images */
    uint64_t steps;
} search;

static bool fits(const search *s, uint32_t u, uint32_t image)
{
    const sf_symmetry *y = s->symmetry;
    if ((s->taken >> image & 1) != 0 || y->colors[u] != y->colors[image] ||
        pair(y, u, u) != pair(y, image, image))
        return false;
    for (uint64_t left = s->assigned; left != 0; left &= left - 1) {
        uint32_t w = sf_lowest(left), i = s->image[w];
        if (pair(y, u, w) != pair(y, image, i) || pair(y, w, u) != pair(y, i, image)) return false;
    }
    return true;
}

/* The vertex without an image that most assigned ones say something about. */
static uint32_t next_vertex(const search *s)
{
    const sf_symmetry *y = s->symmetry;
    uint32_t best = 0;
    int most = -1;
    for (uint32_t u = 0; u < y->count; u++) {
        if ((s->assigned >> u & 1) != 0) continue;
        int known = __builtin_popcountll(y->near[u] & s->assigned);
        if (known > most) {
            most = known;
            best = u;
        }
    }
    return best;
}

static bool assign(search *s, uint32_t u, uint32_t image)
{
    if (!fits(s, u, image)) return false;
    s->image[u] = image;
    s->assigned |= sf_bit(u);
    s->taken |= sf_bit(image);
    return true;
}

static void unassign(search *s, uint32_t u)
{
    s->assigned &= ~sf_bit(u);
    s->taken &= ~sf_bit(s->image[u]);
}

static bool complete(search *s)
{
    if (__builtin_popcountll(s->assigned) == (int)s->symmetry->count) return true;
    uint32_t u = next_vertex(s);
    for (uint32_t image = 0; image < s->symmetry->count && s->steps < MOST_STEPS; image++) {
        s->steps++;
        if (!assign(s, u, image)) continue;
        if (complete(s)) return true;
        unassign(s, u);
    }
    return false;
}

/* An automorphism that fixes `fixed` and takes u to image; s->image holds it. */
static bool find_automorphism(search *s, uint64_t fixed, uint32_t u, uint32_t image)
{
    s->assigned = s->taken = 0;
    for (uint64_t left = fixed; left != 0; left &= left - 1) {
        uint32_t w = sf_lowest(left);
        assign(s, w, w);
    }
    return assign(s, u, image) && complete(s);
}

/* Whatever an automorphism takes to one another is in one orbit. */
static void close_orbit(uint64_t *orbit, const search *s)
{
    for (uint64_t before = 0; before != *orbit;) {
        before = *orbit;
        for (uint64_t left = before; left != 0; left &= left - 1)
            *orbit |= sf_bit(s->image[sf_lowest(left)]);
    }
}

bool sf_symmetry_orbit(const sf_symmetry *symmetry, uint64_t fixed, uint32_t vertex, uint64_t *orbit)
{
    search s = {.symmetry = symmetry};
    *orbit = sf_bit(vertex);
    for (uint32_t image = 0; image < symmetry->count; image++) {
        bool is_told_apart = symmetry->colors[vertex] != symmetry->colors[image];
        if (is_told_apart || (fixed >> image & 1) != 0 || (*orbit >> image & 1) != 0) continue;
        if (find_automorphism(&s, fixed, vertex, image)) close_orbit(orbit, &s);
        if (s.steps >= MOST_STEPS) return false;
    }
    return true;
}

uint64_t sf_symmetry_break(const sf_symmetry *symmetry, const uint32_t *order, uint32_t count,
                           uint64_t *greater)
{
    uint64_t factor = 1, fixed = 0, orbit;
    memset(greater, 0, symmetry->count * sizeof *greater);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t u = sf_bit(order[i]), product;
        if (!sf_symmetry_orbit(symmetry, fixed, order[i], &orbit) ||
            __builtin_mul_overflow(factor, (uint64_t)__builtin_popcountll(orbit), &product))
            break; /* what was broken so far stays right */
        factor = product;
        for (uint64_t left = orbit & ~u; left != 0; left &= left - 1)
            greater[sf_lowest(left)] |= u;
        fixed |= u;
    }
    return factor;
}

uint64_t sf_symmetry_order(const sf_symmetry *symmetry)
{
    uint64_t order = 1, fixed = 0, orbit;
    for (uint32_t u = 0; u < symmetry->count; u++) {
        if (!sf_symmetry_orbit(symmetry, fixed, u, &orbit)) return 0;
        if (__builtin_mul_overflow(order, (uint64_t)__builtin_popcountll(orbit), &order)) return UINT64_MAX;
        fixed |= sf_bit(u);
    }
    return order;
}
