/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/nwb_results.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "io/hdf_table.h"
#include "replay/nwb_output.h"
#include "replay/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MODULE "processing/synfire"

typedef struct results {
    sf_hdf_output to;
    hid_t module;
    sf_text units;   /* path of the Units table */
    unsigned number; /* suffix of the new tables; 1: none */
} results;

/* ---- where they go ---- */

static bool is_of_units(const sf_recording *recording)
{
    const char *format = recording->format;
    size_t length = format != NULL ? strlen(format) : 0;
    return recording->path != NULL && length > 6 && strncmp(format, "NWB ", 4) == 0 &&
           strcmp(format + length - 6, " units") == 0;
}

/* Finds the table that the recording was read from, and the namespace of the file's table types, which before
 * NWB 2.2 was the core. */
static int find_units(results *r, const sf_recording *recording, const char *path, sf_error *error)
{
    sf_streams tables = {0};
    const sf_hdf_input input = {.file = r->to.file, .path = recording->path};
    const char *asked = recording->selected != NULL ? recording->selected->stream : NULL, *chosen = NULL;
    sf_session session;
    int status = sf_reader_nwb.list(&tables, &input, error);
    if (status == SF_OK)
        status = sf_streams_choose(&tables, asked, recording->path, &chosen, &session, error);
    if (status == SF_OK && chosen != NULL) sf_text_printf(&r->units, "/%s", chosen);
    sf_streams_free(&tables);
    if (status != SF_OK || r->units.failed) return status != SF_OK ? status : sf_fail_memory(error);
    size_t rows[2] = {0};
    hid_t table = chosen != NULL ? sf_hdf_open(r->to.file, r->units.data) : H5I_INVALID_HID;
    hid_t times = table >= 0 ? sf_hdf_open(table, "spike_times") : H5I_INVALID_HID;
    if (sf_hdf_attribute_begins(times, "namespace", "core")) r->to.tables = "core";
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

static bool is_taken(const results *r, const sf_table *tables, size_t count)
{
    char name[96];
    for (size_t i = 0; i < count; i++) {
        name_table(r, name, tables[i].name);
        if (H5Lexists(r->module, name, H5P_DEFAULT) > 0) return true;
    }
    return false;
}

static void open_module(results *r, const sf_table *tables, size_t count)
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

/* Rows of the Units table; where one may be null they are numbers, as a reference cannot be. */
static bool is_of_unit(const sf_column *is)
{
    return is->type == SF_COLUMN_UNIT && (is->list || is->null == NULL);
}

/* `id` is the tables' own; what names a row by its content says of what. */
static const char *name_of(const sf_table *of, const sf_column *is, char room[64])
{
    if (strcmp(is->name, "id") != 0) return is->name;
    snprintf(room, 64, "%s_id", of->row);
    return room;
}

static void describe(sf_text *about, const sf_column *is)
{
    sf_text_printf(about, "%s", is->about);
    if (is->unit != NULL) sf_text_printf(about, ", in %s", is->unit);
    if (is->null != NULL && !is->list)
        sf_text_printf(about, "; %s: %s", is->type == SF_COLUMN_TEXT ? "empty" : "NaN", is->null);
}

static void put_column(results *r, hid_t table, const char *first, const sf_table *of, size_t column,
                       const char *name)
{
    const sf_column *is = sf_table_column(of, column);
    sf_text about = {0};
    size_t *ends = NULL;
    describe(&about, is);
    r->to.failed = about.failed || !sf_hdf_table_write_column(table, name, of, column, r->to.text, &ends);
    if (is_of_unit(is) && !r->to.failed)
        sf_nwb_tell_rows(&r->to, table, name, r->units.data, about.data);
    else if (is->type == SF_COLUMN_ROW && !r->to.failed)
        sf_nwb_tell_rows(&r->to, table, name, first, about.data);
    else if (!r->to.failed)
        sf_nwb_tell_column(&r->to, table, name, "VectorData", about.data);
    if (ends != NULL && !r->to.failed) sf_nwb_put_index(&r->to, table, name, of->row_count, ends);
    sf_free(ends);
    sf_text_free(&about);
}

#define MOST_COLUMNS 64

/* Records have no place in a column. */
static void put_columns(results *r, hid_t table, const char *first, const sf_table *of)
{
    const char *names[MOST_COLUMNS];
    char of_id[64];
    size_t count = 0;
    for (size_t c = 0; c < of->column_count && count < MOST_COLUMNS && !r->to.failed; c++) {
        const sf_column *is = sf_table_column(of, c);
        if (is->type == SF_COLUMN_RECORD || !sf_table_applies(of, c)) continue;
        names[count] = name_of(of, is, of_id);
        put_column(r, table, first, of, c, names[count++]);
    }
    if (!r->to.failed) {
        sf_nwb_put_ids(&r->to, table, of->row_count);
        sf_nwb_tell_columns(&r->to, table, of->about, names, count);
    }
}

static void put_table(results *r, const sf_table *first, const sf_table *of)
{
    char name[96], path[128];
    bool intervals = strcmp(sf_table_column(of, 0)->name, "start_time") == 0; /* TimeIntervals have it */
    name_table(r, name, first->name);
    snprintf(path, sizeof path, "/" MODULE "/%s", name);
    name_table(r, name, of->name);
    r->to.hash = sf_hash_bytes(r->to.hash, name, strlen(name));
    hid_t table = sf_nwb_put_object(&r->to, r->module, name, intervals ? "core" : r->to.tables,
                                    intervals ? "TimeIntervals" : "DynamicTable");
    put_columns(r, table, path, of);
    sf_hdf_close(table);
}

/* ---- the file ---- */

static int put_all(results *r, const sf_recording *recording, const char *path, const sf_table *tables,
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
    if (status != SF_OK || r->to.failed) return status;
    open_module(r, tables, count);
    for (size_t i = 0; i < count && !r->to.failed; i++)
        put_table(r, tables, &tables[i]);
    sf_hdf_close(r->module);
    return SF_OK;
}

int sf_nwb_results_write(const sf_recording *recording, const char *path, const sf_table *tables,
                         size_t count, const char *provenance, sf_error *error)
{
    results r = {.module = H5I_INVALID_HID};
    int status = sf_ranks_agree(SF_OK, error);
    if (status != SF_OK || sf_ranks_rank() > 0) return status;
    status = sf_hdf_output_open(&r.to, path, is_of_units(recording) ? recording->path : NULL,
                                SF_EXISTING_REFUSE_WHOLE, sf_recording_hash(recording), error);
    if (status == SF_OK) status = put_all(&r, recording, path, tables, count, provenance, error);
    sf_text_free(&r.units);
    return sf_hdf_output_close(&r.to, status, path, error);
}
