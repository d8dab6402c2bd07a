/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that sockets bind or connect to. */
#include "io/endpoint.h"

#include "support/support.h"

static void hosts_and_ports_are_told_apart(void **state)
{
    (void)state;
    static const char *const given[][3] = {{"127.0.0.1:7730", "127.0.0.1", "7730"},
                                           {"[::1]:80", "::1", "80"},
                                           {"rig.example:0", "rig.example", "0"}};
    static const char *const wrong[] = {"::1:80", ":80", "host", "host:", "host:65536", "[::1]", "host:8o"};
    char host[256], port[8];
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        assert_true(sf_endpoint_split(given[i][0], host, port));
        assert_string_equal(host, given[i][1]);
        assert_string_equal(port, given[i][2]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(sf_endpoint_split(wrong[i], host, port));
}

static void only_the_loopback_is_not_public(void **state)
{
    (void)state;
    static const char *const local[] = {"tcp://127.0.0.1:5", "tcp://127.8.0.1:5", "tcp://[::1]:5",
                                        "tcp://lo:5",        "ipc:///tmp/x",      "inproc://x"};
    static const char *const open[] = {"tcp://*:5",        "tcp://0.0.0.0:5",   "tcp://[::]:5",
                                       "tcp://10.1.2.3:5", "udp://127.0.0.1:5", "ws://127.0.0.1:5"};
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        assert_false(sf_endpoint_is_public(local[i]));
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        assert_true(sf_endpoint_is_public(open[i]));
}

static void what_no_socket_takes_is_refused(void **state)
{
    (void)state;
    static const char *const right[] = {"tcp://*:5", "tcp://rig:65535", "tcp://rig:*", "ipc://x",
                                        "epgm://e;1.1.1.1:5"};
    static const char *const wrong[] = {"tcp://rig", "tcp://:5",     "tcp://rig:65536",
                                        "ipc://",    "http://rig:5", "rig:5"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_int_equal(sf_endpoint_check(right[i], NULL), SF_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sf_error error = {0};
        test_assert_fails(sf_endpoint_check(wrong[i], &error), &error, SF_USAGE, "is no ZeroMQ endpoint");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_and_ports_are_told_apart),
        cmocka_unit_test(only_the_loopback_is_not_public),
        cmocka_unit_test(what_no_socket_takes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
