/* SPDX-License-Identifier: Apache-2.0 */
/* COUNT, SUM, AVG and VAR of a density, and how far they may be off. */
#include "core/error.h"
#include "core/options.h"
#include "density/aggregate.h"
#include "density/estimate.h"
#include "density/pairs.h"

#include <math.h>

double sf_aggregate_of(sf_aggregate_kind kind, const sf_range_moments *moments, uint64_t n)
{
    switch (kind) {
    case SF_AGGREGATE_COUNT:
        return moments->share * (double)n;
    case SF_AGGREGATE_SUM:
        return sf_range_total(moments) * (double)n;
    case SF_AGGREGATE_AVERAGE:
        return sf_range_average(moments);
    default:
        return sf_range_variance(moments);
    }
}

/* The standard error that n independent samples leave; that of the variance is as for normal values where the
 * kurtosis is not known. */
static double sampling_error(sf_aggregate_kind kind, const sf_range_moments *moments, uint64_t samples)
{
    double n = (double)samples, p = fmin(moments->share, 1), inside = n * p;
    double variance = sf_range_variance(moments), average = sf_range_average(moments);
    switch (kind) {
    case SF_AGGREGATE_COUNT:
        return sqrt(n * p * (1 - p));
    case SF_AGGREGATE_SUM:
        return sqrt(n * p * (variance + (1 - p) * average * average));
    case SF_AGGREGATE_AVERAGE:
        return sqrt(variance / inside);
    default:
        return variance * sqrt(((moments->kurtosis > 1 ? moments->kurtosis : 3) - 1) / inside);
    }
}

void sf_aggregate_tell(sf_aggregate *answer, sf_aggregate_kind kind, const sf_range_moments *moments,
                       const sf_range_moments *sharper, uint64_t n)
{
    answer->estimate = sf_aggregate_of(kind, moments, n);
    answer->sampling_error = sampling_error(kind, moments, n);
    answer->smoothing_error = fabs(answer->estimate - sf_aggregate_of(kind, sharper, n));
    answer->exact = NAN;
    answer->share = moments->share;
}

static int find_moments(sf_range_moments *moments, const sf_density *density, double h, const double *from,
                        const double *to, size_t ranges, const sf_progress *progress, sf_error *error)
{
    const sf_samples *samples = &density->samples;
    if (samples->d == 1)
        return sf_range_moments_direct(moments, samples, h, density->domain, from[0], to[0], error);
    if (ranges == 1) return sf_linked_moments(moments, samples->values, samples->n, h, from[0], to[0], error);
    return sf_box_moments(moments, samples->values, samples->n, samples->d, h, from, to, progress, error);
}

static int check(const sf_density *density, sf_aggregate_kind kind, size_t ranges, sf_error *error)
{
    size_t d = density->samples.d;
    if ((unsigned)kind > SF_AGGREGATE_VARIANCE)
        return sf_fail(error, SF_USAGE, "kind", "found %d, which is none", (int)kind);
    if (d > 1 && density->domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, "range", "several columns go without a logarithm and reflection");
    if (ranges != d && !(d == 2 && ranges == 1))
        return sf_fail(error, SF_USAGE, "range", "found %zu range%s for %zu column%s", ranges,
                       ranges == 1 ? "" : "s", d, d == 1 ? "" : "s");
    return SF_OK;
}

int sf_density_aggregate(const sf_density *density, sf_aggregate_kind kind, const double *from,
                         const double *to, size_t range_count, sf_aggregate *answer,
                         const sf_progress *progress, sf_error *error)
{
    const sf_samples *samples = &density->samples;
    sf_aggregate own = {.estimate = NAN, .sampling_error = NAN, .smoothing_error = NAN, .exact = NAN};
    sf_range_moments moments, sharper, exact;
    int status = check(density, kind, range_count, error);
    if (status == SF_OK)
        status = find_moments(&moments, density, density->h, from, to, range_count, progress, error);
    if (status == SF_OK)
        status =
            find_moments(&sharper, density, density->h * M_SQRT1_2, from, to, range_count, progress, error);
    if (status == SF_OK) {
        sf_box_moments_exact(&exact, samples->values, samples->n, samples->d, from, to, range_count);
        moments.kurtosis = exact.kurtosis;
        sf_aggregate_tell(&own, kind, &moments, &sharper, samples->n);
        own.exact = sf_aggregate_of(kind, &exact, samples->n);
    }
    sf_columns_fill(answer, &own, sizeof own);
    return status;
}
