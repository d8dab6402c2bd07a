/* SPDX-License-Identifier: Apache-2.0 */
#include "core/team.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

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
    atomic_size_t next;  /**< the item that is handed out next */
    atomic_uint step;    /**< counts the steps; a change wakes the members */
    atomic_uint working; /**< members that have not finished the step */
    atomic_bool closing;
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

static void take_items(sf_team *team, unsigned worker)
{
    for (;;) {
        size_t item = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed);
        if (item >= team->count) return;
        team->body(team->context, worker, item);
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

static void wait_for_members(sf_team *team)
{
    for (unsigned i = 0; i < team->spins; i++) {
        if (atomic_load_explicit(&team->working, memory_order_acquire) == 0) return;
        relax();
    }
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

void sf_team_run(sf_team *team, size_t count, void (*body)(void *context, unsigned worker, size_t item),
                 void *context)
{
    if (team->size == 1 || count <= 1) {
        for (size_t item = 0; item < count; item++)
            body(context, 0, item);
        return;
    }
    team->body = body;
    team->context = context;
    team->count = count;
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    atomic_store_explicit(&team->working, team->size - 1, memory_order_relaxed);
    announce_step(team);
    take_items(team, 0);
    wait_for_members(team);
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
