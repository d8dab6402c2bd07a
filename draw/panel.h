/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A figure: panels with axes that flow in columns down a page of a given width, and a caption below.
 * Coordinates of a panel are in the numbers of its axes; drawings are clipped to the axes.
 */
#ifndef SF_DRAW_PANEL_H
#define SF_DRAW_PANEL_H

#include "core/json.h"
#include "draw/scene.h"

#include <synfire/table.h>

#define SF_COLUMN_MM 85.0
#define SF_PAGE_MM 180.0

typedef struct sf_axis {
    const char *label;        /**< including its unit: "time, s"; NULL: none */
    double from, to;          /**< from > to: reversed */
    bool log;                 /**< logarithmic; both ends above 0 */
    bool bare;                /**< no ticks: for names, or for positions measured by a scale bar */
    bool whole;               /**< for counts: no ticks between whole numbers */
    const char *const *names; /**< labels at 0, 1, ... instead of numbers; or NULL */
    const char *const
        *told; /**< names that are only in the figure's numbers, if there is no room to draw them; or NULL */
    size_t name_count; /**< of either */
} sf_axis;

/** Maps values to colours: viridis from the lowest, NaN white; or, if `diverging`, blue below the middle,
 * white at it and red above, NaN grey. */
typedef struct sf_colour_scale {
    const char *label; /**< with its unit; NULL: no bar is drawn */
    double from, to;
    bool log;       /**< by logarithm; values not above 0 get the lowest colour */
    bool reversed;  /**< highest values are darkest: for drawings on white */
    bool marks;     /**< any value is black: a mark of presence */
    bool diverging; /**< around its middle; on a logarithmic scale, the geometric mean of both ends */
} sf_colour_scale;

sf_colour sf_colour_of(const sf_colour_scale *scale, double value);

/** One for each unit of the longest chain. */
#define SF_PANEL_KEYS 16

/** Options of a panel. */
typedef struct sf_panel_form {
    const char *title; /**< or NULL */
    sf_axis x, y;
    double height_mm; /**< of the axes; 0: two thirds of their width */
    bool equal;       /**< equal scale on both axes; the height follows */
    size_t columns;   /**< number of the figure's columns that it takes; 0: one */
    sf_colour_scale colours;
    const char *key[SF_PANEL_KEYS]; /**< legend entries, ended by NULL, in small letters above the axes, on as
                                       many lines as needed */
    sf_colour key_colours[SF_PANEL_KEYS]; /**< colour of the line before an entry, or SF_NO_COLOUR */
    const char *name;                     /**< class of its group in SVG, for programs; or NULL */
} sf_panel_form;

/** Columns of a panel and its contents, as in a figure's numbers. */
extern const sf_table sf_panels_table;

typedef struct sf_figure {
    sf_scene scene;
    size_t columns;
    double at_mm, bottom_mm; /**< top of the present row of panels, and its lowest point so far */
    size_t used;             /**< columns used in this row */
    const char *kind;
    sf_json *numbers; /**< an open array that receives every panel with its contents; NULL: none */
} sf_figure;

/** A panel being drawn, and the position of its axes on paper. */
typedef struct sf_panel {
    sf_figure *figure;
    sf_scene *scene;
    sf_axis x, y;
    double left, top, width, height;
} sf_panel;

/** Starts an empty figure of this width, whose panels flow in `columns` columns. Free its scene with
 * sf_scene_free. */
sf_figure sf_figure_begin(const char *kind, double width_mm, size_t columns);

/** Ends the figure, with the caption below it; NULL: none. */
void sf_figure_end(sf_figure *figure, const char *caption);

/** Starts the next panel; sf_panel_end draws its axes over its contents. */
sf_panel sf_panel_begin(sf_figure *figure, const sf_panel_form *form);
void sf_panel_end(sf_panel *panel);

/** Converts to positions on paper, in mm. */
double sf_panel_x(const sf_panel *panel, double x);
double sf_panel_y(const sf_panel *panel, double y);

/** Draws a line through points in order of x. */
void sf_panel_line(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                   size_t count);

/** Draws a step for each bin, of equal width, or on a logarithmic axis with edges at ratio `width`; a fill
 * reaches down to `floor`, also where a value is NaN. */
void sf_panel_steps(sf_panel *panel, const sf_ink *ink, const char *class, double from, double width,
                    const double *values, size_t count, double floor);

/** Fills the area between two such lines. */
void sf_panel_band(sf_panel *panel, const sf_ink *ink, const char *class, double from, double width,
                   const double *low, const double *high, size_t count);

/** Minimum width on paper of a shaded part of the axis. */
#define SF_PANEL_SEEN_MM 0.12

/** Shades a part of the x axis from bottom to top, wide enough to be visible; a vertical line if from == to.
 */
void sf_panel_stretch(sf_panel *panel, const sf_ink *ink, const char *class, double from, double to);

/** Draws short vertical lines of this height, in units of the y axis, centred on each point. */
void sf_panel_ticks(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                    size_t count, double height);

void sf_panel_dots(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                   size_t count, double radius_mm);

/** Draws one dot, cell or arrow with a note that says what it is. The arrow starts and ends `short_mm` from
 * its ends, is bent to its left by `bend` of its length, so that both directions of a pair are visible, and
 * is a loop if both ends are equal. `value`: the number that its colour shows, or NaN. */
void sf_panel_dot(sf_panel *panel, const sf_ink *ink, double x, double y, double radius_mm, double value,
                  const char *note);
void sf_panel_cell(sf_panel *panel, const sf_ink *ink, double x0, double y0, double x1, double y1,
                   const char *note);
void sf_panel_arrow(sf_panel *panel, const sf_ink *ink, double x0, double y0, double x1, double y1,
                    double short_mm, double bend, double value, const char *note);

/** Fills the axes with rows of values, the first row at the bottom. */
void sf_panel_image(sf_panel *panel, const double *values, size_t columns, size_t rows,
                    const sf_colour_scale *scale);

/** Writes words in small letters. */
void sf_panel_words(sf_panel *panel, double x, double y, sf_anchor anchor, const char *words);

/** Draws a scale bar of a round length under the axes, with that length and its unit. */
void sf_panel_scale_bar(sf_panel *panel, const char *unit);

#endif
