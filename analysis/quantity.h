/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is told of spikes as samples of a distribution: intervals between the spikes of a unit, delays of an
 * episode, rates, positions. Each is defined once, as a state (analysis/quantity_kind.h): spikes enter in
 * stream order, between them come gaps in the observation, and what is too old leaves. A live window does all
 * of it; a recording is a window that nothing leaves.
 *
 * A sample is held as long as the spike that completes it: the later one of an interval, the last one of an
 * occurrence, the one that a position is of; a rate as long as all of its bin. One thread.
 */
#ifndef SF_ANALYSIS_QUANTITY_H
#define SF_ANALYSIS_QUANTITY_H

#include "core/recording.h"
#include "core/units.h"

#include <synfire/density.h>

/** The stretches in which some units were observed, ordered and disjoint; borrowed. */
typedef struct sf_observed {
    uint32_t first_unit;
    size_t unit_count;
    const sf_span *spans;
    size_t count;
} sf_observed;

/** How much of the time all units of all these were observed: all of it where there are none. */
int64_t sf_observed_ns(const sf_observed *observed, size_t count, sf_span within);

/** Whether they were so throughout. */
static inline bool sf_observed_whole(const sf_observed *observed, size_t count, sf_span within)
{
    return sf_observed_ns(observed, count, within) == within.stop_ns - within.start_ns;
}

typedef struct sf_quantity_setup {
    sf_quantity quantity;
    const sf_units *units;      /**< of the stream; borrowed while it is opened */
    uint32_t first_unit;        /**< isi, rate: state s is that unit + s ... */
    size_t unit_count;          /**< ... for so many */
    const sf_episode *episodes; /**< delay: state s is the last link of episode s; borrowed likewise */
    size_t episode_count;
    bool every_link;             /**< delay, of one episode: state s is its link s */
    uint32_t room;               /**< delay: as sf_watch_open */
    int64_t bin_ns;              /**< rate */
    const sf_observed *observed; /**< units without are observed all the time; borrowed until close */
    size_t observed_count;
} sf_quantity_setup;

typedef struct sf_sample {
    int64_t time_ns; /**< of the spike that completed it; rate: where its bin begins */
    double value;
    uint32_t state; /**< position: the unit's number among those that have one */
} sf_sample;

/** Samples by state, in stream order: those of state s are values[first[s]] .. values[first[s + 1] - 1]. */
typedef struct sf_state_samples {
    double *values;
    size_t capacity;
    size_t *first; /**< states + 1 */
} sf_state_samples;

/** Where a density of it best lies. */
sf_domain sf_quantity_domain(sf_quantity quantity);

/** Opaque: analysis/quantity_kind.h. */
typedef struct sf_quantity_state sf_quantity_state;

/** SF_DATA where an episode is not valid, SF_NO_MEMORY. */
int sf_quantity_open(sf_quantity_state **state, const sf_quantity_setup *setup, sf_error *error);
void sf_quantity_close(sf_quantity_state *state);

/**
 * Takes the spikes that come next, and with them all gaps that begin before stop_ns; no spike before it
 * follows. What entered and left before is no news from now on. SF_NO_MEMORY.
 */
int sf_quantity_enter(sf_quantity_state *state, const sf_spike *spikes, size_t count, int64_t stop_ns,
                      sf_error *error);

/** Nothing was observed of these units in the span, which does not begin before what entered. */
int sf_quantity_gap(sf_quantity_state *state, uint32_t first_unit, size_t unit_count, sf_span span,
                    sf_error *error);

/** Lets go of what is older than start_ns: the window begins there. */
void sf_quantity_leave(sf_quantity_state *state, int64_t start_ns);

/** What entered with the last call, what left since then, and all that is held; valid until the next one. */
const sf_sample *sf_quantity_entered(const sf_quantity_state *state, size_t *count);
const sf_sample *sf_quantity_left(const sf_quantity_state *state, size_t *count);
const sf_sample *sf_quantity_held(const sf_quantity_state *state, size_t *count);

/** Puts samples of one of these lists into *samples, which sf_state_samples_free takes; may be filled anew.
 * SF_NO_MEMORY. */
int sf_quantity_sort(const sf_quantity_state *state, const sf_sample *list, size_t count,
                     sf_state_samples *samples, sf_error *error);
void sf_state_samples_free(sf_state_samples *samples);

size_t sf_quantity_states(const sf_quantity_state *state);

/** isi: intervals of length 0, left out. */
uint64_t sf_quantity_coincident(const sf_quantity_state *state);

/** delay: partial occurrences given up for want of room; with any the delays may not be all. */
uint64_t sf_quantity_overflows(const sf_quantity_state *state);

/** position: x and y of the units that have one, by state. */
const double *sf_quantity_places(const sf_quantity_state *state);

#endif
