/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 3Brain's files of results. BXR 2 (BrainWave 4): /3BResults/3BChEvents has the frame, the channel and the
 * unit of each spike, in no order of time where they are grouped by channel. BXR 3 (BrainWave 5): a group
 * /Well_A1 each.
 *
 * The arrays are squares of 64 by 64 electrodes, numbered by row; BXR 2 may say otherwise. Their pitch stands
 * in neither file: it is that of the plate's model, where the file names one.
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
#include <strings.h>

#define SIDE 64
#define MOST_CHANNELS (1 << 20)

/* ---- electrodes ---- */

/* Electrode pitch in um of known models; for others the most common one. */
static double pitch_of(const char *model)
{
    static const struct {
        const char *begins;
        double um;
    } models[] = {{"Accura", 60}, {"CorePlate", 60}, {"Stimulo", 81}};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strncasecmp(model, models[i].begins, strlen(models[i].begins)) == 0) return models[i].um;
    return 42;
}

/* What the numbers of channels mean. */
typedef struct chip {
    double pitch_um;
    int64_t columns;
    int32_t *rows, *cols; /* from 1; NULL: as the numbers say */
    sf_ids places;        /* which i a channel has */
    size_t count;
    const char *well;
} chip;

static void free_chip(chip *it)
{
    sf_free(it->rows);
    sf_free(it->cols);
    sf_ids_free(&it->places);
}

/* Combines a channel and one of its units into one number. */
#define UNITS 65536
static int64_t key_of(int64_t channel, int64_t unit)
{
    return channel * UNITS + (unit > 0 ? unit : 0);
}

static int describe(void *context, int64_t id, sf_unit *unit, char name[64])
{
    const chip *it = context;
    int64_t channel = id / UNITS, number = id % UNITS;
    int64_t row = channel / it->columns + 1, column = channel % it->columns + 1;
    uint32_t place = sf_ids_find(&it->places, channel);
    if (place != SF_NO_UNIT) {
        row = it->rows[place];
        column = it->cols[place];
    }
    snprintf(name, 64, number > 0 ? "Ch%" PRId64 ".%" PRId64 ":%" PRId64 : "Ch%" PRId64 ".%" PRId64, row,
             column, number);
    unit->x_um = (double)(column - 1) * it->pitch_um;
    unit->y_um = (double)(row - 1) * it->pitch_um;
    unit->kind = number > 0 ? SF_UNIT_SORTED : SF_UNIT_MULTI_UNIT;
    unit->electrode = (int32_t)channel;
    unit->well = it->well;
    return SF_OK;
}

/* ---- spikes ---- */

typedef struct columns {
    const char *times, *channels, *units;
} columns;

/* Makes channels into keys of units. */
static int mix_units(int64_t *channels, size_t count, hid_t at, const char *name, const char *path,
                     sf_error *error)
{
    void *units = NULL;
    size_t unit_count = count;
    int status = sf_hdf_is_dataset(at, name) ? sf_hdf_read(at, name, path, H5T_NATIVE_INT64, sizeof(int64_t),
                                                           &units, &unit_count, error)
                                             : SF_OK;
    if (status == SF_OK && unit_count != count)
        status = sf_fail(error, SF_DATA, path, "damaged: there are %zu spikes and %s has %zu rows", count,
                         name, unit_count);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        int64_t unit = units != NULL ? ((int64_t *)units)[i] : 0;
        if (channels[i] < 0 || channels[i] >= MOST_CHANNELS || unit >= UNITS)
            status =
                sf_fail(error, SF_DATA, path, "damaged: spike %zu is of unit %" PRId64 " of channel %" PRId64,
                        i, unit, channels[i]);
        else
            channels[i] = key_of(channels[i], unit);
    }
    sf_free(units);
    return status;
}

static int read_spikes(sf_recording *recording, hid_t at, const columns *names, chip *it, double rate_hz,
                       const char *path, sf_error *error)
{
    void *frames = NULL, *channels = NULL;
    uint32_t *units = NULL;
    size_t count = 0, channel_count = 0;
    int status =
        sf_hdf_read(at, names->times, path, H5T_NATIVE_INT64, sizeof(int64_t), &frames, &count, error);
    if (status == SF_OK)
        status = sf_hdf_read(at, names->channels, path, H5T_NATIVE_INT64, sizeof(int64_t), &channels,
                             &channel_count, error);
    if (status == SF_OK && channel_count != count)
        status = sf_fail(error, SF_DATA, path, "damaged: %s has %zu rows and %s has %zu", names->times, count,
                         names->channels, channel_count);
    if (status == SF_OK) status = mix_units(channels, count, at, names->units, path, error);
    if (status == SF_OK)
        status = sf_reader_number_units(recording, &units, channels, count, describe, it, error);
    const sf_spikes_in_samples spikes = {
        .samples = frames, .units = units, .count = count, .rate_hz = rate_hz};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, path, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "sampling_rate", rate_hz, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "pitch_um", it->pitch_um, error);
    sf_free(frames);
    sf_free(channels);
    sf_free(units);
    return status;
}

static int declare(sf_recording *recording, int64_t first, int64_t end, double rate_hz, const char *path,
                   sf_error *error)
{
    if (first > end || !sf_samples_to_ns(first, rate_hz, &recording->recorded.start_ns) ||
        !sf_samples_to_ns(end, rate_hz, &recording->recorded.stop_ns))
        return sf_fail(error, SF_DATA, path, "damaged: it was recorded from frame %" PRId64 " to %" PRId64,
                       first, end);
    recording->declared = true;
    return SF_OK;
}

/* ---- BXR 2 ---- */

static bool recognises_2(hid_t file)
{
    return sf_hdf_is_group(file, "/3BResults");
}

/* Determines the row and column of channel numbers. */
static int read_chip(chip *it, const sf_hdf_input *input, sf_error *error)
{
    static const char vector[] = "/3BResults/3BInfo/MeaChs2ChIDsVector";
    void *rows = NULL, *cols = NULL, *ids = NULL;
    double number;
    *it = (chip){.pitch_um = pitch_of(""), .columns = SIDE};
    if (sf_hdf_number(input->file, "/3BRecInfo/3BMeaChip/NCols", &number) && number >= 1 &&
        number <= MOST_CHANNELS)
        it->columns = (int64_t)number;
    if (!sf_hdf_is_dataset(input->file, vector)) return SF_OK;
    int status = sf_hdf_read_field(input->file, vector, "Row", input->path, H5T_NATIVE_INT32,
                                   sizeof *it->rows, &rows, &it->count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field(input->file, vector, "Col", input->path, H5T_NATIVE_INT32,
                                   sizeof *it->cols, &cols, &it->count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field(input->file, vector, "ID", input->path, H5T_NATIVE_INT64, sizeof(int64_t),
                                   &ids, &it->count, error);
    it->rows = rows;
    it->cols = cols;
    for (size_t i = 0; status == SF_OK && i < it->count; i++)
        status = sf_ids_set(&it->places, ((int64_t *)ids)[i], (uint32_t)i, error);
    sf_free(ids);
    return status;
}

static int read_markers(sf_recording *recording, const sf_hdf_input *input, double rate_hz, sf_error *error)
{
    static const char table[] = "/3BUserInfo/ExpMarkers";
    void *begins = NULL, *ends = NULL;
    char **texts = NULL;
    size_t count = 0, capacity = 0;
    if (!sf_hdf_has_field(input->file, table, "MarkIn") || !sf_hdf_has_field(input->file, table, "MarkOut") ||
        !sf_hdf_has_field(input->file, table, "Desc"))
        return SF_OK;
    int status = sf_hdf_read_field(input->file, table, "MarkIn", input->path, H5T_NATIVE_INT64,
                                   sizeof(int64_t), &begins, &count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field(input->file, table, "MarkOut", input->path, H5T_NATIVE_INT64,
                                   sizeof(int64_t), &ends, &count, error);
    if (status == SF_OK)
        status = sf_hdf_read_field_strings(input->file, table, "Desc", input->path, &texts, &count, error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        int64_t begin = ((int64_t *)begins)[i], end = ((int64_t *)ends)[i], begin_ns, end_ns;
        if (!sf_samples_to_ns(begin, rate_hz, &begin_ns) || !sf_samples_to_ns(end, rate_hz, &end_ns))
            status = sf_fail(error, SF_DATA, input->path,
                             "damaged: marker %zu is from frame %" PRId64 " to %" PRId64, i, begin, end);
        else
            status = sf_reader_mark(recording, &capacity, begin_ns, texts[i], "", error);
        if (status == SF_OK && end > begin)
            status = sf_reader_mark(recording, &capacity, end_ns, texts[i], " end", error);
    }
    sf_hdf_free_strings(texts, count);
    sf_free(begins);
    sf_free(ends);
    return status;
}

static int read_2(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    static const columns names = {"/3BResults/3BChEvents/SpikeTimes", "/3BResults/3BChEvents/SpikeChIDs",
                                  "/3BResults/3BChEvents/SpikeUnits"};
    static const char rate_at[] = "/3BRecInfo/3BRecVars/SamplingRate";
    if (!sf_hdf_is_dataset(input->file, names.times))
        return sf_fail(
            error, SF_DATA, input->path,
            "no spike times: this is a 3Brain BXR file without %s, so its results were deleted or spikes "
            "never detected; detect them in BrainWave and export again",
            names.times);
    chip it = {0};
    double rate_hz = 0, frames;
    sf_hdf_number(input->file, rate_at, &rate_hz);
    int status = sf_reader_set_format(recording, error, "3Brain BXR 2");
    if (status == SF_OK) status = sf_reader_check_rate(&rate_hz, input->rate_hz, input->path, rate_at, error);
    if (status == SF_OK) status = read_chip(&it, input, error);
    if (status == SF_OK)
        status = read_spikes(recording, input->file, &names, &it, rate_hz, input->path, error);
    if (status == SF_OK) status = read_markers(recording, input, rate_hz, error);
    if (status == SF_OK && sf_hdf_number(input->file, "/3BRecInfo/3BRecVars/NRecFrames", &frames) &&
        frames >= 1 && frames < 0x1p62)
        status = declare(recording, 0, (int64_t)frames, rate_hz, input->path, error);
    free_chip(&it);
    return status;
}

const sf_reader sf_reader_bxr_2 = {.counts_samples = true, .recognises = recognises_2, .read = read_2};

/* ---- BXR 3 ---- */

typedef struct listing {
    sf_streams *streams;
    int status;
    sf_error *error;
} listing;

static int visit_well(void *context, hid_t group, const char *name)
{
    listing *list = context;
    size_t size[2];
    hid_t well = strncmp(name, "Well_", 5) == 0 ? sf_hdf_open(group, name) : H5I_INVALID_HID;
    int found = 0;
    if (well >= 0 && H5Iget_type(well) == H5I_GROUP && sf_hdf_is_dataset(well, "SpikeTimes")) {
        found = 1;
        if (list != NULL)
            list->status =
                sf_streams_add(list->streams, name + 5,
                               sf_hdf_shape(well, "SpikeTimes", size) == 1 ? size[0] : 0, list->error);
    }
    sf_hdf_close(well);
    return list == NULL ? found : list->status != SF_OK;
}

static bool recognises_3(hid_t file)
{
    return sf_hdf_each_member(file, visit_well, NULL) != 0;
}

static int list_wells(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    listing list = {.streams = streams, .error = error};
    streams->what = "well";
    sf_hdf_each_member(input->file, visit_well, &list);
    return list.status;
}

/* Text after `"key":` in the named object of a JSON text (cameras have a frame rate, too). A full parser
 * would be disproportionate for two values. */
static const char *find_key(const char *json, const char *object, const char *key)
{
    const char *at = json != NULL ? strstr(json, object) : NULL;
    at = at != NULL ? strstr(at, key) : NULL;
    if (at == NULL) return NULL;
    at += strlen(key);
    at += strspn(at, " \t\r\n");
    if (*at != ':') return NULL;
    return at + 1 + strspn(at + 1, " \t\r\n\"");
}

/* Recorded frames: the table has the first frame and the end of each piece. */
static int read_pieces(sf_recording *recording, const sf_hdf_input *input, double rate_hz, sf_error *error)
{
    size_t size[2], count;
    void *pieces;
    if (sf_hdf_shape(input->file, "/TOC", size) != 2 || size[0] == 0 || size[1] != 2) return SF_OK;
    int status = sf_hdf_read(input->file, "/TOC", input->path, H5T_NATIVE_INT64, sizeof(int64_t), &pieces,
                             &count, error);
    const int64_t *frames = pieces;
    if (status == SF_OK)
        status = declare(recording, frames[0], frames[count - 1], rate_hz, input->path, error);
    sf_free(pieces);
    return status;
}

static int read_settings(chip *it, double *rate_hz, const sf_hdf_input *input, sf_error *error)
{
    sf_text json = {0};
    sf_hdf_dataset_text(input->file, "/ExperimentSettings", &json);
    if (json.failed) return sf_fail_memory(error);
    const char *rate = find_key(json.data, "\"TimeConverter\"", "\"FrameRate\""),
               *model = find_key(json.data, "\"MeaPlate\"", "\"Model\"");
    double stated;
    const char *rest;
    if (!sf_hdf_attribute_number(input->file, "SamplingRate", rate_hz) && rate != NULL &&
        sf_parse_real_until(rate, ",} \t\r\n", &stated, &rest))
        *rate_hz = stated;
    *it = (chip){.pitch_um = pitch_of(model != NULL ? model : ""), .columns = SIDE, .well = input->stream};
    sf_text_free(&json);
    return sf_reader_check_rate(rate_hz, input->rate_hz, input->path,
                                "the attribute SamplingRate and FrameRate in /ExperimentSettings", error);
}

static int read_3(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    static const columns names = {"SpikeTimes", "SpikeChIdxs", "SpikeUnits"};
    char path[300];
    chip it;
    double rate_hz = 0;
    snprintf(path, sizeof path, "/Well_%s", input->stream);
    int status = sf_reader_set_format(recording, error, "3Brain BXR 3");
    if (status == SF_OK) status = read_settings(&it, &rate_hz, input, error);
    hid_t well = status == SF_OK ? sf_hdf_open(input->file, path) : H5I_INVALID_HID;
    if (status == SF_OK) status = read_spikes(recording, well, &names, &it, rate_hz, input->path, error);
    if (status == SF_OK) status = read_pieces(recording, input, rate_hz, error);
    sf_hdf_close(well);
    return status;
}

const sf_reader sf_reader_bxr_3 = {
    .counts_samples = true, .recognises = recognises_3, .list = list_wells, .read = read_3};
