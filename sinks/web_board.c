/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/web_board.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"
#include "sinks/web_edges.h"
#include "sinks/web_raster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EPISODES 64  /* windows whose counts a browser that comes now still gets */
#define TRIGGERS 256 /* likewise */
#define DENSITIES 256
#define BURSTS 256
#define CRITICALITY 128
#define RECENT (1u << 18) /* spikes in which a marked episode is looked for */
#define MOST_MARKS (64u << 10)

/* One thing that a browser has or lacks. */
typedef struct web_item {
    uint64_t version; /* 0: nothing yet */
    sf_message *message;
    sf_text frame;      /* made when the first browser asks for it; emptied with every change */
    size_t size;        /* of the newest frame that was made */
    int64_t changed_ns; /* monotonic, of the version */
    bool waits;         /* the message is newer than the version: its frame would come too soon */
} web_item;

struct sf_web_board {
    const sf_stream_info *stream;
    uint64_t version;
    web_item status, graph, edges, response;
    web_item episodes[EPISODES], triggers[TRIGGERS], densities[DENSITIES];
    web_item bursts[BURSTS];           /* by number: that it begins, and then that it has ended */
    web_item criticality[CRITICALITY]; /* the newest, by their numbers */
    uint64_t episode_count, trigger_count, density_count;
    sf_web_edges graph_edges;
    sf_web_raster raster;
    sf_web_watched *watched;
    size_t watched_count;
    const sf_web_view *marking[SF_WEB_MARKING]; /* NULL: a free place */
    size_t top;
    sf_spike *recent;
    uint64_t spikes;    /* that were drawn; the newest RECENT of them are in `recent` */
    int64_t arrival_ns; /* monotonic, when the newest spike came; 0: none did */
};

/* ---- opening and closing ---- */

static int add_watched(sf_web_board *board, const char *text, const char *trigger, sf_error *error)
{
    const sf_units *units = board->stream->units;
    sf_web_watched *watched = &board->watched[board->watched_count];
    watched->text = text;
    watched->trigger = trigger;
    int status = sf_episode_parse(&watched->episode, text, units, error);
    if (status != SF_OK) return status;
    sf_episode_id(watched->id, &watched->episode, units);
    board->watched_count++;
    return SF_OK;
}

/* What a trigger rests on: its episode, or that of the one before it that it follows; NULL: it has none. */
static const char *episode_of(const sf_stream_info *stream, size_t trigger)
{
    const sf_live_trigger *of = &stream->triggers[trigger];
    while (of->on == SF_LIVE_ON_TRIGGER && trigger-- > 0)
        if (strcmp(stream->triggers[trigger].name, of->follows) == 0) of = &stream->triggers[trigger];
    return of->on == SF_LIVE_ON_EPISODE ? of->episode : NULL;
}

static int read_watched(sf_web_board *board, sf_error *error)
{
    const sf_stream_info *stream = board->stream;
    board->watched = sf_alloc(stream->watch_count + stream->trigger_count, sizeof *board->watched);
    if (board->watched == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t i = 0; i < stream->watch_count && status == SF_OK; i++)
        status = add_watched(board, stream->watch[i], NULL, error);
    for (size_t i = 0; i < stream->trigger_count && status == SF_OK; i++) {
        const char *episode = episode_of(stream, i);
        if (episode != NULL) status = add_watched(board, episode, stream->triggers[i].name, error);
    }
    return status;
}

int sf_web_board_open(sf_web_board **out, const sf_stream_info *stream, uint32_t column_ms, uint32_t top,
                      sf_error *error)
{
    *out = NULL;
    sf_web_board *board = sf_alloc(1, sizeof *board);
    if (board == NULL) return sf_fail_memory(error);
    board->stream = stream;
    board->top = top;
    board->recent = sf_alloc(RECENT, sizeof *board->recent);
    int status = board->recent != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK)
        status = sf_web_raster_open(&board->raster, stream->units->count, column_ms * SF_MILLISECOND, error);
    if (status == SF_OK) status = read_watched(board, error);
    if (status != SF_OK) {
        sf_web_board_close(board);
        return status;
    }
    *out = board;
    return SF_OK;
}

static void free_items(web_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_message_release(items[i].message);
        sf_text_free(&items[i].frame);
    }
}

void sf_web_board_close(sf_web_board *board)
{
    if (board == NULL) return;
    free_items(&board->status, 1);
    free_items(&board->graph, 1);
    free_items(&board->edges, 1);
    free_items(&board->response, 1);
    free_items(board->bursts, BURSTS);
    free_items(board->criticality, CRITICALITY);
    free_items(board->episodes, EPISODES);
    free_items(board->triggers, TRIGGERS);
    free_items(board->densities, DENSITIES);
    sf_web_edges_free(&board->graph_edges);
    sf_web_raster_close(&board->raster);
    sf_free(board->watched);
    sf_free(board->recent);
    sf_free(board);
}

const sf_message *sf_web_board_status(const sf_web_board *board)
{
    return board->status.message;
}

double sf_web_board_age_ms(const sf_web_board *board)
{
    return board->arrival_ns != 0 ? (double)(sf_clock_monotonic_ns() - board->arrival_ns) * 1e-6 : NAN;
}

const sf_stream_info *sf_web_board_stream(const sf_web_board *board)
{
    return board->stream;
}

const sf_web_watched *sf_web_board_watched(const sf_web_board *board, size_t *count)
{
    *count = board->watched_count;
    return board->watched;
}

/* ---- what comes ---- */

/* Whether the item's frame goes out as often as its size allows. */
static bool is_due(const sf_web_board *board, const web_item *item, int64_t now_ns)
{
    size_t density_count = board->density_count > 0 ? (size_t)board->density_count : 1;
    bool is_density = item >= board->densities && item < board->densities + DENSITIES,
         is_window = item >= board->episodes && item < board->episodes + EPISODES;
    double share =
        is_window ? SF_WEB_EPISODES_SHARE : SF_WEB_SHARE / (is_density ? (double)density_count : 1);
    double apart_s = item->size > SF_WEB_AT_ONCE ? (double)item->size / share : 0;
    return (double)(now_ns - item->changed_ns) * 1e-9 >= apart_s;
}

static void show(sf_web_board *board, web_item *item, int64_t now_ns)
{
    item->version = ++board->version;
    item->changed_ns = now_ns;
    item->waits = false;
    sf_text_clear(&item->frame);
}

static void change(sf_web_board *board, web_item *item)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    item->waits = !is_due(board, item, now_ns);
    if (!item->waits) show(board, item, now_ns);
}

static void show_waiting(sf_web_board *board, web_item *items, size_t count, bool now)
{
    for (size_t i = 0; i < count; i++) {
        int64_t now_ns = items[i].waits ? sf_clock_monotonic_ns() : 0;
        if (items[i].waits && (now || is_due(board, &items[i], now_ns))) show(board, &items[i], now_ns);
    }
}

/* What came too soon and is due by now, or all of it. */
static void show_all_waiting(sf_web_board *board, bool now)
{
    show_waiting(board, &board->status, 1, now);
    show_waiting(board, &board->graph, 1, now);
    show_waiting(board, &board->edges, 1, now);
    show_waiting(board, &board->response, 1, now);
    show_waiting(board, board->episodes, EPISODES, now);
    show_waiting(board, board->densities, (size_t)board->density_count, now);
}

static void put(sf_web_board *board, web_item *item, const sf_message *message)
{
    sf_message *kept = (sf_message *)message; /* counting references changes nothing that is shown */
    sf_message_keep(kept);
    sf_message_release(item->message);
    item->message = kept;
    change(board, item);
}

static int take_graph(sf_web_board *board, const sf_message *message, sf_error *error)
{
    bool changed = message->graph.change_count > 0 || board->edges.version == 0;
    put(board, &board->graph, message);
    int status = sf_web_edges_apply(&board->graph_edges, &message->graph, error);
    if (status == SF_OK && changed) change(board, &board->edges);
    return status;
}

/* Those that stand out and those that a view has marked; one that came too soon after the window before takes
 * its place. Only they are kept: of all that are counted the windows would be gigabytes. */
static int take_episodes(sf_web_board *board, const sf_message *message, sf_error *error)
{
    const char *ids[SF_WEB_MARKING];
    size_t id_count = 0;
    for (size_t i = 0; i < SF_WEB_MARKING; i++)
        if (board->marking[i] != NULL) ids[id_count++] = board->marking[i]->id;
    bool all = board->top == 0 || message->episodes.count <= board->top;
    sf_message *top = all ? NULL : sf_message_top(message, board->top, ids, id_count);
    if (!all && top == NULL) return sf_fail_memory(error);
    web_item *newest = &board->episodes[(board->episode_count + EPISODES - 1) % EPISODES];
    if (board->episode_count == 0 || is_due(board, newest, sf_clock_monotonic_ns())) {
        show_waiting(board, newest, 1, true); /* before the one after it */
        board->episode_count++;
    }
    web_item *item = &board->episodes[(board->episode_count - 1) % EPISODES];
    item->size = item == newest ? item->size : 0;
    put(board, item, all ? message : top);
    sf_message_release(top);
    return SF_OK;
}

/* The watch path's message is not counted by references, and is over when this returns. */
static int take_trigger(sf_web_board *board, const sf_message *message, sf_error *error)
{
    sf_message *copy = sf_message_new(SF_TOPIC_TRIGGER);
    if (copy == NULL) return sf_fail_memory(error);
    copy->seq = message->seq;
    copy->time_ns = message->time_ns;
    copy->arrival_ns = message->arrival_ns;
    copy->trigger = message->trigger;
    put(board, &board->triggers[board->trigger_count++ % TRIGGERS], copy);
    sf_message_release(copy);
    for (size_t i = 0; i < board->watched_count; i++)
        if (board->watched[i].trigger == NULL && strcmp(board->watched[i].id, message->trigger.id) == 0 &&
            strcmp(board->watched[i].text, message->trigger.name) == 0)
            board->watched[i].triggers++;
    return SF_OK;
}

static void take_density(sf_web_board *board, const sf_message *message)
{
    size_t i = 0;
    while (i < board->density_count &&
           strcmp(board->densities[i].message->density.quantity, message->density.quantity) != 0)
        i++;
    if (i == DENSITIES) return;
    if (i == board->density_count) board->density_count++;
    put(board, &board->densities[i], message);
}

int sf_web_board_take(sf_web_board *board, const sf_message *message, sf_error *error)
{
    switch (message->topic) {
    case SF_TOPIC_STATUS:
        put(board, &board->status, message);
        return SF_OK;
    case SF_TOPIC_EPISODES:
        sf_web_raster_pass(&board->raster, message->time_ns);
        return take_episodes(board, message, error);
    case SF_TOPIC_GRAPH:
        return take_graph(board, message, error);
    case SF_TOPIC_DENSITY:
        take_density(board, message);
        return SF_OK;
    case SF_TOPIC_TRIGGER:
        return take_trigger(board, message, error);
    case SF_TOPIC_BURST:
        put(board, &board->bursts[message->burst.burst % BURSTS], message);
        return SF_OK;
    case SF_TOPIC_RESPONSE:
        put(board, &board->response, message);
        return SF_OK;
    case SF_TOPIC_CRITICALITY:
        put(board, &board->criticality[message->seq % CRITICALITY], message);
        return SF_OK;
    default:
        return SF_OK;
    }
}

void sf_web_board_draw(sf_web_board *board, const sf_raw_batch *batch)
{
    if (batch->spike_count == 0) return;
    for (size_t i = 0; i < batch->spike_count; i++) {
        sf_web_raster_add(&board->raster, &batch->spikes[i]);
        board->recent[(board->spikes + i) % RECENT] = batch->spikes[i];
    }
    board->spikes += batch->spike_count;
    board->arrival_ns = sf_clock_monotonic_ns();
}

void sf_web_board_end(sf_web_board *board)
{
    sf_web_raster_end(&board->raster);
    show_all_waiting(board, true);
}

/* ---- frames ---- */

void sf_web_frame_begin(sf_web_board *board, sf_text *frame, sf_web_frame kind)
{
    unsigned char header[SF_WEB_HEADER] = {SF_WEB_VERSION, (unsigned char)kind};
    double age_ms = sf_web_board_age_ms(board);
    memcpy(header + 8, &age_ms, sizeof age_ms);
    sf_text_append(frame, (const char *)header, sizeof header);
}

static void tell_episode(const sf_web_board *board, const sf_episode *episode, sf_json *json)
{
    sf_json_array(json, "names");
    for (uint32_t i = 0; i < episode->size; i++)
        sf_json_string(json, NULL, board->stream->units->items[episode->units[i]].name);
    sf_json_end_array(json);
    sf_json_delays(json, "delays_ms", episode->delays, episode->size - 1);
}

static void tell_watched(const sf_web_board *board, sf_json *json)
{
    sf_json_array(json, "watch");
    for (size_t i = 0; i < board->watched_count; i++) {
        sf_json_object(json, NULL);
        sf_json_string(json, "id", board->watched[i].id);
        sf_json_string(json, "episode", board->watched[i].text);
        sf_json_string(json, "trigger", board->watched[i].trigger);
        tell_episode(board, &board->watched[i].episode, json);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

/* What is asked of network bursts, of responses to stimuli and of criticality; null where nothing is. */
static void tell_asked(const sf_stream_info *stream, sf_json *json)
{
    if (stream->bursts != NULL) {
        sf_json_object(json, "bursts");
        sf_json_uint(json, "spikes", stream->bursts->spikes);
        sf_json_real(json, "within_ms", stream->bursts->within_ms);
        sf_json_end_object(json);
    } else
        sf_json_null(json, "bursts");
    if (stream->responses != NULL) {
        sf_json_object(json, "responses");
        sf_json_string(json, "marker", stream->responses->marker);
        sf_json_real(json, "from_ms", stream->responses->from_ms);
        sf_json_real(json, "to_ms", stream->responses->to_ms);
        sf_json_uint(json, "baseline", stream->responses->baseline);
        sf_json_end_object(json);
    } else
        sf_json_null(json, "responses");
    if (stream->criticality != NULL) {
        sf_json_object(json, "criticality");
        sf_json_real(json, "every_s", stream->criticality->every_s);
        sf_json_real(json, "length_s", stream->criticality->length_s);
        sf_json_real(json, "bin_ms", stream->criticality->bin_ms);
        sf_json_end_object(json);
    } else
        sf_json_null(json, "criticality");
}

static void hello(sf_web_board *board, sf_text *frame)
{
    sf_web_frame_begin(board, frame, SF_WEB_HELLO);
    sf_json json = sf_json_start(frame);
    sf_json_object(&json, NULL);
    sf_json_uint(&json, "v", SF_WEB_VERSION);
    sf_json_string(&json, "program", "synfire " SYNFIRE_VERSION);
    sf_json_string(&json, "stream", board->stream->name);
    sf_json_seconds(&json, "column_s", board->raster.column_ns);
    sf_json_uint(&json, "rows", board->raster.rows);
    sf_json_uint(&json, "units_per_row", board->raster.per_row);
    sf_json_uint(&json, "columns", SF_WEB_COLUMNS);
    sf_json_bool(&json, "discovers", board->stream->discovers);
    sf_json_bool(&json, "graph", board->stream->draws_graph);
    tell_asked(board->stream, &json);
    tell_watched(board, &json);
    sf_json_array(&json, "units");
    for (size_t i = 0; i < board->stream->units->count; i++) {
        const sf_unit *unit = &board->stream->units->items[i];
        sf_json_array(&json, NULL);
        sf_json_string(&json, NULL, unit->name);
        sf_json_real(&json, NULL, unit->x_um);
        sf_json_real(&json, NULL, unit->y_um);
        sf_json_end_array(&json);
    }
    sf_json_end_array(&json);
    sf_json_end_object(&json);
}

/* Edges have frames of their own. */
static void encode(sf_web_board *board, web_item *item)
{
    if (item == &board->edges) {
        sf_web_frame_begin(board, &item->frame, SF_WEB_EDGES);
        sf_web_edges_encode(&board->graph_edges, &item->frame);
        return;
    }
    const sf_message *message = item->message;
    sf_message graph = {.topic = SF_TOPIC_GRAPH,
                        .seq = message->seq,
                        .time_ns = message->time_ns,
                        .arrival_ns = message->arrival_ns};
    if (message->topic == SF_TOPIC_GRAPH) { /* not copied whole: others count references to it */
        graph.graph = message->graph;
        graph.graph.change_count = graph.graph.reach_count = 0;
        message = &graph;
    }
    sf_web_frame_begin(board, &item->frame, SF_WEB_MESSAGE);
    sf_message_to_json(&item->frame, message, board->stream);
}

static void oldest_lacking(web_item **best, web_item *items, size_t count, uint64_t version)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].version > version && (*best == NULL || items[i].version < (*best)->version))
            *best = &items[i];
}

static web_item *next_item(sf_web_board *board, uint64_t version)
{
    web_item *item = NULL;
    if (version == board->version) return NULL;
    oldest_lacking(&item, &board->status, 1, version);
    oldest_lacking(&item, &board->graph, 1, version);
    oldest_lacking(&item, &board->edges, 1, version);
    oldest_lacking(&item, &board->response, 1, version);
    oldest_lacking(&item, board->bursts, BURSTS, version);
    oldest_lacking(&item, board->criticality, CRITICALITY, version);
    oldest_lacking(&item, board->episodes, EPISODES, version);
    oldest_lacking(&item, board->triggers, TRIGGERS, version);
    oldest_lacking(&item, board->densities, board->density_count, version);
    return item;
}

static void send_item(sf_web_board *board, web_item *item, sf_text *frame)
{
    if (item->frame.length == 0) {
        encode(board, item);
        item->size = item->frame.length;
    }
    sf_web_frame_begin(board, frame, (sf_web_frame)item->frame.data[1]); /* with its age now */
    sf_text_append(frame, item->frame.data + SF_WEB_HEADER, item->frame.length - SF_WEB_HEADER);
    frame->failed = frame->failed || item->frame.failed;
    if (item->frame.failed) sf_text_free(&item->frame);
}

/* What the marked episode did in the spikes since the view last asked. */
static void look_for_marks(sf_web_board *board, sf_web_view *view)
{
    if (board->spikes > RECENT && view->spike < board->spikes - RECENT) view->spike = board->spikes - RECENT;
    for (; view->spike < board->spikes && view->marks.length < MOST_MARKS; view->spike++) {
        const sf_completion *completion;
        if (sf_watch_advance(view->watch, &board->recent[view->spike % RECENT], &completion) == 0) continue;
        for (uint32_t i = 0; i < completion->size; i++) {
            double column = (double)completion->spike_times_ns[i] / (double)board->raster.column_ns;
            sf_text_append(&view->marks, (const char *)&column, sizeof column);
        }
    }
}

static bool send_marks(sf_web_board *board, sf_web_view *view, sf_text *frame)
{
    if (view->watch == NULL) return false;
    look_for_marks(board, view);
    if (view->marks.length == 0 || view->marks.failed) return false;
    sf_web_frame_begin(board, frame, SF_WEB_MARKS);
    sf_text_append(frame, view->id, 16);
    const uint32_t sizes[2] = {view->marked.size, 0};
    sf_text_append(frame, (const char *)sizes, sizeof sizes);
    sf_text_append(frame, view->marks.data, view->marks.length);
    for (uint32_t i = 0; i < view->marked.size; i++) {
        double unit = view->marked.units[i];
        sf_text_append(frame, (const char *)&unit, sizeof unit);
    }
    sf_text_clear(&view->marks);
    return true;
}

static bool send_columns(sf_web_board *board, sf_web_view *view, sf_text *frame)
{
    if (!view->has_column) {
        view->column = board->raster.first;
        view->has_column = board->raster.begun;
    }
    if (!sf_web_raster_lacks(&board->raster, view->column)) return false;
    sf_web_frame_begin(board, frame, SF_WEB_RASTER);
    view->column = sf_web_raster_encode(&board->raster, view->column, frame);
    return true;
}

bool sf_web_board_next(sf_web_board *board, sf_web_view *view, sf_text *frame)
{
    if (!view->greeted) {
        hello(board, frame);
        view->greeted = !frame->failed;
        return view->greeted;
    }
    show_all_waiting(board, false);
    web_item *item = next_item(board, view->version);
    if (item != NULL) {
        send_item(board, item, frame);
        view->version = item->version;
        return !frame->failed;
    }
    return (send_columns(board, view, frame) || send_marks(board, view, frame)) && !frame->failed;
}

/* ---- marking ---- */

static const sf_episode *find_episode(const sf_web_board *board, const char *id)
{
    for (size_t i = 0; i < board->watched_count; i++)
        if (strcmp(board->watched[i].id, id) == 0) return &board->watched[i].episode;
    for (uint64_t back = 0; back < EPISODES && back < board->episode_count; back++) {
        const sf_episodes_message *told =
            &board->episodes[(board->episode_count - 1 - back) % EPISODES].message->episodes;
        for (size_t i = 0; i < told->count; i++)
            if (strcmp(told->items[i].id, id) == 0) return &told->items[i].episode;
    }
    return NULL;
}

/* The place of a view among those that mark, or a free one. */
static const sf_web_view **place_of(sf_web_board *board, const sf_web_view *view)
{
    for (size_t i = 0; i < SF_WEB_MARKING; i++)
        if (board->marking[i] == view) return &board->marking[i];
    return view != NULL ? place_of(board, NULL) : NULL;
}

static void unmark(sf_web_view *view)
{
    if (view->board != NULL) *place_of(view->board, view) = NULL;
    view->board = NULL;
    sf_watch_close(view->watch);
    view->watch = NULL;
    sf_text_clear(&view->marks);
}

int sf_web_board_mark(sf_web_board *board, sf_web_view *view, const char *id, sf_error *error)
{
    unmark(view);
    if (id == NULL) return SF_OK;
    const sf_episode *episode = find_episode(board, id);
    if (episode == NULL) return sf_fail(error, SF_USAGE, id, "no such episode is counted or watched now");
    view->marked = *episode;
    snprintf(view->id, sizeof view->id, "%s", id);
    view->spike = 0;
    int status = sf_watch_open(&view->watch, &view->marked, 1, board->stream->units->count, 0, error);
    const sf_web_view **place = status == SF_OK ? place_of(board, view) : NULL;
    if (place != NULL) {
        *place = view;
        view->board = board;
    }
    return status;
}

void sf_web_view_close(sf_web_view *view)
{
    unmark(view);
    sf_text_free(&view->marks);
    *view = (sf_web_view){0};
}
