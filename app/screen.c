/* SPDX-License-Identifier: Apache-2.0 */
#include "app/screen.h"

#include "core/memory.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST_KEPT 100

static const char enter[] = "\033[?1049h\033[?25l", leave[] = "\033[0m\033[?25h\033[?1049l";

static FILE *screen; /* taken over; NULL: none is */
static volatile sig_atomic_t taken = -1;
static char *kept[MOST_KEPT]; /* the newest, as a ring */
static size_t kept_count;

/* ---- pages ---- */

/* Where the character ends, and how many columns it takes: East Asian ones and pictures take two. */
static const char *next_character(const char *at, int *columns)
{
    unsigned char lead = (unsigned char)*at;
    unsigned code = lead < 0x80   ? lead
                    : lead < 0xe0 ? lead & 0x1fu
                    : lead < 0xf0 ? lead & 0x0fu
                                  : lead & 0x07u;
    for (at++; (*at & 0xc0) == 0x80; at++)
        code = code << 6 | ((unsigned char)*at & 0x3f);
    *columns = code >= 0x1100 && !(code >= 0x2000 && code < 0x2e80) ? 2 : 1;
    return at;
}

/* How many bytes of the line fit into this number of columns. */
static size_t fitting(const char *line, int columns)
{
    const char *at = line;
    while (*at != '\0') {
        int wide;
        const char *next = next_character(at, &wide);
        if (wide > columns) break;
        columns -= wide;
        at = next;
    }
    return (size_t)(at - line);
}

static const char *tint_of(const app_page *page)
{
    static const char *const codes[] = {"", "\033[31m", "\033[32m", "\033[2m"};
    return page->has_colours ? codes[page->tint] : "";
}

void app_page_line(app_page *page, const char *format, ...)
{
    if (page->used >= page->rows) return;
    sf_text line = {0};
    va_list arguments;
    va_start(arguments, format);
    sf_text_vprintf(&line, format, arguments);
    va_end(arguments);
    sf_text_make_visible(&line, false);
    const char *text = line.data != NULL && !line.failed ? line.data : "";
    size_t whole = fitting(text, page->columns);
    bool fits = text[whole] == '\0';
    const char *tint = tint_of(page);
    if (!fits) whole = fitting(text, page->columns > 3 ? page->columns - 3 : 0);
    sf_text_printf(&page->text, "%s%.*s%s%s\n", tint, (int)whole, text, fits ? "" : "...",
                   tint[0] != '\0' ? "\033[0m" : "");
    page->used++;
    sf_text_free(&line);
}

/* ---- the terminal ---- */

void app_screen_enter(FILE *out)
{
    screen = out;
    fputs(enter, out);
    fflush(out);
    taken = fileno(out);
}

void app_screen_restore(void)
{
    if (taken >= 0 && write(taken, leave, sizeof leave - 1) < 0) return;
    taken = -1;
}

void app_screen_leave(void)
{
    if (screen == NULL) return;
    fflush(screen);
    app_screen_restore();
    screen = NULL;
    size_t first = kept_count > MOST_KEPT ? kept_count - MOST_KEPT : 0;
    if (first > 0) fprintf(stderr, "... %zu lines before these are left out\n", first);
    for (size_t i = first; i < kept_count; i++) {
        fputs(kept[i % MOST_KEPT], stderr);
        sf_free(kept[i % MOST_KEPT]);
        kept[i % MOST_KEPT] = NULL;
    }
    kept_count = 0;
}

int app_screen_columns(int file)
{
    struct winsize size = {0};
    return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* As https://no-color.org has it. */
static bool has_colours(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (none == NULL || none[0] == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

app_page app_screen_page(void)
{
    struct winsize size = {0};
    app_page page = {.columns = 79, .rows = 24, .has_colours = has_colours()};
    if (ioctl(fileno(screen), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        page.columns = size.ws_col - 1; /* what wipes the rest of a full line would wipe its last character */
        page.rows = size.ws_row;
    }
    return page;
}

/* Each line wipes what is right of it, and the last what is below; a break after the last row would scroll.
 */
void app_screen_show(app_page *page)
{
    fputs("\033[H", screen);
    for (const char *line = page->text.data; line != NULL && !page->text.failed && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool last = line[length] == '\0' || line[length + 1] == '\0';
        fprintf(screen, "%.*s\033[K%s", (int)length, line, last ? "\033[J" : "\n");
        line += length + (line[length] != '\0');
    }
    fflush(screen);
    sf_text_free(&page->text);
}

int app_screen_digits(double value)
{
    return value < 10 ? 1 : 0;
}

/* ---- what is said meanwhile ---- */

bool app_screen_keep(const char *line)
{
    if (screen == NULL || isatty(STDERR_FILENO) == 0) return false;
    char *copy = sf_copy_string(line);
    if (copy == NULL) return false;
    sf_free(kept[kept_count % MOST_KEPT]);
    kept[kept_count++ % MOST_KEPT] = copy;
    return true;
}

void app_screen_show_kept(app_page *page, int most)
{
    size_t shown = kept_count < (size_t)most ? kept_count : (size_t)most;
    for (size_t i = kept_count - shown; i < kept_count; i++)
        app_page_line(page, "%.*s", (int)strcspn(kept[i % MOST_KEPT], "\n"), kept[i % MOST_KEPT]);
}
