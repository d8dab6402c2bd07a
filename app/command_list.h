/* SPDX-License-Identifier: Apache-2.0 */
/** Every command, in the order of `synfire --help`: a line each. */
#ifndef SF_APP_COMMAND_LIST_H
#define SF_APP_COMMAND_LIST_H

#include "app/command.h"

/** FILES is called with the name of each command that needs files only, LIVE with that of each other command,
 * which a build with SYNFIRE_LIVE off lacks. */
/* clang-format off */
#define APP_COMMANDS(FILES, LIVE) \
    FILES(info) \
    FILES(convert) \
    FILES(bursts) \
    FILES(criticality) \
    FILES(responses) \
    FILES(sequences) \
    FILES(compare) \
    FILES(plot) \
    FILES(report) \
    FILES(mine) \
    FILES(count) \
    FILES(graph) \
    FILES(bfs) \
    FILES(match) \
    FILES(bandwidth) \
    FILES(density) \
    LIVE(aggregate) \
    LIVE(run) \
    LIVE(play) \
    LIVE(record) \
    LIVE(recover) \
    FILES(simulate) \
    LIVE(top) \
    LIVE(doctor) \
    LIVE(keys) \
    FILES(describe) \
    LIVE(mcp) \
    LIVE(plan) \
    FILES(rules) \
    LIVE(bench)
/* clang-format on */

#define APP_DECLARED(name) extern const app_command app_command_##name;
#define APP_LISTED(name) &app_command_##name,
#define APP_NAMED(name) #name,
#define APP_LEFT_OUT(name)

#define APP_FIRST_RESULT                                                                                     \
    "A first result:\n  synfire simulate demo.h5 --preset sym26 && synfire mine demo.h5 --delay 4:6 "        \
    "--min-count 60"

#endif
