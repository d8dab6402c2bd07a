/* SPDX-License-Identifier: Apache-2.0 */
/** Curves, maps and bars with axes as SVG files. */
#ifndef SF_APP_PLOT_H
#define SF_APP_PLOT_H

#include "core/error.h"
#include "core/text.h"

typedef struct app_plot_words {
    const char *title, *caption; /**< above the axes; caption in smaller letters under the title */
    const char *x_label, *y_label;
    unsigned place; /**< in a stack of pictures, from the top */
} app_plot_words;

typedef struct app_plot {
    app_plot_words words;
    bool log_x; /**< a logarithmic horizontal axis; every x is above 0 */
    const double *x, *y;
    size_t count;      /**< points of the curve, x ascending, y >= 0; the vertical axis begins at 0 */
    const double *rug; /**< samples shown as ticks under the curve; those outside the axis are left out */
    size_t rug_count;
} app_plot;

/** Appends the picture to an empty text. */
void app_plot_print(sf_text *svg, const app_plot *plot);

/** Values on a grid, the higher the darker. */
typedef struct app_plot_map {
    app_plot_words words;
    const double *x, *y;  /**< centres of the cells, evenly apart, ascending; at least 2 each */
    size_t columns, rows; /**< how many */
    const double *values; /**< row after row, each of the same y; not negative */
} app_plot_map;

void app_plot_map_print(sf_text *svg, const app_plot_map *map);

/** Counts in bins of equal width, beside what is expected in each and two standard deviations around it. */
typedef struct app_plot_bars {
    app_plot_words words;
    double from, width; /**< of the first bin */
    size_t count;
    const double *counts, *expected; /**< expected NULL: not known */
    double mark_from, mark_to;       /**< a stretch of the axis to be shaded; none where they are equal */
} app_plot_bars;

void app_plot_bars_print(sf_text *svg, const app_plot_bars *bars);

/** Before and after the pictures of a stack, each printed with its place. */
void app_plot_stack_begin(sf_text *svg, unsigned pictures);
void app_plot_stack_end(sf_text *svg);

#endif
