/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "graph/rows.h"

#include "core/backend/match.h"
#include "core/row_macros.h"

/* ---- making graphs ---- */

#define ROW sf_graph_options
static const sf_key graph_rows[] = {
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_MAX_Q, AT(max_q)},
    {SF_ROW_MAX_P, AT(max_p)},
    {0},
};
#undef ROW

static const sf_graph_options making = {.size = sizeof making};

const sf_key_table sf_graph_table = SF_KEY_TABLE(graph_rows, making);

/* ---- spike-time tiling ---- */

static const sf_tiling_options tiling = {.size = sizeof tiling,
                                         .half_width_ns = 50000000,
                                         .surrogates = 200,
                                         .percentile = SF_STTC_PERCENTILE,
                                         .seed = 1};

#define ROW sf_tiling_options
static const sf_key tiling_rows[] = {
    WHOLE("surrogates", surrogates, 0, 1000000, .argument = "N",
          .what = "circular shifts that a pair is compared with; 0: all are kept"),
    {SF_ROW_SEED, AT(seed), .what = "of the shifts"},
    REAL("percentile", percentile, 0, 1, .option = ""),
    {SF_ROW_MIN_DISTANCE, AT(min_distance_um)},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

const sf_key_table sf_tiling_table = SF_KEY_TABLE(tiling_rows, tiling);

void sf_tiling_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_tiling_table, options, size);
}

/* ---- who drives whom ---- */

static const sf_drive_options driving = {.size = sizeof driving};

#define ROW sf_drive_options
static const sf_key drive_rows[] = {
    REAL("max_false", max_false, 0, 1, .zero = "0.05", .argument = "SHARE",
         .what = "of edges with a sign: how many of them what most pairs are like may explain; 1: all pairs "
                 "are edges"),
    WHOLE("surrogates", surrogates, 0, 1000000, .zero = "none", .option = "", .what = "segment-shift"),
    {SF_ROW_SEED, AT(seed), .zero = "1", .option = "", .what = "of the surrogates"},
    {SF_ROW_MIN_DISTANCE, AT(min_distance_um), .option = ""},
    {SF_ROW_THREADS, AT(threads), .option = ""},
    {0},
};
#undef ROW

const sf_key_table sf_drive_table = SF_KEY_TABLE(drive_rows, driving);

/* ---- searching ---- */

static const char *const directions[] = {"auto", "top-down", "bottom-up", NULL};   /* as sf_bfs_direction */
static const char *const techniques[] = {"ts", "wb", "hc", "gamma", "none", NULL}; /* as sf_bfs_feature */
static const sf_search_options searching = {.size = sizeof searching};

#define ROW sf_search_options
static const sf_key search_rows[] = {
    CHOICE("direction", direction, directions, .what = "auto goes bottom-up while the frontier is large"),
    SET("features", features, techniques, .argument = "ts,wb,hc,gamma", .zero = "the fastest way there is",
        .what = "on GPUs: search as Enterprise does, with these of its techniques: frontier queues, balanced "
                "work, hubs first, switch by hubs; `none` for none of them"),
    WHOLE("repeat", repeat, 1, 1000000, .zero = "once", .argument = "N",
          .what = "search N times and give the median time"),
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_DEVICE, AT(device)},
    {0},
};
#undef ROW

const sf_key_table sf_search_table = SF_KEY_TABLE(search_rows, searching);

/* ---- matching ---- */

static const char *const semantics[] = {"isomorphism", "induced", "homomorphism", NULL}; /* as sf_semantics */
static const char *const engines[] = {"auto", "gvsm", NULL};
static const sf_match_options matching = {.size = sizeof matching};

#define ROW sf_match_options
static const sf_key match_rows[] = {
    SWITCH("distinct", distinct, .what = "count embeddings that differ by a symmetry of the pattern once"),
    COUNT("limit", limit, 1, INFINITY, .zero = "none", .argument = "N",
          .what = "stop after N embeddings and list so many; the count is then a lower bound"),
    REAL("time_limit_s", time_limit_s, 1e-3, 1e9, .zero = "none", .argument = "S",
         .what = "stop after S seconds; the count is then a lower bound"),
    CHOICE("semantics", semantics, semantics,
           .what =
               "isomorphism: different pattern vertices need different data vertices; induced: and no edges "
               "between those but the pattern's; homomorphism: they may share one"),
    TEXT("engine", engine, .words = engines, .what = "how to search; the counts are the same"),
    WHOLE(
        "slots", slots, 1, SF_BACKEND_SLOTS, .zero = "3", .argument = "N",
        .what =
            "of --engine gvsm on a device: pieces of a layer under way at once; needs the feature pipeline"),
    COUNT("threshold", threshold, 1, INFINITY, .zero = "all stay there, the large ones in parts",
          .argument = "N",
          .what = "of --engine gvsm on a device: layers of more than N entries are the CPU's to join, as in "
                  "the paper; needs the feature stay"),
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

const sf_key_table sf_match_table = SF_KEY_TABLE(match_rows, matching);

/* ---- rewired graphs ---- */

static const sf_rewired_options rewired = {.size = sizeof rewired, .graphs = 100, .seed = 1};

#define ROW sf_rewired_options
static const sf_key rewired_rows[] = {
    WHOLE("graphs", graphs, 2, 1000000, .option = "rewired", .argument = "N", .what = "number of graphs"),
    {SF_ROW_SEED, AT(seed), .what = "of the rewired graphs"},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

const sf_key_table sf_rewired_table = SF_KEY_TABLE(rewired_rows, rewired);

void sf_rewired_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_rewired_table, options, size);
}

/* ---- measures of networks ---- */

static const sf_network_options measuring = {.size = sizeof measuring};

#define ROW sf_network_options
static const sf_key network_rows[] = {
    REAL("threshold", threshold, 0, INFINITY, .zero = "any above 0", .argument = "W",
         .what = "only edges of weight W or more"),
    REAL("edge_density", edge_density, 0, 1, .zero = "all", .argument = "SHARE",
         .what = "only the strongest edges, up to this share of all pairs"),
    SWITCH("linked", linked,
           .what = "leave out units that have no edge by then, which means count otherwise"),
    REAL("resolution", resolution, 0, 100, .zero = "1", .argument = "GAMMA",
         .what = "of modularity: above 1 for smaller modules"),
    WHOLE("rewired", rewired, 2, 1000000, .zero = "none", .argument = "N",
          .what = "hold clustering, path length, efficiency, modularity and the rich club against N graphs "
                  "with the same degrees, rewired at random"),
    {SF_ROW_SEED, AT(seed), .zero = "1", .what = "of modules and of rewired graphs"},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

const sf_key_table sf_network_options_table = SF_KEY_TABLE(network_rows, measuring);
