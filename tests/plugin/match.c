/* SPDX-License-Identifier: Apache-2.0 */
/* Matching on a test device: every candidate of every step is tried, and all that the job says of it is
 * looked up. */
#include "core/backend/match.h"
#include "core/backend/watch.h"
#include "core/clock.h"
#include "core/error.h"
#include "plugin/plugin.h"
#include "plugin/space.h"
#include "plugin/twigs.h"

#include <string.h>

typedef struct search {
    const sf_backend_match_job *job;
    sf_backend_match_answer *answer;
    uint32_t place[SF_BACKEND_MATCH_MOST], vertex[SF_BACKEND_MATCH_MOST];
    uint32_t together[SF_BACKEND_MATCH_MOST]; /* of a step after the core: earlier ones of its group */
} search;

static bool is_listed(const sf_backend_match_lists *lists, uint32_t row, uint32_t place)
{
    for (uint64_t i = lists->offsets[row]; i < lists->offsets[row + 1]; i++)
        if (lists->values[i] == place) return true;
    return false;
}

static bool fits(const search *s, uint32_t i)
{
    const sf_backend_match_step *step = &s->job->steps[i];
    for (uint32_t w = 0; w < i; w++) {
        uint32_t bit = UINT32_C(1) << w;
        const sf_backend_match_lists *lists = &s->job->lists[step->lists[w]];
        if (((step->joined & bit) != 0 && !is_listed(lists, s->place[w], s->place[i])) ||
            ((step->excluded & bit) != 0 && is_listed(lists, s->place[w], s->place[i])) ||
            ((step->greater & bit) != 0 && s->vertex[w] >= s->vertex[i]) ||
            (((step->different | s->together[i]) & bit) != 0 && s->vertex[w] == s->vertex[i]))
            return false;
    }
    return true;
}

static bool is_late(const search *s)
{
    if (s->job->watch.deadline > 0 && sf_clock_seconds() > s->job->watch.deadline) s->answer->stopped = true;
    return s->answer->stopped;
}

static void try_step(search *s, uint32_t i)
{
    const sf_backend_match_job *job = s->job;
    if (i == job->step_count) {
        if (s->answer->count++ >= job->most)
            s->answer->stopped = true;
        else if (job->rows != NULL)
            memcpy(job->rows + s->answer->listed++ * i, s->vertex, i * sizeof *s->vertex);
        return;
    }
    uint32_t set = job->steps[i].set, first = job->steps[i].first;
    uint32_t count = job->steps[i].count > 0 ? job->steps[i].count : job->set_sizes[set];
    for (uint32_t place = first + count; place-- > first && !is_late(s);) { /* rows come in no order */
        s->place[i] = place;
        s->vertex[i] = job->sets[set][place];
        s->answer->tried++;
        if (fits(s, i)) try_step(s, i + 1);
    }
}

/* Vertices of one step are different from those of others of its group. With homomorphisms every group is of
 * one. */
static void find_groups(search *s)
{
    for (uint32_t g = 0; g < s->job->group_count; g++)
        for (uint32_t i = s->job->core; i < s->job->step_count; i++)
            if ((s->job->groups[g].steps >> i & 1) != 0)
                s->together[i] = s->job->groups[g].steps & ((UINT32_C(1) << i) - 1);
}

static int run(sf_backend_device *device, const sf_backend_match_job *given, sf_backend_match_answer *answer,
               sf_error *error)
{
    int status = test_begin_job(device, error);
    if (status != SF_OK) return status;
    const uint32_t *sets[SF_BACKEND_MATCH_MOST];
    sf_backend_match_lists lists[SF_BACKEND_MATCH_MOST * SF_BACKEND_MATCH_MOST];
    sf_backend_match_job job = *given;
    for (uint32_t i = 0; i < job.set_count && job.space != NULL; i++)
        sets[i] = test_space_candidates(job.space, job.set_first[i]);
    for (uint32_t i = 0; i < job.list_count && job.space != NULL; i++)
        lists[i] = test_space_links(job.space, job.lists[i].made);
    job.sets = job.space != NULL ? sets : job.sets;
    job.lists = job.space != NULL ? lists : job.lists;
    search s = {.job = &job, .answer = answer};
    *answer = (sf_backend_match_answer){0};
    find_groups(&s);
    if (job.samples > 0 && sf_backend_watch_stops(&job.watch, "sampling"))
        return sf_fail(error, SF_CANCELLED, NULL, "was stopped while sampling");
    if (job.samples > 0 && test_plugin_work_done.sample_says < UINT64_MAX)
        answer->tried = test_plugin_work_done.sample_says;
    else if (job.samples == 0 && test_plugin_work_done.late_after > 0 &&
             --test_plugin_work_done.late_after == 0)
        answer->stopped = true;
    else
        try_step(&s, 0);
    test_plugin_work_done.tried += answer->tried;
    test_plugin_work_done.sampled += job.samples > 0;
    if (test_is_lost(device)) return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    return SF_OK;
}

const sf_backend_match test_match = {.run = run,
                                     .data_open = test_data_open,
                                     .data_close = test_data_close,
                                     .space_open = test_space_open,
                                     .space_close = test_space_close,
                                     .space_link = test_space_link,
                                     .space_read = test_space_read,
                                     .twigs_open = test_twigs_open,
                                     .twigs_close = test_twigs_close,
                                     .twigs_expand = test_twigs_expand,
                                     .twigs_collect = test_twigs_collect,
                                     .twigs_descend = test_twigs_descend};
