/* SPDX-License-Identifier: Apache-2.0 */
/* The reference: every row of a configuration, at its default, with its bounds and what it is. */
#include "core/json.h"
#include "core/memory.h"
#include "live/config_keys.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 120
#define COMMENT_AT 34
#define PART_SIZE 64

static const char *const introduction[] = {
    "Every key of `synfire run CONFIG`, as `synfire describe configuration` prints it. What stands here is "
    "the default, except where a comment says NEEDED: such a key has no default. A key that is left out has "
    "its default; a key that does not exist, a wrong type or a value out of range is refused with line, "
    "column and what was expected. `synfire run CONFIG --check` prints what a file comes to; `--set "
    "window.length_s=5` overrides a key for one run, `--set sources.0.speed=max` one in a list",
    "Lists are empty unless they are given: their items here are examples. A key that is commented out has "
    "no meaning beside these defaults; an item that is commented out is one of another form, with the keys "
    "in which it differs from the first. live: may change while a run goes on (docs/operations.md)",
};

/* Where a struct stands: what is before its lines, of an item the first with its dash, and before its keys.
 */
typedef struct place {
    char first[PART_SIZE], rest[PART_SIZE], path[PART_SIZE];
    bool is_form; /* an item of which only what differs from the first is shown */
} place;

/* A key of a struct. */
typedef struct shown {
    const sf_key *key, *first;
    const sf_key_kind *kind;
    const void *object;
    bool has_meaning; /* beside the other values */
} shown;

typedef struct reference reference;
struct reference {
    sf_text *text;
    sf_json *json;
    void (*show)(reference *it, const place *at, const shown *is);
    sf_text said;                         /* of the items of one list: what is said once */
    sf_text entry, comment, value, where; /* of the key at hand */
};

/* ---- what is said of a key ---- */

static bool is_number(const sf_key *key)
{
    return key->type == SF_KEY_WHOLE || key->type == SF_KEY_REAL;
}

static const char *const *words_of(const sf_key *key)
{
    return key->item != NULL ? key->item->words : key->words;
}

static const char *about(const shown *is)
{
    return is->key->type == SF_KEY_KIND ? is->kind->about : is->key->what;
}

/* Adds the value: nothing for a group or a list; for a required text an example, or the word of the item's
 * first key. */
static void add_value(sf_text *text, const shown *is)
{
    if (is->key->type == SF_KEY_GROUP || is->key->type == SF_KEY_LIST) return;
    if (is->key->type != SF_KEY_TEXT || !is->key->needed)
        sf_config_print_value(text, is->key, is->kind, is->object);
    else if (is->key->example != NULL)
        sf_text_printf(text, "%s", is->key->example);
    else
        sf_config_print_value(text, is->first, is->kind, is->object);
}

/* 1e9 rather than 1000000000 */
static void add_number(sf_text *text, double number)
{
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.0e", number);
    if (number >= 1e6 && strtod(rounded, NULL) == number)
        sf_text_printf(text, "%ce%d", rounded[0], atoi(rounded + 2));
    else
        sf_text_printf(text, "%.10g", number);
}

static const char *separator(bool *open)
{
    const char *between = *open ? "; " : " (";
    *open = true;
    return between;
}

/* "NEEDED; how long it waits (0 to 60000; live)" */
static void add_comment(sf_text *text, const shown *is)
{
    const sf_key *key = is->key;
    const char *const *words = words_of(key);
    bool open = false;
    sf_text_printf(text, "%s%s%s%s%s", is->has_meaning ? "" : "where ", is->has_meaning ? "" : key->where,
                   is->has_meaning ? "" : ": ", key->needed ? "NEEDED; " : "", about(is));
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        sf_text_printf(text, "%s%s", i > 0 ? ", " : separator(&open), words[i]);
    if (key->form != NULL) {
        sf_text_printf(text, "%s%s", separator(&open), key->form);
    } else if (is_number(key)) {
        sf_text_printf(text, "%s", separator(&open));
        add_number(text, key->least);
        sf_text_printf(text, " to ");
        add_number(text, key->most);
    }
    if (is_number(key) && key->zero != NULL) sf_text_printf(text, "; 0: %s", key->zero);
    if (key->live) sf_text_printf(text, "%slive", separator(&open));
    if (open) sf_text_printf(text, ")");
}

static bool has_failed(const reference *it)
{
    return it->said.failed || it->entry.failed || it->comment.failed || it->value.failed || it->where.failed;
}

static bool is_said(reference *it, const char *name, const char *what)
{
    sf_text_clear(&it->where);
    sf_text_printf(&it->where, "\n%s\n%s\n", name, what);
    if (it->where.failed) return false;
    bool is = it->said.length > 0 && strstr(it->said.data, it->where.data) != NULL;
    if (!is) sf_text_append(&it->said, it->where.data, it->where.length);
    return is;
}

/* ---- as YAML ---- */

/* The words of a comment, in as many lines as they need. `line` is where the first one begins. */
static void add_wrapped(sf_text *text, size_t line, int indent, const char *sentence)
{
    sf_text_printf(text, "#");
    for (size_t length; *sentence != '\0'; sentence += length + (sentence[length] == ' ')) {
        length = strcspn(sentence, " ");
        if (text->length + 1 + length > line + WIDTH) {
            line = text->length + 1;
            sf_text_printf(text, "\n%*s#", indent, "");
        }
        sf_text_printf(text, " %.*s", (int)length, sentence);
    }
    sf_text_printf(text, "\n");
}

static void add_paragraph(sf_text *text, const char *sentence)
{
    sf_text whole = {0};
    sf_text_printf(&whole, "%c%s.", toupper((unsigned char)sentence[0]), sentence + 1);
    add_wrapped(text, text->length, 0, whole.failed ? "" : whole.data);
    text->failed |= whole.failed;
    sf_text_free(&whole);
}

static void add_line(sf_text *text, const char *before, const char *entry, const char *comment)
{
    size_t line = text->length;
    sf_text_printf(text, "%s%s", before, entry);
    int used = (int)(text->length - line);
    if (comment[0] == '\0') {
        sf_text_printf(text, "\n");
    } else {
        sf_text_printf(text, "%*s", used < COMMENT_AT ? COMMENT_AT - used : 1, "");
        add_wrapped(text, line, COMMENT_AT, comment);
    }
}

static void add_scalar(sf_text *text, const char *value)
{
    bool is_plain = isalnum((unsigned char)value[0]) || value[0] == '/';
    for (const char *at = value; *at != '\0'; at++)
        is_plain = is_plain && (isalnum((unsigned char)*at) || strchr("_-./:=", *at) != NULL);
    sf_text_printf(text, is_plain ? " " : " '");
    for (const char *at = value; *at != '\0'; at++)
        sf_text_printf(text, "%s%c", *at == '\'' ? "'" : "", *at);
    if (!is_plain) sf_text_printf(text, "'");
}

static void add_entry(reference *it, const shown *is)
{
    add_value(&it->value, is);
    sf_text_printf(&it->entry, "%s:", is->key->name);
    if (it->value.length > 0)
        add_scalar(&it->entry, it->value.data);
    else if (is->key->type == SF_KEY_LIST && is->key->table == NULL)
        sf_text_printf(&it->entry, " []");
}

static void show_line(reference *it, const place *at, const shown *is)
{
    char before[PART_SIZE];
    bool is_known = is_said(it, is->key->name, it->entry.data),
         is_explained = is_said(it, is->key->name, it->comment.data);
    if (at->is_form && is_known && is_explained && !is->key->needed) return;
    snprintf(before, sizeof before, "%.48s%s", is->key == is->first ? at->first : at->rest,
             is->has_meaning ? "" : "# ");
    add_line(it->text, before, it->entry.data, is_explained ? "" : it->comment.data);
}

static void show_yaml(reference *it, const place *at, const shown *is)
{
    add_entry(it, is);
    add_comment(&it->comment, is);
    if (has_failed(it)) return;
    if (at->rest[0] != '\0') {
        show_line(it, at, is);
    } else {
        sf_text_printf(it->text, "\n");
        add_paragraph(it->text, it->comment.data);
        add_line(it->text, "", it->entry.data, "");
    }
}

/* ---- as JSON ---- */

static void show_json(reference *it, const place *at, const shown *is)
{
    static const char *const types[] = {
        [SF_KEY_TEXT] = "text",   [SF_KEY_WHOLE] = "count", [SF_KEY_REAL] = "real",
        [SF_KEY_SWITCH] = "flag", [SF_KEY_CHOICE] = "text", [SF_KEY_KIND] = "text",
        [SF_KEY_GROUP] = "group", [SF_KEY_LIST] = "list",
    };
    const sf_key *key = is->key;
    bool is_shown = key->where == NULL || is_said(it, key->name, key->where);
    if (at->is_form && is_shown) return;
    sf_text_clear(&it->where);
    sf_text_printf(&it->entry, "%s%s", at->path, key->name);
    if (is->kind != NULL) sf_text_printf(&it->where, "%s=%s", is->first->name, is->kind->name);
    if (key->where != NULL) sf_text_printf(&it->where, "%s%s", is->kind != NULL ? " " : "", key->where);
    if (!key->needed) add_value(&it->value, is);
    if (has_failed(it)) return;
    sf_json_object(it->json, NULL);
    sf_json_string(it->json, "key", it->entry.data);
    sf_json_string(it->json, "where", it->where.length > 0 ? it->where.data : NULL);
    sf_json_string(it->json, "type", types[key->type]);
    sf_json_string(it->json, "default", it->value.length > 0 ? it->value.data : NULL);
    sf_json_bool(it->json, "needed", key->needed);
    sf_json_bool(it->json, "live", key->live);
    sf_json_real(it->json, "least", is_number(key) ? key->least : NAN);
    sf_json_real(it->json, "most", is_number(key) ? key->most : NAN);
    sf_json_strings(it->json, "words", words_of(key));
    sf_json_string(it->json, "form", key->form);
    sf_json_string(it->json, "zero", is_number(key) ? key->zero : NULL);
    sf_json_string(it->json, "about", about(is));
    sf_json_end_object(it->json);
}

/* ---- structs ---- */

static void show_struct(reference *it, const place *at, const sf_key_table *table, const sf_key_kind *kind,
                        const void *object);

static void show_item(reference *it, const place *list, const sf_key_table *table, const sf_key_kind *kind,
                      const void *item, bool is_form)
{
    place at = {.is_form = is_form};
    const char *mark = is_form ? "# " : "";
    snprintf(at.first, sizeof at.first, "%.24s%s- ", list->rest, mark);
    snprintf(at.rest, sizeof at.rest, "%.24s%s  ", list->rest, mark);
    snprintf(at.path, sizeof at.path, "%.48sN.", list->path);
    show_struct(it, &at, table, kind, item);
}

/* One for each word of the first key. */
static void show_forms(reference *it, const place *at, const sf_key_table *table)
{
    const sf_key *first = table->parts[0];
    void *item = sf_alloc(1, table->size);
    it->text->failed |= item == NULL;
    for (int form = 0; item != NULL && first->words[form] != NULL; form++) {
        memcpy(item, sf_keys_defaults(table, form), table->size);
        *(int *)sf_key_at(first, item) = form;
        show_item(it, at, table, NULL, item, form > 0);
    }
    sf_free(item);
}

static void show_items(reference *it, const place *at, const sf_key_table *table)
{
    if (table->kind == NULL && table->parts[0]->type == SF_KEY_CHOICE)
        show_forms(it, at, table);
    else if (table->kind == NULL)
        show_item(it, at, table, NULL, table->defaults, false);
    for (size_t i = 0; table->kind != NULL && table->kind(i) != NULL; i++)
        show_item(it, at, table, table->kind(i), table->kind(i)->defaults, false);
}

static void show_below(reference *it, const place *at, const shown *is)
{
    const sf_key *key = is->key;
    place below = {.is_form = false};
    if (key->table == NULL) return;
    snprintf(below.rest, sizeof below.rest, "%.48s  ", at->rest);
    memcpy(below.first, below.rest, sizeof below.first);
    snprintf(below.path, sizeof below.path, "%.24s%.24s.", at->path, key->name);
    sf_text_clear(&it->said);
    if (key->type == SF_KEY_GROUP)
        show_struct(it, &below, key->table, NULL, is->object);
    else
        show_items(it, &below, key->table);
    sf_text_clear(&it->said);
}

/* Without keys that another form of the item has. */
static void show_struct(reference *it, const place *at, const sf_key_table *table, const sf_key_kind *kind,
                        const void *object)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, kind, keys);
    for (size_t i = 0; i < count; i++) {
        const sf_key *found = sf_keys_find(keys, count, keys[i]->name, object);
        shown is = {keys[i], keys[0], kind, object, found == keys[i]};
        if (!is.has_meaning && (found != NULL || keys[0]->type == SF_KEY_CHOICE)) continue;
        sf_text_clear(&it->entry);
        sf_text_clear(&it->comment);
        sf_text_clear(&it->value);
        it->show(it, at, &is);
        show_below(it, at, &is);
    }
}

static void show_all(reference *it)
{
    sf_config defaults = sf_config_defaults();
    it->text->failed |= sf_live_resolve(&defaults.live, NULL) != SF_OK;
    show_struct(it, &(place){.is_form = false}, &sf_config_table, NULL, &defaults);
    it->text->failed |= has_failed(it);
    sf_text_free(&it->said);
    sf_text_free(&it->entry);
    sf_text_free(&it->comment);
    sf_text_free(&it->value);
    sf_text_free(&it->where);
}

void sf_config_reference(sf_text *text)
{
    reference it = {.text = text, .show = show_yaml};
    for (size_t i = 0; i < sizeof introduction / sizeof *introduction; i++)
        add_paragraph(text, introduction[i]);
    show_all(&it);
}

void sf_config_keys_json(sf_json *json)
{
    reference it = {.text = json->out, .json = json, .show = show_json};
    show_all(&it);
}
