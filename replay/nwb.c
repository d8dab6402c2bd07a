/* SPDX-License-Identifier: Apache-2.0 */
/* Neurodata Without Borders 2: spike times of the Units table, and intervals as markers. Ragged columns are a
 * flat array and the exclusive end of each row in it, of any integer width. https://nwb-schema.readthedocs.io
 */
#include "replay/nwb_parts.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/seconds.h"
#include "core/text.h"
#include "io/hdf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognises(hid_t file)
{
    return sf_nwb_is_2(file);
}

/* ---- which table ---- */

typedef struct table_list {
    hid_t file;
    sf_streams *tables;
    int status;
    sf_error *error;
} table_list;

static int add_if_units(void *context, const char *name)
{
    table_list *list = context;
    hid_t group = sf_hdf_open(list->file, name);
    size_t size[2];
    if (group >= 0 && H5Iget_type(group) == H5I_GROUP && sf_hdf_is_dataset(group, "spike_times") &&
        !sf_reader_is_listed(list->tables, list->file, name))
        list->status = sf_streams_add(
            list->tables, name, sf_hdf_shape(group, "spike_times", size) == 1 ? size[0] : 0, list->error);
    sf_hdf_close(group);
    return list->status != SF_OK;
}

static int list_tables(sf_streams *tables, const sf_hdf_input *input, sf_error *error)
{
    table_list list = {.file = input->file, .tables = tables, .error = error};
    tables->what = "Units table";
    if (add_if_units(&list, "units") == 0) sf_nwb_each_processed(input->file, add_if_units, &list);
    return list.status;
}

static int refuse_without_units(const sf_hdf_input *input, sf_error *error)
{
    sf_text file = {0};
    bool is_elsewhere = sf_hdf_external_link(input->file, "/units", &file);
    if (is_elsewhere)
        sf_fail(
            error, SF_DATA, input->path,
            "no spike times: its /units is a link into another file, '%s', which is not followed: give that",
            file.data);
    sf_text_free(&file);
    if (is_elsewhere) return SF_DATA;
    return sf_fail(
        error, SF_DATA, input->path,
        "no spike times: this NWB file has no Units table with them; looked for spike_times in /units and "
        "/processing, and for SpikeEventSeries in /acquisition; sort its voltages and add the units, or open "
        "what the sorter writes");
}

/* ---- columns ---- */

/* Reads the strings of a column with one row per unit; none if the table has no such column. */
static int read_texts(hid_t table, const char *column, size_t units, const char *path, char ***texts,
                      sf_error *error)
{
    *texts = NULL;
    if (sf_hdf_class(table, column) != H5T_STRING) return SF_OK;
    size_t count;
    int status = sf_hdf_read_strings(table, column, path, texts, &count, error);
    if (status == SF_OK && count != units) {
        sf_hdf_free_strings(*texts, count);
        *texts = NULL;
        return sf_fail(error, SF_DATA, path, "damaged: %s has %zu rows and there are %zu units", column,
                       count, units);
    }
    return status;
}

/* ---- units ---- */

/* Columns with the kind of a unit; a person's label takes precedence over a sorter's. */
static const char *const label_columns[] = {"group", "quality", "KSLabel", "ks_label"};

enum { LABEL_COLUMNS = sizeof label_columns / sizeof *label_columns };

/* Names of units: the column unit_name, else their ids, else their numbers. */
typedef struct labels {
    char **names;
    char **kinds[LABEL_COLUMNS]; /* words of each such column; NULL: the table lacks it */
    int64_t *ids;
} labels;

/* Units of the Units table are sorted unless a label says otherwise. `unsorted` in one column defers to the
 * next. */
static sf_unit_kind tell_kind(const labels *all, size_t unit)
{
    sf_unit_kind kind = SF_UNIT_SORTED, found;
    for (size_t c = 0; c < LABEL_COLUMNS; c++) {
        if (all->kinds[c] == NULL || !sf_unit_kind_of(all->kinds[c][unit], &found)) continue;
        if (found != SF_UNIT_UNKNOWN) return found;
        kind = SF_UNIT_UNKNOWN;
    }
    return kind;
}

static int read_labels(labels *all, hid_t table, size_t units, const char *path, sf_error *error)
{
    void *ids = NULL;
    size_t count = units;
    int status = read_texts(table, "unit_name", units, path, &all->names, error);
    for (size_t c = 0; status == SF_OK && c < LABEL_COLUMNS; c++)
        status = read_texts(table, label_columns[c], units, path, &all->kinds[c], error);
    if (status == SF_OK && sf_hdf_is_dataset(table, "id"))
        status = sf_hdf_read(table, "id", path, H5T_NATIVE_INT64, sizeof(int64_t), &ids, &count, error);
    all->ids = ids;
    if (status == SF_OK && count != units)
        status =
            sf_fail(error, SF_DATA, path, "damaged: there are %zu unit ids and %zu trains", count, units);
    return status;
}

static int add_units(sf_recording *recording, hid_t table, size_t units, const sf_hdf_input *input,
                     sf_error *error)
{
    labels all = {0};
    sf_nwb_electrodes places = {0};
    int status = read_labels(&all, table, units, input->path, error);
    if (status == SF_OK) status = sf_nwb_read_electrodes(&places, table, units, input, error);
    if (status == SF_OK) status = sf_nwb_tell_positions(recording, &places, error);
    for (size_t i = 0; status == SF_OK && i < units; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, all.ids != NULL ? all.ids[i] : (int64_t)i);
        sf_unit unit = {.name = all.names != NULL ? all.names[i] : number,
                        .x_um = NAN,
                        .y_um = NAN,
                        .kind = tell_kind(&all, i),
                        .electrode = -1};
        sf_nwb_place_unit(&unit, &places, i);
        status = sf_units_add(&recording->units, &unit, error);
    }
    sf_hdf_free_strings(all.names, all.names != NULL ? units : 0);
    for (size_t c = 0; c < LABEL_COLUMNS; c++)
        sf_hdf_free_strings(all.kinds[c], all.kinds[c] != NULL ? units : 0);
    sf_free(all.ids);
    sf_nwb_free_electrodes(&places);
    return status;
}

/* ---- observation intervals ---- */

static int compare_spans(const void *a, const void *b)
{
    const sf_span *left = a, *right = b;
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* True if a time is in one of the spans, which ascend and do not touch. */
static bool is_observed(const sf_span *spans, size_t count, int64_t time_ns)
{
    size_t low = 0,
           high = count; /* spans before low begin no later than the time, those from high on later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans[middle].start_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && time_ns < spans[low - 1].stop_ns;
}

/* Ignores observation intervals that contain no spike: they belong to other data, or use another unit of
 * time. Spikes are not sorted yet. */
static int doubt_unobserved(sf_recording *recording, size_t count, sf_error *error)
{
    const sf_span *spans = recording->observed;
    for (size_t i = 0; i < recording->spike_count; i++)
        if (is_observed(spans, count, recording->spikes[i].time_ns)) return SF_OK;
    if (recording->spike_count == 0 || recording->is_part) return SF_OK;
    char told[160];
    snprintf(told, sizeof told,
             "no spike lies where obs_intervals say it was observed, %s to %s s: they are not believed",
             sf_seconds_of(spans[0].start_ns).text, sf_seconds_of(spans[count - 1].stop_ns).text);
    recording->observed_count = 0;
    recording->recorded = (sf_span){0, 0};
    recording->declared = false;
    return sf_recording_set_metadata(recording, "observed", told, error);
}

/* Each unit has its own observation intervals; the recording is observed when any unit is. */
static int read_observed(sf_recording *recording, hid_t table, const char *path, sf_error *error)
{
    size_t size[2];
    if (sf_hdf_shape(table, "obs_intervals", size) < 0 || size[0] == 0) return SF_OK;
    void *values;
    size_t length;
    int status =
        sf_hdf_read(table, "obs_intervals", path, H5T_NATIVE_DOUBLE, sizeof(double), &values, &length, error);
    if (status != SF_OK) return status;
    const double *bounds = values;
    recording->observed = sf_alloc(size[0], sizeof *recording->observed);
    if (recording->observed == NULL) status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < size[0]; i++) {
        if (size[1] != 2 || !sf_seconds_fit(bounds[2 * i]) || !(bounds[2 * i] <= bounds[2 * i + 1]) ||
            !sf_seconds_fit(bounds[2 * i + 1]))
            status = sf_fail(error, SF_DATA, path,
                             "damaged: row %zu of obs_intervals is no start and stop in seconds", i);
        else
            recording->observed[i] =
                (sf_span){sf_seconds_to_ns(bounds[2 * i]), sf_seconds_to_ns(bounds[2 * i + 1])};
    }
    sf_free(values);
    if (status != SF_OK) return status;
    qsort(recording->observed, size[0], sizeof *recording->observed, compare_spans);
    size_t count = 1;
    for (size_t i = 1; i < size[0]; i++) {
        sf_span *last = &recording->observed[count - 1], next = recording->observed[i];
        if (next.start_ns > last->stop_ns)
            recording->observed[count++] = next;
        else if (next.stop_ns > last->stop_ns)
            last->stop_ns = next.stop_ns;
    }
    recording->recorded = (sf_span){recording->observed[0].start_ns, recording->observed[count - 1].stop_ns};
    recording->declared = true;
    recording->observed_count = count > 1 ? count : 0;
    return doubt_unobserved(recording, count, error);
}

/* ---- recorded span, if no unit has observation intervals ---- */

typedef struct span_found {
    const char *path;
    double from, to; /* seconds */
    bool any;
    int status;
    sf_error *error;
} span_found;

static void widen(span_found *found, double from, double to)
{
    if (!sf_seconds_fit(from) || !sf_seconds_fit(to) || !(from < to)) return;
    found->from = found->any && found->from < from ? found->from : from;
    found->to = found->any && found->to > to ? found->to : to;
    found->any = true;
}

/* A time series such as voltages: from its first sample to just after its last. */
static int visit_series(void *context, hid_t group, const char *name)
{
    span_found *found = context;
    hid_t series = sf_hdf_open(group, name), start = H5I_INVALID_HID;
    size_t size[2];
    double from, rate;
    if (series >= 0 && H5Iget_type(series) == H5I_GROUP &&
        sf_hdf_attribute_begins(series, "neurodata_type", "ElectricalSeries") &&
        sf_hdf_shape(series, "data", size) > 0 && size[0] > 0) {
        start = sf_hdf_open(series, "starting_time");
        void *values = NULL;
        size_t length = 0;
        if (start >= 0 && sf_hdf_attribute_number(start, "rate", &rate) && rate > 0) {
            found->status = sf_hdf_read(series, "starting_time", found->path, H5T_NATIVE_DOUBLE,
                                        sizeof(double), &values, &length, found->error);
            from = found->status == SF_OK && length > 0 ? *(double *)values : NAN;
            widen(found, from, from + (double)size[0] / rate);
            sf_free(values);
        }
    }
    sf_hdf_close(start);
    sf_hdf_close(series);
    return found->status != SF_OK;
}

/* A table such as `sessions`, whose rows are recorded intervals. */
static int read_sessions(span_found *found, hid_t file)
{
    hid_t table = sf_hdf_open(file, "/intervals/sessions");
    void *starts = NULL, *stops = NULL;
    size_t rows = 0, ends = 0;
    if (table >= 0 && sf_hdf_is_dataset(table, "start_time") && sf_hdf_is_dataset(table, "stop_time")) {
        found->status = sf_hdf_read(table, "start_time", found->path, H5T_NATIVE_DOUBLE, sizeof(double),
                                    &starts, &rows, found->error);
        if (found->status == SF_OK)
            found->status = sf_hdf_read(table, "stop_time", found->path, H5T_NATIVE_DOUBLE, sizeof(double),
                                        &stops, &ends, found->error);
        for (size_t i = 0; found->status == SF_OK && i < rows && i < ends; i++)
            widen(found, ((double *)starts)[i], ((double *)stops)[i]);
    }
    sf_free(starts);
    sf_free(stops);
    sf_hdf_close(table);
    return found->status;
}

static int read_recorded(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    span_found found = {.path = input->path, .error = error};
    if (recording->declared || read_sessions(&found, input->file) != SF_OK) return found.status;
    hid_t acquired = sf_hdf_open(input->file, "/acquisition");
    if (!found.any && acquired >= 0 && H5Iget_type(acquired) == H5I_GROUP)
        sf_hdf_each_member(acquired, visit_series, &found);
    sf_hdf_close(acquired);
    if (found.status == SF_OK && found.any) {
        recording->recorded = (sf_span){sf_seconds_to_ns(found.from), sf_seconds_to_ns(found.to)};
        recording->declared = true;
    }
    return found.status;
}

/* ---- intervals: tables of epochs, trials and the like become markers ---- */

typedef struct interval_tables {
    sf_nwb_markers to;
    int status;
} interval_tables;

/* Names of a table's rows: their tags, separated by commas, else the name of the table. */
typedef struct interval_tags {
    char **texts;
    size_t count;
    size_t *ends; /* NULL: none */
} interval_tags;

static int read_tags(interval_tags *tags, hid_t table, size_t rows, const char *path, sf_error *error)
{
    *tags = (interval_tags){0};
    if (sf_hdf_class(table, "tags") != H5T_STRING || !sf_hdf_is_dataset(table, "tags_index")) return SF_OK;
    size_t found;
    int status = sf_hdf_read_strings(table, "tags", path, &tags->texts, &tags->count, error);
    if (status == SF_OK)
        status = sf_nwb_read_ends(table, "tags", tags->count, path, &tags->ends, &found, error);
    if (status == SF_OK && found != rows)
        status = sf_fail(error, SF_DATA, path, "damaged: tags_index has %zu rows and there are %zu intervals",
                         found, rows);
    return status;
}

static int read_intervals(sf_nwb_markers *to, hid_t table, const char *name)
{
    void *starts = NULL, *stops = NULL;
    size_t rows, stop_rows;
    interval_tags tags = {0};
    int status = sf_hdf_read(table, "start_time", to->path, H5T_NATIVE_DOUBLE, sizeof(double), &starts, &rows,
                             to->error);
    if (status == SF_OK)
        status = sf_hdf_read(table, "stop_time", to->path, H5T_NATIVE_DOUBLE, sizeof(double), &stops,
                             &stop_rows, to->error);
    if (status == SF_OK && stop_rows != rows)
        status = sf_fail(to->error, SF_DATA, to->path, "damaged: %s has %zu starts and %zu stops", name, rows,
                         stop_rows);
    if (status == SF_OK) status = read_tags(&tags, table, rows, to->path, to->error);
    for (size_t i = 0; status == SF_OK && i < rows; i++) {
        char label[SF_MARKER_TEXT_SIZE];
        size_t begin = i > 0 && tags.ends != NULL ? tags.ends[i - 1] : 0;
        size_t end = tags.ends != NULL ? tags.ends[i] : 0;
        sf_nwb_name_interval(label, end > begin ? tags.texts + begin : NULL, end - begin, name);
        status = sf_nwb_add_interval(to, ((double *)starts)[i], ((double *)stops)[i], label);
    }
    sf_hdf_free_strings(tags.texts, tags.texts != NULL ? tags.count : 0);
    sf_free(tags.ends);
    sf_free(starts);
    sf_free(stops);
    return status;
}

static int visit_intervals(void *context, hid_t group, const char *name)
{
    interval_tables *all = context;
    hid_t table = sf_hdf_open(group, name);
    if (table >= 0 && H5Iget_type(table) == H5I_GROUP && sf_hdf_is_dataset(table, "start_time") &&
        sf_hdf_is_dataset(table, "stop_time"))
        all->status = read_intervals(&all->to, table, name);
    sf_hdf_close(table);
    return all->status != SF_OK;
}

static int read_markers(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    interval_tables all = {.to = {.recording = recording, .path = input->path, .error = error}};
    hid_t intervals = sf_hdf_open(input->file, "/intervals");
    if (intervals >= 0 && H5Iget_type(intervals) == H5I_GROUP)
        sf_hdf_each_member(intervals, visit_intervals, &all);
    sf_hdf_close(intervals);
    return all.status;
}

/* ---- the whole ---- */

/* Smallest difference between spike times, if the file states it. */
static int take_resolution(sf_recording *recording, const char *text, sf_error *error)
{
    double seconds;
    if (sf_parse_real(text, &seconds) && seconds > 0 && seconds < 1)
        recording->tick_ns = llround(seconds * 1e9);
    return sf_recording_set_metadata(recording, "resolution_s", text, error);
}

static int read_metadata(sf_recording *recording, hid_t table, const sf_hdf_input *input, sf_error *error)
{
    int status = sf_nwb_read_metadata(recording, input->file, error);
    hid_t times = sf_hdf_open(table, "spike_times");
    sf_text resolution = {0};
    if (status == SF_OK && sf_hdf_attribute_text(times, "resolution", &resolution))
        status = take_resolution(recording, resolution.data, error);
    if (resolution.failed) status = sf_fail_memory(error);
    sf_text_free(&resolution);
    sf_hdf_close(times);
    return status;
}

static int read_table(sf_recording *recording, hid_t table, const sf_hdf_input *input, sf_error *error)
{
    sf_trains_in_seconds trains;
    size_t *ends = NULL, spikes, units;
    int status = sf_train_times_open(&trains, table, "spike_times", input, &spikes, error);
    if (status == SF_OK)
        status = sf_nwb_read_ends(table, "spike_times", spikes, input->path, &ends, &units, error);
    if (status == SF_OK) status = add_units(recording, table, units, input, error);
    if (status == SF_OK) {
        trains.ends = ends;
        trains.count = units;
        trains.negative_times = true;
        trains.units = &recording->units;
        status = sf_trains_take(recording, &trains, error);
    }
    if (status == SF_OK) status = read_observed(recording, table, input->path, error);
    if (status == SF_OK) status = read_recorded(recording, input, error);
    if (status == SF_OK) status = read_metadata(recording, table, input, error);
    if (status == SF_OK) status = read_markers(recording, input, error);
    sf_train_times_close(&trains);
    sf_free(ends);
    return status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    sf_text version = {0};
    sf_hdf_attribute_text(input->file, "nwb_version", &version);
    int status = version.failed ? sf_fail_memory(error)
                                : sf_reader_set_format(recording, error, "NWB %s units",
                                                       version.data != NULL ? version.data : "2");
    sf_text_free(&version);
    if (status == SF_OK && input->stream == NULL) status = refuse_without_units(input, error);
    hid_t table = status == SF_OK ? sf_hdf_open(input->file, input->stream) : H5I_INVALID_HID;
    if (status == SF_OK) status = read_table(recording, table, input, error);
    sf_hdf_close(table);
    return status;
}

const sf_reader sf_reader_nwb = {
    .has_parts = true, .recognises = recognises, .list = list_tables, .read = read_recording};
