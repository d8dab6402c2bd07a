/* SPDX-License-Identifier: Apache-2.0 */
/* How units are connected: tested edges, their network, tiling coefficients, motifs. */
#include "app/connect.h"
#include "app/figure.h"
#include "app/measures.h"
#include "app/pictures.h"

#include "core/describe/table.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENT 0.95 /* of edges with a sign */

static bool stands_out(const sf_graph_columns *g, size_t link)
{
    if (g->is_signed) return g->confidence[link] >= CONFIDENT && g->not_tested[link] == NULL;
    return g->q[link] <= SF_SIGNIFICANT_Q;
}

static size_t count_standing(const sf_graph_columns *g)
{
    size_t count = 0;
    for (size_t i = 0; i < g->link_count; i++)
        count += stands_out(g, i);
    return count;
}

/* Fails, saying what the recording lacks, if there is no edge, or with `standing` none that stands out. */
static int take_graph(sf_graph_columns *g, app_subject *subject, bool standing, sf_error *error)
{
    sf_graph *graph;
    g->size = sizeof *g;
    int status = app_subject_graph(subject, &graph, error);
    if (status != SF_OK) return status;
    sf_graph_get_columns(graph, g);
    const char *why = g->significance != NULL ? sf_not_tested_text(g->significance->not_tested) : NULL;
    if (why != NULL) return sf_fail(error, SF_DATA, NULL, "no edge can be tested here: %s", why);
    if (g->link_count == 0)
        return sf_fail(error, SF_DATA, NULL, "no two units follow each other often enough to be tested");
    return count_standing(g) > 0 || !standing ? SF_OK
                                              : sf_fail(error, SF_DATA, NULL,
                                                        "no edge stands out: of %zu frequent pairs none has "
                                                        "a q of 0.05 or less against surrogates",
                                                        g->link_count);
}

/* ---- at the electrodes ---- */

#define TURN 6.283185307179586
#define SHARED_PITCH 0.18 /* of the distance of electrodes, from a place to the units that share it */
#define FEW_UNITS 300     /* have larger marks */
#define NAMED_UNITS 70    /* of more only those with an edge have their names, as far as they are no more */
#define EDGE_BEND 0.12

/* Units that were seen at one place stand on a small circle around it. */
static void spread_shared(double *x, double *y, const sf_unit *units, size_t count, double radius)
{
    for (size_t u = 0; u < count; u++) {
        size_t before = 0, all = 0;
        for (size_t v = 0; v < count; v++) {
            bool same = units[v].x_um == units[u].x_um && units[v].y_um == units[u].y_um;
            all += same;
            before += same && v < u;
        }
        double angle = TURN * (double)before / (double)all;
        x[u] += all > 1 ? radius * sin(angle) : 0;
        y[u] += all > 1 ? radius * cos(angle) : 0;
    }
}

/* Positions of units on the array, or on a circle if unknown. `known`: they are the array's. */
static int place_units(double *x, double *y, bool *known, app_subject *subject, sf_error *error)
{
    const sf_unit *units = subject->of.units;
    size_t count = subject->of.unit_count;
    sf_overview_columns told;
    *known = count > 0;
    for (size_t u = 0; u < count; u++)
        *known = *known && isfinite(units[u].x_um) && isfinite(units[u].y_um);
    for (size_t u = 0; u < count; u++) {
        double angle = TURN * (double)u / (double)count;
        x[u] = *known ? units[u].x_um : 100 * sin(angle);
        y[u] = *known ? units[u].y_um : 100 * cos(angle);
    }
    int status = *known ? app_subject_overview(subject, &told, error) : SF_OK;
    if (status == SF_OK && *known && told.pitch_um > 0)
        spread_shared(x, y, units, count, SHARED_PITCH * told.pitch_um);
    return status;
}

static void describe_edge(char *note, size_t size, const sf_graph_columns *g, size_t link)
{
    const char *from = g->names[g->from[link]], *to = g->names[g->to[link]];
    if (g->is_signed) {
        snprintf(note, size, "%.40s %s %.40s: score %.3g, confidence %.3g", from,
                 g->sign[link] < 0 ? "inhibits" : "excites", to, g->score[link], g->confidence[link]);
        return;
    }
    snprintf(note, size, "%.40s to %.40s: count %" PRIu64 ", expected by rates %.4g, q %.3g", from, to,
             g->count[link], g->expected[link], g->q[link]);
}

static void draw_edge(sf_panel *panel, const sf_graph_columns *g, size_t i, const double *x, const double *y,
                      const sf_colour_scale *scale, double share, double radius_mm)
{
    char note[200];
    double ratio = (double)g->count[i] / g->expected[i];
    const sf_ink ink = {.line = !g->is_signed    ? sf_colour_of(scale, ratio)
                                : g->sign[i] < 0 ? SF_BLUE
                                                 : SF_VERMILION,
                        .fill = SF_NO_COLOUR,
                        .width_mm = 0.15 + 0.65 * share,
                        .opacity = 0.85};
    describe_edge(note, sizeof note, g, i);
    sf_panel_arrow(panel, &ink, x[g->from[i]], y[g->from[i]], x[g->to[i]], y[g->to[i]], radius_mm + 0.2,
                   EDGE_BEND, g->is_signed ? g->score[i] : ratio, note);
}

#define MOST_EDGES 200 /* drawn of either sign; more hide each other */

/* The edges of one sign that are drawn: those stronger than `above`, and the first `level` as strong as that.
 */
typedef struct strongest {
    double above;
    size_t level, all; /* all: edges of the sign that stand out */
} strongest;

static bool is_of(const sf_graph_columns *g, size_t i, bool inhibiting)
{
    return stands_out(g, i) && (g->sign[i] < 0) == inhibiting;
}

static strongest find_strongest(const sf_graph_columns *g, bool inhibiting)
{
    double kept[MOST_EDGES]; /* the largest first */
    size_t count = 0;
    strongest found = {.above = -1};
    for (size_t i = 0; i < g->link_count; i++) {
        double weight = fabs(g->weight[i]);
        if (!is_of(g, i, inhibiting)) continue;
        found.all++;
        if (count == MOST_EDGES && !(weight > kept[count - 1])) continue;
        size_t at = count < MOST_EDGES ? count++ : count - 1;
        for (; at > 0 && kept[at - 1] < weight; at--)
            kept[at] = kept[at - 1];
        kept[at] = weight;
    }
    if (found.all <= MOST_EDGES) return found;
    found.above = kept[MOST_EDGES - 1];
    while (found.level < MOST_EDGES && !(kept[MOST_EDGES - 1 - found.level] > found.above))
        found.level++;
    return found;
}

/* Edges are as wide as their weight; inhibiting ones, which are few, are drawn above the others. */
static void draw_edges(sf_panel *panel, const sf_graph_columns *g, const double *x, const double *y,
                       const sf_colour_scale *scale, double radius_mm)
{
    double most = 0;
    for (size_t i = 0; i < g->link_count; i++)
        most = stands_out(g, i) ? fmax(most, fabs(g->weight[i])) : most;
    for (int inhibiting = 0; inhibiting < 2; inhibiting++) {
        strongest drawn = find_strongest(g, inhibiting == 1);
        for (size_t i = 0; i < g->link_count; i++) {
            double weight = fabs(g->weight[i]);
            bool at_level = weight <= drawn.above;
            if (!is_of(g, i, inhibiting == 1) || weight < drawn.above || (at_level && drawn.level == 0))
                continue;
            drawn.level -= at_level;
            draw_edge(panel, g, i, x, y, scale, most > 0 ? weight / most : 1, radius_mm);
        }
    }
}

static void tell_drawn(sf_text *caption, const sf_graph_columns *g)
{
    if (find_strongest(g, false).all > MOST_EDGES || find_strongest(g, true).all > MOST_EDGES)
        sf_text_printf(caption, "Drawn are the %d strongest%s. ", MOST_EDGES,
                       g->is_signed ? " of either sign" : "");
}

/* Where names have been written, in mm. */
typedef struct written {
    double (*boxes)[4];
    size_t count;
} written;

static bool is_free(const written *w, const double box[4])
{
    for (size_t k = 0; k < w->count; k++)
        if (box[0] < w->boxes[k][2] && w->boxes[k][0] < box[2] && box[1] < w->boxes[k][3] &&
            w->boxes[k][1] < box[3])
            return false;
    return true;
}

/* Above its mark, or, on a circle, outside it, and not where it would stand on another. */
static void name_unit(sf_panel *panel, written *w, const char *name, double x, double y, bool known,
                      double radius_mm)
{
    double width = sf_words_width_mm(name, 6, false) * SF_WIDER, away = radius_mm + 0.6,
           angle = known ? 0 : atan2(x, y);
    double right = sin(angle) * (away + width / 2), up = known ? away : cos(angle) * (away + 1) - 0.75;
    double at_x = sf_panel_x(panel, x) + right, at_y = sf_panel_y(panel, y) - up;
    const double box[4] = {at_x - width / 2, at_y - 1.8, at_x + width / 2, at_y + 0.4};
    if (!is_free(w, box)) return;
    for (size_t k = 0; k < 4; k++)
        w->boxes[w->count][k] = box[k];
    w->count++;
    double x_mm = (panel->x.to - panel->x.from) / panel->width,
           y_mm = (panel->y.to - panel->y.from) / panel->height;
    sf_panel_words(panel, x + right * x_mm, y + up * y_mm, SF_ANCHOR_MIDDLE, name);
}

/* Names the units, those with an edge first; if there are so many that edges would cross the names, draws no
 * names. */
static int draw_units(sf_panel *panel, const app_subject *subject, const sf_graph_columns *g, const double *x,
                      const double *y, bool known, double radius_mm, sf_error *error)
{
    const sf_ink linked = {.line = SF_BLACK, .fill = SF_BLACK, .width_mm = 0.1};
    const sf_ink alone = {.line = SF_GREY, .fill = 0xffffff, .width_mm = 0.15};
    size_t units = subject->of.unit_count;
    bool *has_edge = sf_alloc(units, sizeof *has_edge);
    written w = {.boxes = sf_alloc(units, sizeof *w.boxes)};
    int status = has_edge != NULL && w.boxes != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < g->link_count; i++)
        if (stands_out(g, i)) has_edge[g->from[i]] = has_edge[g->to[i]] = true;
    size_t linked_units = 0;
    for (size_t u = 0; status == SF_OK && u < units; u++)
        linked_units += has_edge[u];
    for (size_t u = 0; status == SF_OK && u < units; u++)
        sf_panel_dot(panel, has_edge[u] ? &linked : &alone, x[u], y[u], radius_mm, NAN,
                     subject->of.units[u].name);
    for (int pass = 0; status == SF_OK && pass < 2; pass++)
        for (size_t u = 0; u < units; u++)
            if (has_edge[u] == (pass == 0) && (pass == 0 ? linked_units : units) <= NAMED_UNITS)
                name_unit(panel, &w, subject->of.units[u].name, x[u], y[u], known, radius_mm);
    sf_free(has_edge);
    sf_free(w.boxes);
    return status;
}

/* The ratios of count to expected among edges that stand out, from 1. */
static sf_colour_scale scale_ratios(const sf_graph_columns *g)
{
    sf_colour_scale scale = {.label = "count / expected", .from = 1, .to = 1, .log = true, .reversed = true};
    for (size_t i = 0; i < g->link_count; i++) {
        double ratio = (double)g->count[i] / g->expected[i];
        if (!stands_out(g, i) || !isfinite(ratio)) continue;
        scale.from = fmin(scale.from, ratio);
        scale.to = fmax(scale.to, ratio);
    }
    scale.to = scale.to > scale.from ? scale.to : scale.from * 1.1;
    return scale;
}

static int draw_graph(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    size_t units = subject->of.unit_count;
    sf_graph_columns g;
    int status = take_graph(&g, subject, true, error);
    double *x = sf_alloc(units, sizeof *x), *y = sf_alloc(units, sizeof *y);
    if (status == SF_OK && (x == NULL || y == NULL)) status = sf_fail_memory(error);
    bool known = false;
    if (status == SF_OK) status = place_units(x, y, &known, subject, error);
    if (status == SF_OK) {
        double radius_mm = units <= FEW_UNITS ? 0.8 : 0.35;
        sf_panel_form form = {.title = known ? "Edges on the array" : "Edges; units in a circle, by index",
                              .x.bare = true,
                              .y.bare = true,
                              .equal = true,
                              .columns = figure->columns,
                              .height_mm = subject->width_mm <= 120 ? 0
                                           : subject->in_report     ? 88
                                                                    : 110,
                              .colours = scale_ratios(&g)};
        app_cover_places(&form, x, y, units);
        if (!known) { /* names stand outside the circle */
            form.x.from = form.y.from = -125;
            form.x.to = form.y.to = 125;
        }
        sf_panel panel = sf_panel_begin(figure, &form);
        draw_edges(&panel, &g, x, y, &form.colours, radius_mm);
        status = draw_units(&panel, subject, &g, x, y, known, radius_mm, error);
        if (known) sf_panel_scale_bar(&panel, "\u00b5m");
        sf_panel_end(&panel);
        sf_text_printf(
            caption,
            "The functional graph: %zu of %zu frequent pairs stand%s out against %" PRIu32
            " surrogates (q of 0.05 or less); colour: how many times as often as expected by "
            "rates, of units that fire independently; width: the strength of the link. Circles: all %zu "
            "units%s, filled where they have an edge. A shared input makes an edge where there is no "
            "synapse. ",
            count_standing(&g), g.link_count, count_standing(&g) == 1 ? "s" : "",
            g.significance->options.surrogates, units,
            known ? " where they were recorded, those of one place around it" : ", which have no positions");
        tell_drawn(caption, &g);
    }
    sf_free(x);
    sf_free(y);
    return status;
}

const app_figure_kind app_figure_graph = {.name = "graph",
                                          .summary = "edges that stand out against surrogates, on the array",
                                          .by = APP_BY_EDGES,
                                          .draw = draw_graph};

/* ---- the network ---- */

/* What the network of the edges that stand out is like, and where its units are. */
typedef struct network {
    sf_graph_columns g;
    sf_table all, units;
    double *x, *y;
    bool known; /* places are the array's */
    const char *measure;
} network;

static int read_measure(const char **measure, const app_call *call, const sf_table *units, sf_error *error)
{
    *measure = app_value(call, "measure", "strength");
    sf_nearest nearest = {.word = *measure};
    for (size_t c = 0; c < units->column_count; c++) {
        const sf_column *column = sf_table_column(units, c);
        if (column->type != SF_COLUMN_REAL && column->type != SF_COLUMN_COUNT) continue;
        if (strcmp(column->name, *measure) == 0) return SF_OK;
        sf_nearest_offer(&nearest, column->name);
    }
    return sf_fail(error, SF_USAGE, "--measure",
                   "found '%s'%s%s, expected a column of numbers of network_units", *measure,
                   nearest.best != NULL ? ": did you mean " : "", nearest.best != NULL ? nearest.best : "");
}

static void draw_faint_edges(sf_panel *panel, const network *n)
{
    const sf_ink ink = {.line = SF_GREY, .fill = SF_NO_COLOUR, .width_mm = 0.15, .opacity = 0.5};
    for (size_t i = 0; i < n->g.link_count; i++)
        sf_panel_arrow(panel, &ink, n->x[n->g.from[i]], n->y[n->g.from[i]], n->x[n->g.to[i]],
                       n->y[n->g.to[i]], 0.9, false, NAN, NULL);
}

static sf_panel_form network_form(const app_subject *subject, const network *n, const char *title)
{
    sf_panel_form form = {.title = title, .x.bare = true, .y.bare = true, .equal = true};
    app_cover_places(&form, n->x, n->y, subject->of.unit_count);
    return form;
}

static void end_network_panel(sf_panel *panel, const network *n)
{
    if (n->known) sf_panel_scale_bar(panel, "\u00b5m");
    sf_panel_end(panel);
}

/* Colours for as many modules; smaller ones are grey. */
static const sf_colour module_colours[] = {SF_BLUE, SF_ORANGE,    SF_GREEN, SF_PURPLE,
                                           SF_SKY,  SF_VERMILION, SF_YELLOW};
enum { MODULE_COLOURS = sizeof module_colours / sizeof *module_colours };

static void draw_modules(sf_figure *figure, const app_subject *subject, const network *n)
{
    bool has_hubs = app_measures_number(&n->all, "hubs", 0) > 0;
    sf_panel_form form = network_form(subject, n, has_hubs ? "Modules, and hubs ringed" : "Modules");
    sf_panel panel = sf_panel_begin(figure, &form);
    double most = 1;
    for (size_t u = 0; u < n->units.row_count; u++)
        most = fmax(most, app_measures_number(&n->units, "degree", u));
    draw_faint_edges(&panel, n);
    for (size_t u = 0; u < n->units.row_count; u++) {
        double module = app_measures_number(&n->units, "module", u);
        double degree = app_measures_number(&n->units, "degree", u);
        bool hub = app_measures_number(&n->units, "hub", u) > 0;
        char note[160];
        const sf_ink ink = {.line = hub ? SF_BLACK : SF_GREY,
                            .fill = isnan(module)             ? 0xffffff
                                    : module < MODULE_COLOURS ? module_colours[(int)module]
                                                              : SF_PALE,
                            .width_mm = hub ? 0.5 : 0.15};
        snprintf(note, sizeof note, "%.40s: module %g, degree %g%s", subject->of.units[u].name, module,
                 degree, hub ? ", a hub" : "");
        sf_panel_dot(&panel, &ink, n->x[u], n->y[u], 0.6 + 1.2 * sqrt(degree / most), module, note);
    }
    end_network_panel(&panel, n);
}

static void draw_measure(sf_figure *figure, const app_subject *subject, const network *n)
{
    sf_panel_form form = network_form(subject, n, NULL);
    form.colours =
        (sf_colour_scale){.label = n->measure, .from = INFINITY, .to = -INFINITY, .reversed = true};
    for (size_t u = 0; u < n->units.row_count; u++) {
        double value = app_measures_number(&n->units, n->measure, u);
        form.colours.from = fmin(form.colours.from, value); /* NaN is passed over */
        form.colours.to = fmax(form.colours.to, value);
    }
    if (!(form.colours.to > form.colours.from)) {
        form.colours.from = isfinite(form.colours.from) ? form.colours.from : 0;
        form.colours.to = form.colours.from + 1;
    }
    char title[80];
    snprintf(title, sizeof title, "Units by %s", n->measure);
    form.title = title;
    sf_panel panel = sf_panel_begin(figure, &form);
    draw_faint_edges(&panel, n);
    for (size_t u = 0; u < n->units.row_count; u++) {
        double value = app_measures_number(&n->units, n->measure, u);
        char note[160];
        bool alone = app_measures_number(&n->units, "degree", u) == 0;
        const sf_ink ink = {
            .line = SF_GREY, .fill = alone ? 0xffffff : sf_colour_of(&form.colours, value), .width_mm = 0.15};
        snprintf(note, sizeof note, "%.40s: %s %.4g", subject->of.units[u].name, n->measure, value);
        sf_panel_dot(&panel, &ink, n->x[u], n->y[u], 1.4, value, note);
    }
    end_network_panel(&panel, n);
}

static int draw_network(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    sf_network_options how = sf_network_options_default();
    network n = {.g.size = sizeof n.g};
    sf_graph *edges = NULL;
    size_t units = subject->of.unit_count;
    how.seed = subject->test.seed;
    int status = take_graph(&n.g, subject, true, error);
    if (status == SF_OK) status = app_subject_edges(subject, &edges, error);
    if (status == SF_OK) status = sf_graph_measure(edges, &how, &n.all, &n.units, &progress, error);
    if (status == SF_OK) status = read_measure(&n.measure, subject->call, &n.units, error);
    if (status != SF_OK) return status;
    sf_graph_get_columns(edges, &n.g);
    n.x = sf_alloc(units, sizeof *n.x);
    n.y = sf_alloc(units, sizeof *n.y);
    if (n.x == NULL || n.y == NULL) {
        status = sf_fail_memory(error);
    } else {
        status = place_units(n.x, n.y, &n.known, subject, error);
    }
    if (status == SF_OK) {
        double hubs = app_measures_number(&n.all, "hubs", 0),
               modules = app_measures_number(&n.all, "modules", 0);
        draw_modules(figure, subject, &n);
        draw_measure(figure, subject, &n);
        sf_text_printf(
            caption,
            "The network of the %zu edge%s that stand%s out (q of 0.05 or less): left by its %g module%s "
            "(modularity %.2g), the area of a unit growing with its degree, ",
            n.g.link_count, n.g.link_count == 1 ? "" : "s", n.g.link_count == 1 ? "s" : "", modules,
            modules > 1 ? "s" : "", app_measures_number(&n.all, "modularity", 0));
        if (hubs > 0)
            sf_text_printf(caption, "%g hub%s ringed", hubs, hubs == 1 ? "" : "s");
        else
            sf_text_printf(caption, "none of them a hub");
        sf_text_printf(
            caption,
            "; right by %s. Random graphs have modules, too: synfire graph --measures --rewired 100 "
            "tells. ",
            n.measure);
    }
    sf_free(n.x);
    sf_free(n.y);
    return status;
}

const app_figure_kind app_figure_network = {
    .name = "network",
    .summary = "units on the array by module, hub and strength in the network",
    .by = APP_BY_EDGES | APP_BY_MEASURE,
    .draw = draw_network};

/* ---- edges one by one ---- */

#define FEW_PAIRS 100 /* whose dots are larger, or nobody sees them */

/* Dots of more pairs would be files that no browser opens: of those that lie on one another one is drawn. */
#define MANY_PAIRS 5000
#define APART_MM 0.2

typedef struct covered {
    bool *cells; /* NULL: of few pairs all are drawn */
    size_t columns, hidden;
} covered;

static int open_covered(covered *it, const sf_panel *panel, size_t pairs)
{
    size_t rows = (size_t)(panel->height / APART_MM) + 1;
    *it = (covered){.columns = (size_t)(panel->width / APART_MM) + 1};
    if (pairs <= MANY_PAIRS) return SF_OK;
    it->cells = sf_alloc(it->columns * rows, sizeof *it->cells);
    return it->cells != NULL ? SF_OK : SF_NO_MEMORY;
}

static bool is_covered(covered *it, const sf_panel *panel, double x, double y)
{
    if (it->cells == NULL) return false;
    size_t across = (size_t)((sf_panel_x(panel, x) - panel->left) / APART_MM),
           down = (size_t)((sf_panel_y(panel, y) - panel->top) / APART_MM);
    bool *cell = &it->cells[down * it->columns + across], was = *cell;
    it->hidden += was;
    *cell = true;
    return was;
}

/* Draws the pairs that stand out, or the others; adds to *hidden the number that lie on others. */
static int draw_pairs(sf_panel *panel, const sf_graph_columns *g, bool standing, const sf_ink *ink,
                      double radius_mm, size_t *hidden)
{
    covered drawn;
    if (open_covered(&drawn, panel, g->link_count) != SF_OK) return SF_NO_MEMORY;
    for (size_t i = 0; i < g->link_count; i++) {
        char note[200];
        if (stands_out(g, i) != standing || !(g->expected[i] > 0) || g->count[i] == 0 ||
            is_covered(&drawn, panel, g->expected[i], (double)g->count[i]))
            continue;
        describe_edge(note, sizeof note, g, i);
        sf_panel_dot(panel, ink, g->expected[i], (double)g->count[i], radius_mm, g->q[i], note);
    }
    *hidden += drawn.hidden;
    sf_free(drawn.cells);
    return SF_OK;
}

static int draw_edge_list(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_graph_columns g;
    int status = take_graph(&g, subject, false, error);
    if (status != SF_OK) return status;
    const sf_ink chance = {.line = SF_NO_COLOUR, .fill = SF_GREY, .opacity = 0.5};
    const sf_ink tested = {.line = SF_NO_COLOUR, .fill = SF_VERMILION};
    const sf_ink same = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.2, .dashed = true};
    double least = INFINITY, most = 1;
    for (size_t i = 0; i < g.link_count; i++) {
        least = g.expected[i] > 0 ? fmin(least, fmin(g.expected[i], (double)g.count[i])) : least;
        most = fmax(most, fmax(g.expected[i], (double)g.count[i]));
    }
    const double ends[2] = {least / 1.2, most * 1.2};
    const double larger = g.link_count <= FEW_PAIRS ? 2 : 1;
    const sf_panel_form form = {
        .title = "Every frequent pair",
        .x = {.label = "expected by rates", .from = ends[0], .to = ends[1], .log = true},
        .y = {.label = "count", .from = ends[0], .to = ends[1], .log = true},
        .equal = true,
        .key = {"q of 0.05 or less", "the others"},
        .key_colours = {SF_VERMILION, SF_GREY}};
    sf_panel panel = sf_panel_begin(figure, &form);
    size_t hidden = 0;
    sf_panel_line(&panel, &same, NULL, ends, ends, 2);
    status = draw_pairs(&panel, &g, false, &chance, larger * 0.4, &hidden);
    if (status == SF_OK) status = draw_pairs(&panel, &g, true, &tested, larger * 0.6, &hidden);
    sf_panel_end(&panel);
    sf_text_printf(
        caption,
        "Each dot is a pair of units, one after the other: how often it was counted, and how often that is "
        "expected by rates, of units that fire independently. On the dashed line both are the same; bursts "
        "that units share lift all dots above it. %zu of %zu stand%s out against %" PRIu32
        " surrogates (q of 0.05 or less). ",
        count_standing(&g), g.link_count, count_standing(&g) == 1 ? "s" : "",
        g.significance->options.surrogates);
    if (hidden > 0) sf_text_printf(caption, "%zu dots that lie on others are left out. ", hidden);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

const app_figure_kind app_figure_edges = {.name = "edges",
                                          .half = true,
                                          .summary =
                                              "counts of all frequent pairs beside what is expected by rates",
                                          .by = APP_BY_EDGES,
                                          .draw = draw_edge_list};

/* ---- matrices ---- */

/* Up to this number of units, names stand beside the matrix; with more they would be unreadable. */
#define MOST_NAMED 40

static void draw_matrix(sf_figure *figure, size_t columns, const double *values, const char *const *names,
                        size_t units, const char *title, const char *x, const char *y,
                        const sf_colour_scale *scale)
{
    const sf_axis axis = {.from = -0.5,
                          .to = (double)units - 0.5,
                          .bare = units > MOST_NAMED,
                          .names = units <= MOST_NAMED ? names : NULL,
                          .told = names,
                          .name_count = units};
    sf_panel_form form = {.title = title,
                          .x = axis,
                          .y = axis,
                          .equal = true,
                          .columns = columns,
                          .height_mm = columns > 1 ? 90 : 0,
                          .colours = *scale};
    form.x.label = x;
    form.y.label = y;
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_image(&panel, values, units, units, scale);
    sf_panel_end(&panel);
}

/* Rows of those units that have a link, in the order of their index, and their names; sf_free both. */
static int place_linked(uint32_t **place, const char ***names, size_t *count, const sf_graph_columns *g,
                        sf_error *error)
{
    *place = sf_alloc(g->vertex_count, sizeof **place);
    *names = sf_alloc(g->vertex_count, sizeof **names);
    *count = 0;
    if (*place == NULL || *names == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < g->link_count; i++)
        (*place)[g->from[i]] = (*place)[g->to[i]] = 1;
    for (size_t v = 0; v < g->vertex_count; v++)
        if ((*place)[v] > 0) {
            (*names)[*count] = g->names[v];
            (*place)[v] = (uint32_t)(*count)++;
        }
    return SF_OK;
}

static void draw_ratio_matrix(sf_figure *figure, const sf_graph_columns *g, double *values,
                              const uint32_t *place, const char *const *names, size_t units)
{
    /* At least a quarter off what is expected: what is nearer looks alike. */
    sf_colour_scale scale = {.label = "count / expected", .to = 1.25, .log = true, .diverging = true};
    for (size_t k = 0; k < units * units; k++)
        values[k] = NAN;
    for (size_t i = 0; i < g->link_count; i++) {
        double ratio = (double)g->count[i] / g->expected[i],
               *cell = &values[(size_t)place[g->to[i]] * units + place[g->from[i]]];
        *cell = fmax(*cell, ratio); /* of several delays the most */
        if (ratio > 0 && isfinite(ratio)) scale.to = fmax(scale.to, fmax(ratio, 1 / ratio));
    }
    scale.from = 1 / scale.to;
    draw_matrix(figure, figure->columns, values, names, units, "Count beside what is expected by rates",
                "from unit, by index", "to unit, by index", &scale);
}

#define MOST_IN_MATRIX 2000

static int draw_pair_matrix(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_graph_columns g;
    uint32_t *place = NULL;
    const char **names = NULL;
    double *values = NULL;
    size_t units = 0;
    int status = take_graph(&g, subject, false, error);
    if (status == SF_OK) status = place_linked(&place, &names, &units, &g, error);
    if (status == SF_OK && units > MOST_IN_MATRIX)
        status = sf_fail(error, SF_DATA, NULL,
                         "%zu units make no matrix that can be read: choose some with --units", units);
    else if (status == SF_OK && (values = sf_alloc(units * units, sizeof *values)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK) {
        draw_ratio_matrix(figure, &g, values, place, names, units);
        sf_text_printf(
            caption,
            "How many times as often one unit follows another as is expected by rates, of units that "
            "fire independently: the %zu units (of %zu) that are in a frequent pair, in the order of "
            "their index. White is as often as expected, red more, blue less; grey: pairs that are not "
            "frequent. ",
            units, subject->of.unit_count);
    }
    sf_free(values);
    sf_free(names);
    sf_free(place);
    return status;
}
const app_figure_kind app_figure_matrix = {
    .name = "matrix",
    .half = true,
    .summary = "counts beside what is expected by rates, for every pair of units",
    .by = APP_BY_EDGES,
    .draw = draw_pair_matrix};

/* ---- who drives whom ---- */

#define MOST_DRIVEN 300 /* units on a report's page, which would wait */
#define MOST_SCORE 10   /* what is further out has the colour of it */

static int find_drive(sf_graph **graph, app_subject *subject, sf_error *error)
{
    sf_drive_options how = sf_drive_options_default();
    int method = 0;
    int status = app_word(subject->call, "metric", &method, error);
    *graph = NULL;
    if (status == SF_OK && subject->in_report && subject->of.unit_count > MOST_DRIVEN)
        return sf_fail(error, SF_DATA, NULL, "%zu units take a while: `synfire plot drive` compares them",
                       subject->of.unit_count);
    if (status != SF_OK) return status;
    how.method = (sf_drive_method)method;
    how.max_false = 1; /* the matrix has all pairs */
    how.min_distance_um = subject->mining.options.min_distance_um;
    if (app_has(subject->call, "delay") && !subject->in_report) {
        how.low_ns = subject->mining.delays[0].low_ns;
        how.high_ns = subject->mining.delays[0].high_ns;
    }
    return app_connect_drive(graph, subject->call, subject->recording, &how, NULL, error);
}

/* Scores between the units that fire, which all pairs consist of. */
static int draw_score_matrix(sf_figure *figure, const sf_graph_columns *g, sf_error *error)
{
    const sf_colour_scale scale = {
        .label = "score", .from = -MOST_SCORE, .to = MOST_SCORE, .diverging = true};
    uint32_t *place = NULL;
    const char **names = NULL;
    double *values = NULL;
    size_t units = 0;
    int status = place_linked(&place, &names, &units, g, error);
    if (status == SF_OK && (values = sf_resize(NULL, units, units * sizeof *values)) == NULL)
        status = sf_fail_memory(error);
    for (size_t k = 0; status == SF_OK && k < units * units; k++)
        values[k] = NAN;
    for (size_t i = 0; status == SF_OK && i < g->link_count; i++)
        values[place[g->to[i]] * units + place[g->from[i]]] =
            fmax(-MOST_SCORE, fmin(MOST_SCORE, g->score[i]));
    if (status == SF_OK)
        draw_matrix(figure, 1, values, names, units, "All pairs, from most others", "from unit, by index",
                    "to unit, by index", &scale);
    sf_free(values);
    sf_free(names);
    sf_free(place);
    return status;
}

static int draw_signs(sf_figure *figure, app_subject *subject, const sf_graph_columns *g, const double *x,
                      const double *y, bool known, sf_error *error)
{
    double radius_mm = subject->of.unit_count <= FEW_UNITS ? 0.8 : 0.35;
    sf_panel_form form = {.title = known ? "Who drives whom, on the array" : "Who drives whom",
                          .x.bare = true,
                          .y.bare = true,
                          .equal = true,
                          .key = {"excites", "inhibits"},
                          .key_colours = {SF_VERMILION, SF_BLUE}};
    app_cover_places(&form, x, y, subject->of.unit_count);
    if (!known) {
        form.x.from = form.y.from = -125;
        form.x.to = form.y.to = 125;
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    draw_edges(&panel, g, x, y, NULL, radius_mm);
    int status = draw_units(&panel, subject, g, x, y, known, radius_mm, error);
    if (known) sf_panel_scale_bar(&panel, "\u00b5m");
    sf_panel_end(&panel);
    return status;
}

static void tell_signs(sf_text *caption, const app_subject *subject, const sf_graph_columns *g)
{
    size_t inhibiting = 0, standing = count_standing(g);
    for (size_t i = 0; i < g->link_count; i++)
        inhibiting += stands_out(g, i) && g->sign[i] < 0;
    sf_text_printf(
        caption,
        "Who drives whom by %s: %zu of %zu ordered pairs stand%s out from most others with a confidence of "
        "%g or more, %zu of them inhibitory. Width: strength. Matrix: the distance of every pair from most "
        "others, in their standard deviations. ",
        app_value(subject->call, "metric", "regression"), standing, g->pairs_compared,
        standing == 1 ? "s" : "", CONFIDENT, inhibiting);
    tell_drawn(caption, g);
    if (g->troughs_hidden > 0)
        sf_text_printf(caption, "In %zu pair%s the units are too slow for a trough to be seen. ",
                       g->troughs_hidden, g->troughs_hidden == 1 ? "" : "s");
    sf_text_printf(caption, "A shared input that is not recorded makes an edge where there is no synapse. ");
}

static int draw_drive(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    size_t units = subject->of.unit_count;
    sf_graph *graph;
    sf_graph_columns g = {.size = sizeof g};
    bool known = false;
    int status = find_drive(&graph, subject, error);
    double *x = sf_alloc(units, sizeof *x), *y = sf_alloc(units, sizeof *y);
    if (status == SF_OK && (x == NULL || y == NULL)) status = sf_fail_memory(error);
    if (status == SF_OK) {
        sf_graph_get_columns(graph, &g);
        status = count_standing(&g) > 0
                     ? place_units(x, y, &known, subject, error)
                     : sf_fail(error, SF_DATA, NULL,
                               "no unit drives another: of %zu ordered pairs none lies far "
                               "enough from most others",
                               g.pairs_compared);
    }
    if (status == SF_OK) status = draw_signs(figure, subject, &g, x, y, known, error);
    if (status == SF_OK && units <= MOST_IN_MATRIX) status = draw_score_matrix(figure, &g, error);
    if (status == SF_OK) tell_signs(caption, subject, &g);
    sf_free(x);
    sf_free(y);
    sf_graph_free(graph);
    return status;
}

const app_figure_kind app_figure_drive = {.name = "drive",
                                          .summary = "which units excite and which inhibit others",
                                          .by = APP_BY_DELAY | APP_BY_DISTANCE | APP_BY_METRIC,
                                          .draw = draw_drive};

/* ---- tiling ---- */

#define MOST_TILED 150

static int most_first(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first < second) - (first > second);
}

/* Finds the spike count that the MOST_TILED busiest units reach, and how many of those have exactly this
 * count. */
static int find_bar(uint64_t *bar, size_t *at_bar, const sf_overview_columns *told, size_t units,
                    sf_error *error)
{
    uint64_t *counts = sf_alloc(units, sizeof *counts);
    if (counts == NULL) return sf_fail_memory(error);
    for (size_t u = 0; u < units; u++)
        counts[u] = told->units[u].spikes;
    qsort(counts, units, sizeof *counts, most_first);
    size_t most = units < MOST_TILED ? units : MOST_TILED;
    *bar = most > 0 && counts[most - 1] > 0 ? counts[most - 1] : 1;
    *at_bar = 0;
    for (size_t k = 0; k < most; k++)
        *at_bar += counts[k] == *bar;
    sf_free(counts);
    return SF_OK;
}

/* The part of the recording with its busiest units, as an option lists them; NULL where they are all. */
static int select_busiest(sf_recording **busiest, size_t *kept, app_subject *subject, sf_error *error)
{
    sf_overview_columns told;
    uint64_t bar = 0;
    size_t units = subject->of.unit_count, at_bar = 0;
    int status = app_subject_overview(subject, &told, error);
    if (status == SF_OK) status = find_bar(&bar, &at_bar, &told, units, error);
    if (status != SF_OK) return status;
    sf_text list = {0};
    *kept = 0;
    for (size_t u = 0; u < units; u++) {
        bool tied = told.units[u].spikes == bar && at_bar > 0;
        at_bar -= tied;
        if (tied || told.units[u].spikes > bar) sf_text_printf(&list, "%s#%zu", (*kept)++ > 0 ? "," : "", u);
    }
    sf_selection selection = sf_selection_default();
    selection.units = list.data;
    if (*kept < 3)
        status = sf_fail(error, SF_DATA, NULL, "fewer than three units fire: there is nothing to tile");
    else if (*kept < units)
        status = sf_recording_select(busiest, subject->recording, &selection, error);
    sf_text_free(&list);
    return status;
}

/* Average linkage: the two clusters that are most alike become one, whose members stand in a row. `alike` is
 * used up. O(n^3), for the few units that a matrix can show. */
static void order_by_clusters(size_t *order, double *alike, size_t n, size_t *next, size_t *size)
{
    size_t *last = size + n, first = 0;
    for (size_t i = 0; i < n; i++) {
        next[i] = n;
        last[i] = i;
        size[i] = 1;
    }
    for (size_t joined = 1; joined < n; joined++) {
        size_t a = 0, b = 0;
        double best = -INFINITY;
        for (size_t i = 0; i < n; i++)
            for (size_t k = i + 1; size[i] > 0 && k < n; k++)
                if (size[k] > 0 && alike[i * n + k] > best) {
                    best = alike[i * n + k];
                    a = i;
                    b = k;
                }
        if (a == b) { /* nothing is known of those left: in their order */
            while (size[a] == 0)
                a++;
            for (b = a + 1; size[b] == 0;)
                b++;
        }
        for (size_t k = 0; k < n; k++) {
            double mixed = ((double)size[a] * alike[a * n + k] + (double)size[b] * alike[b * n + k]) /
                           (double)(size[a] + size[b]);
            alike[a * n + k] = alike[k * n + a] = mixed;
        }
        next[last[a]] = b;
        last[a] = last[b];
        size[a] += size[b];
        size[b] = 0;
        first = a;
    }
    for (size_t k = 0; k < n; k++, first = next[first])
        order[k] = first;
}

/* Coefficients of the remaining units, as a full matrix; NaN on the diagonal. */
static double *fill_tiling(const sf_graph_columns *g, const uint32_t *place, size_t n)
{
    double *values = sf_alloc(n * n, sizeof *values);
    for (size_t k = 0; values != NULL && k < n * n; k++)
        values[k] = NAN;
    for (size_t i = 0; values != NULL && i < g->link_count; i++) {
        size_t a = place[g->from[i]], b = place[g->to[i]];
        values[a * n + b] = values[b * n + a] = g->weight[i];
    }
    return values;
}

static int draw_ordered(sf_figure *figure, const double *values, const char *const *names, size_t n,
                        sf_error *error)
{
    double *alike = sf_alloc(n * n, sizeof *alike), *sorted = sf_alloc(n * n, sizeof *sorted);
    size_t *order = sf_alloc(4 * n, sizeof *order);
    const char **shown = sf_alloc(n, sizeof *shown);
    int status =
        alike != NULL && sorted != NULL && order != NULL && shown != NULL ? SF_OK : sf_fail_memory(error);
    sf_colour_scale scale = {.label = "tiling coefficient", .to = 0.1, .diverging = true};
    for (size_t k = 0; status == SF_OK && k < n * n; k++) {
        alike[k] = isnan(values[k]) ? 0 : values[k];
        scale.to = fmax(scale.to, fabs(alike[k]));
        scale.from = -scale.to;
    }
    if (status == SF_OK) {
        order_by_clusters(order, alike, n, order + n, order + 2 * n);
        for (size_t r = 0; r < n; r++)
            shown[r] = names[order[r]];
        for (size_t r = 0; r < n; r++)
            for (size_t c = 0; c < n; c++)
                sorted[r * n + c] = values[order[r] * n + order[c]];
        draw_matrix(figure, figure->columns, sorted, shown, n, "Spike-time tiling", "unit, by cluster",
                    "unit, by cluster", &scale);
    }
    sf_free(shown);
    sf_free(alike);
    sf_free(sorted);
    sf_free(order);
    return status;
}

static int draw_tiling(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    sf_tiling_options tiling = sf_tiling_options_default();
    const sf_graph_options as = sf_graph_options_default();
    sf_recording *busiest = NULL;
    sf_graph *graph = NULL;
    sf_graph_columns g = {.size = sizeof g};
    size_t kept = 0, n = 0, units = subject->of.unit_count;
    const char **names = NULL;
    int status = app_connect_tiling(&tiling, subject->call, error);
    tiling.surrogates = 0;
    if (status == SF_OK) status = select_busiest(&busiest, &kept, subject, error);
    if (status == SF_OK)
        status = sf_graph_of_tiling(&graph, busiest != NULL ? busiest : subject->recording, &tiling, &as,
                                    &progress, error);
    uint32_t *place = NULL;
    double *values = NULL;
    if (status == SF_OK) sf_graph_get_columns(graph, &g);
    if (status == SF_OK) status = place_linked(&place, &names, &n, &g, error);
    if (status == SF_OK) {
        values = fill_tiling(&g, place, n);
        status = values == NULL ? sf_fail_memory(error)
                 : n < 2        ? sf_fail(error, SF_DATA, NULL, "fewer than two units fire")
                                : draw_ordered(figure, values, names, n, error);
    }
    if (status == SF_OK)
        sf_text_printf(
            caption,
            "Spike-time tiling coefficients of %s%zu units within %g ms, in the order of clusters (average "
            "linkage). White is 0, red above and blue below; grey: a unit with itself%s. ",
            kept < units ? "the busiest " : "all ", n, (double)tiling.half_width_ns * 1e-6,
            tiling.min_distance_um > 0 ? ", and pairs nearer than --min-distance" : "");
    sf_free(values);
    sf_free(names);
    sf_free(place);
    sf_graph_free(graph);
    sf_recording_free(busiest);
    return status;
}

const app_figure_kind app_figure_tiling = {.name = "tiling",
                                           .half = true,
                                           .summary = "spike-time tiling coefficients, ordered by clusters",
                                           .by = APP_BY_DELAY | APP_BY_DISTANCE,
                                           .draw = draw_tiling};

/* ---- motifs ---- */

/* Index of 021D, the first triad with two edges. */
#define FIRST_TRIAD 3
#define FEW_TRIADS 5   /* have room in a column */
#define TRIAD_MM 7.0   /* the height of its drawing */
#define VERTEX_MM 0.55 /* its radius */

/* An arrow between two of its vertices. */
static void draw_triad_edge(sf_scene *scene, const double from[2], const double to[2], bool mutual)
{
    const sf_ink line = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.25};
    const sf_ink head = {.line = SF_NO_COLOUR, .fill = SF_BLACK};
    double length = hypot(to[0] - from[0], to[1] - from[1]), ux = (to[0] - from[0]) / length,
           uy = (to[1] - from[1]) / length, off = VERTEX_MM + 0.25;
    sf_scene_segment(scene, &line, from[0] + ux * off, from[1] + uy * off, to[0] - ux * off,
                     to[1] - uy * off);
    for (int end = 0; end <= (mutual ? 1 : 0); end++) {
        double way = end == 0 ? 1 : -1;
        const double *at = end == 0 ? to : from;
        double x = at[0] - way * ux * off, y = at[1] - way * uy * off;
        sf_scene_begin(scene, SF_SHAPE_AREA, &head, NULL, NULL);
        sf_scene_point(scene, x, y);
        sf_scene_point(scene, x - way * ux * 1.3 + uy * 0.5, y - way * uy * 1.3 - ux * 0.5);
        sf_scene_point(scene, x - way * ux * 1.3 - uy * 0.5, y - way * uy * 1.3 + ux * 0.5);
    }
}

/* Its three vertices, the second at the top, with its edges. */
static void draw_triad(sf_scene *scene, uint8_t edges, double x, double y)
{
    const sf_ink vertex = {.line = SF_NO_COLOUR, .fill = SF_BLACK};
    const double half = TRIAD_MM / 2 - VERTEX_MM;
    const double at[3][2] = {{x - half, y + half}, {x, y - half}, {x + half, y + half}};
    static const int ends[3][2] = {{0, 1}, {1, 2}, {0, 2}}; /* as the bits of edges, each forth and back */
    sf_scene_group(scene, "triad", NULL);
    for (int k = 0; k < 3; k++) {
        bool forth = edges >> (2 * k) & 1, back = edges >> (2 * k + 1) & 1;
        const double *from = at[ends[k][0]], *to = at[ends[k][1]];
        if (forth || back) draw_triad_edge(scene, forth ? from : to, forth ? to : from, forth && back);
    }
    sf_scene_begin(scene, SF_SHAPE_DISC, &vertex, NULL, NULL);
    sf_scene_radius(scene, VERTEX_MM);
    for (int k = 0; k < 3; k++)
        sf_scene_point(scene, at[k][0], at[k][1]);
    sf_scene_end(scene);
}

static int draw_motifs(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    sf_rewired_options how = sf_rewired_options_default();
    how.seed = subject->test.seed;
    uint64_t counts[SF_TRIADS];
    sf_spread spreads[SF_TRIADS];
    sf_graph *graph = NULL;
    sf_graph_columns g;
    int status = take_graph(&g, subject, true, error);
    if (status == SF_OK && count_standing(&g) < 2)
        status =
            sf_fail(error, SF_DATA, NULL, "only one edge stands out: it makes no pattern of three units");
    if (status == SF_OK) status = app_subject_edges(subject, &graph, error);
    if (status == SF_OK) status = sf_graph_census(counts, graph, 0, &progress, error);
    if (status == SF_OK)
        status = sf_graph_rewire(spreads, counts, graph, NULL, 1, NULL, &how, NULL, &progress, error);
    if (status != SF_OK) return status;
    const sf_ink dot = {.line = SF_NO_COLOUR, .fill = SF_VERMILION};
    const sf_ink mean = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.3};
    const sf_ink band = {.line = SF_NO_COLOUR, .fill = SF_BLACK, .opacity = 0.2};
    const char *names[SF_TRIADS];
    int shown[SF_TRIADS], count = 0;
    double most = 1;
    for (int t = FIRST_TRIAD; t < SF_TRIADS; t++) {
        if (counts[t] == 0 && !(spreads[t].mean > 0)) continue;
        names[count] = sf_triad_list()[t].name;
        shown[count++] = t;
        most = fmax(most, fmax((double)counts[t], spreads[t].mean + 2 * fmax(spreads[t].sd, 0)));
    }
    if (count == 0)
        return sf_fail(error, SF_DATA, NULL,
                       "the %zu edges that stand out make no pattern of three units, nor do they rewired",
                       count_standing(&g));
    /* Large counts get a logarithmic axis of count + 1, because zero has no place on it. */
    const bool many = most > 30;
    const double more = many ? 1 : 0;
    sf_panel_form form = {.title = "Triads of edges",
                          .x = {.from = -0.6, .to = count - 0.4, .names = names},
                          .y = {.label = many ? "count + 1" : "count",
                                .from = many ? 0.8 : -0.04 * most,
                                .to = many ? (most + 1) * 1.3 : most * 1.1,
                                .log = many,
                                .whole = true},
                          .columns = count > FEW_TRIADS ? figure->columns : 1,
                          .height_mm = 50,
                          .key = {"this graph", "mean and 2 sd of rewired graphs"},
                          .key_colours = {SF_VERMILION, SF_GREY}};
    form.x.name_count = (size_t)count;
    sf_panel panel = sf_panel_begin(figure, &form);
    for (int k = 0; k < count; k++) {
        const sf_spread *spread = &spreads[shown[k]];
        double x = k, two = spread->sd > 0 ? 2 * spread->sd : 0;
        char note[120];
        const double ends[2] = {x - 0.3, x + 0.3}, level[2] = {spread->mean + more, spread->mean + more};
        snprintf(note, sizeof note, "%s: %" PRIu64 ", rewired %.4g, sd %.3g, z %.3g", names[k],
                 counts[shown[k]], spread->mean, spread->sd, spread->z);
        sf_panel_cell(&panel, &band, x - 0.3, fmax(spread->mean - two, 0) + more, x + 0.3,
                      spread->mean + two + more, NULL);
        sf_panel_line(&panel, &mean, "mean", ends, level, 2);
        sf_panel_dot(&panel, &dot, x, (double)counts[shown[k]] + more, 0.8, spread->z, note);
    }
    sf_panel_end(&panel);
    for (int k = 0; k < count; k++)
        draw_triad(&figure->scene, sf_triad_list()[shown[k]].edges, sf_panel_x(&panel, k),
                   figure->bottom_mm + TRIAD_MM / 2 + 0.5);
    figure->bottom_mm += TRIAD_MM + 1.5;
    sf_text_printf(
        caption,
        "How often each pattern of edges among three units occurs in the graph of the edges that stand out, "
        "beside %" PRIu32 " graphs with the same degrees, rewired at random; below "
        "each column its pattern.%s ",
        how.graphs,
        count < SF_TRIADS - FIRST_TRIAD ? " Patterns that occur in none of them are left out." : "");
    return SF_OK;
}

const app_figure_kind app_figure_motifs = {.name = "motifs",
                                           .half = true,
                                           .summary = "patterns of three units, beside rewired graphs",
                                           .by = APP_BY_EDGES,
                                           .draw = draw_motifs};
