/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How crowded pairs are: what tells how much their counts saturate (mine/surrogate_scatter.h).
 *
 * Each pair of spikes of A and B that lie x apart is brought into the delay by a surrogate's offsets with a
 * probability of reach(x). Their sum is how many pairs of spikes surrogates have there on average, of which
 * they count some: in bursts far fewer than where the same spikes lie evenly in time, whatever the rates.
 */
#ifndef SF_MINE_SURROGATE_NEAR_H
#define SF_MINE_SURROGATE_NEAR_H

#include "mine/surrogate_side.h"

/** A second or two of a core. */
#define SF_SURROGATE_MOST_NEAR 1.5e8

/** Fills side->near of a side whose rule is segment-shift, unless it is mirrored. If there are more than
 * about `most` pairs of spikes, it looks at a regular sample of the spikes of A and scales the result up.
 * SF_NO_MEMORY. */
int sf_surrogate_find_near(sf_surrogate_side *side, double most, unsigned threads, sf_error *error);

#endif
