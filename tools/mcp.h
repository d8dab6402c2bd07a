/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests of a client of the Model Context Protocol, one line of JSON-RPC 2.0 each
 * (https://modelcontextprotocol.io/specification, version 2025-06-18). Any thread.
 */
#ifndef SF_TOOLS_MCP_H
#define SF_TOOLS_MCP_H

#include "core/error.h"

#define SF_MCP_VERSION "2025-06-18"
#define SF_MCP_MOST_BYTES (1 << 20) /**< maximum length of a line */
#define SF_MCP_MOST_WORDS 256 /**< maximum number of argument values in a call, counting list elements */

/** JSON-RPC error codes for invalid requests, and for those that cannot be answered. */
enum {
    SF_MCP_NO_JSON = -32700,
    SF_MCP_NO_REQUEST = -32600,
    SF_MCP_NO_METHOD = -32601,
    SF_MCP_WRONG = -32602
};

typedef enum sf_mcp_method {
    SF_MCP_INITIALIZE,
    SF_MCP_PING,
    SF_MCP_LIST,
    SF_MCP_CALL,
    SF_MCP_OTHER /**< any other notification */
} sf_mcp_method;

/** One value of an argument of a call; each element of a list is one. */
typedef struct sf_mcp_word {
    char *name, *value; /**< value NULL: true */
} sf_mcp_word;

/** Zero-initialise. */
typedef struct sf_mcp_request {
    sf_mcp_method method;
    char *id;   /**< as JSON; NULL: a notification, which gets no answer */
    char *tool; /**< name of the tool to call */
    sf_mcp_word *words;
    size_t word_count;
    int code; /**< why it failed */
} sf_mcp_request;

/**
 * Reads a line. Arguments that are false or null are left out. SF_DATA with `code` for an invalid request,
 * with its `id` if that was found; SF_NO_MEMORY. Call sf_mcp_request_free whatever is returned.
 */
int sf_mcp_request_read(sf_mcp_request *request, const char *line, size_t length, sf_error *error);
void sf_mcp_request_free(sf_mcp_request *request);

/** Extracts the status from a control socket's answer, as it is written there. SF_UNAVAILABLE, with the
 * socket's sentence, if it refused; SF_DATA for anything else. */
int sf_mcp_status(const char **status, size_t *size, const char *answer, size_t length, sf_error *error);

#endif
