/* SPDX-License-Identifier: Apache-2.0 */
/** Threads, a wake-up that any thread may ring, and loops over all cores, on threads that stay or come for
 * it. */
#ifndef SF_CORE_THREAD_H
#define SF_CORE_THREAD_H

#include <pthread.h>
#ifndef __cplusplus /* which the CUDA sources are */
#include <stdatomic.h>
#endif
#include <synfire/error.h>

typedef struct sf_thread {
    pthread_t id;
    bool running;
} sf_thread;

/** Starts `run(argument)` with all signals blocked (the main thread takes them); name is cut to 15
 * characters. */
int sf_thread_start(sf_thread *thread, const char *name, void *(*run)(void *), void *argument,
                    sf_error *error);

/** The calling thread, and threads that it starts from now on, give way to others: for work in the
 * background. */
void sf_thread_give_way(void);

/** Waits for the end; nothing where it was not started. */
void sf_thread_join(sf_thread *thread);

/** Sticky wake-up: a ring before the wait is not lost. Zero-initialised, it is closed. */
typedef struct sf_bell {
    bool open;
    int fd; /**< on Linux an eventfd, which may be polled beside sockets */
} sf_bell;

int sf_bell_open(sf_bell *bell, sf_error *error);
void sf_bell_close(sf_bell *bell);
void sf_bell_ring(sf_bell *bell);                 /**< real-time safe: one call of the system */
bool sf_bell_wait(sf_bell *bell, int timeout_ms); /**< true where it rang; clears it; -1 waits for ever */

/** Cores this process may run on, at least 1. */
unsigned sf_thread_cores(void);

/** The number of spikes from which on a pass over them is worth several threads. */
#define SF_SPIKES_FOR_THREADS 1000000

/** Parts that such a pass is cut into; fewer spikes are one part. */
#define SF_SPIKE_PARTS 64

static inline size_t sf_spikes_parts(size_t count)
{
    return count < SF_SPIKES_FOR_THREADS ? 1 : SF_SPIKE_PARTS;
}

/** Where a part of `count` spikes begins; their end for the part behind the last. */
static inline size_t sf_spikes_part(size_t count, size_t part)
{
    size_t parts = sf_spikes_parts(count);
    return part < parts ? count / parts * part : count;
}

/** Threads for such a pass: all cores, or 1. */
static inline unsigned sf_spikes_threads(size_t count)
{
    return count < SF_SPIKES_FOR_THREADS ? 1 : sf_thread_cores();
}

/** Limits sf_thread_cores() of the calling thread to `cores`, because others use the rest; 0: no limit. */
void sf_thread_allot(unsigned cores);

/** "AMD EPYC 9654": what the system calls the processor; "unknown processor" where it does not say. */
void sf_processor_name(char *name, size_t size);

/**
 * Calls body(context, worker, item) for item 0..count-1 on up to `threads` threads, items handed out in order
 * as threads come free; worker is 0..threads-1 and names the thread's own scratch space. Returns the first
 * non-zero result, or 0; after it no other item is handed out, but all before one that failed are done, so
 * that the first item to fail is known. The calling thread is worker 0 and does item 0; threads that cannot
 * be started are done without.
 */
int sf_parallel_for(unsigned threads, size_t count, int (*body)(void *context, unsigned worker, size_t item),
                    void *context);

/** The same; once no item is left for the calling thread, it calls watch(context) every 50 ms until the
 * others are done. */
int sf_parallel_watched(unsigned threads, size_t count,
                        int (*body)(void *context, unsigned worker, size_t item),
                        void (*watch)(void *context), void *context);

/** Threads that stay, for work in many short steps: a step on a team costs microseconds where a loop of its
 * own starts threads anew. */
typedef struct sf_team sf_team;

/** Starts threads - 1 threads (the caller is the other one); where some cannot be started the team is
 * smaller. SF_NO_MEMORY. */
int sf_team_open(sf_team **team, unsigned threads, sf_error *error);

/** Waits for its threads to end. */
void sf_team_close(sf_team *team);

unsigned sf_team_size(const sf_team *team);

/** A loop as sf_parallel_for's on the team, without results; worker is 0..size-1. One at a time. */
void sf_team_run(sf_team *team, size_t count, void (*body)(void *context, unsigned worker, size_t item),
                 void *context);

#endif
