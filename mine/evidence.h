/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the p of one test after another, each of new spikes, say together, at whatever moment one looks.
 *
 * A p becomes a bet against chance that pays e(p) = (1 - p + p ln p) / (p ln^2 p), the mean of all k p^(k-1)
 * with 0 < k < 1 (Vovk and Wang 2021, E-values): by chance alone it pays 1 on average, at p = 1 it pays a
 * half. Of n surrogates p is one of 1 / (n + 1) .. 1, by which it pays less on average, 0.83 where n is 200:
 * what it pays is in parts of that. A link may begin at any test, so a share 1 / (k (k + 1)) of the stake
 * enters with test k, and what has entered stays in the game:
 *
 *     A_n = (A_(n-1) + 1 / (n (n + 1))) e(p_n),    evidence E_n = A_n + 1 / (n + 1),    E_0 = 1.
 *
 * By chance E has the mean 1 after every test whatever came before, so the probability that it ever reaches
 * 1 / alpha is at most alpha (Ville 1939). Nothing has to be said beforehand of when or how often one looks.
 */
#ifndef SF_MINE_EVIDENCE_H
#define SF_MINE_EVIDENCE_H

#include <stdint.h>

/** Zeroed: no test yet. */
typedef struct sf_evidence {
    double staked; /**< A */
    uint32_t tests;
} sf_evidence;

/** A is cut off here, so that a link that has gone fades within some 50 tests; that only lowers E. */
#define SF_EVIDENCE_MOST 1e15

/** The mean of e(p) by chance alone, given the number of surrogates. */
double sf_evidence_chance(uint32_t surrogates);

/** Takes the p of one more test, 0 < p <= 1, of spikes that no test before has seen; chance: as above, 1 for
 * a p that may be any number. */
void sf_evidence_add(sf_evidence *evidence, double p, double chance);

/** Takes what another bet on such spikes pays: 0 or more, and by chance at most 1 on average. */
void sf_evidence_stake(sf_evidence *evidence, double pays);

/** E: 1 without a test. */
double sf_evidence_of(const sf_evidence *evidence);

#endif
