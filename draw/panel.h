/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A figure: panels with axes that flow in columns down a page of a given width, and a caption under them.
 * Everything a panel is given is in the numbers of its axes; what leaves them is cut off.
 */
#ifndef SF_DRAW_PANEL_H
#define SF_DRAW_PANEL_H

#include "core/json.h"
#include "draw/scene.h"

#include <synfire/table.h>

#define SF_COLUMN_MM 85.0
#define SF_PAGE_MM 180.0

typedef struct sf_axis {
    const char *label;        /**< with its unit: "time, s"; NULL: none */
    double from, to;          /**< from > to: it goes down */
    bool log;                 /**< both ends above 0 */
    bool bare;                /**< no ticks: of names, or of places that a scale bar measures */
    bool whole;               /**< of things that are counted: no ticks between whole numbers */
    const char *const *names; /**< of 0, 1, ... in place of numbers; or NULL */
    const char *const
        *told;         /**< names where there is no room for them, which only the numbers tell; or NULL */
    size_t name_count; /**< of either */
} sf_axis;

/** Values as colours: viridis from the lowest to the highest, NaN white; or of `diverging` blue below the
 * middle of the scale, white there and red above, NaN grey. */
typedef struct sf_colour_scale {
    const char *label; /**< with its unit; NULL: no bar is drawn */
    double from, to;
    bool log;       /**< by their logarithm; what is not above 0 is the lowest */
    bool reversed;  /**< the highest are the darkest: of what lies on white */
    bool marks;     /**< any value is black: something is there */
    bool diverging; /**< around its middle, of a logarithmic one the geometric mean of both ends */
} sf_colour_scale;

sf_colour sf_colour_of(const sf_colour_scale *scale, double value);

/** One for each unit of the longest chain. */
#define SF_PANEL_KEYS 16

/** What a panel is to be like. */
typedef struct sf_panel_form {
    const char *title; /**< or NULL */
    sf_axis x, y;
    double height_mm; /**< of the axes; 0: two thirds of their width */
    bool equal;       /**< one scale for both axes; the height then follows */
    size_t columns;   /**< of the figure that it takes; 0: one */
    sf_colour_scale colours;
    const char *key[SF_PANEL_KEYS]; /**< what colours mean, NULL at the end, in small letters above the axes,
                                       in as many lines as they take */
    sf_colour key_colours[SF_PANEL_KEYS]; /**< a line of this colour before it, or SF_NO_COLOUR */
    const char *name;                     /**< of the group in SVG: a letter for programs; or NULL */
} sf_panel_form;

/** Columns of a panel and of all it is given, as a figure's numbers have them. */
extern const sf_table sf_panels_table;

typedef struct sf_figure {
    sf_scene scene;
    size_t columns;
    double at_mm, bottom_mm; /**< where this row of panels begins, and how far it has come */
    size_t used;             /**< columns of this row */
    const char *kind;
    sf_json *numbers; /**< an open array that takes every panel and all it is given; NULL: nobody asks */
} sf_figure;

/** A panel that is being drawn: where its axes lie on paper. */
typedef struct sf_panel {
    sf_figure *figure;
    sf_scene *scene;
    sf_axis x, y;
    double left, top, width, height;
} sf_panel;

/** An empty figure of this width whose panels flow in so many columns. sf_scene_free takes its scene. */
sf_figure sf_figure_begin(const char *kind, double width_mm, size_t columns);

/** Ends the figure, with the caption under it; NULL: none. */
void sf_figure_end(sf_figure *figure, const char *caption);

/** Begins the next panel; sf_panel_end draws its axes over what was drawn. */
sf_panel sf_panel_begin(sf_figure *figure, const sf_panel_form *form);
void sf_panel_end(sf_panel *panel);

/** On paper, in mm. */
double sf_panel_x(const sf_panel *panel, double x);
double sf_panel_y(const sf_panel *panel, double y);

/** A line through points in order of x. */
void sf_panel_line(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                   size_t count);

/** A step in each bin of equal width, or on a logarithmic axis each `width` times as far as the last; a fill
 * reaches down to `floor`, where a value is NaN. */
void sf_panel_steps(sf_panel *panel, const sf_ink *ink, const char *class, double from, double width,
                    const double *values, size_t count, double floor);

/** What lies between two such lines. */
void sf_panel_band(sf_panel *panel, const sf_ink *ink, const char *class, double from, double width,
                   const double *low, const double *high, size_t count);

/** The width of a stretch on paper at least. */
#define SF_PANEL_SEEN_MM 0.12

/** A stretch of the x axis from bottom to top, wide enough to be seen; a line across where from == to. */
void sf_panel_stretch(sf_panel *panel, const sf_ink *ink, const char *class, double from, double to);

/** Short upright lines of this height, in the numbers of the y axis, around each point. */
void sf_panel_ticks(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                    size_t count, double height);

void sf_panel_dots(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                   size_t count, double radius_mm);

/** One dot, one cell or one arrow with what it is. The arrow ends `short_mm` before and after its ends, is
 * bent to its left by `bend` of its length, so that both directions of a pair are seen, and is a loop where
 * it comes back. `value`: the number that its colour tells, or NaN. */
void sf_panel_dot(sf_panel *panel, const sf_ink *ink, double x, double y, double radius_mm, double value,
                  const char *note);
void sf_panel_cell(sf_panel *panel, const sf_ink *ink, double x0, double y0, double x1, double y1,
                   const char *note);
void sf_panel_arrow(sf_panel *panel, const sf_ink *ink, double x0, double y0, double x1, double y1,
                    double short_mm, double bend, double value, const char *note);

/** Rows of values that fill the axes, the first row at the bottom. */
void sf_panel_image(sf_panel *panel, const double *values, size_t columns, size_t rows,
                    const sf_colour_scale *scale);

/** Words in small letters. */
void sf_panel_words(sf_panel *panel, double x, double y, sf_anchor anchor, const char *words);

/** A bar of a round length under the axes, with that length and its unit. */
void sf_panel_scale_bar(sf_panel *panel, const char *unit);

#endif
