/* SPDX-License-Identifier: Apache-2.0 */
/* What ends or pauses the program from outside. */
#include "app/command.h"

#include "app/screen.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static volatile sig_atomic_t stop_signal;
static void (*_Atomic stop_call)(void *user);
static void *_Atomic stop_user;

static void on_signal(int number)
{
    if (stop_signal != 0 && number == SIGINT) {
        sf_last_words_say();
        app_screen_restore();
        _exit(128 + SIGINT);
    }
    stop_signal = number;
    void (*call)(void *) = atomic_load(&stop_call);
    if (call != NULL) call(atomic_load(&stop_user));
}

/* Handles signals that end the program: sends devices the bytes owed to them, then lets the signal end it. */
static void on_end(int number)
{
    sf_last_words_say();
    raise(number); /* whose handler is gone (SA_RESETHAND) */
}

/* Ctrl-Z, or the terminal: a line does not stay up for as long as the program is stopped. */
static void on_pause(int number)
{
    (void)number;
    int before = errno;
    sf_last_words_say();
    raise(SIGSTOP);
    errno = before;
}

static void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

/* Neither ignored, as nohup has it, nor taken by somebody else; false of a number that is no signal. */
static bool is_untaken(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}

static bool pauses(int signal)
{
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Whether the signal ends the program and can be caught; signals that stop or continue it do not count. */
static bool ends(int signal)
{
    return signal != SIGKILL && signal != SIGSTOP && signal != SIGCONT && signal != SIGCHLD &&
           signal != SIGURG && signal != SIGWINCH;
}

void app_catch_signals(void)
{
    handle(SIGINT, on_signal, 0);
    handle(SIGTERM, on_signal, 0);
}

void app_catch_all_signals(void)
{
    app_catch_signals();
    if (is_untaken(SIGHUP)) handle(SIGHUP, on_signal, 0);
    for (int number = 1; number <= SIGRTMAX; number++) {
        if (!is_untaken(number)) continue;
        if (pauses(number))
            handle(number, on_pause, SA_RESTART);
        else if (ends(number))
            handle(number, on_end, (int)SA_RESETHAND);
    }
}

void app_call_on_stop(void (*call)(void *user), void *user)
{
    atomic_store(&stop_user, user);
    atomic_store(&stop_call, call);
    if (call != NULL && stop_signal != 0) call(user);
}

bool app_stop_requested(void)
{
    return stop_signal != 0;
}

int app_stop_signal(void)
{
    return stop_signal;
}
