/* SPDX-License-Identifier: Apache-2.0 */
/** A data graph as every matching engine sees it: by direction and by label. */
#ifndef SF_GRAPH_MATCH_INDEX_H
#define SF_GRAPH_MATCH_INDEX_H

#include "core/arena.h"
#include "graph/match/pattern.h"
#include "graph/match/there.h"

/** Neighbours sorted by label and then by id; entries of the directory say where each label begins. */
typedef struct sf_label_lists {
    uint32_t *targets;   /**< at the offsets of the graph, from offsets[0]; NULL: as in the graph */
    uint64_t *directory; /**< vertex_count + 1 places in the entries; NULL: only one label */
    uint32_t *labels;    /**< of an entry */
    uint64_t *starts;    /**< of an entry: where its targets begin; they end where the next entry's begin */
} sf_label_lists;

/** Twins have the same label and the same neighbours (and none has a loop, so none is the other's neighbour).
 */
typedef struct sf_twins {
    uint32_t *first; /**< of every vertex: its smallest twin, itself where it has none */
    uint32_t *size;  /**< of a first one: how many twins there are */
    uint64_t merged; /**< vertices that are not first */
} sf_twins;

/** The kind of an edge, seen from a vertex, is its label * label_count + the label of the neighbour; in the
 * lists an entry's label is a kind. graph/match/kinds.h makes them. */
typedef struct sf_edge_kinds {
    uint32_t greatest;      /**< label of an edge */
    sf_label_lists out, in; /**< in: of a directed graph */
} sf_edge_kinds;

/** What is known of the vertices of an index; graph/match/relatives.h finds it. */
typedef struct sf_relatives {
    sf_twins twins;
    uint32_t *implied;
} sf_relatives;

/** A data graph prepared for many patterns: its transpose, and vertices and neighbours by label. The graph
 * must outlive it. One search at a time. */
typedef struct sf_match_index {
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
                                       same where the graph is undirected, as the next */
    uint64_t *out_edges, *in_edges; /**< per label: edges out of its vertices, and into them */

    sf_edge_kinds *kinds;    /**< made when a search first asks for them, as what follows */
    sf_relatives *relatives; /**< two: by neighbours, and by neighbours and kinds of edges */
    sf_match_there *there;   /**< empty until a device makes a space */

    /* Room to work in, zero between searches. */
    uint64_t *masks;  /**< per vertex: the pattern vertices it may stand for */
    uint32_t *places; /**< per vertex: one more than its place in a list of candidates */
    uint8_t *users;   /**< per vertex: one more than the pattern vertex that it stands for */
    sf_arena *room;   /**< for a candidate space; empty while one has taken it */
} sf_match_index;

int sf_match_open(sf_match_index **index, const sf_csr *data, sf_error *error);
void sf_match_close(sf_match_index *index);

void sf_label_lists_free(sf_label_lists *lists);

/** Dense label of a value, or SF_ANY_LABEL where no vertex has it. */
uint32_t sf_match_dense_label(const sf_match_index *index, uint32_t value);

/** Neighbours along edges out of (or into) a vertex, with a dense label (SF_ANY_LABEL: all), ascending. */
const uint32_t *sf_match_neighbours(const sf_match_index *index, bool out, uint32_t vertex, uint32_t label,
                                    size_t *count);

/** Vertices with a dense label; SF_ANY_LABEL: all. */
static inline uint32_t sf_match_members(const sf_match_index *index, uint32_t label)
{
    return label == SF_ANY_LABEL ? index->out->vertex_count
                                 : (uint32_t)(index->by_label[label + 1] - index->by_label[label]);
}

static inline uint32_t sf_match_label(const sf_match_index *index, uint32_t vertex)
{
    return index->labels != NULL ? index->labels[vertex] : 0;
}

#endif
