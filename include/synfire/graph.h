/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Graphs: the functional connectivity of a recording, or graphs from files and memory; breadth-first search,
 * pattern matching, network measures, and comparison with rewired graphs.
 *
 * A graph, a motif and the result of a search or match are read-only once built, and several threads may use
 * them at once; none of these functions is real-time safe. Vertices are numbered from 0. An undirected graph
 * holds every edge in both directions (a loop once), and every number of edges here counts directed edges.
 * For SF_USAGE the place is the field of the options that is wrong.
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

/* ---- building ---- */

/** Which of several edges with the same ends are kept; when some are dropped, the first is kept. */
typedef enum sf_parallel_edges {
    SF_PARALLEL_KEEP,        /**< all */
    SF_PARALLEL_WITH_VALUES, /**< all if edges carry values that a pattern can ask for, else one */
    SF_PARALLEL_DROP         /**< one */
} sf_parallel_edges;

/** Zeroed, every field but the size is its default. */
typedef struct sf_graph_options {
    size_t size;
    sf_parallel_edges parallel;
    bool drop_loops;  /**< leave out edges from a vertex to itself */
    bool undirected;  /**< every edge goes both ways, whatever the source of the graph says */
    bool directed;    /**< for a file that does not say (.graph): its edges are directed */
    unsigned threads; /**< 0: all cores */
    /** Keep only edges whose tested p, and q, is at most this; 0: keep all, tested or not. SF_USAGE if edges
     * lack the requested value because no test computed it. */
    double max_p, max_q;
    const sf_progress *progress; /**< for sf_graph_new only; the other functions take a parameter */
} sf_graph_options;

static inline sf_graph_options sf_graph_options_default(void)
{
    sf_graph_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    return options;
}

/** Edges in memory; zero-initialise and set the size. Optional arrays may be NULL. */
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

/** Builds a graph from a copy of the edges. SF_DATA if an edge ends outside the vertices, SF_CANCELLED,
 * SF_NO_MEMORY. */
SF_API int sf_graph_new(sf_graph **graph, const sf_graph_edges *edges, const sf_graph_options *options,
                        sf_error *error);

/**
 * Reads a graph file, whose format it recognises by content: Matrix Market, GraphML, .graph, a list of edges,
 * synfire's HDF5. SF_NO_INPUT, SF_DATA with the line, SF_IO, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_open(sf_graph **graph, const char *path, const sf_graph_options *options,
                         const sf_progress *progress, sf_error *error);

typedef enum sf_graph_file {
    SF_GRAPH_FILE_NONE,         /**< there is no such file, or it is no graph */
    SF_GRAPH_FILE_READ,         /**< sf_graph_open reads it */
    SF_GRAPH_FILE_WRITTEN_ONLY, /**< a graph that synfire writes and does not read: .dot, .json */
    SF_GRAPH_FILE_PAIRS /**< lines such as 0,1, which sf_graph_open reads as edges and sf_recording_open as
                           unit and seconds */
} sf_graph_file;

/** Classifies a file by its first bytes. */
SF_API sf_graph_file sf_graph_file_kind(const char *path);

/**
 * Writes the graph with all its values, in the format of the path's extension: .graphml .dot .mtx .el .h5.
 * `provenance` (JSON on one line, or NULL) is stored with it. graph NULL: only checks the extension and
 * writes nothing. SF_USAGE lists the extensions; SF_CANNOT_CREATE, SF_IO, SF_NO_MEMORY.
 */
SF_API int sf_graph_save(const sf_graph *graph, const char *path, const char *provenance, sf_error *error);

/**
 * Generates a Kronecker graph with Graph500's parameters. `text` is SCALE:EDGEFACTOR:SEED, for 2^SCALE
 * vertices and EDGEFACTOR * 2^SCALE undirected edges, the same on every machine; an additional ":A,B,C"
 * replaces the R-MAT probabilities 0.57,0.19,0.19. SF_USAGE, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_kronecker(sf_graph **graph, const char *text, const sf_graph_options *options,
                              const sf_progress *progress, sf_error *error);

SF_API void sf_graph_free(sf_graph *graph); /**< NULL is allowed */

/**
 * Builds the directed graph of those of these episodes (found or counted) that have two units; others are
 * skipped. Each is an edge with its delay, count, expectation, p and q. SF_DATA if an episode occurs twice,
 * SF_NO_MEMORY.
 */
SF_API int sf_graph_of_episodes(sf_graph **graph, const sf_episodes *episodes,
                                const sf_graph_options *options, sf_error *error);

typedef struct sf_tiling_options {
    size_t size;
    int64_t half_width_ns; /**< 50 ms: maximum distance of two spikes that count as together */
    uint32_t surrogates;   /**< 200; 0: no threshold, every pair of units that both fire is an edge */
    double percentile;     /**< 0.95: a pair is an edge if its p is at most 1 - percentile and its coefficient
                              above 0 */
    double min_distance_um; /**< no edge joins units closer than this; 0: no limit */
    uint64_t seed;          /**< 1: for the random shifts */
    unsigned threads;       /**< 0: all cores; the result does not depend on it */
    /** NULL, or receives the number of surrogates compared with; if progress stops the surrogates,
     * SF_CANCELLED then comes with the graph by those made so far, without the limits on p and q. */
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
 * Builds the undirected graph of units whose spike-time tiling coefficient (Cutts and Eglen 2014) exceeds
 * that of circularly shifted trains. Each observed span is separate: tiles are cut at its ends, only spikes
 * within it can be together, trains are shifted around within it. p is that of the single pair; q is
 * corrected for all compared pairs by the maximum in each surrogate (Westfall and Young 1993). SF_USAGE, also
 * for a distance if the units have no positions; SF_DATA if no time was recorded; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_of_tiling(sf_graph **graph, const sf_recording *recording,
                              const sf_tiling_options *tiling, const sf_graph_options *options,
                              const sf_progress *progress, sf_error *error);

/**
 * Computes the coefficients of a tiling graph's links in another recording of the same units, such as a part
 * of its own: coefficients[i] is that of link i, NaN if a unit is silent. Errors as sf_graph_of_tiling.
 */
SF_API int sf_graph_tiling_in(double *coefficients, const sf_graph *graph, const sf_recording *recording,
                              sf_error *error);

/** How the spikes of two units are compared: docs/connectivity.md#who-drives-whom. */
typedef enum sf_drive_method {
    SF_DRIVE_REGRESSION,       /**< regression on the past of all units at once */
    SF_DRIVE_EXCESS,           /**< coincidences minus those of segment-shift surrogates */
    SF_DRIVE_TSPE,             /**< total spiking probability edges (De Blasi et al. 2019) */
    SF_DRIVE_TRANSFER_ENTROPY, /**< delayed transfer entropy (Ito et al. 2011) */
    SF_DRIVE_DIRECTED_STTC,    /**< spike-time tiling that counts only what follows */
    SF_DRIVE_METHODS           /**< number of methods */
} sf_drive_method;

#define SF_DRIVE_LOW_NS 1000000 /**< the default delays */
#define SF_DRIVE_HIGH_NS 15000000

/** Zeroed, every field but the size is its default. */
typedef struct sf_drive_options {
    size_t size;
    sf_drive_method method;
    int64_t low_ns, high_ns; /**< delays above low_ns, up to high_ns, at most 50 ms, in whole milliseconds;
                                both 0: 1 to 15 ms */
    double max_false; /**< maximum share of edges, by sign, that the distribution of most pairs explains; 0:
                         0.05; 1: all pairs are edges */
    double min_distance_um; /**< no edge joins units closer than this; 0: no limit */
    uint32_t surrogates;    /**< number of segment-shift surrogates that edges are compared with; 0: none */
    uint64_t seed;          /**< for the surrogates; 0: 1 */
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
 * Builds the directed graph of units that drive others, with the sign of each edge (+1 excites, -1 inhibits)
 * and a confidence. All ordered pairs are compared, on trains in bins of 1 ms; unobserved time is left out. p
 * is the share of surrogates that deviate as far in the direction of the edge's sign, q the share of
 * surrogates in which any pair does; both are NaN without surrogates. SF_USAGE, also for a distance if the
 * units have no positions; SF_DATA if no time was recorded; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_of_drive(sf_graph **graph, const sf_recording *recording, const sf_drive_options *drive,
                             const sf_graph_options *options, const sf_progress *progress, sf_error *error);

/* ---- reading ---- */

/** Whether the edges of a graph were tested. */
typedef enum sf_edges_tested {
    SF_EDGES_NOT_COUNTED, /**< edges have no counts of episodes and no coefficients: there is nothing to test
                           */
    SF_EDGES_UNTESTED,    /**< counts or coefficients exist, but no test was made */
    SF_EDGES_TESTED,      /**< tested; edges that chance explains are included */
    SF_EDGES_SIGNIFICANT  /**< all edges have q <= 0.05 */
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
    /* Links of a recording's graph, an undirected one once, ordered by (from, to, delay); two units may be
     * joined by several links of different delays. Other graphs have no links. */
    bool is_tiling; /**< links are spike-time tiling coefficients: no count, no expectation */
    size_t link_count;
    const uint32_t *from, *to;
    const int64_t *low_ns, *high_ns; /**< the delay, low < dt <= high */
    const double *weight;            /**< count - expected, by rates; or the tiling coefficient */
    const uint64_t *count;           /**< of the episode from -> to; 0 for tiling */
    const double *expected;          /**< by rates, as in sf_episodes_columns; NaN for tiling */
    const double *asymmetry;         /**< (count - reverse) / (count + reverse); NaN without a reverse link */
    const double *p, *q;             /**< NaN: not computed */
    const char *const *not_tested;   /**< why a test gave no p, or NULL */
    /** One electrode, where spike sorters err, recorded both units, or their spikes look like those of one
     * neuron. */
    const bool *one_electrode;
    sf_edges_tested tested;
    size_t links_found; /**< number of links before max_p and max_q removed some */
    size_t burst_count; /**< number of network bursts; for a graph of a recording's episodes */
    const sf_significance *significance; /**< the test of a recording's episodes; NULL: no test */
    /** By link, the 95 % confidence interval of count / expected as in sf_episodes_columns; NaN for tiling */
    const double *ratio_low, *ratio_high;
    double threshold;          /**< as a count; for a graph of episodes that sf_mine found; else NaN */
    const char *threshold_why; /**< as in sf_episodes_columns */
    size_t pairs_tested;       /**< tiling: number of pairs compared with surrogates; else 0 */
    /** How many of these pairs become edges by chance, on average, if no two units are related. NaN if
     * unknown: for episodes, without a test, and with max_q, which bounds the probability of any such edge.
     */
    double pairs_by_chance;
    /** By link as in sf_episodes_columns; NaN without a verdict, and for tiling. */
    const double *expected_given_rest;
    /* By link, for a graph of sf_graph_of_drive: */
    /** it is one: `weight` is the method's measure, `count` coincidences within the delays */
    bool is_signed;
    const int8_t *sign;       /**< +1: more spikes follow than by chance, -1: fewer; 0 in other graphs */
    const double *confidence; /**< 1 - share of edges this far out that the distribution of most pairs
                                 explains; else NaN */
    const double *score;      /**< distance from that distribution in its standard deviations; else NaN */
    size_t pairs_compared;    /**< number of ordered pairs of units that fire; else 0 */
    /** number of these with too few expected coincidences for a trough to be visible */
    size_t troughs_hidden;
} sf_graph_columns;

SF_API void sf_graph_get_columns(const sf_graph *graph, sf_graph_columns *columns);

/** The links of a recording's graph as a table, one row per link; no rows for other graphs. */
SF_API void sf_graph_get_table(const sf_graph *graph, sf_table *table);

/**
 * Finds a vertex as people write it: by name, or `#2` for index 2; in a graph without names a plain number is
 * the index. SF_USAGE, also if several vertices have the name.
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
    SF_BFS_TS = 1,   /**< frontier queues built by scanning the status array, without atomics */
    SF_BFS_WB = 2,   /**< four queues by out-degree: thread, warp, block, grid */
    SF_BFS_HC = 4,   /**< hubs of the frontier in shared memory, bottom-up */
    SF_BFS_GAMMA = 8 /**< bottom-up when over 30 % of the hubs are in the frontier */
} sf_bfs_feature;

/** Zeroed, every field but the size is its default. direction, enterprise, features and repeat apply only to
 * a search from one source. */
typedef struct sf_search_options {
    size_t size;
    sf_bfs_direction direction;
    bool enterprise;    /**< search as Enterprise does, on GPUs; else with the fastest implementation */
    unsigned features;  /**< with `enterprise`: the techniques to use, sf_bfs_feature bits */
    uint32_t repeat;    /**< number of repetitions, whose median is the time; 0: one search */
    bool parents;       /**< for many sources: compute parents too; for one they are always computed */
    unsigned threads;   /**< 0: all cores */
    const char *device; /**< "cpu", "cuda", "cuda:1", "cuda:all"; NULL or "auto": by the amount of work */
    /** NULL, or receives whether progress stopped the search and partial results exist: SF_CANCELLED then
     * comes with the complete levels of one search, or the complete searches of many. A device keeps no
     * partial results. */
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
 * Breadth-first search along the edges from one vertex, or from many at once. The CPU does what a device
 * cannot, except for Enterprise's techniques, which only GPUs have. SF_USAGE if a source is no vertex or
 * options exclude each other; SF_UNAVAILABLE if a named device is missing; SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_search(sf_searches **searches, const sf_graph *graph, const uint32_t *sources,
                           size_t count, const sf_search_options *options, const sf_progress *progress,
                           sf_error *error);

/** One row per source, in the order given. Set `size` before sf_searches_get_columns; arrays live as long as
 * the searches. */
typedef struct sf_searches_columns {
    size_t size;
    size_t source_count;
    uint32_t vertex_count;
    const uint32_t *levels; /**< source_count rows of vertex_count; SF_UNREACHED if there is no path */
    /** the same shape: a neighbour one level closer; the source is its own parent; or NULL */
    const uint32_t *parents;
    const uint64_t *reached; /**< number of vertices reached from each source, itself included; 0: stopped
                                before its search */
    const uint32_t *depth;   /**< greatest level of each source */
    /** level_sizes[first_size[i] ..]: number of vertices at each of the depth[i] + 1 levels of source i */
    const uint64_t *level_sizes;
    const size_t *first_size;
    uint64_t edges; /**< for one search: number of directed edges that leave the reached vertices */
    /** For one search in a recording's graph that was not made undirected: the delay of the fastest path to
     * each vertex; 0 for unreached vertices. Else NULL. */
    const int64_t *path_low_ns, *path_high_ns;
    const sf_ran *ran; /**< where it ran, and seconds of the search alone, or of all searches together */
    uint32_t repeated; /**< number of repeated searches whose median the seconds are */
} sf_searches_columns;

SF_API void sf_searches_get_columns(const sf_searches *searches, sf_searches_columns *columns);
SF_API void sf_searches_free(sf_searches *searches); /**< NULL is allowed */

/**
 * Computes for every vertex how many it reaches within most_hops, itself included, and how many hops away the
 * farthest of them is. reached and depth have room for every vertex. SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_reach_all(const sf_graph *graph, uint32_t most_hops, unsigned threads, uint32_t *reached,
                              uint32_t *depth, const sf_progress *progress, sf_error *error);

/** Weakly connected components: sets component[v] to the smallest vertex in the component of v (room for
 * every vertex); returns the number of components. */
SF_API uint32_t sf_graph_components(const sf_graph *graph, uint32_t *component);

/* ---- patterns ---- */

/** A small graph to search for, with constraints on its vertices and edges. */
typedef struct sf_motif sf_motif;

/**
 * Reads a pattern as people write it: feed-forward-loop, reciprocal-pair, chain-N, diverging-N, converging-N
 * (N from 2 to 16), a triad such as 030T, a graph file (`directed`: its edges have a direction), or the motif
 * language (`synfire match --help`), in a file or as text. SF_USAGE, SF_NO_INPUT, SF_DATA with line and
 * column.
 */
SF_API int sf_motif_new(sf_motif **motif, const char *text, bool directed, sf_error *error);
SF_API void sf_motif_free(sf_motif *motif); /**< NULL is allowed */

/** False: the pattern's edges have no direction, and only undirected graphs can be searched for it. */
SF_API bool sf_motif_is_directed(const sf_motif *motif);

typedef enum sf_semantics {
    SF_ISOMORPHISM, /**< different pattern vertices have different data vertices */
    SF_INDUCED,     /**< also, no edge joins those except the pattern's */
    SF_HOMOMORPHISM /**< pattern vertices may share a data vertex */
} sf_semantics;

/** Techniques of the engine gvsm; the counts are the same without them. */
typedef enum sf_gvsm_feature {
    SF_GVSM_BLACKLIST = 1,
    SF_GVSM_IMPLICATION = 2,
    SF_GVSM_TWINS = 4,
    SF_GVSM_ORDER = 8,
    SF_GVSM_TWIGS = 16,
    SF_GVSM_PIPELINE = 32, /**< on a device: three chunks of a layer in progress at once */
    SF_GVSM_STAY = 64,     /**< on a device: small layers are joined on the device, too */
    SF_GVSM_PAIRS = 128    /**< on a device: one kernel grows two twigs while layers stay */
} sf_gvsm_feature;

/** Zeroed, every field but the size is its default. */
typedef struct sf_match_options {
    size_t size;
    sf_semantics semantics;
    bool distinct;       /**< divide by the automorphisms of the pattern; not with homomorphism */
    uint64_t limit;      /**< stop after this number of embeddings; 0: no limit */
    double time_limit_s; /**< stop after this time; 0: no limit */
    size_t keep;         /**< maximum number of embeddings to return; 0: count only, which is faster */
    unsigned threads;    /**< 0: all cores */
    const char *engine;  /**< "auto", "gvsm"; NULL: "auto" */
    const char *device;  /**< "cpu", "cuda", "cuda:1", ...; NULL or "auto": by the estimated work */
    unsigned without;    /**< sf_gvsm_feature bits of the techniques that gvsm does not use */
    /** NULL, or receives whether progress stopped the search: SF_CANCELLED then comes with the matches found
     * so far, and the count is a lower bound; a device returns none. */
    bool *stopped;
    uint32_t slots; /**< gvsm on a device: number of chunks of a layer in progress at once, 1 to 3; 0: 3 */
    /** gvsm on a device: the CPU joins layers with more entries than this, and the pipeline continues with
     * them, as in the paper; 0: every layer stays on the device, too large ones in parts. */
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
 * Counts the embeddings of a pattern in the graph, and lists the first of them. An undirected pattern needs
 * an undirected graph. Counts are the same on every device. SF_USAGE if pattern, graph and options do not fit
 * together, SF_UNAVAILABLE if a named device is missing, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_match(sf_matches **matches, const sf_graph *graph, const sf_motif *motif,
                          const sf_match_options *options, const sf_progress *progress, sf_error *error);

/** Set `size` before sf_matches_get_columns; arrays live as long as the matches. */
typedef struct sf_matches_columns {
    size_t size;
    uint32_t vertex_count;           /**< of the pattern */
    const char *const *vertex_names; /**< of the pattern's vertices; NULL for one without a name */
    uint64_t count;                  /**< number of embeddings, or of distinct ones; UINT64_MAX: overflow */
    bool truncated;                  /**< a limit or a stop ended the search: count is a lower bound */
    size_t kept;
    const uint32_t *embeddings; /**< kept rows: the data vertex of every pattern vertex */
    const uint32_t *order;      /**< the order in which pattern vertices were matched */
    const uint64_t *labelled;   /**< by pattern vertex: number of data vertices with its label */
    const uint64_t *candidates; /**< number of those left after pruning */
    uint64_t blacklisted;       /**< data vertices that can match no pattern vertex */
    uint64_t automorphisms;     /**< number of automorphisms that divided the count or the work; at least 1 */
    uint64_t steps;             /**< number of data vertices tried */
    uint64_t shared;            /**< auto: number of parts of the search that one thread took from another */
    uint64_t implied; /**< gvsm: number of local tests that another vertex's failure made unnecessary */
    uint64_t merged;  /**< gvsm: number of data vertices that share the branch of a twin */
    uint64_t pieces;  /**< gvsm on a device: chunks of layers that the device expanded and the host joined */
    uint64_t stayed;  /**< gvsm: layers that the device joined, too */
    uint64_t twigs, kernels; /**< the twigs of these layers, and the kernels that grew them */
    const sf_ran *ran;       /**< engine, where, and seconds of matching alone */
    double device_s;         /**< part of these seconds: searching on the device */
    double estimate_s;       /**< estimated seconds on the CPU; 0: too short to consider a device */
} sf_matches_columns;

SF_API void sf_matches_get_columns(const sf_matches *matches, sf_matches_columns *columns);
SF_API void sf_matches_free(sf_matches *matches); /**< NULL is allowed */

/* ---- measures of networks ---- */

/** Zeroed, every field but the size is its default. */
typedef struct sf_network_options {
    size_t size;
    double threshold;    /**< use edges of this weight or more; 0: all above 0 */
    double edge_density; /**< of these keep the strongest, up to this share of all pairs; 0: all. Edges tied
                            for the last place are all kept */
    bool linked;       /**< leave out vertices without an edge after that; else means are over all vertices */
    double resolution; /**< of modularity; 0: 1 */
    uint32_t rewired;  /**< number of graphs with the same degrees to compare with; 0: none */
    uint64_t seed;     /**< for modules and rewired graphs; 0: 1 */
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
 * Measures a graph as network papers describe it: degrees, strength, clustering, paths, efficiency,
 * betweenness, modules, participation and hubs of every vertex (table `network_units`), and one row for the
 * whole graph (table `network`), including the rich club, and small-worldness compared with rewired graphs.
 * Loops and edges whose weight is not above 0 are left out; weights of parallel edges are added up.
 * docs/network.md has every definition. The tables live as long as the graph, or until it is measured again:
 * no other thread may use it meanwhile. SF_USAGE; SF_UNAVAILABLE from 2^31 edges on, SF_CANCELLED,
 * SF_NO_MEMORY.
 */
SF_API int sf_graph_measure(sf_graph *graph, const sf_network_options *options, sf_table *network,
                            sf_table *vertices, const sf_progress *progress, sf_error *error);

/* ---- triads, and rewired graphs ---- */

#define SF_TRIADS 16

/** A triad in the notation of Holland and Leinhardt: number of mutual, one-way and missing edges, and a
 * letter. */
typedef struct sf_triad {
    const char *name;
    uint8_t edges; /**< between the vertices 0, 1, 2; bits 0 to 5: 0->1, 1->0, 1->2, 2->1, 0->2, 2->0 */
} sf_triad;

/** All SF_TRIADS triads, in the usual order from 003 to 300. */
SF_API const sf_triad *sf_triad_list(void);

/**
 * Counts every set of three vertices under its triad, without loops and parallel edges; an undirected edge
 * counts as mutual. 003 is UINT64_MAX if it overflows. SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_census(uint64_t counts[SF_TRIADS], const sf_graph *graph, unsigned threads,
                           const sf_progress *progress, sf_error *error);

typedef struct sf_rewired_options {
    size_t size;
    uint32_t graphs;    /**< 100, at least 1 */
    uint64_t seed;      /**< 1 */
    unsigned threads;   /**< 0: all cores; the numbers do not depend on it */
    const char *device; /**< "cpu", "cuda", ...; NULL or "auto": by the amount of work */
    /** NULL, or receives the number of graphs made; if progress stops the work, SF_CANCELLED then comes with
     * the numbers over those graphs, NaN if there are none. */
    uint32_t *made;
} sf_rewired_options;

SF_API void sf_rewired_options_init(void *options, size_t size);
static inline sf_rewired_options sf_rewired_options_default(void)
{
    sf_rewired_options options;
    sf_rewired_options_init(&options, sizeof options);
    return options;
}

/** The count of something in rewired graphs, and how far the graph's own count is from it. */
typedef struct sf_spread {
    double mean;
    double sd; /**< sample standard deviation; NaN for one graph */
    double z;  /**< (count - mean) / sd; NaN where sd is 0 or NaN */
} sf_spread;

/**
 * Compares counts with those in random graphs of the same degrees (Maslov and Sneppen 2002): spreads[i]
 * belongs to counts[i], which is that of motifs[i], each matched with the options `match` but without limits;
 * motifs NULL: the counts are those of the SF_TRIADS triads. The numbers are the same on every device. `ran`
 * (or NULL) receives where graphs were rewired. SF_USAGE, SF_UNAVAILABLE, SF_CANCELLED, SF_NO_MEMORY.
 */
SF_API int sf_graph_rewire(sf_spread *spreads, const uint64_t *counts, const sf_graph *graph,
                           const sf_motif *const *motifs, size_t motif_count, const sf_match_options *match,
                           const sf_rewired_options *options, sf_ran *ran, const sf_progress *progress,
                           sf_error *error);

#ifdef __cplusplus
}
#endif
#endif
