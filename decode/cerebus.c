/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/cerebus.h"

#include "core/little.h"

#define GROUPS 8 /* number of groups of channels that are sampled together, from 1 */
#define MOST_TYPE 255
#define DIGITAL_BYTES 12 /* of a digital input's event, at most */

size_t sf_cerebus_read(sf_cerebus_layout layout, const unsigned char *bytes, size_t size,
                       sf_cerebus_packet *packet)
{
    size_t header = layout == SF_CEREBUS_311 ? 8 : 16, words;
    if (size < header) return 0;
    if (layout == SF_CEREBUS_311) {
        *packet = (sf_cerebus_packet){
            .time = sf_little_32(bytes), .channel = sf_little_16(bytes + 4), .type = bytes[6]};
        words = bytes[7];
    } else {
        *packet = (sf_cerebus_packet){.time = sf_little_64(bytes), .channel = sf_little_16(bytes + 8)};
        bool is_40 = layout == SF_CEREBUS_40;
        packet->type = is_40 ? bytes[10] : sf_little_16(bytes + 10);
        packet->instrument = is_40 ? bytes[13] : bytes[14];
        words = sf_little_16(bytes + (is_40 ? 11 : 12));
    }
    packet->payload = bytes + header;
    packet->bytes = 4 * words;
    size_t whole = header + packet->bytes;
    return whole <= size && whole <= SF_CEREBUS_PACKET ? whole : 0;
}

bool sf_cerebus_is_sound(const sf_cerebus_packet *packet)
{
    if (packet->type > MOST_TYPE || packet->instrument >= SF_CEREBUS_INSTRUMENTS ||
        (packet->channel & ~SF_CEREBUS_SYSTEM) > SF_CEREBUS_CHANNELS)
        return false;
    if (packet->channel == 0) return packet->type >= 1 && packet->type <= GROUPS && packet->bytes > 0;
    if ((packet->channel & SF_CEREBUS_SYSTEM) != 0) return true;
    bool is_unit = packet->type <= SF_CEREBUS_SORTED || packet->type == SF_CEREBUS_NOISE;
    return packet->bytes > 0 && (packet->bytes <= DIGITAL_BYTES || is_unit);
}

bool sf_cerebus_fills(sf_cerebus_layout layout, const unsigned char *bytes, size_t size, bool strictly)
{
    sf_cerebus_packet packet;
    size_t at = 0, whole;
    while (at < size && (whole = sf_cerebus_read(layout, bytes + at, size - at, &packet)) > 0) {
        if (strictly && !sf_cerebus_is_sound(&packet)) return false;
        at += whole;
    }
    return at == size && size > 0;
}
