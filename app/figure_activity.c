/* SPDX-License-Identifier: Apache-2.0 */
/* What units fire: the raster. */
#include "app/figure.h"

#include "core/memory.h"

#include <math.h>

/* ---- the raster ---- */

/* More spikes than this are an image: a page has no room for so many ticks. */
#define MOST_TICKS 30000
#define IMAGE_COLUMNS 1200
#define IMAGE_ROWS 800

static int draw_ticks(sf_panel *panel, const app_subject *subject, const app_time_axis *time, sf_error *error)
{
    size_t count = subject->of.spike_count;
    double *x = sf_alloc(count, sizeof *x), *y = sf_alloc(count, sizeof *y);
    if (x != NULL && y != NULL) {
        for (size_t i = 0; i < count; i++) {
            x[i] = app_time_at(time, subject->of.spikes[i].time_ns);
            y[i] = subject->of.spikes[i].unit;
        }
        const sf_ink ink = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.12};
        sf_panel_ticks(panel, &ink, "spikes", x, y, count, 0.8);
    }
    int status = x == NULL || y == NULL ? sf_fail_memory(error) : SF_OK;
    sf_free(x);
    sf_free(y);
    return status;
}

/* Spikes per second and unit in cells of time and of units that follow each other; where there are none,
 * NaN. Returns the most. */
static double fill_cells(double *cells, size_t rows, const app_subject *subject, const app_time_axis *time)
{
    size_t units = subject->of.unit_count;
    double cell_s = time->axis.to * time->unit_s / IMAGE_COLUMNS, most = 0;
    for (size_t i = 0; i < rows * IMAGE_COLUMNS; i++)
        cells[i] = 0;
    for (size_t i = 0; i < subject->of.spike_count; i++) {
        const sf_spike *spike = &subject->of.spikes[i];
        double at = app_time_at(time, spike->time_ns) / time->axis.to * IMAGE_COLUMNS;
        size_t column = at < 0 ? 0 : at >= IMAGE_COLUMNS ? IMAGE_COLUMNS - 1 : (size_t)at;
        cells[spike->unit * rows / units * IMAGE_COLUMNS + column]++;
    }
    for (size_t r = 0; r < rows; r++) {
        size_t first = (r * units + rows - 1) / rows, last = ((r + 1) * units + rows - 1) / rows;
        for (size_t c = r * IMAGE_COLUMNS; c < (r + 1) * IMAGE_COLUMNS; c++) {
            cells[c] = cells[c] > 0 ? cells[c] / (cell_s * (double)(last - first)) : NAN;
            most = fmax(most, cells[c]);
        }
    }
    return most;
}

static int draw_image(sf_figure *figure, sf_panel_form *form, const app_subject *subject,
                      const app_time_axis *time, sf_error *error)
{
    size_t units = subject->of.unit_count, rows = units < IMAGE_ROWS ? units : IMAGE_ROWS;
    double *cells = sf_alloc(rows * IMAGE_COLUMNS, sizeof *cells);
    if (cells == NULL)
        return sf_fail_memory(error);
    double most = fill_cells(cells, rows, subject, time), least = most;
    for (size_t i = 0; i < rows * IMAGE_COLUMNS; i++)
        least = cells[i] < least ? cells[i] : least;
    form->colours = (sf_colour_scale){.label = "spikes per second and unit",
                                      .from = least,
                                      .to = most > least ? most : least * 2,
                                      .log = true,
                                      .reversed = true};
    sf_panel panel = sf_panel_begin(figure, form);
    sf_panel_image(&panel, cells, IMAGE_COLUMNS, rows, &form->colours);
    sf_panel_end(&panel);
    sf_free(cells);
    return SF_OK;
}

static int draw_raster(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    app_time_axis time = app_time_axis_of(subject);
    size_t units = subject->of.unit_count;
    bool image = subject->of.spike_count > MOST_TICKS;
    if (subject->of.spike_count == 0)
        return sf_fail(error, SF_DATA, NULL, "there are no spikes to draw");
    sf_panel_form form = {.title = "Spikes",
                          .x = time.axis,
                          .y = {.label = "unit, index", .from = -0.5, .to = (double)units - 0.5},
                          .height_mm = fmin(fmax((double)units * 1.2, 18), 70),
                          .columns = figure->columns};
    sf_text_printf(caption, "Spikes of %zu units over time, the first unit at the bottom: %zu spikes. ",
                   units, subject->of.spike_count);
    if (image) {
        sf_text_printf(
            caption,
            "They are too many for single marks: colour is their rate in each of %d stretches of time, "
            "white is none. ",
            IMAGE_COLUMNS);
        return draw_image(figure, &form, subject, &time, error);
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    int status = draw_ticks(&panel, subject, &time, error);
    sf_panel_end(&panel);
    return status;
}

const app_figure_kind app_figure_raster = {"raster", "the spikes of every unit over time", draw_raster};
