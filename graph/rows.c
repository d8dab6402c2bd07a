/* SPDX-License-Identifier: Apache-2.0 */
/* A new option is a member of its struct, its default and its row here. */
#include "graph/rows.h"

#include "core/backend/match.h"
#include "core/rows.h"

#define AT(member) .offset = offsetof(ROW, member)

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

static const void *graph_defaults(int choice)
{
    (void)choice;
    return &making;
}

const sf_key_table sf_graph_table = {{graph_rows}, sizeof making, graph_defaults, NULL};

/* ---- spike-time tiling ---- */

static const sf_tiling_options tiling = {.size = sizeof tiling,
                                         .half_width_ns = 50000000,
                                         .surrogates = 200,
                                         .percentile = SF_STTC_PERCENTILE,
                                         .seed = 1};

#define ROW sf_tiling_options
static const sf_key tiling_rows[] = {
    {.name = "surrogates",
     .type = SF_KEY_WHOLE,
     AT(surrogates),
     .least = 0,
     .most = 1000000,
     .argument = "N",
     .what = "circular shifts that a pair is compared with; 0: all are kept"},
    {SF_ROW_SEED, AT(seed), .what = "of the shifts"},
    {.name = "percentile", .type = SF_KEY_REAL, AT(percentile), .least = 0, .most = 1, .option = ""},
    {SF_ROW_MIN_DISTANCE, AT(min_distance_um)},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

static const void *tiling_defaults(int choice)
{
    (void)choice;
    return &tiling;
}

const sf_key_table sf_tiling_table = {{tiling_rows}, sizeof tiling, tiling_defaults, NULL};

void sf_tiling_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_tiling_table, options, size);
}

/* ---- searching ---- */

static const char *const directions[] = {"auto", "top-down", "bottom-up", NULL}; /* as sf_bfs_direction */
static const sf_search_options searching = {.size = sizeof searching};

#define ROW sf_search_options
static const sf_key search_rows[] = {
    {.name = "direction",
     .type = SF_KEY_CHOICE,
     AT(direction),
     .words = directions,
     .what = "auto goes bottom-up while the frontier is large"},
    {.name = "repeat",
     .type = SF_KEY_WHOLE,
     AT(repeat),
     .least = 1,
     .most = 1000000,
     .zero = "once",
     .argument = "N",
     .what = "search N times and give the median time"},
    {SF_ROW_THREADS, AT(threads)},
    {SF_ROW_DEVICE, AT(device)},
    {0},
};
#undef ROW

static const void *search_defaults(int choice)
{
    (void)choice;
    return &searching;
}

const sf_key_table sf_search_table = {{search_rows}, sizeof searching, search_defaults, NULL};

/* ---- matching ---- */

static const char *const semantics[] = {"isomorphism", "induced", "homomorphism", NULL}; /* as sf_semantics */
static const char *const engines[] = {"auto", "gvsm", NULL};
static const sf_match_options matching = {.size = sizeof matching};

#define ROW sf_match_options
static const sf_key match_rows[] = {
    {.name = "distinct",
     .type = SF_KEY_SWITCH,
     AT(distinct),
     .what = "count embeddings that differ by a symmetry of the pattern once"},
    {.name = "limit",
     .type = SF_KEY_COUNT,
     AT(limit),
     .least = 1,
     .most = INFINITY,
     .zero = "none",
     .argument = "N",
     .what = "stop after N embeddings and list so many; the count is then a lower bound"},
    {.name = "time_limit_s",
     .type = SF_KEY_REAL,
     AT(time_limit_s),
     .least = 1e-3,
     .most = 1e9,
     .zero = "none",
     .argument = "S",
     .what = "stop after S seconds; the count is then a lower bound"},
    {.name = "semantics", .type = SF_KEY_CHOICE, AT(semantics), .words = semantics, .option = ""},
    {.name = "engine",
     .type = SF_KEY_TEXT,
     AT(engine),
     .words = engines,
     .what = "how to search; the counts are the same"},
    {.name = "slots",
     .type = SF_KEY_WHOLE,
     AT(slots),
     .least = 1,
     .most = SF_BACKEND_SLOTS,
     .zero = "3",
     .argument = "N",
     .what = "of --engine gvsm on a device: pieces of a layer under way at once; needs the feature pipeline"},
    {.name = "threshold",
     .type = SF_KEY_COUNT,
     AT(threshold),
     .least = 1,
     .most = INFINITY,
     .zero = "all stay there, the large ones in parts",
     .argument = "N",
     .what = "of --engine gvsm on a device: layers of more than N entries are the CPU's to join, as in the "
             "paper; needs the feature stay"},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

static const void *match_defaults(int choice)
{
    (void)choice;
    return &matching;
}

const sf_key_table sf_match_table = {{match_rows}, sizeof matching, match_defaults, NULL};

/* ---- rewired graphs ---- */

static const sf_rewired_options rewired = {.size = sizeof rewired, .graphs = 100, .seed = 1};

#define ROW sf_rewired_options
static const sf_key rewired_rows[] = {
    {.name = "graphs", .type = SF_KEY_WHOLE, AT(graphs), .least = 1, .most = 1000000, .option = ""},
    {SF_ROW_SEED, AT(seed), .what = "of the rewired graphs"},
    {SF_ROW_THREADS, AT(threads)},
    {0},
};
#undef ROW

static const void *rewired_defaults(int choice)
{
    (void)choice;
    return &rewired;
}

const sf_key_table sf_rewired_table = {{rewired_rows}, sizeof rewired, rewired_defaults, NULL};

void sf_rewired_options_init(void *options, size_t size)
{
    sf_keys_init(&sf_rewired_table, options, size);
}
