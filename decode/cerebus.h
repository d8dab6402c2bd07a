/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Packets of Blackrock's systems (Cerebus, CerePlex, Gemini), as they are in datagrams: a header, followed by
 * the number of 32-bit words that it states. Numbers are little-endian and packed. Three headers are in use:
 *
 * 3.11: u32 time, u16 channel, u8 type, u8 words
 * 4.0: u64 time, u16 channel, u8 type, u16 words, u8 instrument, u16 reserved
 * 4.1, 4.2: u64 time, u16 channel, u16 type, u16 words, u8 instrument, u8 reserved
 *
 * Time counts ticks of 30 kHz or, from 4.0 on (Gemini), nanoseconds.
 */
#ifndef SF_DECODE_CEREBUS_H
#define SF_DECODE_CEREBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SF_CEREBUS_DATAGRAM 58080 /**< bytes of one, as systems send them */
#define SF_CEREBUS_PACKET 1024    /**< bytes of one, at most */
#define SF_CEREBUS_CHANNELS 2048  /**< maximum channel number of an instrument; channels count from 1 */
#define SF_CEREBUS_INSTRUMENTS 16 /**< on one network */
#define SF_CEREBUS_HZ 30000       /**< ticks, unless a system says otherwise */

/** Flag in the header's channel: a packet of the system. Channel 0: samples of a group of channels. */
#define SF_CEREBUS_SYSTEM 0x8000u

/** Types of system packets that are interpreted. */
enum {
    SF_CEREBUS_HEARTBEAT = 0x00,
    SF_CEREBUS_MONITOR =
        0x01, /**< u32 packets sent since the last monitor, itself included; from 4.1 on u32 its number */
    SF_CEREBUS_CONFIGURED = 0x08,
    SF_CEREBUS_STATE = 0x10,     /**< to 0x1f: u32 ticks per second, ..., at 16 u32 the run level */
    SF_CEREBUS_RUN_LEVEL = 0x12, /**< the same, in answer to SET_RUN_LEVEL */
    SF_CEREBUS_PROCESSOR = 0x21, /**< at 8 char[64] description, at 108 u16 minor and u16 major version */
    SF_CEREBUS_COMMENT = 0x31,   /**< u8 character set; from SF_CEREBUS_COMMENT_..., char[128] */
    SF_CEREBUS_CHANNEL = 0x40,   /**< to 0x4f: u32 channel, SF_CEREBUS_CHANNEL_... */
    SF_CEREBUS_ASK_ALL = 0x88,
    SF_CEREBUS_SET_RUN_LEVEL = 0x92,
};

#define SF_CEREBUS_IDENT_AT 8 /**< of a processor */
#define SF_CEREBUS_IDENT 64
#define SF_CEREBUS_VERSION_AT 108
#define SF_CEREBUS_LEVEL_AT 16        /**< offset of the run level in a state packet */
#define SF_CEREBUS_RUNNING 50         /**< a run level */
#define SF_CEREBUS_COMMENT_311 8      /**< where its text begins in 3.11, ... */
#define SF_CEREBUS_COMMENT_40 16      /**< ... and from 4.0 on */
#define SF_CEREBUS_COMMENT_BYTES 128  /**< at most */
#define SF_CEREBUS_CAPABILITIES_AT 16 /**< of a channel: u32, SF_CEREBUS_IS_... */
/** Offset of u32 capabilities of a digital input; any bit of 0xff: serial port. */
#define SF_CEREBUS_INPUTS_AT 24
#define SF_CEREBUS_LABEL_AT 168 /**< char[16] */
#define SF_CEREBUS_LABEL 16
#define SF_CEREBUS_IS_ANALOG 0x100u  /**< input */
#define SF_CEREBUS_IS_DIGITAL 0x400u /**< input */
#define SF_CEREBUS_IS_MOTION 0x1000u /**< of a gyroscope */
#define SF_CEREBUS_IS_SERIAL 0xffu

/** A spike: float[3] pattern, i16 peak, i16 trough, and i16 samples to the packet's end. */
#define SF_CEREBUS_TROUGH_AT 14
#define SF_CEREBUS_WAVE_AT 16
#define SF_CEREBUS_SORTED 5 /**< maximum number of a sorted unit; 0: unsorted */
#define SF_CEREBUS_NOISE 255

typedef enum sf_cerebus_layout {
    SF_CEREBUS_311,
    SF_CEREBUS_40,
    SF_CEREBUS_41,
    SF_CEREBUS_LAYOUTS
} sf_cerebus_layout;

typedef struct sf_cerebus_packet {
    uint64_t time;
    uint16_t channel, type;
    uint8_t instrument; /**< from 0 */
    const unsigned char *payload;
    size_t bytes; /**< of it */
} sf_cerebus_packet;

/** Reads the packet at the start of `bytes` and returns its length; 0 if it does not end within `size`. */
size_t sf_cerebus_read(sf_cerebus_layout layout, const unsigned char *bytes, size_t size,
                       sf_cerebus_packet *packet);

/** Whether a system can send this packet: its channel, type, instrument and length are consistent. */
bool sf_cerebus_is_sound(const sf_cerebus_packet *packet);

/** Whether the bytes consist of whole packets and, with `strictly`, whether all of them are sound. */
bool sf_cerebus_fills(sf_cerebus_layout layout, const unsigned char *bytes, size_t size, bool strictly);

#endif
