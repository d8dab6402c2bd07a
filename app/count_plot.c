/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures of synfire count. */
#include "app/counting.h"
#include "app/figure.h"
#include "app/mining.h"
#include "app/pictures.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/seconds.h"

#include <inttypes.h>
#include <math.h>

#define MOST_PICTURES 40

/* What one picture draws; words have their texts here. */
typedef struct picture {
    app_bars bars;
    char title[1024], caption[256], x_label[256];
    double *counts, *expected;
} picture;

static bool open_picture(picture *p, size_t bins)
{
    p->counts = sf_alloc(bins, sizeof *p->counts);
    p->expected = sf_alloc(bins, sizeof *p->expected);
    p->bars = (app_bars){.title = p->title,
                         .about = p->caption,
                         .chance = "expected by rates, 2 sd",
                         .x_label = p->x_label,
                         .count = bins,
                         .counts = p->counts,
                         .expected = p->expected};
    return p->counts != NULL && p->expected != NULL;
}

static void close_picture(sf_figure *figure, picture *p, bool opened)
{
    if (opened) app_bars_draw(figure, &p->bars);
    figure->scene.failed = figure->scene.failed || !opened;
    sf_free(p->counts);
    sf_free(p->expected);
}

static void draw_correlogram(sf_figure *figure, const app_counting *c, const sf_correlogram *correlogram,
                             sf_delay delay)
{
    picture p;
    size_t bins = 2 * (size_t)correlogram->half;
    bool opened = open_picture(&p, bins);
    double bin_ms = (double)correlogram->bin_ns * 1e-6;
    p.bars.from = -(double)correlogram->half * bin_ms;
    p.bars.width = bin_ms;
    p.bars.mark_from = (double)delay.low_ns * 1e-6;
    p.bars.mark_to = (double)delay.high_ns * 1e-6;
    p.bars.y_label = "pairs of spikes";
    const char *from = app_unit_name(c->recording, correlogram->from),
               *to = app_unit_name(c->recording, correlogram->to);
    snprintf(p.title, sizeof p.title, "%.100s to %.100s", from, to);
    snprintf(p.x_label, sizeof p.x_label, "lag of %.100s after %.100s, ms", to, from);
    snprintf(p.caption, sizeof p.caption, "pairs in bins of %g ms", bin_ms);
    p.bars.also = correlogram->surrogate_mean;
    for (size_t k = 0; opened && k < bins; k++) {
        p.counts[k] = (double)correlogram->counts[k];
        p.expected[k] = correlogram->expected[k];
    }
    close_picture(figure, &p, opened);
}

static void draw_delays(sf_figure *figure, const app_counting *c, size_t episode, uint32_t link)
{
    picture p;
    bool opened = open_picture(&p, SF_DELAY_BINS);
    const sf_episode *of = &c->details.told.episodes[episode];
    const sf_details *details = &c->details.told.details[episode];
    double expected = c->details.told.expected[episode];
    double low_ms = (double)of->delays[link].low_ns * 1e-6, high_ms = (double)of->delays[link].high_ns * 1e-6;
    sf_text spelt = app_episode_text(c->recording, of);
    p.bars.from = low_ms;
    p.bars.width = (high_ms - low_ms) / SF_DELAY_BINS;
    snprintf(p.x_label, sizeof p.x_label, "delay, ms");
    p.bars.y_label = "occurrences";
    snprintf(p.title, sizeof p.title, "%.1000s", spelt.data != NULL ? spelt.data : "");
    snprintf(p.caption, sizeof p.caption, "%.80s to %.80s in %" PRIu64 " occurrences",
             app_unit_name(c->recording, of->units[link]), app_unit_name(c->recording, of->units[link + 1]),
             details->occurrences);
    for (size_t k = 0; opened && k < SF_DELAY_BINS; k++) {
        p.counts[k] = (double)details->links[link].histogram[k];
        p.expected[k] = expected * details->links[link].by_chance[k];
    }
    sf_text_free(&spelt);
    close_picture(figure, &p, opened);
}

/* Full windows only; each is as wide as the step to the next. */
static size_t full_windows(const sf_episodes_columns *told)
{
    return told->window_count - told->last_is_partial;
}

static void draw_windows(sf_figure *figure, const app_counting *c, size_t episode)
{
    const sf_episodes_columns *told = &c->details.told;
    picture p;
    size_t windows = full_windows(told);
    bool opened = open_picture(&p, windows);
    const sf_span *first = &told->windows[0];
    double length_s = (double)(first->stop_ns - first->start_ns) * 1e-9, sum = 0, recorded_s = 0;
    sf_text spelt = app_episode_text(c->recording, &told->episodes[episode]);
    bool late = first->start_ns >= APP_LATE_NS;
    p.bars.from = late ? 0 : (double)first->start_ns * 1e-9;
    p.bars.width = windows > 1 ? (double)(told->windows[1].start_ns - first->start_ns) * 1e-9 : length_s;
    if (late)
        snprintf(p.x_label, sizeof p.x_label, "start of the window, s after %s s",
                 sf_seconds_of(first->start_ns).text);
    else
        snprintf(p.x_label, sizeof p.x_label, "start of the window, s");
    p.bars.y_label = "count";
    snprintf(p.title, sizeof p.title, "%.1000s", spelt.data != NULL ? spelt.data : "");
    snprintf(p.caption, sizeof p.caption, "count in full windows of %g s", length_s);
    p.bars.chance = "their mean, 2 sd";
    for (size_t k = 0; k < windows; k++) {
        sum += (double)told->window_counts[k * told->count + episode];
        recorded_s += (double)told->window_recorded_ns[k] * 1e-9;
    }
    for (size_t k = 0; opened && k < windows; k++) { /* a mean rate, over what was recorded of each */
        p.counts[k] = (double)told->window_counts[k * told->count + episode];
        p.expected[k] = recorded_s > 0 ? sum * ((double)told->window_recorded_ns[k] * 1e-9) / recorded_s : 0;
    }
    sf_text_free(&spelt);
    close_picture(figure, &p, opened);
}

/* Returns the number of pictures; draws them if `figure` is not NULL. */
static unsigned draw(sf_figure *figure, const app_counting *c)
{
    const sf_episodes_columns *told = &c->details.told;
    unsigned pictures = 0, link_number = 0;
    bool correlograms = told->correlograms != NULL, windows = full_windows(told) > 0;
    bool delays = !correlograms && !app_has(c->call, "window");
    for (size_t i = 0; i < told->count; i++) {
        for (uint32_t link = 0; link + 1 < told->episodes[i].size; link++, link_number++) {
            if (figure != NULL && correlograms)
                draw_correlogram(figure, c, &told->correlograms[link_number], told->episodes[i].delays[link]);
            else if (figure != NULL && delays)
                draw_delays(figure, c, i, link);
            pictures += correlograms || delays;
        }
        if (windows && figure != NULL) draw_windows(figure, c, i);
        pictures += windows;
    }
    return pictures;
}

int app_count_plot(const char *path, const app_counting *counting, sf_error *error)
{
    unsigned pictures = draw(NULL, counting);
    if (pictures == 0 || pictures > MOST_PICTURES || counting->details.told.details == NULL)
        return sf_fail(error, SF_USAGE, "--plot", "found %u pictures to draw, expected 1 to %d", pictures,
                       MOST_PICTURES);
    bool one = pictures == 1;
    sf_figure figure = sf_figure_begin("count", one ? SF_COLUMN_MM : SF_PAGE_MM, one ? 1 : 2);
    draw(&figure, counting);
    sf_figure_end(&figure, NULL);
    int status = sf_scene_write(&figure.scene, path, error);
    sf_scene_free(&figure.scene);
    return status;
}
