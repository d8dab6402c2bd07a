/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/web_raster.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

#define MOST_BYTES (256u << 10) /* of a frame */

int sf_web_raster_open(sf_web_raster *raster, size_t unit_count, int64_t column_ns, sf_error *error)
{
    uint32_t units = unit_count > 0 ? (uint32_t)unit_count : 1;
    uint32_t per_row = (units + SF_WEB_ROWS - 1) / SF_WEB_ROWS;
    *raster =
        (sf_web_raster){.per_row = per_row, .rows = (units + per_row - 1) / per_row, .column_ns = column_ns};
    raster->cells = sf_alloc((size_t)raster->rows * SF_WEB_COLUMNS, 1);
    return raster->cells != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_web_raster_close(sf_web_raster *raster)
{
    sf_free(raster->cells);
    raster->cells = NULL;
}

static int64_t column_of(const sf_web_raster *raster, int64_t time_ns)
{
    return time_ns / raster->column_ns - (time_ns % raster->column_ns < 0 ? 1 : 0);
}

static uint8_t *cells_of(const sf_web_raster *raster, int64_t column)
{
    int64_t place = column % SF_WEB_COLUMNS;
    return raster->cells + (size_t)(place < 0 ? place + SF_WEB_COLUMNS : place) * raster->rows;
}

/* Adds columns up to this one, empty where nothing has been counted yet. */
static void reach(sf_web_raster *raster, int64_t column)
{
    if (!raster->begun || column - raster->next >= SF_WEB_COLUMNS)
        raster->first = raster->next = raster->begun ? column - SF_WEB_COLUMNS + 1 : column;
    raster->begun = true;
    for (; raster->next <= column; raster->next++)
        memset(cells_of(raster, raster->next), 0, raster->rows);
    if (raster->next - raster->first > SF_WEB_COLUMNS) raster->first = raster->next - SF_WEB_COLUMNS;
    raster->from_ns = column * raster->column_ns;
    raster->to_ns = raster->from_ns + raster->column_ns;
}

void sf_web_raster_add(sf_web_raster *raster, const sf_spike *spike)
{
    int64_t column = raster->next - 1;
    uint32_t row = spike->unit / raster->per_row;
    if (row >= raster->rows) return;
    if (!raster->begun || spike->time_ns < raster->from_ns || spike->time_ns >= raster->to_ns) {
        column = column_of(raster, spike->time_ns);
        if (!raster->begun || column >= raster->next) reach(raster, column);
    }
    raster->spikes++;
    if (column < raster->first) return;
    uint8_t *cell = cells_of(raster, column) + row;
    *cell = (uint8_t)(*cell + (*cell < UINT8_MAX ? 1 : 0));
}

void sf_web_raster_pass(sf_web_raster *raster, int64_t time_ns)
{
    int64_t column = column_of(raster, time_ns);
    if (raster->begun && column >= raster->next) reach(raster, column);
}

void sf_web_raster_end(sf_web_raster *raster)
{
    raster->ended = true;
}

static int64_t whole(const sf_web_raster *raster)
{
    return raster->next - (raster->ended ? 0 : 1);
}

bool sf_web_raster_lacks(const sf_web_raster *raster, int64_t column)
{
    return raster->begun && column < whole(raster);
}

int64_t sf_web_raster_encode(const sf_web_raster *raster, int64_t column, sf_text *frame)
{
    int64_t from = column > raster->first ? column : raster->first, to = whole(raster);
    int64_t most = MOST_BYTES / raster->rows;
    if (to - from > most) to = from + most;
    const uint32_t size[2] = {(uint32_t)(to - from), raster->rows};
    double spikes = (double)raster->spikes;
    sf_text_append(frame, (const char *)&from, sizeof from);
    sf_text_append(frame, (const char *)size, sizeof size);
    sf_text_append(frame, (const char *)&spikes, sizeof spikes);
    for (int64_t c = from; c < to; c++)
        sf_text_append(frame, (const char *)cells_of(raster, c), raster->rows);
    return to;
}
