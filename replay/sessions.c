/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/sessions.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEP_BACK_NS SF_SECOND
#define FEW_STEPS 8 /* that any clock may take back, */
#define SPIKES_OF_A_STEP                                                                                     \
    20 /* and beyond that, one step in this number of spikes; with more they are in no order                 \
        */
#define MOST_LISTED 16
#define BETWEEN_NS SF_SECOND /* minimum gap between joined sessions */

typedef struct sessions {
    size_t count;           /* 1: the clock does not step back */
    uint32_t *of;           /* of each spike */
    uint64_t *spikes;       /* of each session */
    sf_span *spans;         /* of its spikes */
    bool by_unit;           /* else by the order of the file */
    size_t stepping, fired; /* units */
    int64_t period_ns;      /* period of a counter that overflowed; 0: none */
    sf_text said;           /* which unit steps back */
} sessions;

static void free_sessions(sessions *found)
{
    sf_free(found->of);
    sf_free(found->spikes);
    sf_free(found->spans);
    sf_text_free(&found->said);
    *found = (sessions){0};
}

/* ---- where the clock steps back ---- */

typedef struct unit_clock {
    int64_t last_ns, most_back_ns;
    uint64_t spikes;
    uint32_t steps;
} unit_clock;

static bool steps_back(int64_t before_ns, int64_t time_ns)
{
    return before_ns > time_ns && before_ns - time_ns >= STEP_BACK_NS;
}

static bool are_few(uint64_t steps, uint64_t spikes)
{
    return steps <= FEW_STEPS || steps * SPIKES_OF_A_STEP <= spikes;
}

static void say_steps(sessions *found, const sf_recording *recording, const unit_clock *clocks, size_t first)
{
    char times[24] = "once";
    const char *name = recording->units.items[first].name;
    if (clocks[first].steps > 1) snprintf(times, sizeof times, "%" PRIu32 " times", clocks[first].steps);
    sf_text_printf(&found->said, "unit %.80s steps back %.6g s, %s; %zu of %zu units step back",
                   name != NULL ? name : "", (double)clocks[first].most_back_ns * 1e-9, times,
                   found->stepping, recording->units.count);
}

/* Numbers the session of each spike by the number of steps back of the clock before it: in file order if the
 * file interleaves units, else within the train of each unit. */
static void number_spikes(sessions *found, const sf_recording *recording, unit_clock *clocks)
{
    size_t step = 0;
    for (size_t u = 0; u < recording->units.count; u++)
        clocks[u] = (unit_clock){.last_ns = INT64_MIN};
    for (size_t i = 0; i < recording->spike_count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        unit_clock *clock = &clocks[spike->unit];
        clock->steps += steps_back(clock->last_ns, spike->time_ns);
        step += i > 0 && steps_back(spike[-1].time_ns, spike->time_ns);
        clock->last_ns = spike->time_ns;
        found->of[i] = found->by_unit ? clock->steps : (uint32_t)step;
    }
}

/* Sets found->count (1 if units do not step back, or too often to be sessions) and the description. */
static void look_for_steps(sessions *found, const sf_recording *recording, unit_clock *clocks)
{
    size_t changes = 0, changes_back = 0, steps = 0, first = SIZE_MAX, most = 0,
           count = recording->spike_count;
    bool few = true;
    for (size_t i = 0; i < count; i++) {
        const sf_spike *spike = &recording->spikes[i];
        unit_clock *clock = &clocks[spike->unit];
        if (i > 0 && spike[-1].unit == spike->unit &&
            spike[-1].time_ns <= spike->time_ns) { /* as nearly all */
            clock->spikes++;
            clock->last_ns = spike->time_ns;
            continue;
        }
        bool back = i > 0 && steps_back(spike[-1].time_ns, spike->time_ns),
             changed = i > 0 && spike[-1].unit != spike->unit;
        steps += back;
        changes += changed;
        changes_back += back && changed;
        if (clock->spikes > 0 && steps_back(clock->last_ns, spike->time_ns)) {
            int64_t back_ns = clock->last_ns - spike->time_ns;
            first = found->stepping == 0 ? spike->unit : first;
            found->stepping += clock->steps++ == 0;
            clock->most_back_ns = back_ns > clock->most_back_ns ? back_ns : clock->most_back_ns;
        }
        found->fired += clock->spikes++ == 0;
        clock->last_ns = spike->time_ns;
    }
    for (size_t u = 0; u < recording->units.count; u++) {
        few = few && are_few(clocks[u].steps, clocks[u].spikes);
        most = clocks[u].steps > most ? clocks[u].steps : most;
    }
    bool is_train_by_train = 2 * changes_back >= changes;
    found->by_unit = is_train_by_train || !are_few(steps, count);
    found->count = few && found->stepping > 0 ? (found->by_unit ? most : steps) + 1 : 1;
    if (found->count > 1) say_steps(found, recording, clocks, first);
}

static int measure_sessions(sessions *found, const sf_recording *recording, sf_error *error)
{
    found->spikes = sf_alloc(found->count, sizeof *found->spikes);
    found->spans = sf_alloc(found->count, sizeof *found->spans);
    if (found->spikes == NULL || found->spans == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < recording->spike_count; i++) {
        int64_t time_ns = recording->spikes[i].time_ns;
        sf_span *span = &found->spans[found->of[i]];
        if (found->spikes[found->of[i]]++ == 0) *span = (sf_span){time_ns, time_ns + 1};
        span->start_ns = time_ns < span->start_ns ? time_ns : span->start_ns;
        span->stop_ns = time_ns >= span->stop_ns ? time_ns + 1 : span->stop_ns;
    }
    return SF_OK;
}

/* ---- a counter that overflowed ---- */

/* Step of the clock in ns: as the file states, else estimated from all sorted times. 0: unknown. */
static int find_tick(double *tick_ns, const sf_recording *recording, sf_error *error)
{
    const char *rate = sf_recording_metadata(recording, "sampling_rate");
    double rate_hz;
    *tick_ns = (double)recording->tick_ns;
    if (rate != NULL && sf_parse_real(rate, &rate_hz) && rate_hz > 0 && recording->tick_ns > 0)
        *tick_ns = 1e9 / rate_hz;
    if (*tick_ns > 0) return SF_OK;
    sf_spike *ordered = sf_resize(NULL, recording->spike_count, sizeof *ordered);
    if (ordered == NULL) return sf_fail_memory(error);
    memcpy(ordered, recording->spikes, recording->spike_count * sizeof *ordered);
    int status = sf_spikes_sort(ordered, recording->spike_count, error);
    sf_tick tick = {0};
    for (size_t i = 1; status == SF_OK && i < recording->spike_count; i++)
        sf_tick_add(&tick, ordered[i].time_ns - ordered[i - 1].time_ns);
    sf_free(ordered);
    *tick_ns = (double)sf_tick_find(&tick);
    return status;
}

/* True if every session but the last ends at the maximum of the counter, and every one but the first begins
 * at its minimum, within the distance of spikes. `rounded`: the step was rounded to a nanosecond. */
static bool overflows(const sessions *found, double period_ns, double top_ns, bool rounded)
{
    double low_ns = top_ns - period_ns, inaccuracy = rounded ? 4294967296.0 / 2 : 0;
    for (size_t s = 0; s < found->count; s++) {
        double start = (double)found->spans[s].start_ns, stop = (double)found->spans[s].stop_ns,
               apart = (stop - start) / (double)(found->spikes[s] > 0 ? found->spikes[s] : 1),
               slack = fmin(fmax(SF_SECOND, 10 * apart), period_ns / 50) + inaccuracy;
        if (found->spikes[s] == 0 || stop > top_ns + inaccuracy || start < low_ns - inaccuracy ||
            (s + 1 < found->count && stop < top_ns - slack) || (s > 0 && start > low_ns + slack))
            return false;
    }
    return true;
}

static int look_for_overflow(sessions *found, const sf_recording *recording, sf_error *error)
{
    double ticks_ns[] = {0, 1e3, 1e4, 1e5, 1e6}; /* of its own, and what counters count */
    int status = find_tick(&ticks_ns[0], recording, error);
    for (size_t i = 0; status == SF_OK && i < sizeof ticks_ns / sizeof ticks_ns[0]; i++) {
        double period_ns = 4294967296.0 * ticks_ns[i];
        if (found->period_ns == 0 && period_ns > 0 && period_ns < (double)SF_TIME_LIMIT_NS &&
            (overflows(found, period_ns, period_ns, i == 0) ||
             overflows(found, period_ns, period_ns / 2, i == 0)))
            found->period_ns = (int64_t)period_ns;
    }
    return status;
}

static int find_sessions(sessions *found, const sf_recording *recording, sf_error *error)
{
    *found = (sessions){.count = 1};
    if (sf_spikes_are_sorted(recording->spikes, recording->spike_count)) return SF_OK;
    unit_clock *clocks = sf_alloc(recording->units.count, sizeof *clocks);
    int status = clocks != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) look_for_steps(found, recording, clocks);
    if (status == SF_OK && found->count > 1) {
        found->of = sf_resize(NULL, recording->spike_count, sizeof *found->of);
        if (found->of != NULL) number_spikes(found, recording, clocks);
        status = found->of != NULL ? measure_sessions(found, recording, error) : sf_fail_memory(error);
        if (status == SF_OK) status = look_for_overflow(found, recording, error);
    }
    sf_free(clocks);
    if (status == SF_OK && found->said.failed) status = sf_fail_memory(error);
    if (status != SF_OK) free_sessions(found);
    return status;
}

/* ---- the names of sessions ---- */

static void name_session(char *name, size_t room, const char *stream, size_t session)
{
    snprintf(name, room, "%s%ssession%zu", stream != NULL ? stream : "", stream != NULL ? "/" : "",
             session + 1);
}

int sf_sessions_list(sf_streams *streams, const sf_side_stream *of, bool is_alone,
                     const sf_recording *recording, sf_error *error)
{
    sessions found;
    int status = find_sessions(&found, recording, error);
    if (status != SF_OK) return status;
    if (found.count == 1 && of != NULL) status = sf_streams_add(streams, of->name, of->spikes, error);
    for (size_t s = 0; status == SF_OK && found.count > 1 && s < found.count; s++) {
        char name[640];
        name_session(name, sizeof name, of == NULL || is_alone ? NULL : of->name, s);
        status = sf_streams_add(streams, name, found.spikes[s], error);
    }
    free_sessions(&found);
    return status;
}

static int list_read(sf_streams *streams, const sf_side_stream *of, bool is_alone, sf_stream_read *read,
                     const void *context, sf_error *error)
{
    sf_recording recording = {0};
    int status = read(&recording, of != NULL ? of->name : NULL, context, error);
    if (status == SF_OK)
        status = sf_sessions_list(streams, of, is_alone, &recording, error);
    else if (status != SF_NO_MEMORY)
        status = of != NULL ? sf_streams_add(streams, of->name, of->spikes, error) : SF_OK;
    sf_recording_clear(&recording);
    return status;
}

int sf_sessions_list_all(sf_streams *streams, const sf_streams *found, sf_stream_read *read,
                         const void *context, sf_error *error)
{
    streams->what = found->what != NULL ? found->what : "session";
    int status = found->count == 0 ? list_read(streams, NULL, true, read, context, error) : SF_OK;
    for (size_t i = 0; status == SF_OK && i < found->count; i++) {
        const sf_side_stream *of = &found->items[i];
        status = of->spikes > 0 ? list_read(streams, of, found->count == 1, read, context, error)
                                : sf_streams_add(streams, of->name, 0, error);
    }
    return status;
}

static void list_names(sf_text *to, const sessions *found, const char *stream)
{
    for (size_t s = 0; s < found->count && s < MOST_LISTED; s++) {
        char name[640];
        name_session(name, sizeof name, stream, s);
        sf_text_printf(to, "%s%s (%" PRIu64 " spikes)", s > 0 ? ", " : "", name, found->spikes[s]);
    }
    if (found->count > MOST_LISTED) sf_text_printf(to, ", and %zu more", found->count - MOST_LISTED);
}

static int refuse_session(const sf_recording *recording, const sessions *found, const char *stream,
                          sf_session asked, sf_error *error)
{
    sf_text names = {0};
    if (found->count == 1)
        return sf_fail(error, SF_USAGE, recording->path,
                       "there are no sessions to choose: no unit's clock runs back by a second or more");
    list_names(&names, found, stream);
    int status = names.failed ? sf_fail_memory(error)
                              : sf_fail(error, SF_USAGE, recording->path,
                                        "there is no session %" PRIu32 "; there is %s", asked, names.data);
    sf_text_free(&names);
    return status;
}

/* ---- what is taken ---- */

/* Time to add to each session, so that sessions follow each other. */
static int find_shifts(int64_t **shifts, const sessions *found, sf_error *error)
{
    if ((*shifts = sf_alloc(found->count, sizeof **shifts)) == NULL) return sf_fail_memory(error);
    int64_t end_ns = found->spans[0].stop_ns;
    for (size_t s = 1; s < found->count; s++) {
        int64_t back_ns = end_ns + BETWEEN_NS - found->spans[s].start_ns,
                whole = back_ns / SF_SECOND * SF_SECOND;
        (*shifts)[s] =
            found->period_ns > 0 ? (int64_t)s * found->period_ns : whole + (back_ns > whole ? SF_SECOND : 0);
        if (found->spikes[s] > 0) end_ns = found->spans[s].stop_ns + (*shifts)[s];
    }
    return SF_OK;
}

/* Keeps the markers of one session, or shifts those of all; none if their own order does not show the
 * sessions. */
static void take_markers(sf_recording *recording, const sessions *found, sf_session asked,
                         const int64_t *shifts)
{
    size_t steps = 0, kept = 0;
    int64_t before_ns = 0;
    for (size_t i = 1; i < recording->marker_count; i++)
        steps += steps_back(recording->markers[i - 1].time_ns, recording->markers[i].time_ns);
    for (size_t i = 0, s = 0; steps + 1 == found->count && i < recording->marker_count; i++) {
        sf_marker marker = recording->markers[i];
        s += i > 0 && steps_back(before_ns, marker.time_ns);
        before_ns = marker.time_ns;
        marker.time_ns += shifts != NULL ? shifts[s] : 0;
        if (shifts != NULL || s + 1 == asked) recording->markers[kept++] = marker;
    }
    recording->marker_count = kept;
}

/* The observed time of a session is that of the file, clipped to the span of the session's spikes. */
static void clip_observed(sf_recording *recording, sf_span span)
{
    sf_recording_clip_observed(recording, span);
    recording->recorded = (sf_span){0, 0}; /* the file does not say to which session it applies */
    recording->declared = false;
}

static int tell(sf_recording *recording, const char *key, sf_text *text, sf_error *error)
{
    int status =
        text->failed ? sf_fail_memory(error) : sf_recording_set_metadata(recording, key, text->data, error);
    sf_text_free(text);
    return status;
}

/* Describes what was done with the clock, after the markers were taken; there were `markers` of them. */
static int tell_clock(sf_recording *recording, sf_text *told, size_t markers, sf_error *error)
{
    if (markers > 0 && recording->marker_count == 0)
        sf_text_printf(told, "; markers are left out, as their order does not tell sessions");
    return tell(recording, "clock", told, error);
}

static int take_one(sf_recording *recording, const sessions *found, sf_session asked, sf_error *error)
{
    size_t kept = 0, markers = recording->marker_count;
    for (size_t i = 0; i < recording->spike_count; i++)
        if (found->of[i] + 1 == asked) recording->spikes[kept++] = recording->spikes[i];
    recording->spike_count = kept;
    take_markers(recording, found, asked, NULL);
    clip_observed(recording, found->spans[asked - 1]);
    sf_text told = {0};
    sf_text_printf(&told, "session %" PRIu32 " of %zu: %s", asked, found->count, found->said.data);
    return tell_clock(recording, &told, markers, error);
}

/* Puts sessions in sequence, with unrecorded gaps between them; after an overflow the counter continues
 * without a gap. */
static int join(sf_recording *recording, const sessions *found, sf_error *error)
{
    int64_t *shifts = NULL;
    int status = find_shifts(&shifts, found, error);
    sf_span *spans = status == SF_OK ? sf_alloc(found->count, sizeof *spans) : NULL;
    if (status == SF_OK && spans == NULL) status = sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < recording->spike_count; i++)
        recording->spikes[i].time_ns += shifts[found->of[i]];
    sf_text told = {0};
    size_t count = 0, markers = recording->marker_count;
    if (status == SF_OK) {
        take_markers(recording, found, 0, shifts);
        sf_text_printf(&told, "%zu sessions, one after the other", found->count);
        for (size_t s = 1; s < found->count && s < MOST_LISTED; s++)
            sf_text_printf(&told, ", session%zu %.9g s later than in the file", s + 1,
                           (double)shifts[s] * 1e-9);
        sf_text_printf(&told, ": %s", found->said.data);
        status = tell_clock(recording, &told, markers, error);
    }
    for (size_t s = 0; status == SF_OK && found->period_ns == 0 && s < found->count; s++)
        if (found->spikes[s] > 0)
            spans[count++] =
                (sf_span){found->spans[s].start_ns + shifts[s], found->spans[s].stop_ns + shifts[s]};
    sf_free(shifts);
    if (status != SF_OK) {
        sf_free(spans);
        return status;
    }
    sf_free(recording->observed);
    recording->observed = spans;
    recording->observed_count = count > 1 ? count : 0;
    recording->recorded = (sf_span){0, 0};
    recording->declared = false;
    return SF_OK;
}

static int tell_overlay(sf_recording *recording, const sessions *found, const char *stream, sf_error *error)
{
    sf_text told = {0}, names = {0};
    sf_text_printf(&told, "%s; %zu sessions lie on one another", found->said.data, found->count);
    if (found->by_unit && found->stepping < found->fired)
        sf_text_printf(&told, ", where units that do not step back are taken to be of the first");
    int status = tell(recording, "clock", &told, error);
    if (status != SF_OK) return status;
    list_names(&names, found, stream);
    return tell(recording, "sessions", &names, error);
}

/* Removes the description of another file, whose order of spikes is lost. */
static void forget_sessions(sf_recording *recording)
{
    for (size_t i = 0; i < recording->metadata_count; i++) {
        sf_metadata_entry entry = recording->metadata[i];
        if (strcmp(entry.key, "sessions") != 0 || strstr(entry.value, "session1 (") == NULL) continue;
        sf_free((char *)entry.key);
        sf_free((char *)entry.value);
        recording->metadata[i] = recording->metadata[--recording->metadata_count];
        return;
    }
}

int sf_sessions_take(sf_recording *recording, const char *stream, sf_session asked, sf_error *error)
{
    sessions found;
    int status = find_sessions(&found, recording, error);
    if (status != SF_OK) return status;
    if (found.period_ns > 0) {
        sf_text counter = {0};
        sf_text_printf(&counter, "a counter of 32 bits overflows every %.9g s: %s",
                       (double)found.period_ns * 1e-9, found.said.data);
        sf_text_free(&found.said);
        found.said = counter;
    }
    forget_sessions(recording);
    bool is_there =
        asked == SF_SESSION_ANY || (found.count > 1 && (asked == SF_SESSION_JOINED || asked <= found.count));
    if (found.said.failed)
        status = sf_fail_memory(error);
    else if (!is_there)
        status = refuse_session(recording, &found, stream, asked, error);
    else if (asked == SF_SESSION_JOINED)
        status = join(recording, &found, error);
    else if (asked != SF_SESSION_ANY)
        status = take_one(recording, &found, asked, error);
    else if (found.count > 1)
        status = tell_overlay(recording, &found, stream, error);
    free_sessions(&found);
    return status;
}
