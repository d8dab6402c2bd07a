/* SPDX-License-Identifier: Apache-2.0 */
#include "app/rate_map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_WIDTH 16
#define RATE_WIDTH 9 /* the newest, behind the row */

static const char levels[] = " .:-=+*#%@";

/* Of those that were observed. */
static double mean_of(const double *rates_hz, size_t count)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(rates_hz[i])) {
            sum += rates_hz[i];
            known++;
        }
    return known > 0 ? sum / (double)known : NAN;
}

void app_rate_map_take(app_rate_map *map, int64_t time_ns, const double *rates_hz, size_t unit_count)
{
    if (unit_count == 0 || (map->hops > 0 && time_ns <= map->newest_ns)) return;
    map->per_row = (unit_count + APP_RATE_MAP_ROWS - 1) / APP_RATE_MAP_ROWS;
    map->rows = (unit_count + map->per_row - 1) / map->per_row;
    double *column = map->cells[map->hops++ % APP_RATE_MAP_COLUMNS];
    for (size_t row = 0; row < map->rows; row++) {
        size_t first = row * map->per_row, left = unit_count - first;
        column[row] = mean_of(rates_hz + first, left < map->per_row ? left : map->per_row);
    }
    map->newest_ns = time_ns;
}

int app_rate_map_height(const app_rate_map *map)
{
    return map->rows > 0 ? (int)map->rows + 1 : 0;
}

static double strongest(const app_rate_map *map, size_t shown)
{
    double most = 0;
    for (size_t hop = map->hops - shown; hop < map->hops; hop++)
        for (size_t row = 0; row < map->rows; row++)
            most = fmax(most, map->cells[hop % APP_RATE_MAP_COLUMNS][row]); /* not NaN */
    return most;
}

/* A rate that is not 0 is seen, however small. */
static char level_of(double rate_hz, double most)
{
    const double steps = sizeof levels - 2;
    if (!(rate_hz > 0)) return levels[0];
    return levels[(size_t)fmax(1, fmin(steps, ceil(steps * rate_hz / most)))];
}

static void add_row(const app_rate_map *map, const sf_live *live, size_t row, size_t shown, double most,
                    app_page *page)
{
    const sf_episode unit = {.size = 1, .units = {(uint32_t)(row * map->per_row)}};
    char name[256], cells[APP_RATE_MAP_COLUMNS + 1];
    sf_live_print_episode(live, &unit, name, sizeof name);
    for (size_t i = 0; i < shown; i++)
        cells[i] = level_of(map->cells[(map->hops - shown + i) % APP_RATE_MAP_COLUMNS][row], most);
    cells[shown] = '\0';
    double newest = map->cells[(map->hops - 1) % APP_RATE_MAP_COLUMNS][row];
    app_page_line(page, "%*.*s%c|%s| %.3g Hz", NAME_WIDTH, NAME_WIDTH, name, map->per_row > 1 ? '+' : ' ',
                  cells, isnan(newest) ? 0 : newest);
}

void app_rate_map_add(const app_rate_map *map, const sf_live *live, app_page *page)
{
    if (map->rows == 0) return;
    int room = page->columns - NAME_WIDTH - 3 - RATE_WIDTH;
    size_t shown = map->hops < APP_RATE_MAP_COLUMNS ? map->hops : APP_RATE_MAP_COLUMNS;
    shown = room > 0 && (size_t)room < shown ? (size_t)room : shown;
    double most = strongest(map, shown);
    if (map->per_row > 1)
        app_page_line(page, "mean rates of %zu units a row, over the window, a column a hop; @ is %.3g Hz",
                      map->per_row, most);
    else
        app_page_line(page, "rates over the window, a column a hop; @ is %.3g Hz", most);
    for (size_t row = 0; row < map->rows; row++)
        add_row(map, live, row, shown, most, page);
}
