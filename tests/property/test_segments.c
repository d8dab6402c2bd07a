/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting in segments: the state machines of mine/shared/machine.h joined over cuts in the worst places,
 * between spikes at one instant and inside occurrences, and the engines that cut, on streams whose spikes
 * crowd where they do.
 */
#include "support/support.h"

#include "core/backend/find.h"
#include "mine/engine.h"
#include "mine/mine.h"
#include "mine/shared/machine.h"
#include "oracle/count_oracle.h"

#define MOST_SEGMENTS 64u
#define UNITS 3u
#define HIGH 4 /* the longest delay there may be */

/* ---- machines ---- */

typedef struct cut_stream {
    const sf_episode *episode;
    sf_events events;
    int64_t longest, span;
    uint32_t segments, bounds[MOST_SEGMENTS + 1], past[MOST_SEGMENTS];
    sf_mark *marks;
} cut_stream;

static uint32_t position_at(const cut_stream *c, int64_t time)
{
    uint32_t p = 0;
    while (p < c->events.count && c->events.times[p] < time)
        p++;
    return p;
}

static sf_machine make_machine(const cut_stream *c)
{
    sf_machine m = {.size = c->episode->size,
                    .times = c->events.times,
                    .stride = 1,
                    .marks = c->marks,
                    .room = c->events.count,
                    .spread = 1};
    for (uint32_t node = 0; node < m.size; node++) {
        const uint32_t *positions = c->events.positions, *first = c->events.first;
        uint32_t unit = c->episode->units[node];
        m.trains[node] = (sf_train_view){positions + first[unit], positions + first[unit + 1]};
        if (node > 0) m.delays[node - 1] = c->episode->delays[node - 1];
    }
    return m;
}

/* As many cuts as wanted, each at any position that leaves segments longer than the episode. */
static void cut_anywhere(cut_stream *c, test_random *random, uint32_t wanted)
{
    uint32_t count = c->events.count;
    c->segments = 1;
    c->bounds[0] = 0;
    for (uint32_t s = 1; s < wanted; s++) {
        uint32_t least = c->bounds[s - 1] + 1;
        while (least < count && c->events.times[least] - c->events.times[c->bounds[s - 1]] <= c->span)
            least++;
        if (least >= count || c->events.times[count - 1] - c->events.times[least] <= c->span) break;
        uint32_t room = (count - least) / (wanted - s + 1) + 1;
        uint32_t at = least + (uint32_t)test_random_below(random, room);
        if (c->events.times[count - 1] - c->events.times[at] <= c->span) at = least;
        c->bounds[c->segments++] = at;
    }
    c->bounds[c->segments] = count;
    for (uint32_t s = 0; s < c->segments; s++)
        c->past[s] =
            s + 1 < c->segments ? position_at(c, c->events.times[c->bounds[s + 1]] + c->span + 1) : count;
}

static uint32_t count_in_segments(const cut_stream *c)
{
    static sf_segment_count counts[MOST_SEGMENTS * SF_EPISODE_MAX_SIZE];
    uint32_t size = c->episode->size;
    for (uint32_t s = 0; s < c->segments; s++)
        for (uint32_t k = 0; k < size; k++) {
            sf_segment_count *own = &counts[s * size + k];
            *own = (sf_segment_count){SF_NO_POSITION, SF_NO_POSITION, 0};
            if (s == 0 && k > 0) continue;
            sf_machine m = make_machine(c);
            sf_chain_end done;
            uint32_t begin = c->bounds[s];
            sf_machine_begin(&m, k == 0 ? begin : position_at(c, c->events.times[begin] - k * c->longest));
            sf_machine_count(&m, begin, &done);
            *own = sf_machine_segment(&m, begin, c->bounds[s + 1], c->past[s]);
        }
    sf_machine fresh = make_machine(c);
    uint32_t recounted;
    return sf_machine_join(&fresh, counts, c->bounds, c->past, c->segments, &recounted);
}

static void joined_segments_count_the_stream(void **state)
{
    (void)state;
    test_random random = test_random_start("segments", 51);
    uint64_t total = 0, cuts = 0, in_ties = 0;
    for (int round = 0; round < 300; round++) {
        sf_episode episode = test_random_episode(&random, 5, UNITS, HIGH);
        if (episode.size < 2) continue;
        cut_stream c = {.episode = &episode};
        for (uint32_t i = 0; i + 1 < episode.size; i++)
            c.longest = episode.delays[i].high_ns > c.longest ? episode.delays[i].high_ns : c.longest;
        c.span = c.longest * episode.size;
        sf_spike *spikes;
        int64_t last = 20 + (int64_t)test_random_below(&random, 70 * (uint64_t)c.span);
        size_t count =
            test_random_stream(&random, &spikes, 10 + test_random_below(&random, 1500), UNITS, last);
        assert_int_equal(sf_events_open(&c.events, spikes, count, UNITS, NULL, NULL), SF_OK);
        c.marks = calloc((size_t)episode.size * count, sizeof *c.marks);
        uint64_t expected = oracle_count(spikes, count, &episode);
        for (uint32_t wanted = 1; wanted <= MOST_SEGMENTS;
             wanted += 1 + (uint32_t)test_random_below(&random, 9)) {
            cut_anywhere(&c, &random, wanted);
            uint32_t found = count_in_segments(&c);
            if (found != expected)
                fail_msg("%u segments count %u, expected %llu", c.segments, found,
                         (unsigned long long)expected);
            cuts += c.segments - 1;
            for (uint32_t s = 1; s < c.segments; s++)
                in_ties += c.events.times[c.bounds[s]] == c.events.times[c.bounds[s] - 1];
        }
        total += expected;
        sf_events_close(&c.events);
        free(c.marks);
        free(spikes);
    }
    assert_true(total > 5000 && cuts > 10000 && in_ties > cuts / 4);
}

/* ---- engines ---- */

/* Engines cut time evenly: spikes crowd at and around each multiple of `step`, many at one instant. */
static size_t make_crowded_stream(test_random *random, sf_spike **spikes, uint32_t segments, int64_t step)
{
    size_t count = test_random_stream(random, spikes, 12 * segments, UNITS, 12 * segments);
    for (size_t i = 0; i < count; i++) {
        int64_t time = (*spikes)[i].time_ns;
        (*spikes)[i].time_ns = time / 12 * step + time % 12 - 6; /* keeps the order, since step > 12 */
    }
    /* So that the stream is as long as its segments together, and cuts fall on the crowds. */
    (*spikes)[0].time_ns = -6 < (*spikes)[0].time_ns ? -6 : (*spikes)[0].time_ns;
    return count;
}

#define EPISODES 24

static uint64_t compare_engine(const char *engine, const char *device, unsigned threads,
                               const sf_spike *spikes, size_t count, const sf_episode *episodes)
{
    uint64_t counts[EPISODES], total = 0;
    sf_counter *counter;
    assert_int_equal(
        sf_counter_open(&counter, spikes, count, UNITS, episodes, EPISODES, engine, threads, NULL), SF_OK);
    assert_int_equal(sf_counter_use(counter, device, NULL), SF_OK);
    assert_int_equal(sf_counter_count(counter, NULL, counts, NULL), SF_OK);
    for (size_t i = 0; i < EPISODES; i++) {
        uint64_t expected = oracle_count(spikes, count, &episodes[i]);
        if (counts[i] != expected)
            fail_msg("%s on %s, %u threads, episode %zu: %llu, expected %llu", engine, device, threads, i,
                     (unsigned long long)counts[i], (unsigned long long)expected);
        total += expected;
    }
    sf_counter_close(counter);
    return total;
}

static void engines_that_cut_count_the_stream(void **state)
{
    (void)state;
    static const char *const engines[] = {"mtpe", "hybrid", "two-pass", "interval"};
    test_random random = test_random_start("crowds", 52);
    uint64_t total = 0;
    uint32_t devices = sf_device_count();
    for (unsigned threads = 1; threads <= MOST_SEGMENTS / 2; threads++) {
        sf_spike *spikes;
        size_t count = make_crowded_stream(&random, &spikes, 2 * threads, 5 * HIGH + 1);
        sf_episode episodes[EPISODES];
        for (size_t i = 0; i < EPISODES; i++)
            episodes[i] = test_random_episode(&random, 5, UNITS, HIGH);
        for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
            total += compare_engine(engines[e], "cpu", threads, spikes, count, episodes);
            for (uint32_t d = 0; d < devices; d++)
                total +=
                    compare_engine(engines[e], sf_device_name(sf_device_at(d)), 1, spikes, count, episodes);
        }
        free(spikes);
    }
    assert_true(total > 10000);
    sf_devices_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_segments_count_the_stream),
        cmocka_unit_test(engines_that_cut_count_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
