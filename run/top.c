/* SPDX-License-Identifier: Apache-2.0 */
#include "run/top.h"

#include "core/error.h"
#include "core/text.h"

#include <jansson.h>
#include <math.h>
#include <msgpack.h>
#include <string.h>

#define MOST_DEPTH 8

/* ---- MessagePack as JSON ---- */

typedef struct bytes_left {
    const unsigned char *at, *end;
} bytes_left;

/* A number of so many bytes, the highest first; false where there are fewer. */
static bool take_number(bytes_left *from, size_t size, uint64_t *number)
{
    *number = 0;
    if ((size_t)(from->end - from->at) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        *number = *number << 8 | *from->at++;
    return true;
}

/* What an object's first byte says of it: bytes that follow, of a text among them, and objects that do. */
static bool measure(bytes_left *from, uint64_t *bytes, uint64_t *objects)
{
    static const unsigned char fixed[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17}; /* from 0xca on */
    uint64_t first;
    *bytes = *objects = 0;
    if (!take_number(from, 1, &first))
        return false;
    if (first >= 0x80 && first <= 0x9f)
        *objects = (first & 0xf) * (first < 0x90 ? 2 : 1);
    else if (first >= 0xa0 && first <= 0xbf)
        *bytes = first & 0x1f;
    else if (first >= 0xca && first <= 0xd8)
        *bytes = fixed[first - 0xca];
    else if (first >= 0xd9 && first <= 0xdb)
        return take_number(from, (size_t)1 << (first - 0xd9), bytes);
    else if (first >= 0xdc && first <= 0xdf) {
        bool whole = take_number(from, first % 2 == 0 ? 2 : 4, objects);
        *objects *= first >= 0xde ? 2 : 1;
        return whole;
    }
    return first < 0xc4 || first > 0xc9; /* binary and extensions: no status has any */
}

/* The library makes room for as many objects as an array says it has: only where they can be there. */
static bool can_be_whole(bytes_left *from, int depth)
{
    uint64_t bytes, objects;
    if (depth > MOST_DEPTH || !measure(from, &bytes, &objects))
        return false;
    uint64_t left = (uint64_t)(from->end - from->at);
    if (bytes > left || objects > left)
        return false;
    from->at += bytes;
    while (objects-- > 0)
        if (!can_be_whole(from, depth + 1))
            return false;
    return true;
}

static json_t *tree_of(const msgpack_object *object, int depth);

static json_t *map_of(const msgpack_object_map *map, int depth)
{
    json_t *tree = json_object();
    for (uint32_t i = 0; tree != NULL && i < map->size; i++) {
        const msgpack_object *key = &map->ptr[i].key;
        json_t *value = tree_of(&map->ptr[i].val, depth + 1);
        if (key->type == MSGPACK_OBJECT_STR && value != NULL)
            json_object_setn_new(tree, key->via.str.ptr, key->via.str.size, value);
        else
            json_decref(value);
    }
    return tree;
}

static json_t *list_of(const msgpack_object_array *list, int depth)
{
    json_t *tree = json_array();
    for (uint32_t i = 0; tree != NULL && i < list->size; i++)
        json_array_append_new(tree, tree_of(&list->ptr[i], depth + 1));
    return tree;
}

/* NULL, and what is left out with it, for what has no counterpart. */
static json_t *tree_of(const msgpack_object *object, int depth)
{
    if (depth > MOST_DEPTH)
        return NULL;
    switch (object->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        return json_boolean(object->via.boolean);
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return json_integer((json_int_t)(object->via.u64 & INT64_MAX));
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return json_integer(object->via.i64);
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return json_real(object->via.f64);
    case MSGPACK_OBJECT_STR:
        return json_stringn(object->via.str.ptr, object->via.str.size);
    case MSGPACK_OBJECT_MAP:
        return map_of(&object->via.map, depth);
    case MSGPACK_OBJECT_ARRAY:
        return list_of(&object->via.array, depth);
    default:
        return json_null();
    }
}

static json_t *unpack(const char *bytes, size_t length)
{
    msgpack_unpacked unpacked;
    size_t offset = 0;
    bytes_left from = {(const unsigned char *)bytes, (const unsigned char *)bytes + length};
    if (!can_be_whole(&from, 0))
        return NULL;
    msgpack_unpacked_init(&unpacked);
    json_t *tree = NULL;
    if (msgpack_unpack_next(&unpacked, bytes, length, &offset) == MSGPACK_UNPACK_SUCCESS)
        tree = tree_of(&unpacked.data, 0);
    msgpack_unpacked_destroy(&unpacked);
    return tree;
}

/* ---- fields ---- */

static double real(const json_t *map, const char *key)
{
    const json_t *value = json_object_get(map, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static uint64_t whole(const json_t *map, const char *key)
{
    const json_t *value = json_object_get(map, key);
    return json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

static void text(char *into, size_t size, const json_t *map, const char *key)
{
    const json_t *value = json_object_get(map, key);
    sf_visible_printf(into, size, "%s", json_is_string(value) ? json_string_value(value) : "");
}

/* ---- rows ---- */

static sf_tool_busy *add(sf_tool_top *top, const char *kind, const json_t *map)
{
    static sf_tool_busy beyond;
    sf_tool_busy *row = top->count < SF_TOOL_MOST_BUSY ? &top->rows[top->count++] : &beyond;
    *row = (sf_tool_busy){.kind = kind,
                          .behind_s = NAN,
                          .busy = NAN,
                          .hop_share = NAN,
                          .p50_ms = NAN,
                          .p99_ms = NAN,
                          .max_ms = NAN};
    text(row->name, sizeof row->name, map, "name");
    return row;
}

static void fill_took(sf_tool_busy *row, const json_t *map)
{
    row->busy_ms = real(map, "busy_ms");
    row->p50_ms = real(map, "p50_ms");
    row->p99_ms = real(map, "p99_ms");
    row->max_ms = real(map, "max_ms");
}

static void add_source(sf_tool_top *top, const json_t *map)
{
    static const char *const losses[] = {"late", "out_of_range", "dropped", "leaps"};
    sf_tool_busy *row = add(top, "source", map);
    row->busy_ms = NAN;
    row->behind_s = real(map, "behind_s");
    row->waiting = whole(map, "ring_fill");
    row->room = whole(map, "ring_size");
    text(row->authentication, sizeof row->authentication, map, "authentication");
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        row->lost += whole(map, losses[i]);
}

static void add_stage(sf_tool_top *top, const json_t *map)
{
    sf_tool_busy *row = add(top, "stage", map);
    fill_took(row, map);
    bool beside = strcmp(row->name, "watch") == 0 || strcmp(row->name, "mine") == 0 ||
                  strcmp(row->name, "rewire") == 0; /* the hops do not wait for it */
    if (!beside)
        row->hop_share = row->p50_ms / top->hop_ms;
}

static void add_sink(sf_tool_top *top, const json_t *map)
{
    sf_tool_busy *row = add(top, "sink", map);
    fill_took(row, map);
    row->waiting = whole(map, "ring_fill");
    row->room = whole(map, "ring_size");
    row->lost = whole(map, "dropped") + whole(map, "failed") + whole(map, "spikes_lost");
    row->refused = whole(map, "refused");
}

/* In the order in which spikes go: sources, watching, the way to the windows, the rest of the hop, sinks. */
static void add_rows(sf_tool_top *top, const json_t *map)
{
    const json_t *stages = json_object_get(map, "stages"), *item;
    size_t i;
    json_array_foreach(json_object_get(map, "sources"), i, item) add_source(top, item);
    for (int watch = 1; watch >= 0; watch--) {
        json_array_foreach(stages, i, item)
        {
            const json_t *name = json_object_get(item, "name");
            if (json_is_string(name) && (strcmp(json_string_value(name), "watch") == 0) == watch)
                add_stage(top, item);
        }
        if (watch) {
            sf_tool_busy *row = add(top, "queue", NULL);
            memcpy(row->name, "to the windows", sizeof "to the windows");
            row->busy_ms = NAN;
            row->waiting = whole(map, "window_fill");
            row->room = whole(map, "window_size");
            row->lost = whole(map, "window_dropped");
        }
    }
    json_array_foreach(json_object_get(map, "sinks"), i, item) add_sink(top, item);
}

static void fill(sf_tool_top *top, const json_t *map)
{
    const json_t *latency = json_object_get(map, "latency");
    *top = (sf_tool_top){.spikes = whole(map, "spikes"),
                         .rate_hz = real(map, "rate_hz"),
                         .run_s = real(map, "run_s"),
                         .hop_ms = real(map, "hop_ms"),
                         .latency_p50_ms = real(latency, "p50_ms"),
                         .latency_p99_ms = real(latency, "p99_ms"),
                         .latency_max_ms = real(latency, "max_ms"),
                         .last = json_is_true(json_object_get(map, "last"))};
    text(top->stream, sizeof top->stream, map, "stream");
    top->control_refused = whole(map, "control_refused");
    add_rows(top, map);
    sf_top_since(top, &(sf_tool_top){.run_s = 0});
}

void sf_top_since(sf_tool_top *now, const sf_tool_top *before)
{
    now->since_s = now->run_s - before->run_s;
    for (size_t i = 0; i < now->count; i++) {
        bool same = i < before->count && strcmp(now->rows[i].name, before->rows[i].name) == 0;
        double busy_ms = now->rows[i].busy_ms - (same ? before->rows[i].busy_ms : 0);
        now->rows[i].busy = now->since_s > 0 ? busy_ms * 1e-3 / now->since_s : NAN;
    }
}

/* ---- what came ---- */

/* {"ok":true,"status":...} of a control socket, or the status itself. */
static int take(sf_tool_top *top, const json_t *tree, sf_error *error)
{
    const json_t *ok = json_object_get(tree, "ok"),
                 *status = ok != NULL ? json_object_get(tree, "status") : tree;
    if (json_is_false(ok)) {
        const json_t *why = json_object_get(tree, "error");
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the run refuses: %.200s",
                       json_is_string(why) ? json_string_value(why) : "it does not say why");
    }
    if (json_is_true(ok) && json_is_null(status))
        return SF_AGAIN;
    const json_t *topic = json_object_get(status, "topic");
    if (!json_is_string(topic) || strcmp(json_string_value(topic), "status") != 0)
        return sf_fail(error, SF_DATA, NULL, "what came is no status of a run");
    if (isnan(real(status, "run_s")))
        return sf_fail(error, SF_DATA, NULL, "the run is of an older version: its status has no run_s");
    fill(top, status);
    return SF_OK;
}

int sf_top_read(sf_tool_top *top, const char *bytes, size_t length, sf_error *error)
{
    json_t *tree = length > 0 && bytes[0] == '{' ? json_loadb(bytes, length, 0, NULL) : unpack(bytes, length);
    int status = json_is_object(tree)
                     ? take(top, tree, error)
                     : sf_fail(error, SF_DATA, NULL, "what came is neither JSON nor MessagePack");
    json_decref(tree);
    return status;
}
