/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the library asks of the operating system beyond C11 and POSIX threads: platform_linux.c, or
 * platform_windows.c. Of this library only those two know which system it is. Any thread.
 */
#ifndef SF_CORE_PLATFORM_H
#define SF_CORE_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- threads and the processor ---- */

/** Starts a thread that takes no signals, under the first 15 characters of a name where threads have some.
 * Returns 0, or an errno. */
int sf_platform_start(pthread_t *id, const char *name, void *(*run)(void *), void *argument);

/** The calling thread goes behind others; on Linux also those that it starts from now on. */
void sf_platform_give_way(void);

/** Cores that the calling thread may run on, at least 1. */
unsigned sf_platform_cores(void);

/** What the system calls the processor; "unknown processor" where it does not say. */
void sf_platform_processor(char *name, size_t size);

/** Rights of a thread before others (core/realtime.h): 0, or an errno; ENOTSUP where the system has none. */
int sf_platform_set_priority(pthread_t id, uint32_t priority);
int sf_platform_pin(pthread_t id, uint32_t core);
int sf_platform_lock_memory(void);

/** The highest priority that this process may ask for; 0: none. */
uint32_t sf_platform_most_priority(void);

/* ---- a wake-up ---- */

/** What a bell (core/thread.h) is of the system: on Linux an eventfd. -1 with errno where there is none. */
int sf_platform_bell_open(void);
void sf_platform_bell_close(int bell);
void sf_platform_bell_ring(int bell);
bool sf_platform_bell_wait(int bell, int timeout_ms);

/** A clock that nobody sets and that goes on while the machine is suspended. Real-time safe. */
int64_t sf_platform_monotonic_ns(void);

/** Until that clock shows this. */
void sf_platform_sleep_until(int64_t deadline_ns);

/* ---- memory ---- */

/** A hint: this many bytes from an address on, whole large pages, are best backed by such pages. */
void sf_platform_large_pages(void *begin, size_t bytes);

/** How many bytes a block of malloc has room for. */
size_t sf_platform_block_bytes(void *block);

/* ---- files and modules ---- */

/** The path, with slashes, of the library that this function is part of, or of the program that has it linked
 * in. */
bool sf_platform_own_path(char *path, size_t size);

/** The user's folder for what can be made again: $XDG_CACHE_HOME, else ~/.cache; on Windows
 * %LOCALAPPDATA%. */
bool sf_platform_cache_folder(char *path, size_t size);

/** Makes a folder for the user alone; one that is there stays. */
void sf_platform_make_folder(const char *path);

/** Gives a file another's name, in whose place it then is. */
bool sf_platform_replace(const char *from, const char *to);

/** Whether it may replace one that is open; where not that is to be closed before. */
bool sf_platform_replaces_open_files(void);

/** Loads a module; NULL, and a sentence in `why`, where that fails. */
void *sf_platform_load(const char *path, char *why, size_t size);

/** The address of what a module calls so, or NULL. */
void *sf_platform_symbol(void *module, const char *name);
void sf_platform_unload(void *module);

/* ---- what C libraries have under names of their own ---- */

/** Sorts by compare(a, b, context). */
void sf_platform_sort(void *items, size_t count, size_t size,
                      int (*compare)(const void *a, const void *b, void *context), void *context);

/** The logarithm of gamma(x), x above 0, on any number of threads at once. */
double sf_platform_log_gamma(double x);

#endif
