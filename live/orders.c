/* SPDX-License-Identifier: Apache-2.0 */
#include "live/orders.h"

#include "core/error.h"

#include <string.h>

int sf_order_trigger(sf_pipeline *pipeline, const sf_live_options *options, sf_command command,
                     const char *name, sf_error *error)
{
    command.trigger = name[0] != '\0' ? sf_live_find_trigger(options, name) : SF_ALL_TRIGGERS;
    if (name[0] != '\0' && command.trigger == options->trigger_count)
        return sf_fail(error, SF_USAGE, "trigger", "no trigger is named '%s'", name);
    return sf_pipeline_order(pipeline, &command, error);
}

static bool knows(void *user, const char *token)
{
    sf_page_orders *page = user;
    if (sf_token_is(token, strlen(token), page->token)) return true;
    sf_wrong_token(&page->wrong, "page: a wrong token to arm with");
    return false;
}

static int arm(void *user, const char *trigger, bool armed, sf_error *error)
{
    const sf_page_orders *page = user;
    const sf_command command = {.kind = armed ? SF_COMMAND_ARM : SF_COMMAND_DISARM, .by = "page"};
    return sf_order_trigger(page->pipeline, page->options, command, trigger, error);
}

int sf_page_orders_open(sf_page_orders *page, const char *token_file, const sf_live_options *options,
                        sf_pipeline *pipeline, sf_error *error)
{
    page->orders = (sf_orders){.knows = knows, .arm = arm, .user = page};
    page->options = options;
    page->pipeline = pipeline;
    return sf_token_read(page->token, token_file, error);
}
