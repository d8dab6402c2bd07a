/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/doctor.h"

#include "core/clock.h"
#include "core/place.h"
#include "core/text.h"
#include "core/thread.h"

#include <arpa/inet.h>
#include <glob.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define MEBIBYTE (UINT64_C(1) << 20)
#define LEAST_TCP (4 * MEBIBYTE)
#define LEAST_UDP MEBIBYTE
#define LEAST_LOCKED (64 * MEBIBYTE) /* the code and rings of a run */
#define LEAST_DESCRIPTORS 1024
#define SLOW_CLOCK_NS 1000
#define CLOCK_READS 1000
#define LOOSE_SYNC_MS 100.0

/* ---- what the system says ---- */

/* Reads the first line of a file of /proc or /sys; false if there is none. */
static bool read_line(char *line, size_t size, const char *system, const char *path)
{
    char whole[SF_PLACE_SIZE];
    snprintf(whole, sizeof whole, "%s%s", system, path);
    FILE *file = fopen(whole, "re");
    if (file == NULL) return false;
    bool is_there = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (is_there) line[strcspn(line, "\n")] = '\0';
    return is_there;
}

/* The last number of such a line. */
static bool read_number(uint64_t *number, const char *system, const char *path)
{
    char line[128];
    if (!read_line(line, sizeof line, system, path)) return false;
    const char *blank = strpbrk(line, "\t ") != NULL ? strrchr(line, '\t') : NULL;
    if (blank == NULL) blank = strrchr(line, ' ');
    return sf_parse_uint(blank != NULL ? blank + 1 : line, UINT64_MAX, number);
}

/* ---- processor ---- */

static void check_cores(sf_findings *checks)
{
    char name[128];
    unsigned cores = sf_thread_cores();
    sf_processor_name(name, sizeof name);
    sf_doctor_find(checks, "cores", cores > 1 ? SF_FINDING_GOOD : SF_FINDING_ADVICE, "%u of %s", cores, name);
    sf_doctor_advise(checks,
                     "give the run two cores or more: triggers wait where analysis takes the only one");
}

static void check_governor(sf_findings *checks, const char *system)
{
    char pattern[SF_PLACE_SIZE], line[64], slowest[64] = "";
    snprintf(pattern, sizeof pattern, "%s/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor", system);
    glob_t found;
    size_t count = 0, fast = 0;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (read_line(line, sizeof line, "", found.gl_pathv[i])) {
                count++;
                if (strcmp(line, "performance") == 0)
                    fast++;
                else
                    snprintf(slowest, sizeof slowest, "%s", line);
            }
    globfree(&found);
    if (count == 0) {
        sf_doctor_find(checks, "governor", SF_FINDING_GOOD, "the frequency is not this system's to choose");
        return;
    }
    sf_doctor_find(checks, "governor", fast == count ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                   "%zu of %zu cores are on `performance`%s%s", fast, count,
                   fast < count ? ", others on " : "", slowest);
    sf_doctor_advise(checks,
                     "cpupower frequency-set -g performance: a core that has slowed down takes longer for "
                     "the first spikes after a pause");
}

/* ---- rights ---- */

static void *try_real_time(void *granted)
{
    struct sched_param wanted = {.sched_priority = 1};
    *(bool *)granted = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted) == 0;
    return NULL;
}

static void check_real_time(sf_findings *checks)
{
    struct rlimit limit = {0};
    bool granted = false;
    sf_thread thread = {0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    if (sf_thread_start(&thread, "synfire-doctor", try_real_time, &granted, NULL) == SF_OK)
        sf_thread_join(&thread);
    sf_doctor_find(checks, "real-time", granted ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                   "a thread %s real-time priority (rtprio limit %llu)", granted ? "gets" : "does not get",
                   (unsigned long long)limit.rlim_cur);
    sf_doctor_advise(checks,
                     "as root: echo 'USER - rtprio 80' >> /etc/security/limits.d/synfire.conf, and log in "
                     "again; under systemd LimitRTPRIO=80");
}

/* Tries to lock memory: nothing else tells whether a process may exceed the limit. */
static bool can_lock(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool can = memory != MAP_FAILED && mlock(memory, size) == 0;
    if (memory != MAP_FAILED) munmap(memory, size);
    return can;
}

static void check_locked_memory(sf_findings *checks)
{
    struct rlimit limit = {0};
    char limited[64] = "no limit";
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur != RLIM_INFINITY)
        snprintf(limited, sizeof limited, "%.1f MiB", (double)limit.rlim_cur / (double)MEBIBYTE);
    bool can = can_lock(LEAST_LOCKED);
    sf_doctor_find(checks, "locked-memory", can ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                   "%d MiB of memory can%s be locked (memlock limit: %s)", (int)(LEAST_LOCKED / MEBIBYTE),
                   can ? "" : "not", limited);
    sf_doctor_advise(checks,
                     "as root: echo 'USER - memlock unlimited' >> /etc/security/limits.d/synfire.conf, "
                     "and log in again; under systemd LimitMEMLOCK=infinity");
}

static void check_descriptors(sf_findings *checks)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    sf_doctor_find(checks, "descriptors",
                   limit.rlim_cur >= LEAST_DESCRIPTORS ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                   "%llu files and sockets may be open", (unsigned long long)limit.rlim_cur);
    sf_doctor_advise(checks, "ulimit -n %d before the run", LEAST_DESCRIPTORS);
}

static bool is_in_group(const char *name)
{
    const struct group *group = getgrnam(name);
    gid_t groups[256];
    int count = getgroups(256, groups);
    for (int i = 0; group != NULL && i < count; i++)
        if (groups[i] == group->gr_gid) return true;
    return group != NULL && getegid() == group->gr_gid;
}

/* Checks the serial ports of microcontrollers and adapters; the main board's own lines rarely connect to a
 * rig. */
static void check_serial(sf_findings *checks, const char *system)
{
    char patterns[2][SF_PLACE_SIZE], refused[64] = "";
    glob_t found = {0};
    snprintf(patterns[0], sizeof patterns[0], "%s/dev/ttyACM*", system);
    snprintf(patterns[1], sizeof patterns[1], "%s/dev/ttyUSB*", system);
    glob(patterns[0], 0, NULL, &found);
    glob(patterns[1], GLOB_APPEND, NULL, &found);
    size_t count = found.gl_pathc;
    for (size_t i = 0; i < count; i++)
        if (access(found.gl_pathv[i], R_OK | W_OK) != 0)
            snprintf(refused, sizeof refused, "%s", found.gl_pathv[i]);
    globfree(&found);
    bool member = geteuid() == 0 || is_in_group("dialout");
    if (refused[0] != '\0')
        sf_doctor_find(checks, "serial", SF_FINDING_BAD, "%s may not be written to", refused);
    else if (count > 0)
        sf_doctor_find(checks, "serial", SF_FINDING_GOOD, "%zu line%s may be written to", count,
                       count == 1 ? "" : "s");
    else
        sf_doctor_find(checks, "serial", member ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                       "no line is plugged in, %s",
                       member ? "and one could be used"
                              : "and this user is not in "
                                "the group dialout");
    sf_doctor_advise(checks,
                     "for triggers over a serial line, as root: usermod -aG dialout USER, and log in again");
}

/* ---- clocks ---- */

static void check_clock(sf_findings *checks, const char *system)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char source[64] = "of unknown source";
    struct timespec resolution = {0};
    read_line(source, sizeof source, system, path);
    clock_getres(CLOCK_BOOTTIME, &resolution);
    int64_t step_ns = resolution.tv_sec * SF_SECOND + resolution.tv_nsec, begin_ns = sf_clock_monotonic_ns();
    for (int i = 0; i < CLOCK_READS; i++)
        sf_clock_monotonic_ns();
    double read_ns = (double)(sf_clock_monotonic_ns() - begin_ns) / (CLOCK_READS + 1);
    bool by_bus =
        strcmp(source, "hpet") == 0 || strcmp(source, "acpi_pm") == 0 || strcmp(source, "jiffies") == 0;
    sf_doctor_find(checks, "clock",
                   step_ns > SLOW_CLOCK_NS ? SF_FINDING_BAD
                   : by_bus                ? SF_FINDING_ADVICE
                                           : SF_FINDING_GOOD,
                   "%s, steps of %lld ns, read in %.0f ns", source, (long long)step_ns, read_ns);
    sf_doctor_advise(checks,
                     "boot with clocksource=tsc, where the processor's counter is steady (tsc=reliable)");
}

/* Checks that the wall clock is synchronised: it relates streams of several machines and log files; no time
 * within a stream depends on it. */
static void check_sync(sf_findings *checks)
{
    struct timex about = {0};
    int state = adjtimex(&about);
    double error_ms = (double)about.maxerror * 1e-3;
    if (state < 0 || state == TIME_ERROR || (about.status & STA_UNSYNC) != 0) {
        sf_doctor_find(checks, "clock-sync", SF_FINDING_ADVICE,
                       "nobody keeps the wall clock at the right time");
        sf_doctor_advise(checks, "timedatectl set-ntp true, or chrony or ptp4l, on every machine of the rig");
        return;
    }
    sf_doctor_find(checks, "clock-sync", error_ms <= LOOSE_SYNC_MS ? SF_FINDING_GOOD : SF_FINDING_ADVICE,
                   "the wall clock is kept at the right time, to %.1f ms at worst", error_ms);
    sf_doctor_advise(checks, "take a nearer time server, or chrony or ptp4l within the rig's network");
}

/* ---- network ---- */

void sf_doctor_buffers(sf_findings *checks, const char *system)
{
    uint64_t udp = 0, tcp = 0;
    if (!read_number(&udp, system, "/proc/sys/net/core/rmem_max") ||
        !read_number(&tcp, system, "/proc/sys/net/ipv4/tcp_rmem")) {
        sf_doctor_find(checks, "buffers", SF_FINDING_ADVICE,
                       "this system does not say how much sockets may hold");
        sf_doctor_advise(checks, "look at net.core.rmem_max and net.ipv4.tcp_rmem outside the container");
        return;
    }
    bool low_tcp = tcp < LEAST_TCP;
    sf_doctor_find(
        checks, "buffers", low_tcp || udp < LEAST_UDP ? SF_FINDING_ADVICE : SF_FINDING_GOOD,
        "sockets hold up to %.2f MiB of TCP (net.ipv4.tcp_rmem), %.2f MiB of UDP (net.core.rmem_max)",
        (double)tcp / (double)MEBIBYTE, (double)udp / (double)MEBIBYTE);
    if (low_tcp)
        sf_doctor_advise(checks,
                         "sysctl -w net.ipv4.tcp_rmem='4096 131072 33554432': a sender that does not wait "
                         "loses what does not fit while the run is held up");
    else
        sf_doctor_advise(checks,
                         "sysctl -w net.core.rmem_max=33554432: OSC receivers on this machine lose what does "
                         "not fit of a hop's messages, and the source blackrock what comes while the run is "
                         "held up");
}

static bool is_free(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bool bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return bound;
}

static void check_keys(sf_findings *checks)
{
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    bool has_curve = zmq_has("curve") != 0;
    sf_doctor_find(checks, "keys", has_curve ? SF_FINDING_GOOD : SF_FINDING_ADVICE, "ZeroMQ %d.%d.%d %s",
                   major, minor, patch, has_curve ? "takes keys (CURVE)" : "was built without CURVE");
    sf_doctor_advise(checks, "libzmq5 of Debian or Ubuntu has it; without it no socket may have `key`");
}

static void check_ports(sf_findings *checks)
{
    static const uint16_t ports[] = {7700, 7710, 7730, 7740};
    char taken[64] = "";
    size_t length = 0;
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++)
        if (!is_free(ports[i]))
            length += (size_t)snprintf(taken + length, sizeof taken - length, " %u", ports[i]);
    if (length == 0)
        sf_doctor_find(checks, "ports", SF_FINDING_GOOD, "7700, 7710, 7730 and 7740 are free");
    else
        sf_doctor_find(checks, "ports", SF_FINDING_ADVICE, "in use:%s", taken);
    sf_doctor_advise(
        checks, "unless that is a run of yours, `ss -ltnp` says whose they are; a configuration may name "
                "others (endpoint, port)");
}

/* ---- parts ---- */

static void check_gpu(sf_findings *checks, const char *system)
{
    sf_devices *devices;
    sf_devices_columns columns = {.size = sizeof columns};
    char line[160] = "no NVIDIA driver";
    bool has_driver = read_line(line, sizeof line, system, "/proc/driver/nvidia/version");
    const char *version = strstr(line, "  ") != NULL ? strstr(line, "  ") + 2 : line;
    int length = has_driver ? (int)strcspn(version, " ") : (int)strlen(version);
    if (sf_devices_list(&devices, NULL) != SF_OK) return;
    sf_devices_get_columns(devices, &columns);
    if (columns.why_none != NULL) {
        sf_doctor_find(checks, "gpu", has_driver ? SF_FINDING_ADVICE : SF_FINDING_GOOD, "%s; %s%.*s",
                       columns.why_none, has_driver ? "driver " : "", length, version);
        sf_doctor_advise(checks,
                         "install the package synfire-cuda of this version, or build with the preset `cuda`");
    }
    for (size_t i = 0; i < columns.count; i++) {
        const char *why_not = columns.why_not[i];
        if (why_not != NULL)
            sf_doctor_find(checks, "gpu", SF_FINDING_ADVICE, "%s (driver %.*s) does not work: %s",
                           columns.names[i], length, version, why_not);
        else
            sf_doctor_find(checks, "gpu", SF_FINDING_GOOD,
                           "%s is %s, driver %.*s; the plugin has code for it", columns.names[i],
                           columns.descriptions[i], length, version);
        sf_doctor_advise(
            checks, "runs work on the CPU meanwhile; nvidia-smi tells what the driver thinks of the card");
    }
    sf_devices_free(devices);
}

static void check_reader(sf_findings *checks)
{
    char path[SF_PLACE_SIZE];
    bool is_there = sf_place_program(path, "reader", "synfire-read") && access(path, X_OK) == 0;
    sf_doctor_find(checks, "reader", is_there ? SF_FINDING_GOOD : SF_FINDING_BAD,
                   "synfire-read, which reads HDF5 files, %s",
                   is_there ? "is there" : "is not where it belongs");
    sf_doctor_advise(checks, "install synfire anew: cmake --install, or the package");
}

void sf_doctor(sf_findings *checks, const char *folder, const char *system)
{
    checks->count = 0;
    check_cores(checks);
    check_governor(checks, system);
    check_real_time(checks);
    check_locked_memory(checks);
    check_clock(checks, system);
    check_sync(checks);
    sf_doctor_buffers(checks, system);
    check_descriptors(checks);
    check_ports(checks);
    check_keys(checks);
    check_serial(checks, system);
    check_gpu(checks, system);
    check_reader(checks);
    sf_doctor_folder(checks, folder);
}
