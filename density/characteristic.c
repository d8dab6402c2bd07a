/* SPDX-License-Identifier: Apache-2.0 */
#include "density/characteristic.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/vector.h"
#include "density/spread.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static size_t cells_of(const sf_frame *frame)
{
    return 4 * frame->modes;
}

sf_frame sf_frame_for(double least, double most, double b_least, double b_most)
{
    sf_frame frame = {.origin = least, .period = most - least + 12.5 * b_most, .modes = 16};
    double wanted = 10 / b_least * frame.period / (2 * PI);
    while ((double)frame.modes < wanted && frame.modes < SF_FRAME_MOST_MODES)
        frame.modes *= 2;
    return frame;
}

double sf_frame_least_bandwidth(const sf_frame *frame)
{
    return 10 * frame->period / (2 * PI * (double)frame->modes);
}

int sf_characteristic_open(sf_characteristic *state, const sf_frame *frame, sf_error *error)
{
    *state = (sf_characteristic){.frame = *frame};
    if (!(frame->period > 0) || !isfinite(frame->period) || !isfinite(frame->origin) || frame->modes < 16)
        return sf_fail(error, SF_USAGE, NULL,
                       "found a frame of period %g with %zu modes, expected at least 16", frame->period,
                       frame->modes);
    state->grid = sf_alloc(cells_of(frame) + SF_SPREAD_WIDTH, sizeof *state->grid);
    return state->grid != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_characteristic_close(sf_characteristic *state)
{
    sf_free(state->grid);
    *state = (sf_characteristic){0};
}

void sf_characteristic_clear(sf_characteristic *state)
{
    memset(state->grid, 0, (cells_of(&state->frame) + SF_SPREAD_WIDTH) * sizeof *state->grid);
    state->weight = state->squares = state->first = state->second = 0;
}

/* Four numbers at any address. Loops of fixed length over arrays would be unrolled into single numbers. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* What one call adds up besides the grid. */
typedef struct spread_sums {
    size_t taken;         /* samples inside the frame */
    double first, second; /* sums of u and u^2, in cells */
} spread_sums;

/* Adds w psi to the 16 cells around each sample. */
SF_VECTOR_BODY void spread_body(double *restrict grid, size_t cells, const double *restrict samples, size_t n,
                                const sf_frame *frame, double w, const double *restrict coefficients,
                                spread_sums *sums)
{
    double origin = frame->origin, scale = (double)cells / frame->period, limit = (double)cells;
    spread_sums all = {0};
    for (size_t i = 0; i < n; i++) {
        double u = (samples[i] - origin) * scale;
        if (!(u >= 0 && u <= limit)) continue;
        all.taken++;
        all.first += u;
        all.second += u * u;
        int64_t cell = (int64_t)u;
        double s = 2 * (u - (double)cell) - 1;
        const four *c = (const four *)coefficients + 4 * SF_SPREAD_DEGREE;
        four psi0 = c[0], psi1 = c[1], psi2 = c[2], psi3 = c[3];
        for (int p = SF_SPREAD_DEGREE - 1; p >= 0; p--) {
            c -= 4;
            psi0 = psi0 * s + c[0];
            psi1 = psi1 * s + c[1];
            psi2 = psi2 * s + c[2];
            psi3 = psi3 * s + c[3];
        }
        four *at = (four *)(grid + cell);
        at[0] += w * psi0;
        at[1] += w * psi1;
        at[2] += w * psi2;
        at[3] += w * psi3;
    }
    *sums = all;
}

SF_VECTOR_LEVELS(spread, spread_body,
                 (double *restrict grid, size_t cells, const double *restrict samples, size_t n,
                  const sf_frame *frame, double w, const double *restrict coefficients, spread_sums *sums),
                 (grid, cells, samples, n, frame, w, coefficients, sums))

size_t sf_characteristic_add(sf_characteristic *state, const double *samples, size_t n, double w)
{
    spread_sums sums;
    double cells = (double)cells_of(&state->frame);
    spread(state->grid, cells_of(&state->frame), samples, n, &state->frame, w, sf_spread_coefficients(),
           &sums);
    state->weight += w * (double)sums.taken;
    state->squares += w * fabs(w) * (double)sums.taken;
    state->first += w * sums.first / cells;
    state->second += w * sums.second / (cells * cells);
    return sums.taken;
}

int sf_characteristic_merge(sf_characteristic *state, const sf_characteristic *other, sf_error *error)
{
    const sf_frame *a = &state->frame, *b = &other->frame;
    if (a->origin != b->origin || a->period != b->period || a->modes != b->modes)
        return sf_fail(error, SF_USAGE, NULL, "found a state of another frame: only equal frames add up");
    for (size_t c = 0; c < cells_of(a) + SF_SPREAD_WIDTH; c++)
        state->grid[c] += other->grid[c];
    state->weight += other->weight;
    state->squares += other->squares;
    state->first += other->first;
    state->second += other->second;
    return SF_OK;
}
