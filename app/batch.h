/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One command over many recordings: each runs in a process of its own, as if alone; results come in the order
 * given, labelled, with a line of progress. The recordings are the arguments between the leading and the last
 * ones of a command that `takes_several`. If --stream is a pattern, each recording that a file holds side by
 * side (wells of a plate) counts as one.
 */
#ifndef SF_APP_BATCH_H
#define SF_APP_BATCH_H

#include "app/command.h"

/** True if more than one recording, --list, --jobs or a --stream with * was given. */
bool app_is_batch(const app_call *call);

/**
 * Calls `perform`, which returns an exit code, for each recording. The first failure, in the order given,
 * decides the status; the error says how many failed.
 */
int app_batch(const app_call *call, int (*perform)(app_call *call), sf_error *error);

#endif
