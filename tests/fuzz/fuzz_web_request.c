/* SPDX-License-Identifier: Apache-2.0 */
/* What a browser asks is one of a few words or is refused; a host that is known is one by itself. */
#include "core/memory.h"
#include "sinks/web_request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_web_request request;
    sf_error error = {0};
    if (sf_web_request_read(&request, (const char *)data, size, &error) != SF_OK && error.text[0] == '\0')
        abort();
    if (strlen(request.token) > SF_WEB_TOKEN || strlen(request.id) >= SF_EPISODE_ID_SIZE ||
        strlen(request.control) > SF_WEB_CONTROL || strlen(request.trigger) >= SF_TRIGGER_NAME_SIZE)
        abort();
    char *host = sf_alloc(size + 1, 1);
    if (host == NULL) return 0;
    if (size > 0) memcpy(host, data, size);
    bool known = sf_web_host_is_known(host, "rig");
    if (known && strcspn(host, "/@#? ") != strlen(host)) abort();
    if (sf_web_origin_is_own(host, host)) abort(); /* an origin has its scheme before it */
    sf_free(host);
    return 0;
}
