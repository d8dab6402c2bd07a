/* SPDX-License-Identifier: Apache-2.0 */
#include "io/visitors.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <zmq.h>

#define LEAST 16

typedef struct visitor {
    int file;
    struct sockaddr_storage peer; /* distinguishes the connection from a later one with the same descriptor */
    uint64_t came;                /* orders them */
    uint32_t subscriptions;
    bool known;
} visitor;

struct sf_visitors {
    pthread_mutex_t lock;
    visitor items[SF_VISITORS_MOST];
    size_t count, most;
    visitor early[SF_VISITORS_MOST]; /* ring of connections that sent something before the monitor reported
                                        them */
    size_t early_count;
    uint64_t came;
    _Atomic uint64_t closed;
    int64_t logged_ns; /* monotonic clock of the latest log line; 0: none yet */
};

static size_t choose_most(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 >= SF_VISITORS_MOST)
        return SF_VISITORS_MOST;
    return limit.rlim_cur / 4 > LEAST ? (size_t)limit.rlim_cur / 4 : LEAST;
}

int sf_visitors_open(sf_visitors **out, void *socket, sf_error *error)
{
    int handshake_ms = SF_VISITOR_HANDSHAKE_MS, one = 1, idle_s = 60;
    *out = NULL;
    sf_visitors *visitors = sf_alloc(1, sizeof *visitors);
    if (visitors == NULL) return sf_fail_memory(error);
    pthread_mutex_init(&visitors->lock, NULL);
    visitors->most = choose_most();
    zmq_setsockopt(socket, ZMQ_HANDSHAKE_IVL, &handshake_ms, sizeof handshake_ms);
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE, &one, sizeof one); /* of hosts that have vanished */
    zmq_setsockopt(socket, ZMQ_TCP_KEEPALIVE_IDLE, &idle_s, sizeof idle_s);
    *out = visitors;
    return SF_OK;
}

void sf_visitors_close(sf_visitors *visitors)
{
    if (visitors == NULL) return;
    pthread_mutex_destroy(&visitors->lock);
    sf_free(visitors);
}

static struct sockaddr_storage peer_of(int file)
{
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof peer;
    if (getpeername(file, (struct sockaddr *)&peer, &size) != 0) peer = (struct sockaddr_storage){0};
    return peer;
}

static bool is_of(const visitor *it, int file, const struct sockaddr_storage *peer)
{
    return it->file == file && peer->ss_family != 0 && memcmp(&it->peer, peer, sizeof *peer) == 0;
}

static visitor *find_in(visitor *items, size_t count, int file)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].file == file) return &items[i];
    return NULL;
}

static visitor *find(sf_visitors *visitors, int file)
{
    return find_in(visitors->items, visitors->count, file);
}

static visitor *find_early(sf_visitors *visitors, int file)
{
    size_t count = visitors->early_count < SF_VISITORS_MOST ? visitors->early_count : SF_VISITORS_MOST;
    return find_in(visitors->early, count, file);
}

/* Messages of a connection and the monitor's events arrive independently: the connection may not be in the
 * table yet, while an older one of the same descriptor still is. NULL: it is gone. */
static visitor *find_speaker(sf_visitors *visitors, int file)
{
    struct sockaddr_storage peer = peer_of(file);
    visitor *it = find(visitors, file);
    if (peer.ss_family == 0 || (it != NULL && is_of(it, file, &peer))) return peer.ss_family == 0 ? NULL : it;
    it = find_early(visitors, file);
    if (it == NULL) it = &visitors->early[visitors->early_count++ % SF_VISITORS_MOST];
    if (!is_of(it, file, &peer)) *it = (visitor){.file = file, .peer = peer};
    return it;
}

/* Closes a connection by shutting it down; libzmq then closes its end. The descriptor may belong to another
 * connection by now, which is left alone. */
static void turn_out(sf_visitors *visitors, visitor *it, const char *why)
{
    struct sockaddr_storage now = peer_of(it->file);
    if (is_of(it, it->file, &now)) shutdown(it->file, SHUT_RDWR);
    uint64_t closed = atomic_fetch_add(&visitors->closed, 1) + 1;
    int64_t now_ns = sf_clock_monotonic_ns();
    *it = visitors->items[--visitors->count];
    if (visitors->logged_ns != 0 && now_ns - visitors->logged_ns < SF_SECOND) return;
    visitors->logged_ns = now_ns;
    sf_log(SF_LOG_WARNING, "a connection was closed: %s; %" PRIu64 " so far", why, closed);
}

static visitor *choose_leaver(sf_visitors *visitors)
{
    visitor *leaver = NULL;
    for (size_t i = 0; i < visitors->count; i++) {
        visitor *it = &visitors->items[i];
        bool before = leaver == NULL || (it->known == leaver->known ? it->came < leaver->came : !it->known);
        leaver = before ? it : leaver;
    }
    return leaver->known ? NULL : leaver;
}

static void bound_subscriptions(sf_visitors *visitors, visitor *it)
{
    if (it->subscriptions > SF_VISITOR_SUBSCRIPTIONS) turn_out(visitors, it, "it has too many subscriptions");
}

static visitor make_comer(sf_visitors *visitors, int file)
{
    visitor comer = {.file = file, .peer = peer_of(file)}, *early = find_early(visitors, file);
    if (early != NULL && is_of(early, file, &comer.peer)) comer = *early;
    if (early != NULL) early->file = -1;
    comer.came = visitors->came++;
    return comer;
}

void sf_visitors_come(sf_visitors *visitors, int file)
{
    pthread_mutex_lock(&visitors->lock);
    visitor *old = find(visitors, file);
    if (old != NULL) *old = visitors->items[--visitors->count];
    visitor comer = make_comer(visitors, file);
    visitor *leaver = visitors->count == visitors->most ? choose_leaver(visitors) : NULL;
    if (leaver != NULL) turn_out(visitors, leaver, "there are too many");
    if (visitors->count < visitors->most) {
        visitors->items[visitors->count] = comer;
        bound_subscriptions(visitors, &visitors->items[visitors->count++]);
    } else {
        shutdown(file, SHUT_RDWR);
    }
    pthread_mutex_unlock(&visitors->lock);
}

void sf_visitors_go(sf_visitors *visitors, int file)
{
    pthread_mutex_lock(&visitors->lock);
    visitor *it = find(visitors, file);
    if (it != NULL) *it = visitors->items[--visitors->count];
    pthread_mutex_unlock(&visitors->lock);
}

void sf_visitors_know(sf_visitors *visitors, int file)
{
    sf_visitors_subscribe(visitors, file, 0);
}

void sf_visitors_subscribe(sf_visitors *visitors, int file, int by)
{
    pthread_mutex_lock(&visitors->lock);
    visitor *it = find_speaker(visitors, file);
    if (it != NULL) {
        it->known = true;
        it->subscriptions = by >= 0 || it->subscriptions > 0 ? it->subscriptions + (uint32_t)by : 0;
        if (it == find(visitors, file)) bound_subscriptions(visitors, it);
    }
    pthread_mutex_unlock(&visitors->lock);
}

uint64_t sf_visitors_closed(const sf_visitors *visitors)
{
    return atomic_load(&visitors->closed);
}
