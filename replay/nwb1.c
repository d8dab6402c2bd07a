/* SPDX-License-Identifier: Apache-2.0 */
/* Neurodata Without Borders 1: spike times of sorted units, each a group /processing/MODULE/UnitTimes/UNIT
 * with the dataset `times` in seconds, and epochs as markers. It has no place for where a unit is, so units
 * have no positions. https://github.com/NeurodataWithoutBorders/specification */
#include "replay/nwb_parts.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/words.h"
#include "io/hdf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The version is a dataset; in NWB 2 it is an attribute, except in betas. */
static bool recognises(hid_t file)
{
    return sf_hdf_is_dataset(file, "/nwb_version") && !sf_nwb_is_2(file);
}

/* ---- which module ---- */

static bool has_times(hid_t group, const char *name)
{
    hid_t unit = sf_hdf_open(group, name);
    bool found = unit >= 0 && H5Iget_type(unit) == H5I_GROUP && sf_hdf_is_dataset(unit, "times");
    sf_hdf_close(unit);
    return found;
}

typedef struct module_list {
    hid_t file;
    sf_streams *modules;
    size_t units, spikes; /* of the module that is looked at */
    int status;
    sf_error *error;
} module_list;

static int count_unit(void *context, hid_t group, const char *name)
{
    module_list *list = context;
    size_t size[2];
    char path[300];
    if (!has_times(group, name)) return 0;
    snprintf(path, sizeof path, "%s/times", name);
    list->units++;
    list->spikes += sf_hdf_shape(group, path, size) == 1 ? size[0] : 0;
    return 0;
}

static int add_if_unit_times(void *context, const char *path)
{
    module_list *list = context;
    const char *name = strrchr(path, '/') + 1;
    if (strcmp(name, "UnitTimes") != 0) return 0;
    hid_t group = sf_hdf_open(list->file, path);
    list->units = list->spikes = 0;
    if (group >= 0 && H5Iget_type(group) == H5I_GROUP) sf_hdf_each_member(group, count_unit, list);
    if (list->units > 0 && !sf_reader_is_listed(list->modules, list->file, path))
        list->status = sf_streams_add(list->modules, path, list->spikes, list->error);
    sf_hdf_close(group);
    return list->status != SF_OK;
}

static int list_modules(sf_streams *modules, const sf_hdf_input *input, sf_error *error)
{
    module_list list = {.file = input->file, .modules = modules, .error = error};
    modules->what = "UnitTimes group";
    sf_nwb_each_processed(input->file, add_if_unit_times, &list);
    return list.status;
}

/* ---- the units and their order ---- */

typedef struct unit_list {
    sf_words found; /* groups with times, in file order */
    sf_words names; /* all groups, in the order of unit_list, then by name */
    int status;
    sf_error *error;
} unit_list;

static int add_unit(void *context, hid_t group, const char *name)
{
    unit_list *list = context;
    uint32_t ignored;
    if (has_times(group, name)) list->status = sf_words_add(&list->found, name, &ignored, list->error);
    return list->status != SF_OK;
}

/* unit_list names the units in their order. */
static int add_listed(unit_list *list, hid_t group, const char *path)
{
    char **listed;
    size_t count;
    uint32_t ignored;
    if (sf_hdf_class(group, "unit_list") != H5T_STRING) return SF_OK;
    int status = sf_hdf_read_strings(group, "unit_list", path, &listed, &count, list->error);
    if (status != SF_OK) return status;
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        if (sf_words_find(&list->found, listed[i]) == SF_NO_WORD)
            status = sf_fail(list->error, SF_DATA, path,
                             "damaged: unit_list names '%s', and no group of that name has times", listed[i]);
        else
            status = sf_words_add(&list->names, listed[i], &ignored, list->error);
    }
    sf_hdf_free_strings(listed, count);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return sf_text_compare(*(const char *const *)a, *(const char *const *)b);
}

/* The other units follow in natural order: unit_2 before unit_10. */
static int add_unlisted(unit_list *list)
{
    uint32_t ignored;
    size_t count = list->found.count;
    char **order = sf_alloc(count, sizeof *order);
    int status = order != NULL ? SF_OK : sf_fail_memory(list->error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        order[i] = list->found.items[i];
    if (status == SF_OK) qsort(order, count, sizeof *order, compare_names);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        status = sf_words_add(&list->names, order[i], &ignored, list->error);
    sf_free(order);
    return status;
}

static int list_units(unit_list *list, hid_t group, const char *path, sf_error *error)
{
    *list = (unit_list){.error = error};
    sf_hdf_each_member(group, add_unit, list);
    if (list->status == SF_OK) list->status = add_listed(list, group, path);
    if (list->status == SF_OK) list->status = add_unlisted(list);
    return list->status;
}

/* ---- spikes ---- */

typedef struct train_list {
    double *seconds;
    size_t *ends;
    size_t spikes, capacity;
} train_list;

static int add_train(train_list *trains, size_t index, hid_t group, const char *name, const char *path,
                     sf_error *error)
{
    char dataset[300];
    size_t count;
    void *values = NULL, *seconds = trains->seconds;
    snprintf(dataset, sizeof dataset, "%s/times", name);
    int status = sf_hdf_length(group, dataset, path, &count, error);
    if (status == SF_OK && !sf_hdf_fits(group, (trains->spikes + count) * sizeof *trains->seconds))
        status = sf_fail(error, SF_DATA, path,
                         "damaged: up to unit '%s' there are %zu spikes, more than the "
                         "file can hold",
                         name, trains->spikes + count);
    if (status == SF_OK)
        status = sf_hdf_read(group, dataset, path, H5T_NATIVE_DOUBLE, sizeof(double), &values, &count, error);
    if (status == SF_OK &&
        sf_reserve(&seconds, &trains->capacity, trains->spikes + count, sizeof *trains->seconds) != 0)
        status = sf_fail_memory(error);
    if (status == SF_OK) {
        trains->seconds = seconds;
        if (count > 0) memcpy(trains->seconds + trains->spikes, values, count * sizeof *trains->seconds);
        trains->spikes += count;
        trains->ends[index] = trains->spikes;
    }
    sf_free(values);
    return status;
}

static int read_units(sf_recording *recording, hid_t group, const char *path, sf_error *error)
{
    unit_list list;
    train_list trains = {0};
    int status = list_units(&list, group, path, error);
    size_t count = list.names.count;
    if (status == SF_OK && (trains.ends = sf_alloc(count, sizeof *trains.ends)) == NULL)
        status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        const sf_unit unit = {
            .name = list.names.items[i], .x_um = NAN, .y_um = NAN, .kind = SF_UNIT_SORTED, .electrode = -1};
        status = sf_units_add(&recording->units, &unit, error);
        if (status == SF_OK) status = add_train(&trains, i, group, unit.name, path, error);
    }
    if (status == SF_OK) {
        const sf_trains_in_seconds all = {.seconds = trains.seconds,
                                          .ends = trains.ends,
                                          .count = count,
                                          .negative_times = true,
                                          .units = &recording->units,
                                          .path = path};
        status = sf_trains_take(recording, &all, error);
    }
    sf_free(trains.seconds);
    sf_free(trains.ends);
    sf_words_free(&list.found);
    sf_words_free(&list.names);
    return status;
}

/* ---- epochs: each is a group with its bounds and, perhaps, tags ---- */

typedef struct epoch_list {
    sf_nwb_markers to;
    int status;
} epoch_list;

static int read_bound(const sf_nwb_markers *to, hid_t epoch, const char *dataset, const char *name,
                      double *bound)
{
    void *values;
    size_t count;
    int status =
        sf_hdf_read(epoch, dataset, to->path, H5T_NATIVE_DOUBLE, sizeof *bound, &values, &count, to->error);
    if (status == SF_OK && count != 1)
        status = sf_fail(to->error, SF_DATA, to->path,
                         "damaged: %s of the epoch %s holds %zu values, expected one", dataset, name, count);
    else if (status == SF_OK)
        *bound = *(double *)values;
    sf_free(values);
    return status;
}

static int read_epoch(sf_nwb_markers *to, hid_t epoch, const char *name)
{
    double start_s = NAN, stop_s = NAN;
    char **tags = NULL, label[SF_MARKER_TEXT_SIZE];
    size_t count = 0;
    int status = read_bound(to, epoch, "start_time", name, &start_s);
    if (status == SF_OK) status = read_bound(to, epoch, "stop_time", name, &stop_s);
    if (status == SF_OK && sf_hdf_class(epoch, "tags") == H5T_STRING)
        status = sf_hdf_read_strings(epoch, "tags", to->path, &tags, &count, to->error);
    if (status == SF_OK) {
        sf_nwb_name_interval(label, tags, count, name);
        status = sf_nwb_add_interval(to, start_s, stop_s, label);
    }
    sf_hdf_free_strings(tags, count);
    return status;
}

static int visit_epoch(void *context, hid_t group, const char *name)
{
    epoch_list *all = context;
    hid_t epoch = sf_hdf_open(group, name);
    if (epoch >= 0 && H5Iget_type(epoch) == H5I_GROUP && sf_hdf_is_dataset(epoch, "start_time") &&
        sf_hdf_is_dataset(epoch, "stop_time"))
        all->status = read_epoch(&all->to, epoch, name);
    sf_hdf_close(epoch);
    return all->status != SF_OK;
}

static int read_epochs(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    epoch_list all = {.to = {.recording = recording, .path = input->path, .error = error}};
    hid_t epochs = sf_hdf_open(input->file, "/epochs");
    if (epochs >= 0 && H5Iget_type(epochs) == H5I_GROUP) sf_hdf_each_member(epochs, visit_epoch, &all);
    sf_hdf_close(epochs);
    return all.status;
}

/* ---- the whole ---- */

static int set_format(sf_recording *recording, hid_t file, sf_error *error)
{
    sf_text version = {0};
    sf_hdf_dataset_text(file, "/nwb_version", &version);
    const char *text = version.data != NULL ? version.data : "1";
    int status = version.failed ? sf_fail_memory(error)
                                : sf_reader_set_format(recording, error, "NWB %s unit times",
                                                       text + (strncmp(text, "NWB-", 4) == 0 ? 4 : 0));
    sf_text_free(&version);
    return status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    int status = set_format(recording, input->file, error);
    if (status == SF_OK && input->stream == NULL)
        status = sf_fail(error, SF_DATA, input->path,
                         "no spike times: this NWB 1 file has no units with them; looked for "
                         "/processing/*/UnitTimes/*/times; sort its voltages, and open what the sorter "
                         "writes");
    hid_t group = status == SF_OK ? sf_hdf_open(input->file, input->stream) : H5I_INVALID_HID;
    if (status == SF_OK) status = read_units(recording, group, input->path, error);
    if (status == SF_OK) status = sf_nwb_read_metadata(recording, input->file, error);
    if (status == SF_OK) status = read_epochs(recording, input, error);
    sf_hdf_close(group);
    return status;
}

const sf_reader sf_reader_nwb_1 = {.recognises = recognises, .list = list_modules, .read = read_recording};
