/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A page for browsers: what the run finds, while it does. The sink's thread serves it, between messages; what
 * it sends is in docs/page.md.
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "io/endpoint.h"
#include "sinks/sink.h"
#include "sinks/web_server.h"

#include <stdio.h>
#include <string.h>

typedef struct web_settings {
    sf_sink_settings sink;  /* first */
    const char *name;       /* by which browsers may call the server, besides numbers and localhost */
    uint32_t column_ms;     /* of stream time in a column of the raster */
    uint32_t wait_browsers; /* hold the start until this many browsers are connected */
} web_settings;

typedef struct web_sink {
    sf_web_board *board;
    sf_web_server *server;
    uint32_t wanted;
} web_sink;

static int close_web(void *self, sf_error *error)
{
    (void)error;
    web_sink *sink = self;
    if (sink->board != NULL) sf_web_board_end(sink->board);
    sf_web_server_close(sink->server);
    sf_web_board_close(sink->board);
    sf_free(sink);
    return SF_OK;
}

/* Nothing asks who watches, so that only this machine may, unless told. */
static int examine_web(const sf_sink_settings *settings, sf_error *error)
{
    char endpoint[SF_KEY_LONGEST + 8], host[256], port[8];
    if (!sf_endpoint_split(settings->endpoint, host, port))
        return sf_fail(error, SF_CONFIG, "endpoint", "found '%s', expected HOST:PORT, as 127.0.0.1:7730",
                       settings->endpoint);
    snprintf(endpoint, sizeof endpoint, "tcp://%s", settings->endpoint);
    if (settings->insecure || !sf_endpoint_is_public(endpoint))
        return sf_web_check_build(settings->endpoint, error);
    sf_endpoint_refuse(settings->endpoint, "`insecure: true`", error);
    if (error != NULL) error->code = SF_CONFIG; /* here the endpoint comes from a configuration */
    return SF_CONFIG;
}

static int open_web(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                    sf_error *error)
{
    const web_settings *wanted = (const web_settings *)settings;
    char address[SF_KEY_LONGEST + 8];
    web_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    sink->wanted = wanted->wait_browsers;
    snprintf(address, sizeof address, "tcp://%s", settings->endpoint);
    const sf_orders *orders = sf_endpoint_is_public(address) ? NULL : settings->orders;
    int status = sf_web_board_open(&sink->board, stream, wanted->column_ms, settings->top, error);
    if (status == SF_OK)
        status =
            sf_web_server_open(&sink->server, sink->board, settings->endpoint, wanted->name, orders, error);
    if (status != SF_OK) {
        close_web(sink, NULL);
        return status;
    }
    *self = sink;
    return SF_OK;
}

static int publish_web(void *self, const sf_message *message, sf_error *error)
{
    int status = sf_web_board_take(((web_sink *)self)->board, message, error);
    return status == SF_OK ? SF_PUBLISH_TAKEN : status;
}

static int record_web(void *self, const sf_raw_batch *batch, sf_error *error)
{
    (void)error;
    sf_web_board_draw(((web_sink *)self)->board, batch);
    return SF_OK;
}

static void wait_web(void *self, sf_bell *work)
{
    sf_web_server_wait(((web_sink *)self)->server, work);
}

static bool ready_web(void *self)
{
    const web_sink *sink = self;
    return sf_web_server_browsers(sink->server) >= sink->wanted;
}

static const char *address_web(void *self)
{
    return sf_web_server_address(((web_sink *)self)->server);
}

static const web_settings defaults = {.sink = {SF_SINK_DEFAULTS, .top = 100, .endpoint = "127.0.0.1:7730"},
                                      .name = "localhost",
                                      .column_ms = 10};

#define ROW web_settings
static const sf_key keys[] = {
    SWITCH("insecure", sink.insecure,
           .what = "true: the endpoint may be one that other machines can connect to"),
    TEXT("endpoint", sink.endpoint, .use = SF_KEY_WRITES, .what = "HOST:PORT, bound; port 0 is any free one"),
    TEXT("name", name, .what = "by which browsers may call this machine, besides its numbers"),
    WHOLE("column_ms", column_ms, 1, 10000, .what = "of stream time in a column of the raster"),
    WHOLE("wait_browsers", wait_browsers, 0, SF_WEB_BROWSERS,
          .what = "begin only when so many have opened the page"),
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_web = {
    .settings = {"web", keys, sizeof(web_settings), &defaults, "a page for browsers: docs/page.md"},
    .descriptors = 24,
    .is_tried = true,
    .shows = true,
    .picks = true,
    .open = open_web,
    .examine = examine_web,
    .publish = publish_web,
    .record = record_web,
    .wait = wait_web,
    .close = close_web,
    .address = address_web,
    .ready = ready_web,
};
