/* SPDX-License-Identifier: Apache-2.0 */
#include "core/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sf_json sf_json_start(sf_text *out)
{
    return (sf_json){.out = out};
}

/* How many bytes stand for themselves. */
static size_t plain_length(const char *s)
{
    size_t length = 0;
    while (s[length] >= ' ' && s[length] < 0x7f && s[length] != '"' && s[length] != '\\')
        length++;
    return length;
}

static void quote(sf_text *out, const char *value)
{
    sf_text_append(out, "\"", 1);
    for (const char *s = value; *s != '\0';) {
        size_t plain = plain_length(s), length = sf_utf8_length(s + plain);
        sf_text_append(out, s, plain);
        s += plain;
        if (*s == '\0') break;
        if (length == 0) {
            sf_text_append(out, "\xef\xbf\xbd", 3);
            length = 1;
        } else if (*s == '"' || *s == '\\') {
            sf_text_printf(out, "\\%c", *s);
        } else if (sf_utf8_is_hidden(sf_utf8_code(s, length))) { /* all of them are in the first plane */
            sf_text_printf(out, "\\u%04x", sf_utf8_code(s, length));
        } else {
            sf_text_append(out, s, length);
        }
        s += length;
    }
    sf_text_append(out, "\"", 1);
}

static void begin_value(sf_json *json, const char *key)
{
    if (json->depth > 0) {
        if (json->has_items[json->depth - 1]) sf_text_append(json->out, ",", 1);
        json->has_items[json->depth - 1] = true;
    }
    if (key != NULL) {
        quote(json->out, key);
        sf_text_append(json->out, ":", 1);
    }
}

static void open_level(sf_json *json, const char *key, const char *bracket)
{
    begin_value(json, key);
    sf_text_append(json->out, bracket, 1);
    if (json->depth < SF_JSON_DEPTH)
        json->has_items[json->depth++] = false;
    else
        json->out->failed = true;
}

void sf_json_object(sf_json *json, const char *key)
{
    open_level(json, key, "{");
}

void sf_json_array(sf_json *json, const char *key)
{
    open_level(json, key, "[");
}

void sf_json_end_object(sf_json *json)
{
    json->depth--;
    sf_text_append(json->out, "}", 1);
}

void sf_json_end_array(sf_json *json)
{
    json->depth--;
    sf_text_append(json->out, "]", 1);
}

void sf_json_string(sf_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    if (value != NULL)
        quote(json->out, value);
    else
        sf_text_append(json->out, "null", 4);
}

void sf_json_strings(sf_json *json, const char *key, const char *const *values)
{
    if (values == NULL) {
        sf_json_null(json, key);
        return;
    }
    sf_json_array(json, key);
    for (; *values != NULL; values++)
        sf_json_string(json, NULL, *values);
    sf_json_end_array(json);
}

void sf_json_int(sf_json *json, const char *key, int64_t value)
{
    begin_value(json, key);
    sf_text_scaled(json->out, value, 0);
}

void sf_json_uint(sf_json *json, const char *key, uint64_t value)
{
    begin_value(json, key);
    sf_text_natural(json->out, value);
}

void sf_json_real(sf_json *json, const char *key, double value)
{
    begin_value(json, key);
    if (!isfinite(value)) {
        sf_text_append(json->out, "null", 4);
        return;
    }
    sf_text_real(json->out, value);
}

void sf_json_bool(sf_json *json, const char *key, bool value)
{
    begin_value(json, key);
    sf_text_append(json->out, value ? "true" : "false", value ? 4 : 5);
}

void sf_json_null(sf_json *json, const char *key)
{
    sf_json_string(json, key, NULL);
}

void sf_json_seconds(sf_json *json, const char *key, int64_t time_ns)
{
    begin_value(json, key);
    sf_text_scaled(json->out, time_ns, 9);
}

void sf_json_milliseconds(sf_json *json, const char *key, int64_t time_ns)
{
    begin_value(json, key);
    sf_text_scaled(json->out, time_ns, 6);
}

void sf_json_delays(sf_json *json, const char *key, const sf_delay *delays, size_t count)
{
    sf_json_array(json, key);
    for (size_t i = 0; i < count; i++) {
        sf_json_array(json, NULL);
        sf_json_milliseconds(json, NULL, delays[i].low_ns);
        sf_json_milliseconds(json, NULL, delays[i].high_ns);
        sf_json_end_array(json);
    }
    sf_json_end_array(json);
}
