/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Occurrences of episodes as an HDF5 file (docs/formats.md): a synfire file of kind "occurrences" that says
 * by itself which units, episodes and recording they are of. One thread calls HDF5, as for io/layout.h.
 *
 *   /             as in io/layout.h, synfire = "occurrences"; recording (text): what they were counted in
 *   /units/ /metadata  of the recording
 *   /episodes/    a row an episode: text and id (fixed strings), size (u32), units (n, 16) u32, delay_low_ns
 *                 and delay_high_ns (n, 15) i64, count (u64), expected (f64), first (u64): its first row
 * below /occurrences/ a row an occurrence, ordered by episode and then time: episode (u32), times_ns (n, 16)
 * i64
 *
 * Beyond an episode's size, units are 2^32 - 1 and times and delays -2^63.
 */
#ifndef SF_IO_OCCURRENCE_FILE_H
#define SF_IO_OCCURRENCE_FILE_H

#include "core/units.h"
#include "io/hdf.h"

#include <synfire/mine.h>

#define SF_OCCURRENCES_KIND "occurrences"

/** What such a file holds. */
typedef struct sf_occurrence_set {
    char *recording; /**< path of what the occurrences were counted in */
    sf_units units;
    size_t count;
    sf_episode *episodes;
    double *expected;
    uint64_t *first; /**< count + 1: episode i's occurrences are first[i] .. first[i + 1] - 1 */
    int64_t (*times_ns)[SF_EPISODE_MAX_SIZE]; /**< by occurrence; INT64_MIN beyond the episode's size */
} sf_occurrence_set;

/** Asks the reading program (io/apart.h). SF_NO_INPUT; SF_DATA where it is another kind of file, or
 * damaged. Free with sf_occurrence_set_free. */
int sf_occurrence_file_read(sf_occurrence_set *set, const char *path, sf_error *error);
void sf_occurrence_set_free(sf_occurrence_set *set);

/** What the reading program does: hands over the columns of the file as they are. */
int sf_occurrence_set_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** And what its answer holds, which is not believed: SF_DATA. */
int sf_occurrence_set_take(sf_occurrence_set *set, sf_parcel *parcel, const char *path, sf_error *error);

/** True where the file is readable and of this kind. */
bool sf_occurrence_file_is(const char *path);

#endif
