/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where on the array the spikes of the window were seen, as a density over the plane. Positions are those of
 * units, so the state is exact: how many spikes of each unit the window holds. One thread.
 */
#ifndef SF_PIPELINE_POSITIONS_H
#define SF_PIPELINE_POSITIONS_H

#include "analysis/quantity.h"
#include "core/message.h"
#include "pipeline/options.h"

/** Zero-initialised it holds nothing. */
typedef struct sf_positions {
    size_t units;            /**< with a position */
    const double *xy;        /**< x and y of each, um */
    double *spikes;          /**< of each, in the window */
    double total;            /**< of all */
    double changed;          /**< spikes that entered and left since h was chosen */
    double reselect, h;      /**< h: the factor of the covariance root; 0: not chosen yet */
    double from[2], step[2]; /**< the cells of x and of y: `grid` each */
    size_t grid;
} sf_positions;

/** `window` is of positions; borrowed until close. SF_CONFIG where no two units have different x and y. */
int sf_positions_open(sf_positions *positions, const sf_live_density *wanted, const sf_quantity_state *window,
                      sf_error *error);
void sf_positions_close(sf_positions *positions);

/** Takes what entered the window and left it. */
void sf_positions_slide(sf_positions *positions, const sf_quantity_state *window);

/** The density in a new message, or NULL where there is none: too few spikes, or all on a line. SF_NO_MEMORY.
 */
int sf_positions_tell(sf_message **message, sf_positions *positions, sf_span window, sf_error *error);

#endif
