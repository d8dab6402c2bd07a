/* SPDX-License-Identifier: Apache-2.0 */
/** Kind and identity of a synfire file in HDF5, read before its content. */
#ifndef SF_IO_HDF_ABOUT_H
#define SF_IO_HDF_ABOUT_H

#include "core/recording.h"
#include "io/hdf.h"

typedef struct sf_hdf_about {
    char kind[32]; /**< attribute `synfire`: "recording", "result", "occurrences", "graph", "state"; else
                      empty */
    char identity[SF_IDENTITY_SIZE]; /**< identity of a recorder's file (core/recording.h); else empty */
    bool truth;                      /**< has the group /truth: the file is from a simulation */
} sf_hdf_about;

/** Reads them by means of the reading program (io/apart.h); true if the file can be read as HDF5. */
bool sf_hdf_about_read(sf_hdf_about *about, const char *path);

/** In the reading program: writes them to the parcel. SF_NO_MEMORY. */
int sf_hdf_about_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error);

#endif
