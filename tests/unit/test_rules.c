/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of windows, Holte's intervals, and rules learnt and tested beside the obvious way. */
#include "analysis/labels.h"
#include "analysis/rules.h"
#include "support/support.h"

#include "core/memory.h"

#include <math.h>

#define S 1000000000LL

/* ---- labels ---- */

static sf_recording *make_recording(const sf_marker *markers, size_t count, const sf_span *observed,
                                    size_t observed_count)
{
    sf_recording_input input = sf_recording_input_default();
    sf_spike spike = {.time_ns = 1 * S};
    input.unit_count = 1;
    input.spikes = &spike;
    input.spike_count = 1;
    input.markers = markers;
    input.marker_count = count;
    input.recorded = &(sf_span){0, 20 * S};
    input.observed = observed;
    input.observed_count = observed_count;
    sf_recording *recording;
    sf_error error;
    if (sf_recording_new(&recording, &input, &error) != SF_OK) fail_msg("%s", error.text);
    return recording;
}

static void assert_epochs(const sf_recording *recording, int line, int64_t hold_ns, const char *expected)
{
    sf_epoch *epochs;
    size_t count;
    sf_error error;
    if (sf_labels_of_markers(&epochs, &count, recording, line, hold_ns, &error) != SF_OK)
        fail_msg("%s", error.text);
    char found[256] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s %g-%g", i > 0 ? ", " : "",
                 epochs[i].label, (double)epochs[i].span.start_ns / S, (double)epochs[i].span.stop_ns / S);
    assert_string_equal(found, expected);
    sf_free(epochs);
}

static void texts_hold_until_the_next_or_their_end(void **state)
{
    (void)state;
    static const sf_marker markers[] = {
        {.time_ns = 2 * S, .kind = SF_MARKER_TEXT, .text = "light"},
        {.time_ns = 3 * S, .kind = SF_MARKER_TTL, .line = 1, .state = 1},
        {.time_ns = 4 * S, .kind = SF_MARKER_TEXT, .text = "light end"},
        {.time_ns = 5 * S, .kind = SF_MARKER_TEXT, .text = "synfire: clock moved on by 1 s"},
        {.time_ns = 6 * S, .kind = SF_MARKER_TEXT, .text = "dark"},
        {.time_ns = 9 * S, .kind = SF_MARKER_TEXT, .text = "light"},
        {.time_ns = 9 * S, .kind = SF_MARKER_TEXT, .text = "tone"},
        {.time_ns = 11 * S, .kind = SF_MARKER_TEXT, .text = "light end"}, /* of no label that is open */
    };
    sf_recording *recording = make_recording(markers, sizeof markers / sizeof *markers, NULL, 0);
    assert_epochs(recording, -1, 0, "light 2-4, dark 6-9, tone 9-11, light end 11-20");
    assert_epochs(recording, -1, 1 * S, "light 2-3, dark 6-7, tone 9-10, light end 11-12");
    assert_epochs(recording, 1, 0, "high 3-20");
    sf_recording_free(recording);
}

static void edges_are_high_and_low(void **state)
{
    (void)state;
    static const sf_marker markers[] = {
        {.time_ns = 2 * S, .kind = SF_MARKER_TTL, .line = 4, .state = 1},
        {.time_ns = 5 * S, .kind = SF_MARKER_TTL, .line = 4, .state = 0},
        {.time_ns = 6 * S, .kind = SF_MARKER_TTL, .line = 4, .state = 1},
        {.time_ns = 7 * S, .kind = SF_MARKER_TTL, .line = 5, .state = 1},
    };
    sf_recording *recording = make_recording(markers, 3, NULL, 0);
    assert_epochs(recording, -1, 0, "high 2-5, low 5-6, high 6-20");
    sf_recording_free(recording);
    recording = make_recording(markers, 4, NULL, 0);
    assert_epochs(recording, 5, 0, "high 7-20");
    sf_epoch *epochs;
    size_t count;
    sf_error error;
    test_assert_fails(sf_labels_of_markers(&epochs, &count, recording, -1, 0, &error), &error, SF_DATA,
                      "of line 4 and of line 5");
    test_assert_fails(sf_labels_of_markers(&epochs, &count, recording, 3, 0, &error), &error, SF_DATA,
                      "no TTL edges of line 3");
    assert_null(epochs);
    sf_recording_free(recording);
    recording = make_recording(NULL, 0, NULL, 0);
    test_assert_fails(sf_labels_of_markers(&epochs, &count, recording, -1, 0, &error), &error, SF_DATA,
                      "no markers");
    sf_recording_free(recording);
}

static void a_window_has_the_label_it_lies_in(void **state)
{
    (void)state;
    static const sf_epoch epochs[] = {{{2 * S, 4 * S}, "a"},
                                      {{4 * S, 6 * S}, "a"},
                                      {{6 * S, 9 * S}, "b"},
                                      {{10 * S, 14 * S}, "a"},
                                      {{14 * S, 15 * S}, "c"}};
    static const sf_span observed[] = {{0, 11 * S}, {12 * S, 20 * S}};
    static const sf_span windows[] = {
        {0, 1 * S},       {1 * S, 3 * S},                     /* none, partly in one */
        {3 * S, 5 * S},                                       /* in two that touch and are alike */
        {5 * S, 7 * S},   {6 * S, 9 * S},   {8 * S, 10 * S},  /* two, b, partly in one */
        {9 * S, 10 * S},  {10 * S, 11 * S}, {11 * S, 12 * S}, /* none, a, a gap */
        {12 * S, 14 * S}, {14 * S, 15 * S}, {19 * S, 21 * S}};
    static const char *const expected[] = {"-", "-", "a", "-", "b", "-", "-", "a", "-", "a", "c", "-"};
    sf_recording *recording = make_recording(NULL, 0, observed, 2);
    sf_labelled labelled;
    size_t count = sizeof windows / sizeof *windows;
    assert_int_equal(sf_label_windows(&labelled, recording, windows, count, epochs, 5, NULL), SF_OK);
    for (size_t i = 0; i < count; i++) {
        uint16_t label = labelled.labels[i];
        assert_string_equal(label == SF_NO_LABEL ? "-" : labelled.names[label], expected[i]);
    }
    assert_string_equal(labelled.names[0], "a"); /* of most windows */
    assert_int_equal(labelled.labelled, 5);
    assert_int_equal(labelled.mixed, 3);
    assert_int_equal(labelled.without, 3);
    assert_int_equal(labelled.unrecorded, 1);
    assert_int_equal(labelled.stretches, 4);
    sf_labelled_free(&labelled);
    sf_recording_free(recording);
}

static void more_frequent_labels_come_first(void **state)
{
    (void)state;
    static const sf_epoch epochs[] = {
        {{0, 1 * S}, "w"}, {{1 * S, 3 * S}, "x"}, {{3 * S, 5 * S}, "y"}, {{5 * S, 9 * S}, "z"}};
    sf_span windows[9];
    for (int i = 0; i < 9; i++)
        windows[i] = (sf_span){i * S, (i + 1) * S};
    sf_recording *recording = make_recording(NULL, 0, NULL, 0);
    sf_labelled labelled;
    assert_int_equal(sf_label_windows(&labelled, recording, windows, 9, epochs, 4, NULL), SF_OK);
    static const uint16_t expected[] = {3, 1, 1, 2, 2, 0, 0, 0, 0};
    assert_memory_equal(labelled.labels, expected, sizeof expected);
    assert_string_equal(labelled.names[0], "z");
    assert_string_equal(labelled.names[1], "x"); /* of as many the first in time */
    assert_string_equal(labelled.names[2], "y");
    assert_string_equal(labelled.names[3], "w");
    sf_labelled_free(&labelled);
    sf_recording_free(recording);
}

/* ---- rules ---- */

enum { MOST_WINDOWS = 120, MOST_ATTRIBUTES = 5, MOST_LABELS = 3 };

typedef struct made_input {
    sf_rules_input input;
    sf_span windows[MOST_WINDOWS];
    uint16_t labels[MOST_WINDOWS];
    uint64_t values[MOST_WINDOWS][MOST_ATTRIBUTES];
    const uint64_t *rows[MOST_WINDOWS];
} made_input;

/* Attribute 1 goes with the label; windows are 2 s long, a second or less apart, in pairs and with gaps. */
static void make_input(made_input *made, test_random *random)
{
    sf_rules_input *input = &made->input;
    int64_t at = 0;
    *input = (sf_rules_input){.window_count = 20 + test_random_below(random, MOST_WINDOWS - 20),
                              .label_count = (uint16_t)(2 + test_random_below(random, MOST_LABELS - 1)),
                              .attribute_count = 1 + test_random_below(random, MOST_ATTRIBUTES),
                              .least = 1 + test_random_below(random, 6),
                              .folds = 2 + test_random_below(random, 6),
                              .threads = 1};
    for (size_t w = 0; w < input->window_count; w++) {
        at += (int64_t)test_random_below(random, 5) * S / 2;
        made->windows[w] = (sf_span){at, at + 2 * S};
        made->labels[w] = (uint16_t)test_random_below(random, input->label_count);
        made->rows[w] = made->values[w];
        for (size_t k = 0; k < input->attribute_count; k++)
            made->values[w][k] = test_random_below(random, 9) + (k == 1 ? 4u * made->labels[w] : 0u);
    }
    input->windows = made->windows;
    input->labels = made->labels;
    input->counts = made->rows;
}

typedef struct slow_rule {
    double thresholds[MOST_WINDOWS];
    uint16_t labels[MOST_WINDOWS];
    size_t attribute, count;
    uint64_t correct;
} slow_rule;

static size_t count_with(const made_input *made, const bool *learnt, size_t k, uint64_t low, uint64_t high,
                         uint16_t label)
{
    size_t count = 0;
    for (size_t w = 0; w < made->input.window_count; w++)
        count +=
            learnt[w] && made->values[w][k] >= low && made->values[w][k] <= high && made->labels[w] == label;
    return count;
}

/* The first of the labels that most windows with these counts have; *most tells how many. */
static uint16_t best_label(const made_input *made, const bool *learnt, size_t k, uint64_t low, uint64_t high,
                           size_t *most)
{
    uint16_t best = 0;
    for (uint16_t c = 1; c < made->input.label_count; c++)
        if (count_with(made, learnt, k, low, high, c) > count_with(made, learnt, k, low, high, best))
            best = c;
    *most = count_with(made, learnt, k, low, high, best);
    return best;
}

/* As Holte has it, value by value, each time counted anew. */
static void learn_slowly(slow_rule *rule, const made_input *made, const bool *learnt)
{
    *rule = (slow_rule){.correct = 0};
    for (size_t k = 0; k < made->input.attribute_count; k++) {
        slow_rule tried = {.attribute = k};
        uint64_t low = 0, last = 0;
        bool open = false;
        size_t most, of_next;
        for (uint64_t value = 0; value < 40; value++) {
            uint16_t next = best_label(made, learnt, k, value, value, &of_next);
            if (of_next == 0) continue;
            if (open) {
                uint16_t label = best_label(made, learnt, k, low, last, &most);
                if (most >= made->input.least && label != next) {
                    tried.thresholds[tried.count] = 0.5 * (double)(last + value);
                    tried.labels[tried.count++] = label;
                    tried.correct += most;
                    open = false;
                }
            }
            low = open ? low : value;
            last = value;
            open = true;
        }
        tried.labels[tried.count++] = best_label(made, learnt, k, low, last, &most);
        tried.correct += most;
        if (tried.correct > rule->correct) *rule = tried;
    }
    size_t kept = 0; /* neighbours that predict the same become one */
    for (size_t i = 0; i < rule->count; i++) {
        kept -= kept > 0 && rule->labels[kept - 1] == rule->labels[i];
        rule->labels[kept] = rule->labels[i];
        rule->thresholds[kept++] = rule->thresholds[i];
    }
    rule->count = kept;
}

static uint16_t predict_slowly(const slow_rule *rule, uint64_t count)
{
    size_t i = 0;
    while (i + 1 < rule->count && (double)count > rule->thresholds[i])
        i++;
    return rule->labels[i];
}

static sf_rules learn(const sf_rules_input *input)
{
    sf_rules rules;
    sf_error error;
    if (sf_rules_learn(&rules, input, &error) != SF_OK) fail_msg("%s", error.text);
    return rules;
}

static void assert_as_slowly(const made_input *made)
{
    const sf_rules_input *input = &made->input;
    bool learnt[MOST_WINDOWS];
    slow_rule rule;
    sf_rules found = learn(input);
    memset(learnt, true, sizeof learnt);
    learn_slowly(&rule, made, learnt);
    assert_int_equal(found.rule.attribute, rule.attribute);
    assert_int_equal(found.rule.interval_count, rule.count);
    assert_memory_equal(found.rule.labels, rule.labels, rule.count * sizeof *rule.labels);
    for (size_t i = 0; i + 1 < rule.count; i++)
        test_assert_same(found.rule.thresholds[i], rule.thresholds[i]);
    uint64_t confusion[MOST_LABELS * MOST_LABELS] = {0}, right = 0;
    for (size_t f = 0; f < input->folds; f++) {
        size_t begin = input->window_count * f / input->folds,
               end = input->window_count * (f + 1) / input->folds;
        for (size_t w = 0; w < input->window_count;
             w++) /* whatever shares a moment with the block is left out */
            learnt[w] = made->windows[w].stop_ns <= made->windows[begin].start_ns ||
                        made->windows[w].start_ns >= made->windows[end - 1].stop_ns;
        for (size_t w = begin; w < end; w++)
            learnt[w] = false;
        learn_slowly(&rule, made, learnt);
        assert_int_equal(found.fold_attribute[f], rule.attribute);
        for (size_t w = begin; w < end; w++) {
            uint16_t predicted = predict_slowly(&rule, made->values[w][rule.attribute]);
            confusion[made->labels[w] * input->label_count + predicted]++;
            right += predicted == made->labels[w];
        }
    }
    assert_memory_equal(found.confusion, confusion,
                        (size_t)input->label_count * input->label_count * sizeof *confusion);
    test_assert_same(found.accuracy, (double)right / (double)input->window_count);
    sf_rules_free(&found);
}

static void rules_are_what_the_obvious_way_learns(void **state)
{
    (void)state;
    test_random random = test_random_start("rules", 1993);
    static made_input made;
    for (int round = 0; round < 60; round++) {
        make_input(&made, &random);
        assert_as_slowly(&made);
    }
}

/* Witten and Frank's weather: temperatures and whether to play, at least 3 in an interval. */
static void the_textbook_example_is_cut_at_77_5(void **state)
{
    (void)state;
    static const uint64_t temperatures[] = {64, 65, 68, 69, 70, 71, 72, 72, 75, 75, 80, 81, 83, 85};
    static const uint16_t plays[] = {1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0}; /* of as many, no is kept */
    static made_input made;
    made.input = (sf_rules_input){.window_count = 14,
                                  .label_count = 2,
                                  .attribute_count = 1,
                                  .least = 3,
                                  .folds = 2,
                                  .threads = 1,
                                  .windows = made.windows,
                                  .labels = plays,
                                  .counts = made.rows};
    for (size_t w = 0; w < 14; w++) {
        made.windows[w] = (sf_span){(int64_t)w * S, (int64_t)(w + 1) * S};
        made.rows[w] = &temperatures[w];
    }
    sf_rules found = learn(&made.input);
    assert_int_equal(found.rule.interval_count, 2);
    test_assert_same(found.rule.thresholds[0], 77.5);
    assert_int_equal(found.rule.labels[0], 1);
    assert_int_equal(found.rule.labels[1], 0);
    assert_int_equal(found.rule.correct, 9);
    assert_int_equal(sf_rule_interval(found.rule.thresholds, 2, 77), 0);
    assert_int_equal(sf_rule_interval(found.rule.thresholds, 2, 78), 1);
    sf_rules_free(&found);
}

/* ---- chance ---- */

/* Labels in stretches of 2 to 7 windows, or of `period`; counts that go with them or do not. */
static void make_stretches(made_input *made, test_random *random, size_t period, bool related)
{
    sf_rules_input *input = &made->input;
    size_t left = 0;
    uint16_t label = 0;
    *input = (sf_rules_input){.window_count = MOST_WINDOWS,
                              .label_count = 2,
                              .attribute_count = 3,
                              .least = 6,
                              .folds = 10,
                              .shifts = 99,
                              .seed = 1,
                              .threads = 1,
                              .windows = made->windows,
                              .labels = made->labels,
                              .counts = made->rows};
    for (size_t w = 0; w < MOST_WINDOWS; w++, left--) {
        if (left == 0) {
            left = period > 0 ? period : 2 + test_random_below(random, 6);
            label = !label;
        }
        made->windows[w] = (sf_span){(int64_t)w * S, (int64_t)(w + 1) * S};
        made->labels[w] = label;
        made->rows[w] = made->values[w];
        for (size_t k = 0; k < 3; k++)
            made->values[w][k] = test_random_below(random, 6) + (related && k == 2 ? 4u * label : 0u);
    }
}

static void chance_is_told_from_what_is_there(void **state)
{
    (void)state;
    test_random random = test_random_start("rules by chance", 7);
    static made_input made;
    size_t found_there = 0, found_by_chance = 0;
    double accuracy = 0, chance = 0;
    for (int round = 0; round < 20; round++) {
        make_stretches(&made, &random, 0, true);
        sf_rules found = learn(&made.input);
        assert_int_equal(found.rule.attribute, 2);
        found_there += found.chance_p < 0.05;
        accuracy += found.accuracy / 20;
        chance += found.chance_mean / 20;
        sf_rules_free(&found);
        make_stretches(&made, &random, 0, false);
        found = learn(&made.input);
        found_by_chance += found.chance_p < 0.05;
        sf_rules_free(&found);
    }
    assert_true(accuracy > 0.75);
    assert_true(chance > 0.45 && chance < 0.55);
    assert_true(found_there >= 18);
    assert_true(found_by_chance <= 4);
}

/* Labels and counts change over the session, each for itself. */
static void a_trend_is_no_prediction(void **state)
{
    (void)state;
    test_random random = test_random_start("rules of a trend", 8);
    static made_input made;
    size_t found = 0;
    for (int round = 0; round < 60; round++) {
        make_stretches(&made, &random, 0, false);
        uint16_t label = 0;
        for (size_t w = 0, left = 0; w < MOST_WINDOWS; w++, left--) {
            if (left == 0) {
                left = 1 + test_random_below(&random, 4);
                label = test_random_below(&random, MOST_WINDOWS) < 10 + w * 100 / MOST_WINDOWS;
            }
            made.labels[w] = label;
            for (size_t k = 0; k < 3; k++)
                made.values[w][k] = test_random_below(&random, 6) + w * 10 / MOST_WINDOWS;
        }
        sf_rules rules = learn(&made.input);
        found += rules.chance_p < 0.05;
        sf_rules_free(&rules);
    }
    assert_true(found <= 5);
}

/* Labels that come again in step are shifted by parts of a period, or turned round in some segments. */
static void labels_in_step_have_a_chance_level(void **state)
{
    (void)state;
    test_random random = test_random_start("rules in step", 8);
    static made_input made;
    static const size_t periods[] = {10, 1};
    for (size_t i = 0; i < 2; i++) {
        make_stretches(&made, &random, periods[i], true);
        sf_rules found = learn(&made.input);
        assert_int_equal(found.shifts, 99);
        assert_int_equal(found.segments, MOST_WINDOWS / periods[i] / 2);
        assert_true(found.chance_p < 0.05);
        sf_rules_free(&found);
    }
}

static void few_labels_have_no_chance_level(void **state)
{
    (void)state;
    test_random random = test_random_start("few labels", 8);
    static made_input made;
    make_stretches(&made, &random, 15, true); /* eight stretches */
    sf_rules found = learn(&made.input);
    assert_int_equal(found.shifts, 0);
    assert_int_equal(found.segments, 0);
    assert_true(isnan(found.chance_p) && isnan(found.chance_mean));
    sf_rules_free(&found);
}

static void threads_and_seeds(void **state)
{
    (void)state;
    test_random random = test_random_start("rules on threads", 9);
    static made_input made;
    make_stretches(&made, &random, 0, false);
    sf_rules one = learn(&made.input);
    made.input.threads = 3;
    sf_rules three = learn(&made.input);
    test_assert_same(one.chance_mean, three.chance_mean);
    test_assert_same(one.chance_most, three.chance_most);
    test_assert_same(one.chance_p, three.chance_p);
    made.input.seed = 2;
    made.input.shifts = 40;
    sf_rules other = learn(&made.input);
    assert_int_equal(other.shifts, 40);
    assert_true(other.chance_mean != one.chance_mean);
    sf_rules_free(&one);
    sf_rules_free(&three);
    sf_rules_free(&other);
}

static int learn_some(void *context)
{
    sf_rules rules;
    sf_error error;
    int status = sf_rules_learn(&rules, context, &error);
    sf_rules_free(&rules);
    return status;
}

static int label_some(void *context)
{
    const sf_recording *recording = context;
    sf_epoch *epochs = NULL;
    size_t count;
    sf_labelled labelled = {.names = NULL};
    sf_error error;
    int status = sf_labels_of_markers(&epochs, &count, recording, -1, 0, &error);
    if (status == SF_OK)
        status = sf_label_windows(&labelled, recording, &(sf_span){2 * S, 3 * S}, 1, epochs, count, &error);
    sf_labelled_free(&labelled);
    sf_free(epochs);
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    test_random random = test_random_start("rules memory", 10);
    static made_input made;
    make_stretches(&made, &random, 0, true);
    made.input.window_count = 12;
    made.input.folds = 2;
    made.input.shifts = 3;
    test_fail_every_allocation(learn_some, &made.input);
    static const sf_marker marker = {.time_ns = 2 * S, .kind = SF_MARKER_TEXT, .text = "light"};
    sf_recording *recording = make_recording(&marker, 1, NULL, 0);
    test_fail_every_allocation(label_some, recording);
    sf_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_hold_until_the_next_or_their_end),
        cmocka_unit_test(edges_are_high_and_low),
        cmocka_unit_test(a_window_has_the_label_it_lies_in),
        cmocka_unit_test(more_frequent_labels_come_first),
        cmocka_unit_test(rules_are_what_the_obvious_way_learns),
        cmocka_unit_test(the_textbook_example_is_cut_at_77_5),
        cmocka_unit_test(chance_is_told_from_what_is_there),
        cmocka_unit_test(a_trend_is_no_prediction),
        cmocka_unit_test(labels_in_step_have_a_chance_level),
        cmocka_unit_test(few_labels_have_no_chance_level),
        cmocka_unit_test(threads_and_seeds),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
