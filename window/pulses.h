/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pulses that two sources share, by which the times of one become those of the other's clock. A line of TTL
 * edges goes to both; the rising ones are compared.
 *
 * - *Searching*: the newest pulses of both are laid over each other in every way, with a drift of at most 200
 * ppm and a jitter of 1 ms. One way is believed once eight of a stretch's pulses fit and seven tenths of them
 * do, and no other has half as many: intervals have to differ. Where sixteen fit and another way is as good
 * it is *ambiguous*: a regular train does not tell which pulse is which.
 * - *Locked*: a line through the newest 64 pairs gives offset and drift. A pulse that one of them lost, or
 * has more, has no partner and counts for nothing.
 * - *Lost*: sixteen in a row without a partner, or that wait for one. Times go on by the last line, and it is
 * searched again.
 */
#ifndef SF_WINDOW_PULSES_H
#define SF_WINDOW_PULSES_H

#include "window/source.h"

/** The pulses of the source that the others go by; its thread puts them, theirs read. */
typedef struct sf_pulse_train sf_pulse_train;

int sf_pulse_train_open(sf_pulse_train **train, sf_error *error);
void sf_pulse_train_close(sf_pulse_train *train); /**< NULL is allowed */
void sf_pulse_train_put(sf_pulse_train *train, int64_t time_ns);
void sf_pulse_train_forget(sf_pulse_train *train); /**< its clock began anew */

/** Another source, beside the train. One thread, but for sf_pulses_look. */
typedef struct sf_pulses sf_pulses;

typedef struct sf_pulses_status {
    const char *state;  /**< "searching", "ambiguous", "locked", "lost": literals */
    int64_t offset_ns;  /**< the train's clock less the source's at the newest pair */
    double drift_ppm;   /**< how much faster the train's clock is */
    double residual_us; /**< root mean square of the pairs about the line */
    int64_t newest_ns;  /**< of the train's clock: the newest pair; INT64_MIN: none */
} sf_pulses_status;

int sf_pulses_open(sf_pulses **pulses, sf_pulse_train *train, sf_error *error);
void sf_pulses_close(sf_pulses *pulses); /**< NULL is allowed */

/** The source's own pulses, in order. */
void sf_pulses_put(sf_pulses *pulses, int64_t time_ns);

/** Takes in what has come of both; whether times can be mapped. */
bool sf_pulses_update(sf_pulses *pulses);

/** A time of the source on the train's clock; only once sf_pulses_update said so. What goes in in order comes
 * out in order. */
int64_t sf_pulses_map(sf_pulses *pulses, int64_t time_ns);

void sf_pulses_forget(sf_pulses *pulses); /**< the source's clock began anew */

/** Any thread. */
sf_pulses_status sf_pulses_look(sf_pulses *pulses);

#endif
