/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv_form.h"

#include "core/error.h"
#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* In the order in which they count: `spike amplitude` is an amplitude, `unit_time` a time. */
typedef enum role { OTHER, UNIT, ELECTRODE, TIME, SAMPLE, AMPLITUDE, WELL, SKIPPED } role;

enum { NO_SCALE = -1, NOT_READ = -2 };

static const struct {
    const char *word;
    role role;
} role_words[] = {
    {"unit", UNIT},
    {"units", UNIT},
    {"neuron", UNIT},
    {"neurons", UNIT},
    {"cell", UNIT},
    {"cells", UNIT},
    {"cluster", UNIT},
    {"clusters", UNIT},
    {"name", UNIT},
    {"electrode", ELECTRODE},
    {"electrodes", ELECTRODE},
    {"channel", ELECTRODE},
    {"channels", ELECTRODE},
    {"chan", ELECTRODE},
    {"ch", ELECTRODE},
    {"contact", ELECTRODE},
    {"site", ELECTRODE},
    {"time", TIME},
    {"times", TIME},
    {"timestamp", TIME},
    {"timestamps", TIME},
    {"spiketime", TIME},
    {"spiketimes", TIME},
    {"t", TIME},
    {"ts", TIME},
    {"sample", SAMPLE},
    {"samples", SAMPLE},
    {"frame", SAMPLE},
    {"frames", SAMPLE},
    {"frameno", SAMPLE},
    {"tick", SAMPLE},
    {"ticks", SAMPLE},
    {"amplitude", AMPLITUDE},
    {"amplitudes", AMPLITUDE},
    {"amp", AMPLITUDE},
    {"well", WELL},
};

static const struct {
    const char *word;
    int exponent;
} scales[] = {
    {"s", 9},
    {"sec", 9},
    {"secs", 9},
    {"second", 9},
    {"seconds", 9},
    {"ms", 6},
    {"msec", 6},
    {"msecs", 6},
    {"millisecond", 6},
    {"milliseconds", 6},
    {"us", 3},
    {"usec", 3},
    {"usecs", 3},
    {"microsecond", 3},
    {"microseconds", 3},
    {"ns", 0},
    {"nsec", 0},
    {"nanosecond", 0},
    {"nanoseconds", 0},
    {"min", NOT_READ},
    {"mins", NOT_READ},
    {"minute", NOT_READ},
    {"minutes", NOT_READ},
    {"h", NOT_READ},
    {"hour", NOT_READ},
    {"hours", NOT_READ},
};

#define COUNT(of) (sizeof(of) / sizeof *(of))

/* A micro sign, of which Unicode has two. */
static size_t micro_length(const char *at)
{
    return strncmp(at, "\xc2\xb5", 2) == 0 || strncmp(at, "\xce\xbc", 2) == 0 ? 2 : 0;
}

/* The next word in small letters; one ends where a capital follows a small letter, too. */
static bool next_word(const char **at, char word[24])
{
    size_t length = 0;
    const char *from = *at;
    while (*from != '\0' && !isalnum((unsigned char)*from) && micro_length(from) == 0)
        from++;
    bool was_small = false;
    while (isalnum((unsigned char)*from) || micro_length(from) > 0) {
        size_t micro = micro_length(from);
        if (was_small && isupper((unsigned char)*from))
            break;
        was_small = micro > 0 || islower((unsigned char)*from);
        if (length < 23)
            word[length++] = micro > 0 ? 'u' : (char)tolower((unsigned char)*from);
        from += micro > 0 ? micro : 1;
    }
    word[length] = '\0';
    *at = from;
    return length > 0;
}

/* What a column is, and the scale of its times. */
static role role_of(const char *name, int *exponent)
{
    role found = strcmp(name, "-") == 0 ? SKIPPED : OTHER;
    char word[24];
    *exponent = NO_SCALE;
    while (next_word(&name, word)) {
        for (size_t i = 0; i < COUNT(role_words); i++)
            if (strcmp(word, role_words[i].word) == 0 && role_words[i].role > found)
                found = role_words[i].role;
        for (size_t i = 0; i < COUNT(scales); i++)
            if (strcmp(word, scales[i].word) == 0)
                *exponent = scales[i].exponent;
    }
    return found == OTHER && *exponent != NO_SCALE ? TIME : found;
}

bool sf_csv_heads_times(char *const *names, size_t count)
{
    int exponent;
    for (size_t i = 0; i < count; i++) {
        role found = role_of(names[i], &exponent);
        if (found == TIME || found == SAMPLE)
            return true;
    }
    return false;
}

sf_csv_form sf_csv_form_plain(void)
{
    return (sf_csv_form){.count = 2,
                         .time = 1,
                         .of_unit = SF_CSV_NONE,
                         .well = SF_CSV_NONE,
                         .amplitude = SF_CSV_NONE,
                         .exponent = 9};
}

/* ---- which column is it ---- */

typedef struct heading {
    char *const *names;
    size_t count;
    role roles[SF_CSV_MOST_COLUMNS];
    int exponents[SF_CSV_MOST_COLUMNS];
    const char *path;
    sf_error *error;
} heading;

static int refuse_several(const heading *h, size_t first, size_t second, const char *what)
{
    char one[41], other[41];
    sf_visible_printf(one, sizeof one, "%s", h->names[first]);
    sf_visible_printf(other, sizeof other, "%s", h->names[second]);
    return sf_fail(h->error, SF_DATA, h->path,
                   "both '%s' and '%s' may be the column of %s: --columns says which counts, all columns in "
                   "their order with - for one that does not, as --columns unit,-,time",
                   one, other, what);
}

/* The only one of a role; a second is taken where it has the same name and there is a place for it. */
static int find(const heading *h, role one_of, role or_of, const char *what, size_t *at, size_t *second)
{
    *at = SF_CSV_NONE;
    for (size_t i = 0; i < h->count; i++) {
        if (h->roles[i] != one_of && h->roles[i] != or_of)
            continue;
        if (*at == SF_CSV_NONE)
            *at = i;
        else if (second != NULL && *second == SF_CSV_NONE && strcmp(h->names[*at], h->names[i]) == 0)
            *second = i;
        else
            return refuse_several(h, *at, i, what);
    }
    return SF_OK;
}

/* The only column of which nothing is known. */
static size_t find_unknown(const heading *h)
{
    size_t at = SF_CSV_NONE;
    for (size_t i = 0; i < h->count; i++) {
        if (h->roles[i] == OTHER && at != SF_CSV_NONE)
            return SF_CSV_NONE;
        at = h->roles[i] == OTHER ? i : at;
    }
    return at;
}

static int refuse_missing(const heading *h, const char *what, const char *word)
{
    sf_text names = {0};
    for (size_t i = 0; i < h->count && names.length < 200; i++)
        sf_text_printf(&names, "%s'%.40s'", i > 0 ? ", " : "", h->names[i]);
    int status =
        names.failed
            ? sf_fail_memory(h->error)
            : sf_fail(h->error, SF_DATA, h->path,
                      "none of the columns %s is known as that of %s: head it `%s`, or say all columns in "
                      "their order, with - for one that does not matter, as --columns unit,-,time_ms",
                      names.data != NULL ? names.data : "", what, word);
    sf_text_free(&names);
    return status;
}

static int find_times(const heading *h, sf_csv_form *form)
{
    int status = find(h, TIME, TIME, "times", &form->time, NULL);
    if (status == SF_OK && form->time == SF_CSV_NONE) {
        status = find(h, SAMPLE, SAMPLE, "times", &form->time, NULL);
        form->counts_samples = form->time != SF_CSV_NONE;
    }
    if (status == SF_OK && form->time == SF_CSV_NONE && h->count == 2)
        form->time = h->roles[1] == OTHER ? 1 : h->roles[0] == OTHER ? 0 : SF_CSV_NONE;
    if (status != SF_OK)
        return status;
    if (form->time == SF_CSV_NONE)
        return refuse_missing(h, "times", "time_s");
    form->exponent = h->exponents[form->time] == NO_SCALE ? 9 : h->exponents[form->time];
    if (form->exponent != NOT_READ)
        return SF_OK;
    char name[41];
    sf_visible_printf(name, sizeof name, "%s", h->names[form->time]);
    return sf_fail(h->error, SF_DATA, h->path,
                   "times in '%s' are not read: expected s, ms, us, ns or samples", name);
}

int sf_csv_form_of(sf_csv_form *form, char *const *names, size_t count, const char *path, sf_error *error)
{
    heading h = {.names = names,
                 .count = count < SF_CSV_MOST_COLUMNS ? count : SF_CSV_MOST_COLUMNS,
                 .path = path,
                 .error = error};
    *form = sf_csv_form_plain();
    form->count = h.count;
    for (size_t i = 0; i < h.count; i++)
        h.roles[i] = role_of(names[i], &h.exponents[i]);
    int status = find_times(&h, form);
    if (status == SF_OK)
        h.roles[form->time] = SKIPPED;
    if (status == SF_OK)
        status = find(&h, UNIT, ELECTRODE, "units", &form->unit, &form->of_unit);
    if (status == SF_OK)
        status = find(&h, WELL, WELL, "wells", &form->well, NULL);
    if (status == SF_OK)
        status = find(&h, AMPLITUDE, AMPLITUDE, "amplitudes", &form->amplitude, NULL);
    if (status == SF_OK && form->unit == SF_CSV_NONE)
        form->unit = find_unknown(&h);
    if (status == SF_OK && form->unit == SF_CSV_NONE)
        status = refuse_missing(&h, "units", "unit");
    form->of_electrodes = status == SF_OK && h.roles[form->unit] == ELECTRODE;
    return status;
}
