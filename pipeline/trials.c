/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/trials.h"

#include "core/clock.h"
#include "core/episode.h"
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

/* Occurrences of one chain do not overlap, so they come in the order in which they began. */
static int feed_chains(sf_trials *t, const sf_spike *spikes, size_t count, sf_error *error)
{
    for (size_t i = 0; t->watch != NULL && i < count; i++) {
        const sf_completion *completions;
        size_t completed = sf_watch_advance(t->watch, &spikes[i], &completions);
        for (size_t c = 0; c < completed; c++) {
            sf_trial_chain *chain = &t->chains[completions[c].episode];
            if (sf_reserve(&chain->begins_ns, &chain->room, chain->count + 1, sizeof *chain->begins_ns) != 0)
                return sf_fail_memory(error);
            chain->begins_ns[chain->count++] = completions[c].spike_times_ns[0];
        }
    }
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
    return feed_chains(t, spikes, count, error);
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

static int fill_counts(sf_response_unit *unit, const sf_responses *found, size_t i, sf_error *error)
{
    double trials = (double)found->trial_count, windows = trials * (double)found->options.baseline;
    const sf_response *item = &found->items[i];
    *unit = (sf_response_unit){.unit = (uint32_t)i,
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
    memcpy(unit->bins, found->histogram + i * found->bin_count, found->bin_count * sizeof *unit->bins);
    return SF_OK;
}

static int fill_units(sf_response_message *message, const sf_responses *found, sf_error *error)
{
    message->units = sf_alloc(found->item_count, sizeof *message->units);
    int status = message->units != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t u = 0; status == SF_OK && u < found->item_count; u++)
        status = fill_counts(&message->units[message->unit_count++], found, u, error);
    return status;
}

static int fill_chains(sf_response_message *message, const sf_trials *t, sf_error *error)
{
    message->chains = sf_alloc(t->chain_count, sizeof *message->chains);
    int status = message->chains != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t c = 0; status == SF_OK && c < t->chain_count; c++) {
        sf_response_chain *chain = &message->chains[message->chain_count++];
        memcpy(chain->id, t->chains[c].id, sizeof chain->id);
        snprintf(chain->name, sizeof chain->name, "%s", t->watched[c].name);
        status = fill_counts(&chain->counts, &t->chains_found, c, error);
        chain->counts.unit = UINT32_MAX;
    }
    return status;
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
    sf_responses_describe(&t->chains_found);
    message->time_ns = sf_time_plus(trial->time_ns, t->tail_ns + t->chain_ns);
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
        status = fill_chains(response, t, error);
    if (status == SF_OK)
        sf_publish(publisher, message);
    else
        sf_message_release(message);
    return status;
}

static void forget_begins(sf_trial_chain *chain, int64_t needed_ns)
{
    size_t gone = 0;
    while (gone < chain->count && chain->begins_ns[gone] < needed_ns)
        gone++;
    if (gone == 0)
        return;
    chain->count -= gone;
    memmove(chain->begins_ns, chain->begins_ns + gone, chain->count * sizeof *chain->begins_ns);
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
    for (size_t c = 0; c < t->chain_count; c++)
        forget_begins(&t->chains[c], sf_time_plus(needed_ns, -t->chain_ns));
    for (size_t i = 0; i < t->blanked_count; i++)
        if (t->blanked[i].stop_ns > needed_ns)
            t->blanked[kept++] = t->blanked[i];
    t->blanked_count = kept;
}

/* A trial, of units and of chains. */
static int add_trial(sf_trials *t, int64_t marker_ns, sf_error *error)
{
    int status = list_recorded(t, marker_ns, error);
    if (status == SF_OK)
        status = sort_by_unit(t, marker_ns, error);
    if (status == SF_OK)
        status = sf_responses_add(&t->found, marker_ns, t->recorded, t->recorded_count, t->trains, error);
    for (size_t c = 0; c < t->chain_count; c++)
        t->trains[c] = (sf_event_train){t->chains[c].begins_ns, t->chains[c].count};
    if (status == SF_OK && t->chain_count > 0)
        status =
            sf_responses_add(&t->chains_found, marker_ns, t->recorded, t->recorded_count, t->trains, error);
    return status;
}

int sf_trials_reach(sf_trials *t, int64_t time_ns, int64_t arrival_ns, sf_publisher *publisher,
                    sf_error *error)
{
    size_t over = 0;
    int status = SF_OK;
    if (t->inputs == NULL)
        return SF_OK;
    for (; status == SF_OK && over < t->marker_count &&
           sf_time_plus(t->markers[over], t->tail_ns + t->chain_ns) <= time_ns;
         over++) {
        size_t before = t->found.trial_count;
        status = add_trial(t, t->markers[over], error);
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

/* The chains: what is watched. */
static int open_chains(sf_trials *t, const sf_live_options *config, const sf_response_options *options,
                       sf_error *error)
{
    const sf_units *units = &t->inputs->units;
    size_t count = sf_watched_count(config);
    sf_episode *episodes = sf_alloc(count, sizeof *episodes);
    t->watched = sf_alloc(count, sizeof *t->watched);
    t->chains = sf_alloc(count, sizeof *t->chains);
    int status = episodes != NULL && t->watched != NULL && t->chains != NULL
                     ? sf_watched_parse(t->watched, config, units, error)
                     : sf_fail_memory(error);
    for (; status == SF_OK && t->chain_count < count; t->chain_count++) {
        const sf_episode *episode = &t->watched[t->chain_count].episode;
        const int64_t longest_ns = sf_episode_span_ns(episode);
        t->chain_ns = longest_ns > t->chain_ns ? longest_ns : t->chain_ns;
        episodes[t->chain_count] = *episode;
        sf_episode_id(t->chains[t->chain_count].id, episode, units);
    }
    if (status == SF_OK && count > 0)
        status = sf_watch_open(&t->watch, episodes, count, units->count, 0, error);
    if (status == SF_OK)
        status = sf_responses_begin(&t->chains_found, options, count, error);
    sf_free(episodes);
    return status;
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
    size_t most =
        sf_watched_count(config) > inputs->units.count ? sf_watched_count(config) : inputs->units.count;
    t->trains = sf_alloc(most, sizeof *t->trains);
    if (status == SF_OK && (t->first == NULL || t->trains == NULL))
        status = sf_fail_memory(error);
    return status == SF_OK ? open_chains(t, config, &options, error) : status;
}

void sf_trials_close(sf_trials *t)
{
    sf_responses_free(&t->found);
    sf_responses_free(&t->chains_found);
    sf_watch_close(t->watch);
    for (size_t c = 0; c < t->chain_count; c++)
        sf_free(t->chains[c].begins_ns);
    sf_free(t->chains);
    sf_free(t->watched);
    sf_free(t->spikes);
    sf_free(t->markers);
    sf_free(t->blanked);
    sf_free(t->recorded);
    sf_free(t->times_ns);
    sf_free(t->first);
    sf_free(t->trains);
    *t = (sf_trials){0};
}
