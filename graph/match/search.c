/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/search.h"

#include "graph/match/tuned.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <pthread.h>
#include <string.h>

/* ---- parts that threads take from one another ---- */

/* A thread that has nothing left says so, and the next that looks hands over half of what it has at its
 * shallowest step. */
struct sf_share {
    atomic_uint wanted; /* waiting threads less parts that wait for them */
    bool has_lock, has_change;
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t change;
    unsigned searching, waiting, count;
    uint64_t handed, given;
    sf_share_part parts[];
};

static void note_wanted(sf_share *s)
{
    atomic_store_explicit(&s->wanted, s->waiting > s->count ? s->waiting - s->count : 0,
                          memory_order_relaxed);
}

/* For up to `threads` threads. SF_NO_MEMORY. */
static int share_open(sf_share **share, unsigned threads, sf_error *error)
{
    unsigned room = threads + SF_PATTERN_MOST;
    sf_share *s = *share = sf_resize(NULL, 1, sizeof *s + room * sizeof *s->parts);
    if (s == NULL) return sf_fail_memory(error);
    memset(s, 0, sizeof *s); /* parts are written before they are read */
    s->has_lock = pthread_mutex_init(&s->lock, NULL) == 0;
    s->has_change = pthread_cond_init(&s->change, NULL) == 0;
    return s->has_lock && s->has_change ? SF_OK : sf_fail_memory(error);
}

static void share_close(sf_share *s)
{
    if (s == NULL) return;
    if (s->has_lock) pthread_mutex_destroy(&s->lock);
    if (s->has_change) pthread_cond_destroy(&s->change);
    sf_free(s);
}

/* How many threads wait for a part that is not there yet: to be looked at often. */
static unsigned share_wanted(const sf_share *s)
{
    return atomic_load_explicit(&s->wanted, memory_order_relaxed);
}

/* A thread begins to search what is its own; it takes parts afterwards. */
static void share_enter(sf_share *s)
{
    pthread_mutex_lock(&s->lock);
    s->searching++;
    pthread_mutex_unlock(&s->lock);
}

/* Leaves a part, before others have begun: at most SF_PATTERN_MOST of them. */
static void share_leave(sf_share *s, const sf_share_part *part)
{
    s->parts[s->count++] = *part;
    s->handed++;
}

/* Hands a part over; false where nobody wants it any more. */
static bool share_give(sf_share *s, const sf_share_part *part)
{
    pthread_mutex_lock(&s->lock);
    bool is_wanted = s->waiting > s->count;
    if (is_wanted) {
        s->parts[s->count++] = *part;
        s->handed++;
        s->given++;
        note_wanted(s);
        pthread_cond_signal(&s->change);
    }
    pthread_mutex_unlock(&s->lock);
    return is_wanted;
}

/* Waits for a part, when the caller has none left of its own. False when nobody has: the search is done. */
static bool share_take(sf_share *s, sf_share_part *part)
{
    pthread_mutex_lock(&s->lock);
    s->searching--;
    s->waiting++;
    note_wanted(s);
    while (s->count == 0 && s->searching > 0)
        pthread_cond_wait(&s->change, &s->lock);
    bool has_part = s->count > 0;
    if (has_part) {
        *part = s->parts[--s->count];
        s->searching++;
    } else {
        pthread_cond_broadcast(&s->change); /* nobody searches: all go */
    }
    s->waiting--;
    note_wanted(s);
    pthread_mutex_unlock(&s->lock);
    return has_part;
}

/* Parts left or handed over so far, and those of them that a thread without work had asked for. */
static uint64_t share_count(const sf_share *s)
{
    return s->handed;
}

static uint64_t share_given(const sf_share *s)
{
    return s->given;
}

/* ---- the search ---- */

uint64_t sf_match_patience(unsigned threads)
{
    return (uint64_t)PATIENCE * threads;
}

/* ---- parts that threads take from one another ---- */

/* Candidates first .. last - 1 of a step, below what is matched before it. */
static sf_share_part part_of(const sf_searcher *s, uint32_t step, uint32_t first, uint32_t last)
{
    sf_share_part part = {.depth = step, .first = first, .last = last};
    memcpy(part.places, s->place, sizeof part.places);
    return part;
}

/* What comes of it is not known here, so such a step is to blame nobody. */
static void give_away(sf_searcher *s, uint32_t step)
{
    for (uint32_t d = s->top; d <= step; d++) {
        const sf_search_kind *kind = s->search->kind;
        uint32_t left = s->end[d] - s->at[d] - 1, first = s->end[d] - (left + 1) / 2;
        if (left == 0 || (kind->any != NULL && !kind->any(s, d, first))) continue;
        sf_share_part part = part_of(s, d, first, s->end[d]);
        if (share_give(s->search->share, &part)) {
            s->end[d] = first;
            s->given |= sf_bit(d);
        }
        return;
    }
}

bool sf_match_search_shares(sf_searcher *s, uint32_t step)
{
    sf_share *share = s->search->share;
    if (s->tally.steps > s->patience) {
        sf_share_part part = part_of(s, step, s->at[step], s->end[step]);
        share_leave(share, &part);
        return true;
    }
    if (share != NULL && share_wanted(share) > 0) give_away(s, step);
    return false;
}

/* ---- who searches what ---- */

typedef struct team {
    sf_match_search *search;
    char *searchers; /* each of search->kind->size bytes */
    unsigned open;
} team;

static sf_searcher *searcher_of(const team *t, unsigned i)
{
    return (sf_searcher *)(void *)(t->searchers + i * t->search->kind->size);
}

static int open_searcher(team *t)
{
    sf_searcher *s = searcher_of(t, t->open);
    s->search = t->search;
    s->tally = (sf_match_tally){.watch = &t->search->watch, .is_caller = t->open == 0};
    s->patience = UINT64_MAX;
    t->open++;
    return t->search->kind->open(s);
}

static void search_roots(const team *t, sf_searcher *s)
{
    sf_match_search *search = t->search;
    size_t roots = search->space->counts[search->plan->steps[0].vertex];
    s->top = 1;
    while (s->tally.steps <= s->patience) {
        size_t root = atomic_fetch_add_explicit(&search->next_root, 1, memory_order_relaxed);
        if (root >= roots || sf_match_step(&s->tally)) return;
        t->search->kind->root(s, (uint32_t)root);
        atomic_fetch_add(&search->watch.done, 1);
    }
}

static int search_by_thread(void *context, unsigned worker, size_t item)
{
    (void)item;
    const team *t = context;
    sf_searcher *s = searcher_of(t, worker);
    sf_share_part part;
    share_enter(t->search->share);
    search_roots(t, s);
    while (share_take(t->search->share, &part))
        t->search->kind->part(s, &part);
    return 0;
}

/* One thread begins; where that does not end soon, all go on. */
static int search_by_all(team *t)
{
    sf_match_search *search = t->search;
    unsigned threads = search->job->threads;
    int status = open_searcher(t);
    if (status != SF_OK) return status;
    sf_searcher *first = searcher_of(t, 0);
    first->patience = search->share != NULL ? sf_match_patience(threads) : UINT64_MAX;
    search_roots(t, first);
    if (first->tally.steps <= first->patience || atomic_load(&search->watch.stop)) return SF_OK;
    first->patience = UINT64_MAX;
    while (t->open < threads && status == SF_OK)
        status = open_searcher(t);
    if (status == SF_OK) sf_parallel_for(threads, threads, search_by_thread, t);
    search->job->result->shared = share_count(search->share);
    search->job->result->given = share_given(search->share);
    return status;
}

int sf_match_search_run(sf_match_search *search, sf_error *error)
{
    unsigned threads = search->job->threads;
    team t = {search, sf_alloc(threads, search->kind->size), 0};
    const sf_match_tally **tallies = sf_resize(NULL, threads, sizeof *tallies);
    int status = t.searchers != NULL && tallies != NULL ? SF_OK : SF_NO_MEMORY;
    search->watch.total = search->space->counts[search->plan->steps[0].vertex];
    if (status == SF_OK && threads > 1) status = share_open(&search->share, threads, NULL);
    if (status == SF_OK) status = search_by_all(&t);
    for (unsigned i = 0; i < t.open && tallies != NULL; i++)
        tallies[i] = &searcher_of(&t, i)->tally;
    status =
        status == SF_OK ? sf_match_finish(&search->watch, tallies, t.open, error) : sf_fail_memory(error);
    share_close(search->share);
    search->share = NULL;
    for (unsigned i = 0; i < t.open; i++)
        search->kind->close(searcher_of(&t, i));
    sf_free(t.searchers);
    sf_free(tallies);
    return status;
}
