/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live.h"
#include "app/load.h"
#include "app/simulate.h"

#include "graph/rows.h"

#include <string.h>
#include <unistd.h>

/* Selections cut a recording down; from what arrives live nothing can be chosen so far. */
static int refuse_replay_options(const app_call *call, sf_error *error)
{
    for (const app_option *option = app_selection_options; option->name != NULL; option++) {
        char place[32];
        snprintf(place, sizeof place, "--%s", option->name);
        if (strcmp(option->name, "preset") != 0 && app_has(call, option->name))
            return sf_fail(error, SF_USAGE, place,
                           "selects from a recording: expected --replay REC beside it");
    }
    if (app_has(call, "speed"))
        return sf_fail(error, SF_USAGE, "--speed", "is for --replay: a configuration has sources.0.speed");
    return SF_OK;
}

/* A column of the page's raster lasts as long on the screen whatever the speed. */
static int show(const app_call *call, sf_config *config, bool is_replay, sf_error *error)
{
    double speed = 1;
    int status = is_replay ? app_speed(call, &speed, error) : SF_OK;
    return status == SF_OK ? sf_config_show(config, speed > 0 ? speed : 10, error) : status;
}

static int configure(const app_call *call, sf_config *config, sf_error *error)
{
    const char *path = call->argument_count > 0 ? call->arguments[0] : NULL,
               *replay = app_value(call, "replay", NULL);
    int status = app_live_configure(call, path, config, error);
    if (status != SF_OK) return status;
    if (replay != NULL) status = sf_config_replay(config, replay, app_value(call, "speed", "1"), error);
    if (status == SF_OK && app_has(call, "web")) status = show(call, config, replay != NULL, error);
    if (status != SF_OK) sf_config_free(config);
    return status;
}

static int load(const app_call *call, const char *path, sf_recording **recording, double *speed,
                sf_error *error)
{
    int status = app_speed(call, speed, error);
    return status == SF_OK ? app_load(call, path, recording, error) : status;
}

static int run_replay(const app_call *call, sf_config *config, const char *path, sf_error *error)
{
    double speed;
    sf_recording *recording = NULL;
    int status = load(call, path, &recording, &speed, error);
    if (status != SF_OK) return status;
    status = app_live_run(call, config, recording, speed, configure, error);
    sf_recording_free(recording);
    return status;
}

static int check(const app_call *call, const sf_config *config, const char *replay, bool is_made_later,
                 sf_error *error)
{
    sf_text text = {0};
    sf_recording *recording = NULL;
    sf_run_options options = {.config = config, .without_sources = is_made_later};
    int status = replay != NULL ? load(call, replay, &recording, &options.speed, error) : SF_OK;
    options.recording = recording;
    if (status == SF_OK) status = sf_run_check(&options, error);
    sf_recording_free(recording);
    if (status == SF_OK) status = sf_config_print(&text, config, error);
    if (status == SF_OK) return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

/* The demo's recording where it is not there yet, or NULL. */
static const char *demo_to_make(const app_call *call, const sf_config *config)
{
    if (call->argument_count == 0 || strcmp(call->arguments[0], "demo") != 0 || config->source_count != 1)
        return NULL;
    const char *recording = sf_config_text(&config->sources[0], "recording");
    return recording != NULL && access(recording, F_OK) != 0 ? recording : NULL;
}

/* It is made with its folder, so that `synfire run demo` runs anywhere; --check, which simulates nothing,
 * needs the folder alone. */
static int make_demo(const app_call *call, const char *recording, sf_error *error)
{
    if (app_has(call, "check")) return app_make_folder_of(recording, error);
    app_warn(call, "%s is not there and is simulated: a minute of 26 units with two planted chains",
             recording);
    return app_simulate_preset(call, recording, "sym26", error);
}

static int run(app_call *call, sf_error *error)
{
    const char *replay = app_value(call, "replay", NULL);
    if (call->argument_count == 0 && replay == NULL)
        return sf_fail(error, SF_USAGE, NULL, "expected a configuration file, or --replay and a recording");
    if (call->json && app_has(call, "check"))
        return sf_fail(error, SF_USAGE, "--check", "prints YAML, which does not go with --json");
    sf_config config;
    int status = replay == NULL ? refuse_replay_options(call, error) : SF_OK;
    if (status == SF_OK) status = configure(call, &config, error);
    if (status != SF_OK) return status;
    const char *made = replay == NULL ? demo_to_make(call, &config) : NULL;
    if (made != NULL) status = make_demo(call, made, error);
    if (status == SF_OK && app_has(call, "check"))
        status = check(call, &config, replay, made != NULL, error);
    else if (status == SF_OK && replay != NULL)
        status = run_replay(call, &config, replay, error);
    else if (status == SF_OK)
        status = app_live_run(call, &config, NULL, 0, configure, error);
    sf_config_free(&config);
    return status;
}

static const app_option run_options[] = {
    {"replay", "REC", "replay this recording in place of the configured sources"},
    {"speed", "X", "replay X times as fast as recorded, or `max` on a virtual clock (default 1)"},
    {"episodes", "FILE", "watch these too: lines as A -(0,5]-> B, or the document of `synfire mine --json`"},
    {"web", NULL,
     "show the run on a page for browsers of this machine; where it is, is printed (http://127.0.0.1:7730)"},
    {.name = "duration"},
    {"significance", "segment-shift|jitter|shift|off",
     "how what is counted is tested in the background: segment-shift (default), jitter, shift or off"},
    {"max-q", NULL,
     "show and publish only episodes and edges with a q of Q or less, and how many are left out; what has "
     "no verdict yet is left out, too"},
    {"max-p", NULL,
     "the same by p, uncorrected for how much was looked at and how often: of unlinked ones a share of P "
     "passes "
     "in each stretch"},
    {"set", "KEY=VALUE", "override a key of the configuration, as window.length_s=5; may be repeated"},
    {"schedule", "derived|sequential",
     "how the stages of a hop run: `derived` (default) as `synfire plan` prints, `sequential` one after the "
     "other"},
    {"check", NULL, "validate, print the resolved configuration and leave"},
    {NULL, NULL, NULL},
};

const app_command app_command_run = {
    .name = "run",
    .group = "live",
    .summary = "runs the live pipeline: sources, windows, mining, graph, density, sinks",
    .arguments = "CONFIG | --replay REC",
    .least_arguments = 0,
    .most_arguments = 1,
    .example = "synfire run --replay demo.h5 --speed 10 --set mine.delays_ms=4:6",
    .notes =
        "SIGINT, SIGTERM or SIGHUP stop the sources, publish what has arrived and close every file; a second "
        "SIGINT leaves at once. Selections apply to --replay. CONFIG is a file, or the name of one that "
        "comes with synfire: monitoring, replay, closed-loop, controller, those of rigs (docs/rigs.md); "
        "reference shows every key.",
    .options = {run_options, app_selection_options},
    .rows = {&sf_graph_table, &app_live_table},
    .run = run,
};
