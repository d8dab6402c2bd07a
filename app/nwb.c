/* SPDX-License-Identifier: Apache-2.0 */
#include "app/nwb.h"

#include "app/mining.h"
#include "app/significance.h"

#include "core/describe/column.h"
#include "core/error.h"
#include "core/memory.h"

#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

/* ---- the file ---- */

int app_nwb_check(const app_call *call, sf_error *error)
{
    const char *path = app_value(call, "nwb", NULL);
    struct stat there;
    return path != NULL && lstat(path, &there) == 0
               ? sf_fail(error, SF_CANNOT_CREATE, path,
                         "there is a file of this name already, and --nwb replaces none")
               : SF_OK;
}

/* `what` is what the first table tells; what made it follows. */
static int write_tables(const app_call *call, const sf_recording *recording, sf_table *tables, size_t count,
                        const char *what, sf_error *error)
{
    sf_text provenance = app_provenance_text(call), about = {0};
    sf_text_printf(&about, "%s Made by %s", what, provenance.failed ? "" : provenance.data);
    tables[0].about = about.data;
    int status = provenance.failed || about.failed
                     ? sf_fail_memory(error)
                     : sf_nwb_results_write(recording, app_value(call, "nwb", ""), tables, count,
                                            provenance.data, error);
    sf_text_free(&provenance);
    sf_text_free(&about);
    return status;
}

int app_nwb_tables(const app_call *call, const sf_recording *recording, const app_telling *telling,
                   const void *what, sf_error *error, const char *format, ...)
{
    sf_table tables[APP_TOLD_TABLES];
    sf_text about = {0};
    va_list values;
    if (!app_has(call, "nwb")) return SF_OK;
    for (size_t i = 0; i < telling->table_count; i++)
        tables[i] = telling->table(what, i);
    va_start(values, format);
    sf_text_vprintf(&about, format, values);
    va_end(values);
    int status = about.failed
                     ? sf_fail_memory(error)
                     : write_tables(call, recording, tables, telling->table_count, about.data, error);
    sf_text_free(&about);
    return status;
}

/* ---- episodes ---- */

/* Occurrences of all episodes, one after the other. */
typedef struct listed {
    sf_occurrences_columns found;
    size_t *episode, *number; /* by row: of which episode, and which of its occurrences */
} listed;

static const int64_t *times_of(const listed *l, size_t row)
{
    size_t episode = l->episode[row];
    return l->found.times_ns[episode] + l->number[row] * l->found.episodes[episode].size;
}

SF_LENGTH(count_times)
{
    const listed *l = of;
    *length = l->found.episodes[l->episode[row]].size;
    return true;
}

SF_GETTER(get_time)
{
    sf_value_set_real(value, (double)times_of(of, row)[item] / 1e9);
}

SF_GETTER(get_stop)
{
    size_t length;
    count_times(column, of, row, &length);
    get_time(column, of, row, length - 1, value);
}

SF_GETTER(get_episode)
{
    sf_value_set_count(value, ((const listed *)of)->episode[row]);
}

static const sf_column_row occurrence_rows[] = {
    SF_GOT_BY(REAL, "start_time", get_time, "its first spike", .unit = "s"),
    SF_GOT_BY(REAL, "stop_time", get_stop, "its last spike", .unit = "s"),
    SF_GOT_BY(ROW, "episode", get_episode, "which episode occurs"),
    SF_LIST_BY(REAL, "times", get_time, count_times, "of all its spikes in order", .unit = "s"),
};

static int number_rows(listed *l, sf_table *table, sf_error *error)
{
    *table = (sf_table){.name = "occurrences",
                        .row = "occurrence",
                        .about = "the occurrences that the counts of the episodes count",
                        SF_TABLE_OF(occurrence_rows),
                        .of = l};
    for (size_t i = 0; i < l->found.count; i++)
        table->row_count += l->found.counts[i];
    l->episode = sf_resize(NULL, table->row_count, sizeof *l->episode);
    l->number = sf_resize(NULL, table->row_count, sizeof *l->number);
    if (l->episode == NULL || l->number == NULL) return sf_fail_memory(error);
    for (size_t i = 0, row = 0; i < l->found.count; i++)
        for (size_t k = 0; k < l->found.counts[i]; k++, row++) {
            l->episode[row] = i;
            l->number[row] = k;
        }
    return SF_OK;
}

int app_nwb_episodes(const app_call *call, const sf_recording *recording, const sf_episodes *found,
                     const sf_episodes_columns *told, sf_error *error)
{
    if (!app_has(call, "nwb")) return SF_OK;
    sf_occurrences *occurrences;
    sf_progress progress = app_progress(call);
    int status = sf_occurrences_list(&occurrences, recording, told->episodes, told->expected, told->count,
                                     &progress, error);
    if (status != SF_OK) return status;
    listed l = {.found.size = sizeof l.found};
    sf_occurrences_get_columns(occurrences, &l.found);
    sf_table tables[2];
    sf_episodes_get_table(found, &tables[0]);
    sf_text methods = {0};
    status = number_rows(&l, &tables[1], error);
    if (status == SF_OK) status = app_methods(&methods, found, call, error);
    if (status == SF_OK) status = write_tables(call, recording, tables, 2, methods.data, error);
    sf_text_free(&methods);
    sf_free(l.episode);
    sf_free(l.number);
    sf_occurrences_free(occurrences);
    return status;
}

/* ---- edges ---- */

int app_nwb_edges(const app_call *call, const sf_recording *recording, const sf_graph *graph,
                  const sf_table *units, sf_error *error)
{
    if (!app_has(call, "nwb")) return SF_OK;
    sf_graph_columns g = {.size = sizeof g};
    sf_graph_get_columns(graph, &g);
    sf_table tables[2];
    sf_graph_get_table(graph, &tables[0]);
    if (units != NULL) tables[1] = *units;
    return write_tables(call, recording, tables, units != NULL ? 2 : 1,
                        g.is_tiling
                            ? "Pairs of units by their spike-time tiling coefficients, without direction."
                            : "Functional connections: pairs of units that fire in this order.",
                        error);
}

/* ---- densities ---- */

typedef struct curves {
    const app_samples *samples;
    const size_t *indices; /* by row: which series */
    const sf_density_columns *densities;
    size_t count;
} curves;

SF_GETTER(get_series)
{
    const curves *c = of;
    sf_value_set_text(value, c->samples->all.names[c->indices[row]]);
}

SF_GETTER(get_unit)
{
    const curves *c = of;
    sf_value_set_count(value, (uint64_t)c->samples->all.units[c->indices[row]]);
}

SF_GETTER(get_measure)
{
    sf_value_set_text(value, ((const curves *)of)->samples->measure);
}

static size_t points_of(const sf_density_columns *density)
{
    return density->x_count * (density->y != NULL ? density->y_count : 1);
}

SF_LENGTH(count_points)
{
    *length = points_of(&((const curves *)of)->densities[row]);
    return true;
}

/* All are of one column of samples, or all of two. */
static bool has_points(const sf_column_row *column, const void *of)
{
    const curves *c = of;
    bool plane = c->count > 0 && c->densities[0].y != NULL;
    return plane == (column->is.type == SF_COLUMN_PAIR);
}

SF_GETTER(get_point)
{
    const sf_density_columns *density = &((const curves *)of)->densities[row];
    double x = density->x[item % density->x_count];
    if (column->is.type == SF_COLUMN_PAIR)
        sf_value_set_pair(value, x, density->y[item / density->x_count]);
    else
        sf_value_set_real(value, x);
}

SF_GETTER(get_density)
{
    sf_value_set_real(value, ((const curves *)of)->densities[row].values[item]);
}

#define DENSITY(of)                                                                                          \
    .get = sf_column_value, .member = offsetof(curves, densities), .element = sizeof(sf_density_columns),    \
    .within = offsetof(sf_density_columns, of)

static const sf_column_row curve_rows[] = {
    SF_GOT_BY(UNIT, "unit", get_unit, "the unit that it is of"),
    SF_GOT_BY(TEXT, "name", get_series, "the name of the unit or link that it is of"),
    SF_GOT_BY(TEXT, "measure", get_measure, "the unit of the points"),
    {.is = SF_IS("n", "number of samples", NULL, NULL, SF_COLUMN_COUNT), DENSITY(n)},
    {.is =
         SF_IS("h",
               "in the unit of the points, of their natural logarithm where the density is over that; of two "
               "columns a factor of the root of the covariance",
               NULL, NULL, SF_COLUMN_REAL),
     DENSITY(h)},
    {.is = SF_IS("outside", "the share of the density beyond the points", NULL, NULL, SF_COLUMN_REAL),
     DENSITY(outside)},
    {.is = SF_IS("method", "by which the bandwidth was found", NULL, NULL, SF_COLUMN_TEXT), DENSITY(method)},
    {.is = SF_IS("grid", "where it was evaluated", NULL, NULL, SF_COLUMN_REAL, .list = true),
     .get = get_point,
     .length = count_points,
     .applies = has_points},
    {.is = SF_IS("grid", "where it was evaluated", NULL, NULL, SF_COLUMN_PAIR, .list = true),
     .get = get_point,
     .length = count_points,
     .applies = has_points},
    SF_LIST_BY(REAL, "density", get_density, count_points, "there, per unit of the axis"),
};

int app_nwb_densities(const app_call *call, const app_samples *samples, sf_domain domain,
                      const size_t *indices, const sf_density_columns *of, size_t count, sf_error *error)
{
    const curves all = {.samples = samples, .indices = indices, .densities = of, .count = count};
    sf_table table = {
        .name = "densities", .row = "density", SF_TABLE_OF(curve_rows), .row_count = count, .of = &all};
    bool of_units = true;
    for (size_t i = 0; i < count; i++)
        of_units = of_units && samples->all.units[indices[i]] >= 0;
    if (!of_units) {
        table.columns = &curve_rows[1];
        table.column_count--;
    }
    sf_text what = {0};
    sf_text_printf(&what, "Kernel densities of %s, per unit of %s.", app_value(call, "quantity", "samples"),
                   domain == SF_DOMAIN_LOG ? "the points' natural logarithm" : "the points");
    int status = what.failed ? sf_fail_memory(error)
                             : write_tables(call, samples->recording, &table, 1, what.data, error);
    sf_text_free(&what);
    return status;
}
