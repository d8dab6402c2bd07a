/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to compare all ordered pairs of units by each method of drive: units that fire
 * independently at one rate, delays of 1 to 15 ms.
 *
 *     bench_drive [UNITS [RATE [SECONDS [THREADS]]]]
 *
 * By default 1000 5 3600 0 (all cores). Prints seconds of the wall clock and of all cores, binning apart.
 */
#include "analysis/drive.h"
#include "core/clock.h"
#include "core/random.h"
#include "core/text.h"
#include "core/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double of_all_cores(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* By time: gaps of the whole array are exponential. */
static size_t fire(sf_spike *spikes, size_t most, uint64_t units, double array_hz, double seconds)
{
    sf_random random = sf_random_start(1, 0);
    size_t count = 0;
    for (double at_s = 0; count < most; count++) {
        at_s -= log(1 - (double)(sf_random_bits(&random) >> 11) / 9007199254740992.0) / array_hz;
        if (at_s >= seconds) break;
        spikes[count] =
            (sf_spike){.time_ns = (int64_t)(at_s * 1e9), .unit = (uint32_t)(sf_random_bits(&random) % units)};
    }
    return count;
}

static int compare(const sf_binned *trains, unsigned threads)
{
    static const char *const names[SF_DRIVE_METHODS] = {"regression", "excess", "tspe", "transfer-entropy",
                                                        "directed-sttc"};
    for (int method = 0; method < SF_DRIVE_METHODS; method++) {
        const sf_drive_job job = {.method = (sf_drive_method)method,
                                  .trains = trains,
                                  .first_lag = 2,
                                  .last_lag = 15,
                                  .threads = threads};
        sf_drive_pairs pairs;
        double began = wall(), used = of_all_cores();
        if (sf_drive_pairs_open(&pairs, &job, NULL) != SF_OK) return 70;
        printf("%-18s %8.2f s, %8.2f core-seconds\n", names[method], wall() - began, of_all_cores() - used);
        fflush(stdout);
        sf_drive_pairs_close(&pairs);
    }
    return 0;
}

int main(int count, char **arguments)
{
    uint64_t numbers[] = {1000, 5, 3600, 0};
    bool right = count <= 5;
    for (int i = 1; right && i < count; i++)
        right = sf_parse_uint(arguments[i], 1000000, &numbers[i - 1]);
    if (!right || numbers[0] == 0 || numbers[1] == 0 || numbers[2] == 0) {
        fprintf(stderr, "expected [UNITS [RATE [SECONDS [THREADS]]]]\n");
        return 64;
    }
    unsigned threads = numbers[3] > 0 ? (unsigned)numbers[3] : sf_thread_cores();
    size_t most = (size_t)((double)(numbers[0] * numbers[1] * numbers[2]) * 1.1) + 100;
    sf_spike *spikes = malloc(most * sizeof *spikes);
    if (spikes == NULL) return 71;
    size_t fired = fire(spikes, most, numbers[0], (double)(numbers[0] * numbers[1]), (double)numbers[2]);
    const sf_span whole = {0, (int64_t)numbers[2] * SF_SECOND};
    sf_binned trains;
    double began = wall();
    int status = sf_binned_open(&trains, spikes, fired, numbers[0], &whole, 1, NULL);
    printf("%" PRIu64 " units, %zu spikes, %u threads; binned in %.2f s\n", numbers[0], fired, threads,
           wall() - began);
    free(spikes);
    if (status != SF_OK) return 65;
    status = compare(&trains, threads);
    sf_binned_close(&trains);
    return status;
}
