/* SPDX-License-Identifier: Apache-2.0 */
/* A quantity of a recording, which is a window that nothing leaves. */
#include "density/series.h"
#include "analysis/quantity.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <string.h>

/* Partial occurrences of an episode that there is room for at first; eight times as many where that is too
 * few. */
enum { FIRST_ROOM = 1 << 10, MOST_ROOM = 1 << 28 };

typedef struct gathering {
    const sf_recording *recording;
    sf_quantity_setup setup;
    const sf_spike *spikes; /* looked at */
    size_t spike_count;
    sf_span *spans; /* where they were observed */
    sf_observed observed;
    sf_quantity_state *state;
    sf_series *series;
    sf_error *error;
} gathering;

/* ---- what is looked at ---- */

/* Observation intervals, or else the recorded span, cut to what is looked at. */
static int find_observed(gathering *g, const sf_span *within)
{
    const sf_recording *recording = g->recording;
    bool known = recording->observed_count > 0;
    const sf_span *spans = known ? recording->observed : &recording->recorded;
    size_t count = known ? recording->observed_count : 1;
    g->spans = sf_resize(NULL, count, sizeof *g->spans);
    if (g->spans == NULL)
        return sf_fail_memory(g->error);
    g->observed = (sf_observed){.unit_count = recording->units.count, .spans = g->spans};
    for (size_t i = 0; i < count; i++) {
        sf_span span = spans[i];
        span.start_ns = span.start_ns > within->start_ns ? span.start_ns : within->start_ns;
        span.stop_ns = span.stop_ns < within->stop_ns ? span.stop_ns : within->stop_ns;
        if (span.start_ns < span.stop_ns)
            g->spans[g->observed.count++] = span;
    }
    g->setup.observed = &g->observed;
    g->setup.observed_count = 1;
    return SF_OK;
}

static int look_at(gathering *g, const sf_span *within)
{
    const sf_recording *recording = g->recording;
    const sf_span all = {INT64_MIN, INT64_MAX};
    within = within != NULL ? within : &all;
    size_t first = sf_spikes_lower_bound(recording->spikes, recording->spike_count, within->start_ns);
    size_t end = sf_spikes_lower_bound(recording->spikes, recording->spike_count, within->stop_ns);
    g->spikes = recording->spikes + first;
    g->spike_count = end > first ? end - first : 0;
    return find_observed(g, within);
}

/* With room for all partial occurrences: what is given up in one pass has room in the next. */
static int fill_window(gathering *g)
{
    for (g->setup.room = FIRST_ROOM;; g->setup.room *= 8) {
        int status = sf_quantity_open(&g->state, &g->setup, g->error);
        if (status == SF_OK)
            status = sf_quantity_enter(g->state, g->spikes, g->spike_count, INT64_MAX, g->error);
        if (status != SF_OK || sf_quantity_overflows(g->state) == 0 || g->setup.room >= MOST_ROOM)
            return status;
        sf_quantity_close(g->state);
        g->state = NULL;
    }
}

/* ---- series ---- */

static int name_series(gathering *g, size_t s, const char *name)
{
    sf_free(g->series->names[s]);
    g->series->names[s] = sf_copy_string(name);
    return g->series->names[s] != NULL ? SF_OK : sf_fail_memory(g->error);
}

static int take_values(gathering *g, sf_state_samples *sorted)
{
    size_t count;
    const sf_sample *held = sf_quantity_held(g->state, &count);
    return sf_quantity_sort(g->state, held, count, sorted, g->error);
}

/* How many spikes each unit has, and how many units have any. */
static size_t count_spikes(size_t *spikes, const sf_spike *from, size_t count, size_t units)
{
    size_t with = 0;
    memset(spikes, 0, units * sizeof *spikes);
    for (size_t i = 0; i < count; i++)
        with += spikes[from[i].unit]++ == 0;
    return with;
}

/* Units that are silent in what is looked at have no rate there: nobody chose them to be looked at. */
static int take_units(gathering *g, const sf_state_samples *sorted, size_t *spikes)
{
    const sf_recording *recording = g->recording;
    size_t units = recording->units.count, s = 0;
    size_t with = count_spikes(spikes, recording->spikes, recording->spike_count, units);
    if (with == 0)
        return sf_fail(g->error, SF_DATA, recording->path, "no spikes in the selection");
    int status = sf_series_make(&g->series, with, 1, g->error);
    for (size_t u = 0; status == SF_OK && u < units; u++) {
        if (spikes[u] == 0)
            continue;
        g->series->units[s] = (int64_t)u;
        status = name_series(g, s++, recording->units.items[u].name);
    }
    if (status != SF_OK)
        return status;
    g->series->values = sf_resize(NULL, sorted->first[units], sizeof *g->series->values);
    if (g->series->values == NULL)
        return sf_fail_memory(g->error);
    count_spikes(spikes, g->spikes, g->spike_count, units);
    for (s = 0; s < with; s++) {
        size_t u = (size_t)g->series->units[s], first = sorted->first[u];
        size_t n = spikes[u] > 0 ? sorted->first[u + 1] - first : 0;
        memcpy(g->series->values + g->series->first[s], sorted->values + first, n * sizeof(double));
        g->series->first[s + 1] = g->series->first[s] + n;
    }
    g->series->coincident = sf_quantity_coincident(g->state);
    return SF_OK;
}

static int gather_units(gathering *g)
{
    sf_state_samples sorted = {0};
    size_t *spikes = sf_alloc(g->recording->units.count, sizeof *spikes);
    int status = spikes != NULL ? take_values(g, &sorted) : sf_fail_memory(g->error);
    if (status == SF_OK)
        status = take_units(g, &sorted, spikes);
    sf_free(spikes);
    sf_state_samples_free(&sorted);
    return status;
}

static int name_link(gathering *g, uint32_t link)
{
    const sf_episode *episode = g->setup.episodes;
    sf_episode pair = {.size = 2,
                       .units = {episode->units[link], episode->units[link + 1]},
                       .delays = {episode->delays[link]}};
    sf_text name = {0};
    sf_episode_print(&name, &pair, &g->recording->units);
    int status = name.failed ? sf_fail_memory(g->error) : name_series(g, link, name.data);
    sf_text_free(&name);
    return status;
}

static int gather_links(gathering *g)
{
    sf_state_samples sorted = {0};
    size_t links = sf_quantity_states(g->state);
    int status = sf_series_make(&g->series, links, 1, g->error);
    for (uint32_t link = 0; status == SF_OK && link < links; link++)
        status = name_link(g, link);
    if (status == SF_OK)
        status = take_values(g, &sorted);
    if (status == SF_OK) {
        memcpy(g->series->first, sorted.first, (links + 1) * sizeof *sorted.first);
        g->series->values = sorted.values; /* changes hands */
        sorted.values = NULL;
    }
    sf_state_samples_free(&sorted);
    return status;
}

static int gather_positions(gathering *g)
{
    size_t count;
    const sf_sample *held = sf_quantity_held(g->state, &count);
    const double *places = sf_quantity_places(g->state);
    if (count == 0)
        return sf_fail(g->error, SF_DATA, g->recording->path, "its units have no positions on an array");
    int status = sf_series_make(&g->series, 1, 2, g->error);
    if (status == SF_OK)
        status = name_series(g, 0, "all spikes");
    if (status != SF_OK)
        return status;
    g->series->first[1] = count;
    g->series->values = sf_resize(NULL, count, 2 * sizeof *g->series->values);
    if (g->series->values == NULL)
        return sf_fail_memory(g->error);
    for (size_t i = 0; i < count; i++)
        memcpy(g->series->values + 2 * i, places + 2 * (size_t)held[i].state, 2 * sizeof *places);
    return SF_OK;
}

/* ---- the call ---- */

static int (*const gatherers[])(gathering *g) = {
    [SF_QUANTITY_ISI] = gather_units,
    [SF_QUANTITY_DELAY] = gather_links,
    [SF_QUANTITY_RATE] = gather_units,
    [SF_QUANTITY_POSITION] = gather_positions,
};

enum { LEAST_IN_PART = 1000, MOST_PARTS = 64 };

/* The share of steps that are whole multiples of this one, but for rounding. */
static bool is_step(int64_t step_ns, const sf_spike *spikes, size_t count)
{
    size_t steps = 0, whole = 0;
    for (size_t i = 1; i < count; i++) {
        int64_t over = (spikes[i].time_ns - spikes[i - 1].time_ns) % step_ns;
        steps += spikes[i].time_ns > spikes[i - 1].time_ns;
        whole += spikes[i].time_ns > spikes[i - 1].time_ns &&
                 (over <= step_ns / 8 || step_ns - over <= step_ns / 8);
    }
    return steps > 0 && 10 * whole >= 9 * steps;
}

/* Times of so many digits, or single-precision ones, have steps that grow with time, and it is the coarsest
 * at which intervals are tied: a density that shows less would show the clock. */
static int64_t coarsest_step(const gathering *g)
{
    int64_t coarsest = g->recording->tick_ns;
    size_t parts = g->spike_count / LEAST_IN_PART < MOST_PARTS ? g->spike_count / LEAST_IN_PART : MOST_PARTS;
    for (size_t p = 0; p < parts; p++) {
        const sf_spike *spikes = g->spikes + g->spike_count * p / parts;
        size_t count = g->spike_count * (p + 1) / parts - g->spike_count * p / parts;
        sf_tick tick = {0};
        for (size_t i = 1; i < count; i++)
            sf_tick_add(&tick, spikes[i].time_ns - spikes[i - 1].time_ns);
        int64_t step_ns = sf_tick_find(&tick);
        coarsest = step_ns > coarsest && is_step(step_ns, spikes, count) ? step_ns : coarsest;
    }
    return coarsest;
}

/* Times are those of a clock; rates are whole multiples of one spike a bin; positions have no steps. */
static double tick_of(const gathering *g)
{
    if (g->setup.quantity == SF_QUANTITY_RATE)
        return (double)SF_SECOND / (double)g->setup.bin_ns;
    return g->setup.quantity == SF_QUANTITY_POSITION ? 0 : (double)coarsest_step(g) / (double)SF_SECOND;
}

static int check(const sf_quantity_setup *setup, sf_error *error)
{
    if ((unsigned)setup->quantity > SF_QUANTITY_POSITION)
        return sf_fail(error, SF_USAGE, "quantity", "found %d, which is none", (int)setup->quantity);
    if (setup->quantity == SF_QUANTITY_RATE && setup->bin_ns <= 0)
        return sf_fail(error, SF_USAGE, "bin_ns", "expected a time above 0");
    if (setup->quantity == SF_QUANTITY_DELAY && (setup->episodes == NULL || setup->episodes[0].size < 2))
        return sf_fail(error, SF_USAGE, "episode", "expected an episode with a link");
    return SF_OK;
}

int sf_series_of_recording(sf_series **out, const sf_recording *recording, sf_quantity quantity,
                           const sf_episode *episode, int64_t bin_ns, const sf_span *within, sf_error *error)
{
    gathering g = {.recording = recording,
                   .setup = {.quantity = quantity,
                             .units = &recording->units,
                             .unit_count = recording->units.count,
                             .episodes = episode,
                             .episode_count = 1,
                             .every_link = true,
                             .bin_ns = bin_ns},
                   .error = error};
    *out = NULL;
    int status = check(&g.setup, error);
    if (status == SF_OK)
        status = sf_recording_check_held(recording, error);
    if (status == SF_OK)
        status = look_at(&g, within);
    if (status == SF_OK)
        status = fill_window(&g);
    if (status == SF_OK)
        status = gatherers[quantity](&g);
    if (status == SF_OK) {
        g.series->domain = sf_quantity_domain(quantity);
        g.series->tick = tick_of(&g);
        *out = g.series;
    } else {
        sf_series_free(g.series);
    }
    sf_quantity_close(g.state);
    sf_free(g.spans);
    return status;
}
