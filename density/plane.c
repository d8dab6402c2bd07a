/* SPDX-License-Identifier: Apache-2.0 */
#include "density/plane.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/vector.h"
#include "density/spectrum.h"
#include "density/spread.h"

#include <math.h>

#define PI 3.14159265358979323846

/* exp(-x^2/2) is under 1e-14 from here on: scores of two columns need no more. */
#define REACH 8.1

static size_t cells_of(const sf_plane_frame *frame)
{
    return 4 * frame->modes;
}

/* Length of a row of the grid, and the number of rows. */
static size_t stride_of(const sf_plane_frame *frame)
{
    return cells_of(frame) + SF_SPREAD_WIDTH;
}

sf_plane_frame sf_plane_frame_for(const double least[2], const double most[2], double b_least, double b_most)
{
    double range = fmax(most[0] - least[0], most[1] - least[1]);
    sf_plane_frame frame = {.origin = {least[0], least[1]}, .period = range + 12.5 * b_most, .modes = 16};
    while (sf_plane_least_bandwidth(&frame) > b_least && frame.modes < SF_PLANE_MOST_MODES)
        frame.modes *= 2;
    return frame;
}

double sf_plane_least_bandwidth(const sf_plane_frame *frame)
{
    return REACH * frame->period / (2 * PI * (double)frame->modes);
}

int sf_plane_open(sf_plane *plane, const sf_plane_frame *frame, sf_error *error)
{
    *plane = (sf_plane){.frame = *frame};
    if (!(frame->period > 0) || !isfinite(frame->period) || !isfinite(frame->origin[0]) ||
        !isfinite(frame->origin[1]) || frame->modes < 16)
        return sf_fail(error, SF_USAGE, NULL,
                       "found a frame of period %g with %zu modes, expected at least 16", frame->period,
                       frame->modes);
    plane->grid = sf_alloc(stride_of(frame) * stride_of(frame), sizeof *plane->grid);
    return plane->grid != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_plane_close(sf_plane *plane)
{
    sf_free(plane->grid);
    *plane = (sf_plane){0};
}

/* psi of the 16 cells about a sample at fraction f of its cell. */
static void find_psi(double psi[SF_SPREAD_WIDTH], double f)
{
    const double *coefficients = sf_spread_coefficients() + SF_SPREAD_DEGREE * SF_SPREAD_WIDTH;
    double s = 2 * f - 1;
    for (int c = 0; c < SF_SPREAD_WIDTH; c++)
        psi[c] = coefficients[c];
    for (int p = SF_SPREAD_DEGREE - 1; p >= 0; p--) {
        coefficients -= SF_SPREAD_WIDTH;
        for (int c = 0; c < SF_SPREAD_WIDTH; c++)
            psi[c] = psi[c] * s + coefficients[c];
    }
}

/* Adds the product of two spreads to 16 rows of 16 cells. */
static void add_product(double *restrict grid, size_t stride, const double *restrict across,
                        const double *restrict down, double w)
{
    for (int row = 0; row < SF_SPREAD_WIDTH; row++)
        for (int c = 0; c < SF_SPREAD_WIDTH; c++)
            grid[(size_t)row * stride + (size_t)c] += w * down[row] * across[c];
}

size_t sf_plane_add(sf_plane *plane, const double *x, const double *y, size_t n, double w)
{
    double limit = (double)cells_of(&plane->frame), scale = limit / plane->frame.period;
    size_t stride = stride_of(&plane->frame), taken = 0;
    for (size_t i = 0; i < n; i++) {
        double u = (x[i] - plane->frame.origin[0]) * scale, v = (y[i] - plane->frame.origin[1]) * scale;
        if (!(u >= 0 && u <= limit && v >= 0 && v <= limit)) continue;
        double across[SF_SPREAD_WIDTH], down[SF_SPREAD_WIDTH];
        find_psi(across, u - floor(u));
        find_psi(down, v - floor(v));
        add_product(plane->grid + (size_t)v * stride + (size_t)u, stride, across, down, w);
        taken++;
    }
    plane->weight += w * (double)taken;
    plane->squares += w * fabs(w) * (double)taken;
    return taken;
}

int sf_plane_merge(sf_plane *plane, const sf_plane *other, sf_error *error)
{
    const sf_plane_frame *a = &plane->frame, *b = &other->frame;
    if (a->origin[0] != b->origin[0] || a->origin[1] != b->origin[1] || a->period != b->period ||
        a->modes != b->modes)
        return sf_fail(error, SF_USAGE, NULL, "found a state of another frame: only equal frames add up");
    for (size_t c = 0; c < stride_of(a) * stride_of(a); c++)
        plane->grid[c] += other->grid[c];
    plane->weight += other->weight;
    plane->squares += other->squares;
    return SF_OK;
}

/* ---- the transform ---- */

/* What it works in: one row, its transform, and of every row the first modes + 1 of it, column by column. */
typedef struct plane_work {
    double *row, *row_re, *row_im;
    double *re, *im; /* (modes + 1) columns of `cells` */
    sf_fft *row_fft, *column_fft;
} plane_work;

static void close_work(plane_work *work)
{
    sf_free(work->row);
    sf_free(work->re);
    sf_fft_close(work->row_fft);
    sf_fft_close(work->column_fft);
}

static int open_work(plane_work *work, const sf_plane_frame *frame, sf_error *error)
{
    size_t cells = cells_of(frame), kept = (frame->modes + 1) * cells;
    *work = (plane_work){.row = sf_resize(NULL, cells + 2 * (cells / 2 + 1), sizeof *work->row),
                         .re = sf_resize(NULL, kept, 2 * sizeof *work->re)};
    if (work->row == NULL || work->re == NULL) return sf_fail_memory(error);
    work->row_re = work->row + cells;
    work->row_im = work->row_re + cells / 2 + 1;
    work->im = work->re + kept;
    int status = sf_fft_open(&work->row_fft, cells / 2, error);
    return status == SF_OK ? sf_fft_open(&work->column_fft, cells, error) : status;
}

/* Row `to` of the circle of cells: of its row of the grid and, near the ends, of the margin's. */
static void fold_row(double *circle, const sf_plane *plane, size_t to)
{
    size_t cells = cells_of(&plane->frame), stride = stride_of(&plane->frame);
    for (size_t c = 0; c < cells; c++)
        circle[c] = 0;
    for (size_t from = (to + SF_SPREAD_BEFORE) % cells; from < stride; from += cells) {
        const double *row = plane->grid + from * stride;
        for (size_t c = 0; c < cells; c++)
            circle[c] += row[c + SF_SPREAD_BEFORE];
        for (size_t c = 0; c < SF_SPREAD_BEFORE; c++)
            circle[cells - SF_SPREAD_BEFORE + c] += row[c];
        for (size_t c = cells + SF_SPREAD_BEFORE; c < stride; c++)
            circle[c - cells - SF_SPREAD_BEFORE] += row[c];
    }
}

static void transform(plane_work *work, const sf_plane *plane)
{
    size_t cells = cells_of(&plane->frame), modes = plane->frame.modes;
    for (size_t r = 0; r < cells; r++) {
        fold_row(work->row, plane, r);
        sf_fft_real(work->row_fft, work->row, work->row_re, work->row_im);
        for (size_t k = 0; k <= modes; k++) {
            work->re[k * cells + r] = work->row_re[k];
            work->im[k * cells + r] = work->row_im[k];
        }
    }
    for (size_t k = 0; k <= modes; k++)
        sf_fft_complex(work->column_fft, work->re + k * cells, work->im + k * cells);
}

/* Collects one of each pair of opposite modes: k > 0, or k = 0 and l > 0. */
static void collect(sf_plane_spectrum *spectrum, const plane_work *work, const sf_plane *plane)
{
    size_t cells = cells_of(&plane->frame), modes = plane->frame.modes, next = 0;
    double step = 2 * PI / plane->frame.period, cell = 2 * PI / (double)cells;
    for (size_t k = 0; k <= modes; k++) {
        double correction = 1 / (sf_spread_transform(cell * (double)k) * plane->weight);
        for (size_t place = k == 0 ? modes + 1 : 0; place <= 2 * modes; place++) {
            double l = (double)place - (double)modes;
            size_t at = k * cells + (place + cells - modes) % cells;
            double scale = correction / sf_spread_transform(cell * fabs(l));
            double re = work->re[at] * scale, im = work->im[at] * scale;
            spectrum->power[next] = re * re + im * im;
            spectrum->squares[next++] = step * step * ((double)k * (double)k + l * l);
        }
    }
}

int sf_plane_spectrum_open(sf_plane_spectrum *spectrum, const sf_plane *plane, sf_error *error)
{
    size_t modes = plane->frame.modes;
    *spectrum = (sf_plane_spectrum){.period = plane->frame.period, .count = modes + modes * (2 * modes + 1)};
    if (!(plane->squares > 0) || plane->weight * plane->weight < 1.999 * plane->squares)
        return sf_fail(error, SF_DATA, NULL, "the state holds less than two samples");
    spectrum->n = plane->weight * plane->weight / plane->squares;
    spectrum->squares = sf_resize(NULL, spectrum->count, 2 * sizeof *spectrum->squares);
    plane_work work;
    int status = open_work(&work, &plane->frame, error);
    if (status == SF_OK && spectrum->squares == NULL) status = sf_fail_memory(error);
    if (status == SF_OK) {
        spectrum->power = spectrum->squares + spectrum->count;
        transform(&work, plane);
        collect(spectrum, &work, plane);
    }
    close_work(&work);
    if (status != SF_OK) sf_plane_spectrum_close(spectrum);
    return status;
}

void sf_plane_spectrum_close(sf_plane_spectrum *spectrum)
{
    sf_free(spectrum->squares);
    *spectrum = (sf_plane_spectrum){0};
}

int sf_plane_lscv(void *context, const double *b, size_t count, double *scores, double *slopes)
{
    const sf_plane_spectrum *spectrum = context;
    double area = spectrum->period * spectrum->period;
    for (size_t i = 0; i < count; i++) {
        double sum, change, diagonal = 1 / (PI * spectrum->n * b[i] * b[i]);
        sf_modes_lscv(spectrum->squares, spectrum->power, spectrum->count, b[i], &sum, &change);
        scores[i] = (2 * sum - 1) / area + diagonal;
        slopes[i] = 4 * b[i] * change / area - 2 * diagonal / b[i];
    }
    return SF_OK;
}
