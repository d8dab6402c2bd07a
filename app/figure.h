/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The figures of a recording: `plot` draws one, `report` all. This declares what each shows and the data they
 * are drawn from, which is computed once however many figures show it. A figure only draws: its numbers are
 * those of the commands.
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

/** The recording whose figures are drawn. */
typedef struct app_subject {
    const app_call *call;
    const sf_recording *recording;
    sf_recording_columns of;
    double width_mm;   /**< of the figure */
    char name[512];    /**< the recording's file name without folders, and its stream: "plate.h5: A1" */
    app_mining mining; /**< options of mining */
    uint32_t max_size; /**< of chains: --max-size */
    sf_activity_options activity; /**< how network bursts are detected */
    sf_criticality_options criticality;
    bool in_report; /**< part of a report: the raster marks the chains that stand out, which other figures
                       draw too, and no figure is as high as a page */
    /** and what it is held against: APP_FIGURE_SURROGATES unless told otherwise */
    sf_significance_options test;
    /* What was computed, or NULL: */
    sf_overview *overview;
    sf_episodes *pairs, *chains;
    sf_graph *graph, *edges;
} app_subject;

#define APP_FIGURE_LEAST_SURROGATES 20
#define APP_FIGURE_SURROGATES 200

/** Reads the options of mining, --surrogates and --seed. SF_USAGE; call app_subject_close in any case. */
int app_subject_open(app_subject *subject, const app_call *call, const sf_recording *recording,
                     sf_error *error);
void app_subject_close(app_subject *subject);

/** The overview that `info` prints. */
int app_subject_overview(app_subject *subject, sf_overview_columns *told, sf_error *error);

/** Frequent pairs, and chains of up to --max-size units, tested by segment-shift: the same as `synfire graph`
 * and `synfire mine` with --significance segment-shift. */
int app_subject_pairs(app_subject *subject, sf_episodes_columns *told, sf_error *error);
int app_subject_chains(app_subject *subject, sf_episodes_columns *told, sf_error *error);

/** Whether the chain is significant, and not part of another significant chain. */
static inline bool app_chain_stands(const sf_episodes_columns *told, size_t i)
{
    return told->q[i] <= SF_SIGNIFICANT_Q && told->parents[i] == SF_NO_PARENT;
}

/** The pairs of app_subject_pairs; the chains themselves if these were mined before and are all pairs, so
 * that nothing is tested twice. NULL before that call. */
sf_episodes *app_subject_mined_pairs(const app_subject *subject);

/** The graph of all frequent pairs, and that of those with q <= 0.05. */
int app_subject_graph(app_subject *subject, sf_graph **graph, sf_error *error);
int app_subject_edges(app_subject *subject, sf_graph **graph, sf_error *error);

/** The occurrences of the chains that a figure marks, at most `most` chains: those of --episodes, or if
 * `in_report` those that stand out and are no parts, the best first. NULL if there are none. Free with
 * sf_occurrences_free. */
int app_subject_marked(sf_occurrences **marked, app_subject *subject, size_t most, sf_error *error);

#define APP_CHAIN_NAME 48

/** "A > B > C", cut to fit; delays are in the caption or the title. */
void app_chain_name(char name[APP_CHAIN_NAME], const app_subject *subject, const sf_episode *episode);

/** Axes that contain all these positions with some margin. */
void app_cover_places(sf_panel_form *form, const double *x, const double *y, size_t count);

/** The options that a figure uses; `plot` refuses others. */
enum {
    APP_BY_DELAY = 1,    /**< --delay */
    APP_BY_DISTANCE = 2, /**< --min-distance */
    APP_BY_MINING = 4,   /**< all other options of mining, too */
    APP_BY_SIZE = 8,     /**< --max-size */
    APP_BY_TEST = 16,    /**< --surrogates, --seed */
    APP_BY_EPISODES = 32,
    APP_BY_ALIGN = 64,
    APP_BY_MEASURE = 128,
    APP_BY_BURSTS = 256,     /**< the options of network bursts */
    APP_BY_AVALANCHES = 512, /**< the options of criticality except --seed */
    APP_BY_RESPONSES = 1024, /**< --marker and the other options of responses */
    APP_BY_METRIC = 2048,
    APP_BY_SEQUENCES = 4096, /**< the options of sequences except --surrogates, --seed */
    APP_BY_EDGES = APP_BY_DELAY | APP_BY_DISTANCE | APP_BY_MINING | APP_BY_TEST,
    APP_BY_CHAINS = APP_BY_EDGES | APP_BY_SIZE
};

/** A kind of figure. */
typedef struct app_figure_kind {
    const char *name, *summary; /**< "raster", "the spikes of every unit over time" */
    bool half;                  /**< about as high as wide: two fit side by side on a page */
    unsigned by;                /**< APP_BY_... */
    unsigned not_with_episodes; /**< bits of these options that have no effect with --episodes */
    /** Draws panels into the figure, and appends a plain description of what they show. SF_DATA if the
     * recording has nothing to show: the error says what it lacks. */
    int (*draw)(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error);
} app_figure_kind;

/** --align: markers, and the time around each. */
extern const sf_key_table app_alignment_table;

extern const app_figure_kind app_figure_raster, app_figure_array, app_figure_map, app_figure_rates,
    app_figure_intervals, app_figure_chains, app_figure_chain, app_figure_correlograms, app_figure_markers,
    app_figure_responses, app_figure_graph, app_figure_network, app_figure_edges, app_figure_matrix,
    app_figure_tiling, app_figure_motifs, app_figure_avalanches, app_figure_sequences, app_figure_drive;

/** All kinds of figures in the order of a report, ended by NULL. */
extern const app_figure_kind *const app_figures[];

/** Draws a figure of this kind; free figure->scene with sf_scene_free, also after a failure. `captioned`:
 * adds the caption below. `numbers`: an open object that receives "panels", all that is drawn as numbers; or
 * NULL. */
int app_figure_draw(sf_figure *figure, sf_text *caption, sf_json *numbers, const app_figure_kind *kind,
                    app_subject *subject, bool captioned, sf_error *error);

/** From this time on, numbers beside an axis would not distinguish one time from the next. */
#define APP_LATE_NS (100000 * SF_SECOND)

/** The time axis of figures: the recording's clock in s, or in min or h if long. If times are large they
 * count from the start of the figure, and the axis says so. */
typedef struct app_time_axis {
    sf_axis axis; /**< from 0 if the figure starts within a hundredth of 0 */
    char label[64];
    double unit_s, from; /**< from: start of the figure, in units of the axis */
    int64_t origin_ns;   /**< time at 0 of the axis */
} app_time_axis;

/** The axis points to the label, so `axis` must not move while a panel is drawn. */
void app_time_axis_of(app_time_axis *axis, const app_subject *subject);
double app_time_at(const app_time_axis *axis, int64_t time_ns);

#endif
