/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/trials.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what comes ---- */

int sf_trials_mark(sf_trials *t, int64_t time_ns, sf_error *error)
{
    if (sf_reserve(&t->markers, &t->marker_room, t->marker_count + 1, sizeof *t->markers) != 0)
        return sf_fail_memory(error);
    t->markers[t->marker_count++] = time_ns;
    return SF_OK;
}

int sf_trials_blank(sf_trials *t, sf_span span, sf_error *error)
{
    if (t->inputs == NULL)
        return SF_OK;
    if (sf_reserve(&t->blanked, &t->blanked_room, t->blanked_count + 1, sizeof *t->blanked) != 0)
        return sf_fail_memory(error);
    t->blanked[t->blanked_count++] = span;
    return SF_OK;
}

int sf_trials_feed(sf_trials *t, const sf_spike *spikes, size_t count, sf_error *error)
{
    if (t->inputs == NULL || count == 0)
        return SF_OK;
    if (sf_reserve(&t->spikes, &t->spike_room, t->spike_count + count, sizeof *t->spikes) != 0)
        return sf_fail_memory(error);
    memcpy(t->spikes + t->spike_count, spikes, count * sizeof *spikes);
    t->spike_count += count;
    return SF_OK;
}

/* ---- a trial ---- */

static int add_recorded(sf_trials *t, int64_t start_ns, int64_t stop_ns, sf_error *error)
{
    if (start_ns >= stop_ns)
        return SF_OK;
    if (sf_reserve(&t->recorded, &t->recorded_room, t->recorded_count + 1, sizeof *t->recorded) != 0)
        return sf_fail_memory(error);
    t->recorded[t->recorded_count++] = (sf_span){start_ns, stop_ns};
    return SF_OK;
}

/* Forgets the first of them, which others were made of. */
static void replace_recorded(sf_trials *t, size_t before)
{
    t->recorded_count -= before;
    memmove(t->recorded, t->recorded + before, t->recorded_count * sizeof *t->recorded);
}

/* Leaves what lies in these spans, too. */
static int keep_observed(sf_trials *t, const sf_observed *observed, sf_error *error)
{
    size_t before = t->recorded_count;
    int status = SF_OK;
    for (size_t i = 0; i < before; i++)
        for (size_t k = 0; status == SF_OK && k < observed->count; k++) {
            const sf_span *span = &observed->spans[k];
            int64_t start = t->recorded[i].start_ns, stop = t->recorded[i].stop_ns;
            status = add_recorded(t, start > span->start_ns ? start : span->start_ns,
                                  stop < span->stop_ns ? stop : span->stop_ns, error);
        }
    replace_recorded(t, before);
    return status;
}

static int leave_out(sf_trials *t, const sf_span *span, sf_error *error)
{
    size_t before = t->recorded_count;
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < before; i++) {
        int64_t start = t->recorded[i].start_ns, stop = t->recorded[i].stop_ns;
        status = add_recorded(t, start, stop < span->start_ns ? stop : span->start_ns, error);
        if (status == SF_OK)
            status = add_recorded(t, start > span->stop_ns ? start : span->stop_ns, stop, error);
    }
    replace_recorded(t, before);
    return status;
}

/* What was recorded around a marker and is not blanked: where no source says when that was, from the first
 * spike to the last. */
static int list_recorded(sf_trials *t, int64_t marker_ns, sf_error *error)
{
    int64_t from_ns = sf_time_plus(marker_ns, -t->lead_ns);
    bool told = t->inputs->observed_count > 0;
    t->recorded_count = 0;
    int64_t to_ns = sf_time_plus(marker_ns, t->tail_ns);
    if (!told && from_ns < t->began_ns)
        from_ns = t->began_ns;
    if (!told && to_ns > t->ended_ns)
        to_ns = t->ended_ns;
    int status = add_recorded(t, from_ns, to_ns, error);
    for (size_t i = 0; status == SF_OK && i < t->inputs->observed_count; i++)
        status = keep_observed(t, &t->inputs->observed[i], error);
    for (size_t i = 0; status == SF_OK && i < t->blanked_count; i++)
        status = leave_out(t, &t->blanked[i], error);
    return status;
}

/* The spikes around a marker, one unit after the other. */
static int sort_by_unit(sf_trials *t, int64_t marker_ns, sf_error *error)
{
    size_t units = t->found.item_count,
           from = sf_spikes_lower_bound(t->spikes, t->spike_count, sf_time_plus(marker_ns, -t->lead_ns)),
           to = sf_spikes_lower_bound(t->spikes, t->spike_count, sf_time_plus(marker_ns, t->tail_ns));
    if (sf_reserve(&t->times_ns, &t->time_room, to - from, sizeof *t->times_ns) != 0)
        return sf_fail_memory(error);
    memset(t->first, 0, (units + 2) * sizeof *t->first);
    for (size_t i = from; i < to; i++)
        t->first[t->spikes[i].unit + 2]++;
    for (size_t u = 0; u < units; u++)
        t->first[u + 2] += t->first[u + 1];
    for (size_t i = from; i < to; i++)
        t->times_ns[t->first[t->spikes[i].unit + 1]++] = t->spikes[i].time_ns;
    for (size_t u = 0; u < units; u++)
        t->trains[u] = (sf_event_train){t->times_ns + t->first[u], t->first[u + 1] - t->first[u]};
    return SF_OK;
}

/* ---- telling ---- */

static int fill_units(sf_response_message *message, const sf_responses *found, sf_error *error)
{
    double trials = (double)found->trial_count, windows = trials * (double)found->options.baseline;
    message->units = sf_alloc(found->item_count, sizeof *message->units);
    if (message->units == NULL)
        return sf_fail_memory(error);
    for (size_t u = 0; u < found->item_count; u++) {
        const sf_response *item = &found->items[u];
        sf_response_unit *unit = &message->units[message->unit_count];
        *unit = (sf_response_unit){.unit = (uint32_t)u,
                                   .spikes = item->spikes,
                                   .baseline_spikes = item->spikes_before,
                                   .reliability = (double)item->answers / trials,
                                   .baseline_reliability = (double)item->answers_before / windows,
                                   .latency_ms = item->latency_ns * 1e-6,
                                   .jitter_ms = item->jitter_ns * 1e-6,
                                   .bin_count = found->bin_count,
                                   .bins = sf_alloc(found->bin_count, sizeof *unit->bins)};
        if (unit->bins == NULL)
            return sf_fail_memory(error);
        message->unit_count++;
        memcpy(unit->bins, found->histogram + u * found->bin_count, found->bin_count * sizeof *unit->bins);
    }
    return SF_OK;
}

static int tell(sf_trials *t, int64_t arrival_ns, sf_publisher *publisher, sf_error *error)
{
    sf_responses *found = &t->found;
    const sf_trial *trial = &found->trials[found->trial_count - 1];
    sf_message *message = sf_message_new(SF_TOPIC_RESPONSE);
    if (message == NULL)
        return sf_fail_memory(error);
    sf_response_message *response = &message->response;
    sf_responses_describe(found);
    message->time_ns = sf_time_plus(trial->time_ns, t->tail_ns);
    message->arrival_ns = arrival_ns;
    double length = (double)(found->options.to_ns - found->options.from_ns);
    *response =
        (sf_response_message){.marker_ns = trial->time_ns,
                              .trials = found->trial_count,
                              .markers = found->markers,
                              .exposed = (double)trial->exposed_ns / length,
                              .spikes = trial->spikes,
                              .baseline_spikes = trial->spikes_before,
                              .answers = trial->answers,
                              .exposed_ns = found->exposed_ns,
                              .baseline_windows = found->options.baseline,
                              .first_ns = found->first_ns,
                              .bin_ns = found->options.bin_ns,
                              .bin_count = found->bin_count,
                              .bin_exposed_ns = sf_alloc(found->bin_count, sizeof *response->bin_exposed_ns)};
    snprintf(response->marker, sizeof response->marker, "%s", found->options.marker);
    int status = response->bin_exposed_ns != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        memcpy(response->bin_exposed_ns, found->bin_exposed_ns,
               found->bin_count * sizeof *response->bin_exposed_ns);
        status = fill_units(response, found, error);
    }
    if (status == SF_OK)
        sf_publish(publisher, message);
    else
        sf_message_release(message);
    return status;
}

/* What no trial needs that begins where the stream is, or later. */
static void forget(sf_trials *t, int64_t time_ns)
{
    int64_t needed_ns = t->marker_count > 0 && t->markers[0] < time_ns ? t->markers[0] : time_ns;
    needed_ns = sf_time_plus(needed_ns, -t->lead_ns);
    size_t gone = sf_spikes_lower_bound(t->spikes, t->spike_count, needed_ns), kept = 0;
    if (gone > t->spike_count / 2) { /* seldom, so that each is moved once or twice */
        t->spike_count -= gone;
        memmove(t->spikes, t->spikes + gone, t->spike_count * sizeof *t->spikes);
    }
    for (size_t i = 0; i < t->blanked_count; i++)
        if (t->blanked[i].stop_ns > needed_ns)
            t->blanked[kept++] = t->blanked[i];
    t->blanked_count = kept;
}

int sf_trials_reach(sf_trials *t, int64_t time_ns, int64_t arrival_ns, sf_publisher *publisher,
                    sf_error *error)
{
    size_t over = 0;
    int status = SF_OK;
    if (t->inputs == NULL)
        return SF_OK;
    for (; status == SF_OK && over < t->marker_count && sf_time_plus(t->markers[over], t->tail_ns) <= time_ns;
         over++) {
        size_t before = t->found.trial_count;
        status = list_recorded(t, t->markers[over], error);
        if (status == SF_OK)
            status = sort_by_unit(t, t->markers[over], error);
        if (status == SF_OK)
            status = sf_responses_add(&t->found, t->markers[over], t->recorded, t->recorded_count, t->trains,
                                      error);
        if (status == SF_OK && t->found.trial_count > before && t->found.trial_count % t->every == 0)
            status = tell(t, arrival_ns, publisher, error);
    }
    t->marker_count -= over;
    if (over > 0)
        memmove(t->markers, t->markers + over, t->marker_count * sizeof *t->markers);
    forget(t, time_ns);
    return status;
}

int sf_trials_finish(sf_trials *t, int64_t ended_ns, int64_t arrival_ns, sf_publisher *publisher,
                     sf_error *error)
{
    t->ended_ns = ended_ns;
    return sf_trials_reach(t, INT64_MAX, arrival_ns, publisher, error);
}

/* ---- opening and closing ---- */

bool sf_trials_wanted(const sf_live_options *config)
{
    return strcmp(config->responses.marker, SF_LIVE_NO_MARKER) != 0;
}

int sf_trials_open(sf_trials *t, const sf_live_options *config, const sf_inputs *inputs, sf_error *error)
{
    const sf_live_responses *asked = &config->responses;
    sf_response_options options = SF_RESPONSE_OPTIONS;
    *t = (sf_trials){.began_ns = INT64_MAX, .ended_ns = INT64_MAX};
    if (!sf_trials_wanted(config))
        return SF_OK;
    options.marker = asked->marker;
    options.from_ns = llround(asked->from_ms * 1e6);
    options.to_ns = llround(asked->to_ms * 1e6);
    options.baseline = asked->baseline;
    options.bin_ns = llround(asked->bin_ms * 1e6);
    t->inputs = inputs;
    t->every = asked->every;
    int status = sf_responses_begin(&t->found, &options, inputs->units.count, error);
    int64_t stop_ns = t->found.first_ns + (int64_t)t->found.bin_count * options.bin_ns,
            first_ns = -(int64_t)options.baseline * (options.to_ns - options.from_ns);
    t->tail_ns = stop_ns > options.to_ns ? stop_ns : options.to_ns;
    t->lead_ns = -(first_ns < t->found.first_ns ? first_ns : t->found.first_ns);
    t->first = sf_alloc(inputs->units.count + 2, sizeof *t->first);
    t->trains = sf_alloc(inputs->units.count, sizeof *t->trains);
    return status == SF_OK && (t->first == NULL || t->trains == NULL) ? sf_fail_memory(error) : status;
}

void sf_trials_close(sf_trials *t)
{
    sf_responses_free(&t->found);
    sf_free(t->spikes);
    sf_free(t->markers);
    sf_free(t->blanked);
    sf_free(t->recorded);
    sf_free(t->times_ns);
    sf_free(t->first);
    sf_free(t->trains);
    *t = (sf_trials){0};
}
