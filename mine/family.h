/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One correction for candidates of several sizes, which answer one question: what stands out of this
 * recording?
 *
 * How far counts stand out is not the same for pairs and for triples, which are fewer and more skewed. So of
 * each size the surrogates, the recorded stream with them, are ranked by how far the candidate stands out
 * that does so most (Westfall and Young's maximum); a surrogate is as good as its best rank of any size
 * (their minimum of p over sizes), and q is the share of surrogates that are as good as the candidate. With
 * one size that is the share that stand out as much.
 */
#ifndef SF_MINE_FAMILY_H
#define SF_MINE_FAMILY_H

#include <stdint.h>

#include <synfire/error.h>

typedef struct sf_family {
    uint32_t surrogates, level_count;
    double *ascending; /**< [level][surrogate]: the maxima of the level */
    uint32_t *good; /**< [level][surrogate] ascending: the least rank, from 1, with which each is as good */
} sf_family;

/**
 * `maxima` are by level and surrogate, -INFINITY in levels without candidates; recorded[level] is the
 * greatest of the recorded stream. SF_NO_MEMORY; sf_family_close in any case.
 */
int sf_family_open(sf_family *family, const double *maxima, const double *recorded, uint32_t level_count,
                   uint32_t surrogates, sf_error *error);
void sf_family_close(sf_family *family); /**< a zeroed object is allowed */

/** The q of a candidate of this level that stands out so far. */
double sf_family_q(const sf_family *family, uint32_t level, double stands_out);

/** What a candidate of this level has to exceed for a q below `q`: -INFINITY where any would do, NaN where
 * none would. */
double sf_family_critical(const sf_family *family, uint32_t level, double q);

#endif
