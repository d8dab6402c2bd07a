/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/sender.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define QUEUE_MESSAGES 1000
#define HELLO_EVERY_NS SF_SECOND

/* Nobody reads two runs of a sender as one. */
static int draw_run(sf_sender *sender, sf_error *error)
{
    do {
        if (getrandom(&sender->run, sizeof sender->run, 0) != sizeof sender->run)
            return sf_fail(error, SF_INTERNAL, NULL, "no random number for the run: %s", strerror(errno));
    } while (sender->run == 0);
    return SF_OK;
}

static int open_publisher(sf_sender *sender, sf_error *error)
{
    const sf_sender_settings *settings = &sender->settings;
    const sf_publisher_settings wanted = {
        .endpoint = settings->endpoint != NULL ? settings->endpoint : settings->protocol->endpoint,
        .queue = QUEUE_MESSAGES,
        .lossless = true,
        .insecure = settings->insecure,
        .permit = "--insecure"};
    int status = sf_publisher_open(&sender->publisher, &wanted, error);
    if (status == SF_OK && settings->protocol->answer != NULL)
        status = sf_responder_open(&sender->responder, sender->publisher.context, sender->publisher.address,
                                   settings->protocol->answer, error);
    return status;
}

int sf_sender_open(sf_sender **out, const sf_sender_settings *settings, const sf_recording *about,
                   sf_error *error)
{
    *out = NULL;
    sf_sender *sender = sf_alloc(1, sizeof *sender);
    if (sender == NULL)
        return sf_fail_memory(error);
    sender->settings = *settings;
    sender->about = about;
    sender->origin_ns = sender->clock_ns = INT64_MIN;
    int status = draw_run(sender, error);
    if (status == SF_OK)
        status = open_publisher(sender, error);
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
    sf_responder_tend(sender->responder);
    return sf_publisher_update(&sender->publisher);
}

int sf_sender_put(sf_sender *sender, const sf_part *parts, size_t count, sf_error *error)
{
    int sent;
    while ((sent = sf_publisher_send(&sender->publisher, parts, count, error)) == SF_SENT_AGAIN)
        if (sender->settings.go_on != NULL && !sender->settings.go_on(sender->settings.user))
            return sf_fail(error, SF_CANCELLED, sender->publisher.address, "stopped");
    if (sent == SF_SENT)
        sender->sequence++;
    return sent;
}

static int greet(sf_sender *sender, sf_error *error)
{
    int64_t now = sf_clock_monotonic_ns();
    sf_publisher_update(&sender->publisher);
    sf_responder_tend(sender->responder);
    if (now < sender->hello_due_ns && sender->publisher.joined == sender->greeted)
        return SF_OK;
    sender->greeted = sender->publisher.joined;
    sender->hello_due_ns = now + HELLO_EVERY_NS;
    return sender->settings.protocol->hello(sender, error);
}

int sf_sender_send(sf_sender *sender, const sf_batch *batch, sf_error *error)
{
    int status = greet(sender, error);
    if (status != SF_OK)
        return status;
    if (batch->clock_ns > sender->clock_ns)
        sender->clock_ns = batch->clock_ns;
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
    return status == SF_OK ? sender->settings.protocol->end(sender, error) : status;
}

void sf_sender_close(sf_sender *sender, int linger_ms)
{
    if (sender == NULL)
        return;
    sf_responder_close(sender->responder);
    sf_publisher_close(&sender->publisher, linger_ms);
    sf_text_free(&sender->frame);
    sf_text_free(&sender->payload);
    sf_free(sender);
}
