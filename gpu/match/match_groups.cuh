/* SPDX-License-Identifier: Apache-2.0 */
/** After the core of a pattern, for engine auto: every lane has an embedding of the core, and the steps left,
 * in groups, are counted for it instead of searched. */
#ifndef SF_GPU_MATCH_MATCH_GROUPS_CUH
#define SF_GPU_MATCH_MATCH_GROUPS_CUH

#include "gpu/match/match_level.cuh"
#include "gpu/saturated.cuh"

namespace
{

enum { CLASSES = SF_BACKEND_MATCH_GROUP };

/* Candidates of a step that only one list decides: all of it but what is matched already. */
__device__ uint32_t count_list(const warp &w, int depth, const step &t)
{
    uint32_t low = 0, high = t.set_size, e = w.lane;
    for (int d = depth; d >= 0 && t.joined != 0; e = w.levels[d].parent[e], d--) {
        if ((t.joined >> d & 1) != 0) {
            const uint32_t *ends = w.s.offsets + t.lists[d] + w.levels[d].place[e];
            low = ends[0];
            high = ends[1];
        }
    }
    uint32_t count = high - low;
    e = w.lane;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--)
        if ((t.different >> d & 1) != 0)
            count -= contains_vertex(w.s, t, t.joined != 0, low, high, w.levels[d].vertex[e]);
    return count;
}

/* Whether a data vertex could stand for step t too. That it is none of those matched is known. */
__device__ bool could_be(const warp &w, int depth, const step &t, uint32_t e, uint32_t vertex)
{
    if (t.joined == 0 && !contains_vertex(w.s, t, false, 0, t.set_size, vertex)) return false;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--) {
        bool is_joined = (t.joined >> d & 1) != 0;
        if ((t.greater >> d & 1) != 0 && w.levels[d].vertex[e] >= vertex) return false;
        if (!is_joined && (t.excluded >> d & 1) == 0) continue;
        const uint32_t *ends = w.s.offsets + t.lists[d] + w.levels[d].place[e];
        if (contains_vertex(w.s, t, true, ends[0], ends[1], vertex) != is_joined) return false;
    }
    return true;
}

/* Goes through the candidates of one class of a group and notes in which other classes each is; those that
 * come up in an earlier class have been noted. */
__device__ void note_class(warp &w, int depth, const uint32_t *classes, uint32_t count, uint32_t mine)
{
    const step &t = w.s.steps[classes[mine]];
    begin_level(w, depth, t);
    uint32_t total = w.levels[depth].end[LANES - 1];
    for (uint32_t cursor = 0; cursor < total; cursor += min(LANES, total - cursor)) {
        trial c = try_next(w, depth, t, cursor);
        uint32_t in = 1u << mine;
        for (uint32_t other = 0; other < count && c.fits; other++)
            if (other != mine && could_be(w, depth, w.s.steps[classes[other]], c.entry, c.vertex))
                in |= 1u << other;
        if (c.fits && (in & ((1u << mine) - 1)) == 0) atomicAdd(&w.members[in][c.entry], 1u);
    }
    __syncwarp();
}

/* Ways to choose a different data vertex from each of up to three classes, by inclusion and exclusion. */
__device__ unsigned long long choose(const warp &w, uint32_t count)
{
    unsigned long long m[1 << CLASSES];
    for (uint32_t set = 1; set < 1 << CLASSES; set++)
        m[set] = w.members[set][w.lane];
    unsigned long long a = m[1] + m[3] + m[5] + m[7], b = m[2] + m[3] + m[6] + m[7];
    unsigned long long c = m[4] + m[5] + m[6] + m[7], ab = m[3] + m[7], ac = m[5] + m[7], bc = m[6] + m[7];
    if (count == 1) return a;
    if (count == 2) return a * b - ab;
    unsigned long long all = sf_gpu_multiply(sf_gpu_multiply(a, b), c);
    return all == ~0ull ? all : all - ab * c - ac * b - bc * a + 2 * m[7];
}

__device__ unsigned long long falling(unsigned long long n, uint32_t k)
{
    unsigned long long product = 1;
    for (uint32_t i = 0; i < k; i++)
        product = i < n ? sf_gpu_multiply(product, n - i) : 0;
    return product;
}

__device__ unsigned long long count_group(warp &w, int depth, uint32_t group, bool alike)
{
    uint32_t classes[CLASSES], count = 0, size = __popc(group);
    for (uint32_t left = group; left != 0 && count < (alike ? 1 : CLASSES); left &= left - 1)
        classes[count++] = __ffs(left) - 1;
    const step &t = w.s.steps[classes[0]];
    if (alike && t.excluded == 0 && t.greater == 0 && (t.joined & (t.joined - 1)) == 0)
        return falling(w.lane < w.levels[depth].count ? count_list(w, depth, t) : 0, size);
    for (uint32_t set = 1; set < 1 << CLASSES; set++)
        w.members[set][w.lane] = 0;
    __syncwarp();
    for (uint32_t i = 0; i < count; i++)
        note_class(w, depth, classes, count, i);
    return alike ? falling(w.members[1][w.lane], size) : choose(w, count);
}

} // namespace

#endif
