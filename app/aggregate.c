/* SPDX-License-Identifier: Apache-2.0 */
#include "app/csv.h"
#include "app/load.h"
#include "app/samples.h"

#include "core/describe/table.h"
#include "core/row_macros.h"
#include "tools/states.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const app_option options[] = {
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {.name = "range"},
    {"op", "count|sum|avg|var", "what to ask for (default count); with several columns of the last one"},
    {"bandwidth", "H|METHOD",
     "a number, or how to find one, as bandwidth --method (default isj; for several columns silverman)"},
    {"save", "FILE", "keeps what answers without the samples: a small HDF5 file, of one or two columns"},
    {"from-state", NULL,
     "the arguments are files of --save, or control sockets of runs (tcp://..., ipc://...): answers for all "
     "of them together"},
    {.name = "density"},
    {.name = "token"},
    {.name = "key"},
    {.name = "server-key"},
    {.name = "wait"},
    {"exact", NULL, "answers from the samples too, and prints the relative error"},
    {0},
};

/* ---- options ---- */

static const sf_states_asking usual_asking = {.seconds = 10};

#define ROW sf_states_asking
static const sf_key asking_rows[] = {
    TEXT("density", density, .zero = "none", .argument = "NAME",
         .what = "of runs: a density that they keep, as their messages call it: 'isi A'"),
    TEXT("token", token_file, .zero = "none", .argument = "FILE",
         .what = "of runs: the token of their control sockets"),
    TEXT("key", key, .zero = "none", .argument = "FILE",
         .what = "of runs: shows this key, the secret file of `synfire keys`"),
    TEXT("server_key", server_key, .zero = "none", .argument = "FILE",
         .what = "beside --key: the public file of the run"),
    REAL("wait_s", seconds, 0.001, 86400, .argument = "S", .what = "of runs: for an answer at most"),
    {0},
};
#undef ROW

static const sf_key_table asking_table = SF_KEY_TABLE(asking_rows, usual_asking);

enum { MOST_COLUMNS = 16 };

typedef struct aggregate_request {
    sf_aggregate_kind op;
    double from[MOST_COLUMNS], to[MOST_COLUMNS];
    size_t ranges;
    sf_density_options options;
} aggregate_request;

/* The end of a range; if left out or infinite, the range is open at that end. */
static bool parse_end(const char *text, size_t length, double open, double *end)
{
    char number[64];
    if (length >= sizeof number) return false;
    memcpy(number, text, length);
    number[length] = '\0';
    *end = open;
    const char *sign = open > 0 ? "+inf" : "-inf";
    return length == 0 || strcmp(number, sign) == 0 || (open > 0 && strcmp(number, "inf") == 0) ||
           sf_parse_real(number, end);
}

static int read_range(void *asked, const char *text, sf_error *error)
{
    aggregate_request *request = asked;
    for (const char *at = text; *at != '\0' && request->ranges < MOST_COLUMNS;) {
        size_t c = request->ranges++, length = strcspn(at, ":,");
        const char *second = at + length + (at[length] == ':');
        size_t rest = strcspn(second, ":,");
        if (at[length] != ':' || second[rest] == ':' ||
            !parse_end(at, length, -INFINITY, &request->from[c]) ||
            !parse_end(second, rest, INFINITY, &request->to[c]) || request->from[c] >= request->to[c])
            break;
        at = second + rest;
        if (*at == '\0') return SF_OK;
        at++;
    }
    return sf_fail(error, SF_USAGE, NULL, "found '%s', expected A:B with A < B, up to %d of them with commas",
                   text, MOST_COLUMNS);
}

static const aggregate_request usual;

#define ROW aggregate_request
static const sf_key request_rows[] = {
    FORM("range", read_range, .argument = "A:B",
         .what = "values above A and below B, either of which may be left out; for several columns a box, "
                 "A:B,C:D,..., or of two columns the first one's range"),
    {0},
};
#undef ROW

static const sf_key_table request_table = SF_KEY_TABLE(request_rows, usual);

static int parse_request(const app_call *call, aggregate_request *request, sf_error *error)
{
    *request = (aggregate_request){.options = sf_density_options_default()};
    int op = SF_AGGREGATE_COUNT;
    int status = app_word(call, "op", &op, error);
    request->op = (sf_aggregate_kind)op;
    if (status == SF_OK && !app_has(call, "range") && !app_has(call, "save"))
        status = sf_fail(error, SF_USAGE, "--range", "is needed: expected A:B");
    if (status == SF_OK) status = app_options_read(call, &request_table, request, error);
    if (status == SF_OK) status = app_domain(call, SF_DOMAIN_LINE, &request->options.domain, error);
    return status == SF_OK ? app_bandwidth(call, &request->options, error) : status;
}

static int check_columns(const aggregate_request *request, const sf_series_columns *samples, sf_error *error)
{
    if (request->ranges == 0) return SF_OK;
    if (samples->d > 1 && request->options.domain != SF_DOMAIN_LINE)
        return sf_fail(error, SF_USAGE, "--range", "several columns go without --log and --reflect");
    if (samples->d == request->ranges || (samples->d == 2 && request->ranges == 1)) return SF_OK;
    return sf_fail(error, SF_USAGE, "--range", "found %zu range%s for %zu column%s", request->ranges,
                   request->ranges == 1 ? "" : "s", samples->d, samples->d == 1 ? "" : "s");
}

/* The result to print, whether it was computed from samples or from a state. */
typedef struct outcome {
    const char *op;
    uint64_t n;
    double h, estimate, exact, relative_error, sampling_error, smoothing_error;
    uint64_t states;
    const char *saved, *quantity;
    uint32_t unit;
    const char *name;
} outcome;

#define ROW outcome
static const sf_column_row rows[] = {
    SF_MEMBER_IS(TEXT, op, "what was asked for: count, sum, avg or var",
                 .null = "--save came without --range"),
    SF_MEMBER_IS(COUNT, n, "number of samples"),
    SF_MEMBER_IS(REAL, h, "bandwidth", .null = "there is no range"),
    SF_MEMBER_IS(REAL, estimate, "from the density", .null = "there is no range"),
    SF_MEMBER_IS(REAL, exact, "from the samples", .null = "without --exact"),
    SF_MEMBER_IS(REAL, relative_error, "between these", .null = "without --exact"),
    SF_MEMBER_IS(REAL, sampling_error, "what the number of samples leaves open", .null = "not known"),
    SF_MEMBER_IS(REAL, smoothing_error, "how much a bandwidth smaller by sqrt 2 changes the answer",
                 .null = "not known"),
    SF_MEMBER_IS(COUNT, states, "files and runs that it was answered from", .null = "without --from-state"),
    SF_MEMBER_IS(TEXT, saved, "the file of --save", .null = "without"),
    SF_MEMBER_IS(TEXT, quantity, "isi, rate, delay or position", .null = "of numbers"),
    SF_MEMBER_IS(UNIT, unit, "the unit whose samples they are",
                 .null = "of a link, of positions and of numbers"),
    SF_MEMBER_IS(TEXT, name, "of the unit or link", .null = "of positions and of numbers"),
};
#undef ROW

static const sf_table answers = {
    .name = "aggregates", .row = "aggregate", .about = "an answer from a density", SF_TABLE_OF(rows)};

static void print_text(sf_text *text, const outcome *told, bool exact)
{
    int digits = app_digits(told->estimate, told->sampling_error, 8);
    if (told->op != NULL)
        sf_text_printf(
            text, "%s  %.*g  (error bar: %.3g by sampling, %.3g by smoothing; h %.5g, %" PRIu64 " samples)",
            told->op, digits, told->estimate, told->sampling_error, told->smoothing_error, told->h, told->n);
    if (told->op != NULL && exact)
        sf_text_printf(text, "\nexact  %.*g  (relative error %.3g)", digits, told->exact,
                       told->relative_error);
    if (told->saved != NULL)
        sf_text_printf(text, "%s%s: the state of %" PRIu64 " samples", told->op != NULL ? "\n" : "",
                       told->saved, told->n);
}

static int print_answer(const app_call *call, const aggregate_request *request, const sf_aggregate *answer,
                        outcome *told, sf_error *error)
{
    told->op = request->ranges > 0 ? sf_aggregate_words[request->op] : NULL;
    told->saved = app_value(call, "save", NULL);
    told->estimate = answer->estimate;
    told->exact = app_has(call, "exact") ? answer->exact : NAN;
    told->sampling_error = answer->sampling_error;
    told->smoothing_error = answer->smoothing_error;
    double off = fabs(told->estimate - told->exact);
    told->relative_error = off > 0 ? off / fabs(told->exact) : off;
    sf_text text = {0};
    if (call->json)
        app_document_json(&text, call, &answers, told);
    else if (app_has(call, "csv")) {
        app_csv csv = app_csv_start_table(&text, &answers);
        app_csv_struct(&csv, &answers, told);
    } else
        print_text(&text, told, app_has(call, "exact"));
    return app_print(&text, error);
}

static const sf_aggregate nothing = {.size = sizeof nothing, NAN, NAN, NAN, NAN, NAN};

static int save(const app_call *call, const app_samples *samples, const sf_density *density, sf_error *error)
{
    const char *path = app_value(call, "save", NULL);
    if (path == NULL) return SF_OK;
    sf_text provenance = app_provenance_text(call);
    int status = provenance.failed
                     ? sf_fail_memory(error)
                     : sf_state_save(path, density, app_value(call, "quantity", NULL), samples->all.names[0],
                                     samples->all.units[0], provenance.data, error);
    sf_text_free(&provenance);
    struct stat file;
    uint64_t bytes = samples->all.first[1] * samples->all.d * sizeof(double);
    if (status == SF_OK && stat(path, &file) == 0 && (uint64_t)file.st_size > bytes)
        app_warn(call, "%s: the state takes %" PRIu64 " bytes, and its samples %" PRIu64 "%s", path,
                 (uint64_t)file.st_size, bytes,
                 samples->all.d == 1 && !app_has(call, "log") ? ": with --log it may take fewer" : "");
    return status;
}

static int answer_series(const app_call *call, const app_samples *samples, void *context, sf_error *error)
{
    aggregate_request *request = context;
    sf_progress progress = app_progress(call);
    sf_density *density = NULL;
    sf_density_columns columns = {.size = sizeof columns};
    sf_aggregate answer = nothing;
    request->options.progress = &progress;
    int status = check_columns(request, &samples->all, error);
    if (status == SF_OK)
        status = app_density_find(call, &density, samples->series, 0, &request->options, error);
    if (status == SF_OK && request->ranges > 0)
        status = sf_density_aggregate(density, request->op, request->from, request->to, request->ranges,
                                      &answer, &progress, error);
    if (status == SF_OK) status = save(call, samples, density, error);
    if (status == SF_OK) {
        sf_density_get_columns(density, &columns);
        outcome told = {.n = columns.n,
                        .h = columns.h,
                        .states = SF_NO_COUNT,
                        .quantity = app_value(call, "quantity", NULL),
                        .unit = app_samples_unit(samples, 0),
                        .name = app_samples_name(samples, 0)};
        status = print_answer(call, request, &answer, &told, error);
    }
    sf_density_free(density);
    return status;
}

/* ---- from states ---- */

static const char *const of_runs[] = {"density", "token", "key", "server-key", "wait", NULL};

static int refuse_samples(const app_call *call, sf_error *error)
{
    static const char *const of_samples[] = {"exact", "bandwidth", NULL};
    const char *const reason = "is of samples: a state has none";
    int status = app_refuse(call, of_samples, reason, error);
    const app_option *const lists[] = {app_axis_options, app_quantity_options, app_selection_options};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const app_option *option = lists[i]; status == SF_OK && option->name != NULL; option++)
            status = app_refuse(call, (const char *const[]){option->name, NULL}, reason, error);
    return status;
}

/* Options of runs where none is asked. */
static int read_asking(const app_call *call, sf_states_asking *asking, sf_error *error)
{
    bool is_run = false;
    for (size_t i = 0; i < call->argument_count; i++)
        is_run = is_run || sf_states_is_run(call->arguments[i]);
    *asking = usual_asking;
    if (!is_run) return app_refuse(call, of_runs, "is of runs: no argument is a control socket", error);
    return app_options_read(call, &asking_table, asking, error);
}

static int save_states(const app_call *call, const sf_states *states, sf_error *error)
{
    const char *path = app_value(call, "save", NULL);
    if (path == NULL) return SF_OK;
    sf_text provenance = app_provenance_text(call);
    int status =
        provenance.failed ? sf_fail_memory(error) : sf_states_save(states, path, provenance.data, error);
    sf_text_free(&provenance);
    return status;
}

static int answer_states(const app_call *call, const aggregate_request *request, sf_error *error)
{
    sf_states *states = NULL;
    sf_aggregate answer = nothing;
    sf_states_asking asking = {0};
    int status = refuse_samples(call, error);
    if (status == SF_OK) status = read_asking(call, &asking, error);
    if (status == SF_OK)
        status = sf_states_open(&states, call->arguments, call->argument_count, &asking, error);
    if (status != SF_OK && asking.key != NULL) app_name_option(call, status, error);
    if (status == SF_OK && request->ranges > 0)
        status = sf_states_aggregate(states, request->op, request->from, request->to, request->ranges,
                                     &answer, error);
    if (status == SF_OK) status = save_states(call, states, error);
    if (status == SF_OK) {
        sf_states_about about;
        sf_states_describe(states, &about);
        outcome told = {.n = about.n,
                        .h = about.h,
                        .states = about.files,
                        .quantity = about.quantity,
                        .unit = about.unit >= 0 ? (uint32_t)about.unit : UINT32_MAX,
                        .name = about.name};
        if (about.parts > 1)
            app_warn(call,
                     "the states span too different ranges to add up: each of %zu answers with a bandwidth "
                     "of its own; that of the first is shown",
                     about.parts);
        status = print_answer(call, request, &answer, &told, error);
    }
    sf_states_close(states);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    aggregate_request request;
    int status = parse_request(call, &request, error);
    if (status == SF_OK && app_has(call, "from-state")) return answer_states(call, &request, error);
    if (status == SF_OK) status = app_refuse(call, of_runs, "is of runs: with --from-state", error);
    return status == SF_OK ? app_samples_run(call, false, "", answer_series, &request, error) : status;
}

const app_command app_command_aggregate = {
    .name = "aggregate",
    .group = "timing",
    .summary = "approximate COUNT, SUM, AVG and VAR over a range, from the density",
    .arguments = "SAMPLES|REC|STATE|ENDPOINT...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .gathers = "from-state",
    .example = "synfire aggregate demo.h5 --quantity isi --units A --range 0.002:0.01 --op avg --exact",
    .notes =
        "SAMPLES is a file of numbers: text or CSV with one row a line, or NumPy .npy. With --quantity it "
        "is a recording of which --units selects one unit. The error bar has two parts: what the number of "
        "samples leaves open, and how much the answer changes with a bandwidth smaller by sqrt 2. "
        "--save keeps a state of some kilobytes: `synfire aggregate --from-state a.h5 b.h5 --range A:B` "
        "answers for the samples of both without them, and `... --from-state tcp://127.0.0.1:7740 --token "
        "token "
        "--density 'isi A' --range A:B` for the newest window of a run.",
    .options = {options, app_axis_options, app_quantity_options, app_selection_options},
    .rows = {&app_quantity_table, &asking_table, &request_table},
    .tables = {&answers},
    .documents = {&answers},
    .run = run,
};
