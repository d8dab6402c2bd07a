/* SPDX-License-Identifier: Apache-2.0 */
/** Densities without their samples, of files and of runs. Errors are as in synfire/synfire.h; one object from
 * one thread at a time. */
#ifndef SF_TOOLS_STATES_H
#define SF_TOOLS_STATES_H

#include <synfire/density.h>

/** Writes what is left of a density without its samples as a file that answers for it; replaces one that is
 * there. Of which quantity, unit or link it is (NULL and -1: none) goes into it. SF_USAGE for three and more
 * columns, SF_DATA, SF_CANNOT_CREATE. */
int sf_state_save(const char *path, const sf_density *density, const char *quantity, const char *name,
                  int64_t unit, const char *provenance, sf_error *error);

/** What answers together: the states of some files, of which those are one that add up. */
typedef struct sf_states sf_states;

typedef struct sf_states_about {
    const char *quantity; /**< of all; NULL of numbers */
    const char *name;     /**< of the unit or link; NULL where they differ or have none */
    int64_t unit;         /**< its index, or -1 */
    uint64_t n;
    size_t files, parts; /**< files: or runs; parts: those that did not add up; each answers for itself */
    double h;            /**< of the first part */
    const char *method;
} sf_states_about;

/** How runs are asked for the state of a density that they keep; strings are borrowed. */
typedef struct sf_states_asking {
    const char *density;          /**< as their messages call it: "isi A"; NULL: no run is asked */
    const char *token_file;       /**< of their control sockets */
    const char *key, *server_key; /**< as of sf_watcher_options */
    double seconds;               /**< an answer is waited for */
} sf_states_asking;

/** A path that is an endpoint, tcp:// or ipc://, is that of a run's control socket. SF_USAGE where they are
 * of different quantities, axes or numbers of columns; SF_NO_INPUT, SF_DATA, SF_UNAVAILABLE. */
int sf_states_open(sf_states **out, char *const *paths, size_t count, const sf_states_asking *asking,
                   sf_error *error);
bool sf_states_is_run(const char *path);
void sf_states_describe(const sf_states *states, sf_states_about *about);
void sf_states_close(sf_states *states); /**< NULL is allowed */

/** As sf_density_aggregate; `exact` is NaN. Nothing is read, and time depends on no number of samples. */
int sf_states_aggregate(const sf_states *states, sf_aggregate_kind kind, const double *from, const double *to,
                        size_t ranges, sf_aggregate *answer, sf_error *error);

/** Writes them as one. SF_USAGE where they are several parts. */
int sf_states_save(const sf_states *states, const char *path, const char *provenance, sf_error *error);

#endif
