/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine auto: depth-first search over the candidate space. On the CPU by bitmaps, where they pay and nothing
 * is to be listed, else by sorted lists; on a device where that pays.
 */
#include "graph/match/device.h"
#include "graph/match/estimate.h"
#include "graph/match/search.h"

#include <stdio.h>
#include <string.h>

/* Estimated steps: fewer are done before a device has begun. */
#define WORTH_A_LOOK 2000

typedef struct run {
    sf_match_search search;
    const sf_symmetry *symmetry; /* to divide the work by, or NULL */
    sf_plan own;                 /* of a device, */
    bool is_own;                 /* which has done it */
} run;

/* ---- the ways ---- */

static double estimate_seconds(const void *context)
{
    run *r = (run *)(uintptr_t)context;
    if (r->search.plan->work < WORTH_A_LOOK)
        return 0;
    return r->search.job->result->estimate_s = sf_match_estimate(&r->search);
}

static int search_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    run *r = job;
    r->search.job->result->by_bitmaps = r->search.rows != NULL;
    r->search.kind = r->search.rows != NULL ? &sf_search_by_domains : &sf_search_by_lists;
    return sf_match_search_run(&r->search, error);
}

/* Along a plan of its own. Where there is more than can be listed, the CPU lists the first. */
static int search_there(void *job, sf_crew *crew, sf_error *error)
{
    run *r = job;
    const sf_match_search *s = &r->search;
    sf_match_device_plan(&r->own, s->space, r->symmetry, !s->job->list);
    r->own.factor = s->job->list ? 1 : r->own.factor;
    int status = sf_match_on_device(crew->members[0].device, s->job, s->space, &r->own, &r->is_own, error);
    return status == SF_OK && !r->is_own ? search_here(r, NULL, error) : status;
}

const sf_way sf_match_auto_here = {.engine = "auto", .estimate = estimate_seconds, .run = search_here};
const sf_way sf_match_auto_there = {
    .engine = "auto", .on_devices = true, .supports = sf_match_supports, .run = search_there};

static int search_anywhere(run *r, sf_plan *plan, sf_error *error)
{
    sf_ran ran;
    const sf_match_job *job = r->search.job;
    int status = sf_match_choose_and_run("auto", job->device, r, &ran, error);
    if (r->is_own)
        *plan = r->own;
    else
        snprintf(ran.device, sizeof ran.device, "cpu");
    sf_match_tell(job->result, &ran);
    return status;
}

/* ---- the result ---- */

/* Data vertices that are a candidate of nothing. */
static uint64_t count_useless(const sf_space *space)
{
    const sf_match_index *index = space->query->index;
    uint64_t useful = 0;
    for (int pass = 0; pass < 2; pass++) { /* marks them, then cleans up */
        for (uint32_t u = 0; u < space->query->count; u++) {
            for (uint32_t i = 0; i < space->counts[u]; i++) {
                uint64_t *mask = &index->masks[space->candidates[u][i]];
                useful += pass == 0 && *mask == 0;
                *mask = pass == 0;
            }
        }
    }
    return index->out->vertex_count - useful;
}

static void describe(const sf_space *space, const sf_plan *plan, sf_match_result *result)
{
    result->blacklisted = space->is_empty ? space->query->index->out->vertex_count : count_useless(space);
    for (uint32_t i = 0; i < plan->count; i++) {
        result->order[i] = plan->steps[i].vertex;
        result->candidates[i] = space->counts[i];
        result->labelled[i] = space->labelled[i];
    }
}

/* Along a plan, where there is anything to search. */
static int search_space(const sf_match_job *job, const sf_space *space, sf_plan *plan, sf_error *error)
{
    bool symmetric = job->list ? job->distinct : job->query->semantics != SF_HOMOMORPHISM;
    sf_rows rows = {0};
    run r = {.search = {.job = job,
                        .space = space,
                        .plan = plan,
                        .injective = job->query->semantics != SF_HOMOMORPHISM},
             .symmetry = symmetric ? job->symmetry : NULL};
    sf_plan_make(plan, space, r.symmetry, job->list ? 0 : SF_PLAN_GROUP);
    plan->factor = job->list ? 1 : plan->factor; /* one of each is listed */
    r.search.watch = (sf_match_watch){.job = job, .factor = plan->factor};
    int status = job->list ? SF_OK : sf_rows_open(&rows, space, plan, error);
    r.search.rows = rows.is_open ? &rows : NULL;
    if (status == SF_OK)
        status = search_anywhere(&r, plan, error);
    sf_rows_close(&rows);
    return status;
}

static int run_auto(const sf_match_job *job, sf_error *error)
{
    sf_space space;
    int status = sf_space_open(&space, job->query, job->threads, error);
    if (status != SF_OK)
        return status;
    sf_plan plan = {.count = job->query->count, .factor = 1};
    for (uint32_t u = 0; u < plan.count; u++)
        plan.steps[u].vertex = u;
    if (!space.is_empty)
        status = search_space(job, &space, &plan, error);
    describe(&space, &plan, job->result);
    sf_space_close(&space);
    return status;
}

const sf_match_engine sf_match_engine_auto = {"auto", run_auto};
