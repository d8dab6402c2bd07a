/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the spikes of an array are like in a few numbers, to compare recordings by: rates, intervals, bursts
 * of units and of the network, and what the connectivity graph and the chains add. docs/compare.md says what
 * each means and when not to trust it.
 *
 * Chance makes bursts too, the more the faster units fire: sf_activity_chance tells what the measures of
 * bursts would be of Poisson trains as fast, and compare tests what lies beyond that.
 */
#ifndef SF_ANALYSIS_ACTIVITY_H
#define SF_ANALYSIS_ACTIVITY_H

#include "core/keys.h"
#include "graph/measure/measure.h"
#include "mine/bursts.h"
#include "mine/unit_bursts.h"

#include <synfire/graph.h>

/** What recordings are compared by, in the order of all output. */
typedef enum sf_measured {
    SF_MEASURE_RATE,
    SF_MEASURE_ACTIVE,
    SF_MEASURE_ISI_CV,
    SF_MEASURE_BURST_RATE,
    SF_MEASURE_BURST_SHARE,
    SF_MEASURE_BURST_DURATION,
    SF_MEASURE_BURST_SPIKES,
    SF_MEASURE_NETWORK_RATE,
    SF_MEASURE_NETWORK_DURATION,
    SF_MEASURE_NETWORK_SHARE,
    SF_MEASURE_NETWORK_UNITS,
    SF_MEASURE_BRANCHING,
    SF_MEASURE_AVALANCHE_SIZE,
    SF_MEASURE_AVALANCHE_DURATION,
    SF_MEASURE_DENSITY,
    SF_MEASURE_DEGREE,
    SF_MEASURE_CLUSTERING,
    SF_MEASURE_RECIPROCITY,
    SF_MEASURE_PATH_LENGTH,
    SF_MEASURE_EFFICIENCY,
    SF_MEASURE_LOCAL_EFFICIENCY,
    SF_MEASURE_MODULARITY,
    SF_MEASURE_PARTICIPATION,
    SF_MEASURE_SMALL_WORLD,
    SF_MEASURE_CHAINS,
    SF_MEASURE_RESPONDING,
    SF_MEASURE_EVOKED,
    SF_MEASURE_RELIABILITY,
    SF_MEASURE_LATENCY,
    SF_MEASURE_SIMILARITY,
    SF_MEASURE_PLACED,
    SF_MEASURES
} sf_measured;

typedef struct sf_measure_kind {
    const char *name, *unit; /**< "" of a plain number */
    const char *label;       /**< of an axis, with its unit */
    const char *what;        /**< in plain words, without a full stop */
} sf_measure_kind;

/** Whether chance gives of it something that is not 0: of bursts, as sf_activity_chance knows, and of how
 * reliable responses are, as the baseline says. */
bool sf_measure_has_chance(sf_measured measure);

/** By sf_measured. */
const sf_measure_kind *sf_measure_about(sf_measured measure);

typedef struct sf_activity_options {
    sf_network_rule network; /**< SF_NETWORK_RULE; which units are active, too */
    sf_burst_rule bursts;    /**< SF_BURST_RULE */
} sf_activity_options;

/** Their rows, and what these do not say: SF_USAGE of bursts that would begin by longer intervals than they
 * go on by. */
extern const sf_key_table sf_activity_table;
int sf_activity_check(const sf_activity_options *options, sf_error *error);

#define SF_ACTIVITY_OPTIONS ((sf_activity_options){SF_NETWORK_RULE, SF_BURST_RULE})

typedef struct sf_unit_activity {
    uint64_t spikes;
    double rate_hz; /**< over recorded time */
    bool active;
    uint64_t intervals; /**< of more than 0 s that lie in one stretch of observation */
    double isi_cv;      /**< standard deviation / mean of these; NaN of fewer than SF_LEAST_INTERVALS */
    size_t first_burst, bursts; /**< where in unit_bursts its own begin, and how many they are */
    uint64_t in_bursts;         /**< its spikes in them */
    sf_burst_limits limits;     /**< what they were found by */
} sf_unit_activity;

/** Of fewer intervals no coefficient of variation is told. */
#define SF_LEAST_INTERVALS 20

/** Zero-initialise. */
typedef struct sf_activity {
    size_t unit_count, active_units;
    size_t active_electrodes; /**< electrodes, or where they have no numbers positions, that an active unit is
                                 on; SIZE_MAX: the recording has neither */
    double duration_s;
    uint64_t spikes;
    sf_unit_activity *units;
    sf_unit_bursts unit_bursts; /**< one unit after the other */
    sf_bursts network;
} sf_activity;

/** SF_NO_MEMORY; sf_activity_free whatever happened. */
int sf_activity_find(sf_activity *activity, const sf_recording *recording, const sf_activity_options *options,
                     sf_error *error);
void sf_activity_free(sf_activity *activity);

/** Fills in the measures up to SF_MEASURE_NETWORK_UNITS, NaN where there is nothing to take one of. */
void sf_activity_measure(const sf_activity *activity, double values[SF_MEASURES]);

/** Of a unit's drawings, means. */
typedef struct sf_unit_chance {
    double bursts, in_bursts;
} sf_unit_chance;

/**
 * The measures of bursts as chance gives them, the mean of SF_CHANCE_ROUNDS drawings; NaN of all others.
 * Bursts of units are those of Poisson trains that keep of each unit the spikes in every 10 s of recorded
 * time, and its shortest interval; network bursts those of the unit's own trains, each shifted round the
 * recorded time as a whole. Durations, spikes and units of bursts are 0 where no drawing has a burst.
 * Limits that a definition takes from a train are taken anew from each drawing. `units`, of every unit of the
 * recording, may be NULL.
 */
int sf_activity_chance(double chance[SF_MEASURES], sf_unit_chance *units, const sf_recording *recording,
                       const sf_activity_options *options, uint64_t seed, sf_error *error);

#define SF_CHANCE_ROUNDS 20

/** The recording with the unit's own trains, each shifted round the recorded time as a whole, as
 * sf_activity_chance shifts them in this round. All but `spikes`, which sf_free takes whatever happened, is
 * the recording's. SF_NO_MEMORY. */
int sf_activity_shift(sf_recording *shifted, const sf_recording *recording, uint64_t seed, uint64_t round,
                      sf_error *error);

/** What the graph of those that take part is like (NULL: all), every edge alike, beside as many rewired
 * graphs; docs/network.md has each measure. SF_NO_MEMORY; sf_network_measures_free whatever happened. */
int sf_network_measure(sf_network_measures *measures, const sf_graph *graph, const bool *takes_part,
                       uint32_t rewired, sf_error *error);

#endif
