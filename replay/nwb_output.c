/* SPDX-License-Identifier: Apache-2.0 */
/* https://nwb-schema.readthedocs.io, https://hdmf-common-schema.readthedocs.io */
#include "replay/nwb_output.h"

#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- a file ---- */

static int copy_piece(int to, int from, char *piece, size_t size, const char *path, const char *source,
                      bool *more, sf_error *error)
{
    ssize_t length = read(from, piece, (unsigned)size);
    *more = length > 0;
    if (length < 0) return sf_fail(error, SF_IO, source, "cannot read: %s", strerror(errno));
    return sf_file_write_all(to, piece, (size_t)length) == 0
               ? SF_OK
               : sf_fail(error, SF_IO, path, "cannot write: %s", strerror(errno));
}

static int copy_file(int to, const char *path, const char *source, sf_error *error)
{
    enum { PIECE = 1 << 20 };
    int from = open(source, O_RDONLY | O_CLOEXEC);
    if (from < 0) return sf_fail(error, SF_NO_INPUT, source, "cannot open: %s", strerror(errno));
    char *piece = sf_resize(NULL, PIECE, 1);
    int status = piece != NULL ? SF_OK : sf_fail_memory(error);
    for (bool more = true; status == SF_OK && more;)
        status = copy_piece(to, from, piece, PIECE, path, source, &more, error);
    sf_free(piece);
    close(from);
    return status;
}

static hid_t open_or_create(const char *name, bool is_there)
{
    return is_there ? H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT)
                    : H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

int sf_hdf_output_open(sf_hdf_output *to, const char *path, const char *source, sf_existing existing,
                       uint64_t hash, sf_error *error)
{
    *to = (sf_hdf_output){
        .file = H5I_INVALID_HID, .text = H5I_INVALID_HID, .tables = "hdmf-common", .hash = hash};
    sf_hdf_begin();
    int status = sf_output_file_open(&to->own, path, existing, error);
    if (status == SF_OK && to->own.is_special)
        status = sf_fail(error, SF_CANNOT_CREATE, path, "is a device or a pipe, expected the name of a file");
    if (status == SF_OK && source != NULL) status = copy_file(to->own.fd, path, source, error);
    if (status != SF_OK) return status;
    const char *name = sf_output_file_name(&to->own);
    to->file = open_or_create(name, source != NULL);
    if (to->file < 0) { /* on a network file system two locks of one process may conflict */
        sf_output_file_unlock(&to->own);
        to->file = open_or_create(name, source != NULL);
    }
    to->text = sf_hdf_string_type(H5T_VARIABLE);
    to->failed = to->file < 0 || to->text < 0 || H5Tset_cset(to->text, H5T_CSET_UTF8) < 0;
    return to->failed ? sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot create the file") : SF_OK;
}

int sf_hdf_output_close(sf_hdf_output *to, int status, const char *path, sf_error *error)
{
    sf_hdf_close(to->text);
    bool closed = to->file < 0 || H5Fclose(to->file) >= 0;
    if (status == SF_OK && (to->failed || !closed))
        status = sf_hdf_fail(error, SF_IO, path, "cannot write the file");
    if (status == SF_OK) status = sf_output_file_commit(&to->own, error);
    sf_output_file_close(&to->own, status == SF_OK);
    return status;
}

hid_t sf_hdf_put_group(sf_hdf_output *to, hid_t parent, const char *name)
{
    hid_t group =
        to->failed ? H5I_INVALID_HID : H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    to->failed = to->failed || group < 0;
    return group;
}

void sf_hdf_put_values(sf_hdf_output *to, hid_t parent, const char *name, hid_t type, size_t rows,
                       size_t columns, const void *values)
{
    to->failed = to->failed || !sf_hdf_write_table(parent, name, type, rows, columns, values);
}

void sf_hdf_put_texts(sf_hdf_output *to, hid_t parent, const char *name, size_t count,
                      const char *const *texts)
{
    sf_hdf_put_values(to, parent, name, to->text, count, 1, texts);
}

void sf_hdf_put_text(sf_hdf_output *to, hid_t parent, const char *name, const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR), dataset = H5I_INVALID_HID;
    if (!to->failed && space >= 0)
        dataset = H5Dcreate2(parent, name, to->text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    to->failed =
        to->failed || dataset < 0 || H5Dwrite(dataset, to->text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0;
    sf_hdf_close(dataset);
    sf_hdf_close(space);
}

/* ---- NWB: objects ---- */

void sf_nwb_tell(sf_hdf_output *to, hid_t object, const char *name, const char *text)
{
    to->failed = to->failed || !sf_hdf_write_attribute(object, name, to->text, &text);
}

/* Every object has a number of its own. */
void sf_nwb_tell_type(sf_hdf_output *to, hid_t object, const char *space, const char *type)
{
    char id[40];
    uint64_t first = sf_hash_integer(to->hash, ++to->objects), second = sf_hash_integer(first, to->objects);
    snprintf(id, sizeof id, "%08x-%04x-4%03x-8%03x-%012" PRIx64, (unsigned)(first >> 32),
             (unsigned)(first >> 16 & 0xffff), (unsigned)(first & 0xfff), (unsigned)(second >> 48 & 0xfff),
             second & 0xffffffffffff);
    sf_nwb_tell(to, object, "namespace", space);
    sf_nwb_tell(to, object, "neurodata_type", type);
    sf_nwb_tell(to, object, "object_id", id);
}

hid_t sf_nwb_put_object(sf_hdf_output *to, hid_t parent, const char *name, const char *space,
                        const char *type)
{
    hid_t group = sf_hdf_put_group(to, parent, name);
    if (!to->failed) sf_nwb_tell_type(to, group, space, type);
    return group;
}

void sf_nwb_tell_target(sf_hdf_output *to, hid_t object, const char *name, hid_t at, const char *path)
{
    hobj_ref_t reference;
    to->failed = to->failed || H5Rcreate(&reference, at, path, H5R_OBJECT, -1) < 0 ||
                 !sf_hdf_write_attribute(object, name, H5T_STD_REF_OBJ, &reference);
}

/* ---- NWB: tables ---- */

void sf_nwb_tell_column(sf_hdf_output *to, hid_t table, const char *name, const char *type, const char *about)
{
    hid_t column = to->failed ? H5I_INVALID_HID : sf_hdf_open(table, name);
    to->failed = to->failed || column < 0;
    if (!to->failed) {
        sf_nwb_tell_type(to, column, to->tables, type);
        if (about != NULL) sf_nwb_tell(to, column, "description", about);
    }
    sf_hdf_close(column);
}

void sf_nwb_tell_rows(sf_hdf_output *to, hid_t table, const char *name, const char *target, const char *about)
{
    sf_nwb_tell_column(to, table, name, "DynamicTableRegion", about);
    hid_t rows = to->failed ? H5I_INVALID_HID : sf_hdf_open(table, name);
    if (rows >= 0) sf_nwb_tell_target(to, rows, "table", to->file, target);
    sf_hdf_close(rows);
}

void sf_nwb_tell_columns(sf_hdf_output *to, hid_t table, const char *about, const char *const *names,
                         size_t count)
{
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL), attribute = H5I_INVALID_HID;
    if (!to->failed && space >= 0)
        attribute = H5Acreate2(table, "colnames", to->text, space, H5P_DEFAULT, H5P_DEFAULT);
    to->failed = to->failed || attribute < 0 || H5Awrite(attribute, to->text, names) < 0;
    sf_hdf_close(attribute);
    sf_hdf_close(space);
    sf_nwb_tell(to, table, "description", about);
}

void sf_nwb_put_ids(sf_hdf_output *to, hid_t table, size_t count)
{
    int64_t *ids = sf_alloc(count, sizeof *ids);
    to->failed = to->failed || ids == NULL;
    for (size_t i = 0; ids != NULL && i < count; i++)
        ids[i] = (int64_t)i;
    sf_hdf_put_values(to, table, "id", H5T_NATIVE_INT64, count, 1, ids);
    sf_nwb_tell_column(to, table, "id", "ElementIdentifiers", NULL);
    sf_free(ids);
}

void sf_nwb_put_index(sf_hdf_output *to, hid_t table, const char *column, size_t count, const size_t *ends)
{
    char name[64];
    snprintf(name, sizeof name, "%s_index", column);
    sf_hdf_put_values(to, table, name, H5T_NATIVE_UINT64, count, 1, ends);
    sf_nwb_tell_column(to, table, name, "VectorIndex", "ends of the rows");
    hid_t index = to->failed ? H5I_INVALID_HID : sf_hdf_open(table, name);
    if (index >= 0) sf_nwb_tell_target(to, index, "target", table, column);
    sf_hdf_close(index);
}
