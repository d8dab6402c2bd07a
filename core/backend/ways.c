/* SPDX-License-Identifier: Apache-2.0 */
#include "core/backend/ways.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/ranks.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

static bool is_any(const char *name)
{
    return name == NULL || strcmp(name, "auto") == 0;
}

static int fail_engine(const sf_way *const *ways, const char *engine, sf_error *error)
{
    sf_text names = {0};
    for (size_t i = 0; ways[i] != NULL; i++)
        if (!ways[i]->on_devices && strcmp(ways[i]->engine, "auto") != 0)
            sf_text_printf(&names, ", %s", ways[i]->engine);
    int status = sf_fail(error, SF_USAGE, NULL, "there is no engine '%s': expected auto%s", engine,
                         names.data != NULL ? names.data : "");
    sf_text_free(&names);
    return status;
}

/* The engine's ways here and there. */
static int find_ways(sf_choice *choice, const sf_way *const *ways, const char *engine, sf_error *error)
{
    if (is_any(engine)) engine = ways[0]->engine;
    for (size_t i = 0; ways[i] != NULL; i++)
        if (strcmp(ways[i]->engine, engine) == 0)
            *(ways[i]->on_devices ? &choice->there : &choice->here) = ways[i];
    return choice->here != NULL || choice->there != NULL ? SF_OK : fail_engine(ways, engine, error);
}

typedef struct question {
    const sf_choice *choice;
    const void *job;
} question;

static int supports(const void *context, const sf_device *device, sf_error *why)
{
    const question *q = context;
    if (q->choice->there == NULL)
        return sf_fail(why, SF_USAGE, NULL, "the engine %s does not run on %s: choose another, or cpu",
                       q->choice->here->engine, sf_device_name(device));
    return q->choice->there->supports != NULL ? q->choice->there->supports(q->job, device, why) : SF_OK;
}

static double seconds(const void *context)
{
    const question *q = context;
    const sf_way *here = q->choice->here;
    return here != NULL && here->estimate != NULL && q->choice->there != NULL ? here->estimate(q->job) : 0;
}

static double device_seconds(const void *context)
{
    const question *q = context;
    const sf_way *there = q->choice->there;
    return there != NULL && there->estimate != NULL ? there->estimate(q->job) : SF_READY_SECONDS;
}

/* Ranks use devices only if all of them have one for the job, so that all take the same implementation. */
static int agree(sf_choice *choice, int status, sf_error *error)
{
    uint64_t with = sf_crew_left(&choice->crew) > 0;
    status = sf_ranks_add(&with, 1, status, error);
    if (status == SF_OK && with < sf_ranks_count() && sf_crew_left(&choice->crew) > 0)
        sf_crew_clear(&choice->crew);
    return status;
}

int sf_choose(sf_choice *choice, const sf_way *const *ways, const sf_how *how, const void *job,
              sf_error *error)
{
    choice->here = choice->there = NULL;
    sf_crew_clear(&choice->crew);
    question q = {choice, job};
    sf_crew_request request = {.device = how->device,
                               .most = how->most,
                               .forgiving = how->forgiving,
                               .supports = supports,
                               .seconds = seconds,
                               .device_seconds = device_seconds,
                               .context = &q};
    int status = find_ways(choice, ways, how->engine, error);
    if (status == SF_OK) status = sf_crew_open(&choice->crew, &request, error);
    return agree(choice, status, error);
}

void sf_choice_tell(const sf_choice *choice, sf_ran *ran)
{
    ran->engine = choice->here != NULL ? choice->here->engine : choice->there->engine;
    sf_crew_name(&choice->crew, ran->device);
    snprintf(ran->note, sizeof ran->note, "%s", choice->crew.note);
    ran->memory = sf_crew_memory(&choice->crew);
}

void sf_choice_leave(sf_choice *choice)
{
    for (uint32_t i = 0; i < choice->crew.count; i++) {
        sf_member *member = &choice->crew.members[i];
        if (member->part != NULL) choice->there->leave(member);
        member->part = NULL;
    }
}

/* On those left, again, where one fails or refuses. */
static int run_there(sf_choice *choice, void *job, sf_error *error)
{
    int status = sf_fail(error, SF_UNAVAILABLE, NULL, "%s", choice->crew.note);
    uint32_t left;
    while (status == SF_UNAVAILABLE && (left = sf_crew_left(&choice->crew)) > 0) {
        status = choice->there->run(job, &choice->crew, error);
        if (status == SF_UNAVAILABLE && sf_crew_left(&choice->crew) == left)
            sf_crew_dismiss_all(&choice->crew, error);
    }
    return status;
}

int sf_choice_run(sf_choice *choice, void *job, sf_ran *ran, sf_error *error)
{
    sf_error reason = {0};
    double start = sf_clock_seconds();
    int status =
        choice->crew.count > 0 || choice->here == NULL ? run_there(choice, job, &reason) : SF_UNAVAILABLE;
    /* Ranks that go another way than the others would wait for them in vain: the job ends. */
    bool alone = sf_ranks_count() == 1 || choice->crew.count == 0;
    if (status == SF_UNAVAILABLE && choice->here != NULL && alone)
        status = choice->here->run(job, NULL, &reason);
    if (status != SF_OK && error != NULL) *error = reason;
    if (ran != NULL) {
        sf_choice_tell(choice, ran);
        ran->seconds = sf_clock_seconds() - start;
    }
    return status;
}
