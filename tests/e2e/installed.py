# SPDX-License-Identifier: Apache-2.0
"""What the tests of installed programs share: trees as `cmake --install` makes them, with the tests' plugin for devices where
one is asked for, and the Python package laid out on the libraries as built."""
import os
import pathlib
import shutil
import subprocess
import sys

import command


def install(folder):
    """Installs what was built; the folder."""
    subprocess.run(["cmake", "--install", command.BUILD, "--prefix", os.path.abspath(folder)], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(folder).absolute()


def use(tree):
    """From here on the tests' command is the one of this tree."""
    os.environ["SYNFIRE"] = str(tree / "bin/synfire")


def install_without_plugin(folder):
    """A tree that has no plugin for devices, whose command is the tests' from here on."""
    tree = install(folder)
    for plugin in tree.glob("lib*/**/synfire/libsynfire-cuda.so"):
        plugin.unlink()
    use(tree)
    return tree


def add_plugin(tree):
    """The tests' plugin where the program looks for its own: device 0 works, 1 is lost in its second job, 2 refuses, 3 does
    not start, 4 takes small jobs only, 5 loses windows."""
    (tree / "lib/synfire").mkdir(parents=True, exist_ok=True)
    shutil.copy(command.BUILD / "tests/libsynfire_test_backend.so", tree / "lib/synfire/libsynfire-cuda.so")


def need_plain():
    """Skips the whole file under a sanitizer."""
    command.need(not command.SANITIZED, "a plain program cannot load a library under a sanitizer")


def need_package():
    """Skips the whole file where the Python package cannot be imported."""
    command.need_modules()
    need_plain()


def python(*words, **options):
    """What a Python program prints, as the one output of it: it succeeds."""
    done = subprocess.run([sys.executable, "-B", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {' '.join(map(str, words))}\n{done.stdout}")
    return done.stdout


def lay_out_package():
    """The Python package in the folder `package`, which this program's children import."""
    python(command.SOURCE / "python/backend.py", "package", "package")
    os.environ.update(PYTHONPATH=os.path.abspath("package"), SYNFIRE_LIBRARY=str(command.BUILD / "lib"))
