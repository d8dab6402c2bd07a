/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as CARMEN (Eglen et al. 2014) and as NWB 2.6 with a Units table.
 * https://nwb-schema.readthedocs.io */
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/output_file.h"
#include "io/hdf.h"
#include "replay/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- a file ---- */

/* Once something could not be written, nothing more is. */
typedef struct output {
    sf_output_file own;
    hid_t file, text; /* variable-length UTF-8 */
    bool failed;
    uint64_t objects, hash; /* from which objects' numbers are made */
} output;

static int open_output(output *to, const char *path, const sf_recording *recording, sf_error *error)
{
    *to = (output){.file = H5I_INVALID_HID, .text = H5I_INVALID_HID, .hash = sf_recording_hash(recording)};
    sf_hdf_begin();
    int status = sf_output_file_open(&to->own, path, SF_EXISTING_REPLACE, error);
    if (status == SF_OK && to->own.is_special)
        status = sf_fail(error, SF_CANNOT_CREATE, path, "is a device or a pipe, expected the name of a file");
    if (status != SF_OK)
        return status;
    const char *name = sf_output_file_name(&to->own);
    to->file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (to->file < 0) { /* over a network one process's locks may exclude each other */
        sf_output_file_unlock(&to->own);
        to->file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    }
    to->text = sf_hdf_string_type(H5T_VARIABLE);
    to->failed = to->file < 0 || to->text < 0 || H5Tset_cset(to->text, H5T_CSET_UTF8) < 0;
    return to->failed ? sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot create the file") : SF_OK;
}

static int close_output(output *to, int status, const char *path, sf_error *error)
{
    sf_hdf_close(to->text);
    bool closed = to->file < 0 || H5Fclose(to->file) >= 0;
    if (status == SF_OK && (to->failed || !closed))
        status = sf_hdf_fail(error, SF_IO, path, "cannot write the file");
    if (status == SF_OK)
        status = sf_output_file_commit(&to->own, error);
    sf_output_file_close(&to->own, status == SF_OK);
    return status;
}

static hid_t make_group(output *to, hid_t parent, const char *name)
{
    hid_t group =
        to->failed ? H5I_INVALID_HID : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    to->failed = to->failed || group < 0;
    return group;
}

/* A vector, or a matrix of columns. */
static void put(output *to, hid_t parent, const char *name, hid_t type, size_t rows, size_t columns,
                const void *values)
{
    to->failed = to->failed || !sf_hdf_write_table(parent, name, type, rows, columns, values);
}

static void put_texts(output *to, hid_t parent, const char *name, size_t count, const char *const *texts)
{
    put(to, parent, name, to->text, count, 1, texts);
}

/* A scalar. */
static void put_text(output *to, hid_t parent, const char *name, const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR), dataset = H5I_INVALID_HID;
    if (!to->failed && space >= 0)
        dataset = H5Dcreate2(parent, name, to->text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    to->failed =
        to->failed || dataset < 0 || H5Dwrite(dataset, to->text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0;
    sf_hdf_close(dataset);
    sf_hdf_close(space);
}

/* The names of all units, which stay the recording's; sf_free takes the list. */
static const char **unit_names(const sf_recording *recording)
{
    const char **names = sf_alloc(recording->units.count, sizeof *names);
    for (size_t u = 0; names != NULL && u < recording->units.count; u++)
        names[u] = recording->units.items[u].name;
    return names;
}

static const char *metadata(const sf_recording *recording, const char *key)
{
    for (size_t i = 0; i < recording->metadata_count; i++)
        if (strcmp(recording->metadata[i].key, key) == 0)
            return recording->metadata[i].value;
    return NULL;
}

/* ---- CARMEN ---- */

static void lose_carmen(const sf_recording *recording, sf_text *lost)
{
    sf_conversion_counts counts = sf_conversion_count(recording);
    sf_conversion_lose(lost, counts.kinds, "kinds");
    sf_conversion_lose(lost, counts.electrodes, "electrodes' numbers");
    sf_conversion_lose(lost, counts.wells, "wells of units");
    sf_conversion_lose(lost, counts.amplitudes, "amplitudes");
    sf_conversion_lose(lost, recording->marker_count, "markers");
    sf_conversion_lose(lost, recording->observed_count, "observation intervals");
}

static void put_meta(output *to, const sf_recording *recording)
{
    hid_t meta = make_group(to, to->file, "meta");
    for (size_t i = 0; i < recording->metadata_count; i++) {
        const char *key = recording->metadata[i].key;
        bool array = strcmp(key, "array") == 0;
        key = strcmp(key, "condition") == 0 ? "cond" : strcmp(key, "source") == 0 ? "key" : key;
        if (strchr(key, '/') == NULL && key[0] != '\0' && strcmp(key, ".") != 0)
            put_text(to, array ? to->file : meta, key, recording->metadata[i].value);
    }
    sf_hdf_close(meta);
}

static int put_carmen(output *to, const sf_recording *recording, const double *seconds, const size_t *ends,
                      sf_error *error)
{
    size_t units = recording->units.count;
    bool placed = sf_conversion_count(recording).places > 0;
    int64_t *counts = sf_alloc(units, sizeof *counts);
    double *places = sf_alloc(units, 2 * sizeof *places);
    const char **names = unit_names(recording);
    int status = counts != NULL && places != NULL && names != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t u = 0; status == SF_OK && u < units; u++) {
        counts[u] = (int64_t)(ends[u] - (u > 0 ? ends[u - 1] : 0));
        places[u] = recording->units.items[u].x_um;
        places[units + u] = recording->units.items[u].y_um;
    }
    if (status == SF_OK) {
        put(to, to->file, "spikes", H5T_NATIVE_DOUBLE, recording->spike_count, 1, seconds);
        put(to, to->file, "sCount", H5T_NATIVE_INT64, units, 1, counts);
        put_texts(to, to->file, "names", units, names);
        if (placed) { /* 2 by N also where N is 1 */
            hsize_t size[2] = {2, units};
            hid_t space = H5Screate_simple(2, size, NULL);
            hid_t dataset =
                H5Dcreate2(to->file, "epos", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            to->failed = to->failed || dataset < 0 ||
                         H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, places) < 0;
            sf_hdf_close(dataset);
            sf_hdf_close(space);
        }
        if (recording->declared) {
            const double bounds[] = {(double)recording->recorded.start_ns / 1e9,
                                     (double)recording->recorded.stop_ns / 1e9};
            put(to, to->file, "recordingtime", H5T_NATIVE_DOUBLE, 2, 1, bounds);
        }
        put_meta(to, recording);
    }
    sf_free(counts);
    sf_free(places);
    sf_free(names);
    return status;
}

static int write_carmen(const sf_recording *recording, const char *path, const char *provenance,
                        sf_error *error)
{
    output to;
    double *seconds = NULL;
    size_t *ends = NULL;
    int status = sf_conversion_trains(recording, &seconds, &ends, error);
    if (status == SF_OK) {
        status = open_output(&to, path, recording, error);
        if (status == SF_OK)
            status = put_carmen(&to, recording, seconds, ends, error);
        if (status == SF_OK && provenance != NULL)
            to.failed = to.failed || !sf_hdf_write_text(to.file, "provenance", provenance);
        status = close_output(&to, status, path, error);
    }
    sf_free(seconds);
    sf_free(ends);
    return status;
}

const sf_conversion sf_convert_carmen = {.name = "carmen", .lose = lose_carmen, .write = write_carmen};

/* ---- NWB: objects ---- */

static void tell(output *to, hid_t object, const char *name, const char *text)
{
    to->failed = to->failed || !sf_hdf_write_attribute(object, name, to->text, &text);
}

/* Every object has a number of its own: here one that the same recording gives again. */
static void tell_type(output *to, hid_t object, const char *space, const char *type)
{
    char id[40];
    uint64_t first = sf_hash_integer(to->hash, ++to->objects), second = sf_hash_integer(first, to->objects);
    snprintf(id, sizeof id, "%08x-%04x-4%03x-8%03x-%012" PRIx64, (unsigned)(first >> 32),
             (unsigned)(first >> 16 & 0xffff), (unsigned)(first & 0xfff), (unsigned)(second >> 48 & 0xfff),
             second & 0xffffffffffff);
    tell(to, object, "namespace", space);
    tell(to, object, "neurodata_type", type);
    tell(to, object, "object_id", id);
}

static hid_t make_typed(output *to, hid_t parent, const char *name, const char *space, const char *type)
{
    hid_t group = make_group(to, parent, name);
    if (!to->failed)
        tell_type(to, group, space, type);
    return group;
}

/* A reference to an object, as attribute or in a column. */
static void tell_target(output *to, hid_t object, const char *name, hid_t at, const char *path)
{
    hobj_ref_t reference;
    to->failed = to->failed || H5Rcreate(&reference, at, path, H5R_OBJECT, -1) < 0 ||
                 !sf_hdf_write_attribute(object, name, H5T_STD_REF_OBJ, &reference);
}

/* ---- NWB: tables ---- */

/* What was just written becomes a column. */
static void tell_column(output *to, hid_t table, const char *name, const char *type, const char *about)
{
    hid_t column = to->failed ? H5I_INVALID_HID : sf_hdf_open(table, name);
    to->failed = to->failed || column < 0;
    if (!to->failed) {
        tell_type(to, column, "hdmf-common", type);
        if (about != NULL)
            tell(to, column, "description", about);
    }
    sf_hdf_close(column);
}

static void tell_columns(output *to, hid_t table, const char *about, const char *const *names, size_t count)
{
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL), attribute = H5I_INVALID_HID;
    if (!to->failed && space >= 0)
        attribute = H5Acreate2(table, "colnames", to->text, space, H5P_DEFAULT, H5P_DEFAULT);
    to->failed = to->failed || attribute < 0 || H5Awrite(attribute, to->text, names) < 0;
    sf_hdf_close(attribute);
    sf_hdf_close(space);
    tell(to, table, "description", about);
}

static void put_ids(output *to, hid_t table, size_t count)
{
    int64_t *ids = sf_alloc(count, sizeof *ids);
    to->failed = to->failed || ids == NULL;
    for (size_t i = 0; ids != NULL && i < count; i++)
        ids[i] = (int64_t)i;
    put(to, table, "id", H5T_NATIVE_INT64, count, 1, ids);
    tell_column(to, table, "id", "ElementIdentifiers", NULL);
    sf_free(ids);
}

/* The ends of the rows of a ragged column. */
static void put_index(output *to, hid_t table, const char *column, size_t count, const size_t *ends)
{
    char name[64];
    snprintf(name, sizeof name, "%s_index", column);
    put(to, table, name, H5T_NATIVE_UINT64, count, 1, ends);
    tell_column(to, table, name, "VectorIndex", "ends of the rows");
    hid_t index = to->failed ? H5I_INVALID_HID : sf_hdf_open(table, name);
    if (index >= 0)
        tell_target(to, index, "target", table, column);
    sf_hdf_close(index);
}

/* ---- NWB: electrodes ---- */

/* A row of the table for each unit, where it is; its number is kept as the source has it. */
static void put_electrodes(output *to, hid_t ephys, const sf_recording *recording)
{
    static const char *const columns[] = {"rel_x", "rel_y", "location", "group", "group_name"};
    size_t units = recording->units.count;
    hid_t table = make_typed(to, ephys, "electrodes", "hdmf-common", "DynamicTable");
    double *x = sf_alloc(units, sizeof *x), *y = sf_alloc(units, sizeof *y);
    int64_t *ids = sf_alloc(units, sizeof *ids);
    const char **unknown = sf_alloc(units, sizeof *unknown), **array = sf_alloc(units, sizeof *array);
    hobj_ref_t *groups = sf_alloc(units, sizeof *groups);
    if (x == NULL || y == NULL || ids == NULL || unknown == NULL || array == NULL || groups == NULL)
        to->failed = true;
    for (size_t u = 0; !to->failed && u < units; u++) {
        const sf_unit *unit = &recording->units.items[u];
        x[u] = unit->x_um;
        y[u] = unit->y_um;
        ids[u] = unit->electrode;
        unknown[u] = "unknown";
        array[u] = "array";
        to->failed = H5Rcreate(&groups[u], ephys, "array", H5R_OBJECT, -1) < 0;
    }
    if (!to->failed) {
        put(to, table, "id", H5T_NATIVE_INT64, units, 1, ids);
        tell_column(to, table, "id", "ElementIdentifiers", NULL);
        put(to, table, "rel_x", H5T_NATIVE_DOUBLE, units, 1, x);
        tell_column(to, table, "rel_x", "VectorData", "on the array, in um");
        put(to, table, "rel_y", H5T_NATIVE_DOUBLE, units, 1, y);
        tell_column(to, table, "rel_y", "VectorData", "on the array, in um");
        put_texts(to, table, "location", units, unknown);
        tell_column(to, table, "location", "VectorData", "where in the tissue");
        put(to, table, "group", H5T_STD_REF_OBJ, units, 1, groups);
        tell_column(to, table, "group", "VectorData", "the array");
        put_texts(to, table, "group_name", units, array);
        tell_column(to, table, "group_name", "VectorData", "the array's name");
        tell_columns(to, table, "one row a unit", columns, sizeof columns / sizeof columns[0]);
    }
    sf_free(x);
    sf_free(y);
    sf_free(ids);
    sf_free(unknown);
    sf_free(array);
    sf_free(groups);
    sf_hdf_close(table);
}

static void put_array(output *to, hid_t general, const sf_recording *recording)
{
    const char *name = metadata(recording, "array");
    hid_t devices = make_group(to, general, "devices"),
          device = make_typed(to, devices, "array", "core", "Device");
    hid_t ephys = make_group(to, general, "extracellular_ephys");
    hid_t group = make_typed(to, ephys, "array", "core", "ElectrodeGroup");
    if (!to->failed) {
        tell(to, device, "description", name != NULL ? name : "multi-electrode array");
        tell(to, group, "description", "all electrodes");
        tell(to, group, "location", "unknown");
        to->failed = to->failed ||
                     H5Lcreate_soft("/general/devices/array", group, "device", H5P_DEFAULT, H5P_DEFAULT) < 0;
        put_electrodes(to, ephys, recording);
    }
    sf_hdf_close(group);
    sf_hdf_close(ephys);
    sf_hdf_close(device);
    sf_hdf_close(devices);
}

/* ---- NWB: units ---- */

static void put_observed(output *to, hid_t table, const sf_recording *recording)
{
    size_t units = recording->units.count,
           each = recording->observed_count > 0 ? recording->observed_count : 1;
    const sf_span *spans = recording->observed_count > 0 ? recording->observed : &recording->recorded;
    double *bounds = sf_resize(NULL, units * each, 2 * sizeof *bounds);
    size_t *ends = sf_alloc(units, sizeof *ends);
    to->failed = to->failed || bounds == NULL || ends == NULL;
    for (size_t u = 0; !to->failed && u < units; u++) {
        ends[u] = (u + 1) * each;
        for (size_t i = 0; i < each; i++) {
            bounds[2 * (u * each + i)] = (double)spans[i].start_ns / 1e9;
            bounds[2 * (u * each + i) + 1] = (double)spans[i].stop_ns / 1e9;
        }
    }
    put(to, table, "obs_intervals", H5T_NATIVE_DOUBLE, units * each, 2, bounds);
    tell_column(to, table, "obs_intervals", "VectorData", "when the unit was observed, in s");
    put_index(to, table, "obs_intervals", units, ends);
    sf_free(bounds);
    sf_free(ends);
}

static void put_units(output *to, const sf_recording *recording, const double *seconds, const size_t *ends)
{
    static const char *const qualities[] = {"unknown", "good", "mua", "noise"};
    static const char *const columns[] = {"unit_name", "quality", "spike_times", "electrodes",
                                          "obs_intervals"};
    size_t units = recording->units.count;
    bool observed = recording->declared || recording->observed_count > 0;
    hid_t table = make_typed(to, to->file, "units", "core", "Units");
    const char **names = unit_names(recording), **kinds = sf_alloc(units, sizeof *kinds);
    int64_t *rows = sf_alloc(units, sizeof *rows);
    size_t *row_ends = sf_alloc(units, sizeof *row_ends);
    to->failed = to->failed || names == NULL || kinds == NULL || rows == NULL || row_ends == NULL;
    for (size_t u = 0; !to->failed && u < units; u++) {
        kinds[u] = qualities[recording->units.items[u].kind];
        rows[u] = (int64_t)u;
        row_ends[u] = u + 1;
    }
    if (!to->failed) {
        put_ids(to, table, units);
        put_texts(to, table, "unit_name", units, names);
        tell_column(to, table, "unit_name", "VectorData", "name of the unit");
        put_texts(to, table, "quality", units, kinds);
        tell_column(to, table, "quality", "VectorData",
                    "good: a sorted unit; mua: of several neurons; noise");
        put(to, table, "spike_times", H5T_NATIVE_DOUBLE, recording->spike_count, 1, seconds);
        tell_column(to, table, "spike_times", "VectorData", "in s");
        put_index(to, table, "spike_times", units, ends);
        put(to, table, "electrodes", H5T_NATIVE_INT64, units, 1, rows);
        tell_column(to, table, "electrodes", "DynamicTableRegion", "where the unit is");
        hid_t region = to->failed ? H5I_INVALID_HID : sf_hdf_open(table, "electrodes");
        if (region >= 0)
            tell_target(to, region, "table", to->file, "/general/extracellular_ephys/electrodes");
        sf_hdf_close(region);
        put_index(to, table, "electrodes", units, row_ends);
        if (observed)
            put_observed(to, table, recording);
        tell_columns(to, table, "units of the recording", columns, observed ? 5 : 4);
    }
    sf_free(names);
    sf_free(kinds);
    sf_free(rows);
    sf_free(row_ends);
    sf_hdf_close(table);
}

/* ---- NWB: the file ---- */

static void lose_nwb(const sf_recording *recording, sf_text *lost)
{
    sf_conversion_counts counts = sf_conversion_count(recording);
    size_t kept = 0;
    for (size_t i = 0; i < recording->metadata_count; i++) {
        const char *key = recording->metadata[i].key;
        kept +=
            strcmp(key, "array") == 0 || strcmp(key, "description") == 0 || strcmp(key, "identifier") == 0;
    }
    sf_conversion_lose(lost, counts.wells, "wells of units");
    sf_conversion_lose(lost, counts.amplitudes, "amplitudes");
    sf_conversion_lose(lost, recording->marker_count, "markers");
    sf_conversion_lose(lost, recording->metadata_count - kept, "entries of metadata");
}

/* What a file must have, be it empty. */
static void put_frame(output *to, const sf_recording *recording)
{
    char now[32], identifier[24];
    time_t seconds = time(NULL);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
    snprintf(identifier, sizeof identifier, "%016" PRIx64, to->hash);
    const char *about = metadata(recording, "description"), *given = metadata(recording, "identifier"),
               *created = now;
    tell(to, to->file, "nwb_version", "2.6.0");
    tell_type(to, to->file, "core", "NWBFile");
    put_texts(to, to->file, "file_create_date", 1, &created);
    put_text(to, to->file, "identifier", given != NULL ? given : identifier);
    put_text(to, to->file, "session_description", about != NULL ? about : "spikes, converted by synfire");
    put_text(to, to->file, "session_start_time",
             "1970-01-01T00:00:00+00:00"); /* times count from it: it is not known */
    put_text(to, to->file, "timestamps_reference_time", "1970-01-01T00:00:00+00:00");
    static const char *const groups[] = {
        "acquisition", "analysis", "processing", "stimulus", "stimulus/presentation", "stimulus/templates"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        sf_hdf_close(make_group(to, to->file, groups[i]));
}

static int write_nwb(const sf_recording *recording, const char *path, const char *provenance, sf_error *error)
{
    output to;
    double *seconds = NULL;
    size_t *ends = NULL;
    int status = sf_conversion_trains(recording, &seconds, &ends, error);
    if (status == SF_OK) {
        status = open_output(&to, path, recording, error);
        if (status == SF_OK) {
            put_frame(&to, recording);
            hid_t general = make_group(&to, to.file, "general");
            if (!to.failed)
                put_array(&to, general, recording);
            if (!to.failed && provenance != NULL)
                put_text(&to, general, "notes", provenance);
            sf_hdf_close(general);
            if (!to.failed)
                put_units(&to, recording, seconds, ends);
        }
        status = close_output(&to, status, path, error);
    }
    sf_free(seconds);
    sf_free(ends);
    return status;
}

const sf_conversion sf_convert_nwb = {
    .name = "nwb", .suffix = "nwb", .negative_times = true, .lose = lose_nwb, .write = write_nwb};
