/* SPDX-License-Identifier: Apache-2.0 */
#include "core/thread.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/platform.h"

#include <errno.h>
#include <string.h>
#include <time.h>

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

/* ---- teams ---- */

#define WATCH_MS 50

typedef struct member {
    sf_team *team;
    unsigned index;
    sf_thread thread;
} member;

struct sf_team {
    unsigned size;
    unsigned spins; /**< looks before a waiting thread sleeps */
    member *members;
    void (*body)(void *context, unsigned worker, size_t item);
    void *context;
    size_t count;
    atomic_size_t next;            /**< the item that is handed out next */
    atomic_uint step;              /**< counts the steps; a change wakes the members */
    atomic_uint working;           /**< members that have not finished the step */
    atomic_bool closing, stopping; /* stopping: no other item is handed out */
    bool has_lock, has_wake, has_done;
    pthread_mutex_t lock; /**< for the two waits below */
    pthread_cond_t wake, done;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* The first item is the caller's: what only that may do, it does at least once. An item that was handed out
 * is done, whatever stops meanwhile. */
static void take_items(sf_team *team, unsigned worker)
{
    size_t item = worker == 0 ? 0 : team->count;
    for (;;) {
        if (item < team->count) team->body(team->context, worker, item);
        if (atomic_load_explicit(&team->stopping, memory_order_relaxed)) return;
        item = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
        if (item >= team->count) return;
    }
}

/* Looks for a while, since the next step usually follows at once, then sleeps. */
static void wait_for_step(sf_team *team, unsigned seen)
{
    for (unsigned i = 0; i < team->spins; i++) {
        if (atomic_load_explicit(&team->step, memory_order_acquire) != seen) return;
        relax();
    }
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->step) == seen)
        pthread_cond_wait(&team->wake, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

/* True where they are done, false after WATCH_MS. */
static bool wait_to_watch(sf_team *team)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WATCH_MS * SF_MILLISECOND;
    until.tv_sec += until.tv_nsec / SF_SECOND;
    until.tv_nsec %= SF_SECOND;
    int timed_out = 0;
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->working) != 0 && timed_out == 0)
        timed_out = pthread_cond_timedwait(&team->done, &team->lock, &until);
    pthread_mutex_unlock(&team->lock);
    return timed_out == 0;
}

static void wait_for_members(sf_team *team, void (*watch)(void *))
{
    for (unsigned i = 0; i < team->spins; i++) {
        if (atomic_load_explicit(&team->working, memory_order_acquire) == 0) return;
        relax();
    }
    while (watch != NULL && !wait_to_watch(team))
        watch(team->context);
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->working) != 0)
        pthread_cond_wait(&team->done, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

static void *live(void *argument)
{
    member *self = argument;
    sf_team *team = self->team;
    for (unsigned seen = 0;; seen++) {
        wait_for_step(team, seen);
        if (atomic_load(&team->closing)) return NULL;
        take_items(team, self->index);
        if (atomic_fetch_sub_explicit(&team->working, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&team->lock);
            pthread_cond_signal(&team->done);
            pthread_mutex_unlock(&team->lock);
        }
    }
}

static void announce_step(sf_team *team)
{
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add_explicit(&team->step, 1, memory_order_release);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

static void run_watched(sf_team *team, size_t count, void (*body)(void *, unsigned, size_t),
                        void (*watch)(void *), void *context)
{
    team->body = body;
    team->context = context;
    team->count = count;
    atomic_store_explicit(&team->next, 1, memory_order_relaxed);
    atomic_store_explicit(&team->stopping, false, memory_order_relaxed);
    if (team->size == 1 || count <= 1) {
        take_items(team, 0);
        return;
    }
    atomic_store_explicit(&team->working, team->size - 1, memory_order_relaxed);
    announce_step(team);
    take_items(team, 0);
    wait_for_members(team, watch);
}

void sf_team_run(sf_team *team, size_t count, void (*body)(void *, unsigned, size_t), void *context)
{
    run_watched(team, count, body, NULL, context);
}

int sf_team_open(sf_team **out, unsigned threads, sf_error *error)
{
    enum { SPINS = 2000 };
    *out = NULL;
    sf_team *team = sf_alloc(1, sizeof *team);
    if (team == NULL) return sf_fail_memory(error);
    team->size = 1;
    team->spins = threads <= sf_thread_cores() ? SPINS : 0;
    team->members = sf_alloc(threads, sizeof *team->members);
    if (team->members == NULL) {
        sf_team_close(team);
        return sf_fail_memory(error);
    }
    team->has_lock = pthread_mutex_init(&team->lock, NULL) == 0;
    team->has_wake = pthread_cond_init(&team->wake, NULL) == 0;
    team->has_done = pthread_cond_init(&team->done, NULL) == 0;
    bool ready = team->has_lock && team->has_wake && team->has_done;
    for (; ready && team->size < threads; team->size++) {
        member *next = &team->members[team->size];
        *next = (member){.team = team, .index = team->size};
        if (sf_thread_start(&next->thread, "synfire-team", live, next, NULL) != SF_OK) break;
    }
    *out = team;
    return SF_OK;
}

void sf_team_close(sf_team *team)
{
    if (team == NULL) return;
    if (team->size > 1) {
        atomic_store(&team->closing, true);
        announce_step(team);
    }
    for (unsigned i = 1; i < team->size; i++)
        sf_thread_join(&team->members[i].thread);
    if (team->has_lock) pthread_mutex_destroy(&team->lock);
    if (team->has_wake) pthread_cond_destroy(&team->wake);
    if (team->has_done) pthread_cond_destroy(&team->done);
    sf_free(team->members);
    sf_free(team);
}

unsigned sf_team_size(const sf_team *team)
{
    return team->size;
}

/* ---- a loop on a team of its own ---- */

typedef struct loop {
    sf_team *team;
    int (*body)(void *, unsigned, size_t);
    void (*watch)(void *);
    void *context;
    atomic_int result; /* the first that is not 0 */
} loop;

static void do_item(void *context, unsigned worker, size_t item)
{
    loop *of = context;
    int result = of->body(of->context, worker, item), none = 0;
    if (result == 0) return;
    atomic_compare_exchange_strong(&of->result, &none, result);
    atomic_store(&of->team->stopping, true);
}

static void watch_loop(void *context)
{
    loop *of = context;
    of->watch(of->context);
}

int sf_parallel_watched(unsigned threads, size_t count, int (*body)(void *, unsigned, size_t),
                        void (*watch)(void *), void *context)
{
    sf_team alone = {.size = 1};
    loop of = {.team = &alone, .body = body, .watch = watch, .context = context};
    if (threads > count) threads = (unsigned)count;
    if (threads > 1 && sf_team_open(&of.team, threads, NULL) != SF_OK) of.team = &alone;
    run_watched(of.team, count, do_item, watch != NULL ? watch_loop : NULL, &of);
    if (of.team != &alone) sf_team_close(of.team);
    return atomic_load(&of.result);
}

int sf_parallel_for(unsigned threads, size_t count, int (*body)(void *, unsigned, size_t), void *context)
{
    return sf_parallel_watched(threads, count, body, NULL, context);
}
