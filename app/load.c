/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"

#include "app/mining.h"
#include "app/preset.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <synfire/graph.h>

const app_option app_selection_options[] = {
    {"units", "LIST",
     "only these units by name, or #2 for index 2, as a,b,#10-#20; units keep their numbers (default all)"},
    {"from", "S",
     "from this time on, in seconds of the recording, or +S from its first spike (default its start)"},
    {"to", "S", "up to this time and not including it, likewise (default after its last spike)"},
    {"epochs", "FILE", "only inside the epochs of FILE: lines of start,stop,label in seconds"},
    {"dedup", "MS,UM",
     "drop a spike at most MS after another on the same unit or one at most UM away, as 0.4,100"},
    {"blank", "MARKER,A,B",
     "drop what is A to B ms around each marker (its text, or ttl0 for a line), as light,-1,5"},
    {"preset", "culture-60|retina-waves|retina-adult|cortex|hd-mea",
     "defaults for a kind of preparation, printed when used"},
    {"stream", "NAME",
     "which stream, well or recording, where a file holds several; '*' for each, 'B*' for those that begin "
     "so"},
    {"rate", "HZ", "samples a second, where a file counts samples and does not say (default as it says)"},
    {"columns", "LIST",
     "what the columns of a text are, as a heading, as time_ms,unit; - for one that does not matter (default "
     "as "
     "its first line says, else unit,time_s)"},
    {"positions", "FILE",
     "where electrodes are: a probeinterface file (JSON), or a routing of MaxLab Live (.cfg) (default as the "
     "recording says)"},
    {NULL, NULL, NULL},
};

/* The options as the library has them, and what that borrows. */
typedef struct app_selection {
    sf_selection selection;
    sf_epoch *epochs;
    char marker[SF_MARKER_TEXT_SIZE];
} app_selection;

static int parse_time(const app_call *call, const char *option, sf_time_point *point, sf_error *error)
{
    const char *text = app_value(call, option, NULL);
    char place[16];
    snprintf(place, sizeof place, "--%s", option);
    if (text == NULL)
        return SF_OK;
    if (!sf_parse_scaled(text, 9, &point->ns))
        return sf_fail(error, SF_USAGE, place,
                       "found '%s', expected seconds of the recording, or + and seconds from its first spike",
                       text);
    point->given = true;
    point->from_first = text[0] == '+';
    return SF_OK;
}

/* `0.4,100` or `0.4ms,100um`. */
static int parse_dedup(const char *text, sf_selection *selection, sf_error *error)
{
    char ms[32] = "", um[32] = "";
    const char *comma = strchr(text, ',');
    size_t left = comma != NULL ? (size_t)(comma - text) : 0, right = comma != NULL ? strlen(comma + 1) : 0;
    if (left > 2 && strncmp(comma - 2, "ms", 2) == 0)
        left -= 2;
    if (right > 2 && strcmp(comma + 1 + right - 2, "um") == 0)
        right -= 2;
    if (comma != NULL && left < sizeof ms && right < sizeof um) {
        snprintf(ms, sizeof ms, "%.*s", (int)left, text);
        snprintf(um, sizeof um, "%.*s", (int)right, comma + 1);
    }
    if (sf_parse_scaled(ms, 6, &selection->dedup_ns) && selection->dedup_ns >= 0 &&
        sf_parse_real(um, &selection->dedup_um) && selection->dedup_um >= 0)
        return SF_OK;
    return sf_fail(error, SF_USAGE, "--dedup", "found '%s', expected MS,UM as 0.4,100", text);
}

static bool parse_ms(const char *text, size_t length, int64_t *ns)
{
    char number[48];
    if (length > 2 && strncmp(text + length - 2, "ms", 2) == 0)
        length -= 2;
    if (length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    return sf_parse_scaled(number, 6, ns);
}

/* `light,-1,5`: a marker's text may hold commas. */
static int parse_blank(const char *text, app_selection *parsed, sf_error *error)
{
    const char *last = strrchr(text, ',');
    const char *middle = last != NULL ? memrchr(text, ',', (size_t)(last - text)) : NULL;
    size_t length = middle != NULL ? (size_t)(middle - text) : 0;
    sf_selection *selection = &parsed->selection;
    if (length == 0 || length >= sizeof parsed->marker ||
        !parse_ms(middle + 1, (size_t)(last - middle - 1), &selection->blank_from_ns) ||
        !parse_ms(last + 1, strlen(last + 1), &selection->blank_to_ns) ||
        selection->blank_from_ns >= selection->blank_to_ns)
        return sf_fail(error, SF_USAGE, "--blank",
                       "found '%s', expected MARKER,A,B with A before B in ms, as light,-1,5", text);
    memcpy(parsed->marker, text, length);
    parsed->marker[length] = '\0';
    selection->blank = parsed->marker;
    return SF_OK;
}

static int parse_epochs(const app_call *call, app_selection *parsed, sf_error *error)
{
    sf_selection *selection = &parsed->selection;
    selection->epochs_path = app_value(call, "epochs", NULL);
    if (selection->epochs_path == NULL)
        return SF_OK;
    int status = sf_epochs_read(&parsed->epochs, &selection->epoch_count, selection->epochs_path, error);
    selection->epochs = parsed->epochs;
    return status;
}

static int parse_memory(const app_call *call, uint64_t *bytes, sf_error *error)
{
    const char *text = app_value(call, "memory", NULL);
    if (text == NULL || (sf_parse_bytes(text, bytes) && *bytes > 0))
        return SF_OK;
    return sf_fail(error, SF_USAGE, "--memory", "found '%s', expected a size such as 400M or 8G", text);
}

#define SHORTEST_DEDUP_NS 10000 /* less than clocks of recordings tell apart */

static int parse_selection(const app_call *call, app_selection *parsed, sf_error *error)
{
    sf_selection *selection = &parsed->selection;
    *parsed = (app_selection){.selection = sf_selection_default()};
    selection->stream = app_value(call, "stream", NULL);
    selection->units = app_value(call, "units", NULL);
    selection->columns = app_value(call, "columns", NULL);
    selection->positions = app_value(call, "positions", NULL);
    const app_preset *preset;
    int status = app_preset_get(call, &preset, error);
    if (status == SF_OK && preset != NULL) {
        app_preset_print(call, preset);
        selection->dedup_ns = preset->dedup_ns;
        selection->dedup_um = preset->dedup_um;
    }
    const char *dedup = app_value(call, "dedup", NULL), *blank = app_value(call, "blank", NULL);
    if (status == SF_OK)
        status = app_real(call, "rate", 1, 1e9, &selection->rate_hz, error);
    if (status == SF_OK && dedup != NULL)
        status = parse_dedup(dedup, selection, error);
    if (status == SF_OK && dedup != NULL && selection->dedup_ns < SHORTEST_DEDUP_NS)
        app_milliseconds_warn(call, "dedup", selection->dedup_ns);
    if (status == SF_OK)
        status = parse_time(call, "from", &selection->from, error);
    if (status == SF_OK)
        status = parse_time(call, "to", &selection->to, error);
    if (status == SF_OK && blank != NULL)
        status = parse_blank(blank, parsed, error);
    if (status == SF_OK && blank != NULL)
        app_milliseconds_warn(call, "blank", selection->blank_to_ns - selection->blank_from_ns);
    if (status == SF_OK)
        status = parse_memory(call, &selection->memory, error);
    return status == SF_OK ? parse_epochs(call, parsed, error) : status;
}

/* What was found out, where a file might be read in another way, and where positions are not all known. */
static void tell_reading(const app_call *call, const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    if (strncmp(of.format, "CSV: ", 5) == 0 && !app_has(call, "columns"))
        app_warn(call, "%s: read as %s; --columns says it otherwise", of.path, of.format + 5);
    for (size_t i = 0; app_has(call, "positions") && i < of.metadata_count; i++)
        if (strcmp(of.metadata[i].key, "positions") == 0)
            app_warn(call, "%s: positions of %s", of.path, of.metadata[i].value);
}

/* What the file itself lacks, and what the user asked to remove without choosing it spike by spike. */
static void warn_of_drops(const app_call *call, const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    uint64_t before = of.selected->spikes_in_file;
    for (size_t i = 0; i < of.dropped_count; i++) {
        const sf_drop *drop = &of.dropped[i];
        if (!drop->chosen || call->verbose)
            app_warn(call, "%s: left out %" PRIu64 " of %" PRIu64 " spikes (%.1f %%): %s", of.path,
                     drop->count, before, before > 0 ? 100.0 * (double)drop->count / (double)before : 0.0,
                     drop->cause);
    }
}

/* ---- where people go wrong ---- */

/* A file that is known to be something else: what takes it. */
static void explain(const app_call *call, const char *path, sf_error *error)
{
    if (sf_graph_file_kind(path) != SF_GRAPH_FILE_NONE)
        sf_fail(error, SF_DATA, path,
                "is a graph, and `synfire %s` takes a recording; graphs are for `synfire bfs` and `synfire "
                "match`",
                call->command->name);
    else if (sf_tool_occurrences_in_file(path))
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
    int64_t *last = strncmp(of.format, "CSV", 3) == 0 ? sf_alloc(of.unit_count, sizeof *last) : NULL;
    size_t intervals = 0, shorter = 0;
    for (size_t i = 0; last != NULL && i < of.spike_count; i++) {
        int64_t *before = &last[of.spikes[i].unit], now = of.spikes[i].time_ns - of.spikes[0].time_ns + 1;
        intervals += *before > 0;
        shorter += *before > 0 && now - *before < REST_NS;
        *before = now;
    }
    sf_free(last);
    if (intervals >= ENOUGH_INTERVALS && of.duration_ns >= ENOUGH_NS && shorter * 200 < intervals)
        app_warn(call,
                 "%s: of %zu intervals between spikes of a unit %zu are under 0.2 s, and the recording takes "
                 "%.3g h: are these times ms? A first line `unit,ms` says so",
                 of.path, intervals, shorter, (double)of.duration_ns / 3.6e12);
}

int app_load(const app_call *call, const char *path, sf_recording **recording, sf_error *error)
{
    *recording = NULL;
    app_selection parsed;
    int status = parse_selection(call, &parsed, error);
    sf_progress progress = app_progress(call);
    if (status == SF_OK) {
        status = sf_recording_open(recording, path, &parsed.selection, &progress, error);
        if (status != SF_OK && strcmp(error->place, path) != 0)
            app_name_option(call, status, error);
    }
    sf_release(parsed.epochs);
    if (status == SF_DATA)
        explain(call, path, error);
    if (status == SF_OK)
        status = sf_tool_tell_recording(call->provenance, *recording, app_value(call, "preset", NULL), error);
    if (status == SF_OK) {
        tell_reading(call, *recording);
        warn_of_drops(call, *recording);
        warn_of_times(call, *recording);
    } else {
        sf_recording_free(*recording);
        *recording = NULL;
    }
    return status;
}

int app_speed(const app_call *call, double *speed, sf_error *error)
{
    const char *text = app_value(call, "speed", "1");
    return app_name_option(call, sf_tool_speed(speed, text, error), error);
}
