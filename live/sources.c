/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of sources: a recording, and every protocol of ingest/protocol.c. */
#include "ingest/protocol.h"
#include "live/config.h"
#include "replay/player.h"

const sf_source_kind *sf_source_kind_at(size_t index)
{
    if (index == 0)
        return &sf_source_replay;
    for (size_t i = 0; sf_protocols[i] != NULL; i++)
        if (i + 1 == index)
            return &sf_protocols[i]->source;
    return NULL;
}
