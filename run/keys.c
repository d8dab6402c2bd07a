/* SPDX-License-Identifier: Apache-2.0 */
#include "io/curve.h"
#include "run/tool.h"

#include <string.h>

int sf_tool_make_keys(char public_key[41], const char *path, sf_error *error)
{
    sf_curve_keys keys;
    int status = sf_curve_make(&keys, path, error);
    memcpy(public_key, keys.public_key, sizeof keys.public_key);
    return status;
}
