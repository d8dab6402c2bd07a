/* SPDX-License-Identifier: Apache-2.0 */
/** Rates of units, hop by hop, as rows of characters: what a large terminal has room for. */
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
    double cells[APP_RATE_MAP_COLUMNS][APP_RATE_MAP_ROWS]; /**< in Hz, of a unit; NaN: it was not observed */
    size_t rows, per_row;                                  /**< units of a row; of the last maybe fewer */
    size_t hops;                                           /**< so far; the newest at (hops - 1) % columns */
    int64_t newest_ns;
} app_rate_map;

/** Takes the rates of a window that ends later than the one before; of others nothing. */
void app_rate_map_take(app_rate_map *map, int64_t time_ns, const double *rates_hz, size_t unit_count);

/** Lines that app_rate_map_add adds. */
int app_rate_map_height(const app_rate_map *map);

/** A row for each unit, or for several after each other, a column for each of the newest hops; the stronger
 * the more. Units are named by the run. */
void app_rate_map_add(const app_rate_map *map, const sf_live *live, app_page *page);

#endif
