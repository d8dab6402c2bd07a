/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines of Cao et al. on the device, by the state machine of core/machine.h, one machine a thread.
 *
 *   ptpe      a thread for each episode, over the whole stream
 *   mtpe      a thread for each episode, segment and machine; then a thread for each episode joins segments
 *   hybrid    mtpe below the number of episodes from which on ptpe is faster, as the caller has measured it
 *   two-pass  without lower bounds, which keeps one mark a node, a thread for each episode and segment: an
 *             occurrence more for each cut is an upper bound. Then hybrid for the episodes that are left
 *
 * Marks lie in device memory, those of neighbouring threads side by side. The floor of ptpe is latency:
 * spikes of the episode's units, one after the other; mtpe divides it by the segments and multiplies the work
 * by the nodes.
 */
#include "gpu/device.cuh"

extern "C" {
#include "core/clock.h"
}
#include "core/machine.h"

#include <math.h>
#include <string.h>

#define MOST_SEGMENTS 64u
#define THREADS 128u

/* Where segments begin and how far machines run past them; filled on the device. */
typedef struct cuts {
    uint32_t segments, bounds[MOST_SEGMENTS + 1], past[MOST_SEGMENTS];
} cuts;

typedef struct machine_view {
    const int64_t *times;
    const uint32_t *unit_first;
    const uint2 *unit_ends;
    uint32_t first, last;
    uint32_t size, count;
    uint32_t distinct; /* candidates there are: item i counts candidate i % distinct */
    const uint32_t *units, *delays;
    const sf_delay *intervals;
    sf_mark *marks;
    uint32_t room;
    bool relaxed;
    uint32_t least;
    const cuts *cut;
    sf_segment_count *segment_counts;
    uint32_t *counts;
} machine_view;

/* ---- kernels ---- */

static __device__ uint32_t thread_number(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ uint32_t thread_count(void)
{
    return gridDim.x * blockDim.x;
}

static __device__ sf_machine make_machine(const machine_view *v, uint32_t item)
{
    size_t candidate = item % v->distinct;
    sf_machine m;
    m.size = v->size;
    m.times = v->times;
    m.stride = 2; /* each place holds the position twice */
    m.marks = v->marks + thread_number();
    m.room = v->room;
    m.spread = thread_count();
    for (uint32_t node = 0; node < v->size; node++) {
        uint32_t unit = v->units[candidate * v->size + node];
        m.trains[node].next = &v->unit_ends[v->unit_first[unit]].x;
        m.trains[node].end = &v->unit_ends[v->unit_first[unit + 1]].x;
        if (node > 0)
            m.delays[node - 1] = v->intervals[v->delays[candidate * (v->size - 1) + node - 1]];
        if (node > 0 && v->relaxed)
            m.delays[node - 1].low_ns = -1;
    }
    return m;
}

static __global__ void count_whole(machine_view v)
{
    for (uint32_t i = thread_number(); i < v.count; i += thread_count()) {
        sf_machine m = make_machine(&v, i);
        sf_completion done;
        sf_machine_begin(&m, v.first);
        v.counts[i] = sf_machine_count(&m, v.last, &done);
    }
}

static __device__ uint32_t position_at(const machine_view *v, int64_t time)
{
    uint32_t low = v->first, high = v->last;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Segments of equal duration, longer than any occurrence: one block, a thread a segment. */
static __global__ void make_cuts(cuts *cut, machine_view v, int64_t longest, uint32_t wanted)
{
    int64_t begin = v.first < v.last ? v.times[v.first] : 0;
    int64_t duration = v.first < v.last ? v.times[v.last - 1] - begin : 0;
    int64_t span = longest > duration / v.size ? duration : longest * v.size;
    int64_t most = duration / (span + 1);
    uint32_t segments = most < 1 ? 1 : most < wanted ? (uint32_t)most : wanted, s = threadIdx.x;
    if (s < segments) {
        cut->bounds[s] = s == 0 ? v.first : position_at(&v, begin + duration / segments * s);
        cut->past[s] = v.last;
        if (s + 1 < segments)
            cut->past[s] = position_at(&v, begin + duration / segments * (s + 1) + span + 1);
    }
    if (s == 0) {
        cut->segments = segments;
        cut->bounds[segments] = v.last;
    }
}

static __global__ void count_segments(machine_view v, int64_t longest, uint32_t segments_made)
{
    uint32_t segments = v.cut->segments, machines = v.count * segments * v.size;
    for (uint32_t i = thread_number(); i < machines; i += thread_count()) {
        uint32_t k = i % v.size, s = i / v.size % segments, item = i / v.size / segments;
        uint32_t begin = v.cut->bounds[s], end = v.cut->bounds[s + 1];
        sf_segment_count own = {SF_NO_POSITION, SF_NO_POSITION, 0};
        if (begin < end && (s > 0 || k == 0)) { /* nothing runs over into the first */
            sf_machine m = make_machine(&v, item);
            sf_completion done;
            sf_machine_begin(&m, k == 0 ? begin : position_at(&v, v.times[begin] - k * longest));
            sf_machine_count(&m, begin, &done);
            own = sf_machine_segment(&m, begin, end, v.cut->past[s]);
        }
        v.segment_counts[((size_t)item * segments_made + s) * v.size + k] = own;
    }
}

static __global__ void join_segments(machine_view v, uint32_t segments_made)
{
    for (uint32_t i = thread_number(); i < v.count; i += thread_count()) {
        sf_machine fresh = make_machine(&v, i);
        v.counts[i] = sf_machine_join(&fresh, v.segment_counts + (size_t)i * segments_made * v.size,
                                      v.cut->bounds, v.cut->past, v.cut->segments);
    }
}

/* Occurrences within segments, of relaxed machines: counts is 0 before. */
static __global__ void bound_segments(machine_view v)
{
    uint32_t segments = v.cut->segments, machines = v.count * segments;
    for (uint32_t i = thread_number(); i < machines; i += thread_count()) {
        uint32_t s = i % segments, item = i / segments;
        sf_machine m = make_machine(&v, item);
        sf_completion done;
        sf_machine_begin(&m, v.cut->bounds[s]);
        atomicAdd(&v.counts[item], sf_machine_count(&m, v.cut->bounds[s + 1], &done));
    }
}

/* Of occurrences that do not overlap, one at most runs over each cut. */
static __global__ void choose_left(uint32_t *chosen, uint32_t *chosen_count, machine_view v)
{
    for (uint32_t i = thread_number(); i < v.count; i += thread_count())
        if (v.counts[i] + v.cut->segments - 1 >= v.least)
            chosen[atomicAdd(chosen_count, 1u)] = i;
}

/* The units and delays of the chosen, one after the other. */
static __global__ void gather_left(uint32_t *units, uint32_t *delays, const uint32_t *chosen, uint32_t count,
                                   machine_view v)
{
    for (uint32_t i = thread_number(); i < count; i += thread_count())
        for (uint32_t node = 0; node < v.size; node++) {
            units[i * v.size + node] = v.units[(size_t)chosen[i] * v.size + node];
            if (node > 0)
                delays[i * (v.size - 1) + node - 1] = v.delays[(size_t)chosen[i] * (v.size - 1) + node - 1];
        }
}

static __global__ void scatter_counts(uint32_t *counts, const uint32_t *of_left, const uint32_t *chosen,
                                      uint32_t count)
{
    for (uint32_t i = thread_number(); i < count; i += thread_count())
        counts[chosen[i]] = of_left[i];
}

/* The most spikes that a unit fires within the longest delay, both ends included. */
static __global__ void most_within(uint32_t *most, machine_view v, uint32_t unit_count, int64_t delay)
{
    uint32_t own = 1;
    for (uint32_t u = thread_number() / 32; u < unit_count; u += thread_count() / 32) {
        uint32_t first = v.unit_first[u], last = v.unit_first[u + 1];
        for (uint32_t i = first + threadIdx.x % 32; i < last; i += 32) {
            int64_t since = v.times[v.unit_ends[i].x] - delay;
            uint32_t low = first, high = i;
            while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (v.times[v.unit_ends[middle].x] < since)
                    low = middle + 1;
                else
                    high = middle;
            }
            own = max(own, i + 1 - low);
        }
    }
    atomicMax(most, own);
}

/* ---- launching ---- */

enum {
    UNITS,
    DELAYS,
    INTERVALS,
    MARKS,
    COUNTS,
    CUTS,
    SEGMENT_COUNTS,
    CHOSEN,
    LEFT_UNITS,
    LEFT_DELAYS,
    LEFT_COUNTS,
    NUMBER,
    BLOCKS
};

typedef struct counting {
    sf_backend_stream *stream;
    sf_backend_device *device;
    const sf_backend_count *job;
    machine_view view;
    int64_t longest;
    uint32_t threads;
    void *blocks[BLOCKS];
    size_t bytes[BLOCKS];
} counting;

static int reserve(counting *c, int which, size_t bytes, sf_error *error)
{
    if (c->blocks[which] != NULL && c->bytes[which] >= bytes)
        return SF_OK;
    sf_gpu_free(c->device, c->blocks[which], c->bytes[which]);
    c->bytes[which] = 0;
    int status = sf_gpu_alloc(c->device, &c->blocks[which], bytes, error);
    c->bytes[which] = status == SF_OK ? bytes : 0;
    return status;
}

static int send(counting *c, int which, const void *from, size_t bytes, sf_error *error)
{
    int status = reserve(c, which, bytes, error);
    return status == SF_OK ? sf_gpu_upload(c->device, c->blocks[which], from, bytes, error) : status;
}

static int send_candidates(counting *c, sf_error *error)
{
    const sf_candidates *candidates = c->job->candidates;
    size_t count = candidates->count, size = candidates->size;
    int status = send(c, UNITS, candidates->units, count * size * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = send(c, DELAYS, candidates->delays, count * (size - 1) * sizeof(uint32_t), error);
    if (status == SF_OK)
        status =
            send(c, INTERVALS, candidates->intervals, candidates->interval_count * sizeof(sf_delay), error);
    if (status == SF_OK)
        status = reserve(c, COUNTS, count * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = reserve(c, NUMBER, sizeof(uint32_t), error);
    c->view.units = (const uint32_t *)c->blocks[UNITS];
    c->view.delays = (const uint32_t *)c->blocks[DELAYS];
    c->view.intervals = (const sf_delay *)c->blocks[INTERVALS];
    c->view.counts = (uint32_t *)c->blocks[COUNTS];
    for (size_t i = 0; i < count * (size - 1); i++)
        if (candidates->intervals[candidates->delays[i]].high_ns > c->longest)
            c->longest = candidates->intervals[candidates->delays[i]].high_ns;
    return status;
}

/* How many marks a node needs, and how many threads have room for theirs in half of the memory left. */
static int prepare_marks(counting *c, sf_error *error)
{
    sf_backend_device *device = c->device;
    int processors = device->properties.multiProcessorCount;
    SF_GPU_TRY(cudaMemsetAsync(c->blocks[NUMBER], 0, sizeof(uint32_t), device->work));
    most_within<<<processors * 4, 256, 0, device->work>>>((uint32_t *)c->blocks[NUMBER], c->view,
                                                          c->stream->unit_count, c->longest);
    SF_GPU_LAUNCHED();
    int status = sf_gpu_download(device, &c->view.room, c->blocks[NUMBER], sizeof c->view.room, error);
    if (status != SF_OK)
        return status;
    uint64_t a_thread = (uint64_t)(c->view.size - 1) * c->view.room * sizeof(sf_mark);
    uint64_t threads = (uint64_t)processors * 1024;
    uint64_t fit = (device->memory_limit - device->memory_used) / 2 / (a_thread > 0 ? a_thread : 1);
    c->threads = (uint32_t)((threads < fit ? threads : fit) / THREADS * THREADS);
    if (c->threads == 0)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u spikes of a unit within a delay are too many marks",
                       c->view.room);
    status = reserve(c, MARKS, a_thread * c->threads, error);
    c->view.marks = (sf_mark *)c->blocks[MARKS];
    return status;
}

static uint32_t blocks_for(const counting *c, uint64_t items)
{
    uint64_t threads = items < c->threads ? items : c->threads;
    return (uint32_t)((threads + THREADS - 1) / THREADS);
}

static int launch_whole(counting *c, sf_error *error)
{
    count_whole<<<blocks_for(c, c->view.count), THREADS, 0, c->device->work>>>(c->view);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* As many segments as keep all threads busy with so many machines a segment; *segments is the most that they
 * may be. */
static int launch_cuts(counting *c, uint64_t machines, uint32_t *segments, sf_error *error)
{
    uint64_t wanted = (c->threads + machines - 1) / machines;
    *segments = wanted < MOST_SEGMENTS ? (uint32_t)wanted : MOST_SEGMENTS;
    if (*segments * machines > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u episodes are more than mtpe takes at once",
                       c->view.count);
    int status = reserve(c, CUTS, sizeof(cuts), error);
    if (status != SF_OK)
        return status;
    c->view.cut = (const cuts *)c->blocks[CUTS];
    make_cuts<<<1, MOST_SEGMENTS, 0, c->device->work>>>((cuts *)c->blocks[CUTS], c->view, c->longest,
                                                        *segments);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int launch_segments(counting *c, sf_error *error)
{
    machine_view *v = &c->view;
    uint64_t a_segment = (uint64_t)v->count * v->size;
    uint32_t segments;
    int status = launch_cuts(c, a_segment, &segments, error);
    if (status == SF_OK)
        status = reserve(c, SEGMENT_COUNTS, segments * a_segment * sizeof(sf_segment_count), error);
    if (status != SF_OK)
        return status;
    v->segment_counts = (sf_segment_count *)c->blocks[SEGMENT_COUNTS];
    count_segments<<<blocks_for(c, segments * a_segment), THREADS, 0, c->device->work>>>(*v, c->longest,
                                                                                         segments);
    SF_GPU_LAUNCHED();
    join_segments<<<blocks_for(c, v->count), THREADS, 0, c->device->work>>>(*v, segments);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* ---- hybrid ---- */

/* The caller has measured from how many episodes on ptpe is the faster. */
static int launch_faster(counting *c, sf_error *error)
{
    return c->view.count < c->job->crossover ? launch_segments(c, error) : launch_whole(c, error);
}

/* ---- two-pass ---- */

/* The bounds are in view.counts; the numbers of those that meet the threshold in CHOSEN, how many in *left.
 */
static int first_pass(counting *c, uint32_t *left, sf_error *error)
{
    machine_view *v = &c->view;
    cudaStream_t work = c->device->work;
    uint32_t room = v->room, segments;
    int status = launch_cuts(c, v->count, &segments, error);
    if (status == SF_OK)
        status = reserve(c, CHOSEN, v->count * sizeof(uint32_t), error);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemsetAsync(v->counts, 0, v->count * sizeof *v->counts, work));
    SF_GPU_TRY(cudaMemsetAsync(c->blocks[NUMBER], 0, sizeof(uint32_t), work));
    v->room = 1;
    v->relaxed = true;
    v->least = c->job->least;
    bound_segments<<<blocks_for(c, (uint64_t)v->count * segments), THREADS, 0, work>>>(*v);
    v->room = room;
    v->relaxed = false;
    SF_GPU_LAUNCHED();
    choose_left<<<blocks_for(c, v->count), THREADS, 0, work>>>((uint32_t *)c->blocks[CHOSEN],
                                                               (uint32_t *)c->blocks[NUMBER], *v);
    SF_GPU_LAUNCHED();
    return sf_gpu_download(c->device, left, c->blocks[NUMBER], sizeof *left, error);
}

static int second_pass(counting *c, uint32_t left, sf_error *error)
{
    machine_view all = c->view, *v = &c->view;
    const uint32_t *chosen = (const uint32_t *)c->blocks[CHOSEN];
    size_t nodes = (size_t)left * v->size;
    int status = reserve(c, LEFT_UNITS, nodes * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = reserve(c, LEFT_DELAYS, nodes * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = reserve(c, LEFT_COUNTS, left * sizeof(uint32_t), error);
    if (status != SF_OK)
        return status;
    gather_left<<<blocks_for(c, left), THREADS, 0, c->device->work>>>(
        (uint32_t *)c->blocks[LEFT_UNITS], (uint32_t *)c->blocks[LEFT_DELAYS], chosen, left, all);
    SF_GPU_LAUNCHED();
    v->units = (const uint32_t *)c->blocks[LEFT_UNITS];
    v->delays = (const uint32_t *)c->blocks[LEFT_DELAYS];
    v->counts = (uint32_t *)c->blocks[LEFT_COUNTS];
    v->count = v->distinct = left;
    status = launch_faster(c, error);
    c->view = all;
    if (status != SF_OK)
        return status;
    scatter_counts<<<blocks_for(c, left), THREADS, 0, c->device->work>>>(
        all.counts, (const uint32_t *)c->blocks[LEFT_COUNTS], chosen, left);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cudaStreamSynchronize(c->device->work));
    return SF_OK;
}

/* Where the first pass of a size took longer than the second would have for what it ruled out, it is left out
 * from then on. */
static int count_in_two_passes(counting *c, sf_error *error)
{
    uint32_t count = c->view.count, left = count;
    bool *skip = &c->stream->skip_bound[c->view.size];
    if (c->job->least < 2 || c->view.size < 2 || *skip)
        return launch_faster(c, error);
    double begin = sf_clock_seconds();
    int status = first_pass(c, &left, error);
    double between = sf_clock_seconds();
    if (status == SF_OK && left > 0)
        status = second_pass(c, left, error);
    double second = sf_clock_seconds() - between;
    if (status != SF_OK)
        return status;
    *c->job->culled += count - left;
    *skip = left > 0 && between - begin > second * (count - left) / left;
    return SF_OK;
}

/* ---- the job ---- */

static int run(counting *c, sf_error *error)
{
    static const struct {
        const char *name;
        int (*count)(counting *, sf_error *);
    } engines[] = {{"ptpe", launch_whole},
                   {"mtpe", launch_segments},
                   {"hybrid", launch_faster},
                   {"two-pass", count_in_two_passes}};
    int status = send_candidates(c, error);
    if (status == SF_OK)
        status = prepare_marks(c, error);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0] && status == SF_OK; i++)
        if (strcmp(c->job->engine, engines[i].name) == 0)
            status = engines[i].count(c, error);
    if (status != SF_OK)
        return status;
    return sf_gpu_download(c->device, c->job->counts, c->view.counts,
                           c->job->candidates->count * sizeof *c->job->counts, error);
}

int sf_gpu_count_by_machines(sf_backend_stream *stream, const sf_backend_count *job, sf_error *error)
{
    const sf_candidates *candidates = job->candidates;
    SF_GPU_TRY(cudaSetDevice(stream->device->ordinal));
    counting c = {.stream = stream, .device = stream->device, .job = job};
    c.view.times = stream->times;
    c.view.unit_first = stream->first;
    c.view.unit_ends = stream->ends;
    c.view.first = job->first;
    c.view.last = job->last;
    c.view.size = candidates->size;
    c.view.count = c.view.distinct = (uint32_t)candidates->count;
    int status = run(&c, error);
    for (int i = 0; i < BLOCKS; i++)
        sf_gpu_free(c.device, c.blocks[i], c.bytes[i]);
    return status;
}
