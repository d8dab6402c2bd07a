/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings in HDF5: identifies the layout of a file, and does what is common to all layouts. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "replay/ids.h"
#include "replay/sessions.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* In the order of docs/formats.md: the first that recognises a file reads it. */
static const sf_reader *const readers[] = {
    &sf_reader_synfire,  &sf_reader_carmen, &sf_reader_nwb_1,    &sf_reader_nwb_events,
    &sf_reader_nwb,      &sf_reader_mcs,    &sf_reader_mcs_cmos, &sf_reader_maxwell,
    &sf_reader_bxr_2,    &sf_reader_bxr_3,  &sf_reader_kwik,     &sf_reader_herding_spikes,
    &sf_reader_cortical, &sf_reader_mat,    &sf_reader_foreign,
};

int sf_reader_set_format(sf_recording *recording, sf_error *error, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sf_free(recording->format);
    recording->format = sf_copy_string(text);
    return recording->format != NULL ? SF_OK : sf_fail_memory(error);
}

bool sf_reader_is_listed(const sf_streams *streams, hid_t file, const char *path)
{
    for (size_t i = 0; i < streams->count; i++)
        if (sf_hdf_is_same(file, streams->items[i].name, path)) return true;
    return false;
}

int sf_reader_metadata(sf_recording *recording, hid_t file, const char *path, const char *key,
                       sf_error *error)
{
    sf_text text = {0};
    int status = SF_OK;
    bool found = sf_hdf_dataset_text(file, path, &text);
    if (text.failed)
        status = sf_fail_memory(error);
    else if (found)
        status = sf_reader_metadata_text(recording, key, text.data, error);
    sf_text_free(&text);
    return status;
}

int sf_reader_metadata_text(sf_recording *recording, const char *key, const char *text, sf_error *error)
{
    return text != NULL && text[0] != '\0' ? sf_recording_set_metadata(recording, key, text, error) : SF_OK;
}

int sf_reader_disbelieve(sf_recording *recording, const char *what, sf_error *error)
{
    char told[160];
    snprintf(told, sizeof told, "by %s, which is damaged: it is not believed", what);
    return sf_recording_set_metadata(recording, "recorded", told, error);
}

int sf_reader_metadata_real(sf_recording *recording, const char *key, double value, sf_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    return sf_recording_set_metadata(recording, key, text, error);
}

int sf_reader_mark(sf_recording *recording, size_t *capacity, int64_t time_ns, const char *label,
                   const char *suffix, sf_error *error)
{
    if (sf_reserve(&recording->markers, capacity, recording->marker_count + 1, sizeof *recording->markers) !=
        0)
        return sf_fail_memory(error);
    sf_marker *marker = &recording->markers[recording->marker_count++];
    *marker = (sf_marker){.time_ns = time_ns, .kind = SF_MARKER_TEXT};
    int room = (int)(sizeof marker->text - 1 - strlen(suffix));
    snprintf(marker->text, sizeof marker->text, "%.*s%s", room, label, suffix);
    return SF_OK;
}

int sf_reader_number_units(sf_recording *recording, uint32_t **units, const int64_t *ids, size_t count,
                           int (*describe)(void *context, int64_t id, sf_unit *unit, char name[64]),
                           void *context, sf_error *error)
{
    sf_ids all = {0};
    int status = sf_ids_of(&all, ids, count, error);
    for (size_t i = 0; status == SF_OK && i < all.count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%" PRId64, all.items[i].id);
        sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .electrode = -1};
        status = describe(context, all.items[i].id, &unit, name);
        if (status == SF_OK) status = sf_units_add(&recording->units, &unit, error);
    }
    *units = status == SF_OK ? sf_resize(NULL, count, sizeof **units) : NULL;
    if (status == SF_OK && *units == NULL) status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        (*units)[i] = i > 0 && ids[i] == ids[i - 1] ? (*units)[i - 1] : sf_ids_find(&all, ids[i]);
    sf_ids_free(&all);
    return status;
}

int64_t sf_reader_last_ns(const sf_recording *recording)
{
    int64_t last_ns = 0;
    for (size_t i = 0; i < recording->spike_count; i++)
        last_ns = recording->spikes[i].time_ns > last_ns ? recording->spikes[i].time_ns : last_ns;
    return last_ns;
}

int sf_reader_keep_units(sf_recording *recording, const sf_unit *const *kept, size_t count, sf_error *error)
{
    sf_units before = recording->units, after = {0};
    uint32_t *moved = sf_alloc(before.count, sizeof *moved);
    int status = moved != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < before.count; i++)
        moved[i] = SF_NO_UNIT;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        moved[kept[i] - before.items] = (uint32_t)i;
        status = sf_units_add(&after, kept[i], error);
    }
    size_t spikes = 0;
    for (size_t i = 0; status == SF_OK && i < recording->spike_count; i++) {
        sf_spike spike = recording->spikes[i];
        spike.unit = moved[spike.unit];
        if (spike.unit != SF_NO_UNIT) recording->spikes[spikes++] = spike;
    }
    sf_free(moved);
    if (status != SF_OK) {
        sf_units_free(&after);
        return status;
    }
    recording->spike_count = spikes;
    sf_units_free(&recording->units);
    recording->units = after;
    return SF_OK;
}

int sf_reader_check_rate(double *rate_hz, double given, const char *path, const char *looked_for,
                         sf_error *error)
{
    if (given > 0) *rate_hz = given;
    if (*rate_hz == 0 || isnan(*rate_hz))
        return sf_fail(error, SF_DATA, path,
                       "does not say how many samples a second has (looked for %s): give --rate HZ",
                       looked_for);
    if (!(*rate_hz >= SF_LEAST_RATE_HZ && *rate_hz <= SF_MOST_RATE_HZ))
        return sf_fail(error, SF_DATA, path,
                       "damaged: %s says %g samples a second, expected %g to %g; --rate HZ says it better",
                       looked_for, *rate_hz, SF_LEAST_RATE_HZ, SF_MOST_RATE_HZ);
    return SF_OK;
}

int sf_refuse_stream(const char *path, const char *stream, sf_error *error)
{
    return sf_fail(error, SF_USAGE, path, "there is no stream '%s' to choose: this layout holds one", stream);
}

int sf_refuse_rate(const char *path, sf_error *error)
{
    return sf_fail(error, SF_USAGE, path,
                   "this layout has its times in seconds: --rate is for those that count samples");
}

static const sf_reader *find_reader(hid_t file)
{
    const sf_reader *const *reader = readers;
    if (file < 0) return &sf_reader_mat;
    while (!(*reader)->recognises(file)) /* the last one takes every file */
        reader++;
    return *reader;
}

static int refuse_pieces(const char *path, sf_error *error)
{
    return sf_fail(error, SF_USAGE, path,
                   "sessions are told by the order of all spikes, which are read in pieces here");
}

/* Reads one of the streams, and leaves its spikes in file order. */
static int read_chosen(sf_recording *recording, const sf_reader *reader, const sf_hdf_input *asked,
                       sf_error *error)
{
    sf_streams streams = {0};
    sf_hdf_input input = *asked;
    sf_session session = SF_SESSION_ANY;
    int status = reader->list != NULL ? reader->list(&streams, asked, error) : SF_OK;
    if (status == SF_OK && streams.what == NULL && asked->stream != NULL &&
        !sf_streams_may_be_session(asked->stream))
        status = sf_refuse_stream(asked->path, asked->stream, error);
    if (status == SF_OK)
        status = sf_streams_choose(&streams, asked->stream, asked->path, &input.stream, &session, error);
    if (status == SF_OK && session != SF_SESSION_ANY && asked->parts > 0)
        status = refuse_pieces(asked->path, error);
    if (status == SF_OK) status = reader->read(recording, &input, error);
    if (status == SF_OK && !recording->is_part)
        status = sf_sessions_take(recording, streams.count > 1 ? input.stream : NULL, session, error);
    sf_streams_free(&streams);
    return status;
}

static int check_input(const sf_reader *reader, const sf_hdf_input *input, sf_error *error)
{
    if (input->rate_hz > 0 && !reader->counts_samples) return sf_refuse_rate(input->path, error);
    if (input->only_part && !reader->has_parts)
        return sf_fail(
            error, SF_USAGE, input->path,
            "this layout is read as a whole, not in pieces: `synfire convert` writes it as one that is");
    return SF_OK;
}

typedef struct stream_source {
    const sf_reader *reader;
    const sf_hdf_input *asked;
} stream_source;

static int read_stream(sf_recording *recording, const char *stream, const void *context, sf_error *error)
{
    const stream_source *from = context;
    sf_hdf_input input = *from->asked;
    input.stream = stream;
    return from->reader->read(recording, &input, error);
}

int sf_recording_list_hdf5(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    const stream_source from = {find_reader(input->file), input};
    sf_streams found = {0};
    int status = check_input(from.reader, input, error);
    if (status == SF_OK && from.reader->list != NULL) status = from.reader->list(&found, input, error);
    if (status == SF_OK) status = sf_sessions_list_all(streams, &found, read_stream, &from, error);
    sf_streams_free(&found);
    return status;
}

int sf_recording_read_hdf5(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    *recording = (sf_recording){0};
    const sf_reader *reader = find_reader(input->file);
    int status = check_input(reader, input, error);
    if (status == SF_OK && (recording->path = sf_copy_string(input->path)) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK) status = read_chosen(recording, reader, input, error);
    if (status != SF_OK) sf_recording_clear(recording);
    return status;
}
