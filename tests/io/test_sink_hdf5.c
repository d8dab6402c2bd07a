/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder: what it wrote is read back through replay and, table by table, through HDF5 itself. */
#include "sinks/recorder.h"
#include "sinks/sink.h"
#include "support/messages.h"
#include "support/sinks.h"

#include "core/clock.h"
#include "core/memory.h"
#include "replay/recording_file.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- reading a table one field at a time ---- */

typedef struct column {
    size_t count;
    void *values;
} column;

/* Values of one field, `per_row` of memory type `type` in each row; free(values). */
static column read_field(hid_t file, const char *table, const char *name, hid_t type, size_t size,
                         hsize_t per_row)
{
    char path[64];
    snprintf(path, sizeof path, "/results/%s", table);
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    if (dataset < 0) fail_msg("there is no %s", path);
    hid_t space = H5Dget_space(dataset);
    column read = {.count = (size_t)H5Sget_simple_extent_npoints(space)};
    hid_t member = per_row == 1 ? H5Tcopy(type) : H5Tarray_create2(type, 1, &per_row);
    hid_t row = H5Tcreate(H5T_COMPOUND, size * per_row);
    assert_true(H5Tinsert(row, name, 0, member) >= 0);
    read.values = calloc(read.count + 1, size * per_row);
    if (H5Dread(dataset, row, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.values) < 0)
        fail_msg("cannot read %s of %s", name, path);
    H5Tclose(row);
    H5Tclose(member);
    H5Sclose(space);
    H5Dclose(dataset);
    return read;
}

/* What was read of the file at hand; each field of each table is read once. */
static struct {
    char name[64];
    column values;
} known[256];
static size_t known_count;

static column know_field(hid_t file, const char *table, const char *name, hid_t type, size_t size,
                         hsize_t per_row)
{
    char full_name[64];
    snprintf(full_name, sizeof full_name, "%s.%s", table, name);
    for (size_t i = 0; i < known_count; i++)
        if (strcmp(known[i].name, full_name) == 0) return known[i].values;
    assert_true(known_count < sizeof known / sizeof known[0]);
    strcpy(known[known_count].name, full_name);
    known[known_count].values = read_field(file, table, name, type, size, per_row);
    return known[known_count++].values;
}

static void close_file(hid_t file)
{
    while (known_count > 0)
        free(known[--known_count].values.values);
    H5Fclose(file);
}

/* A cursor over the named fields of one table, so that expectations can be written row by row. */
typedef struct cursor {
    hid_t file;
    const char *table;
    size_t row;
} cursor;

static uint64_t get_u64(const cursor *at, const char *name)
{
    column c = know_field(at->file, at->table, name, H5T_NATIVE_UINT64, 8, 1);
    assert_true(at->row < c.count);
    return ((uint64_t *)c.values)[at->row];
}

static int64_t get_i64(const cursor *at, const char *name)
{
    column c = know_field(at->file, at->table, name, H5T_NATIVE_INT64, 8, 1);
    assert_true(at->row < c.count);
    return ((int64_t *)c.values)[at->row];
}

static void is_f64(const cursor *at, const char *name, double expected)
{
    column c = know_field(at->file, at->table, name, H5T_NATIVE_DOUBLE, 8, 1);
    assert_true(at->row < c.count);
    double value = ((double *)c.values)[at->row]; /* null, which what is not finite becomes, is NaN */
    assert_true(value == expected || (isnan(value) && !isfinite(expected)));
}

static void is_text(const cursor *at, const char *name, const char *expected, size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size + 1);
    column c = know_field(at->file, at->table, name, type, size + 1, 1);
    assert_true(at->row < c.count);
    assert_string_equal((char *)c.values + at->row * (size + 1), expected);
    H5Tclose(type);
}

static void is_reason(const cursor *at, const char *expected)
{
    is_text(at, "not_tested", expected != NULL ? expected : "", 24);
}

static size_t count_rows(hid_t file, const char *table)
{
    return know_field(file, table, "seq", H5T_NATIVE_UINT64, 8, 1).count;
}

/* ---- recording and checking random messages ---- */

#define MESSAGES 12

typedef struct recorded {
    char *path;
    test_stream stream;
    sf_recording origin;
    sf_message *messages[SF_TOPIC_COUNT][MESSAGES];
    sf_spike spikes[3000];
    sf_marker markers[20];
} recorded;

static void make_origin(recorded *all)
{
    all->origin.units = all->stream.units; /* borrowed */
    all->origin.declared = true;
    all->origin.recorded = (sf_span){-5 * SF_SECOND, 1000 * SF_SECOND};
    sf_recording_set_metadata(&all->origin, "species", "mouse", NULL);
    all->stream.info.origin = &all->origin;
}

static void free_recorded(recorded *all)
{
    all->origin.units = (sf_units){0};
    sf_recording_clear(&all->origin);
    for (int topic = 0; topic < SF_TOPIC_COUNT; topic++)
        for (int i = 0; i < MESSAGES; i++)
            sf_message_release(all->messages[topic][i]);
    test_stream_free(&all->stream);
    unlink(all->path);
    free(all->path);
    free(all);
}

static bool with_journal = true;

static int open_recorder(sf_sink **sink, const char *path, const sf_stream_info *stream, sf_storage *storage,
                         bool overwrite, sf_error *error)
{
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.sink.type = "hdf5";
    settings.sink.path = path;
    settings.sink.policy = SF_RING_BLOCK;
    settings.sink.overwrite = overwrite;
    settings.journal = with_journal;
    return test_sink_open(sink, &settings.sink, stream, storage, error);
}

static void publish_and_release(sf_sink *sink, sf_message *message)
{
    sf_sink_publish(sink, message);
    sf_message_release(message);
}

static void publish_spikes(sf_sink *sink, const sf_spike *spikes, size_t count)
{
    const sf_raw_batch batch = {.spikes = spikes, .spike_count = count};
    sf_sink_record(sink, &batch, true);
}

static void publish_markers(sf_sink *sink, const sf_marker *markers, size_t count)
{
    const sf_raw_batch batch = {.markers = markers, .marker_count = count};
    sf_sink_record(sink, &batch, true);
}

static recorded *record_random(sf_storage *storage)
{
    test_random random = test_random_start("recorder", 77);
    recorded *all = calloc(1, sizeof *all);
    all->path = test_temporary_path(".h5");
    test_stream_make(&all->stream, &random, 7);
    make_origin(all);
    sf_sink *sink;
    assert_int_equal(open_recorder(&sink, all->path, &all->stream.info, storage, false, NULL), SF_OK);
    assert_string_equal(sf_sink_address(sink), all->path);
    for (size_t i = 0; i < 3000; i++)
        all->spikes[i] = (sf_spike){(int64_t)i * 1000, (uint32_t)test_random_below(&random, 7), (float)i / 2};
    for (size_t i = 0; i < 20; i++)
        all->markers[i] =
            (sf_marker){.time_ns = (int64_t)i * 50000, .kind = SF_MARKER_TTL, .state = i % 2, .line = 3};
    for (int i = 0; i < MESSAGES; i++) {
        publish_spikes(sink, all->spikes + i * 250, 250);
        if (i < 10) publish_markers(sink, all->markers + 2 * i, 2);
        for (int topic = 0; topic < SF_TOPIC_COUNT; topic++) {
            sf_message *message = test_message_random(&random, (sf_topic)topic, &all->stream.units);
            message->seq = (uint64_t)i + 1;
            message->time_ns = 3 * SF_MILLISECOND;
            all->messages[topic][i] = message;
            if (topic == SF_TOPIC_TRIGGER)
                sf_sink_trigger(sink, message);
            else
                sf_sink_publish(sink, message);
        }
    }
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    return all;
}

static void check_recording(const recorded *all)
{
    sf_recording back;
    sf_error error;
    if (sf_recording_read(&back, all->path, NULL, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(back.units.count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(back.units.items[i].name, all->stream.units.items[i].name);
    assert_string_equal(test_metadata(&back, "species"), "mouse");
    assert_int_equal(back.spike_count, 3000);
    for (size_t i = 0; i < 3000; i++) {
        assert_int_equal(back.spikes[i].time_ns, all->spikes[i].time_ns);
        assert_int_equal(back.spikes[i].unit, all->spikes[i].unit);
        assert_true(back.spikes[i].amplitude == all->spikes[i].amplitude);
    }
    assert_int_equal(back.marker_count, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(back.markers[i].time_ns, all->markers[i].time_ns);
        assert_int_equal(back.markers[i].state, all->markers[i].state);
        assert_int_equal(back.markers[i].line, 3);
    }
    assert_true(back.declared);
    assert_int_equal(back.recorded.start_ns, -5 * SF_SECOND);
    assert_int_equal(back.recorded.stop_ns, 3 * SF_MILLISECOND);
    sf_recording_clear(&back);
}

/* Rows of a table in the order of the messages they come from. */
static cursor rows_of(hid_t file, const char *table)
{
    return (cursor){.file = file, .table = table};
}

static void check_episode_row(const cursor *counts, const sf_episode_count *item)
{
    const sf_episode *episode = &item->episode;
    cursor at = {counts->file, "episodes", (size_t)get_u64(counts, "episode")};
    is_text(&at, "id", item->id, 16);
    column units = know_field(at.file, "episodes", "units", H5T_NATIVE_UINT32, 4, SF_EPISODE_MAX_SIZE);
    const uint32_t *row = (uint32_t *)units.values + at.row * SF_EPISODE_MAX_SIZE;
    for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
        assert_int_equal(row[i], i < episode->size ? episode->units[i] : SF_NO_UNIT);
    const hsize_t pairs[2] = {SF_EPISODE_MAX_SIZE - 1, 2};
    hid_t type = H5Tarray_create2(H5T_NATIVE_DOUBLE, 2, pairs);
    column delays = know_field(at.file, "episodes", "delays_ms", type, sizeof(double) * 30, 1);
    const double *bounds = (double *)delays.values + at.row * 30;
    for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE - 1; i++) {
        bool is_link = i + 1 < episode->size;
        assert_true(is_link ? bounds[2 * i] == (double)episode->delays[i].low_ns / 1e6
                            : isnan(bounds[2 * i]));
        assert_true(is_link ? bounds[2 * i + 1] == (double)episode->delays[i].high_ns / 1e6
                            : isnan(bounds[2 * i + 1]));
    }
    H5Tclose(type);
}

/* Without limits nothing is left out. */
static void check_left_out(const cursor *at, const sf_left_out *left_out)
{
    bool limited = left_out->max_p > 0 || left_out->max_q > 0;
    is_f64(at, "left_out_max_p", left_out->max_p > 0 ? left_out->max_p : NAN);
    is_f64(at, "left_out_max_q", left_out->max_q > 0 ? left_out->max_q : NAN);
    assert_int_equal(get_u64(at, "left_out_count"), limited ? left_out->count : 0);
    assert_int_equal(get_u64(at, "left_out_untested"), limited ? left_out->untested : 0);
}

static void check_windows(hid_t file, const recorded *all)
{
    cursor window = rows_of(file, "windows"), count = rows_of(file, "counts");
    for (; window.row < MESSAGES; window.row++) {
        const sf_message *message = all->messages[SF_TOPIC_EPISODES][window.row];
        const sf_episodes_message *episodes = &message->episodes;
        assert_int_equal(get_u64(&window, "seq"), message->seq);
        assert_int_equal(get_u64(&window, "hop"), episodes->hop);
        assert_int_equal(get_i64(&window, "from_ns"), episodes->window.start_ns);
        assert_int_equal(get_i64(&window, "to_ns"), episodes->window.stop_ns);
        assert_int_equal(get_u64(&window, "spikes"), episodes->spikes);
        check_left_out(&window, &episodes->left_out);
        is_f64(&window, "list_age_s", episodes->list_age_s);
        assert_int_equal(get_u64(&window, "counted"), episodes->counted);
        assert_int_equal(get_u64(&window, "chains"), episodes->chains);
        assert_int_equal(get_u64(&window, "significant_parts"), episodes->parts);
        assert_int_equal(get_u64(&window, "partial"), episodes->partial);
        assert_int_equal(get_u64(&window, "episodes"), episodes->count);
        for (size_t i = 0; i < episodes->count; i++, count.row++) {
            assert_int_equal(get_u64(&count, "seq"), message->seq);
            assert_int_equal(get_u64(&count, "count"), episodes->items[i].count);
            is_f64(&count, "expected", episodes->items[i].expected);
            is_f64(&count, "p", episodes->items[i].p);
            is_f64(&count, "q", episodes->items[i].q);
            is_f64(&count, "p_age_s", episodes->items[i].p_age_s);
            assert_int_equal(get_u64(&count, "tests"), episodes->items[i].tests);
            is_f64(&count, "least_q", episodes->items[i].least_q);
            assert_int_equal(get_u64(&count, "standing"), episodes->items[i].standing);
            is_text(&count, "folded_under", episodes->items[i].folded_under, 16);
            is_reason(&count, episodes->items[i].not_tested);
            check_episode_row(&count, &episodes->items[i]);
        }
    }
    assert_int_equal(count_rows(file, "windows"), window.row);
    assert_int_equal(count_rows(file, "counts"), count.row);
}

static void check_triggers(hid_t file, const recorded *all)
{
    cursor at = rows_of(file, "triggers");
    column times = know_field(file, "triggers", "spike_times_ns", H5T_NATIVE_INT64, 8, SF_EPISODE_MAX_SIZE);
    for (; at.row < MESSAGES; at.row++) {
        const sf_message *message = all->messages[SF_TOPIC_TRIGGER][at.row];
        assert_int_equal(get_u64(&at, "seq"), message->seq);
        assert_int_equal(get_i64(&at, "time_ns"), message->time_ns);
        assert_int_equal(get_u64(&at, "occurrence"), message->trigger.occurrence);
        is_text(&at, "id", message->trigger.id, 16);
        is_f64(&at, "p", message->trigger.p);
        is_f64(&at, "q", message->trigger.q);
        is_f64(&at, "p_age_s", message->trigger.p_age_s);
        assert_int_equal(get_u64(&at, "tests"), message->trigger.tests);
        is_f64(&at, "least_q", message->trigger.least_q);
        is_reason(&at, message->trigger.not_tested);
        is_text(&at, "name", message->trigger.name, SF_TRIGGER_NAME_SIZE);
        assert_int_equal(get_i64(&at, "decided_ns"), message->trigger.decided_ns);
        for (uint32_t i = 0; i < SF_EPISODE_MAX_SIZE; i++)
            assert_int_equal(((int64_t *)times.values)[at.row * SF_EPISODE_MAX_SIZE + i],
                             i < message->trigger.size ? message->trigger.spike_times_ns[i] : INT64_MIN);
    }
    assert_int_equal(count_rows(file, "triggers"), at.row);
}

static void check_decisions(hid_t file, const recorded *all)
{
    cursor at = rows_of(file, "decisions");
    for (; at.row < MESSAGES; at.row++) {
        const sf_message *message = all->messages[SF_TOPIC_DECISION][at.row];
        const sf_decision_message *decision = &message->decision;
        assert_int_equal(get_u64(&at, "seq"), message->seq);
        assert_int_equal(get_i64(&at, "time_ns"), message->time_ns);
        is_text(&at, "name", decision->name, SF_TRIGGER_NAME_SIZE);
        is_text(&at, "id", decision->id, 16);
        assert_int_equal(get_u64(&at, "occurrence"), decision->occurrence);
        is_text(&at, "outcome", decision->outcome, 16);
        is_text(&at, "reason", decision->reason != NULL ? decision->reason : "", 24);
        assert_int_equal(get_u64(&at, "trigger_seq"), decision->trigger_seq);
        assert_int_equal(get_i64(&at, "decided_ns"), decision->decided_ns);
        is_f64(&at, "wait_ms", decision->wait_ms);
    }
    assert_int_equal(count_rows(file, "decisions"), at.row);
}

static void check_deliveries(hid_t file, const recorded *all)
{
    cursor at = rows_of(file, "deliveries");
    for (; at.row < MESSAGES; at.row++) {
        const sf_message *message = all->messages[SF_TOPIC_DELIVERY][at.row];
        const sf_delivery_message *delivery = &message->delivery;
        assert_int_equal(get_u64(&at, "seq"), message->seq);
        assert_int_equal(get_i64(&at, "time_ns"), message->time_ns);
        is_text(&at, "name", delivery->name, SF_TRIGGER_NAME_SIZE);
        assert_int_equal(get_u64(&at, "trigger_seq"), delivery->trigger_seq);
        is_text(&at, "sink", delivery->sink, SF_STATUS_NAME_SIZE);
        is_text(&at, "outcome", delivery->outcome, 16);
        assert_int_equal(get_i64(&at, "sent_ns"), delivery->sent_ns);
        is_f64(&at, "latency_ms", delivery->latency_ms);
    }
    assert_int_equal(count_rows(file, "deliveries"), at.row);
}

/* A plain column of numbers. */
static void read_numbers(hid_t file, const char *path, hid_t type, void *values)
{
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
}

static void check_densities(hid_t file, const recorded *all)
{
    cursor at = rows_of(file, "densities");
    double values[MESSAGES * 8];
    read_numbers(file, "/results/density_values", H5T_NATIVE_DOUBLE, values);
    for (; at.row < MESSAGES; at.row++) {
        const sf_message *message = all->messages[SF_TOPIC_DENSITY][at.row];
        const sf_density_message *density = &message->density;
        assert_int_equal(get_u64(&at, "seq"), message->seq);
        assert_int_equal(get_i64(&at, "from_ns"), density->window.start_ns);
        assert_int_equal(get_i64(&at, "to_ns"), density->window.stop_ns);
        is_text(&at, "quantity", density->quantity, 64);
        is_f64(&at, "h", density->h);
        is_f64(&at, "grid_start", density->grid_start);
        is_f64(&at, "grid_step", density->grid_step);
        is_f64(&at, "outside", density->outside);
        bool plane = density->rows > 0;
        is_text(&at, "grid_axis", density->log_axis ? "log" : "linear", 8);
        is_f64(&at, "grid_row_start", plane ? density->row_start : NAN);
        is_f64(&at, "grid_row_step", plane ? density->row_step : NAN);
        assert_int_equal(get_i64(&at, "grid_rows"), plane ? (int64_t)density->rows : -1);
        assert_int_equal(get_u64(&at, "grid_count"), plane ? density->count / density->rows : density->count);
        assert_int_equal(get_u64(&at, "values"), density->count);
        assert_memory_equal(values + get_u64(&at, "first_value"), density->values,
                            density->count * sizeof(double));
    }
    assert_int_equal(count_rows(file, "densities"), at.row);
}

static void check_units(cursor *reach, cursor *component, const sf_message *message)
{
    const sf_graph_message *graph = &message->graph;
    for (size_t i = 0; graph->reach_all.reached != NULL && i < graph->unit_count; i++, reach->row++) {
        assert_int_equal(get_u64(reach, "seq"), message->seq);
        assert_int_equal(get_u64(reach, "unit"), i);
        assert_int_equal(get_u64(reach, "reached"), graph->reach_all.reached[i]);
        assert_int_equal(get_u64(reach, "depth"), graph->reach_all.depth[i]);
    }
    for (size_t i = 0; graph->components.of_unit != NULL && i < graph->unit_count; i++, component->row++) {
        assert_int_equal(get_u64(component, "seq"), message->seq);
        assert_int_equal(get_u64(component, "unit"), i);
        assert_int_equal(get_u64(component, "count"), graph->components.count);
        assert_int_equal(get_u64(component, "largest"), graph->components.largest);
        assert_int_equal(get_u64(component, "of_unit"), graph->components.of_unit[i]);
    }
}

static void check_spread(const cursor *at, const sf_motif_spread *spread)
{
    bool compared = spread->graphs > 0;
    assert_int_equal(get_u64(at, "rewired_graphs"), spread->graphs);
    assert_int_equal(get_i64(at, "rewired_from_ns"), compared ? spread->window.start_ns : INT64_MIN);
    assert_int_equal(get_i64(at, "rewired_to_ns"), compared ? spread->window.stop_ns : INT64_MIN);
    assert_int_equal(get_u64(at, "rewired_count"), compared ? spread->count : 0);
    is_f64(at, "rewired_mean", compared ? spread->mean : NAN);
    is_f64(at, "rewired_sd", compared ? spread->sd : NAN);
    is_f64(at, "rewired_z", compared ? spread->z : NAN);
}

static void check_match(const cursor *at, const sf_message *message, uint32_t pattern, const uint32_t *units)
{
    const sf_motif_result *motif = &message->graph.motifs[pattern];
    assert_int_equal(get_u64(at, "seq"), message->seq);
    assert_int_equal(get_u64(at, "pattern"), pattern);
    assert_int_equal(get_u64(at, "count"), motif->count);
    assert_int_equal(get_u64(at, "truncated"), motif->truncated);
    assert_int_equal(get_u64(at, "size"), motif->size);
    assert_int_equal(get_u64(at, "embeddings"), motif->kept);
    assert_memory_equal(units + get_u64(at, "first_unit"), motif->embeddings,
                        motif->kept * motif->size * sizeof *units);
    check_spread(at, &motif->spread);
}

static void check_triad(const cursor *at, const sf_message *message, const sf_triad_result *triad)
{
    assert_int_equal(get_u64(at, "seq"), message->seq);
    is_text(at, "name", triad->name, sizeof triad->name);
    assert_int_equal(get_u64(at, "count"), triad->count);
    check_spread(at, &triad->spread);
}

static void check_graphs(hid_t file, const recorded *all)
{
    cursor at = rows_of(file, "graphs"), edge = rows_of(file, "edges"), reach = rows_of(file, "reach");
    cursor reach_all = rows_of(file, "reach_all"), component = rows_of(file, "components");
    cursor match = rows_of(file, "matches"), triad = rows_of(file, "triads");
    uint32_t *units = calloc(MESSAGES * 100, sizeof *units);
    read_numbers(file, "/results/match_units", H5T_NATIVE_UINT32, units);
    for (; at.row < MESSAGES; at.row++) {
        const sf_message *message = all->messages[SF_TOPIC_GRAPH][at.row];
        const sf_graph_message *graph = &message->graph;
        assert_int_equal(get_u64(&at, "seq"), message->seq);
        assert_int_equal(get_i64(&at, "from_ns"), graph->window.start_ns);
        assert_int_equal(get_i64(&at, "to_ns"), graph->window.stop_ns);
        assert_int_equal(get_u64(&at, "edges"), graph->edges);
        assert_int_equal(get_u64(&at, "changes"), graph->change_count);
        is_f64(&at, "threshold", graph->threshold);
        check_left_out(&at, &graph->left_out);
        for (size_t i = 0; i < graph->change_count; i++, edge.row++) {
            const sf_edge_change *change = &graph->changes[i];
            assert_int_equal(get_u64(&edge, "seq"), message->seq);
            assert_int_equal(get_u64(&edge, "from"), change->from);
            assert_int_equal(get_u64(&edge, "to"), change->to);
            is_f64(&edge, "delay_low_ms", (double)change->delay.low_ns / 1e6);
            is_f64(&edge, "delay_high_ms", (double)change->delay.high_ns / 1e6);
            assert_int_equal(get_i64(&edge, "count"), graph->is_tiling ? -1 : (int64_t)change->count);
            is_reason(&edge, change->not_tested);
            is_f64(&edge, "expected", change->expected);
            is_f64(&edge, "weight", change->weight);
            is_f64(&edge, "p", change->p);
            is_f64(&edge, "q", change->q);
            is_f64(&edge, "p_age_s", change->p_age_s);
            is_f64(&edge, "least_q", change->least_q);
            assert_int_equal(get_u64(&edge, "removed"), change->removed);
        }
        for (size_t i = 0; i < graph->reach_count; i++)
            for (size_t k = 0; k < graph->reach[i].count; k++, reach.row++) {
                assert_int_equal(get_u64(&reach, "seq"), message->seq);
                assert_int_equal(get_u64(&reach, "source"), graph->reach[i].source);
                assert_int_equal(get_u64(&reach, "unit"), graph->reach[i].units[k]);
                assert_int_equal(get_u64(&reach, "level"), graph->reach[i].levels[k]);
                assert_int_equal(get_i64(&reach, "parent"),
                                 k == 0 ? -1 : (int64_t)graph->reach[i].parents[k]);
                is_f64(&reach, "delay_low_ms", (double)graph->reach[i].delays[k].low_ns / 1e6);
                is_f64(&reach, "delay_high_ms", (double)graph->reach[i].delays[k].high_ns / 1e6);
            }
        check_units(&reach_all, &component, message);
        for (uint32_t i = 0; i < graph->motif_count; i++, match.row++)
            check_match(&match, message, i, units);
        for (size_t i = 0; i < graph->triad_count; i++, triad.row++)
            check_triad(&triad, message, &graph->triads[i]);
    }
    assert_int_equal(count_rows(file, "reach_all"), reach_all.row);
    assert_int_equal(count_rows(file, "components"), component.row);
    assert_int_equal(count_rows(file, "matches"), match.row);
    assert_int_equal(count_rows(file, "triads"), triad.row);
    free(units);
    assert_int_equal(count_rows(file, "graphs"), at.row);
    assert_int_equal(count_rows(file, "edges"), edge.row);
    assert_int_equal(count_rows(file, "reach"), reach.row);
}

static void check_criticality(hid_t file, const recorded *all)
{
    cursor at = rows_of(file, "criticality"), caution = rows_of(file, "criticality_cautions");
    for (; at.row < MESSAGES; at.row++) {
        const sf_message *message = all->messages[SF_TOPIC_CRITICALITY][at.row];
        const sf_criticality_message *found = &message->criticality;
        assert_int_equal(get_u64(&at, "seq"), message->seq);
        assert_int_equal(get_i64(&at, "from_ns"), found->window.start_ns);
        assert_int_equal(get_i64(&at, "to_ns"), found->window.stop_ns);
        assert_int_equal(get_u64(&at, "spikes"), found->spikes);
        is_f64(&at, "duration_s", found->duration_s);
        is_f64(&at, "branching_ratio", found->branching_ratio);
        is_f64(&at, "branching_low", found->branching_low);
        is_f64(&at, "branching_high", found->branching_high);
        is_f64(&at, "own_share", found->own_share);
        assert_int_equal(get_u64(&at, "missed"), found->missed);
        for (size_t i = 0; i < found->caution_count; i++, caution.row++) {
            assert_int_equal(get_u64(&caution, "seq"), message->seq);
            is_text(&caution, "text", found->cautions[i].text, sizeof found->cautions[i].text - 1);
        }
    }
    assert_int_equal(count_rows(file, "criticality"), at.row);
    assert_int_equal(count_rows(file, "criticality_cautions"), caution.row);
}

static void check_statuses(hid_t file, const recorded *all)
{
    cursor at = rows_of(file, "status"), source = rows_of(file, "sources"), sink = rows_of(file, "sinks");
    for (; at.row < MESSAGES; at.row++) {
        const sf_message *message = all->messages[SF_TOPIC_STATUS][at.row];
        const sf_status_message *status = &message->status;
        assert_int_equal(get_u64(&at, "seq"), message->seq);
        assert_int_equal(get_i64(&at, "time_ns"), message->time_ns);
        assert_int_equal(get_u64(&at, "spikes"), status->spikes);
        is_f64(&at, "rate_hz", status->rate_hz);
        assert_int_equal(get_u64(&at, "window_dropped"), status->window_dropped);
        assert_int_equal(get_u64(&at, "tracked"), status->tracked);
        is_f64(&at, "list_age_s", status->list_age_s);
        is_f64(&at, "list_every_s", status->list_every_s);
        assert_int_equal(get_u64(&at, "lists_missed"), status->lists_missed);
        assert_int_equal(get_u64(&at, "watched"), status->watched);
        assert_int_equal(get_u64(&at, "edges"), status->edges);
        assert_int_equal(get_u64(&at, "watch_overflows"), status->watch_overflows);
        is_text(&at, "device", status->device, 64);
        is_text(&at, "device_state", status->device_state, 32);
        is_text(&at, "device_note", status->device_note, 256);
        assert_int_equal(get_u64(&at, "device_memory"), status->device_memory);
        is_text(&at, "counting_device", status->counting_device, 32);
        is_text(&at, "discovery_device", status->discovery_device, 32);
        is_f64(&at, "discovery_ms", status->discovery_ms);
        assert_int_equal(get_u64(&at, "tested"), status->tested);
        assert_int_equal(get_u64(&at, "tests"), status->tests);
        assert_int_equal(get_u64(&at, "tests_missed"), status->tests_missed);
        is_text(&at, "test_device", status->test_device, 32);
        is_f64(&at, "test_ms", status->test_ms);
        is_f64(&at, "test_share", status->test_share);
        is_f64(&at, "test_length_s", status->test_length_s);
        is_reason(&at, status->not_tested);
        is_f64(&at, "branching_ratio", status->branching_ratio);
        is_f64(&at, "branching_low", status->branching_low);
        is_f64(&at, "branching_high", status->branching_high);
        is_f64(&at, "branching_at_s", status->branching_at_s);
        assert_int_equal(get_u64(&at, "branching_missed"), status->branching_missed);
        for (size_t i = 0; i < status->source_count; i++, source.row++) {
            const sf_source_status *from = &status->sources[i];
            assert_int_equal(get_u64(&source, "seq"), message->seq);
            is_text(&source, "name", from->name, SF_STATUS_NAME_SIZE);
            assert_int_equal(get_u64(&source, "spikes"), from->spikes);
            assert_int_equal(get_u64(&source, "markers"), from->markers);
            assert_int_equal(get_u64(&source, "late"), from->late);
            assert_int_equal(get_u64(&source, "duplicate"), from->duplicate);
            assert_int_equal(get_u64(&source, "out_of_range"), from->out_of_range);
            assert_int_equal(get_u64(&source, "dropped"), from->dropped);
            assert_int_equal(get_u64(&source, "gaps"), from->gaps);
            assert_int_equal(get_u64(&source, "gap_lost"), from->gap_lost);
            assert_int_equal(get_u64(&source, "malformed"), from->malformed);
            assert_int_equal(get_u64(&source, "other_streams"), from->other_streams);
            assert_int_equal(get_u64(&source, "leaps"), from->leaps);
            assert_int_equal(get_u64(&source, "restarts"), from->restarts);
            is_text(&source, "state", sf_source_state_name(from->state), 8);
            is_text(&source, "authentication", from->authentication != NULL ? from->authentication : "", 8);
            is_f64(&source, "silent_ms", (double)from->silent_ns / 1e6);
            is_f64(&source, "behind_s", from->behind_ns >= 0 ? (double)from->behind_ns * 1e-9 : NAN);
            assert_int_equal(get_u64(&source, "held"), from->held);
            assert_int_equal(get_u64(&source, "markers_late"), from->markers_late);
            assert_int_equal(get_u64(&source, "markers_dropped"), from->markers_dropped);
            assert_int_equal(get_u64(&source, "markers_left_out"), from->markers_left_out);
            assert_int_equal(get_i64(&source, "missing_spikes"), from->missing_spikes);
            assert_int_equal(get_u64(&source, "ended"), from->ended);
            assert_int_equal(get_i64(&source, "missing_markers"), from->missing_markers);
            assert_int_equal(get_u64(&source, "undone"), from->undone);
            assert_int_equal(get_u64(&source, "steps"), from->steps);
            assert_int_equal(get_u64(&source, "epochs"), from->epochs);
            assert_int_equal(get_i64(&source, "shift_ns"), from->shift_ns);
            is_f64(&source, "lateness_max_ms", (double)from->lateness_max_ns / 1e6);
        }
        for (size_t i = 0; i < status->sink_count; i++, sink.row++) {
            assert_int_equal(get_u64(&sink, "seq"), message->seq);
            is_text(&sink, "name", status->sinks[i].name, SF_STATUS_NAME_SIZE);
            assert_int_equal(get_u64(&sink, "published"), status->sinks[i].published);
            assert_int_equal(get_u64(&sink, "dropped"), status->sinks[i].dropped);
            assert_int_equal(get_u64(&sink, "failed"), status->sinks[i].failed);
            assert_int_equal(get_u64(&sink, "spikes"), status->sinks[i].spikes);
            assert_int_equal(get_u64(&sink, "spikes_lost"), status->sinks[i].spikes_lost);
            assert_int_equal(get_u64(&sink, "markers"), status->sinks[i].markers);
            assert_int_equal(get_u64(&sink, "markers_lost"), status->sinks[i].markers_lost);
            assert_int_equal(get_u64(&sink, "journal_bytes"), status->sinks[i].journal_bytes);
            assert_int_equal(get_u64(&sink, "syncs"), status->sinks[i].syncs);
            is_f64(&sink, "sync_max_ms", status->sinks[i].sync_max_ms);
            is_f64(&sink, "disk_left_s", status->sinks[i].disk_left_s);
            assert_int_equal(get_i64(&sink, "refused"), status->sinks[i].refused);
            is_text(&sink, "state", status->sinks[i].state, 16);
            is_text(&sink, "note", status->sinks[i].note, 256);
        }
    }
    assert_int_equal(count_rows(file, "status"), at.row);
    assert_int_equal(count_rows(file, "sources"), source.row);
    assert_int_equal(count_rows(file, "sinks"), sink.row);
}

static void check_root(hid_t file)
{
    char text[64] = "";
    hid_t attribute = H5Aopen(file, "configuration", H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute);
    assert_true(H5Tget_size(type) < sizeof text && H5Aread(attribute, type, text) >= 0);
    assert_string_equal(text, "stream: test\n");
    H5Tclose(type);
    H5Aclose(attribute);
}

/* A run begins with windows in which nothing is tracked yet. */
static void empty_messages_are_recorded(void **state)
{
    (void)state;
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 2);
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    char *path = test_temporary_path(".h5");
    sf_sink *sink;
    assert_int_equal(open_recorder(&sink, path, &stream.info, storage, false, NULL), SF_OK);
    static const char *const tables[] = {"windows", "triggers",  "densities", "graphs",
                                         "status",  "decisions", "deliveries"};
    for (int topic = 0; topic < SF_TOPIC_COUNT; topic++) {
        sf_message *message = sf_message_new((sf_topic)topic);
        message->seq = 1;
        publish_and_release(sink, message);
    }
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    sf_storage_close(storage);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int topic = 0; topic < SF_TOPIC_FEATURES; topic++) /* which have none: raw spikes tell them */
        assert_int_equal(count_rows(file, tables[topic]), 1);
    assert_int_equal(count_rows(file, "criticality"), 1);
    assert_int_equal(count_rows(file, "counts"), 0);
    close_file(file);
    test_stream_free(&stream);
    unlink(path);
    free(path);
}

/* The name of a column of a record, without that of the record before it. */
static const char *own_name(const char *field)
{
    static const char *const records[] = {"left_out_", "grid_", "rewired_", "latency_", "components_"};
    for (size_t i = 0; i < sizeof records / sizeof *records && strcmp(field, "latency_ms") != 0; i++)
        if (strncmp(field, records[i], strlen(records[i])) == 0) return field + strlen(records[i]);
    return field;
}

/* Every table of /results and every field of it is on the page for people. */
static void check_documented(hid_t file)
{
    hid_t results = H5Gopen2(file, "results", H5P_DEFAULT);
    H5G_info_t info;
    assert_true(H5Gget_info(results, &info) >= 0 && info.nlinks == SF_RECORDER_TABLES);
    for (hsize_t i = 0; i < info.nlinks; i++) {
        char name[64];
        H5Lget_name_by_idx(results, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        test_assert_documented("messages.md", name);
        hid_t table = H5Dopen2(results, name, H5P_DEFAULT);
        hid_t type = H5Dget_type(table);
        int fields = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
        for (int f = 0; f < fields; f++) {
            char *field = H5Tget_member_name(type, (unsigned)f);
            test_assert_documented("messages.md", own_name(field));
            H5free_memory(field);
        }
        H5Tclose(type);
        H5Dclose(table);
    }
    H5Gclose(results);
}

static void everything_recorded_reads_back(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    recorded *all = record_random(storage);
    sf_storage_close(storage);
    check_recording(all);
    hid_t file = H5Fopen(all->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    check_root(file);
    check_windows(file, all);
    check_triggers(file, all);
    check_decisions(file, all);
    check_deliveries(file, all);
    check_densities(file, all);
    check_graphs(file, all);
    check_statuses(file, all);
    check_criticality(file, all);
    check_documented(file);
    close_file(file);
    free_recorded(all);
    assert_int_equal(sf_memory_live(), before);
}

/* ---- a recorder that ends badly, in a process of its own ---- */

#define PER_MESSAGE 2000

static sf_spike nth_spike(size_t n)
{
    return (sf_spike){(int64_t)n * 5000, (uint32_t)(n % 7), (float)(n % 1000)};
}

/* Publishes the next spikes and the counts of one episode, whose count is the number of the message. */
static void publish_nth(sf_sink *sink, size_t n, const sf_units *units)
{
    sf_spike spikes[PER_MESSAGE];
    for (size_t i = 0; i < PER_MESSAGE; i++)
        spikes[i] = nth_spike(n * PER_MESSAGE + i);
    publish_spikes(sink, spikes, PER_MESSAGE);
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    message->seq = n + 1;
    message->time_ns = spikes[PER_MESSAGE - 1].time_ns + 1;
    message->episodes.items = sf_alloc(1, sizeof *message->episodes.items);
    message->episodes.count = 1;
    message->episodes.items[0].episode.size = 1;
    sf_episode_id(message->episodes.items[0].id, &message->episodes.items[0].episode, units);
    message->episodes.items[0].count = n;
    publish_and_release(sink, message);
}

static void an_episode_stands_once(void **state)
{
    (void)state;
    enum { WINDOWS = 3 };
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 7);
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    char *path = test_temporary_path(".h5");
    sf_sink *sink;
    assert_int_equal(open_recorder(&sink, path, &stream.info, storage, false, NULL), SF_OK);
    for (size_t n = 0; n < WINDOWS; n++)
        publish_nth(sink, n, &stream.units);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    sf_storage_close(storage);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_int_equal(count_rows(file, "counts"), WINDOWS);
    assert_int_equal(count_rows(file, "episodes"), 1);
    close_file(file);
    test_stream_free(&stream);
    unlink(path);
    free(path);
}

/* The child that is killed: records for ever. */
static int record_for_ever(const char *path)
{
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 7);
    sf_storage *storage;
    sf_sink *sink;
    if (sf_storage_open(&storage, NULL) != SF_OK ||
        open_recorder(&sink, path, &stream.info, storage, false, NULL) != SF_OK)
        return 1;
    for (size_t n = 0;; n++) {
        publish_nth(sink, n, &stream.units);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 10 * SF_MILLISECOND);
    }
}

#define DISK_SIZE 1000000
#define FLUSHED 10 /* messages that fit, and were flushed before the disk got full */

/* The child whose disk gets full: publishes FLUSHED messages and, once its parent has seen them in the file,
 * `more` others; reports what its sink says at the end. */
static int record_into_full_disk(const char *path, int parent, size_t more)
{
    const struct rlimit limit = {DISK_SIZE, DISK_SIZE};
    setrlimit(RLIMIT_FSIZE, &limit);
    with_journal = false; /* it would be full first */
    signal(SIGXFSZ, SIG_IGN);
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 7);
    sf_storage *storage;
    sf_sink *sink;
    if (sf_storage_open(&storage, NULL) != SF_OK ||
        open_recorder(&sink, path, &stream.info, storage, false, NULL) != SF_OK)
        return 1;
    for (size_t n = 0; n < FLUSHED + more; n++) {
        publish_nth(sink, n, &stream.units);
        char go;
        if (n + 1 == FLUSHED && read(parent, &go, 1) != 1) return 1;
    }
    sf_sink_status status;
    do
        sf_sink_status_get(sink, &status);
    while (status.failed == 0 || status.published + status.failed < FLUSHED + more);
    sf_error error = {0};
    sf_sink_close(sink, &error);
    sf_storage_close(storage);
    test_stream_free(&stream);
    bool reported = write(parent, &status, sizeof status) == sizeof status &&
                    write(parent, &error, sizeof error) == sizeof error;
    return reported ? 0 : 1;
}

/* Starts this program again as a child that runs `what` on `path`; *ours is this end of a socket between
 * them. */
static pid_t start_child(const char *what, const char *path, int *ours)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    char theirs[16];
    snprintf(theirs, sizeof theirs, "%d", ends[1]);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        execl("/proc/self/exe", "test_sink_hdf5", what, path, theirs, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    close(ends[1]);
    *ours = ends[0];
    return child;
}

/* Reads the growing file again and again until a flush has put so many messages there. */
static void wait_until_flushed(const char *path, size_t messages, pid_t writer)
{
    for (size_t found = 0; found < messages * PER_MESSAGE;) {
        assert_int_equal(waitpid(writer, NULL, WNOHANG), 0);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 30 * SF_MILLISECOND);
        sf_recording back;
        found = sf_recording_read(&back, path, NULL, NULL, NULL) == SF_OK ? back.spike_count : 0;
        sf_recording_clear(&back);
    }
}

static void read_fully(int in, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = read(in, (char *)data + done, size - done);
        assert_true(count > 0);
        done += (size_t)count;
    }
}

/* What is in the file is a beginning of what was published, and at least `least` messages of it. */
static void check_beginning(const char *path, size_t least)
{
    sf_recording back;
    sf_error error;
    if (sf_recording_read(&back, path, NULL, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    if (back.spike_count < least * PER_MESSAGE)
        fail_msg("%zu spikes of at least %zu", back.spike_count, least * PER_MESSAGE);
    for (size_t i = 0; i < back.spike_count; i++) {
        sf_spike expected = nth_spike(i);
        assert_int_equal(back.spikes[i].time_ns, expected.time_ns);
        assert_int_equal(back.spikes[i].unit, expected.unit);
        assert_true(back.spikes[i].amplitude == expected.amplitude);
    }
    sf_recording_clear(&back);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT);
    if (file < 0) file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    column seqs = read_field(file, "counts", "seq", H5T_NATIVE_UINT64, 8, 1);
    column counts = read_field(file, "counts", "count", H5T_NATIVE_UINT64, 8, 1);
    size_t written = 0;
    for (; written < seqs.count && ((uint64_t *)seqs.values)[written] != 0; written++) {
        assert_int_equal(((uint64_t *)seqs.values)[written], written + 1);
        assert_int_equal(((uint64_t *)counts.values)[written], written);
    }
    assert_true(written >= least);
    free(seqs.values);
    free(counts.values);
    H5Fclose(file);
}

/* Readers see what each flush adds while the file grows, and a kill takes nothing of that away. */
static void a_killed_recording_keeps_what_was_flushed(void **state)
{
    (void)state;
    for (size_t flushed = 1; flushed <= 150; flushed += 149) {
        char *path = test_temporary_path(".h5");
        int socket;
        pid_t child = start_child("kill", path, &socket);
        wait_until_flushed(path, flushed, child);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(socket);
        check_beginning(path, flushed);
        unlink(path);
        char journal[300];
        snprintf(journal, sizeof journal, "%s.journal", path);
        assert_int_equal(unlink(journal), 0);
        free(path);
    }
}

static void record_to_the_end_of_the_disk(const char *which)
{
    char *path = test_temporary_path(".h5");
    int socket;
    pid_t child = start_child(which, path, &socket);
    wait_until_flushed(path, FLUSHED, child);
    assert_int_equal(write(socket, "", 1), 1);
    sf_sink_status status;
    sf_error error;
    read_fully(socket, &status, sizeof status);
    read_fully(socket, &error, sizeof error);
    int end = 0;
    waitpid(child, &end, 0);
    close(socket);
    assert_true(WIFEXITED(end));
    assert_int_equal(WEXITSTATUS(end), 0);
    assert_true(status.failed > 0);
    test_assert_fails((int)error.code, &error, SF_IO, strerror(EFBIG));
    assert_string_equal(error.place, path);
    check_beginning(path, FLUSHED);
    unlink(path);
    free(path);
}

static void a_full_disk_ends_the_recording_not_the_run(void **state)
{
    (void)state;
    record_to_the_end_of_the_disk("append"); /* notices while it appends */
    record_to_the_end_of_the_disk("flush");  /* all is taken; only the flush fails */
}

/* ---- what is refused ---- */

typedef struct open_case {
    sf_storage *storage;
    const sf_stream_info *stream;
    const char *path;
} open_case;

static int open_and_close(void *context)
{
    const open_case *which = context;
    sf_sink *sink;
    int status = open_recorder(&sink, which->path, which->stream, which->storage, true, NULL);
    sf_sink_close(sink, NULL);
    return status;
}

static sf_message *message_at_hand;

static int record_one(void *context)
{
    const open_case *which = context;
    sf_sink *sink;
    int status = open_recorder(&sink, which->path, which->stream, which->storage, true, NULL);
    if (status != SF_OK) return status;
    sf_sink_publish(sink, message_at_hand);
    return sf_sink_close(sink, NULL);
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("allocations", 9);
    test_stream stream;
    test_stream_make(&stream, &random, 3);
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    char *path = test_temporary_path(".h5");
    open_case which = {storage, &stream.info, path};
    assert_int_equal(open_and_close(&which), SF_OK); /* the storage keeps the room it made for a recorder */
    test_fail_every_allocation(open_and_close, &which);
    for (int topic = 0; topic < SF_TOPIC_COUNT; topic++) {
        message_at_hand = test_message_random(&random, (sf_topic)topic, &stream.units);
        test_fail_every_allocation(record_one, &which);
        sf_message_release(message_at_hand);
    }
    sf_storage_close(storage);
    test_stream_free(&stream);
    unlink(path);
    free(path);
}

static void files_that_cannot_be_created_are_refused(void **state)
{
    (void)state;
    test_random random = test_random_start("refused", 4);
    test_stream stream;
    test_stream_make(&stream, &random, 2);
    stream.info.configuration = NULL;
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    char *path = test_temporary_path(".h5");
    sf_sink *sink;
    sf_error error;
    test_assert_fails(open_recorder(&sink, "/nowhere/at/all.h5", &stream.info, storage, false, &error),
                      &error, SF_CANNOT_CREATE, "No such file or directory");
    test_assert_fails(open_recorder(&sink, "", &stream.info, storage, false, &error), &error, SF_CONFIG,
                      "path");
    assert_int_equal(open_recorder(&sink, path, &stream.info, storage, false, &error), SF_OK);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    for (unsigned number = 2; number <= 3; number++) { /* kept, and said where the recording goes */
        assert_int_equal(open_recorder(&sink, path, &stream.info, storage, false, &error), SF_OK);
        char *successor = test_successor(path, number);
        assert_string_equal(sf_sink_address(sink), successor);
        sf_sink_status status;
        sf_sink_status_get(sink, &status);
        assert_true(strncmp(status.name, "hdf5 ", 5) == 0);
        assert_true(strncmp(status.name + 5, strrchr(successor, '/') + 1, 26) == 0);
        assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
        free(successor);
    }
    for (unsigned number = 2; number <= 3; number++) {
        char *successor = test_successor(path, number);
        assert_int_equal(unlink(successor), 0);
        free(successor);
    }
    assert_int_equal(open_recorder(&sink, path, &stream.info, storage, true, &error), SF_OK);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    sf_storage_close(storage);
    test_stream_free(&stream);
    unlink(path);
    free(path);
}

int main(int count, char **arguments)
{
    if (count == 4) {
        if (strcmp(arguments[1], "kill") == 0) return record_for_ever(arguments[2]);
        return record_into_full_disk(arguments[2], atoi(arguments[3]),
                                     strcmp(arguments[1], "append") == 0 ? 200 : 30);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_messages_are_recorded),
        cmocka_unit_test(everything_recorded_reads_back),
        cmocka_unit_test(an_episode_stands_once),
        cmocka_unit_test(a_killed_recording_keeps_what_was_flushed),
        cmocka_unit_test(a_full_disk_ends_the_recording_not_the_run),
        cmocka_unit_test(files_that_cannot_be_created_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
