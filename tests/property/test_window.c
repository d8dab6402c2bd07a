/* SPDX-License-Identifier: Apache-2.0 */
/* Every window count is that of the same slice taken alone: sliding, cutting, tracking, also tracking late.
 */
#include "support/support.h"

#include "core/ahead.h"
#include "core/episode.h"
#include "core/memory.h"
#include "oracle/count_oracle.h"
#include "window/sliding.h"
#include "window/tracker.h"

static void sliding_equals_the_slice_at_constant_cost(void **state)
{
    (void)state;
    test_random random = test_random_start("sliding", 31);
    for (int round = 0; round < 2000; round++) {
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, 40 + test_random_below(&random, 120), 3, 150);
        sf_episode episode = test_random_episode(&random, 4, 3, 20);
        sf_trains trains;
        sf_segment_scratch scratch = {0};
        sf_summary summary = {0};
        sf_sliding sliding;
        sf_sliding_open(&sliding);
        assert_int_equal(sf_trains_open(&trains, 3, NULL), SF_OK);
        assert_int_equal(sf_trains_append(&trains, spikes, count, 0, NULL), SF_OK);
        uint64_t cuts[400] = {0}; /* segment i is cuts[i] .. cuts[i + 1] - 1 */
        uint64_t first = 0, last = 0, drops = 1 + test_random_below(&random, 9);
        while (cuts[last] < count && last < 399) {
            uint64_t before = sliding.compositions;
            if (test_random_below(&random, 10) < drops) {
                assert_int_equal(sf_sliding_drop(&sliding, NULL), SF_OK);
                assert_true(sliding.compositions - before <= SF_SLIDING_DROP);
                first += first < last;
            } else {
                cuts[last + 1] = cuts[last] + test_random_below(&random, 8);
                if (cuts[last + 1] > count) cuts[last + 1] = count;
                sf_segment_summarise(&summary, &trains, &episode, cuts[last], cuts[last + 1], &scratch, NULL);
                assert_int_equal(sf_sliding_push(&sliding, &summary, NULL), SF_OK);
                assert_true(sliding.compositions - before <= SF_SLIDING_PUSH);
                last++;
            }
            assert_int_equal(sf_sliding_length(&sliding), last - first);
            assert_int_equal(
                sf_sliding_count(&sliding),
                oracle_count(spikes + cuts[first], (size_t)(cuts[last] - cuts[first]), &episode));
        }
        sf_sliding_close(&sliding);
        sf_summary_free(&summary);
        sf_segment_scratch_free(&scratch);
        sf_trains_close(&trains);
        free(spikes);
    }
}

#define MOST_EPISODES 6

/* A run over a random stream: windows cut, tracked and checked as a pipeline would. */
typedef struct run {
    test_random random;
    sf_spike *spikes;
    size_t count;
    int64_t anchor, window, hop;
    sf_history history;
    sf_cutter cutter;
    sf_tracker *tracker;
    uint64_t full, counted, prepared;
    int64_t last_full_start;
    sf_episode wanted[2 * MOST_EPISODES]; /* the list that was asked for last */
    size_t wanted_count;
    sf_episode tracked[2 * MOST_EPISODES]; /* what is counted */
    size_t tracked_count;
    bool preparing;
} run;

static uint64_t count_slice(const run *r, sf_span window, const sf_episode *episode)
{
    size_t begin = 0, end = 0;
    while (begin < r->count && r->spikes[begin].time_ns < window.start_ns)
        begin++;
    for (end = begin; end < r->count && r->spikes[end].time_ns < window.stop_ns;)
        end++;
    return oracle_count(r->spikes + begin, end - begin, episode);
}

/* From now on its windows are held against the list that was wanted. */
static void take_list(run *r)
{
    memcpy(r->tracked, r->wanted, sizeof r->wanted);
    r->tracked_count = r->wanted_count;
}

static void track_something_else(run *r)
{
    sf_episode episodes[2 * MOST_EPISODES];
    size_t count = 0;
    for (size_t i = 0; i < r->tracked_count && count < MOST_EPISODES; i++)
        if (test_random_below(&r->random, 3) > 0) episodes[count++] = r->tracked[i];
    for (uint64_t more = test_random_below(&r->random, MOST_EPISODES); more > 0; more--)
        episodes[count++] = test_random_episode(&r->random, 4, 3, 20);
    if (count > 1) episodes[count - 1] = episodes[0]; /* now and then one stands there twice */
    memcpy(r->wanted, episodes, sizeof episodes);
    r->wanted_count = count;
    r->preparing = test_random_below(&r->random, 2) == 0;
    if (r->preparing) {
        assert_int_equal(sf_tracker_prepare(r->tracker, episodes, count, NULL), SF_OK);
    } else {
        assert_int_equal(sf_tracker_set(r->tracker, episodes, count, NULL), SF_OK);
        take_list(r);
    }
}

/* An episode a hop; what is tracked stays as it was until all are prepared. */
static void go_on(run *r)
{
    bool ready;
    assert_int_equal(sf_tracker_go_on(r->tracker, 0, &ready, NULL), SF_OK);
    if (!ready) return;
    assert_true(r->preparing);
    r->preparing = false;
    r->prepared++;
    take_list(r);
}

static void check_window(run *r, const sf_segment *segment, bool at_end)
{
    for (size_t i = 0; i < r->tracked_count; i++) {
        uint64_t expected = count_slice(r, segment->window, &r->tracked[i]);
        assert_int_equal(sf_tracker_count(r->tracker, i), expected);
        r->counted += expected;
    }
    int64_t length = segment->window.stop_ns - segment->window.start_ns;
    assert_int_equal(segment->partial, at_end || length < r->window);
    if (segment->partial) return;
    /* Full windows are those of `count`: anchor + i * hop, every one of them. */
    assert_int_equal(length, r->window);
    assert_int_equal(segment->window.start_ns, r->anchor + (int64_t)r->full * r->hop);
    r->full++;
}

/* Somebody else counts for a while, which is not told of here: what is tracked after it is as if it had been
 * all along. */
static void rest_and_wake(run *r)
{
    sf_tracker_rest(r->tracker);
    assert_int_equal(sf_tracker_wake(r->tracker, &r->history, NULL), SF_OK);
    assert_int_equal(sf_tracker_set(r->tracker, r->tracked, r->tracked_count, NULL), SF_OK);
    r->preparing = false;
}

static void take_segment(run *r, const sf_segment *segment, bool at_end)
{
    const sf_spike *spikes = sf_history_view(&r->history, segment->begin);
    assert_int_equal(sf_tracker_push(r->tracker, segment, spikes, NULL), SF_OK);
    if (!segment->closes) return;
    assert_int_equal(sf_tracker_drop_before(r->tracker, segment->window.start_ns, NULL), SF_OK);
    sf_history_drop_before(&r->history, sf_history_find(&r->history, segment->window.start_ns));
    if (test_random_below(&r->random, 4) == 0) track_something_else(r);
    go_on(r);
    if (test_random_below(&r->random, 8) == 0) rest_and_wake(r);
    check_window(r, segment, at_end);
}

static void run_stream(run *r)
{
    sf_segment segment;
    uint64_t hops = 0;
    for (size_t done = 0; done < r->count;) {
        size_t batch = 1 + test_random_below(&r->random, 30);
        batch = batch < r->count - done ? batch : r->count - done;
        assert_int_equal(sf_history_append(&r->history, r->spikes + done, batch, NULL), SF_OK);
        done += batch;
        while (sf_cutter_next(&r->cutter, &r->history, r->spikes[done - 1].time_ns, &segment)) {
            take_segment(r, &segment, false);
            assert_true(!segment.closes || segment.hop == hops++);
        }
    }
    int64_t stop = r->spikes[r->count - 1].time_ns + 1 + (int64_t)test_random_below(&r->random, 40);
    while (sf_cutter_next(&r->cutter, &r->history, stop, &segment))
        take_segment(r, &segment, false);
    if (sf_cutter_finish(&r->cutter, &r->history, stop, &segment)) take_segment(r, &segment, true);
    assert_false(sf_cutter_finish(&r->cutter, &r->history, stop, &segment));
    /* No full window that ends by `stop` was left out. */
    assert_true(r->anchor + (int64_t)r->full * r->hop + r->window > stop);
}

static void windows_equal_slices(void **state)
{
    (void)state;
    run r = {.random = test_random_start("windows", 32)};
    uint64_t full = 0, counted = 0, prepared = 0;
    for (int round = 0; round < 3000; round++) {
        r.count = test_random_stream(&r.random, &r.spikes, 1 + test_random_below(&r.random, 150), 3,
                                     1 + (int64_t)test_random_below(&r.random, 300));
        r.window = 1 + (int64_t)test_random_below(&r.random, 80);
        r.hop = 1 + (int64_t)test_random_below(&r.random, 40);
        bool anchored = test_random_below(&r.random, 2) == 0;
        r.anchor = anchored ? -20 + (int64_t)test_random_below(&r.random, 100) : r.spikes[0].time_ns;
        r.full = 0;
        assert_int_equal(sf_cutter_open(&r.cutter, anchored ? r.anchor : INT64_MIN, r.window, r.hop, NULL),
                         SF_OK);
        r.history.span_ns = round % 2 == 0 ? 0 : r.window;
        assert_int_equal(sf_tracker_open(&r.tracker, 3, r.history.span_ns, NULL), SF_OK);
        r.tracked_count = 0;
        track_something_else(&r);
        run_stream(&r);
        full += r.full;
        sf_tracker_close(r.tracker);
        sf_history_free(&r.history);
        free(r.spikes);
    }
    counted = r.counted;
    prepared = r.prepared;
    assert_true(full > 20000 && counted > 100000 && prepared > 1000);
}

/* All windows of the same stream, with those of long silences left out and without: the same numbers, bounds
 * and spikes, and what is left out holds none. */
static void silences_are_passed_over(void **state)
{
    (void)state;
    test_random random = test_random_start("silences", 34);
    uint64_t left_out = 0, closed = 0;
    for (int round = 0; round < 1000; round++) {
        sf_history history = {0};
        int64_t now = -50, window = 1 + (int64_t)test_random_below(&random, 60);
        int64_t hop = 1 + (int64_t)test_random_below(&random, 40);
        for (int i = 0; i < 30; i++) {
            now += (int64_t)test_random_below(&random, test_random_below(&random, 6) == 0 ? 3000 : 20);
            assert_int_equal(sf_history_append(&history, &(sf_spike){.time_ns = now}, 1, NULL), SF_OK);
        }
        sf_cutter all, some;
        sf_segment a, b;
        assert_int_equal(sf_cutter_open(&all, INT64_MIN, window, hop, NULL), SF_OK);
        assert_int_equal(sf_cutter_open(&some, INT64_MIN, window, hop, NULL), SF_OK);
        left_out += sf_cutter_skip(&some, &history, now + 1, 500);
        while (sf_cutter_next(&some, &history, now + 1, &b)) {
            while (b.closes && sf_cutter_next(&all, &history, now + 1, &a) && (!a.closes || a.hop < b.hop))
                if (a.closes)
                    assert_int_equal(sf_history_find(&history, a.window.start_ns),
                                     sf_history_find(&history, a.window.stop_ns));
            if (b.closes) {
                closed++;
                assert_int_equal(a.hop, b.hop);
                assert_memory_equal(&a.window, &b.window, sizeof a.window);
                assert_int_equal(a.end, b.end);
            }
            left_out += sf_cutter_skip(&some, &history, now + 1, 500);
        }
        sf_history_free(&history);
    }
    assert_true(left_out > 10000 && closed > 10000);
}

/* A fiftieth of what is to be kept tells how much that will be, so that nothing is copied for want of room
 * after it; what nobody knows grows again and again. */
static void room_is_made_at_the_pace_so_far(void **state)
{
    (void)state;
    enum { ALL = 100000, FIRST = ALL / 50 };
    for (int64_t known = 0; known < 2; known++) {
        sf_history history = {.span_ns = known * ALL};
        sf_trains trains;
        uint64_t room = 0, of_a_train = 0;
        assert_int_equal(sf_trains_open(&trains, 64, NULL), SF_OK);
        trains.span_ns = known * ALL;
        for (uint32_t i = 0; i < ALL; i++) {
            const sf_spike spike = {.time_ns = i, .unit = i % 64};
            assert_int_equal(sf_history_append(&history, &spike, 1, NULL), SF_OK);
            assert_int_equal(sf_trains_append(&trains, &spike, 1, i, NULL), SF_OK);
            if (i == FIRST) {
                room = history.capacity;
                of_a_train = trains.units[0].capacity;
                assert_int_equal(trains.units[3].capacity < of_a_train, known); /* whose turn is later */
            }
        }
        assert_int_equal(history.capacity == room, known);
        assert_int_equal(trains.units[0].capacity == of_a_train, known);
        assert_true(history.capacity < 2 * ALL);
        assert_true(trains.units[0].capacity <= 2048);
        sf_trains_close(&trains);
        sf_history_free(&history);
    }
    sf_history of_a_batch = {.span_ns = ALL};
    const sf_spike batch[2] = {{.time_ns = 0}, {.time_ns = ALL / 1000}};
    assert_int_equal(sf_history_append(&of_a_batch, batch, 2, NULL), SF_OK);
    assert_int_equal(of_a_batch.capacity, 2200);
    sf_history_free(&of_a_batch);
    assert_int_equal(sf_room_ahead(7, 5, 0), 7);
    assert_int_equal(sf_room_ahead(10, 50, 1000), 220);
    assert_int_equal(sf_room_ahead(1 << 20, 1, INT64_C(1) << 40), SF_AHEAD_MOST);
    assert_int_equal(sf_room_ahead(SF_AHEAD_MOST + 1, 1, 1000), SF_AHEAD_MOST + 1);
}

/* The window [10, 20) cuts A9 -> B12 at its beginning and A18 -> B21 at its end. */
static void an_occurrence_that_is_cut_does_not_count(void **state)
{
    (void)state;
    run r = {.window = 10, .hop = 10, .random = {.state = 1}};
    sf_spike spikes[] = {{0, 2, 0},  {9, 0, 0},  {12, 1, 0}, {13, 0, 0},
                         {15, 1, 0}, {18, 0, 0}, {21, 1, 0}, {30, 2, 0}};
    const sf_episode episode = {.size = 2, .units = {0, 1}, .delays = {{0, 5}}};
    static const uint64_t expected[] = {0, 1, 0};
    sf_segment segment;
    assert_int_equal(sf_cutter_open(&r.cutter, INT64_MIN, 10, 10, NULL), SF_OK);
    assert_int_equal(sf_tracker_open(&r.tracker, 3, 0, NULL), SF_OK);
    assert_int_equal(sf_tracker_set(r.tracker, &episode, 1, NULL), SF_OK);
    assert_int_equal(sf_history_append(&r.history, spikes, 8, NULL), SF_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_true(sf_cutter_next(&r.cutter, &r.history, 30, &segment));
        sf_tracker_push(r.tracker, &segment, sf_history_view(&r.history, segment.begin), NULL);
        sf_tracker_drop_before(r.tracker, segment.window.start_ns, NULL);
        assert_int_equal(sf_tracker_count(r.tracker, 0), expected[i]);
    }
    assert_false(sf_cutter_next(&r.cutter, &r.history, 30, &segment));
    sf_tracker_close(r.tracker);
    sf_history_free(&r.history);
}

static void impossible_windows_and_episodes_are_refused(void **state)
{
    (void)state;
    sf_cutter cutter;
    sf_error error;
    test_assert_fails(sf_cutter_open(&cutter, 0, 0, 1, &error), &error, SF_USAGE, "window");
    test_assert_fails(sf_cutter_open(&cutter, 0, 1, -1, &error), &error, SF_USAGE, "hop");
    sf_tracker *tracker;
    const sf_episode episodes[] = {{.size = 1, .units = {1}},
                                   {.size = 2, .units = {0, 2}, .delays = {{0, 5}}}};
    assert_int_equal(sf_tracker_open(&tracker, 2, 0, NULL), SF_OK);
    assert_int_equal(sf_tracker_set(tracker, episodes, 1, NULL), SF_OK);
    test_assert_fails(sf_tracker_set(tracker, episodes, 2, &error), &error, SF_DATA, "unit #2");
    assert_int_equal(sf_tracker_count(tracker, 0), 0); /* as it was */
    sf_tracker_close(tracker);
}

/* A hop that has no time for it prepares one episode; those that stay keep their summaries, for which not a
 * byte is asked for. */
static void a_list_is_prepared_in_steps_and_what_stays_is_not_made_anew(void **state)
{
    (void)state;
    enum { SPIKES = 90, KEPT = 3, ALL = 6 };
    sf_spike spikes[SPIKES];
    sf_episode episodes[ALL];
    sf_tracker *tracker;
    bool ready;
    for (int i = 0; i < SPIKES; i++)
        spikes[i] = (sf_spike){.time_ns = i, .unit = (uint32_t)i % 3};
    for (uint32_t i = 0; i < ALL; i++)
        episodes[i] = (sf_episode){.size = 2, .units = {i % 3, (i + 1) % 3}, .delays = {{0, 1 + i}}};
    const sf_segment segment = {.end = SPIKES, .span = {0, SPIKES}};
    assert_int_equal(sf_tracker_open(&tracker, 3, 0, NULL), SF_OK);
    assert_int_equal(sf_tracker_set(tracker, episodes, KEPT, NULL), SF_OK);
    assert_int_equal(sf_tracker_push(tracker, &segment, spikes, NULL), SF_OK);

    assert_int_equal(sf_tracker_prepare(tracker, episodes, ALL, NULL), SF_OK);
    for (int step = 1; step <= ALL; step++) {
        assert_int_equal(sf_tracker_go_on(tracker, 0, &ready, NULL), SF_OK);
        assert_int_equal(ready, step == ALL);
    }

    assert_int_equal(sf_tracker_prepare(tracker, episodes, ALL, NULL), SF_OK);
    sf_memory_fail_after(0);
    int status = sf_tracker_go_on(tracker, INT64_MAX, &ready, NULL);
    sf_memory_fail_after(-1);
    assert_int_equal(status, SF_OK);
    assert_true(ready);
    for (size_t i = 0; i < ALL; i++)
        assert_int_equal(sf_tracker_count(tracker, i), oracle_count(spikes, SPIKES, &episodes[i]));
    sf_tracker_close(tracker);
}

static void history_is_contiguous_under_any_use(void **state)
{
    (void)state;
    test_random random = test_random_start("history", 33);
    sf_history history = {0};
    sf_spike batch[700];
    int64_t next = 0;
    for (int round = 0; round < 2000; round++) {
        size_t count = test_random_below(&random, 700);
        for (size_t i = 0; i < count; i++)
            batch[i] = (sf_spike){.time_ns = next++};
        assert_int_equal(sf_history_append(&history, batch, count, NULL), SF_OK);
        uint64_t kept = test_random_below(&random, round % 100 == 0 ? 5000 : 1000);
        sf_history_drop_before(&history, history.end > kept ? history.end - kept : 0);
        const sf_spike *view = sf_history_view(&history, history.begin);
        for (uint64_t i = history.begin; i < history.end; i++)
            assert_int_equal(view[i - history.begin].time_ns, i);
        uint64_t some = history.begin + test_random_below(&random, history.end - history.begin + 1);
        assert_int_equal(sf_history_find(&history, (int64_t)some), some);
        if (some < history.end) assert_int_equal(sf_history_view(&history, some)->time_ns, some);
    }
    sf_history_free(&history);
}

static int track_for_a_while(void *context)
{
    run *r = context;
    sf_segment segment;
    sf_history history = {0};
    sf_tracker *tracker = NULL;
    const sf_episode episodes[] = {{.size = 2, .units = {0, 1}, .delays = {{0, 20}}},
                                   {.size = 3, .units = {2, 1, 0}, .delays = {{0, 20}, {5, 20}}}};
    sf_cutter_open(&r->cutter, 0, 60, 20, NULL);
    int status = sf_tracker_open(&tracker, 3, 0, NULL);
    if (status == SF_OK) status = sf_history_append(&history, r->spikes, r->count, NULL);
    if (status == SF_OK) status = sf_tracker_set(tracker, episodes, 1, NULL);
    while (status == SF_OK && sf_cutter_next(&r->cutter, &history, 280, &segment)) {
        status = sf_tracker_push(tracker, &segment, sf_history_view(&history, segment.begin), NULL);
        if (status == SF_OK) status = sf_tracker_drop_before(tracker, segment.window.start_ns, NULL);
        if (status == SF_OK && segment.hop == 8) status = sf_tracker_set(tracker, episodes, 2, NULL);
        bool ready;
        if (status == SF_OK && segment.hop == 9) status = sf_tracker_prepare(tracker, episodes + 1, 1, NULL);
        if (status == SF_OK) status = sf_tracker_go_on(tracker, 0, &ready, NULL);
    }
    sf_tracker_close(tracker);
    sf_history_free(&history);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    run r = {.random = {.state = 4}};
    r.count = test_random_stream(&r.random, &r.spikes, 250, 3, 300);
    test_fail_every_allocation(track_for_a_while, &r);
    free(r.spikes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_equals_the_slice_at_constant_cost),
        cmocka_unit_test(windows_equal_slices),
        cmocka_unit_test(silences_are_passed_over),
        cmocka_unit_test(room_is_made_at_the_pace_so_far),
        cmocka_unit_test(an_occurrence_that_is_cut_does_not_count),
        cmocka_unit_test(impossible_windows_and_episodes_are_refused),
        cmocka_unit_test(a_list_is_prepared_in_steps_and_what_stays_is_not_made_anew),
        cmocka_unit_test(history_is_contiguous_under_any_use),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
