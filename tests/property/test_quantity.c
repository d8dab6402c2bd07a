/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities: what a window holds after spikes entered and left is what their definitions say of its slice of
 * the stream, computed anew; with spikes at one time, and with gaps in the observation of some units.
 */
#include "support/support.h"

#include "analysis/quantity.h"
#include "core/clock.h"
#include "core/memory.h"
#include "mine/mine.h"
#include "oracle/count_oracle.h"

#include <math.h>

enum {
    UNITS = 5,
    SPANS = 4,
    FIRST_GROUP = 2
}; /* units 0, 1 are of one recording, 2, 3 of another; 4 is live */

typedef struct stream {
    sf_spike *spikes;
    size_t count;
    sf_span spans[2][SPANS];
    sf_observed observed[2];
    sf_units units;
    sf_episode episode;
    int64_t bin_ns;
} stream;

typedef struct samples {
    sf_sample *items;
    size_t count;
} samples;

static void make_spans(test_random *random, stream *s, size_t group)
{
    size_t count = 1 + test_random_below(random, SPANS);
    int64_t at = (int64_t)test_random_below(random, 40);
    for (size_t i = 0; i < count; i++) {
        int64_t stop = at + 1 + (int64_t)test_random_below(random, 60);
        s->spans[group][i] = (sf_span){at, stop};
        at = stop + (int64_t)test_random_below(random, 15); /* stretches that touch are two */
    }
    s->observed[group] = (sf_observed){.first_unit = group == 0 ? 0 : FIRST_GROUP,
                                       .unit_count = 2,
                                       .spans = s->spans[group],
                                       .count = count};
}

static void make_stream(test_random *random, stream *s)
{
    *s = (stream){.bin_ns = 1 + (int64_t)test_random_below(random, 12)};
    s->count = test_random_stream(random, &s->spikes, test_random_below(random, 200), UNITS, 150);
    make_spans(random, s, 0);
    make_spans(random, s, 1);
    for (int u = 0; u < UNITS; u++)
        assert_int_equal(
            sf_units_add(&s->units,
                         &(sf_unit){.x_um = u == 1 ? (double)NAN : (double)u, .y_um = -u, .electrode = -1},
                         NULL),
            SF_OK);
    assert_int_equal(sf_units_finish(&s->units, NULL), SF_OK);
    do
        s->episode = test_random_episode(random, 4, UNITS, 30);
    while (s->episode.size < 2);
}

static void free_stream(stream *s)
{
    free(s->spikes);
    sf_units_free(&s->units);
}

/* ---- by definition ---- */

static const sf_observed *observed_of(const stream *s, uint32_t unit)
{
    return unit < FIRST_GROUP ? &s->observed[0] : unit < 2 * FIRST_GROUP ? &s->observed[1] : NULL;
}

static bool between(const stream *s, uint32_t unit, int64_t before_ns, int64_t time_ns)
{
    const sf_observed *observed = observed_of(s, unit);
    for (size_t i = 0; observed != NULL && i < observed->count; i++)
        if (before_ns < observed->spans[i].stop_ns && observed->spans[i].stop_ns <= time_ns) return true;
    return false;
}

static void add(samples *to, int64_t time_ns, uint32_t state, double value)
{
    to->items[to->count++] = (sf_sample){time_ns, value, state};
}

static void slice_intervals(samples *to, const stream *s, sf_span slice)
{
    for (size_t j = 0; j < s->count; j++) {
        const sf_spike *spike = &s->spikes[j];
        size_t i = j;
        while (i > 0 && s->spikes[i - 1].unit != spike->unit)
            i--;
        bool inside = spike->time_ns >= slice.start_ns && spike->time_ns < slice.stop_ns;
        if (!inside || i == 0 || s->spikes[i - 1].time_ns == spike->time_ns ||
            between(s, spike->unit, s->spikes[i - 1].time_ns, spike->time_ns))
            continue;
        add(to, spike->time_ns, spike->unit, (double)(spike->time_ns - s->spikes[i - 1].time_ns) / 1e9);
    }
}

static void slice_delays(samples *to, const stream *s, sf_span slice)
{
    int64_t *times;
    size_t count;
    uint32_t size = s->episode.size;
    assert_int_equal(check_occurrences(&times, &count, s->spikes, s->count, UNITS, &s->episode, NULL), SF_OK);
    for (size_t i = 0; i < count; i++) {
        const int64_t *spike = times + i * size;
        for (uint32_t link = 0; link + 1 < size; link++)
            if (spike[size - 1] >= slice.start_ns && spike[size - 1] < slice.stop_ns)
                add(to, spike[size - 1], link, (double)(spike[link + 1] - spike[link]) / 1e9);
    }
    sf_free(times);
}

/* Bins of the slice that begin where a stretch of observation does, or so many bins later. */
static void slice_rates(samples *to, const stream *s, sf_span slice)
{
    for (int64_t from = slice.start_ns; from + s->bin_ns <= slice.stop_ns; from++)
        for (uint32_t u = 0; u < 2 * FIRST_GROUP; u++) {
            const sf_observed *observed = observed_of(s, u);
            bool is_bin = false;
            for (size_t i = 0; i < observed->count; i++) {
                sf_span span = observed->spans[i];
                is_bin = is_bin || (from >= span.start_ns && from + s->bin_ns <= span.stop_ns &&
                                    (from - span.start_ns) % s->bin_ns == 0);
            }
            uint64_t spikes = 0;
            for (size_t i = 0; i < s->count; i++)
                spikes += s->spikes[i].unit == u && s->spikes[i].time_ns >= from &&
                          s->spikes[i].time_ns < from + s->bin_ns;
            if (is_bin) add(to, from, u, (double)spikes * 1e9 / (double)s->bin_ns);
        }
}

static void slice_positions(samples *to, const stream *s, sf_span slice)
{
    static const uint32_t place[UNITS] = {0, UINT32_MAX, 1, 2, 3};
    for (size_t i = 0; i < s->count; i++)
        if (s->spikes[i].time_ns >= slice.start_ns && s->spikes[i].time_ns < slice.stop_ns &&
            s->spikes[i].unit != 1)
            add(to, s->spikes[i].time_ns, place[s->spikes[i].unit], 1);
}

typedef struct quantity_case {
    sf_quantity quantity;
    void (*slice)(samples *to, const stream *s, sf_span slice);
} quantity_case;

/* ---- as a state ---- */

static sf_quantity_state *open_state(const stream *s, sf_quantity quantity)
{
    sf_quantity_state *state;
    sf_quantity_setup setup = {.quantity = quantity,
                               .units = &s->units,
                               .unit_count = quantity == SF_QUANTITY_RATE ? 2 * FIRST_GROUP : UNITS,
                               .episodes = &s->episode,
                               .episode_count = 1,
                               .every_link = true,
                               .bin_ns = s->bin_ns,
                               .observed = s->observed,
                               .observed_count = 2};
    assert_int_equal(sf_quantity_open(&state, &setup, NULL), SF_OK);
    return state;
}

static void assert_same(const sf_sample *found, size_t count, const samples *expected)
{
    assert_int_equal(count, expected->count);
    for (size_t i = 0; i < count; i++) {
        assert_true(found[i].time_ns == expected->items[i].time_ns);
        assert_int_equal(found[i].state, expected->items[i].state);
        test_assert_same(found[i].value, expected->items[i].value);
    }
}

/* Those of before, what entered, and without what left. */
static void assert_news(const sf_quantity_state *state, const sf_sample *before, size_t before_count)
{
    size_t entered_count, left_count, held_count;
    const sf_sample *entered = sf_quantity_entered(state, &entered_count);
    const sf_sample *left = sf_quantity_left(state, &left_count);
    const sf_sample *held = sf_quantity_held(state, &held_count);
    assert_int_equal(before_count + entered_count, left_count + held_count);
    for (size_t i = 0; i < before_count + entered_count; i++) {
        const sf_sample *expected = i < before_count ? &before[i] : &entered[i - before_count];
        const sf_sample *found = i < left_count ? &left[i] : &held[i - left_count];
        assert_memory_equal(&found->time_ns, &expected->time_ns, sizeof found->time_ns);
        test_assert_same(found->value, expected->value);
    }
}

static void slide_through(test_random *random, const stream *s, const quantity_case *test)
{
    enum { MOST = 2000 };
    static sf_sample before[MOST], expected_items[MOST];
    sf_quantity_state *state = open_state(s, test->quantity);
    int64_t start = -10, stop = -10;
    size_t next = 0;
    while (stop < 160) {
        size_t held_count;
        const sf_sample *held = sf_quantity_held(state, &held_count);
        memcpy(before, held, held_count * sizeof *before);
        stop += 1 + (int64_t)test_random_below(random, 30);
        size_t end = next + sf_spikes_lower_bound(s->spikes + next, s->count - next, stop);
        assert_int_equal(sf_quantity_enter(state, s->spikes + next, end - next, stop, NULL), SF_OK);
        next = end;
        start += (int64_t)test_random_below(random, (uint64_t)(stop - start) + 1);
        sf_quantity_leave(state, start);
        assert_news(state, before, held_count);

        samples expected = {.items = expected_items};
        test->slice(&expected, s, (sf_span){start, stop});
        held = sf_quantity_held(state, &held_count);
        assert_same(held, held_count, &expected);
    }
    sf_quantity_close(state);
}

static const quantity_case cases[] = {
    {SF_QUANTITY_ISI, slice_intervals},
    {SF_QUANTITY_DELAY, slice_delays},
    {SF_QUANTITY_RATE, slice_rates},
    {SF_QUANTITY_POSITION, slice_positions},
};

static void a_window_holds_what_its_slice_has(void **state)
{
    (void)state;
    test_random random = test_random_start("quantities", 61);
    for (int round = 0; round < 500; round++) {
        stream s;
        make_stream(&random, &s);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            slide_through(&random, &s, &cases[i]);
        free_stream(&s);
    }
}

/* All at once, and nothing leaves: by state the same as a window that is moved on all the time. */
static void a_recording_is_a_window_that_nothing_leaves(void **state)
{
    (void)state;
    test_random random = test_random_start("recordings", 62);
    for (int round = 0; round < 200; round++) {
        stream s;
        make_stream(&random, &s);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            static sf_sample items[2000];
            samples expected = {.items = items};
            sf_quantity_state *whole = open_state(&s, cases[i].quantity);
            sf_state_samples sorted = {0};
            size_t count, seen = 0;
            assert_int_equal(sf_quantity_enter(whole, s.spikes, s.count, INT64_MAX, NULL), SF_OK);
            const sf_sample *held = sf_quantity_held(whole, &count);
            cases[i].slice(&expected, &s, (sf_span){-1, 400});
            assert_same(held, count, &expected);
            assert_int_equal(sf_quantity_sort(whole, held, count, &sorted, NULL), SF_OK);
            for (uint32_t of = 0; of < sf_quantity_states(whole); of++)
                for (size_t k = 0; k < count; k++)
                    if (items[k].state == of) test_assert_same(sorted.values[seen++], items[k].value);
            assert_int_equal(seen, count);
            sf_state_samples_free(&sorted);
            sf_quantity_close(whole);
        }
        free_stream(&s);
    }
}

static int follow_once(void *context)
{
    const stream *s = context;
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < sizeof cases / sizeof cases[0]; i++) {
        sf_quantity_state *state;
        sf_state_samples sorted = {0};
        sf_quantity_setup setup = {.quantity = cases[i].quantity,
                                   .units = &s->units,
                                   .unit_count = UNITS,
                                   .episodes = &s->episode,
                                   .episode_count = 1,
                                   .bin_ns = s->bin_ns,
                                   .observed = s->observed,
                                   .observed_count = 2};
        status = sf_quantity_open(&state, &setup, NULL);
        if (status != SF_OK) return status;
        size_t count;
        status = sf_quantity_enter(state, s->spikes, s->count, INT64_MAX, NULL);
        const sf_sample *held = sf_quantity_held(state, &count);
        if (status == SF_OK) status = sf_quantity_sort(state, held, count, &sorted, NULL);
        sf_state_samples_free(&sorted);
        sf_quantity_close(state);
    }
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("quantities without memory", 63);
    stream s;
    make_stream(&random, &s);
    test_fail_every_allocation(follow_once, &s);
    free_stream(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_holds_what_its_slice_has),
        cmocka_unit_test(a_recording_is_a_window_that_nothing_leaves),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
