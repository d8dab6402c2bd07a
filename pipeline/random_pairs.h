/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Negative controls of live tests (Lipsitch 2010): pairs of units drawn by the seed and tested like the real
 * candidates in each stretch. Evidence multiplies from stretch to stretch, so a test that is repeatedly a
 * little wrong for unlinked pairs would end in a false finding. Most pairs of units are not linked: if
 * randomly drawn pairs stand out, the test is wrong in this stream, and its results are not published.
 *
 * Each stretch is a bet that the test is wrong. A control with 0.1 < p <= 0.5 pays 2, one with 0.5 < p <= 0.9
 * nothing, and any other returns the stake: the middle of the distribution alone shows where its centre is
 * (Efron 2004), and true links and their reverses among the controls lie beyond it. If p values are right,
 * the mean over a stretch's controls pays at most 1 on average, so the evidence (mine/evidence.h) reaches
 * SF_RANDOM_PAIRS_ALARM in at most one of 20 such runs. After an alarm it starts again, like all evidence.
 */
#ifndef SF_PIPELINE_RANDOM_PAIRS_H
#define SF_PIPELINE_RANDOM_PAIRS_H

#include "mine/evidence.h"

#include <stdbool.h>
#include <synfire/mine.h>

#define SF_RANDOM_PAIRS 40

/** Minimum number of units: with fewer, too many control pairs would be tested pairs. */
#define SF_RANDOM_PAIRS_LEAST_UNITS 6

#define SF_RANDOM_PAIRS_ALARM 20.0

/** Number of stretches that an alarm lasts, from the newest on. */
#define SF_RANDOM_PAIRS_ALARM_LASTS 40

/** The result of the controls. Zeroed: nothing yet. */
typedef struct sf_random_pairs {
    sf_evidence evidence; /**< since the last alarm */
    uint32_t alarmed;     /**< remaining stretches (with controls) of the alarm; 0: no alarm */
} sf_random_pairs;

/** The payout of a control with this p. */
double sf_random_pair_pays(double p);

/** Adds a stretch: `paid` is the mean payout over its `count` controls; count 0: no information. */
void sf_random_pairs_take(sf_random_pairs *controls, double paid, size_t count);

/** Units ordered by how often they fire. */
typedef struct sf_rates {
    uint32_t *order, *place; /**< units ordered by count, and the rank of each unit */
    size_t count;            /**< number of units; 0: not known yet */
} sf_rates;

/** Ranks units by their counts. SF_NO_MEMORY. */
int sf_rates_rank(sf_rates *rates, const uint32_t *counts, size_t count, sf_error *error);
void sf_rates_free(sf_rates *rates);

/** The index of the pair, below `pairs`, that control `index` of a stretch resembles. */
size_t sf_random_pair_choose(size_t pairs, uint64_t seed, uint64_t stretch, uint64_t index);

/**
 * Draws control `index` of a stretch: a pair of units with about the rates of `like` and its delay, but
 * neither that pair nor its reverse. False if there is none.
 */
bool sf_random_pair_draw(sf_episode *control, const sf_episode *like, const sf_rates *rates, uint64_t seed,
                         uint64_t stretch, uint64_t index);

#endif
