/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live.h"
#include "app/load.h"

#include "core/describe/table.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "tools/play.h"

#include <inttypes.h>
#include <string.h>

static const app_option options[] = {
    {"to", "ENDPOINT",
     "bind here, as tcp://127.0.0.1:7700 (default; a rig's protocol has its own). A time without :// ends "
     "the "
     "selection"},
    {.name = "insecure"},
    {.name = "key"},
    {.name = "clients"},
    {.name = "protocol"},
    {"speed", "X|max", "so many times as fast as recorded (default 1), or as fast as subscribers take it"},
    {.name = "loop"},
    {.name = "subscribers"},
    {0},
};

static const sf_playing usual = {.protocol = "synfire", .subscribers = 1};

#define ROW sf_playing
static const sf_key rows[] = {
    SWITCH("insecure", insecure,
           .what = "let other machines connect: --to may be tcp://*:7700 or an address of the network"),
    TEXT("key", key, .zero = "none", .argument = "FILE",
         .what = "show this key, the secret file of `synfire keys`, to subscribers, who may then be on other "
                 "machines"),
    TEXT("clients", clients, .zero = "anybody", .argument = "FOLDER|FILE",
         .what = "beside --key: the public files of those who may subscribe (*.key), or one"),
    TEXT("protocol", protocol,
         .argument = "synfire|open-ephys|event-broadcaster|maxwell|intan|brand|trodes|lsl|blackrock|cortical",
         .what = "how to send: as synfire does, or as a rig sends spikes"),
    SWITCH("loop", loop, .what = "begin again at the end, with stream time going on, until stopped"),
    COUNT("subscribers", subscribers, 0, 1000, .argument = "N",
          .what = "hold the start until so many subscribe"),
    {0},
};
#undef ROW

static const sf_key_table playing_table = SF_KEY_TABLE(rows, usual);

static bool is_endpoint(const app_given *given)
{
    return strcmp(given->name, "to") == 0 && strstr(given->value, "://") != NULL;
}

/* --to is where to send, if it looks like that, and else the end of the selection, which app_load reads. */
static int load(const app_call *call, sf_recording **recording, sf_error *error)
{
    app_call selection = *call;
    selection.given_count = 0;
    selection.given = sf_alloc(call->given_count, sizeof *selection.given);
    if (selection.given == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < call->given_count; i++)
        if (!is_endpoint(&call->given[i])) selection.given[selection.given_count++] = call->given[i];
    int status = app_load(&selection, call->arguments[0], recording, error);
    sf_free(selection.given);
    return status;
}

static bool go_on(void *user)
{
    (void)user;
    return !app_stop_requested();
}

static void say_ready(void *user, const char *address)
{
    const app_call *call = user;
    sf_playing how = usual;
    app_options_read(call, &playing_table, &how, NULL);
    app_warn(call, "sending on %s, waiting for %" PRIu64 " subscriber%s", address, how.subscribers,
             how.subscribers == 1 ? "" : "s");
}

typedef struct sent {
    const sf_played *told;
    bool paced;
} sent;

SF_GETTER(get_late)
{
    const sent *all = of;
    if (all->paced) sf_value_set_time(value, &column->is, all->told->late_ns);
}

#define ROW sent
static const sf_column_row document_rows[] = {
    SF_INSIDE_IS(COUNT, "spikes", told, sf_played, spikes, "sent"),
    SF_INSIDE_IS(COUNT, "markers", told, sf_played, markers, "sent"),
    SF_INSIDE_IS(REAL, "seconds", told, sf_played, seconds, "how long it took"),
    SF_GOT_BY(TIME, "late_max_ms", get_late, "the most that a batch was sent after it was due", .unit = "ms",
              .null = "with --speed max"),
};
#undef ROW

static const sf_table document = {.name = "played", .about = "what was sent", SF_TABLE_OF(document_rows)};

static int print_result(const app_call *call, const sf_played *told, double speed, sf_error *error)
{
    sf_text text = {0};
    if (call->json) {
        app_document_json(&text, call, &document, &(sent){told, speed > 0});
    } else {
        sf_text_printf(&text, "%" PRIu64 " spikes and %" PRIu64 " markers sent in %.3f s", told->spikes,
                       told->markers, told->seconds);
        if (speed > 0) sf_text_printf(&text, ", at most %.3f ms late", (double)told->late_ns * 1e-6);
    }
    return app_print(&text, error);
}

static int play(const app_call *call, sf_recording *recording, sf_playing *how, sf_error *error)
{
    for (size_t i = 0; i < call->given_count; i++)
        if (is_endpoint(&call->given[i])) how->endpoint = call->given[i].value;
    sf_played told;
    sf_progress progress = app_progress(call);
    int status = app_name_option(call, sf_play(&told, recording, how, &progress, error), error);
    if (told.began && (status == SF_OK || status == SF_CANCELLED)) {
        int printed = print_result(call, &told, how->speed, error);
        status = status == SF_OK ? printed : status;
    }
    return status;
}

static int run(app_call *call, sf_error *error)
{
    app_catch_signals();
    const char *path = call->arguments[0], *slash = strrchr(path, '/');
    sf_playing how = usual;
    how.name = slash != NULL ? slash + 1 : path;
    how.ready = say_ready;
    how.go_on = go_on;
    how.user = call;
    int status = app_options_read(call, &playing_table, &how, error);
    if (status == SF_OK) status = app_speed(call, &how.speed, error);
    sf_recording *recording = NULL;
    if (status == SF_OK) status = load(call, &recording, error);
    if (status == SF_OK) status = play(call, recording, &how, error);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_play = {
    .name = "play",
    .group = "live",
    .summary = "sends a recording as a live stream, which `synfire run` and other programs subscribe to",
    .arguments = "REC",
    .least_arguments = 1,
    .keeps_noise = true,
    .most_arguments = 1,
    .example = "synfire simulate demo.h5 --preset sym26 && synfire play demo.h5 --speed 10 --subscribers 0",
    .notes = "The protocol is described in docs/wire.md, those of rigs in docs/rigs.md. A slow subscriber is "
             "waited for: nothing is lost. "
             "SIGINT ends "
             "the stream in order, a second one leaves at once.",
    .options = {options, app_selection_options},
    .rows = {&playing_table},
    .documents = {&document},
    .run = run,
};
