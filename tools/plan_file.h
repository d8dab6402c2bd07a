/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads an algorithm's description in YAML, such as configs/plans/1r.yaml: the trees of its model, its
 * functions with what they read and change, its loops, and their composition. Strict: anything unknown,
 * missing or misplaced is refused with line and column.
 */
#ifndef SF_TOOLS_PLAN_FILE_H
#define SF_TOOLS_PLAN_FILE_H

#include "plan/algorithm.h"

/** Reads a file. SF_DATA with the place, or errors as sf_file_read; the algorithm is then empty. */
int sf_plan_read(sf_plan_algorithm *algorithm, const char *path, sf_error *error);

/** The same from memory; `name` stands for the file in errors. */
int sf_plan_parse(sf_plan_algorithm *algorithm, const char *yaml, size_t length, const char *name,
                  sf_error *error);

#endif
