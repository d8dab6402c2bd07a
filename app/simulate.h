/* SPDX-License-Identifier: Apache-2.0 */
/** Simulations for other commands. */
#ifndef SF_APP_SIMULATE_H
#define SF_APP_SIMULATE_H

#include "app/command.h"

/** Creates the folder of a file, if it does not exist. SF_CANNOT_CREATE. */
int app_make_folder_of(const char *path, sf_error *error);

/** Makes the recording of the preset with that name at this path, in a folder that is made if it is not
 * there. `call` is whose progress is shown. SF_CANNOT_CREATE, SF_CANCELLED. */
int app_simulate_preset(const app_call *call, const char *path, const char *name, sf_error *error);

#endif
