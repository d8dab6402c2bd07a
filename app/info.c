/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a recording, and what in it will mislead an analysis. */
#include "app/info.h"
#include "app/csv.h"
#include "app/load.h"
#include "app/occurrences.h"
#include "app/sharpness.h"

#include "core/clock.h"
#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "tools/files.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- units ---- */

typedef struct unit_row {
    uint32_t unit;
    const char *name;
    uint64_t spikes;
    double rate_hz, x_um, y_um;
    const char *kind;
    double isi_violations;
} unit_row;

#define ROW unit_row
static const sf_column_row unit_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit"),
    SF_MEMBER_IS(TEXT, name, "its name"),
    SF_MEMBER_IS(COUNT, spikes, "number of its spikes"),
    SF_MEMBER_IS(REAL, rate_hz, "spikes over the recorded duration", .unit = "Hz", .null = "that is 0"),
    SF_MEMBER_IS(REAL, x_um, "where it is on the array", .unit = "um", .null = "its position is not known"),
    SF_MEMBER_IS(REAL, y_um, "where it is on the array", .unit = "um", .null = "its position is not known"),
    SF_MEMBER_IS(TEXT, kind, "what sorting says of it: unknown, sorted, multi-unit or noise"),
    SF_MEMBER_IS(REAL, isi_violations, "share of its inter-spike intervals that are under 2 ms",
                 .unit = "probability", .null = "it has no intervals"),
};
#undef ROW

static const sf_table units_table = {
    .name = "units", .row = "unit", .about = "units of a recording", SF_TABLE_OF(unit_rows)};

/* ---- JSON ---- */

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

/* Share of a unit's inter-spike intervals that are under the refractory time of most neurons. */
static double violations(const sf_unit_overview *unit)
{
    return share(unit->short_intervals, unit->spikes > 0 ? unit->spikes - 1 : 0);
}

static unit_row row_of(const sf_recording_columns *recording, const sf_overview_columns *overview, size_t i)
{
    const sf_unit *unit = &recording->units[i];
    const sf_unit_overview *counts = &overview->units[i];
    return (unit_row){.unit = (uint32_t)i,
                      .name = unit->name,
                      .spikes = counts->spikes,
                      .rate_hz = app_rate_hz(overview, counts->spikes),
                      .x_um = unit->x_um,
                      .y_um = unit->y_um,
                      .kind = sf_unit_kind_name(unit->kind),
                      .isi_violations = violations(counts)};
}

/* NaN without any. */
static double mean_burst_s(const sf_overview_columns *overview)
{
    double sum = 0;
    for (size_t b = 0; b < overview->burst_count; b++)
        sum += (double)(overview->bursts[b].stop_ns - overview->bursts[b].start_ns) * 1e-9;
    return overview->burst_count > 0 ? sum / (double)overview->burst_count : NAN;
}

/* Spikes that are left out, or that never came into the file. */
static uint64_t count_dropped(const sf_recording_columns *recording, bool lost)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < recording->dropped_count; i++)
        sum += (recording->dropped[i].kind == SF_DROP_LOST) == lost ? recording->dropped[i].count : 0;
    return sum;
}

/* Units that their owner labelled noise, and their spikes. */
static size_t count_noise(const sf_recording_columns *recording, const sf_overview_columns *overview,
                          uint64_t *spikes)
{
    size_t units = 0;
    *spikes = 0;
    for (size_t i = 0; i < recording->unit_count; i++)
        if (recording->units[i].kind == SF_UNIT_NOISE) {
            units++;
            *spikes += overview->units[i].spikes;
        }
    for (size_t i = 0; i < recording->dropped_count; i++) /* where --kind left them out */
        *spikes += strcmp(recording->dropped[i].cause, SF_DROP_NOISE) == 0 ? recording->dropped[i].count : 0;
    return units;
}

/* The document. */
typedef struct content {
    sf_recording_columns recording;
    sf_overview_columns overview;
    uint64_t noise_units, noise_spikes, dropped, lost, duplicates;
    double rate_hz, burst_s;
    sf_table sharpness;
    unit_row *row; /* that is read */
} content;

/* Times are null where there is no spike to take them from. */
SF_GETTER(get_time_of_spike)
{
    if (((const content *)of)->recording.spike_count > 0) sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_tick)
{
    if (((const content *)of)->overview.tick_ns > 0) sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_metadata)
{
    const sf_metadata_entry *entry = &((const content *)of)->recording.metadata[item];
    value->key = entry->key;
    sf_value_set_text(value, entry->value);
}

SF_GETTER(get_geometry)
{
    const sf_overview_columns *overview = &((const content *)of)->overview;
    sf_value_set_record(value, overview->electrodes > 0 ? overview : NULL, 0);
}

SF_GETTER(get_unit)
{
    const content *c = of;
    *c->row = row_of(&c->recording, &c->overview, item);
    sf_value_set_record(value, c->row, 0);
}

#define ROW sf_overview_columns
static const sf_column_row geometry_rows[] = {
    SF_MEMBER_IS(COUNT, electrodes, "positions"),
    SF_MEMBER_IS(PAIR, x_um, "least and most", .unit = "um"),
    SF_MEMBER_IS(PAIR, y_um, "least and most", .unit = "um"),
};
#undef ROW

#define ROW content
#define TIME_BY(getter, column, of, ...)                                                                     \
    {                                                                                                        \
        .is = SF_WHAT_IS(TIME, column, __VA_ARGS__, .unit = "s"), .get = (getter), SF_ROW_ELEMENT(of)        \
    }
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(TEXT, "format", recording.format, "the layout and its version"),
    SF_FIELD_IS(COUNT, "spikes", recording.spike_count, "spikes"),
    SF_FIELD_IS(COUNT, "units", recording.unit_count, "units"),
    TIME_BY(get_time_of_spike, "start_s", overview.first_ns, "first spike", .null = "there is none"),
    TIME_BY(get_time_of_spike, "stop_s", overview.last_ns, "last spike", .null = "there is none"),
    TIME_BY(sf_column_value, "duration_s", overview.duration_ns, "recorded"),
    SF_FIELD_IS(FLAG, "declared", recording.declared,
                "the file or --recorded says so; else it is from the first to the last spike"),
    SF_MEMBER_IS(REAL, rate_hz, "all spikes over the recorded duration", .unit = "Hz", .null = "that is 0"),
    TIME_BY(get_tick, "tick_s", overview.tick_ns,
            "the step of its clock: as the file says, else the common measure of its time steps",
            .null = "not known"),
    SF_FIELD_IS(TEXT, "kind", overview.kind, "of all units, or mixed"),
    SF_MEMBER_IS(COUNT, noise_units, "units labelled noise, which analyses leave out"),
    SF_MEMBER_IS(COUNT, noise_spikes, "their spikes"),
    SF_FIELD_IS(COUNT, "markers", recording.marker_count, "markers"),
    SF_ITEMS_BY(ENTRY, "metadata", get_metadata, recording.metadata, recording.metadata_count,
                "as the file has it"),
    SF_RECORD_BY("geometry", get_geometry, geometry_rows, "where its electrodes are",
                 .null = "positions are not known"),
    SF_MEMBER_IS(COUNT, dropped, "spikes left out by the reader and the selection"),
    SF_MEMBER_IS(COUNT, lost, "spikes not in the file, as the run that recorded it tells"),
    SF_MEMBER_IS(COUNT, duplicates, "spikes within 0.25 ms after one of the same or a neighbouring unit"),
    SF_FIELD_IS(COUNT, "network_bursts", overview.burst_count,
                "bursts of the network, as docs/episodes.md defines them"),
    SF_FIELD_IS(REAL, "network_burst_s", burst_s, "their duration, mean", .unit = "s",
                .null = "there are none"),
    SF_TABLE_IS("sharpness", sharpness, &app_sharpness_table,
                "how sharp the bursts are that units share, at several delays"),
    SF_STRUCTS_BY("unit_detail", get_unit, recording.units, recording.unit_count, &units_table, "every unit"),
};
#undef ROW

static const sf_table document = {
    .name = "content", .about = "what is in a recording", SF_TABLE_OF(document_rows)};

static void write_json(sf_text *out, const app_call *call, const sf_recording_columns *recording,
                       const sf_overview_columns *overview, const app_sharpness *sharpness)
{
    content of = {.recording = *recording,
                  .overview = *overview,
                  .dropped = count_dropped(recording, false),
                  .lost = count_dropped(recording, true),
                  .duplicates = overview->repeats + overview->neighbour_repeats,
                  .rate_hz = app_rate_hz(overview, recording->spike_count),
                  .burst_s = mean_burst_s(overview),
                  .sharpness = app_sharpness_table,
                  .row = &(unit_row){0}};
    of.noise_units = count_noise(recording, overview, &of.noise_spikes);
    of.sharpness.of = sharpness->delays;
    app_document_json(out, call, &document, &of);
}

static const app_option options[] = {
    {"csv", NULL, "print every unit as CSV; docs/formats.md has the columns"},
    {NULL, NULL, NULL},
};

/* ---- text ---- */

/* Strings of a file may hold anything: line breaks become spaces, and what is long is cut as it is shown. */
static void print_safely(sf_text *out, const char *text, size_t most)
{
    sf_text shown = {0};
    sf_text_append(&shown, text, strlen(text));
    for (size_t i = 0; !shown.failed && i < shown.length; i++)
        if (strchr("\n\r\t", shown.data[i]) != NULL && shown.data[i] != '\0') shown.data[i] = ' ';
    sf_text_make_visible(&shown, false);
    size_t length = shown.length;
    while (most < length && most > 0 && (shown.data[most] & 0xc0) == 0x80)
        most--; /* not inside a character */
    if (!shown.failed) sf_text_append(out, shown.data, length < most ? length : most);
    if (length > most) sf_text_append(out, "...", 3);
    out->failed = out->failed || shown.failed;
    sf_text_free(&shown);
}

static void print_duration(sf_text *out, int64_t ns)
{
    double seconds = (double)ns * 1e-9;
    if (seconds >= 7200)
        sf_text_printf(out, "%.2f h", seconds / 3600);
    else if (seconds >= 120)
        sf_text_printf(out, "%.1f min", seconds / 60);
    else
        sf_text_printf(out, "%.4g s", seconds);
}

/* Rates of all units in ascending order; NULL where memory is out. */
static double *sorted_rates(const sf_recording_columns *recording, const sf_overview_columns *overview)
{
    double *rates = sf_alloc(recording->unit_count, sizeof *rates);
    for (size_t i = 0; rates != NULL && i < recording->unit_count; i++)
        rates[i] = app_rate_hz(overview, overview->units[i].spikes);
    if (rates != NULL) sf_reals_sort(rates, recording->unit_count);
    return rates;
}

static void print_units_line(sf_text *out, const sf_recording_columns *recording,
                             const sf_overview_columns *overview)
{
    sf_text_printf(out, "  units       %zu, kind %s", recording->unit_count, overview->kind);
    if (overview->active_units < recording->unit_count)
        sf_text_printf(out, ", %zu without spikes", recording->unit_count - overview->active_units);
    if (overview->electrodes > 0)
        sf_text_printf(out, "; %zu positions, x %g to %g um, y %g to %g um, pitch %.4g um",
                       overview->electrodes, overview->x_um[0], overview->x_um[1], overview->y_um[0],
                       overview->y_um[1], overview->pitch_um);
    sf_text_printf(out, "\n");
    uint64_t spikes;
    size_t noise = count_noise(recording, overview, &spikes);
    if (noise > 0)
        sf_text_printf(out,
                       "  noise       %zu units with %" PRIu64
                       " spikes are labelled noise: analyses leave them out unless --kind asks for them\n",
                       noise, spikes);
}

static void print_time_lines(sf_text *out, const sf_recording_columns *recording,
                             const sf_overview_columns *overview, const double *rates, bool asked)
{
    size_t units = recording->unit_count;
    sf_text_printf(out, "  spikes      %zu", recording->spike_count);
    if (isfinite(app_rate_hz(overview, 1)) && units > 0)
        sf_text_printf(out, ", %.4g Hz in all; a unit has %.3g to %.3g Hz, median %.3g Hz",
                       app_rate_hz(overview, recording->spike_count), rates[0], rates[units - 1],
                       rates[units / 2]);
    if (recording->spike_count > 0) {
        sf_text_printf(out, "\n  time        first spike %.15g s, last %.15g s: ",
                       (double)overview->first_ns * 1e-9, (double)overview->last_ns * 1e-9);
        print_duration(out, overview->last_ns - overview->first_ns);
    }
    sf_text_printf(out, "\n  recorded    ");
    print_duration(out, overview->duration_ns);
    if (recording->observed_count > 0) sf_text_printf(out, " in %zu intervals", recording->observed_count);
    sf_text_printf(out, asked                 ? ", as --recorded says\n"
                        : recording->declared ? ", as the file says\n"
                                              : " from first to last spike: the file does not say, and "
                                                "--recorded A:B does\n");
    if (overview->tick_ns > 0)
        sf_text_printf(out, "  tick        %.6g ms, the step of its clock\n",
                       (double)overview->tick_ns * 1e-6);
}

/* Leaves out what info itself has already warned of; a page of report shows no warnings, so it gets
 * everything. */
static void print_metadata(sf_text *out, const app_call *call, const sf_recording_columns *recording)
{
    const char *head = "metadata";
    for (size_t i = 0; i < recording->metadata_count; i++) {
        const sf_metadata_entry *entry = &recording->metadata[i];
        if (call->command->prints_losses && app_told_reading(call, entry->key)) continue;
        sf_text_printf(out, "  %-11.11s ", head);
        print_safely(out, entry->key, 30);
        sf_text_printf(out, ": ");
        print_safely(out, entry->value, 80);
        sf_text_printf(out, "\n");
        head = "";
    }
}

#define REPEATS_MS 0.25 /* within which a spike is one again, for a clock that tells */

static void print_quality_lines(sf_text *out, const sf_recording_columns *recording,
                                const sf_overview_columns *overview)
{
    if (overview->burst_count > 0 && overview->duration_ns > 0)
        sf_text_printf(out, "  bursts      %zu of the network, %.3g a minute, each %.3g s long on average\n",
                       overview->burst_count,
                       (double)overview->burst_count * 60e9 / (double)overview->duration_ns,
                       mean_burst_s(overview));
    else
        sf_text_printf(out, "  bursts      none of the network\n");
    if (overview->intervals > 0)
        sf_text_printf(out, "  intervals   %.3g %% of inter-spike intervals are under 2 ms\n",
                       100 * share(overview->short_intervals, overview->intervals));
    if (recording->spike_count > 0)
        sf_text_printf(out,
                       "  repeats     within %s: %.3g %% on a neighbouring unit, %.3g %% on the same unit\n",
                       (double)overview->tick_ns * 1e-6 > REPEATS_MS ? "one tick" : "0.25 ms",
                       100 * share(overview->neighbour_repeats, recording->spike_count),
                       100 * share(overview->repeats, recording->spike_count));
    if (recording->marker_count > 0) sf_text_printf(out, "  markers     %zu\n", recording->marker_count);
    for (size_t i = 0; i < recording->dropped_count; i++)
        if (recording->dropped[i].kind != SF_DROP_LOST)
            sf_text_printf(out, "  left out    %" PRIu64 " spikes: %s\n", recording->dropped[i].count,
                           recording->dropped[i].cause);
}

static bool all_whole_seconds(const sf_recording_columns *recording)
{
    for (size_t i = 0; i < recording->spike_count; i++)
        if (recording->spikes[i].time_ns % SF_SECOND != 0) return false;
    return recording->spike_count > 1;
}

static void print_warnings(sf_text *out, const sf_recording_columns *recording,
                           const sf_overview_columns *overview, const double *rates)
{
    size_t units = recording->unit_count, slow = 0;
    double seconds = (double)overview->duration_ns * 1e-9, tick_ms = (double)overview->tick_ns * 1e-6;
    if (recording->spike_count == 0) sf_text_printf(out, "  ! there are no spikes\n");
    if (count_dropped(recording, true) > 0) {
        sf_text_printf(out, "  ! ");
        sf_losses_words(out, recording->dropped, recording->dropped_count);
        sf_text_printf(out, "\n");
    }
    if (overview->first_ns > 60 * SF_SECOND)
        sf_text_printf(out,
                       "  ! it starts at %.15g s: --from +0 counts from the first spike, --from 0 does not\n",
                       (double)overview->first_ns * 1e-9);
    if (overview->electrodes == 0)
        sf_text_printf(out, "  ! it has no geometry: nothing that needs distances works\n");
    if (tick_ms >= 0.5) sf_text_printf(out, "  ! delays under %g ms, two ticks, mean nothing\n", 2 * tick_ms);
    if (all_whole_seconds(recording))
        sf_text_printf(out, "  ! all times are whole seconds: are they frames or milliseconds?\n");
    if (seconds > 30 * 86400.0 || (seconds < 0.1 && recording->spike_count > 1))
        sf_text_printf(out, "  ! it lasts %.3g s: are its times in seconds?\n", seconds);
    if (units > 0 && rates[units / 2] > 200)
        sf_text_printf(out, "  ! the median unit fires at %.3g Hz: are its times in seconds?\n",
                       rates[units / 2]);
    while (slow < units && rates[slow] < 0.1)
        slow++;
    if (slow > 0)
        sf_text_printf(out, "  ! %zu of %zu units fire under 0.1 Hz: too few spikes for chains\n", slow,
                       units);
    if (share(overview->short_intervals, overview->intervals) > 0.01)
        sf_text_printf(
            out, "  ! intervals under 2 ms: some units are more than one neuron, are detected twice, or "
                 "fire in bursts that fast\n");
    bool repeats = share(overview->neighbour_repeats + overview->repeats, recording->spike_count) > 0.01;
    if (repeats && tick_ms > REPEATS_MS)
        sf_text_printf(
            out,
            "  ! repeats within one tick, %g ms: the clock does not tell one spike seen twice from two\n",
            tick_ms);
    else if (repeats)
        sf_text_printf(
            out,
            "  ! repeats within 0.25 ms: short delays then link one spike to itself; see --dedup 0.4,100\n");
    if (overview->array_events > 0)
        sf_text_printf(out,
                       "  ! %" PRIu64
                       " array-wide event%s: a quarter of the units spike in one tick; see --blank\n",
                       overview->array_events, overview->array_events == 1 ? "" : "s");
}

#define MOST_LISTED 10

/* The busiest units, by spikes and then by index. */
static int print_units(sf_text *out, const sf_recording_columns *recording,
                       const sf_overview_columns *overview, bool all)
{
    size_t units = recording->unit_count;
    size_t *order = sf_alloc(units, sizeof *order);
    if (order == NULL) return SF_NO_MEMORY;
    size_t listed = all || units < MOST_LISTED ? units : MOST_LISTED;
    for (size_t i = 0, kept = 0; i < units; i++) { /* insertion into the best `listed` */
        size_t at = kept < listed ? kept++ : listed;
        while (at > 0 && overview->units[order[at - 1]].spikes < overview->units[i].spikes) {
            if (at < listed) order[at] = order[at - 1];
            at--;
        }
        if (at < listed) order[at] = i;
    }
    app_table table = {0};
    static const char *const head[] = {"index", "name", "spikes", "Hz", "x um", "y um", "kind", "< 2 ms %"};
    for (size_t i = 0; i < 8; i++)
        app_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < listed; i++) {
        const unit_row of = row_of(recording, overview, order[i]);
        sf_text name = {0};
        print_safely(&name, of.name, 24);
        app_table_cell(&table, "#%zu", order[i]);
        app_table_cell(&table, "%s", name.data != NULL ? name.data : "");
        app_table_cell(&table, "%" PRIu64, of.spikes);
        app_table_cell(&table, isfinite(of.rate_hz) ? "%.4g" : "-", of.rate_hz);
        app_table_cell(&table, isfinite(of.x_um) ? "%.6g" : "-", of.x_um);
        app_table_cell(&table, isfinite(of.y_um) ? "%.6g" : "-", of.y_um);
        app_table_cell(&table, "%s", of.kind);
        app_table_cell(&table, isfinite(of.isi_violations) ? "%.2g" : "-", 100 * of.isi_violations);
        sf_text_free(&name);
    }
    app_table_print(&table, out, 8);
    if (listed < units)
        sf_text_printf(out, "the busiest %zu of %zu units; --verbose and --json list all\n", listed, units);
    sf_free(order);
    return SF_OK;
}

/* Warns if a recorder was interrupted, or is still at work. */
static void warn_of_journal(sf_text *out, const char *path)
{
    if (!sf_file_has_journal(path)) return;
    sf_text_printf(
        out, "  ! its recorder did not end, or goes on: what it wrote last is in the journal beside it, and "
             "`synfire recover ");
    print_safely(out, path, 200);
    sf_text_printf(out, "` makes a whole recording of both\n");
}

static int write_text(sf_text *out, const app_call *call, const sf_recording_columns *recording,
                      const sf_overview_columns *overview, const app_sharpness *sharpness, bool all_units)
{
    double *rates = sorted_rates(recording, overview);
    if (rates == NULL) return SF_NO_MEMORY;
    print_safely(out, recording->path, 200);
    sf_text_printf(out, ": %s\n", recording->format);
    print_units_line(out, recording, overview);
    print_time_lines(out, recording, overview, rates, app_has(call, "recorded"));
    app_sharpness_print(out, sharpness);
    print_quality_lines(out, recording, overview);
    print_metadata(out, call, recording);
    print_warnings(out, recording, overview, rates);
    app_sharpness_warn(out, sharpness);
    warn_of_journal(out, recording->path);
    sf_free(rates);
    sf_text_printf(out, "\n");
    return print_units(out, recording, overview, all_units);
}

int app_info_print(sf_text *text, const app_call *call, const sf_recording *recording,
                   const sf_overview_columns *overview, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    app_sharpness sharpness;
    const sf_progress progress = app_progress(call);
    sf_recording_get_columns(recording, &of);
    int status = app_sharpness_measure(&sharpness, recording, &progress, error);
    if (status == SF_OK && write_text(text, call, &of, overview, &sharpness, false) != SF_OK)
        status = sf_fail_memory(error);
    return status;
}

static int describe_occurrences(const app_call *call, sf_error *error)
{
    sf_text out = {0};
    int status = app_occurrences_describe(&out, call, call->arguments[0], error);
    if (status == SF_OK) return app_print(&out, error);
    sf_text_free(&out);
    return status;
}

/* The overview and the sharpness of a recording; each goes through all spikes, in parallel. */
typedef struct looks {
    const sf_recording *recording;
    sf_overview *overview;
    app_sharpness sharpness;
    const sf_progress *progress;
    sf_error errors[2];
} looks;

static int look(void *context, unsigned worker, size_t which)
{
    (void)worker;
    looks *seen = context;
    sf_error *error = &seen->errors[which];
    return which == 0 ? app_sharpness_measure(&seen->sharpness, seen->recording, seen->progress, error)
                      : sf_recording_overview(&seen->overview, seen->recording, NULL, error);
}

static int look_at(looks *seen, sf_error *error)
{
    int status = sf_parallel_for(2, 2, look, seen);
    if (status == SF_OK) return SF_OK;
    *error = seen->errors[seen->errors[0].code == SF_OK];
    return error->code;
}

static void write_csv(sf_text *out, const sf_recording_columns *recording,
                      const sf_overview_columns *overview)
{
    app_csv csv = app_csv_start_table(out, &units_table);
    for (size_t i = 0; i < recording->unit_count; i++) {
        const unit_row row = row_of(recording, overview, i);
        app_csv_struct(&csv, &units_table, &row);
    }
}

static int report(const app_call *call, const looks *seen, sf_error *error)
{
    sf_recording_columns of = {.size = sizeof of};
    sf_overview_columns told = {.size = sizeof told};
    sf_recording_get_columns(seen->recording, &of);
    sf_overview_get_columns(seen->overview, &told);
    sf_text out = {0};
    bool csv = app_has(call, "csv");
    if (call->json)
        write_json(&out, call, &of, &told, &seen->sharpness);
    else if (csv)
        write_csv(&out, &of, &told);
    else if (write_text(&out, call, &of, &told, &seen->sharpness, call->verbose) != SF_OK)
        out.failed = true;
    if (!call->json && !csv && out.length > 0) out.length--; /* app_print ends the last line */
    return app_print(&out, error);
}

static int run(app_call *call, sf_error *error)
{
    const char *path = call->arguments[0];
    sf_recording *recording;
    int status = app_load(call, path, &recording, error);
    if (status == SF_DATA && sf_file_has_occurrences(path)) return describe_occurrences(call, error);
    if (status != SF_OK) return status;
    const sf_progress progress = app_progress(call);
    looks seen = {.recording = recording, .progress = &progress};
    status = look_at(&seen, error);
    if (status == SF_OK) status = report(call, &seen, error);
    sf_overview_free(seen.overview);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_info = {
    .name = "info",
    .group = "look",
    .summary = "what is in a recording, and what in it may mislead",
    .arguments = "REC...",
    .least_arguments = 1,
    .keeps_noise = true,
    .prints_losses = true,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire simulate demo.h5 --preset sym26 && synfire info demo.h5",
    .notes =
        "Layouts are told by content: MaxWell, 3Brain, Multi Channel Systems, NWB 1 and 2, CARMEN, Kwik, "
        "HerdingSpikes, Cortical Labs, synfire's own, MATLAB, text (lines of name,seconds, any columns with "
        "a "
        "heading, Axion spike lists), archives of NumPy, files of Blackrock and Ripple (.nev), "
        "NeuroExplorer, "
        "Plexon (.plx) and Axion (.spk), and folders of Phy, Kilosort, SpikeInterface and Open Ephys; "
        "docs/formats.md has what is read of each. "
        "Rates are over the recorded duration, which the file declares or its first and last spike set. "
        "`isi_violations` is the share of a unit's inter-spike intervals under 2 ms; `duplicates` "
        "counts spikes "
        "within 0.25 ms after one of the same or a neighbouring unit. What a pair would have to count "
        "for a low q "
        "info does not tell, for that needs surrogates at your delays: `mine --significance` does. A "
        "file of `mine --occurrences "
        "FILE.h5` is told as what it is.",
    .options = {options, app_selection_options},
    .tables = {&units_table, &app_sharpness_table},
    .documents = {&document, &app_occurrences_document},
    .run = run,
};
