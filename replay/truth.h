/* SPDX-License-Identifier: Apache-2.0 */
/** The planted chains of a synfire HDF5 file: the group /truth of io/layout.h. One thread calls HDF5. */
#ifndef SF_REPLAY_TRUTH_H
#define SF_REPLAY_TRUTH_H

#include "io/hdf.h"
#include "replay/simulation.h"

typedef struct sf_layout sf_layout; /* io/layout.h */

/** Adds /truth to a file that is being written and has none yet. */
int sf_truth_write(const sf_layout *layout, const sf_truth *truth, const sf_units *units, sf_error *error);

/** Whether the file is readable and has a group /truth, so that a simulation made it. */
bool sf_truth_in_file(const char *path);

/** Reads /truth by means of the reading program (io/apart.h); `units` are those of the recording in the same
 * file. SF_NO_INPUT, SF_DATA. */
int sf_truth_read(sf_truth *truth, const char *path, const sf_units *units, sf_error *error);

/** In the reading program: writes the columns of /truth to the parcel as they are. */
int sf_truth_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

/** In the main process: reads them from the parcel, which is untrusted: SF_DATA. */
int sf_truth_take(sf_truth *truth, sf_parcel *parcel, const char *path, const sf_units *units,
                  sf_error *error);

#endif
