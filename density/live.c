/* SPDX-License-Identifier: Apache-2.0 */
#include "density/live.h"

#include "core/backend/tick.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/normal.h"
#include "density/samples.h"
#include "density/shared/bandwidth.h"
#include "density/spectral.h"

#include <math.h>
#include <string.h>

/* The range holds this many of the widest kernels: wider ones would say nothing of a shape. */
enum { WIDEST = 16 };

const char *const sf_moving_methods[] = {[SF_MOVING_ISJ] = "isj",     [SF_MOVING_PLUGIN] = "plugin",
                                         [SF_MOVING_LSCV] = "lscv",   [SF_MOVING_SILVERMAN] = "silverman",
                                         [SF_MOVING_SCOTT] = "scott", [SF_MOVING_FIXED] = NULL};

/* In two columns both are n^(-1/6). */
const char *const sf_moving_plane_methods[] = {"silverman", "scott", NULL};

bool sf_moving_method_find(sf_moving_method *method, const char *name)
{
    for (size_t i = 0; i < SF_MOVING_FIXED; i++)
        if (strcmp(sf_moving_methods[i], name) == 0) {
            *method = (sf_moving_method)i;
            return true;
        }
    return false;
}

const char *sf_moving_method_name(sf_moving_method method)
{
    return method == SF_MOVING_FIXED ? "fixed" : sf_moving_methods[method];
}

static void count_tick_points(sf_moving_plan *plan)
{
    for (uint32_t k = 1; k <= SF_MOVING_TICKS; k++) {
        double length = log((k + 0.5) / (k - 0.5));
        plan->tick_points[k] = (uint32_t)fmin(ceil(2 * length / plan->options.b_least), UINT32_MAX);
    }
}

int sf_moving_plan_open(sf_moving_plan *plan, const sf_moving_options *options, sf_error *error)
{
    *plan = (sf_moving_plan){.options = *options};
    bool log_scale = options->domain == SF_DOMAIN_LOG;
    if (!(options->most > options->least) || !(options->tick >= 0) ||
        !isfinite(options->most - options->least) || !(options->b_least > 0) ||
        (log_scale && options->least <= 0) || (options->domain == SF_DOMAIN_REFLECT && options->least < 0) ||
        (options->method == SF_MOVING_FIXED && !(options->h >= options->b_least)))
        return sf_fail(
            error, SF_USAGE, NULL,
            "found samples from %g to %g and bandwidths from %g: expected a range of the domain, and "
            "a bandwidth above 0",
            options->least, options->most, options->b_least);
    double least =
        log_scale ? log(options->least / 2) : options->least; /* a tick spread reaches down to half */
    double most = log_scale ? log(options->most) : options->most;
    if (options->domain == SF_DOMAIN_REFLECT) least = -most;
    plan->frame = sf_frame_for(least, most, options->b_least, (most - least) / WIDEST);
    count_tick_points(plan);
    int status = sf_spectrum_open(&plan->spectrum, &plan->frame, error);
    if (status == SF_OK && log_scale) status = sf_characteristic_open(&plan->all, &plan->frame, error);
    if (status != SF_OK) sf_moving_plan_close(plan);
    return status;
}

void sf_moving_plan_close(sf_moving_plan *plan)
{
    sf_spectrum_close(&plan->spectrum);
    sf_characteristic_close(&plan->all);
    *plan = (sf_moving_plan){0};
}

int sf_moving_open(sf_moving_density *live, const sf_moving_plan *plan, sf_error *error)
{
    *live = (sf_moving_density){0};
    int status = sf_characteristic_open(&live->state, &plan->frame, error);
    if (status != SF_OK || plan->options.domain != SF_DOMAIN_LOG) return status;
    live->ticks = sf_alloc(SF_MOVING_TICKS + 1, sizeof *live->ticks);
    if (live->ticks != NULL) return SF_OK;
    sf_moving_close(live);
    return sf_fail_memory(error);
}

void sf_moving_close(sf_moving_density *live)
{
    sf_characteristic_close(&live->state);
    sf_free(live->ticks);
    *live = (sf_moving_density){0};
}

void sf_moving_clear(sf_moving_density *live)
{
    sf_characteristic_clear(&live->state);
    if (live->ticks != NULL) memset(live->ticks, 0, (SF_MOVING_TICKS + 1) * sizeof *live->ticks);
    live->ticking = live->left_out = 0;
}

void sf_moving_copy(sf_moving_density *copy, const sf_moving_density *live)
{
    sf_moving_clear(copy);
    sf_characteristic_merge(&copy->state, &live->state, NULL); /* frames are the same */
    if (live->ticks != NULL) memcpy(copy->ticks, live->ticks, (SF_MOVING_TICKS + 1) * sizeof *live->ticks);
    copy->ticking = live->ticking;
    copy->h = live->h;
    copy->changed = live->changed;
    copy->left_out = live->left_out;
}

/* How many ticks a sample is, where it is one of those that are counted; else 0. */
static size_t ticks_of(const sf_moving_options *options, double x)
{
    double ticks =
        options->domain == SF_DOMAIN_LOG && options->tick > 0 ? round(x / options->tick) : INFINITY;
    return ticks > SF_MOVING_TICKS ? 0 : ticks < 1 ? 1 : (size_t)ticks;
}

static void change(sf_moving_density *live, const sf_moving_plan *plan, const double *samples, size_t n,
                   int w)
{
    const sf_moving_options *options = &plan->options;
    for (size_t i = 0; i < n; i++) {
        bool inside = samples[i] >= options->least && samples[i] <= options->most;
        size_t ticks = inside ? ticks_of(options, samples[i]) : 0;
        double x = inside && options->domain == SF_DOMAIN_LOG ? log(samples[i]) : samples[i];
        if (ticks > 0) {
            live->ticks[ticks] += (uint32_t)w;
            live->ticking += (uint64_t)(int64_t)w;
            live->changed++;
        } else if (inside && sf_characteristic_add(&live->state, &x, 1, w) == 1) {
            live->changed++;
        } else {
            live->left_out += (uint64_t)(int64_t)w;
        }
    }
}

void sf_moving_add(sf_moving_density *live, const sf_moving_plan *plan, const double *samples, size_t n)
{
    change(live, plan, samples, n, 1);
}

void sf_moving_remove(sf_moving_density *live, const sf_moving_plan *plan, const double *samples, size_t n)
{
    change(live, plan, samples, n, -1);
}

/* ---- samples that are counts ---- */

static size_t points_of_tick(const sf_moving_density *live, const sf_moving_plan *plan, size_t ticks)
{
    return live->ticks[ticks] < plan->tick_points[ticks] ? live->ticks[ticks] : plan->tick_points[ticks];
}

/* All samples in one state: plan->all, or the density's own where it has no counts. */
static const sf_characteristic *gather(const sf_moving_density *live, sf_moving_plan *plan)
{
    if (live->ticking == 0) return &live->state;
    sf_characteristic_clear(&plan->all);
    sf_characteristic_merge(&plan->all, &live->state, NULL); /* frames are the same */
    for (size_t k = 1; k <= SF_MOVING_TICKS; k++) {
        size_t points = points_of_tick(live, plan, k);
        for (size_t r = 0; r < points; r++) {
            sf_tick_point point = sf_tick_point_of(live->ticks[k], plan->options.tick, k, r, points);
            sf_characteristic_add(&plan->all, &point.at, 1, point.weight);
            plan->all.squares += point.weight * (1 - point.weight); /* it stands for as many single ones */
        }
    }
    return &plan->all;
}

/* Where a kernel of width h would be narrower than a tick, one of a tick takes its place. */
static void widen_ticks(const sf_moving_density *live, const sf_moving_plan *plan, double width,
                        const double *points, size_t count, double *values)
{
    double n = (double)sf_moving_count(live), h = live->h;
    for (size_t k = 1; live->ticking > 0 && k <= SF_MOVING_TICKS; k++) {
        size_t spread = points_of_tick(live, plan, k);
        for (size_t r = 0; r < spread; r++) {
            sf_tick_point point = sf_tick_point_of(live->ticks[k], plan->options.tick, k, r, spread);
            for (size_t p = 0; point.width > h && p < count; p++) {
                double away = points[p] - point.at;
                values[p] +=
                    point.weight / n *
                    (sf_normal_average(away, point.width, width) - sf_normal_average(away, h, width));
            }
        }
    }
}

/* ---- bandwidths ---- */

/* The score of least squares at its lowest minimum, or NaN. */
static double find_lscv(const sf_spectrum *spectrum, double b_least, double b_most)
{
    sf_search search;
    sf_search_range(&search, SF_SEARCH_POINTS, b_least, b_most, true);
    sf_search_run(&search, sf_spectral_lscv, (void *)(uintptr_t)spectrum);
    const sf_score_point *lowest = sf_search_lowest_minimum(&search);
    return lowest != NULL ? lowest->h : NAN;
}

/* The bandwidth that a method chooses, or NaN where it finds none. */
static double choose(sf_moving_method method, const sf_spectrum *spectrum, const sf_plugin *plugin,
                     double b_least, double b_most)
{
    switch (method) {
    case SF_MOVING_ISJ:
        return sf_spectral_isj(spectrum, b_least, b_most);
    case SF_MOVING_PLUGIN:
        return fmax(plugin->h, b_least);
    case SF_MOVING_LSCV:
        return find_lscv(spectrum, b_least, b_most);
    case SF_MOVING_SILVERMAN:
        return fmax(sf_silverman(spectrum->n) * spectrum->deviation, b_least);
    default:
        return fmax(sf_scott(spectrum->n) * spectrum->deviation, b_least);
    }
}

int sf_moving_choose(double *h, sf_moving_method method, const sf_spectrum *spectrum, double b_least,
                     sf_error *error)
{
    b_least = fmax(b_least, sf_frame_least_bandwidth(&spectrum->frame));
    double b_most =
        fmin(4 * sf_silverman(spectrum->n) * spectrum->sigma, sf_moving_most_bandwidth(&spectrum->frame));
    sf_plugin plugin;
    int status = sf_spectral_plugin(&plugin, spectrum, error); /* refuses what has no width */
    if (status != SF_OK) return status;
    double chosen = choose(method, spectrum, &plugin, b_least, fmax(b_most, b_least));
    *h = isnan(chosen) ? b_least : chosen;
    return SF_OK;
}

static int select_again(sf_moving_density *live, const sf_moving_plan *plan, sf_error *error)
{
    const sf_moving_options *options = &plan->options;
    double h = options->h;
    int status = options->method != SF_MOVING_FIXED
                     ? sf_moving_choose(&h, options->method, &plan->spectrum,
                                        sf_moving_least_bandwidth(options), error)
                     : SF_OK;
    if (status != SF_OK) return status;
    live->h = h;
    live->changed = 0;
    return SF_OK;
}

uint64_t sf_moving_count(const sf_moving_density *live)
{
    return (uint64_t)llround(live->state.weight) + live->ticking;
}

bool sf_moving_due(const sf_moving_density *live, const sf_moving_plan *plan)
{
    uint64_t n = sf_moving_count(live);
    return n >= SF_SAMPLES_LEAST &&
           (live->h == 0 || (double)live->changed >= plan->options.reselect * (double)n);
}

double sf_moving_least_bandwidth(const sf_moving_options *options)
{
    return options->domain == SF_DOMAIN_LOG ? options->b_least : fmax(options->b_least, options->tick);
}

double sf_moving_most_bandwidth(const sf_frame *frame)
{
    return frame->period / (WIDEST + 12.5);
}

int sf_moving_transform(const sf_moving_density *live, sf_moving_plan *plan, sf_error *error)
{
    return sf_spectrum_update(&plan->spectrum, gather(live, plan), error);
}

int sf_moving_select(sf_moving_density *live, sf_moving_plan *plan, sf_error *error)
{
    int status = sf_samples_check_enough(sf_moving_count(live), error);
    if (status == SF_OK) status = sf_moving_transform(live, plan, error);
    if (status != SF_OK) return status;
    /* From sums of squares, rounding alone makes a sigma of 1e-8 of the period. */
    if (!(plan->spectrum.sigma > 1e-7 * plan->spectrum.frame.period))
        return sf_fail(error, SF_DATA, NULL, "all samples are equal: a bandwidth needs different values");
    if (plan->options.domain == SF_DOMAIN_REFLECT) sf_spectrum_reflect(&plan->spectrum);
    return sf_moving_due(live, plan) ? select_again(live, plan, error) : SF_OK;
}

void sf_moving_density_at(const sf_moving_density *live, sf_moving_plan *plan, double width,
                          const double *points, size_t count, double *values)
{
    sf_spectrum_density(&plan->spectrum, live->h, width, points, count, values);
    for (size_t k = 0; plan->options.domain == SF_DOMAIN_REFLECT && k < count; k++)
        values[k] = points[k] >= 0 ? 2 * values[k] : 0;
    widen_ticks(live, plan, width, points, count, values);
}
