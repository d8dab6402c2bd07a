/* SPDX-License-Identifier: Apache-2.0 */
#include "app/planted.h"

#include "app/mining.h"
#include "core/memory.h"
#include "tools/planted.h"

#include <inttypes.h>
#include <math.h>

static void add_chain(app_table *table, const sf_planted_chain *chain, const sf_recording *units,
                      bool shortened)
{
    sf_text name = app_episode_text(units, &chain->chain);
    table->failed = table->failed || name.failed;
    if (shortened && name.data != NULL) app_episode_shorten(name.data);
    app_table_cell(table, "%s", name.data != NULL ? name.data : "");
    sf_text_free(&name);
    app_table_cell(table, "%" PRIu64, chain->planted);
    const sf_episode_count *found = &chain->found;
    if (found->episode.size == 0) {
        app_table_cell(table, "0");
        app_table_cell(table, "-");
        app_table_cell(table, "not found");
        return;
    }
    app_table_cell(table, "%" PRIu64, found->count);
    app_table_cell(table, isfinite(found->expected) ? "%.2f" : "-", found->expected);
    if (found->episode.size == chain->chain.size)
        app_table_cell(table, "whole");
    else
        app_table_cell(table, "%u of %u units", found->episode.size, chain->chain.size);
}

static void describe(sf_text *text, const sf_planted *planted, const sf_recording *units,
                     const sf_episodes_message *found)
{
    if (planted->chain_count == 0) {
        sf_text_printf(text,
                       "No chain is planted in this simulation: what is found came by chance, or by bursts "
                       "that units share.\n");
        return;
    }
    sf_text_printf(text, "Planted and found in the window from %.1f s to %.1f s%s\n",
                   (double)found->window.start_ns * 1e-9, (double)found->window.stop_ns * 1e-9,
                   found->left_out.count > 0 ? ", but for what max_q or max_p leave out" : "");
    app_table table = {0};
    sf_delay common =
        app_common_delay(&planted->chains->chain, sizeof *planted->chains, planted->chain_count);
    char first[64];
    app_episode_head(first, sizeof first, "planted chain", common);
    const char *const head[] = {first, "planted", "counted", "by chance", "found"};
    enum { COLUMNS = sizeof head / sizeof head[0] };
    for (size_t i = 0; i < COLUMNS; i++)
        app_table_cell(&table, "%s", head[i]);
    for (size_t c = 0; c < planted->chain_count; c++)
        add_chain(&table, &planted->chains[c], units, common.high_ns > 0);
    app_table_fit(&table, text, COLUMNS, NULL, false);
    sf_delay sought = found->count > 0
                          ? app_common_delay(&found->items->episode, sizeof *found->items, found->count)
                          : common;
    if (sought.high_ns > 0 && (sought.low_ns != common.low_ns || sought.high_ns != common.high_ns)) {
        app_episode_head(first, sizeof first, "counted", sought);
        sf_text_printf(text, "%s: what was planted outside is not counted\n", first);
    }
    sf_text_printf(text, "%zu of the %zu episodes in that window are no part of a planted chain\n",
                   planted->others, found->count);
}

/* A recording of these units, without spikes: names are read and printed by it. */
static int name_units(sf_recording **named, char *const *names, uint32_t count, sf_error *error)
{
    *named = NULL;
    sf_unit *units = sf_alloc(count, sizeof *units);
    if (units == NULL) return sf_fail_memory(error);
    for (uint32_t i = 0; i < count; i++)
        units[i] = (sf_unit){.name = names[i], .x_um = NAN, .y_um = NAN, .electrode = -1};
    sf_recording_input input = sf_recording_input_default();
    input.units = units;
    input.unit_count = count;
    int status = sf_recording_new(named, &input, error);
    sf_free(units);
    return status;
}

int app_planted_print(sf_text *text, const char *path, char *const *units, uint32_t unit_count,
                      const sf_message *episodes, sf_error *error)
{
    static const sf_episodes_message none;
    const sf_episodes_message *found = episodes != NULL ? &episodes->episodes : &none;
    sf_recording *named;
    sf_planted planted = {0};
    int status = name_units(&named, units, unit_count, error);
    if (status == SF_OK) status = sf_planted_read(&planted, path, named, found, error);
    if (status == SF_OK && planted.chains != NULL) describe(text, &planted, named, found);
    sf_planted_free(&planted);
    sf_recording_free(named);
    return status;
}
