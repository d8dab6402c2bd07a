/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The whole terminal as one page that is redrawn: no line is wider than the terminal, no page higher. Lines
 * for stderr are kept meanwhile, so that the page can show them, and printed when the screen is left.
 */
#ifndef SF_APP_SCREEN_H
#define SF_APP_SCREEN_H

#include "core/text.h"

#include <stdbool.h>
#include <stdio.h>

/** How a line is marked, besides its words, on terminals with colours. */
typedef enum app_tint {
    APP_PLAIN,
    APP_BAD,  /**< lost, failed */
    APP_GOOD, /**< significant */
    APP_FAINT /**< not known yet */
} app_tint;

/** A page being built: as many lines as it has rows, cut to its columns. */
typedef struct app_page {
    sf_text text;
    int columns, rows;
    int used;      /**< rows */
    app_tint tint; /**< of the following lines */
    bool has_colours;
} app_page;

/** Adds a line; ignored beyond the last row. Control characters are made visible. */
void app_page_line(app_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Takes over the terminal: alternate screen, without a cursor. */
void app_screen_enter(FILE *out);

/** Decimals of a number within a line: one below 10, else none. */
int app_screen_digits(double value);

/** An empty page of the terminal's present size; 80 columns and 24 rows if unknown. */
app_page app_screen_page(void);

/** The width of a terminal; 0 if it is none. */
int app_screen_columns(int file);

/** Shows the page and frees it. */
void app_screen_show(app_page *page);

/** Restores the terminal and prints the kept lines; does nothing if it was not taken over. */
void app_screen_leave(void);

/** Restores the terminal without printing kept lines; for signal handlers. */
void app_screen_restore(void);

/** Keeps a line for later instead of printing it on stderr; false if no screen hides stderr. */
bool app_screen_keep(const char *line);

/** Adds the last kept lines, at most `most`, to the page. */
void app_screen_show_kept(app_page *page, int most);

#endif
