/* SPDX-License-Identifier: Apache-2.0 */
#include "app/live.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/row_macros.h"
#include "tools/doctor.h"
#include "tools/loop.h"

#include <stdio.h>
#include <string.h>

static const char *const levels[] = {"good", "advice", "bad", NULL};

static size_t count_of(const sf_findings *checks, sf_finding_level level)
{
    size_t count = 0;
    for (size_t i = 0; i < checks->count; i++)
        count += checks->items[i].level == level;
    return count;
}

typedef struct awaited {
    sf_run_trips trips;
    size_t count; /* of times: those answered */
    const char *marker;
} awaited;

/* The document: of checks, or of a loop. */
typedef struct examined {
    bool ok;
    sf_column_list checks; /* sf_finding */
    const awaited *loop;   /* NULL where there is none */
} examined;

static const char *word_of_level(const void *level)
{
    return levels[*(const sf_finding_level *)level];
}

SF_GETTER(get_ok)
{
    sf_value_set_flag(value, ((const sf_finding *)of)->level != SF_FINDING_BAD);
}

static const char *const names_of_checks[] = {
    "cores",  "governor", "real-time", "locked-memory", "clock",   "clock-sync", "buffers", "descriptors",
    "ports",  "keys",     "serial",    "gpu",           "reader",  "locks",      "disk",    "reach",
    "stream", "units",    "losses",    "pace",          "sharing", "buffer",     "rate",    NULL};

#define ROW sf_finding
static const sf_column_row check_rows[] = {
    SF_MEMBER_IS(TEXT, name, "what was looked at", .words = names_of_checks),
    SF_GOT_BY(FLAG, "ok", get_ok, "the level is not bad"),
    SF_WORD_IS("level", level, word_of_level,
               "advice: a run works and could do better; bad: it would fail here, or lose", .words = levels),
    SF_FIELD_IS(TEXT, "detail", found, "what was found"),
    SF_MEMBER_IS(TEXT, advice, "what to do", .null = "it is good"),
};
#undef ROW

#define ROW awaited
static const sf_column_row loop_rows_told[] = {
    SF_FIELD_IS(TEXT, "source", trips.source, "whose stream brings pulses back"),
    SF_FIELD_IS(TEXT, "authentication", trips.authentication, "of the source, as in status messages",
                .null = "it does not come over a network", .words = sf_authentication_names),
    SF_FIELD_IS(TEXT, "sink", trips.sink, "that sends them"),
    SF_MEMBER_IS(TEXT, marker, "what is waited for"),
    SF_FIELD_IS(COUNT, "pulses", trips.pulses, "sent; answered, lost and failed together"),
    SF_FIELD_IS(COUNT, "answered", trips.answered, "in time"),
    SF_FIELD_IS(COUNT, "lost", trips.lost, "not answered in time"),
    SF_FIELD_IS(COUNT, "failed", trips.failed, "that the sink could not send"),
    SF_FIELD_IS(COUNT, "unexpected", trips.unexpected, "answers while no pulse was under way"),
    SF_FIELD_IS(REAL, "median_ms", trips.median_ms, "from the decision to send to the arrival of the answer",
                .unit = "ms", .null = "none came"),
    SF_FIELD_IS(REAL, "p99_ms", trips.p99_ms, "99 of 100 took at most so long", .unit = "ms",
                .null = "none came"),
    SF_FIELD_IS(REAL, "max_ms", trips.most_ms, "the longest", .unit = "ms", .null = "none came"),
    SF_ITEMS_ARE(REAL, "trips_ms", trips.ms, count, "all, ascending", .unit = "ms"),
};
#undef ROW

static const sf_table round_trips = {
    .name = "loop", .about = "round trips of pulses", SF_TABLE_OF(loop_rows_told)};

#define ROW examined
static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(FLAG, ok, "no check is bad and no pulse was lost; else the exit code is 1"),
    SF_RECORDS_ARE(
        checks, sf_finding, check_rows,
        "in a fixed order; one of `gpu` for each device; with RIG those of the rig from `reach` on, and "
        "`buffers`"),
    SF_POINTED_IS("loop", loop, &round_trips, "--loop: round trips of pulses; there are no checks then",
                  .null = "without"),
};
#undef ROW

static const sf_table document = {
    .name = "examination", .about = "what was looked at", SF_TABLE_OF(document_rows)};

static void add_lines(sf_text *text, const sf_findings *checks)
{
    static const char *const signs[] = {"  ", "? ", "! "};
    for (size_t i = 0; i < checks->count; i++) {
        const sf_finding *check = &checks->items[i];
        sf_text_printf(text, "%s%-14s %s\n", signs[check->level], check->name, check->found);
        if (check->advice[0] != '\0') sf_text_printf(text, "%17s-> %s\n", "", check->advice);
    }
    size_t bad = count_of(checks, SF_FINDING_BAD), advised = count_of(checks, SF_FINDING_ADVICE);
    sf_text_printf(text, "%zu good, %zu that could be better (?), %zu that a run would fail by (!)",
                   checks->count - advised - bad, advised, bad);
}

static int print_checks(app_call *call, const sf_findings *checks, sf_error *error)
{
    sf_text text = {0};
    call->wanting = count_of(checks, SF_FINDING_BAD) > 0;
    if (call->json)
        app_document_json(&text, call, &document,
                          &(examined){!call->wanting, {checks->items, checks->count}, NULL});
    else
        add_lines(&text, checks);
    return app_print(&text, error);
}

static int check_machine(app_call *call, sf_error *error)
{
    sf_findings checks;
    sf_doctor(&checks, app_value(call, "folder", "."), "");
    return print_checks(call, &checks, error);
}

/* ---- the round trip ---- */

static const sf_run_loop_options usual_loop = {
    .sink = UINT32_MAX, .marker = "ttl0", .pulses = 200, .apart_ms = 100, .wait_ms = 1000, .seed = 1};

#define ROW sf_run_loop_options
static const sf_key loop_rows[] = {
    WHOLE("pulses", pulses, 1, 1000000, .argument = "N", .what = "number of pulses"),
    TEXT("answer", marker, .argument = "MARKER",
         .what = "what comes back: the rising edge of a line, as ttl3, or a marker's text"),
    REAL("apart_ms", apart_ms, 1, 60000, .argument = "MS",
         .what = "from an answer to the next pulse, on average; drawn at random"),
    REAL("wait_ms", wait_ms, 1, 60000, .argument = "MS", .what = "an answer that takes longer is lost"),
    WHOLE("sink", sink, 0, 63, .argument = "N"),
    WHOLE("source", source, 0, 63, .argument = "N", .what = "the source that is listened to, counted from 0"),
    TEXT("trigger", trigger, .zero = "the first trigger of CONFIG, or loop", .argument = "NAME",
         .what = "what the pulses are called"),
    {SF_ROW_SEED, AT(seed), .what = "of the distances"},
    {0},
};
#undef ROW

static const sf_key_table loop_table = SF_KEY_TABLE(loop_rows, usual_loop);

static const sf_doctor_rig_options usual_rig = {.listen_s = 2};

#define ROW sf_doctor_rig_options
static const sf_key rig_rows[] = {
    REAL("listen_s", listen_s, 0.1, 3600, .argument = "S", .what = "listen to the rig for so long"),
    TEXT("ask", ask, .zero = "it is not asked", .argument = "ENDPOINT",
         .what =
             "of intan: RHX's command socket, as tcp://192.168.1.20:5000, which is asked for the sampling "
             "rate"),
    {0},
};
#undef ROW

static const sf_key_table rig_table = SF_KEY_TABLE(rig_rows, usual_rig);

static const char *answer_of(const app_call *call)
{
    return app_value(call, "answer", usual_loop.marker);
}

static void add_trips(sf_text *text, const app_call *call, const sf_run_trips *trips)
{
    sf_text_printf(text, "%u pulses by %s, awaited as %s from %s\n", trips->pulses, trips->sink,
                   answer_of(call), trips->source);
    if (strcmp(trips->authentication, "none") == 0)
        sf_text_printf(text, "%s is unauthenticated: whoever answers there is believed\n", trips->source);
    if (trips->answered > 0)
        sf_text_printf(text, "round trip: median %.3f ms, p99 %.3f ms, at most %.3f ms\n", trips->median_ms,
                       trips->p99_ms, trips->most_ms);
    sf_text_printf(text, "%u answered, %u lost, %u not sent", trips->answered, trips->lost, trips->failed);
    if (trips->unexpected > 0)
        sf_text_printf(text,
                       "\n%u came while none was under way: late ones, or something else drives this line",
                       trips->unexpected);
    if (trips->answered == 0)
        sf_text_printf(
            text, "\nnone came back: see that the line of the trigger leads to an input of the rig, that the "
                  "rig sends its edges, and that --answer names them");
}

static int show_trips(app_call *call, const sf_run_trips *trips, sf_error *error)
{
    sf_text text = {0};
    call->wanting = trips->answered < trips->pulses;
    if (call->json)
        app_document_json(
            &text, call, &document,
            &(examined){!call->wanting, {trips, 0}, &(awaited){*trips, trips->answered, answer_of(call)}});
    else
        add_trips(&text, call, trips);
    return app_print(&text, error);
}

static bool until_signal(void *user, const char *what, double done, double total)
{
    sf_progress shown = app_progress(user);
    return !app_stop_requested() && sf_progress_update(&shown, what, done, total);
}

static int measure_loop(app_call *call, sf_error *error)
{
    sf_run_loop_options options = usual_loop;
    sf_run_trips trips;
    sf_config config;
    const sf_progress progress = {until_signal, call};
    int status = app_options_read(call, &loop_table, &options, error);
    if (status == SF_OK)
        status =
            app_live_configure(call, call->argument_count > 0 ? call->arguments[0] : NULL, &config, error);
    if (status != SF_OK) return status;
    app_catch_signals();
    app_tell_seed(call, options.seed);
    options.config = &config;
    options.progress = &progress;
    status = sf_run_loop(&trips, &options, error);
    if (status == SF_OK) status = show_trips(call, &trips, error);
    sf_run_trips_free(&trips);
    sf_config_free(&config);
    return status;
}

/* ---- a rig ---- */

#define MOST_RIG_SETTINGS 64

/* The rig as the one source of a configuration. */
static int configure_rig(sf_config *config, const app_call *call, sf_error *error)
{
    char yaml[128], endpoint[512];
    const char *settings[MOST_RIG_SETTINGS + 1];
    const char *value = app_value(call, "endpoint", NULL);
    size_t count = 0, from = 0;
    int length = snprintf(yaml, sizeof yaml, "sources: [{type: %s}]\n", call->arguments[0]);
    for (const char *setting; (setting = app_next_value(call, "set", &from)) != NULL;) {
        if (count == MOST_RIG_SETTINGS)
            return sf_fail(error, SF_USAGE, "--set", "at most %d settings are taken", MOST_RIG_SETTINGS);
        settings[count++] = setting;
    }
    if (value != NULL) {
        if ((size_t)snprintf(endpoint, sizeof endpoint, "sources.0.endpoint=%s", value) >= sizeof endpoint)
            return sf_fail(error, SF_USAGE, "--endpoint", "has %zu bytes, which is too long", strlen(value));
        settings[count++] = endpoint;
    }
    return sf_config_parse(config, yaml, (size_t)length, "doctor", settings, count, error);
}

static int check_rig(app_call *call, sf_error *error)
{
    const sf_progress progress = {until_signal, call};
    const sf_source_kind *kind;
    sf_doctor_rig_options options = usual_rig;
    sf_findings checks;
    sf_config config;
    int status = sf_doctor_rig_find(&kind, call->arguments[0], error);
    if (status == SF_OK) status = app_options_read(call, &rig_table, &options, error);
    if (status == SF_OK) status = configure_rig(&config, call, error);
    if (status != SF_OK) return status;
    app_catch_signals();
    options.config = &config;
    options.progress = &progress;
    status = sf_doctor_rig(&checks, &options, error);
    sf_config_free(&config);
    return status == SF_OK ? print_checks(call, &checks, error) : status;
}

/* ---- which of them ---- */

static const app_option loop_options[] = {
    {"set", "KEY=VALUE",
     "override a key of CONFIG, or make one: sources.0.type=open-ephys; of a rig sources.0.KEY=VALUE; may be "
     "repeated"},
    {.name = "pulses"},
    {.name = "answer"},
    {.name = "apart"},
    {.name = "wait"},
    {"sink", NULL, "the sink that sends, counted from 0 (0 to 63, default: the first that can)"},
    {.name = "source"},
    {.name = "trigger"},
    {.name = "seed"},
    {0},
};

static const app_option rig_options[] = {
    {"endpoint", "ENDPOINT", "where the rig is (default: as its source has it)"},
    {.name = "listen"},
    {.name = "ask"},
    {0},
};

static const char about_rig[] = "is for a rig: synfire doctor RIG";

/* Refuses all of a list but `except`, or NULL. */
static int refuse_list(const app_call *call, const app_option *list, const char *except, const char *reason,
                       sf_error *error)
{
    int status = SF_OK;
    for (const app_option *option = list; option->name != NULL && status == SF_OK; option++) {
        const char *const names[] = {option->name, NULL};
        if (except == NULL || strcmp(option->name, except) != 0)
            status = app_refuse(call, names, reason, error);
    }
    return status;
}

static int run(app_call *call, sf_error *error)
{
    static const char *const of_machine[] = {"folder", NULL};
    bool is_loop = app_has(call, "loop"), is_rig = !is_loop && call->argument_count > 0;
    int status = SF_OK;
    if (is_loop || is_rig)
        status = app_refuse(call, of_machine,
                            is_loop ? "does not go with --loop, which looks at no folder"
                                    : "does not go with a rig, of which no folder is looked at",
                            error);
    if (status == SF_OK && !is_rig) status = refuse_list(call, rig_options, NULL, about_rig, error);
    if (status == SF_OK && !is_loop)
        status = refuse_list(call, loop_options, is_rig ? "set" : NULL, "is for --loop", error);
    if (status != SF_OK) return status;
    return is_loop ? measure_loop(call, error) : is_rig ? check_rig(call, error) : check_machine(call, error);
}

static const app_option options[] = {
    {"folder", "DIR",
     "where recordings are to go (default: here); it is written to for a second, and nothing stays"},
    {"loop", NULL,
     "measure the round trip instead: sends pulses as triggers by a sink of CONFIG and awaits each in its "
     "source's "
     "stream. They are real: what hangs on the line is stimulated"},
    {NULL, NULL, NULL},
};

const app_command app_command_doctor = {
    .name = "doctor",
    .group = "live",
    .summary = "what a live run on this machine depends on, what a rig sends, and its round trip",
    .arguments = "[RIG | --loop CONFIG]",
    .least_arguments = 0,
    .most_arguments = 1,
    .example = "synfire doctor --folder .",
    .notes =
        "Cores and their frequency, real-time rights, locked memory, clocks, buffers of sockets, ports, "
        "serial "
        "lines, GPUs with their driver, HDF5's locks, and the disk. Exit code 0, or 1 where a run would fail "
        "or lose (!), or where a pulse of --loop was lost; what is only advised (?) leaves it 0. "
        "docs/operations.md explains each line. RIG is a `type` of source, as open-ephys: it is listened to "
        "as a "
        "run would, and nothing else is sent to it; each line says what to press there.",
    .options = {options, rig_options, loop_options},
    .documents = {&document},
    .rows = {&rig_table, &loop_table},
    .run = run,
};
