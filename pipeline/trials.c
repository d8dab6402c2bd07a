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
    return t->inputs != NULL ? sf_blanked_add(&t->blanked, span, error) : SF_OK;
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
    if (t->inputs == NULL || count == 0) return SF_OK;
    if (sf_reserve(&t->spikes, &t->spike_room, t->spike_count + count, sizeof *t->spikes) != 0)
        return sf_fail_memory(error);
    memcpy(t->spikes + t->spike_count, spikes, count * sizeof *spikes);
    t->spike_count += count;
    return feed_chains(t, spikes, count, error);
}

/* ---- a trial ---- */

/* Its spikes, one unit after the other. */
static int sort_by_unit(sf_trials *t, sf_error *error)
{
    const sf_trial_job *job = &t->job;
    size_t units = t->found.item_count;
    if (sf_reserve(&t->times_ns, &t->time_room, job->spike_count, sizeof *t->times_ns) != 0)
        return sf_fail_memory(error);
    memset(t->first, 0, (units + 2) * sizeof *t->first);
    for (size_t i = 0; i < job->spike_count; i++)
        t->first[job->spikes[i].unit + 2]++;
    for (size_t u = 0; u < units; u++)
        t->first[u + 2] += t->first[u + 1];
    for (size_t i = 0; i < job->spike_count; i++)
        t->times_ns[t->first[job->spikes[i].unit + 1]++] = job->spikes[i].time_ns;
    for (size_t u = 0; u < units; u++)
        t->trains[u] = (sf_event_train){t->times_ns + t->first[u], t->first[u + 1] - t->first[u]};
    return SF_OK;
}

/* Of units and of chains. */
static int count_trial(sf_trials *t, sf_error *error)
{
    const sf_trial_job *job = &t->job;
    const sf_recorded_time *recorded = &job->recorded;
    int status = sort_by_unit(t, error);
    if (status == SF_OK)
        status =
            sf_responses_add(&t->found, job->marker_ns, recorded->spans, recorded->count, t->trains, error);
    for (size_t c = 0; c < t->chain_count; c++)
        t->trains[c] = (sf_event_train){job->chains[c].begins_ns, job->chains[c].count};
    if (status == SF_OK && t->chain_count > 0)
        status = sf_responses_add(&t->chains_found, job->marker_ns, recorded->spans, recorded->count,
                                  t->trains, error);
    return status;
}

/* ---- telling ---- */

static void fill_counts(sf_response_unit *unit, const sf_responses *found, size_t i, uint64_t *bins)
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
                               .bins = bins + i * found->bin_count};
}

static void fill_chain(sf_response_chain *chain, const sf_trials *t, size_t c, uint64_t *bins)
{
    memcpy(chain->id, t->chains[c].id, sizeof chain->id);
    snprintf(chain->name, sizeof chain->name, "%s", t->watched[c].name);
    fill_counts(&chain->counts, &t->chains_found, c, bins);
    chain->counts.unit = UINT32_MAX;
}

/* All of it is written, so that nothing is cleared before; histograms are one block. */
static int fill_items(sf_response_message *message, const sf_trials *t, sf_error *error)
{
    const sf_responses *found = &t->found, *chains = &t->chains_found;
    size_t unit_bins = found->item_count * found->bin_count, chain_bins = t->chain_count * found->bin_count;
    message->units = sf_resize(NULL, found->item_count, sizeof *message->units);
    message->chains = sf_resize(NULL, t->chain_count, sizeof *message->chains);
    message->bins = sf_resize(NULL, unit_bins + chain_bins, sizeof *message->bins);
    if (message->units == NULL || message->chains == NULL || message->bins == NULL)
        return sf_fail_memory(error);
    message->unit_count = found->item_count;
    message->chain_count = t->chain_count;
    memcpy(message->bins, found->histogram, unit_bins * sizeof *message->bins);
    if (chain_bins > 0)
        memcpy(message->bins + unit_bins, chains->histogram, chain_bins * sizeof *message->bins);
    for (size_t u = 0; u < found->item_count; u++)
        fill_counts(&message->units[u], found, u, message->bins);
    for (size_t c = 0; c < t->chain_count; c++)
        fill_chain(&message->chains[c], t, c, message->bins + unit_bins);
    return SF_OK;
}

/* All trials so far, as a message of the job. */
static int fill_message(sf_trials *t, sf_error *error)
{
    sf_responses *found = &t->found;
    const sf_trial *trial = &found->trials[found->trial_count - 1];
    sf_message *message = sf_message_new(SF_TOPIC_RESPONSE);
    if (message == NULL) return sf_fail_memory(error);
    sf_response_message *response = &message->response;
    sf_responses_describe(found);
    sf_responses_describe(&t->chains_found);
    message->time_ns = sf_time_plus(trial->time_ns, t->tail_ns + t->chain_ns);
    message->arrival_ns = t->job.arrival_ns;
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
        status = fill_items(response, t, error);
    }
    if (status == SF_OK)
        t->job.message = message;
    else
        sf_message_release(message);
    return status;
}

static void work(void *of)
{
    sf_trials *t = of;
    size_t before = t->found.trial_count;
    t->job.status = count_trial(t, &t->job.error);
    if (t->job.status == SF_OK && t->found.trial_count > before && t->found.trial_count % t->every == 0)
        t->job.status = fill_message(t, &t->job.error);
}

/* ---- one trial after the other ---- */

/* What was counted, if anything. */
static int take(sf_trials *t, sf_publisher *publisher, sf_error *error)
{
    sf_trial_job *job = &t->job;
    if (!sf_background_take(&t->background)) return SF_OK;
    if (job->status != SF_OK && error != NULL) *error = job->error;
    if (job->message != NULL) sf_publish(publisher, job->message);
    job->message = NULL;
    return job->status;
}

static int copy_begins(sf_trial_chain *to, const sf_trial_chain *from, sf_error *error)
{
    if (sf_reserve(&to->begins_ns, &to->room, from->count, sizeof *to->begins_ns) != 0)
        return sf_fail_memory(error);
    if (from->count > 0) memcpy(to->begins_ns, from->begins_ns, from->count * sizeof *to->begins_ns);
    to->count = from->count;
    return SF_OK;
}

static int start(sf_trials *t, int64_t marker_ns, int64_t arrival_ns, sf_error *error)
{
    sf_trial_job *job = &t->job;
    const sf_span around = {sf_time_plus(marker_ns, -t->lead_ns), sf_time_plus(marker_ns, t->tail_ns)};
    size_t from = sf_spikes_lower_bound(t->spikes, t->spike_count, around.start_ns),
           to = sf_spikes_lower_bound(t->spikes, t->spike_count, around.stop_ns);
    job->marker_ns = marker_ns;
    job->arrival_ns = arrival_ns;
    job->spike_count = to - from;
    if (sf_reserve(&job->spikes, &job->spike_room, to - from, sizeof *job->spikes) != 0)
        return sf_fail_memory(error);
    if (to > from) memcpy(job->spikes, t->spikes + from, (to - from) * sizeof *job->spikes);
    int status = sf_recorded_time_list(&job->recorded, around, (sf_span){t->began_ns, t->ended_ns}, t->inputs,
                                       &t->blanked, error);
    for (size_t c = 0; status == SF_OK && c < t->chain_count; c++)
        status = copy_begins(&job->chains[c], &t->chains[c], error);
    if (status == SF_OK) sf_background_start(&t->background);
    return status;
}

static void forget_begins(sf_trial_chain *chain, int64_t needed_ns)
{
    size_t gone = 0;
    while (gone < chain->count && chain->begins_ns[gone] < needed_ns)
        gone++;
    if (gone == 0) return;
    chain->count -= gone;
    memmove(chain->begins_ns, chain->begins_ns + gone, chain->count * sizeof *chain->begins_ns);
}

/* Forgets what no trial needs that begins at the current stream time or later. */
static void forget(sf_trials *t, int64_t time_ns)
{
    int64_t needed_ns = t->marker_count > 0 && t->markers[0] < time_ns ? t->markers[0] : time_ns;
    needed_ns = sf_time_plus(needed_ns, -t->lead_ns);
    size_t gone = sf_spikes_lower_bound(t->spikes, t->spike_count, needed_ns);
    if (gone > t->spike_count / 2) { /* seldom, so that each is moved once or twice */
        t->spike_count -= gone;
        memmove(t->spikes, t->spikes + gone, t->spike_count * sizeof *t->spikes);
    }
    for (size_t c = 0; c < t->chain_count; c++)
        forget_begins(&t->chains[c], sf_time_plus(needed_ns, -t->chain_ns));
    sf_blanked_forget(&t->blanked, needed_ns);
}

static bool is_over(const sf_trials *t, int64_t time_ns)
{
    return t->marker_count > 0 && sf_time_plus(t->markers[0], t->tail_ns + t->chain_ns) <= time_ns;
}

int sf_trials_reach(sf_trials *t, int64_t time_ns, int64_t arrival_ns, sf_publisher *publisher,
                    sf_error *error)
{
    if (t->inputs == NULL) return SF_OK;
    int status = take(t, publisher, error);
    while (status == SF_OK && is_over(t, time_ns) && sf_background_is_idle(&t->background)) {
        status = start(t, t->markers[0], arrival_ns, error);
        t->marker_count--;
        memmove(t->markers, t->markers + 1, t->marker_count * sizeof *t->markers);
        if (status == SF_OK) status = take(t, publisher, error);
    }
    forget(t, time_ns);
    return status;
}

int sf_trials_finish(sf_trials *t, int64_t ended_ns, int64_t arrival_ns, sf_publisher *publisher,
                     sf_error *error)
{
    int status = SF_OK;
    t->ended_ns = ended_ns;
    do {
        sf_background_wait(&t->background);
        status = sf_trials_reach(t, INT64_MAX, arrival_ns, publisher, error);
    } while (status == SF_OK && t->inputs != NULL && !sf_background_is_idle(&t->background));
    return status;
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
    t->job.chains = sf_alloc(count, sizeof *t->job.chains);
    int status = episodes != NULL && t->watched != NULL && t->chains != NULL && t->job.chains != NULL
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
    if (status == SF_OK) status = sf_responses_begin(&t->chains_found, options, count, error);
    sf_free(episodes);
    return status;
}

int sf_trials_open(sf_trials *t, const sf_live_options *config, const sf_inputs *inputs, sf_error *error)
{
    const sf_live_responses *asked = &config->responses;
    sf_response_options options = SF_RESPONSE_OPTIONS;
    *t = (sf_trials){.began_ns = INT64_MAX, .ended_ns = INT64_MAX};
    if (!sf_trials_wanted(config)) return SF_OK;
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
    if (status == SF_OK && (t->first == NULL || t->trains == NULL)) status = sf_fail_memory(error);
    if (status == SF_OK) status = open_chains(t, config, &options, error);
    return status == SF_OK
               ? sf_background_open(&t->background, "synfire-trial",
                                    inputs->virtual_clock ? SF_BACKGROUND_INSIDE : SF_BACKGROUND_AWAITED,
                                    work, t, error)
               : status;
}

void sf_trials_close(sf_trials *t)
{
    sf_background_close(&t->background);
    sf_message_release(t->job.message);
    for (size_t c = 0; t->job.chains != NULL && c < t->chain_count; c++)
        sf_free(t->job.chains[c].begins_ns);
    sf_free(t->job.chains);
    sf_free(t->job.spikes);
    sf_recorded_time_free(&t->job.recorded);
    sf_responses_free(&t->found);
    sf_responses_free(&t->chains_found);
    sf_watch_close(t->watch);
    for (size_t c = 0; c < t->chain_count; c++)
        sf_free(t->chains[c].begins_ns);
    sf_free(t->chains);
    sf_free(t->watched);
    sf_free(t->spikes);
    sf_free(t->markers);
    sf_blanked_free(&t->blanked);
    sf_free(t->times_ns);
    sf_free(t->first);
    sf_free(t->trains);
    *t = (sf_trials){0};
}
