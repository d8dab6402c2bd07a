/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files of AxIS (Axion BioSystems), .spk and .raw: a header lists consecutive entries, each with a type and a
 * length; if the list is full, another header with the next list follows. Entries are notes, channel maps,
 * data headers and their data, and tags. All numbers are little-endian. The layouts are those of
 * AxionFileLoader, which the vendor publishes. This unit reads the list of entries; axion.c and axion_tags.c
 * interpret spikes and tags.
 */
#ifndef SF_REPLAY_AXION_H
#define SF_REPLAY_AXION_H

#include "core/recording.h"
#include "core/text.h"
#include "replay/binary.h"

/** Read position within an entry. */
typedef struct sf_axion_cursor {
    const unsigned char *at;
    size_t left;
    bool failed; /**< more was asked for than there is */
} sf_axion_cursor;

/** Returns the next `size` bytes, or NULL if there are fewer. */
const unsigned char *sf_axion_take(sf_axion_cursor *from, size_t size);

/** The same as numbers; 0 if there are too few bytes. */
uint16_t sf_axion_take_16(sf_axion_cursor *from);
uint32_t sf_axion_take_32(sf_axion_cursor *from);
uint64_t sf_axion_take_64(sf_axion_cursor *from);
double sf_axion_take_real(sf_axion_cursor *from);

/** Appends a text that is preceded by its length in bytes, as sf_axion_append does. */
void sf_axion_take_text(sf_axion_cursor *from, sf_text *to);

/** Appends text up to its first NUL, UTF-8 or else Latin-1; replaces control characters by blanks, and trims
 * the end. */
void sf_axion_append(sf_text *to, const unsigned char *from, size_t size);

/** Position of an electrode, and its amplifier chip and channel. Columns and rows count from 1. */
typedef struct sf_axion_channel {
    uint8_t well_column, well_row, column, row, chip, channel;
} sf_axion_channel;

/** Maximum number of channels: a chip and its channel are one byte each. */
#define SF_AXION_CHANNELS 65536

static inline uint16_t sf_axion_id(const sf_axion_channel *channel)
{
    return (uint16_t)(channel->chip << 8 | channel->channel);
}

/** The channels of one set of data. */
typedef struct sf_axion_map {
    uint32_t plate; /**< the plate's type */
    sf_axion_channel *channels;
    size_t count;
} sf_axion_map;

#define SF_AXION_TO_END UINT64_MAX
#define SF_AXION_NONE SIZE_MAX

/** A header of data and where they are. */
typedef struct sf_axion_set {
    bool is_spikes, is_combined; /**< is_combined: newer files, with all headers in one entry */
    double rate_hz;
    double duration_s; /**< NaN: the file does not say */
    char started[32];  /**< date and time; "": none */
    uint64_t at;       /**< byte at which its data begin */
    uint64_t length;   /**< of its data; SF_AXION_TO_END: to the end of the file */
    bool has_data;     /**< older files: whether the data entry was found */
    uint32_t header_bytes, channels, data_sets, samples; /**< of a block */
    uint32_t sample_bytes;
    size_t map; /**< index of its channel map; SF_AXION_NONE: none yet */
} sf_axion_set;

/** A revision of a tag: a note, a stimulus, a well. */
typedef struct sf_axion_tag {
    unsigned char guid[16];
    uint32_t revision;
    uint16_t type;
    uint64_t at, length; /**< of the bytes after the common head */
} sf_axion_tag;

typedef struct sf_axion {
    const char *path; /**< the caller's */
    int file;
    uint64_t size;
    uint16_t version; /**< the minor one, of 1 */
    sf_axion_map *maps;
    sf_axion_set *sets;
    sf_axion_tag *tags;
    size_t map_count, set_count, tag_count;
    uint32_t note_revision;
    bool has_notes;
    sf_text investigator, recording, description; /**< of the latest notes */
} sf_axion;

/** True if the file begins with the signature of this format. */
bool sf_axion_has_signature(const char *path);

/** Reads all entries except the data, and checks counts and offsets against the size of the file. SF_DATA;
 * SF_IO, SF_NO_INPUT, SF_NO_MEMORY. Call sf_axion_close also on failure. */
int sf_axion_open(sf_axion *axion, const char *path, sf_error *error);
void sf_axion_close(sf_axion *axion);

/** Reads `size` bytes that the file is known to have. SF_IO. */
int sf_axion_read(void *bytes, const sf_axion *axion, uint64_t at, size_t size, sf_error *error);

/**
 * Converts the tags of one well: notes and stimuli to markers, the contents of the well and the description
 * of the recording to metadata. Skips and reports damaged tags. SF_NO_MEMORY, SF_IO.
 */
int sf_axion_take_tags(sf_recording *recording, const sf_axion *axion, uint8_t well_column, uint8_t well_row,
                       sf_error *error);

#endif
