/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATLAB files of v5 that libmatio writes of what the input says, as it itself loops over damaged ones, for
 * which there is the process that reads: a recording in order, or a refusal. A variable is a byte for its
 * name and class, one for its shape, and numbers of two bytes.
 */
#include "fuzz/file_input.h"
#include "fuzz/recording_input.h"
#include "replay/mat.h"
#include "replay/reader.h"
#include "support/read_hdf5.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef SYNFIRE_HAVE_MATIO

#include <matio.h>

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static unsigned take_byte(bytes *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static const char *const names[] = {"spikeTimes", "channels",       "spikeDetectionResult",
                                    "params",     "unit",           "fs",
                                    "duration",   "thr5",           "spikes",
                                    "sig001a",    "spike_times_ms", "spike_clusters",
                                    "samples",    "cell_time",      "t",
                                    "x"};

static matvar_t *make(bytes *in, const char *name, int depth)
{
    unsigned kind = take_byte(in), shape = take_byte(in);
    size_t size[] = {shape % 3, shape / 3 % 16}, count = size[0] * size[1];
    if (kind % 4 == 0 && depth < 5) {
        matvar_t *cell = Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, size, NULL, 0);
        for (size_t i = 0; cell != NULL && i < count && in->at < in->end; i++)
            Mat_VarSetCell(cell, (int)i, make(in, NULL, depth + 1));
        return cell;
    }
    if (kind % 4 == 1 && depth < 5) {
        const char *fields[] = {names[kind / 4 % 16], names[(kind / 4 + 1) % 16]};
        matvar_t *of = Mat_VarCreateStruct(name, 2, size, fields, 2);
        for (size_t i = 0; of != NULL && i < 2 * count && in->at < in->end; i++)
            Mat_VarSetStructFieldByIndex(of, i % 2, i / 2, make(in, NULL, depth + 1));
        return of;
    }
    double numbers[32];
    uint8_t text[32];
    for (size_t i = 0; i < count; i++) {
        unsigned low = take_byte(in), code = low | take_byte(in) << 8;
        numbers[i] = code == 0xffff ? 0.0 / 0.0 : code == 0xfffe ? 1e300 : ((double)code - 1000) / 64;
        text[i] = (uint8_t)(low % 128);
    }
    return kind % 4 == 2 ? Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UINT8, 2, size, text, 0)
                         : Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, numbers, 0);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    bytes in = {data, data + size};
    mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    for (int i = 0; file != NULL && in.at < in.end && i < 16; i++) {
        matvar_t *variable = make(&in, names[take_byte(&in) % 16], 0);
        if (variable != NULL) Mat_VarWrite(file, variable, MAT_COMPRESSION_NONE);
        Mat_VarFree(variable);
    }
    Mat_Close(file);
}

#else

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    (void)path, (void)data, (void)size;
}

#endif

static int read_file(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    const sf_hdf_input input = {.file = H5I_INVALID_HID, .path = path, .stream = how->stream};
    return test_read_hdf5(recording, &input, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sf_reading ways[] = {{0}, {.stream = "thr5"}};
    file_input file = open_input(data, 0);
    write_file(file.path, data, size);
    if (sf_mat_has_signature(file.path))
        read_each_way(file.path, ways, sizeof ways / sizeof ways[0], read_file);
    close_input(&file);
    return 0;
}
