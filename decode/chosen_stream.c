/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/chosen_stream.h"

#include "core/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static sf_other_stream *find_other(sf_chosen_stream *choice, const char *name)
{
    for (size_t i = 0; i < choice->other_count; i++)
        if (strncmp(choice->others[i].name, name, sizeof choice->others[i].name - 1) == 0)
            return &choice->others[i];
    if (choice->other_count == SF_OTHER_STREAMS_TOLD) return NULL;
    sf_other_stream *added = &choice->others[choice->other_count++];
    snprintf(added->name, sizeof added->name, "%.79s", name);
    return added;
}

static void pass_over(sf_chosen_stream *choice, sf_rig *rig, const char *name)
{
    sf_decoder *decoder = &rig->decoder;
    const char *read = decoder->given.stream;
    sf_other_stream *from = find_other(choice, name);
    sf_rig_hear(rig);
    decoder->batch.other_streams++;
    if (from == NULL) return;
    uint64_t before = from->messages++;
    if ((from->messages & before) != 0) return;
    if (read[0] == '\0')
        sf_log(SF_LOG_WARNING,
               "%s: TTL events of the stream '%s' came before any spike and are left out (%" PRIu64
               " so far)",
               decoder->name, from->name, from->messages);
    else
        sf_log(choice->is_chosen ? SF_LOG_INFO : SF_LOG_WARNING,
               "%s: the stream '%.80s' is read, and '%s', which is sent as well, is not (%" PRIu64
               " messages so far): `stream` chooses one",
               decoder->name, read, from->name, from->messages);
}

void sf_chosen_stream_open(sf_chosen_stream *choice, const sf_decoder *decoder)
{
    choice->is_chosen = decoder->given.stream[0] != '\0';
}

bool sf_chosen_stream_reads(sf_chosen_stream *choice, sf_rig *rig, const char *name, bool chooses)
{
    char *read = rig->decoder.given.stream;
    if (name[0] == '\0') return true;
    if (read[0] == '\0' && chooses) {
        snprintf(read, sizeof rig->decoder.given.stream, "%s", name);
        sf_log(SF_LOG_INFO, "%s: reads the stream '%.80s'", rig->decoder.name, read);
    }
    if (strcmp(read, name) == 0) return true;
    pass_over(choice, rig, name);
    return false;
}
