/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files saved by pynapple: an archive of arrays (.npz) with `t` in seconds and the epochs `start` and `end`
 * of the time support; for a TsGroup also `index`, the unit of each spike, and `keys`, all units. Values over
 * time (Tsd) have `d` and no `index`. Viejo et al. 2023, eLife 12:RP85786.
 */
#include "replay/folder.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/npz.h"
#include "replay/ids.h"
#include "replay/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SECONDS 4.6e9 /* within SF_TIME_LIMIT_NS */

static bool recognises(const char *path)
{
    return sf_npz_has(path, "t.npy") && sf_npz_has(path, "start.npy") && sf_npz_has(path, "end.npy");
}

/* Reads an array of the archive, as seconds or as ids; free with sf_free. */
static int load(double **seconds, int64_t **ids, size_t *count, const char *path, const char *name,
                sf_error *error)
{
    sf_npy npy;
    void *values = NULL;
    int status = sf_npz_open(&npy, path, name, error);
    if (status == SF_OK && (values = sf_resize(NULL, npy.count, sizeof(double))) == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK)
        status = seconds != NULL ? sf_npy_read_reals(&npy, 0, npy.count, values, error)
                                 : sf_npy_read_integers(&npy, NULL, 0, npy.count, values, error);
    *count = status == SF_OK ? npy.count : 0;
    sf_npy_close(&npy);
    if (seconds != NULL)
        *seconds = values;
    else
        *ids = values;
    return status;
}

static int refuse_time(const char *path, const char *name, size_t at, double seconds, sf_error *error)
{
    return sf_fail(error, SF_DATA, path, "damaged: number %zu of %s is %g, expected seconds within 146 years",
                   at, name, seconds);
}

/* ---- units ---- */

static int add_unit(sf_recording *recording, sf_ids *ids, int64_t id, sf_error *error)
{
    char name[24];
    snprintf(name, sizeof name, "%" PRId64, id);
    const sf_unit unit = {.name = name, .x_um = NAN, .y_um = NAN, .electrode = -1};
    int status = sf_ids_set(ids, id, (uint32_t)recording->units.count, error);
    return status == SF_OK ? sf_units_add(&recording->units, &unit, error) : status;
}

/* Adds all units in `keys`, silent ones included; older files without `keys` list only units with spikes. */
static int add_units(sf_recording *recording, sf_ids *ids, const int64_t *index, size_t count,
                     const char *path, sf_error *error)
{
    int64_t *keys = NULL;
    size_t key_count = 0;
    sf_ids named = {0};
    bool has_keys = sf_npz_has(path, "keys.npy");
    int status = has_keys ? load(NULL, &keys, &key_count, path, "keys.npy", error) : SF_OK;
    if (status == SF_OK)
        status = sf_ids_of(&named, has_keys ? keys : index, has_keys ? key_count : count, error);
    for (size_t i = 0; status == SF_OK && i < named.count; i++)
        status = add_unit(recording, ids, named.items[i].id, error);
    sf_ids_free(&named);
    sf_free(keys);
    return status;
}

/* ---- spikes ---- */

static int take_spikes(sf_recording *recording, const double *seconds, const int64_t *index, size_t count,
                       const sf_ids *ids, const char *path, sf_error *error)
{
    recording->spikes = sf_resize(NULL, count, sizeof *recording->spikes);
    if (recording->spikes == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        uint32_t unit = index != NULL ? sf_ids_find(ids, index[i]) : 0;
        if (!(fabs(seconds[i]) < MOST_SECONDS)) return refuse_time(path, "t", i, seconds[i], error);
        if (unit == SF_NO_UNIT)
            return sf_fail(error, SF_DATA, path,
                           "damaged: spike %zu is of unit %" PRId64 ", which is none of keys", i, index[i]);
        recording->spikes[i] =
            (sf_spike){.time_ns = sf_seconds_to_ns(seconds[i]), .unit = unit, .amplitude = NAN};
    }
    recording->spike_count = count;
    return SF_OK;
}

static int read_spikes(sf_recording *recording, const char *path, sf_error *error)
{
    double *seconds = NULL;
    int64_t *index = NULL;
    size_t count = 0, index_count = 0;
    sf_ids ids = {0};
    bool is_group = sf_npz_has(path, "index.npy");
    if (!is_group && sf_npz_has(path, "d.npy"))
        return sf_fail(
            error, SF_DATA, path,
            "no spike times: this is a Tsd of pynapple, values over time; save its spikes as a Ts or "
            "a TsGroup");
    int status = sf_reader_set_format(recording, error, "pynapple %s", is_group ? "TsGroup" : "Ts");
    if (status == SF_OK) status = load(&seconds, NULL, &count, path, "t.npy", error);
    if (status == SF_OK && is_group) status = load(NULL, &index, &index_count, path, "index.npy", error);
    if (status == SF_OK && is_group && index_count != count)
        status = sf_fail(error, SF_DATA, path, "damaged: it has %zu times and %zu units of them", count,
                         index_count);
    if (status == SF_OK)
        status = is_group ? add_units(recording, &ids, index, count, path, error)
                          : add_unit(recording, &ids, 0, error);
    if (status == SF_OK) status = take_spikes(recording, seconds, index, count, &ids, path, error);
    sf_free(seconds);
    sf_free(index);
    sf_ids_free(&ids);
    return status;
}

/* ---- how long ---- */

/* An epoch from the first spike to the last is pynapple's default if the user gave none. */
static bool is_own(const sf_recording *recording)
{
    sf_span all = {INT64_MAX, INT64_MIN}, epochs = recording->recorded;
    for (size_t i = 0; i < recording->spike_count; i++) {
        int64_t time_ns = recording->spikes[i].time_ns;
        all.start_ns = time_ns < all.start_ns ? time_ns : all.start_ns;
        all.stop_ns = time_ns > all.stop_ns ? time_ns : all.stop_ns;
    }
    return recording->observed_count < 2 && llabs(epochs.start_ns - all.start_ns) < 1000 &&
           llabs(epochs.stop_ns - all.stop_ns) < 1000;
}

/* Takes epochs in sequence, skipping those of length 0. */
static int take_epochs(sf_recording *recording, const double *starts, const double *ends, size_t count,
                       const char *path, sf_error *error)
{
    size_t kept = 0;
    recording->observed = sf_alloc(count, sizeof *recording->observed);
    if (recording->observed == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(starts[i]) < MOST_SECONDS && fabs(ends[i]) < MOST_SECONDS) || ends[i] < starts[i] ||
            (i > 0 && starts[i] < ends[i - 1]))
            return refuse_time(path, "start or end, epochs one after the other", i, starts[i], error);
        sf_span span = {sf_seconds_to_ns(starts[i]), sf_seconds_to_ns(ends[i])};
        if (span.start_ns < span.stop_ns) recording->observed[kept++] = span;
    }
    recording->observed_count = kept;
    if (kept == 0) return SF_OK;
    recording->recorded = (sf_span){recording->observed[0].start_ns, recording->observed[kept - 1].stop_ns};
    recording->declared = !is_own(recording);
    if (!recording->declared) recording->recorded = (sf_span){0, 0};
    if (kept < 2) recording->observed_count = 0;
    return SF_OK;
}

static int read_epochs(sf_recording *recording, const char *path, sf_error *error)
{
    double *starts = NULL, *ends = NULL;
    size_t count = 0, end_count = 0;
    int status = load(&starts, NULL, &count, path, "start.npy", error);
    if (status == SF_OK) status = load(&ends, NULL, &end_count, path, "end.npy", error);
    if (status == SF_OK && count != end_count)
        status = sf_fail(error, SF_DATA, path, "damaged: %zu epochs begin and %zu end", count, end_count);
    else if (status == SF_OK && count > 0)
        status = take_epochs(recording, starts, ends, count, path, error);
    sf_free(starts);
    sf_free(ends);
    return status;
}

static int read_archive(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    if (how->rate_hz > 0) return sf_refuse_rate(path, error);
    int status = read_spikes(recording, path, error);
    return status == SF_OK ? read_epochs(recording, path, error) : status;
}

const sf_folder_reader sf_folder_pynapple = {.recognises = recognises, .read = read_archive};
