/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the command needs beside the public headers: simulating, playing, recovering, what a machine can do.
 * It is not installed. Errors are as in synfire/synfire.h; one object from one thread at a time.
 */
#ifndef SF_RUN_TOOL_H
#define SF_RUN_TOOL_H

#include "analysis/activity.h"
#include "analysis/labels.h"
#include "analysis/planted.h"
#include "analysis/responses.h"
#include "analysis/rules.h"
#include "analysis/statistics.h"
#include "core/delimited.h"
#include "core/hash.h"
#include "core/provenance.h"
#include "io/last_words.h"
#include "replay/nwb_results.h"
#include "replay/recording_file.h"
#include "replay/simulation_settings.h"

#include <synfire/synfire.h>

/* ---- simulating ---- */

/** A recording without spikes, of the units that the simulation will have: chains are read by their names. */
int sf_tool_simulation_units(sf_recording **units, const sf_simulation_settings *settings, sf_error *error);

/** What was made. Free with sf_tool_simulated_free. */
typedef struct sf_tool_simulated {
    char *settings; /**< the options that make it again, defaults written out */
    uint64_t spikes, duplicates;
    size_t unit_count, marker_count;
    sf_span recorded;
    size_t chain_count;
    const sf_episode *chains;
    uint64_t *planted; /**< how often each chain was planted */
    void *own;
} sf_tool_simulated;

/**
 * Simulates into a file of synfire's own, which also holds what was planted, or leaves none. What is there is
 * replaced as sf_recording_spare allows. SF_USAGE where the settings
 * contradict each other; SF_CANCELLED. `settings->description` is set here.
 */
int sf_tool_simulate(sf_tool_simulated *made, const char *path, const sf_simulation_settings *settings,
                     const sf_progress *progress, sf_error *error);
void sf_tool_simulated_free(sf_tool_simulated *made);

/**
 * What the recording at `path` says was planted, beside what was found in a window; `chains` is NULL where it
 * says nothing. `units` has the names of its units. HDF5 must not be in use by another thread.
 */
int sf_tool_planted(sf_planted *planted, const char *path, const sf_recording *units,
                    const sf_episodes_message *found, sf_error *error);
void sf_tool_planted_free(sf_planted *planted);

/* ---- playing ---- */

/** Reads a speed as people write it: times as fast as recorded, or max, which is 0. SF_USAGE. */
int sf_tool_speed(double *speed, const char *text, sf_error *error);

typedef struct sf_tool_playing {
    const char *name;     /**< of the stream */
    const char *endpoint; /**< NULL: the protocol's own */
    const char *protocol; /**< of ingest/protocol.h, as "synfire" */
    bool insecure;        /**< other machines may connect */
    const char *key,
        *clients; /**< files of keys (docs/operations.md), NULL: none; synfire's protocol alone has them */
    bool loop;
    double speed;         /**< times as fast as recorded; 0: as fast as it is taken, on a virtual clock */
    uint64_t subscribers; /**< waited for before the start */
    /** Where it sends, before subscribers are waited for. */
    void (*ready)(void *user, const char *address);
    /** Asked while it waits: false stops, and nobody is waited for any longer. */
    bool (*go_on)(void *user);
    void *user;
} sf_tool_playing;

typedef struct sf_tool_played {
    bool began; /**< all subscribers came; what follows is then told also of what was stopped */
    uint64_t spikes, markers;
    double seconds;
    int64_t late_ns; /**< the most that a batch was sent after it was due */
} sf_tool_played;

/** Sends a recording as a live stream until its end or SF_CANCELLED. When it loops, its times are moved on.
 */
int sf_tool_play(sf_tool_played *told, sf_recording *recording, const sf_tool_playing *playing,
                 const sf_progress *progress, sf_error *error);

/* ---- the machine ---- */

typedef enum sf_tool_level {
    SF_TOOL_GOOD,
    SF_TOOL_ADVICE, /**< a run works, and could do better */
    SF_TOOL_BAD     /**< a run would fail here, or lose */
} sf_tool_level;

typedef struct sf_tool_check {
    const char *name; /**< "clock", "disk", ...: a literal that stays */
    sf_tool_level level;
    char found[256];  /**< a sentence */
    char advice[320]; /**< what to do; empty where it is good */
} sf_tool_check;

#define SF_TOOL_MOST_CHECKS 24

typedef struct sf_tool_checks {
    sf_tool_check items[SF_TOOL_MOST_CHECKS];
    size_t count;
} sf_tool_checks;

/**
 * Looks at what a live run on this machine depends on: cores, real-time rights, clocks, buffers, ports,
 * devices, and the folder that recordings are to go to, into which it writes for a second at most and leaves
 * nothing. `system` is "" or stands before /proc and /sys, for tests.
 */
void sf_tool_doctor(sf_tool_checks *checks, const char *folder, const char *system);

/* ---- a service manager ---- */

/** Tells the manager that started this program as a service (systemd: $NOTIFY_SOCKET) so much, as "READY=1".
 * Where there is none, or it does not listen, nothing. Any thread; never waits. */
void sf_tool_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Within this time it wants to hear WATCHDOG=1 of this process, each time anew; 0: it does not. */
int64_t sf_tool_watchdog_ns(void);

/* ---- a run that goes on ---- */

/** Of a source, a stage or a sink of a run; NaN where it has none of that kind. */
typedef struct sf_tool_busy {
    const char *kind; /**< "source", "stage", "queue", "sink": a literal */
    char name[SF_STATUS_NAME_SIZE];
    char authentication[8]; /**< of a source that comes over a network: "curve", "none"; else empty */
    double behind_s;        /**< of a source: its newest spikes came so long after they were due; NaN */
    uint64_t refused;       /**< connections without a key that a sink lets in */
    double busy_ms;         /**< in all, since the start */
    double busy;            /**< share of the time, of one core */
    double hop_share;       /**< of a stage: its median by the length of a hop */
    uint64_t waiting, room; /**< of its queue; room 0: it has none */
    uint64_t lost;          /**< spikes or messages */
    double p50_ms, p99_ms, max_ms;
} sf_tool_busy;

#define SF_TOOL_MOST_BUSY 64

typedef struct sf_tool_top {
    char stream[64];
    uint64_t spikes;
    double rate_hz, run_s, hop_ms;
    double latency_p50_ms, latency_p99_ms, latency_max_ms; /**< from due until watched */
    double since_s; /**< that `busy` is of: since the status before this one, or since the start */
    bool last;      /**< the run has ended */
    double list_age_s, list_every_s; /**< of the status; NaN: not known */
    uint64_t lists_missed;
    uint64_t control_refused; /**< connections to its control socket without a key that is let in */
    size_t count;
    sf_tool_busy rows[SF_TOOL_MOST_BUSY]; /**< in the order of the stream; what goes beyond is left out */
} sf_tool_top;

typedef struct sf_tool_watcher sf_tool_watcher;

/**
 * Connects to a run: with a token's file to its control socket, without one to a sink of type `zmq`. Nobody
 * needs to be there yet. SF_USAGE for an endpoint that is none, SF_NO_INPUT and SF_CONFIG for the file.
 */
typedef struct sf_tool_watching {
    const char *endpoint;
    const char *token_file;
    const char *key, *server_key; /**< files of keys; NULL: none */
} sf_tool_watching;

int sf_tool_watch(sf_tool_watcher **out, const sf_tool_watching *how, sf_error *error);

/** The newest status. SF_AGAIN where none came within the time; SF_DATA for what is none; SF_UNAVAILABLE
 * where the run refuses the token. */
int sf_tool_watch_next(sf_tool_watcher *watcher, sf_tool_top *top, int timeout_ms, sf_error *error);
void sf_tool_watch_close(sf_tool_watcher *watcher); /**< NULL is allowed */

/* ---- configurations ---- */

/** Appends a blank and each key of a configuration that stands in no list, as window.length_s. */
void sf_tool_list_keys(sf_text *text);

/* ---- keys ---- */

/** Makes a pair of keys for CURVE, the files PATH.key and PATH.key_secret, which only the owner may read, and
 * puts the public one into `public_key`. SF_CANNOT_CREATE where one of them is there; SF_UNAVAILABLE where
 * libzmq has no CURVE. */
int sf_tool_make_keys(char public_key[41], const char *path, sf_error *error);

/* ---- benchmarks ---- */

/** Appends the versions of what this build is linked with, as one line: `HDF5 1.10.8, ZeroMQ 4.3.4, ...`. */
void sf_tool_versions(sf_text *text);

/* ---- episodes that were written down ---- */

typedef struct sf_tool_episode {
    char *text;    /**< as sf_recording_parse_episode reads it */
    size_t number; /**< of its line, from 1; or of it among the episodes of a result */
} sf_tool_episode;

typedef struct sf_tool_episodes {
    sf_tool_episode *items;
    size_t count, capacity;
    const char *path; /**< borrowed */
    bool is_result;   /**< it was the document of a command's --json */
} sf_tool_episodes;

/**
 * Reads a file of episodes: one a line, as text or as a JSON object of `units`, `names` and `delays_ms`, or
 * the whole document of a command whose JSON has `episodes`. JSON's units go by their `names`, which another
 * recording may have in another order; without names by their indices. A path that is no file but an episode
 * is taken as such. The place of an error is FILE:LINE, or FILE: episodes[N]. Free with
 * sf_tool_episodes_free. SF_DATA, SF_NO_INPUT.
 */
int sf_tool_episodes_read(sf_tool_episodes *list, const char *path, sf_error *error);
void sf_tool_episodes_free(sf_tool_episodes *list);

/** What a recording or a run refused of episode i, with the place of that episode; `reason` may be `error`.
 */
int sf_tool_episodes_refuse(const sf_tool_episodes *list, size_t i, const sf_error *reason, sf_error *error);

/* ---- densities without their samples ---- */

/** Writes what is left of a density without its samples as a file that answers for it; replaces one that is
 * there. Of which quantity, unit or link it is (NULL and -1: none) goes into it. SF_USAGE for three and more
 * columns, SF_DATA, SF_CANNOT_CREATE. */
int sf_tool_state_save(const char *path, const sf_density *density, const char *quantity, const char *name,
                       int64_t unit, const char *provenance, sf_error *error);

/** What answers together: the states of some files, of which those are one that add up. */
typedef struct sf_tool_states sf_tool_states;

typedef struct sf_tool_states_about {
    const char *quantity; /**< of all; NULL of numbers */
    const char *name;     /**< of the unit or link; NULL where they differ or have none */
    int64_t unit;         /**< its index, or -1 */
    uint64_t n;
    size_t files, parts; /**< files: or runs; parts: those that did not add up; each answers for itself */
    double h;            /**< of the first part */
    const char *method;
} sf_tool_states_about;

/** How runs are asked for the state of a density that they keep; strings are borrowed. */
typedef struct sf_tool_states_asking {
    const char *density;          /**< as their messages call it: "isi A"; NULL: no run is asked */
    const char *token_file;       /**< of their control sockets */
    const char *key, *server_key; /**< as of sf_tool_watching */
    double seconds;               /**< an answer is waited for */
} sf_tool_states_asking;

/** A path that is an endpoint, tcp:// or ipc://, is that of a run's control socket. SF_USAGE where they are
 * of different quantities, axes or numbers of columns; SF_NO_INPUT, SF_DATA, SF_UNAVAILABLE. */
int sf_tool_states_open(sf_tool_states **out, char *const *paths, size_t count,
                        const sf_tool_states_asking *asking, sf_error *error);
bool sf_tool_states_is_run(const char *path);
void sf_tool_states_tell(const sf_tool_states *states, sf_tool_states_about *about);
void sf_tool_states_close(sf_tool_states *states); /**< NULL is allowed */

/** As sf_density_aggregate; `exact` is NaN. Nothing is read, and time depends on no number of samples. */
int sf_tool_states_aggregate(const sf_tool_states *states, sf_aggregate_kind kind, const double *from,
                             const double *to, size_t ranges, sf_aggregate *answer, sf_error *error);

/** Writes them as one. SF_USAGE where they are several parts. */
int sf_tool_states_save(const sf_tool_states *states, const char *path, const char *provenance,
                        sf_error *error);

/* ---- files ---- */

/**
 * Writes a recording in another layout: "synfire", "nwb", "carmen" or "csv", NULL: by the suffix of the path.
 * *layout is its name; `lost` gets the words of what it has no place for, "" where all is in it. SF_USAGE
 * where the layout cannot hold it, SF_CANNOT_CREATE for what sf_recording_spare protects.
 */
int sf_tool_convert(const sf_recording *recording, const char *path, const char *to, const char *provenance,
                    const char **layout, sf_text *lost, sf_error *error);

/** True where the file is readable and one of occurrences (synfire/mine.h). */
bool sf_tool_occurrences_in_file(const char *path);

/* ---- recordings that broke off ---- */

/** What was found of a recording that broke off, and what of it is lost. Free with sf_tool_recovered_free. */
typedef struct sf_tool_recovered {
    char *out;       /**< the file that was made; NULL: there was nothing to do, the recording is whole */
    char *file;      /**< the HDF5 file */
    char *journal;   /**< NULL: there is none */
    char *file_note; /**< why the HDF5 file was of no use; NULL: it was read */
    sf_span recorded;
    bool ended;                               /**< the journal tells that recording ended in order */
    uint64_t journal_bytes, damaged_bytes;    /**< of these such as are no whole record */
    uint64_t records, records_lost;           /**< of the journal */
    uint64_t spikes, markers, rows;           /**< in the new file; rows: of tables of results */
    uint64_t spikes_of_file, markers_of_file; /**< of these, that only the HDF5 file had */
    uint64_t spikes_missing, markers_missing; /**< recorded and found in neither, but for the end */
    uint64_t rows_missing;
    uint64_t rows_of_others;            /**< left out: a version with other tables wrote them */
    uint64_t spikes_lost, markers_lost; /**< never recorded: the recorder had no room for them */
} sf_tool_recovered;

/* ---- what a file holds ---- */

/** True where the journal of this recording stands beside it, which its recorder removes when it ends in
 * order. Another recording's journal is none, whatever its name. */
bool sf_tool_has_journal(const char *path);

/**
 * Makes a sound recording of what a recorder left at `path`, an HDF5 file or its journal, in a new file
 * (`out`; NULL: beside it, as run-recovered.h5). Neither is changed, and no file is replaced. SF_NO_INPUT,
 * SF_DATA where nothing can be made of it, or
 * where the journal beside it is of another recording; SF_UNAVAILABLE while it is being recorded,
 * SF_CANNOT_CREATE, SF_CANCELLED.
 */
int sf_tool_recover(sf_tool_recovered *told, const char *path, const char *out, const sf_progress *progress,
                    sf_error *error);
void sf_tool_recovered_free(sf_tool_recovered *told);

/* ---- plans ---- */

/** What is known of two functions that follow each other, or of a loop; texts are valid in the call alone. */
typedef struct sf_tool_plan_row {
    const char *kind, *first, *second;
    const char *flow, *anti, *output, *decided_by; /**< elements of the model, with a space between */
    const char *answer;
} sf_tool_plan_row;

/** Rows in order where `row` is given, a JSON document where `made_by` is, and lines otherwise. */
typedef struct sf_tool_plan_form {
    const sf_provenance *made_by;
    void (*row)(void *user, const sf_tool_plan_row *row);
    void *user;
} sf_tool_plan_form;

/**
 * Appends what is known of the algorithm that a YAML file describes: which of its steps may run at the same
 * time, and its parallel form. SF_DATA with its place, SF_NO_INPUT.
 */
int sf_tool_plan(sf_text *text, const char *path, const sf_tool_plan_form *as, sf_error *error);

/** The same of the pipeline's own hop, and the schedule that follows. virtual_clock: as it is replayed as
 * fast as it goes. SF_NO_MEMORY. */
int sf_tool_own_plan(sf_text *text, bool virtual_clock, bool sequential, const sf_tool_plan_form *as,
                     sf_error *error);

#endif
