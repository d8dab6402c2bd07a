/* SPDX-License-Identifier: Apache-2.0 */
/* bench episodes: mining data sets by every engine on the CPU and on every device, in one run, and the parts
 * of counts.c. All rows of a data set must find the same episodes with the same counts. */
#include "app/mining.h"
#include "bench/command/bench.h"
#include "bench/command/counts.h"
#include "core/reals.h"
#include "mine/mine.h"

#include "core/backend/crew.h"
#include "core/backend/find.h"
#include "core/backend/stream.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/thread.h"
#include "mine/engine.h"
#include "replay/recording_file.h"
#include "replay/simulation.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

/* A data set: a file, or what is simulated where there is none. */
typedef struct data_set {
    const char *name;
    const char *file; /* below the data folder; NULL: always simulated */
    uint32_t unit_count;
    double rate_hz, seconds;
    uint32_t chains, chain_size; /* planted, of units that no other chain has */
    double chain_rate_hz;
    sf_delay delay;
    double threshold;
    uint32_t max_size;
    bool large; /* unless asked for by name, only where there is a device */
} data_set;

#define MS SF_MILLISECOND
#define STREAM "episodes/sim-64-size20.csv"

static const data_set data_sets[] = {
    {"sym26", NULL, 26, 20, 60, 3, 8, 2, {4 * MS, 6 * MS}, 60, SF_EPISODE_MAX_SIZE, false},
    {"sim-64", STREAM, 64, 46, 20, 8, 8, 5, {4 * MS, 6 * MS}, 65.428, SF_EPISODE_MAX_SIZE, false},
    {"sim-64-high", STREAM, 64, 46, 20, 8, 8, 5, {4 * MS, 6 * MS}, 261.712, SF_EPISODE_MAX_SIZE, false},
    {"retina",
     "recordings/Stafford2009_WT_37C_Dorsal_2008-10-11-0.h5",
     0,
     0,
     0,
     0,
     0,
     0,
     {0, 20 * MS},
     150,
     4,
     false},
    {"array-60", NULL, 4096, 10, 60, 10, 4, 1.3 * 64 / 60, {0, 5 * MS}, 64, 4, false},
    {"array-600", NULL, 4096, 10, 600, 10, 4, 1.3 * 400 / 600, {0, 5 * MS}, 400, 4, true},
    {"array-3600", NULL, 4096, 10, 3600, 10, 4, 1.3 * 2000 / 3600, {0, 5 * MS}, 2000, 4, true},
};

#define DATA_SETS (sizeof data_sets / sizeof data_sets[0])
#define MOST_CHAINS 10
#define MOST_RUNS 11
#define LONG 1.0 /* seconds: once runs took longer, there is no further one */

typedef struct benchmark {
    const app_call *call;
    app_bench_rows *rows;
    unsigned threads;
    const data_set *set;
    sf_recording recording;
    sf_truth truth;
    double first_seconds; /* of the first row of the data set; 0 until there is one */
    uint64_t fingerprint; /* likewise */
    double candidates;    /* likewise */
} benchmark;

/* ---- data sets ---- */

/* Planted chains occur often enough to meet the threshold by themselves. */
static int simulate(benchmark *b, sf_error *error)
{
    const data_set *set = b->set;
    sf_simulation_chain chains[MOST_CHAINS];
    uint32_t apart = set->unit_count / (set->chains * set->chain_size);
    for (uint32_t c = 0; c < set->chains; c++) {
        chains[c] =
            (sf_simulation_chain){.episode = {.size = set->chain_size}, .rate_hz = set->chain_rate_hz};
        for (uint32_t n = 0; n < set->chain_size; n++)
            chains[c].episode.units[n] = apart * (set->chain_size * c + n);
        for (uint32_t n = 0; n + 1 < set->chain_size; n++)
            chains[c].episode.delays[n] = set->delay;
    }
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = set->unit_count;
    settings.rate_hz = set->rate_hz;
    settings.duration_ns = (int64_t)set->seconds * SF_SECOND;
    settings.chains = chains;
    settings.chain_count = set->chains;
    sf_progress progress = app_progress(b->call);
    return sf_simulate(&b->recording, &b->truth, &settings, &progress, error);
}

/* SF_OK with an empty recording: the data set is left out, and why was said. */
static int open_set(benchmark *b, sf_error *error)
{
    char path[4096];
    if (b->set->large && sf_device_count() == 0 && b->call->argument_count == 1) {
        app_warn(b->call, "%s is left out: it is for accelerators, and there is none", b->set->name);
        return SF_OK;
    }
    if (b->set->file == NULL) return simulate(b, error);
    if (app_bench_data(b->call, b->set->file, path, sizeof path)) {
        sf_progress progress = app_progress(b->call);
        return sf_recording_read(&b->recording, path, NULL, &progress, error);
    }
    bool simulated = b->set->unit_count > 0;
    app_warn(b->call, "there is no %s: %s %s", path, b->set->name,
             simulated ? "is a simulated stream of the same kind" : "is left out");
    return simulated ? simulate(b, error) : SF_OK;
}

/* ---- one row ---- */

static double host_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static bool holds(const sf_mine_result *result, const sf_episode *chain)
{
    for (size_t i = 0; i < result->count; i++) {
        sf_episode episode;
        if (result->items[i].size != chain->size) continue;
        sf_mine_result_episode(result, i, &episode);
        if (sf_episode_compare(&episode, chain) == 0) return true;
    }
    return false;
}

/* A number that two results share only if they are the same. */
static uint64_t take_fingerprint(const sf_mine_result *result)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < result->count; i++) {
        hash = (hash ^ result->items[i].node) * UINT64_C(1099511628211);
        hash = (hash ^ result->items[i].count) * UINT64_C(1099511628211);
    }
    return hash;
}

static double sum_candidates(const sf_mine_result *result)
{
    double candidates = 0;
    for (uint32_t level = 1; level < result->level_count; level++)
        candidates += (double)result->levels[level].candidates;
    return candidates;
}

/* "64 2264 3762": how many are frequent of each size. */
static void add_levels(app_bench_rows *rows, const sf_mine_result *result)
{
    sf_text levels = {0};
    for (uint32_t i = 0; i < result->level_count; i++)
        sf_text_printf(&levels, "%s%" PRIu64, i > 0 ? " " : "", result->levels[i].frequent);
    app_bench_text(rows, "frequent", levels.data != NULL ? levels.data : "");
    sf_text_free(&levels);
}

static void add_chains(app_bench_rows *rows, const benchmark *b, const sf_mine_result *result)
{
    size_t found = 0;
    for (size_t c = 0; c < b->truth.chain_count; c++)
        found += holds(result, &b->truth.chains[c]);
    char words[48] = "-";
    if (b->truth.chain_count > 0) snprintf(words, sizeof words, "%zu of %zu", found, b->truth.chain_count);
    app_bench_text(rows, "chains", words);
}

static void add_row(const benchmark *b, unsigned threads, const sf_mine_result *result, const double *seconds,
                    size_t runs)
{
    app_bench_rows *rows = b->rows;
    double spikes = (double)b->recording.spike_count, longer = 0, median = seconds[runs / 2];
    for (uint32_t i = 2; i < result->level_count; i++)
        longer += result->levels[i].seconds;
    app_bench_row(rows, result->ran.device);
    app_bench_text(rows, "job", b->set->name);
    app_bench_text(rows, "engine", result->ran.engine);
    app_bench_number(rows, "threads", threads);
    app_bench_number(rows, "seconds", median);
    app_bench_number(rows, "least_seconds", seconds[0]);
    app_bench_number(rows, "runs", (double)runs);
    app_bench_number(rows, "ratio", b->first_seconds / median);
    app_bench_number(rows, "layout_s", result->levels[0].seconds);
    app_bench_number(rows, "pairs_s", result->level_count > 1 ? result->levels[1].seconds : 0);
    app_bench_number(rows, "longer_s", longer);
    app_bench_number(rows, "spikes", spikes);
    app_bench_number(rows, "candidates", b->candidates);
    app_bench_number(rows, "events_candidates_per_s", spikes * b->candidates / median);
    app_bench_number(rows, "host_mib", host_mib());
    app_bench_number(rows, "device_mib", (double)result->ran.memory / 1048576);
    add_levels(rows, result);
    add_chains(rows, b, result);
}

/* ---- measuring ---- */

static bool go_on(void *user, const char *what, double done, double total)
{
    (void)user, (void)what, (void)done, (void)total;
    return !app_stop_requested();
}

/* The first run shows how far it is; all together show how many are done. */
static int mine(const benchmark *b, const char *engine, const char *device, unsigned threads, bool first,
                sf_mine_result **result, sf_error *error)
{
    const sf_recording *recording = &b->recording;
    sf_mining_options options;
    options = sf_mining_options_default();
    options.delays = &b->set->delay;
    options.delay_count = 1;
    options.threshold = b->set->threshold;
    options.max_size = b->set->max_size;
    options.engine = engine;
    options.device = device;
    options.threads = threads;
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_progress progress = first ? app_progress(b->call) : (sf_progress){.update = go_on};
    return sf_mine_spikes(result, &input, &options, &progress, error);
}

/* The first row sets what the others are held against. */
static int hold_against_first(benchmark *b, const sf_mine_result *result, double seconds, sf_error *error)
{
    uint64_t fingerprint = take_fingerprint(result);
    if (b->first_seconds == 0) {
        b->first_seconds = seconds;
        b->fingerprint = fingerprint;
        b->candidates = sum_candidates(result);
    }
    if (fingerprint == b->fingerprint) return SF_OK;
    return sf_fail(error, SF_INTERNAL, b->set->name,
                   "%s on %s found other episodes or counts than the first row", result->ran.engine,
                   result->ran.device);
}

/* Several runs, after one on a device that is not counted, since the first one starts it. */
static int measure(benchmark *b, const char *engine, const char *device, unsigned threads, sf_error *error)
{
    double seconds[MOST_RUNS], spent = 0;
    size_t runs = 0;
    sf_mine_result *result = NULL;
    bool warm = strcmp(device, "cpu") == 0, done_there = true, last = false;
    char what[48];
    snprintf(what, sizeof what, "%s by %s on %s", b->set->name, engine, device);
    sf_progress progress = app_progress(b->call);
    int status = SF_OK;
    while (status == SF_OK && !last) {
        sf_mine_result_free(result);
        status = mine(b, engine, device, threads, runs == 0, &result, error);
        if (status != SF_OK) return status;
        seconds[runs] = result->ran.seconds;
        spent += warm ? result->ran.seconds : 0;
        done_there = strncmp(result->ran.device, device, strlen(device)) == 0;
        last = !done_there || (warm && (runs + 1 == MOST_RUNS || spent > LONG));
        runs += warm;
        warm = true;
        if (!last && !sf_progress_update(&progress, what, (double)runs, MOST_RUNS))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped while measuring");
    }
    sf_reals_sort(seconds, runs);
    if (status == SF_OK)
        status = hold_against_first(b, result, runs > 0 ? seconds[runs / 2] : result->ran.seconds, error);
    if (status == SF_OK) app_device_warn(b->call, "mined", result->ran.device, result->ran.note);
    if (status == SF_OK && done_there) add_row(b, threads, result, seconds, runs);
    sf_mine_result_free(result);
    return status;
}

/* Whether an engine that counts every candidate by itself takes bearable time. A state machine takes about
 * 10 ns a spike, and most candidates have three nodes. */
static bool is_bearable(const benchmark *b, const sf_engine *engine, bool on_device)
{
    double spikes = (double)b->recording.spike_count / (double)b->recording.units.count;
    double seconds = b->candidates * spikes * 3 * 10e-9;
    return seconds < (on_device ? 50 : engine == &sf_engine_reference ? 10 : 3);
}

static int measure_cpu(benchmark *b, sf_error *error)
{
    int status = measure(b, "interval", "cpu", 1, error);
    if (status == SF_OK && b->threads > 1) status = measure(b, "interval", "cpu", b->threads, error);
    for (size_t e = 0; sf_engines[e] != NULL && status == SF_OK; e++)
        if (sf_engines[e]->mine == NULL && is_bearable(b, sf_engines[e], false))
            status = measure(b, sf_engines[e]->name, "cpu", sf_engines[e]->threaded ? b->threads : 1, error);
    return status;
}

static int measure_device(benchmark *b, sf_device *device, sf_error *error)
{
    const char *name = sf_device_name(device);
    int status = measure(b, "interval", name, b->threads, error);
    for (size_t e = 0; sf_engines[e] != NULL && status == SF_OK; e++)
        if (sf_engines[e]->mine == NULL && is_bearable(b, sf_engines[e], true) &&
            sf_device_supports(device, SF_OPERATION_COUNT, sf_engines[e]->name))
            status = measure(b, sf_engines[e]->name, name, b->threads, error);
    return status;
}

/* The job divided among `from`, twice as many and so on, and all devices, whether or not that is worth it. */
static int measure_all_devices(benchmark *b, uint32_t from, sf_error *error)
{
    uint32_t count = sf_device_count();
    char name[32];
    snprintf(name, sizeof name, "%.16s%s", sf_device_backend(sf_device_at(0))->name, SF_ALL_DEVICES);
    int status = SF_OK;
    for (uint32_t n = from; n <= count && status == SF_OK; n = n < count && 2 * n > count ? count : 2 * n) {
        sf_devices_set_worth(0, n);
        status = measure(b, "interval", n > 1 ? name : sf_device_name(sf_device_at(0)), b->threads, error);
    }
    if (status == SF_OK && count > 1 && is_bearable(b, &sf_engine_ptpe, true) &&
        sf_device_supports(sf_device_at(0), SF_OPERATION_COUNT, sf_engine_ptpe.name))
        status = measure(b, "ptpe", name, b->threads, error);
    sf_devices_set_worth(SF_DEVICE_SECONDS, SF_MOST_DEVICES);
    return status;
}

static int measure_everywhere(benchmark *b, sf_error *error)
{
    int status = measure_cpu(b, error);
    for (uint32_t d = 0; d < sf_device_count() && status == SF_OK; d++)
        if (app_bench_device(d) != NULL) status = measure_device(b, sf_device_at(d), error);
    return status == SF_OK && sf_device_count() > 1 ? measure_all_devices(b, 2, error) : status;
}

/* Where --device says. */
static int measure_there(benchmark *b, const char *name, sf_error *error)
{
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t count;
    int status = sf_devices_find(devices, SF_MOST_DEVICES, &count, name, error);
    if (status != SF_OK) {
        snprintf(error->place, sizeof error->place, "--device");
        return status;
    }
    if (count == 0) return measure_cpu(b, error);
    bool all = strstr(name, SF_ALL_DEVICES) != NULL;
    return all ? measure_all_devices(b, 1, error) : measure_device(b, devices[0], error);
}

static int measure_set(benchmark *b, sf_error *error)
{
    const char *device = app_value(b->call, "device", NULL);
    int status = open_set(b, error);
    if (status == SF_OK && b->recording.spike_count > 0)
        status = device != NULL ? measure_there(b, device, error) : measure_everywhere(b, error);
    sf_recording_clear(&b->recording);
    sf_truth_free(&b->truth);
    return status;
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    app_bench_options options;
    app_catch_signals();
    int status = app_bench_read(&options, call, error);
    if (status == SF_OK && app_has(call, "calibrate"))
        return app_bench_crossovers(call, rows, options.threads, error);
    for (size_t i = 0; i < DATA_SETS && status == SF_OK; i++) {
        benchmark b = {.call = call, .rows = rows, .threads = options.threads, .set = &data_sets[i]};
        if (app_bench_wants(call, data_sets[i].name)) status = measure_set(&b, error);
    }
    if (status == SF_OK && app_bench_wants(call, "counts"))
        status = app_bench_counts(call, rows, options.threads, error);
    return status;
}

static const char *const parts[] = {"sym26",     "sim-64",     "sim-64-high", "retina", "array-60",
                                    "array-600", "array-3600", "counts",      NULL};

static const char *const options[] = {"calibrate", "data", "device", "threads", NULL};

const app_bench app_bench_episodes = {.name = "episodes", .parts = parts, .options = options, .run = run};
