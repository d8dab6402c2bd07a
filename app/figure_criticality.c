/* SPDX-License-Identifier: Apache-2.0 */
/* Avalanches: sizes, durations, mean shapes, and the autocorrelation that the branching ratio is fitted to.
 */
#include "app/figure.h"

#include "core/memory.h"

#include <math.h>
#include <stdio.h>

/* ---- sizes and durations ---- */

#define DECADE 8 /* bins */
#define MOST_BINS 160

/* Numbers of avalanches in bins that grow: each from the whole number after the last one's end to its own. */
typedef struct binned {
    double at[MOST_BINS], density[MOST_BINS];
    size_t count;
    double least;
} binned;

static uint64_t value_of(const sf_avalanche *a, bool durations)
{
    return durations ? a->bins : a->spikes;
}

static uint64_t end_of_bin(size_t k)
{
    return (uint64_t)floor(pow(10, (double)(k + 1) / DECADE));
}

static void bin_avalanches(binned *b, const sf_avalanches *avalanches, bool durations)
{
    static double held[MOST_BINS];
    for (size_t k = 0; k < MOST_BINS; k++)
        held[k] = 0;
    for (size_t i = 0; i < avalanches->count; i++) {
        size_t k = 0;
        while (k + 1 < MOST_BINS && end_of_bin(k) < value_of(&avalanches->items[i], durations))
            k++;
        held[k]++;
    }
    *b = (binned){.least = 1};
    for (size_t k = 0; k < MOST_BINS; k++) {
        uint64_t before = k > 0 ? end_of_bin(k - 1) : 0;
        double width = (double)(end_of_bin(k) - before);
        if (held[k] == 0) continue;
        b->at[b->count] = sqrt((double)(before + 1) * (double)end_of_bin(k));
        b->density[b->count] = held[k] / width / (double)avalanches->count;
        b->least = fmin(b->least, b->density[b->count++]);
    }
}

#define LINE_POINTS 60

static void draw_law(sf_figure *figure, const sf_criticality *found, bool durations)
{
    const sf_ink dots = {.line = SF_NO_COLOUR, .fill = SF_BLUE},
                 line = {.line = SF_VERMILION, .fill = SF_NO_COLOUR, .width_mm = 0.4};
    const sf_power_fit *law = &found->fits[durations].law;
    static binned b;
    char words[60];
    bin_avalanches(&b, &found->avalanches, durations);
    sf_panel_form form = {.title = durations ? "Durations of avalanches" : "Sizes of avalanches",
                          .name = durations ? "durations" : "sizes",
                          .x = {.label = durations ? "duration, bins" : "size, spikes",
                                .from = 0.8,
                                .to = fmax(10, 1.3 * (double)law->most),
                                .log = true},
                          .y = {.label = "probability", .from = b.least / 2, .to = 1.5, .log = true}};
    snprintf(words, sizeof words, "exponent %.3g from %zu on", law->exponent, (size_t)law->xmin);
    if (isfinite(law->exponent)) {
        form.key[0] = words;
        form.key_colours[0] = SF_VERMILION;
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_dots(&panel, &dots, "avalanches", b.at, b.density, b.count, 0.6);
    if (isfinite(law->exponent)) {
        double x[LINE_POINTS], y[LINE_POINTS], from = (double)law->xmin, to = (double)law->most;
        double share = (double)law->tail / (double)law->count / sf_hurwitz_zeta(law->exponent, from);
        for (size_t i = 0; i < LINE_POINTS; i++) {
            x[i] = from * pow(to / from, (double)i / (LINE_POINTS - 1));
            y[i] = share * pow(x[i], -law->exponent);
        }
        sf_panel_line(&panel, &line, "fit", x, y, LINE_POINTS);
    }
    sf_panel_end(&panel);
}

/* ---- shapes ---- */

static void draw_shapes(sf_figure *figure, const sf_criticality *found)
{
    static char names[SF_PANEL_KEYS][48];
    sf_panel_form form = {.title = "Mean shapes",
                          .name = "shapes",
                          .x = {.label = "place in the avalanche, share of its duration", .to = 1},
                          .y = {.label = "spikes over their mean"}};
    size_t groups = found->shape_count / SF_SHAPE_POINTS;
    groups = groups < SF_PANEL_KEYS - 1 ? groups : SF_PANEL_KEYS - 1;
    for (size_t g = 0; g < groups; g++) {
        const sf_shape_point *points = found->shapes + g * SF_SHAPE_POINTS;
        snprintf(names[g], sizeof names[g], "%zu to %zu bins: %zu", (size_t)points->from_bins,
                 (size_t)points->to_bins, (size_t)points->avalanches);
        form.key[g] = names[g];
        form.key_colours[g] = sf_series_colour(g);
        for (size_t p = 0; p < SF_SHAPE_POINTS; p++)
            form.y.to = fmax(form.y.to, 1.05 * points[p].relative);
    }
    if (groups == 0) return;
    sf_panel panel = sf_panel_begin(figure, &form);
    for (size_t g = 0; g < groups; g++) {
        const sf_ink ink = {.line = sf_series_colour(g), .fill = SF_NO_COLOUR, .width_mm = 0.35};
        double x[SF_SHAPE_POINTS], y[SF_SHAPE_POINTS];
        for (size_t p = 0; p < SF_SHAPE_POINTS; p++) {
            x[p] = found->shapes[g * SF_SHAPE_POINTS + p].position;
            y[p] = found->shapes[g * SF_SHAPE_POINTS + p].relative;
        }
        sf_panel_line(&panel, &ink, "shape", x, y, SF_SHAPE_POINTS);
    }
    sf_panel_end(&panel);
}

/* ---- the autocorrelation ---- */

static int draw_lags(sf_figure *figure, const sf_criticality *found, sf_error *error)
{
    const sf_ink line = {.line = SF_BLUE, .fill = SF_NO_COLOUR, .width_mm = 0.3},
                 fit = {.line = SF_VERMILION, .fill = SF_NO_COLOUR, .width_mm = 0.4};
    size_t count = found->branching.lags;
    double *x = sf_alloc(3 * count, sizeof *x);
    char words[60];
    if (x == NULL) return sf_fail_memory(error);
    double *r = x + count, *fitted = x + 2 * count;
    sf_panel_form form = {.title = "Autocorrelation of all spikes",
                          .name = "autocorrelation",
                          .x = {.label = "lag, s"},
                          .y = {.label = "slope"}};
    for (size_t k = 0; k < count; k++) {
        x[k] = form.x.to = found->lags[k].lag_s;
        r[k] = found->lags[k].r;
        fitted[k] = found->lags[k].fit;
        form.y.to = fmax(form.y.to, 1.05 * fmax(r[k], isfinite(fitted[k]) ? fitted[k] : 0));
        form.y.from = fmin(form.y.from, 1.05 * r[k]);
    }
    snprintf(words, sizeof words, "branching ratio %.4g", found->branching.m);
    bool known = isfinite(found->branching.m);
    if (known) {
        form.key[0] = words;
        form.key_colours[0] = SF_VERMILION;
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_line(&panel, &line, "slopes", x, r, count);
    if (known) sf_panel_line(&panel, &fit, "fit", x, fitted, count);
    sf_panel_end(&panel);
    sf_free(x);
    return SF_OK;
}

/* ---- all of it ---- */

static void explain(sf_text *caption, const sf_criticality *found)
{
    const sf_branching *b = &found->branching;
    const sf_power_fit *size = &found->fits[0].law, *duration = &found->fits[1].law;
    sf_text_printf(caption, "%zu avalanche%s in bins of %.4g ms", found->avalanches.count,
                   found->avalanches.count == 1 ? "" : "s", (double)found->avalanches.bin_ns * 1e-6);
    if (isfinite(size->exponent) && isfinite(duration->exponent))
        sf_text_printf(caption,
                       ": power laws of maximum likelihood with exponents %.3g of sizes (p %.2g) and %.3g of "
                       "durations (p %.2g; 0.1 or less rules one out)",
                       size->exponent, size->p, duration->exponent, duration->p);
    sf_text_printf(caption, ". ");
    if (found->shape_count > 0)
        sf_text_printf(caption, "Mean shapes are of avalanches by their duration, with how many they are. ");
    if (isfinite(b->m))
        sf_text_printf(
            caption,
            "The branching ratio %.4g (95 %%: %.4g to %.4g) is that of the exponential fitted to how a "
            "bin of %.4g ms goes with later ones. ",
            b->m, b->low, b->high, (double)b->bin_ns * 1e-6);
    for (size_t i = 0; i < found->caution_count; i++)
        sf_text_printf(caption, "%s%s: %s. ", i == 0 ? "Cautions: " : "", found->cautions[i].of,
                       found->cautions[i].text);
}

static int draw_avalanches(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_criticality found;
    const sf_progress progress = app_progress(subject->call);
    int status = sf_criticality_find(&found, subject->recording, &subject->criticality, &progress, error);
    if (status == SF_OK && found.avalanches.count == 0)
        status =
            sf_fail(error, SF_DATA, NULL, "there are no avalanches: no bins with spikes between empty ones");
    if (status == SF_OK) {
        draw_law(figure, &found, false);
        draw_law(figure, &found, true);
        draw_shapes(figure, &found);
        if (found.branching.lags > 0) status = draw_lags(figure, &found, error);
    }
    if (status == SF_OK) explain(caption, &found);
    sf_criticality_free(&found);
    return status;
}

const app_figure_kind app_figure_avalanches = {
    .name = "avalanches",
    .summary = "sizes, durations and shapes of avalanches, and the autocorrelation",
    .by = APP_BY_AVALANCHES,
    .draw = draw_avalanches};
