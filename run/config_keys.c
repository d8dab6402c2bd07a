/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config_keys.h"

#include "core/memory.h"
#include "io/curve.h"
#include "run/config.h"
#include "run/tool.h"

#include <stdio.h>

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

static const sf_key source_keys[] = {
    {.name = "ring",
     .type = SF_KEY_WHOLE,
     .offset = offsetof(sf_source_settings, ring),
     .least = 1,
     .most = 1 << 26},
    {.name = "policy",
     .type = SF_KEY_CHOICE,
     .offset = offsetof(sf_source_settings, policy),
     .words = policies},
    {.name = "pulses",
     .type = SF_KEY_CHOICE,
     .offset = offsetof(sf_source_settings, pulses),
     .words = shared_lines},
    {0},
};

static const sf_key topic = {.name = "", .type = SF_KEY_TEXT, .words = sf_topic_names};

static const sf_key sink_keys[] = {
    {.name = "ring",
     .type = SF_KEY_WHOLE,
     .offset = offsetof(sf_sink_settings, ring),
     .least = 1,
     .most = 1 << 20},
    {.name = "policy",
     .type = SF_KEY_CHOICE,
     .offset = offsetof(sf_sink_settings, policy),
     .words = policies},
    {.name = "topics",
     .type = SF_KEY_LIST,
     .offset = offsetof(sf_sink_settings, topics),
     .count_offset = offsetof(sf_sink_settings, topic_count),
     .most = SF_TOPIC_COUNT,
     .item = &topic},
    {.name = "top",
     .type = SF_KEY_WHOLE,
     .offset = offsetof(sf_sink_settings, top),
     .least = 0,
     .most = 1000000},
    {0},
};

static const sf_key_table source_table = {.parts = {kind_keys, source_keys}, .kind = source_kind};
static const sf_key_table sink_table = {.parts = {kind_keys, sink_keys}, .kind = sink_kind};

static const sf_key control_keys[] = {
    {.name = "endpoint",
     .type = SF_KEY_TEXT,
     .offset = offsetof(sf_control_settings, endpoint),
     .use = SF_KEY_WRITES},
    {.name = "token_file",
     .type = SF_KEY_TEXT,
     .offset = offsetof(sf_control_settings, token_file),
     .needed = true,
     .use = SF_KEY_READS},
    {.name = "key", .type = SF_KEY_TEXT, .offset = offsetof(sf_control_settings, key)},
    {.name = "clients", .type = SF_KEY_TEXT, .offset = offsetof(sf_control_settings, clients)},
    {.name = "hold", .type = SF_KEY_SWITCH, .offset = offsetof(sf_control_settings, hold)},
    {0},
};

static const sf_control_settings control_defaults = {
    .endpoint = "tcp://127.0.0.1:7740", .key = SF_CURVE_NONE, .clients = SF_CURVE_NONE};

static const sf_key_table control_table = {
    .parts = {control_keys}, .size = sizeof(sf_control_settings), .defaults = &control_defaults};

static const sf_key sources[] = {
    {.name = "sources",
     .type = SF_KEY_LIST,
     .offset = offsetof(sf_config, sources),
     .count_offset = offsetof(sf_config, source_count),
     .most = 64,
     .table = &source_table},
    {0},
};

static const sf_key realtime_keys[] = {
    {.name = "priority",
     .type = SF_KEY_WHOLE,
     .offset = offsetof(sf_config, realtime.priority),
     .least = 0,
     .most = 99},
    {.name = "core", .type = SF_KEY_TEXT, .offset = offsetof(sf_config, realtime.core)},
    {.name = "lock_memory", .type = SF_KEY_SWITCH, .offset = offsetof(sf_config, realtime.lock_memory)},
    {0},
};
static const sf_key_table realtime_table = {.parts = {realtime_keys}};

static const sf_key sinks[] = {
    {.name = "rules",
     .type = SF_KEY_LIST,
     .offset = offsetof(sf_config, rules),
     .count_offset = offsetof(sf_config, rule_count),
     .most = 100},
    {.name = "control",
     .type = SF_KEY_LIST,
     .offset = offsetof(sf_config, control),
     .count_offset = offsetof(sf_config, control_count),
     .most = 1,
     .table = &control_table},
    {.name = "realtime", .type = SF_KEY_GROUP, .table = &realtime_table},
    {.name = "sinks",
     .type = SF_KEY_LIST,
     .offset = offsetof(sf_config, sinks),
     .count_offset = offsetof(sf_config, sink_count),
     .most = 64,
     .table = &sink_table},
    {0},
};

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

void sf_tool_list_keys(sf_text *text)
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
        if (sf_keys_named_before(keys, i))
            continue;
        if (keys[i]->type == SF_KEY_TEXT)
            sf_free(*(char **)sf_key_at(keys[i], object));
        else if (keys[i]->type == SF_KEY_GROUP)
            sf_config_free_values(keys[i]->table, NULL, object);
        else if (keys[i]->type == SF_KEY_LIST)
            free_list(keys[i], object);
    }
}
