/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of sources: those that no protocol has, and every protocol of ingest/protocol.c. */
#include "ingest/protocol.h"
#include "live/config.h"
#include "replay/player.h"

static const sf_source_kind *const others[] = {&sf_source_replay};

#define OTHERS (sizeof others / sizeof others[0])

const sf_source_kind *sf_source_kind_at(size_t index)
{
    if (index < OTHERS) return others[index];
    for (size_t i = 0; sf_protocols[i] != NULL; i++)
        if (i + OTHERS == index) return &sf_protocols[i]->source;
    return NULL;
}
