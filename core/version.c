/* SPDX-License-Identifier: Apache-2.0 */
#include <synfire/synfire.h>

const char *sf_version(void)
{
    return SYNFIRE_VERSION;
}
