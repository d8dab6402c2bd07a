/* SPDX-License-Identifier: Apache-2.0 */
/* Many programs in one file (cmake/programs.cmake): runs the one by whose name it was called. */
#include <stdio.h>
#include <string.h>

#define PROGRAM(name, parameters, values) int main_of_##name parameters;
#include PROGRAMS_LIST
#undef PROGRAM

int main(int count, char **arguments)
{
    const char *slash = strrchr(arguments[0], '/');
    const char *called = slash != NULL ? slash + 1 : arguments[0];
#define PROGRAM(name, parameters, values)                                                                    \
    if (strcmp(called, #name) == 0) return main_of_##name values;
#include PROGRAMS_LIST
#undef PROGRAM
    fprintf(stderr, "%s: started by the name of a program in it, which this is not (%d arguments)\n", called,
            count - 1);
    return 64;
}
