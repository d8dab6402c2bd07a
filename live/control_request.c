/* SPDX-License-Identifier: Apache-2.0 */
#include "live/control_request.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "core/text.h"
#include "density/rows.h"
#include "io/file.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const commands[] = {"status", "arm",    "disarm", "mark",      "stop",
                                       "start",  "reload", "renew",  "aggregate", "state"};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

bool sf_token_is(const char *given, size_t length, const char *token)
{
    size_t expected = strlen(token);
    unsigned difference = length != expected;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)given[i] ^ (unsigned char)token[i < expected ? i : 0];
    return difference == 0;
}

static int take_text(char *into, size_t size, const char *key, const json_t *value, sf_error *error)
{
    if (!json_is_string(value) || json_string_length(value) >= size ||
        strlen(json_string_value(value)) != json_string_length(value))
        return sf_fail(error, SF_USAGE, key, "expected a text of at most %zu bytes", size - 1);
    snprintf(into, size, "%s", json_string_value(value));
    return SF_OK;
}

static int take_command(sf_request *request, const json_t *value, sf_error *error)
{
    for (int i = 0; json_is_string(value) && i < COMMANDS; i++)
        if (strcmp(json_string_value(value), commands[i]) == 0) {
            request->kind = (sf_request_kind)i;
            return SF_OK;
        }
    return sf_fail(error, SF_USAGE, "command",
                   "expected status, arm, renew, disarm, mark, aggregate, state, stop, start or reload");
}

static int take_seconds(sf_request *request, const json_t *value, sf_error *error)
{
    request->seconds = json_number_value(value);
    if (json_is_number(value) && request->seconds > 0 && request->seconds <= 1e6) return SF_OK;
    return sf_fail(error, SF_USAGE, "seconds", "expected a number over 0, up to 1000000");
}

static int take_op(sf_request *request, const json_t *value, sf_error *error)
{
    for (int i = 0; json_is_string(value) && sf_aggregate_words[i] != NULL; i++)
        if (strcmp(json_string_value(value), sf_aggregate_words[i]) == 0) {
            request->op = (sf_aggregate_kind)i;
            return SF_OK;
        }
    return sf_fail(error, SF_USAGE, "op", "expected count, sum, avg or var");
}

static int take_end(double *end, const char *key, const json_t *value, sf_error *error)
{
    if (!json_is_number(value))
        return sf_fail(error, SF_USAGE, key, "expected a number, in the unit of the quantity");
    *end = json_number_value(value);
    return SF_OK;
}

/* Which of the commands a key is for. */
static bool goes_with(const char *key, sf_request_kind kind)
{
    if (strcmp(key, "density") == 0) return kind == SF_REQUEST_AGGREGATE || kind == SF_REQUEST_STATE;
    if (strcmp(key, "op") == 0 || strcmp(key, "from") == 0 || strcmp(key, "to") == 0)
        return kind == SF_REQUEST_AGGREGATE;
    if (strcmp(key, "trigger") == 0)
        return kind == SF_REQUEST_ARM || kind == SF_REQUEST_RENEW || kind == SF_REQUEST_DISARM;
    if (strcmp(key, "seconds") == 0) return kind == SF_REQUEST_ARM || kind == SF_REQUEST_RENEW;
    return strcmp(key, "text") == 0 && kind == SF_REQUEST_MARK;
}

static int take_key(sf_request *request, const char *key, const json_t *value, sf_error *error)
{
    if (strcmp(key, "token") == 0 || strcmp(key, "command") == 0) return SF_OK;
    if (!goes_with(key, request->kind))
        return sf_fail(error, SF_USAGE, NULL, "there is no key '%.40s' for %s", key, commands[request->kind]);
    if (strcmp(key, "seconds") == 0) return take_seconds(request, value, error);
    if (strcmp(key, "op") == 0) return take_op(request, value, error);
    if (strcmp(key, "from") == 0) return take_end(&request->from, key, value, error);
    if (strcmp(key, "to") == 0) return take_end(&request->to, key, value, error);
    if (strcmp(key, "density") == 0)
        return take_text(request->density, sizeof request->density, key, value, error);
    if (strcmp(key, "trigger") == 0)
        return take_text(request->trigger, sizeof request->trigger, key, value, error);
    return take_text(request->text, sizeof request->text, key, value, error);
}

static int check_density(const sf_request *request, sf_error *error)
{
    bool asks = goes_with("density", request->kind);
    if (asks && request->density[0] == '\0')
        return sf_fail(error, SF_USAGE, "density", "is missing: expected one of the run, as \"isi A\"");
    if (asks && !(request->from < request->to))
        return sf_fail(error, SF_USAGE, "from", "found %g and for `to` %g, expected from < to", request->from,
                       request->to);
    return SF_OK;
}

void sf_wrong_token(sf_wrong_tokens *wrong, const char *what)
{
    uint64_t count = atomic_fetch_add(&wrong->count, 1) + 1;
    int64_t now_ns = sf_clock_monotonic_ns(), logged_ns = atomic_load(&wrong->logged_ns);
    if ((logged_ns == 0 || now_ns - logged_ns >= SF_SECOND) &&
        atomic_compare_exchange_strong(&wrong->logged_ns, &logged_ns, now_ns))
        sf_log(SF_LOG_WARNING, "%s; %" PRIu64 " so far", what, count);
}

static int read_request(sf_request *request, json_t *map, const char *token, sf_error *error)
{
    const json_t *given = json_object_get(map, "token");
    const char *text = json_is_string(given) ? json_string_value(given) : "";
    if (!sf_token_is(text, json_is_string(given) ? json_string_length(given) : 0, token))
        return sf_fail(error, SF_UNAVAILABLE, NULL, SF_REQUEST_WRONG_TOKEN);
    int status = take_command(request, json_object_get(map, "command"), error);
    const char *key;
    json_t *value;
    request->from = -INFINITY;
    request->to = INFINITY;
    json_object_foreach(map, key, value) if (status == SF_OK) status = take_key(request, key, value, error);
    if (status == SF_OK && request->kind == SF_REQUEST_MARK && request->text[0] == '\0')
        status = sf_fail(error, SF_USAGE, "text", "is missing: expected the text of the mark");
    return status == SF_OK ? check_density(request, error) : status;
}

int sf_request_parse(sf_request *request, const char *bytes, size_t length, const char *token,
                     sf_error *error)
{
    *request = (sf_request){0};
    json_error_t reason;
    json_t *map =
        length <= SF_REQUEST_MOST ? json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &reason) : NULL;
    int status =
        json_is_object(map)
            ? read_request(request, map, token, error)
            : sf_fail(error, SF_USAGE, NULL, "expected one JSON object of at most %d bytes", SF_REQUEST_MOST);
    json_decref(map);
    return status;
}

int sf_token_read(char token[SF_TOKEN_MOST + 1], const char *path, sf_error *error)
{
    sf_text text = {0};
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK) status = sf_file_check_secret(path, "the token", error);
    size_t length = text.data != NULL ? strcspn(text.data, "\r\n") : 0;
    if (status == SF_OK && (length < SF_TOKEN_LEAST || length > SF_TOKEN_MOST))
        status = sf_fail(error, SF_CONFIG, path, "found a token of %zu bytes, expected %d to %d", length,
                         SF_TOKEN_LEAST, SF_TOKEN_MOST);
    if (status == SF_OK) snprintf(token, SF_TOKEN_MOST + 1, "%.*s", (int)length, text.data);
    sf_text_free(&text);
    return status;
}
