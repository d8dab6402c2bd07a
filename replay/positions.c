/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/positions.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/electrodes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- electrodes by number ---- */

typedef struct numbered {
    int64_t number;
    const sf_unit *electrode;
} numbered;

static int by_number(const void *a, const void *b)
{
    const numbered *left = a, *right = b;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    return (left->electrode > right->electrode) - (left->electrode < right->electrode);
}

/* The number at the end of the first `end` bytes of a name; -1 if there is none. */
static int64_t number_in(const char *name, size_t end)
{
    size_t begin = end;
    while (begin > 0 && isdigit((unsigned char)name[begin - 1]))
        begin--;
    return begin < end && end - begin <= 9 ? strtoll(name + begin, NULL, 10) : -1;
}

/* ---- methods of finding a unit ---- */

typedef struct search {
    const sf_electrodes *electrodes;
    const sf_unit *units; /* that are to be found */
    numbered *channels;   /* by channel, which other programs call a contact; in a routing by electrode */
    size_t count;
} search;

static const sf_unit *find_number(const search *s, int64_t number)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->channels[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return number >= 0 && low < s->count && s->channels[low].number == number ? s->channels[low].electrode
                                                                              : NULL;
}

static const sf_unit *by_name(const search *s, const sf_unit *unit)
{
    uint32_t at = sf_units_find(&s->electrodes->units, unit->name);
    return at != SF_NO_UNIT ? &s->electrodes->units.items[at] : NULL;
}

/* The electrode of a unit sorted on it, or of its class, such as elec5:2. */
static const sf_unit *by_name_of_electrode(const search *s, const sf_unit *unit)
{
    char name[256];
    const char *colon = strrchr(unit->name, ':');
    if (colon == NULL || (size_t)(colon - unit->name) >= sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(colon - unit->name), unit->name);
    uint32_t at = sf_units_find(&s->electrodes->units, name);
    return at != SF_NO_UNIT ? &s->electrodes->units.items[at] : NULL;
}

static const sf_unit *by_electrode(const search *s, const sf_unit *unit)
{
    return find_number(s, unit->electrode);
}

static const sf_unit *by_number_in_name(const search *s, const sf_unit *unit)
{
    const char *colon = strrchr(unit->name, ':'); /* 12 for chan12:2, where 2 is the class */
    int64_t number = colon != NULL ? number_in(unit->name, (size_t)(colon - unit->name)) : -1;
    if (number < 0 && (colon == NULL || unit->electrode < 0))
        number = number_in(unit->name, strlen(unit->name));
    return find_number(s, number);
}

static const sf_unit *by_index(const search *s, const sf_unit *unit)
{
    return find_number(s, unit - s->units);
}

static const struct {
    const char *what;
    const sf_unit *(*find)(const search *s, const sf_unit *unit);
} ways[] = {
    {"name", by_name},
    {"the name of their electrode", by_name_of_electrode},
    {"electrode number", by_electrode},
    {"the number in the name", by_number_in_name},
    {"index", by_index}, /* only if the file says that it has indices */
};

enum { BY_INDEX = 4 };

static size_t count_found(const search *s, const sf_units *units, size_t way)
{
    size_t found = 0;
    for (size_t i = 0; i < units->count; i++)
        found += ways[way].find(s, &units->items[i]) != NULL;
    return found;
}

static int place(const search *s, sf_recording *recording, const char *path, sf_error *error)
{
    sf_units *units = &recording->units;
    bool has_indices = s->electrodes->has_indices;
    size_t way = has_indices ? BY_INDEX : 0, end = way + (has_indices ? 1 : BY_INDEX), found = 0;
    while (way < end && (found = count_found(s, units, way)) == 0)
        way++;
    if (way == end)
        return sf_fail(
            error, SF_DATA, path,
            "has %zu electrodes and none of the %zu units: neither names such as %s are among the units' "
            "(%s) nor channels such as %d among the numbers of their electrodes",
            s->electrodes->units.count, units->count, s->electrodes->units.items[0].name,
            units->count > 0 ? units->items[0].name : "none", (int)s->channels[0].number);
    for (size_t i = 0; i < units->count; i++) {
        const sf_unit *electrode = ways[way].find(s, &units->items[i]);
        units->items[i].x_um = electrode != NULL ? electrode->x_um : NAN;
        units->items[i].y_um = electrode != NULL ? electrode->y_um : NAN;
    }
    char told[640], more[120] = "";
    if (s->electrodes->is_map)
        snprintf(more, sizeof more, "; electrodes are taken to be 400 um apart, as maps do not say");
    if (s->electrodes->is_table)
        snprintf(more, sizeof more, ", in um%s",
                 s->electrodes->names_length ? "" : ", as no unit of length is named");
    if (s->electrodes->shared > 0)
        snprintf(more, sizeof more,
                 "; %zu of its routing left out, as their channel or electrode has another one",
                 s->electrodes->shared);
    snprintf(told, sizeof told, "%zu of %zu units by %s, of %.400s%s", found, units->count, ways[way].what,
             path, more);
    return sf_recording_set_metadata(recording, "positions", told, error);
}

int sf_positions_take(sf_recording *recording, const char *path, sf_error *error)
{
    sf_electrodes electrodes;
    int status = sf_electrodes_read(&electrodes, path, error);
    if (status != SF_OK) return status;
    search s = {.electrodes = &electrodes, .units = recording->units.items, .count = electrodes.units.count};
    s.channels = sf_alloc(s.count, sizeof *s.channels);
    if (s.channels == NULL) status = sf_fail_memory(error);
    for (size_t i = 0; s.channels != NULL && i < s.count; i++)
        s.channels[i] =
            (numbered){electrodes.is_routing ? electrodes.units.items[i].electrode : electrodes.channels[i],
                       &electrodes.units.items[i]};
    if (status == SF_OK) {
        qsort(s.channels, s.count, sizeof *s.channels, by_number);
        status = place(&s, recording, path, error);
    }
    sf_free(s.channels);
    sf_electrodes_free(&electrodes);
    return status;
}
