/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices: which exist beside the CPU, their properties, and where work ran.
 *
 * Work that can run on a device takes its name as an option: "cpu"; "cuda", the first GPU; "cuda:1", the
 * second; "cuda:all", all together, for work that can be divided; NULL or "auto", a GPU where that is faster.
 * The results are the same. If a device refuses work as too large, or fails at it, the other devices of
 * "cuda:all" or the CPU do it, and the result says so (sf_ran). A device that has failed is not used again.
 *
 * Devices belong to the process: all functions here may be called from any thread.
 */
#ifndef SYNFIRE_DEVICE_H
#define SYNFIRE_DEVICE_H

#include <synfire/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where work ran, and why not elsewhere. */
typedef struct sf_ran {
    const char *engine; /**< the implementation that did it, a literal; NULL if there is only one */
    char device[32];    /**< "cpu", "cuda:0", "cuda:all (2)" with the number of devices that worked */
    /** One sentence: why a device that was requested or chosen did not do the work, or its share; else empty.
     * `device` says what did it. */
    char note[256];
    double seconds;  /**< duration of the work, without its preparation (each result says what that is) */
    uint64_t memory; /**< maximum bytes allocated, on the device that took most; 0 on the CPU */
} sf_ran;

/** A list of all devices. */
typedef struct sf_devices sf_devices;

/** One entry per device, ordered by name. */
typedef struct sf_devices_columns {
    size_t size; /**< set by the caller: sizeof(sf_devices_columns) */
    size_t count;
    const char *const *names;        /**< "cuda:0" */
    const char *const *descriptions; /**< "NVIDIA H200"; empty if the device does not start */
    const uint64_t *memory;          /**< total bytes; 0 if the device does not start */
    const uint64_t *memory_limit;    /**< bytes that jobs may take; 0 if the device does not start */
    const uint64_t *memory_peak;     /**< maximum bytes that jobs of this process have taken */
    const char *const *why_not;      /**< NULL: usable; else one sentence that says why not */
    const char *why_none; /**< NULL if there is a device; else one sentence that says why there is none */
} sf_devices_columns;

/**
 * Lists all devices. Starts those that have not been started, which takes some tenths of a second and waits
 * for running jobs. A machine without devices is not an error. SF_NO_MEMORY. Free the list with
 * sf_devices_free.
 */
SF_API int sf_devices_list(sf_devices **devices, sf_error *error);

/** Fills the columns up to their `size`; arrays live as long as the list. */
SF_API void sf_devices_get_columns(const sf_devices *devices, sf_devices_columns *columns);

SF_API void sf_devices_free(sf_devices *devices); /**< NULL is allowed */

/**
 * Checks that work may be given this device name; starts the device. `divides`: the work can be divided among
 * several devices. SF_USAGE for an invalid name, SF_UNAVAILABLE if the device is missing or does not start.
 */
SF_API int sf_device_check(const char *name, bool divides, sf_error *error);

/** Limits the bytes that jobs may take on each device started from now on; 0, the default: most of the free
 * memory. */
SF_API void sf_device_set_memory_limit(uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
