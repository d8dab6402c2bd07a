/* SPDX-License-Identifier: Apache-2.0 */
/** Orders to named triggers, and the orders of a page: the same as through the control socket, with the same
 * token. */
#ifndef SF_LIVE_ORDERS_H
#define SF_LIVE_ORDERS_H

#include "core/orders.h"
#include "live/control_request.h"
#include "pipeline/pipeline.h"

/** Passes on a command about the trigger of this name, or about all triggers (name ""). SF_USAGE for an
 * unknown name; errors as sf_pipeline_order. */
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

/** Reads the token. Errors as sf_token_read. */
int sf_page_orders_open(sf_page_orders *page, const char *token_file, const sf_live_options *options,
                        sf_pipeline *pipeline, sf_error *error);

#endif
