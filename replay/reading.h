/* SPDX-License-Identifier: Apache-2.0 */
/** What the caller knows about a recording's file and the file does not say, or not unambiguously. */
#ifndef SF_REPLAY_READING_H
#define SF_REPLAY_READING_H

/** Zero-initialised: everything as the file says. */
typedef struct sf_reading {
    const char *stream;  /**< name of a stream, well or recording; NULL: there must be exactly one */
    double rate_hz;      /**< sampling rate in Hz, for layouts that count samples; 0: as the file says */
    const char *columns; /**< columns of a text file, written like a heading; NULL: its own heading */
} sf_reading;

#endif
