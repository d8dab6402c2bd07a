/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of synfire's own layout (core/layout.h), also of files that a killed recorder left behind. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/hdf.h"
#include "core/layout.h"
#include "core/memory.h"

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

/* Reads all columns; *rows is their common length, or the shortest where the writer was not done. */
static int read_columns(column *columns, size_t count, size_t *rows, const sf_input *input, sf_error *error)
{
    *rows = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        column *c = &columns[i];
        char **strings = NULL;
        int status = c->type < 0
                         ? sf_hdf_read_strings(input->file, c->path, input->path, &strings, &c->length, error)
                         : sf_hdf_read(input->file, c->path, input->path, c->type, c->size, &c->values,
                                       &c->length, error);
        if (status != SF_OK)
            return status;
        if (c->type < 0)
            c->values = strings;
        if (i > 0 && c->length != columns[0].length && !input->live)
            return sf_fail(error, SF_DATA, input->path, "damaged: %s has %zu rows and %s has %zu",
                           columns[0].path, columns[0].length, c->path, c->length);
        *rows = c->length < *rows ? c->length : *rows;
    }
    return SF_OK;
}

static int read_units(sf_recording *recording, const sf_input *input, sf_error *error)
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

/* Rows before the first that was announced and never written. */
static size_t written_rows(const int64_t *times, size_t rows)
{
    size_t written = 0;
    while (written < rows && times[written] != INT64_MIN)
        written++;
    return written;
}

static int take_spikes(sf_recording *recording, const column *columns, size_t rows, const sf_input *input,
                       sf_error *error)
{
    const int64_t *times = columns[0].values;
    const uint32_t *units = columns[1].values;
    const float *amplitudes = columns[2].values;
    size_t written = written_rows(times, rows);
    if (written < rows && !input->live)
        return sf_fail(error, SF_DATA, input->path, "damaged: row %zu of /spikes/time_ns was never written",
                       written);
    recording->spikes = sf_resize(NULL, written, sizeof *recording->spikes);
    if (recording->spikes == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < written; i++) {
        if (units[i] >= recording->units.count)
            return sf_fail(error, SF_DATA, input->path,
                           "damaged: spike %zu is of unit #%" PRIu32 " and there are %zu units", i, units[i],
                           recording->units.count);
        recording->spikes[i] = (sf_spike){.time_ns = times[i], .unit = units[i], .amplitude = amplitudes[i]};
    }
    recording->spike_count = written;
    if (columns[0].length > written)
        sf_recording_drop(recording, "incomplete rows at the end", columns[0].length - written);
    return SF_OK;
}

static int read_spikes(sf_recording *recording, const sf_input *input, sf_error *error)
{
    column columns[] = {{"/spikes/time_ns", H5T_NATIVE_INT64, sizeof(int64_t), NULL, 0},
                        {"/spikes/unit", H5T_NATIVE_UINT32, sizeof(uint32_t), NULL, 0},
                        {"/spikes/amplitude", H5T_NATIVE_FLOAT, sizeof(float), NULL, 0}};
    size_t rows;
    int status = read_columns(columns, 3, &rows, input, error);
    if (status == SF_OK)
        status = take_spikes(recording, columns, rows, input, error);
    free_columns(columns, 3);
    return status;
}

static int read_markers(sf_recording *recording, const sf_input *input, sf_error *error)
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

static int read_metadata(sf_recording *recording, const sf_input *input, sf_error *error)
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

static int read_spans(sf_recording *recording, const sf_input *input, sf_error *error)
{
    sf_span span;
    if (read_attribute(input->file, "start_ns", &span.start_ns) &&
        read_attribute(input->file, "stop_ns", &span.stop_ns) && span.start_ns != INT64_MIN) {
        if (span.stop_ns < span.start_ns)
            return sf_fail(error, SF_DATA, input->path, "damaged: the recorded span ends before it starts");
        recording->recorded = span;
        recording->declared = true;
    }
    if (!sf_hdf_is_dataset(input->file, "/observed"))
        return SF_OK;
    void *bounds;
    size_t count;
    int status = sf_hdf_read(input->file, "/observed", input->path, H5T_NATIVE_INT64, sizeof(int64_t),
                             &bounds, &count, error);
    if (status != SF_OK)
        return status;
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

/* What the attribute `synfire` says, and that this program can read it. */
static int check_kind(sf_recording *recording, const sf_input *input, sf_error *error)
{
    sf_text kind = {0};
    int64_t version = 0;
    int status = SF_OK;
    if (!sf_hdf_attribute_text(input->file, "synfire", &kind) || kind.failed)
        status = kind.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_DATA, input->path, "damaged: the attribute synfire is no text");
    else if (strcmp(kind.data, "recording") != 0 && strcmp(kind.data, "result") != 0)
        status = sf_fail(error, SF_DATA, input->path,
                         "no spike times: this is a synfire %.32s, expected a recording", kind.data);
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

static int read_recording(sf_recording *recording, const sf_input *input, sf_error *error)
{
    int status = check_kind(recording, input, error);
    if (status == SF_OK)
        status = read_units(recording, input, error);
    if (status == SF_OK)
        status = read_spikes(recording, input, error);
    if (status == SF_OK)
        status = read_markers(recording, input, error);
    if (status == SF_OK)
        status = read_metadata(recording, input, error);
    if (status == SF_OK)
        status = read_spans(recording, input, error);
    return status;
}

const sf_reader sf_reader_synfire = {.recognises = recognises, .read = read_recording};
