/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the live pipeline does with a device, step by step, on a window of 10 s of a large array (4,096 units,
 * 100,000 spikes a second, a hop of 100 ms): copying a hop, holding a window, discovering (0,5] ms to size 3
 * in it with and without the window on the device. Each row is the median of RUNS.
 */
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/reals.h"
#include "mine/mine.h"
#include "replay/simulation.h"
#include "window/resident.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNITS 4096
#define HOP_NS (100 * SF_MILLISECOND)
#define HOPS 130
#define WINDOW_HOPS 100
#define RUNS 11

static sf_recording stream;
static sf_history history;
static uint64_t unit_spikes[UNITS], first;
static double times[RUNS];

static double median(void)
{
    sf_reals_sort(times, RUNS);
    return times[RUNS / 2] * 1e3;
}

static int fill(sf_error *error)
{
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = UNITS;
    settings.rate_hz = 100000.0 / UNITS;
    settings.duration_ns = HOPS * HOP_NS;
    int status = sf_simulate(&stream, NULL, &settings, NULL, error);
    return status == SF_OK ? sf_history_append(&history, stream.spikes, stream.spike_count, error) : status;
}

static uint64_t position_of(uint32_t hop)
{
    return sf_history_find(&history, (int64_t)hop * HOP_NS);
}

static void count_units(uint64_t last)
{
    memset(unit_spikes, 0, sizeof unit_spikes);
    const sf_spike *spikes = sf_history_view(&history, first);
    for (uint64_t i = first; i < last; i++)
        unit_spikes[spikes[i - first].unit]++;
}

static int discover(const char *device, sf_resident *resident, uint64_t last, const char *what,
                    sf_error *error)
{
    sf_delay delay = {0, 5 * SF_MILLISECOND};
    sf_mining_options options;
    options = sf_mining_options_default();
    options.delays = &delay;
    options.delay_count = 1;
    options.threshold = 49;
    options.max_size = 3;
    options.device = device;
    sf_mine_input input = {.spikes = sf_history_view(&history, first),
                           .spike_count = (size_t)(last - first),
                           .units = &stream.units,
                           .duration_ns = WINDOW_HOPS * HOP_NS,
                           .resident = resident,
                           .unit_spikes = unit_spikes};
    sf_mine_result *result = NULL;
    double levels[3] = {0};
    for (int run = 0; run < RUNS; run++) {
        double begin = sf_clock_seconds();
        if (resident != NULL && sf_resident_hold(resident, &history, first, last, error) != SF_OK)
            return SF_UNAVAILABLE;
        sf_mine_result_free(result);
        int status = sf_mine_spikes(&result, &input, &options, NULL, error);
        if (status != SF_OK) return status;
        times[run] = sf_clock_seconds() - begin;
    }
    for (uint32_t i = 0; i < 3 && i < result->level_count; i++)
        levels[i] = result->levels[i].seconds * 1e3;
    printf("discovery, %-28s %8.2f ms; last: layout %.2f, pairs %.2f, size 3 %.2f ms; %zu episodes on %s, "
           "device %" PRIu64 " MiB\n",
           what, median(), levels[0], levels[1], levels[2], result->count, result->ran.device,
           result->ran.memory >> 20);
    sf_mine_result_free(result);
    return SF_OK;
}

/* A hop is copied while nothing else goes on: what the window thread pays for it. */
static int append_hops(sf_resident *resident, sf_error *error)
{
    sf_history view = history;
    view.begin = 0;
    view.end = position_of(WINDOW_HOPS);
    int status = sf_resident_hold(resident, &view, 0, view.end, error);
    for (int run = 0; run < RUNS && status == SF_OK; run++) {
        view.end = position_of((uint32_t)(WINDOW_HOPS + run + 1));
        double begin = sf_clock_seconds();
        status = sf_resident_append(resident, &view, error);
        times[run] = sf_clock_seconds() - begin;
    }
    printf("copying a hop, on the window thread     %8.3f ms\n", median());
    for (int run = 0; run < RUNS && status == SF_OK; run++) {
        double begin = sf_clock_seconds();
        status = sf_resident_hold(resident, &view, position_of(RUNS), view.end, error);
        times[run] = sf_clock_seconds() - begin;
    }
    printf("holding a window, on the window thread  %8.3f ms\n", median());
    return status;
}

static int run(const char *name, sf_error *error)
{
    sf_device *device = NULL;
    sf_resident *resident = NULL;
    int status = sf_device_find(&device, name, error);
    if (status == SF_OK) status = fill(error);
    first = position_of(HOPS - WINDOW_HOPS);
    count_units(history.end);
    if (status == SF_OK) status = discover("cpu", NULL, history.end, "cpu", error);
    if (status == SF_OK && device != NULL)
        status = discover(name, NULL, history.end, "window copied and laid out", error);
    if (status == SF_OK && device != NULL) status = sf_resident_open(&resident, device, error);
    if (status == SF_OK && device != NULL)
        status = discover(name, resident, history.end, "window on the device", error);
    sf_resident_close(resident);
    resident = NULL;
    if (status == SF_OK && device != NULL) status = sf_resident_open(&resident, device, error);
    if (status == SF_OK && device != NULL) status = append_hops(resident, error);
    sf_resident_close(resident);
    return status;
}

int main(int argc, char **argv)
{
    sf_error error;
    if (run(argc > 1 ? argv[1] : "cpu", &error) == SF_OK) return 0;
    fprintf(stderr, "bench_live_device: %s\n", error.text);
    return 1;
}
