/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"
#include "app/screen.h"

#include "core/clock.h"
#include "core/describe/table.h"
#include "core/error.h"
#include "core/row_macros.h"
#include "live/run.h"
#include "tools/watcher.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define ASK_EVERY_MS 1000
#define OF_CONTROL "tcp://127.0.0.1:7740"
#define OF_SINK "tcp://127.0.0.1:7710"

/* ---- what is shown ---- */

static void cell_real(app_table *table, double value, const char *format)
{
    char text[32];
    snprintf(text, sizeof text, format, value);
    app_table_cell(table, "%s", isfinite(value) ? text : "-");
}

static void cell_share(app_table *table, double share)
{
    if (isfinite(share))
        app_table_cell(table, "%.1f %%", 100 * share);
    else
        app_table_cell(table, "-");
}

static void add_row(app_table *table, const sf_top_row *row)
{
    app_table_cell(table, "%s", row->kind);
    app_table_cell(table, "%s", row->name);
    cell_share(table, row->busy);
    cell_share(table, row->hop_share);
    if (row->room > 0)
        app_table_cell(table, "%" PRIu64 " of %" PRIu64, row->waiting, row->room);
    else
        app_table_cell(table, "-");
    if (strcmp(row->kind, "stage") == 0)
        app_table_cell(table, "-");
    else
        app_table_cell(table, "%" PRIu64, row->lost);
    cell_real(table, row->p50_ms, "%.3f");
    cell_real(table, row->p99_ms, "%.3f");
    cell_real(table, row->max_ms, "%.3f");
}

static void add_behind(sf_text *text, const sf_top *top)
{
    for (size_t i = 0; i < top->count; i++)
        if (top->rows[i].behind_s * 1e3 > top->hop_ms)
            sf_text_printf(text, "%s is %.1f s behind\n", top->rows[i].name, top->rows[i].behind_s);
}

/* Adds which sources are trusted without a key, and how many connections came without one. */
static void add_keys(sf_text *text, const sf_top *top)
{
    for (size_t i = 0; i < top->count; i++) {
        const sf_top_row *row = &top->rows[i];
        if (strcmp(row->authentication, "none") == 0)
            sf_text_printf(text, "%s is unauthenticated: whoever answers there is believed\n", row->name);
        if (row->refused > 0)
            sf_text_printf(text, "%s refused %" PRIu64 " connections without a key that it lets in\n",
                           row->name, row->refused);
    }
    if (top->control_refused > 0)
        sf_text_printf(text,
                       "the control socket refused %" PRIu64 " connections without a key that it lets in\n",
                       top->control_refused);
}

/* How old the episodes are that are counted, and how often others come. */
static void add_list(sf_text *text, const sf_top *top)
{
    if (!isfinite(top->list_age_s)) return;
    sf_text_printf(text, "episodes found %.1f s ago", top->list_age_s);
    if (isfinite(top->list_every_s)) sf_text_printf(text, ", each %.1f s", top->list_every_s);
    if (top->lists_missed > 0)
        sf_text_printf(text, "; %" PRIu64 " window%s that mine.every asks for %s not mined",
                       top->lists_missed, top->lists_missed == 1 ? "" : "s",
                       top->lists_missed == 1 ? "was" : "were");
    sf_text_printf(text, "\n");
}

/* wide: all columns, also where the screen has no room for them. */
static void add_table(sf_text *text, const sf_top *top, bool wide)
{
    static const char *const drop[] = {"p50 ms", "max ms", "of hop", "busy", NULL};
    static const char *const heads[] = {"",     "",       "busy",   "of hop", "queue",
                                        "lost", "p50 ms", "p99 ms", "max ms"};
    enum { COLUMNS = sizeof heads / sizeof heads[0] };
    app_table table = {.columns = COLUMNS};
    app_table_heads(&table, heads, COLUMNS);
    for (size_t i = 0; i < top->count; i++)
        add_row(&table, &top->rows[i]);
    sf_text_printf(text, "%s  up %.0f s  %" PRIu64 " spikes", top->stream, top->run_s, top->spikes);
    if (isfinite(top->rate_hz))
        sf_text_printf(text, "  %.*f Hz", app_screen_digits(top->rate_hz), top->rate_hz);
    sf_text_printf(text, "  hop %g ms%s\n", top->hop_ms, top->last ? "  ended" : "");
    if (isfinite(top->latency_p50_ms))
        sf_text_printf(text, "due to watched  median %.3f ms  p99 %.3f ms  max %.3f ms  busy over %.1f s\n",
                       top->latency_p50_ms, top->latency_p99_ms, top->latency_max_ms, top->since_s);
    add_list(text, top);
    app_table_fit(&table, text, COLUMNS, drop, wide);
    add_behind(text, top);
    add_keys(text, top);
}

typedef struct watched {
    const char *endpoint, *stream;
    const sf_top *top;
    sf_column_list rows; /* its own */
} watched;

static const char *const kinds[] = {"source", "stage", "queue", "sink", NULL};

#define NOT_TIMED "it takes no time of its own, or has not yet"
#define NOT_WATCHED "nothing was watched yet"
#define ROW sf_top_row
static const sf_column_row row_rows[] = {
    SF_MEMBER_IS(TEXT, kind, "what it is", .words = kinds),
    SF_MEMBER_IS(TEXT, name, "of it, as in status messages"),
    SF_MEMBER_IS(REAL, busy, "share of one core since the start", .null = "it has no work of its own"),
    SF_MEMBER_IS(REAL, hop_share, "of a stage of a hop: its median by the length of a hop",
                 .null = "of others"),
    SF_MEMBER_IS(COUNT, waiting, "spikes, of sinks messages, in its queue"),
    SF_MEMBER_IS(COUNT, room, "of its queue; 0: it has none"),
    SF_MEMBER_IS(COUNT, lost, "spikes; of a sink messages and spikes"),
    SF_MEMBER_IS(REAL, p50_ms, "half took at most so long, since the start", .unit = "ms", .null = NOT_TIMED),
    SF_MEMBER_IS(REAL, p99_ms, "99 of 100", .unit = "ms", .null = NOT_TIMED),
    SF_MEMBER_IS(REAL, max_ms, "the longest", .unit = "ms", .null = NOT_TIMED),
    SF_MEMBER_IS(TEXT, authentication, "of a source that comes over a network",
                 .null = "it does not, or is no source", .words = sf_authentication_names),
    SF_MEMBER_IS(REAL, behind_s, "of a source: its newest spikes came so long after they were due",
                 .unit = "s", .null = "not known"),
    SF_MEMBER_IS(COUNT, refused, "connections without a key that a sink lets in"),
};
#undef ROW

#define ROW watched
#define OF_TOP(kind, member, ...) SF_INSIDE_IS(kind, #member, top, sf_top, member, __VA_ARGS__)
static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(TEXT, endpoint, "where the status came from"),
    SF_MEMBER_IS(TEXT, stream, "of the run's configuration"),
    OF_TOP(FLAG, last, "the run has ended with it"),
    OF_TOP(COUNT, spikes, "that have come to the windows"),
    OF_TOP(REAL, rate_hz, "all units, over the window", .unit = "Hz", .null = "not known yet"),
    OF_TOP(REAL, run_s, "wall time since the run was opened", .unit = "s"),
    OF_TOP(REAL, hop_ms, "how long a hop lasts", .unit = "ms", .null = "the status does not tell"),
    OF_TOP(COUNT, control_refused, "connections to the control socket without a key that it lets in"),
    OF_TOP(REAL, latency_p50_ms,
           "from the arrival of a spike until it had been watched: half took at most so long", .unit = "ms",
           .null = NOT_WATCHED),
    OF_TOP(REAL, latency_p99_ms, "99 of 100 took at most so long", .unit = "ms", .null = NOT_WATCHED),
    OF_TOP(REAL, latency_max_ms, "the longest", .unit = "ms", .null = NOT_WATCHED),
    OF_TOP(REAL, list_age_s, "stream time since the window in which the episodes that are counted were found",
           .unit = "s", .null = "none was found yet"),
    OF_TOP(REAL, list_every_s, "stream time from that of the list before to it", .unit = "s",
           .null = "there was none"),
    OF_TOP(COUNT, lists_missed, "windows that `mine.every` asks for and that were not mined"),
    SF_RECORDS_ARE(
        rows, sf_top_row, row_rows,
        "in the order in which spikes go: sources, the stage `watch`, the queue to the windows, stages "
        "of the hop, sinks"),
};
#undef OF_TOP
#undef ROW

static const sf_table document = {
    .name = "top", .about = "how busy the parts of a run are", SF_TABLE_OF(document_rows)};

/* ---- once ---- */

static int nothing_came(const char *endpoint, double seconds, sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, endpoint, "no status came within %g s: is a run there%s?", seconds,
                   strcmp(endpoint, OF_SINK) == 0 ? ", with a sink of type zmq" : "");
}

/* Asks until something comes. */
static int await(sf_watcher *watcher, sf_top *top, const char *endpoint, double seconds, sf_error *error)
{
    int64_t until_ns = sf_clock_monotonic_ns() + (int64_t)(seconds * 1e9);
    int status;
    while ((status = sf_watcher_next(watcher, top, ASK_EVERY_MS, error)) == SF_AGAIN) {
        if (app_stop_requested()) return sf_fail(error, SF_CANCELLED, NULL, "stopped");
        if (sf_clock_monotonic_ns() >= until_ns) return nothing_came(endpoint, seconds, error);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 20 * SF_MILLISECOND);
    }
    return status;
}

static int show_once(const app_call *call, sf_watcher *watcher, const char *endpoint, double seconds,
                     sf_error *error)
{
    sf_top top;
    sf_text text = {0};
    int status = await(watcher, &top, endpoint, seconds, error);
    if (status != SF_OK) return status;
    if (call->json)
        app_document_json(&text, call, &document,
                          &(watched){endpoint, top.stream, &top, {top.rows, top.count}});
    else
        add_table(&text, &top, call->verbose);
    if (text.length > 0 && text.data[text.length - 1] == '\n') text.data[--text.length] = '\0';
    return app_print(&text, error);
}

/* ---- again and again ---- */

static void draw(const sf_top *top, const char *endpoint, bool silent, bool wide)
{
    app_page page = app_screen_page();
    sf_text text = {0};
    add_table(&text, top, wide);
    app_page_line(&page, "%s%s", endpoint, silent ? "  nothing comes" : "");
    for (char *line = text.data; line != NULL && *line != '\0' && !text.failed;) {
        size_t length = strcspn(line, "\n");
        app_page_line(&page, "%.*s", (int)length, line);
        line += length + (line[length] != '\0');
    }
    app_screen_show(&page);
    sf_text_free(&text);
}

static void pause_until(int64_t until_ns)
{
    while (!app_stop_requested() && sf_clock_monotonic_ns() < until_ns) {
        int64_t soon_ns = sf_clock_monotonic_ns() + 50 * SF_MILLISECOND;
        sf_clock_sleep_until(soon_ns < until_ns ? soon_ns : until_ns);
    }
}

/* Until a signal comes or the run ends. */
static int follow(const app_call *call, sf_watcher *watcher, const char *endpoint, double seconds,
                  sf_error *error)
{
    sf_top top;
    int status = await(watcher, &top, endpoint, seconds, error);
    if (status != SF_OK) return status;
    app_screen_enter(stdout);
    draw(&top, endpoint, false, call->verbose);
    while ((status == SF_OK || status == SF_AGAIN) && !top.last && !app_stop_requested()) {
        pause_until(sf_clock_monotonic_ns() + ASK_EVERY_MS * SF_MILLISECOND / 2);
        status = sf_watcher_next(watcher, &top, ASK_EVERY_MS, error);
        if (status == SF_OK || status == SF_AGAIN) draw(&top, endpoint, status == SF_AGAIN, call->verbose);
    }
    app_screen_leave();
    return status == SF_AGAIN ? SF_OK : status;
}

/* ---- where the run is ---- */

/* The local address of an endpoint: one that was bound on all addresses is reached at 127.0.0.1. */
static void reach(char at[256], const char *bound)
{
    static const char *const all[] = {"tcp://*:", "tcp://0.0.0.0:"};
    snprintf(at, 256, "%s", bound);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strncmp(bound, all[i], strlen(all[i])) == 0)
            snprintf(at, 256, "tcp://127.0.0.1:%s", bound + strlen(all[i]));
}

/* The run of a configuration: its control socket, with the token beside it, else its first sink of type zmq.
 */
static int find_run(char at[256], const char **token, const sf_config *config, const char *path,
                    sf_error *error)
{
    if (config->control_count > 0) {
        reach(at, config->control->endpoint);
        *token = *token != NULL ? *token : config->control->token_file;
        return SF_OK;
    }
    for (uint32_t i = 0; i < config->sink_count; i++)
        if (strcmp(config->sinks[i].kind->name, "zmq") == 0) {
            reach(at, sf_config_sink(config, i)->endpoint);
            return SF_OK;
        }
    return sf_fail(error, SF_CONFIG, path,
                   "has neither `control` nor a sink of type zmq: its run tells nobody how busy it is");
}

/* What is asked for beside the run. */
typedef struct asking {
    sf_watcher_options how;
    double wait_s;
    bool once;
} asking;

static const asking usual = {.wait_s = 10};

#define ROW asking
static const sf_key rows[] = {
    TEXT("token", how.token_file, .zero = "listen to a sink of type zmq", .argument = "FILE",
         .what = "ask the run's control socket, whose token this file holds"),
    TEXT("key", how.key, .zero = "none", .argument = "FILE",
         .what = "show this key, the secret file of `synfire keys`, to a run that lets in clients by theirs"),
    TEXT("server_key", how.server_key, .zero = "none", .argument = "FILE",
         .what = "beside --key: the public file of the run, which has to show that it has the secret one"),
    SWITCH("once", once,
           .what = "show the newest status and leave; so it is with --json, and where stdout is no terminal"),
    REAL("wait_s", wait_s, 0.001, 86400, .argument = "S", .what = "for a first status at most"),
    {0},
};
#undef ROW

static const sf_key_table asking_table = SF_KEY_TABLE(rows, usual);

static int watch(sf_watcher **watcher, char at[256], const app_call *call, sf_watcher_options *how,
                 sf_error *error)
{
    const char *asked = call->argument_count > 0  ? call->arguments[0]
                        : how->token_file != NULL ? OF_CONTROL
                                                  : OF_SINK;
    bool is_endpoint = strstr(asked, "://") != NULL;
    sf_config config = {0};
    int status = SF_OK;
    if (is_endpoint)
        snprintf(at, 256, "%s", asked);
    else
        status = sf_config_load(&config, asked, NULL, 0, error);
    if (status == SF_OK && !is_endpoint) status = find_run(at, &how->token_file, &config, asked, error);
    how->endpoint = at;
    if (status == SF_OK) status = app_name_option(call, sf_watcher_open(watcher, how, error), error);
    if (!is_endpoint) sf_config_free(&config);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    char endpoint[256];
    asking asked = usual;
    sf_watcher *watcher;
    int status = app_options_read(call, &asking_table, &asked, error);
    if (status == SF_OK) status = watch(&watcher, endpoint, call, &asked.how, error);
    if (status != SF_OK) return status;
    app_catch_signals();
    if (call->json || asked.once || isatty(STDOUT_FILENO) == 0)
        status = show_once(call, watcher, endpoint, asked.wait_s, error);
    else
        status = follow(call, watcher, endpoint, asked.wait_s, error);
    sf_watcher_close(watcher);
    return status;
}

static const app_option options[] = {{.name = "token"}, {.name = "key"},  {.name = "server-key"},
                                     {.name = "once"},  {.name = "wait"}, {0}};

const app_command app_command_top = {
    .name = "top",
    .group = "live",
    .summary = "how busy each stage of a run is, what waits and what is lost, again and again",
    .arguments = "[ENDPOINT | CONFIG]",
    .least_arguments = 0,
    .most_arguments = 1,
    .example = "synfire top tcp://127.0.0.1:7740 --token token --once",
    .notes = "ENDPOINT is that of a run's control socket with --token (" OF_CONTROL
             "), and else of a sink of type "
             "zmq (" OF_SINK
             "); CONFIG is the file that the run was started with on this machine, which says where it is. "
             "busy is a share of one core since the status before, with --once since the start; "
             "of hop is the median by the length of a hop; latencies are since the start. Ctrl-C leaves; the "
             "run goes "
             "on.",
    .options = {options},
    .documents = {&document},
    .rows = {&asking_table},
    .run = run,
};
