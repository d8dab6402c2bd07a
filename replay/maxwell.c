/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MaxWell Biosystems' .raw.h5. Spikes are rows of a frame, a channel and an amplitude; where channels are is
 * the routing of the array. Of the voltages beside them, which a filter of the vendor's may hold, nothing is
 * read.
 *
 * Old (MaxOne, /version 20160704): /mapping, /proc0/spikeTimes, 20 kHz; the first frame is in two rows of
 * /sig. New (MaxOne, MaxTwo): /wells/WELL/REC and /recordings/REC/WELL are links into /data_store; each has
 * spikes, settings/mapping, settings/sampling, and the frames that were recorded in groups/routed/frame_nos.
 */
#include "replay/ids.h"
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD_RATE_HZ 20000
#define FRAME_ROW                                                                                            \
    1026 /* of /sig: the lower 16 bits of the frame's number, the upper ones in the next row                 \
          */

static bool is_new(hid_t file)
{
    return sf_hdf_is_group(file, "/wells") || sf_hdf_is_group(file, "/data_store") ||
           sf_hdf_is_group(file, "/recordings");
}

/* New files may have a /mapping at their root, too. */
static bool is_old(hid_t file)
{
    return sf_hdf_is_dataset(file, "/mapping") && !is_new(file);
}

static bool recognises(hid_t file)
{
    return sf_hdf_is_dataset(file, "/version") && (is_new(file) || is_old(file));
}

/* ---- wells and recordings ---- */

typedef struct listing {
    sf_streams *streams;
    const char *outer; /* the group that is looked into */
    bool well_first;   /* /wells/WELL/REC, else /recordings/REC/WELL */
    int status;
    sf_error *error;
} listing;

static int add_recording(listing *list, hid_t group, const char *name, const char *stream)
{
    size_t size[2];
    hid_t recording = sf_hdf_open(group, name);
    if (recording >= 0 && H5Iget_type(recording) == H5I_GROUP && sf_hdf_is_dataset(recording, "spikes"))
        list->status = sf_streams_add(
            list->streams, stream, sf_hdf_shape(recording, "spikes", size) == 1 ? size[0] : 0, list->error);
    sf_hdf_close(recording);
    return list->status != SF_OK;
}

static int visit_inner(void *context, hid_t group, const char *name)
{
    listing *list = context;
    char stream[600];
    snprintf(stream, sizeof stream, "%s/%s", list->well_first ? list->outer : name,
             list->well_first ? name : list->outer);
    return add_recording(list, group, name, stream);
}

static int visit_outer(void *context, hid_t group, const char *name)
{
    listing *list = context;
    hid_t outer = sf_hdf_open(group, name);
    list->outer = name;
    if (outer >= 0 && H5Iget_type(outer) == H5I_GROUP) sf_hdf_each_member(outer, visit_inner, list);
    sf_hdf_close(outer);
    return list->status != SF_OK;
}

static int visit_stored(void *context, hid_t group, const char *name)
{
    return add_recording(context, group, name, name);
}

static int list_recordings(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    static const char *const places[] = {"/wells", "/recordings", "/data_store"};
    listing list = {.streams = streams, .error = error};
    streams->what = "recording";
    if (is_old(input->file))
        return sf_hdf_is_dataset(input->file, "/proc0/spikeTimes")
                   ? sf_streams_add(streams, "proc0", 0, error)
                   : SF_OK;
    for (int i = 0; list.status == SF_OK && streams->count == 0 && i < 3; i++) {
        hid_t place = sf_hdf_open(input->file, places[i]);
        list.well_first = i == 0;
        if (place >= 0 && H5Iget_type(place) == H5I_GROUP)
            sf_hdf_each_member(place, i < 2 ? visit_outer : visit_stored, &list);
        sf_hdf_close(place);
    }
    return list.status;
}

/* Opens the group of a recording from the list. */
static hid_t open_recording(const sf_hdf_input *input)
{
    char path[700];
    const char *slash = strchr(input->stream, '/');
    if (slash == NULL)
        snprintf(path, sizeof path, "/data_store/%s", input->stream);
    else if (sf_hdf_is_group(input->file, "/wells"))
        snprintf(path, sizeof path, "/wells/%s", input->stream);
    hid_t found = slash == NULL || sf_hdf_is_group(input->file, "/wells") ? sf_hdf_open(input->file, path)
                                                                          : H5I_INVALID_HID;
    if (found < 0 && slash != NULL) {
        snprintf(path, sizeof path, "/recordings/%s/%.*s", slash + 1, (int)(slash - input->stream),
                 input->stream);
        found = sf_hdf_open(input->file, path);
    }
    return found;
}

/* ---- the routing ---- */

typedef struct routing {
    int32_t *channels, *electrodes;
    double *x, *y;
    size_t count;
    sf_ids seconds;                        /* further channels of electrodes that already have one */
    int32_t of_channel[3];                 /* a channel with two electrodes, and these */
    int32_t of_electrode[3];               /* an electrode with two channels, and these */
    size_t channel_count, electrode_count; /* how many such there are */
} routing;

static int read_routing(routing *to, hid_t at, const char *table, const char *path, sf_error *error)
{
    void *channels = NULL, *electrodes = NULL, *x = NULL, *y = NULL;
    int status = sf_hdf_read_field(at, table, "channel", path, H5T_NATIVE_INT32, sizeof *to->channels,
                                   &channels, &to->count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field(at, table, "electrode", path, H5T_NATIVE_INT32, sizeof *to->electrodes,
                                   &electrodes, &to->count, error);
    if (status == SF_OK)
        status =
            sf_hdf_read_field(at, table, "x", path, H5T_NATIVE_DOUBLE, sizeof *to->x, &x, &to->count, error);
    if (status == SF_OK)
        status =
            sf_hdf_read_field(at, table, "y", path, H5T_NATIVE_DOUBLE, sizeof *to->y, &y, &to->count, error);
    *to = (routing){.channels = channels, .electrodes = electrodes, .x = x, .y = y, .count = to->count};
    return status;
}

static void free_routing(routing *it)
{
    sf_free(it->channels);
    sf_free(it->electrodes);
    sf_free(it->x);
    sf_free(it->y);
    sf_ids_free(&it->seconds);
}

/* Whether row i repeats a channel or an electrode of an existing unit. A channel is one unit, whatever it is
 * wired to; a second channel of an electrode would duplicate its spikes. */
static int take_shared(bool *is_shared, sf_recording *recording, const sf_ids *channels,
                       const sf_ids *electrodes, routing *from, size_t i, sf_error *error)
{
    uint32_t by_channel = sf_ids_find(channels, from->channels[i]),
             by_electrode = sf_ids_find(electrodes, from->electrodes[i]);
    *is_shared = by_channel != SF_NO_UNIT || by_electrode != SF_NO_UNIT;
    if (by_channel != SF_NO_UNIT && from->channel_count++ == 0)
        memcpy(
            from->of_channel,
            (int32_t[]){from->channels[i], recording->units.items[by_channel].electrode, from->electrodes[i]},
            sizeof from->of_channel);
    if (by_channel != SF_NO_UNIT || by_electrode == SF_NO_UNIT) return SF_OK;
    int32_t first = -1;
    for (size_t k = 0; k < i && first < 0; k++)
        first = from->electrodes[k] == from->electrodes[i] ? from->channels[k] : -1;
    if (from->electrode_count++ == 0)
        memcpy(from->of_electrode, (int32_t[]){from->electrodes[i], first, from->channels[i]},
               sizeof from->of_electrode);
    return sf_ids_set(&from->seconds, from->channels[i], by_electrode, error);
}

static int tell_shared(sf_recording *recording, const routing *from, sf_error *error)
{
    char told[256] = "";
    size_t length = 0;
    if (from->channel_count > 0)
        length += (size_t)snprintf(told, sizeof told,
                                   "channel %" PRId32 " has electrodes %" PRId32 " and %" PRId32
                                   ", and is one unit at the first%s",
                                   from->of_channel[0], from->of_channel[1], from->of_channel[2],
                                   from->channel_count > 1 ? ", and others likewise" : "");
    if (from->electrode_count > 0)
        snprintf(told + length, sizeof told - length,
                 "%selectrode %" PRId32 " has channels %" PRId32 " and %" PRId32
                 ", of which the second is left out%s",
                 length > 0 ? "; " : "", from->of_electrode[0], from->of_electrode[1], from->of_electrode[2],
                 from->electrode_count > 1 ? ", and others likewise" : "");
    return told[0] != '\0' ? sf_recording_set_metadata(recording, "routing", told, error) : SF_OK;
}

/* A unit for each electrode that is connected. */
static int add_units(sf_recording *recording, sf_ids *channels, routing *from, const char *well,
                     sf_error *error)
{
    int status = SF_OK;
    sf_ids electrodes = {0};
    for (size_t i = 0; status == SF_OK && i < from->count; i++) {
        char name[16];
        if (from->channels[i] < 0 || from->electrodes[i] < 0) continue;
        snprintf(name, sizeof name, "%" PRId32, from->electrodes[i]);
        const sf_unit unit = {.name = name,
                              .x_um = from->x[i],
                              .y_um = from->y[i],
                              .kind = SF_UNIT_MULTI_UNIT,
                              .electrode = from->electrodes[i],
                              .well = well};
        bool is_shared;
        status = take_shared(&is_shared, recording, channels, &electrodes, from, i, error);
        if (status != SF_OK || is_shared) continue;
        status = sf_ids_set(channels, from->channels[i], (uint32_t)recording->units.count, error);
        if (status == SF_OK)
            status = sf_ids_set(&electrodes, from->electrodes[i], (uint32_t)recording->units.count, error);
        if (status == SF_OK) status = sf_units_add(&recording->units, &unit, error);
    }
    sf_ids_free(&electrodes);
    return status == SF_OK ? tell_shared(recording, from, error) : status;
}

/* ---- spikes ---- */

typedef struct table {
    int64_t *frames;
    int32_t *channels;
    float *amplitudes;
    uint32_t *units;
    size_t count;
} table;

static int read_table(table *to, hid_t at, const char *name, const sf_ids *channels, const char *path,
                      sf_error *error)
{
    void *frames = NULL, *numbers = NULL, *amplitudes = NULL;
    int status = sf_hdf_read_field(at, name, "frameno", path, H5T_NATIVE_INT64, sizeof *to->frames, &frames,
                                   &to->count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field(at, name, "channel", path, H5T_NATIVE_INT32, sizeof *to->channels,
                                   &numbers, &to->count, error);
    if (status == SF_OK && sf_hdf_has_field(at, name, "amplitude"))
        status = sf_hdf_read_field(at, name, "amplitude", path, H5T_NATIVE_FLOAT, sizeof *to->amplitudes,
                                   &amplitudes, &to->count, error);
    to->frames = frames;
    to->channels = numbers;
    to->amplitudes = amplitudes;
    if (status == SF_OK && (to->units = sf_alloc(to->count, sizeof *to->units)) == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < to->count; i++)
        to->units[i] = sf_ids_find(channels, to->channels[i]);
    return status;
}

/* Removes the spikes of an electrode that another channel has already reported. */
static void drop_seconds(sf_recording *recording, table *rows, const sf_ids *seconds)
{
    size_t kept = 0;
    for (size_t i = 0; seconds->count > 0 && i < rows->count; i++) {
        rows->frames[kept] = rows->frames[i];
        rows->units[kept] = rows->units[i];
        if (rows->amplitudes != NULL) rows->amplitudes[kept] = rows->amplitudes[i];
        kept += sf_ids_find(seconds, rows->channels[i]) == SF_NO_UNIT;
    }
    if (seconds->count == 0 || kept == rows->count) return;
    sf_recording_drop(recording, "on a second channel of an electrode", rows->count - kept);
    rows->count = kept;
}

static void free_table(table *it)
{
    sf_free(it->frames);
    sf_free(it->channels);
    sf_free(it->amplitudes);
    sf_free(it->units);
}

static int64_t least(const int64_t *values, size_t count)
{
    int64_t found = count > 0 ? values[0] : 0;
    for (size_t i = 1; i < count; i++)
        found = values[i] < found ? values[i] : found;
    return found;
}

/* First and last recorded frame; false if the file does not state them. */
static bool read_frames(hid_t recording, int64_t bounds[2])
{
    size_t count;
    hid_t column = sf_hdf_is_dataset(recording, "groups/routed/frame_nos")
                       ? sf_hdf_open_column(recording, "groups/routed/frame_nos", NULL, &count, NULL)
                       : H5I_INVALID_HID;
    bool found = column >= 0 && count > 0 && sf_hdf_read_rows(column, H5T_NATIVE_INT64, 0, 1, &bounds[0]) &&
                 sf_hdf_read_rows(column, H5T_NATIVE_INT64, count - 1, 1, &bounds[1]) &&
                 bounds[0] <= bounds[1];
    sf_hdf_close(column);
    return found;
}

/* ---- a recording ---- */

/* Common to both generations, with the location of each item. */
typedef struct plan {
    hid_t at;
    const char *spikes, *mapping, *well;
    double rate_hz;
    bool has_first, has_last; /* frames[0] and frames[1] are known */
    int64_t frames[2];
} plan;

static int set_recorded(sf_recording *recording, const plan *of, const char *path, sf_error *error)
{
    int64_t frames;
    if (!of->has_last) return SF_OK;
    if (__builtin_sub_overflow(of->frames[1], of->frames[0], &frames) || frames == INT64_MAX ||
        !sf_samples_to_ns(frames + 1, of->rate_hz, &recording->recorded.stop_ns))
        return sf_fail(error, SF_DATA, path, "damaged: it counts frames from %" PRId64 " to %" PRId64,
                       of->frames[0], of->frames[1]);
    recording->declared = true;
    return SF_OK;
}

static int read_plan(sf_recording *recording, plan *of, const char *path, sf_error *error)
{
    routing electrodes = {0};
    sf_ids channels = {0};
    table rows = {0};
    int status = read_routing(&electrodes, of->at, of->mapping, path, error);
    if (status == SF_OK) status = add_units(recording, &channels, &electrodes, of->well, error);
    if (status == SF_OK) status = read_table(&rows, of->at, of->spikes, &channels, path, error);
    if (status == SF_OK && !of->has_first) of->frames[0] = least(rows.frames, rows.count);
    if (status == SF_OK) drop_seconds(recording, &rows, &electrodes.seconds);
    const sf_spikes_in_samples spikes = {.samples = rows.frames,
                                         .units = rows.units,
                                         .amplitudes = rows.amplitudes,
                                         .count = rows.count,
                                         .first = of->frames[0],
                                         .rate_hz = of->rate_hz,
                                         .from_first = of->has_first};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, path, error);
    if (status == SF_OK) status = set_recorded(recording, of, path, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "sampling_rate", of->rate_hz, error);
    if (status == SF_OK)
        status = sf_reader_metadata_real(recording, "first_frame", (double)of->frames[0], error);
    free_routing(&electrodes);
    sf_ids_free(&channels);
    free_table(&rows);
    return status;
}

static int read_old(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    int64_t words[2];
    plan of = {
        .at = input->file, .spikes = "/proc0/spikeTimes", .mapping = "/mapping", .rate_hz = OLD_RATE_HZ};
    of.has_first = sf_hdf_read_cells(input->file, "/sig", FRAME_ROW, 0, words);
    if (of.has_first) of.frames[0] = (words[1] & 0xffff) << 16 | (words[0] & 0xffff);
    int status = sf_reader_check_rate(&of.rate_hz, input->rate_hz, input->path, "nothing", error);
    return status == SF_OK ? read_plan(recording, &of, input->path, error) : status;
}

static int read_new(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    char well[256] = "";
    const char *slash = strchr(input->stream, '/');
    snprintf(well, sizeof well, "%.*s", (int)(slash != NULL ? slash - input->stream : 0), input->stream);
    plan of = {.at = open_recording(input),
               .spikes = "spikes",
               .mapping = "settings/mapping",
               .well = slash != NULL ? well : NULL};
    sf_hdf_number(of.at, "settings/sampling", &of.rate_hz);
    of.has_first = of.has_last = read_frames(of.at, of.frames);
    int status = sf_reader_check_rate(&of.rate_hz, input->rate_hz, input->path, "settings/sampling", error);
    if (status == SF_OK) status = read_plan(recording, &of, input->path, error);
    if (status == SF_OK) status = sf_recording_set_metadata(recording, "recording", input->stream, error);
    sf_hdf_close(of.at);
    return status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    sf_text version = {0};
    sf_hdf_dataset_text(input->file, "/version", &version);
    int status = version.failed ? sf_fail_memory(error)
                                : sf_reader_set_format(recording, error, "MaxWell %.32s",
                                                       version.data != NULL ? version.data : "");
    sf_text_free(&version);
    if (status != SF_OK) return status;
    if (input->stream == NULL)
        return sf_fail(
            error, SF_DATA, input->path,
            "no spike times: this MaxWell file holds voltages and no table of spikes (looked for %s); "
            "record with spike detection in MaxLab Live, or detect spikes first and export those",
            is_old(input->file) ? "/proc0/spikeTimes" : "spikes in /wells, /recordings and /data_store");
    return is_old(input->file) ? read_old(recording, input, error) : read_new(recording, input, error);
}

const sf_reader sf_reader_maxwell = {
    .counts_samples = true, .recognises = recognises, .list = list_recordings, .read = read_recording};
