/* SPDX-License-Identifier: Apache-2.0 */
/** The program around its commands, whose list (app_commands) is linked with it. */
#ifndef SF_APP_PROGRAM_H
#define SF_APP_PROGRAM_H

#include "core/ranks.h"

/** Runs the program on its words, as one of several ranks, or alone if `way` is NULL. Returns the exit code.
 */
int app_program(int argc, char **argv, const sf_ranks_way *way);

#endif
