/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graphs: the functional connectivity graph of a recording, graphs of files and of memory; what a vertex
 * reaches, where a pattern of connections occurs, and how often beside rewired graphs.
 *
 * A graph, a motif and what a search or a match has found are read-only once made, and several threads may
 * use them at once; none of these functions is real-time safe. Vertices are numbered from 0. An undirected
 * graph holds every edge in both directions (a loop once), and "directed edges" is what every number of edges
 * here means. The place of a SF_USAGE is the field of the options where that is wrong.
 */
#ifndef SYNFIRE_GRAPH_H
#define SYNFIRE_GRAPH_H

#include <string.h>
#include <synfire/device.h>
#include <synfire/mine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sf_graph sf_graph;

/* ---- making ---- */

/** Which of several edges with the same ends stay; of those that go the first stays. */
typedef enum sf_parallel_edges {
    SF_PARALLEL_KEEP,        /**< all */
    SF_PARALLEL_WITH_VALUES, /**< all where edges carry values that a pattern can ask for, else one */
    SF_PARALLEL_DROP         /**< one */
} sf_parallel_edges;

/** Zeroed, every field but the size is its default. */
typedef struct sf_graph_options {
    size_t size;
    sf_parallel_edges parallel;
    bool drop_loops;  /**< leave out edges from a vertex to itself */
    bool undirected;  /**< every edge goes both ways, whatever the source of the graph says */
    bool directed;    /**< of a file that does not say (.graph): its edges go one way */
    unsigned threads; /**< 0: all cores */
    /** Only edges that a test gave a p, and a q, of no more than this; 0: whatever a test said, or none did.
     * SF_USAGE where edges are asked for what no test gave them. */
    double max_p, max_q;
    const sf_progress *progress; /**< of sf_graph_new; the other functions have their own */
} sf_graph_options;

static inline sf_graph_options sf_graph_options_default(void)
{
    sf_graph_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/** Edges in memory; zero-initialise and set the size. What may be NULL is left out. */
typedef struct sf_graph_edges {
    size_t size;
    uint32_t vertex_count;
    bool directed;
    const char *const *names; /**< vertex_count, or NULL */
    const uint32_t *labels;   /**< vertex_count, or NULL: what matching compares */
    size_t count;
    const uint32_t *from, *to; /**< count */
    const double *weights;     /**< count, or NULL: the value `weight` of patterns */
} sf_graph_edges;

/** Copies the edges. SF_DATA where one ends outside the vertices, SF_CANCELLED, SF_NO_MEMORY. */
SF_API int sf_graph_new(sf_graph **graph, const sf_graph_edges *edges, const sf_graph_options *options,
                        sf_error *error);

/**
 * Reads a file of a graph, by its content: Matrix Market, GraphML, .graph, a list of edges, synfire's HDF5.
 * SF_NO_INPUT, SF_DATA with the line, SF_IO, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_open(sf_graph **graph, const char *path, const sf_graph_options *options,
                         const sf_progress *progress, sf_error *error);

typedef enum sf_graph_file {
    SF_GRAPH_FILE_NONE,         /**< there is none, or it is no graph */
    SF_GRAPH_FILE_READ,         /**< sf_graph_open reads it */
    SF_GRAPH_FILE_WRITTEN_ONLY, /**< a graph that synfire writes and does not read: .dot, .json */
    SF_GRAPH_FILE_PAIRS /**< lines such as 0,1: sf_graph_open reads edges, sf_recording_open units and seconds
                         */
} sf_graph_file;

/** What a file is, by its first bytes. */
SF_API sf_graph_file sf_graph_file_kind(const char *path);

/**
 * Writes the graph with all its values, by the ending of the path: .graphml .dot .mtx .el .h5. `provenance`
 * (JSON on one line, or NULL) goes with it. A graph of NULL writes nothing: whether the ending is known.
 * SF_USAGE lists the endings; SF_CANNOT_CREATE, SF_IO, SF_NO_MEMORY.
 */
SF_API int sf_graph_save(const sf_graph *graph, const char *path, const char *provenance, sf_error *error);

/**
 * Draws a Kronecker graph with Graph500's parameters: `text` is SCALE:EDGEFACTOR:SEED, 2^SCALE vertices and
 * EDGEFACTOR * 2^SCALE undirected edges, the same on every machine; with ":A,B,C" behind it the chances of
 * R-MAT in place of 0.57,0.19,0.19. SF_USAGE, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_kronecker(sf_graph **graph, const char *text, const sf_graph_options *options,
                              const sf_progress *progress, sf_error *error);

SF_API void sf_graph_free(sf_graph *graph); /**< NULL is allowed */

/**
 * The directed graph of the episodes of two units among these, found or counted; others are passed over. Each
 * is an edge with its delay, count, expectation, p and q. SF_DATA where an episode is there twice,
 * SF_NO_MEMORY.
 */
SF_API int sf_graph_of_episodes(sf_graph **graph, const sf_episodes *episodes,
                                const sf_graph_options *options, sf_error *error);

typedef struct sf_tiling_options {
    size_t size;
    int64_t half_width_ns;  /**< 50 ms: a spike of one within this of a spike of the other */
    uint32_t surrogates;    /**< 200; 0: no threshold, every pair of units that both fire is an edge */
    double percentile;      /**< 0.95: an edge has a p of at most 1 less this, and a coefficient above 0 */
    double min_distance_um; /**< 0: any; else no edge joins units closer than this */
    uint64_t seed;          /**< 1: of the random shifts */
    unsigned threads;       /**< 0: all cores; the result does not depend on it */
    /** Or NULL. Becomes how many surrogates were compared with; where the progress stops them, SF_CANCELLED
     * then comes with the graph by those, and by no limits. */
    uint32_t *made;
} sf_tiling_options;

SF_API void sf_tiling_options_init(void *options, size_t size);
static inline sf_tiling_options sf_tiling_options_default(void)
{
    sf_tiling_options options;
    sf_tiling_options_init(&options, sizeof options);
    return options;
}

/**
 * The undirected graph of units whose spike-time tiling coefficient (Cutts and Eglen 2014) is above that of
 * circular shifts of their trains. Each observed span stands alone: tiles are cut at its ends, spikes are
 * together within it, trains are shifted round it. p is of the pair alone; q is corrected for all pairs that
 * were compared, by the maximum in each surrogate (Westfall and Young 1993). SF_USAGE, also for a distance
 * where the units have no positions; SF_DATA where no time was recorded; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_of_tiling(sf_graph **graph, const sf_recording *recording,
                              const sf_tiling_options *tiling, const sf_graph_options *options,
                              const sf_progress *progress, sf_error *error);

/**
 * The coefficients of the links of a tiling graph in another recording of the same units, such as a part of
 * its own: coefficients[i] is that of link i, NaN where a unit is silent. Errors as above.
 */
SF_API int sf_graph_tiling_in(double *coefficients, const sf_graph *graph, const sf_recording *recording,
                              sf_error *error);

/** How the spikes of a unit are held against those of another: docs/connectivity.md#who-drives-whom. */
typedef enum sf_drive_method {
    SF_DRIVE_REGRESSION,       /**< on the past of all units at once */
    SF_DRIVE_EXCESS,           /**< coincidences less those of segment-shift surrogates */
    SF_DRIVE_TSPE,             /**< total spiking probability edges (De Blasi et al. 2019) */
    SF_DRIVE_TRANSFER_ENTROPY, /**< with delay (Ito et al. 2011) */
    SF_DRIVE_DIRECTED_STTC,    /**< spike-time tiling of what follows alone */
    SF_DRIVE_METHODS           /**< how many there are */
} sf_drive_method;

#define SF_DRIVE_LOW_NS 1000000 /**< the default delay */
#define SF_DRIVE_HIGH_NS 15000000

/** Zeroed, every field but the size is its default. */
typedef struct sf_drive_options {
    size_t size;
    sf_drive_method method;
    int64_t low_ns, high_ns; /**< delays above the first, up to the second, at most 50 ms, in whole
                                milliseconds; both 0: 1 to 15 ms */
    double max_false; /**< share of the edges of a sign that what most pairs are like explains; 0: 0.05; 1:
                         all pairs are edges */
    double min_distance_um; /**< 0: any; else no edge joins units closer than this */
    uint32_t surrogates;    /**< of segment-shift, that edges are compared with; 0: none */
    uint64_t seed;          /**< of these; 0: 1 */
    unsigned threads;       /**< 0: all cores; the numbers do not depend on it */
} sf_drive_options;

static inline sf_drive_options sf_drive_options_default(void)
{
    sf_drive_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/**
 * The directed graph of units that drive others, with the sign of each edge: +1 excites, -1 inhibits, and how
 * far that may be believed. All ordered pairs are compared, on trains in bins of a millisecond; time that was
 * not observed counts for nothing. p is the share of surrogates as far out on the edge's side, q the share of
 * them in which any pair is; both NaN without surrogates. SF_USAGE, also for a distance where the units have
 * no positions; SF_DATA where no time was recorded; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_of_drive(sf_graph **graph, const sf_recording *recording, const sf_drive_options *drive,
                             const sf_graph_options *options, const sf_progress *progress, sf_error *error);

/* ---- reading ---- */

/** What tests say of all the edges of a graph. */
typedef enum sf_edges_tested {
    SF_EDGES_NOT_COUNTED, /**< no counts of episodes, no coefficients: there is nothing to test */
    SF_EDGES_UNTESTED,    /**< counts or coefficients that no test was made of */
    SF_EDGES_TESTED,      /**< a test was made; edges that chance explains are among them */
    SF_EDGES_SIGNIFICANT  /**< all have a q of 0.05 or less */
} sf_edges_tested;

/** Set `size` before sf_graph_get_columns; arrays live as long as the graph. */
typedef struct sf_graph_columns {
    size_t size;
    bool directed;
    uint32_t vertex_count;
    uint64_t edge_count;       /**< directed edges */
    const uint64_t *offsets;   /**< vertex_count + 1; the first need not be 0 */
    const uint32_t *targets;   /**< the neighbours of v, ascending: targets[offsets[v] .. offsets[v + 1]) */
    const char *const *names;  /**< of vertices, or NULL */
    const double *x_um, *y_um; /**< positions of vertices, NaN where unknown; or NULL */
    const double *rates_hz;    /**< of vertices, over recorded time; or NULL */
    /* Of a recording's graph its links, an undirected one once, by (from, to, delay); two units may be joined
     * by several, of different delays. Of other graphs there are none. */
    bool is_tiling; /**< links are spike-time tiling coefficients: no count, no expectation */
    size_t link_count;
    const uint32_t *from, *to;
    const int64_t *low_ns, *high_ns; /**< the delay, low < dt <= high */
    const double *weight;            /**< count - expected, which is by rates; or the tiling coefficient */
    const uint64_t *count;           /**< of the episode from -> to; 0 of tiling */
    const double *expected;          /**< by rates, as in sf_episodes_columns; NaN of tiling */
    const double *asymmetry;         /**< (count - reverse) / (count + reverse); NaN without a reverse link */
    const double *p, *q;             /**< NaN: not computed */
    const char *const *not_tested;   /**< why a test gave no p, or NULL */
    /** Both units were seen by one electrode, where sorters err, or their spikes look like one neuron's. */
    const bool *one_electrode;
    sf_edges_tested tested;
    size_t links_found;                  /**< before max_p and max_q left some out */
    size_t burst_count;                  /**< of a recording's episodes: network bursts */
    const sf_significance *significance; /**< of a recording's episodes: their test; NULL: none was made */
    /** By link, the 95 % confidence interval of count / expected as in sf_episodes_columns; NaN of tiling */
    const double *ratio_low, *ratio_high;
    double threshold;          /**< of a recording's episodes that were looked for: as a count; else NaN */
    const char *threshold_why; /**< as in sf_episodes_columns */
    size_t pairs_tested;       /**< of a tiling: pairs compared with surrogates; else 0 */
    /** So many of these are edges, on average, though no two units have anything to do with each other; NaN
     * where that is not known: of episodes, without a test, and by max_q, which bounds the chance of any. */
    double pairs_by_chance;
    /** By link as in sf_episodes_columns; NaN where no verdict was given, and of tiling. */
    const double *expected_given_rest;
    /* Of a graph of drive (sf_graph_of_drive), by link: */
    bool
        is_signed; /**< it is one: `weight` is the method's measure, `count` coincidences within the delays */
    const int8_t *sign;       /**< +1: more follow than chance has it, -1: fewer; 0 of other graphs */
    const double *confidence; /**< 1 less the share of edges as far out that most pairs explain; else NaN */
    const double *score;      /**< how far out, in standard deviations of most pairs; else NaN */
    size_t pairs_compared;    /**< ordered pairs of units that fire; else 0 */
    size_t troughs_hidden;    /**< of these with so few coincidences expected that no trough could be seen */
} sf_graph_columns;

SF_API void sf_graph_get_columns(const sf_graph *graph, sf_graph_columns *columns);

/** The links of a recording's graph as a table, one row a link; no rows of other graphs. */
SF_API void sf_graph_get_table(const sf_graph *graph, sf_table *table);

/**
 * A vertex as people write it: by its name, or `#2` for index 2; of a graph without names a number is the
 * index. SF_USAGE, also where several vertices have the name.
 */
SF_API int sf_graph_find(const sf_graph *graph, const char *text, uint32_t *vertex, sf_error *error);

/* ---- searching ---- */

#define SF_UNREACHED UINT32_MAX

typedef enum sf_bfs_direction {
    SF_BFS_AUTO,     /**< bottom-up while the frontier is a large part of the graph */
    SF_BFS_TOP_DOWN, /**< every vertex of the frontier looks for unvisited neighbours */
    SF_BFS_BOTTOM_UP /**< every unvisited vertex looks for a neighbour in the frontier */
} sf_bfs_direction;

/** The techniques of Enterprise (Liu and Huang, SC 2015), each of which can be left out. */
typedef enum sf_bfs_feature {
    SF_BFS_TS = 1,   /**< frontier queues made by scanning the status array, without atomics */
    SF_BFS_WB = 2,   /**< four queues by out-degree: thread, warp, block, grid */
    SF_BFS_HC = 4,   /**< hubs of the frontier in shared memory, bottom-up */
    SF_BFS_GAMMA = 8 /**< bottom-up when over 30 % of the hubs are in the frontier */
} sf_bfs_feature;

/** Zeroed, every field but the size is its default. The first four are of one search alone. */
typedef struct sf_search_options {
    size_t size;
    sf_bfs_direction direction;
    bool enterprise;    /**< search as Enterprise does, on GPUs; else the fastest way there is */
    unsigned features;  /**< with enterprise: its techniques, of sf_bfs_feature */
    uint32_t repeat;    /**< search so many times, the time being the median; 0: once */
    bool parents;       /**< of many searches: parents, too; of one they are always there */
    unsigned threads;   /**< 0: all cores */
    const char *device; /**< "cpu", "cuda", "cuda:1", "cuda:all"; NULL or "auto": by the work */
    /** Or NULL. Becomes whether the progress stopped the search and something is kept: SF_CANCELLED then
     * comes with the levels of one search, or the searches of many, that are complete. Of a device nothing
     * is. */
    bool *stopped;
} sf_search_options;

static inline sf_search_options sf_search_options_default(void)
{
    sf_search_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

typedef struct sf_searches sf_searches;

/**
 * Breadth-first search along the edges from one vertex, or from many at once. The work is done by the CPU
 * where a device cannot, but for Enterprise's techniques, which are those of GPUs. SF_USAGE where a source is
 * no vertex or options do not go together; SF_UNAVAILABLE where a device that is named is missing;
 * SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_search(sf_searches **searches, const sf_graph *graph, const uint32_t *sources,
                           size_t count, const sf_search_options *options, const sf_progress *progress,
                           sf_error *error);

/** Rows by source, in the order given. Set `size` before sf_searches_get_columns; arrays live as long as the
 * searches. */
typedef struct sf_searches_columns {
    size_t size;
    size_t source_count;
    uint32_t vertex_count;
    const uint32_t *levels;  /**< source_count rows of vertex_count; SF_UNREACHED where no path leads */
    const uint32_t *parents; /**< the same: a vertex one level up, of the source itself; or NULL */
    const uint64_t
        *reached; /**< of each source: vertices, itself included; 0: stopped before it was searched */
    const uint32_t *depth; /**< of each source: the greatest level */
    /** level_sizes[first_size[i] ..] are the depth[i] + 1 numbers of vertices at the levels of source i */
    const uint64_t *level_sizes;
    const size_t *first_size;
    uint64_t edges; /**< of one search: directed edges that leave the vertices reached */
    /** Of one search in a recording's graph that was not made undirected: the delay of the path to each
     * vertex that is through soonest; of vertices not reached 0. NULL otherwise. */
    const int64_t *path_low_ns, *path_high_ns;
    const sf_ran *ran; /**< where, and seconds of the search alone, or of all together */
    uint32_t repeated; /**< how many searches, one after the other, that is the median of */
} sf_searches_columns;

SF_API void sf_searches_get_columns(const sf_searches *searches, sf_searches_columns *columns);
SF_API void sf_searches_free(sf_searches *searches); /**< NULL is allowed */

/**
 * From every vertex: how many it reaches within most_hops, itself included, and how far away the farthest of
 * them is. reached and depth have room for every vertex. SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_reach_all(const sf_graph *graph, uint32_t most_hops, unsigned threads, uint32_t *reached,
                              uint32_t *depth, const sf_progress *progress, sf_error *error);

/** Weakly connected components: component[v], with room for every vertex, becomes the smallest vertex of v's;
 * returns how many there are. */
SF_API uint32_t sf_graph_components(const sf_graph *graph, uint32_t *component);

/* ---- patterns ---- */

/** A small graph to look for, with what its vertices and edges must be like. */
typedef struct sf_motif sf_motif;

/**
 * A pattern as people write it: feed-forward-loop, reciprocal-pair, chain-N, diverging-N, converging-N (N
 * from 2 to 16), a triad such as 030T, a file of a graph (`directed`: its edges have a direction), or the
 * motif language (`synfire match --help`), in a file or as it is. SF_USAGE, SF_NO_INPUT, SF_DATA with line
 * and column.
 */
SF_API int sf_motif_new(sf_motif **motif, const char *text, bool directed, sf_error *error);
SF_API void sf_motif_free(sf_motif *motif); /**< NULL is allowed */

/** False: its edges have no direction, and it is looked for in undirected graphs only. */
SF_API bool sf_motif_is_directed(const sf_motif *motif);

typedef enum sf_semantics {
    SF_ISOMORPHISM, /**< different pattern vertices have different data vertices */
    SF_INDUCED,     /**< and no edge joins those but the pattern's */
    SF_HOMOMORPHISM /**< pattern vertices may share one */
} sf_semantics;

/** Techniques of the engine gvsm; without any of them the counts are the same. */
typedef enum sf_gvsm_feature {
    SF_GVSM_BLACKLIST = 1,
    SF_GVSM_IMPLICATION = 2,
    SF_GVSM_TWINS = 4,
    SF_GVSM_ORDER = 8,
    SF_GVSM_TWIGS = 16,
    SF_GVSM_PIPELINE = 32, /**< on a device: three pieces of a layer under way at once */
    SF_GVSM_STAY = 64,     /**< on a device: small layers are joined there too */
    SF_GVSM_PAIRS = 128    /**< on a device: two twigs in a kernel while layers stay */
} sf_gvsm_feature;

/** Zeroed, every field but the size is its default. */
typedef struct sf_match_options {
    size_t size;
    sf_semantics semantics;
    bool distinct;       /**< divide by the automorphisms of the pattern; not with homomorphism */
    uint64_t limit;      /**< stop after so many embeddings; 0: none */
    double time_limit_s; /**< stop after so long; 0: never */
    size_t keep;         /**< embeddings to hand back, at most; 0: count only, which is faster */
    unsigned threads;    /**< 0: all cores */
    const char *engine;  /**< "auto", "gvsm"; NULL: "auto" */
    const char *device;  /**< "cpu", "cuda", "cuda:1", ...; NULL or "auto": by the estimated work */
    unsigned without;    /**< sf_gvsm_feature bits that the engine gvsm does without */
    /** Or NULL. Becomes whether the progress stopped the search: SF_CANCELLED then comes with the matches
     * found by then, the count being a lower bound; a device hands over none. */
    bool *stopped;
    uint32_t slots; /**< gvsm on a device: pieces of a layer under way at once, 1 to 3; 0: 3 */
    /** gvsm on a device: layers of more entries are joined by the CPU, and the pipeline goes on with them, as
     * in the paper; 0: every layer stays, those that are too large in parts. */
    uint64_t threshold;
} sf_match_options;

static inline sf_match_options sf_match_options_default(void)
{
    sf_match_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

typedef struct sf_matches sf_matches;

/**
 * Counts the ways to lay a pattern on the graph, and lists the first of them. An undirected pattern needs an
 * undirected graph. Counts are the same on every device. SF_USAGE where pattern, graph and options do not go
 * together, SF_UNAVAILABLE where a device that is named is missing, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_match(sf_matches **matches, const sf_graph *graph, const sf_motif *motif,
                          const sf_match_options *options, const sf_progress *progress, sf_error *error);

/** Set `size` before sf_matches_get_columns; arrays live as long as the matches. */
typedef struct sf_matches_columns {
    size_t size;
    uint32_t vertex_count;           /**< of the pattern */
    const char *const *vertex_names; /**< of the pattern's vertices; NULL where one has none */
    uint64_t count;                  /**< of embeddings, or of distinct ones; UINT64_MAX: does not fit */
    bool truncated;                  /**< a limit, or a stop, ended the search: count is a lower bound */
    size_t kept;
    const uint32_t *embeddings; /**< kept rows: the data vertex of every pattern vertex */
    const uint32_t *order;      /**< in which pattern vertices were matched */
    const uint64_t *labelled;   /**< of each pattern vertex: data vertices with its label */
    const uint64_t *candidates; /**< those of them left after pruning */
    uint64_t blacklisted;       /**< data vertices that can match no pattern vertex */
    uint64_t automorphisms;     /**< that the count was divided by, or that divided the work; at least 1 */
    uint64_t steps;             /**< data vertices tried */
    uint64_t shared;            /**< auto: parts of the search that a thread took from another */
    uint64_t implied;           /**< gvsm: local tests that another vertex's failure saved */
    uint64_t merged;            /**< gvsm: data vertices that share the branch of a twin */
    uint64_t pieces;            /**< gvsm on a device: of layers, expanded there and joined here */
    uint64_t stayed;            /**< gvsm: layers that were joined there too */
    uint64_t twigs, kernels;    /**< to which these belong, and the kernels that grew them */
    const sf_ran *ran;          /**< engine, where, and seconds of matching alone */
    double device_s;            /**< of these: searching on the device */
    double estimate_s;          /**< that the CPU was expected to take; 0: too short to ask for a device */
} sf_matches_columns;

SF_API void sf_matches_get_columns(const sf_matches *matches, sf_matches_columns *columns);
SF_API void sf_matches_free(sf_matches *matches); /**< NULL is allowed */

/* ---- measures of networks ---- */

/** Zeroed, every field but the size is its default. */
typedef struct sf_network_options {
    size_t size;
    double threshold;    /**< edges of this weight or more; 0: of any above 0 */
    double edge_density; /**< of these the strongest, up to this share of all pairs; 0: all. Where several
                            share the last place none of them is left out */
    bool linked;       /**< leave out vertices that have no edge by then; else means are over all vertices */
    double resolution; /**< of modularity; 0: 1 */
    uint32_t rewired;  /**< graphs with the same degrees to compare with; 0: none */
    uint64_t seed;     /**< of modules and of rewired graphs; 0: 1 */
    unsigned threads;  /**< 0: all cores; the numbers do not depend on it */
} sf_network_options;

static inline sf_network_options sf_network_options_default(void)
{
    sf_network_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/**
 * What the graph is like as papers on networks describe it: degrees, strength, clustering, paths, efficiency,
 * betweenness, modules, participation, hubs of every vertex (the table `network_units`), and of all in one
 * row (the table `network`), which has the rich club, and small-worldness beside rewired graphs. Loops are
 * left out, weights of parallel edges are added up, and edges whose weight is not above 0 are left out.
 * docs/network.md has every definition. The tables live as long as the graph, or until it is measured again:
 * no other thread may use it meanwhile. SF_USAGE; SF_UNAVAILABLE from 2^31 edges on, SF_CANCELLED,
 * SF_NO_MEMORY.
 */
SF_API int sf_graph_measure(sf_graph *graph, const sf_network_options *options, sf_table *network,
                            sf_table *vertices, const sf_progress *progress, sf_error *error);

/* ---- triads, and rewired graphs ---- */

#define SF_TRIADS 16

/** A triad in the notation of Holland and Leinhardt: numbers of mutual, one-way and missing edges, a letter.
 */
typedef struct sf_triad {
    const char *name;
    uint8_t edges; /**< of the vertices 0, 1, 2; bits 0 to 5: 0->1, 1->0, 1->2, 2->1, 0->2, 2->0 */
} sf_triad;

/** All SF_TRIADS of them, in the usual order from 003 to 300. */
SF_API const sf_triad *sf_triad_list(void);

/**
 * Counts every set of three vertices under its triad, loops and parallel edges left out; an undirected edge
 * is a mutual one. 003 is UINT64_MAX where it does not fit. SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_census(uint64_t counts[SF_TRIADS], const sf_graph *graph, unsigned threads,
                           const sf_progress *progress, sf_error *error);

typedef struct sf_rewired_options {
    size_t size;
    uint32_t graphs;    /**< 100, at least 1 */
    uint64_t seed;      /**< 1 */
    unsigned threads;   /**< 0: all cores; the numbers do not depend on it */
    const char *device; /**< "cpu", "cuda", ...; NULL or "auto": by how much there is to do */
    /** Or NULL. Becomes how many graphs were made; where the progress stops them, SF_CANCELLED then comes
     * with the numbers of those, NaN where there are none. */
    uint32_t *made;
} sf_rewired_options;

SF_API void sf_rewired_options_init(void *options, size_t size);
static inline sf_rewired_options sf_rewired_options_default(void)
{
    sf_rewired_options options;
    sf_rewired_options_init(&options, sizeof options);
    return options;
}

/** How often something is found in rewired graphs, and how far from that it is in the graph itself. */
typedef struct sf_spread {
    double mean;
    double sd; /**< of a sample; NaN for one graph */
    double z;  /**< (count - mean) / sd; NaN where sd is 0 or NaN */
} sf_spread;

/**
 * Holds counts against those in graphs with the same degrees and otherwise random (Maslov and Sneppen 2002):
 * spreads[i] is of counts[i], that of motifs[i], each matched as `match` says, limits left aside; motifs
 * NULL: of the SF_TRIADS triads. The numbers are the same on every device. `ran` (or NULL) tells where graphs
 * were rewired. SF_USAGE, SF_UNAVAILABLE, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_rewire(sf_spread *spreads, const uint64_t *counts, const sf_graph *graph,
                           const sf_motif *const *motifs, size_t motif_count, const sf_match_options *match,
                           const sf_rewired_options *options, sf_ran *ran, const sf_progress *progress,
                           sf_error *error);

#ifdef __cplusplus
}
#endif
#endif
