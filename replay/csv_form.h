/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Meaning of the columns of a spike text, from the words of its heading: which column names units, which
 * holds times and in which unit, in any order. Words of a heading may be joined or separated (`spike_times`,
 * `SpikeTime`, `Time (ms)`), and may include a unit of time.
 */
#ifndef SF_REPLAY_CSV_FORM_H
#define SF_REPLAY_CSV_FORM_H

#include <stdbool.h>
#include <synfire/error.h>

#define SF_CSV_MOST_COLUMNS 256
#define SF_CSV_MOST_PARTS 4
#define SF_CSV_NONE SIZE_MAX
#define SF_CSV_NO_SCALE (-1) /* no unit of time is named */
#define SF_CSV_NOT_READ (-2) /* a unit of time is named, but not one of s, ms, us and ns */

typedef struct sf_csv_form {
    size_t count;      /**< of columns */
    size_t unit, time; /**< unit SF_CSV_NONE: the only column holds the times of one unit */
    size_t of_unit; /**< second column of the same name, appended to the name of the unit; or SF_CSV_NONE */
    size_t well;    /**< SF_CSV_NONE: none */
    /** Columns of trials, sweeps or sessions: rows that differ in them are separate streams, not one train.
     */
    size_t parts[SF_CSV_MOST_PARTS];
    size_t part_count;
    size_t amplitude; /**< SF_CSV_NONE: none */
    bool counts_samples;
    bool names_scale;   /**< the heading names the unit of time; otherwise it is s */
    bool is_guess;      /**< no word of the heading identifies the column of times */
    bool of_electrodes; /**< the heading says that units are electrodes */
    int exponent;       /**< power of ten that converts times to ns: 9 for seconds, 6 for ms */
} sf_csv_form;

/** A unit's name and a time in seconds. */
sf_csv_form sf_csv_form_plain(void);

/** Unit of time for an exponent: "ns" for 0, "us" for 3, "ms" for 6, "s" for 9. */
const char *sf_csv_scale_name(int exponent);

/** Exponent that converts times under this heading to ns: 9 for seconds, 6 for ms, 3, 0; or one of the two
 * values above. Headings are UTF-8 or Latin-1. */
int sf_csv_scale(const char *name);

/** Whether one of these headings denotes times. */
bool sf_csv_heads_times(char *const *names, size_t count);

/** Whether the heading denotes the source of a spike: a unit or an electrode. */
bool sf_csv_heads_units(const char *name);

/**
 * Interprets the words of a heading, or a caller's replacement of it, in which `-` stands for a column to
 * ignore. An unknown word may be taken as the one missing column. SF_DATA, with what to write, if several
 * columns fit or none does.
 */
int sf_csv_form_of(sf_csv_form *form, char *const *names, size_t count, const char *path, sf_error *error);

#endif
