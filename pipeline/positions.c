/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/positions.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/evaluate.h"
#include "density/samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The grid reaches this share of the array beyond the outermost units. */
#define MARGIN 0.05

static bool has_position(const sf_unit *unit)
{
    return isfinite(unit->x_um) && isfinite(unit->y_um);
}

static void take_units(sf_positions *positions, const sf_units *units)
{
    for (size_t u = 0; u < units->count; u++) {
        const sf_unit *unit = &units->items[u];
        positions->place[u] = has_position(unit) ? (uint32_t)positions->units : UINT32_MAX;
        if (!has_position(unit))
            continue;
        positions->xy[2 * positions->units] = unit->x_um;
        positions->xy[2 * positions->units++ + 1] = unit->y_um;
    }
}

/* Points of one column, c = 0 or 1. */
static int lay_grid(const sf_positions *positions, double *points, size_t c, sf_error *error)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t u = 0; u < positions->units; u++) {
        least = fmin(least, positions->xy[2 * u + c]);
        most = fmax(most, positions->xy[2 * u + c]);
    }
    if (!(most > least))
        return sf_fail(error, SF_CONFIG, NULL, "a density of positions needs units at several %s",
                       c == 0 ? "x" : "y");
    double margin = MARGIN * (most - least),
           step = (most - least + 2 * margin) / (double)(positions->grid - 1);
    for (size_t k = 0; k < positions->grid; k++)
        points[k] = least - margin + step * (double)k;
    return SF_OK;
}

int sf_positions_open(sf_positions *positions, const sf_config_density *wanted, const sf_units *units,
                      sf_error *error)
{
    *positions = (sf_positions){.grid = wanted->grid, .reselect = wanted->reselect};
    /* In two columns both rules are n^(-1/6). */
    if (strcmp(wanted->method, "silverman") != 0 && strcmp(wanted->method, "scott") != 0)
        return sf_fail(error, SF_CONFIG, "method", "positions take silverman or scott, found '%s'",
                       wanted->method);
    positions->place = sf_alloc(units->count, sizeof *positions->place);
    positions->xy = sf_alloc(units->count, 2 * sizeof *positions->xy);
    positions->spikes = sf_alloc(units->count, sizeof *positions->spikes);
    positions->x = sf_alloc(positions->grid, sizeof *positions->x);
    positions->y = sf_alloc(positions->grid, sizeof *positions->y);
    int status = SF_OK;
    if (positions->place == NULL || positions->xy == NULL || positions->spikes == NULL ||
        positions->x == NULL || positions->y == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK)
        take_units(positions, units);
    if (status == SF_OK)
        status = lay_grid(positions, positions->x, 0, error);
    if (status == SF_OK)
        status = lay_grid(positions, positions->y, 1, error);
    if (status != SF_OK)
        sf_positions_close(positions);
    return status;
}

void sf_positions_close(sf_positions *positions)
{
    sf_free(positions->place);
    sf_free(positions->xy);
    sf_free(positions->spikes);
    sf_free(positions->x);
    sf_free(positions->y);
    *positions = (sf_positions){0};
}

static void count_spikes(sf_positions *positions, const sf_spike *spikes, size_t count, double sign)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = positions->place[spikes[i].unit];
        if (place == UINT32_MAX)
            continue;
        positions->spikes[place] += sign;
        positions->total += sign;
        positions->changed++;
    }
}

void sf_positions_slide(sf_positions *positions, const sf_window_change *change)
{
    count_spikes(positions, change->entered, change->entered_count, 1);
    count_spikes(positions, change->left, change->left_count, -1);
}

static int evaluate(sf_density_message *density, const sf_positions *positions, sf_error *error)
{
    density->values = sf_alloc(positions->grid * positions->grid, sizeof *density->values);
    if (density->values == NULL)
        return sf_fail_memory(error);
    snprintf(density->quantity, sizeof density->quantity, "position");
    density->h = positions->h;
    density->count = positions->grid * positions->grid;
    density->rows = positions->grid;
    density->grid_start = positions->x[0];
    density->grid_step = positions->x[1] - positions->x[0];
    density->row_start = positions->y[0];
    density->row_step = positions->y[1] - positions->y[0];
    return sf_density_evaluate_plane(density->values, positions->x, positions->grid, positions->y,
                                     positions->grid, positions->xy, positions->spikes, positions->units,
                                     positions->h, 1, error);
}

int sf_positions_tell(sf_message **message, sf_positions *positions, sf_span window, sf_error *error)
{
    *message = NULL;
    if (positions->total < SF_SAMPLES_LEAST)
        return SF_OK;
    if (positions->h == 0 || positions->changed >= positions->reselect * positions->total) {
        positions->h = pow(positions->total, -1.0 / 6);
        positions->changed = 0;
    }
    sf_message *made = sf_message_new(SF_TOPIC_DENSITY);
    if (made == NULL)
        return sf_fail_memory(error);
    made->density.window = window;
    int status = evaluate(&made->density, positions, error);
    if (status == SF_OK)
        *message = made;
    else
        sf_message_release(made);
    return status == SF_DATA ? SF_OK : status;
}
