/* SPDX-License-Identifier: Apache-2.0 */
/** Spikes counted in columns of stream time and rows of units, the newest SF_WEB_COLUMNS of them. One thread.
 */
#ifndef SF_SINKS_WEB_RASTER_H
#define SF_SINKS_WEB_RASTER_H

#include "core/text.h"
#include "core/units.h"

#define SF_WEB_COLUMNS 4096
#define SF_WEB_ROWS 512 /* at most: more units share them */

/** Column c holds the spikes with c * column_ns <= time < (c + 1) * column_ns; row r those of the units r *
 * per_row and on. The columns kept are first <= c < next, of which the last is not whole before `ended`. */
typedef struct sf_web_raster {
    uint8_t *cells; /* by column modulo SF_WEB_COLUMNS, then by row; 255 stands for more */
    uint32_t rows, per_row;
    int64_t column_ns, first, next;
    int64_t from_ns, to_ns; /* the newest column */
    uint64_t spikes;        /* that were counted */
    bool begun, ended;
} sf_web_raster;

int sf_web_raster_open(sf_web_raster *raster, size_t unit_count, int64_t column_ns, sf_error *error);
void sf_web_raster_close(sf_web_raster *raster);

/** In time order; a spike older than the newest column is counted where its column still is. */
void sf_web_raster_add(sf_web_raster *raster, const sf_spike *spike);

/** Time has passed until here, spikes or none: the columns before it are whole. Nothing before the first
 * spike. */
void sf_web_raster_pass(sf_web_raster *raster, int64_t time_ns);

/** The newest column is whole. */
void sf_web_raster_end(sf_web_raster *raster);

/** Whether there is a whole column from this one on. */
bool sf_web_raster_lacks(const sf_web_raster *raster, int64_t column);

/** Appends the first column that is told (int64), how many (uint32) and of how many rows (uint32), how many
 * spikes were counted in all (double), and the counts column by column: those from `column` on, as far as
 * they are kept and fit into a frame. Returns the column after them. */
int64_t sf_web_raster_encode(const sf_web_raster *raster, int64_t column, sf_text *frame);

#endif
