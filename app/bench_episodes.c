/* SPDX-License-Identifier: Apache-2.0 */
/* bench episodes: Algorithm 1 and the interval engine on the miners' own benchmark stream, and the interval
 * engine on two hours of a real retina. */
#include "app/bench.h"

#include "core/clock.h"
#include "core/memory.h"
#include "mine/mine.h"
#include "replay/recording_file.h"
#include "replay/simulation.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { REPEATS = 7 };

/* One thing to mine, and how fast its first row was. */
typedef struct task {
    const char *name;
    sf_delay delay;
    double threshold;
    uint32_t max_size;
    const sf_recording *recording;
    double first_seconds; /* 0 until there is one */
} task;

typedef struct benchmark {
    const app_call *call;
    app_bench_rows *rows;
    uint64_t threads; /* 0: one core only */
} benchmark;

/* The file below the data folder, or false where it is not there. */
static bool find_data(const app_call *call, const char *file, char *path, size_t size)
{
    const char *folder = app_value(call, "data", getenv("SYNFIRE_DATA"));
    snprintf(path, size, "%s/%s", folder != NULL ? folder : "../shared/data", file);
    return access(path, R_OK) == 0;
}

static double peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static int compare(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static int mine(const benchmark *b, const task *t, const char *engine, unsigned threads,
                sf_mine_result **result, sf_error *error)
{
    const sf_recording *recording = t->recording;
    sf_mine_options options;
    sf_mine_options_default(&options);
    options.delays = &t->delay;
    options.delay_count = 1;
    options.threshold = t->threshold;
    options.max_size = t->max_size;
    options.engine = engine;
    options.device = "cpu";
    options.threads = threads;
    sf_mine_input input = {recording->spikes, recording->spike_count, &recording->units,
                           sf_recording_duration_ns(recording)};
    sf_progress progress = app_progress(b->call);
    return sf_mine(result, &input, &options, &progress, error);
}

static void report(benchmark *b, task *t, unsigned threads, const sf_mine_result *result, double seconds)
{
    double spikes = (double)t->recording->spike_count, candidates = 0, frequent = 0;
    for (uint32_t level = 1; level < result->level_count; level++) {
        candidates += (double)result->levels[level].candidates;
        frequent += (double)result->levels[level].frequent;
    }
    if (t->first_seconds == 0)
        t->first_seconds = seconds;
    app_bench_row(b->rows, result->device);
    app_bench_text(b->rows, "job", t->name);
    app_bench_text(b->rows, "engine", result->engine);
    app_bench_number(b->rows, "threads", threads);
    app_bench_number(b->rows, "spikes", spikes);
    app_bench_number(b->rows, "candidates", candidates);
    app_bench_number(b->rows, "frequent", frequent);
    app_bench_number(b->rows, "seconds", seconds);
    app_bench_number(b->rows, "ratio", t->first_seconds / seconds);
    app_bench_number(b->rows, "events_candidates_per_s", spikes * candidates / seconds);
    app_bench_number(b->rows, "peak_mib", peak_mib());
}

/* Mines `repeats` times and reports the median. */
static int measure(benchmark *b, task *t, const char *engine, unsigned threads, int repeats, sf_error *error)
{
    double times[REPEATS];
    sf_mine_result *result = NULL;
    for (int i = 0; i < repeats; i++) {
        sf_mine_result_free(result);
        int status = mine(b, t, engine, threads, &result, error);
        if (status != SF_OK)
            return status;
        times[i] = result->seconds;
    }
    qsort(times, (size_t)repeats, sizeof *times, compare);
    report(b, t, threads, result, times[repeats / 2]);
    sf_mine_result_free(result);
    return SF_OK;
}

static int measure_interval(benchmark *b, task *t, sf_error *error)
{
    int status = measure(b, t, "interval", 1, REPEATS, error);
    if (status == SF_OK && b->threads > 1)
        status = measure(b, t, "interval", (unsigned)b->threads, REPEATS, error);
    return status;
}

/* Where the stream is not at hand: as many units and spikes, and chains of the same delays. */
static int simulate_stream(sf_recording *recording, sf_error *error)
{
    sf_simulation_chain chains[8];
    for (uint32_t c = 0; c < 8; c++) {
        chains[c] = (sf_simulation_chain){.episode = {.size = 8}, .rate_hz = 5};
        for (uint32_t i = 0; i < 8; i++) {
            chains[c].episode.units[i] = 8 * c + i;
            chains[c].episode.delays[i] = (sf_delay){4 * SF_MILLISECOND, 6 * SF_MILLISECOND};
        }
    }
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = 64;
    settings.rate_hz = 46;
    settings.duration_ns = 20 * SF_SECOND;
    settings.chains = chains;
    settings.chain_count = 8;
    return sf_simulate(recording, NULL, &settings, NULL, error);
}

static int bench_stream(benchmark *b, sf_error *error)
{
    sf_recording recording = {0};
    task t = {.name = "sim-64-size20",
              .delay = {4 * SF_MILLISECOND, 6 * SF_MILLISECOND},
              .threshold = 65.428,
              .max_size = SF_EPISODE_MAX_SIZE,
              .recording = &recording};
    char path[4096];
    int status;
    if (find_data(b->call, "episodes/sim-64-size20.csv", path, sizeof path)) {
        status = sf_recording_read(&recording, path, NULL, NULL, error);
    } else {
        app_warn(b->call, "there is no %s: a simulated stream of the same kind takes its place", path);
        t.name = "simulated";
        status = simulate_stream(&recording, error);
    }
    if (status == SF_OK)
        status = measure(b, &t, "reference", 1, 1, error);
    if (status == SF_OK)
        status = measure_interval(b, &t, error);
    sf_recording_free(&recording);
    return status;
}

static int bench_retina(benchmark *b, sf_error *error)
{
    sf_recording recording = {0};
    task t = {.name = "Stafford2009 10-11",
              .delay = {0, 20 * SF_MILLISECOND},
              .threshold = 150,
              .max_size = 4,
              .recording = &recording};
    char path[4096];
    if (!find_data(b->call, "recordings/Stafford2009_WT_37C_Dorsal_2008-10-11-0.h5", path, sizeof path)) {
        app_warn(b->call, "there is no %s: its job is left out", path);
        return SF_OK;
    }
    int status = sf_recording_read(&recording, path, NULL, NULL, error);
    if (status == SF_OK)
        status = measure_interval(b, &t, error);
    sf_recording_free(&recording);
    return status;
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    benchmark b = {.call = call, .rows = rows};
    app_catch_signals();
    int status = app_uint(call, "threads", 1, 1024, &b.threads, error);
    if (status == SF_OK)
        status = bench_stream(&b, error);
    return status == SF_OK ? bench_retina(&b, error) : status;
}

const app_bench app_bench_episodes = {.name = "episodes", .run = run};
