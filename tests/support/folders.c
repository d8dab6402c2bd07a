/* SPDX-License-Identifier: Apache-2.0 */
#include "support/folders.h"

#include "support/support.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

char *test_folder_new(void)
{
    char name[] = "/tmp/synfire-folder-XXXXXX";
    assert_non_null(mkdtemp(name));
    return strdup(name);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

void test_folder_remove(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void test_folder_put(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    for (int i = (int)strlen(folder) + 1; i < length; i++) {
        if (path[i] != '/') continue;
        path[i] = '\0';
        mkdir(path, 0700);
        path[i] = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

void test_folder_take(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

/* One number as the type that stands at `descr`, "<i8" or so; how many bytes that are. */
static size_t put_number(unsigned char *to, const char *descr, double number)
{
    size_t width = (size_t)(descr[2] - '0') * (descr[1] == 'U' ? 4 : 1);
    bool swapped = descr[0] == '>';
    float single = (float)number;
    int64_t integer = (int64_t)number;
    unsigned char bytes[8] = {0};
    if (descr[1] == 'f')
        memcpy(bytes, width == 4 ? (const void *)&single : (const void *)&number, width);
    else
        memcpy(bytes, &integer, sizeof integer);
    for (size_t b = 0; b < width; b++)
        to[b] = bytes[swapped ? width - 1 - b : b];
    return width;
}

unsigned char *test_array_bytes(size_t *size, const char *descr, const char *shape, size_t count,
                                const double *numbers)
{
    char header[600];
    bool record = descr[0] == '[';
    int length = snprintf(header, sizeof header,
                          record ? "{'descr': %s, 'fortran_order': False, 'shape': %s, }"
                                 : "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          descr, shape);
    while ((length + 11) % 64 != 0)
        header[length++] = ' ';
    header[length++] = '\n';
    unsigned char *bytes = malloc(10 + (size_t)length + 8 * count);
    assert_non_null(bytes);
    memcpy(bytes, (const unsigned char[]){0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}, 8);
    bytes[8] = (unsigned char)(length & 0xff);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, header, (size_t)length);
    *size = 10 + (size_t)length;
    const char *at = descr;
    for (size_t i = 0; i < count; i++) {
        if (record) {
            at = strpbrk(at, "<>|");
            at = at != NULL ? at : strpbrk(descr, "<>|");
        }
        *size += put_number(bytes + *size, at, numbers[i]);
        at += record ? 1 : 0;
    }
    return bytes;
}

void test_folder_array(const char *folder, const char *name, const char *descr, const char *shape,
                       size_t count, const double *numbers)
{
    size_t size;
    unsigned char *bytes = test_array_bytes(&size, descr, shape, count, numbers);
    test_folder_put(folder, name, bytes, size);
    free(bytes);
}

static void put_text(const char *folder, const char *name, const char *text)
{
    test_folder_put(folder, name, text, strlen(text));
}

/* ---- Phy ---- */

void test_fill_phy(const char *folder)
{
    static const double samples[] = {2000, 10000, 10000, 25000, 40000, 60000},
                        clusters[] = {9, 2, 5, 2, 5, 2}, templates[] = {1, 2, 0, 2, 0, 2},
                        map[] = {10, 11, 12}, positions[] = {0, 0, 20, 0, 0, 40},
                        amplitudes[] = {1, 2, 3, 4, 5, 6};
    /* Three templates of two samples on three channels: the largest on channel 1, 2 and 0. */
    static const double shapes[] = {0, 1, 0, 0, -1, 0, 0, 0, 5, 0, 1, -5, 3, 0, 0, -3, 1, 0};
    test_folder_array(folder, "spike_times.npy", "<u8", "(6, 1)", 6, samples);
    test_folder_array(folder, "spike_clusters.npy", "<i4", "(6,)", 6, clusters);
    test_folder_array(folder, "spike_templates.npy", "<u4", "(6, 1)", 6, templates);
    test_folder_array(folder, "amplitudes.npy", "<f8", "(6,)", 6, amplitudes);
    test_folder_array(folder, "templates.npy", "<f4", "(3, 2, 3)", 18, shapes);
    test_folder_array(folder, "channel_map.npy", "<i4", "(3, 1)", 3, map);
    test_folder_array(folder, "channel_positions.npy", "<f8", "(3, 2)", 6, positions);
    put_text(folder, "params.py",
             "dat_path = 'x.dat'\nn_channels_dat = 3\r\n  sample_rate = 20000.\nhp_filtered = False\n");
    put_text(folder, "cluster_KSLabel.tsv", "cluster_id\tKSLabel\n2\tmua\n5\tgood\n");
    put_text(folder, "cluster_group.tsv", "cluster_id\tgroup\r\n2\tgood\r\n5\tmua\r\n9\tnoise\r\n");
    put_text(folder, "cluster_info.tsv", "cluster_id\tamp\tch\tgroup\n9\t1.5\t12\t\n");
}

/* ---- SpikeInterface ---- */

void test_fill_spikeinterface(const char *folder)
{
    static const double rows[] = {1000, 2,     0, 5000, 0,     0, 5000, 1, 0, 12500, 0,
                                  0,    20000, 1, 0,    30000, 0, 0,    7, 1, 1};
    test_folder_array(folder, "spikes.npy",
                      "[('sample_index', '<i8'), ('unit_index', '<i8'), ('segment_index', '<i8')]", "(7,)",
                      21, rows);
    put_text(folder, "numpysorting_info.json",
             "{\"sampling_frequency\": 10000.0, \"unit_ids\": [\"a\", \"b\", \"c\"], \"num_segments\": 2}");
}

static void put_bytes(unsigned char *to, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(number >> 8 * i);
}

/* Without the end of the text. */
static void put_letters(unsigned char *to, const char *text)
{
    while (*text != '\0')
        *to++ = (unsigned char)*text++;
}

/* The bytes of a member as they lie in the archive; free() takes them. */
static unsigned char *pack(const test_member *of, bool is_packed, size_t *size, size_t *length,
                           uLong *checksum)
{
    unsigned char *bytes = test_array_bytes(length, of->descr, of->shape, of->count, of->numbers);
    *checksum = crc32(0, bytes, (uInt)*length);
    *size = *length;
    if (!is_packed) return bytes;
    z_stream stream = {.next_in = bytes, .avail_in = (uInt)*length};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    *size = deflateBound(&stream, *length);
    unsigned char *packed = calloc(*size, 1);
    assert_non_null(packed);
    stream.next_out = packed;
    stream.avail_out = (uInt)*size;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *size = stream.total_out;
    deflateEnd(&stream);
    free(bytes);
    return packed;
}

/* What the archive's list says of a member. */
static size_t put_entry(unsigned char *entry, const char *name, const test_packing *how, uint64_t size,
                        uint64_t length, uLong checksum)
{
    size_t name_length = strlen(name);
    put_letters(entry, "PK\1\2");
    put_bytes(entry + 8, how->flags, 2);
    put_bytes(entry + 10, how->method != 0 ? how->method : how->is_stored ? 0 : 8, 2);
    put_bytes(entry + 16, checksum ^ how->wrong, 4);
    put_bytes(entry + 20, how->says_packed != 0 ? how->says_packed : size, 4);
    put_bytes(entry + 24, how->says_length != 0 ? how->says_length : length, 4);
    put_bytes(entry + 28, name_length, 2);
    put_letters(entry + 46, name);
    return 46 + name_length;
}

/* Members, a directory of them, and the archive's end. */
void test_folder_archive(const char *folder, const char *file, size_t count, const test_member *members,
                         const test_packing *packing)
{
    static const test_packing as_it_is = {.is_stored = true};
    const test_packing *how = packing != NULL ? packing : &as_it_is;
    unsigned char *archive = NULL, directory[1024] = {0}, end[22] = "PK\5\6";
    size_t at = 0, listed = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size, length, name = strlen(members[i].name), head = 34 + name;
        uLong checksum;
        unsigned char *bytes = pack(&members[i], !how->is_stored, &size, &length, &checksum);
        put_bytes(directory + listed + 42, at, 4);
        listed += put_entry(directory + listed, members[i].name, how, size, length, checksum);
        archive = realloc(archive, at + head + size);
        assert_non_null(archive);
        memset(archive + at, 0, head);
        put_letters(archive + at, "PK\3\4");
        put_bytes(archive + at + 26, name, 2);
        put_bytes(archive + at + 28, 4, 2); /* something more, as NumPy has there */
        put_letters(archive + at + 30, members[i].name);
        memcpy(archive + at + head, bytes, size);
        at += head + size;
        free(bytes);
    }
    put_bytes(end + 10, count, 2);
    put_bytes(end + 12, listed, 4);
    put_bytes(end + 16, at, 4);
    archive = realloc(archive, at + listed + sizeof end);
    assert_non_null(archive);
    memcpy(archive + at, directory, listed);
    memcpy(archive + at + listed, end, sizeof end);
    test_folder_put(folder, file, archive, at + listed + sizeof end);
    free(archive);
}

static void fill_npz(const char *folder, const char *descr, const double ids[3])
{
    static const double samples[] = {1000, 5000, 5000, 12500, 20000, 30000}, one[] = {1}, rate[] = {10000};
    const double labels[] = {ids[2], ids[0], ids[1], ids[0], ids[1], ids[0]};
    test_folder_archive(folder, "sorting_cached.npz", 5,
                        (const test_member[]){{"unit_ids.npy", descr, "(3,)", 3, ids},
                                              {"num_segment.npy", "<i8", "(1,)", 1, one},
                                              {"sampling_frequency.npy", "<f8", "(1,)", 1, rate},
                                              {"spike_indexes_seg0.npy", "<i8", "(6,)", 6, samples},
                                              {"spike_labels_seg0.npy", descr, "(6,)", 6, labels}},
                        NULL);
}

void test_fill_npz_of_one(const char *folder)
{
    static const double ids[] = {7, 8, 9}, samples[] = {1000, 5000, 5000, 12500, 20000, 30000},
                        labels[] = {9, 7, 8, 7, 8, 7}, rate[] = {10000};
    test_folder_archive(folder, "sorting_cached.npz", 4,
                        (const test_member[]){{"unit_ids.npy", "<i8", "(3,)", 3, ids},
                                              {"sampling_frequency.npy", "<f8", "(1,)", 1, rate},
                                              {"spike_indexes.npy", "<i8", "(6,)", 6, samples},
                                              {"spike_labels.npy", "<i8", "(6,)", 6, labels}},
                        NULL);
}

void test_fill_npz(const char *folder)
{
    fill_npz(folder, "<i8", (const double[]){7, 8, 9});
}

void test_fill_npz_of_names(const char *folder)
{
    const double second = 4294967296.0; /* a character's place in the number */
    fill_npz(folder, "<U2", (const double[]){'n' + second * '7', 0xb5 + second * '8', 'x'});
}

/* ---- pynapple ---- */

static const double pynapple_seconds[] = {0.1, 0.5, 0.5, 1.25, 2, 3}, pynapple_starts[] = {0, 1},
                    pynapple_ends[] = {0.75, 4};

static void fill_pynapple(const char *folder, const test_packing *packing)
{
    static const double units[] = {9, 7, 8, 7, 8, 7}, keys[] = {7, 8, 9};
    test_folder_archive(folder, "group.npz", 5,
                        (const test_member[]){{"t.npy", "<f8", "(6,)", 6, pynapple_seconds},
                                              {"start.npy", "<f8", "(2,)", 2, pynapple_starts},
                                              {"end.npy", "<f8", "(2,)", 2, pynapple_ends},
                                              {"index.npy", "<i8", "(6,)", 6, units},
                                              {"keys.npy", "<i8", "(3,)", 3, keys}},
                        packing);
}

void test_fill_pynapple(const char *folder)
{
    fill_pynapple(folder, NULL);
}

void test_fill_pynapple_packed(const char *folder)
{
    fill_pynapple(folder, &(test_packing){0});
}

void test_fill_pynapple_epochs(const char *folder)
{
    static const double starts[] = {0, 0.8, 1, 5}, ends[] = {0.75, 0.8, 4, 5};
    test_folder_archive(folder, "epochs.npz", 3,
                        (const test_member[]){{"t.npy", "<f8", "(6,)", 6, pynapple_seconds},
                                              {"start.npy", "<f8", "(4,)", 4, starts},
                                              {"end.npy", "<f8", "(4,)", 4, ends}},
                        NULL);
}

void test_fill_pynapple_ts(const char *folder, bool has_values)
{
    static const double start[] = {0.1}, end[] = {3};
    test_folder_archive(folder, "ts.npz", has_values ? 4 : 3,
                        (const test_member[]){{"t.npy", "<f8", "(6,)", 6, pynapple_seconds},
                                              {"start.npy", "<f8", "(1,)", 1, start},
                                              {"end.npy", "<f8", "(1,)", 1, end},
                                              {"d.npy", "<f8", "(6,)", 6, pynapple_seconds}},
                        NULL);
}

/* ---- Open Ephys ---- */

static void fill_open_ephys(const char *folder, bool newer)
{
    static const double a[] = {15000, 15000, 37500, 60000, 90000}, electrodes[] = {1, 2, 1, 2, 1},
                        unsorted[] = {0, 0, 0, 0, 0}, b[] = {3000}, electrode[] = {1}, sorted[] = {3},
                        edges[] = {30000, 45000}, states[] = {3, -3};
    const char *samples = newer ? "sample_numbers.npy" : "spike_times.npy";
    char name[100], text[2000];
    const struct {
        const char *folder;
        size_t count;
        const double *samples, *electrodes, *clusters;
    } parts[] = {{"one", 5, a, electrodes, unsorted}, {"two", 1, b, electrode, sorted}};
    for (size_t i = 0; i < 2; i++) {
        const char *shape = i == 0 ? "(5,)" : "(1,)";
        snprintf(name, sizeof name, "spikes/%s/%s", parts[i].folder, samples);
        test_folder_array(folder, name, "<i8", shape, parts[i].count, parts[i].samples);
        snprintf(name, sizeof name, "spikes/%s/%selectrode_indices.npy", parts[i].folder,
                 newer ? "" : "spike_");
        test_folder_array(folder, name, "<u2", shape, parts[i].count, parts[i].electrodes);
        snprintf(name, sizeof name, "spikes/%s/%sclusters.npy", parts[i].folder, newer ? "" : "spike_");
        test_folder_array(folder, name, "<u2", shape, parts[i].count, parts[i].clusters);
    }
    test_folder_array(folder, newer ? "events/TTL/sample_numbers.npy" : "events/TTL/timestamps.npy", "<i8",
                      "(2,)", 2, edges);
    test_folder_array(folder, newer ? "events/TTL/states.npy" : "events/TTL/channel_states.npy", "<i2",
                      "(2,)", 2, states);
    const char *key = newer ? "folder" : "folder_name", *stream = newer ? "\"stream_name\": \"probe\", " : "";
    snprintf(text, sizeof text,
             "{\"GUI version\": \"%s\", \"spikes\": ["
             "{\"name\": \"E\", %s\"%s\": \"one/\", \"sample_rate\": 30000.0},"
             "{\"name\": \"T\", %s\"%s\": \"two\", \"sample_rate\": 30000.0}],"
             "\"events\": [{\"folder_name\": \"TTL/\", %s\"sample_rate\": 30000.0}]}",
             newer ? "0.6.7" : "0.5.5", stream, key, stream, key, stream);
    put_text(folder, "structure.oebin", text);
}

void test_fill_open_ephys(const char *folder)
{
    fill_open_ephys(folder, true);
}

void test_fill_open_ephys_before_0_6(const char *folder)
{
    fill_open_ephys(folder, false);
}
