/* SPDX-License-Identifier: Apache-2.0 */
/* synfire bench: reproducible benchmarks, also of what lies inside the library. */
#include "bench/command/bench.h"

#include "app/csv.h"
#include "app/parse.h"

#include "core/backend/find.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "core/thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line each. */
static const app_bench *const benches[] = {&app_bench_analyses, &app_bench_bfs,     &app_bench_density,
                                           &app_bench_episodes, &app_bench_latency, &app_bench_throughput,
                                           &app_bench_match,    &app_bench_plan,    NULL};

/* ---- rows ---- */

typedef struct app_bench_field {
    const char *name; /* a literal; NULL begins a row, text is then its device */
    char *text;       /* NULL for a number */
    double number;
} app_bench_field;

static void add(app_bench_rows *rows, const char *name, const char *text, double number)
{
    void *fields = rows->fields;
    char *copy = text != NULL ? sf_copy_string(text) : NULL;
    if ((text != NULL && copy == NULL) ||
        sf_reserve(&fields, &rows->capacity, rows->count + 1, sizeof *rows->fields) != 0) {
        sf_free(copy);
        rows->failed = true;
        return;
    }
    rows->fields = fields;
    rows->fields[rows->count++] = (app_bench_field){name, copy, number};
}

void app_bench_row(app_bench_rows *rows, const char *device)
{
    add(rows, NULL, device, 0);
}

void app_bench_text(app_bench_rows *rows, const char *name, const char *value)
{
    add(rows, name, value, 0);
}

void app_bench_number(app_bench_rows *rows, const char *name, double value)
{
    add(rows, name, NULL, value);
}

static void free_rows(app_bench_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        sf_free(rows->fields[i].text);
    sf_free(rows->fields);
}

/* ---- printing ---- */

/* "AMD EPYC, 2 cores": what Linux says of the processor and how many cores this process may use; then its
 * devices. */
static void describe_machine(char *text, size_t size)
{
    char model[128];
    sf_processor_name(model, sizeof model);
    size_t length = (size_t)snprintf(text, size, "%s, %u cores", model, sf_thread_cores());
    for (uint32_t d = 0; d < sf_device_count() && length < size; d++) {
        sf_backend_facts facts;
        sf_device_facts(sf_device_at(d), &facts);
        length += (size_t)snprintf(text + length, size - length, "; %s %s", sf_device_name(sf_device_at(d)),
                                   facts.description[0] != '\0' ? facts.description : "does not work");
    }
}

static void print_json(sf_text *text, const app_bench_rows *rows, const char *bench, const char *machine)
{
    sf_json json = sf_json_start(text);
    sf_json_array(&json, NULL);
    for (size_t i = 0; i < rows->count; i++) {
        const app_bench_field *field = &rows->fields[i];
        if (field->name == NULL) {
            if (i > 0) sf_json_end_object(&json);
            sf_json_object(&json, NULL);
            sf_json_string(&json, "bench", bench);
            sf_json_string(&json, "machine", machine);
            sf_json_string(&json, "device", field->text);
        } else if (field->text != NULL) {
            sf_json_string(&json, field->name, field->text);
        } else {
            sf_json_real(&json, field->name, field->number);
        }
    }
    if (rows->count > 0) sf_json_end_object(&json);
    sf_json_end_array(&json);
}

/* Every name that any row has, in the order in which they come first; a literal each. */
static size_t list_names(const app_bench_rows *rows, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t known = 0;
        while (rows->fields[i].name != NULL && known < count &&
               strcmp(names[known], rows->fields[i].name) != 0)
            known++;
        if (rows->fields[i].name != NULL && known == count) names[count++] = rows->fields[i].name;
    }
    return count;
}

static void add_csv_cell(app_csv *csv, const app_bench_rows *rows, size_t row, const char *name)
{
    for (size_t i = row + 1; i < rows->count && rows->fields[i].name != NULL; i++) {
        const app_bench_field *field = &rows->fields[i];
        if (strcmp(field->name, name) != 0) continue;
        if (field->text != NULL)
            app_csv_string(csv, field->text);
        else
            app_csv_real(csv, field->number);
        return;
    }
    app_csv_string(csv, NULL);
}

static void print_csv(sf_text *text, const app_bench_rows *rows, const char *bench, const char *machine)
{
    const char **names = sf_resize(NULL, rows->count, sizeof *names);
    text->failed = text->failed || names == NULL;
    if (names == NULL) return;
    size_t count = list_names(rows, names);
    app_csv csv = app_csv_start(text, "bench,machine,device");
    for (size_t k = 0; k < count; k++)
        sf_text_printf(text, ",%s", names[k]);
    for (size_t row = 0; row < rows->count; row++) {
        if (rows->fields[row].name != NULL) continue;
        app_csv_row(&csv);
        app_csv_string(&csv, bench);
        app_csv_string(&csv, machine);
        app_csv_string(&csv, rows->fields[row].text);
        for (size_t k = 0; k < count; k++)
            add_csv_cell(&csv, rows, row, names[k]);
    }
    sf_free(names);
}

/* Fields of the row that begins at `row`, the device among them. */
static size_t count_fields(const app_bench_rows *rows, size_t row)
{
    size_t count = 1;
    while (row + count < rows->count && rows->fields[row + count].name != NULL)
        count++;
    return count;
}

/* Whether both rows have fields of the same names, so that they share a table. */
static bool same_fields(const app_bench_rows *rows, size_t row, size_t other, size_t count)
{
    if (count_fields(rows, other) != count) return false;
    for (size_t i = 1; i < count; i++)
        if (strcmp(rows->fields[row + i].name, rows->fields[other + i].name) != 0) return false;
    return true;
}

/* The table of the rows from `first` on that have its fields, which name the columns. Returns the row after.
 */
static size_t print_table(sf_text *text, const app_bench_rows *rows, size_t first)
{
    app_table table = {0};
    size_t columns = count_fields(rows, first), i = first;
    app_table_cell(&table, "device");
    for (size_t k = 1; k < columns; k++)
        app_table_cell(&table, "%s", rows->fields[first + k].name);
    for (; i < rows->count && same_fields(rows, first, i, columns); i += columns)
        for (size_t k = i; k < i + columns; k++) {
            const app_bench_field *field = &rows->fields[k];
            if (field->text != NULL)
                app_table_cell(&table, "%s", field->text);
            else
                app_table_cell(&table, isfinite(field->number) ? "%.4g" : "-", field->number);
        }
    app_table_print(&table, text, columns);
    return i;
}

static void print_tables(sf_text *text, const app_bench_rows *rows, const char *machine)
{
    sf_text_printf(text, "%s\n", machine);
    for (size_t row = 0; row < rows->count;) {
        sf_text_printf(text, "\n");
        row = print_table(text, rows, row);
    }
    text->length--; /* app_print ends the last line */
}

static int print(const app_call *call, const app_bench_rows *rows, const app_bench *bench, sf_error *error)
{
    if (rows->failed) return sf_fail_memory(error);
    char machine[1024];
    sf_text text = {0};
    describe_machine(machine, sizeof machine);
    if (call->json)
        print_json(&text, rows, bench->name, machine);
    else if (app_has(call, "csv"))
        print_csv(&text, rows, bench->name, machine);
    else
        print_tables(&text, rows, machine);
    return app_print(&text, error);
}

static const app_bench *find(const char *name)
{
    for (size_t i = 0; benches[i] != NULL; i++)
        if (strcmp(benches[i]->name, name) == 0) return benches[i];
    return NULL;
}

static int fail_unknown(const char *name, sf_error *error)
{
    sf_text known = {0};
    for (size_t i = 0; benches[i] != NULL; i++)
        sf_text_printf(&known, "%s%s", i > 0 ? ", " : "", benches[i]->name);
    int status = sf_fail(error, SF_USAGE, NULL, "there is no benchmark '%s'; there are: %s", name,
                         known.data != NULL ? known.data : "");
    sf_text_free(&known);
    return status;
}

/* The words after the benchmark's name are parts of it. */
static int check_parts(const app_call *call, const app_bench *bench, sf_error *error)
{
    for (size_t i = 1; i < call->argument_count; i++) {
        sf_text known = {0};
        bool found = false;
        for (size_t k = 0; bench->parts != NULL && bench->parts[k] != NULL; k++) {
            found = found || strcmp(bench->parts[k], call->arguments[i]) == 0;
            sf_text_printf(&known, "%s%s", k > 0 ? ", " : "", bench->parts[k]);
        }
        int status = found ? SF_OK
                           : sf_fail(error, SF_USAGE, NULL, "%s has no part '%s'; it has: %s", bench->name,
                                     call->arguments[i], known.data != NULL ? known.data : "none");
        sf_text_free(&known);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

static bool takes(const app_bench *bench, const char *option)
{
    for (size_t i = 0; bench->options != NULL && bench->options[i] != NULL; i++)
        if (strcmp(bench->options[i], option) == 0) return true;
    return false;
}

static int check_options(const app_call *call, const app_bench *bench, sf_error *error)
{
    const app_option *options = call->command->options[0];
    for (size_t i = 0; options[i].name != NULL; i++) {
        char place[32];
        snprintf(place, sizeof place, "--%s", options[i].name);
        if (app_has(call, options[i].name) && strcmp(options[i].name, "csv") != 0 &&
            !takes(bench, options[i].name))
            return sf_fail(error, SF_USAGE, place, "is for other benchmarks than %s", bench->name);
    }
    return SF_OK;
}

#define ROW app_bench_options
static const sf_key rows_of_options[] = {
    {SF_ROW_THREADS, AT(threads)},
    REAL("seconds", seconds, 0, 86400, .zero = "60, 10 and 5", .argument = "S",
         .what = "analyses: of the stream; latency: of the parts trigger and rigs; throughput: of each row "
                 "over sockets"),
    {0},
};
#undef ROW

static const app_bench_options usual = {0};
static const sf_key_table table_of_options = SF_KEY_TABLE(rows_of_options, usual);

int app_bench_read(app_bench_options *options, const app_call *call, sf_error *error)
{
    *options = usual;
    int status = app_options_read(call, &table_of_options, options, error);
    if (options->threads == 0) options->threads = sf_thread_cores();
    return status;
}

bool app_bench_data(const app_call *call, const char *file, char *path, size_t size)
{
    const char *folder = app_value(call, "data", getenv("SYNFIRE_DATA"));
    snprintf(path, size, "%s/%s", folder != NULL ? folder : "../shared/data", file);
    return access(path, R_OK) == 0;
}

sf_device *app_bench_device(uint32_t index)
{
    sf_device *device;
    return sf_device_find(&device, sf_device_name(sf_device_at(index)), NULL) == SF_OK ? device : NULL;
}

bool app_bench_wants(const app_call *call, const char *part)
{
    for (size_t i = 1; i < call->argument_count; i++)
        if (strcmp(call->arguments[i], part) == 0) return true;
    return call->argument_count == 1;
}

static int run(app_call *call, sf_error *error)
{
    const app_bench *bench = find(call->arguments[0]);
    if (bench == NULL) return fail_unknown(call->arguments[0], error);
    if (check_parts(call, bench, error) != SF_OK || check_options(call, bench, error) != SF_OK)
        return SF_USAGE;
    app_bench_rows rows = {0};
    int status = bench->run(call, &rows, error);
    if (status == SF_OK || (status == SF_CANCELLED && rows.count > 0)) {
        int printed = print(call, &rows, bench, error);
        status = printed != SF_OK ? printed : status;
    }
    free_rows(&rows);
    return status;
}

static const app_option options[] = {
    {"calibrate", NULL, "episodes: only from how many episodes of each size on hybrid counts as ptpe does"},
    {"graph", "FILE", "bfs: the graph of a file, both ways, in place of a drawn one"},
    {"kronecker", "SCALE:EDGEFACTOR:SEED[:A,B,C]",
     "bfs: the graph (default 20:16:1); with A,B,C the chances of R-MAT, as 0.45,0.15,0.15, in place of "
     "those of "
     "Graph500"},
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {"data", "DIR", "episodes, match: where the data are (default: $SYNFIRE_DATA, else ../shared/data)"},
    {"device", "DEVICE",
     "bfs: cpu (default), a GPU, which then draws the graph, or cuda:all for a search on all of them; "
     "episodes: this device alone, mining "
     "with cuda:all on one GPU, two, four ... and all; latency, throughput: as the key `device` of a "
     "configuration (default: cpu, then the first GPU, if any)"},
    {"levels", NULL, "bfs: the time of each level of the median search; of rules: a row a source"},
    {.name = "seconds"},
    {"threads", NULL, "bfs, episodes, match, plan: threads of the fast rows (1 to 4096, default: all cores)"},
    {0},
};

const app_command app_command_bench = {
    .name = "bench",
    .group = "advanced",
    .summary = "reproducible benchmarks",
    .arguments = "NAME [PART...]",
    .least_arguments = 1,
    .most_arguments = -1,
    .example = "synfire bench bfs --kronecker 16:16:1",
    .notes =
        "analyses: what a hop of 100 ms costs in network bursts, in responses to a stimulus each second, in "
        "responses that are switched off, in the branching ratio, in spike-time tiling and in measures of a "
        "network of 20,480 edges each second, at 4,096 units and 100,000 spikes a second; together: all of "
        "them in the same hop.\n"
        "bfs: 64 random sources on a Kronecker graph; teps is the harmonic mean of directed edges of the\n"
        "reached component over seconds, as Graph500 has it, in which one source in a component of a few "
        "vertices "
        "weighs as much as all others; median_teps is the median of the sources'. ratio is the speed over "
        "that of a plain queue on one thread in the "
        "same\n"
        "run. What a search prepares once per graph is shown apart. On a device the first row is the "
        "fastest\n"
        "way, the others are Enterprise with one technique more at a time, and ratio is over the first row.\n"
        "With cuda:all on several GPUs the rows are all these ways on one, and then on all together.\n"
        "graph500_teps counts edges as Graph500 does: those of the list in the component, loops and repeats "
        "among\n"
        "them, each once; it is left out of graphs that a device draws. Part ways is what is said so far; "
        "only "
        "where named:\n"
        "rules, what a search reads that switches once to bottom-up where gamma (over 30 % of the hubs in "
        "the "
        "frontier)\n"
        "or alpha (a fourteenth of the edges that are left) says, where it is best, and never, as a share of "
        "the edges,\n"
        "and which share of the bottom-up reads the hub cache saves; and scaling, 1, 2, 4, ... threads on "
        "the "
        "same graph\n"
        "(strong) and on one twice as large each time (weak), teps being all edges over all seconds.\n"
        "floor_mb is 8 bytes a vertex for levels and parents, and 4 for each twentieth edge.\n"
        "episodes: mining data sets by every engine on the CPU, on every device and divided among all. Words "
        "after the name "
        "choose "
        "parts: sym26, sim-64 and sim-64-high (the miners' own benchmark stream at two thresholds, simulated "
        "where it is absent), retina (two hours of a recording), array-60, array-600 and array-3600 (4,096 "
        "units "
        "at 10 Hz for so many seconds; the longer two only where there is a device, unless named), counts "
        "(10 to "
        "100,000 episodes of 2 to 8 units by each engine side by side). seconds is the median of up to "
        "eleven "
        "runs, ratio the speed over the first row of the job. All rows of a job must find the same; an "
        "engine "
        "that would take too long is left out.\n"
        "density: bandwidths by direct sums on one core, on every device, and by the characteristic\n"
        "function (part direct), of a million samples (million), and what the densities of a live run cost\n"
        "(live); only where named: series, the plug-in and least squares over n, by direct sums as far as "
        "they go.\n"
        "latency: part hop: 22 s of 4,096 units at 100,000 spikes a second through the live pipeline in real "
        "time: a "
        "window "
        "of 10 s, a hop of 100 ms, a discovery each second, 1,000 episodes tracked, the graph, three "
        "densities. What "
        "each stage of a hop took, how old the counts were when they were published, how long discoveries "
        "took. Part test: the same, with what is tracked and linked tested in 1,000 surrogates of 10 s. Part "
        "trigger: from a spike that is sent over the loopback interface, among 100,000 a second, to the "
        "trigger that "
        "`synfire run` sends back, by ZeroMQ and by OSC, with 100 watched episodes; beside it what a bare "
        "message takes one way in the same moments, and the ratio. Part rigs: from a spike that is handed to "
        "what plays "
        "a rig's protocol to the trigger, of each protocol, without merge.lateness_ms; held is what it keeps "
        "spikes back "
        "to send them in blocks.\n"
        "throughput: part pipeline: spikes a second of the same stream through the pipeline without a clock; "
        "the best of "
        "three. Part sockets: frames of 4,096 spikes over the loopback interface, as fast as they are taken, "
        "by a "
        "receiver that does nothing but take them from libzmq, and by `synfire run` with windows of 1 s, "
        "with "
        "mining "
        "each minute of the stream, and with a recorder that writes below $TMPDIR; memory is what the run "
        "took at "
        "most, and ns_per_spike the processor time of each of its threads. Part rigs: 100,000 spikes a "
        "second "
        "as Open "
        "Ephys and as MaxWell sends them, for seconds: what was sent is what was watched and what was lost "
        "by "
        "cause.\n"
        "plan: 1R on up to a million made-up vectors, one function after the other and by its parallel form "
        "on 1, 2, 4, ... threads, on one model and on copies; amdahl is the greatest speedup that the share "
        "which stays serial allows.\n"
        "match: patterns on one core, on all, on every device and where the estimated work puts them "
        "(on_device is how many went to a device). Parts: hprd (40 dense patterns in the protein network), "
        "celegans (feed-forward loops), votes-4 and votes-10 (24 patterns in a generated graph of 7,115 "
        "vertices and about 100,000 edges with so many labels), clique (5 vertices, unlabelled), gvsm (that "
        "engine without each of its techniques), large (10 million edges, 4 labels); only where named: "
        "labels (the same edges and shapes with 2 to 64 labels), orders (what gvsm's order tries beside the "
        "best and worst of all 120 numberings of 24 patterns), kronecker-20 and kronecker-22 (Graph500's "
        "graphs of that scale, 64 labels), power-law (196,591 vertices, 950,327 edges, 16 labels, 24 "
        "patterns "
        "of 8 and 12 vertices), edge-labels (a million edges, 4 labels of vertices and 4 of "
        "edges, "
        "with the engine gvsm without each of its techniques). Each device's row is followed by two whose "
        "candidates the CPU "
        "makes, and the device, space_seconds being what they take. A search is stopped "
        "after a second: complete is then 0 and embeddings a lower bound.",
    .options = {options},
    .rows = {&table_of_options},
    .run = run,
};
