/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of a hop: what they touch in real runs is what they declare, the schedule is what follows from
 * that, and by whichever schedule they run every sink is told the same.
 */
#include "support/runs.h"

#include "pipeline/hop.h"
#include "pipeline/schedule.h"
#include "plan/executor.h"
#include "replay/player.h"
#include "sinks/sink.h"

#include <time.h>

#define NO_STAGE SF_SCHEDULE_MOST

/* ---- runs with every stage at work ---- */

static const char everything[] =
    "window: {length_s: 2, hop_s: 0.5}\n"
    "device: cpu\n"
    "mine: {every: 2, delays_ms: '0:10', min_count: 12, max_size: 3, track_most: 30, threads: 3}\n"
    "track: ['e1 -(0,9]-> e2']\n"
    "watch: ['e1 -(0,9]-> e2', 'e2 -(0,9]-> e3']\n"
    "significance: {length_s: 1, surrogates: 20}\n"
    "graph: {reach: [{from: e1, hops: 2}], reach_all: 3, components: true, patterns: [{pattern: 'A -> B; B "
    "-> C'}],"
    " census: true, rewired: 2}\n"
    "triggers: [{on: rule, name: state, rule: r}, {on: rule, name: busy, rule: r, label: busy, delay_ms: 30},"
    " {on: trigger, name: control, follows: busy, delay_ms: 100, delay_to_ms: 400}]\n"
    "density: [{quantity: isi, unit: e1}, {quantity: rate, unit: '*'}, {quantity: delay, episode: '*'}]\n";

static const char *const labels[] = {"quiet", "busy", "wild"};
static const double thresholds[] = {42, 50};
static const sf_live_rule rules[] = {{.name = "r",
                                      .episode = "e2 -(0,5]-> e4",
                                      .window_s = 2,
                                      .labels = labels,
                                      .thresholds = thresholds,
                                      .label_count = 3}};

static sf_recording make_recording(void)
{
    test_random random = test_random_start("stages", 81);
    return test_random_recording(&random, 6000, 6, INT64_C(12000000000), 1000);
}

/* On a virtual clock, or as fast as a replay goes. */
static test_collector *run_all(const sf_recording *recording, double speed, sf_live_schedule schedule,
                               const sf_hop_recorder *recorder)
{
    sf_error error = {0};
    sf_config config = test_config(everything);
    sf_input input = {.ring = SF_PLAYER_RING, .policy = SF_RING_BLOCK};
    sf_pipeline *pipeline;
    test_collector *all = test_collector_new();
    config.live.rules = rules;
    config.live.rule_count = 1;
    config.live.schedule = schedule;
    assert_int_equal(sf_player_open(&input.source, recording, speed, &error), SF_OK);
    const sf_pipeline_options options = {
        .live = &config.live, .sources = &input, .source_count = 1, .recorder = recorder, .worth_ns = -1};
    if (sf_pipeline_open(&pipeline, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(sf_pipeline_attach(pipeline, test_outlet(all), &error), SF_OK);
    assert_int_equal(sf_pipeline_start(pipeline, &error), SF_OK);
    while (!sf_pipeline_wait(pipeline, 100))
        ;
    if (sf_pipeline_close(pipeline, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    sf_config_free(&config);
    return all;
}

/* ---- what they touch ---- */

/* How often each stage of an order did what to which element. */
typedef struct touches {
    const sf_stage *const *stages;
    atomic_uint count[SF_SCHEDULE_MOST][SF_HOP_ELEMENTS][SF_PLAN_OPERATIONS];
} touches;

static void record(void *user, const sf_stage *stage, sf_hop_element element, sf_plan_operation operation)
{
    touches *into = user;
    size_t number = 0;
    while (into->stages[number] != stage)
        number++;
    atomic_fetch_add(&into->count[number][element][operation], 1);
}

static bool is_declared(const sf_plan_step *step, uint32_t element, sf_plan_operation operation)
{
    for (int out = 0; out < 2; out++) {
        const sf_plan_accesses *accesses = out ? &step->out : &step->in;
        for (size_t i = 0; i < accesses->count; i++)
            if (accesses->items[i].element.tree == element && accesses->items[i].operation == operation)
                return true;
    }
    return false;
}

static const sf_plan_step *step_of(const sf_plan_algorithm *algorithm, const sf_stage *stage)
{
    const sf_plan_step *step = algorithm->steps;
    while (strcmp(step->name, stage->name) != 0)
        step++;
    return step;
}

/* Holds touches against declarations: an access that was made and is not declared, or that is declared and
 * was never made; "" where there is none. */
static void differ(char *found, size_t size, const touches *made, const sf_plan_algorithm *algorithm)
{
    found[0] = '\0';
    for (size_t i = 0; made->stages[i] != NULL; i++)
        for (uint32_t element = 0; element < SF_HOP_ELEMENTS; element++)
            for (int operation = 0; operation < SF_PLAN_OPERATIONS; operation++) {
                const sf_plan_step *step = step_of(algorithm, made->stages[i]);
                bool declared = is_declared(step, element, (sf_plan_operation)operation);
                bool done = atomic_load(&made->count[i][element][operation]) > 0;
                if (declared != done && found[0] == '\0')
                    snprintf(found, size, "%s: %s %s, %s", step->name, algorithm->trees.items[element],
                             sf_plan_operation_name((sf_plan_operation)operation),
                             done ? "not declared" : "never done");
            }
}

static void stages_touch_what_they_declare_and_all_of_it(void **state)
{
    (void)state;
    sf_recording recording = make_recording();
    for (int way = 0; way < 4; way++) {
        bool virtual_clock = way / 2 == 0;
        touches *made = calloc(1, sizeof *made);
        made->stages = sf_hop_stages(virtual_clock);
        const sf_hop_recorder recorder = {record, made};
        sf_plan_algorithm algorithm;
        char found[160] = "never done";
        assert_int_equal(sf_schedule_describe(&algorithm, made->stages, NULL), SF_OK);
        /* In real time a slow machine may be behind with what goes on in the background: then all of it is
         * run again. */
        for (int speed = 100; speed > 0 && strstr(found, "never done") != NULL; speed /= 4) {
            test_collector_free(run_all(&recording, virtual_clock ? 0 : speed,
                                        way % 2 ? SF_LIVE_SEQUENTIAL : SF_LIVE_DERIVED, &recorder));
            differ(found, sizeof found, made, &algorithm);
            if (virtual_clock) break;
        }
        assert_string_equal(found, "");

        /* Without any one of the declarations it would not be so. */
        size_t tried = 0;
        for (size_t i = 0; made->stages[i] != NULL; i++)
            for (int out = 0; out < 2; out++) {
                const sf_plan_step *step = step_of(&algorithm, made->stages[i]);
                sf_plan_accesses *accesses = (sf_plan_accesses *)(out ? &step->out : &step->in);
                for (size_t k = 0; k < accesses->count; k++, tried++) {
                    const sf_plan_access left_out = accesses->items[k];
                    char expected[160];
                    accesses->items[k].element.tree = SF_HOP_ELEMENTS;
                    differ(found, sizeof found, made, &algorithm);
                    snprintf(expected, sizeof expected, "%s: %s %s, not declared", step->name,
                             algorithm.trees.items[left_out.element.tree],
                             sf_plan_operation_name(left_out.operation));
                    assert_string_equal(found, expected);
                    accesses->items[k] = left_out;
                }
            }
        assert_true(tried > 40);
        sf_plan_algorithm_free(&algorithm);
        free(made);
    }
    sf_recording_clear(&recording);
}

/* So the stages alone decide what waits, whatever their loops do. */
static void rounds_touch_no_more_than_their_stage(void **state)
{
    (void)state;
    sf_plan_algorithm algorithm;
    size_t loops = 0;
    assert_int_equal(sf_schedule_describe(&algorithm, sf_hop_stages(false), NULL), SF_OK);
    for (size_t i = 0; i + 2 < algorithm.step_count; i++) {
        if (algorithm.steps[i + 1].kind == SF_PLAN_FUNCTION) continue;
        const sf_plan_step *stage = &algorithm.steps[i], *round = &algorithm.steps[i + 2];
        for (int out = 0; out < 2; out++) {
            const sf_plan_accesses *of_stage = out ? &stage->out : &stage->in,
                                   *of_round = out ? &round->out : &round->in;
            for (size_t k = 0; k < of_round->count; k++) {
                bool within = false;
                for (size_t n = 0; n < of_stage->count; n++)
                    within = within || of_stage->items[n].element.tree == of_round->items[k].element.tree;
                for (size_t n = 0; n < stage->out.count; n++) /* what it changes it may read */
                    within = within || stage->out.items[n].element.tree == of_round->items[k].element.tree;
                if (!within)
                    fail_msg("%s touches %s", round->name,
                             algorithm.trees.items[of_round->items[k].element.tree]);
            }
        }
        loops++;
    }
    assert_int_equal(loops, 7);
    sf_plan_algorithm_free(&algorithm);
}

/* ---- what follows ---- */

static bool waits_for(const sf_schedule *schedule, const sf_stage *stage, const sf_stage *before)
{
    return (schedule->after[sf_schedule_find(schedule, stage)] >> sf_schedule_find(schedule, before) & 1) !=
           0;
}

static void stages_wait_for_what_they_need_and_for_nothing_else(void **state)
{
    (void)state;
    for (int virtual_clock = 0; virtual_clock < 2; virtual_clock++) {
        sf_schedule schedule, sequential;
        const sf_stage *const *stages = sf_hop_stages(virtual_clock);
        assert_int_equal(sf_schedule_derive(&schedule, stages, false, NULL), SF_OK);
        assert_int_equal(sf_schedule_derive(&sequential, stages, true, NULL), SF_OK);
        assert_true(schedule.width >= 3 && sequential.width == 1);
        for (size_t i = 0; i < sequential.count; i++)
            assert_int_equal(sequential.after[i], (1u << i) - 1);

        const sf_stage *free_of_each_other[] = {&sf_stage_test, &sf_stage_density, &sf_stage_mine,
                                                &sf_stage_count};
        for (size_t i = 0; i < 4; i++)
            for (size_t k = 0; k < 4; k++)
                assert_true(i == k || !waits_for(&schedule, free_of_each_other[i], free_of_each_other[k]));
        assert_false(waits_for(&schedule, &sf_stage_slide, &sf_stage_take));
        assert_false(waits_for(&schedule, &sf_stage_density, &sf_stage_graph));
        assert_false(waits_for(&schedule, &sf_stage_graph, &sf_stage_tell));
        assert_false(waits_for(&schedule, &sf_stage_graph, &sf_stage_count));
        assert_false(waits_for(&schedule, &sf_stage_pairs, &sf_stage_test));
        assert_true(waits_for(&schedule, &sf_stage_tell, &sf_stage_count));
        assert_true(waits_for(&schedule, &sf_stage_tell, &sf_stage_test));
        assert_true(waits_for(&schedule, &sf_stage_graph, &sf_stage_test));
        assert_true(waits_for(&schedule, &sf_stage_graph, &sf_stage_pairs));
        assert_true(waits_for(&schedule, &sf_stage_mine, &sf_stage_pairs));
        assert_false(waits_for(&schedule, &sf_stage_mine, &sf_stage_graph));
        assert_true(waits_for(&schedule, &sf_stage_track, &sf_stage_mine));
        assert_true(waits_for(&schedule, &sf_stage_begin, &sf_stage_graph));
        assert_true(virtual_clock ? waits_for(&schedule, &sf_stage_count, &sf_stage_track)
                                  : waits_for(&schedule, &sf_stage_track, &sf_stage_tell));
        for (size_t i = 0; stages[i] != NULL; i++)
            if (stages[i]->run == sf_stage_density.run || stages[i] == &sf_stage_graph)
                assert_true(waits_for(&schedule, &sf_stage_drop, stages[i]) &&
                            waits_for(&schedule, &sf_stage_report, stages[i]));
        assert_true(schedule.reads_sinks[sf_schedule_find(&schedule, &sf_stage_report)]);
        assert_true(schedule.apart[sf_schedule_find(&schedule, &sf_stage_count)]);
        assert_true(schedule.apart[sf_schedule_find(&schedule, &sf_stage_mine)]);
        assert_false(schedule.apart[sf_schedule_find(&schedule, &sf_stage_tell)]);
    }
}

/* The schedule is the declarations' and nobody else's. */
static void another_declaration_is_another_schedule(void **state)
{
    (void)state;
    sf_stage density = sf_stage_density, count = sf_stage_count;
    const sf_stage *stages[] = {&sf_stage_feed, &sf_stage_graph, &density, &count, NULL};
    sf_schedule schedule;
    assert_int_equal(sf_schedule_derive(&schedule, stages, false, NULL), SF_OK);
    assert_int_equal(schedule.after[2], 1);
    assert_int_equal(schedule.after[3], 1);
    assert_true(schedule.apart[3]);

    density.in = "history extract; graph extract";
    count.rounds.out = "counts assign"; /* all rounds the same one */
    assert_int_equal(sf_schedule_derive(&schedule, stages, false, NULL), SF_OK);
    assert_int_equal(schedule.after[2], 3);
    assert_false(schedule.apart[3]);

    sf_error error;
    density.in = "histories extract";
    test_assert_fails(sf_schedule_derive(&schedule, stages, false, &error), &error, SF_INTERNAL,
                      "'histories': an element begins with the name of its tree");
}

/* ---- at once ---- */

typedef struct meeting {
    atomic_bool mining, following, met;
} meeting;

static void wait_until(atomic_bool *there)
{
    for (int i = 0; i < 30000 && !atomic_load(there); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Each of two stages waits for the other within its first hop. */
static void meet(void *user, const sf_stage *stage, sf_hop_element element, sf_plan_operation operation)
{
    meeting *at = user;
    (void)element;
    (void)operation;
    if (stage != &sf_stage_graph && stage != &sf_stage_density) return;
    bool follows = stage == &sf_stage_density;
    if (atomic_exchange(follows ? &at->following : &at->mining, true)) return;
    wait_until(follows ? &at->mining : &at->following);
    if (atomic_load(&at->mining) && atomic_load(&at->following)) atomic_store(&at->met, true);
}

static void the_graph_and_the_densities_are_at_work_at_once(void **state)
{
    (void)state;
    sf_recording recording = make_recording();
    meeting at = {0};
    const sf_hop_recorder recorder = {meet, &at};
    time_t began = time(NULL);
    test_collector_free(run_all(&recording, 0, SF_LIVE_DERIVED, &recorder));
    assert_true(atomic_load(&at.met));
    assert_true(time(NULL) - began < 25); /* else one had given up waiting for the other, and then came it */
    sf_recording_clear(&recording);
}

/* ---- what is told ---- */

/* Both encodings, without what a clock or the moment decides (docs/messages.md). */
static void encode(sf_text told[2], sf_message *message, const sf_stream_info *stream)
{
    sf_message timeless = *message;
    timeless.arrival_ns = 0;
    if (message->topic == SF_TOPIC_STATUS) {
        timeless.status.discovery_ms = timeless.status.test_ms = timeless.status.test_share = 0;
        timeless.status.spikes = 0;
        timeless.status.run_s = 0;
        timeless.status.window_fill = 0;
        timeless.status.latency = (sf_took){0};
        timeless.status.trigger_count = 0;
        timeless.status.stage_count = timeless.status.source_count = timeless.status.sink_count = 0;
    }
    sf_message_to_json(&told[0], &timeless, stream);
    sf_message_to_msgpack(&told[1], &timeless, stream);
}

/* Message k of a topic; NULL: there are not so many. */
static sf_message *message_of(const test_collector *all, sf_topic topic, size_t k)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->messages[i]->topic == topic && k-- == 0) return all->messages[i];
    return NULL;
}

/* Those of a hop are in one order in all; decisions on triggers come when they are made. */
static void same_order(const test_collector *one, const test_collector *other)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < one->count && one->messages[i]->topic == SF_TOPIC_DECISION)
            i++;
        while (k < other->count && other->messages[k]->topic == SF_TOPIC_DECISION)
            k++;
        if (i == one->count || k == other->count) break;
        assert_int_equal(one->messages[i]->topic, other->messages[k]->topic);
    }
    assert_int_equal(one->count - i, other->count - k);
}

static void both_schedules_tell_every_sink_the_same(void **state)
{
    (void)state;
    sf_recording recording = make_recording();
    sf_stream_info stream = {.name = "stages", .units = &recording.units};
    test_collector *runs[3];
    size_t told[SF_TOPIC_COUNT] = {0};
    for (int i = 0; i < 3; i++) {
        runs[i] = run_all(&recording, 0, i == 0 ? SF_LIVE_SEQUENTIAL : SF_LIVE_DERIVED, NULL);
        assert_int_equal(runs[i]->count, runs[0]->count);
        assert_int_equal(runs[i]->triggers, runs[0]->triggers);
        same_order(runs[0], runs[i]);
    }
    for (int topic = 0; topic < SF_TOPIC_COUNT; topic++)
        for (sf_message *first; (first = message_of(runs[0], (sf_topic)topic, told[topic])) != NULL;
             told[topic]++) {
            sf_text expected[2] = {0};
            encode(expected, first, &stream);
            for (int i = 1; i < 3; i++) {
                sf_text found[2] = {0};
                encode(found, message_of(runs[i], (sf_topic)topic, told[topic]), &stream);
                assert_string_equal(found[0].data, expected[0].data);
                assert_int_equal(found[1].length, expected[1].length);
                assert_memory_equal(found[1].data, expected[1].data, found[1].length);
                sf_text_free(&found[0]);
                sf_text_free(&found[1]);
            }
            sf_text_free(&expected[0]);
            sf_text_free(&expected[1]);
        }
    printf("%zu counts, %zu densities, %zu graphs, %zu decisions\n", told[SF_TOPIC_EPISODES],
           told[SF_TOPIC_DENSITY], told[SF_TOPIC_GRAPH], told[SF_TOPIC_DECISION]);
    assert_true(told[SF_TOPIC_EPISODES] > 20 && told[SF_TOPIC_DENSITY] > 20 && told[SF_TOPIC_GRAPH] > 20 &&
                told[SF_TOPIC_DECISION] > 5);
    for (int i = 0; i < 3; i++)
        test_collector_free(runs[i]);
    sf_recording_clear(&recording);
}

/* ---- rules and triggers ---- */

static const sf_message *decision_of(const test_collector *all, const char *trigger, size_t k)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->messages[i]->topic == SF_TOPIC_DECISION &&
            strcmp(all->messages[i]->decision.name, trigger) == 0 && k-- == 0)
            return all->messages[i];
    return NULL;
}

/* Each change of what the rule says is a decision, at the end of its window; after their delays those that
 * wait for a label, and what follows these. */
static void a_rule_fires_its_triggers_when_its_label_changes(void **state)
{
    (void)state;
    sf_recording recording = make_recording();
    test_collector *all = run_all(&recording, 0, SF_LIVE_DERIVED, NULL);
    size_t changes = 0, busy = 0;
    for (size_t i = 0; i < all->count; i++) {
        const sf_message *message = all->messages[i];
        if (message->topic != SF_TOPIC_EPISODES || !message->episodes.rules[0].changed) continue;
        const sf_message *decision = decision_of(all, "state", changes++);
        assert_non_null(decision);
        assert_int_equal(decision->time_ns, message->episodes.window.stop_ns);
        assert_int_equal(decision->decision.decided_ns, message->episodes.window.stop_ns);
        assert_string_equal(decision->decision.outcome, "sent");
        if (strcmp(message->episodes.rules[0].label, "busy") != 0) continue;
        decision = decision_of(all, "busy", busy);
        const sf_message *control = decision_of(all, "control", busy++);
        if (decision == NULL || control == NULL) /* the stream has ended before their delays */
            continue;
        assert_int_equal(decision->time_ns, message->episodes.window.stop_ns);
        assert_int_equal(decision->decision.decided_ns, decision->time_ns + 30000000);
        assert_true(control->decision.decided_ns >= decision->decision.decided_ns + 100000000);
    }
    printf("%zu changes, %zu to busy\n", changes, busy);
    assert_true(changes > 3 && busy > 1 && changes > busy);
    assert_null(decision_of(all, "state", changes));
    assert_null(decision_of(all, "busy", busy));
    test_collector_free(all);
    sf_recording_clear(&recording);
}

/* ---- failures ---- */

static int derive(void *context)
{
    sf_schedule schedule;
    (void)context;
    return sf_schedule_derive(&schedule, sf_hop_stages(false), false, NULL);
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(derive, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_touch_what_they_declare_and_all_of_it),
        cmocka_unit_test(rounds_touch_no_more_than_their_stage),
        cmocka_unit_test(stages_wait_for_what_they_need_and_for_nothing_else),
        cmocka_unit_test(another_declaration_is_another_schedule),
        cmocka_unit_test(the_graph_and_the_densities_are_at_work_at_once),
        cmocka_unit_test(both_schedules_tell_every_sink_the_same),
        cmocka_unit_test(a_rule_fires_its_triggers_when_its_label_changes),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
