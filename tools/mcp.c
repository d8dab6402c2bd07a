/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/mcp.h"

#include "core/memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const methods[] = {[SF_MCP_INITIALIZE] = "initialize",
                                      [SF_MCP_PING] = "ping",
                                      [SF_MCP_LIST] = "tools/list",
                                      [SF_MCP_CALL] = "tools/call"};

static int fail(sf_mcp_request *request, int code, const char *sentence, sf_error *error)
{
    request->code = code;
    return sf_fail(error, SF_DATA, NULL, "%s", sentence);
}

static bool copy(char **into, const char *text)
{
    *into = text != NULL ? sf_copy_string(text) : NULL;
    return text == NULL || *into != NULL;
}

/* A number or a text, as JSON; anything else names no request. */
static int take_id(sf_mcp_request *request, const json_t *id, sf_error *error)
{
    if (id == NULL) return SF_OK;
    if (!json_is_string(id) && !json_is_integer(id))
        return fail(request, SF_MCP_NO_REQUEST, "expected an id that is a text or a whole number", error);
    char *text = json_dumps(id, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    bool copied = text != NULL && copy(&request->id, text);
    free(text);
    return copied ? SF_OK : sf_fail_memory(error);
}

static int take_value(sf_mcp_request *request, const char *name, const json_t *value, sf_error *error)
{
    if (json_is_false(value) || json_is_null(value)) return SF_OK;
    if (!json_is_string(value) && !json_is_number(value) && !json_is_true(value))
        return fail(request, SF_MCP_WRONG,
                    "expected arguments that are texts, numbers, true, false or lists of these", error);
    if (request->word_count == SF_MCP_MOST_WORDS)
        return fail(request, SF_MCP_WRONG, "found too many arguments", error);
    sf_mcp_word *word = &request->words[request->word_count++];
    char *number =
        json_is_number(value) ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
    const char *text = json_is_string(value) ? json_string_value(value) : number;
    bool copied =
        copy(&word->name, name) && copy(&word->value, text) && (number != NULL || !json_is_number(value));
    free(number);
    return copied ? SF_OK : sf_fail_memory(error);
}

static int take_arguments(sf_mcp_request *request, json_t *arguments, sf_error *error)
{
    const char *name;
    json_t *value;
    int status = SF_OK;
    if (arguments != NULL && !json_is_object(arguments))
        return fail(request, SF_MCP_WRONG, "expected arguments by their names", error);
    request->words = sf_alloc(SF_MCP_MOST_WORDS, sizeof *request->words);
    if (request->words == NULL) return sf_fail_memory(error);
    json_object_foreach(arguments, name, value)
    {
        if (!json_is_array(value)) status = take_value(request, name, value, error);
        for (size_t i = 0; status == SF_OK && i < json_array_size(value); i++)
            status = take_value(request, name, json_array_get(value, i), error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

static int take(sf_mcp_request *request, const json_t *root, sf_error *error)
{
    const char *version = json_string_value(json_object_get(root, "jsonrpc")),
               *method = json_string_value(json_object_get(root, "method"));
    int status = take_id(request, json_object_get(root, "id"), error);
    if (status != SF_OK) return status;
    if (version == NULL || strcmp(version, "2.0") != 0 || method == NULL)
        return fail(request, SF_MCP_NO_REQUEST, "expected a request of JSON-RPC 2.0 with its method", error);
    request->method = SF_MCP_INITIALIZE;
    while (request->method < SF_MCP_OTHER && strcmp(methods[request->method], method) != 0)
        request->method++;
    if (request->method == SF_MCP_OTHER && request->id != NULL)
        return fail(request, SF_MCP_NO_METHOD, "there is no such method here", error);
    if (request->method != SF_MCP_CALL) return SF_OK;
    const json_t *params = json_object_get(root, "params");
    const char *tool = json_string_value(json_object_get(params, "name"));
    if (tool == NULL) return fail(request, SF_MCP_WRONG, "expected the name of a tool", error);
    return copy(&request->tool, tool) ? take_arguments(request, json_object_get(params, "arguments"), error)
                                      : sf_fail_memory(error);
}

int sf_mcp_request_read(sf_mcp_request *request, const char *line, size_t length, sf_error *error)
{
    *request = (sf_mcp_request){.method = SF_MCP_OTHER};
    json_t *root =
        length <= SF_MCP_MOST_BYTES ? json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (root == NULL)
        return fail(request, SF_MCP_NO_JSON, "expected a line of JSON, of 1 MiB at most", error);
    int status = json_is_object(root)
                     ? take(request, root, error)
                     : fail(request, SF_MCP_NO_REQUEST, "expected one request a line", error);
    json_decref(root);
    return status;
}

void sf_mcp_request_free(sf_mcp_request *request)
{
    for (size_t i = 0; i < request->word_count; i++) {
        sf_free(request->words[i].name);
        sf_free(request->words[i].value);
    }
    sf_free(request->words);
    sf_free(request->id);
    sf_free(request->tool);
    *request = (sf_mcp_request){.method = SF_MCP_OTHER};
}

int sf_mcp_status(const char **status, size_t *size, const char *answer, size_t length, sf_error *error)
{
    static const char begin[] = "{\"ok\":true,\"status\":";
    json_t *tree = json_loadb(answer, length, JSON_REJECT_DUPLICATES, NULL);
    const char *refusal =
        json_is_false(json_object_get(tree, "ok")) ? json_string_value(json_object_get(tree, "error")) : NULL;
    bool is_status = tree != NULL && length > sizeof begin && memcmp(answer, begin, sizeof begin - 1) == 0;
    int result = SF_OK;
    if (refusal != NULL)
        result = sf_fail(error, SF_UNAVAILABLE, NULL, "%.200s", refusal);
    else if (!is_status)
        result = sf_fail(error, SF_DATA, NULL, "what answered is no control socket of synfire");
    json_decref(tree);
    *status = answer + sizeof begin - 1;
    *size = result == SF_OK ? length - sizeof begin : 0; /* without the brace that ends it */
    return result;
}
