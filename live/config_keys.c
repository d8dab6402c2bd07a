/* SPDX-License-Identifier: Apache-2.0 */
#include "live/config_keys.h"

#include "core/memory.h"
#include "core/row_macros.h"
#include "io/curve.h"

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
    WHOLE("ring", ring, 1, 1 << 26, .what = "spikes between this source and the merger"),
    CHOICE("policy", policy, policies,
           .what = "where the windows have no room the source waits for them (block), which a live sender "
                   "has to be able to, or goes on, and they miss spikes (window_dropped). Triggers and "
                   "recorders miss none. What is not read yet waits in its transport"),
    CHOICE("pulses", pulses, shared_lines,
           .what = "this line has the pulses that several sources share; the first of them is the clock that "
                   "the others' times are put on (docs/rigs.md)"),
    {0},
};
#undef ROW

static const sf_key topic = {.name = "", .type = SF_KEY_TEXT, .words = sf_topic_names};

#define ROW sf_sink_settings
static const sf_key sink_keys[] = {
    WHOLE("ring", ring, 1, 1 << 20, .what = "messages that wait for it"),
    CHOICE("policy", policy, policies,
           .what = "when the ring is full. Files hold up a run, as by block, whose sources all have the "
                   "speed max, which loses nothing"),
    {.name = "topics",
     .type = SF_KEY_LIST,
     .offset = offsetof(sf_sink_settings, topics),
     .count_offset = offsetof(sf_sink_settings, topic_count),
     .most = SF_TOPIC_COUNT,
     .item = &topic,
     .what = "which messages it gets: docs/messages.md; []: all"},
    WHOLE("top", top, 0, 1000000,
          .what = "of the episodes of a window those so many that stand out most; 0: all"),
    {0},
};
#undef ROW

static const sf_key_table source_table = {.parts = {kind_keys, source_keys}, .kind = source_kind};
static const sf_key_table sink_table = {.parts = {kind_keys, sink_keys}, .kind = sink_kind};

#define ROW sf_control_settings
static const sf_key control_keys[] = {
    TEXT("endpoint", endpoint, .use = SF_KEY_WRITES, .what = "ZeroMQ, asked by REQ, bound"),
    TEXT("token_file", token_file, .needed = true, .use = SF_KEY_READS, .example = "token",
         .what = "a file whose first line every request must hold; nobody else may read it"),
    TEXT("key", key,
         .what = "a secret file of `synfire keys`; the endpoint may then be one for other machines"),
    TEXT("clients", clients,
         .what = "beside it: the public file of who may ask, or a folder of such files, *.key"),
    SWITCH("hold", hold, .what = "true: nothing is read of the sources before the command `start`"),
    {0},
};
#undef ROW

static const sf_control_settings control_defaults = {
    .endpoint = "tcp://127.0.0.1:7740", .key = SF_CURVE_NONE, .clients = SF_CURVE_NONE};

static const sf_key_table control_table = {
    .parts = {control_keys}, .size = sizeof(sf_control_settings), .defaults = &control_defaults};

#define ROW sf_config
static const sf_key sources[] = {
    LIST("sources", sources, source_count, 64, &source_table,
         .what = "where spikes come from; several sources are merged in time order. docs/rigs.md says more "
                 "of the systems"),
    {0},
};
#undef ROW

#define WRITTEN(number) #number
#define AS_TEXT(number) WRITTEN(number)

static bool is_core(const char *text)
{
    uint64_t core;
    return strcmp(text, "any") == 0 || sf_parse_uint(text, SF_CONFIG_MOST_CORE, &core);
}

#define ROW sf_config
static const sf_key realtime_keys[] = {
    WHOLE("priority", realtime.priority, 0, 99,
          .what = "SCHED_FIFO, of the threads by which spikes come, and of watching; 0: none"),
    TEXT("core", realtime.core, .takes = is_core,
         .form = "any, or a number from 0 to " AS_TEXT(SF_CONFIG_MOST_CORE), .what = "of watching alone"),
    SWITCH("lock_memory", realtime.lock_memory,
           .what = "what the program has when it starts is not swapped out"),
    {0},
};
#undef ROW
static const sf_key_table realtime_table = {.parts = {realtime_keys}};

#define ROW sf_config
static const sf_key sinks[] = {
    LIST("rules", rules, rule_count, 100, NULL,
         .what =
             "rule files of `synfire rules --rule`: the label that each predicts is told with the counts of "
             "every window, which has to be as long as those that it was learnt in. As [stimulus.rule]"),
    LIST("control", control, control_count, 1, &control_table,
         .what = "a socket by which programs of this machine arm and disarm triggers, set marks, stop the "
                 "run and ask how it is (docs/closed-loop.md)"),
    GROUP("realtime", realtime_table,
          .what = "what goes before other programs. What this user may not have is left out with a warning "
                  "(`synfire doctor` says what to do)"),
    LIST("sinks", sinks, sink_count, 64, &sink_table,
         .what = "where results go. Each sink has its own thread and ring, so a slow one never holds up the "
                 "others"),
    {0},
};
#undef ROW

const sf_key_table sf_config_table = {.parts = {sf_live_first_keys, sources, sf_live_keys, sinks}};

sf_config sf_config_defaults(void)
{
    static char any[] = "any";
    return (sf_config){.live = sf_live_defaults, .realtime = {.core = any}};
}

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
