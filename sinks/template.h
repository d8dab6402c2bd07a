/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The text that a trigger becomes for a machine that takes text: {name}, {id}, {occurrence}, {seq} and
 * {time_ns} stand for what the trigger has of these, \n, \r, \t, \0, \\ and \xHH for bytes, {{ and }} for
 * braces.
 */
#ifndef SF_SINKS_TEMPLATE_H
#define SF_SINKS_TEMPLATE_H

#include "core/message.h"
#include "core/text.h"

/** Whether a text is one: SF_CONFIG with `key` as the place, and what is wrong in it. */
int sf_template_check(const char *text, const char *key, sf_error *error);

/** Appends what a checked text becomes; bytes may be 0. `text->failed` where memory is out. */
void sf_template_fill(sf_text *into, const char *text, const sf_message *trigger);

#endif
