/* SPDX-License-Identifier: Apache-2.0 */
/** The shape of the spreading kernel (density/spread.h), for all that have to do with spread grids. */
#ifndef SF_CORE_BACKEND_SPREAD_H
#define SF_CORE_BACKEND_SPREAD_H

enum {
    SF_SPREAD_WIDTH = 16, /**< cells that a sample touches: from 7 before its own to 8 after it */
    SF_SPREAD_BEFORE = 7,
    SF_SPREAD_DEGREE = 13 /**< of the polynomials that stand for it in each cell, within 2e-16 */
};

#endif
