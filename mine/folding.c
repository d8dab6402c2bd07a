/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/folding.h"

#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

#include <math.h>
#include <string.h>

/* The episode without its first (from = 1) or its last (from = 0) unit. */
static sf_episode part_of(const sf_episode *episode, uint32_t from)
{
    sf_episode part = {.size = episode->size - 1};
    memcpy(part.units, episode->units + from, part.size * sizeof *part.units);
    memcpy(part.delays, episode->delays + from, (part.size - 1) * sizeof *part.delays);
    return part;
}

static int compare_places(const void *a, const void *b, void *context)
{
    const sf_episode *episodes = context;
    return sf_episode_compare(&episodes[*(const size_t *)a], &episodes[*(const size_t *)b]);
}

/* The place of an episode in the list, by an order of places; SIZE_MAX: it is not there. */
static size_t find_episode(const sf_episode *wanted, const sf_episode *episodes, const size_t *order,
                           size_t count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int difference = sf_episode_compare(wanted, &episodes[order[middle]]);
        if (difference == 0) return order[middle];
        if (difference > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

int sf_fold_find(sf_parts *parts, const sf_episode *episodes, size_t count, sf_error *error)
{
    size_t *order = sf_resize(NULL, count, sizeof *order);
    if (order == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    sf_platform_sort(order, count, sizeof *order, compare_places, (void *)(uintptr_t)episodes);
    for (size_t i = 0; i < count; i++)
        for (uint32_t from = 0; from < 2; from++) {
            parts[i][from] = SIZE_MAX;
            if (episodes[i].size <= 2) continue;
            sf_episode part = part_of(&episodes[i], from);
            parts[i][from] = find_episode(&part, episodes, order, count);
        }
    sf_free(order);
    return SF_OK;
}

static bool is_significant(const double *q, size_t i)
{
    return q != NULL && q[i] <= SF_SIGNIFICANT_Q;
}

static bool accounts_for(const sf_foldable *of, size_t longer, size_t part)
{
    double count = (double)of->counts[part],
           chance = (of->expected[part] > 0 ? of->expected[part] : 0) + 2 * sqrt(count);
    return (of->told == NULL || of->told[longer]) && count - (double)of->counts[longer] <= chance &&
           (is_significant(of->q, longer) || !is_significant(of->q, part));
}

void sf_fold_by(size_t *parents, const sf_parts *parts, const sf_foldable *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        parents[i] = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        for (uint32_t from = 0; from < 2; from++) {
            size_t part = parts[i][from];
            if (part != SIZE_MAX && accounts_for(of, i, part) &&
                (parents[part] == SIZE_MAX || of->counts[parents[part]] < of->counts[i]))
                parents[part] = i;
        }
}

int sf_fold(size_t *parents, const sf_episode *episodes, const uint64_t *counts, const double *expected,
            const double *q, size_t count, sf_error *error)
{
    sf_parts *parts = sf_resize(NULL, count, sizeof *parts);
    int status = parts != NULL ? sf_fold_find(parts, episodes, count, error) : sf_fail_memory(error);
    if (status == SF_OK)
        sf_fold_by(parents, parts, &(sf_foldable){.counts = counts, .expected = expected, .q = q}, count);
    sf_free(parts);
    return status;
}

sf_chain_count sf_count_chains(const size_t *parents, const double *q, size_t count)
{
    sf_chain_count found = {0};
    for (size_t i = 0; i < count; i++) {
        found.chains += is_significant(q, i) && parents[i] == SIZE_MAX;
        found.parts += is_significant(q, i) && parents[i] != SIZE_MAX;
    }
    return found;
}
