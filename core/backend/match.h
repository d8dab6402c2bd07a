/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Subgraph matching on a device: the search of engine auto, in plain arrays.
 *
 * A pattern vertex becomes a step, and its candidates are numbered by their place in an ascending set of data
 * vertices. All that the pattern says of two vertices becomes lists: for each candidate of an earlier step
 * the ascending places of those candidates of a later step that go with it (or, of what must be absent, that
 * do not). So a search knows no graph, no labels and no attributes: it intersects sorted lists. These come
 * from the host, or are made on the device from a graph that stays there.
 */
#ifndef SF_CORE_BACKEND_MATCH_H
#define SF_CORE_BACKEND_MATCH_H

#include "core/backend/job.h"

#define SF_BACKEND_MATCH_MOST 16  /**< steps; sets of steps are words, bit i is step i */
#define SF_BACKEND_MATCH_GROUP 3u /**< steps in a group that are not alike */

/* ---- candidate spaces, made on the device ---- */

/** The neighbours of vertex v are targets[offsets[v]] .. targets[offsets[v + 1] - 1], ascending. */
typedef struct sf_backend_neighbours {
    const uint64_t *offsets; /**< vertex_count + 1; the first need not be 0 */
    const uint32_t *targets;
} sf_backend_neighbours;

/** Neighbours sorted by label, then by id: entry e of a vertex lists those with labels[e], which are
 * targets[starts[e]] .. targets[starts[e + 1]] - 1. */
typedef struct sf_backend_labelled {
    const uint64_t *directory; /**< vertex_count + 1: the entries of each vertex */
    const uint32_t *labels;    /**< ascending for a vertex */
    const uint64_t *starts;    /**< one more than entries; the first is 0 */
    const uint32_t *targets;
} sf_backend_labelled;

/** A data graph. Borrowed until it is closed: what no job has needed so far is not copied. */
typedef struct sf_backend_data_job {
    const sf_backend_watch *watch; /**< of the call */
    uint32_t vertex_count;
    bool directed;
    sf_backend_neighbours out, in; /**< in: of a directed graph */
    const uint32_t *labels;        /**< of vertices; NULL: they have none, and there are no labelled lists */
    sf_backend_labelled out_labelled, in_labelled;
    const uint32_t *edge_labels; /**< or NULL; of out.targets, from its first offset on */
} sf_backend_data_job;

typedef struct sf_backend_data sf_backend_data;

/** A vertex must have `count` neighbours with a label (UINT32_MAX: any). */
typedef struct sf_backend_need {
    uint32_t label, count;
    bool out;
} sf_backend_need;

/** What a candidate of a pattern vertex must be. Sets of pattern vertices are words. */
typedef struct sf_backend_space_vertex {
    uint32_t label;                 /**< UINT32_MAX: any */
    uint64_t out_degree, in_degree; /**< at least */
    const sf_backend_need *needs;
    uint32_t need_count;
    const uint32_t *allowed; /**< or NULL: bits of the data vertices that may be candidates */
    uint32_t required;       /**< vertices of which a candidate must be a neighbour */
    uint32_t out;            /**< of these: along an edge out of this one, else into it */
} sf_backend_space_vertex;

/** Vertices in order lose the candidates that lack a candidate of a required one among their neighbours, as
 * long as any does, at most `rounds` times; first all, then those next to vertices that lost some. */
typedef struct sf_backend_space_job {
    const sf_backend_watch *watch; /**< until the space is closed */
    uint32_t count;                /**< 1 .. SF_BACKEND_MATCH_MOST */
    uint32_t rounds;
    sf_backend_space_vertex vertices[SF_BACKEND_MATCH_MOST];
} sf_backend_space_job;

typedef struct sf_backend_space_answer {
    bool lost;         /**< there is no space: the graph was given back, since other jobs lacked memory */
    bool is_empty;     /**< a vertex has no candidate, and nothing is linked */
    uint32_t filtered; /**< vertices, up to the first that has none */
    uint32_t counts[SF_BACKEND_MATCH_MOST];
    uint32_t twin[SF_BACKEND_MATCH_MOST]; /**< the first vertex with the same candidates */
    uint32_t useful;                      /**< data vertices that are a candidate of anything */
} sf_backend_space_answer;

/** An edge with a label between a candidate of `from` and one of `to`. */
typedef struct sf_backend_link_edge {
    uint32_t label;
    bool out, absent; /**< out: it leads to the candidate of `to` */
} sf_backend_link_edge;

/** Places of those candidates of `to` next to each of `from` with which all that follows holds; `excluded`:
 * of those next to it with which it does not. */
typedef struct sf_backend_link {
    uint32_t from, to;
    bool excluded;
    bool along;         /**< not excluded: the neighbours are those along edges out of `from` */
    bool plain;         /**< nothing else is said */
    bool out, in;       /**< an edge must lead to the candidate of `to`, or come from it */
    bool no_out, no_in; /**< none may */
    const sf_backend_link_edge *edges;
    uint32_t edge_count;
} sf_backend_link;

typedef struct sf_backend_space sf_backend_space;

/* ---- the search ---- */

/** List of row r: values[offsets[r]] .. values[offsets[r + 1] - 1], ascending. */
typedef struct sf_backend_match_lists {
    const uint64_t *offsets; /**< rows + 1; the first is 0 */
    const uint32_t *values;
    uint32_t rows;
    uint32_t made; /**< of a job with a space: the number of its links, in place of all that */
} sf_backend_match_lists;

/** What a candidate of a step must be, given the candidates chosen for earlier steps. */
typedef struct sf_backend_match_step {
    uint32_t set;          /**< its candidates */
    uint32_t first, count; /**< of which, where rows are asked for, only these; count 0: all */
    uint32_t joined;       /**< earlier steps in whose list it must be; none: any candidate */
    uint32_t excluded;     /**< earlier steps in whose list it must not be */
    uint32_t greater;      /**< earlier steps whose data vertex must be smaller */
    uint32_t different;    /**< earlier steps whose data vertex must be another */
    uint16_t lists[SF_BACKEND_MATCH_MOST]; /**< of a step in joined or excluded: which lists */
} sf_backend_match_step;

/**
 * Steps after the core of which nothing is said together, but that their data vertices differ. Those that are
 * alike have the same candidates whatever is chosen before; else there are at most SF_BACKEND_MATCH_GROUP.
 */
typedef struct sf_backend_match_group {
    uint32_t steps;
    bool alike;
} sf_backend_match_group;

/** What a device found. */
typedef struct sf_backend_match_answer {
    uint64_t count; /**< of embeddings; UINT64_MAX where it does not fit */
    uint64_t tried; /**< data vertices */
    size_t listed;  /**< rows written */
    double seconds; /**< of the search alone, when everything is on the device */
    bool stopped;   /**< `most` or the deadline: count is a lower bound, and rows are any of them */
} sf_backend_match_answer;

typedef struct sf_backend_match_job {
    uint32_t step_count; /**< 1 .. SF_BACKEND_MATCH_MOST */
    uint32_t core; /**< steps that are searched, at least 1; embeddings of the rest are multiplied out */
    const sf_backend_match_step *steps;
    const sf_backend_match_group *groups; /**< every step after the core is in one */
    uint32_t group_count;
    const uint32_t *const *sets; /**< data vertices, ascending; NULL where there is a space */
    const uint32_t *set_sizes;
    uint32_t set_count;
    sf_backend_space *space;   /**< on the same device: sets and lists are its own; or NULL */
    const uint32_t *set_first; /**< with it: of a set a pattern vertex whose candidates it holds */
    const sf_backend_match_lists *lists;
    uint32_t list_count;
    uint32_t samples; /**< 0; or search nothing and estimate `tried` of one search, from this many random
                         descents into its tree */
    uint64_t most;    /**< stop beyond so many embeddings; UINT64_MAX: never */
    sf_backend_watch watch;
    uint32_t *rows; /**< or NULL. Where core == step_count: room for `most` rows of data vertices by step, in
                       no order; `most` is then below 2^31 */
} sf_backend_match_job;

/* ---- twigs: the engine gvsm, whose layers a device expands while the CPU joins ---- */

#define SF_BACKEND_LAYERS 64 /**< of a prefix tree, at most */

/** A vertex must have `count` neighbours that are not on the blacklist, along edges with one label, with
 * another label themselves (UINT32_MAX: any of either). */
typedef struct sf_backend_twig_need {
    uint32_t edge, label, count;
    bool out;
} sf_backend_twig_need;

/** What joining asks of the data vertex of a layer and that of an earlier one: an edge between them. */
typedef struct sf_backend_join_edge {
    uint32_t label; /**< UINT32_MAX: any */
    uint8_t earlier;
    bool out, absent; /**< out: it leads to the earlier one's; absent: there must be none */
} sf_backend_join_edge;

/** A layer: the neighbours of data vertices of its parent that have the label and are not skipped. */
typedef struct sf_backend_twig {
    uint32_t parent;         /**< an earlier layer; the first layer has none */
    uint32_t label;          /**< UINT32_MAX: any */
    uint32_t edge;           /**< label of the edge; UINT32_MAX: any */
    bool out;                /**< along edges out of the parent's vertex */
    const uint32_t *allowed; /**< or NULL: bits, 32 to a word, of the data vertices that may be in it */
    /** It is the root of a later twig: what a data vertex must have around it, remembered for each. */
    const sf_backend_twig_need *needs;
    uint32_t need_count;
    const sf_backend_join_edge *edges; /**< for descents: to the latest of earlier layers first */
    uint32_t edge_count;
} sf_backend_twig;

/** Borrowed until the twigs are closed; kinds and twins, and what is implied, until their graph is, of which
 * all jobs with kinds have the same, and all without. */
typedef struct sf_backend_twig_job {
    const sf_backend_watch *watch; /**< until the twigs are closed */
    /** Neighbours by kind: the label of the edge * label_count + their own. No directory: nothing is said of
     * labels of edges. */
    sf_backend_labelled out_kinds, in_kinds;
    uint32_t label_count;
    const uint64_t *blacklist; /**< bits of data vertices that match nothing */
    const uint64_t *skipped;   /**< bits of those and of all twins but the first */
    const uint32_t *implied;   /**< or NULL: of a vertex another one that fails no needs that it meets; or
                                  UINT32_MAX */
    const sf_backend_twig *layers;
    uint32_t layer_count;  /**< up to SF_BACKEND_LAYERS */
    uint32_t most_entries; /**< above, and neighbours, of one expansion */

    /* For descents. */
    bool descends;         /**< there are any: layers say all that joining asks */
    const uint32_t *twins; /**< or NULL: of a vertex how many share its branch; else each its own */
    bool injective;        /**< a path has a vertex no more often than there are to share its branch */
    bool pairs;            /**< a kernel grows two twigs, else one */
    uint32_t most_kept;    /**< entries of a layer */
} sf_backend_twig_job;

/** An entry of the prefix tree: a data vertex, and which entry of the layer above it hangs on. */
typedef struct sf_backend_node {
    uint32_t vid, idx;
} sf_backend_node;

/** Layers that stay on the device, which expands and joins them by itself. */
typedef struct sf_backend_descent {
    uint32_t layer, first, count; /**< grow what is below entries first .. first + count - 1 of a layer */
    /** The first layer, where it begins with that: `count` entries, at most most_kept. NULL: entries of the
     * layer `reached` of an earlier descent, or of the part of it that did not come as far. */
    const sf_backend_node *entries;

    /* What became of it. */
    uint32_t reached; /**< the last layer that was made */
    uint32_t left;  /**< entries of it that have more below them than the device holds at once: to be cut into
                       parts and descended from; 0: all is done */
    uint32_t parts; /**< into about so many, at least 2 */
    uint64_t found; /**< embeddings, with all twins; UINT64_MAX where it does not fit */
    uint64_t tried; /**< neighbours */
    uint32_t twigs, kernels; /**< grown, and in how many kernels */
    double seconds;
} sf_backend_descent;

#define SF_BACKEND_SLOTS 3 /**< expansions under way at once */

typedef struct sf_backend_twigs sf_backend_twigs;

/** SF_UNAVAILABLE where a job is too large, SF_CANCELLED. */
typedef struct sf_backend_match {
    int (*run)(sf_backend_device *device, const sf_backend_match_job *job, sf_backend_match_answer *answer,
               sf_error *error);
    /** While no space and no twigs are open the graph may be given back to jobs that lack memory.
     * SF_CANCELLED also where the deadline has passed before all was copied. */
    int (*data_open)(sf_backend_data **data, sf_backend_device *device, const sf_backend_data_job *job,
                     sf_error *error);
    void (*data_close)(sf_backend_data *data); /**< NULL is allowed; after its spaces and twigs */
    int (*space_open)(sf_backend_space **space, sf_backend_data *data, const sf_backend_space_job *job,
                      sf_backend_space_answer *answer, sf_error *error);
    void (*space_close)(sf_backend_space *space); /**< NULL is allowed */
    /** Makes links, numbered from *number on after those made before. totals: entries of each. */
    int (*space_link)(sf_backend_space *space, const sf_backend_link *links, uint32_t count, uint32_t *number,
                      uint64_t *totals, sf_error *error);
    /** Copies to the host what is not NULL: candidates of a vertex; offsets (from 0) and places of links. */
    int (*space_read)(sf_backend_space *space, uint32_t vertex, uint32_t *candidates, uint32_t link,
                      uint64_t *offsets, uint32_t *places, sf_error *error);
    /** *lost: there are none, the graph was given back, since other jobs lacked memory. */
    int (*twigs_open)(sf_backend_twigs **twigs, sf_backend_data *data, const sf_backend_twig_job *job,
                      bool *lost, sf_error *error);
    /** *implied: needs that another vertex's failure told. NULL is allowed. */
    void (*twigs_close)(sf_backend_twigs *twigs, uint64_t *implied);
    /**
     * Begins to expand `count` entries into a layer and returns: roots[i] is the data vertex of the layer's
     * parent above entry i, which has ends[i] - (i > 0 ? ends[i - 1] : 0) neighbours with the label. Both may
     * be changed on return. A slot is free until it is used and again after it was collected.
     */
    int (*twigs_expand)(sf_backend_twigs *twigs, uint32_t slot, uint32_t layer, const uint32_t *roots,
                        const uint32_t *ends, uint32_t count, sf_error *error);
    /** Waits for an expansion: its entries, idx counting from the first root of it, in order. Borrowed until
     * the slot is used again. */
    int (*twigs_collect)(sf_backend_twigs *twigs, uint32_t slot, const sf_backend_node **entries,
                         uint32_t *count, sf_error *error);
    /** Goes down as far as layers can stay. Only where the job says so. */
    int (*twigs_descend)(sf_backend_twigs *twigs, sf_backend_descent *descent, sf_error *error);
} sf_backend_match;

#endif
