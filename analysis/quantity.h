/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Quantities of spikes as samples of a distribution: inter-spike intervals of a unit, delays of an episode,
 * rates, positions. Each is defined once, as a state (analysis/quantity_kind.h) that takes spikes in stream
 * order, takes gaps in the observation between them, and releases samples that are too old. A live window
 * does all of it; a recording is a window whose samples never leave.
 *
 * A sample is held as long as the spike that completes it: the later spike of an interval, the last of an
 * occurrence, the spike of a position; a rate is held as long as all of its bin. One thread.
 */
#ifndef SF_ANALYSIS_QUANTITY_H
#define SF_ANALYSIS_QUANTITY_H

#include "core/recording.h"
#include "core/units.h"

#include <synfire/density.h>

/** The spans in which a range of units was observed, ordered and disjoint; borrowed. */
typedef struct sf_observed {
    uint32_t first_unit;
    size_t unit_count;
    const sf_span *spans;
    size_t count;
} sf_observed;

/** How much of `within` all units of all `count` entries were observed; all of it if count is 0. */
int64_t sf_observed_ns(const sf_observed *observed, size_t count, sf_span within);

/** Whether they were so throughout. */
static inline bool sf_observed_whole(const sf_observed *observed, size_t count, sf_span within)
{
    return sf_observed_ns(observed, count, within) == within.stop_ns - within.start_ns;
}

typedef struct sf_quantity_setup {
    sf_quantity quantity;
    const sf_units *units;      /**< units of the stream; borrowed until sf_quantity_open returns */
    uint32_t first_unit;        /**< isi, rate: state s is unit first_unit + s ... */
    size_t unit_count;          /**< ... for so many */
    const sf_episode *episodes; /**< delay: state s is the last link of episode s; borrowed until
                                   sf_quantity_open returns */
    size_t episode_count;
    bool every_link;             /**< delay, of one episode: state s is its link s */
    uint32_t room;               /**< delay: as sf_watch_open */
    int64_t bin_ns;              /**< rate */
    const sf_observed *observed; /**< units without an entry are always observed; borrowed until close */
    size_t observed_count;
} sf_quantity_setup;

typedef struct sf_sample {
    int64_t time_ns; /**< time of the spike that completed it; rate: start of its bin */
    double value;
    uint32_t state; /**< position: index of the unit among those that have a position */
} sf_sample;

/** Samples grouped by state, in stream order: state s has values[first[s]] .. values[first[s + 1] - 1]. */
typedef struct sf_state_samples {
    double *values;
    size_t capacity;
    size_t *first; /**< states + 1 */
} sf_state_samples;

/** Where a density of it best lies. */
sf_domain sf_quantity_domain(sf_quantity quantity);

/** Opaque: analysis/quantity_kind.h. */
typedef struct sf_quantity_state sf_quantity_state;

/** Creates a state. SF_DATA if an episode is not valid, SF_NO_MEMORY. */
int sf_quantity_open(sf_quantity_state **state, const sf_quantity_setup *setup, sf_error *error);
void sf_quantity_close(sf_quantity_state *state);

/**
 * Adds the next spikes, and applies all gaps that begin before stop_ns; no later spike may be before stop_ns.
 * Resets the lists of samples that entered and left. SF_NO_MEMORY.
 */
int sf_quantity_enter(sf_quantity_state *state, const sf_spike *spikes, size_t count, int64_t stop_ns,
                      sf_error *error);

/** Declares that these units were not observed in `span`, which must not begin before the newest spike. */
int sf_quantity_gap(sf_quantity_state *state, uint32_t first_unit, size_t unit_count, sf_span span,
                    sf_error *error);

/** Releases samples older than start_ns, the new start of the window. */
void sf_quantity_leave(sf_quantity_state *state, int64_t start_ns);

/** The samples that entered with the last sf_quantity_enter, those that left since then, and all that are
 * held; valid until the next sf_quantity_enter. */
const sf_sample *sf_quantity_entered(const sf_quantity_state *state, size_t *count);
const sf_sample *sf_quantity_left(const sf_quantity_state *state, size_t *count);
const sf_sample *sf_quantity_held(const sf_quantity_state *state, size_t *count);

/** Groups samples of one of these lists by state. `samples` may be reused; free it with
 * sf_state_samples_free. SF_NO_MEMORY. */
int sf_quantity_sort(const sf_quantity_state *state, const sf_sample *list, size_t count,
                     sf_state_samples *samples, sf_error *error);
void sf_state_samples_free(sf_state_samples *samples);

size_t sf_quantity_states(const sf_quantity_state *state);

/** isi: intervals of length 0, left out. */
uint64_t sf_quantity_coincident(const sf_quantity_state *state);

/** delay: number of partial occurrences dropped for lack of room; if above 0, delays may be missing. */
uint64_t sf_quantity_overflows(const sf_quantity_state *state);

/** position: x and y of the units that have one, by state. */
const double *sf_quantity_places(const sf_quantity_state *state);

#endif
