/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/recorder_file.h"

#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "sinks/recorder_rows.h"

#include <stddef.h>
#include <string.h>

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

static const table_form forms[SF_RECORDER_TABLES] = {
    [SF_TABLE_WINDOWS] = {"windows",
                          sizeof(window_row),
                          512,
                          {FIELD(window_row, seq), FIELD(window_row, hop), FIELD(window_row, from_ns),
                           FIELD(window_row, to_ns), FIELD(window_row, spikes), FIELD(window_row, partial),
                           FIELD(window_row, episodes), FIELD(window_row, left_out),
                           FIELD(window_row, left_out_untested)}},
    [SF_TABLE_EPISODES] = {"episodes",
                           sizeof(episode_row),
                           128,
                           {FIELD(episode_row, seq), FIELD(episode_row, id), FIELD(episode_row, size),
                            FIELD(episode_row, units), FIELD(episode_row, delays_ns)}},
    [SF_TABLE_COUNTS] = {"counts",
                         sizeof(count_row),
                         2048,
                         {FIELD(count_row, seq), FIELD(count_row, episode), FIELD(count_row, count),
                          FIELD(count_row, expected), FIELD(count_row, p), FIELD(count_row, q),
                          FIELD(count_row, p_age_s), FIELD(count_row, tests), FIELD(count_row, not_tested)}},
    [SF_TABLE_TRIGGERS] = {"triggers",
                           sizeof(trigger_row),
                           256,
                           {FIELD(trigger_row, seq), FIELD(trigger_row, time_ns), FIELD(trigger_row, id),
                            FIELD(trigger_row, occurrence), FIELD(trigger_row, size),
                            FIELD(trigger_row, spike_times_ns), FIELD(trigger_row, p), FIELD(trigger_row, q),
                            FIELD(trigger_row, p_age_s), FIELD(trigger_row, tests),
                            FIELD(trigger_row, not_tested), FIELD(trigger_row, decided_ns),
                            FIELD(trigger_row, name)}},
    [SF_TABLE_DECISIONS] = {"decisions",
                            sizeof(decision_row),
                            256,
                            {FIELD(decision_row, seq), FIELD(decision_row, time_ns),
                             FIELD(decision_row, name), FIELD(decision_row, id),
                             FIELD(decision_row, occurrence), FIELD(decision_row, outcome),
                             FIELD(decision_row, reason), FIELD(decision_row, trigger_seq),
                             FIELD(decision_row, decided_ns), FIELD(decision_row, wait_ms)}},
    [SF_TABLE_DELIVERIES] = {"deliveries",
                             sizeof(delivery_row),
                             256,
                             {FIELD(delivery_row, seq), FIELD(delivery_row, time_ns),
                              FIELD(delivery_row, name), FIELD(delivery_row, trigger_seq),
                              FIELD(delivery_row, sink), FIELD(delivery_row, outcome),
                              FIELD(delivery_row, sent_ns), FIELD(delivery_row, latency_ms)}},
    [SF_TABLE_DENSITIES] = {"densities",
                            sizeof(density_row),
                            256,
                            {FIELD(density_row, seq), FIELD(density_row, from_ns), FIELD(density_row, to_ns),
                             FIELD(density_row, quantity), FIELD(density_row, h),
                             FIELD(density_row, grid_start), FIELD(density_row, grid_step),
                             FIELD(density_row, first_value), FIELD(density_row, count),
                             FIELD(density_row, row_start), FIELD(density_row, row_step),
                             FIELD(density_row, rows), FIELD(density_row, outside),
                             FIELD(density_row, log_axis)}},
    [SF_TABLE_GRAPHS] = {"graphs",
                         sizeof(graph_row),
                         512,
                         {FIELD(graph_row, seq), FIELD(graph_row, from_ns), FIELD(graph_row, to_ns),
                          FIELD(graph_row, edges), FIELD(graph_row, changes), FIELD(graph_row, threshold),
                          FIELD(graph_row, left_out), FIELD(graph_row, left_out_untested)}},
    [SF_TABLE_EDGES] = {"edges",
                        sizeof(edge_row),
                        1024,
                        {FIELD(edge_row, seq), FIELD(edge_row, from), FIELD(edge_row, to),
                         FIELD(edge_row, low_ns), FIELD(edge_row, high_ns), FIELD(edge_row, count),
                         FIELD(edge_row, expected), FIELD(edge_row, weight), FIELD(edge_row, p),
                         FIELD(edge_row, q), FIELD(edge_row, p_age_s), FIELD(edge_row, removed)}},
    [SF_TABLE_REACH] = {"reach",
                        sizeof(reach_row),
                        1024,
                        {FIELD(reach_row, seq), FIELD(reach_row, source), FIELD(reach_row, unit),
                         FIELD(reach_row, level), FIELD(reach_row, parent), FIELD(reach_row, low_ns),
                         FIELD(reach_row, high_ns)}},
    [SF_TABLE_UNITS] = {"graph_units",
                        sizeof(unit_row),
                        1024,
                        {FIELD(unit_row, seq), FIELD(unit_row, unit), FIELD(unit_row, component),
                         FIELD(unit_row, reached), FIELD(unit_row, depth)}},
    [SF_TABLE_MATCHES] = {"matches",
                          sizeof(match_row),
                          256,
                          {FIELD(match_row, seq), FIELD(match_row, pattern), FIELD(match_row, count),
                           FIELD(match_row, truncated), FIELD(match_row, first_unit), FIELD(match_row, size),
                           FIELD(match_row, kept), BESIDE_FIELDS(match_row)}},
    [SF_TABLE_TRIADS] = {"triads",
                         sizeof(triad_row),
                         256,
                         {FIELD(triad_row, seq), FIELD(triad_row, triad), FIELD(triad_row, count),
                          BESIDE_FIELDS(triad_row)}},
    [SF_TABLE_STATUS] = {"status", sizeof(status_row), 128, {FIELD(status_row, seq),
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
                                                             FIELD(status_row, test_device),
                                                             FIELD(status_row, test_ms),
                                                             FIELD(status_row, test_share),
                                                             FIELD(status_row, not_tested)}},
    [SF_TABLE_SOURCES] = {"sources",
                          sizeof(source_row),
                          256,
                          {FIELD(source_row, seq),
                           FIELD(source_row, name),
                           FIELD(source_row, state),
                           FIELD(source_row, silent_ns),
                           FIELD(source_row, behind_ns),
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
                           FIELD(source_row, lateness_max_ns),
                           FIELD(source_row, authentication)}},
    [SF_TABLE_SINKS] = {"sinks",
                        sizeof(sink_row),
                        256,
                        {FIELD(sink_row, seq), FIELD(sink_row, name), FIELD(sink_row, published),
                         FIELD(sink_row, dropped), FIELD(sink_row, failed), FIELD(sink_row, spikes),
                         FIELD(sink_row, spikes_lost), FIELD(sink_row, markers),
                         FIELD(sink_row, markers_lost), FIELD(sink_row, state), FIELD(sink_row, note),
                         FIELD(sink_row, journal_bytes), FIELD(sink_row, syncs), FIELD(sink_row, sync_max_ms),
                         FIELD(sink_row, disk_left_s), FIELD(sink_row, refused), FIELD(sink_row, own)}},
    [SF_TABLE_DENSITY_VALUES] = {"density_values", sizeof(double), 4096, {{NULL, F64, 0, 0}}},
    [SF_TABLE_MATCH_UNITS] = {"match_units", sizeof(uint32_t), 1024, {{NULL, U32, 0, 0}}},
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
    if (form->fields[0].name == NULL)
        return make_field_type(&form->fields[0]);
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

const char *sf_recorder_table_name(sf_recorder_table table)
{
    return forms[table].name;
}

size_t sf_recorder_row_size(sf_recorder_table table)
{
    return forms[table].row_size;
}

uint64_t sf_recorder_table_form(sf_recorder_table table)
{
    const table_form *form = &forms[table];
    uint64_t hash = sf_hash_integer(SF_HASH_START, form->row_size);
    for (size_t i = 0; i < MOST_FIELDS && form->fields[i].name != NULL; i++) {
        const field *what = &form->fields[i];
        hash = sf_hash_bytes(hash, what->name, strlen(what->name) + 1);
        hash = sf_hash_integer(hash, (uint64_t)what->type);
        hash = sf_hash_integer(hash, what->offset);
        hash = sf_hash_integer(hash, what->size);
    }
    return hash;
}

/* ---- the file ---- */

struct sf_recorder_file {
    sf_layout *layout;
    hid_t types[SF_RECORDER_TABLES], tables[SF_RECORDER_TABLES];
};

static int create_tables(sf_recorder_file *file, const char *path, sf_error *error)
{
    hid_t results =
        H5Gcreate2(sf_layout_file(file->layout), "results", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool created = results >= 0;
    for (int i = 0; created && i < SF_RECORDER_TABLES; i++) {
        file->types[i] = make_row_type(&forms[i]);
        if (file->types[i] >= 0)
            file->tables[i] =
                sf_layout_column(results, forms[i].name, file->types[i], forms[i].chunk, 1, error);
        created = file->tables[i] >= 0;
    }
    sf_hdf_close(results);
    return created ? SF_OK : sf_hdf_fail(error, SF_CANNOT_CREATE, path, "cannot create the results");
}

int sf_recorder_file_create(sf_recorder_file **out, const char *path, const sf_recording *about,
                            const sf_layout_options *options, sf_error *error)
{
    *out = NULL;
    sf_hdf_begin();
    sf_recorder_file *file = sf_alloc(1, sizeof *file);
    if (file == NULL)
        return sf_fail_memory(error);
    for (int i = 0; i < SF_RECORDER_TABLES; i++)
        file->types[i] = file->tables[i] = H5I_INVALID_HID;
    int status = sf_layout_create(&file->layout, path, about, options, error);
    if (status == SF_OK)
        status = create_tables(file, path, error);
    if (status == SF_OK && options->live)
        status = sf_layout_start_live(file->layout, error);
    if (status == SF_OK)
        *out = file;
    else
        sf_recorder_file_discard(file);
    return status;
}

sf_layout *sf_recorder_file_layout(const sf_recorder_file *file)
{
    return file->layout;
}

int sf_recorder_file_append(sf_recorder_file *file, sf_recorder_table table, const void *rows, size_t count,
                            sf_error *error)
{
    return sf_layout_column_append(file->tables[table], file->types[table], rows, count, error);
}

static sf_layout *let_go(sf_recorder_file *file)
{
    if (file == NULL)
        return NULL;
    sf_layout *layout = file->layout;
    for (int i = 0; i < SF_RECORDER_TABLES; i++) {
        sf_hdf_close(file->tables[i]);
        sf_hdf_close(file->types[i]);
    }
    sf_free(file);
    return layout;
}

int sf_recorder_file_close(sf_recorder_file *file, const sf_span *recorded, sf_error *error)
{
    return sf_layout_close(let_go(file), recorded, error);
}

void sf_recorder_file_discard(sf_recorder_file *file)
{
    sf_layout_discard(let_go(file));
}

void sf_recorder_file_abandon(sf_recorder_file *file)
{
    sf_layout_abandon(let_go(file));
}
