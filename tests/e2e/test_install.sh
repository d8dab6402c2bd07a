# SPDX-License-Identifier: Apache-2.0
# An installed tree works from where it stands: command, manual page, completion, examples, and programs that
# find the libraries by pkg-config and by CMake.
. "$E2E/functions.sh"
[ -z "$SYNFIRE_SANITIZE" ] || skip "a plain program cannot load a library under a sanitizer"
cmake --install "$SYNFIRE_BUILD" --prefix "$PWD/first" >/dev/null
mv first prefix
prefix/bin/synfire --version | grep -q '^synfire [0-9]'
prefix/bin/synfire simulate small.h5 --duration 5 >/dev/null
prefix/bin/synfire info small.h5 >/dev/null
[ -x prefix/libexec/synfire/synfire-read ]
prefix/bin/synfire bench bfs --kronecker 6:4:1 --json | grep -q '"bench":"bfs"'
[ -s prefix/share/man/man1/synfire.1 ]
[ -s prefix/share/man/man1/synfire-mine.1 ]
[ -s prefix/share/bash-completion/completions/synfire ]
# What installed pages link to is there.
python3 - prefix/share/doc/synfire <<'END'
import os, re, sys
folder, links = sys.argv[1], 0
for page in sorted(os.listdir(folder)):
    if page.endswith(".md"):
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", open(os.path.join(folder, page)).read()):
            if "://" not in link:
                links += 1
                assert os.path.exists(os.path.join(folder, link)), (page, link)
assert links > 100, links
END

# The same pages as a site, where python3-markdown is, and what a page leads to has to be there.
if /usr/bin/python3 -c 'import markdown' 2>/dev/null; then
    site=prefix/share/doc/synfire/html
    grep -q 'href="docs/guide.html"' $site/index.html
    grep -q '"at": "docs/episodes.html#significance"' $site/index.js
    [ -s $site/docs/figures/bursts.svg ]
    mkdir -p pages/scripts
    cp "$SYNFIRE_SOURCE/scripts/manual" pages/scripts
    cp "$SYNFIRE_SOURCE/CMakeLists.txt" pages
    printf '# One\n\n[two](two.md#here) [gone](gone.md)\n' >pages/README.md
    printf '# Two\n\n## There\n' >pages/two.md
    pages/scripts/manual site 2>faults && exit 1
    grep -qx 'README.md: gone.md leads nowhere' faults
    grep -qx 'README.md: two.md has no #here' faults
    sed -i 's/#here/#there/; s/ \[gone.*//' pages/README.md
    pages/scripts/manual site
    grep -q 'href="two.html#there"' site/index.html
fi

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
pkgconfig=$(dirname "$(find prefix -name synfire-io.pc)")
export PKG_CONFIG_PATH=$PWD/$pkgconfig
library=$(pkg-config --variable=libdir synfire-io)
cc -std=c11 -Wall -Werror program.c -o program $(pkg-config --cflags --libs synfire-io)
[ "$(LD_LIBRARY_PATH=$library ./program)" = "$(pkg-config --modversion synfire)" ]
# The library too finds the program that reads HDF5 files, from where it lies.
LD_LIBRARY_PATH=$library ./program small.h5 >/dev/null
mv prefix/libexec/synfire/synfire-read elsewhere
LD_LIBRARY_PATH=$library ./program small.h5 2>err && exit 1
grep -q "synfire-read, which reads HDF5 files, is not installed" err
mv elsewhere prefix/libexec/synfire/synfire-read

# What needs no files needs one library, and that needs nothing but the C library.
printf '#include <synfire/synfire.h>\nint main(void)\n{\n    return sf_version() == 0;\n}\n' >alone.c
cc -std=c11 -Wall -Werror alone.c -o alone $(pkg-config --cflags --libs synfire)
LD_LIBRARY_PATH=$library ./alone
needed=$(readelf -d "$library/libsynfire.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | sort | tr '\n' ' ')
[ "$needed" = "libc.so.6 libm.so.6 " ]
# What needs files needs no sockets: sources and sinks are the command's.
readelf -d "$library/libsynfire-io.so" | grep -F NEEDED >needed
grep -q 'libsynfire\.so' needed
grep -Eq 'zmq|websockets|liblo|yaml|hiredis' needed && exit 1
for name in synfire synfire-io; do
    version=$(pkg-config --modversion $name)
    readelf -d "$library/lib$name.so" | grep -F SONAME | grep -qF "[lib$name.so.${version%.*}]"
done

# By CMake, too.
mkdir package
cat >package/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.25)
project(package C)
find_package(synfire VERSION REQUIRED)
add_executable(with_files ../program.c)
target_link_libraries(with_files synfire::synfire_io)
add_executable(without_files ../alone.c)
target_link_libraries(without_files synfire::synfire)
C
sed -i "s/VERSION REQ/$(pkg-config --modversion synfire) REQ/" package/CMakeLists.txt
cmake -S package -B package/build -DCMAKE_PREFIX_PATH="$PWD/prefix" >/dev/null
cmake --build package/build >/dev/null
package/build/with_files small.h5 >/dev/null
package/build/without_files

# What comes with it is found by its name, from anywhere: the folder of the sources is not asked.
for name in monitoring monitoring.yaml configs/monitoring.yaml; do
    prefix/bin/synfire run $name --check | grep -q 'stream: culture'
done
(umask 077 && echo 'a secret of some length' >token)
prefix/bin/synfire run reference --check --set sources.0.recording=small.h5 --set sinks.7.insecure=true |
    grep -q 'name: reward' # and is no example that could not run
mkdir demo # as the demo's own folder is named
prefix/bin/synfire run demo --check | grep -q 'stream: demo'
rmdir demo
prefix/bin/synfire run demo --check >checked # as where nothing was prepared
rmdir demo
prefix/bin/synfire run demo --set sources.0.speed=max >out 2>said # whose recording it makes
grep -q 'demo/demo.h5 is not there and is simulated' said
grep -q 'A > B > C' out
[ -s demo/demo.jsonl ]
prefix/bin/synfire plan "$(basename "$(ls prefix/share/synfire/configs/plans/*.yaml | head -1)" | sed 's|^|plans/|')" >/dev/null
expect 66 "synfire: run: nothing.yaml: cannot open" prefix/bin/synfire run nothing.yaml
echo 'stream: mine' >monitoring
prefix/bin/synfire run monitoring --check | grep -q 'stream: mine'
mv prefix/share/synfire/configs elsewhere
expect 66 "synfire: run: replay: cannot open" prefix/bin/synfire run replay --check
mv elsewhere prefix/share/synfire/configs

# The libraries export what their maps say: what the public headers declare, and the rest under the private version.
for name in synfire synfire-io; do
    nm -D --defined-only --with-symbol-versions "$library/lib$name.so" | awk '$2 != "A" {print $3}' | grep '^sf_' | sort >exported.$name
    map=$SYNFIRE_SOURCE/cmake/lib$name.map
    sed -n 's/^ *\(sf_[a-z0-9_]*\);$/\1/p' "$map" | sort >expected.$name
    sed 's/@.*//' exported.$name | diff expected.$name -
    for exported in $(grep -v 'SYNFIRE_PRIVATE_' exported.$name | sed 's/@.*//'); do
        grep -q "\b$exported(" prefix/include/synfire/*.h
    done
done
declared=$(grep -ohE '^SF_API\b.*\bsf_[a-z0-9_]+\(' prefix/include/synfire/*.h | sed 's/.*\b\(sf_[a-z0-9_]*\)($/\1/' | sort -u)
[ "$(grep -hv 'SYNFIRE_PRIVATE_' exported.* | sed 's/@.*//' | sort)" = "$declared" ]

# Uninstalling takes away what was installed and the folders that are then empty, and nothing else.
find "$PWD/prefix" -type f -o -type l >manifest
echo mine >prefix/share/mine.txt
cmake -D MANIFEST="$PWD/manifest" -P "$SYNFIRE_SOURCE/cmake/uninstall.cmake" >/dev/null 2>&1
[ "$(find prefix -type f -o -type l)" = prefix/share/mine.txt ]
[ "$(find prefix -type d | sort | tr '\n' ' ')" = "prefix prefix/share " ]
