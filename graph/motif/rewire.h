/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graphs with the degrees of another and otherwise random, to hold counts of motifs against (Maslov and
 * Sneppen, Science 296, 2002).
 *
 * Two edges a -> b and c -> d, drawn at random, become a -> d and c -> b unless that makes a loop or an edge
 * that is there; an undirected edge is taken in either direction. So every vertex keeps its in-degree and its
 * out-degree, and a long chain of swaps comes to every graph it can reach with the same probability. Parallel
 * edges move as one, edges keep their attributes, and loops stay.
 */
#ifndef SF_GRAPH_MOTIF_REWIRE_H
#define SF_GRAPH_MOTIF_REWIRE_H

#include "graph/store/csr.h"

/** Swaps tried per edge: counts of motifs stop changing well before (docs/connectivity.md). */
#define SF_REWIRE_TRIES 20

/** What the rewired graphs of one graph share; read-only once open. */
typedef struct sf_rewiring {
    sf_edge_list list; /**< the graph, without names; an undirected edge once */
    uint64_t *starts;  /**< bundle_count + 1: where each bundle of parallel edges begins in the list */
    size_t bundle_count;
    sf_edge *ends;     /**< of each bundle that can move: all but loops */
    uint32_t *bundles; /**< which bundle that is */
    uint32_t moving;   /**< how many */
} sf_rewiring;

/** SF_UNAVAILABLE beyond 2^32 - 1 bundles. */
int sf_rewiring_open(sf_rewiring *rewiring, const sf_csr *graph, sf_error *error);
void sf_rewiring_close(sf_rewiring *rewiring);

/** Tries for each graph. */
uint64_t sf_rewiring_tries(const sf_rewiring *rewiring);

/** Roughly the seconds that one core needs for this many graphs. */
double sf_rewiring_seconds(const sf_rewiring *rewiring, uint32_t graphs);

/** Swaps `ends`, which has room for `moving` edges and is written: what becomes of rewiring->ends in the
 * graph of this seed and number, which follows from them alone. Any thread. SF_NO_MEMORY. */
int sf_rewire_ends(sf_edge *ends, const sf_rewiring *rewiring, uint64_t seed, uint32_t number,
                   sf_error *error);

/** The graph with these ends. Any thread. SF_NO_MEMORY. */
int sf_rewire_build(sf_csr *rewired, const sf_rewiring *rewiring, const sf_edge *ends, sf_error *error);

/** Both, one after the other. */
int sf_rewire(sf_csr *rewired, const sf_rewiring *rewiring, uint64_t seed, uint32_t number, sf_error *error);

#endif
