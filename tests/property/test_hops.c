/* SPDX-License-Identifier: Apache-2.0 */
/* What the window path does between its hops, and how old it says that its list of episodes is. */
#include "support/support.h"

#include "core/clock.h"
#include "pipeline/hops.h"

enum { UNITS = 3, HOPS = 40 };

#define HOP_NS INT64_C(100000000)

typedef struct scene {
    sf_units units;
    sf_live_options config;
    sf_stream_info stream;
    sf_publisher publisher;
    sf_outlet outlet;
    sf_message *newest[SF_TOPIC_COUNT];
    int64_t now_ns;
    sf_hops hops;
} scene;

static void keep(void *self, sf_message *message)
{
    scene *s = self;
    sf_message_keep(message);
    sf_message_release(s->newest[message->topic]);
    s->newest[message->topic] = message;
}

static int add_nothing(void *user, const sf_hop_rates *rates, sf_status_message *status, sf_error *error)
{
    (void)user, (void)rates, (void)status, (void)error;
    return SF_OK;
}

static void open_scene(scene *s, bool virtual_clock, uint32_t every)
{
    static const sf_outlet_kind kind = {.publish = keep};
    sf_error error = {0};
    *s = (scene){.config = sf_live_options_default(), .outlet = {&kind, s}};
    for (uint32_t i = 0; i < UNITS; i++)
        assert_int_equal(sf_units_add(&s->units, &(sf_unit){.electrode = -1}, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&s->units, NULL), SF_OK);
    s->config.window.length_s = 0.2;
    s->config.window.hop_s = 0.1;
    s->config.device = "cpu";
    s->config.mine.every = every;
    s->config.mine.min_count = 5;
    s->config.mine.min_rate_hz = 0;
    s->config.mine.threads = 1;
    s->stream = (sf_stream_info){.name = "hops", .units = &s->units, .virtual_clock = virtual_clock};
    s->publisher.outlets = &s->outlet;
    s->publisher.outlet_count = 1;
    const sf_hops_options options = {.config = &s->config,
                                     .stream = &s->stream,
                                     .publisher = &s->publisher,
                                     .virtual_clock = virtual_clock,
                                     .sources = {.complete_status = add_nothing}};
    if (sf_hops_open(&s->hops, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
}

static void close_scene(scene *s)
{
    sf_hops_close(&s->hops);
    for (size_t i = 0; i < SF_TOPIC_COUNT; i++)
        sf_message_release(s->newest[i]);
    sf_units_free(&s->units);
}

/* The units one after the other, 1 ms apart. */
static void hop(scene *s)
{
    sf_spike spikes[HOP_NS / 1000000];
    size_t count = sizeof spikes / sizeof spikes[0];
    for (size_t i = 0; i < count; i++)
        spikes[i] = (sf_spike){.time_ns = s->now_ns + (int64_t)i * 1000000, .unit = (uint32_t)(i % UNITS)};
    s->now_ns += HOP_NS;
    assert_int_equal(sf_hops_feed(&s->hops, spikes, count, 1, NULL), SF_OK);
    assert_int_equal(sf_hops_advance(&s->hops, s->now_ns, NULL), SF_OK);
}

static bool go_on(scene *s)
{
    bool went_on;
    assert_int_equal(sf_hops_go_on(&s->hops, &went_on, NULL), SF_OK);
    return went_on;
}

/* As far as a list that was found and that no hop has prepared. */
static void find_list(scene *s)
{
    for (int i = 0; i < HOPS && !s->hops.tracked.preparing; i++) {
        s->hops.tracked.went_on = true; /* so that the hop does not */
        hop(s);
        while (atomic_load(&s->hops.found.background.state) == SF_BACKGROUND_BUSY)
            sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
    assert_true(s->hops.tracked.preparing);
}

static void a_list_is_prepared_between_hops(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, false, 2);
    find_list(&s);
    s.hops.rest_ns = 0; /* the next hop is near */
    assert_false(go_on(&s));
    assert_true(s.hops.tracked.preparing);
    s.hops.rest_ns = INT64_MAX;
    assert_true(go_on(&s));
    assert_true(s.hops.tracked.went_on);
    while (s.hops.tracked.preparing)
        assert_true(go_on(&s));
    assert_false(go_on(&s)); /* there is nothing to prepare */
    assert_true(s.hops.tracked.now.count > 0);
    hop(&s);
    assert_int_equal(s.newest[SF_TOPIC_EPISODES]->episodes.count, s.hops.tracked.now.count);
    close_scene(&s);
}

static void a_hop_prepares_where_nothing_between_them_did(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, false, 2);
    find_list(&s);
    s.hops.tracked.went_on = false;
    for (int i = 0; i < HOPS && s.hops.tracked.preparing; i++)
        hop(&s);
    assert_true(s.hops.tracked.now.count > 0);
    close_scene(&s);
}

/* On a virtual clock lists come as they are asked for. */
static void messages_tell_how_old_the_list_is(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, true, 3);
    int lists = 0;
    for (int i = 0; i < 12; i++) {
        hop(&s);
        if (s.newest[SF_TOPIC_EPISODES] == NULL) continue;
        uint64_t number = s.newest[SF_TOPIC_EPISODES]->episodes.hop;
        double age_s = (double)((number + 1) % 3) * 0.1,
               told_s = s.newest[SF_TOPIC_EPISODES]->episodes.list_age_s;
        const sf_status_message *status = &s.newest[SF_TOPIC_STATUS]->status;
        lists += (number + 1) % 3 == 0;
        assert_true(lists > 0 ? fabs(told_s - age_s) < 1e-9 : isnan(told_s));
        assert_true(lists > 0 ? status->list_age_s == told_s : isnan(status->list_age_s));
        assert_true(lists > 1 ? fabs(status->list_every_s - 0.3) < 1e-9 : isnan(status->list_every_s));
        assert_int_equal(status->lists_missed, 0);
    }
    assert_true(lists > 2);
    assert_false(go_on(&s));
    close_scene(&s);
}

/* A window that came too early is replaced by the first that does not; one that comes before that is missed.
 */
static void a_late_window_is_mined_as_soon_as_may_be(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, true, 1000);
    sf_discovery *found = &s.hops.found;
    for (int i = 0; i < 3; i++)
        hop(&s);
    assert_false(sf_discovery_may_start_late(found));
    atomic_store(&found->background.state, SF_BACKGROUND_DONE); /* and not taken */
    assert_false(sf_discovery_may_start(found));
    assert_int_equal(found->missed, 0);
    assert_false(sf_discovery_may_start(found));
    assert_int_equal(found->missed, 1);
    assert_false(sf_discovery_may_start_late(found));
    atomic_store(&found->background.state, SF_BACKGROUND_IDLE);
    assert_true(sf_discovery_may_start_late(found));
    assert_true(isnan(s.newest[SF_TOPIC_EPISODES]->episodes.list_age_s));
    hop(&s); /* none that is asked for */
    assert_false(found->late);
    assert_true(s.newest[SF_TOPIC_EPISODES]->episodes.list_age_s == 0);
    assert_int_equal(s.newest[SF_TOPIC_STATUS]->status.lists_missed, 1);
    close_scene(&s);
}

/* A graph that nothing is asked of is not laid out for searches. */
static void a_graph_without_questions_is_not_searched(void **state)
{
    (void)state;
    for (uint32_t hops = 0; hops < 2; hops++) {
        scene s;
        open_scene(&s, true, 0);
        s.config.graph.reach_all = hops;
        for (int i = 0; i < 5; i++)
            hop(&s);
        assert_true(s.newest[SF_TOPIC_GRAPH]->graph.edges > 0);
        assert_int_equal(s.newest[SF_TOPIC_GRAPH]->graph.unit_count, UNITS);
        assert_true((s.hops.times.ns[SF_PART_REACH] > 0) == (hops > 0));
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_prepared_between_hops),
        cmocka_unit_test(a_hop_prepares_where_nothing_between_them_did),
        cmocka_unit_test(messages_tell_how_old_the_list_is),
        cmocka_unit_test(a_late_window_is_mined_as_soon_as_may_be),
        cmocka_unit_test(a_graph_without_questions_is_not_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
