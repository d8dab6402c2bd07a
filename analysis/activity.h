/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Summary measures of the spikes of an array, by which recordings are compared: rates, intervals, bursts of
 * units and of the network, and measures of the connectivity graph and of chains. docs/compare.md defines
 * each and says when not to trust it.
 *
 * Poisson spiking produces bursts too, and more of them in faster units. sf_activity_chance computes the
 * burst measures of Poisson trains of the same rates, and compare tests only what exceeds them.
 */
#ifndef SF_ANALYSIS_ACTIVITY_H
#define SF_ANALYSIS_ACTIVITY_H

#include "core/keys.h"
#include "graph/measure/measure.h"
#include "mine/bursts.h"
#include "mine/unit_bursts.h"

#include <synfire/graph.h>

/* All measures that recordings are compared by, in output order: id, name, unit ("" if dimensionless), axis
 * label with unit, and description without a full stop. CHANCE marks measures with a chance level other than
 * 0: burst measures (from sf_activity_chance) and the reliability of responses (from the baseline windows).
 */
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
    sf_network_rule network; /**< SF_NETWORK_RULE; also decides which units are active */
    sf_burst_rule bursts;    /**< SF_BURST_RULE */
} sf_activity_options;

/** Option rows, defaults, and the check that rows cannot express: SF_USAGE if bursts would begin at longer
 * intervals than the ones they continue at. */
extern const sf_key_table sf_activity_table;
int sf_activity_check(const sf_activity_options *options, sf_error *error);

#define SF_ACTIVITY_OPTIONS (*(const sf_activity_options *)sf_activity_table.defaults)

typedef struct sf_unit_activity {
    uint64_t spikes;
    double rate_hz; /**< over recorded time */
    bool active;
    uint64_t intervals; /**< number of intervals > 0 s that lie within one observed interval */
    double isi_cv;      /**< standard deviation / mean of these; NaN for fewer than SF_LEAST_INTERVALS */
    size_t first_burst, bursts; /**< index of the unit's first burst in unit_bursts; number of its bursts */
    uint64_t in_bursts;         /**< its spikes in them */
    sf_burst_limits limits;     /**< what they were found by */
} sf_unit_activity;

/** Minimum number of intervals for a coefficient of variation. */
#define SF_LEAST_INTERVALS 20

/** Zero-initialise. */
typedef struct sf_activity {
    size_t unit_count, active_units;
    size_t active_electrodes; /**< electrodes (without electrode numbers: positions) with an active unit;
                                 SIZE_MAX: the recording has neither */
    double duration_s;
    uint64_t spikes;
    sf_unit_activity *units;
    sf_unit_bursts unit_bursts; /**< one unit after the other */
    sf_bursts network;
} sf_activity;

/** Computes all of `activity`. SF_NO_MEMORY. Free with sf_activity_free, also after an error. */
int sf_activity_find(sf_activity *activity, const sf_recording *recording, const sf_activity_options *options,
                     sf_error *error);
void sf_activity_free(sf_activity *activity);

/** Fills in the measures up to SF_MEASURE_NETWORK_UNITS; NaN where a measure is undefined. */
void sf_activity_measure(const sf_activity *activity, double values[SF_MEASURES]);

/** Of a unit's drawings, means. */
typedef struct sf_unit_chance {
    double bursts, in_bursts;
} sf_unit_chance;

/**
 * Burst measures expected by chance: the mean over SF_CHANCE_ROUNDS drawings; all other measures are NaN.
 * Unit bursts are found in Poisson trains that keep, for each unit, the number of spikes in every 10 s of
 * recorded time and its shortest interval. Network bursts are found in the units' own trains, each circularly
 * shifted in recorded time. Durations, spikes and units of bursts are 0 if no drawing has a burst. Burst
 * limits that the definition derives from a train are derived anew for each drawing. `units` has one entry
 * per unit of the recording, or is NULL.
 */
int sf_activity_chance(double chance[SF_MEASURES], sf_unit_chance *units, const sf_recording *recording,
                       const sf_activity_options *options, uint64_t seed, sf_error *error);

#define SF_CHANCE_ROUNDS 20

/** Copies the recording and shifts each unit's train circularly in recorded time, as sf_activity_chance does
 * in this round. `shifted` owns only `spikes` (free with sf_free, also after an error); everything else
 * belongs to `recording`. SF_NO_MEMORY. */
int sf_activity_shift(sf_recording *shifted, const sf_recording *recording, uint64_t seed, uint64_t round,
                      sf_error *error);

/** Measures of the unweighted graph of the vertices in takes_part (NULL: all), and of `rewired` rewired
 * graphs for comparison; docs/network.md defines each measure. SF_NO_MEMORY. Free with
 * sf_network_measures_free, also after an error. */
int sf_network_measure(sf_network_measures *measures, const sf_graph *graph, const bool *takes_part,
                       uint32_t rewired, sf_error *error);

#endif
