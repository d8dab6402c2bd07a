# SPDX-License-Identifier: Apache-2.0
"""A wheel installs into a fresh virtual environment and works there: with the library of an installed tree, with one that is
found, and with one that CMake builds. Nothing is fetched."""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import unittest
import zipfile

import command
import installed

installed.need_package()

BACKEND = command.SOURCE / "python/backend.py"
OFFLINE = ("--no-index", "--no-cache-dir")


def environment(folder, *options):
    return subprocess.run([sys.executable, "-m", "venv", *options, folder], capture_output=True, check=False).returncode == 0


def wheel(folder, *settings, **options):
    """A wheel of the package; its path."""
    installed.python(BACKEND, "wheel", folder, *settings, **options)
    [path] = pathlib.Path(folder).glob("*.whl")
    return path


class Wheel(command.Test):
    @classmethod
    def prepare(cls):
        os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
        os.environ.pop("SYNFIRE_LIBRARY", None)
        if not environment("fresh", "--system-site-packages"):  # NumPy is the system's, as nothing is fetched
            raise unittest.SkipTest("this Python makes no virtual environments: python3-venv")
        cls.synfire("simulate", "small.h5", "--duration", 5, "--quiet")
        cls.tree = installed.install("prefix")
        cls.whole = wheel("whole", f"library={cls.tree}")

    def install(self, *words, **options):
        """Into the fresh environment, until the test has ended."""
        installed.done("fresh/bin/pip", "install", *OFFLINE, *words, **options)
        self.addCleanup(self.uninstall)

    def uninstall(self):
        installed.done("fresh/bin/pip", "uninstall", "--yes", "synfire")
        self.assertEqual(list(pathlib.Path("fresh").rglob("*synfire*")), [])

    def works(self, *file, **environment):
        program = pathlib.Path(__file__).with_name("fresh.py")
        installed.done("fresh/bin/python", "-B", "-I", program, *file, env={**os.environ, **environment})

    def fails(self, sentence, *words):
        done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(sentence, done.stdout)
        return done.stdout

    def test_the_same_files_make_the_same_bytes(self):
        again = wheel("again", f"library={self.tree}")
        self.assertEqual(again.name, self.whole.name)
        self.assertEqual(again.read_bytes(), self.whole.read_bytes())

    def test_it_has_what_it_needs_of_an_installed_tree(self):
        self.tree.rename("hidden")
        self.addCleanup(pathlib.Path("hidden").absolute().rename, self.tree)
        self.install(self.whole)
        self.works("small.h5")

    def test_one_without_a_library_finds_the_one_beside_the_command(self):
        found = wheel("system", "library=system")
        self.assertEqual(found.name, self.whole.name.partition("none-")[0] + "none-any.whl")
        self.install(found)
        self.works("small.h5", PATH=f"{self.tree}/bin:{os.environ['PATH']}")
        self.works("small.h5", SYNFIRE_LIBRARY=str(next(self.tree.rglob("libsynfire.so")).parent))

    def test_what_is_wrong_with_its_settings_is_told(self):
        self.fails("give the prefix of cmake --install", sys.executable, "-B", BACKEND, "wheel", "no", "library=/nowhere")
        self.fails("unknown setting 'libraries'", sys.executable, "-B", BACKEND, "wheel", "no", "libraries=system")

    def test_where_numpy_is_missing_pip_says_so_before_it_builds_anything(self):
        self.assertTrue(environment("bare"))
        said = self.fails("requirement numpy", "bare/bin/pip", "install", *OFFLINE, command.SOURCE / "python")
        self.assertNotIn("Building wheel", said)

    def test_one_for_another_system_is_named_so_and_has_the_licences_of_what_is_inside(self):
        tree = pathlib.Path(shutil.copytree(self.tree, "other", symlinks=True)).absolute()
        (tree / "licenses").mkdir()
        (tree / "licenses/libinside").write_text("MIT\n")
        (tree / "sbom.spdx.json").write_text("{}\n")
        named = wheel("named", f"library={tree}", "platform=manylinux_2_31_x86_64")
        self.assertTrue(named.match("synfire-*-py3-none-manylinux_2_31_x86_64.whl"), named)
        files = " ".join(zipfile.ZipFile(named).namelist())
        self.assertIn("dist-info/licenses/libinside", files)
        self.assertIn("dist-info/sboms/sbom.spdx.json", files)

    def test_the_source_distribution_has_all_that_cmake_asks_for_and_pip_makes_the_package_of_it(self):
        installed.python(BACKEND, "sdist", "source")
        [archive] = pathlib.Path("source").glob("*.tar.gz")
        with tarfile.open(archive) as files:
            files.extractall("unpacked")
        [library] = pathlib.Path("unpacked").glob("synfire-*/libsynfire")
        installed.done("cmake", "-S", library, "-B", "configured", "-DSYNFIRE_TESTS=OFF", "-DSYNFIRE_CUDA=OFF")
        self.install("--config-settings", "library=system", archive)
        self.works("small.h5", SYNFIRE_LIBRARY=str(command.BUILD / "lib"))

    @unittest.skipUnless(os.environ.get("CI"), "the library is compiled once more where CI is set, as .ci/run does")
    def test_cmake_builds_the_library_as_pip_does_in_a_clone(self):
        beside = {**os.environ, "TMPDIR": str(command.BUILD.parent)}  # there ccache knows what was compiled
        self.install(wheel("built", "files=no", "cmake=-DSYNFIRE_WERROR=ON", env=beside))
        self.works()


if __name__ == "__main__":
    command.main()
