/* SPDX-License-Identifier: Apache-2.0 */
/* synfire/density.h as a program uses it: samples, bandwidths, values at points, answers; and stopping. */
#include "support/support.h"

#include "core/clock.h"
#include "core/recording.h"
#include "density/select.h"
#include "oracle/density_oracle.h"

#include <math.h>
#include <synfire/density.h>

enum { N = 600 };

/* Two heaps, as intervals have them: within bursts and between. */
static void draw(double *values, size_t count, size_t d, uint64_t seed)
{
    test_random random = {seed};
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < d; c++) {
            double sum = 0;
            for (int k = 0; k < 6; k++)
                sum += test_random_unit(&random) - 0.5;
            values[i * d + c] = 2 + 0.3 * sum + (i % 3 == 0 ? 1.5 : 0) + (double)c;
        }
}

static sf_series *series_of(size_t n, size_t d, uint64_t seed)
{
    static double values[4 * N];
    sf_series *series;
    draw(values, n, d, seed);
    assert_int_equal(sf_series_new(&series, values, n, d, NULL), SF_OK);
    return series;
}

static sf_series_columns columns_of(const sf_series *series)
{
    sf_series_columns columns = {.size = sizeof columns};
    sf_series_get_columns(series, &columns);
    return columns;
}

static sf_density_columns read_density(const sf_density *density)
{
    sf_density_columns columns = {.size = sizeof columns};
    sf_density_get_columns(density, &columns);
    return columns;
}

static sf_density *find(const sf_series *series, const sf_density_options *options)
{
    sf_density *density;
    sf_error error = {0};
    if (sf_density_find(&density, series, 0, options, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return density;
}

/* ---- samples ---- */

static void samples_of_memory_are_one_series(void **state)
{
    (void)state;
    double values[] = {0.1, 0.1, 0.2, 0.2, 0.3, 0.3};
    sf_series *series;
    sf_error error;
    assert_int_equal(sf_series_new(&series, values, 6, 1, NULL), SF_OK);
    sf_series_columns columns = columns_of(series);
    assert_int_equal(columns.count, 1);
    assert_int_equal(columns.d, 1);
    assert_int_equal(columns.first[0], 0);
    assert_int_equal(columns.first[1], 6);
    assert_true(columns.units[0] == -1 && columns.names[0][0] == '\0');
    assert_memory_equal(columns.values, values, sizeof values);
    assert_true(fabs(columns.tick - 0.1) < 1e-12); /* they are tied */
    assert_int_equal(columns.domain, SF_DOMAIN_LINE);
    sf_series_free(series);
    values[4] = NAN;
    test_assert_fails(sf_series_new(&series, values, 3, 2, &error), &error, SF_DATA, "sample 2");
    assert_null(series);
    test_assert_fails(sf_series_new(&series, values, 0, 1, &error), &error, SF_USAGE, "at least one");
    sf_series_free(NULL);
}

/* Units 0 and 2 fire, 1 is silent, 3 has no position; nothing was observed from 400 to 500 ns. */
static sf_recording small_recording(sf_spike *spikes, size_t count, sf_span *observed)
{
    static const double x[4] = {0, 10, 20, NAN};
    static const uint32_t units[7] = {0, 2, 0, 2, 3, 2, 0};
    sf_recording recording = {.spikes = spikes,
                              .spike_count = count,
                              .observed = observed,
                              .observed_count = 2,
                              .recorded = {0, 1000},
                              .tick_ns = 10};
    for (int u = 0; u < 4; u++)
        assert_int_equal(
            sf_units_add(&recording.units, &(sf_unit){.x_um = x[u], .y_um = -x[u], .electrode = -1}, NULL),
            SF_OK);
    assert_int_equal(sf_units_finish(&recording.units, NULL), SF_OK);
    for (size_t i = 0; i < count; i++)
        spikes[i] = (sf_spike){.time_ns = 30 + 60 * (int64_t)i, .unit = units[i % 7]};
    observed[0] = (sf_span){0, 400};
    observed[1] = (sf_span){500, 1000};
    return recording;
}

static void a_quantity_of_a_recording_has_a_series_for_each_unit(void **state)
{
    (void)state;
    sf_spike spikes[16];
    sf_span observed[2];
    sf_recording recording = small_recording(spikes, 16, observed);
    static const uint32_t firing[3] = {0, 2, 3};
    sf_series *series;
    assert_int_equal(sf_series_of_recording(&series, &recording, SF_QUANTITY_ISI, NULL, 0, NULL, NULL),
                     SF_OK);
    sf_series_columns columns = columns_of(series);
    assert_int_equal(columns.count, 3);
    assert_int_equal(columns.domain, SF_DOMAIN_LOG);
    assert_true(fabs(columns.tick - 1e-8) < 1e-20);
    size_t k = 0;
    for (size_t s = 0; s < 3; s++) {
        assert_int_equal(columns.units[s], firing[s]);
        assert_string_equal(columns.names[s], recording.units.items[firing[s]].name);
        assert_int_equal(columns.first[s], k);
        int64_t before = -1;
        for (int i = 0; i < 16; i++) {
            if (spikes[i].unit != firing[s]) continue;
            bool gap = before < 400 && spikes[i].time_ns >= 400;
            if (before >= 0 && !gap)
                test_assert_same(columns.values[k++], (double)(spikes[i].time_ns - before) / 1e9);
            before = spikes[i].time_ns;
        }
    }
    assert_int_equal(columns.first[3], k);
    sf_series_free(series);
    sf_units_free(&recording.units);
}

/* Times of six digits are in steps of 10 ms from 1000 s on: intervals are tied at these, and a density that
 * took the finer steps before for the clock's would draw each tie. A clock that stays as it is does not seem
 * coarser where spikes are few. */
static void a_clock_that_grows_coarser_counts_by_its_coarsest_step(void **state)
{
    (void)state;
    enum { SPIKES = 40000 };
    static sf_spike spikes[SPIKES];
    test_random random = test_random_start("a clock that grows coarser", 3);
    for (int coarse = 0; coarse < 2; coarse++) {
        sf_recording recording = {.spikes = spikes, .spike_count = SPIKES, .declared = true};
        assert_int_equal(sf_units_add(&recording.units, &(sf_unit){.electrode = -1}, NULL), SF_OK);
        int64_t at_ns = 0;
        for (int i = 0; i < SPIKES; i++) {
            at_ns += (int64_t)(-50e6 * log(1 - (double)test_random_below(&random, 1 << 30) / (1 << 30)));
            int64_t step_ns =
                coarse == 1 && at_ns > 1000 * SF_SECOND ? 10 * SF_MILLISECOND : SF_MILLISECOND / 20;
            spikes[i] = (sf_spike){.time_ns = at_ns / step_ns * step_ns};
        }
        recording.recorded = (sf_span){0, at_ns + 1};
        assert_int_equal(sf_recording_finish(&recording, NULL), SF_OK);
        assert_int_equal(recording.tick_ns, SF_MILLISECOND / 20);
        sf_series *series;
        sf_density *density;
        assert_int_equal(sf_series_of_recording(&series, &recording, SF_QUANTITY_ISI, NULL, 0, NULL, NULL),
                         SF_OK);
        assert_true(fabs(columns_of(series).tick - (coarse == 1 ? 0.01 : 0.00005)) < 1e-12);
        sf_density_options options = sf_density_options_default();
        options.domain = SF_DOMAIN_LOG;
        assert_int_equal(sf_density_find(&density, series, 0, &options, NULL), SF_OK);
        sf_density_columns found = {.size = sizeof found};
        sf_density_get_columns(density, &found);
        if (!(found.h > 0.02)) fail_msg("a bandwidth of %g", found.h);
        sf_density_free(density);
        sf_series_free(series);
        sf_units_free(&recording.units);
    }
}

/* A part has the same series, of what lies in it alone. */
static void a_part_of_a_recording_has_the_same_series(void **state)
{
    (void)state;
    sf_spike spikes[16];
    sf_span observed[2], within = {0, 100};
    sf_recording recording = small_recording(spikes, 16, observed);
    sf_series *series;
    assert_int_equal(sf_series_of_recording(&series, &recording, SF_QUANTITY_RATE, NULL, 25, &within, NULL),
                     SF_OK);
    sf_series_columns columns = columns_of(series);
    assert_int_equal(columns.count, 3);
    assert_int_equal(columns.first[1], 4); /* unit 0 has a spike at 30: bins of 0, 1, 0, 0 spikes */
    for (int b = 0; b < 4; b++)
        test_assert_same(columns.values[b], b == 1 ? 1e9 / 25 : 0);
    assert_int_equal(columns.first[2], 8);
    assert_int_equal(columns.first[3], 8); /* unit 3 is silent in it */
    test_assert_same(columns.tick, 1e9 / 25);
    sf_series_free(series);

    assert_int_equal(
        sf_series_of_recording(&series, &recording, SF_QUANTITY_POSITION, NULL, 0, &within, NULL), SF_OK);
    columns = columns_of(series);
    assert_int_equal(columns.d, 2);
    assert_int_equal(columns.first[1], 2);
    static const double xy[] = {0, -0.0, 20, -20};
    for (int i = 0; i < 4; i++)
        assert_true(columns.values[i] == xy[i]);
    sf_series_free(series);

    sf_episode episode = {.size = 2, .units = {0, 2}, .delays = {{0, 100}}};
    assert_int_equal(
        sf_series_of_recording(&series, &recording, SF_QUANTITY_DELAY, &episode, 0, &within, NULL), SF_OK);
    columns = columns_of(series);
    assert_int_equal(columns.count, 1);
    assert_int_equal(columns.first[1], 1);
    test_assert_same(columns.values[0], 6e-8);
    sf_series_free(series);
    sf_units_free(&recording.units);
}

/* More partial occurrences wait than there is room for at first, and the last of them is the one that counts.
 */
static void no_delay_is_given_up_for_want_of_room(void **state)
{
    (void)state;
    enum { PARTIAL = 5000 };
    static sf_spike spikes[PARTIAL + 1];
    sf_recording recording = {.spikes = spikes, .spike_count = PARTIAL + 1, .recorded = {0, 2 * PARTIAL}};
    for (int u = 0; u < 2; u++)
        assert_int_equal(sf_units_add(&recording.units, &(sf_unit){.electrode = -1}, NULL), SF_OK);
    assert_int_equal(sf_units_finish(&recording.units, NULL), SF_OK);
    for (int i = 0; i < PARTIAL; i++)
        spikes[i] = (sf_spike){.time_ns = i};
    spikes[PARTIAL] = (sf_spike){.time_ns = 2 * PARTIAL - 1, .unit = 1};
    sf_episode episode = {.size = 2, .units = {0, 1}, .delays = {{PARTIAL - 1, PARTIAL + 10}}};
    sf_series *series;
    assert_int_equal(sf_series_of_recording(&series, &recording, SF_QUANTITY_DELAY, &episode, 0, NULL, NULL),
                     SF_OK);
    sf_series_columns columns = columns_of(series);
    assert_int_equal(columns.first[1], 1);
    test_assert_same(columns.values[0], (double)PARTIAL / 1e9);
    sf_series_free(series);
    sf_units_free(&recording.units);
}

static void quantities_that_are_none_are_refused(void **state)
{
    (void)state;
    sf_spike spikes[16];
    sf_span observed[2];
    sf_recording recording = small_recording(spikes, 16, observed);
    sf_episode alone = {.size = 1};
    sf_series *series;
    sf_error error;
    test_assert_fails(sf_series_of_recording(&series, &recording, SF_QUANTITY_DELAY, &alone, 0, NULL, &error),
                      &error, SF_USAGE, "with a link");
    test_assert_fails(sf_series_of_recording(&series, &recording, SF_QUANTITY_RATE, NULL, 0, NULL, &error),
                      &error, SF_USAGE, "above 0");
    test_assert_fails(sf_series_of_recording(&series, &recording, (sf_quantity)9, NULL, 0, NULL, &error),
                      &error, SF_USAGE, "none");
    recording.spike_count = 0;
    test_assert_fails(sf_series_of_recording(&series, &recording, SF_QUANTITY_ISI, NULL, 0, NULL, &error),
                      &error, SF_DATA, "no spikes");
    test_assert_fails(
        sf_series_of_recording(&series, &recording, SF_QUANTITY_POSITION, NULL, 0, NULL, &error), &error,
        SF_DATA, "no positions");
    assert_null(series);
    sf_units_free(&recording.units);
}

/* ---- bandwidths ---- */

static void a_bandwidth_is_the_methods(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        sf_series *series = series_of(N, d, 7);
        sf_samples samples = {.values = (double *)(uintptr_t)columns_of(series).values, .n = N, .d = d};
        for (size_t m = d > 1 ? 2 : 0; sf_selector_at(m) != NULL; m++) {
            sf_bandwidth expected;
            sf_bandwidth_options how = {.curve = true, .threads = 1};
            sf_density_options options = sf_density_options_default();
            options.method = sf_selector_name(sf_selector_at(m));
            options.curve = true;
            options.device = "cpu";
            sf_density *density = find(series, &options);
            sf_density_columns found = read_density(density);
            assert_int_equal(sf_bandwidth_select(&expected, sf_selector_at(m), &samples, &how, NULL), SF_OK);
            test_assert_same(found.h, expected.h);
            test_assert_same(found.h_relative, expected.h_relative);
            test_assert_same(found.h0, expected.h0);
            test_assert_same(found.objective, expected.objective);
            assert_string_equal(found.method, options.method);
            assert_true(found.n == N && found.d == d && found.at_edge == expected.at_edge);
            assert_int_equal(found.minimum_count, expected.minimum_count);
            assert_int_equal(found.curve_count, expected.curve_count);
            assert_true((found.curve_h != NULL) == (expected.curve != NULL));
            double unit = expected.h / expected.h_relative;
            for (size_t i = 0; i < found.minimum_count; i++)
                test_assert_same(found.minimum_h[i], expected.minima[i].h * unit);
            for (size_t i = 0; i < found.curve_count; i++)
                test_assert_same(found.curve_score[i], expected.curve[i].score);
            assert_string_equal(found.ran.device, "cpu");
            sf_bandwidth_free(&expected);
            sf_density_free(density);
        }
        sf_density *density = find(series, NULL);
        assert_string_equal(read_density(density).method, d == 1 ? "isj" : "silverman");
        sf_density_free(density);
        sf_series_free(series);
    }
}

static void wrong_options_are_refused_by_name(void **state)
{
    (void)state;
    sf_density *density;
    sf_error error;
    sf_density_options options = sf_density_options_default();
    options.method = "best";
    test_assert_fails(sf_density_find(&density, NULL, 0, &options, &error), &error, SF_USAGE,
                      "expected one of isj, plugin");
    assert_string_equal(error.place, "method");
    options.method = NULL;
    assert_int_equal(sf_density_find(&density, NULL, 0, &options, NULL), SF_OK);
    assert_null(density);
    options.h = -1;
    test_assert_fails(sf_density_find(&density, NULL, 0, &options, &error), &error, SF_USAGE, "above 0");
    options.h = 0;
    options.domain = (sf_domain)3;
    test_assert_fails(sf_density_find(&density, NULL, 0, &options, &error), &error, SF_USAGE,
                      "one of line, log, reflect");
    sf_series *few = series_of(20, 1, 3);
    test_assert_fails(sf_density_find(&density, few, 0, NULL, &error), &error, SF_DATA, NULL);
    test_assert_fails(sf_density_find(&density, few, 1, NULL, &error), &error, SF_USAGE, "one of 1 series");
    sf_series_free(few);
}

/* Of an older program, whose options end earlier: what is behind them is not looked at. */
static void options_may_be_those_of_an_older_program(void **state)
{
    (void)state;
    struct {
        sf_density_options options;
        double guard;
    } older;
    memset(&older, 0x7f, sizeof older);
    sf_density_options_init(&older.options, offsetof(sf_density_options, exact));
    older.options.h = 0.5;
    sf_series *series = series_of(N, 1, 7);
    sf_density *density = find(series, &older.options);
    test_assert_same(read_density(density).h, 0.5);
    struct {
        size_t size, n;
    } narrow = {.size = 2 * sizeof(size_t)};
    sf_density_columns wide;
    memset(&wide, 0x7f, sizeof wide);
    memcpy(&wide, &narrow, sizeof narrow);
    sf_density_get_columns(density, &wide);
    assert_int_equal(wide.n, N);
    assert_int_equal(wide.d, 0x7f7f7f7f7f7f7f7f); /* behind the program's columns */
    sf_density_free(density);
    sf_series_free(series);
}

/* ---- points ---- */

static void densities_are_evaluated_at_the_same_points(void **state)
{
    (void)state;
    sf_series *series[2] = {series_of(N, 1, 7), series_of(N / 2, 1, 8)};
    sf_density *all[2] = {find(series[0], NULL), find(series[1], NULL)};
    assert_null(read_density(all[0]).x);
    assert_int_equal(sf_density_evaluate(all, 2, NULL, NULL), SF_OK);
    sf_density_columns first = read_density(all[0]);
    for (int i = 0; i < 2; i++) {
        sf_density_columns found = read_density(all[i]);
        const double *samples = columns_of(series[i]).values;
        double sum = 0;
        assert_int_equal(found.x_count, first.x_count);
        assert_int_equal(found.y_count, 0);
        assert_memory_equal(found.x, first.x, first.x_count * sizeof *first.x);
        for (size_t k = 0; k < found.x_count; k++) {
            assert_true(fabs(found.values[k] - check_density(found.x[k], samples, found.n, found.h)) < 1e-13);
            if (k > 0) sum += (found.x[k] - found.x[k - 1]) * (found.values[k] + found.values[k - 1]) / 2;
        }
        assert_true(fabs(sum + found.outside - 1) < 2e-3);
    }
    for (int i = 0; i < 2; i++) {
        sf_density_free(all[i]);
        sf_series_free(series[i]);
    }
}

/* What a kernel puts below 0 is found above it: each sample has one at its mirror image, too. */
static void what_lies_below_zero_is_reflected(void **state)
{
    (void)state;
    static const double samples[] = {0.1, 0.4, 0.5, 3};
    static const double points[] = {0, 0.05, 0.6, 1.5, 4};
    enum { POINTS = sizeof points / sizeof points[0] };
    double found[POINTS];
    assert_int_equal(check_kernels(found, points, POINTS, samples, 4, 0.3, SF_DOMAIN_REFLECT, 1, NULL),
                     SF_OK);
    for (size_t k = 0; k < POINTS; k++) {
        double expected =
            check_density(points[k], samples, 4, 0.3) + check_density(-points[k], samples, 4, 0.3);
        assert_true(fabs(found[k] - expected) < 1e-13);
    }
}

static void two_columns_have_a_map(void **state)
{
    (void)state;
    sf_series *series = series_of(N, 2, 9);
    sf_density *density = find(series, NULL);
    assert_int_equal(sf_density_evaluate(&density, 1, NULL, NULL), SF_OK);
    sf_density_columns found = read_density(density);
    double sum = 0, dx = found.x[1] - found.x[0], dy = found.y[1] - found.y[0];
    assert_true(found.x_count >= 128 && found.y_count >= 128);
    for (size_t k = 0; k < found.x_count * found.y_count; k++)
        sum += found.values[k] * dx * dy;
    assert_true(fabs(sum + found.outside - 1) < 1e-3);
    sf_density_free(density);
    sf_series_free(series);
}

static void points_that_miss_kernels_are_refused(void **state)
{
    (void)state;
    sf_series *series = series_of(N, 1, 7);
    sf_density_options options = sf_density_options_default();
    sf_error error;
    options.h = 0.1;
    sf_density *density = find(series, &options);
    assert_int_equal(sf_density_evaluate(&density, 1, NULL, NULL), SF_OK);
    options.axis_count = 1;
    options.from[0] = 0;
    options.to[0] = 5;
    options.point_count[0] = 100;
    test_assert_fails(sf_density_evaluate(&density, 1, &options, &error), &error, SF_USAGE, "101 are needed");
    assert_string_equal(error.place, "grid");
    assert_null(read_density(density).values); /* nor those of before */
    options.point_count[0] = 101;
    assert_int_equal(sf_density_evaluate(&density, 1, &options, NULL), SF_OK);
    sf_density_columns found = read_density(density);
    for (size_t k = 0; k < 101; k++)
        assert_true(fabs(found.x[k] - (double)k / 20) < 1e-12);
    options.axis_count = 0;
    options.most_points = 10;
    test_assert_fails(sf_density_evaluate(&density, 1, &options, &error), &error, SF_USAGE, "more than 10");
    assert_string_equal(error.place, "grid");
    sf_density_free(density);
    sf_series_free(series);
}

/* Of several the narrowest one says how close points are to be. */
static void points_resolve_the_narrowest_of_all(void **state)
{
    (void)state;
    sf_series *series = series_of(N, 1, 7);
    sf_density_options options = sf_density_options_default();
    sf_density *all[2];
    sf_error error;
    options.h = 1;
    all[0] = find(series, &options);
    options.h = 0.1;
    all[1] = find(series, &options);
    options.axis_count = 1;
    options.from[0] = 0;
    options.to[0] = 5;
    options.point_count[0] = 20;
    assert_int_equal(sf_density_evaluate(all, 1, &options, NULL), SF_OK);
    test_assert_fails(sf_density_evaluate(all, 2, &options, &error), &error, SF_USAGE, "bandwidth 0.1:");
    assert_null(read_density(all[0]).values);
    options.axis_count = 0;
    assert_int_equal(sf_density_evaluate(all, 2, &options, NULL), SF_OK);
    double widest = 0;
    sf_density_columns found = read_density(all[0]);
    for (size_t k = 1; k < found.x_count; k++)
        widest = fmax(widest, found.x[k] - found.x[k - 1]);
    assert_true(widest <= 0.1 / 5 + 1e-12);
    sf_density_free(all[0]);
    sf_density_free(all[1]);
    sf_series_free(series);
}

/* Under the step of a clock a density would show the clock. */
static void no_density_is_narrower_than_the_clock(void **state)
{
    (void)state;
    double values[N];
    draw(values, N, 1, 11);
    for (size_t i = 0; i < N; i++)
        values[i] = round(values[i] * 8) / 8;
    sf_series *series;
    assert_int_equal(sf_series_new(&series, values, N, 1, NULL), SF_OK);
    sf_density_options options = sf_density_options_default();
    options.h = 0.01;
    sf_density *density = find(series, &options);
    assert_int_equal(sf_density_evaluate(&density, 1, &options, NULL), SF_OK);
    sf_density_columns found = read_density(density);
    test_assert_same(found.h, 0.01);
    test_assert_same(found.h_least, 0.125);
    assert_true(found.x_count < 500); /* points as far apart as that allows */
    for (size_t k = 0; k < found.x_count; k++)
        assert_true(fabs(found.values[k] - check_density(found.x[k], values, N, 0.125)) < 1e-13);
    sf_density_free(density);
    sf_series_free(series);
}

/* ---- answers ---- */

static void answers_are_near_those_of_the_samples(void **state)
{
    (void)state;
    sf_series *series = series_of(N, 1, 7);
    const double *values = columns_of(series).values, from = 1.8, to = 2.6;
    double count = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < N; i++)
        if (values[i] > from && values[i] < to) {
            count++;
            sum += values[i];
            squares += values[i] * values[i];
        }
    const double expected[] = {count, sum, sum / count, squares / count - sum * sum / (count * count)};
    sf_density *density = find(series, NULL);
    for (int kind = 0; kind < 4; kind++) {
        sf_aggregate answer = {.size = sizeof answer};
        sf_error error;
        assert_int_equal(
            sf_density_aggregate(density, (sf_aggregate_kind)kind, &from, &to, 1, &answer, NULL, NULL),
            SF_OK);
        assert_true(fabs(answer.exact / expected[kind] - 1) < 1e-9);
        assert_true(fabs(answer.estimate - answer.exact) < 3 * answer.sampling_error);
        assert_true(answer.smoothing_error >= 0 && answer.sampling_error > 0);
        test_assert_fails(
            sf_density_aggregate(density, (sf_aggregate_kind)kind, &to, &from, 1, &answer, NULL, &error),
            &error, SF_USAGE, NULL);
        test_assert_fails(
            sf_density_aggregate(density, (sf_aggregate_kind)kind, &from, &to, 2, &answer, NULL, &error),
            &error, SF_USAGE, "2 ranges for 1 column");
    }
    sf_density_free(density);
    sf_series_free(series);
}

/* ---- stopping ---- */

static bool stop(void *user, const char *what, double done, double total)
{
    (void)what;
    assert_true(done >= 0 && done <= total);
    return --*(int *)user >= 0;
}

/* After so many reports; the last one is let through. */
static void everything_that_takes_long_can_be_stopped(void **state)
{
    (void)state;
    sf_series *line = series_of(N, 1, 7), *plane = series_of(N, 2, 8), *space = series_of(N, 3, 9);
    int left = 0;
    const sf_progress progress = {stop, &left};
    sf_density_options options = sf_density_options_default();
    sf_density *density, *stopped;
    sf_error error;
    options.progress = &progress;
    options.device = "cpu";
    options.threads = 1; /* how often it is asked does not hang on the machine */
    options.exact = true;
    options.method = "plugin";
    test_assert_fails(sf_density_find(&stopped, line, 0, &options, &error), &error, SF_CANCELLED, "stopped");
    assert_null(stopped);
    options.exact = false;
    options.method = "lscv";
    test_assert_fails(sf_density_find(&stopped, space, 0, &options, &error), &error, SF_CANCELLED, "stopped");

    const sf_series *const both[2] = {line, plane};
    for (int i = 0; i < 2; i++) {
        density = find(both[i], NULL);
        options.axis_count = (size_t)i + 1;
        for (int c = 0; c <= i; c++) {
            options.from[c] = 0;
            options.to[c] = 6;
            options.point_count[c] = i == 0 ? 40000 : 200;
        }
        for (int before = 0; before < 2; before++) { /* at once, and on the way */
            left = before;
            test_assert_fails(sf_density_evaluate(&density, 1, &options, &error), &error, SF_CANCELLED,
                              "stopped");
            assert_null(read_density(density).values);
        }
        left = INT32_MAX;
        assert_int_equal(sf_density_evaluate(&density, 1, &options, NULL), SF_OK);
        assert_true(left < INT32_MAX - 2);
        sf_density_free(density);
    }

    density = find(space, NULL);
    sf_aggregate answer = {.size = sizeof answer};
    const double from[3] = {1, 1, 1}, to[3] = {3, 4, 5};
    left = 0;
    test_assert_fails(
        sf_density_aggregate(density, SF_AGGREGATE_SUM, from, to, 3, &answer, &progress, &error), &error,
        SF_CANCELLED, "stopped");
    sf_density_free(density);
    sf_series_free(line);
    sf_series_free(plane);
    sf_series_free(space);
}

/* ---- without memory ---- */

static int gather_all(const sf_recording *recording)
{
    static const sf_quantity quantities[] = {SF_QUANTITY_ISI, SF_QUANTITY_DELAY, SF_QUANTITY_POSITION};
    const sf_episode episode = {.size = 2, .units = {0, 2}, .delays = {{0, 100}}};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < sizeof quantities / sizeof quantities[0]; i++) {
        sf_series *series;
        status = sf_series_of_recording(&series, recording, quantities[i], &episode, 0, NULL, NULL);
        sf_series_free(series);
    }
    return status;
}

static int answer_once(void *context)
{
    static double values[N];
    sf_series *numbers = NULL;
    sf_density *density = NULL;
    sf_density_options options = sf_density_options_default();
    draw(values, N, 1, 5);
    options.method = "lscv";
    options.curve = true;
    options.threads = 1;
    int status = gather_all(context);
    if (status == SF_OK) status = sf_series_new(&numbers, values, N, 1, NULL);
    if (status == SF_OK) status = sf_density_find(&density, numbers, 0, &options, NULL);
    if (status == SF_OK) status = sf_density_evaluate(&density, 1, &options, NULL);
    sf_density_free(density);
    sf_series_free(numbers);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_spike spikes[16];
    sf_span observed[2];
    sf_recording recording = small_recording(spikes, 16, observed);
    test_fail_every_allocation(answer_once, &recording);
    sf_units_free(&recording.units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_memory_are_one_series),
        cmocka_unit_test(a_quantity_of_a_recording_has_a_series_for_each_unit),
        cmocka_unit_test(a_clock_that_grows_coarser_counts_by_its_coarsest_step),
        cmocka_unit_test(a_part_of_a_recording_has_the_same_series),
        cmocka_unit_test(no_delay_is_given_up_for_want_of_room),
        cmocka_unit_test(quantities_that_are_none_are_refused),
        cmocka_unit_test(a_bandwidth_is_the_methods),
        cmocka_unit_test(wrong_options_are_refused_by_name),
        cmocka_unit_test(options_may_be_those_of_an_older_program),
        cmocka_unit_test(densities_are_evaluated_at_the_same_points),
        cmocka_unit_test(what_lies_below_zero_is_reflected),
        cmocka_unit_test(two_columns_have_a_map),
        cmocka_unit_test(points_that_miss_kernels_are_refused),
        cmocka_unit_test(points_resolve_the_narrowest_of_all),
        cmocka_unit_test(no_density_is_narrower_than_the_clock),
        cmocka_unit_test(answers_are_near_those_of_the_samples),
        cmocka_unit_test(everything_that_takes_long_can_be_stopped),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
