/* SPDX-License-Identifier: Apache-2.0 */
#include "support/systems.h"

#include "support/support.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- MaxWell ---- */

static void put_mapping(hid_t file, const char *path)
{
    static const double channels[] = {4, 7, -1, 2, 9}, electrodes[] = {441, 220, 12, 0, -1},
                        x[] = {17.5, 0, 210, 0, 0}, y[] = {35, 17.5, 0, 0, 0};
    test_hdf_table(file, path, 5, /* -1: not connected */
                   (const test_hdf_field[]){{"channel", H5T_STD_I32LE, channels, NULL},
                                            {"electrode", H5T_STD_I32LE, electrodes, NULL},
                                            {"x", H5T_IEEE_F64LE, x, NULL},
                                            {"y", H5T_IEEE_F64LE, y, NULL}},
                   4);
}

static void put_spike_table(hid_t file, const char *path, double rate, double first)
{
    const double seconds[] = {-0.001, 0.1, 0.5, 0.5, 1.25, 1.5, 2, 3}, channels[] = {4, 2, 4, 7, 4, 9, 7, 4},
                 amplitudes[] = {-1, -2, -3, -4, -5, -6, -7, -8};
    double frames[8];
    for (size_t i = 0; i < 8; i++)
        frames[i] = first + seconds[i] * rate;
    test_hdf_table(file, path, 8,
                   (const test_hdf_field[]){{"frameno", H5T_STD_I64LE, frames, NULL},
                                            {"channel", H5T_STD_I32LE, channels, NULL},
                                            {"amplitude", H5T_IEEE_F32LE, amplitudes, NULL}},
                   3);
}

void test_fill_maxwell_old(hid_t file)
{
    static const char *const version[] = {"20160704"};
    static double raw[1028 * 2];
    raw[2 * 1026] = 70000 & 0xffff;
    raw[2 * 1027] = 70000 >> 16;
    test_hdf_strings(file, "/version", 0, 1, version);
    put_mapping(file, "/mapping");
    test_hdf_numbers(file, "/sig", H5T_STD_U16LE, 1028, 2, raw);
    put_spike_table(file, "/proc0/spikeTimes", 20000, 70000);
}

static void put_well(hid_t file, const char *store, bool empty)
{
    static const double rate[] = {10000}, bounds[] = {1000, 1001, 50999};
    char path[200];
    snprintf(path, sizeof path, "%s/settings/mapping", store);
    put_mapping(file, path);
    snprintf(path, sizeof path, "%s/settings/sampling", store);
    test_hdf_numbers(file, path, H5T_IEEE_F64LE, 1, 0, rate);
    snprintf(path, sizeof path, "%s/groups/routed/frame_nos", store);
    test_hdf_numbers(file, path, H5T_STD_U64LE, 3, 0, bounds);
    snprintf(path, sizeof path, "%s/groups/routed/raw", store); /* which needs a filter of the vendor's */
    test_hdf_packed(file, path, 401, 3, bounds);
    snprintf(path, sizeof path, "%s/spikes", store);
    static const double frame[] = {2000}, channel[] = {7};
    if (empty)
        test_hdf_table(file, path, 1,
                       (const test_hdf_field[]){{"frameno", H5T_STD_I64LE, frame, NULL},
                                                {"channel", H5T_STD_I32LE, channel, NULL}},
                       2);
    else
        put_spike_table(file, path, 10000, 1000);
}

void test_fill_maxwell_new(hid_t file)
{
    static const char *const version[] = {"20190530"};
    static const char *const links[][2] = {{"/wells/well000/rec0000", "/data_store/data0000"},
                                           {"/wells/well000/rec0001", "/data_store/data0001"},
                                           {"/wells/well001/rec0000", "/data_store/data0002"}};
    test_hdf_strings(file, "/version", 0, 1, version);
    test_hdf_group(file, "/wells/well000");
    test_hdf_group(file, "/wells/well001");
    for (size_t i = 0; i < COUNT(links); i++) {
        put_well(file, links[i][1], i > 0);
        assert_true(H5Lcreate_soft(links[i][1], file, links[i][0], H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
}

/* ---- 3Brain ---- */

void test_fill_bxr_2(hid_t file)
{
    static const double times[] = {5000, 12500, 30000, 5000, 20000, 1000},
                        channels[] = {65, 65, 65, 70, 70, 65}, units[] = {-1, 0, 0, 0, 0, 2},
                        rate[] = {10000}, frames[] = {40000}, columns[] = {64};
    static const double in[] = {10000}, out[] = {15000}, type[] = {1};
    static const char *const text[] = {"light"};
    test_hdf_attribute(file, "/", "Description", true, "BXR-File Level2");
    test_hdf_numbers(file, "/3BRecInfo/3BRecVars/SamplingRate", H5T_IEEE_F64LE, 1, 0, rate);
    test_hdf_numbers(file, "/3BRecInfo/3BRecVars/NRecFrames", H5T_STD_I64LE, 1, 0, frames);
    test_hdf_numbers(file, "/3BRecInfo/3BMeaChip/NCols", H5T_STD_U32LE, 1, 0, columns);
    test_hdf_numbers(file, "/3BResults/3BChEvents/SpikeTimes", H5T_STD_I64LE, 6, 0, times);
    test_hdf_numbers(file, "/3BResults/3BChEvents/SpikeChIDs", H5T_STD_I32LE, 6, 0, channels);
    test_hdf_numbers(file, "/3BResults/3BChEvents/SpikeUnits", H5T_STD_I32LE, 6, 0, units);
    test_hdf_table(file, "/3BUserInfo/ExpMarkers", 1,
                   (const test_hdf_field[]){{"Type", H5T_STD_I16LE, type, NULL},
                                            {"MarkIn", H5T_STD_I64LE, in, NULL},
                                            {"MarkOut", H5T_STD_I64LE, out, NULL},
                                            {"Desc", 0, NULL, text}},
                   4);
}

void test_fill_bxr_3(hid_t file)
{
    static const double times[] = {1000, 5000, 5000, 12500, 20000, 30000}, channels[] = {2, 0, 1, 0, 1, 0},
                        units[] = {0, 0, 0, 0, 0, 0}, pieces[] = {0, 20000, 20000, 40000};
    static const char *const settings[] = {
        "{\"TimeConverter\": {\"FrameRate\": 10000.0}, \"MeaPlate\": {\"Model\": \"CorePlate1W\"}}"};
    test_hdf_strings(file, "/ExperimentSettings", 0, 0, settings);
    test_hdf_numbers(file, "/TOC", H5T_STD_I64LE, 2, 2, pieces);
    test_hdf_numbers(file, "/Well_A1/SpikeTimes", H5T_STD_I64LE, 6, 0, times);
    test_hdf_numbers(file, "/Well_A1/SpikeChIdxs", H5T_STD_I32LE, 6, 0, channels);
    test_hdf_numbers(file, "/Well_A1/SpikeUnits", H5T_STD_I32LE, 6, 0, units);
    test_hdf_numbers(file, "/Well_B2/SpikeTimes", H5T_STD_I64LE, 1, 0, times);
    test_hdf_numbers(file, "/Well_B2/SpikeChIdxs", H5T_STD_I32LE, 1, 0, channels);
}

/* ---- Multi Channel Systems ---- */

void test_fill_mcs(hid_t file)
{
    static const double ids[] = {2, 1, 0}, exponents[] = {-6, -6, -6}, sources[] = {2, 1, 0};
    static const double a[] = {500000, 1250000, 3000000}, b[] = {500000, 2000000}, c[] = {100000};
    static const double events[] = {1000000, 2000000, 0, 250000};
    static const char *const labels[] = {"C3   \r\n", "12   \r\n", "E8   \r\n"},
                             *const units[] = {"s", "s", "s"}, *const channels[] = {"2", "1", "0"};
#define STREAMS "/Data/Recording_0"
    test_hdf_attribute(file, "/", "McsHdf5ProtocolType", false, "RawData");
    test_hdf_table(file, STREAMS "/TimeStampStream/Stream_0/InfoTimeStamp", 3,
                   (const test_hdf_field[]){{"TimeStampEntityID", H5T_STD_I32LE, ids, NULL},
                                            {"Unit", 0, NULL, units},
                                            {"Exponent", H5T_STD_I32LE, exponents, NULL},
                                            {"SourceChannelLabels", 0, NULL, labels}},
                   4);
    test_hdf_numbers(file, STREAMS "/TimeStampStream/Stream_0/TimeStampEntity_0", H5T_STD_I64LE, 1, 3, a);
    test_hdf_numbers(file, STREAMS "/TimeStampStream/Stream_0/TimeStampEntity_1", H5T_STD_I64LE, 1, 2, b);
    test_hdf_numbers(file, STREAMS "/TimeStampStream/Stream_0/TimeStampEntity_2", H5T_STD_I64LE, 1, 1, c);
    test_hdf_attribute(file, STREAMS "/TimeStampStream/Stream_0", "DataSubType", false, "NeuralSpike");
    test_hdf_table(file, STREAMS "/SegmentStream/Stream_0/InfoSegment", 3,
                   (const test_hdf_field[]){{"SegmentID", H5T_STD_I32LE, ids, NULL},
                                            {"SourceChannelIDs", 0, NULL, channels}},
                   2);
    test_hdf_table(
        file, STREAMS "/SegmentStream/Stream_0/SourceInfoChannel", 3,
        (const test_hdf_field[]){{"ChannelID", H5T_STD_I32LE, sources, NULL}, {"Label", 0, NULL, labels}}, 2);
    test_hdf_numbers(file, STREAMS "/SegmentStream/Stream_0/SegmentData_ts_0", H5T_STD_I64LE, 1, 3, a);
    test_hdf_numbers(file, STREAMS "/SegmentStream/Stream_0/SegmentData_ts_1", H5T_STD_I64LE, 1, 2, b);
    test_hdf_numbers(file, STREAMS "/SegmentStream/Stream_0/SegmentData_ts_2", H5T_STD_I64LE, 1, 1, c);
    test_hdf_attribute(file, STREAMS "/SegmentStream/Stream_0", "DataSubType", false, "Spike");
    test_hdf_numbers(file, STREAMS "/EventStream/Stream_0/EventEntity_0", H5T_STD_I64LE, 2, 2, events);
    test_hdf_attribute(file, "/Data", "MeaName", false, "60MEA200/30iR   ");
    test_hdf_attribute_number(file, STREAMS, "Duration", H5T_STD_I64LE, 4000000);
#undef STREAMS
}

void test_fill_mcs_cmos(hid_t file)
{
    static const double times[] = {100000, 500000, 500000, 1250000, 2000000, 3000000},
                        sensors[] = {700, 12, 66, 12, 66, 12}, cut[] = {1, 2, 3, 4, 5, 6};
    test_hdf_attribute(file, "/", "ID.Type", true, "McsData");
    test_hdf_table(file, "/Spike Explorer/Unit/SpikeData", 6,
                   (const test_hdf_field[]){{"SensorID", H5T_STD_I16LE, sensors, NULL},
                                            {"Timestamp", H5T_STD_I64LE, times, NULL},
                                            {"x1", H5T_IEEE_F32LE, cut, NULL}},
                   3);
}

/* ---- Cortical Labs ---- */

void test_fill_cortical(hid_t file)
{
    static const double frames[] = {2500, 12500, 12500, 31250, 50000, 75000}, channels[] = {2, 0, 1, 0, 1, 0},
                        stimulated[] = {25000, 25000, 50000}, on[] = {0, 2, 2}, published[] = {62500},
                        bytes[] = {0};
    const test_hdf_field spikes[] = {{"timestamp", H5T_STD_I64LE, frames, NULL},
                                     {"channel", H5T_STD_U8LE, channels, NULL}},
                         stims[] = {{"timestamp", H5T_STD_I64LE, stimulated, NULL},
                                    {"channel", H5T_STD_U8LE, on, NULL}},
                         entries[] = {{"timestamp", H5T_STD_I64LE, published, NULL},
                                      {"start_index", H5T_STD_U64LE, bytes, NULL},
                                      {"end_index", H5T_STD_U64LE, bytes, NULL}};
    test_hdf_table(file, "/spikes", 6, spikes, 2);
    test_hdf_table(file, "/stims", 3, stims, 2);
    test_hdf_table(file, "/data_stream/group/index", 1, entries, 3);
    test_hdf_attribute(file, "/data_stream/group", "name", false, "score");
    test_hdf_attribute_number(file, "/", "channel_count", H5T_STD_I64LE, 3);
    test_hdf_attribute_number(file, "/", "frames_per_second", H5T_STD_I64LE, 25000);
    test_hdf_attribute_number(file, "/", "start_timestamp", H5T_STD_I64LE, 10000);
    test_hdf_attribute(file, "/", "duration_frames", false, "L100000L\n.");
    test_hdf_attribute(file, "/", "created_utc", false, "2026-06-11T00:00:00+00:00");
    test_hdf_attribute(file, "/", "file_format", false,
                       "(dp0\nVversion\np1\nVSDK\np2\n"
                       "sVstim_and_spike_timestamps_relative_to_start\np3\nI01\ns.");
}

/* ---- sorters ---- */

void test_fill_kwik(hid_t file)
{
    static const double samples[] = {2000, 10000, 10000, 25000, 40000, 60000},
                        parts[] = {0, 0, 128, 0, 0, 255}, clusters[] = {9, 2, 5, 2, 5, 2}, one[] = {7},
                        kinds[] = {2, 1, 0};
    test_hdf_attribute_number(file, "/", "kwik_version", H5T_STD_I64LE, 2);
    test_hdf_numbers(file, "/channel_groups/0/spikes/time_samples", H5T_STD_U64LE, 6, 0, samples);
    test_hdf_numbers(file, "/channel_groups/0/spikes/time_fractional", H5T_STD_U8LE, 6, 0, parts);
    test_hdf_numbers(file, "/channel_groups/0/spikes/clusters/main", H5T_STD_I32LE, 6, 0, clusters);
    test_hdf_numbers(file, "/channel_groups/0/spikes/clusters/original", H5T_STD_I32LE, 6, 0, samples);
    test_hdf_numbers(file, "/channel_groups/1/spikes/time_samples", H5T_STD_U64LE, 1, 0, samples);
    test_hdf_numbers(file, "/channel_groups/1/spikes/clusters/original", H5T_STD_I32LE, 1, 0, one);
    for (size_t i = 0; i < 3; i++) {
        const char *const names[] = {"2", "5", "9"};
        char path[80];
        snprintf(path, sizeof path, "/channel_groups/0/clusters/main/%s", names[i]);
        test_hdf_group(file, path);
        test_hdf_attribute_number(file, path, "cluster_group", H5T_STD_I64LE, kinds[i]);
    }
    test_hdf_group(file, "/recordings/0");
    test_hdf_attribute_number(file, "/recordings/0", "sample_rate", H5T_IEEE_F64LE, 20000);
}

void test_fill_herding_spikes(hid_t file)
{
    static const double frames[] = {1000, 5000, 5000, 12500, 20000, 30000}, clusters[] = {2, 0, 1, 0, 1, 0},
                        centres[] = {10, 20, 52, 20, 94, 62}, rate[] = {10000};
    test_hdf_numbers(file, "/times", H5T_STD_I64LE, 6, 0, frames);
    test_hdf_numbers(file, "/cluster_id", H5T_STD_I32LE, 6, 0, clusters);
    test_hdf_numbers(file, "/centres", H5T_IEEE_F64LE, 3, 2, centres);
    test_hdf_numbers(file, "/Sampling", H5T_IEEE_F64LE, 0, 0, rate);
}

void test_fill_nwb_events(hid_t file)
{
    static const double a[] = {0.5, 1.25, 3}, b[] = {0.5, 2}, c[] = {0.1}, places[] = {0, 50, 100},
                        level[] = {5, 5, 5}, rows[] = {1, 2}, edges[] = {1, 1.5}, states[] = {3, -3},
                        said[] = {2.5};
    static const char *const text[] = {"hello"};
    static const char *const series[] = {"node-101.stream.A", "node-101.stream.B", "node-101.stream.C"};
    const double *const times[] = {a, b, c};
    static const size_t counts[] = {3, 2, 1};
    test_hdf_attribute(file, "/", "nwb_version", false, "2.5.0");
    test_hdf_attribute(file, "/", "neurodata_type", false, "NWBFile");
    for (size_t i = 0; i < 3; i++) {
        char path[100], name[80];
        snprintf(name, sizeof name, "/acquisition/%s", series[i]);
        snprintf(path, sizeof path, "%s/timestamps", name);
        test_hdf_numbers(file, path, H5T_IEEE_F64LE, counts[i], 0, times[i]);
        test_hdf_attribute(file, name, "neurodata_type", true, "SpikeEventSeries");
        snprintf(path, sizeof path, "%s/electrodes", name);
        test_hdf_numbers(file, path, H5T_STD_I32LE, i == 2 ? 2 : 1, 0, i == 2 ? rows : &rows[i]);
    }
    test_hdf_numbers(file, "/general/extracellular_ephys/electrodes/rel_x", H5T_IEEE_F32LE, 3, 0, places);
    test_hdf_numbers(file, "/general/extracellular_ephys/electrodes/rel_y", H5T_IEEE_F32LE, 3, 0, level);
    test_hdf_numbers(file, "/acquisition/node-100.stream.TTL/timestamps", H5T_IEEE_F64LE, 2, 0, edges);
    test_hdf_numbers(file, "/acquisition/node-100.stream.TTL/data", H5T_STD_I8LE, 2, 0, states);
    test_hdf_numbers(file, "/acquisition/messages/timestamps", H5T_IEEE_F64LE, 1, 0, said);
    test_hdf_strings(file, "/acquisition/messages/data", 0, 1, text);
    test_hdf_attribute(file, "/acquisition/messages", "neurodata_type", true, "AnnotationSeries");
}
