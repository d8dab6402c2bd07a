/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench latency trigger: from a spike that is sent to the trigger that comes back, over sockets of the
 * loopback interface and through a `synfire run` of its own process. 100,000 spikes a second go out in a
 * frame each millisecond; in every other frame one of 100 watched episodes completes. The same frames go to a
 * subscriber that does nothing else, and with each completion a datagram of its own: what a message takes one
 * way, by ZeroMQ and by UDP, in the same moments.
 */
#include "bench/command/trigger.h"

#include "bench/command/sockets.h"
#include "bench/command/stream.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "decode/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#define WATCHED 100
#define EPISODE_UNITS 3
#define FRAME_NS SF_MILLISECOND
#define PER_FRAME (BENCH_RATE_HZ / 1000)
#define PERIOD 2 /* frames: an episode completes in each so many */
#define WARM_UP_S 2
#define PATIENCE_MS 50
#define MOST_BYTES 65536

/* ---- receivers ---- */

/* By which completion a message tells of: its number, or -1. */
typedef int64_t read_message(const unsigned char *bytes, size_t size);

typedef struct receiver {
    const char *name;
    read_message *read;
    void *socket;   /* of ZeroMQ, or ... */
    int descriptor; /* ... of UDP */
    int64_t *came_ns;
    size_t count; /* of completions */
    const atomic_bool *stop;
    sf_thread thread;
} receiver;

static int64_t completion_at(int64_t time_ns)
{
    return time_ns >= 0 && time_ns / FRAME_NS % PERIOD == 0 ? time_ns / FRAME_NS / PERIOD : -1;
}

/* The frame's clock is its end. */
static int64_t read_frame(const unsigned char *bytes, size_t size)
{
    sf_wire_header header;
    bool is_data = sf_wire_read_header(&header, bytes, size) == SF_WIRE_SOUND && header.kind == SF_WIRE_DATA;
    return is_data ? completion_at(header.clock_ns - FRAME_NS) : -1;
}

static int64_t read_trigger(const unsigned char *bytes, size_t size)
{
    static const char key[] = "\"time_ns\":";
    char digits[24] = "";
    const char *at = memmem(bytes, size, key, sizeof key - 1);
    if (at == NULL) return -1;
    at += sizeof key - 1;
    size_t rest = size - (size_t)((const unsigned char *)at - bytes);
    memcpy(digits, at, rest < sizeof digits - 1 ? rest : sizeof digits - 1);
    uint64_t time_ns;
    digits[strspn(digits, "0123456789")] = '\0';
    return sf_parse_uint(digits, INT64_MAX, &time_ns) ? completion_at((int64_t)time_ns) : -1;
}

static int64_t read_datagram(const unsigned char *bytes, size_t size)
{
    int64_t number = -1;
    if (size == sizeof number) memcpy(&number, bytes, sizeof number);
    return number;
}

/* Address, types and an id of 16 characters, each ended and padded to fours; then seconds and microseconds.
 */
static int64_t read_osc(const unsigned char *bytes, size_t size)
{
    static const char head[] = "/synfire/trigger\0\0\0\0,sii\0\0\0";
    uint32_t words[2];
    if (size != sizeof head + 20 + sizeof words || memcmp(bytes, head, sizeof head) != 0) return -1;
    memcpy(words, bytes + sizeof head + 20, sizeof words);
    return completion_at((int64_t)ntohl(words[0]) * SF_SECOND + (int64_t)ntohl(words[1]) * 1000);
}

/* Of a message of ZeroMQ the last part counts. */
static bool receive(receiver *it, unsigned char *bytes, size_t *size)
{
    if (it->socket == NULL) {
        ssize_t got = recv(it->descriptor, bytes, MOST_BYTES, 0);
        *size = got > 0 ? (size_t)got : 0;
        return got >= 0;
    }
    int more = 1, got = 0;
    for (size_t length = sizeof more; more != 0 && got >= 0;) {
        got = zmq_recv(it->socket, bytes, MOST_BYTES, 0);
        zmq_getsockopt(it->socket, ZMQ_RCVMORE, &more, &length);
    }
    *size = got < 0 ? 0 : got < MOST_BYTES ? (size_t)got : MOST_BYTES;
    return got >= 0;
}

static void *run_receiver(void *argument)
{
    receiver *it = argument;
    unsigned char bytes[MOST_BYTES];
    for (bool stop = false; !stop;) {
        size_t size;
        stop = atomic_load(it->stop);
        while (receive(it, bytes, &size)) {
            int64_t now_ns = sf_clock_monotonic_ns(), number = it->read(bytes, size);
            if (number >= 0 && (size_t)number < it->count && it->came_ns[number] == 0)
                it->came_ns[number] = now_ns;
        }
    }
    return NULL;
}

/* ---- opening ---- */

enum { BARE_ZMQ, TRIGGER_ZMQ, BARE_UDP, TRIGGER_OSC, RECEIVERS };

typedef struct bench {
    char frames_at[64], published_at[64];
    uint16_t osc_port, udp_port;
    void *context;
    receiver receivers[RECEIVERS];
    atomic_bool stop;
    int datagrams; /* that sends them */
    sf_sender *sender;
    bench_run run;
    bench_frames frames;
    sf_recording about;
    size_t count;                   /* of completions */
    int64_t *sent_ns, *sent_udp_ns; /* of each */
} bench;

static int subscribe(bench *it, receiver *to, const char *endpoint, const char *topic, sf_error *error)
{
    const int patience_ms = PATIENCE_MS, none = 0;
    to->socket = zmq_socket(it->context, ZMQ_SUB);
    if (to->socket == NULL ||
        zmq_setsockopt(to->socket, ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms) != 0 ||
        zmq_setsockopt(to->socket, ZMQ_LINGER, &none, sizeof none) != 0 ||
        zmq_setsockopt(to->socket, ZMQ_SUBSCRIBE, topic, strlen(topic)) != 0 ||
        zmq_connect(to->socket, endpoint) != 0)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot subscribe: %s", zmq_strerror(zmq_errno()));
    return SF_OK;
}

static int bind_datagrams(receiver *to, uint16_t *port, sf_error *error)
{
    const struct timeval patience = {.tv_usec = PATIENCE_MS * 1000};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    to->descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (to->descriptor < 0 || bind(to->descriptor, (const struct sockaddr *)&address, length) != 0 ||
        getsockname(to->descriptor, (struct sockaddr *)&address, &length) != 0 ||
        setsockopt(to->descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
        return sf_fail(error, SF_UNAVAILABLE, "UDP", "cannot bind: %s", strerror(errno));
    *port = ntohs(address.sin_port);
    return SF_OK;
}

static int open_datagrams(bench *it, sf_error *error)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(it->udp_port)};
    it->datagrams = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (it->datagrams < 0 || connect(it->datagrams, (const struct sockaddr *)&to, sizeof to) != 0)
        return sf_fail(error, SF_UNAVAILABLE, "UDP", "cannot connect: %s", strerror(errno));
    return SF_OK;
}

static int make_room(bench *it, double seconds, sf_error *error)
{
    it->count = (size_t)((seconds + WARM_UP_S) * 1e9 / (double)(PERIOD * FRAME_NS));
    it->sent_ns = sf_alloc(it->count, sizeof *it->sent_ns);
    it->sent_udp_ns = sf_alloc(it->count, sizeof *it->sent_udp_ns);
    bool has_room = it->sent_ns != NULL && it->sent_udp_ns != NULL;
    static const struct {
        const char *name;
        read_message *read;
    } kinds[] = {[BARE_ZMQ] = {"ZeroMQ, bare message", read_frame},
                 [TRIGGER_ZMQ] = {"ZeroMQ, spike to trigger", read_trigger},
                 [BARE_UDP] = {"UDP, bare message", read_datagram},
                 [TRIGGER_OSC] = {"OSC, spike to trigger", read_osc}};
    for (int i = 0; i < RECEIVERS; i++) {
        receiver *to = &it->receivers[i];
        *to = (receiver){.name = kinds[i].name, .read = kinds[i].read, .descriptor = -1, .stop = &it->stop};
        to->count = it->count;
        to->came_ns = sf_alloc(it->count, sizeof *to->came_ns);
        has_room = has_room && to->came_ns != NULL;
    }
    return has_room ? SF_OK : sf_fail_memory(error);
}

/* Every episode's units stand for it alone, and fire at no other time. */
static int write_yaml(sf_text *yaml, const bench *it, sf_error *error)
{
    sf_text_printf(yaml,
                   "stream: bench\ndevice: cpu\nsources: [{type: zmq, endpoint: '%s', timeout_s: 60}]\n"
                   "window: {length_s: 10, hop_s: 1}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
                   "graph: {enabled: false}\nsinks:\n- {type: zmq, endpoint: '%s', encoding: json}\n"
                   "- {type: osc, endpoint: '127.0.0.1:%u'}\nwatch:\n",
                   it->frames_at, it->published_at, it->osc_port);
    for (int e = 0; e < WATCHED; e++)
        sf_text_printf(yaml, "- '#%d -(0,5]-> #%d -(0,5]-> #%d'\n", EPISODE_UNITS * e, EPISODE_UNITS * e + 1,
                       EPISODE_UNITS * e + 2);
    return yaml->failed ? sf_fail_memory(error) : SF_OK;
}

static int start_run(bench *it, sf_error *error)
{
    sf_text yaml = {0};
    int status = write_yaml(&yaml, it, error);
    if (status == SF_OK) status = bench_run_start(&it->run, yaml.data, error);
    sf_text_free(&yaml);
    return status;
}

static int open_all(bench *it, double seconds, sf_error *error)
{
    it->context = zmq_ctx_new();
    it->datagrams = -1;
    int status = it->context != NULL ? make_room(it, seconds, error) : sf_fail_memory(error);
    if (status == SF_OK) status = bench_endpoint(it->frames_at, sizeof it->frames_at, error);
    if (status == SF_OK) status = bench_endpoint(it->published_at, sizeof it->published_at, error);
    if (status == SF_OK) status = bind_datagrams(&it->receivers[BARE_UDP], &it->udp_port, error);
    if (status == SF_OK) status = bind_datagrams(&it->receivers[TRIGGER_OSC], &it->osc_port, error);
    if (status == SF_OK) status = open_datagrams(it, error);
    if (status == SF_OK) status = subscribe(it, &it->receivers[BARE_ZMQ], it->frames_at, "", error);
    if (status == SF_OK)
        status = subscribe(it, &it->receivers[TRIGGER_ZMQ], it->published_at, "trigger", error);
    if (status == SF_OK)
        status = bench_frames_open(&it->frames, PER_FRAME, FRAME_NS, EPISODE_UNITS * WATCHED, error);
    if (status == SF_OK) status = bench_about(&it->about, error);
    if (status == SF_OK) status = start_run(it, error);
    if (status == SF_OK)
        status = bench_sender_open(&it->sender, "synfire", it->frames_at, false, &it->run, &it->about, error);
    for (int i = 0; i < RECEIVERS && status == SF_OK; i++)
        status = sf_thread_start(&it->receivers[i].thread, "bench-receive", run_receiver, &it->receivers[i],
                                 error);
    return status == SF_OK ? bench_sender_await(it->sender, 2, error) : status;
}

static void stop_receivers(bench *it)
{
    atomic_store(&it->stop, true);
    for (int i = 0; i < RECEIVERS; i++)
        sf_thread_join(&it->receivers[i].thread);
}

static void close_all(bench *it)
{
    stop_receivers(it);
    sf_sender_close(it->sender, 0);
    bench_run_close(&it->run);
    for (int i = 0; i < RECEIVERS; i++) {
        receiver *of = &it->receivers[i];
        if (of->socket != NULL) zmq_close(of->socket);
        if (of->read != NULL && of->descriptor >= 0) close(of->descriptor);
        sf_free(of->came_ns);
    }
    if (it->datagrams >= 0) close(it->datagrams);
    if (it->context != NULL) zmq_ctx_term(it->context);
    bench_frames_close(&it->frames);
    sf_recording_clear(&it->about);
    sf_free(it->sent_ns);
    sf_free(it->sent_udp_ns);
}

/* ---- sending ---- */

/* Three spikes of the frame become an episode; the last of the frame completes it. */
static void plant(bench *it, size_t number)
{
    uint32_t unit = (uint32_t)(number % WATCHED) * EPISODE_UNITS;
    sf_spike *spikes = it->frames.frame;
    const size_t places[EPISODE_UNITS] = {PER_FRAME / 10, PER_FRAME / 2, PER_FRAME - 1};
    for (uint32_t i = 0; i < EPISODE_UNITS; i++)
        spikes[places[i]].unit = unit + i;
}

/* A frame goes out when its last spike has been. */
static int send_frame(bench *it, int64_t begin_ns, sf_error *error)
{
    size_t index = it->frames.sent, number = index / PERIOD;
    const sf_batch batch = bench_frames_next(&it->frames);
    bool completes = index % PERIOD == 0 && number < it->count;
    if (completes) plant(it, number);
    sf_clock_sleep_until(begin_ns + batch.clock_ns);
    int64_t now_ns = sf_clock_monotonic_ns();
    int status = sf_sender_send(it->sender, &batch, error);
    if (!completes) return status;
    const int64_t told = (int64_t)number;
    it->sent_ns[number] = now_ns;
    it->sent_udp_ns[number] = sf_clock_monotonic_ns();
    if (send(it->datagrams, &told, sizeof told, 0) != sizeof told && status == SF_OK)
        status = sf_fail(error, SF_IO, "UDP", "cannot send: %s", strerror(errno));
    return status;
}

static int send_all(bench *it, sf_error *error)
{
    int64_t begin_ns = sf_clock_monotonic_ns();
    int status = SF_OK;
    while (status == SF_OK && it->frames.sent < it->count * PERIOD && !app_stop_requested())
        status = send_frame(it, begin_ns, error);
    if (status == SF_OK) status = sf_sender_end(it->sender, error);
    if (status == SF_OK) status = bench_run_finish(&it->run, error);
    stop_receivers(it);
    return status;
}

/* ---- telling ---- */

typedef struct quantiles {
    double p50, p99, p999, most;
    size_t count, missed;
} quantiles;

static int summarise(quantiles *all, const bench *it, const receiver *of, const int64_t *sent_ns,
                     sf_error *error)
{
    double *took_ms = sf_alloc(it->count, sizeof *took_ms);
    if (took_ms == NULL) return sf_fail_memory(error);
    *all = (quantiles){0};
    for (size_t i = (size_t)(WARM_UP_S * SF_SECOND / (PERIOD * FRAME_NS)); i < it->count; i++) {
        if (of->came_ns[i] != 0)
            took_ms[all->count++] = (double)(of->came_ns[i] - sent_ns[i]) * 1e-6;
        else
            all->missed += sent_ns[i] != 0;
    }
    sf_reals_sort(took_ms, all->count);
    all->p50 = bench_at_share(took_ms, all->count, 0.5);
    all->p99 = bench_at_share(took_ms, all->count, 0.99);
    all->p999 = bench_at_share(took_ms, all->count, 0.999);
    all->most = bench_at_share(took_ms, all->count, 1);
    sf_free(took_ms);
    return SF_OK;
}

static void tell_row(app_bench_rows *rows, const char *name, const quantiles *is, const quantiles *bare)
{
    app_bench_row(rows, "cpu");
    app_bench_text(rows, "message", name);
    app_bench_number(rows, "p50_ms", is->p50);
    app_bench_number(rows, "p99_ms", is->p99);
    app_bench_number(rows, "p999_ms", is->p999);
    app_bench_number(rows, "max_ms", is->most);
    app_bench_number(rows, "p50_ratio", is->p50 / bare->p50);
    app_bench_number(rows, "p99_ratio", is->p99 / bare->p99);
    app_bench_number(rows, "p999_ratio", is->p999 / bare->p999);
    app_bench_number(rows, "times", (double)is->count);
    app_bench_number(rows, "missed", (double)is->missed);
}

/* Each pair: what a bare message takes, and the trigger beside it. */
static int tell(app_bench_rows *rows, const bench *it, sf_error *error)
{
    int status = SF_OK;
    for (int i = 0; i < RECEIVERS && status == SF_OK; i += 2) {
        const receiver *pair = &it->receivers[i];
        quantiles bare, trigger;
        status = summarise(&bare, it, &pair[0], i == BARE_UDP ? it->sent_udp_ns : it->sent_ns, error);
        if (status == SF_OK) status = summarise(&trigger, it, &pair[1], it->sent_ns, error);
        if (status == SF_OK) {
            tell_row(rows, pair[0].name, &bare, &bare);
            tell_row(rows, pair[1].name, &trigger, &bare);
        }
    }
    return status;
}

int bench_trigger(double seconds, app_bench_rows *rows, sf_error *error)
{
    bench it = {0};
    int status = open_all(&it, seconds, error);
    if (status == SF_OK) status = send_all(&it, error);
    if (status == SF_OK) status = tell(rows, &it, error);
    close_all(&it);
    return status;
}
