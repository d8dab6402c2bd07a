/* SPDX-License-Identifier: Apache-2.0 */
/** Engine gvsm on a device: what expansions (twigs.cu) and layers that stay there (descent.cu) share. */
#ifndef SF_GPU_MATCH_GVSM_TWIGS_CUH
#define SF_GPU_MATCH_GVSM_TWIGS_CUH

#include "gpu/match/gvsm/gvsm.cuh"
#include "gpu/match/space.cuh"

enum {
    SF_GPU_LANES = 32,
    SF_GPU_NOT_YET = 0, /* of a twig's local test */
    SF_GPU_YES = 1,
    SF_GPU_NO = 2
};

#define SF_GPU_ANY 0xffffffffu /* label */

struct sf_gpu_data {
    sf_gpu_neighbours_of out, in;
    sf_gpu_labelled out_kinds, in_kinds;
    uint32_t label_count;
    const uint64_t *blacklist, *skipped;
    const uint32_t *implied; /* or NULL */
    const uint32_t *labels;  /* of a vertex; NULL: all 0 */
    const uint32_t *twins;   /* or NULL */
    unsigned long long *implied_tests;
};

/* As in sf_backend_twig; small, since kernels get all layers with their parameters. */
struct sf_gpu_twig {
    uint32_t label, edge, edge_count;
    uint16_t need_count;
    uint8_t parent;
    bool out;
    const sf_backend_twig_need *needs;
    const sf_backend_join_edge *edges;
    const uint32_t *allowed; /* or NULL */
    uint8_t *known;          /* of each data vertex: whether it meets the needs; NULL where there are none */
};

/** Buffers of one expansion. */
struct sf_gpu_slot {
    cudaStream_t stream;
    cudaEvent_t done;
    uint32_t *input;                                        /* pinned: roots, then ends */
    sf_backend_node *entries;                               /* pinned */
    uint32_t *count;                                        /* pinned */
    uint32_t *roots, *ends, *words, *places, *device_count; /* on the device */
    sf_backend_node *device_entries;
};

/** Where layers stay. All on the device. */
struct sf_gpu_room {
    uint32_t *roots, *ends, *words;
    uint64_t *sums; /* of two steps, by block */
    struct sf_gpu_growth *growth;
    sf_backend_node *trees[SF_BACKEND_LAYERS];
};

struct sf_backend_twigs {
    sf_backend_device *device;
    sf_backend_data *graph;
    sf_gpu_blocks blocks;
    sf_gpu_data data;
    sf_gpu_twig layers[SF_BACKEND_LAYERS];
    uint32_t layer_count, most_entries, most_kept;
    bool injective, pairs;
    sf_gpu_slot slots[SF_BACKEND_SLOTS];
    sf_gpu_room room;
};

/** Room for descents. */
int sf_gpu_room_open(sf_backend_twigs *twigs, sf_error *error);

/* ---- on the device ---- */

static __device__ inline bool sf_gpu_has_bit(const uint64_t *bits, uint32_t v)
{
    return (bits[v / 64] >> v % 64 & 1) != 0;
}

/** Neighbours of a vertex with a label, along edges with a label; SF_GPU_ANY: any of either. */
static __device__ inline sf_gpu_near sf_gpu_along(const sf_gpu_data &g, uint32_t v, bool out, uint32_t edge,
                                                  uint32_t label)
{
    const sf_gpu_neighbours_of &n = out ? g.out : g.in;
    if (edge == SF_GPU_ANY && n.labelled.directory == NULL)
        return {n.targets, n.offsets[v] - n.base, n.offsets[v + 1] - n.base};
    const sf_gpu_labelled &l = edge == SF_GPU_ANY ? n.labelled : out ? g.out_kinds : g.in_kinds;
    sf_gpu_near near = {l.targets, 0, 0};
    bool any = label == SF_GPU_ANY;
    if (edge == SF_GPU_ANY)
        sf_gpu_neighbours(l, v, label, &near.begin, &near.end);
    else
        sf_gpu_neighbours_between(l, v, edge * g.label_count + (any ? 0 : label), any ? g.label_count : 1,
                                  &near.begin, &near.end);
    return near;
}

static __device__ inline bool sf_gpu_meets(const sf_gpu_data &g, const sf_gpu_twig &t, uint32_t v)
{
    for (uint32_t i = 0; i < t.need_count; i++) {
        const sf_backend_twig_need need = t.needs[i];
        sf_gpu_near near = sf_gpu_along(g, v, need.out, need.edge, need.label);
        uint32_t found = 0;
        for (uint64_t at = near.begin; at < near.end && found < need.count; at++)
            found += !sf_gpu_has_bit(g.blacklist, near.targets[at]);
        if (found < need.count) return false;
    }
    return true;
}

/* Two threads may both do the test; they agree. */
static __device__ inline bool sf_gpu_passes(const sf_gpu_data &g, const sf_gpu_twig &t, uint32_t v)
{
    uint8_t known = t.known[v];
    if (known == SF_GPU_NOT_YET && g.implied != NULL && g.implied[v] != ~0u &&
        t.known[g.implied[v]] == SF_GPU_NO) {
        atomicAdd(g.implied_tests, 1ull);
        known = SF_GPU_NO;
    }
    if (known == SF_GPU_NOT_YET) known = sf_gpu_meets(g, t, v) ? SF_GPU_YES : SF_GPU_NO;
    t.known[v] = known;
    return known == SF_GPU_YES;
}

/** The entries above a layer, by the data vertices that they are expanded at. */
struct sf_gpu_above {
    const uint32_t *roots, *ends; /* ends: sums of their neighbours */
    uint32_t count;
};

/** The first entry from `low` on whose neighbours end after p: p is one of its own. */
static __device__ inline uint32_t sf_gpu_owner(const sf_gpu_above &a, uint32_t low, uint32_t p)
{
    uint32_t near = low + SF_GPU_LANES, high = near <= a.count && a.ends[near - 1] > p ? near : a.count;
    return sf_gpu_first_from(low, high, p + 1, [&](uint32_t i) { return a.ends[i]; });
}

/** The p-th neighbour of all entries above, which belongs to entry idx. */
static __device__ inline sf_backend_node sf_gpu_neighbour(const sf_gpu_data &g, const sf_gpu_twig &t,
                                                          const sf_gpu_above &a, uint32_t idx, uint32_t p,
                                                          bool *is_repeated)
{
    uint32_t before = idx > 0 ? a.ends[idx - 1] : 0;
    sf_gpu_near near = sf_gpu_along(g, a.roots[idx], t.out, t.edge, t.label);
    uint64_t at = near.begin + (p - before);
    *is_repeated = p > before && near.targets[at] == near.targets[at - 1]; /* parallel edges */
    return {near.targets[at], idx};
}

/** Whether a layer takes a neighbour, whatever it hangs on. */
static __device__ inline bool sf_gpu_is_candidate(const sf_gpu_data &g, const sf_gpu_twig &t, uint32_t v)
{
    return !sf_gpu_has_bit(g.skipped, v) && (t.allowed == NULL || sf_gpu_is_in(t.allowed, v)) &&
           (t.known == NULL || sf_gpu_passes(g, t, v));
}

#endif
