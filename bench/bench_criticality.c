/* SPDX-License-Identifier: Apache-2.0 */
/* What the branching ratio and power laws may be believed for, on what is drawn with a known ratio and a
 * known exponent. Usage: bench_criticality [rounds] */
#include "analysis/criticality.h"
#include "oracle/branching_network.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the branching ratio ---- */

typedef struct network {
    const char *what;
    oracle_branching of;
} network;

enum { CAUTIONS = 7 };

static void try_network(const network *n, int rounds)
{
    double sum = 0, squares = 0, one_step = 0, width = 0;
    int known = 0, within = 0, said[CAUTIONS] = {0}, any = 0;
    for (int round = 0; round < rounds; round++) {
        sf_population p = oracle_branching_draw(&n->of, (uint64_t)round + 1);
        sf_branching found;
        const sf_branching_options how = {.lags = 500, .seed = 1};
        if (sf_branching_find(&found, &p, &how, NULL) != SF_OK) exit(1);
        one_step += found.r[0] / rounds;
        any += found.cautions != 0;
        for (int c = 0; c < CAUTIONS; c++)
            said[c] += (found.cautions >> c & 1) != 0;
        if (isfinite(found.m)) {
            known++;
            sum += found.m;
            squares += (found.m - n->of.m) * (found.m - n->of.m);
            within += found.low <= n->of.m && n->of.m <= found.high;
            width += found.high - found.low;
        }
        sf_branching_free(&found);
        sf_population_free(&p);
    }
    printf(
        "{\"what\":\"%s\",\"m\":%g,\"seen\":%g,\"bins\":%zu,\"spikes_per_bin\":%g,\"rounds\":%d,\"known\":%d,"
        "\"mean\":%.5f,\"rms_error\":%.2g,\"one_step\":%.3f,\"within\":%.3f,\"width\":%.3g,\"any_caution\":%"
        "d,"
        "\"no_memory\":%d,\"offset\":%d,\"oscillation\":%d,\"misfit\":%d,\"drift\":%d,\"long\":%d}\n",
        n->what, n->of.m, n->of.seen, n->of.bins, n->of.rate * n->of.seen, rounds, known, sum / known,
        sqrt(squares / known), one_step, (double)within / known, width / known, any, said[0], said[1],
        said[2], said[3], said[4], said[5]);
    fflush(stdout);
}

/* ---- power laws ---- */

static uint64_t draw_power(sf_random *random, double a, uint64_t xmin)
{
    double left = sf_random_uniform(random) * sf_hurwitz_zeta(a, (double)xmin);
    uint64_t x = xmin;
    while (x < 1000000 && (left -= pow((double)x, -a)) > 0)
        x++;
    return x;
}

static void try_power(double a, size_t count, bool lognormal, int rounds)
{
    uint64_t *values = sf_alloc(count, sizeof *values);
    int within = 0, ruled_out = 0, better = 0;
    double sum = 0, seconds = 0;
    for (int round = 0; round < rounds && values != NULL; round++) {
        sf_random random = sf_random_start((uint64_t)round + 1, 81);
        sf_power_fit fit;
        const sf_power_options how = {.rounds = 100, .seed = 1};
        for (size_t i = 0; i < count; i++)
            values[i] = lognormal ? 1 + (uint64_t)exp(1.5 + 0.7 * sf_random_normal(&random))
                                  : draw_power(&random, a, 1);
        int64_t began_ns = sf_clock_monotonic_ns();
        if (sf_power_fit_find(&fit, values, count, &how, NULL) != SF_OK) exit(1);
        seconds += (double)(sf_clock_monotonic_ns() - began_ns) * 1e-9 / rounds;
        sum += fit.exponent / rounds;
        within += fit.low <= a && a <= fit.high;
        ruled_out += fit.p <= 0.1;
        better += fit.lognormal.ratio < 0 && fit.lognormal.p < 0.1;
    }
    sf_free(values);
    printf("{\"what\":\"%s\",\"exponent\":%g,\"values\":%zu,\"rounds\":%d,\"mean\":%.3f,\"within\":%.2f,"
           "\"ruled_out\":%d,\"lognormal_better\":%d,\"seconds\":%.2g}\n",
           lognormal ? "lognormal" : "power law", lognormal ? NAN : a, count, rounds, sum,
           (double)within / rounds, ruled_out, better, seconds);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    static const network networks[] = {{"steady", {0.9, 100, 0.1, 150000, 0, 0}},
                                       {"steady", {0.97, 20, 0.3, 60000, 0, 0}},
                                       {"steady", {0.98, 100, 0.1, 150000, 0, 0}},
                                       {"steady", {0.98, 100, 0.02, 150000, 0, 0}},
                                       {"steady", {0.99, 100, 0.1, 150000, 0, 0}},
                                       {"steady", {0.99, 10, 1, 150000, 0, 0}},
                                       {"Poisson", {0, 3, 1, 150000, 0, 0}},
                                       {"drive rises by a third", {0.9, 100, 0.1, 150000, 0.33, 0}},
                                       {"drive swings by half at 5 Hz", {0.9, 100, 0.1, 150000, 0, 0.5}}};
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        try_network(&networks[i], rounds);
    for (size_t count = 500; count <= 20000; count *= 6)
        for (double a = 1.5; a < 3; a += 0.5)
            try_power(a, count, false, rounds);
    for (size_t count = 500; count <= 20000; count *= 6)
        try_power(NAN, count, true, rounds);
    return 0;
}
