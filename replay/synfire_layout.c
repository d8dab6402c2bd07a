/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of synfire's own layout (io/layout.h), including files that a killed recorder left behind. */
#include "replay/reader.h"
#include "replay/run_losses.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "io/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool recognises(hid_t file)
{
    return H5Aexists(file, "synfire") > 0;
}

/* ---- columns of equal length ---- */

typedef struct column {
    const char *path;
    hid_t type; /* memory type; negative: strings */
    size_t size;
    void *values;
    size_t length;
} column;

static void free_columns(column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i].type < 0)
            sf_hdf_free_strings(columns[i].values, columns[i].length);
        else
            sf_free(columns[i].values);
    }
}

/* Reads all columns; *rows is their common length, or the shortest if the writer had not finished. */
static int read_columns(column *columns, size_t count, size_t *rows, const sf_hdf_input *input,
                        sf_error *error)
{
    *rows = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        column *c = &columns[i];
        char **strings = NULL;
        int status = c->type < 0
                         ? sf_hdf_read_strings(input->file, c->path, input->path, &strings, &c->length, error)
                         : sf_hdf_read(input->file, c->path, input->path, c->type, c->size, &c->values,
                                       &c->length, error);
        if (status != SF_OK) return status;
        if (c->type < 0) c->values = strings;
        if (i > 0 && c->length != columns[0].length && !input->live)
            return sf_fail(error, SF_DATA, input->path, "damaged: %s has %zu rows and %s has %zu",
                           columns[0].path, columns[0].length, c->path, c->length);
        *rows = c->length < *rows ? c->length : *rows;
    }
    return SF_OK;
}

static int read_units(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    column columns[] = {{"/units/name", -1, 0, NULL, 0},
                        {"/units/x_um", H5T_NATIVE_DOUBLE, sizeof(double), NULL, 0},
                        {"/units/y_um", H5T_NATIVE_DOUBLE, sizeof(double), NULL, 0},
                        {"/units/kind", H5T_NATIVE_UINT8, sizeof(uint8_t), NULL, 0},
                        {"/units/electrode", H5T_NATIVE_INT32, sizeof(int32_t), NULL, 0},
                        {"/units/well", -1, 0, NULL, 0}};
    size_t rows;
    int status = read_columns(columns, 6, &rows, input, error);
    for (size_t i = 0; status == SF_OK && i < rows; i++) {
        char *well = ((char **)columns[5].values)[i];
        uint8_t kind = ((uint8_t *)columns[3].values)[i];
        sf_unit unit = {.name = ((char **)columns[0].values)[i],
                        .x_um = ((double *)columns[1].values)[i],
                        .y_um = ((double *)columns[2].values)[i],
                        .kind = kind <= SF_UNIT_NOISE ? (sf_unit_kind)kind : SF_UNIT_UNKNOWN,
                        .electrode = ((int32_t *)columns[4].values)[i],
                        .well = well[0] != '\0' ? well : NULL};
        status = sf_units_add(&recording->units, &unit, error);
    }
    free_columns(columns, 6);
    return status;
}

/* Number of rows before the first one that was allocated and never written. */
static size_t written_rows(const int64_t *times, size_t rows)
{
    size_t written = 0;
    while (written < rows && times[written] != INT64_MIN)
        written++;
    return written;
}

/* ---- spikes ---- */

/* Spikes are read in blocks that stay in the cache while columns become records. */
#define BLOCK 32768

enum { TIME, UNIT, AMPLITUDE, SPIKE_COLUMNS };

typedef struct spike_block {
    int64_t times[BLOCK];
    uint32_t units[BLOCK];
    float amplitudes[BLOCK];
} spike_block;

typedef struct spike_columns {
    hid_t ids[SPIKE_COLUMNS];
    size_t lengths[SPIKE_COLUMNS];
    size_t rows;        /* common length, or the shortest if the writer had not finished */
    size_t first, last; /* of these, those asked for */
} spike_columns;

static const char *const column_paths[SPIKE_COLUMNS] = {"/spikes/time_ns", "/spikes/unit",
                                                        "/spikes/amplitude"};

/* Refuses a type other than unsigned integer, which another program must have written. */
static int check_units(hid_t units, const char *path, sf_error *error)
{
    hid_t type = H5Dget_type(units);
    bool is_unsigned = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
    sf_hdf_close(type);
    return is_unsigned ? SF_OK
                       : sf_fail(error, SF_DATA, path,
                                 "damaged: %s holds signed or real numbers, expected unsigned integers",
                                 column_paths[UNIT]);
}

static int open_columns(spike_columns *columns, const sf_hdf_input *input, sf_error *error)
{
    columns->rows = SIZE_MAX;
    for (int i = 0; i < SPIKE_COLUMNS; i++) {
        columns->ids[i] =
            sf_hdf_open_column(input->file, column_paths[i], input->path, &columns->lengths[i], error);
        if (columns->ids[i] < 0) return SF_DATA;
        if (columns->lengths[i] != columns->lengths[TIME] && !input->live)
            return sf_fail(error, SF_DATA, input->path, "damaged: %s has %zu rows and %s has %zu",
                           column_paths[TIME], columns->lengths[TIME], column_paths[i], columns->lengths[i]);
        columns->rows = columns->lengths[i] < columns->rows ? columns->lengths[i] : columns->rows;
    }
    return check_units(columns->ids[UNIT], input->path, error);
}

static int read_block(spike_block *block, const spike_columns *columns, size_t start, size_t count,
                      const char *path, sf_error *error)
{
    if (sf_hdf_read_rows(columns->ids[TIME], H5T_NATIVE_INT64, start, count, block->times) &&
        sf_hdf_read_rows(columns->ids[UNIT], H5T_NATIVE_UINT32, start, count, block->units) &&
        sf_hdf_read_rows(columns->ids[AMPLITUDE], H5T_NATIVE_FLOAT, start, count, block->amplitudes))
        return SF_OK;
    return sf_hdf_fail(error, SF_DATA, path, "damaged: row %zu of /spikes and those after it cannot be read",
                       start);
}

/* Appends the rows of a block from `first` on; sets *done at the first one that was allocated and never
 * written. */
static int take_block(sf_recording *recording, const spike_block *block, size_t first, size_t count,
                      bool *done, const sf_hdf_input *input, sf_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t row = first + recording->spike_count;
        bool has_time = block->times[i] != INT64_MIN;
        *done = !has_time || block->units[i] == SF_NO_UNIT;
        if (*done && !input->live)
            return sf_fail(error, SF_DATA, input->path, "damaged: row %zu of %s was never written", row,
                           column_paths[has_time ? UNIT : TIME]);
        if (*done) return SF_OK;
        if (block->units[i] >= recording->units.count)
            return sf_fail(error, SF_DATA, input->path,
                           "damaged: spike %zu is of unit #%" PRIu32 " and there are %zu units", row,
                           block->units[i], recording->units.count);
        recording->spikes[recording->spike_count++] = (sf_spike){
            .time_ns = block->times[i], .unit = block->units[i], .amplitude = block->amplitudes[i]};
    }
    return SF_OK;
}

static int take_spikes(sf_recording *recording, const spike_columns *columns, const sf_hdf_input *input,
                       sf_error *error)
{
    spike_block *block = sf_resize(NULL, 1, sizeof *block);
    size_t rows = columns->last - columns->first;
    recording->spikes = block != NULL ? sf_resize(NULL, rows, sizeof *recording->spikes) : NULL;
    int status = recording->spikes != NULL ? SF_OK : sf_fail_memory(error);
    bool done = false;
    for (size_t start = columns->first, count; status == SF_OK && !done && start < columns->last;
         start += count) {
        count = columns->last - start < BLOCK ? columns->last - start : BLOCK;
        status = read_block(block, columns, start, count, input->path, error);
        if (status == SF_OK)
            status = take_block(recording, block, columns->first, count, &done, input, error);
    }
    sf_free(block);
    return status;
}

/* An unfinished file has an unknown number of rows, so it is read in one part. */
static int choose_rows(spike_columns *columns, sf_recording *recording, const sf_hdf_input *input,
                       sf_error *error)
{
    unsigned __int128 rows = columns->rows;
    if (input->live && input->only_part)
        return sf_fail(error, SF_USAGE, input->path,
                       "its writer is not done, or was killed: such a file is not read in pieces");
    recording->is_part = input->parts > 0 && !input->live;
    recording->file_spikes = columns->rows;
    columns->first = recording->is_part ? (size_t)(rows * input->part / input->parts) : 0;
    columns->last =
        recording->is_part ? (size_t)(rows * ((uint64_t)input->part + 1) / input->parts) : columns->rows;
    return SF_OK;
}

static int read_spikes(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    spike_columns columns = {.ids = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID}};
    int status = open_columns(&columns, input, error);
    if (status == SF_OK) status = choose_rows(&columns, recording, input, error);
    if (status == SF_OK) status = take_spikes(recording, &columns, input, error);
    if (status == SF_OK && !recording->is_part && columns.lengths[TIME] > recording->spike_count)
        sf_recording_drop(recording, "incomplete rows at the end",
                          columns.lengths[TIME] - recording->spike_count);
    for (int i = 0; i < SPIKE_COLUMNS; i++)
        sf_hdf_close(columns.ids[i]);
    return status;
}

static int read_markers(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    column columns[] = {{"/markers/time_ns", H5T_NATIVE_INT64, sizeof(int64_t), NULL, 0},
                        {"/markers/kind", H5T_NATIVE_UINT8, sizeof(uint8_t), NULL, 0},
                        {"/markers/state", H5T_NATIVE_UINT8, sizeof(uint8_t), NULL, 0},
                        {"/markers/line", H5T_NATIVE_UINT16, sizeof(uint16_t), NULL, 0},
                        {"/markers/text", -1, 0, NULL, 0}};
    size_t rows = 0;
    int status = read_columns(columns, 5, &rows, input, error);
    if (status == SF_OK) {
        rows = written_rows(columns[0].values, rows);
        recording->markers = sf_alloc(rows, sizeof *recording->markers);
        status = recording->markers != NULL ? SF_OK : sf_fail_memory(error);
    }
    for (size_t i = 0; status == SF_OK && i < rows; i++) {
        sf_marker *marker = &recording->markers[recording->marker_count++];
        marker->time_ns = ((int64_t *)columns[0].values)[i];
        marker->kind = ((uint8_t *)columns[1].values)[i];
        marker->state = ((uint8_t *)columns[2].values)[i];
        marker->line = ((uint16_t *)columns[3].values)[i];
        strncpy(marker->text, ((char **)columns[4].values)[i], sizeof marker->text - 1);
    }
    free_columns(columns, 5);
    return status;
}

/* ---- the rest ---- */

typedef struct metadata_context {
    sf_recording *recording;
    sf_error *error;
} metadata_context;

static int add_metadata(void *user, const char *name, const char *text)
{
    metadata_context *context = user;
    return sf_recording_set_metadata(context->recording, name, text, context->error);
}

static int read_metadata(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    metadata_context context = {recording, error};
    hid_t group = sf_hdf_open(input->file, "/metadata");
    int status = group >= 0 ? sf_hdf_each_attribute(group, add_metadata, &context) : SF_OK;
    sf_hdf_close(group);
    static const char *const travelling[] = {"program", "created"};
    for (size_t i = 0; status == SF_OK && i < 2; i++) {
        sf_text text = {0};
        if (sf_hdf_attribute_text(input->file, travelling[i], &text) && !text.failed)
            status = sf_recording_set_metadata(recording, travelling[i], text.data, error);
        else if (text.failed)
            status = SF_NO_MEMORY;
        sf_text_free(&text);
    }
    return status == SF_NO_MEMORY ? sf_fail_memory(error) : status;
}

static bool read_attribute(hid_t file, const char *name, int64_t *value)
{
    hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, H5T_NATIVE_INT64, value) >= 0;
    sf_hdf_close(space);
    sf_hdf_close(attribute);
    return good;
}

static int read_spans(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    sf_span span;
    if (read_attribute(input->file, "start_ns", &span.start_ns) &&
        read_attribute(input->file, "stop_ns", &span.stop_ns) && span.start_ns != INT64_MIN) {
        if (span.stop_ns < span.start_ns)
            return sf_fail(error, SF_DATA, input->path, "damaged: the recorded span ends before it starts");
        recording->recorded = span;
        recording->declared = true;
    }
    if (!sf_hdf_is_dataset(input->file, "/observed")) return SF_OK;
    void *bounds;
    size_t count;
    int status = sf_hdf_read(input->file, "/observed", input->path, H5T_NATIVE_INT64, sizeof(int64_t),
                             &bounds, &count, error);
    if (status != SF_OK) return status;
    recording->observed = bounds; /* pairs of start and stop */
    recording->observed_count = count / 2;
    for (size_t i = 0; i < recording->observed_count; i++) {
        const sf_span *here = &recording->observed[i];
        if (here->stop_ns < here->start_ns || (i > 0 && here->start_ns < here[-1].stop_ns))
            return sf_fail(error, SF_DATA, input->path, "damaged: observation interval %zu is out of order",
                           i);
    }
    return SF_OK;
}

/* Checks the attribute `synfire`, and that this program can read that kind. */
static int check_kind(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    sf_text kind = {0};
    int64_t version = 0;
    int status = SF_OK;
    if (!sf_hdf_attribute_text(input->file, "synfire", &kind) || kind.failed)
        status = kind.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_DATA, input->path, "damaged: the attribute synfire is no text");
    else if (strcmp(kind.data, "recording") != 0 && strcmp(kind.data, "result") != 0)
        status =
            sf_fail(error, SF_DATA, input->path,
                    "no spike times: this is a synfire file of kind %.32s, expected a recording", kind.data);
    else if (!read_attribute(input->file, "layout", &version) || version < 1)
        status =
            sf_fail(error, SF_DATA, input->path, "damaged: the attribute layout is missing or no version");
    else if (version > SF_LAYOUT_VERSION)
        status = sf_fail(error, SF_DATA, input->path,
                         "written by a later synfire: its layout is version %" PRId64
                         ", this program reads up to %d",
                         version, SF_LAYOUT_VERSION);
    else
        status = sf_reader_set_format(recording, error, "synfire %" PRId64, version);
    sf_text_free(&kind);
    return status;
}

/* The recorded span is still open if the writer did not finish, even after h5clear has made the file a normal
 * one. */
static bool is_unfinished(const sf_hdf_input *input)
{
    int64_t start;
    return input->live || (read_attribute(input->file, "start_ns", &start) && start == INT64_MIN);
}

static int read_recording(sf_recording *recording, const sf_hdf_input *given, sf_error *error)
{
    sf_hdf_input input = *given;
    input.live = is_unfinished(given);
    int status = check_kind(recording, &input, error);
    if (status == SF_OK) status = read_units(recording, &input, error);
    if (status == SF_OK) status = read_spikes(recording, &input, error);
    if (status == SF_OK) status = read_markers(recording, &input, error);
    if (status == SF_OK) status = read_metadata(recording, &input, error);
    if (status == SF_OK) status = read_spans(recording, &input, error);
    if (status == SF_OK && (input.part == 0 || !input.only_part)) /* of pieces the first has what is whole */
        status = sf_run_losses_read(recording, &input, error);
    return status;
}

const sf_reader sf_reader_synfire = {.has_parts = true, .recognises = recognises, .read = read_recording};
