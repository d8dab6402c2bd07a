/* SPDX-License-Identifier: Apache-2.0 */
#include "app/significance.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const app_option app_significance_options[] = {
    {"significance", "segment-shift|jitter|shift|analytic|dither|joint-isi",
     "test every episode: against surrogates by segment-shift (advised), jitter, shift, dither (uniform, "
     "with dead time) or joint-isi; or analytic, which only ranks"},
    {.name = "fdr"},
    {.name = "max-q"},
    {.name = "max-p"},
    {.name = "width"},
    {.name = "segment"},
    {0},
};

const app_option app_surrogate_options[] = {{.name = "surrogates"}, {.name = "seed"}, {0}};

/* ---- options ---- */

void app_limits_warn(const app_call *call)
{
    if (app_has(call, "max-p") && !app_has(call, "max-q"))
        app_warn(
            call,
            "--max-p goes by p, which is corrected neither for how much is looked at nor for the threshold "
            "that selects what is tested: of what is not linked a share of %s or more passes. --max-q "
            "corrects for both",
            app_value(call, "max-p", NULL));
}

static void warn_of_kind(const app_call *call, const sf_significance_options *options)
{
    if (options->kind == SF_SIGNIFICANCE_JITTER)
        app_warn(
            call,
            "jitter takes bursts that units share for links: 10 to 46 %% of unrelated pairs had p < 0.05 "
            "in simulations, where segment-shift has 5 %%");
    if (options->kind == SF_SIGNIFICANCE_SHIFT)
        app_warn(call, "shifting whole trains has little power: one offset is all that varies of a train");
    if (options->kind != SF_SIGNIFICANCE_ANALYTIC && options->surrogates < 99)
        app_warn(call, "with %" PRIu32 " surrogates no p or q is below %.2g: 1000 is the norm",
                 options->surrogates, 1.0 / (options->surrogates + 1.0));
}

static const app_test no_test;

#define ROW app_test
static const sf_key test_rows[] = {
    SWITCH("fdr", by_rate,
           .what =
               "q is the false-discovery rate, by tails fitted to the surrogates, and not the family-wise "
               "error by the maximum over all candidates"),
    {0},
};
#undef ROW

const sf_key_table app_test_table = SF_KEY_TABLE(test_rows, no_test);

int app_test_parse(app_test *test, const app_call *call, sf_error *error)
{
    static const char *const of_test[] = {"surrogates", "seed",  "fdr",   "width",
                                          "segment",    "max-q", "max-p", NULL};
    static const char *const of_surrogates[] = {"fdr", "surrogates", "width", "segment", NULL};
    int kind = 0;
    sf_significance_options *options = &test->options;
    *test = (app_test){.asked = app_has(call, "significance") || app_has(call, "registered"),
                       .options = sf_significance_options_default()};
    if (!test->asked)
        return app_refuse(call, of_test, "goes with --significance KIND, such as segment-shift", error);
    int status = app_has(call, "significance") ? app_word(call, "significance", &kind, error) : SF_OK;
    options->kind = (sf_significance_kind)(SF_SIGNIFICANCE_SEGMENT_SHIFT + kind);
    bool analytic = status == SF_OK && options->kind == SF_SIGNIFICANCE_ANALYTIC;
    if (analytic)
        status =
            app_refuse(call, of_surrogates, "goes with surrogates, and the analytic test makes none", error);
    if (status == SF_OK)
        status = app_options_read(call, &sf_significance_table, options, error);
    if (status == SF_OK)
        app_milliseconds_warn(call, "width", options->width_ns);
    if (status == SF_OK && app_has(call, "segment") && options->kind != SF_SIGNIFICANCE_SEGMENT_SHIFT)
        status = sf_fail(error, SF_USAGE, "--segment", "goes with --significance segment-shift");
    if (!analytic)
        app_tell_seed(call, options->seed);
    if (status == SF_OK)
        status = app_options_read(call, &app_test_table, test, error);
    options->correction = test->by_rate ? SF_CORRECTION_RATE : options->correction;
    if (status == SF_OK) {
        app_limits_warn(call);
        warn_of_kind(call, options);
    }
    return status;
}

/* ---- what was not tested ---- */

#define WHAT_TO_TYPE "--significance segment-shift --max-q 0.05"

#define SEVERAL 5

static void print_constant_rates(sf_text *text, size_t bursts, bool intervals)
{
    if (bursts >= SEVERAL) /* one or two come by chance */
        sf_text_printf(
            text,
            "the %zu bursts that units share here make nearly any count exceed what constant rates "
            "give%s",
            bursts, intervals ? ", and 95 % too narrow where they hold most spikes" : "");
    else
        sf_text_printf(text, "`expected` is by rates, and ranks");
}

void app_untested_print(sf_text *text, size_t bursts, bool intervals)
{
    sf_text_printf(text, "NOT TESTED: ");
    print_constant_rates(text, bursts, intervals);
    sf_text_printf(text, ". Add " WHAT_TO_TYPE "\n");
}

void app_tested_print(sf_text *text, const sf_significance *test, size_t bursts)
{
    if (bursts < SEVERAL || test->options.kind == SF_SIGNIFICANCE_ANALYTIC || test->not_tested != SF_TESTABLE)
        return;
    sf_text_printf(text, "`expected` is by rates: ");
    print_constant_rates(text, bursts, true);
    sf_text_printf(text, ". `given rest` keeps them\n");
}

void app_edges_print(sf_text *text, const sf_graph_columns *graph, bool listed)
{
    const sf_significance *test = graph->significance;
    bool verdict = test == NULL || test->not_tested == SF_TESTABLE;
    if (graph->tested == SF_EDGES_UNTESTED && graph->is_signed)
        sf_text_printf(
            text,
            "NOT TESTED: confidence holds edges against most pairs. --surrogates 200 --max-q 0.05 tests "
            "them\n");
    else if (graph->tested == SF_EDGES_UNTESTED && graph->is_tiling)
        sf_text_printf(text, "NOT TESTED: all pairs are edges. --surrogates 200 --max-q 0.05 tests them\n");
    else if (graph->tested == SF_EDGES_UNTESTED && graph->link_count > 0)
        app_untested_print(text, graph->burst_count, listed);
    else if (graph->tested == SF_EDGES_UNTESTED && graph->edge_count > 0) /* of a file */
        sf_text_printf(text, "NOT TESTED: make this graph by `synfire graph` with " WHAT_TO_TYPE "\n");
    else if (!verdict)
        sf_text_printf(text, "NO VERDICT: %s\n", sf_not_tested_text(test->not_tested));
    if (listed && test != NULL)
        app_tested_print(text, test, graph->burst_count);
    if (verdict && graph->tested == SF_EDGES_TESTED)
        sf_text_printf(text,
                       "tested, with edges that chance explains among them: --max-q 0.05 leaves them out\n");
    if (!listed && test != NULL && verdict && graph->link_count < graph->links_found)
        sf_text_printf(text, "%zu of %zu edges: the others have a larger p or q, or none\n",
                       graph->link_count, graph->links_found);
}

const char *app_edges_remark(const sf_graph_columns *graph)
{
    return graph->tested == SF_EDGES_UNTESTED ? " (of edges that are NOT TESTED)"
           : graph->tested == SF_EDGES_TESTED ? " (of edges with chance among them: --max-q 0.05)"
                                              : "";
}

void app_edges_json(sf_json *json, const sf_graph_columns *graph)
{
    static const char *const words[] = {NULL, "untested", "tested", "significant"}; /* as sf_edges_tested */
    sf_json_string(json, "edges_tested", words[graph->tested]);
}

/* ---- warnings ---- */

#define SMOOTH_DIVISOR 54.0 /* where correlation falls off quadratically */
#define UNSMOOTH_DIVISOR 36.0

static void warn_of_groups(const app_call *call, const sf_sharpness *sharpness)
{
    app_warn(
        call,
        "%zu units in %zu %s stand out of surrogates in all pairs and both ways: they share events that the "
        "others do not, a stimulus or bursts of their own. Episodes with two of a group have no verdict "
        "(shared events)",
        sharpness->grouped, sharpness->groups, sharpness->groups == 1 ? "group" : "groups");
}

/* What was seen in the data that makes p less sure. */
static void warn_of_cautions(const app_call *call, const sf_significance *told)
{
    if (told->cautions & SF_CAUTION_FEW_PAIRS)
        app_warn(
            call,
            "too few pairs of units to tell how sharp the bursts are that they share: they were taken for "
            "smooth. Look at the correlogram");
    if (told->cautions & SF_CAUTION_STANDING_OUT)
        app_warn(
            call,
            "unlinked pairs stand out of surrogates more than chance: %.2g %% of them will have p < 0.05, as "
            "measured of most pairs. Rhythms, regular units and leads that pairs have by themselves do so: "
            "ask for a q of 0.02",
            100 * told->sharpness.low_share);
    if (told->cautions & SF_CAUTION_REGULAR)
        app_warn(call, "most units fire at regular intervals: 7 %% of unlinked pairs have p < 0.05, and one "
                       "recording in 8 has a false q below it. Ask for a q of 0.02");
    if (told->cautions & SF_CAUTION_SHARED)
        warn_of_groups(call, &told->sharpness);
}

void app_significance_warn(const app_call *call, const sf_episodes_columns *columns)
{
    const sf_significance *told = columns->significance;
    if (told == NULL)
        return;
    app_device_warn(call, "surrogates counted", told->ran.device, told->ran.note);
    warn_of_cautions(call, told);
    if (told->options.kind == SF_SIGNIFICANCE_SEGMENT_SHIFT && told->not_tested == SF_TESTABLE &&
        told->sharpness.divisor < UNSMOOTH_DIVISOR)
        app_warn(call,
                 "what units share is not smooth as far as trains are shifted: of what counts lose by three "
                 "shifts one part in %.3g is taken off, as measured of most pairs, where one in %g is usual. "
                 "Pairs that differ from most in it stand out: look at correlograms",
                 told->sharpness.divisor, SMOOTH_DIVISOR);
    if (told->by_chance > 0)
        app_warn(call,
                 "%zu of %zu episodes have a unit that fires within its delay by chance with a probability "
                 "above %g, what the analytic test allows a link by chance: their p means nothing",
                 told->by_chance, columns->found, told->options.link);
}

/* The sentence of a reason of the whole recording. */
void app_not_tested_print(sf_text *text, const sf_significance *told)
{
    double width_ms = (double)told->options.width_ns * 1e-6;
    if (told->not_tested == SF_DELAYS_TOO_LONG)
        sf_text_printf(
            text,
            "delays too long. Surrogates shift trains by up to %g ms for these delays, and %g ms is "
            "the most; longer segments allow more, where nothing is shared (--segment)",
            width_ms, (double)told->longest_delay_ns * 1.5e-6);
    else if (told->not_tested == SF_PAIRS_TOO_UNLIKE)
        sf_text_printf(
            text,
            "pairs too unlike. Pairs stand out of surrogates shifted by up to %g ms each in its own way, "
            "linked or not (sharpness %.2f): rhythms or leads that units have by themselves",
            width_ms, told->sharpness.sharpness);
    else
        sf_text_printf(
            text,
            "bursts too sharp. What units share changes so fast that pairs stand out of surrogates "
            "shifted by up to %g ms, linked or not (sharpness %.2f)",
            width_ms, told->sharpness.sharpness);
    sf_text_printf(text, "; counts rank, and count --correlogram shows each pair");
    if (told->not_tested == SF_DELAYS_TOO_LONG)
        sf_text_printf(text, "; for waves see graph --metric sttc");
}

void app_not_tested_warn(const app_call *call, const sf_significance *told)
{
    sf_text text = {0};
    if (told == NULL || told->not_tested == SF_TESTABLE)
        return;
    app_not_tested_print(&text, told);
    if (!text.failed)
        app_warn(call, "no episode could be tested: %s", text.data);
    sf_text_free(&text);
}

/* ---- output ---- */

/* The analytic test draws none. */
static void add_surrogates(sf_json *json, const sf_significance_options *done)
{
    if (done->kind == SF_SIGNIFICANCE_ANALYTIC) {
        static const char *const keys[] = {"surrogates", "seed", "width_ms", "segment_s", "correction"};
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            sf_json_null(json, keys[i]);
        return;
    }
    bool segments = done->kind == SF_SIGNIFICANCE_SEGMENT_SHIFT;
    sf_json_uint(json, "surrogates", done->surrogates);
    sf_json_uint(json, "seed", done->seed);
    sf_json_real(json, "width_ms", (double)done->width_ns * 1e-6);
    sf_json_real(json, "segment_s", segments ? (double)done->segment_ns * 1e-9 : NAN);
    sf_json_string(json, "correction",
                   done->correction == SF_CORRECTION_RATE ? "false-discovery rate" : "maximum");
}

static void needed_json(sf_json *json, uint64_t needed)
{
    if (needed == SF_NO_COUNT)
        sf_json_null(json, "needed");
    else
        sf_json_uint(json, "needed", needed);
}

static void add_power(sf_json *json, const sf_significance *told)
{
    sf_json_array(json, "power");
    for (int k = 0; k < SF_POWER_QUARTERS && told->power[k].needed > 0; k++) {
        sf_json_object(json, NULL);
        sf_json_real(json, "expected_given_rest", told->power[k].expected_given_rest);
        needed_json(json, told->power[k].needed);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
    sf_json_uint(json, "power_pairs", told->power_pairs);
}

static void add_cautions(sf_json *json, unsigned cautions)
{
    sf_json_array(json, "cautions");
    for (unsigned bit = 1; bit < SF_CAUTION_AFTER_LAST; bit <<= 1)
        if (cautions & bit)
            sf_json_string(json, NULL, sf_caution_text((sf_caution)bit));
    sf_json_end_array(json);
}

void app_significance_json(sf_json *json, const sf_significance *told)
{
    if (told == NULL) {
        sf_json_null(json, "significance");
        return;
    }
    const sf_significance_options *done = &told->options;
    bool analytic = done->kind == SF_SIGNIFICANCE_ANALYTIC;
    sf_json_object(json, "significance");
    sf_json_string(json, "kind", sf_significance_name(done->kind));
    sf_json_real(json, "link", analytic ? done->link : NAN);
    add_surrogates(json, done);
    sf_json_bool(json, "splits", done->splits);
    sf_json_string(json, "not_tested", analytic ? NULL : sf_not_tested_text(told->not_tested));
    bool measured = !analytic && !isnan(told->sharpness.low_share);
    sf_json_real(json, "sharpness", measured ? told->sharpness.sharpness : NAN);
    sf_json_real(json, "low_share", measured ? told->sharpness.low_share : NAN);
    sf_json_real(json, "blur_divisor", analytic ? NAN : told->sharpness.divisor);
    sf_json_uint(json, "grouped_units", told->sharpness.grouped);
    add_cautions(json, told->cautions);
    add_power(json, told);
    sf_json_string(json, "device", told->ran.device[0] != '\0' ? told->ran.device : NULL);
    app_device_json(json, told->ran.note);
    sf_json_end_object(json);
}

void app_verdict_heads(app_table *table)
{
    app_table_cell(table, "given rest");
    app_table_cell(table, "p");
    app_table_cell(table, "q");
    app_table_cell(table, "needed");
}

void app_verdict_cells(app_table *table, const sf_episodes_columns *told, size_t i)
{
    const char *reason = sf_not_tested_text(told->not_tested[i]);
    double given_rest = told->expected_given_rest[i];
    app_table_real(table, 4, given_rest);
    app_table_cell(table, isfinite(told->p[i]) ? "%.2g" : "-", told->p[i]);
    if (reason != NULL)
        app_table_cell(table, "%s", reason);
    else
        app_table_cell(table, isfinite(told->q[i]) ? "%.2g" : "-", told->q[i]);
    if (told->needed[i] != SF_NO_COUNT)
        app_table_cell(table, "%" PRIu64, told->needed[i]);
    else
        app_table_cell(table, "-");
}

void app_power_print(sf_text *text, const sf_significance *told)
{
    if (told == NULL || told->power[0].needed == 0)
        return;
    static const char *const quarters[SF_POWER_QUARTERS] = {"the lower quartile", "the median",
                                                            "the upper quartile"};
    sf_text_printf(text, "power: the least count for a q below %g is", SF_SIGNIFICANT_Q);
    for (int k = 0; k < SF_POWER_QUARTERS; k++) {
        const sf_power *at = &told->power[k];
        sf_text_printf(text, "%s ", k > 0 ? "," : "");
        if (at->needed == SF_NO_COUNT)
            sf_text_printf(text, "out of reach of these surrogates");
        else
            sf_text_printf(text, "%" PRIu64, at->needed);
        sf_text_printf(text, " at %s of surrogate counts (%.3g)", quarters[k], at->expected_given_rest);
    }
    if (told->power_pairs < told->candidates[2])
        sf_text_printf(text, "; of %" PRIu64 " pairs, the %" PRIu64 " with a surrogate count of 1 or more\n",
                       told->candidates[2], told->power_pairs);
    else
        sf_text_printf(text, "; all %" PRIu64 " pairs\n", told->candidates[2]);
}

void app_methods_json(sf_json *json, const sf_episodes *episodes, const app_call *call)
{
    sf_text methods = {0};
    app_methods(&methods, episodes, call, NULL);
    sf_json_string(json, "methods", methods.failed ? NULL : methods.data);
    sf_text_free(&methods);
}

int app_methods(sf_text *text, const sf_episodes *episodes, const app_call *call, sf_error *error)
{
    char *words;
    int status = sf_episodes_methods(episodes, app_value(call, "preset", NULL), &words, error);
    if (status != SF_OK)
        return status;
    sf_text_printf(text, "%s", words);
    sf_release(words);
    return SF_OK;
}
