/* SPDX-License-Identifier: Apache-2.0 */
/* What the command asks of recordings beside the public functions. */

#include "tools/files.h"

#include "core/memory.h"
#include "io/occurrence_file.h"
#include "replay/convert.h"
#include "tools/journals.h"

int sf_convert(const sf_recording *recording, const char *path, const char *to, const char *provenance,
               const char **layout, sf_text *lost, sf_error *error)
{
    const sf_conversion *found;
    int status = sf_conversion_find(&found, to, path, error);
    if (status != SF_OK) return status;
    *layout = found->name;
    return sf_recording_convert(recording, path, found, provenance, lost, error);
}

bool sf_file_has_occurrences(const char *path)
{
    return sf_occurrence_file_is(path);
}

bool sf_file_has_journal(const char *path)
{
    char *journal;
    sf_kinship kinship;
    bool has = sf_journal_find(&journal, &kinship, path, NULL) == SF_OK && journal != NULL &&
               kinship != SF_KIN_OTHER;
    sf_free(journal);
    return has;
}
