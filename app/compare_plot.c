/* SPDX-License-Identifier: Apache-2.0 */
/* The measures of all recordings by condition, a panel each. */
#include "app/compare.h"
#include "draw/panel.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

#define COLUMNS 3
#define BELOW 0.035 /* of the highest: room for a dot at 0 */
#define SPREAD 0.3  /* of dots about the middle of their condition, in conditions */

/* The numbers of one panel: each recording and well. */
typedef struct dots {
    double *x, *y;
    size_t count;
} dots;

/* The divisor of a panel's values: 1, or on a shared scale the mean of the first condition. */
static double unit_of(const app_comparison *c, sf_measured measure);

/* Conditions of one level of a second factor stand side by side, with room before those of the next. */
static double middle(const app_groups *groups, size_t condition)
{
    return (double)(condition + groups->conditions[condition].level);
}

static size_t slot_count(const app_groups *groups)
{
    return groups->condition_count + groups->level_count - 1;
}

/* Side by side in the order of the table, within the width of the condition. */
static double place(const app_groups *groups, size_t condition, size_t i)
{
    const size_t count = groups->conditions[condition].count;
    return middle(groups, condition) + (count > 1 ? SPREAD * (2 * (double)i / (double)(count - 1) - 1) : 0);
}

/* Rows are where their replicate is. */
static void gather_rows(dots *d, const app_comparison *c, sf_measured measure)
{
    for (size_t k = 0; k < c->groups.condition_count; k++)
        for (size_t i = 0; i < c->row_count; i++) {
            double value = c->rows[i].values[measure] / unit_of(c, measure);
            if (c->rows[i].condition != k || isnan(value)) continue;
            d->x[d->count] = place(&c->groups, k, c->rows[i].replicate);
            d->y[d->count++] = value;
        }
}

/* Each condition has one colour, the same at all levels. */
static void draw_replicates(sf_panel *panel, const app_groups *groups, sf_measured measure, double unit)
{
    for (size_t k = 0; k < groups->condition_count; k++)
        for (size_t r = 0; r < groups->conditions[k].count; r++) {
            const sf_ink ink = {.line = SF_NO_COLOUR,
                                .fill = sf_series_colour(1 + groups->conditions[k].first)};
            const double x = place(groups, k, r),
                         y = groups->conditions[k].values[r * SF_MEASURES + measure] / unit;
            if (!isnan(y)) sf_panel_dots(panel, &ink, "replicate", &x, &y, 1, 0.8);
        }
}

/* Mean over the condition's replicates that have the measure. */
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

/* The contrast of two conditions; NULL where they were not compared. */
static const app_contrast *find_contrast(const app_groups *groups, size_t a, size_t b)
{
    for (size_t i = 0; i < groups->contrast_count; i++) {
        const app_contrast *c = &groups->contrasts[i];
        if ((c->first == a && c->second == b) || (c->first == b && c->second == a)) return c;
    }
    return NULL;
}

/* Lines from each replicate to itself, where conditions beside each other were compared in pairs: nowhere
 * else does a line mean anything. */
static void draw_pairs(sf_panel *panel, const app_groups *groups, sf_measured measure, double unit)
{
    const sf_ink ink = {.line = SF_PALE, .fill = SF_NO_COLOUR, .width_mm = 0.2};
    for (size_t k = 0; k + 1 < groups->condition_count; k++) {
        const app_condition *from = &groups->conditions[k], *to = &groups->conditions[k + 1];
        const app_contrast *contrast = find_contrast(groups, k, k + 1);
        for (size_t r = 0; contrast != NULL && contrast->paired && r < from->count; r++)
            for (size_t s = 0; s < to->count; s++) {
                const double x[] = {place(groups, k, r), place(groups, k + 1, s)};
                const double y[] = {from->values[r * SF_MEASURES + measure] / unit,
                                    to->values[s * SF_MEASURES + measure] / unit};
                if (strcmp(from->replicates[r].name, to->replicates[s].name) == 0 &&
                    from->replicates[r].block == to->replicates[s].block && !isnan(y[0]) && !isnan(y[1]))
                    sf_panel_line(panel, &ink, "pair", x, y, 2);
            }
    }
}

static const sf_compared *compared_of(const app_groups *groups, size_t contrast, sf_measured measure)
{
    for (size_t m = 0; m < groups->measure_count; m++)
        if (groups->measures[m] == measure) return &groups->contrasts[contrast].told.measures[m];
    return NULL;
}

/* The contrast with the least q; where none was tested, the one with the largest effect. */
static const app_contrast *clearest(const app_groups *groups, sf_measured measure, const sf_compared **told)
{
    const app_contrast *best = NULL;
    *told = NULL;
    for (size_t i = 0; i < groups->contrast_count; i++) {
        const sf_compared *of = compared_of(groups, i, measure);
        if (of == NULL || isnan(of->g)) continue;
        bool better = *told == NULL || of->q < (*told)->q || (isnan((*told)->q) && !isnan(of->q)) ||
                      (isnan((*told)->q) && fabs(of->g) > fabs((*told)->g));
        best = better ? &groups->contrasts[i] : best;
        *told = better ? of : *told;
    }
    return best;
}

/* Writes the q of the effects of two factors above the dots. */
static void write_effects(sf_panel *panel, const app_comparison *c, sf_measured measure, double top)
{
    const sf_factor_effect *const *effects = (const sf_factor_effect *const *)c->groups.factors.effects;
    const double right = (double)slot_count(&c->groups) - 0.45;
    char words[128], numbers[SF_FACTOR_EFFECTS][16];
    bool tested = false;
    size_t m = 0;
    while (c->groups.measures[m] != measure)
        m++;
    for (int e = 0; e < SF_FACTOR_EFFECTS; e++) {
        const double q = effects[e][m].q;
        tested = tested || !isnan(q);
        snprintf(numbers[e], sizeof numbers[e], isnan(q) ? "-" : "%.2g", q);
    }
    if (!tested) return;
    snprintf(words, sizeof words, "q: %.20s %s, %.20s %s,", sf_delimited_name(&c->table, c->grouping.by),
             numbers[SF_FACTOR_FIRST], c->groups.factor, numbers[SF_FACTOR_SECOND]);
    sf_panel_words(panel, right, top * 0.96, SF_ANCHOR_END, words);
    snprintf(words, sizeof words, "both %s", numbers[SF_FACTOR_BOTH]);
    sf_panel_words(panel, right, top * 0.89, SF_ANCHOR_END, words);
}

/* The values of the second factor, each over its conditions. */
static void write_levels(sf_panel *panel, const app_groups *groups, double top)
{
    for (size_t first = 0, end; first < groups->condition_count; first = end) {
        char words[96];
        const size_t level = groups->conditions[first].level;
        for (end = first; end < groups->condition_count && groups->conditions[end].level == level; end++)
            ;
        snprintf(words, sizeof words, "%.40s %.40s", groups->factor, groups->levels[level]);
        sf_panel_words(panel, (middle(groups, first) + middle(groups, end - 1)) / 2, top, SF_ANCHOR_MIDDLE,
                       words);
    }
}

/* Its size, interval and q, above the dots. */
static void write_effect(sf_panel *panel, const app_groups *groups, sf_measured measure, double top)
{
    const sf_compared *told;
    const app_contrast *contrast = clearest(groups, measure, &told);
    char words[160], q[48] = "";
    if (contrast == NULL) return;
    if (!isnan(told->q)) snprintf(q, sizeof q, ", q = %.2g", told->q);
    int length = 0;
    if (groups->condition_count > 2)
        length = snprintf(words, sizeof words, "%.20s/%.20s: ", groups->conditions[contrast->second].name,
                          groups->conditions[contrast->first].name);
    if (isnan(told->g_low))
        snprintf(words + length, sizeof words - (size_t)length, "g = %.2g%s", told->g, q);
    else
        snprintf(words + length, sizeof words - (size_t)length, "g = %.2g (%.2g to %.2g)%s", told->g,
                 told->g_low, told->g_high, q);
    sf_panel_words(panel, (double)groups->condition_count - 0.45, top, SF_ANCHOR_END, words);
}

typedef struct summary {
    size_t n;
    double mean, low, high; /* of the mean, 95 % by Student's t; NaN of fewer than two */
} summary;

static summary summarise(const app_condition *condition, sf_measured measure, double unit)
{
    summary of = {.mean = mean_of(condition, condition->values, measure) / unit, .low = NAN, .high = NAN};
    double squares = 0;
    for (size_t r = 0; r < condition->count; r++) {
        double value = condition->values[r * SF_MEASURES + measure] / unit;
        squares += isnan(value) ? 0 : (value - of.mean) * (value - of.mean);
        of.n += isnan(value) ? 0 : 1;
    }
    if (of.n < 2) return of;
    double n = (double)of.n, half = sf_student_quantile(0.05, n - 1) * sqrt(squares / (n - 1) / n);
    of.low = of.mean - half;
    of.high = of.mean + half;
    return of;
}

static void draw_condition(sf_panel *panel, const app_groups *groups, size_t k, sf_measured measure,
                           double unit)
{
    const sf_ink ink = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.35};
    const sf_ink pale = {.line = SF_GREY, .fill = SF_NO_COLOUR, .width_mm = 0.35, .dashed = true};
    const app_condition *condition = &groups->conditions[k];
    const summary of = summarise(condition, measure, unit);
    const double x = middle(groups, k), wide[] = {x - SPREAD - 0.08, x + SPREAD + 0.08},
                 chance = mean_of(condition, condition->chance, measure) / unit;
    const double mean[] = {of.mean, of.mean}, level[] = {chance, chance}, at[] = {x, x},
                 ends[] = {of.low, of.high};
    if (!isnan(chance)) sf_panel_line(panel, &pale, "chance", wide, level, 2);
    if (!isnan(of.mean)) sf_panel_line(panel, &ink, "mean", wide, mean, 2);
    if (!isnan(of.low)) sf_panel_line(panel, &ink, "interval", at, ends, 2);
}

static double unit_of(const app_comparison *c, sf_measured measure)
{
    double mean =
        c->shared_scale ? mean_of(&c->groups.conditions[0], c->groups.conditions[0].values, measure) : 1;
    return mean > 0 ? mean : NAN;
}

#define NAME_SIZE 80

static void draw_panel(sf_figure *figure, const app_comparison *c, sf_measured measure, const dots *rows,
                       double most, char (*names)[NAME_SIZE], const char **labels)
{
    const app_groups *groups = &c->groups;
    const sf_ink grey = {.line = SF_BLACK, .fill = SF_GREY, .width_mm = 0.1};
    const double unit = unit_of(c, measure);
    char label[300], reference[APP_CONDITION_WORDS] = "";
    if (c->shared_scale) app_condition_words(reference, groups, 0);
    snprintf(label, sizeof label, "%s%s%s", sf_measure_about(measure)->label, c->shared_scale ? " / " : "",
             reference);
    for (size_t k = 0; k < slot_count(groups); k++)
        labels[k] = "";
    for (size_t k = 0; k < groups->condition_count; k++) {
        snprintf(names[k], NAME_SIZE, "%.60s (%zu)", groups->conditions[k].name,
                 summarise(&groups->conditions[k], measure, unit).n);
        labels[(size_t)middle(groups, k)] = names[k];
    }
    const double room = groups->factor != NULL ? 1.4 : 1.18, top = (most > 0 ? most : 0.85) * room;
    sf_panel_form form = {.x = {.from = -0.6,
                                .to = (double)slot_count(groups) - 0.4,
                                .names = labels,
                                .name_count = slot_count(groups)},
                          .y = {.label = label, .from = most > 0 ? -BELOW * most : -BELOW, .to = top},
                          .height_mm = 36,
                          .name = sf_measure_about(measure)->name};
    sf_panel panel = sf_panel_begin(figure, &form);
    draw_pairs(&panel, groups, measure, unit);
    draw_replicates(&panel, groups, measure, unit);
    sf_panel_dots(&panel, &grey, "recording", rows->x, rows->y, rows->count, 0.4);
    for (size_t k = 0; k < groups->condition_count; k++)
        draw_condition(&panel, groups, k, measure, unit);
    if (groups->factor == NULL) {
        write_effect(&panel, groups, measure, top * 0.95);
    } else {
        write_effects(&panel, c, measure, top);
        write_levels(&panel, groups, top * 0.81);
    }
    sf_panel_end(&panel);
}

/* The maximum that a panel shows, in its unit; NaN if it has no values. */
static double find_most(const app_comparison *c, sf_measured measure, const dots *rows)
{
    const app_groups *groups = &c->groups;
    double most = 0, unit = unit_of(c, measure);
    for (size_t i = 0; i < rows->count; i++)
        most = fmax(most, rows->y[i]);
    for (size_t k = 0; k < groups->condition_count; k++) {
        const summary of = summarise(&groups->conditions[k], measure, unit);
        most = fmax(most, mean_of(&groups->conditions[k], groups->conditions[k].chance, measure) / unit);
        most = fmax(most, of.high);
    }
    return isnan(unit) ? NAN : most;
}

static void put_caption(sf_text *caption, const app_comparison *c, size_t left_out)
{
    const app_groups *groups = &c->groups;
    const char *of = groups->replicate != NULL ? groups->replicate : "file";
    bool paired = false;
    for (size_t i = 0; i < groups->contrast_count; i++)
        paired = paired || groups->contrasts[i].paired;
    sf_text_printf(caption,
                   "Coloured: the mean of each %s, on which tests are, and in brackets how many; grey: each "
                   "recording and well. "
                   "Black: the mean of the condition with its 95 %% interval; dashed: what chance gives at "
                   "these rates, and %s of what lies beyond it. ",
                   of, groups->factor != NULL ? "q is" : "g and q are");
    if (paired)
        sf_text_printf(caption, "Pale lines join what is the same %s, which is compared with itself. ", of);
    if (groups->factor != NULL)
        sf_text_printf(
            caption,
            "q of the effect of %s, of %s, and of both: whether that of one depends on the other; corrected "
            "for %zu measures and %zu effects.",
            sf_delimited_name(&c->table, c->grouping.by), groups->factor, groups->measure_count,
            groups->effects_tested);
    else
        sf_text_printf(
            caption,
            "g: Hedges' g of the later condition less the earlier one, with its 95 %% interval%s; q: "
            "corrected for %zu measures%s.",
            groups->condition_count > 2 ? ", of the two conditions that differ most clearly" : "",
            groups->measure_count, groups->contrast_count > 1 ? " and all pairs of conditions" : "");
    if (c->shared_scale) {
        char words[APP_CONDITION_WORDS];
        app_condition_words(words, groups, 0);
        sf_text_printf(caption, " All measures are on one scale, as multiples of the mean of %s.", words);
    }
    if (left_out > 0)
        sf_text_printf(caption, " %zu measure%s whose mean there is 0 %s left out.", left_out,
                       left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
}

/* Every panel, or, without a figure, the highest of all that they show. */
static double draw_all(sf_figure *figure, const app_comparison *c, double shared, double *room,
                       size_t *left_out, char (*names)[NAME_SIZE], const char **labels)
{
    double highest = 0;
    *left_out = 0;
    for (size_t m = 0; m < c->groups.measure_count; m++) {
        sf_measured measure = c->groups.measures[m];
        dots rows = {room, room + c->row_count, 0};
        gather_rows(&rows, c, measure);
        double of = find_most(c, measure, &rows);
        *left_out += rows.count > 0 && isnan(of);
        if (rows.count == 0 || isnan(of)) continue;
        highest = fmax(highest, of);
        if (figure != NULL)
            draw_panel(figure, c, measure, &rows, c->shared_scale ? shared : of, names, labels);
    }
    return highest;
}

int app_compare_draw(const app_comparison *c, const char *path, sf_error *error)
{
    const app_groups *groups = &c->groups;
    double *room = sf_alloc(2 * c->row_count, sizeof *room);
    const char **labels = sf_alloc(slot_count(groups), sizeof *labels);
    char(*names)[NAME_SIZE] = sf_alloc(groups->condition_count, sizeof *names);
    size_t left_out = 0;
    sf_text caption = {0};
    sf_figure figure = sf_figure_begin("compare", SF_PAGE_MM, COLUMNS);
    int status = room == NULL || names == NULL || labels == NULL ? sf_fail_memory(error) : SF_OK;
    if (status == SF_OK) {
        double shared = draw_all(NULL, c, 0, room, &left_out, names, labels);
        draw_all(&figure, c, shared, room, &left_out, names, labels);
        put_caption(&caption, c, left_out);
    }
    sf_figure_end(&figure, caption.data);
    if (status == SF_OK) status = sf_scene_write(&figure.scene, path, error);
    sf_scene_free(&figure.scene);
    sf_text_free(&caption);
    sf_free(room);
    sf_free(names);
    sf_free(labels);
    return status;
}
