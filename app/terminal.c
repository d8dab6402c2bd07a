/* SPDX-License-Identifier: Apache-2.0 */
/* What a person sees: results on stdout, everything else on stderr. */
#include "app/command.h"

#include "app/csv.h"
#include "app/screen.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct progress_bar {
    double start, last_drawn;
    char what[48];
    bool drawn;
} progress_bar;

static progress_bar bar; /* on the last line of stderr where it is drawn */

static void clear_bar(void)
{
    if (bar.drawn) fprintf(stderr, "\r\033[K");
    bar.drawn = false;
}

bool app_write(FILE *out, sf_text *text)
{
    clear_bar();
    sf_text_make_visible(text, true);
    return !text->failed && fwrite(text->data, 1, text->length, out) == text->length && fflush(out) == 0;
}

/* A line of the command on stderr. */
static void say(const app_call *call, const char *format, va_list arguments)
{
    sf_text line = {0}, sentence = {0};
    sf_text_vprintf(&sentence, format, arguments);
    sf_text_make_visible(&sentence, false);
    sf_text_printf(&line, "synfire: %s: %s\n", call->command->name, sentence.failed ? "" : sentence.data);
    if (line.failed || !app_screen_keep(line.data)) app_write(stderr, &line);
    sf_text_free(&sentence);
    sf_text_free(&line);
}

static void free_sentences(app_sentences *sentences)
{
    for (size_t i = 0; i < sentences->count; i++)
        sf_free(sentences->items[i]);
    sentences->count = 0;
}

void app_said_free(app_said *said)
{
    free_sentences(&said->warnings);
    free_sentences(&said->doubts);
}

/* A sentence that several series or epochs cause is printed once. */
typedef enum kept { KEPT_NEW, KEPT_BEFORE, KEPT_NOT } kept;

static kept keep(app_sentences *sentences, const char *format, va_list arguments)
{
    char sentence[1024];
    int length = vsnprintf(sentence, sizeof sentence, format, arguments);
    if (length < 0 || (size_t)length >= sizeof sentence) return KEPT_NOT;
    for (size_t i = 0; i < sentences->count; i++)
        if (strcmp(sentences->items[i], sentence) == 0) return KEPT_BEFORE;
    if (sentences->count == APP_MOST_SAID ||
        (sentences->items[sentences->count] = sf_copy_string(sentence)) == NULL)
        return KEPT_NOT;
    sentences->count++;
    return KEPT_NEW;
}

static bool was_said(app_said *said, const char *format, va_list arguments)
{
    return said != NULL && keep(&said->warnings, format, arguments) == KEPT_BEFORE;
}

void app_warn(const app_call *call, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    if (!call->quiet && !was_said(call->said, format, again)) say(call, format, arguments);
    va_end(again);
    va_end(arguments);
}

void app_doubt(const app_call *call, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    bool waits = call->said != NULL && keep(&call->said->doubts, format, again) != KEPT_NOT;
    if (!waits && !call->quiet) say(call, format, arguments);
    va_end(again);
    va_end(arguments);
}

app_call app_silenced(const app_call *call)
{
    app_call silent = *call;
    silent.said = NULL;
    silent.quiet = true;
    return silent;
}

void app_doubts_print(sf_text *text, const app_call *call)
{
    app_sentences *doubts = call->said != NULL ? &call->said->doubts : NULL;
    for (size_t i = 0; doubts != NULL && i < doubts->count; i++)
        sf_text_printf(text, "%s  %s\n", i == 0 ? "\nDoubtful\n" : "", doubts->items[i]);
    if (doubts != NULL) free_sentences(doubts);
}

void app_doubts_warn(const app_call *call)
{
    app_sentences *doubts = call->said != NULL ? &call->said->doubts : NULL;
    for (size_t i = 0; doubts != NULL && i < doubts->count; i++)
        app_warn(call, "%s", doubts->items[i]);
    if (doubts != NULL) free_sentences(doubts);
}

__attribute__((format(printf, 2, 3))) static void report(const app_call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(call, format, arguments);
    va_end(arguments);
}

static void print_line(void *user, sf_log_level level, const char *line)
{
    const app_call *call = user;
    if (level == SF_LOG_ERROR || !call->quiet) /* each time, as live runs say when a source is lost again */
        report(call, "%s", line);
}

void app_print_log(const app_call *call)
{
    app_call reader = *call;
    clear_bar();
    uint64_t lost = sf_log_drain(print_line, &reader);
    if (lost > 0) app_warn(call, "%" PRIu64 " log lines lost", lost);
}

static bool printed;

bool app_has_printed(void)
{
    return printed;
}

void app_print_anew(void)
{
    printed = false;
}

int app_print(sf_text *text, sf_error *error)
{
    int status = error != NULL ? sf_ranks_agree(SF_OK, error) : SF_OK; /* nobody has failed meanwhile */
    if (status != SF_OK) {
        sf_text_free(text);
        return status;
    }
    printed = true;
    sf_text_append(text, "\n", 1);
    bool written = app_write(stdout, text), failed = text->failed;
    int reason = errno;
    sf_text_free(text);
    if (failed) return sf_fail_memory(error);
    if (!written && reason == EPIPE) /* `| head` has what it wanted */
        return SF_OK;
    if (!written) return sf_fail(error, SF_IO, "standard output", "cannot write: %s", strerror(reason));
    return SF_OK;
}

int app_tell(const app_call *call, const app_telling *telling, const void *what, int table, sf_error *error)
{
    sf_text text = {0};
    int status = SF_OK;
    if (call->json) {
        app_document_json(&text, call, telling->document, what);
    } else if (app_has(call, "csv")) {
        const sf_table asked = telling->table(what, (size_t)table);
        app_csv_table(&text, &asked);
    } else {
        status = telling->lines(&text, what, error);
        app_doubts_print(&text, call);
        if (text.length > 0) text.length--; /* app_print ends the last line */
    }
    if (status == SF_OK) return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

/* ---- progress ---- */

/* As people tell how long they wait. */
static void print_left(double seconds)
{
    if (seconds < 300)
        fprintf(stderr, "  %.0f s left", seconds);
    else if (seconds < 3 * 3600)
        fprintf(stderr, "  %.0f min left", seconds / 60);
    else if (seconds < 3 * 86400)
        fprintf(stderr, "  %.0f h left", seconds / 3600);
    else
        fprintf(stderr, "  %.3g days left", seconds / 86400);
}

static void draw_bar(const char *what, double done, double total, double now)
{
    enum { WIDTH = 30 };
    double share = total > 0 ? done / total : 0;
    if (share > 1) share = 1;
    double elapsed = now - bar.start;
    char filled[WIDTH + 1];
    memset(filled, '.', WIDTH);
    memset(filled, '#', (size_t)(share * WIDTH));
    filled[WIDTH] = '\0';
    bool slow = share > 0 && share < 0.01; /* what takes hours is seen to go on too */
    fprintf(stderr, slow ? "\r\033[K%s [%s] %.2g %%  %.3g/s" : "\r\033[K%s [%s] %3.0f %%  %.3g/s", what,
            filled, share * 100, done / elapsed);
    if (share > 0) print_left(elapsed * (1 - share) / share);
    fflush(stderr);
    bar.drawn = true;
    bar.last_drawn = now;
}

static bool update_bar(void *user, const char *what, double done, double total)
{
    const app_call *call = user;
    double now = sf_clock_seconds();
    if (strncmp(bar.what, what, sizeof bar.what - 1) != 0) {
        clear_bar();
        snprintf(bar.what, sizeof bar.what, "%s", what);
        bar.start = now;
    }
    if (done >= total) {
        clear_bar();
        bar.what[0] = '\0'; /* the next of that name begins anew */
    } else if (!call->quiet && isatty(STDERR_FILENO) && now - bar.start > 1 && now - bar.last_drawn > 0.1) {
        draw_bar(what, done, total, now);
    }
    return !app_stop_requested();
}

sf_progress app_progress(const app_call *call)
{
    return (sf_progress){.update = update_bar, .user = (void *)(uintptr_t)call};
}

/* ---- tables ---- */

void app_table_heads(app_table *table, const char *const *heads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        app_table_cell(table, "%s", heads[i]);
}

void app_table_real(app_table *table, int digits, double value)
{
    if (isfinite(value))
        app_table_cell(table, "%.*g", digits, value);
    else
        app_table_cell(table, "-");
}

void app_table_cell(app_table *table, const char *format, ...)
{
    sf_text cell = {0};
    va_list arguments;
    va_start(arguments, format);
    sf_text_vprintf(&cell, format, arguments);
    va_end(arguments);
    sf_text_make_visible(&cell, false); /* before its width is measured */
    void *cells = table->cells;
    if (cell.failed || sf_reserve(&cells, &table->capacity, table->count + 1, sizeof *table->cells) != 0) {
        table->failed = true;
        sf_text_free(&cell);
        return;
    }
    table->cells = cells;
    table->cells[table->count++] = cell.data;
}

size_t app_width(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += (text[i] & 0xc0) != 0x80;
    return width;
}

static size_t width_of(const char *cell)
{
    return app_width(cell, strlen(cell));
}

static bool is_number(const char *cell)
{
    char *end;
    strtod(cell, &end);
    return end != cell && (*end == '\0' || strcmp(end, " %") == 0);
}

typedef struct table_column {
    size_t widest;
    bool numbers; /* below the head: set to the right */
} table_column;

static table_column measure_column(const app_table *table, size_t columns, size_t column)
{
    table_column measured = {.numbers = table->count > columns};
    for (size_t i = column; i < table->count; i += columns) {
        const char *cell = table->cells[i];
        measured.widest = width_of(cell) > measured.widest ? width_of(cell) : measured.widest;
        measured.numbers =
            measured.numbers && (i < columns || cell[0] == '\0' || strcmp(cell, "-") == 0 || is_number(cell));
    }
    return measured;
}

static void print_cell(sf_text *out, const char *cell, const table_column *column, bool last)
{
    int padding = (int)(column->widest - width_of(cell));
    if (column->numbers)
        sf_text_printf(out, "%*s%s", padding, "", cell);
    else
        sf_text_printf(out, "%s%*s", cell, last ? 0 : padding, "");
}

/* How a table is laid out: columns that are left out have a width of 0. */
typedef struct layout {
    table_column *columns;
    size_t count, width; /**< width: of the screen; SIZE_MAX: any */
} layout;

#define BETWEEN 2 /* columns */

static size_t last_kept(const layout *l)
{
    size_t last = 0;
    for (size_t c = 0; c < l->count; c++)
        last = l->columns[c].widest > 0 ? c : last;
    return last;
}

static size_t total_width(const layout *l)
{
    size_t width = 0;
    for (size_t c = 0; c < l->count; c++)
        width += l->columns[c].widest > 0 ? l->columns[c].widest + (width > 0 ? BETWEEN : 0) : 0;
    return width;
}

/* A name in quotation marks is one word. */
static size_t word_length(const char *word)
{
    size_t length = 0;
    for (bool quoted = false; word[length] != '\0' && (quoted || word[length] != ' '); length++) {
        quoted ^= word[length] == '"';
        length += word[length] == '\\' && word[length + 1] != '\0';
    }
    return length;
}

/* For a word that is too long, the first `length` bytes with the spaces before it: the part up to the last
 * underscore that fits, or all of it. */
static size_t fit_word(const char *word, size_t length, size_t width)
{
    size_t fits = length;
    while (fits > 0 && (word[fits - 1] != '_' || app_width(word, fits) > width))
        fits--;
    return fits > 0 ? fits : length;
}

/* Length of as many whole words as fit into `width` characters; at least one, or its beginning. */
static size_t fit_words(const char *cell, size_t width)
{
    size_t fits = 0, next = 0;
    while (cell[next] != '\0') {
        next += strspn(cell + next, " ");
        next += word_length(cell + next);
        bool too_long = app_width(cell, next) > width;
        if (too_long && fits == 0) return fit_word(cell, next, width);
        if (too_long) break;
        fits = next;
    }
    return fits;
}

#define INDENT 2 /* of what goes on */

/* The first cell, of which what has no room goes into further lines. Returns where these begin. */
static const char *print_first(sf_text *out, const char *cell, const table_column *column, bool last)
{
    if (width_of(cell) <= column->widest) {
        print_cell(out, cell, column, last);
        return "";
    }
    size_t fits = fit_words(cell, column->widest);
    sf_text part = {0};
    sf_text_append(&part, cell, fits);
    if (!part.failed)
        print_cell(out, part.data,
                   &(table_column){.widest = column->widest > width_of(part.data) ? column->widest
                                                                                  : width_of(part.data)},
                   last);
    out->failed = out->failed || part.failed;
    sf_text_free(&part);
    return cell + fits + strspn(cell + fits, " ");
}

static void print_table(sf_text *out, const app_table *table, const layout *l)
{
    size_t last = last_kept(l);
    for (size_t row = 0; row < table->count; row += l->count) {
        const char *rest = print_first(out, table->cells[row], &l->columns[0], last == 0);
        for (size_t c = 1; c <= last; c++) {
            if (l->columns[c].widest == 0) continue;
            sf_text_printf(out, "%*s", BETWEEN, "");
            print_cell(out, table->cells[row + c], &l->columns[c], c == last);
        }
        sf_text_printf(out, "\n");
        while (*rest != '\0') {
            size_t fits = fit_words(rest, l->columns[0].widest - INDENT);
            sf_text_printf(out, "%*s%.*s\n", INDENT, "", (int)fits, rest);
            rest += fits + strspn(rest + fits, " ");
        }
    }
}

#define LEAST_FIRST 20 /* a first column is not made narrower */

/* Below its head it has anything. */
static bool tells(const app_table *table, size_t columns, size_t column)
{
    for (size_t i = columns + column; i < table->count; i += columns)
        if (strcmp(table->cells[i], "-") != 0 && table->cells[i][0] != '\0') return true;
    return false;
}

/* The columns whose head this is: shown where they tell anything, or left out. */
static void set_columns(layout *l, const app_table *table, const char *head, bool shown)
{
    for (size_t c = 1; c < l->count; c++)
        if (strcmp(table->cells[c], head) == 0)
            l->columns[c].widest =
                shown && tells(table, l->count, c) ? measure_column(table, l->count, c).widest : 0;
}

/* Decides which of the `drop` columns fit, keeping the last of the list first, and then narrows the first
 * column. Appends the heads of those left out. */
static void fit(layout *l, const app_table *table, const char *const *drop, sf_text *dropped)
{
    size_t count = 0;
    if (l->width == SIZE_MAX) return;
    while (drop != NULL && drop[count] != NULL)
        count++;
    for (size_t k = 0; k < count && total_width(l) > l->width; k++)
        set_columns(l, table, drop[k], false);
    for (size_t k = count; k-- > 0;) {
        set_columns(l, table, drop[k], true);
        if (total_width(l) > l->width) set_columns(l, table, drop[k], false);
    }
    for (size_t k = 0; k < count; k++)
        for (size_t c = 1; c < l->count; c++)
            if (strcmp(table->cells[c], drop[k]) == 0 && l->columns[c].widest == 0 &&
                tells(table, l->count, c)) {
                sf_text_printf(dropped, "%s%s", dropped->length > 0 ? ", " : "", drop[k]);
                break;
            }
    size_t total = total_width(l), first = l->columns[0].widest;
    if (total > l->width && first > LEAST_FIRST)
        l->columns[0].widest = first - (total - l->width) > LEAST_FIRST && total - l->width < first
                                   ? first - (total - l->width)
                                   : LEAST_FIRST;
}

#define LEAST_WIDTH 80

static size_t screen_width(void)
{
    int columns = app_screen_columns(STDOUT_FILENO);
    return columns > LEAST_WIDTH ? (size_t)columns : LEAST_WIDTH;
}

void app_table_fit(app_table *table, sf_text *out, size_t columns, const char *const *drop, bool wide)
{
    layout l = {.columns = sf_alloc(columns, sizeof *l.columns),
                .count = columns,
                .width = wide ? SIZE_MAX : screen_width()};
    sf_text dropped = {0};
    if (l.columns != NULL && !table->failed && table->count >= columns) {
        for (size_t column = 0; column < columns; column++)
            l.columns[column] = measure_column(table, columns, column);
        fit(&l, table, drop, &dropped);
        print_table(out, table, &l);
        if (dropped.length > 0) sf_text_printf(out, "--verbose adds %s\n", dropped.data);
    }
    out->failed = out->failed || table->failed || l.columns == NULL || dropped.failed;
    sf_text_free(&dropped);
    sf_free(l.columns);
    for (size_t i = 0; i < table->count; i++)
        sf_free(table->cells[i]);
    sf_free(table->cells);
    *table = (app_table){0};
}

void app_table_print(app_table *table, sf_text *out, size_t columns)
{
    app_table_fit(table, out, columns, NULL, true);
}
