/* SPDX-License-Identifier: Apache-2.0 */
#include "density/search.h"

#include <math.h>

void sf_search_range(sf_search *search, size_t count, double h_least, double h_most, bool geometric)
{
    search->count = count;
    for (size_t i = 0; i < count; i++) {
        double share = (double)i / (double)(count - 1);
        search->curve[i].h =
            geometric ? sf_search_step(h_least, h_most, i, count - 1) : h_least + share * (h_most - h_least);
    }
}

int sf_search_refine(sf_score_point *point, double below, double above, double slope_below,
                     double slope_above, sf_score_function score, void *context)
{
    sf_bracket bracket = sf_bracket_begin(below, above, slope_below, slope_above);
    while (sf_bracket_next(&bracket)) {
        double slope;
        point->h = bracket.at;
        int status = score(context, &bracket.at, 1, &point->score, &slope);
        if (status != SF_OK || !sf_bracket_take(&bracket, slope)) return status;
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
        if (scores[i] < scores[search->lowest]) search->lowest = i;
        bool turns = i > 0 && slopes[i - 1] < 0 && slopes[i] >= 0;
        if (!turns || search->minimum_count == SF_SEARCH_MOST_MINIMA) continue;
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
        if (lowest == NULL || search->minima[m].score < lowest->score) lowest = &search->minima[m];
    return lowest;
}
