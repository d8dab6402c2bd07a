/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Turns a trigger into text for a machine: {name}, {id}, {occurrence}, {seq} and {time_ns} stand for the
 * trigger's values, \n, \r, \t, \0, \\ and \xHH for bytes, {{ and }} for braces.
 */
#ifndef SF_SINKS_TEMPLATE_H
#define SF_SINKS_TEMPLATE_H

#include "core/message.h"
#include "core/text.h"

/** Checks a template. SF_CONFIG with `key` as the place, and what is wrong in it. */
int sf_template_check(const char *text, const char *key, sf_error *error);

/** Appends the bytes of a checked template, which may include 0. `text->failed` if memory is out. */
void sf_template_fill(sf_text *into, const char *text, const sf_message *trigger);

#endif
