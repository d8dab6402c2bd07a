/* SPDX-License-Identifier: Apache-2.0 */
#include "window/tally.h"

#include "core/memory.h"

#include <stdbool.h>

#define LEAST_CAPACITY 16

void sf_tally_free(sf_tally *tally)
{
    sf_free(tally->dense);
    sf_free(tally->slots);
    *tally = (sf_tally){0};
}

/* The slot of a unit, or the free one that it would take: there always is a free one. */
static sf_tally_slot *find_slot(const sf_tally *tally, uint32_t unit)
{
    uint32_t mask = tally->capacity - 1, hash = unit * UINT32_C(2654435769);
    for (uint32_t i = (hash ^ hash >> 16) & mask;; i = (i + 1) & mask) {
        sf_tally_slot *slot = &tally->slots[i];
        if (slot->key == 0 || slot->key == unit + 1)
            return slot;
    }
}

static uint32_t count_live(const sf_tally *tally)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < tally->capacity; i++)
        live += tally->slots[i].count > 0;
    return live;
}

static int make_dense(sf_tally *tally, size_t unit_count)
{
    uint32_t *dense = sf_alloc(unit_count, sizeof *dense);
    if (dense == NULL)
        return -1;
    for (uint32_t i = 0; i < tally->capacity; i++)
        if (tally->slots[i].key != 0)
            dense[tally->slots[i].key - 1] = tally->slots[i].count;
    sf_tally_free(tally);
    tally->dense = dense;
    return 0;
}

/* Room for twice the counts above zero; slots of those that are zero again become free. */
static int make_room(sf_tally *tally, size_t unit_count)
{
    sf_tally grown = {.capacity = LEAST_CAPACITY};
    uint32_t live = count_live(tally);
    while (grown.capacity / 2 <= live)
        grown.capacity *= 2;
    if (grown.capacity * sizeof *grown.slots >= unit_count * sizeof *grown.dense)
        return make_dense(tally, unit_count);
    grown.slots = sf_alloc(grown.capacity, sizeof *grown.slots);
    if (grown.slots == NULL)
        return -1;
    for (uint32_t i = 0; i < tally->capacity; i++)
        if (tally->slots[i].count > 0)
            *find_slot(&grown, tally->slots[i].key - 1) = tally->slots[i];
    grown.used = live;
    sf_tally_free(tally);
    *tally = grown;
    return 0;
}

static int add_one(sf_tally *tally, uint32_t unit, size_t unit_count)
{
    if (tally->dense == NULL && tally->used >= tally->capacity / 4 * 3 && make_room(tally, unit_count) != 0)
        return -1;
    if (tally->dense != NULL) {
        tally->dense[unit]++;
        return 0;
    }
    sf_tally_slot *slot = find_slot(tally, unit);
    tally->used += slot->key == 0;
    slot->key = unit + 1;
    slot->count++;
    return 0;
}

int sf_tally_add(sf_tally *tally, const uint32_t *units, size_t count, size_t unit_count)
{
    size_t i = 0;
    for (; i < count && tally->dense == NULL; i++)
        if (add_one(tally, units[i], unit_count) != 0)
            return -1;
    for (; i < count; i++)
        tally->dense[units[i]]++;
    return 0;
}

void sf_tally_subtract(sf_tally *tally, const uint32_t *units, size_t count)
{
    if (tally->dense != NULL)
        for (size_t i = 0; i < count; i++)
            tally->dense[units[i]]--;
    else
        for (size_t i = 0; i < count; i++)
            find_slot(tally, units[i])->count--;
}

#define BLOCK                                                                                                \
    64 /* counts that are looked at together: few of them reach a threshold that is worth having             \
        */

static bool any_reaches(const uint32_t *counts, size_t count, uint32_t least)
{
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= counts[i] >= least;
    return any != 0;
}

static size_t dense_reaching(const uint32_t *dense, size_t unit_count, uint32_t least,
                             sf_tally_entry *entries)
{
    size_t found = 0;
    for (size_t first = 0; first < unit_count; first += BLOCK) {
        size_t last = first + BLOCK < unit_count ? first + BLOCK : unit_count;
        if (!any_reaches(dense + first, last - first, least))
            continue;
        for (size_t unit = first; unit < last; unit++)
            if (dense[unit] >= least)
                entries[found++] = (sf_tally_entry){(uint32_t)unit, dense[unit]};
    }
    return found;
}

size_t sf_tally_reaching(const sf_tally *tally, size_t unit_count, uint32_t least, sf_tally_entry *entries)
{
    if (tally->dense != NULL)
        return dense_reaching(tally->dense, unit_count, least, entries);
    size_t found = 0;
    for (uint32_t i = 0; i < tally->capacity; i++)
        if (tally->slots[i].count >= least)
            entries[found++] = (sf_tally_entry){tally->slots[i].key - 1, tally->slots[i].count};
    return found;
}
