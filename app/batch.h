/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One command over many recordings: each in a process of its own, as if it were alone, with its results in
 * the order given, told apart, and with a line of progress. What stands between the leading and the last
 * arguments of a command that `takes_several` are recordings. So is each of those that a file holds side by
 * side (wells of a plate), where --stream is a pattern.
 */
#ifndef SF_APP_BATCH_H
#define SF_APP_BATCH_H

#include "app/command.h"

/** True where more than one recording, --list, --jobs or a --stream with * was given. */
bool app_is_batch(const app_call *call);

/**
 * Does the call for each recording by `perform`, which returns an exit code. The first failure, in the order
 * given, decides the status; the sentence says how many there were.
 */
int app_batch(const app_call *call, int (*perform)(app_call *call), sf_error *error);

#endif
