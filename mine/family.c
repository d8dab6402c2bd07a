/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/family.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"

#include <math.h>
#include <string.h>

int sf_family_open(sf_family *family, const double *maxima, uint32_t surrogates, sf_error *error)
{
    *family = (sf_family){.surrogates = surrogates, .ascending = sf_resize(NULL, surrogates, sizeof(double))};
    if (family->ascending == NULL) return sf_fail_memory(error);
    memcpy(family->ascending, maxima, surrogates * sizeof *maxima);
    sf_reals_sort(family->ascending, surrogates);
    return SF_OK;
}

void sf_family_close(sf_family *family)
{
    sf_free(family->ascending);
    *family = (sf_family){0};
}

/* q of a candidate whose excess `as_far` surrogates reach. */
static double q_of(const sf_family *family, size_t as_far)
{
    return (1.0 + (double)as_far) / (1.0 + family->surrogates);
}

double sf_family_q(const sf_family *family, double stands_out)
{
    size_t below = sf_reals_lower_bound(family->ascending, family->surrogates, stands_out);
    return q_of(family, family->surrogates - below);
}

double sf_family_critical(const sf_family *family, double q)
{
    uint32_t as_far = 0;
    while (as_far < family->surrogates && q_of(family, as_far) < q)
        as_far++;
    return as_far == 0 ? NAN : family->ascending[family->surrogates - as_far];
}
