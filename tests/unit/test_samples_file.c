/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "io/npy.h"
#include "io/samples_file.h"

static int parse(sf_samples *samples, const char *text, sf_error *error)
{
    return sf_samples_parse(samples, "x.txt", text, strlen(text), error);
}

static void rows_are_read_whatever_separates_them(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1 2.5\n-3 4e2\n",
        "1,2.5\r\n-3,4e2\r\n",
        "nanoseconds;y\n1; 2.5\n-3;400",
        "# a comment\n\n  1\t2.5 \n# another\n\t-3 , +400\n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sf_samples samples;
        assert_int_equal(parse(&samples, texts[i], NULL), SF_OK);
        assert_int_equal(samples.n, 2);
        assert_int_equal(samples.d, 2);
        static const double expected[] = {1, 2.5, -3, 400};
        assert_memory_equal(samples.values, expected, sizeof expected);
        sf_samples_free(&samples);
    }
}

/* Where semicolons separate, commas are decimal marks. */
static void decimal_commas_are_read(void **state)
{
    (void)state;
    static const char *const texts[] = {"1;2,5\n-3,0;4e2\n", "a;b\n 1 ; 2,5 \n-3;400,00\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sf_samples samples;
        sf_error error;
        if (parse(&samples, texts[i], &error) != SF_OK) fail_msg("%zu: %s", i, error.text);
        static const double expected[] = {1, 2.5, -3, 400};
        assert_int_equal(samples.d, 2);
        assert_memory_equal(samples.values, expected, sizeof expected);
        sf_samples_free(&samples);
    }
}

static void bad_text_gets_its_line_and_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"", "x.txt", "holds no numbers"},
        {"name\n", "x.txt", "holds no numbers"},
        {"1\n2x\n", "x.txt:2", "found '2x', expected a finite number"},
        {"1\nnan\n", "x.txt:2", "found 'nan'"},
        {"nan\n", "x.txt:1", "found 'nan'"},
        {"2x\n", "x.txt:1", "found '2x'"},
        {"1\n-inf\n", "x.txt:2", "found '-inf'"},
        {"1e999\n", "x.txt:1", "found '1e999'"},
        {"1\ntwo\n", "x.txt:2", "found 'two'"},
        {"a\nb\n", "x.txt:2", "found 'b'"},
        {"1,2\n3\n", "x.txt:2", "found 1 columns, expected 2"},
        {"1,,2\n", "x.txt:1", "found ''"},
        {"1,2,\n", "x.txt:1", "after the last separator"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_samples samples;
        sf_error error;
        test_assert_fails(parse(&samples, cases[i].text, &error), &error, SF_DATA, cases[i].words);
        assert_string_equal(error.place, cases[i].place);
        assert_null(samples.values);
    }
    sf_samples samples;
    sf_error error;
    test_assert_fails(sf_samples_parse(&samples, "x", "1\n\0", 3, &error), &error, SF_DATA, "is binary");
    test_assert_fails(parse(&samples, "\x89HDF\r\n\x1a\n...", &error), &error, SF_DATA, "--quantity");
    test_assert_fails(sf_samples_read(&samples, "/nowhere/x.txt", &error), &error, SF_NO_INPUT,
                      "No such file");
    test_assert_fails(sf_samples_read(&samples, "/", &error), &error, SF_NO_INPUT, "is a directory");
}

/* A .npy file of version 1 with this header and data. */
/* `data` are numbers of this machine where the header says '<', else bytes. */
static size_t make_npy(char *file, const char *header, const void *data, size_t size)
{
    const char *descr = strchr(header, '<');
    bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    size_t item = descr != NULL && is_big ? (size_t)(descr[2] - '0') : 1;
    size_t length = strlen(header);
    memcpy(file, SF_NPY_MAGIC "\x01\x00", 8);
    file[8] = (char)length;
    file[9] = 0;
    memcpy(file + 10, header, length);
    for (size_t i = 0; i < size; i++)
        file[10 + length + i] = ((const char *)data)[i / item * item + item - 1 - i % item];
    file[10 + length + size] = '\0';
    return 10 + length + size;
}

static void npy_files_are_read(void **state)
{
    (void)state;
    char file[512];
    sf_samples samples;
    static const double reals[] = {1, 2.5, -3, 4, 5, 6};
    size_t size = make_npy(file, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n", reals, 48);
    assert_int_equal(sf_samples_parse(&samples, "x.npy", file, size, NULL), SF_OK);
    assert_true(samples.n == 3 && samples.d == 2);
    assert_memory_equal(samples.values, reals, sizeof reals);
    sf_samples_free(&samples);
    size = make_npy(file, "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }\n", reals, 48);
    assert_int_equal(sf_samples_parse(&samples, "x.npy", file, size, NULL), SF_OK);
    static const double by_row[] = {1, 4, 2.5, 5, -3, 6};
    assert_memory_equal(samples.values, by_row, sizeof by_row);
    sf_samples_free(&samples);
    static const unsigned char big_endian[] = {0xff, 0xfe, 0x01, 0x00};
    size = make_npy(file, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", big_endian, 4);
    assert_int_equal(sf_samples_parse(&samples, "x.npy", file, size, NULL), SF_OK);
    assert_true(samples.n == 2 && samples.d == 1 && samples.values[0] == -2 && samples.values[1] == 256);
    sf_samples_free(&samples);
    static const float singles[] = {0.5F, -1};
    size = make_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", singles, 8);
    assert_int_equal(sf_samples_parse(&samples, "x.npy", file, size, NULL), SF_OK);
    assert_true(samples.values[0] == 0.5 && samples.values[1] == -1);
    sf_samples_free(&samples);
}

static void bad_npy_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header, *words;
        size_t bytes;
    } cases[] = {
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", "no plain integers", 16},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1), }", "one or two dimensions", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "one or two dimensions", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "expected 2 x 1 numbers of 8", 8},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "expected 1 x 1 numbers of 8", 12},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387905,4), }",
         "4611686018427387905", 32},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", "holds no numbers", 0},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "row 1 holds", 8},
        {"", "no plain integers", 0},
    };
    char file[512], data[32];
    memset(data, 0xff, sizeof data); /* as doubles: NaN */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_samples samples;
        sf_error error;
        size_t size = make_npy(file, cases[i].header, data, cases[i].bytes);
        test_assert_fails(sf_samples_parse(&samples, "x.npy", file, size, &error), &error, SF_DATA,
                          cases[i].words);
        assert_null(samples.values);
        for (size_t cut = 6; cut < 10 + strlen(cases[i].header); cut++)
            test_assert_fails(sf_samples_parse(&samples, "x.npy", file, cut, &error), &error, SF_DATA,
                              "damaged");
    }
}

static int parse_once(void *context)
{
    sf_samples samples;
    int status = parse(&samples, context, NULL);
    sf_samples_free(&samples);
    return status;
}

static int parse_npy_once(void *context)
{
    (void)context;
    char file[512];
    sf_samples samples;
    size_t size = make_npy(file, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "abc", 3);
    int status = sf_samples_parse(&samples, "x.npy", file, size, NULL);
    sf_samples_free(&samples);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(parse_once, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    test_fail_every_allocation(parse_npy_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_whatever_separates_them),
        cmocka_unit_test(decimal_commas_are_read),
        cmocka_unit_test(bad_text_gets_its_line_and_a_sentence),
        cmocka_unit_test(npy_files_are_read),
        cmocka_unit_test(bad_npy_files_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
