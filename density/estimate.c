/* SPDX-License-Identifier: Apache-2.0 */
#include "density/estimate.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/thread.h"
#include "density/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

int sf_density_options_read(sf_density_options *own, const sf_density_options *options, sf_error *error)
{
    int status = sf_keys_read(&sf_density_table, own, options, "sf_density_options", error);
    if (status != SF_OK) return status;
    for (size_t c = 0; c < 2 && c < own->axis_count; c++)
        if (!(own->from[c] < own->to[c]) || !isfinite(own->to[c] - own->from[c]) || own->point_count[c] < 2)
            return sf_fail(error, SF_USAGE, "grid", "found %zu points from %g to %g, expected at least 2",
                           own->point_count[c], own->from[c], own->to[c]);
    own->threads = own->threads > 0 ? own->threads : sf_thread_cores();
    return SF_OK;
}

/* ---- the bandwidth ---- */

static int choose(sf_density *density, const sf_density_options *options, sf_error *error)
{
    const sf_samples *samples = &density->samples;
    const char *otherwise = samples->d > 1 ? "silverman" : "isj";
    const sf_selector *selector = sf_selector_find(options->method != NULL ? options->method : otherwise);
    sf_bandwidth_options how = {.domain = options->domain,
                                .exact = options->exact,
                                .curve = options->curve,
                                .threads = options->threads,
                                .device = options->device,
                                .progress = options->progress};
    density->method = sf_selector_name(selector);
    int status = sf_bandwidth_select(&density->bandwidth, selector, samples, &how, error);
    density->h = density->bandwidth.h;
    density->ran = density->bandwidth.ran;
    return status;
}

/* Points have a relative h; users see h as in the field of that name. */
static int split_points(double **split, const sf_score_point *points, size_t count, double unit,
                        sf_error *error)
{
    *split = sf_resize(NULL, count, 2 * sizeof **split);
    if (*split == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        (*split)[i] = points[i].h * unit;
        (*split)[count + i] = points[i].score;
    }
    return SF_OK;
}

static int find(sf_density *density, const sf_density_options *options, sf_error *error)
{
    const sf_samples *samples = &density->samples;
    sf_bandwidth *found = &density->bandwidth;
    if (options->h > 0) {
        density->h = options->h;
        density->method = "given";
        *found = (sf_bandwidth){
            .h_relative = NAN, .h0 = sf_bandwidth_h0(samples->n, samples->d), .objective = NAN};
        return samples->n > 0
                   ? sf_domain_check(options->domain, samples->values, samples->n * samples->d, error)
                   : sf_fail(error, SF_DATA, NULL, "there are no samples");
    }
    int status = choose(density, options, error);
    double unit = found->h / found->h_relative;
    if (status == SF_OK)
        status = split_points(&density->minima, found->minima, found->minimum_count, unit, error);
    if (status == SF_OK && found->curve != NULL)
        status = split_points(&density->curve, found->curve, found->curve_count, unit, error);
    return status;
}

int sf_density_find(sf_density **out, const sf_series *series, size_t of, const sf_density_options *options,
                    sf_error *error)
{
    *out = NULL;
    sf_density_options own;
    int status = sf_density_options_read(&own, options, error);
    if (status != SF_OK || series == NULL) return status;
    if (of >= series->count)
        return sf_fail(error, SF_USAGE, "of", "found %zu, expected one of %zu series", of, series->count);
    sf_density *density = sf_alloc(1, sizeof *density);
    if (density == NULL) return sf_fail_memory(error);
    density->samples = sf_series_samples(series, of);
    density->domain = own.domain;
    density->outside = NAN;
    density->ran = (sf_ran){.device = "cpu"};
    double start = sf_clock_seconds();
    status = find(density, &own, error);
    density->ran.seconds = sf_clock_seconds() - start;
    if (status == SF_OK)
        *out = density;
    else
        sf_density_free(density);
    return status;
}

void sf_density_free(sf_density *density)
{
    if (density == NULL) return;
    sf_bandwidth_free(&density->bandwidth);
    sf_free(density->minima);
    sf_free(density->curve);
    sf_free(density->at[0]);
    sf_free(density->at[1]);
    sf_free(density->values);
    sf_free(density);
}

double sf_density_least_bandwidth(const sf_density *density)
{
    return density->domain != SF_DOMAIN_LOG ? density->samples.tick : 0;
}

void sf_density_get_columns(const sf_density *density, sf_density_columns *columns)
{
    const sf_bandwidth *found = &density->bandwidth;
    const double *minima = density->minima, *curve = density->curve;
    sf_density_columns own = {.n = density->samples.n,
                              .d = density->samples.d,
                              .method = density->method,
                              .h = density->h,
                              .h_least = sf_density_least_bandwidth(density),
                              .h_relative = found->h_relative,
                              .h0 = found->h0,
                              .objective = found->objective,
                              .at_edge = found->at_edge,
                              .note = found->note,
                              .minimum_count = found->minimum_count,
                              .minimum_h = minima,
                              .minimum_score = minima != NULL ? minima + found->minimum_count : NULL,
                              .curve_count = found->curve_count,
                              .curve_h = curve,
                              .curve_score = curve != NULL ? curve + found->curve_count : NULL,
                              .ran = density->ran,
                              .x_count = density->count[0],
                              .y_count = density->count[1],
                              .x = density->at[0],
                              .y = density->at[1],
                              .values = density->values,
                              .outside = density->outside};
    sf_columns_fill(columns, &own, sizeof own);
}
