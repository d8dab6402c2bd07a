/* SPDX-License-Identifier: Apache-2.0 */
/** A data graph as every matching engine sees it: by direction and by label. */
#ifndef SF_GRAPH_MATCH_INDEX_H
#define SF_GRAPH_MATCH_INDEX_H

#include "graph/match/match.h"

/** Neighbours sorted by label and then by id; entries of the directory say where each label begins. */
typedef struct sf_label_lists {
    uint32_t *targets;   /**< at the offsets of the graph, from offsets[0]; NULL: as in the graph */
    uint64_t *directory; /**< vertex_count + 1 places in the entries; NULL: only one label */
    uint32_t *labels;    /**< of an entry */
    uint64_t *starts;    /**< of an entry: where its targets begin; they end where the next entry's begin */
} sf_label_lists;

typedef struct sf_relatives sf_relatives; /* graph/match/relatives.h */

struct sf_match_index {
    const sf_csr *out, *in; /**< the same graph where it is undirected */
    sf_csr turned;
    bool has_loops;         /**< some vertex is its own neighbour */
    uint32_t label_count;   /**< dense labels are 0..label_count-1 */
    uint32_t *label_values; /**< of a dense label, ascending */
    uint32_t *labels;       /**< dense label of a vertex; NULL: all 0 */
    uint64_t *by_label;     /**< label_count + 1 places in members */
    uint32_t *members;      /**< vertices by label, ascending */
    sf_label_lists out_lists, in_lists;
    uint64_t *out_kinds, *in_kinds; /**< per vertex: one bit for every 64th label among its neighbours; the
                                       same where the graph is undirected */

    sf_relatives *relatives; /**< found when a search first asks for them */

    /* Room to work in, zero between searches. */
    uint64_t *masks;  /**< per vertex: the pattern vertices it may stand for */
    uint32_t *places; /**< per vertex: one more than its place in a list of candidates */
};

/** Dense label of a value, or SF_ANY_LABEL where no vertex has it. */
uint32_t sf_match_dense_label(const sf_match_index *index, uint32_t value);

/** Neighbours along edges out of (or into) a vertex, with a dense label (SF_ANY_LABEL: all), ascending. */
const uint32_t *sf_match_neighbours(const sf_match_index *index, bool out, uint32_t vertex, uint32_t label,
                                    size_t *count);

static inline uint32_t sf_match_label(const sf_match_index *index, uint32_t vertex)
{
    return index->labels != NULL ? index->labels[vertex] : 0;
}

#endif
