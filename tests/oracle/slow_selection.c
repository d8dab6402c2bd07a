/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/slow_selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool holds(const sf_span *spans, size_t count, int64_t time_ns)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].start_ns <= time_ns && time_ns < spans[i].stop_ns) return true;
    return false;
}

static bool is_open(const sf_recording *recording, const slow_selection *selection, int64_t time_ns)
{
    for (size_t i = 0; selection->blank != NULL && i < recording->marker_count; i++) {
        int64_t since = time_ns - recording->markers[i].time_ns;
        if (strcmp(recording->markers[i].text, selection->blank) == 0 && since >= selection->blank_from_ns &&
            since < selection->blank_to_ns)
            return false;
    }
    return holds(&selection->times, 1, time_ns) &&
           (selection->epochs == NULL || holds(selection->epochs, selection->epoch_count, time_ns));
}

/* Marks the spikes that follow a kept one too closely. */
static bool *find_duplicates(const sf_recording *recording, const slow_selection *selection)
{
    bool *duplicate = calloc(recording->spike_count + 1, sizeof *duplicate);
    const sf_spike *spikes = recording->spikes;
    for (size_t i = 0; selection->dedup_ns > 0 && i < recording->spike_count; i++)
        for (size_t k = 0; k < i; k++) {
            const sf_unit *a = &recording->units.items[spikes[i].unit],
                          *b = &recording->units.items[spikes[k].unit];
            double dx = a->x_um - b->x_um, dy = a->y_um - b->y_um;
            bool near = spikes[i].unit == spikes[k].unit || sqrt(dx * dx + dy * dy) <= selection->dedup_um;
            if (!duplicate[k] && near && spikes[i].time_ns - spikes[k].time_ns <= selection->dedup_ns)
                duplicate[i] = true;
        }
    return duplicate;
}

size_t slow_select_spikes(sf_spike *kept, const sf_recording *recording, const slow_selection *selection)
{
    bool *duplicate = find_duplicates(recording, selection);
    size_t count = 0;
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        if (!duplicate[i] && (selection->units == NULL || selection->units[spike->unit]) &&
            is_open(recording, selection, spike->time_ns))
            kept[count++] = *spike;
    }
    free(duplicate);
    return count;
}

int64_t slow_select_duration(const sf_recording *recording, const slow_selection *selection)
{
    int64_t duration = 0;
    for (int64_t t = recording->recorded.start_ns; t < recording->recorded.stop_ns; t++)
        duration +=
            is_open(recording, selection, t) &&
            (recording->observed_count == 0 || holds(recording->observed, recording->observed_count, t));
    return duration;
}
