/* SPDX-License-Identifier: Apache-2.0 */
#include "live/config_keys.h"

#include "core/memory.h"
#include "core/row_macros.h"
#include "io/curve.h"
#include "live/config.h"

#include <stdio.h>
#include <string.h>

static const sf_key_kind *source_kind(size_t index)
{
    const sf_source_kind *kind = sf_source_kind_at(index);
    return kind != NULL ? &kind->settings : NULL;
}

static const sf_key_kind *sink_kind(size_t index)
{
    const sf_sink_kind *kind = sf_sink_kind_at(index);
    return kind != NULL ? &kind->settings : NULL;
}

static const char *const policies[] = {"block", "drop-oldest", "drop-newest", NULL};
static const sf_key kind_keys[] = {{.name = "type", .type = SF_KEY_KIND, .needed = true}, {0}};

static const char *const shared_lines[] = {"none",  "ttl0",  "ttl1",  "ttl2",  "ttl3",  "ttl4",
                                           "ttl5",  "ttl6",  "ttl7",  "ttl8",  "ttl9",  "ttl10",
                                           "ttl11", "ttl12", "ttl13", "ttl14", "ttl15", NULL};

#define ROW sf_source_settings
static const sf_key source_keys[] = {
    WHOLE("ring", ring, 1, 1 << 26),
    CHOICE("policy", policy, policies),
    CHOICE("pulses", pulses, shared_lines),
    {0},
};
#undef ROW

static const sf_key topic = {.name = "", .type = SF_KEY_TEXT, .words = sf_topic_names};

#define ROW sf_sink_settings
static const sf_key sink_keys[] = {
    WHOLE("ring", ring, 1, 1 << 20),
    CHOICE("policy", policy, policies),
    {.name = "topics",
     .type = SF_KEY_LIST,
     .offset = offsetof(sf_sink_settings, topics),
     .count_offset = offsetof(sf_sink_settings, topic_count),
     .most = SF_TOPIC_COUNT,
     .item = &topic},
    WHOLE("top", top, 0, 1000000),
    {0},
};
#undef ROW

static const sf_key_table source_table = {.parts = {kind_keys, source_keys}, .kind = source_kind};
static const sf_key_table sink_table = {.parts = {kind_keys, sink_keys}, .kind = sink_kind};

#define ROW sf_control_settings
static const sf_key control_keys[] = {
    TEXT("endpoint", endpoint, .use = SF_KEY_WRITES),
    TEXT("token_file", token_file, .needed = true, .use = SF_KEY_READS),
    TEXT("key", key),
    TEXT("clients", clients),
    SWITCH("hold", hold),
    {0},
};
#undef ROW

static const sf_control_settings control_defaults = {
    .endpoint = "tcp://127.0.0.1:7740", .key = SF_CURVE_NONE, .clients = SF_CURVE_NONE};

static const sf_key_table control_table = {
    .parts = {control_keys}, .size = sizeof(sf_control_settings), .defaults = &control_defaults};

#define ROW sf_config
static const sf_key sources[] = {
    LIST("sources", sources, source_count, 64, &source_table),
    {0},
};
#undef ROW

static bool is_core(const char *text)
{
    uint64_t core;
    return strcmp(text, "any") == 0 || sf_parse_uint(text, SF_CONFIG_MOST_CORE, &core);
}

#define ROW sf_config
static const sf_key realtime_keys[] = {
    WHOLE("priority", realtime.priority, 0, 99),
    TEXT("core", realtime.core, .takes = is_core, .form = "any, or a number from 0 to 1023"),
    SWITCH("lock_memory", realtime.lock_memory),
    {0},
};
#undef ROW
static const sf_key_table realtime_table = {.parts = {realtime_keys}};

#define ROW sf_config
static const sf_key sinks[] = {
    LIST("rules", rules, rule_count, 100, NULL),
    LIST("control", control, control_count, 1, &control_table),
    GROUP("realtime", realtime_table),
    LIST("sinks", sinks, sink_count, 64, &sink_table),
    {0},
};
#undef ROW

const sf_key_table sf_config_table = {.parts = {sf_live_first_keys, sources, sf_live_keys, sinks}};

static void list_keys(sf_text *text, const sf_key_table *table, const char *path)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys);
    for (size_t i = 0; i < count; i++) {
        char below[128];
        snprintf(below, sizeof below, "%.60s%.60s.", path, keys[i]->name);
        if (keys[i]->type == SF_KEY_GROUP)
            list_keys(text, keys[i]->table, below);
        else if (keys[i]->type != SF_KEY_LIST)
            sf_text_printf(text, " %s%s", path, keys[i]->name);
    }
}

void sf_config_list_keys(sf_text *text)
{
    list_keys(text, &sf_config_table, "");
}

size_t sf_config_item_size(const sf_key *list)
{
    return list->table == NULL         ? sizeof(char *)
           : list->table->kind != NULL ? sizeof(sf_key_item)
                                       : list->table->size;
}

static void free_item(const sf_key *list, void *item)
{
    const sf_key_item *of_kind = item;
    if (list->table == NULL) {
        sf_free(*(char **)item);
    } else if (list->table->kind == NULL) {
        sf_config_free_values(list->table, NULL, item);
    } else if (of_kind->settings != NULL) {
        sf_config_free_values(list->table, of_kind->kind, of_kind->settings);
        sf_free(of_kind->settings);
    }
}

static void free_list(const sf_key *key, void *object)
{
    char *items = *(void **)sf_key_at(key, object);
    uint32_t *count = (void *)((char *)object + key->count_offset);
    for (uint32_t i = 0; i < *count; i++)
        free_item(key, items + i * sf_config_item_size(key));
    sf_free(items);
}

void sf_config_free_values(const sf_key_table *table, const sf_key_kind *kind, void *object)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, kind, keys);
    for (size_t i = 0; i < count; i++) {
        if (sf_keys_named_before(keys, i)) continue;
        if (keys[i]->type == SF_KEY_TEXT)
            sf_free(*(char **)sf_key_at(keys[i], object));
        else if (keys[i]->type == SF_KEY_GROUP)
            sf_config_free_values(keys[i]->table, NULL, object);
        else if (keys[i]->type == SF_KEY_LIST)
            free_list(keys[i], object);
    }
}
