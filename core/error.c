/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"

#include "core/text.h"

int sf_fail(sf_error *error, sf_status code, const char *place, const char *format, ...)
{
    if (error == NULL) return code;
    error->code = code;
    sf_visible_printf(error->place, sizeof error->place, "%s", place != NULL ? place : "");
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

int sf_fail_memory(sf_error *error)
{
    return sf_fail(error, SF_NO_MEMORY, NULL, "out of memory");
}

int sf_exit_code(int status)
{
    switch (status) {
    case SF_OK:
        return 0;
    case SF_CANCELLED:
        return 130;
    case SF_NO_MEMORY:
        return 70;
    default:
        return status <= SF_USAGE && status >= SF_CONFIG ? -status : 70;
    }
}
