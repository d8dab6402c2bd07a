/* SPDX-License-Identifier: Apache-2.0 */
#include "app/plot.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 760, HEIGHT = 460, LEFT = 86, RIGHT = 24, TOP = 62, BOTTOM = 66, RUG = 9, RUG_MOST = 2000 };

/* One axis: data from `least` to `most` on pixels from `at_least` to `at_most`. */
typedef struct plot_axis {
    bool log;
    double least, most;
    double at_least, at_most;
} plot_axis;

static double place(const plot_axis *axis, double value)
{
    double share = axis->log ? log(value / axis->least) / log(axis->most / axis->least)
                             : (value - axis->least) / (axis->most - axis->least);
    return axis->at_least + share * (axis->at_most - axis->at_least);
}

static void print_words(sf_text *svg, const char *words)
{
    for (; *words != '\0'; words++) {
        if (*words == '<')
            sf_text_printf(svg, "&lt;");
        else if (*words == '>')
            sf_text_printf(svg, "&gt;");
        else if (*words == '&')
            sf_text_printf(svg, "&amp;");
        else if ((unsigned char)*words >= 0x20)
            sf_text_append(svg, words, 1);
    }
}

static void print_label(sf_text *svg, double x, double y, const char *attributes, const char *words)
{
    sf_text_printf(svg, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    print_words(svg, words);
    sf_text_printf(svg, "</text>\n");
}

/* 1, 2 or 5 times a power of ten, so that about `wanted` steps fit. */
static double nice_step(double length, double wanted)
{
    double rough = length / wanted, power = pow(10, floor(log10(rough)));
    double digit = rough / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/* The tick after `value`; from = true: the first tick at or above the axis' start. */
static double next_tick(const plot_axis *axis, double value, bool first)
{
    if (!axis->log) {
        double step = nice_step(axis->most - axis->least, 7);
        double index = first ? ceil(axis->least / step - 1e-9) : round(value / step) + 1;
        return index * step;
    }
    bool sparse = axis->most / axis->least > 1e4; /* decades only */
    static const double digits[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(first ? axis->least : value) + 1e-9));
    for (int d = 0; d < 4; d++) {
        double tick = digits[d] * power;
        bool later = first ? tick >= axis->least * (1 - 1e-9) : tick > value * (1 + 1e-9);
        if (later && (!sparse || d == 0 || d == 3))
            return tick;
    }
    return 10 * power;
}

static void print_tick(sf_text *svg, const plot_axis *axis, double value, bool across)
{
    double at = place(axis, value);
    char words[32];
    double step = axis->log ? 0 : nice_step(axis->most - axis->least, 7);
    snprintf(words, sizeof words, "%.6g", fabs(value) < step * 1e-6 ? 0 : value);
    if (across) {
        sf_text_printf(svg, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", at, TOP, HEIGHT - BOTTOM);
        print_label(svg, at, HEIGHT - BOTTOM + 24, "text-anchor=\"middle\"", words);
    } else {
        sf_text_printf(svg, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, at, WIDTH - RIGHT);
        print_label(svg, LEFT - 8, at + 4, "text-anchor=\"end\"", words);
    }
}

static void print_ticks(sf_text *svg, const plot_axis *axis, bool across)
{
    double last = axis->most + (axis->most - axis->least) * 1e-9;
    for (double tick = next_tick(axis, 0, true); tick <= last; tick = next_tick(axis, tick, false))
        print_tick(svg, axis, tick, across);
}

/* A point that lies within so many pixels of the one before is not drawn; what stands out is kept. */
#define THIN 0.1

static void print_curve(sf_text *svg, const app_plot *plot, const plot_axis *x, const plot_axis *y)
{
    for (int filled = 1; filled >= 0; filled--) {
        double last_x = -INFINITY, last_y = -INFINITY;
        sf_text_printf(svg, "<path class=\"%s\" d=\"", filled ? "area" : "curve");
        for (size_t i = 0; i < plot->count; i++) {
            double across = place(x, plot->x[i]), up = place(y, plot->y[i]);
            if (i + 1 < plot->count && fabs(across - last_x) < THIN && fabs(up - last_y) < THIN)
                continue;
            sf_text_printf(svg, "%c%.2f %.2f", i > 0 ? 'L' : 'M', across, up);
            last_x = across;
            last_y = up;
        }
        if (filled)
            sf_text_printf(svg, "V%dH%.2fZ", HEIGHT - BOTTOM, place(x, plot->x[0]));
        sf_text_printf(svg, "\"/>\n");
    }
}

/* Every sample where they are few, else every so many-th. */
static void print_rug(sf_text *svg, const app_plot *plot, const plot_axis *x)
{
    size_t stride = plot->rug_count / RUG_MOST + 1;
    sf_text_printf(svg, "<path class=\"rug\" d=\"");
    for (size_t i = 0; i < plot->rug_count; i += stride)
        if (plot->rug[i] >= x->least && plot->rug[i] <= x->most)
            sf_text_printf(svg, "M%.1f %dv%d", place(x, plot->rug[i]), HEIGHT - BOTTOM, RUG);
    sf_text_printf(svg, "\"/>\n");
}

static const char style[] =
    "<style>text{font:13px sans-serif;fill:#222}.title{font-size:17px;font-weight:600}.caption{fill:#666}"
    ".grid{stroke:#ddd;fill:none}.frame{stroke:#222;fill:none}.area{fill:#2a6f97;fill-opacity:.18}"
    ".curve{stroke:#2a6f97;stroke-width:1.8;fill:none;stroke-linejoin:round}"
    ".rug{stroke:#222;stroke-opacity:.35;fill:none}.bar{fill:#2a6f97;fill-opacity:.55}"
    ".mark{fill:#e9c46a;fill-opacity:.35}.band{fill:#222;fill-opacity:.1}"
    ".expected{stroke:#c1440e;stroke-width:1.6;fill:none}</style>\n";

/* ---- what every picture has ---- */

/* Words above the axes, in smaller letters where they would leave the picture. */
static void print_heading(sf_text *svg, double y, const char *class, double size, const char *words)
{
    double characters = 0, room = WIDTH - LEFT - RIGHT;
    for (const char *c = words; *c != '\0'; c++)
        characters += ((unsigned char)*c & 0xc0) != 0x80;
    double width = 0.64 * size * characters; /* of bold letters */
    char attributes[160];
    if (width <= room)
        snprintf(attributes, sizeof attributes, "class=\"%s\"", class);
    else
        snprintf(attributes, sizeof attributes,
                 "class=\"%s\" style=\"font-size:%.1fpx\" textLength=\"%g\" "
                 "lengthAdjust=\"spacingAndGlyphs\"",
                 class, size * room / width, room);
    print_label(svg, LEFT, y, attributes, words);
}

static void print_head(sf_text *svg, const app_plot_words *words)
{
    sf_text_printf(svg,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" y=\"%u\" width=\"%d\" "
                   "height=\"%d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s",
                   WIDTH, HEIGHT, words->place * HEIGHT, WIDTH, HEIGHT, style);
    print_heading(svg, 28, "title", 17, words->title);
    print_heading(svg, 48, "caption", 13, words->caption);
}

static void print_frame(sf_text *svg, const app_plot_words *words)
{
    sf_text_printf(svg, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
                   WIDTH - RIGHT);
    print_label(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 18, "text-anchor=\"middle\"", words->x_label);
    char turned[96];
    snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 18 %d)\"",
             (TOP + HEIGHT - BOTTOM) / 2);
    print_label(svg, 18, (TOP + HEIGHT - BOTTOM) / 2.0, turned, words->y_label);
    sf_text_printf(svg, "</svg>\n");
}

void app_plot_print(sf_text *svg, const app_plot *plot)
{
    double highest = 0;
    for (size_t i = 0; i < plot->count; i++)
        highest = plot->y[i] > highest ? plot->y[i] : highest;
    plot_axis x = {.log = plot->log_x,
                   .least = plot->x[0],
                   .most = plot->x[plot->count - 1],
                   .at_least = LEFT,
                   .at_most = WIDTH - RIGHT};
    plot_axis y = {.most = highest > 0 ? highest * 1.05 : 1, .at_least = HEIGHT - BOTTOM, .at_most = TOP};
    print_head(svg, &plot->words);
    print_ticks(svg, &x, true);
    print_ticks(svg, &y, false);
    print_curve(svg, plot, &x, &y);
    print_rug(svg, plot, &x);
    print_frame(svg, &plot->words);
}

/* ---- maps ---- */

enum { SHADES = 48 };

/* From white over the curves' blue to nearly black. */
static void print_shade(sf_text *svg, int shade)
{
    static const double colours[3][3] = {{255, 255, 255}, {42, 111, 151}, {1, 22, 39}};
    double share = 2.0 * shade / SHADES;
    int from = share < 1 ? 0 : 1;
    int rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)lround(colours[from][c] + (share - from) * (colours[from + 1][c] - colours[from][c]));
    sf_text_printf(svg, "#%02x%02x%02x", (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
}

/* The axis of `count` cells, half a cell beyond their centres. */
static plot_axis cells_of(const double *centres, size_t count, double at_least, double at_most)
{
    double half = (centres[count - 1] - centres[0]) / (double)(count - 1) / 2;
    return (plot_axis){.least = centres[0] - half,
                       .most = centres[count - 1] + half,
                       .at_least = at_least,
                       .at_most = at_most};
}

/* Neighbours of one shade are one rectangle. */
static void print_row(sf_text *svg, const plot_axis *x, double top, double height, const double *values,
                      size_t count, double highest)
{
    double width = (x->at_most - x->at_least) / (double)count;
    for (size_t from = 0, to; from < count; from = to) {
        int shade = (int)lround(SHADES * values[from] / highest);
        for (to = from + 1; to < count && (int)lround(SHADES * values[to] / highest) == shade;)
            to++;
        if (shade == 0)
            continue;
        sf_text_printf(svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
                       x->at_least + width * (double)from, top, width * (double)(to - from), height);
        print_shade(svg, shade);
        sf_text_printf(svg, "\"/>\n");
    }
}

void app_plot_map_print(sf_text *svg, const app_plot_map *map)
{
    double highest = 0;
    for (size_t i = 0; i < map->columns * map->rows; i++)
        highest = map->values[i] > highest ? map->values[i] : highest;
    plot_axis x = cells_of(map->x, map->columns, LEFT, WIDTH - RIGHT);
    plot_axis y = cells_of(map->y, map->rows, HEIGHT - BOTTOM, TOP);
    double height = (double)(HEIGHT - BOTTOM - TOP) / (double)map->rows;
    print_head(svg, &map->words);
    print_ticks(svg, &x, true);
    print_ticks(svg, &y, false);
    sf_text_printf(svg, "<g shape-rendering=\"crispEdges\">\n");
    for (size_t r = 0; highest > 0 && r < map->rows; r++)
        print_row(svg, &x, HEIGHT - BOTTOM - height * (double)(r + 1), height, map->values + r * map->columns,
                  map->columns, highest);
    sf_text_printf(svg, "</g>\n");
    print_frame(svg, &map->words);
}

/* ---- bars ---- */

/* The outline of a step in every bin, from left to right or back. */
static void print_steps(sf_text *svg, const app_plot_bars *bars, const plot_axis *x, const plot_axis *y,
                        double deviations, bool back)
{
    for (size_t i = 0; i < bars->count; i++) {
        size_t k = back ? bars->count - 1 - i : i;
        double value = bars->expected[k] + deviations * sqrt(bars->expected[k]);
        double left = place(x, bars->from + bars->width * (double)k);
        double right = place(x, bars->from + bars->width * (double)(k + 1));
        sf_text_printf(svg, "%c%.1f %.1fH%.1f", i == 0 && !back ? 'M' : 'L', back ? right : left,
                       place(y, value > 0 ? value : 0), back ? left : right);
    }
}

static void print_expected(sf_text *svg, const app_plot_bars *bars, const plot_axis *x, const plot_axis *y)
{
    sf_text_printf(svg, "<path class=\"band\" d=\"");
    print_steps(svg, bars, x, y, 2, false);
    print_steps(svg, bars, x, y, -2, true);
    sf_text_printf(svg, "Z\"/>\n<path class=\"expected\" d=\"");
    print_steps(svg, bars, x, y, 0, false);
    sf_text_printf(svg, "\"/>\n");
}

static void print_bars(sf_text *svg, const app_plot_bars *bars, const plot_axis *x, const plot_axis *y)
{
    sf_text_printf(svg, "<path class=\"bar\" shape-rendering=\"crispEdges\" d=\"");
    for (size_t k = 0; k < bars->count; k++) {
        double left = place(x, bars->from + bars->width * (double)k);
        double right = place(x, bars->from + bars->width * (double)(k + 1));
        sf_text_printf(svg, "M%.2f %dV%.2fH%.2fV%dZ", left, HEIGHT - BOTTOM, place(y, bars->counts[k]),
                       right - (right - left > 6 ? 1 : 0), HEIGHT - BOTTOM);
    }
    sf_text_printf(svg, "\"/>\n");
}

void app_plot_bars_print(sf_text *svg, const app_plot_bars *bars)
{
    double highest = 0;
    for (size_t i = 0; i < bars->count; i++) {
        double chance = bars->expected != NULL ? bars->expected[i] + 2 * sqrt(bars->expected[i]) : 0;
        highest = fmax(highest, fmax(bars->counts[i], chance));
    }
    plot_axis x = {.least = bars->from,
                   .most = bars->from + bars->width * (double)bars->count,
                   .at_least = LEFT,
                   .at_most = WIDTH - RIGHT};
    plot_axis y = {.most = highest > 0 ? highest * 1.05 : 1, .at_least = HEIGHT - BOTTOM, .at_most = TOP};
    print_head(svg, &bars->words);
    if (bars->mark_from < bars->mark_to)
        sf_text_printf(svg, "<path class=\"mark\" d=\"M%.1f %dV%dH%.1fV%dZ\"/>\n", place(&x, bars->mark_from),
                       HEIGHT - BOTTOM, TOP, place(&x, bars->mark_to), HEIGHT - BOTTOM);
    print_ticks(svg, &x, true);
    print_ticks(svg, &y, false);
    print_bars(svg, bars, &x, &y);
    if (bars->expected != NULL)
        print_expected(svg, bars, &x, &y);
    print_frame(svg, &bars->words);
}

void app_plot_stack_begin(sf_text *svg, unsigned pictures)
{
    sf_text_printf(
        svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\">\n",
        WIDTH, pictures * HEIGHT, WIDTH, pictures * HEIGHT);
}

void app_plot_stack_end(sf_text *svg)
{
    sf_text_printf(svg, "</svg>\n");
}
