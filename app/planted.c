/* SPDX-License-Identifier: Apache-2.0 */
#include "app/planted.h"

#include "app/command.h"

#include "replay/truth.h"

#include <inttypes.h>
#include <math.h>

/* Where in the chain the episode stands: the same units in a row, each delay interval overlapping; or -1. */
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
        if (same)
            return (int)from;
    }
    return -1;
}

/* The longest episode found that is the chain or a part of it, the most frequent of those; or NULL. */
static const sf_episode_count *find_chain(const sf_episodes_message *found, const sf_episode *chain)
{
    const sf_episode_count *best = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const sf_episode_count *item = &found->items[i];
        if (item->episode.size < 2 || item->count == 0 || place_in_chain(&item->episode, chain) < 0)
            continue;
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

static void add_episode(app_table *table, const sf_episode *episode, const sf_units *units)
{
    sf_text name = {0};
    sf_episode_print(&name, episode, units);
    table->failed = table->failed || name.failed;
    app_table_cell(table, "%s", name.data != NULL ? name.data : "");
    sf_text_free(&name);
}

static void add_chain(app_table *table, const sf_truth *truth, uint32_t index, const sf_units *units,
                      const sf_episodes_message *found)
{
    const sf_episode *chain = &truth->chains[index];
    const sf_episode_count *item = find_chain(found, chain);
    add_episode(table, chain, units);
    app_table_cell(table, "%" PRIu64, planted_in_window(truth, index, found->window));
    if (item == NULL) {
        app_table_cell(table, "0");
        app_table_cell(table, "-");
        app_table_cell(table, "not found");
        return;
    }
    app_table_cell(table, "%" PRIu64, item->count);
    app_table_cell(table, isfinite(item->expected) ? "%.2f" : "-", item->expected);
    if (item->episode.size == chain->size)
        app_table_cell(table, "whole");
    else
        app_table_cell(table, "%u of %u units", item->episode.size, chain->size);
}

static void describe(sf_text *text, const sf_truth *truth, const sf_units *units,
                     const sf_episodes_message *found)
{
    sf_text_printf(text, "Planted and found in the window from %.1f s to %.1f s\n",
                   (double)found->window.start_ns * 1e-9, (double)found->window.stop_ns * 1e-9);
    app_table table = {0};
    const char *const head[] = {"planted chain (delays in ms)", "planted", "counted", "by chance", "found"};
    enum { COLUMNS = sizeof head / sizeof head[0] };
    for (size_t i = 0; i < COLUMNS; i++)
        app_table_cell(&table, "%s", head[i]);
    for (uint32_t c = 0; c < truth->chain_count; c++)
        add_chain(&table, truth, c, units, found);
    app_table_print(&table, text, COLUMNS);
    sf_text_printf(text, "%zu of the %zu episodes in that window are no part of a planted chain\n",
                   count_others(truth, found), found->count);
}

int app_planted_print(sf_text *text, const char *path, const sf_units *units, const sf_message *episodes,
                      sf_error *error)
{
    if (!sf_truth_in_file(path))
        return SF_OK;
    sf_truth truth;
    int status = sf_truth_read(&truth, path, units, error);
    if (status != SF_OK)
        return status;
    static const sf_episodes_message none;
    describe(text, &truth, units, episodes != NULL ? &episodes->episodes : &none);
    sf_truth_free(&truth);
    return SF_OK;
}
