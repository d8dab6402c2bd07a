/* SPDX-License-Identifier: Apache-2.0 */
/** A density as the public header has it (synfire/density.h), from inside. */
#ifndef SF_DENSITY_ESTIMATE_H
#define SF_DENSITY_ESTIMATE_H

#include "density/select.h"
#include "density/series.h"

struct sf_density {
    sf_samples samples; /* borrowed */
    sf_domain domain;
    double h;
    sf_bandwidth bandwidth; /* where h was not given */
    const char *method;
    sf_ran ran;
    double *minima, *curve; /* bandwidths of each, then scores */

    size_t count[2]; /* points; count[1] is 0 where there is one column */
    double *at[2], *values;
    double outside;
};

/** The options as this library has them. SF_USAGE, with the option as place. */
int sf_density_options_read(sf_density_options *own, const sf_density_options *options, sf_error *error);

/** The narrowest that means something: the clock's step where it is the same everywhere; or 0. */
double sf_density_least_bandwidth(const sf_density *density);

#endif
