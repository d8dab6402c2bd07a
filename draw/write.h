/* SPDX-License-Identifier: Apache-2.0 */
/** Shared by the writers of pictures. */
#ifndef SF_DRAW_WRITE_H
#define SF_DRAW_WRITE_H

#include "draw/scene.h"

/** The words at a place of a scene, or NULL. */
static inline const char *sf_scene_words(const sf_scene *scene, size_t at)
{
    return at != SF_NO_WORDS ? scene->words.data + at : NULL;
}

static inline double sf_ink_opacity(const sf_ink *ink)
{
    return ink->opacity > 0 ? ink->opacity : 1;
}

/** Whether this build has Cairo; and drawing with it: a PDF, or a PNG of 300 dots per inch. SF_NO_MEMORY,
 * SF_UNAVAILABLE. */
bool sf_cairo_is_there(void);
int sf_cairo_draw(sf_text *bytes, const sf_scene *scene, bool pdf, sf_error *error);

#endif
