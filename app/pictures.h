/* SPDX-License-Identifier: Apache-2.0 */
/** Panels drawn by several commands: curves, maps, and counts in bins. */
#ifndef SF_APP_PICTURES_H
#define SF_APP_PICTURES_H

#include "draw/panel.h"

/** A curve above 0. */
typedef struct app_curve {
    sf_panel_form form; /**< the ends of its axes are set from the curve */
    const double *x, *y;
    size_t count;      /**< points, x ascending */
    const double *rug; /**< samples shown as ticks at the bottom */
    size_t rug_count;
} app_curve;

void app_curve_draw(sf_figure *figure, const app_curve *curve);

/** Values on a grid. */
typedef struct app_map {
    sf_panel_form form;
    const double *x, *y;  /**< centres of the cells, evenly spaced, ascending; at least 2 each */
    size_t columns, rows; /**< how many */
    const double *values; /**< row after row, each with one y */
} app_map;

void app_map_draw(sf_figure *figure, const app_map *map);

/** Counts in bins of equal width, with the expected counts. */
typedef struct app_bars {
    const char *title;
    const char *about,
        *chance; /**< legend of counts and expected counts, in small letters above the axes; or NULL */
    const char *x_label, *y_label;
    double from, width; /**< of the first bin */
    size_t count;
    const double *counts;
    const double *expected;    /**< drawn as a line with a band of two standard deviations; NULL: not known */
    const double *also;        /**< drawn as a dashed line for comparison; or NULL */
    double mark_from, mark_to; /**< part of the axis to shade; none if equal */
    double height_mm;          /**< 0: the default of panels */
} app_bars;

void app_bars_draw(sf_figure *figure, const app_bars *bars);

#endif
