/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blackrock's Cerebus, CerePlex and Gemini: a message is a datagram of packets (decode/cerebus.h). If the
 * options do not name the header layout, the decoder detects it, and whether times are ticks or nanoseconds,
 * from the datagrams. Sample packets are skipped by their lengths.
 */
#include "decode/cerebus.h"
#include "decode/rig.h"

#include "core/error.h"
#include "core/little.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST_BYTES 65536 /* of a datagram of any sender */
#define CLASSES (SF_CEREBUS_SORTED + 1)
#define LABEL_ROOM (4 * SF_CEREBUS_LABEL + 1) /* in UTF-8 */
#define NAME_ROOM (LABEL_ROOM + 16)
#define NUMBERS 10000 /* channel numbers per instrument in the names of files */
#define NS_HZ 1e9     /* where time counts nanoseconds */
#define BEHIND_S 0.1  /* how far packets may lie behind a beat: spikes wait for their waveforms */
/* The same for comments, and (AHEAD_S) how far they may lie ahead; outside of both the time of arrival
 * counts. */
#define COMMENT_S 0.05
#define AHEAD_S 1
#define TICKS_MOST_STEP 100000       /* between two beats, which come every 10 ms */
#define NS_LEAST_STEP 1000000        /* likewise */
#define LEAST_NS (UINT64_C(1) << 47) /* ticks are less for 146 years */
#define BEATS 3                      /* that agree on what time counts */
/* Number of consecutive datagrams that only another header explains before it is adopted. */
#define MISFITS 16
#define MOST_SENT (1u << 20)               /* packets between two monitors */
#define WRAP (INT64_C(1) << 32)            /* of times of 32 bits; ... */
#define NEAR (INT64_C(60) * SF_CEREBUS_HZ) /* ... further from the end or back the clock was set to 0 */
#define ALL_LAYOUTS ((1u << SF_CEREBUS_LAYOUTS) - 1)

typedef enum channel_kind { UNTOLD, ANALOG, DIGITAL, SERIAL, OTHER } channel_kind;

typedef struct channel {
    char label[LABEL_ROOM];
    channel_kind kind;
    uint32_t units[CLASSES]; /* unit plus one; 0: not looked up, SF_NO_UNIT: none */
} channel;

typedef struct instrument {
    channel *channels; /* by channel number less one; NULL: no channel has been described */
    bool has_monitor;
    uint32_t monitor;   /* the number of the last, from 4.1 on */
    uint64_t monitored; /* its time */
    uint32_t sent;      /* packets, as it said */
    uint64_t period;    /* time between two monitors, all packets of which arrived; 0: unknown */
    uint64_t received;  /* packets since then */
    struct {
        bool was_there;
        uint64_t time;
    } beats[2]; /* heartbeat and monitor */
} instrument;

typedef struct blackrock {
    sf_rig rig;
    instrument instruments[SF_CEREBUS_INSTRUMENTS];
    bool is_named; /* the layout: nothing else is tried */
    bool is_found;
    sf_cerebus_layout layout;
    unsigned candidates; /* one bit per layout that all data so far may have */
    unsigned misfits;    /* number of consecutive datagrams that do not fit the layout */
    int agreed;          /* number of consecutive beats consistent with nanoseconds; negative: with ticks */
    uint32_t ticks_hz;   /* as the system said; 0: it did not */
    unsigned counting;   /* instruments that count what they send */
    uint64_t received;   /* packets since the last of their counts */
    bool has_time;
    int64_t time; /* the newest, whole */
    int plain;    /* the instrument whose channel names omit its number; -1: none yet */
    bool processor_was_told, rate_was_told, shared_was_told;
} blackrock;

/* ---- texts ---- */

/* UTF-16 up to a NUL. */
static void take_text_16(char *to, size_t room, const unsigned char *from, size_t size)
{
    size_t length = 0;
    for (size_t at = 0; at + 2 <= size; at += 2) {
        char encoded[4];
        uint32_t code = sf_little_16(from + at), low = at + 4 <= size ? sf_little_16(from + at + 2) : 0;
        if (code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at += 2;
        }
        size_t more = sf_utf8_encode(encoded, code);
        if (code == 0 || length + more >= room) break;
        memcpy(to + length, encoded, more);
        length += more;
    }
    to[length] = '\0';
}

/* Converts text up to a NUL to UTF-8; what is not valid UTF-8 is taken as Latin-1. `size`: at most
 * SF_CEREBUS_COMMENT_BYTES. */
static void take_text(char *to, size_t room, const unsigned char *from, size_t size)
{
    char text[SF_CEREBUS_COMMENT_BYTES + 1];
    size_t valid = 0, length = 0, more;
    memcpy(text, from, size);
    text[size] = '\0';
    size = strlen(text);
    while (valid < size && (more = sf_utf8_length(text + valid)) > 0)
        valid += more;
    for (size_t at = 0; at < size; at += more) {
        char encoded[4];
        more = valid == size ? sf_utf8_length(text + at) : 1;
        size_t bytes = valid == size ? more : sf_utf8_encode(encoded, (unsigned char)text[at]);
        if (length + bytes >= room) break;
        memcpy(to + length, valid == size ? text + at : encoded, bytes);
        length += bytes;
    }
    to[length] = '\0';
}

static void trim(char *text)
{
    size_t length = strlen(text), begin = strspn(text, " \t\r\n");
    while (length > begin && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    memmove(text, text + begin, length - begin);
    text[length - begin] = '\0';
}

/* ---- channels and units ---- */

/* NULL: no memory. */
static channel *find_channel(blackrock *it, const sf_cerebus_packet *of, uint32_t number, sf_error *error)
{
    instrument *on = &it->instruments[of->instrument];
    if (on->channels == NULL &&
        (on->channels = sf_alloc(SF_CEREBUS_CHANNELS, sizeof *on->channels)) == NULL) {
        sf_fail_memory(error);
        return NULL;
    }
    return &on->channels[number - 1];
}

/* A label is used only if it identifies the channel, that is, if no earlier channel has the same label. */
static const char *label_of(const channel *channels, uint32_t number)
{
    const char *label = channels[number - 1].label;
    for (uint32_t i = 0; label[0] != '\0' && i + 1 < number; i++)
        if (strcmp(channels[i].label, label) == 0) return "";
    return label;
}

/* "elec5", "elec5/1" of instrument 1; "chan5" where nobody says what it is called. */
static void name_channel(const blackrock *it, unsigned at, uint32_t number, bool plain, char name[NAME_ROOM])
{
    const channel *channels = it->instruments[at].channels;
    const char *label = label_of(channels, number);
    int length = label[0] != '\0' ? snprintf(name, NAME_ROOM, "%s", label)
                                  : snprintf(name, NAME_ROOM, "chan%" PRIu32, number);
    if (!plain && at > 0) snprintf(name + length, NAME_ROOM - (size_t)length, "/%u", at);
}

static uint32_t find_by_number(const sf_decoder_given *given, uint32_t number)
{
    return number < given->channels ? given->of_channel[number] : SF_NO_UNIT;
}

/* Searches the given units for the neuron, else for the electrode by its name or number. */
static uint32_t find_given(const blackrock *it, const sf_cerebus_packet *of, bool plain)
{
    const sf_units *units = &it->rig.decoder.about.units;
    char name[NAME_ROOM], sorted[NAME_ROOM + 8];
    name_channel(it, of->instrument, of->channel, plain, name);
    snprintf(sorted, sizeof sorted, "%s:%u", name, of->type);
    uint32_t unit = sf_units_find(units, sorted);
    if (unit == SF_NO_UNIT) unit = sf_units_find(units, name);
    uint32_t number = of->channel + (plain ? 0 : (uint32_t)of->instrument * NUMBERS);
    return unit != SF_NO_UNIT ? unit : find_by_number(&it->rig.decoder.given, number);
}

/* An electrode file of a single instrument has names without its number. */
static uint32_t find_plain(blackrock *it, const sf_cerebus_packet *of)
{
    uint32_t unit = find_given(it, of, true);
    if (unit == SF_NO_UNIT) return unit;
    if (it->plain >= 0 && it->plain != of->instrument && !it->shared_was_told) {
        it->shared_was_told = true;
        sf_log(SF_LOG_WARNING,
               "%s: instruments %d and %u have electrodes of one name or number in the file of electrodes, "
               "which are one unit: give those of instrument %u names as elec1/%u",
               it->rig.decoder.name, it->plain, of->instrument, of->instrument, of->instrument);
    }
    it->plain = of->instrument;
    return unit;
}

/* First spike of a unit. While units are learnt their names are not final (name_units), so numbers stand for
 * them. */
static int look_up(blackrock *it, const sf_cerebus_packet *of, uint32_t *unit, sf_error *error)
{
    const sf_decoder *decoder = &it->rig.decoder;
    char name[NAME_ROOM], sorted[NAME_ROOM + 8];
    bool is_given = decoder->given.has_units;
    *unit = is_given && of->instrument > 0 ? find_given(it, of, false) : SF_NO_UNIT;
    if (is_given && *unit == SF_NO_UNIT) *unit = find_plain(it, of);
    if (*unit != SF_NO_UNIT) return SF_OK;
    name_channel(it, of->instrument, of->channel, false, name);
    if (decoder->is_known || is_given)
        snprintf(sorted, sizeof sorted, "%s:%u", name, of->type);
    else
        snprintf(sorted, sizeof sorted, "%u/%u:%u", of->instrument, of->channel, of->type);
    return sf_rig_find(&it->rig, sorted, -1, unit, error);
}

static int find_unit(blackrock *it, const sf_cerebus_packet *of, uint32_t *unit, sf_error *error)
{
    channel *from = find_channel(it, of, of->channel, error);
    if (from == NULL) return SF_NO_MEMORY;
    uint32_t *known = &from->units[of->type];
    if (*known == 0) {
        int status = look_up(it, of, unit, error);
        *known = *unit == SF_NO_UNIT ? SF_NO_UNIT : *unit + 1;
        return status;
    }
    sf_rig_hear(&it->rig);
    *unit = *known == SF_NO_UNIT ? SF_NO_UNIT : *known - 1;
    it->rig.decoder.batch.out_of_range += *unit == SF_NO_UNIT;
    return SF_OK;
}

static bool has_units(const instrument *on)
{
    for (uint32_t i = 0; on->channels != NULL && i < SF_CEREBUS_CHANNELS; i++)
        for (unsigned k = 0; k < CLASSES; k++)
            if (on->channels[i].units[k] != 0 && on->channels[i].units[k] != SF_NO_UNIT) return true;
    return false;
}

static int name_unit(blackrock *it, unsigned at, uint32_t number, unsigned class, bool plain, sf_error *error)
{
    char name[NAME_ROOM], sorted[NAME_ROOM + 8];
    sf_units *units = &it->rig.decoder.about.units;
    uint32_t known = it->instruments[at].channels[number - 1].units[class];
    if (known == 0 || known == SF_NO_UNIT) return SF_OK;
    sf_unit *unit = &units->items[known - 1];
    name_channel(it, at, number, plain, name);
    snprintf(sorted, sizeof sorted, "%s:%u", name, class);
    char *copy = sf_copy_string(sorted);
    if (copy == NULL) return sf_fail_memory(error);
    sf_free((char *)unit->name);
    unit->name = copy;
    unit->kind = class == 0 ? SF_UNIT_MULTI_UNIT : SF_UNIT_SORTED;
    unit->electrode = (int32_t)number;
    return SF_OK;
}

/* Names units by the labels received so far, as this system's files do; names include the number of the
 * instrument if another instrument has units, too. */
static int name_units(sf_rig *rig, sf_error *error)
{
    blackrock *it = (blackrock *)rig;
    unsigned count = 0;
    int status = SF_OK;
    for (unsigned at = 0; at < SF_CEREBUS_INSTRUMENTS; at++)
        count += has_units(&it->instruments[at]);
    for (unsigned at = 0; at < SF_CEREBUS_INSTRUMENTS; at++) {
        bool is_there = it->instruments[at].channels != NULL;
        for (uint32_t number = 1; is_there && status == SF_OK && number <= SF_CEREBUS_CHANNELS; number++)
            for (unsigned k = 0; k < CLASSES && status == SF_OK; k++)
                status = name_unit(it, at, number, k, count == 1, error);
    }
    return status == SF_OK ? sf_units_finish(&rig->decoder.about.units, error) : status;
}

static void place_units(sf_rig *rig, const uint32_t *places)
{
    blackrock *it = (blackrock *)rig;
    for (unsigned at = 0; at < SF_CEREBUS_INSTRUMENTS; at++)
        for (uint32_t i = 0; it->instruments[at].channels != NULL && i < SF_CEREBUS_CHANNELS; i++)
            for (unsigned k = 0; k < CLASSES; k++) {
                uint32_t *known = &it->instruments[at].channels[i].units[k];
                if (*known != 0 && *known != SF_NO_UNIT) *known = places[*known - 1] + 1;
            }
}

/* ---- time ---- */

static void tell_time(blackrock *it, double hz, const char *how)
{
    if (it->rig.rate_uhz != 0 || !sf_rig_set_rate(&it->rig, hz)) return;
    if (hz == NS_HZ)
        sf_log(SF_LOG_INFO, "%s: times are nanoseconds, %s", it->rig.decoder.name, how);
    else
        sf_log(SF_LOG_INFO, "%s: times are ticks of %g Hz, %s", it->rig.decoder.name, hz, how);
}

static double ticks_of(const blackrock *it)
{
    return it->ticks_hz != 0 ? it->ticks_hz : SF_CEREBUS_HZ;
}

/* Extends the 32-bit time, which wraps after 39.8 hours; a step back at any other point means that the clock
 * was set to 0. */
static int64_t go_on(const blackrock *it, uint32_t low)
{
    int64_t high = it->time - (it->time & (WRAP - 1)), step = low - (it->time & (WRAP - 1));
    if (!it->has_time || (step <= -NEAR && step > -WRAP + NEAR)) return low;
    if (step <= -NEAR) return high + WRAP + low;
    return step >= WRAP - NEAR && high > 0 ? high - WRAP + low : high + low;
}

/* False: no time is so large. */
static bool take_time(blackrock *it, const sf_cerebus_packet *of, int64_t *time)
{
    if (of->time > INT64_MAX) {
        sf_decoder_leave_out(&it->rig.decoder, "time %" PRIu64 " of a packet", of->time);
        return false;
    }
    *time = it->layout == SF_CEREBUS_311 ? go_on(it, (uint32_t)of->time) : (int64_t)of->time;
    it->time = *time;
    it->has_time = true;
    return true;
}

/* Two beats are 10 ms apart, that is, 300 ticks or 10 million nanoseconds. */
static void compare_beats(blackrock *it, const sf_cerebus_packet *of)
{
    uint64_t *before = &it->instruments[of->instrument].beats[of->type].time, step = of->time - *before;
    bool *was_there = &it->instruments[of->instrument].beats[of->type].was_there;
    bool goes_on = *was_there && of->time > *before;
    int vote = of->time >= LEAST_NS || (goes_on && step >= NS_LEAST_STEP) ? 1
               : goes_on && step < TICKS_MOST_STEP                        ? -1
                                                                          : 0;
    *before = of->time;
    *was_there = true;
    it->agreed = vote * it->agreed >= 0 ? it->agreed + vote : vote;
    if (it->agreed >= BEATS)
        tell_time(it, NS_HZ, "as its beats show");
    else if (it->agreed <= -BEATS)
        tell_time(it, ticks_of(it), "as its beats show");
}

/* ---- packets of the system ---- */

/* Monitors that did not come between the last one and this: as their numbers tell, before 4.1 as time does
 * where not all came that this one counts. What is further is no loss: it counts anew. */
static uint32_t count_missing(const instrument *on, const sf_cerebus_packet *of, uint32_t number,
                              bool is_whole)
{
    uint64_t missing = 0, step = of->time - on->monitored;
    if (of->bytes >= 8)
        missing = (uint32_t)(number - on->monitor - 1);
    else if (on->period > 0 && of->time > on->monitored && !is_whole)
        missing =
            step >= on->period ? (step - on->period / 2) / on->period : 0; /* to the nearest, less this one */
    return missing < MOST_SENT ? (uint32_t)missing : 0;
}

/* What was sent since the last count, and how much of it came. Where one instrument counts, whatever comes is
 * its own. Of the time of counts that are lost nobody knows what was sent: as much as before and after. */
static void take_monitor(blackrock *it, const sf_cerebus_packet *of)
{
    instrument *on = &it->instruments[of->instrument];
    uint32_t sent = sf_little_32(of->payload), number = of->bytes >= 8 ? sf_little_32(of->payload + 4) : 0;
    int64_t received = (int64_t)(it->counting > 1 ? on->received : it->received), lost = 0;
    if (sent > MOST_SENT) {
        sf_decoder_leave_out(&it->rig.decoder, "a count of %" PRIu32 " packets sent", sent);
        return;
    }
    if (on->has_monitor) {
        int64_t missing = count_missing(on, of, number, received == sent);
        lost = missing * ((int64_t)on->sent + sent) / 2 + sent - received;
        lost = lost > missing ? lost : missing;
        if (missing == 0 && received == sent && of->time > on->monitored)
            on->period = of->time - on->monitored;
    }
    it->rig.decoder.batch.gaps += lost > 0;
    it->rig.decoder.batch.gap_lost += (uint64_t)lost;
    it->counting += !on->has_monitor;
    on->has_monitor = true;
    on->monitor = number;
    on->monitored = of->time;
    on->sent = sent;
    on->received = it->received = 0;
}

static void take_beat(blackrock *it, const sf_cerebus_packet *of)
{
    int64_t time;
    if (it->rig.rate_uhz == 0) compare_beats(it, of);
    sf_rig_hear(&it->rig);
    if (take_time(it, of, &time) && it->rig.rate_uhz != 0)
        sf_rig_clock(&it->rig, time, (int64_t)((double)it->rig.rate_uhz * 1e-6 * BEHIND_S));
    if (of->type == SF_CEREBUS_MONITOR) take_monitor(it, of);
}

static void compare_rate(blackrock *it, double hz, const char *said)
{
    double is_read = (double)it->rig.rate_uhz * 1e-6;
    if (it->rate_was_told || is_read == 0 || is_read == hz) return;
    it->rate_was_told = true;
    sf_log(SF_LOG_WARNING,
           "%s: it says that times are %s, and they are read at %.10g Hz: set sample_rate_hz to %.10g",
           it->rig.decoder.name, said, is_read, hz);
}

static void take_state(blackrock *it, const sf_cerebus_packet *of)
{
    uint32_t hz = sf_little_32(of->payload);
    if (hz < 1000 || hz > 1000000) return;
    it->ticks_hz = hz;
    if ((double)it->rig.rate_uhz * 1e-6 != NS_HZ) compare_rate(it, hz, "ticks of another rate");
}

static bool is_gemini(const char *ident)
{
    for (; *ident != '\0'; ident++)
        if (strncasecmp(ident, "gemini", 6) == 0) return true;
    return false;
}

/* Only Gemini counts nanoseconds. */
static int take_processor(blackrock *it, const sf_cerebus_packet *of, sf_error *error)
{
    sf_decoder *decoder = &it->rig.decoder;
    char ident[4 * SF_CEREBUS_IDENT + 1];
    take_text(ident, sizeof ident, of->payload + SF_CEREBUS_IDENT_AT, SF_CEREBUS_IDENT);
    trim(ident);
    bool counts_ns = is_gemini(ident) && it->layout != SF_CEREBUS_311;
    double hz = counts_ns ? NS_HZ : ticks_of(it);
    tell_time(it, hz, "as what it is says");
    compare_rate(it, hz, counts_ns ? "nanoseconds" : "ticks");
    if (it->processor_was_told) return SF_OK;
    it->processor_was_told = true;
    sf_log(SF_LOG_INFO, "%s: '%s' speaks protocol %u.%u", decoder->name, ident,
           sf_little_16(of->payload + SF_CEREBUS_VERSION_AT + 2),
           sf_little_16(of->payload + SF_CEREBUS_VERSION_AT));
    return decoder->is_known || ident[0] == '\0'
               ? SF_OK
               : sf_recording_set_metadata(&decoder->about, "device", ident, error);
}

static int take_channel(blackrock *it, const sf_cerebus_packet *of, sf_error *error)
{
    const sf_decoder *decoder = &it->rig.decoder;
    uint32_t number = sf_little_32(of->payload), can = sf_little_32(of->payload + SF_CEREBUS_CAPABILITIES_AT),
             inputs = sf_little_32(of->payload + SF_CEREBUS_INPUTS_AT);
    char label[LABEL_ROOM];
    if (number == 0 || number > SF_CEREBUS_CHANNELS) {
        sf_decoder_leave_out(&it->rig.decoder, "a channel of number %" PRIu32, number);
        return SF_OK;
    }
    channel *to = find_channel(it, of, number, error);
    if (to == NULL) return SF_NO_MEMORY;
    to->kind = (can & SF_CEREBUS_IS_DIGITAL) == 0 && inputs == 0 ? (can & SF_CEREBUS_IS_MOTION) != 0 ? OTHER
                                                                   : (can & SF_CEREBUS_IS_ANALOG) != 0
                                                                       ? ANALOG
                                                                       : UNTOLD
               : (inputs & SF_CEREBUS_IS_SERIAL) != 0            ? SERIAL
                                                                 : DIGITAL;
    take_text(label, sizeof label, of->payload + SF_CEREBUS_LABEL_AT, SF_CEREBUS_LABEL);
    trim(label);
    for (size_t at = 0, more; label[at] != '\0'; at += more) {
        more = sf_utf8_length(label + at);
        if (sf_utf8_is_hidden(sf_utf8_code(label + at, more))) {
            label[0] = '\0';
            break;
        }
    }
    if ((decoder->is_known && decoder->learns) || strcmp(label, to->label) == 0) return SF_OK;
    memcpy(to->label, label, sizeof label);
    if (!decoder->learns) memset(to->units, 0, sizeof to->units); /* they are looked up by its name now */
    return SF_OK;
}

/* The time of a comment is when it was sent or, with some programs, when the user began to type. */
static int take_comment(blackrock *it, const sf_cerebus_packet *of, sf_error *error)
{
    char text[SF_MARKER_TEXT_SIZE];
    size_t begin = it->layout == SF_CEREBUS_311 ? SF_CEREBUS_COMMENT_311 : SF_CEREBUS_COMMENT_40;
    size_t size = of->bytes - begin;
    size = size < SF_CEREBUS_COMMENT_BYTES ? size : SF_CEREBUS_COMMENT_BYTES;
    if (of->payload[0] == 1)
        take_text_16(text, sizeof text, of->payload + begin, size);
    else
        take_text(text, sizeof text, of->payload + begin, size);
    trim(text);
    int64_t newest = it->time, time, hz = (int64_t)(it->rig.rate_uhz / 1000000);
    bool had_time = it->has_time;
    if (!take_time(it, of, &time)) return SF_OK;
    if (had_time && (time < newest - (int64_t)((double)hz * COMMENT_S) || time > newest + hz * AHEAD_S))
        time = newest;
    it->time = had_time ? newest : time;
    return sf_rig_text(&it->rig, time, text[0] != '\0' ? text : "comment", error);
}

/* Previews of channels have the system bit and such types too, but are longer than a monitor. */
static bool is_beat(const sf_cerebus_packet *of)
{
    return of->channel == SF_CEREBUS_SYSTEM &&
           (of->type == SF_CEREBUS_HEARTBEAT ||
            (of->type == SF_CEREBUS_MONITOR && of->bytes >= 4 && of->bytes <= 8));
}

static int take_system(blackrock *it, const sf_cerebus_packet *of, sf_error *error)
{
    size_t comment = it->layout == SF_CEREBUS_311 ? SF_CEREBUS_COMMENT_311 : SF_CEREBUS_COMMENT_40;
    if (is_beat(of))
        take_beat(it, of);
    else if ((of->type & 0xf0) == SF_CEREBUS_CHANNEL && of->bytes >= SF_CEREBUS_LABEL_AT + SF_CEREBUS_LABEL)
        return take_channel(it, of, error);
    else if ((of->type & 0xf0) == SF_CEREBUS_STATE && of->bytes >= 4)
        take_state(it, of);
    else if (of->type == SF_CEREBUS_PROCESSOR && of->bytes >= SF_CEREBUS_VERSION_AT + 4)
        return take_processor(it, of, error);
    else if (of->type == SF_CEREBUS_COMMENT && of->bytes > comment)
        return take_comment(it, of, error);
    return SF_OK;
}

/* ---- packets of channels ---- */

static int take_word(blackrock *it, const sf_cerebus_packet *of, const char *called, int64_t time,
                     uint32_t value, sf_error *error)
{
    char text[NAME_ROOM + 32];
    const channel *channels = it->instruments[of->instrument].channels;
    const char *label = channels != NULL ? label_of(channels, of->channel) : "";
    int length = snprintf(text, sizeof text, "%s", label[0] != '\0' ? label : called);
    if (of->instrument > 0)
        length += snprintf(text + length, sizeof text - (size_t)length, "/%u", of->instrument);
    snprintf(text + length, sizeof text - (size_t)length, " %" PRIu32, value);
    return sf_rig_text(&it->rig, time, text, error);
}

/* u32 value, u32 changed bits, u32 reason (1: a bit changed, 2: a strobe). Bits are lines. */
static int take_input(blackrock *it, const sf_cerebus_packet *of, channel_kind kind, sf_error *error)
{
    int64_t time;
    uint32_t value = sf_little_32(of->payload);
    uint32_t changed = of->bytes >= 12 && kind != SERIAL ? sf_little_32(of->payload + 4) : 0;
    bool is_strobe = of->bytes >= 12 && (sf_little_32(of->payload + 8) & 2) != 0;
    if (!take_time(it, of, &time)) return SF_OK;
    if (changed == 0 || is_strobe)
        return take_word(it, of, kind == SERIAL ? "serial" : "digital", time, value, error);
    int status = SF_OK;
    for (unsigned bit = 0; bit < 32 && status == SF_OK; bit++)
        if ((changed >> bit & 1) != 0)
            status = sf_rig_ttl(&it->rig, time, 32u * of->instrument + bit, (value >> bit & 1) != 0, error);
    return status;
}

/* Amplitude of the waveform or, if no waveform was sent, the trough or peak that the system reports. */
static float amplitude_of(const sf_cerebus_packet *of)
{
    size_t from = of->bytes > SF_CEREBUS_WAVE_AT ? SF_CEREBUS_WAVE_AT : SF_CEREBUS_TROUGH_AT;
    return sf_rig_amplitude(of->payload + from, of->bytes - from, SF_RIG_INT16);
}

static int take_spike(blackrock *it, const sf_cerebus_packet *of, sf_error *error)
{
    uint32_t unit;
    int64_t time;
    if (of->bytes < SF_CEREBUS_WAVE_AT) {
        sf_decoder_leave_out(&it->rig.decoder, "a spike of %zu bytes on channel %u", of->bytes, of->channel);
        return SF_OK;
    }
    if (!take_time(it, of, &time)) return SF_OK;
    if (of->type == SF_CEREBUS_NOISE) {
        sf_rig_hear(&it->rig);
        it->rig.decoder.batch.out_of_range++;
        return SF_OK;
    }
    int status = find_unit(it, of, &unit, error);
    return status == SF_OK && unit != SF_NO_UNIT ? sf_rig_spike(&it->rig, unit, time, amplitude_of(of), error)
                                                 : status;
}

/* If the system has not described a channel, the length of its packets tells the kind: those of digital
 * inputs are shorter. */
static int take_data(blackrock *it, const sf_cerebus_packet *of, sf_error *error)
{
    const channel *channels = it->instruments[of->instrument].channels;
    channel_kind kind = channels != NULL ? channels[of->channel - 1].kind : UNTOLD;
    if (kind == UNTOLD) kind = of->bytes <= 12 ? DIGITAL : ANALOG;
    return kind == OTHER    ? SF_OK
           : kind == ANALOG ? take_spike(it, of, error)
                            : take_input(it, of, kind, error);
}

static int take_packet(blackrock *it, const sf_cerebus_packet *of, sf_error *error)
{
    it->received++;
    if (of->instrument < SF_CEREBUS_INSTRUMENTS) it->instruments[of->instrument].received++;
    if (of->channel == 0) return SF_OK;
    if (!sf_cerebus_is_sound(of)) {
        sf_decoder_leave_out(&it->rig.decoder, "a packet of type %u on channel %u of instrument %u", of->type,
                             of->channel, of->instrument);
        return SF_OK;
    }
    return (of->channel & SF_CEREBUS_SYSTEM) != 0 ? take_system(it, of, error) : take_data(it, of, error);
}

/* ---- datagrams ---- */

static const char *name_of(sf_cerebus_layout layout)
{
    return layout == SF_CEREBUS_311 ? "3.11" : layout == SF_CEREBUS_40 ? "4.0" : "4.1 or 4.2";
}

static unsigned explain(sf_part datagram, unsigned candidates)
{
    unsigned fits = 0;
    for (unsigned i = 0; i < SF_CEREBUS_LAYOUTS; i++)
        if ((candidates >> i & 1) != 0 &&
            sf_cerebus_fills((sf_cerebus_layout)i, datagram.data, datagram.size, true))
            fits |= 1u << i;
    return fits;
}

static bool is_one(unsigned layouts)
{
    return layouts != 0 && (layouts & (layouts - 1)) == 0;
}

static void settle(blackrock *it, unsigned layout)
{
    it->layout = layout >> SF_CEREBUS_311 & 1  ? SF_CEREBUS_311
                 : layout >> SF_CEREBUS_40 & 1 ? SF_CEREBUS_40
                                               : SF_CEREBUS_41;
    it->is_found = true;
    it->misfits = 0;
    sf_log(SF_LOG_INFO, "%s: protocol %s", it->rig.decoder.name, name_of(it->layout));
    if (it->layout == SF_CEREBUS_311) tell_time(it, ticks_of(it), "as protocol 3.11 has them");
}

/* Searches for the only header layout that fits all datagrams so far; true once it is found. Datagrams that
 * fit several layouts are not read. */
static bool find_layout(blackrock *it, sf_part datagram)
{
    const unsigned newer = 1u << SF_CEREBUS_40 | 1u << SF_CEREBUS_41;
    unsigned fits = explain(datagram, it->candidates);
    if (fits == 0) {
        sf_decoder_leave_out(&it->rig.decoder, "no packets of Blackrock's: %zu bytes", datagram.size);
        if (++it->misfits >= MISFITS) {
            it->misfits = 0;
            it->candidates = ALL_LAYOUTS;
        }
        return false;
    }
    it->candidates = fits;
    it->misfits = 0;
    if (is_one(fits))
        settle(it, fits);
    else if (fits != newer) /* these two differ only for packets with content */
        sf_decoder_leave_out(&it->rig.decoder, "packets that may be of protocol 3.11 or of a newer one");
    return it->is_found;
}

/* Counts datagrams that do not fit the detected protocol; after several in a row that fit another, switches
 * to it. */
static void doubt(blackrock *it, sf_part datagram)
{
    sf_decoder_leave_out(&it->rig.decoder, "no packets of protocol %s: %zu bytes", name_of(it->layout),
                         datagram.size);
    unsigned fits = it->is_named ? 0 : explain(datagram, ALL_LAYOUTS & ~(1u << it->layout));
    bool counts_ns = (double)it->rig.rate_uhz * 1e-6 == NS_HZ;
    if (!is_one(fits) || (fits == 1u << SF_CEREBUS_311 && counts_ns) || ++it->misfits < MISFITS) return;
    sf_log(SF_LOG_WARNING, "%s: the protocol is another from here on", it->rig.decoder.name);
    settle(it, fits);
}

static int take_datagram(blackrock *it, sf_part datagram, sf_error *error)
{
    sf_cerebus_packet packet;
    const unsigned char *bytes = datagram.data;
    if (!it->is_found && !find_layout(it, datagram)) return SF_OK;
    if (!sf_cerebus_fills(it->layout, bytes, datagram.size, false)) {
        doubt(it, datagram);
        return SF_OK;
    }
    it->misfits = 0;
    int status = SF_OK;
    for (size_t at = 0; at < datagram.size && status == SF_OK;) {
        at += sf_cerebus_read(it->layout, bytes + at, datagram.size - at, &packet);
        status = take_packet(it, &packet, error);
    }
    return status;
}

/* An empty datagram is a player's probe for listeners. */
static int decode(sf_decoder *decoder, const sf_part *parts, size_t count, sf_error *error)
{
    blackrock *it = (blackrock *)decoder;
    int status = SF_OK;
    sf_rig_begin(&it->rig);
    if (count != 1)
        sf_decoder_leave_out(decoder, "no datagram of Blackrock's: %zu parts", count);
    else if (parts[0].size > 0)
        status = take_datagram(it, parts[0], error);
    return status == SF_OK ? sf_rig_end(&it->rig, error) : status;
}

static int open_blackrock(sf_decoder *decoder, sf_error *error)
{
    static const struct {
        const char *name;
        sf_cerebus_layout layout;
    } names[] = {
        {"3.11", SF_CEREBUS_311}, {"4.0", SF_CEREBUS_40}, {"4.1", SF_CEREBUS_41}, {"4.2", SF_CEREBUS_41}};
    blackrock *it = (blackrock *)decoder;
    const char *wanted = decoder->given.layout;
    it->candidates = ALL_LAYOUTS;
    it->plain = -1;
    it->rig.name_units = name_units;
    it->rig.place_units = place_units;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(wanted, names[i].name) == 0) {
            it->is_named = it->is_found = true;
            it->layout = names[i].layout;
        }
    if (!it->is_named && wanted[0] != '\0' && strcmp(wanted, "auto") != 0)
        return sf_fail(error, SF_USAGE, "protocol", "found '%s', expected auto, 3.11, 4.0, 4.1 or 4.2",
                       wanted);
    if (it->layout == SF_CEREBUS_311 && it->is_named && decoder->given.sample_rate_hz == 0)
        decoder->given.sample_rate_hz = SF_CEREBUS_HZ;
    return sf_rig_open(decoder, error);
}

static void close_blackrock(sf_decoder *decoder)
{
    blackrock *it = (blackrock *)decoder;
    for (unsigned i = 0; i < SF_CEREBUS_INSTRUMENTS; i++)
        sf_free(it->instruments[i].channels);
    sf_rig_close(decoder);
}

const sf_decoder_kind sf_decoder_blackrock = {
    .name = "blackrock",
    .size = sizeof(blackrock),
    .most_bytes = MOST_BYTES,
    .open = open_blackrock,
    .decode = decode,
    .gave = sf_rig_gave,
    .close = close_blackrock,
};
