/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of Enterprise's search share: its state, the steps of a level (levels.cu), and what devices
 * that have parts of a graph tell each other (exchange.cu). */
#ifndef SF_GPU_SEARCH_ENTERPRISE_ENTERPRISE_CUH
#define SF_GPU_SEARCH_ENTERPRISE_ENTERPRISE_CUH

#include "gpu/search/search.cuh"

#define WARP 32u
#define FULL 0xffffffffu
#define UNREACHED 0xffffffffu
#define BLOCK 256u
#define CACHE 1024u /* hubs in shared memory */

enum { BY_THREAD, BY_WARP, BY_BLOCK, BY_GRID, CLASSES };

/** A level, as its kernels see it. */
typedef struct sf_gpu_enterprise_view {
    sf_gpu_lists lists; /* out-lists top-down, in-lists bottom-up */
    uint32_t *status, *parents;
    uint32_t level; /* of what is found */
    bool up, balanced;
    const uint32_t *cache; /* or NULL: hubs of the last level, each at its hash */
} sf_gpu_enterprise_view;

/** Vertices to look at: a queue, or without one all from `first` on. */
typedef struct sf_gpu_enterprise_vertices {
    const uint32_t *queue;
    uint32_t first, count;
} sf_gpu_enterprise_vertices;

/** What the host learns of a level. */
typedef struct sf_gpu_enterprise_measure {
    unsigned long long edges;
    uint32_t found, hubs;
    uint32_t starts[CLASSES + 1]; /* of the classes in the queue */
} sf_gpu_enterprise_measure;

struct sf_gpu_enterprise {
    sf_backend_device *device;
    const sf_backend_graph *graph;
    uint32_t first, own;        /* its vertices, all or a part, which have their lists here */
    uint32_t *levels, *parents; /* of all vertices */
    sf_bfs_direction direction;
    unsigned features;
    cudaStream_t streams[CLASSES];
    cudaEvent_t fork, join[CLASSES];
    uint32_t bins; /* threads of a scan */
    sf_gpu_array bin_items, bin_counts, bin_sums, queue[2], hubs, cache, measured;
    uint32_t hub_count;
    int current;                    /* the queue in use */
    sf_gpu_enterprise_measure last; /* of the level that is searched */
    uint32_t queued;                /* of it */
    sf_gpu_array bits, heard; /* of a part: whom it found in a level, a bit a vertex; what others tell */
    cudaEvent_t told;
};

namespace
{

using view = sf_gpu_enterprise_view;
using vertices = sf_gpu_enterprise_vertices;
using measure = sf_gpu_enterprise_measure;

/** The slot of a hub in the cache: the upper 10 bits of a hash. */
inline __device__ uint32_t slot_of(uint32_t hub)
{
    return hub * 0x9e3779b1u >> 22;
}

} // namespace

static inline unsigned sf_gpu_enterprise_blocks(const sf_gpu_enterprise *e, uint64_t threads)
{
    uint64_t blocks = (threads + BLOCK - 1) / BLOCK;
    uint64_t most = (uint64_t)e->device->properties.multiProcessorCount * 64;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/** Queues the kernels of the level, side by side; e->last says where the classes are in the queue. */
int sf_gpu_enterprise_level(sf_gpu_enterprise *e, const sf_gpu_enterprise_view *w, sf_error *error);

/** Makes the queue of the vertices that are due in the level `w`, and its measure; `from` has them among
 * others. In blocks, the queue has the order of `from`. */
int sf_gpu_enterprise_queue(sf_gpu_enterprise *e, const sf_gpu_enterprise_view *w,
                            sf_gpu_enterprise_vertices from, bool in_blocks, sf_error *error);

/** Room for what a part tells and hears. */
int sf_gpu_enterprise_exchange_open(sf_gpu_enterprise *e, sf_error *error);
/** After a level: every part learns whom the others have found; `up`: each has found vertices of its own
 * alone. */
int sf_gpu_enterprise_exchange(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t level, bool up,
                               sf_error *error);
/** After the last: every part learns the parents of those of its vertices that others have found. */
int sf_gpu_enterprise_exchange_parents(sf_gpu_enterprise *const *parts, uint32_t count, sf_error *error);

#endif
