/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf_about.h"

#include "core/error.h"
#include "io/apart.h"

#include <stdio.h>
#include <sys/stat.h>

int sf_hdf_about_put(sf_parcel_writer *parcel, const sf_hdf_input *input, sf_error *error)
{
    sf_text kind = {0}, identity = {0};
    sf_hdf_attribute_text(input->file, "synfire", &kind);
    sf_hdf_attribute_text(input->file, "identity", &identity);
    sf_parcel_put_text(parcel, kind.data);
    sf_parcel_put_text(parcel, identity.data);
    sf_parcel_put_number(parcel, sf_hdf_is_group(input->file, "truth"));
    int status = kind.failed || identity.failed ? sf_fail_memory(error) : SF_OK;
    sf_text_free(&kind);
    sf_text_free(&identity);
    return status;
}

bool sf_hdf_about_read(sf_hdf_about *about, const char *path)
{
    *about = (sf_hdf_about){0};
    struct stat found;
    sf_parcel parcel;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) /* what is read from a pipe is gone */
        return false;
    if (!sf_hdf_has_signature(path) || sf_apart_read(&parcel, "about", path, NULL, NULL, NULL) != SF_OK)
        return false;
    const char *kind = sf_parcel_take_text(&parcel);
    const char *identity = sf_parcel_take_text(&parcel);
    about->truth = sf_parcel_take_number(&parcel) != 0;
    snprintf(about->kind, sizeof about->kind, "%s", kind != NULL ? kind : "");
    snprintf(about->identity, sizeof about->identity, "%s", identity != NULL ? identity : "");
    bool sound = !parcel.damaged;
    sf_parcel_close(&parcel);
    return sound;
}
