/* SPDX-License-Identifier: Apache-2.0 */
/* Before main: what is read and written is bytes, as everywhere, and a console takes them as UTF-8. */
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

static UINT code_page;

static void put_back(void)
{
    SetConsoleOutputCP(code_page);
}

static void show_colours(DWORD which)
{
    HANDLE console = GetStdHandle(which);
    DWORD mode;
    if (GetConsoleMode(console, &mode)) SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

__attribute__((constructor)) static void begin(void)
{
    _fmode = _O_BINARY;
    for (int fd = 0; fd < 3; fd++)
        _setmode(fd, _O_BINARY);
    code_page = GetConsoleOutputCP();
    if (code_page != 0 && SetConsoleOutputCP(CP_UTF8)) atexit(put_back);
    show_colours(STD_OUTPUT_HANDLE);
    show_colours(STD_ERROR_HANDLE);
}
