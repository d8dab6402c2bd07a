/* SPDX-License-Identifier: Apache-2.0 */
#include "app/jobs.h"

#include "app/command.h"
#include "core/clock.h"
#include "core/memory.h"
#include "io/file.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITS, AT_WORK, ENDED, TAKEN };

typedef struct one_job {
    app_job told;
    int state;
    pid_t process;
    int out, said; /* files in memory, which never wait for a reader as a pipe does */
    double begun;
} one_job;

typedef struct pool {
    const app_jobs *jobs;
    one_job *all;
    size_t begun, taken, at_work;
    double stopped_s; /* when those at work were asked to end, or 0 */
    sigset_t before, waited_for;
} pool;

/* ---- in the process of an item ---- */

__attribute__((noreturn)) static void work(const pool *p, const one_job *job, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it ended before it could be asked to tell */
        _exit(128 + SIGTERM);
    sigprocmask(SIG_SETMASK, &p->before, NULL);
    if (dup2(job->out, STDOUT_FILENO) < 0 || dup2(job->said, STDERR_FILENO) < 0) _exit(70);
    exit(p->jobs->work(p->jobs->context, job->told.item));
}

/* ---- in the calling process ---- */

static void close_files(one_job *job)
{
    if (job->out >= 0) close(job->out);
    if (job->said >= 0) close(job->said);
    job->out = job->said = -1;
}

static int begin(pool *p, sf_error *error)
{
    one_job *job = &p->all[p->begun];
    job->told.item = p->begun;
    job->out = memfd_create("stdout", MFD_CLOEXEC);
    job->said = memfd_create("stderr", MFD_CLOEXEC);
    fflush(NULL); /* what is still to be written would be written twice */
    pid_t self = getpid(), process = job->out >= 0 && job->said >= 0 ? fork() : -1;
    if (process == 0) work(p, job, self);
    if (process < 0) {
        int reason = errno;
        close_files(job);
        return sf_fail(error, SF_UNAVAILABLE, NULL, "no process can be started: %s", strerror(reason));
    }
    job->process = process;
    job->state = AT_WORK;
    job->begun = sf_clock_seconds();
    p->begun++;
    p->at_work++;
    return SF_OK;
}

static void end(pool *p, one_job *job, int how)
{
    app_job *told = &job->told;
    told->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    told->exit_code = WIFEXITED(how) ? WEXITSTATUS(how) : 70;
    told->seconds = sf_clock_seconds() - job->begun;
    sf_file_append_to(&told->out, job->out);
    sf_file_append_to(&told->said, job->said);
    close_files(job);
    job->state = ENDED;
    p->at_work--;
    if (p->jobs->ended != NULL) p->jobs->ended(p->jobs->context, told);
}

/* Those that have ended by now. */
static void reap(pool *p)
{
    for (size_t i = p->taken; i < p->begun; i++) {
        one_job *job = &p->all[i];
        int how;
        if (job->state == AT_WORK && waitpid(job->process, &how, WNOHANG) == job->process) end(p, job, how);
    }
}

static void release(one_job *job)
{
    close_files(job);
    sf_text_free(&job->told.out);
    sf_text_free(&job->told.said);
}

/* Takes finished items, as far as all earlier ones are taken. */
static int take(pool *p, sf_error *error)
{
    int status = SF_OK;
    for (; status == SF_OK && p->taken < p->begun && p->all[p->taken].state == ENDED; p->taken++) {
        one_job *job = &p->all[p->taken];
        if (job->told.out.failed || job->told.said.failed)
            status = sf_fail_memory(error);
        else if (p->jobs->take != NULL)
            status = p->jobs->take(p->jobs->context, &job->told, error);
        job->state = TAKEN;
        release(job);
    }
    return status;
}

static void send(const pool *p, int signal)
{
    for (size_t i = 0; i < p->begun; i++)
        if (p->all[i].state == AT_WORK) kill(p->all[i].process, signal);
}

/* Sends SIGTERM once: after a stop by a key the terminal has signalled the processes, too, and a second
 * SIGTERM has no effect. */
static void stop(pool *p)
{
    if (p->stopped_s == 0) {
        p->stopped_s = sf_clock_seconds();
        send(p, SIGTERM);
    } else if (p->jobs->patience_s > 0 && sf_clock_seconds() - p->stopped_s > p->jobs->patience_s) {
        send(p, SIGKILL);
    }
}

/* A second at most, in case a signal came in between. */
static void wait_for_one(const pool *p)
{
    const struct timespec second = {.tv_sec = 1};
    sigtimedwait(&p->waited_for, NULL, &second);
}

static int run(pool *p, sf_error *error)
{
    int status = SF_OK, told = SF_OK;
    while (p->at_work > 0 || (status == SF_OK && p->begun < p->jobs->count)) {
        while (status == SF_OK && !app_stop_requested() && p->begun < p->jobs->count &&
               p->at_work < p->jobs->at_once)
            status = begin(p, error);
        if (app_stop_requested() && status == SF_OK)
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped after %zu of %zu", p->taken, p->jobs->count);
        if (status != SF_OK) stop(p);
        if (p->at_work > 0) wait_for_one(p);
        reap(p);
        if (told == SF_OK) told = take(p, status == SF_OK ? error : NULL);
        status = status == SF_OK ? told : status;
    }
    return status;
}

int app_jobs_run(const app_jobs *jobs, sf_error *error)
{
    pool p = {.jobs = jobs, .all = sf_alloc(jobs->count, sizeof *p.all)};
    if (p.all == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < jobs->count; i++)
        p.all[i].out = p.all[i].said = -1;
    sigemptyset(&p.waited_for);
    sigaddset(&p.waited_for, SIGCHLD);
    sigprocmask(SIG_BLOCK, &p.waited_for, &p.before);
    int status = run(&p, error);
    sigprocmask(SIG_SETMASK, &p.before, NULL);
    for (size_t i = p.taken; i < p.begun; i++)
        release(&p.all[i]);
    sf_free(p.all);
    return status;
}
