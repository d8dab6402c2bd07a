/* SPDX-License-Identifier: Apache-2.0 */
#include "io/layout.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "io/output_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SPIKE_CHUNK 4096
#define MARKER_CHUNK 256

enum { TIME, UNIT, AMPLITUDE, SPIKE_COLUMNS };
enum { MARKER_TIME, KIND, STATE, LINE, TEXT, MARKER_COLUMNS };

struct sf_layout {
    hid_t file;
    hid_t spikes[SPIKE_COLUMNS];
    hid_t markers[MARKER_COLUMNS];
    hid_t marker_text; /* memory type */
    sf_output_file output;
    bool live;
    union { /* one column of one block of rows */
        int64_t times[SPIKE_CHUNK];
        uint32_t units[SPIKE_CHUNK];
        float amplitudes[SPIKE_CHUNK];
    } scratch;
};

/* ---- columns ---- */

/* What a row holds that was announced and never written. */
static herr_t set_fill(hid_t creation, hid_t type)
{
    int64_t no_time = INT64_MIN;
    uint32_t no_unit = SF_NO_UNIT;
    size_t size = H5Tget_class(type) == H5T_INTEGER ? H5Tget_size(type) : 0;
    if (size == sizeof no_time) return H5Pset_fill_value(creation, H5T_NATIVE_INT64, &no_time);
    return size == sizeof no_unit ? H5Pset_fill_value(creation, H5T_NATIVE_UINT32, &no_unit) : 0;
}

hid_t sf_layout_column(hid_t parent, const char *name, hid_t type, hsize_t chunk, hsize_t columns,
                       sf_error *error)
{
    sf_hdf_begin();
    int rank = columns == 1 ? 1 : 2;
    hsize_t none[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns}, block[2] = {chunk, columns};
    hid_t column = H5I_INVALID_HID;
    hid_t space = H5Screate_simple(rank, none, most);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (space >= 0 && creation >= 0 && H5Pset_chunk(creation, rank, block) >= 0 &&
        set_fill(creation, type) >= 0)
        column = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (column < 0) sf_hdf_fail(error, SF_CANNOT_CREATE, name, "cannot create this dataset");
    sf_hdf_close(creation);
    sf_hdf_close(space);
    return column;
}

int sf_layout_column_append(hid_t column, hid_t type, const void *rows, hsize_t count, sf_error *error)
{
    if (count == 0) return SF_OK;
    sf_hdf_begin();
    hsize_t size[2] = {0, 1}, start[2] = {0, 0};
    hid_t space = H5Dget_space(column);
    int rank = space >= 0 ? H5Sget_simple_extent_dims(space, size, NULL) : -1;
    sf_hdf_close(space);
    start[0] = size[0];
    hsize_t added[2] = {count, size[1]};
    size[0] += count;
    bool written = false;
    if (rank > 0 && H5Dset_extent(column, size) >= 0) {
        space = H5Dget_space(column);
        hid_t memory = H5Screate_simple(rank, added, NULL);
        written = space >= 0 && memory >= 0 &&
                  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, added, NULL) >= 0 &&
                  H5Dwrite(column, type, memory, space, H5P_DEFAULT, rows) >= 0;
        sf_hdf_close(memory);
        sf_hdf_close(space);
    }
    return written ? SF_OK : sf_hdf_fail(error, SF_IO, NULL, "cannot append to the file");
}

/* ---- units and attributes ---- */

/* One field of the unit table: its value for a unit, written at `to`. */
typedef struct unit_field {
    const char *name;
    void (*get)(const sf_unit *unit, void *to, size_t size);
} unit_field;

static void get_name(const sf_unit *unit, void *to, size_t size)
{
    snprintf(to, size, "%s", unit->name);
}

static void get_well(const sf_unit *unit, void *to, size_t size)
{
    snprintf(to, size, "%s", unit->well != NULL ? unit->well : "");
}

static void get_x(const sf_unit *unit, void *to, size_t size)
{
    memcpy(to, &unit->x_um, size);
}

static void get_y(const sf_unit *unit, void *to, size_t size)
{
    memcpy(to, &unit->y_um, size);
}

static void get_kind(const sf_unit *unit, void *to, size_t size)
{
    (void)size;
    *(uint8_t *)to = (uint8_t)unit->kind;
}

static void get_electrode(const sf_unit *unit, void *to, size_t size)
{
    memcpy(to, &unit->electrode, size);
}

static size_t longest_string(const sf_units *units)
{
    size_t longest = 0;
    for (size_t i = 0; i < units->count; i++) {
        const sf_unit *unit = &units->items[i];
        size_t name = strlen(unit->name), well = unit->well != NULL ? strlen(unit->well) : 0;
        size_t length = name > well ? name : well;
        longest = length > longest ? length : longest;
    }
    return longest;
}

static int write_units(hid_t file, const sf_units *units)
{
    hid_t group = H5Gcreate2(file, "units", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t text = sf_hdf_string_type(longest_string(units) + 1);
    const struct {
        unit_field field;
        hid_t type;
    } fields[] = {{{"name", get_name}, text},
                  {{"x_um", get_x}, H5T_NATIVE_DOUBLE},
                  {{"y_um", get_y}, H5T_NATIVE_DOUBLE},
                  {{"kind", get_kind}, H5T_NATIVE_UINT8},
                  {{"electrode", get_electrode}, H5T_NATIVE_INT32},
                  {{"well", get_well}, text}};
    int status = group >= 0 && text >= 0 ? SF_OK : SF_IO;
    for (size_t f = 0; status == SF_OK && f < sizeof fields / sizeof fields[0]; f++) {
        size_t size = H5Tget_size(fields[f].type);
        unsigned char *values = sf_alloc(units->count, size);
        if (values == NULL) status = SF_NO_MEMORY;
        for (size_t i = 0; values != NULL && i < units->count; i++)
            fields[f].field.get(&units->items[i], values + i * size, size);
        if (values != NULL &&
            !sf_hdf_write_table(group, fields[f].field.name, fields[f].type, units->count, 1, values))
            status = SF_IO;
        sf_free(values);
    }
    sf_hdf_close(text);
    sf_hdf_close(group);
    return status;
}

static bool write_metadata(hid_t file, const sf_recording *about)
{
    hid_t group = H5Gcreate2(file, "metadata", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool written = group >= 0;
    for (size_t i = 0; written && i < about->metadata_count; i++)
        written = sf_hdf_write_text(group, about->metadata[i].key, about->metadata[i].value);
    sf_hdf_close(group);
    return written;
}

static bool write_root(hid_t file, const sf_layout_options *options)
{
    char created[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    char program[32];
    snprintf(program, sizeof program, "synfire %s", sf_version());
    int32_t version = SF_LAYOUT_VERSION;
    int64_t open_ended = INT64_MIN;
    int32_t part = (int32_t)options->part;
    return sf_hdf_write_text(file, "synfire", options->kind) &&
           sf_hdf_write_attribute(file, "layout", H5T_NATIVE_INT32, &version) &&
           sf_hdf_write_text(file, "program", program) && sf_hdf_write_text(file, "created", created) &&
           sf_hdf_write_attribute(file, "start_ns", H5T_NATIVE_INT64, &open_ended) &&
           sf_hdf_write_attribute(file, "stop_ns", H5T_NATIVE_INT64, &open_ended) &&
           (part == 0 || sf_hdf_write_attribute(file, "part", H5T_NATIVE_INT32, &part)) &&
           (options->identity == NULL || sf_hdf_write_text(file, "identity", options->identity)) &&
           (options->configuration == NULL ||
            sf_hdf_write_text(file, "configuration", options->configuration)) &&
           (options->provenance == NULL || sf_hdf_write_text(file, "provenance", options->provenance)) &&
           (options->recording == NULL || sf_hdf_write_text(file, "recording", options->recording));
}

/* ---- the file ---- */

typedef struct column_form {
    const char *name;
    hid_t type;
} column_form;

static int create_columns(hid_t file, const char *group_name, const column_form *forms, size_t count,
                          hsize_t chunk, hid_t *columns, sf_error *error)
{
    hid_t group = H5Gcreate2(file, group_name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool created = group >= 0;
    for (size_t i = 0; created && i < count; i++) {
        columns[i] = sf_layout_column(group, forms[i].name, forms[i].type, chunk, 1, error);
        created = columns[i] >= 0;
    }
    sf_hdf_close(group);
    return created ? SF_OK : SF_IO;
}

static int fill_file(sf_layout *layout, const sf_recording *about, const sf_layout_options *options,
                     sf_error *error)
{
    layout->marker_text = sf_hdf_string_type(SF_MARKER_TEXT_SIZE);
    const column_form spikes[SPIKE_COLUMNS] = {
        {"time_ns", H5T_NATIVE_INT64}, {"unit", H5T_NATIVE_UINT32}, {"amplitude", H5T_NATIVE_FLOAT}};
    const column_form markers[MARKER_COLUMNS] = {{"time_ns", H5T_NATIVE_INT64},
                                                 {"kind", H5T_NATIVE_UINT8},
                                                 {"state", H5T_NATIVE_UINT8},
                                                 {"line", H5T_NATIVE_UINT16},
                                                 {"text", layout->marker_text}};
    if (!write_root(layout->file, options) || !write_metadata(layout->file, about)) return SF_IO;
    int status = write_units(layout->file, &about->units);
    if (status == SF_OK && !options->without_streams)
        status =
            create_columns(layout->file, "spikes", spikes, SPIKE_COLUMNS, SPIKE_CHUNK, layout->spikes, error);
    if (status == SF_OK && !options->without_streams)
        status = create_columns(layout->file, "markers", markers, MARKER_COLUMNS, MARKER_CHUNK,
                                layout->markers, error);
    if (status == SF_OK && about->observed_count > 0 &&
        !sf_hdf_write_table(layout->file, "observed", H5T_NATIVE_INT64, about->observed_count, 2,
                            about->observed))
        status = SF_IO;
    return status;
}

/* Readers of HDF5 1.8 take what is not live; single-writer multiple-reader files need 1.10.
 *
 * A live file is created as one and not made one later by H5Fstart_swmr_write, which has the writer, too, try
 * metadata again whose sum is wrong, 100 times, and wait twice as long each time: for ever where somebody
 * else damaged the file, and all other files of the process with it. The writer's own metadata are right at
 * once.
 */
static hid_t create_file(const char *name, bool live)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    H5F_libver_t least = live ? H5F_LIBVER_V110 : H5F_LIBVER_V18;
    if (access >= 0 && H5Pset_libver_bounds(access, least, H5F_LIBVER_LATEST) >= 0 &&
        (!live || H5Pset_metadata_read_attempts(access, 1) >= 0))
        file = H5Fcreate(name, H5F_ACC_TRUNC | (live ? H5F_ACC_SWMR_WRITE : 0), H5P_DEFAULT, access);
    sf_hdf_close(access);
    return file;
}

static int open_output(sf_layout *layout, const char *path, const sf_layout_options *options, sf_error *error)
{
    sf_existing existing = options->overwrite  ? SF_EXISTING_REPLACE
                           : options->numbered ? SF_EXISTING_NUMBER
                                               : SF_EXISTING_REFUSE;
    struct stat about; /* opening a pipe would wait for one who reads */
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return sf_fail(error, SF_CANNOT_CREATE, path, "is a device or a pipe, expected the name of a file");
    int status = sf_output_file_open(&layout->output, path, existing, error);
    if (status == SF_OK && layout->output.is_special)
        return sf_fail(error, SF_CANNOT_CREATE, path, "is a device or a pipe, expected the name of a file");
    if (status != SF_OK) return status;
    const char *name = sf_output_file_name(&layout->output);
    layout->file = create_file(name, options->live);
    if (layout->file < 0) { /* over a network one process's locks may exclude each other */
        sf_output_file_unlock(&layout->output);
        layout->file = create_file(name, options->live);
    }
    return layout->file >= 0 ? SF_OK : sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot create the file");
}

static int close_file(sf_layout *layout)
{
    for (int i = 0; i < SPIKE_COLUMNS; i++)
        sf_hdf_close(layout->spikes[i]);
    for (int i = 0; i < MARKER_COLUMNS; i++)
        sf_hdf_close(layout->markers[i]);
    sf_hdf_close(layout->marker_text);
    return layout->file >= 0 ? H5Fclose(layout->file) : 0;
}

static void free_layout(sf_layout *layout, bool keep)
{
    sf_output_file_close(&layout->output, keep);
    sf_free(layout);
}

int sf_layout_create(sf_layout **out, const char *path, const sf_recording *about,
                     const sf_layout_options *options, sf_error *error)
{
    *out = NULL;
    sf_hdf_begin();
    sf_layout *layout = sf_alloc(1, sizeof *layout);
    if (layout == NULL) return sf_fail_memory(error);
    layout->file = layout->marker_text = H5I_INVALID_HID;
    memset(layout->spikes, 0xff, sizeof layout->spikes);
    memset(layout->markers, 0xff, sizeof layout->markers);
    layout->live = options->live;
    int status = open_output(layout, path, options, error);
    if (status == SF_OK) {
        status = fill_file(layout, about, options, error);
        if (status == SF_NO_MEMORY)
            sf_fail_memory(error);
        else if (status != SF_OK)
            status = sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot write the file");
    }
    if (status == SF_OK)
        *out = layout;
    else
        sf_layout_discard(layout);
    return status;
}

const char *sf_layout_path(const sf_layout *layout)
{
    return layout->output.path;
}

void sf_layout_follow(sf_layout *layout)
{
    sf_output_file_follow(&layout->output);
}

int sf_layout_check(const sf_layout *layout, sf_error *error)
{
    return sf_output_file_check(&layout->output, error);
}

hid_t sf_layout_file(const sf_layout *layout)
{
    return layout->file;
}

int sf_layout_start_live(sf_layout *layout, sf_error *error)
{
    sf_hdf_begin();
    if (H5Fflush(layout->file, H5F_SCOPE_LOCAL) < 0)
        return sf_hdf_fail(error, SF_IO, layout->output.path, "cannot open the file to readers");
    sf_output_file_note(&layout->output);
    return SF_OK;
}

int sf_layout_commit(sf_layout *layout, sf_error *error)
{
    return sf_output_file_commit(&layout->output, error);
}

/* Appends one column; the error names the file. */
static int append(sf_layout *layout, hid_t column, hid_t type, const void *rows, size_t count,
                  sf_error *error)
{
    int status = sf_layout_column_append(column, type, rows, count, error);
    if (status != SF_OK && error != NULL)
        snprintf(error->place, sizeof error->place, "%s", layout->output.path);
    return status;
}

static int append_spike_block(sf_layout *layout, const sf_spike *spikes, size_t count, sf_error *error)
{
    for (size_t i = 0; i < count; i++)
        layout->scratch.times[i] = spikes[i].time_ns;
    int status = append(layout, layout->spikes[TIME], H5T_NATIVE_INT64, layout->scratch.times, count, error);
    for (size_t i = 0; i < count; i++)
        layout->scratch.units[i] = spikes[i].unit;
    if (status == SF_OK)
        status = append(layout, layout->spikes[UNIT], H5T_NATIVE_UINT32, layout->scratch.units, count, error);
    for (size_t i = 0; i < count; i++)
        layout->scratch.amplitudes[i] = spikes[i].amplitude;
    if (status == SF_OK)
        status = append(layout, layout->spikes[AMPLITUDE], H5T_NATIVE_FLOAT, layout->scratch.amplitudes,
                        count, error);
    return status;
}

int sf_layout_append_spikes(sf_layout *layout, const sf_spike *spikes, size_t count, sf_error *error)
{
    int status = SF_OK;
    for (size_t done = 0, block; status == SF_OK && done < count; done += block) {
        block = count - done < SPIKE_CHUNK ? count - done : SPIKE_CHUNK;
        status = append_spike_block(layout, spikes + done, block, error);
    }
    return status;
}

static int append_marker(sf_layout *layout, const sf_marker *marker, sf_error *error)
{
    const struct {
        hid_t type;
        const void *value;
    } fields[MARKER_COLUMNS] = {{H5T_NATIVE_INT64, &marker->time_ns},
                                {H5T_NATIVE_UINT8, &marker->kind},
                                {H5T_NATIVE_UINT8, &marker->state},
                                {H5T_NATIVE_UINT16, &marker->line},
                                {layout->marker_text, marker->text}};
    int status = SF_OK;
    for (int i = 0; status == SF_OK && i < MARKER_COLUMNS; i++)
        status = append(layout, layout->markers[i], fields[i].type, fields[i].value, 1, error);
    return status;
}

int sf_layout_append_markers(sf_layout *layout, const sf_marker *markers, size_t count, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < count; i++)
        status = append_marker(layout, &markers[i], error);
    return status;
}

#define MOST_DATASETS 64

/* H5Fflush goes on to write the index after rows could not be written; this stops. */
static bool flush_rows(hid_t file)
{
    hid_t datasets[MOST_DATASETS];
    ssize_t count = H5Fget_obj_ids(file, H5F_OBJ_DATASET | H5F_OBJ_LOCAL, MOST_DATASETS, datasets);
    bool flushed = count >= 0;
    for (ssize_t i = 0; flushed && i < count; i++)
        flushed = H5Dflush(datasets[i]) >= 0;
    return flushed;
}

int sf_layout_descriptor(const sf_layout *layout)
{
    return layout->output.fd;
}

int sf_layout_flush(sf_layout *layout, bool sync, sf_error *error)
{
    sf_hdf_begin();
    if (!flush_rows(layout->file) || H5Fflush(layout->file, H5F_SCOPE_LOCAL) < 0)
        return sf_hdf_fail(error, SF_IO, layout->output.path, "cannot write what was recorded");
    sf_output_file_note(&layout->output);
    return sync ? sf_output_file_sync(&layout->output, error) : SF_OK;
}

static bool rewrite_attribute(hid_t object, const char *name, int64_t value)
{
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    bool written = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0;
    sf_hdf_close(attribute);
    return written;
}

int sf_layout_close(sf_layout *layout, const sf_span *recorded, sf_error *error)
{
    if (layout == NULL) return SF_OK;
    sf_hdf_begin();
    const char *path = layout->output.path;
    int status = SF_OK;
    if (recorded != NULL && (!rewrite_attribute(layout->file, "start_ns", recorded->start_ns) ||
                             !rewrite_attribute(layout->file, "stop_ns", recorded->stop_ns)))
        status = sf_hdf_fail(error, SF_IO, path, "cannot write the recorded span");
    if (close_file(layout) < 0 && status == SF_OK)
        status = sf_hdf_fail(error, SF_IO, path, "cannot close the file");
    if (status == SF_OK && !layout->live) status = sf_output_file_commit(&layout->output, error);
    free_layout(layout, layout->live || status == SF_OK);
    return status;
}

void sf_layout_discard(sf_layout *layout)
{
    if (layout == NULL) return;
    sf_hdf_begin();
    close_file(layout);
    free_layout(layout, false);
}

void sf_layout_abandon(sf_layout *layout)
{
    if (layout == NULL) return;
    sf_hdf_begin();
    /* HDF5 has no close that does not write: let it write into nothing. Without that the file stays open. */
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    int *descriptor = NULL;
    if (nowhere >= 0 && H5Fget_vfd_handle(layout->file, H5P_DEFAULT, (void **)&descriptor) >= 0 &&
        dup2(nowhere, *descriptor) >= 0)
        close_file(layout);
    if (nowhere >= 0) close(nowhere);
    free_layout(layout, true);
}
