/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/branching_network.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

#define WARM_UP 2000 /* bins before the first that counts */

double oracle_poisson(sf_random *random, double mean)
{
    double count = 0, sum = 0;
    if (mean > 30) return fmax(0, floor(mean + sqrt(mean) * sf_random_normal(random) + 0.5));
    while ((sum += sf_random_exponential(random)) < mean)
        count++;
    return count;
}

double oracle_binomial(sf_random *random, double count, double p)
{
    double taken = 0;
    for (double i = 0; i < count; i++)
        taken += sf_random_uniform(random) < p;
    return taken;
}

sf_population oracle_branching_draw(const oracle_branching *n, uint64_t seed)
{
    sf_random random = sf_random_start(seed, 77);
    double active = n->rate;
    sf_population p = {.bin_ns = 4000000, .interval_count = 1, .bins = n->bins};
    p.counts = sf_alloc(n->bins, sizeof *p.counts);
    p.first = sf_alloc(2, sizeof *p.first);
    if (p.counts == NULL || p.first == NULL) exit(1);
    p.first[1] = n->bins;
    for (size_t t = 0; t < n->bins + WARM_UP; t++) {
        double at = t < WARM_UP ? 0 : (double)(t - WARM_UP);
        double drive = n->rate * (1 + n->rise * at / (double)n->bins + n->swing * cos(2 * M_PI * 0.02 * at));
        active = oracle_poisson(&random, n->m * active + (1 - n->m) * drive);
        if (t < WARM_UP) continue;
        p.counts[t - WARM_UP] = oracle_binomial(&random, active, n->seen);
        p.spikes += (uint64_t)p.counts[t - WARM_UP];
    }
    return p;
}
