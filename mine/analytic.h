/* SPDX-License-Identifier: Apache-2.0 */
/** The analytic test: what the count of an episode is where its links hold with a given probability. */
#ifndef SF_MINE_ANALYTIC_H
#define SF_MINE_ANALYTIC_H

#include <stdint.h>

/** What the count of an episode is under the null: formulas in analytic.c. */
typedef struct sf_analytic {
    double expected, variance;
} sf_analytic;

/**
 * The count within `seconds` if each link holds with probability `link`: the first unit fires at first_hz,
 * and an occurrence takes span_s, the sum of the upper delay bounds.
 */
sf_analytic sf_analytic_count(uint32_t size, double first_hz, double span_s, double seconds, double link);

/** The probability of a count this high or higher is at most this (Cantelli's inequality). */
double sf_analytic_p(sf_analytic null, double count);

/** The link probability at which `count` would be expected, 0 .. 1: how strong the links are, on average. */
double sf_analytic_strength(uint32_t size, double first_hz, double span_s, double seconds, double count);

#endif
