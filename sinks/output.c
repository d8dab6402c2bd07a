/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/output.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

static const char *then_of(const sf_output_settings *settings)
{
    return settings->then != NULL ? settings->then : "";
}

int sf_output_check(const sf_output_settings *settings, sf_error *error)
{
    int status = sf_template_check(settings->send, "send", error);
    return status == SF_OK ? sf_template_check(then_of(settings), "then", error) : status;
}

int sf_output_open(sf_output *output, const sf_output_settings *settings, sf_error *error)
{
    int status = sf_output_check(settings, error);
    if (status != SF_OK) return status;
    output->pulse_ms = settings->pulse_ms;
    output->trigger = sf_copy_string(settings->trigger);
    output->send = sf_copy_string(settings->send);
    output->then = sf_copy_string(then_of(settings));
    bool whole = output->trigger != NULL && output->send != NULL && output->then != NULL;
    return whole ? SF_OK : sf_fail_memory(error);
}

void sf_output_close(sf_output *output)
{
    sf_free(output->trigger);
    sf_free(output->send);
    sf_free(output->then);
    sf_text_free(&output->text);
    sf_text_free(&output->after);
}

bool sf_output_takes(const sf_output *output, const sf_message *message)
{
    if (message->topic != SF_TOPIC_TRIGGER || !message->trigger.is_named) return false;
    return strcmp(output->trigger, "*") == 0 || strcmp(output->trigger, message->trigger.name) == 0;
}

double sf_output_pulse_ms(void *self)
{
    return ((const sf_output *)self)->pulse_ms;
}

const sf_text *sf_output_text(sf_output *output, const sf_message *message, sf_error *error)
{
    sf_text_clear(&output->text);
    sf_text_clear(&output->after);
    sf_template_fill(&output->text, output->send, message);
    sf_template_fill(&output->after, output->then, message);
    if (!output->text.failed && !output->after.failed) return &output->text;
    sf_text_free(&output->text);
    sf_text_free(&output->after);
    sf_fail_memory(error);
    return NULL;
}
