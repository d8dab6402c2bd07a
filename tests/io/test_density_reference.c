/* SPDX-License-Identifier: Apache-2.0 */
/* Check values that other programs computed (tests/data), within the tolerances that come with them. */
#include "support/support.h"

#include "density/aggregate.h"
#include "density/select.h"
#include "oracle/density_oracle.h"

#include <jansson.h>
#include <math.h>

static json_t *reference;

static int load_reference(void **state)
{
    (void)state;
    reference = json_load_file(SYNFIRE_SOURCE "/tests/data/densities.json", 0, NULL);
    return reference == NULL;
}

static int free_reference(void **state)
{
    (void)state;
    json_decref(reference);
    return 0;
}

static double number(const json_t *entry, const char *key)
{
    const json_t *value = json_object_get(entry, key);
    assert_non_null(value);
    return json_number_value(value);
}

static void assert_within(double found, double expected, double tolerance, const char *key, const char *what)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s %s: %.17g, expected %.17g", key, what, found, expected);
}

/* Sets too large for every day: minutes under sanitizers. SYNFIRE_TEST_LONG=1 runs them. */
static bool too_long(size_t pairs_work)
{
    if (getenv("SYNFIRE_TEST_LONG") != NULL || pairs_work <= (size_t)2048 * 2048) return false;
    printf("skipped: sets that take minutes: SYNFIRE_TEST_LONG=1 takes them\n");
    return true;
}

/* Column 0 of the set of a key set:n. Free with free(). */
static double *first_column(const char *key, size_t *n)
{
    char set[32];
    assert_int_equal(sscanf(key, "%31[^:]:%zu", set, n), 2);
    size_t columns;
    double *rows = check_samples(set, *n, &columns);
    assert_non_null(rows);
    for (size_t i = 0; i < *n; i++)
        rows[i] = rows[i * columns];
    return rows;
}

/* Rows of the sets, as their other generator prints them. */
static void the_generator_makes_the_sets(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        size_t row, column;
        double value;
    } rows[] = {
        {"gauss16", 0, 0, -0.75672026122178504},     {"gauss16", 0, 15, 1.0870556453251663},
        {"gauss16", 255, 7, -1.1586920216343743},    {"gauss16", 511, 0, -0.49214517191138085},
        {"gauss16", 511, 15, -0.077609034650539033}, {"isi", 0, 0, 11.351154917350886},
        {"isi", 1, 0, 49.892815679854252},           {"isi", 255, 0, 5.9030613726039638},
        {"isi", 511, 0, 16.938442985218511},         {"delay", 0, 0, 25.393555512385966},
        {"delay", 1, 0, 55.821963605172726},         {"delay", 255, 0, 11.990632195364965},
        {"delay", 511, 0, 13.327917841548089},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t columns;
        double *made = check_samples(rows[i].set, 512, &columns);
        assert_within(made[rows[i].row * columns + rows[i].column], rows[i].value,
                      5e-13 + 1e-14 * fabs(rows[i].value), rows[i].set, "row");
        free(made);
    }
}

static void find_plugin(sf_plugin *found, double *x, size_t n, const char *device)
{
    sf_samples samples = {.values = x, .n = n, .d = 1};
    sf_pairs pairs;
    assert_int_equal(sf_pairs_open(&pairs, &samples, 2, NULL, NULL), SF_OK);
    assert_int_equal(sf_pairs_use(&pairs, device, 2, NULL), SF_OK);
    assert_int_equal(sf_pairs_plugin(found, &pairs, NULL), SF_OK);
    assert_string_equal(sf_device_name(pairs.on.crew.members[0].device), device);
    sf_pairs_close(&pairs);
}

/* For a device under a checker; without one it takes the largest set in a moment. */
static bool too_large(size_t n)
{
    return test_rounds(0) > 0 && n > 1000;
}

static void check_plugins(const char *device)
{
    const char *key;
    json_t *entry;
    json_object_foreach(json_object_get(reference, "plugin_ref"), key, entry)
    {
        size_t n = (size_t)number(entry, "n");
        if (strcmp(device, "cpu") == 0 ? too_long(n * n / 4) : too_large(n)) continue;
        double *x = first_column(key, &n);
        sf_plugin found;
        find_plugin(&found, x, n, device);
        static const struct {
            const char *name;
            size_t offset;
        } fields[] = {{"V", offsetof(sf_plugin, variance)}, {"sigma", offsetof(sf_plugin, sigma)},
                      {"psi8", offsetof(sf_plugin, psi8)},  {"g1", offsetof(sf_plugin, g1)},
                      {"psi6", offsetof(sf_plugin, psi6)},  {"g2", offsetof(sf_plugin, g2)},
                      {"psi4", offsetof(sf_plugin, psi4)},  {"h", offsetof(sf_plugin, h)}};
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
            double value, expected = number(entry, fields[f].name);
            memcpy(&value, (const char *)&found + fields[f].offset, sizeof value);
            assert_within(value, expected, 1e-10 * fabs(expected), key, fields[f].name);
        }
        free(x);
    }
}

static void plugin_by_direct_sums(void **state)
{
    (void)state;
    check_plugins("cpu");
}

/* By direct sums on a device or "cpu"; NULL: by the characteristic function. */
static void select_bandwidth(sf_bandwidth *found, const char *method, const char *key, size_t columns,
                             const char *device)
{
    char set[32];
    size_t n, all;
    assert_int_equal(sscanf(key, "%31[^:]:%zu", set, &n), 2);
    double *rows = check_samples(set, n, &all);
    assert_non_null(rows);
    for (size_t i = 0; i < n; i++)
        memmove(rows + i * columns, rows + i * all, columns * sizeof *rows);
    sf_samples samples = {.values = rows, .n = n, .d = columns};
    sf_bandwidth_options how = {.threads = 2, .exact = device != NULL, .device = device, .curve = true};
    sf_error error = {0};
    int status = sf_bandwidth_select(found, sf_selector_find(method), &samples, &how, &error);
    if (status != SF_OK) fail_msg("%s %s: %s", method, key, error.text);
    assert_string_equal(found->ran.device, device != NULL ? device : "cpu");
    free(rows);
}

/* The paper's 150 points: position and value of the lowest, both ends, and the refined minimum. */
static void assert_paper(const char *key, const json_t *entry, const sf_bandwidth *found)
{
    assert_int_equal(found->curve_count, 150);
    double lowest = 0, scale = 0;
    size_t at = 0;
    for (size_t i = 0; i < 150; i++) {
        scale = fmax(scale, fabs(found->curve[i].score));
        if (i == 0 || found->curve[i].score < lowest) {
            lowest = found->curve[i].score;
            at = i;
        }
    }
    assert_within(found->h0, number(entry, "h0"), 1e-12, key, "h0");
    assert_within((double)at, number(entry, "argmin_index"), 0, key, "argmin_index");
    assert_within(found->curve[at].h, number(entry, "h_grid"), 1e-10, key, "h_grid");
    assert_within(lowest, number(entry, "g_grid"), 1e-10 * scale, key, "g_grid");
    assert_within(found->curve[0].score, number(entry, "g_first"), 1e-10 * scale, key, "g_first");
    assert_within(found->curve[149].score, number(entry, "g_last"), 1e-10 * scale, key, "g_last");
    assert_int_equal(found->at_edge, json_is_true(json_object_get(entry, "at_edge")));
    if (!found->at_edge) {
        /* The minimum is flat: at gauss16:30720:1 the score changes by 1e-14 within 2e-6 of h, and there the
         * direct sums and the characteristic function agree on h to 1e-13. */
        double h = number(entry, "h_refined");
        assert_within(found->h_relative, h, (found->n < 30720 ? 1e-6 : 3e-6) * h, key, "h_refined");
        assert_within(found->objective, number(entry, "g_refined"), 1e-10 * scale, key, "g_refined");
    }
}

static void lscv_paper_by_direct_sums_and_by_the_characteristic_function(void **state)
{
    (void)state;
    const char *key;
    json_t *entry;
    json_object_foreach(json_object_get(reference, "lscv_ref"), key, entry)
    {
        size_t n = (size_t)number(entry, "n"), d = (size_t)number(entry, "d");
        sf_bandwidth found;
        if (!too_long(n * n)) {
            select_bandwidth(&found, "lscv-paper", key, d, "cpu");
            assert_paper(key, entry, &found);
            sf_bandwidth_free(&found);
        }
        if (d == 1 || (d == 2 && !too_long(n * n / 4))) {
            select_bandwidth(&found, "lscv-paper", key, d, NULL);
            assert_paper(key, entry, &found);
            sf_bandwidth_free(&found);
        }
    }
}

static void check_device(const char *device)
{
    const char *key;
    json_t *entry;
    check_plugins(device);
    json_object_foreach(json_object_get(reference, "lscv_ref"), key, entry)
    {
        if (too_large((size_t)number(entry, "n"))) continue;
        sf_bandwidth found;
        select_bandwidth(&found, "lscv-paper", key, (size_t)number(entry, "d"), device);
        assert_paper(key, entry, &found);
        sf_bandwidth_free(&found);
    }
}

static void both_by_direct_sums_on_devices(void **state)
{
    (void)state;
    if (test_no_device()) skip();
    uint32_t count = sf_device_count();
    for (uint32_t i = 0; i < count; i++)
        check_device(sf_device_name(sf_device_at(i)));
}

static void plugin_and_wide_minima_by_the_characteristic_function(void **state)
{
    (void)state;
    const char *key;
    json_t *entry;
    json_object_foreach(json_object_get(reference, "fourier_ref"), key, entry)
    {
        sf_bandwidth found;
        select_bandwidth(&found, "plugin", key, 1, NULL);
        double h = number(entry, "h_plugin");
        assert_within(found.h, h, 1e-12 * h, key, "h_plugin");
        sf_bandwidth_free(&found);
        select_bandwidth(&found, "lscv", key, 1, NULL);
        json_t *minima = json_object_get(entry, "local_minima");
        assert_int_equal(found.minimum_count, json_array_size(minima));
        for (size_t m = 0; m < found.minimum_count; m++) {
            const json_t *minimum = json_array_get(minima, m);
            double at = json_number_value(json_array_get(minimum, 0));
            double score = json_number_value(json_array_get(minimum, 1));
            assert_within(found.minima[m].h, at, 1e-6 * at, key, "minimum");
            assert_within(found.minima[m].score, score, 1e-10 * fabs(score), key, "score");
        }
        assert_false(found.at_edge);
        sf_bandwidth_free(&found);
    }
}

static void assert_aggregates(const char *key, const json_t *entry, const sf_range_moments *found, size_t n)
{
    double rows = (double)n, count = number(entry, "count"), sum = number(entry, "sum");
    assert_within(found->share * rows, count, 1e-10 * count, key, "count");
    assert_within(sf_range_total(found) * rows, sum, 1e-10 * fabs(sum), key, "sum");
    assert_within(sf_range_average(found), number(entry, "avg"), 1e-10 * fabs(number(entry, "avg")), key,
                  "avg");
    assert_within(sf_range_variance(found), number(entry, "var"), 1e-9 * number(entry, "var"), key, "var");
}

/* The same moments about another pivot: each way of finding them has its own. */
static sf_range_moments about(const sf_range_moments *moments, double pivot)
{
    double away = moments->pivot - pivot, share = moments->share, first = moments->first;
    return (sf_range_moments){.pivot = pivot,
                              .share = share,
                              .first = first + away * share,
                              .second = moments->second + 2 * away * first + away * away * share};
}

/* From the samples, and from the characteristic function alone. */
static void aggregates_over_ranges(void **state)
{
    (void)state;
    const char *key;
    json_t *entry;
    json_object_foreach(json_object_get(reference, "aqp_ref"), key, entry)
    {
        size_t n;
        double from, to, h = number(entry, "h"), *x = first_column(key, &n);
        assert_int_equal(sscanf(key, "%*[^:]:%*[^:]:%lf:%lf", &from, &to), 2);
        sf_range_moments found, exact;
        sf_samples samples = {.values = x, .n = n, .d = 1};
        assert_int_equal(sf_range_moments_direct(&found, &samples, h, SF_DOMAIN_LINE, from, to, NULL), SF_OK);
        assert_aggregates(key, entry, &found, n);
        sf_box_moments_exact(&exact, x, n, 1, &from, &to, 1);
        assert_within(exact.share * (double)n, number(entry, "exact_count"), 1e-6, key, "exact_count");
        assert_within(sf_range_total(&exact) * (double)n, number(entry, "exact_sum"),
                      1e-9 * fabs(number(entry, "exact_sum")), key, "exact_sum");
        sf_moments moments;
        assert_int_equal(sf_moments_find(&moments, x, n, NULL), SF_OK);
        sf_frame frame = sf_frame_for(fmin(moments.least, from), fmax(moments.most, to), h, h);
        sf_characteristic one;
        sf_spectrum spectrum;
        assert_int_equal(sf_characteristic_open(&one, &frame, NULL), SF_OK);
        assert_int_equal(sf_spectrum_open(&spectrum, &frame, NULL), SF_OK);
        sf_characteristic_add(&one, x, n, 1);
        assert_int_equal(sf_spectrum_update(&spectrum, &one, NULL), SF_OK);
        sf_range_moments spectral;
        sf_range_moments_spectral(&spectral, &spectrum, h, from, to);
        spectral = about(&spectral, found.pivot);
        assert_within(spectral.share, found.share, 1e-13, key, "spectral share");
        assert_within(spectral.first, found.first, 1e-12 * (to - from), key, "spectral first");
        assert_within(spectral.second, found.second, 1e-12 * (to - from) * (to - from), key,
                      "spectral second");
        sf_spectrum_close(&spectrum);
        sf_characteristic_close(&one);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_makes_the_sets),
        cmocka_unit_test(plugin_by_direct_sums),
        cmocka_unit_test(lscv_paper_by_direct_sums_and_by_the_characteristic_function),
        cmocka_unit_test(both_by_direct_sums_on_devices),
        cmocka_unit_test(aggregates_over_ranges),
        cmocka_unit_test(plugin_and_wide_minima_by_the_characteristic_function),
    };
    return cmocka_run_group_tests(tests, load_reference, free_reference);
}
