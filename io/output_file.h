/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A file that this process writes, and no other one while it does: the file is locked (an open file
 * description lock of Linux, which ends with the process however it ends, and which HDF5's own locks do not
 * see), and a file that is there is never emptied. What replaces one is written beside it and takes its
 * name once it is whole, or once it is to be seen. One thread at a time.
 */
#ifndef SF_IO_OUTPUT_FILE_H
#define SF_IO_OUTPUT_FILE_H

#include <synfire/error.h>

/** What to do about a file of the same name. Where it is being written, all but `number` refuse. */
typedef enum sf_existing {
    SF_EXISTING_REFUSE,
    SF_EXISTING_REFUSE_WHOLE, /**< the same, and the file has its name once it is whole */
    SF_EXISTING_REPLACE,      /**< keeps its permissions; a symbolic link stays and its target is replaced */
    SF_EXISTING_NUMBER        /**< write run-2.h5 instead of run.h5, or the first that is free after it */
} sf_existing;

/** Zero-initialise. */
typedef struct sf_output_file {
    char *path;     /**< the name it has, or takes */
    char *building; /**< the name it has until sf_output_file_commit; NULL: its own already */
    int fd;         /**< open for reading and writing, and locked; of a device or pipe for writing */
    int replaced;   /**< the file that is replaced, locked until the commit; -1: none */
    int64_t length; /**< bytes that sf_output_file_check expects at least */
    bool is_open;
    bool spares;     /**< the commit takes no name that another file has */
    bool is_special; /**< a device or a pipe: not locked, nothing in it could be lost */
} sf_output_file;

/** Whether sf_output_file_open could make one there, without trying: SF_CANNOT_CREATE with what it says of a
 * folder, a folder that is not there, or one that takes no file. */
int sf_output_file_may_be(const char *path, sf_existing existing, sf_error *error);

/** SF_CANNOT_CREATE with a sentence: the file is there, is being written, or cannot be made; SF_NO_MEMORY. */
int sf_output_file_open(sf_output_file *file, const char *path, sf_existing existing, sf_error *error);

/** Whether another process, or this one, writes the file at this path. */
bool sf_output_file_is_busy(const char *path);

/** What it is called now, for those who open it by name. */
const char *sf_output_file_name(const sf_output_file *file);

/** From here on it has its name. Nothing where it has. SF_IO; SF_CANNOT_CREATE where another has it by now
 * and is not replaced. */
int sf_output_file_commit(sf_output_file *file, sf_error *error);

/** Where the file, or a folder above it, was moved, it goes by its present name from here on. */
void sf_output_file_follow(sf_output_file *file);

/** Remembers how long the file is now. */
void sf_output_file_note(sf_output_file *file);

/** SF_IO where the file, or the folder it is in, was removed: what is written has no name any more; and where
 * it is shorter than it was noted to be: somebody else cut it. */
int sf_output_file_check(const sf_output_file *file, sf_error *error);

/** Has the operating system write to the disk what it was given. SF_IO with its reason (disk full, ...). */
int sf_output_file_sync(const sf_output_file *file, sf_error *error);

/** Gives up the lock, for a file system on which it is in the way of others that this process takes. */
void sf_output_file_unlock(sf_output_file *file);

/** Closes and frees, and takes away what has no name yet, or with `keep` false the file. */
void sf_output_file_close(sf_output_file *file, bool keep);

#endif
