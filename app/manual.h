/* SPDX-License-Identifier: Apache-2.0 */
/** The manual page and the shell completion, made from the command tables when synfire is built. */
#ifndef SF_APP_MANUAL_H
#define SF_APP_MANUAL_H

#include "app/command.h"

void app_manual_page(sf_text *text); /**< synfire(1) for man: `synfire --manual` */
void app_completion(sf_text *text);  /**< for bash, and zsh by bashcompinit: `synfire --completion` */

#endif
