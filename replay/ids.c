/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/ids.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

/* Of the first that is not less. */
static size_t find_place(const sf_ids *ids, int64_t id)
{
    size_t low = 0, high = ids->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int sf_ids_set(sf_ids *ids, int64_t id, uint32_t unit, sf_error *error)
{
    size_t at = find_place(ids, id);
    if (at < ids->count && ids->items[at].id == id) return SF_OK;
    if (ids->count == SF_MOST_IDS)
        return sf_fail(error, SF_DATA, NULL, "damaged: it numbers more than %d units", SF_MOST_IDS);
    if (sf_reserve(&ids->items, &ids->capacity, ids->count + 1, sizeof *ids->items) != 0)
        return sf_fail_memory(error);
    memmove(&ids->items[at + 1], &ids->items[at], (ids->count - at) * sizeof *ids->items);
    ids->items[at] = (sf_id){.id = id, .unit = unit};
    ids->count++;
    return SF_OK;
}

uint32_t sf_ids_find(const sf_ids *ids, int64_t id)
{
    size_t at = find_place(ids, id);
    return at < ids->count && ids->items[at].id == id ? ids->items[at].unit : SF_NO_UNIT;
}

int sf_ids_of(sf_ids *ids, const int64_t *values, size_t count, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < count; i++)
        if (i == 0 || values[i] != values[i - 1]) status = sf_ids_set(ids, values[i], 0, error);
    for (size_t i = 0; i < ids->count; i++)
        ids->items[i].unit = (uint32_t)i;
    return status;
}

void sf_ids_free(sf_ids *ids)
{
    sf_free(ids->items);
    *ids = (sf_ids){0};
}
