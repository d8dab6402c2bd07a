/* SPDX-License-Identifier: Apache-2.0 */
/**
 * synfire: live, exact episode mining for multi-electrode arrays. This header includes all others.
 *
 * Errors. A function that can fail returns SF_OK (0) or a negative `sf_status` and takes an `sf_error *`
 * as its last parameter (NULL is allowed): on failure it fills in the code, the place (a file, a
 * configuration key, an option) and one sentence. On failure outputs are left empty. Nothing in the library
 * exits, prints, or asserts on input.
 *
 * Ownership. `x_open`, `x_new` and functions with a `**out` parameter return an object that the caller frees
 * with `x_free` or `x_close`; those accept NULL. Strings inside an object live as long as the object.
 *
 * Options. A struct of options begins with its size, so that it may grow: `x_options_default()` returns one
 * with every default; the caller then changes fields. NULL means the defaults.
 *
 * Results. They are opaque; `x_get_columns` fills an `x_columns`, whose size the caller sets first, with
 * counts and arrays that live as long as the result; `x_get_table` gives the same as rows of described
 * columns.
 *
 * Threads. Distinct objects may be used from distinct threads; one object from one thread at a time, unless a
 * comment says otherwise.
 *
 * Time is int64 nanoseconds on the recording's own clock everywhere.
 */
#ifndef SYNFIRE_SYNFIRE_H
#define SYNFIRE_SYNFIRE_H

#include <synfire/density.h>
#include <synfire/device.h>
#include <synfire/error.h>
#include <synfire/graph.h>
#include <synfire/live.h>
#include <synfire/mine.h>
#include <synfire/recording.h>
#include <synfire/table.h>

#endif
