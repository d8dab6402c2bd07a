/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluating densities of the same kind at the same points. */
#include "core/error.h"
#include "core/memory.h"
#include "density/aggregate.h"
#include "density/estimate.h"
#include "density/kernels.h"

#include <math.h>
#include <string.h>

enum { LEAST_PLANE_POINTS = 128 };

/* Two columns: how many kernel widths the range extends beyond the samples. */
#define PLANE_MARGIN 4.0

typedef struct plotting {
    const sf_density_options *options;
    sf_density *const *densities;
    size_t density_count;
    size_t d;
    sf_domain domain;
    double narrowest, widest; /* bandwidths */
    double *at[2];            /* the points of each column */
    double *places;           /* of one column: the same on the domain's axis */
    size_t count[2];
} plotting;

static double bandwidth_of(const sf_density *density)
{
    return fmax(density->h, sf_density_least_bandwidth(density));
}

/* ---- points ---- */

/* Evenly apart on the domain's axis. */
static int fill_axis(double **places, double from_value, double to_value, size_t count, sf_domain domain,
                     sf_error *error)
{
    double from = sf_axis_of(domain, from_value), to = sf_axis_of(domain, to_value);
    *places = sf_resize(NULL, count, sizeof **places);
    if (*places == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < count; k++) {
        double share = (double)k / (double)(count - 1);
        (*places)[k] = from * (1 - share) + to * share;
    }
    return SF_OK;
}

static int check_step(const plotting *p, sf_error *error)
{
    double from = p->options->from[0], to = p->options->to[0];
    double length = sf_axis_of(p->domain, to) - sf_axis_of(p->domain, from);
    double needed = ceil(length / sf_kernels_step(p->narrowest)) + 1;
    if ((double)p->count[0] >= needed) return SF_OK;
    return sf_fail(error, SF_USAGE, "grid",
                   "%zu points from %g to %g are too few for the bandwidth %.4g%s: %.0f are needed, or a "
                   "smaller range",
                   p->count[0], from, to, p->narrowest, p->domain == SF_DOMAIN_LOG ? " of the logarithm" : "",
                   needed);
}

static int lay_given(plotting *p, sf_error *error)
{
    p->count[0] = p->options->point_count[0];
    int status = check_step(p, error);
    return status == SF_OK
               ? fill_axis(&p->places, p->options->from[0], p->options->to[0], p->count[0], p->domain, error)
               : status;
}

/* Wherever there are kernels. */
static int lay_where_samples_are(plotting *p, sf_error *error)
{
    const sf_density *first = p->densities[0];
    sf_kernels kernels;
    sf_error reason = {0};
    int status = sf_kernels_open(&kernels, &first->samples, bandwidth_of(first), p->domain, &reason);
    if (status == SF_OK)
        status = sf_kernels_points(&kernels, p->narrowest, p->widest, p->options->most_points, &p->places,
                                   &p->count[0], &reason);
    sf_kernels_close(&kernels);
    return status == SF_OK
               ? SF_OK
               : sf_fail(error, status, status == SF_USAGE ? "grid" : reason.place, "%s", reason.text);
}

static int lay_line(plotting *p, sf_error *error)
{
    int status = p->options->axis_count > 0 ? lay_given(p, error) : lay_where_samples_are(p, error);
    if (status != SF_OK) return status;
    p->at[0] = sf_resize(NULL, p->count[0], sizeof *p->at[0]);
    if (p->at[0] == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < p->count[0]; k++)
        p->at[0][k] = sf_axis_value(p->domain, p->places[k]);
    return SF_OK;
}

/* From the least to the most value of column c, and as far as kernels reach. */
static void find_range(double *from, double *to, const sf_samples *samples, size_t c, double margin)
{
    *from = INFINITY;
    *to = -INFINITY;
    for (size_t i = 0; i < samples->n; i++) {
        *from = fmin(*from, samples->values[i * samples->d + c] - margin);
        *to = fmax(*to, samples->values[i * samples->d + c] + margin);
    }
}

/* The points of each column: as given, or as many as the range takes. */
static int lay_plane(plotting *p, sf_error *error)
{
    const sf_samples *samples = &p->densities[0]->samples;
    double from[2] = {p->options->from[0], p->options->from[1]},
           to[2] = {p->options->to[0], p->options->to[1]};
    size_t needed[2];
    bool given = p->options->axis_count > 0;
    sf_covariance covariance;
    int status = sf_covariance_find(&covariance, samples->values, NULL, samples->n, error);
    if (status != SF_OK) return status;
    for (size_t c = 0; c < 2; c++) {
        if (!given)
            find_range(&from[c], &to[c], samples, c,
                       PLANE_MARGIN * p->widest * sqrt(c == 0 ? covariance.xx : covariance.yy));
        needed[c] =
            (size_t)fmin(ceil((to[c] - from[c]) / sf_plane_step(&covariance, p->narrowest, c)) + 1, 1e9);
        p->count[c] = given                            ? p->options->point_count[c]
                      : needed[c] > LEAST_PLANE_POINTS ? needed[c]
                                                       : LEAST_PLANE_POINTS;
    }
    if (given ? p->count[0] < needed[0] || p->count[1] < needed[1]
              : p->count[0] > p->options->most_points / p->count[1])
        return sf_fail(error, SF_USAGE, "grid", "the bandwidth %.4g needs %zu times %zu points%s",
                       p->narrowest, given ? needed[0] : p->count[0], given ? needed[1] : p->count[1],
                       given ? ", or a smaller range" : ": allow more, or choose a range");
    for (size_t c = 0; status == SF_OK && c < 2; c++)
        status = fill_axis(&p->at[c], from[c], to[c], p->count[c], SF_DOMAIN_LINE, error);
    return status;
}

/* ---- values ---- */

/* And what share of the density lies outside the points. */
static int evaluate_line(const plotting *p, sf_density *density, sf_error *error)
{
    sf_kernels kernels;
    int status = sf_kernels_open(&kernels, &density->samples, bandwidth_of(density), p->domain, error);
    if (status == SF_OK)
        status = sf_kernels_density(&kernels, density->values, p->places, p->count[0], p->options->threads,
                                    p->options->progress, error);
    if (status == SF_OK)
        density->outside = fmax(1 - sf_kernels_share(&kernels, p->places[0], p->places[p->count[0] - 1]), 0);
    sf_kernels_close(&kernels);
    return status;
}

static int evaluate_plane(const plotting *p, sf_density *density, sf_error *error)
{
    const sf_samples *samples = &density->samples;
    const double from[2] = {p->at[0][0], p->at[1][0]};
    const double to[2] = {p->at[0][p->count[0] - 1], p->at[1][p->count[1] - 1]};
    double h = bandwidth_of(density);
    sf_range_moments inside;
    int status =
        sf_box_moments(&inside, samples->values, samples->n, 2, h, from, to, p->options->progress, error);
    if (status == SF_OK) density->outside = fmax(1 - inside.share, 0);
    return status == SF_OK ? sf_density_evaluate_plane(density->values, p->at[0], p->count[0], p->at[1],
                                                       p->count[1], samples->values, NULL, samples->n, h,
                                                       p->options->threads, p->options->progress, error)
                           : status;
}

static void forget(sf_density *density)
{
    for (size_t c = 0; c < 2; c++) {
        sf_free(density->at[c]);
        density->at[c] = NULL;
        density->count[c] = 0;
    }
    sf_free(density->values);
    density->values = NULL;
    density->outside = NAN;
}

static int evaluate(const plotting *p, sf_density *density, sf_error *error)
{
    size_t count = p->count[0] * (p->d == 2 ? p->count[1] : 1);
    density->values = sf_resize(NULL, count, sizeof *density->values);
    if (density->values == NULL) return sf_fail_memory(error);
    for (size_t c = 0; c < p->d; c++) {
        density->at[c] = sf_resize(NULL, p->count[c], sizeof *density->at[c]);
        if (density->at[c] == NULL) return sf_fail_memory(error);
        memcpy(density->at[c], p->at[c], p->count[c] * sizeof *p->at[c]);
        density->count[c] = p->count[c];
    }
    return p->d == 2 ? evaluate_plane(p, density, error) : evaluate_line(p, density, error);
}

/* ---- the call ---- */

static int check(const plotting *p, sf_error *error)
{
    const sf_density_options *options = p->options;
    if (p->d > 2) return sf_fail(error, SF_DATA, NULL, "found %zu columns, expected 1 or 2", p->d);
    if (p->d == 2 && p->domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, p->domain == SF_DOMAIN_LOG ? "log" : "reflect",
                       "goes with one column");
    if (options->axis_count > 0 && options->axis_count != p->d)
        return sf_fail(error, SF_USAGE, "grid", "found %zu ax%ss for %zu column%s", options->axis_count,
                       options->axis_count == 1 ? "i" : "e", p->d, p->d == 1 ? "" : "s");
    if (options->axis_count > 0 && p->domain == SF_DOMAIN_LOG && options->from[0] <= 0)
        return sf_fail(error, SF_USAGE, "grid", "begins at %g: a logarithmic axis begins above 0",
                       options->from[0]);
    for (size_t i = 1; i < p->density_count; i++)
        if (p->densities[i]->samples.d != p->d || p->densities[i]->domain != p->domain)
            return sf_fail(error, SF_USAGE, NULL,
                           "density %zu has other columns or another domain than the first one", i);
    return SF_OK;
}

int sf_density_evaluate(sf_density *const *densities, size_t count, const sf_density_options *options,
                        sf_error *error)
{
    sf_density_options own;
    int status = sf_density_options_read(&own, options, error);
    if (status != SF_OK || count == 0) return status;
    plotting p = {.options = &own,
                  .densities = densities,
                  .density_count = count,
                  .d = densities[0]->samples.d,
                  .domain = densities[0]->domain,
                  .narrowest = INFINITY};
    for (size_t i = 0; i < count; i++) {
        forget(densities[i]);
        p.narrowest = fmin(p.narrowest, bandwidth_of(densities[i]));
        p.widest = fmax(p.widest, bandwidth_of(densities[i]));
    }
    status = check(&p, error);
    if (status == SF_OK) status = p.d == 2 ? lay_plane(&p, error) : lay_line(&p, error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        status = evaluate(&p, densities[i], error);
    for (size_t i = 0; status != SF_OK && i < count; i++)
        forget(densities[i]);
    sf_free(p.places);
    sf_free(p.at[0]);
    sf_free(p.at[1]);
    return status;
}
