/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/engine.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

enum { STEPS_BETWEEN_LOOKS = 4096 };

static void report(sf_match_tally *t)
{
    sf_match_watch *w = t->watch;
    uint64_t news = t->count - t->reported, most = w->job->most;
    uint64_t before = atomic_fetch_add(&w->found, news);
    if (most != UINT64_MAX && sf_saturated_multiply(sf_saturated_add(before, news), w->factor) > most) {
        atomic_store(&w->truncated, true);
        atomic_store(&w->stop, true);
    }
    t->reported = t->count;
}

bool sf_match_is_late(const sf_match_job *job)
{
    return job->deadline > 0 && sf_clock_seconds() > job->deadline;
}

static void look_around(sf_match_tally *t)
{
    sf_match_watch *w = t->watch;
    report(t);
    if (sf_match_is_late(w->job)) {
        atomic_store(&w->truncated, true);
        atomic_store(&w->stop, true);
    }
    if (t->is_caller && !atomic_load(&w->stop) &&
        !sf_progress_update(w->job->progress, "matching", (double)atomic_load(&w->done), w->total)) {
        atomic_store(&w->cancelled, true);
        atomic_store(&w->stop, true);
    }
}

bool sf_match_step(sf_match_tally *tally)
{
    if (++tally->steps % STEPS_BETWEEN_LOOKS == 0) look_around(tally);
    return atomic_load_explicit(&tally->watch->stop, memory_order_relaxed);
}

bool sf_match_steps(sf_match_tally *tally, uint64_t steps)
{
    uint64_t looks = tally->steps / STEPS_BETWEEN_LOOKS;
    tally->steps += steps;
    if (tally->steps / STEPS_BETWEEN_LOOKS != looks) look_around(tally);
    return atomic_load_explicit(&tally->watch->stop, memory_order_relaxed);
}

static void hand_over(sf_match_watch *w, size_t place, const uint32_t *vertices)
{
    size_t row = w->job->query->count;
    void *embeddings = w->job->result->embeddings;
    if (place >= w->job->keep || w->no_room) return;
    w->no_room = sf_reserve(&embeddings, &w->room, (place + 1) * row, sizeof *vertices) != 0;
    w->job->result->embeddings = embeddings;
    if (w->no_room)
        atomic_store(&w->stop, true);
    else
        memcpy(w->job->result->embeddings + place * row, vertices, row * sizeof *vertices);
}

void sf_match_found(sf_match_tally *tally, uint64_t count, const uint32_t *vertices)
{
    sf_match_watch *w = tally->watch;
    tally->count = sf_saturated_add(tally->count, count);
    if (!w->job->list) return;
    hand_over(w, atomic_fetch_add(&w->kept, 1), vertices);
    report(tally);
}

int sf_match_finish(const sf_match_watch *watch, const sf_match_tally *const *tallies, unsigned threads,
                    sf_error *error)
{
    sf_match_result *result = watch->job->result;
    uint64_t count = 0;
    for (unsigned i = 0; i < threads; i++) {
        count = sf_saturated_add(count, tallies[i]->count);
        result->steps += tallies[i]->steps;
    }
    result->count = sf_saturated_multiply(count, watch->factor);
    result->automorphisms = watch->factor;
    bool cancelled = atomic_load(&watch->cancelled);
    result->truncated = cancelled || atomic_load(&watch->truncated) || result->count > watch->job->most;
    if (result->count > watch->job->most) result->count = watch->job->most;
    size_t kept = atomic_load(&watch->kept);
    result->kept = kept < watch->job->keep ? kept : watch->job->keep;
    if (watch->no_room) return sf_fail_memory(error);
    return cancelled ? sf_fail(error, SF_CANCELLED, NULL, "stopped before all was searched") : SF_OK;
}
