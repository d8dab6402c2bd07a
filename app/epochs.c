/* SPDX-License-Identifier: Apache-2.0 */
#include "app/epochs.h"

#include "core/describe/column.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int describe_epoch(app_epoch *known, const sf_recording *recording, const sf_epoch *epoch,
                          sf_error *error)
{
    sf_recording *part;
    int status = sf_recording_part(&part, recording, epoch->span, error);
    if (status != SF_OK) return status;
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(part, &of);
    *known = (app_epoch){.epoch = *epoch, .duration_ns = of.duration_ns, .spikes = of.spike_count};
    sf_recording_free(part);
    return SF_OK;
}

static int describe(app_epochs *e, const sf_recording *recording, const sf_epoch *epochs, sf_error *error)
{
    size_t values = e->count * e->item_count;
    e->items = sf_resize(NULL, e->count, sizeof *e->items);
    e->spans = sf_resize(NULL, e->count, sizeof *e->spans);
    e->values = sf_resize(NULL, values, sizeof *e->values);
    if (e->items == NULL || e->spans == NULL || e->values == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t k = 0; k < e->count && status == SF_OK; k++) {
        status = describe_epoch(&e->items[k], recording, &epochs[k], error);
        e->spans[k] = epochs[k].span;
    }
    for (size_t i = 0; i < values; i++)
        e->values[i] = NAN;
    return status;
}

int app_epochs_open(app_epochs *epochs, const app_call *call, const sf_recording *recording,
                    size_t item_count, sf_error *error)
{
    *epochs = (app_epochs){.item_count = item_count};
    const char *path = app_value(call, "epochs", NULL);
    if (path == NULL) return SF_OK;
    sf_epoch *read;
    int status = sf_epochs_read(&read, &epochs->count, path, error);
    if (status != SF_OK) return status;
    status = describe(epochs, recording, read, error);
    sf_release(read);
    if (status != SF_OK) app_epochs_free(epochs);
    return status;
}

int app_epochs_take(app_epochs *epochs, const uint64_t *counts, size_t item_count, sf_error *error)
{
    if (epochs->items == NULL || counts == NULL) return SF_OK;
    epochs->item_count = item_count;
    epochs->counts = sf_resize(NULL, epochs->count * item_count, sizeof *counts);
    if (epochs->counts == NULL) return sf_fail_memory(error);
    memcpy(epochs->counts, counts, epochs->count * item_count * sizeof *counts);
    return SF_OK;
}

void app_epochs_free(app_epochs *epochs)
{
    sf_free(epochs->items);
    sf_free(epochs->spans);
    sf_free(epochs->counts);
    sf_free(epochs->values);
    *epochs = (app_epochs){0};
}

#define ROW app_epoch
static const sf_column_row epoch_rows[] = {
    SF_FIELD_IS(TEXT, "label", epoch.label, "as the file of --epochs has it"),
    SF_FIELD_IS(TIME, "from_s", epoch.span.start_ns, "start", .unit = "s"),
    SF_FIELD_IS(TIME, "to_s", epoch.span.stop_ns, "stop, not included", .unit = "s"),
    SF_FIELD_IS(TIME, "duration_s", duration_ns, "recorded and selected of it", .unit = "s"),
    SF_MEMBER_IS(COUNT, spikes, "in it"),
};
#undef ROW

const sf_table app_epochs_table = {
    .name = "epochs", .row = "epoch", .about = "epochs of a recording", SF_TABLE_OF(epoch_rows)};

uint64_t app_epochs_with(const app_epochs *e, size_t i)
{
    uint64_t with = 0;
    for (size_t k = 0; k < e->count; k++)
        with += e->counts[k * e->item_count + i] > 0;
    return with;
}

/* ---- the tables ---- */

#define MOST_LABELS 6

/* Labels in the order of their first epochs; false where there are more of them. */
static bool list_labels(const app_epochs *e, const char *labels[MOST_LABELS], size_t *count)
{
    *count = 0;
    for (size_t k = 0; k < e->count; k++) {
        size_t known = 0;
        while (known < *count && strcmp(labels[known], e->items[k].epoch.label) != 0)
            known++;
        if (known < *count) continue;
        if (*count == MOST_LABELS) return false;
        labels[(*count)++] = e->items[k].epoch.label;
    }
    return true;
}

size_t app_epochs_heads(app_table *table, const app_epochs *e)
{
    const char *labels[MOST_LABELS];
    size_t count = 0;
    if (e->counts != NULL) list_labels(e, labels, &count);
    for (size_t l = 0; l < count; l++)
        app_table_cell(table, "%s", labels[l][0] != '\0' ? labels[l] : "no label");
    return count;
}

static void add_label_cell(app_table *table, const app_epochs *e, const char *label, size_t i)
{
    uint64_t count = 0;
    double seconds = 0;
    for (size_t k = 0; k < e->count; k++) {
        if (strcmp(e->items[k].epoch.label, label) != 0) continue;
        count += e->counts[k * e->item_count + i];
        seconds += (double)e->items[k].duration_ns * 1e-9;
    }
    app_table_cell(table, seconds > 0 ? "%" PRIu64 ", %.3g/s" : "%" PRIu64, count, (double)count / seconds);
}

void app_epochs_cells(app_table *table, const app_epochs *e, size_t i)
{
    const char *labels[MOST_LABELS];
    size_t count = 0;
    if (e->counts != NULL) list_labels(e, labels, &count);
    for (size_t l = 0; l < count; l++)
        add_label_cell(table, e, labels[l], i);
}

void app_epochs_print(sf_text *text, const app_epochs *e)
{
    const char *labels[MOST_LABELS];
    size_t count;
    if (e->counts == NULL || e->item_count == 0) return;
    bool all = list_labels(e, labels, &count);
    sf_text_printf(text, "the last %zu column%s: each of %zu epochs taken alone, summed by label%s\n", count,
                   count == 1 ? "" : "s", e->count, all ? "" : "; --json and --csv have more labels");
}

/* ---- CSV ---- */

void app_epochs_csv_heads(app_csv *csv, const app_epochs *e)
{
    for (size_t k = 0; e->items != NULL && k < e->count; k++)
        sf_text_printf(csv->out, ",epoch %zu", k);
}

void app_epochs_csv_cells(app_csv *csv, const app_epochs *e, size_t i)
{
    for (size_t k = 0; e->items != NULL && k < e->count; k++) {
        if (e->counts != NULL)
            app_csv_uint(csv, e->counts[k * e->item_count + i]);
        else
            app_csv_real(csv, e->values[k * e->item_count + i]);
    }
}

/* ---- values by epoch ---- */

#define MOST_EPOCHS 6 /* columns */

static void print_heads(app_table *table, const app_epochs *e, size_t columns)
{
    app_table_cell(table, "of");
    for (size_t k = 0; k < columns; k++) {
        const sf_epoch *epoch = &e->items[k].epoch;
        if (epoch->label[0] != '\0')
            app_table_cell(table, "%s", epoch->label);
        else
            app_table_cell(table, "from %.15g s", (double)epoch->span.start_ns * 1e-9);
    }
}

void app_epochs_print_values(sf_text *text, const app_epochs *e, const char *what,
                             sf_text (*name)(const void *context, size_t item), const void *context,
                             const size_t *items, size_t item_count)
{
    if (e->items == NULL || item_count == 0) return;
    size_t columns = e->count < MOST_EPOCHS ? e->count : MOST_EPOCHS;
    app_table table = {0};
    sf_text_printf(text, "\n%s in each of %zu epochs taken alone\n", what, e->count);
    print_heads(&table, e, columns);
    for (size_t i = 0; i < item_count; i++) {
        sf_text spelt = name(context, items[i]);
        app_table_cell(&table, "%s", spelt.data != NULL ? spelt.data : "");
        sf_text_free(&spelt);
        for (size_t k = 0; k < columns; k++) {
            double value = e->values[k * e->item_count + items[i]];
            app_table_cell(&table, isnan(value) ? "-" : "%.4g", value);
        }
    }
    app_table_print(&table, text, 1 + columns);
    if (columns < e->count) sf_text_printf(text, "and more epochs: --json has every one\n");
}
