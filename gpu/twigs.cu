/* SPDX-License-Identifier: Apache-2.0 */
/* Engine gvsm: the device expands layers of the prefix tree while the CPU joins what came before (Meng, Lin
 * and Tan, High Technology Letters 32, 2022).
 *
 * An expansion has a slot with buffers and a stream of its own: what is copied in, expanded and copied out in
 * one slot overlaps with the others. It is done in three steps, so that entries come out in the order of what
 * they hang on: test every neighbour, 32 to a word of bits; add up the bits; write the entries. What a data
 * vertex must have around it is tested once and remembered; where the vertex that implies it is known to
 * fail, it fails too, and where that is not known yet, the test is done: nobody waits. */
#include "gpu/device.cuh"

extern "C" {
#include "core/backend_match.h"
}

#include <string.h>

enum {
    LANES = 32,
    THREADS = 256,
    SUMMING = 1024, /* threads that add up bits, one block of them */
    SLOTS = SF_BACKEND_SLOTS,
    LAYERS = 64,
    NEEDS = 128, /* of a layer */
    NOT_YET = 0,
    YES = 1,
    NO = 2
};

#define ANY_LABEL 0xffffffffu

struct lists {
    const uint64_t *directory, *starts;
    const uint32_t *labels, *targets;
};

struct graph {
    lists out, in;
    const uint64_t *blacklist, *skipped;
    const uint32_t *implied; /* or NULL */
};

struct twig {
    uint32_t label, out, need_count;
    const sf_backend_need *needs;
    uint8_t *known; /* of each data vertex: whether it meets them; NULL where there are none */
};

struct slot {
    cudaStream_t stream;
    cudaEvent_t done;
    uint32_t *input;                                        /* pinned: roots, then ends */
    sf_backend_node *entries;                               /* pinned */
    uint32_t *count;                                        /* pinned */
    uint32_t *roots, *ends, *words, *places, *device_count; /* on the device */
    sf_backend_node *device_entries;
};

struct sf_backend_twigs {
    sf_backend_device *device;
    graph data;
    twig layers[LAYERS];
    uint32_t most_entries;
    unsigned long long *implied_tests;
    slot slots[SLOTS];
    void *blocks[16 + 2 * LAYERS + 8 * SLOTS]; /* device memory, given back as a whole */
    size_t bytes[16 + 2 * LAYERS + 8 * SLOTS];
    uint32_t block_count;
};

/* ---- on the device
 * ------------------------------------------------------------------------------------------- */

static __device__ bool has_bit(const uint64_t *bits, uint32_t v)
{
    return (bits[v / 64] >> v % 64 & 1) != 0;
}

/* Where the neighbours of a vertex with a label begin and end. */
static __device__ void find_neighbours(const lists &l, uint32_t v, uint32_t label, uint64_t *begin,
                                       uint64_t *end)
{
    uint64_t low = l.directory[v], high = l.directory[v + 1], last = high;
    *begin = l.starts[low];
    *end = l.starts[high];
    if (label == ANY_LABEL)
        return;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (l.labels[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < last && l.labels[low] == label;
    *begin = l.starts[low];
    *end = is_there ? l.starts[low + 1] : *begin;
}

static __device__ bool meets(const graph &g, const twig &t, uint32_t v)
{
    for (uint32_t i = 0; i < t.need_count; i++) {
        const sf_backend_need need = t.needs[i];
        const lists &l = need.out ? g.out : g.in;
        uint64_t at, end;
        uint32_t found = 0;
        find_neighbours(l, v, need.label, &at, &end);
        for (; at < end && found < need.count; at++)
            found += !has_bit(g.blacklist, l.targets[at]);
        if (found < need.count)
            return false;
    }
    return true;
}

/* Two threads may both do the test; they agree. */
static __device__ bool passes(const graph &g, const twig &t, uint32_t v, unsigned long long *implied_tests)
{
    uint8_t known = t.known[v];
    if (known == NOT_YET && g.implied != NULL && g.implied[v] != ~0u && t.known[g.implied[v]] == NO) {
        atomicAdd(implied_tests, 1ull);
        known = NO;
    }
    if (known == NOT_YET)
        known = meets(g, t, v) ? YES : NO;
    t.known[v] = known;
    return known == YES;
}

/* The first entry whose neighbours end after p: p is one of its own. */
static __device__ uint32_t owner_of(const uint32_t *ends, uint32_t count, uint32_t p)
{
    uint32_t low = 0;
    while (count > 0) {
        uint32_t half = count / 2;
        if (ends[low + half] <= p) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

struct expansion {
    graph data;
    twig layer;
    const uint32_t *roots, *ends;
    uint32_t count, total;
    uint32_t *words, *places, *kept; /* bits of neighbours that are kept, how many are before, and in all */
    sf_backend_node *entries;
    unsigned long long *implied_tests;
};

static __device__ sf_backend_node neighbour(const expansion &x, uint32_t p, bool *is_repeated)
{
    uint32_t idx = owner_of(x.ends, x.count, p), before = idx > 0 ? x.ends[idx - 1] : 0;
    const lists &l = x.layer.out ? x.data.out : x.data.in;
    uint64_t begin, end;
    find_neighbours(l, x.roots[idx], x.layer.label, &begin, &end);
    uint64_t at = begin + (p - before);
    *is_repeated = p > before && l.targets[at] == l.targets[at - 1]; /* parallel edges */
    return {l.targets[at], idx};
}

static __global__ void test_neighbours(const __grid_constant__ expansion x)
{
    uint32_t words = (x.total + LANES - 1) / LANES, lane = threadIdx.x % LANES;
    uint32_t stride = gridDim.x * blockDim.x / LANES;
    for (uint32_t w = (blockIdx.x * blockDim.x + threadIdx.x) / LANES; w < words; w += stride) {
        uint32_t p = w * LANES + lane;
        bool keeps = false, is_repeated = false;
        if (p < x.total) {
            uint32_t v = neighbour(x, p, &is_repeated).vid;
            keeps = !is_repeated && !has_bit(x.data.skipped, v) &&
                    (x.layer.known == NULL || passes(x.data, x.layer, v, x.implied_tests));
        }
        uint32_t bits = __ballot_sync(0xffffffffu, keeps);
        if (lane == 0)
            x.words[w] = bits;
    }
}

/* How many bits are before each word: one block, every thread a run of words. */
static __global__ void __launch_bounds__(SUMMING) add_up(const __grid_constant__ expansion x)
{
    __shared__ uint32_t sums[SUMMING];
    uint32_t words = (x.total + LANES - 1) / LANES, run = (words + SUMMING - 1) / SUMMING;
    uint32_t first = min(threadIdx.x * run, words), last = min(first + run, words), own = 0;
    for (uint32_t w = first; w < last; w++)
        own += __popc(x.words[w]);
    sums[threadIdx.x] = own;
    __syncthreads();
    for (uint32_t k = 1; k < SUMMING; k *= 2) {
        uint32_t before = threadIdx.x >= k ? sums[threadIdx.x - k] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
        __syncthreads();
    }
    uint32_t place = sums[threadIdx.x] - own;
    for (uint32_t w = first; w < last; w++) {
        x.places[w] = place;
        place += __popc(x.words[w]);
    }
    if (threadIdx.x == SUMMING - 1)
        *x.kept = sums[SUMMING - 1];
}

static __global__ void write_entries(const __grid_constant__ expansion x)
{
    for (uint32_t p = blockIdx.x * blockDim.x + threadIdx.x; p < x.total; p += gridDim.x * blockDim.x) {
        uint32_t bits = x.words[p / LANES], bit = 1u << p % LANES;
        bool is_repeated;
        if ((bits & bit) != 0)
            x.entries[x.places[p / LANES] + __popc(bits & (bit - 1))] = neighbour(x, p, &is_repeated);
    }
}

/* ---- memory
 * -------------------------------------------------------------------------------------------------- */

/* Device memory, with what `from` holds in it where it is not NULL. */
template <class T>
static int place(sf_backend_twigs *t, T **to, const void *from, size_t items, sf_error *error)
{
    void *block;
    size_t bytes = items * sizeof **to;
    int status = sf_gpu_alloc(t->device, &block, bytes, error);
    if (status != SF_OK)
        return status;
    t->blocks[t->block_count] = block;
    t->bytes[t->block_count++] = bytes;
    *to = (T *)block;
    return from != NULL ? sf_gpu_upload(t->device, block, from, bytes, error) : SF_OK;
}

static int place_lists(sf_backend_twigs *t, lists *to, const sf_backend_labelled *from, uint32_t vertices,
                       sf_error *error)
{
    uint64_t entries = from->directory[vertices];
    int status = place(t, (uint64_t **)&to->directory, from->directory, (size_t)vertices + 1, error);
    if (status == SF_OK)
        status = place(t, (uint32_t **)&to->labels, from->labels, entries, error);
    if (status == SF_OK)
        status = place(t, (uint64_t **)&to->starts, from->starts, entries + 1, error);
    if (status == SF_OK)
        status = place(t, (uint32_t **)&to->targets, from->targets, from->starts[entries], error);
    return status;
}

static int place_graph(sf_backend_twigs *t, const sf_backend_twig_job *job, sf_error *error)
{
    size_t words = ((size_t)job->vertex_count + 63) / 64;
    int status = place_lists(t, &t->data.out, &job->out, job->vertex_count, error);
    t->data.in = t->data.out;
    if (status == SF_OK && job->in.targets != job->out.targets)
        status = place_lists(t, &t->data.in, &job->in, job->vertex_count, error);
    if (status == SF_OK)
        status = place(t, (uint64_t **)&t->data.blacklist, job->blacklist, words, error);
    if (status == SF_OK)
        status = place(t, (uint64_t **)&t->data.skipped, job->skipped, words, error);
    if (status == SF_OK && job->implied != NULL)
        status = place(t, (uint32_t **)&t->data.implied, job->implied, job->vertex_count, error);
    if (status == SF_OK)
        status = place(t, &t->implied_tests, NULL, 1, error);
    if (status == SF_OK)
        SF_GPU_TRY(cudaMemsetAsync(t->implied_tests, 0, sizeof *t->implied_tests, t->device->work));
    return status;
}

static int place_layer(sf_backend_twigs *t, twig *to, const sf_backend_twig *from, uint32_t vertices,
                       sf_error *error)
{
    to->label = from->label;
    to->out = from->out;
    to->need_count = from->need_count;
    if (from->need_count == 0)
        return SF_OK;
    int status = place(t, (sf_backend_need **)&to->needs, from->needs, from->need_count, error);
    if (status == SF_OK)
        status = place(t, &to->known, NULL, vertices, error);
    if (status == SF_OK)
        SF_GPU_TRY(cudaMemsetAsync(to->known, NOT_YET, vertices, t->device->work));
    return status;
}

static int open_slot(sf_backend_twigs *t, slot *s, sf_error *error)
{
    size_t most = t->most_entries, words = (most + LANES - 1) / LANES;
    SF_GPU_TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    SF_GPU_TRY(cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
    SF_GPU_TRY(cudaMallocHost((void **)&s->input, 2 * most * sizeof *s->input));
    SF_GPU_TRY(cudaMallocHost((void **)&s->entries, most * sizeof *s->entries));
    SF_GPU_TRY(cudaMallocHost((void **)&s->count, sizeof *s->count));
    int status = place(t, &s->roots, NULL, 2 * most, error);
    if (status == SF_OK)
        status = place(t, &s->words, NULL, words, error);
    if (status == SF_OK)
        status = place(t, &s->places, NULL, words, error);
    if (status == SF_OK)
        status = place(t, &s->device_count, NULL, 1, error);
    if (status == SF_OK)
        status = place(t, &s->device_entries, NULL, most, error);
    return status;
}

/* ---- what the program calls
 * ---------------------------------------------------------------------------------- */

static void read_implied(sf_backend_twigs *t, uint64_t *implied)
{
    unsigned long long tests = 0;
    sf_error ignored;
    if (t->implied_tests != NULL &&
        sf_gpu_download(t->device, &tests, t->implied_tests, sizeof tests, &ignored) == SF_OK)
        *implied = tests;
}

void sf_gpu_twigs_close(sf_backend_twigs *t, uint64_t *implied)
{
    *implied = 0;
    if (t == NULL)
        return;
    cudaSetDevice(t->device->ordinal);
    for (int i = 0; i < SLOTS; i++) {
        slot *s = &t->slots[i];
        if (s->stream != NULL) {
            cudaStreamSynchronize(s->stream);
            cudaStreamDestroy(s->stream);
        }
        if (s->done != NULL)
            cudaEventDestroy(s->done);
        void *pinned[] = {s->input, s->entries, s->count};
        for (int k = 0; k < 3; k++)
            if (pinned[k] != NULL)
                cudaFreeHost(pinned[k]);
    }
    read_implied(t, implied);
    for (uint32_t i = 0; i < t->block_count; i++)
        sf_gpu_free(t->device, t->blocks[i], t->bytes[i]);
    sf_free(t);
}

static int fill(sf_backend_twigs *t, const sf_backend_twig_job *job, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(t->device->ordinal));
    int status = place_graph(t, job, error);
    for (uint32_t i = 0; i < job->layer_count && status == SF_OK; i++)
        status = place_layer(t, &t->layers[i], &job->layers[i], job->vertex_count, error);
    for (int i = 0; i < SLOTS && status == SF_OK; i++)
        status = open_slot(t, &t->slots[i], error);
    if (status == SF_OK) /* slots have streams of their own, which do not wait for the copies */
        SF_GPU_TRY(cudaStreamSynchronize(t->device->work));
    return status;
}

int sf_gpu_twigs_open(sf_backend_twigs **opened, sf_backend_device *device, const sf_backend_twig_job *job,
                      sf_error *error)
{
    *opened = NULL;
    if (job->layer_count > LAYERS)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a device expands up to %d layers", LAYERS);
    sf_backend_twigs *t = (sf_backend_twigs *)sf_alloc(1, sizeof *t);
    if (t == NULL)
        return sf_fail_memory(error);
    t->device = device;
    t->most_entries = job->most_entries;
    int status = fill(t, job, error);
    uint64_t ignored;
    if (status == SF_OK)
        *opened = t;
    else
        sf_gpu_twigs_close(t, &ignored);
    return status;
}

int sf_gpu_twigs_expand(sf_backend_twigs *t, uint32_t index, uint32_t layer, const uint32_t *roots,
                        const uint32_t *ends, uint32_t count, sf_error *error)
{
    slot *s = &t->slots[index];
    uint32_t total = count > 0 ? ends[count - 1] : 0;
    if (count > t->most_entries || total > t->most_entries)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "an expansion of %u entries to %u is more than %u", count,
                       total, t->most_entries);
    memcpy(s->input, roots, count * sizeof *roots);
    memcpy(s->input + count, ends, count * sizeof *ends);
    expansion x = {t->data,  t->layers[layer], s->roots,        s->roots + count,  count,           total,
                   s->words, s->places,        s->device_count, s->device_entries, t->implied_tests};
    uint32_t blocks = (total + THREADS - 1) / THREADS, most = t->device->properties.multiProcessorCount * 8;
    blocks = blocks < 1 ? 1 : blocks < most ? blocks : most;
    SF_GPU_TRY(
        cudaMemcpyAsync(s->roots, s->input, 2 * count * sizeof *roots, cudaMemcpyHostToDevice, s->stream));
    test_neighbours<<<blocks, THREADS, 0, s->stream>>>(x);
    SF_GPU_LAUNCHED();
    add_up<<<1, SUMMING, 0, s->stream>>>(x);
    SF_GPU_LAUNCHED();
    write_entries<<<blocks, THREADS, 0, s->stream>>>(x);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(
        cudaMemcpyAsync(s->count, s->device_count, sizeof *s->count, cudaMemcpyDeviceToHost, s->stream));
    SF_GPU_TRY(cudaMemcpyAsync(s->entries, s->device_entries, total * sizeof *s->entries,
                               cudaMemcpyDeviceToHost,
                               s->stream)); /* as many as there can be: how many there are is not known yet */
    SF_GPU_TRY(cudaEventRecord(s->done, s->stream));
    return SF_OK;
}

int sf_gpu_twigs_collect(sf_backend_twigs *t, uint32_t index, const sf_backend_node **entries,
                         uint32_t *count, sf_error *error)
{
    slot *s = &t->slots[index];
    SF_GPU_TRY(cudaEventSynchronize(s->done));
    *entries = s->entries;
    *count = *s->count;
    return SF_OK;
}
