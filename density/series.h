/* SPDX-License-Identifier: Apache-2.0 */
/** Series of samples as the public header has them (synfire/density.h), from inside. */
#ifndef SF_DENSITY_SERIES_H
#define SF_DENSITY_SERIES_H

#include "density/samples.h"

#include <synfire/density.h>

struct sf_series {
    size_t count, d;
    char **names;
    int64_t *units;
    size_t *first;
    double *values;
    double tick;
    sf_domain domain;
    uint64_t coincident;
};

/** Room for `count` series without a name, of no unit, and without samples; `values` is the caller's to fill.
 * SF_NO_MEMORY. */
int sf_series_make(sf_series **series, size_t count, size_t d, sf_error *error);

/** Series number `of`, borrowed. */
sf_samples sf_series_samples(const sf_series *series, size_t of);

#endif
