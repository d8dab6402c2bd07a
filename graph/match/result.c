/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/result.h"

#include "core/memory.h"

void sf_match_result_free(sf_match_result *result)
{
    sf_free(result->embeddings);
    *result = (sf_match_result){0};
}
