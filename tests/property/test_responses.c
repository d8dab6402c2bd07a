/* SPDX-License-Identifier: Apache-2.0 */
/* Responses beside their definition. */
#include "analysis/responses.h"
#include "oracle/responses_oracle.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

#define MS SF_MILLISECOND
#define UNITS 5
#define MOST_SPIKES 4000
#define MOST_MARKERS 60

/* Times are whole milliseconds, so that windows and spikes meet at their edges; with pauses, blanked or not.
 */
typedef struct made {
    sf_unit units[UNITS];
    sf_spike spikes[MOST_SPIKES];
    sf_marker markers[MOST_MARKERS * 2];
    sf_span observed[64];
    sf_recording *recording;
    sf_response_options options;
} made;

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void make(made *m, test_random *random, bool responds)
{
    int64_t length_ms = 4000 + (int64_t)test_random_below(random, 4000);
    size_t markers = 1 + test_random_below(random, MOST_MARKERS), count = 0, spans = 0, all = 0;
    int64_t times[MOST_MARKERS];
    m->options = SF_RESPONSE_OPTIONS;
    m->options.marker = "light";
    m->options.from_ns = (int64_t)test_random_below(random, 20) * MS;
    m->options.to_ns = m->options.from_ns + (1 + (int64_t)test_random_below(random, 60)) * MS;
    m->options.baseline = 1 + test_random_below(random, 4);
    m->options.bin_ns = (1 + (int64_t)test_random_below(random, 12)) * MS;
    m->options.permutations = 50;
    m->options.seed = test_random_below(random, 1000);
    for (size_t i = 0; i < markers; i++)
        times[i] = (int64_t)test_random_below(random, (uint64_t)length_ms) * MS;
    qsort(times, markers, sizeof *times, by_time);
    for (size_t i = 0; i < markers; i++) {
        m->markers[all++] = (sf_marker){.time_ns = times[i], .kind = SF_MARKER_TEXT, .text = "light"};
        if (i % 3 == 0)
            m->markers[all++] =
                (sf_marker){.time_ns = times[i], .kind = SF_MARKER_TTL, .state = 1, .line = 2};
    }
    for (int64_t at = 0; at < length_ms && spans < 64;) { /* pauses of some ms, as of blanking */
        int64_t stop = at + 50 + (int64_t)test_random_below(random, 2000);
        stop = stop < length_ms ? stop : length_ms;
        m->observed[spans++] = (sf_span){at * MS, stop * MS};
        at = stop + 1 + (int64_t)test_random_below(random, 30);
    }
    for (size_t i = 0; i < MOST_SPIKES / 4; i++) {
        uint32_t unit = (uint32_t)test_random_below(random, UNITS - 1); /* the last is silent */
        int64_t time = responds && unit == 0
                           ? times[test_random_below(random, markers)] + m->options.from_ns +
                                 (int64_t)test_random_below(random, 10) * MS
                           : (int64_t)test_random_below(random, (uint64_t)length_ms) * MS;
        for (size_t s = 0; s < spans; s++)
            if (time >= m->observed[s].start_ns && time < m->observed[s].stop_ns)
                m->spikes[count++] = (sf_spike){.time_ns = time, .unit = unit};
    }
    sf_recording_input input = sf_recording_input_default();
    const sf_span recorded = {0, length_ms * MS};
    input.unit_count = UNITS;
    input.spikes = m->spikes;
    input.spike_count = count;
    input.markers = m->markers;
    input.marker_count = all;
    input.recorded = &recorded;
    input.observed = m->observed;
    input.observed_count = spans;
    assert_int_equal(sf_recording_new(&m->recording, &input, NULL), SF_OK);
}

static int by_real(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* NaN is NaN; else the same but for rounding. */
static void assert_close(double found, double expected)
{
    if (isnan(expected))
        assert_true(isnan(found));
    else
        assert_true(fabs(found - expected) <= 1e-9 * fabs(expected) + 1e-6);
}

static void hold_offsets(double *offsets, size_t count, int64_t from_ns, double median, double spread)
{
    double mean = 0, squares = 0;
    qsort(offsets, count, sizeof *offsets, by_real);
    for (size_t i = 0; i < count; i++)
        mean += offsets[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (offsets[i] - mean) * (offsets[i] - mean);
    assert_close(median,
                 count == 0 ? NAN : (offsets[(count - 1) / 2] + offsets[count / 2]) / 2 + (double)from_ns);
    assert_close(spread, count < 2 ? NAN : sqrt(squares / (double)(count - 1)));
}

static void hold_histogram(const made *m, const sf_responses *r, uint32_t unit)
{
    for (size_t b = 0; b < r->bin_count; b++) {
        uint64_t expected = 0;
        int64_t exposed = 0;
        for (size_t t = 0; t < r->trial_count; t++) {
            int64_t from = r->trials[t].time_ns + r->first_ns + (int64_t)b * m->options.bin_ns;
            for (size_t i = 0; i < m->recording->spike_count; i++)
                expected += m->recording->spikes[i].unit == unit && m->recording->spikes[i].time_ns >= from &&
                            m->recording->spikes[i].time_ns < from + m->options.bin_ns;
            for (int64_t at = from; at < from + m->options.bin_ns; at += MS)
                exposed += oracle_is_recorded(m->recording, at) ? MS : 0;
        }
        assert_int_equal(r->histogram[unit * r->bin_count + b], expected);
        assert_int_equal(r->bin_exposed_ns[b], exposed);
    }
}

/* All of one unit but the test; its counts by trial and window go to `counts`. */
static void hold_unit(const made *m, const sf_responses *r, uint32_t unit, uint64_t *counts)
{
    size_t windows = (size_t)m->options.baseline + 1, firsts[2] = {0};
    double *offsets[2] = {malloc(r->trial_count * sizeof(double)),
                          malloc(r->trial_count * windows * sizeof(double))};
    uint64_t spikes[2] = {0};
    for (size_t t = 0; t < r->trial_count; t++)
        for (size_t w = 0; w < windows; w++) {
            int64_t first;
            uint64_t count = counts[t * windows + w] =
                oracle_response_count(m->recording, &m->options, r->trials[t].time_ns, w, unit, &first);
            spikes[w > 0] += count;
            if (count > 0) offsets[w > 0][firsts[w > 0]++] = (double)first;
        }
    const sf_response *item = &r->items[unit];
    assert_int_equal(item->spikes, spikes[0]);
    assert_int_equal(item->spikes_before, spikes[1]);
    assert_int_equal(item->answers, firsts[0]);
    assert_int_equal(item->answers_before, firsts[1]);
    hold_offsets(offsets[0], firsts[0], m->options.from_ns, item->latency_ns, item->jitter_ns);
    hold_offsets(offsets[1], firsts[1], m->options.from_ns, item->latency_before_ns, item->jitter_before_ns);
    free(offsets[0]);
    free(offsets[1]);
    hold_histogram(m, r, unit);
}

/* The trials are those markers that have exposure, in order. */
static void hold_trials(const made *m, const sf_responses *r)
{
    size_t taken = 0, named = 0;
    for (size_t i = 0; i < m->recording->marker_count; i++) {
        const sf_marker *marker = &m->recording->markers[i];
        if (marker->kind != SF_MARKER_TEXT) continue;
        named++;
        int64_t exposed = oracle_response_exposure(m->recording, &m->options, marker->time_ns, MS);
        if (exposed == 0) continue;
        assert_int_equal(r->trials[taken].time_ns, marker->time_ns);
        assert_int_equal(r->trials[taken++].exposed_ns, exposed);
    }
    assert_int_equal(r->trial_count, taken);
    assert_int_equal(r->markers, named);
}

static void same(double found, double expected)
{
    assert_true(found == expected || (isnan(found) && isnan(expected)));
}

static void responses_are_as_defined(void **state)
{
    (void)state;
    test_random random = test_random_start("responses", 36);
    size_t blocks = 0, exact = 0, partial = 0, low = 0;
    made *m = malloc(sizeof *m);
    for (int round = 0; round < 120; round++) {
        sf_responses r = {0};
        sf_error error;
        make(m, &random, round % 2 == 0);
        int status = sf_responses_open(&r, m->recording, &m->options, &error);
        if (status == SF_OK) {
            size_t windows = (size_t)m->options.baseline + 1;
            uint64_t *counts = malloc(UNITS * r.trial_count * windows * sizeof *counts);
            double p[UNITS], q[UNITS];
            assert_int_equal(sf_responses_take_units(&r, m->recording, 2, &error), SF_OK);
            hold_trials(m, &r);
            for (uint32_t u = 0; u < UNITS; u++)
                hold_unit(m, &r, u, counts + u * r.trial_count * windows);
            oracle_response_test(p, q, counts, UNITS, r.trial_count, &m->options);
            for (uint32_t u = 0; u < UNITS; u++) {
                same(r.items[u].p, p[u]);
                same(r.items[u].q, q[u]);
                low += p[u] < 0.05;
            }
            assert_true(isnan(r.items[UNITS - 1].p));
            blocks += r.longest_block > 1;
            exact += pow((double)windows, (double)r.trial_count) <= 50;
            for (size_t t = 0; t < r.trial_count; t++)
                partial += r.trials[t].parts > 1;
            free(counts);
        } else {
            assert_int_equal(status, SF_DATA);
        }
        sf_responses_free(&r);
        sf_recording_free(m->recording);
    }
    free(m);
    assert_true(blocks > 20 && exact > 0 && partial > 20 && low > 20);
}

/* Ten trials, one spike 7 ms after each marker and one an hour before: known by hand. */
static void a_known_response(void **state)
{
    (void)state;
    sf_spike spikes[15];
    sf_marker markers[10] = {{0}};
    size_t count = 0;
    for (int64_t k = 0; k < 10; k++) {
        markers[k] =
            (sf_marker){.time_ns = (k + 1) * SF_SECOND, .kind = SF_MARKER_TTL, .state = 1, .line = 3};
        spikes[count++] = (sf_spike){.time_ns = (k + 1) * SF_SECOND + (5 + k) * MS, .unit = 0};
        if (k % 2 == 0) /* at the marker itself: in the response window, and in none before */
            spikes[count++] = (sf_spike){.time_ns = (k + 1) * SF_SECOND - 1, .unit = 0};
    }
    sf_recording_input input = sf_recording_input_default();
    const sf_span recorded = {0, 12 * SF_SECOND};
    input.unit_count = 1;
    input.spikes = spikes;
    input.spike_count = count;
    input.markers = markers;
    input.marker_count = 10;
    input.recorded = &recorded;
    sf_recording *recording;
    sf_responses r;
    sf_response_options options = SF_RESPONSE_OPTIONS;
    options.marker = "ttl3";
    options.baseline = 1;
    options.permutations = 1024;
    assert_int_equal(sf_recording_new(&recording, &input, NULL), SF_OK);
    assert_int_equal(sf_responses_open(&r, recording, &options, NULL), SF_OK);
    assert_int_equal(sf_responses_take_units(&r, recording, 1, NULL), SF_OK);
    const sf_response *item = &r.items[0];
    assert_int_equal(item->spikes, 10);
    assert_int_equal(item->spikes_before, 5);
    assert_true(item->latency_ns == 9.5e6);
    assert_true(fabs(item->jitter_ns - sqrt(82.5 / 9) * 1e6) < 1e-3);
    /* Five trials differ, and each by one: of 2^5 signs two have a sum of 5 either way. */
    assert_true(item->p == 2.0 / 32 && item->q == 2.0 / 32);
    assert_int_equal(r.overlapping, 0);
    assert_true(r.interval_s == 1 && r.interval_cv == 0 && r.least_p == 2.0 / 1024);
    options.marker = "ttl4";
    sf_error error;
    sf_responses_free(&r);
    assert_int_equal(sf_responses_open(&r, recording, &options, &error), SF_DATA);
    assert_non_null(strstr(error.text, "no marker is called 'ttl4'; found 'ttl3'"));
    sf_responses_free(&r);
    sf_recording_free(recording);
}

/* Bursts longer than the time between trials: blocks make p larger, and no smaller. */
static void trials_that_are_alike_are_permuted_together(void **state)
{
    (void)state;
    enum { TRIALS = 160 };
    sf_spike *spikes = malloc(TRIALS * sizeof *spikes);
    sf_marker *markers = calloc(TRIALS, sizeof *markers);
    for (int64_t k = 0; k < TRIALS; k++) { /* eight trials with a spike after the marker, eight before */
        int64_t at = (k + 1) * SF_SECOND;
        bool after = k / 8 % 2 == 0 || k >= TRIALS - 24;
        markers[k] = (sf_marker){.time_ns = at, .kind = SF_MARKER_TEXT, .text = "x"};
        spikes[k] = (sf_spike){.time_ns = at + (after ? 10 : -10) * MS, .unit = 0};
    }
    sf_recording_input input = sf_recording_input_default();
    input.unit_count = 1;
    input.spikes = spikes;
    input.spike_count = TRIALS;
    input.markers = markers;
    input.marker_count = TRIALS;
    const sf_span recorded = {0, (TRIALS + 2) * SF_SECOND};
    input.recorded = &recorded;
    sf_recording *recording;
    sf_responses r;
    sf_response_options options = SF_RESPONSE_OPTIONS;
    options.marker = "x";
    options.baseline = 1;
    assert_int_equal(sf_recording_new(&recording, &input, NULL), SF_OK);
    assert_int_equal(sf_responses_open(&r, recording, &options, NULL), SF_OK);
    assert_int_equal(sf_responses_take_units(&r, recording, 1, NULL), SF_OK);
    assert_int_equal(r.longest_block, 16);
    assert_true(r.items[0].p >
                0.3); /* trial by trial, a sum of 16 of 160 signs has 0.2; of 20 blocks of 8, 0.65 */
    sf_responses_free(&r);
    sf_recording_free(recording);
    free(spikes);
    free(markers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(responses_are_as_defined),
                                       cmocka_unit_test(a_known_response),
                                       cmocka_unit_test(trials_that_are_alike_are_permuted_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
