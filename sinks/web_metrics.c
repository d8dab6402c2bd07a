/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run for machines: Prometheus' text form, and whether all is well. */
#include "core/json.h"
#include "sinks/web_board.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* What a value is of, as a label: escaped as the form asks, and without what is no text. */
static void add_label(sf_text *text, const char *name, const char *value)
{
    char visible[512];
    sf_visible_printf(visible, sizeof visible, "%s", value);
    sf_text_printf(text, "%s=\"", name);
    for (const char *c = visible; *c != '\0'; c++) {
        if (*c == '\\' || *c == '"') sf_text_append(text, "\\", 1);
        sf_text_append(text, c, 1);
    }
    sf_text_append(text, "\"", 1);
}

static void head(sf_text *text, const char *name, const char *type, const char *help)
{
    sf_text_printf(text, "# HELP synfire_%s %s\n# TYPE synfire_%s %s\n", name, help, name, type);
}

/* ---- metrics of a member, a row each ---- */

typedef enum form { COUNT, WHOLE, SIGNED, REAL } form;

typedef struct metric {
    const char *name, *type, *help;
    const char *label, *value; /* which of several of one name: `cause`, `late`; NULL: the only one */
    size_t member;
    form form;                     /* of the member; a negative one and NaN are not told */
    double unit;                   /* of the member, in that of the metric */
    double (*get)(const void *of); /* in place of a member */
} metric;

#define FORM_OF(value) _Generic((value), uint64_t : COUNT, uint32_t : WHOLE, int64_t : SIGNED, double : REAL)
#define OF(of, unit_of) .member = offsetof(ROW, of), .unit = unit_of, .form = FORM_OF(((ROW *)0)->of)
#define IS(metric_name, kind, about) .name = metric_name, .type = kind, .help = about
#define COUNTER(name, of, about) IS(name "_total", "counter", about), OF(of, 1)
#define PART(name, label_name, part, of, about) COUNTER(name, of, about), .label = label_name, .value = part
#define GAUGE(name, of, about) IS(name, "gauge", about), OF(of, 1)
#define SECONDS(name, of, unit_of, about) IS(name "_seconds", "gauge", about), OF(of, unit_of)
#define WHETHER(name, getter, about) IS(name, "gauge", about), .get = getter

static double value_of(const metric *is, const void *of)
{
    const void *at = (const char *)of + is->member;
    if (is->get != NULL) return is->get(of);
    double value = is->form == COUNT    ? (double)*(const uint64_t *)at
                   : is->form == WHOLE  ? *(const uint32_t *)at
                   : is->form == SIGNED ? (double)*(const int64_t *)at
                                        : *(const double *)at;
    return is->form == SIGNED && value < 0 ? NAN : value * is->unit;
}

static void one(sf_text *text, const metric *is, double value)
{
    if (!isfinite(value)) return;
    head(text, is->name, is->type, is->help);
    sf_text_printf(text, "synfire_%s ", is->name);
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
    if (label != NULL) sf_text_printf(text, ",%s=\"%s\"", label, value);
    sf_text_printf(text, "} ");
    sf_text_real(text, number);
    sf_text_append(text, "\n", 1);
}

/* Metrics of an array of structs, each of which begins with its name. */
static void each(sf_text *text, const metric *rows, const char *kind, const void *items, size_t count,
                 size_t size)
{
    for (const metric *first = rows, *end; first->name != NULL; first = end) {
        for (end = first + 1; end->name != NULL && strcmp(end->name, first->name) == 0;)
            end++;
        head(text, first->name, first->type, first->help);
        for (size_t i = 0; i < count; i++)
            for (const metric *row = first; row < end; row++) {
                const void *item = (const char *)items + i * size;
                double value = value_of(row, item);
                if (!isfinite(value)) continue;
                begin_row(text, row->name, kind, i, item);
                end_row(text, row->label, row->value, value);
            }
    }
}

#define NOT_IN "Spikes that did not enter, by cause."
#define NO_MARKER "Markers that did not enter, by cause."
#define ROW sf_source_status
static const metric of_sources[] = {
    {COUNTER("source_spikes", spikes, "Spikes that came of a source, whatever became of them.")},
    {GAUGE("source_held_spikes", held, "Spikes of times that are in doubt now.")},
    {COUNTER("source_duplicate_spikes", duplicate,
             "Repeats of a unit at one instant; they do not enter where merge.drop_duplicates says so.")},
    {PART("source_lost_spikes", "cause", "late", late, NOT_IN)},
    {PART("source_lost_spikes", "cause", "out_of_range", out_of_range, NOT_IN)},
    {PART("source_lost_spikes", "cause", "dropped", dropped, NOT_IN)},
    {PART("source_lost_spikes", "cause", "leaps", leaps, NOT_IN)},
    {COUNTER("source_missing_spikes", missing_spikes,
             "Spikes that the sender counts and that did not come.")},
    {PART("source_lost_markers", "cause", "late", markers_late, NO_MARKER)},
    {PART("source_lost_markers", "cause", "dropped", markers_dropped, NO_MARKER)},
    {PART("source_lost_markers", "cause", "leaps", markers_left_out, NO_MARKER)},
    {COUNTER("source_gap_frames", gap_lost, "Frames lost in breaks of the sender's numbering.")},
    {COUNTER("source_malformed_frames", malformed, "Frames with a fault.")},
    {COUNTER("source_other_streams", other_streams,
             "Events or datagrams of other streams of a sender than the one that is read.")},
    {SECONDS("source_silent", silent_ns, 1e-9, "Since a source was heard last.")},
    {SECONDS("source_behind", behind_ns, 1e-9, "The newest spikes came so long after they were due.")},
    {0},
};
#undef ROW

static void add_sources(sf_text *text, const sf_status_message *status)
{
    each(text, of_sources, "source", status->sources, status->source_count, sizeof *status->sources);
    head(text, "source_state", "gauge", "1 for the state that a source is in.");
    for (size_t i = 0; i < status->source_count; i++)
        for (sf_source_state state = SF_SOURCE_LIVE; state <= SF_SOURCE_FAILED; state++) {
            begin_row(text, "source_state", "source", i, status->sources[i].name);
            end_row(text, "state", sf_source_state_name(state), status->sources[i].state == state ? 1 : 0);
        }
}

static double is_ok(const void *sink)
{
    return strcmp(((const sf_sink_status *)sink)->state, "ok") == 0;
}

#define MESSAGES "Messages by what became of them."
#define RAW "Raw spikes of a recorder by what became of them."
#define ROW sf_sink_status
static const metric of_sinks[] = {
    {PART("sink_messages", "result", "published", published, MESSAGES)},
    {PART("sink_messages", "result", "dropped", dropped, MESSAGES)},
    {PART("sink_messages", "result", "failed", failed, MESSAGES)},
    {PART("sink_spikes", "result", "recorded", spikes, RAW)},
    {PART("sink_spikes", "result", "lost", spikes_lost, RAW)},
    {COUNTER("sink_journal_bytes", journal_bytes, "Bytes that went into a recorder's journals.")},
    {COUNTER("sink_syncs", syncs, "Times that a recorder's journal was brought to the disk.")},
    {SECONDS("sink_sync_max", sync_max_ms, 1e-3, "The longest of these.")},
    {SECONDS("sink_disk_left", disk_left_s, 1, "Until a recorder's disk is full at the present rate.")},
    {COUNTER("sink_refused", refused, "Connections without a key that is let in.")},
    {WHETHER("sink_ok", is_ok, "0 where something could not be written or sent.")},
    {0},
};
#undef ROW

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
        if (watched[i].trigger != NULL) continue; /* its status tells what became of each */
        begin_row(text, "triggers_total", "watch", i, watched[i].text);
        end_row(text, NULL, NULL, (double)watched[i].triggers);
    }
}

static double is_armed(const void *trigger)
{
    return ((const sf_trigger_status *)trigger)->not_armed == NULL;
}

#define COMPLETIONS "Completions of a trigger with a name, by what became of them."
#define ROW sf_trigger_status
static const metric of_triggers[] = {
    {PART("trigger_completions", "result", "sent", sent, COMPLETIONS)},
    {PART("trigger_completions", "result", "sham", sham, COMPLETIONS)},
    {PART("trigger_completions", "result", "withheld", withheld, COMPLETIONS)},
    {GAUGE("trigger_waiting", waiting, "Completions that wait for their delay.")},
    {WHETHER("trigger_armed", is_armed, "1 where a trigger may be sent.")},
    {0},
};
#undef ROW

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

static double is_device_ok(const void *status)
{
    return strcmp(((const sf_status_message *)status)->device_state, "sick") != 0;
}

static double is_branching_doubted(const void *status)
{
    const sf_status_message *of = status;
    return isnan(of->branching_at_s) ? NAN : of->branching_cautions[0] != '\0';
}

#define ROW sf_status_message
static const metric of_run[] = {
    {SECONDS("run", run_s, 1, "Since the run was opened.")},
    {SECONDS("hop", hop_ms, 1e-3, "How long a hop lasts.")},
    {COUNTER("spikes", spikes, "Spikes that have come to the windows.")},
    {GAUGE("rate_hertz", rate_hz, "All units together, over the window.")},
    {GAUGE("units", unit_count, "Units of the run.")},
    {GAUGE("tracked_episodes", tracked, "Episodes that are counted every hop.")},
    {SECONDS("list_age", list_age_s, 1,
             "Stream time since the window in which the list of these was found.")},
    {SECONDS("list_every", list_every_s, 1, "Stream time from one list to the next.")},
    {COUNTER("lists_missed", lists_missed, "Windows that were to be mined and were not.")},
    {GAUGE("watched_episodes", watched, "Episodes that are watched.")},
    {GAUGE("graph_edges", edges, "Edges of the connectivity graph.")},
    {COUNTER("window_lost_spikes", window_dropped, "Spikes that the window path had no room for.")},
    {GAUGE("window_waiting_spikes", window_fill, "Spikes that wait for the windows.")},
    {0},
};
static const metric of_work[] = {
    {COUNTER("watch_overflows", watch_overflows, "Occurrences in progress that the watch gave up.")},
    {COUNTER("tests", tests, "Stretches of the stream that were tested.")},
    {COUNTER("tests_missed", tests_missed, "Stretches left out for the time that tests take.")},
    {GAUGE("branching_ratio", branching_ratio, "Of the last spikes, by multistep regression.")},
    {GAUGE("branching_ratio_low", branching_low, "Lower end of its 95 % interval.")},
    {GAUGE("branching_ratio_high", branching_high, "Upper end of its 95 % interval.")},
    {WHETHER("branching_ratio_doubted", is_branching_doubted,
             "1 where there is a reason not to believe it.")},
    {COUNTER("branching_ratio_missed", branching_missed,
             "Windows that were due while the one before was still looked at.")},
    {WHETHER("device_ok", is_device_ok, "0 where the device has failed and the CPU does its work.")},
    {GAUGE("device_memory_bytes", device_memory,
           "Of the device's memory, what the run's jobs took at most.")},
    {0},
};
#undef ROW

static void add_status(sf_text *text, const sf_status_message *status)
{
    for (const metric *row = of_run; row->name != NULL; row++)
        one(text, row, value_of(row, status));
    head(text, "latency_seconds", "summary", "From the arrival of a spike until it had been watched.");
    add_took(text, "latency_seconds", "of", "watch", &status->latency);
    for (const metric *row = of_work; row->name != NULL; row++)
        one(text, row, value_of(row, status));
    add_left_out(text, status);
    each(text, of_triggers, "trigger", status->triggers, status->trigger_count, sizeof *status->triggers);
    add_sources(text, status);
    each(text, of_sinks, "sink", status->sinks, status->sink_count, sizeof *status->sinks);
    add_stages(text, status);
}

void sf_web_board_metrics(sf_web_board *board, sf_text *text)
{
    const sf_message *status = sf_web_board_status(board);
    head(text, "info", "gauge", "The program and the stream.");
    sf_text_printf(text, "synfire_info{version=\"%s\",", SYNFIRE_VERSION);
    add_label(text, "stream", sf_web_board_stream(board)->name);
    sf_text_printf(text, "} 1\n");
    one(text, &(const metric){IS("data_age_seconds", "gauge", "Since the newest spike came.")},
        sf_web_board_age_ms(board) * 1e-3);
    add_triggers(text, board);
    if (status != NULL) add_status(text, &status->status);
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
