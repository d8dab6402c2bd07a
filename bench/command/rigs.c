/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench latency rigs: from a spike that is handed to what plays a rig's protocol to the trigger that comes
 * back by ZeroMQ, through a `synfire run` of its own process. 1,000 spikes a second are handed over in a
 * batch each millisecond, as time passes; each 103 ms one of them completes the watched chain. The run waits
 * for no stragglers (merge.lateness_ms 0), so that what is measured is the way and not that setting.
 *
 * What a protocol holds back by itself, to send spikes in blocks, is found by playing the same batches to
 * nobody, with and without a spike: in which batch what was sent by then begins to differ.
 */
#include "bench/command/rigs.h"

#include "bench/command/sockets.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"

#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#define UNITS 40
#define CHAIN 3
#define BATCH_NS SF_MILLISECOND
#define APART 2    /* batches between two spikes of the chain: more than BRAND's milliseconds */
#define PERIOD 103 /* batches from one chain to the next, a prime: so they fall anywhere in a block */
#define LEARN_S 1
#define WARM_UP_S 2
#define PATIENCE_MS 50
#define LAST_WITHIN_S 2 /* for triggers of what was sent last */

/* ---- what is sent ---- */

/* A spike of the units beside the chain, and perhaps one of the chain behind it. */
static int send_batch(sf_sender *sender, uint64_t index, const uint32_t *of_chain, sf_error *error)
{
    const int64_t begin_ns = (int64_t)index * BATCH_NS;
    sf_spike spikes[2] = {{.time_ns = begin_ns + BATCH_NS / 5,
                           .unit = CHAIN + (uint32_t)(index % (UNITS - CHAIN)),
                           .amplitude = -50}};
    if (of_chain != NULL)
        spikes[1] = (sf_spike){.time_ns = begin_ns + BATCH_NS * 4 / 5, .unit = *of_chain, .amplitude = -50};
    const sf_batch batch = {
        .spikes = spikes, .spike_count = of_chain != NULL ? 2 : 1, .clock_ns = begin_ns + BATCH_NS};
    return sf_sender_send(sender, &batch, error);
}

static int list_units(sf_recording *about, sf_error *error)
{
    *about = (sf_recording){0};
    const sf_unit unnamed = {.electrode = -1};
    int status = SF_OK;
    for (int i = 0; i < UNITS && status == SF_OK; i++)
        status = sf_units_add(&about->units, &unnamed, error);
    return status == SF_OK ? sf_units_finish(&about->units, error) : status;
}

/* ---- what a protocol holds back ---- */

/* Nobody, who takes everything. */
typedef struct nobody {
    sf_sending sending;
    uint64_t bytes;
} nobody;

static int open_nobody(sf_sending **out, const sf_sending_settings *settings, sf_error *error);

static int64_t update_nobody(sf_sending *sending)
{
    (void)sending;
    return 1;
}

static int put_to_nobody(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    (void)error;
    for (size_t i = 0; i < count; i++)
        ((nobody *)sending)->bytes += parts[i].size + 1;
    return SF_SENT;
}

static void close_nobody(sf_sending *sending, int linger_ms)
{
    (void)linger_ms;
    sf_free(sending);
}

static const sf_sending_kind nobody_kind = {
    .open = open_nobody, .update = update_nobody, .put = put_to_nobody, .close = close_nobody};

static int open_nobody(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    (void)settings;
    nobody *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->sending.kind = &nobody_kind;
    *out = &it->sending;
    return SF_OK;
}

#define HELD_BATCHES 300
#define PLACES 50 /* of a spike, one after the other: so many blocks as long are told from their middle */

/* bytes[i]: sent by the end of batch i, of which `extra` has one spike more. */
static int play_to_nobody(uint64_t bytes[HELD_BATCHES], const sf_protocol *protocol, size_t extra,
                          const sf_recording *about, sf_error *error)
{
    sf_sender_protocol mute = *protocol->sender;
    mute.sending = &nobody_kind;
    const sf_sender_settings settings = {.protocol = &mute, .name = "bench"};
    const uint32_t unit = 0;
    sf_sender *sender;
    int status = sf_sender_open(&sender, &settings, about, error);
    if (status != SF_OK) return status;
    sender->hello_due_ns = INT64_MAX; /* which would come by real time */
    for (size_t i = 0; i < HELD_BATCHES && status == SF_OK; i++) {
        status = send_batch(sender, i, i == extra ? &unit : NULL, error);
        bytes[i] = ((const nobody *)sender->sending)->bytes;
    }
    sf_sender_close(sender, 0);
    return status;
}

/* How much later than it was handed over a spike goes out, on average and at most; NaN of a protocol whose
 * messages are as long with a spike as without. */
static int measure_hold(double *mean_ms, double *most_ms, const sf_protocol *protocol,
                        const sf_recording *about, sf_error *error)
{
    uint64_t without[HELD_BATCHES], with[HELD_BATCHES];
    int status = play_to_nobody(without, protocol, SIZE_MAX, about, error);
    *mean_ms = *most_ms = 0;
    for (size_t place = 0; place < PLACES && status == SF_OK; place++) {
        size_t extra = HELD_BATCHES / 2 + place, at = extra;
        status = play_to_nobody(with, protocol, extra, about, error);
        while (status == SF_OK && at < HELD_BATCHES && with[at] == without[at])
            at++;
        double held_ms = at < HELD_BATCHES ? (double)(at - extra) * (double)BATCH_NS * 1e-6 : NAN;
        *mean_ms += held_ms / PLACES;
        *most_ms = held_ms > *most_ms || isnan(held_ms) ? held_ms : *most_ms;
    }
    return status;
}

/* ---- a server that some need ---- */

/* Redis, whose entries are in memory alone; 0: it cannot be started. */
static pid_t start_redis(const char *port)
{
    char *const words[] = {"redis-server", "--port", (char *)(uintptr_t)port, "--bind", "127.0.0.1",
                           "--save",       "",       "--appendonly",          "no",     "--logfile",
                           "/dev/null",    NULL};
    pid_t process;
    return posix_spawnp(&process, words[0], NULL, NULL, words, environ) == 0 ? process : 0;
}

static void stop_server(pid_t process)
{
    if (process <= 0) return;
    kill(process, SIGTERM);
    waitpid(process, NULL, 0);
}

/* ---- one protocol ---- */

typedef struct trigger {
    int64_t time_ns, came_ns;
} trigger;

typedef struct bench {
    const sf_protocol *protocol;
    const sf_recording *about;
    char endpoint[128], published_at[64];
    pid_t server;
    bench_run run;
    sf_sender *sender;
    void *context, *socket;
    atomic_bool stop;
    sf_thread receiver;
    int64_t *sent_ns; /* of each chain's last spike */
    size_t chains;
    trigger *triggers;
    atomic_size_t trigger_count;
} bench;

static bool read_time(const char *message, size_t size, int64_t *time_ns)
{
    static const char key[] = "\"time_ns\":";
    const char *at = memmem(message, size, key, sizeof key - 1);
    char digits[24] = "", *end;
    if (at == NULL) return false;
    size_t rest = size - (size_t)(at - message) - (sizeof key - 1);
    memcpy(digits, at + sizeof key - 1, rest < sizeof digits - 1 ? rest : sizeof digits - 1);
    *time_ns = strtoll(digits, &end, 10);
    return end > digits;
}

static void *receive_triggers(void *argument)
{
    bench *it = argument;
    char message[65536];
    while (!atomic_load(&it->stop) && it->trigger_count < it->chains) {
        int got = zmq_recv(it->socket, message, sizeof message, 0);
        trigger found = {.came_ns = sf_clock_monotonic_ns()};
        if (got > 0 &&
            read_time(message, (size_t)got < sizeof message ? (size_t)got : sizeof message, &found.time_ns))
            it->triggers[it->trigger_count++] = found;
    }
    return NULL;
}

/* The protocol's own endpoint, at a port that is free. */
static int choose_endpoint(bench *it, sf_error *error)
{
    char free_port[64];
    const char *own = it->protocol->sender->endpoint;
    int scheme = (int)(strstr(own, "://") - own);
    if (strncmp(own, "lsl://", 6) == 0) {
        snprintf(it->endpoint, sizeof it->endpoint, "lsl://name=synfire-bench-%d", (int)getpid());
        return SF_OK;
    }
    int status = bench_endpoint(free_port, sizeof free_port, error);
    if (status == SF_OK)
        snprintf(it->endpoint, sizeof it->endpoint, "%.*s%s", scheme, own, strstr(free_port, "://"));
    if (status == SF_OK && strncmp(own, "redis://", 8) == 0)
        it->server = start_redis(strrchr(it->endpoint, ':') + 1);
    return status;
}

static bool has_key(const sf_protocol *protocol, const char *name)
{
    for (const sf_key *key = protocol->source.settings.keys; key->name != NULL; key++)
        if (strcmp(key->name, name) == 0) return true;
    return false;
}

static int start_run(bench *it, sf_error *error)
{
    sf_text yaml = {0};
    sf_text_printf(&yaml, "stream: bench\ndevice: cpu\nsources: [{type: %s, endpoint: '%s', timeout_s: 60",
                   it->protocol->source.settings.name, it->endpoint);
    if (has_key(it->protocol, "learn_s")) sf_text_printf(&yaml, ", electrodes: learn, learn_s: %d", LEARN_S);
    sf_text_printf(&yaml,
                   "}]\nmerge: {lateness_ms: 0, leap_s: 0}\nwindow: {length_s: 10, hop_s: 1}\n"
                   "mine: {every: 0}\nsignificance: {kind: 'off'}\ngraph: {enabled: false}\n"
                   "watch: ['#0 -(0,5]-> #1 -(0,5]-> #2']\n"
                   "sinks: [{type: zmq, endpoint: '%s', encoding: json}]\n",
                   it->published_at);
    int status = yaml.failed ? sf_fail_memory(error) : bench_run_start(&it->run, yaml.data, error);
    sf_text_free(&yaml);
    return status;
}

static int subscribe(bench *it, sf_error *error)
{
    const int patience_ms = PATIENCE_MS, none = 0;
    it->context = zmq_ctx_new();
    it->socket = it->context != NULL ? zmq_socket(it->context, ZMQ_SUB) : NULL;
    if (it->socket == NULL ||
        zmq_setsockopt(it->socket, ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms) != 0 ||
        zmq_setsockopt(it->socket, ZMQ_LINGER, &none, sizeof none) != 0 ||
        zmq_setsockopt(it->socket, ZMQ_SUBSCRIBE, "trigger", 7) != 0 ||
        zmq_connect(it->socket, it->published_at) != 0)
        return sf_fail(error, SF_UNAVAILABLE, it->published_at, "cannot subscribe: %s",
                       zmq_strerror(zmq_errno()));
    return SF_OK;
}

/* A server may need a moment. */
static int open_sender(bench *it, sf_error *error)
{
    const sf_sender_settings settings = {
        .protocol = it->protocol->sender, .endpoint = it->endpoint, .name = "bench", .insecure = true};
    int status = SF_UNAVAILABLE;
    for (int tries = it->server > 0 ? 50 : 1; status == SF_UNAVAILABLE && tries > 0; tries--) {
        status = sf_sender_open(&it->sender, &settings, it->about, error);
        if (status == SF_UNAVAILABLE && tries > 1)
            sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_SECOND / 10);
    }
    return status;
}

static int open_all(bench *it, double seconds, sf_error *error)
{
    it->chains = (size_t)((seconds + WARM_UP_S) * 1e9 / (double)(PERIOD * BATCH_NS));
    it->sent_ns = sf_alloc(it->chains, sizeof *it->sent_ns);
    it->triggers = sf_alloc(it->chains, sizeof *it->triggers);
    int status = it->sent_ns != NULL && it->triggers != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = choose_endpoint(it, error);
    if (status == SF_OK) status = bench_endpoint(it->published_at, sizeof it->published_at, error);
    if (status == SF_OK) status = open_sender(it, error);
    if (status == SF_OK) status = subscribe(it, error);
    if (status == SF_OK) status = start_run(it, error);
    if (status == SF_OK) status = bench_sender_await(it->sender, 1, error);
    return status == SF_OK ? sf_thread_start(&it->receiver, "bench-receive", receive_triggers, it, error)
                           : status;
}

static void stop_receiver(bench *it)
{
    atomic_store(&it->stop, true);
    sf_thread_join(&it->receiver);
}

static void close_all(bench *it)
{
    stop_receiver(it);
    sf_sender_close(it->sender, 0);
    bench_run_close(&it->run);
    stop_server(it->server);
    if (it->socket != NULL) zmq_close(it->socket);
    if (it->context != NULL) zmq_ctx_term(it->context);
    sf_free(it->sent_ns);
    sf_free(it->triggers);
}

/* Once the triggers have come: a run whose threads wait for a core on a busy machine is never at rest. */
static int stop_run(bench *it, sf_error *error)
{
    const int64_t until_ns = sf_clock_monotonic_ns() + LAST_WITHIN_S * SF_SECOND;
    while (atomic_load(&it->trigger_count) < it->chains && sf_clock_monotonic_ns() < until_ns &&
           bench_run_look(&it->run))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 20 * SF_MILLISECOND);
    return bench_run_interrupt(&it->run, error);
}

/* A batch is handed over when its last spike has been. */
static int send_all(bench *it, sf_error *error)
{
    static const uint32_t units[CHAIN] = {0, 1, 2};
    const int64_t begin_ns = sf_clock_monotonic_ns();
    int status = SF_OK;
    for (uint64_t i = 0; i < it->chains * PERIOD && status == SF_OK && !app_stop_requested(); i++) {
        uint64_t at = i % PERIOD;
        bool is_due = at <= APART * (CHAIN - 1) && at % APART == 0;
        sf_clock_sleep_until(begin_ns + (int64_t)(i + 1) * BATCH_NS);
        if (at == APART * (CHAIN - 1)) it->sent_ns[i / PERIOD] = sf_clock_monotonic_ns();
        status = send_batch(it->sender, i, is_due ? &units[at / APART] : NULL, error);
    }
    if (status == SF_OK && app_stop_requested()) status = sf_fail(error, SF_CANCELLED, NULL, "stopped");
    return status == SF_OK ? stop_run(it, error) : status;
}

/* ---- telling ---- */

/* Which chain a trigger is of: rigs have clocks of their own, so the newest one that was sent before the
 * middle trigger came is that one's, and the others' follow from how far apart they are. */
static int64_t chain_of(const bench *it, const trigger *of)
{
    const trigger *middle = &it->triggers[it->trigger_count / 2];
    int64_t chain = 0;
    while ((size_t)chain + 1 < it->chains && it->sent_ns[chain + 1] != 0 &&
           it->sent_ns[chain + 1] <= middle->came_ns)
        chain++;
    return chain + llround((double)(of->time_ns - middle->time_ns) / (double)(PERIOD * BATCH_NS));
}

static int tell(app_bench_rows *rows, const bench *it, double hold_ms, double most_ms, sf_error *error)
{
    double *took_ms = sf_alloc(it->trigger_count, sizeof *took_ms);
    if (took_ms == NULL) return sf_fail_memory(error);
    size_t count = 0, first = WARM_UP_S * SF_SECOND / (PERIOD * BATCH_NS) + 1;
    for (size_t i = 0; i < it->trigger_count; i++) {
        int64_t chain = chain_of(it, &it->triggers[i]);
        if (chain >= (int64_t)first && (size_t)chain < it->chains && it->sent_ns[chain] != 0)
            took_ms[count++] = (double)(it->triggers[i].came_ns - it->sent_ns[chain]) * 1e-6;
    }
    sf_reals_sort(took_ms, count);
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "protocol", it->protocol->name);
    app_bench_number(rows, "p50_ms", bench_at_share(took_ms, count, 0.5));
    app_bench_number(rows, "p99_ms", bench_at_share(took_ms, count, 0.99));
    app_bench_number(rows, "max_ms", bench_at_share(took_ms, count, 1));
    app_bench_number(rows, "held_ms", hold_ms);
    app_bench_number(rows, "held_max_ms", most_ms);
    app_bench_number(rows, "times", (double)count);
    app_bench_number(rows, "missed", (double)(it->chains - first) - (double)count);
    sf_free(took_ms);
    return SF_OK;
}

static int measure(app_bench_rows *rows, const sf_protocol *protocol, const sf_recording *about,
                   double seconds, sf_error *error)
{
    bench it = {.protocol = protocol, .about = about};
    double hold_ms, most_ms;
    int status = measure_hold(&hold_ms, &most_ms, protocol, about, error);
    if (status == SF_OK) status = open_all(&it, seconds, error);
    if (status == SF_OK) status = send_all(&it, error);
    stop_receiver(&it);
    if (status == SF_OK) status = tell(rows, &it, hold_ms, most_ms, error);
    close_all(&it);
    return status;
}

int bench_rigs(const app_call *call, double seconds, app_bench_rows *rows, sf_error *error)
{
    sf_recording about;
    int status = list_units(&about, error);
    for (size_t i = 0; sf_protocols[i] != NULL && status == SF_OK; i++) {
        status = measure(rows, sf_protocols[i], &about, seconds, error);
        if (status == SF_UNAVAILABLE) {
            app_warn(call, "%s is left out: %s", sf_protocols[i]->name, error->text);
            status = SF_OK;
        }
    }
    sf_recording_clear(&about);
    return status;
}
