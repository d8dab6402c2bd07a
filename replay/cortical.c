/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cortical Labs CL1: an HDF5 file that PyTables wrote. /spikes and /stims are tables of a timestamp in frames
 * and a channel, /data_stream/NAME/index has a timestamp for each entry that an application published, and
 * attributes of the root say when the recording began, how long it is and how many frames a second has.
 * PyTables stores numbers and text of Python as such and all else as pickles, which are searched as text here
 * and never run. The layout is that of _recording_writer.py and recording.py of the vendor's cl-sdk, the
 * places of channels are those of its _mea_layout.py.
 */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CHANNELS = 256, /* a table has its channels in one byte */
    GRID = 8,
    REFERENCE = 4
};

#define PITCH_UM 200 /* of the array that is in a CL1, 60MEA200/30iR */
#define RELATIVE "stim_and_spike_timestamps_relative_to_start"

static bool recognises(hid_t file)
{
    return H5Aexists(file, "channel_count") > 0 && H5Aexists(file, "start_timestamp") > 0 &&
           (H5Aexists(file, "frames_per_second") > 0 || H5Aexists(file, "uV_per_sample_unit") > 0);
}

/* ---- attributes ---- */

/* A pickle of protocol 0, which PyTables writes, has lines `I25000`, `L25000L` or `F25000.0`, and a dot. */
static void read_pickled_number(const char *text, double *number)
{
    char *end;
    if (text[0] != 'I' && text[0] != 'L' && text[0] != 'F') return;
    double found = strtod(text + 1, &end);
    if (end > text + 1 && strcmp(end + (text[0] == 'L' && *end == 'L'), "\n.") == 0) *number = found;
}

/* Sets *number to 0 if there is none; 0 means unknown in this layout, too. */
static int read_number(double *number, hid_t file, const char *name, sf_error *error)
{
    sf_text text = {0};
    *number = 0;
    if (!sf_hdf_attribute_number(file, name, number) && sf_hdf_attribute_text(file, name, &text))
        read_pickled_number(text.data, number);
    if (!isfinite(*number)) *number = 0;
    int status = text.failed ? sf_fail_memory(error) : SF_OK;
    sf_text_free(&text);
    return status;
}

/* Value of an entry of a pickled dict: a line `VKEY`, a line that numbers it (`p3`), and the value. NULL: no
 * such entry. */
static const char *find_pickled(const char *text, const char *key)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "V%s\np", key);
    const char *found = strstr(text, wanted);
    found = found != NULL ? strchr(found + strlen(wanted), '\n') : NULL;
    return found != NULL ? found + 1 : NULL;
}

typedef enum time_origin { FROM_START, ABSOLUTE, UNSAID } time_origin;

/* Reads the attribute file_format: the origin of timestamps, and the version, "" if it has none. */
static int read_file_format(time_origin *origin, char version[32], hid_t file, sf_error *error)
{
    sf_text text = {0};
    *origin = UNSAID;
    version[0] = '\0';
    if (sf_hdf_attribute_text(file, "file_format", &text)) {
        const char *relative = find_pickled(text.data, RELATIVE), *said = find_pickled(text.data, "version");
        if (relative != NULL && strncmp(relative, "I01\n", 4) == 0)
            *origin = FROM_START;
        else if (relative != NULL && strncmp(relative, "I00\n", 4) == 0)
            *origin = ABSOLUTE;
        if (said != NULL && said[0] == 'V')
            snprintf(version, 32, "%.*s", (int)strcspn(said + 1, "\n"), said + 1);
    }
    int status = text.failed ? sf_fail_memory(error) : SF_OK;
    sf_text_free(&text);
    return status;
}

static int read_metadata(sf_recording *recording, hid_t file, sf_error *error)
{
    static const char *const entries[][2] = {{"created_utc", "started"},
                                             {"project_id", "project"},
                                             {"cell_batch_id", "cell_batch"},
                                             {"hostname", "device"}};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < sizeof entries / sizeof entries[0]; i++) {
        sf_text text = {0};
        bool found = sf_hdf_attribute_text(file, entries[i][0], &text);
        if (text.failed)
            status = sf_fail_memory(error);
        else if (found)
            status = sf_reader_metadata_text(recording, entries[i][1], text.data, error);
        sf_text_free(&text);
    }
    return status;
}

/* ---- a table of timestamps ---- */

typedef struct table {
    int64_t *frames, *channels; /* channels NULL: it has none */
    size_t count;
} table;

static void free_table(table *it)
{
    sf_free(it->frames);
    sf_free(it->channels);
    *it = (table){0};
}

static int read_table(table *to, hid_t at, const char *name, bool has_channels, const char *path,
                      sf_error *error)
{
    void *frames = NULL, *channels = NULL;
    size_t count = 0;
    int status = sf_hdf_read_field(at, name, "timestamp", path, H5T_NATIVE_INT64, sizeof *to->frames, &frames,
                                   &to->count, error);
    if (status == SF_OK && has_channels)
        status = sf_hdf_read_field(at, name, "channel", path, H5T_NATIVE_INT64, sizeof *to->channels,
                                   &channels, &count, error);
    to->frames = frames;
    to->channels = channels;
    return status;
}

/* ---- the whole ---- */

typedef struct reading {
    const sf_hdf_input *input;
    sf_recording *recording;
    table spikes;
    double rate_hz;
    double start;  /* frame at which the recording began, on the clock of the device */
    int64_t first; /* frame of time 0, as the tables count frames */
    size_t channels;
    size_t marker_capacity;
    int status; /* of what a visit of groups does */
    sf_error *error;
} reading;

/* In files that do not state the origin, timestamps count from the start of the device, unless one is before
 * the start of the recording. */
static int find_origin(reading *in, time_origin said)
{
    time_origin origin = said;
    for (size_t i = 0; origin == UNSAID && i < in->spikes.count; i++)
        if ((double)in->spikes.frames[i] < in->start) origin = FROM_START;
    in->first = origin == FROM_START ? 0 : (int64_t)in->start;
    if (said != UNSAID || in->start == 0 || in->spikes.count == 0) return SF_OK;
    return sf_recording_set_metadata(
        in->recording, "clock",
        origin == FROM_START
            ? "the file does not say from where timestamps count: from the start of the recording, as one is "
              "less than start_timestamp"
            : "the file does not say from where timestamps count: start_timestamp was subtracted, as none is "
              "less",
        in->error);
}

static int read_numbers(reading *in)
{
    const char *path = in->input->path;
    hid_t file = in->input->file;
    double channels;
    int status = read_number(&in->start, file, "start_timestamp", in->error);
    if (status == SF_OK) status = read_number(&channels, file, "channel_count", in->error);
    if (status == SF_OK) status = read_number(&in->rate_hz, file, "frames_per_second", in->error);
    if (status == SF_OK && in->rate_hz == 0)
        status = read_number(&in->rate_hz, file, "sampling_frequency", in->error);
    if (status != SF_OK) return status;
    if (fabs(in->start) >= 0x1p62)
        return sf_fail(in->error, SF_DATA, path, "damaged: start_timestamp is frame %g", in->start);
    if (!(channels >= 1 && channels <= MOST_CHANNELS))
        return sf_fail(in->error, SF_DATA, path,
                       "damaged: channel_count is %g, expected 1 to %d, which one byte can number", channels,
                       MOST_CHANNELS);
    in->channels = (size_t)channels;
    return sf_reader_check_rate(&in->rate_hz, in->input->rate_hz, path, "the attribute frames_per_second",
                                in->error);
}

static int read_about(reading *in)
{
    time_origin origin;
    char version[32];
    int status = read_numbers(in);
    if (status == SF_OK) status = read_file_format(&origin, version, in->input->file, in->error);
    if (status == SF_OK) status = find_origin(in, origin);
    if (status != SF_OK) return status;
    return sf_reader_set_format(in->recording, in->error, "Cortical Labs CL1%s%s",
                                version[0] != '\0' ? ", version " : "", version);
}

/* ---- channels ---- */

static bool is_ground(size_t channel)
{
    return channel == 0 || channel == GRID - 1 || channel == GRID * (GRID - 1) || channel == GRID * GRID - 1;
}

/* True if the channels are those of the array that the vendor's own analyses assume: 8 by 8, without spikes
 * on its grounds. */
static bool is_common_layout(const reading *in, const size_t *spikes)
{
    bool is_common = in->channels == GRID * GRID;
    for (size_t i = 0; is_common && i < in->channels; i++)
        is_common = !is_ground(i) || spikes[i] == 0;
    return is_common;
}

/* Every channel is a unit, with spikes or not, except grounds and reference of the known array without
 * spikes. */
static int add_units(reading *in, uint32_t units[MOST_CHANNELS], const size_t spikes[MOST_CHANNELS])
{
    bool is_common = is_common_layout(in, spikes);
    int status = is_common ? sf_reader_metadata_real(in->recording, "pitch_um", PITCH_UM, in->error) : SF_OK;
    for (size_t i = 0; status == SF_OK && i < in->channels; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        units[i] = (uint32_t)in->recording->units.count;
        const sf_unit unit = {.name = name,
                              .x_um = is_common ? (double)(i / GRID) * PITCH_UM : NAN,
                              .y_um = is_common ? (double)(i % GRID) * PITCH_UM : NAN,
                              .kind = SF_UNIT_MULTI_UNIT,
                              .electrode = (int32_t)i};
        if (!is_common || spikes[i] > 0 || !(is_ground(i) || i == REFERENCE))
            status = sf_units_add(&in->recording->units, &unit, in->error);
    }
    return status;
}

static int check_channels(const reading *in, const table *of, const char *name)
{
    for (size_t i = 0; i < of->count; i++)
        if (of->channels[i] < 0 || (uint64_t)of->channels[i] >= in->channels)
            return sf_fail(in->error, SF_DATA, in->input->path,
                           "damaged: row %zu of %s is on channel %" PRId64
                           ", and channel_count says that there are %zu",
                           i, name, of->channels[i], in->channels);
    return SF_OK;
}

static int add_spikes(reading *in)
{
    uint32_t of_channel[MOST_CHANNELS] = {0};
    size_t spikes[MOST_CHANNELS] = {0}, count = in->spikes.count;
    int status = check_channels(in, &in->spikes, "/spikes");
    uint32_t *units = sf_resize(NULL, count, sizeof *units);
    if (status == SF_OK && units == NULL) status = sf_fail_memory(in->error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        spikes[in->spikes.channels[i]]++;
    if (status == SF_OK) status = add_units(in, of_channel, spikes);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        units[i] = of_channel[in->spikes.channels[i]];
    const sf_spikes_in_samples all = {.samples = in->spikes.frames,
                                      .units = units,
                                      .count = count,
                                      .first = in->first,
                                      .rate_hz = in->rate_hz};
    if (status == SF_OK) status = sf_samples_take(in->recording, &all, in->input->path, in->error);
    sf_free(units);
    return status;
}

/* ---- markers ---- */

static int add_marker(reading *in, const table *of, size_t row, const char *name, const char *label)
{
    int64_t frame, time_ns;
    if (__builtin_sub_overflow(of->frames[row], in->first, &frame) ||
        !sf_samples_to_ns(frame, in->rate_hz, &time_ns))
        return sf_fail(in->error, SF_DATA, in->input->path,
                       "damaged: row %zu of %s is at frame %" PRId64 ", which at %g Hz is beyond 146 years",
                       row, name, of->frames[row], in->rate_hz);
    return sf_reader_mark(in->recording, &in->marker_capacity, time_ns, label, "", in->error);
}

/* A stimulus is a marker `stim 5` of its channel, and those of one frame together are a marker `stim`. */
static int add_stims(reading *in)
{
    static const char name[] = "/stims";
    table stims = {0};
    char label[SF_MARKER_TEXT_SIZE];
    if (!sf_hdf_is_dataset(in->input->file, name)) return SF_OK;
    int status = read_table(&stims, in->input->file, name, true, in->input->path, in->error);
    if (status == SF_OK) status = check_channels(in, &stims, name);
    for (size_t i = 0; status == SF_OK && i < stims.count; i++) {
        snprintf(label, sizeof label, "stim %" PRId64, stims.channels[i]);
        if (i == 0 || stims.frames[i] != stims.frames[i - 1])
            status = add_marker(in, &stims, i, name, "stim");
        if (status == SF_OK) status = add_marker(in, &stims, i, name, label);
    }
    free_table(&stims);
    return status;
}

static int add_entries(reading *in, hid_t stream, const char *group)
{
    table entries = {0};
    sf_text label = {0};
    int status = read_table(&entries, stream, "index", false, in->input->path, in->error);
    if (!sf_hdf_attribute_text(stream, "name", &label) || label.length == 0)
        sf_text_append(&label, group, strlen(group));
    if (status == SF_OK && label.failed) status = sf_fail_memory(in->error);
    for (size_t i = 0; status == SF_OK && i < entries.count; i++)
        status = add_marker(in, &entries, i, "the index of a data stream", label.data);
    sf_text_free(&label);
    free_table(&entries);
    return status;
}

static int visit_stream(void *context, hid_t group, const char *name)
{
    reading *in = context;
    hid_t stream = sf_hdf_open(group, name);
    if (stream >= 0 && H5Iget_type(stream) == H5I_GROUP && sf_hdf_is_dataset(stream, "index"))
        in->status = add_entries(in, stream, name);
    sf_hdf_close(stream);
    return in->status != SF_OK;
}

/* Every entry becomes a marker with the name of its stream; its data are not read. */
static int add_data_streams(reading *in)
{
    hid_t streams = sf_hdf_open(in->input->file, "/data_stream");
    if (streams >= 0 && H5Iget_type(streams) == H5I_GROUP) sf_hdf_each_member(streams, visit_stream, in);
    sf_hdf_close(streams);
    return in->status;
}

/* ---- how long ---- */

/* Number of frames that the file states; for an unfinished file, number of voltage frames. */
static int count_frames(double *frames, const reading *in)
{
    size_t size[2];
    double end = 0;
    hid_t file = in->input->file;
    int status = read_number(frames, file, "duration_frames", in->error);
    if (status == SF_OK && *frames == 0) status = read_number(&end, file, "end_timestamp", in->error);
    if (status == SF_OK && *frames == 0 && end != 0) *frames = end - in->start;
    if (status == SF_OK && *frames == 0 && sf_hdf_shape(file, "/samples", size) == 2)
        *frames = (double)size[0];
    return status;
}

static int take_recorded(reading *in)
{
    double frames;
    int64_t stop_ns;
    int status = count_frames(&frames, in);
    if (status != SF_OK || frames == 0) return status;
    if (!(frames > 0 && frames < 0x1p62) || !sf_samples_to_ns((int64_t)frames, in->rate_hz, &stop_ns))
        return sf_reader_disbelieve(in->recording, "duration_frames or end_timestamp", in->error);
    in->recording->recorded = (sf_span){0, stop_ns};
    in->recording->declared = true;
    return SF_OK;
}

static int read_tables(reading *in)
{
    int status = read_table(&in->spikes, in->input->file, "/spikes", true, in->input->path, in->error);
    if (status == SF_OK) status = read_about(in);
    if (status == SF_OK) status = add_spikes(in);
    if (status == SF_OK) status = add_stims(in);
    if (status == SF_OK) status = add_data_streams(in);
    if (status == SF_OK) status = take_recorded(in);
    if (status == SF_OK)
        status = sf_reader_metadata_real(in->recording, "sampling_rate", in->rate_hz, in->error);
    return status == SF_OK ? read_metadata(in->recording, in->input->file, in->error) : status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    reading in = {.input = input, .recording = recording, .error = error};
    if (!sf_hdf_is_dataset(input->file, "/spikes"))
        return sf_fail(error, SF_DATA, input->path,
                       "no spike times: this Cortical Labs CL1 recording was made without the table /spikes; "
                       "record with include_spikes=True, or detect them in its /samples");
    int status = read_tables(&in);
    free_table(&in.spikes);
    return status;
}

const sf_reader sf_reader_cortical = {
    .counts_samples = true, .recognises = recognises, .read = read_recording};
