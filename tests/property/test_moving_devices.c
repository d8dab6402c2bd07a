/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Densities that follow a window on every device that is found, against the CPU; and, with a plugin that
 * needs no device, who draws them in a hop, and what becomes of them when a device refuses, fails or loses.
 */
#include "support/plugin_work.h"
#include "support/support.h"

#include "core/backend/find.h"
#include "core/clock.h"
#include "density/samples.h"
#include "pipeline/telling.h"

#include <math.h>
#include <unistd.h>

enum { MOST_STATES = 40, MOST_SAMPLES = 4000 };

/* ---- scenes ---- */

/* States of one plan, and what is drawn of them. */
typedef struct scene {
    sf_moving_plan plan;
    sf_moving_view view;
    sf_moving_density states[MOST_STATES];
    size_t count;
} scene;

static void open_scene(scene *s, const sf_moving_options *options, size_t count, uint32_t bins)
{
    *s = (scene){.count = count};
    bool log_axis = options->domain == SF_DOMAIN_LOG;
    assert_int_equal(sf_moving_plan_open(&s->plan, options, NULL), SF_OK);
    s->view = (sf_moving_view){.from = log_axis ? log(options->least) : options->least,
                               .to = log_axis ? log(options->most) : options->most,
                               .bins = bins,
                               .cut_below = log_axis,
                               .cut_above = bins % 2 == 0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sf_moving_open(&s->states[i], &s->plan, NULL), SF_OK);
}

static void close_scene(scene *s)
{
    for (size_t i = 0; i < s->count; i++)
        sf_moving_close(&s->states[i]);
    sf_moving_plan_close(&s->plan);
}

/* A tenth of the samples is removed again, so that sums have rounded. */
static void fill(scene *s, size_t state, const double *samples, size_t n)
{
    sf_moving_add(&s->states[state], &s->plan, samples, n);
    sf_moving_remove(&s->states[state], &s->plan, samples, n / 10);
}

/* Between 0 and 1: one hump, two narrow ones far apart, a tail, a few values many times, or one. */
static double draw_share(test_random *random, int kind)
{
    double u = test_random_unit(random), v = test_random_unit(random);
    switch (kind) {
    case 0:
        return 0.5 + 0.1 * (u + v + test_random_unit(random) - 1.5);
    case 1:
        return (u < 0.3 ? 0.2 : 0.7) + 0.002 * v;
    case 2:
        return -log(1 - 0.999 * u) / 7;
    case 3:
        return floor(5 * u) / 5 + 0.1;
    default:
        return 0.25;
    }
}

/* As intervals are: from far under to far over what is counted in ticks. */
static double place(const sf_moving_options *options, double share)
{
    double x = options->domain != SF_DOMAIN_LOG
                   ? options->least + share * (options->most - options->least)
                   : options->least * pow(options->most / options->least, 0.2 + 0.4 * share);
    return options->tick > 0 && options->domain == SF_DOMAIN_LOG
               ? options->tick * fmax(round(x / options->tick), 1)
               : x;
}

static sf_moving_options draw_options(test_random *random, sf_domain domain, sf_moving_method method)
{
    static const double ticks[] = {0, 3.3e-5, 1e-3, 0.2};
    static const double of_logarithms[] = {0.4, 0.15, 0.051}, of_numbers[] = {4, 1, 0.2};
    sf_moving_options options = {.domain = domain, .method = method, .reselect = 0.2};
    size_t fine = test_random_below(random, 3);
    options.least = domain == SF_DOMAIN_LOG ? 2e-5 : domain == SF_DOMAIN_LINE ? -30 : 0;
    options.most = domain == SF_DOMAIN_LOG ? 1e3 : 50;
    options.b_least = domain == SF_DOMAIN_LOG ? of_logarithms[fine] : of_numbers[fine];
    options.tick = ticks[test_random_below(random, 4)];
    options.h = 2 * fmax(options.b_least, options.tick);
    return options;
}

/* Many states or few, with few samples or many; some are all equal. */
static void draw_scene(scene *s, test_random *random, sf_domain domain, sf_moving_method method)
{
    static double samples[MOST_SAMPLES];
    sf_moving_options options = draw_options(random, domain, method);
    size_t count = 1 + test_random_below(random, MOST_STATES);
    open_scene(s, &options, count, 2 + (uint32_t)test_random_below(random, 150));
    for (size_t i = 0; i < count; i++) {
        int kind = (int)test_random_below(random, 5);
        size_t n = test_random_below(random, 2) == 0 ? 60 + test_random_below(random, 40)
                                                     : 60 + test_random_below(random, MOST_SAMPLES - 60);
        for (size_t k = 0; k < n; k++)
            samples[k] = place(&options, fmin(draw_share(random, kind), 0.999));
        fill(s, i, samples, n);
    }
}

/* ---- comparing ---- */

/* What was met, so that a comparison that compares nothing is seen. */
typedef struct tally {
    size_t drawn, none, least, cut, ticking;
} tally;

static void assert_close(double found, double expected, double tolerance, const char *what, size_t state)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s of state %zu: %.17g, expected %.17g", what, state, found, expected);
}

/* State i on the CPU, on a copy, against what came from the device. */
static void check_state(const scene *s, const sf_moving_there *there, size_t i, tally *met)
{
    double points[200], values[200], highest = 0;
    const double *found;
    const sf_moving_picture *picture = sf_moving_there_picture(there, i, &found);
    sf_moving_plan plan;
    sf_moving_density copy;
    assert_int_equal(sf_moving_plan_open(&plan, &s->plan.options, NULL), SF_OK);
    assert_int_equal(sf_moving_open(&copy, &plan, NULL), SF_OK);
    sf_moving_copy(&copy, &s->states[i]);
    int status = sf_moving_select(&copy, &plan, NULL);
    assert_int_equal(status == SF_OK, picture->h != 0);
    if (status == SF_OK) {
        sf_moving_picture expected;
        sf_moving_draw(&expected, &copy, &plan, &s->view, points, values);
        assert_close(picture->h, copy.h, 1e-9 * copy.h, "bandwidth", i);
        assert_close(picture->from, expected.from, 1e-12 * fabs(s->view.to - s->view.from), "start", i);
        assert_close(picture->step, expected.step, 1e-12 * expected.step, "step", i);
        for (uint32_t k = 0; k < s->view.bins; k++)
            highest = fmax(highest, values[k]);
        for (uint32_t k = 0; k < s->view.bins; k++) {
            assert_close(found[k], values[k], 1e-9 * highest, "density", i);
            assert_true(found[k] >= 0);
        }
        met->cut += expected.step < 0.999 * (s->view.to - s->view.from) / s->view.bins;
        met->least +=
            copy.h == fmax(sf_moving_least_bandwidth(&plan.options), sf_frame_least_bandwidth(&plan.frame));
    }
    met->drawn += status == SF_OK;
    met->none += status != SF_OK;
    met->ticking += copy.ticking > 0;
    sf_moving_close(&copy);
    sf_moving_plan_close(&plan);
}

static void draw_all(sf_moving_there *there, const scene *s)
{
    size_t which[MOST_STATES];
    sf_error error;
    for (size_t i = 0; i < s->count; i++)
        which[i] = i;
    if (sf_moving_there_draw(there, &s->plan, s->states, which, s->count, 3, &error) != SF_OK)
        fail_msg("%s", error.text);
}

/* The same job again gives the same bits. */
static void check_again(sf_moving_there *there, const scene *s)
{
    static double before[MOST_STATES][200];
    static sf_moving_picture pictures[MOST_STATES];
    const double *values;
    for (size_t i = 0; i < s->count; i++) {
        pictures[i] = *sf_moving_there_picture(there, i, &values);
        memcpy(before[i], values, s->view.bins * sizeof *values);
    }
    draw_all(there, s);
    for (size_t i = 0; i < s->count; i++) {
        assert_memory_equal(sf_moving_there_picture(there, i, &values), &pictures[i], sizeof *pictures);
        if (pictures[i].h != 0) assert_memory_equal(values, before[i], s->view.bins * sizeof *values);
    }
}

static void check_scene(const scene *s, sf_device *device, tally *met)
{
    sf_moving_there *there;
    sf_error error;
    if (sf_moving_there_open(&there, device, &s->plan, &s->view, &error) != SF_OK) fail_msg("%s", error.text);
    draw_all(there, s);
    for (size_t i = 0; i < s->count; i++)
        check_state(s, there, i, met);
    check_again(there, s);
    sf_moving_there_close(there);
}

static const sf_domain domains[] = {SF_DOMAIN_LOG, SF_DOMAIN_REFLECT, SF_DOMAIN_LINE};

static void check_device(sf_device *device)
{
    test_random random = test_random_start("moving densities", 51);
    tally met = {0};
    int rounds = test_rounds(6);
    for (int round = 0; round < rounds; round++)
        for (size_t d = 0; d < 3; d++)
            for (sf_moving_method method = SF_MOVING_ISJ; method <= SF_MOVING_FIXED; method++) {
                scene s;
                draw_scene(&s, &random, domains[d], method);
                check_scene(&s, device, &met);
                close_scene(&s);
            }
    printf("%s: %zu drawn, %zu cut, %zu with counts of ticks, %zu at the least bandwidth, %zu all equal\n",
           sf_device_name(device), met.drawn, met.cut, met.ticking, met.least, met.none);
    assert_true(met.drawn > 0 && met.cut > 0 && met.ticking > 0 && met.least > 0 && met.none > 0);
}

static void devices_draw_what_the_cpu_does(void **state)
{
    (void)state;
    sf_devices_close();
    if (test_no_device()) skip();
    uint32_t count = sf_device_count();
    for (uint32_t i = 0; i < count; i++)
        check_device(sf_device_at(i));
    sf_devices_close();
}

static sf_device *find(const char *name)
{
    sf_device *device;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    assert_int_equal(sf_device_find(&device, name, NULL), SF_OK);
    return device;
}

static void a_plugin_draws_what_the_cpu_does(void **state)
{
    (void)state;
    check_device(find("test:0"));
    sf_devices_close();
}

/* A scene with so many modes, on a device. */
typedef struct framed {
    scene s;
    sf_moving_there *there;
} framed;

static void open_framed(framed *f, sf_device *device, double b_least)
{
    double samples[300];
    const sf_moving_options options = {.least = 0, .most = 50, .b_least = b_least};
    test_random random = test_random_start("frames", 53);
    open_scene(&f->s, &options, 2, 20);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 300; k++)
            samples[k] = place(&options, draw_share(&random, (int)i));
        fill(&f->s, i, samples, 300);
    }
    assert_int_equal(sf_moving_there_open(&f->there, device, &f->s.plan, &f->s.view, NULL), SF_OK);
}

/* Each takes as much of a block's memory as it needs, also where one that needs less has come after it. */
static void check_sizes(sf_device *device)
{
    framed large, small;
    tally met = {0};
    open_framed(&large, device, 0.1);
    open_framed(&small, device, 4);
    assert_true(large.s.plan.frame.modes >= 8 * small.s.plan.frame.modes);
    const framed *const turns[] = {&large, &small, &large};
    for (size_t t = 0; t < 3; t++) {
        draw_all(turns[t]->there, &turns[t]->s);
        for (size_t i = 0; i < 2; i++)
            check_state(&turns[t]->s, turns[t]->there, i, &met);
    }
    assert_int_equal(met.drawn, 6);
    sf_moving_there_close(large.there);
    sf_moving_there_close(small.there);
    close_scene(&large.s);
    close_scene(&small.s);
}

static void frames_of_many_sizes_are_open_at_once(void **state)
{
    (void)state;
    sf_devices_close();
    for (uint32_t i = 0; i < sf_device_count(); i++)
        check_sizes(sf_device_at(i));
    check_sizes(find("test:0"));
    sf_devices_close();
}

/* A frame that no block holds. */
static void check_too_large(sf_device *device)
{
    const sf_moving_options options = {.least = 0, .most = 1, .b_least = 1e-4};
    scene s;
    sf_moving_there *there;
    sf_error error;
    open_scene(&s, &options, 1, 10);
    assert_true(s.plan.frame.modes > 4096);
    test_assert_fails(sf_moving_there_open(&there, device, &s.plan, &s.view, &error), &error, SF_UNAVAILABLE,
                      "a density of 32768 modes");
    assert_null(there);
    assert_false(sf_device_sick(device, NULL));
    close_scene(&s);
}

static void frames_that_are_too_large_are_refused(void **state)
{
    (void)state;
    sf_devices_close();
    for (uint32_t i = 0; i < sf_device_count(); i++)
        check_too_large(sf_device_at(i));
    check_too_large(find("test:0"));
    sf_devices_close();
}

/* ---- who draws in a hop ---- */

/* States that are followed, and a CPU that takes long to hand a picture over. */
typedef struct course {
    scene s;
    sf_telling telling;
    double h[MOST_STATES]; /* of what was taken in the hop; 0: none */
    useconds_t wait_us;
} course;

static void open_hops(course *c, const char *device, bool always, size_t count)
{
    double samples[300];
    const sf_moving_options options = {
        .least = 2e-5, .most = 1e3, .b_least = 0.2, .domain = SF_DOMAIN_LOG, .reselect = 0.2};
    test_random random = test_random_start("hops of densities", 52);
    *c = (course){0};
    open_scene(&c->s, &options, count, 16);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 300; k++)
            samples[k] = place(&options, draw_share(&random, i == 3 ? 4 : (int)(i % 3)));
        fill(&c->s, i, samples, 300);
    }
    const sf_telling_setup setup = {
        .threads = 1, .view = c->s.view, .device = device != NULL ? find(device) : NULL, .always = always};
    assert_int_equal(sf_telling_open(&c->telling, &c->s.plan, &setup, NULL), SF_OK);
    c->telling.contest.worth_ns = -1;
}

static void close_hops(course *c)
{
    sf_telling_close(&c->telling);
    close_scene(&c->s);
    sf_devices_close();
}

static int take(void *context, size_t i, const sf_moving_picture *picture, const double *values)
{
    course *c = context;
    c->h[i] = picture->h;
    assert_true(values[0] >= 0);
    if (!c->telling.was_there) usleep(c->wait_us);
    return 0;
}

/* One hop, in which the first `count` states have changed. */
static void hop(course *c, size_t count)
{
    size_t due[MOST_STATES];
    for (size_t i = 0; i < count; i++) {
        due[i] = i;
        c->s.states[i].changed = 1000;
    }
    memset(c->h, 0, sizeof c->h);
    const sf_telling_job job = {.plan = &c->s.plan,
                                .states = c->s.states,
                                .due = due,
                                .count = count,
                                .threads = 1,
                                .take = take,
                                .context = c};
    assert_int_equal(sf_telling_tell(&c->telling, &job, NULL), SF_OK);
    for (size_t i = 0; i < count; i++) {
        const sf_moving_density *state = &c->s.states[i];
        assert_true(i == 3 ? c->h[i] == 0 : c->h[i] > 0.19 && c->h[i] == state->h);
        assert_int_equal(state->changed, i == 3 ? 1000 : 0); /* one that has no picture stays due */
    }
}

static void assert_drawn(const course *c, const char *device, uint32_t drawn)
{
    assert_string_equal(sf_telling_device(&c->telling), device);
    assert_int_equal(test_plugin_work_of(TEST_PLUGIN)->drawn, drawn);
}

static void a_device_that_is_named_draws(void **state)
{
    (void)state;
    course h;
    open_hops(&h, "test:0", true, 8);
    hop(&h, 0);
    hop(&h, 8);
    assert_drawn(&h, "test:0", 8);
    hop(&h, 1);
    assert_drawn(&h, "test:0", 9);
    close_hops(&h);
}

/* The device gets ready in the first hop, is compared in the second, and draws from the third on; but not in
 * hops in which so few are due that the CPU is faster. */
static void the_faster_one_draws(void **state)
{
    (void)state;
    course h;
    open_hops(&h, "test:0", false, MOST_STATES);
    int64_t begin = sf_clock_monotonic_ns();
    hop(&h, 20);
    assert_drawn(&h, "cpu", 20);
    /* Of each of 20 more than a device takes for it, on a machine that is emulated, too. */
    h.wait_us = 10000 + (useconds_t)((sf_clock_monotonic_ns() - begin) / (20 * 250));
    hop(&h, 20);
    assert_drawn(&h, "cpu", 40);
    assert_in_range(h.telling.least, 1, 10);
    hop(&h, 20);
    assert_drawn(&h, "test:0", 60);
    h.telling.least = 5;
    hop(&h, 4);
    assert_drawn(&h, "cpu", 60);
    hop(&h, 5);
    assert_drawn(&h, "test:0", 65);
    close_hops(&h);
}

static void a_device_that_loses_is_asked_again_much_later(void **state)
{
    (void)state;
    course h;
    open_hops(&h, "test:0", false, 8);
    test_plugin_work_of(TEST_PLUGIN)->wait_ms = 100;
    for (int i = 0; i < SF_CONTEST_PATIENCE; i++) {
        hop(&h, 8);
        assert_drawn(&h, "cpu", i == 0 ? 8 : 16);
    }
    hop(&h, 8);
    hop(&h, 8);
    assert_drawn(&h, "cpu", 24);
    close_hops(&h);
}

/* Lost in the first job or the second, or it refuses every one, or the frame: the CPU draws in that hop, and
 * from then on. */
static void what_a_device_cannot_the_cpu_draws(void **state)
{
    (void)state;
    static const struct {
        const char *devices, *device;
        bool always;
        uint32_t drawn; /* before it is left */
    } cases[] = {{"d", "test:0", true, 4}, {"d", "test:0", false, 4},      {"wl", "test:1", true, 8 + 4},
                 {"r", "test:0", true, 0}, {"wl", "test:1", false, 8 + 4}, {"r", "test:0", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        course h;
        setenv("TEST_PLUGIN_DEVICES", cases[i].devices, 1);
        open_hops(&h, cases[i].device, cases[i].always, 8);
        for (int round = 0; round < 4; round++)
            hop(&h, 8);
        assert_drawn(&h, "cpu", cases[i].drawn);
        assert_null(h.telling.setup.device);
        close_hops(&h);
    }
    unsetenv("TEST_PLUGIN_DEVICES");
}

static int follow_there(void *context)
{
    const bool *always = context;
    scene s = {0};
    sf_telling telling = {0};
    double samples[60];
    const sf_moving_options options = {.least = 0, .most = 10, .b_least = 1};
    const sf_moving_view view = {.from = 0, .to = 10, .bins = 4};
    size_t due = 0;
    int status = sf_devices_use(TEST_PLUGIN, NULL);
    if (status == SF_OK) status = sf_moving_plan_open(&s.plan, &options, NULL);
    if (status == SF_OK) status = sf_moving_open(&s.states[0], &s.plan, NULL);
    for (int i = 0; i < 60; i++)
        samples[i] = 3 + sin(i);
    if (status == SF_OK) sf_moving_add(&s.states[0], &s.plan, samples, 60);
    const sf_telling_setup setup = {
        .threads = 1, .view = view, .device = status == SF_OK ? sf_device_at(0) : NULL, .always = *always};
    if (status == SF_OK) status = sf_telling_open(&telling, &s.plan, &setup, NULL);
    telling.contest.worth_ns = -1;
    course taken = {.telling = {.was_there = true}};
    for (int i = 0; status == SF_OK && i < 3; i++)
        status = sf_telling_tell(&telling,
                                 &(sf_telling_job){.plan = &s.plan,
                                                   .states = s.states,
                                                   .due = &due,
                                                   .count = 1,
                                                   .threads = 1,
                                                   .take = take,
                                                   .context = &taken},
                                 NULL);
    sf_telling_close(&telling);
    sf_moving_close(&s.states[0]);
    sf_moving_plan_close(&s.plan);
    sf_devices_close();
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    bool always[] = {true, false};
    test_fail_every_allocation(follow_there, &always[0]);
    test_fail_every_allocation(follow_there, &always[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_draw_what_the_cpu_does),
        cmocka_unit_test(a_plugin_draws_what_the_cpu_does),
        cmocka_unit_test(frames_of_many_sizes_are_open_at_once),
        cmocka_unit_test(frames_that_are_too_large_are_refused),
        cmocka_unit_test(a_device_that_is_named_draws),
        cmocka_unit_test(the_faster_one_draws),
        cmocka_unit_test(a_device_that_loses_is_asked_again_much_later),
        cmocka_unit_test(what_a_device_cannot_the_cpu_draws),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
