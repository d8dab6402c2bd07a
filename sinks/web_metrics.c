/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run for machines: Prometheus' text form, and whether all is well. */
#include "core/json.h"
#include "sinks/web_board.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What a value is of, as a label: escaped as the form asks, and without what is no text. */
static void add_label(sf_text *text, const char *name, const char *value)
{
    char visible[512];
    sf_visible_printf(visible, sizeof visible, "%s", value);
    sf_text_printf(text, "%s=\"", name);
    for (const char *c = visible; *c != '\0'; c++) {
        if (*c == '\\' || *c == '"')
            sf_text_append(text, "\\", 1);
        sf_text_append(text, c, 1);
    }
    sf_text_append(text, "\"", 1);
}

static void head(sf_text *text, const char *name, const char *type, const char *help)
{
    sf_text_printf(text, "# HELP synfire_%s %s\n# TYPE synfire_%s %s\n", name, help, name, type);
}

static void one(sf_text *text, const char *name, const char *type, const char *help, double value)
{
    if (!isfinite(value))
        return;
    head(text, name, type, help);
    sf_text_printf(text, "synfire_%s ", name);
    sf_text_real(text, value);
    sf_text_append(text, "\n", 1);
}

/* name{source="0",name="..." : the number keeps two of one name apart. */
static void begin_row(sf_text *text, const char *name, const char *kind, size_t index, const char *label)
{
    sf_text_printf(text, "synfire_%s{%s=\"%zu\",", name, kind, index);
    add_label(text, "name", label);
}

static void end_row(sf_text *text, const char *label, const char *value, double number)
{
    if (label != NULL)
        sf_text_printf(text, ",%s=\"%s\"", label, value);
    sf_text_printf(text, "} ");
    sf_text_real(text, number);
    sf_text_append(text, "\n", 1);
}

typedef uint64_t source_count(const sf_source_status *source);

static uint64_t spikes_of(const sf_source_status *source)
{
    return source->spikes;
}

static uint64_t held_of(const sf_source_status *source)
{
    return source->held;
}

static uint64_t duplicate_of(const sf_source_status *source)
{
    return source->duplicate;
}

static uint64_t gap_lost_of(const sf_source_status *source)
{
    return source->gap_lost;
}

static uint64_t malformed_of(const sf_source_status *source)
{
    return source->malformed;
}

static void add_each_source(sf_text *text, const sf_status_message *status, const char *name,
                            const char *type, const char *help, source_count *count)
{
    head(text, name, type, help);
    for (size_t i = 0; i < status->source_count; i++) {
        begin_row(text, name, "source", i, status->sources[i].name);
        end_row(text, NULL, NULL, (double)count(&status->sources[i]));
    }
}

/* The sender tells the first in its END, and a recording never. */
static void add_missing(sf_text *text, const sf_status_message *status)
{
    head(text, "source_missing_spikes_total", "counter",
         "Spikes that the sender counts and that did not come.");
    for (size_t i = 0; i < status->source_count; i++) {
        if (status->sources[i].missing_spikes < 0)
            continue;
        begin_row(text, "source_missing_spikes_total", "source", i, status->sources[i].name);
        end_row(text, NULL, NULL, (double)status->sources[i].missing_spikes);
    }
    head(text, "source_lost_markers_total", "counter", "Markers that did not enter, by cause.");
    for (size_t i = 0; i < status->source_count; i++) {
        const sf_source_status *source = &status->sources[i];
        begin_row(text, "source_lost_markers_total", "source", i, source->name);
        end_row(text, "cause", "late", (double)source->markers_late);
        begin_row(text, "source_lost_markers_total", "source", i, source->name);
        end_row(text, "cause", "dropped", (double)source->markers_dropped);
        begin_row(text, "source_lost_markers_total", "source", i, source->name);
        end_row(text, "cause", "leaps", (double)source->markers_left_out);
    }
}

static void add_sources(sf_text *text, const sf_status_message *status)
{
    add_each_source(text, status, "source_spikes_total", "counter",
                    "Spikes that came of a source, whatever became of them.", spikes_of);
    add_each_source(text, status, "source_held_spikes", "gauge", "Spikes of times that are in doubt now.",
                    held_of);
    add_each_source(
        text, status, "source_duplicate_spikes_total", "counter",
        "Repeats of a unit at one instant; they do not enter where merge.drop_duplicates says so.",
        duplicate_of);
    head(text, "source_lost_spikes_total", "counter", "Spikes that did not enter, by cause.");
    for (size_t i = 0; i < status->source_count; i++) {
        const sf_source_status *source = &status->sources[i];
        const struct {
            const char *cause;
            uint64_t count;
        } lost[] = {{"late", source->late},
                    {"out_of_range", source->out_of_range},
                    {"dropped", source->dropped},
                    {"leaps", source->leaps}};
        for (size_t k = 0; k < sizeof lost / sizeof lost[0]; k++) {
            begin_row(text, "source_lost_spikes_total", "source", i, source->name);
            end_row(text, "cause", lost[k].cause, (double)lost[k].count);
        }
    }
    add_missing(text, status);
    add_each_source(text, status, "source_gap_frames_total", "counter",
                    "Frames lost in breaks of the sender's numbering.", gap_lost_of);
    add_each_source(text, status, "source_malformed_frames_total", "counter", "Frames with a fault.",
                    malformed_of);
    head(text, "source_silent_seconds", "gauge", "Since a source was heard last.");
    for (size_t i = 0; i < status->source_count; i++) {
        begin_row(text, "source_silent_seconds", "source", i, status->sources[i].name);
        end_row(text, NULL, NULL, (double)status->sources[i].silent_ns * 1e-9);
    }
    head(text, "source_behind_seconds", "gauge", "The newest spikes came so long after they were due.");
    for (size_t i = 0; i < status->source_count; i++) {
        if (status->sources[i].behind_ns < 0)
            continue;
        begin_row(text, "source_behind_seconds", "source", i, status->sources[i].name);
        end_row(text, NULL, NULL, (double)status->sources[i].behind_ns * 1e-9);
    }
    head(text, "source_state", "gauge", "1 for the state that a source is in.");
    for (size_t i = 0; i < status->source_count; i++)
        for (sf_source_state state = SF_SOURCE_LIVE; state <= SF_SOURCE_FAILED; state++) {
            begin_row(text, "source_state", "source", i, status->sources[i].name);
            end_row(text, "state", sf_source_state_name(state), status->sources[i].state == state ? 1 : 0);
        }
}

static void add_sinks(sf_text *text, const sf_status_message *status)
{
    head(text, "sink_messages_total", "counter", "Messages by what became of them.");
    for (size_t i = 0; i < status->sink_count; i++) {
        const sf_sink_status *sink = &status->sinks[i];
        const struct {
            const char *result;
            uint64_t count;
        } told[] = {{"published", sink->published}, {"dropped", sink->dropped}, {"failed", sink->failed}};
        for (size_t k = 0; k < 3; k++) {
            begin_row(text, "sink_messages_total", "sink", i, sink->name);
            end_row(text, "result", told[k].result, (double)told[k].count);
        }
    }
    head(text, "sink_spikes_total", "counter", "Raw spikes of a recorder by what became of them.");
    for (size_t i = 0; i < status->sink_count; i++) {
        begin_row(text, "sink_spikes_total", "sink", i, status->sinks[i].name);
        end_row(text, "result", "recorded", (double)status->sinks[i].spikes);
        begin_row(text, "sink_spikes_total", "sink", i, status->sinks[i].name);
        end_row(text, "result", "lost", (double)status->sinks[i].spikes_lost);
    }
    head(text, "sink_journal_bytes_total", "counter", "Bytes that went into a recorder's journals.");
    for (size_t i = 0; i < status->sink_count; i++) {
        begin_row(text, "sink_journal_bytes_total", "sink", i, status->sinks[i].name);
        end_row(text, NULL, NULL, (double)status->sinks[i].journal_bytes);
    }
    head(text, "sink_syncs_total", "counter", "Times that a recorder's journal was brought to the disk.");
    for (size_t i = 0; i < status->sink_count; i++) {
        begin_row(text, "sink_syncs_total", "sink", i, status->sinks[i].name);
        end_row(text, NULL, NULL, (double)status->sinks[i].syncs);
    }
    head(text, "sink_sync_max_seconds", "gauge", "The longest of these.");
    for (size_t i = 0; i < status->sink_count; i++) {
        if (!isfinite(status->sinks[i].sync_max_ms))
            continue;
        begin_row(text, "sink_sync_max_seconds", "sink", i, status->sinks[i].name);
        end_row(text, NULL, NULL, status->sinks[i].sync_max_ms * 1e-3);
    }
    head(text, "sink_disk_left_seconds", "gauge", "Until a recorder's disk is full at the present rate.");
    for (size_t i = 0; i < status->sink_count; i++) {
        if (!isfinite(status->sinks[i].disk_left_s))
            continue;
        begin_row(text, "sink_disk_left_seconds", "sink", i, status->sinks[i].name);
        end_row(text, NULL, NULL, status->sinks[i].disk_left_s);
    }
    head(text, "sink_refused_total", "counter", "Connections without a key that is let in.");
    for (size_t i = 0; i < status->sink_count; i++) {
        if (status->sinks[i].refused < 0)
            continue;
        begin_row(text, "sink_refused_total", "sink", i, status->sinks[i].name);
        end_row(text, NULL, NULL, (double)status->sinks[i].refused);
    }
    head(text, "sink_ok", "gauge", "0 where something could not be written or sent.");
    for (size_t i = 0; i < status->sink_count; i++) {
        begin_row(text, "sink_ok", "sink", i, status->sinks[i].name);
        end_row(text, NULL, NULL, strcmp(status->sinks[i].state, "ok") == 0 ? 1 : 0);
    }
}

/* The sum of it is how busy a step was: its rate is a share of one core. */
static void add_took(sf_text *text, const char *name, const char *label, const char *of, const sf_took *took)
{
    const struct {
        const char *share;
        double ms;
    } told[] = {{"0.5", took->p50_ms}, {"0.99", took->p99_ms}, {"1", took->max_ms}};
    for (size_t i = 0; i < 3; i++)
        if (isfinite(told[i].ms))
            sf_text_printf(text, "synfire_%s{%s=\"%s\",quantile=\"%s\"} %.9g\n", name, label, of,
                           told[i].share, told[i].ms * 1e-3);
    sf_text_printf(text, "synfire_%s_sum{%s=\"%s\"} %.9g\n", name, label, of, took->busy_ms * 1e-3);
    sf_text_printf(text, "synfire_%s_count{%s=\"%s\"} %" PRIu64 "\n", name, label, of, took->count);
}

static void add_stages(sf_text *text, const sf_status_message *status)
{
    head(text, "stage_seconds", "gauge", "What a step of the newest hop took.");
    for (size_t i = 0; i < status->stage_count; i++)
        if (isfinite(status->stages[i].last_ms))
            sf_text_printf(text, "synfire_stage_seconds{stage=\"%s\"} %.9g\n", status->stages[i].name,
                           status->stages[i].last_ms * 1e-3);
    head(text, "stage_duration_seconds", "summary",
         "What a step took, by hop; `watch`: each time that spikes came.");
    for (size_t i = 0; i < status->stage_count; i++)
        add_took(text, "stage_duration_seconds", "stage", status->stages[i].name, &status->stages[i].took);
    head(text, "stage_missed_total", "counter", "Hops in which a step took longer than a hop lasts.");
    for (size_t i = 0; i < status->stage_count; i++)
        sf_text_printf(text, "synfire_stage_missed_total{stage=\"%s\"} %" PRIu64 "\n", status->stages[i].name,
                       status->stages[i].missed);
}

static void add_triggers(sf_text *text, const sf_web_board *board)
{
    size_t count;
    const sf_web_watched *watched = sf_web_board_watched(board, &count);
    head(text, "triggers_total", "counter", "Completions of a watched episode.");
    for (size_t i = 0; i < count; i++) {
        if (watched[i].trigger != NULL)
            continue; /* its status tells what became of each */
        begin_row(text, "triggers_total", "watch", i, watched[i].text);
        end_row(text, NULL, NULL, (double)watched[i].triggers);
    }
}

static void add_named_triggers(sf_text *text, const sf_status_message *status)
{
    head(text, "trigger_completions_total", "counter",
         "Completions of a trigger with a name, by what became of them.");
    for (size_t i = 0; i < status->trigger_count; i++) {
        const sf_trigger_status *trigger = &status->triggers[i];
        const struct {
            const char *result;
            uint64_t count;
        } told[] = {{"sent", trigger->sent}, {"sham", trigger->sham}, {"withheld", trigger->withheld}};
        for (size_t k = 0; k < 3; k++) {
            begin_row(text, "trigger_completions_total", "trigger", i, trigger->name);
            end_row(text, "result", told[k].result, (double)told[k].count);
        }
    }
    head(text, "trigger_waiting", "gauge", "Completions that wait for their delay.");
    for (size_t i = 0; i < status->trigger_count; i++) {
        begin_row(text, "trigger_waiting", "trigger", i, status->triggers[i].name);
        end_row(text, NULL, NULL, status->triggers[i].waiting);
    }
    head(text, "trigger_armed", "gauge", "1 where a trigger may be sent.");
    for (size_t i = 0; i < status->trigger_count; i++) {
        begin_row(text, "trigger_armed", "trigger", i, status->triggers[i].name);
        end_row(text, NULL, NULL, status->triggers[i].not_armed == NULL ? 1 : 0);
    }
}

/* What is recorded and enters no count. */
static void add_left_out(sf_text *text, const sf_status_message *status)
{
    const struct {
        const char *cause;
        uint64_t count;
    } left_out[] = {{"dedup", status->dedup_dropped},
                    {"blank", status->blank_dropped},
                    {"trigger", status->trigger_dropped}};
    head(text, "not_analysed_spikes_total", "counter",
         "Spikes that are recorded and not analysed, by cause.");
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        sf_text_printf(text, "synfire_not_analysed_spikes_total{cause=\"%s\"} %" PRIu64 "\n",
                       left_out[i].cause, left_out[i].count);
}

static void add_status(sf_text *text, const sf_status_message *status)
{
    one(text, "run_seconds", "gauge", "Since the run was opened.", status->run_s);
    one(text, "hop_seconds", "gauge", "How long a hop lasts.", status->hop_ms * 1e-3);
    one(text, "spikes_total", "counter", "Spikes that have come to the windows.", (double)status->spikes);
    one(text, "rate_hertz", "gauge", "All units together, over the window.", status->rate_hz);
    one(text, "units", "gauge", "Units of the run.", (double)status->unit_count);
    one(text, "tracked_episodes", "gauge", "Episodes that are counted every hop.", (double)status->tracked);
    one(text, "list_age_seconds", "gauge",
        "Stream time since the window in which the list of these was found.", status->list_age_s);
    one(text, "list_every_seconds", "gauge", "Stream time from one list to the next.", status->list_every_s);
    one(text, "lists_missed_total", "counter", "Windows that were to be mined and were not.",
        (double)status->lists_missed);
    one(text, "watched_episodes", "gauge", "Episodes that are watched.", (double)status->watched);
    one(text, "graph_edges", "gauge", "Edges of the connectivity graph.", (double)status->edges);
    one(text, "window_lost_spikes_total", "counter", "Spikes that the window path had no room for.",
        (double)status->window_dropped);
    one(text, "window_waiting_spikes", "gauge", "Spikes that wait for the windows.",
        (double)status->window_fill);
    head(text, "latency_seconds", "summary", "From the arrival of a spike until it had been watched.");
    add_took(text, "latency_seconds", "of", "watch", &status->latency);
    one(text, "watch_overflows_total", "counter", "Occurrences in progress that the watch gave up.",
        (double)status->watch_overflows);
    one(text, "tests_total", "counter", "Stretches of the stream that were tested.", (double)status->tests);
    one(text, "tests_missed_total", "counter", "Stretches left out for the time that tests take.",
        (double)status->tests_missed);
    one(text, "device_ok", "gauge", "0 where the device has failed and the CPU does its work.",
        strcmp(status->device_state, "sick") == 0 ? 0 : 1);
    one(text, "device_memory_bytes", "gauge", "Of the device's memory, what the run's jobs took at most.",
        (double)status->device_memory);
    add_left_out(text, status);
    add_named_triggers(text, status);
    add_sources(text, status);
    add_sinks(text, status);
    add_stages(text, status);
}

void sf_web_board_metrics(sf_web_board *board, sf_text *text)
{
    const sf_message *status = sf_web_board_status(board);
    head(text, "info", "gauge", "The program and the stream.");
    sf_text_printf(text, "synfire_info{version=\"%s\",", SYNFIRE_VERSION);
    add_label(text, "stream", sf_web_board_stream(board)->name);
    sf_text_printf(text, "} 1\n");
    one(text, "data_age_seconds", "gauge", "Since the newest spike came.", sf_web_board_age_ms(board) * 1e-3);
    add_triggers(text, board);
    if (status != NULL)
        add_status(text, &status->status);
}

/* ---- is all well? ---- */

static void complain(sf_json *json, bool *well, const char *what, const char *name, const char *state)
{
    sf_json_object(json, NULL);
    sf_json_string(json, what, name);
    sf_json_string(json, "state", state);
    sf_json_end_object(json);
    *well = false;
}

bool sf_web_board_health(sf_web_board *board, sf_text *text)
{
    const sf_message *message = sf_web_board_status(board);
    const sf_status_message *status = message != NULL ? &message->status : &(const sf_status_message){0};
    bool well = true;
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_array(&json, "troubles");
    for (size_t i = 0; i < status->source_count; i++) {
        const sf_source_status *source = &status->sources[i];
        if (source->state != SF_SOURCE_LIVE && source->state != SF_SOURCE_ENDED)
            complain(&json, &well, "source", source->name, sf_source_state_name(source->state));
    }
    for (size_t i = 0; i < status->sink_count; i++)
        if (strcmp(status->sinks[i].state, "ok") != 0)
            complain(&json, &well, "sink", status->sinks[i].name, status->sinks[i].state);
    if (strcmp(status->device_state, "sick") == 0)
        complain(&json, &well, "device", status->device, status->device_state);
    sf_json_end_array(&json);
    sf_json_bool(&json, "ok", well);
    sf_json_real(&json, "age_ms", sf_web_board_age_ms(board));
    sf_json_end_object(&json);
    sf_text_append(text, "\n", 1);
    return well;
}
