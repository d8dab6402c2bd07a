/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/planted.h"

#include "core/error.h"
#include "core/memory.h"

void sf_truth_free(sf_truth *truth)
{
    sf_free(truth->chains);
    sf_free(truth->occurrences);
    *truth = (sf_truth){0};
}

/* Offset of the episode in the chain (same consecutive units, each delay interval overlapping), or -1. */
static int place_in_chain(const sf_episode *episode, const sf_episode *chain)
{
    for (uint32_t from = 0; from + episode->size <= chain->size; from++) {
        bool same = true;
        for (uint32_t i = 0; same && i < episode->size; i++) {
            same = episode->units[i] == chain->units[from + i];
            if (same && i > 0) {
                sf_delay found = episode->delays[i - 1], planted = chain->delays[from + i - 1];
                same = found.low_ns < planted.high_ns && planted.low_ns < found.high_ns;
            }
        }
        if (same) return (int)from;
    }
    return -1;
}

/* The longest episode found that is the chain or a part of it, the most frequent among equals; or NULL. */
static const sf_episode_count *find_chain(const sf_episodes_message *found, const sf_episode *chain)
{
    const sf_episode_count *best = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const sf_episode_count *item = &found->items[i];
        if (item->episode.size < 2 || item->count == 0 || place_in_chain(&item->episode, chain) < 0) continue;
        if (best == NULL || item->episode.size > best->episode.size ||
            (item->episode.size == best->episode.size && item->count > best->count))
            best = item;
    }
    return best;
}

static uint64_t planted_in_window(const sf_truth *truth, uint32_t chain, sf_span window)
{
    uint64_t count = 0;
    for (size_t i = 0; i < truth->occurrence_count; i++) {
        const sf_occurrence *occurrence = &truth->occurrences[i];
        int64_t last_ns = occurrence->times_ns[truth->chains[chain].size - 1];
        count += occurrence->chain == chain && occurrence->times_ns[0] >= window.start_ns &&
                 last_ns < window.stop_ns;
    }
    return count;
}

static size_t count_others(const sf_truth *truth, const sf_episodes_message *found)
{
    size_t others = 0;
    for (size_t i = 0; i < found->count; i++) {
        const sf_episode *episode = &found->items[i].episode;
        bool part = episode->size < 2 || found->items[i].count == 0;
        for (size_t c = 0; !part && c < truth->chain_count; c++)
            part = place_in_chain(episode, &truth->chains[c]) >= 0;
        others += !part;
    }
    return others;
}

int sf_planted_compare(sf_planted *planted, const sf_truth *truth, const sf_episodes_message *found,
                       sf_error *error)
{
    *planted = (sf_planted){.chains = sf_alloc(truth->chain_count, sizeof *planted->chains),
                            .chain_count = truth->chain_count,
                            .others = count_others(truth, found)};
    if (planted->chains == NULL) return sf_fail_memory(error);
    for (uint32_t c = 0; c < truth->chain_count; c++) {
        const sf_episode_count *best = find_chain(found, &truth->chains[c]);
        planted->chains[c].chain = truth->chains[c];
        planted->chains[c].planted = planted_in_window(truth, c, found->window);
        if (best != NULL) planted->chains[c].found = *best;
    }
    return SF_OK;
}

void sf_planted_free(sf_planted *planted)
{
    sf_free(planted->chains);
    *planted = (sf_planted){0};
}
