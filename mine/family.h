/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The correction for many candidates of one size: what stands out of this recording?
 *
 * q is the share of surrogates, the recorded stream counted with them, of which any candidate stands out as
 * far (Westfall and Young's maximum). Every size is corrected among its own: a chain is called only where
 * every one of its links is, as a pair, so that the error of pairs bounds that of all sizes
 * (mine/significance.h).
 */
#ifndef SF_MINE_FAMILY_H
#define SF_MINE_FAMILY_H

#include <stdint.h>

#include <synfire/error.h>

typedef struct sf_family {
    uint32_t surrogates;
    double *ascending; /**< what stands out most of each surrogate */
} sf_family;

/** maxima[surrogate]: how far the candidate stands out that does so most. SF_NO_MEMORY; sf_family_close in
 * any case. */
int sf_family_open(sf_family *family, const double *maxima, uint32_t surrogates, sf_error *error);
void sf_family_close(sf_family *family); /**< a zeroed object is allowed */

/** The q of a candidate that stands out so far. */
double sf_family_q(const sf_family *family, double stands_out);

/** What a candidate has to exceed for a q below `q`: -INFINITY where any would do, NaN where none would. */
double sf_family_critical(const sf_family *family, double q);

#endif
