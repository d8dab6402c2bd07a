/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/nwb_results.h"

#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "replay/nwb_output.h"
#include "replay/reader.h"

#include <stdio.h>
#include <string.h>

#define MODULE "processing/synfire"

typedef struct results {
    sf_hdf_output to;
    hid_t module;
    sf_text units;   /* path of the Units table */
    unsigned number; /* of these tables; 1 has none in its name */
} results;

/* ---- where they go ---- */

static bool is_of_units(const sf_recording *recording)
{
    const char *format = recording->format;
    size_t length = format != NULL ? strlen(format) : 0;
    return recording->path != NULL && length > 6 && strncmp(format, "NWB ", 4) == 0 &&
           strcmp(format + length - 6, " units") == 0;
}

/* The table that the recording was read from, and in which namespace the file has the types of tables: before
 * NWB 2.2 they were of the core. */
static int find_units(results *r, const sf_recording *recording, const char *path, sf_error *error)
{
    sf_streams tables = {0};
    const sf_hdf_input input = {.file = r->to.file, .path = recording->path};
    const char *asked = recording->selected != NULL ? recording->selected->stream : NULL, *chosen = NULL;
    sf_session session;
    int status = sf_reader_nwb.list(&tables, &input, error);
    if (status == SF_OK)
        status = sf_streams_choose(&tables, asked, recording->path, &chosen, &session, error);
    if (status == SF_OK && chosen != NULL)
        sf_text_printf(&r->units, "/%s", chosen);
    sf_streams_free(&tables);
    if (status != SF_OK || r->units.failed)
        return status != SF_OK ? status : sf_fail_memory(error);
    size_t rows[2] = {0};
    hid_t table = chosen != NULL ? sf_hdf_open(r->to.file, r->units.data) : H5I_INVALID_HID;
    hid_t times = table >= 0 ? sf_hdf_open(table, "spike_times") : H5I_INVALID_HID;
    if (sf_hdf_attribute_begins(times, "namespace", "core"))
        r->to.tables = "core";
    if (table < 0 || sf_hdf_shape(table, "spike_times_index", rows) != 1 || rows[0] != recording->units.count)
        status = sf_fail(error, SF_DATA, path,
                         "is not made: %s has changed since it was read, its Units table is another",
                         recording->path);
    sf_hdf_close(times);
    sf_hdf_close(table);
    return status;
}

static void name_table(const results *r, char name[96], const char *first)
{
    if (r->number > 1)
        snprintf(name, 96, "%s_%u", first, r->number);
    else
        snprintf(name, 96, "%s", first);
}

static bool is_taken(const results *r, const sf_result_table *tables, size_t count)
{
    char name[96];
    for (size_t i = 0; i < count; i++) {
        name_table(r, name, tables[i].name);
        if (H5Lexists(r->module, name, H5P_DEFAULT) > 0)
            return true;
    }
    return false;
}

static void open_module(results *r, const sf_result_table *tables, size_t count)
{
    if (!sf_hdf_is_group(r->to.file, "processing"))
        sf_hdf_close(sf_hdf_put_group(&r->to, r->to.file, "processing"));
    if (sf_hdf_is_group(r->to.file, MODULE)) {
        r->module = sf_hdf_open(r->to.file, MODULE);
        r->to.failed = r->to.failed || r->module < 0;
    } else {
        r->module = sf_nwb_put_object(&r->to, r->to.file, MODULE, "core", "ProcessingModule");
        if (!r->to.failed)
            sf_nwb_tell(&r->to, r->module, "description",
                        "what synfire found in the spikes of the Units table");
    }
    for (r->number = 1; !r->to.failed && is_taken(r, tables, count);)
        r->number++;
}

/* ---- tables ---- */

static void put_values(results *r, hid_t table, const sf_result_column *column, size_t rows)
{
    if (column->kind == SF_RESULT_TEXT)
        sf_hdf_put_texts(&r->to, table, column->name, rows, column->values);
    else
        sf_hdf_put_values(&r->to, table, column->name,
                          column->kind == SF_RESULT_REAL ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, rows,
                          column->width, column->values);
}

static void put_column(results *r, hid_t table, const char *first, const sf_result_table *of,
                       const sf_result_column *column)
{
    size_t rows = column->ends == NULL ? of->row_count
                  : of->row_count > 0  ? column->ends[of->row_count - 1]
                                       : 0;
    put_values(r, table, column, rows);
    if (column->kind == SF_RESULT_UNIT)
        sf_nwb_tell_rows(&r->to, table, column->name, r->units.data, column->about);
    else if (column->kind == SF_RESULT_ROW)
        sf_nwb_tell_rows(&r->to, table, column->name, first, column->about);
    else
        sf_nwb_tell_column(&r->to, table, column->name, "VectorData", column->about);
    if (column->ends != NULL)
        sf_nwb_put_index(&r->to, table, column->name, of->row_count, column->ends);
}

static void put_table(results *r, const sf_result_table *first, const sf_result_table *of)
{
    char name[96], path[128];
    const char *names[SF_RESULT_COLUMNS];
    name_table(r, name, first->name);
    snprintf(path, sizeof path, "/" MODULE "/%s", name);
    name_table(r, name, of->name);
    r->to.hash = sf_hash_bytes(r->to.hash, name, strlen(name));
    hid_t table = sf_nwb_put_object(&r->to, r->module, name, of->intervals ? "core" : r->to.tables,
                                    of->intervals ? "TimeIntervals" : "DynamicTable");
    for (size_t c = 0; c < of->column_count; c++) {
        names[c] = of->columns[c].name;
        if (!r->to.failed)
            put_column(r, table, path, of, &of->columns[c]);
    }
    if (!r->to.failed) {
        sf_nwb_put_ids(&r->to, table, of->row_count);
        sf_nwb_tell_columns(&r->to, table, of->about, names, of->column_count);
    }
    sf_hdf_close(table);
}

/* ---- the file ---- */

static int put_all(results *r, const sf_recording *recording, const char *path, const sf_result_table *tables,
                   size_t count, const char *provenance, sf_error *error)
{
    int status;
    if (is_of_units(recording)) {
        status = find_units(r, recording, path, error);
    } else {
        status = sf_nwb_put_recording(&r->to, recording, provenance, error);
        sf_text_printf(&r->units, "/units");
        r->to.failed = r->to.failed || r->units.failed;
    }
    if (status != SF_OK || r->to.failed)
        return status;
    open_module(r, tables, count);
    for (size_t i = 0; i < count && !r->to.failed; i++)
        put_table(r, tables, &tables[i]);
    sf_hdf_close(r->module);
    return SF_OK;
}

int sf_nwb_results_write(const sf_recording *recording, const char *path, const sf_result_table *tables,
                         size_t count, const char *provenance, sf_error *error)
{
    results r = {.module = H5I_INVALID_HID};
    int status = sf_ranks_agree(SF_OK, error);
    if (status != SF_OK || sf_ranks_rank() > 0)
        return status;
    status = sf_hdf_output_open(&r.to, path, is_of_units(recording) ? recording->path : NULL,
                                SF_EXISTING_REFUSE_WHOLE, sf_recording_hash(recording), error);
    if (status == SF_OK)
        status = put_all(&r, recording, path, tables, count, provenance, error);
    sf_text_free(&r.units);
    return sf_hdf_output_close(&r.to, status, path, error);
}
