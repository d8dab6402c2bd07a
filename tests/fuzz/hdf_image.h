/* SPDX-License-Identifier: Apache-2.0 */
/** What the fuzz targets of HDF5 files share. */
#ifndef SF_TESTS_FUZZ_HDF_IMAGE_H
#define SF_TESTS_FUZZ_HDF_IMAGE_H

#include "core/hdf.h"

/** The bytes as a file in memory, or a negative id where HDF5 cannot open it; closed by sf_hdf_close. */
static inline hid_t open_image(const uint8_t *data, size_t size)
{
    hid_t file = H5I_INVALID_HID;
    if (size == 0)
        return file;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (H5Pset_fapl_core(access, 1 << 16, 0) >= 0 &&
        H5Pset_file_image(access, (void *)(uintptr_t)data, size) >= 0)
        file = H5Fopen("fuzz", H5F_ACC_RDONLY, access);
    sf_hdf_close(access);
    return file;
}

#endif
