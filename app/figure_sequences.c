/* SPDX-License-Identifier: Apache-2.0 */
/* When each unit fires first in each network burst, and how similar the bursts are by the order of units. */
#include "app/figure.h"

#include "analysis/sequences.h"
#include "core/memory.h"
#include "core/reals.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NAMED 40         /* units with a name beside their row */
#define MOST_BURSTS 500       /* shown */
#define MOST_CELLS 2000000    /* of units by bursts, shown */
#define OUTER_SHARE 0.05      /* of latencies at either end, which have one colour */
#define LEAST_SIMILARITY 0.25 /* of either end of the scale: nearer to 0 looks alike */

/* What is shown of it: backbone units by place, those of a sequence first, and the first bursts. */
typedef struct shown_sequences {
    const sf_sequences *found;
    uint32_t *units;
    const char **names; /* from the last unit to the first, as rows of an image go upwards */
    double *values, *sorted;
    size_t count, bursts;
} shown_sequences;

typedef struct placed_unit {
    uint32_t unit;
    uint64_t order;
    double place_ms;
} placed_unit;

static int by_place(const void *a, const void *b)
{
    const placed_unit *x = a, *y = b;
    if ((x->order > 0) != (y->order > 0)) return x->order > 0 ? -1 : 1;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    double one = isnan(x->place_ms) ? INFINITY : x->place_ms,
           other = isnan(y->place_ms) ? INFINITY : y->place_ms;
    if (one != other) return one < other ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int order_units(shown_sequences *s, const app_subject *subject, sf_error *error)
{
    const sf_sequences *f = s->found;
    placed_unit *order = sf_alloc(s->count, sizeof *order);
    s->units = sf_alloc(s->count, sizeof *s->units);
    s->names = sf_alloc(s->count, sizeof *s->names);
    if (order == NULL || s->units == NULL || s->names == NULL) {
        sf_free(order);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < s->count; i++) {
        const sf_sequence_unit *unit = &f->units[f->backbone_units[i]];
        order[i] = (placed_unit){unit->unit, unit->order, unit->place.place_ms};
    }
    qsort(order, s->count, sizeof *order, by_place);
    for (size_t i = 0; i < s->count; i++) {
        s->units[i] = order[i].unit;
        s->names[s->count - 1 - i] = subject->of.units[order[i].unit].name;
    }
    sf_free(order);
    return SF_OK;
}

/* Latencies of the units shown, NaN where one does not fire, and the colours between their outer shares. */
static sf_colour_scale take_latencies(shown_sequences *s)
{
    const sf_sequences *f = s->found;
    size_t known = 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t b = 0; b < s->bursts; b++) {
            int64_t first_ns = f->first_ns[s->units[i] * f->burst_count + b];
            double *cell = &s->values[(s->count - 1 - i) * s->bursts + b];
            *cell = NAN;
            if (first_ns != INT64_MIN)
                s->sorted[known++] = *cell = (double)(first_ns - f->bursts[b].begin_ns) * 1e-6;
        }
    sf_reals_sort(s->sorted, known);
    sf_colour_scale scale = {.label = "first spike, ms"};
    if (known > 0) {
        size_t outer = (size_t)(OUTER_SHARE * (double)known);
        scale.from = s->sorted[outer];
        scale.to = s->sorted[known - 1 - outer];
    }
    if (scale.to <= scale.from) scale.to = scale.from + 1;
    for (size_t k = 0; k < s->count * s->bursts; k++)
        if (!isnan(s->values[k])) s->values[k] = fmax(scale.from, fmin(scale.to, s->values[k]));
    return scale;
}

static sf_axis burst_axis(const shown_sequences *s)
{
    return (sf_axis){.label = "burst, by time", .from = -0.5, .to = (double)s->bursts - 0.5, .whole = true};
}

static void draw_latencies(sf_figure *figure, shown_sequences *s)
{
    const sf_ink below = {.line = SF_VERMILION, .fill = SF_NO_COLOUR, .width_mm = 0.4};
    const sf_colour_scale scale = take_latencies(s);
    double members = (double)s->found->members;
    sf_panel_form form = {.title = "First spikes in each burst",
                          .name = "latencies",
                          .x = burst_axis(s),
                          .y = {.label = "unit, by place",
                                .from = -0.5,
                                .to = (double)s->count - 0.5,
                                .bare = s->count > MOST_NAMED,
                                .names = s->count <= MOST_NAMED ? s->names : NULL,
                                .told = s->names,
                                .name_count = s->count},
                          .colours = scale};
    bool parted = s->found->sequence && s->found->members < s->count;
    if (s->count > 16) form.height_mm = fmin(64, 3 * (double)s->count);
    if (parted) {
        form.key[0] = "above: units of the sequence";
        form.key_colours[0] = SF_VERMILION;
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_image(&panel, s->values, s->bursts, s->count, &scale);
    if (parted) {
        double x[2] = {form.x.from, form.x.to}, y[2] = {(double)s->count - 0.5 - members, 0};
        y[1] = y[0];
        sf_panel_line(&panel, &below, "members", x, y, 2);
    }
    sf_panel_end(&panel);
}

/* The diagonal, each burst with itself, is left out. */
static void draw_similarity(sf_figure *figure, shown_sequences *s)
{
    const sf_sequences *f = s->found;
    size_t known = 0;
    for (size_t b = 0; b < s->bursts; b++)
        for (size_t c = 0; c < s->bursts; c++) {
            double similarity = b != c ? f->similarity[b * f->burst_count + c] : NAN;
            s->values[b * s->bursts + c] = similarity;
            if (!isnan(similarity)) s->sorted[known++] = fabs(similarity);
        }
    sf_reals_sort(s->sorted, known);
    double most = known > 0 ? fmax(LEAST_SIMILARITY, s->sorted[known - 1]) : 1;
    const sf_colour_scale scale = {.label = "similarity", .from = -most, .to = most, .diverging = true};
    sf_panel_form form = {.title = "Similarity of every two bursts",
                          .name = "similarity",
                          .x = burst_axis(s),
                          .y = burst_axis(s),
                          .equal = true,
                          .colours = scale};
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_image(&panel, s->values, s->bursts, s->bursts, &scale);
    sf_panel_end(&panel);
}

static void explain(sf_text *caption, const shown_sequences *s, const sf_sequence_options *options,
                    sf_network_method method)
{
    const sf_sequences *f = s->found;
    sf_text_printf(caption, "%zu network burst%s by %s, and the %zu unit%s in %.3g of them or more",
                   f->burst_count, f->burst_count == 1 ? "" : "s", sf_network_method_names[method],
                   f->backbone, f->backbone == 1 ? "" : "s", options->backbone);
    if (s->bursts < f->burst_count) sf_text_printf(caption, "; shown are the first %zu bursts", s->bursts);
    sf_text_printf(
        caption,
        ". Latencies are from where the first unit has its place in each burst; the outermost twentieth "
        "at either end has the colour of the end, and white is where a unit does not fire. "
        "Similarity is 1 of the same order, -1 of the opposite; grey: a burst without an order, and "
        "itself. Its mean by %s is %.3g, p %.3g, where each burst is played forwards or "
        "backwards by a coin. ",
        sf_sequence_order_names[options->order_by], f->mean_similarity, f->p);
    sf_text_printf(
        caption,
        "%zu unit%s keep%s a place within %.3g ms (q of %.3g or less beside the unit's own train, begun "
        "anywhere in the burst)",
        f->placed, f->placed == 1 ? "" : "s", f->placed == 1 ? "s" : "", (double)f->window_ns * 1e-6,
        options->alpha);
    if (!isnan(f->placed_p))
        sf_text_printf(caption, "; among themselves bursts are similar by %.3g, p %.3g", f->placed_similarity,
                       f->placed_p);
    if (!isnan(f->without_one))
        sf_text_printf(caption, ", without any one of them by %.3g or more", f->without_one);
    if (!isnan(f->dealt_p))
        sf_text_printf(caption, ", p %.3g with their spikes dealt among them", f->dealt_p);
    if (f->sequence)
        sf_text_printf(caption, ". There is a sequence, of these %zu units. ", f->members);
    else
        sf_text_printf(caption, ". There is no sequence. ");
}

static int show(sf_figure *figure, const app_subject *subject, const sf_sequences *found, sf_text *caption,
                const sf_sequence_options *options, sf_error *error)
{
    shown_sequences s = {.found = found, .count = found->backbone};
    s.bursts = found->burst_count < MOST_BURSTS ? found->burst_count : MOST_BURSTS;
    if (s.count * s.bursts > MOST_CELLS) s.bursts = MOST_CELLS / s.count;
    size_t rows = s.count > s.bursts ? s.count : s.bursts;
    int status = order_units(&s, subject, error);
    s.values = sf_alloc(rows * s.bursts, sizeof *s.values);
    s.sorted = sf_alloc(rows * s.bursts, sizeof *s.sorted);
    if (status == SF_OK && (s.values == NULL || s.sorted == NULL)) status = sf_fail_memory(error);
    if (status == SF_OK) {
        draw_latencies(figure, &s);
        draw_similarity(figure, &s);
        explain(caption, &s, options, subject->activity.network.method);
    }
    sf_free(s.sorted);
    sf_free(s.values);
    sf_free(s.names);
    sf_free(s.units);
    return status;
}

static int draw_sequences(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_sequence_options options = SF_SEQUENCE_OPTIONS;
    sf_bursts network = {0};
    sf_sequences found = {0};
    int status = app_options_read(subject->call, &sf_sequence_table, &options, error);
    if (status == SF_OK)
        status = sf_bursts_find(&network, subject->recording, &subject->activity.network, error);
    if (status == SF_OK) status = sf_sequences_find(&found, subject->recording, &network, &options, error);
    if (status == SF_OK && isnan(found.p))
        status = sf_fail(error, SF_DATA, NULL,
                         "fewer than two network bursts have an order, so nothing can be said of sequences");
    if (status == SF_OK) status = show(figure, subject, &found, caption, &options, error);
    sf_sequences_free(&found);
    sf_bursts_free(&network);
    return status;
}

const app_figure_kind app_figure_sequences = {
    .name = "sequences",
    .summary = "the first spike of every unit in every network burst, and the similarity of bursts",
    .by = APP_BY_BURSTS | APP_BY_SEQUENCES | APP_BY_TEST,
    .draw = draw_sequences};
