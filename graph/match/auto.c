/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine auto. What is only to be counted is split into components on the CPU where that saves most steps
 * (graph/match/terms.h). Else a depth-first search over the candidate space: on the CPU by bitmaps, where
 * they pay and nothing is to be listed, or by sorted lists; on a device where that pays.
 */
#include "graph/match/cost.h"
#include "graph/match/device.h"
#include "graph/match/made_space.h"
#include "graph/match/search.h"
#include "graph/match/split.h"
#include "graph/match/tuned.h"

#include "core/backend/find.h"
#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct run {
    sf_match_search search;
    sf_space *space;
    const sf_symmetry *symmetry; /* to divide the work by, or NULL */
    bool has_rows;               /* open, where they pay */
    sf_rows rows;
    sf_terms terms;
    sf_match_cost cost;
    sf_plan own; /* of a device: */
    bool is_planned;
    bool is_own; /* it has done it */
} run;

/* ---- the ways ---- */

static int open_rows(run *r, sf_error *error)
{
    if (r->has_rows || r->search.job->list) return SF_OK;
    r->has_rows = true;
    int status = sf_rows_open(&r->rows, r->search.space, r->search.plan, error);
    r->search.rows = r->rows.is_open ? &r->rows : NULL;
    return status;
}

/* Fetches a candidate space that a device built and keeps; if the device lost it, the CPU builds the same. */
static int bring_here(run *r, sf_error *error)
{
    sf_space *space = r->space;
    const sf_backend_watch watch = sf_match_who_waits(r->search.job);
    int status = space->made != NULL ? sf_made_fetch(space, &watch, error) : SF_OK;
    if (status != SF_UNAVAILABLE) return status;
    const sf_query *query = space->query;
    sf_space_close(space);
    return sf_space_open(space, query, r->search.job->builders, error);
}

static int search_here(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew;
    run *r = job;
    bool is_done = false;
    int status = bring_here(r, error);
    if (status == SF_OK && r->terms.items != NULL)
        status = sf_split_run(r->search.job, r->search.space, &r->terms, &is_done, error);
    if (status == SF_OK && !is_done) status = open_rows(r, error);
    if (status != SF_OK || is_done) return status;
    r->search.job->result->by_bitmaps = r->search.rows != NULL;
    r->search.kind = r->search.rows != NULL ? &sf_search_by_domains : &sf_search_by_lists;
    return sf_match_search_run(&r->search, error);
}

static int plan_there(run *r, bool is_asked, double *tried, sf_error *error)
{
    const sf_match_search *s = &r->search;
    int status = SF_OK;
    if (s->job->list)
        sf_match_device_plan(&r->own, s->space, r->symmetry, false);
    else
        status = sf_match_best_plan(&r->own, s->job, s->space, r->symmetry, is_asked, tried, error);
    r->own.factor = s->job->list ? 1 : r->own.factor;
    r->is_planned = status == SF_OK;
    return status;
}

/* Along a plan of its own. Where there is more than can be listed, the CPU lists the first. */
static int search_there(void *job, sf_crew *crew, sf_error *error)
{
    run *r = job;
    const sf_match_search *s = &r->search;
    double tried;
    int status = r->is_planned ? SF_OK : plan_there(r, false, &tried, error);
    if (status != SF_OK) return status;
    status = sf_match_on_device(crew->members[0].device, s->job, s->space, &r->own, &r->is_own, error);
    return status == SF_OK && !r->is_own ? search_here(r, NULL, error) : status;
}

/* ---- where ---- */

/* Asked first, of auto alone. Where memory is out, the CPU goes on without. */
static double seconds_here(const void *context)
{
    run *r = (run *)(uintptr_t)context;
    if (sf_match_core_steps(r->space, r->search.plan) < WORTH_SAMPLING) return 0;
    if (r->terms.items == NULL && open_rows(r, NULL) != SF_OK) return 0;
    sf_match_sample sample = sf_match_sample_tree(&r->search);
    r->cost = sf_match_cost_of_search(r->space, &r->terms, &sample, r->search.job->threads);
    r->search.job->result->estimate_s = r->cost.here;
    r->search.job->result->there_s = r->cost.there;
    return r->cost.here;
}

static double seconds_there(const void *context)
{
    const run *r = context;
    return r->cost.there;
}

const sf_way sf_match_auto_here = {.engine = "auto", .estimate = seconds_here, .run = search_here};
const sf_way sf_match_auto_there = {.engine = "auto",
                                    .on_devices = true,
                                    .supports = sf_match_supports,
                                    .estimate = seconds_there,
                                    .run = search_there};

static bool is_named(const sf_match_job *job)
{
    return job->device != NULL && strcmp(job->device, "auto") != 0;
}

/* If a device built the candidate space, search on that device, unless samples of its search show that
 * copying the space back and counting by terms is faster. */
static int choose_by_terms(run *r, const char **device, sf_error *error)
{
    const sf_match_job *job = r->search.job;
    sf_match_sample sample = {0};
    *device = sf_device_name(r->space->device);
    if (r->terms.items == NULL || is_named(job)) return SF_OK;
    int status = plan_there(r, true, &sample.tried, error);
    if (status != SF_OK || isnan(sample.tried)) return status;
    r->cost = sf_match_cost_of_search(r->space, &r->terms, &sample, job->threads);
    job->result->estimate_s = r->cost.here;
    job->result->there_s = r->cost.there;
    if (r->cost.here < r->cost.there) *device = "cpu";
    return SF_OK;
}

static int search_anywhere(run *r, sf_plan *plan, sf_error *error)
{
    sf_ran ran;
    const sf_match_job *job = r->search.job;
    const char *device = job->device;
    int status = SF_OK;
    if (r->space->made != NULL) {
        job->result->estimate_s = sf_match_cost_here(r->space, plan, job->threads);
        status = choose_by_terms(r, &device, error);
    }
    if (status != SF_OK) return status;
    status = sf_match_choose_and_run("auto", device, r, &ran, error);
    if (r->is_own)
        *plan = r->own;
    else
        snprintf(ran.device, sizeof ran.device, "cpu");
    sf_match_tell(job->result, &ran);
    return status;
}

/* ---- the result ---- */

static void describe(const sf_space *space, const sf_plan *plan, sf_match_result *result)
{
    result->blacklisted = space->useless;
    result->tested = space->tested;
    for (uint32_t i = 0; i < plan->count; i++) {
        result->order[i] = plan->steps[i].vertex;
        result->candidates[i] = space->counts[i];
        result->labelled[i] = space->labelled[i];
    }
}

/* Along a plan, where there is anything to search. */
static int search_space(const sf_match_job *job, sf_space *space, sf_plan *plan, sf_error *error)
{
    bool symmetric = job->list ? job->distinct : job->query->semantics != SF_HOMOMORPHISM;
    run r = {.search = {.job = job,
                        .space = space,
                        .plan = plan,
                        .injective = job->query->semantics != SF_HOMOMORPHISM},
             .space = space,
             .symmetry = symmetric ? job->symmetry : NULL};
    sf_plan_make(plan, space, r.symmetry, job->list ? 0 : SF_PLAN_GROUP);
    plan->factor = job->list ? 1 : plan->factor; /* one of each is listed */
    r.search.watch = (sf_match_watch){.job = job, .factor = plan->factor};
    int status = SF_OK;
    if (!job->list && job->most == UINT64_MAX) /* which a sum of terms cannot tell to be passed */
        status = sf_terms_open(&r.terms, space, plan, error);
    if (status == SF_OK) status = search_anywhere(&r, plan, error);
    sf_rows_close(&r.rows);
    sf_terms_close(&r.terms);
    return status;
}

/* On a device where that is sooner, even where the CPU goes on. */
static int open_space(sf_space *space, const sf_match_job *job, const sf_backend_watch *watch,
                      sf_error *error)
{
    double start = sf_clock_seconds();
    sf_device *device = sf_made_device(job->query, job->device, job->builders, job->deadline);
    int status = SF_UNAVAILABLE;
    if (device != NULL) status = sf_made_open(space, job->query, device, job->builders, watch, error);
    job->result->made_there |= status == SF_OK;
    if (status == SF_UNAVAILABLE) status = sf_space_open(space, job->query, job->builders, error);
    job->result->space_s += sf_clock_seconds() - start;
    return status;
}

/* A job that was stopped since its time is over, before anything was found, is done. */
static int be_late(const sf_match_job *job, int status)
{
    if (status != SF_CANCELLED || !sf_match_is_late(job)) return status;
    job->result->truncated = true;
    return SF_OK;
}

static int run_auto(const sf_match_job *job, sf_error *error)
{
    sf_space space;
    const sf_backend_watch watch = sf_match_who_waits(job);
    int status = open_space(&space, job, &watch, error);
    if (status != SF_OK) return be_late(job, status);
    sf_plan plan = {.count = job->query->count, .factor = 1};
    for (uint32_t u = 0; u < plan.count; u++)
        plan.steps[u].vertex = u;
    if (!space.is_empty) status = search_space(job, &space, &plan, error);
    describe(&space, &plan, job->result);
    sf_space_close(&space);
    return be_late(job, status);
}

const sf_match_engine sf_match_engine_auto = {"auto", run_auto};
