/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/needs.h"

static void add_need(sf_needs *n, bool out, uint32_t label, bool injective)
{
    uint64_t *degree = out ? &n->out_degree : &n->in_degree;
    *degree = injective ? *degree + 1 : 1; /* without injectivity one neighbour can serve all */
    if (label == SF_ANY_LABEL)
        return;
    *(out ? &n->out_kinds : &n->in_kinds) |= UINT64_C(1) << label % 64;
    for (size_t i = 0; i < n->count; i++) {
        if (n->items[i].out == out && n->items[i].label == label) {
            n->items[i].count += injective;
            return;
        }
    }
    n->items[n->count++] = (sf_need){out, label, 1};
}

void sf_needs_list(sf_needs *needs, const sf_query *q, uint32_t u)
{
    bool injective = q->semantics != SF_HOMOMORPHISM;
    *needs = (sf_needs){0};
    for (uint64_t left = q->required[u]; left != 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        if (sf_query_leads(q, u, w))
            add_need(needs, true, q->labels[w], injective);
        if (sf_query_leads(q, w, u))
            add_need(needs, false, q->labels[w], injective);
    }
}
