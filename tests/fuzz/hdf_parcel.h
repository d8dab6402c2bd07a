/* SPDX-License-Identifier: Apache-2.0 */
/** What the program that reads files hands over, for fuzz targets that play both sides. */
#ifndef SF_TESTS_FUZZ_HDF_PARCEL_H
#define SF_TESTS_FUZZ_HDF_PARCEL_H

#include "io/parcel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/** Puts the file into a parcel, through a file in memory, and lets `take` have it with `to`. */
static inline int fuzz_hand_over(hid_t file, int (*put)(sf_parcel_writer *, const sf_hdf_input *, sf_error *),
                                 int (*take)(void *to, sf_parcel *, sf_error *), void *to, sf_error *error)
{
    static sf_parcel_writer writer;
    sf_parcel parcel;
    writer = (sf_parcel_writer){.fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    int status = put(&writer, &(sf_hdf_input){.file = file, .path = "fuzz"}, error);
    if (writer.fd < 0 || !sf_parcel_finish(&writer, status, error)) abort();
    fcntl(writer.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    status = sf_parcel_map(&parcel, writer.fd, "fuzz", error);
    if (status == SF_OK) {
        status = take(to, &parcel, error);
        sf_parcel_close(&parcel);
    }
    close(writer.fd);
    return status;
}

#endif
