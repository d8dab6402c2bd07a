/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/motif/spread.h"

#include "graph/motif/rewire_device.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- measures ---- */

static int count_patterns(const void *what, double *values, const sf_csr *graph, const sf_progress *progress,
                          sf_error *error)
{
    const sf_pattern_set *set = what;
    sf_match_index *index;
    int status = sf_match_open(&index, graph, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < set->count && status == SF_OK; i++) {
        sf_match_options options = set->options[i];
        sf_match_result result;
        options.limit = options.keep = 0;
        options.time_limit_s = 0;
        options.threads = 1;
        options.stopped = NULL;
        status = sf_match_run(index, &set->patterns[i], &options, &result, progress, error);
        if (status != SF_OK) break;
        values[i] = (double)result.count;
        sf_match_result_free(&result);
    }
    sf_match_close(index);
    return status;
}

sf_measure sf_measure_patterns(const sf_pattern_set *set)
{
    return (sf_measure){.count = set->count, .take = count_patterns, .what = set};
}

static int count_triads(const void *what, double *values, const sf_csr *graph, const sf_progress *progress,
                        sf_error *error)
{
    (void)what;
    uint64_t census[SF_TRIADS];
    int status = sf_triad_census(census, graph, 1, progress, error);
    for (int t = 0; t < SF_TRIADS && status == SF_OK; t++)
        values[t] = (double)census[t];
    return status;
}

sf_measure sf_measure_census(void)
{
    return (sf_measure){.count = SF_TRIADS, .take = count_triads, .is_census = true};
}

/* ---- the rewired graphs ---- */

typedef struct sampling {
    const sf_rewiring *rewiring;
    const sf_measure *measure;
    const sf_rewired_options *options;
    const sf_progress *progress;
    unsigned threads;
    double *values;      /* graphs * count */
    sf_error *errors;    /* by worker */
    uint32_t first;      /* graph of item 0 */
    const sf_edge *ends; /* of graphs that a device has rewired; NULL: that is still to be done */
    atomic_uint done;
    atomic_bool stop;
} sampling;

static bool tell_progress(const sampling *s)
{
    return sf_progress_update(s->progress, "rewired graphs", atomic_load(&s->done), s->options->graphs);
}

/* Worker 0 is the caller's thread, which alone may tell its progress. */
static bool ask_caller(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    sampling *s = user;
    if (!tell_progress(s)) atomic_store(&s->stop, true);
    return !atomic_load(&s->stop);
}

static bool ask_flag(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    return !atomic_load(&((sampling *)user)->stop);
}

static int fail_stopped(const sampling *s, sf_error *error)
{
    return sf_fail(error, SF_CANCELLED, NULL, "stopped after %u of %u rewired graphs", atomic_load(&s->done),
                   s->options->graphs);
}

static int sample_graph(void *context, unsigned worker, size_t item)
{
    sampling *s = context;
    sf_error *error = &s->errors[worker];
    sf_progress progress = {.update = worker == 0 ? ask_caller : ask_flag, .user = s};
    if (!sf_progress_update(&progress, "", 0, 0)) return fail_stopped(s, error);
    uint32_t number = s->first + (uint32_t)item;
    sf_csr rewired;
    int status = s->ends == NULL
                     ? sf_rewire(&rewired, s->rewiring, s->options->seed, number, error)
                     : sf_rewire_build(&rewired, s->rewiring, s->ends + item * s->rewiring->moving, error);
    if (status != SF_OK) return status;
    double *values = s->values + number * s->measure->count;
    status = s->measure->take(s->measure->what, values, &rewired, &progress, error);
    sf_csr_free(&rewired);
    if (status == SF_OK)
        atomic_fetch_add(&s->done, 1);
    else
        values[0] = NAN; /* of this graph there is nothing */
    return status;
}

/* On threads: graphs first .. first + count - 1, from their ends where a device has found those. */
static int sample_graphs(sampling *s, uint32_t first, uint32_t count, const sf_edge *ends, sf_error *error)
{
    s->first = first;
    s->ends = ends;
    unsigned threads = s->threads < count ? s->threads : count;
    int status = sf_parallel_for(threads, count, sample_graph, s);
    for (unsigned i = 0; status != SF_OK && i < threads; i++)
        if ((int)s->errors[i].code == status)
            return sf_fail(error, s->errors[i].code, s->errors[i].place, "%s", s->errors[i].text);
    return status;
}

/* ---- on a device ---- */

#define BATCH_BYTES ((size_t)256 << 20) /* of answers on their way */

/* The census of graphs first .. first + count - 1. */
static int count_there(sampling *s, sf_device *device, sf_rewired_graphs *graphs, sf_error *error)
{
    graphs->triads = sf_resize(NULL, graphs->count, sizeof *graphs->triads);
    int status = graphs->triads != NULL ? sf_rewire_on_device(device, s->rewiring, graphs, error)
                                        : sf_fail_memory(error);
    double *values = s->values + (size_t)graphs->first * SF_TRIADS;
    const uint64_t *found = (const uint64_t *)graphs->triads;
    for (size_t i = 0; status == SF_OK && i < (size_t)graphs->count * SF_TRIADS; i++)
        values[i] = (double)found[i];
    sf_free(graphs->triads);
    if (status == SF_OK) atomic_fetch_add(&s->done, graphs->count);
    return status;
}

/* Rewired there, measured here. */
static int measure_here(sampling *s, sf_device *device, sf_rewired_graphs *graphs, sf_error *error)
{
    graphs->ends = sf_resize(NULL, graphs->count, s->rewiring->moving * sizeof *graphs->ends);
    int status = graphs->ends != NULL ? sf_rewire_on_device(device, s->rewiring, graphs, error)
                                      : sf_fail_memory(error);
    if (status == SF_OK) status = sample_graphs(s, graphs->first, graphs->count, graphs->ends, error);
    sf_free(graphs->ends);
    return status;
}

static int sample_on_member(void *context, sf_member *member, size_t item, sf_error *error)
{
    (void)item;
    sampling *s = context;
    uint32_t all = s->options->graphs;
    size_t each = s->measure->is_census ? sizeof(uint64_t[SF_TRIADS]) : s->rewiring->moving * sizeof(sf_edge);
    size_t batch = each > 0 ? BATCH_BYTES / each : all;
    batch = batch < 1 ? 1 : batch > all ? all : batch;
    const sf_progress progress = {.update = ask_caller, .user = s};
    int status = SF_OK;
    for (uint32_t first = atomic_load(&s->done); first < all && status == SF_OK; first += (uint32_t)batch) {
        sf_rewired_graphs graphs = {.seed = s->options->seed,
                                    .first = first,
                                    .count = all - first < batch ? all - first : (uint32_t)batch,
                                    .progress = &progress};
        if (s->measure->is_census)
            status = count_there(s, member->device, &graphs, error);
        else
            status = measure_here(s, member->device, &graphs, error);
    }
    return status;
}

/* ---- ways: each goes on where the one before has stopped ---- */

static double estimate(const void *job)
{
    const sampling *s = job;
    return sf_rewiring_seconds(s->rewiring, s->options->graphs) / s->threads;
}

static int run_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    sampling *s = job;
    uint32_t done = atomic_load(&s->done);
    return sample_graphs(s, done, s->options->graphs - done, NULL, error);
}

static int run_there(void *job, sf_crew *crew, sf_error *error)
{
    return sf_crew_divide(crew, 1, sample_on_member, job, error);
}

static const sf_way on_cpu = {.engine = "rewire", .estimate = estimate, .run = run_here};
static const sf_way on_device = {
    .engine = "rewire", .on_devices = true, .supports = sf_rewires, .run = run_there};

const sf_way *const sf_rewire_ways[] = {&on_cpu, &on_device, NULL};

static int sample(sampling *s, sf_ran *ran, sf_error *error)
{
    s->values = sf_resize(NULL, s->options->graphs, s->measure->count * sizeof *s->values);
    s->errors = sf_alloc(s->threads, sizeof *s->errors);
    if (s->values == NULL || s->errors == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < s->options->graphs; i++)
        s->values[i * s->measure->count] = NAN; /* until it is measured */
    sf_choice choice;
    sf_how how = {.device = s->options->device};
    int status = sf_choose(&choice, sf_rewire_ways, &how, s, error);
    return status == SF_OK ? sf_choice_run(&choice, s, ran, error) : status;
}

/* ---- the numbers ---- */

/* Moves the values of the graphs that are measured to the front: how many. */
static uint32_t keep_measured(sampling *s)
{
    size_t count = s->measure->count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->options->graphs; i++)
        if (!isnan(s->values[i * count]))
            memmove(s->values + kept++ * count, s->values + i * count, count * sizeof *s->values);
    return kept;
}

/* Of none there is nothing. */
static sf_spread spread_of(const double *values, size_t step, uint32_t graphs, double count)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < graphs; i++)
        sum += values[i * step];
    double mean = sum / graphs;
    for (uint32_t i = 0; i < graphs; i++)
        squares += (values[i * step] - mean) * (values[i * step] - mean);
    double sd = graphs > 1 ? sqrt(squares / (graphs - 1)) : NAN;
    return (sf_spread){.mean = mean, .sd = sd, .z = sd > 0 ? (count - mean) / sd : NAN};
}

int sf_spread_find(sf_spread *spreads, const double *counts, const sf_csr *graph, const sf_measure *measure,
                   const sf_rewired_options *options, sf_ran *ran, const sf_progress *progress,
                   sf_error *error)
{
    sf_rewiring rewiring;
    int status = sf_rewiring_open(&rewiring, graph, error);
    if (status != SF_OK) return status;
    sampling s = {.rewiring = &rewiring, .measure = measure, .options = options, .progress = progress};
    s.threads = options->threads != 0 ? options->threads : sf_thread_cores();
    s.threads = s.threads < options->graphs ? s.threads : options->graphs;
    status = sample(&s, ran, error);
    bool keeps = status == SF_OK || (status == SF_CANCELLED && options->made != NULL);
    uint32_t made = keeps ? keep_measured(&s) : 0;
    for (size_t i = 0; i < measure->count && keeps; i++)
        spreads[i] = spread_of(s.values + i, measure->count, made, counts[i]);
    if (options->made != NULL) *options->made = made;
    if (status == SF_CANCELLED && keeps)
        sf_fail(error, status, NULL, "stopped after %u of %u rewired graphs", made, options->graphs);
    sf_free(s.values);
    sf_free(s.errors);
    sf_rewiring_close(&rewiring);
    return status;
}
