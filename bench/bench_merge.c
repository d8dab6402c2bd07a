/* SPDX-License-Identifier: Apache-2.0 */
/* Million spikes per second through the merge, from source threads with the policy `block` to the merged
 * stream. */
#include "core/clock.h"
#include "core/thread.h"
#include "window/merge.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

#define MOST_SOURCES 4
#define BATCH 1024
#define SPIKES UINT64_C(8000000)

typedef struct sender {
    sf_inlet *inlet;
    int64_t swap; /* neighbours change places so far back, in ns */
    sf_thread thread;
} sender;

static void *send_all(void *argument)
{
    sender *self = argument;
    sf_spike spikes[BATCH];
    int64_t time = 0;
    for (uint64_t sent = 0; sent < SPIKES; sent += BATCH) {
        for (size_t i = 0; i < BATCH; i++, time += 1000)
            spikes[i] = (sf_spike){.time_ns = time ^ self->swap, .unit = (uint32_t)i % 64};
        const sf_batch batch = {.spikes = spikes, .spike_count = BATCH, .clock_ns = INT64_MIN};
        while (!sf_inlet_offer(self->inlet, &batch))
            sched_yield();
    }
    sf_inlet_end(self->inlet);
    return NULL;
}

static int measure(size_t sources, int64_t lateness_ns, sf_error *error)
{
    sf_inlet_settings inlets[MOST_SOURCES];
    sender senders[MOST_SOURCES];
    for (size_t i = 0; i < sources; i++)
        inlets[i] = (sf_inlet_settings){64, lateness_ns, 16384, SF_RING_BLOCK};
    sf_merge *merge;
    int status = sf_merge_open(&merge, &(sf_merge_settings){.inlets = inlets, .inlet_count = sources}, error);
    double begin = sf_clock_seconds();
    for (size_t i = 0; status == SF_OK && i < sources; i++) {
        senders[i] = (sender){.inlet = sf_merge_inlet(merge, i), .swap = lateness_ns > 0 ? 1 << 14 : 0};
        status = sf_thread_start(&senders[i].thread, "source", send_all, &senders[i], error);
    }
    if (status != SF_OK)
        return status; /* the process ends */
    uint64_t received = 0;
    for (sf_merged merged = {0}; !merged.ended; received += merged.spike_count) {
        sf_merge_pull(merge, sf_clock_monotonic_ns(), &merged);
        if (merged.spike_count == 0)
            sched_yield();
    }
    double seconds = sf_clock_seconds() - begin;
    for (size_t i = 0; i < sources; i++)
        sf_thread_join(&senders[i].thread);
    printf("%zu sources, lateness %3" PRId64 " us: %6.1f million spikes/s (%" PRIu64 " spikes in %.3f s)\n",
           sources, lateness_ns / 1000, (double)received / seconds * 1e-6, received, seconds);
    sf_merge_close(merge);
    return SF_OK;
}

int main(void)
{
    sf_error error;
    if (measure(1, 0, &error) != SF_OK || measure(2, 0, &error) != SF_OK || measure(4, 0, &error) != SF_OK ||
        measure(1, 100000, &error) != SF_OK || measure(4, 100000, &error) != SF_OK) {
        fprintf(stderr, "bench_merge: %s\n", error.text);
        return 1;
    }
    return 0;
}
