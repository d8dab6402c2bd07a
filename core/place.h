/* SPDX-License-Identifier: Apache-2.0 */
/** Where files lie that belong to this library: in the folder of its build, or installed beside it. */
#ifndef SF_CORE_PLACE_H
#define SF_CORE_PLACE_H

#include <stdbool.h>

#define SF_PLACE_SIZE 4096

/**
 * Finds a file that belongs to the library that this function is part of, or to the program that has it
 * linked in. What lies in the folder of its build takes `built`, below that folder; anything else takes the
 * first of `installed`, which ends with NULL, as seen from the folder that the library lies in. False where
 * there is none.
 */
bool sf_place_find(char path[SF_PLACE_SIZE], const char *built, const char *const *installed);

/** Finds a program that this one starts: `name` below `folder` of the build, or installed in libexec. */
bool sf_place_program(char path[SF_PLACE_SIZE], const char *folder, const char *name);

/** Finds a file of share/synfire: `configs/monitoring.yaml`. */
bool sf_place_shared(char path[SF_PLACE_SIZE], const char *name);

#endif
