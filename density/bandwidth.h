/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bandwidths of a Gaussian kernel density by direct double sums: exact, O(n^2), the rule that faster engines
 * are held against. Samples are one column. `threads` is the most threads used; results do not depend on it.
 * All n >= 2; SF_DATA for fewer, for values that are not finite and where all are equal (samples.h).
 */
#ifndef SF_DENSITY_BANDWIDTH_H
#define SF_DENSITY_BANDWIDTH_H

#include "density/pairs.h"

/** The steps of PLUG-IN, in data units. */
typedef struct sf_plugin {
    double variance, sigma;
    double psi8;     /**< of a normal density with this sigma */
    double g1, psi6; /**< pilot bandwidth and the functional estimated with it */
    double g2, psi4;
    double h;
} sf_plugin;

/**
 * Two-stage PLUG-IN (Wand and Jones, Kernel Smoothing, 1995, section 3.6; in the form of Andrzejewski,
 * Gramacki and Gramacki 2010 with K4(0) = +3/sqrt(2 pi)). Of samples that were opened as pairs, d = 1, where
 * those run. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_pairs_plugin(sf_plugin *plugin, sf_pairs *pairs, sf_error *error);

/** Steps 2 to 7 given V = 1: `psi` returns Psi_r(g), r = 6 or 4, of standardised samples. For every engine.
 */
int sf_plugin_steps(sf_plugin *plugin, const sf_moments *moments, double n,
                    int (*psi)(void *context, int r, double g, double *value), void *context);

#endif
