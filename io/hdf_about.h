/* SPDX-License-Identifier: Apache-2.0 */
/** What a synfire file in HDF5 is, before anything in it is read. */
#ifndef SF_IO_HDF_ABOUT_H
#define SF_IO_HDF_ABOUT_H

#include "core/recording.h"
#include "io/hdf.h"

typedef struct sf_hdf_about {
    char kind[32]; /**< the attribute `synfire`: "recording", "result", "occurrences", "graph", "state"; else
                      empty */
    char identity[SF_IDENTITY_SIZE]; /**< of a recorder's file (core/recording.h); else empty */
    bool truth;                      /**< has the group /truth: a simulation made it */
} sf_hdf_about;

/** True where the file can be read as HDF5; asks the reading program (io/apart.h). */
bool sf_hdf_about_read(sf_hdf_about *about, const char *path);

/** The same in the reading program. SF_NO_MEMORY. */
int sf_hdf_about_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

#endif
