/* SPDX-License-Identifier: Apache-2.0 */
/* The commands whose work is divided over ranks. */
#include "app/command.h"

extern const app_command app_command_mine;
extern const app_command app_command_count;
extern const app_command app_command_graph;
extern const app_command app_command_density;
extern const app_command app_command_aggregate;

const app_command *const app_commands[] = {&app_command_mine,    &app_command_count,     &app_command_graph,
                                           &app_command_density, &app_command_aggregate, NULL};

const app_program_words app_words_of_program = {
    .usage = "mpirun -q -n RANKS synfire-mpi",
    .about =
        "synfire-mpi does the work of these commands of synfire with several processes, its ranks, on one "
        "machine or\nmany, and prints what synfire prints. docs/scaling.md says what is divided among them.",
    .first = "Try:\n  mpirun -q -n 2 synfire-mpi mine demo.h5 --delay 4:6 --min-count 60 --significance "
             "segment-shift",
};
