/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A depth-first search along a plan, on one thread or several: who searches what. How candidates are found is
 * a kind's own matter: by sorted lists, or by bitmaps.
 *
 * Threads take candidates of the first vertex as they come free, and when those are gone, parts of what
 * others still search.
 */
#ifndef SF_GRAPH_MATCH_SEARCH_H
#define SF_GRAPH_MATCH_SEARCH_H

#include "graph/match/engine.h"
#include "graph/match/pattern.h"
#include "graph/match/plan.h"
#include "graph/match/rows.h"

#include <stdatomic.h>

/** Some candidates of a step, below what was chosen for the steps before. */
typedef struct sf_share_part {
    uint32_t depth;                   /**< the step */
    uint32_t places[SF_PATTERN_MOST]; /**< of the candidates of the vertices matched before it, by vertex */
    uint32_t first, last;             /**< of the step's candidates: first .. last - 1 */
} sf_share_part;

typedef struct sf_share sf_share;

typedef struct sf_match_search sf_match_search;

/** The state of one thread of the search; each kind of search appends its own. */
typedef struct sf_searcher {
    sf_match_search *search;
    sf_match_tally tally;
    uint64_t patience;               /**< steps of the search after which it leaves what is left */
    uint32_t top;                    /**< the first step whose candidates are this thread's to give away */
    uint64_t given;                  /**< steps of which some were */
    uint32_t place[SF_PATTERN_MOST]; /**< of a pattern vertex that is matched: of its candidate */
    uint32_t at[SF_PATTERN_MOST];    /**< of a step that is searched: the candidate at hand */
    uint32_t end[SF_PATTERN_MOST];   /**< of such a step: no candidate from here on */
} sf_searcher;

/** One way to search. Places are of the candidates of a vertex, in whatever order the kind has them. */
typedef struct sf_search_kind {
    size_t size;                                                    /**< of its searcher */
    int (*open)(sf_searcher *searcher);                             /**< SF_NO_MEMORY */
    void (*close)(sf_searcher *searcher);                           /**< where open failed too */
    void (*root)(sf_searcher *searcher, uint32_t candidate);        /**< of the first vertex, by its index */
    void (*part)(sf_searcher *searcher, const sf_share_part *part); /**< what another has handed over */
    /** Whether a step has any candidate from `from` to its end; NULL: all there are. */
    bool (*any)(const sf_searcher *searcher, uint32_t step, uint32_t from);
} sf_search_kind;

struct sf_match_search {
    const sf_match_job *job;
    const sf_search_kind *kind;
    const sf_space *space;
    const sf_plan *plan;
    const sf_rows *rows; /**< of the search by bitmaps */
    bool injective;
    atomic_size_t next_root;
    sf_share *share; /**< NULL on one thread */
    sf_match_watch watch;
};

/** Steps that one thread does before it shares what is left: starting the others takes about as long. */
uint64_t sf_match_patience(unsigned threads);

/** Fills count, truncated, steps, shared and given of the job's result. SF_CANCELLED, SF_NO_MEMORY. */
int sf_match_search_run(sf_match_search *search, sf_error *error);

/** At the current step: hands half of the remaining candidates of the shallowest step that has any to a
 * thread that waits. True if the current candidate and those after it belong to another thread now. */
bool sf_match_search_shares(sf_searcher *searcher, uint32_t step);

/** The search by sorted lists: any plan, and listing. */
extern const sf_search_kind sf_search_by_lists;

/** The search by bitmaps, which needs `rows`: it only counts. */
extern const sf_search_kind sf_search_by_domains;

#endif
