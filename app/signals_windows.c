/* SPDX-License-Identifier: Apache-2.0 */
/* What ends the program from outside: Ctrl-C as SIGINT, and the console's end as SIGTERM. Windows calls this
 * in a thread of its own. */
#include "app/command.h"

#include "app/screen.h"

#include <signal.h>
#include <stdatomic.h>
#include <windows.h>

static atomic_int stop_signal;

static BOOL WINAPI on_end(DWORD what)
{
    int number = what == CTRL_C_EVENT || what == CTRL_BREAK_EVENT ? SIGINT : SIGTERM;
    if (atomic_exchange(&stop_signal, number) != 0 && number == SIGINT) {
        app_screen_restore();
        TerminateProcess(GetCurrentProcess(), 128 + SIGINT);
    }
    return TRUE;
}

void app_catch_signals(void)
{
    SetConsoleCtrlHandler(on_end, TRUE);
}

bool app_stop_requested(void)
{
    return app_stop_signal() != 0;
}

int app_stop_signal(void)
{
    return atomic_load(&stop_signal);
}
