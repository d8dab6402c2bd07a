/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NumPy's .npz: a zip archive of .npy files, stored as they are (numpy.savez) or compressed by deflate
 * (numpy.savez_compressed). A compressed array is inflated as it is read, and its size is held against its
 * own header, the archive's list and the file before memory is taken for it.
 */
#ifndef SF_IO_NPZ_H
#define SF_IO_NPZ_H

#include "io/npy.h"

/** True where the file is an archive that holds an array of this name, such as "t.npy". */
bool sf_npz_has(const char *path, const char *name);

/** Opens an array of the archive; sf_npy_close. `path` and `name` outlive it. SF_NO_INPUT, SF_DATA, SF_IO,
 * SF_NO_MEMORY; reading it then may fail by SF_DATA, too, where its packed bytes are damaged. */
int sf_npz_open(sf_npy *npy, const char *path, const char *name, sf_error *error);

#endif
