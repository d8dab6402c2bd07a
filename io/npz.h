/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NumPy's .npz: a zip archive of .npy files, stored (numpy.savez) or compressed by deflate
 * (numpy.savez_compressed). A compressed array is inflated while it is read; before memory is allocated, its
 * size is checked against its own header, the archive's directory and the size of the file.
 */
#ifndef SF_IO_NPZ_H
#define SF_IO_NPZ_H

#include "io/npy.h"

/** Whether the file is an archive with an array of this name, such as "t.npy". */
bool sf_npz_has(const char *path, const char *name);

/** Opens an array of the archive; close with sf_npy_close. `path` and `name` must outlive it. SF_NO_INPUT,
 * SF_DATA, SF_IO, SF_NO_MEMORY; later reads may also fail with SF_DATA if the compressed bytes are damaged.
 */
int sf_npz_open(sf_npy *npy, const char *path, const char *name, sf_error *error);

#endif
