/* SPDX-License-Identifier: Apache-2.0 */
#include "io/apart.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/place.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "synfire-read"

/* ---- limits ---- */

#define MEBIBYTE ((uint64_t)1 << 20)

/* The widest that a reader makes of a byte: deflated 10 : 1, a time of 8 bytes becomes 40 in seconds, spikes
 * and the room to sort them. */
#define BYTES_PER_BYTE 100

uint64_t sf_apart_memory(uint64_t length)
{
    const uint64_t longest = (uint64_t)1 << 40; /* beyond, nothing is gained by a limit */
    return 128 * MEBIBYTE + BYTES_PER_BYTE * (length < longest ? length : longest);
}

/* Real recordings take under 0.1 s of processor time for a mebibyte. Threads that share a core, and a virtual
 * machine that is not given its own, take several times that. */
uint64_t sf_apart_seconds(uint64_t length)
{
    return 5 + length / MEBIBYTE;
}

/* ---- starting the program ---- */

typedef struct apart {
    const char *path;
    uint64_t length; /* of the file */
    pid_t process;
    int parcel, lifeline;
} apart;

/* Reports of sanitizers are worth seeing; anything else that a library prints is no sentence of this program.
 */
static const char *printing_place(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return NULL;
#else
    return "/dev/null";
#endif
}

static int place_files(posix_spawn_file_actions_t *files, int parcel, int lifeline)
{
    const char *printing = printing_place();
    int failed = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failed == 0)
        failed = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (failed == 0 && printing != NULL)
        failed = posix_spawn_file_actions_addopen(files, STDERR_FILENO, printing, O_WRONLY, 0);
    if (failed == 0)
        failed = posix_spawn_file_actions_adddup2(files, parcel, SF_APART_PARCEL);
    if (failed == 0)
        failed = posix_spawn_file_actions_adddup2(files, lifeline, SF_APART_LIFELINE);
#if __GLIBC_PREREQ(2, 34) /* else the reader does it first */
    if (failed == 0)
        failed = posix_spawn_file_actions_addclosefrom_np(files, SF_APART_LIFELINE + 1);
#endif
    return failed;
}

/* Signals as a fresh program has them, and none from the terminal: what to do on those is this program's
 * choice. */
static int place_signals(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int failed = posix_spawnattr_setsigdefault(attributes, &all);
    if (failed == 0)
        failed = posix_spawnattr_setsigmask(attributes, &none);
    if (failed == 0)
        failed = posix_spawnattr_setpgroup(attributes, 0);
    if (failed == 0)
        failed = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                          POSIX_SPAWN_SETPGROUP);
    return failed;
}

static int spawn(pid_t *process, const char *program, char *const *words, int parcel, int lifeline)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed != 0)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
        failed = place_files(&files, parcel, lifeline);
        if (failed == 0)
            failed = place_signals(&attributes);
        if (failed == 0)
            failed = posix_spawn(process, program, &files, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Out of the way of the numbers that the program gets them under. */
static int move_up(int fd)
{
    if (fd < 0 || fd > SF_APART_LIFELINE)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, SF_APART_LIFELINE + 1);
    close(fd);
    return moved;
}

static void close_files(apart *it)
{
    if (it->parcel >= 0)
        close(it->parcel);
    if (it->lifeline >= 0)
        close(it->lifeline);
}

static int start(apart *it, const char *kind, const char *stream, sf_error *error)
{
    char program[SF_PLACE_SIZE], parent[16];
    if (!sf_place_program(program, "reader", PROGRAM))
        return sf_fail(error, SF_UNAVAILABLE, it->path,
                       "cannot be read: the program " PROGRAM
                       ", which reads HDF5 files, is not installed beside synfire");
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    const char *const words[] = {program, parent, kind, it->path, stream, NULL};
    int ends[2] = {-1, -1};
    it->parcel = move_up(memfd_create("synfire-parcel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    int failed = it->parcel < 0 || pipe2(ends, O_CLOEXEC) != 0 ? errno : 0;
    it->lifeline = move_up(ends[0]);
    int far_end = move_up(ends[1]);
    if (failed == 0 && (it->lifeline < 0 || far_end < 0))
        failed = errno;
    if (failed == 0)
        failed = spawn(&it->process, program, (char *const *)(uintptr_t)words, it->parcel, far_end);
    if (far_end >= 0)
        close(far_end);
    if (failed == 0)
        return SF_OK;
    return sf_fail(error, failed == ENOMEM ? SF_NO_MEMORY : SF_UNAVAILABLE, it->path,
                   "cannot be read: cannot start %s: %s", program, strerror(failed));
}

/* ---- waiting for its end ---- */

#define LOOK_EVERY_MS 20

static int refuse_endless(const apart *it, sf_error *error)
{
    return sf_fail(error, SF_DATA, it->path,
                   "this HDF5 file is damaged: reading it does not end (a file of %llu bytes may take %llu s "
                   "of processor time)",
                   (unsigned long long)it->length, (unsigned long long)sf_apart_seconds(it->length));
}

/* Says nothing against the file. */
static int refuse_silent(const apart *it, double patience, sf_error *error)
{
    return sf_fail(error, SF_IO, it->path,
                   "cannot be read now: its disk has given nothing for %.0f s; try again when it answers",
                   patience);
}

/* Seconds of processor time that the process has taken. It stands still while the disk lets it wait, or
 * while somebody holds it. */
static double processor_seconds(const apart *it)
{
    clockid_t clock;
    struct timespec taken;
    if (clock_getcpuclockid(it->process, &clock) != 0 || clock_gettime(clock, &taken) != 0)
        return 0;
    return (double)taken.tv_sec + 1e-9 * (double)taken.tv_nsec;
}

/* Its end says at the other end of the pipe that there is something to wait for, unless it was broken. */
static void nap(const apart *it)
{
    struct pollfd end = {.fd = it->lifeline, .events = POLLIN};
    if (poll(&end, 1, LOOK_EVERY_MS) > 0)
        usleep(200);
}

static void kill_process(const apart *it)
{
    kill(-it->process, SIGKILL); /* and what it might have started */
    kill(it->process, SIGKILL);
    while (waitpid(it->process, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* How long the process may go on without taking any processor time. */
typedef struct silence {
    double patience; /* seconds */
    double taken, since;
} silence;

static bool silence_lasts(silence *it, double taken)
{
    double now = sf_clock_seconds();
    if (taken > it->taken)
        *it = (silence){it->patience, taken, now};
    return now - it->since > it->patience;
}

/* The program sets itself this limit; one that does not is ended from here. */
static bool is_endless(const apart *it, double taken)
{
    return taken > (double)sf_apart_seconds(it->length) + 1;
}

/* *ended is what waitpid tells, 0 where somebody else has waited for it. */
static int wait_for_end(const apart *it, int *ended, double patience, const sf_progress *progress,
                        sf_error *error)
{
    silence quiet = {.patience = patience, .since = sf_clock_seconds()};
    *ended = 0;
    for (;;) {
        pid_t found = waitpid(it->process, ended, WNOHANG);
        if (found == it->process || (found < 0 && errno != EINTR))
            return SF_OK;
        double taken = processor_seconds(it);
        bool go_on = sf_progress_update(progress, "reading", 0, 1), endless = is_endless(it, taken);
        if (go_on && !endless && !silence_lasts(&quiet, taken)) {
            nap(it);
            continue;
        }
        kill_process(it);
        if (!go_on)
            return sf_fail(error, SF_CANCELLED, it->path, "stopped while reading");
        return endless ? refuse_endless(it, error) : refuse_silent(it, patience, error);
    }
}

/* glibc knows these names from 2.32 on. */
static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SEGV"}, {SIGBUS, "BUS"},   {SIGABRT, "ABRT"}, {SIGFPE, "FPE"},   {SIGILL, "ILL"},
                 {SIGTRAP, "TRAP"}, {SIGKILL, "KILL"}, {SIGTERM, "TERM"}, {SIGINT, "INT"},   {SIGHUP, "HUP"},
                 {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGALRM, "ALRM"}, {SIGSYS, "SYS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return "?";
}

static int judge_end(const apart *it, int ended, sf_error *error)
{
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return SF_OK;
    if (!WIFSIGNALED(ended))
        return sf_fail(error, SF_UNAVAILABLE, it->path,
                       "cannot be read: the program " PROGRAM " ended without an answer, with exit code %d",
                       WEXITSTATUS(ended));
    const char *name = signal_name(WTERMSIG(ended));
    switch (WTERMSIG(ended)) {
    case SIGXCPU:
        return refuse_endless(it, error);
    case SIGSEGV:
    case SIGBUS:
    case SIGABRT:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
        return sf_fail(error, SF_DATA, it->path,
                       "this HDF5 file is damaged: the HDF5 library crashes on it (SIG%s)", name);
    default:
        return sf_fail(error, SF_IO, it->path, "reading it was ended from outside (SIG%s)", name);
    }
}

/* Nothing that is still there may change the parcel under its reader. */
static int seal(const apart *it, sf_error *error)
{
    if (fcntl(it->parcel, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        return SF_OK;
    return sf_parcel_refuse(it->path, error);
}

int sf_apart_read_within(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                         double patience, const sf_progress *progress, sf_error *error)
{
    *parcel = (sf_parcel){0};
    struct stat about;
    apart it = {.path = path, .parcel = -1, .lifeline = -1};
    if (stat(path, &about) != 0)
        return sf_fail(error, SF_NO_INPUT, path, "cannot open: %s", strerror(errno));
    it.length = (uint64_t)about.st_size;
    if (!sf_progress_update(progress, "reading", 0, 1))
        return sf_fail(error, SF_CANCELLED, path, "stopped while reading");
    int status = start(&it, kind, stream, error), ended = 0;
    if (status == SF_OK)
        status = wait_for_end(&it, &ended, patience, progress, error);
    if (status == SF_OK)
        status = judge_end(&it, ended, error);
    if (status == SF_OK)
        status = seal(&it, error);
    if (status == SF_OK)
        status = sf_parcel_map(parcel, it.parcel, path, error);
    if (status == SF_OK)
        sf_progress_update(progress, "reading", 1, 1);
    close_files(&it);
    return status;
}

int sf_apart_read(sf_parcel *parcel, const char *kind, const char *path, const char *stream,
                  const sf_progress *progress, sf_error *error)
{
    return sf_apart_read_within(parcel, kind, path, stream, SF_APART_PATIENCE_S, progress, error);
}
