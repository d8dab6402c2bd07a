/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NeuroExplorer's .nex and .nex5: timestamps of variables as ticks of one clock. A neuron is a unit. A
 * waveform variable has the timestamps of spikes, too, and mostly of spikes that a neuron has: NeuroExplorer
 * writes sig001a_wf beside sig001a. It is a unit only where no neuron is of its name (less _wf) or of its
 * wire and unit number, and no other train is the same, so that no spike counts twice. Events, intervals and
 * markers become text markers, the interval variable AllFile is what was recorded. Population vectors and
 * continuous variables hold no spikes.
 */
#include "replay/nex.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "replay/binary.h"
#include "replay/folder.h"
#include "replay/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALL_FILE "AllFile"
#define WAVES "_wf"

enum {
    BLOCK = 4096,
    LEAST_SAME = 8, /* minimum number of shared spikes that identifies two trains as the same */
    MOST_NAMED = 5
};

/* The spikes of a variable among those of the recording, one train after the other. */
typedef struct train {
    const sf_nex_variable *of;
    size_t first, count;
    bool is_ordered;
} train;

typedef struct reading {
    sf_nex nex;
    sf_recording *recording;
    double rate_hz;
    train *trains;                      /* one for each unit */
    const train **by_name, **by_number; /* those of neurons, in these orders */
    size_t neurons, numbered;
    size_t marker_capacity;
    bool has_numbers; /* wires and units differ */
    uint64_t back, waves_left_out, more_in_waves;
    const sf_nex_variable *first_back;
    sf_text said; /* what is left out */
    sf_error *error;
} reading;

static bool is_all_file(const sf_nex_variable *of)
{
    return of->type == SF_NEX_INTERVAL && strcmp(of->name, ALL_FILE) == 0;
}

static int refuse_time(const reading *in, const sf_nex_variable *of, uint64_t at, int64_t ticks)
{
    return sf_fail(in->error, SF_DATA, in->nex.path,
                   "damaged: timestamp %" PRIu64 " of variable '%.64s' is %" PRId64
                   ", which at %g Hz is beyond 146 years",
                   at, of->name, ticks, in->rate_hz);
}

/* ---- spikes ---- */

/* Appends the spikes of a variable. */
static int add_spikes(reading *in, const sf_nex_variable *of, uint32_t unit)
{
    sf_recording *recording = in->recording;
    int64_t block[BLOCK], before = INT64_MIN;
    int status = SF_OK;
    for (uint64_t done = 0, size; status == SF_OK && done < of->count; done += size) {
        size = of->count - done < BLOCK ? of->count - done : BLOCK;
        status =
            sf_nex_read_times(block, &in->nex, of->offset + done * of->width, of->width, size, in->error);
        for (size_t i = 0; status == SF_OK && i < size; i++) {
            sf_spike *spike = &recording->spikes[recording->spike_count++];
            *spike = (sf_spike){.unit = unit, .amplitude = NAN};
            if (!sf_samples_to_ns(block[i], in->rate_hz, &spike->time_ns))
                status = refuse_time(in, of, done + i, block[i]);
            if (block[i] < before && in->back++ == 0) in->first_back = of;
            before = block[i];
        }
    }
    return status;
}

/* Two digits and a letter at the end, as Plexon names units: sig001U is unsorted, sig001a sorted. sig001i may
 * be either, depending on the program. */
static sf_unit_kind kind_of_name(const char *name)
{
    size_t length = strlen(name), suffix = strlen(WAVES);
    if (length > suffix && strcmp(name + length - suffix, WAVES) == 0) length -= suffix;
    if (length < 4 || !isdigit((unsigned char)name[length - 2]) || !isdigit((unsigned char)name[length - 3]))
        return SF_UNIT_UNKNOWN;
    char letter = name[length - 1];
    if (letter == 'U') return SF_UNIT_MULTI_UNIT;
    return letter >= 'a' && letter <= 'z' && letter != 'i' ? SF_UNIT_SORTED : SF_UNIT_UNKNOWN;
}

/* Adds a unit with the spikes from `first` on; `back` timestamps among them were out of order. */
static int add_unit(reading *in, const sf_nex_variable *of, size_t first, uint64_t back)
{
    sf_unit unit = {.name = of->name, .x_um = of->x, .y_um = of->y, .electrode = -1};
    unit.kind = kind_of_name(of->name);
    if (of->type == SF_NEX_WAVEFORM && of->x == 0 && of->y == 0) /* positions are of neurons */
        unit.x_um = unit.y_um = NAN;
    if (in->has_numbers && of->has_numbers) {
        unit.electrode = of->wire >= 0 ? of->wire : -1;
        unit.kind = of->unit > 0 ? SF_UNIT_SORTED : SF_UNIT_MULTI_UNIT;
    }
    in->trains[in->recording->units.count] =
        (train){of, first, in->recording->spike_count - first, in->back == back};
    return sf_units_add(&in->recording->units, &unit, in->error);
}

static int add_neurons(reading *in)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < in->nex.count; i++) {
        const sf_nex_variable *of = &in->nex.variables[i];
        size_t first = in->recording->spike_count;
        uint64_t back = in->back;
        if (of->type != SF_NEX_NEURON) continue;
        status = add_spikes(in, of, (uint32_t)in->recording->units.count);
        if (status == SF_OK) status = add_unit(in, of, first, back);
    }
    in->neurons = in->recording->units.count;
    return status;
}

/* ---- waveforms beside neurons ---- */

static int compare_names(const void *a, const void *b)
{
    const train *const *left = a, *const *right = b;
    return strcmp((*left)->of->name, (*right)->of->name);
}

static int compare_numbers(const void *a, const void *b)
{
    const sf_nex_variable *left = (*(const train *const *)a)->of, *right = (*(const train *const *)b)->of;
    if (left->wire != right->wire) return left->wire < right->wire ? -1 : 1;
    return (left->unit > right->unit) - (left->unit < right->unit);
}

static int order_neurons(reading *in)
{
    in->by_name = sf_alloc(in->neurons, sizeof *in->by_name);
    in->by_number = sf_alloc(in->neurons, sizeof *in->by_number);
    if (in->by_name == NULL || in->by_number == NULL) return sf_fail_memory(in->error);
    for (size_t i = 0; i < in->neurons; i++) {
        in->by_name[i] = &in->trains[i];
        if (in->has_numbers && in->trains[i].of->has_numbers) in->by_number[in->numbered++] = &in->trains[i];
    }
    qsort(in->by_name, in->neurons, sizeof *in->by_name, compare_names);
    qsort(in->by_number, in->numbered, sizeof *in->by_number, compare_numbers);
    return SF_OK;
}

static const train *find_neuron(const reading *in, const sf_nex_variable *wave)
{
    sf_nex_variable wanted = *wave;
    const train of = {.of = &wanted}, *key = &of, *const * found;
    found = bsearch(&key, in->by_name, in->neurons, sizeof *in->by_name, compare_names);
    size_t length = strlen(wanted.name), suffix = strlen(WAVES);
    if (found == NULL && length > suffix && strcmp(wanted.name + length - suffix, WAVES) == 0) {
        wanted.name[length - suffix] = '\0';
        found = bsearch(&key, in->by_name, in->neurons, sizeof *in->by_name, compare_names);
    }
    if (found == NULL && in->has_numbers && wanted.has_numbers)
        found = bsearch(&key, in->by_number, in->numbered, sizeof *in->by_number, compare_numbers);
    return found != NULL ? *found : NULL;
}

static bool are_same(const reading *in, const train *one, const train *other)
{
    const sf_spike *left = in->recording->spikes + one->first, *right = in->recording->spikes + other->first;
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++)
        same = left[i].time_ns == right[i].time_ns;
    return same;
}

/* Finds a train that has the same spikes as this one. */
static const train *find_same(const reading *in, const train *wave)
{
    for (size_t i = 0; wave->count >= LEAST_SAME && i < in->recording->units.count; i++)
        if (are_same(in, &in->trains[i], wave)) return &in->trains[i];
    return NULL;
}

static bool is_among(const reading *in, int64_t time_ns, const train *of)
{
    const sf_spike *spikes = in->recording->spikes + of->first;
    size_t at = sf_spikes_lower_bound(spikes, of->count, time_ns);
    return at < of->count && spikes[at].time_ns == time_ns;
}

/* Counts spikes that have a waveform and are not among those of its neuron; they are left out all the same.
 * If the neuron is out of order, only the difference in number is known. */
static void count_more(reading *in, const train *wave, const train *neuron)
{
    if (!neuron->is_ordered)
        in->more_in_waves += wave->count > neuron->count ? wave->count - neuron->count : 0;
    for (size_t i = 0; neuron->is_ordered && i < wave->count; i++)
        in->more_in_waves += !is_among(in, in->recording->spikes[wave->first + i].time_ns, neuron);
}

static int add_wave(reading *in, const sf_nex_variable *of)
{
    size_t first = in->recording->spike_count;
    uint64_t back = in->back;
    const sf_nex_variable *first_back = in->first_back;
    int status = add_spikes(in, of, (uint32_t)in->recording->units.count);
    const train wave = {of, first, in->recording->spike_count - first, in->back == back},
                *neuron = find_neuron(in, of);
    if (status == SF_OK && neuron != NULL) count_more(in, &wave, neuron);
    if (status == SF_OK && neuron == NULL && find_same(in, &wave) == NULL)
        return add_unit(in, of, first, back);
    in->recording->spike_count = first;
    in->back = back;
    in->first_back = first_back;
    in->waves_left_out++;
    return status;
}

static int add_waves(reading *in)
{
    int status = order_neurons(in);
    for (size_t i = 0; status == SF_OK && i < in->nex.count; i++)
        if (in->nex.variables[i].type == SF_NEX_WAVEFORM) status = add_wave(in, &in->nex.variables[i]);
    if (status == SF_OK && in->more_in_waves > 0)
        sf_recording_drop(in->recording, "of waveforms and not among their neuron's spikes",
                          in->more_in_waves);
    return status;
}

/* ---- units ---- */

/* Ignores positions that are all equal (programs that know none write zeros) or not finite. False if no two
 * differ. */
static bool take_positions(sf_units *units)
{
    const sf_unit *first = NULL;
    bool differ = false;
    for (size_t i = 0; i < units->count; i++) {
        sf_unit *unit = &units->items[i];
        if (!(fabs(unit->x_um) < 1e6 && fabs(unit->y_um) < 1e6)) {
            unit->x_um = unit->y_um = NAN;
            continue;
        }
        first = first != NULL ? first : unit;
        differ = differ || unit->x_um != first->x_um || unit->y_um != first->y_um;
    }
    for (size_t i = 0; !differ && i < units->count; i++)
        units->items[i].x_um = units->items[i].y_um = NAN;
    return differ;
}

static int tell_positions(reading *in)
{
    static const char told[] = "those of NeuroExplorer's 3D view, from 0 to 100, taken as um";
    return take_positions(&in->recording->units)
               ? sf_recording_set_metadata(in->recording, "positions", told, in->error)
               : SF_OK;
}

static int add_units(reading *in)
{
    unsigned __int128 spikes = 0; /* fewer than the file has bytes, which sf_nex_open has checked */
    size_t units = 0;
    for (size_t i = 0; i < in->nex.count; i++) {
        const sf_nex_variable *of = &in->nex.variables[i];
        bool has_spikes = of->type == SF_NEX_NEURON || of->type == SF_NEX_WAVEFORM;
        spikes += has_spikes ? of->count : 0;
        units += has_spikes;
        in->has_numbers = in->has_numbers || (has_spikes && (of->wire != 0 || of->unit != 0));
    }
    in->recording->spikes = sf_resize(NULL, (size_t)spikes, sizeof *in->recording->spikes);
    in->trains = sf_alloc(units, sizeof *in->trains);
    int status =
        in->recording->spikes != NULL && in->trains != NULL ? add_neurons(in) : sf_fail_memory(in->error);
    if (status == SF_OK) status = add_waves(in);
    return status == SF_OK ? tell_positions(in) : status;
}

/* ---- markers ---- */

static int add_marks(reading *in, const sf_nex_variable *of, uint64_t offset, const char *suffix)
{
    int64_t block[BLOCK], time_ns;
    int status = SF_OK;
    for (uint64_t done = 0, size; status == SF_OK && done < of->count; done += size) {
        size = of->count - done < BLOCK ? of->count - done : BLOCK;
        status = sf_nex_read_times(block, &in->nex, offset + done * of->width, of->width, size, in->error);
        for (size_t i = 0; status == SF_OK && i < size; i++)
            status = sf_samples_to_ns(block[i], in->rate_hz, &time_ns)
                         ? sf_reader_mark(in->recording, &in->marker_capacity, time_ns, of->name, suffix,
                                          in->error)
                         : refuse_time(in, of, done + i, block[i]);
    }
    return status;
}

static void append_value(sf_marker *marker, const unsigned char *value, const sf_nex_variable *of)
{
    size_t used = strlen(marker->text),
           length = of->is_numeric ? 0 : strnlen((const char *)value, of->length);
    while (length > 0 && value[length - 1] == ' ')
        length--;
    if (of->is_numeric)
        snprintf(marker->text + used, sizeof marker->text - used, " %" PRIu32, sf_little_32(value));
    else if (length > 0)
        snprintf(marker->text + used, sizeof marker->text - used, " %.*s", (int)length, (const char *)value);
}

/* Reads the values of one field, which follow its name. */
static int add_values(reading *in, const sf_nex_variable *of, sf_marker *markers, uint64_t offset)
{
    unsigned char *block = sf_alloc(65536, 1);
    size_t rows = of->length > 0 ? 65536 / of->length : 0;
    int status = block != NULL ? SF_OK : sf_fail_memory(in->error);
    for (uint64_t done = 0, size; status == SF_OK && rows > 0 && done < of->count; done += size) {
        size = of->count - done < rows ? of->count - done : rows;
        status = sf_nex_read(block, &in->nex, offset + done * of->length, size * of->length, in->error);
        for (size_t i = 0; status == SF_OK && i < size; i++)
            append_value(&markers[done + i], block + i * of->length, of);
    }
    sf_free(block);
    return status;
}

static int add_markers(reading *in, const sf_nex_variable *of)
{
    size_t first = in->recording->marker_count;
    int status = add_marks(in, of, of->offset, "");
    uint64_t offset = of->offset + of->count * of->width;
    for (uint32_t field = 0; status == SF_OK && of->count > 0 && field < of->fields; field++) {
        offset += SF_NEX_FIELD_NAME;
        status = add_values(in, of, in->recording->markers + first, offset);
        offset += of->count * of->length;
    }
    return status;
}

static int add_all_markers(reading *in)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < in->nex.count; i++) {
        const sf_nex_variable *of = &in->nex.variables[i];
        if (of->type == SF_NEX_EVENT || (of->type == SF_NEX_INTERVAL && !is_all_file(of)))
            status = add_marks(in, of, of->offset, "");
        if (status == SF_OK && of->type == SF_NEX_INTERVAL && !is_all_file(of))
            status = add_marks(in, of, of->offset + of->count * of->width, " end");
        else if (status == SF_OK && of->type == SF_NEX_MARKER)
            status = add_markers(in, of);
    }
    return status;
}

/* ---- how long ---- */

/* Whether a span is from the first spike to the last, or one tick later, as programs without recorded time
 * write it. */
static bool is_own(const reading *in, sf_span span)
{
    const sf_recording *recording = in->recording;
    sf_span spikes = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < recording->spike_count; i++) {
        int64_t time_ns = recording->spikes[i].time_ns;
        spikes.start_ns = time_ns < spikes.start_ns ? time_ns : spikes.start_ns;
        spikes.stop_ns = time_ns > spikes.stop_ns ? time_ns : spikes.stop_ns;
    }
    return span.start_ns == spikes.start_ns && span.stop_ns >= spikes.stop_ns &&
           span.stop_ns - spikes.stop_ns <= recording->tick_ns + 1;
}

static void declare(const reading *in, sf_span span)
{
    if (span.start_ns < span.stop_ns && !is_own(in, span)) {
        in->recording->recorded = span;
        in->recording->declared = true;
    }
}

static int take_header_span(reading *in)
{
    sf_span span;
    if (!in->nex.has_span) return SF_OK;
    if (in->nex.end < in->nex.begin || !sf_samples_to_ns(in->nex.begin, in->rate_hz, &span.start_ns) ||
        !sf_samples_to_ns(in->nex.end, in->rate_hz, &span.stop_ns))
        return sf_reader_disbelieve(in->recording, "the header of the file", in->error);
    declare(in, span);
    return SF_OK;
}

/* Converts the intervals of AllFile, in sequence; their ends are inclusive. */
static bool take_spans(reading *in, sf_span *spans, const int64_t *starts, const int64_t *ends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ends[i] < starts[i] || (i > 0 && starts[i] <= ends[i - 1]) ||
            !sf_samples_to_ns(starts[i], in->rate_hz, &spans[i].start_ns) ||
            !sf_samples_to_ns(ends[i], in->rate_hz, &spans[i].stop_ns))
            return false;
    if (count == 1) declare(in, spans[0]);
    for (size_t i = 0; count > 1 && i < count; i++)
        spans[i].stop_ns++;
    return true;
}

static int take_all_file(reading *in, const sf_nex_variable *of)
{
    size_t count = (size_t)of->count;
    int64_t *times = sf_resize(NULL, count, 2 * sizeof *times); /* all starts, then all ends */
    sf_span *spans = sf_alloc(count, sizeof *spans);
    int status = times != NULL && spans != NULL ? SF_OK : sf_fail_memory(in->error);
    if (status == SF_OK)
        status = sf_nex_read_times(times, &in->nex, of->offset, of->width, 2 * count, in->error);
    bool believed = status == SF_OK && take_spans(in, spans, times, times + count, count);
    if (status == SF_OK && !believed)
        status = sf_reader_disbelieve(in->recording, "its variable " ALL_FILE, in->error);
    if (believed && count > 1) {
        in->recording->recorded = (sf_span){spans[0].start_ns, spans[count - 1].stop_ns};
        in->recording->declared = true;
        in->recording->observed = spans;
        in->recording->observed_count = count;
        spans = NULL;
    }
    sf_free(times);
    sf_free(spans);
    return status;
}

static int take_recorded(reading *in)
{
    for (size_t i = 0; i < in->nex.count; i++)
        if (is_all_file(&in->nex.variables[i]) && in->nex.variables[i].count > 0)
            return take_all_file(in, &in->nex.variables[i]);
    return take_header_span(in);
}

/* ---- what is left out ---- */

/* Describes the variables of a type, such as "2 continuous variables (FP01, FP02)". */
static void say_type(sf_text *to, const sf_nex *nex, int32_t type, const char *one, const char *several)
{
    size_t count = 0, cut = 0, named = 0;
    for (size_t i = 0; i < nex->count; i++) {
        count += nex->variables[i].type == type;
        cut += nex->variables[i].type == type && !nex->variables[i].is_whole;
    }
    if (count == 0) return;
    sf_text_printf(to, "%s%zu %s (", to->length > 0 ? "; " : "", count, count > 1 ? several : one);
    for (size_t i = 0; i < nex->count && named < MOST_NAMED; i++)
        if (nex->variables[i].type == type)
            sf_text_printf(to, "%s%s", named++ > 0 ? ", " : "", nex->variables[i].name);
    if (count > named) sf_text_printf(to, " and %zu more", count - named);
    sf_text_printf(to, ")");
    if (cut > 0) sf_text_printf(to, ", %zu of them cut off with the file", cut);
}

static void say_others(sf_text *to, const sf_nex *nex)
{
    size_t unknown = 0;
    say_type(to, nex, SF_NEX_CONTINUOUS, "continuous variable", "continuous variables");
    say_type(to, nex, SF_NEX_POPULATION_VECTOR, "population vector", "population vectors");
    for (size_t i = 0; i < nex->count; i++)
        unknown += nex->variables[i].type < 0 || nex->variables[i].type >= SF_NEX_TYPES;
    if (unknown > 0)
        sf_text_printf(to, "%s%zu variable%s of a type that is not known", to->length > 0 ? "; " : "",
                       unknown, unknown > 1 ? "s" : "");
}

static int tell_left_out(reading *in)
{
    char told[256];
    int status = SF_OK;
    say_others(&in->said, &in->nex);
    if (in->said.failed) return sf_fail_memory(in->error);
    if (in->said.length > 0)
        status = sf_recording_set_metadata(in->recording, "left_out", in->said.data, in->error);
    snprintf(told, sizeof told, "%" PRIu64 " variable%s left out: %s spikes are those of others",
             in->waves_left_out, in->waves_left_out > 1 ? "s are" : " is",
             in->waves_left_out > 1 ? "their" : "its");
    if (status == SF_OK && in->waves_left_out > 0)
        status = sf_recording_set_metadata(in->recording, "waveforms", told, in->error);
    snprintf(told, sizeof told, "damaged, so that wires, units and positions are not known: %s",
             in->nex.trouble);
    if (status == SF_OK && in->nex.trouble[0] != '\0')
        status = sf_recording_set_metadata(in->recording, "json", told, in->error);
    return status;
}

static int tell_order(reading *in)
{
    char told[256];
    if (in->back == 0) return SF_OK;
    snprintf(told, sizeof told,
             "%" PRIu64
             " timestamp%s earlier than the one before, first in '%.64s': spikes were put in order",
             in->back, in->back > 1 ? "s are" : " is", in->first_back->name);
    return sf_recording_set_metadata(in->recording, "order", told, in->error);
}

static int refuse_nothing(reading *in)
{
    say_type(&in->said, &in->nex, SF_NEX_EVENT, "event variable", "event variables");
    say_type(&in->said, &in->nex, SF_NEX_INTERVAL, "interval variable", "interval variables");
    say_type(&in->said, &in->nex, SF_NEX_MARKER, "marker variable", "marker variables");
    say_others(&in->said, &in->nex);
    if (in->said.failed) return sf_fail_memory(in->error);
    return sf_fail(in->error, SF_DATA, in->nex.path,
                   "no spike times: this NeuroExplorer file holds %s; expected neurons or waveforms",
                   in->said.length > 0 ? in->said.data : "no variables");
}

/* ---- the whole ---- */

static int tell_file(reading *in)
{
    int status = sf_reader_set_format(in->recording, in->error, "NeuroExplorer %s, version %" PRId32,
                                      in->nex.is_nex5 ? ".nex5" : ".nex", in->nex.version);
    if (status == SF_OK && in->nex.comment[0] != '\0')
        status = sf_recording_set_metadata(in->recording, "comment", in->nex.comment, in->error);
    return status == SF_OK ? sf_reader_metadata_real(in->recording, "sampling_rate", in->rate_hz, in->error)
                           : status;
}

static int read_opened(reading *in, double given_hz)
{
    in->rate_hz = in->nex.rate_hz;
    int status = sf_reader_check_rate(&in->rate_hz, given_hz, in->nex.path,
                                      "the timestamp frequency in its header", in->error);
    if (status != SF_OK) return status;
    in->recording->tick_ns = llround(1e9 / in->rate_hz);
    status = add_units(in);
    if (status == SF_OK && in->recording->units.count == 0) status = refuse_nothing(in);
    if (status == SF_OK) status = add_all_markers(in);
    if (status == SF_OK) status = take_recorded(in);
    if (status == SF_OK) status = tell_left_out(in);
    if (status == SF_OK) status = tell_order(in);
    return status == SF_OK ? tell_file(in) : status;
}

static int read_file(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    reading in = {.recording = recording, .error = error};
    int status = sf_nex_open(&in.nex, path, error);
    if (status == SF_OK) status = read_opened(&in, how->rate_hz);
    sf_free(in.trains);
    sf_free((void *)in.by_name);
    sf_free((void *)in.by_number);
    sf_text_free(&in.said);
    sf_nex_close(&in.nex);
    return status;
}

const sf_folder_reader sf_folder_nex = {.recognises = sf_nex_has_signature, .read = read_file};
