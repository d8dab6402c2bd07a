/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What may be asked of a run: one JSON object of at most SF_REQUEST_MOST bytes,
 *
 *   {"token": "...", "command": "arm", "trigger": "reward", "seconds": 60}
 *
 * The token is looked at first, in a time that does not tell how much of it was right; without it nothing
 * else of a request is answered.
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
    SF_REQUEST_START,     /**< of a run that waits for it */
    SF_REQUEST_RELOAD,    /**< its configuration is read again */
    SF_REQUEST_RENEW,     /**< arms what is armed, and nothing else */
    SF_REQUEST_AGGREGATE, /**< of a density that the run keeps */
    SF_REQUEST_STATE      /**< that density itself, without its samples */
} sf_request_kind;

typedef struct sf_request {
    sf_request_kind kind;
    char trigger[64];               /**< empty: all of them */
    double seconds;                 /**< of arming; 0: as configured */
    char text[SF_MARKER_TEXT_SIZE]; /**< of a mark */
    char density[64];               /**< "isi A" */
    sf_aggregate_kind op;
    double from, to; /**< of the quantity; an infinity where nothing was said */
} sf_request;

/** SF_UNAVAILABLE for a wrong token; SF_USAGE, with what was expected, for what is no request. */
int sf_request_parse(sf_request *request, const char *bytes, size_t length, const char *token,
                     sf_error *error);

/** Whether a token of so many bytes is this one: every byte of it is looked at, right or wrong. */
bool sf_token_is(const char *given, size_t length, const char *token);

/** Tokens that were wrong. Zero-initialise; any thread. */
typedef struct sf_wrong_tokens {
    _Atomic uint64_t count;
    _Atomic int64_t logged_ns; /**< monotonic clock of the newest line about them; 0: none yet */
} sf_wrong_tokens;

/** One more, which the log has at most once a second; `what` says of whom and which. */
void sf_wrong_token(sf_wrong_tokens *wrong, const char *what);

/** What is answered to `aggregate` and to `state`; without rows. */
extern const sf_table sf_control_aggregate_document, sf_control_state_document;

/**
 * Reads the token: the first line of a file that nobody but its owner may read. SF_NO_INPUT; SF_CONFIG for
 * one that others may read, and for one that is too short or too long.
 */
int sf_token_read(char token[SF_TOKEN_MOST + 1], const char *path, sf_error *error);

#endif
