/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The recorder: spikes and markers in synfire's own layout (io/layout.h), and what the run found as tables
 * under /results, all in one file that readers may open while it grows and that survives a kill up to the
 * last flush. Tables are one-dimensional datasets of fixed-size records, created before the first append,
 * since a file with concurrent readers takes no new objects and no variable-length types. Rows of different
 * tables that come from one message share its `seq`; a row with seq 0 was announced but never written (a
 * killed writer).
 *
 * After a failure (a full disk) the file is left as the last flush put it: HDF5 promises nothing about
 * appending to a file after an append failed.
 */
#include "core/error.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "io/layout.h"
#include "sinks/sink.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

typedef struct window_row {
    uint64_t seq, hop;
    int64_t from_ns, to_ns;
    uint64_t spikes;
    uint32_t partial, episodes; /* episodes: rows of `counts` with this seq */
    uint64_t left_out, left_out_untested;
} window_row;

typedef struct episode_row {
    uint64_t seq; /* of the message that had the episode first */
    char id[16];
    int64_t delays_ns[SF_EPISODE_MAX_SIZE - 1][2];
    uint32_t units[SF_EPISODE_MAX_SIZE]; /* SF_NO_UNIT beyond size */
    uint32_t size, reserved;
} episode_row;

typedef struct count_row {
    uint64_t seq, count;
    double expected, p, q, p_age_s;
    uint32_t episode, tests; /* episode: row of `episodes` */
    char not_tested[24];     /* why there is no p */
} count_row;

typedef struct trigger_row {
    uint64_t seq;
    int64_t time_ns;
    uint64_t occurrence;
    char id[16];
    int64_t spike_times_ns[SF_EPISODE_MAX_SIZE]; /* INT64_MIN beyond size */
    double p, q, p_age_s;
    uint32_t size, tests;
    char not_tested[24];
    int64_t decided_ns;
    char name[SF_TRIGGER_NAME_SIZE];
} trigger_row;

typedef struct decision_row {
    uint64_t seq;
    int64_t time_ns;
    char name[64], id[16]; /* id: empty where it rests on no episode */
    uint64_t occurrence;
    char outcome[16], reason[24]; /* reason: empty where nothing spoke against it */
    uint64_t trigger_seq;         /* row of `triggers` with this seq; 0: none */
    int64_t decided_ns;
    double wait_ms;
} decision_row;

typedef struct delivery_row {
    uint64_t seq;
    int64_t time_ns;
    char name[64];
    uint64_t trigger_seq; /* row of `triggers` with this seq */
    char sink[32], outcome[16];
    int64_t sent_ns;
    double latency_ms;
} delivery_row;

typedef struct density_row {
    uint64_t seq;
    int64_t from_ns, to_ns;
    double h, grid_start, grid_step;
    uint64_t first_value, count; /* in density_values */
    double row_start, row_step;
    uint64_t rows;
    double outside;
    uint32_t log_axis, reserved;
    char quantity[64];
} density_row;

typedef struct graph_row {
    uint64_t seq;
    int64_t from_ns, to_ns;
    uint64_t edges, changes; /* changes: rows of `edges` with this seq */
    double threshold;
    uint64_t left_out, left_out_untested;
} graph_row;

typedef struct edge_row {
    uint64_t seq;
    int64_t low_ns, high_ns;
    uint64_t count;
    double expected, p, q, p_age_s, weight;
    uint32_t from, to, removed, reserved;
} edge_row;

typedef struct reach_row {
    uint64_t seq;
    int64_t low_ns, high_ns; /* of the path */
    uint32_t source, unit, level;
    int32_t parent; /* -1: the source itself */
} reach_row;

typedef struct unit_row {
    uint64_t seq;
    uint32_t unit, component, reached, depth; /* SF_NO_UNIT: not asked for */
} unit_row;

/* What rewired graphs count beside the graph. */
typedef struct beside_row {
    int64_t rewired_from_ns, rewired_to_ns;
    uint64_t rewired_count;
    double mean, sd, z;
} beside_row;

typedef struct match_row {
    uint64_t seq, count;
    uint64_t first_unit; /* in match_units */
    beside_row beside;
    uint32_t pattern, truncated, size, kept, rewired, reserved; /* pattern: number in the configuration */
} match_row;

typedef struct triad_row {
    uint64_t seq;
    char triad[8];
    uint64_t count;
    beside_row beside;
    uint32_t rewired, reserved;
} triad_row;

typedef struct status_row {
    uint64_t seq;
    int64_t time_ns;
    uint64_t spikes;
    double rate_hz;
    uint64_t tracked, watched, edges, window_dropped, watch_overflows;
    char device[64], device_state[32], device_note[256];
    uint64_t device_memory;
    char counting_device[32], discovery_device[32];
    double discovery_ms;
    uint64_t tested, tests, tests_missed;
    double test_ms, test_share;
    char not_tested[24];
} status_row;

typedef struct source_row {
    uint64_t seq;
    char name[32], state[8];
    int64_t silent_ns;
    uint64_t spikes, held, late, duplicate, out_of_range, dropped, leaps;
    int64_t missing_spikes; /* -1: not known */
    uint64_t markers, markers_late, markers_dropped, markers_left_out;
    int64_t missing_markers;
    uint64_t gaps, gap_lost, malformed, restarts, undone, steps, epochs;
    int64_t shift_ns, lateness_max_ns;
} source_row;

typedef struct sink_row {
    uint64_t seq;
    char name[32];
    uint64_t published, dropped, failed, spikes, spikes_lost, markers, markers_lost;
    char state[16], note[256];
} sink_row;

/* ---- tables ---- */

typedef enum field_type { I64, U64, F64, I32, U32, TEXT, I64_LIST, U32_LIST, I64_PAIRS } field_type;

typedef struct field {
    const char *name;
    field_type type;
    size_t offset;
    size_t size; /* bytes */
} field;

/* What a member of a row is in the file. */
#define TYPE_OF(member)                                                                                      \
    _Generic((member),                                                                                       \
        int64_t: I64,                                                                                        \
        uint64_t: U64,                                                                                       \
        double: F64,                                                                                         \
        int32_t: I32,                                                                                        \
        uint32_t: U32,                                                                                       \
        char *: TEXT,                                                                                        \
        int64_t *: I64_LIST,                                                                                 \
        uint32_t *: U32_LIST,                                                                                \
        int64_t(*)[2]: I64_PAIRS)
#define MEMBER(row, member, name)                                                                            \
    {                                                                                                        \
        name, TYPE_OF(((row *)NULL)->member), offsetof(row, member), sizeof(((row *)NULL)->member)           \
    }
#define FIELD(row, name) MEMBER(row, name, #name)
/* Of rows that compare with rewired graphs. */
#define BESIDE_FIELDS(row)                                                                                   \
    FIELD(row, rewired), MEMBER(row, beside.rewired_from_ns, "rewired_from_ns"),                             \
        MEMBER(row, beside.rewired_to_ns, "rewired_to_ns"),                                                  \
        MEMBER(row, beside.rewired_count, "rewired_count"), MEMBER(row, beside.mean, "mean"),                \
        MEMBER(row, beside.sd, "sd"), MEMBER(row, beside.z, "z")
#define MOST_FIELDS 32

typedef struct table_form {
    const char *name;
    size_t row_size;
    hsize_t chunk; /* rows */
    field fields[MOST_FIELDS];
} table_form;

enum {
    WINDOWS,
    EPISODES,
    COUNTS,
    TRIGGERS,
    DECISIONS,
    DELIVERIES,
    DENSITIES,
    GRAPHS,
    EDGES,
    REACH,
    UNITS,
    MATCHES,
    TRIADS,
    STATUS,
    SOURCES,
    SINKS,
    TABLES
};

static const table_form forms[TABLES] = {
    [WINDOWS] = {"windows",
                 sizeof(window_row),
                 512,
                 {FIELD(window_row, seq), FIELD(window_row, hop), FIELD(window_row, from_ns),
                  FIELD(window_row, to_ns), FIELD(window_row, spikes), FIELD(window_row, partial),
                  FIELD(window_row, episodes), FIELD(window_row, left_out),
                  FIELD(window_row, left_out_untested)}},
    [EPISODES] = {"episodes",
                  sizeof(episode_row),
                  128,
                  {FIELD(episode_row, seq), FIELD(episode_row, id), FIELD(episode_row, size),
                   FIELD(episode_row, units), FIELD(episode_row, delays_ns)}},
    [COUNTS] = {"counts",
                sizeof(count_row),
                2048,
                {FIELD(count_row, seq), FIELD(count_row, episode), FIELD(count_row, count),
                 FIELD(count_row, expected), FIELD(count_row, p), FIELD(count_row, q),
                 FIELD(count_row, p_age_s), FIELD(count_row, tests), FIELD(count_row, not_tested)}},
    [TRIGGERS] = {"triggers",
                  sizeof(trigger_row),
                  256,
                  {FIELD(trigger_row, seq), FIELD(trigger_row, time_ns), FIELD(trigger_row, id),
                   FIELD(trigger_row, occurrence), FIELD(trigger_row, size),
                   FIELD(trigger_row, spike_times_ns), FIELD(trigger_row, p), FIELD(trigger_row, q),
                   FIELD(trigger_row, p_age_s), FIELD(trigger_row, tests), FIELD(trigger_row, not_tested),
                   FIELD(trigger_row, decided_ns), FIELD(trigger_row, name)}},
    [DECISIONS] = {"decisions",
                   sizeof(decision_row),
                   256,
                   {FIELD(decision_row, seq), FIELD(decision_row, time_ns), FIELD(decision_row, name),
                    FIELD(decision_row, id), FIELD(decision_row, occurrence), FIELD(decision_row, outcome),
                    FIELD(decision_row, reason), FIELD(decision_row, trigger_seq),
                    FIELD(decision_row, decided_ns), FIELD(decision_row, wait_ms)}},
    [DELIVERIES] = {"deliveries",
                    sizeof(delivery_row),
                    256,
                    {FIELD(delivery_row, seq), FIELD(delivery_row, time_ns), FIELD(delivery_row, name),
                     FIELD(delivery_row, trigger_seq), FIELD(delivery_row, sink),
                     FIELD(delivery_row, outcome), FIELD(delivery_row, sent_ns),
                     FIELD(delivery_row, latency_ms)}},
    [DENSITIES] = {"densities",
                   sizeof(density_row),
                   256,
                   {FIELD(density_row, seq), FIELD(density_row, from_ns), FIELD(density_row, to_ns),
                    FIELD(density_row, quantity), FIELD(density_row, h), FIELD(density_row, grid_start),
                    FIELD(density_row, grid_step), FIELD(density_row, first_value), FIELD(density_row, count),
                    FIELD(density_row, row_start), FIELD(density_row, row_step), FIELD(density_row, rows),
                    FIELD(density_row, outside), FIELD(density_row, log_axis)}},
    [GRAPHS] = {"graphs",
                sizeof(graph_row),
                512,
                {FIELD(graph_row, seq), FIELD(graph_row, from_ns), FIELD(graph_row, to_ns),
                 FIELD(graph_row, edges), FIELD(graph_row, changes), FIELD(graph_row, threshold),
                 FIELD(graph_row, left_out), FIELD(graph_row, left_out_untested)}},
    [EDGES] = {"edges",
               sizeof(edge_row),
               1024,
               {FIELD(edge_row, seq), FIELD(edge_row, from), FIELD(edge_row, to), FIELD(edge_row, low_ns),
                FIELD(edge_row, high_ns), FIELD(edge_row, count), FIELD(edge_row, expected),
                FIELD(edge_row, weight), FIELD(edge_row, p), FIELD(edge_row, q), FIELD(edge_row, p_age_s),
                FIELD(edge_row, removed)}},
    [REACH] = {"reach",
               sizeof(reach_row),
               1024,
               {FIELD(reach_row, seq), FIELD(reach_row, source), FIELD(reach_row, unit),
                FIELD(reach_row, level), FIELD(reach_row, parent), FIELD(reach_row, low_ns),
                FIELD(reach_row, high_ns)}},
    [UNITS] = {"graph_units",
               sizeof(unit_row),
               1024,
               {FIELD(unit_row, seq), FIELD(unit_row, unit), FIELD(unit_row, component),
                FIELD(unit_row, reached), FIELD(unit_row, depth)}},
    [MATCHES] = {"matches",
                 sizeof(match_row),
                 256,
                 {FIELD(match_row, seq), FIELD(match_row, pattern), FIELD(match_row, count),
                  FIELD(match_row, truncated), FIELD(match_row, first_unit), FIELD(match_row, size),
                  FIELD(match_row, kept), BESIDE_FIELDS(match_row)}},
    [TRIADS] = {"triads",
                sizeof(triad_row),
                256,
                {FIELD(triad_row, seq), FIELD(triad_row, triad), FIELD(triad_row, count),
                 BESIDE_FIELDS(triad_row)}},
    [STATUS] = {"status", sizeof(status_row), 128, {FIELD(status_row, seq),
                                                    FIELD(status_row, time_ns),
                                                    FIELD(status_row, spikes),
                                                    FIELD(status_row, rate_hz),
                                                    FIELD(status_row, tracked),
                                                    FIELD(status_row, watched),
                                                    FIELD(status_row, edges),
                                                    FIELD(status_row, window_dropped),
                                                    FIELD(status_row, watch_overflows),
                                                    FIELD(status_row, device),
                                                    FIELD(status_row, device_state),
                                                    FIELD(status_row, device_note),
                                                    FIELD(status_row, device_memory),
                                                    FIELD(status_row, counting_device),
                                                    FIELD(status_row, discovery_device),
                                                    FIELD(status_row, discovery_ms),
                                                    FIELD(status_row, tested),
                                                    FIELD(status_row, tests),
                                                    FIELD(status_row, tests_missed),
                                                    FIELD(status_row, test_ms),
                                                    FIELD(status_row, test_share),
                                                    FIELD(status_row, not_tested)}},
    [SOURCES] = {"sources",
                 sizeof(source_row),
                 256,
                 {FIELD(source_row, seq),
                  FIELD(source_row, name),
                  FIELD(source_row, state),
                  FIELD(source_row, silent_ns),
                  FIELD(source_row, spikes),
                  FIELD(source_row, held),
                  FIELD(source_row, late),
                  FIELD(source_row, duplicate),
                  FIELD(source_row, out_of_range),
                  FIELD(source_row, dropped),
                  FIELD(source_row, leaps),
                  FIELD(source_row, missing_spikes),
                  FIELD(source_row, markers),
                  FIELD(source_row, markers_late),
                  FIELD(source_row, markers_dropped),
                  FIELD(source_row, markers_left_out),
                  FIELD(source_row, missing_markers),
                  FIELD(source_row, gaps),
                  FIELD(source_row, gap_lost),
                  FIELD(source_row, malformed),
                  FIELD(source_row, restarts),
                  FIELD(source_row, undone),
                  FIELD(source_row, steps),
                  FIELD(source_row, epochs),
                  FIELD(source_row, shift_ns),
                  FIELD(source_row, lateness_max_ns)}},
    [SINKS] = {"sinks",
               sizeof(sink_row),
               256,
               {FIELD(sink_row, seq), FIELD(sink_row, name), FIELD(sink_row, published),
                FIELD(sink_row, dropped), FIELD(sink_row, failed), FIELD(sink_row, spikes),
                FIELD(sink_row, spikes_lost), FIELD(sink_row, markers), FIELD(sink_row, markers_lost),
                FIELD(sink_row, state), FIELD(sink_row, note)}},
};

/* A new type, or a negative id. */
static hid_t make_field_type(const field *what)
{
    const hsize_t count = what->size / (what->type == U32_LIST ? sizeof(uint32_t) : sizeof(int64_t));
    const hsize_t pairs[2] = {count / 2, 2};
    hid_t text;
    switch (what->type) {
    case I64:
        return H5Tcopy(H5T_NATIVE_INT64);
    case U64:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case F64:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case I32:
        return H5Tcopy(H5T_NATIVE_INT32);
    case U32:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case I64_LIST:
        return H5Tarray_create2(H5T_NATIVE_INT64, 1, &count);
    case U32_LIST:
        return H5Tarray_create2(H5T_NATIVE_UINT32, 1, &count);
    case I64_PAIRS:
        return H5Tarray_create2(H5T_NATIVE_INT64, 2, pairs);
    case TEXT:
    default:
        text = H5Tcopy(H5T_C_S1);
        if (text >= 0 && (H5Tset_size(text, what->size) < 0 || H5Tset_strpad(text, H5T_STR_NULLPAD) < 0)) {
            sf_hdf_close(text);
            return H5I_INVALID_HID;
        }
        return text;
    }
}

static hid_t make_row_type(const table_form *form)
{
    hid_t row = H5Tcreate(H5T_COMPOUND, form->row_size);
    for (size_t i = 0; row >= 0 && i < MOST_FIELDS && form->fields[i].name != NULL; i++) {
        hid_t type = make_field_type(&form->fields[i]);
        bool added = type >= 0 && H5Tinsert(row, form->fields[i].name, form->fields[i].offset, type) >= 0;
        sf_hdf_close(type);
        if (!added) {
            sf_hdf_close(row);
            return H5I_INVALID_HID;
        }
    }
    return row;
}

/* ---- the file ---- */

typedef struct episode_slot {
    uint64_t id;
    uint32_t row; /* plus 1; 0: empty */
} episode_slot;

typedef struct recorder {
    const sf_stream_info *stream;
    char *path;
    sf_layout *layout;
    hid_t types[TABLES], tables[TABLES];
    hid_t density_values, match_units; /* plain columns beside the tables */
    uint64_t density_value_count, match_unit_count;
    void *rows; /* scratch */
    size_t rows_capacity;
    episode_slot *slots; /* hash of episode ids; slot_count is a power of two */
    size_t slot_count;
    uint32_t episode_count;
    sf_span seen; /* from the first spike or marker to the newest time of anything */
    bool has_seen;
    bool begun;
    bool broken;
} recorder;

static void close_tables(recorder *self)
{
    for (int i = 0; i < TABLES; i++) {
        sf_hdf_close(self->tables[i]);
        sf_hdf_close(self->types[i]);
    }
    sf_hdf_close(self->density_values);
    sf_hdf_close(self->match_units);
}

/* What the recording covers: from its declared start where there is one, else from the first spike or marker,
 * to where the run ended. */
static sf_span recorded_span(const recorder *self)
{
    sf_span span = self->seen;
    const sf_recording *origin = self->stream->origin;
    if (origin != NULL && origin->declared) {
        if (origin->recorded.start_ns < span.start_ns)
            span.start_ns = origin->recorded.start_ns;
        if (origin->recorded.stop_ns < span.stop_ns)
            span.stop_ns = origin->recorded.stop_ns;
    }
    return span;
}

static int close_recorder(void *argument, sf_error *error)
{
    recorder *self = argument;
    int status = SF_OK;
    close_tables(self);
    if (!self->begun) {
        sf_layout_discard(self->layout);
    } else if (self->broken) {
        sf_layout_abandon(self->layout);
    } else {
        sf_span span = recorded_span(self);
        status = sf_layout_close(self->layout, self->has_seen ? &span : NULL, error);
    }
    sf_free(self->path);
    sf_free(self->rows);
    sf_free(self->slots);
    sf_free(self);
    return status;
}

static int create_tables(recorder *self, sf_error *error)
{
    hid_t results =
        H5Gcreate2(sf_layout_file(self->layout), "results", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool created = results >= 0;
    for (int i = 0; created && i < TABLES; i++) {
        self->types[i] = make_row_type(&forms[i]);
        if (self->types[i] >= 0)
            self->tables[i] =
                sf_layout_column(results, forms[i].name, self->types[i], forms[i].chunk, 1, error);
        created = self->tables[i] >= 0;
    }
    if (created)
        self->density_values = sf_layout_column(results, "density_values", H5T_NATIVE_DOUBLE, 4096, 1, error);
    created = created && self->density_values >= 0;
    if (created)
        self->match_units = sf_layout_column(results, "match_units", H5T_NATIVE_UINT32, 1024, 1, error);
    created = created && self->match_units >= 0;
    sf_hdf_close(results);
    return created ? SF_OK : sf_hdf_fail(error, SF_CANNOT_CREATE, self->path, "cannot create the results");
}

static int create_file(recorder *self, const sf_sink_settings *settings, sf_error *error)
{
    sf_text provenance = {0};
    if (self->stream->provenance != NULL)
        sf_provenance_print(&provenance, self->stream->provenance);
    if (provenance.failed) {
        sf_text_free(&provenance);
        return sf_fail_memory(error);
    }
    /* A live stream has units and nothing else; they are borrowed for the call. */
    const sf_recording bare = {.units = *self->stream->units};
    const sf_layout_options options = {.kind = "recording",
                                       .configuration = self->stream->configuration,
                                       .provenance = provenance.data,
                                       .live = true,
                                       .overwrite = settings->overwrite,
                                       .numbered = true};
    int status =
        sf_layout_create(&self->layout, settings->path,
                         self->stream->origin != NULL ? self->stream->origin : &bare, &options, error);
    sf_text_free(&provenance);
    if (status == SF_OK) {
        self->path = sf_copy_string(sf_layout_path(self->layout));
        status = self->path != NULL ? create_tables(self, error) : sf_fail_memory(error);
    }
    if (status == SF_OK)
        status = sf_layout_start_live(self->layout, error);
    return status;
}

static int open_recorder(void **out, const sf_sink_settings *settings, const sf_stream_info *stream,
                         sf_error *error)
{
    if (settings->path == NULL || settings->path[0] == '\0')
        return sf_fail(error, SF_CONFIG, "path", "an hdf5 sink needs the path of the file to write");
    recorder *self = sf_alloc(1, sizeof *self);
    if (self == NULL)
        return sf_fail_memory(error);
    sf_hdf_begin();
    self->stream = stream;
    self->density_values = self->match_units = H5I_INVALID_HID;
    for (int i = 0; i < TABLES; i++)
        self->types[i] = self->tables[i] = H5I_INVALID_HID;
    int status = create_file(self, settings, error);
    if (status != SF_OK) {
        close_recorder(self, NULL);
        return status;
    }
    *out = self;
    return SF_OK;
}

static int begin_recorder(void *argument, sf_error *error)
{
    recorder *self = argument;
    int status = sf_layout_commit(self->layout, error);
    self->begun = status == SF_OK;
    return status;
}

/* ---- appending ---- */

static int append(recorder *self, int table, const void *rows, size_t count, sf_error *error)
{
    return sf_layout_column_append(self->tables[table], self->types[table], rows, count, error);
}

/* Room for `count` rows in the scratch memory, also for none; NULL where memory is out. */
static void *make_rows(recorder *self, size_t count, size_t row_size)
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
static int reserve_slots(recorder *self, size_t episodes)
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
static int append_new_episodes(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, EPISODES, rows, added, error);
}

/* Why there is no p, or nothing. */
static void put_reason(char *text, size_t size, const char *reason)
{
    if (reason != NULL)
        memcpy(text, reason, strnlen(reason, size));
}

static int append_counts(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, COUNTS, rows, episodes->count, error);
}

static int append_window(recorder *self, const sf_message *message, sf_error *error)
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
    return status == SF_OK ? append(self, WINDOWS, &row, 1, error) : status;
}

static int append_trigger(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, TRIGGERS, &row, 1, error);
}

static int append_decision(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, DECISIONS, &row, 1, error);
}

static int append_delivery(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, DELIVERIES, &row, 1, error);
}

static int append_density(recorder *self, const sf_message *message, sf_error *error)
{
    const sf_density_message *density = &message->density;
    density_row row = {.seq = message->seq,
                       .from_ns = density->window.start_ns,
                       .to_ns = density->window.stop_ns,
                       .h = density->h,
                       .grid_start = density->grid_start,
                       .grid_step = density->grid_step,
                       .first_value = self->density_value_count,
                       .count = density->count,
                       .row_start = density->row_start,
                       .row_step = density->row_step,
                       .rows = density->rows,
                       .outside = density->outside,
                       .log_axis = density->log_axis};
    memcpy(row.quantity, density->quantity, strnlen(density->quantity, sizeof row.quantity));
    int status = sf_layout_column_append(self->density_values, H5T_NATIVE_DOUBLE, density->values,
                                         density->count, error);
    if (status != SF_OK)
        return status;
    self->density_value_count += density->count;
    return append(self, DENSITIES, &row, 1, error);
}

static int append_edges(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, EDGES, rows, graph->change_count, error);
}

static int append_reach(recorder *self, const sf_message *message, const sf_reach_result *reach,
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
    return append(self, REACH, rows, reach->count, error);
}

/* What was asked of every unit. */
static int append_units(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, UNITS, rows, graph->unit_count, error);
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

static int append_match(recorder *self, const sf_message *message, size_t pattern, sf_error *error)
{
    const sf_motif_result *motif = &message->graph.motifs[pattern];
    const sf_motif_spread *spread = &motif->spread;
    const match_row row = {.seq = message->seq,
                           .count = motif->count,
                           .first_unit = self->match_unit_count,
                           .beside = beside(spread),
                           .pattern = (uint32_t)pattern,
                           .truncated = motif->truncated,
                           .size = motif->size,
                           .kept = (uint32_t)motif->kept,
                           .rewired = spread->graphs};
    size_t units = motif->kept * motif->size;
    int status =
        sf_layout_column_append(self->match_units, H5T_NATIVE_UINT32, motif->embeddings, units, error);
    if (status != SF_OK)
        return status;
    self->match_unit_count += units;
    return append(self, MATCHES, &row, 1, error);
}

static int append_census(recorder *self, const sf_message *message, sf_error *error)
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
    return append(self, TRIADS, rows, graph->triad_count, error);
}

static int append_graph(recorder *self, const sf_message *message, sf_error *error)
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
    return status == SF_OK ? append(self, GRAPHS, &row, 1, error) : status;
}

static int append_sources(recorder *self, const sf_message *message, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < message->status.source_count; i++) {
        const sf_source_status *source = &message->status.sources[i];
        source_row row = {.seq = message->seq,
                          .silent_ns = source->silent_ns,
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
        status = append(self, SOURCES, &row, 1, error);
    }
    return status;
}

static int append_sinks(recorder *self, const sf_message *message, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < message->status.sink_count; i++) {
        const sf_sink_status *sink = &message->status.sinks[i];
        sink_row row = {.seq = message->seq,
                        .published = sink->published,
                        .dropped = sink->dropped,
                        .failed = sink->failed,
                        .spikes = sink->spikes,
                        .spikes_lost = sink->spikes_lost,
                        .markers = sink->markers,
                        .markers_lost = sink->markers_lost};
        memcpy(row.name, sink->name, strnlen(sink->name, sizeof row.name));
        memcpy(row.state, sink->state, strnlen(sink->state, sizeof row.state));
        memcpy(row.note, sink->note, strnlen(sink->note, sizeof row.note));
        status = append(self, SINKS, &row, 1, error);
    }
    return status;
}

static int append_status(recorder *self, const sf_message *message, sf_error *error)
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
    int status = append_sources(self, message, error);
    if (status == SF_OK)
        status = append_sinks(self, message, error);
    return status == SF_OK ? append(self, STATUS, &row, 1, error) : status;
}

/* Extends what the recording covers to [start, stop). */
static void see(recorder *self, int64_t start_ns, int64_t stop_ns)
{
    if (!self->has_seen || start_ns < self->seen.start_ns)
        self->seen.start_ns = start_ns;
    if (!self->has_seen || stop_ns > self->seen.stop_ns)
        self->seen.stop_ns = stop_ns;
    self->has_seen = true;
}

static int append_raw(recorder *self, const sf_raw_batch *batch, sf_error *error)
{
    const sf_spike *spikes = batch->spikes;
    const sf_marker *markers = batch->markers;
    if (batch->spike_count > 0)
        see(self, spikes[0].time_ns, spikes[batch->spike_count - 1].time_ns + 1);
    if (batch->marker_count > 0)
        see(self, markers[0].time_ns, markers[batch->marker_count - 1].time_ns + 1);
    int status = sf_layout_append_spikes(self->layout, spikes, batch->spike_count, error);
    if (status == SF_OK)
        status = sf_layout_append_markers(self->layout, markers, batch->marker_count, error);
    return status;
}

static int append_message(recorder *self, const sf_message *message, sf_error *error)
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

/* Where memory ran out nothing was half appended: the next message may go well. */
static int break_off(recorder *self, int status, sf_error *error)
{
    self->broken = status != SF_NO_MEMORY;
    snprintf(error->place, sizeof error->place, "%s", self->path);
    return status;
}

static int broken_off(const recorder *self, sf_error *error)
{
    return sf_fail(error, SF_IO, self->path, "recording broke off earlier");
}

static int record_raw(void *argument, const sf_raw_batch *batch, sf_error *error)
{
    recorder *self = argument;
    if (self->broken)
        return broken_off(self, error);
    int status = append_raw(self, batch, error);
    return status == SF_OK ? SF_OK : break_off(self, status, error);
}

static int publish_recorder(void *argument, const sf_message *message, sf_error *error)
{
    recorder *self = argument;
    if (self->broken)
        return broken_off(self, error);
    int status = append_message(self, message, error);
    if (status != SF_OK)
        return break_off(self, status, error);
    if (self->has_seen && message->time_ns > self->seen.stop_ns)
        self->seen.stop_ns = message->time_ns;
    return SF_OK;
}

static int flush_recorder(void *argument, sf_error *error)
{
    recorder *self = argument;
    if (self->broken)
        return SF_OK;
    int status = sf_layout_flush(self->layout, error);
    return status == SF_OK ? SF_OK : break_off(self, status, error);
}

static int check_recorder(void *argument, sf_error *error)
{
    recorder *self = argument;
    if (self->broken)
        return SF_OK;
    int status = sf_layout_check(self->layout, error);
    return status == SF_OK ? SF_OK : break_off(self, status, error);
}

static const char *address_recorder(void *argument)
{
    return ((recorder *)argument)->path;
}

static const sf_sink_settings defaults = {SF_SINK_DEFAULTS};

static const sf_key keys[] = {
    {.name = "path",
     .type = SF_KEY_TEXT,
     .offset = offsetof(sf_sink_settings, path),
     .needed = true,
     .use = SF_KEY_WRITES},
    {.name = "overwrite", .type = SF_KEY_SWITCH, .offset = offsetof(sf_sink_settings, overwrite)},
    {0},
};

const sf_sink_kind sf_sink_hdf5 = {
    .settings = {"hdf5", keys, sizeof(sf_sink_settings), &defaults},
    .descriptors = 6,
    .on_storage_thread = true,
    .record = record_raw,
    .open = open_recorder,
    .begin = begin_recorder,
    .publish = publish_recorder,
    .check = check_recorder,
    .flush = flush_recorder,
    .close = close_recorder,
    .address = address_recorder,
};
