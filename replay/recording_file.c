/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/recording_file.h"

#include "analysis/selection.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/pieces.h"
#include "core/ranks.h"
#include "io/apart.h"
#include "io/hdf.h"
#include "io/hdf_about.h"
#include "replay/csv.h"
#include "replay/folder.h"
#include "replay/mat.h"
#include "replay/positions.h"
#include "replay/reader.h"
#include "replay/recording_parcel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a recording that is read in chunks ---- */

typedef struct file_pieces {
    sf_pieces base;
    char *path;
    sf_selection selection; /* of each piece; owns what it points to */
    size_t unit_count, rows;
    sf_span recorded;
} file_pieces;

/* ---- how long a piece is ---- */

#define MEBIBYTE ((uint64_t)1 << 20)

/* Memory of a process besides its chunk: the program, MPI, and the summaries of the candidates of one pass.
 */
#define BESIDE (96 * MEBIBYTE)
#define LEAST_MEMORY (128 * MEBIBYTE)

/* Bytes per spike, over reading, holding, laying out and merging. */
#define BYTES_OF_SPIKE 64

static int count_pieces(file_pieces *f, uint64_t memory, sf_error *error)
{
    if (memory < LEAST_MEMORY)
        return sf_fail(error, SF_USAGE, "memory", "is %" PRIu64 " bytes, expected at least %" PRIu64 " MiB",
                       memory, LEAST_MEMORY / MEBIBYTE);
    uint64_t length = (memory - BESIDE) / BYTES_OF_SPIKE, count = (f->rows + length - 1) / length;
    count = count < sf_ranks_count() ? sf_ranks_count() : count;
    f->base.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    return SF_OK;
}

/* ---- reading ---- */

/* Reads one part of all rows, independent of the selection. */
static int read_rows(sf_recording *recording, const file_pieces *f, uint32_t part, uint32_t parts,
                     sf_error *error)
{
    sf_parcel parcel;
    char kind[96];
    snprintf(kind, sizeof kind, "piece:%" PRIu32 "/%" PRIu32 "@%.17g", part, parts, f->selection.rate_hz);
    int status = sf_apart_read(&parcel, kind, f->path, f->selection.stream, NULL, error);
    return status == SF_OK ? sf_recording_take(recording, &parcel, f->path, false, error) : status;
}

static int read_piece(const sf_pieces *pieces, uint32_t piece, sf_recording *recording, sf_error *error)
{
    const file_pieces *f = (const file_pieces *)pieces;
    int status = read_rows(recording, f, piece, pieces->count, error);
    if (status != SF_OK) return status;
    if (recording->units.count != f->unit_count || recording->file_spikes != f->rows)
        status = sf_fail(error, SF_DATA, f->path, "has changed since it was opened");
    recording->recorded = f->recorded; /* of the whole */
    recording->declared = true;
    if (status == SF_OK) status = sf_selection_keep(recording, &f->selection, error);
    if (status != SF_OK) sf_recording_clear(recording);
    return status;
}

static void close_pieces(sf_pieces *pieces)
{
    file_pieces *f = (file_pieces *)pieces;
    sf_free(f->path);
    sf_free((char *)f->selection.stream);
    sf_free((char *)f->selection.units);
    sf_free((char *)f->selection.kind);
    sf_free((sf_epoch *)f->selection.epochs);
    sf_free((char *)f->selection.blank);
}

/* ---- opening ---- */

static bool copy_text(const char **to, const char *text)
{
    *to = text != NULL ? sf_copy_string(text) : NULL;
    return (*to == NULL) == (text == NULL);
}

static int copy_selection(sf_selection *to, const sf_selection *from, sf_error *error)
{
    *to = *from;
    to->epochs_path = NULL;
    bool whole = copy_text(&to->stream, from->stream);
    whole = copy_text(&to->units, from->units) && whole;
    whole = copy_text(&to->kind, from->kind) && whole;
    whole = copy_text(&to->blank, from->blank) && whole;
    to->epochs = NULL;
    sf_epoch *epochs = from->epochs != NULL ? sf_resize(NULL, from->epoch_count, sizeof *epochs) : NULL;
    if (epochs != NULL && from->epoch_count > 0)
        memcpy(epochs, from->epochs, from->epoch_count * sizeof *epochs);
    to->epochs = epochs;
    return whole && (epochs == NULL) == (from->epochs == NULL) ? SF_OK : sf_fail_memory(error);
}

/* Reads the first and the last spike, which determine the default times. */
static int read_ends(file_pieces *f, sf_recording *recording, sf_spike ends[2], sf_error *error)
{
    uint32_t parts = f->rows < UINT32_MAX ? (uint32_t)f->rows : UINT32_MAX;
    sf_recording end;
    for (uint32_t i = 0; i < 2 && parts > 0; i++) {
        int status = read_rows(&end, f, i == 0 ? 0 : parts - 1, parts, error);
        if (status != SF_OK) return status;
        bool same = end.spike_count > 0 && end.units.count == f->unit_count;
        ends[i] = same ? end.spikes[i == 0 ? 0 : end.spike_count - 1] : (sf_spike){0};
        sf_recording_clear(&end);
        if (!same) return sf_fail(error, SF_DATA, f->path, "has changed since it was opened");
    }
    if (!recording->declared) recording->recorded = (sf_span){0, 0};
    return SF_OK;
}

/* Finds the times as for a recording read as a whole, with the two end spikes only, then removes these. */
static int find_times(file_pieces *f, sf_recording *recording, sf_error *error)
{
    sf_spike ends[2] = {{0}}, *own = recording->spikes;
    int64_t stated_ns = recording->tick_ns;
    int status = read_ends(f, recording, ends, error);
    if (status != SF_OK) return status;
    recording->spikes = ends;
    recording->spike_count = f->rows > 0 ? 2 : 0;
    status = sf_recording_finish(recording, error);
    recording->spikes = own;
    recording->spike_count = 0;
    recording->tick_ns = stated_ns; /* two spikes tell nothing of it */
    f->recorded = recording->recorded;
    sf_time_point *points[] = {&f->selection.from, &f->selection.to};
    int64_t first_ns = f->rows > 0 ? ends[0].time_ns : recording->recorded.start_ns;
    for (int i = 0; i < 2; i++) {
        if (points[i]->from_first) points[i]->ns = sf_time_plus(first_ns, points[i]->ns);
        points[i]->from_first = false;
    }
    return status;
}

/* Of a recording without spikes, what was selected is told; then how many that is. */
static int select_pieces(file_pieces *f, sf_recording *recording, const sf_selection *asked,
                         const sf_progress *progress, sf_error *error)
{
    sf_selection told = f->selection;
    told.epochs_path = asked->epochs_path;
    int status = sf_selection_apply(recording, &told, error);
    status = sf_ranks_agree(status, error);
    if (status == SF_OK) status = sf_pieces_survey(&f->base, f->unit_count, progress, error);
    if (status != SF_OK) return status;
    if (recording->tick_ns == 0) recording->tick_ns = sf_tick_find(&f->base.tick);
    recording->selected->spikes = f->base.spike_count;
    recording->selected->spikes_in_file = f->rows;
    recording->pieces = &f->base;
    recording->selected->data = sf_recording_hash(recording);
    size_t lost = 0; /* known from the recording itself; other losses from its chunks */
    for (size_t i = 0; i < recording->dropped_count; i++)
        if (recording->dropped[i].kind == SF_DROP_LOST) recording->dropped[lost++] = recording->dropped[i];
    recording->dropped_count = lost;
    for (size_t i = 0; i < f->base.dropped_count; i++)
        sf_recording_drop(recording, f->base.dropped[i].cause, f->base.dropped[i].count)->kind =
            f->base.dropped[i].kind;
    sf_selected *selected = recording->selected;
    selected->dropped_count = recording->dropped_count;
    memcpy(selected->dropped, recording->dropped, sizeof selected->dropped);
    return SF_OK;
}

static int open_pieces(file_pieces *f, sf_recording *recording, const char *path,
                       const sf_selection *selection, const sf_progress *progress, sf_error *error)
{
    if ((f->path = sf_copy_string(path)) == NULL) return sf_fail_memory(error);
    int status = copy_selection(&f->selection, selection, error);
    if (status == SF_OK && selection->dedup_ns > 0)
        status = sf_fail(error, SF_USAGE, "dedup", "needs all spikes at once, and these are read in pieces");
    if (status == SF_OK) status = read_rows(recording, f, 0, UINT32_MAX, error);
    if (status != SF_OK) return status;
    f->rows = recording->file_spikes;
    f->unit_count = recording->units.count;
    status = count_pieces(f, selection->memory, error);
    if (status == SF_OK) status = find_times(f, recording, error);
    return status == SF_OK ? select_pieces(f, recording, selection, progress, error) : status;
}

/*
 * Reads everything but the spikes, and passes over the spikes once. The selection applies to every chunk,
 * whose length is as selection->memory allows. All ranks call this together. SF_USAGE for a file that cannot
 * be read in chunks; else as sf_recording_open.
 */
static int file_pieces_open(sf_recording *recording, const char *path, const sf_selection *selection,
                            const sf_progress *progress, sf_error *error)
{
    *recording = (sf_recording){0};
    file_pieces *f = sf_alloc(1, sizeof *f);
    if (f == NULL) return sf_fail_memory(error);
    f->base.read = read_piece;
    f->base.close = close_pieces;
    int status = open_pieces(f, recording, path, selection, progress, error);
    recording->pieces = &f->base;
    if (status != SF_OK) sf_recording_clear(recording);
    return status;
}

/* ---- a recording that is read whole ---- */

/* Reads by means of the reading program, because a damaged file may crash it. */
static int read_apart(sf_recording *recording, const char *path, const sf_reading *how,
                      const sf_progress *progress, sf_error *error)
{
    sf_parcel parcel;
    char kind[96];
    uint32_t parts = sf_ranks_count() > 1 && !sf_streams_may_be_session(how->stream)
                         ? sf_ranks_count()
                         : 0; /* each rank reads its part, if the layout can be read in parts */
    snprintf(kind, sizeof kind, "recording:%" PRIu32 "/%" PRIu32 "@%.17g", parts > 0 ? sf_ranks_rank() : 0,
             parts, how->rate_hz);
    int status = sf_apart_read(&parcel, kind, path, how->stream, progress, error);
    return status == SF_OK ? sf_recording_take(recording, &parcel, path, true, error) : status;
}

/* The kind of a readable path. */
typedef enum path_kind { TEXT, HDF5, MATLAB, FOLDER } path_kind;

static int check_path(const char *path, path_kind *kind, sf_error *error)
{
    struct stat about;
    *kind = TEXT;
    if (stat(path, &about) != 0 || access(path, R_OK) != 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    if (S_ISDIR(about.st_mode)) {
        *kind = FOLDER;
        return SF_OK;
    }
    if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))
        return sf_fail(error, SF_NO_INPUT, path, "this is a device, expected a recording file");
    if (S_ISREG(about.st_mode) && sf_hdf_has_signature(path)) /* a pipe can only be text */
        *kind = HDF5;
    else if (S_ISREG(about.st_mode) && sf_mat_has_signature(path))
        *kind = MATLAB;
    else if (S_ISREG(about.st_mode) && sf_folder_recognises(path))
        *kind = FOLDER;
    else if (S_ISREG(about.st_mode))
        return sf_folder_refuse_part(path, error);
    return SF_OK;
}

int sf_recording_read(sf_recording *recording, const char *path, const sf_reading *how,
                      const sf_progress *progress, sf_error *error)
{
    static const sf_reading as_it_says;
    path_kind kind;
    *recording = (sf_recording){0};
    how = how != NULL ? how : &as_it_says;
    int status = check_path(path, &kind, error);
    if (status != SF_OK) return status;
    if (kind != TEXT && how->columns != NULL)
        return sf_fail(error, SF_USAGE, "columns", "%s is no text: its layout says what is where", path);
    if (kind == FOLDER) return sf_folder_read(recording, path, how, error);
    if (kind == HDF5 || kind == MATLAB) return read_apart(recording, path, how, progress, error);
    return sf_csv_read(recording, path, how, progress, error);
}

int sf_recording_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error)
{
    static const sf_reading as_it_says;
    path_kind kind;
    sf_parcel parcel;
    char asked[64];
    *streams = (sf_streams){0};
    how = how != NULL ? how : &as_it_says;
    int status = check_path(path, &kind, error);
    if (status != SF_OK) return status;
    if (kind == FOLDER) return sf_folder_list(streams, path, how, error);
    if (kind == TEXT) return sf_csv_list(streams, path, how, error);
    snprintf(asked, sizeof asked, "streams:0/0@%.17g", how->rate_hz);
    status = sf_apart_read(&parcel, asked, path, NULL, NULL, error);
    return status == SF_OK ? sf_streams_take(streams, &parcel, path, error) : status;
}

static int read_pieces(sf_recording *recording, const char *path, const sf_selection *selection,
                       const sf_progress *progress, sf_error *error)
{
    path_kind kind;
    *recording = (sf_recording){0};
    int status = check_path(path, &kind, error);
    if (status == SF_OK && kind != HDF5)
        status = sf_fail(error, SF_USAGE, path,
                         "text, folders, archives, MATLAB files and those of other systems are read as a "
                         "whole, not in pieces: "
                         "`synfire convert` writes it as HDF5 that is");
    return status == SF_OK ? file_pieces_open(recording, path, selection, progress, error) : status;
}

int sf_recording_spare(const char *path, sf_error *error)
{
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0)
        return SF_OK; /* creating the file will report any problem */
    bool spared;
    if (sf_hdf_has_signature(path)) {
        sf_hdf_about about;
        bool known = sf_hdf_about_read(&about, path);
        spared = !known || (!about.truth && strcmp(about.kind, "graph") != 0 &&
                            strcmp(about.kind, "occurrences") != 0 && strcmp(about.kind, "state") != 0);
    } else if (sf_mat_has_signature(path) || sf_folder_recognises(path)) {
        spared = true;
    } else {
        sf_recording recording;
        spared = sf_csv_read(&recording, path, NULL, NULL, NULL) == SF_OK;
        if (spared) sf_recording_clear(&recording);
    }
    if (!spared) return SF_OK;
    return sf_fail(
        error, SF_CANNOT_CREATE, path,
        "is there and is no result or simulation of synfire's but a recording, which is not replaced: "
        "remove it or choose another name");
}

int sf_recording_open(sf_recording **out, const char *path, const sf_selection *selection,
                      const sf_progress *progress, sf_error *error)
{
    *out = NULL;
    sf_selection own;
    int status = sf_selection_read(&own, selection, error);
    if (status != SF_OK) return status;
    if (own.kind == NULL) own.kind = SF_KINDS_ANALYSED;
    sf_recording *recording = sf_alloc(1, sizeof *recording);
    if (recording == NULL) return sf_fail_memory(error);
    const sf_reading how = {.stream = own.stream, .rate_hz = own.rate_hz, .columns = own.columns};
    if (!(how.rate_hz == 0 || (how.rate_hz >= SF_LEAST_RATE_HZ && how.rate_hz <= SF_MOST_RATE_HZ)))
        status = sf_fail(error, SF_USAGE, "rate_hz", "found %g, expected %g to %g samples a second",
                         how.rate_hz, SF_LEAST_RATE_HZ, SF_MOST_RATE_HZ);
    if (status == SF_OK && own.memory > 0)
        status = read_pieces(recording, path, &own, progress, error);
    else if (status == SF_OK)
        status = sf_recording_read(recording, path, &how, progress, error);
    if (status == SF_OK && own.positions != NULL) status = sf_positions_take(recording, own.positions, error);
    if (status == SF_OK && own.memory == 0) status = sf_selection_apply(recording, &own, error);
    if (status == SF_OK)
        *out = recording;
    else
        sf_recording_free(recording);
    return status;
}
