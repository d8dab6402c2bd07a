/* SPDX-License-Identifier: Apache-2.0 */
#include "core/json.h"
#include "core/message_fields.h"

static void map(void *to, const char *key, size_t fields)
{
    (void)fields;
    sf_json_object(to, key);
}

static void end_map(void *to)
{
    sf_json_end_object(to);
}

static void list(void *to, const char *key, size_t items)
{
    (void)items;
    sf_json_array(to, key);
}

static void end_list(void *to)
{
    sf_json_end_array(to);
}

static void string(void *to, const char *key, const char *value)
{
    sf_json_string(to, key, value);
}

static void integer(void *to, const char *key, int64_t value)
{
    sf_json_int(to, key, value);
}

static void natural(void *to, const char *key, uint64_t value)
{
    sf_json_uint(to, key, value);
}

static void real(void *to, const char *key, double value)
{
    sf_json_real(to, key, value);
}

static void boolean(void *to, const char *key, bool value)
{
    sf_json_bool(to, key, value);
}

static void seconds(void *to, const char *key, int64_t time_ns)
{
    sf_json_seconds(to, key, time_ns);
}

static void milliseconds(void *to, const char *key, int64_t time_ns)
{
    sf_json_milliseconds(to, key, time_ns);
}

void sf_message_to_json(sf_text *text, const sf_message *message, const sf_stream_info *stream)
{
    static const sf_encoding json = {
        .map = map,
        .end_map = end_map,
        .list = list,
        .end_list = end_list,
        .string = string,
        .integer = integer,
        .natural = natural,
        .real = real,
        .boolean = boolean,
        .seconds = seconds,
        .milliseconds = milliseconds,
    };
    sf_json writer = sf_json_start(text);
    sf_message_tell(message, stream, &json, &writer);
}
