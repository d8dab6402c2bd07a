/* SPDX-License-Identifier: Apache-2.0 */
/* Inlets of Lab Streaming Layer: one of what the source is about and, where it is wanted, one of markers.
 * liblsl is asked to recover nothing, so that it is known here when a stream ends; it is then looked for
 * again. */
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "ingest/lsl.h"
#include "io/descriptors.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FORGET_S 2.0 /* an outlet that no longer answers */
#define LOOK_NS (SF_SECOND / 20)
#define CONNECT_S 2.0        /* for each of the few questions to a new outlet */
#define CORRECT_NS SF_SECOND /* liblsl measures every five seconds */
#define TURN_S 0.002         /* that one inlet is waited for while there is another */
#define CHUNK 1024           /* samples that are handed over at once */
#define MOST_CHANNELS 2      /* of a stream that is read; of others nothing is */
#define MOST_FOUND 16

typedef struct stream {
    sf_lsl_query query;
    sf_lsl_resolver resolver; /* while it is looked for */
    sf_lsl_inlet inlet;
    bool is_read, is_text, is_marker;
    int32_t channels;
    double correction_s;
    int64_t look_ns, correct_ns; /* when next */
} stream;

typedef struct reader {
    sf_transport transport;
    const sf_lsl *lsl;
    stream streams[2]; /* what the source is about, and markers */
    size_t stream_count;
    atomic_bool connected;
    sf_text table;
    double stamps[CHUNK], values[CHUNK * MOST_CHANNELS];
} reader;

/* ---- feeding ---- */

static int feed(sf_decoder *decoder, const char *word, sf_part first, sf_part second, sf_part third,
                sf_error *error)
{
    const sf_part parts[] = {{word, strlen(word)}, first, second, third};
    int status = SF_OK;
    for (size_t i = 0; i < 4 && status == SF_OK; i++)
        status = sf_decoder_feed(decoder, parts[i].size > 0 ? parts[i].data : "", parts[i].size,
                                 i < 3 ? SF_FEED_PART : SF_FEED_MESSAGE, error);
    return status;
}

/* The units that the sender tells, as decode/lsl.c has them. */
static void read_table(reader *it, sf_lsl_info info)
{
    const sf_lsl *lsl = it->lsl;
    static const char *const keys[] = {"label", "x_um", "y_um"};
    sf_text_clear(&it->table);
    sf_lsl_node units = lsl->child(lsl->get_desc(info), "units");
    for (sf_lsl_node unit = lsl->child(units, "unit"); !lsl->empty(unit);
         unit = lsl->next_sibling_n(unit, "unit"))
        for (size_t i = 0; i < 3; i++) {
            const char *text = lsl->child_value_n(unit, keys[i]);
            sf_text_append(&it->table, text, strlen(text) + 1);
        }
}

static int feed_about(reader *it, stream *of, sf_lsl_info info, sf_decoder *decoder, sf_error *error)
{
    const sf_lsl *lsl = it->lsl;
    const char *type = lsl->get_type(info);
    const int32_t shape[2] = {of->channels, of->is_text};
    const double rate_hz = lsl->get_nominal_srate(info);
    char about[sizeof shape + sizeof rate_hz];
    memcpy(about, shape, sizeof shape);
    memcpy(about + sizeof shape, &rate_hz, sizeof rate_hz);
    read_table(it, info);
    if (it->table.failed) return sf_fail_memory(error);
    return feed(decoder, "about", (sf_part){type, strlen(type)}, (sf_part){about, sizeof about},
                (sf_part){it->table.data, it->table.length}, error);
}

/* ---- connecting ---- */

static void look_for(reader *it, stream *of)
{
    of->resolver = it->lsl->create_continuous_resolver_byprop(of->query.property, of->query.value, FORGET_S);
    of->look_ns = 0;
}

static void hang_up(reader *it, stream *of)
{
    if (of->inlet != NULL) it->lsl->destroy_inlet(of->inlet);
    of->inlet = NULL;
    if (of == it->streams) atomic_store(&it->connected, false);
}

static void lose(reader *it, stream *of)
{
    sf_log(SF_LOG_WARNING, "lsl://%s=%s: the stream ended; looking for it again", of->query.property,
           of->query.value);
    hang_up(it, of);
    look_for(it, of);
}

static void correct(reader *it, stream *of, double timeout_s, int64_t now_ns)
{
    int32_t failure = 0;
    double correction_s = it->lsl->time_correction(of->inlet, timeout_s, &failure);
    if (failure == 0 && isfinite(correction_s))
        of->correction_s = correction_s;
    else if (timeout_s > 0)
        sf_log(SF_LOG_WARNING,
               "lsl://%s=%s: its computer does not tell its clock: times are taken as this computer's",
               of->query.property, of->query.value);
    of->correct_ns = now_ns + CORRECT_NS;
}

/* Connects to an outlet that was found; SF_AGAIN where that does not work. */
static int connect_to(reader *it, stream *of, sf_lsl_info found, sf_decoder *decoder, sf_error *error)
{
    const sf_lsl *lsl = it->lsl;
    int32_t failure = 0;
    of->inlet = lsl->create_inlet(found, SF_LSL_BUFFERED, 0, 0);
    sf_lsl_info info = of->inlet != NULL ? lsl->get_fullinfo(of->inlet, CONNECT_S, &failure) : NULL;
    if (info != NULL) lsl->open_stream(of->inlet, CONNECT_S, &failure);
    if (info == NULL || failure != 0) {
        if (info != NULL) lsl->destroy_streaminfo(info);
        hang_up(it, of);
        return SF_AGAIN;
    }
    of->channels = lsl->get_channel_count(info);
    of->is_text = lsl->get_channel_format(info) == SF_LSL_STRING;
    of->is_marker = of != it->streams || (of->is_text && strcasecmp(lsl->get_type(info), "Markers") == 0);
    of->is_read = of->channels >= 1 && of->channels <= (of->is_text ? 1 : MOST_CHANNELS);
    of->correction_s = 0;
    correct(it, of, CONNECT_S, sf_clock_monotonic_ns());
    sf_log(SF_LOG_INFO, "lsl://%s=%s: connected to '%s' of %s", of->query.property, of->query.value,
           lsl->get_name(info), lsl->get_hostname(info));
    int status = SF_AGAIN;
    if (of == it->streams) {
        status = feed_about(it, of, info, decoder, error);
        atomic_store(&it->connected, true);
    }
    lsl->destroy_streaminfo(info);
    lsl->destroy_continuous_resolver(of->resolver);
    of->resolver = NULL;
    return status;
}

static int find(reader *it, stream *of, sf_decoder *decoder, int64_t now_ns, sf_error *error)
{
    sf_lsl_info found[MOST_FOUND];
    if (of->inlet != NULL || of->resolver == NULL || now_ns < of->look_ns) return SF_AGAIN;
    of->look_ns = now_ns + LOOK_NS;
    int32_t count = it->lsl->resolver_results(of->resolver, found, MOST_FOUND);
    if (count > 1)
        sf_log(SF_LOG_WARNING, "lsl://%s=%s: %d streams are it; the first is taken", of->query.property,
               of->query.value, (int)count);
    int status = count > 0 ? connect_to(it, of, found[0], decoder, error) : SF_AGAIN;
    for (int32_t i = 0; i < count; i++)
        it->lsl->destroy_streaminfo(found[i]);
    return status;
}

/* ---- samples ---- */

static int pull_text(reader *it, stream *of, double wait_s, sf_decoder *decoder, sf_error *error)
{
    char *text = NULL;
    int32_t failure = 0;
    double stamp_s = it->lsl->pull_sample_str(of->inlet, &text, 1, wait_s, &failure);
    if (failure == SF_LSL_LOST) lose(it, of);
    if (failure != 0 || stamp_s == 0 || text == NULL) return SF_AGAIN;
    int status = feed(decoder, of->is_marker ? "marker" : "name",
                      (sf_part){&of->correction_s, sizeof of->correction_s},
                      (sf_part){&stamp_s, sizeof stamp_s}, (sf_part){text, strlen(text)}, error);
    it->lsl->destroy_string(text);
    return status;
}

/* Numbers as markers: "7". */
static int feed_number(reader *it, const stream *of, sf_decoder *decoder, sf_error *error)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.10g", it->values[0]);
    return feed(decoder, "marker", (sf_part){&of->correction_s, sizeof of->correction_s},
                (sf_part){it->stamps, sizeof it->stamps[0]}, (sf_part){text, (size_t)length}, error);
}

/* The first is waited for, and what is there already comes with it. */
static int pull_numbers(reader *it, stream *of, double wait_s, sf_decoder *decoder, sf_error *error)
{
    size_t count = 0, most = of->is_marker ? 1 : CHUNK;
    int32_t failure = 0;
    while (count < most) {
        double stamp_s = it->lsl->pull_sample_d(of->inlet, it->values + count * (size_t)of->channels,
                                                of->channels, count == 0 ? wait_s : 0, &failure);
        if (failure != 0 || stamp_s == 0) break;
        it->stamps[count++] = stamp_s;
    }
    int status = SF_AGAIN;
    if (count > 0 && of->is_marker)
        status = feed_number(it, of, decoder, error);
    else if (count > 0)
        status = feed(decoder, "spikes", (sf_part){&of->correction_s, sizeof of->correction_s},
                      (sf_part){it->stamps, count * sizeof it->stamps[0]},
                      (sf_part){it->values, count * (size_t)of->channels * sizeof it->values[0]}, error);
    if (failure == SF_LSL_LOST) lose(it, of);
    return status;
}

static int pull(reader *it, stream *of, double wait_s, sf_decoder *decoder, sf_error *error)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    if (of->inlet == NULL || !of->is_read) return SF_AGAIN;
    if (now_ns >= of->correct_ns) correct(it, of, 0, now_ns);
    return of->is_text ? pull_text(it, of, wait_s, decoder, error)
                       : pull_numbers(it, of, wait_s, decoder, error);
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    reader *it = (reader *)transport;
    for (;;) {
        int64_t now_ns = sf_clock_monotonic_ns();
        size_t open = 0;
        for (size_t i = 0; i < it->stream_count; i++) {
            int status = find(it, &it->streams[i], decoder, now_ns, error);
            if (status != SF_AGAIN) return status;
            open += it->streams[i].inlet != NULL && it->streams[i].is_read;
        }
        double left_s = deadline_ns > now_ns ? (double)(deadline_ns - now_ns) * 1e-9 : 0;
        double most_s = it->stream_count > 1 ? TURN_S : (double)LOOK_NS * 1e-9;
        for (size_t i = 0; i < it->stream_count; i++) {
            int status = pull(it, &it->streams[i], left_s < most_s ? left_s : most_s, decoder, error);
            if (status != SF_AGAIN) return status;
        }
        if (now_ns >= deadline_ns) return SF_AGAIN;
        if (open == 0) sf_clock_sleep_until(deadline_ns < now_ns + LOOK_NS ? deadline_ns : now_ns + LOOK_NS);
    }
}

static bool is_connected(const sf_transport *transport)
{
    return atomic_load(&((const reader *)transport)->connected);
}

/* ---- opening and closing ---- */

static void close_reader(sf_transport *transport)
{
    reader *it = (reader *)transport;
    for (size_t i = 0; i < it->stream_count; i++) {
        hang_up(it, &it->streams[i]);
        if (it->streams[i].resolver != NULL) it->lsl->destroy_continuous_resolver(it->streams[i].resolver);
    }
    sf_text_free(&it->table);
    sf_free(it);
}

static int add_stream(reader *it, const char *endpoint, sf_error *error)
{
    int status = sf_lsl_parse(&it->streams[it->stream_count].query, endpoint, error);
    it->stream_count += status == SF_OK;
    return status;
}

static int add_markers(reader *it, const char *endpoint, sf_error *error)
{
    sf_error reason = {0};
    if (endpoint == NULL || strcmp(endpoint, "none") == 0 || add_stream(it, endpoint, &reason) == SF_OK)
        return SF_OK;
    return sf_fail(error, SF_CONFIG, "markers", "%s %s", reason.place, reason.text);
}

/* The library is loaded only now: as a rig, it may come before the run. */
static int look_for_all(sf_transport *transport, sf_error *error)
{
    reader *it = (reader *)transport;
    int status = sf_descriptors_check(SF_LSL_DESCRIPTORS, "lsl", error);
    if (status == SF_OK) status = sf_lsl_load(&it->lsl, error);
    for (size_t i = 0; i < it->stream_count && status == SF_OK; i++) {
        look_for(it, &it->streams[i]);
        if (it->streams[i].resolver == NULL)
            status =
                sf_fail(error, SF_UNAVAILABLE, it->streams[i].query.value, "liblsl cannot look for streams");
    }
    return status;
}

static int open_reader(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    reader *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->transport.kind = &sf_transport_lsl;
    int status = add_stream(it, settings->endpoint, error);
    if (status == SF_OK) status = add_markers(it, settings->markers, error);
    if (status != SF_OK) {
        close_reader(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

const sf_transport_kind sf_transport_lsl = {.descriptors = SF_LSL_DESCRIPTORS,
                                            .open = open_reader,
                                            .connect = look_for_all,
                                            .receive = receive,
                                            .connected = is_connected,
                                            .close = close_reader};
