/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of a recording, as a file. */
#include "app/figure.h"
#include "app/load.h"
#include "app/responses.h"

#include "analysis/sequences.h"
#include "core/describe/table.h"

#include <string.h>

static const app_option options[] = {
    {"out", "FILE", "the file to write, or -o FILE: its ending, .svg, .pdf or .png, is the format"},
    {"width", "column|page",
     "as wide as a column of a journal, 85 mm, or as its page, 180 mm (default page)"},
    {"episodes", "FILE",
     "chain: the one to draw, in a file or as it is; correlograms: the pairs (default: what stands out "
     "most); raster: the chains to mark; responses: chains to show beside units"},
    {.name = "align"},
    {.name = "max-size"},
    {"measure", "COLUMN",
     "network: colour units by this measure, of those that `synfire describe network_units` lists (default "
     "strength)"},
    APP_RESPONSE_OPTIONS,
    {"metric", "regression|excess|tspe|transfer-entropy|directed-sttc",
     "drive: by which of these, as `synfire graph` has them (default regression)"},
    {.name = "network-method"},
    {.name = "network-spikes"},
    {.name = "network-within"},
    {.name = "network-share"},
    {.name = "active"},
    {.name = "avalanche-bin"},
    {.name = "branching-bin"},
    {.name = "lags"},
    {.name = "rounds"},
    {.name = "order-by"},
    {.name = "backbone"},
    {.name = "least-spikes"},
    {.name = "window"},
    {.name = "least-similarity"},
    {.name = "alpha"},
    {"surrogates", NULL,
     "how many surrogates chains and edges are tested against (default 200); sequences: drawings of each "
     "null (default 999)"},
    {.name = "seed"},
    {NULL, NULL, NULL},
};

static int find_kind(const app_figure_kind **kind, const char *name, sf_error *error)
{
    sf_nearest nearest = {.word = name};
    char known[512] = "";
    for (size_t k = 0; app_figures[k] != NULL; k++) {
        size_t length = strlen(known);
        *kind = app_figures[k];
        if (strcmp(name, (*kind)->name) == 0) return SF_OK;
        sf_nearest_offer(&nearest, (*kind)->name);
        snprintf(known + length, sizeof known - length, "%s%s", k > 0 ? ", " : "", (*kind)->name);
    }
    if (nearest.best != NULL)
        return sf_fail(error, SF_USAGE, "KIND", "found '%s': did you mean %s? The kinds are %s", name,
                       nearest.best, known);
    return sf_fail(error, SF_USAGE, "KIND", "found '%s', expected one of %s", name, known);
}

static void add_kinds(sf_text *text)
{
    for (size_t k = 0; app_figures[k] != NULL; k++)
        sf_text_printf(text, " %s", app_figures[k]->name);
}

static int read_width(double *width_mm, const app_call *call, sf_error *error)
{
    int word = 1;
    int status = app_word(call, "width", &word, error);
    *width_mm = word == 0 ? SF_COLUMN_MM : SF_PAGE_MM;
    return status;
}

/* Refuses options that this figure does not use, because they would be ignored. */
static int refuse_others(const app_figure_kind *kind, const app_call *call, sf_error *error)
{
    static const struct {
        unsigned by;
        const char *names[8];
    } ways[] = {{APP_BY_DELAY, {"delay", NULL}},
                {APP_BY_DISTANCE, {"min-distance", NULL}},
                {APP_BY_MINING, {"min-count", "min-rate", "min-fraction", "repeats", "threads", NULL}},
                {APP_BY_SIZE, {"max-size", NULL}},
                {APP_BY_TEST, {"surrogates", "seed", NULL}},
                {APP_BY_EPISODES, {"episodes", NULL}},
                {APP_BY_ALIGN, {"align", NULL}},
                {APP_BY_MEASURE, {"measure", NULL}},
                {APP_BY_RESPONSES, {"marker", "response", "baseline", "around", "bin", "permutations", NULL}},
                {APP_BY_METRIC, {"metric", NULL}},
                {APP_BY_BURSTS,
                 {"network-method", "network-spikes", "network-within", "network-share", "active", NULL}},
                {APP_BY_AVALANCHES, {"avalanche-bin", "branching-bin", "lags", "rounds", NULL}},
                {APP_BY_SEQUENCES,
                 {"order-by", "backbone", "least-spikes", "window", "least-similarity", "alpha", NULL}}};
    bool given = app_has(call, "episodes");
    int status = SF_OK;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && status == SF_OK; i++) {
        char reason[160];
        unsigned by = kind->by & ~(given ? kind->not_with_episodes : 0);
        if (by & ways[i].by) continue;
        if (kind->by & ways[i].by)
            snprintf(reason, sizeof reason, "is for what is looked for, and --episodes gives it");
        else
            snprintf(reason, sizeof reason, "says nothing to the figure %s", kind->name);
        status = app_refuse(call, ways[i].names, reason, error);
    }
    return status;
}

/* The document: its panels are written as they are drawn. */
typedef struct drawn {
    sf_table panels;
    const char *kind, *file, *caption;
    double width_mm, height_mm;
} drawn;

#define ROW drawn
static const sf_column_row document_rows[] = {
    SF_TABLE_IS("panels", panels, &sf_panels_table, "all that the figure shows, in numbers"),
    SF_MEMBER_IS(TEXT, kind, "the figure's kind"),
    SF_MEMBER_IS(TEXT, file, "the file that was written"),
    SF_MEMBER_IS(REAL, width_mm, "how wide it is", .unit = "mm"),
    SF_MEMBER_IS(REAL, height_mm, "how high", .unit = "mm"),
    SF_MEMBER_IS(TEXT, caption, "what it shows, as under the figure"),
};
#undef ROW

static const sf_table document = {
    .name = "plot", .about = "a figure that was drawn", SF_TABLE_OF(document_rows)};
static const sf_table behind_panels = {.columns = document_rows + 1,
                                       .column_count = sizeof document_rows / sizeof *document_rows - 1};

static int draw(const app_figure_kind *kind, app_subject *subject, const char *path, sf_error *error)
{
    sf_text caption = {0}, text = {0};
    sf_figure figure = {0};
    sf_json json = sf_json_start(&text);
    bool asked = subject->call->json;
    if (asked) sf_json_object(&json, NULL);
    int status = app_figure_draw(&figure, &caption, asked ? &json : NULL, kind, subject, true, error);
    if (status == SF_OK) status = sf_scene_write(&figure.scene, path, error);
    if (asked) {
        const drawn of = {.kind = kind->name,
                          .file = path,
                          .caption = caption.data,
                          .width_mm = figure.scene.width_mm,
                          .height_mm = figure.scene.height_mm};
        sf_table_json_fields(&json, &behind_panels, &of);
        app_provenance_json(&json, subject->call);
        sf_json_end_object(&json);
    } else if (status == SF_OK) {
        sf_text_printf(&text, "%s", caption.data);
    }
    if (status == SF_OK)
        status = app_print(&text, error);
    else
        sf_text_free(&text);
    sf_scene_free(&figure.scene);
    sf_text_free(&caption);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    const char *path = app_value(call, "out", NULL);
    const app_figure_kind *kind = NULL;
    app_subject subject;
    sf_recording *recording;
    double width_mm = SF_PAGE_MM;
    int status = find_kind(&kind, call->arguments[0], error);
    if (status == SF_OK) status = refuse_others(kind, call, error);
    if (status == SF_OK && path == NULL)
        status = sf_fail(error, SF_USAGE, "--out", "is needed: the file to draw into, such as -o %s.svg",
                         kind->name);
    if (status == SF_OK) status = sf_scene_check_path(path, error);
    if (status == SF_OK) status = read_width(&width_mm, call, error);
    app_catch_signals();
    if (status == SF_OK) status = app_load(call, call->arguments[1], &recording, error);
    if (status != SF_OK) return status;
    status = app_subject_open(&subject, call, recording, error);
    subject.width_mm = width_mm;
    if (status == SF_OK) status = draw(kind, &subject, path, error);
    if (status == SF_DATA && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", call->arguments[1]);
    app_subject_close(&subject);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_plot = {
    .name = "plot",
    .group = "look",
    .summary = "one figure of a recording, for print: SVG, PDF or PNG",
    .arguments = "KIND REC... -o FILE",
    .least_arguments = 2,
    .most_arguments = 2,
    .takes_several = true,
    .words = add_kinds,
    .words_at = 1,
    .leading_arguments = 1,
    .example = "synfire plot raster demo.h5 -o raster.svg",
    .notes = "KIND is one of\n"
             "  raster        the spikes of every unit over time\n"
             "  array         the rate at each electrode\n"
             "  map           the density of the places where spikes were seen\n"
             "  rates         the rate over time, bursts marked\n"
             "  intervals     inter-spike intervals, counted and as densities\n"
             "  chains        chains that stand out against surrogates, and when they occur\n"
             "  chain         every occurrence of one chain, and its delays\n"
             "  correlograms  cross-correlograms of pairs, beside what is expected by rates and surrogates\n"
             "  markers       rates and chains around markers\n"
             "  responses     spikes by trial around a stimulus, and their rates\n"
             "  graph         edges that stand out against surrogates, on the array\n"
             "  network       units on the array by module, hub and a measure of the network\n"
             "  edges         counts of all frequent pairs beside what is expected by rates\n"
             "  matrix        the same for every pair of units\n"
             "  tiling        spike-time tiling coefficients, ordered by clusters\n"
             "  motifs        patterns of three units, beside rewired graphs\n"
             "  avalanches    their sizes, durations and shapes, and the autocorrelation\n"
             "  sequences     first spikes of units in network bursts, and the similarity of bursts\n"
             "  drive         which units excite and which inhibit others\n"
             "The caption that stands under the figure is printed, too. Where a recording has nothing to "
             "show, the "
             "command says so and writes nothing. --json tells every number that is drawn; docs/figures.md "
             "says which "
             "command tells the same.",
    .options = {options, app_mining_options, app_selection_options},
    .rows = {&sf_mining_table, &sf_significance_table, &sf_activity_table, &app_alignment_table,
             &sf_criticality_options_table, &sf_response_table, &sf_sequence_table},
    .documents = {&document},
    .run = run,
};
