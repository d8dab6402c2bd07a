/* SPDX-License-Identifier: Apache-2.0 */
#include "density/live.h"

#include "core/error.h"
#include "density/samples.h"
#include "density/spectral.h"

#include <math.h>
#include <string.h>

/* The range holds this many of the widest kernels: wider ones would say nothing of a shape. */
enum { WIDEST = 16 };

bool sf_live_method_find(sf_live_method *method, const char *name)
{
    static const char *const names[] = {"isj", "plugin", "lscv", "silverman", "scott"}; /* as in the enum */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) {
            *method = (sf_live_method)i;
            return true;
        }
    return false;
}

int sf_live_plan_open(sf_live_plan *plan, const sf_live_options *options, sf_error *error)
{
    *plan = (sf_live_plan){.options = *options};
    bool log_scale = options->domain == SF_DOMAIN_LOG;
    if (!(options->most > options->least) || !isfinite(options->most - options->least) ||
        !(options->b_least > 0) || (log_scale && options->least <= 0) ||
        (options->domain == SF_DOMAIN_REFLECT && options->least < 0) ||
        (options->method == SF_LIVE_FIXED && !(options->h >= options->b_least)))
        return sf_fail(
            error, SF_USAGE, NULL,
            "found samples from %g to %g and bandwidths from %g: expected a range of the domain, and "
            "a bandwidth above 0",
            options->least, options->most, options->b_least);
    double least = log_scale ? log(options->least) : options->least;
    double most = log_scale ? log(options->most) : options->most;
    if (options->domain == SF_DOMAIN_REFLECT)
        least = -most;
    sf_frame frame = sf_frame_for(least, most, options->b_least, (most - least) / WIDEST);
    return sf_spectrum_open(&plan->spectrum, &frame, error);
}

void sf_live_plan_close(sf_live_plan *plan)
{
    sf_spectrum_close(&plan->spectrum);
    *plan = (sf_live_plan){0};
}

int sf_live_open(sf_live_density *live, const sf_live_plan *plan, sf_error *error)
{
    *live = (sf_live_density){0};
    return sf_characteristic_open(&live->state, &plan->spectrum.frame, error);
}

void sf_live_close(sf_live_density *live)
{
    sf_characteristic_close(&live->state);
    *live = (sf_live_density){0};
}

static void change(sf_live_density *live, const sf_live_plan *plan, const double *samples, size_t n, double w)
{
    const sf_live_options *options = &plan->options;
    for (size_t i = 0; i < n; i++) {
        bool inside = samples[i] >= options->least && samples[i] <= options->most;
        double x = inside && options->domain == SF_DOMAIN_LOG ? log(samples[i]) : samples[i];
        if (inside && sf_characteristic_add(&live->state, &x, 1, w) == 1)
            live->changed++;
        else if (w > 0)
            live->left_out++;
    }
}

void sf_live_add(sf_live_density *live, const sf_live_plan *plan, const double *samples, size_t n)
{
    change(live, plan, samples, n, 1);
}

void sf_live_remove(sf_live_density *live, const sf_live_plan *plan, const double *samples, size_t n)
{
    change(live, plan, samples, n, -1);
}

void sf_live_forget(sf_live_density *live, double factor)
{
    sf_characteristic_scale(&live->state, factor);
}

/* The score of least squares at its lowest minimum, or NaN. */
static double find_lscv(const sf_spectrum *spectrum, double b_least, double b_most)
{
    sf_search search;
    sf_search_range(&search, SF_SEARCH_POINTS, b_least, b_most, true);
    sf_search_run(&search, sf_spectral_lscv, (void *)(uintptr_t)spectrum);
    const sf_score_point *lowest = sf_search_lowest_minimum(&search);
    return lowest != NULL ? lowest->h : NAN;
}

/* The bandwidth that the plan's method chooses, or NaN where it finds none. */
static double choose(const sf_live_plan *plan, const sf_plugin *plugin, double b_least, double b_most)
{
    const sf_spectrum *spectrum = &plan->spectrum;
    switch (plan->options.method) {
    case SF_LIVE_ISJ:
        return sf_spectral_isj(spectrum, b_least, b_most);
    case SF_LIVE_PLUGIN:
        return fmax(plugin->h, b_least);
    case SF_LIVE_LSCV:
        return find_lscv(spectrum, b_least, b_most);
    case SF_LIVE_SILVERMAN:
        return fmax(pow(4 / (3 * spectrum->n), 0.2) * spectrum->sigma, b_least);
    case SF_LIVE_SCOTT:
        return fmax(pow(spectrum->n, -0.2) * spectrum->sigma, b_least);
    default:
        return plan->options.h;
    }
}

static int select_again(sf_live_density *live, const sf_live_plan *plan, sf_error *error)
{
    const sf_spectrum *spectrum = &plan->spectrum;
    double b_least = fmax(plan->options.b_least, sf_frame_least_bandwidth(&spectrum->frame));
    double b_most =
        fmin(4 * pow(4 / (3 * spectrum->n), 0.2) * spectrum->sigma, spectrum->frame.period / (WIDEST + 12.5));
    sf_plugin plugin;
    int status = sf_spectral_plugin(&plugin, spectrum, error); /* refuses what has no width */
    if (status != SF_OK)
        return status;
    double h = choose(plan, &plugin, b_least, fmax(b_most, b_least));
    live->h = isnan(h) ? b_least : h;
    live->changed = 0;
    return SF_OK;
}

/* The effective number of samples. */
static double count_of(const sf_live_density *live)
{
    const sf_characteristic *state = &live->state;
    return state->squares > 0 ? state->weight * state->weight / state->squares : 0;
}

bool sf_live_due(const sf_live_density *live, const sf_live_plan *plan)
{
    double n = count_of(live);
    return n >= SF_SAMPLES_LEAST - 1e-6 &&
           (live->h == 0 || (double)live->changed >= plan->options.reselect * n);
}

int sf_live_select(sf_live_density *live, sf_live_plan *plan, sf_error *error)
{
    double n = count_of(live);
    if (n < SF_SAMPLES_LEAST - 1e-6)
        return sf_samples_check_enough((size_t)n, error);
    int status = sf_spectrum_update(&plan->spectrum, &live->state, error);
    if (status != SF_OK)
        return status;
    live->mean = plan->spectrum.mean;
    live->sigma = plan->spectrum.sigma;
    /* From sums of squares, rounding alone makes a sigma of 1e-8 of the period. */
    if (!(live->sigma > 1e-7 * plan->spectrum.frame.period))
        return sf_fail(error, SF_DATA, NULL, "all samples are equal: a bandwidth needs different values");
    if (plan->options.domain == SF_DOMAIN_REFLECT)
        sf_spectrum_reflect(&plan->spectrum);
    return sf_live_due(live, plan) ? select_again(live, plan, error) : SF_OK;
}

void sf_live_density_at(const sf_live_density *live, sf_live_plan *plan, const double *points, size_t count,
                        double *values)
{
    bool log_scale = plan->options.domain == SF_DOMAIN_LOG;
    for (size_t k = 0; k < count; k++)
        values[k] = !log_scale ? points[k] : points[k] > 0 ? log(points[k]) : 0;
    sf_spectrum_density(&plan->spectrum, live->h, values, count, values);
    for (size_t k = 0; k < count; k++) {
        if (log_scale)
            values[k] = points[k] > 0 ? values[k] / points[k] : 0;
        else if (plan->options.domain == SF_DOMAIN_REFLECT)
            values[k] = points[k] >= 0 ? 2 * values[k] : 0;
    }
}

int sf_live_evaluate(sf_live_density *live, sf_live_plan *plan, const double *points, size_t count,
                     double *values, sf_error *error)
{
    int status = sf_live_select(live, plan, error);
    if (status == SF_OK)
        sf_live_density_at(live, plan, points, count, values);
    return status;
}
