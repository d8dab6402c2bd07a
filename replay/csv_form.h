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
#define SF_CSV_MOST_PARTS 4
#define SF_CSV_NONE SIZE_MAX
#define SF_CSV_NO_SCALE (-1) /* no unit of time is named */
#define SF_CSV_NOT_READ (-2) /* one is that is none of s, ms, us and ns */

typedef struct sf_csv_form {
    size_t count;      /**< of columns */
    size_t unit, time; /**< unit SF_CSV_NONE: the only column has times, of one unit */
    size_t of_unit; /**< a second column of the same name, which goes on with a unit's name; or SF_CSV_NONE */
    size_t well;    /**< SF_CSV_NONE: none */
    /** Columns of trials, sweeps, sessions: rows that differ there lie side by side, not in one train. */
    size_t parts[SF_CSV_MOST_PARTS];
    size_t part_count;
    size_t amplitude; /**< SF_CSV_NONE: none */
    bool counts_samples;
    bool names_scale;   /**< the heading names the unit of time, which is s otherwise */
    bool is_guess;      /**< no word of the heading says which column has times */
    bool of_electrodes; /**< the heading says that units are electrodes */
    int exponent;       /**< by which times become ns: 9 of seconds, 6 of ms */
} sf_csv_form;

/** A unit's name and a time in seconds. */
sf_csv_form sf_csv_form_plain(void);

/** "ns" of 0, "us" of 3, "ms" of 6, "s" of 9. */
const char *sf_csv_scale_name(int exponent);

/** The exponent by which times below this heading become ns: 9 of seconds, 6 of ms, 3, 0; or one of the two
 * above. Headings are UTF-8 or Latin-1. */
int sf_csv_scale(const char *name);

/** True where one of these words says that it heads times. */
bool sf_csv_heads_times(char *const *names, size_t count);

/** True where it heads what spikes are of: units or electrodes. */
bool sf_csv_heads_units(const char *name);

/**
 * The form that a heading tells, or what a caller says in its place, where `-` stands for a column that does
 * not matter. A word that nothing is known of may be the one that is missing. SF_DATA with what is to be
 * written, where several columns may be what is looked for or none is.
 */
int sf_csv_form_of(sf_csv_form *form, char *const *names, size_t count, const char *path, sf_error *error);

#endif
