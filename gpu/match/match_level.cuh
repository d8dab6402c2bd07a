/* SPDX-License-Identifier: Apache-2.0 */
/** A level of the search of engine auto: up to 32 partial embeddings, and candidates for one more step. */
#ifndef SF_GPU_MATCH_MATCH_LEVEL_CUH
#define SF_GPU_MATCH_MATCH_LEVEL_CUH

#include "gpu/lower_bound.cuh"
#include "gpu/match/match.cuh"

namespace
{

enum { LANES = 32, WARPS = 8 /* of a block */, MOST = SF_BACKEND_MATCH_MOST, NOT_JOINED = MOST };

#define ALL_LANES 0xffffffffu

typedef sf_gpu_match_step step;
typedef sf_gpu_match_search search;

/* Up to 32 partial embeddings of the same steps. */
struct level {
    uint32_t place[LANES], vertex[LANES]; /* of the last step: its candidate */
    uint32_t base[LANES];                 /* where the candidates of the next step begin among the values */
    uint32_t end[LANES];                  /* how many these and those of the entries before are */
    uint8_t parent[LANES];                /* the entry of the level before that it continues */
    uint8_t join[LANES];                  /* the step whose list they are; NOT_JOINED: all candidates */
    uint32_t count, cursor;               /* entries; candidates taken so far */
};

struct warp {
    const search &s;
    level *levels;
    uint32_t (*members)[LANES]; /* of the classes of a group, by set of classes: what is in all of it */
    unsigned lane, round, batches, trials;
    bool shares, stops; /* no task is left for others, or all must stop */
    unsigned long long found, tried;
};

/* ---- lists ---- */

__device__ bool contains(const uint32_t *list, uint32_t low, uint32_t high, uint32_t value)
{
    uint32_t at = sf_gpu_first_from(low, high, value, [=](uint32_t i) { return list[i]; });
    return at < high && list[at] == value;
}

/* The data vertex at a place of a list of candidates of a step: of all of them, or of values. */
__device__ uint32_t vertex_at(const search &s, const step &t, bool is_values, uint32_t at)
{
    return s.candidates[t.set + (is_values ? s.values[at] : at)];
}

/* The first place there, which ascend, whose data vertex is not less. */
__device__ uint32_t lower_vertex(const search &s, const step &t, bool is_values, uint32_t low, uint32_t high,
                                 uint32_t vertex)
{
    return sf_gpu_first_from(low, high, vertex, [&](uint32_t at) { return vertex_at(s, t, is_values, at); });
}

__device__ bool contains_vertex(const search &s, const step &t, bool is_values, uint32_t low, uint32_t high,
                                uint32_t vertex)
{
    uint32_t at = lower_vertex(s, t, is_values, low, high, vertex);
    return at < high && vertex_at(s, t, is_values, at) == vertex;
}

/* Sums over this lane and those before it. */
__device__ uint32_t running_sum(uint32_t value, unsigned lane)
{
    for (unsigned k = 1; k < LANES; k *= 2) {
        uint32_t before = __shfl_up_sync(ALL_LANES, value, k);
        value += lane >= k ? before : 0;
    }
    return value;
}

/* ---- a level ---- */

/* Lays out what is left of the candidates of the next step for every entry: `length` of them from `base`. */
__device__ void lay_out(warp &w, level &l, uint32_t base, uint32_t length, uint32_t join)
{
    l.base[w.lane] = base;
    l.end[w.lane] = running_sum(length, w.lane);
    l.join[w.lane] = (uint8_t)join;
    if (w.lane == 0) l.cursor = 0;
    __syncwarp();
}

/* For every entry of a level the shortest of the lists that the candidates of step t must be in; only those
 * with a data vertex greater than is asked for. */
__device__ void begin_level(warp &w, int depth, const step &t)
{
    level &l = w.levels[depth];
    uint32_t base = 0, length = w.lane < l.count ? t.set_size : 0, join = NOT_JOINED, least = 0;
    if (w.lane < l.count) {
        uint32_t e = w.lane;
        for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--) {
            if ((t.joined >> d & 1) != 0) {
                const uint32_t *ends = w.s.offsets + t.lists[d] + w.levels[d].place[e];
                uint32_t first = ends[0], count = ends[1] - first;
                if (join == NOT_JOINED || count < length) {
                    base = first;
                    length = count;
                    join = (uint32_t)d;
                }
            }
            if ((t.greater >> d & 1) != 0) least = max(least, w.levels[d].vertex[e] + 1);
        }
        if (least > 0) {
            uint32_t from = lower_vertex(w.s, t, t.joined != 0, base, base + length, least);
            length -= from - base;
            base = from;
        }
    }
    lay_out(w, l, base, length, join);
}

/* The entry to which candidate p of a level belongs. */
__device__ uint32_t owner_of(const level &l, uint32_t p)
{
    uint32_t e = 0;
    for (uint32_t k = LANES / 2; k > 0; k /= 2)
        e += l.end[e + k - 1] <= p ? k : 0;
    return e;
}

/* A candidate that a lane tries. */
struct trial {
    uint32_t entry, place, vertex;
    bool fits;
};

/* It is one of those asked for, and all that is said of the candidate and what its entry has matched before
 * holds; that it is greater where it must be is known. */
__device__ bool fits(const warp &w, int depth, const step &t, const trial &c, uint32_t join)
{
    uint32_t e = c.entry;
    if (c.place - t.first >= t.count) return false;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--) {
        const level &l = w.levels[d];
        bool is_joined = (t.joined >> d & 1) != 0 && (uint32_t)d != join;
        if ((t.different >> d & 1) != 0 && l.vertex[e] == c.vertex) return false;
        if (is_joined || (t.excluded >> d & 1) != 0) {
            const uint32_t *ends = w.s.offsets + t.lists[d] + l.place[e];
            if (contains(w.s.values, ends[0], ends[1], c.place) != is_joined) return false;
        }
    }
    return true;
}

/* The candidate after the cursor that falls to this lane. */
__device__ trial try_next(warp &w, int depth, const step &t, uint32_t cursor)
{
    const level &l = w.levels[depth];
    trial c = {0, 0, 0, false};
    uint32_t p = cursor + w.lane, total = l.end[LANES - 1];
    if (p < total) {
        c.entry = owner_of(l, p);
        uint32_t at = l.base[c.entry] + p - (c.entry > 0 ? l.end[c.entry - 1] : 0);
        c.place = t.joined != 0 ? w.s.values[at] : at;
        c.vertex = w.s.candidates[t.set + c.place];
        c.fits = fits(w, depth, t, c, l.join[c.entry]);
        w.tried++;
    }
    return c;
}

} // namespace

#endif
