/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Options: one row describes a member of a struct that people set: its key, type, place, bounds, words, when
 * it has a meaning, and what it is. What reads a configuration or a command line, what prints help, and what
 * checks a struct that a program filled go by the same rows. Defaults are not here: they are what a struct at
 * its defaults holds in that place.
 */
#ifndef SF_CORE_KEYS_H
#define SF_CORE_KEYS_H

#include "core/text.h"

#include <synfire/error.h>

typedef enum sf_key_type {
    SF_KEY_TEXT,   /**< char *, of 1 to SF_KEY_LONGEST bytes; or one of `words` */
    SF_KEY_WHOLE,  /**< uint32_t */
    SF_KEY_COUNT,  /**< uint64_t */
    SF_KEY_REAL,   /**< double */
    SF_KEY_TIME,   /**< int64_t, ns; people write `unit` */
    SF_KEY_SWITCH, /**< bool */
    SF_KEY_CHOICE, /**< an enum: the index among `words` */
    SF_KEY_SET,    /**< unsigned, of command lines alone: a list of `words` as bits; the last is for none */
    SF_KEY_FORM,   /**< of command lines alone: what `read` makes of a text */
    SF_KEY_KIND,   /**< the first key of items of several kinds: it says which */
    SF_KEY_GROUP,  /**< keys below it, of the same struct */
    SF_KEY_LIST    /**< an array of structs, or of char *; its length is a uint32_t at count_offset */
} sf_key_type;

#define SF_KEY_LONGEST 4096

/** What a text is about, where that matters to others. */
typedef enum sf_key_use {
    SF_KEY_VALUE,
    SF_KEY_READS, /**< a file that is read: nothing may write to it */
    SF_KEY_WRITES /**< where something is written to, which nothing else may */
} sf_key_use;

typedef struct sf_key {
    const char *name; /**< NULL ends a table */
    /** its name in the release before, also as an option, which is still read; NULL: this one */
    const char *old;
    sf_key_type type;
    size_t offset, count_offset;
    double least,
        most;    /**< bounds of a number, both included; of a list the most items. A time's are in ns */
    bool live;   /**< may change while a run goes on */
    bool needed; /**< a text without a default, which may not be missing */
    sf_key_use use;
    const char *where;        /**< the neighbour that gives it a meaning, as "metric=sttc,x"; NULL: always */
    const char *const *words; /**< of a choice, or of a text that is one of these; up to NULL */
    bool (*takes)(const char *text);  /**< of a text: whether it may be, beside its length; NULL: any may */
    const char *form;                 /**< what is expected, in place of what type and bounds say */
    const struct sf_key_table *table; /**< below a group, or of a list's items; NULL: a list of texts */
    const struct sf_key *item;        /**< of a list of texts: what each may be; NULL: any text */
    /** What 0, or no text, stands for: "all cores". Command lines say it by leaving the option out, and take
     * numbers above 0 alone. NULL: 0 is a number as others. */
    const char *zero;
    const char *unit;     /**< of a time: "s" or "ms"; then its key ends in _ns */
    const char *option;   /**< its name on command lines; NULL: the key, with - for _ and without its unit */
    const char *argument; /**< what stands for a value in help; NULL: its words */
    const char *what;    /**< for help and the reference, which add bounds and default; of a form it is all */
    const char *example; /**< of a needed text: its value in the reference; NULL: the word of the first key */
    /** Reads a text of a form of its own into the struct, which may borrow the text. Fails with what was
     * found and what was expected. */
    int (*read)(void *object, const char *text, sf_error *error);
} sf_key;

/** One of the kinds that a list's items may be of: the keys that it has besides those that all have. */
typedef struct sf_key_kind {
    const char *name;
    const sf_key *keys;
    size_t size; /**< of its settings */
    const void *defaults;
    const char *about; /**< what it is */
} sf_key_kind;

#define SF_KEY_PARTS 4

/** The keys of one struct, in the order in which people read them. A key that is a neighbour in `where` comes
 * first. */
typedef struct sf_key_table {
    const sf_key *parts[SF_KEY_PARTS]; /**< one after the other; those of the kinds come after the first */
    size_t size;                       /**< of an item of a list; without kinds */
    const void *defaults;              /**< an item at its defaults; NULL of a group */
    bool by_first;                     /**< `defaults` is one for each value of the first key, a choice */
    const sf_key_kind *(*kind)(size_t index); /**< NULL beyond the last; NULL: items are all alike */
} sf_key_table;

/** An item of a list with kinds. */
typedef struct sf_key_item {
    const sf_key_kind *kind;
    void *settings; /**< kind->size bytes */
} sf_key_item;

static inline const void *sf_keys_defaults(const sf_key_table *table, int first)
{
    return (const char *)table->defaults + (table->by_first ? (size_t)first * table->size : 0);
}

#define SF_KEYS_MOST 32

/** The keys that a struct of this kind may have, in order; a NULL kind: of all kinds. A name comes more than
 * once where its rows differ in `where`. */
size_t sf_keys_of(const sf_key_table *table, const sf_key_kind *kind, const sf_key *keys[SF_KEYS_MOST]);
bool sf_keys_named_before(const sf_key *const *keys, size_t index);

/** Among these the first of this name that has a meaning in the struct, or NULL. */
const sf_key *sf_keys_find(const sf_key *const *keys, size_t count, const char *name, const void *object);

/** Where a key has its value. */
static inline void *sf_key_at(const sf_key *key, const void *object)
{
    return (char *)object + key->offset;
}

/** "length_s, hop_s, silence_s": the names that a struct may have. */
void sf_keys_list(sf_text *text, const sf_key_table *table);

/** "a whole number from 1 to 16": what a value of this key may be on a command line. */
void sf_key_range(sf_text *text, const sf_key *key);

/** The same in a configuration, where 0 may stand for something. `table` holds the key. */
void sf_key_expected(sf_text *text, const sf_key *key, const sf_key_table *table);

/** Checks the numbers, choices and texts of a struct that a program filled. `refused` with the key, as
 * "window.length_s", for its place. */
int sf_keys_check(const sf_key_table *table, const void *object, int refused, sf_error *error);

/** What `x_options_init` does (core/options.h), and what an entry that takes such options begins with: `own`
 * becomes the defaults, then what the caller's struct holds; then it is checked. SF_USAGE with the key for
 * its place, or `what` where the struct's size is wrong. */
void sf_keys_init(const sf_key_table *table, void *options, size_t size);
int sf_keys_read(const sf_key_table *table, void *own, const void *options, const char *what,
                 sf_error *error);

/** Sets a number, time, choice or switch (true, false) from text; a text is only checked, not set. False,
 * with nothing set, if it is no value of this key. */
bool sf_key_parse(const sf_key *key, void *object, const char *text);

/** The number that this key has, of a time in its unit; NaN of what is none. */
double sf_key_number(const sf_key *key, const void *object);

static inline bool sf_key_is_zero(const sf_key *key, const void *object)
{
    return sf_key_number(key, object) == 0;
}

/** Appends the key's name on command lines; and true where this is it. */
void sf_key_option(sf_text *text, const sf_key *key);
bool sf_key_is_option(const sf_key *key, const char *name);

/** The index of a text among the words up to NULL, or that of NULL. */
size_t sf_keys_word(const char *const *words, const char *text);

#endif
