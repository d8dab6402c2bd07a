/* SPDX-License-Identifier: Apache-2.0 */
/* A page of a recording: what it is, what misleads in it, its figures, how they were made. */
#include "app/counting.h"
#include "app/details.h"
#include "app/figure.h"
#include "app/info.h"
#include "app/load.h"
#include "app/responses.h"
#include "app/sensitivity.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/json.h"
#include "io/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const app_option options[] = {
    {"out", "FILE", "the page to write, or -o FILE: it ends in .html"},
    {.name = "align"},
    APP_RESPONSE_OPTIONS,
    {.name = "max-size"},
    APP_REGISTERED_OPTION,
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
    ".half{display:inline-block;vertical-align:top;width:85mm;max-width:100%;margin:1em 4mm 0 0}"
    ".brief{border-collapse:collapse;margin:1em 0}.brief "
    "th{text-align:left;vertical-align:top;white-space:nowrap;padding:.25em 1.2em .25em 0}"
    ".brief td{padding:.25em 0;overflow-wrap:anywhere}summary{cursor:pointer}"
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

/* True if the refused value was given as an option: then a page with its default would be useless. */
static bool is_of_option(const app_call *call, const sf_error *error)
{
    return strncmp(error->place, "--", 2) == 0 && app_has(call, error->place + 2);
}

/* A figure in the document, whose panels are written as they are drawn. */
typedef struct told_figure {
    const char *kind, *caption, *why_not;
    sf_table panels;
} told_figure;

#define ROW told_figure
static const sf_column_row figure_rows[] = {
    SF_MEMBER_IS(TEXT, kind, "the figure's kind"),
    SF_TABLE_IS("panels", panels, &sf_panels_table, "all that the figure shows, in numbers"),
    SF_MEMBER_IS(TEXT, caption, "what it shows", .null = "it is not drawn"),
    SF_MEMBER_IS(TEXT, why_not, "what the recording lacks for it", .null = "it is drawn"),
};
#undef ROW

static const sf_table figures_table = {.name = "figures", SF_TABLE_OF(figure_rows)};

/* Writes `count` of the columns from `first` on. */
static void tell_columns(sf_json *json, const sf_column_row *first, size_t count, const void *of)
{
    if (json != NULL) sf_table_json_fields(json, &(sf_table){.columns = first, .column_count = count}, of);
}

/* A figure with its caption, or the sentence that says what the recording lacks for it. `why` is that of the
 * figures before, the first of which it names as its place: the same sentence is not printed twice. */
static int print_figure(sf_text *page, sf_json *numbers, const app_figure_kind *kind, app_subject *subject,
                        sf_error *why, sf_error *error)
{
    sf_figure figure = {0};
    sf_text caption = {0};
    told_figure told = {.kind = kind->name};
    if (numbers != NULL) sf_json_object(numbers, NULL);
    tell_columns(numbers, &figure_rows[0], 1, &told);
    subject->width_mm = kind->half ? SF_COLUMN_MM : SF_PAGE_MM;
    int status = app_figure_draw(&figure, &caption, numbers, kind, subject, false, error);
    told.caption = status == SF_OK ? caption.data : NULL;
    told.why_not = status == SF_OK ? NULL : error->text;
    tell_columns(numbers, &figure_rows[2], 2, &told);
    if (numbers != NULL) sf_json_end_object(numbers);
    if (status == SF_OK) {
        sf_text_printf(page, "<figure id=\"%s\"%s>\n", kind->name, kind->half ? " class=\"half\"" : "");
        sf_scene_svg(page, &figure.scene, true);
        sf_text_printf(page, "<figcaption>");
        print_words(page, caption.data);
        sf_text_printf(page, "</figcaption></figure>\n");
        *why = (sf_error){0};
    } else if (status == SF_DATA || (status == SF_USAGE && !is_of_option(subject->call, error))) {
        sf_text_printf(page, "<p class=\"none\" id=\"%s\">%s: ", kind->name, kind->name);
        if (strcmp(why->text, error->text) == 0) {
            sf_text_printf(page, "for the same reason as %s", why->place);
        } else {
            print_words(page, error->text);
            *why = *error;
            snprintf(why->place, sizeof why->place, "%s", kind->name);
        }
        sf_text_printf(page, ".</p>\n");
        const char *option = kind->by & APP_BY_ALIGN ? "align" : "marker";
        if ((kind->by & (APP_BY_ALIGN | APP_BY_RESPONSES)) && app_has(subject->call, option))
            app_warn(subject->call, "--%s: %s", option, error->text);
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
    if (numbers != NULL) sf_json_array(numbers, "figures");
    for (size_t k = 0; app_figures[k] != NULL && status == SF_OK; k++) {
        unsigned by = app_figures[k]->by;
        bool asked = ((by & APP_BY_ALIGN) == 0 || app_has(subject->call, "align")) &&
                     ((by & APP_BY_RESPONSES) == 0 || app_has(subject->call, "marker") ||
                      subject->recording->marker_count > 0);
        if (app_stop_requested()) return sf_fail(error, SF_CANCELLED, NULL, "stopped: no page was written");
        if (asked) status = print_figure(page, numbers, app_figures[k], subject, &why, error);
    }
    if (numbers != NULL) sf_json_end_array(numbers);
    return status;
}

/* Gets the text of info, from which the first lines and the last section are taken. */
static int take_about(sf_text *about, app_subject *subject, sf_error *error)
{
    sf_overview_columns told;
    int status = app_subject_overview(subject, &told, error);
    return status == SF_OK ? app_info_print(about, subject->call, subject->recording, &told, error) : status;
}

static void print_about(sf_text *page, const sf_text *about)
{
    print_heading(page, "The recording, and what misleads in it");
    sf_text_printf(page, "<p>As <code>synfire info</code> tells it; lines with ! are what to mind.</p>\n");
    print_block(page, about->data != NULL ? about->data : "");
}

/* The words that make this page again, as a shell takes them. */
static void spell_command(sf_text *command, const app_call *call)
{
    sf_text_printf(command, "synfire");
    for (size_t k = 0; call->words[k] != NULL; k++) {
        const char *word = call->words[k];
        bool plain = *word != '\0' && strspn(word, PLAIN) == strlen(word);
        sf_text_printf(command, " %s", plain ? word : "'");
        for (; !plain && *word != '\0'; word++)
            sf_text_append(command, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
        if (!plain) sf_text_append(command, "'", 1);
    }
}

static void print_provenance(sf_text *page, const app_call *call)
{
    sf_text made_by = app_provenance_text(call);
    print_heading(page, "What made this page");
    sf_text_printf(page, "<details><summary>For programs: versions, options and digests</summary>\n");
    print_block(page, made_by.data != NULL ? made_by.data : "");
    sf_text_printf(page, "</details>\n");
    page->failed = page->failed || made_by.failed;
    sf_text_free(&made_by);
}

/* ---- the first five lines ---- */

static void print_line(sf_text *page, const char *head, sf_text *words)
{
    sf_text_printf(page, "<tr><th>%s</th><td>", head);
    print_words(page, words->data != NULL ? words->data : "");
    sf_text_printf(page, "</td></tr>\n");
    page->failed = page->failed || words->failed;
    sf_text_free(words);
}

static void say_recorded(sf_text *words, const app_subject *subject, const sf_overview_columns *told)
{
    double seconds = (double)subject->of.duration_ns * 1e-9;
    sf_text_printf(words, "%zu spikes of %zu unit%s", subject->of.spike_count, subject->of.unit_count,
                   subject->of.unit_count == 1 ? "" : "s");
    if (told->electrodes > 0)
        sf_text_printf(words, " at %zu place%s", told->electrodes, told->electrodes == 1 ? "" : "s");
    sf_text_printf(words, seconds < 300 ? ", %.4g s recorded" : ", %.4g min recorded",
                   seconds < 300 ? seconds : seconds / 60);
    sf_text_printf(words, "; %zu network burst%s", told->burst_count, told->burst_count == 1 ? "" : "s");
}

/* The lines with ! of what info tells. */
static void say_doubtful(sf_text *words, const sf_text *about)
{
    const char *line = about->data != NULL ? about->data : "";
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "  ! ", 4) == 0)
            sf_text_printf(words, "%s%.*s", words->length > 0 ? "; " : "", (int)length - 4, line + 4);
        line += length + (line[length] == '\n');
    }
    if (words->length == 0) sf_text_printf(words, "nothing that info looks for");
}

static const char *find_untestable(const sf_episodes_columns *told)
{
    return told->significance != NULL ? sf_not_tested_text(told->significance->not_tested) : NULL;
}

/* Of the significant chains that are no parts, the one with the lowest q; among equal q the longest. */
static size_t find_best(const sf_episodes_columns *told)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < told->count; i++) {
        if (!app_chain_stands(told, i)) continue;
        if (best == SIZE_MAX || told->q[i] < told->q[best] ||
            (told->q[i] == told->q[best] && told->episodes[i].size > told->episodes[best].size))
            best = i;
    }
    return best;
}

static void say_found(sf_text *words, const app_subject *subject, const sf_episodes_columns *chains,
                      const sf_episodes_columns *pairs)
{
    size_t best = find_best(chains), edges = pairs->chains + pairs->parts;
    char name[APP_CHAIN_NAME];
    if (find_untestable(chains) != NULL) {
        sf_text_printf(
            words, "%zu chains are frequent, %zu of them pairs, and whether more than by chance nobody knows",
            chains->found, pairs->found);
        return;
    }
    if (best == SIZE_MAX) {
        sf_text_printf(words, "no chain with a q of %g or less, of %zu that are frequent", SF_SIGNIFICANT_Q,
                       chains->found);
    } else {
        app_chains_print(words, chains);
        app_chain_name(name, subject, &chains->episodes[best]);
        sf_text_printf(words,
                       " with a q of %g or less, of %zu that are frequent; the clearest: %s (counted %" PRIu64
                       " times, expected by rates %.3g, q %.2g)",
                       SF_SIGNIFICANT_Q, chains->found, name, chains->counts[best], chains->expected[best],
                       chains->q[best]);
    }
    sf_text_printf(words, "; %zu of %zu frequent pairs %s", edges, pairs->found,
                   edges == 1 ? "is an edge" : "are edges");
}

#define REASONS (SF_LINK_NOT_TESTABLE + 1)

/* Why what is frequent has no verdict: of all of it, or of how many. */
static void say_untested(sf_text *words, const sf_episodes_columns *chains)
{
    const char *why = find_untestable(chains);
    if (chains->found == 0) {
        sf_text_printf(words, "nothing is frequent, so nothing was tested");
    } else if (why != NULL) {
        sf_text_printf(words, "all of it: ");
        app_not_tested_print(words, chains->significance);
    } else {
        size_t counts[REASONS] = {0}, untested = 0;
        for (size_t i = 0; i < chains->count; i++) {
            counts[chains->not_tested[i]]++;
            untested += chains->not_tested[i] != SF_TESTABLE;
        }
        if (untested > 0)
            sf_text_printf(words, "%zu of %zu that are frequent: ", untested, chains->found);
        else
            sf_text_printf(words, "nothing: all %zu that are frequent were tested", chains->found);
        const char *before = "";
        for (int k = 0; k < REASONS; k++)
            if (k != SF_TESTABLE && counts[k] > 0) {
                sf_text_printf(words, "%s%s (%zu)", before, sf_not_tested_text((sf_not_tested)k), counts[k]);
                before = ", ";
            }
    }
}

/* If something could not be searched for, the page says so in place of the findings. */
static int print_findings(sf_text *page, app_subject *subject, sf_error *error)
{
    sf_episodes_columns chains, pairs;
    sf_text found = {0}, untested = {0};
    int status = app_subject_chains(subject, &chains, error);
    if (status == SF_OK) status = app_subject_pairs(subject, &pairs, error);
    if (status == SF_DATA || (status == SF_USAGE && !is_of_option(subject->call, error))) {
        sf_text_printf(&found, "nothing was looked for: %s", error->text);
        sf_text_printf(&untested, "everything");
        status = SF_OK;
    } else if (status == SF_OK) {
        say_found(&found, subject, &chains, &pairs);
        say_untested(&untested, &chains);
    }
    print_line(page, "Found", &found);
    print_line(page, "Not testable", &untested);
    return status;
}

static int print_brief(sf_text *page, const sf_text *about, app_subject *subject, sf_error *error)
{
    sf_overview_columns told;
    sf_text recorded = {0}, doubtful = {0}, command = {0};
    int status = app_subject_overview(subject, &told, error);
    if (status != SF_OK) return status;
    say_recorded(&recorded, subject, &told);
    say_doubtful(&doubtful, about);
    spell_command(&command, subject->call);
    sf_text_printf(page, "<table class=\"brief\">\n");
    print_line(page, "Recorded", &recorded);
    print_line(page, "Doubtful", &doubtful);
    status = print_findings(page, subject, error);
    print_line(page, "Made by", &command);
    sf_text_printf(page, "</table>\n");
    return status;
}

/* Prints the methods paragraph and the command that reproduces this page. */
static int print_methods(sf_text *page, app_subject *subject, sf_error *error)
{
    sf_episodes *const pairs = app_subject_mined_pairs(subject), *const tested[] = {subject->chains, pairs};
    const char *const of[] = {"Chains. ", "Edges. "};
    print_heading(page, "Methods");
    for (size_t k = 0; k < 2; k++) {
        sf_text words = {0};
        if (tested[k] == NULL || (k > 0 && tested[k] == tested[0])) continue;
        int status = app_methods(&words, tested[k], subject->call, error);
        sf_text_printf(page, "<p>%s",
                       pairs != NULL && pairs == subject->chains ? "Chains and edges. " : of[k]);
        print_words(page, words.data != NULL ? words.data : "");
        sf_text_printf(page, "</p>\n");
        sf_text_free(&words);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

/* The table of `count --registered` and its sentence. */
static void print_registered(sf_text *page, const app_counting *registered)
{
    sf_text words = {0};
    if (registered->counted == NULL) return;
    print_heading(page, "Registered chains");
    app_registered_print(&words, registered);
    print_block(page, words.data != NULL ? words.data : "");
    page->failed = page->failed || words.failed;
    sf_text_free(&words);
}

/* How far the significant chains depend on widths that somebody chose. What could not be looked for is said
 * above. */
static int print_sensitivity(sf_text *page, sf_json *numbers, app_subject *subject, sf_error *error)
{
    app_sensitivity found;
    sf_text words = {0};
    int status = app_sensitivity_find(&found, subject, error);
    if (status == SF_DATA || (status == SF_USAGE && !is_of_option(subject->call, error))) status = SF_OK;
    if (status == SF_OK && numbers != NULL) app_sensitivity_json(numbers, &found);
    if (status == SF_OK && found.count > 0) {
        app_sensitivity_print(&words, &found);
        print_heading(page, "Sensitivity");
        sf_text_printf(page, "<p>");
        print_words(page, words.data != NULL ? words.data : "");
        sf_text_printf(page, "</p>\n");
        page->failed = page->failed || words.failed;
    }
    sf_text_free(&words);
    return status;
}

/* ---- pages ---- */

static int print_page(sf_text *page, sf_json *numbers, app_subject *subject, const app_counting *registered,
                      sf_error *error)
{
    sf_text_printf(page, "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>");
    print_words(page, subject->name);
    sf_text_printf(page, "</title>\n%s</head>\n<body>\n<h1>", style);
    print_words(page, subject->name);
    sf_text_printf(page, "</h1>\n");
    sf_text about = {0};
    int status = take_about(&about, subject, error);
    if (status == SF_OK) status = print_brief(page, &about, subject, error);
    print_registered(page, registered);
    if (status == SF_OK) status = print_figures(page, numbers, subject, error);
    print_about(page, &about);
    sf_text_free(&about);
    if (status == SF_OK) status = print_sensitivity(page, numbers, subject, error);
    if (status == SF_OK) status = print_methods(page, subject, error);
    print_provenance(page, subject->call);
    sf_text_printf(page, "</body>\n</html>\n");
    return status;
}

static bool is_page(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".html") == 0;
}

static int write_page(app_subject *subject, const app_counting *registered, const char *path,
                      sf_json *numbers, sf_error *error)
{
    sf_text page = {0};
    int status = print_page(&page, numbers, subject, registered, error);
    if (status == SF_OK) status = sf_file_write(&page, path, error);
    sf_text_free(&page);
    return status;
}

/* The document: its figures and their sensitivity are written with the page. */
typedef struct told_page {
    const char *recording, *file;
    sf_table figures, sensitivity;
    app_counting registered;
} told_page;

#define ROW told_page
static const sf_column_row page_rows[] = {
    SF_MEMBER_IS(TEXT, recording, "the recording's file"),
    SF_MEMBER_IS(TEXT, file, "the page that was written"),
    SF_TABLE_IS("figures", figures, &figures_table, "all of the page, in its order"),
    SF_TABLE_IS("sensitivity", sensitivity, &app_sensitivity_table,
                "the significant chains tested again with other widths and delays; empty where no chain is "
                "significant"),
    APP_ROW_REGISTERED(registered),
};
#undef ROW

static const sf_table document = {.name = "report", .about = "a page of a recording", SF_TABLE_OF(page_rows)};

/* Tells what was written, and with --json all that is drawn on it. */
static int report(app_subject *subject, const app_counting *registered, const char *path, sf_error *error)
{
    const app_call *call = subject->call;
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    const told_page told = {.recording = call->arguments[0], .file = path, .registered = *registered};
    if (call->json) {
        sf_json_object(&json, NULL);
        tell_columns(&json, &page_rows[0], 2, &told);
    }
    int status = write_page(subject, registered, path, call->json ? &json : NULL, error);
    if (call->json) {
        tell_columns(&json, &page_rows[4], 1, &told);
        app_provenance_json(&json, call);
        sf_json_end_object(&json);
    } else {
        sf_text_printf(&text, "wrote %s", path);
    }
    if (status == SF_OK) return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    const char *out = app_value(call, "out", NULL);
    sf_recording *recording;
    app_subject subject;
    app_counting registered = {0};
    if (out == NULL || !is_page(out))
        return sf_fail(error, SF_USAGE, out != NULL ? out : "--out",
                       "expected a page to write that ends in .html");
    app_catch_signals();
    int status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    status = app_subject_open(&subject, call, recording, error);
    subject.in_report = true;
    const app_test test = {.asked = true, .options = subject.test};
    if (status == SF_OK) status = app_registered_count(&registered, call, recording, &test, error);
    if (status == SF_OK) status = report(&subject, &registered, out, error);
    app_registered_free(&registered);
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
    .notes = "A page with nothing outside it: five lines (what was recorded, what is doubtful, what was "
             "found, what could "
             "not be tested, the command), every figure of `synfire plot` with its caption or why there is "
             "none, what info "
             "tells, the methods sentence and what made it. Any browser prints it.",
    .options = {options, app_mining_options, app_selection_options},
    .rows = {&sf_mining_table, &sf_significance_table, &app_alignment_table, &sf_response_table},
    .tables = {&app_sensitivity_table},
    .documents = {&document},
    .run = run,
};
