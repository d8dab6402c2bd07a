/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers of a whole run: what is published of them is what pipeline/trigger.h makes of the stream's
 * completions, and faults of sources disarm before their spikes are judged. */
#include "support/runs.h"

#include "analysis/selection.h"
#include "core/memory.h"
#include "core/recording.h"
#include "mine/mine.h"
#include "pipeline/trigger.h"
#include "window/watch.h"

#include <math.h>

/* ---- on a virtual clock: the same decisions as by hand ---- */

static const char yaml[] =
    "window: {length_s: 1, hop_s: 0.25}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
    "watch: ['e2 -(0,9]-> e1']\n"
    "triggers:\n"
    "  - {name: a, episode: 'e1 -(0,9]-> e2', refractory_ms: 150, sham: 0.25, seed: 9}\n"
    "  - {name: b, episode: 'e2 -(1,7]-> e3', min_count: 3, within_s: 0.5,\n"
    "     delay_ms: 20, delay_to_ms: 90, most: 4, most_s: 2}\n"
    "  - {on: trigger, name: c, follows: b, delay_ms: 35}\n"
    "  - {name: d, episode: 'e1 -(0,9]-> e2', arm_s: 3}\n"
    "  - {name: e, episode: 'e3 -(0,9]-> e1', armed: false}\n"
    "  - {name: f, episode: 'e3 -(0,9]-> e1', max_q: 0.05}\n";

enum { TRIGGERS = 6 };

static void settings_by_hand(sf_trigger_settings settings[TRIGGERS])
{
    for (int i = 0; i < TRIGGERS; i++)
        settings[i] = (sf_trigger_settings){.armed = true,
                                            .max_age_ns = 100000000,
                                            .most_ns = 1000000000,
                                            .within_ns = 1000000000,
                                            .max_q = NAN,
                                            .seed = 1,
                                            .follows = SF_NO_TRIGGER};
    settings[0].refractory_ns = 150000000;
    settings[0].sham = 0.25;
    settings[0].seed = 9;
    settings[1].min_count = 3;
    settings[1].within_ns = 500000000;
    settings[1].delay_ns = 20000000;
    settings[1].delay_to_ns = 90000000;
    settings[1].most = 4;
    settings[1].most_ns = 2000000000;
    settings[2].follows = 1;
    settings[2].delay_ns = 35000000;
    settings[3].arm_ns = INT64_C(3000000000);
    settings[4].armed = false;
    settings[5].max_q = 0.05;
}

/* Holds the decisions of one event against the messages from *at on. */
static void compare(const test_collector *all, size_t *at, const sf_config *config, sf_triggers *triggers,
                    const sf_trigger_event *event, int64_t now_ns, size_t outcomes[3])
{
    static const char *const names[] = {"sent", "sham", "withheld"};
    const sf_decision *decisions;
    size_t count = sf_triggers_take(triggers, event, now_ns, &decisions);
    for (size_t i = 0; i < count; i++) {
        while (*at < all->count && all->messages[*at]->topic != SF_TOPIC_DECISION)
            ++*at;
        assert_true(*at < all->count);
        const sf_message *message = all->messages[(*at)++];
        assert_string_equal(message->decision.name, config->live.triggers[decisions[i].trigger].name);
        assert_int_equal(message->decision.occurrence, decisions[i].occurrence.number);
        assert_string_equal(message->decision.outcome, names[decisions[i].outcome]);
        const char *reason = sf_trigger_reason_text(decisions[i].reason);
        assert_int_equal(reason == NULL, message->decision.reason == NULL);
        if (reason != NULL) assert_string_equal(message->decision.reason, reason);
        assert_int_equal(message->decision.decided_ns, decisions[i].decided_ns);
        assert_int_equal(message->time_ns, decisions[i].occurrence.time_ns);
        assert_int_equal(message->decision.trigger_seq == 0, decisions[i].outcome != SF_OUTCOME_SENT);
        outcomes[decisions[i].outcome]++;
    }
}

static void pass(const test_collector *all, size_t *at, const sf_config *config, sf_triggers *triggers,
                 int64_t now_ns, size_t outcomes[3])
{
    const sf_trigger_event over = {.kind = SF_EVENT_TIME};
    while (sf_triggers_next_ns(triggers) <= now_ns)
        compare(all, at, config, triggers, &over, sf_triggers_next_ns(triggers), outcomes);
}

static void decisions_are_those_made_by_hand(void **state)
{
    (void)state;
    test_random random = test_random_start("trigger runs", 31);
    sf_recording recording = test_random_recording(&random, 6000, 3, INT64_C(30000000000), 1000);
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);

    sf_episode episodes[TRIGGERS];
    static const uint32_t trigger_of[] = {0, 1, 3, 4, 5};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(sf_episode_parse(&episodes[i], config.live.triggers[trigger_of[i]].episode,
                                          &recording.units, NULL),
                         SF_OK);
    sf_watch *watch;
    assert_int_equal(sf_watch_open(&watch, episodes, 5, recording.units.count, 0, NULL), SF_OK);
    sf_trigger_settings settings[TRIGGERS];
    settings_by_hand(settings);
    sf_triggers *triggers;
    assert_int_equal(sf_triggers_open(&triggers, settings, TRIGGERS, NULL), SF_OK);
    size_t at = 0, outcomes[3] = {0};
    for (size_t s = 0; s < recording.spike_count; s++) {
        const sf_completion *completions;
        int64_t now_ns = recording.spikes[s].time_ns;
        size_t count = sf_watch_advance(watch, &recording.spikes[s], &completions);
        for (size_t c = 0; c < count; c++) {
            const sf_cause cause = {
                .time_ns = now_ns, .arrival_ns = now_ns, .q = NAN, .number = completions[c].occurrence};
            const sf_trigger_event event = {.kind = SF_EVENT_COMPLETED,
                                            .trigger = trigger_of[completions[c].episode],
                                            .occurrence = &cause};
            pass(all, &at, &config, triggers, now_ns, outcomes);
            compare(all, &at, &config, triggers, &event, now_ns, outcomes);
        }
    }
    int64_t end_ns = recording.spikes[recording.spike_count - 1].time_ns + 1;
    pass(all, &at, &config, triggers, end_ns, outcomes);
    const sf_trigger_event end = {.kind = SF_EVENT_DISARM, .trigger = SF_ALL_TRIGGERS};
    if (sf_triggers_next_ns(triggers) < INT64_MAX)
        compare(all, &at, &config, triggers, &end, end_ns, outcomes);
    while (at < all->count)
        assert_int_not_equal(all->messages[at++]->topic, SF_TOPIC_DECISION);
    printf("%zu sent, %zu sham, %zu withheld\n", outcomes[0], outcomes[1], outcomes[2]);
    assert_true(outcomes[0] > 50 && outcomes[1] > 10 && outcomes[2] > 100);

    const sf_status_message *status = test_last_status(all);
    assert_int_equal(status->trigger_count, TRIGGERS);
    uint64_t sent = 0;
    for (size_t i = 0; i < TRIGGERS; i++) {
        const sf_trigger_status *trigger = &status->triggers[i];
        assert_int_equal(trigger->completed,
                         trigger->sent + trigger->sham + trigger->withheld + trigger->waiting);
        sent += trigger->sent;
    }
    assert_int_equal(sent, outcomes[0]);
    assert_true(all->triggers > sent); /* those that are only watched */
    assert_string_equal(status->triggers[4].not_armed, "disarmed");
    assert_int_equal(status->decisions_lost, 0);
    sf_triggers_close(triggers);
    sf_watch_close(watch);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

/* ---- what chance completes ---- */

/* Moves half of the spikes of unit 1 to 5 ms after those of unit 0, as a link does. Their rates stay. */
static void link_units(sf_recording *recording, test_random *random)
{
    size_t next = 0;
    for (size_t i = 0; i < recording->spike_count; i++) {
        if (recording->spikes[i].unit != 0) continue;
        while (next < recording->spike_count && recording->spikes[next].unit != 1)
            next++;
        if (next < recording->spike_count && test_random_below(random, 2))
            recording->spikes[next].time_ns = recording->spikes[i].time_ns + 5000000;
        next++;
    }
    assert_int_equal(sf_spikes_sort(recording->spikes, recording->spike_count, NULL), SF_OK);
}

static uint64_t count_in(const sf_recording *recording, const sf_episode *episode)
{
    sf_counter *counter;
    uint64_t count;
    assert_int_equal(sf_counter_open(&counter, recording->spikes, recording->spike_count,
                                     recording->units.count, episode, 1, NULL, 1, NULL),
                     SF_OK);
    assert_int_equal(sf_counter_count(counter, NULL, &count, NULL), SF_OK);
    sf_counter_close(counter);
    return count;
}

/* By the rates of the whole stream, neither those of the newest window nor what surrogates of a test count,
 * which keep the link A -> B; a control has what the trigger it follows would send. */
static void chance_is_by_rates_so_far(void **state)
{
    (void)state;
    static const char text[] =
        "window: {length_s: 1, hop_s: 0.5}\nmine: {every: 0}\n"
        "significance: {length_s: 10, surrogates: 50}\n"
        "triggers:\n"
        "  - {name: chain, episode: 'e1 -(1,9]-> e2 -(1,9]-> e3', refractory_ms: 400, sham: 0.25}\n"
        "  - {on: trigger, name: control, follows: chain, delay_ms: 300}\n";
    test_random random = test_random_start("chance of triggers", 3);
    sf_recording recording = test_random_recording(&random, 6000, 3, INT64_C(100000000000), 1000);
    sf_config config = test_config(text);
    sf_episode chain;
    assert_int_equal(sf_episode_parse(&chain, config.live.triggers[0].episode, &recording.units, NULL),
                     SF_OK);
    double unlinked = (double)count_in(&recording, &chain);
    link_units(&recording, &random);
    uint64_t spikes[3] = {0}, linked = count_in(&recording, &chain);
    for (size_t i = 0; i < recording.spike_count; i++)
        spikes[recording.spikes[i].unit]++;
    int64_t lasts_ns = recording.spikes[recording.spike_count - 1].time_ns + 1 - recording.spikes[0].time_ns;
    double by_rates = sf_expected_episode(&chain, spikes, lasts_ns), minutes = (double)lasts_ns / 60e9;
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);
    const sf_status_message *status = test_last_status(all);
    const sf_trigger_status *first = &status->triggers[0], *control = &status->triggers[1];
    print_message("%g of unlinked units, %g by rates, %g of linked ones\n", unlinked, by_rates,
                  (double)linked);
    assert_true(status->tests > 0); /* and what they say of the chain changes nothing */
    assert_int_equal(first->completed, linked);
    assert_true(fabs(first->chance_per_min * minutes / by_rates - 1) < 1e-9);
    assert_true(fabs(unlinked - by_rates) < 0.04 * by_rates + 4 * sqrt(by_rates) &&
                (double)linked > 2 * by_rates);
    const sf_trigger_settings settings = {.refractory_ns = 400000000, .sham = 0.25};
    double sent_per_min = 60 * sf_trigger_sent_hz(&settings, first->chance_per_min / 60);
    assert_true(fabs(control->chance_per_min / sent_per_min - 1) < 1e-9);
    assert_true(control->chance_per_min < 0.75 * first->chance_per_min);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

/* ---- faults ---- */

static size_t next_decision(sf_live *live, sf_decision_message *decision)
{
    sf_message *message;
    int status;
    while ((status = sf_live_next(live, &message, 20000, NULL)) == SF_OK) {
        bool is_decision = message->topic == SF_TOPIC_DECISION;
        if (is_decision) *decision = message->decision;
        sf_message_release(message);
        if (is_decision) return 1;
    }
    assert_int_equal(status, SF_END);
    return 0;
}

static sf_live *open_live(const sf_live_trigger *trigger, uint32_t ring, bool virtual_clock)
{
    static const sf_live_unit units[] = {{.name = "A"}, {.name = "B"}};
    static sf_live_source source;
    source = (sf_live_source){.units = units,
                              .unit_count = 2,
                              .ring = ring,
                              .policy = SF_RING_DROP_NEWEST,
                              .virtual_clock = virtual_clock};
    sf_live_options options = sf_live_options_default();
    options.sources = &source;
    options.source_count = 1;
    options.triggers = trigger;
    options.trigger_count = 1;
    options.mine.every = 0;
    options.significance.kind = 0;
    sf_live *live;
    sf_error error;
    if (sf_live_open(&live, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    return live;
}

/* Pairs of spikes, A then B, 1 ms apart, one pair every 10 ms from the `from`th on. */
static void push_pairs(sf_live *live, size_t from, size_t count)
{
    sf_spike spikes[1000];
    assert_true(2 * count <= 1000);
    for (size_t i = 0; i < count; i++) {
        int64_t time_ns = (int64_t)(from + i) * 10000000;
        spikes[2 * i] = (sf_spike){.time_ns = time_ns, .unit = 0};
        spikes[2 * i + 1] = (sf_spike){.time_ns = time_ns + 1000000, .unit = 1};
    }
    assert_int_equal(sf_live_push(live, 0, spikes, 2 * count, INT64_MIN, NULL), SF_OK);
}

static sf_live_trigger pair_trigger(void)
{
    sf_live_trigger trigger = SF_LIVE_TRIGGER_DEFAULTS;
    trigger.name = "pair";
    trigger.episode = "A -(0,5]-> B";
    return trigger;
}

/* What came with the loss is judged after it. */
static void a_loss_disarms_before_its_spikes_are_judged(void **state)
{
    (void)state;
    const sf_live_trigger trigger = pair_trigger();
    sf_live *live = open_live(&trigger, 64, true);
    sf_decision_message decision = {0};
    push_pairs(live, 0, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(next_decision(live, &decision), 1);
        assert_string_equal(decision.outcome, "sent");
    }
    push_pairs(live, 5, 400); /* of which a ring of 64 drops most */
    assert_int_equal(next_decision(live, &decision), 1);
    assert_string_equal(decision.outcome, "withheld");
    assert_string_equal(decision.reason, "source lost spikes");
    sf_live_finish(live);
    while (next_decision(live, &decision))
        assert_string_equal(decision.reason, "source lost spikes");
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
}

static void what_is_too_old_is_withheld_and_disarms(void **state)
{
    (void)state;
    sf_live_trigger trigger = pair_trigger();
    trigger.max_age_ms = 1e-6; /* no machine is as fast */
    sf_live *live = open_live(&trigger, 1024, false);
    sf_decision_message decision = {0};
    push_pairs(live, 0, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(next_decision(live, &decision), 1);
        assert_string_equal(decision.outcome, "withheld");
        assert_string_equal(decision.reason, "too old");
        assert_true(decision.wait_ms > 0 && decision.trigger_seq == 0);
    }
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
}

/* In real time a delay is over without a spike that tells. */
static void a_delay_is_over_in_silence(void **state)
{
    (void)state;
    sf_live_trigger trigger = pair_trigger();
    trigger.delay_ms = 30;
    trigger.max_age_ms = 0; /* of a machine under load nothing is known */
    sf_live *live = open_live(&trigger, 1024, false);
    sf_decision_message decision = {0};
    push_pairs(live, 0, 1);
    assert_int_equal(next_decision(live, &decision), 1);
    assert_string_equal(decision.outcome, "sent");
    assert_true(decision.wait_ms >= 30);
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
}

/* ---- what is not analysed ---- */

static const char unfiltered[] = "window: {length_s: 1, hop_s: 0.25}\nmine: {every: 0}\n"
                                 "significance: {kind: 'off'}\n"
                                 "triggers: [{name: a, episode: 'e1 -(0,9]-> e2'}]\n";

/* Markers of which most are others, more than spikes. */
static void add_markers(sf_recording *recording, test_random *random)
{
    enum { MARKERS = 9000 };
    int64_t start_ns = recording->recorded.start_ns,
            length_ns = recording->recorded.stop_ns - recording->recorded.start_ns;
    recording->markers = sf_alloc(MARKERS, sizeof *recording->markers);
    for (size_t i = 0; i < MARKERS; i++)
        recording->markers[i] =
            (sf_marker){.time_ns = start_ns + (int64_t)test_random_below(random, (uint64_t)length_ns),
                        .kind = SF_MARKER_TTL,
                        .state = 1,
                        .line = i % 50 == 0 ? 2 : 1};
    recording->marker_count = MARKERS;
    assert_int_equal(sf_recording_finish(recording, NULL), SF_OK);
}

static const sf_message *next_of(const test_collector *all, size_t *at)
{
    while (*at < all->count && all->messages[*at]->topic != SF_TOPIC_DECISION)
        ++*at;
    return *at < all->count ? all->messages[(*at)++] : NULL;
}

/* A run that leaves spikes out decides as one on what --dedup and --blank leave of the recording. */
static void a_run_leaves_out_what_a_selection_does(void **state)
{
    (void)state;
    test_random random = test_random_start("filtered runs", 32);
    sf_recording recording = test_random_recording(&random, 6000, 3, INT64_C(30000000000), 1000), cut;
    add_markers(&recording, &random);
    assert_int_equal(sf_recording_copy(&cut, &recording, NULL), SF_OK);
    sf_selection selection;
    sf_selection_init(&selection, sizeof selection);
    selection.dedup_ns = 4000000;
    selection.blank = "ttl2";
    selection.blank_from_ns = 1000000;
    selection.blank_to_ns = 30000000;
    assert_int_equal(sf_selection_apply(&cut, &selection, NULL), SF_OK);
    char text[600];
    snprintf(text, sizeof text, "%sdedup: {ms: 4}\nblank: [{marker: ttl2, from_ms: 1, to_ms: 30}]\n",
             unfiltered);
    sf_config filters = test_config(text), plain = test_config(unfiltered);
    test_collector *live = test_collector_new(), *offline = test_collector_new();
    test_run_to_end(&filters, &recording, 0, live);
    test_run_to_end(&plain, &cut, 0, offline);
    const sf_status_message *status = test_last_status(live);
    printf("%zu of %zu spikes, %zu repeats, %zu blanked\n", cut.spike_count, recording.spike_count,
           (size_t)status->dedup_dropped, (size_t)status->blank_dropped);
    assert_true(status->dedup_dropped > 50 && status->blank_dropped > 300);
    assert_int_equal(status->dedup_dropped + status->blank_dropped + cut.spike_count, recording.spike_count);
    for (size_t i = 0; i < cut.dropped_count; i++)
        assert_int_equal(cut.dropped[i].count, strcmp(cut.dropped[i].cause, "blanked") == 0
                                                   ? status->blank_dropped
                                                   : status->dedup_dropped);
    assert_int_equal(status->trigger_dropped, 0);
    assert_int_equal(status->spikes, cut.spike_count);
    const sf_message *a, *b;
    size_t at_live = 0, at_offline = 0;
    do {
        a = next_of(live, &at_live);
        b = next_of(offline, &at_offline);
        assert_int_equal(a == NULL, b == NULL);
        if (a != NULL) assert_int_equal(a->time_ns, b->time_ns);
    } while (a != NULL);
    assert_true(test_last_status(offline)->triggers[0].completed > 20);
    test_collector_free(live);
    test_collector_free(offline);
    sf_config_free(&filters);
    sf_config_free(&plain);
    sf_recording_clear(&recording);
    sf_recording_clear(&cut);
}

/* Of each trigger an artefact that looks like its episode comes 5 ms later. */
static uint64_t completions_with_artefacts(double blank_ms, double delay_ms, uint64_t *dropped)
{
    test_random random = {.state = 1};
    sf_recording recording = test_random_recording(&random, 400, 2, 1000000, 1);
    for (size_t i = 0; i < recording.spike_count; i++)
        recording.spikes[i] = (sf_spike){.time_ns = (int64_t)(i / 4) * 100000000 +
                                                    (i % 4 < 2 ? 0 : (int64_t)(delay_ms * 1e6) + 5000000) +
                                                    (int64_t)(i % 2) * 1000000,
                                         .unit = i % 2};
    recording.recorded = (sf_span){0, INT64_C(10000000000)};
    char text[600];
    snprintf(text, sizeof text,
             "window: {length_s: 1, hop_s: 0.25}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
             "triggers: [{name: a, episode: 'e1 -(0,3]-> e2', delay_ms: %g, blank_ms: %g}]\n",
             delay_ms, blank_ms);
    sf_config config = test_config(text);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);
    const sf_status_message *status = test_last_status(all);
    uint64_t completed = status->triggers[0].completed;
    *dropped = status->trigger_dropped;
    assert_int_equal(status->spikes + *dropped, recording.spike_count);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
    return completed;
}

static void an_artefact_completes_nothing(void **state)
{
    (void)state;
    uint64_t dropped;
    for (double delay_ms = 0; delay_ms < 50; delay_ms += 20) {
        assert_int_equal(completions_with_artefacts(0, delay_ms, &dropped), 200);
        assert_int_equal(dropped, 0);
        assert_int_equal(completions_with_artefacts(20, delay_ms, &dropped), 100);
        assert_int_equal(dropped, 200);
    }
}

/* In real time nothing but the length is known before: here it is longer than the stream. */
static void an_artefact_completes_nothing_in_real_time(void **state)
{
    (void)state;
    sf_live_trigger trigger = pair_trigger();
    trigger.blank_ms = 60000;
    trigger.max_age_ms = 0;
    sf_live *live = open_live(&trigger, 1024, false);
    sf_decision_message decision = {0};
    push_pairs(live, 0, 1);
    assert_int_equal(next_decision(live, &decision), 1);
    assert_string_equal(decision.outcome, "sent");
    push_pairs(live, 1, 100);
    sf_live_finish(live);
    assert_int_equal(next_decision(live, &decision), 0);
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
}

/* ---- what is refused ---- */

static void refuse(const char *text, const char *place, const char *words)
{
    sf_config config;
    sf_error error = {0};
    test_assert_fails(sf_config_parse(&config, text, strlen(text), "t.yaml", NULL, 0, &error), &error,
                      SF_CONFIG, words);
    assert_non_null(strstr(error.place, place));
}

/* The longest is taken whole, by the triggers that follow it and by what is told of it. */
static void names_are_whole_or_refused(void **state)
{
    (void)state;
    enum { LONGEST = 63 };
    char name[LONGEST + 2], other[LONGEST + 1], text[800];
    memset(name, 'n', sizeof name - 1);
    name[LONGEST + 1] = '\0';
    snprintf(text, sizeof text, "triggers: [{name: %s, episode: x}]", name);
    refuse(text, "triggers.0.name", "at most 63 letters");
    name[LONGEST] = '\0';
    memcpy(other, name, sizeof other);
    other[LONGEST - 1] = 'o';
    snprintf(text, sizeof text,
             "window: {length_s: 1, hop_s: 0.25}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
             "triggers: [{name: %s, episode: 'e1 -(0,9]-> e2', armed: false},\n"
             "           {name: %s, episode: 'e1 -(0,9]-> e2'}]\n",
             name, other);
    sf_config config = test_config(text);
    test_random random = test_random_start("long names", 7);
    sf_recording recording = test_random_recording(&random, 6000, 3, INT64_C(30000000000), 1000);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);
    const sf_status_message *status = test_last_status(all);
    assert_string_equal(status->triggers[0].name, name);
    assert_string_equal(status->triggers[1].name, other);
    assert_int_equal(status->triggers[0].sent, 0);
    assert_true(status->triggers[1].sent > 20);
    for (size_t i = 0; i < all->count; i++)
        if (all->messages[i]->topic == SF_TOPIC_DECISION)
            assert_string_equal(all->messages[i]->decision.name,
                                strcmp(all->messages[i]->decision.outcome, "sent") == 0 ? other : name);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

static void wrong_triggers_are_refused(void **state)
{
    (void)state;
    refuse("triggers: [{name: 'a b', episode: x}]", "triggers.0.name", "letters, digits");
    refuse("triggers: [{name: a, episode: x}, {name: a, episode: y}]", "triggers.1.name", "twice");
    refuse("triggers: [{on: trigger, name: a, follows: a}]", "triggers.0.follows", "stands before it");
    refuse("triggers: [{name: a, episode: x, follows: b}]", "triggers.0.follows", "on=trigger");
    refuse("triggers: [{name: a, episode: x, delay_ms: 5, delay_to_ms: 4}]", "triggers.0.delay_to_ms",
           "at least delay_ms");
    refuse("triggers: [{name: a}]", "triggers.0.episode", "is missing");
    refuse("blank: [{marker: a, from_ms: -1, to_ms: 2}]", "blank.0.from_ms", "has gone by");
    refuse("blank: [{marker: a, from_ms: 2, to_ms: 2}]", "blank.0.from_ms", "the first before the second");
    refuse("blank: [{marker: a, from_ms: 2, to_ms: 2.001}]", "blank.0.from_ms", "1000 times its length");
    refuse("blank: [{to_ms: 2}]", "blank.0.marker", "is missing");
    test_random random = {.state = 1};
    sf_recording recording = test_random_recording(&random, 10, 2, 1000000, 1);
    test_pipeline_refuses("triggers: [{name: a, episode: 'nobody -(0,5]-> e1'}]", &recording, SF_CONFIG,
                          "test.yaml:1:31: triggers.0.episode", "nobody");
    test_pipeline_refuses("dedup: {ms: 1, um: 50}", &recording, SF_DATA, "dedup", "no positions");
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_are_those_made_by_hand),
        cmocka_unit_test(chance_is_by_rates_so_far),
        cmocka_unit_test(a_loss_disarms_before_its_spikes_are_judged),
        cmocka_unit_test(what_is_too_old_is_withheld_and_disarms),
        cmocka_unit_test(a_delay_is_over_in_silence),
        cmocka_unit_test(a_run_leaves_out_what_a_selection_does),
        cmocka_unit_test(an_artefact_completes_nothing),
        cmocka_unit_test(an_artefact_completes_nothing_in_real_time),
        cmocka_unit_test(names_are_whole_or_refused),
        cmocka_unit_test(wrong_triggers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
