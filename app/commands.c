/* SPDX-License-Identifier: Apache-2.0 */
/* Every command, in the order of `synfire --help`: one line each. */
#include "app/command.h"

#include "live/config.h"
#include "live/control_request.h"

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
extern const app_command app_command_aggregate;
extern const app_command app_command_run;
extern const app_command app_command_play;
extern const app_command app_command_record;
extern const app_command app_command_recover;
extern const app_command app_command_simulate;
extern const app_command app_command_convert;
extern const app_command app_command_doctor;
extern const app_command app_command_describe;
extern const app_command app_command_keys;
extern const app_command app_command_mcp;
extern const app_command app_command_top;
extern const app_command app_command_plan;
extern const app_command app_command_rules;
extern const app_command app_command_bench; /* bench/command */

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
    &app_command_aggregate,
    &app_command_run,
    &app_command_play,
    &app_command_record,
    &app_command_recover,
    &app_command_simulate,
    &app_command_top,
    &app_command_doctor,
    &app_command_keys,
    &app_command_describe,
    &app_command_mcp,
    &app_command_plan,
    &app_command_rules,
    &app_command_bench,
    NULL,
};
/* clang-format on */

static const sf_table *const documents[] = {&sf_control_aggregate_document, &sf_control_state_document, NULL};

const app_program_words app_words_of_program = {
    .usage = "synfire",
    .about = "synfire mines live multi-electrode-array spike streams for firing chains.",
    .first = "A first result:\n  synfire simulate demo.h5 --preset sym26 && synfire mine demo.h5 --delay 4:6 "
             "--min-count 60",
    .settings = sf_config_list_keys,
    .documents = documents,
};
