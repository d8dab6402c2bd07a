/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The engines of Cao et al. on CPU threads, by the state machine of mine/shared/machine.h.
 *
 *   ptpe      a thread counts an episode over the whole stream
 *   mtpe      the stream is cut into segments, each counted by as many machines as the episode has nodes:
 *             machine k begins k times the longest delay before the segment; then the segments are joined
 *   hybrid    mtpe below the number of episodes from which on ptpe is faster (crossover.h)
 *   two-pass  ptpe without lower bounds first, which is cheap and never less; then ptpe for what is left,
 *             or for all where a sample tells that a first pass does not pay
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "mine/cao/crossover.h"
#include "mine/engine.h"
#include "mine/shared/machine.h"

#include <string.h>

#define MOST_SEGMENTS 64
#define MOST_BLOCK 16                  /* episodes handed to a thread at a time */
#define MOST_SEGMENT_COUNTS (1u << 22) /* 48 MiB */

typedef struct counting {
    const sf_count_job *job;
    uint32_t *counts;
    uint32_t room;          /* marks a node */
    sf_mark *marks;         /* by worker: (size - 1) * room */
    bool relaxed;           /* without lower bounds */
    const uint32_t *chosen; /* the candidates to count; NULL: all */
    size_t chosen_count;
    size_t block;    /* episodes handed to a thread at a time */
    int64_t longest; /* the longest delay */
    uint32_t segments, bounds[MOST_SEGMENTS + 1], past[MOST_SEGMENTS];
    sf_segment_count *segment_counts; /* of the batch: [candidate][segment][machine] */
    size_t batch_begin;
} counting;

/* ---- preparing ---- */

static int64_t longest_delay(const sf_candidates *c)
{
    int64_t longest = 0;
    for (size_t i = 0; i < c->count * (c->size - 1); i++)
        if (c->intervals[c->delays[i]].high_ns > longest) longest = c->intervals[c->delays[i]].high_ns;
    return longest;
}

/* The most spikes that a unit fires within the longest delay, both ends included. */
static uint32_t most_within(const sf_events *events, int64_t delay)
{
    uint32_t most = 1;
    for (uint32_t u = 0; u < events->unit_count; u++) {
        uint32_t from = events->first[u];
        for (uint32_t i = from; i < events->first[u + 1]; i++) {
            while (events->unit_times[i] - events->unit_times[from] > delay)
                from++;
            most = i + 1 - from > most ? i + 1 - from : most;
        }
    }
    return most;
}

static int open_counting(counting *all, uint32_t *counts, const sf_count_job *job)
{
    *all = (counting){.job = job, .counts = counts, .chosen_count = job->candidates->count};
    all->longest = longest_delay(job->candidates);
    all->room = most_within(job->events, all->longest);
    all->marks =
        sf_resize(NULL, (size_t)job->threads * job->candidates->size * all->room, sizeof *all->marks);
    return all->marks != NULL ? SF_OK : SF_NO_MEMORY;
}

static sf_machine make_machine(const counting *all, unsigned worker, size_t candidate)
{
    const sf_candidates *c = all->job->candidates;
    sf_machine m = {.size = c->size,
                    .times = all->job->events->times,
                    .stride = 1,
                    .room = all->relaxed ? 1 : all->room,
                    .spread = 1,
                    .marks = all->marks + (size_t)worker * c->size * all->room,
                    .restart = all->job->first};
    for (uint32_t node = 0; node < c->size; node++) {
        sf_unit_events unit = sf_events_unit(all->job->events, c->units[candidate * c->size + node],
                                             all->job->first, all->job->last);
        m.trains[node] = (sf_train_view){unit.positions, unit.positions + unit.count};
        if (node > 0) m.delays[node - 1] = c->intervals[c->delays[candidate * (c->size - 1) + node - 1]];
        if (node > 0 && all->relaxed)
            m.delays[node - 1].low_ns = -1; /* spikes at the same time would miss a bound of 0 */
    }
    return m;
}

/* ---- ptpe ---- */

static int count_block(void *context, unsigned worker, size_t block)
{
    const counting *all = context;
    size_t end = (block + 1) * all->block < all->chosen_count ? (block + 1) * all->block : all->chosen_count;
    for (size_t i = block * all->block; i < end; i++) {
        size_t candidate = all->chosen != NULL ? all->chosen[i] : i;
        sf_machine m = make_machine(all, worker, candidate);
        sf_chain_end done;
        all->counts[candidate] = sf_machine_count(&m, all->job->last, &done);
    }
    return SF_OK;
}

/* Blocks so small that the threads end together. */
static int count_whole(counting *all)
{
    size_t block = all->chosen_count / (4 * (size_t)all->job->threads);
    all->block = block < 1 ? 1 : block < MOST_BLOCK ? block : MOST_BLOCK;
    return sf_parallel_for(all->job->threads, (all->chosen_count + all->block - 1) / all->block, count_block,
                           all);
}

/* ---- mtpe ---- */

static uint32_t position_at(const counting *all, int64_t time)
{
    uint32_t low = all->job->first, high = all->job->last;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all->job->events->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Segments of equal duration, longer than any occurrence. */
static void cut(counting *all, uint32_t wanted)
{
    const int64_t *times = all->job->events->times;
    uint32_t first = all->job->first, last = all->job->last;
    int64_t begin = first < last ? times[first] : 0, duration = first < last ? times[last - 1] - begin : 0;
    int64_t span;
    if (__builtin_mul_overflow(all->longest, (int64_t)all->job->candidates->size, &span) || span >= duration)
        span = duration;
    int64_t most = duration / (span + 1);
    all->segments = most < 1 ? 1 : most < wanted ? (uint32_t)most : wanted;
    for (uint32_t s = 0; s < all->segments; s++) {
        all->bounds[s] = position_at(all, begin + duration / all->segments * s);
        all->past[s] = last;
        int64_t stop = begin + duration / all->segments * (s + 1) + span;
        if (s + 1 < all->segments) all->past[s] = position_at(all, stop + 1);
    }
    all->bounds[0] = first;
    all->bounds[all->segments] = last;
}

static int count_segment(void *context, unsigned worker, size_t item)
{
    const counting *all = context;
    uint32_t size = all->job->candidates->size, s = (uint32_t)(item % all->segments);
    uint32_t begin = all->bounds[s], end = all->bounds[s + 1];
    sf_segment_count *own = all->segment_counts + item * size;
    for (uint32_t k = 0; k < size; k++) {
        own[k] = (sf_segment_count){SF_NO_POSITION, SF_NO_POSITION, 0};
        if (begin >= end || (s == 0 && k > 0)) /* nothing runs over into the first */
            continue;
        sf_machine m = make_machine(all, worker, all->batch_begin + item / all->segments);
        int64_t from = all->job->events->times[begin] - k * all->longest;
        sf_chain_end done;
        sf_machine_begin(&m, k == 0 ? begin : position_at(all, from));
        sf_machine_count(&m, begin, &done);
        own[k] = sf_machine_segment(&m, begin, end, all->past[s]);
    }
    return SF_OK;
}

static int join_segments(void *context, unsigned worker, size_t item)
{
    const counting *all = context;
    size_t candidate = all->batch_begin + item;
    sf_machine fresh = make_machine(all, worker, candidate);
    uint32_t recounted;
    all->counts[candidate] =
        sf_machine_join(&fresh, all->segment_counts + item * all->segments * all->job->candidates->size,
                        all->bounds, all->past, all->segments, &recounted);
    __atomic_fetch_add(&all->job->tally->recounted, recounted, __ATOMIC_RELAXED);
    return SF_OK;
}

static int count_in_segments(counting *all)
{
    const sf_candidates *c = all->job->candidates;
    uint32_t wanted = all->job->threads * 2;
    cut(all, wanted < MOST_SEGMENTS ? wanted : MOST_SEGMENTS);
    size_t batch = MOST_SEGMENT_COUNTS / (all->segments * c->size);
    batch = batch < c->count ? batch : c->count;
    all->segment_counts = sf_resize(NULL, batch * all->segments * c->size, sizeof *all->segment_counts);
    int status = all->segment_counts != NULL ? SF_OK : SF_NO_MEMORY;
    all->job->tally->segmented += all->segments > 1 ? c->count : 0;
    for (; all->batch_begin < c->count && status == SF_OK; all->batch_begin += batch) {
        size_t part = c->count - all->batch_begin < batch ? c->count - all->batch_begin : batch;
        status = sf_parallel_for(all->job->threads, part * all->segments, count_segment, all);
        if (status == SF_OK) status = sf_parallel_for(all->job->threads, part, join_segments, all);
    }
    sf_free(all->segment_counts);
    return status;
}

/* ---- two-pass ---- */

/* A sample of at most this many candidates, and only a part of all, tells whether a first pass pays. */
#define MOST_SAMPLE 512
#define SAMPLE_PART 8

/* The first pass over candidates `stride` apart, `count` of them: `left` lists those that may be frequent. */
static int bound(counting *all, uint32_t *left, size_t *left_count, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++)
        left[i] = (uint32_t)(i * stride);
    all->relaxed = true;
    all->chosen = left;
    all->chosen_count = count;
    int status = count_whole(all);
    all->relaxed = false;
    *left_count = 0;
    for (size_t i = 0; i < count; i++)
        if (all->counts[i * stride] >= all->job->least) left[(*left_count)++] = (uint32_t)(i * stride);
    return status;
}

/* A first pass costs about half a second one. */
static int ask_sample(counting *all, uint32_t *left, bool *pays)
{
    size_t count = all->job->candidates->count, sample = count / SAMPLE_PART, left_count = 0;
    sample = sample < MOST_SAMPLE ? sample : MOST_SAMPLE;
    *pays = false;
    if (sample == 0) return SF_OK;
    int status = bound(all, left, &left_count, sample, count / sample);
    *pays = (sample - left_count) * 2 >= sample;
    return status;
}

static int count_in_two_passes(counting *all)
{
    size_t count = all->job->candidates->count, left_count = count;
    uint32_t *left = sf_resize(NULL, count, sizeof *left);
    if (left == NULL) return SF_NO_MEMORY;
    bool pays;
    int status = ask_sample(all, left, &pays);
    if (status == SF_OK && pays) status = bound(all, left, &left_count, count, 1);
    all->chosen = pays ? left : NULL;
    all->chosen_count = left_count;
    all->job->tally->culled += count - left_count;
    if (status == SF_OK) status = count_whole(all);
    sf_free(left);
    return status;
}

/* ---- engines ---- */

static int run(uint32_t *counts, const sf_count_job *job, int (*count)(counting *), sf_error *error)
{
    sf_count_job own = *job;
    own.threads = job->threads > 0 ? job->threads : 1;
    counting all;
    int status = open_counting(&all, counts, &own);
    if (status == SF_OK) status = count(&all);
    sf_free(all.marks);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

static int run_ptpe(uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    return run(counts, job, count_whole, error);
}

static int run_mtpe(uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    return run(counts, job, count_in_segments, error);
}

static int run_hybrid(uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    uint32_t crossover;
    int status = sf_crossover_for(&crossover, NULL, job->threads, job->candidates->size,
                                  job->last - job->first, error);
    if (status != SF_OK) return status;
    return run(counts, job, job->candidates->count < crossover ? count_in_segments : count_whole, error);
}

static int run_two_pass(uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    bool may_cull = job->least > 1 && job->candidates->size > 1;
    return run(counts, job, may_cull ? count_in_two_passes : count_whole, error);
}

const sf_engine sf_engine_ptpe = {
    .name = "ptpe",
    .threaded = true,
    .count = run_ptpe,
};

const sf_engine sf_engine_mtpe = {
    .name = "mtpe",
    .threaded = true,
    .count = run_mtpe,
};

const sf_engine sf_engine_hybrid = {
    .name = "hybrid",
    .threaded = true,
    .count = run_hybrid,
};

const sf_engine sf_engine_two_pass = {
    .name = "two-pass",
    .threaded = true,
    .count = run_two_pass,
};
