/* SPDX-License-Identifier: Apache-2.0 */
/** Orders to triggers by their names, and what a page may order: the same as the control socket, for the same
 * token. */
#ifndef SF_LIVE_ORDERS_H
#define SF_LIVE_ORDERS_H

#include "core/orders.h"
#include "live/control_request.h"
#include "pipeline/pipeline.h"

/** Hands on a command about the trigger of this name, or about all of them ("" as its name). SF_USAGE. */
int sf_order_trigger(sf_pipeline *pipeline, const sf_live_options *options, sf_command command,
                     const char *name, sf_error *error);

/** Zero-initialise. Options and pipeline are borrowed. */
typedef struct sf_page_orders {
    sf_orders orders; /**< `user` is this struct */
    const sf_live_options *options;
    sf_pipeline *pipeline;
    char token[SF_TOKEN_MOST + 1];
    sf_wrong_tokens wrong;
} sf_page_orders;

/** Reads the token; what sf_token_read refuses. */
int sf_page_orders_open(sf_page_orders *page, const char *token_file, const sf_live_options *options,
                        sf_pipeline *pipeline, sf_error *error);

#endif
