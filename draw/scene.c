/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/scene.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

/* ---- colours ---- */

/* Viridis (Smith, van der Walt; CC0) at 16 evenly spaced shares; between them straight lines. */
static const sf_colour viridis[] = {0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e,
                                    0x2a788e, 0x23888e, 0x1f988b, 0x22a884, 0x35b779, 0x54c568,
                                    0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725};

/* Cool to warm (Moreland, Diverging color maps for scientific visualization, 2009), through white. */
static const sf_colour diverging[] = {0x3b4cc0, 0x6f92f3, 0xaac7fd, 0xffffff, 0xf7b89c, 0xe7745b, 0xb40426};

static sf_colour between(const sf_colour *stops, int last, double share)
{
    if (isnan(share)) return SF_PALE;
    double at = fmin(fmax(share, 0), 1) * last;
    int below = at < last ? (int)at : last - 1;
    sf_colour mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double from = stops[below] >> shift & 0xff, to = stops[below + 1] >> shift & 0xff;
        mixed |= (sf_colour)lround(from + (to - from) * (at - below)) << shift;
    }
    return mixed;
}

sf_colour sf_viridis(double share)
{
    return between(viridis, sizeof viridis / sizeof viridis[0] - 1, share);
}

sf_colour sf_diverging(double share)
{
    return between(diverging, sizeof diverging / sizeof diverging[0] - 1, share);
}

sf_colour sf_series_colour(size_t k)
{
    static const sf_colour order[] = {SF_BLUE, SF_VERMILION, SF_GREEN, SF_ORANGE,
                                      SF_SKY,  SF_PURPLE,    SF_BLACK};
    return order[k % (sizeof order / sizeof order[0])];
}

/* ---- words ---- */

/* Widths of Helvetica's letters from the space on, in thousandths of its size; others are as wide as digits.
 */
static const uint16_t widths[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

double sf_words_width_mm(const char *words, double pt, bool bold)
{
    double sum = 0;
    for (const unsigned char *c = (const unsigned char *)words; *c != '\0'; c++)
        if ((*c & 0xc0) != 0x80) sum += *c >= ' ' && *c <= '~' ? widths[*c - ' '] : 556;
    return sum * 1e-3 * pt * 25.4 / 72 * (bold ? 1.07 : 1);
}

/* ---- room ---- */

/* Room for `more` items after `count`; the array as it is where memory is out. */
static void *grow(sf_scene *scene, void *items, size_t count, size_t more, size_t *capacity, size_t size)
{
    if (scene->failed || count + more <= *capacity) return items;
    size_t wanted = *capacity * 2 > count + more ? *capacity * 2 : count + more + 32;
    void *grown = sf_resize(items, wanted, size);
    scene->failed = grown == NULL;
    if (grown == NULL) return items;
    *capacity = wanted;
    return grown;
}

void sf_scene_free(sf_scene *scene)
{
    sf_free(scene->shapes);
    sf_free(scene->points);
    sf_free(scene->pixels);
    sf_text_free(&scene->words);
    *scene = (sf_scene){0};
}

static size_t keep_words(sf_scene *scene, const char *words)
{
    if (words == NULL || scene->failed) return SF_NO_WORDS;
    size_t at = scene->words.length;
    sf_text_append(&scene->words, words, strlen(words) + 1);
    scene->failed = scene->failed || scene->words.failed;
    return at;
}

static sf_shape *add(sf_scene *scene, sf_shape_kind kind)
{
    static sf_shape nowhere; /* what a failed scene is given; nothing reads it */
    scene->shapes = grow(scene, scene->shapes, scene->count, 1, &scene->capacity, sizeof *scene->shapes);
    if (scene->failed) return &nowhere;
    sf_shape *shape = &scene->shapes[scene->count++];
    *shape = (sf_shape){.kind = kind,
                        .first = scene->point_count,
                        .words = SF_NO_WORDS,
                        .note = SF_NO_WORDS,
                        .class = SF_NO_WORDS};
    return shape;
}

/* ---- shapes ---- */

void sf_scene_point(sf_scene *scene, double x, double y)
{
    scene->points =
        grow(scene, scene->points, 2 * scene->point_count, 2, &scene->point_capacity, sizeof *scene->points);
    if (scene->failed) return;
    scene->points[2 * scene->point_count] = x;
    scene->points[2 * scene->point_count++ + 1] = y;
    scene->shapes[scene->count - 1].count++;
}

void sf_scene_lift(sf_scene *scene)
{
    sf_scene_point(scene, NAN, NAN);
}

static void add_corners(sf_scene *scene, double x, double y, double width, double height)
{
    sf_scene_point(scene, x, y);
    sf_scene_point(scene, x + width, y);
    sf_scene_point(scene, x + width, y + height);
    sf_scene_point(scene, x, y + height);
}

void sf_scene_group(sf_scene *scene, const char *class, const char *attributes)
{
    sf_shape *shape = add(scene, SF_SHAPE_GROUP);
    shape->words = keep_words(scene, class);
    shape->note = keep_words(scene, attributes);
}

void sf_scene_clip(sf_scene *scene, double x, double y, double width, double height)
{
    add(scene, SF_SHAPE_GROUP);
    add_corners(scene, x, y, width, height);
}

void sf_scene_end(sf_scene *scene)
{
    add(scene, SF_SHAPE_END);
}

void sf_scene_begin(sf_scene *scene, sf_shape_kind kind, const sf_ink *ink, const char *class,
                    const char *note)
{
    sf_shape *shape = add(scene, kind);
    shape->ink = *ink;
    shape->class = keep_words(scene, class);
    shape->note = keep_words(scene, note);
}

void sf_scene_radius(sf_scene *scene, double mm)
{
    if (!scene->failed) scene->shapes[scene->count - 1].size = mm;
}

void sf_scene_segment(sf_scene *scene, const sf_ink *ink, double x0, double y0, double x1, double y1)
{
    sf_scene_begin(scene, SF_SHAPE_PATH, ink, NULL, NULL);
    sf_scene_point(scene, x0, y0);
    sf_scene_point(scene, x1, y1);
}

void sf_scene_rectangle(sf_scene *scene, const sf_ink *ink, double x, double y, double width, double height,
                        const char *note)
{
    sf_scene_begin(scene, SF_SHAPE_AREA, ink, NULL, note);
    add_corners(scene, x, y, width, height);
}

void sf_scene_text(sf_scene *scene, double x, double y, const char *words, const sf_lettering *as)
{
    sf_shape *shape = add(scene, SF_SHAPE_TEXT);
    shape->ink = (sf_ink){.line = SF_NO_COLOUR, .fill = as->colour};
    shape->size = as->pt;
    shape->anchor = as->anchor;
    shape->degrees = as->degrees;
    shape->bold = as->bold;
    shape->class = keep_words(scene, as->class);
    shape->words = keep_words(scene, words);
    sf_scene_point(scene, x, y);
}

sf_colour *sf_scene_image(sf_scene *scene, double x, double y, double width, double height, size_t columns,
                          size_t rows)
{
    sf_shape *shape = add(scene, SF_SHAPE_IMAGE);
    scene->pixels = grow(scene, scene->pixels, scene->pixel_count, columns * rows, &scene->pixel_capacity,
                         sizeof *scene->pixels);
    if (scene->failed) return NULL;
    shape->pixel = scene->pixel_count;
    shape->columns = columns;
    shape->rows = rows;
    scene->pixel_count += columns * rows;
    sf_scene_point(scene, x, y);
    sf_scene_point(scene, x + width, y + height);
    return scene->failed ? NULL : scene->pixels + scene->pixel_count - columns * rows;
}
