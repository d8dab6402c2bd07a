/* SPDX-License-Identifier: Apache-2.0 */
/** The source `replay`: plays a recording from a file as if it were live. */
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/recording.h"
#include "core/row_macros.h"
#include "replay/player.h"

#include <string.h>

#define NOT_SAID "none" /* the default: as the file says */

typedef struct replay_settings {
    sf_source_settings common;
    const char *recording, *speed;
    const char *stream, *kind, *columns; /* as the options of the same names, or NOT_SAID */
    double rate_hz;
} replay_settings;

static const replay_settings defaults = {.common = {.ring = SF_PLAYER_RING, .policy = SF_RING_BLOCK},
                                         .speed = "1",
                                         .stream = NOT_SAID,
                                         .kind = NOT_SAID,
                                         .columns = NOT_SAID};

static bool is_speed(const char *text)
{
    double speed;
    return sf_player_speed(text, &speed);
}

#define ROW replay_settings
static const sf_key keys[] = {
    TEXT("recording", recording, .needed = true, .use = SF_KEY_READS, .example = "recording.h5",
         .what = "any file that `synfire info` reads"),
    TEXT("speed", speed, .takes = is_speed, .form = "max or a factor from 0.001 to 1e6",
         .what = "times real time; max: as fast as everything keeps up"),
    TEXT("stream", stream, .what = "which stream, well, recording or session, where the file holds several"),
    TEXT("kind", kind, .what = "these kinds of units alone, as good,mua, or all; none: all but noise"),
    TEXT("columns", columns,
         .what = "what the columns of a text are, as time_ms,unit; none: as its first line says"),
    REAL("rate_hz", rate_hz, 0, 1e9,
         .what = "samples a second, where the file counts samples and does not say; 0: as it says"),
    {0},
};
#undef ROW

static const char *said(const char *setting)
{
    return strcmp(setting, NOT_SAID) != 0 ? setting : NULL;
}

/* A wrong choice is one of the configuration here. */
static int refuse(int status, const sf_error *reason, sf_error *error)
{
    if (status == SF_NO_MEMORY) return sf_fail_memory(error);
    if (status != SF_USAGE)
        return sf_fail(error, status, "recording", "%.200s: %s", reason->place, reason->text);
    for (const sf_key *key = keys; key->name != NULL; key++)
        if (strcmp(key->name, reason->place) == 0)
            return sf_fail(error, SF_CONFIG, key->name, "%s", reason->text);
    return sf_fail(error, SF_CONFIG, "recording", "%.200s: %s", reason->place, reason->text);
}

/* What may mislead in it. */
static void log_reading(const sf_recording *recording)
{
    static const char *const told[][2] = {
        {"clock", "its clock runs back or began anew: "}, {"recorded", "recorded "}, {"observed", ""}};
    for (size_t i = 0; i < recording->metadata_count; i++)
        for (size_t k = 0; k < sizeof told / sizeof told[0]; k++)
            if (strcmp(recording->metadata[i].key, told[k][0]) == 0)
                sf_log(SF_LOG_WARNING, "%.80s: %s%s", recording->path, told[k][1],
                       recording->metadata[i].value);
}

static int open_replay(sf_source **out, const sf_source_kind *kind, const sf_source_settings *common,
                       sf_error *error)
{
    (void)kind;
    const replay_settings *settings = (const replay_settings *)common;
    double speed = 1;
    sf_error reason = {0};
    sf_recording *recording;
    sf_player_speed(settings->speed, &speed); /* which its row has looked at */
    sf_selection selection = sf_selection_default();
    selection.stream = said(settings->stream);
    selection.kind = said(settings->kind);
    selection.columns = said(settings->columns);
    selection.rate_hz = settings->rate_hz;
    int status = sf_recording_open(&recording, settings->recording, &selection, NULL, &reason);
    if (status != SF_OK) return refuse(status, &reason, error);
    log_reading(recording);
    status = sf_player_open(out, recording, speed, error);
    if (status == SF_OK) {
        sf_player_keep(*out, recording);
        return SF_OK;
    }
    sf_recording_free(recording);
    return status;
}

const sf_source_kind sf_source_replay = {
    .settings = {"replay", keys, sizeof(replay_settings), &defaults, "a recording played as if it were live"},
    .descriptors = 2,
    .open = open_replay,
};
