/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/spread.h"

#include "graph/census.h"
#include "graph/rewire.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <math.h>
#include <stdatomic.h>

/* ---- measures
 * ---------------------------------------------------------------------------------------------------------
 */

static int count_patterns(const void *what, double *values, const sf_csr *graph, const sf_progress *progress,
                          sf_error *error)
{
    const sf_pattern_set *set = what;
    sf_match_index *index;
    int status = sf_match_open(&index, graph, error);
    if (status != SF_OK)
        return status;
    for (size_t i = 0; i < set->count && status == SF_OK; i++) {
        sf_match_options options = set->options[i];
        sf_match_result result;
        options.limit = options.keep = 0;
        options.time_limit_s = 0;
        options.threads = 1;
        options.progress = progress;
        status = sf_match_run(index, &set->patterns[i], &options, &result, error);
        if (status != SF_OK)
            break;
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
    (void)progress;
    uint64_t census[SF_TRIADS];
    int status = sf_triad_census(census, graph, 1, error);
    for (int t = 0; t < SF_TRIADS && status == SF_OK; t++)
        values[t] = (double)census[t];
    return status;
}

sf_measure sf_measure_census(void)
{
    return (sf_measure){.count = SF_TRIADS, .take = count_triads};
}

/* ---- the rewired graphs
 * ----------------------------------------------------------------------------------------------- */

typedef struct sampling {
    const sf_rewiring *rewiring;
    const sf_measure *measure;
    const sf_spread_options *options;
    double *values;   /* graphs * count */
    sf_error *errors; /* by worker */
    atomic_uint done;
    atomic_bool stop;
} sampling;

static bool tell_progress(const sampling *s)
{
    return sf_progress_update(s->options->progress, "rewired graphs", atomic_load(&s->done),
                              s->options->graphs);
}

/* Worker 0 is the caller's thread, which alone may tell its progress. */
static bool ask_caller(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    sampling *s = user;
    if (!tell_progress(s))
        atomic_store(&s->stop, true);
    return !atomic_load(&s->stop);
}

static bool ask_flag(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    return !atomic_load(&((sampling *)user)->stop);
}

static int sample_graph(void *context, unsigned worker, size_t number)
{
    sampling *s = context;
    sf_error *error = &s->errors[worker];
    sf_progress progress = {.update = worker == 0 ? ask_caller : ask_flag, .user = s};
    if (!sf_progress_update(&progress, "", 0, 0))
        return sf_fail(error, SF_CANCELLED, NULL, "was stopped after %u rewired graphs",
                       atomic_load(&s->done));
    sf_csr rewired;
    int status = sf_rewire(&rewired, s->rewiring, s->options->seed, (uint32_t)number, error);
    if (status != SF_OK)
        return status;
    status = s->measure->take(s->measure->what, s->values + number * s->measure->count, &rewired, &progress,
                              error);
    sf_csr_free(&rewired);
    atomic_fetch_add(&s->done, 1);
    return status;
}

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

static int sample(sampling *s, unsigned threads, sf_error *error)
{
    s->values = sf_resize(NULL, s->options->graphs, s->measure->count * sizeof *s->values);
    s->errors = sf_alloc(threads, sizeof *s->errors);
    if (s->values == NULL || s->errors == NULL)
        return sf_fail_memory(error);
    int status = sf_parallel_for(threads, s->options->graphs, sample_graph, s);
    for (unsigned i = 0; status != SF_OK && i < threads; i++)
        if ((int)s->errors[i].code == status)
            return sf_fail(error, s->errors[i].code, s->errors[i].place, "%s", s->errors[i].text);
    return status;
}

int sf_spread_find(sf_spread *spreads, const double *counts, const sf_csr *graph, const sf_measure *measure,
                   const sf_spread_options *options, sf_error *error)
{
    sf_rewiring rewiring;
    int status = sf_rewiring_open(&rewiring, graph, error);
    if (status != SF_OK)
        return status;
    sampling s = {.rewiring = &rewiring, .measure = measure, .options = options};
    unsigned threads = options->threads != 0 ? options->threads : sf_thread_cores();
    status = sample(&s, threads < options->graphs ? threads : options->graphs, error);
    for (size_t i = 0; i < measure->count && status == SF_OK; i++)
        spreads[i] = spread_of(s.values + i, measure->count, options->graphs, counts[i]);
    sf_free(s.values);
    sf_free(s.errors);
    sf_rewiring_close(&rewiring);
    return status;
}
