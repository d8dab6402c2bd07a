/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that is not this program's, for a test: the program asks it for nothing else. */
#include "core/backend/plugin.h"

SF_API const sf_backend *synfire_backend(void);

const sf_backend *synfire_backend(void)
{
    static const sf_backend backend = {
        .version = REFUSED_VERSION, .release = REFUSED_RELEASE, .name = "refused"};
    return &backend;
}
