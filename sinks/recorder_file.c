/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/recorder_file.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "io/hdf_table.h"

/* A new type, or a negative id. */
static hid_t make_row_type(sf_recorder_table table)
{
    sf_packed_field fields[SF_RECORDER_FIELDS];
    size_t count = sf_recorder_fields(table, fields);
    return sf_hdf_row_type(fields, count, sf_recorder_row_size(table));
}

struct sf_recorder_file {
    sf_layout *layout;
    hid_t types[SF_RECORDER_TABLES], tables[SF_RECORDER_TABLES];
};

static int create_tables(sf_recorder_file *file, const char *path, sf_error *error)
{
    hid_t results =
        H5Gcreate2(sf_layout_file(file->layout), "results", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool created = results >= 0;
    for (int i = 0; created && i < SF_RECORDER_TABLES; i++) {
        const sf_recorder_form *form = sf_recorder_form_of((sf_recorder_table)i);
        file->types[i] = make_row_type((sf_recorder_table)i);
        if (file->types[i] >= 0)
            file->tables[i] = sf_layout_column(results, form->name, file->types[i], form->chunk, 1, error);
        created = file->tables[i] >= 0;
    }
    sf_hdf_close(results);
    return created ? SF_OK : sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot create the results");
}

int sf_recorder_file_create(sf_recorder_file **out, const char *path, const sf_recording *about,
                            const sf_layout_options *options, sf_error *error)
{
    *out = NULL;
    sf_hdf_begin();
    sf_recorder_file *file = sf_alloc(1, sizeof *file);
    if (file == NULL) return sf_fail_memory(error);
    for (int i = 0; i < SF_RECORDER_TABLES; i++)
        file->types[i] = file->tables[i] = H5I_INVALID_HID;
    int status = sf_layout_create(&file->layout, path, about, options, error);
    if (status == SF_OK) status = create_tables(file, path, error);
    if (status == SF_OK && options->live) status = sf_layout_start_live(file->layout, error);
    if (status == SF_OK)
        *out = file;
    else
        sf_recorder_file_discard(file);
    return status;
}

sf_layout *sf_recorder_file_layout(const sf_recorder_file *file)
{
    return file->layout;
}

int sf_recorder_file_append(sf_recorder_file *file, sf_recorder_table table, const void *rows, size_t count,
                            sf_error *error)
{
    return sf_layout_column_append(file->tables[table], file->types[table], rows, count, error);
}

static sf_layout *let_go(sf_recorder_file *file)
{
    if (file == NULL) return NULL;
    sf_layout *layout = file->layout;
    for (int i = 0; i < SF_RECORDER_TABLES; i++) {
        sf_hdf_close(file->tables[i]);
        sf_hdf_close(file->types[i]);
    }
    sf_free(file);
    return layout;
}

int sf_recorder_file_close(sf_recorder_file *file, const sf_span *recorded, sf_error *error)
{
    return sf_layout_close(let_go(file), recorded, error);
}

void sf_recorder_file_discard(sf_recorder_file *file)
{
    sf_layout_discard(let_go(file));
}

void sf_recorder_file_abandon(sf_recorder_file *file)
{
    sf_layout_abandon(let_go(file));
}
