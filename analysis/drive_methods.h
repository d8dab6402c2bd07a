/* SPDX-License-Identifier: Apache-2.0 */
/** Methods that look at one pair of units at a time, and the regression, which looks at all. */
#ifndef SF_ANALYSIS_DRIVE_METHODS_H
#define SF_ANALYSIS_DRIVE_METHODS_H

#include "analysis/lags.h"
#include "core/progress.h"

#include <synfire/graph.h>

#define SF_DRIVE_MOST_LAG 50 /**< the largest last lag */

typedef struct sf_drive_job {
    sf_drive_method method;
    const sf_binned *trains;
    uint32_t first_lag, last_lag; /**< in bins, 1 <= first <= last <= SF_DRIVE_MOST_LAG */
    unsigned threads;
    const sf_progress *progress; /**< or NULL */
} sf_drive_job;

/** Of every pair [from * unit_count + to]; those of silent units and of a unit with itself are 0. */
typedef struct sf_drive_pairs {
    size_t unit_count;
    double *value;         /**< the method's own measure, with a sign */
    double *statistic;     /**< by which pairs are compared */
    double *counts;        /**< coincidences within the lags */
    uint8_t *first, *last; /**< the lags in which the effect is greatest */
} sf_drive_pairs;

/** What a method sees of a pair. */
typedef struct sf_drive_pair {
    const uint32_t *counts; /**< counts[lag]: how often the second fires `lag` bins after the first */
    const uint32_t
        *repeats; /**< the same of bins in which the second fires after it fired in the one before */
    double from_spikes, to_spikes, to_repeats, bins;
    double from_tiled, to_tiled; /**< shares of the bins within last_lag after the first, before the second */
    double followed, preceded;   /**< spikes of the first that one of the second follows, and so on */
    const double *edge_filter;   /**< of total spiking probability edges */
    double edge_tries;           /**< of it at the lags asked for */
    uint32_t first_lag, last_lag;
} sf_drive_pair;

typedef struct sf_drive_found {
    double value;
    uint32_t first, last; /**< lags */
    double error; /**< standard deviation of the value of a pair that has nothing to do with each other; 0:
                     its own */
    double tried; /**< independent values that it is the greatest of; 0: it is of all lags */
} sf_drive_found;

typedef struct sf_drive_way {
    const char *name;
    uint32_t beyond;     /**< lags beyond the last that it looks at */
    double wider;        /**< and a multiple of the last beyond it */
    bool repeats, tiles; /**< it asks for these */
    sf_drive_found (*find)(const sf_drive_pair *pair);
} sf_drive_way;

/** By sf_drive_method; that of the regression has no `find`. */
extern const sf_drive_way sf_drive_ways[SF_DRIVE_METHODS];

/** The edge filters of De Blasi et al. with their running sums, surrounds of 3 to 8 lags and windows of 2 to
 * 6, added up; the middle one is of the lag that is looked at. */
#define SF_DRIVE_EDGE_LAGS 27
void sf_drive_edge_filter(double weights[SF_DRIVE_EDGE_LAGS]);

/** How many independent values the filter gives at so many lags, by the squares of their correlations. */
double sf_drive_edge_tries(const double *weights, uint32_t lags);

/** Lags to either side that counts must reach. */
uint32_t sf_drive_reach(const sf_drive_job *job);

/** The regression of all pairs. SF_NO_MEMORY, SF_CANCELLED. */
int sf_drive_regress(sf_drive_pairs *pairs, const sf_drive_job *job, sf_error *error);

#endif
