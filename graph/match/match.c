/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/match.h"

#include "graph/match/engine.h"

#include "core/backend/match.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdio.h>
#include <string.h>

#define ENGINE(name) &sf_match_engine_##name,
#define WAYS(name) &sf_match_##name##_here, &sf_match_##name##_there,

static const sf_match_engine *const engines[] = {SF_MATCH_ENGINES(ENGINE) NULL};
const sf_way *const sf_match_ways[] = {SF_MATCH_ENGINES(WAYS) NULL};

static int find_engine(const sf_match_engine **engine, const char *name, sf_error *error)
{
    for (size_t i = 0; engines[i] != NULL; i++) {
        *engine = engines[i];
        if (name == NULL || strcmp((*engine)->name, name) == 0) return SF_OK;
    }
    return sf_fail(error, SF_USAGE, NULL, "there is no matching engine '%s'", name);
}

/* The automorphisms that a count is divided by: those among the exchangeable vertices where the pattern names
 * some, else all. */
static int find_symmetry(sf_symmetry *symmetry, const sf_pattern *pattern, bool distinct, sf_error *error)
{
    sf_pattern plain = *pattern;
    plain.exchange_count = 0;
    return sf_symmetry_open(symmetry, distinct ? &plain : pattern, error);
}

static const char *name_of(const sf_pattern *pattern, uint32_t u)
{
    return pattern->vertices[u].name != NULL ? pattern->vertices[u].name : "?";
}

static int check_exchanges(const sf_pattern *pattern, sf_error *error)
{
    sf_symmetry symmetry;
    int status = sf_symmetry_open(&symmetry, pattern, error);
    for (size_t x = 0; x < pattern->exchange_count && status == SF_OK; x++) {
        const sf_exchange *exchange = &pattern->exchanges[x];
        uint64_t orbit;
        if (!sf_symmetry_orbit(&symmetry, 0, exchange->left, &orbit) || (orbit >> exchange->right & 1) == 0)
            status =
                sf_fail(error, SF_USAGE, NULL,
                        "%s === %s: exchanging them (and nothing but what === names) changes the pattern",
                        name_of(pattern, exchange->left), name_of(pattern, exchange->right));
    }
    sf_symmetry_close(&symmetry);
    return status;
}

static int check_options(const sf_pattern *pattern, const sf_match_options *options, sf_error *error)
{
    bool divides = options->distinct || pattern->exchange_count > 0;
    if (divides && options->semantics == SF_HOMOMORPHISM)
        return sf_fail(
            error, SF_USAGE, NULL,
            "homomorphisms can send exchangeable vertices to one: they are counted undivided only");
    return pattern->exchange_count > 0 ? check_exchanges(pattern, error) : SF_OK;
}

/* Counts all embeddings and divides. `most` is in distinct ones. */
static int count_all(sf_match_job *job, const sf_match_engine *engine, uint64_t order, uint64_t most,
                     sf_error *error)
{
    sf_match_result *result = job->result;
    job->list = false;
    job->most = most != UINT64_MAX ? sf_saturated_multiply(most, order) : UINT64_MAX;
    int status = engine->run(job, error);
    if ((status == SF_OK || status == SF_CANCELLED) && result->count != UINT64_MAX) result->count /= order;
    result->automorphisms = order > 1 ? order : result->automorphisms;
    return status;
}

/* Lists up to `keep`, and counts the rest where there is more and nothing forbids. */
static int list_and_count(sf_match_job *job, const sf_match_engine *engine, uint64_t order,
                          const sf_match_options *options, sf_error *error)
{
    sf_match_result *result = job->result;
    uint64_t most = options->limit != 0 ? options->limit : UINT64_MAX;
    job->keep = options->keep < most ? options->keep : (size_t)most;
    if (job->keep > 0) {
        unsigned threads = job->threads;
        job->list = true;
        job->most = job->keep;
        job->threads = 1; /* so that the same embeddings come first every time */
        int status = engine->run(job, error);
        job->threads = threads;
        bool is_late = sf_match_is_late(job);
        if (status != SF_OK || !result->truncated || most <= job->keep || is_late) return status;
    }
    size_t kept = result->kept;
    result->steps = 0;
    job->keep = 0;
    int status = count_all(job, engine, order, most, error);
    result->kept = kept;
    if (result->count < kept) /* a time limit cut the counting short */
        result->count = kept;
    return status;
}

int sf_match_choose_and_run(const char *engine, const char *device, void *job, sf_ran *ran, sf_error *error)
{
    sf_choice choice;
    sf_how how = {.engine = engine, .device = device};
    *ran = (sf_ran){.device = "cpu"};
    int status = sf_choose(&choice, sf_match_ways, &how, job, error);
    return status == SF_OK ? sf_choice_run(&choice, job, ran, error) : status;
}

void sf_match_tell(sf_match_result *result, const sf_ran *ran)
{
    if (strcmp(ran->device, "cpu") != 0) {
        memcpy(result->ran.device, ran->device, sizeof ran->device);
        result->ran.memory = ran->memory;
    }
    if (ran->note[0] != '\0') memcpy(result->ran.note, ran->note, sizeof ran->note);
}

int sf_match_run(sf_match_index *index, const sf_pattern *pattern, const sf_match_options *options,
                 sf_match_result *result, const sf_progress *progress, sf_error *error)
{
    double start = sf_clock_seconds();
    *result = (sf_match_result){.vertex_count = pattern->vertex_count, .automorphisms = 1};
    const sf_match_engine *engine;
    sf_query query;
    sf_symmetry symmetry;
    int status = find_engine(&engine, options->engine, error);
    if (status == SF_OK) status = check_options(pattern, options, error);
    if (status == SF_OK) status = sf_query_open(&query, index, pattern, options->semantics, error);
    if (status != SF_OK) return status;
    result->ran = (sf_ran){.engine = engine->name, .device = "cpu"};
    for (uint32_t u = 0; u < pattern->vertex_count; u++)
        result->order[u] = u; /* until an engine finds a better one */
    status = find_symmetry(&symmetry, pattern, options->distinct, error);
    bool divides = options->distinct || pattern->exchange_count > 0;
    uint64_t order = divides && status == SF_OK ? sf_symmetry_order(&symmetry) : 1;
    if (order == 0 || order == UINT64_MAX)
        status = sf_fail(error, SF_USAGE, NULL, "the pattern has too many symmetries to count them");
    if (status == SF_OK) status = sf_device_check(options->device, false, error);
    if (status == SF_OK) {
        sf_match_job job = {.query = &query,
                            .symmetry = &symmetry,
                            .distinct = divides,
                            .deadline = options->time_limit_s > 0 ? start + options->time_limit_s : 0,
                            .without = options->without,
                            .slots = options->slots,
                            .threshold = options->threshold,
                            .threads = options->threads != 0 ? options->threads : sf_thread_cores(),
                            .builders = options->threads != 0 ? options->threads : sf_thread_cores(),
                            .progress = progress,
                            .device = options->device,
                            .result = result};
        status = list_and_count(&job, engine, order, options, error);
    }
    sf_symmetry_close(&symmetry);
    sf_query_close(&query);
    result->ran.seconds = sf_clock_seconds() - start;
    bool stopped = status == SF_CANCELLED;
    if (options->stopped != NULL) *options->stopped = stopped;
    if (status != SF_OK && !(stopped && options->stopped != NULL)) sf_match_result_free(result);
    return status;
}
