/* SPDX-License-Identifier: Apache-2.0 */
/* Nanoseconds per spike for ten watched episodes, on random streams of 60 units at 20 Hz and in bursts. */
#include "core/clock.h"
#include "core/memory.h"
#include "core/recording.h"
#include "window/watch.h"

#include <Random123/philox.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define UNITS 60
#define WATCHED 10
#define SPIKES 2000000

static uint32_t draw(uint32_t index, uint32_t what)
{
    philox4x32_ctr_t counter = {{index, what, 0, 0}};
    philox4x32_key_t key = {{1, 0}};
    return philox4x32(counter, key).v[0];
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* rate_hz over all units; all of them equally often. */
static void make_stream(sf_spike *spikes, double rate_hz)
{
    double step = 2e9 / rate_hz, time = 0;
    for (uint32_t i = 0; i < SPIKES; i++) {
        time += step * draw(i, 0) / 4294967296.0;
        spikes[i] = (sf_spike){.time_ns = (int64_t)time, .unit = draw(i, 1) % UNITS};
    }
}

static int measure(const char *what, const sf_episode *episodes, double rate_hz, sf_spike *spikes,
                   int64_t *each)
{
    sf_watch *watch;
    sf_error error;
    const sf_completion *completions;
    uint64_t completed = 0;
    make_stream(spikes, rate_hz);
    if (sf_spikes_sort(spikes, SPIKES, &error) != SF_OK ||
        sf_watch_open(&watch, episodes, WATCHED, UNITS, 0, &error) != SF_OK) {
        fprintf(stderr, "bench_watch: %s\n", error.text);
        return 1;
    }
    double begin = sf_clock_seconds();
    for (size_t i = 0; i < SPIKES; i++)
        completed += sf_watch_advance(watch, &spikes[i], &completions);
    double mean = (sf_clock_seconds() - begin) * 1e9 / SPIKES;
    for (size_t i = 0; i < SPIKES; i++) { /* again, one by one: the clock's own cost is in these */
        spikes[i].time_ns += spikes[SPIKES - 1].time_ns + SF_SECOND;
        int64_t start = sf_clock_monotonic_ns();
        sf_watch_advance(watch, &spikes[i], &completions);
        each[i] = sf_clock_monotonic_ns() - start;
    }
    qsort(each, SPIKES, sizeof *each, compare);
    printf("%-28s %6.1f ns per spike; with the clock: median %" PRId64 ", 99.9 %% %" PRId64 ", worst %" PRId64
           " ns; %" PRIu64 " completions, %" PRIu64 " overflows\n",
           what, mean, each[SPIKES / 2], each[SPIKES - SPIKES / 1000], each[SPIKES - 1], completed,
           sf_watch_overflows(watch));
    sf_watch_close(watch);
    return 0;
}

int main(void)
{
    sf_spike *spikes = sf_alloc(SPIKES, sizeof *spikes);
    int64_t *each = sf_alloc(SPIKES, sizeof *each);
    sf_episode short_delays[WATCHED], long_delays[WATCHED];
    for (uint32_t e = 0; e < WATCHED; e++) {
        short_delays[e] = (sf_episode){.size = 4, .units = {e, e + 1, e + 2, e + 3}};
        long_delays[e] = short_delays[e];
        for (uint32_t n = 0; n < 3; n++) {
            short_delays[e].delays[n] = (sf_delay){0, 5 * SF_MILLISECOND};
            long_delays[e].delays[n] = (sf_delay){50 * SF_MILLISECOND, 100 * SF_MILLISECOND};
        }
    }
    int failed = spikes == NULL || each == NULL ||
                 measure("20 Hz a unit, (0,5] ms", short_delays, 20.0 * UNITS, spikes, each) ||
                 measure("20 Hz a unit, (50,100] ms", long_delays, 20.0 * UNITS, spikes, each) ||
                 measure("1500 Hz a unit, (50,100] ms", long_delays, 1500.0 * UNITS, spikes, each);
    sf_free(spikes);
    sf_free(each);
    return failed;
}
