/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run_losses.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

/* A status counts everything up to its time, which is that of the windows. */
#define AROUND_NS (2 * SF_SECOND)
#define LEAST_EXPECTED 30.0

typedef enum cause { LATE, NOT_BELIEVED, NO_ROOM, UNKNOWN_UNIT, MISSING, FRAMES, RECORDER, CAUSES } cause;

static const char *const cause_texts[CAUSES] = {"came too late",
                                                "at times that were not believed",
                                                "the run had no room for them",
                                                "of units that nobody told of",
                                                "sent and not received",
                                                "frames that did not come, one each",
                                                "the recorder had no room for them"};

/* ---- tables of /results ---- */

/* A column of a table, as signed integers; all 0 if the layout of the file had no such field yet. */
typedef struct column {
    int64_t *values;
    size_t count;
} column;

static int read_column(column *to, const sf_hdf_input *input, const char *table, const char *field,
                       sf_error *error)
{
    void *values;
    if (!sf_hdf_has_field(input->file, table, field)) return SF_OK;
    int status = sf_hdf_read_field(input->file, table, field, input->path, H5T_NATIVE_INT64, sizeof(int64_t),
                                   &values, &to->count, error);
    if (status == SF_OK) to->values = values;
    return status;
}

static int64_t at(const column *of, size_t row)
{
    return row < of->count ? of->values[row] : 0;
}

enum { SEQ, FIELDS_FROM }; /* the first column of a table, and those after it */

static const char *const source_fields[] = {"seq",          "late",           "leaps",   "dropped",
                                            "out_of_range", "missing_spikes", "gap_lost"};
static const char *const sink_fields[] = {"seq", "spikes_lost", "own"};
static const char *const status_fields[] = {"seq", "time_ns"};
#define MOST_FIELDS (sizeof source_fields / sizeof *source_fields)

typedef struct table {
    column columns[MOST_FIELDS];
} table;

static int read_table(table *to, const sf_hdf_input *input, const char *path, const char *const *fields,
                      size_t count, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = read_column(&to->columns[i], input, path, fields[i], error);
    return status;
}

static void free_table(table *of)
{
    for (size_t i = 0; i < MOST_FIELDS; i++)
        sf_free(of->columns[i].values);
}

/* ---- what each status counts ---- */

typedef struct account {
    int64_t time_ns;
    uint64_t lost[CAUSES];
} account;

static uint64_t natural(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* Missed spikes are known at the end; before, and for senders that never report them, missed frames are. */
static void add_source(account *to, const table *sources, size_t row)
{
    for (int i = LATE; i <= UNKNOWN_UNIT; i++)
        to->lost[i] += natural(at(&sources->columns[FIELDS_FROM + i], row));
    int64_t missing = at(&sources->columns[FIELDS_FROM + MISSING], row);
    to->lost[MISSING] += natural(missing);
    to->lost[FRAMES] += missing < 0 ? natural(at(&sources->columns[FIELDS_FROM + FRAMES], row)) : 0;
}

/* A run may have several recorders. Older files do not say which one wrote them, so it may be any. */
static bool is_own(const table *sinks, size_t row)
{
    const column *own = &sinks->columns[FIELDS_FROM + 1];
    return own->values == NULL || at(own, row) != 0;
}

/* Rows of one status are consecutive, in the order of statuses. */
static void take_rows(account *to, int64_t seq, const table *sources, size_t *source, const table *sinks,
                      size_t *sink)
{
    for (; *source < sources->columns[SEQ].count && at(&sources->columns[SEQ], *source) <= seq; ++*source)
        if (at(&sources->columns[SEQ], *source) == seq) add_source(to, sources, *source);
    for (; *sink < sinks->columns[SEQ].count && at(&sinks->columns[SEQ], *sink) <= seq; ++*sink) {
        uint64_t lost = natural(at(&sinks->columns[FIELDS_FROM], *sink));
        if (at(&sinks->columns[SEQ], *sink) == seq && is_own(sinks, *sink) && lost > to->lost[RECORDER])
            to->lost[RECORDER] = lost;
    }
}

typedef struct accounts {
    account *items;
    size_t count;
} accounts;

/* A file that is not the first of its run starts counting at its first status. */
static bool is_later_part(const sf_hdf_input *input)
{
    double part;
    return sf_hdf_attribute_number(input->file, "part", &part) && part > 1;
}

static void begin_at_first(accounts *all)
{
    const account first = all->items[0];
    for (size_t i = 0; i < all->count; i++)
        for (int c = 0; c < CAUSES; c++) {
            uint64_t before = first.lost[c], now = all->items[i].lost[c];
            all->items[i].lost[c] = now > before ? now - before : 0;
        }
}

static int read_accounts(accounts *all, const sf_hdf_input *input, sf_error *error)
{
    table statuses = {0}, sources = {0}, sinks = {0};
    int status = read_table(&statuses, input, "/results/status", status_fields, 2, error);
    if (status == SF_OK)
        status = read_table(&sources, input, "/results/sources", source_fields, MOST_FIELDS, error);
    if (status == SF_OK) status = read_table(&sinks, input, "/results/sinks", sink_fields, 3, error);
    size_t count = statuses.columns[SEQ].count, source = 0, sink = 0;
    if (status == SF_OK && count > 0) {
        all->items = sf_alloc(count, sizeof *all->items);
        status = all->items != NULL ? SF_OK : sf_fail_memory(error);
    }
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        account *to = &all->items[all->count++];
        to->time_ns = at(&statuses.columns[FIELDS_FROM], i);
        take_rows(to, at(&statuses.columns[SEQ], i), &sources, &source, &sinks, &sink);
    }
    if (all->count > 0 && is_later_part(input)) begin_at_first(all);
    free_table(&statuses);
    free_table(&sources);
    free_table(&sinks);
    return status;
}

/* ---- where whole stretches are gone ---- */

/* Number lost between two statuses, without spikes of unknown units, which are not analysed. */
static uint64_t lost_between(const accounts *all, size_t i)
{
    uint64_t lost = 0;
    for (int c = 0; c < CAUSES; c++) {
        uint64_t before = i > 0 ? all->items[i - 1].lost[c] : 0, now = all->items[i].lost[c];
        lost += c != UNKNOWN_UNIT && now > before ? now - before : 0;
    }
    return lost;
}

/* Number of spikes lost around an interval. */
static uint64_t lost_about(const accounts *all, sf_span stretch)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < all->count; i++) {
        int64_t from_ns = i > 0 ? sf_time_plus(all->items[i - 1].time_ns, -AROUND_NS) : INT64_MIN;
        if (from_ns < stretch.stop_ns && sf_time_plus(all->items[i].time_ns, AROUND_NS) > stretch.start_ns)
            lost += lost_between(all, i);
    }
    return lost;
}

#define BLOCK 65536

typedef struct holes {
    sf_span *items; /* in the order of time */
    size_t count, capacity;
    int64_t longest_elsewhere_ns;
    int64_t least_ns;
} holes;

static int64_t length_of(sf_span span)
{
    return span.stop_ns - span.start_ns;
}

/* Records an interval without spikes: as a hole if enough spikes were lost around it, else for the longest
 * interval without losses. */
static int take_stretch(holes *found, const accounts *all, sf_span stretch, sf_error *error)
{
    double expected = (double)length_of(stretch) / (double)found->least_ns * LEAST_EXPECTED;
    if ((double)lost_about(all, stretch) < expected / 2) {
        if (length_of(stretch) > found->longest_elsewhere_ns)
            found->longest_elsewhere_ns = length_of(stretch);
        return SF_OK;
    }
    if (sf_reserve(&found->items, &found->capacity, found->count + 1, sizeof *found->items) != 0)
        return sf_fail_memory(error);
    found->items[found->count++] = (sf_span){stretch.start_ns + 1, stretch.stop_ns};
    return SF_OK;
}

/* Finds intervals without spikes of at least least_ns, with and without losses. */
static int find_holes(holes *found, const accounts *all, hid_t times, size_t rows, const char *path,
                      sf_error *error)
{
    int64_t *block = sf_resize(NULL, BLOCK, sizeof *block), last_ns = INT64_MAX;
    if (block == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t start = 0, count; start < rows && status == SF_OK; start += count) {
        count = rows - start < BLOCK ? rows - start : BLOCK;
        if (!sf_hdf_read_rows(times, H5T_NATIVE_INT64, start, count, block))
            status = sf_hdf_fail(error, SF_DATA, path,
                                 "damaged: row %zu of /spikes and those after it cannot be read", start);
        for (size_t i = 0; i < count && status == SF_OK && block[i] != INT64_MIN; i++) {
            const sf_span stretch = {last_ns, block[i]};
            if (block[i] > last_ns && length_of(stretch) >= found->least_ns)
                status = take_stretch(found, all, stretch, error);
            last_ns = block[i];
        }
    }
    sf_free(block);
    return status;
}

/* Removes a hole, which lies in an observed span from `*from` on; there is room for one more span. */
static void cut_out(sf_recording *recording, size_t *from, sf_span hole)
{
    sf_span *spans = recording->observed;
    while (*from < recording->observed_count && spans[*from].stop_ns <= hole.stop_ns)
        ++*from;
    if (*from == recording->observed_count || spans[*from].start_ns >= hole.start_ns) return;
    memmove(&spans[*from + 1], &spans[*from], (recording->observed_count - *from) * sizeof *spans);
    spans[*from].stop_ns = hole.start_ns;
    spans[++*from].start_ns = hole.stop_ns;
    recording->observed_count++;
}

static int cut_holes(sf_recording *recording, const holes *found, sf_span all, sf_error *error)
{
    size_t before = recording->observed_count, from = 0;
    sf_span *grown = sf_resize(recording->observed, before + 1 + found->count, sizeof *grown);
    if (grown == NULL) return sf_fail_memory(error);
    recording->observed = grown;
    if (before == 0) grown[recording->observed_count++] = recording->declared ? recording->recorded : all;
    for (size_t i = 0; i < found->count; i++)
        if (length_of(found->items[i]) > found->longest_elsewhere_ns)
            cut_out(recording, &from, found->items[i]);
    if (before == 0 && recording->observed_count == 1) recording->observed_count = 0;
    return SF_OK;
}

static int take_out_holes(sf_recording *recording, const accounts *all, const sf_hdf_input *input,
                          sf_error *error)
{
    size_t rows;
    int64_t first_ns, last_ns;
    hid_t times = sf_hdf_open_column(input->file, "/spikes/time_ns", input->path, &rows, error);
    if (times < 0) return SF_DATA;
    holes found = {0};
    int status = SF_OK;
    bool known = rows > 1 && sf_hdf_read_rows(times, H5T_NATIVE_INT64, 0, 1, &first_ns) &&
                 sf_hdf_read_rows(times, H5T_NATIVE_INT64, rows - 1, 1, &last_ns) && last_ns > first_ns;
    if (known) {
        found.least_ns = (int64_t)(LEAST_EXPECTED * (double)(last_ns - first_ns) / (double)rows) + 1;
        status = find_holes(&found, all, times, rows, input->path, error);
    }
    if (known && status == SF_OK && found.count > 0)
        status = cut_holes(recording, &found, (sf_span){first_ns, last_ns + 1}, error);
    sf_free(found.items);
    sf_hdf_close(times);
    return status;
}

/* ---- all of it ---- */

int sf_run_losses_read(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    if (!sf_hdf_is_dataset(input->file, "/results/status")) return SF_OK;
    accounts all = {0};
    sf_error reason = {0};
    int status = read_accounts(&all, input, &reason);
    if (status == SF_DATA) /* what matters is not damaged */
        return sf_recording_set_metadata(recording, "losses", reason.text, error);
    if (status != SF_OK) return sf_fail_memory(error);
    uint64_t lost = 0;
    for (int c = 0; c < CAUSES && all.count > 0; c++) {
        uint64_t count = all.items[all.count - 1].lost[c];
        if (count > 0) sf_recording_drop(recording, cause_texts[c], count)->kind = SF_DROP_LOST;
        lost += c != UNKNOWN_UNIT ? count : 0;
    }
    if (lost > 0) status = take_out_holes(recording, &all, input, error);
    sf_free(all.items);
    return status;
}
