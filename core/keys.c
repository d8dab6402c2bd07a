/* SPDX-License-Identifier: Apache-2.0 */
#include "core/keys.h"

#include "core/error.h"
#include "core/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 256 /* of a key and what stands around it */

bool sf_keys_named_before(const sf_key *const *keys, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(keys[i]->name, keys[index]->name) == 0) return true;
    return false;
}

size_t sf_keys_word(const char *const *words, const char *text)
{
    size_t i = 0;
    while (words[i] != NULL && strcmp(words[i], text) != 0)
        i++;
    return i;
}

static void add(const sf_key *keys[SF_KEYS_MOST], size_t *count, const sf_key *part, bool once)
{
    for (; part != NULL && part->name != NULL && *count < SF_KEYS_MOST; part++) {
        keys[*count] = part;
        *count += !(once && sf_keys_named_before(keys, *count));
    }
}

size_t sf_keys_of(const sf_key_table *table, const sf_key_kind *kind, const sf_key *keys[SF_KEYS_MOST])
{
    size_t count = 0;
    for (size_t part = 0; part < SF_KEY_PARTS; part++) {
        add(keys, &count, table->parts[part], false);
        if (part > 0 || table->kind == NULL) continue;
        if (kind != NULL) add(keys, &count, kind->keys, false);
        for (size_t i = 0; kind == NULL && table->kind(i) != NULL; i++)
            add(keys, &count, table->kind(i)->keys, true);
    }
    return count;
}

/* Does `where`, as "quantity=isi,rate", hold in this struct? */
static bool holds(const sf_key *const *keys, size_t count, const char *where, const void *object)
{
    size_t length = strcspn(where, "=");
    const char *found = "";
    for (size_t i = 0; i < count; i++)
        if (strncmp(keys[i]->name, where, length) == 0 && keys[i]->name[length] == '\0')
            found = keys[i]->words[*(const int *)sf_key_at(keys[i], object)];
    for (const char *word = where + length; *word != '\0'; word += length) {
        word++; /* = or , */
        length = strcspn(word, ",");
        if (strlen(found) == length && strncmp(found, word, length) == 0) return true;
    }
    return false;
}

const sf_key *sf_keys_find(const sf_key *const *keys, size_t count, const char *name, const void *object)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i]->name, name) == 0 &&
            (keys[i]->where == NULL || holds(keys, count, keys[i]->where, object)))
            return keys[i];
    return NULL;
}

void sf_keys_list(sf_text *text, const sf_key_table *table)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    for (size_t i = 0; i < count; i++)
        if (!sf_keys_named_before(keys, i)) sf_text_printf(text, "%s%s", i == 0 ? "" : ", ", keys[i]->name);
}

/* 1 of what is no time. */
static double unit_of(const sf_key *key)
{
    return key->type != SF_KEY_TIME ? 1 : strcmp(key->unit, "s") == 0 ? 1e9 : 1e6;
}

static void add_words(sf_text *text, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        sf_text_printf(text, "%s%s", i == 0 ? "one of " : ", ", words[i]);
}

#define LONGEST_NS 0x1p60 /* what times may be beyond is no bound that anybody meets */

/* "a number of ms above 0", "a number from 0.5 to 100": what has no end in practice says none. Where 0 stands
 * for something else, whole numbers begin at 1. */
static void add_range(sf_text *text, const sf_key *key)
{
    double unit = unit_of(key);
    bool whole = key->type == SF_KEY_WHOLE || key->type == SF_KEY_COUNT,
         not_zero = key->zero != NULL && key->least == 0, above = not_zero && !whole;
    double least = whole && not_zero ? 1 : key->least / unit;
    sf_text_printf(text, "a %snumber%s%s %s ", whole ? "whole " : "", key->unit != NULL ? " of " : "",
                   key->unit != NULL ? key->unit : "", above ? "above" : "from");
    sf_text_printf(text, whole ? "%.0f" : "%.10g", least);
    if (isfinite(key->most) && !(key->type == SF_KEY_TIME && key->most >= LONGEST_NS))
        sf_text_printf(text, whole ? "%s%.0f" : "%s%.10g", above ? " and at most " : " to ",
                       key->most / unit);
}

void sf_key_range(sf_text *text, const sf_key *key)
{
    if (key->words != NULL)
        add_words(text, key->words);
    else if (key->form != NULL)
        sf_text_printf(text, "%s", key->form);
    else if (key->type == SF_KEY_SWITCH)
        sf_text_printf(text, "true or false");
    else if (key->type == SF_KEY_TEXT)
        sf_text_printf(text, "a text of 1 to %d bytes", SF_KEY_LONGEST);
    else
        add_range(text, key);
}

void sf_key_expected(sf_text *text, const sf_key *key, const sf_key_table *table)
{
    switch (key->type) {
    case SF_KEY_KIND:
        for (size_t i = 0; table->kind(i) != NULL; i++)
            sf_text_printf(text, "%s%s", i == 0 ? "one of " : ", ", table->kind(i)->name);
        break;
    case SF_KEY_GROUP:
        sf_text_printf(text, "keys below it, of ");
        sf_keys_list(text, key->table);
        break;
    case SF_KEY_LIST:
        sf_text_printf(text, "a list of at most %.0f items ([] is an empty one)", key->most);
        break;
    default:
        sf_key_range(text, key);
        if (key->zero != NULL && key->type != SF_KEY_TEXT) sf_text_printf(text, ", or 0: %s", key->zero);
        break;
    }
}

/* ---- values as text ---- */

static bool is_text(const char *text)
{
    size_t length = text != NULL ? strnlen(text, SF_KEY_LONGEST + 1) : 0;
    return length > 0 && length <= SF_KEY_LONGEST;
}

static bool text_is_right(const sf_key *key, const char *text)
{
    return is_text(text) && (key->words == NULL || key->words[sf_keys_word(key->words, text)] != NULL) &&
           (key->takes == NULL || key->takes(text));
}

static bool is_within(const sf_key *key, double number)
{
    return (number >= key->least && number <= key->most) || (number == 0 && key->zero != NULL);
}

static bool take_whole(const sf_key *key, void *at, const char *text)
{
    uint64_t whole, most = key->most < 0x1p64 ? (uint64_t)key->most : UINT64_MAX;
    if (!sf_parse_uint(text, most, &whole) || !is_within(key, (double)whole)) return false;
    if (key->type == SF_KEY_COUNT)
        *(uint64_t *)at = whole;
    else
        *(uint32_t *)at = (uint32_t)whole;
    return true;
}

static bool take_time(const sf_key *key, int64_t *at, const char *text)
{
    int64_t time;
    if (!sf_parse_scaled(text, strcmp(key->unit, "s") == 0 ? 9 : 6, &time) || !is_within(key, (double)time))
        return false;
    *at = time;
    return true;
}

bool sf_key_parse(const sf_key *key, void *object, const char *text)
{
    static const char *const switches[] = {"false", "true", NULL};
    void *at = sf_key_at(key, object);
    double real;
    size_t word;
    switch (key->type) {
    case SF_KEY_WHOLE:
    case SF_KEY_COUNT:
        return take_whole(key, at, text);
    case SF_KEY_TIME:
        return take_time(key, at, text);
    case SF_KEY_REAL:
        if (!sf_parse_real(text, &real) || !is_within(key, real)) return false;
        *(double *)at = real;
        return true;
    case SF_KEY_SWITCH:
        word = sf_keys_word(switches, text);
        if (switches[word] == NULL) return false;
        *(bool *)at = word == 1;
        return true;
    case SF_KEY_CHOICE:
        word = sf_keys_word(key->words, text);
        if (key->words[word] == NULL) return false;
        *(int *)at = (int)word;
        return true;
    default:
        return text_is_right(key, text);
    }
}

static double number_of(const sf_key *key, const void *object)
{
    const void *at = sf_key_at(key, object);
    switch (key->type) {
    case SF_KEY_WHOLE:
        return *(const uint32_t *)at;
    case SF_KEY_COUNT:
        return (double)*(const uint64_t *)at;
    case SF_KEY_TIME:
        return (double)*(const int64_t *)at;
    case SF_KEY_REAL:
        return *(const double *)at;
    default:
        return NAN;
    }
}

double sf_key_number(const sf_key *key, const void *object)
{
    return number_of(key, object) / unit_of(key);
}

/* Of its name without the unit. */
static size_t bare_length(const char *name)
{
    static const char *const units[] = {"_ns", "_ms", "_s", "_um", "_hz"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t unit = strlen(units[i]);
        if (length > unit && strcmp(name + length - unit, units[i]) == 0) return length - unit;
    }
    return length;
}

void sf_key_option(sf_text *text, const sf_key *key)
{
    size_t length = bare_length(key->name);
    if (key->option != NULL) sf_text_printf(text, "%s", key->option);
    for (size_t i = 0; key->option == NULL && i < length; i++)
        sf_text_append(text, key->name[i] == '_' ? "-" : &key->name[i], 1);
}

bool sf_key_is_option(const sf_key *key, const char *name)
{
    size_t length = bare_length(key->name), i = 0;
    if (key->option != NULL) return strcmp(key->option, name) == 0;
    while (i < length && name[i] == (key->name[i] == '_' ? '-' : key->name[i]))
        i++;
    return i == length && name[i] == '\0';
}

/* ---- checking a struct ---- */

/* What is refused, and how. */
typedef struct checking {
    int refused;
    sf_error *error;
} checking;

static int check_struct(const sf_key_table *table, const void *object, const char *path, checking how);

static bool is_right(const sf_key *key, const void *object)
{
    const void *at = sf_key_at(key, object);
    double number = number_of(key, object);
    size_t words = 0;
    switch (key->type) {
    case SF_KEY_WHOLE:
    case SF_KEY_COUNT:
    case SF_KEY_TIME:
    case SF_KEY_REAL:
        return is_within(key, number);
    case SF_KEY_CHOICE:
        while (key->words[words] != NULL)
            words++;
        return *(const int *)at >= 0 && (size_t) * (const int *)at < words;
    case SF_KEY_TEXT:
        return *(const char *const *)at == NULL ? !key->needed : text_is_right(key, *(const char *const *)at);
    case SF_KEY_LIST:
        return *(const uint32_t *)((const char *)object + key->count_offset) <= key->most;
    default:
        return true;
    }
}

static int refuse(const sf_key *key, const void *object, const char *path, checking how)
{
    char found[64] = "no text";
    const void *at = sf_key_at(key, object);
    if (!isnan(number_of(key, object)) || key->type == SF_KEY_REAL)
        snprintf(found, sizeof found, "%.10g%s%s", sf_key_number(key, object), key->unit != NULL ? " " : "",
                 key->unit != NULL ? key->unit : "");
    else if (key->type == SF_KEY_CHOICE)
        snprintf(found, sizeof found, "the value %d", *(const int *)at);
    else if (key->type == SF_KEY_LIST)
        snprintf(found, sizeof found, "a longer list");
    else if (*(const char *const *)at != NULL)
        snprintf(found, sizeof found, "'%.50s'", *(const char *const *)at);
    sf_text expected = {0};
    sf_key_expected(&expected, key, NULL);
    int status = expected.failed
                     ? sf_fail_memory(how.error)
                     : sf_fail(how.error, how.refused, path, "found %s, expected %s", found, expected.data);
    sf_text_free(&expected);
    return status;
}

static int check_items(const sf_key *key, const void *object, const char *path, checking how)
{
    uint32_t count = *(const uint32_t *)((const char *)object + key->count_offset);
    const char *items = *(const char *const *)sf_key_at(key, object);
    int status = count > 0 && items == NULL
                     ? sf_fail(how.error, how.refused, path, "found no items, expected %u", count)
                     : SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        char below[PATH_SIZE];
        snprintf(below, sizeof below, "%.200s.%u", path, i);
        if (key->table != NULL)
            status = check_struct(key->table, items + i * key->table->size, below, how);
        else if (!is_text(((const char *const *)(const void *)items)[i]))
            status = sf_fail(how.error, how.refused, below, "found no text, expected a text of 1 to %d bytes",
                             SF_KEY_LONGEST);
    }
    return status;
}

static int check_struct(const sf_key_table *table, const void *object, const char *path, checking how)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        char below[PATH_SIZE];
        const sf_key *key = sf_keys_find(keys, count, keys[i]->name, object);
        snprintf(below, sizeof below, "%s%s%s", path, path[0] != '\0' ? "." : "", keys[i]->name);
        if (key != keys[i]) continue;
        if (!is_right(key, object))
            status = refuse(key, object, below, how);
        else if (key->type == SF_KEY_GROUP)
            status = check_struct(key->table, object, below, how);
        else if (key->type == SF_KEY_LIST)
            status = check_items(key, object, below, how);
    }
    return status;
}

int sf_keys_check(const sf_key_table *table, const void *object, int refused, sf_error *error)
{
    return check_struct(table, object, "", (checking){refused, error});
}

void sf_keys_init(const sf_key_table *table, void *options, size_t size)
{
    sf_options_init(options, size, table->defaults, table->size);
}

int sf_keys_read(const sf_key_table *table, void *own, const void *options, const char *what, sf_error *error)
{
    int status = sf_options_read(own, table->defaults, table->size, options, what, error);
    memcpy(own, &table->size, sizeof table->size);
    return status == SF_OK ? sf_keys_check(table, own, SF_USAGE, error) : status;
}
