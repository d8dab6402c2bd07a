/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures as SVG. */
#include "draw/write.h"

#include "core/error.h"
#include "core/memory.h"
#include "io/file.h"

#include <zlib.h>

#include <math.h>
#include <string.h>

#define PT_MM (25.4 / 72)

/* ---- words and numbers ---- */

static void print_words(sf_text *svg, const char *words)
{
    sf_text visible = {0};
    sf_text_append(&visible, words, strlen(words));
    sf_text_make_visible(&visible,
                         false); /* XML takes no control characters, and no bytes that are no text */
    for (const char *c = visible.data; !visible.failed && *c != '\0'; c++) {
        if (*c == '<')
            sf_text_printf(svg, "&lt;");
        else if (*c == '>')
            sf_text_printf(svg, "&gt;");
        else if (*c == '&')
            sf_text_printf(svg, "&amp;");
        else if (*c == '"')
            sf_text_printf(svg, "&quot;");
        else
            sf_text_append(svg, c, 1);
    }
    svg->failed = svg->failed || visible.failed;
    sf_text_free(&visible);
}

/* Prints a length to a micrometre of paper, in as few characters as possible. */
static void print_mm(sf_text *svg, double mm)
{
    sf_text_scaled(svg, llround(mm * 1000), 3);
}

static void print_pair(sf_text *svg, char command, double x, double y)
{
    sf_text_append(svg, &command, 1);
    print_mm(svg, x);
    sf_text_append(svg, " ", 1);
    print_mm(svg, y);
}

static void print_colour(sf_text *svg, const char *attribute, sf_colour colour)
{
    if (colour == SF_NO_COLOUR)
        sf_text_printf(svg, " %s=\"none\"", attribute);
    else
        sf_text_printf(svg, " %s=\"#%06x\"", attribute, colour);
}

static void print_ink(sf_text *svg, const sf_ink *ink)
{
    print_colour(svg, "fill", ink->fill);
    if (ink->line != SF_NO_COLOUR) {
        print_colour(svg, "stroke", ink->line);
        sf_text_printf(svg, " stroke-width=\"%.3g\"", ink->width_mm);
    }
    if (ink->dashed) sf_text_printf(svg, " stroke-dasharray=\"1 0.7\"");
    if (sf_ink_opacity(ink) < 1) sf_text_printf(svg, " opacity=\"%.3g\"", sf_ink_opacity(ink));
}

static void print_class(sf_text *svg, const sf_scene *scene, const sf_shape *shape)
{
    const char *class = sf_scene_words(scene, shape->class);
    if (class != NULL) sf_text_printf(svg, " class=\"%s\"", class);
}

/* The end of an element, with what it says when it is pointed at. */
static void print_note(sf_text *svg, const sf_scene *scene, const sf_shape *shape, const char *element)
{
    const char *note = sf_scene_words(scene, shape->note);
    if (note == NULL) {
        sf_text_printf(svg, "/>\n");
        return;
    }
    sf_text_printf(svg, "><title>");
    print_words(svg, note);
    sf_text_printf(svg, "</title></%s>\n", element);
}

/* ---- shapes ---- */

static void print_path(sf_text *svg, const sf_scene *scene, const sf_shape *shape)
{
    const double *point = scene->points + 2 * shape->first;
    bool down = false, area = shape->kind != SF_SHAPE_PATH;
    for (size_t i = 0; i < shape->count; i++, point += 2) {
        bool lifted = isnan(point[0]);
        if (lifted && down && area) sf_text_append(svg, "Z", 1);
        if (lifted) {
            down = false;
            continue;
        }
        if (!down) {
            print_pair(svg, 'M', point[0], point[1]);
        } else if (point[0] == point[-2]) {
            sf_text_append(svg, "V", 1);
            print_mm(svg, point[1]);
        } else if (point[1] == point[-1]) {
            sf_text_append(svg, "H", 1);
            print_mm(svg, point[0]);
        } else {
            print_pair(svg, 'L', point[0], point[1]);
        }
        down = true;
    }
    if (down && area) sf_text_append(svg, "Z", 1);
}

static void print_discs(sf_text *svg, const sf_scene *scene, const sf_shape *shape)
{
    const double *point = scene->points + 2 * shape->first;
    for (size_t i = 0; i < shape->count; i++, point += 2) {
        sf_text_printf(svg, "<circle");
        print_class(svg, scene, shape);
        sf_text_printf(svg, " cx=\"");
        print_mm(svg, point[0]);
        sf_text_printf(svg, "\" cy=\"");
        print_mm(svg, point[1]);
        sf_text_printf(svg, "\" r=\"%.3g\"", shape->size);
        print_ink(svg, &shape->ink);
        print_note(svg, scene, shape, "circle");
    }
}

static void print_text(sf_text *svg, const sf_scene *scene, const sf_shape *shape)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    double x = scene->points[2 * shape->first], y = scene->points[2 * shape->first + 1];
    sf_text_printf(svg, "<text");
    print_class(svg, scene, shape);
    sf_text_printf(svg, " x=\"%.2f\" y=\"%.2f\" font-size=\"%.3g\"", x, y, shape->size * PT_MM);
    if (shape->anchor != SF_ANCHOR_START) sf_text_printf(svg, " text-anchor=\"%s\"", anchors[shape->anchor]);
    if (shape->degrees != 0) sf_text_printf(svg, " transform=\"rotate(%g %.2f %.2f)\"", shape->degrees, x, y);
    if (shape->bold) sf_text_printf(svg, " font-weight=\"bold\"");
    if (shape->ink.fill != SF_BLACK) print_colour(svg, "fill", shape->ink.fill);
    sf_text_printf(svg, ">");
    print_words(svg, sf_scene_words(scene, shape->words));
    sf_text_printf(svg, "</text>\n");
}

static void print_group(sf_text *svg, const sf_scene *scene, const sf_shape *shape)
{
    const char *class = sf_scene_words(scene, shape->words), *attributes = sf_scene_words(scene, shape->note);
    const double *corner = scene->points + 2 * shape->first;
    if (shape->count > 0) { /* an inner document clips what leaves it, and needs no name to be referred to */
        double width = corner[4] - corner[0], height = corner[5] - corner[1];
        sf_text_printf(
            svg,
            "<svg x=\"%.3f\" y=\"%.3f\" width=\"%.3f\" height=\"%.3f\" viewBox=\"%.3f %.3f %.3f %.3f\">\n",
            corner[0], corner[1], width, height, corner[0], corner[1], width, height);
        return;
    }
    sf_text_printf(svg, "<g");
    if (class != NULL) sf_text_printf(svg, " class=\"%s\"", class);
    if (attributes != NULL) sf_text_printf(svg, " %s", attributes);
    sf_text_printf(svg, ">\n");
}

/* ---- images ---- */

static void put_number(unsigned char bytes[4], uint32_t number)
{
    for (int k = 0; k < 4; k++)
        bytes[k] = (unsigned char)(number >> (24 - 8 * k));
}

static void put_chunk(sf_text *png, const char *type, const void *data, size_t size)
{
    unsigned char number[4];
    size_t start = png->length + 4;
    put_number(number, (uint32_t)size);
    sf_text_append(png, (const char *)number, 4);
    sf_text_append(png, type, 4);
    sf_text_append(png, data, size);
    if (png->failed) return;
    put_number(number, (uint32_t)crc32(0, (const unsigned char *)png->data + start, (unsigned)(size + 4)));
    sf_text_append(png, (const char *)number, 4);
}

/* The rows of an image as PNG has them: no filter, then red, green and blue. */
static unsigned char *lay_rows(const sf_scene *scene, const sf_shape *shape, size_t *size)
{
    *size = shape->rows * (3 * shape->columns + 1);
    unsigned char *rows = sf_alloc(*size, 1), *to = rows;
    const sf_colour *pixel = scene->pixels + shape->pixel;
    for (size_t r = 0; rows != NULL && r < shape->rows; r++) {
        *to++ = 0;
        for (size_t c = 0; c < shape->columns; c++, pixel++)
            for (int shift = 16; shift >= 0; shift -= 8)
                *to++ = (unsigned char)(*pixel >> shift);
    }
    return rows;
}

static void encode(sf_text *png, const sf_scene *scene, const sf_shape *shape)
{
    size_t size;
    unsigned char header[13] = {[8] = 8, [9] = 2}; /* eight bits each of three colours */
    unsigned char *rows = lay_rows(scene, shape, &size);
    uLongf packed_size = compressBound((uLong)size);
    unsigned char *packed = rows != NULL ? sf_alloc(packed_size, 1) : NULL;
    png->failed = packed == NULL || compress2(packed, &packed_size, rows, (uLong)size, 6) != Z_OK;
    put_number(header, (uint32_t)shape->columns);
    put_number(header + 4, (uint32_t)shape->rows);
    sf_text_append(png, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(png, "IHDR", header, sizeof header);
    put_chunk(png, "IDAT", packed, packed_size);
    put_chunk(png, "IEND", "", 0);
    sf_free(packed);
    sf_free(rows);
}

static void print_base64(sf_text *svg, const sf_text *bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes->length; i += 3) {
        size_t left = bytes->length - i;
        uint32_t three = 0;
        char four[4];
        for (size_t k = 0; k < 3; k++)
            three = three << 8 | (k < left ? (unsigned char)bytes->data[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            four[k] = k <= left ? letters[three >> (18 - 6 * k) & 63] : '=';
        sf_text_append(svg, four, 4);
    }
}

static void print_image(sf_text *svg, const sf_scene *scene, const sf_shape *shape)
{
    const double *corner = scene->points + 2 * shape->first;
    sf_text png = {0};
    encode(&png, scene, shape);
    sf_text_printf(
        svg,
        "<image x=\"%.3f\" y=\"%.3f\" width=\"%.3f\" height=\"%.3f\" preserveAspectRatio=\"none\" "
        "image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\" href=\"data:image/png;base64,",
        corner[0], corner[1], corner[2] - corner[0], corner[3] - corner[1]);
    print_base64(svg, &png);
    sf_text_printf(svg, "\"/>\n");
    svg->failed = svg->failed || png.failed;
    sf_text_free(&png);
}

/* ---- documents ---- */

enum { DEEPEST = 32 };

typedef struct nesting {
    bool is_document[DEEPEST];
    int depth;
} nesting;

static void print_shape(sf_text *svg, const sf_scene *scene, const sf_shape *shape, nesting *in)
{
    switch (shape->kind) {
    case SF_SHAPE_GROUP:
        print_group(svg, scene, shape);
        in->is_document[in->depth++ % DEEPEST] = shape->count > 0;
        break;
    case SF_SHAPE_END:
        sf_text_printf(svg, in->is_document[--in->depth % DEEPEST] ? "</svg>\n" : "</g>\n");
        break;
    case SF_SHAPE_DISC:
        print_discs(svg, scene, shape);
        break;
    case SF_SHAPE_TEXT:
        print_text(svg, scene, shape);
        break;
    case SF_SHAPE_IMAGE:
        print_image(svg, scene, shape);
        break;
    default:
        sf_text_printf(svg, "<path");
        print_class(svg, scene, shape);
        print_ink(svg, &shape->ink);
        sf_text_printf(svg, " d=\"");
        print_path(svg, scene, shape);
        sf_text_printf(svg, "\"");
        print_note(svg, scene, shape, "path");
    }
}

void sf_scene_svg(sf_text *svg, const sf_scene *scene, bool inside)
{
    nesting in = {.depth = 0};
    svg->failed = svg->failed || scene->failed;
    if (svg->failed) return;
    if (!inside) sf_text_printf(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    sf_text_printf(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.4gmm\" height=\"%.5gmm\" viewBox=\"0 0 %.4g "
        "%.5g\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" "
        "stroke-linejoin=\"round\" role=\"img\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
        scene->width_mm, scene->height_mm, scene->width_mm, scene->height_mm);
    for (size_t i = 0; i < scene->count; i++)
        print_shape(svg, scene, &scene->shapes[i], &in);
    sf_text_printf(svg, "</svg>\n");
}

/* ---- files ---- */

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot != NULL ? dot : "";
}

int sf_scene_check_path(const char *path, sf_error *error)
{
    const char *ending = ending_of(path);
    if (strcmp(ending, ".svg") == 0) return SF_OK;
    if (strcmp(ending, ".pdf") != 0 && strcmp(ending, ".png") != 0)
        return sf_fail(error, SF_USAGE, path, "expected a file that ends in .svg, .pdf or .png");
    return sf_cairo_is_there()
               ? SF_OK
               : sf_fail(error, SF_UNAVAILABLE, path,
                         "this synfire was built without Cairo, which draws PDF and PNG: write .svg");
}

int sf_scene_write(const sf_scene *scene, const char *path, sf_error *error)
{
    sf_text bytes = {0};
    int status = sf_scene_check_path(path, error);
    if (status == SF_OK && scene->failed) status = sf_fail_memory(error);
    if (status == SF_OK && strcmp(ending_of(path), ".svg") == 0)
        sf_scene_svg(&bytes, scene, false);
    else if (status == SF_OK)
        status = sf_cairo_draw(&bytes, scene, strcmp(ending_of(path), ".pdf") == 0, error);
    if (status == SF_OK) status = sf_file_write(&bytes, path, error);
    sf_text_free(&bytes);
    return status;
}
