/* SPDX-License-Identifier: Apache-2.0 */
#include "core/options.h"

#include "core/error.h"

#include <string.h>

/* Both structs begin with their size, which stays the caller's. */
static void fill(void *callers, size_t size, const void *own, size_t known)
{
    if (size < sizeof size) return;
    size_t common = size < known ? size : known;
    memset(callers, 0, size);
    memcpy(callers, own, common);
    memcpy(callers, &size, sizeof size);
}

void sf_options_init(void *options, size_t size, const void *defaults, size_t known)
{
    fill(options, size, defaults, known);
}

void sf_columns_fill(void *columns, const void *own, size_t known)
{
    size_t size;
    memcpy(&size, columns, sizeof size);
    fill(columns, size, own, known);
}

int sf_options_read(void *own, const void *defaults, size_t known, const void *options, const char *what,
                    sf_error *error)
{
    memcpy(own, defaults, known);
    if (options == NULL) return SF_OK;
    size_t size;
    memcpy(&size, options, sizeof size);
    if (size < sizeof size || size > known + 65536)
        return sf_fail(error, SF_USAGE, what,
                       "the size of its struct is %zu bytes, expected about %zu: set it first", size, known);
    for (size_t i = known; i < size; i++)
        if (((const unsigned char *)options)[i] != 0)
            return sf_fail(error, SF_USAGE, what, "sets what synfire %s does not know: the program is newer",
                           sf_version());
    memcpy(own, options, size < known ? size : known);
    memcpy(own, &known, sizeof known);
    return SF_OK;
}
