/* SPDX-License-Identifier: Apache-2.0 */
#include "app/load.h"

#include "core/clock.h"
#include "core/memory.h"
#include "ingest/sender.h"
#include "replay/player.h"

#include <inttypes.h>
#include <string.h>

#define LINGER_STOPPED_MS 2000 /* after a signal nobody is waited for longer */

static const app_option options[] = {
    {"to", "ENDPOINT",
     "bind here, as tcp://127.0.0.1:7700 (default; 5556 for open-ephys). A time without :// ends the "
     "selection"},
    {"insecure", NULL, "let other machines connect: --to may be tcp://*:7700 or an address of the network"},
    {"protocol", "NAME", "synfire (default), or open-ephys: spikes as the GUI's ZMQ Interface sends them"},
    {"speed", "X|max", "so many times as fast as recorded (default 1), or as fast as subscribers take it"},
    {"loop", NULL, "begin again at the end, with stream time going on, until stopped"},
    {"subscribers", "N", "hold the start until so many subscribe (default 1)"},
    {NULL, NULL, NULL},
};

typedef struct playing {
    const app_call *call;
    sf_recording *recording;
    double speed;
    uint64_t subscribers;
    sf_sender *sender;
    double seconds;
    int64_t late_ns; /* the most that a batch was sent after it was due */
} playing;

static bool is_endpoint(const app_given *given)
{
    return strcmp(given->name, "to") == 0 && strstr(given->value, "://") != NULL;
}

/* --to is where to send, if it looks like that, and else the end of the selection, which app_load reads. */
static int load(playing *it, sf_error *error)
{
    app_call selection = *it->call;
    selection.given_count = 0;
    selection.given = sf_alloc(it->call->given_count, sizeof *selection.given);
    if (selection.given == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < it->call->given_count; i++)
        if (!is_endpoint(&it->call->given[i]))
            selection.given[selection.given_count++] = it->call->given[i];
    int status = app_load(&selection, it->call->arguments[0], &it->recording, error);
    sf_free(selection.given);
    return status;
}

static int find_protocol(const app_call *call, const sf_sender_protocol **protocol, sf_error *error)
{
    const char *name = app_value(call, "protocol", "synfire");
    for (size_t i = 0; sf_sender_protocols[i] != NULL; i++) {
        *protocol = sf_sender_protocols[i];
        if (strcmp((*protocol)->name, name) == 0)
            return SF_OK;
    }
    return sf_fail(error, SF_USAGE, "--protocol", "found '%s', expected synfire or open-ephys", name);
}

static bool go_on(void *user)
{
    (void)user;
    return !app_stop_requested();
}

static int open_sender(playing *it, sf_error *error)
{
    const char *path = it->call->arguments[0], *slash = strrchr(path, '/');
    sf_sender_settings settings = {.name = slash != NULL ? slash + 1 : path,
                                   .insecure = app_has(it->call, "insecure"),
                                   .virtual_clock = it->speed == 0,
                                   .own_pace = it->speed > 0 && it->speed != 1,
                                   .go_on = go_on};
    int status = find_protocol(it->call, &settings.protocol, error);
    for (size_t i = 0; i < it->call->given_count; i++)
        if (is_endpoint(&it->call->given[i]))
            settings.endpoint = it->call->given[i].value;
    return status == SF_OK ? sf_sender_open(&it->sender, &settings, it->recording, error) : status;
}

static int wait_for_subscribers(playing *it, sf_error *error)
{
    app_warn(it->call, "sending on %s, waiting for %" PRIu64 " subscriber%s", it->sender->publisher.address,
             it->subscribers, it->subscribers == 1 ? "" : "s");
    while (sf_sender_subscribers(it->sender) < (int64_t)it->subscribers) {
        if (app_stop_requested())
            return sf_fail(error, SF_CANCELLED, NULL, "stopped");
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 5 * SF_MILLISECOND);
    }
    return SF_OK;
}

static void note_lateness(playing *it, const sf_source *player)
{
    int64_t late = sf_clock_monotonic_ns() - sf_player_due_ns(player);
    if (it->speed > 0 && late > it->late_ns)
        it->late_ns = late;
}

/* Plays the recording through once. */
static int play_once(playing *it, sf_source *player, sf_error *error)
{
    sf_span span = sf_player_span(player);
    sf_progress progress = app_progress(it->call);
    for (;;) {
        if (app_stop_requested())
            return sf_fail(error, SF_CANCELLED, NULL, "stopped");
        sf_batch batch;
        int result = player->kind->read(player, &batch, 50, error);
        if (result < 0 || result == SF_READ_END)
            return result < 0 ? result : SF_OK;
        if (result == SF_READ_NOTHING)
            continue;
        int status = sf_sender_send(it->sender, &batch, error);
        if (status != SF_OK)
            return status;
        note_lateness(it, player);
        sf_progress_update(&progress, "playing", (double)(batch.clock_ns - span.start_ns) * 1e-9,
                           (double)(span.stop_ns - span.start_ns) * 1e-9);
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
    bool again = app_has(it->call, "loop");
    int status;
    do {
        sf_source *player;
        status = sf_player_open(&player, it->recording, it->speed, error);
        if (status != SF_OK)
            return status;
        sf_span span = sf_player_span(player);
        if (it->speed == 1)
            sf_sender_set_origin(it->sender, sf_clock_wall_ns() - span.start_ns);
        status = play_once(it, player, error);
        player->kind->close(player);
        shift_recording(it->recording, span.stop_ns - span.start_ns);
        again = again && span.stop_ns > span.start_ns;
    } while (status == SF_OK && again);
    return status;
}

/* The end is sent also after a signal, as long as subscribers have room for it. */
static int finish(playing *it, int status, sf_error *error)
{
    if (status == SF_OK)
        return sf_sender_end(it->sender, error);
    if (status == SF_CANCELLED)
        sf_sender_end(it->sender, NULL);
    return status;
}

static int print_result(const playing *it, sf_error *error)
{
    sf_text text = {0};
    if (it->call->json) {
        sf_json json = sf_json_start(&text);
        sf_json_object(&json, NULL);
        sf_json_uint(&json, "spikes", it->sender->spikes);
        sf_json_real(&json, "seconds", it->seconds);
        if (it->speed > 0)
            sf_json_milliseconds(&json, "late_max_ms", it->late_ns);
        else
            sf_json_null(&json, "late_max_ms");
        app_provenance_json(&json, it->call);
        sf_json_end_object(&json);
    } else {
        sf_text_printf(&text, "%" PRIu64 " spikes and %" PRIu64 " markers sent in %.3f s", it->sender->spikes,
                       it->sender->markers, it->seconds);
        if (it->speed > 0)
            sf_text_printf(&text, ", at most %.3f ms late", (double)it->late_ns * 1e-6);
    }
    return app_print(&text, error);
}

static int run(app_call *call, sf_error *error)
{
    app_catch_signals();
    playing it = {.call = call, .subscribers = 1};
    int status = app_speed(call, &it.speed, error);
    if (status == SF_OK)
        status = app_uint(call, "subscribers", 0, 1000, &it.subscribers, error);
    if (status == SF_OK)
        status = load(&it, error);
    if (status == SF_OK)
        status = open_sender(&it, error);
    if (status == SF_OK)
        status = wait_for_subscribers(&it, error);
    if (status == SF_OK) {
        double start = sf_clock_seconds();
        status = finish(&it, play(&it, error), error);
        it.seconds = sf_clock_seconds() - start;
        if (status == SF_OK || status == SF_CANCELLED) {
            int printed = print_result(&it, error);
            status = status == SF_OK ? printed : status;
        }
    }
    sf_sender_close(it.sender, status == SF_OK ? -1 : LINGER_STOPPED_MS);
    sf_recording_free(it.recording);
    return status;
}

const app_command app_command_play = {
    .name = "play",
    .group = "live",
    .summary = "sends a recording as a live stream, which `synfire run` and other programs subscribe to",
    .arguments = "REC",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire simulate demo.h5 --preset sym26 && synfire play demo.h5 --speed 10 --subscribers 0",
    .notes = "The protocol is described in docs/wire.md. A slow subscriber is waited for: nothing is lost. "
             "SIGINT ends "
             "the stream in order, a second one leaves at once.",
    .options = {options, app_selection_options},
    .run = run,
};
