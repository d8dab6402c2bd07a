/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/backend/device.h"
#include "core/memory.h"
#include "core/recording.h"

#include <math.h>
#include <unistd.h>

test_random test_random_start(const char *what, uint64_t otherwise)
{
    const char *given = getenv("SYNFIRE_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : otherwise;
    printf("%s: seed %llu (repeat with SYNFIRE_TEST_SEED)\n", what, (unsigned long long)seed);
    return (test_random){.state = seed};
}

uint64_t test_random_bits(test_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t test_random_below(test_random *random, uint64_t limit)
{
    return test_random_bits(random) % limit;
}

double test_random_unit(test_random *random)
{
    return (double)(test_random_bits(random) >> 11) * 0x1p-53;
}

static int compare_spikes(const void *a, const void *b)
{
    const sf_spike *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

size_t test_random_stream(test_random *random, sf_spike **spikes, size_t count, uint32_t units,
                          int64_t last_ns)
{
    *spikes = malloc((count + 1) * sizeof **spikes);
    for (size_t i = 0; i < count; i++)
        (*spikes)[i] = (sf_spike){.time_ns = (int64_t)test_random_below(random, (uint64_t)last_ns + 1),
                                  .unit = (uint32_t)test_random_below(random, units)};
    qsort(*spikes, count, sizeof **spikes, compare_spikes);
    return count;
}

sf_episode test_random_episode(test_random *random, uint32_t most_size, uint32_t units, int64_t high_ns)
{
    sf_episode episode = {.size = 1 + (uint32_t)test_random_below(random, most_size)};
    for (uint32_t i = 0; i < episode.size; i++)
        episode.units[i] = (uint32_t)test_random_below(random, units);
    for (uint32_t i = 0; i + 1 < episode.size; i++) {
        int64_t low = (int64_t)test_random_below(random, (uint64_t)high_ns);
        int64_t width = 1 + (int64_t)test_random_below(random, (uint64_t)(high_ns - low));
        episode.delays[i] = (sf_delay){low, low + width};
    }
    return episode;
}

char *test_data_path(const char *relative)
{
    const char *root = getenv("SYNFIRE_DATA");
    if (root == NULL) root = SYNFIRE_DATA;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, relative);
    if (access(path, R_OK) == 0) return strdup(path);
    printf("no %s\nskipped: no real data there (SYNFIRE_DATA names its folder)\n", path);
    return NULL;
}

bool test_no_device(void)
{
    if (sf_device_count() > 0) return false;
    printf("skipped: no device here\n");
    return true;
}

int test_rounds(int usual)
{
    const char *asked = getenv("SYNFIRE_TEST_ROUNDS"), *share = getenv("SYNFIRE_TEST_SHARE");
    if (asked != NULL) return atoi(asked);
    return share != NULL ? (int)ceil(atof(share) * usual) : usual;
}

bool test_is_short(void)
{
    return test_rounds(100) < 100;
}

char *test_temporary_path(const char *ending)
{
    static unsigned number;
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/synfire-test-%ld-%u%s", folder != NULL ? folder : "/tmp", (long)getpid(),
             number++, ending);
    unlink(path);
    return strdup(path);
}

char *test_successor(const char *path, unsigned number)
{
    const char *dot = strrchr(path, '.');
    size_t size = strlen(path) + 16;
    char *name = malloc(size);
    snprintf(name, size, "%.*s-%u%s", (int)(dot - path), path, number, dot);
    return name;
}

const char *test_metadata(const sf_recording *recording, const char *key)
{
    for (size_t i = 0; i < recording->metadata_count; i++)
        if (strcmp(recording->metadata[i].key, key) == 0) return recording->metadata[i].value;
    return NULL;
}

void test_assert_documented(const char *page, const char *name)
{
    char path[1024], quoted[128];
    snprintf(path, sizeof path, "%s/docs/%s", SYNFIRE_SOURCE, page);
    snprintf(quoted, sizeof quoted, "`%s`", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[2048];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, quoted) != NULL;
    fclose(file);
    if (!found) fail_msg("docs/%s does not mention %s", page, quoted);
}

void test_assert_fails(int status, const sf_error *error, sf_status expected, const char *words)
{
    if (status != expected)
        print_error("status %d, expected %d: %s: %s\n", status, expected, error->place, error->text);
    assert_int_equal(status, expected);
    assert_int_equal(error->code, expected);
    assert_int_not_equal(error->text[0], '\0');
    if (words != NULL && strstr(error->text, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, error->text);
}

void test_assert_same(double found, double expected)
{
    if (!(found == expected || (found != found && expected != expected)))
        fail_msg("found %.17g, expected %.17g", found, expected);
}

typedef struct patience {
    long left, asked;
} patience;

static bool lose_patience(void *user, const char *what, double done, double total)
{
    patience *it = user;
    assert_true(what[0] != '\0' && done >= 0 && done <= total);
    it->asked++;
    return it->left-- > 0;
}

long test_stop_at_every_call(int (*scenario)(void *context, const sf_progress *progress), void *context)
{
    for (long calls = 0;; calls++) {
        patience it = {.left = calls};
        const sf_progress progress = {lose_patience, &it};
        long before = sf_memory_live();
        int status = scenario(context, &progress);
        if (sf_memory_live() != before)
            fail_msg("%ld blocks leaked when stopped at call %ld", sf_memory_live() - before, calls + 1);
        if (status == SF_OK && it.asked <= calls) return it.asked;
        if (status != SF_CANCELLED)
            fail_msg("status %d, not SF_CANCELLED, when stopped at call %ld of %ld", status, calls + 1,
                     it.asked);
        if (it.asked > calls + 1) fail_msg("asked %ld times after it was stopped", it.asked - calls - 1);
    }
}

void test_fail_every_allocation(int (*scenario)(void *context), void *context)
{
    const long step = test_is_short() ? 4 : 1;
    for (long successes = 0;; successes += step) {
        long before = sf_memory_live();
        sf_memory_fail_after(successes);
        int status = scenario(context);
        sf_memory_fail_after(-1);
        if (sf_memory_live() != before)
            fail_msg("%ld blocks leaked when allocation %ld failed", sf_memory_live() - before,
                     successes + 1);
        if (status == SF_OK) return;
        if (status != SF_NO_MEMORY)
            fail_msg("status %d, not SF_NO_MEMORY, when allocation %ld failed", status, successes + 1);
        if (successes > 1000000) fail_msg("still failing after %ld allocations", successes);
    }
}
