/* SPDX-License-Identifier: Apache-2.0 */
#include "support/recordings.h"

#include "replay/recording_file.h"

bool test_load_recording(sf_recording *recording, const char *relative)
{
    char *path = test_data_path(relative);
    if (path == NULL)
        return false;
    sf_error error;
    *recording = (sf_recording){0};
    int status = sf_recording_read(recording, path, NULL, NULL, &error);
    free(path);
    if (status != SF_OK)
        fail_msg("%s: %s", relative, error.text);
    return true;
}
