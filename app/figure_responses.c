/* SPDX-License-Identifier: Apache-2.0 */
/* What units and chains do around each marker: rasters by trial and histograms. */
#include "app/figure.h"
#include "app/responses.h"

#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHOWN 4 /* on a page */
#define FEW_SHOWN 2  /* on a column */
#define RASTER_MM 26.0
#define HISTOGRAM_MM 20.0

/* ---- which ---- */

typedef struct ranked {
    size_t row;
    double p, size;
} ranked;

/* By p, and by how much is evoked. */
static int by_verdict(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->p != y->p) return x->p < y->p ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The rows to show: all chains that were asked for come first, then units; SF_NO_MEMORY. */
static int choose(size_t *shown, size_t *count, const sf_response_report *r, size_t most, sf_error *error)
{
    size_t all = sf_response_report_count(r), units = r->units.item_count, taken = 0;
    ranked *order = sf_alloc(units, sizeof *order);
    if (order == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < units; i++) {
        const sf_response_row row = sf_response_report_row(r, i);
        order[i] = (ranked){i, isnan(row.p) ? 2 : row.p, fabs(row.evoked)};
    }
    qsort(order, units, sizeof *order, by_verdict);
    for (size_t i = units; i < all && taken < most; i++)
        shown[taken++] = i;
    for (size_t i = 0; i < units && taken < most; i++)
        shown[taken++] = order[i].row;
    *count = taken;
    sf_free(order);
    return SF_OK;
}

/* ---- drawing ---- */

/* Adds an event to every trial that it lies around. */
static void add_event(double *x, double *y, size_t *count, const sf_responses *of, int64_t time_ns)
{
    int64_t to = of->first_ns + (int64_t)of->bin_count * of->options.bin_ns;
    size_t low = 0, high = of->trial_count; /* the first trial whose histogram does not end before */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (of->trials[middle].time_ns + to <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < of->trial_count && of->trials[low].time_ns + of->first_ns <= time_ns; low++) {
        if (x != NULL) {
            x[*count] = (double)(time_ns - of->trials[low].time_ns) * 1e-6;
            y[*count] = (double)low + 0.5;
        }
        ++*count;
    }
}

/* All events of a row; x NULL: only how many. */
static size_t list_events(double *x, double *y, const sf_response_report *r, size_t row)
{
    size_t at, count = 0;
    const sf_responses *of = sf_response_report_of(r, row, &at);
    if (of == &r->chains)
        for (size_t n = 0; n < r->begins[at].count; n++)
            add_event(x, y, &count, of, r->begins[at].times_ns[n]);
    else
        for (size_t i = 0; i < r->of.spike_count; i++)
            if (r->of.spikes[i].unit == at) add_event(x, y, &count, of, r->of.spikes[i].time_ns);
    return count;
}

static sf_axis time_axis(const sf_responses *of, bool labelled)
{
    return (sf_axis){.label = labelled ? "time since the marker, ms" : NULL,
                     .from = (double)of->first_ns * 1e-6,
                     .to = (double)(of->first_ns + (int64_t)of->bin_count * of->options.bin_ns) * 1e-6};
}

static void mark_window(sf_panel *panel, const sf_responses *of)
{
    const sf_ink window = {.line = SF_NO_COLOUR, .fill = SF_YELLOW, .opacity = 0.35};
    sf_panel_stretch(panel, &window, "response", (double)of->options.from_ns * 1e-6,
                     (double)of->options.to_ns * 1e-6);
}

static void mark_zero(sf_panel *panel)
{
    const sf_ink zero = {.line = SF_VERMILION, .fill = SF_NO_COLOUR, .width_mm = 0.25};
    sf_panel_stretch(panel, &zero, NULL, 0, 0);
}

static int draw_raster(sf_figure *figure, const sf_response_report *r, size_t row, sf_error *error)
{
    const sf_ink ink = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.25};
    const sf_response_row told = sf_response_report_row(r, row);
    size_t at, count = list_events(NULL, NULL, r, row);
    const sf_responses *of = sf_response_report_of(r, row, &at);
    double *x = sf_alloc(count, sizeof *x), *y = sf_alloc(count, sizeof *y);
    char title[200], key[120];
    int status = x == NULL || y == NULL ? sf_fail_memory(error) : SF_OK;
    snprintf(title, sizeof title, "%.100s", told.name);
    snprintf(key, sizeof key, "reliability %.2g (%.2g before), latency %.3g ms, q %.2g", told.reliability,
             told.baseline_reliability, told.latency_ms, told.q);
    const sf_panel_form form = {
        .title = title,
        .name = "trials",
        .x = time_axis(of, false),
        .y = {.label = "trial", .from = (double)of->trial_count, .to = 0, .whole = true},
        .key = {key},
        .key_colours = {SF_NO_COLOUR},
        .height_mm = RASTER_MM};
    if (status == SF_OK) {
        (void)list_events(x, y, r, row);
        sf_panel panel = sf_panel_begin(figure, &form);
        mark_window(&panel, of);
        sf_panel_ticks(&panel, &ink, "spikes", x, y, count, fmax(0.9, (double)of->trial_count / 80));
        mark_zero(&panel);
        sf_panel_end(&panel);
    }
    sf_free(x);
    sf_free(y);
    return status;
}

static int draw_histogram(sf_figure *figure, const sf_response_report *r, size_t row, sf_error *error)
{
    const sf_ink ink = {.line = SF_NO_COLOUR, .fill = SF_BLUE, .opacity = 0.6},
                 level = {.line = SF_GREY, .fill = SF_NO_COLOUR, .width_mm = 0.3, .dashed = true};
    const sf_response_row told = sf_response_report_row(r, row);
    size_t at;
    const sf_responses *of = sf_response_report_of(r, row, &at);
    double *rates = sf_alloc(of->bin_count, sizeof *rates), most = told.baseline_hz;
    if (rates == NULL) return sf_fail_memory(error);
    for (size_t b = 0; b < of->bin_count; b++) {
        rates[b] = sf_response_rate(of->histogram[at * of->bin_count + b], of->bin_exposed_ns[b]);
        most = fmax(most, rates[b]);
    }
    sf_panel_form form = {
        .name = "histogram",
        .x = time_axis(of, true),
        .y = {.label = of == &r->chains ? "occurrences, Hz" : "rate, Hz", .to = most > 0 ? most * 1.05 : 1},
        .height_mm = HISTOGRAM_MM};
    sf_panel panel = sf_panel_begin(figure, &form);
    const double ends[] = {form.x.from, form.x.to}, baseline[] = {told.baseline_hz, told.baseline_hz};
    mark_window(&panel, of);
    sf_panel_steps(&panel, &ink, "rate", form.x.from, (double)of->options.bin_ns * 1e-6, rates, of->bin_count,
                   0);
    sf_panel_line(&panel, &level, "baseline", ends, baseline, 2);
    mark_zero(&panel);
    sf_panel_end(&panel);
    sf_free(rates);
    return SF_OK;
}

static void explain(sf_text *caption, const sf_response_report *r, const size_t *shown, size_t count)
{
    const sf_responses *of = &r->units;
    size_t more, fewer, units = 0;
    sf_response_report_standing(r, &more, &fewer);
    for (size_t i = 0; i < count; i++)
        units += shown[i] < r->units.item_count;
    sf_text_printf(caption, "%zu trial%s of '%s': spikes by trial, and their rate in bins of %g ms. ",
                   of->trial_count, of->trial_count == 1 ? "" : "s", of->options.marker,
                   (double)of->options.bin_ns * 1e-6);
    if (units > 0)
        sf_text_printf(caption, "Shown %s the %zu of %zu units with the least p. ", units == 1 ? "is" : "are",
                       units, of->item_count);
    sf_text_printf(
        caption,
        "Yellow: the response window; dashed: the rate in %" PRIu64
        " window%s of that length before the marker. By q of %g or less %zu unit%s fire%s more in it "
        "and %zu fire%s less. ",
        of->options.baseline, of->options.baseline == 1 ? "" : "s", SF_SIGNIFICANT_Q, more,
        more == 1 ? "" : "s", more == 1 ? "s" : "", fewer, fewer == 1 ? "s" : "");
    bool blanked = false;
    for (size_t b = 0; b < of->bin_count; b++)
        blanked = blanked || of->bin_exposed_ns[b] == 0;
    if (blanked) sf_text_printf(caption, "Where the rate has a gap, nothing was recorded. ");
}

/* The raster of each above its histogram, two side by side on a page. */
static int draw_responses(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_response_options options;
    sf_response_report found = {0};
    size_t shown[MOST_SHOWN], count = 0, most = figure->columns > 1 ? MOST_SHOWN : FEW_SHOWN;
    int status = app_responses_parse(&options, subject->call, error);
    if (status == SF_OK)
        status = app_responses_find(&found, subject->call, subject->recording, &options,
                                    app_value(subject->call, "episodes", NULL), error);
    if (status == SF_OK) {
        app_responses_warn(subject->call, subject->recording, &found.units);
        status = choose(shown, &count, &found, most, error);
    }
    for (size_t k = 0; status == SF_OK && k < count; k += figure->columns) {
        size_t last = k + figure->columns < count ? k + figure->columns : count;
        for (size_t i = k; status == SF_OK && i < last; i++)
            status = draw_raster(figure, &found, shown[i], error);
        if (last - k < figure->columns) figure->used = figure->columns; /* a row with room left ends here */
        for (size_t i = k; status == SF_OK && i < last; i++)
            status = draw_histogram(figure, &found, shown[i], error);
        if (last - k < figure->columns) figure->used = figure->columns;
    }
    if (status == SF_OK) {
        explain(caption, &found, shown, count);
        if (app_responses_tell_others(caption, subject->call, subject->recording, found.units.options.marker))
            sf_text_printf(caption, " ");
    }
    sf_response_report_free(&found);
    return status;
}

const app_figure_kind app_figure_responses = {
    .name = "responses",
    .summary = "spikes by trial around a stimulus (--marker), and their rates",
    .by = APP_BY_RESPONSES | APP_BY_EPISODES,
    .draw = draw_responses};
