/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings, each in a process of its own. */
#include "app/compare.h"

#include "core/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 100
#define PATIENCE_MS 5000 /* with one that was asked to end */

typedef struct worker {
    pid_t process; /* 0: none */
    int pipe;      /* from it */
    size_t item;
} worker;

typedef struct crew {
    app_compared *results;
    const app_comparing *how;
    const char *const *paths;
    const char *folder;
    size_t count, next, done;
    worker *workers;
    struct pollfd *polled;
    size_t worker_count;
} crew;

/* In the new process: it ends with the one that it is of. */
static _Noreturn void work(const crew *c, size_t item, int to)
{
    static app_compared result; /* zero in all its bytes */
    app_call silent = *c->how->call;
    app_comparing how = *c->how;
    silent.quiet = true; /* many at once: the one that started them speaks */
    how.call = &silent;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    app_catch_signals();
    app_compare_recording(&result, &how, c->paths[item], c->folder);
    ssize_t written = write(to, &result, sizeof result); /* less than a pipe takes at once */
    _exit(written == (ssize_t)sizeof result ? 0 : 1);
}

static int start(crew *c, worker *w, sf_error *error)
{
    int ends[2];
    if (pipe(ends) != 0)
        return sf_fail(error, SF_INTERNAL, NULL, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        work(c, c->next, ends[1]);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return sf_fail(error, SF_INTERNAL, NULL, "cannot start a process: %s", strerror(errno));
    }
    *w = (worker){process, ends[0], c->next++};
    return SF_OK;
}

/* What it said, or that it ended without a word. */
static void finish(crew *c, worker *w)
{
    app_compared *result = &c->results[w->item];
    int how = 0;
    ssize_t bytes = read(w->pipe, result, sizeof *result);
    close(w->pipe);
    while (waitpid(w->process, &how, 0) < 0 && errno == EINTR)
        ;
    if (bytes != (ssize_t)sizeof *result) {
        *result = (app_compared){0};
        result->status = WIFSIGNALED(how) ? sf_fail(&result->error, SF_INTERNAL, c->paths[w->item],
                                                    "its analysis was ended by signal %d (%s)", WTERMSIG(how),
                                                    strsignal(WTERMSIG(how)))
                                          : sf_fail(&result->error, SF_INTERNAL, c->paths[w->item],
                                                    "its analysis ended without a result");
    }
    if (c->how->call->verbose)
        app_warn(c->how->call, "%s: %s, %.3g s", c->paths[w->item],
                 result->status != SF_OK ? result->error.text
                 : result->kept          ? "was done before"
                                         : "done",
                 result->seconds);
    *w = (worker){0};
    c->done++;
}

static int wait_for_some(crew *c)
{
    size_t running = 0;
    for (size_t i = 0; i < c->worker_count; i++) {
        c->polled[i] =
            (struct pollfd){.fd = c->workers[i].process > 0 ? c->workers[i].pipe : -1, .events = POLLIN};
        running += c->workers[i].process > 0;
    }
    if (running > 0 && poll(c->polled, c->worker_count, WAIT_MS) > 0)
        for (size_t i = 0; i < c->worker_count; i++)
            if (c->polled[i].fd >= 0 && c->polled[i].revents != 0)
                finish(c, &c->workers[i]);
    return app_stop_requested() ? SF_CANCELLED : SF_OK;
}

/* Asked to, they end; what does not hear, such as one that waits for a file, is ended. */
static void end_workers(crew *c)
{
    for (size_t i = 0; i < c->worker_count; i++)
        if (c->workers[i].process > 0)
            kill(c->workers[i].process, SIGTERM);
    for (size_t i = 0; i < c->worker_count; i++) {
        struct pollfd said = {.fd = c->workers[i].pipe, .events = POLLIN};
        if (c->workers[i].process == 0)
            continue;
        if (poll(&said, 1, PATIENCE_MS) <= 0)
            kill(c->workers[i].process, SIGKILL);
        finish(c, &c->workers[i]);
    }
}

static int run_all(crew *c, const sf_progress *progress, sf_error *error)
{
    int status = SF_OK;
    while (c->done < c->count && status == SF_OK) {
        for (size_t i = 0; i < c->worker_count && c->next < c->count && status == SF_OK; i++)
            if (c->workers[i].process == 0)
                status = start(c, &c->workers[i], error);
        if (status == SF_OK && wait_for_some(c) != SF_OK)
            status =
                sf_fail(error, SF_CANCELLED, NULL,
                        "stopped: %zu of %zu recordings are done, and the same command goes on with the rest",
                        c->done, c->count);
        if (progress->update != NULL)
            progress->update(progress->user, "recordings", (double)c->done, (double)c->count);
    }
    end_workers(c);
    return status;
}

int app_compare_recordings(app_compared *results, const app_comparing *how, const char *const *paths,
                           size_t count, const char *folder, size_t jobs, sf_error *error)
{
    crew c = {.results = results,
              .how = how,
              .paths = paths,
              .folder = folder,
              .count = count,
              .worker_count = jobs < count ? jobs : count};
    c.workers = sf_alloc(c.worker_count, sizeof *c.workers);
    c.polled = sf_alloc(c.worker_count, sizeof *c.polled);
    const sf_progress progress = app_progress(how->call);
    app_catch_signals();
    int status =
        c.workers == NULL || c.polled == NULL ? sf_fail_memory(error) : run_all(&c, &progress, error);
    sf_free(c.workers);
    sf_free(c.polled);
    return status;
}
