/* SPDX-License-Identifier: Apache-2.0 */
/* Avalanches, branching ratios and power laws, beside their definitions and beside networks and numbers that
 * are drawn with a known ratio and a known exponent. */
#include "analysis/criticality.h"
#include "oracle/branching_network.h"
#include "oracle/criticality_oracle.h"
#include "support/support.h"

#include "core/memory.h"
#include "core/random.h"

#include <math.h>

#define MS 1000000LL

/* ---- drawing ---- */

static sf_population open_bins(size_t bins)
{
    sf_population p = {.bin_ns = 4 * MS, .interval_count = 1, .bins = bins};
    p.counts = sf_alloc(bins, sizeof *p.counts);
    p.first = sf_alloc(2, sizeof *p.first);
    p.first[1] = bins;
    return p;
}

static void count_up(sf_population *p)
{
    p->spikes = 0;
    for (size_t t = 0; t < p->bins; t++)
        p->spikes += (uint64_t)p->counts[t];
}

/* A branching network with a drive that holds its rate, of which a share is seen. */
static sf_population draw_network(double m, size_t bins, double rate, double seen, uint64_t seed)
{
    return oracle_branching_draw(&(oracle_branching){.m = m, .rate = rate, .seen = seen, .bins = bins}, seed);
}

static sf_branching branching_of(sf_population *p, size_t lags, bool alone)
{
    sf_branching found;
    const sf_branching_options how = {.lags = lags, .alone = alone, .seed = 1};
    assert_int_equal(sf_branching_find(&found, p, &how, NULL), SF_OK);
    sf_population_free(p);
    return found;
}

/* ---- the branching ratio ---- */

static void slopes_are_regressions_of_all_pairs(void **state)
{
    (void)state;
    test_random random = test_random_start("slopes", 91);
    for (int round = 0; round < test_rounds(20); round++) {
        size_t intervals = 1 + test_random_below(&random, 4);
        sf_population p = {.bin_ns = MS, .interval_count = intervals};
        p.first = sf_alloc(intervals + 1, sizeof *p.first);
        for (size_t i = 0; i < intervals; i++) /* some are shorter than the lags */
            p.first[i + 1] = p.first[i] + (i == 0 ? 200 : 0) + test_random_below(&random, 300);
        p.bins = p.first[intervals];
        p.counts = sf_alloc(p.bins, sizeof *p.counts);
        for (size_t t = 0; t < p.bins; t++)
            p.counts[t] = (double)test_random_below(&random, 5) + (t > 0 ? floor(p.counts[t - 1] / 2) : 0);
        count_up(&p);
        sf_branching found;
        const sf_branching_options how = {.lags = 50, .alone = true, .seed = 1};
        assert_int_equal(sf_branching_find(&found, &p, &how, NULL), SF_OK);
        assert_true(found.lags >= 49 && found.lags <= 50);
        for (size_t k = 1; k <= found.lags; k++)
            assert_true(fabs(found.r[k - 1] - oracle_slope(&p, k)) < 1e-9);
        assert_true(fabs(found.m - oracle_branching_ratio(found.r, found.lags)) < 2e-4);
        sf_branching_free(&found);
        sf_population_free(&p);
    }
}

static void known_ratio_is_found_in_a_tenth_of_the_network(void **state)
{
    (void)state;
    static const double ratios[] = {0.9, 0.95, 0.98, 0.99, 0.995};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        for (uint64_t seed = 1; seed <= (test_is_short() ? 1 : 3); seed++) {
            sf_population p = draw_network(ratios[i], 300000, 100, 0.1, seed);
            sf_branching found = branching_of(&p, 500, false);
            print_message("known m %.3f, seed %d: found %.4f (%.4f to %.4f), by one step %.3f\n", ratios[i],
                          (int)seed, found.m, found.low, found.high, found.r[0]);
            assert_true(fabs(found.m / ratios[i] - 1) < 0.01);
            assert_true(found.low < found.m && found.m < found.high);
            assert_true(found.r[0] < 0.93 * ratios[i]);
            assert_true(fabs(found.tau_s + 0.004 / log(found.m)) < 1e-12);
            sf_branching_free(&found);
        }
}

static void interval_has_the_known_ratio(void **state)
{
    (void)state;
    int rounds = test_rounds(40), within = 0, clean = 0;
    for (int round = 0; round < rounds; round++) {
        sf_population p = draw_network(0.97, 40000, 20, 0.3, 100 + (uint64_t)round);
        sf_branching found = branching_of(&p, 300, false);
        within += found.low <= 0.97 && 0.97 <= found.high;
        clean += found.cautions == 0;
        sf_branching_free(&found);
    }
    print_message("known ratio within the interval in %d of %d networks, no caution in %d\n", within, rounds,
                  clean);
    assert_true(within >= rounds * 8 / 10);
    assert_true(clean >= rounds * 9 / 10);
}

/* ---- what it is not to be believed of ---- */

enum { BINS = 100000 };

static unsigned cautions_of_rate(double (*rate)(size_t bin), uint64_t seed, sf_branching *found)
{
    sf_population p = open_bins(BINS);
    sf_random random = sf_random_start(seed, 78);
    for (size_t t = 0; t < BINS; t++)
        p.counts[t] = oracle_poisson(&random, rate(t));
    count_up(&p);
    *found = branching_of(&p, 500, false);
    const sf_branching kept = *found;
    sf_branching_free(found);
    *found = kept; /* its numbers */
    return kept.cautions;
}

static double steady(size_t bin)
{
    (void)bin;
    return 3;
}

static double doubled(size_t bin)
{
    return bin < BINS / 2 ? 3 : 6;
}

static double swinging(size_t bin) /* at 5 Hz */
{
    return 3 + 2 * cos(2 * M_PI * 0.02 * (double)bin);
}

static void cautions_name_what_is_wrong(void **state)
{
    (void)state;
    sf_branching found;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        assert_int_equal(cautions_of_rate(steady, seed, &found), SF_BRANCHING_NO_MEMORY);
        assert_true(isnan(found.m) && isnan(found.low) && isnan(found.tau_s));
        assert_true((cautions_of_rate(swinging, seed, &found) & SF_BRANCHING_OSCILLATION) != 0);
        assert_true(fabs(found.oscillation_hz - 5) < 0.3);
        assert_true((cautions_of_rate(doubled, seed, &found) & (SF_BRANCHING_LONG | SF_BRANCHING_DRIFT)) !=
                    0);
    }
}

/* A branching network whose rate rises while it is recorded: the fit falls to a constant, not to 0. */
static void drift_is_seen(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sf_population p = open_bins(BINS);
        sf_random random = sf_random_start(seed, 79);
        double active = 100;
        for (size_t t = 0; t < BINS; t++) {
            active = oracle_poisson(&random, 0.9 * active + 10 * (1 + 0.3 * (double)t / BINS));
            p.counts[t] = oracle_binomial(&random, active, 0.1);
        }
        count_up(&p);
        sf_branching found = branching_of(&p, 500, false);
        print_message("drift, seed %d: cautions %u, p %.3g, m %.4f, with a constant %.4f\n", (int)seed,
                      found.cautions, found.drift_p, found.m, found.offset_m);
        assert_true((found.cautions & SF_BRANCHING_DRIFT) != 0);
        assert_true((found.cautions & SF_BRANCHING_OFFSET) != 0);
        assert_true(fabs(found.offset_m - 0.9) < 0.02);
        sf_branching_free(&found);
    }
}

static void short_and_empty_have_no_interval(void **state)
{
    (void)state;
    sf_population p = open_bins(2000);
    for (size_t t = 0; t < p.bins; t++)
        p.counts[t] = (double)(t / 7 % 3);
    count_up(&p);
    sf_branching found = branching_of(&p, 500, false);
    assert_int_equal(found.cautions, SF_BRANCHING_SHORT);
    assert_true(isnan(found.low) && !isnan(found.m));
    sf_branching_free(&found);
    p = open_bins(2000);
    found = branching_of(&p, 500, false);
    assert_int_equal(found.cautions, SF_BRANCHING_SHORT);
    assert_true(isnan(found.m) && found.lags == 0);
    sf_branching_free(&found);
}

/* ---- power laws ---- */

static void zeta_has_its_known_values(void **state)
{
    (void)state;
    assert_true(fabs(sf_hurwitz_zeta(2, 1) - M_PI * M_PI / 6) < 1e-12);
    assert_true(fabs(sf_hurwitz_zeta(4, 1) - pow(M_PI, 4) / 90) < 1e-12);
    assert_true(fabs(sf_hurwitz_zeta(1.5, 1) - 2.612375348685488) < 1e-11);
    for (double a = 1.2; a < 9; a += 0.7)
        for (double x = 1; x < 300; x = ceil(1.7 * x))
            assert_true(fabs(sf_hurwitz_zeta(a, x) / oracle_zeta(a, x) - 1) < (a < 4 ? 1e-9 : 2e-8));
}

/* From the fit's own distribution, by adding probabilities up. */
static uint64_t draw_power(sf_random *random, double a, uint64_t xmin)
{
    double left = sf_random_uniform(random) * sf_hurwitz_zeta(a, (double)xmin);
    uint64_t x = xmin;
    while (x < 10000000 && (left -= pow((double)x, -a)) > 0)
        x++;
    return x;
}

static uint64_t draw_lognormal(sf_random *random)
{
    return 1 + (uint64_t)exp(1.5 + 0.7 * sf_random_normal(random));
}

static sf_power_fit fit_of(const uint64_t *values, size_t count, uint32_t rounds)
{
    sf_power_fit fit;
    const sf_power_options how = {.rounds = rounds, .seed = 3};
    assert_int_equal(sf_power_fit_find(&fit, values, count, &how, NULL), SF_OK);
    uint64_t most = 0, tail = 0;
    for (size_t i = 0; i < count; i++) {
        most = values[i] > most ? values[i] : most;
        tail += values[i] >= fit.xmin;
    }
    assert_int_equal(fit.most, most);
    assert_true(isnan(fit.exponent) || fit.tail == tail);
    return fit;
}

static void power_laws_are_those_of_the_definition(void **state)
{
    (void)state;
    test_random random = test_random_start("power laws", 92);
    for (int round = 0; round < test_rounds(6); round++) {
        sf_random draws = sf_random_start(test_random_bits(&random), 0);
        uint64_t values[400];
        for (size_t i = 0; i < 400; i++) {
            values[i] = i % 3 == 0 ? 1 + sf_random_below(&draws, 4) : draw_power(&draws, 2.5, 3);
            values[i] = values[i] < 200 ? values[i] : 200;
        }
        const oracle_power expected = oracle_power_fit(values, 400, SF_POWER_TAIL);
        const sf_power_fit fit = fit_of(values, 400, 0);
        assert_int_equal(fit.xmin, expected.xmin);
        assert_true(fabs(fit.exponent - expected.exponent) < 1e-4);
        assert_true(fabs(fit.distance - expected.distance) < 1e-4);
        assert_true(isnan(fit.p) && isnan(fit.low));
    }
}

static void known_exponents_are_found(void **state)
{
    (void)state;
    static uint64_t values[5000];
    static const double exponents[] = {1.5, 2, 2.5, 3.5};
    int within = 0, kept = 0, fits = 0;
    for (size_t e = 0; e < 4; e++)
        for (uint64_t seed = 1; seed <= (test_is_short() ? 1 : 5); seed++, fits++) {
            sf_random random = sf_random_start(seed, 82);
            for (size_t i = 0; i < 5000; i++)
                values[i] = draw_power(&random, exponents[e], 1);
            const sf_power_fit fit = fit_of(values, 5000, 30);
            print_message("exponent %.2f, seed %d: found %.3f (%.3f to %.3f) from %d on, p %.2f\n",
                          exponents[e], (int)seed, fit.exponent, fit.low, fit.high, (int)fit.xmin, fit.p);
            within += fit.low < exponents[e] && exponents[e] < fit.high;
            kept += fit.p > 0.1;
            assert_true(fabs(fit.exponent - exponents[e]) < 4 * fit.error + 0.02);
            assert_true(fit.exponential.ratio > 0 && fit.exponential.p < 0.01);
            assert_true(fit.lognormal.ratio > -2.5);
        }
    assert_true(20 * within >= 17 * fits && 20 * kept >= 15 * fits);
}

static void what_is_no_power_law_is_ruled_out(void **state)
{
    (void)state;
    static uint64_t values[5000];
    sf_random random = sf_random_start(9, 1);
    const sf_power_options from_one = {.xmin = 1, .seed = 3};
    sf_power_fit fit;
    for (size_t i = 0; i < 5000; i++)
        values[i] = draw_lognormal(&random);
    assert_int_equal(sf_power_fit_find(&fit, values, 5000, &from_one, NULL), SF_OK);
    assert_true(fit.lognormal.ratio < -5 && fit.lognormal.p < 0.001);
    for (size_t i = 0; i < 5000; i++)
        values[i] = 1 + (uint64_t)(20 * sf_random_exponential(&random));
    assert_int_equal(sf_power_fit_find(&fit, values, 5000, &from_one, NULL), SF_OK);
    assert_true(fit.exponential.ratio < -5 && fit.exponential.p < 0.001);
    for (size_t i = 0; i < 5000; i++) /* no tail is left in which it would be one */
        values[i] = 1 + sf_random_below(&random, 40);
    fit = fit_of(values, 5000, 30);
    assert_true(fit.p >= 1.0 / 31 && fit.p <= 0.1);
}

static void too_few_have_no_fit(void **state)
{
    (void)state;
    uint64_t values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = 4;
    assert_true(isnan(fit_of(values, 100, 10).exponent)); /* all alike */
    for (size_t i = 0; i < 100; i++)
        values[i] = 1 + i % 5;
    assert_true(isnan(fit_of(values, SF_POWER_TAIL - 1, 10).exponent));
    assert_true(isfinite(fit_of(values, SF_POWER_TAIL, 10).exponent));
    assert_int_equal(fit_of(NULL, 0, 10).count, 0);
}

/* ---- avalanches ---- */

static void avalanches_are_runs_of_bins(void **state)
{
    (void)state;
    test_random random = test_random_start("avalanches", 93);
    size_t all = 0;
    for (int round = 0; round < test_rounds(50); round++) {
        sf_unit units[4] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
        sf_span observed[2] = {{0, 400 * MS},
                               {500 * MS, 1000 * MS + (int64_t)test_random_below(&random, MS)}};
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, 300), 4, 1000 * MS);
        sf_recording recording = {.spikes = spikes,
                                  .spike_count = count,
                                  .units = {.items = units, .count = 4},
                                  .recorded = {0, observed[1].stop_ns},
                                  .observed = observed,
                                  .observed_count = 2};
        int64_t bin_ns = (1 + (int64_t)test_random_below(&random, 9)) * MS;
        sf_avalanche expected[301];
        sf_avalanches found = {0};
        size_t expected_count = oracle_avalanches(expected, spikes, count, observed[0], bin_ns);
        expected_count += oracle_avalanches(expected + expected_count, spikes, count, observed[1], bin_ns);
        assert_int_equal(sf_avalanches_find(&found, &recording, bin_ns, NULL), SF_OK);
        assert_int_equal(found.count, expected_count);
        for (size_t i = 0; i < found.count; i++) {
            assert_int_equal(found.items[i].start_ns, expected[i].start_ns);
            assert_int_equal(found.items[i].stop_ns, expected[i].stop_ns);
            assert_int_equal(found.items[i].spikes, expected[i].spikes);
            assert_int_equal(found.items[i].bins, expected[i].bins);
            bool fires[4] = {false};
            for (size_t s = 0; s < found.items[i].spikes; s++)
                fires[spikes[found.items[i].first + s].unit] = true;
            assert_int_equal(found.items[i].units, fires[0] + fires[1] + fires[2] + fires[3]);
        }
        all += found.count;
        sf_avalanches_free(&found);
        free(spikes);
    }
    assert_true(all > 0);
}

/* A branching process a little below criticality, begun by one spike at a time: up to some ten thousand
 * spikes sizes fall by 3/2, durations by 2, and size grows with the square of the duration. */
static size_t draw_critical(sf_spike *spikes, size_t room, uint32_t units, uint64_t seed)
{
    sf_random random = sf_random_start(seed, 80);
    size_t count = 0;
    for (int64_t bin = 1; count < room / 2; bin++)
        for (double active = 1; active > 0 && count < room * 3 / 4; bin++) {
            for (double i = 0; i < active; i++)
                spikes[count++] = (sf_spike){bin * 4 * MS, (uint32_t)sf_random_below(&random, units), NAN};
            active = oracle_poisson(&random, 0.995 * active);
        }
    return count;
}

static void critical_networks_crackle(void **state)
{
    (void)state;
    enum { ROOM = 2000000, UNITS = 50 };
    sf_unit units[UNITS] = {{.name = "a"}};
    sf_spike *spikes = sf_alloc(ROOM, sizeof *spikes);
    size_t count = draw_critical(spikes, ROOM, UNITS, 5);
    sf_recording recording = {.spikes = spikes,
                              .spike_count = count,
                              .units = {.items = units, .count = UNITS},
                              .recorded = {0, spikes[count - 1].time_ns + 40 * MS}};
    sf_criticality_options options = SF_CRITICALITY_OPTIONS;
    options.avalanche_bin_ns = 4 * MS;
    options.rounds = 20;
    sf_criticality found;
    assert_int_equal(sf_criticality_find(&found, &recording, &options, NULL, NULL), SF_OK);
    const sf_criticality_measure *m = found.measures;
    print_message("critical: %d avalanches, sizes %.3f, durations %.3f, growth %.3f, predicted %.3f\n",
                  (int)found.avalanches.count, m[SF_CRITICAL_SIZE].value, m[SF_CRITICAL_DURATION].value,
                  m[SF_CRITICAL_GROWTH].value, m[SF_CRITICAL_PREDICTED].value);
    assert_true(fabs(m[SF_CRITICAL_SIZE].value - 1.5) < 0.05);
    assert_true(fabs(m[SF_CRITICAL_DURATION].value - 2) < 0.15);
    assert_true(fabs(m[SF_CRITICAL_GROWTH].value - 2) < 0.2);
    test_assert_same(m[SF_CRITICAL_DEVIATION].value,
                     fabs(m[SF_CRITICAL_GROWTH].value - m[SF_CRITICAL_PREDICTED].value));
    assert_true(found.shape_count > 0);
    for (size_t i = 0; i + 1 < found.shape_count;
         i += SF_SHAPE_POINTS) { /* as many at the ends, most between */
        assert_true(found.shapes[i].relative < found.shapes[i + 10].relative);
        assert_true(found.shapes[i + 19].relative < found.shapes[i + 10].relative);
    }
    sf_criticality_free(&found);
    sf_free(spikes);
}

/* Twenty avalanches of four bins with 1, 3, 3, 1 spikes: each bin is a quarter of the shape. */
static void shapes_are_means_over_avalanches(void **state)
{
    (void)state;
    static const int held[4] = {1, 3, 3, 1};
    sf_unit units[1] = {{.name = "a"}};
    sf_spike spikes[20 * 8];
    size_t count = 0;
    for (int64_t a = 0; a < 20; a++)
        for (int64_t bin = 0; bin < 4; bin++)
            for (int i = 0; i < held[bin]; i++)
                spikes[count++] = (sf_spike){(a * 10 + 1 + bin) * 4 * MS + i, 0, NAN};
    const sf_recording recording = {.spikes = spikes,
                                    .spike_count = count,
                                    .units = {.items = units, .count = 1},
                                    .recorded = {0, 20 * 40 * MS}};
    sf_criticality_options options = SF_CRITICALITY_OPTIONS;
    options.avalanche_bin_ns = 4 * MS;
    sf_criticality found;
    assert_int_equal(sf_criticality_find(&found, &recording, &options, NULL, NULL), SF_OK);
    assert_int_equal(found.avalanches.count, 20);
    assert_int_equal(found.shape_count, SF_SHAPE_POINTS);
    for (size_t p = 0; p < SF_SHAPE_POINTS; p++) {
        assert_true(fabs(found.shapes[p].spikes - held[p / 5]) < 1e-12);
        assert_true(fabs(found.shapes[p].relative - held[p / 5] / 2.0) < 1e-12);
    }
    sf_criticality_free(&found);
}

static int find_once(void *context)
{
    sf_criticality found;
    sf_criticality_options options = SF_CRITICALITY_OPTIONS;
    options.lags = 20;
    options.rounds = 2;
    int status = sf_criticality_find(&found, context, &options, NULL, NULL);
    sf_criticality_free(&found);
    return status;
}

static void memory_may_be_lacking(void **state)
{
    (void)state;
    test_random random = test_random_start("criticality memory", 94);
    sf_unit units[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    sf_spike *spikes;
    size_t count = test_random_stream(&random, &spikes, 2000, 3, 4000 * MS);
    sf_recording recording = {.spikes = spikes,
                              .spike_count = count,
                              .units = {.items = units, .count = 3},
                              .recorded = {0, 4000 * MS + 1}};
    test_fail_every_allocation(find_once, &recording);
    free(spikes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_regressions_of_all_pairs),
        cmocka_unit_test(known_ratio_is_found_in_a_tenth_of_the_network),
        cmocka_unit_test(interval_has_the_known_ratio),
        cmocka_unit_test(cautions_name_what_is_wrong),
        cmocka_unit_test(drift_is_seen),
        cmocka_unit_test(short_and_empty_have_no_interval),
        cmocka_unit_test(zeta_has_its_known_values),
        cmocka_unit_test(power_laws_are_those_of_the_definition),
        cmocka_unit_test(known_exponents_are_found),
        cmocka_unit_test(what_is_no_power_law_is_ruled_out),
        cmocka_unit_test(too_few_have_no_fit),
        cmocka_unit_test(avalanches_are_runs_of_bins),
        cmocka_unit_test(critical_networks_crackle),
        cmocka_unit_test(shapes_are_means_over_avalanches),
        cmocka_unit_test(memory_may_be_lacking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
