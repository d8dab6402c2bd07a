/* SPDX-License-Identifier: Apache-2.0 */
/* Network bursts of a live run are those of a recording of the same spikes, and triggers wait for them. */
#include "support/support.h"

#include "mine/bursts.h"

#include <synfire/live.h>

#include <math.h>

#define MS 1000000LL

enum { UNITS = 5, MOST = 600 };

/* Spikes in clumps, so that bursts begin, follow each other at once, and end. */
static size_t make_spikes(test_random *random, sf_spike *spikes)
{
    size_t count = 1 + test_random_below(random, MOST - 1);
    int64_t now = (int64_t)test_random_below(random, 1000) * MS;
    for (size_t i = 0; i < count; i++) {
        bool pause = test_random_below(random, 12) == 0;
        now += (int64_t)test_random_below(random, pause ? 400 : 12) * MS;
        spikes[i] = (sf_spike){now, (uint32_t)test_random_below(random, UNITS), NAN};
    }
    assert_int_equal(sf_spikes_sort(spikes, count, NULL), SF_OK);
    return count;
}

typedef struct heard {
    sf_burst_message begins[MOST], ends[MOST];
    int64_t began_ns[MOST], ended_ns[MOST];
    size_t begin_count, end_count;
    int64_t first_ns[MOST], sixth_ns[MOST], over_ns[MOST]; /* triggers */
    size_t first_count, sixth_count, over_count;
    uint64_t in_bins; /* spikes of bursts by the features */
} heard;

static void hear(heard *all, const sf_message *message)
{
    if (message->topic == SF_TOPIC_FEATURES) {
        assert_int_equal(message->features.count, 2);
        all->in_bins += message->features.values[1];
    } else if (message->topic == SF_TOPIC_BURST && strcmp(message->burst.event, "begin") == 0) {
        all->began_ns[all->begin_count] = message->time_ns;
        all->begins[all->begin_count++] = message->burst;
    } else if (message->topic == SF_TOPIC_BURST) {
        assert_int_equal(all->begin_count, all->end_count + 1); /* they take turns */
        all->ended_ns[all->end_count] = message->time_ns;
        all->ends[all->end_count++] = message->burst;
    } else if (message->topic == SF_TOPIC_TRIGGER && strcmp(message->trigger.name, "first") == 0)
        all->first_ns[all->first_count++] = message->time_ns;
    else if (message->topic == SF_TOPIC_TRIGGER && strcmp(message->trigger.name, "sixth") == 0)
        all->sixth_ns[all->sixth_count++] = message->time_ns;
    else if (message->topic == SF_TOPIC_TRIGGER)
        all->over_ns[all->over_count++] = message->time_ns;
}

static void run(heard *all, const sf_spike *spikes, size_t count, const sf_live_bursts *bursts,
                test_random *random)
{
    static const sf_live_unit units[UNITS] = {
        {.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}};
    const sf_live_source source = {.units = units, .unit_count = UNITS, .virtual_clock = true};
    sf_live_trigger triggers[3] = {SF_LIVE_TRIGGER_DEFAULTS, SF_LIVE_TRIGGER_DEFAULTS,
                                   SF_LIVE_TRIGGER_DEFAULTS};
    triggers[0].on = triggers[1].on = SF_LIVE_ON_BURST;
    triggers[2].on = SF_LIVE_ON_BURST_END;
    triggers[0].name = "first";
    triggers[1].name = "sixth";
    triggers[2].name = "over";
    triggers[1].spike = 6;
    sf_live_options options = sf_live_options_default();
    options.window.length_s = options.window.hop_s = 1;
    options.mine.every = 0;
    options.graph.enabled = false;
    options.significance.kind = 0;
    options.bursts = *bursts;
    options.features = (sf_live_features){.bin_ms = 20, .units = (const char *const[]){"a"}, .unit_count = 1};
    options.triggers = triggers;
    options.trigger_count = 3;
    options.sources = &source;
    options.source_count = 1;
    options.topics = 1u << SF_TOPIC_BURST | 1u << SF_TOPIC_TRIGGER | 1u << SF_TOPIC_FEATURES;
    options.queue = 4096;
    sf_live *live;
    sf_error error;
    if (sf_live_open(&live, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    for (size_t done = 0; done < count;) {
        size_t part = 1 + test_random_below(random, 40);
        part = part < count - done ? part : count - done;
        int64_t watermark_ns = done + part < count ? spikes[done + part].time_ns : INT64_MAX;
        int status = sf_live_push(live, 0, spikes + done, part, watermark_ns, &error);
        assert_true(status == SF_OK || status == SF_AGAIN);
        done += status == SF_OK ? part : 0;
    }
    sf_message *message;
    int status;
    while ((status = sf_live_next(live, &message, 1000, &error)) != SF_END)
        if (status == SF_OK) {
            hear(all, message);
            sf_message_release(message);
        }
    assert_int_equal(sf_live_close(live, &error), SF_OK);
}

static size_t spike_at(const sf_spike *spikes, size_t count, int64_t time_ns)
{
    return sf_spikes_lower_bound(spikes, count, time_ns);
}

static void check(const heard *all, const sf_bursts *expected, const sf_spike *spikes, size_t count,
                  const sf_live_bursts *rule)
{
    size_t sixth = 0;
    uint64_t from_known_on = 0;
    assert_int_equal(all->end_count, expected->count);
    assert_int_equal(all->begin_count, expected->count);
    assert_int_equal(all->first_count, expected->count);
    assert_int_equal(all->over_count, expected->count);
    for (size_t b = 0; b < expected->count; b++) {
        const sf_burst_message *end = &all->ends[b];
        from_known_on += end->spikes - all->begins[b].spikes + 1;
        assert_int_equal(end->burst, b);
        assert_int_equal(end->first_ns, expected->items[b].start_ns);
        assert_int_equal(end->last_ns, expected->items[b].stop_ns - 1);
        assert_int_equal(end->spikes, expected->members[b].spikes);
        assert_int_equal(end->units, expected->members[b].units); /* all are active */
        assert_int_equal(all->begins[b].burst, b);
        assert_int_equal(all->begins[b].first_ns, end->first_ns);
        assert_in_range(all->begins[b].spikes, rule->spikes, end->spikes);
        assert_int_equal(all->first_ns[b], all->began_ns[b]);
        assert_int_equal(all->over_ns[b], all->ended_ns[b]);
        assert_true(all->ended_ns[b] >= end->last_ns &&
                    all->ended_ns[b] <= end->last_ns + (int64_t)(rule->within_ms * 1e6));
        if (end->spikes >= 6) {
            size_t first = spike_at(spikes, count, end->first_ns);
            int64_t due_ns = all->sixth_ns[sixth++];
            assert_true(due_ns >= spikes[first + 5].time_ns || due_ns == all->began_ns[b]);
            assert_true(due_ns >= all->began_ns[b] && due_ns <= all->ended_ns[b]);
        }
    }
    assert_int_equal(all->sixth_count, sixth);
    assert_int_equal(all->in_bins, from_known_on);
}

static void live_bursts_are_those_of_the_recording(void **state)
{
    (void)state;
    test_random random = test_random_start("live bursts", 81);
    static sf_spike spikes[MOST];
    size_t bursts = 0, none = 0;
    for (int round = 0; round < test_rounds(40); round++) {
        heard *all = calloc(1, sizeof *all);
        size_t count = make_spikes(&random, spikes);
        sf_unit units[UNITS] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}};
        const sf_live_bursts live = {2 + (uint32_t)test_random_below(&random, 6),
                                     (double)(1 + test_random_below(&random, 40)), true};
        sf_network_rule rule = SF_NETWORK_RULE;
        rule.active_hz = 0;
        rule.method = SF_NETWORK_ISI_N;
        rule.spikes = live.spikes;
        rule.within_ns = (int64_t)(live.within_ms * 1e6);
        const sf_recording recording = {.units = {.items = units, .count = UNITS},
                                        .spikes = spikes,
                                        .spike_count = count,
                                        .recorded = {spikes[0].time_ns, spikes[count - 1].time_ns + 1}};
        sf_bursts expected;
        assert_int_equal(sf_bursts_find(&expected, &recording, &rule, NULL), SF_OK);
        run(all, spikes, count, &live, &random);
        check(all, &expected, spikes, count, &live);
        bursts += expected.count;
        none += expected.count == 0;
        sf_bursts_free(&expected);
        free(all);
    }
    assert_true(bursts > 100 && none < 30);
}

static void triggers_on_bursts_need_them(void **state)
{
    (void)state;
    static const sf_live_unit units[] = {{.name = "a"}};
    const sf_live_source source = {.units = units, .unit_count = 1, .virtual_clock = true};
    sf_live_trigger trigger = SF_LIVE_TRIGGER_DEFAULTS;
    trigger.name = "x";
    trigger.on = SF_LIVE_ON_BURST;
    sf_live_options options = sf_live_options_default();
    options.sources = &source;
    options.source_count = 1;
    options.triggers = &trigger;
    options.trigger_count = 1;
    sf_live *live;
    sf_error error;
    test_assert_fails(sf_live_open(&live, &options, &error), &error, SF_CONFIG, "bursts.within_ms");
    options.trigger_count = 0;
    options.features.bin_ms = 10;
    options.bursts.in_features = true;
    test_assert_fails(sf_live_open(&live, &options, &error), &error, SF_CONFIG, "set bursts.within_ms");
    options.trigger_count = 1;
    options.bursts.within_ms = 10;
    trigger.max_q = 0.05;
    test_assert_fails(sf_live_open(&live, &options, &error), &error, SF_CONFIG, "has no q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_bursts_are_those_of_the_recording),
        cmocka_unit_test(triggers_on_bursts_need_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
