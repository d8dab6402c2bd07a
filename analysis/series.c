/* SPDX-License-Identifier: Apache-2.0 */
/* A quantity of a recording, treated as a window whose samples never leave. */
#include "density/series.h"
#include "analysis/quantity.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <string.h>

/* Initial room for partial occurrences of an episode, multiplied by eight if it is too small; and the
 * maximum. */
enum { FIRST_ROOM = 1 << 10, MOST_ROOM = 1 << 28 };

typedef struct gathering {
    const sf_recording *recording;
    sf_quantity_setup setup;
    const sf_spike *spikes; /* looked at */
    size_t spike_count;
    sf_span *spans; /* where they were observed */
    sf_observed observed;
    sf_quantity_state *state;
    size_t *first; /* states + 1: index of each state's first value */
    bool *wanted;  /* by state */
    size_t placed; /* spikes that have a place */
    sf_series *series;
    sf_error *error;
} gathering;

/* ---- what is looked at ---- */

/* Observed intervals, or else the recorded span, clipped to `within`. */
static int find_observed(gathering *g, const sf_span *within)
{
    const sf_recording *recording = g->recording;
    bool known = recording->observed_count > 0;
    const sf_span *spans = known ? recording->observed : &recording->recorded;
    size_t count = known ? recording->observed_count : 1;
    g->spans = sf_resize(NULL, count, sizeof *g->spans);
    if (g->spans == NULL) return sf_fail_memory(g->error);
    g->observed = (sf_observed){.unit_count = recording->units.count, .spans = g->spans};
    for (size_t i = 0; i < count; i++) {
        sf_span span = spans[i];
        span.start_ns = span.start_ns > within->start_ns ? span.start_ns : within->start_ns;
        span.stop_ns = span.stop_ns < within->stop_ns ? span.stop_ns : within->stop_ns;
        if (span.start_ns < span.stop_ns) g->spans[g->observed.count++] = span;
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

/* Number of spikes per call of sf_quantity_enter: samples are held only until they are counted or stored. */
#define CHUNK ((size_t)1 << 16)

/* Stores samples by state, or all together if they are places. */
static void put_values(gathering *g, const sf_sample *samples, size_t count)
{
    const double *places = sf_quantity_places(g->state);
    for (size_t i = 0; i < count; i++)
        if (g->setup.quantity == SF_QUANTITY_POSITION)
            memcpy(g->series->values + 2 * g->placed++, places + 2 * (size_t)samples[i].state,
                   2 * sizeof *places);
        else if (g->wanted[samples[i].state])
            g->series->values[g->first[samples[i].state]++] = samples[i].value;
}

/* Passes all spikes through a state; counts the samples of each state, or stores their values in the series.
 */
static int pass(gathering *g, bool puts)
{
    sf_quantity_close(g->state);
    int status = sf_quantity_open(&g->state, &g->setup, g->error);
    if (status == SF_OK && g->first == NULL &&
        (g->first = sf_alloc(sf_quantity_states(g->state) + 1, sizeof *g->first)) == NULL)
        status = sf_fail_memory(g->error);
    size_t done = 0;
    while (status == SF_OK && (done == 0 || done < g->spike_count)) {
        size_t entered, left = g->spike_count - done, count = left < CHUNK ? left : CHUNK;
        int64_t stop_ns = count < left ? g->spikes[done + count].time_ns : INT64_MAX;
        status = sf_quantity_enter(g->state, g->spikes + done, count, stop_ns, g->error);
        const sf_sample *samples = sf_quantity_entered(g->state, &entered);
        if (status == SF_OK && puts) put_values(g, samples, entered);
        for (size_t i = 0; status == SF_OK && !puts && i < entered; i++)
            g->first[samples[i].state + 1]++;
        sf_quantity_leave(g->state, stop_ns);
        done += CHUNK;
    }
    return status;
}

/* Repeats the pass with more room until no partial occurrence is dropped, or the maximum room is reached. */
static int count_samples(gathering *g)
{
    for (g->setup.room = FIRST_ROOM;; g->setup.room *= 8) {
        int status = pass(g, false);
        if (status != SF_OK || sf_quantity_overflows(g->state) == 0 || g->setup.room >= MOST_ROOM)
            return status;
        sf_free(g->first);
        g->first = NULL;
    }
}

static int want_all(gathering *g)
{
    size_t states = sf_quantity_states(g->state);
    g->wanted = sf_resize(NULL, states, sizeof *g->wanted);
    if (g->wanted == NULL) return sf_fail_memory(g->error);
    for (size_t s = 0; s < states; s++)
        g->wanted[s] = true;
    return SF_OK;
}

/* Takes the values of the requested states, `wide` numbers each. */
static int take_values(gathering *g, size_t wide)
{
    size_t states = sf_quantity_states(g->state);
    for (size_t s = 0; s < states; s++)
        g->first[s + 1] = g->first[s] + (g->wanted[s] ? g->first[s + 1] : 0);
    g->series->values = sf_resize(NULL, g->first[states], wide * sizeof *g->series->values);
    return g->series->values != NULL ? pass(g, true) : sf_fail_memory(g->error);
}

/* ---- series ---- */

static int name_series(gathering *g, size_t s, const char *name)
{
    sf_free(g->series->names[s]);
    g->series->names[s] = sf_copy_string(name);
    return g->series->names[s] != NULL ? SF_OK : sf_fail_memory(g->error);
}

/* Counts the spikes of each unit; returns the number of units with any. */
static size_t count_spikes(size_t *spikes, const sf_spike *from, size_t count, size_t units)
{
    size_t with = 0;
    memset(spikes, 0, units * sizeof *spikes);
    for (size_t i = 0; i < count; i++)
        with += spikes[from[i].unit]++ == 0;
    return with;
}

/* Leaves out units that are silent in the analysed time and were not selected: they have no rate there. */
static int gather_units(gathering *g)
{
    const sf_recording *recording = g->recording;
    size_t units = recording->units.count, s = 0;
    size_t *spikes = sf_alloc(units, sizeof *spikes);
    if (spikes == NULL) return sf_fail_memory(g->error);
    size_t with = count_spikes(spikes, recording->spikes, recording->spike_count, units);
    int status = with > 0 ? sf_series_make(&g->series, with, 1, g->error)
                          : sf_fail(g->error, SF_DATA, recording->path, "no spikes in the selection");
    for (size_t u = 0; status == SF_OK && u < units; u++) {
        if (spikes[u] == 0) continue;
        g->series->units[s] = (int64_t)u;
        status = name_series(g, s++, recording->units.items[u].name);
    }
    count_spikes(spikes, g->spikes, g->spike_count, units);
    for (size_t u = 0; u < units; u++)
        g->wanted[u] = spikes[u] > 0;
    sf_free(spikes);
    if (status == SF_OK) status = take_values(g, 1);
    for (s = 0; status == SF_OK && s < with; s++) /* first[s] has advanced to the end of the state's values */
        g->series->first[s + 1] = g->first[g->series->units[s]];
    if (status == SF_OK) g->series->coincident = sf_quantity_coincident(g->state);
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
    size_t links = sf_quantity_states(g->state);
    int status = sf_series_make(&g->series, links, 1, g->error);
    for (uint32_t link = 0; status == SF_OK && link < links; link++)
        status = name_link(g, link);
    if (status == SF_OK) status = take_values(g, 1);
    if (status == SF_OK)
        memcpy(g->series->first + 1, g->first, links * sizeof *g->first); /* where their values end */
    return status;
}

static int gather_positions(gathering *g)
{
    int status = sf_series_make(&g->series, 1, 2, g->error);
    if (status == SF_OK) status = name_series(g, 0, "all spikes");
    if (status == SF_OK) status = take_values(g, 2);
    if (status == SF_OK && g->placed == 0)
        status = sf_fail(g->error, SF_DATA, g->recording->path, "its units have no positions on an array");
    if (status == SF_OK) g->series->first[1] = g->placed;
    return status;
}

/* ---- the call ---- */

static int (*const gatherers[])(gathering *g) = {
    [SF_QUANTITY_ISI] = gather_units,
    [SF_QUANTITY_DELAY] = gather_links,
    [SF_QUANTITY_RATE] = gather_units,
    [SF_QUANTITY_POSITION] = gather_positions,
};

enum { LEAST_IN_PART = 1000, MOST_PARTS = 64 };

/* Whether nearly all steps are integer multiples of step_ns, except for rounding. */
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

/* Times with a fixed number of digits, or in single precision, have a step that grows with time. The coarsest
 * step determines ties of intervals: a density with finer detail would show the clock. */
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
    if (g->setup.quantity == SF_QUANTITY_RATE) return (double)SF_SECOND / (double)g->setup.bin_ns;
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
    if (status == SF_OK) status = sf_recording_check_held(recording, error);
    if (status == SF_OK) status = look_at(&g, within);
    if (status == SF_OK) status = count_samples(&g);
    if (status == SF_OK) status = want_all(&g);
    if (status == SF_OK) status = gatherers[quantity](&g);
    if (status == SF_OK) {
        g.series->domain = sf_quantity_domain(quantity);
        g.series->tick = tick_of(&g);
        *out = g.series;
    } else {
        sf_series_free(g.series);
    }
    sf_quantity_close(g.state);
    sf_free(g.first);
    sf_free(g.wanted);
    sf_free(g.spans);
    return status;
}
