/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/piece_counter.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "mine/interval.h"
#include "window/summaries.h"

int sf_piece_counter_open(sf_piece_counter *counter, const sf_pieces *pieces, size_t unit_count,
                          const sf_events *events, sf_error *error)
{
    *counter = (sf_piece_counter){.pieces = pieces, .unit_count = unit_count};
    counter->keep = sf_alloc(unit_count, sizeof *counter->keep);
    uint64_t own = 0;
    for (uint32_t u = 0; counter->keep != NULL && u < events->unit_count; u++) {
        counter->keep[events->unit[u]] = true;
        own += pieces->own_spikes[events->unit[u]];
    }
    void *all;
    size_t bytes;
    int status = counter->keep != NULL ? SF_OK : sf_fail_memory(error);
    status = sf_ranks_append(&all, &bytes, &own, sizeof own, status, error);
    for (uint32_t r = 0; status == SF_OK && r < sf_ranks_rank(); r++)
        counter->begin += ((const uint64_t *)all)[r];
    sf_free(all);
    return status;
}

void sf_piece_counter_close(sf_piece_counter *counter)
{
    sf_free(counter->keep);
    *counter = (sf_piece_counter){0};
}

/* ---- one pass ---- */

typedef struct pass {
    const sf_piece_counter *counter;
    const sf_count_job *job;
    const sf_piece_progress *told;
    sf_summary *so_far, *next; /* of this rank's pieces up to here, and of the one at hand; by candidate */
    sf_summary joined;
    uint64_t at; /* position of the next kept spike */
    double pieces_done, pieces;
} pass;

/* What the piece at hand does to a count, after what those before it did. */
static int compose(pass *p, size_t i, sf_error *error)
{
    int status = sf_summary_compose(&p->joined, &p->so_far[i], &p->next[i], error);
    sf_summary before = p->so_far[i];
    p->so_far[i] = p->joined;
    p->joined = before;
    return status;
}

static int tell(pass *p, sf_error *error)
{
    const sf_piece_progress *told = p->told;
    double share = ++p->pieces_done / p->pieces;
    if (sf_progress_update(told->progress, told->what, told->done + share * (double)p->job->candidates->count,
                           told->total))
        return SF_OK;
    return sf_fail(error, SF_CANCELLED, NULL, "stopped while %s", told->what);
}

static int count_piece(void *context, const sf_piece *piece, sf_error *error)
{
    pass *p = context;
    const sf_piece_counter *counter = p->counter;
    sf_events events = {0};
    sf_events_choice choice = {.keep = counter->keep, .threads = p->job->threads};
    sf_count_job here = *p->job;
    here.events = &events;
    here.first = 0;
    for (size_t i = 0; i < piece->before; i++)
        here.first += counter->keep[piece->spikes[i].unit];
    int status = sf_events_lay_out(&events, piece->spikes, piece->count, counter->unit_count, &choice, error);
    if (status == SF_OK) status = sf_events_time_units(&events, p->job->threads, error);
    here.last = events.count;
    if (status == SF_OK) status = sf_interval_summarise(p->next, &here, 0, p->at - here.first, error);
    p->at += here.last - here.first;
    sf_events_close(&events);
    for (size_t i = 0; status == SF_OK && i < here.candidates->count; i++)
        status = compose(p, i, error);
    return status == SF_OK ? tell(p, error) : status;
}

/* As far as an occurrence of any of the candidates may last. */
static int64_t reach_of(const sf_candidates *candidates)
{
    int64_t longest_ns = 0, reach_ns = 0;
    for (size_t i = 0; i < candidates->interval_count; i++)
        longest_ns =
            candidates->intervals[i].high_ns > longest_ns ? candidates->intervals[i].high_ns : longest_ns;
    for (uint32_t link = 1; link < candidates->size; link++)
        reach_ns = sf_time_plus(reach_ns, longest_ns);
    return reach_ns;
}

int sf_piece_counter_count(const sf_piece_counter *counter, uint32_t *counts, const sf_count_job *job,
                           const sf_piece_progress *told, sf_error *error)
{
    size_t count = job->candidates->count;
    sf_ranks_part own = sf_ranks_share(counter->pieces->count);
    pass p = {.counter = counter,
              .job = job,
              .told = told,
              .so_far = sf_summaries_new(count),
              .next = sf_summaries_new(count),
              .at = counter->begin,
              .pieces = (double)(own.last - own.first)};
    uint64_t *sums = sf_resize(NULL, count, sizeof *sums);
    int status = p.so_far != NULL && p.next != NULL && sums != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        sf_summary_clear(&p.so_far[i], p.at, p.at);
    if (status == SF_OK)
        status = sf_pieces_walk(counter->pieces, reach_of(job->candidates), count_piece, &p, error);
    sf_summaries_free(p.next, count);
    status = sf_summaries_count(sums, p.so_far, count, status, error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        counts[i] = (uint32_t)sums[i];
    sf_summaries_free(p.so_far, count);
    sf_summary_free(&p.joined);
    sf_free(sums);
    return status;
}
