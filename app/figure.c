/* SPDX-License-Identifier: Apache-2.0 */
#include "app/figure.h"

#include "core/seconds.h"

#include <stdio.h>
#include <string.h>

const app_figure_kind *const app_figures[] = {
    &app_figure_raster,     &app_figure_rates,     &app_figure_array, &app_figure_map,
    &app_figure_intervals,  &app_figure_chains,    &app_figure_chain, &app_figure_correlograms,
    &app_figure_markers,    &app_figure_responses, &app_figure_graph, &app_figure_network,
    &app_figure_matrix,     &app_figure_tiling,    &app_figure_edges, &app_figure_motifs,
    &app_figure_avalanches, &app_figure_sequences, &app_figure_drive, NULL,
};

/* ---- the subject ---- */

int app_subject_open(app_subject *subject, const app_call *call, const sf_recording *recording,
                     sf_error *error)
{
    *subject = (app_subject){.call = call,
                             .recording = recording,
                             .of = {.size = sizeof subject->of},
                             .test = sf_significance_options_default(),
                             .width_mm = SF_PAGE_MM};
    sf_recording_get_columns(recording, &subject->of);
    const char *slash = strrchr(subject->of.path, '/'), *stream = subject->of.selected->stream;
    snprintf(subject->name, sizeof subject->name, "%s%s%s", slash != NULL ? slash + 1 : subject->of.path,
             stream != NULL ? ": " : "", stream != NULL ? stream : "");
    subject->test.surrogates = APP_FIGURE_SURROGATES;
    int status = app_mining_parse(&subject->mining, call, error);
    subject->max_size = subject->mining.options.max_size;
    if (status == SF_OK) status = app_options_read(call, &sf_significance_table, &subject->test, error);
    subject->activity = SF_ACTIVITY_OPTIONS;
    if (status == SF_OK) status = app_options_read(call, &sf_activity_table, &subject->activity, error);
    subject->criticality = SF_CRITICALITY_OPTIONS;
    if (status == SF_OK)
        status = app_options_read(call, &sf_criticality_options_table, &subject->criticality, error);
    if (status == SF_OK && subject->test.surrogates < APP_FIGURE_LEAST_SURROGATES)
        status =
            sf_fail(error, SF_USAGE, "--surrogates", "found '%u', expected a whole number from %d to 1000000",
                    subject->test.surrogates, APP_FIGURE_LEAST_SURROGATES);
    app_tell_seed(call, subject->test.seed);
    return status;
}

void app_subject_close(app_subject *subject)
{
    sf_graph_free(subject->edges);
    sf_graph_free(subject->graph);
    sf_episodes_free(subject->chains);
    sf_episodes_free(subject->pairs);
    sf_overview_free(subject->overview);
}

/* ---- what is computed once ---- */

static int mine(sf_episodes **mined, app_subject *subject, uint32_t size, sf_episodes_columns *told,
                sf_error *error)
{
    int status = SF_OK;
    subject->mining.options.max_size = size;
    subject->mining.options.significance = &subject->test;
    subject->mining.options.order = SF_ORDER_STANDING;
    if (*mined == NULL)
        status = app_mining_run(mined, &subject->mining, subject->call, subject->recording, error);
    if (status != SF_OK) return status;
    told->size = sizeof *told;
    sf_episodes_get_columns(*mined, told);
    return SF_OK;
}

/* Chains that were mined and are all pairs: the same ones are found with the same p and q where no more than
 * pairs are looked for. A false-discovery rate is another one, since candidates of all sizes share it. */
static bool chains_are_pairs(const app_subject *subject)
{
    sf_episodes_columns told = {.size = sizeof told};
    if (subject->chains == NULL || subject->max_size < 2 || subject->test.correction != SF_CORRECTION_MAXIMUM)
        return false;
    sf_episodes_get_columns(subject->chains, &told);
    for (size_t i = 2; i < told.level_count; i++)
        if (told.levels[i].frequent > 0 || !told.levels[i].complete) return false;
    return told.stopped == SF_NOT_STOPPED;
}

sf_episodes *app_subject_mined_pairs(const app_subject *subject)
{
    return chains_are_pairs(subject) ? subject->chains : subject->pairs;
}

int app_subject_pairs(app_subject *subject, sf_episodes_columns *told, sf_error *error)
{
    return mine(chains_are_pairs(subject) ? &subject->chains : &subject->pairs, subject, 2, told, error);
}

int app_subject_chains(app_subject *subject, sf_episodes_columns *told, sf_error *error)
{
    return mine(&subject->chains, subject, subject->max_size, told, error);
}

static int connect(sf_graph **graph, app_subject *subject, double max_q, sf_error *error)
{
    sf_episodes_columns told;
    sf_graph_options as = sf_graph_options_default();
    as.max_q = max_q;
    int status = *graph == NULL ? app_subject_pairs(subject, &told, error) : SF_OK;
    return status == SF_OK && *graph == NULL
               ? sf_graph_of_episodes(graph, app_subject_mined_pairs(subject), &as, error)
               : status;
}

int app_subject_graph(app_subject *subject, sf_graph **graph, sf_error *error)
{
    int status = connect(&subject->graph, subject, 0, error);
    *graph = subject->graph;
    return status;
}

int app_subject_edges(app_subject *subject, sf_graph **graph, sf_error *error)
{
    int status = connect(&subject->edges, subject, SF_SIGNIFICANT_Q, error);
    *graph = subject->edges;
    return status;
}

int app_subject_overview(app_subject *subject, sf_overview_columns *told, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    int status = SF_OK;
    if (subject->overview == NULL)
        status = sf_recording_overview(&subject->overview, subject->recording, &progress, error);
    if (status == SF_OK) {
        told->size = sizeof *told;
        sf_overview_get_columns(subject->overview, told);
    }
    return status;
}

/* ---- drawing ---- */

int app_figure_draw(sf_figure *figure, sf_text *caption, sf_json *numbers, const app_figure_kind *kind,
                    app_subject *subject, bool captioned, sf_error *error)
{
    *figure = sf_figure_begin(kind->name, subject->width_mm, subject->width_mm > 120 ? 2 : 1);
    figure->numbers = numbers;
    if (numbers != NULL) sf_json_array(numbers, "panels");
    int status = kind->draw(figure, subject, caption, error);
    if (numbers != NULL) sf_json_end_array(numbers);
    if (status != SF_OK) return status;
    sf_figure_end(figure, captioned ? caption->data : NULL);
    return figure->scene.failed || caption->failed ? sf_fail_memory(error) : SF_OK;
}

void app_time_axis_of(app_time_axis *axis, const app_subject *subject)
{
    const sf_span *recorded = &subject->of.recorded;
    sf_span span = *recorded;
    const sf_selected *selected = subject->of.selected;
    if (selected != NULL && selected->from_given) span.start_ns = selected->from_ns;
    if (selected != NULL && selected->to_given) span.stop_ns = selected->to_ns;
    double seconds = (double)(span.stop_ns - span.start_ns) * 1e-9;
    bool hours = seconds >= 7200, minutes = !hours && seconds >= 300;
    bool late = span.start_ns >= APP_LATE_NS || span.start_ns <= -APP_LATE_NS;
    const char *unit = hours ? "h" : minutes ? "min" : "s";
    *axis = (app_time_axis){.unit_s = hours ? 3600 : minutes ? 60 : 1, .origin_ns = late ? span.start_ns : 0};
    axis->from = app_time_at(axis, span.start_ns);
    double to = app_time_at(axis, span.stop_ns), near = 0.01 * (to - axis->from);
    if (late)
        snprintf(axis->label, sizeof axis->label, "time after %s s, %s", sf_seconds_of(span.start_ns).text,
                 unit);
    else
        snprintf(axis->label, sizeof axis->label, "time, %s", unit);
    axis->axis = (sf_axis){
        .label = axis->label, .from = axis->from >= 0 && axis->from <= near ? 0 : axis->from, .to = to};
}

double app_time_at(const app_time_axis *axis, int64_t time_ns)
{
    return (double)(time_ns - axis->origin_ns) / 1e9 / axis->unit_s;
}
