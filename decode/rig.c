/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/rig.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/little.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "window/continuity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEARN_S 5.0
#define LEAST_HZ 1.0
#define MOST_HZ 1e9
#define ALONE (SF_CONTINUITY_FRAMES + 1) /* batches that a stream is believed by */
#define CLOCKS_DIFFER 1e-3               /* rates that differ by less are nominally the same */
#define BACK_SAMPLES 1000                /* replaces SF_RIG_BACK_NS while the rate is unknown */

/* ---- time ---- */

/* False beyond the limit of times. */
static bool time_of(const sf_rig *rig, int64_t sample, int64_t *time_ns)
{
    __extension__ typedef __int128 wide;
    wide scaled = (wide)sample * 1000000000000000, rate = (wide)rig->rate_uhz;
    wide rounded = (scaled + (scaled < 0 ? -rate / 2 : rate / 2)) / rate;
    *time_ns = (int64_t)rounded;
    return rounded > -SF_TIME_LIMIT_NS && rounded < SF_TIME_LIMIT_NS;
}

/* Time of a sample; the sample itself as long as the rate is unknown. */
static bool place_of(sf_rig *rig, int64_t sample, int64_t *place)
{
    *place = sample;
    if (rig->rate_uhz == 0 ? sample > -SF_TIME_LIMIT_NS && sample < SF_TIME_LIMIT_NS
                           : time_of(rig, sample, place))
        return true;
    sf_decoder_leave_out(&rig->decoder, "sample %" PRId64 " is beyond 146 years", sample);
    return false;
}

static void convert(const sf_rig *rig, int64_t *place)
{
    if (!time_of(rig, *place, place)) *place = *place < 0 ? -SF_TIME_LIMIT_NS + 1 : SF_TIME_LIMIT_NS - 1;
}

/* Converts spikes and markers kept in samples to times. */
static void convert_kept(sf_rig *rig)
{
    for (size_t i = 0; i < rig->spike_count; i++)
        convert(rig, &rig->spikes[i].time_ns);
    for (size_t i = 0; i < rig->marker_count; i++)
        convert(rig, &rig->markers[i].time_ns);
    if (rig->clock != INT64_MIN) convert(rig, &rig->clock);
    convert(rig, &rig->first);
    convert(rig, &rig->last);
    convert(rig, &rig->learnt);
    convert(rig, &rig->furthest);
    if (rig->before != INT64_MIN) convert(rig, &rig->before);
}

int64_t sf_rig_count_on(sf_rig_counter *counter, uint64_t low, unsigned bits)
{
    unsigned unsent = 64 - bits;
    int64_t step = (int64_t)((low - (uint64_t)counter->value) << unsent) >> unsent;
    counter->value = counter->has_value ? (int64_t)((uint64_t)counter->value + (uint64_t)step) : (int64_t)low;
    counter->has_value = true;
    return counter->value;
}

bool sf_rig_set_rate(sf_rig *rig, double hz)
{
    if (!(hz >= LEAST_HZ && hz <= MOST_HZ)) {
        sf_decoder_leave_out(&rig->decoder, "a sampling rate of %g Hz", hz);
        return false;
    }
    if (rig->rate_uhz != 0) return true;
    rig->rate_uhz = (uint64_t)llround(hz * 1e6);
    convert_kept(rig);
    return true;
}

bool sf_rig_hear_rate(sf_rig *rig, double hz)
{
    if (!sf_rig_set_rate(rig, hz)) return false;
    bool is_given = rig->decoder.given.sample_rate_hz != 0;
    double used = (double)rig->rate_uhz * 1e-6;
    if (fabs(hz - used) > used * CLOCKS_DIFFER && hz != rig->told_hz)
        sf_log(SF_LOG_WARNING,
               "%s: the rig says that it samples at %.10g Hz, and its samples are read at %.10g Hz, %s",
               rig->decoder.name, hz, used,
               is_given ? "which was given: is sample_rate_hz wrong?"
                        : "which it said at first: start the run again");
    rig->told_hz = hz;
    return true;
}

/* Marks that later data does not continue from earlier data. */
static void break_off(sf_rig *rig)
{
    if (rig->is_anything) rig->learnt = sf_time_plus(rig->learnt, rig->last - rig->first);
    rig->is_anything = false;
    rig->clock = rig->before = INT64_MIN;
    rig->broke = true;
}

static void note_time(sf_rig *rig, int64_t place)
{
    if (!rig->is_anything || place < rig->first) rig->first = place;
    if (!rig->is_anything || place > rig->last) rig->last = place;
    rig->is_anything = true;
}

/* Records a time of this message; no later data is before `settled`. Times within one message may be in any
 * order. */
static void follow_time(sf_rig *rig, int64_t place, int64_t settled)
{
    int64_t back = rig->rate_uhz == 0 ? BACK_SAMPLES : SF_RIG_BACK_NS;
    if (place < sf_time_plus(rig->before, -back)) break_off(rig);
    if (!rig->is_anything || settled > rig->furthest) rig->furthest = settled;
    note_time(rig, place);
}

/* ---- units ---- */

static double learn_s(const sf_rig *rig)
{
    return rig->decoder.given.learn_s > 0 ? rig->decoder.given.learn_s : LEARN_S;
}

/* Logs the name and the remedy the first time; all occurrences are counted. */
static void tell_slow(sf_rig *rig, const char *name)
{
    if (!rig->decoder.learns || rig->slow_was_told) return;
    rig->slow_was_told = true;
    sf_log(
        SF_LOG_WARNING,
        "%s: '%s' is heard of for the first time after the %g s in which electrodes were learnt, and is left "
        "out, as others that are slow to fire will be: set learn_s to more, or electrodes to a file",
        rig->decoder.name, name, learn_s(rig));
}

int sf_rig_find(sf_rig *rig, const char *name, int32_t channel, uint32_t *unit, sf_error *error)
{
    sf_decoder *decoder = &rig->decoder;
    const sf_decoder_given *given = &decoder->given;
    sf_units *units = &decoder->about.units;
    int status = SF_OK;
    sf_rig_hear(rig);
    *unit = sf_units_find(units, name);
    if (*unit == SF_NO_UNIT && channel >= 0 && (size_t)channel < given->channels)
        *unit = given->of_channel[channel];
    else if (*unit == SF_NO_UNIT && !decoder->is_known && !given->has_units &&
             units->count < SF_RIG_MOST_UNITS)
        status = sf_units_intern(units, name, unit, error);
    if (status == SF_OK && *unit == SF_NO_UNIT) {
        decoder->batch.out_of_range++;
        tell_slow(rig, name);
    }
    return status;
}

/* "Electrode 12" is the twelfth, number 11 among given units. */
static int32_t number_of(const char *name)
{
    size_t end = strlen(name), begin = end;
    uint64_t number;
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9')
        begin--;
    bool known = begin < end && sf_parse_uint(name + begin, SF_DECODER_MOST_CHANNELS, &number) && number > 0;
    return known ? (int32_t)(number - 1) : -1;
}

/* "Electrode 1" and "Tetrode 1" have the same number, and would silently become one unit. */
static int find_numbered(sf_rig *rig, const char *name, uint32_t *unit, sf_error *error)
{
    const sf_decoder_given *given = &rig->decoder.given;
    int32_t number = number_of(name);
    bool is_by_number = number >= 0 && (size_t)number < given->channels && !rig->shared_was_told &&
                        sf_units_find(&rig->decoder.about.units, name) == SF_NO_UNIT;
    if (is_by_number && rig->number_names == NULL &&
        (rig->number_names = sf_alloc(given->channels, sizeof *rig->number_names)) == NULL)
        return sf_fail_memory(error);
    if (is_by_number) {
        uint64_t *known = &rig->number_names[number],
                 hash = sf_hash_bytes(SF_HASH_START, name, strlen(name)) | 1;
        rig->shared_was_told = *known != 0 && *known != hash;
        *known = hash;
    }
    if (is_by_number && rig->shared_was_told)
        sf_log(SF_LOG_WARNING,
               "%s: several electrodes have the number %d in the file of electrodes, '%s' and others: they "
               "are one unit; "
               "give its units the names of the electrodes",
               rig->decoder.name, number, name);
    return sf_rig_find(rig, name, number, unit, error);
}

int sf_rig_find_electrode(sf_rig *rig, const char *name, int64_t sorted_id, uint32_t *unit, sf_error *error)
{
    char sorted[160];
    if (sorted_id <= 0) return find_numbered(rig, name, unit, error);
    snprintf(sorted, sizeof sorted, "%s:%" PRId64, name, sorted_id);
    *unit = sf_units_find(&rig->decoder.about.units, sorted);
    if (*unit != SF_NO_UNIT) return SF_OK;
    return rig->decoder.given.has_units ? find_numbered(rig, name, unit, error)
                                        : sf_rig_find(rig, sorted, -1, unit, error);
}

/* ---- what is kept ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* If the clock went back before this data, no later data is sorted in before this point. */
static int set_seam(sf_rig *rig, sf_error *error)
{
    const sf_rig_seam *last = rig->seam_count > 0 ? &rig->seams[rig->seam_count - 1] : NULL;
    int64_t now_ns = rig->decoder.is_known ? 0 : sf_clock_monotonic_ns();
    bool is_later = now_ns != 0 && (last == NULL || now_ns - last->arrival_ns >= SF_RIG_STEP_NS);
    if (!rig->broke && !is_later) return SF_OK;
    if (sf_reserve(&rig->seams, &rig->seam_capacity, rig->seam_count + 1, sizeof *rig->seams) != 0)
        return sf_fail_memory(error);
    rig->seams[rig->seam_count++] =
        (sf_rig_seam){rig->spike_count, rig->marker_count, rig->broke, rig->restarts, now_ns};
    if (rig->broke) {
        rig->back_spikes = rig->spike_count;
        rig->back_markers = rig->marker_count;
    }
    rig->broke = false;
    rig->restarts = 0;
    return SF_OK;
}

/* Moves the seams behind a spike or marker that was inserted before them. */
static void move_seams(sf_rig *rig, size_t spike, size_t marker)
{
    for (size_t i = rig->seam_count; i > rig->seams_given; i--) {
        sf_rig_seam *seam = &rig->seams[i - 1];
        if (seam->spikes <= spike && seam->markers <= marker) return;
        seam->spikes += seam->spikes > spike;
        seam->markers += seam->markers > marker;
    }
}

/* Before what came at this place is kept. */
static int join_stream(sf_rig *rig, int64_t place, sf_error *error)
{
    follow_time(rig, place, place);
    return set_seam(rig, error);
}

int sf_rig_spike(sf_rig *rig, uint32_t unit, int64_t sample, float amplitude, sf_error *error)
{
    int64_t place;
    sf_rig_hear(rig);
    if (!place_of(rig, sample, &place)) return SF_OK;
    if (sf_reserve(&rig->spikes, &rig->spike_capacity, rig->spike_count + 1, sizeof *rig->spikes) != 0)
        return sf_fail_memory(error);
    int status = join_stream(rig, place, error);
    if (status != SF_OK) return status;
    size_t at = rig->spike_count++, from = larger(rig->spikes_given, rig->back_spikes);
    for (; at > from && rig->spikes[at - 1].time_ns > place; at--)
        rig->spikes[at] = rig->spikes[at - 1];
    rig->spikes[at] = (sf_spike){.time_ns = place, .unit = unit, .amplitude = amplitude};
    move_seams(rig, at, SIZE_MAX);
    return SF_OK;
}

float sf_rig_amplitude(const void *samples, size_t bytes, sf_rig_samples are)
{
    const unsigned char *begin = samples;
    size_t size = are == SF_RIG_FLOAT32 ? 4 : 2;
    float trough = NAN, peak = NAN;
    for (size_t at = 0; at + size <= bytes; at += size) {
        float sample =
            are == SF_RIG_FLOAT32 ? sf_little_single(begin + at) : (float)(int16_t)sf_little_16(begin + at);
        if (isfinite(sample)) {
            trough = fminf(trough, sample);
            peak = fmaxf(peak, sample);
        }
    }
    return trough < 0 ? trough : peak;
}

static int keep_marker(sf_rig *rig, int64_t sample, const sf_marker *marker, sf_error *error)
{
    int64_t place;
    sf_rig_hear(rig);
    if (!place_of(rig, sample, &place)) return SF_OK;
    if (sf_reserve(&rig->markers, &rig->marker_capacity, rig->marker_count + 1, sizeof *rig->markers) != 0)
        return sf_fail_memory(error);
    int status = join_stream(rig, place, error);
    if (status != SF_OK) return status;
    size_t at = rig->marker_count++, from = larger(rig->markers_given, rig->back_markers);
    for (; at > from && rig->markers[at - 1].time_ns > place; at--)
        rig->markers[at] = rig->markers[at - 1];
    rig->markers[at] = *marker;
    rig->markers[at].time_ns = place;
    move_seams(rig, SIZE_MAX, at);
    return SF_OK;
}

int sf_rig_ttl(sf_rig *rig, int64_t sample, unsigned line, bool state, sf_error *error)
{
    const sf_marker marker = {.kind = SF_MARKER_TTL, .state = state ? 1 : 0, .line = (uint16_t)line};
    return keep_marker(rig, sample, &marker, error);
}

int sf_rig_text(sf_rig *rig, int64_t sample, const char *text, sf_error *error)
{
    sf_marker marker = {.kind = SF_MARKER_TEXT};
    size_t length = 0, more;
    while (text[length] != '\0' && (more = sf_utf8_length(text + length)) > 0 &&
           length + more < sizeof marker.text)
        length += more;
    memcpy(marker.text, text, length);
    return keep_marker(rig, sample, &marker, error);
}

void sf_rig_clock(sf_rig *rig, int64_t sample, int64_t behind)
{
    int64_t reached, settled;
    sf_rig_hear(rig);
    if (!place_of(rig, sample, &reached) || !place_of(rig, sample - behind, &settled)) return;
    follow_time(rig, reached, settled);
    rig->clock = settled;
}

/* ---- message numbers ---- */

bool sf_rig_begin_run(sf_rig *rig)
{
    sf_decoder *decoder = &rig->decoder;
    decoder->once_more = sf_rig_waits(rig);
    if (decoder->once_more) return false;
    if ((rig->runs & (rig->runs + 1)) == 0) /* a file that is looped does so for ever */
        sf_log(SF_LOG_WARNING, "%s: the sender started again (%" PRIu64 " so far)", decoder->name,
               rig->runs + 1);
    rig->runs++;
    *(decoder->is_known ? &decoder->batch.restarts : &rig->restarts) += 1;
    break_off(rig);
    return true;
}

bool sf_rig_follow(sf_rig *rig, int64_t number, int64_t least)
{
    sf_decoder *decoder = &rig->decoder;
    bool anew = rig->is_numbered && number >= 0 && number < rig->expected - 1;
    if (number < 0 || number == INT64_MAX || (rig->is_numbered && number == rig->expected - 1)) {
        sf_decoder_leave_out(decoder, "message %" PRId64 " was there before", number);
        return false;
    }
    if (anew && !sf_rig_begin_run(rig)) return false;
    int64_t expected = !anew ? rig->expected : number < least ? number : least;
    if (rig->is_numbered && number > expected) {
        decoder->batch.gaps++;
        decoder->batch.gap_lost += (uint64_t)number - (uint64_t)expected;
    }
    rig->is_numbered = true;
    rig->expected = number + 1;
    return true;
}

/* ---- batches ---- */

/* The spikes of one time if each batch must continue from the one before; else as many as may go together. */
static size_t spikes_that_go(const sf_rig *rig, size_t end)
{
    size_t left = end - rig->spikes_given, most = left < SF_RIG_BATCH ? left : SF_RIG_BATCH, count = 0;
    if (rig->alone == 0 || most == 0) return most;
    const sf_spike *spikes = rig->spikes + rig->spikes_given;
    while (count < most && spikes[count].time_ns == spikes[0].time_ns)
        count++;
    return count;
}

/* Markers go out with the spikes around them, and the last markers with the last spikes. */
static size_t markers_that_go(const sf_rig *rig, size_t end, int64_t until)
{
    size_t at = rig->markers_given;
    while (at < end && rig->markers[at].time_ns <= until)
        at++;
    return at - rig->markers_given;
}

/* What waited before a seam is out. */
static void pass_seams(sf_rig *rig)
{
    for (; rig->seams_given < rig->seam_count; rig->seams_given++) {
        const sf_rig_seam *next = &rig->seams[rig->seams_given];
        if (next->spikes > rig->spikes_given || next->markers > rig->markers_given) return;
        if (next->went_back) rig->alone = ALONE;
        rig->decoder.batch.restarts += next->restarts;
        rig->arrival_ns = next->arrival_ns;
    }
}

/* Fills the batch with waiting data, as far as it may go out together; the clock goes out with the last of
 * it. */
static void fill(sf_rig *rig)
{
    sf_batch *batch = &rig->decoder.batch;
    pass_seams(rig);
    bool newest = rig->seams_given == rig->seam_count;
    sf_rig_seam end = newest ? (sf_rig_seam){.spikes = rig->spike_count, .markers = rig->marker_count}
                             : rig->seams[rig->seams_given];
    rig->spikes_going = spikes_that_go(rig, end.spikes);
    size_t stop = rig->spikes_given + rig->spikes_going;
    bool last = stop == end.spikes;
    rig->markers_going = markers_that_go(rig, end.markers, last ? INT64_MAX : rig->spikes[stop - 1].time_ns);
    batch->spikes = rig->spikes != NULL ? rig->spikes + rig->spikes_given : NULL;
    batch->spike_count = rig->spikes_going;
    batch->markers = rig->markers != NULL ? rig->markers + rig->markers_given : NULL;
    batch->marker_count = rig->markers_going;
    batch->clock_ns = last && newest ? rig->clock : INT64_MIN;
    batch->heard = true;
    batch->arrival_ns = rig->arrival_ns;
}

void sf_rig_gave(sf_decoder *decoder)
{
    sf_rig *rig = (sf_rig *)decoder;
    if (!decoder->is_known) return;
    rig->alone -= rig->alone > 0 && rig->spikes_going > 0;
    rig->spikes_given += rig->spikes_going;
    rig->markers_given += rig->markers_going;
    rig->spikes_going = rig->markers_going = 0;
    decoder->is_ready = sf_rig_waits(rig);
    if (decoder->is_ready)
        fill(rig);
    else
        rig->clock = INT64_MIN;
}

void sf_rig_begin(sf_rig *rig)
{
    rig->before = rig->is_anything ? rig->furthest : INT64_MIN;
    if (!rig->decoder.is_known || sf_rig_waits(rig)) return;
    pass_seams(rig);
    rig->spikes_given = rig->spike_count = rig->markers_given = rig->marker_count = 0;
    rig->seams_given = rig->seam_count = rig->back_spikes = rig->back_markers = 0;
    rig->arrival_ns = 0;
}

static bool has_learnt(const sf_rig *rig)
{
    const sf_decoder_given *given = &rig->decoder.given;
    return given->has_units || rig->spike_count >= SF_RIG_KEPT || rig->marker_count >= SF_RIG_KEPT ||
           (double)rig->learnt * 1e-9 + (rig->is_anything ? (double)(rig->last - rig->first) * 1e-9 : 0) >=
               learn_s(rig);
}

/* Sorts learnt units by name rather than by first spike, so that a number means the same unit in the next
 * run. */
static int order_units(sf_rig *rig, sf_error *error)
{
    sf_units *units = &rig->decoder.about.units;
    uint32_t *places = sf_alloc(units->count, sizeof *places);
    int status = places != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && rig->name_units != NULL) status = rig->name_units(rig, error);
    if (status == SF_OK) status = sf_units_sort(units, places, error);
    if (status == SF_OK && rig->place_units != NULL) rig->place_units(rig, places);
    for (size_t i = 0; status == SF_OK && i < rig->spike_count; i++)
        if (rig->spikes[i].unit != SF_NO_UNIT) rig->spikes[i].unit = places[rig->spikes[i].unit];
    sf_free(places);
    return status;
}

static int make_known(sf_rig *rig, sf_error *error)
{
    sf_decoder *decoder = &rig->decoder;
    char rate[32];
    int status = SF_OK;
    if (decoder->about.path == NULL && (decoder->about.path = sf_copy_string(decoder->kind->name)) == NULL)
        status = sf_fail_memory(error);
    snprintf(rate, sizeof rate, "%.10g", (double)rig->rate_uhz * 1e-6);
    if (status == SF_OK) status = sf_recording_set_metadata(&decoder->about, "sampling_rate", rate, error);
    if (status == SF_OK && decoder->learns) status = order_units(rig, error);
    decoder->is_known = status == SF_OK;
    return status;
}

int sf_rig_end(sf_rig *rig, sf_error *error)
{
    sf_decoder *decoder = &rig->decoder;
    if (!decoder->is_known) {
        if (rig->rate_uhz == 0 && rig->spike_count >= SF_RIG_KEPT)
            return sf_fail(error, SF_DATA, decoder->name,
                           "a million spikes came and no message told the sampling rate: set sample_rate_hz");
        if (rig->rate_uhz == 0 || !has_learnt(rig)) {
            decoder->wants =
                !rig->is_anything && !rig->broke && rig->seam_count == 0 && !rig->is_numbered ? NULL
                : rig->rate_uhz == 0 ? "message with the sampling rate: set sample_rate_hz"
                                     : "more of the stream, which shows what electrodes there are: "
                                       "set learn_s, or electrodes";
            return SF_AGAIN;
        }
        int status = make_known(rig, error);
        if (status != SF_OK) return status;
    }
    fill(rig);
    bool enough = rig->spike_count - rig->spikes_given >= SF_RIG_BATCH ||
                  rig->marker_count - rig->markers_given >= SF_RIG_BATCH ||
                  (rig->alone > 0 && rig->spikes_going > 0);
    return enough || rig->seams_given < rig->seam_count ? SF_OK : SF_AGAIN;
}

int sf_rig_open(sf_decoder *decoder, sf_error *error)
{
    sf_rig *rig = (sf_rig *)decoder;
    double hz = decoder->given.sample_rate_hz;
    rig->clock = rig->before = INT64_MIN;
    rig->alone = ALONE;
    decoder->learns = !decoder->given.has_units;
    if (hz != 0 && !sf_rig_set_rate(rig, hz))
        return sf_fail(error, SF_USAGE, "sample_rate_hz", "found %g, expected %g to %g", hz, LEAST_HZ,
                       MOST_HZ);
    return SF_OK;
}

void sf_rig_close(sf_decoder *decoder)
{
    sf_rig *rig = (sf_rig *)decoder;
    sf_free(rig->spikes);
    sf_free(rig->markers);
    sf_free(rig->seams);
    sf_free(rig->number_names);
}
