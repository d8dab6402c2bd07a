/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of significance: what they say of chance, of chains and of by-products, and their arithmetic. */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "mine/analytic.h"
#include "mine/fitted.h"
#include "mine/significance.h"

#include <math.h>

/* ---- streams to test ---- */

typedef struct stream {
    sf_units units;
    sf_spike *spikes;
    size_t count, capacity;
    int64_t duration_ns;
} stream;

static void add_spike(stream *s, uint32_t unit, double seconds)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity * 2 + 1000;
        s->spikes = realloc(s->spikes, s->capacity * sizeof *s->spikes);
    }
    s->spikes[s->count++] = (sf_spike){.time_ns = (int64_t)(seconds * 1e9), .unit = unit};
}

static int by_time_and_unit(const void *a, const void *b)
{
    const sf_spike *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return (left->unit > right->unit) - (left->unit < right->unit);
}

/* Independent Poisson trains at `hz`. In `linked` of 100 cases a spike of unit u - 1 is followed by one of
 * unit u after 4 to 6 ms, for 1 <= u < chain. */
static void make_stream(stream *s, test_random *random, uint32_t units, double hz, double seconds,
                        uint32_t chain, uint32_t linked)
{
    *s = (stream){.duration_ns = (int64_t)(seconds * 1e9)};
    for (uint32_t u = 0; u < units; u++) {
        sf_unit unit = {.electrode = -1};
        assert_int_equal(sf_units_add(&s->units, &unit, NULL), SF_OK);
        for (double t = 0;;) {
            t -= log(1 - test_random_unit(random)) / hz;
            if (t >= seconds) break;
            add_spike(s, u, t);
            double follows = t;
            for (uint32_t v = u + 1; v < chain && test_random_below(random, 100) < linked; v++) {
                follows += 0.004 + 0.002 * test_random_unit(random);
                add_spike(s, v, follows);
            }
        }
    }
    assert_int_equal(sf_units_finish(&s->units, NULL), SF_OK);
    qsort(s->spikes, s->count, sizeof *s->spikes, by_time_and_unit);
}

static void free_stream(stream *s)
{
    free(s->spikes);
    sf_units_free(&s->units);
}

static const sf_delay ten_ms = {0, 10 * SF_MILLISECOND};

static sf_mine_result *mine(const stream *s, sf_mining_options *options, double threshold, uint32_t max_size)
{
    *options = sf_mining_options_default();
    options->delays = &ten_ms;
    options->delay_count = 1;
    options->threshold = threshold;
    options->max_size = max_size;
    options->threads = 1;
    sf_mine_input input = {
        .spikes = s->spikes, .spike_count = s->count, .units = &s->units, .duration_ns = s->duration_ns};
    sf_mine_result *result;
    assert_int_equal(sf_mine_spikes(&result, &input, options, NULL, NULL), SF_OK);
    return result;
}

static sf_significance test_result(const stream *s, sf_mine_result *result, const sf_mining_options *mining,
                                   const sf_significance_options *options)
{
    sf_mine_input input = {
        .spikes = s->spikes, .spike_count = s->count, .units = &s->units, .duration_ns = s->duration_ns};
    sf_significance told;
    sf_error error;
    if (sf_significance_test(&told, result, &input, mining, options, NULL, &error) != SF_OK)
        fail_msg("%s", error.text);
    return told;
}

static const sf_mine_item *find(const sf_mine_result *result, uint32_t size, const uint32_t *units)
{
    for (size_t i = 0; i < result->count; i++) {
        sf_episode episode;
        sf_mine_result_episode(result, i, &episode);
        if (episode.size == size && memcmp(episode.units, units, size * sizeof *units) == 0)
            return &result->items[i];
    }
    fail_msg("an episode is not frequent");
    return NULL;
}

/* ---- what the tests say ---- */

/* Where A -> B is strong, every A -> B -> X and X -> A -> B counts more than independent units give; nothing
 * of it is due to X. */
static void by_products_of_a_strong_link_are_not_significant(void **state)
{
    (void)state;
    test_random random = test_random_start("by-products", 41);
    stream s;
    make_stream(&s, &random, 22, 8, 120, 2, 60);
    sf_mining_options mining;
    sf_mine_result *result = mine(&s, &mining, 20, 3);
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = 199;
    options.threads = 2;
    sf_significance told = test_result(&s, result, &mining, &options);
    assert_true(told.options.width_ns == 30000000 && told.options.segment_ns == SF_SECOND);
    assert_string_equal(told.ran.device, "cpu");
    const sf_mine_item *link = find(result, 2, (uint32_t[]){0, 1});
    assert_true(link->p == 1.0 / 200 && link->q == 1.0 / 200);
    assert_true(link->count > 1.2 * link->expected_given_rest && link->strength > 0.4);
    assert_true(link->expected < 0.7 * link->expected_given_rest); /* surrogates keep a part of the link */
    int by_products = 0, nominal = 0, corrected = 0;
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        sf_episode episode;
        sf_mine_result_episode(result, i, &episode);
        if (item->not_tested != SF_TESTABLE) continue;
        bool after = item->size == 3 && episode.units[0] == 0 && episode.units[1] == 1;
        bool before = item->size == 3 && episode.units[1] == 0 && episode.units[2] == 1;
        by_products += after || before;
        nominal += (after || before) && item->p < 0.05;
        corrected += (after || before) && item->q < 0.05;
        if (after || before)
            assert_true(item->count < 1.4 * item->expected_given_rest && item->count > 1.4 * item->expected);
    }
    assert_true(by_products >= 30);
    assert_true(nominal <= 6);
    assert_int_equal(corrected, 0);
    sf_mine_result_free(result);
    free_stream(&s);
}

static void a_chain_stands_out_by_either_correction(void **state)
{
    (void)state;
    test_random random = test_random_start("chain", 42);
    stream s;
    make_stream(&s, &random, 10, 8, 200, 4, 15);
    for (int correction = 0; correction < 2; correction++) {
        sf_mining_options mining;
        sf_mine_result *result = mine(&s, &mining, 8, 4);
        sf_significance_options options;
        options = sf_significance_options_default();
        options.surrogates = 400;
        options.correction = (sf_correction)correction;
        sf_significance told = test_result(&s, result, &mining, &options);
        assert_int_equal(told.candidates[2], 90);
        assert_true(told.critical[2][0] > 2 && isnan(told.critical[2][1]));
        static const uint32_t chain[] = {0, 1, 2, 3};
        for (uint32_t from = 0; from < 3; from++) {
            double q = find(result, 2, chain + from)->q;
            assert_true(q < 0.01);
            /* Held against surrogates it cannot be less than 1 of them; a fitted tail can. */
            assert_true((q < 1.0 / 401) == (options.correction == SF_CORRECTION_RATE));
        }
        size_t others = 0;
        for (size_t i = 0; i < result->count; i++) {
            sf_episode episode;
            sf_mine_result_episode(result, i, &episode);
            bool of_chain = false;
            for (uint32_t n = 0; n < episode.size; n++)
                of_chain = of_chain || episode.units[n] < 4;
            others += !of_chain && result->items[i].q < 0.05;
        }
        assert_true(others <= 1);
        sf_mine_result_free(result);
    }
    free_stream(&s);
}

/* A chain cannot be called without its links, so that pairs need not pay for chains. */
static void how_long_chains_may_be_is_nothing_to_a_pair(void **state)
{
    (void)state;
    test_random random = test_random_start("sizes", 44);
    stream s;
    make_stream(&s, &random, 10, 8, 200, 4, 15);
    sf_mining_options mining;
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = 99;
    sf_mine_result *pairs = mine(&s, &mining, 8, 2);
    test_result(&s, pairs, &mining, &options);
    sf_mine_result *chains = mine(&s, &mining, 8, 4);
    test_result(&s, chains, &mining, &options);
    size_t seen = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        sf_episode pair;
        sf_mine_result_episode(pairs, i, &pair);
        if (pairs->items[i].size != 2 || pairs->items[i].not_tested != SF_TESTABLE) continue;
        test_assert_same(find(chains, 2, pair.units)->q, pairs->items[i].q);
        seen++;
    }
    assert_true(seen > 80);
    sf_mine_result_free(pairs);
    sf_mine_result_free(chains);
    free_stream(&s);
}

/* Of few surrogates mean and deviation are known badly; that must not make the recorded count the one that
 * stands out most more often than one of the surrogates is. */
static void few_surrogates_correct_as_well(void **state)
{
    (void)state;
    enum { RUNS = 40 };
    test_random random = test_random_start("few", 47);
    int findings = 0;
    for (int run = 0; run < RUNS; run++) {
        stream s;
        make_stream(&s, &random, 9, 8, 60, 0, 0);
        sf_mining_options mining;
        sf_mine_result *result = mine(&s, &mining, 5, 2);
        sf_significance_options options;
        options = sf_significance_options_default();
        options.surrogates = 20;
        options.seed = (uint64_t)run;
        test_result(&s, result, &mining, &options);
        double least = 1;
        for (size_t i = 0; i < result->count; i++)
            least = fmin(least, result->items[i].q);
        findings += least < 0.05;
        sf_mine_result_free(result);
        free_stream(&s);
    }
    assert_true(findings <= 5);
}

/* ---- the same numbers everywhere ---- */

static void one_seed_gives_the_same_bytes_on_any_number_of_threads(void **state)
{
    (void)state;
    test_random random = test_random_start("threads", 43);
    stream s;
    make_stream(&s, &random, 8, 10, 60, 3, 30);
    sf_mining_options mining;
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = 99;
    for (int kind = 0; kind < 3; kind++) {
        options.kind = (sf_significance_kind)(SF_SIGNIFICANCE_SEGMENT_SHIFT + kind);
        sf_mine_result *first = NULL;
        for (unsigned threads = 1; threads <= 4; threads++) {
            options.threads = threads;
            sf_mine_result *result = mine(&s, &mining, 5, 4);
            test_result(&s, result, &mining, &options);
            if (first == NULL) {
                first = result;
                continue;
            }
            assert_int_equal(result->count, first->count);
            for (size_t i = 0; i < result->count; i++) {
                test_assert_same(result->items[i].p, first->items[i].p);
                test_assert_same(result->items[i].q, first->items[i].q);
                test_assert_same(result->items[i].expected_given_rest, first->items[i].expected_given_rest);
            }
            sf_mine_result_free(result);
        }
        sf_mine_result_free(first);
    }
    free_stream(&s);
}

/* A unit's surrogates depend neither on the others nor on the clock, so its pairs' p do not. */
static void other_units_and_hours_change_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("others", 44);
    stream s;
    make_stream(&s, &random, 6, 10, 60, 0, 0);
    sf_mining_options mining;
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = 99;
    sf_mine_result *all = mine(&s, &mining, 5, 2);
    test_result(&s, all, &mining, &options);
    size_t kept = 0;
    for (size_t i = 0; i < s.count; i++)
        if (i == 0 || s.spikes[i].unit >= 3) { /* the first spike is time 0 */
            s.spikes[kept] = s.spikes[i];
            s.spikes[kept++].time_ns += 36000 * SF_SECOND;
        }
    s.count = kept;
    sf_mine_result *some = mine(&s, &mining, 5, 2);
    test_result(&s, some, &mining, &options);
    assert_true(some->count >= 6 && some->count < all->count);
    for (size_t i = 0; i < some->count; i++) {
        sf_episode episode;
        sf_mine_result_episode(some, i, &episode);
        const sf_mine_item *before = find(all, 2, episode.units);
        test_assert_same(some->items[i].p, before->p);
        test_assert_same(some->items[i].expected_given_rest, before->expected_given_rest);
    }
    sf_mine_result_free(all);
    sf_mine_result_free(some);
    free_stream(&s);
}

/* ---- arithmetic ---- */

/* The recursion of the paper, step by step. */
static sf_analytic count_by_steps(uint32_t size, double hz, int span, int steps, double link)
{
    double p = -expm1(-hz / 1000) * pow(link, size - 1.0);
    double *f = calloc((size_t)steps + 1, sizeof *f), *g = calloc((size_t)steps + 1, sizeof *g);
    for (int l = 1; l <= steps; l++) {
        double before_f = l >= span ? f[l - span] : 0, before_g = l >= span ? g[l - span] : 0;
        f[l] = l < span ? 0 : (1 - p) * f[l - 1] + p * (1 + before_f);
        g[l] = l < span ? 0 : (1 - p) * g[l - 1] + p * (1 + before_g + 2 * before_f);
    }
    sf_analytic result = {f[steps], g[steps] - f[steps] * f[steps]};
    free(f);
    free(g);
    return result;
}

static void the_analytic_test_has_the_published_values(void **state)
{
    (void)state;
    static const struct {
        uint32_t size;
        int span;
        double expected, threshold;
    } cases[] = {{2, 5, 233.9, 301.1}, {3, 10, 47.2, 77.7}, {4, 15, 9.5, 23.2}};
    for (size_t i = 0; i < 3; i++) {
        sf_analytic null = sf_analytic_count(cases[i].size, 20, 1e-3 * cases[i].span, 60, 0.2);
        assert_true(fabs(null.expected - cases[i].expected) < 0.1);
        assert_true(fabs(null.expected + sqrt(null.variance / 0.05) - cases[i].threshold) < 0.1);
        sf_analytic steps = count_by_steps(cases[i].size, 20, cases[i].span, 60000, 0.2);
        assert_true(fabs(null.expected / steps.expected - 1) < 1e-2);
        assert_true(fabs(null.variance / steps.variance - 1) < 1e-2);
        double p = sf_analytic_p(null, null.expected + 3 * sqrt(null.variance));
        assert_true(fabs(p - 0.1) < 1e-12);
        assert_true(sf_analytic_p(null, null.expected) == 1);
        double e0 = sf_analytic_strength(cases[i].size, 20, 1e-3 * cases[i].span, 60, null.expected);
        assert_true(fabs(e0 - 0.2) < 1e-9);
    }
    assert_true(sf_analytic_strength(2, 20, 5e-3, 60, 30000) == 1);
}

static void fitted_tails_are_those_of_poisson_counts(void **state)
{
    (void)state;
    static const double means[] = {0.01, 0.7, 4, 22.5, 150, 3000};
    for (size_t i = 0; i < 6; i++) {
        double mean = means[i], term = exp(-mean), below = 0;
        if (mean > 600) term = 0; /* checked by its middle alone */
        for (int k = 0; term > 0 && k < mean + 8 * sqrt(mean) + 5; k++) {
            double tail = sf_fitted_tail(mean, mean, UINT32_MAX, k);
            if (below < 0.999)
                assert_true(fabs(tail - (1 - below)) < 1e-8);
            else
                assert_true(tail >= 0 && tail < 1.01e-3);
            below += term;
            term *= mean / (k + 1);
        }
        assert_true(fabs(sf_fitted_tail(3000, 3000, UINT32_MAX, 3000) - 0.5) < 0.01);
    }
    /* Beyond the reach of 1 - below: the first terms decide. */
    double expected = exp(-20) * pow(20, 60) / exp(lgamma(61));
    double tail = sf_fitted_tail(20, 20, UINT32_MAX, 60);
    assert_true(tail > expected && tail < 1.6 * expected);
    /* Half the variance: like a normal deviate near the middle. */
    assert_true(fabs(sf_fitted_tail(100, 50, UINT32_MAX, 114.64) - 0.0228) < 0.004);
    assert_true(sf_fitted_tail(5, 5, UINT32_MAX, 0) > 1 - 1e-6);
    /* Of a sample of 20 the tail is Student's with 19 degrees of freedom: 0.00076 from 3.7 on, where the
     * normal one has 0.00011. */
    double far = 1e6 + 3.7 * sqrt(1 + 1.0 / 20) * 1e3;
    assert_true(fabs(sf_fitted_tail(1e6, 1e6, 20, far) / 0.00076 - 1) < 0.03);
    assert_true(fabs(sf_fitted_tail(1e6, 1e6, 20, 2e6 - far) - (1 - 0.00076)) < 1e-4);
}

static void the_false_discovery_rate_is_benjamini_and_hochbergs(void **state)
{
    (void)state;
    double p[] = {0.04, 0.001, 0.03, 0.005};
    assert_int_equal(sf_false_discovery(p, 4, 10, NULL), SF_OK);
    const double q[] = {0.1, 0.01, 0.1, 0.025};
    for (int i = 0; i < 4; i++)
        assert_true(fabs(p[i] - q[i]) < 1e-12);
    double one = 0.3;
    assert_int_equal(sf_false_discovery(&one, 1, 100, NULL), SF_OK);
    assert_true(one == 1);
}

/* ---- refusing, stopping, failing ---- */

static bool stop(void *user, const char *what, double done, double total)
{
    (void)user;
    (void)what;
    return done < 0.6 * total; /* in the second test */
}

static int mine_and_test(void *context)
{
    const stream *s = context;
    sf_mine_input input = {
        .spikes = s->spikes, .spike_count = s->count, .units = &s->units, .duration_ns = s->duration_ns};
    sf_mining_options mining;
    mining = sf_mining_options_default();
    mining.delays = &ten_ms;
    mining.delay_count = 1;
    mining.threshold = 3;
    mining.threads = 1;
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = 5;
    options.threads = 2;
    options.correction = SF_CORRECTION_RATE;
    sf_significance told;
    sf_mine_result *result;
    int status = sf_mine_spikes(&result, &input, &mining, NULL, NULL);
    if (status == SF_OK) status = sf_significance_test(&told, result, &input, &mining, &options, NULL, NULL);
    sf_mine_result_free(result);
    return status;
}

static void what_makes_no_sense_is_refused_and_what_takes_long_can_be_stopped(void **state)
{
    (void)state;
    test_random random = test_random_start("refusing", 45);
    stream s;
    make_stream(&s, &random, 5, 10, 30, 0, 0);
    sf_mining_options mining;
    sf_mine_result *result = mine(&s, &mining, 3, 3);
    sf_mine_input input = {
        .spikes = s.spikes, .spike_count = s.count, .units = &s.units, .duration_ns = s.duration_ns};
    sf_significance_options options = sf_significance_options_default();
    sf_significance told;
    sf_error error;
    options.threads = 1; /* the calling thread asks whether to go on */
    options.surrogates = 0;
    test_assert_fails(sf_significance_test(&told, result, &input, &mining, &options, NULL, &error), &error,
                      SF_USAGE, "found 0, expected a whole number from 1");
    options.surrogates = 500;
    options.segment_ns = 1;
    test_assert_fails(sf_significance_test(&told, result, &input, &mining, &options, NULL, &error), &error,
                      SF_USAGE, "segments");
    options.segment_ns = SF_SECOND;
    sf_progress progress = {stop, NULL};
    test_assert_fails(sf_significance_test(&told, result, &input, &mining, &options, &progress, &error),
                      &error, SF_CANCELLED, NULL);
    assert_true(isnan(result->items[0].p));
    options.kind = SF_SIGNIFICANCE_ANALYTIC;
    assert_int_equal(sf_significance_test(&told, result, &input, &mining, &options, NULL, &error), SF_OK);
    assert_true(result->items[0].p > 0 && isnan(result->items[0].q));
    test_assert_fails(sf_significance_find(&options.kind, "magic", &error), &error, SF_USAGE,
                      "segment-shift");
    sf_mine_result_free(result);
    free_stream(&s);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_random random = test_random_start("allocations", 46);
    stream s;
    make_stream(&s, &random, 4, 10, 10, 3, 50);
    test_fail_every_allocation(mine_and_test, &s);
    free_stream(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_products_of_a_strong_link_are_not_significant),
        cmocka_unit_test(a_chain_stands_out_by_either_correction),
        cmocka_unit_test(how_long_chains_may_be_is_nothing_to_a_pair),
        cmocka_unit_test(few_surrogates_correct_as_well),
        cmocka_unit_test(one_seed_gives_the_same_bytes_on_any_number_of_threads),
        cmocka_unit_test(other_units_and_hours_change_nothing),
        cmocka_unit_test(the_analytic_test_has_the_published_values),
        cmocka_unit_test(fitted_tails_are_those_of_poisson_counts),
        cmocka_unit_test(the_false_discovery_rate_is_benjamini_and_hochbergs),
        cmocka_unit_test(what_makes_no_sense_is_refused_and_what_takes_long_can_be_stopped),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
