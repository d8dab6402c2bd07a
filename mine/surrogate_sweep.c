/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_sweep.h"

#include "core/memory.h"

#include <string.h>

#define BLOCK_BYTES ((size_t)128 << 10) /* of counts: they stay in a core's cache beside what is read */
#define BLOCKS_PER_THREAD 4             /* they take unlike times */

static uint32_t choose_rows(uint32_t units, unsigned threads)
{
    uint32_t fit = (uint32_t)(BLOCK_BYTES / sizeof(sf_greedy_count) / (units > 0 ? units : 1)),
             fair = threads > 1 ? units / (threads * BLOCKS_PER_THREAD) : units;
    uint32_t rows = fit < fair ? fit : fair;
    return rows > 0 ? rows : 1;
}

int sf_sweep_open(sf_sweep *sweep, const sf_events *events, unsigned threads)
{
    uint32_t units = events->unit_count, rows = choose_rows(units, threads);
    *sweep = (sf_sweep){.unit_count = units, .rows = rows, .block_count = (units + rows - 1) / rows};
    sweep->first = sf_alloc((size_t)sweep->block_count + 1, sizeof *sweep->first);
    sweep->spikes = sf_resize(NULL, events->count, sizeof *sweep->spikes);
    if (sweep->first == NULL || sweep->spikes == NULL)
        return SF_NO_MEMORY;
    for (uint32_t b = 0; b <= sweep->block_count; b++)
        sweep->first[b] = events->first[b < sweep->block_count ? b * rows : units];
    for (uint32_t p = 0; p < events->count; p++) {
        uint32_t unit = events->owner[p];
        sweep->spikes[sweep->first[unit / rows]++] = (sf_sweep_spike){p, unit % rows};
    }
    for (uint32_t b = sweep->block_count; b > 0; b--) /* each has come to where the next begins */
        sweep->first[b] = sweep->first[b - 1];
    sweep->first[0] = 0;
    return SF_OK;
}

void sf_sweep_close(sf_sweep *sweep)
{
    sf_free(sweep->first);
    sf_free(sweep->spikes);
    *sweep = (sf_sweep){0};
}

int sf_sweep_room_open(sf_sweep_room *room, const sf_sweep *sweep)
{
    room->cells = sf_resize(NULL, (size_t)sweep->rows * sweep->unit_count, sizeof *room->cells);
    room->waiting = sf_resize(NULL, sweep->rows, sizeof *room->waiting);
    return room->cells != NULL && room->waiting != NULL ? SF_OK : SF_NO_MEMORY;
}

void sf_sweep_room_close(sf_sweep_room *room)
{
    sf_free(room->cells);
    sf_free(room->waiting);
    *room = (sf_sweep_room){0};
}

static inline void count_window(sf_greedy_count *row, sf_window window, const sf_image_spike *spikes)
{
    for (uint32_t q = window.from; q < window.to; q++)
        sf_greedy_take(&row[spikes[q].owner], window.start, spikes[q].after);
}

/* What two spikes of a unit both reach is the later one's. So a spike waits for the next of its unit, and
 * everything is read in order. */
void sf_sweep_count(sf_sweep_room *room, const sf_sweep *sweep, uint32_t block, const sf_image *image,
                    uint32_t delay)
{
    const sf_followers *reaches = image->reaches[delay];
    size_t units = sweep->unit_count;
    memset(room->cells, 0, sweep->rows * units * sizeof *room->cells);
    memset(room->waiting, 0, sweep->rows * sizeof *room->waiting);
    for (uint32_t i = sweep->first[block]; i < sweep->first[block + 1]; i++) {
        sf_sweep_spike spike = sweep->spikes[i];
        sf_followers own = reaches[spike.position];
        sf_window before = room->waiting[spike.row];
        before.to = own.from < before.to ? own.from : before.to;
        room->waiting[spike.row] = (sf_window){own.from, own.to, spike.position};
        count_window(room->cells + spike.row * units, before, image->spikes);
    }
    for (uint32_t row = 0; row < sweep->rows; row++)
        count_window(room->cells + row * units, room->waiting[row], image->spikes);
}
