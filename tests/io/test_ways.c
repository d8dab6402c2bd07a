/* SPDX-License-Identifier: Apache-2.0 */
/* Every way of every operation gives the answer of the first: on the CPU, on each device that is found, and
 * on one of a plugin that needs none. What each does when it fails is in the tests of its operation. */
#include "support/ways.h"

#include "core/backend/find.h"

#include <math.h>

static void assert_same_answer(const test_way_case *operation, const char *engine, const test_answer *found,
                               const test_answer *expected)
{
    assert_int_equal(found->count, expected->count);
    for (size_t i = 0; i < expected->count; i++) {
        double a = found->numbers[i], b = expected->numbers[i];
        bool same = a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= operation->tolerance * fabs(b);
        if (!same)
            fail_msg("%s by %s on %s, number %zu: %.17g, expected %.17g", operation->operation, engine,
                     found->ran.device, i, a, b);
    }
}

/* A device may refuse a job, and the note says so; which of the ways did it is told. */
static size_t compare(const test_way_case *operation, const sf_way *way, const char *device,
                      const test_input *input, const test_answer *expected)
{
    static test_answer found;
    sf_error error;
    found = (test_answer){0};
    if (operation->run(&found, input, way->engine, device, &error) != SF_OK) {
        if (strstr(error.text, "does not run on") == NULL)
            fail_msg("%s by %s on %s: %s %s", operation->operation, way->engine, device, error.place,
                     error.text);
        return 0; /* the device has no such engine */
    }
    assert_same_answer(operation, way->engine, &found, expected);
    if (strcmp(found.ran.device, device) != 0)
        assert_true(strcmp(found.ran.device, "cpu") == 0 && found.ran.note[0] != '\0');
    return strcmp(found.ran.device, device) == 0;
}

static size_t compare_ways(const test_way_case *operation, const test_input *input)
{
    static test_answer expected;
    sf_error error;
    size_t done = 0;
    expected = (test_answer){0};
    if (operation->run(&expected, input, operation->ways[0]->engine, "cpu", &error) != SF_OK)
        fail_msg("%s: %s %s", operation->operation, error.place, error.text);
    assert_true(expected.count > 1);
    for (size_t w = 0; operation->ways[w] != NULL; w++) {
        const sf_way *way = operation->ways[w];
        for (uint32_t d = 0; way->on_devices && d < sf_device_count(); d++)
            done += compare(operation, way, sf_device_name(sf_device_at(d)), input, &expected);
        if (!way->on_devices) done += compare(operation, way, "cpu", input, &expected);
    }
    return done;
}

static void compare_all(size_t least_on_devices)
{
    test_input input;
    test_input_make(&input, 2000, 91);
    for (const test_way_case *operation = test_way_cases; operation->operation != NULL; operation++) {
        size_t here = 0;
        for (size_t w = 0; operation->ways[w] != NULL; w++)
            here += !operation->ways[w]->on_devices;
        assert_true(compare_ways(operation, &input) >= here + least_on_devices);
    }
    test_input_free(&input);
}

static void every_way_gives_the_same(void **state)
{
    (void)state;
    compare_all(sf_device_count() > 0);
}

static void every_way_to_a_plugin_gives_the_same(void **state)
{
    (void)state;
    sf_error error;
    setenv("TEST_PLUGIN_DEVICES", "w", 1);
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK) fail_msg("%s %s", error.place, error.text);
    compare_all(1);
    sf_devices_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_the_same),
        cmocka_unit_test(every_way_to_a_plugin_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
