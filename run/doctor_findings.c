/* SPDX-License-Identifier: Apache-2.0 */
/* How the checks of sf_tool_doctor report what they found. */
#include "run/doctor.h"

#include "core/text.h"

#include <stdarg.h>

void sf_doctor_find(sf_tool_checks *checks, const char *name, sf_tool_level level, const char *format, ...)
{
    if (checks->count == SF_TOOL_MOST_CHECKS)
        return;
    sf_tool_check *check = &checks->items[checks->count++];
    *check = (sf_tool_check){.name = name, .level = level};
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(check->found, sizeof check->found, format, arguments);
    va_end(arguments);
}

void sf_doctor_advise(sf_tool_checks *checks, const char *format, ...)
{
    sf_tool_check *check = &checks->items[checks->count - 1];
    if (check->level == SF_TOOL_GOOD)
        return;
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(check->advice, sizeof check->advice, format, arguments);
    va_end(arguments);
}
