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
#ifndef SF_GRAPH_REWIRE_H
#define SF_GRAPH_REWIRE_H

#include "core/csr.h"

/** Swaps tried per edge: counts of motifs stop changing well before (docs/connectivity.md). */
#define SF_REWIRE_TRIES 20

/** What the rewired graphs of one graph share; read-only once open. */
typedef struct sf_rewiring {
    sf_edge_list list; /**< the graph, without names; an undirected edge once */
    uint64_t *starts;  /**< bundle_count + 1: where each bundle of parallel edges begins in the list */
    size_t bundle_count;
} sf_rewiring;

int sf_rewiring_open(sf_rewiring *rewiring, const sf_csr *graph, sf_error *error);
void sf_rewiring_close(sf_rewiring *rewiring);

/** Makes one rewired graph, which follows from seed and number alone. Any thread. SF_NO_MEMORY. */
int sf_rewire(sf_csr *rewired, const sf_rewiring *rewiring, uint64_t seed, uint32_t number, sf_error *error);

#endif
