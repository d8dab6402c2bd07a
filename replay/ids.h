/* SPDX-License-Identifier: Apache-2.0 */
/** Map from the source's numbers (channel, electrode or cluster) to units. */
#ifndef SF_REPLAY_IDS_H
#define SF_REPLAY_IDS_H

#include "core/units.h"

/** Maximum number of units of a layout that only numbers them; more is damage. */
#define SF_MOST_IDS 65536

typedef struct sf_id {
    int64_t id;
    uint32_t unit;
} sf_id;

/** Zero-initialise. Ascending by id. */
typedef struct sf_ids {
    sf_id *items;
    size_t count, capacity;
} sf_ids;

/** Maps a new id to `unit`; an existing id keeps its unit. SF_NO_MEMORY; SF_DATA beyond SF_MOST_IDS. */
int sf_ids_set(sf_ids *ids, int64_t id, uint32_t unit, sf_error *error);

/** The unit of an id, or SF_NO_UNIT. */
uint32_t sf_ids_find(const sf_ids *ids, int64_t id);

/** Collects the distinct `values`, and numbers units 0, 1, ... in their ascending order. */
int sf_ids_of(sf_ids *ids, const int64_t *values, size_t count, sf_error *error);

void sf_ids_free(sf_ids *ids);

#endif
