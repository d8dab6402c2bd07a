/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of Phy, Kilosort and other programs that write for Phy: spike_times.npy in samples,
 * spike_clusters.npy (before curation spike_templates.npy), params.py with the sampling rate, and tables with
 * users' and sorters' labels of clusters. The position of a cluster is that of its best channel: from
 * cluster_info.tsv, else the channel with the largest amplitude of the template of most of its spikes.
 */
#include "replay/folder.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/npy.h"
#include "replay/ids.h"
#include "replay/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool recognises(const char *path)
{
    char inside[SF_FOLDER_PATH];
    return sf_folder_has(inside, path, "spike_times.npy") &&
           (sf_folder_has(inside, path, "params.py") || sf_folder_has(inside, path, "spike_clusters.npy") ||
            sf_folder_has(inside, path, "spike_templates.npy"));
}

/* ---- tables of clusters ---- */

typedef struct cluster {
    int64_t id, channel; /* channel -1: not known */
    sf_unit_kind kind;
} cluster;

typedef struct clusters {
    cluster *items;
    sf_ids ids; /* where a cluster is among the items */
    size_t capacity;
    int64_t *channel_map;
    double *positions; /* x and y of each channel */
    size_t channels;
    int64_t *best; /* per template: index of the channel with its largest amplitude */
    size_t templates;
    int64_t *votes; /* per unit: template of most of its spikes */
} clusters;

static int find_cluster(cluster **found, clusters *all, int64_t id, sf_error *error)
{
    uint32_t at = sf_ids_find(&all->ids, id);
    if (at == SF_NO_UNIT) {
        at = (uint32_t)all->ids.count;
        int status = sf_ids_set(&all->ids, id, at, error);
        if (status != SF_OK) return status;
        if (sf_reserve(&all->items, &all->capacity, at + 1, sizeof *all->items) != 0)
            return sf_fail_memory(error);
        all->items[at] = (cluster){.id = id, .channel = -1};
    }
    *found = &all->items[at];
    return SF_OK;
}

/* `unsorted` never overrides a label of another table. */
static void take_kind(cluster *to, const char *word)
{
    sf_unit_kind kind;
    if (sf_unit_kind_of(word, &kind) && kind != SF_UNIT_UNKNOWN) to->kind = kind;
}

/* Reads a table with a heading: its columns cluster_id (or id), `kind` and, if present, ch. */
static int read_table(clusters *all, const char *folder, const char *name, const char *kind, sf_error *error)
{
    char path[SF_FOLDER_PATH];
    sf_text text = {0};
    if (!sf_folder_has(path, folder, name)) return SF_OK;
    int status = sf_file_read(&text, path, error), id_at = -1, kind_at = -1, channel_at = -1;
    char *rest = text.data;
    char separator = rest != NULL && memchr(rest, '\t', strcspn(rest, "\n")) == NULL ? ',' : '\t';
    for (size_t row = 0; status == SF_OK && rest != NULL && *rest != '\0'; row++) {
        char *line = rest, *end = strchr(rest, '\n');
        rest = end != NULL ? end + 1 : NULL;
        if (end != NULL) *end = '\0';
        cluster found = {.id = -1, .channel = -1};
        int column = 0;
        for (char *field; line != NULL; column++) {
            field = sf_text_field(&line, separator);
            field[strcspn(field, "\r")] = '\0';
            double number;
            if (row == 0) {
                id_at = strcmp(field, "cluster_id") == 0 || strcmp(field, "id") == 0 ? column : id_at;
                kind_at = strcmp(field, kind) == 0 ? column : kind_at;
                channel_at = strcmp(field, "ch") == 0 ? column : channel_at;
            } else if (column == kind_at) {
                take_kind(&found, field);
            } else if ((column == id_at || column == channel_at) && sf_parse_real(field, &number) &&
                       number >= 0 && number < 1e9) {
                *(column == id_at ? &found.id : &found.channel) = (int64_t)number;
            }
        }
        cluster *to = NULL;
        if (row == 0 || found.id < 0) continue;
        status = find_cluster(&to, all, found.id, error);
        if (status == SF_OK && found.kind != SF_UNIT_UNKNOWN) to->kind = found.kind;
        if (status == SF_OK && found.channel >= 0) to->channel = found.channel;
    }
    sf_text_free(&text);
    return status;
}

/* ---- channels and templates ---- */

static int read_channels(clusters *all, const char *folder, sf_error *error)
{
    char path[SF_FOLDER_PATH];
    sf_npy npy;
    size_t count;
    if (!sf_folder_has(path, folder, "channel_positions.npy")) return SF_OK;
    int status = sf_npy_open(&npy, path, 0, 0, error);
    if (status == SF_OK && (npy.dimensions != 2 || npy.shape[1] < 2))
        status = sf_fail(error, SF_DATA, path, "damaged: expected an x and a y of each channel");
    size_t wide = status == SF_OK ? npy.shape[1] : 0, high = status == SF_OK ? npy.shape[0] : 0;
    double *values = status == SF_OK ? sf_resize(NULL, npy.count, sizeof *values) : NULL;
    all->positions = status == SF_OK ? sf_resize(NULL, 2 * high, sizeof *values) : NULL;
    if (status == SF_OK && (values == NULL || all->positions == NULL)) status = sf_fail_memory(error);
    if (status == SF_OK) status = sf_npy_read_reals(&npy, 0, npy.count, values, error);
    for (size_t i = 0; status == SF_OK && i < 2 * high; i++)
        all->positions[i] = values[npy.by_column ? i % 2 * high + i / 2 : i / 2 * wide + i % 2];
    all->channels = status == SF_OK ? high : 0;
    sf_free(values);
    sf_npy_close(&npy);
    if (status == SF_OK && sf_folder_has(path, folder, "channel_map.npy"))
        status = sf_npy_load_integers(path, &all->channel_map, &count, error);
    else
        count = all->channels;
    if (status == SF_OK && count != all->channels)
        status = sf_fail(error, SF_DATA, path, "damaged: it holds %zu channels and %zu have positions", count,
                         all->channels);
    return status;
}

/* For a template (samples x channels), the channel with the largest peak-to-peak amplitude. */
static size_t find_peak(const double *values, size_t samples, size_t channels)
{
    size_t best = 0;
    double most = -1;
    for (size_t c = 0; c < channels; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t s = 0; s < samples; s++) {
            low = fmin(low, values[s * channels + c]);
            high = fmax(high, values[s * channels + c]);
        }
        if (high - low > most) {
            most = high - low;
            best = c;
        }
    }
    return best;
}

/* One template at a time is in memory. */
static int find_peaks(int64_t *best, const sf_npy *npy, sf_error *error)
{
    size_t samples = npy->shape[1], channels = npy->shape[2], each = samples * channels;
    double *values = sf_resize(NULL, each, sizeof *values);
    int status = values != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < npy->shape[0]; i++) {
        status = sf_npy_read_reals(npy, i * each, each, values, error);
        best[i] = status == SF_OK ? (int64_t)find_peak(values, samples, channels) : 0;
    }
    sf_free(values);
    return status;
}

/* The same for MATLAB's order, in which one sample on one channel of all templates is contiguous. */
static int find_peaks_by_column(int64_t *best, const sf_npy *npy, sf_error *error)
{
    size_t count = npy->shape[0], samples = npy->shape[1], channels = npy->shape[2];
    double *values = sf_resize(NULL, 4 * count, sizeof *values);
    if (values == NULL) return sf_fail_memory(error);
    double *low = values + count, *high = low + count, *most = high + count;
    int status = SF_OK;
    for (size_t i = 0; i < count; i++)
        most[i] = -1;
    for (size_t c = 0; status == SF_OK && c < channels; c++) {
        for (size_t i = 0; i < count; i++) {
            low[i] = INFINITY;
            high[i] = -INFINITY;
        }
        for (size_t s = 0; status == SF_OK && s < samples; s++) {
            status = sf_npy_read_reals(npy, (c * samples + s) * count, count, values, error);
            for (size_t i = 0; status == SF_OK && i < count; i++) {
                low[i] = fmin(low[i], values[i]);
                high[i] = fmax(high[i], values[i]);
            }
        }
        for (size_t i = 0; i < count; i++) {
            best[i] = high[i] - low[i] > most[i] ? (int64_t)c : best[i];
            most[i] = fmax(most[i], high[i] - low[i]);
        }
    }
    sf_free(values);
    return status;
}

/* For sparse templates another file has the channels of their columns. */
static int find_columns(clusters *all, const char *path, size_t channels, sf_error *error)
{
    sf_npy columns;
    int status = sf_npy_open(&columns, path, 0, 0, error);
    if (status == SF_OK && columns.count != all->templates * channels)
        status =
            sf_fail(error, SF_DATA, path, "damaged: expected the channels of %zu templates", all->templates);
    for (size_t i = 0; status == SF_OK && i < all->templates; i++) {
        size_t peak = (size_t)all->best[i];
        status = sf_npy_read_integers(&columns, NULL,
                                      columns.by_column ? peak * all->templates + i : i * channels + peak, 1,
                                      &all->best[i], error);
    }
    sf_npy_close(&columns);
    return status;
}

static int read_templates(clusters *all, const char *folder, sf_error *error)
{
    char path[SF_FOLDER_PATH];
    sf_npy npy;
    if (!sf_folder_has(path, folder, "templates.npy")) return SF_OK;
    int status = sf_npy_open(&npy, path, 0, 0, error);
    if (status != SF_OK || npy.dimensions != 3 || npy.count == 0) {
        sf_npy_close(&npy); /* of another form: no positions by it */
        return status;
    }
    all->best = sf_alloc(npy.shape[0], sizeof *all->best);
    status = all->best == NULL ? sf_fail_memory(error)
             : npy.by_column   ? find_peaks_by_column(all->best, &npy, error)
                               : find_peaks(all->best, &npy, error);
    all->templates = status == SF_OK ? npy.shape[0] : 0;
    if (status == SF_OK &&
        (sf_folder_has(path, folder, "templates_ind.npy") || sf_folder_has(path, folder, "template_ind.npy")))
        status = find_columns(all, path, npy.shape[2], error);
    sf_npy_close(&npy);
    return status;
}

/* The template of more than half of a unit's spikes, if there is one: Boyer and Moore's majority vote. Merged
 * clusters have other numbers than their templates. */
static int vote(clusters *all, const char *folder, const int64_t *ids, const uint32_t *units, size_t count,
                sf_error *error)
{
    char path[SF_FOLDER_PATH];
    int64_t *templates = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = units[i] >= most ? units[i] + (size_t)1 : most;
    all->votes = sf_alloc(most, sizeof *all->votes);
    size_t *lead = sf_alloc(most, sizeof *lead);
    int status = all->votes != NULL && lead != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && sf_folder_has(path, folder, "spike_templates.npy"))
        status = sf_folder_integers(&templates, folder, "spike_templates.npy", count, error);
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        int64_t template = templates != NULL ? templates[i] : ids[i];
        if (lead[units[i]] == 0) all->votes[units[i]] = template;
        lead[units[i]] = all->votes[units[i]] == template ? lead[units[i]] + 1 : lead[units[i]] - 1;
    }
    sf_free(lead);
    sf_free(templates);
    return status;
}

/* ---- units ---- */

static int describe(void *context, int64_t id, sf_unit *unit, char name[64])
{
    (void)name;
    clusters *all = context;
    uint32_t at = sf_ids_find(&all->ids, id);
    unit->kind = at != SF_NO_UNIT ? all->items[at].kind : SF_UNIT_UNKNOWN;
    int64_t channel = at != SF_NO_UNIT ? all->items[at].channel : -1;
    unit->electrode = (int32_t)channel;
    return SF_OK;
}

/* Call once the spikes of each unit are known. */
static void place_units(sf_recording *recording, const clusters *all)
{
    for (size_t u = 0; u < recording->units.count; u++) {
        sf_unit *unit = &recording->units.items[u];
        int64_t index = -1, template = all->votes[u];
        for (size_t c = 0; unit->electrode >= 0 && index < 0 && c < all->channels; c++)
            if ((all->channel_map != NULL ? all->channel_map[c] : (int64_t)c) == unit->electrode)
                index = (int64_t)c;
        if (index < 0 && template >= 0 && (uint64_t) template <all->templates) index = all->best[template];
        if (index < 0 || (uint64_t)index >= all->channels) continue;
        unit->x_um = all->positions[2 * index];
        unit->y_um = all->positions[2 * index + 1];
        int64_t channel = all->channel_map != NULL ? all->channel_map[index] : index;
        unit->electrode = channel >= 0 && channel <= INT32_MAX ? (int32_t)channel : -1;
    }
}

static int read_about(clusters *all, const char *folder, sf_error *error)
{
    static const char *const tables[][2] = {
        {"cluster_KSLabel.tsv", "KSLabel"}, {"cluster_group.tsv", "KSLabel"}, /* as Kilosort 4 writes it */
        {"cluster_info.tsv", "KSLabel"},    {"cluster_info.tsv", "group"},
        {"cluster_groups.csv", "group"}, /* phy 1 */
        {"cluster_group.csv", "group"},     {"cluster_group.tsv", "group"}};
    int status = SF_OK;
    for (size_t i = 0; status == SF_OK && i < sizeof tables / sizeof tables[0];
         i++) /* the last word counts */
        status = read_table(all, folder, tables[i][0], tables[i][1], error);
    if (status == SF_OK) status = read_channels(all, folder, error);
    return status == SF_OK && all->positions != NULL ? read_templates(all, folder, error) : status;
}

static void free_clusters(clusters *all)
{
    sf_free(all->items);
    sf_ids_free(&all->ids);
    sf_free(all->channel_map);
    sf_free(all->positions);
    sf_free(all->best);
    sf_free(all->votes);
}

static int read_folder(sf_recording *recording, const char *path, const sf_reading *how, sf_error *error)
{
    char inside[SF_FOLDER_PATH];
    int64_t *samples = NULL, *ids = NULL;
    uint32_t *units = NULL;
    size_t count = 0;
    double rate_hz = 0;
    clusters all = {0};
    int status = sf_reader_set_format(recording, error, "Phy");
    if (status == SF_OK) status = sf_phy_rate(&rate_hz, path, how->rate_hz > 0, error);
    if (status == SF_OK)
        status = sf_reader_check_rate(&rate_hz, how->rate_hz, path, "sample_rate in params.py", error);
    sf_folder_has(inside, path, "spike_times.npy");
    if (status == SF_OK) status = sf_npy_load_integers(inside, &samples, &count, error);
    const char *numbers =
        sf_folder_has(inside, path, "spike_clusters.npy") ? "spike_clusters.npy" : "spike_templates.npy";
    if (status == SF_OK) status = sf_folder_integers(&ids, path, numbers, count, error);
    if (status == SF_OK) status = read_about(&all, path, error);
    if (status == SF_OK)
        status = sf_reader_number_units(recording, &units, ids, count, describe, &all, error);
    if (status == SF_OK) status = vote(&all, path, ids, units, count, error);
    if (status == SF_OK) place_units(recording, &all);
    const sf_spikes_in_samples spikes = {
        .samples = samples, .units = units, .count = count, .rate_hz = rate_hz};
    if (status == SF_OK) status = sf_samples_take(recording, &spikes, path, error);
    if (status == SF_OK) status = sf_reader_metadata_real(recording, "sampling_rate", rate_hz, error);
    if (status == SF_OK) status = sf_phy_recorded(recording, path, rate_hz, error);
    free_clusters(&all);
    sf_free(samples);
    sf_free(ids);
    sf_free(units);
    return status;
}

const sf_folder_reader sf_folder_phy = {.recognises = recognises, .read = read_folder};
