/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/sender.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define HELLO_EVERY_NS SF_SECOND

/* A random run number, so that nobody takes two runs of a sender for one. */
static int draw_run(sf_sender *sender, sf_error *error)
{
    do {
        if (getrandom(&sender->run, sizeof sender->run, 0) != sizeof sender->run)
            return sf_fail(error, SF_INTERNAL, NULL, "no random number for the run: %s", strerror(errno));
    } while (sender->run == 0);
    return SF_OK;
}

static int open_sending(sf_sender *sender, sf_error *error)
{
    const sf_sender_protocol *protocol = sender->settings.protocol;
    const sf_sending_kind *kind = protocol->sending != NULL ? protocol->sending : &sf_sending_zmq;
    const char *endpoint = sender->settings.endpoint;
    const sf_sending_settings wanted = {.endpoint = endpoint != NULL ? endpoint : protocol->endpoint,
                                        .topic = protocol->topic,
                                        .insecure = sender->settings.insecure,
                                        .curve = sender->settings.curve,
                                        .answer = protocol->answer};
    int status = kind->open(&sender->sending, &wanted, error);
    return status == SF_OK && protocol->begin != NULL ? protocol->begin(sender, error) : status;
}

int sf_sender_open(sf_sender **out, const sf_sender_settings *settings, const sf_recording *about,
                   sf_error *error)
{
    *out = NULL;
    sf_sender *sender = sf_alloc(1, sizeof *sender);
    if (sender == NULL) return sf_fail_memory(error);
    sender->settings = *settings;
    sender->about = about;
    sender->origin_ns = sender->clock_ns = INT64_MIN;
    int status = draw_run(sender, error);
    if (status == SF_OK) status = open_sending(sender, error);
    if (status != SF_OK) {
        sf_sender_close(sender, 0);
        return status;
    }
    *out = sender;
    return SF_OK;
}

void sf_sender_set_origin(sf_sender *sender, int64_t origin_ns)
{
    sender->origin_ns = origin_ns;
}

int64_t sf_sender_subscribers(sf_sender *sender)
{
    return sender->sending->kind->update(sender->sending);
}

int sf_sender_put(sf_sender *sender, const sf_part *parts, size_t count, sf_error *error)
{
    int sent;
    while ((sent = sender->sending->kind->put(sender->sending, parts, count, error)) == SF_SENT_AGAIN)
        if (sender->settings.go_on != NULL && !sender->settings.go_on(sender->settings.user))
            return sf_fail(error, SF_CANCELLED, sender->sending->address, "stopped");
    if (sent == SF_SENT) sender->sequence++;
    return sent;
}

static int greet(sf_sender *sender, sf_error *error)
{
    int64_t now = sf_clock_monotonic_ns();
    sender->sending->kind->update(sender->sending);
    if (now < sender->hello_due_ns && sender->sending->joined == sender->greeted) return SF_OK;
    sender->greeted = sender->sending->joined;
    sender->hello_due_ns = now + HELLO_EVERY_NS;
    const sf_sender_protocol *protocol = sender->settings.protocol;
    return protocol->hello != NULL ? protocol->hello(sender, error) : SF_OK;
}

int sf_sender_send(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    int status = greet(sender, error);
    if (status != SF_OK) return status;
    if (batch->clock_ns > sender->clock_ns) sender->clock_ns = batch->clock_ns;
    status = sender->settings.protocol->batch(sender, batch, error);
    if (status == SF_OK) {
        sender->spikes += batch->spike_count;
        sender->markers += batch->marker_count;
    }
    return status;
}

int sf_sender_end(sf_sender *sender, sf_error *error)
{
    int status = greet(sender, error);
    const sf_sender_protocol *protocol = sender->settings.protocol;
    return status == SF_OK && protocol->end != NULL ? protocol->end(sender, error) : status;
}

void sf_sender_close(sf_sender *sender, int linger_ms)
{
    if (sender == NULL) return;
    if (sender->sending != NULL) sender->sending->kind->close(sender->sending, linger_ms);
    sf_text_free(&sender->frame);
    sf_text_free(&sender->payload);
    sf_free(sender);
}

int64_t sf_sender_sample(int64_t time_ns, int64_t rate_hz)
{
    int64_t seconds = time_ns / SF_SECOND, rest = time_ns % SF_SECOND;
    if (rest < 0) {
        seconds--;
        rest += SF_SECOND;
    }
    return seconds * rate_hz + (rest * rate_hz + SF_SECOND / 2) / SF_SECOND;
}

int sf_sender_each(sf_sender *sender, const sf_batch *batch,
                   int (*put_spike)(sf_sender *sender, const sf_spike *spike, sf_error *error),
                   int (*put_ttl)(sf_sender *sender, const sf_marker *marker, sf_error *error),
                   sf_error *error)
{
    size_t spike = 0, marker = 0;
    int status = SF_OK;
    while (status == SF_OK && (spike < batch->spike_count || marker < batch->marker_count)) {
        bool marker_next =
            marker < batch->marker_count &&
            (spike == batch->spike_count || batch->markers[marker].time_ns <= batch->spikes[spike].time_ns);
        if (!marker_next)
            status = put_spike(sender, &batch->spikes[spike++], error);
        else if (batch->markers[marker++].kind == SF_MARKER_TTL && put_ttl != NULL)
            status = put_ttl(sender, &batch->markers[marker - 1], error);
    }
    return status;
}
