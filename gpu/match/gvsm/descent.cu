/* SPDX-License-Identifier: Apache-2.0 */
/* Engine gvsm: layers of the prefix tree that stay on the device, which expands and joins them by itself.
 *
 * A kernel grows the layers of one twig or two. All blocks work on one layer at a time, in steps with a
 * barrier of the grid between them: find the data vertex that each entry is expanded at; add up their
 * neighbours; test every neighbour and follow it up the tree, 32 to a word of bits; count the bits; write the
 * entries, in the order of what they hang on. Of the last layer of the pattern only the bits are counted.
 * Whether a layer has too many neighbours or entries to stay every block finds out from the same sums, so all
 * leave together and the caller asks once, at the end. It then comes again with parts of the layer above,
 * which is still there: what is below a part takes the place of what was below another. */
#include "gpu/match/gvsm/twigs.cuh"
#include "gpu/saturated.cuh"

#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <string.h>

enum {
    LANES = SF_GPU_LANES,
    THREADS = 256,
    WARPS = THREADS / LANES,
    LAYERS = SF_BACKEND_LAYERS,
    TILE = 8,                   /* words that a warp tests one after the other */
    MOST_NEIGHBOURS = 1u << 26, /* of a layer; what a device tests in some ten milliseconds */
};

#define ALL_LANES 0xffffffffu

/* What has become of a descent so far. */
struct sf_gpu_growth {
    uint32_t reached, left; /* the last layer that was made, and its entries */
    uint32_t parts;         /* that they are to be cut into; 0: they are not */
    uint32_t ended, overflow;
    unsigned long long found, tried;
};

namespace
{

struct forest {
    sf_gpu_data data;
    sf_gpu_room room;
    uint32_t layer_count, most_kept, injective;
    uint32_t base, first; /* the layer that the descent begins with, and its first entry there */
    sf_gpu_twig layers[LAYERS];
};

static_assert(sizeof(forest) + 2 * sizeof(uint32_t) <= 4096, "parameters of a kernel on every card");

/* What a block does of each step. */
struct worker {
    cooperative_groups::grid_group grid;
    uint32_t layer, first, count; /* that is grown, and the entries above it */
    uint64_t total, kept;         /* neighbours, and those that fit */
};

/* ---- up the tree ---- */

/* The data vertex at layer d of entry *at of it, which becomes the entry that it hangs on. */
__device__ uint32_t step_up(const forest &f, uint32_t d, uint32_t *at)
{
    sf_backend_node node = f.room.trees[d][*at];
    *at = node.idx;
    return node.vid;
}

__device__ bool has_edge(const forest &f, const sf_backend_join_edge &edge, uint32_t v, uint32_t to)
{
    uint32_t label = f.data.labels != NULL ? f.data.labels[to] : 0;
    sf_gpu_near n = sf_gpu_along(f.data, v, edge.out, edge.label, label);
    uint64_t at = sf_gpu_first_from(n.begin, n.end, to, [&](uint64_t i) { return n.targets[i]; });
    return at < n.end && n.targets[at] == to;
}

__device__ bool joins(const forest &f, uint32_t layer, sf_backend_node e)
{
    const sf_gpu_twig &t = f.layers[layer];
    uint32_t at = e.idx, same = 0, next = 0;
    for (uint32_t d = layer; d-- > 0;) {
        uint32_t above = step_up(f, d, &at);
        same += above == e.vid;
        for (; next < t.edge_count && t.edges[next].earlier == d; next++)
            if (has_edge(f, t.edges[next], e.vid, above) == t.edges[next].absent) return false;
    }
    return !f.injective || same < (f.data.twins != NULL ? f.data.twins[e.vid] : 1);
}

/* How many embeddings an entry of the last layer is: twins stand for one another. */
__device__ unsigned long long count_twins(const forest &f, uint32_t layer, sf_backend_node e)
{
    unsigned long long ways = 1;
    uint32_t v = e.vid, at = e.idx;
    for (uint32_t d = layer; f.data.twins != NULL; v = step_up(f, --d, &at)) {
        uint32_t used = d < layer && e.vid == v, below = e.idx;
        for (uint32_t k = layer; k-- > d + 1;)
            used += step_up(f, k, &below) == v;
        ways = sf_gpu_multiply(ways, f.data.twins[v] - (f.injective ? used : 0));
        if (d == 0) break;
    }
    return ways;
}

/* ---- sums over the grid ---- */

/* Part of `count` items that falls to this block, in whole tiles of its threads. */
__device__ void share(uint32_t count, uint32_t *first, uint32_t *last)
{
    uint32_t tiles = (count + THREADS - 1) / THREADS, each = (tiles + gridDim.x - 1) / gridDim.x * THREADS;
    *first = min(blockIdx.x * each, count);
    *last = min(*first + each, count);
}

/* Leaves the sum over the threads of this block for all to read behind the next barrier. */
__device__ void leave_sum(uint64_t *sums, uint64_t own)
{
    typedef cub::BlockReduce<uint64_t, THREADS> reduce;
    __shared__ typename reduce::TempStorage storage;
    uint64_t sum = reduce(storage).Sum(own);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    __syncthreads();
}

/* The sum of all blocks, and of those before this one. */
__device__ uint64_t read_sums(const uint64_t *sums, uint64_t *before)
{
    typedef cub::BlockReduce<uint64_t, THREADS> reduce;
    __shared__ typename reduce::TempStorage storage[2];
    __shared__ uint64_t shared[2];
    uint64_t own = 0, own_before = 0;
    for (uint32_t b = threadIdx.x; b < gridDim.x; b += THREADS) {
        uint64_t sum = __ldcg(&sums[b]);
        own += sum;
        own_before += b < blockIdx.x ? sum : 0;
    }
    uint64_t all = reduce(storage[0]).Sum(own), all_before = reduce(storage[1]).Sum(own_before);
    if (threadIdx.x == 0) {
        shared[0] = all;
        shared[1] = all_before;
    }
    __syncthreads();
    all = shared[0];
    *before = shared[1];
    __syncthreads();
    return all;
}

/* The sum over the threads before this one in the block; *all: over all. */
__device__ uint32_t sum_before(uint32_t own, uint32_t *all)
{
    typedef cub::BlockScan<uint32_t, THREADS> scan;
    __shared__ typename scan::TempStorage storage;
    uint32_t before;
    scan(storage).ExclusiveSum(own, before, *all);
    __syncthreads();
    return before;
}

/* ---- the steps of a layer ---- */

__device__ void find_roots(const forest &f, const worker &w)
{
    const sf_gpu_twig &t = f.layers[w.layer];
    uint32_t first, last;
    uint64_t own = 0;
    share(w.count, &first, &last);
    for (uint32_t i = first + threadIdx.x; i < last; i += THREADS) {
        uint32_t at = w.first + i, v = 0;
        for (uint32_t d = w.layer; d-- > t.parent;)
            v = step_up(f, d, &at);
        sf_gpu_near near = sf_gpu_along(f.data, v, t.out, t.edge, t.label);
        f.room.roots[i] = v;
        f.room.ends[i] = (uint32_t)min(near.end - near.begin, (uint64_t)MOST_NEIGHBOURS + 1);
        own += f.room.ends[i];
    }
    leave_sum(f.room.sums, own);
}

/* Sums of neighbours over each entry and those before it. False where there are too many. */
__device__ bool add_up(const forest &f, worker &w)
{
    uint32_t first, last;
    uint64_t before;
    w.total = read_sums(f.room.sums, &before);
    if (w.total > MOST_NEIGHBOURS) return false;
    share(w.count, &first, &last);
    for (uint32_t tile = first; tile < last; tile += THREADS) {
        uint32_t i = tile + threadIdx.x, own = i < last ? f.room.ends[i] : 0, all;
        uint32_t sum = (uint32_t)before + sum_before(own, &all) + own;
        if (i < last) f.room.ends[i] = sum;
        before += all;
    }
    return true;
}

/* Adds up what a warp found. */
__device__ void report(const forest &f, unsigned long long found)
{
    for (unsigned k = LANES / 2; k > 0; k /= 2)
        found = sf_gpu_add(found, __shfl_down_sync(ALL_LANES, found, k));
    if (threadIdx.x % LANES != 0 || found == 0) return;
    unsigned long long before = atomicAdd(&f.room.growth->found, found);
    if (before + found < before || found == ~0ull) atomicExch(&f.room.growth->overflow, 1u);
}

/* Writes the bits of the neighbours that fit; in the last layer it counts them, too. */
__device__ void test_neighbours(const forest &f, const worker &w)
{
    const sf_gpu_twig &t = f.layers[w.layer];
    const sf_gpu_above above = {f.room.roots, f.room.ends, w.count};
    uint32_t total = (uint32_t)w.total, words = (total + LANES - 1) / LANES, lane = threadIdx.x % LANES;
    uint32_t warp = blockIdx.x * WARPS + threadIdx.x / LANES;
    bool is_last = w.layer + 1 == f.layer_count;
    unsigned long long found = 0;
    for (uint32_t tile = warp * TILE; tile < words; tile += gridDim.x * WARPS * TILE) {
        uint32_t owner = 0;
        for (uint32_t word = tile; word < min(tile + TILE, words); word++) {
            uint32_t p = min(word * LANES + lane, total - 1); /* beyond the end a lane repeats the last */
            bool is_repeated, keeps = word * LANES + lane < total;
            owner = sf_gpu_owner(above, owner, p);
            sf_backend_node e = sf_gpu_neighbour(f.data, t, above, owner, p, &is_repeated);
            e.idx += w.first;
            keeps = keeps && !is_repeated && sf_gpu_is_candidate(f.data, t, e.vid) && joins(f, w.layer, e);
            uint32_t bits = __ballot_sync(ALL_LANES, keeps);
            if (lane == 0) f.room.words[word] = bits;
            if (is_last && keeps) found = sf_gpu_add(found, count_twins(f, w.layer, e));
            owner = __shfl_sync(ALL_LANES, owner, 0); /* the next word's are not before it */
        }
    }
    report(f, found);
}

__device__ void count_bits(const forest &f, const worker &w)
{
    uint32_t first, last;
    uint64_t own = 0;
    share((uint32_t)(w.total + LANES - 1) / LANES, &first, &last);
    for (uint32_t word = first + threadIdx.x; word < last; word += THREADS)
        own += __popc(f.room.words[word]);
    leave_sum(f.room.sums + gridDim.x, own);
}

/* The neighbours of a warp's 32 words that fit, one word after the other; `bits` and `to`, where its first
 * one goes, are those of a lane's word. */
__device__ void write_words(const forest &f, const worker &w, uint32_t first, uint32_t bits, uint32_t to)
{
    const sf_gpu_above above = {f.room.roots, f.room.ends, w.count};
    uint32_t lane = threadIdx.x % LANES, owner = 0;
    for (uint32_t k = 0; k < LANES; k++) {
        uint32_t word = __shfl_sync(ALL_LANES, bits, k), place = __shfl_sync(ALL_LANES, to, k);
        if (word == 0) continue;
        if ((word >> lane & 1) != 0) {
            bool is_repeated;
            uint32_t p = (first + k) * LANES + lane;
            owner = sf_gpu_owner(above, owner, p);
            sf_backend_node e = sf_gpu_neighbour(f.data, f.layers[w.layer], above, owner, p, &is_repeated);
            e.idx += w.first;
            f.room.trees[w.layer][place + __popc(word & ((1u << lane) - 1))] = e;
        }
    }
}

/* The layer itself. False where it is too large to stay. */
__device__ bool write_layer(const forest &f, worker &w)
{
    uint32_t first, last, all;
    uint64_t before;
    w.kept = read_sums(f.room.sums + gridDim.x, &before);
    if (w.kept > f.most_kept) return false;
    share((uint32_t)(w.total + LANES - 1) / LANES, &first, &last);
    for (uint32_t tile = first; tile < last; tile += THREADS) {
        uint32_t word = tile + threadIdx.x, bits = word < last ? f.room.words[word] : 0;
        uint32_t to = (uint32_t)before + sum_before(__popc(bits), &all);
        write_words(f, w, word - threadIdx.x % LANES, bits, to);
        before += all;
    }
    return true;
}

/* The layer above goes on in parts of which each has an equal share of what is too much. */
__device__ void cut(const forest &f, uint64_t found, uint64_t most)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        f.room.growth->parts = 2 + (uint32_t)min(found / most, (uint64_t)1 << 20);
}

/* Grows one layer; false where the descent ends. */
__device__ bool grow(const forest &f, worker &w)
{
    sf_gpu_growth *growth = f.room.growth;
    bool is_one = blockIdx.x == 0 && threadIdx.x == 0, is_last = w.layer + 1 == f.layer_count;
    find_roots(f, w);
    w.grid.sync();
    if (!add_up(f, w)) {
        cut(f, w.total, MOST_NEIGHBOURS);
        return false;
    }
    w.grid.sync();
    test_neighbours(f, w);
    if (is_one) growth->tried += w.total;
    w.kept = 0;
    if (!is_last) {
        w.grid.sync();
        count_bits(f, w);
        w.grid.sync();
        if (!write_layer(f, w)) {
            cut(f, w.kept, f.most_kept);
            return false;
        }
    }
    if (is_one) {
        growth->reached = w.layer;
        growth->left = (uint32_t)w.kept;
    }
    w.first = 0;
    w.count = (uint32_t)w.kept;
    return w.count > 0;
}

__global__ void __launch_bounds__(THREADS, 5)
    grow_layers(const __grid_constant__ forest f, uint32_t first, uint32_t last)
{
    sf_gpu_growth *growth = f.room.growth;
    worker w = {cooperative_groups::this_grid(), first, first == f.base + 1 ? f.first : 0, growth->left};
    bool goes_on = !growth->ended;
    for (; w.layer <= last && goes_on; w.layer++) {
        goes_on = grow(f, w);
        if (goes_on && w.layer < last) w.grid.sync();
    }
    if (!goes_on && blockIdx.x == 0 && threadIdx.x == 0)
        growth->ended = 1; /* all have read it: none leaves before the first barrier */
}

} // namespace

/* ---- what the program calls ---- */

/* As many blocks as run at once, since they wait for one another. */
static int count_blocks(sf_backend_device *device, uint32_t *blocks, sf_error *error)
{
    int of_each = 0;
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, grow_layers, THREADS, 0));
    *blocks = (uint32_t)(of_each * device->properties.multiProcessorCount);
    return SF_OK;
}

int sf_gpu_room_open(sf_backend_twigs *t, sf_error *error)
{
    sf_gpu_room *r = &t->room;
    size_t most = t->most_kept;
    uint32_t blocks = 0;
    if (most > MOST_NEIGHBOURS)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a device joins up to %u neighbours of a vertex",
                       MOST_NEIGHBOURS);
    int status = count_blocks(t->device, &blocks, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &r->roots, NULL, most, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &r->ends, NULL, most, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&t->blocks, &r->words, NULL, MOST_NEIGHBOURS / LANES, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &r->sums, NULL, 2 * (size_t)blocks, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &r->growth, NULL, 1, error);
    for (uint32_t i = 0; i + 1 < t->layer_count && status == SF_OK; i++)
        status = sf_gpu_blocks_add(&t->blocks, &r->trees[i], NULL, most, error);
    return status;
}

/* The last layer of the twigs that the next kernel grows, and how many those are. */
static uint32_t end_of_twigs(const sf_backend_twigs *t, uint32_t first, uint32_t *twigs)
{
    uint32_t last = first, most = t->pairs ? 2 : 1;
    *twigs = 1;
    for (; last + 1 < t->layer_count; last++) {
        bool is_new = t->layers[last + 1].parent != t->layers[last].parent;
        if (is_new && *twigs == most) break;
        *twigs += is_new;
    }
    return last;
}

static int launch(sf_backend_twigs *t, forest *f, sf_backend_descent *d, sf_error *error)
{
    uint32_t blocks = 0, twigs = 0;
    int status = count_blocks(t->device, &blocks, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaEventRecord(t->device->timed[0], t->device->work));
    for (uint32_t first = d->layer + 1, last; first < t->layer_count; first = last + 1) {
        last = end_of_twigs(t, first, &twigs);
        void *arguments[] = {f, &first, &last};
        SF_GPU_TRY(
            cudaLaunchCooperativeKernel((void *)grow_layers, blocks, THREADS, arguments, 0, t->device->work));
        d->kernels++;
        d->twigs += twigs;
    }
    SF_GPU_TRY(cudaEventRecord(t->device->timed[1], t->device->work));
    return SF_OK;
}

static int send(sf_backend_twigs *t, const sf_backend_descent *d, sf_error *error)
{
    sf_gpu_growth growth = {};
    growth.reached = d->layer;
    growth.left = d->count;
    int status = SF_OK;
    if (d->entries != NULL)
        status = sf_gpu_upload(t->device, t->room.trees[0], d->entries, d->count * sizeof *d->entries, error);
    return status == SF_OK ? sf_gpu_upload(t->device, t->room.growth, &growth, sizeof growth, error) : status;
}

static int take(sf_backend_twigs *t, sf_backend_descent *d, sf_error *error)
{
    sf_gpu_growth growth;
    float milliseconds = 0;
    int status = sf_gpu_download(t->device, &growth, t->room.growth, sizeof growth, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaEventElapsedTime(&milliseconds, t->device->timed[0], t->device->timed[1]));
    d->seconds = milliseconds * 1e-3;
    d->reached = growth.reached;
    d->left = growth.parts > 0 ? growth.left : 0;
    d->parts = growth.parts;
    d->found = growth.overflow != 0 ? UINT64_MAX : growth.found;
    d->tried = growth.tried;
    return SF_OK;
}

int sf_gpu_twigs_descend(sf_backend_twigs *t, sf_backend_descent *d, sf_error *error)
{
    forest f = {t->data, t->room, t->layer_count, t->most_kept, t->injective, d->layer, d->first};
    memcpy(f.layers, t->layers, sizeof f.layers);
    d->kernels = d->twigs = 0;
    int status = send(t, d, error);
    if (status == SF_OK) status = launch(t, &f, d, error);
    return status == SF_OK ? take(t, d, error) : status;
}
