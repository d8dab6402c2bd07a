/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that a program has in memory, and parts of them, by the public header. */
#include "support/support.h"

#include "core/memory.h"

#include <math.h>

enum { UNITS = 3, SPIKES = 6 };

static const sf_unit units[UNITS] = {
    {.name = "A", .x_um = 0, .y_um = 0, .electrode = 1},
    {.name = "A", .x_um = 100, .y_um = 0, .electrode = 2},
    {.name = NULL, .x_um = 200, .y_um = 0, .kind = SF_UNIT_SORTED, .electrode = -1}};

/* Not in order: the last but one is before all others, and two of one time are in the wrong order of units.
 */
static const sf_spike spikes[SPIKES] = {{.time_ns = 100, .unit = 2}, {.time_ns = 100, .unit = 0},
                                        {.time_ns = 250, .unit = 1}, {.time_ns = 400, .unit = 2},
                                        {.time_ns = -50, .unit = 0}, {.time_ns = 450, .unit = 0}};
static const sf_marker markers[] = {{.time_ns = 300, .kind = SF_MARKER_TEXT, .text = "light"},
                                    {.time_ns = 10, .kind = SF_MARKER_TTL, .state = 1, .line = 3}};
static const sf_span recorded = {-100, 400}, observed[] = {{-100, 200}, {240, 500}};
static const sf_metadata_entry metadata[] = {{"species", "mouse"}};

static sf_recording_input whole_input(void)
{
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = UNITS;
    input.units = units;
    input.spikes = spikes;
    input.spike_count = SPIKES;
    input.markers = markers;
    input.marker_count = 2;
    input.recorded = &recorded;
    input.observed = observed;
    input.observed_count = 2;
    input.metadata = metadata;
    input.metadata_count = 1;
    return input;
}

static sf_recording *make(const sf_recording_input *input)
{
    sf_recording *recording;
    sf_error error = {0};
    if (sf_recording_new(&recording, input, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    return recording;
}

static sf_recording_columns columns_of(const sf_recording *recording)
{
    sf_recording_columns columns = {.size = sizeof columns};
    sf_recording_get_columns(recording, &columns);
    return columns;
}

static void what_is_given_is_read_back(void **state)
{
    (void)state;
    const sf_recording_input input = whole_input();
    sf_recording *recording = make(&input);
    const sf_recording_columns of = columns_of(recording);
    assert_null(of.path);
    assert_int_equal(of.unit_count, UNITS);
    assert_string_equal(of.units[0].name, "A");
    assert_string_equal(of.units[1].name, "A_2");
    assert_string_equal(of.units[2].name, "e3");
    assert_int_equal(of.units[2].kind, SF_UNIT_SORTED);
    assert_true(of.units[1].x_um == 100);
    assert_int_equal(of.units[1].electrode, 2);

    assert_true(of.sorted);
    static const int64_t times[SPIKES] = {-50, 100, 100, 250, 400, 450};
    static const uint32_t who[SPIKES] = {0, 0, 2, 1, 2, 0};
    assert_int_equal(of.spike_count, SPIKES);
    for (size_t i = 0; i < SPIKES; i++) {
        assert_int_equal(of.spikes[i].time_ns, times[i]);
        assert_int_equal(of.spikes[i].unit, who[i]);
    }
    assert_int_equal(of.marker_count, 2);
    assert_int_equal(of.markers[0].line, 3); /* in order of time */
    assert_string_equal(of.markers[1].text, "light");
    assert_true(of.declared);
    assert_int_equal(of.recorded.start_ns, -100);
    assert_int_equal(of.recorded.stop_ns, 451); /* the last spike is in it */
    assert_int_equal(of.observed_count, 2);
    assert_int_equal(of.duration_ns, 300 + 260);
    assert_int_equal(of.tick_ns, 50);
    assert_int_equal(of.metadata_count, 1);
    assert_string_equal(of.metadata[0].value, "mouse");
    assert_int_equal(of.selected->spikes, SPIKES);
    assert_int_equal(of.selected->unit_count, UNITS);
    uint32_t unit;
    sf_error error;
    assert_int_equal(sf_recording_find_unit(recording, "A_2", &unit, &error), SF_OK);
    assert_int_equal(unit, 1);
    assert_int_equal(sf_recording_find_unit(recording, "#2", &unit, &error), SF_OK);
    assert_int_equal(unit, 2);
    test_assert_fails(sf_recording_find_unit(recording, "B", &unit, &error), &error, SF_USAGE, "'B'");
    sf_recording_free(recording);
}

static void episodes_are_read_by_its_names(void **state)
{
    (void)state;
    const sf_recording_input input = whole_input();
    sf_recording *recording = make(&input);
    sf_episode episode;
    sf_error error;
    assert_int_equal(sf_recording_parse_episode(recording, "A -(4,6]-> A_2 -(6,8]-> #2", &episode, &error),
                     SF_OK);
    assert_int_equal(episode.size, 3);
    assert_int_equal(episode.units[1], 1);
    assert_int_equal(episode.units[2], 2);
    assert_int_equal(episode.delays[1].high_ns, 8000000);
    test_assert_fails(sf_recording_parse_episode(recording, "A -(4,6]-> X", &episode, &error), &error,
                      SF_USAGE, "X");
    sf_recording_free(recording);
}

static void without_names_and_times_there_are_defaults(void **state)
{
    (void)state;
    static const sf_spike ordered[] = {{.time_ns = 7, .unit = 1}, {.time_ns = 9, .unit = 0}};
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = 2;
    input.spikes = ordered;
    input.spike_count = 2;
    sf_recording *recording = make(&input);
    const sf_recording_columns of = columns_of(recording);
    assert_false(of.sorted);
    assert_false(of.declared);
    assert_string_equal(of.units[1].name, "e2");
    assert_true(isnan(of.units[1].x_um));
    assert_int_equal(of.recorded.start_ns, 7);
    assert_int_equal(of.recorded.stop_ns, 10);
    assert_int_equal(of.duration_ns, 3);
    sf_recording_free(recording);
    input.spike_count = 0; /* nothing happened, which is a recording too */
    recording = make(&input);
    assert_int_equal(columns_of(recording).spike_count, 0);
    sf_recording_free(recording);
}

static void refuse(const sf_recording_input *input, sf_status code, const char *place, const char *words)
{
    sf_recording *recording;
    sf_error error = {0};
    test_assert_fails(sf_recording_new(&recording, input, &error), &error, code, words);
    assert_string_equal(error.place, place);
    assert_null(recording);
}

static void what_cannot_be_a_recording_is_refused(void **state)
{
    (void)state;
    sf_recording_input input = whole_input();
    input.unit_count = 2;
    refuse(&input, SF_USAGE, "spikes", "spike 0 is of unit 2, expected less than 2");
    input = whole_input();
    static const sf_span empty[] = {{0, 5}, {5, 5}}, overlapping[] = {{0, 5}, {4, 6}}, backward = {5, 4};
    input.observed = empty;
    refuse(&input, SF_USAGE, "observed", "interval 1");
    input.observed = overlapping;
    refuse(&input, SF_USAGE, "observed", "interval 1");
    input = whole_input();
    input.recorded = &backward;
    refuse(&input, SF_USAGE, "recorded", "before it starts");
    input = whole_input();
    sf_marker endless = {.kind = SF_MARKER_TEXT}, kindless = {.kind = 7};
    memset(endless.text, 'x', sizeof endless.text);
    input.marker_count = 1;
    input.markers = &endless;
    refuse(&input, SF_USAGE, "markers", "marker 0");
    input.markers = &kindless;
    refuse(&input, SF_USAGE, "markers", "kind 7");
    input = whole_input();
    const sf_spike late = {.time_ns = INT64_MAX - 5};
    input.spikes = &late;
    input.spike_count = 1;
    refuse(&input, SF_DATA, "", "beyond 146 years");
    input = whole_input();
    input.size = 0;
    refuse(&input, SF_USAGE, "recording", "size");
}

static void a_selection_is_a_copy_of_what_was_chosen(void **state)
{
    (void)state;
    const sf_recording_input input = whole_input();
    sf_recording *recording = make(&input), *part, *again;
    sf_error error = {0};
    sf_selection selection = sf_selection_default();
    selection.units = "#0,e3";
    selection.from = (sf_time_point){.given = true, .from_first = true, .ns = 150};
    assert_int_equal(sf_recording_select(&part, recording, &selection, &error), SF_OK);
    assert_int_equal(columns_of(recording).spike_count, SPIKES); /* as it was */
    const sf_recording_columns of = columns_of(part);
    assert_int_equal(of.spike_count, 4);
    assert_int_equal(of.spikes[0].time_ns, 100);
    assert_int_equal(of.unit_count, UNITS);
    assert_int_equal(of.duration_ns, 100 + 260);
    assert_int_equal(of.selected->unit_count, 2);
    assert_string_equal(of.selected->names[1], "e3");
    assert_int_equal(of.selected->from_ns, 100);
    assert_int_equal(of.selected->spikes_in_file, SPIKES);
    sf_recording_free(recording); /* it is a copy */

    /* A part is cut further, and tells both cuts; but no second cut of one kind. */
    sf_selection more = sf_selection_default();
    more.to = (sf_time_point){.given = true, .ns = 450};
    assert_int_equal(sf_recording_select(&again, part, &more, &error), SF_OK);
    assert_int_equal(columns_of(again).spike_count, 3);
    assert_int_equal(columns_of(again).selected->from_ns, 100);
    assert_int_equal(columns_of(again).selected->to_ns, 450);
    assert_int_equal(columns_of(again).selected->spikes_in_file, SPIKES);
    sf_recording_free(again);
    more.units = "#0";
    test_assert_fails(sf_recording_select(&again, part, &more, &error), &error, SF_USAGE, "chosen already");
    assert_string_equal(error.place, "units");
    assert_null(again);
    more = sf_selection_default();
    more.stream = "left";
    test_assert_fails(sf_recording_select(&again, part, &more, &error), &error, SF_USAGE, "opened");
    sf_recording_free(part);
}

static void a_part_is_what_lies_in_a_span(void **state)
{
    (void)state;
    const sf_recording_input input = whole_input();
    sf_recording *recording = make(&input), *part;
    const sf_recording_columns whole = columns_of(recording);
    sf_error error = {0};
    assert_int_equal(sf_recording_part(&part, recording, (sf_span){100, 400}, &error), SF_OK);
    sf_recording_columns of = columns_of(part);
    assert_ptr_equal(of.spikes, whole.spikes + 1); /* no copy */
    assert_int_equal(of.spike_count, 3);
    assert_int_equal(of.marker_count, 1);
    assert_string_equal(of.markers[0].text, "light");
    assert_int_equal(of.recorded.start_ns, 100);
    assert_int_equal(of.recorded.stop_ns, 400);
    assert_int_equal(of.observed_count, 2);
    assert_int_equal(of.duration_ns, 100 + 160);
    sf_recording_free(part);
    assert_int_equal(sf_recording_part(&part, recording, (sf_span){200, 240}, &error), SF_OK);
    of = columns_of(part);
    assert_int_equal(of.spike_count, 0);
    assert_int_equal(of.duration_ns, 0); /* recording paused */
    sf_recording_free(part);
    sf_recording_free(recording);
}

static int make_and_cut(void *context)
{
    (void)context;
    const sf_recording_input input = whole_input();
    sf_recording *recording, *selected = NULL, *part = NULL;
    int status = sf_recording_new(&recording, &input, NULL);
    const sf_epoch epochs[] = {{.span = {0, 500}, .label = "one"}};
    sf_selection selection = sf_selection_default();
    selection.units = "#0,A_2";
    selection.epochs = epochs;
    selection.epoch_count = 1;
    selection.blank = "light";
    selection.blank_to_ns = 5;
    if (status == SF_OK) status = sf_recording_select(&selected, recording, &selection, NULL);
    sf_recording_free(recording);
    if (status == SF_OK) status = sf_recording_part(&part, selected, (sf_span){100, 300}, NULL);
    sf_recording_free(part);
    sf_recording_free(selected);
    return status;
}

static void no_failed_allocation_leaks(void **state)
{
    (void)state;
    test_fail_every_allocation(make_and_cut, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_is_read_back),
        cmocka_unit_test(episodes_are_read_by_its_names),
        cmocka_unit_test(without_names_and_times_there_are_defaults),
        cmocka_unit_test(what_cannot_be_a_recording_is_refused),
        cmocka_unit_test(a_selection_is_a_copy_of_what_was_chosen),
        cmocka_unit_test(a_part_is_what_lies_in_a_span),
        cmocka_unit_test(no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
