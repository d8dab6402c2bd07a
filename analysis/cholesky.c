/* SPDX-License-Identifier: Apache-2.0 */
/* Right-looking block algorithm (Golub and Van Loan, Matrix Computations, 4.2.5). Sums run along contiguous
 * rows, so that compilers vectorise them without changing their order. */
#include "analysis/cholesky.h"

#include "core/memory.h"
#include "core/thread.h"

#include <synfire/error.h>

#include <math.h>
#include <stdbool.h>

enum { BLOCK = 64, TILE = 512, WIDTH = SF_CHOLESKY_WIDTH };

typedef struct factor {
    double *matrix, *panel; /* panel: the block's columns below it, transposed: [BLOCK][size] */
    size_t size, from, end; /* of the block */
} factor;

static bool factor_block(const factor *f)
{
    for (size_t i = f->from; i < f->end; i++) {
        double *row = f->matrix + i * f->size;
        for (size_t j = f->from; j <= i; j++) {
            const double *other = f->matrix + j * f->size;
            double sum = row[j];
            for (size_t k = f->from; k < j; k++)
                sum -= row[k] * other[k];
            if (j == i && !(sum > 0)) return false;
            row[j] = j == i ? sqrt(sum) : sum / other[j];
        }
    }
    return true;
}

/* Row `i` of the columns below the block. */
static void solve_row(const factor *f, size_t i)
{
    double *row = f->matrix + i * f->size;
    for (size_t j = f->from; j < f->end; j++) {
        const double *other = f->matrix + j * f->size;
        double sum = row[j];
        for (size_t k = f->from; k < j; k++)
            sum -= row[k] * other[k];
        row[j] = sum / other[j];
        f->panel[(j - f->from) * f->size + i] = row[j];
    }
}

static int solve_rows(void *context, unsigned worker, size_t tile)
{
    (void)worker;
    const factor *f = context;
    size_t from = f->end + tile * BLOCK, end = from + BLOCK < f->size ? from + BLOCK : f->size;
    for (size_t i = from; i < end; i++)
        solve_row(f, i);
    return 0;
}

/* Subtracts the block's contribution from columns from .. end - 1 of row `i`. */
static void take_from_row(const factor *f, size_t i, size_t from, size_t end)
{
    double *restrict row = f->matrix + i * f->size;
    const double *part = row + f->from;
    size_t count = f->end - f->from, k = 0;
    for (; k + 4 <= count; k += 4) {
        const double *restrict p = f->panel + k * f->size, *restrict q = p + f->size,
                               *restrict r = q + f->size, *restrict s = r + f->size;
        const double a = part[k], b = part[k + 1], c = part[k + 2], d = part[k + 3];
        for (size_t j = from; j < end; j++)
            row[j] -= a * p[j] + b * q[j] + c * r[j] + d * s[j];
    }
    for (; k < count; k++)
        for (size_t j = from; j < end; j++)
            row[j] -= part[k] * f->panel[k * f->size + j];
}

static int update_rows(void *context, unsigned worker, size_t tile)
{
    (void)worker;
    const factor *f = context;
    size_t first = f->end + tile * BLOCK, last = first + BLOCK < f->size ? first + BLOCK : f->size;
    for (size_t from = f->end; from < last; from += TILE)
        for (size_t i = first > from ? first : from; i < last; i++)
            take_from_row(f, i, from, from + TILE < i + 1 ? from + TILE : i + 1);
    return 0;
}

int sf_cholesky(double *matrix, size_t size, unsigned threads, const sf_progress *progress)
{
    factor f = {.matrix = matrix, .size = size, .panel = sf_resize(NULL, BLOCK * size + 1, sizeof *f.panel)};
    int status = f.panel != NULL ? SF_OK : SF_NO_MEMORY;
    for (; f.from < size && status == SF_OK; f.from = f.end) {
        f.end = f.from + BLOCK < size ? f.from + BLOCK : size;
        size_t tiles = (size - f.end + BLOCK - 1) / BLOCK;
        bool go_on = sf_progress_update(progress, "factors", sf_cholesky_share(size, f.from), 1);
        status = !go_on ? SF_CANCELLED : factor_block(&f) ? SF_OK : SF_DATA;
        if (status == SF_OK) status = sf_parallel_for(threads, tiles, solve_rows, &f);
        if (status == SF_OK) status = sf_parallel_for(threads, tiles, update_rows, &f);
    }
    sf_free(f.panel);
    return status;
}

void sf_cholesky_forward(double *right, const double *matrix, size_t size, size_t first)
{
    for (size_t i = first; i < size; i++) {
        double *restrict x = right + i * WIDTH;
        const double *row = matrix + i * size;
        for (size_t j = first; j < i; j++) {
            const double *restrict y = right + j * WIDTH;
            for (size_t c = 0; c < WIDTH; c++)
                x[c] -= row[j] * y[c];
        }
        for (size_t c = 0; c < WIDTH; c++)
            x[c] /= row[i];
    }
}

void sf_cholesky_backward(double *right, const double *matrix, size_t size)
{
    for (size_t i = size; i-- > 0;) {
        const double *row = matrix + i * size;
        double *restrict x = right + i * WIDTH;
        for (size_t c = 0; c < WIDTH; c++)
            x[c] /= row[i];
        for (size_t j = 0; j < i; j++) {
            double *restrict y = right + j * WIDTH;
            for (size_t c = 0; c < WIDTH; c++)
                y[c] -= row[j] * x[c];
        }
    }
}
