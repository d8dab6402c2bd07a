/* SPDX-License-Identifier: Apache-2.0 */
#include "app/counting.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/nwb.h"
#include "app/significance.h"

#include "analysis/tables.h"
#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/seconds.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"episodes", "FILE",
     "the episodes to count, or one episode itself; in a file one a line: A -(0,5]-> B, or JSON "
     "{\"units\":[0,1],\"delays_ms\":[[0,5]]}; or the document of `synfire mine --json`"},
    APP_REGISTERED_OPTION,
    {.name = "window"},
    {.name = "hop"},
    {.name = "correlogram"},
    {.name = "splits"},
    {"csv", NULL,
     "print CSV: the counts, with --window those of windows, with --correlogram its bins; docs/formats.md "
     "has the columns"},
    APP_NWB_OPTION,
    {"plot", "FILE",
     "draws, by the ending as SVG, PDF or PNG: cross-correlograms with --correlogram, counts of windows with "
     "--window, else the delays "
     "of every "
     "link"},
    {NULL, NULL, NULL},
};

/* ---- what is asked ---- */

static int parse(app_counting *c, sf_error *error)
{
    static const char *const of_windows[] = {"hop", NULL}, *const of_tests[] = {"splits", NULL};
    const app_call *call = c->call;
    sf_counting_options *asked = &c->options;
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(c->recording, &of);
    *asked = sf_counting_options_default();
    asked->details = true;
    asked->keep_stopped = true;
    if (of.selected->from_given) asked->from_ns = of.selected->from_ns;
    if (of.selected->to_given) asked->to_ns = of.selected->to_ns;
    int status = app_options_read(call, &sf_counting_table, asked, error);
    if (status == SF_OK) status = app_test_parse(&c->test, call, error);
    if (status == SF_OK && !c->test.asked)
        status = app_refuse(call, of_tests, "goes with --significance segment-shift or shift", error);
    if (status == SF_OK && asked->window_ns == 0)
        status = app_refuse(call, of_windows, "is for windows: give --window too", error);
    asked->significance = app_test_options(&c->test);
    if (status == SF_OK && asked->window_ns > 0)
        app_seconds_warn(call, "window", asked->window_ns, app_duration_ns(c->recording));
    return status;
}

/* ---- output ---- */

/* Occurrences a second of what was recorded of the window; NaN where nothing was. */
static double window_rate(const sf_episodes_columns *told, size_t i, size_t episode)
{
    double seconds = (double)told->window_recorded_ns[i] * 1e-9;
    return seconds > 0 ? (double)told->window_counts[i * told->count + episode] / seconds : NAN;
}

/* SF_NO_COUNT for a window in which nothing was recorded: its count is unknown. */
static uint64_t window_count(const sf_episodes_columns *told, size_t i, size_t episode)
{
    return told->window_recorded_ns[i] > 0 ? told->window_counts[i * told->count + episode] : SF_NO_COUNT;
}

static bool is_partial(const sf_episodes_columns *told, size_t i)
{
    return told->last_is_partial && i + 1 == told->window_count;
}

#define ROW sf_correlogram
SF_LENGTH(count_bins)
{
    *length = 2 * (size_t)((const sf_correlogram *)of)->half;
    return true;
}

SF_GETTER(get_pair)
{
    value->known = true;
    value->group = &((const sf_correlogram *)of)->from; /* and to */
    value->group_size = 2;
}

SF_GETTER(get_first_bin)
{
    const sf_correlogram *correlogram = of;
    sf_value_set_time(value, &column->is, -(int64_t)correlogram->half * correlogram->bin_ns);
}

SF_GETTER(get_surrogates)
{
    value->known = ((const sf_correlogram *)of)->surrogate_mean != NULL;
    value->record.of = of;
}

#define BINS(kind, column, of, ...)                                                                          \
    {                                                                                                        \
        .is = SF_WHAT_LIST(kind, column, __VA_ARGS__), .get = sf_column_item, .length = count_bins,          \
        SF_ROW_ELEMENT(of)                                                                                   \
    }
static const sf_column_row surrogate_rows[] = {
    BINS(REAL, "mean", surrogate_mean, "their mean in each bin"),
    BINS(REAL, "low", surrogate_low, "95 % of them have this or more"),
    BINS(REAL, "high", surrogate_high, "and this or less"),
};

static const sf_column_row correlogram_rows[] = {
    SF_GOT_BY(UNITS, "units", get_pair, "from the first to the second"),
    SF_FIELD_IS(TIME, "bin_ms", bin_ns, "width of a bin", .unit = "ms"),
    SF_GOT_BY(TIME, "from_ms", get_first_bin, "where the first bin begins", .unit = "ms"),
    SF_FIELD_IS(REAL, "expected", mean, "pairs in a bin by rates: of independent units at constant rates",
                .null = "nothing was recorded"),
    BINS(COUNT, "counts", counts, "pairs of spikes in each bin"),
    BINS(REAL, "expected_counts", expected, "the same of each bin, as far as it lies in the recording",
         .item_null = "nothing was recorded"),
    SF_RECORD_BY("surrogates", get_surrogates, surrogate_rows,
                 "the counts with the second train moved as the test moves it, at most 200 times: they keep "
                 "shared bursts, and spread the peak itself around its place",
                 .null = "without a test by surrogates"),
};
#undef ROW

SF_GETTER(get_episode)
{
    sf_value_set_record(value, ((const app_counting *)of)->details.table.of, row);
}

SF_LENGTH(count_correlograms)
{
    const app_counting *c = of;
    *length = c->details.told.episodes[row].size - 1;
    return c->correlograms != NULL;
}

SF_GETTER(get_correlogram)
{
    const app_counting *c = of;
    sf_value_set_record(value, &c->details.told.correlograms[c->correlograms[row] + item], 0);
}

static const sf_column_row counted_rows[] = {
    SF_COLUMNS_BY(get_episode, &sf_episodes_columns_table),
    SF_RECORDS_BY("correlograms", get_correlogram, count_correlograms, correlogram_rows, "of each link",
                  .null = "without --correlogram"),
};

SF_LENGTH(count_episodes)
{
    const app_counting *c = of;
    *length = c->details.told.count;
    return column->is.null == NULL || !c->is_whole;
}

SF_LENGTH(count_windows)
{
    const app_counting *c = of;
    *length = c->details.told.window_count;
    return app_has(c->call, "window");
}

SF_LENGTH(count_in_window)
{
    *length = ((const app_counting *)of)->details.told.count;
    return true;
}

SF_GETTER(get_window_count)
{
    sf_value_set_count(value, window_count(&((const app_counting *)of)->details.told, row, item));
}

SF_GETTER(get_window_rate)
{
    sf_value_set_real(value, window_rate(&((const app_counting *)of)->details.told, row, item));
}

SF_GETTER(get_partial)
{
    sf_value_set_flag(value, is_partial(&((const app_counting *)of)->details.told, row));
}

#define ROW app_counting
#define OF_WINDOW(column, array, part, ...)                                                                  \
    {                                                                                                        \
        .is = SF_WHAT_IS(TIME, column, __VA_ARGS__, .unit = "s"), .get = sf_column_value,                    \
        .member = offsetof(ROW, details.told.array), .element = sizeof *((ROW *)0)->details.told.array,      \
        .within = (part)                                                                                     \
    }
#define NOT_RECORDED .item_null = "nothing was recorded"
static const sf_column_row windows_rows[] = {
    OF_WINDOW("from_s", windows, offsetof(sf_span, start_ns), "start"),
    OF_WINDOW("to_s", windows, offsetof(sf_span, stop_ns), "stop, not included"),
    SF_LIST_BY(COUNT, "counts", get_window_count, count_in_window, "of each episode in the window alone",
               NOT_RECORDED),
    SF_LIST_BY(REAL, "rates_hz", get_window_rate, count_in_window, "these a second of recorded time",
               .unit = "Hz", NOT_RECORDED),
    OF_WINDOW("recorded_s", window_recorded_ns, 0, "how much of the window was recorded"),
    SF_GOT_BY(FLAG, "partial", get_partial, "the last window may end where the recording does"),
};

SF_GETTER(get_methods)
{
    const app_counting *c = of;
    if (column->is.null == NULL || !c->is_whole) app_methods_value(value, c->counted, c->call);
}

SF_GETTER(get_significance)
{
    if (!((const app_counting *)of)->is_whole) sf_column_pointed(column, of, row, item, value);
}

void app_registered_get(const sf_column_row *column, const void *of, size_t row, size_t item, sf_value *value)
{
    const app_counting *c = (const void *)((const char *)of + column->within);
    (void)row;
    (void)item;
    value->known = c->registered != NULL && c->counted != NULL;
    value->record.of = c;
}

#define OF_COUNT "of count, whose own they are"
static const sf_column_row registered_rows[] = {
    SF_FIELD_IS(TEXT, "file", registered, "as it was given"),
    SF_MEMBER_IS(TEXT, sha256, "of the file"),
    SF_RECORDS_BY("episodes", sf_column_own_row, count_episodes, counted_rows,
                  "the chains, of which q corrects for these alone", .null = OF_COUNT),
    SF_GOT_BY(TEXT, "methods", get_methods, "what was done, as a sentence for a paper", .null = OF_COUNT),
    {.is = SF_WHAT_IS(RECORD, "significance", "their test", .null = OF_COUNT),
     .get = get_significance,
     SF_ROW_ELEMENT(details.told.significance),
     .table = &app_significance_document},
};

const sf_table app_registered_document = {.name = "registered",
                                          .row = "registration",
                                          .about = "chains that were registered",
                                          SF_TABLE_OF(registered_rows)};

static const sf_column_row document_rows[] = {
    SF_RECORDS_BY("episodes", sf_column_own_row, count_episodes, counted_rows, "in the order of FILE"),
    APP_ROWS_DETAILS(details),
    SF_GOT_BY(TEXT, "methods", get_methods, "what was done, as a sentence for a paper"),
    APP_REGISTERED_AT(0),
    APP_ROW_SIGNIFICANCE(details.told.significance),
    SF_RECORDS_BY("windows", sf_column_own_row, count_windows, windows_rows, "of --window",
                  .null = "without --window"),
    APP_ROW_ENGINE(details.told.ran),
    APP_ROW_DEVICE(details.told.ran),
    APP_ROW_DEVICE_NOTE(details.told.ran),
    APP_ROW_STOPPED(stopped),
};
#undef ROW

static const sf_table document = {
    .name = "counted", .about = "counts of given episodes", SF_TABLE_OF(document_rows)};

void app_registered_print(sf_text *text, const app_counting *c)
{
    if (c->counted == NULL) return;
    sf_text_printf(text, "Registered in %s (SHA-256 %s), tested alone:\n", c->registered, c->sha256);
    app_counting_print(text, c);
    text->failed = text->failed || app_methods(text, c->counted, c->call, NULL) != SF_OK;
    sf_text_printf(text, "\n");
}

static void print_counts(sf_text *text, const app_counting *c)
{
    const sf_episodes_columns *told = &c->details.told;
    app_table table = {0};
    static const char *const head[] = {"no", "episode", "count", "expected", "ratio", "95 %"};
    static const char *const last[] = {APP_DETAIL_HEADS};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        app_table_cell(&table, "%s", head[i]);
    if (told->significance != NULL) app_verdict_heads(&table);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        app_table_cell(&table, "%s", last[i]);
    size_t columns = (told->significance != NULL ? 13 : 9) + app_epochs_heads(&table, &c->details.epochs);
    for (size_t i = 0; i < told->count; i++) {
        double count = (double)told->counts[i], expected = told->expected[i];
        sf_text spelt = app_details_name(&c->details, i);
        app_table_cell(&table, "%zu", i + 1);
        app_table_cell(&table, "%s", spelt.data != NULL ? spelt.data : "");
        app_table_cell(&table, "%" PRIu64, told->counts[i]);
        app_table_real(&table, 4, expected);
        app_table_cell(&table, expected > 0 ? "%.3g" : "-", count / expected);
        app_ratio_cell(&table, told->ratio_low[i], told->ratio_high[i]);
        if (told->significance != NULL) app_verdict_cells(&table, told, i);
        app_details_cells(&table, &c->details, i);
        app_epochs_cells(&table, &c->details.epochs, i);
        sf_text_free(&spelt);
    }
    app_table_fit(&table, text, columns, app_details_drop, c->details.is_wide);
}

static void print_below(sf_text *text, const app_counting *c)
{
    size_t count = c->details.told.count, *all = sf_resize(NULL, count, sizeof *all);
    for (size_t i = 0; all != NULL && i < count; i++)
        all[i] = i;
    text->failed = text->failed || all == NULL;
    if (all != NULL) app_details_print_below(text, &c->details, all, count);
    sf_free(all);
}

static void add_note(app_table *table, const sf_episodes_columns *told, size_t i)
{
    const sf_span *window = &told->windows[i];
    int64_t recorded_ns = told->window_recorded_ns[i];
    const char *partial = is_partial(told, i) ? "partial" : "";
    if (recorded_ns == window->stop_ns - window->start_ns)
        app_table_cell(table, "%s", partial);
    else if (recorded_ns == 0)
        app_table_cell(table, "%s%snot recorded", partial, partial[0] != '\0' ? ", " : "");
    else
        app_table_cell(table, "%s%s%.4g s recorded", partial, partial[0] != '\0' ? ", " : "",
                       (double)recorded_ns * 1e-9);
}

static void print_windows(sf_text *text, const sf_episodes_columns *told)
{
    app_table table = {0};
    app_table_cell(&table, "from s");
    app_table_cell(&table, "to s");
    for (size_t k = 0; k < told->count; k++)
        app_table_cell(&table, "no %zu", k + 1);
    app_table_cell(&table, "note");
    for (size_t i = 0; i < told->window_count; i++) {
        app_table_cell(&table, "%s", sf_seconds_of(told->windows[i].start_ns).text);
        app_table_cell(&table, "%s", sf_seconds_of(told->windows[i].stop_ns).text);
        for (size_t k = 0; k < told->count; k++)
            app_table_cell(&table, told->window_recorded_ns[i] > 0 ? "%" PRIu64 : "-",
                           window_count(told, i, k));
        add_note(&table, told, i);
    }
    app_table_print(&table, text, told->count + 3);
}

#define BAR_LENGTH 50

/* A bar as long as the count, with a stroke at the expected count. */
static void draw_bar(char bar[BAR_LENGTH + 2], double count, double expected, double most)
{
    size_t length = (size_t)(count * BAR_LENGTH / most);
    size_t stroke = expected <= most ? (size_t)(expected * BAR_LENGTH / most) : BAR_LENGTH;
    memset(bar, ' ', BAR_LENGTH + 1);
    memset(bar, '#', length);
    if (isfinite(expected)) bar[stroke] = '|';
    bar[(stroke >= length && isfinite(expected) ? stroke + 1 : length)] = '\0';
}

static void print_correlogram(sf_text *text, const sf_correlogram *c, const sf_recording *recording)
{
    uint64_t most = 1;
    for (uint32_t k = 0; k < 2 * c->half; k++)
        most = c->counts[k] > most ? c->counts[k] : most;
    sf_text_printf(text, "\n");
    app_table table = {0};
    app_table_cell(&table, "above ms");
    app_table_cell(&table, "to ms");
    app_table_cell(&table, "pairs");
    app_table_cell(&table, "%s to %s; | is what independent units at constant rates give, %.4g",
                   app_unit_name(recording, c->from), app_unit_name(recording, c->to), c->mean);
    for (uint32_t k = 0; k < 2 * c->half; k++) {
        double low_ms = ((double)k - c->half) * (double)c->bin_ns * 1e-6;
        char bar[BAR_LENGTH + 2];
        draw_bar(bar, (double)c->counts[k], c->expected[k], (double)most);
        app_table_cell(&table, "%g", low_ms);
        app_table_cell(&table, "%g", low_ms + (double)c->bin_ns * 1e-6);
        app_table_cell(&table, "%" PRIu64, c->counts[k]);
        app_table_cell(&table, "%s", bar);
    }
    app_table_print(&table, text, 4);
}

void app_counting_print(sf_text *text, const app_counting *c)
{
    const sf_episodes_columns *told = &c->details.told;
    if (told->count > 0 && told->significance == NULL)
        app_untested_print(text, told->burst_count, true);
    else if (told->count > 0)
        app_tested_print(text, told->significance, told->burst_count);
    if (told->count > 0) {
        app_details_print_delay(text, &c->details);
        print_counts(text, c);
    }
    if (told->passing < told->found)
        sf_text_printf(text, "%zu of %zu have p and q within --max-p and --max-q%s\n", told->passing,
                       told->found, told->passing == 0 ? ": without them the table shows what all have" : "");
    if (strcmp(told->ran.device, "cpu") != 0) sf_text_printf(text, "counted on %s\n", told->ran.device);
    print_below(text, c);
}

static void print_tables(sf_text *text, const app_counting *c)
{
    const sf_episodes_columns *told = &c->details.told;
    if (told->stopped != SF_NOT_STOPPED) {
        app_stopped_print(text, told);
        sf_text_printf(text, "\n\n");
    }
    app_counting_print(text, c);
    if (told->window_count > 0) {
        sf_text_printf(text, "\n");
        print_windows(text, told);
    }
    for (size_t i = 0; i < told->correlogram_count; i++)
        print_correlogram(text, &told->correlograms[i], c->recording);
    app_doubts_print(text, c->call);
    if (told->significance != NULL) {
        sf_text_printf(text, "\n");
        text->failed = text->failed || app_methods(text, c->counted, c->call, NULL) != SF_OK;
        sf_text_printf(text, "\n");
    }
    if (text->length > 0 && !text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
}

/* ---- CSV ---- */

static void print_counts_csv(sf_text *text, const app_counting *c)
{
    app_csv csv = app_csv_start_table(text, &c->details.table);
    app_epochs_csv_heads(&csv, &c->details.epochs);
    for (size_t i = 0; i < c->details.told.count; i++) {
        app_csv_row(&csv);
        app_csv_cells(&csv, &c->details.table, i);
        app_epochs_csv_cells(&csv, &c->details.epochs, i);
    }
}

/* An episode in a window. */
typedef struct window_row {
    sf_span window;
    bool partial;
    char id[SF_EPISODE_ID_SIZE];
    const char *episode;
    uint64_t count;
    double rate_hz;
    int64_t recorded_ns;
} window_row;

#define ROW window_row
#define UNRECORDED "nothing of the window was recorded"
static const sf_column_row window_rows[] = {
    SF_FIELD_IS(TIME, "from_s", window.start_ns, "start of the window", .unit = "s"),
    SF_FIELD_IS(TIME, "to_s", window.stop_ns, "its end, excluded", .unit = "s"),
    SF_MEMBER_IS(FLAG, partial, "the data end before the window does"),
    SF_MEMBER_IS(TEXT, id, "of the episode"),
    SF_MEMBER_IS(TEXT, episode, "the episode, as people write it"),
    SF_MEMBER_IS(COUNT, count, "occurrences in the window, as if it were all there is", .null = UNRECORDED),
    SF_MEMBER_IS(REAL, rate_hz, "occurrences a second of what was recorded", .unit = "Hz",
                 .null = UNRECORDED),
    SF_FIELD_IS(TIME, "recorded_s", recorded_ns, "what of the window was recorded", .unit = "s"),
};
#undef ROW

static const sf_table windows_table = {.name = "count_windows",
                                       .row = "count_window",
                                       .about = "counts of `count --window`, of each episode in each window",
                                       SF_TABLE_OF(window_rows)};

static void print_windows_csv(sf_text *text, const app_counting *c)
{
    const sf_episodes_columns *told = &c->details.told;
    app_csv csv = app_csv_start_table(text, &windows_table);
    for (size_t place = 0; place < told->window_count * told->count; place++) {
        size_t i = place / told->count, k = place % told->count;
        sf_text spelt = app_episode_text(c->recording, &told->episodes[k]);
        window_row row = {.window = told->windows[i],
                          .partial = is_partial(told, i),
                          .episode = spelt.data,
                          .count = window_count(told, i, k),
                          .rate_hz = window_rate(told, i, k),
                          .recorded_ns = told->window_recorded_ns[i]};
        sf_recording_episode_id(c->recording, &told->episodes[k], row.id);
        app_csv_struct(&csv, &windows_table, &row);
        text->failed = text->failed || spelt.failed;
        sf_text_free(&spelt);
    }
}

/* A bin of the correlogram of two units. */
typedef struct bin_row {
    uint32_t from, to;
    const char *from_name, *to_name;
    int64_t above_ns, to_ns;
    uint64_t pairs;
    double expected;
} bin_row;

#define ROW bin_row
static const sf_column_row bin_rows[] = {
    SF_MEMBER_IS(UNIT, from, "the unit that delays are counted from"),
    SF_MEMBER_IS(TEXT, from_name, "its name"),
    SF_MEMBER_IS(UNIT, to, "the unit that they are counted to"),
    SF_MEMBER_IS(TEXT, to_name, "its name"),
    SF_FIELD_IS(TIME, "above_ms", above_ns, "delays of the bin are above this", .unit = "ms"),
    SF_FIELD_IS(TIME, "to_ms", to_ns, "and at most this", .unit = "ms"),
    SF_MEMBER_IS(COUNT, pairs, "pairs of spikes with such a delay"),
    SF_MEMBER_IS(REAL, expected, "what independent units at constant rates give",
                 .null = "nothing was recorded"),
};
#undef ROW

static const sf_table bins_table = {.name = "correlogram_bins",
                                    .row = "correlogram_bin",
                                    .about = "bins of the correlograms of `count --correlogram`",
                                    SF_TABLE_OF(bin_rows)};

static void print_correlograms_csv(sf_text *text, const app_counting *c)
{
    const sf_episodes_columns *told = &c->details.told;
    app_csv csv = app_csv_start_table(text, &bins_table);
    for (size_t i = 0; i < told->correlogram_count; i++) {
        const sf_correlogram *of = &told->correlograms[i];
        bin_row row = {.from = of->from,
                       .to = of->to,
                       .from_name = app_unit_name(c->recording, of->from),
                       .to_name = app_unit_name(c->recording, of->to),
                       .to_ns = -(int64_t)of->half * of->bin_ns};
        for (uint32_t k = 0; k < 2 * of->half; k++) {
            row.above_ns = row.to_ns;
            row.to_ns += of->bin_ns;
            row.pairs = of->counts[k];
            row.expected = of->expected[k];
            app_csv_struct(&csv, &bins_table, &row);
        }
    }
}

static void print_csv(sf_text *text, const app_counting *c)
{
    if (app_has(c->call, "window"))
        print_windows_csv(text, c);
    else if (app_has(c->call, "correlogram"))
        print_correlograms_csv(text, c);
    else
        print_counts_csv(text, c);
}

static int place_correlograms(app_counting *c, sf_error *error)
{
    const sf_episodes_columns *told = &c->details.told;
    if (told->correlograms == NULL) return SF_OK;
    c->correlograms = sf_resize(NULL, told->count, sizeof *c->correlograms);
    if (c->correlograms == NULL) return sf_fail_memory(error);
    for (size_t i = 0, first = 0; i < told->count; first += told->episodes[i++].size - 1)
        c->correlograms[i] = first;
    return SF_OK;
}

static int count(app_counting *c, sf_error *error)
{
    c->registered = app_value(c->call, "registered", NULL);
    sf_progress progress = app_progress(c->call);
    sf_episode *episodes;
    size_t episode_count;
    int status = app_epochs_open(&c->details.epochs, c->call, c->recording, 0, error);
    if (status == SF_OK && c->registered != NULL)
        status =
            app_registered_read(&episodes, &episode_count, c->sha256, c->registered, c->recording, error);
    else if (status == SF_OK)
        status = app_episodes_read(&episodes, &episode_count, app_value(c->call, "episodes", ""),
                                   c->recording, error);
    if (status != SF_OK) return status;
    c->options.registered = c->registered != NULL ? c->sha256 : NULL;
    app_episodes_warn(c->call, episodes, episode_count);
    c->options.spans = c->details.epochs.spans;
    c->options.span_count = c->details.epochs.count;
    status = sf_count(&c->counted, c->recording, episodes, episode_count, &c->options, &progress, error);
    sf_free(episodes);
    if (c->counted == NULL) return app_name_option(c->call, status, error);
    int taken = app_details_take(&c->details, c->call, c->counted, error);
    c->stopped = app_stopped_name(&c->details.told);
    if (taken == SF_OK) taken = place_correlograms(c, error);
    return taken == SF_OK ? status : taken;
}

int app_registered_count(app_counting *c, const app_call *call, const sf_recording *recording,
                         const app_test *test, sf_error *error)
{
    *c = (app_counting){.call = call, .recording = recording, .details.recording = recording, .test = *test};
    if (!app_has(call, "registered")) return SF_OK;
    c->options = sf_counting_options_default();
    c->options.details = true;
    c->options.threads = test->options.threads;
    c->options.device = test->options.device;
    c->options.significance = &c->test.options;
    return count(c, error);
}

void app_registered_free(app_counting *c)
{
    app_epochs_free(&c->details.epochs);
    sf_episodes_free(c->counted);
    sf_free(c->correlograms);
    *c = (app_counting){0};
}

static int answer(app_counting *c, sf_error *error)
{
    int status = parse(c, error);
    if (status == SF_OK) status = count(c, error);
    int counted = status;
    if (c->counted == NULL || (counted != SF_OK && counted != SF_CANCELLED)) return status;
    status = SF_OK;
    app_device_warn(c->call, "counted", c->details.told.ran.device, c->details.told.ran.note);
    app_significance_warn(c->call, &c->details.told);
    app_not_tested_warn(c->call, c->details.told.significance);
    if (counted == SF_OK && app_has(c->call, "plot"))
        status = app_count_plot(app_value(c->call, "plot", ""), c, error);
    if (status == SF_OK && counted == SF_OK)
        status = app_nwb_episodes(c->call, c->recording, c->counted, &c->details.told, error);
    else if (app_has(c->call, "nwb"))
        app_warn(c->call, "%s is not written: stopped before", app_value(c->call, "nwb", ""));
    if (status != SF_OK) return status;
    sf_text text = {0};
    if (c->call->json)
        app_document_json(&text, c->call, &document, c);
    else if (app_has(c->call, "csv"))
        print_csv(&text, c);
    else
        print_tables(&text, c);
    status = app_print(&text, error);
    return status == SF_OK ? app_stopped_report(counted, &c->details.told, error) : status;
}

static int run(app_call *call, sf_error *error)
{
    if (app_has(call, "episodes") == app_has(call, "registered"))
        return app_has(call, "episodes")
                   ? sf_fail(error, SF_USAGE, "--registered", "goes in place of --episodes")
                   : sf_fail(error, SF_USAGE, "--episodes", "is needed: a file of episodes to count");
    if (app_has(call, "csv") && app_has(call, "window") && app_has(call, "correlogram"))
        return sf_fail(error, SF_USAGE, "--csv", "prints one table: of --window or of --correlogram");
    sf_recording *recording;
    app_catch_signals();
    int status = app_nwb_check(call, error);
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    app_counting c = {.call = call, .recording = recording, .details.recording = recording, .is_whole = true};
    status = answer(&c, error);
    if (status != SF_OK && status != SF_USAGE && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", app_recording_path(recording));
    app_registered_free(&c);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_count = {
    .name = "count",
    .group = "find",
    .summary = "exact counts of given episodes, in all and in windows",
    .arguments = "REC... --episodes FILE",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "echo 'A -(4,6]-> B -(4,6]-> C' >chains.txt\n"
               "  synfire count demo.h5 --episodes chains.txt --window 20 --hop 10",
    .notes =
        "Windows start at --from, or at the first spike, and every hop from there. Each holds the "
        "spikes with "
        "from <= time < to, and its counts are those of that part of the recording alone. After the "
        "full ones "
        "comes one marked `partial`, which ends where the recording does.\n"
        "bursts are those of the network that an occurrence begins in, reverse is the count of B -> A. "
        "With "
        "--epochs every epoch is counted alone too. Correlograms hold all pairs of spikes, counted or not.\n"
        "With --significance the given episodes are tested, and q corrects for these alone: they have to be "
        "chosen before the recording was looked at. `needed` is the least count that would have had a q "
        "below "
        "0.05.",
    .options = {options, app_significance_options, app_surrogate_options, app_engine_options,
                app_selection_options},
    .rows = {&sf_counting_table, &sf_significance_table},
    .tables = {&windows_table, &bins_table},
    .documents = {&document},
    .run = run,
};
