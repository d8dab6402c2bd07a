/* SPDX-License-Identifier: Apache-2.0 */
/* What units fire, and where and when: raster, array, rates, intervals, map. */
#include "app/figure.h"
#include "app/pictures.h"

#include "core/memory.h"
#include "core/reals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- recorded time ---- */

/* The seconds recorded in [from, to), which is in units of the axis. */
static int measure_recorded(double *seconds, const app_subject *subject, const app_time_axis *time,
                            double from, double to, sf_error *error)
{
    const sf_span span = {time->origin_ns + (int64_t)llround(from * time->unit_s * 1e9),
                          time->origin_ns + (int64_t)llround(to * time->unit_s * 1e9)};
    sf_recording *part;
    sf_recording_columns of = {.size = sizeof of};
    int status = sf_recording_part(&part, subject->recording, span, error);
    if (status != SF_OK) return status;
    sf_recording_get_columns(part, &of);
    *seconds = (double)of.duration_ns * 1e-9;
    sf_recording_free(part);
    return SF_OK;
}

/* ---- the raster ---- */

/* More marks than this are an image: as lines they would make a file that few programs open. */
#define MOST_TICKS 30000
#define IMAGE_COLUMNS 2400 /* 600 dots an inch across a column, 340 across a page */
#define IMAGE_ROWS 1600
#define ROW_PIXELS 5 /* of few units, of which one is left white */
#define NAMED_ROW_MM 2.3
#define MOST_RASTER_MM 115.0

static int draw_ticks(sf_panel *panel, const app_subject *subject, const app_time_axis *time, sf_error *error)
{
    size_t count = subject->of.spike_count;
    double *x = sf_alloc(count, sizeof *x), *y = sf_alloc(count, sizeof *y);
    if (x != NULL && y != NULL) {
        for (size_t i = 0; i < count; i++) {
            x[i] = app_time_at(time, subject->of.spikes[i].time_ns);
            y[i] = subject->of.spikes[i].unit;
        }
        const sf_ink ink = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.12};
        sf_panel_ticks(panel, &ink, "spikes", x, y, count, 0.8);
    }
    int status = x == NULL || y == NULL ? sf_fail_memory(error) : SF_OK;
    sf_free(x);
    sf_free(y);
    return status;
}

/* Draws a black mark where a unit fires. With few units each has several rows of pixels, the last of them
 * white; with more units than rows, consecutive units share a row. The first row of a unit counts its spikes.
 */
static int draw_image(sf_panel *panel, const app_subject *subject, const app_time_axis *time, sf_error *error)
{
    size_t units = subject->of.unit_count, each = units * ROW_PIXELS <= IMAGE_ROWS ? ROW_PIXELS : 1,
           rows = units * each < IMAGE_ROWS ? units * each : IMAGE_ROWS;
    double *cells = sf_alloc(rows * IMAGE_COLUMNS, sizeof *cells);
    if (cells == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < rows * IMAGE_COLUMNS; i++)
        cells[i] = NAN;
    for (size_t i = 0; i < subject->of.spike_count; i++) {
        const sf_spike *spike = &subject->of.spikes[i];
        double at = (app_time_at(time, spike->time_ns) - time->axis.from) /
                    (time->axis.to - time->axis.from) * IMAGE_COLUMNS;
        size_t column = at < 0                ? 0
                        : at >= IMAGE_COLUMNS ? IMAGE_COLUMNS - 1
                                              : (size_t)at,
               row = each > 1 ? spike->unit * each : spike->unit * rows / units;
        double *cell = &cells[row * IMAGE_COLUMNS + column];
        *cell = isnan(*cell) ? 1 : *cell + 1;
        for (size_t k = 1; k + 1 < each; k++)
            cell[k * IMAGE_COLUMNS] = 0;
    }
    sf_panel_image(panel, cells, IMAGE_COLUMNS, rows, &(sf_colour_scale){.marks = true});
    sf_free(cells);
    return SF_OK;
}

/* ---- chains on it ---- */

#define MARKED_CHAINS 6

/* A line through the spikes of each occurrence. */
static int mark_chain(sf_panel *panel, const app_time_axis *time, const sf_occurrences_columns *of, size_t k,
                      sf_error *error)
{
    const sf_ink ink = {.line = sf_series_colour(k), .fill = SF_NO_COLOUR, .width_mm = 0.3, .opacity = 0.8};
    const size_t units = of->episodes[k].size, each = units + 1, count = (size_t)of->counts[k];
    double *x = sf_alloc(2 * each * count + 1, sizeof *x);
    if (x == NULL) return sf_fail_memory(error);
    double *y = x + each * count;
    for (size_t n = 0; n < count; n++)
        for (size_t u = 0; u < each; u++) {
            bool last = u == units; /* lifts the pen */
            x[n * each + u] = app_time_at(time, of->times_ns[k][n * units + (last ? units - 1 : u)]);
            y[n * each + u] = last ? NAN : (double)of->episodes[k].units[u];
        }
    sf_panel_line(panel, &ink, "chain", x, y, each * count);
    sf_free(x);
    return SF_OK;
}

static int mark_chains(sf_panel *panel, const app_time_axis *time, const sf_occurrences *marked,
                       sf_error *error)
{
    sf_occurrences_columns of = {.size = sizeof of};
    int status = SF_OK;
    if (marked == NULL) return SF_OK;
    sf_occurrences_get_columns(marked, &of);
    for (size_t k = 0; k < of.count && status == SF_OK; k++)
        status = mark_chain(panel, time, &of, k, error);
    return status;
}

/* The names of the chains that are marked stand in the key. */
static void list_marked(sf_panel_form *form, char names[MARKED_CHAINS][APP_CHAIN_NAME],
                        const app_subject *subject, const sf_occurrences *marked)
{
    sf_occurrences_columns of = {.size = sizeof of};
    if (marked == NULL) return;
    sf_occurrences_get_columns(marked, &of);
    for (size_t k = 0; k < of.count && k < MARKED_CHAINS; k++) {
        app_chain_name(names[k], subject, &of.episodes[k]);
        form->key[k] = names[k];
        form->key_colours[k] = sf_series_colour(k);
    }
}

/* ---- both ---- */

static void explain_raster(sf_text *caption, const app_subject *subject, bool image,
                           const sf_occurrences *marked)
{
    sf_text_printf(caption, "Spikes of %zu units over time, the first unit at the bottom: %zu spikes. ",
                   subject->of.unit_count, subject->of.spike_count);
    if (image)
        sf_text_printf(caption, "A mark is a spike or several within a %dth of the time%s. ", IMAGE_COLUMNS,
                       subject->of.unit_count > IMAGE_ROWS ? ", of units that follow each other" : "");
    if (marked != NULL)
        sf_text_printf(caption, "Coloured lines join the spikes of each occurrence of a chain%s. ",
                       app_has(subject->call, "episodes") ? "" : " that stands out");
}

static int draw_raster(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    app_time_axis time;
    size_t units = subject->of.unit_count;
    bool image = subject->of.spike_count > MOST_TICKS;
    char marked_names[MARKED_CHAINS][APP_CHAIN_NAME];
    sf_occurrences *marked = NULL;
    const char **names = sf_alloc(units, sizeof *names);
    if (names == NULL) return sf_fail_memory(error);
    app_time_axis_of(&time, subject);
    for (size_t u = 0; u < units; u++)
        names[u] = subject->of.units[u].name;
    int status = subject->of.spike_count == 0 ? sf_fail(error, SF_DATA, NULL, "there are no spikes to draw")
                                              : app_subject_marked(&marked, subject, MARKED_CHAINS, error);
    sf_panel_form form = {
        .title = "Spikes",
        .x = time.axis,
        .y = {.label = "unit", .from = -0.5, .to = (double)units - 0.5, .names = names, .name_count = units},
        .height_mm = fmin(fmax((double)units * NAMED_ROW_MM, 18), MOST_RASTER_MM),
        .columns = figure->columns};
    if (status == SF_OK) {
        list_marked(&form, marked_names, subject, marked);
        explain_raster(caption, subject, image, marked);
        sf_panel panel = sf_panel_begin(figure, &form);
        status = (image ? draw_image : draw_ticks)(&panel, subject, &time, error);
        if (status == SF_OK) status = mark_chains(&panel, &time, marked, error);
        sf_panel_end(&panel);
    }
    sf_occurrences_free(marked);
    sf_free(names);
    return status;
}

const app_figure_kind app_figure_raster = {
    .name = "raster",
    .summary = "the spikes of every unit over time, and the chains of --episodes on them",
    .by = APP_BY_EPISODES,
    .draw = draw_raster};

/* ---- the array ---- */

void app_cover_places(sf_panel_form *form, const double *x, const double *y, size_t count)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        low[0] = fmin(low[0], x[i]);
        high[0] = fmax(high[0], x[i]);
        low[1] = fmin(low[1], y[i]);
        high[1] = fmax(high[1], y[i]);
    }
    double around = 0.06 * fmax(fmax(high[0] - low[0], high[1] - low[1]), 1);
    form->x.from = low[0] - around;
    form->x.to = high[0] + around;
    form->y.from = low[1] - around;
    form->y.to = high[1] + around;
}

static int by_place(const void *a, const void *b)
{
    const sf_unit *const *first = a, *const *second = b;
    const sf_unit *x = *first, *y = *second;
    if (x->y_um != y->y_um) return x->y_um < y->y_um ? -1 : 1;
    if (x->x_um != y->x_um) return x->x_um < y->x_um ? -1 : 1;
    return (x > y) - (x < y);
}

/* Units that have a place, in its order. */
static size_t order_places(const sf_unit **order, const app_subject *subject)
{
    size_t placed = 0;
    for (size_t u = 0; u < subject->of.unit_count; u++)
        if (isfinite(subject->of.units[u].x_um) && isfinite(subject->of.units[u].y_um))
            order[placed++] = &subject->of.units[u];
    if (placed > 0) qsort(order, placed, sizeof *order, by_place);
    return placed;
}

/* Electrodes in order of place, the units of each one after the other. */
static size_t draw_electrodes(sf_panel *panel, const app_subject *subject, const sf_overview_columns *told,
                              const sf_unit **order, size_t count, const sf_colour_scale *scale,
                              double radius_mm, double *rates)
{
    size_t electrodes = 0;
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t spikes = 0;
        char note[200] = "";
        for (end = i; end < count && order[end]->x_um == order[i]->x_um && order[end]->y_um == order[i]->y_um;
             end++) {
            size_t length = strlen(note);
            spikes += told->units[order[end] - subject->of.units].spikes;
            if (length < sizeof note - 60)
                snprintf(note + length, sizeof note - length, "%s%.40s", end > i ? " " : "",
                         order[end]->name);
        }
        double rate = app_rate_hz(told, spikes);
        size_t length = strlen(note);
        snprintf(note + length, sizeof note - length, ": %.17g Hz", rate);
        rates[electrodes] = rate;
        electrodes += rate > 0;
        if (panel == NULL) continue;
        const sf_ink fires = {.line = SF_BLACK, .fill = sf_colour_of(scale, rate), .width_mm = 0.1};
        const sf_ink silent = {.line = SF_GREY, .fill = 0xffffff, .width_mm = 0.15};
        sf_panel_dot(panel, spikes > 0 ? &fires : &silent, order[i]->x_um, order[i]->y_um, radius_mm, rate,
                     note);
    }
    return electrodes;
}

/* Rates are often spread over decades (Buzsaki and Mizuseki 2014): where the highest is more than four times
 * the median, colours are by their logarithm, or all but a few electrodes would look the same. */
static sf_colour_scale scale_rates(double *rates, size_t count)
{
    sf_reals_sort(rates, count);
    double most = count > 0 ? rates[count - 1] : 1;
    if (count > 0 && most > 4 * rates[count / 2])
        return (sf_colour_scale){
            .label = "rate of the electrode, Hz (logarithmic)", .from = rates[0], .to = most, .log = true};
    return (sf_colour_scale){.label = "rate of the electrode, Hz", .to = most};
}

/* Radius of an electrode's mark in mm, such that neighbours do not touch. */
static double radius_of(const sf_panel *panel, double pitch)
{
    return fmin(0.42 * (sf_panel_x(panel, panel->x.from + pitch) - sf_panel_x(panel, panel->x.from)), 3);
}

static int draw_array(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_overview_columns told;
    size_t units = subject->of.unit_count, placed = 0;
    int status = app_subject_overview(subject, &told, error);
    if (status == SF_OK && told.electrodes == 0)
        status = sf_fail(error, SF_DATA, NULL, "its units have no positions on an array");
    const sf_unit **order = sf_alloc(units, sizeof *order);
    double *x = sf_alloc(units, sizeof *x), *y = sf_alloc(units, sizeof *y);
    double *rates = sf_alloc(units + 1, sizeof *rates);
    if (status == SF_OK && (order == NULL || x == NULL || y == NULL || rates == NULL))
        status = sf_fail_memory(error);
    if (status == SF_OK) {
        placed = order_places(order, subject);
        for (size_t i = 0; i < placed; i++) {
            x[i] = order[i]->x_um;
            y[i] = order[i]->y_um;
        }
        size_t firing = draw_electrodes(NULL, subject, &told, order, placed, NULL, 0, rates);
        sf_panel_form form = {.title = "Rates over the array",
                              .x.bare = true,
                              .y.bare = true,
                              .equal = true,
                              .columns = figure->columns,
                              .height_mm = subject->width_mm > 120 ? 90 : 0,
                              .colours = scale_rates(rates, firing)};
        if (firing == 0) form.colours.label = NULL; /* no colour is seen */
        app_cover_places(&form, x, y, placed);
        sf_panel panel = sf_panel_begin(figure, &form);
        double pitch = told.pitch_um > 0 ? told.pitch_um : (form.x.to - form.x.from) / 10;
        draw_electrodes(&panel, subject, &told, order, placed, &form.colours, radius_of(&panel, pitch),
                        rates);
        sf_panel_scale_bar(&panel, "\u00b5m");
        sf_panel_end(&panel);
        if (firing == 0)
            sf_text_printf(caption, "The %zu electrodes of the array; none of them fired. ", told.electrodes);
        else
            sf_text_printf(
                caption, "Rates at %zu electrodes of the array, of all spikes over the recorded time%s. ",
                told.electrodes,
                firing < told.electrodes ? "; white circles: electrodes that are known and did not fire"
                                         : "");
    }
    sf_free(order);
    sf_free(x);
    sf_free(y);
    sf_free(rates);
    return status;
}

const app_figure_kind app_figure_array = {
    .name = "array", .half = true, .summary = "the rate at each electrode", .draw = draw_array};

/* ---- rates ---- */

#define RATE_BINS 400

/* Bins of 1, 2 or 5 times a power of ten seconds, as few as that many or fewer; the last may reach beyond. */
static double round_bin(double seconds)
{
    double least = seconds / RATE_BINS, power = pow(10, floor(log10(least)));
    static const double digits[] = {1, 2, 5, 10};
    int d = 0;
    while (digits[d] * power < least * (1 - 1e-9))
        d++;
    return digits[d] * power;
}

/* Long recordings have less paper for a burst than can be seen. */
static void tell_bursts(sf_text *caption, const sf_bursts *found, sf_network_method method, double least_s)
{
    const sf_span *bursts = found->items;
    size_t count = found->count;
    size_t widened = 0;
    double all_s = 0;
    for (size_t k = 0; k < count; k++) {
        double lasts = (double)(bursts[k].stop_ns - bursts[k].start_ns) * 1e-9;
        widened += lasts < least_s;
        all_s += lasts;
    }
    if (count == 0) {
        sf_text_printf(caption, "No network burst was found. ");
        return;
    }
    sf_text_printf(caption, "Orange: %zu network burst%s, ", count, count == 1 ? "" : "s");
    if (method == SF_NETWORK_ISI_N)
        sf_text_printf(caption, "in which spikes follow each other within %.4g ms by ISI_N",
                       (double)found->within_ns * 1e-6);
    else
        sf_text_printf(caption, "in which more spikes of all units fall together than trains without "
                                "anything in common have");
    sf_text_printf(caption, ", %.4g s in all. ", all_s);
    if (found->from_silence)
        sf_text_printf(caption,
                       "That threshold parts activity from silence, not bursts from other activity. ");
    if (widened > 0)
        sf_text_printf(caption, "%zu of them %s drawn %.3g s wide to be seen, more than %s. ", widened,
                       widened == 1 ? "is" : "are", least_s, widened == 1 ? "it lasts" : "they last");
}

static int draw_rates(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    app_time_axis time;
    app_time_axis_of(&time, subject);
    const sf_ink ink = {.line = SF_NO_COLOUR, .fill = SF_BLUE};
    const sf_ink burst = {.line = SF_NO_COLOUR, .fill = SF_ORANGE, .opacity = 0.6};
    sf_activity activity = {0};
    const sf_bursts *bursts = &activity.network;
    size_t units = subject->of.selected != NULL ? subject->of.selected->unit_count : subject->of.unit_count;
    double bins[RATE_BINS] = {0}, most = 0, end = time.axis.to, lasts = end - time.from;
    double width = round_bin(lasts * time.unit_s) / time.unit_s;
    size_t count = (size_t)fmin(fmax(ceil(lasts / width - 1e-9), 1), RATE_BINS);
    if (subject->of.spike_count == 0) return sf_fail(error, SF_DATA, NULL, "there are no spikes to draw");
    int status = SF_OK;
    for (size_t i = 0; i < subject->of.spike_count; i++) {
        double at = (app_time_at(&time, subject->of.spikes[i].time_ns) - time.from) / width;
        bins[at < 0 ? 0 : at >= (double)count ? count - 1 : (size_t)at]++;
    }
    bool paused = false;
    for (size_t k = 0; status == SF_OK && k < count; k++) {
        double from = time.from + width * (double)k, to = k + 1 < count ? from + width : end, seconds = 0;
        status = measure_recorded(&seconds, subject, &time, from, to, error);
        paused = paused || seconds < 0.999 * (to - from) * time.unit_s;
        bins[k] = seconds > 0.01 * width * time.unit_s ? bins[k] / (seconds * (double)units) : NAN;
        most = fmax(most, bins[k]);
    }
    if (status == SF_OK) status = sf_activity_find(&activity, subject->recording, &subject->activity, error);
    if (status != SF_OK) {
        sf_activity_free(&activity);
        return status;
    }
    sf_panel_form form = {.title = "Rate over time",
                          .x = time.axis,
                          .y = {.label = "rate of a mean unit, Hz", .to = most * 1.05},
                          .height_mm = 32,
                          .columns = figure->columns};
    if (bursts->count > 0) {
        form.key[0] = "network bursts";
        form.key_colours[0] = SF_ORANGE;
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    for (size_t k = 0; k < bursts->count; k++) {
        double from = app_time_at(&time, bursts->items[k].start_ns),
               to = app_time_at(&time, bursts->items[k].stop_ns);
        sf_panel_stretch(&panel, &burst, "burst", from, to);
    }
    sf_panel_steps(&panel, &ink, "rate", time.from, width, bins, count, 0);
    double least_s = SF_PANEL_SEEN_MM / (sf_panel_x(&panel, 1) - sf_panel_x(&panel, 0)) * time.unit_s;
    sf_panel_end(&panel);
    sf_text_printf(caption, "The rate of a mean unit over time, in bins of %g s. ", width * time.unit_s);
    if (paused)
        sf_text_printf(caption,
                       "Rates are over what was recorded of each bin; where nothing was, there is none. ");
    tell_bursts(caption, bursts, subject->activity.network.method, least_s);
    sf_activity_free(&activity);
    return SF_OK;
}

const app_figure_kind app_figure_rates = {
    .name = "rates", .summary = "the rate over time, bursts marked", .by = APP_BY_BURSTS, .draw = draw_rates};

/* ---- intervals ---- */

#define INTERVAL_BINS 60
#define DENSITIES 4
#define WIDE_MM 55 /* the height of the histogram where it stands alone */

/* The refractory time of most neurons: some fire again sooner, in bursts. */
#define REFRACTORY_S 0.002

static void draw_histogram(sf_figure *figure, const sf_series_columns *all, double least, double most,
                           size_t columns)
{
    const sf_ink ink = {.line = SF_NO_COLOUR, .fill = SF_BLUE, .opacity = 0.7};
    const sf_ink limit = {.line = SF_VERMILION, .fill = SF_NO_COLOUR, .width_mm = 0.3, .dashed = true};
    double bins[INTERVAL_BINS] = {0}, factor = pow(most / least, 1.0 / INTERVAL_BINS), highest = 0;
    for (size_t i = 0; i < all->first[all->count]; i++) {
        double at = log(all->values[i] / least) / log(factor);
        bins[at < 0 ? 0 : at >= INTERVAL_BINS ? INTERVAL_BINS - 1 : (size_t)at]++;
    }
    for (size_t k = 0; k < INTERVAL_BINS; k++)
        highest = fmax(highest, bins[k]);
    sf_panel_form form = {.title = "Intervals of every unit",
                          .name = "histogram",
                          .x = {.label = "inter-spike interval, s", .from = least, .to = most, .log = true},
                          .y = {.label = "intervals", .to = highest * 1.05, .whole = true},
                          .columns = columns,
                          .height_mm = columns > 1 ? WIDE_MM : 0,
                          .key = {least < REFRACTORY_S && REFRACTORY_S < most ? "2 ms" : NULL},
                          .key_colours = {SF_VERMILION}};
    sf_panel panel = sf_panel_begin(figure, &form);
    sf_panel_steps(&panel, &ink, "counts", least, factor, bins, INTERVAL_BINS, 0);
    if (form.key[0] != NULL) sf_panel_stretch(&panel, &limit, "refractory", REFRACTORY_S, REFRACTORY_S);
    sf_panel_end(&panel);
}

/* The series with most intervals first. */
static size_t find_longest(size_t longest[DENSITIES], const sf_series_columns *all)
{
    size_t count = 0;
    for (size_t s = 0; s < all->count; s++) {
        size_t length = all->first[s + 1] - all->first[s], at = count < DENSITIES ? count++ : DENSITIES;
        for (; at > 0 && all->first[longest[at - 1] + 1] - all->first[longest[at - 1]] < length; at--)
            if (at < DENSITIES) longest[at] = longest[at - 1];
        if (at < DENSITIES) longest[at] = s;
    }
    return count;
}

/* The busiest units' densities, each with a bandwidth of its own; units with too few intervals have none. */
typedef struct busiest {
    sf_density *densities[DENSITIES];
    const char *names[DENSITIES];
    size_t count, too_narrow; /* too_narrow: number of units whose density cannot be drawn */
    sf_density_options how;
} busiest;

static int find_densities(busiest *found, const sf_series *series, const sf_series_columns *all,
                          sf_error *error)
{
    size_t longest[DENSITIES], count = find_longest(longest, all);
    int status = SF_OK;
    *found = (busiest){.how = sf_density_options_default()};
    found->how.domain = SF_DOMAIN_LOG;
    for (size_t k = 0; k < count && status == SF_OK; k++) {
        status = sf_density_find(&found->densities[found->count], series, longest[k], &found->how, error);
        if (status == SF_OK)
            found->names[found->count++] = all->names[longest[k]];
        else if (status == SF_DATA) /* too few */
            status = SF_OK;
    }
    if (status == SF_OK && found->count > 0)
        status = sf_density_evaluate(found->densities, found->count, &found->how, error);
    if (status == SF_USAGE) { /* no grid is fine enough for them */
        status = SF_OK;
        found->too_narrow = found->count;
        found->count = 0;
    }
    return status;
}

/* Maximum number of points of a line; of more, only the lowest and highest of each part are drawn, in their
 * order. */
#define MOST_DRAWN 2000

typedef struct thin_line {
    double x[MOST_DRAWN], y[MOST_DRAWN];
    size_t count;
} thin_line;

static void thin(thin_line *line, const double *x, const double *y, size_t count)
{
    size_t stretches = count <= MOST_DRAWN ? count : MOST_DRAWN / 2;
    line->count = 0;
    for (size_t s = 0; s < stretches; s++) {
        size_t first = count * s / stretches, end = count * (s + 1) / stretches, low = first, high = first;
        for (size_t i = first + 1; i < end; i++) {
            low = y[i] < y[low] ? i : low;
            high = y[i] > y[high] ? i : high;
        }
        size_t kept[2] = {low < high ? low : high, low < high ? high : low};
        for (size_t k = low == high; k < 2; k++) {
            line->x[line->count] = x[kept[k]];
            line->y[line->count++] = y[kept[k]];
        }
    }
}

static void draw_densities(sf_figure *figure, const busiest *found, double least, double most)
{
    sf_panel_form form = {.title = "Densities of the busiest units",
                          .name = "densities",
                          .x = {.label = "inter-spike interval, s", .from = least, .to = most, .log = true},
                          .y = {.label = "density per ln(interval)"}};
    sf_density_columns of[DENSITIES];
    for (size_t k = 0; k < found->count; k++) {
        of[k].size = sizeof of[k];
        sf_density_get_columns(found->densities[k], &of[k]);
        form.key[k] = found->names[k];
        form.key_colours[k] = sf_series_colour(k);
        for (size_t i = 0; i < of[k].x_count; i++)
            form.y.to = fmax(form.y.to, of[k].values[i] * 1.05);
    }
    sf_panel panel = sf_panel_begin(figure, &form);
    for (size_t k = 0; k < found->count; k++) {
        const sf_ink ink = {.line = sf_series_colour(k), .fill = SF_NO_COLOUR, .width_mm = 0.4};
        static thin_line line;
        thin(&line, of[k].x, of[k].values, of[k].x_count);
        sf_panel_line(&panel, &ink, "density", line.x, line.y, line.count);
    }
    sf_panel_end(&panel);
}

/* refractory: intervals under REFRACTORY_S, among them `coincident` of length 0, which `count` is without. */
static void explain_intervals(sf_text *caption, size_t count, const busiest *found, size_t refractory,
                              uint64_t coincident)
{
    sf_text_printf(caption,
                   "Intervals between the spikes of each unit, on a logarithmic axis: how many of all "
                   "units together (%zu)",
                   count);
    size_t drawn = found->count;
    if (drawn > 0)
        sf_text_printf(caption,
                       ", and the densit%s of the %zu unit%s with most of them, each with a bandwidth of its "
                       "own",
                       drawn == 1 ? "y" : "ies", drawn, drawn == 1 ? "" : "s");
    sf_text_printf(caption, "%s. ",
                   drawn > 0               ? ""
                   : found->too_narrow > 0 ? "; the bandwidths of their densities are too narrow to be drawn"
                                           : "; no unit has enough of them for a density");
    if (refractory > 0)
        sf_text_printf(caption,
                       "%zu %s under 2 ms, which few neurons leave between their spikes: many of them in one "
                       "unit are bursts that fast, spikes of several neurons, or spikes detected twice. ",
                       refractory, refractory == 1 ? "is" : "are");
    else
        sf_text_printf(caption, "None is under 2 ms. ");
    if (coincident > 0)
        sf_text_printf(caption,
                       "%" PRIu64 " of these %s 0, two spikes of a unit at one time, and not drawn: a "
                       "logarithmic axis has no 0. ",
                       coincident, coincident == 1 ? "is" : "are");
}

static int draw_intervals(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_series *series = NULL;
    sf_series_columns all = {.size = sizeof all};
    busiest found = {.count = 0};
    int status = sf_series_of_recording(&series, subject->recording, SF_QUANTITY_ISI, NULL, 0, NULL, error);
    if (status != SF_OK) return status;
    sf_series_get_columns(series, &all);
    size_t count = all.first[all.count], refractory = (size_t)all.coincident;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, all.values[i]);
        most = fmax(most, all.values[i]);
        refractory += all.values[i] < REFRACTORY_S;
    }
    status = count == 0
                 ? sf_fail(error, SF_DATA, NULL, "no unit has spikes at two times: there are no intervals")
                 : find_densities(&found, series, &all, error);
    if (status == SF_OK) {
        most = most > least ? most * 1.0001 : least * 2;
        draw_histogram(figure, &all, least, most, found.count > 0 ? 1 : figure->columns);
        if (found.count > 0) draw_densities(figure, &found, least, most);
        explain_intervals(caption, count, &found, refractory, all.coincident);
    }
    for (size_t k = 0; k < DENSITIES; k++)
        sf_density_free(found.densities[k]);
    sf_series_free(series);
    return status;
}

const app_figure_kind app_figure_intervals = {.name = "intervals",
                                              .summary = "inter-spike intervals, counted and as densities",
                                              .draw = draw_intervals};

/* ---- the map ---- */

/* The density at a place, between the four points of the grid around it. */
static double density_at(const sf_density_columns *of, double x, double y)
{
    double across = (x - of->x[0]) / (of->x[of->x_count - 1] - of->x[0]) * (double)(of->x_count - 1),
           up = (y - of->y[0]) / (of->y[of->y_count - 1] - of->y[0]) * (double)(of->y_count - 1);
    if (!(across >= 0 && up >= 0 && across <= (double)(of->x_count - 1) && up <= (double)(of->y_count - 1)))
        return 0; /* beyond the grid, where next to nothing is */
    size_t c = (size_t)fmin(across, (double)of->x_count - 2), r = (size_t)fmin(up, (double)of->y_count - 2);
    double right = across - (double)c, above = up - (double)r;
    const double *row = of->values + r * of->x_count + c, *next = row + of->x_count;
    return (1 - above) * ((1 - right) * row[0] + right * row[1]) +
           above * ((1 - right) * next[0] + right * next[1]);
}

/* Per square millimetre: numbers that can be read. */
#define PER_MM2 1e6

static void draw_places(sf_figure *figure, const app_subject *subject, const sf_density_columns *of,
                        const sf_unit **order, size_t placed, double pitch)
{
    sf_panel_form form = {.title = "Where spikes are seen",
                          .x.bare = true,
                          .y.bare = true,
                          .equal = true,
                          .columns = figure->columns,
                          .height_mm = subject->width_mm > 120 ? 90 : 0,
                          .colours = {.label = "share of spikes per mm\u00b2"}};
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < placed; i++) {
        const double at[2] = {order[i]->x_um, order[i]->y_um};
        for (size_t d = 0; d < 2; d++) {
            low[d] = fmin(low[d], at[d] - 0.7 * pitch);
            high[d] = fmax(high[d], at[d] + 0.7 * pitch);
        }
        form.colours.to = fmax(form.colours.to, PER_MM2 * density_at(of, at[0], at[1]));
    }
    form.x.from = low[0];
    form.x.to = high[0];
    form.y.from = low[1];
    form.y.to = high[1];
    sf_panel panel = sf_panel_begin(figure, &form);
    double radius = radius_of(&panel, pitch);
    for (size_t i = 0; i < placed; i++) {
        double x = order[i]->x_um, y = order[i]->y_um, value = PER_MM2 * density_at(of, x, y);
        if (i > 0 && order[i - 1]->x_um == x && order[i - 1]->y_um == y)
            continue; /* units of one place share it */
        const sf_ink ink = {.line = SF_NO_COLOUR, .fill = sf_colour_of(&form.colours, value)};
        char note[120];
        snprintf(note, sizeof note, "%.60s: %.6g per mm\u00b2", order[i]->name, value);
        sf_panel_dot(&panel, &ink, x, y, radius, value, note);
    }
    sf_panel_scale_bar(&panel, "\u00b5m");
    sf_panel_end(&panel);
}

static int draw_density_map(sf_figure *figure, app_subject *subject, const sf_density_columns *of,
                            sf_error *error)
{
    sf_overview_columns told;
    const sf_unit **order = sf_alloc(subject->of.unit_count, sizeof *order);
    int status = order == NULL ? sf_fail_memory(error) : app_subject_overview(subject, &told, error);
    if (status == SF_OK) {
        double extent = fmax(of->x[of->x_count - 1] - of->x[0], of->y[of->y_count - 1] - of->y[0]);
        draw_places(figure, subject, of, order, order_places(order, subject),
                    told.pitch_um > 0 ? told.pitch_um : extent / 10);
    }
    sf_free(order);
    return status;
}

static int draw_map(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error)
{
    sf_series *series = NULL;
    sf_density *density = NULL;
    sf_density_columns of = {.size = sizeof of};
    sf_density_options how = sf_density_options_default();
    how.most_points = 40000;
    int status =
        sf_series_of_recording(&series, subject->recording, SF_QUANTITY_POSITION, NULL, 0, NULL, error);
    if (status == SF_OK) status = sf_density_find(&density, series, 0, &how, error);
    if (status == SF_OK) status = sf_density_evaluate(&density, 1, &how, error);
    if (status == SF_OK) {
        sf_density_get_columns(density, &of);
        status = draw_density_map(figure, subject, &of, error);
    }
    if (status == SF_OK)
        sf_text_printf(caption,
                       "Where on the array spikes are seen: at each electrode the density of the places of "
                       "all %zu spikes, by "
                       "kernels as wide as %.3g of their standard deviations (%s). Between electrodes "
                       "nothing is known. ",
                       of.n, of.h, of.method);
    sf_density_free(density);
    sf_series_free(series);
    return status;
}

const app_figure_kind app_figure_map = {.name = "map",
                                        .half = true,
                                        .summary = "the density of the places where spikes were seen",
                                        .draw = draw_map};
