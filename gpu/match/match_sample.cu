/* SPDX-License-Identifier: Apache-2.0 */
/* How much a search of engine auto would be, by random ways down its tree (Knuth, Mathematics of Computation
 * 29, 1975): each lane goes down one of its own, and what it meets stands for all that it was drawn from. */
#include "gpu/match/match_level.cuh"

namespace
{

/* The same for the same way and depth. */
__device__ uint32_t draw_below(uint32_t most, uint32_t number, uint32_t depth)
{
    uint32_t x = number * 0x9e3779b1u + depth * 0x85ebca77u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (uint32_t)((uint64_t)(x ^ x >> 16) * most >> 32);
}

__device__ uint32_t length_of(const warp &w, int depth)
{
    const level &l = w.levels[depth];
    return l.end[w.lane] - (w.lane > 0 ? l.end[w.lane - 1] : 0);
}

__device__ void match(warp &w, int depth, uint32_t place, uint32_t vertex)
{
    level &l = w.levels[depth];
    l.place[w.lane] = place;
    l.vertex[w.lane] = vertex;
    l.parent[w.lane] = (uint8_t)w.lane;
    if (w.lane == 0) l.count = LANES;
    __syncwarp();
}

/* Candidates tried where steps after the core are counted, and not by the length of one list. */
__device__ double try_groups(warp &w)
{
    const search &s = w.s;
    int last = (int)s.core - 1;
    double tried = 0;
    for (uint32_t g = 0; g < s.group_count; g++) {
        bool alike = (s.alike >> g & 1) != 0;
        const step &first = s.steps[__ffs(s.groups[g]) - 1];
        if (alike && first.excluded == 0 && first.greater == 0 && (first.joined & (first.joined - 1)) == 0)
            continue;
        for (uint32_t left = s.groups[g]; left != 0; left = alike ? 0 : left & (left - 1)) {
            begin_level(w, last, s.steps[__ffs(left) - 1]);
            tried += length_of(w, last);
        }
    }
    return tried;
}

/* Way `number`, whose first candidate is in its own one of as many equal parts as there are ways. */
__device__ double descend(warp &w, uint32_t number, uint32_t ways)
{
    const search &s = w.s;
    uint64_t roots = s.steps[0].count;
    uint32_t begin = (uint32_t)(roots * number / ways), end = (uint32_t)(roots * (number + 1ull) / ways);
    uint32_t root = begin + draw_below(max(end - begin, 1u), number, 0);
    double weight = (double)roots / ways, tried = 0;
    match(w, 0, root, s.candidates[s.steps[0].set + root]);
    for (int depth = 0; depth + 1 < (int)s.core; depth++) {
        const step &t = s.steps[depth + 1];
        begin_level(w, depth, t);
        const level &l = w.levels[depth];
        uint32_t length = length_of(w, depth);
        trial c = {w.lane, 0, 0, false};
        if (length > 0) {
            uint32_t at = l.base[w.lane] + draw_below(length, number, depth + 1);
            c.place = t.joined != 0 ? s.values[at] : at;
            c.vertex = s.candidates[t.set + c.place];
            c.fits = fits(w, depth, t, c, l.join[w.lane]);
        }
        tried += weight * length;
        weight = c.fits ? weight * length : 0;
        match(w, depth + 1, c.place, c.vertex);
        if (!__any_sync(ALL_LANES, weight > 0)) return tried;
    }
    return tried + weight * try_groups(w);
}

__global__ void __launch_bounds__(WARPS *LANES) sample_all(const __grid_constant__ search s, uint32_t ways)
{
    extern __shared__ uint32_t room[];
    unsigned own = threadIdx.x / LANES;
    warp w = {s, (level *)room + (size_t)own * s.core, NULL, threadIdx.x % LANES};
    double tried = 0;
    for (uint32_t i = blockIdx.x * WARPS + own; i < ways / LANES; i += gridDim.x * WARPS)
        tried += descend(w, i * LANES + w.lane, ways);
    for (unsigned k = LANES / 2; k > 0; k /= 2)
        tried += __shfl_down_sync(ALL_LANES, tried, k);
    if (w.lane == 0) atomicAdd(&s.shared->sampled, tried);
}

} // namespace

int sf_gpu_match_sample(sf_backend_device *device, const search *s, uint32_t ways, sf_error *error)
{
    size_t bytes = WARPS * s->core * sizeof(level);
    uint32_t blocks = (ways + WARPS * LANES - 1) / (WARPS * LANES);
    SF_GPU_TRY(cudaFuncSetAttribute(sample_all, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    SF_GPU_TRY(cudaEventRecord(device->timed[0], device->work));
    sample_all<<<blocks, WARPS * LANES, bytes, device->work>>>(*s, ways);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cudaEventRecord(device->timed[1], device->work));
    return SF_OK;
}
