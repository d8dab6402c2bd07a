/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/protocol.h"

#include "core/error.h"

#include <string.h>

const sf_protocol *const sf_protocols[] = {&sf_protocol_synfire,
                                           &sf_protocol_open_ephys,
                                           &sf_protocol_event_broadcaster,
                                           &sf_protocol_maxwell,
                                           &sf_protocol_intan,
                                           &sf_protocol_brand,
                                           &sf_protocol_trodes,
                                           &sf_protocol_lsl,
                                           &sf_protocol_blackrock,
                                           &sf_protocol_cortical,
                                           NULL};

int sf_protocol_find(const sf_protocol **protocol, const char *name, sf_error *error)
{
    sf_text names = {0};
    for (size_t i = 0; sf_protocols[i] != NULL; i++) {
        *protocol = sf_protocols[i];
        if (strcmp((*protocol)->name, name) == 0) {
            sf_text_free(&names);
            return SF_OK;
        }
        sf_text_printf(&names, "%s%s",
                       i == 0                        ? ""
                       : sf_protocols[i + 1] != NULL ? ", "
                                                     : " or ",
                       (*protocol)->name);
    }
    int status = names.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_USAGE, "protocol", "found '%s', expected %s", name, names.data);
    sf_text_free(&names);
    return status;
}
