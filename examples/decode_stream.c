/* SPDX-License-Identifier: Apache-2.0 */
/* Reads synfire's own stream (docs/wire.md) from standard input or a file, its frames one after the other,
 * and prints a line the moment a chain completes: decode_stream "A -(0,6]-> B" < frames. No socket is needed,
 * and no thread of one's own. cc decode_stream.c $(pkg-config --cflags --libs synfire) -o decode_stream */
#include <stdio.h>
#include <stdlib.h>
#include <synfire/synfire.h>

/* A run with the units that the stream told of. */
static int open_run(sf_live **live, const sf_decoded *stream, const char *chain, sf_error *error)
{
    sf_live_unit *units = calloc(stream->unit_count + 1, sizeof *units);
    for (size_t i = 0; i < stream->unit_count && units != NULL; i++)
        units[i] = (sf_live_unit){stream->units[i].name, stream->units[i].x_um, stream->units[i].y_um};
    const sf_live_source source = {
        .units = units, .unit_count = (uint32_t)stream->unit_count, .policy = SF_RING_BLOCK};
    sf_live_options options = sf_live_options_default();
    options.sources = &source, options.source_count = 1;
    options.mine.every = 0; /* nothing is looked for: */
    options.watch = &chain, options.watch_count = 1;
    options.topics = 1u << SF_TOPIC_TRIGGER;
    int status = units != NULL ? sf_live_open(live, &options, error) : SF_NO_MEMORY;
    free(units);
    return status;
}

/* Prints the triggers that wait. */
static int show(sf_live *live, int timeout_ms)
{
    int status;
    for (sf_message *message; (status = sf_live_next(live, &message, timeout_ms, NULL)) == SF_OK;) {
        printf("%.3f s: completed\n", (double)message->time_ns / 1e9);
        sf_message_release(message);
    }
    return status;
}

/* All that was fed becomes spikes of the run; SF_AGAIN: more must be fed, SF_END: the stream has ended. */
static int take_all(sf_decoder *decoder, sf_live **live, const char *chain, sf_error *error)
{
    sf_decoded got = {.size = sizeof got};
    int status;
    while ((status = sf_decoder_take(decoder, &got, error)) == SF_OK) {
        if (got.fault != NULL) printf("%d left out: %s\n", (int)got.malformed, got.fault);
        if (got.is_known && *live == NULL && (status = open_run(live, &got, chain, error)) != SF_OK)
            return status;
        while (*live != NULL && (status = sf_live_push(*live, 0, got.spikes, got.spike_count,
                                                       got.watermark_ns, error)) == SF_AGAIN)
            show(*live, 10);
        if (status < 0) return status;
    }
    return status;
}

int main(int count, char **arguments)
{
    const char *chain = count > 1 ? arguments[1] : "#0 -(0,6]-> #1";
    FILE *from = count > 2 ? fopen(arguments[2], "rb") : stdin; /* which on Windows is for text */
    if (from == NULL) {
        perror(arguments[2]);
        return 1;
    }
    char bytes[1000]; /* wherever that cuts the frames */
    sf_decoder *decoder;
    sf_live *live = NULL;
    sf_error error = {0};
    int status = sf_decoder_open(&decoder, NULL, &error);
    for (size_t size = 1; size > 0 && status >= 0 && status != SF_END;) {
        size = fread(bytes, 1, sizeof bytes, from);
        status = sf_decoder_feed(decoder, bytes, size, SF_FEED_BYTES, &error);
        if (status == SF_OK) status = take_all(decoder, &live, chain, &error);
    }
    if (status >= 0 && live != NULL) {
        sf_live_finish(live);
        while (show(live, 1000) == SF_AGAIN)
            continue;
    }
    if (status < 0) fprintf(stderr, "%s %s\n", error.place, error.text);
    sf_live_close(live, NULL);
    sf_decoder_close(decoder);
    return status < 0 ? 1 : 0;
}
