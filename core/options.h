/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Structs that grow: options that a caller fills and columns that the library fills begin with `size_t size`,
 * what the caller's version of them takes. A program and a library of different versions then understand each
 * other, as long as fields are only added at the end, and not into padding that was there before.
 */
#ifndef SF_CORE_OPTIONS_H
#define SF_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <synfire/error.h>

/**
 * What an `x_options_init` does: the caller's `size` bytes become the defaults, of which this library knows
 * `known` bytes; what it does not know is zeroed. The size goes first into it.
 */
void sf_options_init(void *options, size_t size, const void *defaults, size_t known);

/**
 * The caller's options as this library has them: `own` (of `known` bytes) becomes the defaults, and then what
 * the caller's struct holds of them; NULL: the defaults. SF_USAGE, naming `what`, where its size cannot be
 * right or it sets a field that this library does not know.
 */
int sf_options_read(void *own, const void *defaults, size_t known, const void *options, const char *what,
                    sf_error *error);

/** Copies `own` into the caller's struct, up to the size that the caller set; members that `own` does not
 * have are zeroed. */
void sf_columns_fill(void *columns, const void *own, size_t known);

#endif
