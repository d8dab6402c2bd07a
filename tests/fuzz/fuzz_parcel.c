/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what the reading program hands over, which a damaged file may have broken: content in order,
 * or a refusal. The first byte chooses what is expected. */
#include "core/memory.h"
#include "fuzz/graph_input.h"
#include "io/graph/hdf5_file.h"
#include "io/occurrence_file.h"
#include "replay/recording_parcel.h"
#include "replay/truth.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_recording(sf_parcel *parcel, sf_error *error)
{
    sf_recording recording;
    if (sf_recording_take(&recording, parcel, "fuzz", false, error) != SF_OK) return;
    for (size_t i = 0; i < recording.spike_count; i++) {
        const sf_spike *spike = &recording.spikes[i];
        if (spike->unit >= recording.units.count || (i > 0 && spike->time_ns < spike[-1].time_ns) ||
            spike->time_ns < recording.recorded.start_ns || spike->time_ns >= recording.recorded.stop_ns)
            abort();
    }
    for (size_t i = 0; i < recording.marker_count; i++)
        if (strlen(recording.markers[i].text) >= SF_MARKER_TEXT_SIZE) abort();
    sf_overview *overview;
    if (sf_recording_overview(&overview, &recording, NULL, error) == SF_OK) sf_overview_free(overview);
    sf_recording_clear(&recording);
}

static void take_occurrences(sf_parcel *parcel, sf_error *error)
{
    sf_occurrence_set set;
    if (sf_occurrence_set_take(&set, parcel, "fuzz", error) != SF_OK) return;
    for (size_t i = 0; i < set.count; i++)
        if (set.episodes[i].size == 0 || set.episodes[i].units[0] >= set.units.count ||
            set.first[i] > set.first[i + 1])
            abort();
    sf_occurrence_set_free(&set);
}

static void take_truth(sf_parcel *parcel, sf_error *error)
{
    static const char *const names[] = {"A", "B", "C"};
    sf_units units = {0};
    for (size_t i = 0; i < 3; i++)
        sf_units_add(&units, &(sf_unit){.name = names[i]}, NULL);
    sf_units_finish(&units, NULL);
    sf_truth truth;
    if (sf_truth_take(&truth, parcel, "fuzz", &units, error) == SF_OK) {
        for (size_t i = 0; i < truth.occurrence_count; i++)
            if (truth.occurrences[i].chain >= truth.chain_count) abort();
        sf_truth_free(&truth);
    }
    sf_units_free(&units);
}

static void take_graph(sf_parcel *parcel, sf_error *error)
{
    sf_edge_list list;
    int status = sf_graph_hdf5_take(&list, parcel, "fuzz", error);
    build(&list, status, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const take[])(sf_parcel *, sf_error *) = {take_recording, take_occurrences, take_truth,
                                                            take_graph};
    if (size == 0) return 0;
    void *fields = malloc(size); /* a block of its own, aligned as a mapping is */
    memcpy(fields, data + 1, size - 1);
    sf_parcel parcel = {.at = fields, .end = (const char *)fields + size - 1};
    sf_error error = {0};
    take[data[0] % 4](&parcel, &error);
    free(fields);
    if (sf_memory_live() != 0) abort();
    return 0;
}
