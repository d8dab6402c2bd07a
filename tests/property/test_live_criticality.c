/* SPDX-License-Identifier: Apache-2.0 */
/* The branching ratio of a live run is, bit for bit, that of the same part of a recording. */
#include "analysis/criticality.h"
#include "support/support.h"

#include "core/clock.h"
#include "pipeline/criticality.h"

#include <synfire/live.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS SF_MILLISECOND

enum { UNITS = 5, MOST = 12000, MARKERS = 12, WINDOWS = 64, GAP_S = 7 };

typedef struct made {
    sf_spike spikes[MOST];
    size_t spike_count;
    sf_marker markers[MARKERS];
} made;

/* Activity that spreads: each of the active brings about 0.9 in the next 4 ms, and some begin. Half way it is
 * silent for longer than windows are apart. */
static void make(made *m, test_random *random)
{
    size_t active = 0;
    int64_t now_ns = (int64_t)test_random_below(random, 900) * MS, gap_ns = 0;
    m->spike_count = 0;
    for (size_t bin = 0; bin < 4000 && m->spike_count < MOST; bin++, now_ns += 4 * MS) {
        size_t next = test_random_below(random, 2);
        for (size_t i = 0; i < active; i++)
            next += test_random_below(random, 10) != 0;
        active = next;
        for (size_t i = 0; i < active && m->spike_count < MOST; i++)
            if (test_random_below(random, 2) == 0)
                m->spikes[m->spike_count++] =
                    (sf_spike){now_ns + gap_ns + (int64_t)test_random_below(random, 4) * MS,
                               (uint32_t)test_random_below(random, UNITS), NAN};
        gap_ns = bin > 2000 ? GAP_S * SF_SECOND : 0;
    }
    assert_int_equal(sf_spikes_sort(m->spikes, m->spike_count, NULL), SF_OK);
    int64_t first_ns = m->spikes[0].time_ns, length_ns = m->spikes[m->spike_count - 1].time_ns - first_ns;
    for (size_t i = 0; i < MARKERS; i++)
        m->markers[i] = (sf_marker){.time_ns = first_ns + ((int64_t)i + 1) * length_ns / (MARKERS + 2),
                                    .kind = SF_MARKER_TEXT,
                                    .text = "light"};
}

/* ---- offline ---- */

static sf_recording *record(const made *m)
{
    sf_unit units[UNITS];
    static const char names[UNITS][2] = {"a", "b", "c", "d", "e"};
    sf_recording_input input = sf_recording_input_default();
    sf_recording *whole;
    for (size_t u = 0; u < UNITS; u++)
        units[u] = (sf_unit){.name = names[u], .x_um = NAN, .y_um = NAN, .electrode = -1};
    input.unit_count = UNITS;
    input.units = units;
    input.spikes = m->spikes;
    input.spike_count = m->spike_count;
    input.markers = m->markers;
    input.marker_count = MARKERS;
    assert_int_equal(sf_recording_new(&whole, &input, NULL), SF_OK);
    return whole;
}

static void same(double live, double offline)
{
    if (live != offline && !(isnan(live) && isnan(offline)))
        fail_msg("live %.17g, offline %.17g", live, offline);
}

/* A message beside what the command finds in that part of the recording. */
static void hold(const sf_criticality_message *live, const sf_recording *whole,
                 const sf_criticality_options *options, bool blanks)
{
    sf_recording *part;
    sf_criticality found;
    sf_selection selection = sf_selection_default();
    selection.from = (sf_time_point){.given = true, .ns = live->window.start_ns};
    selection.to = (sf_time_point){.given = true, .ns = live->window.stop_ns};
    selection.blank = blanks ? "light" : NULL;
    selection.blank_to_ns = 30 * MS;
    assert_int_equal(sf_recording_select(&part, whole, &selection, NULL), SF_OK);
    assert_int_equal(sf_criticality_find(&found, part, options, NULL, NULL), SF_OK);
    const sf_criticality_measure *of = found.measures;
    assert_int_equal(live->spikes, found.spikes);
    same(live->duration_s, found.duration_s);
    same(live->branching_ratio, of[SF_CRITICAL_BRANCHING].value);
    same(live->branching_low, of[SF_CRITICAL_BRANCHING].low);
    same(live->branching_high, of[SF_CRITICAL_BRANCHING].high);
    same(live->branching_ratio_conventional, of[SF_CRITICAL_CONVENTIONAL].value);
    same(live->timescale_s, of[SF_CRITICAL_TIMESCALE].value);
    same(live->timescale_low_s, of[SF_CRITICAL_TIMESCALE].low);
    same(live->timescale_high_s, of[SF_CRITICAL_TIMESCALE].high);
    same(live->own_share, of[SF_CRITICAL_OWN_SHARE].value);
    assert_int_equal(live->lags, found.branching.lags);
    assert_int_equal(live->blocks, found.branching.blocks);
    size_t caution = 0;
    for (size_t i = 0; i < found.caution_count; i++) {
        if (strcmp(found.cautions[i].of, "branching_ratio") != 0) continue;
        assert_true(caution < live->caution_count);
        assert_string_equal(live->cautions[caution].caution, found.cautions[i].caution);
        assert_string_equal(live->cautions[caution++].text, found.cautions[i].text);
    }
    assert_int_equal(caution, live->caution_count);
    sf_criticality_free(&found);
    sf_recording_free(part);
}

/* ---- live ---- */

typedef struct heard {
    sf_message *messages[WINDOWS];
    size_t count;
    sf_message *status; /* the last */
} heard;

static void hear(heard *all, sf_message *message)
{
    if (message->topic == SF_TOPIC_CRITICALITY) {
        assert_true(all->count < WINDOWS);
        all->messages[all->count++] = message;
        return;
    }
    sf_message_release(all->status);
    all->status = message;
}

static size_t markers_up_to(const made *m, size_t from, int64_t time_ns)
{
    size_t count = 0;
    while (from + count < MARKERS && m->markers[from + count].time_ns <= time_ns)
        count++;
    return count;
}

static void push(sf_live *live, const made *m, test_random *random)
{
    sf_error error;
    for (size_t done = 0, marked = 0; done < m->spike_count;) {
        size_t part = 1 + test_random_below(random, 900), left = m->spike_count - done;
        part = part < left ? part : left;
        int64_t until_ns = part == left ? INT64_MAX : m->spikes[done + part].time_ns;
        size_t markers = markers_up_to(m, marked, until_ns);
        int status = markers > 0 ? sf_live_mark(live, 0, m->markers + marked, markers, &error) : SF_OK;
        marked += status == SF_OK ? markers : 0;
        if (status == SF_OK) status = sf_live_push(live, 0, m->spikes + done, part, until_ns, &error);
        assert_true(status == SF_OK || status == SF_AGAIN);
        done += status == SF_OK ? part : 0;
    }
}

static void run(heard *all, const made *m, const sf_live_criticality *asked, bool blanks, bool virtual_clock,
                test_random *random)
{
    static const sf_live_unit units[UNITS] = {
        {.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}};
    const sf_live_source source = {.units = units, .unit_count = UNITS, .virtual_clock = virtual_clock};
    const sf_live_blank blank = {.marker = "light", .to_ms = 30};
    sf_live_options options = sf_live_options_default();
    options.window.length_s = options.window.hop_s = 1;
    options.mine.every = 0;
    options.graph.enabled = false;
    options.significance.kind = 0;
    options.criticality = *asked;
    options.blank = &blank;
    options.blank_count = blanks;
    options.sources = &source;
    options.source_count = 1;
    options.topics = 1u << SF_TOPIC_CRITICALITY | 1u << SF_TOPIC_STATUS;
    options.queue = 4096;
    sf_live *live;
    sf_error error;
    sf_message *message;
    int status;
    if (sf_live_open(&live, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    push(live, m, random);
    while ((status = sf_live_next(live, &message, 1000, &error)) != SF_END)
        if (status == SF_OK) hear(all, message);
    assert_int_equal(sf_live_close(live, &error), SF_OK);
}

/* The status has what was told last. */
static void hold_status(const heard *all)
{
    const sf_criticality_message *last = &all->messages[all->count - 1]->criticality;
    const sf_status_message *status = &all->status->status;
    same(status->branching_ratio, last->branching_ratio);
    same(status->branching_low, last->branching_low);
    same(status->branching_high, last->branching_high);
    same(status->branching_at_s, (double)last->window.stop_ns * 1e-9);
    char words[200] = "";
    for (size_t i = 0; i < last->caution_count; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i > 0 ? ", " : "",
                 last->cautions[i].caution);
    assert_string_equal(status->branching_cautions, words);
}

static void release(heard *all)
{
    for (size_t i = 0; i < all->count; i++)
        sf_message_release(all->messages[i]);
    sf_message_release(all->status);
}

/* Each window ends a whole number of steps after the first spike, and holds one in its last step. */
static size_t hold_windows(const heard *all, const made *m, const sf_live_criticality *asked)
{
    int64_t every_ns = llround(asked->every_s * 1e9), first_ns = m->spikes[0].time_ns;
    size_t at = 0, passed = 0;
    for (int64_t due_ns = first_ns + every_ns; due_ns <= m->spikes[m->spike_count - 1].time_ns;
         due_ns += every_ns) {
        size_t from = sf_spikes_lower_bound(m->spikes, m->spike_count, due_ns - every_ns),
               to = sf_spikes_lower_bound(m->spikes, m->spike_count, due_ns);
        if (from == to) {
            passed++;
            continue;
        }
        assert_true(at < all->count);
        const sf_message *message = all->messages[at++];
        assert_int_equal(message->time_ns, due_ns);
        assert_int_equal(message->criticality.window.stop_ns, due_ns);
        int64_t start_ns = due_ns - llround(asked->length_s * 1e9);
        bool partial = start_ns < first_ns;
        assert_int_equal(message->criticality.partial, partial);
        assert_int_equal(message->criticality.window.start_ns, partial ? first_ns : start_ns);
        assert_int_equal(message->criticality.missed, 0);
    }
    assert_true(all->count - at <= 1); /* one may end just after the last spike */
    return passed;
}

static void ratios_of_a_run_are_those_of_a_recording(void **state)
{
    (void)state;
    test_random random = test_random_start("live criticality", 7);
    made *m = malloc(sizeof *m);
    size_t windows = 0, known = 0, passed = 0;
    for (int round = 0; round < 4; round++) {
        bool blanks = round % 2 == 1;
        heard all = {0};
        const sf_live_criticality asked = {.every_s = 1.25 + (double)test_random_below(&random, 3),
                                           .length_s = 3 + (double)test_random_below(&random, 4),
                                           .bin_ms = 4,
                                           .lags = 20 + (uint32_t)test_random_below(&random, 30)};
        sf_criticality_options options = SF_CRITICALITY_OPTIONS;
        options.lags = asked.lags;
        options.rounds = 0;
        make(m, &random);
        sf_recording *recording = record(m);
        run(&all, m, &asked, blanks, true, &random);
        passed += hold_windows(&all, m, &asked);
        for (size_t i = 0; i < all.count; i++) {
            hold(&all.messages[i]->criticality, recording, &options, blanks);
            known += isfinite(all.messages[i]->criticality.branching_low) ? 1 : 0;
        }
        hold_status(&all);
        windows += all.count;
        release(&all);
        sf_recording_free(recording);
    }
    free(m);
    assert_true(windows > 20 && known > 10 && passed > 4);
}

/* Beside the stream: what is told is the same, and what was due too soon is counted. */
static void a_run_does_not_wait_for_them(void **state)
{
    (void)state;
    test_random random = test_random_start("live criticality beside", 8);
    made *m = malloc(sizeof *m);
    heard all = {0};
    const sf_live_criticality asked = {.every_s = 0.5, .length_s = 4, .bin_ms = 4, .lags = 200};
    sf_criticality_options options = SF_CRITICALITY_OPTIONS;
    options.lags = asked.lags;
    options.rounds = 0;
    make(m, &random);
    sf_recording *recording = record(m);
    run(&all, m, &asked, false, false, &random);
    for (size_t i = 0; i < all.count; i++)
        hold(&all.messages[i]->criticality, recording, &options, false);
    assert_true(all.status->status.branching_missed + all.count > 20);
    assert_true(all.status->status.branching_missed > 0); /* 16 s of spikes come at once */
    release(&all);
    sf_recording_free(recording);
    free(m);
}

static void nothing_is_told_where_it_is_not_asked_for(void **state)
{
    (void)state;
    test_random random = test_random_start("no live criticality", 9);
    made *m = malloc(sizeof *m);
    heard all = {0};
    const sf_live_criticality asked = {.length_s = 100, .bin_ms = 4, .lags = 500};
    make(m, &random);
    run(&all, m, &asked, false, true, &random);
    assert_int_equal(all.count, 0);
    assert_true(isnan(all.status->status.branching_ratio) && isnan(all.status->status.branching_at_s));
    assert_string_equal(all.status->status.branching_cautions, "");
    release(&all);
    free(m);
}

/* On a virtual clock: an estimate of a run that is halted is neither told nor a failure. */
static void a_halted_run_leaves_its_estimate(void **state)
{
    (void)state;
    test_random random = test_random_start("halted criticality", 10);
    made *m = malloc(sizeof *m);
    make(m, &random);
    for (int halted = 0; halted < 2; halted++) {
        sf_live_options options = sf_live_options_default();
        options.criticality = (sf_live_criticality){.every_s = 5, .length_s = 5, .bin_ms = 4, .lags = 50};
        const sf_inputs inputs = {.units.count = UNITS, .virtual_clock = true};
        sf_criticality_run run;
        sf_publisher publisher = {0};
        int64_t began_ns = m->spikes[0].time_ns;
        assert_int_equal(sf_criticality_run_open(&run, &options, &inputs, true, NULL), SF_OK);
        run.began_ns = began_ns;
        if (halted) sf_background_halt(&run.background);
        assert_int_equal(sf_criticality_run_feed(&run, m->spikes, m->spike_count, NULL), SF_OK);
        assert_int_equal(sf_criticality_run_reach(&run, began_ns + 11 * SF_SECOND, 0, &publisher, NULL),
                         SF_OK);
        assert_int_equal(sf_criticality_run_finish(&run, &publisher, NULL), SF_OK);
        assert_true((run.newest == NULL) == (halted == 1));
        sf_criticality_run_close(&run);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ratios_of_a_run_are_those_of_a_recording),
                                       cmocka_unit_test(a_run_does_not_wait_for_them),
                                       cmocka_unit_test(nothing_is_told_where_it_is_not_asked_for),
                                       cmocka_unit_test(a_halted_run_leaves_its_estimate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
