/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/slow_overview.h"

#include <math.h>

static double distance(const sf_unit *a, const sf_unit *b)
{
    return hypot(a->x_um - b->x_um, a->y_um - b->y_um);
}

static void measure_places(sf_overview_columns *overview, const sf_units *units)
{
    overview->pitch_um = NAN;
    overview->x_um[0] = overview->y_um[0] = INFINITY;
    overview->x_um[1] = overview->y_um[1] = -INFINITY;
    for (size_t i = 0; i < units->count; i++) {
        const sf_unit *unit = &units->items[i];
        if (isnan(unit->x_um) || isnan(unit->y_um)) continue;
        bool again = false;
        for (size_t j = 0; j < i; j++) {
            double apart = distance(unit, &units->items[j]);
            again = again || apart == 0;
            if (apart > 0)
                overview->pitch_um = fmin(overview->pitch_um, apart); /* fmin takes NaN for absent */
        }
        overview->electrodes += !again;
        overview->x_um[0] = fmin(overview->x_um[0], unit->x_um);
        overview->x_um[1] = fmax(overview->x_um[1], unit->x_um);
        overview->y_um[0] = fmin(overview->y_um[0], unit->y_um);
        overview->y_um[1] = fmax(overview->y_um[1], unit->y_um);
    }
    if (overview->electrodes < 2) {
        overview->electrodes = 0;
        overview->x_um[0] = overview->x_um[1] = overview->y_um[0] = overview->y_um[1] = 0;
    }
}

static void measure_pairs(sf_overview_columns *overview, const sf_recording *recording)
{
    const sf_spike *spikes = recording->spikes;
    for (size_t i = 0; i < recording->spike_count; i++) {
        bool same = false, near = false, first = true;
        int64_t interval = INT64_MAX;
        for (size_t k = 0; k < i; k++) {
            int64_t since = spikes[i].time_ns - spikes[k].time_ns;
            double apart =
                distance(&recording->units.items[spikes[i].unit], &recording->units.items[spikes[k].unit]);
            if (spikes[k].unit == spikes[i].unit) {
                interval = since; /* of the last one before */
                first = false;
                same = same || since <= SF_DUPLICATE_NS;
            }
            near = near || (since <= SF_DUPLICATE_NS && apart <= 1.5 * overview->pitch_um);
        }
        overview->active_units += first;
        overview->intervals += !first;
        overview->short_intervals += !first && interval < SF_REFRACTORY_NS;
        overview->repeats += same;
        overview->neighbour_repeats += near && !same;
    }
}

static void count_array_events(sf_overview_columns *overview, const sf_recording *recording)
{
    for (size_t i = 0; i < recording->spike_count; i++) {
        size_t units = 0;
        bool earlier = false;
        for (size_t k = 0; k < i; k++)
            earlier = earlier || recording->spikes[k].time_ns == recording->spikes[i].time_ns;
        for (uint32_t unit = 0; !earlier && unit < recording->units.count; unit++)
            for (size_t k = i; k < recording->spike_count; k++)
                if (recording->spikes[k].time_ns == recording->spikes[i].time_ns &&
                    recording->spikes[k].unit == unit) {
                    units++;
                    break;
                }
        overview->array_events += units >= 5 && units >= overview->active_units / 4;
    }
}

void slow_overview(sf_overview_columns *overview, const sf_recording *recording)
{
    *overview = (sf_overview_columns){0};
    measure_places(overview, &recording->units);
    measure_pairs(overview, recording);
    count_array_events(overview, recording);
    if (recording->spike_count > 0) {
        overview->first_ns = recording->spikes[0].time_ns;
        overview->last_ns = recording->spikes[recording->spike_count - 1].time_ns;
        overview->duration_ns = overview->last_ns - overview->first_ns;
    }
}
