/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/panel.h"

#include "core/describe/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EDGE_MM 2.0
#define GAP_MM 4.0
#define TITLE_PT 8
#define LABEL_PT 7
#define TICK_PT 6
#define LEAST_PT 5.5
#define LEAST_KEY_PT 4.5
#define KEY_LINE_MM 4.3 /* of a colour, before its words */
#define KEY_GAP_MM 2.0
#define KEY_HEIGHT_MM 3.4 /* of a line of the key */
#define NAME_MM 2.2       /* from one name beside an axis to the next */
#define NAME_SIZE 128
#define MOST_TICKS 64
#define MOST_UPRIGHT 1.2 /* the height of axes of one scale, by their width */
#define AXIS_MM 0.2
#define TICK_MM 1.0
#define BAR_MM 2.2 /* of colours */
#define BAR_LEFT_MM 2.5
#define BAR_LABEL_MM 2.4 /* from its right edge on, beside the ticks' words */

static const sf_ink axis_ink = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = AXIS_MM};

/* ---- from numbers to paper ---- */

static double share_of(const sf_axis *axis, double value)
{
    return axis->log ? log(value / axis->from) / log(axis->to / axis->from)
                     : (value - axis->from) / (axis->to - axis->from);
}

double sf_panel_x(const sf_panel *panel, double x)
{
    return panel->left + share_of(&panel->x, x) * panel->width;
}

double sf_panel_y(const sf_panel *panel, double y)
{
    return panel->top + (1 - share_of(&panel->y, y)) * panel->height;
}

/* Viridis ends in a yellow that is lost on white. */
#define PALEST 0.88

static sf_colour shade(const sf_colour_scale *scale, double share)
{
    if (scale->diverging) return sf_diverging(share);
    return sf_viridis(scale->reversed ? PALEST * (1 - share) : share);
}

sf_colour sf_colour_of(const sf_colour_scale *scale, double value)
{
    double share = 0;
    if (isnan(value)) return scale->diverging ? SF_PALE : 0xffffff;
    if (scale->marks) return SF_BLACK;
    if (scale->to > scale->from && (!scale->log || value > 0))
        share = scale->log ? log(value / scale->from) / log(scale->to / scale->from)
                           : (value - scale->from) / (scale->to - scale->from);
    return shade(scale, fmin(fmax(share, 0), 1));
}

/* ---- ticks ---- */

/* 1, 2 or 5 times a power of ten, so that at most about `wanted` steps fit. */
static double nice_step(double length, double wanted)
{
    double rough = length / wanted, power = pow(10, floor(log10(rough)));
    double digit = rough / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/* An axis that goes down, the other way round: its ticks are the same. */
static sf_axis upward(const sf_axis *axis)
{
    sf_axis up = *axis;
    up.from = fmin(axis->from, axis->to);
    up.to = fmax(axis->from, axis->to);
    return up;
}

/* The ticks of an axis, upward. */
typedef struct ticks {
    double at[MOST_TICKS], step; /**< step: 0 of a logarithmic axis */
    size_t count;
} ticks;

static void add_tick(ticks *all, const sf_axis *axis, double tick)
{
    bool shown = tick >= axis->from && (!axis->whole || tick == round(tick));
    if (shown && all->count < MOST_TICKS) all->at[all->count++] = tick;
}

static void list_even(ticks *all, const sf_axis *axis, double wanted)
{
    double step = nice_step(axis->to - axis->from, wanted), around = (axis->to - axis->from) * 1e-9;
    all->step = axis->whole ? fmax(step, 1) : step;
    const sf_axis held = {.from = axis->from - around, .to = axis->to + around, .whole = axis->whole};
    double first = ceil(held.from / all->step);
    for (int k = 0; k < MOST_TICKS && (first + k) * all->step <= held.to; k++)
        add_tick(all, &held, (first + k) * all->step);
}

/* Digits whose logarithms lie about evenly in a decade. */
typedef struct digits {
    double digit[10];
    int count;
} digits;

static const digits series[] = {
    {{1}, 1}, {{1, 2, 5}, 3}, {{1, 1.5, 2, 3, 5, 7}, 6}, {{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, 10}};
#define FINEST ((int)(sizeof series / sizeof series[0]) - 1)

static void list_decades(ticks *all, const sf_axis *axis, const digits *of, int every)
{
    const sf_axis held = {.from = axis->from * (1 - 1e-9), .to = axis->to * (1 + 1e-9), .whole = axis->whole};
    all->count = 0;
    for (int power = (int)floor(log10(axis->from)); power <= log10(held.to); power++)
        for (int d = 0; d < of->count && power % every == 0; d++)
            if (of->digit[d] * pow(10, power) <= held.to) add_tick(all, &held, of->digit[d] * pow(10, power));
}

/* A logarithmic axis uses the finest series of ticks that fits, with at least two ticks; if its ends differ
 * by less than a factor of two it has even steps, which look the same there. */
static ticks ticks_of(const sf_axis *of, double wanted)
{
    ticks all = {.count = 0};
    const sf_axis axis = upward(of);
    if (axis.bare || axis.names != NULL) return all;
    if (!axis.log || axis.to < 2 * axis.from) {
        for (double more = wanted; all.count < 2 && more <= 2 * wanted; more *= 2) {
            all.count = 0;
            list_even(&all, &axis, more);
        }
        return all;
    }
    double decades = log10(axis.to / axis.from), room = 1.5 * wanted;
    int s = FINEST;
    while (s > 0 && decades * series[s].count > room)
        s--;
    do
        list_decades(&all, &axis, &series[s], s > 0 ? 1 : (int)fmax(ceil(decades / room), 1));
    while (all.count < 2 && ++s <= FINEST);
    return all;
}

static void spell_tick(char words[32], const ticks *all, size_t k)
{
    snprintf(words, 32, "%.6g", fabs(all->at[k]) < all->step * 1e-6 ? 0 : all->at[k]);
}

/* How many ticks an axis of this length has room for. */
static double ticks_wanted(double mm, bool upright)
{
    return fmax(mm / (upright ? 8 : 14), 2);
}

/* Cut to a width, its end as points. */
static void cut_words(char *words, double width, double pt, bool bold)
{
    for (size_t length = strlen(words); length > 4 && sf_words_width_mm(words, pt, bold) > width;) {
        do
            length--;
        while (length > 0 && (words[length] & 0xc0) == 0x80);
        snprintf(words + length - (length > 3 ? 3 : 0), 4, "...");
    }
}

#define NAME_SHARE 0.35 /* of the figure, which a name beside an axis may take */

static void spell_name(char words[NAME_SIZE], const sf_scene *scene, const char *name)
{
    snprintf(words, NAME_SIZE, "%s", name);
    cut_words(words, scene->width_mm * NAME_SHARE, TICK_PT, false);
}

/* The room that the names of ticks take beside an upright axis. */
static double widest_tick(const sf_scene *scene, const sf_axis *axis, double height)
{
    const ticks all = ticks_of(axis, ticks_wanted(height, true));
    double widest = 0;
    char words[NAME_SIZE];
    for (size_t k = 0; axis->names != NULL && k < axis->name_count; k++) {
        spell_name(words, scene, axis->names[k]);
        widest = fmax(widest, sf_words_width_mm(words, TICK_PT, false));
    }
    for (size_t k = 0; k < all.count; k++) {
        spell_tick(words, &all, k);
        widest = fmax(widest, sf_words_width_mm(words, TICK_PT, false));
    }
    return widest;
}

/* Names under an axis stand upright where not all of them have room side by side. */
static bool are_turned(const sf_panel *panel)
{
    const sf_axis *axis = &panel->x;
    double each = SF_WIDER * widest_tick(panel->scene, axis, 1) + 1;
    return axis->names != NULL && each * (double)axis->name_count > panel->width;
}

static void draw_tick(const sf_panel *panel, double value, const char *words, bool upright, bool turned)
{
    sf_scene *scene = panel->scene;
    double bottom = panel->top + panel->height;
    if (upright) {
        double y = sf_panel_y(panel, value);
        sf_scene_segment(scene, &axis_ink, panel->left - TICK_MM, y, panel->left, y);
        sf_scene_text(scene, panel->left - TICK_MM - 0.6, y + 0.75, words,
                      &(sf_lettering){.pt = TICK_PT, .anchor = SF_ANCHOR_END, .class = "tick"});
    } else {
        double x = sf_panel_x(panel, value);
        sf_lettering as = {.pt = TICK_PT, .anchor = SF_ANCHOR_MIDDLE, .class = "tick"};
        as.anchor = turned ? SF_ANCHOR_END : SF_ANCHOR_MIDDLE;
        as.degrees = turned ? -90 : 0;
        sf_scene_segment(scene, &axis_ink, x, bottom, x, bottom + TICK_MM);
        sf_scene_text(scene, turned ? x + 0.75 : x, bottom + TICK_MM + (turned ? 0.6 : 2.4), words, &as);
    }
}

/* Every name that has room. */
static void draw_names(const sf_panel *panel, const sf_axis *axis, bool upright)
{
    double length = upright ? panel->height : panel->width;
    bool turned = !upright && are_turned(panel);
    size_t stride = upright || turned ? (size_t)ceil(NAME_MM * (double)axis->name_count / length) : 1;
    char words[NAME_SIZE];
    for (size_t k = 0; k < axis->name_count; k += stride) {
        spell_name(words, panel->scene, axis->names[k]);
        draw_tick(panel, (double)k, words, upright, turned);
    }
}

static void draw_ticks(const sf_panel *panel, const sf_axis *axis, bool upright)
{
    const ticks all = ticks_of(axis, ticks_wanted(upright ? panel->height : panel->width, upright));
    char words[32];
    if (axis->names != NULL) draw_names(panel, axis, upright);
    for (size_t k = 0; k < all.count; k++) {
        spell_tick(words, &all, k);
        draw_tick(panel, all.at[k], words, upright, false);
    }
}

/* ---- the frame ---- */

/* The place of a part of the key in its line. */
typedef struct key_part {
    double x;
    size_t line;
} key_part;

/* Places them in lines that the panel is wide enough for; returns how many lines. Of a single one that is
 * wider the letters are smaller, down to LEAST_KEY_PT, and then it is cut. */
static size_t lay_out_key(key_part *parts, const sf_panel_form *form, double width)
{
    size_t line = 0;
    double x = 0;
    for (size_t k = 0; k < SF_PANEL_KEYS && form->key[k] != NULL; k++) {
        double before = form->key_colours[k] != SF_NO_COLOUR ? KEY_LINE_MM : 0,
               mm = before + sf_words_width_mm(form->key[k], TICK_PT, false) * SF_WIDER;
        if (x > 0 && x + mm > width) {
            line++;
            x = 0;
        }
        if (parts != NULL) parts[k] = (key_part){x, line};
        x += mm + KEY_GAP_MM;
    }
    return form->key[0] != NULL ? line + 1 : 0;
}

static void draw_key(sf_panel *panel, const sf_panel_form *form, double top)
{
    key_part parts[SF_PANEL_KEYS];
    lay_out_key(parts, form, panel->width);
    for (size_t k = 0; k < SF_PANEL_KEYS && form->key[k] != NULL; k++) {
        const sf_ink ink = {.line = form->key_colours[k], .fill = SF_NO_COLOUR, .width_mm = 0.7};
        double x = panel->left + parts[k].x, y = top + KEY_HEIGHT_MM * (double)(parts[k].line + 1) - 1.4,
               room;
        char words[NAME_SIZE];
        snprintf(words, sizeof words, "%s", form->key[k]);
        if (ink.line != SF_NO_COLOUR) {
            sf_scene_segment(panel->scene, &ink, x, y - 0.8, x + KEY_LINE_MM - 0.8, y - 0.8);
            x += KEY_LINE_MM;
        }
        room = panel->left + panel->width - x;
        double mm = sf_words_width_mm(words, TICK_PT, false) * SF_WIDER,
               pt = mm > room ? fmax(TICK_PT * room / mm, LEAST_KEY_PT) : TICK_PT;
        cut_words(words, fmax(room, 0) / SF_WIDER + 1e-9, pt, false);
        sf_scene_text(panel->scene, x, y, words, &(sf_lettering){.pt = pt, .class = "key"});
    }
}

static sf_axis axis_of_bar(const sf_colour_scale *scale)
{
    return (sf_axis){.from = scale->from, .to = scale->to, .log = scale->log};
}

/* What the bar, its ticks and its label take beside a panel; as high a one as this has most ticks. */
static double room_of_bar(const sf_scene *scene, const sf_colour_scale *colours, double height)
{
    const sf_axis axis = axis_of_bar(colours);
    double widest = colours->to > colours->from ? widest_tick(scene, &axis, height) : 0;
    return BAR_LEFT_MM + BAR_MM + widest * SF_WIDER + BAR_LABEL_MM + 2.2;
}

static void draw_colour_bar(sf_panel *panel, const sf_colour_scale *scale)
{
    sf_panel bar = *panel;
    const size_t steps = 64;
    bar.left = panel->left + panel->width + BAR_LEFT_MM;
    bar.width = BAR_MM;
    bar.y = axis_of_bar(scale);
    sf_colour *pixels = sf_scene_image(bar.scene, bar.left, bar.top, bar.width, bar.height, 1, steps);
    for (size_t k = 0; pixels != NULL && k < steps; k++) {
        double share = ((double)k + 0.5) / (double)steps;
        pixels[k] = shade(scale, 1 - share);
    }
    const ticks all = ticks_of(&bar.y, ticks_wanted(bar.height, true));
    double widest = widest_tick(bar.scene, &bar.y, bar.height), right = bar.left + BAR_MM;
    for (size_t k = 0; k < all.count; k++) {
        char words[32];
        spell_tick(words, &all, k);
        double y = sf_panel_y(&bar, all.at[k]);
        sf_scene_segment(bar.scene, &axis_ink, right, y, right + 0.7, y);
        sf_scene_text(bar.scene, right + 1.2, y + 0.75, words,
                      &(sf_lettering){.pt = TICK_PT, .class = "tick"});
    }
    sf_scene_text(
        bar.scene, right + widest * SF_WIDER + BAR_LABEL_MM, bar.top + bar.height / 2, scale->label,
        &(sf_lettering){.pt = LABEL_PT, .anchor = SF_ANCHOR_MIDDLE, .degrees = 90, .class = "label colours"});
}

/* Draws a title in smaller letters if it is wider than its columns, and cuts it if these would be too small
 * to read. */
static void draw_title(sf_scene *scene, double x, double y, double width, const char *title)
{
    char words[256];
    sf_lettering as = {.pt = TITLE_PT, .bold = true, .class = "title"};
    snprintf(words, sizeof words, "%s", title);
    double natural = sf_words_width_mm(words, as.pt, true) * SF_WIDER;
    as.pt = natural > width ? fmax(as.pt * width / natural, LEAST_PT) : as.pt;
    cut_words(words, width / SF_WIDER, as.pt, true);
    sf_scene_text(scene, x, y, words, &as);
}

/* Position of the next panel, which takes `wanted` columns. */
static double take_columns(sf_figure *figure, size_t wanted, double *width)
{
    size_t columns = wanted == 0 ? 1 : wanted > figure->columns ? figure->columns : wanted;
    double inner = figure->scene.width_mm - 2 * EDGE_MM + GAP_MM;
    if (figure->used + columns > figure->columns) {
        figure->at_mm = figure->bottom_mm + GAP_MM;
        figure->used = 0;
    }
    double left = EDGE_MM + inner * (double)figure->used / (double)figure->columns;
    *width = inner * (double)columns / (double)figure->columns - GAP_MM;
    figure->used += columns;
    return left;
}

/* An axis of one value is widened; one may go down. */
static void mend_axis(sf_axis *axis)
{
    if (axis->to != axis->from && isfinite(axis->to - axis->from)) return;
    if (!isfinite(axis->from) || !isfinite(axis->to)) axis->from = axis->to = axis->log ? 1 : 0;
    double around = axis->from != 0 ? fabs(axis->from) * 0.5 : 0.5;
    axis->to = axis->log ? axis->from * 2 : axis->from + around;
    axis->from = axis->log ? axis->from / 2 : axis->from - around;
}

/* The bar of colours has room for its label. */
static double least_height(const sf_panel_form *form)
{
    const char *label = form->colours.label;
    return fmax(label != NULL ? sf_words_width_mm(label, LABEL_PT, false) * SF_WIDER : 0, 12);
}

static void set_height(sf_panel *panel, const sf_panel_form *form)
{
    panel->height = fmax(form->height_mm > 0 ? form->height_mm : panel->width * 2 / 3,
                         form->colours.label != NULL ? least_height(form) : 0);
    if (!form->equal) return;
    double most = form->height_mm > 0 ? form->height_mm : panel->width * MOST_UPRIGHT;
    double width = panel->x.to - panel->x.from, height = panel->y.to - panel->y.from;
    double mm = fmin(panel->width / width, most / height), missing = least_height(form) / mm - height;
    if (missing > 0) { /* a row of electrodes is given some height */
        panel->y.from -= missing / 2;
        panel->y.to += missing / 2;
        height += missing;
    }
    panel->width = mm * width;
    panel->height = mm * height;
}

static void spell_axis(char *words, size_t size, const char *name, const sf_axis *axis, double from,
                       double to)
{
    snprintf(words, size, "data-%s=\"%.17g %.17g %.3f %.3f %s\"", name, axis->from, axis->to, from, to,
             axis->log ? "log" : "linear");
}

/* ---- the same in numbers ---- */

SF_LENGTH(count_names)
{
    const sf_axis *axis = of;
    *length = axis->name_count;
    return axis->names != NULL || axis->told != NULL;
}

SF_GETTER(get_name)
{
    const sf_axis *axis = of;
    sf_value_set_text(value, (axis->names != NULL ? axis->names : axis->told)[item]);
}

#define ROW sf_axis
static const sf_column_row axis_rows[] = {
    SF_MEMBER_IS(TEXT, label, "with its unit", .null = "none is drawn"),
    SF_MEMBER_IS(REAL, from, "its first number; more than `to`: it goes down"),
    SF_MEMBER_IS(REAL, to, "its last number"),
    SF_MEMBER_IS(FLAG, log, "logarithmic"),
    SF_LIST_BY(TEXT, "names", get_name, count_names, "of 0, 1, ... in place of numbers",
               .null = "it has numbers"),
};
#undef ROW

static const sf_table axis_table = {.name = "axis", SF_TABLE_OF(axis_rows)};

/* What a panel is given: points, or bins that begin at `from`. */
typedef struct mark {
    const char *shape, *of, *note;
    const double *x, *y, *high, *values;
    size_t count, value_count, columns;
    double from, width;
    const sf_panel *panel; /* of which the bins are */
} mark;

/* Where bin k begins. */
static double bin_start(const sf_panel *panel, double from, double width, size_t k)
{
    return panel->x.log ? from * pow(width, (double)k) : from + width * (double)k;
}

/* Of bins there is an edge more. */
SF_LENGTH(count_x)
{
    const mark *m = of;
    *length = m->count + (m->x == NULL);
    return true;
}

SF_GETTER(get_x)
{
    const mark *m = of;
    sf_value_set_real(value, m->x != NULL ? m->x[item] : bin_start(m->panel, m->from, m->width, item));
}

SF_GETTER(get_columns)
{
    const size_t columns = ((const mark *)of)->columns;
    sf_value_set_count(value, columns > 0 ? columns : SF_NO_COUNT);
}

#define ROW mark
#define NO_NUMBER .item_null = "no number is known"
static const char *const shapes[] = {"line", "steps", "band",  "stretch", "ticks", "dots",
                                     "dot",  "cell",  "arrow", "image",   "words", NULL};
static const sf_column_row mark_rows[] = {
    SF_MEMBER_IS(
        TEXT, shape,
        "steps and band: of bins, whose edges are in x; stretch: of the x axis; ticks: upright lines",
        .words = shapes),
    SF_MEMBER_IS(TEXT, of, "class of its shapes in the SVG", .null = "none"),
    SF_MEMBER_IS(TEXT, note, "what it is, as where it is pointed at", .null = "nothing is said"),
    SF_LIST_BY(REAL, "x", get_x, count_x,
               "in the numbers of the axis: of each point, of the ends, or the edges of bins", NO_NUMBER),
    SF_ITEMS_ARE(REAL, "y", y, count, "likewise; of a band its lower end", .null = "from bottom to top",
                 NO_NUMBER),
    SF_ITEMS_ARE(REAL, "high", high, count, "the upper end of a band", .null = "it is none", NO_NUMBER),
    SF_ITEMS_ARE(REAL, "values", values, value_count,
                 "what colours tell, of an image row after row from the bottom; the q of a dot of chains and "
                 "edges, the z of one of motifs",
                 .null = "nothing", NO_NUMBER),
    SF_GOT_BY(COUNT, "columns", get_columns, "cells in a row of an image", .null = "it is none"),
};
#undef ROW

static const sf_table marks_table = {.name = "marks", SF_TABLE_OF(mark_rows)};

/* A panel; its marks follow as they are drawn. */
typedef struct told_panel {
    const char *name, *title;
    const sf_axis *x, *y, *colours;
    sf_table marks;
} told_panel;

#define ROW told_panel
static const sf_column_row panel_rows[] = {
    SF_MEMBER_IS(TEXT, name, "data-name of its group in the SVG"),
    SF_MEMBER_IS(TEXT, title, "above it", .null = "nothing is"),
    SF_POINTED_IS("x", x, &axis_table, "the axis from left to right"),
    SF_POINTED_IS("y", y, &axis_table, "the axis from bottom to top"),
    SF_POINTED_IS("colours", colours, &axis_table, "what the colour bar says", .null = "there is none"),
    SF_TABLE_IS("marks", marks, &marks_table, "all that it shows, in the order in which it was drawn"),
};
#undef ROW

const sf_table sf_panels_table = {
    .name = "panels", .about = "panels of a figure, in numbers", SF_TABLE_OF(panel_rows)};

static void tell_panel(sf_json *json, const sf_panel *panel, const sf_panel_form *form)
{
    const sf_colour_scale *colours = &form->colours;
    const sf_axis bar = {colours->label, .from = colours->from, .to = colours->to, .log = colours->log};
    const told_panel told = {.name = form->name != NULL ? form->name : panel->figure->kind,
                             .title = form->title,
                             .x = &panel->x,
                             .y = &panel->y,
                             .colours = colours->label != NULL ? &bar : NULL};
    sf_table head = sf_panels_table;
    head.column_count--;
    if (json == NULL) return;
    sf_json_object(json, NULL);
    sf_table_json_fields(json, &head, &told);
    sf_json_array(json, "marks");
}

static void tell(const sf_panel *panel, const mark *m)
{
    mark told = *m;
    told.panel = panel;
    if (panel->figure->numbers != NULL) sf_table_json_struct(panel->figure->numbers, &marks_table, &told);
}

sf_panel sf_panel_begin(sf_figure *figure, const sf_panel_form *form)
{
    sf_panel panel = {.figure = figure, .scene = &figure->scene, .x = form->x, .y = form->y};
    double cell, left = take_columns(figure, form->columns, &cell);
    mend_axis(&panel.x);
    mend_axis(&panel.y);
    double guess = form->height_mm > 0 ? form->height_mm : form->equal ? cell * MOST_UPRIGHT : cell * 2 / 3;
    double beside = (form->y.bare && form->y.names == NULL ? 0
                                                           : widest_tick(&figure->scene, &panel.y, guess) *
                                                                     (form->y.names != NULL ? SF_WIDER : 1) +
                                                                 TICK_MM + 1.8) +
                    (form->y.label != NULL ? 3.6 : 0);
    double right = form->colours.label != NULL ? room_of_bar(&figure->scene, &form->colours, guess) : 1.5;
    if (!form->equal) beside = fmax(beside, 11);
    panel.left = left + beside;
    panel.width = fmax(cell - beside - right, 5);
    double title = form->title != NULL ? 4.2 : 0,
           head = title + KEY_HEIGHT_MM * (double)lay_out_key(NULL, form, panel.width) + 1;
    panel.top = figure->at_mm + head;
    set_height(&panel, form);
    char attributes[512], x[160], y[160];
    spell_axis(x, sizeof x, "x", &panel.x, panel.left, panel.left + panel.width);
    spell_axis(y, sizeof y, "y", &panel.y, panel.top + panel.height, panel.top);
    snprintf(attributes, sizeof attributes, "data-name=\"%.40s\" %s %s",
             form->name != NULL ? form->name : figure->kind, x, y);
    sf_scene_group(panel.scene, "panel", attributes);
    if (form->title != NULL) draw_title(panel.scene, left, figure->at_mm + 3, cell, form->title);
    draw_key(&panel, form, figure->at_mm + title + 1);
    if (form->colours.label != NULL && form->colours.to > form->colours.from)
        draw_colour_bar(&panel, &form->colours);
    sf_scene_clip(panel.scene, panel.left, panel.top, panel.width, panel.height);
    tell_panel(figure->numbers, &panel, form);
    return panel;
}

void sf_panel_end(sf_panel *panel)
{
    sf_scene *scene = panel->scene;
    const sf_lettering label = {.pt = LABEL_PT, .anchor = SF_ANCHOR_MIDDLE, .class = "label"};
    bool bare = panel->x.bare && panel->y.bare;
    double bottom = panel->top + panel->height, under = bare ? 0.5 : 1;
    sf_scene_end(scene);
    if (!bare || panel->x.label != NULL) {
        sf_scene_begin(scene, SF_SHAPE_PATH, &axis_ink, "axes", NULL);
        sf_scene_point(scene, panel->left, panel->top);
        sf_scene_point(scene, panel->left, bottom);
        sf_scene_point(scene, panel->left + panel->width, bottom);
    }
    draw_ticks(panel, &panel->x, false);
    draw_ticks(panel, &panel->y, true);
    if (!panel->x.bare || panel->x.names != NULL)
        under += TICK_MM + (are_turned(panel) ? widest_tick(scene, &panel->x, 1) * SF_WIDER + 0.8 : 2.6);
    if (panel->x.label != NULL) {
        under += 2.9;
        sf_scene_text(scene, panel->left + panel->width / 2, bottom + under, panel->x.label, &label);
        under += 0.8;
    }
    if (panel->y.label != NULL) {
        sf_lettering turned = label;
        double natural = sf_words_width_mm(panel->y.label, LABEL_PT, false) * SF_WIDER,
               room = panel->height + 5;
        turned.degrees = -90;
        turned.pt = natural > room ? fmax(LABEL_PT * room / natural, LEAST_PT) : LABEL_PT;
        double beside = panel->y.bare && panel->y.names == NULL
                            ? 1.2
                            : widest_tick(scene, &panel->y, panel->height) * SF_WIDER + TICK_MM + 1.8;
        sf_scene_text(scene, panel->left - beside, panel->top + panel->height / 2, panel->y.label, &turned);
    }
    sf_scene_end(scene);
    panel->figure->bottom_mm = fmax(panel->figure->bottom_mm, bottom + under);
    if (panel->figure->numbers != NULL) {
        sf_json_end_array(panel->figure->numbers);
        sf_json_end_object(panel->figure->numbers);
    }
}

/* ---- what is drawn inside ---- */

/* A point that lies so near the one before is not drawn; what stands out is kept. */
#define THIN_MM 0.01

/* Far outside is as good as outside, and keeps files free of numbers that viewers choke on. */
static double hold(double mm)
{
    return fmin(fmax(mm, -1000), 5000);
}

void sf_panel_line(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                   size_t count)
{
    double last_x = -INFINITY, last_y = -INFINITY;
    tell(panel, &(mark){"line", .of = class, .x = x, .y = y, .count = count});
    sf_scene_begin(panel->scene, SF_SHAPE_PATH, ink, class, NULL);
    for (size_t i = 0; i < count; i++) {
        if (isnan(y[i])) {
            sf_scene_lift(panel->scene);
            last_x = -INFINITY;
            continue;
        }
        double across = sf_panel_x(panel, x[i]), down = hold(sf_panel_y(panel, y[i]));
        if (i + 1 < count && fabs(across - last_x) < THIN_MM && fabs(down - last_y) < THIN_MM) continue;
        sf_scene_point(panel->scene, across, down);
        last_x = across;
        last_y = down;
    }
}

static double bin_edge(const sf_panel *panel, double from, double width, size_t k)
{
    return sf_panel_x(panel, bin_start(panel, from, width, k));
}

static void add_step(sf_panel *panel, double from, double width, double value, size_t k, bool back)
{
    double left = bin_edge(panel, from, width, k), right = bin_edge(panel, from, width, k + 1);
    double y = hold(sf_panel_y(panel, value));
    sf_scene_point(panel->scene, back ? right : left, y);
    sf_scene_point(panel->scene, back ? left : right, y);
}

void sf_panel_steps(sf_panel *panel, const sf_ink *ink, const char *class, double from, double width,
                    const double *values, size_t count, double floor)
{
    bool filled = ink->fill != SF_NO_COLOUR;
    tell(panel, &(mark){"steps", .of = class, .from = from, .width = width, .y = values, .count = count});
    sf_scene_begin(panel->scene, filled ? SF_SHAPE_AREA : SF_SHAPE_PATH, ink, class, NULL);
    for (size_t k = 0; k < count; k++)
        add_step(panel, from, width, isnan(values[k]) ? floor : values[k], k, false);
    if (filled && count > 0) {
        sf_scene_point(panel->scene, bin_edge(panel, from, width, count), hold(sf_panel_y(panel, floor)));
        sf_scene_point(panel->scene, sf_panel_x(panel, from), hold(sf_panel_y(panel, floor)));
    }
}

void sf_panel_band(sf_panel *panel, const sf_ink *ink, const char *class, double from, double width,
                   const double *low, const double *high, size_t count)
{
    tell(panel,
         &(mark){"band", .of = class, .from = from, .width = width, .y = low, .high = high, .count = count});
    sf_scene_begin(panel->scene, SF_SHAPE_AREA, ink, class, NULL);
    for (size_t k = 0; k < count; k++)
        add_step(panel, from, width, high[k], k, false);
    for (size_t k = count; k > 0; k--)
        add_step(panel, from, width, low[k - 1], k - 1, true);
}

void sf_panel_stretch(sf_panel *panel, const sf_ink *ink, const char *class, double from, double to)
{
    double left = hold(sf_panel_x(panel, from)), right = hold(sf_panel_x(panel, to));
    double bottom = panel->top + panel->height;
    const double ends[2] = {from, to};
    tell(panel, &(mark){"stretch", .of = class, .x = ends, .count = 2});
    double missing = from < to ? fmax(SF_PANEL_SEEN_MM - (right - left), 0) : 0;
    left -= missing / 2;
    right += missing / 2;
    sf_scene_begin(panel->scene, left < right ? SF_SHAPE_AREA : SF_SHAPE_PATH, ink, class, NULL);
    sf_scene_point(panel->scene, left, bottom);
    sf_scene_point(panel->scene, left, panel->top);
    if (left == right) return;
    sf_scene_point(panel->scene, right, panel->top);
    sf_scene_point(panel->scene, right, bottom);
}

void sf_panel_ticks(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                    size_t count, double height)
{
    tell(panel, &(mark){"ticks", .of = class, .x = x, .y = y, .count = count});
    sf_scene_begin(panel->scene, SF_SHAPE_PATH, ink, class, NULL);
    for (size_t i = 0; i < count; i++) {
        double across = sf_panel_x(panel, x[i]);
        if (i > 0) sf_scene_lift(panel->scene);
        sf_scene_point(panel->scene, across, sf_panel_y(panel, y[i] - height / 2));
        sf_scene_point(panel->scene, across, sf_panel_y(panel, y[i] + height / 2));
    }
}

void sf_panel_dots(sf_panel *panel, const sf_ink *ink, const char *class, const double *x, const double *y,
                   size_t count, double radius_mm)
{
    tell(panel, &(mark){"dots", .of = class, .x = x, .y = y, .count = count});
    sf_scene_begin(panel->scene, SF_SHAPE_DISC, ink, class, NULL);
    sf_scene_radius(panel->scene, radius_mm);
    for (size_t i = 0; i < count; i++)
        sf_scene_point(panel->scene, sf_panel_x(panel, x[i]), hold(sf_panel_y(panel, y[i])));
}

void sf_panel_dot(sf_panel *panel, const sf_ink *ink, double x, double y, double radius_mm, double value,
                  const char *note)
{
    tell(panel,
         &(mark){"dot", .note = note, .x = &x, .y = &y, .count = 1, .values = &value, .value_count = 1});
    sf_scene_begin(panel->scene, SF_SHAPE_DISC, ink, NULL, note);
    sf_scene_radius(panel->scene, radius_mm);
    sf_scene_point(panel->scene, sf_panel_x(panel, x), sf_panel_y(panel, y));
}

void sf_panel_cell(sf_panel *panel, const sf_ink *ink, double x0, double y0, double x1, double y1,
                   const char *note)
{
    double left = sf_panel_x(panel, x0), top = sf_panel_y(panel, y1);
    const double x[2] = {x0, x1}, y[2] = {y0, y1};
    tell(panel, &(mark){"cell", .note = note, .x = x, .y = y, .count = 2});
    sf_scene_rectangle(panel->scene, ink, left, top, sf_panel_x(panel, x1) - left,
                       sf_panel_y(panel, y0) - top, note);
}

#define HEAD_MM 1.5
#define CURVE_STEPS 12
#define LOOP_MM 1.6

typedef struct place {
    double x, y;
} place;

/* A point of the quadratic curve from a to c that is drawn towards b. */
static place on_curve(place a, place b, place c, double t)
{
    double u = 1 - t;
    return (place){u * u * a.x + 2 * u * t * b.x + t * t * c.x, u * u * a.y + 2 * u * t * b.y + t * t * c.y};
}

/* A head that points from one place to another, its middle halfway. */
static void draw_head(sf_panel *panel, const sf_ink *ink, place from, place to)
{
    double length = hypot(to.x - from.x, to.y - from.y);
    if (!(length > 0)) return;
    double size = HEAD_MM + ink->width_mm, ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
    place tip = {(from.x + to.x) / 2 + ux * size / 2, (from.y + to.y) / 2 + uy * size / 2};
    sf_ink solid = *ink;
    solid.fill = ink->line;
    solid.width_mm = 0.05;
    sf_scene_begin(panel->scene, SF_SHAPE_AREA, &solid, NULL, NULL);
    sf_scene_point(panel->scene, tip.x, tip.y);
    for (int side = -1; side <= 1; side += 2)
        sf_scene_point(panel->scene, tip.x - size * ux + side * size * 0.38 * uy,
                       tip.y - size * uy - side * size * 0.38 * ux);
}

static void draw_loop(sf_panel *panel, const sf_ink *ink, place at, const char *note)
{
    sf_scene_begin(panel->scene, SF_SHAPE_DISC, ink, "edge", note);
    sf_scene_radius(panel->scene, LOOP_MM);
    sf_scene_point(panel->scene, at.x, at.y - LOOP_MM);
}

void sf_panel_arrow(sf_panel *panel, const sf_ink *ink, double x0, double y0, double x1, double y1,
                    double short_mm, double bend, double value, const char *note)
{
    const double x[2] = {x0, x1}, y[2] = {y0, y1};
    tell(panel,
         &(mark){"arrow", .note = note, .x = x, .y = y, .count = 2, .values = &value, .value_count = 1});
    place a = {sf_panel_x(panel, x0), sf_panel_y(panel, y0)},
          c = {sf_panel_x(panel, x1), sf_panel_y(panel, y1)};
    double length = hypot(c.x - a.x, c.y - a.y), cut = length > 2.5 * short_mm ? short_mm / length : 0;
    if (length == 0) {
        draw_loop(panel, ink, a, note);
        return;
    }
    const place b = {(a.x + c.x) / 2 + (c.y - a.y) * bend, (a.y + c.y) / 2 - (c.x - a.x) * bend};
    sf_scene_begin(panel->scene, SF_SHAPE_PATH, ink, "edge", note);
    int steps = bend != 0 ? CURVE_STEPS : 1;
    for (int k = 0; k <= steps; k++) {
        place at = on_curve(a, b, c, cut + (1 - 2 * cut) * k / steps);
        sf_scene_point(panel->scene, at.x, at.y);
    }
    if (length * (1 - 2 * cut) >= 2 * HEAD_MM)
        draw_head(panel, ink, on_curve(a, b, c, 0.5 - 0.01), on_curve(a, b, c, 0.5 + 0.01));
}

/* Viewers that smooth images blur the edges of cells by at most a pixel; so each cell is repeated until the
 * image has about this many pixels a side. */
#define FINE_PIXELS 500

void sf_panel_image(sf_panel *panel, const double *values, size_t columns, size_t rows,
                    const sf_colour_scale *scale)
{
    const double x[2] = {panel->x.from, panel->x.to}, y[2] = {panel->y.from, panel->y.to};
    tell(panel, &(mark){"image", .x = x, .y = y, .count = 2, .values = values, .value_count = columns * rows,
                        .columns = columns});
    if (columns == 0 || rows == 0) return;
    size_t across = (FINE_PIXELS + columns - 1) / columns, down = (FINE_PIXELS + rows - 1) / rows;
    sf_colour *pixels = sf_scene_image(panel->scene, panel->left, panel->top, panel->width, panel->height,
                                       columns * across, rows * down);
    for (size_t r = 0; pixels != NULL && r < rows * down; r++)
        for (size_t c = 0; c < columns * across; c++)
            pixels[r * columns * across + c] =
                sf_colour_of(scale, values[(rows - 1 - r / down) * columns + c / across]);
}

void sf_panel_words(sf_panel *panel, double x, double y, sf_anchor anchor, const char *words)
{
    tell(panel, &(mark){"words", .note = words, .x = &x, .y = &y, .count = 1});
    sf_scene_text(panel->scene, sf_panel_x(panel, x), sf_panel_y(panel, y), words,
                  &(sf_lettering){.pt = TICK_PT, .anchor = anchor, .class = "words"});
}

void sf_panel_scale_bar(sf_panel *panel, const char *unit)
{
    double length = panel->x.to - panel->x.from, bar = nice_step(length, 8);
    double mm = bar / length * panel->width, y = panel->top + panel->height + 2;
    const sf_ink thick = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.6};
    char words[64];
    snprintf(words, sizeof words, "%g %s", bar, unit);
    sf_scene_end(panel->scene); /* under the axes, so outside what they clip */
    sf_scene_group(panel->scene, "scale-bar", NULL);
    sf_scene_segment(panel->scene, &thick, panel->left, y, panel->left + mm, y);
    sf_scene_text(panel->scene, panel->left + mm / 2, y + 2.8, words,
                  &(sf_lettering){.pt = TICK_PT, .anchor = SF_ANCHOR_MIDDLE, .class = "tick"});
    panel->figure->bottom_mm = fmax(panel->figure->bottom_mm, y + 3.5);
}
