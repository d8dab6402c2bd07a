/* SPDX-License-Identifier: Apache-2.0 */
#include "core/keys.h"

#include "core/error.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 256 /* of a key and what stands around it */

bool sf_keys_named_before(const sf_key *const *keys, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(keys[i]->name, keys[index]->name) == 0)
            return true;
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
        if (part > 0 || table->kind == NULL)
            continue;
        if (kind != NULL)
            add(keys, &count, kind->keys, false);
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
        if (strlen(found) == length && strncmp(found, word, length) == 0)
            return true;
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
        if (!sf_keys_named_before(keys, i))
            sf_text_printf(text, "%s%s", i == 0 ? "" : ", ", keys[i]->name);
}

void sf_key_expected(sf_text *text, const sf_key *key, const sf_key_table *table)
{
    if (key->words != NULL) {
        for (size_t i = 0; key->words[i] != NULL; i++)
            sf_text_printf(text, "%s%s", i == 0 ? "one of " : ", ", key->words[i]);
        return;
    }
    switch (key->type) {
    case SF_KEY_WHOLE:
        sf_text_printf(text, "a whole number from %.0f to %.0f", key->least, key->most);
        break;
    case SF_KEY_REAL:
        sf_text_printf(text, "a number from %.10g to %.10g", key->least, key->most);
        break;
    case SF_KEY_SWITCH:
        sf_text_printf(text, "true or false");
        break;
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
        sf_text_printf(text, "a text of 1 to %d bytes", SF_KEY_LONGEST);
        break;
    }
}

/* ---- checking a struct ---- */

static int check_struct(const sf_key_table *table, const void *object, const char *path, sf_error *error);

static bool text_is_right(const char *text, bool needed)
{
    size_t length = text != NULL ? strnlen(text, SF_KEY_LONGEST + 1) : 0;
    return text == NULL ? !needed : length > 0 && length <= SF_KEY_LONGEST;
}

static bool is_right(const sf_key *key, const void *object)
{
    const void *at = sf_key_at(key, object);
    size_t words = 0;
    switch (key->type) {
    case SF_KEY_WHOLE:
        return *(const uint32_t *)at >= key->least && *(const uint32_t *)at <= key->most;
    case SF_KEY_REAL:
        return *(const double *)at >= key->least && *(const double *)at <= key->most;
    case SF_KEY_CHOICE:
        while (key->words[words] != NULL)
            words++;
        return *(const int *)at >= 0 && (size_t) * (const int *)at < words;
    case SF_KEY_TEXT:
        return text_is_right(*(const char *const *)at, key->needed) &&
               (key->words == NULL || *(const char *const *)at == NULL ||
                key->words[sf_keys_word(key->words, *(const char *const *)at)] != NULL);
    case SF_KEY_LIST:
        return *(const uint32_t *)((const char *)object + key->count_offset) <= key->most;
    default:
        return true;
    }
}

static int refuse(const sf_key *key, const void *object, const char *path, sf_error *error)
{
    char found[64] = "no text";
    const void *at = sf_key_at(key, object);
    if (key->type == SF_KEY_WHOLE)
        snprintf(found, sizeof found, "%u", *(const uint32_t *)at);
    else if (key->type == SF_KEY_REAL)
        snprintf(found, sizeof found, "%g", *(const double *)at);
    else if (key->type == SF_KEY_CHOICE)
        snprintf(found, sizeof found, "the value %d", *(const int *)at);
    else if (key->type == SF_KEY_LIST)
        snprintf(found, sizeof found, "a longer list");
    else if (*(const char *const *)at != NULL)
        snprintf(found, sizeof found, "'%.50s'", *(const char *const *)at);
    sf_text expected = {0};
    sf_key_expected(&expected, key, NULL);
    int status = expected.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_CONFIG, path, "found %s, expected %s", found, expected.data);
    sf_text_free(&expected);
    return status;
}

static int check_items(const sf_key *key, const void *object, const char *path, sf_error *error)
{
    uint32_t count = *(const uint32_t *)((const char *)object + key->count_offset);
    const char *items = *(const char *const *)sf_key_at(key, object);
    int status = count > 0 && items == NULL
                     ? sf_fail(error, SF_CONFIG, path, "found no items, expected %u", count)
                     : SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        char below[PATH_SIZE];
        snprintf(below, sizeof below, "%.200s.%u", path, i);
        if (key->table != NULL)
            status = check_struct(key->table, items + i * key->table->size, below, error);
        else if (!text_is_right(((const char *const *)(const void *)items)[i], true))
            status = sf_fail(error, SF_CONFIG, below, "found no text, expected a text of 1 to %d bytes",
                             SF_KEY_LONGEST);
    }
    return status;
}

static int check_struct(const sf_key_table *table, const void *object, const char *path, sf_error *error)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        char below[PATH_SIZE];
        const sf_key *key = sf_keys_find(keys, count, keys[i]->name, object);
        snprintf(below, sizeof below, "%s%s%s", path, path[0] != '\0' ? "." : "", keys[i]->name);
        if (key != keys[i])
            continue;
        if (!is_right(key, object))
            status = refuse(key, object, below, error);
        else if (key->type == SF_KEY_GROUP)
            status = check_struct(key->table, object, below, error);
        else if (key->type == SF_KEY_LIST)
            status = check_items(key, object, below, error);
    }
    return status;
}

int sf_keys_check(const sf_key_table *table, const void *object, sf_error *error)
{
    return check_struct(table, object, "", error);
}
