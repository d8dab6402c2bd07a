/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/sharpness.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "mine/shared_groups.h"
#include "mine/surrogate_scatter.h"

#include <math.h>
#include <string.h>

#define LEAST_COUNT 5     /* expected of a pair: fewer have no square root to speak of */
#define LEAST_DIVISOR 4.0 /* where more is taken off, too little is left of a link */
#define LEAST_FALL 4      /* of c(0) - c(3 w), in its standard errors: less tells no shape */
#define ROUNDS 4          /* of finding the middle half with what is taken off, and that of the middle half */
#define GROUP_ROUNDS 3    /* of finding groups with what the others tell, and the others */

/* A link stands out one way by more than this, and the other way by less than that part of it. */
#define LINK_Z 3.3
#define REVERSE_PART 0.4

#define LOW_Z 1.645 /* where p of unlinked pairs is 0.05 */

#define SEEN_TWICE_NS (SF_MILLISECOND / 2)

#define ERRORS 2 /* that are due to chance */

/* Where less than one in so many parts was looked at, what is left is scaled up to all by much: few units are
 * looked at closer, of which 240 pairs tell a spread to 6 %, unless too many are in groups. */
#define MOST_STRIDE 2
#define ERRORS_OF_PART 4
#define FEW_UNITS 16
#define LEAST_SINGLE 10

/* Pairs and what is made of them. */
typedef struct measure {
    const sf_pair_survey *survey;
    const sf_survey_job *job;
    double *z;                        /* by pair; NaN of those that tell nothing */
    double *worth, *together;         /* of a group (mine/shared_groups.h) */
    sf_rank *order;                   /* of those that are judged by, ascending z */
    uint32_t groups[SF_SURVEY_UNITS]; /* by unit of the survey */
    size_t group_count;
    sf_surrogate_saturation saturation;
    double root; /* of `stride` times as many spikes z is larger by this, and its chance is not */
} measure;

/* The middle half of pairs in the order of z, with one in `divisor` parts taken off. */
typedef struct middle {
    size_t first, last, count; /* of `order`; of all that are judged by */
    double mean, spread;
} middle;

/* ---- z ---- */

static double z_of(const measure *m, const sf_surveyed_pair *pair, double divisor, double ratio)
{
    bool twice = pair->seen_twice && m->job->delay.low_ns >= SEEN_TWICE_NS; /* else they are in the delay */
    if (pair->shifted < LEAST_COUNT || pair->variance <= 0 || twice) return NAN;
    double off = pair->here - pair->shifted - (pair->here - pair->far) / divisor;
    double saturated = sf_surrogate_saturated(&m->saturation, pair->here, pair->near);
    return off / (ratio * saturated * sqrt(pair->variance));
}

static void find_z(measure *m, double divisor)
{
    sf_surrogate_scatter scatter = sf_surrogate_scatter_of(m->job->delay, m->job->width_ns, 1 / divisor);
    double ratio = sqrt(scatter.recorded / scatter.surrogates);
    size_t units = m->survey->units;
    for (size_t i = 0; i < units * units; i++)
        m->z[i] = i % (units + 1) == 0 ? NAN : z_of(m, &m->survey->pairs[i], divisor, ratio);
}

/* A way too rare to tell stands out by nothing: where the other one counts enough, the link itself does so.
 */
static bool is_link(double z, double reverse)
{
    double most = fmax(z, reverse), least = isnan(z) || isnan(reverse) ? 0 : fmin(z, reverse);
    return most > LINK_Z && least < REVERSE_PART * most;
}

/* By unit: a bit for each unit that it is linked with, either way. */
static void find_links(uint64_t linked[SF_SURVEY_UNITS], const measure *m)
{
    size_t units = m->survey->units;
    memset(linked, 0, units * sizeof *linked);
    for (size_t a = 0; a < units; a++)
        for (size_t b = 0; b < units; b++)
            if (is_link(m->z[a * units + b], m->z[b * units + a])) linked[a] |= UINT64_C(1) << b;
}

/* Puts pairs in order that are not linked; `beside`: nor have a unit in common that both are linked with. */
static size_t list_unlinked(measure *m, const uint64_t linked[SF_SURVEY_UNITS], bool beside)
{
    size_t count = 0, units = m->survey->units;
    for (size_t a = 0; a < units; a++)
        for (size_t b = 0; b < units; b++) {
            double z = m->z[a * units + b];
            bool within = m->groups[a] != 0 && m->groups[a] == m->groups[b];
            bool tied = (linked[a] >> b & 1) != 0 || (beside && (linked[a] & linked[b]) != 0);
            if (!isnan(z) && !within && !tied) m->order[count++] = (sf_rank){z, a * units + b};
        }
    sf_ranks_sort(m->order, count);
    return count;
}

/* Puts those that are judged by in order. What links make of the pairs beside them says nothing of bursts;
 * where that leaves less than half, what is left would not speak for all. */
static size_t list_pairs(measure *m)
{
    uint64_t linked[SF_SURVEY_UNITS];
    find_links(linked, m);
    size_t all = list_unlinked(m, linked, false), count = list_unlinked(m, linked, true);
    return 2 * count >= all ? count : list_unlinked(m, linked, false);
}

static middle find_middle(measure *m, double divisor)
{
    find_z(m, divisor);
    middle half = {.count = list_pairs(m)};
    if (half.count == 0) return half;
    size_t tenth = half.count / 10;
    half.first = half.count / 4;
    half.last = half.count - half.first;
    for (size_t i = half.first; i < half.last; i++)
        half.mean += m->order[i].amount / (double)(half.last - half.first);
    half.spread = (m->order[half.count - 1 - tenth].amount - m->order[tenth].amount) / 2.563;
    return half;
}

/* 1 / the divisor is the share of c(0) - c(3 w) that shifting takes off these pairs. */
static double find_divisor(const measure *m, const middle *half, bool *bursts)
{
    double off = 0, fall = 0, scatters = 0;
    for (size_t i = half->first; i < half->last; i++) {
        const sf_surveyed_pair *pair = &m->survey->pairs[m->order[i].index];
        off += pair->here - pair->shifted;
        fall += pair->here - pair->far;
        scatters += 1.5 * pair->shifted;
    }
    *bursts = fall > LEAST_FALL * sqrt(scatters);
    return *bursts && off > 0 ? fmax(LEAST_DIVISOR, fmin(fall / off, SF_SMOOTH_DIVISOR)) : SF_SMOOTH_DIVISOR;
}

/* ---- what they tell ---- */

static double nearer(double mean, double spread)
{
    return spread > 0 ? LOW_Z - (LOW_Z - mean) / spread : 0;
}

/* How much z of all that was recorded scatters, if that of a part scatters so much. */
static double scaled(const measure *m, double spread)
{
    return spread > 1 ? sqrt(1 + m->root * m->root * (spread * spread - 1)) : spread;
}

/* Of those outside the groups. The mean of the middle half of a normal distribution scatters 1.1 times as
 * much as that of all, and what deciles tell of its deviation 0.9 times as much as that. */
static void judge(sf_sharpness *told, measure *m)
{
    middle half = find_middle(m, SF_SMOOTH_DIVISOR);
    told->divisor = SF_SMOOTH_DIVISOR;
    told->sharpness = told->shared = told->error = told->left = told->spread = 0;
    told->low_share = NAN;
    told->bursts = false;
    if (half.count < SF_SHARPNESS_LEAST_PAIRS) return;
    double chance = 1 / sqrt((double)half.count);
    told->shared = m->root * half.mean;
    told->error = m->root * 1.1 * chance * fmax(1, half.spread);
    double divisor = find_divisor(m, &half, &told->bursts);
    for (int i = 0; i < ROUNDS && told->shared > told->error && half.count > 0; i++) {
        told->divisor = i == 0 ? divisor : find_divisor(m, &half, &told->bursts);
        half = find_middle(m, told->divisor);
    }
    told->left = m->root * half.mean;
    bool part = m->survey->stride > MOST_STRIDE;
    double errors = part ? ERRORS_OF_PART : ERRORS, common = fmax(0, fabs(told->left) - errors * told->error),
           least = half.spread * (1 - 0.9 * errors * chance), own = scaled(m, least);
    told->spread = part && least <= 1 ? half.spread : scaled(m, half.spread);
    told->common = common;
    told->sharpness = fmax(0, nearer(common, fmax(own, common > 0 ? 1 : 0)));
    told->low_share = erfc((LOW_Z - told->left) / (told->spread * sqrt(2))) / 2;
}

/* ---- groups ---- */

static size_t within_groups(const measure *m, size_t *all)
{
    size_t within = 0, units = m->survey->units;
    *all = 0;
    for (size_t a = 0; a < units; a++)
        for (size_t b = 0; b < units; b++)
            if (!isnan(m->z[a * units + b])) {
                ++*all;
                within += m->groups[a] != 0 && m->groups[a] == m->groups[b];
            }
    return within;
}

/* By z as it is; true where they are others than before. What most pairs have in common is no group's. */
static bool find_groups(measure *m, double spread)
{
    uint32_t before[SF_SURVEY_UNITS];
    size_t units = m->survey->units, all;
    memcpy(before, m->groups, sizeof before);
    for (size_t a = 0; a < units; a++)
        for (size_t b = 0; b < units; b++) {
            double z = m->z[a * units + b] / spread, reverse = m->z[b * units + a] / spread;
            double worth = isnan(z) || isnan(reverse) ? 0 : sf_shared_worth(z, reverse);
            bool one_way = isnan(z) || isnan(reverse) || is_link(z, reverse);
            m->worth[a * units + b] = worth;
            m->together[a * units + b] = one_way ? worth : sf_shared_together(z, reverse);
        }
    m->group_count = sf_shared_groups_find(m->groups, m->worth, m->together, units);
    if (2 * within_groups(m, &all) > all) {
        memset(m->groups, 0, sizeof m->groups);
        m->group_count = 0;
    }
    return memcmp(before, m->groups, sizeof before) != 0;
}

/* Groups that the others' bursts do not account for, and what the others tell. */
static void judge_with_groups(sf_sharpness *told, measure *m)
{
    find_z(m, SF_SMOOTH_DIVISOR);
    bool changed = find_groups(m, 1);
    judge(told, m);
    for (int i = 0; i < GROUP_ROUNDS && changed; i++) {
        changed = find_groups(m, fmax(1, told->spread / m->root));
        judge(told, m);
    }
    if (m->group_count == 0 && told->sharpness <= SF_SHARPNESS_MOST &&
        find_groups(m, fmax(1, told->spread / m->root)))
        judge(told, m);
    within_groups(m, &told->pairs);
    told->groups = m->group_count;
    told->grouped = 0;
    for (size_t u = 0; u < m->survey->units; u++)
        told->grouped += m->groups[u] != 0;
}

/* ---- the whole ---- */

static int open_measure(measure *m, const sf_pair_survey *survey, const sf_survey_job *job)
{
    size_t cells = survey->units * survey->units;
    *m = (measure){.survey = survey, .job = job, .root = sqrt((double)survey->stride)};
    m->z = sf_resize(NULL, cells, sizeof *m->z);
    m->worth = sf_resize(NULL, cells, sizeof *m->worth);
    m->together = sf_resize(NULL, cells, sizeof *m->together);
    m->order = sf_resize(NULL, cells, sizeof *m->order);
    m->saturation =
        sf_surrogate_saturation_of(job->delay, job->width_ns, 1 / SF_SMOOTH_DIVISOR, survey->stops);
    bool whole = m->z != NULL && m->worth != NULL && m->together != NULL && m->order != NULL;
    return whole ? SF_OK : SF_NO_MEMORY;
}

static void close_measure(measure *m)
{
    sf_free(m->z);
    sf_free(m->worth);
    sf_free(m->together);
    sf_free(m->order);
}

/* What all units in groups tell stands; what the others do is told by the first few. */
static int judge_few(sf_sharpness *told, const measure *all, const sf_pair_survey *survey,
                     const sf_survey_job *job)
{
    measure m;
    int status = open_measure(&m, survey, job);
    memcpy(m.groups, all->groups, survey->units * sizeof *m.groups);
    if (status == SF_OK) judge(told, &m);
    close_measure(&m);
    return status;
}

static bool tells_too_little(const measure *m)
{
    size_t single = 0;
    for (size_t u = 0; u < m->survey->units && u < FEW_UNITS; u++)
        single += m->groups[u] == 0;
    return m->survey->stride > MOST_STRIDE && m->survey->units > FEW_UNITS && single >= LEAST_SINGLE;
}

static int look_closer(sf_sharpness *told, const measure *m)
{
    sf_survey_job job = *m->job;
    job.chosen = NULL;
    job.most_units = FEW_UNITS;
    sf_pair_survey survey;
    int status = sf_pair_survey_open(&survey, &job);
    if (status == SF_OK) status = judge_few(told, m, &survey, &job);
    sf_pair_survey_close(&survey);
    return status;
}

static int judge_survey(sf_sharpness *told, uint32_t *groups, const sf_pair_survey *survey,
                        const sf_survey_job *job)
{
    measure m;
    int status = open_measure(&m, survey, job);
    if (status == SF_OK) {
        judge_with_groups(told, &m);
        if (tells_too_little(&m)) status = look_closer(told, &m);
    }
    for (size_t u = 0; u < survey->units && groups != NULL; u++)
        groups[survey->unit_of[u]] = m.groups[u];
    close_measure(&m);
    return status;
}

int sf_sharpness_measure(sf_sharpness *sharpness, uint32_t *groups, const sf_survey_job *job, sf_error *error)
{
    *sharpness = (sf_sharpness){.delay = job->delay,
                                .width_ns = job->width_ns,
                                .divisor = SF_SMOOTH_DIVISOR,
                                .low_share = NAN,
                                .testable = true};
    if (groups != NULL) memset(groups, 0, job->unit_count * sizeof *groups);
    sf_pair_survey survey;
    int status = sf_pair_survey_open(&survey, job);
    if (status == SF_OK) status = judge_survey(sharpness, groups, &survey, job);
    sf_pair_survey_close(&survey);
    sharpness->testable = sharpness->sharpness <= SF_SHARPNESS_MOST;
    if (status == SF_CANCELLED)
        return sf_fail(error, SF_CANCELLED, NULL, "was stopped while bursts were looked at");
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}
