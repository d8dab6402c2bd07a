/* SPDX-License-Identifier: Apache-2.0 */
#include "density/series.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"

#include <math.h>
#include <string.h>

int sf_series_make(sf_series **out, size_t count, size_t d, sf_error *error)
{
    sf_series *series = *out = sf_alloc(1, sizeof *series);
    if (series == NULL) return sf_fail_memory(error);
    series->count = count;
    series->d = d;
    series->names = sf_alloc(count, sizeof *series->names);
    series->units = sf_alloc(count, sizeof *series->units);
    series->first = sf_alloc(count + 1, sizeof *series->first);
    bool whole = series->names != NULL && series->units != NULL && series->first != NULL;
    for (size_t s = 0; whole && s < count; s++) {
        series->units[s] = -1;
        series->names[s] = sf_copy_string("");
        whole = series->names[s] != NULL;
    }
    if (whole) return SF_OK;
    sf_series_free(series);
    *out = NULL;
    return sf_fail_memory(error);
}

int sf_series_new(sf_series **out, const double *values, size_t n, size_t d, sf_error *error)
{
    *out = NULL;
    if (n == 0 || d == 0)
        return sf_fail(error, SF_USAGE, NULL, "found %zu samples of %zu columns, expected at least one", n,
                       d);
    for (size_t i = 0; i < n * d; i++)
        if (!isfinite(values[i]))
            return sf_fail(error, SF_DATA, NULL, "sample %zu holds %g, expected finite numbers", i / d,
                           values[i]);
    sf_series *series;
    int status = sf_series_make(&series, 1, d, error);
    if (status != SF_OK) return status;
    series->first[1] = n;
    series->values = sf_resize(NULL, n, d * sizeof *values);
    status = series->values != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        memcpy(series->values, values, n * d * sizeof *values);
        sf_samples samples = sf_series_samples(series, 0);
        status = sf_samples_find_clock(&samples, error);
        series->tick = samples.tick;
    }
    if (status == SF_OK)
        *out = series;
    else
        sf_series_free(series);
    return status;
}

void sf_series_free(sf_series *series)
{
    if (series == NULL) return;
    for (size_t s = 0; series->names != NULL && s < series->count; s++)
        sf_free(series->names[s]);
    sf_free(series->names);
    sf_free(series->units);
    sf_free(series->first);
    sf_free(series->values);
    sf_free(series);
}

sf_samples sf_series_samples(const sf_series *series, size_t of)
{
    return (sf_samples){.values = series->values + series->first[of] * series->d,
                        .n = series->first[of + 1] - series->first[of],
                        .d = series->d,
                        .tick = series->tick};
}

void sf_series_get_columns(const sf_series *series, sf_series_columns *columns)
{
    sf_series_columns own = {.count = series->count,
                             .names = (const char *const *)series->names,
                             .units = series->units,
                             .first = series->first,
                             .d = series->d,
                             .values = series->values,
                             .tick = series->tick,
                             .domain = series->domain,
                             .coincident = series->coincident};
    sf_columns_fill(columns, &own, sizeof own);
}
