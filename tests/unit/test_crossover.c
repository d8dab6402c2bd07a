/* SPDX-License-Identifier: Apache-2.0 */
/* Crossovers of the hybrid engine: measured once, kept in a file of the user's cache, and never a reason to
 * fail. */
#include "mine/cao/crossover.h"

#include "core/file.h"
#include "core/memory.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sf_crossover find(unsigned threads, uint32_t size)
{
    sf_crossover crossover;
    sf_error error;
    assert_int_equal(sf_crossover_find(&crossover, NULL, threads, size, &error), SF_OK);
    assert_true(crossover.episodes >= 1);
    return crossover;
}

static void write_cache(const char *lines)
{
    char path[4200];
    sf_text text = {0};
    assert_true(sf_crossover_path(path, sizeof path));
    sf_text_printf(&text, "%s", lines);
    assert_int_equal(sf_file_write(&text, path, NULL), SF_OK);
    sf_text_free(&text);
}

static char *read_cache(void)
{
    char path[4200];
    sf_text text = {0};
    assert_true(sf_crossover_path(path, sizeof path));
    assert_int_equal(sf_file_read(&text, path, NULL), SF_OK);
    return text.data;
}

static void test_kept_across_processes(void **state)
{
    (void)state;
    sf_crossover first = find(2, 3);
    assert_true(first.measured && first.seconds > 0);
    sf_crossover again = find(2, 3);
    assert_false(again.measured);
    assert_int_equal(again.episodes, first.episodes);
    sf_crossover_forget(); /* as a new process */
    again = find(2, 3);
    assert_false(again.measured);
    assert_int_equal(again.episodes, first.episodes);
    char *lines = read_cache();
    assert_int_equal(strncmp(lines, "3 ", 2), 0);
    assert_non_null(strstr(lines, "2 threads\n"));
    sf_free(lines);
}

/* What the file says is what holds, by size and device; lines that make no sense and other devices' do no
 * harm. */
static void test_file_decides(void **state)
{
    (void)state;
    char *lines = read_cache(), device[200];
    assert_int_equal(sscanf(lines, "%*u %*u %199[^\n]", device), 1);
    sf_free(lines);
    char text[1024];
    snprintf(text, sizeof text, "what\n\n3\n99 5 %s\n3 0 %s\n3 77 cuda Other\n3 1234 %s\n3 5 %s", device,
             device, device, device);
    write_cache(text);
    sf_crossover_forget();
    assert_int_equal(find(2, 3).episodes, 1234);
    sf_crossover other = find(2, 2);
    assert_true(other.measured);
    lines = read_cache(); /* saving keeps what others have found */
    assert_non_null(strstr(lines, "3 77 cuda Other\n"));
    assert_non_null(strstr(lines, "3 1234 "));
    sf_free(lines);
}

static void test_no_cache(void **state)
{
    (void)state;
    char kept[4096], path[4200];
    snprintf(kept, sizeof kept, "%s", getenv("XDG_CACHE_HOME"));
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    sf_crossover_forget();
    assert_true(find(2, 2).measured);
    assert_false(find(2, 2).measured);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(sf_crossover_path(path, sizeof path));
    sf_crossover_forget();
    assert_true(find(2, 2).measured);
    setenv("XDG_CACHE_HOME", kept, 1);
    sf_crossover_forget();
}

static int find_anew(void *context)
{
    (void)context;
    sf_crossover crossover;
    sf_crossover_forget();
    return sf_crossover_find(&crossover, NULL, 2, 4, NULL);
}

static void test_allocations(void **state)
{
    (void)state;
    test_fail_every_allocation(find_anew, NULL);
}

static int set_up(void **state)
{
    static char folder[] = "/tmp/synfire-cache-XXXXXX";
    *state = mkdtemp(folder);
    return *state == NULL || setenv("XDG_CACHE_HOME", folder, 1) != 0;
}

static int tear_down(void **state)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/synfire/crossover-%s", (char *)*state, sf_version());
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return rmdir(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_across_processes),
        cmocka_unit_test(test_file_decides),
        cmocka_unit_test(test_no_cache),
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
