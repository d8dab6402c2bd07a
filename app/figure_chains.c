/* SPDX-License-Identifier: Apache-2.0 */
/* What recurs: tested chains, one chain, correlograms, and what happens around markers. */
#include "app/details.h"
#include "app/figure.h"
#include "app/pictures.h"

#include "core/marker.h"
#include "core/memory.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void app_chain_name(char name[APP_CHAIN_NAME], const app_subject *subject, const sf_episode *episode)
{
    size_t length = 0;
    name[0] = '\0';
    for (uint32_t k = 0; k < episode->size && length + 4 < APP_CHAIN_NAME; k++)
        length += (size_t)snprintf(name + length, APP_CHAIN_NAME - length, "%s%.10s", k > 0 ? " > " : "",
                                   app_unit_name(subject->recording, episode->units[k]));
}

/* ---- the chains that stand out ---- */

#define MOST_CHAINS 24

typedef struct chosen {
    const sf_episodes_columns *told;
    size_t items[MOST_CHAINS], count, standing; /**< standing: total number that stand out */
    char names[MOST_CHAINS][APP_CHAIN_NAME];
    const char *labels[MOST_CHAINS];
} chosen;

/* The first, which stand out most. */
static void choose(chosen *best, const app_subject *subject, const sf_episodes_columns *told, uint32_t least)
{
    *best = (chosen){.told = told};
    for (size_t i = 0; i < told->count; i++) {
        if (told->episodes[i].size < least || !app_chain_stands(told, i)) continue;
        best->standing++;
        if (best->count < MOST_CHAINS) best->items[best->count++] = i;
    }
    for (size_t k = 0; k < best->count; k++) {
        app_chain_name(best->names[k], subject, &told->episodes[best->items[k]]);
        best->labels[k] = best->names[k];
    }
}

/* Why the recording as a whole could not be tested; NULL if it was tested. */
static const char *why_no_verdict(const sf_episodes_columns *told)
{
    return told->significance != NULL ? sf_not_tested_text(told->significance->not_tested) : NULL;
}

static int nothing_stands_out(const sf_episodes_columns *told, sf_error *error)
{
    const char *why = why_no_verdict(told);
    if (why != NULL) return sf_fail(error, SF_DATA, NULL, "no chain can be tested here: %s", why);
    if (told->found == 0)
        return sf_fail(error, SF_DATA, NULL, "no units follow each other often enough to be a chain");
    return sf_fail(
        error, SF_DATA, NULL,
        "no chain stands out: of %zu that are frequent none has a q of 0.05 or less against surrogates",
        told->found);
}

static int list_occurrences(sf_occurrences **listed, sf_occurrences_columns *columns,
                            const app_subject *subject, const chosen *best, sf_error *error)
{
    sf_episode episodes[MOST_CHAINS];
    double expected[MOST_CHAINS];
    for (size_t k = 0; k < best->count; k++) {
        episodes[k] = best->told->episodes[best->items[k]];
        expected[k] = best->told->expected[best->items[k]];
    }
    const sf_progress progress = app_progress(subject->call);
    int status =
        sf_occurrences_list(listed, subject->recording, episodes, expected, best->count, &progress, error);
    columns->size = sizeof *columns;
    if (status == SF_OK) sf_occurrences_get_columns(*listed, columns);
    return status;
}

static int list_given(sf_occurrences **listed, const app_subject *subject, const char *path, size_t most,
                      sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    sf_episode *given;
    size_t count;
    int status = app_episodes_read(&given, &count, path, subject->recording, error);
    if (status != SF_OK) return status;
    status = sf_occurrences_list(listed, subject->recording, given, NULL, count < most ? count : most,
                                 &progress, error);
    sf_free(given);
    return status;
}

int app_subject_marked(sf_occurrences **marked, app_subject *subject, size_t most, sf_error *error)
{
    const char *path = app_value(subject->call, "episodes", NULL);
    sf_occurrences_columns columns;
    sf_episodes_columns told;
    chosen best;
    *marked = NULL;
    if (path != NULL) return list_given(marked, subject, path, most, error);
    if (!subject->in_report) return SF_OK;
    int status = app_subject_chains(subject, &told, error);
    if (status == SF_OK) choose(&best, subject, &told, 2);
    if (status != SF_OK || best.count == 0) return status;
    best.count = best.count < most ? best.count : most;
    return list_occurrences(marked, &columns, subject, &best, error);
}

/* count / expected with its interval, the best at the top. */
static void draw_ratios(sf_figure *figure, const chosen *best, double height)
{
    const sf_ink ink = {.line = SF_BLUE, .fill = SF_BLUE, .width_mm = 0.35};
    const sf_ink one = {.line = SF_GREY, .fill = SF_NO_COLOUR, .width_mm = 0.25, .dashed = true};
    const sf_episodes_columns *told = best->told;
    double low = 1, high = 1;
    for (size_t k = 0; k < best->count; k++) {
        low = fmin(low, fmax(told->ratio_low[best->items[k]], 0.1));
        high = fmax(high, told->ratio_high[best->items[k]]);
    }
    sf_panel_form form = {
        .title = "Count / expected, with its 95 % interval",
        .name = "ratios",
        .x = {.label = "count / expected by rates", .from = low * 0.9, .to = high * 1.1, .log = true},
        .y = {.from = (double)best->count - 0.5, .to = -0.5, .names = best->labels},
        .height_mm = height};
    form.y.name_count = best->count;
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_stretch(&panel, &one, NULL, 1, 1);
    for (size_t k = 0; k < best->count; k++) {
        size_t i = best->items[k];
        char note[160];
        double y = (double)k, ends[2] = {fmax(told->ratio_low[i], low * 0.9), told->ratio_high[i]};
        const double across[2] = {y, y};
        snprintf(note, sizeof note, "%s: count %" PRIu64 ", expected by rates %.4g, q %.3g", best->names[k],
                 told->counts[i], told->expected[i], told->q[i]);
        sf_panel_line(&panel, &ink, "interval", ends, across, 2);
        if (told->counts[i] > 0 && told->expected[i] > 0)
            sf_panel_dot(&panel, &ink, (double)told->counts[i] / told->expected[i], y, 0.7, told->q[i], note);
    }
    sf_panel_end(&panel);
}

/* When those of one chain begin. */
static int draw_begins(sf_panel *panel, const app_time_axis *time, const sf_occurrences_columns *of, size_t k,
                       sf_error *error)
{
    const sf_ink ink = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.12};
    size_t count = (size_t)of->counts[k];
    double *x = sf_alloc(2 * count + 1, sizeof *x);
    if (x == NULL) return sf_fail_memory(error);
    double *y = x + count;
    for (size_t n = 0; n < count; n++) {
        x[n] = app_time_at(time, of->times_ns[k][n * of->episodes[k].size]);
        y[n] = (double)k;
    }
    sf_panel_ticks(panel, &ink, "occurrence", x, y, count, 0.7);
    sf_free(x);
    return SF_OK;
}

/* When each begins. */
static int draw_times(sf_figure *figure, const app_subject *subject, const chosen *best, double height,
                      sf_error *error)
{
    app_time_axis time;
    app_time_axis_of(&time, subject);
    sf_occurrences *listed;
    sf_occurrences_columns columns;
    int status = list_occurrences(&listed, &columns, subject, best, error);
    if (status != SF_OK) return status;
    sf_panel_form form = {.title = "Occurrences",
                          .name = "occurrences",
                          .x = time.axis,
                          .y = {.from = (double)best->count - 0.5, .to = -0.5, .bare = figure->columns > 1},
                          .height_mm = height};
    form.y.names = figure->columns > 1 ? NULL : best->labels;
    form.y.name_count = best->count;
    sf_panel panel = sf_panel_begin(figure, &form);
    for (size_t k = 0; k < columns.count && status == SF_OK; k++)
        status = draw_begins(&panel, &time, &columns, k, error);
    sf_panel_end(&panel);
    sf_occurrences_free(listed);
    return status;
}

/* Chains as long as was looked for may be parts of longer ones. */
static void explain_length(sf_text *caption, const app_subject *subject, const chosen *best)
{
    uint32_t most = subject->max_size, longest = 0;
    for (size_t k = 0; k < best->count; k++)
        if (best->told->episodes[best->items[k]].size > longest)
            longest = best->told->episodes[best->items[k]].size;
    if (longest == most && most < SF_EPISODE_MAX_SIZE)
        sf_text_printf(caption, "Chains of up to %" PRIu32 " units were looked for: --max-size takes more. ",
                       most);
}

static int draw_chains(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_episodes_columns told;
    chosen best;
    int status = app_subject_chains(subject, &told, error);
    if (status != SF_OK) return status;
    choose(&best, subject, &told, 2);
    if (best.count == 0) return nothing_stands_out(&told, error);
    double height = 5 + 3.2 * (double)best.count;
    const bool beside = figure->columns > 1;
    draw_ratios(figure, &best, height);
    status = draw_times(figure, subject, &best, height, error);
    sf_text_printf(caption,
                   "Chains of firing that stand out against %" PRIu32
                   " surrogates (q of 0.05 or less, corrected for everything that was looked at): ",
                   told.significance->options.surrogates);
    app_chains_print(caption, &told);
    if (best.standing > best.count)
        sf_text_printf(caption, "; drawn are the %zu that stand out most", best.count);
    if (told.parts > 0)
        sf_text_printf(caption,
                       ", which count no more beyond their chains than chance gives and are not drawn");
    sf_text_printf(caption, ". ");
    explain_length(caption, subject, &best);
    sf_text_printf(
        caption,
        "%s: how often each was counted, as a multiple of what is expected by rates, of units that fire "
        "independently, with its 95 %% interval; dashed: as often as that. Bursts that units share raise it "
        "too. "
        "%s: when each occurrence begins. ",
        beside ? "Left" : "Above", beside ? "Right" : "Below");
    return status;
}

const app_figure_kind app_figure_chains = {
    .name = "chains",
    .summary = "chains that stand out against surrogates, and when they occur",
    .by = APP_BY_CHAINS,
    .draw = draw_chains};

/* ---- one chain ---- */

#define MOST_ROWS 1000

/* Of panels that are four in a row. */
static double small_height(const sf_figure *figure)
{
    return figure->columns > 3 ? 28 : 0;
}

/* The units of a long chain are coloured from blue over green to yellow, in order: nobody can distinguish
 * sixteen colours. */
#define SERIES_COLOURS 7
#define PALEST_LINK 0.92

static sf_colour link_colour(uint32_t k, uint32_t size)
{
    return size <= SERIES_COLOURS ? sf_series_colour(k) : sf_viridis(PALEST_LINK * k / (size - 1));
}

static int draw_rows(sf_figure *figure, const app_subject *subject, const sf_episode *episode,
                     const sf_occurrences_columns *listed, sf_error *error)
{
    uint64_t count = listed->counts[0], stride = count / MOST_ROWS + 1;
    size_t rows = (size_t)((count + stride - 1) / stride);
    double longest = 0;
    for (uint32_t k = 0; k + 1 < episode->size; k++)
        longest += (double)episode->delays[k].high_ns * 1e-6;
    sf_panel_form form = {
        .title = "Spikes of each occurrence",
        .name = "occurrences",
        .x = {.label = "time since its first spike, ms", .from = -0.02 * longest, .to = longest * 1.02},
        .y = {.label = "occurrence", .from = (double)count + 0.5, .to = 0.5, .whole = true},
        .height_mm = small_height(figure)};
    double *x = sf_alloc(rows, sizeof *x), *y = sf_alloc(rows, sizeof *y);
    if (x == NULL || y == NULL) {
        sf_free(x);
        sf_free(y);
        return sf_fail_memory(error);
    }
    for (uint32_t k = 0; k < episode->size; k++) {
        form.key[k] = app_unit_name(subject->recording, episode->units[k]);
        form.key_colours[k] = link_colour(k, episode->size);
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    for (uint32_t k = 0; k < episode->size; k++) {
        const sf_ink ink = {.line = SF_NO_COLOUR, .fill = link_colour(k, episode->size)};
        for (size_t r = 0; r < rows; r++) {
            const int64_t *times = listed->times_ns[0] + r * stride * episode->size;
            x[r] = (double)(times[k] - times[0]) * 1e-6;
            y[r] = (double)(r * stride + 1);
        }
        sf_panel_dots(&panel, &ink, "spike", x, y, rows, 0.3);
    }
    sf_panel_end(&panel);
    sf_free(x);
    sf_free(y);
    return SF_OK;
}

static void draw_link_delays(sf_figure *figure, const app_subject *subject, const sf_episodes_columns *told,
                             uint32_t link)
{
    const sf_episode *episode = &told->episodes[0];
    const sf_link_delays *delays = &told->details[0].links[link];
    double counts[SF_DELAY_BINS], expected[SF_DELAY_BINS], low = (double)episode->delays[link].low_ns * 1e-6;
    char title[256], chance[96];
    snprintf(chance, sizeof chance, "by rates: %.3g in all", told->expected[0]);
    for (int k = 0; k < SF_DELAY_BINS; k++) {
        counts[k] = (double)delays->histogram[k];
        expected[k] = told->expected[0] * delays->by_chance[k];
    }
    snprintf(title, sizeof title, "%.60s to %.60s", app_unit_name(subject->recording, episode->units[link]),
             app_unit_name(subject->recording, episode->units[link + 1]));
    app_bars_draw(figure,
                  &(app_bars){.title = title,
                              .about = "counted",
                              .chance = chance,
                              .x_label = "delay, ms",
                              .y_label = "occurrences",
                              .from = low,
                              .width = ((double)episode->delays[link].high_ns * 1e-6 - low) / SF_DELAY_BINS,
                              .count = SF_DELAY_BINS,
                              .height_mm = small_height(figure),
                              .counts = counts,
                              .expected = expected});
}

/* The first of --episodes, or the chain that stands out most, the longest first. */
static int find_chain(sf_episode *episode, app_subject *subject, sf_error *error)
{
    const char *path = app_value(subject->call, "episodes", NULL);
    if (path != NULL) {
        sf_episode *given;
        size_t count;
        int status = app_episodes_read(&given, &count, path, subject->recording, error);
        if (status == SF_OK && (count == 0 || given[0].size < 2))
            status = sf_fail(error, SF_USAGE, "--episodes", "expected a chain of two units or more");
        else if (status == SF_OK)
            *episode = given[0];
        if (status == SF_OK) sf_free(given);
        return status;
    }
    sf_episodes_columns told;
    chosen best;
    int status = app_subject_chains(subject, &told, error);
    if (status != SF_OK) return status;
    for (uint32_t least = subject->max_size; least >= 2; least--) {
        choose(&best, subject, &told, least);
        if (best.count == 0) continue;
        *episode = told.episodes[best.items[0]];
        return SF_OK;
    }
    return nothing_stands_out(&told, error);
}

static int draw_chain(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    sf_counting_options how = sf_counting_options_default();
    sf_episodes_columns told = {.size = sizeof told};
    sf_occurrences_columns columns = {.size = sizeof columns};
    sf_episodes *counted = NULL;
    sf_occurrences *listed = NULL;
    sf_episode episode;
    how.details = true;
    int status = find_chain(&episode, subject, error);
    if (status == SF_OK) status = sf_count(&counted, subject->recording, &episode, 1, &how, &progress, error);
    if (status == SF_OK)
        status = sf_occurrences_list(&listed, subject->recording, &episode, NULL, 1, &progress, error);
    if (status == SF_OK) {
        sf_episodes_get_columns(counted, &told);
        sf_occurrences_get_columns(listed, &columns);
        if (told.counts[0] == 0) status = sf_fail(error, SF_DATA, NULL, "this chain does not occur");
    }
    if (status == SF_OK && episode.size > 3 && subject->width_mm > 120) figure->columns = 4;
    if (status == SF_OK) status = draw_rows(figure, subject, &episode, &columns, error);
    for (uint32_t link = 0; status == SF_OK && told.details != NULL && link + 1 < episode.size; link++)
        draw_link_delays(figure, subject, &told, link);
    if (status == SF_OK) {
        sf_text spelt = app_episode_text(subject->recording, &episode);
        sf_text_printf(
            caption,
            "%s, counted %" PRIu64
            " times. Each row is an occurrence, each colour a unit, from its first spike on. Then the delays "
            "of each link; grey: what is expected by rates, of units that fire independently%s, and 2 "
            "standard "
            "deviations. ",
            spelt.data != NULL ? spelt.data : "", told.counts[0],
            episode.size > 2 ? ", with all delays alike" : "");
        sf_text_free(&spelt);
    }
    sf_occurrences_free(listed);
    sf_episodes_free(counted);
    return status;
}

const app_figure_kind app_figure_chain = {.name = "chain",
                                          .summary =
                                              "every occurrence of one chain (--episodes), and its delays",
                                          .by = APP_BY_CHAINS | APP_BY_EPISODES,
                                          .not_with_episodes = APP_BY_CHAINS,
                                          .draw = draw_chain};

/* ---- correlograms ---- */

#define MOST_CORRELOGRAMS 12

/* The pairs of --episodes; else those that stand out most, or if none does, the most frequent ones. */
static int find_pairs(sf_episode pairs[MOST_CORRELOGRAMS], size_t *count, bool *standing,
                      app_subject *subject, sf_error *error)
{
    const char *path = app_value(subject->call, "episodes", NULL);
    sf_episodes_columns told;
    chosen best;
    *count = 0;
    *standing = false;
    if (path != NULL) {
        sf_episode *given;
        size_t all;
        int status = app_episodes_read(&given, &all, path, subject->recording, error);
        for (size_t i = 0; status == SF_OK && i < all && *count < MOST_CORRELOGRAMS; i++)
            if (given[i].size == 2) pairs[(*count)++] = given[i];
        if (status == SF_OK) sf_free(given);
        return status == SF_OK && *count == 0
                   ? sf_fail(error, SF_USAGE, "--episodes", "expected pairs, as A -(0,5]-> B")
                   : status;
    }
    int status = app_subject_pairs(subject, &told, error);
    if (status != SF_OK) return status;
    choose(&best, subject, &told, 2);
    *standing = best.count > 0;
    size_t most = subject->in_report ? MOST_CORRELOGRAMS / 2 : MOST_CORRELOGRAMS;
    for (size_t k = 0; k < best.count && *count < most; k++)
        pairs[(*count)++] = told.episodes[best.items[k]];
    for (size_t i = 0; !*standing && i < told.count && *count < MOST_CORRELOGRAMS / 2; i++)
        pairs[(*count)++] = told.episodes[i];
    return *count > 0
               ? SF_OK
               : sf_fail(error, SF_DATA, NULL, "no two units follow each other often enough to be shown");
}

#define HALF_MM 0.2 /* the height of a panel beside another one, by the figure's width */

static int draw_correlogram(sf_figure *figure, const app_subject *subject, const sf_correlogram *c,
                            sf_delay delay, sf_error *error)
{
    size_t bins = 2 * (size_t)c->half;
    double *counts = sf_alloc(bins, sizeof *counts), bin_ms = (double)c->bin_ns * 1e-6;
    char title[160];
    if (counts == NULL) return sf_fail_memory(error);
    const char *from = app_unit_name(subject->recording, c->from),
               *to = app_unit_name(subject->recording, c->to);
    snprintf(title, sizeof title, "%.60s to %.60s", from, to);
    for (size_t k = 0; k < bins; k++)
        counts[k] = (double)c->counts[k];
    app_bars_draw(figure, &(app_bars){.title = title,
                                      .x_label = "lag, ms",
                                      .y_label = "pairs of spikes",
                                      .from = -(double)c->half * bin_ms,
                                      .width = bin_ms,
                                      .count = bins,
                                      .counts = counts,
                                      .expected = c->expected,
                                      .also = c->surrogate_mean,
                                      .mark_from = (double)delay.low_ns * 1e-6,
                                      .mark_to = (double)delay.high_ns * 1e-6,
                                      .height_mm = figure->columns > 2   ? 34
                                                   : figure->columns > 1 ? HALF_MM * subject->width_mm
                                                                         : 0});
    sf_free(counts);
    return SF_OK;
}

/* Explains the band beside the counts: the expectation by rates, and the surrogates or why there are none. */
static void explain_band(sf_text *caption, const sf_episodes_columns *told)
{
    const sf_significance *test = told->significance;
    const char *why = why_no_verdict(told);
    sf_text_printf(caption,
                   "Grey line and band: what is expected by rates, of units that fire independently, and 2 "
                   "standard deviations. ");
    if (told->correlograms[0].surrogate_mean != NULL)
        sf_text_printf(caption,
                       "Dashed: the mean of %" PRIu32
                       " surrogates, with the second unit shifted within segments: they keep the bursts that "
                       "both share, and spread the peak itself around its place. ",
                       test->options.surrogates < SF_CORRELOGRAM_SURROGATES ? test->options.surrogates
                                                                            : SF_CORRELOGRAM_SURROGATES);
    else
        sf_text_printf(caption, "Surrogates say nothing here%s%s. ", why != NULL ? ": " : "",
                       why != NULL ? why : "");
    sf_text_printf(caption, "Yellow: the delays that were looked at. ");
}

static int draw_correlograms(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    sf_counting_options how = sf_counting_options_default();
    sf_episodes_columns told = {.size = sizeof told};
    sf_episode pairs[MOST_CORRELOGRAMS];
    sf_episodes *counted = NULL;
    size_t count;
    bool standing;
    how.correlograms = true;
    how.significance = &subject->test;
    int status = find_pairs(pairs, &count, &standing, subject, error);
    if (status == SF_OK)
        status = sf_count(&counted, subject->recording, pairs, count, &how, &progress, error);
    if (status == SF_OK) sf_episodes_get_columns(counted, &told);
    figure->columns = subject->width_mm > 120 && told.correlogram_count > 2 ? 3
                      : told.correlogram_count > 1                          ? 2
                                                                            : 1;
    for (size_t i = 0; status == SF_OK && i < told.correlogram_count; i++)
        status = draw_correlogram(figure, subject, &told.correlograms[i], told.episodes[i].delays[0], error);
    if (status == SF_OK) {
        sf_text_printf(
            caption,
            "Cross-correlograms of %s, in bins of %g ms, by the lag of the second unit after the first. ",
            app_has(subject->call, "episodes") ? "the pairs that were given"
            : standing                         ? "the pairs that stand out most (q of 0.05 or less)"
            : why_no_verdict(&told) != NULL    ? "the most frequent pairs, which cannot be tested"
                                               : "the most frequent pairs, of which none stands out",
            (double)told.correlograms[0].bin_ns * 1e-6);
        explain_band(caption, &told);
    }
    sf_episodes_free(counted);
    return status;
}

const app_figure_kind app_figure_correlograms = {
    .name = "correlograms",
    .summary = "cross-correlograms of pairs, beside what is expected by rates and surrogates",
    .by = APP_BY_EDGES | APP_BY_EPISODES,
    .not_with_episodes = APP_BY_EDGES & ~(unsigned)APP_BY_TEST,
    .draw = draw_correlograms};

/* ---- around markers ---- */

#define ALIGN_BINS 50

typedef struct alignment {
    double from_ms, to_ms;
    int64_t *markers;
    size_t count;
    char name[SF_MARKER_TEXT_SIZE];
} alignment;

static int read_alignment(void *aligned, const char *text, sf_error *error)
{
    alignment *a = aligned;
    const char *last = strrchr(text, ',');
    const char *middle = last != NULL ? memrchr(text, ',', (size_t)(last - text)) : NULL;
    char *end = NULL, *other = NULL;
    *a = (alignment){.from_ms = NAN};
    if (middle != NULL && middle > text && (size_t)(middle - text) < sizeof a->name) {
        memcpy(a->name, text, (size_t)(middle - text));
        a->from_ms = strtod(middle + 1, &end);
        a->to_ms = strtod(last + 1, &other);
    }
    bool good = end != NULL && end > middle + 1 && other > last + 1 && a->from_ms < a->to_ms &&
                isfinite(a->from_ms) && isfinite(a->to_ms) && (*end == ',' || strncmp(end, "ms,", 3) == 0) &&
                (*other == '\0' || strcmp(other, "ms") == 0);
    return good
               ? SF_OK
               : sf_fail(error, SF_USAGE, NULL,
                         "found '%s', expected MARKER,A,B with A before B in ms, as light,-50ms,200ms", text);
}

static const alignment not_aligned;

#define ROW alignment
static const sf_key alignment_rows[] = {
    FORM("align", read_alignment, .argument = "MARKER,A,B",
         .what =
             "markers, rates and chains from A to B ms around each of these markers, as light,-50ms,200ms"),
    {0},
};
#undef ROW

const sf_key_table app_alignment_table = SF_KEY_TABLE(alignment_rows, not_aligned);

static int align(alignment *a, const app_subject *subject, sf_error *error)
{
    *a = not_aligned;
    if (!app_has(subject->call, "align"))
        return sf_fail(error, SF_USAGE, "--align",
                       "is needed: a marker and times around it, as light,-50ms,200ms");
    int status = app_options_read(subject->call, &app_alignment_table, a, error);
    if (status != SF_OK) return status;
    a->markers = sf_alloc(subject->of.marker_count, sizeof *a->markers);
    if (a->markers == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < subject->of.marker_count; i++)
        if (sf_marker_is(&subject->of.markers[i], a->name))
            a->markers[a->count++] = subject->of.markers[i].time_ns;
    return a->count > 0
               ? SF_OK
               : sf_marker_fail_unknown(subject->of.markers, subject->of.marker_count, a->name, error);
}

/* Adds one to the bin of every marker that this time lies around. */
static void add_around(double *bins, const alignment *a, int64_t time_ns)
{
    double width = (a->to_ms - a->from_ms) / ALIGN_BINS;
    size_t low = 0, high = a->count; /* the first marker whose stretch does not end before */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((double)(time_ns - a->markers[middle]) * 1e-6 >= a->to_ms)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < a->count; low++) {
        double lag = (double)(time_ns - a->markers[low]) * 1e-6;
        if (lag < a->from_ms) break;
        size_t bin = (size_t)((lag - a->from_ms) / width);
        bins[bin < ALIGN_BINS ? bin : ALIGN_BINS - 1]++;
    }
}

static void draw_aligned(sf_figure *figure, const alignment *a, const char *title, const char *label,
                         bool whole, const double *bins)
{
    const sf_ink ink = {.line = SF_NO_COLOUR, .fill = SF_BLUE, .opacity = 0.6};
    const sf_ink zero = {.line = SF_VERMILION, .fill = SF_NO_COLOUR, .width_mm = 0.3};
    double most = 0;
    for (size_t k = 0; k < ALIGN_BINS; k++)
        most = fmax(most, bins[k]);
    const sf_panel_form form = {
        .title = title,
        .name = "aligned",
        .x = {.label = "time since the marker, ms", .from = a->from_ms, .to = a->to_ms},
        .y = {.label = label, .to = most > 0 ? most * 1.05 : 1, .whole = whole}};
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_steps(&panel, &ink, "counts", a->from_ms, (a->to_ms - a->from_ms) / ALIGN_BINS, bins, ALIGN_BINS,
                   0);
    sf_panel_stretch(&panel, &zero, NULL, 0, 0);
    if (most == 0) sf_panel_words(&panel, (a->from_ms + a->to_ms) / 2, 0.5, SF_ANCHOR_MIDDLE, "none here");
    sf_panel_end(&panel);
}

#define ALIGNED_CHAINS 5

/* `why`: no chain could be tested, and for what; else NULL. */
static int align_chains(sf_figure *figure, app_subject *subject, const alignment *a, size_t *drawn,
                        const char **why, sf_error *error)
{
    sf_episodes_columns told;
    sf_occurrences_columns columns;
    sf_occurrences *listed = NULL;
    chosen best;
    int status = app_subject_chains(subject, &told, error);
    if (status != SF_OK) return status;
    *why = why_no_verdict(&told);
    choose(&best, subject, &told, 2);
    best.count = best.count < ALIGNED_CHAINS ? best.count : ALIGNED_CHAINS;
    *drawn = best.count;
    if (best.count > 0) status = list_occurrences(&listed, &columns, subject, &best, error);
    for (size_t k = 0; status == SF_OK && k < best.count; k++) {
        double bins[ALIGN_BINS] = {0};
        for (uint64_t n = 0; n < columns.counts[k]; n++)
            add_around(bins, a, columns.times_ns[k][n * columns.episodes[k].size]);
        draw_aligned(figure, a, best.names[k], "occurrences that begin", true, bins);
    }
    sf_occurrences_free(listed);
    return status;
}

static int draw_markers(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    alignment a;
    double bins[ALIGN_BINS] = {0};
    size_t chains = 0;
    const char *why = NULL;
    int status = align(&a, subject, error);
    if (status == SF_OK) {
        for (size_t i = 0; i < subject->of.spike_count; i++)
            add_around(bins, &a, subject->of.spikes[i].time_ns);
        double seconds =
            (a.to_ms - a.from_ms) * 1e-3 / ALIGN_BINS * (double)a.count * (double)subject->of.unit_count;
        for (size_t k = 0; k < ALIGN_BINS; k++)
            bins[k] /= seconds;
        draw_aligned(figure, &a, "Rate", "rate of a mean unit, Hz", false, bins);
        status = align_chains(figure, subject, &a, &chains, &why, error);
    }
    if (status == SF_OK)
        sf_text_printf(caption, "Around %zu marker%s '%s': the rate of a mean unit", a.count,
                       a.count == 1 ? "" : "s", a.name);
    if (status == SF_OK && chains > 0)
        sf_text_printf(caption, ", and of %zu chain%s that stand%s out how many occurrences begin when. ",
                       chains, chains == 1 ? "" : "s", chains == 1 ? "s" : "");
    else if (status == SF_OK && why != NULL)
        sf_text_printf(caption, "; no chain can be tested here: %s. ", why);
    else if (status == SF_OK)
        sf_text_printf(caption, "; no chain stands out. ");
    sf_free(a.markers);
    return status;
}

const app_figure_kind app_figure_markers = {.name = "markers",
                                            .summary = "rates and chains around markers (--align)",
                                            .by = APP_BY_CHAINS | APP_BY_ALIGN,
                                            .draw = draw_markers};
