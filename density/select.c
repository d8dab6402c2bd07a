/* SPDX-License-Identifier: Apache-2.0 */
#include "density/select.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

struct sf_selector {
    const char *name;
    size_t most_columns;
    int (*select)(sf_bandwidth *bandwidth, const sf_samples *samples, const sf_bandwidth_options *options,
                  sf_error *error);
};

static int select_plugin(sf_bandwidth *bandwidth, const sf_samples *samples,
                         const sf_bandwidth_options *options, sf_error *error)
{
    sf_plugin plugin;
    int status =
        sf_bandwidth_plugin(&plugin, samples->values, samples->n, options->threads, options->progress, error);
    if (status != SF_OK)
        return status;
    bandwidth->h = plugin.h;
    bandwidth->h_relative = plugin.h / plugin.sigma;
    return SF_OK;
}

static const sf_selector selectors[] = {
    {.name = "plugin", .most_columns = 1, .select = select_plugin},
};

enum { SELECTORS = sizeof selectors / sizeof selectors[0] };

const char *sf_selector_name(size_t index)
{
    return index < SELECTORS ? selectors[index].name : NULL;
}

const char *sf_selector_label(const sf_selector *selector)
{
    return selector->name;
}

const sf_selector *sf_selector_find(const char *name)
{
    for (size_t i = 0; i < SELECTORS; i++)
        if (strcmp(selectors[i].name, name) == 0)
            return &selectors[i];
    return NULL;
}

double sf_bandwidth_h0(size_t n, size_t d)
{
    double columns = (double)d;
    return pow(4 / (columns * columns * (columns + 2) * (double)n), 1 / (columns + 4));
}

/* On the logarithms; the caller has checked that they exist. */
static int select_log(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                      const sf_bandwidth_options *options, sf_error *error)
{
    size_t count = samples->n * samples->d;
    sf_samples logs = {
        .values = sf_resize(NULL, count, sizeof *logs.values), .n = samples->n, .d = samples->d};
    if (logs.values == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        logs.values[i] = log(samples->values[i]);
    int status = selector->select(bandwidth, &logs, options, error);
    sf_samples_free(&logs);
    return status;
}

int sf_bandwidth_select(sf_bandwidth *bandwidth, const sf_selector *selector, const sf_samples *samples,
                        const sf_bandwidth_options *options, sf_error *error)
{
    *bandwidth = (sf_bandwidth){.method = selector->name,
                                .n = samples->n,
                                .d = samples->d,
                                .h0 = sf_bandwidth_h0(samples->n, samples->d),
                                .objective = NAN};
    if (samples->d > selector->most_columns)
        return sf_fail(error, SF_DATA, NULL, "found %zu columns; the method %s takes %s%zu", samples->d,
                       selector->name, selector->most_columns > 1 ? "at most " : "", selector->most_columns);
    int status = sf_samples_check_enough(samples->n, error);
    if (status == SF_OK)
        status = sf_domain_check(options->domain, samples->values, samples->n * samples->d, error);
    if (status == SF_OK && options->domain == SF_DOMAIN_LOG)
        status = select_log(bandwidth, selector, samples, options, error);
    else if (status == SF_OK)
        status = selector->select(bandwidth, samples, options, error);
    if (status != SF_OK)
        sf_bandwidth_free(bandwidth);
    return status;
}

void sf_bandwidth_free(sf_bandwidth *bandwidth)
{
    sf_free(bandwidth->minima);
    bandwidth->minima = NULL;
    bandwidth->minimum_count = 0;
}
