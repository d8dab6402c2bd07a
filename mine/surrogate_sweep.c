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

/* What two spikes of a unit both reach is the later one's. That need not be seen to: if the first takes it,
 * the second lies before what it took, and may not take it again. */
void sf_sweep_count(sf_greedy_count *cells, const sf_sweep *sweep, uint32_t block, const sf_image *image,
                    uint32_t delay)
{
    const sf_image_spike *spikes = image->spikes;
    size_t units = sweep->unit_count;
    memset(cells, 0, sweep->rows * units * sizeof *cells);
    for (uint32_t i = sweep->first[block]; i < sweep->first[block + 1]; i++) {
        sf_sweep_spike spike = sweep->spikes[i];
        sf_followers own = image->reaches[delay][spike.position];
        sf_greedy_count *row = cells + spike.row * units;
        for (uint32_t q = own.from; q < own.to; q++)
            sf_greedy_take(&row[spikes[q].owner], spike.position, spikes[q].after);
    }
}
