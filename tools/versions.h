/* SPDX-License-Identifier: Apache-2.0 */
/** The libraries that this build is linked with. Errors are as in synfire/synfire.h; one object from one
 * thread at a time. */
#ifndef SF_TOOLS_VERSIONS_H
#define SF_TOOLS_VERSIONS_H

#include "core/text.h"

/** Appends the versions of what this build is linked with, as one line: `HDF5 1.10.8, jansson 2.14, ...`. */
void sf_library_versions(sf_text *text);

/** The part of that line for the further libraries of a build with live streams, from its comma on. */
void sf_live_library_versions(sf_text *text);

#endif
