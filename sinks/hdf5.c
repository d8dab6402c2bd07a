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
#include "sinks/recorder.h"
#include "sinks/recorder_rows.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct episode_slot {
    uint64_t id;
    uint32_t row; /* plus 1; 0: empty */
} episode_slot;

typedef struct hdf5_sink {
    sf_recorder *recorder;
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

static int open_hdf5(void **out, const sf_sink_settings *settings, const sf_stream_info *stream,
                     sf_error *error)
{
    if (settings->path == NULL || settings->path[0] == '\0')
        return sf_fail(error, SF_CONFIG, "path", "an hdf5 sink needs the path of the file to write");
    hdf5_sink *self = sf_alloc(1, sizeof *self);
    if (self == NULL)
        return sf_fail_memory(error);
    self->part = 1;
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

/* Room for `count` rows in the scratch memory, also for none; NULL where memory is out. */
static void *make_rows(hdf5_sink *self, size_t count, size_t row_size)
{
    bool has_room = sf_reserve(&self->rows, &self->rows_capacity, count * row_size + 1, 1) == 0;
    return has_room ? self->rows : NULL;
}

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
    if (episodes * 2 <= self->slot_count)
        return SF_OK;
    size_t slot_count = 64;
    while (slot_count < episodes * 2)
        slot_count *= 2;
    episode_slot *slots = sf_alloc(slot_count, sizeof *slots);
    if (slots == NULL)
        return SF_NO_MEMORY;
    for (size_t i = 0; i < self->slot_count; i++)
        if (self->slots[i].row != 0)
            *find_slot(slots, slot_count, self->slots[i].id) = self->slots[i];
    sf_free(self->slots);
    self->slots = slots;
    self->slot_count = slot_count;
    return SF_OK;
}

static void fill_episode(episode_row *row, const sf_episode_count *item, uint64_t seq)
{
    memset(row, 0, sizeof *row);
    row->seq = seq;
    memcpy(row->id, item->id, sizeof row->id);
    row->size = item->episode.size;
    memset(row->units, 0xff, sizeof row->units); /* SF_NO_UNIT */
    memcpy(row->units, item->episode.units, row->size * sizeof row->units[0]);
    for (uint32_t i = 0; i + 1 < row->size; i++) {
        row->delays_ns[i][0] = item->episode.delays[i].low_ns;
        row->delays_ns[i][1] = item->episode.delays[i].high_ns;
    }
}

/* Writes the episodes that no earlier message had. */
static int append_new_episodes(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_episodes_message *episodes = &message->episodes;
    episode_row *rows = make_rows(self, episodes->count, sizeof *rows);
    if (rows == NULL || reserve_slots(self, self->episode_count + episodes->count) != SF_OK)
        return sf_fail_memory(error);
    size_t added = 0;
    for (size_t i = 0; i < episodes->count; i++) {
        uint64_t id = id_bits(episodes->items[i].id);
        episode_slot *slot = find_slot(self->slots, self->slot_count, id);
        if (slot->row != 0)
            continue;
        *slot = (episode_slot){.id = id, .row = ++self->episode_count};
        fill_episode(&rows[added++], &episodes->items[i], message->seq);
    }
    return append(self, SF_TABLE_EPISODES, rows, added, error);
}

/* Why there is no p, or nothing. */
static void put_reason(char *text, size_t size, const char *reason)
{
    if (reason != NULL)
        memcpy(text, reason, strnlen(reason, size));
}

static int append_counts(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_episodes_message *episodes = &message->episodes;
    count_row *rows = make_rows(self, episodes->count, sizeof *rows);
    if (rows == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < episodes->count; i++) {
        const sf_episode_count *item = &episodes->items[i];
        const episode_slot *slot = find_slot(self->slots, self->slot_count, id_bits(item->id));
        rows[i] = (count_row){.seq = message->seq,
                              .count = item->count,
                              .expected = item->expected,
                              .p = item->p,
                              .q = item->q,
                              .p_age_s = item->p_age_s,
                              .episode = slot->row - 1,
                              .tests = item->tests};
        put_reason(rows[i].not_tested, sizeof rows[i].not_tested, item->not_tested);
    }
    return append(self, SF_TABLE_COUNTS, rows, episodes->count, error);
}

static int append_window(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_episodes_message *episodes = &message->episodes;
    const window_row row = {.seq = message->seq,
                            .hop = episodes->hop,
                            .from_ns = episodes->window.start_ns,
                            .to_ns = episodes->window.stop_ns,
                            .spikes = episodes->spikes,
                            .partial = episodes->partial,
                            .episodes = (uint32_t)episodes->count,
                            .left_out = episodes->left_out.count,
                            .left_out_untested = episodes->left_out.untested};
    int status = append_new_episodes(self, message, error);
    if (status == SF_OK)
        status = append_counts(self, message, error);
    return status == SF_OK ? append(self, SF_TABLE_WINDOWS, &row, 1, error) : status;
}

static int append_trigger(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_trigger_message *trigger = &message->trigger;
    trigger_row row = {.seq = message->seq,
                       .time_ns = message->time_ns,
                       .occurrence = trigger->occurrence,
                       .p = trigger->p,
                       .q = trigger->q,
                       .p_age_s = trigger->p_age_s,
                       .size = trigger->size,
                       .tests = trigger->tests,
                       .decided_ns = trigger->decided_ns};
    put_reason(row.not_tested, sizeof row.not_tested, trigger->not_tested);
    memcpy(row.id, trigger->id, sizeof row.id);
    memcpy(row.name, trigger->name, sizeof row.name);
    for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
        row.spike_times_ns[i] = i < trigger->size ? trigger->spike_times_ns[i] : INT64_MIN;
    return append(self, SF_TABLE_TRIGGERS, &row, 1, error);
}

static int append_decision(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_decision_message *decision = &message->decision;
    decision_row row = {.seq = message->seq,
                        .time_ns = message->time_ns,
                        .occurrence = decision->occurrence,
                        .trigger_seq = decision->trigger_seq,
                        .decided_ns = decision->decided_ns,
                        .wait_ms = decision->wait_ms};
    snprintf(row.name, sizeof row.name, "%.63s", decision->name);
    memcpy(row.id, decision->id, sizeof row.id);
    put_reason(row.outcome, sizeof row.outcome, decision->outcome);
    put_reason(row.reason, sizeof row.reason, decision->reason);
    return append(self, SF_TABLE_DECISIONS, &row, 1, error);
}

static int append_delivery(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_delivery_message *delivery = &message->delivery;
    delivery_row row = {.seq = message->seq,
                        .time_ns = message->time_ns,
                        .trigger_seq = delivery->trigger_seq,
                        .sent_ns = delivery->sent_ns,
                        .latency_ms = delivery->latency_ms};
    snprintf(row.name, sizeof row.name, "%.63s", delivery->name);
    memcpy(row.sink, delivery->sink, sizeof row.sink);
    put_reason(row.outcome, sizeof row.outcome, delivery->outcome);
    return append(self, SF_TABLE_DELIVERIES, &row, 1, error);
}

static int append_density(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_density_message *density = &message->density;
    density_row row = {.seq = message->seq,
                       .from_ns = density->window.start_ns,
                       .to_ns = density->window.stop_ns,
                       .h = density->h,
                       .grid_start = density->grid_start,
                       .grid_step = density->grid_step,
                       .first_value = sf_recorder_rows(self->recorder, SF_TABLE_DENSITY_VALUES),
                       .count = density->count,
                       .row_start = density->row_start,
                       .row_step = density->row_step,
                       .rows = density->rows,
                       .outside = density->outside,
                       .log_axis = density->log_axis};
    memcpy(row.quantity, density->quantity, strnlen(density->quantity, sizeof row.quantity));
    int status = append(self, SF_TABLE_DENSITY_VALUES, density->values, density->count, error);
    return status == SF_OK ? append(self, SF_TABLE_DENSITIES, &row, 1, error) : status;
}

static int append_edges(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_graph_message *graph = &message->graph;
    edge_row *rows = make_rows(self, graph->change_count, sizeof *rows);
    if (rows == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < graph->change_count; i++) {
        const sf_edge_change *change = &graph->changes[i];
        rows[i] = (edge_row){.seq = message->seq,
                             .low_ns = change->delay.low_ns,
                             .high_ns = change->delay.high_ns,
                             .count = change->count,
                             .expected = change->expected,
                             .p = change->p,
                             .q = change->q,
                             .p_age_s = change->p_age_s,
                             .weight = change->weight,
                             .from = change->from,
                             .to = change->to,
                             .removed = change->removed};
    }
    return append(self, SF_TABLE_EDGES, rows, graph->change_count, error);
}

static int append_reach(hdf5_sink *self, const sf_message *message, const sf_reach_result *reach,
                        sf_error *error)
{
    reach_row *rows = make_rows(self, reach->count, sizeof *rows);
    if (rows == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < reach->count; i++)
        rows[i] = (reach_row){.seq = message->seq,
                              .low_ns = reach->delays[i].low_ns,
                              .high_ns = reach->delays[i].high_ns,
                              .source = reach->source,
                              .unit = reach->units[i],
                              .level = reach->levels[i],
                              .parent = reach->parents[i] == SF_NO_UNIT ? -1 : (int32_t)reach->parents[i]};
    return append(self, SF_TABLE_REACH, rows, reach->count, error);
}

/* What was asked of every unit. */
static int append_units(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_graph_message *graph = &message->graph;
    const sf_reach_counts *all = &graph->reach_all;
    const uint32_t *component = graph->components.of_unit;
    if (all->reached == NULL && component == NULL)
        return SF_OK;
    unit_row *rows = make_rows(self, graph->unit_count, sizeof *rows);
    if (rows == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < graph->unit_count; i++)
        rows[i] = (unit_row){.seq = message->seq,
                             .unit = (uint32_t)i,
                             .component = component != NULL ? component[i] : SF_NO_UNIT,
                             .reached = all->reached != NULL ? all->reached[i] : SF_NO_UNIT,
                             .depth = all->reached != NULL ? all->depth[i] : SF_NO_UNIT};
    return append(self, SF_TABLE_UNITS, rows, graph->unit_count, error);
}

static beside_row beside(const sf_motif_spread *spread)
{
    return (beside_row){.rewired_from_ns = spread->window.start_ns,
                        .rewired_to_ns = spread->window.stop_ns,
                        .rewired_count = spread->count,
                        .mean = spread->mean,
                        .sd = spread->sd,
                        .z = spread->z};
}

static int append_match(hdf5_sink *self, const sf_message *message, size_t pattern, sf_error *error)
{
    const sf_motif_result *motif = &message->graph.motifs[pattern];
    const sf_motif_spread *spread = &motif->spread;
    const match_row row = {.seq = message->seq,
                           .count = motif->count,
                           .first_unit = sf_recorder_rows(self->recorder, SF_TABLE_MATCH_UNITS),
                           .beside = beside(spread),
                           .pattern = (uint32_t)pattern,
                           .truncated = motif->truncated,
                           .size = motif->size,
                           .kept = (uint32_t)motif->kept,
                           .rewired = spread->graphs};
    size_t units = motif->kept * motif->size;
    int status = append(self, SF_TABLE_MATCH_UNITS, motif->embeddings, units, error);
    return status == SF_OK ? append(self, SF_TABLE_MATCHES, &row, 1, error) : status;
}

static int append_census(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_graph_message *graph = &message->graph;
    triad_row *rows = make_rows(self, graph->triad_count, sizeof *rows);
    if (rows == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < graph->triad_count; i++) {
        const sf_motif_spread *spread = &graph->triads[i].spread;
        rows[i] = (triad_row){.seq = message->seq,
                              .count = graph->triads[i].count,
                              .beside = beside(spread),
                              .rewired = spread->graphs};
        memcpy(rows[i].triad, graph->triads[i].name, sizeof rows[i].triad);
    }
    return append(self, SF_TABLE_TRIADS, rows, graph->triad_count, error);
}

static int append_graph(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_graph_message *graph = &message->graph;
    const graph_row row = {.seq = message->seq,
                           .from_ns = graph->window.start_ns,
                           .to_ns = graph->window.stop_ns,
                           .edges = graph->edges,
                           .changes = graph->change_count,
                           .threshold = graph->threshold,
                           .left_out = graph->left_out.count,
                           .left_out_untested = graph->left_out.untested};
    int status = append_edges(self, message, error);
    for (size_t i = 0; status == SF_OK && i < graph->reach_count; i++)
        status = append_reach(self, message, &graph->reach[i], error);
    if (status == SF_OK)
        status = append_units(self, message, error);
    for (size_t i = 0; status == SF_OK && i < graph->motif_count; i++)
        status = append_match(self, message, i, error);
    if (status == SF_OK)
        status = append_census(self, message, error);
    return status == SF_OK ? append(self, SF_TABLE_GRAPHS, &row, 1, error) : status;
}

static int append_sources(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < message->status.source_count; i++) {
        const sf_source_status *source = &message->status.sources[i];
        source_row row = {.seq = message->seq,
                          .silent_ns = source->silent_ns,
                          .behind_ns = source->behind_ns,
                          .spikes = source->spikes,
                          .held = source->held,
                          .late = source->late,
                          .duplicate = source->duplicate,
                          .out_of_range = source->out_of_range,
                          .dropped = source->dropped,
                          .leaps = source->leaps,
                          .missing_spikes = source->missing_spikes,
                          .markers = source->markers,
                          .markers_late = source->markers_late,
                          .markers_dropped = source->markers_dropped,
                          .markers_left_out = source->markers_left_out,
                          .missing_markers = source->missing_markers,
                          .gaps = source->gaps,
                          .gap_lost = source->gap_lost,
                          .malformed = source->malformed,
                          .restarts = source->restarts,
                          .undone = source->undone,
                          .steps = source->steps,
                          .epochs = source->epochs,
                          .shift_ns = source->shift_ns,
                          .lateness_max_ns = source->lateness_max_ns};
        memcpy(row.name, source->name, strnlen(source->name, sizeof row.name));
        snprintf(row.state, sizeof row.state, "%s", sf_source_state_name(source->state));
        put_reason(row.authentication, sizeof row.authentication, source->authentication);
        status = append(self, SF_TABLE_SOURCES, &row, 1, error);
    }
    return status;
}

/* What the recorder of another file lost is none of this one's. */
static int append_sinks(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    char own[SF_STATUS_NAME_SIZE];
    int status = SF_OK;
    sf_sink_name(own, "hdf5", sf_recorder_path(self->recorder));
    for (size_t i = 0; status == SF_OK && i < message->status.sink_count; i++) {
        const sf_sink_status *sink = &message->status.sinks[i];
        sink_row row = {.seq = message->seq,
                        .published = sink->published,
                        .dropped = sink->dropped,
                        .failed = sink->failed,
                        .spikes = sink->spikes,
                        .spikes_lost = sink->spikes_lost,
                        .markers = sink->markers,
                        .markers_lost = sink->markers_lost,
                        .journal_bytes = sink->journal_bytes,
                        .syncs = sink->syncs,
                        .sync_max_ms = sink->sync_max_ms,
                        .disk_left_s = sink->disk_left_s,
                        .refused = sink->refused,
                        .own = strncmp(sink->name, own, sizeof own) == 0};
        memcpy(row.name, sink->name, strnlen(sink->name, sizeof row.name));
        memcpy(row.state, sink->state, strnlen(sink->state, sizeof row.state));
        memcpy(row.note, sink->note, strnlen(sink->note, sizeof row.note));
        status = append(self, SF_TABLE_SINKS, &row, 1, error);
    }
    return status;
}

static int append_status(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    const sf_status_message *now = &message->status;
    status_row row = {.seq = message->seq,
                      .time_ns = message->time_ns,
                      .spikes = now->spikes,
                      .rate_hz = now->rate_hz,
                      .tracked = now->tracked,
                      .watched = now->watched,
                      .edges = now->edges,
                      .window_dropped = now->window_dropped,
                      .watch_overflows = now->watch_overflows,
                      .device_memory = now->device_memory,
                      .discovery_ms = now->discovery_ms,
                      .tested = now->tested,
                      .tests = now->tests,
                      .tests_missed = now->tests_missed,
                      .test_ms = now->test_ms,
                      .test_share = now->test_share};
    put_reason(row.not_tested, sizeof row.not_tested, now->not_tested);
    memcpy(row.device, now->device, strnlen(now->device, sizeof row.device));
    memcpy(row.device_state, now->device_state, strnlen(now->device_state, sizeof row.device_state));
    memcpy(row.device_note, now->device_note, strnlen(now->device_note, sizeof row.device_note));
    memcpy(row.counting_device, now->counting_device,
           strnlen(now->counting_device, sizeof row.counting_device));
    memcpy(row.discovery_device, now->discovery_device,
           strnlen(now->discovery_device, sizeof row.discovery_device));
    memcpy(row.test_device, now->test_device, strnlen(now->test_device, sizeof row.test_device));
    int status = append_sources(self, message, error);
    if (status == SF_OK)
        status = append_sinks(self, message, error);
    return status == SF_OK ? append(self, SF_TABLE_STATUS, &row, 1, error) : status;
}

static int append_message(hdf5_sink *self, const sf_message *message, sf_error *error)
{
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        return append_window(self, message, error);
    case SF_TOPIC_TRIGGER:
        return append_trigger(self, message, error);
    case SF_TOPIC_DECISION:
        return append_decision(self, message, error);
    case SF_TOPIC_DELIVERY:
        return append_delivery(self, message, error);
    case SF_TOPIC_DENSITY:
        return append_density(self, message, error);
    case SF_TOPIC_GRAPH:
        return append_graph(self, message, error);
    case SF_TOPIC_STATUS:
        return append_status(self, message, error);
    case SF_TOPIC_FEATURES: /* follow from the raw spikes, which are there */
    case SF_TOPIC_FEATURES_NAMES:
    case SF_TOPIC_COUNT:
        break;
    }
    return SF_OK;
}

/* A new file has no episodes yet. */
static int turn(hdf5_sink *self, sf_error *error)
{
    int status = sf_recorder_turn(self->recorder, error);
    if (status != SF_OK || self->part == sf_recorder_part(self->recorder))
        return status;
    self->part = sf_recorder_part(self->recorder);
    self->episode_count = 0;
    if (self->slot_count > 0)
        memset(self->slots, 0, self->slot_count * sizeof *self->slots);
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
    if (status == SF_OK)
        status = append_message(self, message, error);
    if (status == SF_OK)
        sf_recorder_reach(self->recorder, message->time_ns);
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

static const sf_key keys[] = {
    {.name = "path",
     .type = SF_KEY_TEXT,
     .offset = offsetof(sf_recorder_settings, sink.path),
     .needed = true,
     .use = SF_KEY_WRITES},
    {.name = "overwrite", .type = SF_KEY_SWITCH, .offset = offsetof(sf_recorder_settings, sink.overwrite)},
    {.name = "journal", .type = SF_KEY_SWITCH, .offset = offsetof(sf_recorder_settings, journal)},
    {.name = "sync_s", .type = SF_KEY_REAL, .offset = offsetof(sf_recorder_settings, sync_s), .most = 3600},
    {.name = "rotate_mb",
     .type = SF_KEY_REAL,
     .offset = offsetof(sf_recorder_settings, rotate_mb),
     .most = 1e9},
    {.name = "rotate_min",
     .type = SF_KEY_REAL,
     .offset = offsetof(sf_recorder_settings, rotate_min),
     .most = 1e6},
    {.name = "reserve_mb",
     .type = SF_KEY_REAL,
     .offset = offsetof(sf_recorder_settings, reserve_mb),
     .most = 1e9},
    {0},
};

const sf_sink_kind sf_sink_hdf5 = {
    .settings = {"hdf5", keys, sizeof(sf_recorder_settings), &defaults},
    .descriptors = 12,
    .on_storage_thread = true,
    .keeps = true,
    .record = record_hdf5,
    .open = open_hdf5,
    .begin = begin_hdf5,
    .publish = publish_hdf5,
    .check = check_hdf5,
    .flush = flush_hdf5,
    .account = account_hdf5,
    .close = close_hdf5,
    .address = address_hdf5,
};
