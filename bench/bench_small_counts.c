/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is q right where few occurrences are expected? Recordings without a link are mined for episodes that count
 * 2, 3, 5, 20 or 100 and more, of up to 2, 3 and 4 units, with and without bursts that all units share; each
 * is so long that an episode of the largest size is expected half as often. Prints, for each cell, how many
 * recordings have an episode with q < 0.05: at most one in twenty should. The last two rows are very short
 * recordings of many slow units, whose longer episodes have prefixes that are frequent by chance alone.
 *
 *     bench_small_counts [RECORDINGS [SURROGATES [FIRST_SEED [DEVICE [THREADS [CELL]]]]]]
 *
 * By default 20 200 1 cpu 0 (all cores, recordings at a time) 0 (all cells).
 */
#include "bench/arguments.h"
#include "core/clock.h"
#include "mine/significance.h"
#include "replay/simulation.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const sf_delay delay = {500000, 20 * SF_MILLISECOND};
static const uint32_t counts[] = {2, 3, 5, 20, 100};
#define COUNTS (sizeof counts / sizeof *counts)
#define SIZES 3u /* 2, 3 and 4 */
#define CELLS (COUNTS * SIZES * 2 + 2)

/* Recordings of a kind, and what their mining finds. */
typedef struct cell {
    uint32_t count, size, units;
    double rate_hz, seconds;
    bool bursts;
    atomic_uint recordings, false_alarms, not_tested;
} cell;

typedef struct plan {
    bench_arguments arguments;
    sf_significance_options options;
    cell *cells;
    size_t cell_count;
} plan;

/* Rates so high that long episodes are as frequent as asked in minutes, and few units where that takes many
 * spikes. */
static void fill_cell(cell *c, size_t index)
{
    if (index >= COUNTS * SIZES * 2) {
        *c = (cell){.count = 2, .size = index % 2 == 0 ? 2 : 4, .units = 300, .rate_hz = 1, .seconds = 3};
        return;
    }
    c->bursts = index % 2 == 1;
    c->size = 2 + (uint32_t)(index / 2 % SIZES);
    c->count = counts[index / 2 / SIZES];
    static const double rates[] = {3, 8, 14};
    static const uint32_t units[] = {40, 16, 10};
    c->units = units[c->size - 2];
    c->rate_hz = rates[c->size - 2];
    double width_s = (double)(delay.high_ns - delay.low_ns) * 1e-9;
    c->seconds = 0.5 * c->count / (c->rate_hz * pow(c->rate_hz * width_s, c->size - 1));
    c->seconds = ceil(fmax(c->seconds, 4));
}

static int simulate(sf_recording *recording, const cell *c, uint64_t seed)
{
    sf_simulation_settings made;
    sf_simulation_settings_default(&made);
    made.seed = seed;
    made.unit_count = c->units;
    made.rate_hz = c->bursts ? c->rate_hz / 2 : c->rate_hz;
    made.duration_ns = (int64_t)c->seconds * SF_SECOND;
    made.burst_rate_hz = c->bursts ? 0.25 : 0;
    made.burst_sigma_ns = 100 * SF_MILLISECOND;
    made.burst_spikes = c->rate_hz * 2;
    return sf_simulate(recording, NULL, &made, NULL, NULL);
}

static int look_at(cell *c, const sf_recording *recording, const plan *p, uint64_t seed)
{
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_mining_options options;
    options = sf_mining_options_default();
    options.delays = &delay;
    options.delay_count = 1;
    options.max_size = c->size;
    options.threshold = c->count;
    options.threads = 1;
    options.device = "cpu";
    sf_significance_options how = p->options;
    how.seed = seed;
    sf_mine_result *result;
    sf_significance told;
    sf_error error;
    int status = sf_mine_spikes(&result, &input, &options, NULL, &error);
    if (status == SF_OK) status = sf_significance_test(&told, result, &input, &options, &how, NULL, &error);
    if (status != SF_OK) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, error.text);
        return status;
    }
    bool alarm = false;
    for (size_t i = 0; i < result->count; i++) {
        alarm = alarm || result->items[i].q < 0.05;
    }
    c->recordings++;
    c->false_alarms += alarm;
    c->not_tested += told.not_tested != SF_TESTABLE;
    sf_mine_result_free(result);
    return SF_OK;
}

static int do_recording(void *context, unsigned worker, size_t item)
{
    (void)worker;
    plan *p = context;
    cell *c = &p->cells[item / p->arguments.recordings];
    uint64_t seed = p->arguments.first_seed + item;
    sf_recording recording;
    int status = simulate(&recording, c, seed);
    if (status != SF_OK) return status;
    status = look_at(c, &recording, p, seed);
    sf_recording_clear(&recording);
    return status;
}

static void print_cell(const cell *c)
{
    printf("%6u %5u %6u %7.3g %8.0f  %-6s %10u %13u %10u\n", c->count, c->size, c->units, c->rate_hz,
           c->seconds, c->bursts ? "bursts" : "", c->recordings, c->false_alarms, c->not_tested);
}

int main(int argc, char **argv)
{
    plan p = {0};
    if (bench_read_arguments(&p.arguments, argc, argv, CELLS) != SF_OK) return EXIT_FAILURE;
    p.options = bench_significance(&p.arguments);
    size_t only = (size_t)p.arguments.cell;
    cell cells[CELLS] = {0};
    p.cells = only > 0 ? &cells[only - 1] : cells;
    p.cell_count = only > 0 ? 1 : CELLS;
    for (size_t i = 0; i < CELLS; i++)
        fill_cell(&cells[i], i);
    if (sf_parallel_for((unsigned)p.arguments.threads, p.cell_count * p.arguments.recordings, do_recording,
                        &p) != 0)
        return EXIT_FAILURE;
    unsigned alarms = 0, recordings = 0;
    printf("%6s %5s %6s %7s %8s  %-6s %10s %13s  %9s\n", "count", "size", "units", "Hz", "s", "",
           "recordings", "with q < 0.05", "no verdict");
    for (size_t i = 0; i < p.cell_count; i++) {
        print_cell(&p.cells[i]);
        alarms += p.cells[i].false_alarms;
        recordings += p.cells[i].recordings - p.cells[i].not_tested;
    }
    printf("together: %u of %u recordings with a verdict have q < 0.05 (%.1f %%)\n", alarms, recordings,
           recordings > 0 ? 100.0 * alarms / recordings : 0);
    return EXIT_SUCCESS;
}
