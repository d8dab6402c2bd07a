/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The recorder: spikes and markers, and what the run found as tables under /results, in files that readers
 * may open while they grow (sinks/recorder.h). Tables are one-dimensional datasets of fixed-size records,
 * created before the first append, since a file with concurrent readers takes no new objects and no
 * variable-length types. Rows of different tables that come from one message share its `seq`; a row with seq
 * 0 was announced but never written (a killed writer).
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "io/output_file.h"
#include "sinks/recorder.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct episode_slot {
    uint64_t id;
    uint32_t row; /* plus 1; 0: empty */
} episode_slot;

typedef struct hdf5_sink {
    sf_recorder *recorder;
    const sf_stream_info *stream;
    unsigned part; /* the file that the episodes below are in */
    void *rows;    /* scratch */
    size_t rows_capacity;
    episode_slot *slots; /* hash of episode ids; slot_count is a power of two */
    size_t slot_count;
    uint32_t episode_count;
} hdf5_sink;

static int close_hdf5(void *argument, sf_error *error)
{
    hdf5_sink *self = argument;
    int status = self->recorder != NULL ? sf_recorder_close(self->recorder, error) : SF_OK;
    sf_free(self->rows);
    sf_free(self->slots);
    sf_free(self);
    return status;
}

static int examine_hdf5(const sf_sink_settings *settings, sf_error *error)
{
    sf_existing existing = settings->overwrite ? SF_EXISTING_REPLACE : SF_EXISTING_NUMBER;
    if (settings->path == NULL || settings->path[0] == '\0')
        return sf_fail(error, SF_CONFIG, "path", "an hdf5 sink needs the path of the file to write");
    return sf_output_file_may_be(settings->path, existing, error);
}

static int open_hdf5(void **out, const sf_sink_settings *settings, const sf_stream_info *stream,
                     sf_error *error)
{
    hdf5_sink *self = sf_alloc(1, sizeof *self);
    if (self == NULL) return sf_fail_memory(error);
    self->part = 1;
    self->stream = stream;
    int status = sf_recorder_open(&self->recorder, (const sf_recorder_settings *)(const void *)settings,
                                  stream, error);
    if (status != SF_OK)
        close_hdf5(self, NULL);
    else
        *out = self;
    return status;
}

static int begin_hdf5(void *argument, sf_error *error)
{
    return sf_recorder_begin(((hdf5_sink *)argument)->recorder, error);
}

/* ---- appending ---- */

static int append(hdf5_sink *self, sf_recorder_table table, const void *rows, size_t count, sf_error *error)
{
    return sf_recorder_append(self->recorder, table, rows, count, error);
}

/* Appends the rows that a message has for a table, of the records that `take` says; NULL: of all. */
static int append_rows(hdf5_sink *self, sf_recorder_table table, const sf_message *message,
                       sf_recorder_take *take, sf_error *error)
{
    const sf_message_names names = {message, self->stream};
    size_t most = sf_recorder_count(table, message);
    if (sf_reserve(&self->rows, &self->rows_capacity, most * sf_recorder_row_size(table) + 1, 1) != 0)
        return sf_fail_memory(error);
    size_t count = sf_recorder_pack(self->rows, table, &names, take, self);
    return append(self, table, self->rows, count, error);
}

/* ---- episodes, which are written once ---- */

static uint64_t id_bits(const char *id)
{
    return strtoull(id, NULL, 16);
}

static episode_slot *find_slot(episode_slot *slots, size_t slot_count, uint64_t id)
{
    size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (slot_count - 1);
    while (slots[at].row != 0 && slots[at].id != id)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

/* Keeps the hash at most half full. */
static int reserve_slots(hdf5_sink *self, size_t episodes)
{
    if (episodes * 2 <= self->slot_count) return SF_OK;
    size_t slot_count = 64;
    while (slot_count < episodes * 2)
        slot_count *= 2;
    episode_slot *slots = sf_alloc(slot_count, sizeof *slots);
    if (slots == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < self->slot_count; i++)
        if (self->slots[i].row != 0) *find_slot(slots, slot_count, self->slots[i].id) = self->slots[i];
    sf_free(self->slots);
    self->slots = slots;
    self->slot_count = slot_count;
    return SF_OK;
}

/* Those that no earlier message had; there is room for them. */
static bool take_new_episode(void *argument, const sf_message *message, size_t record,
                             uint64_t extras[SF_RECORDER_EXTRAS])
{
    (void)extras;
    hdf5_sink *self = argument;
    uint64_t id = id_bits(message->episodes.items[record].id);
    episode_slot *slot = find_slot(self->slots, self->slot_count, id);
    if (slot->row != 0) return false;
    *slot = (episode_slot){.id = id, .row = ++self->episode_count};
    return true;
}

static bool take_count(void *argument, const sf_message *message, size_t record,
                       uint64_t extras[SF_RECORDER_EXTRAS])
{
    const hdf5_sink *self = argument;
    uint64_t id = id_bits(message->episodes.items[record].id);
    extras[0] = find_slot(self->slots, self->slot_count, id)->row - 1;
    return true;
}

static int append_window(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    if (reserve_slots(self, self->episode_count + message->episodes.count) != SF_OK)
        return sf_fail_memory(error);
    int status = append_rows(self, SF_TABLE_EPISODES, message, take_new_episode, error);
    if (status == SF_OK) status = append_rows(self, SF_TABLE_COUNTS, message, take_count, error);
    return status == SF_OK ? append_rows(self, SF_TABLE_WINDOWS, message, NULL, error) : status;
}

/* ---- what lies in plain columns: the row says where ---- */

static bool take_density(void *argument, const sf_message *message, size_t record,
                         uint64_t extras[SF_RECORDER_EXTRAS])
{
    (void)record;
    const hdf5_sink *self = argument;
    extras[0] = sf_recorder_rows(self->recorder, SF_TABLE_DENSITY_VALUES) - message->density.count;
    return true;
}

static int append_density(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_density_message *density = &message->density;
    int status = append(self, SF_TABLE_DENSITY_VALUES, density->values, density->count, error);
    return status == SF_OK ? append_rows(self, SF_TABLE_DENSITIES, message, take_density, error) : status;
}

static size_t embedded_units(const sf_message *message, size_t first_motif)
{
    size_t units = 0;
    for (size_t i = first_motif; i < message->graph.motif_count; i++)
        units += message->graph.motifs[i].kept * message->graph.motifs[i].size;
    return units;
}

static bool take_match(void *argument, const sf_message *message, size_t record,
                       uint64_t extras[SF_RECORDER_EXTRAS])
{
    const hdf5_sink *self = argument;
    extras[0] = sf_recorder_rows(self->recorder, SF_TABLE_MATCH_UNITS) - embedded_units(message, record);
    extras[1] = message->graph.motifs[record].size;
    return true;
}

static int append_matches(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < message->graph.motif_count; i++) {
        const sf_motif_result *motif = &message->graph.motifs[i];
        status = append(self, SF_TABLE_MATCH_UNITS, motif->embeddings, motif->kept * motif->size, error);
    }
    return status == SF_OK ? append_rows(self, SF_TABLE_MATCHES, message, take_match, error) : status;
}

/* ---- all else ---- */

static int append_graph(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    static const sf_recorder_table tables[] = {SF_TABLE_EDGES,      SF_TABLE_REACH,  SF_TABLE_REACH_ALL,
                                               SF_TABLE_COMPONENTS, SF_TABLE_TRIADS, SF_TABLE_GRAPHS};
    int status = append_matches(self, message, error);
    for (size_t i = 0; status == SF_OK && i < sizeof tables / sizeof *tables; i++)
        status = append_rows(self, tables[i], message, NULL, error);
    return status;
}

/* What the recorder of another file lost is none of this one's. */
static bool take_sink(void *argument, const sf_message *message, size_t record,
                      uint64_t extras[SF_RECORDER_EXTRAS])
{
    const hdf5_sink *self = argument;
    char own[SF_STATUS_NAME_SIZE];
    sf_sink_name(own, "hdf5", sf_recorder_path(self->recorder));
    extras[0] = strncmp(message->status.sinks[record].name, own, sizeof own) == 0;
    return true;
}

static int append_status(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    int status = append_rows(self, SF_TABLE_SOURCES, message, NULL, error);
    if (status == SF_OK) status = append_rows(self, SF_TABLE_SINKS, message, take_sink, error);
    return status == SF_OK ? append_rows(self, SF_TABLE_STATUS, message, NULL, error) : status;
}

static int append_criticality(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    int status = append_rows(self, SF_TABLE_CAUTIONS, message, NULL, error);
    return status == SF_OK ? append_rows(self, SF_TABLE_CRITICALITY, message, NULL, error) : status;
}

static int append_message(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        return append_window(self, message, error);
    case SF_TOPIC_TRIGGER:
        return append_rows(self, SF_TABLE_TRIGGERS, message, NULL, error);
    case SF_TOPIC_DECISION:
        return append_rows(self, SF_TABLE_DECISIONS, message, NULL, error);
    case SF_TOPIC_DELIVERY:
        return append_rows(self, SF_TABLE_DELIVERIES, message, NULL, error);
    case SF_TOPIC_DENSITY:
        return append_density(self, message, error);
    case SF_TOPIC_GRAPH:
        return append_graph(self, message, error);
    case SF_TOPIC_STATUS:
        return append_status(self, message, error);
    case SF_TOPIC_CRITICALITY:
        return append_criticality(self, message, error);
    case SF_TOPIC_FEATURES: /* follow from the raw spikes, which are there */
    case SF_TOPIC_FEATURES_NAMES:
    case SF_TOPIC_BURST:
    case SF_TOPIC_RESPONSE:
    case SF_TOPIC_COUNT:
        break;
    }
    return SF_OK;
}

/* A new file has no episodes yet. */
static int turn(hdf5_sink *self, sf_error *error)
{
    int status = sf_recorder_turn(self->recorder, error);
    if (status != SF_OK || self->part == sf_recorder_part(self->recorder)) return status;
    self->part = sf_recorder_part(self->recorder);
    self->episode_count = 0;
    if (self->slot_count > 0) memset(self->slots, 0, self->slot_count * sizeof *self->slots);
    return SF_OK;
}

static int record_hdf5(void *argument, const sf_raw_batch *batch, sf_error *error)
{
    hdf5_sink *self = argument;
    int status = turn(self, error);
    return status == SF_OK ? sf_recorder_raw(self->recorder, batch, error) : status;
}

static int publish_hdf5(void *argument, const sf_message *message, sf_error *error)
{
    hdf5_sink *self = argument;
    int status = turn(self, error);
    if (status == SF_OK) status = append_message(self, message, error);
    if (status == SF_OK) sf_recorder_reach(self->recorder, message->time_ns);
    return status;
}

static int flush_hdf5(void *argument, sf_error *error)
{
    return sf_recorder_flush(((hdf5_sink *)argument)->recorder, error);
}

static int check_hdf5(void *argument, sf_error *error)
{
    return sf_recorder_check(((hdf5_sink *)argument)->recorder, error);
}

static void account_hdf5(void *argument, sf_sink_status *status)
{
    sf_recorder_account(((hdf5_sink *)argument)->recorder, status);
}

static const char *address_hdf5(void *argument)
{
    return sf_recorder_path(((hdf5_sink *)argument)->recorder);
}

static const sf_recorder_settings defaults = {SF_RECORDER_DEFAULTS};

#define ROW sf_recorder_settings
static const sf_key keys[] = {
    TEXT("path", sink.path, .needed = true, .use = SF_KEY_WRITES, .example = "run.h5", .what = "the file"),
    SWITCH("overwrite", sink.overwrite,
           .what = "a file that exists is kept, and run-2.h5 or the next free number is written; true: it is "
                   "replaced, unless another program is writing it"),
    SWITCH("journal", journal, .what = "run.h5.journal, until the file is whole: docs/operations.md"),
    REAL("sync_s", sync_s, 0, 3600, .what = "the journal is on the disk so often; 0: when the system likes"),
    REAL("rotate_mb", rotate_mb, 0, 1e9, .what = "go on in run-part2.h5 after so many MB; 0: never"),
    REAL("rotate_min", rotate_min, 0, 1e6, .what = "... or minutes of the stream"),
    REAL("reserve_mb", reserve_mb, 0, 1e9,
         .what = "of the disk, that stay free: recording ends in order before"),
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_hdf5 = {
    .settings = {"hdf5", keys, sizeof(sf_recorder_settings), &defaults, "a recording of spikes and results"},
    .descriptors = 12,
    .on_storage_thread = true,
    .keeps = true,
    .record = record_hdf5,
    .open = open_hdf5,
    .examine = examine_hdf5,
    .begin = begin_hdf5,
    .publish = publish_hdf5,
    .check = check_hdf5,
    .flush = flush_hdf5,
    .account = account_hdf5,
    .close = close_hdf5,
    .address = address_hdf5,
};
