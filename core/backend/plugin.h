/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a plugin is: a shared object with one exported function, SF_BACKEND_SYMBOL, that returns its
 * sf_backend. It is part of the program and built from the same source; the program takes no other, so this
 * is no interface for anybody else. Families of jobs have a header each, included by those alone that have to
 * do with them.
 *
 * Everything that crosses the border is plain arrays and numbers: a plugin shares no allocator with the
 * program. Arrays of a job are borrowed for the call.
 */
#ifndef SF_CORE_BACKEND_PLUGIN_H
#define SF_CORE_BACKEND_PLUGIN_H

#include <synfire/error.h>

/** Raised with every change of this header or of a family's. */
#define SF_BACKEND_VERSION 7u
#define SF_BACKEND_SYMBOL "synfire_backend"

#define SF_MOST_DEVICES 16 /**< that work is divided among */

typedef struct sf_backend_facts {
    char description[128]; /**< "NVIDIA H200" */
    uint64_t memory;       /**< bytes of the device */
    uint64_t memory_limit; /**< bytes that jobs may take */
    uint64_t memory_peak;  /**< bytes that jobs took at most */
} sf_backend_facts;

typedef struct sf_backend_device sf_backend_device;

/**
 * Functions, those of families too, return SF_OK or
 *   SF_UNAVAILABLE  the job is not for this device (too large, unknown engine): another may do it;
 *   SF_CANCELLED, SF_NO_MEMORY, SF_DATA: stopped, out of the program's memory, or what a job's `take`
 * returned; anything else   the device has failed: it is not used again. The text says what was found. One
 * device is used by one thread at a time.
 */
typedef struct sf_backend {
    uint32_t version;    /**< SF_BACKEND_VERSION; first in every version */
    const char *release; /**< SYNFIRE_VERSION: that of the program */
    const char *name;    /**< "cuda" */

    /** How many devices there are. 0: `why` says in a few words why none; no driver is no error. */
    uint32_t (*device_count)(char *why, size_t size);
    /** memory_limit 0: the backend's own default. */
    int (*open)(sf_backend_device **device, uint32_t index, uint64_t memory_limit, sf_error *error);
    void (*close)(sf_backend_device *device); /**< NULL is allowed */
    void (*facts)(const sf_backend_device *device, sf_backend_facts *facts);

    /** Families of jobs, each declared in the header of its name; NULL: the backend does not have it. */
    const struct sf_backend_episodes *episodes;
    const struct sf_backend_surrogates *surrogates;
    const struct sf_backend_density *density;
    const struct sf_backend_graphs *graphs; /**< what bfs and match work on: graph.h */
    const struct sf_backend_bfs *bfs;
    const struct sf_backend_match *match;
    const struct sf_backend_windows *windows; /**< window.h */
    const struct sf_backend_rewire *rewire;
} sf_backend;

typedef const sf_backend *(*sf_backend_entry)(void);

#endif
