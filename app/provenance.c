/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

void app_tell_seed(const app_call *call, uint64_t seed)
{
    call->provenance->drew = true;
    call->provenance->seed = seed;
}

void app_provenance_json(sf_json *json, const app_call *call)
{
    sf_provenance_json(json, "provenance", call->provenance);
}

sf_text app_provenance_text(const app_call *call)
{
    sf_text text = {0};
    sf_provenance_print(&text, call->provenance);
    return text;
}
