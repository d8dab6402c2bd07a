/* SPDX-License-Identifier: Apache-2.0 */
#include "app/details.h"

#include "app/electrodes.h"
#include "app/mining.h"

#include <inttypes.h>

int app_details_take(app_details *d, const app_call *call, const sf_episodes *episodes, sf_error *error)
{
    d->told = (sf_episodes_columns){.size = sizeof d->told};
    sf_episodes_get_columns(episodes, &d->told);
    d->in_pieces = app_has(call, "memory");
    if (d->told.count > SF_MOST_DETAILED && d->told.stopped == SF_NOT_STOPPED && !d->in_pieces)
        app_warn(call,
                 "%zu episodes are too many to look at every occurrence: bursts and delays are told of up "
                 "to %d",
                 d->told.count, SF_MOST_DETAILED);
    return app_epochs_take(&d->epochs, d->told.span_counts, d->told.count, error);
}

/* ---- JSON ---- */

void app_details_json(sf_json *json, const app_details *d)
{
    if (d->in_pieces)
        sf_json_null(json, "bursts");
    else
        sf_json_uint(json, "bursts", d->told.burst_count);
    app_epochs_json(json, &d->epochs);
}

static void add_links(sf_json *json, const sf_details *item, uint32_t links)
{
    static const char *const names[] = {"least_ms", "lower_quarter_ms", "median_ms", "upper_quarter_ms",
                                        "greatest_ms"};
    sf_json_array(json, "links");
    for (uint32_t link = 0; link < links; link++) {
        sf_json_object(json, NULL);
        for (size_t q = 0; q < 5; q++) {
            if (item->occurrences > 0)
                sf_json_milliseconds(json, names[q], item->links[link].quantiles_ns[q]);
            else
                sf_json_null(json, names[q]);
        }
        sf_json_array(json, "histogram");
        for (size_t bin = 0; bin < SF_DELAY_BINS; bin++)
            sf_json_uint(json, NULL, item->links[link].histogram[bin]);
        sf_json_end_array(json);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

void app_details_episode_json(sf_json *json, const app_details *d, size_t i)
{
    const sf_episodes_columns *told = &d->told;
    if (told->details != NULL) {
        sf_json_uint(json, "bursts", told->details[i].bursts);
        sf_json_uint(json, "in_bursts", told->details[i].in_bursts);
        add_links(json, &told->details[i], told->episodes[i].size - 1);
    } else {
        sf_json_null(json, "bursts");
        sf_json_null(json, "in_bursts");
        sf_json_null(json, "links");
    }
    if (told->reverse[i] != SF_NO_COUNT)
        sf_json_uint(json, "reverse_count", told->reverse[i]);
    else
        sf_json_null(json, "reverse_count");
    sf_json_real(json, "asymmetry", told->asymmetry[i]);
    sf_json_bool(json, "one_electrode", told->one_electrode[i] != 0);
    char id[SF_EPISODE_ID_SIZE];
    if (told->parents[i] != SF_NO_PARENT)
        sf_recording_episode_id(d->recording, &told->episodes[told->parents[i]], id);
    sf_json_string(json, "folded_under", told->parents[i] != SF_NO_PARENT ? id : NULL);
    app_epochs_item_json(json, &d->epochs, i);
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
