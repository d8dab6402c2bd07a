/* SPDX-License-Identifier: Apache-2.0 */
#include <synfire/error.h>

const char *sf_version(void)
{
    return SYNFIRE_VERSION;
}
