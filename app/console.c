/* SPDX-License-Identifier: Apache-2.0 */
#include "app/console.h"

#include "app/command.h"

#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 12

void app_console_open(app_console *console, FILE *out, bool redraw, const char *stream)
{
    *console = (app_console){.out = out, .redraw = redraw, .stream = stream};
}

/* The full window may be the newest one. */
void app_console_close(app_console *console)
{
    if (console->full != console->episodes)
        sf_message_release(console->full);
    sf_message_release(console->episodes);
    sf_message_release(console->status);
}

void app_console_count_trigger(void *console, const sf_message *trigger)
{
    (void)trigger;
    atomic_fetch_add_explicit(&((app_console *)console)->triggers, 1, memory_order_relaxed);
}

static void take_episodes(app_console *console, sf_message *message)
{
    bool full = !message->episodes.partial;
    if (console->episodes != console->full)
        sf_message_release(console->episodes);
    if (full)
        sf_message_release(console->full);
    console->episodes = message;
    console->full = full ? message : console->full;
}

void app_console_take(app_console *console, sf_message *message)
{
    if (message->topic == SF_TOPIC_EPISODES) {
        take_episodes(console, message);
    } else if (message->topic == SF_TOPIC_STATUS) {
        sf_message_release(console->status);
        console->status = message;
    } else {
        sf_message_release(message);
    }
}

static double excess(const sf_episode_count *item)
{
    double expected = isfinite(item->expected) && item->expected > 1 ? item->expected : 1;
    return ((double)item->count - expected) / sqrt(expected);
}

/* Longest first, then by how far the count is above chance. */
static int by_interest(const void *a, const void *b)
{
    const sf_episode_count *x = *(const sf_episode_count *const *)a, *y = *(const sf_episode_count *const *)b;
    if (x->episode.size != y->episode.size)
        return x->episode.size > y->episode.size ? -1 : 1;
    double difference = excess(y) - excess(x);
    return difference != 0 ? (difference > 0 ? 1 : -1) : (x > y) - (x < y); /* as the run has them */
}

/* The episode is a run of units of a longer one that counts nearly as often: it says nothing of its own. */
static bool is_part(const sf_episode_count *part, const sf_episode_count *whole)
{
    const sf_episode *a = &part->episode, *b = &whole->episode;
    if ((double)part->count > 1.25 * (double)whole->count)
        return false;
    for (uint32_t from = 0; from + a->size <= b->size; from++)
        if (memcmp(a->units, b->units + from, a->size * sizeof *a->units) == 0 &&
            memcmp(a->delays, b->delays + from, (a->size - 1) * sizeof *a->delays) == 0)
            return true;
    return false;
}

/* Moves the episodes that are not part of one before them to the front; returns how many. order is
 * by_interest. */
static size_t fold_parts(const sf_episode_count **order, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool part = false;
        for (size_t k = 0; k < kept && !part; k++)
            part = is_part(order[i], order[k]);
        if (!part)
            order[kept++] = order[i];
    }
    return kept;
}

static void add_row(app_console *console, const sf_episode_count *item, app_table *table)
{
    char name[4096];
    sf_live_print_episode(console->live, &item->episode, name, sizeof name);
    app_table_cell(table, "%s", name);
    app_table_cell(table, "%" PRIu64, item->count);
    app_table_cell(table, "%.2f", item->expected);
    double ratio = (double)item->count / item->expected;
    if (ratio > 1000)
        app_table_cell(table, "over 1000");
    else
        app_table_cell(table, "%.1f", ratio);
}

static void add_top_episodes(app_console *console, const sf_episodes_message *episodes, sf_text *text)
{
    const sf_episode_count **order = sf_alloc(episodes->count + 1, sizeof *order);
    if (order == NULL)
        return;
    for (size_t i = 0; i < episodes->count; i++)
        order[i] = &episodes->items[i];
    qsort(order, episodes->count, sizeof *order, by_interest);
    size_t kept = fold_parts(order, episodes->count);
    app_table table = {0};
    const char *const head[] = {"episode (delays in ms)", "count", "by chance", "observed/expected"};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        app_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < kept && i < ROWS; i++)
        add_row(console, order[i], &table);
    app_table_print(&table, text, 4);
    if (kept > ROWS)
        sf_text_printf(text, "... and %zu more\n", kept - ROWS);
    if (kept < episodes->count)
        sf_text_printf(text, "%zu parts of these are folded away\n", episodes->count - kept);
    sf_free(order);
}

/* Sources of which nothing is heard. */
static void add_silent(const sf_status_message *status, sf_text *text)
{
    for (size_t i = 0; i < status->source_count; i++) {
        const sf_source_status *source = &status->sources[i];
        if (source->state == SF_SOURCE_STALLED || source->state == SF_SOURCE_LOST)
            sf_text_printf(text, "  %s %s: nothing for %.0f s", source->name,
                           source->state == SF_SOURCE_STALLED ? "stalled" : "lost",
                           (double)source->silent_ns * 1e-9);
    }
}

static uint64_t total_lost(const sf_status_message *status)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < status->source_count; i++) {
        const sf_source_status *source = &status->sources[i];
        lost += source->late + source->out_of_range + source->leaps + source->dropped;
        lost += source->missing_spikes >= 0 ? (uint64_t)source->missing_spikes : source->gap_lost;
    }
    return lost;
}

/* Where the recording goes, and which sink has failed with what. */
static void add_sinks(const sf_status_message *status, sf_text *text)
{
    static const char recorder[] = "hdf5 ";
    for (size_t i = 0; i < status->sink_count; i++) {
        const sf_sink_status *sink = &status->sinks[i];
        bool records = strncmp(sink->name, recorder, sizeof recorder - 1) == 0;
        if (strcmp(sink->state, "failed") == 0)
            sf_text_printf(text, "  %s%s FAILED: %s", records ? "RECORDING " : "",
                           sink->name + (records ? sizeof recorder - 1 : 0), sink->note);
        else if (records)
            sf_text_printf(text, "  recording %s", sink->name + sizeof recorder - 1);
        if (sink->spikes_lost > 0)
            sf_text_printf(text, "  not recorded %" PRIu64, sink->spikes_lost);
    }
}

static void describe(app_console *console, const sf_message *message, const sf_message *status_message,
                     sf_text *text)
{
    const sf_episodes_message *episodes = &message->episodes;
    double from = (double)episodes->window.start_ns * 1e-9, to = (double)episodes->window.stop_ns * 1e-9;
    sf_text_printf(text, "%s  window %.1f-%.1f s  %" PRIu64 " spikes", console->stream, from, to,
                   episodes->spikes);
    if (status_message != NULL) {
        const sf_status_message *status = &status_message->status;
        sf_text_printf(text, "  %.0f Hz  edges %zu  hop %.1f ms  lost %" PRIu64, status->rate_hz,
                       status->edges,
                       status->stage_count > 0 ? status->stages[status->stage_count - 1].last_ms : 0,
                       total_lost(status));
    }
    if (status_message != NULL)
        add_silent(&status_message->status, text);
    if (status_message != NULL && strcmp(status_message->status.device_state, "sick") == 0)
        sf_text_printf(text, "  %s: the CPU goes on", status_message->status.device_note);
    if (status_message != NULL)
        add_sinks(&status_message->status, text);
    if (atomic_load(&console->triggers) > 0)
        sf_text_printf(text, "  triggers %llu", atomic_load(&console->triggers));
}

static void draw(app_console *console, const sf_message *episodes, const sf_message *status)
{
    sf_text text = {0};
    describe(console, episodes, status, &text);
    sf_text_make_visible(&text, false); /* a line break in a name is none */
    if (console->redraw) {
        sf_text_append(&text, "\n\n", 2);
        add_top_episodes(console, &episodes->episodes, &text);
        if (console->lines > 0)
            fprintf(console->out, "\033[%dA\033[J", console->lines);
        console->lines = 0;
        for (size_t i = 0; i < text.length; i++)
            console->lines += text.data[i] == '\n';
    } else {
        sf_text_printf(&text, "  %zu episodes tracked\n", episodes->episodes.count);
    }
    app_write(console->out, &text);
    sf_text_free(&text);
}

void app_console_draw(app_console *console)
{
    const sf_message *episodes = console->episodes, *status = console->status;
    bool new_hop = episodes != NULL && episodes->episodes.hop + 1 != console->drawn_hop;
    /* In place the table follows every status; the log tells lines of a silent source. */
    bool new_status = console->redraw && status != NULL && status->seq != console->drawn_status;
    if (new_hop || (episodes != NULL && new_status)) {
        draw(console, episodes, status);
        console->drawn_hop = episodes->episodes.hop + 1;
        console->drawn_status = status != NULL ? status->seq : 0;
    }
}
