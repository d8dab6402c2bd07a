/* SPDX-License-Identifier: Apache-2.0 */
/** Matches journals (io/journal.h) to recordings by the identity that both carry, so that neither a name nor
 * a file's presence decides. */
#ifndef SF_TOOLS_JOURNALS_H
#define SF_TOOLS_JOURNALS_H

#include <synfire/error.h>

typedef enum sf_kinship {
    SF_KIN_SAME,    /**< file and journal have the same identity */
    SF_KIN_UNKNOWN, /**< one of them cannot be read, or both are older than identities */
    SF_KIN_OTHER    /**< they belong to two recordings */
} sf_kinship;

/** file: path of an HDF5 file; journal: path of a journal. Both may be missing. */
sf_kinship sf_journal_kinship(const char *file, const char *journal);

/**
 * Finds the journal beside the recording at `file`: FILE.journal, or FILE-2.journal and so on if another
 * recording's journal had that name. One with the same identity is preferred. *journal is NULL if there is
 * none, else the caller frees it. SF_NO_MEMORY.
 */
int sf_journal_find(char **journal, sf_kinship *kinship, const char *file, sf_error *error);

/** Finds the recording beside this journal, or the name that it had; the caller frees it. SF_NO_MEMORY. */
int sf_journal_recording(char **file, const char *journal, sf_error *error);

#endif
