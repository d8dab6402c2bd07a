/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/kept_pairs.h"

#include "core/log.h"

#include <math.h>

void sf_kept_pairs_open(sf_kept_pairs *kept, const sf_pairing_setup *setup)
{
    uint64_t units = setup->unit_count;
    *kept = (sf_kept_pairs){.setup = *setup, .cost_there = SF_KEPT_PAIRS_COST_THERE, .most_anew = INFINITY};
    kept->given_up[0] = 2 * units * units * setup->delay_count > SF_KEPT_PAIRS_BYTES;
    kept->given_up[1] = setup->device == NULL;
}

static void forget(sf_kept_pairs *kept)
{
    sf_pairing_close(&kept->pairs);
}

void sf_kept_pairs_close(sf_kept_pairs *kept)
{
    forget(kept);
    sf_history_free(&kept->history);
    *kept = (sf_kept_pairs){0};
}

/* ---- the window ---- */

void sf_kept_pairs_show(sf_kept_pairs *kept, uint64_t begin, uint64_t end)
{
    if (!sf_pairing_counts(&kept->pairs)) sf_history_drop_before(&kept->history, begin);
    kept->came = end - (kept->end > begin ? kept->end : begin);
    kept->begin = begin;
    kept->end = end;
}

int sf_kept_pairs_take(sf_kept_pairs *kept, const sf_spike *spikes, uint64_t first, uint64_t end,
                       sf_error *error)
{
    sf_history *history = &kept->history;
    if (first > history->end) { /* what lies between was never shown */
        forget(kept);
        history->begin = history->end = first;
    }
    uint64_t known = history->end;
    return end > known ? sf_history_append(history, spikes + (known - first), (size_t)(end - known), error)
                       : SF_OK;
}

const sf_spike *sf_kept_pairs_spikes(const sf_kept_pairs *kept, size_t *count)
{
    *count = (size_t)(kept->end - kept->begin);
    return *count > 0 ? sf_history_view(&kept->history, kept->begin) : NULL;
}

/* ---- its pairs ---- */

/* Spikes that lie within a delay of one, in the window. */
static double spikes_within(const sf_kept_pairs *kept)
{
    double spikes = (double)(kept->end - kept->begin), within = 0,
           span_ns = (double)sf_history_time(&kept->history, kept->end - 1) -
                     (double)sf_history_time(&kept->history, kept->begin);
    for (size_t d = 0; d < kept->setup.delay_count; d++) {
        const sf_delay *delay = &kept->setup.delays[d];
        within += (double)(delay->high_ns - delay->low_ns) * spikes / (span_ns + 1);
    }
    return within;
}

/* Cost of a spike that enters or leaves, relative to that of a spike in a window mined anew. */
static double cost_of_moving(const sf_kept_pairs *kept, double within)
{
    const sf_pairing_setup *s = &kept->setup;
    return kept->cost_there * (double)s->unit_count * (double)s->delay_count / within;
}

/* Whether following is cheaper than mining anew: by the spikes that entered and left since the counts were
 * made, or, if there are no counts yet, by the number expected until the next window, taken from the last.
 * Also true if mining anew would keep hops from the device for long. */
static bool is_worth_it(const sf_kept_pairs *kept, bool there)
{
    uint64_t moved = 2 * kept->came, spikes = kept->end - kept->begin;
    if (spikes == 0) return false;
    if (sf_pairing_counts(&kept->pairs)) moved = kept->end - kept->kept_end + kept->begin - kept->kept_begin;
    double within = there ? spikes_within(kept) : 0;
    if ((double)spikes * within > kept->most_anew) return true;
    double cost = there ? cost_of_moving(kept, within) : SF_KEPT_PAIRS_COST;
    return cost * (double)moved < (double)spikes;
}

static int follow(sf_kept_pairs *kept, uint32_t least, sf_device *device, sf_error *error)
{
    int status = SF_OK;
    if (sf_pairing_counts(&kept->pairs)) {
        kept->followed++;
    } else {
        sf_pairing_setup setup = kept->setup;
        setup.device = device;
        setup.always = true;
        setup.alone = device != NULL;
        setup.piece = SF_KEPT_PAIRS_PIECE / setup.unit_count + 1;
        setup.position = kept->begin;
        status = sf_pairing_open(&kept->pairs, &setup, error);
    }
    if (status == SF_OK)
        status = sf_pairing_slide(&kept->pairs, &kept->history, kept->begin, kept->end, least, error);
    kept->kept_begin = kept->begin;
    kept->kept_end = kept->end;
    return status;
}

const sf_pair_count *sf_kept_pairs_follow(sf_kept_pairs *kept, uint32_t least, bool there, size_t *count)
{
    sf_error reason;
    sf_device *device = there ? kept->setup.device : NULL;
    bool overlaps = kept->begin < kept->kept_end; /* else beginning with nothing is sooner */
    if (kept->pairs.setup.device != device || !overlaps) forget(kept);
    if (!sf_pairing_counts(&kept->pairs)) sf_history_drop_before(&kept->history, kept->begin);
    if (kept->given_up[there] || !is_worth_it(kept, there)) {
        forget(kept);
        return NULL;
    }
    if (follow(kept, least, device, &reason) != SF_OK) {
        sf_log(SF_LOG_INFO, "discovery mines every window anew from now on: %s", reason.text);
        kept->given_up[there] = true;
        forget(kept);
        return NULL;
    }
    sf_history_drop_before(&kept->history, kept->begin);
    return sf_pairing_found(&kept->pairs, count);
}
