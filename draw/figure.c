/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its columns, and the caption under its panels. */
#include "draw/panel.h"

#include <stdio.h>
#include <string.h>

#define EDGE_MM 2.0
#define CAPTION_PT 7
#define LINE_MM 3.1

sf_figure sf_figure_begin(const char *kind, double width_mm, size_t columns)
{
    sf_figure figure = {.scene = {.width_mm = width_mm},
                        .columns = columns > 0 ? columns : 1,
                        .at_mm = EDGE_MM,
                        .bottom_mm = EDGE_MM,
                        .kind = kind};
    char attributes[64];
    snprintf(attributes, sizeof attributes, "data-kind=\"%.40s\"", kind);
    sf_scene_group(&figure.scene, "figure", attributes);
    return figure;
}

/* As many whole words as fit into the width; at least one. */
static size_t fit(const char *words, double width_mm)
{
    size_t fits = 0, at = 0;
    char line[512];
    while (words[at] != '\0') {
        size_t next = at + strspn(words + at, " ");
        next += strcspn(words + next, " ");
        if (next >= sizeof line) break;
        memcpy(line, words, next);
        line[next] = '\0';
        if (fits > 0 && sf_words_width_mm(line, CAPTION_PT, false) * SF_WIDER > width_mm) break;
        fits = at = next;
    }
    return fits > 0 ? fits : strlen(words);
}

void sf_figure_end(sf_figure *figure, const char *caption)
{
    sf_scene *scene = &figure->scene;
    double y = figure->bottom_mm;
    while (caption != NULL && *caption != '\0') {
        char line[512];
        size_t length = fit(caption, scene->width_mm - 2 * EDGE_MM);
        snprintf(line, sizeof line, "%.*s", (int)length, caption);
        y += LINE_MM;
        sf_scene_text(scene, EDGE_MM, y, line, &(sf_lettering){.pt = CAPTION_PT, .class = "caption"});
        caption += length;
        caption += strspn(caption, " ");
    }
    sf_scene_end(scene);
    scene->height_mm = y + EDGE_MM;
}
