/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a build without what is live (SYNFIRE_LIVE off), in the order of `synfire --help`. */
#include "app/command.h"

extern const app_command app_command_info;
extern const app_command app_command_bursts;
extern const app_command app_command_criticality;
extern const app_command app_command_responses;
extern const app_command app_command_sequences;
extern const app_command app_command_compare;
extern const app_command app_command_plot;
extern const app_command app_command_report;
extern const app_command app_command_mine;
extern const app_command app_command_count;
extern const app_command app_command_graph;
extern const app_command app_command_bfs;
extern const app_command app_command_match;
extern const app_command app_command_bandwidth;
extern const app_command app_command_density;
extern const app_command app_command_simulate;
extern const app_command app_command_convert;
extern const app_command app_command_describe;
extern const app_command app_command_rules;

/* clang-format off */
const app_command *const app_commands[] = {
    &app_command_info,
    &app_command_convert,
    &app_command_bursts,
    &app_command_criticality,
    &app_command_responses,
    &app_command_sequences,
    &app_command_compare,
    &app_command_plot,
    &app_command_report,
    &app_command_mine,
    &app_command_count,
    &app_command_graph,
    &app_command_bfs,
    &app_command_match,
    &app_command_bandwidth,
    &app_command_density,
    &app_command_simulate,
    &app_command_describe,
    &app_command_rules,
    NULL,
};
/* clang-format on */

static const char *const absent[] = {"run",  "play",   "record", "recover", "top",   "aggregate",
                                     "keys", "doctor", "mcp",    "plan",    "bench", NULL};

const app_program_words app_words_of_program = {
    .usage = "synfire",
    .about = "synfire mines recordings of multi-electrode arrays for firing chains.",
    .first = "A first result:\n  synfire simulate demo.h5 --preset sym26 && synfire mine demo.h5 --delay 4:6 "
             "--min-count 60",
    .absent = absent,
    .why_absent = "this build is for files alone, as any for Windows is; that for Linux, also in the Windows "
                  "Subsystem for Linux, has all commands",
};
