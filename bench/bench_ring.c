/* SPDX-License-Identifier: Apache-2.0 */
/* Million spikes per second through one ring between two threads, one by one and in batches. */
#include "core/clock.h"
#include "core/ring.h"
#include "core/thread.h"

#include <synfire/recording.h>

#include <inttypes.h>
#include <stdio.h>

#define MOST_BATCH 256

typedef struct job {
    sf_ring ring;
    uint64_t count;
    size_t batch;
} job;

static void *produce(void *argument)
{
    job *work = argument;
    sf_spike spikes[MOST_BATCH] = {0};
    for (uint64_t sent = 0; sent < work->count;) {
        size_t wanted = work->count - sent < work->batch ? (size_t)(work->count - sent) : work->batch;
        sent += sf_ring_push(&work->ring, spikes, wanted);
    }
    return NULL;
}

static int measure(size_t batch, uint64_t count)
{
    job work = {.count = count, .batch = batch};
    sf_thread producer;
    sf_error error;
    double begin = sf_clock_seconds();
    int status = sf_ring_open(&work.ring, sizeof(sf_spike), 16384, SF_RING_BLOCK, &error);
    if (status == SF_OK)
        status = sf_thread_start(&producer, "producer", produce, &work, &error);
    if (status != SF_OK) {
        fprintf(stderr, "bench_ring: %s\n", error.text);
        return sf_ring_close(&work.ring), 1;
    }
    sf_spike spikes[MOST_BATCH];
    for (uint64_t received = 0; received < count;)
        received += sf_ring_pop(&work.ring, spikes, batch, NULL);
    sf_thread_join(&producer);
    double seconds = sf_clock_seconds() - begin;
    printf("batch %4zu: %8.1f million spikes/s (%" PRIu64 " spikes of %zu bytes in %.3f s)\n", batch,
           (double)count / seconds * 1e-6, count, sizeof(sf_spike), seconds);
    sf_ring_close(&work.ring);
    return 0;
}

int main(void)
{
    return measure(1, 20000000) || measure(16, 100000000) || measure(MOST_BATCH, 200000000);
}
