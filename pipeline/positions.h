/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The positions on the array of the spikes in the window, as a density over the plane. Positions are those of
 * units, so the state is exact: the number of spikes of each unit in the window. One thread.
 */
#ifndef SF_PIPELINE_POSITIONS_H
#define SF_PIPELINE_POSITIONS_H

#include "analysis/quantity.h"
#include "core/message.h"
#include "pipeline/options.h"

/** Zero-initialised it holds nothing. */
typedef struct sf_positions {
    size_t units;            /**< number of units with a position */
    const double *xy;        /**< x and y of each, um */
    double *spikes;          /**< of each unit, in the window */
    double total;            /**< of all units */
    double changed;          /**< spikes that entered and left since h was chosen */
    double reselect, h;      /**< h: the factor of the covariance root; 0: not chosen yet */
    double from[2], step[2]; /**< the cells of x and of y: `grid` each */
    size_t grid;
} sf_positions;

/** `window` holds positions; borrowed until close. SF_CONFIG if all units share an x or a y. */
int sf_positions_open(sf_positions *positions, const sf_live_density *wanted, const sf_quantity_state *window,
                      sf_error *error);
void sf_positions_close(sf_positions *positions);

/** Applies what entered and left the window. */
void sf_positions_slide(sf_positions *positions, const sf_quantity_state *window);

/** Writes the density into a new message, or NULL if there is none: too few spikes, or all on a line.
 * SF_NO_MEMORY. */
int sf_positions_tell(sf_message **message, sf_positions *positions, sf_span window, sf_error *error);

#endif
