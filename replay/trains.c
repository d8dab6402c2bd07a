/* SPDX-License-Identifier: Apache-2.0 */
/* Spikes as layouts store them: trains in seconds, concatenated, or samples with the unit of each. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_SECONDS 4.6e9 /* within SF_TIME_LIMIT_NS */

enum { BLOCK = 4096, ROWS_BLOCK = 65536, FEW = 128 /* rows that are read as fast as one */ };

static int refuse_order(const sf_trains_in_seconds *trains, sf_error *error)
{
    return sf_fail(error, SF_DATA, trains->path,
                   "its spikes are not in the order of time: such a file is not read in pieces");
}

static int refuse_time(double seconds, const sf_trains_in_seconds *trains, size_t train, size_t at,
                       sf_error *error)
{
    size_t begin = train > 0 ? trains->ends[train - 1] : 0;
    const char *problem = isnan(seconds)      ? "not a number"
                          : seconds >= 0x1p63 ? "out of range, as a negative number stored unsigned is"
                          : !(fabs(seconds) < MOST_SECONDS) ? "out of range (146 years)"
                                                            : /* the remaining reason */ "negative";
    return sf_fail(error, SF_DATA, trains->path,
                   "damaged: spike %zu of unit '%s' (#%zu) is at %g s, which is %s", at - begin,
                   trains->units->items[train].name, train, seconds, problem);
}

static int take_time(int64_t *time_ns, double seconds, const sf_trains_in_seconds *trains, size_t train,
                     size_t at, sf_error *error)
{
    double least = trains->negative_times ? -MOST_SECONDS : 0;
    if (!(seconds >= least && seconds < MOST_SECONDS)) /* so that NaN is refused */
        return refuse_time(seconds, trains, train, at, error);
    *time_ns = sf_seconds_to_ns(seconds);
    return SF_OK;
}

/* Appends rows first .. last - 1 of all trains; `seconds` holds their times. */
static int take_values(sf_recording *recording, const sf_trains_in_seconds *trains, const double *seconds,
                       size_t first, size_t last, sf_error *error)
{
    for (size_t train = 0, i = first; train < trains->count; train++) {
        for (; i < last && i < trains->ends[train]; i++) {
            sf_spike *spike = &recording->spikes[recording->spike_count];
            *spike = (sf_spike){.unit = (uint32_t)train, .amplitude = NAN};
            int status = take_time(&spike->time_ns, seconds[i - first], trains, train, i, error);
            if (status != SF_OK) return status;
            recording->spike_count++;
        }
    }
    return SF_OK;
}

/* ---- of a file, without reading all of it ---- */

int sf_train_times_open(sf_trains_in_seconds *trains, hid_t at, const char *path, const sf_hdf_input *input,
                        size_t *length, sf_error *error)
{
    size_t size[2];
    *trains = (sf_trains_in_seconds){.column = H5I_INVALID_HID, .name = path, .path = input->path};
    if (input->only_part || sf_hdf_shape(at, path, size) == 1) {
        trains->column = sf_hdf_open_column(at, path, input->path, length, error);
        trains->input = input;
        return trains->column >= 0 ? SF_OK : SF_DATA;
    }
    void *seconds;
    int status = sf_hdf_read(at, path, input->path, H5T_NATIVE_DOUBLE, sizeof *trains->seconds, &seconds,
                             length, error);
    trains->seconds = status == SF_OK ? seconds : NULL;
    return status;
}

void sf_train_times_close(sf_trains_in_seconds *trains)
{
    sf_free((double *)(uintptr_t)trains->seconds);
    if (trains->input != NULL) sf_hdf_close(trains->column);
    *trains = (sf_trains_in_seconds){0};
}

static int read_column(void *seconds, const sf_trains_in_seconds *trains, size_t first, size_t count,
                       sf_error *error)
{
    if (count == 0 || sf_hdf_read_rows(trains->column, H5T_NATIVE_DOUBLE, first, count, seconds))
        return SF_OK;
    if (first == 0) return sf_hdf_fail(error, SF_DATA, trains->path, "%s cannot be read", trains->name);
    return sf_hdf_fail(error, SF_DATA, trains->path,
                       "damaged: spike time %zu and those after it cannot be read", first);
}

/* Reads rows first .. first + count - 1 of all trains as nanoseconds; refuses invalid times. */
static int read_times(int64_t *times_ns, const sf_trains_in_seconds *trains, size_t train, size_t first,
                      size_t count, sf_error *error)
{
    double seconds;
    _Static_assert(sizeof seconds == sizeof *times_ns, "each time takes the place of its seconds");
    int status = read_column(times_ns, trains, first, count, error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        memcpy(&seconds, &times_ns[i], sizeof seconds);
        status = take_time(&times_ns[i], seconds, trains, train, first + i, error);
    }
    return status;
}

/* ---- where a part of the stream begins ----
 *
 * The stream is the spikes of all trains together, ordered by time and unit; a part is a range of it. A
 * search finds where the part begins in each train by reading few of its rows, so that only the part itself
 * is read. */

/* For each train, the number of rows before two times: `low` before `low_ns`, `high` before `high_ns`. */
typedef struct bracket {
    int64_t low_ns, high_ns;
    size_t *low, *high, *middle;
    size_t all_low, all_high;
} bracket;

static size_t begin_of(const sf_trains_in_seconds *trains, size_t train)
{
    return train > 0 ? trains->ends[train - 1] : 0;
}

/* Interpolates linearly, as if spikes were evenly spread. */
static uint64_t between(uint64_t length, uint64_t share, uint64_t whole)
{
    return whole > 0 ? (uint64_t)((unsigned __int128)length * share / whole) : length / 2;
}

/* Number of spikes of the train before `time_ns`: alternates interpolation and bisection, because trains need
 * not be even. */
static int count_before(size_t *count, size_t train, int64_t time_ns, const bracket *b,
                        const sf_trains_in_seconds *trains, sf_error *error)
{
    size_t low = b->low[train], high = b->high[train], begin = begin_of(trains, train);
    int64_t low_ns = b->low_ns, high_ns = b->high_ns, times[FEW];
    for (bool halve = false; high - low > FEW; halve = !halve) {
        uint64_t share = (uint64_t)time_ns - (uint64_t)low_ns, whole = (uint64_t)high_ns - (uint64_t)low_ns;
        size_t at = low + (halve || share >= whole ? (high - low) / 2 : between(high - low, share, whole));
        int status = read_times(times, trains, train, begin + at, 1, error);
        if (status != SF_OK) return status;
        if (times[0] < time_ns) {
            low = at + 1;
            low_ns = times[0] > low_ns ? times[0] : low_ns;
        } else {
            high = at;
            high_ns = times[0] < high_ns ? times[0] : high_ns;
        }
    }
    int status = read_times(times, trains, train, begin + low, high - low, error);
    size_t few = 0;
    while (status == SF_OK && few < high - low && times[few] < time_ns)
        few++;
    *count = low + few;
    return status;
}

/* The first and the last spike of all. */
static int find_ends(bracket *b, const sf_trains_in_seconds *trains, sf_error *error)
{
    bool any = false;
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < trains->count; i++) {
        size_t begin = begin_of(trains, i), end = trains->ends[i];
        int64_t first, last;
        if (begin == end) continue;
        status = read_times(&first, trains, i, begin, 1, error);
        if (status == SF_OK) status = read_times(&last, trains, i, end - 1, 1, error);
        if (status == SF_OK) {
            b->low_ns = !any || first < b->low_ns ? first : b->low_ns;
            b->high_ns = !any || last >= b->high_ns ? last + 1 : b->high_ns;
            any = true;
        }
        b->high[i] = end - begin;
    }
    b->all_high = trains->count > 0 ? trains->ends[trains->count - 1] : 0;
    return status;
}

static int count_all_before(bracket *b, size_t *all, int64_t time_ns, const sf_trains_in_seconds *trains,
                            sf_error *error)
{
    int status = SF_OK;
    *all = 0;
    for (size_t i = 0; status == SF_OK && i < trains->count; i++) {
        b->middle[i] = b->low[i];
        if (b->low[i] < b->high[i]) status = count_before(&b->middle[i], i, time_ns, b, trains, error);
        *all += b->middle[i];
    }
    return status;
}

static void swap(size_t **a, size_t **b)
{
    size_t *was = *a;
    *a = *b;
    *b = was;
}

/* Narrows until at most `row` spikes are before the lower time, and more than that not after it. */
static int narrow(bracket *b, size_t row, const sf_trains_in_seconds *trains, sf_error *error)
{
    int status = SF_OK;
    for (bool halve = false; status == SF_OK && b->all_low < row && b->high_ns - b->low_ns > 1;
         halve = !halve) {
        uint64_t length = (uint64_t)(b->high_ns - b->low_ns);
        uint64_t share = halve ? length / 2 : between(length, row - b->all_low, b->all_high - b->all_low);
        int64_t middle_ns = b->low_ns + (int64_t)(share < 1 ? 1 : share >= length ? length - 1 : share);
        size_t all;
        status = count_all_before(b, &all, middle_ns, trains, error);
        if (status == SF_OK && all <= row) {
            swap(&b->low, &b->middle);
            b->low_ns = middle_ns;
            b->all_low = all;
        } else if (status == SF_OK) {
            swap(&b->high, &b->middle);
            b->high_ns = middle_ns;
            b->all_high = all;
        }
    }
    return status;
}

/* Among spikes at the same time, takes units in order. */
static void take_first_units(size_t *begins, const bracket *b, size_t row, size_t count)
{
    size_t missing = row > b->all_low ? row - b->all_low : 0;
    for (size_t i = 0; i < count; i++) {
        size_t there = b->high[i] > b->low[i] ? b->high[i] - b->low[i] : 0;
        size_t taken = there < missing ? there : missing;
        begins[i] = b->low[i] + taken;
        missing -= taken;
    }
}

/* Sets begins[i] to how many of the first `row` spikes of the stream belong to train i. For trains that do
 * not ascend the result is meaningless; take_between checks the ends. */
static int stretch_begins(size_t *begins, size_t row, const sf_trains_in_seconds *trains, sf_error *error)
{
    size_t count = trains->count;
    size_t *places = sf_alloc(count, 3 * sizeof *places);
    if (places == NULL) return sf_fail_memory(error);
    bracket b = {.low = places, .high = places + count, .middle = places + 2 * count};
    int status = row > 0 ? find_ends(&b, trains, error) : SF_OK;
    if (status == SF_OK && row > 0 && row < b.all_high) status = narrow(&b, row, trains, error);
    if (status == SF_OK) take_first_units(begins, &b, row, count);
    sf_free(places);
    return status;
}

/* ---- taking ---- */

/* Reads rows in file order, in blocks, because their seconds are not needed afterwards. */
static int take_rows(sf_recording *recording, const sf_trains_in_seconds *trains, size_t first, size_t last,
                     sf_error *error)
{
    double *block = sf_resize(NULL, ROWS_BLOCK, sizeof *block);
    int status = block != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t at = first, count; at < last && status == SF_OK; at += count) {
        count = last - at < ROWS_BLOCK ? last - at : ROWS_BLOCK;
        status = read_column(block, trains, at, count, error);
        if (status == SF_OK) status = take_values(recording, trains, block, at, at + count, error);
    }
    sf_free(block);
    return status;
}

/* Reads, of each train, the rows from `begins` to `ends`. */
static int take_between(sf_recording *recording, const sf_trains_in_seconds *trains, const size_t *begins,
                        const size_t *ends, size_t most, sf_error *error)
{
    int64_t block[BLOCK];
    int status = SF_OK;
    for (size_t train = 0; status == SF_OK && train < trains->count; train++) {
        size_t origin = train > 0 ? trains->ends[train - 1] : 0;
        if (ends[train] < begins[train] || ends[train] - begins[train] > most - recording->spike_count)
            return refuse_order(trains, error);
        for (size_t at = begins[train], count; status == SF_OK && at < ends[train]; at += count) {
            count = ends[train] - at < BLOCK ? ends[train] - at : BLOCK;
            status = read_times(block, trains, train, origin + at, count, error);
            for (size_t i = 0; status == SF_OK && i < count; i++)
                recording->spikes[recording->spike_count++] =
                    (sf_spike){.time_ns = block[i], .unit = (uint32_t)train, .amplitude = NAN};
        }
    }
    return status == SF_OK && recording->spike_count < most ? refuse_order(trains, error) : status;
}

/* Reads a part of the stream: exactly the spikes it would have if all were read and sorted. */
static int take_stretch(sf_recording *recording, const sf_trains_in_seconds *trains, size_t first,
                        size_t last, sf_error *error)
{
    size_t *begins = sf_alloc(trains->count, 2 * sizeof *begins);
    size_t *ends = begins != NULL ? begins + trains->count : NULL;
    int status = begins != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = stretch_begins(begins, first, trains, error);
    if (status == SF_OK) status = stretch_begins(ends, last, trains, error);
    if (status == SF_OK) status = take_between(recording, trains, begins, ends, last - first, error);
    sf_free(begins);
    return status;
}

int sf_trains_take(sf_recording *recording, const sf_trains_in_seconds *trains, sf_error *error)
{
    size_t rows = trains->count > 0 ? trains->ends[trains->count - 1] : 0, first = 0, last = rows;
    const sf_hdf_input *input = trains->input;
    if (input != NULL && input->parts > 0) {
        unsigned __int128 all = rows;
        first = (size_t)(all * input->part / input->parts);
        last = (size_t)(all * ((uint64_t)input->part + 1) / input->parts);
        recording->is_part = true;
        recording->file_spikes = rows;
    }
    recording->spikes = sf_resize(NULL, last - first, sizeof *recording->spikes);
    if (recording->spikes == NULL) return sf_fail_memory(error);
    if (input == NULL) return take_values(recording, trains, trains->seconds, first, last, error);
    return input->only_part ? take_stretch(recording, trains, first, last, error)
                            : take_rows(recording, trains, first, last, error);
}

/* ---- samples ---- */

/* A 64-bit mantissa holds the product of samples and 1e9 exactly up to 9e12 samples. */
bool sf_samples_to_ns(int64_t samples, double rate_hz, int64_t *time_ns)
{
    long double ns = roundl((long double)samples * 1e9L / (long double)rate_hz);
    bool fits = fabsl(ns) < (long double)MOST_SECONDS * 1e9L;
    *time_ns = fits ? (int64_t)ns : 0;
    return fits;
}

/* An unsigned counter stores -12 as 2^64 - 12, which does not fit, or as 2^32 - 12, far beyond the others. */
static int refuse_unsigned(const sf_spikes_in_samples *spikes, const char *path, sf_error *error)
{
    const int64_t end = INT64_C(1) << 32, span = INT64_C(1) << 20;
    size_t found = spikes->count, others = 0;
    for (size_t i = 0; i < spikes->count; i++) {
        if (spikes->samples[i] == INT64_MAX)
            return sf_fail(
                error, SF_DATA, path,
                "damaged: spike %zu is at a sample of 2^63 or more, as a negative one stored unsigned is", i);
        bool beyond = spikes->samples[i] >= end - span && spikes->samples[i] < end;
        found = beyond && found == spikes->count ? i : found;
        others += !beyond && (spikes->samples[i] >= end / 2 || spikes->samples[i] < 0);
    }
    if (found == spikes->count || others > 0 || spikes->first != 0) return SF_OK;
    return sf_fail(error, SF_DATA, path,
                   "damaged: spike %zu is at sample %" PRId64 ", which is %" PRId64
                   " stored unsigned, before the recording began",
                   found, spikes->samples[found], spikes->samples[found] - end);
}

int sf_samples_take(sf_recording *recording, const sf_spikes_in_samples *spikes, const char *path,
                    sf_error *error)
{
    recording->spikes = sf_resize(NULL, spikes->count, sizeof *recording->spikes);
    if (recording->spikes == NULL) return sf_fail_memory(error);
    uint64_t unmapped = 0, early = 0;
    int status = refuse_unsigned(spikes, path, error);
    if (status != SF_OK) return status;
    recording->tick_ns = spikes->finer ? 0 : llround(1e9 / spikes->rate_hz);
    for (size_t i = 0; i < spikes->count; i++) {
        sf_spike *spike = &recording->spikes[recording->spike_count];
        int64_t sample;
        *spike = (sf_spike){.unit = spikes->units[i],
                            .amplitude = spikes->amplitudes != NULL ? spikes->amplitudes[i] : NAN};
        if (__builtin_sub_overflow(spikes->samples[i], spikes->first, &sample) ||
            !sf_samples_to_ns(sample, spikes->rate_hz, &spike->time_ns))
            return sf_fail(error, SF_DATA, path,
                           "damaged: spike %zu is at sample %" PRId64 ", which at %g Hz is beyond 146 years",
                           i, spikes->samples[i], spikes->rate_hz);
        if (spikes->from_first && sample < 0)
            early++;
        else if (spike->unit == SF_NO_UNIT)
            unmapped++;
        else
            recording->spike_count++;
    }
    if (early > 0) sf_recording_drop(recording, "before the first recorded sample", early);
    if (unmapped > 0) sf_recording_drop(recording, "on channels that are not in the map", unmapped);
    return SF_OK;
}
