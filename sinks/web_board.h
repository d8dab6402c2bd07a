/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the page shows, between the messages that bring it and the browsers that fetch it. Of every message
 * the newest is kept, of counts and triggers the newest few, of spikes the columns of the raster. A browser
 * takes what is newer than what it has, when it has room for it: one that reads slowly sees less, and holds
 * nothing. One thread.
 */
#ifndef SF_SINKS_WEB_BOARD_H
#define SF_SINKS_WEB_BOARD_H

#include "core/outlet.h"
#include "window/watch.h"

/** Of the frames that the page gets (docs/page.md). */
#define SF_WEB_VERSION 1
#define SF_WEB_HEADER 16

/** A frame of up to so many bytes goes out as soon as there is one. Of larger ones each of the status, the
 * graph, its edges and all densities together has so many bytes a second, and the windows' counts so many. */
#define SF_WEB_AT_ONCE (16u << 10)
#define SF_WEB_SHARE 150000
#define SF_WEB_EPISODES_SHARE 350000

/** Views that mark an episode, at most. */
#define SF_WEB_MARKING 16

typedef enum sf_web_frame {
    SF_WEB_HELLO = 1, /**< what stays as it is for the whole run, as JSON */
    SF_WEB_MESSAGE,   /**< a message as docs/messages.md has it, as JSON; of the graph without its edges */
    SF_WEB_RASTER,    /**< columns of spike counts */
    SF_WEB_EDGES,     /**< the edges of the graph, those that stand out first */
    SF_WEB_MARKS,     /**< occurrences of the episode that this browser has marked */
    SF_WEB_ANSWER     /**< to what this browser asked, as JSON */
} sf_web_frame;

typedef struct sf_web_board sf_web_board;

/** What one browser has been given. Zero-initialise. */
typedef struct sf_web_view {
    bool greeted;
    uint64_t version; /**< of the newest item */
    int64_t column;   /**< of the raster, the next one */
    bool has_column;
    sf_web_board *board; /**< which tells the marked episode's counts, too */
    sf_watch *watch;     /**< of the marked episode, NULL: none is */
    sf_episode marked;
    char id[SF_EPISODE_ID_SIZE];
    uint64_t spike; /**< number of the next one to look for it in */
    sf_text marks;  /**< occurrences found and not sent yet */
} sf_web_view;

/** The stream is borrowed until close; column_ms is what a column of the raster lasts, of stream time; of a
 * window's episodes the `top` that stand out most are shown, 0: all, and those that are marked. */
int sf_web_board_open(sf_web_board **board, const sf_stream_info *stream, uint32_t column_ms, uint32_t top,
                      sf_error *error);
void sf_web_board_close(sf_web_board *board); /**< NULL is allowed. After its views */

/** Keeps what it needs of a message. SF_NO_MEMORY: it is left out. */
int sf_web_board_take(sf_web_board *board, const sf_message *message, sf_error *error);

/** Takes spikes for the raster. */
void sf_web_board_draw(sf_web_board *board, const sf_raw_batch *batch);

/** Nothing follows: the last column is whole, and what was held back for its size goes out. */
void sf_web_board_end(sf_web_board *board);

/** Appends the next frame that the view lacks and notes that it has it; false where it lacks none, or where
 * memory is out. */
bool sf_web_board_next(sf_web_board *board, sf_web_view *view, sf_text *frame);

/** From now on marks of this episode are sent, from the spikes that are still there on. NULL: of none.
 * SF_USAGE where there is no such episode now. */
int sf_web_board_mark(sf_web_board *board, sf_web_view *view, const char *id, sf_error *error);

void sf_web_view_close(sf_web_view *view);

/** Appends the header of a frame. */
void sf_web_frame_begin(sf_web_board *board, sf_text *frame, sf_web_frame kind);

/** Appends the state of the run in Prometheus' text form. */
void sf_web_board_metrics(sf_web_board *board, sf_text *text);

/** Appends the state of the run as one JSON object; false where something is not as it should be. */
bool sf_web_board_health(sf_web_board *board, sf_text *text);

/** The newest status, or NULL. */
const sf_message *sf_web_board_status(const sf_web_board *board);
double sf_web_board_age_ms(const sf_web_board *board); /**< since the newest spike came; NaN: none came */
const sf_stream_info *sf_web_board_stream(const sf_web_board *board);

/** The episodes under `watch`, as they are told by name, and after them those that triggers with a name rest
 * on. */
typedef struct sf_web_watched {
    sf_episode episode;
    char id[SF_EPISODE_ID_SIZE];
    const char *text;    /**< as the configuration has it */
    const char *trigger; /**< the name of the trigger; NULL: under `watch` */
    uint64_t triggers;   /**< that came here */
} sf_web_watched;

const sf_web_watched *sf_web_board_watched(const sf_web_board *board, size_t *count);

#endif
