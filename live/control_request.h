/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests to a run: one JSON object of at most SF_REQUEST_MOST bytes,
 *
 *   {"token": "...", "command": "arm", "trigger": "reward", "seconds": 60}
 *
 * The token is checked first, in a time that does not reveal how much of it was right; with a wrong one
 * nothing else in a request is answered.
 */
#ifndef SF_LIVE_CONTROL_REQUEST_H
#define SF_LIVE_CONTROL_REQUEST_H

#include "core/describe/column.h"
#include "core/recording.h"

#include <synfire/density.h>
#include <synfire/error.h>

#include <stdatomic.h>

#define SF_REQUEST_MOST 4096
#define SF_REQUEST_WRONG_TOKEN "the token is wrong"
#define SF_TOKEN_LEAST 16
#define SF_TOKEN_MOST 256

typedef enum sf_request_kind {
    SF_REQUEST_STATUS,
    SF_REQUEST_ARM,
    SF_REQUEST_DISARM,
    SF_REQUEST_MARK,
    SF_REQUEST_STOP,
    SF_REQUEST_START,     /**< for a run that waits for it */
    SF_REQUEST_RELOAD,    /**< reads the configuration again */
    SF_REQUEST_RENEW,     /**< extends the arming of an armed trigger, nothing else */
    SF_REQUEST_AGGREGATE, /**< answers from a density that the run keeps */
    SF_REQUEST_STATE      /**< returns that density, without its samples */
} sf_request_kind;

typedef struct sf_request {
    sf_request_kind kind;
    char trigger[64];               /**< empty: all of them */
    double seconds;                 /**< duration of arming; 0: as configured */
    char text[SF_MARKER_TEXT_SIZE]; /**< of a mark */
    char density[64];               /**< "isi A" */
    sf_aggregate_kind op;
    double from, to; /**< range of the quantity; infinite if not given */
} sf_request;

/** Reads a request. SF_UNAVAILABLE for a wrong token; SF_USAGE, with what was expected, for an invalid
 * request. */
int sf_request_parse(sf_request *request, const char *bytes, size_t length, const char *token,
                     sf_error *error);

/** Whether `given`, of `length` bytes, is the token; compares every byte, right or wrong, so that the time
 * reveals nothing. */
bool sf_token_is(const char *given, size_t length, const char *token);

/** Counts wrong tokens. Zero-initialise; any thread. */
typedef struct sf_wrong_tokens {
    _Atomic uint64_t count;
    _Atomic int64_t logged_ns; /**< monotonic clock of the newest log line about them; 0: none yet */
} sf_wrong_tokens;

/** Counts one more wrong token and logs it, at most once a second; `what` says whose and which. */
void sf_wrong_token(sf_wrong_tokens *wrong, const char *what);

/** The answers to `aggregate` and `state`; without rows. */
extern const sf_table sf_control_aggregate_document, sf_control_state_document;

/**
 * Reads the token: the first line of a file that only its owner may read. SF_NO_INPUT; SF_CONFIG if others
 * may read it, or it is too short or too long.
 */
int sf_token_read(char token[SF_TOKEN_MOST + 1], const char *path, sf_error *error);

#endif
