/* SPDX-License-Identifier: Apache-2.0 */
/* What `synfire top` makes of a status, of this version of the messages and of the one before. */
#include "tools/top.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

static void take(sf_top *top, const char *status)
{
    sf_error error = {0};
    memset(top, 0, sizeof *top);
    assert_int_equal(sf_top_read(top, status, strlen(status), &error), SF_OK);
}

#define STATUS(version, nothing)                                                                             \
    "{\"v\":" version ",\"topic\":\"status\",\"seq\":7,\"stream\":\"dish\",\"time_ns\":5000000000,"          \
    "\"sources\":[{\"name\":\"a.h5\",\"spikes\":12,\"late\":3,\"ring_fill\":4,\"ring_size\":8}],"            \
    "\"sinks\":[{\"name\":\"jsonl -\",\"note\":" nothing ",\"published\":9,\"dropped\":2,\"failed\":1,"      \
    "\"busy_ms\":1.5,\"p50_ms\":0.5}],\"stages\":[{\"name\":\"hop\",\"device\":" nothing ",\"p50_ms\":20}]," \
    "\"device_note\":" nothing ",\"discovery_device\":" nothing ",\"test_device\":" nothing                  \
    ",\"hop_ms\":200,\"run_s\":5,\"last\":false}"

static void statuses_of_both_versions_are_read_alike(void **state)
{
    (void)state;
    static sf_top former, now;
    take(&former, STATUS("2", "\"\""));
    take(&now, STATUS("3", "null"));
    assert_memory_equal(&former, &now, sizeof now);
    assert_string_equal(now.stream, "dish");
    assert_int_equal(now.count, 4);
    assert_string_equal(now.rows[0].kind, "source");
    assert_int_equal(now.rows[0].lost, 3);
    assert_string_equal(now.rows[2].name, "hop");
    assert_true(now.rows[2].hop_share == 0.1);
    assert_string_equal(now.rows[3].name, "jsonl -");
    assert_int_equal(now.rows[3].lost, 3);
}

static void hops_do_not_wait_for_what_is_done_beside_them(void **state)
{
    (void)state;
    static sf_top top;
    take(&top, "{\"v\":3,\"topic\":\"status\",\"stages\":[{\"name\":\"mine\",\"p50_ms\":50},"
               "{\"name\":\"rewire\",\"p50_ms\":50},{\"name\":\"watch\",\"p50_ms\":50},"
               "{\"name\":\"count\",\"p50_ms\":50}],\"hop_ms\":200,\"run_s\":5}");
    assert_string_equal(top.rows[0].name, "watch"); /* and then the queue to the windows */
    assert_string_equal(top.rows[2].name, "mine");
    assert_string_equal(top.rows[3].name, "rewire");
    assert_true(isnan(top.rows[0].hop_share) && isnan(top.rows[2].hop_share) && isnan(top.rows[3].hop_share));
    assert_true(top.rows[4].hop_share == 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hops_do_not_wait_for_what_is_done_beside_them),
        cmocka_unit_test(statuses_of_both_versions_are_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
