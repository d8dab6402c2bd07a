/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the columns of a text of spikes are, by the words of its heading: which names units, which has times
 * and in what, whichever way round they stand. Words of a heading may be joined or cut (`spike_times`,
 * `SpikeTime`, `Time (ms)`); a unit of time may stand among them.
 */
#ifndef SF_REPLAY_CSV_FORM_H
#define SF_REPLAY_CSV_FORM_H

#include <stdbool.h>
#include <synfire/error.h>

#define SF_CSV_MOST_COLUMNS 256
#define SF_CSV_NONE SIZE_MAX

typedef struct sf_csv_form {
    size_t count; /**< of columns */
    size_t unit, time;
    size_t of_unit; /**< a second column of the same name, which goes on with a unit's name; or SF_CSV_NONE */
    size_t well;    /**< SF_CSV_NONE: none */
    size_t amplitude; /**< SF_CSV_NONE: none */
    bool counts_samples;
    bool of_electrodes; /**< the heading says that units are electrodes */
    int exponent;       /**< by which times become ns: 9 of seconds, 6 of ms */
} sf_csv_form;

/** A unit's name and a time in seconds. */
sf_csv_form sf_csv_form_plain(void);

/** True where one of these words says that it heads times. */
bool sf_csv_heads_times(char *const *names, size_t count);

/**
 * The form that a heading tells, or what a caller says in its place, where `-` stands for a column that does
 * not matter. A word that nothing is known of may be the one that is missing. SF_DATA with what is to be
 * written, where several columns may be what is looked for or none is.
 */
int sf_csv_form_of(sf_csv_form *form, char *const *names, size_t count, const char *path, sf_error *error);

#endif
