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
 * That is of counts to which each pair of spikes adds. Where the delay holds several spikes of a unit, each
 * spike still ends one occurrence at most: of a train by chance with `crowd` spikes expected in the delay, L
 * long, one is there with probability 1 - exp(-crowd), and whether one is there when the train is displaced
 * by x follows from it less the further that is, by
 *
 *     K(x) = (exp(-crowd |x| / L) - exp(-crowd)) / (1 - exp(-crowd)),   |x| < L, else 0
 *
 * which is the 1 - |x| / L of the above where crowd is 0, and falls off faster. With it both variances are
 * sums of K between all displacements, each with its weight in what is counted. The crowd follows from how
 * many of the pairs of spikes within the delay are counted, (1 - exp(-crowd)) / crowd. Of a chain these are
 * pairs of a spike of the last unit and one that ends an occurrence of those before it; the same K holds.
 *
 * Where spikes lie to each other is more or less regular than that, or what units share differs between
 * pairs, z of pairs scatters otherwise: mine/sharpness.h holds it against what this says.
 */
#ifndef SF_MINE_SURROGATE_SCATTER_H
#define SF_MINE_SURROGATE_SCATTER_H

#include "mine/events.h"

#include <synfire/mine.h>

/** How far the trains of segment-shift are displaced to see what bursts make of counts, in widths. */
#define SF_DISPLACED_WIDTHS 3

typedef struct sf_surrogate_scatter {
    double recorded; /**< variance of the recorded count around the mean of surrogates, by that of a count */
    double surrogates; /**< variance of surrogates around it */
} sf_surrogate_scatter;

/** How likely the offset of a segment brings a pair of spikes that lie `lag_ns` apart into the delay. */
double sf_surrogate_reach(sf_delay delay, int64_t width_ns, double lag_ns);

/** For segment-shift by up to width_ns, where `share` of the decrease of the count within 3 widths is taken
 * for blur. */
sf_surrogate_scatter sf_surrogate_scatter_of(sf_delay delay, int64_t width_ns, double share);

/** For counts that saturate, by the share of the spike pairs within the delay that are occurrences. */
enum { SF_SATURATIONS = 33, SF_MOST_STOPS = 64 };

typedef struct sf_surrogate_saturation {
    double factors[SF_SATURATIONS]; /**< at i / 32 of the pairs; linear between them */
} sf_surrogate_saturation;

/** By how much the root of the ratio of both variances is larger than sf_surrogate_scatter_of has it, where
 * the mean of surrogates and their variance are of so many `stops`, at most SF_MOST_STOPS, evenly spread over
 * the offsets; 0: of all offsets, for which as many as SF_MOST_STOPS stand. */
sf_surrogate_saturation sf_surrogate_saturation_of(sf_delay delay, int64_t width_ns, double share,
                                                   size_t stops);

/** The saturation at `counted` of `near` pairs. */
double sf_surrogate_saturated(const sf_surrogate_saturation *saturation, double counted, double near);

/** The same for one count and all offsets, without a table of many. */
double sf_surrogate_saturated_once(sf_delay delay, int64_t width_ns, double share, double counted,
                                   double near);

/** How many pairs of a spike of the last unit and one that ends an occurrence of the units before it lie
 * within the last delay, by the numbers of spikes of the units alone; at most as many as make so much
 * `counted` of a crowd. 0 where a unit has no spikes. Units are those of the events. */
double sf_surrogate_near_by_rates(const sf_events *events, const sf_episode *episode, double counted);

#endif
