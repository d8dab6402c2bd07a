/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live.h"

#include "app/console.h"
#include "app/planted.h"
#include "app/preset.h"
#include "core/memory.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* ---- the configuration ---- */

#define MOST_SETTINGS 64
#define PRESET_SETTINGS 4

/* The preset first, so that --set has the last word. */
static size_t add_preset(const app_preset *preset, char settings[PRESET_SETTINGS][64])
{
    if (preset == NULL)
        return 0;
    size_t count = 0;
    snprintf(settings[count++], 64, "mine.delays_ms=%s", preset->delays);
    if (preset->window_ns > 0)
        snprintf(settings[count++], 64, "window.length_s=%g", (double)preset->window_ns * 1e-9);
    if (preset->hop_ns > 0) {
        snprintf(settings[count++], 64, "window.hop_s=%g", (double)preset->hop_ns * 1e-9);
        snprintf(settings[count++], 64, "mine.every=1");
    }
    return count;
}

int app_live_configure(const app_call *call, const char *path, sf_config *config, sf_error *error)
{
    const app_preset *preset;
    int status = app_preset_get(call, &preset, error);
    if (status != SF_OK)
        return status;
    char from_preset[PRESET_SETTINGS][64];
    const char *settings[PRESET_SETTINGS + MOST_SETTINGS];
    size_t preset_count = add_preset(preset, from_preset), count = 0, from = 0;
    for (; count < preset_count; count++)
        settings[count] = from_preset[count];
    for (const char *setting; (setting = app_next_value(call, "set", &from)) != NULL;) {
        if (count == MOST_SETTINGS + preset_count)
            return sf_fail(error, SF_USAGE, "--set", "at most %d settings are taken", MOST_SETTINGS);
        settings[count++] = setting;
    }
    if (path != NULL)
        return sf_config_load(config, path, settings, count, error);
    return sf_config_parse(config, "", 0, "defaults", settings, count, error);
}

/* ---- following a run ---- */

/* Everything a run needs besides its configuration. */
typedef struct live_run {
    const app_call *call;
    const sf_config *config;
    app_console console;
    sf_run *run;
    sf_pipeline *pipeline; /* of it */
    sf_units units;        /**< of the run, kept beyond it for the closing table */
} live_run;

static void say(const live_run *live, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const live_run *live, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    app_warn(live->call, "%s", line);
}

static void announce(const live_run *live)
{
    for (size_t i = 0; i < sf_run_sink_count(live->run); i++) {
        sf_sink *sink = sf_run_sink(live->run, i);
        sf_sink_status status;
        sf_sink_status_get(sink, &status);
        say(live, "%s publishes to %s", status.name, sf_sink_address(sink));
    }
}

/* Runs to the end of the streams or to a signal, drawing as it goes. */
static int follow(live_run *live, sf_error *error)
{
    bool table = !live->call->quiet && !live->call->json, stopping = false;
    int status = sf_pipeline_start(live->pipeline, error);
    while (status == SF_OK) {
        bool ended = sf_pipeline_wait(live->pipeline, 100);
        app_print_log(live->call);
        if (table)
            app_console_draw(&live->console);
        if (ended)
            break;
        if (app_stop_requested() && !stopping) {
            stopping = true;
            say(live, "stopping; publishing what has arrived (again to leave at once)");
            sf_pipeline_stop(live->pipeline);
        }
    }
    return status;
}

/* ---- closing words ---- */

static const sf_message *newest_window(const app_console *console)
{
    return console->full != NULL ? console->full : console->episodes;
}

/* The newest status and the newest full window, as the sinks have them. */
static void summarise(sf_text *text, const app_call *call, const app_console *console)
{
    const sf_message *const messages[] = {console->status, newest_window(console)};
    static const char *const keys[] = {"status", "episodes"};
    for (size_t i = 0; i < 2; i++) {
        sf_text_printf(text, "%s\"%s\":", i == 0 ? "{" : ",", keys[i]);
        if (messages[i] != NULL)
            sf_message_to_json(text, messages[i], console->stream);
        else
            sf_text_printf(text, "null");
    }
    sf_text_printf(text, ",\"provenance\":");
    sf_json json = sf_json_start(text);
    sf_tool_provenance_json(&json, NULL, call->provenance);
    sf_text_append(text, "}", 1);
}

/* Where the one source was a simulation: what it planted beside what the last full window counts of it. */
static int show_planted(const live_run *live, sf_error *error)
{
    const char *recording =
        live->config->source_count == 1 ? sf_config_text(&live->config->sources[0], "recording") : NULL;
    if (recording == NULL)
        return SF_OK;
    sf_text text = {0};
    char **names = sf_alloc(live->units.count, sizeof *names);
    for (size_t i = 0; names != NULL && i < live->units.count; i++)
        names[i] = (char *)live->units.items[i].name;
    int status = names == NULL ? sf_fail_memory(error)
                               : app_planted_print(&text, recording, names, (uint32_t)live->units.count,
                                                   newest_window(&live->console), error);
    sf_free(names);
    if (text.length > 0 && status == SF_OK)
        fprintf(live->console.out, "\n%s", text.data);
    sf_text_free(&text);
    return status;
}

static int run_pipeline(live_run *live, const sf_run_options *options, sf_error *error)
{
    int status = sf_run_open(&live->run, options, error);
    if (status != SF_OK)
        return status;
    live->pipeline = sf_run_pipeline(live->run);
    live->console.stream = sf_pipeline_stream(live->pipeline);
    announce(live);
    status = sf_units_copy(&live->units, live->console.stream->units, error);
    if (status == SF_OK)
        status = follow(live, error);
    sf_text json = {0};
    if (live->call->json)
        summarise(&json, live->call, &live->console);
    int closed = sf_run_close(live->run, status == SF_OK ? error : NULL);
    app_print_log(live->call);
    status = status == SF_OK ? closed : status;
    if (status == SF_OK && live->call->json)
        return app_print(&json, error);
    sf_text_free(&json);
    return status == SF_OK && !live->call->quiet ? show_planted(live, error) : status;
}

static bool until_signal(void *user, const char *what, double done, double total)
{
    (void)user;
    (void)what;
    (void)done;
    (void)total;
    return !app_stop_requested();
}

static bool writes_to_stdout(const sf_config *config)
{
    for (uint32_t i = 0; i < config->sink_count; i++)
        if (strcmp(config->sinks[i].kind->name, "jsonl") == 0 &&
            strcmp(sf_config_sink(config, i)->path, "-") == 0)
            return true;
    return false;
}

int app_live_run(const app_call *call, const sf_config *config, const sf_recording *recording, double speed,
                 sf_error *error)
{
    live_run live = {.call = call, .config = config};
    sf_progress progress = {.update = until_signal};
    sf_run_options options = {.config = config,
                              .recording = recording,
                              .speed = speed,
                              .outlet = app_console_outlet(&live.console),
                              .provenance = call->provenance,
                              .progress = &progress};
    bool shifted = config->live.graph.metric == SF_LIVE_STTC && config->live.graph.surrogates > 0;
    if (config->live.graph.enabled && (shifted || config->live.graph.rewired > 0))
        app_tell_seed(call, config->live.graph.seed);
    int status = app_scaled(call, "duration", 9, &options.duration_ns, error);
    if (status != SF_OK)
        return status;
    if (app_has(call, "duration") && options.duration_ns <= 0)
        return sf_fail(error, SF_USAGE, "--duration", "expected a positive number of seconds");
    bool shares_stdout = writes_to_stdout(config);
    if (shares_stdout && call->json)
        return sf_fail(error, SF_USAGE, "--json", "a sink writes JSON lines to standard output already");
    FILE *out = shares_stdout ? stderr : stdout;
    app_catch_signals();
    app_console_open(&live.console, out, isatty(fileno(out)));
    status = run_pipeline(&live, &options, error);
    app_console_close(&live.console);
    sf_units_free(&live.units);
    return status;
}
