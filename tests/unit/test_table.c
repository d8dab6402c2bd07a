/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of results: what their rows say is what is written, whatever the columns are. */
#include "core/describe/column.h"
#include "core/describe/table.h"
#include "core/memory.h"
#include "support/support.h"

#include <math.h>
#include <synfire/mine.h>

typedef struct detail {
    uint64_t often;
    double peak;
} detail;

/* The struct that the rows below describe. */
typedef struct found {
    uint64_t *counts;
    double *reals;
    bool *flags;
    uint32_t *units;
    const char **texts;
    int *kinds;
    detail *details;
    size_t lengths[3];
} found;

static const char *spell(const void *kind)
{
    static const char *const words[] = {NULL, "one", "two"};
    return words[*(const int *)kind];
}

SF_GETTER(get_pair)
{
    const found *f = of;
    sf_value_set_pair(value, f->reals[row], (double)f->counts[row]);
}

SF_LENGTH(count_items)
{
    *length = ((const found *)of)->lengths[row];
    return *length != 9;
}

static bool has_items(const sf_column_row *column, const void *of)
{
    (void)column;
    return ((const found *)of)->counts != NULL;
}

SF_GETTER(get_item)
{
    sf_value_set_count(value, 10 * row + item);
}

SF_GETTER(get_record)
{
    value->known = row != 1;
    value->record.of = &((const found *)of)->details[row];
}

SF_GETTER(get_peak)
{
    sf_value_set_real(value, ((const detail *)of)->peak);
}

static const sf_column_row record_rows[] = {
    {.is = SF_IS("peak", "its peak", "ms", NULL, SF_COLUMN_REAL), .get = get_peak}};

#define ARRAY(of) .get = sf_column_value, .member = offsetof(found, of)

static const sf_column_row rows[] = {
    {.is = SF_IS("count", "a count", NULL, "none", SF_COLUMN_COUNT), ARRAY(counts)},
    {.is = SF_IS("real", "a number", "s", "unknown", SF_COLUMN_REAL), ARRAY(reals)},
    {.is = SF_IS("flag", "a flag", NULL, NULL, SF_COLUMN_FLAG), ARRAY(flags)},
    {.is = SF_IS("unit", "a unit", NULL, NULL, SF_COLUMN_UNIT), ARRAY(units)},
    {.is = SF_IS("text", "a text", NULL, "none", SF_COLUMN_TEXT), ARRAY(texts)},
    {.is = SF_IS("kind", "a word", NULL, "none", SF_COLUMN_TEXT),
     ARRAY(kinds),
     .element = sizeof(int),
     .word = spell},
    {.is = SF_IS("often", "within", NULL, NULL, SF_COLUMN_COUNT),
     ARRAY(details),
     .element = sizeof(detail),
     .within = offsetof(detail, often)},
    {.is = SF_IS("pair", "two", NULL, "unknown", SF_COLUMN_PAIR, .first_name = "low", .second_name = "high"),
     .get = get_pair},
    {.is = SF_IS("items", "a list", NULL, "none", SF_COLUMN_COUNT, .list = true),
     .get = get_item,
     .length = count_items,
     .applies = has_items},
    {.is = SF_IS("record", "a record", NULL, "none", SF_COLUMN_RECORD),
     .get = get_record,
     .record = record_rows,
     .record_count = 1},
};

static found three = {.counts = (uint64_t[]){7, SF_NO_COUNT, 0},
                      .flags = (bool[]){true, false, true},
                      .units = (uint32_t[]){3, 4, 5},
                      .texts = (const char *[]){"a \"b\"", NULL, ""},
                      .kinds = (int[]){0, 1, 2},
                      .details = (detail[]){{1, 0.5}, {2, 1.5}, {3, 2.5}},
                      .lengths = {2, 9, 0}};

static sf_table table_of_three(void)
{
    static double reals[3];
    reals[0] = 0.5, reals[1] = NAN, reals[2] = -2;
    three.reals = reals;
    return (sf_table){.name = "things", .row = "thing", SF_TABLE_OF(rows), .row_count = 3, .of = &three};
}

static void assert_json(const sf_table *table, bool by_column, const char *expected)
{
    char *text;
    assert_int_equal(sf_table_json(table, by_column, &text, NULL), SF_OK);
    assert_string_equal(text, expected);
    sf_release(text);
}

static void rows_are_objects_with_every_column(void **state)
{
    (void)state;
    sf_table table = table_of_three();
    assert_json(&table, false,
                "[{\"count\":7,\"real\":0.5,\"flag\":true,\"unit\":3,\"text\":\"a \\\"b\\\"\",\"kind\":null,"
                "\"often\":1,\"pair\":[0.5,7],\"items\":[0,1],\"record\":{\"peak\":0.5}},"
                "{\"count\":null,\"real\":null,\"flag\":false,\"unit\":4,\"text\":null,\"kind\":\"one\","
                "\"often\":2,\"pair\":null,\"items\":null,\"record\":null},"
                "{\"count\":0,\"real\":-2,\"flag\":true,\"unit\":5,\"text\":\"\",\"kind\":\"two\","
                "\"often\":3,\"pair\":[-2,0],\"items\":[],\"record\":{\"peak\":2.5}}]");
    table.row_count = 0;
    assert_json(&table, false, "[]");
}

/* ---- tables whose rows are structs ---- */

typedef struct inner {
    double real;
} inner;

typedef struct piece {
    uint64_t count;
    uint32_t unit;
    int64_t at_ns;
    double ends[2], halves[2];
    const inner *inner;
    sf_column_list numbers, parts;
} piece;

#define ROW inner
static const sf_column_row inner_rows[] = {SF_MEMBER_IS(REAL, real, "a number")};
#undef ROW
#define ROW piece
static const sf_column_row piece_rows[] = {
    SF_MEMBER_IS(COUNT, count, "a count", .null = "none"),
    SF_MEMBER_IS(UNIT, unit, "a unit", .null = "none"),
    SF_FIELD_IS(TIME, "at_s", at_ns, "when", .unit = "s"),
    SF_FIELD_IS(TIME, "at_ms", at_ns, "when", .unit = "ms"),
    SF_MEMBER_IS(PAIR, ends, "two", .null = "unknown", .first_name = "low", .second_name = "high"),
    SF_MEMBER_IS(PAIR, halves, "two", .null = "unknown", .item_null = "unknown"),
    SF_INSIDE_IS(REAL, "inside", inner, struct inner, real, "a number", .null = "there is no inner"),
    SF_LIST_IS(REAL, numbers, "numbers", .null = "none", .item_null = "unknown"),
    SF_RECORDS_ARE(parts, inner, inner_rows, "parts", .null = "none"),
};
#undef ROW
static const sf_table pieces = {.name = "pieces", .row = "piece", SF_TABLE_OF(piece_rows)};

static void rows_may_be_structs(void **state)
{
    (void)state;
    const inner parts[] = {{1.5}, {NAN}};
    const double numbers[] = {2, NAN};
    const piece both[] = {
        {7, 3, 1700000000000000001, {0.5, 1}, {NAN, NAN}, &parts[0], {numbers, 2}, {parts, 2}},
        {SF_NO_COUNT, UINT32_MAX, -500000, {NAN, 1}, {NAN, 1}, NULL, {NULL, 0}, {parts, 0}}};
    sf_table table = pieces;
    table.of = both;
    table.row_count = 2;
    assert_json(&table, false,
                "[{\"count\":7,\"unit\":3,\"at_s\":1700000000.000000001,\"at_ms\":1700000000000.000001,"
                "\"ends\":[0.5,1],\"halves\":null,\"inside\":1.5,\"numbers\":[2,null],"
                "\"parts\":[{\"real\":1.5},{\"real\":null}]},"
                "{\"count\":null,\"unit\":null,\"at_s\":-0.0005,\"at_ms\":-0.5,\"ends\":null,"
                "\"halves\":[null,1],\"inside\":null,\"numbers\":null,\"parts\":[]}]");
}

static void without_a_struct_every_column_is_null(void **state)
{
    (void)state;
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_table_json_struct(&json, &pieces, NULL);
    assert_string_equal(text.data,
                        "{\"count\":null,\"unit\":null,\"at_s\":null,\"at_ms\":null,"
                        "\"ends\":null,\"halves\":null,\"inside\":null,\"numbers\":null,\"parts\":null}");
    sf_text_free(&text);
}

static void columns_are_arrays_without_lists(void **state)
{
    (void)state;
    sf_table table = table_of_three();
    assert_json(&table, true,
                "{\"count\":{\"type\":\"count\",\"nullable\":true,\"values\":[7,null,0]},"
                "\"real\":{\"type\":\"real\",\"nullable\":true,\"values\":[0.5,null,-2]},"
                "\"flag\":{\"type\":\"flag\",\"nullable\":false,\"values\":[true,false,true]},"
                "\"unit\":{\"type\":\"unit\",\"nullable\":false,\"values\":[3,4,5]},"
                "\"text\":{\"type\":\"text\",\"nullable\":true,\"values\":[\"a \\\"b\\\"\",null,\"\"]},"
                "\"kind\":{\"type\":\"text\",\"nullable\":true,\"values\":[null,\"one\",\"two\"]},"
                "\"often\":{\"type\":\"count\",\"nullable\":false,\"values\":[1,2,3]},"
                "\"low\":{\"type\":\"real\",\"nullable\":true,\"values\":[0.5,null,-2]},"
                "\"high\":{\"type\":\"real\",\"nullable\":true,\"values\":[7,null,0]}}");
    table.columns = &rows[2]; /* the flag */
    table.column_count = 1;
    table.row_count = 0;
    assert_json(&table, true, "{\"flag\":{\"type\":\"flag\",\"nullable\":false,\"values\":[]}}");
}

static void a_missing_member_is_null_throughout(void **state)
{
    (void)state;
    static const found none = {0};
    sf_value value = {0};
    sf_table table = table_of_three();
    table.of = &none;
    for (size_t c = 0; c < 7; c++) {
        value.known = true;
        sf_table_get(&table, c, 2, 0, &value);
        assert_false(value.known);
    }
    sf_value_free(&value);
}

static void records_lists_and_columns_may_be_absent(void **state)
{
    (void)state;
    sf_table table = table_of_three();
    sf_table record = sf_table_record(&table, 9);
    assert_int_equal(record.column_count, 1);
    assert_string_equal(sf_table_column(&record, 0)->unit, "ms");
    bool known = true;
    assert_int_equal(sf_table_length(&table, 8, 1, &known), 0);
    assert_false(known);
    assert_true(sf_table_applies(&table, 0) && sf_table_applies(&table, 8));
    static const found none = {0};
    table.of = &none;
    assert_false(sf_table_applies(&table, 8));
}

typedef struct part {
    double real;
} part;

typedef struct thing {
    uint64_t natural;
    uint32_t whole;
    int64_t unknown, below, time_ns;
    double real;
    bool flag;
    char letters[8], none[8];
    const char *text;
    part within;
    const part *parts;
    size_t part_count;
} thing;

SF_GETTER(get_group)
{
    static const uint32_t group[] = {4, 2};
    value->known = true;
    value->group = group;
    value->group_size = 2;
}

#define ROW part
static const sf_column_row part_rows[] = {SF_MEMBER_IS(REAL, real, "a number", .null = "none")};
#undef ROW
#define ROW thing
static const sf_column_row thing_rows[] = {
    SF_MEMBER_IS(COUNT, natural, "all of 64 bits"),
    SF_MEMBER_IS(COUNT, whole, "32 bits"),
    SF_MEMBER_IS(COUNT, unknown, "below 0", .null = "not known"),
    SF_MEMBER_IS(INTEGER, below, "below 0 and known", .unit = "ns"),
    SF_FIELD_IS(TIME, "time_ms", time_ns, "exact", .unit = "ms"),
    SF_FIELD_IS(TIME, "time_s", time_ns, "exact", .unit = "s"),
    SF_MEMBER_IS(REAL, real, "a number", .null = "none"),
    SF_MEMBER_IS(FLAG, flag, "yes or no"),
    SF_MEMBER_IS(TEXT, letters, "in the struct"),
    SF_MEMBER_IS(TEXT, none, "empty", .null = "none"),
    SF_MEMBER_IS(TEXT, text, "elsewhere"),
    SF_GOT_BY(UNITS, "group", get_group, "units"),
    SF_RECORD_IS("within", within, part_rows, "a struct"),
    SF_RECORDS_OF("parts", parts, part_count, part_rows, "structs"),
};
#undef ROW

static void members_of_a_struct_are_columns(void **state)
{
    (void)state;
    static const part parts[] = {{1}, {NAN}};
    static const thing one = {.natural = UINT64_MAX,
                              .whole = UINT32_MAX,
                              .unknown = -1,
                              .below = -1,
                              .time_ns = INT64_C(9007199254740993),
                              .real = NAN,
                              .flag = true,
                              .letters = "in",
                              .text = "out",
                              .within = {0.25},
                              .parts = parts,
                              .part_count = 2};
    const sf_table table = {.row_count = 1, .of = &one, SF_TABLE_OF(thing_rows)};
    assert_json(&table, false,
                "[{\"natural\":18446744073709551615,\"whole\":4294967295,\"unknown\":null,\"below\":-1,"
                "\"time_ms\":9007199254.740993,\"time_s\":9007199.254740993,\"real\":null,\"flag\":true,"
                "\"letters\":\"in\",\"none\":null,\"text\":\"out\",\"group\":[4,2],"
                "\"within\":{\"real\":0.25},\"parts\":[{\"real\":1},{\"real\":null}]}]");
    assert_false(sf_column_is_single(sf_table_column(&table, sf_table_find_column(&table, "group"))));
}

static int write_both(void *context)
{
    char *text;
    int status = sf_table_json(context, false, &text, NULL);
    sf_release(text);
    if (status == SF_OK) status = sf_table_json(context, true, &text, NULL);
    sf_release(text);
    return status;
}

static void every_failed_allocation_is_told(void **state)
{
    (void)state;
    sf_table table = table_of_three();
    test_fail_every_allocation(write_both, &table);
}

/* Every table that results have: names differ, texts are there, and pairs that are no lists have two names.
 */
static void tables_of_results_are_described(void **state)
{
    (void)state;
    assert_non_null(sf_table_at(0));
    for (size_t t = 0; sf_table_at(t) != NULL; t++) {
        const sf_table *table = sf_table_at(t);
        assert_true(table->column_count > 0 && table->row_count == 0);
        for (size_t c = 0; c < table->column_count; c++) {
            const sf_column *is = sf_table_column(table, c);
            for (size_t other = 0; other < c; other++)
                assert_string_not_equal(sf_table_column(table, other)->name, is->name);
            assert_true(strlen(is->about) > 0);
            assert_true((sf_table_row_of(table, c)->length != NULL) == is->list);
            bool has_csv = strncmp(table->name, "message", 7) != 0;
            assert_true(!has_csv || (is->first_name != NULL) == (is->type == SF_COLUMN_PAIR && !is->list));
            assert_true((sf_table_record(table, c).column_count > 0) == (is->type == SF_COLUMN_RECORD));
        }
    }
}

/* ---- documents ---- */

typedef struct setting {
    const char *key, *value;
} setting;

typedef struct document_of {
    const detail *pointed;
    sf_table first, all;
    const setting *settings;
    size_t setting_count;
    detail within;
} document_of;

SF_GETTER(get_setting)
{
    const setting *of_it = &((const document_of *)of)->settings[item];
    value->key = of_it->key;
    sf_value_set_text(value, of_it->value);
}

static const sf_table details_table = {
    .name = "details", .row = "detail", .about = "details", .columns = record_rows, .column_count = 1};

#define ROW document_of
static const sf_column_row document_rows[] = {
    SF_POINTED_IS("pointed", pointed, &details_table, "a struct", .null = "none"),
    SF_FIRST_ROW_IS("first", first, &details_table, "a row", .null = "none"),
    SF_TABLE_IS("all", all, &details_table, "rows", .null = "none"),
    SF_ITEMS_BY(ENTRY, "settings", get_setting, settings, setting_count, "by their keys"),
    SF_COLUMNS_OF(within, &details_table),
};
#undef ROW

static const sf_table a_document = {.name = "document", SF_TABLE_OF(document_rows)};

SF_GETTER(get_own_peak)
{
    sf_value_set_real(value, (double)row);
}

static const sf_column_row own_rows[] = {SF_GOT_BY(REAL, "peak", get_own_peak, "of the row")};
static const sf_column_row numbered_rows[] = {
    SF_RECORD_BY("second", sf_column_own_row, own_rows, "row 0 of itself")};
static const sf_table numbered = {.name = "numbered", SF_TABLE_OF(numbered_rows)};

static void assert_written(const sf_table *table, const void *of, const char *expected)
{
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_table_json_struct(&json, table, of);
    assert_false(text.failed);
    assert_string_equal(text.data, expected);
    sf_text_free(&text);
}

static void a_document_has_rows_of_tables_and_texts_by_key(void **state)
{
    (void)state;
    static const setting settings[] = {{"a \"b\"", "1"}, {"c", "two"}};
    document_of of = {.pointed = &three.details[2],
                      .first = details_table,
                      .all = details_table,
                      .settings = settings,
                      .setting_count = 2,
                      .within = {1, 9.5}};
    of.first.of = of.all.of = three.details;
    of.first.row_count = 1;
    assert_written(&a_document, &of,
                   "{\"pointed\":{\"peak\":2.5},\"first\":{\"peak\":0.5},\"all\":[],"
                   "\"settings\":{\"a \\\"b\\\"\":\"1\",\"c\":\"two\"},\"peak\":9.5}");
    of = (document_of){.within = {1, 9.5}};
    assert_written(&a_document, &of,
                   "{\"pointed\":null,\"first\":null,\"all\":null,\"settings\":{},\"peak\":9.5}");
    assert_written(&numbered, &of, "{\"second\":{\"peak\":0}}");
}

/* One number, a list, two lists, and as many nulls. */
SF_GETTER(get_numbers)
{
    static const double numbers[] = {1, NAN, 2.5, 4};
    if (item == 0)
        sf_value_set_real(value, 7);
    else
        sf_value_set_numbers(value, item < 3 ? numbers : NULL, 4, item == 1 ? 0 : 2);
}

SF_LENGTH(count_numbers)
{
    *length = 4;
    return true;
}

static void numbers_are_one_or_lists_or_lists_of_lists(void **state)
{
    (void)state;
    static const sf_column_row number_rows[] = {
        SF_LIST_BY(NUMBERS, "numbers", get_numbers, count_numbers, "of each depth")};
    const sf_table table = {.name = "numbers", SF_TABLE_OF(number_rows)};
    assert_written(&table, &table,
                   "{\"numbers\":[7,[1,null,2.5,4],[[1,null],[2.5,4]],[[null,null],[null,null]]]}");
}

static void columns_of_a_document_tell_their_table_and_stand_in_its_place(void **state)
{
    (void)state;
    static const sf_column_row several_rows[] = {
        {.is = {.name = NULL, .type = SF_COLUMN_RECORD, .null = "there are several"},
         .get = sf_column_own_row,
         .table = &details_table}};
    const sf_table several = {.name = "several", SF_TABLE_OF(several_rows)};
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_table_json_columns(&json, NULL, &a_document);
    assert_non_null(strstr(text.data, "\"name\":\"pointed\""));
    assert_non_null(strstr(text.data, "\"table\":\"details\""));
    assert_non_null(strstr(text.data, "\"name\":\"settings\",\"type\":\"entry\""));
    sf_text_clear(&text);
    json = sf_json_start(&text);
    sf_table_json_columns(&json, NULL, &several);
    assert_non_null(strstr(text.data, "\"name\":\"peak\""));
    assert_non_null(strstr(text.data, "\"null\":\"there are several\""));
    sf_text_free(&text);
    assert_written(&several, NULL, "{\"peak\":null}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_objects_with_every_column),
        cmocka_unit_test(rows_may_be_structs),
        cmocka_unit_test(without_a_struct_every_column_is_null),
        cmocka_unit_test(columns_are_arrays_without_lists),
        cmocka_unit_test(a_missing_member_is_null_throughout),
        cmocka_unit_test(records_lists_and_columns_may_be_absent),
        cmocka_unit_test(members_of_a_struct_are_columns),
        cmocka_unit_test(every_failed_allocation_is_told),
        cmocka_unit_test(tables_of_results_are_described),
        cmocka_unit_test(a_document_has_rows_of_tables_and_texts_by_key),
        cmocka_unit_test(numbers_are_one_or_lists_or_lists_of_lists),
        cmocka_unit_test(columns_of_a_document_tell_their_table_and_stand_in_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
