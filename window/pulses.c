/* SPDX-License-Identifier: Apache-2.0 */
#include "window/pulses.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define TRAIN 64 /* pulses that are kept of the train */
#define OWN 64   /* and of the source, while it is searched */
#define OVERLAID 32
#define ANCHORS 8 /* the newest may have no partner (yet) */
#define PAIRS 64
#define LEAST_PAIRS 8
#define SURE_PAIRS 16 /* that fit in two ways: it is not for want of pulses */
#define MOST_MISSES 16
#define JITTER_NS SF_MILLISECOND
#define MOST_DRIFT 5000 /* one in so many is 200 ppm */

struct sf_pulse_train {
    pthread_mutex_t lock;
    int64_t times[TRAIN]; /* the newest, by number */
    uint64_t count, epoch;
};

/* A copy of what is known of the train, the oldest first. */
typedef struct known {
    int64_t times[TRAIN];
    size_t count;
} known;

typedef enum state { SEARCHING, AMBIGUOUS, LOCKED, LOST } state;

struct sf_pulses {
    sf_pulse_train *train;
    uint64_t train_count, epoch; /* that were looked at */
    known reference;
    int64_t own[OWN]; /* the oldest first */
    size_t own_count;
    size_t waiting; /* the newest of them that have not been paired */
    bool fresh;
    unsigned misses;
    struct {
        int64_t own, reference;
    } pairs[PAIRS];
    uint64_t pair_count;

    state state;
    int64_t at_ns, offset_ns; /* the line: at this time of the source, so much more ... */
    double rest_ns, slope;    /* ... and this, and so much more with each nanosecond */
    bool has_line;
    int64_t newest_in_ns, newest_out_ns; /* mapped */

    pthread_mutex_t lock;
    sf_pulses_status told;
};

/* ---- the train ---- */

int sf_pulse_train_open(sf_pulse_train **train, sf_error *error)
{
    *train = sf_alloc(1, sizeof **train);
    if (*train == NULL) return sf_fail_memory(error);
    pthread_mutex_init(&(*train)->lock, NULL);
    return SF_OK;
}

void sf_pulse_train_close(sf_pulse_train *train)
{
    if (train == NULL) return;
    pthread_mutex_destroy(&train->lock);
    sf_free(train);
}

void sf_pulse_train_put(sf_pulse_train *train, int64_t time_ns)
{
    pthread_mutex_lock(&train->lock);
    train->times[train->count++ % TRAIN] = time_ns;
    pthread_mutex_unlock(&train->lock);
}

void sf_pulse_train_forget(sf_pulse_train *train)
{
    pthread_mutex_lock(&train->lock);
    train->count = 0;
    train->epoch++;
    pthread_mutex_unlock(&train->lock);
}

/* ---- what is known ---- */

static void begin_anew(sf_pulses *it)
{
    it->own_count = it->waiting = 0;
    it->pair_count = 0;
    it->misses = 0;
    it->has_line = false;
    it->state = SEARCHING;
    it->newest_in_ns = it->newest_out_ns = INT64_MIN;
}

/* True where there is more of the train than before. */
static bool look_at_train(sf_pulses *it)
{
    sf_pulse_train *train = it->train;
    pthread_mutex_lock(&train->lock);
    bool anew = train->epoch != it->epoch, more = anew || train->count != it->train_count;
    it->epoch = train->epoch;
    it->train_count = train->count;
    if (more) {
        it->reference.count = train->count < TRAIN ? (size_t)train->count : TRAIN;
        for (size_t i = 0; i < it->reference.count; i++)
            it->reference.times[i] = train->times[(train->count - it->reference.count + i) % TRAIN];
    }
    pthread_mutex_unlock(&train->lock);
    if (anew) begin_anew(it);
    return more;
}

void sf_pulses_put(sf_pulses *it, int64_t time_ns)
{
    if (it->own_count == OWN) {
        memmove(it->own, it->own + 1, (OWN - 1) * sizeof it->own[0]);
        it->own_count--;
        it->waiting -= it->waiting == OWN;
    }
    it->own[it->own_count++] = time_ns;
    it->waiting++;
    it->fresh = true;
}

void sf_pulses_forget(sf_pulses *it)
{
    begin_anew(it);
}

/* The pulse of the train that is nearest to a time; the train has some. */
static int64_t nearest(const known *reference, int64_t time_ns)
{
    size_t low = 0, high = reference->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (reference->times[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == reference->count ||
        (low > 0 && time_ns - reference->times[low - 1] < reference->times[low] - time_ns))
        low--;
    return reference->times[low];
}

/* ---- the line ---- */

static void draw_line(sf_pulses *it)
{
    size_t count = it->pair_count < PAIRS ? (size_t)it->pair_count : PAIRS;
    size_t newest = (size_t)((it->pair_count - 1) % PAIRS);
    int64_t at_ns = it->pairs[newest].own, offset_ns = it->pairs[newest].reference - at_ns;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += (double)(it->pairs[i].own - at_ns) / (double)count;
        mean_y += (double)(it->pairs[i].reference - it->pairs[i].own - offset_ns) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        double x = (double)(it->pairs[i].own - at_ns) - mean_x;
        xx += x * x;
        xy += x * ((double)(it->pairs[i].reference - it->pairs[i].own - offset_ns) - mean_y);
    }
    it->slope = xx > 0 ? xy / xx : 0;
    it->rest_ns = mean_y - it->slope * mean_x;
    for (size_t i = 0; i < count; i++) {
        double off = (double)(it->pairs[i].reference - it->pairs[i].own - offset_ns) - it->rest_ns -
                     it->slope * (double)(it->pairs[i].own - at_ns);
        squares += off * off;
    }
    it->at_ns = at_ns;
    it->offset_ns = offset_ns;
    it->has_line = true;
    pthread_mutex_lock(&it->lock);
    it->told.offset_ns = offset_ns + llround(it->rest_ns);
    it->told.drift_ppm = it->slope * 1e6;
    it->told.residual_us = sqrt(squares / (double)count) * 1e-3;
    it->told.newest_ns = it->pairs[newest].reference;
    pthread_mutex_unlock(&it->lock);
}

static int64_t on_line(const sf_pulses *it, int64_t time_ns)
{
    double by = it->rest_ns + it->slope * (double)(time_ns - it->at_ns);
    return sf_time_plus(time_ns, it->offset_ns + llround(by));
}

static void add_pair(sf_pulses *it, int64_t own, int64_t reference)
{
    size_t place = (size_t)(it->pair_count++ % PAIRS);
    it->pairs[place].own = own;
    it->pairs[place].reference = reference;
}

/* ---- searching ---- */

typedef struct overlay {
    int64_t anchor_ns, offset_ns;
    unsigned fit, within, beyond; /* of the newest: the train has not come so far */
} overlay;

static int64_t tolerance(int64_t away_ns)
{
    return JITTER_NS + (away_ns < 0 ? -away_ns : away_ns) / MOST_DRIFT;
}

static bool fits(const sf_pulses *it, const overlay *way, int64_t own, int64_t *reference)
{
    int64_t there = sf_time_plus(own, way->offset_ns);
    *reference = nearest(&it->reference, there);
    int64_t off = *reference - there, most = tolerance(own - way->anchor_ns);
    return off <= most && off >= -most;
}

static void overlay_at(const sf_pulses *it, overlay *way)
{
    size_t first = it->own_count > OVERLAID ? it->own_count - OVERLAID : 0;
    int64_t low = it->reference.times[0], high = it->reference.times[it->reference.count - 1], reference;
    way->fit = way->within = way->beyond = 0;
    for (size_t i = first; i < it->own_count; i++) {
        int64_t there = sf_time_plus(it->own[i], way->offset_ns),
                most = tolerance(it->own[i] - way->anchor_ns);
        way->fit += fits(it, way, it->own[i], &reference);
        way->within += there >= low - most && there <= high + most;
        way->beyond += there > high + most;
    }
}

static void lock_to(sf_pulses *it, const overlay *way)
{
    size_t first = it->own_count > OVERLAID ? it->own_count - OVERLAID : 0;
    int64_t reference;
    it->pair_count = 0;
    it->waiting = 0;
    for (size_t i = first; i < it->own_count; i++)
        if (fits(it, way, it->own[i], &reference))
            add_pair(it, it->own[i], reference);
        else if (sf_time_plus(it->own[i], way->offset_ns) > it->reference.times[it->reference.count - 1])
            it->waiting++;
    it->misses = 0;
    if (it->state == LOST)
        it->newest_in_ns = it->newest_out_ns = INT64_MIN; /* its clock may be another one */
    it->state = LOCKED;
    draw_line(it);
}

static void search(sf_pulses *it)
{
    overlay best = {0}, second = {0};
    size_t anchors = it->own_count < ANCHORS ? it->own_count : ANCHORS;
    for (size_t a = 0; a < anchors; a++)
        for (size_t i = 0; i < it->reference.count; i++) {
            overlay way = {.anchor_ns = it->own[it->own_count - 1 - a]};
            way.offset_ns = it->reference.times[i] - way.anchor_ns;
            overlay_at(it, &way);
            int64_t apart = way.offset_ns - best.offset_ns;
            int64_t same = tolerance(SF_SECOND * 60);
            bool is_best = best.fit > 0 && apart <= same && apart >= -same; /* by another anchor */
            if (way.fit > best.fit) {
                second = is_best ? second : best;
                best = way;
            } else if (!is_best && way.fit > second.fit) {
                second = way;
            }
        }
    bool alone = 2 * second.fit <= best.fit;
    if (best.fit >= LEAST_PAIRS && 10 * best.fit >= 7 * best.within && best.beyond < MOST_MISSES && alone)
        lock_to(it, &best);
    else if (it->state != LOST)
        it->state = best.fit >= SURE_PAIRS && !alone ? AMBIGUOUS : SEARCHING;
}

/* ---- following ---- */

/* Pairs what waits, as far as the train has come. */
static void follow(sf_pulses *it)
{
    int64_t newest = it->reference.times[it->reference.count - 1];
    uint64_t before = it->pair_count;
    while (it->waiting > 0) {
        int64_t own = it->own[it->own_count - it->waiting], there = on_line(it, own);
        int64_t reference = nearest(&it->reference, there), off = reference - there;
        bool is_pair = off <= JITTER_NS && off >= -JITTER_NS;
        if (!is_pair && newest < there + JITTER_NS) break; /* its partner may come */
        it->waiting--;
        it->misses = is_pair ? 0 : it->misses + 1;
        if (is_pair) add_pair(it, own, reference);
    }
    if (it->pair_count != before) draw_line(it);
    if (it->misses >= MOST_MISSES || it->waiting >= MOST_MISSES) it->state = LOST;
}

bool sf_pulses_update(sf_pulses *it)
{
    static const char *const names[] = {"searching", "ambiguous", "locked", "lost"};
    bool more = look_at_train(it) || it->fresh;
    it->fresh = false;
    if (more && it->reference.count > 0 && it->own_count > 0) {
        if (it->state == LOCKED) follow(it);
        if (it->state != LOCKED) search(it);
    }
    pthread_mutex_lock(&it->lock);
    it->told.state = names[it->state];
    pthread_mutex_unlock(&it->lock);
    return it->has_line;
}

int64_t sf_pulses_map(sf_pulses *it, int64_t time_ns)
{
    int64_t mapped = on_line(it, time_ns);
    if (time_ns < it->newest_in_ns) return mapped;
    if (mapped < it->newest_out_ns) mapped = it->newest_out_ns; /* the line moved back a little */
    it->newest_in_ns = time_ns;
    it->newest_out_ns = mapped;
    return mapped;
}

/* ---- opening and closing ---- */

int sf_pulses_open(sf_pulses **pulses, sf_pulse_train *train, sf_error *error)
{
    *pulses = sf_alloc(1, sizeof **pulses);
    if (*pulses == NULL) return sf_fail_memory(error);
    (*pulses)->train = train;
    (*pulses)->told = (sf_pulses_status){.state = "searching", .newest_ns = INT64_MIN};
    pthread_mutex_init(&(*pulses)->lock, NULL);
    begin_anew(*pulses);
    return SF_OK;
}

void sf_pulses_close(sf_pulses *it)
{
    if (it == NULL) return;
    pthread_mutex_destroy(&it->lock);
    sf_free(it);
}

sf_pulses_status sf_pulses_look(sf_pulses *it)
{
    pthread_mutex_lock(&it->lock);
    sf_pulses_status told = it->told;
    pthread_mutex_unlock(&it->lock);
    return told;
}
