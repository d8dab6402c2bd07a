/* SPDX-License-Identifier: Apache-2.0 */
/* Twigs on a test device: every neighbour is looked at in turn. */
#include "plugin/twigs.h"

#include "core/error.h"
#include "core/memory.h"
#include "plugin/plugin.h"

#include <string.h>

enum {
    MOST_STAYING = 60, /* entries and neighbours of a layer: few, so that some are cut */
    MOST_AROUND = 512  /* neighbours of a vertex, which stay in any case */
};

struct sf_backend_twigs {
    sf_backend_device *device;
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

int test_twigs_open(sf_backend_twigs **opened, sf_backend_device *device, const sf_backend_twig_job *job,
                    sf_error *error)
{
    *opened = NULL;
    int status = test_begin_job(device, error);
    if (status != SF_OK)
        return status;
    sf_backend_twigs *t = sf_alloc(1, sizeof *t);
    bool failed = t == NULL;
    if (!failed)
        *t = (sf_backend_twigs){.device = device, .job = *job};
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

/* Puts the neighbours of v with a label that `bits` leaves into `out` (or NULL), each once; returns how many.
 */
static uint32_t list(const sf_backend_labelled *l, uint32_t v, uint32_t label, const uint64_t *bits,
                     uint32_t *all, uint32_t *out)
{
    uint32_t count = 0;
    *all = 0;
    for (uint64_t entry = l->directory[v]; entry < l->directory[v + 1]; entry++) {
        if (label != UINT32_MAX && l->labels[entry] != label)
            continue;
        for (uint64_t i = l->starts[entry]; i < l->starts[entry + 1]; i++, (*all)++) {
            bool is_repeated = out != NULL && i > l->starts[entry] && l->targets[i] == l->targets[i - 1];
            if (has_bit(bits, l->targets[i]) || is_repeated)
                continue;
            if (out != NULL)
                out[count] = l->targets[i];
            count++;
        }
    }
    return count;
}

static bool meets(const sf_backend_twig_job *job, const sf_backend_twig *layer, uint32_t v)
{
    for (uint32_t i = 0; i < layer->need_count; i++) {
        const sf_backend_need *need = &layer->needs[i];
        uint32_t all;
        if (list(need->out ? &job->out : &job->in, v, need->label, job->blacklist, &all, NULL) < need->count)
            return false;
    }
    return true;
}

int test_twigs_expand(sf_backend_twigs *t, uint32_t slot, uint32_t layer, const uint32_t *roots,
                      const uint32_t *ends, uint32_t count, sf_error *error)
{
    const sf_backend_twig *twig = &t->job.layers[layer];
    uint32_t *found = sf_resize(NULL, t->job.most_entries, sizeof *found), end = 0;
    if (found == NULL)
        return sf_fail_memory(error);
    int status = t->busy[slot] ? sf_fail(error, SF_DATA, NULL, "slot %u is in use", slot) : SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        uint32_t all, kept = list(twig->out ? &t->job.out : &t->job.in, roots[i], twig->label, t->job.skipped,
                                  &all, found);
        if (ends[i] != all + (i > 0 ? ends[i - 1] : 0))
            status = sf_fail(error, SF_DATA, NULL, "root %u has %u neighbours, which is not what was said", i,
                             all);
        for (uint32_t k = 0; k < kept; k++)
            if (meets(&t->job, twig, found[k]))
                t->entries[slot][end++] = (sf_backend_node){found[k], i};
    }
    t->counts[slot] = end;
    t->busy[slot] = true;
    uint32_t busy = 0;
    for (int i = 0; i < SF_BACKEND_SLOTS; i++)
        busy += t->busy[i];
    if (busy > test_plugin_work_done.most_slots)
        test_plugin_work_done.most_slots = busy;
    sf_free(found);
    return status;
}

int test_twigs_collect(sf_backend_twigs *t, uint32_t slot, const sf_backend_node **entries, uint32_t *count,
                       sf_error *error)
{
    if (test_is_lost(t->device))
        return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (!t->busy[slot])
        return sf_fail(error, SF_DATA, NULL, "slot %u was not used", slot);
    t->busy[slot] = false;
    *entries = t->entries[slot];
    *count = t->counts[slot];
    return SF_OK;
}

/* ---- descents ---- */

static bool has_edge(const sf_backend_labelled *l, uint32_t from, uint32_t to)
{
    for (uint64_t i = l->starts[l->directory[from]]; i < l->starts[l->directory[from + 1]]; i++)
        if (l->targets[i] == to)
            return true;
    return false;
}

/* Data vertices of layers 0 .. layer that entry `at` of it hangs on. */
static void read_path(const sf_backend_twigs *t, uint32_t layer, uint32_t at, uint32_t *path)
{
    for (uint32_t d = layer + 1; d-- > 0; at = t->trees[d][at].idx)
        path[d] = t->trees[d][at].vid;
}

static bool joins(const sf_backend_twig_job *job, uint32_t layer, const uint32_t *path)
{
    uint32_t v = path[layer], same = 0;
    for (uint32_t d = 0; d < layer; d++) {
        uint8_t checks = job->checks[layer * job->layer_count + d];
        bool out = has_edge(&job->out, v, path[d]), in = has_edge(&job->in, v, path[d]);
        same += path[d] == v;
        if (((checks & SF_CHECK_OUT) != 0 && !out) || ((checks & SF_CHECK_NO_OUT) != 0 && out) ||
            ((checks & SF_CHECK_IN) != 0 && !in) || ((checks & SF_CHECK_NO_IN) != 0 && in) ||
            ((checks & SF_CHECK_GREATER) != 0 && path[d] >= v))
            return false;
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
    uint32_t path[SF_BACKEND_LAYERS], all;
    uint64_t total = 0;
    for (uint32_t i = 0; i < count && count <= MOST_STAYING; i++) {
        read_path(t, layer, first + i, path);
        roots[i] = path[next->parent];
        list(next->out ? &t->job.out : &t->job.in, roots[i], next->label, t->job.skipped, &all, NULL);
        total += all;
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
        uint32_t n =
            list(twig->out ? &t->job.out : &t->job.in, roots[i], twig->label, t->job.skipped, &all, found);
        read_path(t, layer - 1, first + i, path);
        for (uint32_t k = 0; k < n; k++) {
            path[layer] = found[k];
            if (!meets(&t->job, twig, found[k]) || !joins(&t->job, layer, path))
                continue;
            t->trees[layer][kept++] = (sf_backend_node){found[k], first + i};
            if (layer + 1 == t->job.layer_count)
                d->found += count_twins(&t->job, path);
        }
    }
    return kept;
}

int test_twigs_descend(sf_backend_twigs *t, sf_backend_descent *d, sf_error *error)
{
    uint32_t roots[MOST_STAYING], first = d->first, count = d->count;
    if (test_is_lost(t->device))
        return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (d->entries != NULL && (d->layer > 0 || d->first > 0 || d->count > t->job.most_kept))
        return sf_fail(error, SF_DATA, NULL, "%u entries of layer %u are sent", d->count, d->layer);
    if (d->entries != NULL)
        memcpy(t->trees[0], d->entries, d->count * sizeof *d->entries);
    d->reached = d->layer;
    d->found = d->tried = d->twigs = d->left = 0;
    for (uint32_t layer = d->layer + 1; layer < t->job.layer_count && count > 0; layer++) {
        d->left = count;
        if (!find_roots(t, layer - 1, first, count, roots))
            break;
        uint32_t grown = grow(t, d, layer, first, count, roots);
        if (layer + 1 < t->job.layer_count && grown > t->job.most_kept)
            break;
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
