/* SPDX-License-Identifier: Apache-2.0 */
/** How surprising a count is. */
#ifndef SF_CORE_POISSON_H
#define SF_CORE_POISSON_H

/** -log P(a Poisson number of this mean is `least`, a whole number, or more), exact however far out; INFINITY
 * of a mean of 0. */
double sf_poisson_surprise(double mean, double least);

#endif
