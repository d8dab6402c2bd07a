/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/seam.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/recording.h"
#include "mine/interval.h"
#include "window/summaries.h"

/* How far a seam is looked at on either side, in reaches of an episode: chains meet after few occurrences. */
#define REACHES 4

static uint32_t count_kept(const sf_spike *spikes, size_t count, const bool *keep)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += keep[spikes[i].unit];
    return kept;
}

int sf_seam_open(sf_seam *seam, const sf_raw_spikes *whole, const bool *keep, size_t at, size_t end,
                 int64_t reach_ns, unsigned threads, sf_error *error)
{
    const sf_spike *spikes = whole->spikes;
    int64_t time_ns = spikes[at].time_ns, look_ns = reach_ns;
    for (int i = 1; i < REACHES; i++)
        look_ns = sf_time_plus(look_ns, reach_ns);
    size_t begin = sf_spikes_lower_bound(spikes, whole->count, sf_time_plus(time_ns, -look_ns));
    size_t past =
        sf_spikes_lower_bound(spikes, whole->count, sf_time_plus(sf_time_plus(time_ns, -look_ns), -reach_ns));
    size_t until = sf_spikes_lower_bound(spikes, whole->count, sf_time_plus(time_ns, look_ns));
    until = until < end ? until : end;
    *seam = (sf_seam){.settled = UINT64_MAX}; /* nothing comes after the last spike */
    sf_events_choice choice = {.keep = keep, .threads = threads};
    int status =
        sf_events_lay_out(&seam->events, spikes + past, until - past, whole->unit_count, &choice, error);
    if (status == SF_OK) status = sf_events_time_units(&seam->events, threads, error);
    if (status != SF_OK) return status;
    seam->begin = count_kept(spikes + past, begin - past, keep);
    seam->at = seam->begin + count_kept(spikes + begin, at - begin, keep);
    /* What ends later starts no earlier than that. */
    if (until < whole->count)
        seam->settled = sf_events_position(&seam->events, sf_time_plus(spikes[until].time_ns, -reach_ns));
    return SF_OK;
}

void sf_seam_close(sf_seam *seam)
{
    sf_events_close(&seam->events);
    *seam = (sf_seam){0};
}

/* Where a chain starts again, in so far as it matters to what comes. */
static uint64_t settle(const sf_seam *seam, uint64_t restart)
{
    return restart > seam->settled ? restart : seam->settled;
}

/* What all chains that may come count beyond one that begins at the seam. False: not all the same, or they
 * have not met. */
static bool find_extra(const sf_seam *seam, const sf_summary *before, const sf_summary *after,
                       uint32_t *extra)
{
    sf_passage alone = sf_summary_pass(after, seam->at);
    uint32_t steps = before->step_count;
    bool none_passes = steps > 0 && before->steps[steps - 1].until >= seam->begin;
    for (uint32_t i = 0; i < steps + !none_passes; i++) {
        sf_passage own = sf_summary_pass(after, i < steps ? before->steps[i].exit : seam->begin);
        uint32_t beyond = (uint32_t)(own.count - alone.count);
        if ((i > 0 && beyond != *extra) || settle(seam, own.exit) != settle(seam, alone.exit)) return false;
        *extra = beyond;
    }
    return true;
}

int sf_seam_add(const sf_seam *seam, uint32_t *counts, bool *unsettled, const sf_count_job *job,
                sf_error *error)
{
    size_t count = job->candidates->count;
    sf_summary *before = sf_summaries_new(count), *after = sf_summaries_new(count);
    sf_count_job here = *job;
    here.events = &seam->events;
    here.first = seam->begin;
    here.last = seam->at;
    int status = before != NULL && after != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = sf_interval_summarise(before, &here, 0, 0, error);
    here.first = seam->at;
    here.last = seam->events.count;
    if (status == SF_OK) status = sf_interval_summarise(after, &here, 0, 0, error);
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        uint32_t extra = 0;
        if (find_extra(seam, &before[i], &after[i], &extra))
            counts[i] += extra;
        else
            unsettled[i] = true;
    }
    sf_summaries_free(before, count);
    sf_summaries_free(after, count);
    return status;
}
