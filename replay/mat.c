/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spike times in MATLAB files. In one variable that a name such as spikeTimes heads, by the words that head
 * columns of text: a cell of trains, as MEA-NAP writes it, whose elements may be structs with a train of each
 * method of detection; a struct of trains; or one vector, with another one of units beside it. Where no
 * variable is named so, each vector that ascends is a train. The unit of time is that of the name, of
 * spikeDetectionResult.params.unit, or seconds. Sit et al. 2024, Cell Reports Methods 4:100901 (MEA-NAP).
 */
#include "replay/mat.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "replay/csv_form.h"
#include "replay/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static const sf_mat_value *find(const sf_mat_value *of, const char *name)
{
    for (size_t i = 0; of != NULL && of->kind == SF_MAT_STRUCT && i < of->count; i++)
        if (strcmp(of->items[i].name, name) == 0) return &of->items[i];
    return NULL;
}

static double number_of(const sf_mat_value *value)
{
    return value != NULL && value->kind == SF_MAT_NUMBERS && value->count == 1 ? value->numbers[0] : NAN;
}

/* ---- which variables have times ---- */

static bool is_train(const sf_mat_value *value)
{
    return value->kind == SF_MAT_NUMBERS && !value->is_matrix;
}

/* Whether values ascend from 0 or later; an unnamed vector is a train only then. */
static bool ascends(const sf_mat_value *value)
{
    bool good = is_train(value) && (value->count == 0 || value->numbers[0] >= 0);
    for (size_t i = 1; good && i < value->count; i++)
        good = value->numbers[i] > value->numbers[i - 1];
    return good;
}

#define LEAST_OF_AXIS 100

/* Neurons do not fire at constant intervals: these are sample times of a signal. */
static bool is_axis(const sf_mat_value *value)
{
    double first = value->count >= LEAST_OF_AXIS ? value->numbers[1] - value->numbers[0] : 0;
    bool equal = first > 0;
    for (size_t i = 2; equal && i < value->count; i++)
        equal = fabs(value->numbers[i] - value->numbers[i - 1] - first) < 1e-3 * first;
    return equal;
}

/* How a file is read. */
typedef struct reading {
    sf_mat_value file;
    const sf_mat_value *scope; /* the variables, or the struct that holds the times */
    const sf_mat_value *times; /* NULL: each vector is a train */
    const sf_mat_value *units; /* one per time or per train, or NULL */
    const char *method;        /* of those that a cell has; or NULL */
    bool counts_samples;
    int exponent;     /* by which times become ns */
    const char *told; /* who says the unit of time */
    double rate_hz;
    const char *path;
    sf_error *error;
} reading;

static int refuse_nothing(const reading *in)
{
    sf_text names = {0};
    for (size_t i = 0; i < in->file.count && names.length < 200; i++)
        sf_text_printf(&names, "%s%.40s", i > 0 ? ", " : "", in->file.items[i].name);
    int status =
        sf_fail(in->error, names.failed ? SF_NO_MEMORY : SF_DATA, in->path,
                "no spike times: this MATLAB file holds %s; expected spikeTimes, a cell, struct or vector "
                "of times, or vectors of times that ascend and nothing else",
                names.length > 0 ? names.data : "nothing");
    sf_text_free(&names);
    return status;
}

/* Finds the only variable or field whose name denotes times. */
static int find_times(reading *in, const sf_mat_value *scope)
{
    in->scope = scope;
    in->times = NULL;
    for (size_t i = 0; i < scope->count; i++) {
        const sf_mat_value *value = &scope->items[i];
        bool may_be = sf_mat_heads_times(value->name) &&
                      (is_train(value) || value->kind == SF_MAT_CELL || value->kind == SF_MAT_STRUCT);
        if (sf_mat_heads_times(value->name) && value->kind == SF_MAT_NUMBERS && value->is_matrix)
            return sf_fail(
                in->error, SF_DATA, in->path,
                "%.40s is a matrix, and which of it is a unit is not known: expected a vector, or a cell "
                "with a vector for each unit",
                value->name);
        if (may_be && in->times != NULL)
            return sf_fail(
                in->error, SF_DATA, in->path,
                "both %.40s and %.40s may be the times of spikes: save the one that is in a file of its own",
                in->times->name, value->name);
        in->times = may_be ? value : in->times;
    }
    if (in->times != NULL && is_train(in->times) && is_axis(in->times))
        return sf_fail(in->error, SF_DATA, in->path,
                       "no spike times: %.40s ascends in equal steps, as the time axis of a signal does",
                       in->times->name);
    /* A struct may hold times and units, or a train in each field. */
    if (in->times != NULL && in->times->kind == SF_MAT_STRUCT)
        for (size_t i = 0; i < in->times->count; i++)
            if (scope == &in->file && sf_mat_heads_times(in->times->items[i].name))
                return find_times(in, in->times);
    return SF_OK;
}

/* Whose each time, or each train, is. */
static void find_units(reading *in)
{
    bool is_vector = in->times != NULL && is_train(in->times);
    for (size_t i = 0; in->times != NULL && in->times->kind != SF_MAT_STRUCT && i < in->scope->count; i++) {
        const sf_mat_value *value = &in->scope->items[i];
        if (value != in->times && is_train(value) && sf_csv_heads_units(value->name) &&
            value->count == in->times->count && (is_vector || in->units == NULL))
            in->units = value;
    }
}

/* For a cell whose elements are structs: the train of this method, if there is one. */
static const sf_mat_value *train_of(const sf_mat_value *element, const char *method)
{
    const sf_mat_value *train = method != NULL ? find(element, method) : element;
    return train != NULL && is_train(train) ? train : NULL;
}

static bool has_methods(const reading *in)
{
    for (size_t i = 0; in->times != NULL && in->times->kind == SF_MAT_CELL && i < in->times->count; i++)
        if (in->times->items[i].kind == SF_MAT_STRUCT) return true;
    return false;
}

/* ---- in what ---- */

static int refuse_scale(const reading *in, const char *said)
{
    return sf_fail(in->error, SF_DATA, in->path, "%s.params.unit is '%.20s', expected s, ms or frames",
                   SF_MAT_DETECTION, said);
}

static int find_scale(reading *in, double given_hz)
{
    const sf_mat_value *params = find(find(&in->file, SF_MAT_DETECTION), "params"),
                       *unit = find(params, "unit");
    char *names[] = {in->times != NULL ? in->times->name : (char *)(uintptr_t) ""};
    sf_csv_form form = {.exponent = 9};
    sf_error reason = {0};
    if (sf_csv_heads_times(names, 1) && sf_csv_form_of(&form, names, 1, in->path, &reason) != SF_OK)
        return sf_fail(in->error, SF_DATA, in->path, "%s", reason.text);
    in->exponent = form.exponent;
    in->counts_samples = form.counts_samples;
    in->told = form.names_scale ? "" : ", as no unit of time is named";
    if (!form.names_scale && unit != NULL && unit->kind == SF_MAT_TEXT) {
        in->told = ", as params.unit says";
        in->counts_samples = strcmp(unit->text, "frames") == 0;
        in->exponent = strcmp(unit->text, "ms") == 0 ? 6 : 9;
        if (!in->counts_samples && in->exponent == 9 && strcmp(unit->text, "s") != 0)
            return refuse_scale(in, unit->text);
    }
    if (!in->counts_samples) return given_hz > 0 ? sf_refuse_rate(in->path, in->error) : SF_OK;
    in->rate_hz = number_of(find(&in->file, "fs"));
    if (isnan(in->rate_hz)) in->rate_hz = number_of(find(params, "fs"));
    return sf_reader_check_rate(&in->rate_hz, given_hz, in->path, "fs", in->error);
}

static int open_reading(reading *in, const sf_hdf_input *input, sf_error *error)
{
    *in = (reading){.path = input->path, .error = error};
    int status = input->file >= 0 ? sf_mat_load_hdf5(&in->file, input, error)
                                  : sf_mat_load_file(&in->file, input, error);
    if (status == SF_OK) status = find_times(in, &in->file);
    if (status == SF_OK) find_units(in);
    return status;
}

/* ---- streams: methods of detection ---- */

static int add_method(sf_streams *streams, const reading *in, const char *method)
{
    uint64_t spikes = 0;
    for (size_t i = 0; i < streams->count; i++)
        if (strcmp(streams->items[i].name, method) == 0) return SF_OK;
    for (size_t i = 0; i < in->times->count; i++) {
        const sf_mat_value *train = train_of(&in->times->items[i], method);
        spikes += train != NULL ? train->count : 0;
    }
    return sf_streams_add(streams, method, spikes, in->error);
}

static int list_methods(sf_streams *streams, const sf_hdf_input *input, sf_error *error)
{
    reading in;
    int status = open_reading(&in, input, error);
    if (status == SF_OK && has_methods(&in)) streams->what = "method";
    for (size_t i = 0; status == SF_OK && streams->what != NULL && i < in.times->count; i++) {
        const sf_mat_value *element = &in.times->items[i];
        for (size_t m = 0; status == SF_OK && element->kind == SF_MAT_STRUCT && m < element->count; m++)
            if (is_train(&element->items[m])) status = add_method(streams, &in, element->items[m].name);
    }
    sf_mat_free(&in.file);
    return status;
}

/* ---- spikes ---- */

/* Trains one after the other. */
typedef struct trains {
    double *values;
    size_t count, capacity;
    size_t *ends;
    size_t end_capacity;
} trains;

static int add_train(sf_recording *recording, trains *all, const reading *in, const char *name,
                     int32_t electrode, const double *values, size_t count)
{
    const sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .electrode = electrode};
    if (sf_reserve(&all->ends, &all->end_capacity, recording->units.count + 1, sizeof *all->ends) != 0 ||
        sf_reserve(&all->values, &all->capacity, all->count + count, sizeof *all->values) != 0)
        return sf_fail_memory(in->error);
    if (count > 0) memcpy(all->values + all->count, values, count * sizeof *values);
    all->count += count;
    all->ends[recording->units.count] = all->count;
    return sf_units_add(&recording->units, &unit, in->error);
}

/* Adds a unit named by its number, or else by its index. */
static int add_numbered(sf_recording *recording, trains *all, const reading *in, size_t i,
                        const sf_mat_value *train)
{
    char name[32];
    double number = in->units != NULL ? in->units->numbers[i] : (double)(i + 1);
    snprintf(name, sizeof name, "%.15g", number);
    bool is_whole = in->units != NULL && number >= 0 && number < INT32_MAX && number == floor(number);
    return add_train(recording, all, in, name, is_whole ? (int32_t)number : -1,
                     train != NULL ? train->numbers : NULL, train != NULL ? train->count : 0);
}

typedef struct row {
    double unit, time;
    size_t at;
} row;

static int by_unit(const void *a, const void *b)
{
    const row *left = a, *right = b;
    int order = (left->unit > right->unit) - (left->unit < right->unit);
    return order != 0 ? order : (left->at > right->at) - (left->at < right->at);
}

/* Reads a vector of times with a vector of units: units in order. */
static int add_table(sf_recording *recording, trains *all, const reading *in)
{
    size_t count = in->times->count;
    row *rows = sf_resize(NULL, count, sizeof *rows);
    double *values = sf_resize(NULL, count, sizeof *values);
    int status = rows != NULL && values != NULL ? SF_OK : sf_fail_memory(in->error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        rows[i] = (row){in->units->numbers[i], in->times->numbers[i], i};
        if (isnan(rows[i].unit))
            status = sf_fail(in->error, SF_DATA, in->path, "damaged: number %zu of %.40s is none", i,
                             in->units->name);
    }
    if (status == SF_OK) qsort(rows, count, sizeof *rows, by_unit);
    for (size_t first = 0, last; status == SF_OK && first < count; first = last) {
        for (last = first; last < count && rows[last].unit == rows[first].unit; last++)
            values[last - first] = rows[last].time;
        const sf_mat_value train = {.kind = SF_MAT_NUMBERS, .numbers = values, .count = last - first};
        status = add_numbered(recording, all, in, rows[first].at, &train);
    }
    sf_free(rows);
    sf_free(values);
    return status;
}

static int add_vectors(sf_recording *recording, trains *all, const reading *in)
{
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < in->file.count; i++) {
        const sf_mat_value *value = &in->file.items[i];
        if (value->kind != SF_MAT_NUMBERS || value->count == 1) /* a setting */
            continue;
        if (!ascends(value) || is_axis(value)) return refuse_nothing(in);
        status = add_train(recording, all, in, value->name, -1, value->numbers, value->count);
    }
    return status == SF_OK && all->count == 0 ? refuse_nothing(in) : status;
}

static int add_trains(sf_recording *recording, trains *all, const reading *in)
{
    const sf_mat_value *times = in->times;
    int status = SF_OK;
    if (times == NULL) return add_vectors(recording, all, in);
    if (is_train(times))
        return in->units != NULL
                   ? add_table(recording, all, in)
                   : add_train(recording, all, in, times->name, -1, times->numbers, times->count);
    for (size_t i = 0; status == SF_OK && i < times->count; i++) {
        const sf_mat_value *item = &times->items[i], *train = train_of(item, in->method);
        if (times->kind == SF_MAT_CELL)
            status = add_numbered(recording, all, in, i, train);
        else if (train != NULL)
            status = add_train(recording, all, in, item->name, -1, train->numbers, train->count);
    }
    return status == SF_OK && all->count == 0
               ? sf_fail(in->error, SF_DATA, in->path, "no spike times: %s holds none", times->name)
               : status;
}

static int take_samples(sf_recording *recording, const trains *all, const reading *in)
{
    int64_t *samples = sf_resize(NULL, all->count, sizeof *samples);
    uint32_t *units = sf_resize(NULL, all->count, sizeof *units), unit = 0;
    int status = samples != NULL && units != NULL ? SF_OK : sf_fail_memory(in->error);
    for (size_t i = 0; status == SF_OK && i < all->count; i++) {
        while (i >= all->ends[unit])
            unit++;
        units[i] = unit;
        samples[i] = fabs(all->values[i]) < 0x1p62 ? (int64_t)llround(all->values[i]) : INT64_MAX;
    }
    const sf_spikes_in_samples spikes = {
        .samples = samples, .units = units, .count = all->count, .rate_hz = in->rate_hz};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, in->path, in->error);
    sf_free(samples);
    sf_free(units);
    return status;
}

static int take_seconds(sf_recording *recording, trains *all, const reading *in)
{
    static const double seconds[] = {[0] = 1e9, [3] = 1e6, [6] = 1e3, [9] = 1};
    for (size_t i = 0; i < all->count; i++)
        all->values[i] /= seconds[in->exponent];
    const sf_trains_in_seconds taken = {.seconds = all->values,
                                        .ends = all->ends,
                                        .count = recording->units.count,
                                        .negative_times = true,
                                        .units = &recording->units,
                                        .path = in->path};
    return sf_trains_take(recording, &taken, in->error);
}

/* MEA-NAP states the duration in which it detected spikes. */
static void take_duration(sf_recording *recording, const reading *in)
{
    double seconds = number_of(find(find(find(&in->file, SF_MAT_DETECTION), "params"), "duration"));
    int64_t last_ns = sf_reader_last_ns(recording);
    if (seconds > 0 && seconds < 4.6e9 && sf_seconds_to_ns(seconds) >= last_ns) {
        recording->recorded = (sf_span){0, sf_seconds_to_ns(seconds)};
        recording->declared = true;
    }
}

static int tell_form(sf_recording *recording, const reading *in)
{
    const char *in_units = in->counts_samples ? "samples" : sf_csv_scale_name(in->exponent);
    const char *how = in->times == NULL                  ? "a unit of each vector"
                      : in->times->kind == SF_MAT_CELL   ? "a unit of each cell of "
                      : in->times->kind == SF_MAT_STRUCT ? "a unit of each field of "
                      : in->units != NULL                ? "units of a vector beside "
                                                         : "one unit, of ";
    return sf_reader_set_format(recording, in->error, "MATLAB: %s%.20s%s%.20s, times in %s%s", how,
                                in->times != NULL ? in->times->name : "", in->method != NULL ? ", " : "",
                                in->method != NULL ? in->method : "", in_units, in->told);
}

static int read_variables(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    reading in;
    trains all = {0};
    int status = open_reading(&in, input, error);
    in.method = input->stream;
    if (status == SF_OK) status = find_scale(&in, input->rate_hz);
    if (status == SF_OK) status = tell_form(recording, &in);
    if (status == SF_OK) status = add_trains(recording, &all, &in);
    if (status == SF_OK)
        status = in.counts_samples ? take_samples(recording, &all, &in) : take_seconds(recording, &all, &in);
    if (status == SF_OK) take_duration(recording, &in);
    sf_free(all.values);
    sf_free(all.ends);
    sf_mat_free(&in.file);
    return status;
}

/* ---- v7.3 among the layouts of HDF5 ---- */

static int has_class(void *context, hid_t root, const char *name)
{
    (void)context;
    hid_t object = name[0] != '#' ? sf_hdf_open(root, name) : H5I_INVALID_HID;
    bool found = object >= 0 && sf_hdf_attribute_begins(object, "MATLAB_class", "");
    sf_hdf_close(object);
    return found;
}

static bool recognises(hid_t file)
{
    return file < 0 || sf_hdf_each_member(file, has_class, NULL) != 0;
}

const sf_reader sf_reader_mat = {
    .counts_samples = true, .recognises = recognises, .list = list_methods, .read = read_variables};
