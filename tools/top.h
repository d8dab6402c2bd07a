/* SPDX-License-Identifier: Apache-2.0 */
/** A status message, or a control socket's answer to `status`, as rows of sf_top. It is external input:
 * missing fields count as unknown, and anything that is no status is refused. */
#ifndef SF_TOOLS_TOP_H
#define SF_TOOLS_TOP_H

#include "core/message.h"

#include <synfire/error.h>

/** A source, stage, queue or sink of a run; fields that its kind does not have are NaN. */
typedef struct sf_top_row {
    const char *kind; /**< "source", "stage", "queue", "sink": a literal */
    char name[SF_STATUS_NAME_SIZE];
    char authentication[8]; /**< for a source over a network: "curve", "none"; else empty */
    double behind_s;        /**< source: how late its newest spikes arrived after they were due; NaN */
    uint64_t refused;       /**< connections to a sink without an accepted key */
    double busy_ms;         /**< total since the start */
    double busy;            /**< share of the time, in units of one core */
    double hop_share;       /**< stage: its median divided by the length of a hop */
    uint64_t waiting, room; /**< of its queue; room 0: it has none */
    uint64_t lost;          /**< spikes or messages */
    double p50_ms, p99_ms, max_ms;
} sf_top_row;

#define SF_TOP_ROWS_MAXIMUM 64

typedef struct sf_top {
    char stream[64];
    uint64_t spikes;
    double rate_hz, run_s, hop_ms;
    double latency_p50_ms, latency_p99_ms, latency_max_ms; /**< from due until watched */
    double since_s; /**< time that `busy` covers: since the previous status, or since the start */
    bool last;      /**< the run has ended */
    double list_age_s, list_every_s; /**< as in the status; NaN: not known */
    uint64_t lists_missed;
    uint64_t control_refused; /**< connections to its control socket without an accepted key */
    size_t count;
    sf_top_row rows[SF_TOP_ROWS_MAXIMUM]; /**< in the order of the stream; further ones are left out */
} sf_top;

/** Reads JSON or MessagePack. `busy` is since the start. SF_AGAIN if a run has no status yet; SF_UNAVAILABLE,
 * with the run's sentence, if it refuses; SF_DATA. */
int sf_top_read(sf_top *top, const char *bytes, size_t length, sf_error *error);

/** Sets `busy` of `now` to the share since `before`, a status of the same run; `now` keeps its sums
 * separately. */
void sf_top_since(sf_top *now, const sf_top *before);

#endif
