/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Packets of Blackrock's systems (Cerebus, CerePlex, Gemini), as datagrams hold them: a header, and as many
 * words of 32 bits as it says. Numbers are little-endian and packed. Three headers are in use:
 *
 *   3.11       u32 time, u16 channel, u8 type, u8 words
 *   4.0        u64 time, u16 channel, u8 type, u16 words, u8 instrument, u16 reserved
 *   4.1, 4.2   u64 time, u16 channel, u16 type, u16 words, u8 instrument, u8 reserved
 *
 * Time counts ticks of 30 kHz, or from 4.0 on nanoseconds (Gemini).
 */
#ifndef SF_DECODE_CEREBUS_H
#define SF_DECODE_CEREBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SF_CEREBUS_DATAGRAM 58080 /**< bytes of one, as systems send them */
#define SF_CEREBUS_PACKET 1024    /**< bytes of one, at most */
#define SF_CEREBUS_CHANNELS 2048  /**< of an instrument, from 1: their numbers are no larger */
#define SF_CEREBUS_INSTRUMENTS 16 /**< on one network */
#define SF_CEREBUS_HZ 30000       /**< ticks, unless a system says otherwise */

/** Of the header's channel. 0: samples of a group of channels; with this bit: of the system. */
#define SF_CEREBUS_SYSTEM 0x8000u

/** Types of packets of the system, those that are known here. */
enum {
    SF_CEREBUS_HEARTBEAT = 0x00,
    SF_CEREBUS_MONITOR = 0x01, /**< u32 packets sent since the last one, with it; from 4.1 u32 its number */
    SF_CEREBUS_CONFIGURED = 0x08,
    SF_CEREBUS_STATE = 0x10,     /**< to 0x1f: u32 ticks a second, ..., at 16 u32 the run level */
    SF_CEREBUS_RUN_LEVEL = 0x12, /**< the same, in answer to SET_RUN_LEVEL */
    SF_CEREBUS_PROCESSOR = 0x21, /**< at 8 char[64] what it is, at 108 u16 minor and u16 major version */
    SF_CEREBUS_COMMENT = 0x31,   /**< u8 character set; from SF_CEREBUS_COMMENT_..., char[128] */
    SF_CEREBUS_CHANNEL = 0x40,   /**< to 0x4f: u32 channel, SF_CEREBUS_CHANNEL_... */
    SF_CEREBUS_ASK_ALL = 0x88,
    SF_CEREBUS_SET_RUN_LEVEL = 0x92,
};

#define SF_CEREBUS_IDENT_AT 8 /**< of a processor */
#define SF_CEREBUS_IDENT 64
#define SF_CEREBUS_VERSION_AT 108
#define SF_CEREBUS_LEVEL_AT 16        /**< of a state: where the run level stands */
#define SF_CEREBUS_RUNNING 50         /**< a run level */
#define SF_CEREBUS_COMMENT_311 8      /**< where its text begins in 3.11, ... */
#define SF_CEREBUS_COMMENT_40 16      /**< ... and from 4.0 on */
#define SF_CEREBUS_COMMENT_BYTES 128  /**< at most */
#define SF_CEREBUS_CAPABILITIES_AT 16 /**< of a channel: u32, SF_CEREBUS_IS_... */
#define SF_CEREBUS_INPUTS_AT 24 /**< u32: what a digital input can do; 0xff of it: it is a serial port */
#define SF_CEREBUS_LABEL_AT 168 /**< char[16] */
#define SF_CEREBUS_LABEL 16
#define SF_CEREBUS_IS_ANALOG 0x100u  /**< input */
#define SF_CEREBUS_IS_DIGITAL 0x400u /**< input */
#define SF_CEREBUS_IS_MOTION 0x1000u /**< of a gyroscope */
#define SF_CEREBUS_IS_SERIAL 0xffu

/** A spike: float[3] pattern, i16 peak, i16 trough, and i16 samples to the packet's end. */
#define SF_CEREBUS_TROUGH_AT 14
#define SF_CEREBUS_WAVE_AT 16
#define SF_CEREBUS_SORTED 5 /**< the largest number of a sorted unit; 0: not sorted */
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

/** Reads the packet at the start of `bytes` and returns its length; 0 where it does not end within `size`. */
size_t sf_cerebus_read(sf_cerebus_layout layout, const unsigned char *bytes, size_t size,
                       sf_cerebus_packet *packet);

/** Whether a system sends such packets: its channel, type, instrument and length fit together. */
bool sf_cerebus_is_sound(const sf_cerebus_packet *packet);

/** Whether whole packets fill these bytes, and with `strictly` whether all are sound. */
bool sf_cerebus_fills(sf_cerebus_layout layout, const unsigned char *bytes, size_t size, bool strictly);

#endif
