/* SPDX-License-Identifier: Apache-2.0 */
/** What a live run depends on: this machine, and a rig. Errors are as in synfire/synfire.h; one object from
 * one thread at a time. */
#ifndef SF_TOOLS_DOCTOR_H
#define SF_TOOLS_DOCTOR_H

#include "live/config.h"

#include <synfire/recording.h>

typedef enum sf_finding_level {
    SF_FINDING_GOOD,
    SF_FINDING_ADVICE, /**< a run works, but could do better */
    SF_FINDING_BAD     /**< a run would fail here, or lose data */
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
 * Checks what a live run on this machine depends on: cores, real-time rights, clocks, buffers, ports,
 * devices, and the folder for recordings, into which it writes for at most a second and leaves nothing.
 * `system` is "", or for tests a prefix of /proc and /sys.
 */
void sf_doctor(sf_findings *checks, const char *folder, const char *system);

/* ---- a rig ---- */

typedef struct sf_doctor_rig_options {
    const sf_config *config; /**< its first source is the rig, of a protocol of ingest/protocol.h */
    double listen_s;
    const char *ask; /**< Intan RHX: its command socket, which is asked for the sampling rate; or NULL */
    const sf_progress *progress; /**< may stop it; or NULL */
} sf_doctor_rig_options;

/**
 * Listens to a rig as a run would and reports what it found; clears `checks` first. If nothing came from a
 * server that takes several clients, connects once more to see whether anybody answers, without sending
 * anything. Takes listen_s, plus at most 3 s and the time of name look-ups. With `ask`, sends one question to
 * it and waits at most 3 s for the answer. SF_USAGE if the source is no rig or cannot be asked; SF_CONFIG;
 * SF_CANCELLED.
 */
int sf_doctor_rig(sf_findings *checks, const sf_doctor_rig_options *options, sf_error *error);

/** Finds the kind of source of a rig by its name in a configuration. SF_USAGE lists all names. */
int sf_doctor_rig_find(const sf_source_kind **kind, const char *name, sf_error *error);

/* ---- its parts ---- */

/** Adds a finding about `name`; does nothing if there is no room for another. */
void sf_doctor_find(sf_findings *checks, const char *name, sf_finding_level level, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Adds advice to the newest finding, unless that is good. */
void sf_doctor_advise(sf_findings *checks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** "buffers": maximum size of socket buffers. */
void sf_doctor_buffers(sf_findings *checks, const char *system);

/** "locks" and "disk" of the folder for recordings. */
void sf_doctor_folder(sf_findings *checks, const char *folder);

#endif
