/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"

#include "app/mining.h"
#include "app/preset.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "core/seconds.h"
#include "core/text.h"
#include "tools/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <synfire/graph.h>

const app_option app_selection_options[] = {
    {.name = "units"},     {.name = "kind"},
    {.name = "from"},      {.name = "to"},
    {.name = "epochs"},    {.name = "dedup"},
    {.name = "blank"},     APP_PRESET_OPTION,
    {.name = "stream"},    {.name = "recorded"},
    {.name = "rate"},      {.name = "columns"},
    {.name = "positions"}, {0},
};

/* The options as the library has them, and what that borrows. */
typedef struct app_selection {
    sf_selection selection;
    sf_epoch *epochs;
    char marker[SF_MARKER_TEXT_SIZE];
} app_selection;

static int expect(bool right, const char *text, const char *expected, sf_error *error)
{
    return right ? SF_OK : sf_fail(error, SF_USAGE, NULL, "found '%s', expected %s", text, expected);
}

static int read_time(sf_time_point *point, const char *text, sf_error *error)
{
    point->given = true;
    point->from_first = text[0] == '+';
    return expect(sf_parse_scaled(text, 9, &point->ns), text,
                  "seconds of the recording, or + and seconds from its first spike", error);
}

static int read_from(void *parsed, const char *text, sf_error *error)
{
    return read_time(&((app_selection *)parsed)->selection.from, text, error);
}

static int read_to(void *parsed, const char *text, sf_error *error)
{
    return read_time(&((app_selection *)parsed)->selection.to, text, error);
}

static bool parse_ms(const char *text, size_t length, int64_t *ns)
{
    char number[48];
    if (length > 2 && strncmp(text + length - 2, "ms", 2) == 0) length -= 2;
    if (length >= sizeof number) return false;
    memcpy(number, text, length);
    number[length] = '\0';
    return sf_parse_scaled(number, 6, ns);
}

/* `0.4,100` or `0.4ms,100um`. */
static int read_dedup(void *parsed, const char *text, sf_error *error)
{
    sf_selection *selection = &((app_selection *)parsed)->selection;
    char um[32] = "";
    const char *comma = strchr(text, ',');
    size_t right = comma != NULL ? strlen(comma + 1) : 0;
    if (right > 2 && strcmp(comma + right - 1, "um") == 0) right -= 2;
    if (comma != NULL && right < sizeof um) snprintf(um, sizeof um, "%.*s", (int)right, comma + 1);
    return expect(comma != NULL && parse_ms(text, (size_t)(comma - text), &selection->dedup_ns) &&
                      selection->dedup_ns >= 0 && sf_parse_real(um, &selection->dedup_um) &&
                      selection->dedup_um >= 0,
                  text, "MS,UM as 0.4,100", error);
}

/* `light,-1,5`: a marker's text may hold commas. */
static int read_blank(void *parsed, const char *text, sf_error *error)
{
    app_selection *own = parsed;
    sf_selection *selection = &own->selection;
    const char *last = strrchr(text, ',');
    const char *middle = last != NULL ? memrchr(text, ',', (size_t)(last - text)) : NULL;
    size_t length = middle != NULL ? (size_t)(middle - text) : 0;
    bool right = length > 0 && length < sizeof own->marker &&
                 parse_ms(middle + 1, (size_t)(last - middle - 1), &selection->blank_from_ns) &&
                 parse_ms(last + 1, strlen(last + 1), &selection->blank_to_ns) &&
                 selection->blank_from_ns < selection->blank_to_ns;
    if (right) snprintf(own->marker, sizeof own->marker, "%.*s", (int)length, text);
    selection->blank = own->marker;
    return expect(right, text, "MARKER,A,B with A before B in ms, as light,-1,5", error);
}

/* `0:600`. */
static int read_recorded(void *parsed, const char *text, sf_error *error)
{
    sf_span *recorded = &((app_selection *)parsed)->selection.recorded;
    char from[48] = "";
    const char *colon = strchr(text, ':');
    if (colon != NULL && (size_t)(colon - text) < sizeof from)
        snprintf(from, sizeof from, "%.*s", (int)(colon - text), text);
    return expect(colon != NULL && sf_parse_scaled(from, 9, &recorded->start_ns) &&
                      sf_parse_scaled(colon + 1, 9, &recorded->stop_ns) &&
                      recorded->start_ns < recorded->stop_ns,
                  text, "A:B with A before B in seconds of the recording's clock, as 0:600", error);
}

static int read_memory(void *parsed, const char *text, sf_error *error)
{
    uint64_t *bytes = &((app_selection *)parsed)->selection.memory;
    return expect(sf_parse_bytes(text, bytes) && *bytes > 0, text, "a size such as 400M or 8G", error);
}

static int read_epochs(void *parsed, const char *text, sf_error *error)
{
    app_selection *own = parsed;
    sf_selection *selection = &own->selection;
    sf_release(own->epochs);
    selection->epochs_path = text;
    int status = sf_epochs_read(&own->epochs, &selection->epoch_count, text, error);
    selection->epochs = own->epochs;
    return status;
}

static const app_selection usual = {0};

#define ROW app_selection
static const sf_key selection_rows[] = {
    TEXT("units", selection.units, .argument = "LIST", .zero = "all",
         .what = "only these units by name, or #2 for index 2, as a,b,#10-#20; units keep their numbers"),
    TEXT("kind", selection.kind, .argument = "LIST", .zero = "all but noise; info, convert and play take all",
         .what = "only these kinds of units: good, mua, unsorted, noise, or all, as good,mua"),
    FORM("from", read_from, .argument = "S",
         .what = "from this time on, in seconds of the recording, or +S from its first spike (default its "
                 "start)"),
    FORM("to", read_to, .argument = "S",
         .what = "up to this time and not including it, likewise (default after its last spike)"),
    FORM("dedup", read_dedup, .argument = "MS,UM",
         .what = "drop a spike at most MS after another on the same unit or one at most UM away, as 0.4,100"),
    FORM("blank", read_blank, .argument = "MARKER,A,B",
         .what = "drop what is A to B ms around each marker (its text, or ttl0 for a line), as light,-1,5"),
    TEXT("stream", selection.stream, .argument = "NAME", .zero = "the only one",
         .what = "which stream, well or recording, where a file holds several; of commands that take several "
                 "recordings '*' for each, 'B*' for those that begin so"),
    FORM("recorded", read_recorded, .argument = "A:B",
         .what = "when it was recorded, in seconds, where the file does not say (default as it says, else "
                 "from its first spike to its last)"),
    REAL("rate_hz", selection.rate_hz, 1, 1e9, .argument = "HZ", .zero = "as it says",
         .what = "samples a second, where a file counts samples and does not say"),
    TEXT("columns", selection.columns, .argument = "LIST", .zero = "as its first line says, else unit,time_s",
         .what = "what the columns of a text are, as a heading, as time_ms,unit; - for one that does not "
                 "matter"),
    TEXT("positions", selection.positions, .argument = "FILE", .zero = "as the recording says",
         .what = "where electrodes are: a table of name,x,y in um, a probeinterface file (JSON), a routing "
                 "of MaxLab Live (.cfg), or a map of Blackrock's (.cmp)"),
    FORM("memory", read_memory, .argument = "SIZE",
         .what =
             "take no more than SIZE, as 400M, however long the recording is: its spikes are read in pieces, "
             "several times, and nothing is told of single occurrences. For HDF5 files of synfire's own "
             "layout, CARMEN and NWB 2 with units"),
    FORM("epochs", read_epochs, .argument = "FILE",
         .what = "only inside the epochs of FILE: lines of start,stop,label in seconds"),
    {0},
};
#undef ROW

const sf_key_table app_selection_table = SF_KEY_TABLE(selection_rows, usual);

#define SHORTEST_DEDUP_NS 10000 /* less than clocks of recordings tell apart */

static int read_selection(const app_call *call, app_selection *parsed, sf_error *error)
{
    sf_selection *selection = &parsed->selection;
    const app_preset *preset;
    *parsed = (app_selection){.selection = sf_selection_default()};
    selection->kind = call->command->keeps_noise ? "all" : NULL;
    int status = app_preset_get(call, &preset, error);
    if (status == SF_OK && preset != NULL) {
        app_preset_print(call, preset);
        selection->dedup_ns = preset->dedup_ns;
        selection->dedup_um = preset->dedup_um;
    }
    if (status == SF_OK) status = app_options_read(call, &app_selection_table, parsed, error);
    if (status == SF_OK && app_has(call, "dedup") && selection->dedup_ns < SHORTEST_DEDUP_NS)
        app_milliseconds_warn(call, "dedup", selection->dedup_ns);
    if (status == SF_OK && selection->blank != NULL)
        app_milliseconds_warn(call, "blank", selection->blank_to_ns - selection->blank_from_ns);
    return status;
}

/* NULL: there is none of this key. */
static const char *metadata_of(const sf_recording_columns *of, const char *key)
{
    for (size_t i = 0; i < of->metadata_count; i++)
        if (strcmp(of->metadata[i].key, key) == 0) return of->metadata[i].value;
    return NULL;
}

/* An entry of a recording's metadata that people are warned of: always, or with an option, or without it. */
typedef struct notice {
    const char *key, *before, *after; /* words around what the entry says */
    const char *option;               /* NULL: always */
    bool with_option;
} notice;

static const notice notices[] = {
    {"observed", "", "", NULL, false},
    {"recorded", "recorded ", "; --recorded A:B says it otherwise", "recorded", false},
    {"positions", "positions of ", "", "positions", true},
    {"routing", "", "", NULL, false},
};

#define NOTICES (sizeof notices / sizeof notices[0])

static bool is_due(const app_call *call, const notice *of)
{
    return of->option == NULL || app_has(call, of->option) == of->with_option;
}

/* Reports what was detected about the file where it could be read differently, and unknown positions. */
static void tell_reading(const app_call *call, const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    const char *clock = metadata_of(&of, "clock"), *sessions = metadata_of(&of, "sessions");
    if (strncmp(of.format, "CSV: ", 5) == 0 && !app_has(call, "columns"))
        app_warn(call, "%s: read as %s; --columns says it otherwise", of.path, of.format + 5);
    if (strncmp(of.format, "MATLAB: ", 8) == 0) app_warn(call, "%s: read as %s", of.path, of.format + 8);
    for (size_t i = 0; i < NOTICES; i++) {
        const char *said = metadata_of(&of, notices[i].key);
        if (said != NULL && is_due(call, &notices[i]))
            app_warn(call, "%s: %s%s%s", of.path, notices[i].before, said, notices[i].after);
    }
    if (clock != NULL && sessions != NULL)
        app_warn(
            call,
            "%s: its clock runs back or began anew: %s. --stream takes one alone: %s; `joined` in place of "
            "`session1` takes all, one after the other",
            of.path, clock, sessions);
    else if (clock != NULL)
        app_warn(call, "%s: its clock runs back or began anew: %s", of.path, clock);
}

bool app_told_reading(const app_call *call, const char *key)
{
    bool told = strcmp(key, "clock") == 0 || strcmp(key, "sessions") == 0;
    for (size_t i = 0; i < NOTICES; i++)
        told = told || (strcmp(key, notices[i].key) == 0 && is_due(call, &notices[i]));
    return told && !call->quiet;
}

/* Warns if times were requested that lie outside what was recorded. */
static void tell_recorded(const app_call *call, const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    const sf_selected *selected = of.selected;
    const sf_seconds from = sf_seconds_of(selected->recorded.start_ns),
                     to = sf_seconds_of(selected->recorded.stop_ns);
    const char *until = selected->declared ? "recording ended" : "its last spike";
    const char *since = selected->declared ? "recording began" : "its first spike";
    if (selected->from_given && selected->from_ns < selected->recorded.start_ns)
        app_warn(call, "%s: --from %s s is before %s, at %s s: what lies between is not taken as recorded",
                 of.path, sf_seconds_of(selected->from_ns).text, since, from.text);
    if (selected->to_given && selected->to_ns > selected->recorded.stop_ns)
        app_warn(call, "%s: --to %s s is after %s, at %s s: what lies between is not taken as recorded",
                 of.path, sf_seconds_of(selected->to_ns).text, until, to.text);
    size_t beyond = 0;
    for (size_t i = 0; i < selected->epoch_count; i++)
        beyond += selected->epochs[i].span.start_ns < selected->recorded.start_ns ||
                  selected->epochs[i].span.stop_ns > selected->recorded.stop_ns;
    if (beyond > 0)
        app_warn(call,
                 "%s: %zu of %zu epochs reach beyond %s to %s s, %s: the rest of them is not taken as "
                 "recorded",
                 of.path, beyond, selected->epoch_count, from.text, to.text,
                 selected->declared ? "when it was recorded" : "from its first to its last spike");
}

void app_tell_undeclared(const app_call *call)
{
    const sf_selected *of = &call->provenance->selected;
    if (!call->command->keeps_noise && strcmp(call->command->group, "live") != 0 &&
        call->provenance->of_recording && !of->declared && of->spikes > 0)
        app_warn(
            call,
            "%s: the file does not say how long was recorded: rates are from first to last spike, %.6g s; "
            "--recorded A:B says it",
            of->recording, (double)(of->recorded.stop_ns - of->recorded.start_ns) * 1e-9);
}

/* Warns of losses that the run that recorded the file reports. */
static void warn_of_losses(const app_call *call, const sf_recording *recording)
{
    sf_text words = {0};
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    sf_losses_words(&words, of.dropped, of.dropped_count);
    if (words.length > 0 && !words.failed) app_warn(call, "%s: %s", of.path, words.data);
    sf_text_free(&words);
}

/* Warns of spikes in the file that are unusable or duplicates, and with --verbose of those that the selection
 * excludes. */
static void warn_of_drops(const app_call *call, const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    uint64_t before = of.selected->spikes_in_file;
    for (size_t i = 0; i < of.dropped_count; i++) {
        const sf_drop *drop = &of.dropped[i];
        if (drop->kind == SF_DROP_FOUND || (drop->kind == SF_DROP_CHOSEN && call->verbose))
            app_warn(call, "%s: left out %" PRIu64 " of %" PRIu64 " spikes (%.1f %%): %s", of.path,
                     drop->count, before, before > 0 ? 100.0 * (double)drop->count / (double)before : 0.0,
                     drop->cause);
    }
}

/* ---- where people go wrong ---- */

/* A file that is known to be something else: what takes it. */
static void explain(const app_call *call, const char *path, sf_error *error)
{
    sf_graph_file kind = sf_graph_file_kind(path);
    if (kind == SF_GRAPH_FILE_READ || kind == SF_GRAPH_FILE_WRITTEN_ONLY)
        sf_fail(error, SF_DATA, path,
                "is a graph, and `synfire %s` takes a recording; graphs are for `synfire bfs` and `synfire "
                "match`",
                call->command->name);
    else if (sf_file_has_occurrences(path))
        sf_fail(
            error, SF_DATA, path,
            "holds occurrences of episodes, and `synfire %s` takes a recording; `synfire info` tells what is "
            "in it",
            call->command->name);
}

#define REST_NS (SF_SECOND / 5)
#define ENOUGH_INTERVALS 100
#define ENOUGH_NS (1000 * SF_SECOND)

/* No unit rests for 0.2 s after each of its spikes: where that seems so, seconds are something else. */
static void warn_of_times(const app_call *call, const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    if (of.duration_ns < ENOUGH_NS || of.spikes == NULL) /* NULL: in pieces */
        return;
    int64_t *last = sf_alloc(of.unit_count, sizeof *last);
    size_t intervals = 0, shorter = 0;
    for (size_t i = 0; last != NULL && i < of.spike_count && shorter * 200 < of.spike_count; i++) {
        int64_t *before = &last[of.spikes[i].unit], now = of.spikes[i].time_ns - of.spikes[0].time_ns + 1;
        intervals += *before > 0;
        shorter += *before > 0 && now - *before < REST_NS;
        *before = now;
    }
    sf_free(last);
    if (intervals >= ENOUGH_INTERVALS && shorter * 200 < intervals)
        app_warn(call,
                 "%s: of %zu intervals between spikes of a unit %zu are under 0.2 s, and the recording takes "
                 "%.3g h: are these times ms?%s",
                 of.path, intervals, shorter, (double)of.duration_ns / 3.6e12,
                 strncmp(of.format, "CSV", 3) == 0 ? " A first line `unit,ms` says so" : "");
}

/* Readers name the streams; that a pattern takes several is of some commands alone. */
static void advise_each(const app_call *call, const char *path, sf_error *error)
{
    sf_streams streams;
    size_t length = strlen(error->text);
    if (!call->command->takes_several || app_has(call, "stream") || app_has(call, "memory") ||
        strcmp(error->place, path) != 0 || app_streams_of(&streams, call, path, NULL) != SF_OK)
        return;
    if (streams.count > 1) snprintf(error->text + length, sizeof error->text - length, "; '*' takes each");
    sf_streams_free(&streams);
}

int app_load(const app_call *call, const char *path, sf_recording **recording, sf_error *error)
{
    *recording = NULL;
    app_selection parsed;
    int status = read_selection(call, &parsed, error);
    sf_progress progress = app_progress(call);
    if (status == SF_OK) {
        status = sf_recording_open(recording, path, &parsed.selection, &progress, error);
        if (status != SF_OK && strcmp(error->place, path) != 0) app_name_option(call, status, error);
    }
    sf_release(parsed.epochs);
    if (status == SF_DATA) explain(call, path, error);
    if (status == SF_USAGE) advise_each(call, path, error);
    if (status == SF_OK) status = app_tell_recording(call, *recording, error);
    if (status == SF_OK) {
        tell_reading(call, *recording);
        tell_recorded(call, *recording);
        if (!call->command->prints_losses || call->json || app_has(call, "csv")) {
            warn_of_losses(call, *recording);
            warn_of_drops(call, *recording);
        }
        warn_of_times(call, *recording);
    } else {
        sf_recording_free(*recording);
        *recording = NULL;
    }
    return status;
}

int app_streams_of(sf_streams *streams, const app_call *call, const char *path, sf_error *error)
{
    app_selection parsed = {0};
    *streams = (sf_streams){0};
    int status = app_options_read(call, &app_selection_table, &parsed, error);
    const sf_reading how = {.columns = parsed.selection.columns, .rate_hz = parsed.selection.rate_hz};
    sf_release(parsed.epochs);
    if (status == SF_OK) status = sf_recording_list(streams, path, &how, error);
    if (status != SF_OK) sf_streams_free(streams);
    return status;
}

int app_refuse_streams(size_t count, const char *path, const char *pattern, sf_error *error)
{
    return sf_fail(error, SF_USAGE, "--stream", "none of the %zu of %s that match '%s' has spikes", count,
                   path, pattern);
}
