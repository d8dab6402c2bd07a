/* SPDX-License-Identifier: Apache-2.0 */
/** Inside the engine gvsm: its prefix tree (tree.c), which the search on CPU threads (gvsm.c) and the search
 * on a device (twigs.c) share. */
#ifndef SF_GRAPH_MATCH_GVSM_GVSM_H
#define SF_GRAPH_MATCH_GVSM_GVSM_H

#include "core/backend/match.h"
#include "graph/match/engine.h"
#include "graph/match/relatives.h"

/* What a data vertex must have around it to stand for a pattern vertex: by labels of neighbours, and by
 * labels of edges besides, as far as there is room. */
typedef struct sf_gvsm_needs {
    size_t count;
    sf_backend_twig_need items[4 * SF_PATTERN_MOST];
} sf_gvsm_needs;

typedef struct sf_gvsm_layer {
    uint32_t vertex;
    uint32_t parent;  /* pattern vertex, the root of its twig; SF_NO_VERTEX: of a part of its own */
    bool out;         /* the edge from parent to vertex leads that way */
    uint32_t edge;    /* its label, where it is found by that; or SF_ANY_LABEL */
    uint64_t checked; /* vertices of layers above of which anything is said that the twig does not tell */
    uint64_t greater; /* vertices of layers above whose data vertex must be smaller */
    bool has_twig;    /* it is the root of a later twig */
} sf_gvsm_layer;

typedef struct sf_gvsm {
    const sf_match_job *job;
    const sf_query *query;
    const sf_match_index *index;
    bool injective;
    bool by_kinds; /* labels of edges tell neighbours apart */
    unsigned features;
    sf_gvsm_layer layers[SF_PATTERN_MOST];
    sf_gvsm_needs around[SF_PATTERN_MOST]; /* of a pattern vertex: all its neighbours */
    sf_gvsm_needs twig[SF_PATTERN_MOST];   /* of the root of a twig: its children */
    uint64_t *blacklist;                   /* one bit a data vertex */
    uint8_t *match;                        /* NOT_YET, YES, NO of (pattern vertex, data vertex) */
    const uint32_t *implied;               /* both of the index; NULL where they are left out */
    sf_twins twins;
    uint64_t greatest_degree;
    atomic_uint_least64_t implied_tests;
    sf_match_watch watch;
} sf_gvsm;

typedef struct sf_gvsm_worker {
    sf_gvsm *g;
    sf_match_tally tally;
    sf_backend_node *entries[SF_PATTERN_MOST];
    /* data vertices of the entry at hand and all above it, by pattern vertex */
    uint32_t path[SF_PATTERN_MOST];
} sf_gvsm_worker;

/** Whether data vertex v is on the blacklist, which other threads may be adding to. */
static inline bool sf_gvsm_is_blacklisted(const sf_gvsm *g, uint32_t v)
{
    return (__atomic_load_n(&g->blacklist[v / 64], __ATOMIC_RELAXED) >> v % 64 & 1) != 0;
}

/** Whether data vertex v has around it what a pattern vertex needs. */
bool sf_gvsm_meets(const sf_gvsm *g, const sf_gvsm_needs *needs, uint32_t v);

/** Data vertices below an entry, by that of its parent; for a part of its own, all that have the label. */
const uint32_t *sf_gvsm_below(const sf_gvsm *g, const sf_gvsm_layer *layer, uint32_t parent, size_t *count);

/** Data vertices of entry `idx` of a layer and of all above it, into worker->path. */
void sf_gvsm_read_path(sf_gvsm_worker *worker, uint32_t depth, uint32_t idx);

/** Whether data vertex v may be tried for the vertex of a layer, whatever is above it. */
bool sf_gvsm_is_candidate(sf_gvsm_worker *worker, const sf_gvsm_layer *layer, uint32_t v);

/** Drops what does not fit from entries first .. end - 1 of a layer; returns where they end now, or `first`
 * where the search is to stop. */
uint32_t sf_gvsm_join(sf_gvsm_worker *worker, uint32_t depth, uint32_t first, uint32_t end);

/** Counts entries first .. end - 1 of the last layer, twins multiplied out. */
void sf_gvsm_count(sf_gvsm_worker *worker, uint32_t depth, uint32_t first, uint32_t end);

/** Whether a device can: as `supports` of sf_way, the job being an sf_gvsm. */
int sf_gvsm_supports(const void *job, const sf_device *device, sf_error *error);

/**
 * The whole search with every layer but the first expanded on a device, which is held meanwhile, and joined
 * on the threads of the job (graph/match/gvsm/twigs.c). Fills the result as the CPU does. SF_UNAVAILABLE: the
 * device cannot, and nothing is counted; SF_CANCELLED, SF_NO_MEMORY.
 */
int sf_gvsm_on_device(sf_gvsm *g, sf_device *device, sf_error *error);

#endif
