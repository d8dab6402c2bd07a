/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/random_pairs.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"

/* A stream of random numbers that no surrogate or simulation uses. */
#define DRAWS (UINT64_C(3) << 62)

/* Units up to an eighth of all units away in the order of rates, and at least NEAREST away, count as equally
 * fast. */
#define NEAREST 3
#define TRIES 8

double sf_random_pair_pays(double p)
{
    return p <= 0.1 || p > 0.9 ? 1 : p <= 0.5 ? 2 : 0;
}

void sf_random_pairs_take(sf_random_pairs *pairs, double paid, size_t count)
{
    if (count == 0) return;
    pairs->alarmed -= pairs->alarmed > 0;
    sf_evidence_stake(&pairs->evidence, paid / (double)count);
    if (sf_evidence_of(&pairs->evidence) >= SF_RANDOM_PAIRS_ALARM)
        *pairs = (sf_random_pairs){.alarmed = SF_RANDOM_PAIRS_ALARM_LASTS};
}

/* ---- pairs of like rates ---- */

int sf_rates_rank(sf_rates *rates, const uint32_t *counts, size_t count, sf_error *error)
{
    sf_rank *ranked = sf_resize(NULL, count, sizeof *ranked);
    if (rates->order == NULL) rates->order = sf_resize(NULL, count, sizeof *rates->order);
    if (rates->place == NULL) rates->place = sf_resize(NULL, count, sizeof *rates->place);
    if (ranked == NULL || rates->order == NULL || rates->place == NULL) {
        sf_free(ranked);
        return sf_fail_memory(error);
    }
    for (size_t u = 0; u < count; u++)
        ranked[u] = (sf_rank){counts[u], u};
    sf_ranks_sort(ranked, count);
    for (size_t i = 0; i < count; i++) {
        rates->order[i] = (uint32_t)ranked[i].index;
        rates->place[ranked[i].index] = (uint32_t)i;
    }
    rates->count = count;
    sf_free(ranked);
    return SF_OK;
}

void sf_rates_free(sf_rates *rates)
{
    sf_free(rates->order);
    sf_free(rates->place);
    *rates = (sf_rates){0};
}

static uint32_t draw_like(const sf_rates *rates, uint32_t unit, sf_random *random)
{
    size_t reach = rates->count / 8 > NEAREST ? rates->count / 8 : NEAREST, place = rates->place[unit],
           low = place > reach ? place - reach : 0,
           high = place + reach < rates->count ? place + reach : rates->count - 1;
    return rates->order[low + sf_random_below(random, high - low + 1)];
}

static sf_random start(uint64_t seed, uint64_t stretch, uint64_t index, uint64_t purpose)
{
    return sf_random_start(seed << 32 | (uint32_t)stretch, DRAWS | purpose << 32 | index);
}

size_t sf_random_pair_choose(size_t pairs, uint64_t seed, uint64_t stretch, uint64_t index)
{
    sf_random random = start(seed, stretch, index, 0);
    return (size_t)sf_random_below(&random, pairs);
}

bool sf_random_pair_draw(sf_episode *control, const sf_episode *like, const sf_rates *rates, uint64_t seed,
                         uint64_t stretch, uint64_t index)
{
    if (rates->count < SF_RANDOM_PAIRS_LEAST_UNITS) return false;
    sf_random random = start(seed, stretch, index, 1);
    uint32_t from = like->units[0], to = like->units[1];
    for (int i = 0; i < TRIES; i++) {
        uint32_t a = draw_like(rates, from, &random), b = draw_like(rates, to, &random);
        if (a == b || (a == from && b == to) || (a == to && b == from)) continue;
        *control = (sf_episode){.size = 2, .units = {a, b}, .delays = {like->delays[0]}};
        return true;
    }
    return false;
}
