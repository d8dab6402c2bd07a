/* SPDX-License-Identifier: Apache-2.0 */
/** Rates of units, hop by hop, drawn as rows of characters on a large terminal. */
#ifndef SF_APP_RATE_MAP_H
#define SF_APP_RATE_MAP_H

#include "app/screen.h"

#include <stddef.h>
#include <stdint.h>
#include <synfire/live.h>

#define APP_RATE_MAP_ROWS 20
#define APP_RATE_MAP_COLUMNS 128 /* hops that are kept */

/** Zeroed: nothing is known yet. */
typedef struct app_rate_map {
    double cells[APP_RATE_MAP_COLUMNS][APP_RATE_MAP_ROWS]; /**< Hz per unit; NaN: not observed */
    size_t rows, per_row; /**< per_row: units per row; the last row may have fewer */
    size_t hops;          /**< number so far; the newest is at (hops - 1) % columns */
    int64_t newest_ns;
} app_rate_map;

/** Adds the rates of a window that ends later than the previous one; ignores others. */
void app_rate_map_take(app_rate_map *map, int64_t time_ns, const double *rates_hz, size_t unit_count);

/** Number of lines that app_rate_map_add adds. */
int app_rate_map_height(const app_rate_map *map);

/** Adds a row per unit, or per group of consecutive units, and a column per newest hop; higher rates get
 * stronger characters. The run names the units. */
void app_rate_map_add(const app_rate_map *map, const sf_live *live, app_page *page);

#endif
