/* SPDX-License-Identifier: Apache-2.0 */
/** What is known of a plan, as text, rows or JSON. Errors are as in synfire/synfire.h; one object from one
 * thread at a time. */
#ifndef SF_TOOLS_PLAN_REPORT_H
#define SF_TOOLS_PLAN_REPORT_H

#include "core/provenance.h"
#include "core/text.h"

/** What is known of two functions that follow each other, or of a loop; texts are valid in the call alone. */
typedef struct sf_plan_row {
    const char *kind, *first, *second;
    const char *flow, *anti, *output, *decided_by; /**< elements of the model, with a space between */
    const char *answer;
} sf_plan_row;

/** Rows in order where `row` is given, a JSON document where `made_by` is, and lines otherwise. */
typedef struct sf_plan_form {
    const sf_provenance *made_by;
    void (*row)(void *user, const sf_plan_row *row);
    void *user;
} sf_plan_form;

/**
 * Appends what is known of the algorithm that a YAML file describes: which of its steps may run at the same
 * time, and its parallel form. SF_DATA with its place, SF_NO_INPUT.
 */
int sf_plan_report_file(sf_text *text, const char *path, const sf_plan_form *as, sf_error *error);

/** The same of the pipeline's own hop, and the schedule that follows. virtual_clock: as it is replayed as
 * fast as it goes. SF_NO_MEMORY. */
int sf_plan_report_pipeline(sf_text *text, bool virtual_clock, bool sequential, const sf_plan_form *as,
                            sf_error *error);

#endif
