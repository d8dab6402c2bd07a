/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/convert.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/file.h"
#include "io/layout.h"
#include "replay/recording_file.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* In the order of suffixes: .h5 is synfire's own. */
static const sf_conversion *const all[] = {&sf_convert_synfire, &sf_convert_nwb, &sf_convert_carmen,
                                           &sf_convert_csv};
enum { CONVERSIONS = sizeof all / sizeof all[0] };

int sf_conversion_find(const sf_conversion **found, const char *name, const char *path, sf_error *error)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; i < CONVERSIONS; i++) {
        *found = all[i];
        if (name != NULL ? strcmp(all[i]->name, name) == 0
                         : dot != NULL && all[i]->suffix != NULL && strcasecmp(dot + 1, all[i]->suffix) == 0)
            return SF_OK;
    }
    *found = NULL;
    return name != NULL ? sf_fail(error, SF_USAGE, "--layout",
                                  "found '%s', expected synfire, nwb, carmen or csv", name)
                        : sf_fail(error, SF_USAGE, path,
                                  "its name does not say a layout, as .h5 (synfire), .nwb and .csv do: give "
                                  "--layout synfire, "
                                  "nwb, carmen or csv");
}

/* ---- what is lost ---- */

void sf_conversion_lose(sf_text *lost, size_t count, const char *what)
{
    if (count > 0) sf_text_printf(lost, "%s%zu %s", lost->length > 0 ? ", " : "", count, what);
}

sf_conversion_counts sf_conversion_count(const sf_recording *recording)
{
    sf_conversion_counts counts = {.silent = recording->units.count};
    uint32_t last = SF_NO_UNIT;
    for (size_t u = 0; u < recording->units.count; u++) {
        const sf_unit *unit = &recording->units.items[u];
        counts.wells += unit->well != NULL && unit->well[0] != '\0';
        counts.electrodes += unit->electrode >= 0;
        counts.kinds += unit->kind != SF_UNIT_UNKNOWN;
        counts.places += isfinite(unit->x_um) && isfinite(unit->y_um);
    }
    bool *seen = sf_alloc(recording->units.count, sizeof *seen);
    for (size_t i = 0; i < recording->spike_count; i++) {
        counts.amplitudes += isnan(recording->spikes[i].amplitude) ? 0 : 1;
        if (seen != NULL && recording->spikes[i].unit != last) {
            last = recording->spikes[i].unit;
            counts.silent -= !seen[last];
            seen[last] = true;
        }
    }
    sf_free(seen);
    return counts;
}

int sf_conversion_trains(const sf_recording *recording, double **seconds, size_t **ends, sf_error *error)
{
    size_t units = recording->units.count, sum = 0;
    *seconds = sf_resize(NULL, recording->spike_count, sizeof **seconds);
    *ends = sf_alloc(units, sizeof **ends);
    if (*seconds == NULL || *ends == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++)
        (*ends)[recording->spikes[i].unit]++;
    for (size_t u = 0; u < units; u++) { /* where each begins */
        size_t count = (*ends)[u];
        (*ends)[u] = sum;
        sum += count;
    }
    for (size_t i = 0; i < recording->spike_count; i++) {
        int64_t ns = recording->spikes[i].time_ns;
        double value = (double)ns / 1e9;
        if (sf_seconds_to_ns(value) != ns)
            return sf_fail(error, SF_USAGE, recording->path,
                           "has a spike at %.9Lf s, which seconds as the layout stores them do not hold to "
                           "the nanosecond; "
                           "synfire's own layout and CSV do",
                           (long double)ns / 1e9L);
        (*seconds)[(*ends)[recording->spikes[i].unit]++] = value;
    }
    return SF_OK;
}

int sf_recording_convert(const sf_recording *recording, const char *path, const sf_conversion *to,
                         const char *provenance, sf_text *lost, sf_error *error)
{
    *lost = (sf_text){0};
    if (recording->path != NULL && sf_file_same(recording->path, path))
        return sf_fail(error, SF_USAGE, path, "is the recording itself, expected another file");
    if (!to->negative_times && recording->spike_count > 0 && recording->spikes[0].time_ns < 0)
        return sf_fail(error, SF_USAGE, path,
                       "the layout %s has no times before 0, and the first spike is at %g s", to->name,
                       (double)recording->spikes[0].time_ns * 1e-9);
    int status = sf_recording_spare(path, error);
    if (status == SF_OK) status = to->write(recording, path, provenance, error);
    if (status != SF_OK) return status;
    to->lose(recording, lost);
    return lost->failed ? sf_fail_memory(error) : SF_OK;
}

/* ---- synfire ---- */

static void lose_nothing(const sf_recording *recording, sf_text *lost)
{
    (void)recording, (void)lost;
}

static int write_synfire(const sf_recording *recording, const char *path, const char *provenance,
                         sf_error *error)
{
    const sf_layout_options how = {
        .kind = "recording", .provenance = provenance, .recording = recording->path, .overwrite = true};
    sf_layout *layout;
    int status = sf_layout_create(&layout, path, recording, &how, error);
    if (status != SF_OK) return status;
    status = sf_layout_append_markers(layout, recording->markers, recording->marker_count, error);
    if (status == SF_OK)
        status = sf_layout_append_spikes(layout, recording->spikes, recording->spike_count, error);
    if (status == SF_OK)
        return sf_layout_close(layout, recording->declared ? &recording->recorded : NULL, error);
    sf_layout_discard(layout);
    return status;
}

const sf_conversion sf_convert_synfire = {
    .name = "synfire", .suffix = "h5", .negative_times = true, .lose = lose_nothing, .write = write_synfire};

/* ---- CSV ---- */

static void lose_csv(const sf_recording *recording, sf_text *lost)
{
    sf_conversion_counts counts = sf_conversion_count(recording);
    sf_conversion_lose(lost, counts.silent, "units without spikes");
    sf_conversion_lose(lost, counts.places, "positions");
    sf_conversion_lose(lost, counts.kinds, "kinds");
    sf_conversion_lose(lost, counts.electrodes, "electrodes' numbers");
    sf_conversion_lose(lost, counts.wells, "wells of units");
    sf_conversion_lose(lost, counts.amplitudes, "amplitudes");
    sf_conversion_lose(lost, recording->marker_count, "markers");
    sf_conversion_lose(lost, recording->observed_count, "observation intervals");
    sf_conversion_lose(lost, recording->metadata_count, "entries of metadata");
    sf_conversion_lose(lost, recording->declared, "declared recorded span");
}

static int write_csv(const sf_recording *recording, const char *path, const char *provenance, sf_error *error)
{
    (void)provenance; /* comments are no part of CSV */
    sf_text text = {0};
    for (size_t u = 0; u < recording->units.count; u++) {
        const char *name = recording->units.items[u].name;
        if (strpbrk(name, "\r\n") != NULL || strlen(name) > 255)
            return sf_fail(error, SF_USAGE, path,
                           "lines cannot hold the name of unit #%zu, which has breaks or is too long", u);
    }
    sf_text_printf(&text, "unit,seconds\n");
    for (size_t i = 0; i < recording->spike_count && !text.failed; i++) {
        sf_text_cell(&text, recording->units.items[recording->spikes[i].unit].name);
        sf_text_append(&text, ",", 1);
        sf_text_scaled(&text, recording->spikes[i].time_ns, 9);
        sf_text_append(&text, "\n", 1);
    }
    int status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}

const sf_conversion sf_convert_csv = {.name = "csv", .suffix = "csv", .lose = lose_csv, .write = write_csv};
