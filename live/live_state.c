/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live_state.h"

#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"
#include "live/asker.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const domains[] = {
    [SF_DOMAIN_LINE] = "line", [SF_DOMAIN_LOG] = "log", [SF_DOMAIN_REFLECT] = "reflect"};
enum { DOMAINS = sizeof domains / sizeof domains[0] };

/* ---- answering ---- */

static void tell_about(sf_json *json, const sf_density_copy *copy)
{
    sf_json_string(json, "density", copy->density);
    sf_json_int(json, "from_ns", copy->window.start_ns);
    sf_json_int(json, "to_ns", copy->window.stop_ns);
    sf_json_uint(json, "n", copy->synopsis.n);
    sf_json_uint(json, "left_out", copy->left_out);
    sf_json_real(json, "h", copy->synopsis.h);
}

static void tell_aggregate(sf_json *json, const sf_density_copy *copy, const sf_request *request,
                           const sf_aggregate *answer)
{
    sf_json_object(json, "aggregate");
    tell_about(json, copy);
    sf_json_string(json, "op", sf_request_op(request->op));
    sf_json_real(json, "from", request->from);
    sf_json_real(json, "to", request->to);
    sf_json_real(json, "estimate", answer->estimate);
    sf_json_real(json, "sampling_error", answer->sampling_error);
    sf_json_real(json, "smoothing_error", answer->smoothing_error);
    sf_json_end_object(json);
}

static void tell_state(sf_json *json, const sf_density_copy *copy)
{
    const sf_synopsis *s = &copy->synopsis;
    const sf_synopsis_axis *axis = &s->axes[0];
    sf_json_object(json, "state");
    tell_about(json, copy);
    sf_json_string(json, "quantity", copy->quantity);
    sf_json_string(json, "name", copy->name);
    if (copy->unit >= 0)
        sf_json_int(json, "unit", copy->unit);
    else
        sf_json_null(json, "unit");
    sf_json_string(json, "domain", domains[s->domain]);
    sf_json_real(json, "h_least", s->h_least);
    sf_json_string(json, "method", s->method);
    sf_json_real(json, "least", axis->least);
    sf_json_real(json, "most", axis->most);
    sf_json_real(json, "mean", axis->mean);
    sf_json_real(json, "variance", axis->variance);
    sf_json_real(json, "period", axis->period);
    sf_json_array(json, "phi");
    for (size_t k = 0; k < 2 * sf_synopsis_size(s); k++)
        sf_json_real(json, NULL, (double)s->phi[k]);
    sf_json_end_array(json);
    sf_json_end_object(json);
}

int sf_live_state_answer(sf_text *text, const sf_density_copy *copy, const sf_request *request,
                         sf_error *error)
{
    sf_aggregate answer = {.size = sizeof answer};
    int status = SF_OK;
    if (request->kind == SF_REQUEST_AGGREGATE)
        status = sf_synopsis_aggregate(&copy->synopsis, 1, request->op, &request->from, &request->to, 1,
                                       &answer, error);
    if (status != SF_OK)
        return status;
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_bool(&json, "ok", true);
    if (request->kind == SF_REQUEST_AGGREGATE)
        tell_aggregate(&json, copy, request, &answer);
    else
        tell_state(&json, copy);
    sf_json_end_object(&json);
    return SF_OK;
}

/* ---- reading ---- */

static double real(const json_t *map, const char *key)
{
    return json_number_value(json_object_get(map, key)); /* 0 where there is none, which no state has */
}

static void text(char *into, size_t size, const json_t *map, const char *key)
{
    const json_t *value = json_object_get(map, key);
    snprintf(into, size, "%s", json_is_string(value) ? json_string_value(value) : "");
}

static sf_domain domain_of(const json_t *map)
{
    char name[16];
    text(name, sizeof name, map, "domain");
    size_t found = 0;
    while (found < DOMAINS && strcmp(name, domains[found]) != 0)
        found++;
    return (sf_domain)found; /* one more than the last is refused by the check */
}

static int take_phi(sf_synopsis *s, const json_t *list, sf_error *error)
{
    size_t count = json_array_size(list);
    if (count < 4 || count % 2 != 0 || count / 2 - 1 > SF_SYNOPSIS_MOST_MODES)
        return sf_fail(error, SF_DATA, NULL, "`phi` has %zu numbers, expected two for each frequency", count);
    s->axes[0].modes = count / 2 - 1;
    s->phi = sf_resize(NULL, count, sizeof *s->phi);
    if (s->phi == NULL)
        return sf_fail_memory(error);
    for (size_t k = 0; k < count; k++) {
        const json_t *number = json_array_get(list, k);
        s->phi[k] = json_is_number(number) ? (float)json_number_value(number) : NAN;
    }
    return SF_OK;
}

static int take_state(sf_state *state, const json_t *map, sf_error *error)
{
    const json_t *n = json_object_get(map, "n"), *unit = json_object_get(map, "unit");
    sf_synopsis *s = &state->synopsis;
    text(state->quantity, sizeof state->quantity, map, "quantity");
    text(state->name, sizeof state->name, map, "name");
    state->unit =
        json_is_integer(unit) && json_integer_value(unit) >= 0 && json_integer_value(unit) < UINT32_MAX
            ? json_integer_value(unit)
            : -1;
    *s = (sf_synopsis){.n = json_integer_value(n) > 0 ? (uint64_t)json_integer_value(n) : 0,
                       .d = 1,
                       .domain = domain_of(map),
                       .h = real(map, "h"),
                       .h_least = real(map, "h_least")};
    text(s->method, sizeof s->method, map, "method");
    s->axes[0] = (sf_synopsis_axis){.least = real(map, "least"),
                                    .most = real(map, "most"),
                                    .mean = real(map, "mean"),
                                    .variance = real(map, "variance"),
                                    .period = real(map, "period")};
    int status = take_phi(s, json_object_get(map, "phi"), error);
    return status == SF_OK ? sf_synopsis_check(s, error) : status;
}

static int take(sf_state *state, const json_t *tree, sf_error *error)
{
    const json_t *ok = json_object_get(tree, "ok"), *map = json_object_get(tree, "state");
    if (json_is_false(ok)) {
        const json_t *why = json_object_get(tree, "error");
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the run refuses: %.200s",
                       json_is_string(why) ? json_string_value(why) : "it does not say why");
    }
    if (!json_is_true(ok) || !json_is_object(map))
        return sf_fail(error, SF_DATA, NULL, "what came is no state of a run's density");
    return take_state(state, map, error);
}

int sf_live_state_read(sf_state *state, const char *bytes, size_t length, sf_error *error)
{
    *state = (sf_state){0};
    json_t *tree = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, NULL);
    int status =
        tree != NULL ? take(state, tree, error) : sf_fail(error, SF_DATA, NULL, "what came is no JSON");
    json_decref(tree);
    if (status != SF_OK)
        sf_state_free(state);
    return status;
}

/* ---- asking ---- */

static int receive(void *user, const char *bytes, size_t length, sf_error *error)
{
    return sf_live_state_read(user, bytes, length, error);
}

int sf_live_state_ask(sf_state *state, const char *endpoint, const sf_live_state_asking *asking,
                      sf_error *error)
{
    sf_asker asker = {0};
    sf_text request = {0};
    sf_error reason = {0};
    *state = (sf_state){0};
    int status = sf_asker_request(&request, asking->token_file, "state", "density", asking->density, error);
    if (status == SF_OK)
        status =
            sf_asker_open(&asker, endpoint, NULL, &(sf_curve_client){asking->key, asking->server_key}, error);
    if (status == SF_OK)
        status = sf_asker_send(&asker, &request, error);
    if (status == SF_OK) {
        status = sf_asker_receive(&asker, asking->timeout_ms, receive, state, &reason);
        if (status == SF_AGAIN)
            status = sf_fail(error, SF_UNAVAILABLE, endpoint, "no answer came within %g s: is a run there?",
                             asking->timeout_ms * 1e-3);
        else if (status != SF_OK)
            sf_fail(error, (sf_status)status, endpoint, "%s", reason.text);
    }
    sf_asker_close(&asker);
    sf_text_free(&request);
    return status;
}
