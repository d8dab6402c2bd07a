/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures of synfire count. */
#include "app/counting.h"
#include "app/mining.h"
#include "app/plot.h"

#include "core/file.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>

#define MOST_PICTURES 40

/* What one picture draws; words have their texts here. */
typedef struct picture {
    app_plot_bars bars;
    char title[1024], caption[256], x_label[256];
    double *counts, *expected;
} picture;

static bool open_picture(picture *p, size_t bins, unsigned place)
{
    p->counts = sf_alloc(bins, sizeof *p->counts);
    p->expected = sf_alloc(bins, sizeof *p->expected);
    p->bars = (app_plot_bars){.words = {.title = p->title, .caption = p->caption, .place = place},
                              .count = bins,
                              .counts = p->counts,
                              .expected = p->expected};
    return p->counts != NULL && p->expected != NULL;
}

static void close_picture(sf_text *svg, picture *p, bool opened)
{
    if (opened)
        app_plot_bars_print(svg, &p->bars);
    svg->failed = svg->failed || !opened;
    sf_free(p->counts);
    sf_free(p->expected);
}

static void draw_correlogram(sf_text *svg, const app_counting *c, const sf_correlogram *correlogram,
                             sf_delay delay, unsigned place)
{
    picture p;
    size_t bins = 2 * (size_t)correlogram->half;
    bool opened = open_picture(&p, bins, place);
    double bin_ms = (double)correlogram->bin_ns * 1e-6;
    p.bars.from = -(double)correlogram->half * bin_ms;
    p.bars.width = bin_ms;
    p.bars.mark_from = (double)delay.low_ns * 1e-6;
    p.bars.mark_to = (double)delay.high_ns * 1e-6;
    p.bars.words.x_label = p.x_label;
    p.bars.words.y_label = "pairs of spikes";
    const char *from = app_unit_name(c->recording, correlogram->from),
               *to = app_unit_name(c->recording, correlogram->to);
    snprintf(p.title, sizeof p.title, "%.100s and %.100s", from, to);
    snprintf(p.x_label, sizeof p.x_label, "lag of %.100s after %.100s, ms", to, from);
    snprintf(p.caption, sizeof p.caption,
             "pairs in bins of %g ms; line: constant rates, band: 2 standard deviations", bin_ms);
    for (size_t k = 0; opened && k < bins; k++) {
        p.counts[k] = (double)correlogram->counts[k];
        p.expected[k] = correlogram->expected[k];
    }
    close_picture(svg, &p, opened);
}

static void draw_delays(sf_text *svg, const app_counting *c, size_t episode, uint32_t link, unsigned place)
{
    picture p;
    bool opened = open_picture(&p, SF_DELAY_BINS, place);
    const sf_episode *of = &c->details.told.episodes[episode];
    const sf_details *details = &c->details.told.details[episode];
    double low_ms = (double)of->delays[link].low_ns * 1e-6, high_ms = (double)of->delays[link].high_ns * 1e-6;
    sf_text spelt = app_episode_text(c->recording, of);
    p.bars.from = low_ms;
    p.bars.width = (high_ms - low_ms) / SF_DELAY_BINS;
    p.bars.words.x_label = "delay, ms";
    p.bars.words.y_label = "occurrences";
    snprintf(p.title, sizeof p.title, "%.1000s", spelt.data != NULL ? spelt.data : "");
    bool pair = of->size == 2 && of->units[0] != of->units[1];
    snprintf(p.caption, sizeof p.caption,
             "%.80s to %.80s in %" PRIu64 " occurrences; line: %s, band: 2 standard deviations",
             app_unit_name(c->recording, of->units[link]), app_unit_name(c->recording, of->units[link + 1]),
             details->occurrences, pair ? "constant rates" : "all delays alike");
    for (size_t k = 0; opened && k < SF_DELAY_BINS; k++) {
        p.counts[k] = (double)details->links[link].histogram[k];
        p.expected[k] = (double)details->occurrences * details->links[link].by_chance[k];
    }
    sf_text_free(&spelt);
    close_picture(svg, &p, opened);
}

/* Full windows only; each is as wide as the step to the next. */
static size_t full_windows(const sf_episodes_columns *told)
{
    return told->window_count - told->last_is_partial;
}

static void draw_windows(sf_text *svg, const app_counting *c, size_t episode, unsigned place)
{
    const sf_episodes_columns *told = &c->details.told;
    picture p;
    size_t windows = full_windows(told);
    bool opened = open_picture(&p, windows, place);
    const sf_span *first = &told->windows[0];
    double length_s = (double)(first->stop_ns - first->start_ns) * 1e-9, sum = 0;
    sf_text spelt = app_episode_text(c->recording, &told->episodes[episode]);
    p.bars.from = (double)first->start_ns * 1e-9;
    p.bars.width = windows > 1 ? (double)(told->windows[1].start_ns - first->start_ns) * 1e-9 : length_s;
    p.bars.words.x_label = "start of the window, s";
    p.bars.words.y_label = "count";
    snprintf(p.title, sizeof p.title, "%.1000s", spelt.data != NULL ? spelt.data : "");
    snprintf(p.caption, sizeof p.caption,
             "count in full windows of %g s; line: their mean, band: 2 standard deviations", length_s);
    for (size_t k = 0; k < windows; k++)
        sum += (double)told->window_counts[k * told->count + episode];
    for (size_t k = 0; opened && k < windows; k++) {
        p.counts[k] = (double)told->window_counts[k * told->count + episode];
        p.expected[k] = sum / (double)windows;
    }
    sf_text_free(&spelt);
    close_picture(svg, &p, opened);
}

/* Returns how many pictures there are; draws them where `svg` is given. */
static unsigned draw(sf_text *svg, const app_counting *c)
{
    const sf_episodes_columns *told = &c->details.told;
    unsigned place = 0, link_number = 0;
    bool correlograms = told->correlograms != NULL, windows = full_windows(told) > 0;
    bool delays = !correlograms && !app_has(c->call, "window");
    for (size_t i = 0; i < told->count; i++) {
        for (uint32_t link = 0; link + 1 < told->episodes[i].size; link++, link_number++) {
            if (svg != NULL && correlograms)
                draw_correlogram(svg, c, &told->correlograms[link_number], told->episodes[i].delays[link],
                                 place);
            else if (svg != NULL && delays)
                draw_delays(svg, c, i, link, place);
            place += correlograms || delays;
        }
        if (windows && svg != NULL)
            draw_windows(svg, c, i, place);
        place += windows;
    }
    return place;
}

int app_count_plot(const char *path, const app_counting *counting, sf_error *error)
{
    unsigned pictures = draw(NULL, counting);
    if (pictures == 0 || pictures > MOST_PICTURES || counting->details.told.details == NULL)
        return sf_fail(error, SF_USAGE, "--plot", "found %u pictures to draw, expected 1 to %d", pictures,
                       MOST_PICTURES);
    sf_text svg = {0};
    app_plot_stack_begin(&svg, pictures);
    draw(&svg, counting);
    app_plot_stack_end(&svg);
    int status = sf_file_write(&svg, path, error);
    sf_text_free(&svg);
    return status;
}
