/* SPDX-License-Identifier: Apache-2.0 */
/** Searching a score over bandwidths for its local minima, whoever computes the score. */
#ifndef SF_DENSITY_SEARCH_H
#define SF_DENSITY_SEARCH_H

#include "density/shared/bandwidth.h"

#include <synfire/error.h>

typedef struct sf_score_point {
    double h;
    double score;
} sf_score_point;

/** Scores and their derivatives at `count` bandwidths; returns an sf_status. */
typedef int (*sf_score_function)(void *context, const double *h, size_t count, double *scores,
                                 double *slopes);

typedef struct sf_search {
    size_t count;
    sf_score_point curve[SF_SEARCH_POINTS]; /**< h ascending */
    size_t lowest;                          /**< index of the lowest point of the curve */
    size_t minimum_count;
    sf_score_point minima[SF_SEARCH_MOST_MINIMA]; /**< interior ones, refined to 1e-12 of h, ascending */
} sf_search;

/** Sets search->count bandwidths from h_least to h_most, equidistant or, if `geometric`, in their logarithm.
 */
void sf_search_range(sf_search *search, size_t count, double h_least, double h_most, bool geometric);

/** Evaluates the curve at the bandwidths of sf_search_range, then refines every minimum. SF_OK or what
 * `score` returned. */
int sf_search_run(sf_search *search, sf_score_function score, void *context);

/**
 * The bandwidth between two where the derivative is negative and positive at which it is zero, to 1e-12 of
 * it; point->score is the score there.
 */
int sf_search_refine(sf_score_point *point, double below, double above, double slope_below,
                     double slope_above, sf_score_function score, void *context);

/** The lowest refined minimum, or NULL where there is none. */
const sf_score_point *sf_search_lowest_minimum(const sf_search *search);

#endif
