/* SPDX-License-Identifier: Apache-2.0 */
/** The source `replay`: a file of a recording, played as if it were live. */
#include "core/error.h"
#include "core/memory.h"
#include "replay/player.h"
#include "replay/recording_file.h"

#include <string.h>

typedef struct replay_settings {
    sf_source_settings common;
    const char *recording, *speed;
} replay_settings;

static const replay_settings defaults = {.common = {.ring = SF_PLAYER_RING, .policy = SF_RING_BLOCK},
                                         .speed = "1"};

static const sf_key keys[] = {
    {.name = "recording",
     .type = SF_KEY_TEXT,
     .offset = offsetof(replay_settings, recording),
     .needed = true,
     .use = SF_KEY_READS},
    {.name = "speed", .type = SF_KEY_TEXT, .offset = offsetof(replay_settings, speed)},
    {0},
};

/* False where the text is neither `max`, which is 0, nor a factor that a player takes. */
static int check(const sf_source_settings *common, sf_error *error)
{
    const replay_settings *settings = (const replay_settings *)common;
    double speed;
    if (sf_player_speed(settings->speed, &speed))
        return SF_OK;
    return sf_fail(error, SF_CONFIG, "speed", "found '%.60s', expected max or a factor from 0.001 to 1e6",
                   settings->speed);
}

static int open_replay(sf_source **out, const sf_source_kind *kind, const sf_source_settings *common,
                       const sf_progress *progress, sf_error *error)
{
    (void)kind;
    const replay_settings *settings = (const replay_settings *)common;
    double speed;
    (void)progress;
    if (!sf_player_speed(settings->speed, &speed))
        return check(common, error);
    sf_recording *recording = sf_alloc(1, sizeof *recording);
    if (recording == NULL)
        return sf_fail_memory(error);
    int status = sf_recording_read(recording, settings->recording, NULL, NULL, error);
    if (status == SF_OK)
        status = sf_player_open(out, recording, speed, error);
    if (status == SF_OK) {
        sf_player_keep(*out, recording);
        return SF_OK;
    }
    sf_recording_free(recording);
    return status;
}

const sf_source_kind sf_source_replay = {
    .settings = {"replay", keys, sizeof(replay_settings), &defaults},
    .descriptors = 2,
    .check = check,
    .open = open_replay,
};
