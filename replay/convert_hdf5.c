/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as CARMEN (Eglen et al. 2014) and as NWB 2.6 with a Units table.
 * https://nwb-schema.readthedocs.io */
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "replay/convert.h"
#include "replay/nwb_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Names of all units, which the recording owns; free the list with sf_free. */
static const char **unit_names(const sf_recording *recording)
{
    const char **names = sf_alloc(recording->units.count, sizeof *names);
    for (size_t u = 0; names != NULL && u < recording->units.count; u++)
        names[u] = recording->units.items[u].name;
    return names;
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

static void put_meta(sf_hdf_output *to, const sf_recording *recording)
{
    hid_t meta = sf_hdf_put_group(to, to->file, "meta");
    for (size_t i = 0; i < recording->metadata_count; i++) {
        const char *key = recording->metadata[i].key;
        bool array = strcmp(key, "array") == 0;
        key = strcmp(key, "condition") == 0 ? "cond" : strcmp(key, "source") == 0 ? "key" : key;
        if (strchr(key, '/') == NULL && key[0] != '\0' && strcmp(key, ".") != 0)
            sf_hdf_put_text(to, array ? to->file : meta, key, recording->metadata[i].value);
    }
    sf_hdf_close(meta);
}

static int put_carmen(sf_hdf_output *to, const sf_recording *recording, const double *seconds,
                      const size_t *ends, sf_error *error)
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
        sf_hdf_put_values(to, to->file, "spikes", H5T_NATIVE_DOUBLE, recording->spike_count, 1, seconds);
        sf_hdf_put_values(to, to->file, "sCount", H5T_NATIVE_INT64, units, 1, counts);
        sf_hdf_put_texts(to, to->file, "names", units, names);
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
            sf_hdf_put_values(to, to->file, "recordingtime", H5T_NATIVE_DOUBLE, 2, 1, bounds);
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
    sf_hdf_output to;
    double *seconds = NULL;
    size_t *ends = NULL;
    int status = sf_conversion_trains(recording, &seconds, &ends, error);
    if (status == SF_OK) {
        status =
            sf_hdf_output_open(&to, path, NULL, SF_EXISTING_REPLACE, sf_recording_hash(recording), error);
        if (status == SF_OK) status = put_carmen(&to, recording, seconds, ends, error);
        if (status == SF_OK && provenance != NULL)
            to.failed = to.failed || !sf_hdf_write_text(to.file, "provenance", provenance);
        status = sf_hdf_output_close(&to, status, path, error);
    }
    sf_free(seconds);
    sf_free(ends);
    return status;
}

const sf_conversion sf_convert_carmen = {.name = "carmen", .lose = lose_carmen, .write = write_carmen};

/* ---- NWB: electrodes ---- */

/* One table row per unit, with its position; the number is that of the source. */
static void put_electrodes(sf_hdf_output *to, hid_t ephys, const sf_recording *recording)
{
    static const char *const columns[] = {"rel_x", "rel_y", "location", "group", "group_name"};
    size_t units = recording->units.count;
    hid_t table = sf_nwb_put_object(to, ephys, "electrodes", "hdmf-common", "DynamicTable");
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
        sf_hdf_put_values(to, table, "id", H5T_NATIVE_INT64, units, 1, ids);
        sf_nwb_tell_column(to, table, "id", "ElementIdentifiers", NULL);
        sf_hdf_put_values(to, table, "rel_x", H5T_NATIVE_DOUBLE, units, 1, x);
        sf_nwb_tell_column(to, table, "rel_x", "VectorData", "on the array, in um");
        sf_hdf_put_values(to, table, "rel_y", H5T_NATIVE_DOUBLE, units, 1, y);
        sf_nwb_tell_column(to, table, "rel_y", "VectorData", "on the array, in um");
        sf_hdf_put_texts(to, table, "location", units, unknown);
        sf_nwb_tell_column(to, table, "location", "VectorData", "where in the tissue");
        sf_hdf_put_values(to, table, "group", H5T_STD_REF_OBJ, units, 1, groups);
        sf_nwb_tell_column(to, table, "group", "VectorData", "the array");
        sf_hdf_put_texts(to, table, "group_name", units, array);
        sf_nwb_tell_column(to, table, "group_name", "VectorData", "the array's name");
        sf_nwb_tell_columns(to, table, "one row a unit", columns, sizeof columns / sizeof columns[0]);
    }
    sf_free(x);
    sf_free(y);
    sf_free(ids);
    sf_free(unknown);
    sf_free(array);
    sf_free(groups);
    sf_hdf_close(table);
}

static void put_array(sf_hdf_output *to, hid_t general, const sf_recording *recording)
{
    const char *name = sf_recording_metadata(recording, "array");
    hid_t devices = sf_hdf_put_group(to, general, "devices"),
          device = sf_nwb_put_object(to, devices, "array", "core", "Device");
    hid_t ephys = sf_hdf_put_group(to, general, "extracellular_ephys");
    hid_t group = sf_nwb_put_object(to, ephys, "array", "core", "ElectrodeGroup");
    if (!to->failed) {
        sf_nwb_tell(to, device, "description", name != NULL ? name : "multi-electrode array");
        sf_nwb_tell(to, group, "description", "all electrodes");
        sf_nwb_tell(to, group, "location", "unknown");
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

static void put_observed(sf_hdf_output *to, hid_t table, const sf_recording *recording)
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
    sf_hdf_put_values(to, table, "obs_intervals", H5T_NATIVE_DOUBLE, units * each, 2, bounds);
    sf_nwb_tell_column(to, table, "obs_intervals", "VectorData", "when the unit was observed, in s");
    sf_nwb_put_index(to, table, "obs_intervals", units, ends);
    sf_free(bounds);
    sf_free(ends);
}

static void put_units(sf_hdf_output *to, const sf_recording *recording, const double *seconds,
                      const size_t *ends)
{
    static const char *const qualities[] = {"unknown", "good", "mua", "noise"};
    static const char *const columns[] = {"unit_name", "quality", "spike_times", "electrodes",
                                          "obs_intervals"};
    size_t units = recording->units.count;
    bool observed = recording->declared || recording->observed_count > 0;
    hid_t table = sf_nwb_put_object(to, to->file, "units", "core", "Units");
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
        sf_nwb_put_ids(to, table, units);
        sf_hdf_put_texts(to, table, "unit_name", units, names);
        sf_nwb_tell_column(to, table, "unit_name", "VectorData", "name of the unit");
        sf_hdf_put_texts(to, table, "quality", units, kinds);
        sf_nwb_tell_column(to, table, "quality", "VectorData",
                           "good: a sorted unit; mua: of several neurons; noise");
        sf_hdf_put_values(to, table, "spike_times", H5T_NATIVE_DOUBLE, recording->spike_count, 1, seconds);
        sf_nwb_tell_column(to, table, "spike_times", "VectorData", "in s");
        sf_nwb_put_index(to, table, "spike_times", units, ends);
        sf_hdf_put_values(to, table, "electrodes", H5T_NATIVE_INT64, units, 1, rows);
        sf_nwb_tell_rows(to, table, "electrodes", "/general/extracellular_ephys/electrodes",
                         "where the unit is");
        sf_nwb_put_index(to, table, "electrodes", units, row_ends);
        if (observed) put_observed(to, table, recording);
        sf_nwb_tell_columns(to, table, "units of the recording", columns, observed ? 5 : 4);
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
static void put_frame(sf_hdf_output *to, const sf_recording *recording)
{
    char now[32], identifier[24];
    time_t seconds = time(NULL);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
    snprintf(identifier, sizeof identifier, "%016" PRIx64, to->hash);
    const char *about = sf_recording_metadata(recording, "description"),
               *given = sf_recording_metadata(recording, "identifier"), *created = now;
    sf_nwb_tell(to, to->file, "nwb_version", "2.6.0");
    sf_nwb_tell_type(to, to->file, "core", "NWBFile");
    sf_hdf_put_texts(to, to->file, "file_create_date", 1, &created);
    sf_hdf_put_text(to, to->file, "identifier", given != NULL ? given : identifier);
    sf_hdf_put_text(to, to->file, "session_description",
                    about != NULL ? about : "spikes, converted by synfire");
    sf_hdf_put_text(to, to->file, "session_start_time",
                    "1970-01-01T00:00:00+00:00"); /* times count from it: it is not known */
    sf_hdf_put_text(to, to->file, "timestamps_reference_time", "1970-01-01T00:00:00+00:00");
    static const char *const groups[] = {
        "acquisition", "analysis", "processing", "stimulus", "stimulus/presentation", "stimulus/templates"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        sf_hdf_close(sf_hdf_put_group(to, to->file, groups[i]));
}

int sf_nwb_put_recording(sf_hdf_output *to, const sf_recording *recording, const char *provenance,
                         sf_error *error)
{
    double *seconds = NULL;
    size_t *ends = NULL;
    int status = sf_conversion_trains(recording, &seconds, &ends, error);
    if (status == SF_OK) {
        put_frame(to, recording);
        hid_t general = sf_hdf_put_group(to, to->file, "general");
        if (!to->failed) put_array(to, general, recording);
        if (!to->failed && provenance != NULL) sf_hdf_put_text(to, general, "notes", provenance);
        sf_hdf_close(general);
        if (!to->failed) put_units(to, recording, seconds, ends);
    }
    sf_free(seconds);
    sf_free(ends);
    return status;
}

static int write_nwb(const sf_recording *recording, const char *path, const char *provenance, sf_error *error)
{
    sf_hdf_output to;
    int status =
        sf_hdf_output_open(&to, path, NULL, SF_EXISTING_REPLACE, sf_recording_hash(recording), error);
    if (status == SF_OK) status = sf_nwb_put_recording(&to, recording, provenance, error);
    return sf_hdf_output_close(&to, status, path, error);
}

const sf_conversion sf_convert_nwb = {
    .name = "nwb", .suffix = "nwb", .negative_times = true, .lose = lose_nwb, .write = write_nwb};
