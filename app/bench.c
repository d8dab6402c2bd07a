/* SPDX-License-Identifier: Apache-2.0 */
/* synfire bench: reproducible benchmarks. */
#include "app/bench.h"

#include "core/memory.h"
#include "core/thread.h"

#include <string.h>

/* One line each. */
static const app_bench *const benches[] = {&app_bench_bfs, &app_bench_density, &app_bench_episodes, NULL};

static const app_option options[] = {
    {"kronecker", "SCALE:EDGEFACTOR:SEED", "bfs: the graph (default 20:16:1)"},
    {"data", "DIR", "episodes: where the recordings are (default: $SYNFIRE_DATA, else ../shared/data)"},
    {"threads", "N", "bfs: threads of the fast rows (default: all cores); episodes: a row on N threads too"},
    {0},
};

/* ---- rows
 * ---------------------------------------------------------------------------------------------------- */

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

/* ---- printing
 * ------------------------------------------------------------------------------------------------ */

/* "AMD EPYC, 2 cores": what Linux says of the processor and how many cores this process may use. */
static void describe_machine(char *text, size_t size)
{
    char model[128] = "unknown processor", line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            snprintf(model, sizeof model, "%s", value + 2);
            model[strcspn(model, "\n")] = '\0';
            break;
        }
    }
    if (file != NULL)
        fclose(file);
    snprintf(text, size, "%s, %u cores", model, sf_thread_cores());
}

static void print_json(sf_text *text, const app_bench_rows *rows, const char *bench, const char *machine)
{
    sf_json json = sf_json_start(text);
    sf_json_array(&json, NULL);
    for (size_t i = 0; i < rows->count; i++) {
        const app_bench_field *field = &rows->fields[i];
        if (field->name == NULL) {
            if (i > 0)
                sf_json_end_object(&json);
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
    if (rows->count > 0)
        sf_json_end_object(&json);
    sf_json_end_array(&json);
}

/* The first row names the columns. */
static void print_table(sf_text *text, const app_bench_rows *rows, const char *machine)
{
    app_table table = {0};
    size_t columns = 1;
    app_table_cell(&table, "device");
    for (; columns < rows->count && rows->fields[columns].name != NULL; columns++)
        app_table_cell(&table, "%s", rows->fields[columns].name);
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->fields[i].text != NULL)
            app_table_cell(&table, "%s", rows->fields[i].text);
        else
            app_table_cell(&table, "%.4g", rows->fields[i].number);
    }
    sf_text_printf(text, "%s\n\n", machine);
    app_table_print(&table, text, columns);
    text->length--; /* app_print ends the last line */
}

static const app_bench *find(const char *name)
{
    for (size_t i = 0; benches[i] != NULL; i++)
        if (strcmp(benches[i]->name, name) == 0)
            return benches[i];
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

static int run(app_call *call, sf_error *error)
{
    const app_bench *bench = find(call->arguments[0]);
    if (bench == NULL)
        return fail_unknown(call->arguments[0], error);
    app_bench_rows rows = {0};
    sf_text text = {0};
    int status = bench->run(call, &rows, error);
    if (status == SF_OK && rows.failed)
        status = sf_fail_memory(error);
    if (status == SF_OK) {
        char machine[192];
        describe_machine(machine, sizeof machine);
        if (call->json)
            print_json(&text, &rows, bench->name, machine);
        else
            print_table(&text, &rows, machine);
        status = app_print(&text, error);
    }
    free_rows(&rows);
    return status;
}

const app_command app_command_bench = {
    .name = "bench",
    .group = "advanced",
    .summary = "reproducible benchmarks",
    .arguments = "NAME",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire bench bfs --kronecker 16:16:1",
    .notes =
        "bfs: 64 random sources on a Kronecker graph; teps is the harmonic mean of directed edges of the\n"
        "reached component over seconds, ratio the speed over that of a plain queue on one thread in the "
        "same\n"
        "run. What a search prepares once per graph is shown apart.\n"
        "episodes: Algorithm 1 and the interval engine on one core, on the 64-unit stream of the miners' "
        "own\n"
        "benchmark (simulated where it is absent) and on a retina of two hours; medians of seven runs but "
        "for\n"
        "Algorithm 1, which takes half a minute. ratio is the speed over the first row of the job.",
    .options = {options},
    .run = run,
};
