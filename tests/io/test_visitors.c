/* SPDX-License-Identifier: Apache-2.0 */
/* What strangers do to a publisher: connections that say nothing, and subscriptions without end. Whoever
 * subscribes to a topic hears of it all the same. */
#include "core/clock.h"
#include "io/publisher.h"
#include "io/visitors.h"
#include "support/support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#define IDLE 300 /* more than SF_VISITORS_MOST */

static sf_zmq_publisher open_publisher(void)
{
    sf_zmq_publisher publisher;
    const sf_publisher_settings settings = {
        .endpoint = "tcp://127.0.0.1:*", .queue = 100, .permit = "--insecure"};
    sf_error error;
    if (sf_publisher_open(&publisher, &settings, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return publisher;
}

static void *subscribe(void *context, const char *address, const char *topic)
{
    void *socket = zmq_socket(context, ZMQ_SUB);
    int none = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, topic, strlen(topic));
    assert_int_equal(zmq_connect(socket, address), 0);
    return socket;
}

static void expect_news(sf_zmq_publisher *publisher, void *socket)
{
    const sf_part part = {"status", 6};
    int64_t until_ns = sf_clock_monotonic_ns() + 60 * SF_SECOND;
    for (char room[16]; zmq_recv(socket, room, sizeof room, ZMQ_DONTWAIT) != 6;) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        sf_publisher_update(publisher);
        sf_publisher_send(publisher, &part, 1, NULL);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
}

static void await_closed(sf_zmq_publisher *publisher, uint64_t least)
{
    int64_t until_ns = sf_clock_monotonic_ns() + 60 * SF_SECOND;
    while (sf_visitors_closed(sf_curve_gate_visitors(publisher->gate)) < least) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        sf_publisher_update(publisher);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
}

static void idle_connections_make_room(void **state)
{
    (void)state;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 1024) skip();
    sf_zmq_publisher publisher = open_publisher();
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(strrchr(publisher.address, ':') + 1)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    void *context = zmq_ctx_new(), *early = subscribe(context, publisher.address, "status");
    expect_news(&publisher, early);
    int idle[IDLE];
    for (int i = 0; i < IDLE; i++) {
        idle[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(idle[i], (struct sockaddr *)&at, sizeof at), 0);
    }
    void *late = subscribe(context, publisher.address, "status");
    await_closed(&publisher, IDLE + 2 - SF_VISITORS_MOST);
    expect_news(&publisher, late);
    while (zmq_recv(early, &at, sizeof at, ZMQ_DONTWAIT) >= 0) /* it was never turned out: no hole, no wait */
        ;
    expect_news(&publisher, early);
    for (int i = 0; i < IDLE; i++)
        close(idle[i]);
    zmq_close(early);
    zmq_close(late);
    zmq_ctx_term(context);
    sf_publisher_close(&publisher, 0);
}

/* One with more subscriptions than there are topics, and one with a long one. */
static void subscriptions_are_bounded(void **state)
{
    (void)state;
    sf_zmq_publisher publisher = open_publisher();
    void *context = zmq_ctx_new(), *greedy = subscribe(context, publisher.address, "a"),
         *other = subscribe(context, publisher.address, "status");
    expect_news(&publisher, other);
    for (int i = 0; i < 1000; i++) {
        char topic[32];
        int length = snprintf(topic, sizeof topic, "topic %d", i);
        zmq_setsockopt(greedy, ZMQ_SUBSCRIBE, topic, (size_t)length);
    }
    await_closed(&publisher, 1);
    zmq_close(greedy);
    char topic[200];
    memset(topic, 'x', sizeof topic - 1);
    topic[sizeof topic - 1] = '\0';
    uint64_t closed = sf_visitors_closed(sf_curve_gate_visitors(publisher.gate));
    void *lengthy = subscribe(context, publisher.address, topic);
    await_closed(&publisher, closed + 1);
    zmq_close(lengthy);
    expect_news(&publisher, other);
    zmq_close(other);
    zmq_ctx_term(context);
    sf_publisher_close(&publisher, 0);
}

/* ---- the two ways on which one hears of a connection ---- */

typedef struct caller {
    int calling, answering;
} caller;

/* Its number is `number`, as if it were the next free one. */
static caller call(int listening, int number)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    assert_int_equal(getsockname(listening, (struct sockaddr *)&at, &size), 0);
    caller made = {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), number};
    assert_int_equal(connect(made.calling, (struct sockaddr *)&at, size), 0);
    int answering = accept(listening, NULL, NULL);
    assert_int_equal(dup2(answering, number), number);
    close(answering);
    return made;
}

/* The monitor is late: what it tells of a connection comes after what the connection has said. */
static void whoever_speaks_early_is_bounded(void **state)
{
    (void)state;
    void *context = zmq_ctx_new(), *bound = zmq_socket(context, ZMQ_XPUB);
    sf_visitors *visitors;
    assert_int_equal(sf_visitors_open(&visitors, bound, NULL), SF_OK);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), number = dup(listening);
    assert_int_equal(bind(listening, (struct sockaddr *)&any, sizeof any), 0);
    assert_int_equal(listen(listening, 8), 0);

    caller greedy = call(listening, number); /* before it came, and after */
    sf_visitors_subscribe(visitors, number, SF_VISITOR_SUBSCRIPTIONS);
    sf_visitors_come(visitors, number);
    assert_int_equal(sf_visitors_closed(visitors), 0);
    sf_visitors_subscribe(visitors, number, 1);
    assert_int_equal(sf_visitors_closed(visitors), 1);
    sf_visitors_subscribe(visitors, number, 1); /* still under way, of one that was turned out */
    assert_int_equal(sf_visitors_closed(visitors), 1);
    close(greedy.calling);

    caller second = call(listening, number); /* the first one's number, of which the end was not told yet */
    sf_visitors_subscribe(visitors, number, SF_VISITOR_SUBSCRIPTIONS + 1);
    assert_int_equal(sf_visitors_closed(visitors), 1);
    sf_visitors_go(visitors, number);
    sf_visitors_come(visitors, number);
    assert_int_equal(sf_visitors_closed(visitors), 2);
    close(second.calling);

    caller modest = call(listening, number); /* what the others said is not its */
    sf_visitors_come(visitors, number);
    sf_visitors_subscribe(visitors, number, SF_VISITOR_SUBSCRIPTIONS);
    assert_int_equal(sf_visitors_closed(visitors), 2);
    close(modest.calling);

    close(number);
    close(listening);
    sf_visitors_close(visitors);
    zmq_close(bound);
    zmq_ctx_term(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(idle_connections_make_room),
                                       cmocka_unit_test(subscriptions_are_bounded),
                                       cmocka_unit_test(whoever_speaks_early_is_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
