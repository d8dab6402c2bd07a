# SPDX-License-Identifier: Apache-2.0
"""What the tests of installed programs share: trees as `cmake --install` makes them, with the tests' plugin for devices where
one is asked for, and the Python package laid out on the libraries as built."""
import os
import pathlib
import shutil
import subprocess
import sys

import command


def done(*words, code=0, **options):
    """What a program prints, as `stdout` and `stderr`: it ends with this exit code."""
    words = list(map(str, words))
    ended = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options)
    if ended.returncode != code:
        raise AssertionError(f"exit code {ended.returncode}: {' '.join(words)}\n{ended.stdout}{ended.stderr}")
    return ended


def python(*words, **options):
    """The same of a Python program."""
    return done(sys.executable, "-B", *words, **options)


def install(folder):
    """Installs what was built; the folder."""
    folder = pathlib.Path(folder).absolute()
    done("cmake", "--install", command.BUILD, "--prefix", folder)
    return folder


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


def lay_out_package():
    """The Python package in the folder `package`, which this program's children import."""
    python(command.SOURCE / "python/backend.py", "package", "package")
    os.environ.update(PYTHONPATH=os.path.abspath("package"), SYNFIRE_LIBRARY=str(command.BUILD / "lib"))


def pass_cases(program, *words):
    """A program of tests/python passes, whose cases are told with the others."""
    print(file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-B", command.SOURCE / "tests/python" / program, *words], check=True)
