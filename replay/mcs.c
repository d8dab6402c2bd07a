/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi Channel Systems DataManager: /Data/Recording_N has streams of time stamps, one vector for each
 * electrode, and streams of segments cut out around spikes, with their times. The same spikes may be in both:
 * time stamps are read, and segments where there are none. A table Info... says which vector is of which
 * electrode, in any order, so they are joined by their number. Times are microseconds.
 * docs/mcs_hdf5_protocol.rst of McsPyDataTools
 */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_PATH 600

static bool recognises(hid_t file)
{
    return sf_hdf_attribute_begins(file, "McsHdf5ProtocolType", "RawData") ||
           H5Aexists(file, "McsHdf5Version") > 0;
}

/* The two places of spikes. */
typedef struct place {
    const char *group, *subtype; /* of the streams, and what they are when they hold spikes */
    const char *info, *id,
        *entity; /* the table, its field of numbers, and what a vector is named before its number */
} place;

static const place places[] = {
    {"TimeStampStream", "NeuralSpike", "InfoTimeStamp", "TimeStampEntityID", "TimeStampEntity_"},
    {"SegmentStream", "Spike", "InfoSegment", "SegmentID", "SegmentData_ts_"},
};

/* ---- streams ---- */

typedef struct listing {
    sf_streams *streams; /* NULL: spikes are only counted */
    const place *of;
    char recording[300]; /* Recording_0 */
    uint64_t spikes;     /* of the stream that is looked at */
    uint64_t all_spikes; /* of all of them */
    size_t found;
    int status;
    sf_error *error;
} listing;

static int count_spikes(void *context, hid_t group, const char *name)
{
    listing *list = context;
    size_t size[2];
    if (strncmp(name, list->of->entity, strlen(list->of->entity)) == 0 && sf_hdf_shape(group, name, size) > 0)
        list->spikes += size[0] * size[1];
    return 0;
}

static int visit_stream(void *context, hid_t group, const char *name)
{
    listing *list = context;
    hid_t stream = sf_hdf_open(group, name);
    bool fits = stream >= 0 && H5Iget_type(stream) == H5I_GROUP &&
                sf_hdf_is_dataset(stream, list->of->info) &&
                (H5Aexists(stream, "DataSubType") <= 0 ||
                 sf_hdf_attribute_begins(stream, "DataSubType", list->of->subtype));
    list->spikes = 0;
    if (fits) {
        char path[LONGEST_PATH];
        snprintf(path, sizeof path, "%s/%s", list->recording, name);
        sf_hdf_each_member(stream, count_spikes, list);
        list->all_spikes += list->spikes;
        list->found++;
        if (list->streams != NULL)
            list->status = sf_streams_add(list->streams, path, list->spikes, list->error);
    }
    sf_hdf_close(stream);
    return list->status != SF_OK;
}

static void visit_streams(listing *list, hid_t recording)
{
    hid_t streams = sf_hdf_open(recording, list->of->group);
    if (streams >= 0 && H5Iget_type(streams) == H5I_GROUP) sf_hdf_each_member(streams, visit_stream, list);
    sf_hdf_close(streams);
}

/* Where a recording has its spikes: time stamp streams if any holds spikes, or if cut-outs have none either.
 */
static const place *place_of(hid_t recording)
{
    listing stamps = {.of = &places[0]}, segments = {.of = &places[1]};
    visit_streams(&stamps, recording);
    if (stamps.all_spikes == 0) visit_streams(&segments, recording);
    return segments.all_spikes > 0 || (stamps.found == 0 && segments.found > 0) ? &places[1] : &places[0];
}

static int visit_recording(void *context, hid_t group, const char *name)
{
    listing *list = context;
    hid_t recording = sf_hdf_open(group, name);
    snprintf(list->recording, sizeof list->recording, "%s", name);
    list->of = place_of(recording);
    visit_streams(list, recording);
    sf_hdf_close(recording);
    return list->status != SF_OK;
}

static int list_streams(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    listing list = {.streams = streams, .error = error};
    hid_t data = sf_hdf_open(input->file, "/Data");
    streams->what = "spike stream";
    if (data >= 0 && H5Iget_type(data) == H5I_GROUP) sf_hdf_each_member(data, visit_recording, &list);
    sf_hdf_close(data);
    return list.status;
}

/* ---- electrodes ---- */

/* `12` is column 1, row 2; `E8` is column E, row 8; letters omit I and Q. False: neither. */
static bool read_label(const char *label, int *column, int *row)
{
    static const char letters[] = "ABCDEFGHJKLMNOPR";
    char *end;
    if (isdigit((unsigned char)label[0])) {
        *column = label[0] - '0';
        *row = label[1] - '0';
        return *column >= 1 && *column <= 8 && *row >= 1 && *row <= 8 && label[2] == '\0';
    }
    const char *letter = label[0] != '\0' ? strchr(letters, label[0]) : NULL;
    *row = (int)strtol(label + (label[0] != '\0'), &end, 10);
    *column = letter != NULL ? (int)(letter - letters) + 1 : 0;
    return letter != NULL && isdigit((unsigned char)label[1]) && *end == '\0' && *row >= 1 && *row <= 16;
}

/* `60MEA200/30iR` has electrodes of 30 um at a pitch of 200 um; NaN if the name of the array does not say. */
static int read_pitch(double *pitch, hid_t file, sf_error *error)
{
    sf_text name = {0};
    hid_t data = sf_hdf_open(file, "/Data");
    *pitch = NAN;
    if (data >= 0 && sf_hdf_attribute_text(data, "MeaName", &name)) {
        const char *at = strstr(name.data, "MEA");
        const char *end = "";
        double number;
        if (at != NULL && sf_parse_real_until(at + 3, "/", &number, &end) && *end == '/' && number >= 10 &&
            number <= 1000)
            *pitch = number;
    }
    int status = name.failed ? sf_fail_memory(error) : SF_OK;
    sf_hdf_close(data);
    sf_text_free(&name);
    return status;
}

static int add_unit(sf_recording *recording, const char *label, int64_t id, double pitch, sf_error *error)
{
    char number[24];
    int column, row;
    snprintf(number, sizeof number, "%" PRId64, id);
    const char *name = label + strspn(label, " ");
    sf_unit unit = {.name = name[0] != '\0' ? name : number,
                    .x_um = NAN,
                    .y_um = NAN,
                    .kind = SF_UNIT_MULTI_UNIT,
                    .electrode = id >= 0 && id <= INT32_MAX ? (int32_t)id : -1};
    if (read_label(name, &column, &row)) {
        unit.x_um = (column - 1) * pitch;
        unit.y_um = (row - 1) * pitch;
    }
    return sf_units_add(&recording->units, &unit, error);
}

/* ---- spikes ---- */

/* One stream: its table, and where its vectors are. */
typedef struct spike_stream {
    hid_t at;
    const place *of;
    int64_t *ids, *exponents; /* exponents NULL: microseconds */
    char **labels;            /* NULL: none */
    size_t count;
} spike_stream;

static void close_stream(spike_stream *it)
{
    sf_hdf_close(it->at);
    sf_free(it->ids);
    sf_free(it->exponents);
    sf_hdf_free_strings(it->labels, it->labels != NULL ? it->count : 0);
}

/* Exponents must be of seconds; other units are not guessed. */
static int check_unit(const spike_stream *it, const char *path, sf_error *error)
{
    char **units = NULL;
    size_t count = 0;
    if (!sf_hdf_has_field(it->at, it->of->info, "Unit")) return SF_OK;
    int status = sf_hdf_read_field_strings(it->at, it->of->info, "Unit", path, &units, &count, error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        if (strcmp(units[i], "s") != 0)
            status = sf_fail(error, SF_DATA, path, "row %zu of %s has its times in '%.20s', expected s", i,
                             it->of->info, units[i]);
    sf_hdf_free_strings(units, count);
    return status;
}

static int open_stream(spike_stream *it, const sf_hdf_input *input, sf_error *error)
{
    const char *slash = strchr(input->stream, '/'), *path = input->path;
    void *ids = NULL, *exponents = NULL;
    char name[LONGEST_PATH + 50];
    snprintf(name, sizeof name, "/Data/%.*s", (int)(slash - input->stream), input->stream);
    hid_t recording = sf_hdf_open(input->file, name);
    *it = (spike_stream){.of = place_of(recording)};
    snprintf(name, sizeof name, "%s%s", it->of->group, slash);
    it->at = sf_hdf_open(recording, name);
    sf_hdf_close(recording);
    const char *info = it->of->info;
    bool stamps = it->of == &places[0]; /* cut-outs have microseconds */
    int status = stamps ? check_unit(it, path, error) : SF_OK;
    if (status == SF_OK)
        status = sf_hdf_read_field(it->at, info, it->of->id, path, H5T_NATIVE_INT64, sizeof *it->ids, &ids,
                                   &it->count, error);
    if (status == SF_OK && stamps && sf_hdf_has_field(it->at, info, "Exponent"))
        status = sf_hdf_read_field(it->at, info, "Exponent", path, H5T_NATIVE_INT64, sizeof *it->exponents,
                                   &exponents, &it->count, error);
    it->ids = ids;
    it->exponents = exponents;
    if (status == SF_OK && sf_hdf_has_field(it->at, info, "SourceChannelLabels"))
        status = sf_hdf_read_field_strings(it->at, info, "SourceChannelLabels", path, &it->labels, &it->count,
                                           error);
    return status;
}

/* Reads the electrode labels of segments, which are in a separate table by channel. */
static int read_source_labels(spike_stream *it, const char *path, sf_error *error)
{
    static const char table[] = "SourceInfoChannel";
    char **sources = NULL, **names = NULL;
    void *ids = NULL;
    size_t count = 0, source_count = 0;
    if (it->labels != NULL || !sf_hdf_has_field(it->at, it->of->info, "SourceChannelIDs") ||
        !sf_hdf_has_field(it->at, table, "ChannelID") || !sf_hdf_has_field(it->at, table, "Label"))
        return SF_OK;
    int status = sf_hdf_read_field_strings(it->at, it->of->info, "SourceChannelIDs", path, &sources,
                                           &source_count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field_strings(it->at, table, "Label", path, &names, &count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field(it->at, table, "ChannelID", path, H5T_NATIVE_INT64, sizeof(int64_t), &ids,
                                   &count, error);
    if (status == SF_OK && (it->labels = sf_alloc(it->count, sizeof *it->labels)) == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < it->count; i++) {
        const char *label = "";
        for (size_t k = 0; k < count; k++)
            if (((int64_t *)ids)[k] == strtoll(sources[i], NULL, 10)) label = names[k];
        if ((it->labels[i] = sf_copy_string(label)) == NULL) status = sf_fail_memory(error);
    }
    sf_hdf_free_strings(sources, source_count);
    sf_hdf_free_strings(names, count);
    sf_free(ids);
    return status;
}

/* Converts ticks of 10^exponent seconds to ns; false if that is no valid time. */
static bool tick_to_ns(int64_t tick, int64_t exponent, int64_t *ns)
{
    int64_t scale = 1;
    for (; exponent > -9 && exponent <= 0; exponent--)
        scale *= 10;
    return exponent == -9 && !__builtin_mul_overflow(tick, scale, ns) &&
           *ns<SF_TIME_LIMIT_NS && * ns> - SF_TIME_LIMIT_NS;
}

static int add_train(sf_recording *recording, size_t *capacity, const spike_stream *it, size_t row,
                     const char *path, sf_error *error)
{
    char name[64];
    void *times;
    size_t count;
    uint32_t unit = (uint32_t)(recording->units.count - 1);
    int64_t exponent = it->exponents != NULL ? it->exponents[row] : -6;
    snprintf(name, sizeof name, "%s%" PRId64, it->of->entity, it->ids[row]);
    if (!sf_hdf_is_dataset(it->at, name)) return SF_OK; /* an electrode without spikes */
    int status = sf_hdf_read(it->at, name, path, H5T_NATIVE_INT64, sizeof(int64_t), &times, &count, error);
    if (status == SF_OK && !sf_hdf_fits(it->at, (recording->spike_count + count) * sizeof *recording->spikes))
        status = sf_fail(error, SF_DATA, path,
                         "damaged: up to %s there are %zu spikes, more than the file can hold", name,
                         recording->spike_count + count);
    if (status == SF_OK && sf_reserve(&recording->spikes, capacity, recording->spike_count + count,
                                      sizeof *recording->spikes) != 0)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        sf_spike *spike = &recording->spikes[recording->spike_count++];
        *spike = (sf_spike){.unit = unit, .amplitude = NAN};
        if (!tick_to_ns(((int64_t *)times)[i], exponent, &spike->time_ns))
            status = sf_fail(error, SF_DATA, path,
                             "damaged: spike %zu of %s is at %" PRId64 ", in units of 10^%" PRId64 " s", i,
                             name, ((int64_t *)times)[i], exponent);
    }
    sf_free(times);
    return status;
}

static int read_stream(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    spike_stream it;
    size_t capacity = 0;
    double pitch;
    int status = open_stream(&it, input, error);
    if (status == SF_OK) status = read_pitch(&pitch, input->file, error);
    if (status == SF_OK) status = read_source_labels(&it, input->path, error);
    for (size_t k = 0; status == SF_OK && k < it.count; k++) {
        size_t row = it.count - 1 - k; /* tables list electrodes from last to first */
        status = add_unit(recording, it.labels != NULL ? it.labels[row] : "", it.ids[row], pitch, error);
        if (status == SF_OK) status = add_train(recording, &capacity, &it, row, input->path, error);
    }
    if (status == SF_OK && recording->spikes == NULL && (recording->spikes = sf_alloc(0, 1)) == NULL)
        status = sf_fail_memory(error);
    close_stream(&it);
    return status;
}

/* ---- events become markers ---- */

typedef struct event_list {
    sf_recording *recording;
    size_t capacity;
    const char *path;
    int status;
    sf_error *error;
} event_list;

/* Rows: when, and for how long. */
static int add_events(event_list *to, hid_t stream, const char *name)
{
    size_t size[2], count;
    void *values;
    if (strncmp(name, "EventEntity_", 12) != 0 || sf_hdf_shape(stream, name, size) != 2 || size[0] < 1)
        return SF_OK;
    int status =
        sf_hdf_read(stream, name, to->path, H5T_NATIVE_INT64, sizeof(int64_t), &values, &count, to->error);
    const int64_t *times = values;
    for (size_t i = 0; status == SF_OK && i < size[1]; i++) {
        int64_t begin_ns, end_ns = 0, lasts = size[0] > 1 ? times[size[1] + i] : 0;
        char label[SF_MARKER_TEXT_SIZE];
        snprintf(label, sizeof label, "event %s", name + 12);
        if (!tick_to_ns(times[i], -6, &begin_ns) || lasts < 0 || lasts > INT64_MAX / 2 ||
            !tick_to_ns(times[i] + lasts, -6, &end_ns))
            status = sf_fail(to->error, SF_DATA, to->path, "damaged: row %zu of %s is at %" PRId64 " us", i,
                             name, times[i]);
        else
            status = sf_reader_mark(to->recording, &to->capacity, begin_ns, label, "", to->error);
        if (status == SF_OK && lasts > 0)
            status = sf_reader_mark(to->recording, &to->capacity, end_ns, label, " end", to->error);
    }
    sf_free(values);
    return status;
}

static int visit_event(void *context, hid_t stream, const char *name)
{
    event_list *to = context;
    to->status = add_events(to, stream, name);
    return to->status != SF_OK;
}

static int visit_events(void *context, hid_t group, const char *name)
{
    event_list *to = context;
    hid_t stream = sf_hdf_open(group, name);
    if (stream >= 0 && H5Iget_type(stream) == H5I_GROUP) sf_hdf_each_member(stream, visit_event, to);
    sf_hdf_close(stream);
    return to->status != SF_OK;
}

/* What the recording itself says: its events and how long it is. */
static int read_about(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    char path[LONGEST_PATH];
    double duration_us;
    event_list list = {.recording = recording, .path = input->path, .error = error};
    snprintf(path, sizeof path, "/Data/%.*s", (int)strcspn(input->stream, "/"), input->stream);
    hid_t about = sf_hdf_open(input->file, path), events = sf_hdf_open(about, "EventStream");
    if (sf_hdf_attribute_number(about, "Duration", &duration_us) && duration_us > 0 && duration_us < 1e15) {
        recording->recorded = (sf_span){0, (int64_t)duration_us * 1000};
        recording->declared = true;
    }
    if (events >= 0 && H5Iget_type(events) == H5I_GROUP) sf_hdf_each_member(events, visit_events, &list);
    sf_hdf_close(events);
    sf_hdf_close(about);
    return list.status;
}

static int read_metadata(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    static const char *const entries[][2] = {
        {"MeaName", "array"}, {"Date", "started"}, {"Comment", "description"}};
    hid_t data = sf_hdf_open(input->file, "/Data");
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < sizeof entries / sizeof entries[0]; i++) {
        sf_text text = {0};
        bool found = sf_hdf_attribute_text(data, entries[i][0], &text);
        if (text.failed)
            status = sf_fail_memory(error);
        else if (found && text.length > 0)
            status = sf_recording_set_metadata(recording, entries[i][1], text.data, error);
        sf_text_free(&text);
    }
    sf_hdf_close(data);
    return status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    if (input->stream == NULL)
        return sf_fail(
            error, SF_DATA, input->path,
            "no spike times: this Multi Channel Systems DataManager file holds no stream of spikes; detect "
            "them in MC_Rack or Multi Channel Analyzer, and export time stamps or cut-outs with Multi "
            "Channel "
            "DataManager");
    int status = sf_reader_set_format(recording, error, "MCS DataManager");
    if (status == SF_OK) status = read_stream(recording, input, error);
    if (status == SF_OK) status = read_about(recording, input, error);
    return status == SF_OK ? read_metadata(recording, input, error) : status;
}

const sf_reader sf_reader_mcs = {.recognises = recognises, .list = list_streams, .read = read_recording};
