/* SPDX-License-Identifier: Apache-2.0 */
/* Rewiring on a test device: one try after the other, and whether an edge is there is looked up in all. */
#include "core/backend/rewire.h"
#include "core/error.h"
#include "core/progress.h"
#include "plugin/plugin.h"

#include <string.h>

static bool is_there(const sf_backend_rewire_job *job, const sf_edge *edges, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < job->edge_count; i++)
        if ((edges[i].from == from && edges[i].to == to) ||
            (!job->directed && edges[i].from == to && edges[i].to == from))
            return true;
    return false;
}

static void try_swap(const sf_backend_rewire_job *job, sf_edge *edges, uint32_t graph, uint64_t number)
{
    sf_rewire_draw draw = sf_rewire_drawn(job->seed, graph, number, job->edge_count);
    sf_edge one = edges[draw.one], other = edges[draw.other];
    if (draw.turned && !job->directed) other = (sf_edge){other.to, other.from};
    if (draw.one == draw.other || one.from == other.to || other.from == one.to ||
        is_there(job, edges, one.from, other.to) || is_there(job, edges, other.from, one.to))
        return;
    edges[draw.one] = (sf_edge){one.from, other.to};
    edges[draw.other] = (sf_edge){other.from, one.to};
}

/* Three vertices are counted where at least two of them are joined. */
static void count_triads(const sf_backend_rewire_job *job, const sf_edge *edges, uint64_t *triads)
{
    for (uint32_t a = 0; a < job->vertex_count; a++)
        for (uint32_t b = 0; b < a; b++)
            for (uint32_t c = 0; c < b; c++) {
                const uint32_t ends[6][2] = {{a, b}, {b, a}, {b, c}, {c, b}, {a, c}, {c, a}};
                int code = 0;
                for (int bit = 0; bit < 6; bit++)
                    code |= is_there(job, edges, ends[bit][0], ends[bit][1]) << bit;
                if (code != 0) triads[job->classes[code]]++;
            }
}

static int run(sf_backend_device *device, const sf_backend_rewire_job *job, sf_error *error)
{
    int status = test_begin_job(device, error);
    sf_edge edges[TEST_REWIRED_EDGES];
    if (status == SF_OK && job->edge_count > TEST_REWIRED_EDGES)
        status = sf_fail(error, SF_UNAVAILABLE, NULL, "the graph is too large for a test device");
    for (uint32_t g = 0; g < job->graphs && status == SF_OK; g++) {
        if (!sf_progress_update(job->progress, "rewired graphs", g, job->graphs))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped");
        memcpy(edges, job->edges, job->edge_count * sizeof *edges);
        for (uint64_t number = 0; number < job->tries; number++)
            try_swap(job, edges, job->first + g, number);
        if (job->rewired != NULL)
            memcpy(job->rewired + (size_t)g * job->edge_count, edges, job->edge_count * sizeof *edges);
        if (job->triads != NULL) {
            uint64_t *triads = job->triads + (size_t)g * SF_BACKEND_TRIADS;
            count_triads(job, edges, memset(triads, 0, SF_BACKEND_TRIADS * sizeof *triads));
        }
        if (test_is_lost(device)) status = sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    }
    return status;
}

const struct sf_backend_rewire test_rewire = {.run = run};
