/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/journals.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "io/hdf_about.h"
#include "io/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".journal"

/* What a journal says of itself. */
typedef struct journal_says {
    char identity[SF_IDENTITY_SIZE]; /* empty: none, or its first record is lost */
    char *file;                      /* the name of its recording, or NULL */
    uint32_t id;                     /* in the head of each record */
} journal_says;

/* False where no record is whole. */
static bool ask_journal(journal_says *says, const char *path)
{
    sf_journal_reader reader;
    sf_journal_record record;
    sf_journal_about about;
    *says = (journal_says){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return false;
    bool is_read = sf_journal_reader_open(&reader, fd, path, NULL) == SF_OK &&
                   sf_journal_next(&reader, &record, NULL) == SF_OK;
    says->id = is_read ? reader.id : 0;
    if (is_read && record.kind == SF_JOURNAL_BEGIN &&
        sf_journal_about_read(&about, &record, path, NULL) == SF_OK) {
        if (about.identity != NULL) snprintf(says->identity, sizeof says->identity, "%s", about.identity);
        says->file = sf_copy_string(about.file);
        sf_journal_about_free(&about);
    }
    sf_journal_reader_close(&reader);
    close(fd);
    return is_read;
}

sf_kinship sf_journal_kinship(const char *file, const char *journal)
{
    sf_hdf_about about;
    journal_says says;
    if (!ask_journal(&says, journal) || !sf_hdf_about_read(&about, file)) {
        sf_free(says.file);
        return SF_KIN_UNKNOWN;
    }
    sf_free(says.file);
    if (about.identity[0] == '\0') return says.identity[0] == '\0' ? SF_KIN_UNKNOWN : SF_KIN_OTHER;
    return says.id == sf_journal_id(about.identity) ? SF_KIN_SAME : SF_KIN_OTHER;
}

/* ---- names ---- */

static size_t without_number(const char *name, size_t length)
{
    size_t at = length;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at < length && at > 1 && name[at - 1] == '-' ? at - 1 : length;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash + 1 - path) : 0;
}

/* "run.h5.journal" and "run.h5-2.journal" of "run.h5". */
static bool is_named_after(const char *name, const char *base)
{
    size_t length = strlen(name), stem = length - (length > strlen(SUFFIX) ? strlen(SUFFIX) : 0);
    if (stem == length || strcmp(name + stem, SUFFIX) != 0) return false;
    size_t size = strlen(base);
    return strncmp(name, base, size) == 0 && (stem == size || without_number(name, stem) == size);
}

int sf_journal_find(char **journal, sf_kinship *kinship, const char *file, sf_error *error)
{
    size_t folder = folder_length(file);
    sf_text place = {0};
    *journal = NULL;
    *kinship = SF_KIN_UNKNOWN;
    sf_text_printf(&place, "%.*s", (int)folder, folder > 0 ? file : ".");
    DIR *names = place.failed ? NULL : opendir(folder > 0 ? place.data : ".");
    int status = place.failed ? SF_NO_MEMORY : SF_OK;
    for (struct dirent *entry; status == SF_OK && names != NULL && (entry = readdir(names)) != NULL;) {
        if (!is_named_after(entry->d_name, file + folder)) continue;
        sf_text path = {0};
        sf_text_printf(&path, "%.*s%s", (int)folder, file, entry->d_name);
        sf_kinship kin = path.failed ? SF_KIN_OTHER : sf_journal_kinship(file, path.data);
        status = path.failed ? SF_NO_MEMORY : SF_OK;
        /* of those that are as near the first name, which is the shortest */
        if (path.failed || (*journal != NULL &&
                            (kin > *kinship || (kin == *kinship && strlen(path.data) >= strlen(*journal))))) {
            sf_text_free(&path);
            continue;
        }
        sf_free(*journal);
        *journal = path.data;
        *kinship = kin;
    }
    if (names != NULL) closedir(names);
    sf_text_free(&place);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

int sf_journal_recording(char **file, const char *journal, sf_error *error)
{
    size_t stem = strlen(journal) - strlen(SUFFIX), folder = folder_length(journal);
    size_t shorter = folder + without_number(journal + folder, stem - folder);
    journal_says says;
    ask_journal(&says, journal);
    sf_text names[3] = {{0}, {0}, {0}};
    sf_text_printf(&names[0], "%.*s", (int)stem, journal);
    sf_text_printf(&names[1], "%.*s", (int)shorter, journal);
    sf_text_printf(&names[2], "%.*s%s", (int)folder, journal, says.file != NULL ? says.file : "");
    bool failed = names[0].failed || names[1].failed || names[2].failed;
    int chosen = -1;
    for (int i = 0; !failed && chosen < 0 && i < (says.file != NULL ? 3 : 2); i++)
        if (access(names[i].data, F_OK) == 0) chosen = i;
    if (chosen < 0) /* it is gone: a number behind the ending of a file is the journal's own */
        chosen = !failed && shorter < stem && memchr(journal + folder, '.', shorter - folder) != NULL ? 1 : 0;
    *file = failed ? NULL : names[chosen].data;
    for (int i = 0; i < 3; i++)
        if (failed || i != chosen) sf_text_free(&names[i]);
    sf_free(says.file);
    return failed ? sf_fail_memory(error) : SF_OK;
}
