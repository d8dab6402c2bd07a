/* SPDX-License-Identifier: Apache-2.0 */
/** The versions of what a build of synfire is linked with. */
#ifndef SF_RUN_VERSIONS_H
#define SF_RUN_VERSIONS_H

#include "core/text.h"

/** Appends one line: `HDF5 1.10.8, ZeroMQ 4.3.4, ...`. */
void sf_versions_print(sf_text *text);

#endif
