/* SPDX-License-Identifier: Apache-2.0 */
/* A recording as a live stream. */
#include "tools/play.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/recording.h"
#include "ingest/protocol.h"
#include "replay/player.h"

#include <string.h>

#define LINGER_STOPPED_MS 2000 /* after a signal it waits for receivers no longer than this */

typedef struct playing {
    const sf_playing *how;
    const sf_progress *progress;
    sf_recording *recording;
    sf_sender *sender;
    sf_played *told;
} playing;

int sf_speed_parse(double *speed, const char *text, sf_error *error)
{
    if (sf_player_speed(text, speed)) return SF_OK;
    return sf_fail(error, SF_USAGE, "speed", "found '%s', expected max or a number from %g to %g", text,
                   SF_PLAYER_SLOWEST, SF_PLAYER_FASTEST);
}

static bool goes_on(void *user)
{
    const sf_playing *how = user;
    return how->go_on == NULL || how->go_on(how->user);
}

static int open_sender(playing *it, sf_error *error)
{
    const sf_playing *how = it->how;
    sf_sender_settings settings = {.name = how->name,
                                   .endpoint = how->endpoint,
                                   .insecure = how->insecure,
                                   .curve = {how->key, how->clients},
                                   .virtual_clock = how->speed == 0,
                                   .own_pace = how->speed > 0 && how->speed != 1,
                                   .go_on = goes_on,
                                   .user = (void *)(uintptr_t)how};
    const sf_protocol *protocol;
    int status = sf_protocol_find(&protocol, how->protocol, error);
    if (status != SF_OK) return status;
    if ((how->key != NULL || how->clients != NULL) && protocol != &sf_protocol_synfire)
        return sf_fail(error, SF_USAGE, how->key != NULL ? "key" : "clients",
                       "the protocols of rigs have no keys: expected --protocol synfire");
    settings.protocol = protocol->sender;
    return sf_sender_open(&it->sender, &settings, it->recording, error);
}

static int stopped(sf_error *error)
{
    return sf_fail(error, SF_CANCELLED, NULL, "stopped");
}

static int wait_for_subscribers(playing *it, sf_error *error)
{
    if (it->how->ready != NULL) it->how->ready(it->how->user, it->sender->sending->address);
    while (sf_sender_subscribers(it->sender) < (int64_t)it->how->subscribers) {
        if (!goes_on((void *)(uintptr_t)it->how)) return stopped(error);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 5 * SF_MILLISECOND);
    }
    return SF_OK;
}

static void note_lateness(playing *it, const sf_source *player)
{
    int64_t late = sf_clock_monotonic_ns() - sf_player_due_ns(player);
    if (it->how->speed > 0 && late > it->told->late_ns) it->told->late_ns = late;
}

/* Plays the recording through once. */
static int play_once(playing *it, sf_source *player, sf_error *error)
{
    sf_span span = sf_player_span(player);
    for (;;) {
        if (!goes_on((void *)(uintptr_t)it->how)) return stopped(error);
        sf_batch batch;
        int result = player->kind->read(player, &batch, 50, error);
        if (result < 0 || result == SF_READ_END) return result < 0 ? result : SF_OK;
        if (result == SF_READ_NOTHING) continue;
        int status = sf_sender_send(it->sender, &batch, error);
        if (status != SF_OK) return status;
        note_lateness(it, player);
        if (!sf_progress_update(it->progress, "playing", (double)(batch.clock_ns - span.start_ns) * 1e-9,
                                (double)(span.stop_ns - span.start_ns) * 1e-9))
            return stopped(error);
    }
}

static void shift_recording(sf_recording *recording, int64_t by_ns)
{
    for (size_t i = 0; i < recording->spike_count; i++)
        recording->spikes[i].time_ns += by_ns;
    for (size_t i = 0; i < recording->marker_count; i++)
        recording->markers[i].time_ns += by_ns;
    recording->recorded.start_ns += by_ns;
    recording->recorded.stop_ns += by_ns;
}

static int play(playing *it, sf_error *error)
{
    bool again = it->how->loop;
    int status;
    do {
        sf_source *player;
        status = sf_player_open(&player, it->recording, it->how->speed, error);
        if (status != SF_OK) return status;
        sf_span span = sf_player_span(player);
        if (it->how->speed == 1) sf_sender_set_origin(it->sender, sf_clock_wall_ns() - span.start_ns);
        status = play_once(it, player, error);
        player->kind->close(player);
        again = again && span.stop_ns > span.start_ns;
        if (again) shift_recording(it->recording, span.stop_ns - span.start_ns);
    } while (status == SF_OK && again);
    return status;
}

/* The end is sent also when it was stopped, as long as subscribers have room for it. */
static int finish(playing *it, int status, sf_error *error)
{
    if (status == SF_OK) return sf_sender_end(it->sender, error);
    if (status == SF_CANCELLED) sf_sender_end(it->sender, NULL);
    return status;
}

int sf_play(sf_played *told, sf_recording *recording, const sf_playing *how, const sf_progress *progress,
            sf_error *error)
{
    *told = (sf_played){0};
    playing it = {.how = how, .progress = progress, .recording = recording, .told = told};
    int status = open_sender(&it, error);
    if (status == SF_OK) status = wait_for_subscribers(&it, error);
    if (status == SF_OK) {
        double start = sf_clock_seconds();
        told->began = true;
        status = finish(&it, play(&it, error), error);
        told->seconds = sf_clock_seconds() - start;
        told->spikes = it.sender->spikes;
        told->markers = it.sender->markers;
    }
    sf_sender_close(it.sender, status == SF_OK ? -1 : LINGER_STOPPED_MS);
    return status;
}
