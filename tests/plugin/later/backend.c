/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin of the next interface version, for a test: the program asks it for nothing else. */
#include "core/backend/backend.h"

SF_API const sf_backend *synfire_backend(void);

const sf_backend *synfire_backend(void)
{
    static const sf_backend backend = {.version = SF_BACKEND_VERSION + 1, .name = "later"};
    return &backend;
}
