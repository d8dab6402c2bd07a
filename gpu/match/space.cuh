/* SPDX-License-Identifier: Apache-2.0 */
/** Candidate spaces that are made on a device: what their graph (space.cu), candidates (sieve.cu), links
 * (links.cu) and the search (match.cu) share; the graph is that of engine gvsm (gvsm/) too. */
#ifndef SF_GPU_MATCH_SPACE_CUH
#define SF_GPU_MATCH_SPACE_CUH

#include "gpu/match/labelled.cuh"

/** Neighbours in one direction. */
struct sf_gpu_neighbours_of {
    const uint64_t *offsets;
    uint64_t base;           /**< the first of them */
    const uint32_t *targets; /**< from there on; NULL: only labelled ones are there */
    sf_gpu_labelled labelled;
};

/** What jobs of twigs have brought: of a vertex the one that implies it and how many twins; or NULL. */
struct sf_gpu_relatives {
    const uint32_t *implied, *twins;
};

struct sf_backend_data {
    sf_gpu_kept kept; /**< while nobody uses it */
    uint32_t users;   /**< spaces and twigs */
    bool is_lost;     /**< given back: it holds nothing any more */
    sf_backend_device *device;
    sf_backend_data_job job;
    sf_gpu_blocks blocks;
    sf_gpu_neighbours_of out, in;
    const uint32_t *labels, *edge_labels; /**< or NULL */
    sf_gpu_labelled out_kinds, in_kinds;  /**< of jobs of twigs; no directory: none had any */
    sf_gpu_relatives relatives[2];        /**< of those without kinds and with them */
};

/** What of a pattern vertex is asked on the device. */
struct sf_gpu_space_vertex {
    uint32_t label, required, out, need_count;
    uint64_t out_degree, in_degree;
    const sf_backend_need *needs;
    const uint32_t *allowed; /**< or NULL */
};

/** Candidates of each pattern vertex: bits of data vertices, and the rank of the first bit of every word
 * among the candidates of all, vertex after vertex. */
struct sf_gpu_sieve {
    uint32_t vertex_count, words, count, rounds;
    sf_gpu_neighbours_of out, in;
    const uint32_t *labels;
    uint32_t *bits, *ranks; /**< words of each pattern vertex in turn */
    struct sf_gpu_sieve_control *control;
    uint32_t begins[SF_BACKEND_MATCH_MOST + 1]; /**< of a pattern vertex: its first candidate among all */
    sf_gpu_space_vertex vertices[SF_BACKEND_MATCH_MOST];
};

enum { SF_GPU_MOST_LINKS = 2 * SF_BACKEND_MATCH_MOST * SF_BACKEND_MATCH_MOST };

struct sf_backend_space {
    sf_backend_data *data;
    sf_gpu_blocks blocks;
    sf_gpu_sieve sieve;
    sf_gpu_array candidates;      /**< of all pattern vertices */
    sf_gpu_array offsets, values; /**< of the rows of all links */
    uint32_t link_count, link_rows[SF_GPU_MOST_LINKS + 1];
    uint64_t value_count;
};

/** Copies the neighbours whatever their labels, or the labels of edges, where they are not there yet. */
int sf_gpu_need_targets(sf_backend_data *data, sf_error *error);
int sf_gpu_need_edge_labels(sf_backend_data *data, sf_error *error);

/** Spaces and twigs use the graph from begin to end; in between nobody is given its memory. The watch, or
 * NULL, is looked at while more of the graph is copied. */
void sf_gpu_data_begin(sf_backend_data *data, const sf_backend_watch *watch);
void sf_gpu_data_end(sf_backend_data *data);

/** Finds candidates and their ranks; fills the answer. */
int sf_gpu_sift(sf_backend_space *space, sf_backend_space_answer *answer, sf_error *error);

int sf_gpu_data_open(sf_backend_data **opened, sf_backend_device *device, const sf_backend_data_job *job,
                     sf_error *error);
void sf_gpu_data_close(sf_backend_data *data);
int sf_gpu_space_open(sf_backend_space **opened, sf_backend_data *data, const sf_backend_space_job *job,
                      sf_backend_space_answer *answer, sf_error *error);
void sf_gpu_space_close(sf_backend_space *space);
int sf_gpu_space_link(sf_backend_space *space, const sf_backend_link *links, uint32_t count, uint32_t *number,
                      uint64_t *totals, sf_error *error);
int sf_gpu_space_read(sf_backend_space *space, uint32_t vertex, uint32_t *candidates, uint32_t link,
                      uint64_t *offsets, uint32_t *places, sf_error *error);

/* ---- on the device ---- */

/** Neighbours of a vertex with a label. */
struct sf_gpu_near {
    const uint32_t *targets;
    uint64_t begin, end;
};

static __device__ inline sf_gpu_near sf_gpu_near_of(const sf_gpu_neighbours_of &n, uint32_t v, uint32_t label)
{
    if (label == UINT32_MAX || n.labelled.directory == NULL)
        return {n.targets, n.offsets[v] - n.base, n.offsets[v + 1] - n.base};
    sf_gpu_near near = {n.labelled.targets, 0, 0};
    sf_gpu_neighbours(n.labelled, v, label, &near.begin, &near.end);
    return near;
}

static __device__ inline bool sf_gpu_is_in(const uint32_t *bits, uint32_t v)
{
    return (bits[v / 32] >> v % 32 & 1) != 0;
}

/** How many bits of a word are before one. */
static __device__ inline uint32_t sf_gpu_bits_before(uint32_t word, uint32_t bit)
{
    return __popc(word & ((1u << bit) - 1));
}

#endif
