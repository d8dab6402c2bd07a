/* SPDX-License-Identifier: Apache-2.0 */
/* Pushes spikes while they happen and prints a line the moment a chain completes, and how often it was
 * counted in each window. cc push_stream.c $(pkg-config --cflags --libs synfire) -o push_stream */
#include <stdio.h>
#include <synfire/synfire.h>

#define MILLISECOND INT64_C(1000000)

/* In place of an amplifier: the spikes of 10 ms from `start`. Every 40 ms the chain of all units begins. */
static size_t acquire(sf_spike spikes[3], int64_t start)
{
    if (start / (10 * MILLISECOND) % 4 != 0) return 0;
    for (uint32_t unit = 0; unit < 3; unit++)
        spikes[unit] = (sf_spike){.time_ns = start + unit * 3 * MILLISECOND, .unit = unit};
    return 3;
}

/* Shows what has come; SF_AGAIN: there may be more, SF_END: no more. */
static int show(sf_live *live, int timeout_ms)
{
    int status;
    for (sf_message *message; (status = sf_live_next(live, &message, timeout_ms, NULL)) == SF_OK;) {
        if (message->topic == SF_TOPIC_TRIGGER) printf("%.3f s: completed\n", (double)message->time_ns / 1e9);
        if (message->topic == SF_TOPIC_EPISODES)
            printf("until %.1f s: counted %d times\n", (double)message->episodes.window.stop_ns / 1e9,
                   (int)message->episodes.items[0].count);
        sf_message_release(message);
    }
    return status;
}

int main(void)
{
    const char *const chain = "A -(2,4]-> B -(2,4]-> C";
    const sf_live_unit units[] = {{.name = "A"}, {.name = "B"}, {.name = "C"}};
    const sf_live_source source = {.units = units, .unit_count = 3, .policy = SF_RING_BLOCK};
    sf_live_options options = sf_live_options_default();
    options.sources = &source, options.source_count = 1;
    options.window.length_s = options.window.hop_s = 0.2;
    options.mine.every = 0; /* count only what `track` names */
    options.track = options.watch = &chain, options.track_count = options.watch_count = 1;

    sf_live *live;
    sf_error error = {0};
    int status = sf_live_open(&live, &options, &error);
    for (int64_t now = 0; status == SF_OK && now < 400 * MILLISECOND; now += 10 * MILLISECOND) {
        sf_spike spikes[3];
        size_t count = acquire(spikes, now);
        while ((status = sf_live_push(live, 0, spikes, count, now + 10 * MILLISECOND, &error)) == SF_AGAIN)
            show(live, 10);
        show(live, 0);
    }
    if (status == SF_OK) {
        sf_live_finish(live);
        while (show(live, 1000) == SF_AGAIN)
            continue;
        status = sf_live_close(live, &error);
    }
    if (status != SF_OK) fprintf(stderr, "%s %s\n", error.place, error.text);
    return status == SF_OK ? 0 : 1;
}
