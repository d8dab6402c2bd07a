/* SPDX-License-Identifier: Apache-2.0 */
/* synfire's own protocol: whatever arrives is read or left out, however it is cut, and a frame that is read
 * can be written again. */
#include "decoder_input.h"

#include "core/memory.h"
#include "decode/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) abort();
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

static void check_frame(const uint8_t *data, size_t size)
{
    sf_wire_header header;
    if (sf_wire_read_header(&header, data, size) != SF_WIRE_SOUND) return;
    if (header.kind == SF_WIRE_HELLO)
        check_hello(&header, data, size);
    else if (header.kind == SF_WIRE_DATA)
        check_data(&header, data, size);
}

/* A stream of three units. Its run is that of the frames in the corpus, so that they belong to it. */
static const sf_text *greeting(void)
{
    static sf_text frame;
    if (frame.length == 0) {
        const sf_wire_header header = {.run = UINT64_C(0x0102030405060708), .sequence = 4};
        const sf_wire_stream stream = {.origin_ns = INT64_MIN};
        sf_unit units[3] = {{.name = "A"}, {.name = "B"}, {.name = "C"}};
        const sf_recording about = {.units = {.items = units, .count = 3}};
        sf_wire_put_hello(&frame, &header, "fuzzed", &stream, &about);
    }
    return &frame;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sf_text *hello = greeting();
    check_frame(data, size);
    const decoder_input input = {
        .protocol = "synfire", .greeting = hello->data, .greeting_size = hello->length};
    decoder_run(&input, data, size);
    return 0;
}
