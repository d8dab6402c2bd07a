/* SPDX-License-Identifier: Apache-2.0 */
/* What rows say of options, of every table that commands and the API go by. */
#include "support/support.h"

#include "core/options.h"
#include "density/rows.h"
#include "graph/rows.h"
#include "mine/rows.h"

#include <math.h>

static const sf_key_table *const tables[] = {
    &sf_mining_table, &sf_counting_table, &sf_significance_table, &sf_graph_table,   &sf_tiling_table,
    &sf_search_table, &sf_match_table,    &sf_rewired_table,      &sf_density_table,
};

enum { TABLES = sizeof tables / sizeof tables[0], MOST_BYTES = 512 };

/* A struct of this table at its defaults, as its public function makes it. */
static void *at_defaults(const sf_key_table *table)
{
    static _Alignas(max_align_t) unsigned char room[MOST_BYTES];
    assert_true(table->size <= MOST_BYTES);
    sf_keys_init(table, room, table->size);
    return room;
}

static void for_each_key(void (*check)(const sf_key_table *table, const sf_key *key))
{
    for (size_t t = 0; t < TABLES; t++) {
        const sf_key *keys[SF_KEYS_MOST];
        size_t count = sf_keys_of(tables[t], NULL, keys);
        assert_true(count > 0 && count < SF_KEYS_MOST);
        for (size_t i = 0; i < count; i++)
            check(tables[t], keys[i]);
    }
}

static void defaults_are_within_bounds(void **state)
{
    (void)state;
    sf_error error = {0};
    for (size_t t = 0; t < TABLES; t++)
        if (sf_keys_check(tables[t], at_defaults(tables[t]), SF_USAGE, &error) != SF_OK)
            fail_msg("table %zu: %s: %s", t, error.place, error.text);
}

static void check_words(const sf_key_table *table, const sf_key *key)
{
    (void)table;
    bool on_command_lines = key->option == NULL || key->option[0] != '\0';
    bool valued = key->type != SF_KEY_SWITCH && key->words == NULL;
    if (on_command_lines && key->what == NULL) fail_msg("%s says not what it is", key->name);
    if (on_command_lines && valued && key->argument == NULL)
        fail_msg("%s has no word for its value", key->name);
}

static void what_commands_take_has_words_for_help(void **state)
{
    (void)state;
    for_each_key(check_words);
}

/* And nothing is set. */
static void assert_refused(const sf_key_table *table, const sf_key *key, const char *text)
{
    char before[1024];
    void *object = at_defaults(table);
    assert_true(table->size <= sizeof before);
    memcpy(before, object, table->size);
    assert_false(sf_key_parse(key, object, text));
    assert_memory_equal(object, before, table->size);
}

/* A number as people write it. */
static void print_number(char text[64], const sf_key *key, double number)
{
    double unit = key->type != SF_KEY_TIME ? 1 : strcmp(key->unit, "s") == 0 ? 1e9 : 1e6;
    bool whole = key->type == SF_KEY_WHOLE || key->type == SF_KEY_COUNT;
    snprintf(text, 64, whole ? "%.0f" : "%.17g", number / unit);
}

static bool takes(const sf_key_table *table, const sf_key *key, double number)
{
    char text[64];
    void *object = at_defaults(table);
    print_number(text, key, number);
    bool taken = sf_key_parse(key, object, text);
    if (taken) assert_int_equal(sf_keys_check(table, object, SF_USAGE, NULL), SF_OK);
    return taken;
}

static void check_bounds(const sf_key_table *table, const sf_key *key)
{
    bool whole = key->type == SF_KEY_WHOLE || key->type == SF_KEY_COUNT;
    if (!whole && key->type != SF_KEY_REAL && key->type != SF_KEY_TIME) return;
    double below =
        whole || key->type == SF_KEY_TIME ? key->least - 1 : key->least - 1e-3 * fmax(fabs(key->least), 1e-3);
    assert_true(takes(table, key, key->least));
    assert_true(!takes(table, key, below) || (below == 0 && key->zero != NULL));
    assert_true(key->zero == NULL || takes(table, key, 0));
    if (key->most < 1e18) {
        assert_true(takes(table, key, key->most));
        assert_false(takes(table, key, whole ? key->most + 1 : key->most * 1.001));
    }
    assert_refused(table, key, "many");
}

static void numbers_are_taken_up_to_their_bounds(void **state)
{
    (void)state;
    for_each_key(check_bounds);
}

static void check_choices(const sf_key_table *table, const sf_key *key)
{
    if (key->type == SF_KEY_SWITCH) assert_refused(table, key, "perhaps");
    if (key->words == NULL) return;
    for (size_t i = 0; key->words[i] != NULL; i++) {
        void *object = at_defaults(table);
        assert_true(sf_key_parse(key, object, key->words[i]));
        if (key->type == SF_KEY_CHOICE) assert_int_equal(*(int *)sf_key_at(key, object), i);
    }
    assert_refused(table, key, "none-such");
}

static void words_are_taken_and_no_others(void **state)
{
    (void)state;
    for_each_key(check_choices);
}

/* What an entry of the API begins with. */
static void structs_of_programs_are_checked_by_their_rows(void **state)
{
    (void)state;
    sf_match_options match = sf_match_options_default(), own;
    sf_error error = {0};
    match.slots = 4;
    test_assert_fails(sf_keys_read(&sf_match_table, &own, &match, "match", &error), &error, SF_USAGE,
                      "found 4, expected a whole number from 1 to 3, or 0: 3");
    assert_string_equal(error.place, "slots");
    match.slots = 0;
    assert_int_equal(sf_keys_read(&sf_match_table, &own, &match, "match", &error), SF_OK);
    match.engine = "none-such";
    test_assert_fails(sf_keys_read(&sf_match_table, &own, &match, "match", &error), &error, SF_USAGE,
                      "one of auto, gvsm");
    assert_string_equal(error.place, "engine");
    assert_int_equal(sf_keys_read(&sf_match_table, &own, NULL, "match", &error), SF_OK);
    assert_int_equal(own.size, sizeof own);
    match = (sf_match_options){.size = 3};
    test_assert_fails(sf_keys_read(&sf_match_table, &own, &match, "match", &error), &error, SF_USAGE, "size");
    assert_string_equal(error.place, "match");
}

static void names_on_command_lines_are_keys_without_units(void **state)
{
    (void)state;
    assert_true(sf_key_is_option(&(sf_key){.name = "min_distance_um"}, "min-distance"));
    assert_true(sf_key_is_option(&(sf_key){.name = "width_ns"}, "width"));
    assert_true(sf_key_is_option(&(sf_key){.name = "time_limit_s"}, "time-limit"));
    assert_true(sf_key_is_option(&(sf_key){.name = "order", .option = "sort"}, "sort"));
    assert_false(sf_key_is_option(&(sf_key){.name = "order", .option = "sort"}, "order"));
    assert_false(sf_key_is_option(&(sf_key){.name = "threshold", .option = ""}, "threshold"));
    assert_false(sf_key_is_option(&(sf_key){.name = "max_size"}, "max"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_within_bounds),
        cmocka_unit_test(what_commands_take_has_words_for_help),
        cmocka_unit_test(numbers_are_taken_up_to_their_bounds),
        cmocka_unit_test(words_are_taken_and_no_others),
        cmocka_unit_test(structs_of_programs_are_checked_by_their_rows),
        cmocka_unit_test(names_on_command_lines_are_keys_without_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
