/* SPDX-License-Identifier: Apache-2.0 */
/* CARMEN retinal-wave files: Eglen et al. 2014, GigaScience 3:3. Trains in seconds one after the other in
 * /spikes, their lengths in /sCount, positions in /epos as (2, N): the first row is x, the second y, whatever
 * N is. */
#include "replay/reader.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/hdf.h"
#include "replay/csv_plate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool recognises(hid_t file)
{
    return sf_hdf_is_dataset(file, "/spikes") && sf_hdf_is_dataset(file, "/sCount");
}

/* Parts of the file that are needed at the same time. */
typedef struct carmen {
    int64_t *counts;
    double *positions; /* NULL: none */
    char **names;      /* NULL: none */
    char **wells;      /* plates: well of each train, from /well or from its name; NULL: no plate */
    sf_trains_in_seconds seconds;
    size_t *ends;
    size_t trains, spikes, name_count;
} carmen;

static void free_parts(carmen *parts)
{
    sf_free(parts->counts);
    sf_free(parts->positions);
    sf_hdf_free_strings(parts->names, parts->name_count);
    sf_hdf_free_strings(parts->wells, parts->wells != NULL ? parts->trains : 0);
    sf_train_times_close(&parts->seconds);
    sf_free(parts->ends);
}

static int read_counts(carmen *parts, const sf_hdf_input *input, sf_error *error)
{
    void *counts;
    int status = sf_hdf_read(input->file, "/sCount", input->path, H5T_NATIVE_INT64, sizeof *parts->counts,
                             &counts, &parts->trains, error);
    if (status != SF_OK) return status;
    parts->counts = counts;
    parts->ends = sf_alloc(parts->trains, sizeof *parts->ends);
    return parts->ends != NULL ? SF_OK : sf_fail_memory(error);
}

/* Converts counts to ends, which must match the number of spikes. */
static int check_counts(carmen *parts, const char *path, sf_error *error)
{
    size_t sum = 0;
    for (size_t i = 0; i < parts->trains; i++) {
        int64_t count = parts->counts[i];
        if (count < 0 || (uint64_t)count > SIZE_MAX / 2 - sum)
            return sf_fail(error, SF_DATA, path, "damaged: /sCount says %" PRId64 " spikes of train %zu",
                           count, i);
        sum += (size_t)count;
        parts->ends[i] = sum;
    }
    if (sum != parts->spikes)
        return sf_fail(error, SF_DATA, path, "damaged: /sCount says %zu spikes and /spikes holds %zu", sum,
                       parts->spikes);
    return SF_OK;
}

static int read_positions(carmen *parts, const sf_hdf_input *input, sf_error *error)
{
    size_t size[2];
    if (sf_hdf_shape(input->file, "/epos", size) < 0) return SF_OK;
    if (size[0] != 2 || size[1] != parts->trains)
        return sf_fail(error, SF_DATA, input->path,
                       "damaged: /epos is %zu by %zu and there are %zu trains, expected 2 by %zu", size[0],
                       size[1], parts->trains, parts->trains);
    void *positions;
    size_t length;
    int status = sf_hdf_read(input->file, "/epos", input->path, H5T_NATIVE_DOUBLE, sizeof(double), &positions,
                             &length, error);
    parts->positions = positions;
    return status;
}

static int read_names(carmen *parts, const sf_hdf_input *input, sf_error *error)
{
    if (!sf_hdf_is_dataset(input->file, "/names")) return SF_OK;
    int status =
        sf_hdf_read_strings(input->file, "/names", input->path, &parts->names, &parts->name_count, error);
    if (status == SF_OK && parts->name_count != parts->trains)
        return sf_fail(error, SF_DATA, input->path, "damaged: there are %zu names and %zu trains",
                       parts->name_count, parts->trains);
    return status;
}

/* Files of plates have /well: the well of each train, or a list of wells beside names such as A1_23. */
static int read_wells(carmen *parts, const sf_hdf_input *input, sf_error *error)
{
    size_t count = 0;
    char **wells = NULL;
    if (sf_hdf_class(input->file, "/well") != H5T_STRING) return SF_OK;
    int status = sf_hdf_read_strings(input->file, "/well", input->path, &wells, &count, error);
    if (status != SF_OK || count == parts->trains) {
        parts->wells = status == SF_OK ? wells : NULL;
        return status;
    }
    sf_hdf_free_strings(wells, count);
    wells = sf_alloc(parts->trains, sizeof *wells);
    bool named = wells != NULL && parts->names != NULL;
    for (size_t i = 0; named && i < parts->trains; i++) {
        char well[8];
        int column, row;
        named = sf_plate_electrode(parts->names[i], well, &column, &row) &&
                (wells[i] = sf_copy_string(well)) != NULL;
    }
    if (named)
        parts->wells = wells;
    else
        sf_hdf_free_strings(wells, wells != NULL ? parts->trains : 0);
    return SF_OK;
}

typedef struct position {
    double x, y;
} position;

static int compare_positions(const void *a, const void *b)
{
    const position *left = a, *right = b;
    if (left->x != right->x) return left->x < right->x ? -1 : 1;
    return (left->y > right->y) - (left->y < right->y);
}

/* The layout does not say whether trains were sorted; several at one electrode can only come from sorting. */
static int tell_kind(sf_unit_kind *kind, const carmen *parts, sf_error *error)
{
    *kind = SF_UNIT_UNKNOWN;
    if (parts->positions == NULL) return SF_OK;
    position *sorted = sf_alloc(parts->trains, sizeof *sorted);
    if (sorted == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < parts->trains; i++)
        sorted[i] = (position){parts->positions[i], parts->positions[parts->trains + i]};
    qsort(sorted, parts->trains, sizeof *sorted, compare_positions);
    for (size_t i = 1; i < parts->trains; i++)
        if (compare_positions(&sorted[i - 1], &sorted[i]) == 0) *kind = SF_UNIT_SORTED;
    sf_free(sorted);
    return SF_OK;
}

static int add_units(sf_recording *recording, const carmen *parts, sf_error *error)
{
    sf_unit_kind kind;
    int status = tell_kind(&kind, parts, error);
    for (size_t i = 0; status == SF_OK && i < parts->trains; i++) {
        sf_unit unit = {.name = parts->names != NULL ? parts->names[i] : NULL,
                        .x_um = parts->positions != NULL ? parts->positions[i] : NAN,
                        .y_um = parts->positions != NULL ? parts->positions[parts->trains + i] : NAN,
                        .kind = kind,
                        .electrode = -1,
                        .well = parts->wells != NULL ? parts->wells[i] : NULL};
        status = sf_units_add(&recording->units, &unit, error);
    }
    return status;
}

typedef struct metadata_context {
    sf_recording *recording;
    sf_error *error;
} metadata_context;

static int add_metadata(void *user, hid_t group, const char *name)
{
    metadata_context *context = user;
    const char *key = strcmp(name, "cond") == 0 ? "condition" : strcmp(name, "key") == 0 ? "source" : name;
    return sf_reader_metadata(context->recording, group, name, key, context->error);
}

static int read_metadata(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    metadata_context context = {recording, error};
    hid_t group = sf_hdf_open(input->file, "/meta");
    int status = group >= 0 ? sf_hdf_each_member(group, add_metadata, &context) : SF_OK;
    sf_hdf_close(group);
    return status == SF_OK ? sf_reader_metadata(recording, input->file, "/array", "array", error) : status;
}

/* Some files of the lab say when the recording began and ended. /summary/duration is only last minus first
 * spike. */
static int read_recorded(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    if (!sf_hdf_is_dataset(input->file, "/recordingtime")) return SF_OK;
    void *values;
    size_t length;
    int status = sf_hdf_read(input->file, "/recordingtime", input->path, H5T_NATIVE_DOUBLE, sizeof(double),
                             &values, &length, error);
    if (status != SF_OK) return status;
    const double *bounds = values;
    if (length != 2 || !sf_seconds_fit(bounds[0]) || !sf_seconds_fit(bounds[1]) || bounds[0] > bounds[1])
        status =
            sf_fail(error, SF_DATA, input->path, "damaged: /recordingtime is no start and stop in seconds");
    else
        recording->recorded = (sf_span){sf_seconds_to_ns(bounds[0]), sf_seconds_to_ns(bounds[1])};
    recording->declared = status == SF_OK;
    sf_free(values);
    return status;
}

static int read_parts(carmen *parts, const sf_hdf_input *input, sf_error *error)
{
    int status = read_counts(parts, input, error);
    if (status == SF_OK)
        status = sf_train_times_open(&parts->seconds, input->file, "/spikes", input, &parts->spikes, error);
    if (status == SF_OK) status = check_counts(parts, input->path, error);
    if (status == SF_OK) status = read_positions(parts, input, error);
    if (status == SF_OK) status = read_names(parts, input, error);
    return status == SF_OK ? read_wells(parts, input, error) : status;
}

/* ---- wells of a plate ---- */

/* Lists the wells with their numbers of spikes, in file order; none for a file of one array. */
static int list_wells(sf_streams *wells, const sf_hdf_input *input, sf_error *error)
{
    carmen parts = {0};
    if (sf_hdf_class(input->file, "/well") != H5T_STRING) return SF_OK;
    wells->what = "well";
    int status = read_parts(&parts, input, error);
    for (size_t i = 0; status == SF_OK && parts.wells != NULL && i < parts.trains; i++) {
        size_t at = 0;
        while (at < wells->count && strcmp(wells->items[at].name, parts.wells[i]) != 0)
            at++;
        if (at == wells->count) status = sf_streams_add(wells, parts.wells[i], 0, error);
        if (status == SF_OK) wells->items[at].spikes += parts.ends[i] - (i > 0 ? parts.ends[i - 1] : 0);
    }
    free_parts(&parts);
    return status;
}

/* Keeps only the units and spikes of this well; its recorded time is that of the plate. */
static int keep_well(sf_recording *recording, const char *well, sf_error *error)
{
    const sf_units *units = &recording->units;
    const sf_unit **kept = sf_alloc(units->count, sizeof *kept);
    size_t count = 0;
    if (kept == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count && !recording->declared; i++) {
        int64_t time_ns = recording->spikes[i].time_ns;
        sf_span *all = &recording->recorded;
        all->start_ns = i == 0 || time_ns < all->start_ns ? time_ns : all->start_ns;
        all->stop_ns = i == 0 || time_ns >= all->stop_ns ? time_ns + 1 : all->stop_ns;
    }
    for (size_t i = 0; i < units->count; i++)
        if (units->items[i].well != NULL && strcmp(units->items[i].well, well) == 0)
            kept[count++] = &units->items[i];
    int status = sf_reader_keep_units(recording, kept, count, error);
    sf_free(kept);
    return status;
}

static int read_recording(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    carmen parts = {0};
    int status = sf_reader_set_format(recording, error, "CARMEN");
    if (status == SF_OK && input->only_part && input->stream != NULL)
        status =
            sf_fail(error, SF_USAGE, input->path,
                    "a well of a plate is not read in pieces: `synfire convert` writes it as a file that is");
    if (status == SF_OK) status = read_parts(&parts, input, error);
    if (status == SF_OK) status = add_units(recording, &parts, error);
    parts.seconds.ends = parts.ends;
    parts.seconds.count = parts.trains;
    parts.seconds.units = &recording->units;
    if (status == SF_OK) status = sf_trains_take(recording, &parts.seconds, error);
    if (status == SF_OK) status = read_metadata(recording, input, error);
    if (status == SF_OK) status = read_recorded(recording, input, error);
    if (status == SF_OK && input->stream != NULL) status = keep_well(recording, input->stream, error);
    free_parts(&parts);
    return status;
}

const sf_reader sf_reader_carmen = {
    .has_parts = true, .recognises = recognises, .list = list_wells, .read = read_recording};
