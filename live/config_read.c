/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From YAML to sf_config: config_tree.c reads, overrides, checks and takes the text; what keys mean together
 * is checked here and by the pipeline's options.
 */
#include "live/config.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "live/config_keys.h"
#include "live/config_tree.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES (16u << 20)

int sf_config_refuse(const sf_config *config, const char *key, sf_error *error, const char *format, ...)
{
    const sf_config_place *nearest = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < config->place_count; i++) {
        const char *given = config->places[i].key;
        size_t length = strlen(given);
        bool around = strncmp(key, given, length) == 0 && (key[length] == '\0' || key[length] == '.');
        if (around && length >= longest) {
            nearest = &config->places[i];
            longest = length;
        }
    }
    va_list arguments;
    va_start(arguments, format);
    int status = sf_config_refuse_at(config, nearest, key, error, format, arguments);
    va_end(arguments);
    return status;
}

static int pass_on(int status, const sf_error *reason, sf_error *error)
{
    if (status != SF_OK && error != NULL) *error = *reason;
    return status;
}

int sf_config_locate(const sf_config *config, int status, const sf_error *reason, sf_error *error)
{
    return status == SF_CONFIG ? sf_config_refuse(config, reason->place, error, "%s", reason->text)
                               : pass_on(status, reason, error);
}

/* The rows of an item, and what has its values. */
static const void *item_of(const sf_config *config, const char *list, uint32_t index,
                           const sf_key *keys[SF_KEYS_MOST], size_t *count)
{
    const sf_key *lists[SF_KEYS_MOST];
    const sf_key *key = sf_keys_find(lists, sf_keys_of(&sf_config_table, NULL, lists), list, config);
    const char *items = *(const char *const *)sf_key_at(key, config);
    const void *item = items + index * sf_config_item_size(key);
    const sf_key_item *of_kind = key->table->kind != NULL ? item : NULL;
    *count = sf_keys_of(key->table, of_kind != NULL ? of_kind->kind : NULL, keys);
    return of_kind != NULL ? of_kind->settings : item;
}

/* The key that a place is, or whose text it is; NULL: none. */
static const sf_key *key_of(const sf_key *const *keys, size_t count, const void *object, const char *place)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i]->name, place) == 0) return keys[i];
    for (size_t i = 0; i < count; i++) {
        const char *text = keys[i]->type == SF_KEY_TEXT ? *(char *const *)sf_key_at(keys[i], object) : NULL;
        if (text != NULL && place[0] != '\0' &&
            strncmp(text, place, sizeof((sf_error *)NULL)->place - 1) == 0)
            return keys[i];
    }
    return NULL;
}

int sf_config_locate_item(const sf_config *config, const char *list, uint32_t index, int status,
                          const sf_error *reason, sf_error *error)
{
    const sf_key *keys[SF_KEYS_MOST];
    char place[SF_CONFIG_KEY_SIZE];
    size_t count;
    if (status == SF_OK || status == SF_NO_MEMORY) return pass_on(status, reason, error);
    const void *object = item_of(config, list, index, keys, &count);
    const sf_key *key = key_of(keys, count, object, reason->place);
    if (status == SF_USAGE) status = SF_CONFIG;
    if (key == NULL && status != SF_CONFIG) return pass_on(status, reason, error);
    snprintf(place, sizeof place, "%s.%u%s%s", list, index, key != NULL ? "." : "",
             key != NULL ? key->name : "");
    bool named = reason->place[0] == '\0' || (key != NULL && strcmp(key->name, reason->place) == 0);
    sf_config_refuse(config, place, error, "%s%s%s", named ? "" : reason->place, named ? "" : ": ",
                     reason->text);
    if (error != NULL) error->code = (sf_status)status;
    return status;
}

/* ---- what keys mean together ---- */

/* The text by which an item reads or writes something, and its key. */
static const char *used(const sf_key_item *item, sf_key_use use, const char **key)
{
    for (const sf_key *own = item->kind->keys; own->name != NULL; own++)
        if (own->use == use) {
            *key = own->name;
            return *(char *const *)sf_key_at(own, item->settings);
        }
    return NULL;
}

static char **text_at(const sf_key_item *item, const char *key)
{
    for (const sf_key *own = item->kind->keys; own->name != NULL; own++)
        if (own->type == SF_KEY_TEXT && strcmp(own->name, key) == 0) return sf_key_at(own, item->settings);
    return NULL;
}

const char *sf_config_text(const sf_key_item *item, const char *key)
{
    char **at = text_at(item, key);
    return at != NULL ? *at : NULL;
}

static int refuse_sink(const sf_config *config, uint32_t index, const char *key, const char *sentence,
                       sf_error *error)
{
    char path[SF_CONFIG_KEY_SIZE];
    snprintf(path, sizeof path, "sinks.%u.%s", index, key);
    return sf_config_refuse(config, path, error, "%s", sentence);
}

static int refuse_file(const sf_config *config, uint32_t index, const char *key, const char *path,
                       const char *what, sf_error *error)
{
    char sentence[sizeof error->text];
    snprintf(sentence, sizeof sentence, "%.500s is %s", path, what);
    return refuse_sink(config, index, key, sentence, error);
}

static int check_sink(const sf_config *config, uint32_t index, sf_error *error)
{
    const char *key = NULL, *target = used(&config->sinks[index], SF_KEY_WRITES, &key), *other;
    for (uint32_t i = 0; target != NULL && i < index; i++) {
        const char *before = used(&config->sinks[i], SF_KEY_WRITES, &other);
        char sentence[300];
        snprintf(sentence, sizeof sentence, "found '%.200s', to which sinks.%u writes already", target, i);
        if (before != NULL && strcmp(target, before) == 0)
            return refuse_sink(config, index, key, sentence, error);
    }
    const char *trigger = sf_config_text(&config->sinks[index], "trigger");
    if (trigger != NULL && strcmp(trigger, "*") != 0 &&
        sf_live_find_trigger(&config->live, trigger) == config->live.trigger_count)
        return refuse_sink(config, index, "trigger", "expected the name of a trigger, or \"*\" for all",
                           error);
    return SF_OK;
}

static int check_together(sf_config *config, sf_error *error)
{
    sf_error reason = {0};
    int status = sf_live_resolve(&config->live, &reason);
    status = sf_config_locate(config, status, &reason, error);
    for (uint32_t i = 0; status == SF_OK && i < config->sink_count; i++)
        status = check_sink(config, i, error);
    return status;
}

/* A sink that may overwrite must not take a recording that is replayed, nor the run's own configuration. */
int sf_config_check_files(const sf_config *config, sf_error *error)
{
    for (uint32_t i = 0; i < config->sink_count; i++) {
        const char *key, *other, *path = used(&config->sinks[i], SF_KEY_WRITES, &key);
        if (path == NULL) continue;
        if (config->name != NULL && sf_file_same(path, config->name))
            return refuse_file(config, i, key, path, "the configuration of this run", error);
        for (uint32_t s = 0; s < config->source_count; s++) {
            const char *read = used(&config->sources[s], SF_KEY_READS, &other);
            if (read != NULL && sf_file_same(path, read))
                return refuse_file(config, i, key, path, "the recording that is replayed", error);
        }
    }
    return SF_OK;
}

/* ---- the interface ---- */

int sf_config_parse(sf_config *config, const char *yaml, size_t length, const char *name,
                    const char *const *settings, size_t setting_count, sf_error *error)
{
    *config = (sf_config){0};
    if (length > MOST_BYTES)
        return sf_fail(error, SF_CONFIG, name, "is over %u MiB, expected a configuration", MOST_BYTES >> 20);
    config->name = sf_copy_string(name);
    sf_config_tree tree = {.config = config, .error = error};
    int status = config->name != NULL ? sf_config_tree_read(&tree, yaml, length) : sf_fail_memory(error);
    if (status == SF_OK) status = sf_config_tree_set(&tree, settings, setting_count);
    if (status == SF_OK) status = sf_config_tree_take(&tree);
    config->live.size = sizeof config->live; /* and what has no key */
    config->live.topics = sf_live_defaults.topics;
    config->live.queue = sf_live_defaults.queue;
    config->live.queue_policy = sf_live_defaults.queue_policy;
    config->live.motif_new = sf_motif_new;
    if (status == SF_OK) status = check_together(config, error);
    sf_config_tree_free(&tree);
    if (status != SF_OK) sf_config_free(config);
    return status;
}

/* What the demo makes of its configuration's name is a folder. */
static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

const char *sf_config_find(char room[SF_PLACE_SIZE], const char *path)
{
    static const char folder[] = "configs/", *const endings[] = {"", ".yaml"};
    const char *name = strncmp(path, folder, sizeof folder - 1) == 0 ? path + sizeof folder - 1 : path;
    char own[SF_PLACE_SIZE];
    bool is_there = access(path, F_OK) == 0 && !is_folder(path);
    for (size_t i = 0; i < 2 && name[0] != '\0' && !is_there; i++) {
        snprintf(own, sizeof own, "%s%s%s", folder, name, endings[i]);
        if (sf_place_shared(room, own)) return room;
    }
    return path;
}

/* A bare word that is no file was meant as a configuration that comes with synfire: the name nearest to it.
 */
static int fail_missing(const char *path, int status, sf_error *error)
{
    char example[SF_PLACE_SIZE], best[64] = "";
    if (status != SF_NO_INPUT || strpbrk(path, "/.") != NULL ||
        !sf_place_shared(example, "configs/reference.yaml"))
        return status;
    *strrchr(example, '/') = '\0';
    DIR *folder = opendir(example);
    sf_nearest nearest = {.word = path};
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char name[sizeof best];
        size_t length = strcspn(entry->d_name, ".");
        if (length == 0 || length >= sizeof name || strcmp(entry->d_name + length, ".yaml") != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)length, entry->d_name);
        const char *before = nearest.best;
        sf_nearest_offer(&nearest, name);
        if (nearest.best != before) {
            memcpy(best, name, sizeof best);
            nearest.best = best;
        }
    }
    if (folder != NULL) closedir(folder);
    if (nearest.best == NULL) return status;
    return sf_fail(error, status, path,
                   "is no file: did you mean `%s`, a configuration that comes with synfire?", best);
}

int sf_config_load(sf_config *config, const char *path, const char *const *settings, size_t setting_count,
                   sf_error *error)
{
    *config = (sf_config){0};
    sf_text text = {0};
    char room[SF_PLACE_SIZE];
    path = sf_config_find(room, path);
    int status = fail_missing(path, sf_file_read(&text, path, error), error);
    if (status == SF_OK)
        status = sf_config_parse(config, text.data != NULL ? text.data : "", text.length, path, settings,
                                 setting_count, error);
    sf_text_free(&text);
    return status;
}

static int put_text(const sf_key_item *item, const char *key, const char *text, sf_error *error)
{
    char *copy = sf_copy_string(text), **at = text_at(item, key);
    if (copy == NULL) return sf_fail_memory(error);
    sf_free(*at);
    *at = copy;
    return SF_OK;
}

#define SWAP(type, a, b)                                                                                     \
    do {                                                                                                     \
        type swapped_ = (a);                                                                                 \
        (a) = (b);                                                                                           \
        (b) = swapped_;                                                                                      \
    } while (0)

int sf_config_replay(sf_config *config, const char *recording, const char *speed, sf_error *error)
{
    static const char *const settings[] = {"sources.0.type=replay", "sources.0.recording=?"};
    sf_config replay;
    int status = sf_config_parse(&replay, "", 0, config->name, settings, 2, error);
    if (status == SF_OK) status = put_text(&replay.sources[0], "recording", recording, error);
    if (status == SF_OK) status = put_text(&replay.sources[0], "speed", speed, error);
    if (status == SF_OK) {
        SWAP(sf_key_item *, config->sources, replay.sources);
        SWAP(uint32_t, config->source_count, replay.source_count);
    }
    sf_config_free(&replay);
    return status;
}

/* Columns of the raster: at the stream's own pace, and at any pace. */
#define COLUMN_MS 10
#define MOST_COLUMN_MS 10000

int sf_config_show(sf_config *config, double speed, sf_error *error)
{
    char column[64];
    snprintf(column, sizeof column, "sinks.0.column_ms=%.0f",
             fmin(fmax(COLUMN_MS * speed, 1), MOST_COLUMN_MS));
    const char *const settings[] = {"sinks.0.type=web", column};
    for (uint32_t i = 0; i < config->sink_count; i++)
        if (strcmp(config->sinks[i].kind->name, "web") == 0) return SF_OK;
    sf_config page;
    int status = sf_config_parse(&page, "", 0, config->name, settings, 2, error);
    if (status != SF_OK) return status;
    sf_key_item *sinks = sf_resize(config->sinks, config->sink_count + 1, sizeof *sinks);
    if (sinks != NULL) {
        config->sinks = sinks;
        sinks[config->sink_count++] = page.sinks[0];
        page.sink_count = 0;
    } else {
        status = sf_fail_memory(error);
    }
    sf_config_free(&page);
    return status;
}

int sf_config_record(sf_config *config, const char *path, bool overwrite, sf_error *error)
{
    char target[SF_KEY_LONGEST + 64];
    snprintf(target, sizeof target, "sinks.0.path=%.*s", SF_KEY_LONGEST, path);
    const char *const settings[] = {"sinks.0.type=hdf5",    target,
                                    "sinks.0.policy=block", "mine.every=0",
                                    "graph.enabled=false",  "sinks.0.overwrite=true"};
    size_t count = sizeof settings / sizeof settings[0] - (overwrite ? 0 : 1);
    sf_config recorder;
    int status = sf_config_parse(&recorder, "", 0, config->name, settings, count, error);
    if (status != SF_OK) return status;
    SWAP(const char *, config->live.stream, recorder.live.stream);
    SWAP(sf_key_item *, config->sources, recorder.sources);
    SWAP(uint32_t, config->source_count, recorder.source_count);
    recorder.live.merge = config->live.merge;
    SWAP(sf_config_realtime, config->realtime, recorder.realtime);
    SWAP(sf_config, *config, recorder);
    sf_config_free(&recorder);
    return SF_OK;
}

void sf_config_free(sf_config *config)
{
    sf_config_free_values(&sf_config_table, NULL, config);
    for (size_t i = 0; i < config->place_count; i++)
        sf_free(config->places[i].key);
    sf_free(config->places);
    sf_free(config->name);
    *config = (sf_config){0};
}
