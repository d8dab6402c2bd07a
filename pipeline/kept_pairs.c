/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/kept_pairs.h"

#include "core/log.h"

void sf_kept_pairs_open(sf_kept_pairs *kept, const sf_kept_pairs_setup *setup)
{
    uint64_t units = setup->unit_count;
    *kept = (sf_kept_pairs){.setup = *setup};
    kept->given_up = 2 * units * units * setup->delay_count > SF_KEPT_PAIRS_BYTES;
}

static void forget(sf_kept_pairs *kept)
{
    sf_pair_counts_close(kept->pairs);
    kept->pairs = NULL;
}

void sf_kept_pairs_close(sf_kept_pairs *kept)
{
    forget(kept);
    sf_history_free(&kept->history);
    *kept = (sf_kept_pairs){0};
}

/* ---- the window ---- */

int sf_kept_pairs_show(sf_kept_pairs *kept, const sf_spike *spikes, uint64_t begin, uint64_t end,
                       sf_error *error)
{
    sf_history *history = &kept->history;
    if (begin > history->end) { /* what lies between was never shown */
        forget(kept);
        history->begin = history->end = begin;
    }
    if (kept->pairs == NULL)
        sf_history_drop_before(history, begin);
    kept->begin = begin;
    kept->end = end;
    kept->came = end - history->end;
    return kept->came > 0
               ? sf_history_append(history, spikes + (history->end - begin), (size_t)kept->came, error)
               : SF_OK;
}

const sf_spike *sf_kept_pairs_spikes(const sf_kept_pairs *kept, size_t *count)
{
    *count = (size_t)(kept->end - kept->begin);
    return *count > 0 ? sf_history_view(&kept->history, kept->begin) : NULL;
}

/* ---- its pairs ---- */

/* Whether to follow is cheaper than to mine anew: what came and went since the counts were made, or, where
 * there are none yet, what is likely to by the next window, as much as last time. */
static bool is_worth_it(const sf_kept_pairs *kept)
{
    uint64_t moved = 2 * kept->came;
    if (kept->pairs != NULL)
        moved = kept->end - kept->kept_end + kept->begin - kept->kept_begin;
    return SF_KEPT_PAIRS_COST * (double)moved < (double)(kept->end - kept->begin);
}

static int follow(sf_kept_pairs *kept, uint32_t least, sf_error *error)
{
    const sf_kept_pairs_setup *s = &kept->setup;
    int status = SF_OK;
    if (kept->pairs == NULL)
        status = sf_pair_counts_open(&kept->pairs, s->unit_count, s->delays, s->delay_count, s->self, s->most,
                                     s->threads, kept->begin, error);
    else
        kept->followed++;
    if (status == SF_OK)
        status = sf_pair_counts_slide(kept->pairs, &kept->history, kept->begin, kept->end, least, error);
    kept->kept_begin = kept->begin;
    kept->kept_end = kept->end;
    return status;
}

const sf_pair_count *sf_kept_pairs_follow(sf_kept_pairs *kept, uint32_t least, bool mined_anew, size_t *count)
{
    sf_error reason;
    if (mined_anew || kept->given_up || !is_worth_it(kept)) {
        forget(kept);
        return NULL;
    }
    if (follow(kept, least, &reason) != SF_OK) {
        sf_log(SF_LOG_INFO, "discovery mines every window anew from now on: %s", reason.text);
        kept->given_up = true;
        forget(kept);
        return NULL;
    }
    sf_history_drop_before(&kept->history, kept->begin);
    const sf_pair_count *found = sf_pair_counts_found(kept->pairs, count);
    return *count <= kept->setup.most ? found : NULL;
}
