/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/top.h"

#include "core/error.h"
#include "core/msgpack.h"
#include "core/text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define MOST_DEPTH 8

/* ---- MessagePack as JSON ---- */

static bool take_tree(sf_msgpack *from, int depth, json_t **tree);

static bool take_map(sf_msgpack *from, size_t length, int depth, json_t *map)
{
    for (size_t i = 0; i < length; i += 2) {
        sf_msgpack_value key;
        json_t *value;
        if (!sf_msgpack_take(from, &key) || key.type != SF_MSGPACK_TEXT || !take_tree(from, depth, &value))
            return false;
        json_object_setn_new(map, key.text, key.length, value);
    }
    return true;
}

static bool take_list(sf_msgpack *from, size_t length, int depth, json_t *list)
{
    json_t *item;
    for (size_t i = 0; i < length; i++)
        if (!take_tree(from, depth, &item) || json_array_append_new(list, item) != 0) return false;
    return true;
}

/* Converts a value to JSON; types without a counterpart become null. False if the bytes are damaged, with
 * *tree NULL. */
static bool take_tree(sf_msgpack *from, int depth, json_t **tree)
{
    sf_msgpack_value of;
    bool whole = depth <= MOST_DEPTH && sf_msgpack_take(from, &of);
    *tree = NULL;
    if (!whole) return false;
    if (of.type == SF_MSGPACK_WHOLE)
        *tree = of.is_boolean ? json_boolean(of.whole) : json_integer(of.whole);
    else if (of.type == SF_MSGPACK_REAL)
        *tree = json_real(of.real);
    else if (of.type == SF_MSGPACK_TEXT)
        *tree = json_stringn(of.text, of.length);
    else if (of.type == SF_MSGPACK_MAP)
        whole = (*tree = json_object()) != NULL && take_map(from, of.length, depth + 1, *tree);
    else if (of.type == SF_MSGPACK_LIST)
        whole = (*tree = json_array()) != NULL && take_list(from, of.length, depth + 1, *tree);
    if (whole && *tree == NULL) *tree = json_null();
    if (!whole) {
        json_decref(*tree);
        *tree = NULL;
    }
    return whole;
}

static json_t *unpack(const char *bytes, size_t length)
{
    json_t *tree;
    take_tree(&(sf_msgpack){(const unsigned char *)bytes, (const unsigned char *)bytes + length}, 0, &tree);
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

static sf_top_row *add(sf_top *top, const char *kind, const json_t *map)
{
    static sf_top_row beyond;
    sf_top_row *row = top->count < SF_TOP_ROWS_MAXIMUM ? &top->rows[top->count++] : &beyond;
    *row = (sf_top_row){.kind = kind,
                        .behind_s = NAN,
                        .busy = NAN,
                        .hop_share = NAN,
                        .p50_ms = NAN,
                        .p99_ms = NAN,
                        .max_ms = NAN};
    text(row->name, sizeof row->name, map, "name");
    return row;
}

static void fill_took(sf_top_row *row, const json_t *map)
{
    row->busy_ms = real(map, "busy_ms");
    row->p50_ms = real(map, "p50_ms");
    row->p99_ms = real(map, "p99_ms");
    row->max_ms = real(map, "max_ms");
}

static void add_source(sf_top *top, const json_t *map)
{
    static const char *const losses[] = {"late", "out_of_range", "dropped", "leaps"};
    sf_top_row *row = add(top, "source", map);
    row->busy_ms = NAN;
    row->behind_s = real(map, "behind_s");
    row->waiting = whole(map, "ring_fill");
    row->room = whole(map, "ring_size");
    text(row->authentication, sizeof row->authentication, map, "authentication");
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        row->lost += whole(map, losses[i]);
}

static void add_stage(sf_top *top, const json_t *map)
{
    sf_top_row *row = add(top, "stage", map);
    fill_took(row, map);
    bool beside = strcmp(row->name, "watch") == 0 || strcmp(row->name, "mine") == 0 ||
                  strcmp(row->name, "rewire") == 0; /* the hops do not wait for it */
    if (!beside) row->hop_share = row->p50_ms / top->hop_ms;
}

static void add_sink(sf_top *top, const json_t *map)
{
    sf_top_row *row = add(top, "sink", map);
    fill_took(row, map);
    row->waiting = whole(map, "ring_fill");
    row->room = whole(map, "ring_size");
    row->lost = whole(map, "dropped") + whole(map, "failed") + whole(map, "spikes_lost");
    row->refused = whole(map, "refused");
}

/* Adds rows in the order in which spikes pass: sources, watching, the queue to the windows, the rest of the
 * hop, sinks. */
static void add_rows(sf_top *top, const json_t *map)
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
            sf_top_row *row = add(top, "queue", NULL);
            memcpy(row->name, "to the windows", sizeof "to the windows");
            row->busy_ms = NAN;
            row->waiting = whole(map, "window_fill");
            row->room = whole(map, "window_size");
            row->lost = whole(map, "window_dropped");
        }
    }
    json_array_foreach(json_object_get(map, "sinks"), i, item) add_sink(top, item);
}

static void fill(sf_top *top, const json_t *map)
{
    const json_t *latency = json_object_get(map, "latency");
    *top = (sf_top){.spikes = whole(map, "spikes"),
                    .rate_hz = real(map, "rate_hz"),
                    .run_s = real(map, "run_s"),
                    .hop_ms = real(map, "hop_ms"),
                    .latency_p50_ms = real(latency, "p50_ms"),
                    .latency_p99_ms = real(latency, "p99_ms"),
                    .latency_max_ms = real(latency, "max_ms"),
                    .list_age_s = real(map, "list_age_s"),
                    .list_every_s = real(map, "list_every_s"),
                    .lists_missed = whole(map, "lists_missed"),
                    .last = json_is_true(json_object_get(map, "last"))};
    text(top->stream, sizeof top->stream, map, "stream");
    top->control_refused = whole(map, "control_refused");
    add_rows(top, map);
    sf_top_since(top, &(sf_top){.run_s = 0});
}

void sf_top_since(sf_top *now, const sf_top *before)
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
static int take(sf_top *top, const json_t *tree, sf_error *error)
{
    const json_t *ok = json_object_get(tree, "ok"),
                 *status = ok != NULL ? json_object_get(tree, "status") : tree;
    if (json_is_false(ok)) {
        const json_t *why = json_object_get(tree, "error");
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the run refuses: %.200s",
                       json_is_string(why) ? json_string_value(why) : "it does not say why");
    }
    if (json_is_true(ok) && json_is_null(status)) return SF_AGAIN;
    const json_t *topic = json_object_get(status, "topic");
    if (!json_is_string(topic) || strcmp(json_string_value(topic), "status") != 0)
        return sf_fail(error, SF_DATA, NULL, "what came is no status of a run");
    if (isnan(real(status, "run_s")))
        return sf_fail(error, SF_DATA, NULL, "the run is of an older version: its status has no run_s");
    fill(top, status);
    return SF_OK;
}

int sf_top_read(sf_top *top, const char *bytes, size_t length, sf_error *error)
{
    json_t *tree = length > 0 && bytes[0] == '{' ? json_loadb(bytes, length, 0, NULL) : unpack(bytes, length);
    int status = json_is_object(tree)
                     ? take(top, tree, error)
                     : sf_fail(error, SF_DATA, NULL, "what came is neither JSON nor MessagePack");
    json_decref(tree);
    return status;
}
