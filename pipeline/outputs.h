/* SPDX-License-Identifier: Apache-2.0 */
/** The configured sinks of a run, opened and closed together. */
#ifndef SF_PIPELINE_OUTPUTS_H
#define SF_PIPELINE_OUTPUTS_H

#include "core/config.h"
#include "sinks/sink.h"

typedef struct sf_outputs {
    sf_sink **sinks;
    size_t count;
    sf_storage *storage; /**< the thread that HDF5 recorders share; NULL without one */
} sf_outputs;

int sf_outputs_open(sf_outputs *outputs, const sf_config *config, const sf_stream_info *stream,
                    sf_error *error);

/** True once no sink waits for subscribers any more. */
bool sf_outputs_ready(const sf_outputs *outputs);

/** From now on a receiver that takes nothing for long is given up. Any thread. */
void sf_outputs_ending(const sf_outputs *outputs);

/** Drains and closes; returns the first failure of any sink. */
int sf_outputs_close(sf_outputs *outputs, sf_error *error);

#endif
