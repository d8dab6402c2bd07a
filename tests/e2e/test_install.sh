# SPDX-License-Identifier: Apache-2.0
# An installed tree works from where it stands: command, manual page, completion, examples, and a program that
# finds the library by pkg-config.
. "$E2E/functions.sh"
[ -z "$SYNFIRE_SANITIZE" ] || skip "a plain program cannot load a library under a sanitizer"
cmake --install "$SYNFIRE_BUILD" --prefix "$PWD/first" >/dev/null
mv first prefix
prefix/bin/synfire --version | grep -q '^synfire [0-9]'
prefix/bin/synfire simulate small.h5 --duration 5 >/dev/null
prefix/bin/synfire info small.h5 >/dev/null
[ -x prefix/libexec/synfire/synfire-read ]
prefix/bin/synfire bench bfs --kronecker 6:4:1 --json | grep -q '"bench":"bfs"'
mv prefix/libexec/synfire/synfire-bench elsewhere
expect 69 "synfire: bench: the program synfire-bench is not installed beside synfire" prefix/bin/synfire bench bfs
mv elsewhere prefix/libexec/synfire/synfire-bench
[ -s prefix/share/man/man1/synfire.1 ]
[ -s prefix/share/bash-completion/completions/synfire ]

cat >program.c <<'C'
#include <stdio.h>
#include <synfire/synfire.h>

int main(int argc, char **argv)
{
    sf_error error;
    sf_recording *recording;
    if (argc > 1 && sf_recording_open(&recording, argv[1], NULL, NULL, &error) != SF_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return puts(sf_version()) < 0;
}
C
pkgconfig=$(dirname "$(find prefix -name synfire.pc)")
export PKG_CONFIG_PATH=$PWD/$pkgconfig
cc -std=c11 -Wall -Werror program.c -o program $(pkg-config --cflags --libs synfire)
library=$(pkg-config --variable=libdir synfire)
[ "$(LD_LIBRARY_PATH=$library ./program)" = "$(pkg-config --modversion synfire)" ]
# The library too finds the program that reads HDF5 files, from where it lies.
LD_LIBRARY_PATH=$library ./program small.h5 >/dev/null
mv prefix/libexec/synfire/synfire-read elsewhere
LD_LIBRARY_PATH=$library ./program small.h5 2>err && exit 1
grep -q "synfire-read, which reads HDF5 files, is not installed" err
mv elsewhere prefix/libexec/synfire/synfire-read
# Nothing but what the public headers declare is exported.
exported=$(nm -D --defined-only "$library/libsynfire.so" | awk '$2 != "A" {print $3}' | grep -v '^_')
for name in $exported; do
    grep -q "\b$name(" prefix/include/synfire/*.h
done
