/* SPDX-License-Identifier: Apache-2.0 */
/** NumPy's .npz: a zip archive of .npy files, of which those are read that are not compressed, as
 * numpy.savez writes them. */
#ifndef SF_IO_NPZ_H
#define SF_IO_NPZ_H

#include "io/npy.h"

/** True where the file is an archive that holds an array of this name, such as "t.npy". */
bool sf_npz_has(const char *path, const char *name);

/** Opens an array of the archive; sf_npy_close. SF_NO_INPUT, SF_DATA, SF_IO. */
int sf_npz_open(sf_npy *npy, const char *path, const char *name, sf_error *error);

#endif
