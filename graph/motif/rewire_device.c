/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/motif/rewire_device.h"

#include "core/backend/rewire.h"
#include "core/error.h"

_Static_assert(SF_TRIADS == SF_BACKEND_TRIADS, "a device counts the triads of graph/motif/census.h");

int sf_rewires(const void *job, const sf_device *device, sf_error *why)
{
    (void)job;
    return sf_device_backend(device)->rewire != NULL
               ? SF_OK
               : sf_fail(why, SF_UNAVAILABLE, NULL, "%s rewires no graphs", sf_device_name(device));
}

static int run_held(void *job, sf_device *device, sf_error *failure)
{
    return sf_device_backend(device)->rewire->run(sf_device_opened(device), job, failure);
}

int sf_rewire_on_device(sf_device *device, const sf_rewiring *rewiring, const sf_rewired_graphs *graphs,
                        sf_error *error)
{
    uint8_t classes[SF_TRIAD_CODES];
    sf_triad_classes(classes);
    sf_backend_rewire_job job = {.vertex_count = rewiring->list.vertex_count,
                                 .directed = rewiring->list.directed,
                                 .edges = rewiring->ends,
                                 .edge_count = rewiring->moving,
                                 .seed = graphs->seed,
                                 .tries = sf_rewiring_tries(rewiring),
                                 .first = graphs->first,
                                 .graphs = graphs->count,
                                 .rewired = graphs->ends,
                                 .triads = graphs->triads != NULL ? graphs->triads[0] : NULL,
                                 .classes = classes,
                                 .progress = graphs->progress};
    int status = sf_device_do(device, run_held, &job, error);
    for (uint32_t i = 0; i < graphs->count && status == SF_OK && graphs->triads != NULL; i++)
        sf_triad_complete(graphs->triads[i], job.vertex_count);
    return status;
}
