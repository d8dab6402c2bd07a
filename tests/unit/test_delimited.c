/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as people and spreadsheets write them. */
#include "core/delimited.h"
#include "support/support.h"

static void assert_table(const char *text, size_t columns, size_t rows, const char *expected)
{
    sf_delimited table;
    sf_error error;
    char found[512] = "";
    if (sf_delimited_parse(&table, text, strlen(text), "t.csv", &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(table.column_count, columns);
    assert_int_equal(table.row_count, rows);
    for (size_t c = 0; c < table.column_count; c++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "[%s]", sf_delimited_name(&table, c));
    for (size_t r = 0; r < table.row_count; r++) {
        snprintf(found + strlen(found), sizeof found - strlen(found), " %zu", sf_delimited_line(&table, r));
        for (size_t c = 0; c < table.column_count; c++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "[%s]",
                     sf_delimited_cell(&table, r, c));
    }
    assert_string_equal(found, expected);
    sf_delimited_free(&table);
}

static void cells_are_as_they_stand(void **state)
{
    (void)state;
    assert_table("file,condition\na.h5,wild type\nb.h5,\n", 2, 2,
                 "[file][condition] 2[a.h5][wild type] 3[b.h5][]");
    assert_table("\xef\xbb\xbfx;y\r\n1,5; 2 \r\n\r\n  \r\n3;4", 2, 2, "[x][y] 2[1,5][2] 5[3][4]");
    assert_table("a\tb\n1 2\t\n\t\n", 2, 1, "[a][b] 2[1 2][]");
    assert_table("a,b\r1,2\r", 2, 1, "[a][b] 2[1][2]");
    assert_table("\"a,\"\"1\"\"\", b \n \"two\nlines\" ,\" x \"\n7,8", 2, 2,
                 "[a,\"1\"][b] 2[two\nlines][ x ] 4[7][8]");
    assert_table("only\none", 1, 1, "[only] 2[one]");
    assert_table("\n\nname\n", 1, 0, "[name]");
    sf_delimited table;
    assert_int_equal(sf_delimited_parse(&table, "a,b", 3, "t", NULL), SF_OK);
    assert_int_equal(sf_delimited_column(&table, "b"), 1);
    assert_true(sf_delimited_column(&table, "c") == SIZE_MAX);
    sf_delimited_free(&table);
}

static void assert_refused(const char *text, size_t length, const char *place, const char *words)
{
    sf_delimited table;
    sf_error error = {0};
    test_assert_fails(sf_delimited_parse(&table, text, length, "t.csv", &error), &error, SF_DATA, words);
    assert_string_equal(error.place, place);
    sf_delimited_free(&table);
}

#define REFUSED(text, place, words) assert_refused(text, sizeof(text) - 1, place, words)

static void what_is_no_table_is_refused_with_its_line(void **state)
{
    (void)state;
    REFUSED("", "t.csv", "is empty");
    REFUSED("\n \n", "t.csv", "is empty");
    REFUSED("a,b\n1,2\n\n1\n", "t.csv:4", "found 1 cell, expected 2");
    REFUSED("a,b\n1,2,3\n", "t.csv:2", "found 3 cells, expected 2");
    REFUSED("a,,b\n", "t.csv:1", "column 2 has no name");
    REFUSED("\na,b,a\n", "t.csv:2", "two columns are named 'a'");
    REFUSED("a,b\n1,\"2\n3,4\n", "t.csv:2", "does not end");
    REFUSED("a,b\n\"1\"2,3\n", "t.csv:2", "behind the quote");
    REFUSED("a\0b", "t.csv", "byte of value 0");
}

static int scenario(void *context)
{
    (void)context;
    sf_delimited table;
    sf_error error;
    static const char text[] = "a,b\n1,2\n3,4\n";
    int status = sf_delimited_parse(&table, text, sizeof text - 1, "t.csv", &error);
    sf_delimited_free(&table);
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
        cmocka_unit_test(cells_are_as_they_stand),
        cmocka_unit_test(what_is_no_table_is_refused_with_its_line),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
