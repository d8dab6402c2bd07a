/* SPDX-License-Identifier: Apache-2.0 */
/* Two groups compared: beside what R 4.2 gives (t.test, wilcox.test, qt, pt, p.adjust, combn over all
 * permutations), beside metafor's worked example, and beside the obvious way of dealing replicates out. */
#include "analysis/statistics.h"
#include "support/support.h"

#include <math.h>

/* Student's data (Biometrika 6 (1908), 1-25): hours of sleep gained by ten patients under two drugs. */
static const double first_drug[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double second_drug[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("found %.15g, expected %.15g", found, expected);
}

static sf_contrast contrast_of(const double *first, size_t n, const double *second, size_t m, size_t measures,
                               bool paired, sf_compared_by by, uint64_t most)
{
    sf_contrast_input input = {measures, {n, m}, {first, second}, paired, by, most, 1};
    sf_contrast told;
    sf_error error;
    if (sf_contrast_find(&told, &input, &error) != SF_OK)
        fail_msg("%s", error.text);
    return told;
}

static void students_t_is_that_of_tables(void **state)
{
    (void)state;
    assert_near(sf_student_quantile(0.05, 1), 12.70620473617, 1e-11);
    assert_near(sf_student_quantile(0.05, 2), 4.30265272975, 1e-11);
    assert_near(sf_student_quantile(0.05, 5), 2.57058183564, 1e-11);
    assert_near(sf_student_quantile(0.05, 13.7), 2.14920126223, 1e-11);
    assert_near(sf_student_quantile(0.05, 300), 1.96790301126, 1e-11);
    assert_near(sf_student_p(0.5, 3), 6.51447964848e-01, 1e-11);
    assert_near(sf_student_p(-2.5, 7.3), 3.96502346656e-02, 1e-11);
    assert_near(sf_student_p(6, 40), 4.72645513279e-07, 1e-10);
    assert_near(sf_student_p(0, 4), 1, 1e-15);
    assert_true(sf_student_p(INFINITY, 4) == 0 && isnan(sf_student_p(NAN, 4)));
}

static void welchs_test_is_that_of_r(void **state)
{
    (void)state;
    sf_contrast told = contrast_of(first_drug, 10, second_drug, 10, 1, false, SF_COMPARED_WELCH, 1);
    assert_near(told.measures->p, 0.0793941401874, 1e-11);
    assert_near(told.measures->low, -0.2054832307117, 1e-11);
    assert_near(told.measures->high, 3.3654832307117, 1e-11);
    assert_true(told.dealings == 0 && told.measures->q == told.measures->p);
    sf_contrast_free(&told);
    static const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9};
    static const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0};
    told = contrast_of(a, 6, b, 8, 1, false, SF_COMPARED_WELCH, 1);
    assert_near(told.measures->p, 0.201988677353, 1e-11);
    assert_near(told.measures->low, -1.696094052160, 1e-11);
    assert_near(told.measures->high, 6.696094052160, 1e-11);
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, true, SF_COMPARED_WELCH, 1);
    assert_near(told.measures->p, 0.00283289019738, 1e-11);
    assert_near(told.measures->low, 0.70011423672302, 1e-11);
    assert_near(told.measures->high, 2.45988576327698, 1e-11);
    sf_contrast_free(&told);
}

static void exact_permutations_are_those_of_r(void **state)
{
    (void)state;
    sf_contrast told =
        contrast_of(first_drug, 10, second_drug, 10, 1, false, SF_COMPARED_PERMUTATION, 200000);
    assert_true(told.exact && told.dealings == 184756);
    assert_near(told.measures->p, 8.14479638009e-02, 1e-11);
    assert_near(told.measures->least, 2.0 / 184756, 1e-12);
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, false, SF_COMPARED_RANKS, 200000);
    assert_near(told.measures->p, 0.0658165364048, 1e-11);
    sf_contrast_free(&told);
    static const double a[] = {1.1, 2.2, 3.3, 0.4}, b[] = {4.5, 2.9, 5.1, 6.0, 7.7};
    told = contrast_of(a, 4, b, 5, 1, false, SF_COMPARED_RANKS, 1000);
    assert_near(told.measures->p, 0.031746031746, 1e-11);
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, true, SF_COMPARED_PERMUTATION, 2000);
    assert_true(told.exact && told.dealings == 1024);
    assert_near(told.measures->p, 0.00390625, 1e-15);
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, false, SF_COMPARED_PERMUTATION, 20000);
    assert_true(!told.exact && told.dealings == 20000);
    assert_true(fabs(told.measures->p - 0.0814) < 0.01); /* five standard errors */
    sf_contrast_free(&told);
}

/* metafor's page of escalc, dat.normand1999, the first study: 155 and 156 patients, means 55 and 75, standard
 * deviations 47 and 64; g is -0.3552, its variance 0.0131. */
static void hedges_g_is_that_of_metafor(void **state)
{
    (void)state;
    double values[2][156];
    static const double mean[] = {75, 55}, sd[] = {64, 47};
    const size_t counts[] = {156, 155};
    for (int g = 0; g < 2; g++) {
        size_t count = counts[g]; /* half of them above the mean, half below, and one at it */
        double odd = (double)(count % 2), step = sd[g] * sqrt(((double)count - 1) / ((double)count - odd));
        for (size_t i = 0; i < count; i++)
            values[g][i] = mean[g] + (i % 2 == 0 ? step : -step) * (odd == 0 || i + 1 < count);
    }
    sf_contrast told = contrast_of(values[0], 156, values[1], 155, 1, false, SF_COMPARED_WELCH, 1);
    assert_near(told.measures->sd[0], 64, 1e-12);
    assert_near(told.measures->sd[1], 47, 1e-12);
    assert_true(fabs(told.measures->g + 0.3552) < 5e-5);
    double error = (told.measures->g_high - told.measures->g_low) / (2 * 1.959963984540054);
    assert_true(fabs(error * error - 0.0131) < 5e-5);
    sf_contrast_free(&told);
}

/* Holm (1979) as R's p.adjust has it, of p that make 0.01 .. 0.2 by four paired t-tests. */
static void holm_steps_down(void **state)
{
    (void)state;
    enum { N = 6 };
    double first[N * 4] = {0}, second[N * 4];
    static const double wanted[] = {0.01, 0.04, 0.03, 0.2}, expected[] = {0.04, 0.09, 0.09, 0.2};
    for (int m = 0; m < 4; m++) {
        double t = sf_student_quantile(wanted[m], N - 1);
        double spread = sqrt((double)N / (N - 1)); /* of +1 and -1 */
        for (int i = 0; i < N; i++)
            second[i * 4 + m] = t * spread / sqrt(N) + (i % 2 == 0 ? 1 : -1);
    }
    sf_contrast told = contrast_of(first, N, second, N, 4, true, SF_COMPARED_WELCH, 1);
    for (int m = 0; m < 4; m++) {
        assert_near(told.measures[m].p, wanted[m], 1e-9);
        assert_near(told.measures[m].q, expected[m], 1e-9);
    }
    sf_contrast_free(&told);
}

/* ---- beside the obvious way ---- */

typedef struct slow {
    const double *values;
    size_t n, m, measures;
    double found[4];
    double as_great[4], as_great_of_all[4], dealings;
} slow;

/* |difference of means| / (sd of all sqrt(1/a + 1/b)), of the values that are known. */
static double slow_statistic(const slow *s, unsigned second, size_t measure)
{
    double sum[2] = {0}, count[2] = {0}, all = 0, squares = 0;
    for (size_t i = 0; i < s->n + s->m; i++) {
        double value = s->values[i * s->measures + measure];
        if (isnan(value))
            continue;
        sum[second >> i & 1] += value;
        count[second >> i & 1]++;
        all += value;
    }
    all /= count[0] + count[1];
    for (size_t i = 0; i < s->n + s->m; i++) {
        double value = s->values[i * s->measures + measure];
        squares += isnan(value) ? 0 : (value - all) * (value - all);
    }
    if (count[0] == 0 || count[1] == 0)
        return -1;
    return fabs(sum[0] / count[0] - sum[1] / count[1]) /
           sqrt(squares / (count[0] + count[1] - 1) * (1 / count[0] + 1 / count[1]));
}

static void deal_slowly(slow *s)
{
    size_t all = s->n + s->m;
    for (unsigned second = 0; second < 1U << all; second++) {
        double greatest = 0;
        if ((size_t)__builtin_popcount(second) != s->m)
            continue;
        s->dealings++;
        for (size_t k = 0; k < s->measures; k++) {
            double value = slow_statistic(s, second, k);
            s->as_great[k] += value >= s->found[k] * (1 - 1e-9);
            greatest = fmax(greatest, value);
        }
        for (size_t k = 0; k < s->measures; k++)
            s->as_great_of_all[k] += greatest >= s->found[k] * (1 - 1e-9);
    }
}

static void dealing_is_as_the_obvious_way_has_it(void **state)
{
    (void)state;
    test_random random = test_random_start("contrasts", 18);
    for (int round = 0; round < 40; round++) {
        slow s = {
            .n = 3 + test_random_below(&random, 3), .m = 3 + test_random_below(&random, 3), .measures = 4};
        double values[12 * 4];
        for (size_t i = 0; i < (s.n + s.m) * s.measures; i++) {
            values[i] = (double)test_random_below(&random, 9) + (i % 4 == 3 && i >= s.n * 4 ? 6 : 0);
            if (i % 4 == 1 && i % 3 == 0 && i > 8 && i < s.n * 4 + 4)
                values[i] = NAN; /* a measure that some replicates lack */
        }
        for (size_t k = 0; k < 4; k++) { /* no group without two values, no measure without variation */
            values[k] = 20;
            values[4 + k] = 21;
            values[(s.n + s.m - 1) * 4 + k] = 22;
            values[(s.n + s.m - 2) * 4 + k] = 23;
        }
        s.values = values;
        unsigned found = (1U << s.m) - 1;
        for (size_t k = 0; k < s.measures; k++)
            s.found[k] = slow_statistic(&s, found << s.n, k);
        deal_slowly(&s);
        sf_contrast told =
            contrast_of(values, s.n, values + s.n * 4, s.m, 4, false, SF_COMPARED_PERMUTATION, 10000);
        assert_true(told.exact);
        assert_true((double)told.dealings == s.dealings);
        for (size_t k = 0; k < s.measures; k++) {
            assert_near(told.measures[k].p, s.as_great[k] / s.dealings, 1e-12);
            assert_near(told.measures[k].q, s.as_great_of_all[k] / s.dealings, 1e-12);
            assert_true(told.measures[k].q >= told.measures[k].p);
        }
        sf_contrast_free(&told);
    }
}

/* Of no difference 5 in 100 have a p of 0.05 or less, and 5 in 100 any q of that among six measures. */
static void chance_is_called_a_difference_as_often_as_it_says(void **state)
{
    (void)state;
    test_random random = test_random_start("contrasts of nothing", 19);
    enum { N = 6, MEASURES = 6, ROUNDS = 400 };
    int any_p = 0, any_q = 0, one = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double values[2 * N * MEASURES];
        for (size_t i = 0; i < 2 * N; i++) {
            double shared = test_random_unit(&random);
            for (size_t k = 0; k < MEASURES; k++)
                values[i * MEASURES + k] = shared + test_random_unit(&random);
        }
        sf_contrast told =
            contrast_of(values, N, values + N * MEASURES, N, MEASURES, false, SF_COMPARED_PERMUTATION, 1000);
        bool p = false, q = false;
        for (size_t k = 0; k < MEASURES; k++) {
            p = p || told.measures[k].p <= 0.05;
            q = q || told.measures[k].q <= 0.05;
        }
        any_p += p;
        any_q += q;
        one += told.measures[0].p <= 0.05;
        sf_contrast_free(&told);
    }
    assert_in_range(one, 6, 38); /* 20 expected, 4 standard deviations of 4.4 */
    assert_in_range(any_q, 6, 38);
    assert_true(any_p > any_q + 10);
}

static void too_little_is_not_tested(void **state)
{
    (void)state;
    static const double a[] = {1, NAN, 5, 1, 2, 5}, b[] = {3, 4, 5, 4, NAN, 5};
    sf_contrast told = contrast_of(a, 2, b, 2, 3, false, SF_COMPARED_PERMUTATION, 1000);
    assert_true(told.measures[0].n[0] == 2 && told.measures[0].n[1] == 2 && !isnan(told.measures[0].p));
    assert_true(told.measures[1].n[0] == 1 && isnan(told.measures[1].p) && isnan(told.measures[1].q));
    assert_true(told.measures[1].difference == 2 && isnan(told.measures[1].low));
    assert_true(told.measures[2].difference == 0 && isnan(told.measures[2].p)); /* all are equal */
    sf_contrast_free(&told);
    told = contrast_of(a, 0, b, 2, 3, false, SF_COMPARED_PERMUTATION, 1000);
    assert_true(isnan(told.measures[0].p) && isnan(told.measures[0].mean[0]));
    sf_contrast_free(&told);
}

static int scenario(void *context)
{
    (void)context;
    sf_contrast_input input = {1, {10, 10}, {first_drug, second_drug}, false, SF_COMPARED_RANKS, 100, 1};
    sf_contrast told;
    int status = sf_contrast_find(&told, &input, NULL);
    sf_contrast_free(&told);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_fail_every_allocation(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_t_is_that_of_tables),
        cmocka_unit_test(welchs_test_is_that_of_r),
        cmocka_unit_test(exact_permutations_are_those_of_r),
        cmocka_unit_test(hedges_g_is_that_of_metafor),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(dealing_is_as_the_obvious_way_has_it),
        cmocka_unit_test(chance_is_called_a_difference_as_often_as_it_says),
        cmocka_unit_test(too_little_is_not_tested),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
