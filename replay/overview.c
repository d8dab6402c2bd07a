/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/overview.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ---- */

typedef struct place {
    double x, y;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *left = a, *right = b;
    if (left->x != right->x)
        return left->x < right->x ? -1 : 1;
    return (left->y > right->y) - (left->y < right->y);
}

/* The least distance of two different places, sorted by x: only those close in x are looked at. */
static double least_distance(const place *places, size_t count)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && places[j].x - places[i].x < least; j++)
            least = fmin(least, hypot(places[j].x - places[i].x, places[j].y - places[i].y));
    return least;
}

static int survey_places(sf_overview *overview, const sf_units *units, sf_error *error)
{
    overview->pitch_um = NAN;
    if (!sf_units_have_geometry(units))
        return SF_OK;
    place *places = sf_alloc(units->count, sizeof *places);
    if (places == NULL)
        return sf_fail_memory(error);
    size_t count = 0, different = 0;
    for (size_t i = 0; i < units->count; i++)
        if (isfinite(units->items[i].x_um) && isfinite(units->items[i].y_um))
            places[count++] = (place){units->items[i].x_um, units->items[i].y_um};
    qsort(places, count, sizeof *places, compare_places);
    overview->x_um[0] = places[0].x;
    overview->x_um[1] = places[count - 1].x;
    overview->y_um[0] = overview->y_um[1] = places[0].y;
    for (size_t i = 0; i < count; i++) {
        overview->y_um[0] = fmin(overview->y_um[0], places[i].y);
        overview->y_um[1] = fmax(overview->y_um[1], places[i].y);
        if (different == 0 || compare_places(&places[different - 1], &places[i]) != 0)
            places[different++] = places[i];
    }
    overview->electrodes = different;
    overview->pitch_um = least_distance(places, different);
    sf_free(places);
    return SF_OK;
}

/* ---- times ---- */

static int survey_intervals(sf_overview *overview, const sf_recording *recording, sf_error *error)
{
    int64_t *last = sf_alloc(recording->units.count, sizeof *last);
    if (last == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        sf_unit_overview *unit = &overview->units[spike->unit];
        if (unit->spikes++ == 0) {
            overview->active_units++;
        } else {
            uint64_t interval = (uint64_t)spike->time_ns - (uint64_t)last[spike->unit];
            overview->intervals++;
            unit->short_intervals += interval < (uint64_t)SF_REFRACTORY_NS;
            overview->short_intervals += interval < (uint64_t)SF_REFRACTORY_NS;
        }
        last[spike->unit] = spike->time_ns;
    }
    sf_free(last);
    return SF_OK;
}

static bool are_neighbours(const sf_unit *a, const sf_unit *b, double pitch_um)
{
    return hypot(a->x_um - b->x_um, a->y_um - b->y_um) <= 1.5 * pitch_um; /* false where anything is NaN */
}

static void survey_repeats(sf_overview *overview, const sf_recording *recording)
{
    const sf_spike *spikes = recording->spikes;
    const sf_unit *units = recording->units.items;
    for (size_t i = 0; i < recording->spike_count; i++) {
        bool same = false, neighbour = false;
        for (size_t k = i; k > 0 && !same; k--) {
            const sf_spike *before = &spikes[k - 1];
            if ((uint64_t)spikes[i].time_ns - (uint64_t)before->time_ns > (uint64_t)SF_DUPLICATE_NS)
                break;
            same = before->unit == spikes[i].unit;
            neighbour =
                neighbour || are_neighbours(&units[before->unit], &units[spikes[i].unit], overview->pitch_um);
        }
        overview->repeats += same;
        overview->neighbour_repeats += !same && neighbour;
    }
}

static void survey_array_events(sf_overview *overview, const sf_recording *recording)
{
    const sf_spike *spikes = recording->spikes;
    size_t least = overview->active_units / 4 > 5 ? overview->active_units / 4 : 5;
    for (size_t i = 0, next; i < recording->spike_count; i = next) {
        size_t units = 1; /* within one time spikes are in order of units */
        for (next = i + 1; next < recording->spike_count && spikes[next].time_ns == spikes[i].time_ns; next++)
            units += spikes[next].unit != spikes[next - 1].unit;
        overview->array_events += units >= least;
    }
}

static const char *common_kind(const sf_units *units)
{
    for (size_t i = 1; i < units->count; i++)
        if (units->items[i].kind != units->items[0].kind)
            return "mixed";
    return sf_unit_kind_name(units->count > 0 ? units->items[0].kind : SF_UNIT_UNKNOWN);
}

int sf_overview_make(sf_overview *overview, const sf_recording *recording, sf_error *error)
{
    *overview = (sf_overview){.kind = common_kind(&recording->units)};
    overview->units = sf_alloc(recording->units.count, sizeof *overview->units);
    int status = overview->units != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = survey_places(overview, &recording->units, error);
    if (status == SF_OK)
        status = survey_intervals(overview, recording, error);
    if (status != SF_OK) {
        sf_overview_free(overview);
        return status;
    }
    overview->duration_ns = sf_recording_duration_ns(recording);
    if (recording->spike_count == 0)
        return SF_OK;
    overview->first_ns = recording->spikes[0].time_ns;
    overview->last_ns = recording->spikes[recording->spike_count - 1].time_ns;
    /* What no file declared ends just after the last spike, so that it is inside; that instant is no
     * duration. */
    if (!recording->declared && recording->observed_count == 0 &&
        recording->recorded.stop_ns == overview->last_ns + 1)
        overview->duration_ns--;
    overview->tick_ns = sf_spikes_tick(recording->spikes, recording->spike_count);
    survey_repeats(overview, recording);
    survey_array_events(overview, recording);
    return SF_OK;
}

void sf_overview_free(sf_overview *overview)
{
    sf_free(overview->units);
    *overview = (sf_overview){0};
}

double sf_overview_rate_hz(const sf_overview *overview, uint64_t spikes)
{
    return overview->duration_ns > 1000 ? (double)spikes / ((double)overview->duration_ns * 1e-9) : NAN;
}
