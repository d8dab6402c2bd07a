/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/engine.h"

#include "core/error.h"
#include "core/text.h"

#include <string.h>

#define ENGINE(variable, name) &sf_engine_##variable,

const sf_engine *const sf_engines[] = {SF_ENGINES(ENGINE, ENGINE) NULL};

int sf_engine_find(const sf_engine **engine, const char *name, sf_error *error)
{
    *engine = &sf_engine_interval;
    if (name == NULL || strcmp(name, "auto") == 0) return SF_OK;
    sf_text names = {0};
    for (size_t i = 0; sf_engines[i] != NULL; i++) {
        *engine = sf_engines[i];
        if (strcmp(name, sf_engines[i]->name) == 0) {
            sf_text_free(&names);
            return SF_OK;
        }
        sf_text_printf(&names, ", %s", sf_engines[i]->name);
    }
    *engine = NULL;
    int status = sf_fail(error, SF_USAGE, NULL, "there is no engine '%s': expected auto%s", name,
                         names.data != NULL ? names.data : "");
    sf_text_free(&names);
    return status;
}

int sf_engine_check_threads(const sf_engine *engine, unsigned threads, sf_error *error)
{
    if (engine->threaded || threads <= 1) return SF_OK;
    return sf_fail(error, SF_USAGE, "threads", "the engine %s runs on one thread, found %u", engine->name,
                   threads);
}

int sf_mine_fail_most(size_t most, sf_error *error)
{
    return sf_fail(error, SF_DATA, NULL,
                   "more than %zu episodes are frequent: ask for a higher threshold, fewer or narrower "
                   "delays, or a smaller size",
                   most);
}
