/* SPDX-License-Identifier: Apache-2.0 */
/** What a sink that people look at may order of its run, for whoever shows it the token of the control
 * socket.
 */
#ifndef SF_CORE_ORDERS_H
#define SF_CORE_ORDERS_H

#include <synfire/error.h>

#include <stdbool.h>
#include <stddef.h>

/** Functions: any thread, which they do not hold up. */
typedef struct sf_orders {
    /** Whether the token is that of the run, in a time that does not tell how much of it is right; a wrong
     * one is logged. */
    bool (*knows)(void *user, const char *token);
    /** Arms a trigger as configured, or disarms it. */
    int (*arm)(void *user, const char *trigger, bool armed, sf_error *error);
    void *user;
} sf_orders;

#endif
