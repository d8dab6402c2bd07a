/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A file that only this process may write: it is locked (an open file description lock of Linux, which ends
 * with the process in any case, and does not conflict with HDF5's own locks), and an existing file is never
 * truncated. A replacement is written under another name beside it, and takes its name once it is complete,
 * or should become visible. One thread at a time.
 */
#ifndef SF_IO_OUTPUT_FILE_H
#define SF_IO_OUTPUT_FILE_H

#include <synfire/error.h>

/** Treatment of an existing file of the same name. If another process is writing it, all but
 * SF_EXISTING_NUMBER refuse. */
typedef enum sf_existing {
    SF_EXISTING_REFUSE,
    SF_EXISTING_REFUSE_WHOLE, /**< the same, but the new file takes its name only when complete */
    SF_EXISTING_REPLACE, /**< keeps its permissions; replaces the target of a symbolic link, not the link */
    SF_EXISTING_NUMBER   /**< write run-2.h5 instead of run.h5, or the next free number */
} sf_existing;

/** Zero-initialise. */
typedef struct sf_output_file {
    char *path;     /**< the name it has, or takes */
    char *building; /**< temporary name until sf_output_file_commit; NULL: it already has its name */
    int fd;         /**< open for reading and writing, and locked; a device or pipe for writing only */
    int replaced;   /**< the file to be replaced, locked until the commit; -1: none */
    int64_t length; /**< minimum size in bytes that sf_output_file_check expects */
    bool is_open;
    bool spares;     /**< the commit must not replace another file */
    bool is_special; /**< a device or a pipe: not locked, since it holds nothing to lose */
} sf_output_file;

/** Whether sf_output_file_open could make one there, without trying: SF_CANNOT_CREATE with what it says of a
 * folder, a folder that is not there, or one that takes no file. */
int sf_output_file_may_be(const char *path, sf_existing existing, sf_error *error);

/** SF_CANNOT_CREATE with a sentence: the file is there, is being written, or cannot be made; SF_NO_MEMORY. */
int sf_output_file_open(sf_output_file *file, const char *path, sf_existing existing, sf_error *error);

/** Whether this or another process is writing the file at this path. */
bool sf_output_file_is_busy(const char *path);

/** The file's current name, for code that opens it by name. */
const char *sf_output_file_name(const sf_output_file *file);

/** Gives the file its final name, if it does not have it yet. SF_IO; SF_CANNOT_CREATE if another file has
 * taken that name and must not be replaced. */
int sf_output_file_commit(sf_output_file *file, sf_error *error);

/** Updates the file's path if the file, or a folder above it, was moved. */
void sf_output_file_follow(sf_output_file *file);

/** Remembers how long the file is now. */
void sf_output_file_note(sf_output_file *file);

/** SF_IO if the file or its folder was removed, so that the data has no name any more, or if it is shorter
 * than noted because another program truncated it. */
int sf_output_file_check(const sf_output_file *file, sf_error *error);

/** Syncs the file to the disk. SF_IO with the operating system's reason (disk full, ...). */
int sf_output_file_sync(const sf_output_file *file, sf_error *error);

/** Releases the lock, for file systems on which it conflicts with other locks of this process. */
void sf_output_file_unlock(sf_output_file *file);

/** Closes and frees. Deletes a file that has no final name yet; with `keep` false also one that has. */
void sf_output_file_close(sf_output_file *file, bool keep);

#endif
