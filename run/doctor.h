/* SPDX-License-Identifier: Apache-2.0 */
/** The parts of sf_tool_doctor (run/tool.h). */
#ifndef SF_RUN_DOCTOR_H
#define SF_RUN_DOCTOR_H

#include "run/tool.h"

/** Says what was found of `name`; where there is no room for another check, nothing. */
void sf_doctor_find(sf_tool_checks *checks, const char *name, sf_tool_level level, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** What to do about the last of them, unless it is good. */
void sf_doctor_advise(sf_tool_checks *checks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** "buffers": how much sockets may hold. */
void sf_doctor_buffers(sf_tool_checks *checks, const char *system);

/** "locks" and "disk" of the folder that recordings go to. */
void sf_doctor_folder(sf_tool_checks *checks, const char *folder);

#endif
