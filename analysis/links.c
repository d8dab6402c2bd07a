/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/links.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <math.h>
#include <string.h>

/* Number of spikes of each unit; free with sf_free. NULL: out of memory. */
static uint64_t *count_spikes(const sf_recording *recording)
{
    uint64_t *unit_spikes = sf_alloc(recording->units.count, sizeof *unit_spikes);
    for (size_t i = 0; unit_spikes != NULL && i < recording->spike_count; i++)
        unit_spikes[recording->spikes[i].unit]++;
    return unit_spikes;
}

static sf_stretch stretch_of(const sf_recording *recording, const uint64_t *unit_spikes)
{
    return (sf_stretch){.spikes = recording->spikes,
                        .spike_count = recording->spike_count,
                        .unit_spikes = unit_spikes,
                        .unit_count = recording->units.count,
                        .duration_ns = sf_recording_duration_ns(recording)};
}

/* Takes ownership of the links, also on failure. */
static int build(sf_connectivity *graph, sf_link *links, size_t count, const sf_stretch *stretch,
                 sf_error *error)
{
    int status = sf_connectivity_take(graph, (uint32_t)stretch->unit_count, links, count, error);
    if (status == SF_OK)
        status = sf_connectivity_set_rates(graph, stretch->unit_spikes, stretch->duration_ns, error);
    if (status != SF_OK) sf_connectivity_free(graph);
    return status;
}

/* ---- frequent episodes ---- */

/* A value that only mined episodes have. */
static double found_of(const double *values, size_t i)
{
    return values != NULL ? values[i] : NAN;
}

int sf_links_of_episodes(sf_connectivity *graph, const sf_episodes *episodes, sf_error *error)
{
    *graph = (sf_connectivity){0};
    sf_link *links = sf_alloc(episodes->count, sizeof *links);
    if (links == NULL) return sf_fail_memory(error);
    size_t kept = 0;
    for (size_t i = 0; i < episodes->count; i++) {
        const sf_episode *pair = &episodes->episodes[i];
        if (pair->size != 2) continue;
        links[kept++] = (sf_link){
            .from = pair->units[0],
            .to = pair->units[1],
            .delay = pair->delays[0],
            .count = episodes->counts[i],
            .expected = episodes->expected[i],
            .p = found_of(episodes->p, i),
            .q = found_of(episodes->q, i),
            .expected_given_rest = found_of(episodes->expected_given_rest, i),
            .not_tested = episodes->not_tested != NULL ? sf_not_tested_text(episodes->not_tested[i]) : NULL};
    }
    const sf_stretch stretch = stretch_of(episodes->recording, episodes->unit_spikes);
    return build(graph, links, kept, &stretch, error);
}

static bool is_behind(const sf_pair_count *a, const sf_pair_count *b, const sf_delay *delays)
{
    const sf_delay *one = &delays[a->delay], *other = &delays[b->delay];
    if (a->from != b->from || a->to != b->to) return false; /* these are in order */
    return one->low_ns != other->low_ns ? one->low_ns > other->low_ns : one->high_ns > other->high_ns;
}

static uint32_t key_of(const sf_pair_count *pair, bool by_from)
{
    return by_from ? pair->from : pair->to;
}

/* Stable sort of pairs by one of their units. `starts` has room for unit_count + 1 numbers. */
static void sort_by_unit(sf_pair_count *into, const sf_pair_count *pairs, size_t count, bool by_from,
                         size_t *starts, size_t unit_count)
{
    memset(starts, 0, (unit_count + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[key_of(&pairs[i], by_from) + 1]++;
    for (size_t u = 0; u < unit_count; u++)
        starts[u + 1] += starts[u];
    for (size_t i = 0; i < count; i++)
        into[starts[key_of(&pairs[i], by_from)]++] = pairs[i];
}

/* Sorts the pairs in link order before they become links, which are six times as large; free with sf_free.
 * NULL: out of memory. */
static sf_pair_count *order_pairs(const sf_pair_count *pairs, size_t count, const sf_delay *delays,
                                  size_t unit_count)
{
    sf_pair_count *by_to = sf_resize(NULL, count, sizeof *by_to),
                  *ordered = sf_resize(NULL, count, sizeof *ordered);
    size_t *starts = sf_resize(NULL, unit_count + 1, sizeof *starts);
    bool made = by_to != NULL && ordered != NULL && starts != NULL;
    if (made) {
        sort_by_unit(by_to, pairs, count, false, starts, unit_count);
        sort_by_unit(ordered, by_to, count, true, starts, unit_count);
        for (size_t i = 1; i < count; i++) /* the few of both units by their delays */
            for (size_t at = i; at > 0 && is_behind(&ordered[at - 1], &ordered[at], delays); at--) {
                sf_pair_count moved = ordered[at];
                ordered[at] = ordered[at - 1];
                ordered[at - 1] = moved;
            }
    }
    sf_free(by_to);
    sf_free(starts);
    if (made) return ordered;
    sf_free(ordered);
    return NULL;
}

int sf_links_of_pairs(sf_connectivity *graph, const sf_pair_count *pairs, size_t count,
                      const sf_delay *delays, const sf_stretch *stretch, sf_error *error)
{
    *graph = (sf_connectivity){0};
    sf_link *links = sf_resize(NULL, count, sizeof *links);
    sf_pair_count *ordered = order_pairs(pairs, count, delays, stretch->unit_count);
    if (links == NULL || ordered == NULL) {
        sf_free(links);
        sf_free(ordered);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const sf_pair_count *pair = &ordered[i];
        const sf_delay delay = delays[pair->delay];
        links[i] = (sf_link){.from = pair->from,
                             .to = pair->to,
                             .delay = delay,
                             .count = pair->count,
                             .expected = sf_expected_pair(stretch->unit_spikes[pair->from],
                                                          stretch->unit_spikes[pair->to], delay,
                                                          stretch->duration_ns),
                             .p = NAN,
                             .q = NAN,
                             .expected_given_rest = NAN};
    }
    sf_free(ordered);
    return build(graph, links, count, stretch, error);
}

/* ---- spike-time tiling ---- */

/* Whether the spike lies in recorded time; call with ascending times, *at initially 0. */
static bool is_recorded(const sf_sttc_options *options, size_t *at, const sf_spike *spike)
{
    while (*at < options->observed_count && options->observed[*at].stop_ns <= spike->time_ns)
        ++*at;
    return *at < options->observed_count && options->observed[*at].start_ns <= spike->time_ns;
}

/* Ignores spikes outside recorded time, which some files have. */
static int split_recorded(sf_unit_trains *trains, const sf_spike *spikes, size_t count, size_t units,
                          const sf_sttc_options *options, sf_error *error)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < count && options->observed_count > 0; i++)
        kept += is_recorded(options, &at, &spikes[i]);
    if (options->observed_count == 0 || kept == count)
        return sf_trains_split(trains, spikes, count, units, error);
    sf_spike *recorded = sf_resize(NULL, kept, sizeof *recorded);
    if (recorded == NULL) return sf_fail_memory(error);
    kept = at = 0;
    for (size_t i = 0; i < count; i++)
        if (is_recorded(options, &at, &spikes[i])) recorded[kept++] = spikes[i];
    int status = sf_trains_split(trains, recorded, kept, units, error);
    sf_free(recorded);
    return status;
}

int sf_links_of_tiling(sf_connectivity *graph, const sf_stretch *stretch, const sf_sttc_options *options,
                       sf_error *error)
{
    *graph = (sf_connectivity){0};
    sf_unit_trains trains;
    int status =
        split_recorded(&trains, stretch->spikes, stretch->spike_count, stretch->unit_count, options, error);
    if (status != SF_OK) return status;
    status = sf_sttc_graph(graph, &trains, options, error);
    if (status == SF_OK)
        status = sf_connectivity_set_rates(graph, stretch->unit_spikes, stretch->duration_ns, error);
    if (status != SF_OK) sf_connectivity_free(graph);
    sf_trains_free(&trains);
    return status;
}

/* The end of a recorded span is exclusive, but the coefficient includes both ends; if only spikes define the
 * recorded time, it ends at the last spike. */
static void set_recorded(sf_sttc_options *options, const sf_recording *recording)
{
    options->recorded =
        (sf_recorded){recording->recorded.start_ns, recording->recorded.stop_ns - !recording->declared};
    options->observed = recording->observed;
    options->observed_count = recording->observed_count;
}

int sf_links_of_tiled(sf_connectivity *graph, const sf_recording *recording, sf_sttc_options options,
                      sf_error *error)
{
    *graph = (sf_connectivity){0};
    if (options.least_um > 0 && !sf_units_have_geometry(&recording->units))
        return sf_fail(error, SF_USAGE, "min_distance_um",
                       "needs positions of units, which this recording does not hold");
    uint64_t *unit_spikes = count_spikes(recording);
    if (unit_spikes == NULL) return sf_fail_memory(error);
    const sf_stretch stretch = stretch_of(recording, unit_spikes);
    set_recorded(&options, recording);
    options.units = &recording->units;
    int status = sf_links_of_tiling(graph, &stretch, &options, error);
    sf_free(unit_spikes);
    return status;
}

int sf_links_tiled_in(double *coefficients, const sf_connectivity *graph, const sf_recording *recording,
                      sf_error *error)
{
    for (size_t i = 0; i < graph->count; i++)
        coefficients[i] = NAN;
    if (graph->count == 0 || recording->spike_count == 0) return SF_OK;
    sf_sttc_options options = {.dt_ns = graph->links[0].delay.high_ns, /* of all links */
                               .threads = sf_thread_cores()};
    set_recorded(&options, recording);
    sf_unit_trains trains;
    int status = split_recorded(&trains, recording->spikes, recording->spike_count, recording->units.count,
                                &options, error);
    if (status == SF_OK) status = sf_sttc_of_links(coefficients, graph, &trains, &options, error);
    sf_trains_free(&trains);
    return status;
}
