/* SPDX-License-Identifier: Apache-2.0 */
/** Choosing a bandwidth by a named method: what the commands call. */
#ifndef SF_DENSITY_SELECT_H
#define SF_DENSITY_SELECT_H

#include "density/bandwidth.h"
#include "density/evaluate.h"
#include "density/search.h"

typedef struct sf_selector sf_selector;

/** Every method, a line each: its name, the most columns that it takes, and its function. The default first.
 */
#define SF_SELECTORS(SELECTOR)                                                                               \
    SELECTOR("isj", 1, select_isj)                                                                           \
    SELECTOR("plugin", 1, select_plugin)                                                                     \
    SELECTOR("lscv", SF_PAIRS_MOST_COLUMNS, select_lscv)                                                     \
    SELECTOR("lscv-paper", SF_PAIRS_MOST_COLUMNS, select_lscv_paper)                                         \
    SELECTOR("silverman", SF_PAIRS_MOST_COLUMNS, select_silverman)                                           \
    SELECTOR("scott", SF_PAIRS_MOST_COLUMNS, select_scott)

/** The selector of this name, or NULL. */
const sf_selector *sf_selector_find(const char *name);

/** Selector 0, 1, ... (the default first), or NULL after the last. */
const sf_selector *sf_selector_at(size_t index);

const char *sf_selector_name(const sf_selector *selector);

typedef struct sf_bandwidth {
    const char *method;
    size_t n, d;
    double h;               /**< d = 1: in data units (SF_DOMAIN_LOG: of log x); else h_relative */
    double h_relative;      /**< the kernel's covariance is h_relative^2 times that of the samples */
    double h0;              /**< (4/(d^2 (d+2) n))^(1/(d+4)), relative: the scale that searches start from */
    double objective;       /**< what the method minimised, at h; NaN where it minimises nothing */
    bool at_edge;           /**< the lowest score lies at the edge of the range that the method searches */
    const char *note;       /**< what a user must know of this result, a sentence; or NULL */
    sf_score_point *minima; /**< every local minimum found; h relative, ascending */
    size_t minimum_count;
    sf_ran ran;            /**< where sums over pairs did */
    sf_score_point *curve; /**< the scores the method looked at, where asked for; h relative, ascending */
    size_t curve_count;
} sf_bandwidth;

typedef struct sf_bandwidth_options {
    sf_domain domain;
    bool exact; /**< direct sums instead of the characteristic function; not with SF_DOMAIN_REFLECT */
    bool curve; /**< keep the curve */
    unsigned threads;
    const char *device;          /**< for sums over pairs, as sf_pairs_use; NULL: the CPU */
    const sf_progress *progress; /**< or NULL */
} sf_bandwidth_options;

/**
 * Selects a bandwidth for at least SF_SAMPLES_LEAST samples. SF_DATA where they are too few, degenerate, or
 * have more columns than the method takes; SF_NO_MEMORY, SF_CANCELLED; SF_USAGE for options that exclude each
 * other; SF_UNAVAILABLE where the device named is not there. Free the result with sf_bandwidth_free.
 */
int sf_bandwidth_select(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                        const sf_bandwidth_options *options, sf_error *error);

void sf_bandwidth_free(sf_bandwidth *bandwidth);

/** (4/(d^2 (d+2) n))^(1/(d+4)) */
double sf_bandwidth_h0(size_t n, size_t d);

#endif
