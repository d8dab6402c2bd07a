/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"

#include "app/preset.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "replay/player.h"
#include "replay/recording_file.h"
#include "replay/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
    {"preset", "NAME",
     "defaults for culture-60, retina-waves, retina-adult, cortex or hd-mea, printed when used"},
    {"stream", "NAME", "which stream, where a file holds several"},
    {NULL, NULL, NULL},
};

static int parse_time(const app_call *call, const char *option, sf_time_point *point, sf_error *error)
{
    const char *text = app_value(call, option, NULL);
    int status = text != NULL ? sf_time_point_parse(point, text, error) : SF_OK;
    if (status != SF_OK)
        snprintf(error->place, sizeof error->place, "--%s", option);
    return status;
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

static int parse_selection(const app_call *call, sf_selection *selection, sf_error *error)
{
    *selection = (sf_selection){.units = app_value(call, "units", NULL),
                                .epochs_path = app_value(call, "epochs", NULL),
                                .blank = app_value(call, "blank", NULL)};
    const app_preset *preset;
    int status = app_preset_get(call, &preset, error);
    if (status == SF_OK && preset != NULL) {
        app_preset_print(call, preset);
        selection->dedup_ns = preset->dedup_ns;
        selection->dedup_um = preset->dedup_um;
    }
    const char *dedup = app_value(call, "dedup", NULL);
    if (status == SF_OK && dedup != NULL)
        status = parse_dedup(dedup, selection, error);
    if (status == SF_OK)
        status = parse_time(call, "from", &selection->from, error);
    if (status == SF_OK)
        status = parse_time(call, "to", &selection->to, error);
    return status;
}

/* What the file itself lacks, and what the user asked to remove without choosing it spike by spike. */
static void warn_of_drops(const app_call *call, const sf_recording *recording, size_t by_reader,
                          uint64_t before)
{
    for (size_t i = 0; i < recording->dropped_count; i++) {
        const sf_drop *drop = &recording->dropped[i];
        if (i < by_reader || strcmp(drop->cause, "duplicate") == 0 || call->verbose)
            app_warn(call, "%s: left out %" PRIu64 " of %" PRIu64 " spikes (%.1f %%): %s", recording->path,
                     drop->count, before, before > 0 ? 100.0 * (double)drop->count / (double)before : 0.0,
                     drop->cause);
    }
}

/* What the selection has names for on the command line only. */
static int tell_names(const app_call *call, sf_error *error)
{
    sf_selected *selected = &call->provenance->selected;
    const char *stream = app_value(call, "stream", NULL), *preset = app_value(call, "preset", NULL);
    selected->stream = stream != NULL ? sf_copy_string(stream) : NULL;
    selected->preset = preset != NULL ? sf_copy_string(preset) : NULL;
    call->provenance->of_recording = true;
    bool whole =
        (selected->stream != NULL) == (stream != NULL) && (selected->preset != NULL) == (preset != NULL);
    return whole ? SF_OK : sf_fail_memory(error);
}

int app_load(const app_call *call, const char *path, sf_recording *recording, sf_error *error)
{
    sf_span asked;
    return app_load_span(call, path, recording, &asked, error);
}

int app_load_span(const app_call *call, const char *path, sf_recording *recording, sf_span *asked,
                  sf_error *error)
{
    *recording = (sf_recording){0};
    sf_selected_free(&call->provenance->selected); /* of what was read before */
    sf_selection selection;
    int status = parse_selection(call, &selection, error);
    if (status != SF_OK)
        return status;
    sf_progress progress = app_progress(call);
    status = sf_recording_read(recording, path, app_value(call, "stream", NULL), &progress, error);
    if (status != SF_OK)
        return status;
    size_t by_reader = recording->dropped_count;
    uint64_t before = recording->spike_count;
    for (size_t i = 0; i < by_reader; i++)
        before += recording->dropped[i].count;
    int64_t first_ns = recording->spike_count > 0 ? recording->spikes[0].time_ns : 0;
    *asked = (sf_span){sf_time_point_resolve(selection.from, first_ns, INT64_MIN),
                       sf_time_point_resolve(selection.to, first_ns, INT64_MAX)};
    status = sf_selection_apply(recording, &selection, &call->provenance->selected, error);
    if (status == SF_OK)
        status = tell_names(call, error);
    if (status == SF_OK)
        warn_of_drops(call, recording, by_reader, before);
    else
        sf_recording_free(recording);
    return status;
}

int app_speed(const app_call *call, double *speed, sf_error *error)
{
    *speed = 1;
    const char *text = app_value(call, "speed", NULL);
    if (text == NULL)
        return SF_OK;
    if (strcmp(text, "max") == 0) {
        *speed = 0;
        return SF_OK;
    }
    if (sf_parse_real(text, speed) && *speed >= SF_PLAYER_SLOWEST && *speed <= SF_PLAYER_FASTEST)
        return SF_OK;
    return sf_fail(error, SF_USAGE, "--speed", "found '%s', expected max or a number from %g to %g", text,
                   SF_PLAYER_SLOWEST, SF_PLAYER_FASTEST);
}
