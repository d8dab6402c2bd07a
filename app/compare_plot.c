/* SPDX-License-Identifier: Apache-2.0 */
/* The measures of all recordings by condition, a panel each. */
#include "app/compare.h"
#include "draw/panel.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

#define COLUMNS 4
#define BELOW 0.035 /* of the highest: room for a dot at 0 */
#define SPREAD 0.3  /* of dots about the middle of their condition, in conditions */

/* The numbers of one panel: each recording and well, and each replicate. */
typedef struct dots {
    double *x, *y;
    size_t count;
} dots;

/* Side by side in the order of the table, within the width of the condition. */
static double place(size_t condition, size_t i, size_t count)
{
    return (double)condition + (count > 1 ? SPREAD * (2 * (double)i / (double)(count - 1) - 1) : 0);
}

/* Rows are where their replicate is. */
static void gather_rows(dots *d, const app_comparison *c, sf_measured measure)
{
    for (size_t k = 0; k < c->groups.condition_count; k++) {
        const app_condition *condition = &c->groups.conditions[k];
        for (size_t i = 0; i < c->row_count; i++) {
            double value = c->rows[i].values[measure];
            if (c->rows[i].condition != k || isnan(value))
                continue;
            d->x[d->count] = place(k, c->rows[i].replicate, condition->count);
            d->y[d->count++] = value;
        }
    }
}

static void gather_replicates(dots *d, const app_groups *groups, sf_measured measure)
{
    for (size_t k = 0; k < groups->condition_count; k++)
        for (size_t r = 0; r < groups->conditions[k].count; r++) {
            double value = groups->conditions[k].values[r * SF_MEASURES + measure];
            if (isnan(value))
                continue;
            d->x[d->count] = place(k, r, groups->conditions[k].count);
            d->y[d->count++] = value;
        }
}

/* Of those replicates of a condition that have it. */
static double mean_of(const app_condition *condition, const double *values, sf_measured measure)
{
    double sum = 0, count = 0;
    for (size_t r = 0; r < condition->count; r++) {
        double value = values[r * SF_MEASURES + measure];
        sum += isnan(value) ? 0 : value;
        count += !isnan(value);
    }
    return sum / count;
}

/* Lines from each replicate to itself, where conditions that follow each other are compared in pairs. */
static void draw_pairs(sf_panel *panel, const app_groups *groups, sf_measured measure)
{
    const sf_ink ink = {.line = SF_PALE, .fill = SF_NO_COLOUR, .width_mm = 0.2};
    for (size_t k = 0; k + 1 < groups->condition_count; k++) {
        const app_condition *from = &groups->conditions[k], *to = &groups->conditions[k + 1];
        for (size_t r = 0; r < from->count; r++)
            for (size_t s = 0; s < to->count; s++) {
                const double x[] = {place(k, r, from->count), place(k + 1, s, to->count)};
                const double y[] = {from->values[r * SF_MEASURES + measure],
                                    to->values[s * SF_MEASURES + measure]};
                if (strcmp(from->replicates[r].name, to->replicates[s].name) == 0 &&
                    from->replicates[r].block == to->replicates[s].block && !isnan(y[0]) && !isnan(y[1]))
                    sf_panel_line(panel, &ink, "pair", x, y, 2);
            }
    }
}

/* Of several contrasts the least; NaN where none was tested. */
static double least_q(const app_groups *groups, sf_measured measure)
{
    double least = NAN;
    for (size_t i = 0; i < groups->contrast_count; i++)
        for (size_t m = 0; m < groups->measure_count; m++)
            if (groups->measures[m] == measure)
                least = fmin(least, groups->contrasts[i].told.measures[m].q); /* passes over NaN */
    return least;
}

static void draw_panel(sf_figure *figure, const app_comparison *c, sf_measured measure, const dots *rows,
                       const dots *replicates, const char *const *names)
{
    const app_groups *groups = &c->groups;
    const sf_ink grey = {.line = SF_BLACK, .fill = SF_GREY, .width_mm = 0.1};
    double most = 0, q = least_q(groups, measure);
    for (size_t i = 0; i < rows->count; i++)
        most = fmax(most, rows->y[i]);
    for (size_t k = 0; k < groups->condition_count; k++)
        most = fmax(most, mean_of(&groups->conditions[k], groups->conditions[k].chance, measure));
    sf_panel_form form = {.x = {.from = -0.6,
                                .to = (double)groups->condition_count - 0.4,
                                .names = names,
                                .name_count = groups->condition_count},
                          .y = {.label = sf_measure_about(measure)->label,
                                .from = most > 0 ? -BELOW * most : -BELOW,
                                .to = most > 0 ? 1.18 * most : 1},
                          .height_mm = 32,
                          .name = sf_measure_about(measure)->name};
    sf_panel panel = sf_panel_begin(figure, &form);
    draw_pairs(&panel, groups, measure);
    for (size_t k = 0; k < groups->condition_count; k++) {
        const sf_ink ink = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.35};
        const double x[] = {(double)k - SPREAD - 0.08, (double)k + SPREAD + 0.08};
        const app_condition *condition = &groups->conditions[k];
        const double mean = mean_of(condition, condition->values, measure), y[] = {mean, mean};
        const double chance = mean_of(condition, condition->chance, measure), z[] = {chance, chance};
        const sf_ink pale = {.line = SF_GREY, .fill = SF_NO_COLOUR, .width_mm = 0.35};
        if (!isnan(chance))
            sf_panel_line(&panel, &pale, "chance", x, z, 2);
        if (!isnan(mean))
            sf_panel_line(&panel, &ink, "mean", x, y, 2);
    }
    for (size_t i = 0; i < replicates->count; i++) {
        const sf_ink ink = {.line = SF_NO_COLOUR,
                            .fill = sf_series_colour(1 + (size_t)(replicates->x[i] + 0.5))};
        sf_panel_dots(&panel, &ink, "replicate", &replicates->x[i], &replicates->y[i], 1, 0.8);
    }
    sf_panel_dots(&panel, &grey, "recording", rows->x, rows->y, rows->count, 0.4);
    if (!isnan(q)) {
        char words[48];
        snprintf(words, sizeof words, groups->contrast_count > 1 ? "least q = %.2g" : "q = %.2g", q);
        sf_panel_words(&panel, (double)groups->condition_count - 0.45, form.y.to * 0.93, SF_ANCHOR_END,
                       words);
    }
    sf_panel_end(&panel);
}

static void put_caption(sf_text *caption, const app_comparison *c)
{
    const char *of = c->groups.replicate != NULL ? c->groups.replicate : "file";
    sf_text_printf(
        caption,
        "Coloured: the mean of each %s, on which tests are; grey: each recording and well; line: the mean of "
        "the condition; grey line: what chance gives at these rates, and q is of what lies beyond it. Pale "
        "lines "
        "join what is the same %s. ",
        of, of);
    sf_text_printf(caption, "q: corrected for %zu measures%s.", c->groups.measure_count,
                   c->groups.contrast_count > 1 ? " and all pairs of conditions, the least of these" : "");
}

int app_compare_draw(const app_comparison *c, const char *path, sf_error *error)
{
    const app_groups *groups = &c->groups;
    size_t replicates = 0;
    for (size_t k = 0; k < groups->condition_count; k++)
        replicates += groups->conditions[k].count;
    size_t most = replicates > c->row_count ? replicates : c->row_count;
    double *room = sf_alloc(4 * most, sizeof *room);
    const char **names = sf_alloc(groups->condition_count, sizeof *names);
    sf_text caption = {0};
    sf_figure figure = sf_figure_begin("compare", SF_PAGE_MM, COLUMNS);
    int status = room == NULL || names == NULL ? sf_fail_memory(error) : SF_OK;
    for (size_t k = 0; status == SF_OK && k < groups->condition_count; k++)
        names[k] = groups->conditions[k].name;
    for (size_t m = 0; status == SF_OK && m < groups->measure_count; m++) {
        dots rows = {room, room + most, 0}, means = {room + 2 * most, room + 3 * most, 0};
        gather_rows(&rows, c, groups->measures[m]);
        gather_replicates(&means, groups, groups->measures[m]);
        if (rows.count > 0)
            draw_panel(&figure, c, groups->measures[m], &rows, &means, names);
    }
    put_caption(&caption, c);
    sf_figure_end(&figure, caption.data);
    if (status == SF_OK)
        status = sf_scene_write(&figure.scene, path, error);
    sf_scene_free(&figure.scene);
    sf_text_free(&caption);
    sf_free(room);
    sf_free(names);
    return status;
}
