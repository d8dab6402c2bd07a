/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live_state.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "density/rows.h"
#include "live/asker.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const of_one_column[] = {"isi", "delay", "rate", NULL}; /* quantities that have a state */

/* ---- answering ---- */

#define ROW sf_density_copy
static const sf_column_row copy_rows[] = {
    SF_MEMBER_IS(TEXT, density, "as asked for: isi UNIT, delay ID or rate UNIT"),
    SF_FIELD_IS(INTEGER, "from_ns", window.start_ns, "start of the newest window", .unit = "ns"),
    SF_FIELD_IS(INTEGER, "to_ns", window.stop_ns, "its end, not included", .unit = "ns"),
    SF_FIELD_IS(COUNT, "n", synopsis.n, "samples in it"),
    SF_MEMBER_IS(COUNT, left_out,
                 "samples outside the range that the run keeps of the quantity; in no answer"),
    SF_FIELD_IS(REAL, "h", synopsis.h, "bandwidth; of isi on the logarithmic axis"),
};
static const sf_table copy_table = {.about = "a density that the run keeps", SF_TABLE_OF(copy_rows)};
#undef ROW

typedef struct aggregate_answer {
    const sf_density_copy *copy;
    const char *op;
    double from, to;
    sf_aggregate got;
} aggregate_answer;

SF_GETTER(get_copy)
{
    sf_value_set_record(value, ((const aggregate_answer *)of)->copy, 0);
}

#define ROW aggregate_answer
static const sf_column_row aggregate_rows[] = {
    SF_COLUMNS_BY(get_copy, &copy_table),
    SF_MEMBER_IS(TEXT, op, "what", .words = sf_aggregate_words),
    SF_MEMBER_IS(REAL, from, "start of the range, in seconds, of rates in Hz", .null = "it is open"),
    SF_MEMBER_IS(REAL, to, "its end, likewise", .null = "it is open"),
    SF_FIELD_IS(REAL, "estimate", got.estimate, "from the density", .null = "nothing lies in the range"),
    SF_FIELD_IS(REAL, "sampling_error", got.sampling_error, "what the number of samples leaves open",
                .null = "nothing lies in the range"),
    SF_FIELD_IS(REAL, "smoothing_error", got.smoothing_error,
                "how much a bandwidth smaller by sqrt 2 changes the answer",
                .null = "nothing lies in the range"),
};
#undef ROW

static const char *domain_name(const void *of)
{
    return sf_domain_words[*(const sf_domain *)of];
}

SF_GETTER(get_phi)
{
    sf_value_set_real(value, (double)((const sf_density_copy *)of)->synopsis.phi[item]);
}

SF_LENGTH(count_phi)
{
    *length = 2 * sf_synopsis_size(&((const sf_density_copy *)of)->synopsis);
    return true;
}

#define ROW sf_density_copy
static const sf_column_row state_rows[] = {
    SF_COLUMNS_BY(sf_column_own_row, &copy_table),
    SF_MEMBER_IS(TEXT, quantity, "of the configuration", .words = of_one_column),
    SF_MEMBER_IS(TEXT, name, "of the unit or link"),
    SF_MEMBER_IS(COUNT, unit, "its index", .null = "it is a link"),
    SF_WORD_IS("domain", synopsis.domain, domain_name,
               "the axis: the quantity, its natural logarithm, or the quantity with its mirror image below 0",
               .words = sf_domain_words),
    SF_FIELD_IS(REAL, "h_least", synopsis.h_least, "under which h does not go"),
    SF_FIELD_IS(TEXT, "method", synopsis.method, "by which h was chosen"),
    SF_FIELD_IS(REAL, "least", synopsis.axes[0].least, "no sample lies below, on the axis"),
    SF_FIELD_IS(REAL, "most", synopsis.axes[0].most, "none lies above"),
    SF_FIELD_IS(REAL, "mean", synopsis.axes[0].mean, "of the samples, on the axis"),
    SF_FIELD_IS(REAL, "variance", synopsis.axes[0].variance, "likewise; divisor n - 1"),
    SF_FIELD_IS(REAL, "period", synopsis.axes[0].period, "P of the frequencies t_k = 2 pi k / P"),
    SF_LIST_BY(REAL, "phi", get_phi, count_phi,
               "mean of exp(i t_k (x - a)) over the samples, real and imaginary part of t_0, t_1, ...; a is "
               "the multiple of P nearest to least"),
};
#undef ROW

SF_GETTER(get_ok)
{
    sf_value_set_flag(value, true);
}

#define OK SF_GOT_BY(FLAG, "ok", get_ok, "it was answered")
static const sf_column_row aggregate_document_rows[] = {
    OK,
    SF_RECORD_BY("aggregate", sf_column_own_row, aggregate_rows, "of a density that the run keeps"),
};
static const sf_column_row state_document_rows[] = {
    OK,
    SF_RECORD_BY("state", sf_column_own_row, state_rows, "a density that the run keeps, without its samples"),
};

const sf_table sf_control_aggregate_document = {.name = "control-aggregate",
                                                .about = "What a control socket answers to aggregate",
                                                SF_TABLE_OF(aggregate_document_rows)};
const sf_table sf_control_state_document = {.name = "control-state",
                                            .about = "What a control socket answers to state",
                                            SF_TABLE_OF(state_document_rows)};

int sf_live_state_answer(sf_text *text, const sf_density_copy *copy, const sf_request *request,
                         sf_error *error)
{
    sf_json json = sf_json_start(text);
    if (request->kind == SF_REQUEST_STATE) {
        sf_table_json_struct(&json, &sf_control_state_document, copy);
        return SF_OK;
    }
    aggregate_answer answer = {.copy = copy,
                               .op = sf_aggregate_words[request->op],
                               .from = request->from,
                               .to = request->to,
                               .got = {.size = sizeof answer.got}};
    int status = sf_synopsis_aggregate(&copy->synopsis, 1, request->op, &request->from, &request->to, 1,
                                       &answer.got, error);
    if (status == SF_OK) sf_table_json_struct(&json, &sf_control_aggregate_document, &answer);
    return status;
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
    return sf_domain_of_word(name);
}

static int take_phi(sf_synopsis *s, const json_t *list, sf_error *error)
{
    size_t count = json_array_size(list);
    if (count < 4 || count % 2 != 0 || count / 2 - 1 > SF_SYNOPSIS_MOST_MODES)
        return sf_fail(error, SF_DATA, NULL, "`phi` has %zu numbers, expected two for each frequency", count);
    s->axes[0].modes = count / 2 - 1;
    s->phi = sf_resize(NULL, count, sizeof *s->phi);
    if (s->phi == NULL) return sf_fail_memory(error);
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
    if (status != SF_OK) sf_state_free(state);
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
    if (status == SF_OK) status = sf_asker_send(&asker, &request, error);
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
