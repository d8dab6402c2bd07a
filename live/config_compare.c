/* SPDX-License-Identifier: Apache-2.0 */
#include "live/config.h"
#include "live/config_keys.h"

#include <stdio.h>
#include <string.h>

typedef struct comparison {
    void (*tell)(void *user, const char *key, bool live);
    void *user;
    char path[160];
} comparison;

static void compare_structs(comparison *of, const sf_key_table *table, const sf_key_kind *kind,
                            const void *now, const void *next);

/* True where there was something to go into; else the list as a whole is told. */
static bool compare_items(comparison *of, const sf_key *list, const void *now, const void *next)
{
    const char *a = *(void *const *)sf_key_at(list, now), *b = *(void *const *)sf_key_at(list, next);
    uint32_t count = *(const uint32_t *)(const void *)((const char *)now + list->count_offset);
    if (*(const uint32_t *)(const void *)((const char *)next + list->count_offset) != count) return false;
    size_t size = sf_config_item_size(list), length = strlen(of->path);
    for (uint32_t i = 0; i < count; i++) {
        const void *x = a + i * size, *y = b + i * size;
        snprintf(of->path + length, sizeof of->path - length, ".%u", i);
        if (list->table == NULL) {
            if (strcmp(*(char *const *)x, *(char *const *)y) != 0) of->tell(of->user, of->path, list->live);
        } else if (list->table->kind == NULL) {
            compare_structs(of, list->table, NULL, x, y);
        } else {
            const sf_key_item *of_x = x, *of_y = y;
            if (of_x->kind != of_y->kind)
                of->tell(of->user, of->path, false);
            else
                compare_structs(of, list->table, of_x->kind, of_x->settings, of_y->settings);
        }
    }
    of->path[length] = '\0';
    return true;
}

static bool is_same(const sf_key *key, const void *now, const void *next)
{
    const void *a = sf_key_at(key, now), *b = sf_key_at(key, next);
    switch (key->type) {
    case SF_KEY_TEXT: {
        const char *x = *(char *const *)a, *y = *(char *const *)b;
        return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
    }
    case SF_KEY_REAL:
        return *(const double *)a == *(const double *)b;
    case SF_KEY_SWITCH:
        return *(const bool *)a == *(const bool *)b;
    case SF_KEY_CHOICE:
        return *(const int *)a == *(const int *)b;
    case SF_KEY_WHOLE:
        return *(const uint32_t *)a == *(const uint32_t *)b;
    default: /* a kind, which is the item's */
        return true;
    }
}

static void compare_value(comparison *of, const sf_key *key, const void *now, const void *next)
{
    if (key->type == SF_KEY_GROUP)
        compare_structs(of, key->table, NULL, now, next);
    else if (key->type == SF_KEY_LIST ? !compare_items(of, key, now, next) : !is_same(key, now, next))
        of->tell(of->user, of->path, key->live);
}

static void compare_structs(comparison *of, const sf_key_table *table, const sf_key_kind *kind,
                            const void *now, const void *next)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, kind, keys), length = strlen(of->path);
    for (size_t i = 0; i < count; i++) {
        if (sf_keys_find(keys, count, keys[i]->name, now) != keys[i]) continue;
        snprintf(of->path + length, sizeof of->path - length, "%s%s", length > 0 ? "." : "", keys[i]->name);
        compare_value(of, keys[i], now, next);
    }
    of->path[length] = '\0';
}

void sf_config_compare(const sf_config *now, const sf_config *next,
                       void (*tell)(void *user, const char *key, bool live), void *user)
{
    comparison of = {.tell = tell, .user = user};
    compare_structs(&of, &sf_config_table, NULL, now, next);
}
