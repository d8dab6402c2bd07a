/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/cost.h"

#include "graph/match/needs.h"
#include "graph/match/tuned.h"

#include <math.h>

static const struct looking {
    double member, labelled, unlabelled, neighbour;
} cached = CACHED_LOOKS, scattered = SCATTERED_LOOKS;

/* ---- spaces ---- */

static double edge_count(const sf_match_index *index)
{
    return (double)sf_csr_edge_count(index->out);
}

static double edges_of(const sf_match_index *index, bool out, uint32_t label)
{
    if (label == SF_ANY_LABEL) return edge_count(index);
    return (double)(out ? index->out_edges : index->in_edges)[label];
}

/* Neighbours with the label of w that a data vertex with the label of u has, if edges knew no labels. */
static double expected_neighbours(const sf_query *q, uint32_t u, uint32_t w)
{
    bool out = sf_query_leads(q, u, w);
    double members = sf_match_members(q->index, q->labels[u]), edges = edge_count(q->index);
    return edges > 0 ? edges_of(q->index, out, q->labels[u]) / members *
                           (edges_of(q->index, !out, q->labels[w]) / edges)
                     : 0;
}

/* What there is to do for one pattern vertex. */
typedef struct sifting {
    double members;              /* data vertices with its label */
    double candidates;           /* those that have a neighbour of each kind */
    double labelled, unlabelled; /* of a candidate: what it must be next to, */
    double looks, close;         /* and the neighbours that are looked at, and those closely */
} sifting;

static sifting sifting_of(const sf_query *q, uint32_t u)
{
    sifting s = {.members = sf_match_members(q->index, q->labels[u])};
    s.candidates = s.members;
    for (uint64_t left = q->required[u]; left != 0 && s.members > 0; left &= left - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(left);
        double neighbours = expected_neighbours(q, u, w);
        bool has_label = q->labels[w] != SF_ANY_LABEL && q->index->label_count > 1;
        s.candidates *= 1 - exp(-neighbours);
        *(has_label ? &s.labelled : &s.unlabelled) += 1;
        *(sf_query_pair(q, u, w)->plain ? &s.looks : &s.close) += neighbours;
    }
    return s;
}

static double at_once(double items, unsigned threads)
{
    double useful = fmin(threads, ceil(items / BLOCK));
    return useful > 1 ? useful * THREAD_SHARE : 1;
}

static sf_match_cost making(const sf_query *q, unsigned threads)
{
    const double vertices = q->index->out->vertex_count;
    const struct looking *costs = vertices <= CACHED_VERTICES ? &cached : &scattered;
    sf_match_cost all = {0, MAKING_SECONDS + (MAKING_VERTEX_SECONDS + SIEVING_SECONDS * vertices) * q->count};
    for (uint32_t u = 0; u < q->count; u++) {
        sifting s = sifting_of(q, u);
        double each = s.labelled * costs->labelled + s.unlabelled * costs->unlabelled +
                      s.looks * costs->neighbour + s.close * CLOSE_LOOK_SECONDS;
        all.here += (s.members * costs->member + s.candidates * each) / at_once(s.members, threads);
        all.there += NEIGHBOUR_SECONDS * s.candidates * (s.looks + s.close);
    }
    return all;
}

/* Arrays of candidates, and two of each link, if no two are the same. */
static double arrays_of(const sf_query *q)
{
    double arrays = q->count;
    for (uint32_t u = 0; u < q->count; u++)
        arrays += 2 * __builtin_popcountll(q->required[u]);
    return arrays;
}

static double launching(const sf_query *q)
{
    return LAUNCH_SECONDS + LAUNCH_VERTEX_SECONDS * q->count;
}

sf_match_cost sf_match_cost_of_space(const sf_query *q, unsigned threads, bool sends)
{
    sf_match_cost space = making(q, threads);
    if (sends)
        return (sf_match_cost){space.here + SENDING_SECONDS + ARRAY_SECONDS * arrays_of(q), space.there};
    return (sf_match_cost){(1 + LEAST_SEARCH) * space.here, space.there + launching(q)};
}

static double bytes_of(const sf_match_index *index, const sf_label_lists *lists)
{
    double vertices = index->out->vertex_count;
    double entries = lists->directory != NULL ? (double)lists->directory[index->out->vertex_count] : 0;
    return 20 * vertices + 4 * edge_count(index) + 12 * entries;
}

double sf_match_cost_of_copying(const sf_match_index *index)
{
    double bytes = bytes_of(index, &index->out_lists);
    bytes += index->out != index->in ? bytes_of(index, &index->in_lists) : 0;
    return COPYING_SECONDS + COPIED_BYTE_SECONDS * bytes;
}

/* ---- searches ---- */

static double space_arrays(const sf_space *space)
{
    return space->query->count + 2.0 * (double)space->links_count;
}

static double space_bytes(const sf_space *space)
{
    double bytes = 0;
    for (uint32_t u = 0; u < space->query->count; u++)
        bytes += 4.0 * space->counts[u];
    for (size_t i = 0; i < space->links_count; i++)
        bytes += 4.0 * (double)space->links[i].count + 8.0 * space->counts[space->links[i].from];
    return bytes;
}

static double sending(const sf_space *space)
{
    return SENDING_SECONDS + ARRAY_SECONDS * space_arrays(space) + SENT_BYTE_SECONDS * space_bytes(space);
}

static double fetching(const sf_space *space)
{
    return SENDING_SECONDS + ARRAY_SECONDS * space_arrays(space) + FETCHED_BYTE_SECONDS * space_bytes(space);
}

/* One thread begins, and all go on where it has not ended after `alone` seconds. */
static double by_threads(double seconds, double alone, unsigned threads)
{
    if (threads == 1 || seconds <= alone) return seconds;
    return alone + THREAD_SECONDS * threads + (seconds - alone) / (THREAD_SHARE * threads);
}

static double searching_here(const sf_terms *terms, const sf_match_sample *sample, unsigned threads)
{
    if (terms->items != NULL) return terms->work * TERM_STEP_SECONDS / fmin(threads, TERM_THREADS);
    double patience = (double)sf_match_patience(threads);
    double alone = sample->steps > patience ? patience / sample->steps : 1;
    return by_threads(sample->seconds, alone * sample->seconds, threads);
}

sf_match_cost sf_match_cost_of_search(const sf_space *space, const sf_terms *terms,
                                      const sf_match_sample *sample, unsigned threads)
{
    double here = searching_here(terms, sample, threads);
    double there = launching(space->query) + TRY_SECONDS * sample->tried;
    bool is_there = space->made != NULL;
    return (sf_match_cost){here + (is_there ? fetching(space) : 0), there + (is_there ? 0 : sending(space))};
}

double sf_match_core_steps(const sf_space *s, const sf_plan *plan)
{
    double paths = 1, steps = 0;
    for (uint32_t i = 0; i < plan->core; i++) {
        uint32_t u = plan->steps[i].vertex;
        paths *= s->counts[u];
        for (uint64_t left = plan->steps[i].joined; left != 0; left &= left - 1) {
            uint32_t w = (uint32_t)__builtin_ctzll(left);
            double links = (double)s->links[s->links_of[w][u]].count;
            paths *= links / ((double)s->counts[w] * (double)s->counts[u]);
        }
        steps += paths;
    }
    return steps;
}

double sf_match_cost_here(const sf_space *space, const sf_plan *plan, unsigned threads)
{
    double alone = LEAST_STEP_SECONDS * (double)sf_match_patience(threads);
    double seconds = LEAST_STEP_SECONDS * sf_match_core_steps(space, plan);
    return making(space->query, threads).here + by_threads(seconds, alone, threads);
}
