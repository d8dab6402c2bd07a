/* SPDX-License-Identifier: Apache-2.0 */
#include "app/figure.h"

#include <string.h>

const app_figure_kind *const app_figures[] = {
    &app_figure_raster,
    NULL,
};

/* ---- the subject ---- */

void app_subject_open(app_subject *subject, const app_call *call, const sf_recording *recording)
{
    *subject = (app_subject){.call = call, .recording = recording, .of = {.size = sizeof subject->of}};
    sf_recording_get_columns(recording, &subject->of);
    const char *slash = strrchr(subject->of.path, '/');
    subject->name = slash != NULL ? slash + 1 : subject->of.path;
    subject->width_mm = SF_PAGE_MM;
}

void app_subject_close(app_subject *subject)
{
    sf_overview_free(subject->overview);
}

int app_subject_overview(app_subject *subject, sf_overview_columns *told, sf_error *error)
{
    const sf_progress progress = app_progress(subject->call);
    int status = SF_OK;
    if (subject->overview == NULL)
        status = sf_recording_overview(&subject->overview, subject->recording, &progress, error);
    if (status == SF_OK) {
        told->size = sizeof *told;
        sf_overview_get_columns(subject->overview, told);
    }
    return status;
}

/* ---- drawing ---- */

int app_figure_draw(sf_figure *figure, sf_text *caption, const app_figure_kind *kind, app_subject *subject,
                    bool captioned, sf_error *error)
{
    *figure = sf_figure_begin(kind->name, subject->width_mm, subject->width_mm > 120 ? 2 : 1);
    int status = kind->draw(figure, subject, caption, error);
    if (status != SF_OK)
        return status;
    sf_figure_end(figure, captioned ? caption->data : NULL);
    return figure->scene.failed || caption->failed ? sf_fail_memory(error) : SF_OK;
}

app_time_axis app_time_axis_of(const app_subject *subject)
{
    const sf_span *recorded = &subject->of.recorded;
    sf_span span = *recorded;
    const sf_selected *selected = subject->of.selected;
    if (selected != NULL && selected->from_given)
        span.start_ns = selected->from_ns;
    if (selected != NULL && selected->to_given)
        span.stop_ns = selected->to_ns;
    double seconds = (double)(span.stop_ns - span.start_ns) * 1e-9;
    bool hours = seconds >= 7200, minutes = !hours && seconds >= 300;
    app_time_axis axis = {.unit_s = hours ? 3600 : minutes ? 60 : 1, .start_ns = span.start_ns};
    axis.axis = (sf_axis){.label = hours     ? "time, h"
                                   : minutes ? "time, min"
                                             : "time, s",
                          .to = seconds / axis.unit_s};
    return axis;
}

double app_time_at(const app_time_axis *axis, int64_t time_ns)
{
    return (double)(time_ns - axis->start_ns) * 1e-9 / axis->unit_s;
}
