/* SPDX-License-Identifier: Apache-2.0 */
#include "core/units.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/named.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool sf_unit_kind_of(const char *label, sf_unit_kind *kind)
{
    static const struct {
        const char *label;
        sf_unit_kind kind;
    } labels[] = {
        {"good", SF_UNIT_SORTED},           {"sorted", SF_UNIT_SORTED},
        {"single", SF_UNIT_SORTED},         {"su", SF_UNIT_SORTED},
        {"single-unit", SF_UNIT_SORTED},    {"single unit", SF_UNIT_SORTED},
        {"mua", SF_UNIT_MULTI_UNIT},        {"multi", SF_UNIT_MULTI_UNIT},
        {"multi-unit", SF_UNIT_MULTI_UNIT}, {"multi unit", SF_UNIT_MULTI_UNIT},
        {"multiunit", SF_UNIT_MULTI_UNIT},  {"noise", SF_UNIT_NOISE},
        {"artifact", SF_UNIT_NOISE},        {"artefact", SF_UNIT_NOISE},
        {"unsorted", SF_UNIT_UNKNOWN},      {"unclassified", SF_UNIT_UNKNOWN},
        {"unknown", SF_UNIT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcasecmp(label, labels[i].label) == 0) {
            *kind = labels[i].kind;
            return true;
        }
    return false;
}

static void free_unit(sf_unit *unit)
{
    sf_free((char *)unit->name);
    sf_free((char *)unit->well);
}

int sf_units_add(sf_units *units, const sf_unit *unit, sf_error *error)
{
    void *items = units->items;
    if (sf_reserve(&items, &units->capacity, units->count + 1, sizeof *units->items) != 0)
        return sf_fail_memory(error);
    units->items = items;
    char default_name[24];
    const char *name = unit->name;
    if (name == NULL || name[0] == '\0') {
        snprintf(default_name, sizeof default_name, "e%zu", units->count + 1);
        name = default_name;
    }
    sf_unit copy = *unit;
    copy.name = sf_copy_string(name);
    copy.well = unit->well != NULL ? sf_copy_string(unit->well) : NULL;
    if (copy.name == NULL || (unit->well != NULL && copy.well == NULL)) {
        free_unit(&copy);
        return sf_fail_memory(error);
    }
    units->items[units->count++] = copy;
    return SF_OK;
}

static size_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of a name, or the free slot where it belongs. */
static size_t find_slot(const sf_units *units, const char *name)
{
    size_t slot = hash_name(name) & (units->slot_count - 1);
    while (units->slots[slot] != SF_NO_UNIT && strcmp(units->items[units->slots[slot]].name, name) != 0)
        slot = (slot + 1) & (units->slot_count - 1);
    return slot;
}

/* Renames unit i, whose name unit `first` has too, to the next free copy of it; its slot. SIZE_MAX: no
 * memory. */
static size_t rename_copy(sf_units *units, size_t i, uint32_t first, uint32_t *copies)
{
    for (;;) {
        sf_text unique = {0};
        sf_text_printf(&unique, "%s_%u", units->items[first].name, 2 + copies[first]++);
        if (unique.failed) {
            sf_text_free(&unique);
            return SIZE_MAX;
        }
        size_t slot = find_slot(units, unique.data);
        if (units->slots[slot] == SF_NO_UNIT) {
            sf_free((char *)units->items[i].name);
            units->items[i].name = unique.data;
            return slot;
        }
        sf_text_free(&unique);
    }
}

int sf_units_finish(sf_units *units, sf_error *error)
{
    size_t slot_count = 8;
    while (slot_count < units->count * 2)
        slot_count *= 2;
    uint32_t *slots = sf_resize(units->slots, slot_count, sizeof *slots);
    if (slots == NULL) return sf_fail_memory(error);
    units->slots = slots;
    units->slot_count = slot_count;
    memset(slots, 0xff, slot_count * sizeof *slots);
    uint32_t *copies =
        sf_alloc(units->count, sizeof *copies); /* of each name so far: no search starts over */
    size_t slot = copies != NULL ? 0 : SIZE_MAX;
    for (size_t i = 0; slot != SIZE_MAX && i < units->count; i++) {
        slot = find_slot(units, units->items[i].name);
        if (slots[slot] != SF_NO_UNIT) slot = rename_copy(units, i, slots[slot], copies);
        if (slot != SIZE_MAX) slots[slot] = (uint32_t)i;
    }
    sf_free(copies);
    return slot != SIZE_MAX ? SF_OK : sf_fail_memory(error);
}

static int compare_names(const void *a, const void *b)
{
    return sf_text_compare(((const sf_unit *)a)->name, ((const sf_unit *)b)->name);
}

/* Names are unique: each is found where it went. */
int sf_units_sort(sf_units *units, uint32_t *places, sf_error *error)
{
    const char **names = sf_alloc(units->count, sizeof *names);
    if (names == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < units->count; i++)
        names[i] = units->items[i].name;
    if (units->count > 0) qsort(units->items, units->count, sizeof *units->items, compare_names);
    int status = sf_units_finish(units, error);
    for (size_t i = 0; status == SF_OK && i < units->count; i++)
        places[i] = sf_units_find(units, names[i]);
    sf_free(names);
    return status;
}

int sf_units_intern(sf_units *units, const char *name, uint32_t *index, sf_error *error)
{
    *index = sf_units_find(units, name);
    if (*index != SF_NO_UNIT) return SF_OK;
    sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .electrode = -1};
    int status = sf_units_add(units, &unit, error);
    if (status != SF_OK) return status;
    *index = (uint32_t)(units->count - 1);
    if (units->count * 2 > units->slot_count) return sf_units_finish(units, error);
    units->slots[find_slot(units, name)] = *index;
    return SF_OK;
}

int sf_units_copy(sf_units *to, const sf_units *from, sf_error *error)
{
    *to = (sf_units){0};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < from->count; i++)
        status = sf_units_add(to, &from->items[i], error);
    if (status == SF_OK) status = sf_units_finish(to, error);
    if (status != SF_OK) sf_units_free(to);
    return status;
}

void sf_units_free(sf_units *units)
{
    for (size_t i = 0; i < units->count; i++)
        free_unit(&units->items[i]);
    sf_free(units->items);
    sf_free(units->slots);
    *units = (sf_units){0};
}

uint32_t sf_units_find(const sf_units *units, const char *name)
{
    return units->slot_count == 0 ? SF_NO_UNIT : units->slots[find_slot(units, name)];
}

static const char *name_at(const void *units, size_t i)
{
    return ((const sf_units *)units)->items[i].name;
}

static uint32_t find_name(const void *units, const char *name)
{
    return sf_units_find(units, name);
}

int sf_units_resolve(const sf_units *units, const char *text, uint32_t *index, sf_error *error)
{
    const sf_named named = {.one = "unit",
                            .many = "units",
                            .things = units,
                            .count = units->count,
                            .name = name_at,
                            .find = find_name,
                            .list = "`synfire info`"};
    return sf_named_resolve(&named, text, index, error);
}

/* Up to this index, under the names that units without one get. */
static int learn_index(sf_units *units, uint64_t wanted, sf_error *error)
{
    const sf_unit unit = {.x_um = NAN, .y_um = NAN, .electrode = -1};
    int status = SF_OK;
    while (units->count <= wanted && status == SF_OK)
        status = sf_units_add(units, &unit, error);
    return status == SF_OK ? sf_units_finish(units, error) : status;
}

int sf_units_learn(sf_units *units, const char *text, uint32_t *index, sf_error *error)
{
    uint64_t wanted;
    if (text[0] != '#' || !sf_parse_uint(text + 1, SF_UNITS_LEARNT, &wanted))
        return sf_units_intern(units, text, index, error);
    *index = (uint32_t)wanted;
    return wanted < units->count ? SF_OK : learn_index(units, wanted, error);
}

bool sf_units_have_geometry(const sf_units *units)
{
    const sf_unit *first = NULL;
    for (size_t i = 0; i < units->count; i++) {
        const sf_unit *unit = &units->items[i];
        if (!isfinite(unit->x_um) || !isfinite(unit->y_um)) continue;
        if (first == NULL)
            first = unit;
        else if (unit->x_um != first->x_um || unit->y_um != first->y_um)
            return true;
    }
    return false;
}

bool sf_units_share_well(const sf_units *units, uint32_t one, uint32_t other)
{
    const char *a = units->items[one].well, *b = units->items[other].well;
    return a == NULL || b == NULL || strcmp(a, b) == 0;
}

bool sf_units_share_electrode(const sf_units *units, uint32_t one, uint32_t other)
{
    const sf_unit *a = &units->items[one], *b = &units->items[other];
    if (one == other || !sf_units_share_well(units, one, other)) return false;
    if (a->electrode >= 0 && b->electrode >= 0) return a->electrode == b->electrode;
    return a->x_um == b->x_um && a->y_um == b->y_um && sf_units_have_geometry(units); /* NaN equals nothing */
}
