/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/densities.h"

#include "core/error.h"
#include "core/memory.h"
#include "mine/mine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int resolve(sf_density_plan *plan, const sf_config_density *wanted, const sf_units *units,
                   sf_error *error)
{
    *plan = (sf_density_plan){.quantity = wanted->quantity, .unit = SF_NO_UNIT, .grid = wanted->grid};
    plan->selector = sf_selector_find(wanted->method);
    if (plan->selector == NULL)
        return sf_fail(error, SF_CONFIG, "method", "there is no bandwidth method '%s'", wanted->method);
    int status = SF_OK;
    if (wanted->unit != NULL)
        status = sf_units_resolve(units, wanted->unit, &plan->unit, error);
    if (status == SF_OK && wanted->episode != NULL)
        status = sf_episode_parse(&plan->episode, wanted->episode, units, error);
    if (status != SF_OK)
        return status;
    if (plan->quantity == SF_CONFIG_DELAY) {
        char id[SF_EPISODE_ID_SIZE];
        sf_episode_id(id, &plan->episode, units);
        snprintf(plan->label, sizeof plan->label, "delay %s", id);
    } else {
        snprintf(plan->label, sizeof plan->label, "%s %s", plan->quantity == SF_CONFIG_ISI ? "isi" : "rate",
                 units->items[plan->unit].name);
    }
    if (plan->quantity == SF_CONFIG_RATE) {
        plan->rates = sf_alloc(SF_DENSITY_RATES, sizeof *plan->rates);
        if (plan->rates == NULL)
            return sf_fail_memory(error);
    }
    return SF_OK;
}

int sf_densities_open(sf_densities *densities, const sf_config *config, const sf_units *units,
                      sf_error *error)
{
    *densities = (sf_densities){0};
    densities->plans = sf_alloc(config->density_count, sizeof *densities->plans);
    if (densities->plans == NULL)
        return sf_fail_memory(error);
    for (uint32_t i = 0; i < config->density_count; i++) {
        sf_error reason;
        int status = resolve(&densities->plans[i], &config->density[i], units, &reason);
        densities->count++;
        if (status == SF_OK)
            continue;
        sf_densities_close(densities);
        char key[32];
        snprintf(key, sizeof key, "density.%" PRIu32, i);
        return status == SF_NO_MEMORY ? sf_fail_memory(error)
                                      : sf_config_refuse(config, key, error, "%s", reason.text);
    }
    return SF_OK;
}

void sf_densities_close(sf_densities *densities)
{
    for (size_t i = 0; i < densities->count; i++)
        sf_free(densities->plans[i].rates);
    sf_free(densities->plans);
    sf_free(densities->samples);
    *densities = (sf_densities){0};
}

/* ---- samples
 * --------------------------------------------------------------------------------------------------- */

typedef struct sample_list {
    sf_densities *densities;
    size_t count;
    bool failed;
} sample_list;

static void add_sample(sample_list *list, double sample)
{
    void *samples = list->densities->samples;
    if (sf_reserve(&samples, &list->densities->capacity, list->count + 1, sizeof sample) != 0) {
        list->failed = true;
        return;
    }
    list->densities->samples = samples;
    list->densities->samples[list->count++] = sample;
}

static void add_intervals(sample_list *list, const sf_density_plan *plan, const sf_window_view *view)
{
    bool seen = false;
    int64_t last_ns = 0;
    for (size_t i = 0; i < view->count; i++) {
        if (view->spikes[i].unit != plan->unit)
            continue;
        if (seen)
            add_sample(list, (double)(view->spikes[i].time_ns - last_ns) * 1e-9);
        last_ns = view->spikes[i].time_ns;
        seen = true;
    }
}

static int add_delays(sample_list *list, const sf_density_plan *plan, const sf_window_view *view,
                      sf_error *error)
{
    int64_t *times;
    size_t count;
    uint32_t size = plan->episode.size;
    int status = sf_occurrences_find(&times, &count, view->spikes, view->count, view->unit_count,
                                     &plan->episode, error);
    if (status != SF_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        add_sample(list, (double)(times[i * size + size - 1] - times[i * size + size - 2]) * 1e-9);
    sf_free(times);
    return SF_OK;
}

static void add_rates(sample_list *list, sf_density_plan *plan, const sf_window_view *view)
{
    size_t spikes = 0;
    for (size_t i = view->hop_first; i < view->count; i++)
        spikes += view->spikes[i].unit == plan->unit;
    plan->rates[plan->hops++ % SF_DENSITY_RATES] = (double)spikes / ((double)view->hop_ns * 1e-9);
    uint64_t kept = plan->hops < SF_DENSITY_RATES ? plan->hops : SF_DENSITY_RATES;
    for (uint64_t i = 0; i < kept; i++)
        add_sample(list, plan->rates[i]);
}

static int collect(sample_list *list, sf_density_plan *plan, const sf_window_view *view, sf_error *error)
{
    int status = SF_OK;
    switch (plan->quantity) {
    case SF_CONFIG_ISI:
        add_intervals(list, plan, view);
        break;
    case SF_CONFIG_DELAY:
        status = add_delays(list, plan, view, error);
        break;
    case SF_CONFIG_RATE:
        add_rates(list, plan, view);
        break;
    }
    return status == SF_OK && list->failed ? sf_fail_memory(error) : status;
}

/* ---- the estimate
 * ---------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From 0 to just beyond nearly all samples, so that a few long silences do not squeeze the picture. */
static void lay_grid(sf_density_message *density, double *samples, size_t n)
{
    qsort(samples, n, sizeof *samples, ascending);
    density->grid_start = 0;
    density->grid_step = samples[n - 1 - n / 100] * 1.1 / (double)(density->count - 1);
}

static int estimate(sf_density_message *density, const sf_density_plan *plan, double *samples, size_t n,
                    sf_error *error)
{
    sf_bandwidth_options options = {.domain = SF_DOMAIN_REFLECT, .threads = 1};
    sf_samples rows = {.values = samples, .n = n, .d = 1};
    sf_bandwidth bandwidth;
    int status = sf_bandwidth_select(&bandwidth, plan->selector, &rows, &options, error);
    if (status != SF_OK)
        return status;
    density->h = bandwidth.h;
    sf_bandwidth_free(&bandwidth);
    lay_grid(density, samples, n);
    double *points = sf_alloc(density->count, sizeof *points);
    if (points == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < density->count; i++)
        points[i] = density->grid_start + density->grid_step * (double)i;
    status = sf_density_evaluate(density->values, points, density->count, samples, n, density->h,
                                 SF_DOMAIN_REFLECT, 1, error);
    sf_free(points);
    return status;
}

int sf_densities_update(sf_densities *densities, size_t index, const sf_window_view *view,
                        sf_message **message, sf_error *error)
{
    *message = NULL;
    sf_density_plan *plan = &densities->plans[index];
    sample_list list = {.densities = densities};
    int status = collect(&list, plan, view, error);
    if (status != SF_OK || list.count < SF_SAMPLES_LEAST)
        return status;
    double *samples = densities->samples;
    if (list.count > SF_DENSITY_MOST) {
        samples += list.count - SF_DENSITY_MOST;
        list.count = SF_DENSITY_MOST;
    }
    sf_message *filled = sf_message_new(SF_TOPIC_DENSITY);
    if (filled == NULL)
        return sf_fail_memory(error);
    sf_density_message *density = &filled->density;
    density->window = view->window;
    snprintf(density->quantity, sizeof density->quantity, "%s", plan->label);
    density->count = plan->grid;
    density->values = sf_alloc(plan->grid, sizeof *density->values);
    sf_error reason = {0};
    status = density->values != NULL ? estimate(density, plan, samples, list.count, &reason) : SF_NO_MEMORY;
    if (status == SF_OK) {
        *message = filled;
        return SF_OK;
    }
    sf_message_release(filled);
    return status == SF_DATA ? SF_OK : sf_fail(error, status, NULL, "%s", reason.text);
}
