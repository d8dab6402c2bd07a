/* SPDX-License-Identifier: Apache-2.0 */
#include "core/thread.h"

#include "core/error.h"
#include "core/memory.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

int sf_thread_start(sf_thread *thread, const char *name, void *(*run)(void *), void *argument,
                    sf_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&thread->id, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    thread->running = failure == 0;
    if (failure != 0)
        return sf_fail(error, SF_INTERNAL, name, "cannot start a thread: %s", strerror(failure));
    char short_name[16];
    snprintf(short_name, sizeof short_name, "%s", name);
    pthread_setname_np(thread->id, short_name);
    return SF_OK;
}

void sf_thread_give_way(void)
{
    static const int background = 10;
    setpriority(PRIO_PROCESS, (id_t)gettid(),
                background); /* of a thread, on Linux; refused, nothing is lost */
}

void sf_thread_join(sf_thread *thread)
{
    if (!thread->running)
        return;
    pthread_join(thread->id, NULL);
    thread->running = false;
}

int sf_bell_open(sf_bell *bell, sf_error *error)
{
    bell->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    bell->open = bell->fd >= 0;
    if (!bell->open)
        return sf_fail(error, SF_INTERNAL, NULL, "cannot make an eventfd: %s", strerror(errno));
    return SF_OK;
}

void sf_bell_close(sf_bell *bell)
{
    if (bell->open)
        close(bell->fd);
    bell->open = false;
}

void sf_bell_ring(sf_bell *bell)
{
    uint64_t one = 1;
    ssize_t written = write(bell->fd, &one, sizeof one);
    (void)written; /* a full counter has rung already */
}

bool sf_bell_wait(sf_bell *bell, int timeout_ms)
{
    struct pollfd waiting = {.fd = bell->fd, .events = POLLIN};
    if (poll(&waiting, 1, timeout_ms) <= 0)
        return false;
    uint64_t rings;
    return read(bell->fd, &rings, sizeof rings) == sizeof rings;
}

static _Thread_local unsigned allotted; /* cores of this thread; 0: all that it may run on */

void sf_thread_allot(unsigned cores)
{
    allotted = cores;
}

unsigned sf_thread_cores(void)
{
    if (allotted > 0)
        return allotted;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    int count = CPU_COUNT(&allowed);
    return count > 0 ? (unsigned)count : 1;
}

void sf_processor_name(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", value + 2);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
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

/* The first item is worker 0's, the caller's thread: what only that may do, it does at least once. */
static void *work(void *argument)
{
    parallel_worker *worker = argument;
    parallel_loop *loop = worker->loop;
    for (size_t item = worker->index == 0 ? 0 : atomic_fetch_add(&loop->next, 1);
         item < loop->count && atomic_load(&loop->result) == 0; item = atomic_fetch_add(&loop->next, 1)) {
        int result = loop->body(loop->context, worker->index, item);
        int none = 0;
        if (result != 0)
            atomic_compare_exchange_strong(&loop->result, &none, result);
    }
    return NULL;
}

static void *work_beside(void *argument)
{
    parallel_loop *loop = ((parallel_worker *)argument)->loop;
    work(argument);
    atomic_fetch_sub(&loop->busy, 1);
    if (loop->ended.open)
        sf_bell_ring(&loop->ended);
    return NULL;
}

#define WATCH_MS 50

int sf_parallel_watched(unsigned threads, size_t count, int (*body)(void *, unsigned, size_t),
                        void (*watch)(void *), void *context)
{
    parallel_loop loop = {.body = body, .context = context, .count = count, .next = 1};
    if (threads > count)
        threads = (unsigned)count;
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
        if (!sf_bell_wait(&loop.ended, WATCH_MS))
            watch(context);
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
