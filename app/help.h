/* SPDX-License-Identifier: Apache-2.0 */
/** Help texts made from the command tables. */
#ifndef SF_APP_HELP_H
#define SF_APP_HELP_H

#include "app/command.h"

void app_help_overview(sf_text *text);
void app_help_command(sf_text *text, const app_command *command);
void app_help_version(sf_text *text); /**< synfire's version and those of the libraries it runs with */

#endif
