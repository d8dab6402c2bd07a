/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes and their files: what stands in them, not how it is spelt. */
#include "support/support.h"

#include "core/file.h"
#include "core/memory.h"
#include "draw/panel.h"

#include <unistd.h>

#include <math.h>

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static const double times[] = {1, 2.5, 9.75}, levels[] = {10, 20, 90};
static const sf_ink black = {.line = SF_BLACK, .fill = SF_NO_COLOUR, .width_mm = 0.2};

/* Two panels: a line with marks; and an image beside its colours. */
static sf_figure draw_example(const char *title)
{
    sf_figure figure = sf_figure_begin("example", SF_PAGE_MM, 2);
    const sf_panel_form lines = {.title = title,
                                 .x = {.label = "time, s", .to = 10},
                                 .y = {.label = "rate, Hz", .from = 1, .to = 100, .log = true},
                                 .key = {"rate"},
                                 .key_colours = {SF_BLACK}};
    sf_panel panel = sf_panel_begin(&figure, &lines);
    sf_panel_line(&panel, &black, "rate", times, levels, 3);
    sf_panel_dots(&panel, &black, "mark", times, levels, 3, 0.5);
    sf_panel_stretch(&panel, &black, "burst", 2, 3);
    sf_panel_end(&panel);
    const double values[] = {0, 1, 2, 3, NAN, 5};
    const sf_panel_form map = {.equal = true,
                               .x = {.to = 300, .bare = true},
                               .y = {.to = 200, .bare = true},
                               .colours = {.label = "rate, Hz", .to = 5}};
    panel = sf_panel_begin(&figure, &map);
    sf_panel_image(&panel, values, 3, 2, &map.colours);
    sf_panel_arrow(&panel, &black, 0, 0, 300, 200, 1, true, 2.5, "A to B");
    sf_panel_scale_bar(&panel, "um");
    sf_panel_end(&panel);
    sf_figure_end(
        &figure,
        "What is seen, in words that take more than one line of a page because they go on for so long that "
        "no page could hold them in a single one, whatever its letters are.");
    return figure;
}

static void a_figure_has_its_parts(void **state)
{
    (void)state;
    sf_figure figure = draw_example("Rates <&\"> \x1b[2J \xff");
    sf_text svg = {0};
    sf_scene_svg(&svg, &figure.scene, false);
    assert_false(svg.failed);
    assert_int_equal(count_of(svg.data, "<g "), 1 + 2 + 1); /* the figure, its panels, the scale bar */
    assert_int_equal(count_of(svg.data, "<svg"), count_of(svg.data, "</svg>"));
    assert_int_equal(count_of(svg.data, "<g"), count_of(svg.data, "</g>"));
    assert_int_equal(count_of(svg.data, "<circle class=\"mark\""), 3);
    assert_int_equal(count_of(svg.data, "<image "), 2); /* and the bar of its colours */
    assert_int_equal(count_of(svg.data, "class=\"label"), 3);
    assert_int_equal(count_of(svg.data, ">50 um<"), 1);
    assert_int_equal(count_of(svg.data, ">100 um<"), 0);
    assert_int_equal(count_of(svg.data, "class=\"caption\""), 2);
    assert_int_equal(count_of(svg.data, "<title>A to B</title>"), 1);
    assert_non_null(strstr(svg.data, ">Rates &lt;&amp;&quot;&gt; \\x1b[2J \\xff<"));
    for (const char *c = svg.data; *c != '\0'; c++)
        assert_true(*c == '\n' || (unsigned char)*c >= ' ');
    sf_text_free(&svg);
    sf_scene_free(&figure.scene);
}

/* Each part of an area is closed, and no path is. */
static void areas_close(void **state)
{
    (void)state;
    static const double points[][2] = {{1, 1}, {5, 2}, {4, 5}, {NAN, NAN}, {6, 6}, {8, 7}, {7, 9}};
    const sf_ink ink = {.line = SF_BLACK, .width_mm = 0.2};
    for (int area = 0; area < 2; area++) {
        sf_scene scene = {.width_mm = 10, .height_mm = 10};
        sf_text svg = {0};
        sf_scene_begin(&scene, area ? SF_SHAPE_AREA : SF_SHAPE_PATH, &ink, NULL, NULL);
        for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
            if (isnan(points[i][0]))
                sf_scene_lift(&scene);
            else
                sf_scene_point(&scene, points[i][0], points[i][1]);
        sf_scene_svg(&svg, &scene, true);
        assert_false(svg.failed);
        assert_int_equal(count_of(svg.data, "Z"), area ? 2 : 0);
        sf_text_free(&svg);
        sf_scene_free(&scene);
    }
}

/* Numbers can be read back from the shapes by what the panel tells of its axes. */
static void shapes_lie_where_axes_say(void **state)
{
    (void)state;
    sf_figure figure = draw_example(NULL);
    sf_text svg = {0};
    sf_scene_svg(&svg, &figure.scene, true);
    double x0, x1, left, right, y0, y1, bottom, top, x, y;
    const char *axes = strstr(svg.data, "data-x=\""), *mark = svg.data;
    assert_int_equal(sscanf(axes, "data-x=\"%lf %lf %lf %lf linear\" data-y=\"%lf %lf %lf %lf log\"", &x0,
                            &x1, &left, &right, &y0, &y1, &bottom, &top),
                     8);
    for (int k = 0; k < 3; k++) {
        mark = strstr(mark + 1, "<circle class=\"mark\"");
        assert_int_equal(sscanf(mark, "<circle class=\"mark\" cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
        assert_true(fabs(x0 + (x - left) / (right - left) * (x1 - x0) - times[k]) < 1e-3);
        assert_true(fabs(y0 * pow(y1 / y0, (y - bottom) / (top - bottom)) / levels[k] - 1) < 1e-3);
    }
    sf_text_free(&svg);
    sf_scene_free(&figure.scene);
}

/* A stretch that is too short to be seen is as wide as a thin line, around where it is. */
static void short_stretches_are_seen(void **state)
{
    (void)state;
    sf_figure figure = sf_figure_begin("short", SF_COLUMN_MM, 1);
    const sf_panel_form form = {.x = {.to = 36000}, .y = {.to = 1}};
    const sf_ink filled = {.line = SF_NO_COLOUR, .fill = SF_ORANGE};
    sf_panel panel = sf_panel_begin(&figure, &form);
    sf_panel_stretch(&panel, &filled, "burst", 100, 100.2);
    const sf_shape *shape = &figure.scene.shapes[figure.scene.count - 1];
    const double *points = figure.scene.points + 2 * shape->first;
    assert_int_equal(shape->kind, SF_SHAPE_AREA);
    assert_true(points[4] - points[0] > 0.09 && points[4] - points[0] < 0.2);
    assert_true(fabs((points[0] + points[4]) / 2 - sf_panel_x(&panel, 100.1)) < 1e-6);
    sf_panel_end(&panel);
    sf_figure_end(&figure, NULL);
    sf_scene_free(&figure.scene);
}

/* Panels of a row lie side by side, those of the next one below, and none on another. */
static void panels_flow_in_columns(void **state)
{
    (void)state;
    sf_figure figure = sf_figure_begin("flow", SF_PAGE_MM, 3);
    sf_panel panels[5];
    for (int k = 0; k < 5; k++) {
        const sf_panel_form form = {.x.to = 1, .y.to = 1, .height_mm = 10 + 5 * k, .columns = k == 3 ? 2 : 1};
        panels[k] = sf_panel_begin(&figure, &form);
        sf_panel_end(&panels[k]);
    }
    sf_figure_end(&figure, NULL);
    for (int k = 0; k < 3; k++)
        assert_true(panels[k].top == panels[0].top &&
                    (k == 0 || panels[k].left > panels[k - 1].left + panels[k - 1].width));
    assert_true(panels[3].top > panels[2].top + panels[2].height && panels[3].width > 1.5 * panels[0].width);
    assert_true(panels[4].top == panels[3].top && panels[4].left > panels[3].left + panels[3].width);
    assert_true(panels[4].left + panels[4].width <= SF_PAGE_MM);
    assert_true(figure.scene.height_mm > panels[4].top + panels[4].height);
    sf_scene_free(&figure.scene);
}

/* Axes of one number, of none, and far numbers leave a picture all the same. */
static void odd_axes_are_drawn(void **state)
{
    (void)state;
    const double ends[][2] = {{5, 5},        {0, 0}, {-3, -3}, {NAN, NAN}, {1e300, 1e300}, {-1e-300, 1e-300},
                              {1e9, 1e9 + 1}};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        sf_figure figure = sf_figure_begin("odd", SF_COLUMN_MM, 1);
        const sf_panel_form form = {.x = {.from = ends[k][0], .to = ends[k][1]}, .y = {.from = 0, .to = 1}};
        const double y[] = {-1e300, 1e300, NAN};
        sf_panel panel = sf_panel_begin(&figure, &form);
        sf_panel_line(&panel, &black, NULL, times, y, 3);
        sf_panel_end(&panel);
        sf_figure_end(&figure, "");
        sf_text svg = {0};
        sf_scene_svg(&svg, &figure.scene, false);
        assert_false(svg.failed || svg.length > 20000);
        assert_null(strstr(svg.data, "d=\"nan"));
        sf_text_free(&svg);
        sf_scene_free(&figure.scene);
    }
}

/* What stands in a figure of one panel like this. */
static sf_text svg_of(const sf_panel_form *form, double width_mm, sf_panel *panel)
{
    sf_figure figure = sf_figure_begin("one", width_mm, 1);
    sf_text svg = {0};
    *panel = sf_panel_begin(&figure, form);
    sf_panel_end(panel);
    sf_figure_end(&figure, NULL);
    sf_scene_svg(&svg, &figure.scene, true);
    assert_false(svg.failed);
    sf_scene_free(&figure.scene);
    return svg;
}

/* Ticks of a logarithmic axis are about evenly apart, where its numbers say, and neither one alone nor
 * crowded. */
static void logarithmic_ticks_are_even(void **state)
{
    (void)state;
    const double ends[][2] = {{0.8, 1.25}, {20, 30},       {1, 8},      {0.31, 0.97},  {1.6, 26},
                              {3, 200},    {0.006, 2.1e1}, {0.8, 45e3}, {1e-4, 3.7e2}, {1e-9, 1e9}};
    const double heights[] = {18, 50, 110};
    for (size_t k = 0; k < 3 * (sizeof ends / sizeof ends[0]); k++) {
        const sf_panel_form form = {.x = {.to = 1, .bare = true},
                                    .y = {.from = ends[k / 3][0], .to = ends[k / 3][1], .log = true},
                                    .height_mm = heights[k % 3]};
        sf_panel panel;
        sf_text svg = svg_of(&form, SF_COLUMN_MM, &panel);
        double last = NAN, value, y, nearest = INFINITY, farthest = 0;
        int count = 0;
        for (const char *tick = svg.data; (tick = strstr(tick, "<text class=\"tick\"")) != NULL; count++) {
            tick = strstr(tick, " y=\"");
            assert_int_equal(sscanf(tick, " y=\"%lf", &y), 1);
            assert_int_equal(sscanf(strchr(tick, '>'), ">%lf", &value), 1);
            assert_true(fabs(sf_panel_y(&panel, value) + 0.75 - y) < 0.02);
            if (count > 0) {
                nearest = fmin(nearest, last - y);
                farthest = fmax(farthest, last - y);
            }
            last = y;
        }
        assert_true(count >= 2 && nearest > 3 && farthest < 2 * nearest);
        assert_true(farthest < 30 || farthest < form.height_mm / 2);
        sf_text_free(&svg);
    }
}

/* Names stand side by side where all have room; else upright, as many as can be read. */
static void names_do_not_crowd(void **state)
{
    (void)state;
    static char spelt[60][64];
    const char *names[60];
    for (int k = 0; k < 60; k++) {
        snprintf(spelt[k], sizeof spelt[k], "#%d", 100 + k);
        names[k] = spelt[k];
    }
    for (size_t count = 3; count <= 60; count += 57) {
        sf_panel_form form = {.equal = true, .x = {.from = -0.5, .to = (double)count - 0.5, .names = names}};
        sf_panel panel;
        form.x.name_count = count;
        form.y = form.x;
        sf_text svg = svg_of(&form, SF_COLUMN_MM, &panel);
        double bottom = panel.top + panel.height, last = -INFINITY;
        size_t under = 0, upright = count_of(svg.data, "rotate(-90");
        for (const char *tick = svg.data; (tick = strstr(tick, "<text class=\"tick\"")) != NULL; tick++) {
            double x, y;
            assert_int_equal(sscanf(tick, "<text class=\"tick\" x=\"%lf\" y=\"%lf\"", &x, &y), 2);
            if (y <= bottom + 1) continue;
            assert_true(x - last > (count == 3 ? 5 : 2.1));
            last = x;
            under++;
        }
        assert_true(count == 3 ? under == 3 : under >= 20);
        assert_int_equal(upright, count == 3 ? 0 : under);
        sf_text_free(&svg);
    }
    memset(spelt[0], 'w', sizeof spelt[0] - 1); /* a long one leaves room for the panel */
    sf_panel_form form = {.x = {.to = 1}, .y = {.from = -1, .to = 3, .names = names}};
    sf_panel panel;
    form.y.name_count = 3;
    sf_text svg = svg_of(&form, SF_COLUMN_MM, &panel);
    assert_non_null(strstr(svg.data, "www...<"));
    assert_true(panel.width > SF_COLUMN_MM / 2);
    sf_text_free(&svg);
}

/* What colours mean stays over its panel, in letters that can be read and in as many lines as it takes; only
 * what is wider than the panel by itself is cut. */
static void keys_stay_over_their_panels(void **state)
{
    (void)state;
    static const char *const keys[][4] = {
        {"mean and 2 sd of rewired", "b"},
        {"unit of the first probe", "the second one", "a", "fourth of them"},
        {"a unit with a name that goes on", "and on, and on, for so long", "that nobody would read it beside",
         "the others of this recording"},
        {"a name that goes on and on and on, for so long that nobody would read it beside anything else in a "
         "figure, "
         "nor even by itself",
         "b"}};
    for (int c = 0; c < 4; c++) {
        sf_panel_form form = {.x = {.to = 1}, .y = {.to = 1}};
        for (int k = 0; k < 4; k++) {
            form.key[k] = keys[c][k];
            form.key_colours[k] = SF_GREY;
        }
        sf_figure keyed = sf_figure_begin("keyed", SF_COLUMN_MM, 1);
        sf_panel panel = sf_panel_begin(&keyed, &form);
        double end = panel.left - 2, line = 0, top = keyed.at_mm + 1;
        int count = 0, lines = 0;
        for (size_t k = 0; k < keyed.scene.count; k++) {
            const sf_shape *shape = &keyed.scene.shapes[k];
            if (shape->kind != SF_SHAPE_TEXT) continue;
            const char *words = keyed.scene.words.data + shape->words;
            double x = keyed.scene.points[2 * shape->first], y = keyed.scene.points[2 * shape->first + 1];
            if (y > line) {
                line = y;
                lines++;
                end = panel.left - 2;
            }
            assert_true(x - 4.3 > end + 1.9 && shape->size >= 4.5 && y < panel.top);
            assert_int_equal(strstr(words, "...") != NULL, c == 3 && count == 0);
            end = x + sf_words_width_mm(words, shape->size, false) * SF_WIDER;
            assert_true(end <= panel.left + panel.width + 1e-6);
            count++;
        }
        assert_int_equal(count, c == 0 || c == 3 ? 2 : 4);
        assert_true(lines >= (c < 2 ? 1 : 2) && fabs(panel.top - top - 3.4 * lines) < 1e-9);
        sf_panel_end(&panel);
        sf_figure_end(&keyed, NULL);
        sf_scene_free(&keyed.scene);
    }
}

/* The bar of colours is as long as its label; lines of a caption stay on paper in wider letters, too. */
static void words_have_room(void **state)
{
    (void)state;
    const char *label = "rate of the electrode, Hz (logarithmic)";
    for (int k = 0; k < 2; k++) {
        const sf_panel_form form = {.equal = k == 1,
                                    .height_mm = 18,
                                    .x = {.to = 1000},
                                    .y = {.to = 10},
                                    .colours = {.label = label, .from = 1, .to = 5}};
        sf_panel panel;
        sf_text svg = svg_of(&form, SF_PAGE_MM, &panel);
        assert_true(panel.height >= sf_words_width_mm(label, 7, false) * SF_WIDER - 1e-9);
        sf_text_free(&svg);
    }
    for (int k = 0; k < 2; k++) { /* beside numbers of many digits, too */
        const sf_panel_form form = {.equal = k == 1,
                                    .x = {.to = 100},
                                    .y = {.to = 90},
                                    .colours = {.label = label, .from = 0.00071, .to = 0.0321, .log = true}};
        sf_panel panel;
        sf_text svg = svg_of(&form, SF_COLUMN_MM, &panel);
        double x;
        assert_int_equal(sscanf(strstr(svg.data, "\"label colours\""), "\"label colours\" x=\"%lf", &x), 1);
        assert_true(x > panel.left + panel.width + 8 && x + 0.8 * 7 * 25.4 / 72 < SF_COLUMN_MM);
        sf_text_free(&svg);
    }
    sf_figure figure = draw_example(NULL);
    for (size_t k = 0; k < figure.scene.count; k++) {
        const sf_shape *shape = &figure.scene.shapes[k];
        if (shape->class == SF_NO_WORDS || strcmp(figure.scene.words.data + shape->class, "caption") != 0)
            continue;
        double x = figure.scene.points[2 * shape->first],
               width = sf_words_width_mm(figure.scene.words.data + shape->words, shape->size, false);
        assert_true(x + width * SF_WIDER <= SF_PAGE_MM - 1.9);
    }
    sf_scene_free(&figure.scene);
}

static void colours_are_those_of_the_palette(void **state)
{
    (void)state;
    const sf_colour_scale scale = {.from = 1, .to = 100, .log = true}, back = {.to = 1, .reversed = true};
    assert_int_equal(sf_viridis(0), 0x440154);
    assert_int_equal(sf_viridis(1), 0xfde725);
    assert_int_equal(sf_viridis(-3), 0x440154);
    assert_int_equal(sf_colour_of(&scale, 10), sf_viridis(0.5));
    assert_int_equal(sf_colour_of(&scale, 0), sf_viridis(0));
    assert_int_equal(sf_colour_of(&scale, NAN), 0xffffff);
    assert_int_equal(sf_colour_of(&back, 1), sf_viridis(0));
}

/* The ending is the format. */
static void files_are_of_their_endings(void **state)
{
    (void)state;
    static const char *const endings[] = {".svg", ".pdf", ".png"}, *const begins[] = {"<?xml", "%PDF-",
                                                                                      "\x89PNG"};
    sf_figure figure = draw_example("Rates");
    for (int k = 0; k < 3; k++) {
        char *path = test_temporary_path(endings[k]);
        sf_error error = {0};
        sf_text bytes = {0};
        int status = sf_scene_write(&figure.scene, path, &error);
        if (status == SF_UNAVAILABLE) {
            test_assert_fails(status, &error, SF_UNAVAILABLE, "without Cairo");
            printf("skipped: %s: no Cairo\n", endings[k]);
        } else {
            assert_int_equal(status, SF_OK);
            assert_int_equal(sf_file_read(&bytes, path, &error), SF_OK);
            assert_memory_equal(bytes.data, begins[k], strlen(begins[k]));
            assert_true(bytes.length > 1000);
        }
        sf_text_free(&bytes);
        unlink(path);
        free(path);
    }
    sf_error error = {0};
    static const char *const others[] = {"x.gif", "svg", "folder.svg/x", "x.svg.gz"};
    for (int k = 0; k < 4; k++)
        test_assert_fails(sf_scene_check_path(others[k], &error), &error, SF_USAGE,
                          "ends in .svg, .pdf or .png");
    sf_scene_free(&figure.scene);
}

static int draw_and_write(void *context)
{
    sf_error error = {0};
    sf_figure figure = draw_example("Rates");
    int status = sf_scene_write(&figure.scene, context, &error);
    sf_scene_free(&figure.scene);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char *path = test_temporary_path(".svg");
    test_fail_every_allocation(draw_and_write, path);
    unlink(path);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_figure_has_its_parts),
        cmocka_unit_test(areas_close),
        cmocka_unit_test(shapes_lie_where_axes_say),
        cmocka_unit_test(panels_flow_in_columns),
        cmocka_unit_test(odd_axes_are_drawn),
        cmocka_unit_test(logarithmic_ticks_are_even),
        cmocka_unit_test(names_do_not_crowd),
        cmocka_unit_test(words_have_room),
        cmocka_unit_test(keys_stay_over_their_panels),
        cmocka_unit_test(short_stretches_are_seen),
        cmocka_unit_test(colours_are_those_of_the_palette),
        cmocka_unit_test(files_are_of_their_endings),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
