/* SPDX-License-Identifier: Apache-2.0 */
/* Engine gvsm: the device expands layers of the prefix tree while the CPU joins what came before (Meng, Lin
 * and Tan, High Technology Letters 32, 2022).
 *
 * An expansion has a slot with buffers and a stream of its own: what is copied in, expanded and copied out in
 * one slot overlaps with the others. It is done in three steps, so that entries come out in the order of what
 * they hang on: test every neighbour, 32 to a word of bits; add up the bits; write the entries. What a data
 * vertex must have around it is tested once and remembered; where the vertex that implies it is known to
 * fail, it fails too, and where that is not known yet, the test is done: nobody waits. */
#include "gpu/match/gvsm/twigs.cuh"

#include <string.h>

enum {
    LANES = SF_GPU_LANES,
    THREADS = 256,
    SUMMING = 1024, /* threads that add up bits, one block of them */
    SLOTS = SF_BACKEND_SLOTS
};

/* ---- on the device ---- */

namespace
{

struct expansion {
    sf_gpu_data data;
    sf_gpu_twig layer;
    sf_gpu_above above;
    uint32_t total;
    uint32_t *words, *places, *kept; /* bits of neighbours that are kept, how many are before, and in all */
    sf_backend_node *entries;
};

__device__ sf_backend_node neighbour(const expansion &x, uint32_t p, bool *is_repeated)
{
    uint32_t owner = sf_gpu_owner(x.above, 0, p);
    return sf_gpu_neighbour(x.data, x.layer, x.above, owner, p, is_repeated);
}

__global__ void test_neighbours(const __grid_constant__ expansion x)
{
    uint32_t words = (x.total + LANES - 1) / LANES, lane = threadIdx.x % LANES;
    uint32_t stride = gridDim.x * blockDim.x / LANES;
    for (uint32_t w = (blockIdx.x * blockDim.x + threadIdx.x) / LANES; w < words; w += stride) {
        uint32_t p = w * LANES + lane;
        bool keeps = false, is_repeated = false;
        if (p < x.total) {
            uint32_t v = neighbour(x, p, &is_repeated).vid;
            keeps = !is_repeated && sf_gpu_is_candidate(x.data, x.layer, v);
        }
        uint32_t bits = __ballot_sync(0xffffffffu, keeps);
        if (lane == 0) x.words[w] = bits;
    }
}

/* How many bits are before each word: one block, every thread a run of words. */
__global__ void __launch_bounds__(SUMMING) add_up(const __grid_constant__ expansion x)
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
    if (threadIdx.x == SUMMING - 1) *x.kept = sums[SUMMING - 1];
}

__global__ void write_entries(const __grid_constant__ expansion x)
{
    for (uint32_t p = blockIdx.x * blockDim.x + threadIdx.x; p < x.total; p += gridDim.x * blockDim.x) {
        uint32_t bits = x.words[p / LANES], bit = 1u << p % LANES;
        bool is_repeated;
        if ((bits & bit) != 0)
            x.entries[x.places[p / LANES] + __popc(bits & (bit - 1))] = neighbour(x, p, &is_repeated);
    }
}

} // namespace

/* ---- memory ---- */

/* What jobs bring of the graph stays with it. */
static int keep(sf_backend_data *d, const uint32_t **to, const uint32_t *from, sf_error *error)
{
    return *to != NULL || from == NULL
               ? SF_OK
               : sf_gpu_blocks_add(&d->blocks, (uint32_t **)to, from, d->job.vertex_count, error);
}

static int keep_kinds(sf_backend_data *d, sf_gpu_labelled *to, const sf_backend_labelled *from,
                      sf_error *error)
{
    sf_gpu_labelled kinds = {};
    if (to->directory != NULL || from->directory == NULL) return SF_OK;
    uint32_t before = d->blocks.count;
    int status = sf_gpu_labelled_open(&d->blocks, &kinds, from, d->job.vertex_count, error);
    if (status == SF_OK)
        *to = kinds;
    else
        sf_gpu_blocks_close_after(&d->blocks, before); /* the next query may have room for all of them */
    return status;
}

static int place_graph(sf_backend_twigs *t, const sf_backend_twig_job *job, sf_error *error)
{
    sf_backend_data *d = t->graph;
    sf_gpu_relatives *known = &d->relatives[job->out_kinds.directory != NULL];
    int status = keep_kinds(d, &d->out_kinds, &job->out_kinds, error);
    if (status == SF_OK && d->job.directed)
        status = keep_kinds(d, &d->in_kinds, &job->in_kinds, error);
    else if (status == SF_OK)
        d->in_kinds = d->out_kinds;
    if (status == SF_OK) status = keep(d, &known->implied, job->implied, error);
    if (status == SF_OK) status = keep(d, &known->twins, job->twins, error);
    t->data.out = d->out;
    t->data.in = d->in;
    t->data.out_kinds = d->out_kinds;
    t->data.in_kinds = d->in_kinds;
    t->data.label_count = job->label_count;
    t->data.labels = d->labels;
    t->data.implied = job->implied != NULL ? known->implied : NULL;
    t->data.twins = job->twins != NULL ? known->twins : NULL;
    return status;
}

/* What is of this query alone. */
static int place_marks(sf_backend_twigs *t, const sf_backend_twig_job *job, sf_error *error)
{
    size_t words = ((size_t)t->graph->job.vertex_count + 63) / 64;
    unsigned long long none = 0;
    int status = sf_gpu_blocks_add(&t->blocks, (uint64_t **)&t->data.blacklist, job->blacklist, words, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(&t->blocks, (uint64_t **)&t->data.skipped, job->skipped, words, error);
    return status == SF_OK ? sf_gpu_blocks_add(&t->blocks, &t->data.implied_tests, &none, 1, error) : status;
}

static int place_needs(sf_backend_twigs *t, sf_gpu_twig *to, const sf_backend_twig *from, sf_error *error)
{
    uint32_t vertices = t->graph->job.vertex_count;
    if (from->need_count == 0) return SF_OK;
    int status = sf_gpu_blocks_add(&t->blocks, (sf_backend_twig_need **)&to->needs, from->needs,
                                   from->need_count, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &to->known, NULL, vertices, error);
    if (status == SF_OK) SF_GPU_TRY(cudaMemsetAsync(to->known, SF_GPU_NOT_YET, vertices, t->device->work));
    return status;
}

static int place_layer(sf_backend_twigs *t, sf_gpu_twig *to, const sf_backend_twig *from, sf_error *error)
{
    *to = {from->label,           from->edge, from->edge_count, (uint16_t)from->need_count,
           (uint8_t)from->parent, from->out};
    int status = place_needs(t, to, from, error);
    if (status == SF_OK && from->edge_count > 0)
        status = sf_gpu_blocks_add(&t->blocks, (sf_backend_join_edge **)&to->edges, from->edges,
                                   from->edge_count, error);
    if (status == SF_OK && from->allowed != NULL)
        status = sf_gpu_blocks_add(&t->blocks, (uint32_t **)&to->allowed, from->allowed,
                                   ((size_t)t->graph->job.vertex_count + 31) / 32, error);
    return status;
}

/* Before its first expansion: layers may all stay, and pinned memory takes long to get. */
static int open_slot(sf_backend_twigs *t, sf_gpu_slot *s, sf_error *error)
{
    size_t most = t->most_entries, words = (most + LANES - 1) / LANES;
    SF_GPU_TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    SF_GPU_TRY(cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
    SF_GPU_TRY(cudaMallocHost((void **)&s->input, 2 * most * sizeof *s->input));
    SF_GPU_TRY(cudaMallocHost((void **)&s->entries, most * sizeof *s->entries));
    SF_GPU_TRY(cudaMallocHost((void **)&s->count, sizeof *s->count));
    int status = sf_gpu_blocks_add(&t->blocks, &s->roots, NULL, 2 * most, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &s->words, NULL, words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &s->places, NULL, words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &s->device_count, NULL, 1, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&t->blocks, &s->device_entries, NULL, most, error);
    if (status == SF_OK) /* its stream does not wait for the device's, on which there is room from now on */
        SF_GPU_TRY(cudaStreamSynchronize(t->device->work));
    return status;
}

/* ---- what the program calls ---- */

static void read_implied(sf_backend_twigs *t, uint64_t *implied)
{
    unsigned long long tests = 0;
    sf_error ignored;
    if (t->data.implied_tests != NULL &&
        sf_gpu_download(t->device, &tests, t->data.implied_tests, sizeof tests, &ignored) == SF_OK)
        *implied = tests;
}

void sf_gpu_twigs_close(sf_backend_twigs *t, uint64_t *implied)
{
    *implied = 0;
    if (t == NULL) return;
    cudaSetDevice(t->device->ordinal);
    for (int i = 0; i < SLOTS; i++) {
        sf_gpu_slot *s = &t->slots[i];
        if (s->stream != NULL) {
            cudaStreamSynchronize(s->stream);
            cudaStreamDestroy(s->stream);
        }
        if (s->done != NULL) cudaEventDestroy(s->done);
        void *pinned[] = {s->input, s->entries, s->count};
        for (int k = 0; k < 3; k++)
            if (pinned[k] != NULL) cudaFreeHost(pinned[k]);
    }
    read_implied(t, implied);
    sf_gpu_blocks_close(&t->blocks);
    sf_gpu_data_end(t->graph);
    sf_free(t);
}

static int fill(sf_backend_twigs *t, const sf_backend_twig_job *job, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(t->device->ordinal));
    int status = place_graph(t, job, error);
    if (status == SF_OK) status = place_marks(t, job, error);
    for (uint32_t i = 0; i < job->layer_count && status == SF_OK; i++)
        status = place_layer(t, &t->layers[i], &job->layers[i], error);
    if (status == SF_OK && job->descends) status = sf_gpu_room_open(t, error);
    return status;
}

int sf_gpu_twigs_open(sf_backend_twigs **opened, sf_backend_data *data, const sf_backend_twig_job *job,
                      bool *lost, sf_error *error)
{
    *opened = NULL;
    *lost = data->is_lost;
    if (data->is_lost) return SF_OK;
    sf_backend_twigs *t = (sf_backend_twigs *)sf_alloc(1, sizeof *t);
    if (t == NULL) return sf_fail_memory(error);
    t->graph = data;
    t->device = t->blocks.device = data->device;
    t->layer_count = job->layer_count;
    t->most_entries = job->most_entries;
    t->most_kept = job->most_kept;
    t->injective = job->injective;
    t->pairs = job->pairs;
    sf_gpu_data_begin(data, job->watch);
    int status = fill(t, job, error);
    uint64_t ignored;
    if (status == SF_OK)
        *opened = t;
    else
        sf_gpu_twigs_close(t, &ignored);
    return status;
}

/* Three kernels, one after the other on the slot's stream. */
static int launch(sf_backend_twigs *t, sf_gpu_slot *s, const expansion *x, sf_error *error)
{
    uint32_t blocks = (x->total + THREADS - 1) / THREADS,
             most = t->device->properties.multiProcessorCount * 8;
    blocks = blocks < 1 ? 1 : blocks < most ? blocks : most;
    test_neighbours<<<blocks, THREADS, 0, s->stream>>>(*x);
    SF_GPU_LAUNCHED();
    add_up<<<1, SUMMING, 0, s->stream>>>(*x);
    SF_GPU_LAUNCHED();
    write_entries<<<blocks, THREADS, 0, s->stream>>>(*x);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

int sf_gpu_twigs_expand(sf_backend_twigs *t, uint32_t index, uint32_t layer, const uint32_t *roots,
                        const uint32_t *ends, uint32_t count, sf_error *error)
{
    sf_gpu_slot *s = &t->slots[index];
    uint32_t total = count > 0 ? ends[count - 1] : 0;
    if (count > t->most_entries || total > t->most_entries)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "an expansion of %u entries to %u is more than %u", count,
                       total, t->most_entries);
    int status = s->stream == NULL ? open_slot(t, s, error) : SF_OK;
    if (status != SF_OK) return status;
    memcpy(s->input, roots, count * sizeof *roots);
    memcpy(s->input + count, ends, count * sizeof *ends);
    SF_GPU_TRY(
        cudaMemcpyAsync(s->roots, s->input, 2 * count * sizeof *roots, cudaMemcpyHostToDevice, s->stream));
    expansion x = {t->data,         t->layers[layer], {s->roots, s->roots + count, count},
                   total,           s->words,         s->places,
                   s->device_count, s->device_entries};
    status = launch(t, s, &x, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(
        cudaMemcpyAsync(s->count, s->device_count, sizeof *s->count, cudaMemcpyDeviceToHost, s->stream));
    SF_GPU_TRY(cudaMemcpyAsync(s->entries, s->device_entries, total * sizeof *s->entries,
                               cudaMemcpyDeviceToHost,
                               s->stream)); /* the upper bound: the true number is not known yet */
    SF_GPU_TRY(cudaEventRecord(s->done, s->stream));
    return SF_OK;
}

int sf_gpu_twigs_collect(sf_backend_twigs *t, uint32_t index, const sf_backend_node **entries,
                         uint32_t *count, sf_error *error)
{
    sf_gpu_slot *s = &t->slots[index];
    SF_GPU_TRY(cudaEventSynchronize(s->done));
    *entries = s->entries;
    *count = *s->count;
    return SF_OK;
}
