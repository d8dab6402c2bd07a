/* SPDX-License-Identifier: Apache-2.0 */
/* What liblsl does, as its headers say, within one process: for tests where it is not installed. Its clock
 * begins at 1000.25 s; clocks of outlets are behind it by what the test sets. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 64
#define QUEUE 4096

typedef struct node {
    char name[32], value[128];
    struct node *child, *last, *next;
} node;

typedef struct info {
    char name[128], type[64], source_id[128];
    int32_t channels, format;
    double rate_hz;
    node desc;
} info;

typedef struct sample {
    double stamp, values[2];
    char text[128];
} sample;

typedef struct outlet {
    info about;
    bool is_open;
    int consumers;
} outlet;

typedef struct inlet {
    outlet *from;
    sample queue[QUEUE];
    size_t first, count;
} inlet;

typedef struct resolver {
    char property[64], value[192];
} resolver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static outlet *outlets[MOST];
static inlet *inlets[MOST];
static double correction = 0.125;

void lsl_test_set_correction(double seconds);
void lsl_test_set_correction(double seconds)
{
    correction = seconds;
}

double lsl_local_clock(void);
double lsl_local_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000.25 + (double)(now.tv_sec % 100000) + (double)now.tv_nsec * 1e-9;
}

int32_t lsl_library_version(void);
int32_t lsl_library_version(void)
{
    return 112;
}

void lsl_destroy_string(char *text);
void lsl_destroy_string(char *text)
{
    free(text);
}

/* ---- descriptions ---- */

static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
}

static node *add(node *to, const char *name, const char *value)
{
    node *it = calloc(1, sizeof *it);
    copy(it->name, sizeof it->name, name);
    copy(it->value, sizeof it->value, value);
    if (to->last != NULL)
        to->last->next = it;
    else
        to->child = it;
    return to->last = it;
}

static void forget(node *of)
{
    for (node *child = of->child, *next; child != NULL; child = next) {
        next = child->next;
        forget(child);
        free(child);
    }
}

static void copy_children(node *to, const node *from)
{
    for (const node *child = from->child; child != NULL; child = child->next)
        copy_children(add(to, child->name, child->value), child);
}

static node *named(node *first, const char *name)
{
    while (first != NULL && strcmp(first->name, name) != 0)
        first = first->next;
    return first;
}

node *lsl_get_desc(info *of);
node *lsl_get_desc(info *of)
{
    return &of->desc;
}

node *lsl_child(node *of, const char *name);
node *lsl_child(node *of, const char *name)
{
    return of != NULL ? named(of->child, name) : NULL;
}

node *lsl_next_sibling_n(node *of, const char *name);
node *lsl_next_sibling_n(node *of, const char *name)
{
    return of != NULL ? named(of->next, name) : NULL;
}

node *lsl_append_child(node *of, const char *name);
node *lsl_append_child(node *of, const char *name)
{
    return add(of, name, "");
}

node *lsl_append_child_value(node *of, const char *name, const char *value);
node *lsl_append_child_value(node *of, const char *name, const char *value)
{
    add(of, name, value);
    return of;
}

const char *lsl_child_value_n(node *of, const char *name);
const char *lsl_child_value_n(node *of, const char *name)
{
    node *child = lsl_child(of, name);
    return child != NULL ? child->value : "";
}

int32_t lsl_empty(node *of);
int32_t lsl_empty(node *of)
{
    return of == NULL;
}

/* ---- streams ---- */

info *lsl_create_streaminfo(const char *name, const char *type, int32_t channels, double rate_hz,
                            int32_t format, const char *source_id);
info *lsl_create_streaminfo(const char *name, const char *type, int32_t channels, double rate_hz,
                            int32_t format, const char *source_id)
{
    info *it = calloc(1, sizeof *it);
    copy(it->name, sizeof it->name, name);
    copy(it->type, sizeof it->type, type);
    copy(it->source_id, sizeof it->source_id, source_id);
    it->channels = channels;
    it->format = format;
    it->rate_hz = rate_hz;
    return it;
}

static info *copy_info(const info *of)
{
    info *it = calloc(1, sizeof *it);
    *it = *of;
    it->desc = (node){.name = "desc"};
    copy_children(&it->desc, &of->desc);
    return it;
}

void lsl_destroy_streaminfo(info *of);
void lsl_destroy_streaminfo(info *of)
{
    forget(&of->desc);
    free(of);
}

const char *lsl_get_name(info *of);
const char *lsl_get_name(info *of)
{
    return of->name;
}

const char *lsl_get_type(info *of);
const char *lsl_get_type(info *of)
{
    return of->type;
}

const char *lsl_get_hostname(info *of);
const char *lsl_get_hostname(info *of)
{
    (void)of;
    return "here";
}

int32_t lsl_get_channel_count(info *of);
int32_t lsl_get_channel_count(info *of)
{
    return of->channels;
}

int32_t lsl_get_channel_format(info *of);
int32_t lsl_get_channel_format(info *of)
{
    return of->format;
}

double lsl_get_nominal_srate(info *of);
double lsl_get_nominal_srate(info *of)
{
    return of->rate_hz;
}

/* ---- who is there ---- */

resolver *lsl_create_continuous_resolver_byprop(const char *property, const char *value, double forget_s);
resolver *lsl_create_continuous_resolver_byprop(const char *property, const char *value, double forget_s)
{
    (void)forget_s;
    resolver *it = calloc(1, sizeof *it);
    copy(it->property, sizeof it->property, property);
    copy(it->value, sizeof it->value, value);
    return it;
}

void lsl_destroy_continuous_resolver(resolver *of);
void lsl_destroy_continuous_resolver(resolver *of)
{
    free(of);
}

int32_t lsl_resolver_results(resolver *of, info **infos, uint32_t room);
int32_t lsl_resolver_results(resolver *of, info **infos, uint32_t room)
{
    int32_t count = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST && outlets[i] != NULL; i++) {
        const info *about = &outlets[i]->about;
        const char *value = strcmp(of->property, "type") == 0   ? about->type
                            : strcmp(of->property, "name") == 0 ? about->name
                                                                : about->source_id;
        if (outlets[i]->is_open && strcmp(value, of->value) == 0 && (uint32_t)count < room)
            infos[count++] = copy_info(about);
    }
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- outlets; their places are kept ---- */

outlet *lsl_create_outlet(info *of, int32_t chunk, int32_t buffered);
outlet *lsl_create_outlet(info *of, int32_t chunk, int32_t buffered)
{
    (void)chunk, (void)buffered;
    int place = 0;
    pthread_mutex_lock(&lock);
    while (outlets[place] != NULL)
        place++;
    outlets[place] = calloc(1, sizeof(outlet));
    info *about = copy_info(of);
    outlets[place]->about = *about;
    outlets[place]->is_open = true;
    free(about);
    pthread_mutex_unlock(&lock);
    return outlets[place];
}

void lsl_destroy_outlet(outlet *it);
void lsl_destroy_outlet(outlet *it)
{
    pthread_mutex_lock(&lock);
    it->is_open = false;
    pthread_mutex_unlock(&lock);
}

int32_t lsl_have_consumers(outlet *it);
int32_t lsl_have_consumers(outlet *it)
{
    pthread_mutex_lock(&lock);
    int32_t any = it->consumers > 0;
    pthread_mutex_unlock(&lock);
    return any;
}

static void push(outlet *it, const sample *one)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST; i++)
        if (inlets[i] != NULL && inlets[i]->from == it && inlets[i]->count < QUEUE)
            inlets[i]->queue[(inlets[i]->first + inlets[i]->count++) % QUEUE] = *one;
    pthread_mutex_unlock(&lock);
}

int32_t lsl_push_sample_itp(outlet *it, const int32_t *values, double stamp, int32_t now);
int32_t lsl_push_sample_itp(outlet *it, const int32_t *values, double stamp, int32_t now)
{
    (void)now;
    push(it, &(sample){.stamp = stamp, .values = {values[0]}});
    return 0;
}

int32_t lsl_push_sample_strtp(outlet *it, const char **texts, double stamp, int32_t now);
int32_t lsl_push_sample_strtp(outlet *it, const char **texts, double stamp, int32_t now)
{
    (void)now;
    sample one = {.stamp = stamp};
    copy(one.text, sizeof one.text, texts[0]);
    push(it, &one);
    return 0;
}

/* ---- inlets ---- */

inlet *lsl_create_inlet(info *of, int32_t buffered, int32_t chunk, int32_t recover);
inlet *lsl_create_inlet(info *of, int32_t buffered, int32_t chunk, int32_t recover)
{
    (void)buffered, (void)chunk, (void)recover;
    inlet *it = calloc(1, sizeof *it);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST && outlets[i] != NULL; i++)
        if (outlets[i]->is_open && strcmp(outlets[i]->about.name, of->name) == 0) it->from = outlets[i];
    int place = 0;
    while (inlets[place] != NULL)
        place++;
    inlets[place] = it;
    pthread_mutex_unlock(&lock);
    return it;
}

void lsl_destroy_inlet(inlet *it);
void lsl_destroy_inlet(inlet *it)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST; i++)
        if (inlets[i] == it) inlets[i] = NULL;
    if (it->from != NULL) it->from->consumers--;
    pthread_mutex_unlock(&lock);
    free(it);
}

info *lsl_get_fullinfo(inlet *it, double timeout, int32_t *failure);
info *lsl_get_fullinfo(inlet *it, double timeout, int32_t *failure)
{
    (void)timeout;
    *failure = it->from != NULL ? 0 : -2;
    return it->from != NULL ? copy_info(&it->from->about) : NULL;
}

void lsl_open_stream(inlet *it, double timeout, int32_t *failure);
void lsl_open_stream(inlet *it, double timeout, int32_t *failure)
{
    (void)timeout;
    *failure = 0;
    pthread_mutex_lock(&lock);
    it->from->consumers++;
    pthread_mutex_unlock(&lock);
}

double lsl_time_correction(inlet *it, double timeout, int32_t *failure);
double lsl_time_correction(inlet *it, double timeout, int32_t *failure)
{
    (void)it, (void)timeout;
    *failure = 0;
    return correction;
}

static bool pull(inlet *it, double timeout, sample *one, int32_t *failure)
{
    double until = lsl_local_clock() + timeout;
    for (;;) {
        pthread_mutex_lock(&lock);
        bool any = it->count > 0;
        *failure = any || it->from->is_open ? 0 : -2;
        if (any) {
            *one = it->queue[it->first];
            it->first = (it->first + 1) % QUEUE;
            it->count--;
        }
        pthread_mutex_unlock(&lock);
        if (any || *failure != 0 || lsl_local_clock() >= until) return any;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

double lsl_pull_sample_d(inlet *it, double *values, int32_t count, double timeout, int32_t *failure);
double lsl_pull_sample_d(inlet *it, double *values, int32_t count, double timeout, int32_t *failure)
{
    sample one;
    if (!pull(it, timeout, &one, failure)) return 0;
    memcpy(values, one.values, (size_t)count * sizeof *values);
    return one.stamp;
}

double lsl_pull_sample_str(inlet *it, char **texts, int32_t count, double timeout, int32_t *failure);
double lsl_pull_sample_str(inlet *it, char **texts, int32_t count, double timeout, int32_t *failure)
{
    sample one;
    (void)count;
    if (!pull(it, timeout, &one, failure)) return 0;
    texts[0] = strdup(one.text);
    return one.stamp;
}
