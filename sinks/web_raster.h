/* SPDX-License-Identifier: Apache-2.0 */
/** Spikes counted in columns of stream time and rows of units, the newest SF_WEB_COLUMNS of them. One thread.
 */
#ifndef SF_SINKS_WEB_RASTER_H
#define SF_SINKS_WEB_RASTER_H

#include "core/text.h"
#include "core/units.h"

#define SF_WEB_COLUMNS 4096
#define SF_WEB_ROWS 512 /* maximum: beyond it several units share a row */

/** Column c counts the spikes with c * column_ns <= time < (c + 1) * column_ns; row r those of the per_row
 * units from r * per_row on. Columns first <= c < next are kept; the last is incomplete until `ended`. */
typedef struct sf_web_raster {
    uint8_t *cells; /* by column modulo SF_WEB_COLUMNS, then by row; 255 means 255 or more */
    uint32_t rows, per_row;
    int64_t column_ns, first, next;
    int64_t from_ns, to_ns; /* the newest column */
    uint64_t spikes;        /* counted so far */
    bool begun, ended;
} sf_web_raster;

int sf_web_raster_open(sf_web_raster *raster, size_t unit_count, int64_t column_ns, sf_error *error);
void sf_web_raster_close(sf_web_raster *raster);

/** Counts spikes, in time order; a spike older than the newest column counts if its column is still kept. */
void sf_web_raster_add(sf_web_raster *raster, const sf_spike *spike);

/** Time has reached this point, with or without spikes: earlier columns are complete. No effect before the
 * first spike. */
void sf_web_raster_pass(sf_web_raster *raster, int64_t time_ns);

/** Completes the newest column. */
void sf_web_raster_end(sf_web_raster *raster);

/** Whether a complete column exists from this one on. */
bool sf_web_raster_lacks(const sf_web_raster *raster, int64_t column);

/** Appends the first column written (int64), the number of columns and of rows (uint32 each), the total of
 * counted spikes (double), and the counts column by column: those from `column` on that are kept and fit into
 * a frame. Returns the column after them. */
int64_t sf_web_raster_encode(const sf_web_raster *raster, int64_t column, sf_text *frame);

#endif
