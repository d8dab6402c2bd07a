#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Python package: what pip calls (PEP 517), and a command.

  python/backend.py wheel FOLDER [KEY=VALUE...]   writes a wheel
  python/backend.py sdist FOLDER                  writes a source distribution, with the library's sources
  python/backend.py package FOLDER                lays the package out as the wheel has it, without the library

Keys, which pip takes as --config-settings KEY=VALUE:

  library=build    (default) builds the library with CMake, and what reads files where HDF5 and the others are found;
                   without CMake an installed library is taken as by `system`
  library=system   brings no library: the package finds an installed one when it is imported
  library=PREFIX   brings the library that is installed there, as by cmake --install --prefix PREFIX
  files=no         builds the compute library alone; files=yes fails where what reads files cannot be built
  cmake=OPTIONS    more options for CMake, as -DSYNFIRE_CUDA=ON
  platform=TAG     names the platform in the wheel, as manylinux_2_31_x86_64; without it this machine is named
"""
from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from typing import Optional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import declare  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = next((folder for folder in (HERE / "libsynfire", HERE.parent) if (folder / "include/synfire").is_dir()), HERE)
Settings = Optional[Mapping[str, str]]


class Refused(SystemExit):
    """What pip and people are told."""

    def __init__(self, text: str) -> None:
        super().__init__(f"synfire: {text}")


def version() -> str:
    return re.findall(r"^project\(synfire VERSION (\S+)", (SOURCES / "CMakeLists.txt").read_text(), re.M)[0]


def metadata() -> str:
    fields = [
        ("Metadata-Version", "2.1"), ("Name", "synfire"), ("Version", version()),
        ("Summary", "Firing chains in the spikes of multi-electrode arrays, counted exactly, offline and live"),
        ("License", "Apache-2.0"), ("License-File", "LICENSE"), ("Requires-Python", ">=3.9"), ("Requires-Dist", "numpy>=1.21"),
        *((field, text.format(name)) for name in ("pandas", "networkx", "matplotlib")
          for field, text in (("Provides-Extra", "{0}"), ("Requires-Dist", '{0}; extra == "{0}"'))),
        ("Classifier", "Operating System :: POSIX :: Linux"), ("Classifier", "Typing :: Typed"),
        ("Description-Content-Type", "text/markdown"),
    ]
    return "".join(f"{name}: {value}\n" for name, value in fields) + "\n" + (HERE / "README.md").read_text()


# ---- the package ----

def lay_out(into: pathlib.Path) -> None:
    """The package without the library."""
    package = into / "synfire"
    package.mkdir(parents=True, exist_ok=True)
    for path in sorted((HERE / "synfire").iterdir()):
        if path.suffix in (".py", ".typed") and path.name != "_declarations.py":
            shutil.copyfile(path, package / path.name)
    (package / "_declarations.py").write_text(declare.declarations(SOURCES / "include/synfire", version()))


# ---- the library ----

def _series() -> str:
    return ".".join(version().split(".")[:2])


def _take(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)  # of a link what it leads to


def take_installed(prefix: pathlib.Path, package: pathlib.Path) -> None:
    """The library of an installed tree; its parts find each other by where they lie."""
    found = [path for name in (f"libsynfire.so.{_series()}", f"libsynfire-io.so.{_series()}", "libsynfire-cuda.so",
                               "synfire-read")
             for path in sorted(prefix.glob(f"lib*/**/{name}"))]
    if not any(path.name == f"libsynfire.so.{_series()}" for path in found):
        raise Refused(f"library={prefix}: no libsynfire.so.{_series()} there: give the prefix of cmake --install")
    for path in found:
        _take(path, package / path.relative_to(prefix))


def take_notices(library: str, about: pathlib.Path) -> None:
    """Licences of what is in an installed tree, and the list of it, where scripts/manylinux put them there."""
    if (pathlib.Path(library) / "licenses").is_dir():
        shutil.copytree(pathlib.Path(library) / "licenses", about / "licenses")
    if (pathlib.Path(library) / "sbom.spdx.json").is_file():
        _take(pathlib.Path(library) / "sbom.spdx.json", about / "sboms/sbom.spdx.json")


def _run(*command: str | os.PathLike[str], may_fail: bool = False) -> bool:
    print("synfire:", shlex.join(os.fspath(word) for word in command), flush=True)
    status = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    if status != 0 and not may_fail:
        raise Refused(f"{os.fspath(command[0])} failed, as it says above (pip shows that with -v)")
    return status == 0


def _configure(build: pathlib.Path, files: bool, options: str, may_fail: bool = False) -> bool:
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    return _run("cmake", "-S", SOURCES, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DSYNFIRE_TESTS=OFF",
                "-DSYNFIRE_CUDA=OFF", f"-DSYNFIRE_IO={'ON' if files else 'OFF'}", "-DCMAKE_INSTALL_LIBDIR=lib",
                "-DCMAKE_INSTALL_LIBEXECDIR=libexec", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", *shlex.split(options),
                may_fail=may_fail)


def build_library(package: pathlib.Path, wanted: str, options: str) -> None:
    """Builds the library, with what reads files where it is wanted or can be."""
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        files = wanted != "no" and _configure(build, True, options, may_fail=wanted == "auto")
        if not files:
            if wanted == "auto":
                print("synfire: without HDF5, libzmq and the others (docs/python.md) this package reads no files", flush=True)
                shutil.rmtree(build)
            _configure(build, False, options)
        targets = ["synfire", *(("synfire_io", "synfire_read") if files else ())]
        cuda = bool(re.search(r"SYNFIRE_CUDA(:\w+)?=(ON|AUTO|1)", options))
        _run("cmake", "--build", build, "--parallel", str(os.cpu_count() or 1), "--target", *targets,
             *(["synfire_cuda"] if cuda else []))
        _take(build / f"lib/libsynfire.so.{_series()}", package / f"lib/libsynfire.so.{_series()}")
        if files:
            _take(build / f"lib/libsynfire-io.so.{_series()}", package / f"lib/libsynfire-io.so.{_series()}")
            _take(build / "reader/synfire-read", package / "libexec/synfire/synfire-read")
        if cuda:
            _take(build / "gpu/libsynfire-cuda.so", package / "lib/synfire/libsynfire-cuda.so")


def _is_installed() -> bool:
    import ctypes
    try:
        ctypes.CDLL(f"libsynfire.so.{_series()}")
    except OSError:
        return shutil.which("synfire") is not None
    return True


def bring_library(package: pathlib.Path, settings: Settings) -> bool:
    """Puts the library into the package, or leaves it to the one that is installed: then False."""
    chosen = (settings or {}).get("library", "build")
    files = (settings or {}).get("files", "auto")
    unknown = set(settings or {}) - {"library", "files", "cmake", "platform"}
    if unknown:
        raise Refused(f"unknown setting {sorted(unknown)[0]!r}, expected library, files, cmake or platform")
    if files not in ("auto", "yes", "no"):
        raise Refused(f"files={files}: expected yes, no or auto")
    if chosen == "system":
        return False
    if chosen != "build":
        take_installed(pathlib.Path(chosen).resolve(), package)
        return True
    if not shutil.which("cmake"):
        if _is_installed():
            print("synfire: no CMake here: the package takes the installed library", flush=True)
            return False
        raise Refused("found no CMake to build the library with and no installed libsynfire; on Debian and Ubuntu: "
                      "apt install cmake gcc pkg-config librandom123-dev")
    build_library(package, files, (settings or {}).get("cmake", ""))
    return True


# ---- wheels ----

def _epoch() -> int:
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)  # zip begins in 1980


def _files(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def _write_wheel(path: pathlib.Path, folder: pathlib.Path, about: str) -> None:
    """A zip of the folder with a RECORD, the same bytes for the same files."""
    import time
    date = time.gmtime(_epoch())[:6]
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
        for file in _files(folder):
            name, data = file.relative_to(folder).as_posix(), file.read_bytes()
            add(name, data, 0o755 if os.access(file, os.X_OK) else 0o644)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        add(f"{about}/RECORD", ("\n".join([*record, f"{about}/RECORD,,"]) + "\n").encode(), 0o644)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """What pip asks first: where NumPy is missing it says so before anything is compiled."""
    about = pathlib.Path(metadata_directory) / f"synfire-{version()}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(metadata())
    (about / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: synfire\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
    return about.name


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        lay_out(root)
        brought = bring_library(root / "synfire", config_settings)
        named = (config_settings or {}).get("platform", re.sub(r"[-.]", "_", sysconfig.get_platform()))
        platform = named if brought else "any"
        about = root / f"synfire-{version()}.dist-info"
        about.mkdir()
        take_notices((config_settings or {}).get("library", "build"), about)
        (about / "METADATA").write_text(metadata())
        (about / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: synfire\nRoot-Is-Purelib: "
                                     f"{'false' if brought else 'true'}\nTag: py3-none-{platform}\n")
        shutil.copyfile(SOURCES / "LICENSE", about / "LICENSE")
        name = f"synfire-{version()}-py3-none-{platform}.whl"
        pathlib.Path(wheel_directory).mkdir(parents=True, exist_ok=True)
        _write_wheel(pathlib.Path(wheel_directory) / name, root, about.name)
    return name


# ---- source distributions ----

def _parts() -> list[str]:
    """What a source distribution has of the library: all that CMake wants to see, but for tests and benches."""
    text = (SOURCES / "CMakeLists.txt").read_text()
    modules = re.findall(r"^foreach\(module IN ITEMS ([^)]*)\)", text, re.M)[0].split()
    folders = [name for name in re.findall(r"add_subdirectory\(([\w/]+)\)", text) if name not in ("tests", "bench")]
    return ["CMakeLists.txt", "LICENSE", "cmake", "configs", "include", *modules, *folders]


def _sources() -> Iterator[tuple[str, pathlib.Path]]:
    """Where each file lies in a source distribution, and where it is."""
    for file in _files(HERE):
        name = file.relative_to(HERE)
        if name.parts[0] in ("pyproject.toml", "backend.py", "declare.py", "README.md", "synfire") \
                and name.name != "_declarations.py":
            yield name.as_posix(), file
    for part in _parts():
        path = SOURCES / part
        for file in _files(path) if path.is_dir() else [path]:
            yield f"libsynfire/{file.relative_to(SOURCES).as_posix()}", file


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    root = f"synfire-{version()}"
    name = f"{root}.tar.gz"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def add(path: str, data: bytes, mode: int) -> None:
            entry = tarfile.TarInfo(f"{root}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), _epoch(), mode
            archive.addfile(entry, io.BytesIO(data))
        add("PKG-INFO", metadata().encode(), 0o644)
        for path, file in _sources():
            add(path, file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
    pathlib.Path(sdist_directory).mkdir(parents=True, exist_ok=True)
    (pathlib.Path(sdist_directory) / name).write_bytes(gzip.compress(packed.getvalue(), mtime=_epoch()))
    return name


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return []


# ---- the command ----

def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in ("wheel", "sdist", "package"):
        print(__doc__, file=sys.stderr)
        return 64
    settings = dict(argument.partition("=")[::2] for argument in sys.argv[3:])
    if sys.argv[1] == "package":
        lay_out(pathlib.Path(sys.argv[2]))
    else:
        name = build_wheel(sys.argv[2], settings) if sys.argv[1] == "wheel" else build_sdist(sys.argv[2])
        print(pathlib.Path(sys.argv[2]) / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
