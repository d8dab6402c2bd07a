/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices: which there are beside the CPU, what each is, and where work has run.
 *
 * Work that can run on a device takes its name as an option: "cpu"; "cuda", the first GPU; "cuda:1", the
 * second; "cuda:all", all together, where work can be divided; NULL or "auto", a GPU where that is faster.
 * The results are the same. What a device refuses as too large, or fails at, is done by others of "cuda:all"
 * or by the CPU, and the result says so (sf_ran). A device that has failed is not used again.
 *
 * Devices belong to the process: all functions here may be called from any thread.
 */
#ifndef SYNFIRE_DEVICE_H
#define SYNFIRE_DEVICE_H

#include <synfire/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What ran where, and why not elsewhere. */
typedef struct sf_ran {
    const char *engine; /**< the way it was done, a literal; NULL where there is but one */
    char device[32];    /**< "cpu", "cuda:0", "cuda:all (2)" by how many did it */
    /** Or empty: why a device asked for or chosen did not do it, or not its share; a sentence. `device` says
     * what did. */
    char note[256];
    double seconds;  /**< that the work took, without what was prepared for it (each result says what) */
    uint64_t memory; /**< bytes taken at most, on the device that took most; 0 on the CPU */
} sf_ran;

/** A list of the devices that there are. */
typedef struct sf_devices sf_devices;

/** One entry a device, in the order of their names. */
typedef struct sf_devices_columns {
    size_t size; /**< set by the caller: sizeof(sf_devices_columns) */
    size_t count;
    const char *const *names;        /**< "cuda:0" */
    const char *const *descriptions; /**< "NVIDIA H200"; empty where the device does not start */
    const uint64_t *memory;          /**< bytes it has; 0 where it does not start */
    const uint64_t *memory_limit;    /**< bytes that jobs may take; the same */
    const uint64_t *memory_peak;     /**< bytes that jobs of this process have taken at most */
    const char *const *why_not;      /**< NULL: usable; else a sentence: why not */
    const char *why_none;            /**< NULL where there is a device; else a sentence: why there is none */
} sf_devices_columns;

/**
 * Lists all devices, starting those that have not been started: that takes some tenths of a second, and waits
 * for jobs that run. A machine without any is no error. SF_NO_MEMORY. Freed by sf_devices_free.
 */
SF_API int sf_devices_list(sf_devices **devices, sf_error *error);

/** Fills as much of the columns as their size tells; they live as long as the list. */
SF_API void sf_devices_get_columns(const sf_devices *devices, sf_devices_columns *columns);

SF_API void sf_devices_free(sf_devices *devices); /**< NULL is allowed */

/**
 * Whether work may be given this name; a device is started. `divides`: the work can be divided among several.
 * SF_USAGE for a name that is none, SF_UNAVAILABLE where the device is missing or does not start.
 */
SF_API int sf_device_check(const char *name, bool divides, sf_error *error);

/** Bytes that jobs may take of each device started from now on; 0, as at first: most of what is free. */
SF_API void sf_device_set_memory_limit(uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
