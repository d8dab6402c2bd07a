/* SPDX-License-Identifier: Apache-2.0 */
/* Broken time stamps, clocks that step and senders that begin anew, through to the merged stream: every spike
 * is given out in its right place or counted by its cause. */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "window/continuity.h"
#include "window/merge.h"

#include <math.h>

#define UNITS 4
#define LEAP (10 * SF_SECOND)
#define DAY (86400 * SF_SECOND)
#define FRAME_NS (10 * SF_MILLISECOND)
#define NONE INT64_MIN

/* ---- a source whose merged stream is collected ---- */

typedef struct bench {
    sf_continuity *continuity;
    sf_merge *merge;
    sf_spike *spikes; /* as they came out */
    size_t count, capacity;
    sf_marker markers[64];
    size_t marker_count;
    uint64_t offered;
    int64_t now_ns;
} bench;

static bench open_bench(int64_t leap_ns, int64_t lateness_ns)
{
    bench it = {0};
    const sf_inlet_settings inlet = {UNITS, lateness_ns, 4096, SF_RING_BLOCK};
    const sf_merge_settings merge = {.inlets = &inlet, .inlet_count = 1};
    const sf_continuity_settings settings = {.leap_ns = leap_ns, .lateness_ns = lateness_ns};
    assert_int_equal(sf_continuity_open(&it.continuity, &settings, NULL), SF_OK);
    assert_int_equal(sf_merge_open(&it.merge, &merge, NULL), SF_OK);
    it.now_ns = 1;
    return it;
}

static void pull(bench *it, sf_merged *merged)
{
    do {
        sf_merge_pull(it->merge, 0, merged);
        for (size_t i = 0; i < merged->spike_count; i++) {
            if (it->count == it->capacity)
                it->spikes =
                    realloc(it->spikes, (it->capacity = 2 * it->capacity + 1024) * sizeof *it->spikes);
            assert_true(it->count == 0 || merged->spikes[i].time_ns >= it->spikes[it->count - 1].time_ns);
            it->spikes[it->count++] = merged->spikes[i];
        }
        for (size_t i = 0; i < merged->marker_count && it->marker_count < 64; i++)
            it->markers[it->marker_count++] = merged->markers[i];
    } while (merged->more);
}

static void fetch(bench *it)
{
    sf_batch batch;
    sf_merged merged;
    while (sf_continuity_next(it->continuity, &batch))
        while (!sf_inlet_offer(sf_merge_inlet(it->merge, 0), &batch))
            pull(it, &merged);
    pull(it, &merged);
}

static void take(bench *it, const sf_batch *batch)
{
    sf_batch stamped = *batch;
    stamped.arrival_ns = it->now_ns;
    it->offered += batch->spike_count;
    assert_int_equal(sf_continuity_take(it->continuity, &stamped, NULL), SF_OK);
    fetch(it);
}

static void end(bench *it)
{
    sf_merged merged;
    sf_continuity_end(it->continuity);
    fetch(it);
    sf_inlet_end(sf_merge_inlet(it->merge, 0));
    pull(it, &merged);
    assert_true(merged.ended);
    sf_continuity_counts of = sf_continuity_count(it->continuity);
    sf_inlet_counts in = sf_inlet_count(sf_merge_inlet(it->merge, 0));
    assert_int_equal(of.held, 0);
    assert_int_equal(it->offered, in.offered + of.leaps + of.late);
    assert_int_equal(in.offered, in.emitted + in.late);
    assert_int_equal(in.emitted, it->count);
}

static void close_bench(bench *it)
{
    sf_continuity_close(it->continuity);
    sf_merge_close(it->merge);
    free(it->spikes);
}

/* ---- known troubles ---- */

/* Sends spikes at these times, and as the clock `clock_ns`; NONE: the newest of them, as natural senders do.
 */
static void send(bench *it, const int64_t *times, size_t count, int64_t clock_ns, uint64_t restarts)
{
    sf_spike spikes[8];
    int64_t newest = NONE;
    for (size_t i = 0; i < count; i++) {
        spikes[i] = (sf_spike){.time_ns = times[i], .unit = 0, .amplitude = 0};
        newest = times[i] > newest ? times[i] : newest;
    }
    it->now_ns += FRAME_NS;
    take(it, &(sf_batch){.spikes = spikes,
                         .spike_count = count,
                         .clock_ns = clock_ns == NONE ? newest : clock_ns,
                         .restarts = restarts});
}

/* Sends so many frames of one spike from a time on, a frame's time apart. */
static int64_t send_run(bench *it, int64_t from_ns, int frames)
{
    for (int i = 0; i < frames; i++, from_ns += FRAME_NS)
        send(it, &from_ns, 1, NONE, 0);
    return from_ns;
}

/* One spike, of a sender that promises only what lies so far back to be whole. */
static void send_after(bench *it, int64_t time_ns, int64_t promise_ns)
{
    send(it, &time_ns, 1, time_ns - promise_ns, 0);
}

typedef struct outcome {
    size_t given;
    uint64_t leaps, late, undone, steps, epochs;
} outcome;

static void assert_outcome(bench *it, outcome expected)
{
    end(it);
    sf_continuity_counts of = sf_continuity_count(it->continuity);
    sf_inlet_counts in = sf_inlet_count(sf_merge_inlet(it->merge, 0));
    assert_int_equal(it->count, expected.given);
    assert_int_equal(of.leaps, expected.leaps);
    assert_int_equal(of.late + in.late, expected.late);
    assert_int_equal(of.undone, expected.undone);
    assert_int_equal(of.steps, expected.steps);
    assert_int_equal(of.epochs, expected.epochs);
}

/* A hundred spikes, a frame that is wrong in some way, nine hundred more. */
static void a_broken_stamp_costs_itself(void **state)
{
    (void)state;
    const int64_t bad[] = {100 * FRAME_NS + INT64_C(3600) * SF_SECOND,
                           100 * FRAME_NS + DAY,
                           100 * FRAME_NS + 365 * DAY,
                           INT64_C(1) << 40,
                           INT64_C(1) << 62,
                           INT64_MAX,
                           INT64_MIN + 1};
    for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
        for (int copies = 1; copies <= 2; copies++) { /* one, or two of the same time in one frame */
            for (int alone = 0; alone <= 1; alone++) {
                bench it = open_bench(LEAP, 0);
                int64_t now = send_run(&it, 0, 100);
                const int64_t times[] = {now, bad[b], bad[b]};
                send(&it, alone ? times + 1 : times, (size_t)copies + !alone, NONE, 0);
                send_run(&it, now + FRAME_NS, 900);
                assert_outcome(&it, (outcome){.given = 1000 + (size_t)!alone,
                                              .leaps = (uint64_t)copies,
                                              .undone = bad[b] != INT64_MIN + 1});
                close_bench(&it);
            }
        }
    }
}

static void a_stamp_that_two_frames_repeat_is_not_believed(void **state)
{
    (void)state;
    bench it = open_bench(LEAP, 0);
    int64_t now = send_run(&it, 0, 100), bad = now + 365 * DAY;
    for (int i = 0; i < 20; i++) /* a stuck clock never goes on */
        send(&it, &bad, 1, NONE, 0);
    send_run(&it, now, 900);
    assert_outcome(&it, (outcome){.given = 1000, .leaps = 20, .undone = 1});
    close_bench(&it);
}

static void a_broken_clock_costs_nothing(void **state)
{
    (void)state;
    const int64_t clocks[] = {INT64_MAX, INT64_C(1) << 62, 365 * DAY, -365 * DAY, 0};
    for (size_t c = 0; c < sizeof clocks / sizeof clocks[0]; c++) {
        for (int forever = 0; forever <= 1; forever++) { /* once, or from then on */
            bench it = open_bench(LEAP, 0);
            int64_t now = send_run(&it, 0, 2000);
            for (int i = 0; i < 100; i++, now += FRAME_NS)
                send(&it, &now, 1, i == 0 || forever ? clocks[c] : NONE, 0);
            for (int i = 0; i < 10; i++) /* and alone */
                send(&it, NULL, 0, clocks[c], 0);
            send_run(&it, now, 900);
            assert_outcome(&it, (outcome){.given = 3000, .undone = clocks[c] > now});
            close_bench(&it);
        }
    }
}

static void the_first_frame_may_be_the_broken_one(void **state)
{
    (void)state;
    const int64_t start = INT64_C(1700000000) * SF_SECOND; /* a wall clock */
    bench it = open_bench(LEAP, 0);
    send(&it, &start, 1, INT64_C(1) << 62, 0);
    send_run(&it, start + FRAME_NS, 99);
    assert_outcome(&it, (outcome){.given = 100, .undone = 1});
    close_bench(&it);

    const int64_t bad[] = {0, 365 * DAY + start, INT64_C(1) << 62};
    for (size_t b = 0; b < 3; b++) {
        it = open_bench(LEAP, 0);
        const int64_t both[] = {bad[b] < start ? bad[b] : start, bad[b] < start ? start : bad[b]};
        send(&it, both, 2, NONE, 0);
        send_run(&it, start + FRAME_NS, 99);
        assert_outcome(&it, (outcome){.given = 100, .leaps = 1, .undone = b != 1});
        close_bench(&it);

        it = open_bench(LEAP, 0);
        send(&it, &bad[b], 1, NONE, 0);
        send_run(&it, start, 100);
        assert_outcome(&it, (outcome){.given = 100, .leaps = 1, .undone = 1});
        close_bench(&it);
    }
}

/* What few frames said is not lost, whether or not others follow. */
static void a_short_stream_is_whole(void **state)
{
    (void)state;
    for (int frames = 1; frames <= 4; frames++) {
        bench it = open_bench(LEAP, 0);
        send_run(&it, 5 * DAY, frames);
        assert_int_equal(it.count, frames > SF_CONTINUITY_FRAMES ? frames : 0);
        assert_int_equal(sf_continuity_count(it.continuity).held, frames > SF_CONTINUITY_FRAMES ? 0 : frames);
        assert_outcome(&it, (outcome){.given = (size_t)frames});
        close_bench(&it);
    }
}

static void a_step_that_the_stream_goes_on_from_is_followed(void **state)
{
    (void)state;
    bench it = open_bench(LEAP, 0);
    int64_t now = send_run(&it, 0, 100);
    /* Within a frame, too. */
    const int64_t across[] = {now, now + 7200 * SF_SECOND, now + 7200 * SF_SECOND + 1};
    send(&it, across, 3, NONE, 0);
    send_run(&it, across[2] + FRAME_NS, 2);
    assert_int_equal(it.count, 105);
    assert_string_equal(it.markers[0].text, "synfire: the clock stepped ahead");
    assert_int_equal(it.markers[0].time_ns, across[1]);
    assert_int_equal(it.spikes[101].time_ns, across[1]);
    send_run(&it, across[2] + 3 * FRAME_NS, 10);
    assert_outcome(&it, (outcome){.given = 115, .steps = 1});
    close_bench(&it);

    it = open_bench(LEAP, 0); /* real time that passed without a word is no step */
    now = send_run(&it, 0, 100);
    it.now_ns += 3600 * SF_SECOND;
    send(&it, &(int64_t){now + 3600 * SF_SECOND + SF_SECOND / 2}, 1, NONE, 0);
    assert_int_equal(it.count, 101);
    assert_outcome(&it, (outcome){.given = 101});
    close_bench(&it);

    it = open_bench(LEAP, 0); /* nobody said whether this one goes on */
    now = send_run(&it, 0, 100);
    send_run(&it, now + DAY, 2);
    assert_outcome(&it, (outcome){.given = 100, .leaps = 2, .undone = 1});
    close_bench(&it);
}

/* What is too near to be doubted goes through at once, and is told. */
static void a_small_step_ahead_is_counted(void **state)
{
    (void)state;
    static const int64_t steps[] = {2 * SF_SECOND, 5 * SF_SECOND, 9 * SF_SECOND};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        bench it = open_bench(LEAP, 0);
        int64_t now = send_run(&it, 0, 100);
        send_run(&it, now + steps[i], 1);
        assert_int_equal(it.count, 101);
        assert_string_equal(it.markers[0].text, "synfire: the clock stepped ahead");
        send_run(&it, now + steps[i] + FRAME_NS, 99);
        assert_outcome(&it, (outcome){.given = 200, .steps = 1});
        close_bench(&it);
    }
}

/* A network that holds frames back and then lets them go in one go: none of them is a step. */
static void a_backlog_is_no_step(void **state)
{
    (void)state;
    bench it = open_bench(LEAP, 0);
    int64_t now = send_run(&it, 0, 100), held_until = it.now_ns + 8 * SF_SECOND;
    it.now_ns = held_until;
    for (int i = 0; i < 800; i += 50, now += 50 * FRAME_NS) { /* half a second in each */
        it.now_ns = held_until;
        send(&it, &now, 1, NONE, 0);
    }
    it.now_ns = held_until;
    send_run(&it, now, 100);
    assert_outcome(&it, (outcome){.given = 216});
    close_bench(&it);
}

/* What waited for long comes at once, in one frame that is longer than a leap: a stream that is begun, or one
 * that goes on. */
static void a_frame_longer_than_a_leap_is_whole(void **state)
{
    (void)state;
    for (int begun = 0; begun <= 1; begun++) {
        for (int broken = 0; broken <= 1; broken++) {
            bench it = open_bench(LEAP, 0);
            int64_t now = begun ? send_run(&it, 0, 100) : 0, times[8];
            for (int i = 0; i < 7; i++, now += 4 * SF_SECOND)
                times[i] = now;
            times[7] = now + DAY;
            send(&it, times, broken ? 8 : 7, now, 0);
            send_run(&it, now, 99);
            assert_outcome(&it, (outcome){.given = begun ? 206 : 106,
                                          .leaps = (uint64_t)broken,
                                          .undone = (uint64_t)(broken && begun),
                                          .steps = (uint64_t)begun});
            close_bench(&it);
        }
    }
}

/* However small: all that follows would be late until the old time comes round again. */
static void a_small_step_back_is_joined_on(void **state)
{
    (void)state;
    static const int64_t steps[] = {200 * SF_MILLISECOND, SF_SECOND, 9 * SF_SECOND};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        bench it = open_bench(LEAP, 0);
        int64_t now = send_run(&it, 0, 1000);
        send_run(&it, now - steps[i], 1000);
        assert_string_equal(it.markers[0].text, "synfire: the clock went back, joined on");
        assert_outcome(&it, (outcome){.given = 2000, .epochs = 1});
        close_bench(&it);
    }
    const int64_t lateness_ns = 300 * SF_MILLISECOND; /* a step within it is waited for */
    bench it = open_bench(LEAP, lateness_ns);
    for (int i = 0; i < 200; i++)
        send_after(&it, i * FRAME_NS - (i < 100 ? 0 : lateness_ns * 2 / 3), lateness_ns);
    assert_outcome(&it, (outcome){.given = 200});
    close_bench(&it);
}

/* Datagrams that overtake others, and frames of a part of the units that trail behind those of the rest. */
static void disorder_is_no_step_back(void **state)
{
    (void)state;
    bench it = open_bench(LEAP, 0);
    int64_t now = send_run(&it, 0, 100);
    for (int i = 0; i < 10; i++) { /* two at a time, 150 ms behind */
        now = send_run(&it, now, 30);
        send_run(&it, now - 150 * SF_MILLISECOND, 2);
    }
    now = send_run(&it, now, 1);
    assert_outcome(&it, (outcome){.given = 401, .late = 20});
    close_bench(&it);

    const int64_t lateness_ns = 100 * SF_MILLISECOND;
    it = open_bench(LEAP, lateness_ns);
    for (int i = 0; i < 100; i++) {
        send_after(&it, i * FRAME_NS, lateness_ns);
        for (int part = 1; part <= 4; part++) /* each ends later than the one before */
            send_after(&it, i * FRAME_NS - (90 - part) * SF_MILLISECOND, lateness_ns);
    }
    assert_outcome(&it, (outcome){.given = 500});
    close_bench(&it);
}

static void a_clock_that_begins_anew_is_joined_on(void **state)
{
    (void)state;
    for (int leap = 0; leap <= 1; leap++) {
        bench it = open_bench(leap * LEAP, 0);
        int64_t last = send_run(&it, 0, 1000) - FRAME_NS;
        send(&it, NULL, 0, 0, 1); /* the hello of a new run, at clock 0 */
        send_run(&it, 5, 500);
        assert_int_equal(it.count, 1500);
        int64_t shift = it.spikes[1000].time_ns - 5;
        assert_true(shift % SF_MILLISECOND == 0 && it.spikes[1000].time_ns > last &&
                    it.spikes[1000].time_ns <= last + 2 * SF_MILLISECOND);
        for (size_t i = 1000; i < 1500; i++)
            assert_int_equal(it.spikes[i].time_ns, 5 + (int64_t)(i - 1000) * FRAME_NS + shift);
        assert_string_equal(it.markers[0].text, "synfire: the sender and its clock began anew");
        assert_int_equal(sf_inlet_count(sf_merge_inlet(it.merge, 0)).shift_ns, shift);

        /* A run that goes on with the clock of the one before stays where it is. */
        send(&it, NULL, 0, 0, 1);
        send_run(&it, 5 + 500 * FRAME_NS, 500);
        assert_int_equal(it.spikes[1999].time_ns, 5 + 999 * FRAME_NS + shift);
        assert_string_equal(it.markers[1].text, "synfire: the sender began anew");
        assert_outcome(&it, (outcome){.given = 2000, .epochs = 1});
        close_bench(&it);
    }
    bench it = open_bench(LEAP, 0); /* within a run */
    send_run(&it, 3600 * SF_SECOND, 1000);
    send_run(&it, 0, 1000);
    assert_string_equal(it.markers[0].text, "synfire: the clock went back, joined on");
    assert_outcome(&it, (outcome){.given = 2000, .epochs = 1});
    close_bench(&it);
}

/* A rig sends a block electrode by electrode: what comes after the first of an epoch may be of before it. */
static void disorder_at_the_beginning_of_an_epoch_is_in_time(void **state)
{
    (void)state;
    static const int64_t began[] = {30, 35, 48, 20, 3}, ms = SF_MILLISECOND;
    const int64_t lateness = 50 * ms;
    for (int is_told = 0; is_told <= 1; is_told++) {
        bench it = open_bench(LEAP, lateness);
        send_run(&it, 3600 * SF_SECOND, 1000);
        if (is_told) send(&it, NULL, 0, 0, 1);
        for (size_t i = 0; i < 5; i++) {
            int64_t time_ns = began[i] * ms;
            send(&it, &time_ns, 1, 0, 0);
        }
        send_run(&it, 60 * ms, 100);
        assert_outcome(&it, (outcome){.given = 1105, .epochs = 1});
        assert_int_equal(it.spikes[1001].time_ns - it.spikes[1000].time_ns, 17 * ms);
        assert_int_equal(it.spikes[1004].time_ns - it.spikes[1000].time_ns, 45 * ms);
        close_bench(&it);
    }
}

static void what_is_held_is_bounded(void **state)
{
    (void)state;
    bench it = open_bench(LEAP, 0);
    int64_t now = send_run(&it, 0, 100);
    const int64_t bad = now + DAY;
    for (int i = 0; i < 10 * SF_CONTINUITY_HELD; i++) {
        send(&it, &bad, 1, NONE, 0);
        assert_true(sf_continuity_count(it.continuity).held <= SF_CONTINUITY_HELD);
    }
    send_run(&it, now, 1);
    assert_outcome(&it, (outcome){.given = 101, .leaps = 10 * SF_CONTINUITY_HELD, .undone = 1});
    close_bench(&it);

    it = open_bench(LEAP, 0);
    size_t many = SF_CONTINUITY_ITEMS + 5;
    sf_spike *spikes = calloc(many, sizeof *spikes);
    now = send_run(&it, 0, 100);
    for (size_t i = 0; i < many; i++)
        spikes[i].time_ns = now + DAY;
    take(&it, &(sf_batch){.spikes = spikes, .spike_count = many, .clock_ns = NONE});
    assert_int_equal(sf_continuity_count(it.continuity).held, many);
    take(&it, &(sf_batch){.spikes = spikes, .spike_count = 10, .clock_ns = NONE});
    assert_int_equal(sf_continuity_count(it.continuity).held, 10);
    assert_outcome(&it, (outcome){.given = 100, .leaps = many + 10, .undone = 1});
    free(spikes);
    close_bench(&it);
}

/* ---- anything at once ---- */

#define MOST 20000

/* What a sender does, and what must come of each spike; spikes bear their number as amplitude. */
typedef struct model {
    test_random *random;
    int64_t clock_ns; /* of the sender */
    bool good[MOST];
    int64_t raw_ns[MOST];
    unsigned epoch[MOST], epochs;
    size_t sent;
    uint64_t bad, steps;
} model;

static int64_t below(model *m, int64_t most)
{
    return (int64_t)test_random_below(m->random, (uint64_t)most);
}

static sf_spike number(model *m, int64_t time_ns, bool good)
{
    m->good[m->sent] = good;
    m->raw_ns[m->sent] = time_ns;
    m->epoch[m->sent] = m->epochs;
    m->bad += !good;
    return (sf_spike){.time_ns = time_ns, .unit = (uint32_t)below(m, UNITS), .amplitude = (float)m->sent++};
}

/* A time stamp that was never meant: not within days of anything that was. */
static int64_t broken(model *m)
{
    switch (below(m, 4)) {
    case 0:
        return INT64_MAX - below(m, 1000);
    case 1:
        return (INT64_C(1) << 62) + below(m, INT64_C(1) << 61);
    case 2:
        return m->clock_ns + (100 + below(m, 10000)) * DAY;
    default:
        return m->clock_ns - (100 + below(m, 10000)) * DAY;
    }
}

/* Sends a frame of the sender's next moments, in which some stamps may be broken. */
static void send_frame(bench *it, model *m, bool clean, uint64_t restarts)
{
    sf_spike spikes[16];
    size_t count = 0;
    int64_t step = 1 + below(m, 50 * SF_MILLISECOND);
    bool only_broken = !clean && below(m, 8) == 0;
    for (int64_t n = only_broken ? 0 : clean + below(m, 5), at = m->clock_ns; n > 0; n--) {
        at += 1 + below(m, step / 6 + 1);
        spikes[count++] = number(m, at, true);
        step = at - m->clock_ns + 1 > step ? at - m->clock_ns + 1 : step;
    }
    m->clock_ns += only_broken ? 0 : step;
    int64_t clock = m->clock_ns;
    if (!clean && (only_broken || below(m, 4) == 0)) {
        int64_t bad = broken(m);
        for (int64_t copies = 1 + below(m, 2); copies > 0; copies--)
            spikes[count++] = number(m, bad, false);
        clock =
            only_broken || below(m, 2) == 0 ? bad : clock; /* a natural sender's clock is its newest spike */
    }
    it->now_ns += step;
    take(it, &(sf_batch){.spikes = spikes, .spike_count = count, .clock_ns = clock, .restarts = restarts});
}

static void change_clock(bench *it, model *m)
{
    int64_t kind = below(m, 3);
    if (kind == 0) {
        m->clock_ns += LEAP + SF_SECOND + below(m, DAY);
        m->steps++;
    } else {
        m->clock_ns = kind == 1 ? 0 : m->clock_ns - LEAP - SF_SECOND - below(m, DAY);
        m->epochs++;
    }
    if (kind == 1) take(it, &(sf_batch){.clock_ns = 0, .restarts = 1});
    for (int i = 0; i < 4; i++) /* and goes on from there */
        send_frame(it, m, true, 0);
}

/* In each epoch what was meant comes out in its own order, all shifted alike. */
static void check(const bench *it, const model *m)
{
    static bool seen[MOST];
    int64_t shift[64] = {0};
    bool known[64] = {false};
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < it->count; i++) {
        size_t n = (size_t)it->spikes[i].amplitude;
        assert_true(n < m->sent && m->good[n] && !seen[n]);
        seen[n] = true;
        unsigned epoch = m->epoch[n];
        int64_t by = it->spikes[i].time_ns - m->raw_ns[n];
        assert_true(by % SF_MILLISECOND == 0 && (!known[epoch] || shift[epoch] == by));
        assert_true(epoch > 0 || by == 0);
        shift[epoch] = by;
        known[epoch] = true;
    }
    for (size_t n = 0; n < m->sent; n++)
        if (m->good[n] && !seen[n])
            fail_msg("spike %zu of epoch %u, time %lld, is missing", n, m->epoch[n], (long long)m->raw_ns[n]);
}

static void every_spike_is_in_its_place_or_counted(void **state)
{
    (void)state;
    test_random random = test_random_start("continuity", 44);
    static model m;
    uint64_t bad = 0, steps = 0, epochs = 0;
    for (int round = 0; round < 300; round++) {
        bench it = open_bench(LEAP, 0);
        memset(&m, 0, sizeof m);
        m.random = &random;
        m.clock_ns = below(&m, 1000 * DAY);
        if (below(&m, 2) == 0) send_frame(&it, &m, false, 0);
        for (int i = 0; i < 4; i++)
            send_frame(&it, &m, true, 0);
        for (int frame = 0; frame < 200; frame++) {
            if (m.epochs + m.steps < 60 && below(&m, 40) == 0)
                change_clock(&it, &m);
            else
                send_frame(&it, &m, false, 0);
            if (below(&m, 2) == 0) send_frame(&it, &m, true, 0);
        }
        for (int i = 0; i < 4; i++)
            send_frame(&it, &m, true, 0);
        end(&it);
        check(&it, &m);
        sf_continuity_counts of = sf_continuity_count(it.continuity);
        assert_int_equal(of.leaps + of.late, m.bad);
        assert_int_equal(of.steps, m.steps);
        assert_int_equal(of.epochs, m.epochs);
        assert_int_equal(it.count + m.bad, m.sent);
        bad += m.bad;
        steps += m.steps;
        epochs += m.epochs;
        close_bench(&it);
    }
    assert_true(bad > 10000 && steps > 200 && epochs > 400);
}

static int hold_and_release(void *context)
{
    (void)context;
    sf_continuity *continuity;
    int status = sf_continuity_open(&continuity, &(sf_continuity_settings){.leap_ns = LEAP}, NULL);
    for (int64_t i = 0; status == SF_OK && i < 5; i++) {
        const sf_spike spikes[] = {{.time_ns = i}, {.time_ns = i + i % 2 * DAY}};
        const sf_marker markers[] = {{.time_ns = i}, {.time_ns = i + i % 2 * DAY}};
        sf_batch batch = {
            .spikes = spikes, .spike_count = 2, .markers = markers, .marker_count = 2, .clock_ns = i};
        status = sf_continuity_take(continuity, &batch, NULL);
        while (status == SF_OK && sf_continuity_next(continuity, &batch))
            ;
    }
    sf_continuity_close(continuity);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(hold_and_release, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_stamp_costs_itself),
        cmocka_unit_test(a_stamp_that_two_frames_repeat_is_not_believed),
        cmocka_unit_test(a_broken_clock_costs_nothing),
        cmocka_unit_test(the_first_frame_may_be_the_broken_one),
        cmocka_unit_test(a_short_stream_is_whole),
        cmocka_unit_test(a_step_that_the_stream_goes_on_from_is_followed),
        cmocka_unit_test(a_small_step_ahead_is_counted),
        cmocka_unit_test(a_backlog_is_no_step),
        cmocka_unit_test(a_frame_longer_than_a_leap_is_whole),
        cmocka_unit_test(a_small_step_back_is_joined_on),
        cmocka_unit_test(disorder_is_no_step_back),
        cmocka_unit_test(a_clock_that_begins_anew_is_joined_on),
        cmocka_unit_test(disorder_at_the_beginning_of_an_epoch_is_in_time),
        cmocka_unit_test(what_is_held_is_bounded),
        cmocka_unit_test(every_spike_is_in_its_place_or_counted),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
