/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/hops.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "mine/mine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a hop, for preparing what is to be tracked: so small a part. */
#define PREPARING_SHARE 20

#define STATUS_EVERY_NS SF_SECOND

/* Begins to prepare for the episodes of hops->next. */
static int prepare(sf_hops *hops, sf_error *error)
{
    size_t count = hops->next.count;
    sf_episode *episodes = sf_alloc(count, sizeof *episodes);
    if (episodes == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        episodes[i] = hops->next.items[i].episode;
    int status = sf_counting_prepare(&hops->counting, episodes, count, error);
    sf_free(episodes);
    hops->preparing = status == SF_OK;
    return status;
}

/* Goes on preparing until the monotonic clock has passed until_ns; what is ready is tracked from now on. */
static int go_on_preparing(sf_hops *hops, int64_t until_ns, sf_error *error)
{
    bool ready;
    int status = sf_counting_go_on(&hops->counting, until_ns, &ready, error);
    if (status != SF_OK || !ready)
        return status;
    sf_tracking_free(&hops->tracking);
    hops->tracking = hops->next;
    hops->next = (sf_tracking){0};
    hops->preparing = false;
    return SF_OK;
}

static int track_pinned(sf_hops *hops, sf_error *error)
{
    const sf_live_options *config = hops->options.config;
    const sf_units *units = hops->options.stream->units;
    int status = sf_tracking_pin(&hops->next, config, units, error);
    if (status == SF_OK)
        status = sf_predictions_open(&hops->predictions, config, units, &hops->next, error);
    if (status == SF_OK)
        status = prepare(hops, error);
    return status == SF_OK ? go_on_preparing(hops, INT64_MAX, error) : status;
}

int sf_hops_open(sf_hops *hops, const sf_hops_options *options, sf_error *error)
{
    const sf_live_options *config = options->config;
    const sf_units *units = options->stream->units;
    int64_t window_ns = sf_seconds_to_ns(config->window.length_s),
            hop_ns = sf_seconds_to_ns(config->window.hop_s);
    *hops = (sf_hops){.options = *options};
    sf_stages_open(&hops->stages, hop_ns);
    int status = sf_cutter_open(&hops->cutter, INT64_MIN, window_ns, hop_ns, error);
    if (status == SF_OK)
        status = sf_accelerator_open(&hops->accelerator, config, error);
    if (status == SF_OK)
        status = sf_counting_open(&hops->counting, config, hops->accelerator.device, units->count, error);
    if (status == SF_OK)
        status = track_pinned(hops, error);
    if (status == SF_OK)
        status = sf_discovery_open(&hops->discovery, config, units, options->virtual_clock, error);
    if (status == SF_OK)
        status = sf_connections_open(&hops->connections, config, units, hops->discovery.delays,
                                     hops->discovery.delay_count, options->virtual_clock, error);
    const sf_testing_setup setup = {.config = config,
                                    .units = units,
                                    .observed = options->observed,
                                    .observed_count = options->observed_count,
                                    .inside = options->virtual_clock,
                                    .board = options->board};
    if (status == SF_OK)
        status = sf_testing_open(&hops->testing, &setup, error);
    if (status == SF_OK)
        status = sf_densities_open(&hops->densities, config, units, options->observed,
                                   options->observed_count, error);
    if (status == SF_OK) {
        hops->unit_spikes = sf_alloc(units->count, sizeof *hops->unit_spikes);
        hops->rates_hz = sf_alloc(units->count, sizeof *hops->rates_hz);
        if (hops->unit_spikes == NULL || hops->rates_hz == NULL)
            status = sf_fail_memory(error);
    }
    if (status != SF_OK)
        sf_hops_close(hops);
    return status;
}

void sf_hops_close(sf_hops *hops)
{
    sf_discovery_close(&hops->discovery);
    sf_testing_close(&hops->testing);
    sf_counting_close(&hops->counting);
    sf_accelerator_close(&hops->accelerator);
    sf_connections_close(&hops->connections);
    sf_densities_close(&hops->densities);
    sf_predictions_close(&hops->predictions);
    sf_tracking_free(&hops->tracking);
    sf_tracking_free(&hops->next);
    sf_history_free(&hops->history);
    sf_free(hops->counts);
    sf_free(hops->unit_spikes);
    sf_free(hops->rates_hz);
    *hops = (sf_hops){0};
}

int sf_hops_feed(sf_hops *hops, const sf_spike *spikes, size_t count, int64_t arrival_ns, sf_error *error)
{
    if (count > 0) {
        hops->arrival_ns = arrival_ns;
        hops->last_ns = spikes[count - 1].time_ns;
    }
    return sf_history_append(&hops->history, spikes, count, error);
}

/* ---- one hop ---- */

static double seconds_of(sf_span span)
{
    return (double)(span.stop_ns - span.start_ns) * 1e-9;
}

/* Moves the per-unit spike counts and the history on to the window, at a cost of the spikes that come and go.
 */
static void slide_rates(sf_hops *hops, const sf_segment *segment)
{
    uint64_t begin = sf_history_find(&hops->history, segment->window.start_ns);
    const sf_spike *added = sf_history_view(&hops->history, hops->counted_end);
    for (uint64_t i = hops->counted_end; i < segment->end; i++)
        hops->unit_spikes[added[i - hops->counted_end].unit]++;
    const sf_spike *left = sf_history_view(&hops->history, hops->window_begin);
    for (uint64_t i = hops->window_begin; i < begin; i++)
        hops->unit_spikes[left[i - hops->window_begin].unit]--;
    hops->window = segment->window;
    hops->window_begin = begin;
    hops->counted_end = segment->end;
    double seconds = seconds_of(segment->window);
    for (size_t unit = 0; unit < hops->options.stream->units->count; unit++)
        hops->rates_hz[unit] = seconds > 0 ? (double)hops->unit_spikes[unit] / seconds : 0;
}

static int start_discovery(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    sf_discovery_window window = {.span = segment->window,
                                  .spikes = sf_history_view(&hops->history, hops->window_begin),
                                  .count = segment->end - hops->window_begin,
                                  .unit_spikes = hops->unit_spikes};
    int status = sf_accelerator_hold(&hops->accelerator, &hops->history, hops->window_begin, segment->end,
                                     &window.resident, error);
    return status == SF_OK ? sf_discovery_start(&hops->discovery, &window, error) : status;
}

/* What a discovery that is done wants tracked, unless what the last one wants is still being prepared. */
static int take_discovery(sf_hops *hops, sf_error *error)
{
    sf_episode *found;
    size_t found_count;
    bool ready;
    int status = sf_discovery_take(&hops->discovery, &ready, &found, &found_count, error);
    if (status != SF_OK || !ready)
        return status;
    hops->discovered = hops->discovery.how;
    status = sf_tracking_renew(&hops->next, &hops->tracking, found, found_count, hops->options.stream->units,
                               error);
    return status == SF_OK ? prepare(hops, error) : status;
}

/* Starts a discovery where one is due and takes up the result of one that is done, in steps of a share of the
 * hop. On a virtual clock hops have all the time they need. */
static int discover(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    const sf_live_options *config = hops->options.config;
    if (config->mine.every == 0)
        return SF_OK;
    bool due = (segment->hop + 1) % config->mine.every == 0;
    int status = SF_OK;
    if (due && sf_discovery_idle(&hops->discovery))
        status = start_discovery(hops, segment, error);
    if (status == SF_OK && !hops->preparing)
        status = take_discovery(hops, error);
    if (status != SF_OK || !hops->preparing)
        return status;
    int64_t share_ns = hops->stages.hop_ns / PREPARING_SHARE;
    return go_on_preparing(hops, hops->options.virtual_clock ? INT64_MAX : sf_clock_monotonic_ns() + share_ns,
                           error);
}

static sf_message *new_message(const sf_hops *hops, sf_topic topic, sf_span window)
{
    sf_message *message = sf_message_new(topic);
    if (message == NULL)
        return NULL;
    message->time_ns = window.stop_ns;
    message->arrival_ns = hops->arrival_ns;
    return message;
}

static int count_tracked(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    void *counts = hops->counts;
    if (sf_reserve(&counts, &hops->count_capacity, hops->tracking.count, sizeof *hops->counts) != 0)
        return sf_fail_memory(error);
    hops->counts = counts;
    sf_counting_window window = {.history = &hops->history,
                                 .first = hops->window_begin,
                                 .last = segment->end,
                                 .unit_spikes = hops->unit_spikes};
    return sf_counting_counts(&hops->counting, &window, hops->counts, error);
}

static int tell_episodes(const sf_hops *hops, const sf_segment *segment, sf_message **message,
                         sf_error *error)
{
    *message = new_message(hops, SF_TOPIC_EPISODES, segment->window);
    if (*message == NULL)
        return sf_fail_memory(error);
    sf_episodes_message *episodes = &(*message)->episodes;
    episodes->hop = segment->hop;
    episodes->window = segment->window;
    episodes->partial = segment->partial;
    episodes->spikes = segment->end - hops->window_begin;
    episodes->items = sf_alloc(hops->tracking.count, sizeof *episodes->items);
    if (episodes->items == NULL)
        return sf_fail_memory(error);
    episodes->count = hops->tracking.count;
    int64_t duration_ns = segment->window.stop_ns - segment->window.start_ns;
    for (size_t i = 0; i < episodes->count; i++) {
        const sf_tracked *tracked = &hops->tracking.items[i];
        sf_episode_count *item = &episodes->items[i];
        sf_verdict verdict = sf_testing_verdict(&hops->testing, &tracked->episode);
        *item = (sf_episode_count){.episode = tracked->episode,
                                   .p = verdict.p,
                                   .q = verdict.q,
                                   .p_age_s = sf_verdict_age_s(&verdict, segment->window.stop_ns),
                                   .tests = verdict.tests,
                                   .not_tested = verdict.not_tested};
        memcpy(item->id, tracked->id, sizeof item->id);
        item->count = hops->counts[i];
        item->expected = sf_expected_episode(&tracked->episode, hops->unit_spikes, duration_ns);
    }
    return SF_OK;
}

/* After what rules say of the window, which may be of episodes that are not told of. */
static void leave_out(const sf_hops *hops, sf_episodes_message *episodes)
{
    sf_left_out left_out = sf_testing_limits(hops->options.config);
    size_t kept = 0;
    for (size_t i = 0; i < episodes->count; i++) {
        const sf_episode_count *item = &episodes->items[i];
        if (sf_within_limits((sf_limits){left_out.max_p, left_out.max_q}, item->p, item->q))
            episodes->items[kept++] = *item;
        else
            left_out.untested += isnan(item->p) ? 1 : 0;
    }
    left_out.count = episodes->count - kept;
    episodes->count = kept;
    episodes->left_out = left_out;
}

static int connect(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    sf_message *message;
    uint64_t count = segment->end - hops->window_begin;
    sf_connections_window window = {.span = segment->window,
                                    .history = &hops->history,
                                    .first = hops->window_begin,
                                    .last = segment->end,
                                    .unit_spikes = hops->unit_spikes,
                                    .testing = &hops->testing,
                                    .threshold =
                                        sf_discovery_threshold(hops->options.config, segment->window, count)};
    int status = sf_connections_update(&hops->connections, &window, &message, error);
    if (message != NULL) {
        message->time_ns = message->graph.window.stop_ns;
        message->arrival_ns = hops->arrival_ns;
    }
    sf_publish(hops->options.publisher, message);
    return status;
}

static void publish_density(void *user, sf_message *message)
{
    sf_hops *hops = user;
    message->time_ns = hops->window.stop_ns;
    message->arrival_ns = hops->arrival_ns;
    sf_publish(hops->options.publisher, message);
}

static int follow_densities(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    int64_t since_ns = segment->hop > 0 ? hops->shown_stop_ns : segment->window.start_ns;
    sf_window_change change = {.entered = sf_history_view(&hops->history, hops->shown_end),
                               .entered_count = segment->end - hops->shown_end,
                               .hop = {since_ns, segment->window.stop_ns},
                               .hop_ns = hops->stages.hop_ns,
                               .window_start_ns = segment->window.start_ns};
    hops->shown_end = segment->end;
    hops->shown_stop_ns = segment->window.stop_ns;
    int status = sf_densities_slide(&hops->densities, &change, error);
    return status == SF_OK
               ? sf_densities_tell(&hops->densities, segment->window, publish_density, hops, error)
               : status;
}

static void tell_device(const sf_hops *hops, sf_status_message *status)
{
    const sf_discovered *newest = &hops->discovered;
    memcpy(status->device_note, newest->device_note, sizeof status->device_note);
    sf_accelerator_status(&hops->accelerator, status);
    snprintf(status->counting_device, sizeof status->counting_device, "%s",
             sf_counting_device(&hops->counting));
    memcpy(status->discovery_device, newest->device, sizeof status->discovery_device);
    status->discovery_ms = newest->device[0] != '\0' ? newest->seconds * 1e3 : NAN;
}

static void tell_testing(const sf_hops *hops, sf_status_message *status)
{
    const sf_testing_status *testing = &hops->testing.status;
    status->tested = testing->tested;
    status->tests = testing->tests;
    status->tests_missed = testing->missed;
    status->test_ms = testing->tests > 0 ? testing->seconds * 1e3 : NAN;
    status->test_share = testing->tests > 0 ? testing->share : NAN;
    status->not_tested = testing->not_tested;
}

static int publish_status(sf_hops *hops, bool last, sf_error *error)
{
    size_t unit_count = hops->options.stream->units->count;
    sf_message *message = new_message(hops, SF_TOPIC_STATUS, hops->window);
    double *rates = sf_alloc(unit_count, sizeof *rates);
    if (message == NULL || rates == NULL) {
        sf_message_release(message);
        sf_free(rates);
        return sf_fail_memory(error);
    }
    memcpy(rates, hops->rates_hz, unit_count * sizeof *rates);
    sf_status_message *status = &message->status;
    double seconds = seconds_of(hops->window);
    status->unit_rates_hz = rates;
    status->unit_count = unit_count;
    status->spikes = hops->history.end;
    status->rate_hz = seconds > 0 ? (double)(hops->counted_end - hops->window_begin) / seconds : 0;
    status->tracked = hops->tracking.count;
    status->edges = hops->connections.snapshot.count;
    status->last = last;
    tell_device(hops, status);
    tell_testing(hops, status);
    memcpy(status->stages, hops->stages.status, sizeof hops->stages.status);
    status->stage_count = SF_STAGES;
    hops->tell_due_ns = sf_clock_monotonic_ns() + STATUS_EVERY_NS + STATUS_EVERY_NS / 4;
    int result = hops->options.complete_status(hops->options.user, status, error);
    if (result == SF_OK)
        sf_publish(hops->options.publisher, message);
    else
        sf_message_release(message);
    return result;
}

static int discover_timed(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    int64_t began = sf_stage_begin();
    int status = discover(hops, segment, error);
    sf_stage_end(&hops->stages, SF_STAGE_DISCOVER, began);
    return status;
}

/* The counts go out first: the graph takes longer. */
static int publish_counts(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    sf_message *episodes = NULL;
    int64_t began = sf_stage_begin();
    int status = tell_episodes(hops, segment, &episodes, error);
    if (status == SF_OK)
        status = sf_predictions_tell(&hops->predictions, &episodes->episodes, error);
    if (status != SF_OK) {
        sf_message_release(episodes);
        return status;
    }
    leave_out(hops, &episodes->episodes);
    sf_publish(hops->options.publisher, episodes);
    sf_stage_end(&hops->stages, SF_STAGE_PUBLISH, began);

    began = sf_stage_begin();
    status = connect(hops, segment, error);
    sf_stage_end(&hops->stages, SF_STAGE_GRAPH, began);
    return status;
}

/* A window closes with this segment, which was taken in in taken_ns. On a virtual clock what a discovery
 * finds in a window is counted in that window; live, nothing that discovery needs holds up the counts. */
static int publish_window(sf_hops *hops, const sf_segment *segment, int64_t taken_ns, sf_error *error)
{
    bool discovers_first = hops->options.virtual_clock;
    int status = discovers_first ? discover_timed(hops, segment, error) : SF_OK;
    uint64_t breaks = hops->options.breaks != NULL ? hops->options.breaks(hops->options.user) : 0;
    int64_t began = sf_stage_begin();
    if (status == SF_OK)
        status = sf_testing_advance(&hops->testing, segment, &hops->history, &hops->tracking, breaks, error);
    sf_stage_end(&hops->stages, SF_STAGE_TEST, began);
    began = sf_stage_begin() - taken_ns;
    if (status == SF_OK)
        status = count_tracked(hops, segment, error);
    sf_stage_end(&hops->stages, SF_STAGE_COUNT, began);
    if (status == SF_OK)
        status = publish_counts(hops, segment, error);

    began = sf_stage_begin();
    if (status == SF_OK)
        status = follow_densities(hops, segment, error);
    sf_stage_end(&hops->stages, SF_STAGE_DENSITY, began);
    if (status == SF_OK && !discovers_first)
        status = discover_timed(hops, segment, error);
    if (status == SF_OK)
        status = sf_testing_begin(&hops->testing, segment, &hops->tracking, &hops->connections.snapshot,
                                  breaks, error);
    return status == SF_OK ? publish_status(hops, false, error) : status;
}

static int take_segment(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    int64_t began = sf_stage_begin();
    int status = sf_accelerator_append(&hops->accelerator, &hops->history, error);
    if (status == SF_OK)
        status = sf_counting_push(&hops->counting, segment, &hops->history, error);
    if (status != SF_OK || !segment->closes)
        return status;
    slide_rates(hops, segment);
    status = publish_window(hops, segment, sf_stage_begin() - began, error);
    sf_stage_end(&hops->stages, SF_STAGE_HOP, began);
    sf_history_drop_before(&hops->history, hops->window_begin);
    return status;
}

/* A silence such as a recording may hold, or a live source that stepped ahead. */
static void pass_silence(sf_hops *hops, int64_t watermark_ns)
{
    int64_t silence_ns = sf_seconds_to_ns(hops->options.config->window.silence_s);
    uint64_t windows = sf_cutter_skip(&hops->cutter, &hops->history, watermark_ns, silence_ns);
    if (windows > 0)
        sf_log(SF_LOG_WARNING, "no spike for more than %g s: %" PRIu64 " empty windows are left out",
               hops->options.config->window.silence_s, windows);
}

int sf_hops_advance(sf_hops *hops, int64_t watermark_ns, sf_error *error)
{
    sf_segment segment;
    pass_silence(hops, watermark_ns);
    while (sf_cutter_next(&hops->cutter, &hops->history, watermark_ns, &segment)) {
        int status = take_segment(hops, &segment, error);
        if (status != SF_OK)
            return status;
        pass_silence(hops, watermark_ns);
    }
    return SF_OK;
}

int sf_hops_tell_status(sf_hops *hops, sf_error *error)
{
    int status = publish_status(hops, false, error);
    hops->tell_due_ns -= STATUS_EVERY_NS / 4; /* that was to let a hop a second come first */
    return status;
}

int sf_hops_finish(sf_hops *hops, sf_error *error)
{
    int status = SF_OK;
    if (hops->history.end > 0) {
        int64_t stop_ns = hops->last_ns + 1;
        sf_segment segment;
        status = sf_hops_advance(hops, stop_ns, error);
        if (status == SF_OK && sf_cutter_finish(&hops->cutter, &hops->history, stop_ns, &segment))
            status = take_segment(hops, &segment, error);
    }
    return status == SF_OK ? publish_status(hops, true, error) : status;
}
