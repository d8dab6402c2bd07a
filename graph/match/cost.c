/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/cost.h"

#include "graph/match/needs.h"

#include <math.h>

/*
 * Measured on 16 virtual cores of an Intel Xeon with an NVIDIA H200 and, what is the CPU's, on two of an AMD
 * EPYC: bench/results/matching.md. They need be right within a factor of two: the better
 * of two ways that differ by less is no loss worth telling.
 */

/* ---- the CPU ---- */

/* Making a space: a data vertex that could be a candidate, what one that is must be next to, to be found by
 * its label or without, and each neighbour of these that is looked at; of graphs whose vertices' masks a
 * cache holds, and of others. */
#define CACHED_VERTICES (1u << 17)
static const struct looking {
    double member, labelled, unlabelled, neighbour;
} cached = {20e-9, 50e-9, 10e-9, 3e-9}, scattered = {90e-9, 100e-9, 60e-9, 60e-9};

/* A neighbour where the pattern says more of the two than one edge: its edges are searched. */
#define CLOSE_LOOK_SECONDS 70e-9

/* The shortest search, planned and begun, in spaces. */
#define LEAST_SEARCH 0.4

/* A search: what a step takes at least. */
#define STEP_SECONDS 25e-9

/* A step of a term. Steps are expected too few, 2 to 9 times: this makes up for some of it. */
#define TERM_STEP_SECONDS 300e-9
#define TERM_THREADS 2.0 /* more do not make a sum sooner */

/* To start a thread, one after the other, and what each does of the work of one alone. */
#define THREAD_SECONDS 40e-6
#define THREAD_SHARE 0.5
#define BLOCK 4096 /* data vertices, which a thread takes at a time */

/* ---- a device ---- */

/* Making a space: at all, for each vertex of the pattern, for that each of the graph, and for each neighbour.
 */
#define MAKING_SECONDS 0.10e-3
#define MAKING_VERTEX_SECONDS 0.03e-3
#define SIEVING_SECONDS 0.05e-9
#define NEIGHBOUR_SECONDS 0.1e-9

/* Sending a space that the CPU has made, and fetching one: at all, an array, and a byte. */
#define SENDING_SECONDS 0.05e-3
#define ARRAY_SECONDS 6e-6
#define SENT_BYTE_SECONDS 0.3e-9
#define FETCHED_BYTE_SECONDS 1e-9

/* Copying a graph: at all, and a byte. */
#define COPYING_SECONDS 0.2e-3
#define COPIED_BYTE_SECONDS 0.1e-9

/* A search: at all, for each vertex of the pattern, and for each candidate that is tried, of many. */
#define LAUNCH_SECONDS 0.06e-3
#define LAUNCH_VERTEX_SECONDS 0.01e-3
#define TRY_SECONDS 0.025e-9

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
    double alone = STEP_SECONDS * (double)sf_match_patience(threads);
    double seconds = STEP_SECONDS * sf_match_core_steps(space, plan);
    return making(space->query, threads).here + by_threads(seconds, alone, threads);
}
