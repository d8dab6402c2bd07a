/* SPDX-License-Identifier: Apache-2.0 */
/* The electrodes of NWB 2, and which of them belong to a unit. */
#include "replay/nwb_parts.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define TABLE "/general/extracellular_ephys/electrodes"

/* The ends of the rows of a ragged column; they must ascend and end where the column does. */
int sf_nwb_read_ends(hid_t table, const char *column, size_t length, const char *path, size_t **ends,
                     size_t *rows, sf_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "%s_index", column);
    *ends = NULL;
    *rows = 0;
    if (sf_hdf_class(table, name) == H5T_REFERENCE)
        return sf_fail(error, SF_DATA, path,
                       "%s holds references, as NWB 2.0 beta wrote them, expected numbers", name);
    void *values;
    size_t count;
    int status = sf_hdf_read(table, name, path, H5T_NATIVE_INT64, sizeof(int64_t), &values, &count, error);
    if (status != SF_OK) return status;
    const int64_t *stored = values;
    size_t *list = sf_alloc(count, sizeof *list);
    if (list == NULL) status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        if (stored[i] < (i > 0 ? stored[i - 1] : 0) || (uint64_t)stored[i] > length)
            status = sf_fail(error, SF_DATA, path,
                             "damaged: row %zu of %s is %" PRId64 ", expected it to ascend up to %zu", i,
                             name, stored[i], length);
        else
            list[i] = (size_t)stored[i];
    }
    if (status == SF_OK && (count > 0 ? list[count - 1] : 0) != length)
        status = sf_fail(error, SF_DATA, path, "damaged: %s ends at %zu and %s holds %zu values", name,
                         count > 0 ? list[count - 1] : 0, column, length);
    sf_free(values);
    if (status != SF_OK) {
        sf_free(list);
        return status;
    }
    *ends = list;
    *rows = count;
    return SF_OK;
}

void sf_nwb_free_electrodes(sf_nwb_electrodes *all)
{
    sf_free(all->x);
    sf_free(all->y);
    sf_free(all->ids);
    sf_free(all->rows);
    sf_free(all->ends);
}

/* NaN is what writers store for unknown values. */
static bool varies(const double *values, size_t count)
{
    double first = NAN;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(first) && isfinite(values[i]) && values[i] != first) return true;
        first = isfinite(first) ? first : values[i];
    }
    return false;
}

/* Takes two columns as positions if at least one of them distinguishes electrodes: files without geometry
 * have zeros, or one stereotaxic point for all. */
static int try_positions(sf_nwb_electrodes *all, hid_t table, const char *x, const char *y, const char *path,
                         sf_error *error)
{
    void *x_values = NULL, *y_values = NULL;
    size_t x_count, y_count;
    if (!sf_hdf_is_dataset(table, x) || !sf_hdf_is_dataset(table, y)) return SF_OK;
    int status = sf_hdf_read(table, x, path, H5T_NATIVE_DOUBLE, sizeof(double), &x_values, &x_count, error);
    if (status == SF_OK)
        status = sf_hdf_read(table, y, path, H5T_NATIVE_DOUBLE, sizeof(double), &y_values, &y_count, error);
    if (status == SF_OK && x_count == y_count && (varies(x_values, x_count) || varies(y_values, y_count))) {
        all->x = x_values;
        all->y = y_values;
        all->count = x_count;
        return SF_OK;
    }
    sf_free(x_values);
    sf_free(y_values);
    return status;
}

/* Reads the rows of the electrodes table that belong to each unit: a ragged column, or one row per unit. */
static int read_regions(sf_nwb_electrodes *all, hid_t table, size_t units, const char *path, sf_error *error)
{
    void *rows;
    size_t count, unit_count = units;
    int status =
        sf_hdf_read(table, "electrodes", path, H5T_NATIVE_INT64, sizeof(int64_t), &rows, &count, error);
    if (status != SF_OK) return status;
    all->rows = rows;
    if (sf_hdf_is_dataset(table, "electrodes_index")) {
        status = sf_nwb_read_ends(table, "electrodes", count, path, &all->ends, &unit_count, error);
    } else {
        unit_count = count;
        all->ends = sf_alloc(count, sizeof *all->ends);
        status = all->ends != NULL ? SF_OK : sf_fail_memory(error);
        for (size_t i = 0; status == SF_OK && i < count; i++)
            all->ends[i] = i + 1;
    }
    if (status == SF_OK && unit_count != units)
        status = sf_fail(error, SF_DATA, path, "damaged: electrodes has %zu rows and there are %zu units",
                         unit_count, units);
    for (size_t i = 0; status == SF_OK && all->x != NULL && i < count; i++)
        if (all->rows[i] < 0 || (uint64_t)all->rows[i] >= all->count)
            status = sf_fail(error, SF_DATA, path, "damaged: a unit is at electrode row %" PRId64 " of %zu",
                             all->rows[i], all->count);
    return status;
}

#define BETWEEN_GROUPS_UM 1e4 /* farther than any distance on one probe that an analysis uses */

/* Where the electrodes of a group are. */
typedef struct box {
    double low_x, high_x, low_y, high_y;
} box;

static void stretch(box *it, double x, double y)
{
    it->low_x = fmin(it->low_x, x); /* which passes over NaN */
    it->high_x = fmax(it->high_x, x);
    it->low_y = fmin(it->low_y, y);
    it->high_y = fmax(it->high_y, y);
}

static bool overlap(const box *boxes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (boxes[i].low_x <= boxes[k].high_x && boxes[k].low_x <= boxes[i].high_x &&
                boxes[i].low_y <= boxes[k].high_y && boxes[k].low_y <= boxes[i].high_y)
                return true;
    return false;
}

/* Positions on a probe are relative to its group of electrodes, so that groups that are probes lie on one
 * another: these are laid side by side, so far apart that no electrodes of two are neighbours. Groups that do
 * not overlap, as shanks, share one frame and stay. */
static int lay_apart(sf_nwb_electrodes *all, const uint32_t *group_of, size_t groups, sf_error *error)
{
    box *boxes = sf_alloc(groups, sizeof *boxes);
    if (boxes == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < groups; k++)
        boxes[k] = (box){INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (size_t i = 0; i < all->count; i++)
        stretch(&boxes[group_of[i]], all->x[i], all->y[i]);
    if (overlap(boxes, groups)) {
        double next = NAN; /* where the next group begins */
        for (size_t k = 0; k < groups; k++) {
            double shift = isfinite(next) && isfinite(boxes[k].low_x) ? next - boxes[k].low_x : 0;
            for (size_t i = 0; i < all->count; i++)
                all->x[i] += group_of[i] == k ? shift : 0;
            next = isfinite(boxes[k].high_x) ? boxes[k].high_x + shift + BETWEEN_GROUPS_UM : next;
        }
        all->groups_apart = groups;
    }
    sf_free(boxes);
    return SF_OK;
}

static int place_groups(sf_nwb_electrodes *all, hid_t table, const char *path, sf_error *error)
{
    char **names = NULL;
    size_t count = 0;
    sf_units groups = {0};
    if (sf_hdf_class(table, "group_name") != H5T_STRING) return SF_OK;
    int status = sf_hdf_read_strings(table, "group_name", path, &names, &count, error);
    if (status == SF_OK && count != all->count)
        status = sf_fail(error, SF_DATA, path,
                         "damaged: group_name has %zu rows and there are %zu electrodes", count, all->count);
    uint32_t *group_of = status == SF_OK ? sf_alloc(count, sizeof *group_of) : NULL;
    if (status == SF_OK && group_of == NULL) status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        status = sf_units_intern(&groups, names[i], &group_of[i], error);
    if (status == SF_OK) status = lay_apart(all, group_of, groups.count, error);
    sf_free(group_of);
    sf_units_free(&groups);
    sf_hdf_free_strings(names, names != NULL ? count : 0);
    return status;
}

int sf_nwb_tell_positions(sf_recording *recording, const sf_nwb_electrodes *all, sf_error *error)
{
    char told[128];
    if (all->groups_apart == 0) return SF_OK;
    snprintf(told, sizeof told, "relative to each of %zu electrode groups, which are laid side by side",
             all->groups_apart);
    return sf_recording_set_metadata(recording, "positions", told, error);
}

int sf_nwb_open_electrodes(sf_nwb_electrodes *all, const sf_hdf_input *input, sf_error *error)
{
    hid_t table = sf_hdf_open(input->file, TABLE);
    if (table < 0 || H5Iget_type(table) != H5I_GROUP) {
        sf_hdf_close(table);
        return SF_OK;
    }
    int status = try_positions(all, table, "rel_x", "rel_y", input->path, error);
    if (status == SF_OK && all->x != NULL) status = place_groups(all, table, input->path, error);
    if (status == SF_OK && all->x == NULL) status = try_positions(all, table, "x", "y", input->path, error);
    void *ids = NULL;
    size_t count = 0;
    if (status == SF_OK && sf_hdf_is_dataset(table, "id"))
        status =
            sf_hdf_read(table, "id", input->path, H5T_NATIVE_INT64, sizeof(int64_t), &ids, &count, error);
    if (count == all->count)
        all->ids = ids;
    else
        sf_free(ids);
    sf_hdf_close(table);
    return status;
}

int sf_nwb_read_electrodes(sf_nwb_electrodes *all, hid_t units_table, size_t units, const sf_hdf_input *input,
                           sf_error *error)
{
    if (!sf_hdf_is_dataset(units_table, "electrodes") || !sf_hdf_is_group(input->file, TABLE)) return SF_OK;
    int status = sf_nwb_open_electrodes(all, input, error);
    return status == SF_OK ? read_regions(all, units_table, units, input->path, error) : status;
}

/* Places a unit at the mean position of its electrodes; it has an electrode number if it has a single
 * electrode. */
void sf_nwb_place_unit(sf_unit *unit, const sf_nwb_electrodes *all, size_t index)
{
    if (all->x == NULL || all->ends == NULL) return;
    size_t begin = index > 0 ? all->ends[index - 1] : 0, end = all->ends[index];
    double x = 0, y = 0;
    for (size_t i = begin; i < end; i++) {
        x += all->x[all->rows[i]];
        y += all->y[all->rows[i]];
    }
    if (end > begin) {
        unit->x_um = x / (double)(end - begin);
        unit->y_um = y / (double)(end - begin);
    }
    int64_t electrode =
        end == begin + 1 ? (all->ids != NULL ? all->ids[all->rows[begin]] : all->rows[begin]) : -1;
    unit->electrode = electrode >= 0 && electrode <= INT32_MAX ? (int32_t)electrode : -1;
}
