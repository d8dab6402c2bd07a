/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/overview.h"

#include "mine/bursts.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/progress.h"
#include "core/recording.h"
#include "core/thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sf_overview {
    sf_overview_columns told;
    sf_unit_overview *units; /* the same that it tells */
    sf_bursts bursts;        /* likewise */
};

/* ---- positions ---- */

typedef struct place {
    double x, y;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *left = a, *right = b;
    if (left->x != right->x) return left->x < right->x ? -1 : 1;
    return (left->y > right->y) - (left->y < right->y);
}

static int compare_y(const void *a, const void *b)
{
    const place *left = a, *right = b;
    return (left->y > right->y) - (left->y < right->y);
}

/* Minimum distance of two places, which are sorted by x: that of either half, or of a pair across the middle.
 * Among places near the middle, sorted by y, only a few above each can be closer. `near` has room for all. */
static double least_distance(const place *places, size_t count, place *near)
{
    if (count < 2) return INFINITY;
    size_t half = count / 2, found = 0;
    double middle = places[half].x;
    double least =
        fmin(least_distance(places, half, near), least_distance(places + half, count - half, near));
    for (size_t i = 0; i < count; i++)
        if (fabs(places[i].x - middle) < least) near[found++] = places[i];
    qsort(near, found, sizeof *near, compare_y);
    for (size_t i = 0; i < found; i++)
        for (size_t j = i + 1; j < found && near[j].y - near[i].y < least; j++)
            least = fmin(least, hypot(near[j].x - near[i].x, near[j].y - near[i].y));
    return least;
}

static int survey_places(sf_overview_columns *overview, const sf_units *units, sf_error *error)
{
    overview->pitch_um = NAN;
    if (!sf_units_have_geometry(units)) return SF_OK;
    place *places = sf_alloc(2 * units->count, sizeof *places); /* the second half: room to look in */
    if (places == NULL) return sf_fail_memory(error);
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
    overview->pitch_um = least_distance(places, different, places + units->count);
    sf_free(places);
    return SF_OK;
}

/* ---- times ---- */

static int survey_intervals(sf_overview *all, const sf_recording *recording, sf_error *error)
{
    sf_overview_columns *overview = &all->told;
    int64_t *last = sf_alloc(recording->units.count, sizeof *last);
    if (last == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        sf_unit_overview *unit = &all->units[spike->unit];
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

/* ---- repeats ---- */

#define NEVER INT64_MIN /* well before every spike */

static bool is_repeat(int64_t time_ns, int64_t before_ns)
{
    return (uint64_t)time_ns - (uint64_t)before_ns <= (uint64_t)SF_DUPLICATE_NS;
}

/* A position of units and the time of their last spike. Sites are sorted by band (a strip of the array as
 * high as the neighbourhood), then by x: the neighbours of a site are in three short runs. */
typedef struct site {
    double band, x, y;
    int64_t last_ns;
    uint32_t from[3], to[3]; /* those runs, in the band below, its own and the one above */
} site;

typedef struct sites {
    double reach_um, window_um; /* window_um is slightly larger, so that rounding loses no neighbour */
    site *items;
    size_t count;
    uint32_t *of_units; /* SF_NO_SITE: the unit is nowhere */
} sites;

#define SF_NO_SITE UINT32_MAX

static void free_sites(sites *all)
{
    sf_free(all->items);
    sf_free(all->of_units);
}

static int compare_sites(const void *a, const void *b)
{
    const site *left = a, *right = b;
    if (left->band != right->band) return left->band < right->band ? -1 : 1;
    return compare_places(&(place){left->x, left->y}, &(place){right->x, right->y});
}

/* The first site not before this place. */
static uint32_t find_site(const sites *all, double band, double x, double y)
{
    const site wanted = {.band = band, .x = x, .y = y};
    size_t from = 0, to = all->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_sites(&all->items[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return (uint32_t)from;
}

static int find_sites(sites *all, const sf_units *units, const sf_overview_columns *overview, sf_error *error)
{
    *all = (sites){.reach_um = 1.5 * overview->pitch_um,
                   .window_um = 1.501 * overview->pitch_um,
                   .items = sf_alloc(units->count, sizeof *all->items),
                   .of_units = sf_alloc(units->count, sizeof *all->of_units)};
    if (all->items == NULL || all->of_units == NULL) return sf_fail_memory(error);
    double bottom = overview->y_um[0];
    size_t placed = 0;
    for (size_t i = 0; i < units->count; i++) {
        double x = units->items[i].x_um, y = units->items[i].y_um;
        if (isfinite(x) && isfinite(y) && overview->electrodes > 0)
            all->items[placed++] =
                (site){.band = floor((y - bottom) / all->window_um), .x = x, .y = y, .last_ns = NEVER};
    }
    qsort(all->items, placed, sizeof *all->items, compare_sites);
    for (size_t i = 0; i < placed; i++)
        if (all->count == 0 || compare_sites(&all->items[all->count - 1], &all->items[i]) != 0)
            all->items[all->count++] = all->items[i];
    for (size_t i = 0; i < units->count; i++) {
        double x = units->items[i].x_um, y = units->items[i].y_um;
        bool is_placed = isfinite(x) && isfinite(y) && all->count > 0;
        all->of_units[i] =
            is_placed ? find_site(all, floor((y - bottom) / all->window_um), x, y) : SF_NO_SITE;
    }
    for (size_t i = 0; i < all->count; i++) {
        site *at = &all->items[i];
        for (int k = 0; k < 3; k++) {
            at->from[k] = find_site(all, at->band + k - 1, at->x - all->window_um, -INFINITY);
            at->to[k] = find_site(all, at->band + k - 1, at->x + all->window_um, INFINITY);
        }
    }
    return SF_OK;
}

static bool repeats_neighbour(const sites *all, uint32_t unit, int64_t time_ns)
{
    if (all->of_units[unit] == SF_NO_SITE) return false;
    const site *at = &all->items[all->of_units[unit]];
    for (int k = 0; k < 3; k++)
        for (uint32_t j = at->from[k]; j < at->to[k]; j++) {
            const site *other = &all->items[j];
            if (is_repeat(time_ns, other->last_ns) &&
                hypot(at->x - other->x, at->y - other->y) <= all->reach_um)
                return true;
        }
    return false;
}

static int survey_repeats(sf_overview_columns *overview, const sf_recording *recording, sf_error *error)
{
    size_t units = recording->units.count;
    sites all = {0};
    int64_t *last_ns = sf_alloc(units, sizeof *last_ns);
    int status =
        last_ns != NULL ? find_sites(&all, &recording->units, overview, error) : sf_fail_memory(error);
    for (size_t u = 0; status == SF_OK && u < units; u++)
        last_ns[u] = NEVER;
    for (size_t i = 0; status == SF_OK && i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        bool any = i > 0 && is_repeat(spike->time_ns, spike[-1].time_ns);
        bool same = any && is_repeat(spike->time_ns, last_ns[spike->unit]);
        overview->repeats += same;
        overview->neighbour_repeats += any && !same && repeats_neighbour(&all, spike->unit, spike->time_ns);
        last_ns[spike->unit] = spike->time_ns;
        if (all.of_units[spike->unit] != SF_NO_SITE)
            all.items[all.of_units[spike->unit]].last_ns = spike->time_ns;
    }
    sf_free(last_ns);
    free_sites(&all);
    return status;
}

/* ---- the whole ---- */

static void survey_array_events(sf_overview_columns *overview, const sf_recording *recording)
{
    const sf_spike *spikes = recording->spikes;
    size_t least = overview->active_units / 4 > 5 ? overview->active_units / 4 : 5;
    for (size_t i = 0, next; i < recording->spike_count; i = next) {
        size_t units = 1; /* spikes at one time are ordered by unit */
        for (next = i + 1; next < recording->spike_count && spikes[next].time_ns == spikes[i].time_ns; next++)
            units += spikes[next].unit != spikes[next - 1].unit;
        overview->array_events += units >= least;
    }
}

static const char *common_kind(const sf_units *units)
{
    for (size_t i = 1; i < units->count; i++)
        if (units->items[i].kind != units->items[0].kind) return "mixed";
    return sf_unit_kind_name(units->count > 0 ? units->items[0].kind : SF_UNIT_UNKNOWN);
}

static void survey_times(sf_overview_columns *overview, const sf_recording *recording)
{
    overview->duration_ns = sf_recording_duration_ns(recording);
    if (recording->spike_count == 0) return;
    overview->first_ns = recording->spikes[0].time_ns;
    overview->last_ns = recording->spikes[recording->spike_count - 1].time_ns;
    /* An undeclared recorded time ends just after the last spike, to include it; that instant is no duration.
     */
    if (!recording->declared && recording->observed_count == 0 &&
        recording->recorded.stop_ns == overview->last_ns + 1)
        overview->duration_ns--;
    overview->tick_ns = recording->tick_ns;
}

/* Passes over all spikes, which run in parallel. */
enum { LOOK_BURSTS, LOOK_INTERVALS, LOOK_REPEATS, LOOKS };

typedef struct looking {
    sf_overview *overview;
    const sf_recording *recording;
} looking;

static int look(void *context, unsigned worker, size_t which)
{
    (void)worker;
    looking *l = context;
    sf_overview *overview = l->overview;
    if (which == LOOK_BURSTS) return sf_bursts_find(&overview->bursts, l->recording, &SF_NETWORK_RULE, NULL);
    if (which == LOOK_REPEATS) return survey_repeats(&overview->told, l->recording, NULL);
    int status = survey_intervals(overview, l->recording, NULL);
    if (status == SF_OK) survey_array_events(&overview->told, l->recording);
    return status;
}

static int look_at_spikes(sf_overview *overview, const sf_recording *recording, sf_error *error)
{
    looking l = {.overview = overview, .recording = recording};
    return sf_parallel_for(sf_thread_cores(), LOOKS, look, &l) == SF_OK ? SF_OK : sf_fail_memory(error);
}

static int survey(sf_overview *overview, const sf_recording *recording, const sf_progress *progress,
                  sf_error *error)
{
    sf_overview_columns *told = &overview->told;
    overview->units = sf_alloc(recording->units.count, sizeof *overview->units);
    told->units = overview->units;
    told->kind = common_kind(&recording->units);
    int status = overview->units != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = survey_places(told, &recording->units, error);
    if (status == SF_OK && !sf_progress_update(progress, "looking", 1, 2))
        status = sf_fail(error, SF_CANCELLED, NULL, "stopped");
    if (status == SF_OK) status = look_at_spikes(overview, recording, error);
    if (status != SF_OK) return status;
    told->bursts = overview->bursts.items;
    told->burst_count = overview->bursts.count;
    survey_times(told, recording);
    return sf_progress_update(progress, "looking", 2, 2) ? SF_OK
                                                         : sf_fail(error, SF_CANCELLED, NULL, "stopped");
}

int sf_recording_overview(sf_overview **out, const sf_recording *recording, const sf_progress *progress,
                          sf_error *error)
{
    *out = NULL;
    sf_overview *overview = sf_alloc(1, sizeof *overview);
    if (overview == NULL) return sf_fail_memory(error);
    int status = sf_recording_check_held(recording, error);
    if (status == SF_OK) status = survey(overview, recording, progress, error);
    if (status == SF_OK)
        *out = overview;
    else
        sf_overview_free(overview);
    return status;
}

void sf_overview_get_columns(const sf_overview *overview, sf_overview_columns *columns)
{
    sf_columns_fill(columns, &overview->told, sizeof overview->told);
}

void sf_overview_free(sf_overview *overview)
{
    if (overview == NULL) return;
    sf_bursts_free(&overview->bursts);
    sf_free(overview->units);
    sf_free(overview);
}
