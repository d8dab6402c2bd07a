/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/versions.h"

#include "replay/mat.h"

#include <hdf5.h>
#include <jansson.h>

void sf_library_versions(sf_text *text)
{
    unsigned hdf5[3];
    H5get_libversion(&hdf5[0], &hdf5[1], &hdf5[2]);
    sf_text_printf(text, "HDF5 %u.%u.%u, jansson %s", hdf5[0], hdf5[1], hdf5[2], JANSSON_VERSION);
    if (sf_mat_library() != NULL) sf_text_printf(text, ", matio %s", sf_mat_library());
#ifdef SYNFIRE_HAVE_LIVE
    sf_live_library_versions(text);
#endif
}
