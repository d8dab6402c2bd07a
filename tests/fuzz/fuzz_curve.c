/* SPDX-License-Identifier: Apache-2.0 */
/* Files of keys, which come from other people and programs. */
#include "io/curve.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_curve_keys keys;
    sf_error error = {0};
    int status = sf_curve_parse(&keys, (const char *)data, size, "fuzz", &error);
    size_t length = strnlen(keys.public_key, sizeof keys.public_key),
           secret = strnlen(keys.secret_key, sizeof keys.secret_key);
    bool whole = length == SF_CURVE_TEXT_SIZE - 1 && (secret == 0 || secret == length);
    if (status == SF_OK ? !whole : status != SF_CONFIG || length + secret > 0) abort();
    return 0;
}
