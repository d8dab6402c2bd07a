/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spikes of AxIS (.spk): records with the sample at which a cut-out begins, its channel and chip, the sample
 * within it at which the detector fired, and the cut-out. The time of a spike is the sum of both samples, as
 * in the vendor's AxionFileLoader. The channel map gives the electrode and the well; a well is a stream, as
 * in a spike list of AxIS (csv_plate.h). All electrodes of the map are units, with spikes or not.
 */
#include "replay/axion.h"

#include "core/error.h"
#include "core/memory.h"
#include "replay/csv_plate.h"
#include "replay/folder.h"
#include "replay/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHANGES "cannot read: it changes while it is read"

enum {
    RECORD_BYTES = 30, /* minimum bytes of a block before its samples; further bytes are unknown */
    READ_BYTES = 14,   /* of these, what is read */
    BLOCK_BYTES = 1 << 18,
    ROWS = 26, /* of wells, which are letters */
    COLUMNS = 99,
    MOST_COLUMN = 15 /* maximum column of an electrode, since its name has one hexadecimal digit */
};

/* ---- plates ---- */

typedef struct plate {
    uint32_t type;
    const char *name;
} plate;

static const plate plates[] = {
    {0x0400001, "Muse, 1 well"},
    {0x0800000, "MEA Creator Kit, 2 wells"},
    {0x1800001, "CytoView MEA 24"},
    {0x1800002, "BioCircuit MEA 24"},
    {0x1800003, "CytoView MEA 6"},
    {0x1800004, "Lumos MEA 24"},
    {0x3000001, "CytoView MEA 12"},
    {0x3000002, "Classic MEA 48"},
    {0x3000003, "Classic MEA 96"},
    {0x3000004, "CytoView MEA 48"},
    {0x3000006, "Lumos MEA 48"},
    {0x3000007, "Classic MEA 48 with E-Stim+"},
    {0x3000008, "BioCircuit MEA 96"},
    {0x3000009, "CytoView MEA 96"},
    {0x300000a, "Lumos MEA 96"},
    {0x300000b, "BioCircuit MEA 48"},
    {0x300000c, "Classic MEA 48 with AccuSpot"},
    {0x3000015, "CytoView MEA 48 Organoid"},
    {0x3000016, "CytoView MEA 12, transparent"},
    {0x1800008, "Netri DuaLink Edge"},
    {0x1800009, "Netri DuaLinkShift Edge"},
    {0x180000a, "Netri TrialLink Edge"},
    {0x3000011, "Netri DuaLink Pro"},
    {0x3000012, "Netri DuaLinkShift Pro"},
    {0x3000013, "Netri TrialLink Pro"},
};

static int tell_plate(sf_recording *recording, uint32_t type, sf_error *error)
{
    char number[32];
    const char *name = NULL;
    for (size_t i = 0; i < sizeof plates / sizeof plates[0]; i++)
        name = plates[i].type == type ? plates[i].name : name;
    snprintf(number, sizeof number, "type 0x%07" PRIx32, type);
    return sf_recording_set_metadata(recording, "plate", name != NULL ? name : number, error);
}

/* ---- channels ---- */

typedef struct well {
    uint8_t column, row;
    char name[8]; /* D3 */
    uint64_t spikes;
} well;

/* A set of spikes that is looked at. */
typedef struct reading {
    sf_axion file;
    const sf_axion_set *set;
    const sf_axion_map *map;
    well *wells;
    size_t well_count;
    uint32_t *well_of,
        *channel_of;        /* per chip and channel: 1 + index of the well, and of the channel in the map */
    uint64_t block, count;  /* bytes of a record, and records */
    uint64_t unmapped, cut; /* records on channels that are in no map; bytes of a truncated last record */
    int64_t first, last;    /* sample of all that are in the map */
    sf_recording *recording;
    double rate_hz;
    sf_error *error;
} reading;

static void close_reading(reading *in)
{
    sf_free(in->wells);
    sf_free(in->well_of);
    sf_free(in->channel_of);
    sf_axion_close(&in->file);
}

/* A channel without an electrode has 0 or 255 in its place. */
static bool is_electrode(const sf_axion_channel *channel)
{
    return channel->well_row >= 1 && channel->well_row <= ROWS && channel->well_column >= 1 &&
           channel->well_column <= COLUMNS && channel->column >= 1 && channel->column <= MOST_COLUMN &&
           channel->row >= 1 && channel->row <= MOST_COLUMN;
}

/* Numbers wells row by row; *place is 1 + the index of a well. */
static void add_wells(reading *in, uint32_t place[ROWS][COLUMNS])
{
    for (size_t i = 0; i < in->map->count; i++)
        if (is_electrode(&in->map->channels[i]))
            place[in->map->channels[i].well_row - 1][in->map->channels[i].well_column - 1] = 1;
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned column = 0; column < COLUMNS; column++) {
            if (place[row][column] == 0) continue;
            well *added = &in->wells[in->well_count++];
            *added = (well){.column = (uint8_t)(column + 1), .row = (uint8_t)(row + 1)};
            snprintf(added->name, sizeof added->name, "%c%u", (char)('A' + row), (column + 1) % 100);
            place[row][column] = (uint32_t)in->well_count;
        }
    }
}

static int map_channels(reading *in, uint32_t place[ROWS][COLUMNS])
{
    for (size_t i = 0; i < in->map->count; i++) {
        const sf_axion_channel *channel = &in->map->channels[i];
        uint16_t id = sf_axion_id(channel);
        if (!is_electrode(channel)) continue;
        if (in->channel_of[id] > 0)
            return sf_fail(in->error, SF_DATA, in->file.path,
                           "damaged: its map has channel %u of chip %u twice", channel->channel,
                           channel->chip);
        in->channel_of[id] = (uint32_t)i + 1;
        in->well_of[id] = place[channel->well_row - 1][channel->well_column - 1];
    }
    return SF_OK;
}

static int open_channels(reading *in)
{
    uint32_t place[ROWS][COLUMNS] = {{0}};
    in->map = &in->file.maps[in->set->map];
    in->well_count = 0;
    in->wells = sf_alloc((size_t)ROWS * COLUMNS, sizeof *in->wells);
    in->well_of = sf_alloc(SF_AXION_CHANNELS, sizeof *in->well_of);
    in->channel_of = sf_alloc(SF_AXION_CHANNELS, sizeof *in->channel_of);
    if (in->wells == NULL || in->well_of == NULL || in->channel_of == NULL) return sf_fail_memory(in->error);
    add_wells(in, place);
    return map_channels(in, place);
}

static void close_channels(reading *in)
{
    sf_free(in->wells);
    sf_free(in->well_of);
    sf_free(in->channel_of);
    in->wells = NULL;
    in->well_of = in->channel_of = NULL;
    in->set = NULL;
}

/* ---- records ---- */

static int open_records(reading *in)
{
    const sf_axion_set *set = in->set;
    if (set->channels != 1 || set->data_sets != 1 || set->samples < 1 || set->header_bytes < RECORD_BYTES ||
        set->sample_bytes != 2)
        return sf_fail(in->error, SF_DATA, in->file.path,
                       "damaged: a record of its spikes has %" PRIu32 " channels, %" PRIu32 " sets, %" PRIu32
                       " samples of %" PRIu32 " bytes and %" PRIu32
                       " bytes before them, expected 1, 1, 1 or more of 2 and %d or more",
                       set->channels, set->data_sets, set->samples, set->sample_bytes, set->header_bytes,
                       RECORD_BYTES);
    uint64_t length = set->length == SF_AXION_TO_END ? in->file.size - set->at : set->length;
    in->block = set->header_bytes + (uint64_t)set->samples * 2;
    in->count = length / in->block;
    in->cut = length % in->block;
    if (in->cut > 0 && set->length != SF_AXION_TO_END)
        return sf_fail(in->error, SF_DATA, in->file.path,
                       "damaged: its spikes take %" PRIu64 " bytes, and a record has %" PRIu64, length,
                       in->block);
    return SF_OK;
}

/* A record, as the file has it. */
typedef struct spike_record {
    int64_t start;
    int32_t trigger;
    uint16_t id; /* of chip and channel */
} spike_record;

/* Calls `visit` with each record until it fails. */
static int each_record(reading *in, int (*visit)(reading *in, const spike_record *record, void *context),
                       void *context)
{
    unsigned char *bytes = sf_resize(NULL, BLOCK_BYTES, 1);
    int status = bytes != NULL ? SF_OK : sf_fail_memory(in->error);
    uint64_t at_once = in->block < BLOCK_BYTES ? BLOCK_BYTES / in->block : 1;
    for (uint64_t done = 0, count; status == SF_OK && done < in->count; done += count) {
        count = in->count - done < at_once ? in->count - done : at_once;
        size_t size = in->block < BLOCK_BYTES ? (size_t)(count * in->block) : READ_BYTES;
        status = sf_axion_read(bytes, &in->file, in->set->at + done * in->block, size, in->error);
        for (uint64_t i = 0; status == SF_OK && i < count; i++) {
            const unsigned char *at = bytes + i * in->block;
            const spike_record one = {(int64_t)sf_little_64(at), (int32_t)sf_little_32(at + 10),
                                      (uint16_t)(at[9] << 8 | at[8])};
            status = visit(in, &one, context);
        }
    }
    sf_free(bytes);
    return status;
}

/* Stores the spike's sample in *at, unless `at` is NULL. */
static int count_record(reading *in, const spike_record *record, void *at)
{
    uint32_t of = in->well_of[record->id];
    int64_t sample;
    if (of == 0) {
        in->unmapped++;
        return SF_OK;
    }
    if (__builtin_add_overflow(record->start, (int64_t)record->trigger, &sample))
        return sf_fail(in->error, SF_DATA, in->file.path,
                       "damaged: a spike on channel %u of chip %u is at sample %" PRId64 " and %" PRId32
                       " more",
                       record->id & 0xffu, record->id >> 8, record->start, record->trigger);
    in->wells[of - 1].spikes++;
    in->first = sample < in->first ? sample : in->first;
    in->last = sample > in->last ? sample : in->last;
    if (at != NULL) *(int64_t *)at = sample;
    return SF_OK;
}

/* ---- streams ---- */

static const sf_axion_set *next_set(const sf_axion *file, size_t *next)
{
    while (*next < file->set_count)
        if (file->sets[(*next)++].is_spikes) return &file->sets[*next - 1];
    return NULL;
}

static size_t count_sets(const sf_axion *file)
{
    size_t count = 0;
    for (size_t next = 0; next_set(file, &next) != NULL;)
        count++;
    return count;
}

/* `D3`, or `2/D3` if the file has several sets of spikes. */
static void name_stream(char name[32], size_t set, size_t sets, const well *of)
{
    if (sets > 1)
        snprintf(name, 32, "%zu/%s", set, of->name);
    else
        snprintf(name, 32, "%s", of->name);
}

static int add_streams(reading *in, size_t set, size_t sets, sf_streams *streams)
{
    int status = open_channels(in);
    if (status == SF_OK) status = open_records(in);
    if (status == SF_OK) status = each_record(in, count_record, NULL);
    for (size_t i = 0; status == SF_OK && i < in->well_count; i++) {
        char name[32];
        name_stream(name, set, sets, &in->wells[i]);
        status = sf_streams_add(streams, name, in->wells[i].spikes, in->error);
    }
    return status;
}

static int list_wells(sf_streams *streams, const char *path, sf_error *error)
{
    reading in = {.first = INT64_MAX, .last = INT64_MIN, .error = error};
    streams->what = "well";
    int status = sf_axion_open(&in.file, path, error);
    size_t sets = status == SF_OK ? count_sets(&in.file) : 0, set = 0;
    for (size_t next = 0; status == SF_OK && (in.set = next_set(&in.file, &next)) != NULL;) {
        status = add_streams(&in, ++set, sets, streams);
        close_channels(&in);
    }
    close_reading(&in);
    return status;
}

/* ---- one well ---- */

typedef struct spikes {
    size_t well; /* from 1, as in well_of */
    int64_t *samples;
    uint32_t *units, *unit_of; /* unit of each spike; of each channel of the map */
    size_t count, sample_room, unit_room;
} spikes;

static void free_spikes(spikes *all)
{
    sf_free(all->samples);
    sf_free(all->units);
    sf_free(all->unit_of);
}

/* Counts a record of any well, and keeps it if it belongs to this one. */
static int take_record(reading *in, const spike_record *record, void *context)
{
    spikes *all = context;
    int64_t sample = 0;
    int status = count_record(in, record, &sample);
    if (status != SF_OK || in->well_of[record->id] != all->well) return status;
    if (sf_reserve(&all->samples, &all->sample_room, all->count + 1, sizeof *all->samples) != 0 ||
        sf_reserve(&all->units, &all->unit_room, all->count + 1, sizeof *all->units) != 0)
        return sf_fail_memory(in->error);
    all->samples[all->count] = sample;
    all->units[all->count++] = all->unit_of[in->channel_of[record->id] - 1];
    return SF_OK;
}

/* Electrodes of the well, such as D3_31 for column 3, row 1. On a plate with more than 9 columns the column
 * may be a letter. */
static int add_units(reading *in, spikes *all)
{
    const well *of = &in->wells[all->well - 1];
    bool has_letters = false;
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < in->map->count; i++) {
        const sf_axion_channel *channel = &in->map->channels[i];
        char name[16];
        if (!is_electrode(channel) || channel->well_row != of->row || channel->well_column != of->column)
            continue;
        snprintf(name, sizeof name, "%s_%x%x", of->name, channel->column, channel->row);
        has_letters = has_letters || channel->column > 9 || channel->row > 9;
        all->unit_of[i] = (uint32_t)in->recording->units.count;
        const sf_unit unit = {.name = name,
                              .well = (char *)(uintptr_t)of->name,
                              .x_um = NAN,
                              .y_um = NAN,
                              .kind = SF_UNIT_MULTI_UNIT,
                              .electrode = channel->column * 10 + channel->row};
        status = sf_units_add(&in->recording->units, &unit, in->error);
    }
    return status == SF_OK && !has_letters ? sf_plate_place(in->recording, in->error) : status;
}

static int add_spikes(reading *in, spikes *all)
{
    all->unit_of = sf_alloc(in->map->count, sizeof *all->unit_of);
    if (all->unit_of == NULL) return sf_fail_memory(in->error);
    int status = add_units(in, all);
    if (status == SF_OK) status = each_record(in, take_record, all);
    const sf_spikes_in_samples taken = {
        .samples = all->samples, .units = all->units, .count = all->count, .rate_hz = in->rate_hz};
    if (status == SF_OK) status = sf_samples_take(in->recording, &taken, in->file.path, in->error);
    if (status == SF_OK && in->unmapped > 0)
        sf_recording_drop(in->recording, "on channels that are not in the map", in->unmapped);
    return status;
}

/* ---- about it ---- */

static int tell_cut(reading *in)
{
    char told[128];
    if (in->cut == 0) return SF_OK;
    snprintf(told, sizeof told, "the last spike has %" PRIu64 " of %" PRIu64 " bytes, and is left out",
             in->cut, in->block);
    return sf_reader_metadata_text(in->recording, "cut", told, in->error);
}

/* In newer files the header of the spikes states the duration; otherwise it is from the first spike of the
 * plate to its last. */
static int take_duration(reading *in)
{
    double seconds = in->set->duration_s;
    sf_span span;
    if (in->first <= in->last && sf_samples_to_ns(in->first, in->rate_hz, &span.start_ns) &&
        sf_samples_to_ns(in->last, in->rate_hz, &span.stop_ns))
        in->recording->recorded = (sf_span){span.start_ns, span.stop_ns + 1};
    if (isnan(seconds) || seconds == 0) return SF_OK;
    if (!(seconds > 0 && seconds < 4e9))
        return sf_reader_disbelieve(in->recording, "the header of its spikes", in->error);
    in->recording->recorded = (sf_span){0, sf_seconds_to_ns(seconds)};
    in->recording->declared = true;
    return SF_OK;
}

static int tell_file(reading *in)
{
    int status =
        sf_reader_set_format(in->recording, in->error, "AxIS spike file, version 1.%u", in->file.version);
    if (status == SF_OK)
        status = sf_reader_metadata_text(in->recording, "RecordingName", in->file.recording.data, in->error);
    if (status == SF_OK)
        status =
            sf_reader_metadata_text(in->recording, "Investigator", in->file.investigator.data, in->error);
    if (status == SF_OK)
        status = sf_reader_metadata_text(in->recording, "Description", in->file.description.data, in->error);
    if (status == SF_OK)
        status = sf_reader_metadata_text(in->recording, "started", in->set->started, in->error);
    if (status == SF_OK) status = tell_plate(in->recording, in->map->plate, in->error);
    if (status == SF_OK) status = tell_cut(in);
    return status == SF_OK ? sf_reader_metadata_real(in->recording, "sampling_rate", in->rate_hz, in->error)
                           : status;
}

/* ---- the whole ---- */

/* The set and the well of a stream. */
static int find_stream(reading *in, const char *stream, size_t *found)
{
    size_t sets = count_sets(&in->file), set = 0;
    *found = 0;
    for (size_t next = 0; (in->set = next_set(&in->file, &next)) != NULL;) {
        int status = open_channels(in);
        if (status != SF_OK) return status;
        set++;
        for (size_t i = 0; i < in->well_count; i++) {
            char name[32];
            name_stream(name, set, sets, &in->wells[i]);
            if (strcmp(name, stream) == 0) *found = i + 1;
        }
        if (*found > 0) return SF_OK;
        close_channels(in);
    }
    return sf_fail(in->error, SF_IO, in->file.path, CHANGES);
}

static int refuse_nothing(const reading *in)
{
    return sf_fail(in->error, SF_DATA, in->file.path, "no spike times: this file of AxIS %s",
                   count_sets(&in->file) > 0
                       ? "has spikes and no electrode that they could be on"
                       : (in->file.set_count > 0
                              ? "holds voltages; detect spikes in AxIS Navigator, and open the .spk file or "
                                "the spike list (CSV) that it writes"
                              : "holds neither spikes nor voltages; open the .spk file or the spike list "
                                "(CSV) of the recording"));
}

static int read_well(reading *in, const char *stream, double given_hz)
{
    spikes all = {0};
    int status = find_stream(in, stream, &all.well);
    if (status == SF_OK) status = open_records(in);
    if (status != SF_OK) return status;
    in->rate_hz = in->set->rate_hz;
    status =
        sf_reader_check_rate(&in->rate_hz, given_hz, in->file.path, "the header of its spikes", in->error);
    if (status == SF_OK) status = add_spikes(in, &all);
    free_spikes(&all);
    if (status == SF_OK) status = take_duration(in);
    if (status == SF_OK) status = tell_file(in);
    const well *of = &in->wells[all.well - 1];
    return status == SF_OK ? sf_axion_take_tags(in->recording, &in->file, of->column, of->row, in->error)
                           : status;
}

static int read_file(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    reading in = {.recording = recording, .first = INT64_MAX, .last = INT64_MIN, .error = error};
    int status = sf_axion_open(&in.file, path, error);
    if (status == SF_OK)
        status = how->stream != NULL ? read_well(&in, how->stream, how->rate_hz) : refuse_nothing(&in);
    close_reading(&in);
    return status;
}

const sf_folder_reader sf_folder_axion = {
    .recognises = sf_axion_has_signature, .list = list_wells, .read = read_file};
