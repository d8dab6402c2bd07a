/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of a live run are those of a recording of the same spikes and markers, trial by trial. */
#include "analysis/responses.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/episode.h"

#include <synfire/live.h>
#include <synfire/mine.h>

#include <math.h>
#include <string.h>

#define MS SF_MILLISECOND

enum { UNITS = 4, SPIKES = 3000, MARKERS = 40 };

/* All of one replay; times are whole milliseconds, so that spikes meet the edges of windows. */
typedef struct made {
    sf_spike spikes[SPIKES];
    sf_marker markers[2 * MARKERS];
    size_t marker_count;
} made;

static int by_time(const void *a, const void *b)
{
    const sf_marker *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void make(made *m, test_random *random)
{
    int64_t length_ms = 2000 + (int64_t)test_random_below(random, 3000);
    m->marker_count = 0;
    for (size_t i = 0; i < SPIKES; i++)
        m->spikes[i] = (sf_spike){.time_ns = (int64_t)test_random_below(random, (uint64_t)length_ms) * MS,
                                  .unit = (uint32_t)test_random_below(random, UNITS - 1),
                                  .amplitude = NAN};
    assert_int_equal(sf_spikes_sort(m->spikes, SPIKES, NULL), SF_OK);
    for (size_t i = 0; i < MARKERS; i++) {
        int64_t time_ns = (int64_t)test_random_below(random, (uint64_t)length_ms) * MS;
        m->markers[m->marker_count++] =
            (sf_marker){.time_ns = time_ns, .kind = SF_MARKER_TEXT, .text = "light"};
        if (i % 2 == 0)
            m->markers[m->marker_count++] =
                (sf_marker){.time_ns = time_ns + 300 * MS, .kind = SF_MARKER_TTL, .state = 1, .line = 1};
    }
    qsort(m->markers, m->marker_count, sizeof *m->markers, by_time);
}

/* Their order is not that of their indices. */
static const char names[UNITS][2] = {"c", "a", "d", "b"};
static const char *const chains[] = {"c -(0,6]-> a", "a -(2,9]-> c -(0,12]-> d"};
enum { CHAINS = sizeof chains / sizeof *chains };

/* ---- offline ---- */

static sf_recording *record(const made *m, bool blanks)
{
    sf_unit units[UNITS];
    sf_recording_input input = sf_recording_input_default();
    sf_recording *whole, *blanked;
    sf_error error;
    for (size_t u = 0; u < UNITS; u++)
        units[u] = (sf_unit){.name = names[u], .x_um = NAN, .y_um = NAN, .electrode = -1};
    input.unit_count = UNITS;
    input.units = units;
    input.spikes = m->spikes;
    input.spike_count = SPIKES;
    input.markers = m->markers;
    input.marker_count = m->marker_count;
    assert_int_equal(sf_recording_new(&whole, &input, &error), SF_OK);
    if (!blanks) return whole;
    sf_selection selection = sf_selection_default();
    selection.blank = "ttl1";
    selection.blank_to_ns = 7 * MS;
    assert_int_equal(sf_recording_select(&blanked, whole, &selection, &error), SF_OK);
    sf_recording_free(whole);
    return blanked;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The responses of the chains: what `synfire responses --episodes` looks at. */
static void find_chains(sf_responses *expected, const sf_recording *recording,
                        const sf_response_options *options)
{
    sf_episode episodes[CHAINS];
    sf_occurrences *occurrences;
    sf_occurrences_columns listed = {.size = sizeof listed};
    sf_event_train begins[CHAINS];
    int64_t *times[CHAINS];
    for (size_t c = 0; c < CHAINS; c++)
        assert_int_equal(sf_episode_parse(&episodes[c], chains[c], &recording->units, NULL), SF_OK);
    assert_int_equal(sf_occurrences_list(&occurrences, recording, episodes, NULL, CHAINS, NULL, NULL), SF_OK);
    sf_occurrences_get_columns(occurrences, &listed);
    for (size_t c = 0; c < CHAINS; c++) {
        size_t count = (size_t)listed.counts[c];
        times[c] = malloc((count + 1) * sizeof **times);
        for (size_t n = 0; n < count; n++)
            times[c][n] = listed.times_ns[c][n * episodes[c].size];
        qsort(times[c], count, sizeof **times, ascending);
        begins[c] = (sf_event_train){times[c], count};
    }
    assert_int_equal(sf_responses_open(expected, recording, options, NULL), SF_OK);
    assert_int_equal(sf_responses_take(expected, begins, CHAINS, 1, NULL), SF_OK);
    for (size_t c = 0; c < CHAINS; c++)
        free(times[c]);
    sf_occurrences_free(occurrences);
}

/* ---- live ---- */

typedef struct heard {
    sf_message *last;
    size_t count;
    int64_t markers_ns[MARKERS];
    uint64_t spikes[MARKERS], baseline[MARKERS], answers[MARKERS];
} heard;

static void hear(heard *all, sf_message *message)
{
    const sf_response_message *response = &message->response;
    assert_int_equal(message->topic, SF_TOPIC_RESPONSE);
    assert_string_equal(response->marker, "light");
    assert_int_equal(response->trials, all->count + 1);
    all->markers_ns[all->count] = response->marker_ns;
    all->spikes[all->count] = response->spikes;
    all->baseline[all->count] = response->baseline_spikes;
    all->answers[all->count++] = response->answers;
    sf_message_release(all->last);
    all->last = message;
}

static size_t markers_up_to(const made *m, size_t from, int64_t time_ns)
{
    size_t count = 0;
    while (from + count < m->marker_count && m->markers[from + count].time_ns <= time_ns)
        count++;
    return count;
}

static void run(heard *all, const made *m, const sf_live_responses *asked, bool blanks, bool watches,
                bool virtual_clock, test_random *random)
{
    const sf_live_unit units[UNITS] = {
        {.name = names[0]}, {.name = names[1]}, {.name = names[2]}, {.name = names[3]}};
    const sf_live_source source = {.units = units, .unit_count = UNITS, .virtual_clock = virtual_clock};
    const sf_live_blank blank = {.marker = "ttl1", .to_ms = 7};
    sf_live_options options = sf_live_options_default();
    options.window.length_s = 1;
    options.window.hop_s = virtual_clock ? 1 : 0.01;
    options.mine.every = 0;
    options.graph.enabled = !virtual_clock;
    options.significance.kind = 0;
    options.responses = *asked;
    options.watch = chains;
    options.watch_count = watches ? CHAINS : 0;
    options.blank = &blank;
    options.blank_count = blanks;
    options.sources = &source;
    options.source_count = 1;
    options.topics = 1u << SF_TOPIC_RESPONSE;
    options.queue = 4096;
    sf_live *live;
    sf_error error;
    size_t marked = 0;
    if (sf_live_open(&live, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    for (size_t done = 0; done < SPIKES;) {
        size_t part = 1 + test_random_below(random, 90);
        part = part < SPIKES - done ? part : SPIKES - done;
        bool last = done + part == SPIKES;
        size_t markers = markers_up_to(m, marked, last ? INT64_MAX : m->spikes[done + part].time_ns);
        int status = markers > 0 ? sf_live_mark(live, 0, m->markers + marked, markers, &error) : SF_OK;
        assert_true(status == SF_OK || status == SF_AGAIN);
        marked += status == SF_OK ? markers : 0;
        if (status == SF_OK)
            status = sf_live_push(live, 0, m->spikes + done, part,
                                  last ? INT64_MAX : m->spikes[done + part].time_ns, &error);
        assert_true(status == SF_OK || status == SF_AGAIN);
        done += status == SF_OK ? part : 0;
        if (!virtual_clock) /* spikes come while the windows are at work */
            sf_clock_sleep_until(sf_clock_monotonic_ns() + (int64_t)test_random_below(random, 100) * 1000);
    }
    sf_message *message;
    int status;
    while ((status = sf_live_next(live, &message, 1000, &error)) != SF_END)
        if (status == SF_OK) hear(all, message);
    assert_int_equal(sf_live_close(live, &error), SF_OK);
}

static void same_ms(double live, double offline_ns)
{
    if (isnan(offline_ns))
        assert_true(isnan(live));
    else
        assert_true(live == offline_ns * 1e-6); /* both add up in the order of trials */
}

static void hold_counts(const sf_response_unit *unit, const sf_responses *expected, size_t i)
{
    const sf_response *item = &expected->items[i];
    double trials = (double)expected->trial_count, windows = trials * (double)expected->options.baseline;
    assert_int_equal(unit->spikes, item->spikes);
    assert_int_equal(unit->baseline_spikes, item->spikes_before);
    assert_true(unit->reliability == (double)item->answers / trials);
    assert_true(unit->baseline_reliability == (double)item->answers_before / windows);
    same_ms(unit->latency_ms, item->latency_ns);
    same_ms(unit->jitter_ms, item->jitter_ns);
    for (size_t b = 0; b < unit->bin_count; b++)
        assert_int_equal(unit->bins[b], expected->histogram[i * expected->bin_count + b]);
}

static uint64_t hold_chains(const sf_response_message *last, const sf_responses *expected)
{
    uint64_t spikes = 0;
    assert_int_equal(last->chain_count, CHAINS);
    for (size_t c = 0; c < CHAINS; c++) {
        assert_string_equal(last->chains[c].name, chains[c]);
        assert_int_equal(strlen(last->chains[c].id), 16);
        hold_counts(&last->chains[c].counts, expected, c);
        spikes += expected->items[c].spikes;
    }
    return spikes;
}

static void hold(const heard *all, const sf_responses *expected)
{
    assert_int_equal(all->count, expected->trial_count);
    for (size_t t = 0; t < all->count; t++) {
        assert_int_equal(all->markers_ns[t], expected->trials[t].time_ns);
        assert_int_equal(all->spikes[t], expected->trials[t].spikes);
        assert_int_equal(all->baseline[t], expected->trials[t].spikes_before);
        assert_int_equal(all->answers[t], expected->trials[t].answers);
    }
    const sf_response_message *last = &all->last->response;
    assert_int_equal(last->exposed_ns, expected->exposed_ns);
    assert_int_equal(last->bin_count, expected->bin_count);
    assert_int_equal(last->first_ns, expected->first_ns);
    for (size_t b = 0; b < last->bin_count; b++)
        assert_int_equal(last->bin_exposed_ns[b], expected->bin_exposed_ns[b]);
    for (size_t u = 0; u < UNITS; u++)
        hold_counts(&last->units[u], expected, u);
}

static void trials_of_a_run_are_those_of_a_recording(void **state)
{
    (void)state;
    test_random random = test_random_start("live responses", 5);
    made *m = malloc(sizeof *m);
    size_t trials = 0, partial = 0, occurrences = 0;
    for (int round = 0; round < 24; round++) {
        bool blanks = round % 2 == 1, watches = round % 3 != 0;
        heard all = {0};
        double from_ms = (double)test_random_below(&random, 10);
        const sf_live_responses asked = {.marker = "light",
                                         .from_ms = from_ms,
                                         .to_ms = from_ms + 5 + (double)test_random_below(&random, 40),
                                         .baseline = 1 + (uint32_t)test_random_below(&random, 3),
                                         .bin_ms = 1 + (double)test_random_below(&random, 9),
                                         .every = 1};
        sf_response_options options = SF_RESPONSE_OPTIONS;
        sf_responses expected, of_chains = {0};
        options.marker = "light";
        options.from_ns = (int64_t)asked.from_ms * MS;
        options.to_ns = (int64_t)asked.to_ms * MS;
        options.baseline = asked.baseline;
        options.bin_ns = (int64_t)asked.bin_ms * MS;
        options.permutations = 1;
        make(m, &random);
        sf_recording *recording = record(m, blanks);
        assert_int_equal(sf_responses_open(&expected, recording, &options, NULL), SF_OK);
        assert_int_equal(sf_responses_take_units(&expected, recording, 1, NULL), SF_OK);
        run(&all, m, &asked, blanks, watches, round % 4 < 2, &random); /* else trials are counted beside it */
        hold(&all, &expected);
        if (watches) {
            find_chains(&of_chains, recording, &options);
            occurrences += hold_chains(&all.last->response, &of_chains);
        }
        trials += all.count;
        for (size_t t = 0; t < expected.trial_count; t++)
            partial += expected.trials[t].parts > 1;
        sf_message_release(all.last);
        sf_responses_free(&expected);
        sf_responses_free(&of_chains);
        sf_recording_free(recording);
    }
    free(m);
    assert_true(trials > 500 && partial > 20);
    assert_true(occurrences > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trials_of_a_run_are_those_of_a_recording)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
