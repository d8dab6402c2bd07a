/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/counting.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"

#include <string.h>

/* Time per hop that the device may spend to summarise the window it is compared by. */
#define TRIAL_NS INT64_C(5000000)

/* ---- lists ---- */

int sf_counted_make(sf_counted *counted, sf_episode *episodes, size_t count, bool there, sf_error *error)
{
    *counted = (sf_counted){.episodes = episodes, .count = count};
    int status = there ? sf_track_list_make(&counted->list, episodes, count, error) : SF_OK;
    counted->has_list = there && status == SF_OK;
    if (status == SF_NO_MEMORY) sf_counted_free(counted);
    return status == SF_NO_MEMORY ? status : SF_OK; /* what is too much for a device it will refuse */
}

void sf_counted_free(sf_counted *counted)
{
    sf_free(counted->episodes);
    sf_track_list_free(&counted->list);
    *counted = (sf_counted){0};
}

/* A device takes the list; where it was not made ahead, it is now. */
static int hand_over(sf_tracks *tracks, sf_counted *counted, sf_error *error)
{
    int status = counted->has_list
                     ? SF_OK
                     : sf_track_list_make(&counted->list, counted->episodes, counted->count, error);
    if (status == SF_OK) status = sf_tracks_prepare(tracks, &counted->list, error);
    counted->has_list = false;
    return status;
}

/* ---- who counts ---- */

static void end_trial(sf_counting *counting)
{
    sf_tracks_close(counting->tracks);
    counting->tracks = NULL;
    counting->trial_ns = 0;
    counting->contest.patience = SF_CONTEST_PATIENCE;
}

/* From now on the CPU counts alone. */
static void leave_device(sf_counting *counting)
{
    end_trial(counting);
    sf_resident_close(counting->resident);
    counting->resident = NULL;
    counting->device = NULL;
    counting->on_device = counting->next_there = false;
}

static int open_device(sf_counting *counting, bool always, sf_error *error)
{
    int status = sf_resident_open(&counting->resident, counting->device, error);
    if (status == SF_OK && always)
        status = sf_tracks_open(&counting->tracks, counting->resident, counting->unit_count,
                                sf_tracker_segments(counting->tracker), error);
    counting->on_device = status == SF_OK && always;
    if (counting->on_device) sf_tracker_rest(counting->tracker);
    if (status != SF_UNAVAILABLE) return status;
    leave_device(counting);
    return SF_OK;
}

int sf_counting_open(sf_counting *counting, const sf_live_options *config, sf_device *device,
                     size_t unit_count, sf_error *error)
{
    *counting = (sf_counting){.unit_count = unit_count, .device = device, .sure = SF_COUNTING_SURE};
    sf_contest_begin(&counting->contest, 0);
    int status =
        sf_tracker_open(&counting->tracker, unit_count, sf_seconds_to_ns(config->window.length_s), error);
    if (status == SF_OK && device != NULL)
        status = open_device(counting, strcmp(config->device, "auto") != 0, error);
    if (status != SF_OK) sf_counting_close(counting);
    return status;
}

void sf_counting_close(sf_counting *counting)
{
    sf_counted_free(&counting->present);
    sf_counted_free(&counting->next);
    sf_tracks_close(counting->tracks);
    sf_resident_close(counting->resident);
    sf_tracker_close(counting->tracker);
    *counting = (sf_counting){0};
}

const char *sf_counting_device(const sf_counting *counting)
{
    return sf_device_name(counting->on_device ? counting->device : NULL);
}

/* ---- a device that leaves ---- */

static int prepare_here(sf_counting *counting, sf_error *error)
{
    return sf_tracker_prepare(counting->tracker, counting->next.episodes, counting->next.count, error);
}

/* The CPU takes over from the device and counts again from the spikes, because it has kept no summaries. */
static int count_instead(sf_counting *counting, const sf_history *history, sf_error *error)
{
    int status = sf_tracker_wake(counting->tracker, history, error);
    return status == SF_OK
               ? sf_tracker_set(counting->tracker, counting->present.episodes, counting->present.count, error)
               : status;
}

/* Handles the result of a device job: if the device failed, the CPU takes over and computes all summaries
 * that it lacks. */
static int answer(sf_counting *counting, int status, const sf_error *reason, const sf_history *history,
                  sf_error *error)
{
    if (status != SF_OK && status != SF_UNAVAILABLE && error != NULL) *error = *reason;
    if (status != SF_UNAVAILABLE) return status;
    bool counted = counting->on_device, prepared = counting->preparing && counting->next_there;
    if (counted || prepared) sf_log(SF_LOG_INFO, "the CPU counts from now on: %s", reason->text);
    leave_device(counting);
    status = counted ? count_instead(counting, history, error) : SF_OK;
    return status == SF_OK && prepared ? prepare_here(counting, error) : status;
}

/* ---- which episodes ---- */

static int open_tracks(sf_counting *counting, sf_error *error)
{
    return sf_tracks_open(&counting->tracks, counting->resident, counting->unit_count,
                          sf_tracker_segments(counting->tracker), error);
}

/* A list that the CPU would take seconds to take up is the device's, while the CPU counts the present one. */
static int prepare_there(sf_counting *counting, sf_error *error)
{
    int status = counting->tracks != NULL ? SF_OK : open_tracks(counting, error);
    return status == SF_OK ? hand_over(counting->tracks, &counting->next, error) : status;
}

int sf_counting_prepare(sf_counting *counting, sf_counted *next, const sf_history *history, sf_error *error)
{
    sf_error reason;
    sf_counted_free(&counting->next);
    counting->preparing = false;
    counting->next = *next;
    *next = (sf_counted){0};
    if (!counting->on_device && counting->tracks != NULL) end_trial(counting);
    counting->next_there =
        counting->on_device || (counting->device != NULL && counting->next.count >= counting->sure);
    int status = counting->next_there
                     ? answer(counting, prepare_there(counting, &reason), &reason, history, error)
                     : SF_OK;
    if (status == SF_OK && !counting->next_there) status = prepare_here(counting, error);
    counting->preparing = status == SF_OK;
    return status;
}

/* The device has the whole list: the CPU counts no longer. */
static void change_over(sf_counting *counting)
{
    counting->on_device = true;
    sf_tracker_rest(counting->tracker);
}

static int prepare_some(sf_counting *counting, const sf_history *history, int64_t until_ns, bool *ready,
                        sf_error *error)
{
    sf_error reason;
    int status = SF_OK;
    if (counting->next_there)
        status = answer(counting, sf_tracks_go_on(counting->tracks, history, until_ns, ready, &reason),
                        &reason, history, error);
    if (status == SF_OK && !counting->next_there)
        return sf_tracker_go_on(counting->tracker, until_ns, ready, error);
    if (status == SF_OK && *ready && !counting->on_device) change_over(counting);
    return status;
}

int sf_counting_go_on(sf_counting *counting, const sf_history *history, int64_t until_ns, bool *ready,
                      sf_error *error)
{
    *ready = false;
    if (!counting->preparing) return SF_OK;
    int status = prepare_some(counting, history, until_ns, ready, error);
    if (status != SF_OK || !*ready) return status;
    sf_counted_free(&counting->present);
    counting->present = counting->next;
    counting->next = (sf_counted){0};
    counting->preparing = false;
    return SF_OK;
}

/* ---- counting ---- */

static int push_here(sf_counting *counting, const sf_segment *segment, const sf_history *history,
                     sf_error *error)
{
    int64_t began_ns = sf_clock_monotonic_ns();
    int status = sf_tracker_push(counting->tracker, segment, sf_history_view(history, segment->begin), error);
    if (status == SF_OK && segment->closes)
        status = sf_tracker_drop_before(counting->tracker, segment->window.start_ns, error);
    counting->contest.here_ns = sf_clock_monotonic_ns() - began_ns;
    return status;
}

int sf_counting_push(sf_counting *counting, const sf_segment *segment, const sf_history *history,
                     sf_error *error)
{
    sf_error reason;
    int status = push_here(counting, segment, history, error);
    if (status != SF_OK || counting->tracks == NULL) return status;
    status = answer(counting, sf_tracks_push(counting->tracks, segment, history, &reason), &reason, history,
                    error);
    if (status == SF_OK && counting->tracks != NULL && segment->closes)
        sf_tracks_drop_before(counting->tracks, segment->window.start_ns);
    return status;
}

static void count_here(const sf_counting *counting, uint64_t *counts)
{
    for (size_t i = 0; i < counting->present.count; i++)
        counts[i] = sf_tracker_count(counting->tracker, i);
}

/* Summarises the window on the device, some of it each hop. */
static int try_device(sf_counting *counting, const sf_history *history, bool *ready, sf_error *error)
{
    int64_t began_ns = sf_clock_monotonic_ns();
    int status = SF_OK;
    *ready = false;
    if (counting->tracks == NULL) {
        status = open_tracks(counting, error);
        if (status == SF_OK) status = hand_over(counting->tracks, &counting->present, error);
    }
    if (status == SF_OK)
        status = sf_tracks_go_on(counting->tracks, history, began_ns + TRIAL_NS, ready, error);
    counting->trial_ns += sf_clock_monotonic_ns() - began_ns;
    return status;
}

/* Measures a hop on the device: summarising one segment, estimated from those of the window, and counting. */
static int compare(sf_counting *counting, uint64_t *counts, sf_error *error)
{
    int64_t began_ns = sf_clock_monotonic_ns();
    int status = sf_tracks_counts(counting->tracks, counts, error);
    int64_t device_ns =
        sf_clock_monotonic_ns() - began_ns +
        counting->trial_ns / (int64_t)sf_tracks_segments(counting->tracks); /* of a window: one at least */
    if (status != SF_OK) return status;
    if (!sf_contest_won(&counting->contest, device_ns)) {
        end_trial(counting);
        return SF_OK;
    }
    change_over(counting);
    return SF_OK;
}

int sf_counting_counts(sf_counting *counting, const sf_history *history, uint64_t *counts, sf_error *error)
{
    sf_error reason;
    bool ready;
    if (counting->on_device) {
        int status =
            answer(counting, sf_tracks_counts(counting->tracks, counts, &reason), &reason, history, error);
        if (status != SF_OK || counting->on_device) return status;
    }
    count_here(counting, counts);
    bool is_due = sf_contest_due(&counting->contest) && counting->present.count > 0;
    if (counting->device == NULL || counting->preparing || (counting->tracks == NULL && !is_due))
        return SF_OK;
    int status = try_device(counting, history, &ready, &reason);
    if (status == SF_OK && ready) status = compare(counting, counts, &reason);
    return answer(counting, status, &reason, history, error);
}

/* ---- the first time ---- */

static int list_interval(sf_counted *list, sf_error *error)
{
    sf_episode *episode = sf_alloc(1, sizeof *episode);
    if (episode == NULL) return sf_fail_memory(error);
    *episode = (sf_episode){.size = 2, .delays = {{0, 1}}};
    return sf_counted_make(list, episode, 1, true, error);
}

/* An interval of a unit, in a window of hops that are a spike each. */
static int count_made_up(sf_counting *counting, const sf_spike *spikes, size_t count, sf_error *error)
{
    sf_history history = {0};
    sf_counted list = {0};
    uint64_t counts[1];
    bool ready;
    int status = sf_history_append(&history, spikes, count, error);
    if (status == SF_OK) status = list_interval(&list, error);
    if (status == SF_OK) status = sf_counting_prepare(counting, &list, &history, error);
    if (status == SF_OK) status = sf_counting_go_on(counting, &history, INT64_MAX, &ready, error);
    for (uint64_t i = 0; status == SF_OK && i < count; i++) {
        sf_segment segment = {.begin = i, .end = i + 1, .span = {spikes[i].time_ns, spikes[i].time_ns + 1}};
        status = sf_counting_push(counting, &segment, &history, error);
    }
    if (status == SF_OK) status = sf_counting_counts(counting, &history, counts, error);
    sf_counted_free(&list);
    sf_history_free(&history);
    return status;
}

int sf_counting_warm_up(const sf_live_options *config, sf_device *device, sf_error *error)
{
    static const sf_spike spikes[] = {{.time_ns = 0}, {.time_ns = 1}, {.time_ns = 2}, {.time_ns = 3}};
    sf_live_options named = *config;
    sf_counting counting;
    named.device = sf_device_name(device);
    int status = sf_counting_open(&counting, &named, device, 1, error);
    if (status != SF_OK) return status;
    status = count_made_up(&counting, spikes, sizeof spikes / sizeof *spikes, error);
    sf_counting_close(&counting);
    return status;
}
