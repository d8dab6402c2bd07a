/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines of Cao et al. on the device, by the state machine of mine/shared/machine.h, one machine a
 * thread.
 *
 *   ptpe      a thread for each episode, over the whole stream
 *   mtpe      a thread for each episode, segment and machine; then a thread for each episode joins segments
 *   hybrid    mtpe below the number of episodes from which on ptpe is faster, as the caller has measured it
 *   two-pass  without lower bounds, which keeps one mark a node, a thread for each episode and segment: what
 *             starts in each segment adds up to an upper bound. Then hybrid for the episodes that are left. A
 *             sample of the episodes tells whether that pays; where it does not, hybrid counts all
 *
 * Marks lie in device memory, those of neighbouring threads side by side. The floor of ptpe is latency:
 * spikes of the episode's units, one after the other; mtpe divides it by the segments and multiplies the work
 * by the nodes.
 */
#include "gpu/mine/stream.cuh"
#include "mine/shared/machine.h"

#include <string.h>

#define MOST_SEGMENTS 64u
#define THREADS 128u
#define SAMPLE 512u      /* candidates that tell whether a first pass pays */
#define MARKS_A_STEP 16u /* are looked at in the time of all else that a machine does for a spike */

namespace
{

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
    uint32_t stride; /* item i counts candidate i * stride */
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

__device__ uint32_t thread_number(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ uint32_t thread_count(void)
{
    return gridDim.x * blockDim.x;
}

__device__ sf_machine make_machine(const machine_view *v, uint32_t item)
{
    size_t candidate = (size_t)item * v->stride;
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
        if (node > 0) m.delays[node - 1] = v->intervals[v->delays[candidate * (v->size - 1) + node - 1]];
        if (node > 0 && v->relaxed) m.delays[node - 1].low_ns = -1;
    }
    return m;
}

__global__ void count_whole(machine_view v)
{
    for (uint32_t i = thread_number(); i < v.count; i += thread_count()) {
        sf_machine m = make_machine(&v, i);
        sf_chain_end done;
        sf_machine_begin(&m, v.first);
        v.counts[i] = sf_machine_count(&m, v.last, &done);
    }
}

__device__ uint32_t position_at(const machine_view *v, int64_t time)
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
__global__ void make_cuts(cuts *cut, machine_view v, int64_t longest, uint32_t wanted)
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

__global__ void count_segments(machine_view v, int64_t longest, uint32_t segments_made)
{
    uint32_t segments = v.cut->segments, machines = v.count * segments * v.size;
    for (uint32_t i = thread_number(); i < machines; i += thread_count()) {
        uint32_t k = i % v.size, s = i / v.size % segments, item = i / v.size / segments;
        uint32_t begin = v.cut->bounds[s], end = v.cut->bounds[s + 1];
        sf_segment_count own = {SF_NO_POSITION, SF_NO_POSITION, 0};
        if (begin < end && (s > 0 || k == 0)) { /* nothing runs over into the first */
            sf_machine m = make_machine(&v, item);
            sf_chain_end done;
            sf_machine_begin(&m, k == 0 ? begin : position_at(&v, v.times[begin] - k * longest));
            sf_machine_count(&m, begin, &done);
            own = sf_machine_segment(&m, begin, end, v.cut->past[s]);
        }
        v.segment_counts[((size_t)item * segments_made + s) * v.size + k] = own;
    }
}

__global__ void join_segments(machine_view v, uint32_t segments_made)
{
    for (uint32_t i = thread_number(); i < v.count; i += thread_count()) {
        sf_machine fresh = make_machine(&v, i);
        uint32_t recounted;
        v.counts[i] = sf_machine_join(&fresh, v.segment_counts + (size_t)i * segments_made * v.size,
                                      v.cut->bounds, v.cut->past, v.cut->segments, &recounted);
    }
}

/* The most occurrences without overlap that start in each segment, of relaxed machines: counts is 0 before.
 */
__global__ void bound_segments(machine_view v)
{
    uint32_t segments = v.cut->segments, machines = v.count * segments;
    for (uint32_t i = thread_number(); i < machines; i += thread_count()) {
        uint32_t s = i % segments, item = i / segments, begin = v.cut->bounds[s];
        sf_machine m = make_machine(&v, item);
        sf_machine_begin(&m, begin);
        sf_segment_count own = sf_machine_segment(&m, begin, v.cut->bounds[s + 1], v.cut->past[s]);
        atomicAdd(&v.counts[item], own.count + (own.exit != SF_NO_POSITION));
    }
}

__global__ void choose_left(uint32_t *chosen, uint32_t *chosen_count, machine_view v)
{
    for (uint32_t i = thread_number(); i < v.count; i += thread_count())
        if (v.counts[i] >= v.least) chosen[atomicAdd(chosen_count, 1u)] = i;
}

/* The units and delays of the chosen, one after the other. */
__global__ void gather_left(uint32_t *units, uint32_t *delays, const uint32_t *chosen, uint32_t count,
                            machine_view v)
{
    for (uint32_t i = thread_number(); i < count; i += thread_count())
        for (uint32_t node = 0; node < v.size; node++) {
            units[i * v.size + node] = v.units[(size_t)chosen[i] * v.size + node];
            if (node > 0)
                delays[i * (v.size - 1) + node - 1] = v.delays[(size_t)chosen[i] * (v.size - 1) + node - 1];
        }
}

__global__ void scatter_counts(uint32_t *counts, const uint32_t *of_left, const uint32_t *chosen,
                               uint32_t count)
{
    for (uint32_t i = thread_number(); i < count; i += thread_count())
        counts[chosen[i]] = of_left[i];
}

/* The most spikes that a unit fires within the longest delay, both ends included. */
__global__ void most_within(uint32_t *most, machine_view v, uint32_t unit_count, int64_t delay)
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

typedef struct counting {
    sf_backend_stream *stream;
    sf_backend_device *device;
    const sf_backend_count *job;
    machine_view view;
    int64_t longest;
    uint32_t threads;
    sf_gpu_candidates candidates, left; /* left: those that a first pass did not rule out */
    sf_gpu_array chosen;                /* uint32_t: their numbers */
    sf_gpu_array marks, cuts, segment_counts, number;
} counting;

} // namespace

static void view_candidates(machine_view *v, const sf_gpu_candidates *candidates, uint32_t count)
{
    v->units = (const uint32_t *)candidates->units.data;
    v->delays = (const uint32_t *)candidates->delays.data;
    v->counts = (uint32_t *)candidates->counts.data;
    v->count = count;
}

static int send_candidates(counting *c, sf_error *error)
{
    const sf_candidates *candidates = c->job->candidates;
    int status = sf_gpu_candidates_send(&c->candidates, c->device, candidates, error);
    if (status == SF_OK) status = sf_gpu_array_open(c->device, &c->number, sizeof(uint32_t), error);
    view_candidates(&c->view, &c->candidates, (uint32_t)candidates->count);
    c->view.intervals = (const sf_delay *)c->candidates.intervals.data;
    for (size_t i = 0; i < candidates->count * (candidates->size - 1); i++)
        if (candidates->intervals[candidates->delays[i]].high_ns > c->longest)
            c->longest = candidates->intervals[candidates->delays[i]].high_ns;
    return status;
}

/* How many marks a node needs, and how many threads have room for theirs in half of the memory left. */
static int prepare_marks(counting *c, sf_error *error)
{
    sf_backend_device *device = c->device;
    int processors = device->properties.multiProcessorCount;
    SF_GPU_TRY(cudaMemsetAsync(c->number.data, 0, sizeof(uint32_t), device->work));
    most_within<<<processors * 4, 256, 0, device->work>>>((uint32_t *)c->number.data, c->view,
                                                          c->stream->unit_count, c->longest);
    SF_GPU_LAUNCHED();
    int status = sf_gpu_download(device, &c->view.room, c->number.data, sizeof c->view.room, error);
    if (status != SF_OK) return status;
    uint64_t a_thread = (uint64_t)(c->view.size - 1) * c->view.room * sizeof(sf_mark);
    uint64_t threads = (uint64_t)processors * 1024;
    uint64_t fit = (device->memory_limit - device->memory_used) / 2 / (a_thread > 0 ? a_thread : 1);
    c->threads = (uint32_t)((threads < fit ? threads : fit) / THREADS * THREADS);
    if (c->threads == 0)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%u spikes of a unit within a delay are too many marks",
                       c->view.room);
    status = sf_gpu_array_open(device, &c->marks, a_thread * c->threads, error);
    c->view.marks = (sf_mark *)c->marks.data;
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

/* The number of segments that the device runs at once with this many machines each: one segment more would
 * wait for all others to end. */
static uint32_t segments_for(const counting *c, uint64_t machines)
{
    uint64_t fit = c->threads / machines;
    return fit < 1 ? 1 : fit < MOST_SEGMENTS ? (uint32_t)fit : MOST_SEGMENTS;
}

static int launch_cuts(counting *c, uint32_t segments, sf_error *error)
{
    int status = sf_gpu_array_reserve(c->device, &c->cuts, sizeof(cuts), error);
    if (status != SF_OK) return status;
    c->view.cut = (const cuts *)c->cuts.data;
    make_cuts<<<1, MOST_SEGMENTS, 0, c->device->work>>>((cuts *)c->cuts.data, c->view, c->longest, segments);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int launch_segments(counting *c, sf_error *error)
{
    machine_view *v = &c->view;
    uint64_t a_segment = (uint64_t)v->count * v->size;
    uint32_t segments = segments_for(c, a_segment);
    if (segments == 1) return launch_whole(c, error);
    int status = launch_cuts(c, segments, error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(c->device, &c->segment_counts,
                                      segments * a_segment * sizeof(sf_segment_count), error);
    if (status != SF_OK) return status;
    v->segment_counts = (sf_segment_count *)c->segment_counts.data;
    c->job->tally->segmented += v->count;
    count_segments<<<blocks_for(c, segments * a_segment), THREADS, 0, c->device->work>>>(*v, c->longest,
                                                                                         segments);
    SF_GPU_LAUNCHED();
    join_segments<<<blocks_for(c, v->count), THREADS, 0, c->device->work>>>(*v, segments);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* ---- hybrid ---- */

/* The caller has measured from how many episodes on ptpe is the faster. */
static bool is_cut(const counting *c)
{
    return c->view.count < c->job->crossover && segments_for(c, (uint64_t)c->view.count * c->view.size) > 1;
}

static int launch_faster(counting *c, sf_error *error)
{
    return is_cut(c) ? launch_segments(c, error) : launch_whole(c, error);
}

/* ---- two-pass ---- */

/* Bounds `count` of all candidates, `stride` apart. Afterwards `chosen` has the numbers of those that meet
 * the threshold, and *left how many these are. */
static int bound(counting *c, uint32_t count, uint32_t stride, uint32_t *left, sf_error *error)
{
    cudaStream_t work = c->device->work;
    machine_view all = c->view, *v = &c->view;
    uint32_t segments = segments_for(c, count);
    v->count = count;
    v->stride = stride;
    v->room = 1;
    v->relaxed = true;
    v->least = c->job->least;
    int status = launch_cuts(c, segments, error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(c->device, &c->chosen, count * sizeof(uint32_t), error);
    machine_view relaxed = *v;
    *v = all;
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(relaxed.counts, 0, count * sizeof *relaxed.counts, work));
    SF_GPU_TRY(cudaMemsetAsync(c->number.data, 0, sizeof(uint32_t), work));
    bound_segments<<<blocks_for(c, (uint64_t)count * segments), THREADS, 0, work>>>(relaxed);
    SF_GPU_LAUNCHED();
    choose_left<<<blocks_for(c, count), THREADS, 0, work>>>((uint32_t *)c->chosen.data,
                                                            (uint32_t *)c->number.data, relaxed);
    SF_GPU_LAUNCHED();
    return sf_gpu_download(c->device, left, c->number.data, sizeof *left, error);
}

/* Counts those that are left, `left` of them, where they all lie, and puts the counts in their places. */
static int count_left(counting *c, uint32_t left, sf_error *error)
{
    machine_view all = c->view;
    sf_backend_device *device = c->device;
    const uint32_t *chosen = (const uint32_t *)c->chosen.data;
    size_t units = (size_t)left * all.size, delays = (size_t)left * (all.size - 1);
    int status = sf_gpu_array_open(device, &c->left.units, units * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &c->left.delays, delays * sizeof(uint32_t), error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &c->left.counts, left * sizeof(uint32_t), error);
    if (status != SF_OK) return status;
    gather_left<<<blocks_for(c, left), THREADS, 0, device->work>>>(
        (uint32_t *)c->left.units.data, (uint32_t *)c->left.delays.data, chosen, left, all);
    SF_GPU_LAUNCHED();
    view_candidates(&c->view, &c->left, left);
    status = launch_faster(c, error);
    c->view = all;
    if (status != SF_OK) return status;
    scatter_counts<<<blocks_for(c, left), THREADS, 0, device->work>>>(
        all.counts, (const uint32_t *)c->left.counts.data, chosen, left);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* How many times as long as a first pass counting takes. Segments have a machine for each node where a first
 * pass has one. Whole streams leave threads idle that a first pass uses, though a full device runs each at
 * half its speed or less. What counts looks at more marks the more a unit bursts, a first pass at one. Where
 * the device needs but a few rounds for everything, another pass cannot pay. */
static uint32_t times_as_long(const counting *c)
{
    uint64_t count = c->view.count, size = c->view.size;
    if (c->job->least < 2 || size < 2 || count * size * MOST_SEGMENTS <= 4 * (uint64_t)c->threads) return 1;
    uint64_t times = is_cut(c) ? size : c->threads / (2 * count);
    return (uint32_t)(times * (MARKS_A_STEP + c->view.room) / MARKS_A_STEP);
}

/* Whether a first pass pays, by a sample: it must spare twice what it costs, since the few that are left keep
 * only a part of the device busy. */
static int ask_sample(counting *c, bool *pays, sf_error *error)
{
    uint32_t count = c->view.count, sample = count < SAMPLE ? count : SAMPLE, left;
    uint32_t times = times_as_long(c);
    *pays = false;
    if (times <= 2) return SF_OK;
    int status = bound(c, sample, count / sample, &left, error);
    if (status == SF_OK) *pays = (uint64_t)(sample - left) * times > 2 * (uint64_t)sample;
    return status;
}

static int count_in_two_passes(counting *c, sf_error *error)
{
    uint32_t left;
    bool pays;
    int status = ask_sample(c, &pays, error);
    if (status != SF_OK || !pays) return status == SF_OK ? launch_faster(c, error) : status;
    status = bound(c, c->view.count, 1, &left, error);
    if (status != SF_OK) return status;
    c->job->tally->culled += c->view.count - left;
    return left > 0 ? count_left(c, left, error) : SF_OK;
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
    if (status == SF_OK) status = prepare_marks(c, error);
    for (size_t i = 0; i < sizeof engines / sizeof engines[0] && status == SF_OK; i++)
        if (strcmp(c->job->engine, engines[i].name) == 0) status = engines[i].count(c, error);
    if (status != SF_OK) return status;
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
    c.view.stride = 1;
    int status = run(&c, error);
    sf_gpu_candidates_close(c.device, &c.candidates);
    sf_gpu_candidates_close(c.device, &c.left);
    sf_gpu_array *arrays[] = {&c.chosen, &c.marks, &c.cuts, &c.segment_counts, &c.number};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(c.device, array);
    return status;
}
