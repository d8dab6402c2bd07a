/* SPDX-License-Identifier: Apache-2.0 */
#include "app/mining.h"

#include "app/preset.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <synfire/device.h>

const app_option app_mining_options[] = {
    {.name = "delay"},   {.name = "min-count"},    {.name = "min-rate"}, {.name = "min-fraction"},
    {.name = "repeats"}, {.name = "min-distance"}, {.name = "threads"},  {0},
};

const app_option app_engine_options[] = {{.name = "engine"}, {.name = "device"}, {0}};

/* ---- options ---- */

int app_device(const char **device, const app_call *call, sf_error *error)
{
    *device = app_value(call, "device", "auto");
    int status = sf_device_check(*device, false, error);
    if (status != SF_OK) snprintf(error->place, sizeof error->place, "--device");
    return status;
}

void app_device_warn(const app_call *call, const char *job, const char *device, const char *note)
{
    if (note[0] != '\0')
        app_warn(call, "%s on %s: %s", job, strcmp(device, "cpu") == 0 ? "the CPU" : device, note);
}

static int read_delays(void *mining, const char *text, sf_error *error)
{
    app_mining *own = mining;
    own->options.delays = own->delays;
    return sf_delays_parse(own->delays, APP_MOST_DELAYS, &own->options.delay_count, text, error);
}

#define ROW app_mining
static const sf_key rows[] = {
    FORM("delay", read_delays, .argument = "LO:HI[/PARTS][,LO:HI...]",
         .what =
             "delays between neighbours in ms, above LO and at most HI (default 0.5:5); 0.5:20/4 searches "
             "them: the interval, its halves and its quarters, of which each pair keeps the one it stands "
             "out most in"),
    REAL("min_count", least[SF_THRESHOLD_COUNT], 0, 1e300, .argument = "X",
         .zero = "a fortieth of a mean unit's spikes, more where chance alone gives chains, at least 20",
         .what = "frequent is a count of X or more"),
    REAL("min_rate_hz", least[SF_THRESHOLD_RATE], 0, 1e300, .argument = "HZ", .zero = "not asked for",
         .what = "the same as a count per second of recorded time"),
    REAL("min_fraction", least[SF_THRESHOLD_FRACTION], 0, 1e300, .argument = "F", .zero = "not asked for",
         .what = "the same as a fraction of all spikes"),
    {0},
};
#undef ROW

static const app_mining usual = {0};
const sf_key_table app_mining_table = SF_KEY_TABLE(rows, usual);

static int take_threshold(app_mining *mining, sf_error *error)
{
    static const char *const names[] = {"min-count", "min-rate", "min-fraction"}; /* as sf_threshold_kind */
    sf_mining_options *options = &mining->options;
    int given = -1;
    for (int kind = 0; kind < APP_THRESHOLDS; kind++) {
        char place[32];
        snprintf(place, sizeof place, "--%s", names[kind]);
        if (mining->least[kind] == 0) continue;
        if (given >= 0)
            return sf_fail(error, SF_USAGE, place, "does not go with --%s: give one threshold", names[given]);
        given = kind;
        options->threshold_kind = (sf_threshold_kind)kind;
        options->threshold = mining->least[kind];
    }
    return SF_OK;
}

int app_mining_parse(app_mining *mining, const app_call *call, sf_error *error)
{
    sf_mining_options *options = &mining->options;
    const app_preset *preset;
    memset(mining->least, 0, sizeof mining->least);
    *options = sf_mining_options_default();
    int status = app_preset_get(call, &preset, error);
    if (status == SF_OK && preset != NULL) status = read_delays(mining, preset->delays, error);
    if (status == SF_OK) status = app_options_read(call, &app_mining_table, mining, error);
    if (status == SF_OK && options->delays == mining->delays)
        app_delays_warn(call, mining->delays, options->delay_count);
    if (status == SF_OK) status = take_threshold(mining, error);
    if (status == SF_OK) status = app_options_read(call, &sf_mining_table, options, error);
    call->provenance->min_distance_um = options->min_distance_um;
    return status;
}

#define SHORTEST_NS 100000
#define LONGEST_NS (2 * SF_SECOND)

bool app_delays_warn(const app_call *call, const sf_delay *delays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double low = (double)delays[i].low_ns * 1e-6, high = (double)delays[i].high_ns * 1e-6;
        if (delays[i].high_ns < SHORTEST_NS) {
            app_warn(
                call,
                "delays are in ms, and (%.9g,%.9g] ms is less than a spike takes: for seconds type %.9g:%.9g",
                low, high, low * 1e3, high * 1e3);
            return true;
        }
        if (delays[i].high_ns > LONGEST_NS) {
            app_warn(call, "delays are in ms, and %.9g ms is %.9g s: for microseconds type %.9g:%.9g", high,
                     high * 1e-3, low * 1e-3, high * 1e-3);
            return true;
        }
    }
    return false;
}

void app_episodes_warn(const app_call *call, const sf_episode *episodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (app_delays_warn(call, episodes[i].delays, episodes[i].size - 1)) return;
}

void app_seconds_warn(const app_call *call, const char *option, int64_t length_ns, int64_t duration_ns)
{
    double length = (double)length_ns * 1e-9, duration = (double)duration_ns * 1e-9;
    char meant[64] = "";
    if (length < 1000 * duration)
        snprintf(meant, sizeof meant, ": %.9g ms are %.9g s", length, length * 1e-3);
    if (length > duration && duration > 0)
        app_warn(call, "--%s is in seconds, and %.9g s is longer than the %.9g s that are looked at%s",
                 option, length, duration, meant);
}

void app_milliseconds_warn(const app_call *call, const char *option, int64_t length_ns)
{
    if (length_ns > 0 && length_ns < SHORTEST_NS)
        app_warn(call, "--%s is in ms, and %.9g ms is less than a spike takes: for seconds type %.9g", option,
                 (double)length_ns * 1e-6, (double)length_ns * 1e-3);
}

void app_delay_doubt(const app_call *call, sf_delay delay, int64_t tick_ns)
{
    if (delay.high_ns - delay.low_ns < 2 * tick_ns)
        app_doubt(call,
                  "the delay (%.9g,%.9g] ms is narrower than two clock ticks of %.9g ms: counts will "
                  "depend on where the ticks fall; --delay %.9g:%.9g takes three of them",
                  (double)delay.low_ns * 1e-6, (double)delay.high_ns * 1e-6, (double)tick_ns * 1e-6,
                  (double)tick_ns * 0.5e-6, (double)tick_ns * 3.5e-6);
}

/* ---- thresholds ---- */

void app_threshold_print(sf_text *text, double threshold, const char *why)
{
    sf_text_printf(text, "a count of %.17g", ceil(threshold)); /* counts are whole */
    if (why != NULL) sf_text_printf(text, " (%s)", why);
}

/* The first threshold below, halved each time, that any pair of units reaches. */
static bool look_lower(const app_mining *mining, const sf_recording *recording, double *threshold,
                       uint64_t *most, size_t *pairs)
{
    sf_mining_options lower = mining->options;
    lower.max_size = 2;
    lower.details = lower.keep_stopped = false;
    lower.significance = NULL;
    lower.span_count = 0;
    lower.max_p = lower.max_q = 0;
    lower.order = SF_ORDER_COUNT;
    lower.top = 1;
    lower.threshold_kind = SF_THRESHOLD_COUNT;
    *pairs = 0;
    while (*pairs == 0 && *threshold >= 4) {
        sf_episodes *found;
        sf_episodes_columns told = {.size = sizeof told};
        *threshold = lower.threshold = floor(*threshold / 2);
        if (sf_mine(&found, recording, &lower, NULL, NULL) != SF_OK) return false;
        sf_episodes_get_columns(found, &told);
        *pairs = told.found;
        *most = told.found > 0 ? told.counts[0] : 0;
        sf_episodes_free(found);
    }
    return *pairs > 0;
}

void app_nothing_warn(const app_mining *mining, const app_call *call, const sf_recording *recording,
                      const sf_episodes_columns *told)
{
    double lower = told->threshold;
    uint64_t most;
    size_t pairs;
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    if (of.selected->spikes == 0) {
        app_warn(call, "%s: no spikes are left to look at", of.path);
        return;
    }
    if (told->found > 0 || told->stopped != SF_NOT_STOPPED) return;
    bool units = told->level_count > 0 && told->levels[0].frequent > 0;
    sf_text text = {0};
    sf_text_printf(&text, units ? "no pair of units reaches a count of %.17g" : "no unit has %.17g spikes",
                   ceil(told->threshold)); /* counts are whole */
    if (look_lower(mining, recording, &lower, &most, &pairs))
        sf_text_printf(&text,
                       ": the most that a pair counts is %" PRIu64
                       "; --min-count %.17g finds %zu pair%s, and a wider "
                       "--delay more",
                       most, lower, pairs, pairs == 1 ? "" : "s");
    else
        sf_text_printf(&text, ", or hardly any: try a wider --delay, such as 0.5:50");
    if (!text.failed) app_warn(call, "%s", text.data);
    sf_text_free(&text);
}

int app_mining_run(sf_episodes **episodes, const app_mining *mining, const app_call *call,
                   const sf_recording *recording, sf_error *error)
{
    sf_progress progress = app_progress(call);
    app_catch_signals();
    int status = sf_mine(episodes, recording, &mining->options, &progress, error);
    if (status != SF_OK) {
        app_name_option(call, status, error);
        if (status != SF_USAGE && status != SF_CANCELLED && error->place[0] == '\0')
            snprintf(error->place, sizeof error->place, "%s", app_recording_path(recording));
        return status;
    }
    sf_episodes_columns told = {.size = sizeof told};
    sf_episodes_get_columns(*episodes, &told);
    for (size_t i = 0; i < mining->options.delay_count; i++)
        app_delay_doubt(call, mining->options.delays[i], told.tick_ns);
    app_device_warn(call, "mined", told.ran.device, told.ran.note);
    return SF_OK;
}

/* ---- what was stopped ---- */

const char *const app_stopped_words[] = {"searching", "testing", "telling", NULL};

const char *app_stopped_name(const sf_episodes_columns *told)
{
    return told->stopped == SF_NOT_STOPPED ? NULL : app_stopped_words[told->stopped - 1]; /* as sf_stopped */
}

void app_stopped_print(sf_text *text, const sf_episodes_columns *told)
{
    uint32_t complete = 0;
    for (size_t i = 0; i < told->level_count; i++)
        complete = told->levels[i].complete ? told->levels[i].size : complete;
    if (told->stopped == SF_STOPPED_SEARCHING)
        sf_text_printf(
            text, "stopped: of more than %" PRIu32 " unit%s these are not all episodes, and none is tested",
            complete, complete == 1 ? "" : "s");
    else if (told->stopped == SF_STOPPED_TESTING)
        sf_text_printf(text, "stopped: all episodes are here, and none is tested");
    else
        sf_text_printf(text, "stopped: all counts are here, but not all that is told beside them");
}

int app_stopped_report(int status, const sf_episodes_columns *told, sf_error *error)
{
    if (status != SF_CANCELLED || told->stopped == SF_NOT_STOPPED) return status;
    sf_text text = {0};
    app_stopped_print(&text, told);
    status = text.failed ? sf_fail_memory(error) : sf_fail(error, SF_CANCELLED, NULL, "%s", text.data);
    sf_text_free(&text);
    return status;
}

int app_stop_take(app_stop *stop, int status, const char *where, const sf_error *error)
{
    if (status != SF_CANCELLED) return status;
    *stop = (app_stop){.where = where, .reason = *error};
    return SF_OK;
}

void app_stop_print(sf_text *text, const app_stop *stop, const char *before)
{
    if (stop->where != NULL) sf_text_printf(text, "%s%s\n", before, stop->reason.text);
}

bool app_stop_spares(const app_stop *stop, const app_call *call, const char *file)
{
    if (stop->where != NULL && file != NULL) app_warn(call, "%s is not written: stopped before", file);
    return stop->where != NULL;
}

int app_stop_report(const app_stop *stop, int status, sf_error *error)
{
    if (status != SF_OK || stop->where == NULL) return status;
    return sf_fail(error, SF_CANCELLED, NULL, "%s", stop->reason.text);
}

void app_mining_yaml(sf_text *yaml, const app_mining *mining, double threshold)
{
    const sf_mining_options *options = &mining->options;
    sf_text_printf(yaml, "mine:\n  delays_ms: ");
    for (size_t i = 0; i < options->delay_count; i++) {
        if (i > 0) sf_text_printf(yaml, ",");
        sf_text_scaled(yaml, options->delays[i].low_ns, 6);
        sf_text_printf(yaml, ":");
        sf_text_scaled(yaml, options->delays[i].high_ns, 6);
    }
    sf_text_printf(yaml, "\n  min_count: %.17g\n  max_size: %" PRIu32 "\n  repeats: %s\n  closed: %s\n",
                   threshold, options->max_size, options->repeats ? "true" : "false",
                   options->closed ? "true" : "false");
    sf_text_printf(yaml, "  min_distance_um: %.17g\n", options->min_distance_um);
}

/* ---- episodes in and out ---- */

const char *app_unit_name(const sf_recording *recording, uint32_t unit)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    return of.units[unit].name;
}

const char *app_recording_path(const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    return of.path;
}

int64_t app_duration_ns(const sf_recording *recording)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(recording, &of);
    return of.duration_ns;
}

sf_delay app_common_delay(const sf_episode *first, size_t stride, size_t count)
{
    sf_delay common = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const sf_episode *episode = (const sf_episode *)((const char *)first + i * stride);
        for (uint32_t link = 0; link + 1 < episode->size; link++) {
            sf_delay delay = episode->delays[link];
            if (common.high_ns == 0) common = delay;
            if (delay.low_ns != common.low_ns || delay.high_ns != common.high_ns) return (sf_delay){0, 0};
        }
    }
    return common;
}

void app_episode_head(char *text, size_t size, const char *what, sf_delay common)
{
    if (common.high_ns > 0)
        snprintf(text, size, "%s, > is (%g,%g] ms", what, (double)common.low_ns * 1e-6,
                 (double)common.high_ns * 1e-6);
    else
        snprintf(text, size, "%s (delays in ms)", what);
}

void app_episode_shorten(char *text)
{
    static const char end[] = "]-> ";
    const char *first = strstr(text, " -("), *last = first != NULL ? strstr(first, end) : NULL;
    char link[96];
    if (last == NULL || (size_t)(last - first) + sizeof end > sizeof link) return;
    size_t length = (size_t)(last - first) + strlen(end);
    memcpy(link, first, length);
    link[length] = '\0';
    for (char *at = strstr(text, link); at != NULL; at = strstr(at, link)) {
        memmove(at + 3, at + length, strlen(at + length) + 1);
        memcpy(at, " > ", 3);
        at += 3;
    }
}

void app_ratio_cell(app_table *table, double low, double high)
{
    app_table_cell(table, isfinite(low) ? "%.3g-%.3g" : "-", low, high);
}

sf_text app_episode_text(const sf_recording *recording, const sf_episode *episode)
{
    char spelt[1024];
    sf_text text = {0};
    size_t length = sf_recording_print_episode(recording, episode, spelt, sizeof spelt);
    if (length < sizeof spelt) {
        sf_text_append(&text, spelt, length);
        return text;
    }
    char *longer = sf_alloc(length + 1, 1);
    if (longer != NULL && sf_recording_print_episode(recording, episode, longer, length + 1) == length)
        sf_text_append(&text, longer, length);
    sf_free(longer);
    return text;
}

void app_csv_episode(app_csv *csv, const sf_recording *recording, const sf_episode *episode)
{
    sf_text spelt = app_episode_text(recording, episode);
    app_csv_string(csv, spelt.data);
    csv->out->failed = csv->out->failed || spelt.data == NULL;
    sf_text_free(&spelt);
}
