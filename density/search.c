/* SPDX-License-Identifier: Apache-2.0 */
#include "density/search.h"

#include <math.h>

void sf_search_range(sf_search *search, size_t count, double h_least, double h_most, bool geometric)
{
    search->count = count;
    for (size_t i = 0; i < count; i++) {
        double share = (double)i / (double)(count - 1);
        search->curve[i].h =
            geometric ? h_least * pow(h_most / h_least, share) : h_least + share * (h_most - h_least);
    }
}

/*
 * False position with the Illinois rule, which halves the weight of an end that stays, so that both ends
 * close in.
 */
int sf_search_refine(sf_score_point *point, double below, double above, double slope_below,
                     double slope_above, sf_score_function score, void *context)
{
    int kept = 0; /* the end that stayed last: -1 the lower, 1 the upper */
    double before = 0;
    for (int round = 0; round < 200 && above / below - 1 > 1e-13; round++) {
        double at = below + (above - below) * slope_below / (slope_below - slope_above), slope;
        if (!(at > below && at < above))
            at = sqrt(below * above);
        if (at <= below || at >= above)
            break;
        bool settled = fabs(at - before) <= 1e-12 * at;
        before = point->h = at;
        int status = score(context, &at, 1, &point->score, &slope);
        if (status != SF_OK || slope == 0 || settled)
            return status;
        if (slope < 0) {
            below = at;
            slope_below = slope;
            slope_above = kept == 1 ? slope_above / 2 : slope_above;
            kept = 1;
        } else {
            above = at;
            slope_above = slope;
            slope_below = kept == -1 ? slope_below / 2 : slope_below;
            kept = -1;
        }
    }
    return SF_OK;
}

int sf_search_run(sf_search *search, sf_score_function score, void *context)
{
    double h[SF_SEARCH_POINTS], scores[SF_SEARCH_POINTS], slopes[SF_SEARCH_POINTS];
    search->lowest = search->minimum_count = 0;
    for (size_t i = 0; i < search->count; i++)
        h[i] = search->curve[i].h;
    int status = score(context, h, search->count, scores, slopes);
    for (size_t i = 0; status == SF_OK && i < search->count; i++) {
        search->curve[i].score = scores[i];
        if (scores[i] < scores[search->lowest])
            search->lowest = i;
        bool turns = i > 0 && slopes[i - 1] < 0 && slopes[i] >= 0;
        if (!turns || search->minimum_count == SF_SEARCH_MOST_MINIMA)
            continue;
        sf_score_point *minimum = &search->minima[search->minimum_count++];
        *minimum = (sf_score_point){h[i], scores[i]};
        status = sf_search_refine(minimum, h[i - 1], h[i], slopes[i - 1], slopes[i], score, context);
    }
    return status;
}

const sf_score_point *sf_search_lowest_minimum(const sf_search *search)
{
    const sf_score_point *lowest = NULL;
    for (size_t m = 0; m < search->minimum_count; m++)
        if (lowest == NULL || search->minima[m].score < lowest->score)
            lowest = &search->minima[m];
    return lowest;
}
