/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a plugin is: a shared object with one exported function, SF_BACKEND_SYMBOL, that returns its
 * sf_backend. It is part of the program and built from the same source; the program takes no other, so this
 * is no interface for anybody else. What its functions and those of its families return is told in job.h.
 */
#ifndef SF_CORE_BACKEND_PLUGIN_H
#define SF_CORE_BACKEND_PLUGIN_H

#include "core/backend/job.h"

/** Raised with every change of this header, of job.h or of a family's. */
#define SF_BACKEND_VERSION 17u
#define SF_BACKEND_SYMBOL "synfire_backend"

typedef struct sf_backend_facts {
    char description[128]; /**< "NVIDIA H200" */
    uint64_t memory;       /**< bytes of the device */
    uint64_t memory_limit; /**< bytes that jobs may take */
    uint64_t memory_peak;  /**< bytes that jobs took at most */
} sf_backend_facts;

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
    const struct sf_backend_tracking *tracking;   /**< tracks.h */
    const struct sf_backend_pair_counting *pairs; /**< pairs.h */
    const struct sf_backend_moving *moving;       /**< moving.h */
} sf_backend;

typedef const sf_backend *(*sf_backend_entry)(void);

#endif
