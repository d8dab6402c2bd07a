/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/plan.h"

#include <string.h>

/* ---- order ---- */

/* The number of candidates of the unmatched vertex w that are expected to remain once those before it are
 * matched, if links were independent. */
static void expect(const sf_space *s, uint64_t matched, uint32_t w, double *expected)
{
    for (uint64_t left = s->query->required[w] & ~matched; left != 0; left &= left - 1) {
        uint32_t u = sf_lowest(left);
        double links = (double)s->links[s->links_of[w][u]].count;
        expected[u] *= links / ((double)s->counts[w] * (double)s->counts[u]);
    }
}

/* The next vertex: of those joined with earlier ones (if there are any) the one with the fewest expected
 * candidates; as the first, the one with the most joins per candidate. */
static uint32_t choose_next(const sf_space *s, uint64_t matched, uint64_t reached, const double *expected)
{
    uint32_t best = SF_NO_VERTEX;
    double least = 0;
    for (uint32_t u = 0; u < s->query->count; u++) {
        bool is_reached = (reached & sf_bit(u)) != 0;
        if ((matched & sf_bit(u)) != 0 || ((reached & ~matched) != 0 && !is_reached)) continue;
        double score = expected[u];
        if (!is_reached) score /= 1 + __builtin_popcountll(s->query->required[u]);
        if (best == SF_NO_VERTEX || score < least) {
            best = u;
            least = score;
        }
    }
    return best;
}

/* first: SF_NO_VERTEX where any may be. */
static void make_order(uint32_t *order, const sf_space *s, uint32_t first, double *work)
{
    uint64_t matched = 0, reached = 0;
    double paths = 1, expected[SF_PATTERN_MOST];
    *work = 0;
    for (uint32_t u = 0; u < s->query->count; u++)
        expected[u] = s->counts[u];
    for (uint32_t i = 0; i < s->query->count; i++) {
        order[i] = i == 0 && first != SF_NO_VERTEX ? first : choose_next(s, matched, reached, expected);
        matched |= sf_bit(order[i]);
        reached |= s->query->required[order[i]];
        paths *= expected[order[i]];
        *work += paths;
        expect(s, matched, order[i], expected);
    }
}

/* ---- the end that is counted by products ---- */

static void make_groups(sf_plan *plan, const sf_query *q, const uint32_t *tail, uint32_t count)
{
    plan->group_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t group = sf_bit(tail[i]);
        uint32_t kept = 0;
        for (uint32_t g = 0; g < plan->group_count; g++) { /* whatever it can share with becomes one group */
            bool shares = false;
            for (uint64_t left = plan->groups[g]; left != 0; left &= left - 1)
                shares |= sf_query_can_share(q, tail[i], sf_lowest(left));
            if (shares)
                group |= plan->groups[g];
            else
                plan->groups[kept++] = plan->groups[g];
        }
        plan->groups[kept] = group;
        plan->group_count = kept + 1;
    }
}

/* Vertices without later neighbours, from the end of the order on, as long as groups stay small. Returns how
 * many are left to be matched one by one; they come first in the order, as they were. */
static uint32_t split_order(sf_plan *plan, uint32_t *order, const sf_query *q, int most_in_group)
{
    uint32_t core[SF_PATTERN_MOST], tail[SF_PATTERN_MOST] = {0}, cores = 0, tails = 0;
    uint64_t later = 0; /* everything after the vertex at hand */
    bool is_tail[SF_PATTERN_MOST] = {false};
    for (uint32_t i = q->count; i-- > 1; later |= sf_bit(order[i])) {
        if ((q->constrained[order[i]] & later) != 0) continue;
        tail[tails] = order[i];
        make_groups(plan, q, tail, tails + 1);
        bool small = true;
        for (uint32_t g = 0; g < plan->group_count; g++)
            small &=
                q->semantics == SF_HOMOMORPHISM || __builtin_popcountll(plan->groups[g]) <= most_in_group;
        is_tail[i] = small;
        tails += small;
    }
    make_groups(plan, q, tail, tails);
    tails = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        if (is_tail[i])
            tail[tails++] = order[i];
        else
            core[cores++] = order[i];
    }
    memcpy(order, core, cores * sizeof *order);
    memcpy(order + cores, tail, tails * sizeof *order);
    return cores;
}

/* ---- the plan ---- */

static void fill_steps(sf_plan *plan, const sf_query *q, const uint32_t *order)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t u = order[i];
        plan->steps[i] = (sf_order_step){.vertex = u,
                                         .joined = q->required[u] & before,
                                         .checked = q->constrained[u] & ~q->required[u] & before};
        before |= sf_bit(u);
    }
}

/* For every vertex after the core, the step after which all that bears on it is matched. */
static void fill_decided(sf_plan *plan)
{
    for (uint32_t t = plan->core; t < plan->count; t++) {
        const sf_order_step *tail = &plan->steps[t];
        uint64_t bearing = tail->joined | tail->checked | tail->greater;
        uint32_t last = 0;
        for (uint32_t i = 0; i < plan->core; i++)
            if ((bearing & sf_bit(plan->steps[i].vertex)) != 0) last = i;
        plan->steps[last].decided |= sf_bit(tail->vertex);
    }
}

void sf_plan_make(sf_plan *plan, const sf_space *space, const sf_symmetry *symmetry, int most_in_group)
{
    sf_plan_make_from(plan, space, symmetry, most_in_group, SF_NO_VERTEX);
}

void sf_plan_make_from(sf_plan *plan, const sf_space *space, const sf_symmetry *symmetry, int most_in_group,
                       uint32_t first)
{
    const sf_query *q = space->query;
    memset(plan, 0, sizeof *plan);
    uint32_t order[SF_PATTERN_MOST];
    make_order(order, space, first, &plan->work);
    plan->count = plan->core = q->count;
    plan->factor = 1;
    if (most_in_group > 0) plan->core = split_order(plan, order, q, most_in_group);
    fill_steps(plan, q, order);
    if (symmetry != NULL) {
        uint64_t greater[SF_PATTERN_MOST];
        plan->factor = sf_symmetry_break(symmetry, order, plan->core, greater);
        for (uint32_t i = 0; i < plan->count; i++)
            plan->steps[i].greater = greater[order[i]];
    }
    fill_decided(plan);
}
