/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/csv_form.h"

#include "core/error.h"
#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* In order of precedence: `spike amplitude` is an amplitude, `unit_time` a time. */
typedef enum role { OTHER, PART, UNIT, ELECTRODE, TIME, SAMPLE, AMPLITUDE, WELL, SKIPPED } role;

#define LONGEST_HEADING 256

static const struct {
    const char *word;
    role role;
} role_words[] = {
    {"trial", PART},
    {"trials", PART},
    {"sweep", PART},
    {"sweeps", PART},
    {"session", PART},
    {"sessions", PART},
    {"recording", PART},
    {"recordings", PART},
    {"segment", PART},
    {"segments", PART},
    {"repetition", PART},
    {"repetitions", PART},
    {"block", PART},
    {"blocks", PART},
    {"unit", UNIT},
    {"units", UNIT},
    {"neuron", UNIT},
    {"neurons", UNIT},
    {"cell", UNIT},
    {"cells", UNIT},
    {"cluster", UNIT},
    {"clusters", UNIT},
    {"name", UNIT},
    {"neurone", UNIT},
    {"neurona", UNIT},
    {"einheit", UNIT},
    {"unidad", UNIT},
    {"sender", UNIT},
    {"senders", UNIT},
    {"electrode", ELECTRODE},
    {"electrodes", ELECTRODE},
    {"channel", ELECTRODE},
    {"channels", ELECTRODE},
    {"chan", ELECTRODE},
    {"ch", ELECTRODE},
    {"contact", ELECTRODE},
    {"site", ELECTRODE},
    {"kanal", ELECTRODE},
    {"elektrode", ELECTRODE},
    {"canal", ELECTRODE},
    {"time", TIME},
    {"times", TIME},
    {"timestamp", TIME},
    {"timestamps", TIME},
    {"spiketime", TIME},
    {"spiketimes", TIME},
    {"t", TIME},
    {"ts", TIME},
    {"zeit", TIME},
    {"temps", TIME},
    {"tiempo", TIME},
    {"tempo", TIME},
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
    {"sek", 9},
    {"sekunde", 9},
    {"sekunden", 9},
    {"seconde", 9},
    {"secondes", 9},
    {"segundo", 9},
    {"segundos", 9},
    {"ms", 6},
    {"msec", 6},
    {"msecs", 6},
    {"millisecond", 6},
    {"milliseconds", 6},
    {"milli", 6},
    {"millis", 6},
    {"millisekunden", 6},
    {"us", 3},
    {"usec", 3},
    {"usecs", 3},
    {"microsecond", 3},
    {"microseconds", 3},
    {"micro", 3},
    {"micros", 3},
    {"microsekunden", 3},
    {"ns", 0},
    {"nsec", 0},
    {"nanosecond", 0},
    {"nanoseconds", 0},
    {"nano", 0},
    {"nanos", 0},
    {"nanosekunden", 0},
    {"min", SF_CSV_NOT_READ},
    {"mins", SF_CSV_NOT_READ},
    {"minute", SF_CSV_NOT_READ},
    {"minutes", SF_CSV_NOT_READ},
    {"h", SF_CSV_NOT_READ},
    {"hour", SF_CSV_NOT_READ},
    {"hours", SF_CSV_NOT_READ},
    {"day", SF_CSV_NOT_READ},
    {"days", SF_CSV_NOT_READ},
    {"step", SF_CSV_NOT_READ}, /* simulation steps, whose length no text states */
    {"steps", SF_CSV_NOT_READ},
};

#define COUNT(of) (sizeof(of) / sizeof *(of))

#define NO_LETTER '?' /* placeholder for an unknown character */

/* Converts a heading to ASCII: a micro sign (two in Unicode, one in Latin-1) becomes u; any other character
 * beyond ASCII, or a question mark, may be a lost micro sign. */
static void take_ascii(const char *name, char ascii[LONGEST_HEADING])
{
    size_t length = 0;
    while (*name != '\0' && length + 1 < LONGEST_HEADING) {
        size_t bytes = sf_utf8_length(name);
        bool micro = bytes == 2 ? strncmp(name, "\xc2\xb5", 2) == 0 || strncmp(name, "\xce\xbc", 2) == 0
                                : bytes == 0 && *name == '\xb5';
        ascii[length++] = bytes == 1 ? *name : micro ? 'u' : NO_LETTER;
        name += bytes > 0 ? bytes : 1;
    }
    ascii[length] = '\0';
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == NO_LETTER;
}

/* The next word in lower case; a capital after a small letter begins a new word. *depth is the nesting depth
 * in brackets. */
static bool next_word(const char **at, char word[24], int *depth)
{
    size_t length = 0;
    const char *from = *at;
    for (; *from != '\0' && !is_of_word(*from); from++)
        *depth += strchr("([{", *from) != NULL ? 1 : strchr(")]}", *from) != NULL ? -1 : 0;
    bool was_small = false;
    for (; is_of_word(*from) && !(was_small && isupper((unsigned char)*from)); from++) {
        was_small = islower((unsigned char)*from);
        if (length < 23) word[length++] = (char)tolower((unsigned char)*from);
    }
    word[length] = '\0';
    *at = from;
    return length > 0;
}

static int scale_of(const char *word)
{
    for (size_t i = 0; i < COUNT(scales); i++)
        if (strcmp(word, scales[i].word) == 0) return scales[i].exponent;
    return SF_CSV_NO_SCALE;
}

/* A multiple of a unit of time, such as 10us, or a unit after a lost sign. */
static bool is_multiple(const char *word)
{
    size_t signs = strspn(word, "0123456789?");
    return signs > 0 && scale_of(word + signs) != SF_CSV_NO_SCALE;
}

/* As 10 and x10 are. */
static bool is_factor(const char *word)
{
    return strpbrk(word, "0123456789") != NULL && word[strspn(word, "0123456789x")] == '\0';
}

static role role_of_word(const char *word)
{
    for (size_t i = 0; i < COUNT(role_words); i++)
        if (strcmp(word, role_words[i].word) == 0) return role_words[i].role;
    return OTHER;
}

/* Role of a column, and the scale of its times. Words in brackets, or after `in`, give the scale only. A
 * scale is not readable if it has another word, two units of time, or a multiple of one. */
static role role_of(const char *name, int *exponent)
{
    role found = strcmp(name, "-") == 0 ? SKIPPED : OTHER;
    char word[24], ascii[LONGEST_HEADING];
    const char *at = ascii;
    int depth = 0;
    bool says_scale = false, has_factor = false, unread = false;
    take_ascii(name, ascii);
    *exponent = SF_CSV_NO_SCALE;
    while (next_word(&at, word, &depth)) {
        role of = role_of_word(word);
        int scale = scale_of(word);
        found = of > found ? of : found;
        has_factor = has_factor || is_factor(word);
        unread = unread || is_multiple(word) ||
                 (scale != SF_CSV_NO_SCALE && *exponent != SF_CSV_NO_SCALE && scale != *exponent) ||
                 ((depth > 0 || says_scale) && scale == SF_CSV_NO_SCALE && of == OTHER);
        *exponent = scale != SF_CSV_NO_SCALE ? scale : *exponent;
        says_scale = strcmp(word, "in") == 0;
    }
    if (found == PART && *exponent != SF_CSV_NO_SCALE) /* when a trial began, not which it is */
        return SKIPPED;
    found = found == OTHER && *exponent != SF_CSV_NO_SCALE ? TIME : found;
    if (found == TIME && (unread || (has_factor && *exponent != SF_CSV_NO_SCALE)))
        *exponent = SF_CSV_NOT_READ;
    return found;
}

const char *sf_csv_scale_name(int exponent)
{
    static const char *const names[] = {[0] = "ns", [3] = "us", [6] = "ms", [9] = "s"};
    return names[exponent];
}

int sf_csv_scale(const char *name)
{
    int exponent;
    return role_of(name, &exponent) == TIME || exponent != SF_CSV_NO_SCALE ? exponent : SF_CSV_NO_SCALE;
}

bool sf_csv_heads_times(char *const *names, size_t count)
{
    int exponent;
    for (size_t i = 0; i < count; i++) {
        role found = role_of(names[i], &exponent);
        if (found == TIME || found == SAMPLE) return true;
    }
    return false;
}

bool sf_csv_heads_units(const char *name)
{
    int exponent;
    role found = role_of(name, &exponent);
    return found == UNIT || found == ELECTRODE;
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

/* Finds the only column of a role; accepts a second one if it has the same name and there is a place for it.
 */
static int find(const heading *h, role one_of, role or_of, const char *what, size_t *at, size_t *second)
{
    *at = SF_CSV_NONE;
    for (size_t i = 0; i < h->count; i++) {
        if (h->roles[i] != one_of && h->roles[i] != or_of) continue;
        if (*at == SF_CSV_NONE)
            *at = i;
        else if (second != NULL && *second == SF_CSV_NONE && strcmp(h->names[*at], h->names[i]) == 0)
            *second = i;
        else
            return refuse_several(h, *at, i, what);
    }
    return SF_OK;
}

/* The only column of unknown meaning. */
static size_t find_unknown(const heading *h)
{
    size_t at = SF_CSV_NONE;
    for (size_t i = 0; i < h->count; i++) {
        if (h->roles[i] == OTHER && at != SF_CSV_NONE) return SF_CSV_NONE;
        at = h->roles[i] == OTHER ? i : at;
    }
    return at;
}

/* Finds the columns of trials; if no other column names units, a single one of them does, as for the trials
 * of one neuron. */
static void find_parts(const heading *h, sf_csv_form *form)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->roles[i] == PART && form->part_count < SF_CSV_MOST_PARTS) form->parts[form->part_count++] = i;
    if (form->unit == SF_CSV_NONE && form->part_count == 1) {
        form->unit = form->parts[0];
        form->part_count = 0;
    }
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
    form->is_guess = form->time != SF_CSV_NONE && h->roles[form->time] == OTHER;
    if (status != SF_OK) return status;
    if (form->time == SF_CSV_NONE) return refuse_missing(h, "times", "time_s");
    int exponent = form->counts_samples ? SF_CSV_NO_SCALE : h->exponents[form->time];
    form->names_scale = form->counts_samples || exponent != SF_CSV_NO_SCALE;
    form->exponent = exponent == SF_CSV_NO_SCALE ? 9 : exponent;
    if (form->exponent != SF_CSV_NOT_READ) return SF_OK;
    char name[41];
    sf_visible_printf(name, sizeof name, "%s", h->names[form->time]);
    return sf_fail(h->error, SF_DATA, h->path,
                   "times in '%s' are not read: expected s, ms, us, ns or samples, as time_ms; --columns "
                   "says it otherwise",
                   name);
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
    if (status == SF_OK) h.roles[form->time] = SKIPPED;
    if (status == SF_OK) status = find(&h, UNIT, ELECTRODE, "units", &form->unit, &form->of_unit);
    if (status == SF_OK) status = find(&h, WELL, WELL, "wells", &form->well, NULL);
    if (status == SF_OK) status = find(&h, AMPLITUDE, AMPLITUDE, "amplitudes", &form->amplitude, NULL);
    if (status == SF_OK && form->unit == SF_CSV_NONE) form->unit = find_unknown(&h);
    if (status == SF_OK) find_parts(&h, form);
    if (status == SF_OK && form->unit == SF_CSV_NONE && h.count > 1)
        status = refuse_missing(&h, "units", "unit");
    form->of_electrodes = status == SF_OK && form->unit != SF_CSV_NONE && h.roles[form->unit] == ELECTRODE;
    return status;
}
