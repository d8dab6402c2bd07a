/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of sources: a new one is a line here, a file in the folder that owns it, and a test. */
#include "ingest/synfire_stream.h"
#include "replay/player.h"
#include "run/config.h"

static const sf_source_kind *const kinds[] = {&sf_source_replay, &sf_source_zmq};

const sf_source_kind *sf_source_kind_at(size_t index)
{
    return index < sizeof kinds / sizeof kinds[0] ? kinds[index] : NULL;
}
