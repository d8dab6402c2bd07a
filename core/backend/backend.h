/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Accelerators: what a plugin offers, and how the program finds and uses it.
 *
 * A plugin is a shared object with one exported function, SF_BACKEND_SYMBOL, that returns its sf_backend. The
 * CPU needs none: every operation has its way on the CPU in the module that asks for it, and that is what
 * runs where there is no device, where a device refuses a job as too large, and after a device has failed.
 *
 * Everything that crosses the border is plain arrays and numbers: a plugin shares no allocator with the
 * program. Arrays of a job are borrowed for the call.
 */
#ifndef SF_CORE_BACKEND_BACKEND_H
#define SF_CORE_BACKEND_BACKEND_H

#include "core/progress.h"

#include <synfire/mine.h>

/* ---- what a plugin offers ---- */

/** Raised with every change of what follows; the program refuses a plugin of another version. */
#define SF_BACKEND_VERSION 6u
#define SF_BACKEND_SYMBOL "synfire_backend"

typedef enum sf_operation {
    SF_OPERATION_COUNT, /**< counting given episodes */
    SF_OPERATION_MINE   /**< finding the frequent episodes */
} sf_operation;

/** Spikes in stream order and by unit, as sf_events lays them out (mine/events.h). Times are ns since the
 * first spike, never negative. */
typedef struct sf_stream {
    uint32_t unit_count, count;
    const int64_t *times;      /**< by position */
    const uint32_t *owner;     /**< by position: the unit */
    const uint32_t *first;     /**< unit_count + 1: unit u's spikes are places first[u] .. first[u + 1] - 1 */
    const uint32_t *positions; /**< by place: ascending positions of each unit */
} sf_stream;

/** Episodes of one size, one after the other in flat arrays. Engines gain where neighbours share a prefix. */
typedef struct sf_candidates {
    uint32_t size; /**< 1 .. SF_EPISODE_MAX_SIZE */
    size_t count;
    const uint32_t *units;  /**< count * size, units of the stream */
    const uint32_t *delays; /**< count * (size - 1), indices into `intervals` */
    const sf_delay *intervals;
    size_t interval_count;
} sf_candidates;

/** counts[i] = count of candidate i among the spikes at positions first <= p < last, as if there were no
 * others. */
typedef struct sf_backend_count {
    const char *engine; /**< a name the backend lists */
    uint32_t first, last;
    const sf_candidates *candidates;
    uint32_t least; /**< of a count below it only that it is below matters; 0: every count matters */
    uint32_t
        crossover; /**< hybrid, two-pass: from how many episodes on ptpe is faster than mtpe; 0: always */
    uint32_t *counts;
    uint64_t *culled; /**< how many a bound ruled out is added */
} sf_backend_count;

/** A frequent episode: the episode without its last unit, in the level before, and what follows it. */
typedef struct sf_found {
    uint32_t parent; /**< size 2: the first unit */
    uint32_t step;   /**< delay index * unit_count + unit */
    uint32_t count;
} sf_found;

/**
 * Finds every frequent episode of two and more units over the stream, all of whose units are frequent. An
 * episode is frequent with `least` or more occurrences and if each unit may follow the one before.
 */
typedef struct sf_backend_mine {
    const char *engine;
    const sf_delay *delays;
    uint32_t delay_count;           /**< delay_count * unit_count fits into 32 bits */
    uint32_t least;                 /**< at least 1 */
    uint32_t max_size;              /**< 2 .. SF_EPISODE_MAX_SIZE */
    uint32_t first_unit, last_unit; /**< only episodes that begin with unit first_unit <= u < last_unit */
    uint64_t most; /**< stop once more episodes than this are found: the last level taken shows it */
    bool self;     /**< a unit may follow itself directly */
    /** Or NULL: bit `to & 31` of word from * ((unit_count + 31) / 32) + to / 32 forbids that unit `to`
     * follows unit `from`. */
    const uint32_t *forbidden;
    const sf_progress *progress; /**< asked between levels */
    /**
     * Takes a level, in order of parent, then step; called for size 2 and up until a level is empty or
     * max_size is done. Borrowed for the call. Anything but SF_OK stops the mining with that status.
     */
    int (*take)(void *user, uint32_t size, const sf_found *found, size_t count, double seconds);
    void *user;
} sf_backend_mine;

typedef struct sf_backend_facts {
    char description[128]; /**< "NVIDIA H200" */
    uint64_t memory;       /**< bytes of the device */
    uint64_t memory_limit; /**< bytes that jobs may take */
    uint64_t memory_peak;  /**< bytes that jobs took at most */
} sf_backend_facts;

typedef struct sf_backend_device sf_backend_device;
typedef struct sf_backend_stream sf_backend_stream;

/**
 * Functions return SF_OK or
 *   SF_UNAVAILABLE  the job is not for this device (too large, unknown engine): another may do it;
 *   SF_CANCELLED, SF_NO_MEMORY, SF_DATA: stopped, out of the program's memory, or what `take` returned;
 *   anything else   the device has failed: it is not used again.
 * The text says what was found. One device is used by one thread at a time.
 */
typedef struct sf_backend {
    uint32_t version; /**< SF_BACKEND_VERSION; first in every version */
    const char *name; /**< "cuda" */

    /** How many devices there are. 0: `why` says in a few words why none; no driver is no error. */
    uint32_t (*device_count)(char *why, size_t size);
    /** memory_limit 0: the backend's own default. */
    int (*open)(sf_backend_device **device, uint32_t index, uint64_t memory_limit, sf_error *error);
    void (*close)(sf_backend_device *device); /**< NULL is allowed */
    void (*facts)(const sf_backend_device *device, sf_backend_facts *facts);
    bool (*supports)(const sf_backend_device *device, sf_operation operation, const char *engine);

    /** Copies the spikes to the device: one stream serves any number of jobs. */
    int (*stream_open)(sf_backend_stream **stream, sf_backend_device *device, const sf_stream *spikes,
                       sf_error *error);
    void (*stream_close)(sf_backend_stream *stream); /**< NULL is allowed */
    int (*count)(sf_backend_stream *stream, const sf_backend_count *job, sf_error *error);
    int (*mine)(sf_backend_stream *stream, const sf_backend_mine *job, sf_error *error);

    /** Families of jobs, each declared in core/backend_FAMILY.h; NULL: the backend does not have it. */
    const struct sf_backend_surrogates *surrogates;
    const struct sf_backend_density *density;
    const struct sf_backend_graphs *graphs; /**< what bfs and match work on: core/backend/graph.h */
    const struct sf_backend_bfs *bfs;
    const struct sf_backend_match *match;
    const struct sf_backend_windows *windows; /**< core/backend/window.h */
    const struct sf_backend_rewire *rewire;
} sf_backend;

typedef const sf_backend *(*sf_backend_entry)(void);

/* ---- how the program uses it ---- */

/** A device of a loaded plugin, shared by all who use it. */
typedef struct sf_device sf_device;

/**
 * The device of that name: "cuda" is the first, "cuda:1" the second. NULL or "cpu" gives NULL: the CPU. A
 * plugin is looked for in the build directory of this very program, or else where the program is installed,
 * nowhere else, and loaded once. SF_UNAVAILABLE says what is missing, or that the device has failed; SF_USAGE
 * for a name that is none, or that is more than one.
 */
int sf_device_find(sf_device **device, const char *name, sf_error *error);

/** The name of all devices together begins with the backend's: "cuda:all". */
#define SF_ALL_DEVICES ":all"
#define SF_MOST_DEVICES 16

/**
 * The devices of that name, to divide a job among: "cuda:all" is the first `most`, at least 1, of those that
 * start and have not failed; they start side by side. Any other name that of sf_device_find. *count 0: the
 * CPU. Errors as sf_device_find.
 */
int sf_devices_find(sf_device *devices[SF_MOST_DEVICES], uint32_t most, uint32_t *count, const char *name,
                    sf_error *error);

/**
 * The first device in order, for work that the CPU would need `seconds` for; NULL where there is none or
 * starting one costs more than it saves.
 */
sf_device *sf_device_auto(double seconds);

const char *sf_device_name(const sf_device *device); /**< "cuda:0"; "cpu" for NULL */
void sf_device_facts(sf_device *device, sf_backend_facts *facts);
bool sf_device_supports(const sf_device *device, sf_operation operation, const char *engine);

/** Whether the name is auto, cpu, or could be that of devices, as cuda, cuda:1 or cuda:all. Looks for none.
 */
bool sf_device_may_be(const char *name);

/** Bytes that jobs had taken at most when the last one ended; waits for no job. NULL: 0. */
uint64_t sf_device_memory(const sf_device *device);

/** Bytes that jobs may take on devices opened from now on; 0: most of what is free. */
void sf_device_set_memory_limit(uint64_t bytes);

/** How many devices there are, and each. Opens none. */
uint32_t sf_device_count(void);
sf_device *sf_device_at(uint32_t index);

/** Whether the device has failed, with the sentence that tells how. A sick device is not used again. */
bool sf_device_sick(sf_device *device, sf_error *error);

/**
 * The spikes on a device, and jobs on them. One job at a time runs on a device: others wait. A failure other
 * than those named at sf_backend marks the device sick, is logged, and comes back as SF_UNAVAILABLE: the
 * caller's answer to SF_UNAVAILABLE is always to do the work on the CPU.
 */
typedef struct sf_device_stream sf_device_stream;

int sf_device_stream_open(sf_device_stream **stream, sf_device *device, const sf_stream *spikes,
                          sf_error *error);
void sf_device_stream_close(sf_device_stream *stream);
int sf_device_count_episodes(sf_device_stream *stream, const sf_backend_count *job, sf_error *error);
int sf_device_mine(sf_device_stream *stream, const sf_backend_mine *job, sf_error *error);

/**
 * For a module that brings a family of jobs to devices. sf_device_hold waits until no other job runs on the
 * device, opens it if it is the first, and holds it: SF_UNAVAILABLE where it is sick or does not start, and
 * then it is not held. sf_device_release ends the job: `status` and `failure` are what the backend said, what
 * the caller is to answer is returned and recorded, as above. What lies on a device is given back by
 * sf_device_discard, which works on a sick one too.
 */
int sf_device_hold(sf_device *device, sf_error *error);
int sf_device_release(sf_device *device, int status, const sf_error *failure, sf_error *error);
void sf_device_discard(sf_device *device, void (*close)(void *object), void *object);
const sf_backend *sf_device_backend(const sf_device *device);

/**
 * For calls into a backend that need not hold the device: what sf_device_release does but for ending a job.
 */
int sf_device_answer(sf_device *device, int status, const sf_error *failure, sf_error *error);

/** Takes over a stream that a family has made on this device, which is held. SF_NO_MEMORY: it is closed. */
int sf_device_stream_adopt(sf_device_stream **stream, sf_device *device, sf_backend_stream *made,
                           sf_error *error);
sf_backend_device *sf_device_opened(const sf_device *device); /**< while held */

/** Closes every device and forgets every plugin; nothing may be using them. The next call that looks for a
 * device starts anew. */
void sf_devices_close(void);

/** Tests: uses the plugin in this file, and no other, from now on. SF_UNAVAILABLE says why it is refused. */
int sf_devices_use(const char *path, sf_error *error);

#endif
