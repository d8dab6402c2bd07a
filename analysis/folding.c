/* SPDX-License-Identifier: Apache-2.0 */
/* Applies mine/folding.h to the episodes of a recording, for every table, figure and file. */
#include "mine/folding.h"
#include "analysis/episodes.h"
#include "core/error.h"
#include "core/memory.h"

static void keep_chains(sf_episodes *e, const size_t *parents, const double *q, size_t count)
{
    sf_chain_count found = sf_count_chains(parents, q, count);
    e->chains = found.chains;
    e->parts = found.parts;
}

/* All significant episodes, selected or not. */
typedef struct standing {
    sf_episode *episodes;
    uint64_t *counts;
    double *expected, *q;
    size_t *parents, count;
} standing;

static void list_standing(standing *s, const sf_mine_result *result)
{
    s->count = 0;
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        if (!(item->q <= SF_SIGNIFICANT_Q)) continue;
        sf_mine_result_episode(result, i, &s->episodes[s->count]);
        s->counts[s->count] = item->count;
        s->expected[s->count] = item->expected;
        s->q[s->count++] = item->q;
    }
}

static int count_found(sf_episodes *e, sf_error *error)
{
    size_t most = 0;
    for (size_t i = 0; i < e->result->count; i++)
        most += e->result->items[i].q <= SF_SIGNIFICANT_Q;
    standing s = {.episodes = sf_resize(NULL, most, sizeof *s.episodes),
                  .counts = sf_resize(NULL, most, sizeof *s.counts),
                  .expected = sf_resize(NULL, most, sizeof *s.expected),
                  .q = sf_resize(NULL, most, sizeof *s.q),
                  .parents = sf_resize(NULL, most, sizeof *s.parents)};
    int status = SF_OK;
    if (s.episodes == NULL || s.counts == NULL || s.expected == NULL || s.q == NULL || s.parents == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK) {
        list_standing(&s, e->result);
        status = sf_fold(s.parents, s.episodes, s.counts, s.expected, s.q, s.count, error);
    }
    if (status == SF_OK) keep_chains(e, s.parents, s.q, s.count);
    void *const all[] = {s.episodes, s.counts, s.expected, s.q, s.parents};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sf_free(all[i]);
    return status;
}

int sf_episodes_fold(sf_episodes *e, sf_error *error)
{
    e->chains = e->parts = 0;
    if (!e->wants_details && !e->is_tested) return SF_OK;
    e->parents = sf_resize(e->parents, e->count, sizeof *e->parents);
    if (e->parents == NULL) return sf_fail_memory(error);
    int status = sf_fold(e->parents, e->episodes, e->counts, e->expected, e->q, e->count, error);
    if (status == SF_OK && e->result == NULL)
        keep_chains(e, e->parents, e->q, e->count);
    else if (status == SF_OK)
        status = count_found(e, error);
    return status;
}
