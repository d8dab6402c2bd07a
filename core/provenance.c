/* SPDX-License-Identifier: Apache-2.0 */
#include "core/provenance.h"

#include "core/describe/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- JSON ---- */

/* What is looked at is told of all of the provenance, since a preset and a distance belong to it. */
static const sf_selected *selected_of(const void *of)
{
    return &((const sf_provenance *)of)->selected;
}

SF_GETTER(get_program)
{
    sf_text_printf(sf_value_room(value), "synfire %s", sf_version());
    sf_value_set_room(value);
}

SF_GETTER(get_seed)
{
    const sf_provenance *provenance = of;
    value->known = provenance->drew;
    value->count = provenance->seed;
}

SF_GETTER(get_selection)
{
    sf_value_set_record(value, ((const sf_provenance *)of)->of_recording ? of : NULL, 0);
}

SF_GETTER(get_words)
{
    sf_provenance_words(sf_value_room(value), of);
    sf_value_set_room(value);
}

/* A time, where the flag at column->inside says that it was given. */
SF_GETTER(get_given)
{
    if (*(const bool *)((const char *)of + column->inside)) sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_dedup)
{
    sf_value_set_record(value, selected_of(of)->dedup_ns > 0 ? of : NULL, 0);
}

SF_GETTER(get_blank)
{
    sf_value_set_record(value, selected_of(of)->marker != NULL ? of : NULL, 0);
}

/* Those that are lost, or those that are left out, as column->member says. */
static bool is_listed(const sf_column_row *column, const sf_drop *drop)
{
    return (drop->kind == SF_DROP_LOST) == (column->member != 0);
}

SF_LENGTH(count_drops)
{
    const sf_selected *s = selected_of(of);
    *length = 0;
    for (size_t i = 0; i < s->dropped_count; i++)
        *length += is_listed(column, &s->dropped[i]);
    return true;
}

SF_GETTER(get_drop)
{
    const sf_drop *drop = selected_of(of)->dropped;
    for (size_t before = item; before > 0 || !is_listed(column, drop); drop++)
        before -= is_listed(column, drop);
    sf_value_set_record(value, drop, 0);
}

SF_GETTER(get_distance)
{
    const double um = ((const sf_provenance *)of)->min_distance_um;
    sf_value_set_real(value, um > 0 ? um : NAN);
}

SF_GETTER(get_data)
{
    sf_text_printf(sf_value_room(value), "%016" PRIx64, selected_of(of)->data);
    sf_value_set_room(value);
}

#define ROW sf_epoch
static const sf_column_row epoch_rows[] = {
    SF_MEMBER_IS(TEXT, label, "as the file of --epochs has it"),
    SF_FIELD_IS(TIME, "from_s", span.start_ns, "start", .unit = "s"),
    SF_FIELD_IS(TIME, "to_s", span.stop_ns, "stop, not included", .unit = "s"),
};
#undef ROW

#define ROW sf_drop
static const sf_column_row drop_rows[] = {
    SF_MEMBER_IS(TEXT, cause, "why"),
    SF_FIELD_IS(COUNT, "spikes", count, "how many"),
};
#undef ROW

#define ROW sf_provenance
static const sf_column_row dedup_rows[] = {
    SF_FIELD_IS(TIME, "ms", selected.dedup_ns, "time", .unit = "ms"),
    SF_FIELD_IS(REAL, "um", selected.dedup_um, "distance", .unit = "um"),
};

static const sf_column_row blank_rows[] = {
    SF_FIELD_IS(TEXT, "marker", selected.marker, "as given"),
    SF_FIELD_IS(TIME, "from_ms", selected.blank_from_ns, "from this", .unit = "ms"),
    SF_FIELD_IS(TIME, "to_ms", selected.blank_to_ns, "to this around each marker", .unit = "ms"),
};

static const sf_column_row recorded_rows[] = {
    SF_FIELD_IS(TIME, "from_s", selected.recorded.start_ns, "start", .unit = "s"),
    SF_FIELD_IS(TIME, "to_s", selected.recorded.stop_ns, "stop, not included", .unit = "s"),
    SF_FIELD_IS(FLAG, "declared", selected.declared,
                "the file or --recorded says so; else from the first spike to the last"),
};

#define GIVEN(column, of, flag, ...)                                                                         \
    {                                                                                                        \
        .is = SF_WHAT_IS(TIME, column, __VA_ARGS__, .unit = "s"), .get = get_given,                          \
        SF_ROW_ELEMENT(selected.of), .inside = offsetof(ROW, selected.flag)                                  \
    }
#define DROPS(column, are_lost, ...)                                                                         \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, __VA_ARGS__), .get = get_drop, .length = count_drops,             \
        .member = (are_lost), SF_ROWS_ARE(drop_rows)                                                         \
    }
static const sf_column_row selection_rows[] = {
    SF_GOT_BY(TEXT, "words", get_words, "all of it as a sentence has it"),
    SF_FIELD_IS(TEXT, "recording", selected.recording, "as given", .null = "it is in memory"),
    SF_FIELD_IS(TEXT, "format", selected.format, "as found", .null = "it is in memory"),
    SF_FIELD_IS(TEXT, "stream", selected.stream,
                "--stream: which well or recording of a file that holds several; with '*' the one that this "
                "document is of",
                .null = "of no stream"),
    SF_MEMBER_IS(TEXT, preset, "--preset", .null = "without it"),
    SF_ITEMS_ARE(UNIT, "units", selected.units, selected.unit_count, "chosen by --units", .null = "all were"),
    SF_ITEMS_ARE(TEXT, "names", selected.names, selected.unit_count, "of these", .null = "all were"),
    SF_FIELD_IS(TEXT, "kind", selected.kinds, "--kind, which is all unless given of info, convert and play",
                .null = "all but noise"),
    SF_FIELD_IS(COUNT, "noise_units", selected.noise_units, "units labelled noise that are left out"),
    SF_FIELD_IS(COUNT, "unit_count", selected.unit_count, "units that are left"),
    SF_FIELD_IS(COUNT, "units_in_recording", selected.units_in_file, "units of the recording"),
    GIVEN("from_s", from_ns, from_given, "--from, by the clock of the recording", .null = "without it"),
    GIVEN("to_s", to_ns, to_given, "--to", .null = "without it"),
    SF_FIELD_IS(TEXT, "epochs_file", selected.epochs_path, "--epochs", .null = "without it"),
    SF_RECORDS_OF("epochs", selected.epochs, selected.epoch_count, epoch_rows, "of it",
                  .null = "without --epochs"),
    SF_RECORD_BY("dedup", get_dedup, dedup_rows, "--dedup", .null = "without it"),
    SF_RECORD_BY("blank", get_blank, blank_rows, "--blank", .null = "without it"),
    DROPS("left_out", false, "what the reader or the selection left out"),
    DROPS("lost", true, "what is not in the file, as the run that recorded it tells"),
    SF_GOT_BY(REAL, "min_distance_um", get_distance, "units closer than this did not follow each other",
              .unit = "um", .null = "they might"),
    SF_FIELD_IS(COUNT, "spikes", selected.spikes, "spikes that are left"),
    SF_FIELD_IS(COUNT, "spikes_in_recording", selected.spikes_in_file, "spikes of the recording"),
    SF_FIELD_IS(TIME, "duration_s", selected.duration_ns, "recorded time that was looked at", .unit = "s"),
    SF_RECORD_BY("recorded", sf_column_own_row, recorded_rows, "when the whole recording was recorded"),
    SF_GOT_BY(
        TEXT, "data", get_data,
        "16 hexadecimal digits: a hash of the spikes that are left, by time since the first, and of the "
        "names of units"),
};

static const sf_column_row rows[] = {
    SF_GOT_BY(TEXT, "program", get_program, "name and version"),
    SF_MEMBER_IS(TEXT, command, "the command line, quoted as a shell would take it", .null = "of no command"),
    SF_GOT_BY(COUNT, "seed", get_seed, "of the random numbers that were drawn", .null = "none were"),
    SF_RECORD_BY("selection", get_selection, selection_rows, "what was looked at",
                 .null = "no recording was read"),
};
#undef ROW

const sf_table sf_provenance_table = {
    .name = "provenance", .row = "provenance", .about = "what made a result, and of what", SF_TABLE_OF(rows)};

void sf_provenance_json(sf_json *json, const char *key, const sf_provenance *provenance)
{
    sf_json_object(json, key);
    sf_table_json_fields(json, &sf_provenance_table, provenance);
    sf_json_end_object(json);
}

void sf_provenance_print(sf_text *text, const sf_provenance *provenance)
{
    sf_json json = sf_json_start(text);
    sf_provenance_json(&json, NULL, provenance);
}

/* ---- words ---- */

#define MOST_NAMED 20 /* units and epochs in a sentence */

static uint64_t count_dropped(const sf_selected *s, const char *cause)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s->dropped_count; i++)
        count += strcmp(s->dropped[i].cause, cause) == 0 ? s->dropped[i].count : 0;
    return count;
}

static void say_kinds(sf_text *text, const sf_selected *s)
{
    if (s->kinds != NULL && strcmp(s->kinds, "all") != 0) sf_text_printf(text, " of the kind %s", s->kinds);
    if (s->noise_units > 0)
        sf_text_printf(text, ", without %zu labelled noise and their %" PRIu64 " spikes", s->noise_units,
                       count_dropped(s, SF_DROP_NOISE));
}

static void say_units(sf_text *text, const sf_selected *s)
{
    if (s->units == NULL) {
        sf_text_printf(text, "%zu units", s->unit_count);
        say_kinds(text, s);
        return;
    }
    sf_text_printf(text, "%zu of %zu units (", s->unit_count, s->units_in_file);
    for (size_t i = 0; i < s->unit_count && i < MOST_NAMED; i++)
        sf_text_printf(text, "%s%s", i > 0 ? ", " : "", s->names[i]);
    if (s->unit_count > MOST_NAMED) sf_text_printf(text, " and %zu more", s->unit_count - MOST_NAMED);
    sf_text_printf(text, ")");
    say_kinds(text, s);
}

static void say_epochs(sf_text *text, const sf_selected *s)
{
    sf_text_printf(text, ", inside %zu epoch%s (", s->epoch_count, s->epoch_count == 1 ? "" : "s");
    for (size_t i = 0; i < s->epoch_count && i < MOST_NAMED; i++) {
        const sf_epoch *epoch = &s->epochs[i];
        sf_text_printf(text, "%s%s%s", i > 0 ? ", " : "", epoch->label, epoch->label[0] != '\0' ? " " : "");
        sf_text_scaled(text, epoch->span.start_ns, 9);
        sf_text_printf(text, " to ");
        sf_text_scaled(text, epoch->span.stop_ns, 9);
        sf_text_printf(text, " s");
    }
    if (s->epoch_count > MOST_NAMED) sf_text_printf(text, " and %zu more", s->epoch_count - MOST_NAMED);
    sf_text_printf(text, ")");
}

static void say_times(sf_text *text, const sf_selected *s)
{
    if (s->from_given) {
        sf_text_printf(text, ", from ");
        sf_text_scaled(text, s->from_ns, 9);
        sf_text_printf(text, s->to_given ? "" : " s on");
    }
    if (s->to_given) {
        sf_text_printf(text, s->from_given ? " to " : ", up to ");
        sf_text_scaled(text, s->to_ns, 9);
        sf_text_printf(text, " s");
    }
}

void sf_losses_words(sf_text *text, const sf_drop *dropped, size_t count)
{
    uint64_t all = 0;
    const char *before = " (";
    for (size_t i = 0; i < count; i++)
        all += dropped[i].kind == SF_DROP_LOST ? dropped[i].count : 0;
    if (all == 0) return;
    sf_text_printf(text, "%" PRIu64 " spikes were lost while it was recorded", all);
    for (size_t i = 0; i < count; i++)
        if (dropped[i].kind == SF_DROP_LOST) {
            sf_text_printf(text, "%s%" PRIu64 " %s", before, dropped[i].count, dropped[i].cause);
            before = ", ";
        }
    sf_text_printf(text, ")");
}

static void say_left_out(sf_text *text, const sf_selected *s)
{
    if (s->dedup_ns > 0) {
        /* Duplicates go before units and times are chosen: their number is that of the recording. */
        sf_text_printf(text, ", less %" PRIu64 " duplicates of the recording's %" PRIu64 " spikes (at most ",
                       count_dropped(s, "duplicate"), s->spikes_in_file);
        sf_text_scaled(text, s->dedup_ns, 6);
        sf_text_printf(text, " ms after a spike of the same unit or one at most %g um away)", s->dedup_um);
    }
    if (s->marker != NULL) {
        sf_text_printf(text, ", without ");
        sf_text_scaled(text, s->blank_from_ns, 6);
        sf_text_printf(text, " to ");
        sf_text_scaled(text, s->blank_to_ns, 6);
        sf_text_printf(text, " ms around each marker %s", s->marker);
    }
}

static void say_losses(sf_text *text, const sf_selected *s)
{
    sf_text words = {0};
    sf_losses_words(&words, s->dropped, s->dropped_count);
    if (words.length > 0) sf_text_printf(text, "; %s", words.data);
    text->failed = text->failed || words.failed;
    sf_text_free(&words);
}

void sf_provenance_words(sf_text *text, const sf_provenance *provenance)
{
    const sf_selected *selected = &provenance->selected;
    sf_text_printf(text, "%" PRIu64 " spikes of ", selected->spikes);
    say_units(text, selected);
    sf_text_printf(text, " in %.6g s%s (data %016" PRIx64 ")", (double)selected->duration_ns * 1e-9,
                   selected->declared ? "" : " from first to last spike", selected->data);
    if (selected->stream != NULL) sf_text_printf(text, ", of the stream %s", selected->stream);
    say_left_out(text, selected);
    if (selected->epochs != NULL) say_epochs(text, selected);
    say_times(text, selected);
    if (provenance->preset != NULL)
        sf_text_printf(text, ", with the defaults of the preset %s", provenance->preset);
    if (provenance->min_distance_um > 0)
        sf_text_printf(text, ", pairs of units closer than %g um left out", provenance->min_distance_um);
    say_losses(text, selected);
}
