/* SPDX-License-Identifier: Apache-2.0 */
/* Seconds of every way of every operation, on the CPU and on each device: bench_ways [SPIKES]. The cases are
 * those that tests/io/test_ways.c holds against each other. */
#include "support/ways.h"

#include "core/backend/find.h"

enum { RUNS = 3 };

static void time_way(const test_way_case *operation, const sf_way *way, const char *device,
                     const test_input *input)
{
    static test_answer answer;
    sf_error error;
    double best = 0;
    for (int i = 0; i < RUNS; i++) {
        answer = (test_answer){0};
        if (operation->run(&answer, input, way->engine, device, &error) != SF_OK) {
            printf("| %s | %s | %s | | %s |\n", operation->operation, way->engine, device, error.text);
            return;
        }
        best = i == 0 || answer.ran.seconds < best ? answer.ran.seconds : best;
    }
    printf("| %s | %s | %s | %.6f | %s |\n", operation->operation, way->engine, answer.ran.device, best,
           answer.ran.note);
}

int main(int count, char **arguments)
{
    size_t size = count > 1 ? strtoull(arguments[1], NULL, 10) : 100000;
    test_input input;
    test_input_make(&input, size > 0 ? size : 1, 91);
    printf("| operation | engine | device | seconds | note |\n|---|---|---|---|---|\n");
    for (const test_way_case *operation = test_way_cases; operation->operation != NULL; operation++)
        for (size_t w = 0; operation->ways[w] != NULL; w++) {
            const sf_way *way = operation->ways[w];
            for (uint32_t d = 0; way->on_devices && d < sf_device_count(); d++)
                time_way(operation, way, sf_device_name(sf_device_at(d)), &input);
            if (!way->on_devices) time_way(operation, way, "cpu", &input);
        }
    test_input_free(&input);
    return 0;
}
