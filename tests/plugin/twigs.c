/* SPDX-License-Identifier: Apache-2.0 */
/* Twigs on a test device: every neighbour is looked at in turn. */
#include "plugin/twigs.h"

#include "core/error.h"
#include "core/memory.h"
#include "plugin/plugin.h"

struct sf_backend_twigs {
    sf_backend_device *device;
    sf_backend_twig_job job;
    sf_backend_node *entries[SF_BACKEND_SLOTS];
    uint32_t counts[SF_BACKEND_SLOTS];
    bool busy[SF_BACKEND_SLOTS];
};

void test_twigs_close(sf_backend_twigs *t, uint64_t *implied)
{
    *implied = 0;
    for (int i = 0; t != NULL && i < SF_BACKEND_SLOTS; i++)
        sf_free(t->entries[i]);
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
