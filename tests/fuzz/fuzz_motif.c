/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are read as a pattern in the motif language and matched, or refused with a sentence. */
#include "core/memory.h"
#include "graph/match/match.h"
#include "graph/motif/motif.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void match(const sf_pattern *pattern)
{
    sf_edge_list list = {.directed = true, .vertex_count = 5};
    sf_csr graph;
    sf_match_index *index;
    sf_match_result result;
    sf_error error = {0};
    for (uint32_t v = 0; v < 5; v++)
        for (uint32_t w = 0; w < 5; w += 1 + v % 2)
            if (sf_edge_list_add(&list, v, w, NULL) != SF_OK) abort();
    if (sf_csr_build(&graph, &list, 0, NULL) != SF_OK || sf_match_open(&index, &graph, NULL) != SF_OK)
        abort();
    sf_match_options options = {.keep = 4, .threads = 1, .time_limit_s = 0.05};
    if (sf_match_run(index, pattern, &options, &result, NULL, &error) == SF_OK)
        sf_match_result_free(&result);
    else if (error.text[0] == '\0')
        abort();
    sf_match_close(index);
    sf_csr_free(&graph);
    sf_edge_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_pattern pattern;
    sf_error error = {0};
    if (sf_motif_parse(&pattern, "fuzz", (const char *)data, size, &error) == SF_OK) {
        match(&pattern);
        sf_pattern_free(&pattern);
    } else if (error.text[0] == '\0' || error.place[0] == '\0') {
        abort();
    }
    if (sf_memory_live() != 0) abort();
    return 0;
}
