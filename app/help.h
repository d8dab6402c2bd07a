/* SPDX-License-Identifier: Apache-2.0 */
/** Help texts made from the command tables. */
#ifndef SF_APP_HELP_H
#define SF_APP_HELP_H

#include "app/command.h"

void app_help_overview(sf_text *text);
void app_help_command(sf_text *text, const app_command *command);
/** Appends the placeholder of an option's value (nothing for a flag), and its help sentence, with bounds and
 * default if a row of the command describes it. */
void app_option_argument(sf_text *text, const app_command *command, const app_option *option);
void app_option_sentence(sf_text *text, const app_command *command, const app_option *option);

void app_help_version(sf_text *text); /**< versions of synfire and of the libraries it runs with */

#endif
