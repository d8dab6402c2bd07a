/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench latency: what a hop of the live pipeline takes, and how long a discovery in the background, at the
 * scale of a large array and in real time: 4,096 units, 100,000 spikes a second, a window of 10 s, a hop of
 * 100 ms, a discovery of (0,5] ms to size 3 each second, its 1,000 most remarkable episodes tracked, the
 * graph with a query, densities (hop); the same with all that is tracked and linked tested in 1,000
 * surrogates of each 10 s (test); and from a spike to its trigger over sockets: bench/command/trigger.c
 * (trigger), and bench/command/rigs.c through each rig's protocol (rigs).
 */
#include "bench/command/rigs.h"
#include "bench/command/stream.h"
#include "bench/command/trigger.h"

#include "core/memory.h"
#include "core/reals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WINDOW_SECONDS 10
#define MEASURED_SECONDS 12 /* after the window is full */
#define TRIGGER_SECONDS 10
#define MOST_HOPS ((WINDOW_SECONDS + MEASURED_SECONDS) * 10 + 20)

/* Independent units at these rates follow each other 30 times in a window; of 16.8 million pairs more than a
 * thousand do so 49 times or more, which are the episodes to track. */
static const char configuration[] = "stream: bench\n"
                                    "window: {length_s: 10, hop_s: 0.1}\n"
                                    "mine: {every: 10, delays_ms: '0:5', min_count: 49, max_size: 3,"
                                    " track_most: 1000}\n"
                                    "graph: {reach: [{from: '#0', hops: 2}]}\n"
                                    "density:\n"
                                    "- {quantity: isi, unit: '#0'}\n"
                                    "- {quantity: delay, episode: '#0 -(0,5]-> #1'}\n"
                                    "- {quantity: rate, unit: '#0'}\n"
                                    "sinks: [{type: jsonl, path: /dev/null, overwrite: true}]\n";

static const char tests[] = "significance: {length_s: 10, surrogates: 1000}\n";

/* Jobs beside the hops. */
typedef struct job_times {
    double ms[MOST_HOPS], newest_ms;
    size_t count;
    char device[32];
} job_times;

/* What a run tells of its hops with a full window. */
typedef struct hop_times {
    const char *stage[SF_STATUS_STAGES];
    double stage_ms[SF_STATUS_STAGES][MOST_HOPS];
    uint64_t missed[SF_STATUS_STAGES], missed_before[SF_STATUS_STAGES];
    double age_ms[MOST_HOPS];
    size_t stages, hops, tracked, tested;
    job_times discoveries, tests;
    bool full;
    char device[64];
} hop_times;

/* Whose newest time stands in many statuses: discoveries are told as jobs, and nothing is rewired here. */
static bool is_beside_the_hops(const sf_stage_status *stage)
{
    return strcmp(stage->name, "mine") == 0 || strcmp(stage->name, "rewire") == 0;
}

static void note_stages(hop_times *times, const sf_status_message *status)
{
    times->stages = 0;
    for (size_t i = 0; i < status->stage_count; i++) {
        const sf_stage_status *stage = &status->stages[i];
        if (is_beside_the_hops(stage)) continue;
        size_t row = times->stages++;
        times->stage[row] = stage->name;
        times->stage_ms[row][times->hops] = stage->last_ms;
        if (times->hops == 0) times->missed_before[row] = stage->missed;
        times->missed[row] = stage->missed - times->missed_before[row];
    }
}

static void note_job(job_times *times, double ms, const char *device)
{
    bool is_new = isfinite(ms) && ms != times->newest_ms;
    if (!is_new) return;
    times->newest_ms = ms;
    times->ms[times->count++] = ms;
    snprintf(times->device, sizeof times->device, "%s", device);
}

/* On the window thread: a hop's counts come before its status. */
static void observe(void *user, sf_message *message)
{
    hop_times *times = user;
    if (message->topic == SF_TOPIC_EPISODES) {
        times->full = !message->episodes.partial;
        times->age_ms[times->hops] = sf_message_age_ms(message);
    }
    if (message->topic != SF_TOPIC_STATUS || !times->full || message->status.last ||
        times->hops + 1 >= MOST_HOPS)
        return;
    note_stages(times, &message->status);
    note_job(&times->discoveries, message->status.discovery_ms, message->status.discovery_device);
    note_job(&times->tests, message->status.test_ms, message->status.test_device);
    times->tracked = message->status.tracked;
    times->tested = message->status.tested;
    memcpy(times->device, message->status.device, sizeof times->device);
    times->hops++;
}

/* Times are sorted on the way. What no hop has done has no row. */
static void tell(app_bench_rows *rows, const char *device, const char *stage, double *times, size_t count,
                 double missed)
{
    sf_reals_sort(times, count);
    if (count == 0 || times[count - 1] == 0) return;
    app_bench_row(rows, device);
    app_bench_text(rows, "stage", stage);
    app_bench_number(rows, "p50_ms", times[(count - 1) / 2]);
    app_bench_number(rows, "p99_ms", times[(count - 1) * 99 / 100]);
    app_bench_number(rows, "max_ms", times[count - 1]);
    app_bench_number(rows, "times", (double)count);
    app_bench_number(rows, "missed", missed);
}

static void tell_all(app_bench_rows *rows, hop_times *times)
{
    for (size_t i = 0; i < times->stages; i++)
        tell(rows, times->device, times->stage[i], times->stage_ms[i], times->hops, (double)times->missed[i]);
    tell(rows, times->device, "age of counts", times->age_ms, times->hops, NAN);
    tell(rows, times->discoveries.device, "discovery, in the background", times->discoveries.ms,
         times->discoveries.count, NAN);
    tell(rows, times->tests.device, "test, in the background", times->tests.ms, times->tests.count, NAN);
}

static int measure_with(const char *more, const app_call *call, const sf_recording *stream,
                        const char *device, app_bench_rows *rows, sf_error *error)
{
    static const sf_outlet_kind outlet = {.publish = observe};
    hop_times *times = sf_alloc(1, sizeof *times);
    sf_text yaml = {0};
    sf_text_printf(&yaml, "%s%sdevice: %s\n", configuration, more, device);
    int status = times != NULL && !yaml.failed ? SF_OK : sf_fail_memory(error);
    double seconds;
    if (status == SF_OK)
        status = bench_stream_run(yaml.data, stream, 1, (sf_outlet){&outlet, times}, &seconds, error);
    if (status == SF_OK) {
        app_warn(call, "%s: %zu hops, %zu episodes tracked, %zu tested", times->device, times->hops,
                 times->tracked, times->tested);
        tell_all(rows, times);
    }
    sf_text_free(&yaml);
    sf_free(times);
    return status;
}

static int measure_hop(const app_call *call, const sf_recording *stream, const char *device,
                       app_bench_rows *rows, sf_error *error)
{
    return measure_with("", call, stream, device, rows, error);
}

static int measure_test(const app_call *call, const sf_recording *stream, const char *device,
                        app_bench_rows *rows, sf_error *error)
{
    return measure_with(tests, call, stream, device, rows, error);
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    app_bench_options options;
    int status = app_bench_read(&options, call, error);
    double seconds = options.seconds > 0 ? options.seconds : TRIGGER_SECONDS;
    if (status == SF_OK && app_bench_wants(call, "hop"))
        status = bench_stream_on_devices(call, WINDOW_SECONDS + MEASURED_SECONDS, measure_hop, rows, error);
    if (status == SF_OK && app_bench_wants(call, "test"))
        status = bench_stream_on_devices(call, WINDOW_SECONDS + MEASURED_SECONDS, measure_test, rows, error);
    if (status == SF_OK && app_bench_wants(call, "trigger")) status = bench_trigger(seconds, rows, error);
    if (status == SF_OK && app_bench_wants(call, "rigs")) status = bench_rigs(call, seconds, rows, error);
    return status;
}

static const char *const parts[] = {"hop", "test", "trigger", "rigs", NULL};
static const char *const options[] = {"device", "seconds", NULL};

const app_bench app_bench_latency = {.name = "latency", .parts = parts, .options = options, .run = run};
