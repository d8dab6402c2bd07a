/* SPDX-License-Identifier: Apache-2.0 */
/** Methods that process one pair of units at a time, and the regression, which processes all at once. */
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

/** Results per ordered pair, at [from * unit_count + to]; 0 for silent units and for a unit with itself. */
typedef struct sf_drive_pairs {
    size_t unit_count;
    double *value;         /**< the method's own measure, with a sign */
    double *statistic;     /**< by which pairs are compared */
    double *counts;        /**< coincidences within the lags */
    uint8_t *first, *last; /**< lag window with the largest effect */
} sf_drive_pairs;

/** What a method sees of a pair. */
typedef struct sf_drive_pair {
    const uint32_t *counts; /**< counts[lag]: how often the second fires `lag` bins after the first */
    /** the same, counting only bins in which the second also fired in the bin before */
    const uint32_t *repeats;
    double from_spikes, to_spikes, to_repeats, bins;
    double from_tiled, to_tiled; /**< fraction of bins within last_lag after a spike of the first; before one
                                    of the second */
    double followed, preceded; /**< spikes of the first followed by one of the second; of the second preceded
                                  by one of the first */
    const double *edge_filter; /**< of total spiking probability edges */
    double edge_tries;         /**< of it at the lags asked for */
    uint32_t first_lag, last_lag;
} sf_drive_pair;

typedef struct sf_drive_found {
    double value;
    uint32_t first, last; /**< lags */
    double error; /**< standard deviation of the value of an independent pair; 0: the value itself is the
                     statistic */
    double tried; /**< number of independent values of which it is the maximum; 0: it covers all lags */
} sf_drive_found;

typedef struct sf_drive_way {
    const char *name;
    uint32_t beyond;     /**< number of lags beyond last_lag that it reads */
    double wider;        /**< and a multiple of the last beyond it */
    bool repeats, tiles; /**< it asks for these */
    sf_drive_found (*find)(const sf_drive_pair *pair);
} sf_drive_way;

/** Indexed by sf_drive_method; the regression has no `find`. */
extern const sf_drive_way sf_drive_ways[SF_DRIVE_METHODS];

/** Sum of the edge filters of De Blasi et al., running sums included, over surrounds of 3 to 8 lags and
 * windows of 2 to 6; the middle weight belongs to the lag that is evaluated. */
#define SF_DRIVE_EDGE_LAGS 27
void sf_drive_edge_filter(double weights[SF_DRIVE_EDGE_LAGS]);

/** Effective number of independent filter outputs at `lags` lags, from their squared correlations. */
double sf_drive_edge_tries(const double *weights, uint32_t lags);

/** Number of lags on either side that the counts must cover. */
uint32_t sf_drive_reach(const sf_drive_job *job);

/** Computes the regression of all pairs. SF_NO_MEMORY, SF_CANCELLED. */
int sf_drive_regress(sf_drive_pairs *pairs, const sf_drive_job *job, sf_error *error);

#endif
