/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every measured constant by which the engine auto chooses between its ways to match (docs/matching.md maps
 * them). Measured on 16 virtual cores of an Intel Xeon with an NVIDIA H200 and, what is the CPU's, on two of
 * an AMD EPYC: bench/results/matching.md. They need be right within a factor of two: the better of two ways
 * that differ by less is no loss worth telling. Counts do not depend on them.
 */
#ifndef SF_GRAPH_MATCH_TUNED_H
#define SF_GRAPH_MATCH_TUNED_H

/* ---- making a space on the CPU (cost.c) ---- */

/** Vertices of a graph whose masks a cache holds. */
#define CACHED_VERTICES (1u << 17)
/** A data vertex that could be a candidate, what one that is must be next to, to be found by its label or
 * without, and each neighbour of these that is looked at; of such graphs, and of others. */
#define CACHED_LOOKS                                                                                         \
    {                                                                                                        \
        20e-9, 50e-9, 10e-9, 3e-9                                                                            \
    }
#define SCATTERED_LOOKS                                                                                      \
    {                                                                                                        \
        90e-9, 100e-9, 60e-9, 60e-9                                                                          \
    }
#define CLOSE_LOOK_SECONDS                                                                                   \
    70e-9                /**< a neighbour whose edges are searched, as the pattern says more of it           \
                          */
#define LEAST_SEARCH 0.4 /**< the shortest search, planned and begun, in spaces */

/* ---- threads (cost.c, search.c, tables.c) ---- */

#define THREAD_SECONDS 40e-6 /**< to start one, one after the other */
#define THREAD_SHARE 0.5     /**< what each does of the work of one alone */
#define BLOCK 4096           /**< data vertices, which a thread takes at a time */
#define PATIENCE 1024        /**< steps that one thread does first, for each that would be started */
#define WORTH_THREADS 3e4    /**< steps of a table: fewer are done before threads have begun */

/* ---- a search on the CPU (estimate.c, rows.c, cost.c) ---- */

#define WORTH_SAMPLING                                                                                       \
    2000                /**< steps, if links were independent: one of fewer is over before it is sampled */
#define ESTIMATING 0.02 /**< the share of a search that estimating it may take */
#define LEAST_STEP_SECONDS 25e-9 /**< a step, at least */
#define LIST_STEP_SECONDS 80e-9  /**< lists: the candidates of a step, */
#define ENTRY_SECONDS 1.7e-9     /**< and each entry of the lists that hold them */
#define MATCH_SECONDS 25e-9      /**< bitmaps: a candidate, */
#define COUNT_SECONDS 6e-9       /**< one of the last step of the core, */
#define WORD_SECONDS 0.25e-9     /**< each word that it cuts, */
#define SET_SECONDS 20e-9        /**< and a set of vertices that are counted together, beside its words */

/* ---- whether bitmaps pay (rows.c) ---- */

#define WORTH_ROWS 100                       /**< steps: one of fewer is over before that is known */
#define MOST_ROW_BYTES ((uint64_t)256 << 20) /**< of all rows together */
#define LINK_SECONDS 1e-9                    /**< for a link to become a bit, */
#define BYTE_SECONDS 0.15e-9                 /**< and for a byte of rows to be made */
/** An intersection of lists costs by their entries, one of bitmaps by its words: of this many at most for
 * each entry, and always where there are few. */
#define WORDS_PER_ENTRY 12.0
#define FEW_WORDS 128

/* ---- sums of terms (terms.c, tables.c, cost.c) ---- */

#define WORTH_PLANNING 3e5 /**< steps: a search of fewer is over before terms are planned */
/** Steps of terms that are worth one of a search. Links are taken for independent, which around hubs they are
 * not: what is expected of many vertices, as a search matches, is too little by more than of the few of a
 * component (6 to 30 times with 7 vertices of a power-law graph). */
#define STEP_RATIO 0.5
#define STEPS_PER_TERM 2e4 /**< of the steps that a search takes, for how many one term is planned */
/** In steps of a search: what a link takes in a table, a value of one that is full, and a word of a set. */
#define LINK_STEPS 0.05
#define VALUE_STEPS 0.01
#define WORD_STEPS 0.05
#define VALUES_PER_STEP 16 /**< of a row of a table, that take as long as a step */
#define MOST_VALUES 0x1p23 /**< of a table */
/** Links are those of hubs: of two that share an end there are more by this than if all had equally many. */
#define HUBS 4
/** A step of a term. Steps are expected too few, 2 to 9 times: this makes up for some of it. */
#define TERM_STEP_SECONDS 300e-9
#define TERM_THREADS 2.0 /**< more do not make a sum sooner */

/* ---- a device (cost.c, device.c); seconds are of one that is running ---- */

/** Making a space: at all, for each vertex of the pattern, for that each of the graph, each neighbour. */
#define MAKING_SECONDS 0.10e-3
#define MAKING_VERTEX_SECONDS 0.03e-3
#define SIEVING_SECONDS 0.05e-9
#define NEIGHBOUR_SECONDS 0.1e-9
/** Sending a space that the CPU has made, and fetching one: at all, an array, and a byte. */
#define SENDING_SECONDS 0.05e-3
#define ARRAY_SECONDS 6e-6
#define SENT_BYTE_SECONDS 0.3e-9
#define FETCHED_BYTE_SECONDS 1e-9
/** Copying a graph: at all, and a byte. */
#define COPYING_SECONDS 0.2e-3
#define COPIED_BYTE_SECONDS 0.1e-9
/** A search: at all, for each vertex of the pattern, and for each candidate that is tried, of many. */
#define LAUNCH_SECONDS 0.06e-3
#define LAUNCH_VERTEX_SECONDS 0.01e-3
#define TRY_SECONDS 0.025e-9
/** Steps, if links were independent, of a search that 0.1 ms for samples are worth it for; and candidates, as
 * sampled, of one that the same for every vertex is: some 2 ms of a GPU. */
#define WORTH_A_SAMPLE 1e6
#define WORTH_COMPARING 1e8

#endif
