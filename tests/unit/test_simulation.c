/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "replay/simulation.h"

#include <math.h>

/* ---- random numbers */

static void philox_gives_the_published_numbers(void **state)
{
    (void)state;
    /* Known answers for philox4x32-10 that come with Random123. */
    static const struct {
        uint64_t seed, stream, index, words[2];
    } cases[] = {
        {0, 0, 0, {UINT64_C(0xe169c58d6627e8d5), UINT64_C(0x9b00dbd8bc57ac4c)}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {UINT64_C(0x41c83b0e408f276d), UINT64_C(0x6d5451fda20bc7c6)}},
        {UINT64_C(0x299f31d0a4093822),
         UINT64_C(0x0370734413198a2e),
         UINT64_C(0x85a308d3243f6a88),
         {UINT64_C(0x94fdccebd16cfe09), UINT64_C(0x24126ea15001e420)}},
    };
    uint64_t words[2];
    for (size_t i = 3; i-- > 0;) {
        sf_random_block(words, cases[i].seed, cases[i].stream, cases[i].index);
        assert_true(words[0] == cases[i].words[0] && words[1] == cases[i].words[1]);
    }
    sf_random random = sf_random_start(0, 0);
    assert_true(sf_random_bits(&random) == words[0]);
    assert_true(sf_random_bits(&random) == words[1]);
}

static void distributions_have_their_moments(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    sf_random random = sf_random_start(7, 3);
    double uniform = 0, exponential = 0, normal = 0, normal_square = 0;
    int below[6] = {0};
    for (int i = 0; i < COUNT; i++) {
        double u = sf_random_uniform(&random);
        assert_true(u >= 0 && u < 1);
        uniform += u;
        exponential += sf_random_exponential(&random);
        double z = sf_random_normal(&random);
        normal += z;
        normal_square += z * z;
        below[sf_random_below(&random, 6)]++;
    }
    double error = 4 / sqrt(COUNT); /* four standard errors at unit variance */
    assert_true(fabs(uniform / COUNT - 0.5) < error * sqrt(1.0 / 12));
    assert_true(fabs(exponential / COUNT - 1) < error);
    assert_true(fabs(normal / COUNT) < error);
    assert_true(fabs(normal_square / COUNT - 1) < error * sqrt(2));
    for (int i = 0; i < 6; i++)
        assert_true(fabs(below[i] - COUNT / 6.0) < 4 * sqrt(COUNT * 5.0 / 36));
}

/* ---- simulation */

static sf_recording recording;
static sf_truth truth;

static void simulate(const sf_simulation_settings *settings)
{
    sf_recording_clear(&recording);
    sf_truth_free(&truth);
    sf_error error = {0};
    if (sf_simulate(&recording, &truth, settings, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    for (size_t i = 0; i < recording.spike_count; i++) {
        const sf_spike *spike = &recording.spikes[i];
        assert_true(spike->time_ns >= recording.recorded.start_ns &&
                    spike->time_ns < recording.recorded.stop_ns);
        assert_true(spike->unit < settings->unit_count);
        if (i > 0) {
            assert_true(spike[-1].time_ns < spike->time_ns ||
                        (spike[-1].time_ns == spike->time_ns && spike[-1].unit < spike->unit));
        }
    }
}

static int clean_up(void **state)
{
    (void)state;
    sf_recording_clear(&recording);
    sf_truth_free(&truth);
    return 0;
}

static bool has_spike(int64_t time_ns, uint32_t unit)
{
    for (size_t i = sf_spikes_lower_bound(recording.spikes, recording.spike_count, time_ns);
         i < recording.spike_count && recording.spikes[i].time_ns == time_ns; i++)
        if (recording.spikes[i].unit == unit) return true;
    return false;
}

static void check_occurrences(void)
{
    for (size_t i = 0; i < truth.occurrence_count; i++) {
        const sf_occurrence *occurrence = &truth.occurrences[i];
        const sf_episode *chain = &truth.chains[occurrence->chain];
        assert_true(i == 0 || occurrence[-1].times_ns[0] <= occurrence->times_ns[0]);
        for (uint32_t k = 0; k < chain->size; k++) {
            assert_true(has_spike(occurrence->times_ns[k], chain->units[k]));
            if (k == 0) continue;
            int64_t delay = occurrence->times_ns[k] - occurrence->times_ns[k - 1];
            assert_true(delay > chain->delays[k - 1].low_ns && delay <= chain->delays[k - 1].high_ns);
        }
    }
}

static int64_t shortest_interval(uint32_t unit_count)
{
    int64_t *last = calloc(unit_count, sizeof *last), shortest = INT64_MAX;
    for (uint32_t i = 0; i < unit_count; i++)
        last[i] = INT64_MIN / 2;
    for (size_t i = 0; i < recording.spike_count; i++) {
        const sf_spike *spike = &recording.spikes[i];
        if (spike->time_ns - last[spike->unit] < shortest) shortest = spike->time_ns - last[spike->unit];
        last[spike->unit] = spike->time_ns;
    }
    free(last);
    return shortest;
}

#define MS SF_MILLISECOND

static const sf_simulation_chain chains[] = {
    {{3, {0, 1, 2}, {{4 * MS, 6 * MS}, {4 * MS, 6 * MS}}}, 2.0},
    {{4, {2, 0, 7, 2}, {{0, 30 * MS}, {5 * MS, 5 * MS + 1}, {10 * MS, 50 * MS}}}, 5.0},
};

static void rates_and_refractory_times_hold(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 50;
    static const double rates[] = {0.5, 20, 200};
    for (int i = 0; i < 3; i++) {
        settings.rate_hz = rates[i];
        simulate(&settings);
        double expected = rates[i] * 60 * 50;
        double deviation = sqrt(expected) * (1 - rates[i] * 0.002); /* of a renewal process with dead time */
        if (fabs((double)recording.spike_count - expected) > 4 * deviation)
            fail_msg("%g Hz: %zu spikes, expected %g", rates[i], recording.spike_count, expected);
        assert_true(shortest_interval(50) >= settings.refractory_ns);
    }
    assert_true(shortest_interval(50) < settings.refractory_ns + settings.refractory_ns / 100);
}

static void every_planted_spike_is_there(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.rate_hz = 20;
    settings.chains = chains;
    settings.chain_count = 2;
    settings.burst_rate_hz = 0.5;
    settings.start_ns = -30 * SF_SECOND;
    for (settings.seed = 1; settings.seed <= 5; settings.seed++) {
        simulate(&settings);
        check_occurrences();
        assert_true(shortest_interval(26) >= settings.refractory_ns);
        size_t planted[2] = {0};
        for (size_t i = 0; i < truth.occurrence_count; i++)
            planted[truth.occurrences[i].chain]++;
        assert_true(fabs((double)planted[0] - 120) < 4 * sqrt(120) + 5); /* a few collide */
        assert_true(fabs((double)planted[1] - 300) < 4 * sqrt(300) + 15);
    }
}

static void jitter_is_the_spread_of_the_delays(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    sf_simulation_chain chain = {{2, {3, 4}, {{0, 100 * MS}}}, 20};
    settings.chains = &chain;
    settings.chain_count = 1;
    settings.duration_ns = 200 * SF_SECOND;
    settings.jitter_ns = 3 * MS;
    simulate(&settings);
    double sum = 0, squares = 0, count = (double)truth.occurrence_count;
    for (size_t i = 0; i < truth.occurrence_count; i++) {
        double delay =
            (double)(truth.occurrences[i].times_ns[1] - truth.occurrences[i].times_ns[0]) * 1e-6 - 50;
        sum += delay;
        squares += delay * delay;
    }
    assert_true(count > 3000 && fabs(sum / count) < 4 * 3 / sqrt(count));
    assert_true(fabs(sqrt(squares / count) - 3) < 4 * 3 / sqrt(2 * count));

    settings.jitter_ns = 0;
    simulate(&settings);
    for (size_t i = 0; i < truth.occurrence_count; i++)
        assert_int_equal(truth.occurrences[i].times_ns[1] - truth.occurrences[i].times_ns[0], 50 * MS);
    settings.jitter_ns = 500 * SF_SECOND; /* wider than the interval: still inside it */
    simulate(&settings);
    check_occurrences();
}

static void occurrences_that_would_collide_are_not_planted(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.rate_hz = 0;
    sf_simulation_chain impossible = {{2, {0, 0}, {{0, MS}}}, 10};
    settings.chains = &impossible;
    settings.chain_count = 1;
    simulate(&settings);
    assert_int_equal(truth.occurrence_count, 0);
    assert_int_equal(recording.spike_count, 0);

    sf_simulation_chain crowded = {{3, {0, 1, 0}, {{4 * MS, 6 * MS}, {4 * MS, 6 * MS}}}, 50};
    settings.chains = &crowded;
    settings.refractory_ns = 8 * MS;
    simulate(&settings);
    assert_true(truth.occurrence_count > 300);
    assert_int_equal(recording.spike_count, 3 * truth.occurrence_count);
    check_occurrences();
    assert_true(shortest_interval(26) >= settings.refractory_ns);
}

static void bursts_are_shared_and_as_wide_as_asked(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 400;
    settings.rate_hz = 0;
    settings.refractory_ns = 0;
    settings.duration_ns = 2000 * SF_SECOND;
    settings.burst_rate_hz = 0.02;
    settings.burst_sigma_ns = 50 * MS;
    simulate(&settings);
    /* Nothing but bursts, far apart: each cluster of spikes is one. */
    size_t bursts = 0, first = 0;
    double variance = 0;
    for (size_t i = 1; i <= recording.spike_count; i++) {
        const sf_spike *spikes = recording.spikes;
        if (i < recording.spike_count && spikes[i].time_ns - spikes[i - 1].time_ns < 300 * MS) continue;
        double mean = 0, squares = 0, count = (double)(i - first);
        for (size_t k = first; k < i; k++)
            mean += (double)(spikes[k].time_ns - spikes[first].time_ns) / count;
        for (size_t k = first; k < i; k++)
            squares += pow((double)(spikes[k].time_ns - spikes[first].time_ns) - mean, 2);
        variance += squares / count;
        bursts++;
        first = i;
    }
    assert_true(bursts > 15 && bursts < 65);
    double per_burst = (double)recording.spike_count / (double)bursts / 400;
    assert_true(fabs(per_burst - 3) < 0.25); /* two that touch, or one at an end, move it a little */
    assert_true(fabs(sqrt(variance / (double)bursts) * 1e-6 - 50) < 5);
}

/* On the default pitch of 100 um, diagonals included. */
static bool adjacent(uint32_t a, uint32_t b)
{
    double dx = fabs(recording.units.items[a].x_um - recording.units.items[b].x_um);
    double dy = fabs(recording.units.items[a].y_um - recording.units.items[b].y_um);
    return a != b && dx <= 100.5 && dy <= 100.5;
}

static void duplicates_follow_a_neighbour(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 90; /* the last row of the grid is not full */
    settings.rate_hz = 5;
    simulate(&settings);
    sf_recording plain = recording;
    recording = (sf_recording){0};
    settings.duplicates = 0.15;
    simulate(&settings);
    size_t p = 0, added = 0;
    for (size_t i = 0; i < recording.spike_count; i++) {
        const sf_spike *spike = &recording.spikes[i];
        if (p < plain.spike_count && memcmp(spike, &plain.spikes[p], sizeof *spike) == 0) {
            p++;
            continue;
        }
        added++;
        bool found = false;
        for (size_t k = i;
             k-- > 0 && spike->time_ns - recording.spikes[k].time_ns <= SF_SIMULATION_DUPLICATE_NS;)
            found = found || (adjacent(spike->unit, recording.spikes[k].unit) &&
                              fabsf(recording.spikes[k].amplitude) > fabsf(spike->amplitude));
        assert_true(found);
    }
    assert_int_equal(p, plain.spike_count); /* the recording without duplicates is all there */
    double expected = 0.15 * (double)plain.spike_count;
    assert_true(fabs((double)added - expected) < 4 * sqrt(expected));
    sf_recording_clear(&plain);
}

static void markers_are_pulses_and_texts(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.marker_every_ns = 10 * SF_SECOND;
    settings.start_ns = 100 * SF_SECOND;
    simulate(&settings);
    assert_int_equal(recording.marker_count, 15); /* at 110, 120, 130, 140, 150 s */
    assert_int_equal(recording.markers[0].time_ns, 110 * SF_SECOND);
    assert_int_equal(recording.markers[0].state, 1);
    assert_string_equal(recording.markers[1].text, "stimulus 1");
    assert_int_equal(recording.markers[2].time_ns, 110 * SF_SECOND + 10 * MS);
    assert_int_equal(recording.markers[2].state, 0);
    for (size_t i = 1; i < recording.marker_count; i++)
        assert_true(recording.markers[i - 1].time_ns <= recording.markers[i].time_ns);
}

static void the_seed_decides_and_the_clock_does_not(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.chains = chains;
    settings.chain_count = 2;
    settings.burst_rate_hz = 0.2;
    settings.duplicates = 0.1;
    settings.description = "as asked";
    simulate(&settings);
    assert_string_equal(test_metadata(&recording, "simulation"), "as asked");
    assert_true(recording.declared);
    assert_string_equal(recording.units.items[0].name, "A");
    assert_string_equal(recording.units.items[25].name, "Z");
    sf_recording first = recording;
    recording = (sf_recording){0};
    simulate(&settings);
    assert_int_equal(first.spike_count, recording.spike_count);
    assert_memory_equal(first.spikes, recording.spikes, first.spike_count * sizeof *first.spikes);

    settings.start_ns = 36000 * SF_SECOND;
    simulate(&settings);
    assert_int_equal(first.spike_count, recording.spike_count);
    for (size_t i = 0; i < first.spike_count; i++) {
        assert_int_equal(first.spikes[i].time_ns + settings.start_ns, recording.spikes[i].time_ns);
        assert_int_equal(first.spikes[i].unit, recording.spikes[i].unit);
    }
    settings.seed = 2;
    simulate(&settings);
    assert_true(first.spike_count != recording.spike_count ||
                memcmp(first.spikes, recording.spikes, first.spike_count * sizeof *first.spikes) != 0);
    sf_recording_clear(&first);
}

static void settings_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    sf_simulation_settings good, bad;
    sf_simulation_settings_default(&good);
    sf_simulation_chain chain = {{2, {0, 26}, {{0, MS}}}, 1};
    sf_error error;
    sf_simulation *simulation;
#define REFUSED(change, words)                                                                               \
    bad = good;                                                                                              \
    change;                                                                                                  \
    test_assert_fails(sf_simulation_open(&simulation, &bad, &error), &error, SF_USAGE, words);               \
    assert_null(simulation)
    REFUSED(bad.unit_count = 0, "found 0, expected a whole number from 1 to 1000000");
    REFUSED(bad.duration_ns = 0, "found 0 s");
    REFUSED(bad.start_ns = INT64_MAX / 2, "found 4611686018 s");
    REFUSED(bad.rate_hz = 500, "500 Hz");
    REFUSED(bad.rate_hz = -1, "found -1, expected a number from 0 to 1000000");
    REFUSED(bad.rate_hz = NAN, "found nan");
    REFUSED(bad.jitter_ns = -1, "found -1e-06 ms");
    REFUSED(bad.burst_sigma_ns = 0, "a number of ms from 1");
    REFUSED(bad.duplicates = 1.5, "found 1.5, expected a number from 0 to 1");
    REFUSED((bad.duplicates = 1, bad.unit_count = 1), "neighbour");
    REFUSED(bad.marker_every_ns = 1, "a number of s from 0.02");
    chain.rate_hz = -1;
    chain.episode.units[1] = 1;
    REFUSED((bad.chains = &chain, bad.chain_count = 1), "rate of a chain");
    chain.episode.units[1] = 26;
    bad.chains = &chain;
    bad.chain_count = 1;
    test_assert_fails(sf_simulation_open(&simulation, &bad, &error), &error, SF_DATA, NULL);
}

static int simulate_little(void *context)
{
    sf_recording result;
    sf_truth planted;
    int status = sf_simulate(&result, &planted, context, NULL, NULL);
    sf_recording_clear(&result);
    sf_truth_free(&planted);
    return status;
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user;
    (void)what;
    return done >= total + 1;
}

static void failures_leak_nothing(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.chains = chains;
    settings.chain_count = 2;
    settings.duration_ns = 3 * SF_SECOND;
    settings.burst_rate_hz = 2;
    settings.duplicates = 0.2;
    settings.marker_every_ns = SF_SECOND;
    settings.description = "small";
    test_fail_every_allocation(simulate_little, &settings);
    long before = sf_memory_live();
    sf_recording result;
    sf_progress progress = {.update = stop_at_once};
    assert_int_equal(sf_simulate(&result, NULL, &settings, &progress, NULL), SF_CANCELLED);
    assert_null(result.spikes);
    assert_int_equal(sf_memory_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_numbers),
        cmocka_unit_test(distributions_have_their_moments),
        cmocka_unit_test(rates_and_refractory_times_hold),
        cmocka_unit_test(every_planted_spike_is_there),
        cmocka_unit_test(jitter_is_the_spread_of_the_delays),
        cmocka_unit_test(occurrences_that_would_collide_are_not_planted),
        cmocka_unit_test(bursts_are_shared_and_as_wide_as_asked),
        cmocka_unit_test(duplicates_follow_a_neighbour),
        cmocka_unit_test(markers_are_pulses_and_texts),
        cmocka_unit_test(the_seed_decides_and_the_clock_does_not),
        cmocka_unit_test(settings_that_contradict_each_other_are_refused),
        cmocka_unit_test(failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
