/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/windows.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

static int add_window(sf_windows *windows, int64_t start_ns, int64_t stop_ns, sf_error *error)
{
    if (windows->count == SF_MOST_WINDOWS)
        return sf_fail(error, SF_USAGE, "hop_ns", "makes more than %d windows", SF_MOST_WINDOWS);
    if (sf_reserve(&windows->items, &windows->capacity, windows->count + 1, sizeof *windows->items) != 0)
        return sf_fail_memory(error);
    windows->items[windows->count++] = (sf_span){start_ns, stop_ns};
    return SF_OK;
}

/* How much of each was recorded. Windows ascend, and may overlap. */
static int measure(sf_windows *windows, const sf_recording *recording, sf_error *error)
{
    bool known = recording->observed_count > 0;
    const sf_span *spans = known ? recording->observed : &recording->recorded;
    size_t count = known ? recording->observed_count : 1, first = 0;
    windows->recorded_ns = sf_alloc(windows->count, sizeof *windows->recorded_ns);
    if (windows->recorded_ns == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < windows->count; i++) {
        const sf_span *window = &windows->items[i];
        while (first < count && spans[first].stop_ns <= window->start_ns)
            first++;
        for (size_t k = first; k < count && spans[k].start_ns < window->stop_ns; k++) {
            int64_t from = spans[k].start_ns > window->start_ns ? spans[k].start_ns : window->start_ns;
            int64_t to = spans[k].stop_ns < window->stop_ns ? spans[k].stop_ns : window->stop_ns;
            windows->recorded_ns[i] += to - from;
        }
    }
    return SF_OK;
}

int sf_windows_list(sf_windows *windows, const sf_recording *recording, const sf_windows_rule *rule,
                    sf_error *error)
{
    *windows = (sf_windows){0};
    int64_t start = rule->from_ns, stop = rule->to_ns;
    if (recording->spike_count == 0 && (start == INT64_MIN || stop == INT64_MAX)) return SF_OK;
    if (start == INT64_MIN) start = recording->spikes[0].time_ns;
    if (stop == INT64_MAX) stop = sf_time_plus(recording->spikes[recording->spike_count - 1].time_ns, 1);
    int64_t covered = start, hop_ns = rule->hop_ns;
    int status = SF_OK;
    for (; status == SF_OK && sf_time_plus(start, rule->length_ns) <= stop;
         start = sf_time_plus(start, hop_ns)) {
        covered = sf_time_plus(start, rule->length_ns);
        status = add_window(windows, start, covered, error);
    }
    windows->last_is_partial = start < stop && covered < stop;
    if (status == SF_OK && windows->last_is_partial) status = add_window(windows, start, stop, error);
    if (status == SF_OK) status = measure(windows, recording, error);
    if (status != SF_OK) sf_windows_free(windows);
    return status;
}

void sf_windows_free(sf_windows *windows)
{
    sf_free(windows->items);
    sf_free(windows->recorded_ns);
    *windows = (sf_windows){0};
}
