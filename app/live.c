/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live.h"

#include "app/console.h"
#include "app/mining.h"
#include "app/parse.h"
#include "app/planted.h"
#include "app/preset.h"
#include "app/significance.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "core/thread.h"
#include "live/service.h"
#include "tools/play.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the configuration ---- */

#define MOST_SETTINGS 64
#define OWN_SETTINGS 8 /* of the preset and of the options below */

int app_speed(const app_call *call, double *speed, sf_error *error)
{
    const char *text = app_value(call, "speed", "1");
    return app_name_option(call, sf_speed_parse(speed, text, error), error);
}

/* The preset first, so that --set has the last word. */
static size_t add_preset(const app_preset *preset, char settings[OWN_SETTINGS][64])
{
    if (preset == NULL) return 0;
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

/* Options that set a configuration key; for the first two, the key itself refuses invalid values. */
static const char *const keyed[][2] = {{"significance", "significance.kind"},
                                       {"schedule", "schedule"},
                                       {"max-p", "significance.max_p"},
                                       {"max-q", "significance.max_q"}};
#define KEYED (sizeof keyed / sizeof *keyed)
#define REFUSED_BY_KEY 2

static int add_options(const app_call *call, char settings[OWN_SETTINGS][64], size_t *count, sf_error *error)
{
    sf_graph_options limits = sf_graph_options_default();
    int status = app_options_read(call, &sf_graph_table, &limits, error); /* 0 is left out, not typed */
    for (size_t i = 0; status == SF_OK && i < KEYED; i++)
        if (app_has(call, keyed[i][0]))
            snprintf(settings[(*count)++], 64, "%s=%s", keyed[i][1], app_value(call, keyed[i][0], ""));
    return status;
}

/* If a key was refused that was set by its option, reports the option instead: SF_USAGE with it as the place.
 */
static int name_keyed(const app_call *call, int status, sf_error *error)
{
    for (size_t i = 0; status != SF_OK && i < REFUSED_BY_KEY; i++)
        if (app_has(call, keyed[i][0]) && !app_has(call, "set") && strncmp(error->place, "--set ", 6) == 0 &&
            strcmp(error->place + 6, keyed[i][1]) == 0) {
            char place[32];
            sf_error reason = *error;
            snprintf(place, sizeof place, "--%s", keyed[i][0]);
            return sf_fail(error, SF_USAGE, place, "%s", reason.text);
        }
    return status;
}

static bool is_named_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* A recording in place of a configuration: what to type. A line of YAML may be text of spikes, too. */
static int explain(const app_call *call, const char *path, int status, sf_error *error)
{
    sf_recording *recording;
    sf_error reason;
    if (status != SF_CONFIG || is_named_yaml(path) ||
        sf_recording_open(&recording, path, NULL, NULL, &reason) != SF_OK)
        return status;
    sf_recording_free(recording);
    if (strcmp(call->command->name, "run") == 0)
        return sf_fail(error, SF_USAGE, path,
                       "is a recording, expected a configuration; to run it: `synfire run --replay %s`",
                       path);
    return sf_fail(error, SF_USAGE, path, "is a recording, expected a configuration");
}

int app_live_configure(const app_call *call, const char *path, sf_config *config, sf_error *error)
{
    const app_preset *preset;
    int status = app_preset_get(call, &preset, error);
    char own[OWN_SETTINGS][64];
    const char *settings[OWN_SETTINGS + MOST_SETTINGS];
    size_t own_count = status == SF_OK ? add_preset(preset, own) : 0, count = 0, from = 0;
    if (status == SF_OK) status = add_options(call, own, &own_count, error);
    if (status != SF_OK) return status;
    for (; count < own_count; count++)
        settings[count] = own[count];
    for (const char *setting; (setting = app_next_value(call, "set", &from)) != NULL;) {
        if (count == MOST_SETTINGS + own_count)
            return sf_fail(error, SF_USAGE, "--set", "at most %d settings are taken", MOST_SETTINGS);
        settings[count++] = setting;
    }
    if (path != NULL)
        status = sf_config_load(config, path, settings, count, error);
    else
        status = sf_config_parse(config, "", 0, "defaults", settings, count, error);
    status = name_keyed(call, status, error);
    if (status == SF_OK) {
        status = sf_config_read_episodes(config, app_value(call, "episodes", NULL), error);
        if (status != SF_OK) sf_config_free(config);
    }
    sf_delay delays[APP_MOST_DELAYS];
    size_t delay_count;
    if (status == SF_OK &&
        sf_delays_parse(delays, APP_MOST_DELAYS, &delay_count, config->live.mine.delays_ms, NULL) == SF_OK)
        app_delays_warn(call, delays, delay_count);
    if (status == SF_OK) app_limits_warn(call);
    app_doubts_warn(call); /* a run goes on for hours */
    return status != SF_OK && path != NULL ? explain(call, path, status, error) : status;
}

/* ---- following a run ---- */

/* Everything a run needs besides its configuration. */
typedef struct live_run {
    const app_call *call;
    const sf_config *config;
    app_configure *configure; /* or NULL */
    int64_t watchdog_ns;      /* within which a manager of services wants to hear of it; 0: never */
    int64_t told_ns;          /* monotonic clock when it last did ... */
    uint64_t told_seq;        /* ... and of the status that it rested on */
    app_console console;
    sf_live *live;
    char **units; /* names of the run's, kept beyond it for the closing table */
    uint32_t unit_count;
    struct opened_sink *sinks;
    size_t sink_count;
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

/* A sink that was opened, and where to. */
typedef struct opened_sink {
    char *kind, *address;
} opened_sink;

/* Length of a sink's name without its address, if the name ends with the address that it publishes to. */
static size_t length_but_for(const char *name, const char *address)
{
    size_t kind = strcspn(name, " ");
    return name[kind] != '\0' && strcmp(name + kind + 1, address) == 0 ? kind : strlen(name);
}

static void announce(void *user, const char *name, const char *address)
{
    live_run *live = user;
    if (strncmp(name, "web ", 4) == 0)
        say(live, "the page of this run is at %s", address);
    else if (strcmp(name, "control") == 0)
        say(live, "control listens at %s", address);
    else
        say(live, "%.*s %s to %s", (int)length_but_for(name, address), name,
            strstr(address, "://") != NULL ? "publishes" : "writes", address);
    opened_sink *sinks = sf_resize(live->sinks, live->sink_count + 1, sizeof *sinks);
    if (sinks == NULL) return;
    live->sinks = sinks;
    opened_sink *sink = &live->sinks[live->sink_count];
    *sink = (opened_sink){sf_copy_string(name), sf_copy_string(address)};
    live->sink_count += sink->kind != NULL && sink->address != NULL ? 1 : 0;
}

/* Says that opening waits for the table of units of a live sender, which may not be running yet. */
static void tell_waiting(void *user)
{
    const live_run *live = user;
    for (uint32_t i = 0; i < live->config->source_count; i++) {
        const char *endpoint = sf_config_text(&live->config->sources[i], "endpoint");
        if (endpoint != NULL)
            say(live, "waiting for the units of %s, as long as sources.%" PRIu32 ".timeout_s allows",
                endpoint, i);
    }
}

/* Takes messages for timeout_ms; SF_AGAIN while the run continues, SF_END after its last message. */
static int take_for(live_run *live, int timeout_ms, sf_error *error)
{
    int64_t until_ns = sf_clock_monotonic_ns() + timeout_ms * SF_MILLISECOND, left_ms = timeout_ms;
    sf_message *message;
    int status;
    while ((status = sf_live_next(live->live, &message, (int)left_ms, error)) == SF_OK) {
        app_console_take(&live->console, message);
        left_ms = (until_ns - sf_clock_monotonic_ns()) / SF_MILLISECOND;
        if (left_ms < 0) return SF_AGAIN;
    }
    return status;
}

/* A manager of services hears of a run that goes on: that its status comes, which the thread that works on
 * windows makes. Until the first one, as while sources are waited for, that the program does. */
static void tell_watchdog(live_run *live)
{
    uint64_t seq = live->console.status != NULL ? live->console.status->seq : 0;
    int64_t now_ns = sf_clock_monotonic_ns();
    if (live->watchdog_ns == 0 || (seq > 0 && seq == live->told_seq) ||
        now_ns - live->told_ns < live->watchdog_ns / 4)
        return;
    live->told_ns = now_ns;
    live->told_seq = seq;
    sf_service_notify("WATCHDOG=1");
}

static bool draws(const live_run *live)
{
    return !live->call->quiet && !live->call->json;
}

static bool writes_to_stdout(const sf_config *config)
{
    for (uint32_t i = 0; i < config->sink_count; i++)
        if (strcmp(config->sinks[i].kind->name, "jsonl") == 0 &&
            strcmp(sf_config_sink(config, i)->path, "-") == 0)
            return true;
    return false;
}

/* Nobody reads standard output any more, as after `| head`. */
static bool has_reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

/* True if stdout is the only sink, so that further results would be lost. */
static bool has_no_other_sink(const sf_config *config)
{
    return config->sink_count == (writes_to_stdout(config) ? 1 : 0);
}

/* Runs to the end of the streams, to a signal, or until nobody listens; drawing as it goes. */
static int follow(live_run *live, sf_error *error)
{
    bool table = draws(live), stopping = false;
    int status = SF_AGAIN;
    while (status == SF_AGAIN) {
        if (!stopping && !live->call->json && has_no_other_sink(live->config) && has_reader_left()) {
            stopping = true;
            sf_live_finish(live->live);
        }
        status = take_for(live, 100, error);
        app_print_log(live->call);
        tell_watchdog(live);
        if (table) app_console_draw(&live->console);
        if (status == SF_AGAIN && app_stop_requested() && !stopping) {
            stopping = true;
            sf_service_notify("STOPPING=1");
            say(live, "stopping; publishing what has arrived (again to leave at once)");
            sf_live_finish(live->live);
        }
        if (status == SF_AGAIN && sf_live_is_halted(live->live) && sf_live_leave_ms(live->live) == 0)
            status = SF_CANCELLED;
    }
    return status == SF_END ? SF_OK : status;
}

/* ---- closing words ---- */

static const sf_message *newest_window(const app_console *console)
{
    return console->full != NULL ? console->full : console->episodes;
}

/* The newest status and the newest full window, as the sinks have them. */
static int summarise(sf_text *text, const live_run *live, sf_error *error)
{
    const sf_message *const messages[] = {live->console.status, newest_window(&live->console)};
    static const char *const keys[] = {"status", "episodes"};
    for (size_t i = 0; i < 2; i++) {
        char *json = NULL;
        if (messages[i] != NULL && sf_live_json(live->live, messages[i], &json, error) != SF_OK)
            return SF_NO_MEMORY;
        sf_text_printf(text, "%s\"%s\":%s", i == 0 ? "{" : ",", keys[i], json != NULL ? json : "null");
        sf_release(json);
    }
    sf_text_printf(text, ",\"provenance\":");
    sf_json json_of = sf_json_start(text);
    sf_provenance_json(&json_of, NULL, live->call->provenance);
    sf_text_append(text, "}", 1);
    return SF_OK;
}

/* If the only source was a simulation: compares what it planted with the counts of the last full window. */
static int show_planted(const live_run *live, sf_error *error)
{
    const char *recording =
        live->config->source_count == 1 ? sf_config_text(&live->config->sources[0], "recording") : NULL;
    if (recording == NULL) return SF_OK;
    sf_text text = {0};
    int status = app_planted_print(&text, recording, live->units, live->unit_count,
                                   newest_window(&live->console), error);
    if (text.length > 0 && status == SF_OK) fprintf(live->console.out, "\n%s", text.data);
    sf_text_free(&text);
    return status;
}

static int copy_unit_names(live_run *live, sf_error *error)
{
    while (sf_live_unit_name(live->live, live->unit_count) != NULL)
        live->unit_count++;
    uint32_t count = live->unit_count;
    live->units = sf_alloc(count, sizeof *live->units);
    for (uint32_t i = 0; live->units != NULL && i < count; i++)
        if ((live->units[i] = sf_copy_string(sf_live_unit_name(live->live, i))) == NULL)
            return sf_fail_memory(error);
    return live->units != NULL ? SF_OK : sf_fail_memory(error);
}

static void free_unit_names(live_run *live)
{
    for (uint32_t i = 0; live->units != NULL && i < live->unit_count; i++)
        sf_free(live->units[i]);
    sf_free(live->units);
}

/* Lists what was written and sent, when everything is. */
static void add_sinks(const live_run *live, sf_text *text)
{
    const sf_status_message *status =
        live->console.status != NULL ? &live->console.status->status : &(const sf_status_message){0};
    for (size_t i = 0; i < live->sink_count && i < status->sink_count; i++) {
        const opened_sink *sink = &live->sinks[i];
        const sf_sink_status *told = &status->sinks[i];
        struct stat file;
        sf_text_printf(text, "to %.*s %s", (int)strcspn(sink->kind, " "), sink->kind, sink->address);
        if (stat(sink->address, &file) == 0 && S_ISREG(file.st_mode))
            sf_text_printf(text, ", %.1f MB", (double)file.st_size * 1e-6);
        if (told->spikes > 0) sf_text_printf(text, ", %" PRIu64 " spikes", told->spikes);
        sf_text_printf(text, ", %" PRIu64 " messages lost", told->dropped + told->failed);
        if (told->spikes_lost > 0) sf_text_printf(text, ", %" PRIu64 " spikes lost", told->spikes_lost);
        sf_text_append(text, "\n", 1);
    }
}

static void close_words(const live_run *live, sf_text *summary)
{
    if (summary->length == 0) return;
    add_sinks(live, summary);
    app_write(live->console.out, summary);
}

static void halt(void *user)
{
    sf_live_halt(user);
}

typedef struct closing {
    live_run *live;
    int (*how)(sf_live *, sf_error *);
    sf_error *error;
    atomic_bool over;
} closing;

static int close_or_show(void *context, unsigned worker, size_t shows)
{
    (void)worker;
    closing *it = context;
    int status = SF_OK;
    if (!shows) {
        status = it->how(it->live->live, it->error);
        atomic_store(&it->over, true);
    }
    while (shows && !atomic_load(&it->over)) {
        app_print_log(it->live->call);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 20 * SF_MILLISECOND);
    }
    return status;
}

/* Recorders write what they hold, however long that takes; what they say of it is shown meanwhile. */
static int close_run(live_run *live, int (*how)(sf_live *, sf_error *), sf_error *error)
{
    closing it = {.live = live, .how = how, .error = error};
    int status = sf_parallel_for(2, 2, close_or_show, &it);
    app_print_log(live->call);
    return status;
}

/* Leaves a hop that does not end: what was recorded is written, and the program ends with the thread that is
 * at that hop. Does not return. */
static void leave(live_run *live, sf_text *summary, sf_error *error)
{
    say(live, "the hop takes longer than %d s and is left; closing what was recorded", SF_LEAVE_MS / 1000);
    int status = close_run(live, sf_live_abandon, error);
    if (draws(live)) close_words(live, summary);
    int code = status == SF_CANCELLED ? 128 + (app_stop_signal() != 0 ? app_stop_signal() : SIGINT)
                                      : sf_exit_code(error->code);
    app_report(live->call->command->name, error);
    fflush(stdout);
    _exit(code);
}

static int run_live(live_run *live, const sf_run_options *options, sf_error *error)
{
    int status = sf_run_live(&live->live, options, error);
    if (status != SF_OK) return status;
    sf_text json = {0};
    sf_service_notify("READY=1\nSTATUS=%.200s, %zu sinks", live->config->live.stream, live->sink_count);
    status = copy_unit_names(live, error);
    if (status == SF_OK) status = app_console_begin(&live->console, live->live, live->unit_count, error);
    app_call_on_stop(halt, live->live);
    if (status == SF_OK) status = follow(live, error);
    app_call_on_stop(NULL, NULL);
    sf_text summary = {0};
    if (draws(live)) /* while the run can still tell the names of units */
        app_console_summarise(&live->console, &summary);
    app_console_end(&live->console);
    if (status == SF_OK && live->call->json) status = summarise(&json, live, error);
    if (status == SF_CANCELLED) leave(live, &summary, error);
    int closed = close_run(live, sf_live_close, status == SF_OK ? error : NULL);
    status = status == SF_OK ? closed : status;
    if (draws(live)) close_words(live, &summary);
    sf_text_free(&summary);
    if (status == SF_OK && live->call->json) return app_print(&json, error);
    sf_text_free(&json);
    return status == SF_OK && !live->call->quiet ? show_planted(live, error) : status;
}

static void free_sinks(live_run *live)
{
    for (size_t i = 0; i < live->sink_count; i++) {
        sf_free(live->sinks[i].kind);
        sf_free(live->sinks[i].address);
    }
    sf_free(live->sinks);
}

static bool until_signal(void *user, const char *what, double done, double total)
{
    (void)what;
    (void)done;
    (void)total;
    tell_watchdog(user);
    return !app_stop_requested();
}

static int configure_again(void *user, sf_config *next, sf_error *error)
{
    const live_run *live = user;
    return live->configure(live->call, next, error);
}

static const sf_run_options whole;

#define ROW sf_run_options
static const sf_key live_rows[] = {
    TIME("duration_ns", duration_ns, 0, INFINITY, .zero = "to its end", .unit = "s", .argument = "S",
         .what = "stop after so many seconds of the stream"),
    {0},
};
#undef ROW

const sf_key_table app_live_table = SF_KEY_TABLE(live_rows, whole);

int app_live_run(const app_call *call, sf_config *config, const sf_recording *recording, double speed,
                 app_configure *configure, sf_error *error)
{
    live_run live = {
        .call = call, .config = config, .configure = configure, .watchdog_ns = sf_service_watchdog_ns()};
    sf_progress progress = {.update = until_signal, .user = &live};
    sf_run_options options = {.config = config,
                              .recording = recording,
                              .speed = speed,
                              .waits = tell_waiting,
                              .opened = announce,
                              .user = &live,
                              .configure = configure != NULL ? configure_again : NULL,
                              .configure_user = &live,
                              .provenance = call->provenance,
                              .progress = &progress};
    bool shifted = config->live.graph.metric == SF_LIVE_STTC && config->live.graph.surrogates > 0;
    if (config->live.graph.enabled && (shifted || config->live.graph.rewired > 0))
        app_tell_seed(call, config->live.graph.seed);
    int status = app_options_read(call, &app_live_table, &options, error);
    if (status != SF_OK) return status;
    bool shares_stdout = writes_to_stdout(config);
    if (shares_stdout && call->json)
        return sf_fail(error, SF_USAGE, "--json", "a sink writes JSON lines to standard output already");
    FILE *out = shares_stdout ? stderr : stdout;
    bool has_screen =
        isatty(fileno(out)) != 0 && (!shares_stdout || isatty(STDOUT_FILENO) == 0); /* not over lines */
    app_catch_all_signals();
    app_console_open(&live.console, out, has_screen && !call->quiet && !call->json, &config->live);
    config->live.topics = 1u << SF_TOPIC_EPISODES | 1u << SF_TOPIC_STATUS;
    config->live.queue_policy = SF_RING_DROP_OLDEST; /* the run never waits for a terminal */
    config->live.on_trigger = app_console_count_trigger;
    config->live.user = &live.console;
    status = run_live(&live, &options, error);
    app_console_close(&live.console);
    free_unit_names(&live);
    free_sinks(&live);
    return status;
}
