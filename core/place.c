/* SPDX-License-Identifier: Apache-2.0 */
#include "core/place.h"

#include "core/platform.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the library that this is part of lies, or the program that has it linked in, with the final slash. */
static bool own_directory(char directory[SF_PLACE_SIZE])
{
    char *slash = sf_platform_own_path(directory, SF_PLACE_SIZE) ? strrchr(directory, '/') : NULL;
    if (slash != NULL) slash[1] = '\0';
    return slash != NULL;
}

bool sf_place_find(char path[SF_PLACE_SIZE], const char *built, const char *const *installed)
{
    char own[SF_PLACE_SIZE];
    if (!own_directory(own)) return false;
    if (strncmp(own, SYNFIRE_BUILD "/", strlen(SYNFIRE_BUILD) + 1) == 0) {
        snprintf(path, SF_PLACE_SIZE, SYNFIRE_BUILD "/%s", built);
        return access(path, R_OK) == 0;
    }
    for (; *installed != NULL; installed++) {
        size_t length = strlen(own), room = SF_PLACE_SIZE - length;
        memcpy(path, own, length);
        if ((size_t)snprintf(path + length, room, "%s", *installed) < room && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool sf_place_program(char path[SF_PLACE_SIZE], const char *folder, const char *name)
{
    char built[SF_PLACE_SIZE], from_library[SF_PLACE_SIZE], from_command[SF_PLACE_SIZE];
    snprintf(built, sizeof built, "%s/%s", folder, name);
    snprintf(from_library, sizeof from_library, SYNFIRE_LIB_TO_LIBEXEC "/%s", name);
    snprintf(from_command, sizeof from_command, SYNFIRE_BIN_TO_LIBEXEC "/%s", name);
    const char *const installed[] = {from_command, from_library, name, NULL}; /* name: from libexec itself */
    return sf_place_find(path, built, installed);
}

bool sf_place_shared(char path[SF_PLACE_SIZE], const char *name)
{
    char built[SF_PLACE_SIZE], from_library[SF_PLACE_SIZE], from_program[SF_PLACE_SIZE];
    snprintf(built, sizeof built, "share/synfire/%s", name);
    snprintf(from_library, sizeof from_library, SYNFIRE_LIB_TO_DATA "/synfire/%s", name);
    snprintf(from_program, sizeof from_program, SYNFIRE_BIN_TO_DATA "/synfire/%s", name);
    const char *const installed[] = {from_library, from_program, NULL};
    return sf_place_find(path, built, installed);
}
