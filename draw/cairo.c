/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures as PDF and PNG, by Cairo where it is there. */
#include "draw/write.h"

#include "core/error.h"

#ifdef SYNFIRE_HAVE_CAIRO
#include <cairo-pdf.h>

#include <math.h>

#define MM_PT (72 / 25.4)
#define DOTS_MM (300 / 25.4)

bool sf_cairo_is_there(void)
{
    return true;
}

static cairo_status_t take(void *bytes, const unsigned char *data, unsigned length)
{
    sf_text_append(bytes, (const char *)data, length);
    return ((sf_text *)bytes)->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static void set_colour(cairo_t *cairo, sf_colour colour, double opacity)
{
    cairo_set_source_rgba(cairo, (colour >> 16 & 0xff) / 255.0, (colour >> 8 & 0xff) / 255.0,
                          (colour & 0xff) / 255.0, opacity);
}

static void paint(cairo_t *cairo, const sf_ink *ink)
{
    static const double dashes[] = {1, 0.7};
    if (ink->fill != SF_NO_COLOUR) {
        set_colour(cairo, ink->fill, sf_ink_opacity(ink));
        cairo_fill_preserve(cairo);
    }
    if (ink->line != SF_NO_COLOUR) {
        set_colour(cairo, ink->line, sf_ink_opacity(ink));
        cairo_set_line_width(cairo, ink->width_mm);
        cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
        cairo_set_dash(cairo, dashes, ink->dashed ? 2 : 0, 0);
        cairo_stroke_preserve(cairo);
    }
    cairo_new_path(cairo);
}

static void trace(cairo_t *cairo, const sf_scene *scene, const sf_shape *shape)
{
    const double *point = scene->points + 2 * shape->first;
    bool down = false;
    for (size_t i = 0; i < shape->count; i++, point += 2) {
        if (isnan(point[0])) {
            if (down && shape->kind != SF_SHAPE_PATH) cairo_close_path(cairo);
            down = false;
        } else if (down) {
            cairo_line_to(cairo, point[0], point[1]);
        } else {
            cairo_move_to(cairo, point[0], point[1]);
            down = true;
        }
    }
    if (down && shape->kind != SF_SHAPE_PATH) cairo_close_path(cairo);
}

static void draw_text(cairo_t *cairo, const sf_scene *scene, const sf_shape *shape)
{
    const char *words = sf_scene_words(scene, shape->words);
    cairo_text_extents_t extents;
    cairo_save(cairo);
    cairo_select_font_face(cairo, "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                           shape->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo, shape->size / MM_PT);
    cairo_text_extents(cairo, words, &extents);
    cairo_translate(cairo, scene->points[2 * shape->first], scene->points[2 * shape->first + 1]);
    cairo_rotate(cairo, shape->degrees * 3.14159265358979323846 / 180);
    double wanted = sf_words_width_mm(words, shape->size, shape->bold); /* by which it was laid out */
    if (extents.x_advance > wanted)                                     /* the font that is there is wider */
        cairo_scale(cairo, wanted / extents.x_advance, 1);
    cairo_move_to(cairo, -extents.x_advance * (int)shape->anchor / 2, 0);
    set_colour(cairo, shape->ink.fill, 1);
    cairo_show_text(cairo, words);
    cairo_restore(cairo);
    cairo_new_path(cairo);
}

static void draw_image(cairo_t *cairo, const sf_scene *scene, const sf_shape *shape)
{
    const double *point = scene->points + 2 * shape->first;
    cairo_surface_t *image =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)shape->columns, (int)shape->rows);
    unsigned char *bytes = cairo_image_surface_get_data(image);
    cairo_surface_flush(image);
    for (size_t r = 0; bytes != NULL && r < shape->rows; r++)
        for (size_t c = 0; c < shape->columns; c++)
            ((uint32_t *)(void *)(bytes + r * (size_t)cairo_image_surface_get_stride(image)))[c] =
                scene->pixels[shape->pixel + r * shape->columns + c];
    cairo_surface_mark_dirty(image);
    cairo_save(cairo);
    cairo_translate(cairo, point[0], point[1]);
    cairo_scale(cairo, (point[2] - point[0]) / (double)shape->columns,
                (point[3] - point[1]) / (double)shape->rows);
    cairo_set_source_surface(cairo, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
    cairo_paint(cairo);
    cairo_restore(cairo);
    cairo_surface_destroy(image);
}

static void draw_shape(cairo_t *cairo, const sf_scene *scene, const sf_shape *shape)
{
    const double *point = scene->points + 2 * shape->first;
    switch (shape->kind) {
    case SF_SHAPE_GROUP:
        cairo_save(cairo);
        if (shape->count > 0) {
            trace(cairo, scene, shape);
            cairo_clip(cairo);
        }
        break;
    case SF_SHAPE_END:
        cairo_restore(cairo);
        break;
    case SF_SHAPE_DISC:
        for (size_t i = 0; i < shape->count; i++, point += 2) {
            cairo_new_sub_path(cairo);
            cairo_arc(cairo, point[0], point[1], shape->size, 0, 6.283185307179586);
        }
        paint(cairo, &shape->ink);
        break;
    case SF_SHAPE_TEXT:
        draw_text(cairo, scene, shape);
        break;
    case SF_SHAPE_IMAGE:
        draw_image(cairo, scene, shape);
        break;
    default:
        trace(cairo, scene, shape);
        paint(cairo, &shape->ink);
    }
}

int sf_cairo_draw(sf_text *bytes, const sf_scene *scene, bool pdf, sf_error *error)
{
    double scale = pdf ? MM_PT : DOTS_MM;
    cairo_surface_t *surface =
        pdf ? cairo_pdf_surface_create_for_stream(take, bytes, scene->width_mm * scale,
                                                  scene->height_mm * scale)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(scene->width_mm * scale),
                                         (int)ceil(scene->height_mm * scale));
    cairo_t *cairo = cairo_create(surface);
    set_colour(cairo, 0xffffff, 1);
    cairo_paint(cairo);
    cairo_scale(cairo, scale, scale);
    for (size_t i = 0; i < scene->count; i++)
        draw_shape(cairo, scene, &scene->shapes[i]);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    if (status == CAIRO_STATUS_SUCCESS && !pdf)
        status = cairo_surface_write_to_png_stream(surface, take, bytes);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_NO_MEMORY) return sf_fail_memory(error);
    return status == CAIRO_STATUS_SUCCESS
               ? SF_OK
               : sf_fail(error, SF_INTERNAL, NULL, "Cairo: %s", cairo_status_to_string(status));
}

#else

bool sf_cairo_is_there(void)
{
    return false;
}

int sf_cairo_draw(sf_text *bytes, const sf_scene *scene, bool pdf, sf_error *error)
{
    (void)bytes;
    (void)scene;
    return sf_fail(error, SF_UNAVAILABLE, NULL, "this synfire was built without Cairo, which draws %s",
                   pdf ? "PDF" : "PNG");
}
#endif
