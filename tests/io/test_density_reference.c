/* SPDX-License-Identifier: Apache-2.0 */
/* The published check values, within the tolerances that come with them. */
#include "support/support.h"

#include "density/bandwidth.h"
#include "oracle/density_oracle.h"

#include <jansson.h>
#include <math.h>

static json_t *reference;

static int load_reference(void **state)
{
    (void)state;
    char *path = test_data_path("kde/reference.json");
    if (path != NULL)
        reference = json_load_file(path, 0, NULL);
    free(path);
    return 0;
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

static void the_generator_makes_the_files(void **state)
{
    (void)state;
    static const char *const sets[] = {"gauss16", "isi", "delay"};
    for (size_t s = 0; s < 3; s++) {
        char name[64];
        snprintf(name, sizeof name, "kde/%s_512.txt", sets[s]);
        char *path = test_data_path(name);
        if (path == NULL)
            skip();
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        size_t columns;
        double *rows = check_samples(sets[s], 512, &columns);
        for (size_t i = 0; i < 512 * columns; i++) {
            double value;
            assert_int_equal(fscanf(file, "%lf", &value), 1);
            assert_within(rows[i], value, 5e-13 + 1e-14 * fabs(value), sets[s], "row");
        }
        fclose(file);
        free(rows);
        free(path);
    }
}

static void plugin_by_direct_sums(void **state)
{
    (void)state;
    if (reference == NULL)
        skip();
    const char *key;
    json_t *entry;
    size_t most =
        getenv("SYNFIRE_TEST_LONG") != NULL ? SIZE_MAX : 4096; /* 30,720: minutes under sanitizers */
    json_object_foreach(json_object_get(reference, "plugin_ref"), key, entry)
    {
        if (number(entry, "n") > (double)most)
            continue;
        size_t n;
        double *x = first_column(key, &n);
        sf_plugin found;
        assert_int_equal(sf_bandwidth_plugin(&found, x, n, 2, NULL, NULL), SF_OK);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generator_makes_the_files),
        cmocka_unit_test(plugin_by_direct_sums),
    };
    return cmocka_run_group_tests(tests, load_reference, free_reference);
}
