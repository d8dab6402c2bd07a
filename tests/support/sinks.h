/* SPDX-License-Identifier: Apache-2.0 */
/** Sinks by name, without a configuration. */
#ifndef SF_TESTS_SINKS_H
#define SF_TESTS_SINKS_H

#include "support/support.h"

#include "sinks/sink.h"

static inline void test_sink_settings(sf_sink_settings *settings)
{
    *settings = (sf_sink_settings){SF_SINK_DEFAULTS};
}

/** A sink of the kind that settings->type names. */
static inline int test_sink_open(sf_sink **sink, const sf_sink_settings *settings,
                                 const sf_stream_info *stream, sf_storage *storage, sf_error *error)
{
    size_t i = 0;
    while (strcmp(sf_sink_kind_at(i)->settings.name, settings->type) != 0)
        i++;
    return sf_sink_open_kind(sink, sf_sink_kind_at(i), settings, stream, storage, error);
}

#endif
