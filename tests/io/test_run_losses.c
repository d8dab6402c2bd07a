/* SPDX-License-Identifier: Apache-2.0 */
/* What a run lost stands in the recording that it wrote, and is read back: how much, why, and where whole
 * stretches are gone, which count as not recorded. */
#include "sinks/recorder.h"
#include "support/messages.h"
#include "support/sinks.h"

#include "core/clock.h"
#include "core/memory.h"

#include <hdf5.h>
#include <synfire/recording.h>
#include <unistd.h>

#define SECONDS 20
#define EVERY_NS SF_MILLISECOND

typedef struct story {
    int64_t hole_from_s, hole_to_s; /* of which nothing is recorded */
    bool is_counted;                /* by the statuses */
    bool bursts;                    /* half of each second is silent anyway, and 3 s once */
    bool is_damaged;                /* a table of results, afterwards */
    uint64_t late_by_s;             /* spikes that come too late in each second */
} story;

static bool fires(const story *of, int64_t time_ns)
{
    int64_t second = time_ns / SF_SECOND;
    if (second >= of->hole_from_s && second < of->hole_to_s) return false;
    return !of->bursts || (time_ns % SF_SECOND < SF_SECOND / 2 && (second < 12 || second >= 15));
}

static void publish_status(sf_sink *sink, const story *of, uint64_t seq)
{
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    sf_status_message *status = &message->status;
    uint64_t second = seq - 1, hole_from = (uint64_t)of->hole_from_s, hole_to = (uint64_t)of->hole_to_s;
    uint64_t gone = second < hole_from ? 0 : (second < hole_to ? second : hole_to - 1) - hole_from + 1;
    message->seq = seq;
    message->time_ns = (int64_t)seq * SF_SECOND;
    status->sources = sf_alloc(1, sizeof *status->sources);
    status->sinks = sf_alloc(2, sizeof *status->sinks);
    status->source_count = 1;
    status->sink_count = 2;
    status->sources[0] = (sf_source_status){.name = "rig",
                                            .late = of->late_by_s * seq,
                                            .missing_spikes = -1,
                                            .out_of_range = 5 * (seq == SECONDS)};
    sf_sink_status_get(sink, &status->sinks[0]);
    status->sinks[0].spikes_lost = of->is_counted ? gone * SF_SECOND / EVERY_NS : 0;
    status->sinks[1] = (sf_sink_status){.name = "hdf5 other.h5", .spikes_lost = 100000 * seq};
    sf_sink_publish(sink, message);
    sf_message_release(message);
}

static char *record(const story *of)
{
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 2);
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    char *path = test_temporary_path(".h5");
    sf_recorder_settings settings = {SF_RECORDER_DEFAULTS};
    settings.sink.type = "hdf5";
    settings.sink.path = path;
    settings.sink.policy = SF_RING_BLOCK;
    sf_sink *sink;
    assert_int_equal(test_sink_open(&sink, &settings.sink, &stream.info, storage, NULL), SF_OK);
    for (uint64_t second = 0; second < SECONDS; second++) {
        for (int64_t i = 0; i < SF_SECOND / EVERY_NS; i++) {
            const sf_spike spike = {.time_ns = (int64_t)second * SF_SECOND + i * EVERY_NS,
                                    .unit = (uint32_t)(i % 2)};
            const sf_raw_batch batch = {.spikes = &spike, .spike_count = fires(of, spike.time_ns) ? 1 : 0};
            sf_sink_record(sink, &batch, true);
        }
        publish_status(sink, of, second + 1);
    }
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    sf_storage_close(storage);
    test_stream_free(&stream);
    return path;
}

/* In place of the numbers of sinks there are words. */
static void damage(const char *path)
{
    const char words[8] = "damaged";
    const hsize_t rows = 1;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(1, &rows, NULL);
    hid_t word = H5Tcopy(H5T_C_S1), row = H5Tcreate(H5T_COMPOUND, sizeof words);
    assert_true(H5Tset_size(word, sizeof words) >= 0 && H5Tinsert(row, "spikes_lost", 0, word) >= 0);
    assert_true(H5Ldelete(file, "/results/sinks", H5P_DEFAULT) >= 0);
    hid_t table = H5Dcreate2(file, "/results/sinks", row, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(table, row, H5S_ALL, H5S_ALL, H5P_DEFAULT, words) >= 0);
    H5Dclose(table);
    H5Tclose(word);
    H5Tclose(row);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
}

/* What is read back of it; freed by the caller. */
static sf_recording *recorded(const story *of, sf_recording_columns *columns)
{
    char *path = record(of);
    if (of->is_damaged) damage(path);
    sf_recording *recording;
    sf_error error = {0};
    if (sf_recording_open(&recording, path, NULL, NULL, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    *columns = (sf_recording_columns){.size = sizeof *columns};
    sf_recording_get_columns(recording, columns);
    unlink(path);
    free(path);
    return recording;
}

static void expect_lost(const sf_recording_columns *of, size_t index, const char *cause, uint64_t count)
{
    assert_true(index < of->dropped_count);
    assert_int_equal(of->dropped[index].kind, SF_DROP_LOST);
    assert_string_equal(of->dropped[index].cause, cause);
    assert_int_equal(of->dropped[index].count, count);
}

static void what_was_lost_is_read_back(void **state)
{
    (void)state;
    const story hole = {.hole_from_s = 4, .hole_to_s = 6, .is_counted = true, .late_by_s = 3};
    sf_recording_columns of;
    sf_recording *recording = recorded(&hole, &of);
    assert_int_equal(of.dropped_count, 3);
    expect_lost(&of, 0, "came too late", 3 * SECONDS);
    expect_lost(&of, 1, "of units that nobody told of", 5);
    expect_lost(&of, 2, "the recorder had no room for them", 2000);
    assert_int_equal(of.spike_count, (SECONDS - 2) * 1000);
    assert_int_equal(of.selected->spikes_in_file, of.spike_count); /* which lost ones are not in */
    assert_int_equal(of.observed_count, 2);
    assert_int_equal(of.observed[0].stop_ns, 4 * SF_SECOND - EVERY_NS + 1);
    assert_int_equal(of.observed[1].start_ns, 6 * SF_SECOND);
    sf_recording_free(recording);
}

static void spikes_are_read_beside_a_damaged_table(void **state)
{
    (void)state;
    const story damaged = {.hole_from_s = 4, .hole_to_s = 6, .is_counted = true, .is_damaged = true};
    sf_recording_columns of;
    sf_recording *recording = recorded(&damaged, &of);
    assert_int_equal(of.spike_count, (SECONDS - 2) * 1000);
    assert_int_equal(of.dropped_count, 0);
    size_t told = 0;
    for (size_t i = 0; i < of.metadata_count; i++)
        told += strcmp(of.metadata[i].key, "losses") == 0;
    assert_int_equal(told, 1);
    sf_recording_free(recording);
}

/* A silence is one where nothing was lost, and where the array is silent as long at other times. */
static void a_silence_is_no_hole(void **state)
{
    (void)state;
    const story stories[] = {{.hole_from_s = 4, .hole_to_s = 6},
                             {.hole_from_s = 4, .hole_to_s = 6, .late_by_s = 10},
                             {.hole_from_s = 4, .hole_to_s = 6, .is_counted = true, .bursts = true}};
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        sf_recording_columns of;
        sf_recording *recording = recorded(&stories[i], &of);
        assert_int_equal(of.observed_count, 0);
        sf_recording_free(recording);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_lost_is_read_back),
        cmocka_unit_test(a_silence_is_no_hole),
        cmocka_unit_test(spikes_are_read_beside_a_damaged_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
