/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A family of jobs of backends: laying spikes out on the device, and those of a sliding window, which stay
 * there. Each hop's are copied while jobs run, so that a job on the whole window waits for no copy.
 *
 * Positions are those of the stream, counted since its start. window/resident.h is the caller's side.
 */
#ifndef SF_CORE_BACKEND_WINDOW_H
#define SF_CORE_BACKEND_WINDOW_H

#include "core/backend/episodes.h"

typedef struct sf_backend_window sf_backend_window;
typedef struct sf_backend_spikes sf_backend_spikes;

/** A number in sf_backend_layout for a unit whose spikes are left out. */
#define SF_LEFT_OUT UINT32_MAX

/** How spikes are to be laid out: what sf_stream has, as far as it follows from counts. */
typedef struct sf_backend_layout {
    uint32_t window_units;   /**< units of the window's spikes */
    const uint32_t *numbers; /**< window_units: the unit's number in the stream, or SF_LEFT_OUT */
    uint32_t unit_count;     /**< of the stream; numbers ascend with the units */
    uint32_t count;          /**< of the stream's spikes: those of the snapshot that are not left out */
    const uint32_t *first;   /**< unit_count + 1, as in sf_stream */
    int64_t origin_ns;       /**< time of the first of them */
} sf_backend_layout;

/** Returns as in sf_backend. `append` and `snapshot` are called by one thread, while another may run a job on
 * the device; the others like jobs, by one thread at a time. */
struct sf_backend_windows {
    /** An empty window without room. */
    int (*open)(sf_backend_window **window, sf_backend_device *device, sf_error *error);
    void (*close)(sf_backend_window *window); /**< NULL is allowed */
    /** Makes room for at least this many spikes and discards what was stored. */
    int (*reserve)(sf_backend_window *window, uint64_t capacity, sf_error *error);
    uint64_t (*capacity)(const sf_backend_window *window);
    /**
     * Puts spikes at their positions, in place of those a capacity before them; count <= capacity. Copies
     * them before it returns, and waits for nothing that other threads have asked for.
     */
    int (*append)(sf_backend_window *window, uint64_t position, const sf_spike *spikes, size_t count,
                  sf_error *error);
    /** Keeps the spikes at positions first .. first + count - 1 apart from those that are appended later. */
    int (*snapshot)(sf_backend_window *window, uint64_t first, size_t count, sf_error *error);
    /** A stream of the newest snapshot, as if those spikes had been copied by stream_open. */
    int (*stream)(sf_backend_stream **stream, sf_backend_window *window, const sf_backend_layout *layout,
                  sf_error *error);
    /**
     * Copies spikes of the program's memory that no window keeps. Where unit_spikes, of unit_count, is given,
     * what each unit fires is counted there; *wrong is the first spike that is of no unit or not in the order
     * (time, unit), which nobody may lay out, or `count`.
     */
    int (*send)(sf_backend_spikes **sent, sf_backend_device *device, const sf_spike *spikes, size_t count,
                uint64_t *unit_spikes, uint32_t unit_count, size_t *wrong, sf_error *error);
    void (*forget)(sf_backend_spikes *sent); /**< NULL is allowed */
    /** As `stream`, of spikes that were sent. */
    int (*lay_out)(sf_backend_stream **stream, sf_backend_spikes *sent, const sf_backend_layout *layout,
                   sf_error *error);
};

#endif
