/* SPDX-License-Identifier: Apache-2.0 */
/* Positions: where on the array each spike was seen, in um. Positions belong to units, so a sample is the
 * index of a unit that has a position; spikes of other units have none. */
#include "analysis/quantity_kind.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>

static int open_positions(sf_quantity_state *q, const sf_quantity_setup *setup, sf_error *error)
{
    q->unit_count = setup->units->count;
    q->place = sf_alloc(q->unit_count, sizeof *q->place);
    q->xy = sf_alloc(q->unit_count, 2 * sizeof *q->xy);
    if (q->place == NULL || q->xy == NULL) return sf_fail_memory(error);
    for (size_t u = 0; u < q->unit_count; u++) {
        const sf_unit *unit = &setup->units->items[u];
        bool known = isfinite(unit->x_um) && isfinite(unit->y_um);
        q->place[u] = known ? (uint32_t)q->states : UINT32_MAX;
        if (!known) continue;
        q->xy[2 * q->states] = unit->x_um;
        q->xy[2 * q->states++ + 1] = unit->y_um;
    }
    return SF_OK;
}

static void close_positions(sf_quantity_state *q)
{
    sf_free(q->place);
    sf_free(q->xy);
}

static int enter(sf_quantity_state *q, const sf_spike *spikes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = q->place[spikes[i].unit];
        if (place != UINT32_MAX && sf_quantity_put(q, spikes[i].time_ns, place, 1) != SF_OK)
            return SF_NO_MEMORY;
    }
    return SF_OK;
}

const sf_quantity_kind sf_position_kind = {
    .domain = SF_DOMAIN_LINE, .open = open_positions, .close = close_positions, .enter = enter};
