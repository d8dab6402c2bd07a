/* SPDX-License-Identifier: Apache-2.0 */
/* Files as POSIX has them, by the functions of Windows: what core/windows/include/ declares. Names are UTF-8,
 * which the program's manifest (app/windows/) asks Windows for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <windows.h>

#include <ntsecapi.h>

#define SHARE_ALL (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

/* -1, with what Windows last said as an errno. */
static int fail(void)
{
    static const struct {
        DWORD windows;
        int posix;
    } known[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT}, {ERROR_PATH_NOT_FOUND, ENOENT},   {ERROR_INVALID_NAME, ENOENT},
        {ERROR_BAD_NETPATH, ENOENT},    {ERROR_ACCESS_DENIED, EACCES},    {ERROR_SHARING_VIOLATION, EBUSY},
        {ERROR_LOCK_VIOLATION, EAGAIN}, {ERROR_FILE_EXISTS, EEXIST},      {ERROR_ALREADY_EXISTS, EEXIST},
        {ERROR_DISK_FULL, ENOSPC},      {ERROR_HANDLE_DISK_FULL, ENOSPC}, {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
        {ERROR_OUTOFMEMORY, ENOMEM},    {ERROR_INVALID_HANDLE, EBADF},    {ERROR_BROKEN_PIPE, EPIPE},
        {ERROR_NO_DATA, EPIPE},         {ERROR_WRITE_PROTECT, EROFS},     {ERROR_NOT_SAME_DEVICE, EXDEV},
        {ERROR_DIRECTORY, ENOTDIR},     {ERROR_INVALID_PARAMETER, EINVAL}};
    DWORD said = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].windows == said) errno = known[i].posix;
    return -1;
}

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

/* ---- opening ---- */

static DWORD creation(int flags)
{
    if ((flags & O_CREAT) != 0)
        return (flags & O_EXCL) != 0 ? CREATE_NEW : (flags & O_TRUNC) != 0 ? CREATE_ALWAYS : OPEN_ALWAYS;
    return (flags & O_TRUNC) != 0 ? TRUNCATE_EXISTING : OPEN_EXISTING;
}

int sf_windows_open(const char *path, int flags, ...)
{
    static const DWORD rights[] = {GENERIC_READ, GENERIC_WRITE, GENERIC_READ | GENERIC_WRITE};
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = (flags & O_CLOEXEC) == 0};
    struct stat about;
    if ((flags & O_ACCMODE) != O_RDONLY && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    /* Folders are opened, too; DELETE: so that an open file can be given another name. */
    DWORD asked = rights[flags & O_ACCMODE];
    HANDLE handle = CreateFileA(path, asked, SHARE_ALL, &inherited, creation(flags),
                                FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) return fail();
    int fd = _open_osfhandle((intptr_t)handle, (flags & (O_APPEND | O_RDONLY | O_CLOEXEC)) | O_BINARY);
    if (fd < 0) CloseHandle(handle);
    return fd;
}

int mkostemp(char *name, int flags)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    size_t length = strlen(name);
    for (int tries = 0; tries < 100; tries++) {
        unsigned char drawn[6];
        if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn) return -1;
        for (size_t i = 0; i < sizeof drawn; i++)
            name[length - sizeof drawn + i] = letters[drawn[i] % (sizeof letters - 1)];
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* ---- what is known of a file ---- */

static time_t seconds_of(FILETIME time)
{
    const uint64_t from_1601_to_1970_s = 11644473600;
    uint64_t ticks = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime; /* of 100 ns */
    return (time_t)(ticks / 10000000 - from_1601_to_1970_s);
}

static int describe(HANDLE handle, struct stat *about)
{
    *about = (struct stat){.st_nlink = 1};
    BY_HANDLE_FILE_INFORMATION told;
    DWORD type = GetFileType(handle);
    if (type != FILE_TYPE_DISK) {
        about->st_mode = type == FILE_TYPE_PIPE ? S_IFIFO | 0600 : S_IFCHR | 0600;
        return handle == INVALID_HANDLE_VALUE ? fail() : 0;
    }
    if (!GetFileInformationByHandle(handle, &told)) return fail();
    bool is_folder = (told.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    about->st_dev = told.dwVolumeSerialNumber;
    about->st_ino = (uint64_t)told.nFileIndexHigh << 32 | told.nFileIndexLow;
    about->st_mode = is_folder ? S_IFDIR | 0700 : S_IFREG | 0600;
    about->st_nlink = told.nNumberOfLinks;
    about->st_size = (off_t)((uint64_t)told.nFileSizeHigh << 32 | told.nFileSizeLow);
    about->st_mtime = seconds_of(told.ftLastWriteTime);
    return 0;
}

int sf_windows_stat(const char *path, struct stat *about)
{
    HANDLE handle = CreateFileA(path, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) return fail();
    int result = describe(handle, about);
    CloseHandle(handle);
    return result;
}

int sf_windows_fstat(int fd, struct stat *about)
{
    return describe(handle_of(fd), about);
}

int fchmod(int fd, mode_t mode)
{
    (void)fd;
    (void)mode;
    return 0;
}

int fstatvfs(int fd, struct statvfs *about)
{
    char path[MAX_PATH];
    ULARGE_INTEGER free_bytes;
    DWORD length = GetFinalPathNameByHandleA(handle_of(fd), path, sizeof path, FILE_NAME_NORMALIZED);
    char *end = length > 0 && length < sizeof path ? strrchr(path, '\\') : NULL;
    if (end == NULL) return fail();
    end[1] = '\0';
    if (!GetDiskFreeSpaceExA(path, &free_bytes, NULL, NULL)) return fail();
    *about = (struct statvfs){.f_bavail = free_bytes.QuadPart, .f_frsize = 1};
    return 0;
}

/* ---- names ---- */

int sf_windows_rename(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : fail();
}

int sf_windows_mkdir(const char *path, mode_t mode)
{
    (void)mode;
    return CreateDirectoryA(path, NULL) ? 0 : fail();
}

int link(const char *old, const char *new_name)
{
    return CreateHardLinkA(new_name, old, NULL) ? 0 : fail();
}

ssize_t readlink(const char *path, char *target, size_t size)
{
    (void)path;
    (void)target;
    (void)size;
    errno = EINVAL;
    return -1;
}

char *realpath(const char *path, char *whole)
{
    struct stat about;
    char *found = stat(path, &about) == 0 ? _fullpath(whole, path, MAX_PATH) : NULL;
    for (char *at = found; at != NULL && (at = strchr(at, '\\')) != NULL;)
        *at = '/';
    return found;
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int compare_names(const void *a, const void *b)
{
    const struct dirent *const *one = a, *const *other = b;
    return strcmp((*one)->d_name, (*other)->d_name);
}

/* In alphasort's order, the only one that anybody asks for. */
int scandir(const char *folder, struct dirent ***list, int (*keep)(const struct dirent *),
            int (*compare)(const struct dirent **a, const struct dirent **b))
{
    (void)compare;
    DIR *names = opendir(folder);
    int count = names != NULL ? 0 : -1;
    *list = NULL;
    for (struct dirent *it; count >= 0 && (it = readdir(names)) != NULL;) {
        if (keep != NULL && keep(it) == 0) continue;
        struct dirent **more = realloc(*list, ((size_t)count + 1) * sizeof **list), *copy = NULL;
        *list = more != NULL ? more : *list;
        if (more != NULL) copy = malloc(sizeof *copy);
        if (copy == NULL) {
            while (count > 0)
                free((*list)[--count]);
            free(*list);
            *list = NULL;
            count = -1;
            errno = ENOMEM;
        } else {
            *copy = *it;
            (*list)[count++] = copy;
        }
    }
    if (names != NULL) closedir(names);
    if (count > 1) qsort(*list, (size_t)count, sizeof **list, compare_names);
    return count;
}

/* ---- reading and writing ---- */

static void name_closed_pipe(FILE *file)
{
    if (errno == EINVAL && GetFileType(handle_of(_fileno(file))) == FILE_TYPE_PIPE) errno = EPIPE;
}

#undef fwrite
size_t sf_windows_fwrite(const void *from, size_t size, size_t count, FILE *file)
{
    size_t written = fwrite(from, size, count, file);
    if (written < count) name_closed_pipe(file);
    return written;
}

#undef fflush
int sf_windows_fflush(FILE *file)
{
    int failed = fflush(file);
    if (failed != 0) name_closed_pipe(file);
    return failed;
}

#define MOST_AT_ONCE ((size_t)1 << 30)

static OVERLAPPED place_of(off_t offset)
{
    uint64_t at = (uint64_t)offset;
    return (OVERLAPPED){.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
    OVERLAPPED place = place_of(offset);
    DWORD got = 0;
    if (ReadFile(handle_of(fd), to, (DWORD)(size < MOST_AT_ONCE ? size : MOST_AT_ONCE), &got, &place))
        return (ssize_t)got;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : fail();
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
    OVERLAPPED place = place_of(offset);
    DWORD written = 0;
    if (WriteFile(handle_of(fd), from, (DWORD)(size < MOST_AT_ONCE ? size : MOST_AT_ONCE), &written, &place))
        return (ssize_t)written;
    return fail();
}

int fsync(int fd)
{
    if (FlushFileBuffers(handle_of(fd))) return 0;
    fail();
    if (errno == EACCES) /* a folder, or a file that is only read: nothing waits to be written */
        errno = EINVAL;
    return -1;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

/* ---- locks ---- */

/* Locks of Windows keep others from the bytes themselves, so they are of one that no file has. */
static OVERLAPPED beyond_the_end(void)
{
    return place_of((off_t)1 << 62);
}

static bool take_lock(HANDLE handle)
{
    OVERLAPPED place = beyond_the_end();
    return LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place);
}

static bool give_lock(HANDLE handle)
{
    OVERLAPPED place = beyond_the_end();
    return UnlockFileEx(handle, 0, 1, 0, &place);
}

int fcntl(int fd, int what, struct flock *lock)
{
    HANDLE handle = handle_of(fd);
    bool is_free = lock->l_type == F_UNLCK ? give_lock(handle) : take_lock(handle);
    if (what == F_OFD_GETLK) {
        lock->l_type = is_free ? F_UNLCK : F_WRLCK;
        if (is_free) give_lock(handle);
        return 0;
    }
    return is_free ? 0 : fail();
}

int flock(int fd, int how)
{
    (void)fd;
    (void)how;
    return 0;
}

/* ---- memory ---- */

void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset)
{
    (void)at;
    (void)rights;
    (void)flags;
    (void)offset;
    HANDLE mapping = CreateFileMappingA(handle_of(fd), NULL, PAGE_WRITECOPY, 0, 0, NULL);
    void *memory = mapping != NULL ? MapViewOfFile(mapping, FILE_MAP_COPY, 0, 0, size) : NULL;
    if (memory == NULL) fail();
    if (mapping != NULL) CloseHandle(mapping);
    return memory != NULL ? memory : MAP_FAILED;
}

int munmap(void *mapping, size_t size)
{
    (void)size;
    return UnmapViewOfFile(mapping) ? 0 : fail();
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    return RtlGenRandom(to, (ULONG)size) ? (ssize_t)size : (ssize_t)fail();
}
