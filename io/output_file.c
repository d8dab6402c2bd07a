/* SPDX-License-Identifier: Apache-2.0 */
#include "io/output_file.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/platform.h"
#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TRIES 100 /* limits retries if other programs replace the file all the time */
#define MOST_NUMBER 99999

/* ---- locks ---- */

static bool set_lock(int fd, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* False if the file is being written, by another synfire or a program that locks like HDF5. Always true on a
 * file system without locks, where this cannot be detected. */
static bool lock(int fd)
{
    bool is_free = flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return is_free && set_lock(fd, F_WRLCK);
}

bool sf_output_file_is_busy(const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_busy = fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    if (fd >= 0) close(fd);
    return is_busy;
}

static int refuse_busy(const char *path, sf_error *error)
{
    return sf_fail(error, SF_CANNOT_CREATE, path,
                   "another program is writing this file: let it end, or choose another name");
}

static int refuse_creation(const char *path, sf_error *error)
{
    return sf_fail(error, SF_CANNOT_CREATE, path, "cannot create: %s", strerror(errno));
}

/* ---- names ---- */

/* "run-2.h5" of "run.h5". */
static char *numbered(const char *path, unsigned number)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    int stem = (int)(dot != NULL && dot != base ? dot - path : (ptrdiff_t)strlen(path));
    sf_text name = {0};
    sf_text_printf(&name, "%.*s-%u%s", stem, path, number, path + stem);
    if (name.failed) sf_text_free(&name);
    return name.data;
}

/* ---- opening ---- */

typedef enum made { MADE, MADE_EXISTS, MADE_FAILED } made;

static bool is_still(int fd, const char *path)
{
    struct stat found, named;
    return fstat(fd, &found) == 0 && stat(path, &named) == 0 && found.st_dev == named.st_dev &&
           found.st_ino == named.st_ino;
}

/* Creates and locks a new file of this name. Another process that replaces files may have taken it between
 * the two steps; then the file is that process'. */
static made make(sf_output_file *file, const char *path, sf_error *error)
{
    file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    if (file->fd < 0 && errno == EEXIST) return MADE_EXISTS;
    if (file->fd < 0)
        refuse_creation(path, error);
    else if (!lock(file->fd) || !is_still(file->fd, path))
        refuse_busy(path, error);
    else
        return MADE;
    return MADE_FAILED;
}

static int open_special(sf_output_file *file, sf_error *error)
{
    file->is_special = true;
    file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return file->fd >= 0 ? SF_OK : refuse_creation(file->path, error);
}

/* Creates the file that will replace the open and locked one. */
static int make_beside(sf_output_file *file, sf_error *error)
{
    struct stat old;
    sf_text name = {0};
    sf_text_printf(&name, "%s.XXXXXX", file->path);
    if (name.failed) {
        sf_text_free(&name);
        return sf_fail_memory(error);
    }
    file->building = name.data;
    file->fd = mkostemp(file->building, O_CLOEXEC);
    if (file->fd < 0) {
        int status = sf_fail(error, SF_CANNOT_CREATE, file->path,
                             "cannot create a file beside it, to replace it: %s", strerror(errno));
        sf_free(file->building);
        file->building = NULL;
        return status;
    }
    if (fstat(file->replaced, &old) == 0 && fchmod(file->fd, old.st_mode & 0777) != 0)
        return refuse_creation(file->building, error);
    return lock(file->fd) ? SF_OK : refuse_busy(file->building, error);
}

/* Locks the existing file, if any: SF_OK with file->replaced, or -1 if it disappeared. */
static int seize(sf_output_file *file, sf_error *error)
{
    file->replaced = open(file->path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (file->replaced < 0)
        return errno == ENOENT ? SF_OK
                               : sf_fail(error, SF_CANNOT_CREATE, file->path, "cannot replace this file: %s",
                                         strerror(errno));
    if (!lock(file->replaced)) return refuse_busy(file->path, error);
    if (!is_still(file->replaced, file->path)) {
        close(file->replaced);
        file->replaced = -1;
    }
    return SF_OK;
}

static int open_replacing(sf_output_file *file, sf_error *error)
{
    struct stat about;
    bool is_link = lstat(file->path, &about) == 0 && S_ISLNK(about.st_mode);
    char *target = is_link ? realpath(file->path, NULL) : NULL;
    if (target != NULL) {
        sf_free(file->path);
        file->path = sf_copy_string(target);
        free(target);
        if (file->path == NULL) return sf_fail_memory(error);
    }
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        made result = make(file, file->path, error);
        if (result != MADE_EXISTS) return result == MADE ? SF_OK : SF_CANNOT_CREATE;
        int status = seize(file, error);
        if (status != SF_OK) return status;
        if (file->replaced >= 0) return make_beside(file, error);
    }
    return sf_fail(
        error, SF_CANNOT_CREATE, file->path,
        "cannot create: a symbolic link that leads nowhere, or others replace this file all the time");
}

static int open_numbered(sf_output_file *file, const char *path, sf_error *error)
{
    for (unsigned number = 2;; number++) {
        made result = make(file, file->path, error);
        if (result == MADE && number > 2)
            sf_log(SF_LOG_WARNING, "%s is there already: what comes now goes to %s", path, file->path);
        if (result != MADE_EXISTS) return result == MADE ? SF_OK : SF_CANNOT_CREATE;
        if (number > MOST_NUMBER)
            return sf_fail(error, SF_CANNOT_CREATE, path, "exists already, and so do its %d successors",
                           MOST_NUMBER);
        sf_free(file->path);
        file->path = numbered(path, number);
        if (file->path == NULL) return sf_fail_memory(error);
    }
}

static int refuse_existing(const char *path, sf_error *error)
{
    return sf_fail(error, SF_CANNOT_CREATE, path, "there is a file of this name already");
}

static int open_new(sf_output_file *file, sf_error *error)
{
    made result = make(file, file->path, error);
    if (result == MADE_EXISTS) refuse_existing(file->path, error);
    return result == MADE ? SF_OK : SF_CANNOT_CREATE;
}

/* Opens under a temporary name until the file is complete. */
static int open_whole(sf_output_file *file, sf_error *error)
{
    struct stat about;
    sf_text name = {0};
    if (lstat(file->path, &about) == 0) return refuse_existing(file->path, error);
    sf_text_printf(&name, "%s.%ld.part", file->path, (long)getpid());
    if (name.failed) {
        sf_text_free(&name);
        return sf_fail_memory(error);
    }
    file->building = name.data;
    file->spares = true;
    made result = make(file, file->building, error);
    if (result == MADE_EXISTS) refuse_existing(file->building, error);
    return result == MADE ? SF_OK : SF_CANNOT_CREATE;
}

/* The folder that a file is in is to be there, and to take another one. */
static int check_folder(const char *path, sf_error *error)
{
    const char *end = strrchr(path, '/');
    char *folder = sf_copy_string(end == NULL ? "." : path);
    struct stat about;
    if (folder == NULL) return sf_fail_memory(error);
    if (end != NULL) folder[end > path ? end - path : 1] = '\0';
    bool is_there = stat(folder, &about) == 0;
    if (is_there && !S_ISDIR(about.st_mode)) errno = ENOTDIR;
    bool takes = is_there && S_ISDIR(about.st_mode) && access(folder, W_OK) == 0;
    int status = takes ? SF_OK : refuse_creation(path, error);
    sf_free(folder);
    return status;
}

int sf_output_file_may_be(const char *path, sf_existing existing, sf_error *error)
{
    struct stat found;
    bool is_there = stat(path, &found) == 0;
    if (is_there && S_ISDIR(found.st_mode))
        return sf_fail(error, SF_CANNOT_CREATE, path, "is a directory, expected the name of a file");
    bool is_made = !is_there || (S_ISREG(found.st_mode) && existing == SF_EXISTING_NUMBER);
    return is_made ? check_folder(path, error) : SF_OK;
}

int sf_output_file_open(sf_output_file *file, const char *path, sf_existing existing, sf_error *error)
{
    *file = (sf_output_file){.fd = -1, .replaced = -1, .is_open = true};
    file->path = sf_copy_string(path);
    struct stat found;
    bool is_there = stat(path, &found) == 0;
    int status = file->path != NULL ? sf_output_file_may_be(path, existing, error) : sf_fail_memory(error);
    if (status != SF_OK) {
        sf_output_file_close(file, true);
        return status;
    }
    if (is_there && !S_ISREG(found.st_mode))
        status = open_special(file, error);
    else if (existing == SF_EXISTING_REPLACE)
        status = open_replacing(file, error);
    else if (existing == SF_EXISTING_REFUSE_WHOLE)
        status = open_whole(file, error);
    else if (existing == SF_EXISTING_NUMBER)
        status = open_numbered(file, path, error);
    else
        status = open_new(file, error);
    if (status != SF_OK) sf_output_file_close(file, true);
    return status;
}

/* ---- the open file ---- */

const char *sf_output_file_name(const sf_output_file *file)
{
    return file->building != NULL ? file->building : file->path;
}

/* Takes the final name. If it must not replace another file, adds the name as a hard link first, which fails
 * if the name exists; on a file system without links, checks for it. False with errno. */
static bool take_name(const sf_output_file *file)
{
    struct stat about;
    if (!file->spares) return rename(file->building, file->path) == 0;
    if (link(file->building, file->path) == 0) return unlink(file->building) == 0;
    if (errno == EEXIST || lstat(file->path, &about) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(file->building, file->path) == 0;
}

/* Closes the file that is replaced, which releases its lock. */
static void let_go(sf_output_file *file)
{
    if (file->replaced >= 0) close(file->replaced);
    file->replaced = -1;
}

int sf_output_file_commit(sf_output_file *file, sf_error *error)
{
    if (file->building == NULL) return SF_OK;
    if (!sf_platform_replaces_open_files()) let_go(file);
    int refused = take_name(file) ? 0 : errno;
    if (refused == EEXIST) return refuse_existing(file->path, error);
    if (refused != 0)
        return sf_fail(error, SF_IO, file->path, "cannot replace this file: %s", strerror(refused));
    sf_free(file->building);
    file->building = NULL;
    let_go(file); /* a process waiting to replace it then sees a different file */
    return SF_OK;
}

void sf_output_file_follow(sf_output_file *file)
{
    char link[64], name[PATH_MAX];
    if (file->is_special || file->building != NULL || is_still(file->fd, file->path)) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    char *path = is_still(file->fd, name) ? sf_copy_string(name) : NULL;
    if (path == NULL) return; /* it was removed */
    sf_free(file->path);
    file->path = path;
}

void sf_output_file_note(sf_output_file *file)
{
    struct stat about;
    if (!file->is_special && fstat(file->fd, &about) == 0) file->length = about.st_size;
}

int sf_output_file_check(const sf_output_file *file, sf_error *error)
{
    struct stat about;
    if (file->is_special) return SF_OK;
    if (fstat(file->fd, &about) != 0)
        return sf_fail(error, SF_IO, file->path, "cannot be reached any more: %s", strerror(errno));
    if (about.st_nlink == 0)
        return sf_fail(error, SF_IO, file->path, "was removed while it was being written");
    if (about.st_size < file->length)
        return sf_fail(error, SF_IO, file->path,
                       "was cut while it was being written: it has %" PRId64 " bytes, expected %" PRId64
                       " or more",
                       (int64_t)about.st_size, file->length);
    return SF_OK;
}

int sf_output_file_sync(const sf_output_file *file, sf_error *error)
{
    if (file->is_special || fsync(file->fd) == 0 || errno == EINVAL || errno == EROFS || errno == EINTR)
        return SF_OK; /* a file that cannot be synced at all is no error */
    return sf_fail(error, SF_IO, file->path, "cannot write to the disk: %s", strerror(errno));
}

void sf_output_file_unlock(sf_output_file *file)
{
    set_lock(file->fd, F_UNLCK);
}

void sf_output_file_close(sf_output_file *file, bool keep)
{
    if (!file->is_open) return;
    if (!keep && file->fd >= 0) sf_output_file_follow(file);
    bool is_ours = file->fd >= 0 && !file->is_special && is_still(file->fd, sf_output_file_name(file));
    if (is_ours && (file->building != NULL || !keep)) unlink(sf_output_file_name(file));
    if (file->fd >= 0) close(file->fd);
    let_go(file);
    sf_free(file->building);
    sf_free(file->path);
    *file = (sf_output_file){.fd = -1, .replaced = -1};
}
