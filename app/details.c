/* SPDX-License-Identifier: Apache-2.0 */
#include "app/details.h"

#include "app/electrodes.h"
#include "app/mining.h"

#include <inttypes.h>

/* ---- names ---- */

/* Columns are left out in this order; those that rank, q, and those that decide stay longest. */
const char *const app_details_drop[] = {"needed", "strength", "reverse",    "bursts", "median delays ms",
                                        "95 %",   "parts",    "given rest", "p",      NULL};

sf_text app_details_name(const app_details *d, size_t i)
{
    sf_text name = app_episode_text(d->recording, &d->told.episodes[i]);
    if (!d->is_wide && d->common.high_ns > 0 && name.data != NULL) app_episode_shorten(name.data);
    return name;
}

void app_details_print_delay(sf_text *text, const app_details *d)
{
    if (!d->is_wide && d->common.high_ns > 0)
        sf_text_printf(text, "> is a delay of (%g,%g] ms\n", (double)d->common.low_ns * 1e-6,
                       (double)d->common.high_ns * 1e-6);
}

/* ---- what is told ---- */

int app_details_take(app_details *d, const app_call *call, const sf_episodes *episodes, sf_error *error)
{
    d->told = (sf_episodes_columns){.size = sizeof d->told};
    sf_episodes_get_columns(episodes, &d->told);
    sf_episodes_get_table(episodes, &d->table);
    d->in_pieces = app_has(call, "memory");
    d->is_wide = call->verbose;
    d->bursts = d->in_pieces ? SF_NO_COUNT : d->told.burst_count;
    d->chains = d->told.significance != NULL ? d->told.chains : SF_NO_COUNT;
    d->parts = d->told.significance != NULL ? d->told.parts : SF_NO_COUNT;
    d->common = app_common_delay(d->told.episodes, sizeof *d->told.episodes, d->told.count);
    if (d->told.count > SF_MOST_DETAILED && d->told.stopped == SF_NOT_STOPPED && !d->in_pieces)
        app_warn(call,
                 "%zu episodes are too many to look at every occurrence: bursts and delays are told of up "
                 "to %d",
                 d->told.count, SF_MOST_DETAILED);
    return app_epochs_take(&d->epochs, d->told.span_counts, d->told.count, error);
}

/* ---- lines ---- */

bool app_chains_print(sf_text *text, const sf_episodes_columns *told)
{
    if (told->chains == 0) return false;
    sf_text_printf(text, "%zu chain%s", told->chains, told->chains == 1 ? "" : "s");
    if (told->parts > 0)
        sf_text_printf(text, ", %zu significant part%s", told->parts, told->parts == 1 ? "" : "s");
    return true;
}

/* ---- tables ---- */

bool app_details_know_stretches(const app_details *d)
{
    return d->told.count > 0 && d->told.stretches[0] != SF_NO_COUNT;
}

void app_details_cells(app_table *table, const app_details *d, size_t i)
{
    const sf_episodes_columns *told = &d->told;
    const sf_details *item = told->details != NULL ? &told->details[i] : NULL;
    if (item != NULL && told->burst_count > 0)
        app_table_cell(table, "%" PRIu64, item->bursts);
    else
        app_table_cell(table, "-");
    if (told->reverse[i] != SF_NO_COUNT)
        app_table_cell(table, "%" PRIu64, told->reverse[i]);
    else
        app_table_cell(table, "-");
    sf_text medians = {0};
    for (uint32_t link = 0; item != NULL && link + 1 < told->episodes[i].size; link++)
        sf_text_printf(&medians, "%s%.3g", link > 0 ? " " : "",
                       (double)item->links[link].quantiles_ns[2] * 1e-6);
    app_table_cell(table, "%s", medians.data != NULL && item->occurrences > 0 ? medians.data : "-");
    sf_text_free(&medians);
}

static void see_links(app_electrodes *electrodes, const app_details *d, size_t i)
{
    const sf_episode *episode = &d->told.episodes[i];
    for (uint32_t link = 0; link + 1 < episode->size; link++) {
        uint32_t from = episode->units[link], to = episode->units[link + 1];
        if (d->told.one_electrode[i] >> link & 1)
            app_electrodes_see(electrodes, from, to, app_unit_name(d->recording, from),
                               app_unit_name(d->recording, to));
    }
}

void app_details_print_below(sf_text *text, const app_details *d, const size_t *shown, size_t shown_count)
{
    app_electrodes electrodes = {0};
    for (size_t i = 0; i < shown_count; i++)
        see_links(&electrodes, d, shown[i]);
    app_electrodes_print(text, &electrodes);
    if (d->in_pieces)
        sf_text_printf(text,
                       "read in pieces (--memory): bursts, reverse and delays need all spikes at once\n");
    app_epochs_print(text, &d->epochs);
}
