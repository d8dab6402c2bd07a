/* SPDX-License-Identifier: Apache-2.0 */
#include "core/message_fields.h"

#include <math.h>
#include <stdio.h>

/* What every teller below needs. */
typedef struct teller {
    const sf_encoding *as;
    void *to;
    const sf_units *units;
    const sf_provenance *provenance;
} teller;

static const char *unit_name(const teller *t, uint32_t unit)
{
    return unit < t->units->count ? t->units->items[unit].name : NULL;
}

static void tell_nothing(const teller *t, const char *key)
{
    t->as->string(t->to, key, NULL);
}

static void tell_time(const teller *t, const char *key, bool known, int64_t time_ns)
{
    if (known)
        t->as->integer(t->to, key, time_ns);
    else
        tell_nothing(t, key);
}

/* A count that may not be known. */
static void tell_known(const teller *t, const char *key, int64_t count)
{
    if (count < 0)
        tell_nothing(t, key);
    else
        t->as->natural(t->to, key, (uint64_t)count);
}

#define WINDOW_FIELDS 4

static void tell_window(const teller *t, const sf_span *window)
{
    t->as->integer(t->to, "from_ns", window->start_ns);
    t->as->integer(t->to, "to_ns", window->stop_ns);
    t->as->seconds(t->to, "from_s", window->start_ns);
    t->as->seconds(t->to, "to_s", window->stop_ns);
}

static void tell_delay(const teller *t, const char *key, const sf_delay *delay)
{
    t->as->list(t->to, key, 2);
    t->as->milliseconds(t->to, NULL, delay->low_ns);
    t->as->milliseconds(t->to, NULL, delay->high_ns);
    t->as->end_list(t->to);
}

static void tell_naturals(const teller *t, const char *key, const uint32_t *values, size_t count)
{
    t->as->list(t->to, key, count);
    for (size_t i = 0; i < count; i++)
        t->as->natural(t->to, NULL, values[i]);
    t->as->end_list(t->to);
}

/* The names of units that stand beside their indices. */
static void tell_names(const teller *t, const char *key, const uint32_t *units, size_t count)
{
    t->as->list(t->to, key, count);
    for (size_t i = 0; i < count; i++)
        t->as->string(t->to, NULL, unit_name(t, units[i]));
    t->as->end_list(t->to);
}

static void tell_reals(const teller *t, const char *key, const double *values, size_t count)
{
    t->as->list(t->to, key, count);
    for (size_t i = 0; i < count; i++)
        t->as->real(t->to, NULL, values[i]);
    t->as->end_list(t->to);
}

#define VERDICT_FIELDS 5

static void tell_verdict(const teller *t, double p, double q, double p_age_s, uint32_t tests,
                         const char *reason)
{
    t->as->real(t->to, "p", p);
    t->as->real(t->to, "q", q);
    t->as->real(t->to, "p_age_s", p_age_s);
    t->as->natural(t->to, "tests", tests);
    t->as->string(t->to, "not_tested", reason);
}

static void tell_count(const teller *t, const sf_episode_count *item)
{
    const sf_episode *episode = &item->episode;
    t->as->map(t->to, NULL, 6 + VERDICT_FIELDS);
    t->as->string(t->to, "id", item->id);
    tell_naturals(t, "units", episode->units, episode->size);
    tell_names(t, "names", episode->units, episode->size);
    t->as->list(t->to, "delays_ms", episode->size - 1);
    for (uint32_t i = 0; i + 1 < episode->size; i++)
        tell_delay(t, NULL, &episode->delays[i]);
    t->as->end_list(t->to);
    t->as->natural(t->to, "count", item->count);
    t->as->real(t->to, "expected", item->expected);
    tell_verdict(t, item->p, item->q, item->p_age_s, item->tests, item->not_tested);
    t->as->end_map(t->to);
}

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void tell_predictions(const teller *t, const sf_episodes_message *episodes)
{
    t->as->list(t->to, "rules", episodes->rule_count);
    for (size_t i = 0; i < episodes->rule_count; i++) {
        const sf_prediction *rule = &episodes->rules[i];
        t->as->map(t->to, NULL, 6);
        t->as->string(t->to, "rule", rule->rule);
        t->as->string(t->to, "id", rule->id);
        t->as->natural(t->to, "count", rule->count);
        t->as->string(t->to, "label", text_or_null(rule->label));
        t->as->boolean(t->to, "changed", rule->changed);
        t->as->string(t->to, "before", text_or_null(rule->before));
        t->as->end_map(t->to);
    }
    t->as->end_list(t->to);
}

/* What the limits keep back; null where there are none. */
static void tell_left_out(const teller *t, const sf_left_out *left_out)
{
    if (left_out->max_p <= 0 && left_out->max_q <= 0) {
        tell_nothing(t, "left_out");
        return;
    }
    t->as->map(t->to, "left_out", 4);
    t->as->real(t->to, "max_p", left_out->max_p > 0 ? left_out->max_p : NAN);
    t->as->real(t->to, "max_q", left_out->max_q > 0 ? left_out->max_q : NAN);
    t->as->natural(t->to, "count", left_out->count);
    t->as->natural(t->to, "untested", left_out->untested);
    t->as->end_map(t->to);
}

#define EPISODES_FIELDS (WINDOW_FIELDS + 6)

static void tell_episodes(const teller *t, const sf_episodes_message *episodes)
{
    t->as->natural(t->to, "hop", episodes->hop);
    tell_window(t, &episodes->window);
    t->as->boolean(t->to, "partial", episodes->partial);
    t->as->natural(t->to, "spikes", episodes->spikes);
    t->as->list(t->to, "episodes", episodes->count);
    for (size_t i = 0; i < episodes->count; i++)
        tell_count(t, &episodes->items[i]);
    t->as->end_list(t->to);
    tell_predictions(t, episodes);
    tell_left_out(t, &episodes->left_out);
}

#define TRIGGER_FIELDS (5 + VERDICT_FIELDS)

static void tell_trigger(const teller *t, const sf_trigger_message *trigger)
{
    t->as->string(t->to, "name", trigger->name);
    t->as->string(t->to, "id", text_or_null(trigger->id));
    t->as->natural(t->to, "occurrence", trigger->occurrence);
    t->as->list(t->to, "spike_times_ns", trigger->size);
    for (uint32_t i = 0; i < trigger->size; i++)
        t->as->integer(t->to, NULL, trigger->spike_times_ns[i]);
    t->as->end_list(t->to);
    t->as->integer(t->to, "decided_ns", trigger->decided_ns);
    tell_verdict(t, trigger->p, trigger->q, trigger->p_age_s, trigger->tests, trigger->not_tested);
}

#define DECISION_FIELDS 8

static void tell_decision(const teller *t, const sf_decision_message *decision)
{
    t->as->string(t->to, "name", decision->name);
    t->as->string(t->to, "id", text_or_null(decision->id));
    t->as->natural(t->to, "occurrence", decision->occurrence);
    t->as->string(t->to, "outcome", decision->outcome);
    t->as->string(t->to, "reason", decision->reason);
    tell_known(t, "trigger_seq", decision->trigger_seq > 0 ? (int64_t)decision->trigger_seq : -1);
    t->as->integer(t->to, "decided_ns", decision->decided_ns);
    t->as->real(t->to, "wait_ms", decision->wait_ms);
}

#define DELIVERY_FIELDS 6

static void tell_delivery(const teller *t, const sf_delivery_message *delivery)
{
    t->as->string(t->to, "name", delivery->name);
    t->as->natural(t->to, "trigger_seq", delivery->trigger_seq);
    t->as->string(t->to, "sink", delivery->sink);
    t->as->string(t->to, "outcome", delivery->outcome);
    t->as->integer(t->to, "sent_ns", delivery->sent_ns);
    t->as->real(t->to, "latency_ms", delivery->latency_ms);
}

#define FEATURES_FIELDS 6

static void tell_features(const teller *t, const sf_features_message *features)
{
    t->as->natural(t->to, "bin", features->bin);
    t->as->integer(t->to, "from_ns", features->window.start_ns);
    t->as->integer(t->to, "to_ns", features->window.stop_ns);
    t->as->boolean(t->to, "partial", features->partial);
    t->as->boolean(t->to, "lost", features->lost);
    tell_naturals(t, "values", features->values, features->count);
}

#define FEATURES_NAMES_FIELDS 5

static void tell_features_names(const teller *t, const sf_features_names_message *names)
{
    t->as->milliseconds(t->to, "bin_ms", names->bin_ns);
    t->as->natural(t->to, "units", names->units);
    t->as->natural(t->to, "episodes", names->episodes);
    t->as->natural(t->to, "edges", names->edges);
    t->as->list(t->to, "names", names->count);
    for (size_t i = 0; i < names->count; i++)
        t->as->string(t->to, NULL, names->names[i]);
    t->as->end_list(t->to);
}

#define DENSITY_FIELDS (WINDOW_FIELDS + 5)

static void tell_density(const teller *t, const sf_density_message *density)
{
    tell_window(t, &density->window);
    t->as->string(t->to, "quantity", density->quantity);
    t->as->real(t->to, "h", density->h);
    bool plane = density->rows > 0;
    t->as->real(t->to, "outside", density->outside);
    t->as->map(t->to, "grid", 7);
    t->as->string(t->to, "axis", density->log_axis ? "log" : "linear");
    t->as->real(t->to, "start", density->grid_start);
    t->as->real(t->to, "step", density->grid_step);
    t->as->natural(t->to, "count", plane ? density->count / density->rows : density->count);
    t->as->real(t->to, "row_start", plane ? density->row_start : NAN);
    t->as->real(t->to, "row_step", plane ? density->row_step : NAN);
    tell_known(t, "rows", plane ? (int64_t)density->rows : -1);
    t->as->end_map(t->to);
    tell_reals(t, "values", density->values, density->count);
}

/* Undirected edges have no count. */
static void tell_edge(const teller *t, const sf_edge_change *edge, bool is_tiling)
{
    t->as->map(t->to, NULL, 12);
    t->as->natural(t->to, "from", edge->from);
    t->as->natural(t->to, "to", edge->to);
    tell_names(t, "names", (const uint32_t[]){edge->from, edge->to}, 2);
    tell_delay(t, "delay_ms", &edge->delay);
    if (is_tiling)
        tell_nothing(t, "count");
    else
        t->as->natural(t->to, "count", edge->count);
    t->as->real(t->to, "expected", edge->expected);
    t->as->real(t->to, "weight", edge->weight);
    t->as->real(t->to, "p", edge->p);
    t->as->real(t->to, "q", edge->q);
    t->as->real(t->to, "p_age_s", edge->p_age_s);
    t->as->string(t->to, "not_tested", edge->not_tested);
    t->as->boolean(t->to, "removed", edge->removed);
    t->as->end_map(t->to);
}

static void tell_reach(const teller *t, const sf_reach_result *reach)
{
    t->as->map(t->to, NULL, 7);
    t->as->natural(t->to, "source", reach->source);
    t->as->string(t->to, "source_name", unit_name(t, reach->source));
    tell_naturals(t, "units", reach->units, reach->count);
    tell_names(t, "names", reach->units, reach->count);
    tell_naturals(t, "levels", reach->levels, reach->count);
    t->as->list(t->to, "parents", reach->count);
    for (size_t i = 0; i < reach->count; i++)
        t->as->integer(t->to, NULL, reach->parents[i] == SF_NO_UNIT ? -1 : (int64_t)reach->parents[i]);
    t->as->end_list(t->to);
    t->as->list(t->to, "delays_ms", reach->count);
    for (size_t i = 0; i < reach->count; i++)
        tell_delay(t, NULL, &reach->delays[i]);
    t->as->end_list(t->to);
    t->as->end_map(t->to);
}

static void tell_reach_all(const teller *t, const sf_reach_counts *counts, size_t units)
{
    if (counts->reached == NULL) {
        tell_nothing(t, "reach_all");
        return;
    }
    t->as->map(t->to, "reach_all", 2);
    tell_naturals(t, "reached", counts->reached, units);
    tell_naturals(t, "depth", counts->depth, units);
    t->as->end_map(t->to);
}

static void tell_components(const teller *t, const sf_components_result *components, size_t units)
{
    if (components->of_unit == NULL) {
        tell_nothing(t, "components");
        return;
    }
    t->as->map(t->to, "components", 3);
    t->as->natural(t->to, "count", components->count);
    t->as->natural(t->to, "largest", components->largest);
    tell_naturals(t, "of_unit", components->of_unit, units);
    t->as->end_map(t->to);
}

static void tell_spread(const teller *t, const sf_motif_spread *spread)
{
    if (spread->graphs == 0) {
        tell_nothing(t, "rewired");
        return;
    }
    t->as->map(t->to, "rewired", 7);
    t->as->integer(t->to, "from_ns", spread->window.start_ns);
    t->as->integer(t->to, "to_ns", spread->window.stop_ns);
    t->as->natural(t->to, "count", spread->count);
    t->as->natural(t->to, "graphs", spread->graphs);
    t->as->real(t->to, "mean", spread->mean);
    t->as->real(t->to, "sd", spread->sd);
    t->as->real(t->to, "z", spread->z);
    t->as->end_map(t->to);
}

static void tell_motif(const teller *t, const sf_motif_result *motif)
{
    t->as->map(t->to, NULL, 6);
    t->as->string(t->to, "pattern", motif->pattern);
    t->as->natural(t->to, "count", motif->count);
    t->as->boolean(t->to, "truncated", motif->truncated);
    t->as->list(t->to, "embeddings", motif->kept);
    for (size_t i = 0; i < motif->kept; i++)
        tell_naturals(t, NULL, motif->embeddings + i * motif->size, motif->size);
    t->as->end_list(t->to);
    t->as->list(t->to, "names", motif->kept);
    for (size_t i = 0; i < motif->kept; i++)
        tell_names(t, NULL, motif->embeddings + i * motif->size, motif->size);
    t->as->end_list(t->to);
    tell_spread(t, &motif->spread);
    t->as->end_map(t->to);
}

static void tell_census(const teller *t, const sf_graph_message *graph)
{
    if (graph->triad_count == 0) {
        tell_nothing(t, "census");
        return;
    }
    t->as->list(t->to, "census", graph->triad_count);
    for (size_t i = 0; i < graph->triad_count; i++) {
        t->as->map(t->to, NULL, 3);
        t->as->string(t->to, "name", graph->triads[i].name);
        t->as->natural(t->to, "count", graph->triads[i].count);
        tell_spread(t, &graph->triads[i].spread);
        t->as->end_map(t->to);
    }
    t->as->end_list(t->to);
}

#define GRAPH_FIELDS (WINDOW_FIELDS + 12)

static void tell_graph(const teller *t, const sf_graph_message *graph)
{
    tell_window(t, &graph->window);
    t->as->string(t->to, "metric", graph->is_tiling ? "sttc" : "episodes");
    t->as->real(t->to, "threshold", graph->threshold);
    t->as->natural(t->to, "edges", graph->edges);
    t->as->list(t->to, "changes", graph->change_count);
    for (size_t i = 0; i < graph->change_count; i++)
        tell_edge(t, &graph->changes[i], graph->is_tiling);
    t->as->end_list(t->to);
    t->as->list(t->to, "bfs", graph->reach_count);
    for (size_t i = 0; i < graph->reach_count; i++)
        tell_reach(t, &graph->reach[i]);
    t->as->end_list(t->to);
    tell_reach_all(t, &graph->reach_all, graph->unit_count);
    tell_components(t, &graph->components, graph->unit_count);
    t->as->list(t->to, "match", graph->motif_count);
    for (size_t i = 0; i < graph->motif_count; i++)
        tell_motif(t, &graph->motifs[i]);
    t->as->end_list(t->to);
    tell_census(t, graph);
    tell_left_out(t, &graph->left_out);
    if (graph->pairs_tested > 0)
        t->as->natural(t->to, "pairs_tested", graph->pairs_tested);
    else
        tell_nothing(t, "pairs_tested");
    t->as->real(t->to, "pairs_by_chance", graph->pairs_by_chance);
}

static void tell_source(const teller *t, const sf_source_status *source)
{
    t->as->map(t->to, NULL, 35);
    t->as->string(t->to, "name", source->name);
    t->as->string(t->to, "state", sf_source_state_name(source->state));
    t->as->milliseconds(t->to, "silent_ms", source->silent_ns);
    t->as->real(t->to, "behind_s", source->behind_ns >= 0 ? (double)source->behind_ns * 1e-9 : NAN);
    t->as->natural(t->to, "spikes", source->spikes);
    t->as->natural(t->to, "held", source->held);
    t->as->natural(t->to, "late", source->late);
    t->as->natural(t->to, "duplicate", source->duplicate);
    t->as->natural(t->to, "out_of_range", source->out_of_range);
    t->as->natural(t->to, "dropped", source->dropped);
    t->as->natural(t->to, "leaps", source->leaps);
    tell_known(t, "missing_spikes", source->missing_spikes);
    t->as->natural(t->to, "markers", source->markers);
    t->as->natural(t->to, "markers_late", source->markers_late);
    t->as->natural(t->to, "markers_dropped", source->markers_dropped);
    t->as->natural(t->to, "markers_left_out", source->markers_left_out);
    tell_known(t, "missing_markers", source->missing_markers);
    t->as->natural(t->to, "gaps", source->gaps);
    t->as->natural(t->to, "gap_lost", source->gap_lost);
    t->as->natural(t->to, "malformed", source->malformed);
    t->as->natural(t->to, "restarts", source->restarts);
    t->as->natural(t->to, "undone", source->undone);
    t->as->natural(t->to, "steps", source->steps);
    t->as->natural(t->to, "epochs", source->epochs);
    t->as->integer(t->to, "shift_ns", source->shift_ns);
    t->as->natural(t->to, "ring_fill", source->ring_fill);
    t->as->natural(t->to, "ring_size", source->ring_size);
    t->as->milliseconds(t->to, "lateness_max_ms", source->lateness_max_ns);
    t->as->boolean(t->to, "ended", source->ended);
    bool paired = source->pulses != NULL && source->pulse_ns != INT64_MIN;
    t->as->string(t->to, "pulses", source->pulses);
    tell_time(t, "pulse_ns", paired, source->pulse_ns);
    tell_time(t, "offset_ns", paired, source->offset_ns);
    t->as->real(t->to, "drift_ppm", paired ? source->drift_ppm : NAN);
    t->as->real(t->to, "residual_us", paired ? source->residual_us : NAN);
    t->as->string(t->to, "authentication", source->authentication);
    t->as->end_map(t->to);
}

static void tell_took(const teller *t, const sf_took *took)
{
    t->as->natural(t->to, "count", took->count);
    t->as->real(t->to, "busy_ms", took->busy_ms);
    t->as->real(t->to, "p50_ms", took->p50_ms);
    t->as->real(t->to, "p99_ms", took->p99_ms);
}

static void tell_sink(const teller *t, const sf_sink_status *sink)
{
    t->as->map(t->to, NULL, 22);
    t->as->string(t->to, "name", sink->name);
    t->as->string(t->to, "state", sink->state);
    t->as->string(t->to, "note", sink->note);
    t->as->natural(t->to, "published", sink->published);
    t->as->natural(t->to, "dropped", sink->dropped);
    t->as->natural(t->to, "failed", sink->failed);
    t->as->natural(t->to, "ring_fill", sink->ring_fill);
    t->as->natural(t->to, "ring_size", sink->ring_size);
    t->as->natural(t->to, "spikes", sink->spikes);
    t->as->natural(t->to, "spikes_lost", sink->spikes_lost);
    t->as->natural(t->to, "markers", sink->markers);
    t->as->natural(t->to, "markers_lost", sink->markers_lost);
    tell_took(t, &sink->took);
    t->as->real(t->to, "max_ms", sink->took.max_ms);
    t->as->natural(t->to, "journal_bytes", sink->journal_bytes);
    t->as->natural(t->to, "syncs", sink->syncs);
    t->as->real(t->to, "sync_max_ms", sink->sync_max_ms);
    t->as->real(t->to, "disk_left_s", sink->disk_left_s);
    tell_known(t, "refused", sink->refused);
    t->as->end_map(t->to);
}

static void tell_stage(const teller *t, const sf_stage_status *stage)
{
    t->as->map(t->to, NULL, 10);
    t->as->string(t->to, "name", stage->name);
    t->as->real(t->to, "last_ms", stage->last_ms);
    t->as->real(t->to, "max_ms", stage->max_ms);
    t->as->real(t->to, "share", stage->share);
    t->as->string(t->to, "device", stage->device);
    t->as->natural(t->to, "missed", stage->missed);
    tell_took(t, &stage->took);
    t->as->end_map(t->to);
}

static void tell_armed(const teller *t, const sf_trigger_status *trigger)
{
    t->as->map(t->to, NULL, 10);
    t->as->string(t->to, "name", trigger->name);
    t->as->boolean(t->to, "armed", trigger->not_armed == NULL);
    t->as->string(t->to, "not_armed", trigger->not_armed);
    t->as->real(t->to, "armed_s", trigger->armed_s);
    t->as->natural(t->to, "completed", trigger->completed);
    t->as->natural(t->to, "sent", trigger->sent);
    t->as->natural(t->to, "sham", trigger->sham);
    t->as->natural(t->to, "withheld", trigger->withheld);
    t->as->natural(t->to, "waiting", trigger->waiting);
    t->as->real(t->to, "chance_per_min", trigger->chance_per_min);
    t->as->end_map(t->to);
}

/* What made the messages of this run, and of what recording's part. */
static void tell_provenance(const teller *t, const sf_provenance *provenance)
{
    char program[40];
    sf_text words = {0};
    snprintf(program, sizeof program, "synfire %s", sf_version());
    if (provenance != NULL && provenance->of_recording)
        sf_provenance_words(&words, provenance);
    t->as->string(t->to, "program", program);
    t->as->string(t->to, "command", provenance != NULL ? provenance->command : NULL);
    t->as->string(t->to, "selection", words.failed ? NULL : words.data);
    sf_text_free(&words);
}

#define STATUS_FIELDS 41

static void tell_status(const teller *t, const sf_status_message *status)
{
    t->as->natural(t->to, "spikes", status->spikes);
    t->as->real(t->to, "rate_hz", status->rate_hz);
    tell_reals(t, "unit_rates_hz", status->unit_rates_hz, status->unit_count);
    t->as->list(t->to, "sources", status->source_count);
    for (size_t i = 0; i < status->source_count; i++)
        tell_source(t, &status->sources[i]);
    t->as->end_list(t->to);
    t->as->list(t->to, "sinks", status->sink_count);
    for (size_t i = 0; i < status->sink_count; i++)
        tell_sink(t, &status->sinks[i]);
    t->as->end_list(t->to);
    t->as->list(t->to, "stages", status->stage_count);
    for (size_t i = 0; i < status->stage_count; i++)
        tell_stage(t, &status->stages[i]);
    t->as->end_list(t->to);
    t->as->list(t->to, "triggers", status->trigger_count);
    for (size_t i = 0; i < status->trigger_count; i++)
        tell_armed(t, &status->triggers[i]);
    t->as->end_list(t->to);
    t->as->natural(t->to, "decisions_lost", status->decisions_lost);
    t->as->natural(t->to, "features_lost", status->features_lost);
    t->as->natural(t->to, "dedup_dropped", status->dedup_dropped);
    t->as->natural(t->to, "blank_dropped", status->blank_dropped);
    t->as->natural(t->to, "trigger_dropped", status->trigger_dropped);
    t->as->natural(t->to, "tracked", status->tracked);
    t->as->natural(t->to, "watched", status->watched);
    t->as->natural(t->to, "edges", status->edges);
    t->as->natural(t->to, "window_dropped", status->window_dropped);
    t->as->natural(t->to, "watch_overflows", status->watch_overflows);
    t->as->string(t->to, "device", status->device);
    t->as->string(t->to, "device_state", status->device_state);
    t->as->string(t->to, "device_note", status->device_note);
    t->as->natural(t->to, "device_memory", status->device_memory);
    t->as->string(t->to, "counting_device", status->counting_device);
    t->as->string(t->to, "discovery_device", status->discovery_device);
    t->as->real(t->to, "discovery_ms", status->discovery_ms);
    t->as->natural(t->to, "tested", status->tested);
    t->as->natural(t->to, "tests", status->tests);
    t->as->natural(t->to, "tests_missed", status->tests_missed);
    t->as->string(t->to, "test_device", status->test_device);
    t->as->real(t->to, "test_ms", status->test_ms);
    t->as->real(t->to, "test_share", status->test_share);
    t->as->string(t->to, "not_tested", status->not_tested);
    t->as->boolean(t->to, "last", status->last);
    t->as->real(t->to, "run_s", status->run_s);
    t->as->real(t->to, "hop_ms", status->hop_ms);
    t->as->natural(t->to, "window_fill", status->window_fill);
    t->as->natural(t->to, "window_size", status->window_size);
    tell_known(t, "control_refused", status->control_refused);
    t->as->map(t->to, "latency", 5);
    tell_took(t, &status->latency);
    t->as->real(t->to, "max_ms", status->latency.max_ms);
    t->as->end_map(t->to);
    tell_provenance(t, t->provenance);
}

#define COMMON_FIELDS 6

void sf_message_tell(const sf_message *message, const sf_stream_info *stream, const sf_encoding *as, void *to)
{
    static const size_t own_fields[SF_TOPIC_COUNT] = {
        [SF_TOPIC_EPISODES] = EPISODES_FIELDS,
        [SF_TOPIC_TRIGGER] = TRIGGER_FIELDS,
        [SF_TOPIC_DENSITY] = DENSITY_FIELDS,
        [SF_TOPIC_GRAPH] = GRAPH_FIELDS,
        [SF_TOPIC_STATUS] = STATUS_FIELDS,
        [SF_TOPIC_DECISION] = DECISION_FIELDS,
        [SF_TOPIC_DELIVERY] = DELIVERY_FIELDS,
        [SF_TOPIC_FEATURES] = FEATURES_FIELDS,
        [SF_TOPIC_FEATURES_NAMES] = FEATURES_NAMES_FIELDS,
    };
    const teller t = {.as = as, .to = to, .units = stream->units, .provenance = stream->provenance};
    as->map(to, NULL, COMMON_FIELDS + own_fields[message->topic]);
    as->natural(to, "v", SF_MESSAGE_VERSION);
    as->string(to, "topic", sf_topic_name(message->topic));
    as->natural(to, "seq", message->seq);
    as->string(to, "stream", stream->name);
    as->integer(to, "time_ns", message->time_ns);
    as->real(to, "age_ms", sf_message_age_ms(message));
    switch (message->topic) {
    case SF_TOPIC_EPISODES:
        tell_episodes(&t, &message->episodes);
        break;
    case SF_TOPIC_TRIGGER:
        tell_trigger(&t, &message->trigger);
        break;
    case SF_TOPIC_DENSITY:
        tell_density(&t, &message->density);
        break;
    case SF_TOPIC_GRAPH:
        tell_graph(&t, &message->graph);
        break;
    case SF_TOPIC_STATUS:
        tell_status(&t, &message->status);
        break;
    case SF_TOPIC_DECISION:
        tell_decision(&t, &message->decision);
        break;
    case SF_TOPIC_DELIVERY:
        tell_delivery(&t, &message->delivery);
        break;
    case SF_TOPIC_FEATURES:
        tell_features(&t, &message->features);
        break;
    case SF_TOPIC_FEATURES_NAMES:
        tell_features_names(&t, &message->features_names);
        break;
    default:
        break;
    }
    as->end_map(to);
}
