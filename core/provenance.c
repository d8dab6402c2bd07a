/* SPDX-License-Identifier: Apache-2.0 */
#include "core/provenance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

static void add_units(sf_json *json, const sf_selected *s)
{
    if (s->units == NULL) {
        sf_json_null(json, "units");
        sf_json_null(json, "names");
    } else {
        sf_json_array(json, "units");
        for (size_t i = 0; i < s->unit_count; i++)
            sf_json_uint(json, NULL, s->units[i]);
        sf_json_end_array(json);
        sf_json_array(json, "names");
        for (size_t i = 0; i < s->unit_count; i++)
            sf_json_string(json, NULL, s->names[i]);
        sf_json_end_array(json);
    }
    sf_json_string(json, "kind", s->kinds);
    sf_json_uint(json, "noise_units", s->noise_units);
    sf_json_uint(json, "unit_count", s->unit_count);
    sf_json_uint(json, "units_in_recording", s->units_in_file);
}

static void add_time(sf_json *json, const char *key, bool given, int64_t time_ns)
{
    if (given)
        sf_json_seconds(json, key, time_ns);
    else
        sf_json_null(json, key);
}

static void add_epochs(sf_json *json, const sf_selected *s)
{
    sf_json_string(json, "epochs_file", s->epochs_path);
    if (s->epochs == NULL) {
        sf_json_null(json, "epochs");
        return;
    }
    sf_json_array(json, "epochs");
    for (size_t i = 0; i < s->epoch_count; i++) {
        sf_json_object(json, NULL);
        sf_json_string(json, "label", s->epochs[i].label);
        sf_json_seconds(json, "from_s", s->epochs[i].span.start_ns);
        sf_json_seconds(json, "to_s", s->epochs[i].span.stop_ns);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

static void add_drops(sf_json *json, const char *key, const sf_selected *s, bool lost)
{
    sf_json_array(json, key);
    for (size_t i = 0; i < s->dropped_count; i++) {
        if ((s->dropped[i].kind == SF_DROP_LOST) != lost)
            continue;
        sf_json_object(json, NULL);
        sf_json_string(json, "cause", s->dropped[i].cause);
        sf_json_uint(json, "spikes", s->dropped[i].count);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

static void add_left_out(sf_json *json, const sf_selected *s)
{
    if (s->dedup_ns > 0) {
        sf_json_object(json, "dedup");
        sf_json_milliseconds(json, "ms", s->dedup_ns);
        sf_json_real(json, "um", s->dedup_um);
        sf_json_end_object(json);
    } else {
        sf_json_null(json, "dedup");
    }
    if (s->marker != NULL) {
        sf_json_object(json, "blank");
        sf_json_string(json, "marker", s->marker);
        sf_json_milliseconds(json, "from_ms", s->blank_from_ns);
        sf_json_milliseconds(json, "to_ms", s->blank_to_ns);
        sf_json_end_object(json);
    } else {
        sf_json_null(json, "blank");
    }
    add_drops(json, "left_out", s, false);
    add_drops(json, "lost", s, true);
}

static void add_selection(sf_json *json, const sf_provenance *provenance)
{
    const sf_selected *s = &provenance->selected;
    char data[24];
    sf_text words = {0};
    sf_provenance_words(&words, provenance);
    snprintf(data, sizeof data, "%016" PRIx64, s->data);
    sf_json_object(json, "selection");
    sf_json_string(json, "words", words.failed ? NULL : words.data);
    sf_json_string(json, "recording", s->recording);
    sf_json_string(json, "format", s->format);
    sf_json_string(json, "stream", s->stream);
    sf_json_string(json, "preset", provenance->preset);
    add_units(json, s);
    add_time(json, "from_s", s->from_given, s->from_ns);
    add_time(json, "to_s", s->to_given, s->to_ns);
    add_epochs(json, s);
    add_left_out(json, s);
    if (provenance->min_distance_um > 0)
        sf_json_real(json, "min_distance_um", provenance->min_distance_um);
    else
        sf_json_null(json, "min_distance_um");
    sf_json_uint(json, "spikes", s->spikes);
    sf_json_uint(json, "spikes_in_recording", s->spikes_in_file);
    sf_json_seconds(json, "duration_s", s->duration_ns);
    sf_json_object(json, "recorded");
    sf_json_seconds(json, "from_s", s->recorded.start_ns);
    sf_json_seconds(json, "to_s", s->recorded.stop_ns);
    sf_json_bool(json, "declared", s->declared);
    sf_json_end_object(json);
    sf_json_string(json, "data", data);
    sf_json_end_object(json);
    sf_text_free(&words);
}

void sf_provenance_json(sf_json *json, const char *key, const sf_provenance *provenance)
{
    char program[40];
    snprintf(program, sizeof program, "synfire %s", sf_version());
    sf_json_object(json, key);
    sf_json_string(json, "program", program);
    sf_json_string(json, "command", provenance->command);
    if (provenance->drew)
        sf_json_uint(json, "seed", provenance->seed);
    else
        sf_json_null(json, "seed");
    if (provenance->of_recording)
        add_selection(json, provenance);
    else
        sf_json_null(json, "selection");
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
    if (s->kinds != NULL && strcmp(s->kinds, "all") != 0)
        sf_text_printf(text, " of the kind %s", s->kinds);
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
    if (s->unit_count > MOST_NAMED)
        sf_text_printf(text, " and %zu more", s->unit_count - MOST_NAMED);
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
    if (s->epoch_count > MOST_NAMED)
        sf_text_printf(text, " and %zu more", s->epoch_count - MOST_NAMED);
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
    if (all == 0)
        return;
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
    if (words.length > 0)
        sf_text_printf(text, "; %s", words.data);
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
    if (selected->stream != NULL)
        sf_text_printf(text, ", of the stream %s", selected->stream);
    say_left_out(text, selected);
    if (selected->epochs != NULL)
        say_epochs(text, selected);
    say_times(text, selected);
    if (provenance->preset != NULL)
        sf_text_printf(text, ", with the defaults of the preset %s", provenance->preset);
    if (provenance->min_distance_um > 0)
        sf_text_printf(text, ", pairs of units closer than %g um left out", provenance->min_distance_um);
    say_losses(text, selected);
}
