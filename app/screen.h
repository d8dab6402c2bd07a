/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The whole terminal as one page that is drawn again and again: no line is wider than it, no page higher.
 * What the command says on stderr meanwhile is kept, for the page to show, and printed when the screen is
 * left.
 */
#ifndef SF_APP_SCREEN_H
#define SF_APP_SCREEN_H

#include "core/text.h"

#include <stdbool.h>
#include <stdio.h>

/** How a line is told apart beside its words, where the terminal has colours. */
typedef enum app_tint {
    APP_PLAIN,
    APP_BAD,  /**< lost, failed */
    APP_GOOD, /**< significant */
    APP_FAINT /**< nothing is known yet */
} app_tint;

/** A page being made: lines that are cut to its columns, as many as it has rows. */
typedef struct app_page {
    sf_text text;
    int columns, rows;
    int used;      /**< rows */
    app_tint tint; /**< of lines to come */
    bool has_colours;
} app_page;

/** A line; beyond the last row nothing. What is not to be seen on a screen is made visible. */
void app_page_line(app_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Takes the terminal over: the alternate screen, without a cursor. */
void app_screen_enter(FILE *out);

/** Digits after the point of a number that stands in a line: one below 10, none from there on. */
int app_screen_digits(double value);

/** An empty page of the terminal's size now; 80 columns and 24 rows where it does not tell. */
app_page app_screen_page(void);

/** The width of a terminal; 0 of anything else. */
int app_screen_columns(int file);

/** Shows the page and frees it. */
void app_screen_show(app_page *page);

/** Gives the terminal back as it was, and prints what was kept; where none was taken, does nothing. */
void app_screen_leave(void);

/** The same but for what was kept; from a signal handler. */
void app_screen_restore(void);

/** Keeps a line instead of its being printed on stderr; false where no screen hides stderr. */
bool app_screen_keep(const char *line);

/** The last kept lines, at most so many, one after the other onto the page. */
void app_screen_show_kept(app_page *page, int most);

#endif
