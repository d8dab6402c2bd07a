/* SPDX-License-Identifier: Apache-2.0 */
/* Two groups compared: beside what R 4.2 gives (t.test, wilcox.test, qt, pt, p.adjust, all signs of
 * differences), beside metafor's worked example, beside dealing by bit sets and least squares by matrices,
 * and as often as they say. */
#include "analysis/statistics.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* Student's data (Biometrika 6 (1908), 1-25): hours of sleep gained by ten patients under two drugs. */
static const double first_drug[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double second_drug[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("found %.15g, expected %.15g", found, expected);
}

static sf_contrast contrast_by(const sf_contrast_input *input)
{
    sf_contrast told;
    sf_error error;
    if (sf_contrast_find(&told, input, &error) != SF_OK) fail_msg("%s", error.text);
    return told;
}

static sf_contrast contrast_of(const double *first, size_t n, const double *second, size_t m, size_t measures,
                               bool paired, sf_compared_by by, uint64_t most)
{
    const sf_contrast_input input = {.measure_count = measures,
                                     .counts = {n, m},
                                     .values = {first, second},
                                     .paired = paired,
                                     .by = by,
                                     .most = most,
                                     .seed = 1};
    return contrast_by(&input);
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
    assert_near(told.measures->least, 2.0 / 184756, 1e-12);
    double exact = told.measures->p; /* Welch's is 0.0794 */
    assert_true(fabs(exact - 0.0794) < 0.005);
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, false, SF_COMPARED_RANKS, 200000);
    assert_near(told.measures->p, 0.0658165364048, 1e-11);
    sf_contrast_free(&told);
    static const double a[] = {1.1, 2.2, 3.3, 0.4}, b[] = {4.5, 2.9, 5.1, 6.0, 7.7};
    told = contrast_of(a, 4, b, 5, 1, false, SF_COMPARED_RANKS, 1000);
    assert_near(told.measures->p, 0.031746031746, 1e-11);
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, true, SF_COMPARED_PERMUTATION, 2000);
    assert_true(told.exact && told.dealings == 1024 && told.blocks == 10);
    assert_near(told.measures->p, 0.00390625, 1e-15);
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, true, SF_COMPARED_RANKS, 2000);
    assert_near(told.measures->p, 0.00390625,
                1e-12); /* of 1024 signs; R warns of the tie and gives no exact one */
    sf_contrast_free(&told);
    told = contrast_of(first_drug, 10, second_drug, 10, 1, false, SF_COMPARED_PERMUTATION, 20000);
    assert_true(!told.exact && told.dealings == 20000);
    assert_true(fabs(told.measures->p - exact) < 0.01); /* five standard errors */
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

/* By hand from the formulas of Bonett (2008) and Cousineau (2020), of Student's patients: they slept 0.75
 * and 2.33 hours longer, r = 0.7952, d = 0.8322 by the root of the mean variance, with 11.03 degrees of
 * freedom. */
static void hedges_g_of_pairs_is_that_of_bonett(void **state)
{
    (void)state;
    sf_contrast told = contrast_of(first_drug, 10, second_drug, 10, 1, true, SF_COMPARED_WELCH, 1);
    assert_near(told.measures->g, 0.774043792531312, 1e-12);
    assert_near(told.measures->g_low, 0.264501085004295, 1e-12);
    assert_near(told.measures->g_high, 1.28358650005833, 1e-12);
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

#define MOST 12

/* Replicates of one measure that have it, the first group's first. */
typedef struct slow {
    double values[MOST];
    size_t block[MOST], count, second, blocks;
} slow;

/* Turns a matrix of n rows into its inverse (Gauss and Jordan). */
static void invert(double a[MOST][MOST], size_t n)
{
    double b[MOST][MOST] = {{0}};
    for (size_t i = 0; i < n; i++)
        b[i][i] = 1;
    for (size_t i = 0; i < n; i++) {
        size_t pivot = i;
        for (size_t k = i; k < n; k++)
            pivot = fabs(a[k][i]) > fabs(a[pivot][i]) ? k : pivot;
        for (size_t j = 0; j < n; j++) {
            double x = a[i][j], y = b[i][j];
            a[i][j] = a[pivot][j], a[pivot][j] = x;
            b[i][j] = b[pivot][j], b[pivot][j] = y;
        }
        for (size_t k = 0; k < n; k++) {
            double factor = k == i ? 0 : a[k][i] / a[i][i];
            for (size_t j = 0; j < n; j++) {
                a[k][j] -= factor * a[i][j];
                b[k][j] -= factor * b[i][j];
            }
        }
        double scale = a[i][i];
        for (size_t j = 0; j < n; j++) {
            a[i][j] /= scale;
            b[i][j] /= scale;
        }
    }
    memcpy(a, b, sizeof b);
}

/* Least squares with a column for each block and one for the group; HC2, Satterthwaite, Wallace. */
static double slow_statistic(const slow *s, unsigned second)
{
    size_t columns = s->blocks + 1;
    double x[MOST][MOST] = {{0}}, inverse[MOST][MOST] = {{0}}, solved[MOST] = {0}, squares = 0, mean = 0;
    double parts[2] = {0}, freedom[2] = {0};
    for (size_t i = 0; i < s->count; i++) {
        x[i][s->block[i]] = 1;
        x[i][s->blocks] = second >> i & 1;
        mean += s->values[i] / (double)s->count;
    }
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < columns; j++)
            for (size_t k = 0; k < s->count; k++)
                inverse[i][j] += x[k][i] * x[k][j];
    invert(inverse, columns);
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < columns; j++)
            for (size_t k = 0; k < s->count; k++)
                solved[i] += inverse[i][j] * x[k][j] * s->values[k];
    for (size_t k = 0; k < s->count; k++) {
        double a = 0, h = 0, fitted = 0;
        for (size_t i = 0; i < columns; i++) {
            fitted += solved[i] * x[k][i];
            a += inverse[s->blocks][i] * x[k][i];
            for (size_t j = 0; j < columns; j++)
                h += x[k][i] * inverse[i][j] * x[k][j];
        }
        double rest = s->values[k] - fitted;
        squares += (s->values[k] - mean) * (s->values[k] - mean);
        if (1 - h < 1e-9) continue;
        parts[second >> k & 1] += a * a * rest * rest / (1 - h);
        freedom[second >> k & 1] += 1 - h;
    }
    double variance = parts[0] + parts[1], t = fabs(solved[s->blocks]) / sqrt(variance), degrees = 0;
    if (variance < 1e-20 * squares) return fabs(solved[s->blocks]) > 1e-9 * sqrt(squares) ? INFINITY : 0;
    for (int g = 0; g < 2; g++)
        degrees += parts[g] > 0 ? parts[g] * parts[g] / freedom[g] : 0;
    degrees = variance * variance / degrees;
    return (8 * degrees + 1) / (8 * degrees + 3) * sqrt(degrees * log1p(t * t / degrees));
}

/* Whether the set has as many of the second group in each block as there are. */
static bool is_dealing(const slow *s, unsigned second)
{
    size_t counts[MOST] = {0}, wanted[MOST] = {0};
    for (size_t i = 0; i < s->count; i++) {
        counts[s->block[i]] += second >> i & 1;
        wanted[s->block[i]] += i >= s->count - s->second;
    }
    return memcmp(counts, wanted, sizeof counts) == 0;
}

static unsigned as_found(const slow *s)
{
    return ((1U << s->second) - 1) << (s->count - s->second);
}

static double slow_p(const slow *s, double *ways)
{
    double found = slow_statistic(s, as_found(s)), as_great = 0;
    *ways = 0;
    for (unsigned second = 0; second < 1U << s->count; second++)
        if (is_dealing(s, second)) {
            ++*ways;
            as_great += slow_statistic(s, second) >= found * (1 - 1e-9) - 1e-9;
        }
    return as_great / *ways;
}

static double random_value(test_random *random, size_t round)
{
    return round % 3 == 0 ? (double)test_random_below(random, 6) : 10 * test_random_unit(random);
}

/* Replicates without a value take no part: p is that of the others alone, and none is below their least. */
static void dealing_is_as_the_obvious_way_has_it(void **state)
{
    (void)state;
    test_random random = test_random_start("contrasts", 18);
    for (size_t round = 0; round < 40; round++) {
        size_t n = 3 + test_random_below(&random, 3), m = 3 + test_random_below(&random, 3);
        double values[MOST * 4], ways;
        for (size_t i = 0; i < (n + m) * 4; i++)
            values[i] = random_value(&random, round) + (i % 4 == 3 && i >= n * 4 ? 6 : 0);
        for (size_t i = 0; i < n + m && round % 2 == 0; i++) /* a measure that some lack */
            if (i != 0 && i != 1 && i < n + m - 2)
                values[i * 4 + 1] = test_random_below(&random, 2) == 0 ? NAN : values[i * 4 + 1];
        sf_contrast told =
            contrast_of(values, n, values + n * 4, m, 4, false, SF_COMPARED_PERMUTATION, 10000);
        for (size_t k = 0; k < 4; k++) {
            slow s = {.blocks = 1};
            for (size_t i = 0; i < n + m; i++)
                if (!isnan(values[i * 4 + k])) {
                    s.values[s.count++] = values[i * 4 + k];
                    s.second += i >= n;
                }
            const sf_compared *of = &told.measures[k];
            assert_true(of->n[0] == s.count - s.second && of->n[1] == s.second);
            if (isnan(of->p)) continue;
            assert_near(of->p, slow_p(&s, &ways), 1e-12);
            assert_near(of->least, (2 * s.second == s.count ? 2 : 1) / ways, 1e-12);
            assert_true(of->p >= of->least * (1 - 1e-12) && of->q >= of->p);
        }
        sf_contrast_free(&told);
    }
}

/* What the highest twentieth of the dealings begins with. */
static double slow_rare(const slow *s)
{
    double ascending[1U << 9];
    size_t count = 0;
    assert_true(s->count <= 9);
    for (unsigned second = 0; second < 1U << s->count; second++)
        if (is_dealing(s, second)) {
            double statistic = slow_statistic(s, second);
            size_t at = count++;
            for (; at > 0 && ascending[at - 1] > statistic; at--)
                ascending[at] = ascending[at - 1];
            ascending[at] = statistic;
        }
    return ascending[count * 19 / 20];
}

/* The greatest statistic of each dealing of all replicates, of each measure over what is rare for it. */
static void all_measures_are_corrected_for(void **state)
{
    (void)state;
    enum { N = 4, M = 5, MEASURES = 3 };
    test_random random = test_random_start("contrasts of several measures", 22);
    for (size_t round = 0; round < 10; round++) {
        double values[(N + M) * MEASURES], found[MEASURES], rare[MEASURES], as_great[MEASURES] = {0},
                                                                            ways = 0;
        slow s[MEASURES];
        for (size_t i = 0; i < (N + M) * MEASURES; i++)
            values[i] = 10 * test_random_unit(&random) * (i < N * MEASURES && i % MEASURES == 0 ? 5 : 1) +
                        (i >= N * MEASURES ? 3 : 0);
        for (size_t k = 0; k < MEASURES; k++) {
            s[k] = (slow){.blocks = 1, .count = N + M, .second = M};
            for (size_t i = 0; i < N + M; i++)
                s[k].values[i] = values[i * MEASURES + k];
            rare[k] = slow_rare(&s[k]);
            found[k] = slow_statistic(&s[k], as_found(&s[k])) / rare[k];
        }
        for (unsigned second = 0; second < 1U << (N + M); second++) {
            double greatest = 0;
            if (!is_dealing(s, second)) continue;
            for (size_t k = 0; k < MEASURES; k++)
                greatest = fmax(greatest, slow_statistic(&s[k], second) / rare[k]);
            for (size_t k = 0; k < MEASURES; k++)
                as_great[k] += greatest >= found[k] * (1 - 1e-9) - 1e-9;
            ways++;
        }
        sf_contrast told =
            contrast_of(values, N, values + N * MEASURES, M, MEASURES, false, SF_COMPARED_PERMUTATION, 10000);
        assert_true(told.exact && (double)told.dealings == ways);
        for (size_t k = 0; k < MEASURES; k++)
            assert_near(told.measures[k].q, as_great[k] / ways, 1e-12);
        sf_contrast_free(&told);
    }
}

/* ---- blocks ---- */

/* The second group's replicates, and some of its blocks, are not the first's. */
static void blocks_are_dealt_within(void **state)
{
    (void)state;
    test_random random = test_random_start("blocks", 23);
    for (size_t round = 0; round < 40; round++) {
        double values[2][MOST], ways, difference = 0, weight = 0;
        size_t blocks[2][MOST], counts[2] = {0};
        slow s = {.blocks = 3};
        for (int g = 0; g < 2; g++)
            for (size_t b = 0; b < 4; b++)
                for (size_t i = 0; i < (b == 3 ? (size_t)g : 1 + test_random_below(&random, 2)); i++) {
                    values[g][counts[g]] = random_value(&random, round) + 20 * (double)b;
                    blocks[g][counts[g]++] = b; /* the last block has none of the first group */
                    if (b == 3) continue;
                    s.block[s.count] = b;
                    s.second += (size_t)g;
                    s.values[s.count++] = values[g][counts[g] - 1];
                }
        for (size_t b = 0; b < 3; b++) { /* weights of least squares */
            double sum[2] = {0}, n[2] = {0};
            for (int g = 0; g < 2; g++)
                for (size_t i = 0; i < counts[g]; i++) {
                    sum[g] += blocks[g][i] == b ? values[g][i] : 0;
                    n[g] += blocks[g][i] == b;
                }
            difference += (sum[1] / n[1] - sum[0] / n[0]) * n[0] * n[1] / (n[0] + n[1]);
            weight += n[0] * n[1] / (n[0] + n[1]);
        }
        const sf_contrast_input input = {.measure_count = 1,
                                         .counts = {counts[0], counts[1]},
                                         .values = {values[0], values[1]},
                                         .blocks = {blocks[0], blocks[1]},
                                         .block_count = 4,
                                         .most = 10000,
                                         .seed = 1};
        sf_contrast told = contrast_by(&input);
        assert_int_equal(told.blocks, 3);
        assert_true(told.measures->n[1] == counts[1] - 1);
        assert_true(fabs(told.measures->difference - difference / weight) < 1e-9);
        if (!isnan(told.measures->p)) assert_near(told.measures->p, slow_p(&s, &ways), 1e-12);
        sf_contrast_free(&told);
    }
}

/* A block of one replicate in both groups is a pair. */
static void pairs_are_blocks_of_two(void **state)
{
    (void)state;
    static const size_t blocks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (int by = SF_COMPARED_PERMUTATION; by <= SF_COMPARED_WELCH; by += 2) {
        const sf_contrast_input input = {.measure_count = 1,
                                         .counts = {10, 10},
                                         .values = {first_drug, second_drug},
                                         .blocks = {blocks, blocks},
                                         .block_count = 10,
                                         .by = (sf_compared_by)by,
                                         .most = 2000,
                                         .seed = 1};
        sf_contrast one = contrast_by(&input);
        sf_contrast other = contrast_of(first_drug, 10, second_drug, 10, 1, true, (sf_compared_by)by, 2000);
        assert_near(one.measures->p, other.measures->p, 1e-12);
        assert_near(one.measures->low, other.measures->low, 1e-9);
        assert_near(one.measures->high, other.measures->high, 1e-9);
        sf_contrast_free(&one);
        sf_contrast_free(&other);
    }
}

/* Batches that differ by far more than the groups hide these from a test that does not know them. */
static void blocks_have_power(void **state)
{
    (void)state;
    enum { BATCHES = 3, EACH = 4, N = BATCHES * EACH };
    test_random random = test_random_start("batches", 24);
    size_t blocks[N], found[2] = {0};
    for (int round = 0; round < 40; round++) {
        double values[2][N];
        for (size_t i = 0; i < N; i++) {
            blocks[i] = i / EACH;
            for (int g = 0; g < 2; g++)
                values[g][i] = test_random_unit(&random) + 10 * (double)blocks[i] + 0.6 * g;
        }
        for (int within = 0; within < 2; within++) {
            const sf_contrast_input input = {.measure_count = 1,
                                             .counts = {N, N},
                                             .values = {values[0], values[1]},
                                             .blocks = {within ? blocks : NULL, within ? blocks : NULL},
                                             .block_count = BATCHES,
                                             .most = 200,
                                             .seed = (uint64_t)round + 1};
            sf_contrast told = contrast_by(&input);
            found[within] += told.measures->p <= 0.05;
            sf_contrast_free(&told);
        }
    }
    assert_true(found[0] <= 2 && found[1] >= 36);
}

/* ---- as often as they say ---- */

static double normal(test_random *random)
{
    return sqrt(-2 * log(1 - test_random_unit(random))) * cos(6.283185307179586 * test_random_unit(random));
}

/* Shifts inside the interval are not rejected, and those just outside are. */
static void intervals_are_of_shifts_that_are_not_rejected(void **state)
{
    (void)state;
    test_random random = test_random_start("intervals", 25);
    for (int round = 0; round < 20; round++) {
        double a[4], b[7];
        for (size_t i = 0; i < 4; i++)
            a[i] = 3 * normal(&random);
        for (size_t i = 0; i < 7; i++)
            b[i] = 1 + normal(&random);
        sf_contrast told = contrast_of(a, 4, b, 7, 1, false, SF_COMPARED_PERMUTATION, 1000);
        const double low = told.measures->low, high = told.measures->high, step = 1e-4 * (high - low);
        const double shifts[] = {low - step, low + step, high - step, high + step};
        assert_true((told.measures->p <= 0.05) == (low > 0 || high < 0));
        sf_contrast_free(&told);
        for (int k = 0; k < 4; k++) {
            double shifted[7];
            for (size_t i = 0; i < 7; i++)
                shifted[i] = b[i] - shifts[k];
            told = contrast_of(a, 4, shifted, 7, 1, false, SF_COMPARED_PERMUTATION, 1000);
            assert_true((told.measures->p > 0.05) == (k == 1 || k == 2));
            sf_contrast_free(&told);
        }
    }
    static const double few[] = {1, 2, 4};
    sf_contrast told = contrast_of(few, 3, few, 3, 1, false, SF_COMPARED_PERMUTATION, 1000);
    assert_true(isnan(told.measures->low) && isnan(told.measures->high)); /* the least p is 0.1 */
    sf_contrast_free(&told);
}

/* 4 and 10 replicates, the few of twice the spread: of differences of means alone 15 in 100 have p <= 0.05.
 */
static void another_spread_is_no_difference(void **state)
{
    (void)state;
    test_random random = test_random_start("unequal spread", 26);
    int low = 0;
    for (int round = 0; round < 400; round++) {
        double a[4], b[10];
        for (size_t i = 0; i < 4; i++)
            a[i] = 2 * normal(&random);
        for (size_t i = 0; i < 10; i++)
            b[i] = normal(&random);
        sf_contrast told = contrast_of(a, 4, b, 10, 1, false, SF_COMPARED_PERMUTATION, 1001);
        low += told.measures->p <= 0.05;
        sf_contrast_free(&told);
    }
    assert_in_range(low, 8, 38); /* 23 expected, some 3 standard deviations of 4.7 */
}

/* Normal pairs with a correlation of 0.8 that differ by 1.5 standard deviations: the variance that the
 * interval is of is that of g from sample to sample, and 95 in 100 intervals hold what g estimates. */
static void g_of_pairs_varies_as_told(void **state)
{
    (void)state;
    enum { N = 20, ROUNDS = 3000 };
    test_random random = test_random_start("g of pairs", 27);
    double sum = 0, squares = 0, variance = 0, held = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double a[N], b[N];
        for (size_t i = 0; i < N; i++) {
            double shared = sqrt(0.8) * normal(&random);
            a[i] = shared + sqrt(0.2) * normal(&random);
            b[i] = shared + sqrt(0.2) * normal(&random) + 1.5;
        }
        sf_contrast told = contrast_of(a, N, b, N, 1, true, SF_COMPARED_WELCH, 1);
        double g = told.measures->g, error = (told.measures->g_high - g) / 1.959963984540054;
        sum += g / ROUNDS;
        squares += g * g / ROUNDS;
        variance += error * error / ROUNDS;
        held += (told.measures->g_low < 1.5 && told.measures->g_high > 1.5) / (double)ROUNDS;
        sf_contrast_free(&told);
    }
    assert_near(sum, 1.5, 0.015);
    assert_near(squares - sum * sum, variance, 0.1);
    assert_true(held > 0.935 && held < 0.97);
}

/* What chance gives is taken off before anything but the mean is told. */
static void chance_is_taken_off(void **state)
{
    (void)state;
    double chance[10], beyond[10];
    for (int i = 0; i < 10; i++) {
        chance[i] = i == 3 ? NAN : 0.1 * i;
        beyond[i] = second_drug[i] - (i == 3 ? 0 : 0.1 * i);
    }
    const sf_contrast_input input = {.measure_count = 1,
                                     .counts = {10, 10},
                                     .values = {first_drug, second_drug},
                                     .chance = {chance, chance},
                                     .most = 100,
                                     .seed = 1};
    sf_contrast_input none = input;
    double first[10];
    for (int i = 0; i < 10; i++)
        first[i] = first_drug[i] - (i == 3 ? 0 : 0.1 * i);
    none.chance[0] = none.chance[1] = NULL;
    none.values[0] = first;
    none.values[1] = beyond;
    sf_contrast one = contrast_by(&input), other = contrast_by(&none);
    assert_near(one.measures->difference, other.measures->difference, 1e-12);
    assert_near(one.measures->sd[1], other.measures->sd[1], 1e-12);
    assert_near(one.measures->g, other.measures->g, 1e-12);
    assert_near(one.measures->p, other.measures->p, 1e-12);
    assert_near(one.measures->mean[1], 2.33, 1e-12);
    assert_near(one.measures->chance[1], 0.42, 1e-12);
    assert_true(isnan(other.measures->chance[1]));
    sf_contrast_free(&one);
    sf_contrast_free(&other);
}

/* Of no difference 5 in 100 have a p of 0.05 or less, and 5 in 100 any q of that among six measures. */
static void chance_is_called_a_difference_as_often_as_it_says(void **state)
{
    (void)state;
    if (test_is_short()) skip(); /* it counts, and nothing else */
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
    const sf_contrast_input input = {.measure_count = 1,
                                     .counts = {10, 10},
                                     .values = {first_drug, second_drug},
                                     .by = SF_COMPARED_RANKS,
                                     .most = 100,
                                     .seed = 1};
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
        cmocka_unit_test(hedges_g_of_pairs_is_that_of_bonett),
        cmocka_unit_test(holm_steps_down),
        cmocka_unit_test(dealing_is_as_the_obvious_way_has_it),
        cmocka_unit_test(all_measures_are_corrected_for),
        cmocka_unit_test(blocks_are_dealt_within),
        cmocka_unit_test(pairs_are_blocks_of_two),
        cmocka_unit_test(blocks_have_power),
        cmocka_unit_test(intervals_are_of_shifts_that_are_not_rejected),
        cmocka_unit_test(another_spread_is_no_difference),
        cmocka_unit_test(g_of_pairs_varies_as_told),
        cmocka_unit_test(chance_is_taken_off),
        cmocka_unit_test(chance_is_called_a_difference_as_often_as_it_says),
        cmocka_unit_test(too_little_is_not_tested),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
