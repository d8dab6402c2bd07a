/* SPDX-License-Identifier: Apache-2.0 */
/* synfire-bench, which `synfire bench` starts: reproducible benchmarks, also of what lies inside the library.
 * It takes the words of that command by its table (app/bench.c). */
#include "bench/command/bench.h"

#include "app/csv.h"
#include "app/parse.h"

#include "core/backend/find.h"
#include "core/memory.h"
#include "core/thread.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line each. */
static const app_bench *const benches[] = {
    &app_bench_bfs,        &app_bench_density, &app_bench_episodes, &app_bench_latency,
    &app_bench_throughput, &app_bench_match,   &app_bench_plan,     NULL};

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

/* Every name that any row has, in the order in which they come first; a literal each. */
static size_t list_names(const app_bench_rows *rows, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t known = 0;
        while (rows->fields[i].name != NULL && known < count &&
               strcmp(names[known], rows->fields[i].name) != 0)
            known++;
        if (rows->fields[i].name != NULL && known == count)
            names[count++] = rows->fields[i].name;
    }
    return count;
}

static void add_csv_cell(app_csv *csv, const app_bench_rows *rows, size_t row, const char *name)
{
    for (size_t i = row + 1; i < rows->count && rows->fields[i].name != NULL; i++) {
        const app_bench_field *field = &rows->fields[i];
        if (strcmp(field->name, name) != 0)
            continue;
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
    if (names == NULL)
        return;
    size_t count = list_names(rows, names);
    app_csv csv = app_csv_start(text, "bench,machine,device");
    for (size_t k = 0; k < count; k++)
        sf_text_printf(text, ",%s", names[k]);
    for (size_t row = 0; row < rows->count; row++) {
        if (rows->fields[row].name != NULL)
            continue;
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
    if (count_fields(rows, other) != count)
        return false;
    for (size_t i = 1; i < count; i++)
        if (strcmp(rows->fields[row + i].name, rows->fields[other + i].name) != 0)
            return false;
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
    if (rows->failed)
        return sf_fail_memory(error);
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
        if (status != SF_OK)
            return status;
    }
    return SF_OK;
}

static bool takes(const app_bench *bench, const char *option)
{
    for (size_t i = 0; bench->options != NULL && bench->options[i] != NULL; i++)
        if (strcmp(bench->options[i], option) == 0)
            return true;
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
        if (strcmp(call->arguments[i], part) == 0)
            return true;
    return call->argument_count == 1;
}

static int run(app_call *call, sf_error *error)
{
    const app_bench *bench = find(call->arguments[0]);
    if (bench == NULL)
        return fail_unknown(call->arguments[0], error);
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

const app_command *const app_commands[] = {&app_command_bench, NULL};

const app_program_words app_words_of_program = {
    .usage = "synfire",
    .about = "synfire-bench is the program behind `synfire bench`.",
    .first = "Try:\n  synfire bench latency",
};

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    app_command command = app_command_bench;
    command.run = run;
    return app_invoke(&command, argc, argv);
}
