/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/family.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* How many surrogates of a level stand out at least so far. */
static uint32_t at_least(const sf_family *f, uint32_t level, double stands_out)
{
    const double *ascending = f->ascending + (size_t)level * f->surrogates;
    return f->surrogates - (uint32_t)sf_reals_lower_bound(ascending, f->surrogates, stands_out);
}

/* A surrogate that stands out as much as a candidate of its own level has at most as many before it as the
 * candidate, itself counted; in other levels the recorded stream is one of those it is ranked among. */
static void rank(sf_family *f, const double *maxima, const double *recorded, uint32_t level, uint32_t of)
{
    for (uint32_t s = 0; s < f->surrogates; s++) {
        double own = maxima[(size_t)of * f->surrogates + s];
        uint32_t rank = at_least(f, of, own) + (of == level || recorded[of] >= own);
        uint32_t *good = &f->good[(size_t)level * f->surrogates + s];
        if (isfinite(own) && rank < *good)
            *good = rank;
    }
}

int sf_family_open(sf_family *family, const double *maxima, const double *recorded, uint32_t level_count,
                   uint32_t surrogates, sf_error *error)
{
    size_t cells = (size_t)level_count * surrogates;
    *family = (sf_family){.surrogates = surrogates,
                          .level_count = level_count,
                          .ascending = sf_resize(NULL, cells, sizeof(double)),
                          .good = sf_resize(NULL, cells, sizeof(uint32_t))};
    if (family->ascending == NULL || family->good == NULL)
        return sf_fail_memory(error);
    memcpy(family->ascending, maxima, cells * sizeof *maxima);
    for (size_t i = 0; i < cells; i++)
        family->good[i] = UINT32_MAX;
    for (uint32_t level = 0; level < level_count; level++)
        sf_reals_sort(family->ascending + (size_t)level * surrogates, surrogates);
    for (uint32_t level = 0; level < level_count; level++) {
        for (uint32_t of = 0; of < level_count; of++)
            rank(family, maxima, recorded, level, of);
        qsort(family->good + (size_t)level * surrogates, surrogates, sizeof *family->good, compare_ranks);
    }
    return SF_OK;
}

void sf_family_close(sf_family *family)
{
    sf_free(family->ascending);
    sf_free(family->good);
    *family = (sf_family){0};
}

/* Of a candidate that so many surrogates of its level stand out as far as. */
static double q_of(const sf_family *f, uint32_t level, uint32_t before)
{
    const uint32_t *good = f->good + (size_t)level * f->surrogates;
    uint32_t low = 0, high = f->surrogates; /* the first that is worse */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (good[middle] <= before + 1)
            low = middle + 1;
        else
            high = middle;
    }
    return (1.0 + low) / (1.0 + f->surrogates);
}

double sf_family_q(const sf_family *family, uint32_t level, double stands_out)
{
    return q_of(family, level, at_least(family, level, stands_out));
}

double sf_family_critical(const sf_family *family, uint32_t level, double q)
{
    uint32_t before = 0;
    while (before < family->surrogates && q_of(family, level, before) < q)
        before++;
    if (before == 0)
        return NAN;
    const double *ascending = family->ascending + (size_t)level * family->surrogates;
    return ascending[family->surrogates - before];
}
