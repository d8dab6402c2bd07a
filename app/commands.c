/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a build that has all. */
#include "app/command_list.h"

#include "live/config.h"
#include "live/control_request.h"

APP_COMMANDS(APP_DECLARED, APP_DECLARED)

const app_command *const app_commands[] = {APP_COMMANDS(APP_LISTED, APP_LISTED) NULL};

static const sf_table *const documents[] = {&sf_control_aggregate_document, &sf_control_state_document, NULL};

const app_program_words app_words_of_program = {
    .usage = "synfire",
    .about = "synfire mines live multi-electrode-array spike streams for firing chains.",
    .first = APP_FIRST_RESULT,
    .settings = sf_config_list_keys,
    .configuration = sf_config_reference,
    .configuration_json = sf_config_keys_json,
    .documents = documents,
};
