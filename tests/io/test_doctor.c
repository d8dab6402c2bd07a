/* SPDX-License-Identifier: Apache-2.0 */
/* What `synfire doctor` says of a machine: of one whose /proc and /sys are a folder of the test's own. */

#include "support/support.h"
#include "tools/doctor.h"

#include <sys/stat.h>
#include <unistd.h>

static char *machine; /* the folder */

static void put(const char *path, const char *line)
{
    char whole[4096];
    snprintf(whole, sizeof whole, "%s%s", machine, path);
    for (char *slash = strchr(whole + strlen(machine) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static int make_machine(void **state)
{
    (void)state;
    machine = test_temporary_path("");
    return mkdir(machine, 0700);
}

static int remove_machine(void **state)
{
    (void)state;
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", machine);
    int status = system(command);
    free(machine);
    return status;
}

static sf_findings checks;

static const sf_finding *find(const char *name)
{
    for (size_t i = 0; i < checks.count; i++)
        if (strcmp(checks.items[i].name, name) == 0) return &checks.items[i];
    fail_msg("there is no check %s", name);
    return NULL;
}

static void assert_found(const char *name, sf_finding_level level, const char *words)
{
    const sf_finding *check = find(name);
    if (check->level != level || strstr(check->found, words) == NULL)
        fail_msg("%s: level %d: %s; expected %d: %s", name, (int)check->level, check->found, (int)level,
                 words);
    assert_int_equal(check->advice[0] != '\0', level != SF_FINDING_GOOD);
}

static void good_values_are_good(void **state)
{
    (void)state;
    put("/proc/sys/net/core/rmem_max", "4194304");
    put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t33554432");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
    put("/sys/devices/system/cpu/cpu11/cpufreq/scaling_governor", "performance");
    sf_doctor(&checks, machine, machine);
    assert_found("buffers", SF_FINDING_GOOD, "up to 32.00 MiB of TCP (net.ipv4.tcp_rmem), 4.00 MiB of UDP");
    assert_found("clock", SF_FINDING_GOOD, "tsc, steps of 1 ns");
    assert_found("governor", SF_FINDING_GOOD, "2 of 2 cores are on `performance`");
    assert_found("reader", SF_FINDING_GOOD, "is there");
    assert_found("locks", SF_FINDING_GOOD, "synfire's own work");
    assert_non_null(strstr(find("disk")->found, "MB/s"));
}

static void what_could_be_better_is_told(void **state)
{
    (void)state;
    put("/proc/sys/net/core/rmem_max", "212992");
    sf_doctor(&checks, machine, machine);
    assert_found("buffers", SF_FINDING_ADVICE, "0.20 MiB of UDP");
    assert_non_null(strstr(find("buffers")->advice, "net.core.rmem_max=33554432"));
    put("/proc/sys/net/ipv4/tcp_rmem", "4096 131072 131072");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    put("/sys/devices/system/cpu/cpu11/cpufreq/scaling_governor", "powersave");
    sf_doctor(&checks, machine, machine);
    assert_found("buffers", SF_FINDING_ADVICE, "0.12 MiB of TCP");
    assert_non_null(strstr(find("buffers")->advice, "net.ipv4.tcp_rmem"));
    assert_found("clock", SF_FINDING_ADVICE, "hpet");
    assert_found("governor", SF_FINDING_ADVICE, "1 of 2 cores are on `performance`, others on powersave");
}

static void a_machine_that_tells_nothing_is_no_failure(void **state)
{
    (void)state;
    sf_doctor(&checks, machine, "/there/is/no/such/folder");
    assert_found("buffers", SF_FINDING_ADVICE, "does not say");
    assert_found("governor", SF_FINDING_GOOD, "not this system's to choose");
    assert_found("clock", SF_FINDING_GOOD, "of unknown source");
}

static void a_folder_that_is_not_there_is_bad(void **state)
{
    (void)state;
    sf_doctor(&checks, "/there/is/no/such/folder", machine);
    assert_found("disk", SF_FINDING_BAD, "No such file");
    assert_non_null(strstr(find("disk")->advice, "--folder"));
}

/* Where HDF5 is told not to lock, that is told; nothing that was written for the check stays. */
static void settings_of_hdf5_are_told(void **state)
{
    (void)state;
    char path[4200];
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    sf_doctor(&checks, machine, machine);
    unsetenv("HDF5_USE_FILE_LOCKING");
    assert_found("locks", SF_FINDING_GOOD, "and are off (HDF5_USE_FILE_LOCKING: FALSE)");
    snprintf(path, sizeof path, "%s/proc/sys/net/core/rmem_max", machine);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "test $(ls -A '%s' | grep -c synfire-doctor) = 0", machine);
    assert_int_equal(system(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_values_are_good),
        cmocka_unit_test(what_could_be_better_is_told),
        cmocka_unit_test(a_machine_that_tells_nothing_is_no_failure),
        cmocka_unit_test(a_folder_that_is_not_there_is_bad),
        cmocka_unit_test(settings_of_hdf5_are_told),
    };
    return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
