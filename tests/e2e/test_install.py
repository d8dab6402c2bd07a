# SPDX-License-Identifier: Apache-2.0
"""An installed tree works from where it stands: command, manual page, completion, examples, and programs that find the
libraries by pkg-config and by CMake."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import command
import installed

installed.need_plain()

WITH_FILES = """\
#include <stdio.h>
#include <synfire/synfire.h>

int main(int argc, char **argv)
{
    sf_error error;
    sf_recording *recording;
    if (argc > 1 && sf_recording_open(&recording, argv[1], NULL, NULL, &error) != SF_OK) {
        fprintf(stderr, "%s\\n", error.text);
        return 1;
    }
    return puts(sf_version()) < 0;
}
"""
WITHOUT_FILES = """\
#include <synfire/synfire.h>

int main(void)
{
    return sf_version() == 0;
}
"""
PACKAGE = """\
cmake_minimum_required(VERSION 3.25)
project(package C)
find_package(synfire VERSION REQUIRED)
add_executable(with_files ../with_files.c)
target_link_libraries(with_files synfire::synfire_io)
add_executable(without_files ../without_files.c)
target_link_libraries(without_files synfire::synfire)
"""
LIBRARIES = "synfire", "synfire-io"
PYTHON_OF_SITES = "/usr/bin/python3"  # as CMakeLists.txt and scripts/manual have it


def has_markdown():
    return os.path.exists(PYTHON_OF_SITES) and subprocess.run([PYTHON_OF_SITES, "-c", "import markdown"], capture_output=True,
                                                              check=False).returncode == 0


def packages(*words):
    return installed.done("pkg-config", *words).stdout.strip()


def build(name, source, library):
    pathlib.Path(f"{name}.c").write_text(source)
    installed.done("cc", "-std=c11", "-Wall", "-Werror", f"{name}.c", "-o", name, *packages("--cflags", "--libs", library).split())


class Installed(command.Test):
    @classmethod
    def prepare(cls):
        installed.install("first").rename("prefix")  # it may be moved
        cls.tree = pathlib.Path("prefix").absolute()
        installed.use(cls.tree)
        cls.synfire("simulate", "small.h5", "--duration", 5)
        os.environ["PKG_CONFIG_PATH"] = str(next(cls.tree.rglob("synfire-io.pc")).parent)
        cls.library = pathlib.Path(packages("--variable=libdir", "synfire-io"))
        cls.finding = {**os.environ, "LD_LIBRARY_PATH": str(cls.library)}
        build("with_files", WITH_FILES, "synfire-io")
        build("without_files", WITHOUT_FILES, "synfire")

    def hide(self, name):
        """Takes a part of the tree away until the test has ended."""
        (self.tree / name).rename("hidden")
        self.addCleanup(pathlib.Path("hidden").absolute().rename, self.tree / name)

    def test_the_command_works_with_what_comes_beside_it(self):
        self.assertRegex(self.synfire("--version").stdout, r"\Asynfire [0-9]")
        self.synfire("info", "small.h5")
        self.assertEqual(self.document("bench", "bfs", "--kronecker", "6:4:1")[0]["bench"], "bfs")
        self.assertTrue(os.access(self.tree / "libexec/synfire/synfire-read", os.X_OK))
        for name in "man/man1/synfire.1", "man/man1/synfire-mine.1", "bash-completion/completions/synfire":
            self.assertTrue((self.tree / "share" / name).stat().st_size, name)

    def test_what_pages_link_to_is_there(self):
        folder = self.tree / "share/doc/synfire"
        links = [(page, link) for page in folder.glob("*.md") for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
                 if "://" not in link]
        self.assertGreater(len(links), 100)
        self.assertEqual([(page.name, link) for page, link in links if not (folder / link).exists()], [])

    @unittest.skipUnless(has_markdown(), "no python3-markdown")
    def test_the_pages_are_a_site_too(self):
        site = self.tree / "share/doc/synfire/html"
        self.assertIn('href="docs/guide.html"', (site / "index.html").read_text())
        self.assertIn('"at": "docs/episodes.html#significance"', (site / "index.js").read_text())
        self.assertTrue((site / "docs/figures/bursts.svg").stat().st_size)

    @unittest.skipUnless(has_markdown(), "no python3-markdown")
    def test_what_a_page_of_a_site_leads_to_has_to_be_there(self):
        pages = pathlib.Path("pages")
        (pages / "scripts").mkdir(parents=True)
        shutil.copy(command.SOURCE / "scripts/manual", pages / "scripts")
        shutil.copy(command.SOURCE / "CMakeLists.txt", pages)
        (pages / "README.md").write_text("# One\n\n[two](two.md#here) [gone](gone.md)\n")
        (pages / "two.md").write_text("# Two\n\n## There\n")
        faults = installed.done("pages/scripts/manual", "site", code=1).stderr.splitlines()
        self.assertIn("README.md: gone.md leads nowhere", faults)
        self.assertIn("README.md: two.md has no #here", faults)
        (pages / "README.md").write_text("# One\n\n[two](two.md#there)\n")
        installed.done("pages/scripts/manual", "site")
        self.assertIn('href="two.html#there"', pathlib.Path("site/index.html").read_text())

    def test_a_program_finds_the_library_by_pkg_config(self):
        self.assertEqual(installed.done("./with_files", env=self.finding).stdout.strip(), packages("--modversion", "synfire"))
        installed.done("./without_files", env=self.finding)

    def test_the_library_too_finds_the_program_that_reads_hdf5_files(self):
        installed.done("./with_files", "small.h5", env=self.finding)
        self.hide("libexec/synfire/synfire-read")
        self.assertIn("synfire-read, which reads HDF5 files, is not installed",
                      installed.done("./with_files", "small.h5", env=self.finding, code=1).stderr)

    def entries(self, name, kind):
        """What the dynamic section of a library has of a kind, NEEDED or SONAME."""
        lines = installed.done("readelf", "-d", self.library / f"lib{name}.so").stdout
        return re.findall(rf"\({kind}\).*\[(.*)\]", lines)

    def test_what_needs_no_files_needs_the_c_library_alone(self):
        needed = {name for name in self.entries("synfire", "NEEDED") if not name.startswith("ld-linux")}
        self.assertEqual(needed, {"libc.so.6", "libm.so.6"})

    def test_what_needs_files_needs_no_sockets(self):
        needed = " ".join(self.entries("synfire-io", "NEEDED"))
        self.assertIn("libsynfire.so", needed)
        self.assertNotRegex(needed, "zmq|websockets|liblo|yaml|hiredis")

    def test_libraries_are_named_by_their_version(self):
        for name in LIBRARIES:
            self.assertEqual(self.entries(name, "SONAME"), [f"lib{name}.so.{packages('--modversion', name).rpartition('.')[0]}"])

    def test_a_program_finds_the_libraries_by_cmake(self):
        pathlib.Path("package").mkdir()
        pathlib.Path("package/CMakeLists.txt").write_text(PACKAGE.replace("VERSION REQ", f"{packages('--modversion', 'synfire')} REQ"))
        installed.done("cmake", "-S", "package", "-B", "package/build", f"-DCMAKE_PREFIX_PATH={self.tree}")
        installed.done("cmake", "--build", "package/build")
        installed.done("package/build/with_files", "small.h5")
        installed.done("package/build/without_files")

    def test_what_comes_with_it_is_found_by_its_name_from_anywhere(self):
        for name in "monitoring", "monitoring.yaml", "configs/monitoring.yaml":
            self.assertIn("stream: culture", self.synfire("run", name, "--check").stdout)
        pathlib.Path("token").write_text("a secret of some length\n")
        os.chmod("token", 0o600)
        checked = self.synfire("run", "reference", "--check", "--set", "sources.0.recording=small.h5", "--set", "sinks.7.insecure=true")
        self.assertIn("name: episode", checked.stdout)  # and is no example that could not run
        plan = min((self.tree / "share/synfire/configs/plans").glob("*.yaml"))
        self.synfire("plan", f"plans/{plan.name}")

    def test_a_file_that_is_there_goes_first(self):
        self.refuses(66, "synfire: run: nothing.yaml: cannot open", "run", "nothing.yaml")
        pathlib.Path("monitoring").write_text("stream: mine\n")
        self.addCleanup(os.remove, "monitoring")
        self.assertIn("stream: mine", self.synfire("run", "monitoring", "--check").stdout)

    def test_the_folder_of_the_sources_is_not_asked(self):
        self.hide("share/synfire/configs")
        self.refuses(66, "synfire: run: replay: cannot open", "run", "replay", "--check")

    def test_the_demo_makes_its_recording(self):
        folder = pathlib.Path("demo")
        folder.mkdir()  # as the demo's own folder is named
        self.assertIn("stream: demo", self.synfire("run", "demo", "--check").stdout)
        folder.rmdir()
        self.synfire("run", "demo", "--check")  # as where nothing was prepared
        folder.rmdir()
        ran = self.synfire("run", "demo", "--set", "sources.0.speed=max")
        self.assertIn("demo/demo.h5 is not there and is simulated", ran.stderr)
        self.assertIn("A > B > C", ran.stdout)
        self.assertTrue((folder / "demo.jsonl").stat().st_size)

    def test_libraries_export_what_their_maps_say_and_headers_declare_what_is_not_private(self):
        headers = "\n".join(path.read_text() for path in (self.tree / "include/synfire").glob("*.h"))
        public = set()
        for name in LIBRARIES:
            lines = installed.done("nm", "-D", "--defined-only", "--with-symbol-versions", self.library / f"lib{name}.so").stdout
            exported = [symbol.partition("@") for _, kind, symbol in (line.split() for line in lines.splitlines())
                        if kind != "A" and symbol.startswith("sf_")]
            expected = re.findall(r"(?m)^ *(sf_[a-z0-9_]*);$", (command.SOURCE / f"cmake/lib{name}.map").read_text())
            self.assertEqual(sorted(symbol for symbol, _, _ in exported), sorted(expected))
            public |= {symbol for symbol, _, version in exported if "SYNFIRE_PRIVATE_" not in version}
        self.assertEqual(public, set(re.findall(r"(?m)^SF_API\b.*\b(sf_[a-z0-9_]+)\(", headers)))
        self.assertGreater(len(public), 100)

    def test_uninstalling_takes_away_what_was_installed_and_folders_that_are_then_empty(self):
        tree = pathlib.Path(shutil.copytree(self.tree, "other", symlinks=True)).absolute()
        pathlib.Path("manifest").write_text("".join(f"{path}\n" for path in tree.rglob("*") if path.is_symlink() or path.is_file()))
        (tree / "share/mine.txt").write_text("mine\n")
        installed.done("cmake", "-D", f"MANIFEST={os.path.abspath('manifest')}", "-P", command.SOURCE / "cmake/uninstall.cmake")
        self.assertEqual([str(path.relative_to(tree)) for path in sorted(tree.rglob("*"))], ["share", "share/mine.txt"])


if __name__ == "__main__":
    command.main()
