/* SPDX-License-Identifier: Apache-2.0 */
/* The commands whose work is divided over ranks. */
#include "app/command.h"

extern const app_command app_command_mine;
extern const app_command app_command_count;
extern const app_command app_command_graph;
extern const app_command app_command_density;

const app_command *const app_commands[] = {&app_command_mine, &app_command_count, &app_command_graph,
                                           &app_command_density, NULL};
