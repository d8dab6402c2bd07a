/* SPDX-License-Identifier: Apache-2.0 */
/* A page of a recording: what it is, what misleads in it, its figures, how they were made. */
#include "app/figure.h"
#include "app/info.h"
#include "app/load.h"

#include "core/error.h"
#include "core/json.h"
#include "io/file.h"

#include <stdio.h>
#include <string.h>

static const app_option options[] = {
    {"out", "FILE", "the page to write, or -o FILE: it ends in .html"},
    {"align", "MARKER,A,B",
     "rates and chains from A to B ms around each of these markers, too, as light,-50ms,200ms"},
    {.name = "max-size"},
    {"surrogates", NULL, "how many surrogates chains and edges are tested against (default 200)"},
    {.name = "seed"},
    {NULL, NULL, NULL},
};

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%"

/* ---- HTML ---- */

static void print_words(sf_text *page, const char *words)
{
    sf_text visible = {0};
    sf_text_append(&visible, words, strlen(words));
    sf_text_make_visible(&visible, true);
    for (const char *c = visible.data; !visible.failed && *c != '\0'; c++) {
        if (*c == '<')
            sf_text_printf(page, "&lt;");
        else if (*c == '&')
            sf_text_printf(page, "&amp;");
        else
            sf_text_append(page, c, 1);
    }
    page->failed = page->failed || visible.failed;
    sf_text_free(&visible);
}

static const char style[] =
    "<style>body{font:15px/1.5 Helvetica,Arial,sans-serif;max-width:190mm;margin:2em auto;padding:0 "
    "1em;color:#111}"
    "h1{font-size:1.5em;overflow-wrap:anywhere}h2{font-size:1.15em;margin:1.8em 0 .4em;break-after:avoid}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;padding:.7em;"
    "font:11.5px/1.45 Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    "figure{margin:1em 0;break-inside:avoid}figure svg{max-width:100%;height:auto}figcaption{font-size:.9em}"
    ".none{color:#555}@page{size:A4;margin:15mm}@media print{body{margin:0;max-width:none}}</style>\n";

static void print_heading(sf_text *page, const char *words)
{
    sf_text_printf(page, "<h2>");
    print_words(page, words);
    sf_text_printf(page, "</h2>\n");
}

static void print_block(sf_text *page, const char *words)
{
    sf_text_printf(page, "<pre>");
    print_words(page, words);
    sf_text_printf(page, "</pre>\n");
}

/* ---- the parts of a page ---- */

/* True where what is refused is an option that was given: there is nothing to read in a page of its default.
 */
static bool is_of_option(const app_call *call, const sf_error *error)
{
    return strncmp(error->place, "--", 2) == 0 && app_has(call, error->place + 2);
}

/* A figure with its caption, or the sentence that says what the recording lacks for it. `why` is that of the
 * figure before, which it names as its place: the same sentence is not printed twice. */
static int print_figure(sf_text *page, sf_json *numbers, const app_figure_kind *kind, app_subject *subject,
                        sf_error *why, sf_error *error)
{
    sf_figure figure = {0};
    sf_text caption = {0};
    if (numbers != NULL) {
        sf_json_object(numbers, NULL);
        sf_json_string(numbers, "kind", kind->name);
    }
    int status = app_figure_draw(&figure, &caption, numbers, kind, subject, false, error);
    if (numbers != NULL) {
        sf_json_string(numbers, "caption", status == SF_OK ? caption.data : NULL);
        sf_json_string(numbers, "why_not", status == SF_OK ? NULL : error->text);
        sf_json_end_object(numbers);
    }
    if (status == SF_OK) {
        sf_text_printf(page, "<figure id=\"%s\">\n", kind->name);
        sf_scene_svg(page, &figure.scene, true);
        sf_text_printf(page, "<figcaption>");
        print_words(page, caption.data);
        sf_text_printf(page, "</figcaption></figure>\n");
        *why = (sf_error){0};
    } else if (status == SF_DATA || (status == SF_USAGE && !is_of_option(subject->call, error))) {
        sf_text_printf(page, "<p class=\"none\" id=\"%s\">%s: ", kind->name, kind->name);
        if (strcmp(why->text, error->text) == 0)
            sf_text_printf(page, "for the same reason as %s", why->place);
        else
            print_words(page, error->text);
        *why = *error;
        snprintf(why->place, sizeof why->place, "%s", kind->name);
        sf_text_printf(page, ".</p>\n");
        if (kind == &app_figure_markers)
            app_warn(subject->call, "--align: %s", error->text);
        status = SF_OK;
    }
    sf_scene_free(&figure.scene);
    sf_text_free(&caption);
    return status;
}

static int print_figures(sf_text *page, sf_json *numbers, app_subject *subject, sf_error *error)
{
    int status = SF_OK;
    sf_error why = {0};
    print_heading(page, "Figures");
    if (numbers != NULL)
        sf_json_array(numbers, "figures");
    for (size_t k = 0; app_figures[k] != NULL && status == SF_OK; k++) {
        bool asked = app_figures[k] != &app_figure_markers || app_has(subject->call, "align");
        if (app_stop_requested())
            return sf_fail(error, SF_CANCELLED, NULL, "stopped: no page was written");
        if (asked)
            status = print_figure(page, numbers, app_figures[k], subject, &why, error);
    }
    if (numbers != NULL)
        sf_json_end_array(numbers);
    return status;
}

static int print_about(sf_text *page, app_subject *subject, sf_error *error)
{
    sf_overview_columns told;
    sf_text about = {0};
    int status = app_subject_overview(subject, &told, error);
    if (status == SF_OK)
        status = app_info_print(&about, subject->call, subject->recording, &told, error);
    if (status == SF_OK) {
        print_heading(page, "The recording, and what misleads in it");
        sf_text_printf(page,
                       "<p>As <code>synfire info</code> tells it; lines with ! are what to mind.</p>\n");
        print_block(page, about.data != NULL ? about.data : "");
    }
    sf_text_free(&about);
    return status;
}

/* The words that make this page again, as a shell takes them. */
static void print_command(sf_text *page, const app_call *call)
{
    sf_text command = {0}, made_by = app_provenance_text(call);
    sf_text_printf(&command, "synfire");
    for (size_t k = 0; call->words[k] != NULL; k++) {
        const char *word = call->words[k];
        bool plain = *word != '\0' && strspn(word, PLAIN) == strlen(word);
        sf_text_printf(&command, " %s", plain ? word : "'");
        for (; !plain && *word != '\0'; word++)
            sf_text_append(&command, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
        if (!plain)
            sf_text_append(&command, "'", 1);
    }
    print_heading(page, "What made this page");
    print_block(page, command.data != NULL ? command.data : "");
    sf_text_printf(page, "<p>And, for programs:</p>\n");
    print_block(page, made_by.data != NULL ? made_by.data : "");
    page->failed = page->failed || command.failed || made_by.failed;
    sf_text_free(&command);
    sf_text_free(&made_by);
}

/* What was tested, as a paper prints it, and the words that make this page again. */
static int print_methods(sf_text *page, app_subject *subject, sf_error *error)
{
    sf_episodes *const tested[] = {subject->chains, subject->pairs};
    static const char *const of[] = {"Chains. ", "Edges. "};
    print_heading(page, "Methods");
    for (size_t k = 0; k < 2; k++) {
        sf_text words = {0};
        if (tested[k] == NULL)
            continue;
        int status = app_methods(&words, tested[k], subject->call, error);
        sf_text_printf(page, "<p>%s", of[k]);
        print_words(page, words.data != NULL ? words.data : "");
        sf_text_printf(page, "</p>\n");
        sf_text_free(&words);
        if (status != SF_OK)
            return status;
    }
    print_command(page, subject->call);
    return SF_OK;
}

/* ---- pages ---- */

static int print_page(sf_text *page, sf_json *numbers, app_subject *subject, sf_error *error)
{
    sf_text_printf(page, "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>");
    print_words(page, subject->name);
    sf_text_printf(page, "</title>\n%s</head>\n<body>\n<h1>", style);
    print_words(page, subject->name);
    sf_text_printf(page, "</h1>\n");
    int status = print_about(page, subject, error);
    if (status == SF_OK)
        status = print_figures(page, numbers, subject, error);
    if (status == SF_OK)
        status = print_methods(page, subject, error);
    sf_text_printf(page, "</body>\n</html>\n");
    return status;
}

static bool is_page(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".html") == 0;
}

static int write_page(app_subject *subject, const char *path, sf_json *numbers, sf_error *error)
{
    sf_text page = {0};
    int status = print_page(&page, numbers, subject, error);
    if (status == SF_OK)
        status = sf_file_write(&page, path, error);
    sf_text_free(&page);
    return status;
}

/* Tells what was written, and with --json all that is drawn on it. */
static int report(app_subject *subject, const char *path, sf_error *error)
{
    const app_call *call = subject->call;
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    if (call->json) {
        sf_json_object(&json, NULL);
        sf_json_string(&json, "recording", call->arguments[0]);
        sf_json_string(&json, "file", path);
    }
    int status = write_page(subject, path, call->json ? &json : NULL, error);
    if (call->json) {
        app_provenance_json(&json, call);
        sf_json_end_object(&json);
    } else {
        sf_text_printf(&text, "wrote %s", path);
    }
    if (status == SF_OK)
        return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    const char *out = app_value(call, "out", NULL);
    sf_recording *recording;
    app_subject subject;
    if (out == NULL || !is_page(out))
        return sf_fail(error, SF_USAGE, out != NULL ? out : "--out",
                       "expected a page to write that ends in .html");
    app_catch_signals();
    int status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    status = app_subject_open(&subject, call, recording, error);
    subject.marks_chains = true;
    if (status == SF_OK)
        status = report(&subject, out, error);
    app_subject_close(&subject);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_report = {
    .name = "report",
    .group = "look",
    .summary = "a page of a recording with all its figures, to read or to print",
    .arguments = "REC... -o FILE.html",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire report demo.h5 -o demo.html",
    .notes = "A page with nothing outside it: what info tells, every figure of "
             "`synfire plot` with its "
             "caption or why there is none, the methods sentence and what made it. Any browser prints it.",
    .options = {options, app_mining_options, app_selection_options},
    .rows = {&sf_mining_table, &sf_significance_table},
    .run = run,
};
