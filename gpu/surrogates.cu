/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting candidates in surrogates on the device, as core/backend_surrogates.h says.
 *
 * The lists of all prefixes are made once, of the recorded spikes. Then, for a batch of surrogates at a time:
 *
 *   draw     moves every spike; a radix sort of (time, unit) in one 64-bit key makes an image of the stream
 *   settle   gives each spike of an image its unit, and where in the recorded stream an occurrence may start
 *            after it
 *   reach    gives each recorded spike the positions of the image that follow it by each delay
 *   count    one warp for each (surrogate, prefix, delay, tile of units) walks the windows of the prefix's
 *            list in the image (occurrences.cuh), and writes the counts of the prefix's candidates
 *   add_up   adds a batch's counts to the tallies; they are kept where memory allows, for the maxima
 *
 * The floor is the walk: list entries x spikes within a delay, 6 bytes each from the L2 cache.
 */
#include "gpu/keys.cuh"
#include "gpu/occurrences.cuh"

#include <math.h>

extern "C" {
#include "core/backend_surrogates.h"
}

#include <cub/device/device_radix_sort.cuh>

#define WARP SF_GPU_WARP
#define MOST_BATCH 64u
#define MOST_LEVELS (SF_EPISODE_MAX_SIZE - 1)
#define THREADS 256u

/* How spikes become sorted numbers: (time + bias) << unit_bits | unit. */
typedef struct key_form {
    int64_t bias;  /* no time is below -bias */
    uint64_t most; /* no time plus bias is above it */
    int unit_bits, bits;
} key_form;

/* The recorded stream and the rule, for kernels. */
typedef struct draw_view {
    sf_surrogate_rule rule;
    int64_t origin;
    bool mirrored;
    key_form form;
    uint32_t count;
    const int64_t *times;
    const uint16_t *owner;
    const uint32_t *first, *trains;
    const uint2 *ends;
} draw_view;

/* What `count` works on: one level in a batch. */
typedef struct count_view {
    uint32_t unit_count, spike_count, delay_count, surrogates;
    sf_gpu_tiling tiling;
    sf_gpu_level_view prefixes;
    const uint64_t *first;      /* by prefix: its candidates */
    const uint32_t *candidates; /* steps */
    const uint16_t *owner;      /* [surrogate][position of the image], as all three */
    const uint32_t *after;
    const uint2 *reaches;  /* [surrogate][delay][recorded position] */
    uint32_t *counts;      /* [surrogate][candidate of all levels], from this level's first */
    uint64_t counts_apart; /* from one surrogate to the next */
    unsigned long long *ticket;
} count_view;

typedef struct job_level {
    sf_gpu_level prefixes;
    sf_gpu_array first, candidates;
    uint64_t base, count; /* of its candidates among all */
} job_level;

struct sf_backend_surrogate_job {
    sf_backend_stream *stream;
    sf_backend_device *device;
    const sf_surrogate_plan *plan;
    key_form form;
    uint32_t level_count;
    job_level levels[MOST_LEVELS];
    uint64_t candidate_count;
    sf_gpu_array trains, delays, observed, tallies, ticket;
    uint32_t batch;
    sf_gpu_array keys[2], scratch;      /* of one surrogate */
    sf_gpu_array owner, after, reaches; /* of a batch */
    sf_gpu_array counts;
    uint32_t kept_first, kept_count; /* the surrogates whose counts `counts` holds */
};

/* ---- kernels ---- */

static __device__ uint32_t thread_number(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __global__ void draw(uint64_t *keys, draw_view v, uint32_t surrogate)
{
    for (uint32_t i = thread_number(); i < v.count; i += gridDim.x * blockDim.x) {
        uint32_t position = v.ends[i].x, unit = v.owner[position], number = i - v.first[unit];
        if (v.mirrored)
            number = v.first[unit + 1] - v.first[unit] - 1 - number;
        int64_t fired = v.mirrored ? v.origin - v.times[position] : v.origin + v.times[position];
        int64_t moved = sf_surrogate_time(&v.rule, surrogate, v.trains[unit], number, fired);
        int64_t time = v.mirrored ? v.origin - moved : moved - v.origin;
        keys[i] = (uint64_t)(time + v.form.bias) << v.form.unit_bits | unit;
    }
}

/* How many recorded spikes are not after (time, unit). */
static __device__ uint32_t count_until(const draw_view *v, int64_t time, uint32_t unit)
{
    uint32_t low = 0, high = v->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int64_t there = v->times[middle];
        if (there < time || (there == time && v->owner[middle] <= unit))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __global__ void settle(uint16_t *owner, uint32_t *after, const uint64_t *keys, draw_view v)
{
    for (uint32_t i = thread_number(); i < v.count; i += gridDim.x * blockDim.x) {
        uint32_t unit = (uint32_t)(keys[i] & ((UINT64_C(1) << v.form.unit_bits) - 1));
        owner[i] = (uint16_t)unit;
        after[i] = count_until(&v, (int64_t)(keys[i] >> v.form.unit_bits) - v.form.bias, unit);
    }
}

/* The first key that is not below (time, any unit). */
static __device__ uint32_t first_key_from(const uint64_t *keys, uint32_t low, uint32_t count, uint64_t time,
                                          int unit_bits)
{
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keys[middle] >> unit_bits < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __global__ void reach(uint2 *reaches, const uint64_t *keys, draw_view v, const sf_delay *delays,
                             uint32_t delay_count)
{
    uint64_t total = (uint64_t)v.count * delay_count;
    for (uint64_t i = thread_number(); i < total; i += (uint64_t)gridDim.x * blockDim.x) {
        sf_delay delay = delays[i / v.count];
        uint64_t time = (uint64_t)(v.times[i % v.count] + v.form.bias);
        /* Saturated: no key is that late. */
        uint64_t low = time + min((uint64_t)delay.low_ns, v.form.most) + 1;
        uint64_t high = time + min((uint64_t)delay.high_ns, v.form.most) + 1;
        uint32_t from = first_key_from(keys, 0, v.count, low, v.form.unit_bits);
        reaches[i] = make_uint2(from, first_key_from(keys, from, v.count, high, v.form.unit_bits));
    }
}

static __global__ void count(count_view v)
{
    extern __shared__ sf_gpu_cell all_cells[];
    uint32_t lane = threadIdx.x % WARP, tiles = v.tiling.tiles;
    sf_gpu_cell *cells = all_cells + threadIdx.x / WARP * v.tiling.tile_units;
    uint64_t jobs = (uint64_t)v.surrogates * v.prefixes.count * v.delay_count * tiles;
    for (;;) {
        unsigned long long job = 0;
        if (lane == 0)
            job = atomicAdd(v.ticket, 1ull);
        job = __shfl_sync(SF_GPU_FULL, job, 0);
        if (job >= jobs)
            break;
        uint32_t tile_begin = (uint32_t)(job % tiles) * v.tiling.tile_units;
        uint32_t tile_end = min(tile_begin + v.tiling.tile_units, v.unit_count);
        uint32_t delay = (uint32_t)(job / tiles % v.delay_count);
        uint32_t prefix = (uint32_t)(job / tiles / v.delay_count % v.prefixes.count);
        size_t surrogate = job / tiles / v.delay_count / v.prefixes.count;
        uint32_t first_step = delay * v.unit_count + tile_begin;
        uint32_t last_step = delay * v.unit_count + tile_end; /* not included */
        uint64_t begin = v.first[prefix], all_end = v.first[prefix + 1];
        begin += sf_gpu_lower_bound(v.candidates + begin, all_end - begin, first_step);
        uint64_t end = begin + sf_gpu_lower_bound(v.candidates + begin, all_end - begin, last_step);
        if (begin == end)
            continue;
        sf_gpu_image image = {v.owner + surrogate * v.spike_count, v.after + surrogate * v.spike_count};
        const uint2 *reaches = v.reaches + (surrogate * v.delay_count + delay) * v.spike_count;
        sf_gpu_extend_list(cells, image, reaches, v.prefixes.entries + v.prefixes.offsets[prefix],
                           v.prefixes.lengths[prefix], tile_begin, tile_end, lane);
        for (uint64_t c = begin + lane; c < end; c += WARP)
            v.counts[surrogate * v.counts_apart + c] = cells[v.candidates[c] - first_step].y;
        __syncwarp();
    }
}

static __global__ void add_up(sf_surrogate_tally *tallies, const uint32_t *counts, const uint32_t *observed,
                              uint64_t candidates, uint32_t surrogates)
{
    for (uint64_t c = thread_number(); c < candidates; c += (uint64_t)gridDim.x * blockDim.x) {
        sf_surrogate_tally own = tallies[c];
        for (uint32_t s = 0; s < surrogates; s++) {
            uint64_t value = counts[s * candidates + c];
            own.sum += value;
            own.sum_squares += value * value;
            own.at_least += value >= observed[c];
        }
        tallies[c] = own;
    }
}

/* A block for each surrogate. */
static __global__ void find_maxima(double *maxima, const uint32_t *all_counts, uint64_t counts_apart,
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
    if (threadIdx.x % WARP == 0)
        of_warps[threadIdx.x / WARP] = own;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (uint32_t w = 1; w < THREADS / WARP; w++)
        own = fmax(own, of_warps[w]);
    maxima[blockIdx.x] = own;
}

/* ---- opening ---- */

static int bits_of(uint64_t value)
{
    int bits = 0;
    for (; value > 0; value >>= 1)
        bits++;
    return bits;
}

/* By the rules a spike moves by less than twice the width. */
static int form_keys(sf_backend_surrogate_job *j, sf_error *error)
{
    int64_t last = 0;
    const sf_backend_stream *stream = j->stream;
    if (stream->count > 0) {
        int status = sf_gpu_download(j->device, &last, stream->times + stream->count - 1, sizeof last, error);
        if (status != SF_OK)
            return status;
    }
    key_form *form = &j->form;
    form->unit_bits = bits_of(stream->unit_count > 0 ? stream->unit_count - 1 : 0);
    int time_bits = bits_of((uint64_t)last) + 1, width_bits = bits_of((uint64_t)j->plan->rule.width_ns) + 3;
    form->bits = (time_bits > width_bits ? time_bits : width_bits) + 1 + form->unit_bits;
    if (form->bits > 63)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the recording is too long for surrogates of %u units on the device",
                       stream->unit_count);
    form->bias = 2 * j->plan->rule.width_ns;
    form->most = (UINT64_C(1) << (form->bits - form->unit_bits)) - 1;
    return SF_OK;
}

static int send_nodes(sf_backend_surrogate_job *j, sf_gpu_level *to, const sf_surrogate_level *from,
                      sf_error *error)
{
    sf_found *nodes = (sf_found *)sf_alloc(from->prefix_count, sizeof *nodes);
    if (nodes == NULL)
        return sf_fail_memory(error);
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
    sf_gpu_level *prefixes = &to->prefixes;
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

static int send_observed(sf_backend_surrogate_job *j, sf_error *error)
{
    int status = sf_gpu_array_open(j->device, &j->observed, j->candidate_count * sizeof(uint32_t), error);
    for (uint32_t k = 0; k < j->level_count && status == SF_OK; k++)
        status = sf_gpu_upload(j->device, (uint32_t *)j->observed.data + j->levels[k].base,
                               j->plan->levels[k].observed, j->levels[k].count * sizeof(uint32_t), error);
    return status;
}

/* Images take a quarter of the memory that is left at most. */
static int open_images(sf_backend_surrogate_job *j, sf_error *error)
{
    sf_backend_device *device = j->device;
    uint64_t n = j->stream->count, owners = n * sizeof(uint16_t), afters = n * sizeof(uint32_t);
    uint64_t reaches = n * j->plan->delay_count * sizeof(uint2);
    uint64_t fit = (device->memory_limit - device->memory_used) / 4 / (owners + afters + reaches + 1);
    j->batch = fit < 1 ? 1 : fit < MOST_BATCH ? (uint32_t)fit : MOST_BATCH;
    size_t bytes = 0;
    cub::DoubleBuffer<uint64_t> none(NULL, NULL);
    SF_GPU_TRY(cub::DeviceRadixSort::SortKeys(NULL, bytes, none, (int64_t)n, 0, j->form.bits, device->work));
    int status = sf_gpu_array_open(device, &j->scratch, bytes, error);
    for (int i = 0; i < 2 && status == SF_OK; i++)
        status = sf_gpu_array_open(device, &j->keys[i], n * sizeof(uint64_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &j->owner, j->batch * owners, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &j->after, j->batch * afters, error);
    return status == SF_OK ? sf_gpu_array_open(device, &j->reaches, j->batch * reaches, error) : status;
}

static void close_job(sf_backend_surrogate_job *j)
{
    if (j == NULL)
        return;
    cudaSetDevice(j->device->ordinal);
    sf_gpu_array *arrays[] = {&j->trains,  &j->delays,  &j->observed, &j->tallies, &j->ticket,  &j->keys[0],
                              &j->keys[1], &j->scratch, &j->owner,    &j->after,   &j->reaches, &j->counts};
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
    const sf_surrogate_plan *plan = j->plan;
    int status = form_keys(j, error);
    if (status == SF_OK)
        status = open_levels(j, error);
    if (status == SF_OK)
        status = send_observed(j, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(j->device, &j->trains, plan->trains,
                                   j->stream->unit_count * sizeof *plan->trains, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(j->device, &j->delays, plan->delays,
                                   plan->delay_count * sizeof *plan->delays, error);
    if (status == SF_OK)
        status =
            sf_gpu_array_open(j->device, &j->tallies, j->candidate_count * sizeof(sf_surrogate_tally), error);
    if (status == SF_OK)
        status = sf_gpu_array_open(j->device, &j->ticket, sizeof(unsigned long long), error);
    return status == SF_OK ? open_images(j, error) : status;
}

static int open_job(sf_backend_surrogate_job **opened, sf_backend_stream *stream,
                    const sf_surrogate_plan *plan, sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(stream->device->ordinal));
    sf_backend_surrogate_job *j = (sf_backend_surrogate_job *)sf_alloc(1, sizeof *j);
    if (j == NULL)
        return sf_fail_memory(error);
    j->stream = stream;
    j->device = stream->device;
    j->plan = plan;
    int status = open_all(j, error);
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

/* Image `place` of the batch: this surrogate's. */
static int make_image(sf_backend_surrogate_job *j, uint32_t place, uint32_t surrogate, sf_error *error)
{
    const sf_backend_stream *s = j->stream;
    cudaStream_t work = j->device->work;
    draw_view v = {.rule = j->plan->rule,
                   .origin = j->plan->origin_ns,
                   .mirrored = j->plan->mirrored,
                   .form = j->form,
                   .count = s->count,
                   .times = s->times,
                   .owner = s->owner,
                   .first = s->first,
                   .trains = (const uint32_t *)j->trains.data,
                   .ends = s->ends};
    size_t n = s->count, bytes = j->scratch.bytes;
    cub::DoubleBuffer<uint64_t> keys((uint64_t *)j->keys[0].data, (uint64_t *)j->keys[1].data);
    draw<<<grid(j), THREADS, 0, work>>>(keys.Current(), v, surrogate);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(
        cub::DeviceRadixSort::SortKeys(j->scratch.data, bytes, keys, (int64_t)n, 0, j->form.bits, work));
    settle<<<grid(j), THREADS, 0, work>>>((uint16_t *)j->owner.data + place * n,
                                          (uint32_t *)j->after.data + place * n, keys.Current(), v);
    SF_GPU_LAUNCHED();
    reach<<<grid(j), THREADS, 0, work>>>((uint2 *)j->reaches.data + place * n * j->plan->delay_count,
                                         keys.Current(), v, (const sf_delay *)j->delays.data,
                                         j->plan->delay_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int count_level(sf_backend_surrogate_job *j, const job_level *level, uint32_t surrogates,
                       uint32_t *counts, sf_error *error)
{
    sf_backend_device *device = j->device;
    count_view v = {.unit_count = j->stream->unit_count,
                    .spike_count = j->stream->count,
                    .delay_count = j->plan->delay_count,
                    .surrogates = surrogates,
                    .tiling = sf_gpu_tile(j->stream->unit_count),
                    .prefixes = sf_gpu_view_level(j->stream, &level->prefixes),
                    .first = (const uint64_t *)level->first.data,
                    .candidates = (const uint32_t *)level->candidates.data,
                    .owner = (const uint16_t *)j->owner.data,
                    .after = (const uint32_t *)j->after.data,
                    .reaches = (const uint2 *)j->reaches.data,
                    .counts = counts + level->base,
                    .counts_apart = j->candidate_count,
                    .ticket = (unsigned long long *)j->ticket.data};
    uint32_t blocks;
    int status = sf_gpu_fill(&blocks, device, (const void *)count, &v.tiling, error);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemsetAsync(v.ticket, 0, sizeof *v.ticket, device->work));
    count<<<blocks, v.tiling.warps * WARP, v.tiling.bytes, device->work>>>(v);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* counts holds those of the batch. */
static int count_batch(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates, uint32_t *counts,
                       sf_error *error)
{
    int status = SF_OK;
    for (uint32_t s = 0; s < surrogates && status == SF_OK; s++)
        status = make_image(j, s, first + s, error);
    for (uint32_t k = 0; k < j->level_count && status == SF_OK; k++)
        if (j->levels[k].count > 0)
            status = count_level(j, &j->levels[k], surrogates, counts, error);
    return status;
}

static int go_on(const sf_backend_surrogate_job *j, uint32_t done, uint32_t total, sf_error *error)
{
    SF_GPU_TRY(cudaStreamSynchronize(j->device->work));
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
    uint32_t held = *keeps || surrogates < j->batch ? surrogates : j->batch;
    return sf_gpu_array_open(device, &j->counts, held * one, error);
}

static int tally_batches(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates, bool keeps,
                         sf_error *error)
{
    int status = SF_OK;
    for (uint32_t done = 0; done < surrogates && status == SF_OK;) {
        uint32_t part = surrogates - done < j->batch ? surrogates - done : j->batch;
        uint32_t *counts = (uint32_t *)j->counts.data + (keeps ? done * j->candidate_count : 0);
        status = count_batch(j, first + done, part, counts, error);
        if (status != SF_OK)
            return status;
        add_up<<<grid(j), THREADS, 0, j->device->work>>>((sf_surrogate_tally *)j->tallies.data, counts,
                                                         (const uint32_t *)j->observed.data,
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
    if (j->candidate_count == 0)
        return SF_OK;
    bool keeps;
    j->kept_count = 0;
    int status = reserve_counts(j, surrogates, &keeps, error);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemsetAsync(j->tallies.data, 0, j->tallies.bytes, j->device->work));
    status = tally_batches(j, first, surrogates, keeps, error);
    if (status == SF_OK && keeps) {
        j->kept_first = first;
        j->kept_count = surrogates;
    }
    return status == SF_OK ? sf_gpu_download(j->device, tallies, j->tallies.data, j->tallies.bytes, error)
                           : status;
}

/* Of surrogates whose counts these are; maxima: [level][all], from the first of them. */
static int launch_maxima(sf_backend_surrogate_job *j, double *maxima, uint32_t all, uint32_t surrogates,
                         const uint32_t *counts, const sf_surrogate_scale *scales, uint32_t least,
                         sf_error *error)
{
    for (uint32_t k = 0; k < j->level_count && surrogates > 0; k++) {
        const job_level *level = &j->levels[k];
        find_maxima<<<surrogates, THREADS, 0, j->device->work>>>(maxima + (size_t)k * all,
                                                                 counts + level->base, j->candidate_count,
                                                                 scales + level->base, level->count, least);
        SF_GPU_LAUNCHED();
    }
    return SF_OK;
}

/* Of surrogates whose counts were not kept: they are counted again. */
static int count_maxima(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates, uint32_t least,
                        const sf_surrogate_scale *scales, double *maxima, sf_error *error)
{
    uint32_t held = surrogates < j->batch ? surrogates : j->batch;
    j->kept_count = 0;
    int status =
        sf_gpu_array_reserve(j->device, &j->counts, held * j->candidate_count * sizeof(uint32_t), error);
    uint32_t *counts = (uint32_t *)j->counts.data;
    for (uint32_t done = 0; done < surrogates && status == SF_OK; done += held) {
        uint32_t part = surrogates - done < held ? surrogates - done : held;
        status = count_batch(j, first + done, part, counts, error);
        if (status == SF_OK)
            status = launch_maxima(j, maxima + done, surrogates, part, counts, scales, least, error);
        if (status == SF_OK)
            status = go_on(j, done + part, surrogates, error);
    }
    return status;
}

static int maxima(sf_backend_surrogate_job *j, uint32_t first, uint32_t surrogates, uint32_t least,
                  const sf_surrogate_scale *scales, double *maxima, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(j->device->ordinal));
    sf_gpu_array own_scales = {}, own_maxima = {};
    size_t bytes = (size_t)j->level_count * surrogates * sizeof *maxima;
    int status =
        sf_gpu_array_send(j->device, &own_scales, scales, j->candidate_count * sizeof *scales, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(j->device, &own_maxima, bytes, error);
    const sf_surrogate_scale *to_scale = (const sf_surrogate_scale *)own_scales.data;
    double *to = (double *)own_maxima.data;
    bool kept =
        first >= j->kept_first && (uint64_t)first + surrogates <= (uint64_t)j->kept_first + j->kept_count;
    if (status == SF_OK && kept)
        status =
            launch_maxima(j, to, surrogates, surrogates,
                          (const uint32_t *)j->counts.data + (first - j->kept_first) * j->candidate_count,
                          to_scale, least, error);
    else if (status == SF_OK)
        status = count_maxima(j, first, surrogates, least, to_scale, to, error);
    if (status == SF_OK)
        status = sf_gpu_download(j->device, maxima, own_maxima.data, bytes, error);
    sf_gpu_array_close(j->device, &own_scales);
    sf_gpu_array_close(j->device, &own_maxima);
    return status;
}

const sf_backend_surrogates sf_gpu_surrogates = {
    .open = open_job, .close = close_job, .tally = tally, .maxima = maxima};
