/* SPDX-License-Identifier: Apache-2.0 */
/* Counting given episodes, in a whole stream or in parts of it. */
#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/ranks.h"
#include "core/thread.h"
#include "mine/interval.h"
#include "mine/mine.h"
#include "mine/occurrences.h"
#include "mine/ways.h"
#include "window/summaries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sf_counter {
    const sf_engine *engine;
    unsigned threads;
    uint32_t least; /* as in sf_count_job */
    const sf_progress *progress;
    sf_events events; /* of the units that occur in the episodes */
    const sf_episode *episodes;
    size_t episode_count;
    size_t *order; /* episodes by size, then units, then delays: neighbours share prefixes */
    sf_delay *intervals;
    size_t interval_count;
    sf_candidates groups[SF_EPISODE_MAX_SIZE]; /* by size - 1, pointing into the two below */
    uint32_t *units, *delays;
    uint32_t *counts;  /* in that order; scratch */
    bool shared;       /* the whole stream is being counted, by all ranks, */
    bool in_stretches; /* which no device and no other engine does: each in a stretch of its own */
    sf_choice choice;  /* where to count, */
    sf_crew_events on;
    sf_ran ran; /* and what did */
};

void sf_counter_close(sf_counter *counter)
{
    if (counter == NULL) return;
    sf_choice_leave(&counter->choice);
    sf_events_close(&counter->events);
    sf_free(counter->order);
    sf_free(counter->intervals);
    sf_free(counter->units);
    sf_free(counter->delays);
    sf_free(counter->counts);
    sf_free(counter);
}

const char *sf_counter_engine(const sf_counter *counter)
{
    return counter->engine->name;
}

static int check_episodes(const sf_episode *episodes, size_t count, size_t unit_count, sf_error *error)
{
    for (size_t i = 0; i < count; i++) {
        sf_error reason;
        if (sf_episode_check(&episodes[i], unit_count, &reason) != SF_OK)
            return sf_fail(error, SF_DATA, NULL, "episode %zu: %s", i + 1, reason.text);
    }
    return SF_OK;
}

/* A bool for each unit: whether an episode has it. */
static bool *units_of(const sf_counter *counter, size_t unit_count)
{
    bool *keep = sf_alloc(unit_count, sizeof *keep);
    for (size_t i = 0; keep != NULL && i < counter->episode_count; i++)
        for (uint32_t node = 0; node < counter->episodes[i].size; node++)
            keep[counter->episodes[i].units[node]] = true;
    return keep;
}

static int keep_units(sf_counter *counter, const sf_spike *spikes, size_t spike_count, size_t unit_count,
                      sf_error *error)
{
    bool *keep = units_of(counter, unit_count);
    if (keep == NULL) return sf_fail_memory(error);
    sf_events_choice choice = {.keep = keep, .threads = counter->threads};
    int status = sf_events_lay_out(&counter->events, spikes, spike_count, unit_count, &choice, error);
    if (status == SF_OK) status = sf_events_time_units(&counter->events, counter->threads, error);
    sf_free(keep);
    return status;
}

static int compare_episodes(const void *a, const void *b, void *context)
{
    const sf_episode *episodes = context;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return sf_episode_compare(&episodes[left], &episodes[right]);
}

static uint32_t number_of(const sf_events *events, uint32_t unit)
{
    uint32_t low = 0, high = events->unit_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events->unit[middle] < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Spells the episodes out for the engine, grouped by size. */
static void group(sf_counter *counter, const sf_episode *episodes)
{
    uint32_t *units = counter->units, *delays = counter->delays;
    for (size_t i = 0; i < counter->episode_count; i++) {
        const sf_episode *episode = &episodes[counter->order[i]];
        sf_candidates *to = &counter->groups[episode->size - 1];
        if (to->count++ == 0)
            *to =
                (sf_candidates){episode->size, 1, units, delays, counter->intervals, counter->interval_count};
        for (uint32_t node = 0; node < episode->size; node++)
            *units++ = number_of(&counter->events, episode->units[node]);
        for (uint32_t link = 0; link + 1 < episode->size; link++)
            *delays++ = sf_delays_find(counter->intervals, counter->interval_count, &episode->delays[link]);
    }
}

static int spell_out(sf_counter *counter, const sf_episode *episodes, sf_error *error)
{
    size_t nodes = 0;
    for (size_t i = 0; i < counter->episode_count; i++)
        nodes += episodes[i].size;
    counter->order = sf_resize(NULL, counter->episode_count, sizeof *counter->order);
    counter->counts = sf_resize(NULL, counter->episode_count, sizeof *counter->counts);
    counter->intervals = sf_resize(NULL, nodes, sizeof *counter->intervals);
    counter->units = sf_resize(NULL, nodes, sizeof *counter->units);
    counter->delays = sf_resize(NULL, nodes, sizeof *counter->delays);
    if (counter->order == NULL || counter->counts == NULL || counter->intervals == NULL ||
        counter->units == NULL || counter->delays == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < counter->episode_count; i++)
        counter->order[i] = i;
    sf_platform_sort(counter->order, counter->episode_count, sizeof *counter->order, compare_episodes,
                     (void *)(uintptr_t)episodes);
    counter->interval_count = sf_episodes_delays(counter->intervals, episodes, counter->episode_count);
    group(counter, episodes);
    return SF_OK;
}

int sf_counter_open(sf_counter **opened, const sf_spike *spikes, size_t spike_count, size_t unit_count,
                    const sf_episode *episodes, size_t episode_count, const char *engine, unsigned threads,
                    sf_error *error)
{
    *opened = NULL;
    sf_counter *counter = sf_alloc(1, sizeof *counter);
    if (counter == NULL) return sf_fail_memory(error);
    counter->episodes = episodes;
    counter->episode_count = episode_count;
    counter->threads = threads > 0 ? threads : sf_thread_cores();
    int status = sf_engine_find(&counter->engine, engine, error);
    if (status == SF_OK) status = sf_engine_check_threads(counter->engine, threads, error);
    if (status == SF_OK) status = check_episodes(episodes, episode_count, unit_count, error);
    if (status == SF_OK) status = keep_units(counter, spikes, spike_count, unit_count, error);
    if (status == SF_OK) status = spell_out(counter, episodes, error);
    if (status == SF_OK) status = sf_counter_use(counter, "cpu", error);
    if (status == SF_OK)
        *opened = counter;
    else
        sf_counter_close(counter);
    return status;
}

/* ---- counting ---- */

/* A core looks at every spike of the episodes' units. */
static double core_seconds(const sf_counter *counter)
{
    double spikes = 0;
    for (uint32_t size = 1; size <= SF_EPISODE_MAX_SIZE; size++) {
        const sf_candidates *group = &counter->groups[size - 1];
        for (size_t i = 0; i < group->count * size; i++)
            spikes += counter->events.first[group->units[i] + 1] - counter->events.first[group->units[i]];
    }
    return spikes * 3e-9;
}

int sf_counter_use(sf_counter *counter, const char *device, sf_error *error)
{
    sf_choice_leave(&counter->choice);
    counter->on = (sf_crew_events){.crew = &counter->choice.crew, .events = &counter->events};
    sf_count_work work = {.engine = counter->engine,
                          .on = &counter->on,
                          .core_seconds = core_seconds(counter),
                          .threads = counter->threads};
    sf_how how = {
        .engine = counter->engine->name, .device = device, .most = sf_devices_worth(work.core_seconds / 2)};
    int status = sf_choose(&counter->choice, sf_count_ways, &how, &work, error);
    if (status == SF_OK) sf_choice_tell(&counter->choice, &counter->ran);
    return status;
}

void sf_counter_at_least(sf_counter *counter, uint32_t least)
{
    counter->least = least;
}

void sf_counter_tell(sf_counter *counter, const sf_progress *progress)
{
    counter->progress = progress;
}

const char *sf_counter_device(const sf_counter *counter, const char **note)
{
    if (note != NULL) *note = counter->ran.note;
    return counter->ran.device;
}

static int count_here(sf_counter *counter, uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    sf_count_work work = {.engine = counter->engine, .job = job, .counts = counts, .on = &counter->on};
    return sf_choice_run(&counter->choice, &work, &counter->ran, error);
}

/* The first position from which an occurrence may reach the spike at job->first. */
static uint32_t past_of(const sf_count_job *job)
{
    const sf_events *events = job->events;
    int64_t reach_ns = 0;
    for (size_t i = 0; i < job->candidates->interval_count; i++)
        reach_ns = job->candidates->intervals[i].high_ns > reach_ns ? job->candidates->intervals[i].high_ns
                                                                    : reach_ns;
    if (job->first == events->count) return job->first;
    int64_t from_ns = sf_time_plus(events->origin_ns, events->times[job->first]);
    for (uint32_t link = 1; link < job->candidates->size; link++)
        from_ns = sf_time_plus(from_ns, -reach_ns);
    return sf_events_position(events, from_ns);
}

/* Each rank counts in its stretch of the stream. */
static int count_in_stretches(uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    const sf_candidates *candidates = job->candidates;
    sf_ranks_part own = sf_ranks_share(job->last - job->first);
    sf_count_job here = *job;
    here.first = job->first + (uint32_t)own.first;
    here.last = job->first + (uint32_t)own.last;
    sf_summary *summaries = sf_summaries_new(candidates->count);
    uint64_t *sums = sf_resize(NULL, candidates->count, sizeof *sums);
    int status = summaries != NULL && sums != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = sf_interval_summarise(summaries, &here, past_of(&here), 0, error);
    status = sf_summaries_count(sums, summaries, candidates->count, status, error);
    for (size_t i = 0; status == SF_OK && i < candidates->count; i++)
        counts[i] = (uint32_t)sums[i];
    sf_summaries_free(summaries, candidates->count);
    sf_free(sums);
    return status;
}

/* Each rank counts some of the candidates, by the engine asked for and on its device. */
static int count_shares(sf_counter *counter, uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    sf_candidates some = *job->candidates;
    sf_ranks_part own = sf_ranks_share(some.count);
    sf_count_job here = *job;
    here.candidates = &some;
    some.count = own.last - own.first;
    some.units += own.first * some.size;
    some.delays += own.first * (some.size - 1);
    int status = some.count > 0 ? count_here(counter, counts + own.first, &here, error) : SF_OK;
    return sf_ranks_collect(counts, job->candidates->count, sizeof *counts, status, error);
}

static int count_at_once(sf_counter *counter, uint32_t *counts, const sf_count_job *job, sf_error *error)
{
    if (!counter->shared) return count_here(counter, counts, job, error);
    return counter->in_stretches ? count_in_stretches(counts, job, error)
                                 : count_shares(counter, counts, job, error);
}

/* So many candidates are counted between two looks at whether to stop: about a fifth of a second of a core.
 */
static size_t slice_of(const sf_counter *counter)
{
    size_t worth = (size_t)600000000 / ((size_t)counter->events.count + 1);
    return worth < 256 ? 256 : worth;
}

/* A group, in slices where somebody wants to know how far it is. */
static int count_group(sf_counter *counter, uint32_t *counts, const sf_count_job *job, size_t done,
                       sf_error *error)
{
    const sf_candidates *group = job->candidates;
    size_t slice = counter->progress != NULL ? slice_of(counter) : group->count;
    for (size_t first = 0, part; first < group->count; first += part) {
        part = group->count - first < slice ? group->count - first : slice;
        if (!sf_progress_update(counter->progress, "counting", (double)(done + first),
                                (double)counter->episode_count))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped while counting");
        sf_candidates some = *group;
        some.count = part;
        some.units += first * group->size;
        some.delays += first * (group->size - 1);
        sf_count_job of_slice = *job;
        of_slice.candidates = &some;
        int status = count_at_once(counter, counts + first, &of_slice, error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

/* Parts of the stream a rank counts for itself. */
static int share_among_ranks(sf_counter *counter, bool whole, sf_error *error)
{
    uint64_t others = counter->engine != &sf_engine_interval || sf_crew_left(&counter->choice.crew) > 0;
    counter->shared = whole && sf_ranks_count() > 1;
    int status = counter->shared ? sf_ranks_add(&others, 1, SF_OK, error) : SF_OK;
    counter->in_stretches = others == 0;
    return status;
}

int sf_counter_count(sf_counter *counter, const sf_span *span, uint64_t *counts, sf_error *error)
{
    sf_count_job job = {.events = &counter->events,
                        .last = counter->events.count,
                        .threads = counter->threads,
                        .least = counter->least};
    sf_count_tally tally = {0}; /* nobody's question here */
    job.tally = &tally;
    if (span != NULL) {
        job.first = sf_events_position(&counter->events, span->start_ns);
        job.last = sf_events_position(&counter->events, span->stop_ns);
    }
    int status = share_among_ranks(counter, span == NULL, error);
    if (status != SF_OK) return status;
    uint32_t *group_counts = counter->counts;
    for (uint32_t size = 1; size <= SF_EPISODE_MAX_SIZE; size++) {
        job.candidates = &counter->groups[size - 1];
        if (job.candidates->count == 0) continue;
        status = count_group(counter, group_counts, &job, (size_t)(group_counts - counter->counts), error);
        if (status != SF_OK) return status;
        group_counts += job.candidates->count;
    }
    for (size_t i = 0; i < counter->episode_count; i++)
        counts[counter->order[i]] = counter->counts[i];
    return SF_OK;
}

int sf_counter_occurrences(const sf_counter *counter, size_t i, int64_t **times, size_t *count,
                           sf_error *error)
{
    const sf_episode *episode = &counter->episodes[i];
    uint32_t units[SF_EPISODE_MAX_SIZE];
    for (uint32_t node = 0; node < episode->size; node++)
        units[node] = number_of(&counter->events, episode->units[node]);
    return sf_events_occurrences(times, count, &counter->events, units, episode, error);
}
