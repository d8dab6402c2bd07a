/* SPDX-License-Identifier: Apache-2.0 */
/** A status message, or what a control socket answers to `status`, as rows of sf_top. It comes from
 * outside: what is missing in it is not known, and what is no status is refused. */
#ifndef SF_TOOLS_TOP_H
#define SF_TOOLS_TOP_H

#include "core/message.h"

#include <synfire/error.h>

/** Of a source, a stage or a sink of a run; NaN where it has none of that kind. */
typedef struct sf_top_row {
    const char *kind; /**< "source", "stage", "queue", "sink": a literal */
    char name[SF_STATUS_NAME_SIZE];
    char authentication[8]; /**< of a source that comes over a network: "curve", "none"; else empty */
    double behind_s;        /**< of a source: its newest spikes came so long after they were due; NaN */
    uint64_t refused;       /**< connections without a key that a sink lets in */
    double busy_ms;         /**< in all, since the start */
    double busy;            /**< share of the time, of one core */
    double hop_share;       /**< of a stage: its median by the length of a hop */
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
    double since_s; /**< that `busy` is of: since the status before this one, or since the start */
    bool last;      /**< the run has ended */
    double list_age_s, list_every_s; /**< of the status; NaN: not known */
    uint64_t lists_missed;
    uint64_t control_refused; /**< connections to its control socket without a key that is let in */
    size_t count;
    sf_top_row rows[SF_TOP_ROWS_MAXIMUM]; /**< in the order of the stream; what goes beyond is left out */
} sf_top;

/** JSON or MessagePack. `busy` is since the start. SF_AGAIN where a run has no status yet; SF_UNAVAILABLE
 * with what a run answers that refuses; SF_DATA. */
int sf_top_read(sf_top *top, const char *bytes, size_t length, sf_error *error);

/** Makes `busy` of `now` that since `before`, which is of the same run; `now` keeps its own sums apart. */
void sf_top_since(sf_top *now, const sf_top *before);

#endif
