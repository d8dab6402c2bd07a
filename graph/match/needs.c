/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/needs.h"

static void add_need(sf_needs *n, bool out, uint32_t label, uint64_t who, bool injective)
{
    uint64_t *degree = out ? &n->out_degree : &n->in_degree;
    *degree = injective ? *degree + 1 : 1; /* without injectivity one neighbour can serve all */
    if (label == SF_ANY_LABEL) {
        *(out ? &n->any_out : &n->any_in) |= who;
        return;
    }
    *(out ? &n->out_kinds : &n->in_kinds) |= UINT64_C(1) << label % 64;
    for (size_t i = 0; i < n->count; i++) {
        if (n->items[i].out == out && n->items[i].label == label) {
            n->items[i].count += injective;
            n->items[i].who |= who;
            return;
        }
    }
    n->items[n->count++] = (sf_need){out, label, 1, who};
}

void sf_needs_list(sf_needs *needs, sf_need room[2 * SF_PATTERN_MOST], const sf_query *q, uint32_t u)
{
    const bool injective = q->semantics != SF_HOMOMORPHISM, has_directions = q->index->in != q->index->out;
    *needs = (sf_needs){.items = room};
    for (uint64_t left = q->required[u]; left != 0; left &= left - 1) {
        const uint32_t w = sf_lowest(left);
        const uint64_t who = sf_bit(w);
        const bool out = !has_directions || sf_query_leads(q, u, w);
        if (out) add_need(needs, true, q->labels[w], who, injective);
        if (has_directions && sf_query_leads(q, w, u))
            add_need(needs, false, q->labels[w], out ? 0 : who, injective);
    }
}
