/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench throughput sockets, rigs: what comes in over sockets of the loopback interface. A sender sends frames
 * as fast as they are taken, to a receiver that only takes them from libzmq, and then to runs that do more
 * and more with them; what the threads of the last one took for each spike. And the rates of two rigs, each
 * sent as its own program does, with all that came counted.
 */
#include "bench/command/ingest.h"

#include "bench/command/sockets.h"
#include "bench/command/stream.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/thread.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <zmq.h>

#define PER_FRAME 4096 /* spikes */
#define FRAME_NS ((int64_t)PER_FRAME * SF_SECOND / BENCH_RATE_HZ)
#define QUEUE 16 /* as the source has */
#define LOOK_EVERY 256
#define LINGER_MS 10000

/* ---- sending ---- */

/* For so long, or until a signal comes. */
static int send_frames(sf_sender *sender, bench_frames *frames, bench_run *run, double seconds,
                       sf_error *error)
{
    double until = sf_clock_seconds() + seconds;
    int status = SF_OK;
    while (status == SF_OK && sf_clock_seconds() < until && !app_stop_requested()) {
        const sf_batch batch = bench_frames_next(frames);
        status = sf_sender_send(sender, &batch, error);
        if (run != NULL && frames->sent % LOOK_EVERY == 0) bench_run_look(run);
    }
    return status == SF_OK && app_stop_requested() ? sf_fail(error, SF_CANCELLED, NULL, "stopped") : status;
}

/* ---- a receiver that does nothing else ---- */

typedef struct bare_receiver {
    sf_thread thread;
    const char *endpoint;
    atomic_bool stop;
    uint64_t bytes;
    double ended_s; /* when the newest came */
} bare_receiver;

static void *receive_all(void *argument)
{
    bare_receiver *it = argument;
    const int queue = QUEUE, patience_ms = 50;
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_SUB);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &queue, sizeof queue);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
    zmq_connect(socket, it->endpoint);
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (bool stop = false; !stop;) {
        stop = atomic_load(&it->stop);
        while (zmq_msg_recv(&message, socket, 0) >= 0) {
            it->bytes += zmq_msg_size(&message);
            it->ended_s = sf_clock_seconds();
        }
    }
    zmq_msg_close(&message);
    zmq_close(socket);
    zmq_ctx_term(context);
    return NULL;
}

/* Spikes a second. */
static int measure_bare(double seconds, const sf_recording *about, double *rate, sf_error *error)
{
    char endpoint[64];
    bench_frames frames = {0};
    bare_receiver receiver = {.endpoint = endpoint};
    sf_sender *sender = NULL;
    int status = bench_endpoint(endpoint, sizeof endpoint, error);
    if (status == SF_OK) status = bench_frames_open(&frames, PER_FRAME, FRAME_NS, 0, error);
    if (status == SF_OK) status = bench_sender_open(&sender, "synfire", endpoint, true, NULL, about, error);
    if (status == SF_OK)
        status = sf_thread_start(&receiver.thread, "bench-bare", receive_all, &receiver, error);
    if (status == SF_OK) status = bench_sender_await(sender, 1, error);
    double begin_s = sf_clock_seconds();
    if (status == SF_OK) status = send_frames(sender, &frames, NULL, seconds, error);
    sf_sender_close(sender, LINGER_MS);
    atomic_store(&receiver.stop, true);
    sf_thread_join(&receiver.thread);
    *rate = (double)receiver.bytes / sizeof(sf_spike) / (receiver.ended_s - begin_s);
    bench_frames_close(&frames);
    return status;
}

/* ---- runs ---- */

/* Each does all that those before it do. */
static const struct step {
    const char *name, *yaml;
} steps[] = {{"windows", "mine: {every: 0}\n"},
             {"windows, mining",
              "mine: {every: 60, delays_ms: '0.5:5', min_rate_hz: 5, max_size: 3, track_most: 50}\n"},
             {"windows, mining, recorder",
              "mine: {every: 60, delays_ms: '0.5:5', min_rate_hz: 5, max_size: 3, track_most: 50}\n"
              "sinks: [{type: hdf5, path: bench.h5, policy: block}]\n"}};

#define STEPS (sizeof steps / sizeof steps[0])

typedef struct measured {
    double spikes, seconds;
    bench_run run;
} measured;

static int write_yaml(sf_text *yaml, const struct step *step, const char *endpoint, sf_error *error)
{
    sf_text_printf(yaml,
                   "stream: bench\ndevice: cpu\n"
                   "sources: [{type: zmq, endpoint: '%s', policy: block, timeout_s: 60}]\n"
                   "window: {length_s: 1, hop_s: 1}\n"
                   "significance: {kind: 'off'}\ngraph: {enabled: false}\n%s",
                   endpoint, step->yaml);
    return yaml->failed ? sf_fail_memory(error) : SF_OK;
}

static int feed_run(measured *made, sf_sender *sender, double seconds, sf_error *error)
{
    bench_frames frames;
    int status = bench_frames_open(&frames, PER_FRAME, FRAME_NS, 0, error);
    if (status == SF_OK) status = bench_sender_await(sender, 1, error);
    double begin_s = sf_clock_seconds();
    if (status == SF_OK) status = send_frames(sender, &frames, &made->run, seconds, error);
    if (status == SF_OK) status = sf_sender_end(sender, error);
    if (status == SF_OK) status = bench_run_finish(&made->run, error);
    made->spikes = (double)(frames.sent * PER_FRAME);
    made->seconds = made->run.ended_s - begin_s;
    bench_frames_close(&frames);
    return status;
}

/* Nothing may be missing where everybody waits. */
static int check_all_came(const measured *made, sf_error *error)
{
    double came = bench_run_counter(&made->run, "\"status\"", "spikes");
    if (came == made->spikes) return SF_OK;
    return sf_fail(error, SF_DATA, "synfire run", "of %.0f spikes %.0f came to the windows", made->spikes,
                   came);
}

static int measure_step(measured *made, const struct step *step, double seconds, const sf_recording *about,
                        sf_error *error)
{
    char endpoint[64];
    sf_text yaml = {0};
    sf_sender *sender = NULL;
    int status = bench_endpoint(endpoint, sizeof endpoint, error);
    if (status == SF_OK) status = write_yaml(&yaml, step, endpoint, error);
    if (status == SF_OK) status = bench_run_start(&made->run, yaml.data, error);
    if (status == SF_OK)
        status = bench_sender_open(&sender, "synfire", endpoint, true, &made->run, about, error);
    if (status == SF_OK) status = feed_run(made, sender, seconds, error);
    sf_sender_close(sender, 0);
    sf_text_free(&yaml);
    return status == SF_OK ? check_all_came(made, error) : status;
}

static void tell_step(app_bench_rows *rows, const char *name, const measured *made, double bare)
{
    double rate = made->spikes / made->seconds;
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "sockets", name);
    app_bench_number(rows, "spikes", made->spikes);
    app_bench_number(rows, "seconds", made->seconds);
    app_bench_number(rows, "spikes_per_s", rate);
    app_bench_number(rows, "of_bare", rate / bare);
    app_bench_number(rows, "memory_mb", made->run.memory_mb);
}

/* What a thread does for a spike; NULL: nothing worth a row of its own. */
static const char *work_of(const char *thread)
{
    static const char *const works[][2] = {{"ZMQbg/IO", "libzmq: reads the socket"},
                                           {"synfire-source", "decode, continuity, into the ring"},
                                           {"synfire-front", "merge, watch, hand on"},
                                           {"synfire-window", "windows"},
                                           {"synfire-discov", "discovery"},
                                           {"synfire-storage", "recorder"},
                                           {"synfire-journal", "recorder: sync"}};
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        if (strncmp(thread, works[i][0], strlen(works[i][0])) == 0) return works[i][1];
    return NULL;
}

static void tell_threads(app_bench_rows *rows, const measured *made)
{
    for (size_t i = 0; i < made->run.thread_count; i++) {
        const bench_thread *thread = &made->run.threads[i];
        const char *work = work_of(thread->name);
        double ns = thread->seconds / made->spikes * 1e9;
        if (ns < 0.05) continue;
        app_bench_row(rows, "cpu");
        app_bench_text(rows, "thread", thread->name);
        app_bench_text(rows, "does", work != NULL ? work : "");
        app_bench_number(rows, "ns_per_spike", ns);
    }
}

int bench_ingest_sockets(double seconds, app_bench_rows *rows, sf_error *error)
{
    sf_recording about;
    double bare = NAN;
    int status = bench_about(&about, error);
    if (status == SF_OK) status = measure_bare(seconds, &about, &bare, error);
    if (status == SF_OK) {
        const measured alone = {.spikes = bare * seconds, .seconds = seconds, .run.memory_mb = NAN};
        tell_step(rows, "bare libzmq receiver", &alone, bare);
    }
    for (size_t i = 0; i < STEPS && status == SF_OK; i++) {
        measured made = {0};
        status = measure_step(&made, &steps[i], seconds, &about, error);
        if (status == SF_OK) tell_step(rows, steps[i].name, &made, bare);
        if (status == SF_OK && i + 1 == STEPS) tell_threads(rows, &made);
        bench_run_close(&made.run);
    }
    sf_recording_clear(&about);
    return status;
}

/* ---- rigs ---- */

static const struct rig {
    const char *name, *protocol, *keys;
    double spikes_each; /* message, on average */
    int lateness_ms;    /* as in its configuration to start from */
} rigs[] = {{"Open Ephys, a message for each spike", "open-ephys", "", 1, 50},
            {"MaxWell, a frame with 4 kB of samples", "maxwell", ", layout: mxw16", 5, 5}};

#define RIGS (sizeof rigs / sizeof rigs[0])
#define RIG_FRAME_NS SF_MILLISECOND
#define RIG_PER_FRAME (BENCH_RATE_HZ / 1000)

/* So much of the stream, in real time; how far behind it was at most. */
static int send_paced(sf_sender *sender, measured *made, double seconds, double *late_s, sf_error *error)
{
    bench_frames frames;
    int status = bench_frames_open(&frames, RIG_PER_FRAME, RIG_FRAME_NS, 0, error);
    double begin_s = sf_clock_seconds();
    const uint64_t wanted = (uint64_t)(seconds * 1e9 / (double)RIG_FRAME_NS);
    while (status == SF_OK && frames.sent < wanted && !app_stop_requested()) {
        const sf_batch batch = bench_frames_next(&frames);
        double due_s = begin_s + (double)batch.clock_ns * 1e-9, now_s = sf_clock_seconds();
        if (now_s < due_s) sf_clock_sleep_until((int64_t)(due_s * 1e9));
        *late_s = now_s - due_s > *late_s ? now_s - due_s : *late_s;
        status = sf_sender_send(sender, &batch, error);
        if (frames.sent % LOOK_EVERY == 0) bench_run_look(&made->run);
    }
    made->spikes = (double)(frames.sent * RIG_PER_FRAME);
    made->seconds = sf_clock_seconds() - begin_s;
    bench_frames_close(&frames);
    return status == SF_OK && app_stop_requested() ? sf_fail(error, SF_CANCELLED, NULL, "stopped") : status;
}

/* What comes while units are learnt goes on at once: the ring has room for it. */
static int write_rig_yaml(sf_text *yaml, const struct rig *rig, const char *endpoint, sf_error *error)
{
    sf_text_printf(yaml,
                   "stream: bench\ndevice: cpu\n"
                   "sources: [{type: %s, endpoint: '%s', timeout_s: 60, electrodes: learn, learn_s: 0.2, "
                   "ring: 262144%s}]\n"
                   "window: {length_s: 1, hop_s: 1}\nmine: {every: 0}\n"
                   "significance: {kind: 'off'}\ngraph: {enabled: false}\n",
                   rig->protocol, endpoint, rig->keys);
    return yaml->failed ? sf_fail_memory(error) : SF_OK;
}

static int measure_rig(measured *made, const struct rig *rig, double seconds, double *late_s,
                       const sf_recording *about, sf_error *error)
{
    char endpoint[64];
    sf_text yaml = {0};
    sf_sender *sender = NULL;
    int status = bench_endpoint(endpoint, sizeof endpoint, error);
    if (status == SF_OK) status = write_rig_yaml(&yaml, rig, endpoint, error);
    if (status == SF_OK) status = bench_run_start(&made->run, yaml.data, error);
    if (status == SF_OK)
        status = bench_sender_open(&sender, rig->protocol, endpoint, false, &made->run, about, error);
    if (status == SF_OK) status = bench_sender_await(sender, 1, error);
    if (status == SF_OK) status = send_paced(sender, made, seconds, late_s, error);
    sf_sender_close(sender, LINGER_MS);
    sf_text_free(&yaml);
    return status == SF_OK ? bench_run_stop(&made->run, error) : status;
}

/* Sent = watched + in lost messages + lost by cause. */
static void tell_rig(app_bench_rows *rows, const struct rig *rig, const measured *made, double late_s)
{
    static const char *const causes[] = {"late", "dropped", "out_of_range", "leaps", "held"};
    const bench_run *run = &made->run;
    double lost = 0;
    double lost_messages = bench_run_counter(run, "\"sources\"", "gap_lost") +
                           bench_run_counter(run, "\"sources\"", "malformed");
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        lost += bench_run_counter(run, "\"sources\"", causes[i]);
    double watched = bench_run_counter(run, "\"status\"", "spikes");
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "rig", rig->name);
    app_bench_number(rows, "messages_per_s", made->spikes / rig->spikes_each / made->seconds);
    app_bench_number(rows, "sent", made->spikes);
    app_bench_number(rows, "lost_in_messages", lost_messages * rig->spikes_each);
    app_bench_number(rows, "lost_by_cause", lost);
    app_bench_number(rows, "watched", watched);
    app_bench_number(rows, "unaccounted", made->spikes - lost_messages * rig->spikes_each - lost - watched);
    app_bench_number(rows, "sender_late_ms", late_s * 1e3);
    app_bench_number(rows, "memory_mb", run->memory_mb);
}

int bench_ingest_rigs(double seconds, app_bench_rows *rows, sf_error *error)
{
    sf_recording about;
    int status = bench_about(&about, error);
    for (size_t i = 0; i < RIGS && status == SF_OK; i++) {
        measured made = {0};
        double late_s = 0;
        status = measure_rig(&made, &rigs[i], seconds, &late_s, &about, error);
        if (status == SF_OK) tell_rig(rows, &rigs[i], &made, late_s);
        bench_run_close(&made.run);
    }
    sf_recording_clear(&about);
    return status;
}
