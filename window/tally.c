/* SPDX-License-Identifier: Apache-2.0 */
#include "window/tally.h"

#include "core/memory.h"

#define LEAST_CAPACITY 16

void sf_tally_free(sf_tally *tally)
{
    sf_free(tally->narrow);
    sf_free(tally->wide);
    sf_free(tally->slots);
    *tally = (sf_tally){0};
}

/* The slot of a unit, or the free one that it would take: there always is a free one. */
static sf_tally_slot *find_slot(const sf_tally *tally, uint32_t unit)
{
    uint32_t mask = tally->capacity - 1, hash = unit * UINT32_C(2654435769);
    for (uint32_t i = (hash ^ hash >> 16) & mask;; i = (i + 1) & mask) {
        sf_tally_slot *slot = &tally->slots[i];
        if (slot->key == 0 || slot->key == unit + 1) return slot;
    }
}

static uint32_t count_live(const sf_tally *tally)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < tally->capacity; i++)
        live += tally->slots[i].count > 0;
    return live;
}

static bool has_array(const sf_tally *tally)
{
    return tally->narrow != NULL || tally->wide != NULL;
}

/* From the hash table to an array. */
static int make_array(sf_tally *tally, size_t unit_count)
{
    sf_tally made = {.is_wide = tally->is_wide};
    if (made.is_wide)
        made.wide = sf_alloc(unit_count, sizeof *made.wide);
    else
        made.narrow = sf_alloc(unit_count, sizeof *made.narrow);
    if (!has_array(&made)) return -1;
    for (uint32_t i = 0; i < tally->capacity; i++) {
        const sf_tally_slot *slot = &tally->slots[i];
        if (slot->key != 0 && made.is_wide)
            made.wide[slot->key - 1] = slot->count;
        else if (slot->key != 0)
            made.narrow[slot->key - 1] = (uint16_t)slot->count;
    }
    sf_tally_free(tally);
    *tally = made;
    return 0;
}

int sf_tally_widen(sf_tally *tally, size_t unit_count)
{
    if (tally->narrow != NULL) {
        tally->wide = sf_alloc(unit_count, sizeof *tally->wide);
        if (tally->wide == NULL) return -1;
        for (size_t unit = 0; unit < unit_count; unit++)
            tally->wide[unit] = tally->narrow[unit];
        sf_free(tally->narrow);
        tally->narrow = NULL;
    }
    tally->is_wide = true;
    return 0;
}

/* Room for twice the counts above zero; slots of those that are zero again become free. */
static int make_room(sf_tally *tally, size_t unit_count)
{
    sf_tally grown = {.capacity = LEAST_CAPACITY, .is_wide = tally->is_wide};
    size_t array = unit_count * (tally->is_wide ? sizeof *tally->wide : sizeof *tally->narrow);
    uint32_t live = count_live(tally);
    while (grown.capacity / 2 <= live)
        grown.capacity *= 2;
    if (grown.capacity * sizeof *grown.slots >= array) return make_array(tally, unit_count);
    grown.slots = sf_alloc(grown.capacity, sizeof *grown.slots);
    if (grown.slots == NULL) return -1;
    for (uint32_t i = 0; i < tally->capacity; i++)
        if (tally->slots[i].count > 0) *find_slot(&grown, tally->slots[i].key - 1) = tally->slots[i];
    grown.used = live;
    sf_tally_free(tally);
    *tally = grown;
    return 0;
}

/* As far as the hash table goes: *added may be less than `count` once there is an array. */
static int add_to_slots(sf_tally *tally, const uint32_t *units, size_t count, size_t unit_count,
                        size_t *added)
{
    for (*added = 0; *added < count && !has_array(tally); ++*added) {
        if (tally->used >= tally->capacity / 4 * 3 && make_room(tally, unit_count) != 0) return -1;
        if (has_array(tally)) break;
        sf_tally_slot *slot = find_slot(tally, units[*added]);
        tally->used += slot->key == 0;
        slot->key = units[*added] + 1;
        slot->count++;
    }
    return 0;
}

int sf_tally_add(sf_tally *tally, const uint32_t *units, size_t count, size_t unit_count)
{
    size_t i;
    if (add_to_slots(tally, units, count, unit_count, &i) != 0) return -1;
    if (tally->narrow != NULL)
        for (; i < count; i++)
            tally->narrow[units[i]]++;
    else
        for (; i < count; i++)
            tally->wide[units[i]]++;
    return 0;
}

void sf_tally_subtract(sf_tally *tally, const uint32_t *units, size_t count)
{
    if (tally->narrow != NULL)
        for (size_t i = 0; i < count; i++)
            tally->narrow[units[i]]--;
    else if (tally->wide != NULL)
        for (size_t i = 0; i < count; i++)
            tally->wide[units[i]]--;
    else
        for (size_t i = 0; i < count; i++)
            find_slot(tally, units[i])->count--;
}

#define BLOCK                                                                                                \
    64 /* counts that are looked at together: few of them reach a threshold that is worth having             \
        */

/* Written out for either width, so that a block takes a few instructions. */
#define REACHING(name, type)                                                                                 \
    static size_t name(const type *counts, size_t unit_count, uint32_t least, sf_tally_entry *entries)       \
    {                                                                                                        \
        size_t found = 0;                                                                                    \
        for (size_t first = 0; first < unit_count; first += BLOCK) {                                         \
            size_t last = first + BLOCK < unit_count ? first + BLOCK : unit_count;                           \
            type most = 0;                                                                                   \
            for (size_t unit = first; unit < last; unit++)                                                   \
                most = counts[unit] > most ? counts[unit] : most;                                            \
            for (size_t unit = first; most >= least && unit < last; unit++)                                  \
                if (counts[unit] >= least)                                                                   \
                    entries[found++] = (sf_tally_entry){(uint32_t)unit, counts[unit]};                       \
        }                                                                                                    \
        return found;                                                                                        \
    }

REACHING(narrow_reaching, uint16_t)
REACHING(wide_reaching, uint32_t)

size_t sf_tally_reaching(const sf_tally *tally, size_t unit_count, uint32_t least, sf_tally_entry *entries)
{
    if (tally->narrow != NULL) return narrow_reaching(tally->narrow, unit_count, least, entries);
    if (tally->wide != NULL) return wide_reaching(tally->wide, unit_count, least, entries);
    size_t found = 0;
    for (uint32_t i = 0; i < tally->capacity; i++)
        if (tally->slots[i].count >= least)
            entries[found++] = (sf_tally_entry){tally->slots[i].key - 1, tally->slots[i].count};
    return found;
}
