/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/counting.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"

#include <string.h>

static void free_counted(sf_counted *counted)
{
    sf_counter_close(counted->counter);
    sf_free(counted->episodes);
    *counted = (sf_counted){0};
}

/* From now on the CPU counts alone. */
static void leave_device(sf_counting *counting)
{
    sf_counter_close(counting->present.counter);
    sf_counter_close(counting->next.counter);
    counting->present.counter = counting->next.counter = NULL;
    sf_resident_close(counting->resident);
    counting->resident = NULL;
    counting->device = NULL;
}

int sf_counting_open(sf_counting *counting, const sf_live_options *config, sf_device *device,
                     size_t unit_count, sf_error *error)
{
    *counting = (sf_counting){.unit_count = unit_count,
                              .device = device,
                              .always = strcmp(config->device, "auto") != 0,
                              .patience = SF_COUNTING_PATIENCE};
    int status = sf_tracker_open(&counting->tracker, unit_count, error);
    if (status == SF_OK && device != NULL)
        status = sf_resident_open(&counting->resident, device, error);
    if (status == SF_UNAVAILABLE) {
        leave_device(counting);
        status = SF_OK;
    }
    if (status != SF_OK)
        sf_counting_close(counting);
    return status;
}

void sf_counting_close(sf_counting *counting)
{
    free_counted(&counting->present);
    free_counted(&counting->next);
    sf_resident_close(counting->resident);
    sf_tracker_close(counting->tracker);
    *counting = (sf_counting){0};
}

const char *sf_counting_device(const sf_counting *counting)
{
    return sf_device_name(counting->present.counter != NULL ? counting->device : NULL);
}

/* ---- which episodes ---- */

/* A device that has never counted begins with the first list where it is named, else when it has won. */
static bool device_counts(const sf_counting *counting)
{
    return counting->device != NULL && (counting->present.counter != NULL || counting->always);
}

static int open_counter(sf_counting *counting, sf_counted *counted, sf_error *error)
{
    return sf_counter_open_resident(&counted->counter, counting->resident, counting->unit_count,
                                    counted->episodes, counted->count, error);
}

/* The CPU takes over, with every summary that it lacks. */
static int take_over(sf_counting *counting, sf_error *error)
{
    leave_device(counting);
    int status =
        sf_tracker_set(counting->tracker, counting->present.episodes, counting->present.count, error);
    if (status == SF_OK && counting->preparing)
        status = sf_tracker_prepare(counting->tracker, counting->next.episodes, counting->next.count, error);
    return status;
}

int sf_counting_prepare(sf_counting *counting, const sf_episode *episodes, size_t count, sf_error *error)
{
    free_counted(&counting->next);
    counting->preparing = false;
    counting->next.episodes = sf_resize(NULL, count, sizeof *episodes);
    if (counting->next.episodes == NULL)
        return sf_fail_memory(error);
    if (count > 0)
        memcpy(counting->next.episodes, episodes, count * sizeof *episodes);
    counting->next.count = count;
    int status = SF_OK;
    if (device_counts(counting)) {
        status = open_counter(counting, &counting->next, error);
        if (status == SF_UNAVAILABLE)
            status = take_over(counting, error);
    }
    if (status == SF_OK && counting->next.counter == NULL)
        status = sf_tracker_prepare(counting->tracker, episodes, count, error);
    counting->preparing = status == SF_OK;
    return status;
}

int sf_counting_go_on(sf_counting *counting, int64_t until_ns, bool *ready, sf_error *error)
{
    *ready = counting->preparing;
    if (!counting->preparing)
        return SF_OK;
    int status = counting->next.counter != NULL ? sf_tracker_set(counting->tracker, NULL, 0, error)
                                                : sf_tracker_go_on(counting->tracker, until_ns, ready, error);
    if (status != SF_OK || !*ready)
        return status;
    free_counted(&counting->present);
    counting->present = counting->next;
    counting->next = (sf_counted){0};
    counting->preparing = false;
    return SF_OK;
}

/* ---- counting ---- */

/* What the device cannot is the CPU's: *counted says whether it did. */
static int count_on_device(sf_counting *counting, sf_counter *counter, const sf_counting_window *window,
                           uint64_t *counts, bool *counted, sf_error *error)
{
    sf_error reason;
    int status = sf_resident_hold(counting->resident, window->history, window->first, window->last, &reason);
    if (status == SF_OK)
        status = sf_counter_slide(counter, sf_history_view(window->history, window->first),
                                  (size_t)(window->last - window->first), window->unit_spikes, &reason);
    if (status == SF_OK)
        status = sf_counter_count(counter, NULL, counts, &reason);
    *counted = status == SF_OK;
    if (status == SF_UNAVAILABLE)
        sf_log(SF_LOG_INFO, "the CPU counts from now on: %s", reason.text);
    if (status != SF_OK && status != SF_UNAVAILABLE && error != NULL)
        *error = reason;
    return status == SF_UNAVAILABLE ? SF_OK : status;
}

int sf_counting_push(sf_counting *counting, const sf_segment *segment, const sf_history *history,
                     sf_error *error)
{
    int64_t began_ns = sf_clock_monotonic_ns();
    bool appends = counting->present.counter != NULL;
    int status = appends ? sf_resident_append(counting->resident, history, error) : SF_OK;
    if (status == SF_OK || status == SF_UNAVAILABLE) /* which the counts will find out too */
        status = sf_tracker_push(counting->tracker, segment, sf_history_view(history, segment->begin), error);
    if (status == SF_OK && segment->closes)
        status = sf_tracker_drop_before(counting->tracker, segment->window.start_ns, error);
    counting->cpu_ns = sf_clock_monotonic_ns() - began_ns;
    return status;
}

static void count_here(const sf_counting *counting, uint64_t *counts)
{
    for (size_t i = 0; i < counting->present.count; i++)
        counts[i] = sf_tracker_count(counting->tracker, i);
}

/* Both count. The first time on a device is not like those that follow, so the second is taken. */
static int compare(sf_counting *counting, const sf_counting_window *window, uint64_t *counts, sf_error *error)
{
    bool counted = true;
    int64_t device_ns = 0;
    counting->patience = SF_COUNTING_PATIENCE;
    int status = open_counter(counting, &counting->present, error);
    for (int time = 0; time < 2 && counted && status == SF_OK; time++) {
        int64_t began_ns = sf_clock_monotonic_ns();
        status = count_on_device(counting, counting->present.counter, window, counts, &counted, error);
        device_ns = sf_clock_monotonic_ns() - began_ns;
    }
    if (status == SF_UNAVAILABLE || (status == SF_OK && !counted)) {
        leave_device(counting);
        return SF_OK;
    }
    if (status == SF_OK && 2 * device_ns < counting->cpu_ns)
        return sf_tracker_set(counting->tracker, NULL, 0, error);
    sf_counter_close(counting->present.counter);
    counting->present.counter = NULL;
    return status;
}

int sf_counting_counts(sf_counting *counting, const sf_counting_window *window, uint64_t *counts,
                       sf_error *error)
{
    if (counting->present.counter != NULL) {
        bool counted;
        int status = count_on_device(counting, counting->present.counter, window, counts, &counted, error);
        if (status != SF_OK || counted)
            return status;
        status = take_over(counting, error);
        if (status != SF_OK)
            return status;
    }
    count_here(counting, counts);
    bool may_win =
        counting->device != NULL && !counting->preparing && counting->cpu_ns > SF_COUNTING_WORTH_NS;
    if (counting->patience > 0)
        counting->patience--;
    return may_win && counting->patience == 0 ? compare(counting, window, counts, error) : SF_OK;
}
