/* SPDX-License-Identifier: Apache-2.0 */
/** What a live run depends on: this machine, and a rig. Errors are as in synfire/synfire.h; one object from
 * one thread at a time. */
#ifndef SF_TOOLS_DOCTOR_H
#define SF_TOOLS_DOCTOR_H

#include "live/config.h"

#include <synfire/recording.h>

typedef enum sf_finding_level {
    SF_FINDING_GOOD,
    SF_FINDING_ADVICE, /**< a run works, and could do better */
    SF_FINDING_BAD     /**< a run would fail here, or lose */
} sf_finding_level;

typedef struct sf_finding {
    const char *name; /**< "clock", "disk", ...: a literal that stays */
    sf_finding_level level;
    char found[256];  /**< a sentence */
    char advice[320]; /**< what to do; empty where it is good */
} sf_finding;

#define SF_FINDINGS_MAXIMUM 24

typedef struct sf_findings {
    sf_finding items[SF_FINDINGS_MAXIMUM];
    size_t count;
} sf_findings;

/**
 * Looks at what a live run on this machine depends on: cores, real-time rights, clocks, buffers, ports,
 * devices, and the folder that recordings are to go to, into which it writes for a second at most and leaves
 * nothing. `system` is "" or stands before /proc and /sys, for tests.
 */
void sf_doctor(sf_findings *checks, const char *folder, const char *system);

/* ---- a rig ---- */

typedef struct sf_doctor_rig_options {
    const sf_config *config; /**< its first source is the rig, of a protocol of ingest/protocol.h */
    double listen_s;
    const char *ask; /**< of Intan RHX: its command socket, which is asked for the sampling rate; or NULL */
    const sf_progress *progress; /**< may end it; or NULL */
} sf_doctor_rig_options;

/**
 * Listens to a rig as a run would, and says what was found of it; `checks` is begun anew. Where nothing came
 * of a server that takes several clients, it is connected to once more, to see whether anybody answers;
 * nothing is sent by that. It takes listen_s, and 3 s more at most beside what names take to look up.
 * With `ask` one question is sent there, and an answer waited for 3 s at most. SF_USAGE where the source is
 * no rig or cannot be asked; SF_CONFIG; SF_CANCELLED.
 */
int sf_doctor_rig(sf_findings *checks, const sf_doctor_rig_options *options, sf_error *error);

/** The kind of source of a rig by its name in a configuration. SF_USAGE with all names. */
int sf_doctor_rig_find(const sf_source_kind **kind, const char *name, sf_error *error);

/* ---- its parts ---- */

/** Says what was found of `name`; where there is no room for another check, nothing. */
void sf_doctor_find(sf_findings *checks, const char *name, sf_finding_level level, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** What to do about the last of them, unless it is good. */
void sf_doctor_advise(sf_findings *checks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** "buffers": how much sockets may hold. */
void sf_doctor_buffers(sf_findings *checks, const char *system);

/** "locks" and "disk" of the folder that recordings go to. */
void sf_doctor_folder(sf_findings *checks, const char *folder);

#endif
