/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is shown of a density that follows a window: its averages over bins of its axis. Where kernels are
 * narrower than a bin, its average is still the share it holds.
 */
#ifndef SF_DENSITY_PICTURE_H
#define SF_DENSITY_PICTURE_H

#include "density/live.h"

/**
 * Fills in the bins of what sf_moving_select was called with last, none below 0: over all of the view, or,
 * where ends may be cut, over those of its bins that hold nearly all, so that a few long silences do not
 * squeeze the picture, and it moves by steps. `points` is scratch; it and `values` have room for the bins.
 */
void sf_moving_draw(sf_moving_picture *picture, const sf_moving_density *live, sf_moving_plan *plan,
                    const sf_moving_view *view, double *points, double *values);

#endif
