/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/stretches.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/progress.h"
#include "mine/seam.h"

#include <math.h>
#include <string.h>

/* Candidates of one size; with more of them, devices that know the whole stream are faster. */
#define MOST_CANDIDATES ((uint64_t)1 << 16)

#define TWO_PI 6.283185307179586

/* ---- whether it pays ---- */

void sf_stretches_free(sf_stretches *stretches)
{
    sf_free(stretches->unit_spikes);
    *stretches = (sf_stretches){0};
}

/* The chance that a Poisson number of this mean is `least` or more, by the leading term of its tail. */
static double poisson_tail(double mean, double least)
{
    if (mean <= 0 || least <= mean) return mean <= 0 ? 0 : 1;
    double rate = least * log(least / mean) - least + mean;
    double tail = exp(-rate) / ((1 - mean / least) * sqrt(TWO_PI * least));
    return tail < 1 ? tail : 1;
}

/* Units looked at for what chance makes of their pairs. */
#define SAMPLE 64

typedef struct chance {
    double in_whole, in_stretches; /* pairs that it makes frequent, and frequent enough in a stretch */
} chance;

static void add_chance(chance *sum, double pairs, double expected, const sf_mine_job *job, uint32_t stretches)
{
    sum->in_whole += pairs * poisson_tail(expected, job->least);
    sum->in_stretches +=
        pairs * stretches * poisson_tail(expected / stretches, (double)(job->least / stretches));
}

/* Whether the units that are kept fire in every stretch. */
static bool all_fire(const sf_stretches *stretches, const sf_raw_spikes *raw, const sf_events *events)
{
    for (uint32_t i = 0; i < stretches->count; i++) {
        uint64_t spikes = 0;
        for (uint32_t u = 0; u < events->unit_count; u++)
            spikes += stretches->unit_spikes[i * raw->unit_count + events->unit[u]];
        if (spikes == 0) return false;
    }
    return true;
}

bool sf_stretches_pay(const sf_stretches *stretches, const sf_raw_spikes *raw, const sf_events *events,
                      const sf_mine_job *job)
{
    uint32_t units = events->unit_count, sample = units < SAMPLE ? units : SAMPLE;
    if (stretches->count < 2 || job->least < stretches->count || units == 0 ||
        !all_fire(stretches, raw, events))
        return false;
    double span_ns = (double)raw->spikes[raw->count - 1].time_ns - (double)raw->spikes[0].time_ns + 1;
    double pairs = (double)units * units / sample / sample;
    chance found = {0};
    for (uint32_t i = 0; i < sample; i++)
        for (uint32_t k = 0; k < sample; k++) {
            uint32_t from = (uint32_t)((uint64_t)units * i / sample),
                     to = (uint32_t)((uint64_t)units * k / sample);
            double spikes = (double)(events->first[from + 1] - events->first[from]) *
                            (events->first[to + 1] - events->first[to]);
            for (uint32_t d = 0; d < job->delay_count; d++)
                add_chance(&found, pairs,
                           spikes * (double)(job->delays[d].high_ns - job->delays[d].low_ns) / span_ns, job,
                           stretches->count);
        }
    double joined = found.in_whole * found.in_whole / units;
    return found.in_stretches < MOST_CANDIDATES / 2.0 && joined < MOST_CANDIDATES / 2.0;
}

/* ---- stretches ---- */

typedef struct stretch {
    sf_events events; /* outlined; units are those of the whole */
    sf_device_stream *stream;
    uint64_t *pairs; /* frequent enough here: first unit * steps + step */
    size_t pair_count, capacity;
    uint32_t *counts; /* of the candidates at hand */
    sf_count_tally tally;
    double sending;
} stretch;

typedef struct division {
    const sf_stretches *cut;
    const sf_stretches_job *job;
    sf_crew *crew;
    sf_tree *tree;
    bool *keep; /* by unit of the recording */
    stretch parts[SF_MOST_DEVICES];
    sf_seam seams[SF_MOST_DEVICES]; /* before stretch i; none before the first */
    /* The candidates at hand. */
    sf_candidates candidates;
    size_t count;
    uint32_t *parents, *steps, *units, *delays, *counts;
    bool *unsettled;
} division;

static void leave_candidates(division *d)
{
    sf_free(d->parents);
    sf_free(d->steps);
    sf_free(d->units);
    sf_free(d->delays);
    sf_free(d->counts);
    sf_free(d->unsettled);
    d->parents = d->steps = d->units = d->delays = d->counts = NULL;
    d->unsettled = NULL;
    for (uint32_t i = 0; i < d->cut->count; i++) {
        sf_free(d->parts[i].counts);
        d->parts[i].counts = NULL;
    }
}

static void close_division(division *d)
{
    leave_candidates(d);
    for (uint32_t i = 0; i < d->cut->count; i++) {
        sf_device_stream_close(d->parts[i].stream);
        sf_events_close(&d->parts[i].events);
        sf_free(d->parts[i].pairs);
        sf_seam_close(&d->seams[i]);
    }
    sf_free(d->keep);
}

static int64_t reach_of(const sf_mine_job *job)
{
    int64_t longest_ns = 0, reach_ns = 0;
    for (uint32_t i = 0; i < job->delay_count; i++)
        longest_ns = job->delays[i].high_ns > longest_ns ? job->delays[i].high_ns : longest_ns;
    for (uint32_t link = 1; link < job->max_size; link++)
        reach_ns = sf_time_plus(reach_ns, longest_ns);
    return reach_ns;
}

static int open_division(division *d, sf_error *error)
{
    const sf_raw_spikes *raw = d->job->raw;
    d->keep = sf_alloc(raw->unit_count, sizeof *d->keep);
    if (d->keep == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < d->job->events->unit_count; u++)
        d->keep[d->job->events->unit[u]] = true;
    sf_events_choice choice = {.keep = d->keep, .threads = d->job->job->threads};
    int status = SF_OK;
    for (uint32_t i = 0; i < d->cut->count && status == SF_OK; i++) {
        const size_t *bounds = d->cut->bounds + i;
        status =
            sf_events_outline(&d->parts[i].events, raw->spikes + bounds[0], bounds[1] - bounds[0],
                              raw->unit_count, d->cut->unit_spikes + i * raw->unit_count, &choice, error);
        if (status == SF_OK && i > 0)
            status = sf_seam_open(&d->seams[i], raw, d->keep, bounds[0], bounds[1], reach_of(d->job->job),
                                  choice.threads, error);
    }
    return status;
}

/* ---- candidates ---- */

static int take_pairs(void *user, uint32_t size, const sf_found *found, size_t count, double seconds)
{
    (void)seconds;
    stretch *own = user;
    void *pairs = own->pairs;
    if (size != 2 || count == 0) return SF_OK;
    if (sf_reserve(&pairs, &own->capacity, count, sizeof *own->pairs) != 0) return SF_NO_MEMORY;
    own->pairs = pairs;
    for (size_t i = 0; i < count; i++)
        own->pairs[i] = (uint64_t)found[i].parent << 32 | found[i].step;
    own->pair_count = count;
    return SF_OK;
}

/* Sends a member its stretch, if it has not got it, and asks for the pairs that may be frequent. */
static int find_pairs(void *context, sf_member *member, size_t item, sf_error *error)
{
    division *d = context;
    stretch *own = &d->parts[item];
    const sf_mine_job *job = d->job->job;
    const size_t *bounds = d->cut->bounds + item;
    sf_raw_spikes raw = *d->job->raw;
    raw.spikes += bounds[0];
    raw.count = bounds[1] - bounds[0];
    sf_backend_mine request = {.engine = "interval",
                               .delays = job->delays,
                               .delay_count = job->delay_count,
                               .least = job->least / d->cut->count,
                               .max_size = 2,
                               .last_unit = own->events.unit_count,
                               .most = MOST_CANDIDATES,
                               .self = job->pairs.self,
                               .forbidden = d->job->forbidden,
                               .take = take_pairs,
                               .user = own};
    double begin = sf_clock_seconds();
    int status = sf_events_raw_stream(&own->stream, &own->events, &raw,
                                      &d->job->sent[member - d->crew->members], member->device, error);
    own->sending = sf_clock_seconds() - begin;
    return status == SF_OK ? sf_device_mine(own->stream, &request, error) : status;
}

static int reserve_candidates(division *d, uint32_t size, size_t count, sf_error *error)
{
    const sf_mine_job *job = d->job->job;
    leave_candidates(d);
    d->parents = sf_resize(NULL, count, sizeof *d->parents);
    d->steps = sf_resize(NULL, count, sizeof *d->steps);
    d->units = sf_resize(NULL, count * size, sizeof *d->units);
    d->delays = sf_resize(NULL, count * size, sizeof *d->delays);
    d->counts = sf_alloc(count, sizeof *d->counts);
    d->unsettled = sf_alloc(count, sizeof *d->unsettled);
    bool complete = d->parents != NULL && d->steps != NULL && d->units != NULL && d->delays != NULL &&
                    d->counts != NULL && d->unsettled != NULL;
    for (uint32_t i = 0; i < d->cut->count && complete; i++) {
        d->parts[i].counts = sf_alloc(count, sizeof *d->parts[i].counts);
        complete = d->parts[i].counts != NULL;
    }
    d->count = 0;
    d->candidates = (sf_candidates){.size = size,
                                    .units = d->units,
                                    .delays = d->delays,
                                    .intervals = job->delays,
                                    .interval_count = job->delay_count};
    return complete ? SF_OK : sf_fail_memory(error);
}

static void add_candidate(division *d, uint32_t parent, uint32_t step)
{
    uint32_t size = d->candidates.size, units = d->tree->unit_count, steps[SF_EPISODE_MAX_SIZE];
    sf_tree_steps(d->tree, size - 1, parent, steps);
    steps[size - 1] = step;
    for (uint32_t node = 0; node < size; node++) {
        d->units[d->count * size + node] = steps[node] % units;
        if (node > 0) d->delays[d->count * (size - 1) + node - 1] = steps[node] / units;
    }
    d->parents[d->count] = parent;
    d->steps[d->count++] = step;
    d->candidates.count = d->count;
}

static int fail_many(uint64_t count, sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, NULL, "%llu episodes are too many to be counted in stretches",
                   (unsigned long long)count);
}

static int compare_pairs(const void *a, const void *b, void *context)
{
    (void)context;
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The pairs that any stretch has found, each once. */
static int gather_pairs(division *d, sf_error *error)
{
    size_t count = 0;
    for (uint32_t i = 0; i < d->cut->count; i++)
        count += d->parts[i].pair_count;
    uint64_t *all = sf_resize(NULL, count, sizeof *all);
    int status = all != NULL ? reserve_candidates(d, 2, count, error) : sf_fail_memory(error);
    size_t filled = 0;
    for (uint32_t i = 0; i < d->cut->count && status == SF_OK; i++) {
        if (d->parts[i].pair_count > 0)
            memcpy(all + filled, d->parts[i].pairs, d->parts[i].pair_count * sizeof *all);
        filled += d->parts[i].pair_count;
    }
    if (status == SF_OK) sf_platform_sort(all, count, sizeof *all, compare_pairs, NULL);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        if (i == 0 || all[i] != all[i - 1]) add_candidate(d, (uint32_t)(all[i] >> 32), (uint32_t)all[i]);
    sf_free(all);
    return status;
}

static int join(division *d, uint32_t size, sf_error *error)
{
    const sf_pair_rule *rule = &d->job->job->pairs;
    uint64_t count = sf_join_count(d->tree, rule, size);
    if (count > MOST_CANDIDATES) return fail_many(count, error);
    int status = reserve_candidates(d, size, count, error);
    sf_join next = sf_join_start(d->tree, rule, size);
    uint32_t parent, step;
    while (status == SF_OK && sf_join_next(&next, &parent, &step))
        add_candidate(d, parent, step);
    return status;
}

/* ---- counts ---- */

static int count_part(void *context, sf_member *member, size_t item, sf_error *error)
{
    (void)member; /* its stream */
    division *d = context;
    stretch *own = &d->parts[item];
    sf_backend_count job = {.engine = "interval",
                            .last = own->events.count,
                            .candidates = &d->candidates,
                            .counts = own->counts,
                            .tally = &own->tally};
    return sf_device_count_episodes(own->stream, &job, error);
}

/* Counts candidate i of those at hand in the whole stream: its units' spikes alone. */
static int count_whole(division *d, size_t i, sf_error *error)
{
    const sf_raw_spikes *raw = d->job->raw;
    const uint32_t *unit = d->job->events->unit;
    uint32_t size = d->candidates.size, units[SF_EPISODE_MAX_SIZE];
    bool *keep = sf_alloc(raw->unit_count, sizeof *keep);
    sf_events events = {0};
    int status = keep != NULL ? SF_OK : sf_fail_memory(error);
    for (uint32_t node = 0; node < size && status == SF_OK; node++)
        keep[unit[d->units[i * size + node]]] = true;
    if (status == SF_OK)
        status = sf_events_open(&events, raw->spikes, raw->count, raw->unit_count, keep, error);
    for (uint32_t node = 0; node < size && status == SF_OK; node++)
        for (uint32_t u = 0; u < events.unit_count; u++)
            if (events.unit[u] == unit[d->units[i * size + node]]) units[node] = u;
    sf_candidates one = d->candidates;
    one.count = 1;
    one.units = units;
    one.delays += i * (size - 1);
    sf_count_tally tally = {0};
    sf_count_job job = {
        .events = &events, .last = events.count, .candidates = &one, .threads = 1, .tally = &tally};
    if (status == SF_OK) status = sf_engine_interval.count(&d->counts[i], &job, error);
    sf_events_close(&events);
    sf_free(keep);
    return status;
}

/* What no look at a seam settles, which is seldom. */
#define MOST_WHOLE 256

static int count_unsettled(division *d, sf_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < d->count; i++)
        count += d->unsettled[i];
    if (count > MOST_WHOLE) return fail_many(count, error);
    int status = SF_OK;
    for (size_t i = 0; i < d->count && status == SF_OK; i++)
        if (d->unsettled[i]) status = count_whole(d, i, error);
    return status;
}

/* So many candidates are as much work at a seam as starting a thread. */
#define A_THREAD 256

static int count_candidates(division *d, sf_error *error)
{
    sf_count_tally tally = {0};
    size_t worth = 1 + d->count / A_THREAD;
    unsigned threads = d->job->job->threads;
    sf_count_job job = {.candidates = &d->candidates,
                        .threads = threads < worth ? threads : (unsigned)worth,
                        .tally = &tally};
    int status = sf_crew_together(d->crew, count_part, d, error);
    for (uint32_t k = 0; k < d->cut->count && status == SF_OK; k++) {
        for (size_t i = 0; i < d->count; i++)
            d->counts[i] += d->parts[k].counts[i];
        if (k > 0) status = sf_seam_add(&d->seams[k], d->counts, d->unsettled, &job, error);
    }
    return status == SF_OK ? count_unsettled(d, error) : status;
}

/* ---- level by level ---- */

static int mine_level(division *d, uint32_t size, sf_error *error)
{
    const sf_mine_job *job = d->job->job;
    int status = size == 2 ? gather_pairs(d, error) : join(d, size, error);
    if (status == SF_OK && d->count > 0) status = count_candidates(d, error);
    for (size_t i = 0; i < d->count && status == SF_OK; i++)
        if (d->counts[i] >= job->least &&
            sf_level_append(&d->tree->levels[size - 1], d->parents[i], d->steps[i], d->counts[i]) != SF_OK)
            status = sf_fail_memory(error);
    if (status == SF_OK) status = sf_tree_link(d->tree, size, error);
    if (status == SF_OK && !sf_progress_update(job->progress, "growing episodes", size, job->max_size))
        status = sf_fail(error, SF_CANCELLED, NULL, "stopped while growing episodes");
    return status;
}

static double slowest(const division *d)
{
    double sending = 0;
    for (uint32_t i = 0; i < d->cut->count; i++)
        sending = d->parts[i].sending > sending ? d->parts[i].sending : sending;
    return sending;
}

static int mine_levels(division *d, double *seconds, sf_error *error)
{
    double start = sf_clock_seconds();
    int status = open_division(d, error);
    if (status == SF_OK) status = sf_crew_together(d->crew, find_pairs, d, error);
    if (status == SF_DATA) /* more pairs than are counted here */
        status = fail_many(MOST_CANDIDATES, error);
    double sending = slowest(d);
    start += sending;
    for (uint32_t size = 2; size <= d->job->job->max_size && status == SF_OK; size++) {
        if (size > 2 && d->tree->levels[size - 2].count == 0) break;
        status = mine_level(d, size, error);
        double now = sf_clock_seconds();
        seconds[size] = now - start;
        start = now;
    }
    seconds[1] += status == SF_OK ? sending : 0;
    return status;
}

/* The tree, but for its units. */
static void forget_levels(sf_tree *tree)
{
    for (uint32_t size = 2; size <= SF_EPISODE_MAX_SIZE; size++) {
        sf_free(tree->levels[size - 1].nodes);
        tree->levels[size - 1] = (sf_level){0};
    }
    tree->complete = 1;
}

static bool any(const sf_member *member)
{
    (void)member;
    return true;
}

int sf_stretches_mine(const sf_stretches *stretches, sf_crew *crew, const sf_stretches_job *job,
                      sf_tree *tree, double *seconds, sf_error *error)
{
    if (sf_crew_left(crew) != stretches->count)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "not as many devices are left as there are stretches");
    division d = {.cut = stretches, .job = job, .crew = crew, .tree = tree};
    int status = mine_levels(&d, seconds, error);
    uint64_t found = 0;
    for (uint32_t size = 2; size <= SF_EPISODE_MAX_SIZE; size++)
        found += tree->levels[size - 1].count;
    if (status == SF_OK && found > job->job->most) /* who knows the whole stream says so */
        status = fail_many(found, error);
    close_division(&d);
    if (status != SF_OK && !(status == SF_CANCELLED && job->job->keep_stopped)) forget_levels(tree);
    if (status == SF_UNAVAILABLE) sf_crew_recall(crew, any);
    return status;
}
