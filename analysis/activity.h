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

/* What recordings are compared by, in the order of all output: its name, unit ("" of a plain number), label
 * of an axis with its unit, and what it is, without a full stop. CHANCE: chance gives of it something that is
 * not 0: of bursts, as sf_activity_chance knows, and of how reliable responses are, as the baseline says. */
#define SF_MEASURES_ARE(PLAIN, CHANCE)                                                                       \
    PLAIN(RATE, "rate_hz", "Hz", "firing rate, Hz", "mean firing rate of active units")                      \
    PLAIN(ACTIVE, "active_units", "", "active units", "units that are active")                               \
    PLAIN(ISI_CV, "isi_cv", "", "CV of intervals",                                                           \
          "coefficient of variation of inter-spike intervals above 0 s, median over active units")           \
    CHANCE(BURST_RATE, "burst_rate", "1/min", "bursts of a unit, 1/min",                                     \
           "bursts of a unit a minute, mean over active units")                                              \
    CHANCE(BURST_SHARE, "burst_share", "", "spikes in bursts, share",                                        \
           "share of a unit's spikes in its bursts, mean over active units")                                 \
    CHANCE(BURST_DURATION, "burst_s", "s", "burst, s",                                                       \
           "duration of a burst of an active unit, mean over bursts")                                        \
    CHANCE(BURST_SPIKES, "burst_spikes", "", "spikes in a burst",                                            \
           "spikes in such a burst, mean over bursts")                                                       \
    CHANCE(NETWORK_RATE, "network_burst_rate", "1/min", "network bursts, 1/min", "network bursts a minute")  \
    CHANCE(NETWORK_DURATION, "network_burst_s", "s", "network burst, s",                                     \
           "duration of a network burst, mean")                                                              \
    CHANCE(NETWORK_SHARE, "network_burst_share", "", "spikes in network bursts, share",                      \
           "share of all spikes in network bursts")                                                          \
    CHANCE(NETWORK_UNITS, "network_burst_units", "", "units in network bursts, share",                       \
           "share of active units that fire in a network burst, mean")                                       \
    PLAIN(BRANCHING, "branching_ratio", "", "branching ratio",                                               \
          "spikes that a spike brings about in the next bin, by multistep regression")                       \
    PLAIN(AVALANCHE_SIZE, "avalanche_size_exponent", "", "exponent of avalanche sizes",                      \
          "exponent of the power law fitted to the sizes of avalanches")                                     \
    PLAIN(AVALANCHE_DURATION, "avalanche_duration_exponent", "", "exponent of avalanche durations",          \
          "exponent of the power law fitted to the durations of avalanches")                                 \
    PLAIN(DENSITY, "density", "", "edge density",                                                            \
          "edges between active units, of the ordered pairs that there are")                                 \
    PLAIN(DEGREE, "degree", "", "neighbours of a unit", "neighbours of an active unit in the graph, mean")   \
    PLAIN(CLUSTERING, "clustering", "", "clustering",                                                        \
          "share of a unit's pairs of neighbours that are neighbours, mean")                                 \
    PLAIN(RECIPROCITY, "reciprocity", "", "reciprocity", "share of edges whose reverse is an edge too")      \
    PLAIN(PATH_LENGTH, "path_length", "", "path length",                                                     \
          "edges on the shortest path between two active units that one joins, mean")                        \
    PLAIN(EFFICIENCY, "efficiency", "", "efficiency",                                                        \
          "1 / path length over all ordered pairs of active units, mean")                                    \
    PLAIN(LOCAL_EFFICIENCY, "local_efficiency", "", "local efficiency",                                      \
          "efficiency among a unit's neighbours, mean")                                                      \
    PLAIN(MODULARITY, "modularity", "", "modularity", "share of edges within modules less that of chance")   \
    PLAIN(PARTICIPATION, "participation", "", "participation",                                               \
          "how evenly a unit's edges spread over modules, mean")                                             \
    PLAIN(SMALL_WORLD, "small_world", "", "small-worldness",                                                 \
          "clustering over path length, each over its mean in rewired graphs")                               \
    PLAIN(CHAINS, "chains", "", "chains", "significant chains of three and more units")                      \
    PLAIN(RESPONDING, "responding_units", "", "units that respond, share",                                   \
          "share of active units that respond to --marker, with q of 0.05 or less")                          \
    PLAIN(EVOKED, "evoked_spikes", "", "evoked spikes a trial",                                              \
          "spikes of an active unit in the response window beyond its baseline, a trial, mean")              \
    CHANCE(RELIABILITY, "reliability", "", "reliability of responses",                                       \
           "share of trials with a spike of an active unit in the response window, mean")                    \
    PLAIN(LATENCY, "response_latency_ms", "ms", "first-spike latency, ms",                                   \
          "median first-spike latency of active units that respond with more spikes, mean")                  \
    PLAIN(SIMILARITY, "burst_similarity", "", "similarity of bursts",                                        \
          "similarity of the order of units in two network bursts, mean")                                    \
    PLAIN(PLACED, "placed_units", "", "units that keep their place, share",                                  \
          "share of the backbone that keeps its place in network bursts, with q of 0.05 or less")

#define SF_MEASURE_PLACE(place, ...) SF_MEASURE_##place,
typedef enum sf_measured { SF_MEASURES_ARE(SF_MEASURE_PLACE, SF_MEASURE_PLACE) SF_MEASURES } sf_measured;

typedef struct sf_measure_kind {
    const char *name, *unit, *label, *what;
    bool has_chance;
} sf_measure_kind;

/** By sf_measured. */
const sf_measure_kind *sf_measure_about(sf_measured measure);

static inline bool sf_measure_has_chance(sf_measured measure)
{
    return sf_measure_about(measure)->has_chance;
}

typedef struct sf_activity_options {
    sf_network_rule network; /**< SF_NETWORK_RULE; which units are active, too */
    sf_burst_rule bursts;    /**< SF_BURST_RULE */
} sf_activity_options;

/** Their rows, their defaults, and what rows do not say: SF_USAGE of bursts that would begin by longer
 * intervals than they go on by. */
extern const sf_key_table sf_activity_table;
int sf_activity_check(const sf_activity_options *options, sf_error *error);

#define SF_ACTIVITY_OPTIONS (*(const sf_activity_options *)sf_activity_table.defaults)

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
