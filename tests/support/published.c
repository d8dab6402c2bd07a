/* SPDX-License-Identifier: Apache-2.0 */
#include "support/published.h"

#include "support/support.h"

#include <math.h>
#include <msgpack.h>

/* ---- parsing ---- */

json_t *test_parse_json(const char *text, size_t length)
{
    json_error_t error;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (value == NULL) fail_msg("not JSON: %s at %d in %.*s", error.text, error.position, (int)length, text);
    return value;
}

static json_t *from_msgpack(const msgpack_object *object)
{
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
        return json_null();
    case MSGPACK_OBJECT_BOOLEAN:
        return json_boolean(object->via.boolean);
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return json_integer((json_int_t)object->via.u64);
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return json_integer(object->via.i64);
    case MSGPACK_OBJECT_FLOAT64:
        return json_real(object->via.f64);
    case MSGPACK_OBJECT_STR:
        return json_stringn(object->via.str.ptr, object->via.str.size);
    case MSGPACK_OBJECT_ARRAY: {
        json_t *array = json_array();
        for (uint32_t i = 0; i < object->via.array.size; i++)
            json_array_append_new(array, from_msgpack(&object->via.array.ptr[i]));
        return array;
    }
    case MSGPACK_OBJECT_MAP: {
        json_t *map = json_object();
        for (uint32_t i = 0; i < object->via.map.size; i++) {
            const msgpack_object_kv *field = &object->via.map.ptr[i];
            assert_int_equal(field->key.type, MSGPACK_OBJECT_STR);
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)field->key.via.str.size, field->key.via.str.ptr);
            assert_null(json_object_get(map, key));
            json_object_set_new(map, key, from_msgpack(&field->val));
        }
        return map;
    }
    default:
        fail_msg("MessagePack type %d is not expected", (int)object->type);
        return NULL;
    }
}

json_t *test_parse_msgpack(const void *data, size_t length)
{
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t used = 0;
    assert_int_equal(msgpack_unpack_next(&unpacked, data, length, &used), MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(used, length);
    json_t *value = from_msgpack(&unpacked.data);
    msgpack_unpacked_destroy(&unpacked);
    return value;
}

/* ---- comparing ---- */

/* A map whose fields are taken one by one; at the end none may be left. */
typedef struct fields {
    const json_t *map;
    size_t taken;
} fields;

static const json_t *take(fields *from, const char *key)
{
    const json_t *value = json_object_get(from->map, key);
    if (value == NULL) fail_msg("there is no field %s", key);
    from->taken++;
    return value;
}

static void all_taken(const fields *from)
{
    assert_int_equal(json_object_size(from->map), from->taken);
}

static const json_t *take_list(fields *from, const char *key, size_t count)
{
    const json_t *list = take(from, key);
    assert_true(json_is_array(list));
    assert_int_equal(json_array_size(list), count);
    return list;
}

static void is_integer(const json_t *value, int64_t expected)
{
    assert_true(json_is_integer(value));
    assert_int_equal(json_integer_value(value), expected);
}

static void is_string(const json_t *value, const char *expected)
{
    assert_true(json_is_string(value));
    assert_string_equal(json_string_value(value), expected);
}

/* A sentence, or null. */
static void is_reason(const json_t *value, const char *expected)
{
    if (expected == NULL)
        assert_true(json_is_null(value));
    else
        is_string(value, expected);
}

/* Of a text that is null where it is empty. */
static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void is_real(const json_t *value, double expected)
{
    if (!isfinite(expected)) {
        assert_true(json_is_null(value));
        return;
    }
    assert_true(json_is_number(value));
    if (json_number_value(value) != expected)
        fail_msg("%.17g is not %.17g", json_number_value(value), expected);
}

/* Decimal text and a double divide by the scale in different places: they may differ by one rounding. */
static void is_scaled(const json_t *value, int64_t time_ns, double scale)
{
    assert_true(json_is_number(value));
    double expected = (double)time_ns / scale;
    if (fabs(json_number_value(value) - expected) > 4e-16 * fabs(expected))
        fail_msg("%.17g is not %.17g", json_number_value(value), expected);
}

static void is_boolean(const json_t *value, bool expected)
{
    assert_true(json_is_boolean(value));
    assert_int_equal(json_is_true(value), expected);
}

static void check_window(fields *from, const sf_span *window)
{
    is_integer(take(from, "from_ns"), window->start_ns);
    is_integer(take(from, "to_ns"), window->stop_ns);
    is_scaled(take(from, "from_s"), window->start_ns, 1e9);
    is_scaled(take(from, "to_s"), window->stop_ns, 1e9);
}

static void check_delay(const json_t *pair, const sf_delay *delay)
{
    assert_int_equal(json_array_size(pair), 2);
    is_scaled(json_array_get(pair, 0), delay->low_ns, 1e6);
    is_scaled(json_array_get(pair, 1), delay->high_ns, 1e6);
}

static void check_numbers(const json_t *list, const uint32_t *expected)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        is_integer(json_array_get(list, i), expected[i]);
}

static void check_names(const json_t *list, const uint32_t *expected, const sf_units *units)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        is_string(json_array_get(list, i), units->items[expected[i]].name);
}

static void check_reals(const json_t *list, const double *expected)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        is_real(json_array_get(list, i), expected[i]);
}

static void check_verdict(fields *from, double p, double q, double p_age_s, const char *reason)
{
    is_real(take(from, "p"), p);
    is_real(take(from, "q"), q);
    is_real(take(from, "p_age_s"), p_age_s);
    is_reason(take(from, "not_tested"), reason);
}

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void check_count(const json_t *map, const sf_episode_count *item, const sf_units *units)
{
    fields from = {.map = map};
    const sf_episode *episode = &item->episode;
    is_string(take(&from, "id"), item->id);
    check_numbers(take_list(&from, "units", episode->size), episode->units);
    check_names(take_list(&from, "names", episode->size), episode->units, units);
    const json_t *delays = take_list(&from, "delays_ms", episode->size - 1);
    for (uint32_t i = 0; i + 1 < episode->size; i++)
        check_delay(json_array_get(delays, i), &episode->delays[i]);
    is_integer(take(&from, "count"), (int64_t)item->count);
    is_real(take(&from, "expected"), item->expected);
    check_verdict(&from, item->p, item->q, item->p_age_s, item->not_tested);
    is_integer(take(&from, "tests"), (int64_t)item->tests);
    is_real(take(&from, "least_q"), item->least_q);
    is_integer(take(&from, "standing"), (int64_t)item->standing);
    is_reason(take(&from, "folded_under"), text_or_null(item->folded_under));
    all_taken(&from);
}

static void check_prediction(const json_t *map, const sf_prediction *rule)
{
    fields from = {.map = map};
    is_string(take(&from, "rule"), rule->rule);
    is_string(take(&from, "id"), rule->id);
    is_integer(take(&from, "count"), (int64_t)rule->count);
    is_reason(take(&from, "label"), text_or_null(rule->label));
    is_boolean(take(&from, "changed"), rule->changed);
    is_reason(take(&from, "before"), text_or_null(rule->before));
    all_taken(&from);
}

static void check_left_out(fields *from, const sf_left_out *left_out)
{
    const json_t *map = take(from, "left_out");
    if (left_out->max_p <= 0 && left_out->max_q <= 0) {
        assert_true(json_is_null(map));
        return;
    }
    fields inside = {.map = map};
    is_real(take(&inside, "max_p"), left_out->max_p > 0 ? left_out->max_p : NAN);
    is_real(take(&inside, "max_q"), left_out->max_q > 0 ? left_out->max_q : NAN);
    is_integer(take(&inside, "count"), (int64_t)left_out->count);
    is_integer(take(&inside, "untested"), (int64_t)left_out->untested);
    all_taken(&inside);
}

static void check_episodes(fields *from, const sf_episodes_message *episodes, const sf_units *units)
{
    is_integer(take(from, "hop"), (int64_t)episodes->hop);
    check_window(from, &episodes->window);
    is_boolean(take(from, "partial"), episodes->partial);
    is_integer(take(from, "spikes"), (int64_t)episodes->spikes);
    const json_t *list = take_list(from, "episodes", episodes->count);
    for (size_t i = 0; i < episodes->count; i++)
        check_count(json_array_get(list, i), &episodes->items[i], units);
    is_integer(take(from, "counted"), (int64_t)episodes->counted);
    is_integer(take(from, "chains"), (int64_t)episodes->chains);
    is_integer(take(from, "significant_parts"), (int64_t)episodes->parts);
    list = take_list(from, "rules", episodes->rule_count);
    for (size_t i = 0; i < episodes->rule_count; i++)
        check_prediction(json_array_get(list, i), &episodes->rules[i]);
    check_left_out(from, &episodes->left_out);
    is_real(take(from, "list_age_s"), episodes->list_age_s);
}

static void check_trigger(fields *from, const sf_trigger_message *trigger)
{
    is_string(take(from, "name"), trigger->name);
    is_integer(take(from, "decided_ns"), trigger->decided_ns);
    is_reason(take(from, "id"), text_or_null(trigger->id));
    is_integer(take(from, "occurrence"), (int64_t)trigger->occurrence);
    const json_t *times = take_list(from, "spike_times_ns", trigger->size);
    for (uint32_t i = 0; i < trigger->size; i++)
        is_integer(json_array_get(times, i), trigger->spike_times_ns[i]);
    check_verdict(from, trigger->p, trigger->q, trigger->p_age_s, trigger->not_tested);
    is_integer(take(from, "tests"), (int64_t)trigger->tests);
    is_real(take(from, "least_q"), trigger->least_q);
}

static void check_decision(fields *from, const sf_decision_message *decision)
{
    is_string(take(from, "name"), decision->name);
    is_reason(take(from, "id"), text_or_null(decision->id));
    is_integer(take(from, "occurrence"), (int64_t)decision->occurrence);
    is_reason(take(from, "outcome"), decision->outcome);
    is_reason(take(from, "reason"), decision->reason);
    const json_t *seq = take(from, "trigger_seq");
    if (decision->trigger_seq == 0)
        assert_true(json_is_null(seq));
    else
        is_integer(seq, (int64_t)decision->trigger_seq);
    is_integer(take(from, "decided_ns"), decision->decided_ns);
    is_real(take(from, "wait_ms"), decision->wait_ms);
}

static void check_delivery(fields *from, const sf_delivery_message *delivery)
{
    is_string(take(from, "name"), delivery->name);
    is_integer(take(from, "trigger_seq"), (int64_t)delivery->trigger_seq);
    is_string(take(from, "sink"), delivery->sink);
    is_reason(take(from, "outcome"), delivery->outcome);
    is_integer(take(from, "sent_ns"), delivery->sent_ns);
    is_real(take(from, "latency_ms"), delivery->latency_ms);
}

static void check_features(fields *from, const sf_features_message *features)
{
    is_integer(take(from, "bin"), (int64_t)features->bin);
    is_integer(take(from, "from_ns"), features->window.start_ns);
    is_integer(take(from, "to_ns"), features->window.stop_ns);
    is_boolean(take(from, "partial"), features->partial);
    is_boolean(take(from, "lost"), features->lost);
    const json_t *values = take_list(from, "values", features->count);
    for (size_t i = 0; i < features->count; i++)
        is_integer(json_array_get(values, i), features->values[i]);
}

static void check_burst(fields *from, const sf_burst_message *burst)
{
    is_string(take(from, "event"), burst->event);
    is_integer(take(from, "burst"), (int64_t)burst->burst);
    is_integer(take(from, "first_ns"), burst->first_ns);
    is_integer(take(from, "last_ns"), burst->last_ns);
    is_integer(take(from, "spikes"), (int64_t)burst->spikes);
    is_integer(take(from, "units"), (int64_t)burst->units);
}

static void check_response_counts(fields *from, const sf_response_unit *unit)
{
    is_integer(take(from, "spikes"), (int64_t)unit->spikes);
    is_integer(take(from, "baseline_spikes"), (int64_t)unit->baseline_spikes);
    is_real(take(from, "reliability"), unit->reliability);
    is_real(take(from, "baseline_reliability"), unit->baseline_reliability);
    is_real(take(from, "latency_ms"), unit->latency_ms);
    is_real(take(from, "jitter_ms"), unit->jitter_ms);
    const json_t *bins = take_list(from, "bins", unit->bin_count);
    for (size_t i = 0; i < unit->bin_count; i++)
        is_integer(json_array_get(bins, i), (int64_t)unit->bins[i]);
    all_taken(from);
}

static void check_response_unit(const json_t *object, const sf_response_unit *unit)
{
    fields from = {.map = object};
    is_integer(take(&from, "unit"), unit->unit);
    take(&from, "name");
    check_response_counts(&from, unit);
}

static void check_response_chain(const json_t *object, const sf_response_chain *chain)
{
    fields from = {.map = object};
    is_string(take(&from, "id"), chain->id);
    is_string(take(&from, "name"), chain->name);
    check_response_counts(&from, &chain->counts);
}

static void check_response(fields *from, const sf_response_message *response)
{
    is_string(take(from, "marker"), response->marker);
    is_integer(take(from, "marker_ns"), response->marker_ns);
    is_integer(take(from, "trials"), (int64_t)response->trials);
    is_integer(take(from, "markers"), (int64_t)response->markers);
    is_real(take(from, "exposed"), response->exposed);
    is_integer(take(from, "spikes"), (int64_t)response->spikes);
    is_integer(take(from, "baseline_spikes"), (int64_t)response->baseline_spikes);
    is_integer(take(from, "answers"), (int64_t)response->answers);
    is_scaled(take(from, "exposed_s"), response->exposed_ns, 1e9);
    is_integer(take(from, "baseline_windows"), (int64_t)response->baseline_windows);
    is_scaled(take(from, "from_ms"), response->first_ns, 1e6);
    is_scaled(take(from, "bin_ms"), response->bin_ns, 1e6);
    const json_t *exposed = take_list(from, "bins_exposed_ns", response->bin_count);
    for (size_t i = 0; i < response->bin_count; i++)
        is_integer(json_array_get(exposed, i), response->bin_exposed_ns[i]);
    const json_t *units = take_list(from, "units", response->unit_count);
    for (size_t i = 0; i < response->unit_count; i++)
        check_response_unit(json_array_get(units, i), &response->units[i]);
    const json_t *chains = take_list(from, "chains", response->chain_count);
    for (size_t i = 0; i < response->chain_count; i++)
        check_response_chain(json_array_get(chains, i), &response->chains[i]);
}

static void check_features_names(fields *from, const sf_features_names_message *names)
{
    is_scaled(take(from, "bin_ms"), names->bin_ns, 1e6);
    is_integer(take(from, "units"), (int64_t)names->units);
    is_integer(take(from, "episodes"), (int64_t)names->episodes);
    is_integer(take(from, "edges"), (int64_t)names->edges);
    const json_t *list = take_list(from, "names", names->count);
    for (size_t i = 0; i < names->count; i++)
        is_string(json_array_get(list, i), names->names[i]);
}

static void is_known(const json_t *value, int64_t count)
{
    if (count < 0)
        assert_true(json_is_null(value));
    else
        is_integer(value, count);
}

static void check_density(fields *from, const sf_density_message *density)
{
    check_window(from, &density->window);
    is_string(take(from, "quantity"), density->quantity);
    is_real(take(from, "h"), density->h);
    is_real(take(from, "outside"), density->outside);
    fields grid = {.map = take(from, "grid")};
    is_string(take(&grid, "axis"), density->log_axis ? "log" : "linear");
    is_real(take(&grid, "start"), density->grid_start);
    is_real(take(&grid, "step"), density->grid_step);
    is_integer(take(&grid, "count"),
               (int64_t)(density->rows > 0 ? density->count / density->rows : density->count));
    bool plane = density->rows > 0;
    is_real(take(&grid, "row_start"), plane ? density->row_start : NAN);
    is_real(take(&grid, "row_step"), plane ? density->row_step : NAN);
    is_known(take(&grid, "rows"), plane ? (int64_t)density->rows : -1);
    all_taken(&grid);
    check_reals(take_list(from, "values", density->count), density->values);
}

static void check_edge(const json_t *map, const sf_edge_change *edge, bool is_tiling, const sf_units *units)
{
    fields from = {.map = map};
    is_integer(take(&from, "from"), edge->from);
    is_integer(take(&from, "to"), edge->to);
    is_string(take(&from, "from_name"), units->items[edge->from].name);
    is_string(take(&from, "to_name"), units->items[edge->to].name);
    check_delay(take(&from, "delay_ms"), &edge->delay);
    const json_t *count = take(&from, "count");
    if (is_tiling)
        assert_true(json_is_null(count));
    else
        is_integer(count, (int64_t)edge->count);
    is_real(take(&from, "expected"), edge->expected);
    is_real(take(&from, "weight"), edge->weight);
    check_verdict(&from, edge->p, edge->q, edge->p_age_s, edge->not_tested);
    is_real(take(&from, "least_q"), edge->least_q);
    is_boolean(take(&from, "removed"), edge->removed);
    all_taken(&from);
}

static void check_reach(const json_t *map, const sf_reach_result *reach, const sf_units *units)
{
    fields from = {.map = map};
    is_integer(take(&from, "source"), reach->source);
    is_string(take(&from, "source_name"), units->items[reach->source].name);
    check_names(take_list(&from, "names", reach->count), reach->units, units);
    check_numbers(take_list(&from, "units", reach->count), reach->units);
    check_numbers(take_list(&from, "levels", reach->count), reach->levels);
    const json_t *parents = take_list(&from, "parents", reach->count);
    for (size_t i = 0; i < reach->count; i++)
        is_integer(json_array_get(parents, i),
                   reach->parents[i] == SF_NO_UNIT ? -1 : (int64_t)reach->parents[i]);
    const json_t *delays = take_list(&from, "delays_ms", reach->count);
    for (size_t i = 0; i < reach->count; i++)
        check_delay(json_array_get(delays, i), &reach->delays[i]);
    all_taken(&from);
}

static void check_reach_all(const json_t *map, const sf_reach_counts *counts, size_t units)
{
    if (counts->reached == NULL) {
        assert_true(json_is_null(map));
        return;
    }
    fields from = {.map = map};
    check_numbers(take_list(&from, "reached", units), counts->reached);
    check_numbers(take_list(&from, "depth", units), counts->depth);
    all_taken(&from);
}

static void check_components(const json_t *map, const sf_components_result *components, size_t units)
{
    if (components->of_unit == NULL) {
        assert_true(json_is_null(map));
        return;
    }
    fields from = {.map = map};
    is_integer(take(&from, "count"), components->count);
    is_integer(take(&from, "largest"), components->largest);
    check_numbers(take_list(&from, "of_unit", units), components->of_unit);
    all_taken(&from);
}

static void check_spread(const json_t *map, const sf_motif_spread *spread)
{
    if (spread->graphs == 0) {
        assert_true(json_is_null(map));
        return;
    }
    fields from = {.map = map};
    is_integer(take(&from, "from_ns"), spread->window.start_ns);
    is_integer(take(&from, "to_ns"), spread->window.stop_ns);
    is_integer(take(&from, "count"), (int64_t)spread->count);
    is_integer(take(&from, "graphs"), spread->graphs);
    is_real(take(&from, "mean"), spread->mean);
    is_real(take(&from, "sd"), spread->sd);
    is_real(take(&from, "z"), spread->z);
    all_taken(&from);
}

static void check_motif(const json_t *map, const sf_motif_result *motif, const sf_units *units)
{
    fields from = {.map = map};
    is_string(take(&from, "pattern"), motif->pattern);
    is_integer(take(&from, "count"), (int64_t)motif->count);
    is_boolean(take(&from, "truncated"), motif->truncated);
    const json_t *embeddings = take_list(&from, "embeddings", motif->kept);
    const json_t *names = take_list(&from, "names", motif->kept);
    for (size_t i = 0; i < motif->kept; i++) {
        const json_t *embedding = json_array_get(embeddings, i);
        assert_int_equal(json_array_size(embedding), motif->size);
        check_numbers(embedding, motif->embeddings + i * motif->size);
        assert_int_equal(json_array_size(json_array_get(names, i)), motif->size);
        check_names(json_array_get(names, i), motif->embeddings + i * motif->size, units);
    }
    check_spread(take(&from, "rewired"), &motif->spread);
    all_taken(&from);
}

static void check_census(const json_t *list, const sf_graph_message *graph)
{
    if (graph->triad_count == 0) {
        assert_true(json_is_null(list));
        return;
    }
    assert_int_equal(json_array_size(list), graph->triad_count);
    for (size_t i = 0; i < graph->triad_count; i++) {
        fields from = {.map = json_array_get(list, i)};
        is_string(take(&from, "name"), graph->triads[i].name);
        is_integer(take(&from, "count"), (int64_t)graph->triads[i].count);
        check_spread(take(&from, "rewired"), &graph->triads[i].spread);
        all_taken(&from);
    }
}

static void check_measures(const json_t *list, const sf_graph_message *graph)
{
    if (!graph->measured) {
        assert_true(json_is_null(list));
        return;
    }
    assert_int_equal(json_array_size(list), graph->measure_count);
    for (size_t i = 0; i < graph->measure_count; i++) {
        fields from = {.map = json_array_get(list, i)};
        is_integer(take(&from, "unit"), graph->measures[i].unit);
        is_integer(take(&from, "degree"), (int64_t)graph->measures[i].degree);
        is_real(take(&from, "strength"), graph->measures[i].strength);
        is_integer(take(&from, "module_weighted"), (int64_t)graph->measures[i].module);
        all_taken(&from);
    }
}

static void check_graph(fields *from, const sf_graph_message *graph, const sf_units *units)
{
    check_window(from, &graph->window);
    is_string(take(from, "metric"), graph->is_tiling ? "sttc" : "episodes");
    is_real(take(from, "threshold"), graph->threshold);
    check_left_out(from, &graph->left_out);
    is_known(take(from, "pairs_tested"), graph->pairs_tested > 0 ? (int64_t)graph->pairs_tested : -1);
    is_real(take(from, "pairs_by_chance"), graph->pairs_by_chance);
    is_integer(take(from, "edges"), (int64_t)graph->edges);
    const json_t *changes = take_list(from, "changes", graph->change_count);
    for (size_t i = 0; i < graph->change_count; i++)
        check_edge(json_array_get(changes, i), &graph->changes[i], graph->is_tiling, units);
    const json_t *reach = take_list(from, "bfs", graph->reach_count);
    for (size_t i = 0; i < graph->reach_count; i++)
        check_reach(json_array_get(reach, i), &graph->reach[i], units);
    check_reach_all(take(from, "reach_all"), &graph->reach_all, units->count);
    check_components(take(from, "components"), &graph->components, units->count);
    const json_t *motifs = take_list(from, "match", graph->motif_count);
    for (size_t i = 0; i < graph->motif_count; i++)
        check_motif(json_array_get(motifs, i), &graph->motifs[i], units);
    check_census(take(from, "census"), graph);
    check_measures(take(from, "measures"), graph);
    is_real(take(from, "modularity_weighted"), graph->modularity);
    const json_t *measured_to = take(from, "measured_to_ns");
    if (graph->measured)
        is_integer(measured_to, graph->measured_in.stop_ns);
    else
        assert_true(json_is_null(measured_to));
}

static void check_source(const json_t *map, const sf_source_status *source)
{
    fields from = {.map = map};
    is_string(take(&from, "name"), source->name);
    is_integer(take(&from, "spikes"), (int64_t)source->spikes);
    is_integer(take(&from, "markers"), (int64_t)source->markers);
    is_integer(take(&from, "late"), (int64_t)source->late);
    is_integer(take(&from, "duplicate"), (int64_t)source->duplicate);
    is_integer(take(&from, "out_of_range"), (int64_t)source->out_of_range);
    is_integer(take(&from, "dropped"), (int64_t)source->dropped);
    is_integer(take(&from, "gaps"), (int64_t)source->gaps);
    is_integer(take(&from, "gap_lost"), (int64_t)source->gap_lost);
    is_integer(take(&from, "malformed"), (int64_t)source->malformed);
    is_integer(take(&from, "leaps"), (int64_t)source->leaps);
    is_integer(take(&from, "other_streams"), (int64_t)source->other_streams);
    is_integer(take(&from, "restarts"), (int64_t)source->restarts);
    static const char *const states[] = {"live", "stalled", "lost", "ended", "failed"};
    is_string(take(&from, "state"), states[source->state]);
    is_scaled(take(&from, "silent_ms"), source->silent_ns, 1e6);
    is_real(take(&from, "behind_s"), source->behind_ns >= 0 ? (double)source->behind_ns * 1e-9 : NAN);
    is_integer(take(&from, "held"), (int64_t)source->held);
    is_integer(take(&from, "markers_late"), (int64_t)source->markers_late);
    is_integer(take(&from, "markers_dropped"), (int64_t)source->markers_dropped);
    is_integer(take(&from, "markers_left_out"), (int64_t)source->markers_left_out);
    is_known(take(&from, "missing_spikes"), source->missing_spikes);
    is_known(take(&from, "missing_markers"), source->missing_markers);
    is_integer(take(&from, "undone"), (int64_t)source->undone);
    is_integer(take(&from, "steps"), (int64_t)source->steps);
    is_integer(take(&from, "epochs"), (int64_t)source->epochs);
    is_integer(take(&from, "shift_ns"), source->shift_ns);
    is_integer(take(&from, "ring_fill"), source->ring_fill);
    is_integer(take(&from, "ring_size"), source->ring_size);
    is_scaled(take(&from, "lateness_max_ms"), source->lateness_max_ns, 1e6);
    is_boolean(take(&from, "ended"), source->ended);
    is_reason(take(&from, "pulses"), source->pulses);
    bool paired = source->pulses != NULL && source->pulse_ns != INT64_MIN;
    const json_t *pulse = take(&from, "pulse_ns"), *offset = take(&from, "offset_ns");
    assert_true(paired || (json_is_null(pulse) && json_is_null(offset)));
    if (paired) {
        is_integer(pulse, source->pulse_ns);
        is_integer(offset, source->offset_ns);
    }
    is_real(take(&from, "drift_ppm"), paired ? source->drift_ppm : NAN);
    is_real(take(&from, "residual_us"), paired ? source->residual_us : NAN);
    is_reason(take(&from, "authentication"), source->authentication);
    all_taken(&from);
}

static void check_took(fields *from, const sf_took *took)
{
    is_integer(take(from, "count"), (int64_t)took->count);
    is_real(take(from, "busy_ms"), took->busy_ms);
    is_real(take(from, "p50_ms"), took->p50_ms);
    is_real(take(from, "p99_ms"), took->p99_ms);
}

static void check_sink(const json_t *map, const sf_sink_status *sink)
{
    fields from = {.map = map};
    is_string(take(&from, "name"), sink->name);
    is_integer(take(&from, "published"), (int64_t)sink->published);
    is_integer(take(&from, "dropped"), (int64_t)sink->dropped);
    is_integer(take(&from, "failed"), (int64_t)sink->failed);
    is_integer(take(&from, "ring_fill"), sink->ring_fill);
    is_integer(take(&from, "ring_size"), sink->ring_size);
    is_string(take(&from, "state"), sink->state);
    is_reason(take(&from, "note"), or_null(sink->note));
    is_integer(take(&from, "spikes"), (int64_t)sink->spikes);
    is_integer(take(&from, "spikes_lost"), (int64_t)sink->spikes_lost);
    is_integer(take(&from, "markers"), (int64_t)sink->markers);
    is_integer(take(&from, "markers_lost"), (int64_t)sink->markers_lost);
    check_took(&from, &sink->took);
    is_real(take(&from, "max_ms"), sink->took.max_ms);
    is_integer(take(&from, "journal_bytes"), (int64_t)sink->journal_bytes);
    is_integer(take(&from, "syncs"), (int64_t)sink->syncs);
    is_real(take(&from, "sync_max_ms"), sink->sync_max_ms);
    is_real(take(&from, "disk_left_s"), sink->disk_left_s);
    is_known(take(&from, "refused"), sink->refused);
    all_taken(&from);
}

static void check_stage(const json_t *map, const sf_stage_status *stage)
{
    fields from = {.map = map};
    is_string(take(&from, "name"), stage->name);
    is_real(take(&from, "last_ms"), stage->last_ms);
    is_real(take(&from, "max_ms"), stage->max_ms);
    is_real(take(&from, "share"), stage->share);
    is_reason(take(&from, "device"), or_null(stage->device));
    is_integer(take(&from, "missed"), (int64_t)stage->missed);
    check_took(&from, &stage->took);
    all_taken(&from);
}

static void check_provenance(fields *from, const sf_provenance *provenance)
{
    char program[40];
    snprintf(program, sizeof program, "synfire %s", sf_version());
    is_string(take(from, "program"), program);
    const json_t *command = take(from, "command"), *selection = take(from, "selection");
    if (provenance == NULL) {
        assert_true(json_is_null(command) && json_is_null(selection));
        return;
    }
    is_string(command, provenance->command);
    sf_text words = {0};
    sf_provenance_words(&words, provenance);
    is_string(selection, words.data);
    sf_text_free(&words);
}

static void check_trigger_status(const json_t *map, const sf_trigger_status *trigger)
{
    fields from = {.map = map};
    is_string(take(&from, "name"), trigger->name);
    is_boolean(take(&from, "armed"), trigger->not_armed == NULL);
    is_reason(take(&from, "not_armed"), trigger->not_armed);
    is_real(take(&from, "armed_s"), trigger->armed_s);
    is_reason(take(&from, "armed_by"), trigger->armed_by);
    is_real(take(&from, "armed_at_s"), trigger->armed_at_s);
    is_integer(take(&from, "completed"), (int64_t)trigger->completed);
    is_integer(take(&from, "sent"), (int64_t)trigger->sent);
    is_integer(take(&from, "sham"), (int64_t)trigger->sham);
    is_integer(take(&from, "withheld"), (int64_t)trigger->withheld);
    is_integer(take(&from, "waiting"), trigger->waiting);
    is_real(take(&from, "chance_per_min"), trigger->chance_per_min);
    all_taken(&from);
}

static void check_status(fields *from, const sf_status_message *status, const sf_provenance *provenance)
{
    check_provenance(from, provenance);
    is_integer(take(from, "spikes"), (int64_t)status->spikes);
    is_real(take(from, "rate_hz"), status->rate_hz);
    check_reals(take_list(from, "unit_rates_hz", status->unit_count), status->unit_rates_hz);
    is_real(take(from, "run_s"), status->run_s);
    is_real(take(from, "hop_ms"), status->hop_ms);
    is_integer(take(from, "window_fill"), (int64_t)status->window_fill);
    is_integer(take(from, "window_size"), (int64_t)status->window_size);
    is_known(take(from, "control_refused"), status->control_refused);
    fields latency = {.map = take(from, "latency")};
    check_took(&latency, &status->latency);
    is_real(take(&latency, "max_ms"), status->latency.max_ms);
    all_taken(&latency);
    const json_t *list = take_list(from, "sources", status->source_count);
    for (size_t i = 0; i < status->source_count; i++)
        check_source(json_array_get(list, i), &status->sources[i]);
    list = take_list(from, "sinks", status->sink_count);
    for (size_t i = 0; i < status->sink_count; i++)
        check_sink(json_array_get(list, i), &status->sinks[i]);
    list = take_list(from, "stages", status->stage_count);
    for (size_t i = 0; i < status->stage_count; i++)
        check_stage(json_array_get(list, i), &status->stages[i]);
    list = take_list(from, "triggers", status->trigger_count);
    for (size_t i = 0; i < status->trigger_count; i++)
        check_trigger_status(json_array_get(list, i), &status->triggers[i]);
    is_integer(take(from, "decisions_lost"), (int64_t)status->decisions_lost);
    is_integer(take(from, "features_lost"), (int64_t)status->features_lost);
    is_integer(take(from, "dedup_dropped"), (int64_t)status->dedup_dropped);
    is_integer(take(from, "blank_dropped"), (int64_t)status->blank_dropped);
    is_integer(take(from, "trigger_dropped"), (int64_t)status->trigger_dropped);
    is_integer(take(from, "tracked"), (int64_t)status->tracked);
    is_real(take(from, "list_age_s"), status->list_age_s);
    is_real(take(from, "list_every_s"), status->list_every_s);
    is_integer(take(from, "lists_missed"), (int64_t)status->lists_missed);
    is_integer(take(from, "watched"), (int64_t)status->watched);
    is_integer(take(from, "edges"), (int64_t)status->edges);
    is_integer(take(from, "window_dropped"), (int64_t)status->window_dropped);
    is_integer(take(from, "watch_overflows"), (int64_t)status->watch_overflows);
    is_string(take(from, "device"), status->device);
    is_string(take(from, "device_state"), status->device_state);
    is_reason(take(from, "device_note"), or_null(status->device_note));
    is_integer(take(from, "device_memory"), (int64_t)status->device_memory);
    is_string(take(from, "counting_device"), status->counting_device);
    is_reason(take(from, "discovery_device"), or_null(status->discovery_device));
    is_real(take(from, "discovery_ms"), status->discovery_ms);
    is_integer(take(from, "tested"), (int64_t)status->tested);
    is_integer(take(from, "tests"), (int64_t)status->tests);
    is_integer(take(from, "tests_missed"), (int64_t)status->tests_missed);
    is_reason(take(from, "test_device"), or_null(status->test_device));
    is_real(take(from, "test_ms"), status->test_ms);
    is_real(take(from, "test_share"), status->test_share);
    is_real(take(from, "test_length_s"), status->test_length_s);
    is_reason(take(from, "not_tested"), status->not_tested);
    is_boolean(take(from, "last"), status->last);
    is_real(take(from, "branching_ratio"), status->branching_ratio);
    is_real(take(from, "branching_low"), status->branching_low);
    is_real(take(from, "branching_high"), status->branching_high);
    is_real(take(from, "branching_at_s"), status->branching_at_s);
    is_reason(take(from, "branching_cautions"), or_null(status->branching_cautions));
    is_integer(take(from, "branching_missed"), (int64_t)status->branching_missed);
}

static void check_criticality(fields *from, const sf_criticality_message *found)
{
    is_integer(take(from, "from_ns"), found->window.start_ns);
    is_integer(take(from, "to_ns"), found->window.stop_ns);
    is_scaled(take(from, "from_s"), found->window.start_ns, 1e9);
    is_scaled(take(from, "to_s"), found->window.stop_ns, 1e9);
    is_boolean(take(from, "partial"), found->partial);
    is_integer(take(from, "spikes"), (int64_t)found->spikes);
    is_real(take(from, "duration_s"), found->duration_s);
    is_real(take(from, "branching_ratio"), found->branching_ratio);
    is_real(take(from, "branching_low"), found->branching_low);
    is_real(take(from, "branching_high"), found->branching_high);
    is_real(take(from, "branching_ratio_conventional"), found->branching_ratio_conventional);
    is_real(take(from, "timescale_s"), found->timescale_s);
    is_real(take(from, "timescale_low_s"), found->timescale_low_s);
    is_real(take(from, "timescale_high_s"), found->timescale_high_s);
    is_real(take(from, "own_share"), found->own_share);
    is_integer(take(from, "lags"), (int64_t)found->lags);
    is_integer(take(from, "blocks"), (int64_t)found->blocks);
    is_integer(take(from, "missed"), (int64_t)found->missed);
    const json_t *cautions = take_list(from, "cautions", found->caution_count);
    for (size_t i = 0; i < found->caution_count; i++) {
        fields caution = {.map = json_array_get(cautions, i)};
        is_string(take(&caution, "caution"), found->cautions[i].caution);
        is_string(take(&caution, "text"), found->cautions[i].text);
        all_taken(&caution);
    }
}

void test_check_published(const json_t *map, const sf_message *message, const sf_stream_info *stream)
{
    fields from = {.map = map};
    is_integer(take(&from, "v"), SF_MESSAGE_VERSION);
    is_string(take(&from, "topic"), sf_topic_name(message->topic));
    is_integer(take(&from, "seq"), (int64_t)message->seq);
    is_string(take(&from, "stream"), stream->name);
    is_integer(take(&from, "time_ns"), message->time_ns);
    const json_t *age = take(&from, "age_ms");
    if (message->arrival_ns == 0)
        assert_true(json_is_null(age));
    else
        assert_true(json_is_number(age) && json_number_value(age) >= 0 && json_number_value(age) < 600000);
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        check_episodes(&from, &message->episodes, stream->units);
        break;
    case SF_TOPIC_TRIGGER:
        check_trigger(&from, &message->trigger);
        break;
    case SF_TOPIC_DECISION:
        check_decision(&from, &message->decision);
        break;
    case SF_TOPIC_DELIVERY:
        check_delivery(&from, &message->delivery);
        break;
    case SF_TOPIC_FEATURES:
        check_features(&from, &message->features);
        break;
    case SF_TOPIC_FEATURES_NAMES:
        check_features_names(&from, &message->features_names);
        break;
    case SF_TOPIC_RESPONSE:
        check_response(&from, &message->response);
        break;
    case SF_TOPIC_CRITICALITY:
        check_criticality(&from, &message->criticality);
        break;
    case SF_TOPIC_BURST:
        check_burst(&from, &message->burst);
        break;
    case SF_TOPIC_DENSITY:
        check_density(&from, &message->density);
        break;
    case SF_TOPIC_GRAPH:
        check_graph(&from, &message->graph, stream->units);
        break;
    default:
        check_status(&from, &message->status, stream->provenance);
        break;
    }
    all_taken(&from);
}
