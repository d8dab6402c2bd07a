/* SPDX-License-Identifier: Apache-2.0 */
#include "support/plugin_work.h"

#include "support/support.h"

#include <dlfcn.h>

test_plugin_work *test_plugin_work_of(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (plugin == NULL) fail_msg("%s is not loaded", path);
    void *work = dlsym(plugin, "test_plugin_work_done");
    assert_non_null(work);
    dlclose(plugin); /* who loaded it holds it */
    return work;
}
