/* SPDX-License-Identifier: Apache-2.0 */
#include "support/messages.h"

#include "core/clock.h"
#include "core/memory.h"

#include <math.h>

/* Random pieces of text with all that encodings must take care of. */
static void random_text(test_random *random, char *text, size_t size)
{
    static const char *const pieces[] = {
        "a", "Z7", " ", "\"", "\\", "/", "\x01", "\n", "\x7f", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\xa7\xa0",
    };
    size_t length = 0;
    text[0] = '\0';
    for (uint64_t i = test_random_below(random, 8); i > 0; i--) {
        const char *piece = pieces[test_random_below(random, sizeof pieces / sizeof pieces[0])];
        if (length + strlen(piece) + 1 > size) break;
        strcpy(text + length, piece);
        length += strlen(piece);
    }
}

void test_stream_make(test_stream *stream, test_random *random, size_t count)
{
    memset(stream, 0, sizeof *stream);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        random_text(random, name, sizeof name);
        const sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .electrode = -1};
        assert_int_equal(sf_units_add(&stream->units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&stream->units, NULL), SF_OK);
    static char command[] = "synfire run --replay 'odd \"name\".h5'", marker[] = "light";
    static const sf_provenance provenance = {
        .command = command,
        .of_recording = true,
        .selected = {
            .unit_count = 5, .units_in_file = 5, .spikes = 7, .marker = marker, .blank_to_ns = 5000000}};
    stream->info = (sf_stream_info){.name = "test \"stream\"",
                                    .units = &stream->units,
                                    .configuration = "stream: test\n",
                                    .provenance = &provenance};
}

void test_stream_free(test_stream *stream)
{
    sf_units_free(&stream->units);
}

/* Nanoseconds of any size and sign, small ones as often as large ones. */
static int64_t random_time(test_random *random)
{
    return (int64_t)test_random_bits(random) >> (test_random_below(random, 62) + 1);
}

/* JSON readers stop at INT64_MAX. */
static uint64_t random_count(test_random *random)
{
    return test_random_bits(random) >> (test_random_below(random, 63) + 1);
}

static double random_real(test_random *random)
{
    switch (test_random_below(random, 8)) {
    case 0:
        return NAN;
    case 1:
        return test_random_below(random, 2) ? INFINITY : -INFINITY;
    case 2:
        return (double)(int64_t)random_count(random);
    default:
        return ldexp(test_random_unit(random) - 0.5, (int)test_random_below(random, 80) - 40);
    }
}

/* A literal, as of what tests say. */
static const char *random_reason(test_random *random)
{
    static const char *const reasons[] = {NULL, "observation gap", "waits for its first test"};
    return reasons[test_random_below(random, 3)];
}

static sf_span random_span(test_random *random)
{
    return (sf_span){random_time(random), random_time(random)};
}

static uint32_t random_unit(test_random *random, const sf_units *units)
{
    return (uint32_t)test_random_below(random, units->count);
}

static void *random_list(test_random *random, size_t size, size_t *count)
{
    *count = test_random_below(random, 6);
    return sf_alloc(*count, size);
}

/* With no limit, with either, or with both. */
static sf_left_out random_left_out(test_random *random)
{
    return (sf_left_out){.max_p = test_random_below(random, 2) == 1 ? test_random_unit(random) : 0,
                         .max_q = test_random_below(random, 2) == 1 ? test_random_unit(random) : 0,
                         .count = random_count(random),
                         .untested = random_count(random)};
}

static void fill_episodes(test_random *random, sf_episodes_message *message, const sf_units *units)
{
    message->hop = random_count(random);
    message->window = random_span(random);
    message->partial = test_random_below(random, 2) == 1;
    message->spikes = random_count(random);
    message->items = random_list(random, sizeof *message->items, &message->count);
    for (size_t i = 0; i < message->count; i++) {
        sf_episode_count *item = &message->items[i];
        item->episode.size = (uint32_t)test_random_below(random, SF_EPISODE_MAX_SIZE) + 1;
        for (uint32_t k = 0; k < item->episode.size; k++)
            item->episode.units[k] = random_unit(random, units);
        for (uint32_t k = 0; k + 1 < item->episode.size; k++)
            item->episode.delays[k] = (sf_delay){random_time(random), random_time(random)};
        sf_episode_id(item->id, &item->episode, units);
        item->count = random_count(random);
        item->expected = random_real(random);
        item->p = random_real(random);
        item->q = random_real(random);
        item->p_age_s = random_real(random);
        item->tests = (uint32_t)random_count(random);
        item->least_q = random_real(random);
        item->not_tested = random_reason(random);
        item->standing = (uint32_t)random_count(random);
        if (test_random_below(random, 2) == 1)
            memcpy(item->folded_under, message->items[0].id, sizeof item->folded_under);
    }
    message->chains = (size_t)random_count(random);
    message->parts = (size_t)random_count(random);
    message->left_out = random_left_out(random);
    message->counted = (size_t)random_count(random);
    message->list_age_s = random_real(random);
    message->rules = random_list(random, sizeof *message->rules, &message->rule_count);
    for (size_t i = 0; i < message->rule_count; i++) {
        sf_prediction *rule = &message->rules[i];
        snprintf(rule->rule, sizeof rule->rule, "rule %zu", i);
        snprintf(rule->id, sizeof rule->id, "%016zx", i);
        rule->count = random_count(random);
        snprintf(rule->label, sizeof rule->label, "%s", test_random_below(random, 3) > 0 ? "on" : "");
        rule->changed = rule->label[0] != '\0' && test_random_below(random, 2) == 1;
        snprintf(rule->before, sizeof rule->before, "%s", rule->changed ? "off" : "");
    }
}

static void fill_trigger(test_random *random, sf_trigger_message *message)
{
    snprintf(message->id, sizeof message->id, "%016llx", (unsigned long long)test_random_bits(random));
    message->size = (uint32_t)test_random_below(random, SF_EPISODE_MAX_SIZE) + 1;
    for (uint32_t i = 0; i < message->size; i++)
        message->spike_times_ns[i] = random_time(random);
    message->occurrence = random_count(random);
    message->p = random_real(random);
    message->q = random_real(random);
    message->p_age_s = random_real(random);
    message->tests = (uint32_t)random_count(random);
    message->least_q = random_real(random);
    message->not_tested = random_reason(random);
    random_text(random, message->name, sizeof message->name);
    message->decided_ns = random_time(random);
}

static void fill_decision(test_random *random, sf_decision_message *message)
{
    static const char *const outcomes[] = {"sent", "sham", "withheld"};
    random_text(random, message->name, 64);
    if (test_random_below(random, 2))
        snprintf(message->id, sizeof message->id, "%016llx", (unsigned long long)test_random_bits(random));
    message->occurrence = random_count(random);
    message->outcome = outcomes[test_random_below(random, 3)];
    message->reason = random_reason(random);
    message->trigger_seq = test_random_below(random, 2) ? random_count(random) : 0;
    message->decided_ns = random_time(random);
    message->wait_ms = random_real(random);
}

static void fill_delivery(test_random *random, sf_delivery_message *message)
{
    static const char *const outcomes[] = {"sent", "failed", "too old"};
    random_text(random, message->name, 64);
    random_text(random, message->sink, sizeof message->sink);
    message->trigger_seq = random_count(random);
    message->outcome = outcomes[test_random_below(random, 3)];
    message->sent_ns = random_time(random);
    message->latency_ms = random_real(random);
}

static void fill_features(test_random *random, sf_features_message *message)
{
    message->bin = random_count(random);
    message->window = random_span(random);
    message->partial = test_random_below(random, 2) == 1;
    message->lost = test_random_below(random, 2) == 1;
    message->values = random_list(random, sizeof *message->values, &message->count);
    for (size_t i = 0; i < message->count; i++)
        message->values[i] = (uint32_t)test_random_bits(random);
}

static void fill_burst(test_random *random, sf_burst_message *message)
{
    int64_t first_ns = (int64_t)test_random_below(random, 1000000);
    *message = (sf_burst_message){.event = test_random_below(random, 2) == 0 ? "begin" : "end",
                                  .burst = test_random_below(random, 1000),
                                  .first_ns = first_ns,
                                  .last_ns = first_ns + (int64_t)test_random_below(random, 1000000),
                                  .spikes = test_random_below(random, 1000),
                                  .units = test_random_below(random, 100)};
}

static double random_or_nan(test_random *random)
{
    return test_random_below(random, 4) == 0 ? NAN : 100 * test_random_unit(random);
}

static void fill_counts(test_random *random, sf_response_unit *unit, size_t index, uint64_t *bins,
                        size_t count)
{
    *unit = (sf_response_unit){.unit = (uint32_t)index,
                               .spikes = random_count(random),
                               .baseline_spikes = random_count(random),
                               .reliability = test_random_unit(random),
                               .baseline_reliability = test_random_unit(random),
                               .latency_ms = random_or_nan(random),
                               .jitter_ms = random_or_nan(random),
                               .bin_count = count,
                               .bins = bins + index * count};
    for (size_t i = 0; i < unit->bin_count; i++)
        unit->bins[i] = random_count(random);
}

static void fill_response(test_random *random, sf_response_message *message)
{
    snprintf(message->marker, sizeof message->marker, "light");
    message->marker_ns = random_time(random);
    message->trials = random_count(random);
    message->markers = random_count(random);
    message->exposed = test_random_unit(random);
    message->spikes = random_count(random);
    message->baseline_spikes = random_count(random);
    message->answers = random_count(random);
    message->exposed_ns = random_time(random);
    message->baseline_windows = random_count(random);
    message->first_ns = -(int64_t)test_random_below(random, 1000000);
    message->bin_ns = random_time(random);
    message->bin_exposed_ns = random_list(random, sizeof *message->bin_exposed_ns, &message->bin_count);
    for (size_t i = 0; i < message->bin_count; i++)
        message->bin_exposed_ns[i] = random_time(random);
    message->units = random_list(random, sizeof *message->units, &message->unit_count);
    message->chains = random_list(random, sizeof *message->chains, &message->chain_count);
    const size_t bins = message->bin_count;
    message->bins = sf_alloc((message->unit_count + message->chain_count) * bins, sizeof *message->bins);
    assert_non_null(message->bins);
    for (size_t u = 0; u < message->unit_count; u++)
        fill_counts(random, &message->units[u], u, message->bins, bins);
    for (size_t c = 0; c < message->chain_count; c++) {
        snprintf(message->chains[c].id, sizeof message->chains[c].id, "%016zx", c);
        snprintf(message->chains[c].name, sizeof message->chains[c].name, "chain %zu", c);
        fill_counts(random, &message->chains[c].counts, c, message->bins + message->unit_count * bins, bins);
    }
}

static void fill_features_names(test_random *random, sf_features_names_message *message)
{
    message->bin_ns = random_time(random);
    message->units = (size_t)random_count(random);
    message->episodes = (size_t)random_count(random);
    message->edges = (size_t)random_count(random);
    message->names = random_list(random, sizeof *message->names, &message->count);
    for (size_t i = 0; i < message->count; i++) {
        char name[64];
        random_text(random, name, sizeof name);
        message->names[i] = sf_copy_string(name);
    }
}

static void fill_density(test_random *random, sf_density_message *message)
{
    message->window = random_span(random);
    random_text(random, message->quantity, sizeof message->quantity);
    message->h = random_real(random);
    message->log_axis = test_random_below(random, 2) == 1;
    message->outside = random_real(random);
    message->grid_start = random_real(random);
    message->grid_step = random_real(random);
    message->values = random_list(random, sizeof *message->values, &message->count);
    for (size_t i = 0; i < message->count; i++)
        message->values[i] = random_real(random);
    if (message->count > 0 && message->count % 2 == 0) { /* over a plane */
        message->rows = 2;
        message->row_start = random_real(random);
        message->row_step = random_real(random);
    }
}

static void fill_reach(test_random *random, sf_reach_result *reach, const sf_units *units)
{
    reach->source = random_unit(random, units);
    reach->units = random_list(random, sizeof *reach->units, &reach->count);
    reach->levels = sf_alloc(reach->count, sizeof *reach->levels);
    reach->parents = sf_alloc(reach->count, sizeof *reach->parents);
    reach->delays = sf_alloc(reach->count, sizeof *reach->delays);
    for (size_t i = 0; i < reach->count; i++) {
        reach->units[i] = random_unit(random, units);
        reach->levels[i] = (uint32_t)test_random_below(random, 9);
        reach->parents[i] = i == 0 ? SF_NO_UNIT : random_unit(random, units);
        reach->delays[i] = (sf_delay){random_time(random), random_time(random)};
    }
}

static uint32_t *random_by_unit(test_random *random, const sf_units *units)
{
    uint32_t *values = sf_alloc(units->count, sizeof *values);
    for (size_t i = 0; i < units->count; i++)
        values[i] = (uint32_t)test_random_below(random, 1000);
    return values;
}

static sf_motif_spread random_spread(test_random *random)
{
    if (test_random_below(random, 3) == 0) return (sf_motif_spread){0};
    return (sf_motif_spread){.graphs = 1 + (uint32_t)test_random_below(random, 1000),
                             .window = random_span(random),
                             .count = random_count(random),
                             .mean = random_real(random),
                             .sd = random_real(random),
                             .z = random_real(random)};
}

static void fill_motif(test_random *random, sf_motif_result *motif, const sf_units *units)
{
    char pattern[64];
    random_text(random, pattern, sizeof pattern);
    motif->pattern = sf_copy_string(pattern);
    motif->count = random_count(random);
    motif->truncated = test_random_below(random, 2) == 1;
    motif->size = 1 + (uint32_t)test_random_below(random, 4);
    motif->embeddings = random_list(random, motif->size * sizeof *motif->embeddings, &motif->kept);
    for (size_t i = 0; i < motif->kept * motif->size; i++)
        motif->embeddings[i] = random_unit(random, units);
    motif->spread = random_spread(random);
}

static void fill_graph(test_random *random, sf_graph_message *message, const sf_units *units)
{
    message->window = random_span(random);
    message->is_tiling = test_random_below(random, 2) == 1;
    message->unit_count = units->count;
    message->threshold = random_real(random);
    message->edges = (size_t)random_count(random);
    message->left_out = random_left_out(random);
    message->pairs_tested = (size_t)random_count(random);
    message->pairs_by_chance = random_real(random);
    message->modularity = random_real(random);
    message->measures = random_list(random, sizeof *message->measures, &message->measure_count);
    message->measured = message->measure_count > 0;
    message->measured_in = message->window;
    for (size_t i = 0; i < message->measure_count; i++)
        message->measures[i] = (sf_unit_measures){.unit = random_unit(random, units),
                                                  .degree = random_count(random),
                                                  .strength = (double)test_random_below(random, 1000) / 8,
                                                  .module = random_count(random)};
    message->changes = random_list(random, sizeof *message->changes, &message->change_count);
    for (size_t i = 0; i < message->change_count; i++)
        message->changes[i] = (sf_edge_change){.from = random_unit(random, units),
                                               .to = random_unit(random, units),
                                               .delay = {random_time(random), random_time(random)},
                                               .count = random_count(random),
                                               .expected = random_real(random),
                                               .p = random_real(random),
                                               .weight = random_real(random),
                                               .q = random_real(random),
                                               .p_age_s = random_real(random),
                                               .least_q = random_real(random),
                                               .not_tested = random_reason(random),
                                               .removed = test_random_below(random, 2) == 1};
    message->reach = random_list(random, sizeof *message->reach, &message->reach_count);
    for (size_t i = 0; i < message->reach_count; i++)
        fill_reach(random, &message->reach[i], units);
    if (test_random_below(random, 2) == 1)
        message->reach_all = (sf_reach_counts){random_by_unit(random, units), random_by_unit(random, units)};
    if (test_random_below(random, 2) == 1)
        message->components = (sf_components_result){.count = (uint32_t)test_random_bits(random),
                                                     .largest = (uint32_t)test_random_bits(random),
                                                     .of_unit = random_by_unit(random, units)};
    message->motifs = random_list(random, sizeof *message->motifs, &message->motif_count);
    for (size_t i = 0; i < message->motif_count; i++)
        fill_motif(random, &message->motifs[i], units);
    message->triads = random_list(random, sizeof *message->triads, &message->triad_count);
    for (size_t i = 0; i < message->triad_count; i++) {
        sf_triad_result *triad = &message->triads[i];
        *triad = (sf_triad_result){.count = random_count(random), .spread = random_spread(random)};
        snprintf(triad->name, sizeof triad->name, "t%u", (unsigned)test_random_below(random, 1000));
    }
}

static sf_took random_took(test_random *random)
{
    return (sf_took){.count = random_count(random),
                     .busy_ms = random_real(random),
                     .p50_ms = random_real(random),
                     .p99_ms = random_real(random),
                     .max_ms = random_real(random)};
}

static void fill_source(test_random *random, sf_source_status *source)
{
    random_text(random, source->name, sizeof source->name);
    uint64_t *const counters[] = {&source->spikes,       &source->markers,         &source->late,
                                  &source->duplicate,    &source->out_of_range,    &source->dropped,
                                  &source->gaps,         &source->gap_lost,        &source->malformed,
                                  &source->leaps,        &source->restarts,        &source->held,
                                  &source->undone,       &source->steps,           &source->epochs,
                                  &source->markers_late, &source->markers_dropped, &source->markers_left_out,
                                  &source->other_streams};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        *counters[i] = random_count(random);
    source->ring_fill = (uint32_t)test_random_bits(random);
    source->ring_size = (uint32_t)test_random_bits(random);
    source->lateness_max_ns = random_time(random);
    source->silent_ns = random_time(random);
    source->behind_ns = (int64_t)test_random_below(random, 3) * 250000000 - 1;
    source->shift_ns = random_time(random);
    source->missing_spikes = (int64_t)test_random_below(random, 100) - 1;
    source->missing_markers = test_random_below(random, 2) == 1 ? -1 : 7;
    source->state = (sf_source_state)test_random_below(random, 5);
    source->ended = test_random_below(random, 2) == 1;
    static const char *const pulses[] = {NULL, "reference", "searching", "locked"};
    source->pulses = pulses[test_random_below(random, 4)];
    bool locked = source->pulses == pulses[3];
    source->pulse_ns = locked ? random_time(random) : INT64_MIN;
    source->offset_ns = locked ? random_time(random) : 0;
    source->drift_ppm = locked ? random_real(random) : NAN;
    source->residual_us = locked ? random_real(random) : NAN;
    static const char *const authentications[] = {NULL, "none", "curve"};
    source->authentication = authentications[test_random_below(random, 3)];
}

static void fill_criticality(test_random *random, sf_criticality_message *message)
{
    *message = (sf_criticality_message){.window = random_span(random),
                                        .partial = test_random_below(random, 2) == 1,
                                        .spikes = random_count(random),
                                        .duration_s = random_real(random),
                                        .branching_ratio = random_real(random),
                                        .branching_low = random_real(random),
                                        .branching_high = random_real(random),
                                        .branching_ratio_conventional = random_real(random),
                                        .timescale_s = random_real(random),
                                        .timescale_low_s = random_real(random),
                                        .timescale_high_s = random_real(random),
                                        .own_share = random_real(random),
                                        .lags = random_count(random),
                                        .blocks = random_count(random),
                                        .missed = random_count(random)};
    message->cautions = random_list(random, sizeof *message->cautions, &message->caution_count);
    for (size_t i = 0; i < message->caution_count; i++) {
        message->cautions[i].caution = test_random_below(random, 2) == 0 ? "drift" : "no-memory";
        random_text(random, message->cautions[i].text, sizeof message->cautions[i].text);
    }
}

static void fill_status(test_random *random, sf_status_message *message, const sf_units *units)
{
    message->spikes = random_count(random);
    message->rate_hz = random_real(random);
    message->control_refused = (int64_t)test_random_below(random, 100) - 1;
    message->unit_count = units->count;
    message->unit_rates_hz = sf_alloc(units->count, sizeof *message->unit_rates_hz);
    for (size_t i = 0; i < units->count; i++)
        message->unit_rates_hz[i] = random_real(random);
    message->sources = random_list(random, sizeof *message->sources, &message->source_count);
    for (size_t i = 0; i < message->source_count; i++)
        fill_source(random, &message->sources[i]);
    message->sinks = random_list(random, sizeof *message->sinks, &message->sink_count);
    for (size_t i = 0; i < message->sink_count; i++) {
        sf_sink_status *sink = &message->sinks[i];
        *sink = (sf_sink_status){.spikes = random_count(random),
                                 .spikes_lost = random_count(random),
                                 .markers = random_count(random),
                                 .markers_lost = random_count(random),
                                 .took = random_took(random),
                                 .journal_bytes = random_count(random),
                                 .syncs = random_count(random),
                                 .sync_max_ms = random_real(random),
                                 .disk_left_s = random_real(random),
                                 .refused = (int64_t)test_random_below(random, 100) - 1,
                                 .published = random_count(random),
                                 .dropped = random_count(random),
                                 .failed = random_count(random),
                                 .ring_fill = (uint32_t)test_random_bits(random),
                                 .ring_size = (uint32_t)test_random_bits(random)};
        random_text(random, sink->name, sizeof sink->name);
        random_text(random, sink->state, sizeof sink->state);
        random_text(random, sink->note, sizeof sink->note);
    }
    message->triggers = random_list(random, sizeof *message->triggers, &message->trigger_count);
    for (size_t i = 0; i < message->trigger_count; i++) {
        sf_trigger_status *trigger = &message->triggers[i];
        *trigger = (sf_trigger_status){.not_armed = random_reason(random),
                                       .armed_s = random_real(random),
                                       .armed_by = random_reason(random),
                                       .armed_at_s = random_real(random),
                                       .completed = random_count(random),
                                       .sent = random_count(random),
                                       .sham = random_count(random),
                                       .withheld = random_count(random),
                                       .waiting = (uint32_t)test_random_bits(random),
                                       .chance_per_min = random_real(random)};
        random_text(random, trigger->name, sizeof trigger->name);
    }
    message->decisions_lost = random_count(random);
    message->features_lost = random_count(random);
    message->dedup_dropped = random_count(random);
    message->blank_dropped = random_count(random);
    message->trigger_dropped = random_count(random);
    static const char *const stages[SF_STATUS_STAGES] = {"merge",    "watch",   "count", "discover", "graph",
                                                         "density",  "publish", "other", "pairs",    "reach",
                                                         "patterns", "census",  "mine",  "rewire"};
    message->stage_count = test_random_below(random, SF_STATUS_STAGES + 1);
    for (size_t i = 0; i < message->stage_count; i++) {
        message->stages[i] = (sf_stage_status){.name = stages[i],
                                               .last_ms = random_real(random),
                                               .max_ms = random_real(random),
                                               .share = random_real(random),
                                               .missed = random_count(random),
                                               .took = random_took(random)};
        random_text(random, message->stages[i].device, sizeof message->stages[i].device);
    }
    message->run_s = random_real(random);
    message->hop_ms = random_real(random);
    message->window_fill = random_count(random);
    message->window_size = random_count(random);
    message->latency = random_took(random);
    message->tracked = (size_t)random_count(random);
    message->list_age_s = random_real(random);
    message->list_every_s = random_real(random);
    message->lists_missed = random_count(random);
    message->watched = (size_t)random_count(random);
    message->edges = (size_t)random_count(random);
    message->window_dropped = random_count(random);
    message->watch_overflows = random_count(random);
    random_text(random, message->device, sizeof message->device);
    random_text(random, message->device_state, sizeof message->device_state);
    random_text(random, message->device_note, sizeof message->device_note);
    message->device_memory = random_count(random);
    random_text(random, message->counting_device, sizeof message->counting_device);
    random_text(random, message->discovery_device, sizeof message->discovery_device);
    message->discovery_ms = random_real(random);
    message->tested = (size_t)random_count(random);
    message->tests = random_count(random);
    message->tests_missed = random_count(random);
    random_text(random, message->test_device, sizeof message->test_device);
    message->test_ms = random_real(random);
    message->test_share = random_real(random);
    message->test_length_s = random_real(random);
    message->not_tested = random_reason(random);
    message->last = test_random_below(random, 2) == 1;
    message->branching_ratio = random_real(random);
    message->branching_low = random_real(random);
    message->branching_high = random_real(random);
    message->branching_at_s = random_real(random);
    random_text(random, message->branching_cautions, sizeof message->branching_cautions);
    message->branching_missed = random_count(random);
}

/* Recorded data are in time order; the recorder's tests set the times they need. */
sf_message *test_message_random(test_random *random, sf_topic topic, const sf_units *units)
{
    sf_message *message = sf_message_new(topic);
    assert_non_null(message);
    message->seq = 1;
    message->time_ns = random_time(random);
    message->arrival_ns = test_random_below(random, 4) == 0 ? 0 : sf_clock_monotonic_ns();
    switch (topic) {
    case SF_TOPIC_EPISODES:
        fill_episodes(random, &message->episodes, units);
        break;
    case SF_TOPIC_TRIGGER:
        fill_trigger(random, &message->trigger);
        break;
    case SF_TOPIC_DENSITY:
        fill_density(random, &message->density);
        break;
    case SF_TOPIC_GRAPH:
        fill_graph(random, &message->graph, units);
        break;
    case SF_TOPIC_STATUS:
        fill_status(random, &message->status, units);
        break;
    case SF_TOPIC_DECISION:
        fill_decision(random, &message->decision);
        break;
    case SF_TOPIC_DELIVERY:
        fill_delivery(random, &message->delivery);
        break;
    case SF_TOPIC_FEATURES:
        fill_features(random, &message->features);
        break;
    case SF_TOPIC_FEATURES_NAMES:
        fill_features_names(random, &message->features_names);
        break;
    case SF_TOPIC_RESPONSE:
        fill_response(random, &message->response);
        break;
    case SF_TOPIC_CRITICALITY:
        fill_criticality(random, &message->criticality);
        break;
    case SF_TOPIC_BURST:
        fill_burst(random, &message->burst);
        break;
    case SF_TOPIC_COUNT:
        break;
    }
    return message;
}

void test_assert_same_counts(const sf_episode_count *found, const sf_episode_count *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const sf_episode_count *a = &found[i], *b = &expected[i];
        assert_memory_equal(&a->episode, &b->episode, sizeof a->episode);
        assert_string_equal(a->id, b->id);
        assert_int_equal(a->count, b->count);
        const double reals[] = {a->expected, a->p, a->q, a->p_age_s, a->least_q};
        const double others[] = {b->expected, b->p, b->q, b->p_age_s, b->least_q};
        for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
            test_assert_same(reals[k], others[k]);
        assert_int_equal(a->tests, b->tests);
        assert_true(a->not_tested == b->not_tested);
        assert_int_equal(a->standing, b->standing);
        assert_string_equal(a->folded_under, b->folded_under);
    }
}
