/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of measures of networks: what each is called and means, in every output. */
#include "analysis/tables.h"
#include "core/describe/column.h"
#include "graph/measure/measure.h"

#include <stddef.h>

#define UNDIRECTED "edges have no direction"
#define WEIGHTLESS "edges have no weights"
#define ALONE "it has no edge"
#define NOT_REWIRED "without rewired graphs"

/* ---- of a unit ---- */

#define ROW sf_vertex_measures
static const sf_column_row unit_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit, or vertex of the graph"),
    SF_FIELD_IS(TEXT, "name", unit_name, "its name", .null = "the graph has no names"),
    SF_MEMBER_IS(COUNT, degree, "units that it has an edge with, in whichever direction"),
    SF_MEMBER_IS(COUNT, in_degree, "edges to it", .null = UNDIRECTED),
    SF_MEMBER_IS(COUNT, out_degree, "edges from it", .null = UNDIRECTED),
    SF_MEMBER_IS(REAL, strength, "the weight of its edges", .null = WEIGHTLESS),
    SF_MEMBER_IS(REAL, in_strength, "of those to it", .null = UNDIRECTED ", or no weights"),
    SF_MEMBER_IS(REAL, out_strength, "of those from it", .null = UNDIRECTED ", or no weights"),
    SF_MEMBER_IS(REAL, clustering,
                 "share of its pairs of neighbours that are neighbours, whatever the direction (Watts and "
                 "Strogatz 1998); 0 with fewer than two"),
    SF_MEMBER_IS(REAL, clustering_directed,
                 "share of the directed triangles that it could have (Fagiolo 2007); without directions as "
                 "clustering"),
    SF_MEMBER_IS(REAL, clustering_weighted,
                 "the same, each triangle by the geometric mean of its weights over the greatest (Onnela et "
                 "al. 2005)",
                 .null = WEIGHTLESS),
    SF_MEMBER_IS(REAL, path_length, "mean number of edges to the units that it reaches",
                 .null = "it reaches none"),
    SF_MEMBER_IS(REAL, path_length_weighted,
                 "mean length of the shortest paths to these, an edge being as long as the greatest weight "
                 "over its own",
                 .null = "it reaches none, or edges have no weights"),
    SF_MEMBER_IS(REAL, local_efficiency,
                 "mean of 1 / path length between its neighbours, in the graph of these alone (Latora and "
                 "Marchiori 2001); 0 with fewer than two"),
    SF_MEMBER_IS(REAL, local_efficiency_weighted, "the same by weighted paths", .null = WEIGHTLESS),
    SF_MEMBER_IS(REAL, betweenness,
                 "share of the shortest paths between two others that pass through it (Freeman 1977)"),
    SF_MEMBER_IS(REAL, betweenness_weighted, "the same by weighted paths", .null = WEIGHTLESS),
    SF_MEMBER_IS(COUNT, module, "0-based number of its module, the largest first, every edge alike",
                 .null = ALONE),
    SF_MEMBER_IS(COUNT, module_weighted, "the same by weights", .null = ALONE ", or edges have no weights"),
    SF_MEMBER_IS(
        REAL, participation,
        "0 where all its edges lie in one module, towards 1 as they spread evenly over many (Guimera "
        "and Amaral 2005)"),
    SF_MEMBER_IS(REAL, participation_weighted, "the same by weights and weighted modules",
                 .null = WEIGHTLESS),
    SF_MEMBER_IS(REAL, module_degree_z,
                 "edges within its module, in standard deviations from the mean of the module (Guimera and "
                 "Amaral 2005)",
                 .null = "all units of the module have as many"),
    SF_MEMBER_IS(COUNT, hub_score,
                 "of four criteria how many it is among the top 20 % of the linked units by: degree, "
                 "betweenness, short paths, low clustering (van den Heuvel et al. 2010)"),
    SF_MEMBER_IS(FLAG, hub, "its hub score is 2 or more"),
};
#undef ROW

const sf_table sf_network_units_table = {.name = "network_units",
                                         .row = "network_unit",
                                         .about = "what the units of a graph are like in its network",
                                         SF_TABLE_OF(unit_rows)};

/* ---- of the network ---- */

#define ROW sf_club
static const sf_column_row club_rows[] = {
    SF_MEMBER_IS(COUNT, degree, "units with more edges than this, to and from counted"),
    SF_MEMBER_IS(COUNT, vertices, "how many they are"),
    SF_MEMBER_IS(COUNT, edges, "between two of them"),
    SF_MEMBER_IS(REAL, coefficient, "share of their pairs that are joined (Colizza et al. 2006)"),
    SF_MEMBER_IS(REAL, rewired, "mean of that in rewired graphs", .null = NOT_REWIRED),
    SF_MEMBER_IS(REAL, z, "(coefficient - rewired) / standard deviation there",
                 .null = NOT_REWIRED ", or that is 0"),
};
#undef ROW

#define ROW sf_network
#define BESIDE(name, of, what)                                                                               \
    SF_FIELD_IS(REAL, name "_rewired", beside[of].mean, "mean of " what " in rewired graphs",                \
                .null = NOT_REWIRED),                                                                        \
        SF_FIELD_IS(REAL, name "_z", beside[of].z, "how many standard deviations from that it is",           \
                    .null = NOT_REWIRED ", or they are all alike")
#define NO_PAIRS "there are fewer than two units"
#define NO_UNITS "there are no units"

static const sf_column_row network_rows[] = {
    SF_MEMBER_IS(COUNT, vertices, "units that take part"),
    SF_MEMBER_IS(COUNT, isolated, "of these without an edge"),
    SF_MEMBER_IS(COUNT, edges, "from one unit to another, several delays being one edge"),
    SF_FIELD_IS(COUNT, "edges_left_out", left_out,
                "with a weight that is not above 0 or below the threshold, or by the density asked for"),
    SF_MEMBER_IS(REAL, density, "edges / pairs, ordered ones where edges have a direction", .null = NO_PAIRS),
    SF_MEMBER_IS(REAL, degree, "mean degree of a unit", .null = NO_UNITS),
    SF_MEMBER_IS(REAL, strength, "mean strength of a unit", .null = WEIGHTLESS ", or " NO_UNITS),
    SF_MEMBER_IS(REAL, reciprocity, "share of edges whose reverse is an edge too",
                 .null = UNDIRECTED ", or there are none"),
    SF_MEMBER_IS(COUNT, components, "parts between which no edge leads, whatever the direction"),
    SF_MEMBER_IS(COUNT, largest_component, "units in the largest of these"),
    SF_MEMBER_IS(REAL, clustering, "mean over units", .null = NO_UNITS),
    SF_MEMBER_IS(REAL, clustering_directed, "mean over units", .null = NO_UNITS),
    SF_MEMBER_IS(REAL, clustering_weighted, "mean over units", .null = WEIGHTLESS ", or " NO_UNITS),
    SF_MEMBER_IS(REAL, reachable, "share of ordered pairs that a path joins", .null = NO_PAIRS),
    SF_MEMBER_IS(REAL, path_length, "mean number of edges between two units that a path joins",
                 .null = "no path joins any"),
    SF_MEMBER_IS(REAL, path_length_weighted, "mean length of their shortest weighted paths",
                 .null = "no path joins any, or edges have no weights"),
    SF_MEMBER_IS(REAL, efficiency,
                 "global efficiency: mean of 1 / path length over all ordered pairs, 0 of those that no path "
                 "joins (Latora and Marchiori 2001)",
                 .null = NO_PAIRS),
    SF_MEMBER_IS(REAL, efficiency_weighted, "the same by weighted paths",
                 .null = WEIGHTLESS ", or " NO_PAIRS),
    SF_MEMBER_IS(REAL, local_efficiency, "mean over units", .null = NO_UNITS),
    SF_MEMBER_IS(REAL, local_efficiency_weighted, "mean over units", .null = WEIGHTLESS ", or " NO_UNITS),
    SF_MEMBER_IS(REAL, betweenness, "greatest of a unit"),
    SF_MEMBER_IS(REAL, betweenness_weighted, "greatest of a unit", .null = WEIGHTLESS),
    SF_MEMBER_IS(REAL, modularity,
                 "of the modules found: share of edges within modules less that of chance (Newman and Girvan "
                 "2004; directed: Leicht and Newman 2008)",
                 .null = "there are no edges"),
    SF_MEMBER_IS(REAL, modularity_weighted, "the same by weights",
                 .null = "there are no edges, or they have no weights"),
    SF_MEMBER_IS(COUNT, modules, "how many there are of linked units"),
    SF_MEMBER_IS(COUNT, modules_weighted, "the same by weights", .null = WEIGHTLESS),
    SF_MEMBER_IS(REAL, participation, "mean over units", .null = NO_UNITS),
    SF_MEMBER_IS(REAL, participation_weighted, "mean over units", .null = WEIGHTLESS ", or " NO_UNITS),
    SF_MEMBER_IS(COUNT, hubs, "units that are hubs"),
    SF_MEMBER_IS(COUNT, rewired, "graphs with the same degrees, rewired at random, that were compared with"),
    BESIDE("clustering", SF_COMPARED_CLUSTERING, "clustering_directed"),
    BESIDE("path_length", SF_COMPARED_PATH_LENGTH, "path_length"),
    BESIDE("efficiency", SF_COMPARED_EFFICIENCY, "efficiency"),
    BESIDE("modularity", SF_COMPARED_MODULARITY, "modularity"),
    SF_MEMBER_IS(REAL, small_world,
                 "clustering_directed over its mean in rewired graphs, over path_length over its mean there "
                 "(Humphries and Gurney 2008)",
                 .null = NOT_REWIRED ", or they have no triangles"),
    SF_RECORDS_OF("rich_club", clubs, club_count, club_rows,
                  "of every degree from 0 on that two units or more exceed"),
};
#undef ROW

const sf_table sf_network_table = {.name = "network",
                                   .row = "network",
                                   .about = "what the network of a graph is like",
                                   SF_TABLE_OF(network_rows)};
