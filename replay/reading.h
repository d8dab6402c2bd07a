/* SPDX-License-Identifier: Apache-2.0 */
/** What a caller knows of a recording's file and the file does not say, or not alone. */
#ifndef SF_REPLAY_READING_H
#define SF_REPLAY_READING_H

/** Zero-initialised: everything as the file says. */
typedef struct sf_reading {
    const char *stream; /**< which of several streams, wells or recordings; NULL: there must be exactly one */
    double rate_hz;     /**< samples in a second, of layouts that count samples; 0: as the file says */
    const char *columns; /**< of text: what its columns are, as a heading says it; NULL: as its own says */
} sf_reading;

#endif
