/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The figures of a recording, which `plot` draws one of and `report` all: what each shows, and what they are
 * drawn from, computed once however many show it. A figure draws and has no numbers of its own: they are
 * those that the commands tell.
 */
#ifndef SF_APP_FIGURE_H
#define SF_APP_FIGURE_H

#include "app/mining.h"
#include "app/significance.h"
#include "draw/panel.h"

#include <synfire/density.h>
#include <synfire/graph.h>

/** Whose figures are drawn. */
typedef struct app_subject {
    const app_call *call;
    const sf_recording *recording;
    sf_recording_columns of;
    double width_mm;       /**< of the figure */
    const char *name;      /**< of the recording's file, without its folders */
    sf_overview *overview; /**< what was computed, or NULL */
} app_subject;

void app_subject_open(app_subject *subject, const app_call *call, const sf_recording *recording);
void app_subject_close(app_subject *subject);

/** What `info` tells of it. */
int app_subject_overview(app_subject *subject, sf_overview_columns *told, sf_error *error);

/** A kind of figure. */
typedef struct app_figure_kind {
    const char *name, *summary; /**< "raster", "the spikes of every unit over time" */
    /** Draws panels into the figure, and appends what they show in plain words. SF_DATA where the recording
     * has nothing to show: the sentence says what it lacks. */
    int (*draw)(sf_figure *figure, app_subject *subject, sf_text *caption, sf_error *error);
} app_figure_kind;

extern const app_figure_kind app_figure_raster;

/** All of them in the order of a report, NULL at the end. */
extern const app_figure_kind *const app_figures[];

/** Draws a figure of this kind; sf_scene_free takes figure->scene, also after a failure. `captioned`: the
 * caption stands under it, too. */
int app_figure_draw(sf_figure *figure, sf_text *caption, const app_figure_kind *kind, app_subject *subject,
                    bool captioned, sf_error *error);

/** Time as figures have it: seconds since the recording's start, in s, or in min or h where there are many.
 */
typedef struct app_time_axis {
    sf_axis axis;
    double unit_s;
    int64_t start_ns;
} app_time_axis;

app_time_axis app_time_axis_of(const app_subject *subject);
double app_time_at(const app_time_axis *axis, int64_t time_ns);

#endif
