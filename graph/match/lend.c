/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/lend.h"

#include "core/backend/match.h"

#include <math.h>

static sf_backend_neighbours neighbours_of(const sf_csr *graph)
{
    return (sf_backend_neighbours){graph->offsets, graph->targets};
}

sf_backend_labelled sf_match_lists_lent(const sf_label_lists *lists)
{
    return (sf_backend_labelled){lists->directory, lists->labels, lists->starts, lists->targets};
}

void sf_match_recall(const sf_match_index *index, sf_device *device)
{
    if (index->there->device != device) sf_match_there_close(index->there);
}

void sf_match_forget(const sf_match_index *index)
{
    sf_match_there *there = index->there;
    sf_device_backend(there->device)->match->data_close(there->data);
    there->data = NULL;
    there->spared = 0;
}

int sf_match_lend(const sf_match_index *index, sf_device *device, const sf_backend_watch *watch,
                  sf_error *failure)
{
    sf_match_there *there = index->there;
    if (there->data != NULL) return SF_OK;
    sf_backend_data_job job = {.watch = watch,
                               .vertex_count = index->out->vertex_count,
                               .directed = index->in != index->out,
                               .out = neighbours_of(index->out),
                               .in = neighbours_of(index->in),
                               .labels = index->labels,
                               .edge_labels = index->out->edge_labels,
                               .out_labelled = sf_match_lists_lent(&index->out_lists),
                               .in_labelled = sf_match_lists_lent(&index->in_lists)};
    there->device = device;
    int status =
        sf_device_backend(device)->match->data_open(&there->data, sf_device_opened(device), &job, failure);
    there->spared = status == SF_UNAVAILABLE ? -INFINITY : there->spared;
    return status;
}
