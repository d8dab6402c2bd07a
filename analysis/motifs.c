/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns, triads and rewired graphs as synfire/graph.h offers them. */
#include "analysis/graph.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/thread.h"
#include "graph/motif/census.h"
#include "graph/motif/spread.h"
#include "graph/rows.h"

#include <string.h>

/* ---- patterns ---- */

void sf_motif_free(sf_motif *motif)
{
    if (motif != NULL) sf_pattern_free(&motif->pattern);
    sf_free(motif);
}

bool sf_motif_is_directed(const sf_motif *motif)
{
    return motif->pattern.directed;
}

struct sf_matches {
    sf_match_result result;
    char *names[SF_PATTERN_MOST]; /**< of the pattern's vertices; NULL where one has none */
};

static int copy_names(sf_matches *matches, const sf_pattern *pattern, sf_error *error)
{
    for (uint32_t u = 0; u < pattern->vertex_count; u++) {
        const char *name = pattern->vertices[u].name;
        if (name != NULL && (matches->names[u] = sf_copy_string(name)) == NULL) return sf_fail_memory(error);
    }
    return SF_OK;
}

int sf_graph_match(sf_matches **out, const sf_graph *graph, const sf_motif *motif,
                   const sf_match_options *options, const sf_progress *progress, sf_error *error)
{
    *out = NULL;
    sf_match_options how;
    sf_match_index *index = NULL;
    int status = sf_keys_read(&sf_match_table, &how, options, "match options", error);
    if (status != SF_OK) return status;
    sf_matches *matches = sf_alloc(1, sizeof *matches);
    status = matches != NULL ? copy_names(matches, &motif->pattern, error) : sf_fail_memory(error);
    if (status == SF_OK) status = sf_match_open(&index, &graph->csr, error);
    if (status == SF_OK)
        status = sf_match_run(index, &motif->pattern, &how, &matches->result, progress, error);
    sf_match_close(index);
    if (status == SF_OK || (status == SF_CANCELLED && how.stopped != NULL && *how.stopped))
        *out = matches;
    else
        sf_matches_free(matches);
    return status;
}

void sf_matches_get_columns(const sf_matches *matches, sf_matches_columns *columns)
{
    const sf_match_result *result = &matches->result;
    const sf_matches_columns own = {.vertex_count = result->vertex_count,
                                    .vertex_names = (const char *const *)matches->names,
                                    .count = result->count,
                                    .truncated = result->truncated,
                                    .kept = result->kept,
                                    .embeddings = result->embeddings,
                                    .order = result->order,
                                    .labelled = result->labelled,
                                    .candidates = result->candidates,
                                    .blacklisted = result->blacklisted,
                                    .automorphisms = result->automorphisms,
                                    .steps = result->steps,
                                    .shared = result->shared,
                                    .implied = result->implied,
                                    .merged = result->merged,
                                    .pieces = result->pieces,
                                    .stayed = result->stayed,
                                    .twigs = result->twigs,
                                    .kernels = result->kernels,
                                    .ran = &result->ran,
                                    .device_s = result->device_s,
                                    .estimate_s = result->estimate_s};
    sf_columns_fill(columns, &own, sizeof own);
}

void sf_matches_free(sf_matches *matches)
{
    if (matches == NULL) return;
    for (size_t u = 0; u < SF_PATTERN_MOST; u++)
        sf_free(matches->names[u]);
    sf_match_result_free(&matches->result);
    sf_free(matches);
}

/* ---- triads ---- */

const sf_triad *sf_triad_list(void)
{
    return sf_triads;
}

int sf_graph_census(uint64_t counts[SF_TRIADS], const sf_graph *graph, unsigned threads,
                    const sf_progress *progress, sf_error *error)
{
    return sf_triad_census(counts, &graph->csr, threads > 0 ? threads : sf_thread_cores(), progress, error);
}

/* ---- rewired graphs ---- */

/* Counts of these patterns, all matched with the same options, as a measure requires. */
typedef struct wanted {
    sf_pattern *patterns; /**< borrowed one by one */
    sf_match_options *options;
    double *counts;
} wanted;

static int want(wanted *w, const uint64_t *counts, size_t count, const sf_motif *const *motifs,
                const sf_match_options *match, sf_error *error)
{
    *w = (wanted){.patterns = sf_alloc(count, sizeof *w->patterns),
                  .options = sf_alloc(count, sizeof *w->options),
                  .counts = sf_alloc(count, sizeof *w->counts)};
    if (w->patterns == NULL || w->options == NULL || w->counts == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        w->counts[i] = (double)counts[i];
        w->options[i] = *match;
        if (motifs != NULL) w->patterns[i] = motifs[i]->pattern;
    }
    return SF_OK;
}

int sf_graph_rewire(sf_spread *spreads, const uint64_t *counts, const sf_graph *graph,
                    const sf_motif *const *motifs, size_t motif_count, const sf_match_options *match,
                    const sf_rewired_options *options, sf_ran *ran, const sf_progress *progress,
                    sf_error *error)
{
    sf_rewired_options how;
    sf_match_options matching;
    wanted w = {0};
    size_t count = motifs != NULL ? motif_count : SF_TRIADS;
    int status = sf_keys_read(&sf_rewired_table, &how, options, "rewired options", error);
    if (status == SF_OK) status = sf_keys_read(&sf_match_table, &matching, match, "match options", error);
    if (status == SF_OK) status = want(&w, counts, count, motifs, &matching, error);
    if (status == SF_OK) {
        const sf_pattern_set set = {w.patterns, w.options, count};
        const sf_measure measure = motifs != NULL ? sf_measure_patterns(&set) : sf_measure_census();
        status = sf_spread_find(spreads, w.counts, &graph->csr, &measure, &how, ran, progress, error);
    }
    sf_free(w.patterns);
    sf_free(w.options);
    sf_free(w.counts);
    return status;
}
