/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/search.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

/* Steps that one thread does before it shares what is left: starting others takes as long. */
#define PATIENCE 4096

typedef struct team {
    sf_match_search *search;
    const sf_search_kind *kind;
    char *searchers; /* each of kind->size bytes */
    unsigned open;
} team;

static sf_searcher *searcher_of(const team *t, unsigned i)
{
    return (sf_searcher *)(void *)(t->searchers + i * t->kind->size);
}

static int open_searcher(team *t)
{
    sf_searcher *s = searcher_of(t, t->open);
    s->search = t->search;
    s->tally = (sf_match_tally){.watch = &t->search->watch, .is_caller = t->open == 0};
    s->patience = UINT64_MAX;
    t->open++;
    return t->kind->open(s);
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
        t->kind->root(s, (uint32_t)root);
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
        t->kind->part(s, &part);
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
    first->patience = search->share != NULL ? PATIENCE : UINT64_MAX;
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

int sf_match_search_run(sf_match_search *search, const sf_search_kind *kind, sf_error *error)
{
    unsigned threads = search->job->threads;
    team t = {search, kind, sf_alloc(threads, kind->size), 0};
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
        kind->close(searcher_of(&t, i));
    sf_free(t.searchers);
    sf_free(tallies);
    return status;
}
