/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What benchmarks over real sockets share: a made-up stream, a sender of it on the loopback interface, and a
 * `synfire run` of its own process that receives it, watched from outside.
 */
#ifndef SF_BENCH_COMMAND_SOCKETS_H
#define SF_BENCH_COMMAND_SOCKETS_H

#include "bench/command/bench.h"

#include "core/text.h"
#include "ingest/protocol.h"

#include <sys/types.h>

/** "tcp://127.0.0.1:PORT" of a port that was free. SF_UNAVAILABLE. */
int bench_endpoint(char *endpoint, size_t size, sf_error *error);

/* ---- the run ---- */

#define BENCH_THREADS 24

typedef struct bench_thread {
    int id;
    char name[16];
    double seconds; /**< of the processor, when it was looked at last */
    double waited;  /**< for the processor, in seconds */
} bench_thread;

/** A `synfire run`; zero-initialise. */
typedef struct bench_run {
    pid_t process; /**< 0: none */
    char folder[64];
    sf_text summary; /**< what `--json` told */
    bench_thread threads[BENCH_THREADS];
    size_t thread_count;
    double memory_mb; /**< that it took at most */
    double ended_s;   /**< when, as sf_clock_seconds */
} bench_run;

/** Makes a folder below $TMPDIR or /tmp, which the configuration's relative paths lead to. SF_CANNOT_CREATE,
 * SF_UNAVAILABLE. */
int bench_run_start(bench_run *run, const char *yaml, sf_error *error);

/** Looks what its threads have taken so far; false once it has ended. */
bool bench_run_look(bench_run *run);

/** Waits for its end, and looks on meanwhile. SF_UNAVAILABLE where it ended otherwise than in order, with
 * what it said. */
int bench_run_finish(bench_run *run, sf_error *error);

/** Asks a run that nobody ends to stop. As bench_run_finish. */
int bench_run_interrupt(bench_run *run, sf_error *error);

/** The same once it has worked off what came, or after half a minute. */
int bench_run_stop(bench_run *run, sf_error *error);

/** A counter of its last status by its name, the first of that name after `after`; NAN: it has none. */
double bench_run_counter(const bench_run *run, const char *after, const char *name);

/** The value that this share of some in ascending order is not above; NAN: there are none. */
double bench_at_share(const double *sorted, size_t count, double share);

/** Ends it where it goes on, and removes its folder. */
void bench_run_close(bench_run *run);

/* ---- the stream ---- */

#define BENCH_FRAMES 64

/** Frames of independent units that come again and again, with later times. */
typedef struct bench_frames {
    sf_spike *spikes; /**< BENCH_FRAMES times per_frame, from time 0 */
    size_t per_frame;
    int64_t frame_ns;
    uint64_t sent;   /**< frames */
    sf_spike *frame; /**< the one at hand */
} bench_frames;

int bench_frames_open(bench_frames *frames, size_t per_frame, int64_t frame_ns, uint32_t first_unit,
                      sf_error *error);
void bench_frames_close(bench_frames *frames);

/** The next frame as a batch, whose spikes are frames->frame. */
sf_batch bench_frames_next(bench_frames *frames);

/** The stream's table: BENCH_UNITS without positions. */
int bench_about(sf_recording *about, sf_error *error);

/** Binds. A sender that waits for the run gives up where that has ended; NULL: it waits for ever. */
int bench_sender_open(sf_sender **sender, const char *protocol, const char *endpoint, bool own_pace,
                      bench_run *run, const sf_recording *about, sf_error *error);

/** Waits until so many listen. SF_CANCELLED, SF_UNAVAILABLE. */
int bench_sender_await(sf_sender *sender, int64_t listeners, sf_error *error);

#endif
