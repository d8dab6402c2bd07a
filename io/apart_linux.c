/* SPDX-License-Identifier: Apache-2.0 */
#include "io/apart.h"
#include "io/apart_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char sf_apart_program[] = "synfire-read";

/* ---- starting the program ---- */

/* Shows reports of sanitizers; anything else that a library prints is no message of this program. */
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
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(files, parcel, SF_APART_PARCEL);
    if (failed == 0) failed = posix_spawn_file_actions_adddup2(files, lifeline, SF_APART_LIFELINE);
#if __GLIBC_PREREQ(2, 34) /* else the reader does it first */
    if (failed == 0) failed = posix_spawn_file_actions_addclosefrom_np(files, SF_APART_LIFELINE + 1);
#endif
    return failed;
}

/* Resets signals to their defaults, and gives the process its own group, so that signals from the terminal
 * reach this program only, which decides what to do. */
static int place_signals(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int failed = posix_spawnattr_setsigdefault(attributes, &all);
    if (failed == 0) failed = posix_spawnattr_setsigmask(attributes, &none);
    if (failed == 0) failed = posix_spawnattr_setpgroup(attributes, 0);
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
    if (failed != 0) return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed == 0) {
        failed = place_files(&files, parcel, lifeline);
        if (failed == 0) failed = place_signals(&attributes);
        if (failed == 0) failed = posix_spawn(process, program, &files, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Moves a descriptor above the numbers that the program expects. */
static int move_up(int fd)
{
    if (fd < 0 || fd > SF_APART_LIFELINE) return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, SF_APART_LIFELINE + 1);
    close(fd);
    return moved;
}

int sf_apart_start(sf_apart_process *it, const char *program, const char *kind, const char *path,
                   const char *stream, uint64_t memory)
{
    (void)memory; /* it sets its limits itself */
    char parent[16];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    const char *const words[] = {program, parent, kind, path, stream, NULL};
    int ends[2] = {-1, -1};
    it->parcel = move_up(memfd_create("synfire-parcel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    int failed = it->parcel < 0 || pipe2(ends, O_CLOEXEC) != 0 ? errno : 0;
    it->lifeline = move_up(ends[0]);
    int far_end = move_up(ends[1]);
    if (failed == 0 && (it->lifeline < 0 || far_end < 0)) failed = errno;
    pid_t process = 0;
    if (failed == 0) failed = spawn(&process, program, (char *const *)(uintptr_t)words, it->parcel, far_end);
    it->process = process;
    if (far_end >= 0) close(far_end);
    return failed;
}

void sf_apart_close(sf_apart_process *it)
{
    if (it->parcel >= 0) close(it->parcel);
    if (it->lifeline >= 0) close((int)it->lifeline);
}

/* ---- waiting for its end ---- */

/* Status from waitpid; 0 if other code has already waited for the process. */
bool sf_apart_has_ended(const sf_apart_process *it, int *how)
{
    pid_t process = (pid_t)it->process, found = waitpid(process, how, WNOHANG);
    return found == process || (found < 0 && errno != EINTR);
}

double sf_apart_processor_seconds(const sf_apart_process *it)
{
    clockid_t clock;
    struct timespec taken;
    if (clock_getcpuclockid((pid_t)it->process, &clock) != 0 || clock_gettime(clock, &taken) != 0) return 0;
    return (double)taken.tv_sec + 1e-9 * (double)taken.tv_nsec;
}

/* The other end of the pipe closes when the process ends, unless the process damaged it. */
void sf_apart_nap(const sf_apart_process *it, int ms)
{
    struct pollfd end = {.fd = (int)it->lifeline, .events = POLLIN};
    if (poll(&end, 1, ms) > 0) usleep(200);
}

void sf_apart_kill(const sf_apart_process *it)
{
    pid_t process = (pid_t)it->process;
    kill(-process, SIGKILL); /* and what it might have started */
    kill(process, SIGKILL);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* glibc knows these names from 2.32 on. */
static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"},
                 {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGKILL, "SIGKILL"}, {SIGTERM, "SIGTERM"},
                 {SIGINT, "SIGINT"},   {SIGHUP, "SIGHUP"},   {SIGQUIT, "SIGQUIT"}, {SIGUSR1, "SIGUSR1"},
                 {SIGUSR2, "SIGUSR2"}, {SIGALRM, "SIGALRM"}, {SIGSYS, "SIGSYS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number) return names[i].name;
    return "SIG?";
}

sf_apart_end sf_apart_judge(int how, int *code, const char **name)
{
    *code = WIFEXITED(how) ? WEXITSTATUS(how) : 0;
    if (!WIFSIGNALED(how)) return WIFEXITED(how) && *code == 0 ? SF_APART_ANSWERED : SF_APART_LEFT;
    *name = signal_name(WTERMSIG(how));
    switch (WTERMSIG(how)) {
    case SIGXCPU:
        return SF_APART_ENDLESS;
    case SIGSEGV:
    case SIGBUS:
    case SIGABRT:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
        return SF_APART_CRASHED;
    default:
        return SF_APART_STOPPED;
    }
}

/* ---- the parcel ---- */

enum { SEALED = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

bool sf_apart_seal(int parcel)
{
    return fcntl(parcel, F_ADD_SEALS, SEALED | F_SEAL_SEAL) == 0;
}

bool sf_apart_is_sealed(int parcel)
{
    int seals = fcntl(parcel, F_GET_SEALS);
    return seals >= 0 && (seals & SEALED) == SEALED;
}
