/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a live run: what they say of windows, when that changes, and which are refused. */
#include "pipeline/predictions.h"
#include "support/support.h"

#include "core/memory.h"
#include "core/units.h"

static sf_units make_units(void)
{
    sf_units units = {0};
    for (int i = 0; i < 3; i++) {
        const sf_unit unit = {.name = (const char *[]){"A", "B", "C"}[i], .electrode = -1};
        assert_int_equal(sf_units_add(&units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&units, NULL), SF_OK);
    return units;
}

static const char *const labels[] = {"off", "on", "off", "strong"};
static const double thresholds[] = {1.5, 4, 8.5};

static sf_live_rule make_rule(void)
{
    return (sf_live_rule){.name = "r",
                          .episode = "A -(0,5]-> B",
                          .window_s = 2,
                          .labels = labels,
                          .thresholds = thresholds,
                          .label_count = 4};
}

static sf_live_options make_options(const sf_live_rule *rules, uint32_t count)
{
    sf_live_options options = sf_live_options_default();
    options.window.length_s = 2;
    options.rules = rules;
    options.rule_count = count;
    return options;
}

static void labels_follow_counts_and_changes_are_told(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        bool partial;
        const char *label, *before; /* before: it changed */
    } windows[] = {{9, true, "", ""},           {1, false, "off", ""},     {2, false, "on", "off"},
                   {4, false, "on", ""},        {0, true, "", ""},         {4, false, "on", ""},
                   {5, false, "off", "on"},     {1, false, "off", ""},     {8, false, "off", ""},
                   {9, false, "strong", "off"}, {900, false, "strong", ""}};
    sf_units units = make_units();
    sf_live_rule rules[] = {make_rule(), make_rule()};
    rules[1].episode = "B -(0,5]-> C";
    rules[1].label_count = 1; /* says the same of any count */
    sf_live_options options = make_options(rules, 2);
    sf_tracking tracking = {0};
    sf_predictions predictions;
    assert_int_equal(sf_predictions_open(&predictions, &options, &units, &tracking, NULL), SF_OK);
    assert_int_equal(tracking.count, 2);
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
        sf_episodes_message *window = &message->episodes;
        window->partial = windows[w].partial;
        window->items = sf_alloc(2, sizeof *window->items);
        window->count = 2;
        for (size_t i = 0; i < 2; i++) /* in another order than the rules */
            window->items[i] = (sf_episode_count){.episode = tracking.items[1 - i].episode,
                                                  .count = i == 1 ? windows[w].count : 7};
        assert_int_equal(sf_predictions_tell(&predictions, window, NULL), SF_OK);
        assert_int_equal(window->rule_count, 2);
        assert_string_equal(window->rules[0].rule, "r");
        assert_int_equal(window->rules[0].count, windows[w].count);
        assert_string_equal(window->rules[0].label, windows[w].label);
        assert_string_equal(window->rules[0].before, windows[w].before);
        assert_int_equal(window->rules[0].changed, windows[w].before[0] != '\0');
        assert_int_equal(window->rules[1].count, 7);
        assert_string_equal(window->rules[1].label, windows[w].partial ? "" : "off");
        assert_false(window->rules[1].changed);
        sf_message_release(message);
    }
    sf_predictions_close(&predictions);
    sf_tracking_free(&tracking);
    sf_units_free(&units);
}

static void what_a_rule_tracks_is_tracked_once(void **state)
{
    (void)state;
    sf_units units = make_units();
    sf_live_rule rules[] = {make_rule(), make_rule()};
    sf_live_options options = make_options(rules, 2);
    options.track = (const char *const[]){"A -(0,5]-> B"};
    options.track_count = 1;
    sf_tracking tracking = {0};
    sf_predictions predictions;
    assert_int_equal(sf_tracking_pin(&tracking, &options, &units, NULL), SF_OK);
    assert_int_equal(sf_predictions_open(&predictions, &options, &units, &tracking, NULL), SF_OK);
    assert_int_equal(tracking.count, 1);
    assert_int_equal(predictions.count, 2);
    sf_predictions_close(&predictions);
    sf_tracking_free(&tracking);
    sf_units_free(&units);
}

static void wrong_rules_are_refused_at_their_place(void **state)
{
    (void)state;
    static const double falling[] = {1.5, 1.5, 2};
    sf_units units = make_units();
    for (int wrong = 0; wrong < 5; wrong++) {
        sf_live_rule rules[] = {make_rule(), make_rule()};
        static const char *const words[] = {"'Z'", "1.5 and 1.5 one after the other", "in windows of 3 s",
                                            "a label for each interval", "has an episode"};
        rules[1].episode = wrong == 0 ? "A -(0,5]-> Z" : wrong == 4 ? NULL : rules[1].episode;
        rules[1].thresholds = wrong == 1 ? falling : thresholds;
        rules[1].window_s = wrong == 2 ? 3 : 2;
        rules[1].label_count = wrong == 3 ? 0 : 4;
        sf_live_options options = make_options(rules, 2);
        sf_tracking tracking = {0};
        sf_predictions predictions;
        sf_error error = {0};
        test_assert_fails(sf_predictions_open(&predictions, &options, &units, &tracking, &error), &error,
                          SF_CONFIG, words[wrong]);
        assert_string_equal(error.place, "rules.1");
        sf_predictions_close(&predictions);
        sf_tracking_free(&tracking);
    }
    sf_units_free(&units);
}

/* Which triggers a window fires. */
static void triggers_wait_for_a_change_or_for_a_label(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        bool partial;
        const char *fired;
    } windows[] = {{1, false, ""},  {2, false, "ac"}, {3, false, ""}, {9, true, ""},
                   {9, false, "a"}, {4, false, "ac"}, {0, false, "a"}};
    sf_units units = make_units();
    sf_live_rule rule = make_rule();
    sf_live_trigger triggers[] = {SF_LIVE_TRIGGER_DEFAULTS, SF_LIVE_TRIGGER_DEFAULTS,
                                  SF_LIVE_TRIGGER_DEFAULTS};
    triggers[0].on = triggers[2].on = SF_LIVE_ON_RULE; /* the one between waits for its episode */
    triggers[0].rule = triggers[2].rule = "r";
    triggers[2].label = "on";
    sf_live_options options = make_options(&rule, 1);
    options.triggers = triggers;
    options.trigger_count = 3;
    sf_tracking tracking = {0};
    sf_predictions predictions;
    assert_int_equal(sf_predictions_open(&predictions, &options, &units, &tracking, NULL), SF_OK);
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        sf_episode_count counted = {.episode = tracking.items[0].episode, .count = windows[w].count};
        sf_episodes_message window = {.partial = windows[w].partial, .items = &counted, .count = 1};
        char fired[4] = "";
        assert_int_equal(sf_predictions_tell(&predictions, &window, NULL), SF_OK);
        size_t n = 0;
        for (uint32_t i = 0; (i = sf_predictions_next(&predictions, &options, i)) < 3; i++)
            fired[n++] = "abc"[i];
        assert_string_equal(fired, windows[w].fired);
        sf_free(window.rules);
    }
    sf_predictions_close(&predictions);
    sf_tracking_free(&tracking);

    triggers[2].label = "loud";
    sf_error error = {0};
    test_assert_fails(sf_predictions_open(&predictions, &options, &units, &tracking, &error), &error,
                      SF_CONFIG, "found 'loud', which the rule never predicts");
    assert_string_equal(error.place, "triggers.2.label");
    sf_predictions_close(&predictions);
    triggers[0].rule = "s";
    test_assert_fails(sf_predictions_open(&predictions, &options, &units, &tracking, &error), &error,
                      SF_CONFIG, "found 's', expected the name of one of the rules, of which there are 1");
    assert_string_equal(error.place, "triggers.0.rule");
    sf_predictions_close(&predictions);
    sf_units_free(&units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(labels_follow_counts_and_changes_are_told),
                                       cmocka_unit_test(what_a_rule_tracks_is_tracked_once),
                                       cmocka_unit_test(wrong_rules_are_refused_at_their_place),
                                       cmocka_unit_test(triggers_wait_for_a_change_or_for_a_label)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
