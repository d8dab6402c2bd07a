/* SPDX-License-Identifier: Apache-2.0 */
/** Reading a file of HDF5 or MATLAB in the process of a test, without the program that does it otherwise. */
#ifndef SF_TESTS_READ_HDF5_H
#define SF_TESTS_READ_HDF5_H

#include "replay/reader.h"

/** The whole of it, in order; a part of its rows stays as it comes. */
static inline int test_read_hdf5(sf_recording *recording, const sf_hdf_input *input, sf_error *error)
{
    int status = sf_recording_read_hdf5(recording, input, error);
    if (status != SF_OK || (recording->is_part && !input->only_part)) return status;
    status = sf_recording_finish(recording, error);
    if (status != SF_OK) sf_recording_clear(recording);
    return status;
}

#endif
