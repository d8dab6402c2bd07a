/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/web_server.h"

#include "core/error.h"

#ifndef SYNFIRE_HAVE_WEB

int sf_web_check_build(const char *endpoint, sf_error *error)
{
    return sf_fail(error, SF_UNAVAILABLE, endpoint,
                   "this build has no page: install libwebsockets and its headers, and build again");
}

int sf_web_server_open(sf_web_server **server, sf_web_board *board, const char *endpoint, const char *name,
                       const sf_orders *orders, sf_error *error)
{
    (void)board;
    (void)name;
    (void)orders;
    *server = NULL;
    return sf_web_check_build(endpoint, error);
}

const char *sf_web_server_address(const sf_web_server *server)
{
    (void)server;
    return "";
}

void sf_web_server_wait(sf_web_server *server, sf_bell *work)
{
    (void)server;
    sf_bell_wait(work, 1000);
}

unsigned sf_web_server_browsers(const sf_web_server *server)
{
    (void)server;
    return 0;
}

void sf_web_server_close(sf_web_server *server)
{
    (void)server;
}

const char *sf_web_library(void)
{
    return NULL;
}

#else

#include "core/clock.h"
#include "core/json.h"
#include "core/memory.h"
#include "io/endpoint.h"
#include "sinks/web_request.h"

#include <errno.h>
#include <fcntl.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define FRAME_US (LWS_US_PER_SEC / 30)
#define IDLE_US (LWS_US_PER_SEC / 5) /* between looks at the spikes that came, where nobody watches */
#define MOST_CONNECTIONS 64
#define REQUEST_S 5 /* a connection that has not asked whole by then is closed */
#define SILENT_S 10 /* a browser answers pings; what answers none for so long is none */
#define ASKED_EVERY_S 4
#define GRACE_NS (2 * SF_SECOND) /* for browsers to fetch the last frames */
#define QUIET_NS (SF_SECOND / 4) /* in which none of them took one: they have them, or read nothing */
#define BODY_PART 16384
#define GUESS_NS (SF_SECOND / 5) /* so long the answer to a wrong token to arm with is held back */

struct sf_web_server {
    sf_web_board *board;
    const sf_orders *orders;
    struct lws_context *context;
    struct lws_vhost *host;
    const struct lws_protocols *frames;
    lws_sorted_usec_list_t timer;
    int listener; /* until it is adopted, else -1 */
    bool has_bell;
    unsigned browsers;
    int64_t sent_ns; /* monotonic, when a browser took a frame last */
    char name[256];
    char address[320];
    char token[SF_WEB_TOKEN + 1];
    sf_text frame; /* what is being sent, behind LWS_PRE bytes */
};

/* One browser's WebSocket. libwebsockets zeroes it. */
typedef struct web_browser {
    sf_web_view view;
    bool is_open, trusted, controls, has_answer, obeyed;
    int64_t answer_ns; /* monotonic, when its answer may go out */
    sf_error refused;  /* unless obeyed */
} web_browser;

/* One request for a file or a text. */
typedef struct web_reply {
    const char *data; /* an asset's, or `text`'s */
    size_t left;
    sf_text text;
} web_reply;

static sf_web_server *server_of(struct lws *wsi)
{
    return lws_context_user(lws_get_context(wsi));
}

/* A header of a request; NULL where it is not there or too long to be meant. */
static const char *header_of(struct lws *wsi, enum lws_token_indexes which, char room[512])
{
    return lws_hdr_copy(wsi, room, 512, which) > 0 ? room : NULL;
}

static const char *known_host(struct lws *wsi, char room[512])
{
    const sf_web_server *server = server_of(wsi);
    const char *host = header_of(wsi, WSI_TOKEN_HOST, room);
    return sf_web_host_is_known(host, server->name) ? host : NULL;
}

/* ---- files and texts ---- */

static bool add_header(struct lws *wsi, const char *name, const char *value, unsigned char **at,
                       unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name, (const unsigned char *)value,
                                       (int)strlen(value), at, end) == 0;
}

/* Nothing comes from elsewhere, is sent elsewhere, or shown inside another page. */
static const char *const headers[][2] = {
    {"content-security-policy:",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"x-content-type-options:", "nosniff"},
    {"referrer-policy:", "no-referrer"},
    {"cross-origin-opener-policy:", "same-origin"},
    {"cross-origin-resource-policy:", "same-origin"},
    {"cache-control:", "no-store"},
};

static int begin_reply(struct lws *wsi, web_reply *reply, unsigned code, const char *type)
{
    unsigned char room[LWS_PRE + 2048], *begin = room + LWS_PRE, *at = begin, *end = room + sizeof room - 1;
    if (lws_add_http_common_headers(wsi, code, type, reply->left, &at, end) != 0) return -1;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (!add_header(wsi, headers[i][0], headers[i][1], &at, end)) return -1;
    if (lws_finalize_write_http_header(wsi, begin, &at, end) != 0) return -1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int reply_text(struct lws *wsi, web_reply *reply, unsigned code, const char *type)
{
    if (reply->text.failed) return -1;
    reply->data = reply->text.data;
    reply->left = reply->text.length;
    return begin_reply(wsi, reply, code, type);
}

static int refuse(struct lws *wsi, web_reply *reply, unsigned code, const char *why)
{
    sf_text_printf(&reply->text, "%s\n", why);
    return reply_text(wsi, reply, code, "text/plain; charset=utf-8");
}

static int answer(struct lws *wsi, web_reply *reply, const char *path)
{
    char room[512];
    sf_web_board *board = server_of(wsi)->board;
    sf_text_free(&reply->text);
    reply->text = (sf_text){0};
    if (known_host(wsi, room) == NULL)
        return refuse(wsi, reply, HTTP_STATUS_FORBIDDEN, "this is not the server of that name");
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) == 0) { /* what else it brings is not read */
        lws_return_http_status(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED, NULL);
        return -1;
    }
    if (strcmp(path, "/metrics") == 0) {
        sf_web_board_metrics(board, &reply->text);
        return reply_text(wsi, reply, HTTP_STATUS_OK, "text/plain; version=0.0.4; charset=utf-8");
    }
    if (strcmp(path, "/healthz") == 0) {
        bool well = sf_web_board_health(board, &reply->text);
        return reply_text(wsi, reply, well ? HTTP_STATUS_OK : HTTP_STATUS_SERVICE_UNAVAILABLE,
                          "application/json");
    }
    if (strcmp(path, "/config") == 0) {
        const char *configuration = sf_web_board_stream(board)->configuration;
        sf_text_printf(&reply->text, "%s", configuration != NULL ? configuration : "");
        return reply_text(wsi, reply, HTTP_STATUS_OK, "text/plain; charset=utf-8");
    }
    const sf_web_asset *asset;
    for (size_t i = 0; (asset = sf_web_asset_at(i)) != NULL; i++)
        if (strcmp(path, asset->path) == 0) {
            reply->data = asset->begin;
            reply->left = (size_t)(asset->end - asset->begin);
            return begin_reply(wsi, reply, HTTP_STATUS_OK, asset->type);
        }
    return refuse(wsi, reply, HTTP_STATUS_NOT_FOUND, "no such page");
}

static int write_part(struct lws *wsi, web_reply *reply)
{
    unsigned char room[LWS_PRE + BODY_PART];
    size_t part = reply->left < BODY_PART ? reply->left : BODY_PART;
    memcpy(room + LWS_PRE, reply->data, part);
    reply->data += part;
    reply->left -= part;
    if (lws_write(wsi, room + LWS_PRE, part, reply->left > 0 ? LWS_WRITE_HTTP : LWS_WRITE_HTTP_FINAL) < 0)
        return -1;
    if (reply->left > 0) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
}

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
    web_reply *reply = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return answer(wsi, reply, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return reply->data != NULL ? write_part(wsi, reply) : 0;
    case LWS_CALLBACK_CLOSED_HTTP:
        if (reply != NULL) sf_text_free(&reply->text);
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: /* a WebSocket that does not ask for our frames */
        return -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: /* to h2c, which nothing of ours speaks */
        return strcmp(in, "websocket") == 0 ? 0 : -1;
    default:
        return lws_callback_http_dummy(wsi, reason, user, in, length);
    }
}

/* ---- frames ---- */

/* Only the page itself may open one: a page from elsewhere has another origin, and says so. */
static bool may_open(struct lws *wsi)
{
    char host_room[512], origin_room[512];
    const char *host = known_host(wsi, host_room);
    return host != NULL && sf_web_origin_is_own(header_of(wsi, WSI_TOKEN_ORIGIN, origin_room), host) &&
           server_of(wsi)->browsers < SF_WEB_BROWSERS;
}

static bool next_frame(sf_web_server *server, web_browser *browser)
{
    static const char room[LWS_PRE] = {0};
    sf_text *frame = &server->frame;
    sf_text_clear(frame);
    sf_text_append(frame, room, sizeof room);
    if (browser->has_answer && browser->view.greeted && sf_clock_monotonic_ns() >= browser->answer_ns) {
        const sf_error *why = &browser->refused;
        char sentence[sizeof why->place + sizeof why->text + 4];
        snprintf(sentence, sizeof sentence, "%s%s%s", why->place, why->place[0] != '\0' ? ": " : "",
                 why->text);
        sf_web_frame_begin(server->board, frame, SF_WEB_ANSWER);
        sf_json json = sf_json_start(frame);
        sf_json_object(&json, NULL);
        sf_json_bool(&json, "trusted", browser->trusted);
        sf_json_bool(&json, "controls", browser->controls);
        sf_json_string(&json, "refused", browser->obeyed ? NULL : sentence);
        sf_json_end_object(&json);
        browser->has_answer = false;
    } else if (!sf_web_board_next(server->board, &browser->view, frame)) {
        return false;
    }
    if (frame->failed) sf_text_free(frame);
    return frame->length > LWS_PRE;
}

static int send_frame(struct lws *wsi, web_browser *browser)
{
    sf_web_server *server = server_of(wsi);
    if (!next_frame(server, browser)) return 0;
    size_t length = server->frame.length - LWS_PRE;
    if (lws_write(wsi, (unsigned char *)server->frame.data + LWS_PRE, length, LWS_WRITE_BINARY) < (int)length)
        return -1;
    server->sent_ns = sf_clock_monotonic_ns();
    lws_callback_on_writable(wsi); /* until it lacks nothing */
    return 0;
}

/* Takes as long whatever the token is. */
static bool is_token(const sf_web_server *server, const char *token)
{
    unsigned char different = 0;
    for (size_t i = 0; i < SF_WEB_TOKEN; i++)
        different = (unsigned char)(different | (server->token[i] ^ token[i]));
    return different == 0;
}

/* Who arms shows the token of the control socket once; a wrong one takes the right away. */
static int control(sf_web_server *server, web_browser *browser, const sf_web_request *request,
                   sf_error *error)
{
    if (server->orders == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "nothing is armed from this page: it takes `control` in the configuration, and a page "
                       "that no other machine can reach");
    if (request->word == SF_WEB_CONTROL_BY) {
        browser->controls = server->orders->knows(server->orders->user, request->control);
        browser->answer_ns = sf_clock_monotonic_ns() + (browser->controls ? 0 : GUESS_NS);
        return browser->controls ? SF_OK : sf_fail(error, SF_UNAVAILABLE, NULL, "the token is wrong");
    }
    if (!browser->controls)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "expected the token of the control socket first");
    return server->orders->arm(server->orders->user, request->trigger, request->word == SF_WEB_ARM, error);
}

static int obey(sf_web_server *server, web_browser *browser, const sf_web_request *request, sf_error *error)
{
    sf_error reason;
    switch (request->word) {
    case SF_WEB_TRUST:
        browser->trusted = is_token(server, request->token);
        return browser->trusted ? SF_OK
                                : sf_fail(error, SF_UNAVAILABLE, NULL, "the token is not that of this run");
    case SF_WEB_MARK:
    case SF_WEB_UNMARK:
        if (!browser->trusted) return sf_fail(error, SF_UNAVAILABLE, NULL, "expected the token first");
        if (sf_web_board_mark(server->board, &browser->view,
                              request->word == SF_WEB_MARK ? request->id : NULL, &reason) != SF_OK)
            return sf_fail(error, SF_USAGE, NULL, "no such episode is counted or watched now");
        return SF_OK;
    case SF_WEB_CONTROL_BY:
    case SF_WEB_ARM:
    case SF_WEB_DISARM:
        return control(server, browser, request, error);
    }
    return SF_OK;
}

static bool waits_for_answer(const web_browser *browser)
{
    return browser->has_answer && sf_clock_monotonic_ns() < browser->answer_ns;
}

/* Cuts off a peer that sends on before its guess of the token is answered. */
static int receive(struct lws *wsi, web_browser *browser, const char *text, size_t length)
{
    sf_web_request request;
    sf_error reason = {0};
    if (!lws_is_first_fragment(wsi) || !lws_is_final_fragment(wsi) || length > SF_WEB_MOST ||
        waits_for_answer(browser) || sf_web_request_read(&request, text, length, &reason) != SF_OK)
        return -1;
    browser->refused = (sf_error){0};
    browser->obeyed = obey(server_of(wsi), browser, &request, &browser->refused) == SF_OK;
    browser->has_answer = true;
    lws_callback_on_writable(wsi);
    return 0;
}

static int on_frames(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
    web_browser *browser = user;
    switch (reason) {
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        if (may_open(wsi)) return 0;
        lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL);
        return -1;
    case LWS_CALLBACK_ESTABLISHED:
        browser->is_open = true;
        server_of(wsi)->browsers++;
        lws_callback_on_writable(wsi);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return send_frame(wsi, browser);
    case LWS_CALLBACK_RECEIVE:
        return receive(wsi, browser, in, length);
    case LWS_CALLBACK_CLOSED:
        if (browser->is_open) server_of(wsi)->browsers--;
        sf_web_view_close(&browser->view);
        return 0;
    default:
        return 0;
    }
}

/* ---- what else there is to wait for ---- */

/* Any number of connections may wait; a new one is made for each. */
static int on_listener(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
    (void)user;
    (void)in;
    (void)length;
    if (reason != LWS_CALLBACK_RAW_RX_FILE) return 0;
    int connection = accept4(lws_get_socket_fd(wsi), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection >= 0)
        lws_adopt_socket_vhost(server_of(wsi)->host, connection); /* closes it where it cannot */
    return 0;
}

static int on_bell(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
    (void)user;
    (void)in;
    (void)length;
    uint64_t rings;
    if (reason == LWS_CALLBACK_RAW_RX_FILE && read(lws_get_socket_fd(wsi), &rings, sizeof rings) < 0 &&
        errno != EAGAIN)
        return -1;
    return 0;
}

/* Its name is the version of what is sent; a page of another version gets no connection. */
static const struct lws_protocols protocols[] = {
    {.name = "http", .callback = on_http, .per_session_data_size = sizeof(web_reply)},
    {.name = "synfire-page-1",
     .callback = on_frames,
     .per_session_data_size = sizeof(web_browser),
     .rx_buffer_size = SF_WEB_MOST},
    {.name = "listener", .callback = on_listener},
    {.name = "bell", .callback = on_bell},
    {0},
};

static void tick(lws_sorted_usec_list_t *timer)
{
    sf_web_server *server = lws_container_of(timer, sf_web_server, timer);
    lws_callback_on_writable_all_protocol(server->context, &protocols[1]);
    lws_sul_schedule(server->context, 0, timer, tick, server->browsers > 0 ? FRAME_US : IDLE_US);
}

static bool adopt(sf_web_server *server, int descriptor, const char *protocol)
{
    lws_sock_file_fd_type file = {.filefd = descriptor};
    return descriptor >= 0 &&
           lws_adopt_descriptor_vhost(server->host, LWS_ADOPT_RAW_FILE_DESC, file, protocol, NULL) != NULL;
}

void sf_web_server_wait(sf_web_server *server, sf_bell *work)
{
    if (!server->has_bell && adopt(server, dup(work->fd), "bell")) {
        server->has_bell = true;
        tick(&server->timer);
    }
    lws_service(server->context, 0);
}

/* ---- opening and closing ---- */

/* Binds to the first address of a host; -1, and errno says why. */
static int bind_to(const struct addrinfo *address)
{
    int yes = 1;
    int listener = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, address->ai_addr, address->ai_addrlen) == 0 && listen(listener, 16) == 0)
        return listener;
    int cause = errno;
    close(listener);
    errno = cause;
    return -1;
}

static int listen_at(sf_web_server *server, const char *endpoint, sf_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    char host[256], port[8];
    if (!sf_endpoint_split(endpoint, host, port))
        return sf_fail(error, SF_CONFIG, endpoint, "is no HOST:PORT");
    int failure = getaddrinfo(host, port, &hints, &found);
    if (failure != 0)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot find the host: %s", gai_strerror(failure));
    server->listener = bind_to(found);
    int cause = errno;
    freeaddrinfo(found);
    if (server->listener < 0)
        return sf_fail(
            error, SF_UNAVAILABLE, endpoint,
            "cannot listen there: %s; the key `endpoint` of the sink says where, port 0 is any free "
            "one",
            strerror(cause));
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    getsockname(server->listener, (struct sockaddr *)&bound, &size);
    getnameinfo((struct sockaddr *)&bound, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    bool six = strchr(host, ':') != NULL;
    snprintf(server->address, sizeof server->address, "http://%s%s%s:%s/#%s", six ? "[" : "", host,
             six ? "]" : "", port, server->token);
    return SF_OK;
}

static bool draw_token(sf_web_server *server)
{
    unsigned char bytes[SF_WEB_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static const lws_retry_bo_t pings = {.secs_since_valid_ping = ASKED_EVERY_S,
                                     .secs_since_valid_hangup = SILENT_S};

/* libwebsockets turns SIGPIPE off for the whole program, which is the program's to decide; here threads that
 * write block it. */
static bool open_context(sf_web_server *server)
{
    const struct lws_context_creation_info settings = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .protocols = protocols,
        .gid = (__typeof__(settings.gid))-1, /* with or without a sign, by its release */
        .uid = (__typeof__(settings.uid))-1,
        .user = server,
        .server_string = "synfire",
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
        .fd_limit_per_thread = MOST_CONNECTIONS,
        .timeout_secs = REQUEST_S,
        .timeout_secs_ah_idle = REQUEST_S,
        .keepalive_timeout = REQUEST_S,
        .retry_and_idle_policy = &pings,
        .vhost_name = "page",
    };
    struct sigaction pipe;
    sigaction(SIGPIPE, NULL, &pipe);
    lws_set_log_level(0, NULL);
    server->context = lws_create_context(&settings);
    sigaction(SIGPIPE, &pipe, NULL);
    if (server->context == NULL) return false;
    server->host = lws_create_vhost(server->context, &settings);
    return server->host != NULL;
}

int sf_web_check_build(const char *endpoint, sf_error *error)
{
    (void)endpoint;
    (void)error;
    return SF_OK;
}

int sf_web_server_open(sf_web_server **out, sf_web_board *board, const char *endpoint, const char *name,
                       const sf_orders *orders, sf_error *error)
{
    *out = NULL;
    sf_web_server *server = sf_alloc(1, sizeof *server);
    if (server == NULL) return sf_fail_memory(error);
    server->board = board;
    server->orders = orders;
    server->listener = -1;
    snprintf(server->name, sizeof server->name, "%s", name);
    int status = draw_token(server) ? SF_OK : sf_fail(error, SF_INTERNAL, endpoint, "no random numbers");
    if (status == SF_OK) status = listen_at(server, endpoint, error);
    if (status == SF_OK && (!open_context(server) || !adopt(server, server->listener, "listener")))
        status = sf_fail(error, SF_UNAVAILABLE, endpoint, "libwebsockets did not start");
    if (status != SF_OK) {
        sf_web_server_close(server);
        return status;
    }
    server->listener = -1;
    *out = server;
    return SF_OK;
}

const char *sf_web_server_address(const sf_web_server *server)
{
    return server->address;
}

static void send_the_rest(sf_web_server *server)
{
    int64_t now_ns = sf_clock_monotonic_ns(), until_ns = now_ns + GRACE_NS;
    server->sent_ns = now_ns;
    tick(&server->timer);
    while (server->browsers > 0 && now_ns < until_ns && now_ns - server->sent_ns < QUIET_NS) {
        lws_service(server->context, 0);
        now_ns = sf_clock_monotonic_ns();
    }
}

unsigned sf_web_server_browsers(const sf_web_server *server)
{
    return server->browsers;
}

void sf_web_server_close(sf_web_server *server)
{
    if (server == NULL) return;
    if (server->has_bell) send_the_rest(server);
    if (server->context != NULL) lws_context_destroy(server->context);
    if (server->listener >= 0) close(server->listener);
    sf_text_free(&server->frame);
    sf_free(server);
}

#define TEXT(of) #of
#define TEXT_OF(of) TEXT(of)

const char *sf_web_library(void)
{
    return "libwebsockets " TEXT_OF(LWS_LIBRARY_VERSION_MAJOR) "." TEXT_OF(
        LWS_LIBRARY_VERSION_MINOR) "." TEXT_OF(LWS_LIBRARY_VERSION_PATCH);
}

#endif
