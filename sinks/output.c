/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/output.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

int sf_output_open(sf_output *output, const sf_output_settings *settings, sf_error *error)
{
    int status = sf_template_check(settings->send, "send", error);
    if (status != SF_OK)
        return status;
    output->trigger = sf_copy_string(settings->trigger);
    output->send = sf_copy_string(settings->send);
    return output->trigger != NULL && output->send != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_output_close(sf_output *output)
{
    sf_free(output->trigger);
    sf_free(output->send);
    sf_text_free(&output->text);
}

bool sf_output_takes(const sf_output *output, const sf_message *message)
{
    if (message->topic != SF_TOPIC_TRIGGER || !message->trigger.is_named)
        return false;
    return strcmp(output->trigger, "*") == 0 || strcmp(output->trigger, message->trigger.name) == 0;
}

const sf_text *sf_output_text(sf_output *output, const char *text, const sf_message *message, sf_error *error)
{
    sf_text_clear(&output->text);
    sf_template_fill(&output->text, text, message);
    if (!output->text.failed)
        return &output->text;
    sf_text_free(&output->text);
    sf_fail_memory(error);
    return NULL;
}
