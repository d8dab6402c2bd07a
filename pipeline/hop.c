/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/hop.h"

#include "core/memory.h"

#define NAME(NUMBER, name, type) #name " "
const char sf_hop_trees[] = SF_HOP_MODEL(NAME);

void sf_hop_publish(sf_hop *hop, sf_message *message)
{
    sf_outbox *outbox = hop->outbox;
    if (message == NULL) return;
    (void)sf_change_sinks(hop, SF_PLAN_ADD); /* which whoever runs the stages does */
    if (sf_reserve(&outbox->items, &outbox->capacity, outbox->count + 1, sizeof(sf_message *)) == 0) {
        outbox->items[outbox->count++] = message;
        return;
    }
    outbox->failed = true;
    sf_message_release(message);
}
