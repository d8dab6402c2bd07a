/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/positions.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/evaluate.h"
#include "density/rows.h"
#include "density/samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The grid reaches this share of the array beyond the outermost units. */
#define MARGIN 0.05

/* Places in a cell along one side, at most: enough for columns that correlate by 0.99. */
enum { MOST_PARTS = 8 };

/* Cells of one column, c = 0 or 1. */
static int lay_grid(sf_positions *positions, size_t c, sf_error *error)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t u = 0; u < positions->units; u++) {
        least = fmin(least, positions->xy[2 * u + c]);
        most = fmax(most, positions->xy[2 * u + c]);
    }
    if (!(most > least))
        return sf_fail(error, SF_CONFIG, NULL, "a density of positions needs units at several %s",
                       c == 0 ? "x" : "y");
    double margin = MARGIN * (most - least);
    positions->from[c] = least - margin;
    positions->step[c] = (most - least + 2 * margin) / (double)positions->grid;
    return SF_OK;
}

int sf_positions_open(sf_positions *positions, const sf_live_density *wanted, const sf_quantity_state *window,
                      sf_error *error)
{
    *positions = (sf_positions){.units = sf_quantity_states(window),
                                .xy = sf_quantity_places(window),
                                .grid = wanted->grid,
                                .reselect = wanted->reselect};
    positions->spikes = sf_alloc(positions->units, sizeof *positions->spikes);
    int status = positions->spikes != NULL ? lay_grid(positions, 0, error) : sf_fail_memory(error);
    if (status == SF_OK) status = lay_grid(positions, 1, error);
    if (status != SF_OK) sf_positions_close(positions);
    return status;
}

void sf_positions_close(sf_positions *positions)
{
    sf_free(positions->spikes);
    *positions = (sf_positions){0};
}

static void count_spikes(sf_positions *positions, const sf_sample *samples, size_t count, double sign)
{
    for (size_t i = 0; i < count; i++)
        positions->spikes[samples[i].state] += sign;
    positions->total += sign * (double)count;
    positions->changed += (double)count;
}

void sf_positions_slide(sf_positions *positions, const sf_quantity_state *window)
{
    size_t count;
    const sf_sample *entered = sf_quantity_entered(window, &count);
    count_spikes(positions, entered, count, 1);
    const sf_sample *left = sf_quantity_left(window, &count);
    count_spikes(positions, left, count, -1);
}

/* Number of places per side at which a cell is evaluated, such that no kernel falls between them. */
static size_t parts_of(const sf_positions *positions, const sf_covariance *covariance, size_t c)
{
    double parts = ceil(positions->step[c] / sf_plane_step(covariance, positions->h, c));
    return parts < MOST_PARTS ? (size_t)parts : MOST_PARTS;
}

static void lay_points(const sf_positions *positions, size_t c, size_t parts, double *points)
{
    for (size_t k = 0; k < positions->grid * parts; k++)
        points[k] = positions->from[c] + positions->step[c] * (((double)k + 0.5) / (double)parts);
}

/* The averages over the cells, each from parts[0] x parts[1] values inside it. */
static void average(double *values, const double *fine, size_t grid, const size_t parts[2])
{
    for (size_t r = 0; r < grid * parts[1]; r++)
        for (size_t k = 0; k < grid * parts[0]; k++)
            values[r / parts[1] * grid + k / parts[0]] +=
                fine[r * grid * parts[0] + k] / (double)(parts[0] * parts[1]);
}

static int fill_cells(sf_density_message *density, const sf_positions *positions, sf_error *error)
{
    sf_covariance covariance;
    size_t grid = positions->grid;
    int status = sf_covariance_find(&covariance, positions->xy, positions->spikes, positions->units, error);
    if (status != SF_OK) return status;
    size_t parts[2] = {parts_of(positions, &covariance, 0), parts_of(positions, &covariance, 1)};
    size_t points = grid * parts[0] * grid * parts[1];
    double *fine = sf_resize(NULL, points + grid * (parts[0] + parts[1]), sizeof *fine);
    if (fine == NULL) return sf_fail_memory(error);
    double *x = fine + points, *y = x + grid * parts[0];
    lay_points(positions, 0, parts[0], x);
    lay_points(positions, 1, parts[1], y);
    status = sf_density_evaluate_plane(fine, x, grid * parts[0], y, grid * parts[1], positions->xy,
                                       positions->spikes, positions->units, positions->h, 1, NULL, error);
    if (status == SF_OK) average(density->values, fine, grid, parts);
    sf_free(fine);
    return status;
}

static int evaluate(sf_density_message *density, const sf_positions *positions, sf_error *error)
{
    density->values = sf_alloc(positions->grid * positions->grid, sizeof *density->values);
    if (density->values == NULL) return sf_fail_memory(error);
    snprintf(density->quantity, sizeof density->quantity, "%s", sf_quantity_words[SF_QUANTITY_POSITION]);
    density->h = positions->h;
    density->count = positions->grid * positions->grid;
    density->rows = positions->grid;
    density->grid_step = positions->step[0];
    density->grid_start = positions->from[0] + positions->step[0] / 2;
    density->row_step = positions->step[1];
    density->row_start = positions->from[1] + positions->step[1] / 2;
    int status = fill_cells(density, positions, error);
    double sum = 0;
    for (size_t k = 0; k < density->count; k++)
        sum += density->values[k];
    density->outside = fmax(1 - sum * positions->step[0] * positions->step[1], 0);
    return status;
}

int sf_positions_tell(sf_message **message, sf_positions *positions, sf_span window, sf_error *error)
{
    *message = NULL;
    if (positions->total < SF_SAMPLES_LEAST) return SF_OK;
    if (positions->h == 0 || positions->changed >= positions->reselect * positions->total) {
        positions->h = pow(positions->total, -1.0 / 6);
        positions->changed = 0;
    }
    sf_message *made = sf_message_new(SF_TOPIC_DENSITY);
    if (made == NULL) return sf_fail_memory(error);
    made->density.window = window;
    int status = evaluate(&made->density, positions, error);
    if (status == SF_OK)
        *message = made;
    else
        sf_message_release(made);
    return status == SF_DATA ? SF_OK : status;
}
