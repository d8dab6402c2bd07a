/* SPDX-License-Identifier: Apache-2.0 */
/* A table as datasets: as packed, and as NWB has it. */
#include "io/hdf_table.h"

#include "core/memory.h"
#include "io/hdf.h"
#include "support/hdf_files.h"
#include "support/support.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define PATH "table-test.h5"
#define ROWS 3

typedef struct thing {
    char *word;
    char code[5];
    uint64_t all, some;
    uint32_t few;
    bool flag;
    double pair[2];
    const uint32_t *units;
    size_t unit_count;
} thing;

static const uint32_t units[] = {7, 8, 9};
static const thing things[ROWS] = {
    {"a", "ab", 1, 2, 3, true, {0.5, 1.5}, units, 3},
    {"longest", "", 4, SF_NO_COUNT, 5, false, {NAN, NAN}, NULL, 0},
    {"", "abcd", 6, 7, 8, true, {2, 3}, units + 1, 1},
};

#define ROW thing
static const sf_column_row rows[] = {
    SF_MEMBER_IS(TEXT, word, "a word"),
    SF_MEMBER_IS(TEXT, code, "at most four letters", .null = "none"),
    SF_MEMBER_IS(COUNT, all, "always known"),
    SF_MEMBER_IS(COUNT, some, "at times not", .null = "not known"),
    SF_MEMBER_IS(COUNT, few, "in 32 bits"),
    SF_MEMBER_IS(FLAG, flag, "yes or no"),
    SF_MEMBER_IS(PAIR, pair, "both", .null = "neither"),
    SF_ITEMS_ARE(UNIT, "units", units, unit_count, "four at most", .null = "none", .most = 4),
};
#undef ROW

static const sf_table table = {.name = "things", .row_count = ROWS, .of = things, SF_TABLE_OF(rows)};

static hid_t open_group(hid_t file)
{
    return H5Gcreate2(file, "things", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

static int write_packed(void *context)
{
    (void)context;
    sf_hdf_begin();
    hid_t file = test_hdf_create(PATH), group = open_group(file);
    int status = sf_hdf_table_write(group, &table, NULL);
    sf_hdf_close(group);
    H5Fclose(file);
    return status;
}

static size_t bytes_of(hid_t file, const char *path)
{
    hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), type = H5Dget_type(dataset);
    size_t size = H5Tget_size(type);
    H5Tclose(type);
    H5Dclose(dataset);
    return size;
}

static void assert_numbers(hid_t file, const char *path, const double *expected, size_t count)
{
    void *found;
    size_t length;
    assert_int_equal(sf_hdf_read(file, path, PATH, H5T_NATIVE_DOUBLE, sizeof(double), &found, &length, NULL),
                     SF_OK);
    assert_int_equal(length, count);
    for (size_t i = 0; i < count; i++)
        assert_true(isnan(expected[i]) ? isnan(((double *)found)[i]) : ((double *)found)[i] == expected[i]);
    sf_free(found);
}

static void assert_texts(hid_t file, const char *path, const char *const *expected)
{
    char **found;
    size_t count;
    assert_int_equal(sf_hdf_read_strings(file, path, PATH, &found, &count, NULL), SF_OK);
    assert_int_equal(count, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        assert_string_equal(found[i], expected[i]);
    sf_hdf_free_strings(found, count);
}

static void a_column_is_a_dataset_of_what_it_is_packed_as(void **state)
{
    (void)state;
    const double some[] = {2, -1, 7}, few[] = {3, 5, 8}, pairs[] = {0.5, 1.5, NAN, NAN, 2, 3};
    const double none = UINT32_MAX, lists[] = {7, 8, 9, none, none, none, none, none, 8, none, none, none};
    size_t shape[2];
    assert_int_equal(write_packed(NULL), SF_OK);
    hid_t file = H5Fopen(PATH, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_numbers(file, "things/some", some, ROWS);
    assert_numbers(file, "things/few", few, ROWS);
    assert_numbers(file, "things/pair", pairs, (size_t)2 * ROWS);
    assert_numbers(file, "things/units", lists, (size_t)4 * ROWS);
    assert_int_equal(bytes_of(file, "things/all"), sizeof(uint64_t));
    assert_int_equal(bytes_of(file, "things/few"), sizeof(uint32_t));
    assert_int_equal(bytes_of(file, "things/flag"), 1);
    assert_int_equal(sf_hdf_shape(file, "things/units", shape), 2);
    assert_true(shape[0] == ROWS && shape[1] == 4);
    H5Fclose(file);
}

static void a_text_is_as_long_as_the_longest_may_be_or_is(void **state)
{
    (void)state;
    assert_int_equal(write_packed(NULL), SF_OK);
    hid_t file = H5Fopen(PATH, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_texts(file, "things/word", (const char *const[]){"a", "longest", ""});
    assert_texts(file, "things/code", (const char *const[]){"ab", "", "abcd"});
    assert_int_equal(bytes_of(file, "things/word"), sizeof "longest");
    assert_int_equal(bytes_of(file, "things/code"), sizeof "abcd");
    H5Fclose(file);
}

static int write_plain(void *context)
{
    const char *name = context;
    size_t *ends = NULL, column = 0;
    while (strcmp(rows[column].is.name, name) != 0)
        column++;
    sf_hdf_begin();
    hid_t file = test_hdf_create(PATH), text = sf_hdf_string_type(H5T_VARIABLE);
    bool written = sf_hdf_table_write_column(file, "values", &table, column, text, &ends);
    if (written) assert_int_equal(ends != NULL, rows[column].is.list);
    if (ends != NULL) assert_true(ends[0] == 3 && ends[1] == 3 && ends[2] == 4);
    sf_free(ends);
    sf_hdf_close(text);
    H5Fclose(file);
    return written ? SF_OK : SF_NO_MEMORY;
}

static void assert_plain(const char *name, H5T_class_t class, const double *expected, size_t count)
{
    assert_int_equal(write_plain((void *)name), SF_OK);
    hid_t file = H5Fopen(PATH, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_int_equal(sf_hdf_class(file, "values"), class);
    assert_numbers(file, "values", expected, count);
    H5Fclose(file);
}

static void in_nwb_numbers_are_whole_where_none_is_null(void **state)
{
    (void)state;
    assert_plain("all", H5T_INTEGER, (const double[]){1, 4, 6}, ROWS);
    assert_plain("few", H5T_INTEGER, (const double[]){3, 5, 8}, ROWS);
    assert_plain("flag", H5T_INTEGER, (const double[]){1, 0, 1}, ROWS);
    assert_plain("some", H5T_FLOAT, (const double[]){2, NAN, 7}, ROWS);
    assert_plain("pair", H5T_FLOAT, (const double[]){0.5, 1.5, NAN, NAN, 2, 3}, (size_t)2 * ROWS);
}

static void in_nwb_a_list_that_is_null_has_no_items(void **state)
{
    (void)state;
    assert_plain("units", H5T_INTEGER, (const double[]){7, 8, 9, 8}, 4);
}

static void in_nwb_a_text_that_is_null_is_empty(void **state)
{
    (void)state;
    assert_int_equal(write_plain("code"), SF_OK);
    hid_t file = H5Fopen(PATH, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_texts(file, "values", (const char *const[]){"ab", "", "abcd"});
    H5Fclose(file);
}

static void without_memory_it_fails(void **state)
{
    (void)state;
    test_fail_every_allocation(write_packed, NULL);
    test_fail_every_allocation(write_plain, "word");
    test_fail_every_allocation(write_plain, "units");
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_is_a_dataset_of_what_it_is_packed_as),
        cmocka_unit_test(a_text_is_as_long_as_the_longest_may_be_or_is),
        cmocka_unit_test(in_nwb_numbers_are_whole_where_none_is_null),
        cmocka_unit_test(in_nwb_a_list_that_is_null_has_no_items),
        cmocka_unit_test(in_nwb_a_text_that_is_null_is_empty),
        cmocka_unit_test(without_memory_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
