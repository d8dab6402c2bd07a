/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of synfire's own protocol: whatever arrives is read or refused, and what is read can be written
 * again. */
#include "core/memory.h"
#include "ingest/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_data(const sf_wire_header *header, const uint8_t *data, size_t size)
{
    sf_wire_data first = {0}, second = {0};
    if (sf_wire_read_data(&first, 64, data, size) == SF_WIRE_SOUND) {
        sf_text frame = {0};
        sf_wire_put_data(&frame, header, first.spikes, first.spike_count, first.markers, first.marker_count);
        require(sf_wire_read_data(&second, 64, frame.data, frame.length) == SF_WIRE_SOUND);
        require(second.spike_count == first.spike_count && second.marker_count == first.marker_count);
        require(first.spike_count == 0 ||
                memcmp(first.spikes, second.spikes, first.spike_count * sizeof *first.spikes) == 0);
        sf_text_free(&frame);
    }
    sf_wire_data_free(&first);
    sf_wire_data_free(&second);
}

static void check_hello(const sf_wire_header *header, const uint8_t *data, size_t size)
{
    sf_recording first, second;
    sf_wire_stream stream;
    if (sf_wire_read_hello(&first, &stream, data, size) == SF_WIRE_SOUND) {
        sf_text frame = {0};
        sf_wire_put_hello(&frame, header, first.path, &stream, &first);
        require(sf_wire_read_hello(&second, &stream, frame.data, frame.length) == SF_WIRE_SOUND);
        require(second.units.count == first.units.count && second.metadata_count == first.metadata_count);
        sf_text_free(&frame);
        sf_recording_clear(&second);
    }
    sf_recording_clear(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_wire_header header;
    uint64_t spikes, markers;
    if (sf_wire_read_header(&header, data, size) != SF_WIRE_SOUND)
        return 0;
    if (header.kind == SF_WIRE_HELLO)
        check_hello(&header, data, size);
    else if (header.kind == SF_WIRE_DATA)
        check_data(&header, data, size);
    else if (header.kind == SF_WIRE_END)
        sf_wire_read_end(&spikes, &markers, data, size);
    return 0;
}
