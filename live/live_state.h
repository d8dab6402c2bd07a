/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a control socket answers to `aggregate` and `state`, as JSON, and the state read back from it. What
 * comes from a run is not believed, as what comes
 * from a file is not.
 */
#ifndef SF_LIVE_LIVE_STATE_H
#define SF_LIVE_LIVE_STATE_H

#include "core/text.h"
#include "io/state_file.h"
#include "live/control_request.h"
#include "pipeline/density_copy.h"

/** Appends the answer to a request of a density that was copied. SF_USAGE, SF_NO_MEMORY as
 * sf_synopsis_aggregate; nothing is appended then. */
int sf_live_state_answer(sf_text *text, const sf_density_copy *copy, const sf_request *request,
                         sf_error *error);

/** From the answer to `state`. SF_UNAVAILABLE with what a run answers that refuses; SF_DATA. */
int sf_live_state_read(sf_state *state, const char *bytes, size_t length, sf_error *error);

/** Who is asked, and how; strings are borrowed. */
typedef struct sf_live_state_asking {
    const char *token_file;
    const char *key, *server_key; /**< of sf_curve_client */
    const char *density;
    int timeout_ms;
} sf_live_state_asking;

/** Asks the run at an endpoint. As sf_token_read, sf_asker_open, sf_live_state_read; SF_UNAVAILABLE where no
 * answer comes. */
int sf_live_state_ask(sf_state *state, const char *endpoint, const sf_live_state_asking *asking,
                      sf_error *error);

#endif
