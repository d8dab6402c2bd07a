/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a rig: the source of a run listens to it for a while, and its counters are turned into findings. */
#include "core/clock.h"
#include "core/error.h"
#include "core/text.h"
#include "ingest/live_source.h"
#include "ingest/tcp.h"
#include "live/run.h"
#include "tools/doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS 1500
#define GREETING_MS 1000
#define ZEROMQ_BEGINS 0xff /* the first byte of every ZeroMQ connection */
#define WRONG_PACE                                                                                           \
    0.15 /* of the rig's clock against this computer's: rates that rigs have are further apart */

typedef enum reach {
    REACH_UNKNOWN, /* it has no address that could be connected to */
    REACH_HEARD,   /* something came */
    REACH_OPEN,    /* connected, and nothing came */
    REACH_GREETED, /* connected, and greeted as servers of ZeroMQ do */
    REACH_CLOSED,  /* accepted and closed */
    REACH_FAILED   /* `failure` says why */
} reach;

typedef struct reached {
    reach how;
    int failure; /* errno; ETIMEDOUT: nobody answered */
} reached;

typedef struct rig {
    const sf_protocol *protocol;
    const char *endpoint;
    sf_live_heard heard;
    reached reached;
} rig;

/* ---- whether it can be reached ---- */

/* POLLIN or POLLOUT within the time; errno is kept where poll fails. */
static bool await(int socket, short events, int wait_ms)
{
    int64_t until_ns = sf_clock_monotonic_ns() + wait_ms * SF_MILLISECOND;
    for (int64_t left_ns; (left_ns = until_ns - sf_clock_monotonic_ns()) > 0;) {
        struct pollfd waiting = {.fd = socket, .events = events};
        int count = poll(&waiting, 1, (int)(left_ns / SF_MILLISECOND) + 1);
        if (count > 0) return true;
        if (count < 0 && errno != EINTR) return false;
    }
    return false;
}

static int connect_within(int socket, const struct addrinfo *to)
{
    int failure = 0;
    socklen_t size = sizeof failure;
    if (connect(socket, to->ai_addr, to->ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    if (!await(socket, POLLOUT, CONNECT_MS)) return ETIMEDOUT;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 ? errno : failure;
}

/* Connects, sends nothing, and waits a moment for what servers say first. */
static reached try_address(const struct addrinfo *to)
{
    char bytes[64];
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return (reached){REACH_FAILED, errno};
    reached result = {REACH_OPEN, connect_within(fd, to)};
    if (result.failure != 0)
        result.how = REACH_FAILED;
    else if (await(fd, POLLIN, GREETING_MS)) {
        ssize_t size = recv(fd, bytes, sizeof bytes, 0);
        bool has_ended = size == 0 || (size < 0 && errno != EAGAIN);
        bool is_greeting = size > 0 && (unsigned char)bytes[0] == ZEROMQ_BEGINS;
        result.how = is_greeting ? REACH_GREETED : has_ended ? REACH_CLOSED : REACH_OPEN;
    }
    close(fd);
    return result;
}

static reached try_endpoint(const char *endpoint)
{
    char address[300];
    struct addrinfo *to;
    const char *rest = strstr(endpoint, "://");
    bool has_server = strncmp(endpoint, "tcp://", 6) == 0 || strncmp(endpoint, "redis://", 8) == 0 ||
                      strncmp(endpoint, "ws://", 5) == 0;
    if (rest == NULL || !has_server) return (reached){REACH_UNKNOWN, 0};
    snprintf(address, sizeof address, "tcp://%.*s", (int)strcspn(rest + 3, "/"), rest + 3);
    if (sf_tcp_addresses(&to, address, false, NULL) != SF_OK) return (reached){REACH_UNKNOWN, 0};
    reached result = try_address(to);
    freeaddrinfo(to);
    return result;
}

/* A rig that has room for one client is not connected to once more: what its source saw is what is said. */
static reached reach_of(const rig *it)
{
    const sf_transport_seen *seen = &it->heard.seen;
    if (it->heard.has_come) return (reached){REACH_HEARD, 0};
    if (it->protocol->transport == &sf_transport_udp) return (reached){REACH_UNKNOWN, 0};
    if (it->protocol->transport != &sf_transport_tcp) return try_endpoint(it->endpoint);
    if (seen->ended > 0) return (reached){REACH_CLOSED, 0};
    if (seen->connections > 0) return (reached){REACH_OPEN, 0};
    return (reached){REACH_FAILED, seen->failure != 0 ? seen->failure : ETIMEDOUT};
}

/* ---- what is asked ---- */

/* Sends a question and reads a line of less than `size` bytes; returns errno, 0 on success. */
static int ask_address(char *answer, size_t size, const struct addrinfo *to, const char *question)
{
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    size_t length = strlen(question);
    int failure = connect_within(fd, to);
    if (failure == 0 && send(fd, question, length, MSG_NOSIGNAL) != (ssize_t)length) failure = EIO;
    if (failure == 0 && !await(fd, POLLIN, CONNECT_MS)) failure = ETIMEDOUT;
    ssize_t got = failure == 0 ? recv(fd, answer, size - 1, 0) : 0;
    if (failure == 0 && got <= 0) failure = got == 0 ? ECONNRESET : errno;
    close(fd);
    answer[got > 0 ? got : 0] = '\0';
    answer[strcspn(answer, "\r\n")] = '\0';
    return failure;
}

/* Parses an answer of RHX; false if it is none. */
static bool read_rate(double *rate_hz, const char *answer)
{
    static const char begin[] = "Return: SampleRateHertz ";
    uint64_t rate;
    if (strncmp(answer, begin, sizeof begin - 1) != 0 ||
        !sf_parse_uint(answer + sizeof begin - 1, 1000000, &rate) || rate == 0)
        return false;
    *rate_hz = (double)rate;
    return true;
}

static void say_answer(sf_findings *checks, const char *endpoint, const char *answer, double set_hz)
{
    double rate_hz;
    if (!read_rate(&rate_hz, answer)) {
        sf_doctor_find(checks, "rate", SF_FINDING_ADVICE, "%s: answers '%.60s', and no sampling rate",
                       endpoint, answer);
        sf_doctor_advise(checks,
                         "expected RHX's command socket: Network > Remote TCP Control > Commands, port 5000");
        return;
    }
    sf_doctor_find(checks, "rate", fabs(rate_hz - set_hz) > 0.5 ? SF_FINDING_BAD : SF_FINDING_GOOD,
                   "RHX samples at %g Hz, sample_rate_hz is %g", rate_hz, set_hz);
    sf_doctor_advise(checks, "set sample_rate_hz: %g", rate_hz);
}

/* Asks RHX, whose stream does not state its sampling rate, for the rate; the query changes nothing. */
static int ask_rate(sf_findings *checks, const char *endpoint, const sf_source_settings *settings,
                    sf_error *error)
{
    char answer[128] = "";
    struct addrinfo *to;
    int status = sf_tcp_addresses(&to, endpoint, false, error);
    if (status != SF_OK) return status;
    int failure = ask_address(answer, sizeof answer, to, "get sampleratehertz");
    freeaddrinfo(to);
    if (failure == 0) {
        say_answer(checks, endpoint, answer, ((const sf_live_settings *)settings)->sample_rate_hz);
        return SF_OK;
    }
    sf_doctor_find(checks, "rate", SF_FINDING_ADVICE, "%s: cannot be asked: %s", endpoint, strerror(failure));
    sf_doctor_advise(checks, "in RHX, Network > Remote TCP Control > Commands: host 0.0.0.0, port 5000, "
                             "Connect; it takes one client");
    return SF_OK;
}

/* ---- what is said ---- */

static void press(sf_findings *checks, const rig *it, const char *what)
{
    char start[300];
    if (what == NULL) {
        snprintf(start, sizeof start, it->protocol->start, it->endpoint);
        sf_doctor_advise(checks, "start %s", start);
        return;
    }
    sf_doctor_advise(checks, "%s", what);
}

static void say_failed(sf_findings *checks, const rig *it)
{
    int failure = it->reached.failure;
    if (failure == ECONNREFUSED) {
        sf_doctor_find(checks, "reach", SF_FINDING_BAD,
                       "%s: refused: that computer is there, and nothing listens at the port", it->endpoint);
        press(checks, it, it->protocol->refused);
        return;
    }
    if (failure == ETIMEDOUT) {
        sf_doctor_find(checks, "reach", SF_FINDING_BAD,
                       "%s: no answer: the computer is off, the address another, or a firewall keeps silent",
                       it->endpoint);
        sf_doctor_advise(checks, "see the address on the rig's computer (ipconfig), and let the port through "
                                 "its firewall (inbound rule, TCP)");
        return;
    }
    sf_doctor_find(checks, "reach", SF_FINDING_BAD, "%s: %s", it->endpoint, strerror(failure));
    sf_doctor_advise(checks, "this computer has no way to that address: look at the cable, at `ip address` "
                             "and `ip route`, and give the interface an address of the rig's network");
}

/* Servers of ZeroMQ say first that they are. */
static void say_open(sf_findings *checks, const rig *it)
{
    bool is_zeromq = it->protocol->transport != &sf_transport_tcp && strncmp(it->endpoint, "tcp://", 6) == 0;
    bool is_other = is_zeromq && it->reached.how == REACH_OPEN;
    sf_doctor_find(checks, "reach", is_other ? SF_FINDING_BAD : SF_FINDING_GOOD, "%s: connects%s",
                   it->endpoint,
                   is_other    ? ", and what listens there does not speak ZeroMQ"
                   : is_zeromq ? ", and ZeroMQ answers"
                               : "");
    sf_doctor_advise(checks, "another program has this port: correct the endpoint; %s",
                     it->protocol->refused != NULL ? it->protocol->refused : "it is the sender's");
}

static void say_reach(sf_findings *checks, const rig *it)
{
    const char *system = it->protocol->system;
    switch (it->reached.how) {
    case REACH_FAILED:
        say_failed(checks, it);
        return;
    case REACH_CLOSED:
        sf_doctor_find(checks, "reach", SF_FINDING_BAD,
                       "%s: accepts and closes at once, %" PRIu64
                       " times: it may have room for one client, and has one",
                       it->endpoint, it->heard.seen.ended > 0 ? it->heard.seen.ended : 1);
        sf_doctor_advise(checks,
                         "end the other client (another run, a script), and let the rig listen again: %s",
                         it->protocol->refused != NULL ? it->protocol->refused : "start its output anew");
        return;
    case REACH_HEARD:
        sf_doctor_find(checks, "reach", SF_FINDING_GOOD, "%s: reached, and it sends", it->endpoint);
        return;
    case REACH_GREETED:
    case REACH_OPEN:
        say_open(checks, it);
        return;
    default:
        sf_doctor_find(checks, "reach", SF_FINDING_GOOD, "%s: %s cannot be asked whether it is there",
                       it->endpoint, system);
    }
}

static void say_stream(sf_findings *checks, const rig *it, double seconds)
{
    const sf_live_heard *heard = &it->heard;
    if (it->reached.how == REACH_FAILED || it->reached.how == REACH_CLOSED) return;
    if (!heard->has_come) {
        sf_doctor_find(checks, "stream", SF_FINDING_BAD, "silent: nothing came within %g s", seconds);
        press(checks, it, it->protocol->silent);
    } else if (heard->is_known) {
        sf_doctor_find(checks, "stream", heard->spikes > 0 ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                       "a stream of %s: %" PRIu64 " spikes and %" PRIu64 " markers in %g s%s",
                       it->protocol->system, heard->spikes, heard->markers, seconds,
                       heard->has_ended ? "; it has ended" : "");
        sf_doctor_advise(
            checks,
            "listen longer (--listen), or set thresholds on the rig: the stream is there, and has no spikes");
    } else if (heard->fault[0] != '\0') {
        sf_doctor_find(checks, "stream", SF_FINDING_BAD, "what comes is no stream of %s: %s",
                       it->protocol->system, heard->fault);
        sf_doctor_advise(checks, "another program sends there, or the rig in another form: correct the "
                                 "endpoint or the source's type");
    } else {
        sf_doctor_find(checks, "stream", SF_FINDING_BAD, "something comes, and in %g s no %s", seconds,
                       heard->wants != NULL ? heard->wants : "stream");
        press(checks, it, it->protocol->silent);
    }
}

static void say_units(sf_findings *checks, const rig *it)
{
    const sf_live_heard *heard = &it->heard;
    if (!heard->is_known) return;
    sf_doctor_find(checks, "units", SF_FINDING_GOOD, "%zu: %s%s", heard->units, heard->names,
                   heard->units > 4 ? ", ..." : "");
}

static void say_losses(sf_findings *checks, const rig *it)
{
    const sf_live_heard *heard = &it->heard;
    if (!heard->is_known) return;
    bool lost = heard->gaps > 0 || heard->malformed > 0 || heard->seen.dropped > 0;
    sf_doctor_find(checks, "losses", lost ? SF_FINDING_ADVICE : SF_FINDING_GOOD,
                   "%" PRIu64 " gaps (%" PRIu64 " lost), %" PRIu64 " malformed, %" PRIu64
                   " out of range, %" PRIu64 " of other streams, %" PRIu64 " restarts, %" PRIu32
                   " datagrams dropped here%s%s",
                   heard->gaps, heard->gap_lost, heard->malformed, heard->out_of_range, heard->other_streams,
                   heard->restarts, heard->seen.dropped,
                   heard->fault[0] != '\0' ? "; the last malformed: " : "", heard->fault);
    sf_doctor_advise(
        checks, "%s",
        heard->gaps > 0 || heard->seen.dropped > 0
            ? "let the rig send less (fewer channels), or give this computer a faster way to it"
            : "another program may send to the same endpoint, or the rig's version is one that was not met");
}

static void say_pace(sf_findings *checks, const rig *it)
{
    const sf_live_heard *heard = &it->heard;
    if (!heard->is_known) return;
    if (!heard->is_timed) {
        sf_doctor_find(checks, "pace", SF_FINDING_GOOD,
                       "not measured: too little came, or its clock is not that of real time");
        return;
    }
    double pace = heard->stream_s / heard->passed_s;
    char rate[64] = "";
    if (heard->rate_hz > 0) snprintf(rate, sizeof rate, ", of %.10g samples", heard->rate_hz);
    sf_doctor_find(
        checks, "pace", fabs(pace - 1) > WRONG_PACE ? SF_FINDING_BAD : SF_FINDING_GOOD,
        "the rig's clock passes %.3f s in each second%s; messages came up to %.1f ms later than the "
        "promptest",
        pace, rate, heard->spread_ms);
    sf_doctor_advise(checks, "set sample_rate_hz to the rig's: times are wrong by this factor; a recording "
                             "that is played at another speed passes so, too");
}

static void say_sharing(sf_findings *checks, const rig *it)
{
    const sf_transport_seen *seen = &it->heard.seen;
    if (it->protocol->transport != &sf_transport_udp || it->heard.failure[0] != '\0') return;
    sf_doctor_find(checks, "sharing", seen->is_shared ? SF_FINDING_ADVICE : SF_FINDING_GOOD, "%s",
                   seen->is_shared ? "another program listens at this port, too"
                                   : "nobody else on this computer listens at this port");
    sf_doctor_advise(checks, "both hear what is broadcast; what is sent to this computer alone comes to the "
                             "one that was started last: `ss -lunp` says whose it is");
    sf_doctor_find(checks, "buffer", seen->buffer < seen->buffer_wanted ? SF_FINDING_ADVICE : SF_FINDING_GOOD,
                   "%" PRIu32 " of %" PRIu32 " bytes that the source asks for are granted", seen->buffer,
                   seen->buffer_wanted);
    sf_doctor_advise(checks, "sysctl -w net.core.rmem_max=%" PRIu32, seen->buffer_wanted);
}

static void say(sf_findings *checks, const rig *it, double seconds)
{
    if (it->heard.failure[0] != '\0') {
        sf_doctor_find(checks, "reach", SF_FINDING_BAD, "%s", it->heard.failure);
        sf_doctor_advise(
            checks,
            "the rig was not asked: see to this on this computer, or correct the endpoint (--endpoint)");
    } else {
        say_reach(checks, it);
        say_stream(checks, it, seconds);
        say_units(checks, it);
        say_losses(checks, it);
        say_pace(checks, it);
        say_sharing(checks, it);
    }
    sf_doctor_buffers(checks, "");
}

/* ---- the whole ---- */

int sf_doctor_rig_find(const sf_source_kind **kind, const char *name, sf_error *error)
{
    sf_text names = {0};
    for (size_t i = 0; sf_protocols[i] != NULL; i++) {
        *kind = &sf_protocols[i]->source;
        if (strcmp((*kind)->settings.name, name) == 0) {
            sf_text_free(&names);
            return SF_OK;
        }
        sf_text_printf(&names, "%s%s", i == 0 ? "" : ", ", (*kind)->settings.name);
    }
    int status = names.failed ? sf_fail_memory(error)
                              : sf_fail(error, SF_USAGE, name, "is no rig: expected one of %s", names.data);
    sf_text_free(&names);
    return status;
}

int sf_doctor_rig(sf_findings *checks, const sf_doctor_rig_options *options, sf_error *error)
{
    const sf_source_kind *kind;
    checks->count = 0;
    int status = sf_doctor_rig_find(&kind, sf_config_source_kind(options->config, 0)->settings.name, error);
    if (status != SF_OK) return status;
    if (options->ask != NULL && kind != &sf_protocol_intan.source)
        return sf_fail(error, SF_USAGE, "--ask", "is for intan: nothing else is asked for its rate");
    rig it = {.protocol = (const sf_protocol *)kind,
              .endpoint = sf_config_text(&options->config->sources[0], "endpoint")};
    sf_error reason = {0};
    status = sf_live_source_hear(&it.heard, kind, sf_config_source(options->config, 0), options->listen_s,
                                 options->progress, &reason);
    if (status != SF_OK) return sf_config_locate_item(options->config, "sources", 0, status, &reason, error);
    it.reached = reach_of(&it);
    say(checks, &it, options->listen_s);
    return options->ask == NULL ? SF_OK
                                : ask_rate(checks, options->ask, sf_config_source(options->config, 0), error);
}
