/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "replay/player.h"

#include <math.h>

/* A random recording: clusters with ties, silences, markers; its span may be declared wider than its spikes.
 */
static sf_recording random_recording(test_random *random, size_t spikes, size_t markers, bool declared)
{
    sf_recording recording = {.path = sf_copy_string("folder/some.h5"), .declared = declared};
    recording.spikes = sf_alloc(spikes, sizeof *recording.spikes);
    recording.markers = sf_alloc(markers, sizeof *recording.markers);
    int64_t start = (int64_t)test_random_below(random, 2000000000) - 1000000000, time = start;
    for (size_t i = 0; i < spikes; i++) {
        static const uint64_t steps[] = {1, 1000, 3000000, 90000000};
        time += (int64_t)test_random_below(random, steps[test_random_below(random, 4)]);
        recording.spikes[i] = (sf_spike){.time_ns = time, .unit = (uint32_t)test_random_below(random, 5)};
    }
    recording.spike_count = spikes;
    recording.recorded = (sf_span){start, time + 1};
    for (size_t i = 0; i < markers; i++)
        recording.markers[i].time_ns = start + (time - start) / 10 * (int64_t)i / (int64_t)markers * 11;
    recording.marker_count = markers;
    if (declared) recording.recorded = (sf_span){start - 70000000, time + 50000000};
    return recording;
}

/* Plays to the end and holds what comes against the recording; returns the number of batches. */
static size_t play_through(const sf_recording *recording, double speed)
{
    sf_source *source;
    sf_error error = {0};
    assert_int_equal(sf_player_open(&source, recording, speed, &error), SF_OK);
    size_t spikes = 0, markers = 0, batches = 0;
    int64_t clock = INT64_MIN;
    for (;;) {
        sf_batch batch;
        int result = source->kind->read(source, &batch, 50, &error);
        if (result == SF_READ_END) break;
        if (result == SF_READ_NOTHING) continue;
        assert_int_equal(result, SF_READ_BATCH);
        batches++;
        for (size_t i = 0; i < batch.spike_count; i++)
            assert_memory_equal(&batch.spikes[i], &recording->spikes[spikes + i], sizeof *batch.spikes);
        for (size_t i = 0; i < batch.marker_count; i++)
            assert_int_equal(batch.markers[i].time_ns, recording->markers[markers + i].time_ns);
        spikes += batch.spike_count;
        markers += batch.marker_count;
        assert_true(batch.clock_ns >= clock);
        assert_true(batch.arrival_ns >= sf_player_due_ns(source));
        if (speed > 0 && batch.spike_count > 0) {
            assert_true(batch.clock_ns - batch.spikes[0].time_ns <= 5 * SF_MILLISECOND);
        }
        clock = batch.clock_ns;
        assert_true(speed > 0 || batch.spike_count <= SF_PLAYER_BATCH);
        assert_true(spikes == recording->spike_count || recording->spikes[spikes].time_ns >= clock);
        assert_true(markers == recording->marker_count || recording->markers[markers].time_ns >= clock);
        if (speed > 0) {
            assert_true(spikes == 0 || recording->spikes[spikes - 1].time_ns < clock);
            assert_true(markers == 0 || recording->markers[markers - 1].time_ns < clock);
        }
    }
    assert_int_equal(spikes, recording->spike_count);
    assert_int_equal(markers, recording->marker_count);
    assert_true(clock >= recording->recorded.stop_ns || batches == 0);
    assert_int_equal(source->kind->read(source, &(sf_batch){0}, 0, &error), SF_READ_END);
    source->kind->close(source);
    return batches;
}

static void everything_comes_once_and_in_order(void **state)
{
    (void)state;
    test_random random = test_random_start("player", 5);
    for (int round = 0; round < 40; round++) {
        sf_recording recording = random_recording(&random, test_random_below(&random, 5000),
                                                  test_random_below(&random, 30), round % 2 == 0);
        play_through(&recording, 0);
        if (round % 8 == 0) play_through(&recording, 5000);
        sf_recording_clear(&recording);
    }
}

static void empty_recordings_end(void **state)
{
    (void)state;
    sf_recording nothing = {0}, silence = {.recorded = {0, 10 * SF_MILLISECOND}};
    assert_int_equal(play_through(&nothing, 0), 0);
    assert_int_equal(play_through(&nothing, 1), 0);
    assert_int_equal(play_through(&silence, 0), 1);
    assert_true(play_through(&silence, 1) >= 1);
}

static void batches_are_due_on_the_stream_clock(void **state)
{
    (void)state;
    sf_spike spikes[] = {
        {.time_ns = 0}, {.time_ns = 3 * SF_MILLISECOND}, {.time_ns = 3 * SF_MILLISECOND + 1}};
    sf_recording recording = {.spikes = spikes, .spike_count = 3, .recorded = {0, 40 * SF_MILLISECOND}};
    sf_source *source;
    assert_int_equal(sf_player_open(&source, &recording, 2, NULL), SF_OK);
    assert_true(source->can_wait && !source->virtual_clock && source->origin == &recording);
    sf_batch batch;
    int64_t first_due = 0, first_clock = 0;
    while (source->kind->read(source, &batch, 50, NULL) != SF_READ_END) {
        int64_t due = sf_player_due_ns(source);
        if (first_due == 0) {
            first_due = due;
            first_clock = batch.clock_ns;
        }
        assert_int_equal(due - first_due, (batch.clock_ns - first_clock) / 2);
    }
    source->kind->close(source);
}

static void a_read_waits_no_longer_than_asked(void **state)
{
    (void)state;
    sf_spike late = {.time_ns = 3600 * SF_SECOND};
    sf_recording recording = {.spikes = &late, .spike_count = 1, .recorded = {0, 3600 * SF_SECOND + 1}};
    sf_source *source;
    assert_int_equal(sf_player_open(&source, &recording, 0.001, NULL), SF_OK);
    sf_batch batch;
    assert_int_equal(source->kind->read(source, &batch, 1, NULL), SF_READ_NOTHING);
    source->kind->close(source);
}

static int open_and_close(void *context)
{
    sf_source *source;
    int status = sf_player_open(&source, context, 0, NULL);
    if (status == SF_OK) source->kind->close(source);
    return status;
}

static void impossible_speeds_and_failures(void **state)
{
    (void)state;
    sf_recording recording = {.path = (char[]){"/a/b/name of a file that is rather long.h5"}};
    sf_source *source;
    sf_error error;
    static const double speeds[] = {-1, NAN, INFINITY, 1e-9, 1e9};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        test_assert_fails(sf_player_open(&source, &recording, speeds[i], &error), &error, SF_USAGE,
                          "expected 0.001");
        assert_null(source);
    }
    assert_int_equal(sf_player_open(&source, &recording, 0, NULL), SF_OK);
    assert_string_equal(source->name, "name of a file that is rather long.h5");
    assert_true(source->virtual_clock);
    source->kind->close(source);
    test_fail_every_allocation(open_and_close, &recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_once_and_in_order),
        cmocka_unit_test(empty_recordings_end),
        cmocka_unit_test(batches_are_due_on_the_stream_clock),
        cmocka_unit_test(a_read_waits_no_longer_than_asked),
        cmocka_unit_test(impossible_speeds_and_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
