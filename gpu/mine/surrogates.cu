/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting candidates in surrogates on the device, as core/backend/surrogates.h says.
 *
 * The lists of all prefixes are made once, of the recorded spikes. Then, for a batch of surrogates at a time:
 *
 *   images   of the shifted spikes (surrogate_images.cu)
 *   count    one warp for each (level, surrogate, prefix, delay, tile of units) walks the windows of the
 *            prefix's list in the image (occurrences.cuh), and writes the counts of the prefix's candidates
 *   add_up   adds a batch's counts to the tallies; they are kept where memory allows, to be compared
 *
 * The floor is the walk: list entries x spikes within a delay, 6 bytes each from the L2 cache.
 */
#include "gpu/families.cuh"
#include "gpu/keys.cuh"
#include "gpu/mine/occurrences.cuh"
#include "gpu/mine/surrogate_images.cuh"

extern "C" {
#include "core/clock.h"
#include "core/progress.h"
}

#include <math.h>

#define WARP SF_GPU_WARP
#define MOST_BATCH 64u
#define MOST_LEVELS (SF_EPISODE_MAX_SIZE - 1)
#define THREADS 256u
#define FIRST_BATCH 8u
#define BATCH_S 0.008 /* no batch is to take longer: others may wait for the device */

namespace
{

/* A level that `count` works on. They come in order: the lists of the first are the longest. */
typedef struct counted_level {
    uint64_t jobs_end; /* of all levels up to it */
    sf_gpu_level_view prefixes;
    const uint64_t *first;      /* by prefix: its candidates */
    const uint32_t *candidates; /* steps */
    uint64_t base;              /* of its candidates among all */
} counted_level;

/* What `count` works on: all levels in a batch. */
typedef struct count_view {
    uint32_t unit_count, spike_count, delay_count, surrogates;
    sf_gpu_tiling tiling;
    uint32_t level_count;
    counted_level levels[MOST_LEVELS];
    const uint16_t *owner; /* [surrogate][position of the image], as all three */
    const uint32_t *after;
    const uint2 *reaches;  /* [surrogate][delay][recorded position] */
    uint32_t *counts;      /* [surrogate][candidate of all levels] */
    uint64_t counts_apart; /* from one surrogate to the next */
    unsigned long long *ticket;
} count_view;

typedef struct job_level {
    sf_gpu_episode_lists prefixes;
    sf_gpu_array first, candidates;
    uint64_t base, count; /* of its candidates among all */
} job_level;

} // namespace

struct sf_backend_surrogate_job {
    sf_backend_stream *stream;
    sf_backend_device *device;
    const sf_surrogate_plan *plan;
    uint32_t level_count;
    job_level levels[MOST_LEVELS];
    uint64_t candidate_count;
    sf_gpu_images images;
    sf_gpu_array tallies, ticket, counts;
    uint32_t kept_first, kept_count; /* the surrogates whose counts `counts` holds */
    uint32_t part;                   /* surrogates of the next batch, while that many are left */
    double began;                    /* the batch at hand */
};

/* ---- kernels ---- */

namespace
{

__device__ uint32_t thread_number(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void count(count_view v)
{
    extern __shared__ sf_gpu_cell all_cells[];
    uint32_t lane = threadIdx.x % WARP, tiles = v.tiling.tiles;
    sf_gpu_cell *cells = all_cells + threadIdx.x / WARP * v.tiling.tile_units;
    uint32_t level = 0;
    for (;;) {
        unsigned long long job = 0;
        if (lane == 0) job = atomicAdd(v.ticket, 1ull);
        job = __shfl_sync(SF_GPU_FULL, job, 0);
        while (level < v.level_count && job >= v.levels[level].jobs_end)
            level++; /* a warp's jobs ascend */
        if (level == v.level_count) break;
        const counted_level &of = v.levels[level];
        job -= level > 0 ? v.levels[level - 1].jobs_end : 0;
        uint32_t tile_begin = (uint32_t)(job % tiles) * v.tiling.tile_units;
        uint32_t tile_end = min(tile_begin + v.tiling.tile_units, v.unit_count);
        uint32_t delay = (uint32_t)(job / tiles % v.delay_count);
        uint32_t prefix = (uint32_t)(job / tiles / v.delay_count % of.prefixes.count);
        size_t surrogate = job / tiles / v.delay_count / of.prefixes.count;
        uint32_t first_step = delay * v.unit_count + tile_begin;
        uint32_t last_step = delay * v.unit_count + tile_end; /* not included */
        uint64_t begin = of.first[prefix], all_end = of.first[prefix + 1];
        begin += sf_gpu_lower_bound(of.candidates + begin, all_end - begin, first_step);
        uint64_t end = begin + sf_gpu_lower_bound(of.candidates + begin, all_end - begin, last_step);
        if (begin == end) continue;
        sf_gpu_image image = {v.owner + surrogate * v.spike_count, v.after + surrogate * v.spike_count};
        const uint2 *reaches = v.reaches + (surrogate * v.delay_count + delay) * v.spike_count;
        sf_gpu_extend_list(cells, image, reaches, of.prefixes.entries + of.prefixes.offsets[prefix],
                           of.prefixes.lengths[prefix], tile_begin, tile_end, lane);
        for (uint64_t c = begin + lane; c < end; c += WARP)
            v.counts[surrogate * v.counts_apart + of.base + c] = cells[of.candidates[c] - first_step].y;
        __syncwarp();
    }
}

__global__ void add_up(sf_surrogate_tally *tallies, const uint32_t *counts, uint64_t candidates,
                       uint32_t surrogates)
{
    for (uint64_t c = thread_number(); c < candidates; c += (uint64_t)gridDim.x * blockDim.x) {
        sf_surrogate_tally own = tallies[c];
        for (uint32_t s = 0; s < surrogates; s++) {
            uint64_t value = counts[s * candidates + c];
            own.sum += value;
            own.sum_squares += value * value;
        }
        tallies[c] = own;
    }
}

__global__ void find_reached(sf_surrogate_reached *reached, const uint32_t *counts,
                             const sf_surrogate_scale *scales, uint64_t candidates, uint32_t surrogates)
{
    for (uint64_t c = thread_number(); c < candidates; c += (uint64_t)gridDim.x * blockDim.x) {
        sf_surrogate_reached own = reached[c];
        uint32_t recorded = scales[c].recorded;
        for (uint32_t s = 0; s < surrogates; s++) {
            uint32_t count = counts[s * candidates + c];
            own.as_much += count >= recorded;
            own.more += count > recorded;
        }
        reached[c] = own;
    }
}

/* A block for each surrogate. */
__global__ void find_maxima(double *maxima, const uint32_t *all_counts, uint64_t counts_apart,
                            const sf_surrogate_scale *scales, uint64_t candidates, uint32_t least)
{
    const uint32_t *counts = all_counts + blockIdx.x * counts_apart;
    __shared__ double of_warps[THREADS / WARP];
    double own = -INFINITY;
    for (uint64_t c = threadIdx.x; c < candidates; c += blockDim.x)
        if (counts[c] >= least && scales[c].scale != 0) /* two roundings, as on the CPU */
            own = fmax(own, __dmul_rn(__dsub_rn((double)counts[c], scales[c].mean), scales[c].scale));
    for (uint32_t distance = WARP / 2; distance > 0; distance /= 2)
        own = fmax(own, __shfl_xor_sync(SF_GPU_FULL, own, distance));
    if (threadIdx.x % WARP == 0) of_warps[threadIdx.x / WARP] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (uint32_t w = 1; w < THREADS / WARP; w++)
        own = fmax(own, of_warps[w]);
    maxima[blockIdx.x] = own;
}

} // namespace

/* ---- opening ---- */

static int send_nodes(sf_backend_surrogate_job *j, sf_gpu_episode_lists *to, const sf_surrogate_level *from,
                      sf_error *error)
{
    sf_found *nodes = (sf_found *)sf_alloc(from->prefix_count, sizeof *nodes);
    if (nodes == NULL) return sf_fail_memory(error);
    for (uint32_t i = 0; i < from->prefix_count; i++)
        nodes[i] = sf_found{from->parents[i], from->steps[i], 0};
    int status = sf_gpu_array_send(j->device, &to->nodes, nodes, from->prefix_count * sizeof *nodes, error);
    sf_free(nodes);
    return status;
}

/* The lists of a level's prefixes, and its candidates. */
static int open_level(sf_backend_surrogate_job *j, uint32_t k, const uint2 *reaches, sf_error *error)
{
    const sf_surrogate_level *from = &j->plan->levels[k];
    job_level *to = &j->levels[k];
    sf_gpu_episode_lists *prefixes = &to->prefixes;
    to->base = j->candidate_count;
    to->count = from->first[from->prefix_count];
    j->candidate_count += to->count;
    int status = sf_gpu_array_send(j->device, &to->first, from->first,
                                   ((size_t)from->prefix_count + 1) * sizeof *from->first, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(j->device, &to->candidates, from->candidates,
                                   to->count * sizeof *from->candidates, error);
    if (status != SF_OK || k == 0)
        return status == SF_OK ? sf_gpu_list_units(prefixes, j->stream, 0, from->prefix_count, error)
                               : status;
    prefixes->size = k + 1;
    prefixes->count = from->prefix_count;
    status = send_nodes(j, prefixes, from, error);
    if (status == SF_OK)
        status = sf_gpu_list_level(prefixes, &j->levels[k - 1].prefixes, j->stream, reaches, true, error);
    sf_gpu_array_close(j->device, &prefixes->nodes);
    return status;
}

static int open_levels(sf_backend_surrogate_job *j, sf_error *error)
{
    const sf_surrogate_plan *plan = j->plan;
    sf_gpu_array reaches = {};
    int status = sf_gpu_find_reaches(&reaches, j->stream, plan->delays, plan->delay_count, error);
    for (; j->level_count < plan->level_count && status == SF_OK; j->level_count++)
        status = open_level(j, j->level_count, (const uint2 *)reaches.data, error);
    sf_gpu_array_close(j->device, &reaches);
    return status;
}

static void close_job(sf_backend_surrogate_job *j)
{
    if (j == NULL) return;
    cudaSetDevice(j->device->ordinal);
    sf_gpu_array *arrays[] = {&j->tallies, &j->ticket, &j->counts};
    sf_gpu_images_close(&j->images);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sf_gpu_array_close(j->device, arrays[i]);
    for (job_level &level : j->levels) {
        sf_gpu_level_close(j->device, &level.prefixes);
        sf_gpu_array_close(j->device, &level.first);
        sf_gpu_array_close(j->device, &level.candidates);
    }
    sf_free(j);
}

static int open_all(sf_backend_surrogate_job *j, sf_error *error)
{
    int status = open_levels(j, error);
    if (status == SF_OK)
        status =
            sf_gpu_array_open(j->device, &j->tallies, j->candidate_count * sizeof(sf_surrogate_tally), error);
    if (status == SF_OK) status = sf_gpu_array_open(j->device, &j->ticket, sizeof(unsigned long long), error);
    return status == SF_OK ? sf_gpu_images_open(&j->images, j->stream, j->plan, MOST_BATCH, error) : status;
}

static int open_job(sf_backend_surrogate_job **opened, sf_backend_stream *stream,
                    const sf_surrogate_plan *plan, sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(stream->device->ordinal));
    sf_backend_surrogate_job *j = (sf_backend_surrogate_job *)sf_alloc(1, sizeof *j);
    if (j == NULL) return sf_fail_memory(error);
    j->stream = stream;
    j->device = stream->device;
    j->plan = plan;
    int status = open_all(j, error);
    j->part = j->images.batch < FIRST_BATCH ? j->images.batch : FIRST_BATCH;
    if (status == SF_OK)
        *opened = j;
    else
        close_job(j);
    return status;
}

/* ---- a batch ---- */

static int grid(const sf_backend_surrogate_job *j)
{
    return j->device->properties.multiProcessorCount * 8;
}

static count_view view_counts(const sf_backend_surrogate_job *j, uint32_t surrogates, uint32_t *counts)
{
    count_view v = {.unit_count = j->stream->unit_count,
                    .spike_count = j->stream->count,
                    .delay_count = j->plan->delay_count,
                    .surrogates = surrogates,
                    .tiling = sf_gpu_tile(j->stream->unit_count),
                    .owner = (const uint16_t *)j->images.owner.data,
                    .after = (const uint32_t *)j->images.after.data,
                    .reaches = (const uint2 *)j->images.reaches.data,
                    .counts = counts,
                    .counts_apart = j->candidate_count,
                    .ticket = (unsigned long long *)j->ticket.data};
    uint64_t jobs = 0, each = (uint64_t)surrogates * v.delay_count * v.tiling.tiles;
    for (uint32_t k = 0; k < j->level_count; k++) {
        const job_level *from = &j->levels[k];
        if (from->count == 0) continue;
        counted_level *to = &v.levels[v.level_count++];
        to->prefixes = sf_gpu_view_level(j->stream, &from->prefixes);
        jobs += each * to->prefixes.count;
        to->jobs_end = jobs;
        to->first = (const uint64_t *)from->first.data;
        to->candidates = (const uint32_t *)from->candidates.data;
        to->base = from->base;
    }
    return v;
}

static int launch_count(sf_backend_surrogate_job *j, uint32_t surrogates, uint32_t *counts, sf_error *error)
{
    sf_backend_device *device = j->device;
    count_view v = view_counts(j, surrogates, counts);
    uint32_t blocks;
    int status = sf_gpu_fill(&blocks, device, (const void *)count, &v.tiling, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(v.ticket, 0, sizeof *v.ticket, device->work));
    count<<<blocks, v.tiling.warps * WARP, v.tiling.bytes, device->work>>>(v);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* counts holds those of the batch. */
static int count_batch(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates, uint32_t *counts,
                       sf_error *error)
{
    int status = sf_gpu_images_make(&j->images, first, surrogates, error);
    return status == SF_OK ? launch_count(j, surrogates, counts, error) : status;
}

static uint32_t next_batch(sf_backend_surrogate_job *j, uint32_t left)
{
    j->began = sf_clock_seconds();
    return left < j->part ? left : j->part;
}

/* After a batch, of which nothing is under way any more. */
static int go_on(sf_backend_surrogate_job *j, uint32_t done, uint32_t total, sf_error *error)
{
    SF_GPU_TRY(cudaStreamSynchronize(j->device->work));
    double seconds = sf_clock_seconds() - j->began;
    if (seconds > BATCH_S && j->part > 1)
        j->part /= 2;
    else if (seconds < BATCH_S / 2 && j->part <= j->images.batch / 2)
        j->part *= 2;
    return sf_progress_update(j->plan->progress, "counting surrogates", done, total)
               ? SF_OK
               : sf_fail(error, SF_CANCELLED, NULL, "stopped while counting surrogates");
}

/* ---- jobs ---- */

/* Room for the counts of all these surrogates where they take half of the memory left at most, else of a
 * batch. */
static int reserve_counts(sf_backend_surrogate_job *j, uint32_t surrogates, bool *keeps, sf_error *error)
{
    sf_backend_device *device = j->device;
    sf_gpu_array_close(device, &j->counts);
    uint64_t one = j->candidate_count * sizeof(uint32_t), left = device->memory_limit - device->memory_used;
    *keeps = surrogates == 0 || one <= left / 2 / surrogates;
    uint32_t held = *keeps || surrogates < j->images.batch ? surrogates : j->images.batch;
    return sf_gpu_array_open(device, &j->counts, held * one, error);
}

static int tally_batches(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates, bool keeps,
                         sf_error *error)
{
    int status = SF_OK;
    for (uint32_t done = 0; done < surrogates && status == SF_OK;) {
        uint32_t part = next_batch(j, surrogates - done);
        uint32_t *counts = (uint32_t *)j->counts.data + (keeps ? done * j->candidate_count : 0);
        status = count_batch(j, first + done, part, counts, error);
        if (status != SF_OK) return status;
        add_up<<<grid(j), THREADS, 0, j->device->work>>>((sf_surrogate_tally *)j->tallies.data, counts,
                                                         j->candidate_count, part);
        SF_GPU_LAUNCHED();
        done += part;
        status = go_on(j, done, surrogates, error);
    }
    return status;
}

static int tally(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates,
                 sf_surrogate_tally *tallies, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(j->device->ordinal));
    if (j->candidate_count == 0) return SF_OK;
    bool keeps;
    j->kept_count = 0;
    int status = reserve_counts(j, surrogates, &keeps, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(j->tallies.data, 0, j->tallies.bytes, j->device->work));
    status = tally_batches(j, first, surrogates, keeps, error);
    if (status == SF_OK && keeps) {
        j->kept_first = first;
        j->kept_count = surrogates;
    }
    return status == SF_OK ? sf_gpu_download(j->device, tallies, j->tallies.data, j->tallies.bytes, error)
                           : status;
}

namespace
{

/* What `compare` fills, on the device. */
typedef struct comparison {
    sf_gpu_array scales, reached, maxima; /* maxima: [level][all] */
    uint32_t all, least;
} comparison;

} // namespace

/* Compares the counts of surrogates at .. at + surrogates - 1 of a call. */
static int launch_comparison(sf_backend_surrogate_job *j, const comparison *to, uint32_t at,
                             uint32_t surrogates, const uint32_t *counts, sf_error *error)
{
    const sf_surrogate_scale *scales = (const sf_surrogate_scale *)to->scales.data;
    if (surrogates == 0 || j->candidate_count == 0) return SF_OK;
    find_reached<<<grid(j), THREADS, 0, j->device->work>>>((sf_surrogate_reached *)to->reached.data, counts,
                                                           scales, j->candidate_count, surrogates);
    SF_GPU_LAUNCHED();
    for (uint32_t k = 0; k < j->level_count; k++) {
        const job_level *level = &j->levels[k];
        find_maxima<<<surrogates, THREADS, 0, j->device->work>>>(
            (double *)to->maxima.data + (size_t)k * to->all + at, counts + level->base, j->candidate_count,
            scales + level->base, level->count, to->least);
        SF_GPU_LAUNCHED();
    }
    return SF_OK;
}

/* Counts surrogates again whose counts were not kept. */
static int count_again(sf_backend_surrogate_job *j, const comparison *to, uint32_t first, sf_error *error)
{
    uint32_t held = to->all < j->images.batch ? to->all : j->images.batch;
    j->kept_count = 0;
    int status =
        sf_gpu_array_reserve(j->device, &j->counts, held * j->candidate_count * sizeof(uint32_t), error);
    uint32_t *counts = (uint32_t *)j->counts.data;
    for (uint32_t done = 0; done < to->all && status == SF_OK;) {
        uint32_t part = next_batch(j, to->all - done);
        status = count_batch(j, first + done, part, counts, error);
        if (status == SF_OK) status = launch_comparison(j, to, done, part, counts, error);
        done += part;
        if (status == SF_OK) status = go_on(j, done, to->all, error);
    }
    return status;
}

static int open_comparison(sf_backend_surrogate_job *j, comparison *to, const sf_surrogate_scale *scales,
                           sf_error *error)
{
    int status =
        sf_gpu_array_send(j->device, &to->scales, scales, j->candidate_count * sizeof *scales, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(j->device, &to->reached, j->candidate_count * sizeof(sf_surrogate_reached),
                                   error);
    if (status == SF_OK)
        status = sf_gpu_array_open(j->device, &to->maxima, (size_t)j->level_count * to->all * sizeof(double),
                                   error);
    if (status == SF_OK && to->reached.bytes > 0)
        SF_GPU_TRY(cudaMemsetAsync(to->reached.data, 0, to->reached.bytes, j->device->work));
    return status;
}

static int compare(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates, uint32_t least,
                   const sf_surrogate_scale *scales, sf_surrogate_reached *reached, double *maxima,
                   sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(j->device->ordinal));
    comparison to = {.all = surrogates, .least = least};
    int status = open_comparison(j, &to, scales, error);
    bool kept =
        first >= j->kept_first && (uint64_t)first + surrogates <= (uint64_t)j->kept_first + j->kept_count;
    if (status == SF_OK && kept)
        status = launch_comparison(
            j, &to, 0, surrogates,
            (const uint32_t *)j->counts.data + (first - j->kept_first) * j->candidate_count, error);
    else if (status == SF_OK)
        status = count_again(j, &to, first, error);
    if (status == SF_OK)
        status = sf_gpu_download(j->device, reached, to.reached.data, to.reached.bytes, error);
    if (status == SF_OK) status = sf_gpu_download(j->device, maxima, to.maxima.data, to.maxima.bytes, error);
    sf_gpu_array_close(j->device, &to.scales);
    sf_gpu_array_close(j->device, &to.reached);
    sf_gpu_array_close(j->device, &to.maxima);
    return status;
}

const sf_backend_surrogates sf_gpu_surrogates = {
    .open = open_job, .close = close_job, .tally = tally, .compare = compare};
