/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The figures of a recording, which `plot` draws one of and `report` all: what each shows, and what they are
 * drawn from, computed once however many show it. A figure draws and has no numbers of its own: they are
 * those that the commands tell.
 */
#ifndef SF_APP_FIGURE_H
#define SF_APP_FIGURE_H

#include "app/load.h"
#include "app/mining.h"
#include "app/significance.h"
#include "core/clock.h"
#include "core/json.h"
#include "draw/panel.h"

#include <synfire/density.h>
#include <synfire/graph.h>

/** Whose figures are drawn. */
typedef struct app_subject {
    const app_call *call;
    const sf_recording *recording;
    sf_recording_columns of;
    double width_mm;   /**< of the figure */
    char name[512];    /**< of the recording's file, without its folders, and of its stream: "plate.h5: A1" */
    app_mining mining; /**< what is looked for */
    uint32_t max_size; /**< of chains: --max-size */
    sf_activity_options activity; /**< what network bursts are */
    sf_criticality_options criticality;
    bool in_report; /**< among other figures: the raster marks chains that stand out, which others draw, too,
                       and none is as high as a page */
    sf_significance_options
        test; /**< and what it is held against: APP_FIGURE_SURROGATES unless told otherwise */
    /* What was computed, or NULL: */
    sf_overview *overview;
    sf_episodes *pairs, *chains;
    sf_graph *graph, *edges;
} app_subject;

#define APP_FIGURE_LEAST_SURROGATES 20
#define APP_FIGURE_SURROGATES 200

/** By the options of mining, --surrogates and --seed. SF_USAGE; app_subject_close in any case. */
int app_subject_open(app_subject *subject, const app_call *call, const sf_recording *recording,
                     sf_error *error);
void app_subject_close(app_subject *subject);

/** What `info` tells of it. */
int app_subject_overview(app_subject *subject, sf_overview_columns *told, sf_error *error);

/** Frequent pairs, and chains of up to --max-size units, with what segment-shift says of each: those of
 * `synfire graph` and of `synfire mine`, with --significance segment-shift. */
int app_subject_pairs(app_subject *subject, sf_episodes_columns *told, sf_error *error);
int app_subject_chains(app_subject *subject, sf_episodes_columns *told, sf_error *error);

/** Whether it is significant, and no part of another chain that is. */
static inline bool app_chain_stands(const sf_episodes_columns *told, size_t i)
{
    return told->q[i] <= SF_SIGNIFICANT_Q && told->parents[i] == SF_NO_PARENT;
}

/** What app_subject_pairs tells of: the chains themselves where these were mined before and are all pairs, so
 * that nothing is tested twice. NULL before it was called. */
sf_episodes *app_subject_mined_pairs(const app_subject *subject);

/** The graph of all frequent pairs, and of those with a q of 0.05 or less. */
int app_subject_graph(app_subject *subject, sf_graph **graph, sf_error *error);
int app_subject_edges(app_subject *subject, sf_graph **graph, sf_error *error);

/** The occurrences of at most so many chains that a figure marks: of --episodes, or where `in_report`
 * those that stand out and are no parts, the best first. NULL where there are none. sf_occurrences_free. */
int app_subject_marked(sf_occurrences **marked, app_subject *subject, size_t most, sf_error *error);

#define APP_CHAIN_NAME 48

/** "A > B > C", cut: delays are in the caption or the title. */
void app_chain_name(char name[APP_CHAIN_NAME], const app_subject *subject, const sf_episode *episode);

/** Axes that hold all these places with some room around. */
void app_cover_places(sf_panel_form *form, const double *x, const double *y, size_t count);

/** The options that a figure goes by; `plot` refuses the others. */
enum {
    APP_BY_DELAY = 1,    /**< --delay */
    APP_BY_DISTANCE = 2, /**< --min-distance */
    APP_BY_MINING = 4,   /**< the other options of mining, too */
    APP_BY_SIZE = 8,     /**< --max-size */
    APP_BY_TEST = 16,    /**< --surrogates, --seed */
    APP_BY_EPISODES = 32,
    APP_BY_ALIGN = 64,
    APP_BY_MEASURE = 128,
    APP_BY_BURSTS = 256,     /**< the options of network bursts */
    APP_BY_AVALANCHES = 512, /**< the options of criticality but --seed */
    APP_BY_RESPONSES = 1024, /**< --marker and the other options of responses */
    APP_BY_METRIC = 2048,
    APP_BY_SEQUENCES = 4096, /**< the options of sequences but --surrogates, --seed */
    APP_BY_EDGES = APP_BY_DELAY | APP_BY_DISTANCE | APP_BY_MINING | APP_BY_TEST,
    APP_BY_CHAINS = APP_BY_EDGES | APP_BY_SIZE
};

/** A kind of figure. */
typedef struct app_figure_kind {
    const char *name, *summary; /**< "raster", "the spikes of every unit over time" */
    bool half;                  /**< about as high as wide: two stand side by side on a page */
    unsigned by;                /**< APP_BY_... */
    unsigned not_with_episodes; /**< of these, those that say nothing where --episodes is given */
    /** Draws panels into the figure, and appends what they show in plain words. SF_DATA where the recording
     * has nothing to show: the sentence says what it lacks. */
    int (*draw)(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error);
} app_figure_kind;

/** --align: markers, and a stretch of time around each. */
extern const sf_key_table app_alignment_table;

extern const app_figure_kind app_figure_raster, app_figure_array, app_figure_map, app_figure_rates,
    app_figure_intervals, app_figure_chains, app_figure_chain, app_figure_correlograms, app_figure_markers,
    app_figure_responses, app_figure_graph, app_figure_network, app_figure_edges, app_figure_matrix,
    app_figure_tiling, app_figure_motifs, app_figure_avalanches, app_figure_sequences, app_figure_drive;

/** All of them in the order of a report, NULL at the end. */
extern const app_figure_kind *const app_figures[];

/** Draws a figure of this kind; sf_scene_free takes figure->scene, also after a failure. `captioned`: the
 * caption stands under it, too. `numbers`: an open object that takes "panels", all that is drawn in numbers,
 * or NULL. */
int app_figure_draw(sf_figure *figure, sf_text *caption, sf_json *numbers, const app_figure_kind *kind,
                    app_subject *subject, bool captioned, sf_error *error);

/** From here on numbers beside an axis would not tell one time from the next. */
#define APP_LATE_NS (100000 * SF_SECOND)

/** Time as figures have it: that of the recording's clock, in s, or in min or h where there are many. Where
 * that is late it counts from where the figure begins, and the axis says so. */
typedef struct app_time_axis {
    sf_axis axis; /**< from 0 where the figure begins within a hundredth of that */
    char label[64];
    double unit_s, from; /**< from: where the figure begins, in units of the axis */
    int64_t origin_ns;   /**< what 0 is on it */
} app_time_axis;

/** The axis points to the label: `axis` stays where it is while a panel is drawn. */
void app_time_axis_of(app_time_axis *axis, const app_subject *subject);
double app_time_at(const app_time_axis *axis, int64_t time_ns);

#endif
