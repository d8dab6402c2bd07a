/* SPDX-License-Identifier: Apache-2.0 */
/** Density states (densities without their samples) of files and of runs. Errors are as in synfire/synfire.h;
 * one object from one thread at a time. */
#ifndef SF_TOOLS_STATES_H
#define SF_TOOLS_STATES_H

#include <synfire/density.h>

/** Writes the state of a density to a file, which then answers for it; replaces an existing file. The file
 * records its quantity, unit or link (NULL and -1: none). SF_USAGE for three and more columns, SF_DATA,
 * SF_CANNOT_CREATE. */
int sf_state_save(const char *path, const sf_density *density, const char *quantity, const char *name,
                  int64_t unit, const char *provenance, sf_error *error);

/** States that answer together: those of several files, in which states that can be added are one part. */
typedef struct sf_states sf_states;

typedef struct sf_states_about {
    const char *quantity; /**< common to all; NULL for numbers */
    const char *name;     /**< of the unit or link; NULL if they differ or have none */
    int64_t unit;         /**< its index, or -1 */
    uint64_t n;
    size_t files, parts; /**< files: number of files or runs; parts: number of states that could not be added;
                            each answers separately */
    double h;            /**< of the first part */
    const char *method;
} sf_states_about;

/** How to ask runs for the state of a density that they keep; strings are borrowed. */
typedef struct sf_states_asking {
    const char *density;          /**< its name in messages: "isi A"; NULL: do not ask runs */
    const char *token_file;       /**< of their control sockets */
    const char *key, *server_key; /**< as in sf_watcher_options */
    double seconds;               /**< maximum time to wait for an answer */
} sf_states_asking;

/** Opens states. A path that is an endpoint, tcp:// or ipc://, is that of a run's control socket. SF_USAGE if
 * they have different quantities, axes or numbers of columns; SF_NO_INPUT, SF_DATA, SF_UNAVAILABLE. */
int sf_states_open(sf_states **out, char *const *paths, size_t count, const sf_states_asking *asking,
                   sf_error *error);
bool sf_states_is_run(const char *path);
void sf_states_describe(const sf_states *states, sf_states_about *about);
void sf_states_close(sf_states *states); /**< NULL is allowed */

/** As sf_density_aggregate; `exact` is NaN. Reads no samples, and its time does not depend on their number.
 */
int sf_states_aggregate(const sf_states *states, sf_aggregate_kind kind, const double *from, const double *to,
                        size_t ranges, sf_aggregate *answer, sf_error *error);

/** Writes them as one state. SF_USAGE if they have several parts. */
int sf_states_save(const sf_states *states, const char *path, const char *provenance, sf_error *error);

#endif
