/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/search.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <string.h>

/* For each thread that would be started. */
#define PATIENCE 1024

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
        if (left == 0 || (kind->any != NULL && !kind->any(s, d, first)))
            continue;
        sf_share_part part = part_of(s, d, first, s->end[d]);
        if (sf_share_give(s->search->share, &part)) {
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
        sf_share_leave(share, &part);
        return true;
    }
    if (share != NULL && sf_share_wanted(share) > 0)
        give_away(s, step);
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
        if (root >= roots || sf_match_step(&s->tally))
            return;
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
    sf_share_enter(t->search->share);
    search_roots(t, s);
    while (sf_share_take(t->search->share, &part))
        t->search->kind->part(s, &part);
    return 0;
}

/* One thread begins; where that does not end soon, all go on. */
static int search_by_all(team *t)
{
    sf_match_search *search = t->search;
    unsigned threads = search->job->threads;
    int status = open_searcher(t);
    if (status != SF_OK)
        return status;
    sf_searcher *first = searcher_of(t, 0);
    first->patience = search->share != NULL ? sf_match_patience(threads) : UINT64_MAX;
    search_roots(t, first);
    if (first->tally.steps <= first->patience || atomic_load(&search->watch.stop))
        return SF_OK;
    first->patience = UINT64_MAX;
    while (t->open < threads && status == SF_OK)
        status = open_searcher(t);
    if (status == SF_OK)
        sf_parallel_for(threads, threads, search_by_thread, t);
    search->job->result->shared = sf_share_count(search->share);
    search->job->result->given = sf_share_given(search->share);
    return status;
}

int sf_match_search_run(sf_match_search *search, sf_error *error)
{
    unsigned threads = search->job->threads;
    team t = {search, sf_alloc(threads, search->kind->size), 0};
    const sf_match_tally **tallies = sf_resize(NULL, threads, sizeof *tallies);
    int status = t.searchers != NULL && tallies != NULL ? SF_OK : SF_NO_MEMORY;
    search->watch.total = search->space->counts[search->plan->steps[0].vertex];
    if (status == SF_OK && threads > 1)
        status = sf_share_open(&search->share, threads, NULL);
    if (status == SF_OK)
        status = search_by_all(&t);
    for (unsigned i = 0; i < t.open && tallies != NULL; i++)
        tallies[i] = &searcher_of(&t, i)->tally;
    status =
        status == SF_OK ? sf_match_finish(&search->watch, tallies, t.open, error) : sf_fail_memory(error);
    sf_share_close(search->share);
    search->share = NULL;
    for (unsigned i = 0; i < t.open; i++)
        search->kind->close(searcher_of(&t, i));
    sf_free(t.searchers);
    sf_free(tallies);
    return status;
}
