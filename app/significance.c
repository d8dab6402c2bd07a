/* SPDX-License-Identifier: Apache-2.0 */
#include "app/significance.h"
#include "app/document.h"
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
        app_doubt(
            call,
            "--max-p goes by p, which is corrected neither for how much is looked at nor for the threshold "
            "that selects what is tested: of what is not linked a share of %s or more passes. --max-q "
            "corrects for both",
            app_value(call, "max-p", NULL));
}

static void warn_of_kind(const app_call *call, const sf_significance_options *options)
{
    if (options->kind == SF_SIGNIFICANCE_JITTER)
        app_doubt(
            call,
            "jitter takes bursts that units share for links: 10 to 46 %% of unrelated pairs had p < 0.05 "
            "in simulations, where segment-shift has 5 %%");
    if (options->kind == SF_SIGNIFICANCE_SHIFT)
        app_doubt(call, "shifting whole trains has little power: one offset is all that varies of a train");
    if (options->kind != SF_SIGNIFICANCE_ANALYTIC && options->surrogates < 99)
        app_doubt(call, "with %" PRIu32 " surrogates no p or q is below %.2g: 1000 is the norm",
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
    if (status == SF_OK) status = app_options_read(call, &sf_significance_table, options, error);
    if (status == SF_OK) app_milliseconds_warn(call, "width", options->width_ns);
    if (status == SF_OK && app_has(call, "segment") && options->kind != SF_SIGNIFICANCE_SEGMENT_SHIFT)
        status = sf_fail(error, SF_USAGE, "--segment", "goes with --significance segment-shift");
    if (!analytic) app_tell_seed(call, options->seed);
    if (status == SF_OK) status = app_options_read(call, &app_test_table, test, error);
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
    if (listed && test != NULL) app_tested_print(text, test, graph->burst_count);
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

const char *const app_tested_words[] = {"untested", "tested", "significant", NULL};

const char *app_tested_word(const void *tested)
{
    const sf_edges_tested is = *(const sf_edges_tested *)tested;
    return is == SF_EDGES_NOT_COUNTED ? NULL : app_tested_words[is - 1];
}

/* ---- warnings ---- */

#define SMOOTH_DIVISOR 54.0 /* where correlation falls off quadratically */
#define UNSMOOTH_DIVISOR 36.0

static void warn_of_groups(const app_call *call, const sf_sharpness *sharpness)
{
    app_doubt(
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
        app_doubt(
            call,
            "too few pairs of units to tell how sharp the bursts are that they share: they were taken for "
            "smooth. Look at the correlogram");
    if (told->cautions & SF_CAUTION_STANDING_OUT)
        app_doubt(
            call,
            "unlinked pairs stand out of surrogates more than chance: %.2g %% of them will have p < 0.05, as "
            "measured of most pairs. Rhythms, regular units and leads that pairs have by themselves do so: "
            "ask for a q of 0.02",
            100 * told->sharpness.low_share);
    if (told->cautions & SF_CAUTION_REGULAR)
        app_doubt(call, "most units fire at regular intervals: 7 %% of unlinked pairs have p < 0.05, and one "
                        "recording in 8 has a false q below it. Ask for a q of 0.02");
    if (told->cautions & SF_CAUTION_SHARED) warn_of_groups(call, &told->sharpness);
}

void app_significance_warn(const app_call *call, const sf_episodes_columns *columns)
{
    const sf_significance *told = columns->significance;
    if (told == NULL) return;
    app_device_warn(call, "surrogates counted", told->ran.device, told->ran.note);
    warn_of_cautions(call, told);
    if (told->options.kind == SF_SIGNIFICANCE_SEGMENT_SHIFT && told->not_tested == SF_TESTABLE &&
        told->sharpness.divisor < UNSMOOTH_DIVISOR)
        app_doubt(
            call,
            "what units share is not smooth as far as trains are shifted: of what counts lose by three "
            "shifts one part in %.3g is taken off, as measured of most pairs, where one in %g is usual. "
            "Pairs that differ from most in it stand out: look at correlograms",
            told->sharpness.divisor, SMOOTH_DIVISOR);
    if (told->by_chance > 0)
        app_doubt(call,
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
    if (told->not_tested == SF_DELAYS_TOO_LONG) sf_text_printf(text, "; for waves see graph --metric sttc");
}

void app_not_tested_warn(const app_call *call, const sf_significance *told)
{
    sf_text text = {0};
    if (told == NULL || told->not_tested == SF_TESTABLE) return;
    app_not_tested_print(&text, told);
    if (!text.failed) app_doubt(call, "no episode could be tested: %s", text.data);
    sf_text_free(&text);
}

/* ---- the document ---- */

static bool is_analytic(const void *significance)
{
    return ((const sf_significance *)significance)->options.kind == SF_SIGNIFICANCE_ANALYTIC;
}

SF_GETTER(get_of_analytic)
{
    if (is_analytic(of)) sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_of_surrogates)
{
    if (!is_analytic(of)) sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_segment)
{
    if (((const sf_significance *)of)->options.kind == SF_SIGNIFICANCE_SEGMENT_SHIFT)
        sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_measured)
{
    if (!isnan(((const sf_significance *)of)->sharpness.low_share))
        get_of_surrogates(column, of, row, item, value);
}

static const char *word_of_kind(const void *kind)
{
    return sf_significance_name(*(const sf_significance_kind *)kind);
}

static const char *const corrections[] = {"maximum", "false-discovery rate", NULL};

static const char *word_of_correction(const void *correction)
{
    return corrections[*(const sf_correction *)correction == SF_CORRECTION_RATE];
}

static const char *word_of_reason(const void *not_tested)
{
    return sf_not_tested_text(*(const sf_not_tested *)not_tested);
}

SF_LENGTH(count_cautions)
{
    const sf_significance *told = of;
    *length = 0;
    for (unsigned bits = told->cautions; bits != 0; bits &= bits - 1)
        ++*length;
    return true;
}

SF_GETTER(get_caution)
{
    unsigned bits = ((const sf_significance *)of)->cautions;
    for (; item > 0; item--)
        bits &= bits - 1;
    sf_value_set_text(value, sf_caution_text((sf_caution)(bits & -bits)));
}

SF_LENGTH(count_power)
{
    const sf_significance *told = of;
    *length = 0;
    while (*length < SF_POWER_QUARTERS && told->power[*length].needed > 0)
        ++*length;
    return true;
}

SF_GETTER(get_power)
{
    sf_value_set_record(value, &((const sf_significance *)of)->power[item], 0);
}

#define ROW sf_power
static const sf_column_row power_rows[] = {
    SF_MEMBER_IS(REAL, expected_given_rest,
                 "of a quarter of these pairs so much or less; of half; of three quarters"),
    SF_MEMBER_IS(COUNT, needed, "the least count that would have had a q below 0.05",
                 .null = "not computed, or none would"),
};
#undef ROW

static const char *const kinds[] = {"segment-shift", "jitter",    "shift", "analytic",
                                    "dither",        "joint-isi", NULL};

#define ROW sf_significance
#define GOT(getter, kind, column, of, ...)                                                                   \
    {                                                                                                        \
        .is = SF_WHAT_IS(kind, column, __VA_ARGS__), .get = (getter), .form = SF_FORM_IN(of),                \
        SF_ROW_ELEMENT(of)                                                                                   \
    }
#define WORD(getter, column, of, spell, ...)                                                                 \
    {                                                                                                        \
        .is = SF_WHAT_IS(TEXT, column, __VA_ARGS__), .get = (getter), .word = (spell), SF_ROW_ELEMENT(of)    \
    }
#define ANALYTIC .null = "of the analytic test"
static const sf_column_row document_rows[] = {
    WORD(sf_column_value, "kind", options.kind, word_of_kind, "how surrogates were made, or analytic",
         .words = kinds),
    GOT(get_of_analytic, REAL, "link", options.link, "the probability of a link under the null hypothesis",
        .null = "of tests by surrogates"),
    GOT(get_of_surrogates, COUNT, "surrogates", options.surrogates, "how many", ANALYTIC),
    GOT(get_of_surrogates, COUNT, "seed", options.seed, "of their random numbers", ANALYTIC),
    GOT(get_of_surrogates, TIME, "width_ms", options.width_ns, "by which spikes or trains were moved",
        .unit = "ms", ANALYTIC),
    GOT(get_segment, TIME, "segment_s", options.segment_ns, "trains move as wholes so long", .unit = "s",
        .null = "of other tests than segment-shift"),
    WORD(get_of_surrogates, "correction", options.correction, word_of_correction, "for all that was searched",
         .words = corrections, ANALYTIC),
    SF_FIELD_IS(FLAG, "splits", options.splits,
                "chains were tested by all splits into two groups, not by ends and links"),
    WORD(get_of_surrogates, "not_tested", not_tested, word_of_reason, "why a test gave no p",
         .null = "it did, or is analytic"),
    GOT(get_measured, REAL, "sharpness", sharpness.sharpness,
        "of bursts that units share: by how many standard deviations unlinked pairs are nearer to p = 0.05",
        .null = "there are too few pairs to tell, or the test is analytic"),
    GOT(get_of_surrogates, REAL, "low_share", sharpness.low_share,
        "of unlinked pairs that will have p < 0.05, as measured of most pairs", .null = "as sharpness"),
    GOT(get_of_surrogates, REAL, "blur_divisor", sharpness.divisor,
        "what shifting blurs of these is this part of what three shifts lose", ANALYTIC),
    SF_FIELD_IS(COUNT, "grouped_units", sharpness.grouped,
                "units in groups that share events which the others do not"),
    SF_LIST_BY(TEXT, "cautions", get_caution, count_cautions,
               "what was seen in the data that makes p less sure"),
    SF_RECORDS_BY("power", get_power, count_power, power_rows,
                  "what pairs had to count for a q below 0.05, of those that surrogates give a count of 1 or "
                  "more; empty where none was tested, or is such, or of --fdr"),
    SF_MEMBER_IS(COUNT, power_pairs, "pairs that surrogates give a count of 1 or more"),
    SF_FIELD_IS(TEXT, "device", ran.device, "where surrogates were counted", .null = "none were"),
    APP_ROW_DEVICE_NOTE(ran),
};
#undef ROW

const sf_table app_significance_document = {
    .name = "significance", .row = "test", .about = "tests of significance", SF_TABLE_OF(document_rows)};

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
    if (told == NULL || told->power[0].needed == 0) return;
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

void app_methods_value(sf_value *value, const sf_episodes *episodes, const app_call *call)
{
    app_methods(sf_value_room(value), episodes, call, NULL);
    sf_value_set_room(value);
}

int app_methods(sf_text *text, const sf_episodes *episodes, const app_call *call, sf_error *error)
{
    char *words;
    int status = sf_episodes_methods(episodes, app_value(call, "preset", NULL), &words, error);
    if (status != SF_OK) return status;
    sf_text_printf(text, "%s", words);
    sf_release(words);
    return SF_OK;
}
