/* SPDX-License-Identifier: Apache-2.0 */
#include "app/pictures.h"

#include "core/memory.h"

#include <math.h>

#define MOST_RUG 2000

void app_curve_draw(sf_figure *figure, const app_curve *curve)
{
    const sf_ink line = {.line = SF_BLUE, .fill = SF_NO_COLOUR, .width_mm = 0.4};
    const sf_ink rug = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.1, .opacity = 0.4};
    sf_panel_form form = curve->form;
    double highest = 0;
    for (size_t i = 0; i < curve->count; i++)
        highest = fmax(highest, curve->y[i]);
    form.x.from = curve->x[0];
    form.x.to = curve->x[curve->count - 1];
    form.y.to = highest > 0 ? highest * 1.05 : 1;
    sf_panel panel = sf_panel_begin(figure, &form);
    double height = form.y.to / 30;
    size_t stride = curve->rug_count / MOST_RUG + 1; /* every sample where they are few */
    for (size_t i = 0; i < curve->rug_count; i += stride) {
        const double at = height / 2;
        if (curve->rug[i] >= form.x.from && curve->rug[i] <= form.x.to)
            sf_panel_ticks(&panel, &rug, NULL, &curve->rug[i], &at, 1, height);
    }
    sf_panel_line(&panel, &line, "curve", curve->x, curve->y, curve->count);
    sf_panel_end(&panel);
}

/* The axis of `count` cells, half a cell beyond their centres. */
static void cover(sf_axis *axis, const double *centres, size_t count)
{
    double half = (centres[count - 1] - centres[0]) / (double)(count - 1) / 2;
    axis->from = centres[0] - half;
    axis->to = centres[count - 1] + half;
}

void app_map_draw(sf_figure *figure, const app_map *map)
{
    sf_panel_form form = map->form;
    double highest = 0;
    for (size_t i = 0; i < map->columns * map->rows; i++)
        highest = fmax(highest, map->values[i]);
    cover(&form.x, map->x, map->columns);
    cover(&form.y, map->y, map->rows);
    form.colours.to = highest > 0 ? highest : 1;
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_image(&panel, map->values, map->columns, map->rows, &form.colours);
    if (form.x.bare) sf_panel_scale_bar(&panel, "\u00b5m");
    sf_panel_end(&panel);
}

void app_bars_draw(sf_figure *figure, const app_bars *bars)
{
    const sf_ink counted = {.line = SF_NO_COLOUR, .fill = SF_BLUE, .opacity = 0.6};
    const sf_ink line = {.line = SF_GREY, .fill = SF_NO_COLOUR, .width_mm = 0.35};
    const sf_ink dashed = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.25, .dashed = true};
    const sf_ink band = {.line = SF_NO_COLOUR, .fill = SF_BLACK, .opacity = 0.18};
    const sf_ink mark = {.line = SF_NO_COLOUR, .fill = SF_YELLOW, .opacity = 0.35};
    double *low = sf_alloc(bars->count, sizeof *low), *high = sf_alloc(bars->count, sizeof *high), most = 0;
    if (low == NULL || high == NULL) figure->scene.failed = true;
    for (size_t k = 0; k < bars->count && !figure->scene.failed; k++) {
        double expected = bars->expected != NULL ? bars->expected[k] : 0, two = 2 * sqrt(expected);
        low[k] = fmax(expected - two, 0);
        high[k] = expected + two;
        most = fmax(most, fmax(bars->counts[k], high[k]));
    }
    sf_panel_form form = {.title = bars->title,
                          .key = {bars->about, bars->about != NULL ? bars->chance : NULL,
                                  bars->also != NULL ? "mean of surrogates" : NULL},
                          .key_colours = {SF_BLUE, SF_GREY, SF_BLACK},
                          .height_mm = bars->height_mm,
                          .x = {.label = bars->x_label,
                                .from = bars->from,
                                .to = bars->from + bars->width * (double)bars->count},
                          .y = {.label = bars->y_label, .to = most > 0 ? most * 1.05 : 1, .whole = true}};
    if (!figure->scene.failed) {
        sf_panel panel = sf_panel_begin(figure, &form);
        if (bars->mark_from < bars->mark_to)
            sf_panel_stretch(&panel, &mark, "delay", bars->mark_from, bars->mark_to);
        sf_panel_steps(&panel, &counted, "counts", bars->from, bars->width, bars->counts, bars->count, 0);
        if (bars->expected != NULL) {
            sf_panel_band(&panel, &band, "band", bars->from, bars->width, low, high, bars->count);
            sf_panel_steps(&panel, &line, "expected", bars->from, bars->width, bars->expected, bars->count,
                           0);
        }
        if (bars->also != NULL)
            sf_panel_steps(&panel, &dashed, "also", bars->from, bars->width, bars->also, bars->count, 0);
        sf_panel_end(&panel);
    }
    sf_free(low);
    sf_free(high);
}
