/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the page shows, between the messages that bring it and the browsers that fetch it. The board keeps the
 * newest message of each kind, the newest few counts and triggers, and the raster's columns of spikes. A
 * browser takes what is newer than what it has, when it has room for it: a slow reader sees less and delays
 * nobody. One thread.
 */
#ifndef SF_SINKS_WEB_BOARD_H
#define SF_SINKS_WEB_BOARD_H

#include "core/outlet.h"
#include "window/watch.h"

/** Format of the frames that the page gets (docs/page.md). */
#define SF_WEB_VERSION 1
#define SF_WEB_HEADER 16

/** A frame of at most SF_WEB_AT_ONCE bytes is sent as soon as it exists. Larger ones are limited in bytes per
 * second: SF_WEB_SHARE each for the status, the graph, its edges and all densities together,
 * SF_WEB_EPISODES_SHARE for the windows' counts. */
#define SF_WEB_AT_ONCE (16u << 10)
#define SF_WEB_SHARE 150000
#define SF_WEB_EPISODES_SHARE 350000

/** Maximum number of views that mark an episode. */
#define SF_WEB_MARKING 16

typedef enum sf_web_frame {
    SF_WEB_HELLO = 1, /**< what is constant for the whole run, as JSON */
    SF_WEB_MESSAGE,   /**< a message of docs/messages.md as JSON; graphs without edges */
    SF_WEB_RASTER,    /**< columns of spike counts */
    SF_WEB_EDGES,     /**< the edges of the graph, those that stand out first */
    SF_WEB_MARKS,     /**< occurrences of the episode that this browser marks */
    SF_WEB_ANSWER     /**< the answer to this browser's request, as JSON */
} sf_web_frame;

typedef struct sf_web_board sf_web_board;

/** What one browser has received. Zero-initialise. */
typedef struct sf_web_view {
    bool greeted;
    uint64_t version; /**< version of its newest item */
    int64_t column;   /**< next column of the raster */
    bool has_column;
    sf_web_board *board; /**< the board, which also gets the marked episode's counts */
    sf_watch *watch;     /**< for the marked episode; NULL: none */
    sf_episode marked;
    char id[SF_EPISODE_ID_SIZE];
    uint64_t spike; /**< number of the next spike in which to look for it */
    sf_text marks;  /**< occurrences found and not sent yet */
} sf_web_view;

/** Opens a board. stream is borrowed until close; column_ms is the stream time of a raster column; of a
 * window's episodes, the `top` that stand out most (0: all) and the marked ones are shown. SF_NO_MEMORY. */
int sf_web_board_open(sf_web_board **board, const sf_stream_info *stream, uint32_t column_ms, uint32_t top,
                      sf_error *error);
void sf_web_board_close(sf_web_board *board); /**< NULL is allowed. Close its views first */

/** Keeps what it needs of a message. SF_NO_MEMORY: the message is left out. */
int sf_web_board_take(sf_web_board *board, const sf_message *message, sf_error *error);

/** Takes spikes for the raster. */
void sf_web_board_draw(sf_web_board *board, const sf_raw_batch *batch);

/** Nothing will follow: completes the last column, and releases what was held back for its size. */
void sf_web_board_end(sf_web_board *board);

/** Appends the next frame that the view lacks and records that it has it; false if it lacks none, or memory
 * is out. */
bool sf_web_board_next(sf_web_board *board, sf_web_view *view, sf_text *frame);

/** Marks an episode for a view: from the oldest spikes still held on, its occurrences are sent. id NULL:
 * unmark. SF_USAGE if there is no such episode now. */
int sf_web_board_mark(sf_web_board *board, sf_web_view *view, const char *id, sf_error *error);

void sf_web_view_close(sf_web_view *view);

/** Appends the header of a frame. */
void sf_web_frame_begin(sf_web_board *board, sf_text *frame, sf_web_frame kind);

/** Appends the state of the run in Prometheus' text form. */
void sf_web_board_metrics(sf_web_board *board, sf_text *text);

/** Appends the state of the run as one JSON object; false if something is wrong with the run. */
bool sf_web_board_health(sf_web_board *board, sf_text *text);

/** The newest status, or NULL. */
const sf_message *sf_web_board_status(const sf_web_board *board);
double sf_web_board_age_ms(const sf_web_board *board); /**< since the newest spike arrived; NaN: none yet */
const sf_stream_info *sf_web_board_stream(const sf_web_board *board);

/** The episodes under `watch`, in their published order, then those of named triggers. */
typedef struct sf_web_watched {
    sf_episode episode;
    char id[SF_EPISODE_ID_SIZE];
    const char *text;    /**< as the configuration has it */
    const char *trigger; /**< the name of the trigger; NULL: under `watch` */
    uint64_t triggers;   /**< number received so far */
} sf_web_watched;

const sf_web_watched *sf_web_board_watched(const sf_web_board *board, size_t *count);

#endif
