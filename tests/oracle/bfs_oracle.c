/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/bfs_oracle.h"

#include <stdio.h>
#include <stdlib.h>

static char sentence[256];

/* Rule 1: no cycle; following parents from any vertex ends at the source. A chain longer than the number of
 * vertices holds a cycle; levels that fall by one a step (rule 2) bound it sooner. */
static const char *check_chains(const sf_csr *graph, uint32_t source, const sf_bfs_result *result)
{
    if (result->levels[source] != 0 || result->parents[source] != source)
        return "rule 1: the source is not its own parent at level 0";
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (result->levels[v] == SF_UNREACHED) continue;
        uint32_t at = v;
        for (uint32_t steps = 0; at != source; steps++) {
            if (steps > result->levels[v] || result->parents[at] >= graph->vertex_count) {
                snprintf(sentence, sizeof sentence, "rule 1: the chain from %u does not end at the source",
                         v);
                return sentence;
            }
            at = result->parents[at];
        }
    }
    return NULL;
}

/* Rule 5: a tree edge is an edge of the graph. One pass over the edges ticks off the vertices whose parent it
 * finds. */
static const char *check_tree_edges(const sf_csr *graph, uint32_t source, const sf_bfs_result *result)
{
    bool *found = calloc(graph->vertex_count, sizeof *found);
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++)
            found[graph->targets[e]] |= result->parents[graph->targets[e]] == v;
    const char *wrong = NULL;
    for (uint32_t v = 0; v < graph->vertex_count && wrong == NULL; v++) {
        if (v == source || result->levels[v] == SF_UNREACHED || found[v]) continue;
        snprintf(sentence, sizeof sentence, "rule 5: %u -> %u is no edge of the graph", result->parents[v],
                 v);
        wrong = sentence;
    }
    free(found);
    return wrong;
}

/* Rule 2: tree edges join levels that differ by one. */
static const char *check_tree(const sf_csr *graph, uint32_t source, const sf_bfs_result *result)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint32_t parent = result->parents[v];
        bool reached = result->levels[v] != SF_UNREACHED;
        if (reached != (parent != SF_NO_VERTEX)) {
            snprintf(sentence, sizeof sentence, "vertex %u has only one of level and parent", v);
            return sentence;
        }
        if (!reached || v == source) continue;
        if (result->levels[v] != result->levels[parent] + 1) {
            snprintf(sentence, sizeof sentence, "rule 2: %u is at level %u, its parent %u at %u", v,
                     result->levels[v], parent, result->levels[parent]);
            return sentence;
        }
    }
    return NULL;
}

/* Rules 3 and 4: edges span at most one level, and the tree holds all that an edge leads to. */
static const char *check_edges(const sf_csr *graph, const sf_bfs_result *result)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            uint32_t from = result->levels[v], to = result->levels[graph->targets[e]];
            if (from == SF_UNREACHED) continue;
            if (to == SF_UNREACHED) {
                snprintf(sentence, sizeof sentence, "rule 4: %u -> %u leads out of the tree", v,
                         graph->targets[e]);
                return sentence;
            }
            if (to > from + 1) {
                snprintf(sentence, sizeof sentence, "rule 3: %u -> %u spans levels %u and %u", v,
                         graph->targets[e], from, to);
                return sentence;
            }
        }
    }
    return NULL;
}

static const char *check_totals(const sf_csr *graph, const sf_bfs_result *result)
{
    uint64_t reached = 0, edges = 0, listed = 0;
    uint32_t depth = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (result->levels[v] == SF_UNREACHED) continue;
        reached++;
        edges += graph->offsets[v + 1] - graph->offsets[v];
        depth = result->levels[v] > depth ? result->levels[v] : depth;
    }
    for (uint32_t level = 0; level <= result->depth; level++) {
        uint64_t size = 0;
        for (uint32_t v = 0; v < graph->vertex_count && graph->vertex_count <= 5000; v++)
            size += result->levels[v] == level;
        if (graph->vertex_count <= 5000 && size != result->level_sizes[level])
            return "a level has another size than said";
        listed += result->level_sizes[level];
    }
    if (reached != result->reached || edges != result->edges || depth != result->depth || listed != reached)
        return "the totals do not agree with the levels";
    return NULL;
}

const char *bfs_oracle_check(const sf_csr *graph, uint32_t source, const sf_bfs_result *result)
{
    const char *wrong = check_tree(graph, source, result);
    if (wrong == NULL) wrong = check_chains(graph, source, result);
    if (wrong == NULL) wrong = check_tree_edges(graph, source, result);
    if (wrong == NULL) wrong = check_edges(graph, result);
    return wrong != NULL ? wrong : check_totals(graph, result);
}

void bfs_oracle_levels(const sf_csr *graph, uint32_t source, uint32_t *levels)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        levels[v] = SF_UNREACHED;
    levels[source] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t v = 0; v < graph->vertex_count; v++) {
            for (uint64_t e = graph->offsets[v]; levels[v] != SF_UNREACHED && e < graph->offsets[v + 1];
                 e++) {
                if (levels[graph->targets[e]] > levels[v] + 1) {
                    levels[graph->targets[e]] = levels[v] + 1;
                    changed = true;
                }
            }
        }
    }
}
