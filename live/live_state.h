/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The control socket's answers to `aggregate` and `state`, as JSON, and reading the state back from it. Data
 * from a run is validated like data from a file.
 */
#ifndef SF_LIVE_LIVE_STATE_H
#define SF_LIVE_LIVE_STATE_H

#include "core/text.h"
#include "io/state_file.h"
#include "live/control_request.h"
#include "pipeline/density_copy.h"

/** Appends the answer to a request about a copied density. SF_USAGE, SF_NO_MEMORY as sf_synopsis_aggregate;
 * then nothing is appended. */
int sf_live_state_answer(sf_text *text, const sf_density_copy *copy, const sf_request *request,
                         sf_error *error);

/** Reads the answer to `state`. SF_UNAVAILABLE, with the run's sentence, if the run refused; SF_DATA. */
int sf_live_state_read(sf_state *state, const char *bytes, size_t length, sf_error *error);

/** Which run to ask, and how; strings are borrowed. */
typedef struct sf_live_state_asking {
    const char *token_file;
    const char *key, *server_key; /**< as in sf_curve_client */
    const char *density;
    int timeout_ms;
} sf_live_state_asking;

/** Asks the run at an endpoint for a state. Errors as sf_token_read, sf_asker_open, sf_live_state_read;
 * SF_UNAVAILABLE if no answer comes. */
int sf_live_state_ask(sf_state *state, const char *endpoint, const sf_live_state_asking *asking,
                      sf_error *error);

#endif
