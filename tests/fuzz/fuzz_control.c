/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a run over its control socket: whoever can connect sends what they like. */
#include "live/control_request.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_request request;
    sf_error error = {0};
    int status = sf_request_parse(&request, (const char *)data, size, "0123456789abcdef", &error);
    if (status == SF_OK && (request.kind > SF_REQUEST_STATE || !(request.seconds >= 0) ||
                            memchr(request.trigger, '\0', sizeof request.trigger) == NULL ||
                            memchr(request.text, '\0', sizeof request.text) == NULL ||
                            memchr(request.density, '\0', sizeof request.density) == NULL ||
                            request.op > SF_AGGREGATE_VARIANCE || !(request.from < request.to)))
        abort();
    return 0;
}
