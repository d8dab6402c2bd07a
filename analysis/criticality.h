/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Closeness of a network to criticality: branching ratio (analysis/branching.h), avalanches
 * (analysis/avalanches.h), power laws of their sizes and durations (analysis/power_fit.h), growth of size
 * with duration, and mean shape. docs/criticality.md says how far to trust each.
 *
 * Crackling noise (Sethna, Dahmen and Myers, Nature 410 (2001), 242): if sizes have the exponent a_s,
 * durations the exponent a_d, and the mean size of avalanches of duration T grows as T^g, a critical system
 * has g = (a_d - 1) / (a_s - 1). g is the slope of the least-squares fit of ln mean size to ln T, weighted by
 * the number of avalanches, from the xmin of durations on. The deviation is the difference between both (Ma
 * et al., Neuron 104 (2019), 655).
 *
 * Own share: the fraction of the covariance at lags up to the time constant that units produce individually,
 * by bursts and refractory times: the covariance of trains shifted against each other over that of the
 * recording.
 */
#ifndef SF_ANALYSIS_CRITICALITY_H
#define SF_ANALYSIS_CRITICALITY_H

#include "analysis/avalanches.h"
#include "analysis/branching.h"
#include "analysis/power_fit.h"
#include "core/keys.h"

#include <synfire/table.h>

typedef struct sf_criticality_options {
    int64_t avalanche_bin_ns; /**< 0: the mean interval between spikes of the population */
    int64_t branching_bin_ns; /**< of the branching ratio */
    uint64_t lags;            /**< of its fit, in these bins */
    uint64_t rounds;          /**< drawings from each power law; 0: no p */
    uint64_t seed;
} sf_criticality_options;

/** Their rows and their defaults. */
extern const sf_key_table sf_criticality_options_table;
#define SF_CRITICALITY_OPTIONS (*(const sf_criticality_options *)sf_criticality_options_table.defaults)

/** Rows of the table `avalanche_shapes`: groups of durations 4 to 7, 8 to 15, ... bins. */
#define SF_SHAPE_POINTS 20
#define SF_SHAPE_LEAST 20 /* of fewer avalanches there is no shape */
typedef struct sf_shape_point {
    uint64_t from_bins, to_bins, avalanches;
    double position, spikes, relative;
} sf_shape_point;

/** A scalar result; a row of the table `criticality`. */
typedef struct sf_criticality_measure {
    const char *measure;
    double value, low, high, chance;
    const char *unit, *what;
} sf_criticality_measure;

enum {
    SF_CRITICAL_BRANCHING,
    SF_CRITICAL_CONVENTIONAL,
    SF_CRITICAL_TIMESCALE,
    SF_CRITICAL_OWN_SHARE,
    SF_CRITICAL_AVALANCHES,
    SF_CRITICAL_SIZE,
    SF_CRITICAL_DURATION,
    SF_CRITICAL_GROWTH,
    SF_CRITICAL_PREDICTED,
    SF_CRITICAL_DEVIATION,
    SF_CRITICAL_MEASURES
};

/** Rows of the tables `avalanche_fits`, `autocorrelation` and `criticality_cautions`. */
typedef struct sf_avalanche_fit {
    const char *of; /**< "size", "duration" */
    sf_power_fit law;
} sf_avalanche_fit;

typedef struct sf_lag {
    double lag_s, r, error, fit;
} sf_lag;

typedef struct sf_criticality_caution {
    const char *of; /**< "branching_ratio", "size", "duration", "avalanches" */
    const char *caution;
    char text[200];
} sf_criticality_caution;

#define SF_CRITICALITY_CAUTIONS 20

/** Zero-initialise. */
typedef struct sf_criticality {
    sf_criticality_options options;
    sf_avalanches avalanches;
    sf_branching branching;
    sf_avalanche_fit fits[2]; /**< of sizes and of durations */
    sf_criticality_measure measures[SF_CRITICAL_MEASURES];
    sf_shape_point *shapes;
    size_t shape_count;
    sf_lag *lags; /**< branching.lags */
    sf_criticality_caution cautions[SF_CRITICALITY_CAUTIONS];
    size_t caution_count;
    uint64_t spikes;
    double duration_s;
} sf_criticality;

/** SF_USAGE for too many bins, SF_NO_MEMORY, SF_CANCELLED. Free with sf_criticality_free, also after an
 * error. */
int sf_criticality_find(sf_criticality *found, const sf_recording *recording,
                        const sf_criticality_options *options, const sf_progress *progress, sf_error *error);

/** Computes only the branching ratio: its measures, autocorrelation and cautions as in sf_criticality_find,
 * without avalanches. */
int sf_criticality_find_branching(sf_criticality *found, const sf_recording *recording,
                                  const sf_criticality_options *options, const sf_progress *progress,
                                  sf_error *error);
void sf_criticality_free(sf_criticality *found);

/** Its tables: criticality, avalanche_fits, avalanches, avalanche_shapes, autocorrelation,
 * criticality_cautions. */
#define SF_CRITICALITY_TABLES 6
sf_table sf_criticality_table(const sf_criticality *found, size_t which);

/** All of these, of an sf_criticality. */
extern const sf_table sf_criticality_document;

#endif
