/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/telling.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"

/* Minimum number of pictures drawn by a device, which a thread only has to take, that justifies one thread.
 */
enum { TAKEN_EACH = 256 };

/* ---- opening and closing ---- */

/* From now on the CPU draws alone. */
static void leave_device(sf_telling *t, const sf_error *reason)
{
    sf_log(SF_LOG_INFO, "the CPU draws densities from now on: %s", reason->text);
    sf_moving_there_close(t->there);
    t->there = NULL;
    t->least = 0;
    t->setup.device = NULL;
}

/* The CPU does what a device cannot. */
static int forgive(sf_telling *t, int status, const sf_error *reason, sf_error *error)
{
    if (status == SF_UNAVAILABLE) {
        leave_device(t, reason);
        return SF_OK;
    }
    if (status != SF_OK && error != NULL) *error = *reason;
    return status;
}

void sf_telling_close(sf_telling *telling)
{
    for (unsigned w = 0; telling->workers != NULL && w < telling->setup.threads; w++) {
        sf_moving_plan_close(&telling->workers[w].plan);
        sf_free(telling->workers[w].points);
    }
    sf_free(telling->workers);
    sf_moving_there_close(telling->there);
    *telling = (sf_telling){0};
}

static int open_worker(sf_telling_worker *worker, const sf_moving_options *options, uint32_t bins,
                       sf_error *error)
{
    worker->points = sf_alloc(bins, 2 * sizeof *worker->points);
    if (worker->points == NULL) return sf_fail_memory(error);
    worker->values = worker->points + bins;
    return sf_moving_plan_open(&worker->plan, options, error);
}

int sf_telling_open(sf_telling *telling, const sf_moving_plan *plan, const sf_telling_setup *setup,
                    sf_error *error)
{
    *telling = (sf_telling){.setup = *setup};
    sf_contest_begin(&telling->contest, 0);
    telling->workers = sf_alloc(setup->threads, sizeof *telling->workers);
    int status = telling->workers != NULL ? SF_OK : sf_fail_memory(error);
    for (unsigned w = 0; status == SF_OK && w < setup->threads; w++)
        status = open_worker(&telling->workers[w], &plan->options, setup->view.bins, error);
    if (status == SF_OK && setup->device != NULL && setup->always) {
        sf_error reason;
        telling->least = 1;
        status = sf_moving_there_open(&telling->there, setup->device, plan, &setup->view, &reason);
        status = forgive(telling, status, &reason, error);
    }
    if (status != SF_OK) sf_telling_close(telling);
    return status;
}

/* ---- a hop ---- */

typedef struct drawing {
    sf_telling *telling;
    const sf_telling_job *job;
} drawing;

/* Draws nothing for a state with too few samples, or only equal ones. */
static int draw_here(void *context, unsigned w, size_t i)
{
    const drawing *d = context;
    const sf_telling_job *job = d->job;
    sf_telling_worker *worker = &d->telling->workers[w];
    sf_moving_density *state = &job->states[job->due[i]];
    sf_moving_picture picture;
    if (sf_moving_select(state, &worker->plan, NULL) != SF_OK) return SF_OK;
    sf_moving_draw(&picture, state, &worker->plan, &d->telling->setup.view, worker->points, worker->values);
    return job->take(job->context, i, &picture, worker->values);
}

static int tell_here(sf_telling *t, const sf_telling_job *job)
{
    drawing d = {t, job};
    int64_t began_ns = sf_clock_monotonic_ns();
    for (unsigned w = 0; w < t->setup.threads; w++)
        t->workers[w].plan.options = job->plan->options;
    int status = sf_parallel_for(job->threads, job->count, draw_here, &d);
    t->contest.here_ns = sf_clock_monotonic_ns() - began_ns;
    t->was_there = false;
    return status;
}

static int take_from_there(void *context, unsigned w, size_t i)
{
    (void)w;
    const drawing *d = context;
    const sf_telling_job *job = d->job;
    sf_moving_density *state = &job->states[job->due[i]];
    const double *values;
    const sf_moving_picture *picture = sf_moving_there_picture(d->telling->there, i, &values);
    if (picture->h == 0) return SF_OK;
    state->h = picture->h;
    state->changed = 0;
    return job->take(job->context, i, picture, values);
}

static int draw_there(const sf_telling *t, const sf_telling_job *job, sf_error *error)
{
    return sf_moving_there_draw(t->there, job->plan, job->states, job->due, job->count, job->threads, error);
}

static int tell_there(sf_telling *t, const sf_telling_job *job, sf_error *error)
{
    drawing d = {t, job};
    int status = draw_there(t, job, error);
    if (status != SF_OK) return status;
    t->was_there = true;
    size_t useful = 1 + job->count / TAKEN_EACH;
    status = sf_parallel_for(useful < job->threads ? (unsigned)useful : job->threads, job->count,
                             take_from_there, &d);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

/* The CPU has drawn: the device draws them again, the first time to get ready, then to be compared. */
static int try_device(sf_telling *t, const sf_telling_job *job, sf_error *error)
{
    bool is_new = t->there == NULL;
    int status =
        is_new ? sf_moving_there_open(&t->there, t->setup.device, job->plan, &t->setup.view, error) : SF_OK;
    int64_t began_ns = sf_clock_monotonic_ns();
    if (status == SF_OK) status = draw_there(t, job, error);
    int64_t there_ns = sf_clock_monotonic_ns() - began_ns;
    if (status != SF_OK || is_new) return status;
    if (sf_contest_won(&t->contest, there_ns)) {
        t->least = 1 + (size_t)((double)job->count * (double)there_ns / (double)t->contest.here_ns);
    } else {
        sf_moving_there_close(t->there);
        t->there = NULL;
    }
    sf_log(SF_LOG_INFO, "%zu densities: %.2f ms on the CPU, %.2f on %s, which %s on", job->count,
           (double)t->contest.here_ns * 1e-6, (double)there_ns * 1e-6, sf_device_name(t->setup.device),
           t->least > 0 ? "goes" : "does not go");
    return SF_OK;
}

int sf_telling_tell(sf_telling *telling, const sf_telling_job *job, sf_error *error)
{
    sf_error reason;
    int status;
    if (job->count == 0) return SF_OK;
    if (telling->least > 0 && job->count >= telling->least) {
        status = forgive(telling, tell_there(telling, job, &reason), &reason, error);
        if (status != SF_OK || telling->least > 0) return status;
    }
    status = tell_here(telling, job);
    if (status != SF_OK) return sf_fail_memory(error);
    bool tries = telling->setup.device != NULL && telling->least == 0 && sf_contest_due(&telling->contest);
    return tries ? forgive(telling, try_device(telling, job, &reason), &reason, error) : SF_OK;
}

const char *sf_telling_device(const sf_telling *telling)
{
    return sf_device_name(telling->was_there ? telling->setup.device : NULL);
}
