/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An algorithm's description in YAML, as configs/plans/1r.yaml: the trees of its model, its functions with
 * what they read and change, its loops, and their composition. Strict: what is unknown, missing or out of
 * place is refused with line and column.
 */
#ifndef SF_TOOLS_PLAN_FILE_H
#define SF_TOOLS_PLAN_FILE_H

#include "plan/algorithm.h"

/** Reads a file. SF_DATA with its place, or as sf_file_read; the algorithm is then empty. */
int sf_plan_read(sf_plan_algorithm *algorithm, const char *path, sf_error *error);

/** The same from memory; `name` stands for the file in refusals. */
int sf_plan_parse(sf_plan_algorithm *algorithm, const char *yaml, size_t length, const char *name,
                  sf_error *error);

#endif
