/* SPDX-License-Identifier: Apache-2.0 */
/* A job object holds the process: it limits its memory, and ends it with this process. The parcel is a file
 * that is deleted when closed and that no other process can open; the reader has it as its output. */
#include "io/apart_process.h"

#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <windows.h>

const char sf_apart_program[] = "synfire-read.exe";

#define PROGRAM_MEMORY ((uint64_t)64 << 20) /* of the program itself */
#define TICKS_PER_SECOND 10000000           /* of 100 ns */

/* ---- starting the program ---- */

/* Quotes an argument as the C library of Windows parses a command line: backslashes count only before quotes.
 */
static void add_word(sf_text *line, const char *word)
{
    size_t slashes = 0;
    sf_text_append(line, " \"", line->length > 0 ? 2 : 0);
    if (line->length == 0) sf_text_append(line, "\"", 1);
    for (const char *c = word; *c != '\0'; c++) {
        for (size_t i = 0; *c == '"' && i < slashes + 1; i++)
            sf_text_append(line, "\\", 1);
        slashes = *c == '\\' ? slashes + 1 : 0;
        sf_text_append(line, c, 1);
    }
    for (size_t i = 0; i < slashes; i++)
        sf_text_append(line, "\\", 1);
    sf_text_append(line, "\"", 1);
}

static HANDLE make_parcel(void)
{
    char folder[MAX_PATH], path[MAX_PATH];
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    if (GetTempPathA(sizeof folder, folder) == 0 || GetTempFileNameA(folder, "syn", 0, path) == 0)
        return INVALID_HANDLE_VALUE;
    return CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, &inherited, CREATE_ALWAYS,
                       FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
}

static HANDLE make_job(uint64_t memory)
{
    HANDLE job = CreateJobObjectA(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
                                              JOB_OBJECT_LIMIT_PROCESS_MEMORY |
                                              JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    limits.ProcessMemoryLimit = PROGRAM_MEMORY + memory;
    if (job != NULL) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

/* Inherits only the two handles that the process needs, of all inheritable ones. */
static bool create(const char *program, char *line, HANDLE parcel, HANDLE nothing, PROCESS_INFORMATION *made)
{
    HANDLE given[] = {parcel, nothing};
    STARTUPINFOEXA how = {.StartupInfo = {.cb = sizeof how,
                                          .dwFlags = STARTF_USESTDHANDLES,
                                          .hStdInput = nothing,
                                          .hStdOutput = parcel,
                                          .hStdError = nothing}};
    char room[256];
    SIZE_T size = sizeof room;
    how.lpAttributeList = (LPPROC_THREAD_ATTRIBUTE_LIST)(void *)room;
    if (!InitializeProcThreadAttributeList(how.lpAttributeList, 1, 0, &size)) return false;
    UpdateProcThreadAttribute(how.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, given, sizeof given,
                              NULL, NULL);
    bool created = CreateProcessA(program, line, NULL, NULL, TRUE,
                                  CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP |
                                      EXTENDED_STARTUPINFO_PRESENT,
                                  NULL, NULL, &how.StartupInfo, made);
    DeleteProcThreadAttributeList(how.lpAttributeList);
    return created;
}

static HANDLE handle_of(const sf_apart_process *it)
{
    return (HANDLE)it->process;
}

static double seconds_of(FILETIME time)
{
    return (double)((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) / TICKS_PER_SECOND;
}

/* Subtracts the time reported at the start, because wine reports the time of the calling process. */
double sf_apart_processor_seconds(const sf_apart_process *it)
{
    FILETIME begun, ended, system, user;
    if (!GetProcessTimes(handle_of(it), &begun, &ended, &system, &user)) return 0;
    return seconds_of(system) + seconds_of(user) - it->begun_s;
}

int sf_apart_start(sf_apart_process *it, const char *program, const char *kind, const char *path,
                   const char *stream, uint64_t memory)
{
    sf_text line = {0};
    const char *const words[] = {program, "0", kind, path, stream};
    for (size_t i = 0; i < sizeof words / sizeof words[0] && words[i] != NULL; i++)
        add_word(&line, words[i]);
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE job = make_job(memory), parcel = make_parcel();
    HANDLE nothing = CreateFileA("NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                 &inherited, OPEN_EXISTING, 0, NULL);
    PROCESS_INFORMATION made = {0};
    it->lifeline = job != NULL ? (intptr_t)job : -1;
    it->parcel =
        parcel != INVALID_HANDLE_VALUE ? _open_osfhandle((intptr_t)parcel, O_BINARY | O_CLOEXEC) : -1;
    int failed = line.failed ? ENOMEM : it->lifeline == -1 || it->parcel < 0 ? EMFILE : 0;
    if (failed == 0 && !create(program, line.data, parcel, nothing, &made)) failed = ENOENT;
    if (failed == 0) {
        AssignProcessToJobObject(job, made.hProcess);
        it->process = (intptr_t)made.hProcess;
        it->begun_s = sf_apart_processor_seconds(it);
        ResumeThread(made.hThread);
        CloseHandle(made.hThread);
    }
    if (nothing != INVALID_HANDLE_VALUE) CloseHandle(nothing);
    sf_text_free(&line);
    return failed;
}

void sf_apart_close(sf_apart_process *it)
{
    if (it->parcel >= 0) close(it->parcel);
    if (it->process != 0) CloseHandle(handle_of(it));
    if (it->lifeline != -1) CloseHandle((HANDLE)it->lifeline);
}

/* ---- waiting for its end ---- */

bool sf_apart_has_ended(const sf_apart_process *it, int *how)
{
    DWORD code = 0;
    if (WaitForSingleObject(handle_of(it), 0) != WAIT_OBJECT_0) return false;
    GetExitCodeProcess(handle_of(it), &code);
    *how = (int)code;
    return true;
}

void sf_apart_nap(const sf_apart_process *it, int ms)
{
    WaitForSingleObject(handle_of(it), (DWORD)ms);
}

void sf_apart_kill(const sf_apart_process *it)
{
    TerminateJobObject((HANDLE)it->lifeline, ERROR_CANCELLED);
    WaitForSingleObject(handle_of(it), INFINITE);
}

/* Exit codes from here on mean that the process was ended by an exception. */
#define EXCEPTION_CODES 0xc0000000u

sf_apart_end sf_apart_judge(int how, int *code, const char **name)
{
    unsigned said = (unsigned)how;
    *code = how;
    if (said == 0) return SF_APART_ANSWERED;
    if (said == ERROR_NOT_ENOUGH_QUOTA) /* as reader/limits_windows.c leaves */
        return SF_APART_ENDLESS;
    *name = said == EXCEPTION_ACCESS_VIOLATION         ? "access violation"
            : said == EXCEPTION_STACK_OVERFLOW         ? "stack overflow"
            : said == EXCEPTION_INT_DIVIDE_BY_ZERO     ? "division by zero"
            : said == EXCEPTION_ILLEGAL_INSTRUCTION    ? "illegal instruction"
            : said == (unsigned)STATUS_HEAP_CORRUPTION ? "damaged heap"
                                                       : "exception";
    if (said == 3) { /* how abort() leaves */
        *name = "abort";
        return SF_APART_CRASHED;
    }
    if (said == (unsigned)STATUS_CONTROL_C_EXIT || said == ERROR_CANCELLED) {
        *name = "ended";
        return SF_APART_STOPPED;
    }
    return said >= EXCEPTION_CODES ? SF_APART_CRASHED : SF_APART_LEFT;
}

/* ---- the parcel ---- */

/* The process has ended, and no other can have the file open. */
bool sf_apart_seal(int parcel)
{
    return parcel >= 0;
}

bool sf_apart_is_sealed(int parcel)
{
    return parcel >= 0;
}
