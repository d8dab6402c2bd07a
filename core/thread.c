/* SPDX-License-Identifier: Apache-2.0 */
#include "core/thread.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

#include <errno.h>
#include <string.h>

int sf_thread_start(sf_thread *thread, const char *name, void *(*run)(void *), void *argument,
                    sf_error *error)
{
    int failure = sf_platform_start(&thread->id, name, run, argument);
    thread->running = failure == 0;
    if (failure != 0)
        return sf_fail(error, SF_INTERNAL, name, "cannot start a thread: %s", strerror(failure));
    return SF_OK;
}

void sf_thread_give_way(void)
{
    sf_platform_give_way();
}

void sf_thread_join(sf_thread *thread)
{
    if (!thread->running) return;
    pthread_join(thread->id, NULL);
    thread->running = false;
}

int sf_bell_open(sf_bell *bell, sf_error *error)
{
    bell->fd = sf_platform_bell_open();
    bell->open = bell->fd >= 0;
    if (!bell->open) return sf_fail(error, SF_INTERNAL, NULL, "cannot make a wake-up: %s", strerror(errno));
    return SF_OK;
}

void sf_bell_close(sf_bell *bell)
{
    if (bell->open) sf_platform_bell_close(bell->fd);
    bell->open = false;
}

void sf_bell_ring(sf_bell *bell)
{
    sf_platform_bell_ring(bell->fd);
}

bool sf_bell_wait(sf_bell *bell, int timeout_ms)
{
    return sf_platform_bell_wait(bell->fd, timeout_ms);
}

static _Thread_local unsigned allotted; /* cores of this thread; 0: all that it may run on */

void sf_thread_allot(unsigned cores)
{
    allotted = cores;
}

unsigned sf_thread_cores(void)
{
    return allotted > 0 ? allotted : sf_platform_cores();
}

void sf_processor_name(char *name, size_t size)
{
    sf_platform_processor(name, size);
}

typedef struct parallel_loop {
    int (*body)(void *, unsigned, size_t);
    void *context;
    size_t count;
    atomic_size_t next;
    atomic_int result;
    atomic_uint busy; /* other threads that have not ended */
    sf_bell ended;    /* rung by each of them, where somebody watches */
} parallel_loop;

typedef struct parallel_worker {
    parallel_loop *loop;
    unsigned index;
    sf_thread thread;
} parallel_worker;

/* An item that was handed out is done, whatever fails meanwhile: those before one that failed are. */
static size_t next_item(parallel_loop *loop)
{
    return atomic_load(&loop->result) == 0 ? atomic_fetch_add(&loop->next, 1) : loop->count;
}

/* The first item is worker 0's, the caller's thread: what only that may do, it does at least once. */
static void *work(void *argument)
{
    parallel_worker *worker = argument;
    parallel_loop *loop = worker->loop;
    for (size_t item = worker->index == 0 ? 0 : next_item(loop); item < loop->count; item = next_item(loop)) {
        int result = loop->body(loop->context, worker->index, item);
        int none = 0;
        if (result != 0) atomic_compare_exchange_strong(&loop->result, &none, result);
    }
    return NULL;
}

static void *work_beside(void *argument)
{
    parallel_loop *loop = ((parallel_worker *)argument)->loop;
    work(argument);
    atomic_fetch_sub(&loop->busy, 1);
    if (loop->ended.open) sf_bell_ring(&loop->ended);
    return NULL;
}

#define WATCH_MS 50

int sf_parallel_watched(unsigned threads, size_t count, int (*body)(void *, unsigned, size_t),
                        void (*watch)(void *), void *context)
{
    parallel_loop loop = {.body = body, .context = context, .count = count, .next = 1};
    if (threads > count) threads = (unsigned)count;
    parallel_worker *workers = threads > 1 ? sf_alloc(threads, sizeof *workers) : NULL;
    bool watches = workers != NULL && watch != NULL && sf_bell_open(&loop.ended, NULL) == SF_OK;
    for (unsigned i = 1; workers != NULL && i < threads; i++) {
        workers[i] = (parallel_worker){.loop = &loop, .index = i};
        atomic_fetch_add(&loop.busy, 1);
        if (sf_thread_start(&workers[i].thread, "synfire-work", work_beside, &workers[i], NULL) == SF_OK)
            continue;
        atomic_fetch_sub(&loop.busy, 1);
        break;
    }
    parallel_worker self = {.loop = &loop};
    work(&self);
    while (watches && atomic_load(&loop.busy) > 0)
        if (!sf_bell_wait(&loop.ended, WATCH_MS)) watch(context);
    for (unsigned i = 1; workers != NULL && i < threads; i++)
        sf_thread_join(&workers[i].thread);
    sf_bell_close(&loop.ended);
    sf_free(workers);
    return atomic_load(&loop.result);
}

int sf_parallel_for(unsigned threads, size_t count, int (*body)(void *, unsigned, size_t), void *context)
{
    return sf_parallel_watched(threads, count, body, NULL, context);
}
