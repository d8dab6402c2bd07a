/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recording_parcel.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "replay/reader.h"
#include "replay/sessions.h"

#include <string.h>
#include <sys/mman.h>

/* Numeric members of a unit, and of a recording. */
typedef struct unit_row {
    double x_um, y_um;
    int32_t kind, electrode;
} unit_row;

typedef struct span_row {
    sf_span recorded;
    uint64_t declared;
    int64_t tick_ns;
} span_row;

/* ---- handing over ---- */

static void put_units(sf_parcel_writer *parcel, const sf_units *units)
{
    sf_parcel_put_number(parcel, units->count);
    for (size_t i = 0; i < units->count; i++) {
        const sf_unit *unit = &units->items[i];
        unit_row row = {unit->x_um, unit->y_um, (int32_t)unit->kind, unit->electrode};
        sf_parcel_put_text(parcel, unit->name);
        sf_parcel_put_text(parcel, unit->well);
        sf_parcel_put(parcel, &row, 1, sizeof row);
    }
}

static void put_notes(sf_parcel_writer *parcel, const sf_recording *recording)
{
    sf_parcel_put_number(parcel, recording->metadata_count);
    for (size_t i = 0; i < recording->metadata_count; i++) {
        sf_parcel_put_text(parcel, recording->metadata[i].key);
        sf_parcel_put_text(parcel, recording->metadata[i].value);
    }
    sf_parcel_put_number(parcel, recording->dropped_count);
    for (size_t i = 0; i < recording->dropped_count; i++) {
        sf_parcel_put_text(parcel, recording->dropped[i].cause);
        sf_parcel_put_number(parcel, recording->dropped[i].kind);
        sf_parcel_put_number(parcel, recording->dropped[i].count);
    }
}

typedef struct spikes_field {
    const sf_parcel_writer *parcel;
    uint64_t at;
} spikes_field;

static int put_ordered(void *context, const sf_spike *ordered, size_t first, size_t count)
{
    const spikes_field *field = context;
    return sf_parcel_fill(field->parcel, field->at + first * sizeof *ordered, ordered,
                          count * sizeof *ordered)
               ? SF_OK
               : SF_NO_MEMORY;
}

/* Writes spikes in place, because there may be no memory for a second copy. */
static int put_spikes(sf_parcel_writer *parcel, sf_recording *recording, bool in_order)
{
    sf_spike *spikes = recording->spikes;
    if (!in_order) { /* parts are joined as they come */
        sf_parcel_put(parcel, spikes, recording->spike_count, sizeof *spikes);
        return SF_OK;
    }
    spikes_field field = {parcel, sf_parcel_put_empty(parcel, recording->spike_count, sizeof *spikes)};
    return sf_spikes_order(spikes, recording->spike_count, put_ordered, &field);
}

int sf_recording_put_piece(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    sf_hdf_input piece = *input;
    piece.only_part = true;
    return sf_recording_put(parcel, &piece, error);
}

int sf_recording_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    sf_recording recording;
    int status = sf_recording_read_hdf5(&recording, input, error); /* who takes it puts it in order */
    if (status != SF_OK) return status;
    span_row spans = {recording.recorded, recording.declared, recording.tick_ns};
    sf_parcel_put_text(parcel, recording.format);
    put_units(parcel, &recording.units);
    if (put_spikes(parcel, &recording, !recording.is_part || input->only_part) != SF_OK) {
        sf_recording_clear(&recording);
        return sf_fail_memory(error);
    }
    sf_parcel_put(parcel, recording.markers, recording.marker_count, sizeof *recording.markers);
    sf_parcel_put(parcel, &spans, 1, sizeof spans);
    sf_parcel_put(parcel, recording.observed, recording.observed_count, sizeof *recording.observed);
    put_notes(parcel, &recording);
    sf_parcel_put_number(parcel, recording.is_part);
    sf_parcel_put_number(parcel, recording.file_spikes);
    sf_recording_clear(&recording);
    return SF_OK;
}

int sf_recording_put_streams(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    sf_streams streams = {0};
    int status = sf_recording_list_hdf5(&streams, input, error);
    if (status == SF_OK) sf_streams_put(parcel, &streams);
    sf_streams_free(&streams);
    return status;
}

/* ---- taking ---- */

static int take_units(sf_recording *recording, sf_parcel *parcel, sf_error *error)
{
    uint64_t count = sf_parcel_take_number(parcel);
    for (uint64_t i = 0; i < count; i++) {
        const char *name = sf_parcel_take_text(parcel), *well = sf_parcel_take_text(parcel);
        const unit_row *row = sf_parcel_take_exactly(parcel, sizeof *row, 1);
        if (row == NULL || name == NULL || row->kind < SF_UNIT_UNKNOWN || row->kind > SF_UNIT_NOISE)
            return sf_parcel_refuse(recording->path, error);
        sf_unit unit = {.name = name,
                        .x_um = row->x_um,
                        .y_um = row->y_um,
                        .kind = (sf_unit_kind)row->kind,
                        .electrode = row->electrode,
                        .well = well};
        if (sf_units_add(&recording->units, &unit, error) != SF_OK) return SF_NO_MEMORY;
    }
    return SF_OK;
}

static int take_events(sf_recording *recording, sf_parcel *parcel, sf_error *error)
{
    recording->spikes = sf_parcel_take(parcel, sizeof *recording->spikes, &recording->spike_count);
    recording->markers = sf_parcel_take(parcel, sizeof *recording->markers, &recording->marker_count);
    uint32_t most = 0; /* the last unit that fired */
    for (size_t i = 0; i < recording->spike_count; i++)
        most = recording->spikes[i].unit > most ? recording->spikes[i].unit : most;
    bool sound = !parcel->damaged && (recording->spike_count == 0 || most < recording->units.count);
    for (size_t i = 0; sound && i < recording->marker_count; i++)
        sound = memchr(recording->markers[i].text, '\0', SF_MARKER_TEXT_SIZE) != NULL;
    return sound ? SF_OK : sf_parcel_refuse(recording->path, error);
}

static int take_spans(sf_recording *recording, sf_parcel *parcel, sf_error *error)
{
    size_t count;
    const span_row *spans = sf_parcel_take_exactly(parcel, sizeof *spans, 1);
    const sf_span *observed = sf_parcel_take(parcel, sizeof *observed, &count);
    bool sound =
        !parcel->damaged && spans->recorded.start_ns <= spans->recorded.stop_ns && spans->tick_ns >= 0;
    for (size_t i = 0; sound && i < count; i++)
        sound = observed[i].start_ns <= observed[i].stop_ns &&
                (i == 0 || observed[i - 1].stop_ns <= observed[i].start_ns);
    if (!sound) return sf_parcel_refuse(recording->path, error);
    recording->recorded = spans->recorded;
    recording->declared = spans->declared != 0;
    recording->tick_ns = spans->tick_ns;
    if (count == 0) return SF_OK;
    recording->observed = sf_resize(NULL, count, sizeof *recording->observed);
    if (recording->observed == NULL) return sf_fail_memory(error);
    memcpy(recording->observed, observed, count * sizeof *observed);
    recording->observed_count = count;
    return SF_OK;
}

static int take_notes(sf_recording *recording, sf_parcel *parcel, sf_error *error)
{
    int status = SF_OK;
    uint64_t entries = sf_parcel_take_number(parcel);
    for (uint64_t i = 0; status == SF_OK && i < entries; i++) {
        const char *key = sf_parcel_take_text(parcel), *value = sf_parcel_take_text(parcel);
        status = key != NULL && value != NULL ? sf_recording_set_metadata(recording, key, value, error)
                                              : sf_parcel_refuse(recording->path, error);
    }
    uint64_t causes = sf_parcel_take_number(parcel);
    for (uint64_t i = 0; status == SF_OK && i < causes; i++) {
        const char *cause = sf_parcel_take_text(parcel);
        uint64_t kind = sf_parcel_take_number(parcel), count = sf_parcel_take_number(parcel);
        if (parcel->damaged || cause == NULL || kind > SF_DROP_LOST)
            status = sf_parcel_refuse(recording->path, error);
        else
            sf_recording_drop(recording, cause, count)->kind = (uint8_t)kind;
    }
    return status == SF_OK && parcel->damaged ? sf_parcel_refuse(recording->path, error) : status;
}

/* Every rank has read a part: exchanges them, so that each has all spikes, in its own memory. */
static int join_parts(sf_recording *recording, sf_error *error)
{
    void *spikes;
    size_t bytes;
    int status = sf_ranks_append(&spikes, &bytes, recording->spikes,
                                 recording->spike_count * sizeof *recording->spikes, SF_OK, error);
    if (status != SF_OK) return status;
    sf_marker *markers = sf_resize(NULL, recording->marker_count, sizeof *markers);
    if (markers == NULL) {
        sf_free(spikes);
        return sf_fail_memory(error);
    }
    if (recording->marker_count > 0)
        memcpy(markers, recording->markers, recording->marker_count * sizeof *markers);
    recording->unmap(recording->mapping, recording->mapped_bytes);
    recording->mapping = NULL;
    recording->is_mapped = recording->is_part = false;
    recording->spikes = spikes;
    recording->spike_count = bytes / sizeof *recording->spikes;
    recording->markers = markers;
    if (!recording->declared) recording->recorded = (sf_span){0, 0}; /* was that of the part */
    return SF_OK;
}

static int take_all(sf_recording *recording, sf_parcel *parcel, const char *path, bool joins, sf_error *error)
{
    const char *format = sf_parcel_take_text(parcel);
    recording->path = sf_copy_string(path);
    recording->format = sf_copy_string(format != NULL ? format : "");
    int status = recording->path != NULL && recording->format != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) status = take_units(recording, parcel, error);
    if (status == SF_OK) status = take_events(recording, parcel, error);
    if (status == SF_OK) status = take_spans(recording, parcel, error);
    if (status == SF_OK) status = take_notes(recording, parcel, error);
    recording->is_part = status == SF_OK && sf_parcel_take_number(parcel) != 0;
    recording->file_spikes = status == SF_OK ? sf_parcel_take_number(parcel) : 0;
    if (status == SF_OK && parcel->damaged) status = sf_parcel_refuse(path, error);
    bool joined = recording->is_part && joins;
    if (status == SF_OK && joined) status = join_parts(recording, error);
    if (status == SF_OK && joined) /* possible now that all rows are in file order */
        status = sf_sessions_take(recording, NULL, SF_SESSION_ANY, error);
    return status == SF_OK ? sf_recording_finish(recording, error)
                           : status; /* order and times, as of any file */
}

int sf_recording_take(sf_recording *recording, sf_parcel *parcel, const char *path, bool joins,
                      sf_error *error)
{
    *recording = (sf_recording){
        .is_mapped = true, .mapping = parcel->mapping, .mapped_bytes = parcel->mapped, .unmap = munmap};
    int status = take_all(recording, parcel, path, joins, error);
    *parcel = (sf_parcel){0};
    if (status != SF_OK) sf_recording_clear(recording);
    return status;
}
