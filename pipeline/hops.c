/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/hops.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/spare.h"

#include <inttypes.h>
#include <string.h>

#define STATUS_EVERY_NS SF_SECOND

/* The stages are in an order that begins with these two. */
enum { FEED, TAKE };

/* Tracked episodes that are worth a team, and its threads. */
enum { TEAM_FROM = 8192, TEAM_MOST = 16 };

/* ---- opening and closing ---- */

static void list_model(sf_hops *hops)
{
    void *const model[SF_HOP_ELEMENTS] = {
        [SF_HOP_QUEUE] = &hops->queue,
        [SF_HOP_SOURCES] = &hops->options.sources,
        [SF_HOP_HISTORY] = &hops->history,
        [SF_HOP_DEVICE] = &hops->device,
        [SF_HOP_SUMMARIES] = &hops->summaries,
        [SF_HOP_WINDOW] = &hops->window,
        [SF_HOP_RATES] = &hops->rates,
        [SF_HOP_PAIRS] = &hops->pairs,
        [SF_HOP_TRACKED] = &hops->tracked,
        [SF_HOP_COUNTS] = &hops->counts,
        [SF_HOP_FOUND] = &hops->found,
        [SF_HOP_TESTS] = &hops->tests,
        [SF_HOP_RULES] = &hops->rules,
        [SF_HOP_GRAPH] = &hops->graph,
        [SF_HOP_DENSITIES] = &hops->densities,
        [SF_HOP_TRIGGERS] = &hops->options.triggers,
        [SF_HOP_SINKS] = hops->options.publisher,
    };
    memcpy(hops->model, model, sizeof model);
}

/* Whether a device may do the work of a stage. */
static bool is_apart(const sf_hops *hops, const sf_stage *stage)
{
    return hops->schedule.apart[sf_schedule_find(&hops->schedule, stage)];
}

static int track_pinned(sf_hops *hops, sf_error *error)
{
    const sf_live_options *config = hops->options.config;
    const sf_units *units = hops->options.stream->units;
    int status = sf_tracking_pin(&hops->tracked.next, config, units, error);
    if (status == SF_OK)
        status = sf_predictions_open(&hops->rules, config, units, &hops->tracked.next, error);
    if (status == SF_OK) status = sf_tracked_prepare(&hops->tracked, &hops->summaries, &hops->history, error);
    return status == SF_OK
               ? sf_tracked_go_on(&hops->tracked, &hops->summaries, &hops->history, INT64_MAX, error)
               : status;
}

static int open_counting(sf_hops *hops, sf_error *error)
{
    const sf_live_options *config = hops->options.config;
    int status = sf_accelerator_open(&hops->device, config, error);
    sf_device *device = is_apart(hops, &sf_stage_count) ? hops->device.device : NULL;
    if (status == SF_OK && device != NULL && !hops->options.virtual_clock)
        status = sf_counting_warm_up(config, device, error);
    if (status == SF_OK)
        status =
            sf_counting_open(&hops->summaries, config, device, hops->options.stream->units->count, error);
    return status == SF_OK ? track_pinned(hops, error) : status;
}

static int open_discovery(sf_hops *hops, sf_error *error)
{
    const sf_hops_options *options = &hops->options;
    bool apart = is_apart(hops, &sf_stage_mine);
    const sf_discovery_setup setup = {.config = options->config,
                                      .units = options->stream->units,
                                      .device = apart ? options->config->device : "cpu",
                                      .there = apart ? hops->device.device : NULL,
                                      .pinned = &hops->tracked.now,
                                      .inside = options->virtual_clock};
    return sf_discovery_open(&hops->found, &setup, error);
}

static int open_pairs(sf_hops *hops, sf_error *error)
{
    const sf_live_options *config = hops->options.config;
    const sf_pairing_setup setup = {.unit_count = hops->options.stream->units->count,
                                    .delays = hops->found.delays,
                                    .delay_count = hops->found.delay_count,
                                    .self = config->mine.repeats,
                                    .most = SF_PAIRING_MOST,
                                    .threads = 1, /* of those that share a hop */
                                    .device = is_apart(hops, &sf_stage_pairs) ? hops->device.device : NULL,
                                    .always = strcmp(config->device, "auto") != 0};
    bool wanted = config->graph.enabled && config->graph.metric == SF_LIVE_EPISODES;
    return wanted ? sf_pairing_open(&hops->pairs, &setup, error) : SF_OK;
}

static int open_tests(sf_hops *hops, sf_error *error)
{
    const sf_live_options *config = hops->options.config;
    const sf_testing_setup setup = {.config = config,
                                    .units = hops->options.stream->units,
                                    .observed = hops->options.observed,
                                    .observed_count = hops->options.observed_count,
                                    .pinned = &hops->tracked.now,
                                    .inside = hops->options.virtual_clock,
                                    .waits = hops->options.waits,
                                    .device = is_apart(hops, &sf_stage_test) ? config->device : "cpu",
                                    .board = hops->options.board};
    return sf_testing_open(&hops->tests, &setup, error);
}

/* Bandwidths computed on a device differ in their last digits. On a virtual clock, where messages must be the
 * same in every run, measured times must not decide who draws. */
static int open_densities(sf_hops *hops, sf_error *error)
{
    const sf_hops_options *options = &hops->options;
    bool any = strcmp(options->config->device, "auto") == 0;
    bool may = is_apart(hops, &sf_stage_density) && !(any && options->virtual_clock);
    const sf_densities_setup setup = {.config = options->config,
                                      .units = options->stream->units,
                                      .observed = options->observed,
                                      .observed_count = options->observed_count,
                                      .device = may ? hops->device.device : NULL,
                                      .always = !any};
    return sf_densities_open(&hops->densities, &setup, error);
}

static int open_elements(sf_hops *hops, sf_error *error)
{
    const sf_hops_options *options = &hops->options;
    const sf_live_options *config = options->config;
    const sf_units *units = options->stream->units;
    int status = open_counting(hops, error);
    if (status == SF_OK) status = open_discovery(hops, error);
    if (status == SF_OK) status = open_pairs(hops, error);
    if (status == SF_OK)
        status = sf_connections_open(&hops->graph, config, units, hops->found.delays,
                                     is_apart(hops, &sf_stage_graph) ? hops->device.device : NULL,
                                     options->virtual_clock, error);
    if (status == SF_OK) status = open_tests(hops, error);
    if (status == SF_OK) status = open_densities(hops, error);
    if (status != SF_OK) return status;
    hops->rates.observed = options->observed;
    hops->rates.observed_count = options->observed_count;
    hops->rates.spikes = sf_alloc(units->count, sizeof *hops->rates.spikes);
    hops->rates.hz = sf_alloc(units->count, sizeof *hops->rates.hz);
    hops->rates.so_far = sf_alloc(units->count, sizeof *hops->rates.so_far);
    bool whole = hops->rates.spikes != NULL && hops->rates.hz != NULL && hops->rates.so_far != NULL;
    return whole ? SF_OK : sf_fail_memory(error);
}

static int open_runner(sf_hops *hops, sf_error *error)
{
    const sf_hops_options *options = &hops->options;
    int status = sf_schedule_derive(&hops->schedule, sf_hop_stages(options->virtual_clock),
                                    options->config->schedule == SF_LIVE_SEQUENTIAL, error);
    if (status == SF_OK)
        status = sf_runner_open(&hops->runner, &hops->schedule, options->publisher, &hops->times,
                                options->config->mine.threads, error);
    if (options->worth_ns != 0) hops->runner.worth_ns = options->worth_ns;
    return status;
}

int sf_hops_open(sf_hops *hops, const sf_hops_options *options, sf_error *error)
{
    int64_t window_ns = sf_seconds_to_ns(options->config->window.length_s),
            hop_ns = sf_seconds_to_ns(options->config->window.hop_s);
    *hops = (sf_hops){.options = *options, .keeps_memory = true, .history.span_ns = window_ns};
    sf_spare_begin();
    list_model(hops);
    sf_times_open(&hops->times, hop_ns);
    int status = sf_cutter_open(&hops->cutter, INT64_MIN, window_ns, hop_ns, error);
    if (status == SF_OK) status = open_runner(hops, error);
    if (status == SF_OK) status = open_elements(hops, error);
    if (status != SF_OK) sf_hops_close(hops);
    return status;
}

void sf_hops_close(sf_hops *hops)
{
    sf_discovery_close(&hops->found);
    sf_testing_close(&hops->tests);
    sf_counting_close(&hops->summaries);
    sf_pairing_close(&hops->pairs);
    sf_accelerator_close(&hops->device);
    sf_connections_close(&hops->graph);
    sf_densities_close(&hops->densities);
    sf_predictions_close(&hops->rules);
    sf_tracking_free(&hops->tracked.now);
    sf_tracking_free(&hops->tracked.next);
    sf_history_free(&hops->history);
    sf_free(hops->counts.items);
    sf_free(hops->rates.spikes);
    sf_free(hops->rates.hz);
    sf_free(hops->rates.so_far);
    sf_runner_close(&hops->runner);
    sf_team_close(hops->team);
    if (hops->keeps_memory) sf_spare_end();
    *hops = (sf_hops){0};
}

/* ---- running stages ---- */

/* NULL: too few episodes are tracked for threads to be worth waking, or no memory. */
static sf_team *team_of(sf_hops *hops)
{
    unsigned threads = hops->options.config->mine.threads;
    if (hops->team != NULL || hops->tracked.now.count < TEAM_FROM) return hops->team;
    if (threads == 0) threads = sf_thread_cores();
    if (threads > 1) sf_team_open(&hops->team, threads < TEAM_MOST ? threads : TEAM_MOST, NULL);
    return hops->team;
}

/* Stages first .. end - 1; `segment` as in sf_hop. */
static int run(sf_hops *hops, size_t first, size_t end, const sf_segment *segment, bool last, sf_error *error)
{
    const sf_hop call = {.config = hops->options.config,
                         .units = hops->options.stream->units,
                         .virtual_clock = hops->options.virtual_clock,
                         .segment = segment,
                         .arrival_ns = hops->arrival_ns,
                         .last = last,
                         .times = &hops->times,
                         .model = hops->model,
                         .recorder = hops->options.recorder,
                         .team = team_of(hops)};
    return sf_runner_run(&hops->runner, &call, first, end, error);
}

static int report(sf_hops *hops, bool last, sf_error *error)
{
    size_t stage = sf_schedule_find(&hops->schedule, &sf_stage_report);
    return run(hops, stage, stage + 1, NULL, last, error);
}

int sf_hops_feed(sf_hops *hops, const sf_spike *spikes, size_t count, int64_t arrival_ns, sf_error *error)
{
    if (count > 0) {
        hops->arrival_ns = arrival_ns;
        hops->last_ns = spikes[count - 1].time_ns;
    }
    hops->queue = (sf_hop_batch){spikes, count};
    return run(hops, FEED, FEED + 1, NULL, false, error);
}

static void put_off_status(sf_hops *hops, int64_t by_ns)
{
    hops->tell_due_ns = sf_clock_monotonic_ns() + STATUS_EVERY_NS + by_ns;
}

/* Half of what hops are apart is left to what comes next, so that a stream that is played faster than its
 * hops can be is not held up. */
static void begin_hop(sf_hops *hops, int64_t now_ns)
{
    int64_t apart_ns = hops->began_ns == 0 ? 0 : now_ns - hops->began_ns;
    if (apart_ns > hops->times.hop_ns) apart_ns = hops->times.hop_ns;
    hops->began_ns = now_ns;
    hops->rest_ns = now_ns + apart_ns / 2;
}

static int take_segment(sf_hops *hops, const sf_segment *segment, sf_error *error)
{
    int64_t began_ns = sf_clock_monotonic_ns();
    sf_times_begin(&hops->times);
    if (!segment->closes) return run(hops, TAKE, TAKE + 1, segment, false, error);
    begin_hop(hops, began_ns);
    sf_device *device = hops->device.device;
    sf_device_reserve(device);
    int status = run(hops, TAKE, hops->schedule.count, segment, false, error);
    sf_device_unreserve(device);
    sf_times_add(&hops->times, SF_PART_HOP, sf_clock_monotonic_ns() - began_ns);
    put_off_status(hops, STATUS_EVERY_NS / 4); /* lets a hop a second come first */
    return status;
}

/* Skips a long silence, as in a recording, or time that a live source's clock stepped over. */
static void pass_silence(sf_hops *hops, int64_t watermark_ns)
{
    int64_t silence_ns = sf_seconds_to_ns(hops->options.config->window.silence_s);
    bool stepped = hops->cutter.last_cut_ns < hops->leapt_ns;
    if (stepped && (silence_ns == 0 || silence_ns > SF_SECOND)) silence_ns = SF_SECOND;
    uint64_t windows = sf_cutter_skip(&hops->cutter, &hops->history, watermark_ns, silence_ns);
    if (windows > 0)
        sf_log(SF_LOG_WARNING, "%s more than %g s: %" PRIu64 " empty windows are left out",
               stepped ? "a clock stepped over" : "no spike for", (double)silence_ns * 1e-9, windows);
}

int sf_hops_advance(sf_hops *hops, int64_t watermark_ns, sf_error *error)
{
    sf_segment segment;
    pass_silence(hops, watermark_ns);
    while (sf_cutter_next(&hops->cutter, &hops->history, watermark_ns, &segment)) {
        int status = take_segment(hops, &segment, error);
        if (status != SF_OK) return status;
        pass_silence(hops, watermark_ns);
    }
    return SF_OK;
}

int sf_hops_tell_status(sf_hops *hops, sf_error *error)
{
    put_off_status(hops, 0);
    return report(hops, false, error);
}

int sf_hops_go_on(sf_hops *hops, bool *went_on, sf_error *error)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    *went_on = !hops->options.virtual_clock && hops->tracked.preparing && now_ns < hops->rest_ns;
    if (!*went_on) return SF_OK;
    hops->tracked.went_on = true;
    return sf_tracked_go_on(&hops->tracked, &hops->summaries, &hops->history,
                            now_ns + hops->times.hop_ns / SF_PREPARING_SHARE, error);
}

int sf_hops_finish(sf_hops *hops, sf_error *error)
{
    int status = SF_OK;
    if (hops->history.end > 0) {
        int64_t stop_ns = hops->last_ns + 1;
        sf_segment segment;
        status = sf_hops_advance(hops, stop_ns, error);
        hops->tests.ended = true;
        if (status == SF_OK && sf_cutter_finish(&hops->cutter, &hops->history, stop_ns, &segment))
            status = take_segment(hops, &segment, error);
    }
    return status == SF_OK ? report(hops, true, error) : status;
}
