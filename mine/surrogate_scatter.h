/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How much a recorded count scatters around the mean of its surrogates, and how much these do.
 *
 * Let dN(x) be how many pairs of a spike of A and one of B lie x apart, and let units be unrelated: then dN
 * scatters independently at different x, and a count that is a sum of dN(x) g(x) has the variance
 * V = integral of g(x)^2, in units of the pairs per unit of x. With 1 within the delay (low, high] and 0
 * elsewhere,
 *
 *     d(x)  what is counted as recorded
 *     h(x)  how likely a surrogate's offset brings x into the delay: the mean of surrogates
 *     b(x)  what is taken off for the blur of bursts: share (d(x) - (d(x - 3 w) + d(x + 3 w)) / 2)
 *
 * a recorded count less its blur and less the mean of its surrogates has g = d - b - h; a surrogate less that
 * mean has V = integral of d^2 - h^2, since its offsets are drawn anew for each segment and its pairs are
 * those that were recorded. The root of the ratio of both is below 1: the recorded count, with offset 0, lies
 * nearer to the mean of all offsets than these lie to each other. (Delays as long as shifts: 0.73; shifts of
 * half more: 0.79; three times as long: 0.89.) By so much less it has to deviate to mean the same.
 *
 * Where spikes lie to each other is more or less regular than that, or what units share differs between
 * pairs, z of pairs scatters otherwise: mine/sharpness.h holds it against what this says.
 */
#ifndef SF_MINE_SURROGATE_SCATTER_H
#define SF_MINE_SURROGATE_SCATTER_H

#include <synfire/mine.h>

/** How far the trains of segment-shift are displaced to see what bursts make of counts, in widths. */
#define SF_DISPLACED_WIDTHS 3

typedef struct sf_surrogate_scatter {
    double recorded; /**< variance of the recorded count around the mean of surrogates, by that of a count */
    double surrogates; /**< variance of surrogates around it */
} sf_surrogate_scatter;

/** How likely the offset of a segment brings a pair of spikes that lie `lag_ns` apart into the delay. */
double sf_surrogate_reach(sf_delay delay, int64_t width_ns, double lag_ns);

/** Of segment-shift by up to width_ns, with `share` of what the count falls off by 3 widths taken for blur.
 */
sf_surrogate_scatter sf_surrogate_scatter_of(sf_delay delay, int64_t width_ns, double share);

#endif
