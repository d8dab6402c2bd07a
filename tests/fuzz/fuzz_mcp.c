/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of `synfire mcp` writes. */
#include "tools/mcp.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_mcp_request request;
    sf_error error = {0};
    int status = sf_mcp_request_read(&request, (const char *)data, size, &error);
    if (status != SF_OK && (status != SF_DATA || request.code == 0 || error.text[0] == '\0')) abort();
    if (status == SF_OK && (request.code != 0 || (request.method == SF_MCP_CALL) != (request.tool != NULL)))
        abort();
    for (size_t i = 0; i < request.word_count && status == SF_OK; i++)
        if (request.words[i].name == NULL) abort();
    if (request.word_count > SF_MCP_MOST_WORDS) abort();
    sf_mcp_request_free(&request);
    return 0;
}
