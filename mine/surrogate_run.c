/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_run.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/ranks.h"
#include "core/thread.h"
#include "mine/dither.h"
#include "mine/resident.h"
#include "mine/surrogates.h"

#include <math.h>
#include <string.h>

double sf_surrogate_edge(double mean, double observed, double ratio)
{
    double edge = observed - 0.5;
    return ratio == 1 ? edge : mean + (edge - mean) / ratio;
}

double sf_surrogate_beyond(double edge, uint32_t count)
{
    return fmin(1, fmax(0, count + 0.5 - edge));
}

double sf_surrogate_as_extreme(double edge, const sf_surrogate_scale *scale,
                               const sf_surrogate_reached *reached)
{
    return reached->more + sf_surrogate_beyond(edge, scale->recorded) * (reached->as_much - reached->more);
}

uint32_t sf_surrogate_least_beyond(double edge)
{
    double whole = floor(edge + 0.5);
    return whole <= 0 ? 0 : whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX - 1;
}

/* Sums of counts are whole, so the variance loses nothing to cancellation until its very end. */
sf_surrogate_scale sf_surrogate_scale_of(const sf_surrogate_tally *tally, uint32_t surrogates)
{
    unsigned __int128 n = surrogates;
    unsigned __int128 spread = n * tally->sum_squares - (unsigned __int128)tally->sum * tally->sum;
    double variance = (double)spread / ((double)n * ((double)n - 1));
    return (sf_surrogate_scale){(double)tally->sum / (double)n, spread > 0 ? 1 / sqrt(variance) : 0,
                                UINT32_MAX};
}

/* (count - mean) / deviation as it is for a surrogate's count, which is among those that mean and deviation
 * are of: with the recorded one as one more. Otherwise it would stand out more than it does, the fewer
 * surrogates the more: with 20 of them half of recordings without a link had q < 0.05 somewhere. */
static double standardise(double above, double deviation, double n)
{
    double of_pooled = above * n / (n + 1);
    return of_pooled / sqrt(((n - 1) * deviation * deviation + of_pooled * above) / n);
}

/* The edge of the count: a surrogate that counts as much stands out at least so far. None of n surrogates
 * stands out further than (n - 1) / sqrt(n), which one does that counts something where the others do not,
 * and a recorded count that does so is worth no more. */
double sf_surrogate_stands_out(double observed, double ratio, const sf_surrogate_scale *scale, uint32_t n)
{
    double above = sf_surrogate_edge(scale->mean, observed, ratio) - scale->mean;
    if (scale->scale == 0 && above <= 0) return -INFINITY;
    double deviation = scale->scale > 0 ? 1 / scale->scale : 0;
    return fmin(standardise(above, deviation, n), (n - 1) / sqrt(n));
}

static void find_scales(sf_surrogate_outcome *outcome, const sf_surrogate_side *side)
{
    const sf_surrogate_tally *tally = outcome->tallies;
    sf_surrogate_scale *scale = outcome->scales;
    for (uint32_t k = 0; k < side->plan.level_count; k++)
        for (uint64_t i = 0; i < side->levels[k].first[side->levels[k].prefix_count]; i++) {
            *scale = sf_surrogate_scale_of(tally++, outcome->surrogates);
            if (side->observed[k][i] != UINT32_MAX)
                scale->recorded = sf_surrogate_least_beyond(sf_surrogate_edge(
                    scale->mean, side->observed[k][i], sf_surrogate_side_ratio(side, k, i, scale->mean)));
            scale++;
        }
}

/* ---- on several ranks ---- */

/* Each rank counts in its share of the surrogates. */
static int join_tallies(const sf_surrogate_outcome *outcome, int status, sf_error *error)
{
    return sf_ranks_add(&outcome->tallies->sum, 2 * outcome->candidate_count, status, error);
}

static int join_comparisons(const sf_surrogate_work *job, int status, sf_error *error)
{
    sf_surrogate_outcome *outcome = job->outcome;
    status = sf_ranks_add_counts(&outcome->reached->as_much, 2 * outcome->candidate_count, status, error);
    for (uint32_t k = 0; status == SF_OK && k < job->side->plan.level_count; k++)
        status = sf_ranks_collect(outcome->maxima + (size_t)k * outcome->surrogates, outcome->surrogates,
                                  sizeof *outcome->maxima, status, error);
    return status;
}

/* ---- on the CPU ---- */

/* The maxima of a share lie closer than those of all. */
static int compare_own(sf_surrogate_counter *counter, const sf_surrogate_work *job, sf_ranks_part own,
                       sf_error *error)
{
    sf_surrogate_outcome *outcome = job->outcome;
    size_t levels = job->side->plan.level_count, count = own.last - own.first;
    double *maxima = sf_resize(NULL, levels * count, sizeof *maxima);
    if (maxima == NULL) return sf_fail_memory(error);
    int status = sf_surrogate_counter_compare(counter, (uint32_t)own.first, (uint32_t)count, job->least,
                                              outcome->scales, outcome->reached, maxima, error);
    for (size_t k = 0; k < levels && count > 0; k++)
        memcpy(outcome->maxima + k * outcome->surrogates + own.first, maxima + k * count,
               count * sizeof *maxima);
    sf_free(maxima);
    return status;
}

static int run_here(void *work, sf_crew *crew, sf_error *error)
{
    (void)crew;
    const sf_surrogate_work *job = work;
    sf_surrogate_outcome *outcome = job->outcome;
    const sf_surrogate_side *side = job->side;
    sf_ranks_part own = sf_ranks_share(outcome->surrogates);
    sf_surrogate_counter *counter;
    int status = sf_surrogate_counter_open(&counter, &side->events, &side->plan, job->threads, error);
    if (status == SF_OK)
        status = sf_surrogate_counter_tally(counter, (uint32_t)own.first, (uint32_t)(own.last - own.first),
                                            outcome->tallies, error);
    status = join_tallies(outcome, status, error);
    if (status == SF_OK) {
        find_scales(outcome, side);
        status = compare_own(counter, job, own, error);
    }
    status = join_comparisons(job, status, error);
    sf_surrogate_counter_close(counter);
    return status;
}

/* ---- on devices ---- */

/* A share of the surrogates, and what lies of it on the device that counts them. */
typedef struct share {
    sf_device *device;
    sf_surrogate_plan plan;      /* the side's, but for its progress */
    sf_progress between;         /* batches */
    const sf_progress *progress; /* the side's, told of by the first share alone; or NULL */
    sf_backend_stream *stream;
    sf_backend_surrogate_job *job;
    uint32_t first, count;
    sf_surrogate_tally *tallies; /* of the first share the outcome's, as reached */
    sf_surrogate_reached *reached;
    double *maxima; /* [level][surrogate of the share] */
} share;

struct sharing;

/* What is done with a share while its device is held. */
typedef int share_step(const struct sharing *all, share *own, sf_error *error);

typedef struct sharing {
    const sf_surrogate_work *job;
    share_step *step; /* at hand */
    uint32_t count;
    share shares[SF_MOST_DEVICES];
} sharing;

/* A job of seconds is no reason to keep a hop of a live run waiting. */
static bool give_way(void *user, const char *what, double done, double total)
{
    const share *own = user;
    sf_device_give_way(own->device);
    return sf_progress_update(own->progress, what, done, total);
}

static int tally_share(const sharing *all, share *own, sf_error *error)
{
    const sf_backend *backend = sf_device_backend(own->device);
    sf_stream spikes = sf_events_stream(&all->job->side->events);
    int status = backend->episodes->stream_open(&own->stream, sf_device_opened(own->device), &spikes, error);
    if (status == SF_OK) status = backend->surrogates->open(&own->job, own->stream, &own->plan, error);
    return status == SF_OK ? backend->surrogates->tally(own->job, own->first, own->count, own->tallies, error)
                           : status;
}

static int compare_share(const sharing *all, share *own, sf_error *error)
{
    return sf_device_backend(own->device)
        ->surrogates->compare(own->job, own->first, own->count, all->job->least, all->job->outcome->scales,
                              own->reached, own->maxima, error);
}

typedef struct held_step {
    const sharing *all;
    share *own;
} held_step;

static int do_held(void *context, sf_device *device, sf_error *failure)
{
    (void)device;
    const held_step *held = context;
    return held->all->step(held->all, held->own, failure);
}

static int do_share(void *context, sf_member *member, size_t item, sf_error *error)
{
    sharing *all = context;
    held_step held = {all, &all->shares[item]};
    if (item >= all->count) /* more members than surrogates */
        return SF_OK;
    held.own->device = member->device;
    return sf_device_do(member->device, do_held, &held, error);
}

/* Each member with its own share, all at once. */
static int do_step(sharing *all, share_step *step, sf_crew *crew, sf_error *error)
{
    all->step = step;
    return sf_crew_together(crew, do_share, all, error);
}

static int open_shares(sharing *all, sf_error *error)
{
    sf_surrogate_outcome *outcome = all->job->outcome;
    const sf_surrogate_plan *plan = &all->job->side->plan;
    sf_ranks_part ours = sf_ranks_share(outcome->surrogates);
    uint32_t n = (uint32_t)(ours.last - ours.first);
    all->count = all->count < n ? all->count : n;
    for (uint32_t i = 0; i < all->count; i++) {
        share *own = &all->shares[i];
        own->plan = *plan;
        own->progress = i == 0 ? plan->progress : NULL;
        own->between = (sf_progress){.update = give_way, .user = own};
        own->plan.progress = &own->between;
        uint32_t begin = (uint32_t)((uint64_t)n * i / all->count);
        own->first = (uint32_t)ours.first + begin;
        own->count = (uint32_t)((uint64_t)n * (i + 1) / all->count) - begin;
        own->tallies =
            i == 0 ? outcome->tallies : sf_resize(NULL, outcome->candidate_count, sizeof *own->tallies);
        own->reached =
            i == 0 ? outcome->reached : sf_resize(NULL, outcome->candidate_count, sizeof *own->reached);
        own->maxima = sf_resize(NULL, (size_t)plan->level_count * own->count, sizeof *own->maxima);
        if (own->tallies == NULL || own->reached == NULL || own->maxima == NULL) return sf_fail_memory(error);
    }
    return SF_OK;
}

static void close_job(void *object)
{
    const share *own = object;
    const sf_backend *backend = sf_device_backend(own->device);
    backend->surrogates->close(own->job);
    backend->episodes->stream_close(own->stream);
}

static void close_shares(sharing *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        share *own = &all->shares[i];
        if (own->stream != NULL) sf_device_discard(own->device, close_job, own);
        if (i > 0) {
            sf_free(own->tallies);
            sf_free(own->reached);
        }
        sf_free(own->maxima);
    }
}

static void add_tallies(const sharing *all)
{
    sf_surrogate_outcome *outcome = all->job->outcome;
    for (uint32_t i = 1; i < all->count; i++)
        for (uint64_t c = 0; c < outcome->candidate_count; c++) {
            const sf_surrogate_tally *own = &all->shares[i].tallies[c];
            outcome->tallies[c].sum += own->sum;
            outcome->tallies[c].sum_squares += own->sum_squares;
        }
}

static void gather_comparisons(const sharing *all)
{
    sf_surrogate_outcome *outcome = all->job->outcome;
    for (uint32_t i = 1; i < all->count; i++)
        for (uint64_t c = 0; c < outcome->candidate_count; c++) {
            outcome->reached[c].as_much += all->shares[i].reached[c].as_much;
            outcome->reached[c].more += all->shares[i].reached[c].more;
        }
    for (uint32_t i = 0; i < all->count; i++) {
        const share *own = &all->shares[i];
        for (uint32_t k = 0; k < all->job->side->plan.level_count; k++)
            memcpy(outcome->maxima + (size_t)k * outcome->surrogates + own->first,
                   own->maxima + (size_t)k * own->count, own->count * sizeof *own->maxima);
    }
}

static int run_there(void *work, sf_crew *crew, sf_error *error)
{
    sharing all = {.job = work, .count = sf_crew_left(crew)};
    sf_surrogate_outcome *outcome = all.job->outcome;
    memset(outcome->tallies, 0, outcome->candidate_count * sizeof *outcome->tallies); /* of no surrogates */
    memset(outcome->reached, 0, outcome->candidate_count * sizeof *outcome->reached);
    int status = open_shares(&all, error);
    if (status == SF_OK) status = do_step(&all, tally_share, crew, error);
    if (status == SF_OK) add_tallies(&all);
    status = join_tallies(outcome, status, error);
    if (status == SF_OK) {
        find_scales(outcome, all.job->side);
        status = do_step(&all, compare_share, crew, error);
    }
    if (status == SF_OK) gather_comparisons(&all);
    status = join_comparisons(all.job, status, error);
    close_shares(&all);
    return status;
}

/* ---- ways ---- */

static double estimate(const void *work)
{
    const sf_surrogate_work *job = work;
    return job->core_seconds / job->threads;
}

static int supports(const void *work, const sf_device *device, sf_error *why)
{
    const sf_surrogate_work *job = work;
    if (sf_is_dither(job->kind))
        return sf_fail(why, SF_UNAVAILABLE, NULL, "%s does not dither, the CPU does", sf_device_name(device));
    return sf_device_backend(device)->surrogates != NULL
               ? SF_OK
               : sf_fail(why, SF_UNAVAILABLE, NULL, "%s does not count in surrogates",
                         sf_device_name(device));
}

static const sf_way on_cpu = {.engine = "interval", .estimate = estimate, .run = run_here};
static const sf_way on_devices = {
    .engine = "interval", .on_devices = true, .supports = supports, .run = run_there};

const sf_way *const sf_surrogate_ways[] = {&on_cpu, &on_devices, NULL};

static int open_outcome(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t surrogates)
{
    *outcome = (sf_surrogate_outcome){.surrogates = surrogates,
                                      .candidate_count = sf_surrogate_candidates(&side->plan)};
    outcome->tallies = sf_resize(NULL, outcome->candidate_count, sizeof *outcome->tallies);
    outcome->scales = sf_resize(NULL, outcome->candidate_count, sizeof *outcome->scales);
    outcome->reached = sf_resize(NULL, outcome->candidate_count, sizeof *outcome->reached);
    outcome->maxima = sf_resize(NULL, (size_t)side->plan.level_count * surrogates, sizeof *outcome->maxima);
    bool all = outcome->tallies != NULL && outcome->scales != NULL && outcome->reached != NULL &&
               outcome->maxima != NULL;
    return all ? SF_OK : SF_NO_MEMORY;
}

int sf_surrogate_run(sf_surrogate_outcome *outcome, const sf_surrogate_side *side, uint32_t surrogates,
                     uint32_t least, sf_choice *choice, unsigned threads, sf_error *error)
{
    sf_surrogate_work job = {
        .outcome = outcome, .side = side, .least = least, .kind = side->plan.rule.kind, .threads = threads};
    int status = open_outcome(outcome, side, surrogates) == SF_OK ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = sf_choice_run(choice, &job, NULL, error);
    if (status != SF_OK) sf_surrogate_outcome_free(outcome);
    return status;
}

void sf_surrogate_outcome_free(sf_surrogate_outcome *outcome)
{
    sf_free(outcome->tallies);
    sf_free(outcome->scales);
    sf_free(outcome->reached);
    sf_free(outcome->maxima);
    *outcome = (sf_surrogate_outcome){0};
}
