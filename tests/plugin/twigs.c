/* SPDX-License-Identifier: Apache-2.0 */
/* Twigs on a test device: every neighbour is looked at in turn. */
#include "plugin/twigs.h"

#include "core/error.h"
#include "core/memory.h"
#include "plugin/plugin.h"
#include "plugin/space.h"

#include <string.h>

enum {
    MOST_STAYING = 60, /* entries and neighbours of a layer: few, so that some are cut */
    MOST_AROUND = 512  /* neighbours of a vertex, which stay in any case */
};

struct sf_backend_twigs {
    sf_backend_device *device;
    const sf_backend_data_job *graph;
    sf_backend_twig_job job;
    sf_backend_node *entries[SF_BACKEND_SLOTS];
    uint32_t counts[SF_BACKEND_SLOTS];
    bool busy[SF_BACKEND_SLOTS];
    sf_backend_node *trees[SF_BACKEND_LAYERS]; /* of descents */
};

void test_twigs_close(sf_backend_twigs *t, uint64_t *implied)
{
    *implied = 0;
    for (int i = 0; t != NULL && i < SF_BACKEND_SLOTS; i++)
        sf_free(t->entries[i]);
    for (int i = 0; t != NULL && i < SF_BACKEND_LAYERS; i++)
        sf_free(t->trees[i]);
    sf_free(t);
}

int test_twigs_open(sf_backend_twigs **opened, sf_backend_data *data, const sf_backend_twig_job *job,
                    bool *lost, sf_error *error)
{
    sf_backend_device *device = test_data_device(data);
    *opened = NULL;
    *lost = test_data_is_lost(data);
    if (*lost) return SF_OK;
    int status = test_begin_job(device, error);
    if (status != SF_OK) return status;
    sf_backend_twigs *t = sf_alloc(1, sizeof *t);
    bool failed = t == NULL;
    if (!failed) *t = (sf_backend_twigs){.device = device, .graph = test_data_job(data), .job = *job};
    for (int i = 0; i < SF_BACKEND_SLOTS && !failed; i++) {
        t->entries[i] = sf_resize(NULL, job->most_entries, sizeof *t->entries[i]);
        failed = t->entries[i] == NULL;
    }
    for (uint32_t i = 0; i < job->layer_count && !failed; i++) {
        t->trees[i] = sf_resize(NULL, i > 0 ? MOST_AROUND : job->most_kept, sizeof *t->trees[i]);
        failed = t->trees[i] == NULL;
    }
    uint64_t ignored;
    if (failed)
        test_twigs_close(t, &ignored);
    else
        *opened = t;
    return failed ? sf_fail_memory(error) : SF_OK;
}

static bool has_bit(const uint64_t *bits, uint32_t v)
{
    return (bits[v / 64] >> v % 64 & 1) != 0;
}

/* Neighbours that are one after the other in memory. */
typedef struct run {
    const uint32_t *targets;
    uint64_t count;
} run;

/* Those of v whose labels are first .. first + labels - 1 in the lists. */
static run run_of(const sf_backend_labelled *l, uint32_t v, uint64_t first, uint32_t labels)
{
    run r = {0};
    for (uint64_t entry = l->directory[v]; entry < l->directory[v + 1]; entry++) {
        if (l->labels[entry] < first || l->labels[entry] - first >= labels) continue;
        r.targets = r.count > 0 ? r.targets : l->targets + l->starts[entry];
        r.count += l->starts[entry + 1] - l->starts[entry];
    }
    return r;
}

/* Those along edges with a label, with another label themselves; UINT32_MAX: any of either. */
static run neighbours(const sf_backend_twigs *t, bool out, uint32_t v, uint32_t edge, uint32_t label)
{
    const sf_backend_data_job *graph = t->graph;
    bool from = out || !graph->directed, any = label == UINT32_MAX;
    if (edge != UINT32_MAX)
        return run_of(from ? &t->job.out_kinds : &t->job.in_kinds, v,
                      (uint64_t)edge * t->job.label_count + (any ? 0 : label), any ? t->job.label_count : 1);
    const sf_backend_neighbours *all = from ? &graph->out : &graph->in;
    if (any || graph->labels == NULL)
        return (run){all->targets + all->offsets[v], all->offsets[v + 1] - all->offsets[v]};
    return run_of(from ? &graph->out_labelled : &graph->in_labelled, v, label, 1);
}

static bool is_allowed(const sf_backend_twig *layer, uint32_t v)
{
    return layer->allowed == NULL || (layer->allowed[v / 32] >> v % 32 & 1) != 0;
}

/* The neighbours along a layer's edge: puts those that may be in it into `out`, each once, and returns how
 * many. */
static uint32_t list(const sf_backend_twigs *t, const sf_backend_twig *layer, uint32_t v, uint32_t *all,
                     uint32_t *out)
{
    run r = neighbours(t, layer->out, v, layer->edge, layer->label);
    uint32_t count = 0;
    *all = (uint32_t)r.count;
    for (uint64_t i = 0; i < r.count; i++) {
        bool is_repeated = i > 0 && r.targets[i] == r.targets[i - 1];
        if (!is_repeated && !has_bit(t->job.skipped, r.targets[i]) && is_allowed(layer, r.targets[i]))
            out[count++] = r.targets[i];
    }
    return count;
}

static bool meets(const sf_backend_twigs *t, const sf_backend_twig *layer, uint32_t v)
{
    for (uint32_t i = 0; i < layer->need_count; i++) {
        const sf_backend_twig_need *need = &layer->needs[i];
        run r = neighbours(t, need->out, v, need->edge, need->label);
        uint32_t found = 0;
        for (uint64_t k = 0; k < r.count; k++)
            found += !has_bit(t->job.blacklist, r.targets[k]);
        if (found < need->count) return false;
    }
    return true;
}

int test_twigs_expand(sf_backend_twigs *t, uint32_t slot, uint32_t layer, const uint32_t *roots,
                      const uint32_t *ends, uint32_t count, sf_error *error)
{
    const sf_backend_twig *twig = &t->job.layers[layer];
    uint32_t *found = sf_resize(NULL, t->job.most_entries, sizeof *found), end = 0;
    if (found == NULL) return sf_fail_memory(error);
    int status = t->busy[slot] ? sf_fail(error, SF_DATA, NULL, "slot %u is in use", slot) : SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        uint32_t all, kept = list(t, twig, roots[i], &all, found);
        if (ends[i] != all + (i > 0 ? ends[i - 1] : 0))
            status = sf_fail(error, SF_DATA, NULL, "root %u has %u neighbours, which is not what was said", i,
                             all);
        for (uint32_t k = 0; k < kept; k++)
            if (meets(t, twig, found[k])) t->entries[slot][end++] = (sf_backend_node){found[k], i};
    }
    t->counts[slot] = end;
    t->busy[slot] = true;
    uint32_t busy = 0;
    for (int i = 0; i < SF_BACKEND_SLOTS; i++)
        busy += t->busy[i];
    if (busy > test_plugin_work_done.most_slots) test_plugin_work_done.most_slots = busy;
    sf_free(found);
    return status;
}

int test_twigs_collect(sf_backend_twigs *t, uint32_t slot, const sf_backend_node **entries, uint32_t *count,
                       sf_error *error)
{
    if (test_is_lost(t->device)) return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (!t->busy[slot]) return sf_fail(error, SF_DATA, NULL, "slot %u was not used", slot);
    t->busy[slot] = false;
    *entries = t->entries[slot];
    *count = t->counts[slot];
    return SF_OK;
}

/* ---- descents ---- */

static bool has_edge(const sf_backend_twigs *t, bool out, uint32_t edge, uint32_t from, uint32_t to)
{
    run r = neighbours(t, out, from, edge, UINT32_MAX);
    for (uint64_t i = 0; i < r.count; i++)
        if (r.targets[i] == to) return true;
    return false;
}

/* Data vertices of layers 0 .. layer that entry `at` of it hangs on. */
static void read_path(const sf_backend_twigs *t, uint32_t layer, uint32_t at, uint32_t *path)
{
    for (uint32_t d = layer + 1; d-- > 0; at = t->trees[d][at].idx)
        path[d] = t->trees[d][at].vid;
}

static bool joins(const sf_backend_twigs *t, uint32_t layer, const uint32_t *path)
{
    const sf_backend_twig_job *job = &t->job;
    const sf_backend_twig *twig = &job->layers[layer];
    uint32_t v = path[layer], same = 0;
    for (uint32_t d = 0; d < layer; d++)
        same += path[d] == v;
    for (uint32_t i = 0; i < twig->edge_count; i++) {
        const sf_backend_join_edge *edge = &twig->edges[i];
        if (has_edge(t, edge->out, edge->label, v, path[edge->earlier]) == edge->absent) return false;
    }
    return !job->injective || same < (job->twins != NULL ? job->twins[v] : 1);
}

static uint64_t count_twins(const sf_backend_twig_job *job, const uint32_t *path)
{
    uint64_t ways = 1;
    for (uint32_t d = 0; d < job->layer_count && job->twins != NULL; d++) {
        uint64_t used = 0;
        for (uint32_t k = 0; k < d && job->injective; k++)
            used += path[k] == path[d];
        ways *= job->twins[path[d]] - used;
    }
    return ways;
}

/* Data vertices that entries of a layer are expanded at. False where they have too many neighbours. */
static bool find_roots(const sf_backend_twigs *t, uint32_t layer, uint32_t first, uint32_t count,
                       uint32_t *roots)
{
    const sf_backend_twig *next = &t->job.layers[layer + 1];
    uint32_t path[SF_BACKEND_LAYERS];
    uint64_t total = 0;
    for (uint32_t i = 0; i < count && count <= MOST_STAYING; i++) {
        read_path(t, layer, first + i, path);
        roots[i] = path[next->parent];
        total += neighbours(t, next->out, roots[i], next->edge, next->label).count;
    }
    return count <= MOST_STAYING && total <= (count > 1 ? MOST_STAYING : MOST_AROUND);
}

/* A layer below `count` entries that have few neighbours; returns how many it has. */
static uint32_t grow(sf_backend_twigs *t, sf_backend_descent *d, uint32_t layer, uint32_t first,
                     uint32_t count, const uint32_t *roots)
{
    const sf_backend_twig *twig = &t->job.layers[layer];
    uint32_t found[MOST_AROUND], path[SF_BACKEND_LAYERS], all, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = list(t, twig, roots[i], &all, found);
        read_path(t, layer - 1, first + i, path);
        for (uint32_t k = 0; k < n; k++) {
            path[layer] = found[k];
            if (!meets(t, twig, found[k]) || !joins(t, layer, path)) continue;
            t->trees[layer][kept++] = (sf_backend_node){found[k], first + i};
            if (layer + 1 == t->job.layer_count) d->found += count_twins(&t->job, path);
        }
    }
    return kept;
}

int test_twigs_descend(sf_backend_twigs *t, sf_backend_descent *d, sf_error *error)
{
    uint32_t roots[MOST_STAYING], first = d->first, count = d->count;
    if (test_is_lost(t->device)) return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (d->entries != NULL && (d->layer > 0 || d->first > 0 || d->count > t->job.most_kept))
        return sf_fail(error, SF_DATA, NULL, "%u entries of layer %u are sent", d->count, d->layer);
    if (d->entries != NULL) memcpy(t->trees[0], d->entries, d->count * sizeof *d->entries);
    d->reached = d->layer;
    d->found = d->tried = d->twigs = d->left = 0;
    for (uint32_t layer = d->layer + 1; layer < t->job.layer_count && count > 0; layer++) {
        d->left = count;
        if (!find_roots(t, layer - 1, first, count, roots)) break;
        uint32_t grown = grow(t, d, layer, first, count, roots);
        if (layer + 1 < t->job.layer_count && grown > t->job.most_kept) break;
        count = grown;
        first = d->left = 0;
        d->reached = layer;
        d->tried += count;
        d->twigs += layer == d->layer + 1 || t->job.layers[layer].parent != t->job.layers[layer - 1].parent;
    }
    d->parts = 2;
    d->kernels = t->job.pairs ? (d->twigs + 1) / 2 : d->twigs;
    return SF_OK;
}
