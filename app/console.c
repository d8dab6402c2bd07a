/* SPDX-License-Identifier: Apache-2.0 */
#include "app/console.h"

#include "app/mining.h"

#include "app/command.h"
#include "app/screen.h"

#include "core/clock.h"
#include "core/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_WIDTH 80 /* of the closing table */
#define NOTHING_FOR_NS (2 * SF_SECOND)
#define DRAW_EVERY_NS (SF_SECOND / 2) /* so that a silence is seen to last */
#define WAITING_FROM 1000             /* spikes, more than a window has: analysis is behind */

/* The order of `standing`. */
#define BY_STANDING "what stands out most first: q <= 0.05, the longest, most above chance"

void app_console_open(app_console *console, FILE *out, bool redraw, const sf_live_options *config)
{
    *console = (app_console){.out = out, .redraw = redraw, .config = config};
}

/* The full window may be the newest one. */
void app_console_close(app_console *console)
{
    app_console_end(console);
    if (console->full != console->episodes) sf_message_release(console->full);
    sf_message_release(console->episodes);
    sf_message_release(console->status);
    sf_free(console->watched);
    sf_free(console->rates);
}

/* ---- watched episodes ---- */

static int by_name(const void *a, const void *b)
{
    return strncmp(((const app_watched *)a)->text, ((const app_watched *)b)->text, SF_TRIGGER_NAME_SIZE - 1);
}

/* As messages call them. */
static void name_watched(app_console *console)
{
    for (uint32_t i = 0; i < console->config->watch_count; i++)
        console->watched[console->watched_count++].text = console->config->watch[i];
    for (uint32_t i = 0; i < console->config->trigger_count; i++)
        console->watched[console->watched_count++].text = console->config->triggers[i].name;
    if (console->watched_count > 0)
        qsort(console->watched, console->watched_count, sizeof *console->watched, by_name);
}

int app_console_begin(app_console *console, const sf_live *live, uint32_t unit_count, sf_error *error)
{
    console->live = live;
    console->unit_count = unit_count;
    console->heard_ns = sf_clock_monotonic_ns();
    console->watched = sf_alloc((size_t)console->config->watch_count + console->config->trigger_count,
                                sizeof *console->watched);
    if (console->watched == NULL) return sf_fail_memory(error);
    name_watched(console);
    if (console->redraw && (console->rates = sf_alloc(1, sizeof *console->rates)) == NULL)
        return sf_fail_memory(error);
    if (console->redraw) app_screen_enter(console->out);
    return SF_OK;
}

void app_console_end(app_console *console)
{
    if (console->redraw) app_screen_leave();
}

void app_console_count_trigger(void *user, const sf_message *trigger)
{
    app_console *console = user;
    const app_watched wanted = {.text = trigger->trigger.name};
    app_watched *watched =
        console->watched_count > 0
            ? bsearch(&wanted, console->watched, console->watched_count, sizeof wanted, by_name)
            : NULL;
    if (watched == NULL) return;
    atomic_store_explicit(&watched->last_ns, trigger->time_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&watched->triggers, 1, memory_order_release);
}

/* ---- messages ---- */

static void take_episodes(app_console *console, sf_message *message)
{
    bool full = !message->episodes.partial;
    if (console->episodes != console->full) sf_message_release(console->episodes);
    if (full) sf_message_release(console->full);
    console->episodes = message;
    console->full = full ? message : console->full;
}

static void take_status(app_console *console, sf_message *message)
{
    uint64_t spikes = 0;
    for (size_t i = 0; i < message->status.source_count; i++)
        spikes += message->status.sources[i].spikes;
    if (spikes != console->heard_spikes) console->heard_ns = sf_clock_monotonic_ns();
    console->heard_spikes = spikes;
    if (console->rates != NULL)
        app_rate_map_take(console->rates, message->time_ns, message->status.unit_rates_hz,
                          message->status.unit_count);
    sf_message_release(console->status);
    console->status = message;
}

void app_console_take(app_console *console, sf_message *message)
{
    if (message->topic == SF_TOPIC_EPISODES)
        take_episodes(console, message);
    else if (message->topic == SF_TOPIC_STATUS)
        take_status(console, message);
    else
        sf_message_release(message);
}

/* ---- which episodes ---- */

static bool is_part(const sf_episode_count *item)
{
    return item->folded_under[0] != '\0';
}

static int by_standing(const void *a, const void *b)
{
    const sf_episode_count *x = *(const sf_episode_count *const *)a, *y = *(const sf_episode_count *const *)b;
    return (x->standing > y->standing) - (x->standing < y->standing);
}

/* The episodes that are part of no other, by what stands out most; returns how many. */
static size_t list_whole(const sf_episode_count **order, const sf_episodes_message *episodes)
{
    size_t count = 0;
    for (size_t i = 0; i < episodes->count; i++)
        if (!is_part(&episodes->items[i])) order[count++] = &episodes->items[i];
    if (count > 0) qsort(order, count, sizeof *order, by_standing);
    return count;
}

/* True if this number of tests cannot give a q as low as SF_SIGNIFICANT_Q: then q says nothing. */
static bool is_too_early(const sf_episode_count *item)
{
    return item->least_q > SF_SIGNIFICANT_Q; /* not where there is none */
}

static size_t too_early(const sf_episodes_message *episodes)
{
    size_t count = 0;
    for (size_t i = 0; i < episodes->count; i++)
        count += is_too_early(&episodes->items[i]);
    return count;
}

/* ---- rows ---- */

#define WAITS "waits for its first test"

/* A run that is over has no first test to come. */
static bool is_over(const app_console *console)
{
    return console->status != NULL && console->status->status.last;
}

static const char *why_not_tested(const app_console *console, const char *reason)
{
    return is_over(console) && strcmp(reason, WAITS) == 0 ? "not tested by the end" : reason;
}

/* The cells before the name, each set to the right. */
enum { COUNT, CHANCE, RATIO, Q, CELLS };
static const char *const heads[CELLS] = {"count", "by chance", "ratio", "q"};

typedef struct row {
    char cells[CELLS][40];
    char name[4096];
} row;

/* How rows are written. */
typedef struct row_form {
    int widths[CELLS]; /* 0: left out */
    sf_delay common;   /* shared by every link; {0, 0}: delays differ */
} row_form;

static void write_row(row *to, const app_console *console, const sf_episode_count *item, const row_form *form)
{
    enum { SIZE = sizeof to->cells[0] };
    double times = (double)item->count / item->expected;
    sf_live_print_episode(console->live, &item->episode, to->name, sizeof to->name);
    if (form->common.high_ns > 0) app_episode_shorten(to->name);
    snprintf(to->cells[COUNT], SIZE, "%" PRIu64, item->count);
    snprintf(to->cells[CHANCE], SIZE, item->expected < 9999.95 ? "%.1f" : "%.0f", item->expected);
    snprintf(to->cells[RATIO], SIZE, isnan(times) ? "-" : times < 1000 ? "%.1f" : "> 999", times);
    if (item->not_tested != NULL)
        snprintf(to->cells[Q], SIZE, "%s", why_not_tested(console, item->not_tested));
    else if (is_too_early(item))
        snprintf(to->cells[Q], SIZE, "too early");
    else
        snprintf(to->cells[Q], SIZE, "%.2g", item->q);
}

static void add_cells(const row_form *form, const char *const cells[CELLS], const char *name, app_page *page)
{
    sf_text line = {0};
    for (int c = 0; c < CELLS; c++)
        if (form->widths[c] > 0) sf_text_printf(&line, "%*s  ", form->widths[c], cells[c]);
    sf_text_printf(&line, "%s", name);
    app_page_line(page, "%s", line.data != NULL && !line.failed ? line.data : "");
    sf_text_free(&line);
}

static void add_row(const app_console *console, const sf_episode_count *item, const row_form *form,
                    app_page *page)
{
    row of;
    write_row(&of, console, item, form);
    page->tint = item->q <= SF_SIGNIFICANT_Q                      ? APP_GOOD
                 : item->not_tested != NULL || is_too_early(item) ? APP_FAINT
                                                                  : APP_PLAIN;
    const char *const cells[CELLS] = {of.cells[COUNT], of.cells[CHANCE], of.cells[RATIO], of.cells[Q]};
    add_cells(form, cells, of.name, page);
    page->tint = APP_PLAIN;
}

static int width_of(const char *text)
{
    return (int)app_width(text, strlen(text));
}

/* Columns are as wide as their contents; the expected count is left out if a line has no room for it. */
static void fit_rows(row_form *form, const app_console *console, const sf_episode_count *const *order,
                     size_t shown, int columns)
{
    int longest = 0, all = 0;
    for (int c = 0; c < CELLS; c++)
        form->widths[c] = width_of(heads[c]);
    for (size_t i = 0; i < shown; i++) {
        row of;
        write_row(&of, console, order[i], form);
        for (int c = 0; c < CELLS; c++) {
            int width = width_of(of.cells[c]);
            form->widths[c] = width > form->widths[c] ? width : form->widths[c];
        }
        int name = width_of(of.name);
        longest = name > longest ? name : longest;
    }
    for (int c = 0; c < CELLS; c++)
        all += form->widths[c] + 2;
    form->widths[CHANCE] = all + longest <= columns ? form->widths[CHANCE] : 0;
}

/* Adds as many top episodes as the page has rows for, except for `left` rows, in lines of `columns`. */
static void add_top_episodes(const app_console *console, const sf_episodes_message *episodes, int columns,
                             app_page *page, int left)
{
    row_form form = {.widths = {0}};
    char head[64];
    if (episodes->count > 0)
        form.common = app_common_delay(&episodes->items->episode, sizeof *episodes->items, episodes->count);
    const sf_episode_count **order = sf_alloc(episodes->count + 1, sizeof *order);
    if (order == NULL) return;
    size_t kept = list_whole(order, episodes);
    int room = page->rows - page->used - left - 2; /* the head and the last line */
    size_t shown = room <= 0 ? 0 : kept < (size_t)room ? kept : (size_t)room;
    fit_rows(&form, console, order, shown, columns);
    app_episode_head(head, sizeof head, "episode", form.common);
    add_cells(&form, heads, head, page);
    for (size_t i = 0; i < shown; i++)
        add_row(console, order[i], &form, page);
    if (shown < kept && kept < episodes->count)
        app_page_line(page, "%zu more, and %zu part%s of these", kept - shown, episodes->count - kept,
                      episodes->count - kept == 1 ? "" : "s");
    else if (shown < kept)
        app_page_line(page, "%zu more", kept - shown);
    else if (kept < episodes->count)
        app_page_line(page, "and %zu part%s of these", episodes->count - kept,
                      episodes->count - kept == 1 ? "" : "s");
    sf_free(order);
}

/* ---- the state of the run ---- */

static uint64_t lost_by(const sf_source_status *source)
{
    uint64_t missing = source->missing_spikes >= 0 ? (uint64_t)source->missing_spikes : source->gap_lost;
    return source->late + source->out_of_range + source->leaps + source->dropped + missing;
}

static uint64_t total_lost(const sf_status_message *status)
{
    uint64_t lost = status->window_dropped;
    for (size_t i = 0; i < status->source_count; i++)
        lost += lost_by(&status->sources[i]);
    return lost;
}

static void add_losses(sf_text *text, const sf_source_status *source)
{
    const struct {
        const char *name;
        uint64_t count;
    } causes[] = {{"late", source->late},
                  {"dropped", source->dropped},
                  {"not believed", source->leaps},
                  {"of no unit", source->out_of_range},
                  {"missing", source->missing_spikes > 0 ? (uint64_t)source->missing_spikes : 0},
                  {"frames", source->gap_lost}};
    sf_text_printf(text, "  lost %" PRIu64, lost_by(source));
    const char *before = " (";
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].count > 0) {
            sf_text_printf(text, "%s%s %" PRIu64, before, causes[i].name, causes[i].count);
            before = ", ";
        }
    if (before[0] == ',') sf_text_append(text, ")", 1);
    if (source->other_streams > 0)
        sf_text_printf(text, "  %" PRIu64 " of other streams", source->other_streams);
}

static const char *state_of(sf_source_state state)
{
    static const char *const words[] = {"live", "stalled", "LOST", "ended", "FAILED"};
    return words[state];
}

/* Shortens a name of more than `most` bytes in the middle, so that the numbers behind it fit. */
static void add_name(sf_text *text, const char *name, size_t most)
{
    size_t length = strlen(name), head = most / 2, tail = length - (most - head);
    if (length <= most) {
        sf_text_printf(text, "%s", name);
        return;
    }
    while (head > 0 && (name[head] & 0xc0) == 0x80) /* not inside a character */
        head--;
    while ((name[tail] & 0xc0) == 0x80)
        tail++;
    sf_text_printf(text, "%.*s...%s", (int)head, name, name + tail);
}

/* most: bytes of its name. */
static void describe_source(const app_console *console, const sf_source_status *source, size_t most,
                            sf_text *text)
{
    double silent_s = (double)(sf_clock_monotonic_ns() - console->heard_ns) * 1e-9;
    sf_text_printf(text, "from ");
    add_name(text, source->name, most);
    sf_text_printf(text, "  %s  %" PRIu64 " spike%s",
                   source->state == SF_SOURCE_LIVE && is_over(console) ? "stopped" : state_of(source->state),
                   source->spikes, source->spikes == 1 ? "" : "s");
    add_losses(text, source);
    if (source->state == SF_SOURCE_STALLED || source->state == SF_SOURCE_LOST)
        sf_text_printf(text, "  nothing heard for %.0f s", (double)source->silent_ns * 1e-9);
    else if (source->state == SF_SOURCE_LIVE && source->spikes == 0)
        sf_text_printf(text, "  waiting for the first spike");
    else if (source->state == SF_SOURCE_LIVE && silent_s * 1e9 >= NOTHING_FOR_NS)
        sf_text_printf(text, "  no data for %.0f s", silent_s);
    if (source->state == SF_SOURCE_LIVE && (double)source->behind_ns > console->config->window.hop_s * 1e9)
        sf_text_printf(text, "  %.1f s behind", (double)source->behind_ns * 1e-9);
    if (source->authentication != NULL && strcmp(source->authentication, "none") == 0)
        sf_text_printf(text, "  unauthenticated");
}

static void describe_sink(const sf_sink_status *sink, size_t most, sf_text *text)
{
    bool failed = strcmp(sink->state, "failed") == 0, records = strncmp(sink->name, "hdf5 ", 5) == 0;
    sf_text_printf(text, "to   ");
    add_name(text, sink->name, most);
    if (failed)
        sf_text_printf(text, " FAILED: %s", sink->note);
    else if (records)
        sf_text_printf(text, "  recording, %" PRIu64 " spikes", sink->spikes);
    else
        sf_text_printf(text, "  %" PRIu64 " messages", sink->published);
    if (sink->dropped + sink->failed > 0)
        sf_text_printf(text, "  %" PRIu64 " messages lost", sink->dropped + sink->failed);
    if (sink->spikes_lost > 0) sf_text_printf(text, "  not recorded %" PRIu64, sink->spikes_lost);
    if (sink->refused > 0) sf_text_printf(text, "  %" PRId64 " refused", sink->refused);
    if (!failed && sink->disk_left_s < 1800) sf_text_printf(text, "  disk full in %.0f s", sink->disk_left_s);
}

/* The newest status is of the window that is shown: it follows the episodes, a little later. */
static bool has_status_of_window(const app_console *console)
{
    return console->status != NULL && console->status->time_ns >= console->episodes->time_ns;
}

static void describe_window(const app_console *console, sf_text *text)
{
    sf_text_printf(text, "%s  %" PRIu32 " units", console->config->stream, console->unit_count);
    if (console->episodes == NULL) {
        sf_text_printf(text, "  waiting for the first hop of %g s", console->config->window.hop_s);
        return;
    }
    const sf_episodes_message *episodes = &console->episodes->episodes;
    sf_text_printf(text, "  window %.1f-%.1f s%s  %" PRIu64 " spike%s",
                   (double)episodes->window.start_ns * 1e-9, (double)episodes->window.stop_ns * 1e-9,
                   episodes->partial ? " (not full)" : "", episodes->spikes,
                   episodes->spikes == 1 ? "" : "s");
    double rate_hz = has_status_of_window(console) ? console->status->status.rate_hz : NAN;
    if (isfinite(rate_hz)) sf_text_printf(text, "  %.*f Hz", app_screen_digits(rate_hz), rate_hz);
}

static void describe_work(const app_console *console, const sf_status_message *status, sf_text *text)
{
    double hop_ms = 0;
    for (size_t i = 0; i < status->stage_count; i++)
        if (strcmp(status->stages[i].name, "hop") == 0) hop_ms = status->stages[i].last_ms;
    sf_text_printf(text, "%zu tracked  %zu watched  ", status->tracked, status->watched);
    if (console->config->graph.enabled)
        sf_text_printf(text, "%zu edges", status->edges);
    else
        sf_text_printf(text, "no graph");
    sf_text_printf(text, "  a hop of %g s takes %.1f ms", console->config->window.hop_s, hop_ms);
    if (strcmp(status->device, "cpu") != 0) sf_text_printf(text, "  on %s", status->device);
    if (console->episodes != NULL && status->window_fill > WAITING_FROM &&
        status->window_fill > console->episodes->episodes.spikes)
        sf_text_printf(text, "  %" PRIu64 " spikes wait", status->window_fill);
}

/* Describes what the limits on p and q hold back, if they are set. */
static void describe_left_out(const sf_left_out *left_out, sf_text *text)
{
    if (left_out->max_p <= 0 && left_out->max_q <= 0) return;
    sf_text_printf(text, "  only");
    if (left_out->max_q > 0) sf_text_printf(text, " q <= %g", left_out->max_q);
    if (left_out->max_p > 0)
        sf_text_printf(text, "%s p <= %g", left_out->max_q > 0 ? " and" : "", left_out->max_p);
    sf_text_printf(text, ": %" PRIu64 " left out", left_out->count);
    if (left_out->untested > 0)
        sf_text_printf(text, ", %" PRIu64 " of them without a verdict so far", left_out->untested);
}

/* Number of stretches that even a strong link needs for a q of SF_SIGNIFICANT_Q (docs/messages.md). */
#define LEAST_STRETCHES 4

/* "2 chains, 29 significant parts", as offline. */
static void describe_chains(const sf_episodes_message *episodes, const sf_status_message *status,
                            sf_text *text)
{
    size_t early = too_early(episodes);
    uint64_t all = episodes->count + episodes->left_out.count;
    if (all == 0) {
        sf_text_printf(text, "no episode is counted");
        return;
    }
    if (episodes->chains > 0) {
        sf_text_printf(text, "%zu chain%s", episodes->chains, episodes->chains == 1 ? "" : "s");
        if (episodes->parts > 0)
            sf_text_printf(text, ", %zu significant part%s", episodes->parts,
                           episodes->parts == 1 ? "" : "s");
        sf_text_printf(text, " (q of %g or less)", SF_SIGNIFICANT_Q);
    } else {
        sf_text_printf(text, "no q of %g or less%s", SF_SIGNIFICANT_Q,
                       status != NULL && status->last ? "" : " so far");
    }
    sf_text_printf(text, " of %" PRIu64 " episode%s", all, all == 1 ? "" : "s");
    if (episodes->chains == 0 && status != NULL && status->tests < LEAST_STRETCHES)
        sf_text_printf(text, ": it takes %d stretches of %g s or more", LEAST_STRETCHES,
                       status->test_length_s);
    if (early > 0) sf_text_printf(text, ", %zu too early to say", early);
}

/* True if stretches came but none gave a p; then the missing q is not due to a lack of stretches. */
static bool gave_no_p(const sf_status_message *status)
{
    return status->tests == 0 && status->not_tested != NULL && strcmp(status->not_tested, WAITS) != 0 &&
           strcmp(status->not_tested, "not tested by the end") != 0;
}

/* `window`: the message of the window that is shown beside it, or NULL. */
static void describe_verdicts(const app_console *console, const sf_message *window,
                              const sf_status_message *status, sf_text *text)
{
    const sf_episodes_message *episodes = window != NULL ? &window->episodes : NULL;
    if (console->config->significance.kind == 0)
        sf_text_printf(text, "no q: significance.kind is off");
    else if (gave_no_p(status))
        sf_text_printf(text, "no q: no stretch has a p%s, the last one for this: %s",
                       status->last ? "" : " so far", status->not_tested);
    else if (status->tests == 0 || episodes == NULL)
        sf_text_printf(text, "no q%s: it takes %d stretches of %g s or more after the first find%s",
                       status->last ? "" : " yet", LEAST_STRETCHES, status->test_length_s,
                       status->last ? "; the run ended" : "");
    else
        describe_chains(episodes, status, text);
    if (episodes != NULL) describe_left_out(&episodes->left_out, text);
}

/* Nothing before the first. */
static void describe_tests(const app_console *console, const sf_status_message *status, sf_text *text)
{
    const char *before = status->tests > 0 || status->not_tested != NULL ? "; " : "";
    const char *stretches = status->tests == 1 ? "stretch" : "stretches";
    if (console->config->significance.kind == 0) return;
    if (gave_no_p(status))
        before = ""; /* describe_verdicts says it */
    else if (status->not_tested != NULL && status->tests == 0)
        sf_text_printf(text, "no stretch has a p: %s", why_not_tested(console, status->not_tested));
    else if (status->not_tested != NULL)
        sf_text_printf(text, "%" PRIu64 " %s, the last without a p: %s", status->tests, stretches,
                       why_not_tested(console, status->not_tested));
    else if (status->tests > 0)
        sf_text_printf(text, "%" PRIu64 " %s tested, the last in %.1f %% of its time", status->tests,
                       stretches, 100 * status->test_share);
    if (status->tests_missed > 0)
        sf_text_printf(text, "%s%" PRIu64 " %s left out", before, status->tests_missed,
                       status->tests_missed == 1 ? "stretch" : "stretches");
}

/* Nothing where it is not asked for. */
static void describe_branching(const app_console *console, const sf_status_message *status, sf_text *text)
{
    const sf_live_criticality *asked = &console->config->criticality;
    if (asked->every_s <= 0) return;
    if (isnan(status->branching_at_s))
        sf_text_printf(text, "no branching ratio%s: one each %g s", status->last ? "" : " yet",
                       asked->every_s);
    else if (isnan(status->branching_ratio))
        sf_text_printf(text, "no branching ratio at %.1f s", status->branching_at_s);
    else
        sf_text_printf(text, "branching ratio %.4g", status->branching_ratio);
    if (!isnan(status->branching_low))
        sf_text_printf(text, " (%.4g to %.4g)", status->branching_low, status->branching_high);
    if (!isnan(status->branching_ratio)) sf_text_printf(text, " at %.1f s", status->branching_at_s);
    if (status->branching_cautions[0] != '\0')
        sf_text_printf(text, ", doubtful for %s", status->branching_cautions);
    if (status->branching_missed > 0)
        sf_text_printf(text, "; %" PRIu64 " left out", status->branching_missed);
}

static unsigned long long triggers_of(const app_watched *watched)
{
    return atomic_load_explicit(&watched->triggers, memory_order_acquire);
}

/* In seconds, of one that has any. */
static double last_trigger_s(const app_watched *watched)
{
    return (double)atomic_load_explicit(&watched->last_ns, memory_order_relaxed) * 1e-9;
}

static void describe_last_trigger(const app_console *console, sf_text *text)
{
    double last_s = -INFINITY;
    for (size_t i = 0; i < console->watched_count; i++)
        if (triggers_of(&console->watched[i]) > 0)
            last_s = fmax(last_s, last_trigger_s(&console->watched[i]));
    if (isfinite(last_s)) sf_text_printf(text, ", the last at %.3f s", last_s);
}

static unsigned long long all_triggers(const app_console *console)
{
    unsigned long long all = 0;
    for (size_t i = 0; i < console->watched_count; i++)
        all += triggers_of(&console->watched[i]);
    return all;
}

/* The triggers that fired most come first; there are few. */
static void describe_triggers(const app_console *console, sf_text *text)
{
    unsigned long long most = ULLONG_MAX;
    sf_text_printf(text, "triggers %llu", all_triggers(console));
    describe_last_trigger(console, text);
    sf_text_printf(text, ":");
    for (size_t told = 0; told < console->watched_count && told < 20 && most > 0;) {
        unsigned long long next = 0;
        for (size_t i = 0; i < console->watched_count; i++)
            if (triggers_of(&console->watched[i]) < most && triggers_of(&console->watched[i]) > next)
                next = triggers_of(&console->watched[i]);
        for (size_t i = 0; i < console->watched_count && next > 0 && told < 20; i++)
            if (triggers_of(&console->watched[i]) == next)
                sf_text_printf(text, "%s %s %llu", told++ > 0 ? "," : "", console->watched[i].text, next);
        most = next;
    }
}

/* Suggests a longer window with the rate that makes five occurrences in it enough. */
static void suggest_longer(const sf_live_options *config, const char *what, app_page *page)
{
    double length_s = 6 * config->window.length_s;
    app_page_line(page, "try %s--set window.length_s=%g --set mine.min_rate_hz=%.2g", what, length_s,
                  5 / length_s);
}

/* Suggests settings with which five occurrences in a window are enough, the minimum that a rate allows. */
static void suggest(const sf_live_options *config, app_page *page)
{
    const sf_live_mine *mine = &config->mine;
    double length_s = config->window.length_s;
    if (mine->min_count > 0)
        app_page_line(page, "try a lower mine.min_count (%g)", mine->min_count);
    else if (mine->min_fraction > 0)
        app_page_line(page, "try a lower mine.min_fraction (%g)", mine->min_fraction);
    else if (mine->min_rate_hz * length_s > 5)
        app_page_line(page, "try --set mine.min_rate_hz=%.2g", 5 / length_s);
    else
        suggest_longer(config, "", page);
    app_page_line(page, "or longer delays, as --set mine.delays_ms=0.5:50");
}

/* Why no episode is counted: in one line, at the end, too. */
static void describe_nothing(const app_console *console, const sf_episodes_message *window, sf_text *text)
{
    const sf_live_options *config = console->config;
    uint64_t edges = console->status != NULL ? console->status->status.edges : 0;
    if (window->left_out.count > 0)
        sf_text_printf(text, "nothing that is frequent has such a p or q so far");
    else if (config->mine.every == 0)
        sf_text_printf(text, "nothing is tracked: name episodes under `track`, or set mine.every");
    else if (window->spikes == 0)
        sf_text_printf(text, "no spikes in the window of %g s", config->window.length_s);
    else if (isnan(window->list_age_s))
        sf_text_printf(text, "episodes were not looked for yet: the first time after %g s",
                       config->mine.every * config->window.hop_s);
    else if (edges > 0)
        sf_text_printf(
            text, "nothing was frequent in the window %.*f s before; in this one %" PRIu64 " pair%s",
            app_screen_digits(window->list_age_s), window->list_age_s, edges, edges == 1 ? " is" : "s are");
    else if (console->full == NULL)
        sf_text_printf(text, "nothing is frequent so far; the window of %g s is not full",
                       config->window.length_s);
    else
        sf_text_printf(text, "nothing is frequent in a window of %g s at delays of %s ms",
                       config->window.length_s, config->mine.delays_ms);
}

/* And which key would change that. */
static void add_hint(const app_console *console, const sf_episodes_message *window, app_page *page)
{
    const sf_live_options *config = console->config;
    uint64_t edges = console->status != NULL ? console->status->status.edges : 0;
    if (window->left_out.count > 0)
        app_page_line(page, "--set significance.max_q=0 --set significance.max_p=0 shows all of it");
    else if (config->mine.every > 0 && console->full != NULL && window->spikes == 0)
        suggest_longer(config, "a longer one, as ", page);
    else if (config->mine.every > 0 && console->full != NULL && edges == 0)
        suggest(config, page);
}

/* ---- the page ---- */

static void add_text(app_page *page, sf_text *text)
{
    app_page_line(page, "%s", text->data != NULL && !text->failed ? text->data : "");
    sf_text_free(text);
}

/* Sources and sinks get at most a third of the page each; those with trouble are in the log, too. */
static void add_ends(const app_console *console, const sf_status_message *status, app_page *page)
{
    size_t most = page->rows > 30 ? 8 : 3, name = (size_t)page->columns / 2;
    for (size_t i = 0; i < status->source_count && i < most; i++) {
        sf_text text = {0};
        const sf_source_status *source = &status->sources[i];
        describe_source(console, source, name, &text);
        bool well = source->state == SF_SOURCE_LIVE || source->state == SF_SOURCE_ENDED;
        page->tint = !well || lost_by(source) > 0 ? APP_BAD : APP_PLAIN;
        add_text(page, &text);
    }
    if (status->source_count > most)
        app_page_line(page, "... and %zu more sources", status->source_count - most);
    for (size_t i = 0; i < status->sink_count && i < most; i++) {
        sf_text text = {0};
        const sf_sink_status *sink = &status->sinks[i];
        describe_sink(sink, name, &text);
        bool lost = sink->dropped + sink->failed + sink->spikes_lost > 0;
        page->tint = lost || strcmp(sink->state, "failed") == 0 ? APP_BAD : APP_PLAIN;
        add_text(page, &text);
    }
    page->tint = APP_PLAIN;
    if (status->sink_count > most) app_page_line(page, "... and %zu more sinks", status->sink_count - most);
    if (strcmp(status->device_state, "sick") == 0)
        app_page_line(page, "%s: the CPU goes on", status->device_note);
    if (status->window_dropped > 0)
        app_page_line(page, "windows lost %" PRIu64 " spikes: this machine is too slow for the stream",
                      status->window_dropped);
}

/* A line each, as far as a tenth of the page goes, in the order of names. */
static void add_triggers(const app_console *console, app_page *page)
{
    size_t most = (size_t)page->rows / 10;
    app_page_line(page, "triggers %llu", all_triggers(console));
    for (size_t i = 0; i < console->watched_count && i < most; i++) {
        const app_watched *watched = &console->watched[i];
        unsigned long long count = triggers_of(watched);
        if (count > 0)
            app_page_line(page, "%7llu  the last at %.3f s  %s", count, last_trigger_s(watched),
                          watched->text);
        else
            app_page_line(page, "%7llu  %s", count, watched->text);
    }
    if (console->watched_count > most) app_page_line(page, "%zu more", console->watched_count - most);
}

static void draw_page(const app_console *console)
{
    app_page page = app_screen_page();
    sf_text text = {0};
    int kept = page.rows > 30 ? 5 : 3;
    describe_window(console, &text);
    add_text(&page, &text);
    if (console->status != NULL) {
        add_ends(console, &console->status->status, &page);
        describe_work(console, &console->status->status, &text);
        add_text(&page, &text);
        describe_verdicts(console, console->episodes, &console->status->status, &text);
        add_text(&page, &text);
        describe_tests(console, &console->status->status, &text);
        if (text.length > 0) add_text(&page, &text);
        describe_branching(console, &console->status->status, &text);
        if (text.length > 0) add_text(&page, &text);
    }
    bool large = page.rows >= 40 && page.columns >= 100 && console->rates != NULL;
    int below = kept + (large ? app_rate_map_height(console->rates) + 1 : 0);
    if (console->watched_count > 0 && large)
        add_triggers(console, &page);
    else if (console->watched_count > 0) {
        describe_triggers(console, &text);
        add_text(&page, &text);
    }
    bool any = console->episodes != NULL && console->episodes->episodes.count > 0;
    app_page_line(&page, "%s", any ? BY_STANDING : "");
    if (any)
        add_top_episodes(console, &console->episodes->episodes, page.columns, &page, below);
    else if (console->episodes != NULL) {
        describe_nothing(console, &console->episodes->episodes, &text);
        add_text(&page, &text);
        add_hint(console, &console->episodes->episodes, &page);
    }
    if (large) {
        app_page_line(&page, "%s", "");
        app_rate_map_add(console->rates, console->live, &page);
    }
    int room = page.rows - page.used;
    app_screen_show_kept(&page, room < kept ? room : kept);
    app_screen_show(&page);
}

/* ---- lines ---- */

static void print_line(const app_console *console)
{
    sf_text text = {0};
    const sf_episodes_message *episodes = &console->episodes->episodes;
    describe_window(console, &text);
    if (console->status != NULL) {
        const sf_status_message *status = &console->status->status;
        sf_text_printf(&text, "  lost %" PRIu64, total_lost(status));
        for (size_t i = 0; i < status->sink_count; i++)
            if (strcmp(status->sinks[i].state, "failed") == 0)
                sf_text_printf(&text, "  %s FAILED: %s", status->sinks[i].name, status->sinks[i].note);
    }
    if (console->watched_count > 0) sf_text_printf(&text, "  triggers %llu", all_triggers(console));
    sf_text_printf(&text, "  ");
    describe_chains(episodes, console->status != NULL ? &console->status->status : NULL, &text);
    describe_left_out(&episodes->left_out, &text);
    sf_text_make_visible(&text, false);
    sf_text_append(&text, "\n", 1);
    app_write(console->out, &text);
    sf_text_free(&text);
}

void app_console_draw(app_console *console)
{
    bool new_hop = console->episodes != NULL && console->episodes->episodes.hop + 1 != console->drawn_hop &&
                   has_status_of_window(console);
    int64_t now_ns = sf_clock_monotonic_ns();
    if (console->redraw && (new_hop || now_ns - console->drawn_ns >= DRAW_EVERY_NS)) {
        draw_page(console);
        console->drawn_ns = now_ns;
    } else if (!console->redraw && new_hop) {
        print_line(console);
    }
    if (new_hop) console->drawn_hop = console->episodes->episodes.hop + 1;
}

/* ---- at the end ---- */

static void append_page(sf_text *text, app_page *page)
{
    if (page->text.data != NULL && !page->text.failed)
        sf_text_append(text, page->text.data, page->text.length);
    sf_text_free(&page->text);
}

static void add_last_table(const app_console *console, const sf_episodes_message *window, sf_text *text)
{
    app_page page = {.columns = 200, .rows = 16}; /* a long chain is not cut */
    int columns = app_screen_columns(fileno(console->out));
    sf_text_printf(text, "the last full window, %.1f-%.1f s, " BY_STANDING ":\n",
                   (double)window->window.start_ns * 1e-9, (double)window->window.stop_ns * 1e-9);
    add_top_episodes(console, window, columns > LEAST_WIDTH ? columns : LEAST_WIDTH, &page, 0);
    append_page(text, &page);
}

static void add_last_nothing(const app_console *console, const sf_episodes_message *window, sf_text *text)
{
    sf_text_printf(text, "the last window, %.1f-%.1f s, spikes %" PRIu64 ": ",
                   (double)window->window.start_ns * 1e-9, (double)window->window.stop_ns * 1e-9,
                   window->spikes);
    describe_nothing(console, window, text);
    sf_text_append(text, "\n", 1);
    app_page page = {.columns = 200, .rows = 2};
    add_hint(console, window, &page);
    append_page(text, &page);
}

void app_console_summarise(const app_console *console, sf_text *text)
{
    if (console->status == NULL) return;
    const sf_status_message *status = &console->status->status;
    const sf_message *window = console->full != NULL ? console->full : console->episodes;
    sf_text_printf(text, "%s: %" PRIu64 " spikes of %" PRIu32 " units, lost %" PRIu64 "\n",
                   console->config->stream, status->spikes, console->unit_count, total_lost(status));
    for (size_t i = 0; i < status->source_count; i++) {
        describe_source(console, &status->sources[i], SIZE_MAX, text);
        sf_text_append(text, "\n", 1);
    }
    describe_verdicts(console, window, status, text);
    sf_text_append(text, "\n", 1);
    size_t before = text->length;
    describe_tests(console, status, text);
    if (text->length > before) sf_text_append(text, "\n", 1);
    before = text->length;
    describe_branching(console, status, text);
    if (text->length > before) sf_text_append(text, "\n", 1);
    if (console->watched_count > 0) {
        describe_triggers(console, text);
        sf_text_append(text, "\n", 1);
    }
    if (window != NULL && window->episodes.count > 0)
        add_last_table(console, &window->episodes, text);
    else if (window != NULL)
        add_last_nothing(console, &window->episodes, text);
}
