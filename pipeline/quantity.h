/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Quantities whose distribution is followed live: which samples a hop brings and which it takes away, for
 * each unit or episode, its `state`. Samples that leave have the very bits of those that came.
 */
#ifndef SF_PIPELINE_QUANTITY_H
#define SF_PIPELINE_QUANTITY_H

#include "pipeline/options.h"
#include "window/watch.h"

#include <synfire/mine.h>

/** Rates are of so many of the newest hops at most. */
#define SF_DENSITY_RATES 1000

/** What a hop changes in the window. Spikes leave after they entered, in the same order. */
typedef struct sf_window_change {
    const sf_spike *entered, *left;
    size_t entered_count, left_count;
    const sf_spike *window;
    size_t window_count;     /**< spikes of the window after it */
    int64_t window_start_ns; /**< of the window after it */
    int64_t hop_ns;
    bool partial; /**< the stream began or ended inside the hop: its rate means nothing */
} sf_window_change;

typedef struct sf_state_sample {
    double value;
    uint32_t state;
} sf_state_sample;

/** Samples by state: those of state s are values[first[s]] .. values[first[s + 1] - 1]. */
typedef struct sf_state_samples {
    sf_state_sample *found; /**< in the order of the stream */
    size_t count, capacity;
    double *values;
    size_t value_capacity;
    size_t *first; /**< states + 1 */
} sf_state_samples;

/** A delay in the window. */
typedef struct sf_window_delay {
    int64_t time_ns; /**< of the spike that completed it */
    uint32_t state;
    double delay;
} sf_window_delay;

typedef struct sf_quantity {
    sf_live_quantity kind;
    size_t count;                   /**< states */
    uint32_t first_unit;            /**< isi, rate: state s is that unit + s */
    sf_state_samples entered, left; /**< of the newest sf_quantity_slide */
    uint64_t coincident;            /**< isi: intervals of length 0, left out */

    int64_t *last_ns, *gone_ns; /**< isi: the newest spike that entered and that left, or INT64_MIN */

    sf_watch *watch;         /**< delay: state s is episode s */
    sf_window_delay *delays; /**< delay: those in the window are delays[oldest] .. [newest - 1] */
    size_t oldest, newest, delay_capacity;

    uint32_t *spikes; /**< rate: SF_DENSITY_RATES counts of each state, a ring */
    uint64_t hops;    /**< rate: so many came */
} sf_quantity;

/** Of `count` units from first_unit on (isi, rate), or of `count` episodes. SF_NO_MEMORY. */
int sf_quantity_open(sf_quantity *quantity, sf_live_quantity kind, size_t count, uint32_t first_unit,
                     const sf_episode *episodes, size_t unit_count, sf_error *error);
void sf_quantity_close(sf_quantity *quantity);

/** Fills in quantity->entered and quantity->left, in s or Hz. SF_NO_MEMORY. */
int sf_quantity_slide(sf_quantity *quantity, const sf_window_change *change, sf_error *error);

/** isi: after sf_quantity_slide, fills in all samples of the window as entered, and none that left.
 * SF_NO_MEMORY. */
int sf_quantity_take_window(sf_quantity *quantity, const sf_window_change *change, sf_error *error);

/** rate: the rate of a state `age` hops ago, age below the hops that are kept. */
double sf_quantity_rate(const sf_quantity *quantity, size_t state, uint64_t age, int64_t hop_ns);
uint64_t sf_quantity_rates_kept(const sf_quantity *quantity);

#endif
