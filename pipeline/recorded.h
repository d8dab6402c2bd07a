/* SPDX-License-Identifier: Apache-2.0 */
/** Which parts of a span of the stream were recorded and are analysed. Window thread. */
#ifndef SF_PIPELINE_RECORDED_H
#define SF_PIPELINE_RECORDED_H

#include "pipeline/inputs.h"

/** Ordered and disjoint. Zero-initialised, it is empty. */
typedef struct sf_recorded_time {
    sf_span *spans;
    size_t count, room;
} sf_recorded_time;

/** Spans that are not analysed, in order. */
typedef struct sf_blanked {
    sf_span *spans;
    size_t count, room;
} sf_blanked;

/**
 * Lists the parts of `span` that were recorded and not blanked. If no source says when it was observed,
 * recorded time is `all`, from the first spike to the last. SF_NO_MEMORY.
 */
int sf_recorded_time_list(sf_recorded_time *recorded, sf_span span, sf_span all, const sf_inputs *inputs,
                          const sf_blanked *blanked, sf_error *error);
void sf_recorded_time_free(sf_recorded_time *recorded);

/** Adds a span. SF_NO_MEMORY. */
int sf_blanked_add(sf_blanked *blanked, sf_span span, sf_error *error);

/** Forgets spans that end at or before this time. */
void sf_blanked_forget(sf_blanked *blanked, int64_t time_ns);
void sf_blanked_free(sf_blanked *blanked);

#endif
