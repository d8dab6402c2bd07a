/* SPDX-License-Identifier: Apache-2.0 */
/* The engines of Cao et al. and this project's own side by side: M random episodes of N units are counted in
 * a stream of 64 units, M = 10 .. 100,000 and N = 2 .. 8. Every engine must count the same. */
#include "bench/command/counts.h"

#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/random.h"
#include "mine/cao/crossover.h"
#include "mine/mine.h"
#include "replay/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define UNITS 64u
#define RATE_HZ 51 /* with 20 s about the 65,428 spikes of sim-64-size20 */
#define SECONDS 20
#define LARGEST 8u
#define LEAST 262 /* episodes with fewer occurrences are culled where an engine can */
#define RUNS 4
#define MOST_SECONDS 1.0 /* an engine that would take longer is left out */

static const struct {
    const char *name, *field;
} engines[] = {{"ptpe", "ptpe_ms"},
               {"mtpe", "mtpe_ms"},
               {"hybrid", "hybrid_ms"},
               {"two-pass", "two_pass_ms"},
               {"interval", "interval_ms"}};
#define ENGINES (sizeof engines / sizeof engines[0])
enum { PTPE, MTPE, HYBRID, TWO_PASS, INTERVAL }; /* in that order */

typedef struct side_by_side {
    const app_call *call;
    app_bench_rows *rows;
    unsigned threads;
    sf_recording stream;
    sf_device *device; /* NULL: the CPU */
    uint32_t size;
    size_t count, done; /* rows done, of `total` */
    double total;
    sf_episode *episodes;
    uint64_t *counts;
    double seconds[ENGINES]; /* of the row before, then of this one; NaN: left out */
} side_by_side;

static int simulate(sf_recording *stream, sf_error *error)
{
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.unit_count = UNITS;
    settings.rate_hz = RATE_HZ;
    settings.duration_ns = SECONDS * SF_SECOND;
    return sf_simulate(stream, NULL, &settings, NULL, error);
}

static void draw_episodes(const side_by_side *s)
{
    sf_random random = sf_random_start(s->size, s->count);
    for (size_t i = 0; i < s->count; i++) {
        s->episodes[i] = (sf_episode){.size = s->size};
        for (uint32_t n = 0; n < s->size; n++)
            s->episodes[i].units[n] = (uint32_t)sf_random_below(&random, UNITS);
        for (uint32_t n = 0; n + 1 < s->size; n++)
            s->episodes[i].delays[n] = (sf_delay){4 * SF_MILLISECOND, 6 * SF_MILLISECOND};
    }
}

/* Of the counts that matter. */
static uint64_t check_sum(const side_by_side *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->counts[i] >= LEAST) sum += s->counts[i] * (i + 1);
    return sum;
}

/* The least of some runs, after one that is not counted where a device copies and calibrates in it. */
static int time_engine(const side_by_side *s, const char *engine, double *seconds, uint64_t *sum,
                       sf_error *error)
{
    sf_counter *counter;
    int status = sf_counter_open(&counter, s->stream.spikes, s->stream.spike_count, s->stream.units.count,
                                 s->episodes, s->count, engine, s->threads, error);
    if (status == SF_OK) status = sf_counter_use(counter, sf_device_name(s->device), error);
    if (status == SF_OK) sf_counter_at_least(counter, LEAST);
    *seconds = INFINITY;
    for (int run = s->device != NULL ? -1 : 0; status == SF_OK && run < RUNS; run++) {
        double start = sf_clock_seconds(), took;
        status = sf_counter_count(counter, NULL, s->counts, error);
        took = sf_clock_seconds() - start;
        if (run >= 0) *seconds = fmin(*seconds, took);
        if (took > MOST_SECONDS / 4 && run >= 1) break;
    }
    if (status == SF_OK && strcmp(sf_counter_device(counter, NULL), sf_device_name(s->device)) != 0)
        *seconds = NAN; /* it refused */
    *sum = check_sum(s);
    sf_counter_close(counter);
    return status;
}

static void add_row(const side_by_side *s)
{
    app_bench_row(s->rows, sf_device_name(s->device));
    app_bench_text(s->rows, "job", "counts");
    app_bench_number(s->rows, "size", s->size);
    app_bench_number(s->rows, "episodes", (double)s->count);
    for (size_t e = 0; e < ENGINES; e++)
        app_bench_number(s->rows, engines[e].field, s->seconds[e] * 1e3);
    app_bench_number(s->rows, "hybrid_over_better",
                     s->seconds[HYBRID] / fmin(s->seconds[PTPE], s->seconds[MTPE]));
    app_bench_number(s->rows, "better_over_interval",
                     fmin(s->seconds[PTPE], s->seconds[MTPE]) / s->seconds[INTERVAL]);
}

/* Ten times as many episodes take up to ten times as long. */
static int measure_row(side_by_side *s, sf_error *error)
{
    uint64_t sum, first_sum = 0;
    bool first = true;
    draw_episodes(s);
    for (size_t e = 0; e < ENGINES; e++) {
        if (!(s->seconds[e] * 10 < MOST_SECONDS)) {
            s->seconds[e] = NAN;
            continue;
        }
        int status = time_engine(s, engines[e].name, &s->seconds[e], &sum, error);
        if (status != SF_OK) return status;
        if (!first && sum != first_sum)
            return sf_fail(error, SF_INTERNAL, "counts",
                           "%s counts %zu episodes of %" PRIu32 " units otherwise", engines[e].name, s->count,
                           s->size);
        first_sum = sum;
        first = false;
    }
    add_row(s);
    sf_progress progress = app_progress(s->call);
    if (!sf_progress_update(&progress, "counting by each engine", (double)++s->done, s->total))
        return sf_fail(error, SF_CANCELLED, NULL, "stopped while counting");
    return SF_OK;
}

static int measure_device(side_by_side *s, sf_error *error)
{
    int status = SF_OK;
    for (s->size = 2; s->size <= LARGEST && status == SF_OK; s->size++) {
        memset(s->seconds, 0, sizeof s->seconds);
        for (s->count = 10; s->count <= 100000 && status == SF_OK; s->count *= 10)
            status = measure_row(s, error);
    }
    return status;
}

/* ---- crossovers ---- */

/* A row for each size: from how many episodes on hybrid takes ptpe, and whether that was measured just now.
 */
static int add_crossovers(app_bench_rows *rows, sf_device *device, unsigned threads, sf_error *error)
{
    for (uint32_t size = 2; size <= LARGEST; size++) {
        sf_crossover crossover;
        int status = sf_crossover_find(&crossover, device, threads, size, error);
        if (status != SF_OK) return status;
        app_bench_row(rows, sf_device_name(device));
        app_bench_text(rows, "job", "crossover");
        app_bench_number(rows, "threads", device == NULL ? threads : 1);
        app_bench_number(rows, "size", size);
        app_bench_number(rows, "ptpe_from", crossover.episodes);
        app_bench_text(rows, "from", crossover.measured ? "measured now" : "kept");
        app_bench_number(rows, "seconds", crossover.seconds);
    }
    return SF_OK;
}

int app_bench_crossovers(const app_call *call, app_bench_rows *rows, unsigned threads, sf_error *error)
{
    char path[4200];
    if (sf_crossover_path(path, sizeof path))
        app_warn(call, "crossovers are kept in %s; without it they are measured anew", path);
    const char *name = app_value(call, "device", NULL);
    sf_device *device;
    int status = sf_device_find(&device, name, error);
    if (status == SF_OK) status = add_crossovers(rows, device, threads, error);
    for (uint32_t d = 0; name == NULL && d < sf_device_count() && status == SF_OK; d++) {
        device = app_bench_device(d);
        if (device != NULL) status = add_crossovers(rows, device, threads, error);
        if (status == SF_UNAVAILABLE) { /* one that failed at it spoils no other's */
            app_warn(call, "%s", error->text);
            status = SF_OK;
        }
    }
    return status;
}

/* On the CPU and every device, or where the command line says. */
static int measure_everywhere(side_by_side *s, sf_error *error)
{
    const char *name = app_value(s->call, "device", NULL);
    s->total = 35.0 * (name != NULL ? 1 : 1 + sf_device_count());
    int status = sf_device_find(&s->device, name, error);
    if (status == SF_OK) status = measure_device(s, error);
    for (uint32_t d = 0; name == NULL && d < sf_device_count() && status == SF_OK; d++) {
        s->device = app_bench_device(d);
        if (s->device != NULL) status = measure_device(s, error);
    }
    return status;
}

int app_bench_counts(const app_call *call, app_bench_rows *rows, unsigned threads, sf_error *error)
{
    side_by_side s = {.call = call, .rows = rows, .threads = threads};
    s.episodes = sf_resize(NULL, 100000, sizeof *s.episodes);
    s.counts = sf_resize(NULL, 100000, sizeof *s.counts);
    int status = s.episodes != NULL && s.counts != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = simulate(&s.stream, error);
    if (status == SF_OK) status = measure_everywhere(&s, error);
    sf_recording_clear(&s.stream);
    sf_free(s.episodes);
    sf_free(s.counts);
    return status;
}
