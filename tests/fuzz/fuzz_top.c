/* SPDX-License-Identifier: Apache-2.0 */
/* A status as it comes to `synfire top`, in JSON, in MessagePack, or as a control socket answers. */
#include "tools/top.h"
#include "tools/watcher.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sf_top top, before;
    sf_error error = {0};
    int status = sf_top_read(&top, (const char *)data, size, &error);
    if (status != SF_OK && status != SF_AGAIN && error.text[0] == '\0') abort();
    if (status != SF_OK) return 0;
    if (top.count > SF_TOP_ROWS_MAXIMUM || memchr(top.stream, '\0', sizeof top.stream) == NULL) abort();
    sf_top_since(&top, &before);
    before = top;
    return 0;
}
