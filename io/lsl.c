/* SPDX-License-Identifier: Apache-2.0 */
#include "io/lsl.h"

#include "core/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    void *file; /* never unloaded: it has threads of its own */
    sf_lsl functions;
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define FUNCTION(NAME)                                                                                       \
    {                                                                                                        \
        "lsl_" #NAME, offsetof(sf_lsl, NAME)                                                                 \
    }

static const struct {
    const char *name;
    size_t offset;
} functions[] = {FUNCTION(local_clock),
                 FUNCTION(library_version),
                 FUNCTION(destroy_string),
                 FUNCTION(create_streaminfo),
                 FUNCTION(destroy_streaminfo),
                 FUNCTION(get_name),
                 FUNCTION(get_type),
                 FUNCTION(get_hostname),
                 FUNCTION(get_channel_count),
                 FUNCTION(get_channel_format),
                 FUNCTION(get_nominal_srate),
                 FUNCTION(get_desc),
                 FUNCTION(child),
                 FUNCTION(next_sibling_n),
                 FUNCTION(append_child),
                 FUNCTION(append_child_value),
                 FUNCTION(child_value_n),
                 FUNCTION(empty),
                 FUNCTION(create_continuous_resolver_byprop),
                 FUNCTION(resolver_results),
                 FUNCTION(destroy_continuous_resolver),
                 FUNCTION(create_inlet),
                 FUNCTION(destroy_inlet),
                 FUNCTION(get_fullinfo),
                 FUNCTION(open_stream),
                 FUNCTION(time_correction),
                 FUNCTION(pull_sample_d),
                 FUNCTION(pull_sample_str),
                 FUNCTION(create_outlet),
                 FUNCTION(destroy_outlet),
                 FUNCTION(have_consumers),
                 FUNCTION(push_sample_itp),
                 FUNCTION(push_sample_strtp)};

#define FUNCTIONS (sizeof functions / sizeof functions[0])

_Static_assert(sizeof(sf_lsl) == FUNCTIONS * sizeof(void (*)(void)), "every function of sf_lsl is listed");

static int open_library(sf_error *error)
{
    static const char *const names[] = {"liblsl.so.2", "liblsl.so", "liblsl.so.1", "liblsl64.so"};
    const char *wanted = getenv("PYLSL_LIB");
    if (wanted != NULL && wanted[0] != '\0') {
        loaded.file = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
        return loaded.file != NULL
                   ? SF_OK
                   : sf_fail(error, SF_UNAVAILABLE, "PYLSL_LIB", "cannot load liblsl: %s", dlerror());
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0] && loaded.file == NULL; i++)
        loaded.file = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (loaded.file != NULL) return SF_OK;
    return sf_fail(error, SF_UNAVAILABLE, "lsl",
                   "Lab Streaming Layer needs liblsl: install its package from "
                   "https://github.com/sccn/liblsl/releases, or set PYLSL_LIB to the file liblsl.so");
}

static int find_functions(sf_error *error)
{
    for (size_t i = 0; i < FUNCTIONS; i++) {
        void *function = dlsym(loaded.file, functions[i].name);
        if (function == NULL)
            return sf_fail(error, SF_UNAVAILABLE, "lsl",
                           "this liblsl has no %s: install version 1.12 or newer", functions[i].name);
        memcpy((char *)&loaded.functions + functions[i].offset, &function, sizeof function);
    }
    return SF_OK;
}

int sf_lsl_load(const sf_lsl **lsl, sf_error *error)
{
    *lsl = &loaded.functions;
    pthread_mutex_lock(&loaded.lock);
    int status = SF_OK;
    if (loaded.file == NULL) {
        status = open_library(error);
        if (status == SF_OK) status = find_functions(error);
        if (status != SF_OK && loaded.file != NULL) {
            dlclose(loaded.file);
            loaded.file = NULL;
        }
    }
    pthread_mutex_unlock(&loaded.lock);
    return status;
}

int sf_lsl_refuse(const char *place, const char *permit, sf_error *error)
{
    return sf_fail(
        error, SF_USAGE, place,
        "every machine of the network can hear a stream of Lab Streaming Layer, and nobody is asked "
        "who they are: say %s to allow that",
        permit);
}

sf_lsl_outlet sf_lsl_open_outlet(const sf_lsl *lsl, const char *name, const char *type, int32_t format,
                                 void (*describe)(const sf_lsl *lsl, sf_lsl_node node, const void *of),
                                 const void *of)
{
    sf_lsl_info info = lsl->create_streaminfo(name, type, 1, 0, format, name);
    if (info == NULL) return NULL;
    if (describe != NULL) describe(lsl, lsl->get_desc(info), of);
    sf_lsl_outlet outlet = lsl->create_outlet(info, 0, SF_LSL_BUFFERED);
    lsl->destroy_streaminfo(info);
    return outlet;
}
