/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sequences.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"
#include "core/row_macros.h"
#include "core/thread.h"
#include "mine/fitted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static const sf_sequence_options usual = {
    .backbone = 0.5, .least_spikes = 1, .least_similarity = 0.1, .surrogates = 999, .alpha = 0.05, .seed = 1};

const char *const sf_sequence_order_names[] = {"first-last", "first-spike", "rate-peak", NULL};

#define ROW sf_sequence_options
static const sf_key rows[] = {
    CHOICE(
        "order_by", order_by, sf_sequence_order_names, .argument = "first-last|first-spike|rate-peak",
        .what =
            "a unit's place in the order of a burst is by its first and last spike, by its first, or by the "
            "spike around which it fires most"),
    REAL("backbone", backbone, 0, 1, .argument = "F",
         .what = "backbone units take part in this share of the network bursts or more"),
    COUNT("least_spikes", least_spikes, 1, 1000000, .argument = "N",
          .what = "a unit takes part in a burst by N spikes or more"),
    TIME("window_ns", window_ns, 0, 1e12, .unit = "ms", .argument = "MS",
         .zero = "a fiftieth of what bursts last, median, and 10 ms at least",
         .what = "a unit keeps its place where it fires within a window of this width"),
    REAL("least_similarity", least_similarity, -1, 1, .argument = "F",
         .what = "units that keep their place are a sequence where two bursts have them in orders of this "
                 "similarity or more, in the mean"),
    COUNT("surrogates", surrogates, 19, 1000000, .argument = "N", .what = "drawings of each null, at most"),
    REAL("alpha", alpha, 0, 1, .argument = "P",
         .what = "there is a sequence where p is P or less, of the units whose q is P or less"),
    {SF_ROW_SEED, AT(seed), .what = "of the drawings"},
    {0},
};
#undef ROW

const sf_key_table sf_sequence_table = SF_KEY_TABLE(rows, usual);

/* ---- who takes part ---- */

typedef struct finder {
    sf_sequences *s;
    const sf_recording *recording;
    sf_sequence_options chosen; /* with a window */
    const sf_sequence_options *options;
    /* first: spikes in bursts by unit, those of unit u at first[u] .. first[u + 1] - 1. */
    size_t *first;
    uint32_t *burst_of, *rank_of;
    uint32_t *backbone; /* their units; as the next, of the result */
    sf_lateness late;   /* by place in `backbone` */
    int64_t *zero_ns;   /* likewise */
    int64_t *one_ns;    /* by burst */
    double *values;     /* room for one of each burst */
} finder;

static sf_burst_frame frame_of(const finder *f)
{
    return (sf_burst_frame){f->recording->spikes,  f->s->bursts,           f->s->burst_count,
                            f->options->window_ns, f->options->surrogates, f->options->seed};
}

static sf_burst_train train_of(const finder *f, uint32_t unit)
{
    size_t from = f->first[unit];
    return (sf_burst_train){f->burst_of + from, f->rank_of + from, f->first[unit + 1] - from};
}

static void take_bursts(finder *f, const sf_bursts *bursts)
{
    const sf_recording *r = f->recording;
    for (size_t b = 0; b < bursts->count; b++) {
        const sf_span *span = &bursts->items[b];
        size_t from = sf_spikes_lower_bound(r->spikes, r->spike_count, span->start_ns);
        size_t to = sf_spikes_lower_bound(r->spikes, r->spike_count, span->stop_ns);
        f->s->bursts[b] = (sf_sequence_burst){.span = *span,
                                              .first_spike = from,
                                              .spikes = to - from,
                                              .mean_similarity = NAN,
                                              .begin_ns = span->start_ns};
    }
}

#define WINDOWS_IN_BURST 50
#define NARROWEST_NS 10000000

static void choose_window(finder *f)
{
    sf_sequences *s = f->s;
    for (size_t b = 0; b < s->burst_count; b++)
        f->values[b] = (double)(s->bursts[b].span.stop_ns - s->bursts[b].span.start_ns);
    if (f->chosen.window_ns == 0) f->chosen.window_ns = NARROWEST_NS;
    double width_ns = sf_reals_median(f->values, s->burst_count) / WINDOWS_IN_BURST;
    if (f->options->window_ns == 0 && width_ns > NARROWEST_NS) f->chosen.window_ns = (int64_t)width_ns;
    s->window_ns = f->chosen.window_ns;
}

static int sort_by_unit(finder *f, sf_error *error)
{
    size_t units = f->s->unit_count, all = 0;
    for (size_t b = 0; b < f->s->burst_count; b++)
        all += f->s->bursts[b].spikes;
    f->first = sf_alloc(units + 2, sizeof *f->first);
    f->burst_of = sf_alloc(all, sizeof *f->burst_of);
    f->rank_of = sf_alloc(all, sizeof *f->rank_of);
    if (f->first == NULL || f->burst_of == NULL || f->rank_of == NULL) return sf_fail_memory(error);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t b = 0; b < f->s->burst_count; b++) {
            const sf_sequence_burst *burst = &f->s->bursts[b];
            for (size_t i = 0; i < burst->spikes; i++) {
                uint32_t unit = f->recording->spikes[burst->first_spike + i].unit;
                size_t at = pass == 0 ? f->first[unit + 2]++ : f->first[unit + 1]++;
                if (pass == 1) {
                    f->burst_of[at] = (uint32_t)b;
                    f->rank_of[at] = (uint32_t)i;
                }
            }
        }
        for (size_t u = 0; pass == 0 && u < units; u++)
            f->first[u + 2] += f->first[u + 1];
    }
    return SF_OK;
}

/* Determines the bursts in which a unit takes part, its first spike in each, and whether it is a backbone
 * unit. */
static void look_at_unit(finder *f, uint32_t unit)
{
    sf_sequences *s = f->s;
    sf_sequence_unit *u = &s->units[unit];
    const sf_burst_train train = train_of(f, unit);
    size_t spikes = 0;
    *u = (sf_sequence_unit){.unit = unit, .position = NAN};
    u->place = (sf_sequence_place){NAN, NAN, 0, NAN, NAN, NAN};
    u->shape = (sf_burst_shape){NAN, NAN};
    for (size_t b = 0; b < s->burst_count; b++)
        s->first_ns[unit * s->burst_count + b] = INT64_MIN;
    for (size_t from = 0, to; from < train.count; from = to) {
        size_t b = train.bursts[from];
        for (to = from + 1; to < train.count && train.bursts[to] == b;)
            to++;
        if (to - from < f->options->least_spikes) continue;
        int64_t first_ns = f->recording->spikes[s->bursts[b].first_spike + train.ranks[from]].time_ns;
        s->first_ns[unit * s->burst_count + b] = first_ns;
        f->values[u->bursts++] = (double)(first_ns - s->bursts[b].span.start_ns) * 1e-6;
        spikes += to - from;
    }
    u->first_ms = sf_reals_median(f->values, u->bursts);
    u->spikes = u->bursts > 0 ? (double)spikes / (double)u->bursts : NAN;
    u->share = s->burst_count > 0 ? (double)u->bursts / (double)s->burst_count : NAN;
    u->backbone = u->bursts > 0 && u->share >= f->options->backbone;
}

/* ---- the order of a burst ---- */

/* Positions of the listed units, one row per burst; 0: takes no part. */
typedef struct ordering {
    const uint32_t *list;
    size_t units, bursts, ordered;
    double *of, *sum;
    double *back; /* positions in the time-reversed burst; NULL: the negated ones */
    bool *has;    /* whether a burst has an order */
} ordering;

typedef struct ranked {
    int64_t time_ns;
    size_t at; /* its unit, in the list */
} ranked;

static int by_time(const void *a, const void *b)
{
    const ranked *one = a, *other = b;
    int order = (one->time_ns > other->time_ns) - (one->time_ns < other->time_ns);
    return order != 0 ? order : (one->at > other->at) - (one->at < other->at);
}

/* Adds twice its rank, an integer, to each unit's cell of a burst; ties have the middle rank. */
static void add_ranks(double *row, ranked *units, size_t count)
{
    qsort(units, count, sizeof *units, by_time);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && units[to].time_ns == units[from].time_ns;)
            to++;
        for (size_t i = from; i < to; i++)
            row[units[i].at] += (double)(from + to - 1);
    }
}

/* Converts twice a rank (or twice the sum of two) to a position from -1 to 1. */
static void make_positions(double *row, const ranked *units, size_t count, size_t ranks)
{
    double most = (double)(ranks * (count - 1)); /* and the middle of all */
    for (size_t i = 0; i < count; i++)
        row[units[i].at] = (row[units[i].at] - most) / most;
}

#define PEAK_REACH 4 /* standard deviations */

/* Rate peak of a unit relative to the network: twice the rank, among all spikes of the burst, of the spike
 * with the highest density of the unit's own spikes under a Gaussian. */
static int64_t peak_of(const uint32_t *ranks, size_t count, double deviation)
{
    double best = 0;
    uint32_t first = ranks[0], last = ranks[0];
    for (size_t i = 0, from = 0; i < count; i++) {
        double sum = 0;
        while ((double)(ranks[i] - ranks[from]) > PEAK_REACH * deviation)
            from++;
        for (size_t k = from; k < count; k++) {
            double off = ((double)ranks[k] - (double)ranks[i]) / deviation;
            if (off > PEAK_REACH) break;
            sum += exp(-off * off / 2);
        }
        if (sum > best + 1e-9) {
            best = sum;
            first = ranks[i];
        }
        if (sum > best - 1e-9) last = ranks[i];
    }
    return (int64_t)first + (int64_t)last;
}

/* Half a window, converted to a number of spikes of the burst. */
static double peak_deviation(const finder *f, const sf_sequence_burst *burst)
{
    double duration_ns = (double)(burst->span.stop_ns - burst->span.start_ns);
    return fmax(1, (double)burst->spikes * (double)f->options->window_ns / 2 / duration_ns);
}

/* Positions of the units of one burst, as the header defines them. `next`, per unit, is the index of its
 * first spike in this burst. */
static void order_burst(ordering *o, const finder *f, size_t burst, size_t *next, ranked *ones,
                        ranked *others)
{
    const size_t first = f->s->bursts[burst].first_spike;
    const sf_spike *spikes = f->recording->spikes;
    const sf_sequence_order by = f->options->order_by;
    double *row = o->of + burst * o->units;
    const double deviation = peak_deviation(f, &f->s->bursts[burst]);
    size_t count = 0;
    for (size_t i = 0; i < o->units; i++) {
        const sf_burst_train train = train_of(f, o->list[i]);
        size_t from = next[i];
        while (next[i] < train.count && train.bursts[next[i]] == burst)
            next[i]++;
        if (next[i] == from || next[i] - from < f->options->least_spikes) continue;
        int64_t at_ns = by == SF_ORDER_RATE_PEAK ? peak_of(train.ranks + from, next[i] - from, deviation)
                                                 : spikes[first + train.ranks[from]].time_ns;
        ones[count] = (ranked){at_ns, i};
        others[count++] = (ranked){spikes[first + train.ranks[next[i] - 1]].time_ns, i};
    }
    if (count < 2) return;
    add_ranks(row, ones, count);
    if (by == SF_ORDER_FIRST_LAST) add_ranks(row, others, count);
    make_positions(row, ones, count, by == SF_ORDER_FIRST_LAST ? 2 : 1);
    if (o->back == NULL) return;
    double *back = o->back + burst * o->units; /* its last spike comes first */
    add_ranks(back, others, count);
    make_positions(back, others, count, 1);
    for (size_t i = 0; i < count; i++)
        back[others[i].at] = -back[others[i].at];
}

#define NO_SQUARES 1e-20 /* remaining sum of squares of positions that all equal their mean */

/* Normalises the positions of a burst to length 1; false if all are 0. */
static bool bring_to_1(double *row, size_t units)
{
    double squares = sf_reals_product(row, row, units);
    bool has = squares > NO_SQUARES;
    for (size_t i = 0; i < units; i++)
        row[i] = has ? row[i] / sqrt(squares) : 0;
    return has;
}

static void normalise(ordering *o)
{
    o->ordered = 0;
    for (size_t b = 0; b < o->bursts; b++) {
        o->has[b] = bring_to_1(o->of + b * o->units, o->units);
        if (o->back != NULL) o->has[b] = bring_to_1(o->back + b * o->units, o->units) && o->has[b];
        o->ordered += o->has[b];
    }
}

static void order_free(ordering *o)
{
    sf_free(o->of);
    sf_free(o->back);
    sf_free(o->has);
    sf_free(o->sum);
}

/* Room for one; order_free in any case. */
static int order_open(ordering *o, const finder *f, const uint32_t *list, size_t units, sf_error *error)
{
    size_t bursts = f->s->burst_count;
    *o = (ordering){.list = list,
                    .units = units,
                    .bursts = bursts,
                    .of = sf_alloc(units * bursts, sizeof *o->of),
                    .has = sf_alloc(bursts, sizeof *o->has),
                    .sum = sf_alloc(units, sizeof *o->sum)};
    bool both = f->options->order_by == SF_ORDER_FIRST_SPIKE;
    o->back = both ? sf_alloc(units * bursts, sizeof *o->back) : NULL;
    bool has = o->of != NULL && o->has != NULL && o->sum != NULL && (!both || o->back != NULL);
    return has ? SF_OK : sf_fail_memory(error);
}

/* order_free in any case. */
static int order_find(ordering *o, const finder *f, const uint32_t *list, size_t units, sf_error *error)
{
    size_t *next = sf_alloc(units, sizeof *next);
    ranked *firsts = sf_alloc(units, sizeof *firsts), *lasts = sf_alloc(units, sizeof *lasts);
    int status = order_open(o, f, list, units, error);
    bool has = next != NULL && firsts != NULL && lasts != NULL;
    for (size_t b = 0; status == SF_OK && has && b < o->bursts; b++)
        order_burst(o, f, b, next, firsts, lasts);
    sf_free(next);
    sf_free(firsts);
    sf_free(lasts);
    return has ? status : sf_fail_memory(error);
}

/* Stores the positions of units before normalisation. */
static void tell_positions(const finder *f, const ordering *o)
{
    sf_sequences *s = f->s;
    for (size_t i = 0; i < o->units; i++) {
        sf_sequence_unit *unit = &s->units[o->list[i]];
        double sum = 0, count = 0;
        for (size_t b = 0; b < o->bursts; b++) {
            bool takes_part = s->first_ns[unit->unit * o->bursts + b] != INT64_MIN;
            s->bursts[b].units += takes_part;
            sum += o->of[b * o->units + i];
            count += takes_part;
        }
        unit->position = count > 0 ? sum / count : NAN;
    }
}

/* ---- similarity, compared with bursts in random directions ---- */

static void compare_bursts(finder *f, const ordering *o)
{
    for (size_t b = 0; b < o->bursts; b++)
        for (size_t c = 0; c < o->bursts; c++)
            f->s->similarity[b * o->bursts + c] =
                o->has[b] && o->has[c]
                    ? sf_reals_product(o->of + b * o->units, o->of + c * o->units, o->units)
                    : NAN;
}

/* Mean similarity over pairs of ordered bursts, with burst b reversed if bit b of `signs` (or a random bit)
 * is set. The squared norm of the summed positions contains each pair twice and each burst with itself once.
 */
static double mean_similarity(const ordering *o, sf_random *random, uint64_t signs)
{
    for (size_t i = 0; i < o->units; i++)
        o->sum[i] = 0;
    for (size_t b = 0, ordered = 0; b < o->bursts; b++) {
        if (!o->has[b]) continue;
        bool backwards = random != NULL ? sf_random_below(random, 2) != 0 : (signs >> ordered & 1) != 0;
        const double *row = (backwards && o->back != NULL ? o->back : o->of) + b * o->units;
        double sign = backwards && o->back == NULL ? -1 : 1;
        for (size_t i = 0; i < o->units; i++)
            o->sum[i] += sign * row[i];
        ordered++;
    }
    double count = (double)o->ordered;
    return o->ordered > 1 ? (sf_reals_product(o->sum, o->sum, o->units) - count) / (count * (count - 1))
                          : NAN;
}

/* Similarity of each burst to the mean of the others; `sum` is over all bursts in observed direction. */
static void compare_with_mean(finder *f, const ordering *o)
{
    for (size_t b = 0; b < o->bursts && o->ordered > 1; b++) {
        double with_others = sf_reals_product(o->of + b * o->units, o->sum, o->units) - 1;
        double others = sf_reals_product(o->sum, o->sum, o->units) - 2 * with_others - 1;
        if (o->has[b] && others > 1e-12) f->s->bursts[b].mean_similarity = with_others / sqrt(others);
    }
}

/* p of a mean similarity, over all sign assignments or the given number of drawings. Sums in another order
 * differ by rounding. */
static double test_order(const ordering *o, double similarity, const sf_sequence_options *options,
                         uint64_t stream)
{
    double least = similarity - 1e-9;
    uint64_t as_similar = 0, drawings = options->surrogates;
    if (o->ordered < 2) return NAN;
    if (o->ordered <= SF_SEQUENCE_COUNTED) {
        /* if reversal negates the positions, negating all signs gives the same similarity */
        drawings = (uint64_t)1 << (o->back != NULL ? o->ordered : o->ordered - 1);
        for (uint64_t signs = 0; signs < drawings; signs++)
            as_similar += mean_similarity(o, NULL, signs) >= least;
        return (double)as_similar / (double)drawings;
    }
    sf_random random = sf_random_start(options->seed, stream);
    for (uint64_t i = 0; i < drawings; i++)
        as_similar += mean_similarity(o, &random, 0) >= least;
    return (1 + (double)as_similar) / (1 + (double)drawings);
}

enum { STREAM_BACKBONE, STREAM_PLACED, STREAM_DEALT }; /* places have those from 2^32 on */

static int judge_order(finder *f, sf_error *error)
{
    sf_sequences *s = f->s;
    ordering o;
    int status = order_find(&o, f, f->backbone, s->backbone, error);
    if (status == SF_OK) {
        tell_positions(f, &o);
        normalise(&o);
        s->ordered = o.ordered;
        s->counted = o.ordered >= 2 && o.ordered <= SF_SEQUENCE_COUNTED;
        compare_bursts(f, &o);
        s->mean_similarity = mean_similarity(&o, NULL, 0);
        compare_with_mean(f, &o);
        s->p = test_order(&o, s->mean_similarity, f->options, STREAM_BACKBONE);
    }
    order_free(&o);
    return status;
}

/* Positions of a burst without one unit, relative to their mean. */
static void leave_out(double *row, const finder *f, const ordering *o, size_t burst, size_t without)
{
    const int64_t *first_ns = f->s->first_ns + burst;
    double sum = 0, count = 0;
    row[without] = 0;
    for (size_t i = 0; i < o->units; i++) {
        sum += row[i];
        count += i != without && first_ns[o->list[i] * o->bursts] != INT64_MIN;
    }
    for (size_t i = 0; i < o->units; i++)
        if (i != without && first_ns[o->list[i] * o->bursts] != INT64_MIN) row[i] -= sum / count;
}

static void order_without(ordering *others, const finder *f, const ordering *o, size_t without)
{
    memcpy(others->of, o->of, o->bursts * o->units * sizeof *o->of);
    if (o->back != NULL) memcpy(others->back, o->back, o->bursts * o->units * sizeof *o->back);
    for (size_t b = 0; b < o->bursts; b++) {
        leave_out(others->of + b * o->units, f, o, b, without);
        if (o->back != NULL) leave_out(others->back + b * o->units, f, o, b, without);
    }
    normalise(others);
}

/* Minimum similarity after leaving out any one unit; 0 if no order remains. */
static int judge_without_one(finder *f, const ordering *o, sf_error *error)
{
    sf_sequences *s = f->s;
    ordering others;
    int status = order_open(&others, f, o->list, o->units, error);
    bool is_asked = o->units >= SF_SEQUENCE_LEAST && !isnan(s->placed_similarity);
    for (size_t i = 0; i < o->units && status == SF_OK && is_asked; i++) {
        order_without(&others, f, o, i);
        double similarity = mean_similarity(&others, NULL, 0);
        s->without_one = fmin(s->without_one, isnan(similarity) ? 0 : similarity);
    }
    order_free(&others);
    return status;
}

/* The order test of the placed units among themselves. */
static int judge_placed(finder *f, const uint32_t *placed, size_t count, sf_error *error)
{
    ordering o;
    int status = order_find(&o, f, placed, count, error);
    if (status == SF_OK) {
        normalise(&o);
        f->s->placed_similarity = mean_similarity(&o, NULL, 0);
        f->s->placed_p = test_order(&o, f->s->placed_similarity, f->options, STREAM_PLACED);
        status = judge_without_one(f, &o, error);
    }
    order_free(&o);
    return status;
}

/* ---- places ---- */

#define NARROWEST_MS 0.5 /* lower bound of the deviation, which limits the weight of very precise units */
#define BY_FIRSTS 3
#define BY_PLACES 2

/* Lateness of each unit's first spike, and its weight: one over the squared median deviation. */
static void take_firsts(finder *f)
{
    const sf_sequences *s = f->s;
    for (size_t i = 0; i < s->backbone; i++) {
        const int64_t *first_ns = s->first_ns + f->backbone[i] * s->burst_count;
        int64_t *zero_ns = f->zero_ns + i * s->burst_count, *late_ns = f->late.late_ns + i * s->burst_count;
        size_t count = 0;
        for (size_t b = 0; b < s->burst_count; b++)
            if (first_ns[b] != INT64_MIN) f->values[count++] = (double)(first_ns[b] - zero_ns[b]) * 1e-6;
        double usual_ms = sf_reals_median(f->values, count);
        for (size_t k = 0; k < count; k++)
            f->values[k] = fabs(f->values[k] - usual_ms);
        double off_ms = fmax(sf_reals_median(f->values, count), NARROWEST_MS);
        for (size_t b = 0; b < s->burst_count; b++)
            late_ns[b] = first_ns[b] == INT64_MIN ? INT64_MIN : first_ns[b] - (int64_t)(usual_ms * 1e6);
        f->late.weight[i] = 1 / (off_ms * off_ms);
    }
}

/* Lateness of each unit's spike in its place. */
static void take_nearest(finder *f, size_t i, int64_t middle_ns)
{
    const sf_sequences *s = f->s;
    const sf_burst_frame frame = frame_of(f);
    const sf_burst_train train = train_of(f, f->backbone[i]);
    for (size_t b = 0, next = 0; b < s->burst_count; b++) {
        int64_t off, zero = f->zero_ns[i * s->burst_count + b];
        bool near = sf_burst_place_nearest(&off, &frame, &train, &next, b, zero, middle_ns);
        f->late.late_ns[i * s->burst_count + b] = near ? zero + off : INT64_MIN;
    }
}

/* The weight of a unit grows with the number of bursts in which it keeps its place, and falls with its number
 * of spikes. */
static int take_places(finder *f, sf_error *error)
{
    const sf_sequences *s = f->s;
    const sf_burst_frame frame = frame_of(f);
    sf_place_scan scan = {0};
    sf_best_place best;
    int status = SF_OK;
    for (size_t i = 0; i < s->backbone && status == SF_OK; i++) {
        const sf_burst_train train = train_of(f, f->backbone[i]);
        status =
            sf_burst_place_find(&best, &scan, &frame, &train, f->zero_ns + i * s->burst_count, NULL, error);
        if (status != SF_OK) break;
        double kept = (double)best.kept / (double)s->burst_count;
        f->late.weight[i] = pow(kept, 4) / ((double)train.count / (double)s->burst_count);
        take_nearest(f, i, best.middle_ns);
    }
    sf_free(scan.steps);
    return status;
}

/* Aligns the bursts, for each unit by all others. */
static int align(finder *f, sf_error *error)
{
    const sf_sequences *s = f->s;
    int status = SF_OK;
    for (size_t i = 0; i < s->backbone; i++)
        for (size_t b = 0; b < s->burst_count; b++)
            f->zero_ns[i * s->burst_count + b] = s->bursts[b].span.start_ns;
    for (int turn = 0; status == SF_OK && turn < BY_FIRSTS + BY_PLACES; turn++) {
        if (turn < BY_FIRSTS)
            take_firsts(f);
        else
            status = take_places(f, error);
        if (status == SF_OK) status = sf_burst_zero(f->zero_ns, NULL, &f->late, error);
    }
    return status;
}

static int test_place(void *context, unsigned worker, size_t item)
{
    (void)worker;
    finder *f = context;
    const sf_burst_frame frame = frame_of(f);
    const sf_burst_train train = train_of(f, f->backbone[item]);
    sf_sequence_unit *unit = &f->s->units[f->backbone[item]];
    const int64_t *zero_ns = f->zero_ns + item * f->s->burst_count;
    const uint64_t stream = f->backbone[item] + (uint64_t)1;
    int status = sf_burst_place_test(&unit->place, &frame, &train, zero_ns, stream, NULL);
    return status == SF_OK ? sf_burst_shape_find(&unit->shape, &frame, &train, zero_ns, stream, NULL)
                           : status;
}

int sf_sequences_correct(sf_sequence_place **places, size_t count, sf_error *error)
{
    size_t tested = 0, at = 0;
    double *p = sf_alloc(count, sizeof *p);
    if (p == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        if (!isnan(places[i]->p)) p[tested++] = places[i]->p;
    int status = sf_false_discovery(p, tested, tested, error);
    for (size_t i = 0; status == SF_OK && i < count; i++)
        places[i]->q = isnan(places[i]->p) ? NAN : p[at++];
    sf_free(p);
    return status;
}

static int correct(finder *f, sf_error *error)
{
    sf_sequence_place **places = sf_alloc(f->s->backbone, sizeof *places);
    if (places == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < f->s->backbone; i++)
        places[i] = &f->s->units[f->backbone[i]].place;
    int status = sf_sequences_correct(places, f->s->backbone, error);
    sf_free(places);
    return status;
}

/* ---- the sequence ---- */

static void number_members(sf_sequences *s)
{
    for (size_t u = 0; u < s->unit_count; u++)
        for (size_t v = 0; v < s->unit_count && s->units[u].member; v++) {
            double own = s->units[u].place.place_ms, other = s->units[v].place.place_ms;
            s->units[u].order += s->units[v].member && (other < own || (other == own && v <= u));
        }
}

/* Makes places relative to the begin of each burst's sequence, the place of the first placed unit (or,
 * without placed units, of the first backbone unit). */
static int tell_from_begin(finder *f, sf_error *error)
{
    sf_sequences *s = f->s;
    size_t cells = s->backbone * s->burst_count;
    double first_ms = INFINITY;
    for (size_t i = 0; i < s->backbone; i++) {
        const sf_sequence_unit *unit = &s->units[f->backbone[i]];
        bool tells = s->placed == 0 || unit->placed;
        take_nearest(f, i, (int64_t)(unit->place.place_ms * 1e6));
        if (s->placed > 0) f->late.weight[i] = tells ? 1 : 0;
        first_ms = tells ? fmin(first_ms, unit->place.place_ms) : first_ms;
        for (size_t b = 0; b < s->burst_count && unit->placed; b++)
            s->bursts[b].kept += f->late.late_ns[i * s->burst_count + b] != INT64_MIN;
    }
    for (size_t i = 0; i < s->backbone; i++)
        s->units[f->backbone[i]].place.place_ms -= first_ms;
    for (size_t i = 0; i < cells; i++)
        if (f->late.late_ns[i] != INT64_MIN) f->late.late_ns[i] += (int64_t)(first_ms * 1e6);
    for (size_t b = 0; b < s->burst_count; b++)
        f->one_ns[b] = s->bursts[b].span.start_ns;
    int status = sf_burst_zero(f->zero_ns, f->one_ns, &f->late, error);
    for (size_t b = 0; b < s->burst_count; b++)
        s->bursts[b].begin_ns = f->one_ns[b];
    return status;
}

static void choose_placed(finder *f)
{
    for (size_t i = 0; i < f->s->backbone; i++) {
        sf_sequence_unit *unit = &f->s->units[f->backbone[i]];
        unit->placed = unit->place.q <= f->options->alpha;
        f->s->placed += unit->placed;
    }
}

/* ---- whether the placed units lead in any order ---- */

/* Spikes of placed units between the first place and the last, by burst and then by unit: the unit of each,
 * and its index in rank_of. */
typedef struct dealt {
    size_t at;
    uint32_t unit;
} dealt;

typedef struct deal {
    dealt *spikes;
    size_t *first;   /* those of burst b are first[b] .. first[b + 1] - 1 */
    uint32_t *ranks; /* room for those of a burst */
} deal;

static int64_t find_last_place(const finder *f)
{
    double last_ms = 0;
    for (size_t i = 0; i < f->s->backbone; i++) {
        const sf_sequence_unit *unit = &f->s->units[f->backbone[i]];
        last_ms = unit->placed ? fmax(last_ms, unit->place.place_ms) : last_ms;
    }
    return (int64_t)(last_ms * 1e6);
}

/* Collects those of one burst; `next`, per unit, is the index of its first spike in this burst. */
static size_t take_dealt(dealt *spikes, size_t count, const finder *f, size_t b, int64_t last_place_ns,
                         size_t *next, const uint32_t *placed)
{
    const sf_sequence_burst *burst = &f->s->bursts[b];
    const int64_t half_ns = f->options->window_ns / 2, first_ns = burst->begin_ns - half_ns,
                  last_ns = burst->begin_ns + last_place_ns + half_ns;
    for (size_t i = 0; i < f->s->placed; i++) {
        const size_t end = f->first[placed[i] + 1];
        for (; next[i] < end && f->burst_of[next[i]] == b; next[i]++) {
            int64_t at_ns = f->recording->spikes[burst->first_spike + f->rank_of[next[i]]].time_ns;
            if (at_ns >= first_ns && at_ns < last_ns) spikes[count++] = (dealt){next[i], placed[i]};
        }
    }
    return count;
}

/* Reassigns a burst's spikes at random among the units; each keeps its number of spikes, in time order. */
static void deal_burst(finder *f, const deal *d, size_t b, sf_random *random)
{
    const dealt *spikes = d->spikes + d->first[b];
    size_t count = d->first[b + 1] - d->first[b];
    for (size_t i = 0; i < count; i++)
        d->ranks[i] = f->rank_of[spikes[i].at];
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)sf_random_below(random, i);
        uint32_t rank = d->ranks[i - 1];
        d->ranks[i - 1] = d->ranks[other];
        d->ranks[other] = rank;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = spikes[i].at;
        for (size_t k = i; k > 0 && spikes[k - 1].unit == spikes[i].unit && f->rank_of[at - 1] > d->ranks[i];
             k--, at--)
            f->rank_of[at] = f->rank_of[at - 1];
        f->rank_of[at] = d->ranks[i];
    }
}

static int open_deal(deal *d, const finder *f, const uint32_t *placed, sf_error *error)
{
    const sf_sequences *s = f->s;
    const int64_t last_place_ns = find_last_place(f);
    size_t *next = sf_alloc(s->placed, sizeof *next), count = 0, most = 0;
    for (size_t i = 0; i < s->placed; i++)
        most += f->first[placed[i] + 1] - f->first[placed[i]];
    *d = (deal){sf_alloc(most, sizeof *d->spikes), sf_alloc(s->burst_count + 1, sizeof *d->first),
                sf_alloc(most, sizeof *d->ranks)};
    bool has = next != NULL && d->spikes != NULL && d->first != NULL && d->ranks != NULL;
    for (size_t i = 0; has && i < s->placed; i++)
        next[i] = f->first[placed[i]];
    for (size_t b = 0; has && b < s->burst_count; b++)
        d->first[b + 1] = count = take_dealt(d->spikes, count, f, b, last_place_ns, next, placed);
    sf_free(next);
    return has ? SF_OK : sf_fail_memory(error);
}

static void free_deal(deal *d)
{
    sf_free(d->spikes);
    sf_free(d->first);
    sf_free(d->ranks);
}

#define ENOUGH_DEALT 20

/* p of the observed similarity when these spikes are reassigned. Leaves the trains reassigned. */
static int judge_dealt(finder *f, const uint32_t *placed, sf_error *error)
{
    sf_sequences *s = f->s;
    sf_random random = sf_random_start(f->options->seed, STREAM_DEALT);
    uint64_t drawings = 0, as_similar = 0;
    deal d;
    int status = open_deal(&d, f, placed, error);
    while (status == SF_OK && drawings < f->options->surrogates && as_similar < ENOUGH_DEALT) {
        ordering o;
        for (size_t b = 0; b < s->burst_count; b++)
            deal_burst(f, &d, b, &random);
        status = order_find(&o, f, placed, s->placed, error);
        if (status == SF_OK) {
            normalise(&o);
            as_similar += mean_similarity(&o, NULL, 0) >= s->placed_similarity - 1e-9;
            drawings++;
        }
        order_free(&o);
    }
    free_deal(&d);
    s->dealt_p = (1 + (double)as_similar) / (1 + (double)drawings);
    return status;
}

/* The units that keep their place form a sequence if they are also ordered among themselves. */
static int choose_members(finder *f, sf_error *error)
{
    sf_sequences *s = f->s;
    uint32_t *placed = sf_alloc(s->placed, sizeof *placed);
    size_t count = 0;
    if (placed == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < s->unit_count; u++)
        if (s->units[u].placed) placed[count++] = u;
    int status = judge_placed(f, placed, count, error);
    bool similar = s->placed >= SF_SEQUENCE_LEAST && s->p <= f->options->alpha &&
                   s->placed_p <= f->options->alpha / SF_SEQUENCE_CHOSEN &&
                   s->without_one >= s->placed_similarity / SF_SEQUENCE_LEFT &&
                   s->placed_similarity >= f->options->least_similarity;
    if (status == SF_OK && similar) status = judge_dealt(f, placed, error);
    s->sequence = similar && s->dealt_p <= f->options->alpha;
    s->members = status == SF_OK && s->sequence ? s->placed : 0;
    for (size_t i = 0; i < s->members; i++)
        s->units[placed[i]].member = true;
    sf_free(placed);
    return status;
}

static int judge_places(finder *f, sf_error *error)
{
    sf_sequences *s = f->s;
    int status = align(f, error);
    if (status == SF_OK && sf_parallel_for(sf_thread_cores(), s->backbone, test_place, f) != SF_OK)
        status = sf_fail_memory(error);
    if (status == SF_OK) status = correct(f, error);
    if (status == SF_OK) {
        choose_placed(f);
        status = tell_from_begin(f, error);
    }
    if (status == SF_OK) status = choose_members(f, error);
    if (status == SF_OK) number_members(s);
    return status;
}

/* ---- all of it ---- */

static int make_room(finder *f, sf_error *error)
{
    sf_sequences *s = f->s;
    size_t cells = s->unit_count * s->burst_count;
    s->units = sf_alloc(s->unit_count, sizeof *s->units);
    s->bursts = sf_alloc(s->burst_count, sizeof *s->bursts);
    s->first_ns = sf_alloc(cells, sizeof *s->first_ns);
    s->similarity = sf_alloc(s->burst_count * s->burst_count, sizeof *s->similarity);
    f->values = sf_alloc(s->burst_count, sizeof *f->values);
    f->one_ns = sf_alloc(s->burst_count, sizeof *f->one_ns);
    f->backbone = s->backbone_units = sf_alloc(s->unit_count, sizeof *f->backbone);
    bool has = s->units != NULL && s->bursts != NULL && s->first_ns != NULL && s->similarity != NULL &&
               f->values != NULL && f->one_ns != NULL && f->backbone != NULL;
    return has ? SF_OK : sf_fail_memory(error);
}

/* Determines the backbone, and allocates the lateness of its units. */
static int find_backbone(finder *f, sf_error *error)
{
    sf_sequences *s = f->s;
    for (uint32_t u = 0; u < s->unit_count; u++) {
        look_at_unit(f, u);
        if (s->units[u].backbone) f->backbone[s->backbone++] = u;
    }
    size_t cells = s->backbone * s->burst_count;
    s->told_ns = sf_alloc(cells, sizeof *s->told_ns);
    s->worth = sf_alloc(s->backbone, sizeof *s->worth);
    f->late = (sf_lateness){s->backbone, s->burst_count, s->told_ns, s->worth};
    f->zero_ns = sf_alloc(cells, sizeof *f->zero_ns);
    bool has = f->late.late_ns != NULL && f->late.weight != NULL && f->zero_ns != NULL;
    return has ? SF_OK : sf_fail_memory(error);
}

int sf_sequences_find(sf_sequences *sequences, const sf_recording *recording, const sf_bursts *bursts,
                      const sf_sequence_options *options, sf_error *error)
{
    finder f = {.s = sequences, .recording = recording, .chosen = *options, .options = options};
    *sequences = (sf_sequences){.unit_count = recording->units.count,
                                .burst_count = bursts->count,
                                .mean_similarity = NAN,
                                .p = NAN,
                                .without_one = NAN,
                                .dealt_p = NAN};
    int status = make_room(&f, error);
    if (status == SF_OK) {
        take_bursts(&f, bursts);
        choose_window(&f);
        f.options = &f.chosen;
        status = sort_by_unit(&f, error);
    }
    if (status == SF_OK) status = find_backbone(&f, error);
    if (status == SF_OK) status = judge_order(&f, error);
    if (status == SF_OK) status = judge_places(&f, error);
    sf_free(f.first);
    sf_free(f.burst_of);
    sf_free(f.rank_of);
    sf_free(f.zero_ns);
    sf_free(f.one_ns);
    sf_free(f.values);
    return status;
}

/* ---- other events ---- */

/* Begin of each burst as estimated by all units except the given ones. */
static int begins_without(int64_t *zero_ns, const sf_sequences *s, const uint32_t *without,
                          size_t without_count, sf_error *error)
{
    sf_lateness late = {s->backbone, s->burst_count, s->told_ns, sf_alloc(s->backbone, sizeof *late.weight)};
    int64_t *by_unit = sf_alloc(s->backbone * s->burst_count, sizeof *by_unit);
    int status = late.weight == NULL || by_unit == NULL ? sf_fail_memory(error) : SF_OK;
    for (size_t i = 0; status == SF_OK && i < s->backbone; i++) {
        bool takes_part = true;
        for (size_t k = 0; k < without_count; k++)
            takes_part = takes_part && without[k] != s->backbone_units[i];
        late.weight[i] = takes_part ? s->worth[i] : 0;
    }
    for (size_t b = 0; b < s->burst_count; b++)
        zero_ns[b] = s->bursts[b].span.start_ns;
    if (status == SF_OK) status = sf_burst_zero(by_unit, zero_ns, &late, error);
    sf_free(late.weight);
    sf_free(by_unit);
    return status;
}

/* Converts the times that lie in bursts to ranks; returns their number. */
static size_t place_in_bursts(uint32_t *bursts, uint32_t *ranks, const sf_sequences *s,
                              const sf_recording *recording, const int64_t *times_ns, size_t count)
{
    size_t held = 0, b = 0;
    for (size_t i = 0; i < count; i++) {
        while (b < s->burst_count && s->bursts[b].span.stop_ns <= times_ns[i])
            b++;
        if (b == s->burst_count || times_ns[i] < s->bursts[b].span.start_ns) continue;
        const sf_sequence_burst *burst = &s->bursts[b];
        size_t rank =
            sf_spikes_lower_bound(recording->spikes + burst->first_spike, burst->spikes, times_ns[i]);
        if (rank == burst->spikes) continue;
        bursts[held] = (uint32_t)b;
        ranks[held++] = (uint32_t)rank;
    }
    return held;
}

int sf_sequences_place(sf_sequence_place *place, const sf_sequences *sequences, const sf_recording *recording,
                       const int64_t *times_ns, size_t count, const uint32_t *without, size_t without_count,
                       const sf_sequence_options *options, uint64_t stream, sf_error *error)
{
    const sf_burst_frame frame = {recording->spikes,    sequences->bursts,   sequences->burst_count,
                                  sequences->window_ns, options->surrogates, options->seed};
    uint32_t *bursts = sf_alloc(count, sizeof *bursts), *ranks = sf_alloc(count, sizeof *ranks);
    int64_t *zero_ns = sf_alloc(sequences->burst_count, sizeof *zero_ns);
    int status = bursts == NULL || ranks == NULL || zero_ns == NULL
                     ? sf_fail_memory(error)
                     : begins_without(zero_ns, sequences, without, without_count, error);
    if (status == SF_OK) {
        size_t held = place_in_bursts(bursts, ranks, sequences, recording, times_ns, count);
        status = sf_burst_place_test(place, &frame, &(sf_burst_train){bursts, ranks, held}, zero_ns,
                                     ((uint64_t)1 << 31) + stream, error);
    }
    sf_free(bursts);
    sf_free(ranks);
    sf_free(zero_ns);
    return status;
}

void sf_sequences_free(sf_sequences *sequences)
{
    sf_free(sequences->units);
    sf_free(sequences->bursts);
    sf_free(sequences->first_ns);
    sf_free(sequences->similarity);
    sf_free(sequences->backbone_units);
    sf_free(sequences->told_ns);
    sf_free(sequences->worth);
    *sequences = (sf_sequences){0};
}
