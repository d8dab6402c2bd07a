/* SPDX-License-Identifier: Apache-2.0 */
/* Two factors: beside numpy's least squares, beside formulas of means alone, beside every order of the
 * values, and as often as they say. */
#include "analysis/factors.h"
#include "support/support.h"

#include <math.h>

#define MOST 64

typedef struct table {
    size_t count, levels[2][MOST], replicates[MOST], blocks[MOST];
    double values[MOST];
} table;

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) fail_msg("found %.15g, expected %.15g", found, expected);
}

static void add(table *t, size_t first, size_t second, size_t replicate, double value)
{
    t->levels[0][t->count] = first;
    t->levels[1][t->count] = second;
    t->replicates[t->count] = replicate;
    t->blocks[t->count] = replicate % 2;
    t->values[t->count++] = value;
}

static sf_factors_input input_of(const table *t, size_t first, size_t second, uint64_t most)
{
    return (sf_factors_input){.count = t->count,
                              .measure_count = 1,
                              .values = t->values,
                              .levels = {t->levels[0], t->levels[1]},
                              .level_counts = {first, second},
                              .replicates = t->replicates,
                              .replicate_count = t->count,
                              .most = most,
                              .seed = 1};
}

static sf_factors find(const sf_factors_input *input)
{
    sf_factors told;
    sf_error error;
    if (sf_factors_find(&told, input, &error) != SF_OK) fail_msg("%s", error.text);
    return told;
}

typedef struct expected {
    size_t n, degrees;
    double statistic, eta_squared, epsilon_squared, p; /* p of 200,000 random dealings */
} expected;

#define DEALINGS 20000

static void assert_effects(const sf_factors_input *input, const expected of[SF_FACTOR_EFFECTS])
{
    sf_factors told = find(input);
    for (int e = 0; e < SF_FACTOR_EFFECTS; e++) {
        const sf_factor_effect *effect = told.effects[e];
        assert_int_equal(effect->n, of[e].n);
        assert_int_equal(effect->degrees, of[e].degrees);
        assert_near(effect->statistic, of[e].statistic, 1e-9 * of[e].statistic);
        assert_near(effect->eta_squared, of[e].eta_squared, 1e-10);
        assert_near(effect->epsilon_squared, of[e].epsilon_squared, 1e-10);
        assert_near(effect->p, of[e].p, 5 * sqrt(of[e].p * (1 - of[e].p) / DEALINGS));
        assert_true(isnan(effect->difference) == (of[e].degrees != 1));
        assert_true(effect->p >= effect->least && effect->q >= effect->p && effect->p <= 1);
    }
    sf_factors_free(&told);
}

/* Each replicate of one combination, 3, 2, 4 and 2, 5, 3 of them: least squares by matrices in numpy,
 * and shares of its dealings, to five standard errors of ours. */
static void effects_are_those_of_numpy(void **state)
{
    (void)state;
    static const double values[] = {0.0,  0.6,  -0.55, -1.08, -0.21, -0.58, 1.52, 4.08, 0.42, 0.26,
                                    2.48, 2.91, 2.41,  0.34,  2.14,  3.59,  0.21, 1.98, -0.9};
    static const size_t counts[] = {3, 2, 4, 2, 5, 3};
    table t = {0};
    for (size_t c = 0; c < 6; c++)
        for (size_t i = 0; i < counts[c]; i++)
            add(&t, c / 3, c % 3, t.count, values[t.count]);
    sf_factors_input input = input_of(&t, 2, 3, DEALINGS);
    assert_effects(&input,
                   (const expected[]){{19, 1, 3.16640126961, 0.170663848007, 0.106868759392, 0.11057},
                                      {19, 2, 0.0571484153815, 0.00444987088555, -0.14871168744, 0.97585},
                                      {19, 2, 7.06597433827, 0.314847629092, 0.209439572029, 0.12555}});
    input.blocks = t.blocks;
    assert_effects(&input,
                   (const expected[]){{19, 1, 2.57591124331, 0.170253233353, 0.101107669465, 0.15578},
                                      {19, 2, 0.04672320546, 0.00471029555721, -0.16117132185, 0.98256},
                                      {19, 2, 6.62450598552, 0.305282380856, 0.189496110999, 0.16863}});
}

/* Replicates at three levels of the second factor, one at two and one at one, which tells nothing within
 * itself: the first factor is of the means of those that have all three. */
static table repeated(void)
{
    static const double values[] = {-1.14, -0.69, 1.92, 1.45,  3.99, 4.87, -3.28, -4.61,
                                    1.18,  2.67,  3.83, -1.29, 1.26, 2.26, -2.09, 1.28,
                                    0.91,  3.97,  6.39, 6.42,  1.41, 3.13, 4.59,  -2.12};
    table t = {0};
    for (size_t r = 0; r < 9; r++)
        for (size_t k = 0; k < 3; k++)
            if (!(r == 2 && k == 2) && !(r == 8 && k != 1)) add(&t, r >= 4, k, r, values[t.count]);
    return t;
}

static void replicates_are_compared_with_themselves(void **state)
{
    (void)state;
    const table t = repeated();
    const sf_factors_input input = input_of(&t, 2, 3, DEALINGS);
    assert_effects(&input,
                   (const expected[]){{7, 1, 0.0452475798313, 0.00800422516477, -0.190394929802, 0.8},
                                      {23, 2, 177.93118383, 0.83846522912, 0.809095270778, 0.001535},
                                      {23, 2, 3.96134606858, 0.362315104818, 0.246372396603, 0.24366}});
    sf_factors told = find(&input);
    assert_true(!told.within[SF_FACTOR_FIRST] && told.within[SF_FACTOR_SECOND] &&
                told.within[SF_FACTOR_BOTH]);
    sf_factors_free(&told);
    /* a constant of each replicate changes what is between replicates alone */
    table moved = t;
    for (size_t i = 0; i < t.count; i++)
        moved.values[i] += 100.0 * (double)t.replicates[i];
    const sf_factors_input other = input_of(&moved, 2, 3, DEALINGS);
    sf_factors one = find(&input), two = find(&other);
    for (int e = SF_FACTOR_SECOND; e < SF_FACTOR_EFFECTS; e++) {
        assert_near(two.effects[e]->statistic, one.effects[e]->statistic, 1e-6 * one.effects[e]->statistic);
        assert_near(two.effects[e]->p, one.effects[e]->p, 0);
    }
    assert_true(fabs(two.effects[0]->statistic - one.effects[0]->statistic) > 1);
    sf_factors_free(&one);
    sf_factors_free(&two);
}

/* ---- beside formulas of means ---- */

/* Of two levels each statistic is the square of a sum of means over its variance by Welch. */
static double by_means(const double means[4], const double variances[4], const double of[4],
                       double *difference)
{
    double sum = 0, variance = 0;
    for (int c = 0; c < 4; c++) {
        sum += of[c] * means[c];
        variance += of[c] * of[c] * variances[c];
    }
    *difference = sum;
    return sum * sum / variance;
}

/* The chi-square that is as rare, of combinations of two. */
static double rarity(const double means[4], const double variances[4], const double of[4])
{
    double difference, sum = 0, squares = 0;
    for (int c = 0; c < 4; c++) {
        sum += of[c] * of[c] * variances[c];
        squares += pow(of[c] * of[c] * variances[c], 2);
    }
    const double freedom = sum * sum / squares;
    return (freedom - 0.5) * log1p(by_means(means, variances, of, &difference) / freedom);
}

static const double signs[SF_FACTOR_EFFECTS][4] = {
    {-0.5, -0.5, 0.5, 0.5}, {-0.5, 0.5, -0.5, 0.5}, {1, -1, -1, 1}};

static void describe_cells(const table *t, double means[4], double variances[4])
{
    double counts[4] = {0};
    for (int c = 0; c < 4; c++)
        means[c] = variances[c] = 0;
    for (size_t i = 0; i < t->count; i++) {
        means[2 * t->levels[0][i] + t->levels[1][i]] += t->values[i];
        counts[2 * t->levels[0][i] + t->levels[1][i]]++;
    }
    for (int c = 0; c < 4; c++)
        means[c] /= counts[c];
    for (size_t i = 0; i < t->count; i++) {
        size_t c = 2 * t->levels[0][i] + t->levels[1][i];
        variances[c] += (t->values[i] - means[c]) * (t->values[i] - means[c]) / (counts[c] - 1) / counts[c];
    }
}

static double normal(test_random *random)
{
    return sqrt(-2 * log(1 - test_random_unit(random))) * cos(6.283185307179586 * test_random_unit(random));
}

static void of_two_levels_it_is_welchs(void **state)
{
    (void)state;
    test_random random = test_random_start("cells", 31);
    for (int round = 0; round < 20; round++) {
        table t = {0};
        for (size_t c = 0; c < 4; c++)
            for (size_t i = 0, n = 2 + test_random_below(&random, 5); i < n; i++)
                add(&t, c / 2, c % 2, t.count, (1 + (double)c) * normal(&random) + (double)c);
        const sf_factors_input input = input_of(&t, 2, 2, 10);
        sf_factors told = find(&input);
        double means[4], variances[4], difference;
        describe_cells(&t, means, variances);
        for (int e = 0; e < SF_FACTOR_EFFECTS; e++) {
            double statistic = by_means(means, variances, signs[e], &difference);
            assert_near(told.effects[e]->statistic, statistic, 1e-9 * (1 + statistic));
            assert_near(told.effects[e]->difference, difference, 1e-9);
        }
        sf_factors_free(&told);
    }
}

/* Replicates at both levels of the second factor: the interaction is Welch's t of their differences, and the
 * second factor the mean of both groups' differences. */
static void of_two_levels_within_it_is_welchs_of_differences(void **state)
{
    (void)state;
    enum { N = 4, M = 6 };
    test_random random = test_random_start("differences", 32);
    for (int round = 0; round < 20; round++) {
        table t = {0};
        double mean[2] = {0}, variance[2] = {0}, differences[N + M];
        for (size_t r = 0; r < N + M; r++) {
            double first = normal(&random) + 5 * normal(&random), second = first + normal(&random) + (r < N);
            add(&t, r >= N, 0, r, first);
            add(&t, r >= N, 1, r, second);
            differences[r] = second - first;
            mean[r >= N] += differences[r] / (r < N ? N : M);
        }
        for (size_t r = 0; r < N + M; r++) {
            double n = r < N ? N : M, away = differences[r] - mean[r >= N];
            variance[r >= N] += away * away / (n - 1) / n;
        }
        const sf_factors_input input = input_of(&t, 2, 2, 10);
        sf_factors told = find(&input);
        const double both = mean[1] - mean[0], all = mean[0] + mean[1], error = variance[0] + variance[1];
        assert_near(told.effects[SF_FACTOR_BOTH]->statistic, both * both / error,
                    1e-9 * (1 + both * both / error));
        assert_near(told.effects[SF_FACTOR_BOTH]->difference, both, 1e-9);
        assert_near(told.effects[SF_FACTOR_SECOND]->statistic, all * all / error,
                    1e-9 * (1 + all * all / error));
        assert_near(told.effects[SF_FACTOR_SECOND]->difference, all / 2, 1e-9);
        sf_factors_free(&told);
    }
}

/* ---- beside every order ---- */

typedef struct orders {
    table table;
    double found[SF_FACTOR_EFFECTS], as_great[SF_FACTOR_EFFECTS], count;
} orders;

static void count_orders(orders *o, int effect, size_t from)
{
    if (from == 8) {
        double means[4], variances[4];
        describe_cells(&o->table, means, variances);
        o->as_great[effect] += rarity(means, variances, signs[effect]) >= o->found[effect] * (1 - 1e-9);
        o->count++;
    }
    for (size_t i = from; i < 8; i++) {
        const double kept = o->table.values[from];
        o->table.values[from] = o->table.values[i];
        o->table.values[i] = kept;
        count_orders(o, effect, from + 1);
        o->table.values[i] = o->table.values[from];
        o->table.values[from] = kept;
    }
}

/* Two of each combination, so that means of what is left are plain: all 40,320 orders, and as many random
 * ones, whose share differs by five standard errors at most. */
static void p_is_the_share_of_all_orders(void **state)
{
    (void)state;
    static const double values[] = {1.1, 2.7, 3.9, 5.2, 2.2, 0.3, 9.1, 7.4};
    orders o = {0};
    for (size_t i = 0; i < 8; i++)
        add(&o.table, i / 4, i / 2 % 2, i, values[i]);
    const table t = o.table;
    const sf_factors_input input = input_of(&t, 2, 2, 40000);
    sf_factors told = find(&input);
    for (int e = 0; e < SF_FACTOR_EFFECTS; e++) {
        double means[4], variances[4];
        describe_cells(&t, means, variances);
        o.found[e] = rarity(means, variances, signs[e]);
        o.count = 0;
        for (size_t i = 0; i < 8; i++) { /* less the effects of the others */
            double rest = 0;
            for (int other = 0; other < SF_FACTOR_EFFECTS; other++) {
                double of;
                by_means(means, variances, signs[other], &of);
                rest += other == e ? 0
                                   : (other == SF_FACTOR_BOTH ? 0.25 : 0.5) * of *
                                         (signs[other][i / 2] > 0 ? 1 : -1);
            }
            o.table.values[i] = values[i] - rest;
        }
        count_orders(&o, e, 0);
        const double exact = o.as_great[e] / o.count, error = sqrt(exact * (1 - exact) / 40000);
        assert_true(o.count == 40320);
        assert_near(told.effects[e]->p, exact, 5 * error);
        assert_true(told.effects[e]->least > 0 && told.effects[e]->least <= exact + 5 * error);
    }
    sf_factors_free(&told);
}

/* ---- several measures ---- */

/* The second measure is the first, and costs nothing; the third is noise; the fourth lacks values; the fifth
 * is the same everywhere. */
static void all_measures_are_corrected_for(void **state)
{
    (void)state;
    enum { N = 24, MEASURES = 5 };
    test_random random = test_random_start("measures of factors", 33);
    table t = {0};
    double values[N * MEASURES], chance[N * MEASURES];
    for (size_t i = 0; i < N; i++) {
        add(&t, i % 2, i / 2 % 2, i, normal(&random) + 1.6 * (double)(i % 2));
        double *of = values + i * MEASURES;
        of[0] = of[1] = t.values[i];
        of[2] = normal(&random);
        of[3] = i % 5 == 0 ? NAN : 3 + t.values[i];
        of[4] = 7;
        for (size_t k = 0; k < MEASURES; k++)
            chance[i * MEASURES + k] = NAN;
        chance[i * MEASURES + 1] = 100 * (double)i; /* taken off again */
        of[1] += 100 * (double)i;
    }
    sf_factors_input input = input_of(&t, 2, 2, 4000), alone = input;
    input.values = values;
    input.chance = chance;
    input.measure_count = MEASURES;
    sf_factors told = find(&input), one = find(&alone);
    for (int e = 0; e < SF_FACTOR_EFFECTS; e++) {
        const sf_factor_effect *of = told.effects[e];
        assert_near(of[0].p, one.effects[e]->p, 0);
        assert_near(one.effects[e]->q, one.effects[e]->p, 0);
        assert_near(of[1].p, of[0].p, 1e-3);
        assert_near(of[1].q, of[0].q, 1e-3);
        assert_true(of[0].q > of[0].p && of[0].q < 3.2 * of[0].p + 0.01);
        assert_true(of[3].n == 19 && !isnan(of[3].p));
        assert_true(of[4].n == N && isnan(of[4].p) && isnan(of[4].q) && isnan(of[4].statistic));
    }
    sf_factors_free(&told);
    sf_factors_free(&one);
}

static void too_little_is_not_tested(void **state)
{
    (void)state;
    table t = {0};
    for (size_t c = 0; c < 3; c++) /* no replicate of the fourth combination */
        for (size_t i = 0; i < 4; i++)
            add(&t, c / 2, c % 2, t.count, (double)(c + i * i));
    sf_factors_input input = input_of(&t, 2, 2, 100);
    sf_factors told = find(&input);
    assert_true(isnan(told.effects[SF_FACTOR_BOTH]->p) && told.effects[SF_FACTOR_BOTH]->n == 12);
    assert_true(isnan(told.effects[SF_FACTOR_FIRST]->p));
    sf_factors_free(&told);
    add(&t, 1, 1, t.count, 3); /* and one of it, of which nobody knows how it varies */
    input = input_of(&t, 2, 2, 100);
    told = find(&input);
    assert_true(isnan(told.effects[SF_FACTOR_BOTH]->p));
    sf_factors_free(&told);
    add(&t, 1, 1, t.count, 5);
    input = input_of(&t, 2, 2, 100);
    told = find(&input);
    assert_true(!isnan(told.effects[SF_FACTOR_BOTH]->p) && !isnan(told.effects[SF_FACTOR_FIRST]->p));
    sf_factors_free(&told);
    t.count = 0; /* three replicates at five levels: two of them differ in four ways at most */
    for (size_t r = 0; r < 3; r++)
        for (size_t k = 0; k < 5; k++)
            add(&t, 0, k, r, (double)(r * k % 4) + (double)(k * k));
    input = input_of(&t, 1, 5, 100);
    told = find(&input);
    assert_true(told.within[SF_FACTOR_SECOND] && isnan(told.effects[SF_FACTOR_SECOND]->p));
    sf_factors_free(&told);
    t.count = 0;
    input = input_of(&t, 1, 1, 100);
    told = find(&input);
    assert_true(isnan(told.effects[SF_FACTOR_SECOND]->p) && told.effects[SF_FACTOR_SECOND]->n == 0);
    sf_factors_free(&told);
}

/* ---- as often as they say ---- */

typedef struct design {
    size_t counts[4]; /* of each combination; `within`: replicates of the first factor's levels, at both of
                         the other */
    double spread[4];
    bool within;
} design;

/* How many of `rounds` have p of 0.05 or less for each effect, where the two factors add `effects` and more
 * comes of both. */
static void count_low(size_t low[SF_FACTOR_EFFECTS], const design *d, const double effects[2], double both,
                      int rounds, test_random *random)
{
    memset(low, 0, SF_FACTOR_EFFECTS * sizeof *low);
    for (int round = 0; round < rounds; round++) {
        table t = {0};
        for (size_t c = 0; c < 4; c++)
            for (size_t i = 0; i < d->counts[d->within ? c / 2 * 2 : c]; i++) {
                const double a = (double)(c / 2), b = (double)(c % 2);
                add(&t, c / 2, c % 2, d->within ? c / 2 * 32 + i : t.count,
                    d->spread[c] * normal(random) + effects[0] * a + effects[1] * b + both * a * b);
            }
        for (size_t r = 0; d->within && r < 64; r++) {
            const double own = 3 * normal(random);
            for (size_t i = 0; i < t.count; i++)
                t.values[i] += t.replicates[i] == r ? own : 0;
        }
        sf_factors_input input = input_of(&t, 2, 2, 200);
        input.seed = (uint64_t)round + 1;
        sf_factors told = find(&input);
        for (int e = 0; e < SF_FACTOR_EFFECTS; e++)
            low[e] += told.effects[e]->p <= 0.05;
        sf_factors_free(&told);
    }
}

/* Both factors have effects, of other sizes, and none depends on the other: 5 in 100 interactions have p of
 * 0.05 or less, however the replicates are spread over the combinations. F would have it of 13 in 100 in the
 * third. */
static void main_effects_are_no_interaction(void **state)
{
    (void)state;
    if (test_is_short()) skip(); /* it counts, and nothing else */
    enum { ROUNDS = 600 };
    static const design designs[] = {{{4, 4, 4, 4}, {1, 1, 1, 1}, false},
                                     {{3, 8, 6, 4}, {1, 1, 1, 1}, false},
                                     {{4, 10, 10, 4}, {3, 1, 1, 1}, false},
                                     {{5, 5, 9, 9}, {1, 1, 1, 1}, true}};
    test_random random = test_random_start("no interaction", 34);
    for (size_t k = 0; k < sizeof designs / sizeof *designs; k++) {
        size_t low[SF_FACTOR_EFFECTS];
        count_low(low, &designs[k], (const double[]){4, 1.5}, 0, ROUNDS, &random);
        printf("# interactions of %d with p <= 0.05: %zu\n", ROUNDS, low[SF_FACTOR_BOTH]);
        assert_in_range(low[SF_FACTOR_BOTH], 14, 52); /* 30 expected, four standard deviations of 5.3 */
    }
}

/* The effect of one factor is not the other's; one that is planted is found. */
static void planted_effects_are_found(void **state)
{
    (void)state;
    enum { ROUNDS = 200 };
    static const design cells = {{6, 6, 6, 6}, {1, 1, 1, 1}, false},
                        within = {{6, 6, 6, 6}, {1, 1, 1, 1}, true};
    test_random random = test_random_start("interactions", 35);
    size_t low[SF_FACTOR_EFFECTS];
    count_low(low, &cells, (const double[]){0, 2}, 0, ROUNDS, &random);
    assert_in_range(low[SF_FACTOR_FIRST], 0, 23); /* 10 expected, four standard deviations of 3.1 */
    assert_in_range(low[SF_FACTOR_SECOND], 190, ROUNDS);
    count_low(low, &cells, (const double[]){0, 0}, 3, ROUNDS, &random);
    assert_in_range(low[SF_FACTOR_BOTH], 170, ROUNDS);
    count_low(low, &within, (const double[]){0, 0}, 3, ROUNDS, &random);
    assert_in_range(low[SF_FACTOR_BOTH], 170, ROUNDS);
}

static int scenario(void *context)
{
    const sf_factors_input input = input_of(context, 2, 3, 20);
    sf_factors told;
    int status = sf_factors_find(&told, &input, NULL);
    sf_factors_free(&told);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    table t = repeated();
    test_fail_every_allocation(scenario, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effects_are_those_of_numpy),
        cmocka_unit_test(replicates_are_compared_with_themselves),
        cmocka_unit_test(of_two_levels_it_is_welchs),
        cmocka_unit_test(of_two_levels_within_it_is_welchs_of_differences),
        cmocka_unit_test(p_is_the_share_of_all_orders),
        cmocka_unit_test(all_measures_are_corrected_for),
        cmocka_unit_test(too_little_is_not_tested),
        cmocka_unit_test(main_effects_are_no_interaction),
        cmocka_unit_test(planted_effects_are_found),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
