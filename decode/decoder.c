/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/decoder.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

static const sf_decoder_kind *const kinds[] = {
    &sf_decoder_synfire, &sf_decoder_open_ephys, &sf_decoder_event_broadcaster,
    &sf_decoder_maxwell, &sf_decoder_intan,      &sf_decoder_brand,
    &sf_decoder_trodes,  &sf_decoder_lsl,        &sf_decoder_blackrock,
    &sf_decoder_cortical};

#define KINDS (sizeof kinds / sizeof kinds[0])

/* ---- what is fed ---- */

static int keep(sf_decoder_input *in, const void *bytes, size_t size, sf_error *error)
{
    if (in->from > 0) {
        memmove(in->bytes, in->bytes + in->from, in->to - in->from);
        in->to -= in->from;
        in->from = 0;
    }
    if (sf_reserve(&in->bytes, &in->capacity, in->to + size, 1) != 0) return sf_fail_memory(error);
    if (size > 0) memcpy(in->bytes + in->to, bytes, size);
    in->to += size;
    return SF_OK;
}

/* A message that is too long is noted and discarded, because the sender determines how much memory it would
 * take. */
static int keep_part(sf_decoder *decoder, const void *bytes, size_t size, sf_error *error)
{
    sf_decoder_input *in = &decoder->input;
    if (in->too_much || in->part_count == SF_DECODER_PARTS ||
        size > decoder->kind->most_bytes - (in->to - in->from)) {
        in->too_much = true;
        return SF_OK;
    }
    int status = keep(in, bytes, size, error);
    if (status == SF_OK) in->part_ends[in->part_count++] = in->to;
    return status;
}

int sf_decoder_feed(sf_decoder *decoder, const void *bytes, size_t size, sf_feed how, sf_error *error)
{
    sf_decoder_input *in = &decoder->input;
    bool of_bytes = how == SF_FEED_BYTES;
    if (decoder->has_ended) return SF_END;
    if (in->whole) return SF_AGAIN;
    if (of_bytes && decoder->kind->measure == NULL)
        return sf_fail(error, SF_USAGE, decoder->name, "%s comes in messages, not as a stream of bytes",
                       decoder->kind->name);
    if (in->begun && of_bytes != in->of_bytes)
        return sf_fail(error, SF_USAGE, decoder->name, "found %s, expected %s as before",
                       of_bytes ? "a stream of bytes" : "a message",
                       of_bytes ? "messages" : "a stream of bytes");
    int status = of_bytes ? keep(in, bytes, size, error) : keep_part(decoder, bytes, size, error);
    if (status != SF_OK) return status;
    in->begun = true;
    in->of_bytes = of_bytes;
    in->whole = how != SF_FEED_PART;
    return SF_OK;
}

/* ---- messages and frames ---- */

/* The message that was fed; there is at most one. */
static size_t see_parts(const sf_decoder_input *in, sf_part parts[SF_DECODER_PARTS])
{
    size_t count = in->too_much ? 0 : in->part_count, begin = in->from;
    for (size_t i = 0; i < count; i++) {
        const size_t size = in->part_ends[i] - begin;
        parts[i] = size > 0 ? (sf_part){in->bytes + begin, size} : (sf_part){"", 0};
        begin = in->part_ends[i];
    }
    return count;
}

static void drop_parts(sf_decoder_input *in)
{
    in->from = in->to = in->part_count = 0;
    in->too_much = in->whole = false;
}

/* First position where a frame may begin, or NULL. */
static const unsigned char *first_of(sf_part magic, const unsigned char *bytes, size_t size)
{
    const unsigned char *first = magic.data, *end = bytes + size;
    while ((size_t)(end - bytes) >= magic.size) {
        bytes = memchr(bytes, *first, (size_t)(end - bytes) - magic.size + 1);
        if (bytes == NULL || memcmp(bytes, first, magic.size) == 0) return bytes;
        bytes++;
    }
    return NULL;
}

/* Skips to where a frame may begin, else keeps only the last bytes, which may be the start of one. */
static void find_magic(sf_decoder_input *in, sf_part magic)
{
    size_t size = in->to - in->from;
    const unsigned char *begin = in->bytes + in->from;
    const unsigned char *found = first_of(magic, begin, size);
    in->is_astray = found == NULL;
    if (found != NULL)
        in->from += (size_t)(found - begin);
    else if (size >= magic.size)
        in->from = in->to - (magic.size - 1);
}

/* Cuts the next frame from a byte stream; SF_AGAIN if it is incomplete. */
static int cut_frame(sf_decoder *decoder, sf_part *frame, sf_error *error)
{
    sf_decoder_input *in = &decoder->input;
    for (;;) {
        if (in->is_astray) find_magic(in, decoder->kind->magic);
        size_t size = in->to - in->from, whole;
        if (in->is_astray || size == 0 || size < in->wanted) return SF_AGAIN;
        int status = decoder->kind->measure(decoder, in->bytes + in->from, size, &whole, error);
        in->wanted = whole > size ? whole : 0;
        if (status != SF_OK || whole > size) return status != SF_OK ? status : SF_AGAIN;
        if (whole > 0) {
            *frame = (sf_part){in->bytes + in->from, whole};
            in->from += whole;
            return SF_OK;
        }
        in->is_astray = true;
        in->from++;
    }
}

/* Decodes the next buffered message or frame; *any is false if nothing is left. */
static int decode_next(sf_decoder *decoder, bool *any, sf_error *error)
{
    sf_decoder_input *in = &decoder->input;
    sf_part parts[SF_DECODER_PARTS];
    size_t count = 1;
    *any = in->whole;
    if (!*any) return SF_AGAIN;
    if (in->of_bytes) {
        int status = cut_frame(decoder, &parts[0], error);
        *any = in->whole = status != SF_AGAIN;
        if (status != SF_OK) return status;
    } else {
        count = see_parts(in, parts);
    }
    decoder->once_more = false;
    int status = decoder->kind->decode(decoder, parts, count, error);
    if (in->of_bytes && decoder->once_more)
        in->from -= parts[0].size;
    else if (!in->of_bytes && !decoder->once_more)
        drop_parts(in);
    return status;
}

int sf_decoder_next(sf_decoder *decoder, sf_batch *batch, sf_error *error)
{
    if (decoder->has_ended) return SF_END;
    int status = decoder->is_ready ? SF_OK : SF_AGAIN;
    for (bool any = true; status == SF_AGAIN && any;)
        status = decode_next(decoder, &any, error);
    if (status == SF_OK) sf_decoder_give(decoder, batch);
    return status;
}

void sf_decoder_break(sf_decoder *decoder)
{
    sf_decoder_input *in = &decoder->input;
    if (in->to > in->from && !in->is_astray) sf_decoder_leave_out(decoder, "a frame that broke off");
    in->from = in->to = in->part_count = in->wanted = 0;
    in->is_astray = in->whole = in->too_much = false;
}

/* ---- what is taken ---- */

static const sf_batch nothing = {.clock_ns = INT64_MIN};

void sf_decoder_leave_out(sf_decoder *decoder, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    sf_visible_vprintf(decoder->fault, sizeof decoder->fault, format, arguments);
    va_end(arguments);
    decoder->batch.malformed++;
}

bool sf_decoder_has_counts(const sf_decoder *decoder)
{
    const sf_batch *counts = &decoder->batch;
    return counts->heard || counts->gaps > 0 || counts->gap_lost > 0 || counts->malformed > 0 ||
           counts->other_streams > 0 || counts->restarts > 0;
}

void sf_decoder_give(sf_decoder *decoder, sf_batch *batch)
{
    *batch = decoder->batch;
    if (batch->arrival_ns == 0) batch->arrival_ns = sf_clock_monotonic_ns();
    decoder->batch = nothing;
    memcpy(decoder->told, decoder->fault, sizeof decoder->told);
    decoder->fault[0] = '\0';
    decoder->is_ready = false;
    if (decoder->kind->gave != NULL) decoder->kind->gave(decoder);
}

static sf_decoded columns_of(const sf_decoder *decoder, const sf_batch *batch)
{
    const sf_recording *about = &decoder->about;
    bool promised = batch->clock_ns > -SF_TIME_LIMIT_NS && batch->clock_ns < SF_TIME_LIMIT_NS;
    return (sf_decoded){
        .spikes = batch->spikes,
        .spike_count = batch->spike_count,
        .markers = batch->markers,
        .marker_count = batch->marker_count,
        .watermark_ns = promised ? batch->clock_ns : INT64_MIN,
        .malformed = batch->malformed,
        .fault = decoder->told[0] != '\0' ? decoder->told : NULL,
        .out_of_range = batch->out_of_range,
        .gaps = batch->gaps,
        .gap_lost = batch->gap_lost,
        .restarts = batch->restarts,
        .missing_spikes = batch->has_totals ? batch->missing_spikes : -1,
        .missing_markers = batch->has_totals ? batch->missing_markers : -1,
        .is_known = decoder->is_known,
        .name = about->path,
        .unit_count = about->units.count,
        .units = about->units.items,
        .metadata_count = about->metadata_count,
        .metadata = about->metadata,
        .virtual_clock = decoder->virtual_clock,
        .other_streams = batch->other_streams,
    };
}

int sf_decoder_take(sf_decoder *decoder, sf_decoded *decoded, sf_error *error)
{
    sf_batch batch;
    int status = sf_decoder_next(decoder, &batch, error);
    if (status == SF_AGAIN && sf_decoder_has_counts(decoder)) {
        sf_decoder_give(decoder, &batch);
        status = SF_OK;
    }
    if (status == SF_OK) {
        const sf_decoded own = columns_of(decoder, &batch);
        sf_columns_fill(decoded, &own, sizeof own);
    }
    return status;
}

/* ---- opening and closing ---- */

const sf_decoder_kind *sf_decoder_find(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

static int refuse_kind(const char *name, sf_error *error)
{
    sf_text names = {0};
    for (size_t i = 0; i < KINDS; i++)
        sf_text_printf(&names, "%s%s", i == 0 ? "" : i + 1 < KINDS ? ", " : " or ", kinds[i]->name);
    int status = names.failed
                     ? sf_fail_memory(error)
                     : sf_fail(error, SF_USAGE, "protocol", "found %s, expected %s", name, names.data);
    sf_text_free(&names);
    return status;
}

/* The units that were given, each with its number. */
static int take_channels(sf_decoder_given *given, const sf_decoder_options *options, sf_error *error)
{
    int32_t most = -1;
    for (size_t i = 0; i < options->unit_count; i++)
        most = options->channels[i] > most ? options->channels[i] : most;
    if (most >= SF_DECODER_MOST_CHANNELS)
        return sf_fail(error, SF_USAGE, "channels", "found number %d, expected less than %d", most,
                       SF_DECODER_MOST_CHANNELS);
    given->channels = most >= 0 ? (size_t)most + 1 : 0;
    given->of_channel = sf_resize(NULL, given->channels, sizeof *given->of_channel);
    if (given->of_channel == NULL) return sf_fail_memory(error);
    memset(given->of_channel, 0xff, given->channels * sizeof *given->of_channel); /* SF_NO_UNIT */
    for (size_t i = 0; i < options->unit_count; i++)
        if (options->channels[i] >= 0) given->of_channel[options->channels[i]] = (uint32_t)i;
    return SF_OK;
}

static int take_options(sf_decoder *decoder, const sf_decoder_options *options, sf_error *error)
{
    sf_decoder_given *given = &decoder->given;
    given->has_units = options->units != NULL && options->unit_count > 0;
    given->sample_rate_hz = options->sample_rate_hz;
    given->learn_s = options->learn_s;
    if (options->layout != NULL) snprintf(given->layout, sizeof given->layout, "%s", options->layout);
    if (options->stream != NULL) snprintf(given->stream, sizeof given->stream, "%s", options->stream);
    int status = SF_OK;
    for (size_t i = 0; given->has_units && status == SF_OK && i < options->unit_count; i++)
        status = sf_units_add(&decoder->about.units, &options->units[i], error);
    if (status == SF_OK && given->has_units) status = sf_units_finish(&decoder->about.units, error);
    if (status == SF_OK && given->has_units && options->channels != NULL)
        status = take_channels(given, options, error);
    return status == SF_OK && decoder->kind->open != NULL ? decoder->kind->open(decoder, error) : status;
}

int sf_decoder_open(sf_decoder **out, const sf_decoder_options *options, sf_error *error)
{
    static const sf_decoder_options defaults = {.size = sizeof defaults};
    *out = NULL;
    sf_decoder_options own;
    int status = sf_options_read(&own, &defaults, sizeof own, options, "sf_decoder_options", error);
    if (status != SF_OK) return status;
    const sf_decoder_kind *kind = own.protocol != NULL ? sf_decoder_find(own.protocol) : &sf_decoder_synfire;
    if (kind == NULL) return refuse_kind(own.protocol, error);
    sf_decoder *decoder = sf_alloc(1, kind->size);
    if (decoder == NULL) return sf_fail_memory(error);
    decoder->kind = kind;
    snprintf(decoder->name, sizeof decoder->name, "%s", own.name != NULL ? own.name : "the stream");
    decoder->batch = nothing;
    status = take_options(decoder, &own, error);
    if (status != SF_OK) {
        sf_decoder_close(decoder);
        return status;
    }
    *out = decoder;
    return SF_OK;
}

void sf_decoder_close(sf_decoder *decoder)
{
    if (decoder == NULL) return;
    decoder->kind->close(decoder);
    sf_free(decoder->input.bytes);
    sf_free(decoder->given.of_channel);
    sf_recording_clear(&decoder->about);
    sf_free(decoder);
}
