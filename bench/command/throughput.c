/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench throughput: how many spikes a second go through parts of the live pipeline, as fast as they can: the
 * stream of bench latency from a source through its ring, the merge and the window, with nothing else to do;
 * with 1,000 watched episodes; with 1,000 tracked ones at a hop of 100 ms (pipeline). Over sockets:
 * bench/command/ingest.c (sockets, rigs).
 */
#include "bench/command/ingest.h"
#include "bench/command/stream.h"

#define SECONDS 20
#define ROUNDS 3
#define SOCKET_SECONDS 5
#define DEVICE_NAME 64

static const struct part {
    const char *name, *key; /* of the episodes; NULL: none */
    const char *hop;
} parts[] = {{"front", NULL, "10"}, {"front, watching", "watch", "10"}, {"tracker", "track", "0.1"}};

/* Where the run counted. */
static void note_device(void *user, sf_message *message)
{
    if (message->topic == SF_TOPIC_STATUS) snprintf(user, DEVICE_NAME, "%s", message->status.counting_device);
}

static int time_part(const struct part *part, const sf_recording *stream, const char *device, char *where,
                     double *best, sf_error *error)
{
    static const sf_outlet_kind outlet = {.publish = note_device};
    sf_text yaml = {0};
    sf_text_printf(
        &yaml, "device: %s\nwindow: {length_s: 10, hop_s: %s}\nmine: {every: 0}\ngraph: {enabled: false}\n",
        device, part->hop);
    if (part->key != NULL) bench_stream_episodes(&yaml, part->key);
    int status = yaml.failed ? sf_fail_memory(error) : SF_OK;
    *best = 0;
    for (int round = 0; round < ROUNDS && status == SF_OK; round++) {
        double seconds;
        status = bench_stream_run(yaml.data, stream, 0, (sf_outlet){&outlet, where}, &seconds, error);
        if (round == 0 || seconds < *best) *best = seconds;
    }
    sf_text_free(&yaml);
    return status;
}

static int measure(const app_call *call, const sf_recording *stream, const char *device, app_bench_rows *rows,
                   sf_error *error)
{
    (void)call;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        double seconds;
        char where[DEVICE_NAME] = "";
        int status = time_part(&parts[i], stream, device, where, &seconds, error);
        if (status != SF_OK) return status;
        app_bench_row(rows, where);
        app_bench_text(rows, "part", parts[i].name);
        app_bench_number(rows, "spikes", (double)stream->spike_count);
        app_bench_number(rows, "seconds", seconds);
        app_bench_number(rows, "spikes_per_s", (double)stream->spike_count / seconds);
    }
    return SF_OK;
}

static int run(const app_call *call, app_bench_rows *rows, sf_error *error)
{
    app_bench_options options;
    int status = app_bench_read(&options, call, error);
    double seconds = options.seconds > 0 ? options.seconds : SOCKET_SECONDS;
    if (status == SF_OK && app_bench_wants(call, "pipeline"))
        status = bench_stream_on_devices(call, SECONDS, measure, rows, error);
    if (status == SF_OK && app_bench_wants(call, "sockets"))
        status = bench_ingest_sockets(seconds, rows, error);
    if (status == SF_OK && app_bench_wants(call, "rigs")) status = bench_ingest_rigs(seconds, rows, error);
    return status;
}

static const char *const parts_by_name[] = {"pipeline", "sockets", "rigs", NULL};
static const char *const options[] = {"device", "seconds", NULL};

const app_bench app_bench_throughput = {
    .name = "throughput", .parts = parts_by_name, .options = options, .run = run};
