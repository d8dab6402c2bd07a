/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

void app_tell_seed(const app_call *call, uint64_t seed)
{
    sf_tool_tell_seed(call->provenance, seed);
}

void app_provenance_json(sf_json *json, const app_call *call)
{
    sf_tool_provenance_json(json, "provenance", call->provenance);
}

sf_text app_provenance_text(const app_call *call)
{
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_tool_provenance_json(&json, NULL, call->provenance);
    return text;
}
