/* SPDX-License-Identifier: Apache-2.0 */
#include "support/recordings.h"

#include "replay/recording_file.h"

#include <unistd.h>

bool test_load_recording(sf_recording *recording, const char *relative)
{
    char *path = test_data_path(relative);
    if (path == NULL) return false;
    sf_error error;
    *recording = (sf_recording){0};
    int status = sf_recording_read(recording, path, NULL, NULL, &error);
    free(path);
    if (status != SF_OK) fail_msg("%s: %s", relative, error.text);
    return true;
}

char *test_path;

int test_name_file(void **state)
{
    test_path = test_temporary_path(*state);
    return 0;
}

int test_remove_file(void **state)
{
    (void)state;
    unlink(test_path);
    free(test_path);
    return 0;
}

int test_read_and_free(void *reading)
{
    const test_reading *of = reading;
    sf_recording recording;
    sf_error error;
    int status = sf_recording_read(&recording, of->path, of->how, NULL, &error);
    sf_recording_clear(&recording);
    return status;
}
