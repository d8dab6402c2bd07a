/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch.h"

#include "app/csv.h"
#include "app/jobs.h"
#include "app/load.h"
#include "app/parse.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "core/thread.h"

#include <sys/stat.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* A recording: a file, or one of those that it holds side by side. */
typedef struct batch_item {
    const char *path;
    const char *stream; /* NULL: as the call has it */
    const char *chosen; /* the stream that is in names of its files: that one, or what --stream names */
    char *label;        /* what people read: the path, and the stream where there is one */
} batch_item;

typedef struct batch {
    const app_call *call;
    int (*perform)(app_call *call);
    char **paths; /* as given and listed */
    size_t path_count;
    sf_text list; /* what some of them point into */
    batch_item *items;
    size_t count, capacity;
    sf_streams *streams; /* by path, where --stream is a pattern: items borrow names */
    unsigned cores;
    size_t done, failed;
    int first_code;   /* of the first in the order given that failed */
    sf_text failures; /* their names, up to MOST_NAMED */
    sf_text head;     /* of the first table */
    bool has_printed;
    app_job *kept; /* of several ranks: what became of those that are this one's */
} batch;

#define MOST_NAMED 5

/* The value of --stream if it is a pattern, which may match several streams; else NULL. */
static const char *stream_pattern(const app_call *call)
{
    const char *stream = app_value(call, "stream", NULL);
    return stream != NULL && strchr(stream, '*') != NULL ? stream : NULL;
}

/* True where the name of a file that is written has a place for the recording's. */
static bool names_outputs(const app_call *call)
{
    for (size_t i = 0; app_output_options[i] != NULL; i++)
        if (strstr(app_value(call, app_output_options[i], ""), "{}") != NULL) return true;
    return call->command->writes_last && call->argument_count > 0 &&
           strstr(call->arguments[call->argument_count - 1], "{}") != NULL;
}

bool app_is_batch(const app_call *call)
{
    const char *gathers = call->command->gathers;
    if (gathers != NULL && app_has(call, gathers)) return false;
    return call->command->takes_several &&
           (call->argument_count > (size_t)call->command->most_arguments || app_has(call, "list") ||
            app_has(call, "jobs") || stream_pattern(call) != NULL || names_outputs(call));
}

/* ---- which recordings ---- */

/* Arguments before and after them. */
static size_t count_leading(const app_call *call)
{
    return (size_t)call->command->leading_arguments;
}

static size_t count_last(const app_call *call)
{
    return (size_t)call->command->most_arguments - 1 - count_leading(call);
}

/* Only the first of several ranks reads the list, because only it has the terminal's input; it sends the list
 * to the others. */
static int share_list(batch *b, int status, sf_error *error)
{
    void *all;
    size_t size;
    status = sf_ranks_append(&all, &size, b->list.data, b->list.length, status, error);
    if (status != SF_OK) return status;
    sf_text_free(&b->list);
    if (size > 0) sf_text_append(&b->list, all, size);
    sf_free(all);
    return b->list.failed ? sf_fail_memory(error) : SF_OK;
}

static int read_list(batch *b, const char *path, sf_error *error)
{
    int status = SF_OK;
    if (sf_ranks_rank() == 0)
        status = sf_file_read(&b->list, strcmp(path, "-") == 0 ? "/dev/stdin" : path, error);
    if (sf_ranks_count() > 1) status = share_list(b, status, error);
    if (status == SF_OK && b->list.length > 0 && memchr(b->list.data, '\0', b->list.length) != NULL)
        status = sf_fail(error, SF_DATA, path, "holds bytes of value zero, expected a path a line");
    return status;
}

static size_t count_lines(const sf_text *text)
{
    size_t lines = 1;
    for (size_t i = 0; i < text->length; i++)
        lines += text->data[i] == '\n';
    return lines;
}

static void take_lines(batch *b)
{
    for (char *rest = b->list.data, *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;) {
        line[strcspn(line, "\r")] = '\0';
        if (line[0] != '\0') b->paths[b->path_count++] = line;
    }
}

/* The paths given, then those of the list. */
static int find_paths(batch *b, sf_error *error)
{
    const app_call *call = b->call;
    const char *path = app_value(call, "list", NULL);
    size_t leading = count_leading(call), around = leading + count_last(call);
    if (call->argument_count < around)
        return sf_fail(error, SF_USAGE, NULL, "an argument is missing: expected `synfire %s %s`",
                       call->command->name, call->command->arguments);
    int status = path != NULL ? read_list(b, path, error) : SF_OK;
    if (status != SF_OK) return status;
    b->paths = sf_alloc(call->argument_count + count_lines(&b->list), sizeof *b->paths);
    if (b->paths == NULL) return sf_fail_memory(error);
    for (; b->path_count + around < call->argument_count; b->path_count++)
        b->paths[b->path_count] = call->arguments[leading + b->path_count];
    take_lines(b);
    if (b->path_count == 0)
        return sf_fail(error, path != NULL ? SF_DATA : SF_USAGE, path, "no recording is named");
    return SF_OK;
}

static int add_item(batch *b, const char *path, const char *stream, sf_error *error)
{
    sf_text label = {0};
    if (sf_reserve(&b->items, &b->capacity, b->count + 1, sizeof *b->items) != 0)
        return sf_fail_memory(error);
    sf_text_printf(&label, stream != NULL ? "%s: %s" : "%s", path, stream);
    if (label.failed) return sf_fail_memory(error);
    bool named = stream == NULL && stream_pattern(b->call) == NULL;
    b->items[b->count++] =
        (batch_item){path, stream, named ? app_value(b->call, "stream", NULL) : stream, label.data};
    return SF_OK;
}

static void say_empty(const batch *b, const char *path, const char *streams, size_t count)
{
    if (count > 0) app_warn(b->call, "%s: passed over %zu without spikes: %s", path, count, streams);
}

/* Adds an item for each stream of a file that the pattern matches. A file that cannot be listed, or has no
 * streams side by side, is one item, and its process reports why. */
static int add_streams(batch *b, const char *path, sf_streams *streams, sf_error *error)
{
    const char *pattern = stream_pattern(b->call);
    size_t before = b->count, empty = 0;
    sf_text names = {0};
    int status = SF_OK;
    if (app_streams_of(streams, b->call, path, NULL) != SF_OK || streams->count == 0)
        return add_item(b, path, NULL, error);
    for (size_t i = 0; status == SF_OK && i < streams->count; i++) {
        if (fnmatch(pattern, streams->items[i].name, 0) != 0) continue;
        if (streams->items[i].spikes > 0)
            status = add_item(b, path, streams->items[i].name, error);
        else
            sf_text_printf(&names, "%s%s", empty++ > 0 ? ", " : "", streams->items[i].name);
    }
    if (status == SF_OK && !names.failed) say_empty(b, path, names.data, empty);
    sf_text_free(&names);
    if (status == SF_OK && b->count == before) status = app_refuse_streams(empty, path, pattern, error);
    return status;
}

static int find_recordings(batch *b, sf_error *error)
{
    int status = find_paths(b, error);
    bool streams = stream_pattern(b->call) != NULL;
    if (status == SF_OK && (b->streams = sf_alloc(b->path_count, sizeof *b->streams)) == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < b->path_count; i++)
        status = streams ? add_streams(b, b->paths[i], &b->streams[i], error)
                         : add_item(b, b->paths[i], NULL, error);
    return status;
}

static void batch_free(batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        sf_free(b->items[i].label);
    for (size_t i = 0; b->streams != NULL && i < b->path_count; i++)
        sf_streams_free(&b->streams[i]);
    sf_free(b->items);
    sf_free(b->streams);
    sf_free(b->paths);
    sf_text_free(&b->list);
    sf_text_free(&b->failures);
    sf_text_free(&b->head);
}

/* ---- what each of them writes ---- */

/* The value with the recording's name, without its folder and last ending, and its stream for each {}. */
static char *fill_in(const char *value, const batch_item *of)
{
    const char *slash = strrchr(of->path, '/'), *name = slash != NULL ? slash + 1 : of->path;
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    sf_text text = {0};
    sf_text_append(&text, "", 0);
    for (const char *place; (place = strstr(value, "{}")) != NULL; value = place + 2) {
        sf_text_append(&text, value, (size_t)(place - value));
        sf_text_append(&text, name, length);
        for (const char *at = of->chosen != NULL ? of->chosen : ""; *at != '\0'; at++)
            sf_text_printf(&text, at == of->chosen ? "-%c" : "%c", *at == '/' ? '-' : *at);
    }
    sf_text_append(&text, value, strlen(value));
    if (text.failed) sf_text_free(&text);
    return text.data;
}

static bool is_output(const char *option)
{
    for (size_t i = 0; app_output_options[i] != NULL; i++)
        if (strcmp(option, app_output_options[i]) == 0) return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* No two may write one file, nor one over what another reads. */
static int check_files(const batch *b, const char *place, char **files, const struct stat *read,
                       sf_error *error)
{
    struct stat there;
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = 0; stat(files[i], &there) == 0 && k < b->count; k++)
            if (S_ISREG(there.st_mode) && there.st_dev == read[k].st_dev && there.st_ino == read[k].st_ino)
                return sf_fail(error, SF_USAGE, place, "%s of %s would write over the input %s", files[i],
                               b->items[i].label, b->items[k].path);
    qsort(files, b->count, sizeof *files, by_text);
    for (size_t i = 1; i < b->count; i++)
        if (strcmp(files[i - 1], files[i]) == 0)
            return sf_fail(error, SF_USAGE, place, "two recordings would write %s: their names are the same",
                           files[i]);
    return SF_OK;
}

/* `place` is what names the file: an option, or an argument. */
static int check_output(const batch *b, const char *place, const char *value, sf_error *error)
{
    if (value == NULL) return SF_OK;
    if (strstr(value, "{}") == NULL)
        return sf_fail(
            error, SF_USAGE, place,
            "found '%s', expected {} in it, for which each recording's name is put: all would write "
            "one file",
            value);
    char **files = sf_alloc(b->count, sizeof *files);
    struct stat *read = sf_alloc(b->count, sizeof *read);
    int status = files == NULL || read == NULL ? sf_fail_memory(error) : SF_OK;
    for (size_t i = 0; status == SF_OK && i < b->count; i++) {
        files[i] = fill_in(value, &b->items[i]);
        if (stat(b->items[i].path, &read[i]) != 0) read[i] = (struct stat){0};
        status = files[i] != NULL ? SF_OK : sf_fail_memory(error);
    }
    if (status == SF_OK) status = check_files(b, place, files, read, error);
    for (size_t i = 0; files != NULL && i < b->count; i++)
        sf_free(files[i]);
    sf_free(files);
    sf_free(read);
    return status;
}

static int check(const batch *b, sf_error *error)
{
    if (b->call->json && app_has(b->call, "csv"))
        return sf_fail(error, SF_USAGE, "--csv", "does not go with --json: choose one");
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && app_output_options[i] != NULL; i++) {
        char place[48];
        snprintf(place, sizeof place, "--%s", app_output_options[i]);
        status = check_output(b, place, app_value(b->call, app_output_options[i], NULL), error);
    }
    if (status == SF_OK && b->call->command->writes_last)
        status = check_output(b, "OUT", b->call->arguments[b->call->argument_count - 1], error);
    return status;
}

/* ---- which are whose ---- */

/* Ranks take recordings in turn. */
static size_t recording_of(size_t item)
{
    return sf_ranks_rank() + item * sf_ranks_count();
}

static size_t count_own(const batch *b)
{
    size_t ranks = sf_ranks_count(), rank = sf_ranks_rank();
    return b->count > rank ? (b->count - rank - 1) / ranks + 1 : 0;
}

/* ---- how many at a time ---- */

static int share_cores(batch *b, size_t *at_once, sf_error *error)
{
    app_jobs_options asked = {0};
    uint64_t threads = 0;
    int status = app_options_read(b->call, &app_jobs_table, &asked, error);
    uint64_t jobs = asked.at_once;
    if (status == SF_OK) status = app_uint(b->call, "threads", 0, 4096, &threads, error);
    if (status != SF_OK) return status;
    unsigned cores = sf_thread_cores();
    if (jobs == 0 && strncmp(app_value(b->call, "device", ""), "cuda", 4) == 0) jobs = 1;
    if (jobs == 0) jobs = threads > 0 ? cores / threads : cores;
    jobs = jobs > count_own(b) ? count_own(b) : jobs;
    jobs = jobs < 1 ? 1 : jobs;
    b->cores = cores / (unsigned)jobs > 1 ? cores / (unsigned)jobs : 1;
    *at_once = jobs;
    return SF_OK;
}

/* ---- one of them ---- */

/* The call as it would be of this recording alone, with the words that make it again. */
typedef struct single {
    app_call call;
    size_t word_count;
    char *options; /* words of them, one after the other */
    char *path;
    char *written; /* the last argument, where that is a file that is written */
} single;

static void single_free(single *one)
{
    for (size_t i = 0; one->call.given != NULL && i < one->call.given_count; i++)
        if (is_output(one->call.given[i].name)) sf_free((char *)(uintptr_t)one->call.given[i].value);
    sf_free(one->path);
    sf_free(one->written);
    sf_free(one->call.given);
    sf_free(one->call.arguments);
    sf_free(one->call.words);
    sf_free(one->options);
}

static int take_options(single *one, const app_call *call, const batch_item *of)
{
    size_t room = 1;
    for (size_t i = 0; i < call->given_count; i++) {
        app_given given = call->given[i];
        if (strcmp(given.name, "list") == 0 || strcmp(given.name, "jobs") == 0) continue;
        if (stream_pattern(call) != NULL && strcmp(given.name, "stream") == 0) {
            if (of->stream == NULL) continue;
            given.value = of->stream;
        }
        if (is_output(given.name) && (given.value = fill_in(given.value, of)) == NULL) return SF_NO_MEMORY;
        one->call.given[one->call.given_count++] = given;
        room += strlen(given.name) + sizeof "--";
    }
    one->options = sf_alloc(room, 1);
    return one->options != NULL ? SF_OK : SF_NO_MEMORY;
}

static void make_words(single *one, char *name)
{
    const app_call *call = &one->call;
    char *at = one->options;
    call->words[one->word_count++] = name;
    for (size_t i = 0; i < call->argument_count; i++)
        call->words[one->word_count++] = call->arguments[i];
    for (size_t i = 0; i < call->given_count; i++) {
        call->words[one->word_count++] = at;
        at += sprintf(at, "--%s", call->given[i].name) + 1;
        if (call->given[i].value != NULL)
            call->words[one->word_count++] = (char *)(uintptr_t)call->given[i].value;
    }
}

static int single_out(single *one, const batch *b, size_t number)
{
    const app_call *call = b->call;
    const batch_item *of = &b->items[number];
    size_t leading = count_leading(call), last = count_last(call), count = leading + 1 + last;
    *one = (single){.call = *call, .path = sf_copy_string(of->path)};
    one->call.given_count = 0;
    one->call.argument_count = count;
    one->call.given = sf_alloc(call->given_count, sizeof *one->call.given);
    one->call.arguments = sf_alloc(count, sizeof *one->call.arguments);
    one->call.words = sf_alloc(2 * call->given_count + count + 2, sizeof *one->call.words);
    if (one->path == NULL || one->call.given == NULL || one->call.arguments == NULL ||
        one->call.words == NULL || take_options(one, call, of) != SF_OK)
        return SF_NO_MEMORY;
    for (size_t i = 0; i < leading; i++)
        one->call.arguments[i] = call->arguments[i];
    one->call.arguments[leading] = one->path;
    for (size_t i = 0; i < last; i++)
        one->call.arguments[leading + 1 + i] = call->arguments[call->argument_count - last + i];
    if (call->command->writes_last) {
        one->written = fill_in(one->call.arguments[count - 1], of);
        if (one->written == NULL) return SF_NO_MEMORY;
        one->call.arguments[count - 1] = one->written;
    }
    make_words(one, call->words[0]);
    return SF_OK;
}

/* In its process. */
static int work(void *context, size_t number)
{
    const batch *b = context;
    size_t recording = recording_of(number);
    single one;
    int code = sf_exit_code(SF_NO_MEMORY);
    sf_ranks_leave();
    if (single_out(&one, b, recording) == SF_OK) {
        sf_thread_allot(b->cores);
        app_print_anew();
        app_csv_lead("recording", b->items[recording].path);
        if (stream_pattern(b->call) != NULL) app_csv_lead("stream", b->items[recording].stream);
        code = b->perform(&one.call);
    }
    single_free(&one);
    return code;
}

/* ---- what is told while they are at work ---- */

/* A line of the command names the recording. */
static void say_line(sf_text *text, const batch *b, const batch_item *of, const char *line, size_t length)
{
    size_t path = strlen(of->path);
    char before[64];
    size_t own = (size_t)snprintf(before, sizeof before, "synfire: %s: ", b->call->command->name);
    if (length >= own && memcmp(line, before, own) == 0) {
        sf_text_append(text, before, own);
        line += own;
        length -= own;
        if (length >= path && memcmp(line, of->path, path) == 0) {
            sf_text_append(text, of->label, strlen(of->label));
            line += path;
            length -= path;
        } else {
            sf_text_printf(text, "%s: ", of->label);
        }
    }
    sf_text_append(text, line, length);
    sf_text_append(text, "\n", 1);
}

static void ended(void *context, const app_job *job)
{
    batch *b = context;
    const batch_item *of = &b->items[job->item];
    const char *name = b->call->command->name;
    sf_text text = {0};
    b->done++;
    for (size_t from = 0; job->said.data != NULL && from < job->said.length;) {
        size_t length = strcspn(job->said.data + from, "\n");
        say_line(&text, b, of, job->said.data + from, length);
        from += length + 1;
    }
    if (!b->call->quiet)
        sf_text_printf(&text, "synfire: %s: %s: %s after %.3g s, %zu of %zu\n", name, of->label,
                       job->exit_code == 0 ? "done" : "failed", job->seconds, b->done, b->count);
    if (text.length > 0) app_write(stderr, &text);
    sf_text_free(&text);
}

/* ---- results, in their order ---- */

/* One head for all tables. */
static int join_tables(batch *b, sf_text *table, const char *path, sf_error *error)
{
    size_t head = strcspn(table->data, "\n");
    if (table->data[0] == '#') /* it was stopped and says so: nothing follows */
        return SF_OK;
    if (b->head.length == 0) {
        sf_text_append(&b->head, table->data, head);
        return SF_OK;
    }
    if (b->head.length != head || memcmp(b->head.data, table->data, head) != 0)
        return sf_fail(error, SF_DATA, path, "its table has other columns than those before it");
    size_t rows = table->data[head] == '\n' ? head + 1 : head;
    table->length -= rows;
    memmove(table->data, table->data + rows, table->length + 1);
    return SF_OK;
}

static void head_text(batch *b, sf_text *text, const char *path)
{
    sf_text headed = {0};
    sf_text_printf(&headed, "%s==> %s <==\n", b->has_printed ? "\n" : "", path);
    sf_text_append(&headed, text->data, text->length);
    sf_text_free(text);
    *text = headed;
}

static int print(batch *b, const char *path, sf_text *out, sf_error *error)
{
    if (out->length > 0 && out->data[out->length - 1] == '\n')
        out->data[--out->length] = '\0'; /* app_print ends the last line */
    if (out->length == 0) return SF_OK;
    int status = SF_OK;
    if (app_has(b->call, "csv"))
        status = join_tables(b, out, path, error);
    else if (!b->call->json)
        head_text(b, out, path);
    if (status != SF_OK || out->length == 0) return status;
    b->has_printed = true;
    status = app_print(out, error);
    return status == SF_OK && ferror(stdout) ? SF_END : status; /* who reads has had enough */
}

static void count_failure(batch *b, const app_job *job)
{
    if (b->failed == 0) b->first_code = job->exit_code;
    if (b->failed < MOST_NAMED)
        sf_text_printf(&b->failures, "%s%s", b->failed > 0 ? ", " : "", b->items[job->item].label);
    b->failed++;
}

/* Reports a process that a signal ended: its output is incomplete. */
static int refuse(const batch *b, const app_job *job)
{
    single one;
    sf_error error = {0};
    int status = single_out(&one, b, job->item);
    sf_fail(&error, SF_INTERNAL, b->items[job->item].label, "ended by signal %d (%s)", job->signal,
            strsignal(job->signal));
    if (status == SF_OK) app_refuse_words((int)one.word_count, one.call.words, &error);
    single_free(&one);
    return status;
}

static int take(void *context, app_job *job, sf_error *error)
{
    batch *b = context;
    if (job->exit_code != 0) count_failure(b, job);
    if (job->signal != 0) return refuse(b, job);
    return print(b, b->items[job->item].label, &job->out, error);
}

/* The code of the first that failed, as a status. */
static int tell_failures(const batch *b, sf_error *error)
{
    if (b->failed == 0) return SF_OK;
    char more[48] = "";
    if (b->failed > MOST_NAMED) snprintf(more, sizeof more, " and %zu more", b->failed - MOST_NAMED);
    int code = b->first_code;
    return sf_fail(error, sf_exit_code(-code) == code ? (sf_status)-code : SF_INTERNAL, NULL,
                   "%zu of %zu recordings failed: %s%s", b->failed, b->count,
                   b->failures.failed ? "" : b->failures.data, more);
}

/* ---- over ranks ---- */

/* Header of the message that sends a recording's result to the other ranks; its two texts follow. */
typedef struct told {
    int64_t exit_code, signal;
    double seconds;
    uint64_t out, said;
} told;

static int keep(void *context, app_job *job, sf_error *error)
{
    (void)error;
    batch *b = context;
    b->kept[job->item] = *job;
    job->out = job->said = (sf_text){0};
    return SF_OK;
}

static int pack(sf_text *packed, const app_job *job)
{
    told head = {job->exit_code, job->signal, job->seconds, job->out.length, job->said.length};
    sf_text_append(packed, (const char *)&head, sizeof head);
    const sf_text *texts[] = {&job->out, &job->said};
    for (int i = 0; i < 2; i++)
        if (texts[i]->length > 0) sf_text_append(packed, texts[i]->data, texts[i]->length);
    return packed->failed ? SF_NO_MEMORY : SF_OK;
}

static void unpack(app_job *job, size_t recording, const char *packed)
{
    told head;
    memcpy(&head, packed, sizeof head);
    *job = (app_job){.item = recording,
                     .exit_code = (int)head.exit_code,
                     .signal = (int)head.signal,
                     .seconds = head.seconds};
    sf_text_append(&job->out, packed + sizeof head, (size_t)head.out);
    sf_text_append(&job->said, packed + sizeof head + head.out, (size_t)head.said);
}

/* The rank that processed the recording sends its result, and every rank handles it like its own; only the
 * first rank prints. */
static int tell_recording(batch *b, size_t recording, int *printed, sf_error *error)
{
    sf_text packed = {0};
    int status = *printed == SF_END ? SF_OK : *printed; /* who reads has had enough: no failure */
    if (recording % sf_ranks_count() == sf_ranks_rank() && status == SF_OK &&
        pack(&packed, &b->kept[recording / sf_ranks_count()]) != SF_OK)
        status = sf_fail_memory(error);
    void *all;
    size_t size;
    status = sf_ranks_append(&all, &size, packed.data, packed.length, status, error);
    sf_text_free(&packed);
    if (status != SF_OK) return status;
    app_job job;
    unpack(&job, recording, all);
    sf_free(all);
    ended(b, &job);
    if (job.out.failed || job.said.failed)
        *printed = sf_fail_memory(error);
    else if (*printed == SF_OK)
        *printed = take(b, &job, error);
    sf_text_free(&job.out);
    sf_text_free(&job.said);
    return SF_OK;
}

static int run_over_ranks(batch *b, app_jobs *jobs, sf_error *error)
{
    b->kept = sf_alloc(jobs->count, sizeof *b->kept);
    int status = b->kept != NULL ? SF_OK : sf_fail_memory(error), printed = SF_OK;
    jobs->ended = NULL;
    jobs->take = keep;
    if (status == SF_OK) status = app_jobs_run(jobs, error);
    status = sf_ranks_agree(status, error);
    for (size_t i = 0; status == SF_OK && i < b->count; i++)
        status = tell_recording(b, i, &printed, error);
    for (size_t i = 0; b->kept != NULL && i < jobs->count; i++) {
        sf_text_free(&b->kept[i].out);
        sf_text_free(&b->kept[i].said);
    }
    sf_free(b->kept);
    return status == SF_OK ? printed : status;
}

int app_batch(const app_call *call, int (*perform)(app_call *call), sf_error *error)
{
    batch b = {.call = call, .perform = perform};
    app_jobs jobs = {.work = work, .ended = ended, .take = take, .context = &b};
    app_catch_signals();
    int status = find_recordings(&b, error);
    if (status == SF_OK) status = check(&b, error);
    if (status == SF_OK) status = share_cores(&b, &jobs.at_once, error);
    status = sf_ranks_agree(status, error);
    jobs.count = count_own(&b);
    if (status == SF_OK)
        status = sf_ranks_count() > 1 ? run_over_ranks(&b, &jobs, error) : app_jobs_run(&jobs, error);
    if (status == SF_OK || status == SF_END) status = tell_failures(&b, error);
    batch_free(&b);
    return status;
}
