/* SPDX-License-Identifier: Apache-2.0 */
#include "density/samples.h"

#include "core/backend/tick.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"

#include <float.h>
#include <math.h>
#include <string.h>

void sf_samples_free(sf_samples *samples)
{
    sf_free(samples->values);
    *samples = (sf_samples){0};
}

int sf_samples_check_enough(size_t n, sf_error *error)
{
    if (n < SF_SAMPLES_LEAST)
        return sf_fail(error, SF_DATA, NULL, "not enough data: found %zu sample%s, expected at least %d", n,
                       n == 1 ? "" : "s", SF_SAMPLES_LEAST);
    return SF_OK;
}

double sf_samples_noise(double least, double most)
{
    return 2 * DBL_EPSILON * fmax(fabs(least), fabs(most));
}

static int find_range(sf_moments *moments, const double *samples, size_t n, sf_error *error)
{
    if (n < 2)
        return sf_fail(error, SF_DATA, NULL, "found %zu sample%s, expected at least 2", n, n == 1 ? "" : "s");
    double least = samples[0], most = samples[0];
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(samples[i]))
            return sf_fail(error, SF_DATA, NULL, "sample %zu is %g, expected finite numbers", i + 1,
                           samples[i]);
        least = samples[i] < least ? samples[i] : least;
        most = samples[i] > most ? samples[i] : most;
    }
    if (least == most)
        return sf_fail(error, SF_DATA, NULL,
                       "all %zu samples equal %.17g: a bandwidth needs at least two different values", n,
                       least);
    if (most - least <= sf_samples_noise(least, most))
        return sf_fail(
            error, SF_DATA, NULL,
            "all %zu samples lie from %.17g to %.17g, where a double has but a few values: subtract "
            "what they have in common before they are rounded",
            n, least, most);
    if (!isfinite(most - least))
        return sf_fail(error, SF_DATA, NULL, "samples reach from %g to %g, wider than a double holds", least,
                       most);
    *moments = (sf_moments){.least = least, .most = most};
    return SF_OK;
}

int sf_moments_find(sf_moments *moments, const double *samples, size_t n, sf_error *error)
{
    int status = find_range(moments, samples, n, error);
    if (status != SF_OK) return status;
    /* Sums of (x - least) / range, so that no square leaves the range of a double. */
    double range = moments->most - moments->least;
    double sum = 0, squares = 0, rest = 0;
    for (size_t i = 0; i < n; i++)
        sum += (samples[i] - moments->least) / range;
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        double from_mean = (samples[i] - moments->least) / range - mean;
        squares += from_mean * from_mean;
        rest += from_mean; /* what rounding left of zero */
    }
    double variance = (squares - rest * rest / (double)n) / (double)(n - 1);
    moments->mean = moments->least + range * mean;
    moments->sigma = range * sqrt(variance);
    moments->variance = moments->sigma * moments->sigma;
    return SF_OK;
}

int sf_samples_standardise(double **standardised, sf_moments *moments, const double *samples, size_t n,
                           sf_error *error)
{
    *standardised = NULL;
    int status = sf_moments_find(moments, samples, n, error);
    if (status != SF_OK) return status;
    double *z = sf_resize(NULL, n, sizeof *z);
    if (z == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        z[i] = (samples[i] - moments->mean) / moments->sigma;
    *standardised = z;
    return SF_OK;
}

static double *sort(const double *samples, size_t n)
{
    double *sorted = sf_resize(NULL, n, sizeof *sorted);
    if (sorted == NULL) return NULL;
    memcpy(sorted, samples, n * sizeof *sorted);
    sf_reals_sort(sorted, n);
    return sorted;
}

static void measure_ticks(double *tick, double *multiplicity, const double *sorted, size_t n, double noise)
{
    *tick = INFINITY;
    double squares = 0, run = 1; /* of equal samples */
    for (size_t i = 1; i <= n; i++) {
        double step = i < n ? sorted[i] - sorted[i - 1] : INFINITY;
        if (step > noise) {
            squares += run * run;
            run = 0;
            *tick = fmin(*tick, step);
        }
        run++;
    }
    *multiplicity = squares / (double)n;
}

int sf_samples_find_tick(double *tick, double *multiplicity, const double *samples, size_t n, double noise)
{
    double *sorted = sort(samples, n);
    if (sorted == NULL) return SF_NO_MEMORY;
    measure_ticks(tick, multiplicity, sorted, n, noise);
    sf_free(sorted);
    return SF_OK;
}

/*
 * Differences of times carry the rounding of the times, which is coarser than their own: steps up to some
 * more noise are taken for it, too, where the next larger ones are far larger. The widest gap tells.
 */
#define COARSER 16.0
#define FAR_LARGER 1e3
#define MOST_NOISE 1e-9

int sf_samples_find_clock(sf_samples *samples, sf_error *error)
{
    size_t n = samples->n;
    samples->tick = 0;
    if (samples->d != 1) return SF_OK;
    double *sorted = sort(samples->values, n);
    if (sorted == NULL) return sf_fail_memory(error);
    double first = sf_samples_noise(sorted[0], sorted[n - 1]), range = sorted[n - 1] - sorted[0];
    double largest = fmax(first, MOST_NOISE * (sorted[n - 1 - n / 4] - sorted[n / 4])), tick, multiplicity;
    double clearest = 0;
    for (double noise = first; noise <= largest && noise < range; noise *= COARSER) {
        measure_ticks(&tick, &multiplicity, sorted, n, noise);
        double clear = multiplicity >= SF_SAMPLES_TIED && isfinite(tick) ? tick / noise : 0;
        if (clear > clearest && (noise == first || clear > FAR_LARGER)) {
            clearest = clear;
            samples->tick = tick;
        }
    }
    sf_free(sorted);
    return SF_OK;
}

sf_ticks sf_samples_ticks(const sf_samples *samples)
{
    /* A tick that was found as one step is measured over longer and longer ones, as far as it is known. */
    const double off = 0.01;
    sf_ticks found = {samples->tick, INFINITY}, none = {0, 0};
    if (samples->d != 1 || !(found.tick > 0)) return none;
    for (size_t i = 0; i < samples->n; i++)
        found.phase = fmin(found.phase, samples->values[i]);
    double longest = 1;
    bool grown = true;
    while (grown) {
        grown = false;
        for (size_t i = 0; i < samples->n; i++) {
            double step = samples->values[i] - found.phase, times = round(step / found.tick);
            if (times > longest && times <= 100 * longest &&
                fabs(step - times * found.tick) < off * found.tick) {
                found.tick = step / times;
                longest = times;
                grown = true;
            }
        }
    }
    for (size_t i = 0; i < samples->n; i++) {
        double ticks = (samples->values[i] - found.phase) / found.tick;
        if (fabs(ticks - round(ticks)) > off) return none;
    }
    return found;
}

void sf_ticks_cut(const sf_ticks *ticks, double *from, double *to)
{
    const double on = 1e-3; /* so near a tick, an end is meant to lie on it */
    if (!(ticks->tick > 0)) return;
    if (isfinite(*from))
        *from = ticks->phase + ticks->tick * (floor((*from - ticks->phase) / ticks->tick + on) + 0.5);
    if (isfinite(*to))
        *to = ticks->phase + ticks->tick * (ceil((*to - ticks->phase) / ticks->tick - on) - 0.5);
    *to = fmax(*from, *to);
}

/* Values under half a tick apart are of one tick, whose rounding differs; their mean is its place. */
static void spread_ties(double *sorted, size_t n, double tick)
{
    for (size_t first = 0, end; first < n; first = end) {
        double sum = 0, least = sorted[first];
        for (end = first; end < n && sorted[end] - least < tick / 2; end++)
            sum += sorted[end] - least;
        double x = least + sum / (double)(end - first);
        for (size_t i = first; end - first > 1 && i < end; i++)
            sorted[i] = sf_tick_spread(x, tick, i - first, end - first);
    }
}

int sf_samples_sorted(double **sorted, const sf_samples *samples, bool spread, sf_error *error)
{
    double *x = *sorted = sf_resize(NULL, samples->n, sizeof *x);
    if (x == NULL) return sf_fail_memory(error);
    memcpy(x, samples->values, samples->n * sizeof *x);
    sf_reals_sort(x, samples->n);
    if (!spread || !(samples->tick > 0)) return SF_OK;
    spread_ties(x, samples->n, samples->tick);
    sf_reals_sort(x, samples->n); /* neighbours may overlap */
    return SF_OK;
}
