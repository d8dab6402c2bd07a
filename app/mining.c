/* SPDX-License-Identifier: Apache-2.0 */
#include "app/mining.h"

#include "app/preset.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/memory.h"
#include "mine/engine.h"

#include <inttypes.h>
#include <string.h>
#include <synfire/device.h>

const app_option app_mining_options[] = {
    {"delay", "LO:HI[,LO:HI...]", "delays between neighbours in ms, above LO and at most HI (default 0.5:5)"},
    {"min-count", "X", "frequent is a count of X or more (default 0.1 % of the spikes, at least 20)"},
    {"min-rate", "HZ", "the same as a count per second of recorded time"},
    {"min-fraction", "F", "the same as a fraction of all spikes"},
    {"self", NULL, "a unit may follow itself directly: A -> A (A -> B -> A is always allowed)"},
    {"min-distance", "UM", "units closer than this on the array do not follow each other (default 0: any)"},
    {"threads", "N", "threads (default: all cores)"},
    {NULL, NULL, NULL},
};

const app_option app_engine_options[] = {
    {"engine", "NAME",
     "how to count: auto (default), interval, ptpe, mtpe, hybrid, two-pass, reference; the counts are the "
     "same"},
    {"device", "NAME",
     "where: cpu, cuda, cuda:1 (the second GPU), cuda:all (divided among all GPUs) or auto (default: a GPU "
     "for "
     "large jobs)"},
    {NULL, NULL, NULL},
};

/* ---- options ---- */

int app_engine(const char **engine, const char **device, const app_call *call, sf_error *error)
{
    const sf_engine *found;
    *engine = app_value(call, "engine", NULL);
    *device = app_value(call, "device", NULL);
    if (sf_engine_find(&found, *engine, error) != SF_OK) {
        snprintf(error->place, sizeof error->place, "--engine");
        return SF_USAGE;
    }
    int status = sf_device_check(*device, true, error);
    if (status != SF_OK)
        snprintf(error->place, sizeof error->place, "--device");
    return status;
}

int app_device(const char **device, const app_call *call, sf_error *error)
{
    *device = app_value(call, "device", "auto");
    int status = sf_device_check(*device, false, error);
    if (status != SF_OK)
        snprintf(error->place, sizeof error->place, "--device");
    return status;
}

void app_device_warn(const app_call *call, const char *job, const char *device, const char *note)
{
    if (note[0] != '\0')
        app_warn(call, "%s on %s: %s", job, strcmp(device, "cpu") == 0 ? "the CPU" : device, note);
}

void app_device_json(sf_json *json, const char *note)
{
    sf_json_string(json, "device_note", note[0] != '\0' ? note : NULL);
}

static int parse_delays(app_mining *mining, const app_call *call, sf_error *error)
{
    const app_preset *preset;
    int status = app_preset_get(call, &preset, error);
    if (status != SF_OK)
        return status;
    const char *text = app_value(call, "delay", preset != NULL ? preset->delays : "0.5:5");
    mining->options.delays = mining->delays;
    status = sf_delays_parse(mining->delays, APP_MOST_DELAYS, &mining->options.delay_count, text, error);
    if (status != SF_OK)
        snprintf(error->place, sizeof error->place, "--delay");
    return status;
}

static int parse_threshold(sf_mine_options *options, const app_call *call, uint64_t spikes, sf_error *error)
{
    static const char *const names[] = {"min-count", "min-rate", "min-fraction"}; /* as sf_threshold_kind */
    double share = (double)spikes / 1000;
    options->threshold = share > 20 ? share : 20;
    int given = -1;
    for (int kind = 0; kind < 3; kind++) {
        if (!app_has(call, names[kind]))
            continue;
        char place[32];
        snprintf(place, sizeof place, "--%s", names[kind]);
        if (given >= 0)
            return sf_fail(error, SF_USAGE, place, "does not go with --%s: give one threshold", names[given]);
        given = kind;
        options->threshold_kind = (sf_threshold_kind)kind;
        int status = app_real(call, names[kind], 0, 1e300, &options->threshold, error);
        if (status == SF_OK && options->threshold == 0)
            status = sf_fail(error, SF_USAGE, place, "found '%s', expected more than 0",
                             app_value(call, names[kind], ""));
        if (status != SF_OK)
            return status;
    }
    return SF_OK;
}

int app_mining_parse(app_mining *mining, const app_call *call, const sf_recording *recording, sf_error *error)
{
    sf_mine_options *options = &mining->options;
    sf_mine_options_default(options);
    uint64_t threads = 0;
    int status = SF_OK;
    if (app_takes(call, app_engine_options)) /* else the command has an engine of its own */
        status = app_engine(&options->engine, &options->device, call, error);
    if (status == SF_OK)
        status = parse_delays(mining, call, error);
    if (status == SF_OK)
        status = parse_threshold(options, call, recording->spike_count, error);
    if (status == SF_OK)
        status = app_uint(call, "threads", 1, 4096, &threads, error);
    if (status == SF_OK)
        status = app_real(call, "min-distance", 0, 1e9, &options->min_distance_um, error);
    if (status == SF_OK && options->min_distance_um > 0 && !sf_units_have_geometry(&recording->units))
        status =
            sf_fail(error, SF_USAGE, "--min-distance", "%s holds no positions of its units", recording->path);
    call->provenance->min_distance_um = options->min_distance_um;
    options->threads = (unsigned)threads;
    options->self = app_has(call, "self");
    return status;
}

/* The smallest step between few spikes need not be a tick of the clock: one that comes again is. */
static bool comes_again(const sf_recording *recording, int64_t step_ns)
{
    size_t times = 0;
    for (size_t i = 1; i < recording->spike_count && times < 2; i++)
        times += recording->spikes[i].time_ns - recording->spikes[i - 1].time_ns == step_ns;
    return times >= 2;
}

static void warn_of_delays(const app_mining *mining, const app_call *call, const sf_recording *recording)
{
    int64_t tick = sf_spikes_tick(recording->spikes, recording->spike_count);
    if (tick == 0 || !comes_again(recording, tick))
        return;
    for (size_t i = 0; i < mining->options.delay_count; i++) {
        sf_delay delay = mining->delays[i];
        if (delay.high_ns - delay.low_ns < 2 * tick)
            app_warn(call,
                     "the delay (%.9g,%.9g] ms is narrower than two clock ticks of %.9g ms: counts will "
                     "depend on where the ticks fall",
                     (double)delay.low_ns * 1e-6, (double)delay.high_ns * 1e-6, (double)tick * 1e-6);
    }
}

int app_mining_run(sf_mine_result **result, const app_mining *mining, const app_call *call,
                   const sf_recording *recording, sf_error *error)
{
    warn_of_delays(mining, call, recording);
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_progress progress = app_progress(call);
    app_catch_signals();
    int status = sf_mine_spikes(result, &input, &mining->options, &progress, error);
    if (status == SF_OK)
        app_device_warn(call, "mined", (*result)->ran.device, (*result)->ran.note);
    if (status != SF_OK && status != SF_USAGE && error->place[0] == '\0')
        snprintf(error->place, sizeof error->place, "%s", recording->path);
    return status;
}

void app_mining_yaml(sf_text *yaml, const app_mining *mining, double threshold)
{
    const sf_mine_options *options = &mining->options;
    sf_text_printf(yaml, "mine:\n  delays_ms: [");
    for (size_t i = 0; i < options->delay_count; i++) {
        sf_text_printf(yaml, i > 0 ? ", [" : "[");
        sf_text_scaled(yaml, options->delays[i].low_ns, 6);
        sf_text_printf(yaml, ", ");
        sf_text_scaled(yaml, options->delays[i].high_ns, 6);
        sf_text_printf(yaml, "]");
    }
    sf_text_printf(yaml, "]\n  min_count: %.17g\n  max_size: %" PRIu32 "\n  self: %s\n  closed: %s\n",
                   threshold, options->max_size, options->self ? "true" : "false",
                   options->closed ? "true" : "false");
    sf_text_printf(yaml, "  min_distance_um: %.17g\n", options->min_distance_um);
}

void app_delays_print(sf_text *text, const app_mining *mining)
{
    for (size_t i = 0; i < mining->options.delay_count; i++) {
        sf_text_printf(text, i > 0 ? " (" : "(");
        sf_text_scaled(text, mining->delays[i].low_ns, 6);
        sf_text_printf(text, ",");
        sf_text_scaled(text, mining->delays[i].high_ns, 6);
        sf_text_printf(text, "]");
    }
}

/* ---- episodes in and out ---- */

void app_episode_json(sf_json *json, const sf_episode *episode, const sf_units *units)
{
    char id[SF_EPISODE_ID_SIZE];
    sf_episode_id(id, episode, units);
    sf_json_string(json, "id", id);
    sf_json_array(json, "units");
    for (uint32_t i = 0; i < episode->size; i++)
        sf_json_uint(json, NULL, episode->units[i]);
    sf_json_end_array(json);
    sf_json_array(json, "names");
    for (uint32_t i = 0; i < episode->size; i++)
        sf_json_string(json, NULL, units->items[episode->units[i]].name);
    sf_json_end_array(json);
    sf_json_array(json, "delays_ms");
    for (uint32_t i = 0; i + 1 < episode->size; i++) {
        sf_json_array(json, NULL);
        sf_json_milliseconds(json, NULL, episode->delays[i].low_ns);
        sf_json_milliseconds(json, NULL, episode->delays[i].high_ns);
        sf_json_end_array(json);
    }
    sf_json_end_array(json);
}

void app_csv_quote(sf_text *text, const char *field)
{
    sf_text_append(text, "\"", 1);
    for (; *field != '\0'; field++)
        sf_text_printf(text, *field == '"' ? "\"\"" : "%c", *field);
    sf_text_append(text, "\"", 1);
}

sf_text app_episode_text(const sf_episode *episode, const sf_units *units)
{
    sf_text text = {0};
    sf_episode_print(&text, episode, units);
    if (text.failed)
        sf_text_free(&text);
    return text;
}
