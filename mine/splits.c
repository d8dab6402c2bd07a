/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/splits.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/thread.h"
#include "mine/family.h"
#include "mine/surrogate_blur.h"
#include "mine/surrogate_run.h"
#include "mine/surrogate_scatter.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Where an occurrence of a chain's first units may end, and the latest time at which it then starts. */
typedef struct end {
    int64_t end, start;
} end;

/* Room of a thread. */
typedef struct worker {
    int64_t *shifted; /* trains of the group, one after the other */
    end *ends[2];
} worker;

/* A split of a chain: bit k of `group` is set where its unit k is shifted; unit 0 never is. */
typedef struct cell {
    size_t chain;
    uint32_t group;
    uint32_t recorded, observed; /* the count, and less its blur */
    _Atomic uint64_t near;       /* of all surrogates: pairs of the last unit's spikes and what ends before */
} cell;

typedef struct splits {
    const sf_splits_request *request;
    const sf_split_chain *chains;
    sf_surrogate_rule rule; /* at hand */
    int64_t *trains;        /* times by unit of the events, as its `first` says */
    cell *cells;
    size_t cell_count;
    uint32_t *counts; /* [surrogate][cell] */
    worker *workers;
    uint32_t of; /* surrogates at hand */
    atomic_size_t done;
    atomic_bool cancelled;
} splits;

/* ---- one count ---- */

/* Sorts what is nearly in order: segments of a train pass each other by no more than two widths. */
static void settle(int64_t *times, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int64_t time = times[i];
        size_t k = i;
        for (; k > 0 && times[k - 1] > time; k--)
            times[k] = times[k - 1];
        times[k] = time;
    }
}

/* A train, by the offsets of its group in this surrogate. */
static void shift_train(const splits *s, int64_t *to, uint32_t unit, uint32_t group_train, uint32_t surrogate)
{
    const sf_events *events = s->request->events;
    const int64_t *from = s->trains + events->first[unit];
    size_t count = events->first[unit + 1] - events->first[unit];
    int64_t origin = s->request->origin_ns, seam = sf_surrogate_seam(&s->rule, surrogate, group_train),
            offset = 0;
    uint32_t segment = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t own = sf_surrogate_segment(&s->rule, seam, origin + from[i]);
        if (own != segment) offset = sf_surrogate_offset(&s->rule, surrogate, group_train, segment = own);
        to[i] = from[i] + offset;
    }
    settle(to, count);
}

/* Extends ends by a train: a spike takes the last end that lies long enough before it. *near is how many do
 * and not too long. */
static size_t extend(end *to, const end *from, size_t from_count, const int64_t *train, size_t spikes,
                     sf_delay delay, uint64_t *near)
{
    size_t count = 0, next = 0,
           far = 0; /* ends before `next` lie long enough before the spike, or too long */
    *near = 0;
    for (size_t i = 0; i < spikes; i++) {
        while (next < from_count && from[next].end < train[i] - delay.low_ns)
            next++;
        while (far < next && from[far].end < train[i] - delay.high_ns)
            far++;
        *near += next - far;
        if (next > 0 && from[next - 1].end >= train[i] - delay.high_ns)
            to[count++] = (end){train[i], from[next - 1].start};
    }
    return count;
}

/* Greedily, in order of (time, unit): of occurrences that share no event or lie between another's. */
static uint32_t count_apart(const end *ends, size_t count, uint32_t first_unit, uint32_t last_unit)
{
    uint32_t found = 0;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < count; i++)
        if (ends[i].start > last || (ends[i].start == last && first_unit > last_unit)) {
            last = ends[i].end;
            found++;
        }
    return found;
}

/* The count of a chain with a group of its units shifted; no group: as recorded. *near is of its last link.
 */
static uint32_t count_split(const splits *s, worker *w, const sf_split_chain *chain, uint32_t group,
                            uint32_t surrogate, uint64_t *near)
{
    const sf_events *events = s->request->events;
    uint32_t leader = group != 0 ? s->request->trains[chain->units[__builtin_ctz(group)]] : 0;
    size_t count = 0;
    for (uint32_t k = 0; k < chain->size; k++) {
        uint32_t unit = chain->units[k];
        const int64_t *train = s->trains + events->first[unit];
        size_t spikes = events->first[unit + 1] - events->first[unit];
        if ((group >> k & 1) != 0) {
            shift_train(s, w->shifted, unit, leader, surrogate);
            train = w->shifted;
        }
        if (k > 0) {
            count = extend(w->ends[k % 2], w->ends[(k - 1) % 2], count, train, spikes, chain->delays[k - 1],
                           near);
            continue;
        }
        for (size_t i = 0; i < spikes; i++)
            w->ends[0][i] = (end){train[i], train[i]};
        count = spikes;
    }
    return count_apart(w->ends[(chain->size - 1) % 2], count, chain->units[0], chain->units[chain->size - 1]);
}

/* ---- all surrogates ---- */

static int count_surrogate(void *context, unsigned number, size_t surrogate)
{
    splits *s = context;
    if (atomic_load(&s->cancelled)) return SF_CANCELLED;
    for (size_t c = 0; c < s->cell_count; c++) {
        cell *own = &s->cells[c];
        uint64_t near;
        s->counts[surrogate * s->cell_count + c] = count_split(s, &s->workers[number], &s->chains[own->chain],
                                                               own->group, (uint32_t)surrogate, &near);
        atomic_fetch_add(&own->near, near);
    }
    size_t done = atomic_fetch_add(&s->done, 1) + 1;
    if (number == 0 && !sf_progress_update(s->request->progress, "shifting groups", (double)done, s->of))
        atomic_store(&s->cancelled, true);
    return SF_OK;
}

static int count_all(splits *s, uint32_t surrogates, sf_error *error)
{
    s->of = surrogates;
    atomic_store(&s->done, 0);
    for (size_t c = 0; c < s->cell_count; c++)
        s->cells[c].near = 0;
    int status = sf_parallel_for(s->request->threads, surrogates, count_surrogate, s);
    return status == SF_OK && !atomic_load(&s->cancelled)
               ? SF_OK
               : sf_fail(error, SF_CANCELLED, NULL, "stopped while counting in surrogates");
}

/* ---- cells ---- */

/* The delay that stands for the links that a split cuts. */
static sf_delay cut_by(const sf_split_chain *chain, uint32_t group)
{
    double width = 0, cut = 0;
    for (uint32_t k = 1; k < chain->size; k++)
        if (((group >> k ^ group >> (k - 1)) & 1) != 0) {
            width += (double)(chain->delays[k - 1].high_ns - chain->delays[k - 1].low_ns);
            cut++;
        }
    width *= cut > 1 ? 2.0 / 3 / cut : 1;
    return (sf_delay){0, (int64_t)fmax(1, width)};
}

/* By which part of what surrogates of a cell deviate from their mean its recorded count does. */
static double ratio_of(const splits *s, const cell *of, double mean)
{
    if (s->rule.kind != SF_SURROGATE_SEGMENT_SHIFT) return 1;
    sf_delay delay = cut_by(&s->chains[of->chain], of->group);
    int64_t width_ns = s->rule.width_ns;
    double share = 1 / s->request->divisor;
    sf_surrogate_scatter scatter = sf_surrogate_scatter_of(delay, width_ns, share);
    return sqrt(scatter.recorded / scatter.surrogates) *
           sf_surrogate_saturated_once(delay, width_ns, share, mean,
                                       (double)of->near / s->request->surrogates);
}

static void list_cells(splits *s, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t group = 1; group < UINT32_C(1) << (s->chains[i].size - 1); group++)
            s->cells[at++] = (cell){.chain = i, .group = group << 1};
}

static int open_all(splits *s, size_t count, sf_error *error)
{
    const sf_events *events = s->request->events;
    size_t longest = 0, rows = s->request->surrogates > 2 ? s->request->surrogates : 2;
    for (size_t i = 0; i < count; i++)
        s->cell_count += (size_t)(1 << (s->chains[i].size - 1)) - 1;
    for (uint32_t u = 0; u < events->unit_count; u++) {
        size_t spikes = events->first[u + 1] - events->first[u];
        longest = spikes > longest ? spikes : longest;
    }
    s->trains = sf_resize(NULL, events->count, sizeof *s->trains);
    s->cells = sf_resize(NULL, s->cell_count, sizeof *s->cells);
    s->counts =
        s->cell_count <= SIZE_MAX / rows ? sf_resize(NULL, rows * s->cell_count, sizeof *s->counts) : NULL;
    s->workers = sf_alloc(s->request->threads, sizeof *s->workers);
    bool whole = s->trains != NULL && s->cells != NULL && s->counts != NULL && s->workers != NULL;
    for (unsigned t = 0; whole && t < s->request->threads; t++) {
        worker *w = &s->workers[t];
        w->shifted = sf_resize(NULL, longest, sizeof *w->shifted);
        for (int k = 0; k < 2; k++)
            w->ends[k] = sf_resize(NULL, longest, sizeof *w->ends[k]);
        whole = w->shifted != NULL && w->ends[0] != NULL && w->ends[1] != NULL;
    }
    if (!whole) return sf_fail_memory(error);
    for (uint32_t i = 0; i < events->count; i++)
        s->trains[i] = events->times[events->positions[i]];
    list_cells(s, count);
    return SF_OK;
}

static void close_all(splits *s)
{
    for (unsigned t = 0; s->workers != NULL && t < s->request->threads; t++) {
        sf_free(s->workers[t].shifted);
        sf_free(s->workers[t].ends[0]);
        sf_free(s->workers[t].ends[1]);
    }
    sf_free(s->workers);
    sf_free(s->trains);
    sf_free(s->cells);
    sf_free(s->counts);
}

/* The recorded counts, and less what shifting takes off bursts. */
static int count_recorded(splits *s, sf_error *error)
{
    for (size_t c = 0; c < s->cell_count; c++) {
        cell *own = &s->cells[c];
        uint64_t near;
        own->recorded = own->observed = count_split(s, &s->workers[0], &s->chains[own->chain], 0, 0, &near);
    }
    if (s->rule.kind != SF_SURROGATE_SEGMENT_SHIFT) return SF_OK;
    s->rule.kind = SF_SURROGATE_DISPLACED;
    s->rule.width_ns = SF_DISPLACED_WIDTHS * s->request->rule.width_ns;
    int status = count_all(s, 2, error);
    s->rule = s->request->rule;
    for (size_t c = 0; c < s->cell_count && status == SF_OK; c++)
        s->cells[c].observed = sf_surrogate_without_blur(
            s->cells[c].recorded, (uint64_t)s->counts[c] + s->counts[s->cell_count + c], s->request->divisor);
    return status;
}

/* ---- verdicts ---- */

/* What surrogates count of a cell. */
static sf_surrogate_scale scale_of(const splits *s, size_t c)
{
    uint32_t n = s->request->surrogates;
    sf_surrogate_tally tally = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        uint64_t count = s->counts[i * s->cell_count + c];
        tally.sum += count;
        tally.sum_squares += count * count;
    }
    return sf_surrogate_scale_of(&tally, n);
}

/* How many surrogates of a cell lie at an edge or beyond. */
static double as_extreme(const splits *s, size_t c, double edge)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->request->surrogates; i++)
        sum += sf_surrogate_beyond(edge, s->counts[i * s->cell_count + c]);
    return sum;
}

/* Fills p and expected of the chains, how far each cell stands out, and the maximum of each surrogate. */
static void judge(const splits *s, sf_split_verdict *verdicts, double *stand_out, double *maxima)
{
    uint32_t n = s->request->surrogates;
    for (uint32_t i = 0; i < n; i++)
        maxima[i] = -INFINITY;
    for (size_t c = 0; c < s->cell_count; c++) {
        const cell *own = &s->cells[c];
        sf_surrogate_scale scale = scale_of(s, c);
        double ratio = ratio_of(s, own, scale.mean),
               edge = sf_surrogate_edge(scale.mean, own->observed, ratio);
        sf_split_verdict *verdict = &verdicts[own->chain];
        verdict->p = fmax(verdict->p, (1 + as_extreme(s, c, edge)) / (1.0 + n));
        verdict->expected =
            fmax(verdict->expected, scale.mean + ((double)own->recorded - (double)own->observed));
        stand_out[c] = sf_surrogate_stands_out(own->observed, ratio, &scale, n);
        for (uint32_t i = 0; i < n && scale.scale > 0; i++)
            maxima[i] =
                fmax(maxima[i], ((double)s->counts[i * s->cell_count + c] - scale.mean) * scale.scale);
    }
}

static int correct(const splits *s, sf_split_verdict *verdicts, const double *stand_out, const double *maxima,
                   sf_error *error)
{
    sf_family family;
    int status = sf_family_open(&family, maxima, s->request->surrogates, error);
    for (size_t c = 0; c < s->cell_count && status == SF_OK; c++) {
        sf_split_verdict *verdict = &verdicts[s->cells[c].chain];
        verdict->q = fmax(verdict->q, sf_family_q(&family, stand_out[c]));
    }
    sf_family_close(&family);
    return status;
}

int sf_splits_test(sf_split_verdict *verdicts, const sf_split_chain *chains, size_t count,
                   const sf_splits_request *request, sf_error *error)
{
    splits s = {.request = request, .chains = chains, .rule = request->rule};
    for (size_t i = 0; i < count; i++)
        verdicts[i] = (sf_split_verdict){0, 0, 0};
    int status = open_all(&s, count, error);
    double *stand_out = sf_resize(NULL, s.cell_count, sizeof *stand_out);
    double *maxima = sf_resize(NULL, request->surrogates, sizeof *maxima);
    if (status == SF_OK && (stand_out == NULL || maxima == NULL)) status = sf_fail_memory(error);
    if (status == SF_OK) status = count_recorded(&s, error);
    if (status == SF_OK) status = count_all(&s, request->surrogates, error);
    if (status == SF_OK) {
        judge(&s, verdicts, stand_out, maxima);
        status = correct(&s, verdicts, stand_out, maxima, error);
    }
    sf_free(stand_out);
    sf_free(maxima);
    close_all(&s);
    return status;
}
