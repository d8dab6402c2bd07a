/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A picture as a list of shapes on paper, in millimetres from its upper left corner, and writing it to files:
 * SVG by its own code, PDF and PNG by Cairo if synfire was built with it.
 *
 * Like sf_text, a scene that has run out of memory is `failed`, takes no further shapes, and its writers
 * report that.
 */
#ifndef SF_DRAW_SCENE_H
#define SF_DRAW_SCENE_H

#include "core/text.h"

#include <synfire/error.h>

typedef uint32_t sf_colour; /**< 0xRRGGBB */
#define SF_NO_COLOUR UINT32_MAX

/* Okabe and Ito's palette, distinguishable with any colour vision; series use it in this order. */
#define SF_BLACK 0x000000u
#define SF_ORANGE 0xe69f00u
#define SF_SKY 0x56b4e9u
#define SF_GREEN 0x009e73u
#define SF_YELLOW 0xf0e442u
#define SF_BLUE 0x0072b2u
#define SF_VERMILION 0xd55e00u
#define SF_PURPLE 0xcc79a7u
#define SF_GREY 0x767676u
#define SF_PALE 0xd9d9d9u

/** Viridis: the colour of a share, clamped to 0 .. 1; SF_PALE for NaN. */
sf_colour sf_viridis(double share);

/** Blue, white and red (Moreland 2009), for values below and above a middle: the colour of a share, white at
 * 0.5; SF_PALE for NaN. */
sf_colour sf_diverging(double share);

/** The colour of series k. */
sf_colour sf_series_colour(size_t k);

typedef struct sf_ink {
    sf_colour line, fill; /**< SF_NO_COLOUR: none */
    double width_mm;      /**< of the line */
    double opacity;       /**< 0 .. 1; 0 counts as 1, so that the default is opaque */
    bool dashed;
} sf_ink;

typedef enum sf_shape_kind {
    SF_SHAPE_GROUP, /**< words: its class; note: further attributes, as `data-kind="raster"`; clipped to its
                       four points if it has any */
    SF_SHAPE_END,   /**< end of the group */
    SF_SHAPE_PATH,  /**< points; NaN, NaN lifts the pen */
    SF_SHAPE_AREA,  /**< the same, each part closed */
    SF_SHAPE_DISC,  /**< a disc of radius `size` around each point */
    SF_SHAPE_TEXT,  /**< words at the one point */
    SF_SHAPE_IMAGE  /**< rows of colours from the upper left, in the rectangle of two points */
} sf_shape_kind;

typedef enum sf_anchor { SF_ANCHOR_START, SF_ANCHOR_MIDDLE, SF_ANCHOR_END } sf_anchor;

#define SF_NO_WORDS SIZE_MAX

typedef struct sf_shape {
    sf_shape_kind kind;
    sf_ink ink;
    size_t first, count; /**< of its points */
    size_t words, note,
        class;      /**< places in the scene's words, or SF_NO_WORDS; the note shows when pointed at */
    double size;    /**< text: pt; disc: mm */
    double degrees; /**< of text, clockwise */
    sf_anchor anchor;
    bool bold;
    size_t pixel, columns, rows; /**< image: its first colour */
} sf_shape;

/** Zero-initialise, with its size; free with sf_scene_free. */
typedef struct sf_scene {
    double width_mm, height_mm;
    sf_shape *shapes;
    size_t count, capacity;
    double *points; /**< x, y, x, y, ... */
    size_t point_count, point_capacity;
    sf_colour *pixels;
    size_t pixel_count, pixel_capacity;
    sf_text words; /**< each with its NUL */
    bool failed;
} sf_scene;

void sf_scene_free(sf_scene *scene);

/** Copies `class`, `note` and, for text, `words`; NULL: none. */
void sf_scene_group(sf_scene *scene, const char *class, const char *attributes);
void sf_scene_clip(sf_scene *scene, double x, double y, double width, double height); /**< a clipped group */
void sf_scene_end(sf_scene *scene);

/** Starts a shape of points; sf_scene_point adds them. */
void sf_scene_begin(sf_scene *scene, sf_shape_kind kind, const sf_ink *ink, const char *class,
                    const char *note);
void sf_scene_point(sf_scene *scene, double x, double y);
void sf_scene_lift(sf_scene *scene);
void sf_scene_radius(sf_scene *scene, double mm); /**< of the discs just started */

void sf_scene_segment(sf_scene *scene, const sf_ink *ink, double x0, double y0, double x1, double y1);
void sf_scene_rectangle(sf_scene *scene, const sf_ink *ink, double x, double y, double width, double height,
                        const char *note);

typedef struct sf_lettering {
    double pt;
    sf_anchor anchor;
    double degrees;
    bool bold;
    sf_colour colour; /**< 0: black */
    const char *class;
} sf_lettering;

void sf_scene_text(sf_scene *scene, double x, double y, const char *words, const sf_lettering *as);

/** Space for columns * rows colours, which the caller fills; NULL if memory is out. */
sf_colour *sf_scene_image(sf_scene *scene, double x, double y, double width, double height, size_t columns,
                          size_t rows);

/** Approximate width of words in Helvetica; a viewer without Helvetica may need up to SF_WIDER times that
 * width. */
#define SF_WIDER 1.15
double sf_words_width_mm(const char *words, double pt, bool bold);

/** Appends a whole SVG document; `inside`: within another document, without its own heading. */
void sf_scene_svg(sf_text *svg, const sf_scene *scene, bool inside);

/** Checks that a picture can be written to this path: its extension is .svg, .pdf or .png. SF_USAGE;
 * SF_UNAVAILABLE if synfire was built without Cairo. */
int sf_scene_check_path(const char *path, sf_error *error);

/** Writes the picture, completely or not at all. Errors as above; SF_CANNOT_CREATE, SF_IO, SF_NO_MEMORY. */
int sf_scene_write(const sf_scene *scene, const char *path, sf_error *error);

#endif
