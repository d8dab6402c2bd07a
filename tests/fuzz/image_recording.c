/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings in HDF5, byte by byte, as a whole and cut off: a recording in order, or a refusal. */
#include "fuzz/hdf_recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_hdf_begin();
    read_recording(size > 0 ? fuzz_open_image(data, size) : H5I_INVALID_HID);
    return 0;
}
