/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interval engine: exact counts without running state machines.
 *
 * For an episode keep a list of (end, start): every spike that can end an occurrence, with the latest spike
 * that can start one ending there. Both ascend, so the greedy count is one pass over the list, and the list
 * of an episode follows from that of its prefix.
 *
 * Counting given episodes merges the prefix's list with the spikes of the next unit; neighbours that share a
 * prefix share its list. Cost: the spikes of the episode's units. Mining is in interval_search.c.
 */
#include "mine/interval.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "mine/engine.h"
#include "mine/interval_search.h"

typedef struct timed_end {
    int64_t time;
    uint32_t end, start;
} timed_end;

typedef struct timed_list {
    timed_end *items;
    size_t count, capacity;
} timed_list;

/* One thread's lists of the prefixes of the episode at hand: lists[i] is of its first i + 1 nodes. */
typedef struct counter {
    timed_list lists[SF_EPISODE_MAX_SIZE];
    uint64_t shared; /* lists that were there already */
    sf_interval *intervals;
    size_t interval_capacity;
} counter;

typedef struct counting {
    const sf_count_job *job;
    uint32_t *counts; /* or, where these are asked for: */
    sf_summary *summaries;
    uint32_t before; /* occurrences may start here, and end from job->first on; without them the same */
    uint64_t base;   /* of the stream, at position 0 */
    counter *counters;
    size_t block; /* candidates handed to a thread at a time */
} counting;

/* Candidates handed to a thread at a time, at most: neighbours share prefixes. */
#define MOST_BLOCK 64

static int reserve_list(timed_list *list, size_t room)
{
    void *items = list->items;
    if (sf_reserve(&items, &list->capacity, room, sizeof *list->items) != 0) return SF_NO_MEMORY;
    list->items = items;
    list->count = 0;
    return SF_OK;
}

static int start_list(timed_list *list, sf_unit_events unit)
{
    if (reserve_list(list, unit.count) != SF_OK) return SF_NO_MEMORY;
    for (size_t i = 0; i < unit.count; i++)
        list->items[i] = (timed_end){unit.times[i], unit.positions[i], unit.positions[i]};
    list->count = unit.count;
    return SF_OK;
}

/* Moves *k past the ends that lie more than the lower bound before `time`, and returns the last of them if it
 * is within the upper bound, else NULL. */
static inline const timed_end *reaching(const timed_list *list, sf_delay delay, int64_t time, size_t *k)
{
    while (*k < list->count && time - list->items[*k].time > delay.low_ns)
        ++*k;
    if (*k == 0 || time - list->items[*k - 1].time > delay.high_ns) return NULL;
    return &list->items[*k - 1];
}

static int extend_list(timed_list *to, const timed_list *from, sf_unit_events unit, sf_delay delay)
{
    if (reserve_list(to, unit.count) != SF_OK) return SF_NO_MEMORY;
    size_t k = 0;
    for (size_t i = 0; i < unit.count; i++) {
        const timed_end *last = reaching(from, delay, unit.times[i], &k);
        if (last != NULL) to->items[to->count++] = (timed_end){unit.times[i], unit.positions[i], last->start};
    }
    return SF_OK;
}

static uint32_t count_extension(const timed_list *from, sf_unit_events unit, sf_delay delay)
{
    uint32_t count = 0, restart = 0; /* the first position that the next occurrence may start at */
    size_t k = 0;
    for (size_t i = 0; i < unit.count; i++) {
        const timed_end *last = reaching(from, delay, unit.times[i], &k);
        if (last != NULL && last->start >= restart) {
            count++;
            restart = unit.positions[i] + 1;
        }
    }
    return count;
}

/* The same list, of the last node's spikes in the part that is summarised. */
static int summarise_extension(counting *all, counter *own, sf_summary *to, const timed_list *from,
                               sf_unit_events unit, sf_delay delay)
{
    const sf_count_job *job = all->job;
    size_t count = 0, k = 0;
    if (sf_reserve(&own->intervals, &own->interval_capacity, unit.count, sizeof *own->intervals) != 0)
        return SF_NO_MEMORY;
    for (size_t i = 0; i < unit.count; i++) {
        const timed_end *last = from != NULL ? reaching(from, delay, unit.times[i], &k) : NULL;
        if (from == NULL || last != NULL)
            own->intervals[count++] =
                (sf_interval){.end = all->base + unit.positions[i],
                              .start = all->base + (from == NULL ? unit.positions[i] : last->start)};
    }
    return sf_summary_build(to, all->base + job->first, all->base + job->last, own->intervals, count, NULL);
}

/* How many leading nodes two candidates share, not counting the last one. */
static uint32_t shared_nodes(const sf_candidates *c, size_t a, size_t b)
{
    uint32_t shared = 0;
    while (shared + 1 < c->size && c->units[a * c->size + shared] == c->units[b * c->size + shared] &&
           (shared == 0 ||
            c->delays[a * (c->size - 1) + shared - 1] == c->delays[b * (c->size - 1) + shared - 1]))
        shared++;
    return shared;
}

static int count_one(counting *all, counter *own, size_t candidate, uint32_t shared)
{
    const sf_count_job *job = all->job;
    const sf_candidates *c = job->candidates;
    const uint32_t *units = c->units + candidate * c->size;
    const uint32_t *delays = c->delays + candidate * (c->size - 1);
    for (uint32_t node = shared; node + 1 < c->size; node++) {
        sf_unit_events unit = sf_events_unit(job->events, units[node], all->before, job->last);
        int status = node == 0 ? start_list(&own->lists[0], unit)
                               : extend_list(&own->lists[node], &own->lists[node - 1], unit,
                                             c->intervals[delays[node - 1]]);
        if (status != SF_OK) return status;
    }
    sf_unit_events last = sf_events_unit(job->events, units[c->size - 1], job->first, job->last);
    const timed_list *prefix = c->size > 1 ? &own->lists[c->size - 2] : NULL;
    sf_delay delay = c->size > 1 ? c->intervals[delays[c->size - 2]] : (sf_delay){0, 0};
    if (all->summaries != NULL)
        return summarise_extension(all, own, &all->summaries[candidate], prefix, last, delay);
    if (c->size == 1)
        all->counts[candidate] = (uint32_t)last.count;
    else
        all->counts[candidate] = count_extension(prefix, last, delay);
    return SF_OK;
}

static int count_block(void *context, unsigned worker, size_t block)
{
    counting *all = context;
    const sf_candidates *c = all->job->candidates;
    size_t begin = block * all->block, end = begin + all->block < c->count ? begin + all->block : c->count;
    int status = SF_OK;
    for (size_t i = begin; i < end && status == SF_OK; i++) {
        uint32_t shared = i > begin ? shared_nodes(c, i - 1, i) : 0;
        all->counters[worker].shared += shared;
        status = count_one(all, &all->counters[worker], i, shared);
    }
    return status;
}

static int do_all(counting *all, sf_error *error)
{
    const sf_count_job *job = all->job;
    unsigned threads = job->threads > 0 ? job->threads : 1;
    size_t count = job->candidates->count, share = count / (4 * (size_t)threads);
    all->block = share < 1            ? 1
                 : share < MOST_BLOCK ? share
                                      : MOST_BLOCK; /* so that the threads end together */
    all->counters = sf_alloc(threads, sizeof *all->counters);
    int status = SF_NO_MEMORY;
    if (all->counters != NULL)
        status = sf_parallel_for(threads, (count + all->block - 1) / all->block, count_block, all);
    for (unsigned t = 0; all->counters != NULL && t < threads; t++) {
        job->tally->shared += all->counters[t].shared;
        for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
            sf_free(all->counters[t].lists[i].items);
        sf_free(all->counters[t].intervals);
    }
    sf_free(all->counters);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

static int count_all(uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    counting all = {.job = job, .counts = counts, .before = job->first};
    return do_all(&all, error);
}

int sf_interval_summarise(sf_summary *summaries, const sf_count_job *job, uint32_t before, uint64_t base,
                          sf_error *error)
{
    counting all = {.job = job, .summaries = summaries, .before = before, .base = base};
    return do_all(&all, error);
}

const sf_engine sf_engine_interval = {
    .name = "interval",
    .threaded = true,
    .count = count_all,
    .mine = sf_interval_search,
};
