/* SPDX-License-Identifier: Apache-2.0 */
/* What reading, converting and time-ordering a recording costs beside a bare H5Dread of its spike times, each
 * the best of several runs with the file in the page cache: bench_read FILE... Small files show what opening
 * the metadata costs, and uncompressed ones that their H5Dread is a copy in memory. */
#include "core/clock.h"
#include "core/memory.h"
#include "io/hdf.h"
#include "replay/recording_file.h"

#include <stdio.h>
#include <string.h>

#define RUNS 15

static const struct {
    const char *path;
    size_t size;
} times[] = {{"/spikes", 8},
             {"/units/spike_times", 8},
             {"/spikes/time_ns", 8},
             {"/spikes/unit", 4},
             {"/spikes/amplitude", 4}};

/* Opens the file, reads the datasets that hold its spikes as they are stored, closes it. */
static bool read_bare(const char *path)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return false;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (!sf_hdf_is_dataset(file, times[i].path))
            continue;
        hid_t dataset = H5Dopen2(file, times[i].path, H5P_DEFAULT);
        hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
        size_t count = (size_t)H5Sget_simple_extent_npoints(space);
        void *values = sf_resize(NULL, count, times[i].size);
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        sf_free(values);
        H5Tclose(type);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    return true;
}

static int measure(const char *path)
{
    double bare = 1e9, whole = 1e9;
    size_t spikes = 0;
    for (int run = 0; run < RUNS; run++) {
        double start = sf_clock_seconds();
        if (!read_bare(path)) {
            fprintf(stderr, "%s: no HDF5 file\n", path);
            return 1;
        }
        double middle = sf_clock_seconds();
        sf_recording recording;
        sf_error error;
        if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK) {
            fprintf(stderr, "%s: %s\n", path, error.text);
            return 1;
        }
        double end = sf_clock_seconds();
        spikes = recording.spike_count;
        sf_recording_clear(&recording);
        bare = middle - start < bare ? middle - start : bare;
        whole = end - middle < whole ? end - middle : whole;
    }
    const char *name = strrchr(path, '/');
    printf("%-60.60s %9zu %9.2f %9.2f %7.2f\n", name != NULL ? name + 1 : path, spikes, bare * 1e3,
           whole * 1e3, whole / bare);
    return 0;
}

int main(int argc, char **argv)
{
    sf_hdf_begin();
    printf("%-60s %9s %9s %9s %7s\n", "file", "spikes", "H5Dread", "all, ms", "times");
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= measure(argv[i]);
    return failed;
}
