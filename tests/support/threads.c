/* SPDX-License-Identifier: Apache-2.0 */
/* ThreadSanitizer looks at the tests that start threads, thread_tests of tests/CMakeLists.txt. Any other ends
 * where it starts one, so that the list misses none: this stands before the pthread_create of the C library,
 * for libraries too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
create pthread_create;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    if (getenv("SYNFIRE_TEST_ALONE") != NULL) {
        fprintf(stderr, "this test starts a thread: name it in thread_tests of tests/CMakeLists.txt\n");
        abort();
    }
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    create *next;
    memcpy(&next, &found, sizeof next);
    return next(thread, attributes, run, argument);
}
