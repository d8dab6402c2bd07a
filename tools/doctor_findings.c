/* SPDX-License-Identifier: Apache-2.0 */
/* How the checks of sf_doctor report what they found. */
#include "tools/doctor.h"

#include "core/text.h"

#include <stdarg.h>

void sf_doctor_find(sf_findings *checks, const char *name, sf_finding_level level, const char *format, ...)
{
    if (checks->count == SF_FINDINGS_MAXIMUM) return;
    sf_finding *check = &checks->items[checks->count++];
    *check = (sf_finding){.name = name, .level = level};
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(check->found, sizeof check->found, format, arguments);
    va_end(arguments);
}

void sf_doctor_advise(sf_findings *checks, const char *format, ...)
{
    sf_finding *check = &checks->items[checks->count - 1];
    if (check->level == SF_FINDING_GOOD) return;
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(check->advice, sizeof check->advice, format, arguments);
    va_end(arguments);
}
