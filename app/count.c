/* SPDX-License-Identifier: Apache-2.0 */
#include "app/counting.h"
#include "app/load.h"
#include "app/mining.h"

#include "core/clock.h"
#include "core/episode.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const app_option options[] = {
    {"episodes", "FILE",
     "the episodes to count, one a line: A -(0,5]-> B, or JSON {\"units\":[0,1],\"delays_ms\":[[0,5]]}"},
    {"window", "S", "count in windows of this length too, each as if it were all there is"},
    {"hop", "S", "from the start of one window to the start of the next (default: the window)"},
    {"correlogram", NULL, "the cross-correlogram of the two units of every link, in bins of 1 ms"},
    {"plot", "FILE",
     "draws as SVG: cross-correlograms with --correlogram, counts of windows with --window, else the delays "
     "of every "
     "link"},
    {NULL, NULL, NULL},
};

#define MOST_WINDOWS 10000000

static void free_answer(app_counting *c)
{
    app_details_free(&c->details);
    sf_counter_close(c->counter);
    sf_free(c->episodes);
    sf_free(c->counts);
    sf_free(c->expected);
    sf_free(c->windows);
    sf_free(c->window_counts);
    for (size_t i = 0; i < c->correlogram_count; i++)
        sf_correlogram_free(&c->correlograms[i]);
    sf_free(c->correlograms);
}

/* ---- windows ---- */

static int add_window(app_counting *c, int64_t start_ns, int64_t stop_ns, bool partial, sf_error *error)
{
    if (c->window_count == MOST_WINDOWS)
        return sf_fail(error, SF_USAGE, "--hop", "makes more than %d windows", MOST_WINDOWS);
    void *windows = c->windows;
    if (sf_reserve(&windows, &c->window_capacity, c->window_count + 1, sizeof *c->windows) != 0)
        return sf_fail_memory(error);
    c->windows = windows;
    c->windows[c->window_count++] = (app_window){{start_ns, stop_ns}, partial};
    return SF_OK;
}

/* Full windows from --from or the first spike on; then, where spikes may follow the last, one that is cut. */
static int list_windows(app_counting *c, int64_t length_ns, int64_t hop_ns, sf_error *error)
{
    const sf_recording *recording = c->recording;
    if (recording->spike_count == 0 && (c->asked.start_ns == INT64_MIN || c->asked.stop_ns == INT64_MAX))
        return SF_OK;
    int64_t start = c->asked.start_ns, stop = c->asked.stop_ns;
    if (start == INT64_MIN)
        start = recording->spikes[0].time_ns;
    if (stop == INT64_MAX)
        stop = sf_time_plus(recording->spikes[recording->spike_count - 1].time_ns, 1);
    int64_t covered = start;
    int status = SF_OK;
    for (; status == SF_OK && sf_time_plus(start, length_ns) <= stop; start = sf_time_plus(start, hop_ns)) {
        covered = sf_time_plus(start, length_ns);
        status = add_window(c, start, covered, false, error);
    }
    if (status == SF_OK && start < stop && covered < stop)
        status = add_window(c, start, stop, true, error);
    return status;
}

static int parse_windows(app_counting *c, sf_error *error)
{
    const app_call *call = c->call;
    int64_t window_ns = 0, hop_ns = 0;
    if (!app_has(call, "window")) {
        if (app_has(call, "hop"))
            return sf_fail(error, SF_USAGE, "--hop", "is for windows: give --window too");
        return SF_OK;
    }
    int status = app_scaled(call, "window", 9, &window_ns, error);
    hop_ns = window_ns;
    if (status == SF_OK)
        status = app_scaled(call, "hop", 9, &hop_ns, error);
    if (status != SF_OK)
        return status;
    if (window_ns <= 0)
        return sf_fail(error, SF_USAGE, "--window", "found '%s', expected more than 0 s",
                       app_value(call, "window", ""));
    if (hop_ns <= 0)
        return sf_fail(error, SF_USAGE, "--hop", "found '%s', expected more than 0 s",
                       app_value(call, "hop", ""));
    return list_windows(c, window_ns, hop_ns, error);
}

/* ---- counting ---- */

static int count_windows(app_counting *c, sf_error *error)
{
    c->window_counts = sf_resize(NULL, c->window_count * c->episode_count, sizeof *c->window_counts);
    if (c->window_counts == NULL)
        return sf_fail_memory(error);
    sf_progress progress = app_progress(c->call);
    for (size_t i = 0; i < c->window_count; i++) {
        int status =
            sf_counter_count(c->counter, &c->windows[i].span, c->window_counts + i * c->episode_count, error);
        if (status != SF_OK)
            return status;
        if (!sf_progress_update(&progress, "counting windows", (double)i + 1, (double)c->window_count))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped while counting windows");
    }
    return SF_OK;
}

static int expect(app_counting *c, sf_error *error)
{
    const sf_recording *recording = c->recording;
    uint64_t *spikes = sf_alloc(recording->units.count, sizeof *spikes);
    if (spikes == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++)
        spikes[recording->spikes[i].unit]++;
    for (size_t i = 0; i < c->episode_count; i++)
        c->expected[i] = sf_expected_episode(&c->episodes[i], spikes, sf_recording_duration_ns(recording));
    sf_free(spikes);
    return SF_OK;
}

static int count(app_counting *c, sf_error *error)
{
    c->counts = sf_resize(NULL, c->episode_count, sizeof *c->counts);
    c->expected = sf_resize(NULL, c->episode_count, sizeof *c->expected);
    if (c->counts == NULL || c->expected == NULL)
        return sf_fail_memory(error);
    int status =
        sf_counter_open(&c->counter, c->recording->spikes, c->recording->spike_count,
                        c->recording->units.count, c->episodes, c->episode_count, c->engine, 0, error);
    if (status == SF_OK)
        status = sf_counter_use(c->counter, c->device, error);
    if (status == SF_OK)
        status = sf_counter_count(c->counter, NULL, c->counts, error);
    if (status == SF_OK)
        status = count_windows(c, error);
    if (status != SF_OK)
        return status;
    const char *note, *device = sf_counter_device(c->counter, &note);
    app_device_warn(c->call, "counted", device, note);
    return expect(c, error);
}

/* Reaches as far as the longest delay of the link twice over, and 50 ms at least; at most 200 bins a side. */
static int correlate_link(app_counting *c, uint32_t from, uint32_t to, sf_delay delay, sf_error *error)
{
    int64_t reach = 2 * delay.high_ns > 50 * SF_MILLISECOND ? 2 * delay.high_ns : 50 * SF_MILLISECOND;
    int64_t bin = (reach + 200 * SF_MILLISECOND - 1) / (200 * SF_MILLISECOND) * SF_MILLISECOND;
    const sf_recording *recording = c->recording;
    bool whole = recording->observed_count == 0;
    int status = sf_correlogram_make(
        &c->correlograms[c->correlogram_count], recording->spikes, recording->spike_count, from, to, bin,
        (uint32_t)((reach + bin - 1) / bin), whole ? &recording->recorded : recording->observed,
        whole ? 1 : recording->observed_count, error);
    c->correlogram_count += status == SF_OK;
    return status;
}

static int correlate(app_counting *c, sf_error *error)
{
    size_t links = 0;
    for (size_t i = 0; i < c->episode_count; i++)
        links += c->episodes[i].size - 1;
    c->correlograms = sf_alloc(links, sizeof *c->correlograms);
    if (c->correlograms == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < c->episode_count; i++) {
        const sf_episode *episode = &c->episodes[i];
        for (uint32_t link = 0; link + 1 < episode->size; link++) {
            int status = correlate_link(c, episode->units[link], episode->units[link + 1],
                                        episode->delays[link], error);
            if (status != SF_OK)
                return status;
        }
    }
    return SF_OK;
}

/* ---- output ---- */

static void add_correlogram(sf_json *json, const sf_correlogram *correlogram)
{
    sf_json_object(json, NULL);
    sf_json_array(json, "units");
    sf_json_uint(json, NULL, correlogram->from);
    sf_json_uint(json, NULL, correlogram->to);
    sf_json_end_array(json);
    sf_json_milliseconds(json, "bin_ms", correlogram->bin_ns);
    sf_json_milliseconds(json, "from_ms", -(int64_t)correlogram->half * correlogram->bin_ns);
    sf_json_real(json, "expected", correlogram->mean);
    sf_json_array(json, "counts");
    for (uint32_t k = 0; k < 2 * correlogram->half; k++)
        sf_json_uint(json, NULL, correlogram->counts[k]);
    sf_json_end_array(json);
    sf_json_array(json, "expected_counts");
    for (uint32_t k = 0; k < 2 * correlogram->half; k++)
        sf_json_real(json, NULL, correlogram->expected[k]);
    sf_json_end_array(json);
    sf_json_end_object(json);
}

static void add_episodes(sf_json *json, const app_counting *c)
{
    const sf_correlogram *correlogram = c->correlograms;
    sf_json_array(json, "episodes");
    for (size_t i = 0; i < c->episode_count; i++) {
        sf_json_object(json, NULL);
        app_episode_json(json, &c->episodes[i], &c->recording->units);
        sf_json_uint(json, "count", c->counts[i]);
        sf_json_real(json, "expected", c->expected[i]);
        app_details_episode_json(json, &c->details, i);
        if (c->correlograms != NULL) {
            sf_json_array(json, "correlograms");
            for (uint32_t link = 0; link + 1 < c->episodes[i].size; link++)
                add_correlogram(json, correlogram++);
            sf_json_end_array(json);
        }
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

/* Occurrences a second of the window. */
static double window_rate(const app_counting *c, size_t i, size_t episode)
{
    double seconds = (double)(c->windows[i].span.stop_ns - c->windows[i].span.start_ns) * 1e-9;
    return (double)c->window_counts[i * c->episode_count + episode] / seconds;
}

static void add_windows(sf_json *json, const app_counting *c)
{
    sf_json_array(json, "windows");
    for (size_t i = 0; i < c->window_count; i++) {
        sf_json_object(json, NULL);
        sf_json_seconds(json, "from_s", c->windows[i].span.start_ns);
        sf_json_seconds(json, "to_s", c->windows[i].span.stop_ns);
        sf_json_array(json, "counts");
        for (size_t k = 0; k < c->episode_count; k++)
            sf_json_uint(json, NULL, c->window_counts[i * c->episode_count + k]);
        sf_json_end_array(json);
        sf_json_array(json, "rates_hz");
        for (size_t k = 0; k < c->episode_count; k++)
            sf_json_real(json, NULL, window_rate(c, i, k));
        sf_json_end_array(json);
        if (c->windows[i].partial)
            sf_json_bool(json, "partial", true);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

static void print_json(sf_text *text, const app_counting *c)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    add_episodes(&json, c);
    app_details_json(&json, &c->details);
    if (app_has(c->call, "window"))
        add_windows(&json, c);
    const char *note, *device = sf_counter_device(c->counter, &note);
    sf_json_string(&json, "engine", sf_counter_engine(c->counter));
    sf_json_string(&json, "device", device);
    app_device_json(&json, note);
    app_provenance_json(&json, c->call);
    sf_json_end_object(&json);
}

static void print_counts(sf_text *text, const app_counting *c)
{
    app_table table = {0};
    static const char *const head[] = {"no",       "episode",        "count",
                                       "expected", "count/expected", APP_DETAIL_HEADS};
    for (size_t i = 0; i < 8; i++)
        app_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < c->episode_count; i++) {
        sf_text spelt = app_episode_text(&c->episodes[i], &c->recording->units);
        app_table_cell(&table, "%zu", i + 1);
        app_table_cell(&table, "%s", spelt.data != NULL ? spelt.data : "");
        app_table_cell(&table, "%" PRIu64, c->counts[i]);
        app_table_cell(&table, isfinite(c->expected[i]) ? "%.4g" : "-", c->expected[i]);
        app_table_cell(&table, c->expected[i] > 0 ? "%.3g" : "-", (double)c->counts[i] / c->expected[i]);
        app_details_cells(&table, &c->details, i);
        sf_text_free(&spelt);
    }
    app_table_print(&table, text, 8);
}

static void print_below(sf_text *text, const app_counting *c)
{
    size_t *all = sf_resize(NULL, c->episode_count, sizeof *all);
    for (size_t i = 0; all != NULL && i < c->episode_count; i++)
        all[i] = i;
    text->failed = text->failed || all == NULL;
    if (all != NULL)
        app_details_print_below(text, &c->details, all, c->episode_count);
    sf_free(all);
}

static void print_windows(sf_text *text, const app_counting *c)
{
    app_table table = {0};
    app_table_cell(&table, "from s");
    app_table_cell(&table, "to s");
    for (size_t k = 0; k < c->episode_count; k++)
        app_table_cell(&table, "no %zu", k + 1);
    app_table_cell(&table, "note");
    for (size_t i = 0; i < c->window_count; i++) {
        app_table_cell(&table, "%.9g", (double)c->windows[i].span.start_ns * 1e-9);
        app_table_cell(&table, "%.9g", (double)c->windows[i].span.stop_ns * 1e-9);
        for (size_t k = 0; k < c->episode_count; k++)
            app_table_cell(&table, "%" PRIu64, c->window_counts[i * c->episode_count + k]);
        app_table_cell(&table, "%s", c->windows[i].partial ? "partial" : "");
    }
    app_table_print(&table, text, c->episode_count + 3);
}

#define BAR_LENGTH 50

/* As long as the count, with a stroke where the expected one is. */
static void draw_bar(char bar[BAR_LENGTH + 2], double count, double expected, double most)
{
    size_t length = (size_t)(count * BAR_LENGTH / most);
    size_t stroke = expected <= most ? (size_t)(expected * BAR_LENGTH / most) : BAR_LENGTH;
    memset(bar, ' ', BAR_LENGTH + 1);
    memset(bar, '#', length);
    if (isfinite(expected))
        bar[stroke] = '|';
    bar[(stroke >= length && isfinite(expected) ? stroke + 1 : length)] = '\0';
}

static void print_correlogram(sf_text *text, const sf_correlogram *c, const sf_units *units)
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
                   units->items[c->from].name, units->items[c->to].name, c->mean);
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

static void print_tables(sf_text *text, const app_counting *c)
{
    const char *device = sf_counter_device(c->counter, NULL);
    print_counts(text, c);
    if (strcmp(device, "cpu") != 0)
        sf_text_printf(text, "counted on %s\n", device);
    print_below(text, c);
    if (c->window_count > 0) {
        sf_text_printf(text, "\n");
        print_windows(text, c);
    }
    for (size_t i = 0; i < c->correlogram_count; i++)
        print_correlogram(text, &c->correlograms[i], &c->recording->units);
    if (text->length > 0 && !text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
}

static int answer(app_counting *c, sf_error *error)
{
    int status = app_engine(&c->engine, &c->device, c->call, error);
    if (status == SF_OK)
        status = parse_windows(c, error);
    if (status == SF_OK)
        status = app_episodes_read(&c->episodes, &c->episode_count, app_value(c->call, "episodes", ""),
                                   &c->recording->units, error);
    if (status == SF_OK)
        status = count(c, error);
    if (status == SF_OK)
        status = app_details_make(&c->details, c->call, c->recording, c->episodes, c->counts, c->expected,
                                  c->episode_count, error);
    if (status == SF_OK && app_has(c->call, "correlogram"))
        status = correlate(c, error);
    if (status == SF_OK && app_has(c->call, "plot"))
        status = app_count_plot(app_value(c->call, "plot", ""), c, error);
    if (status != SF_OK)
        return status;
    sf_text text = {0};
    if (c->call->json)
        print_json(&text, c);
    else
        print_tables(&text, c);
    return app_print(&text, error);
}

static int run(app_call *call, sf_error *error)
{
    if (!app_has(call, "episodes"))
        return sf_fail(error, SF_USAGE, "--episodes", "is needed: a file of episodes to count");
    sf_recording *recording;
    app_catch_signals();
    int status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    const sf_selected *selected = recording->selected;
    app_counting c = {.call = call,
                      .recording = recording,
                      .asked = {selected->from_given ? selected->from_ns : INT64_MIN,
                                selected->to_given ? selected->to_ns : INT64_MAX}};
    status = answer(&c, error);
    if (status != SF_OK && status != SF_USAGE && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", recording->path);
    free_answer(&c);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_count = {
    .name = "count",
    .group = "find",
    .summary = "exact counts of given episodes, in all and in windows",
    .arguments = "REC --episodes FILE",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "echo 'A -(4,6]-> B -(4,6]-> C' >chains.txt\n"
               "  synfire count demo.h5 --episodes chains.txt --window 20 --hop 10",
    .notes =
        "Windows start at --from, or at the first spike, and every hop from there. Each holds the "
        "spikes with "
        "from <= time < to, and its counts are those of that part of the recording alone. After the "
        "full ones "
        "comes one marked `partial`, which ends where the recording does.\n"
        "bursts are those of the whole array that an occurrence begins in, reverse is the count of B -> A. "
        "With "
        "--epochs every epoch is counted alone too. Correlograms hold all pairs of spikes, counted or not.",
    .options = {options, app_engine_options, app_selection_options},
    .run = run,
};
