/* SPDX-License-Identifier: Apache-2.0 */
/** Help texts made from the command tables. */
#ifndef SF_APP_HELP_H
#define SF_APP_HELP_H

#include "app/command.h"

void app_help_overview(sf_text *text);
void app_help_command(sf_text *text, const app_command *command);
/** What help says of an option: appends what stands for its value, nothing of a flag; and its sentence, with
 * bounds and default where a row of the command describes it. */
void app_option_argument(sf_text *text, const app_command *command, const app_option *option);
void app_option_sentence(sf_text *text, const app_command *command, const app_option *option);

void app_help_version(sf_text *text); /**< synfire's version and those of the libraries it runs with */

#endif
