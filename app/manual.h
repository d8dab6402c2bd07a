/* SPDX-License-Identifier: Apache-2.0 */
/** The manual pages and the shell completion, made from the command tables when synfire is built. */
#ifndef SF_APP_MANUAL_H
#define SF_APP_MANUAL_H

#include "app/command.h"

/** Writes synfire.1, a page of each command and one for each alias into a folder that is there: `synfire
 * --manual FOLDER`. SF_CANNOT_CREATE, SF_IO, SF_NO_MEMORY. */
int app_manual_pages(const char *folder, sf_error *error);

void app_completion(sf_text *text); /**< for bash, and zsh by bashcompinit: `synfire --completion` */

#endif
