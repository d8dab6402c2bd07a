/* SPDX-License-Identifier: Apache-2.0 */
/* What network bursts cost on the watch path: ISI_N of Poisson spikes, with bursts and without, a second of
 * the stream at a time. Usage: bench_bursts [units [spikes a second [seconds]]] */
#include "mine/isi_n.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"

#include <stdio.h>
#include <stdlib.h>

static double most_ms, sum_ms;

/* A second: `burst` of a hundred parts of its spikes come in its first tenth. */
static uint64_t take_second(sf_isi_n *bursts, sf_random *random, size_t units, size_t spikes, int64_t second,
                            unsigned burst)
{
    uint64_t ended = 0;
    size_t early = spikes * burst / 100;
    int64_t now_ns = second * SF_SECOND, step_ns = SF_SECOND / 10 / (int64_t)(early > 0 ? early : 1);
    uint32_t *of = sf_alloc(spikes, sizeof *of);
    for (size_t i = 0; i < spikes && of != NULL; i++)
        of[i] = (uint32_t)sf_random_below(random, units);
    int64_t began_ns = sf_clock_monotonic_ns();
    for (size_t i = 0; i < spikes && of != NULL; i++) {
        if (i == early) step_ns = (SF_SECOND - (now_ns - second * SF_SECOND)) / (int64_t)(spikes - early + 1);
        now_ns += step_ns;
        ended += (sf_isi_n_reach(bursts, now_ns) & SF_BURST_ENDED) != 0;
        ended += (sf_isi_n_take(bursts, now_ns, of[i]) & SF_BURST_ENDED) != 0;
    }
    double took_ms = (double)(sf_clock_monotonic_ns() - began_ns) * 1e-6;
    most_ms = took_ms > most_ms ? took_ms : most_ms;
    sum_ms += took_ms;
    sf_free(of);
    return ended;
}

int main(int argc, char **argv)
{
    size_t units = argc > 1 ? (size_t)atol(argv[1]) : 4096,
           spikes = argc > 2 ? (size_t)atol(argv[2]) : 100000;
    int64_t seconds = argc > 3 ? atol(argv[3]) : 60;
    for (unsigned burst = 0; burst <= 50; burst += 50) {
        sf_random random = sf_random_start(1, burst);
        sf_isi_n bursts;
        uint64_t ended = 0;
        most_ms = sum_ms = 0;
        if (sf_isi_n_open(&bursts, 1000, 5 * SF_MILLISECOND, units, NULL) != SF_OK) return 1;
        for (int64_t second = 0; second < seconds; second++)
            ended += take_second(&bursts, &random, units, spikes, second, burst);
        printf("{\"units\":%zu,\"spikes_per_s\":%zu,\"share_in_bursts\":%g,\"bursts\":%llu,\"ms_per_s\":%.3g,"
               "\"most_ms\":%.3g,\"ns_per_spike\":%.3g}\n",
               units, spikes, burst / 100.0, (unsigned long long)ended, sum_ms / (double)seconds, most_ms,
               sum_ms * 1e6 / (double)seconds / (double)spikes);
        sf_isi_n_close(&bursts);
    }
    return 0;
}
