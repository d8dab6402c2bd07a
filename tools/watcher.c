/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a run that goes on: asked of its control socket, or as a ZeroMQ sink publishes it. */
#include "tools/watcher.h"

#include "core/error.h"
#include "core/memory.h"
#include "live/asker.h"
#include "tools/top.h"

#include <stdio.h>
#include <string.h>

struct sf_watcher {
    sf_asker asker;
    bool asks; /* a control socket; else a subscriber */
    sf_text request;
    sf_top before, told; /* before: the newest status, with `busy` since the start; told: as it was returned;
                          * count 0: nothing yet */
    char endpoint[256];
};

/* ---- opening and closing ---- */

int sf_watcher_open(sf_watcher **out, const sf_watcher_options *how, sf_error *error)
{
    *out = NULL;
    sf_watcher *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    snprintf(it->endpoint, sizeof it->endpoint, "%s", how->endpoint);
    it->asks = how->token_file != NULL;
    int status =
        it->asks ? sf_asker_request(&it->request, how->token_file, "status", NULL, NULL, error) : SF_OK;
    if (status == SF_OK)
        status = sf_asker_open(&it->asker, it->endpoint, it->asks ? NULL : "status",
                               &(sf_curve_client){how->key, how->server_key}, error);
    if (status == SF_OK)
        *out = it;
    else
        sf_watcher_close(it);
    return status;
}

void sf_watcher_close(sf_watcher *it)
{
    if (it == NULL) return;
    sf_asker_close(&it->asker);
    sf_text_free(&it->request);
    sf_free(it);
}

/* ---- asking ---- */

static int take(void *user, const char *bytes, size_t length, sf_error *error)
{
    return sf_top_read(user, bytes, length, error);
}

static bool is_of_another_run(const sf_top *top, const sf_top *before)
{
    return before->count == 0 || top->run_s < before->run_s || strcmp(top->stream, before->stream) != 0;
}

int sf_watcher_next(sf_watcher *it, sf_top *top, int timeout_ms, sf_error *error)
{
    int status = it->asks ? sf_asker_send(&it->asker, &it->request, error) : SF_OK;
    if (status != SF_OK) return status;
    sf_error reason = {0};
    status = sf_asker_receive(&it->asker, timeout_ms, take, top, &reason);
    if (status != SF_OK)
        return status == SF_AGAIN ? status
                                  : sf_fail(error, (sf_status)status, it->endpoint, "%s", reason.text);
    if (!is_of_another_run(top, &it->before) && top->run_s <= it->before.run_s) {
        *top = it->told; /* asked sooner than the run has something new */
        return SF_OK;
    }
    sf_top came = *top;
    if (!is_of_another_run(top, &it->before)) sf_top_since(top, &it->before);
    it->before = came;
    it->told = *top;
    return SF_OK;
}
