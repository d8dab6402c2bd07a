# SPDX-License-Identifier: Apache-2.0
"""Finding libsynfire, calling it, and arrays over what it owns."""
from __future__ import annotations

import ctypes
import json
import logging
import os
import pathlib
import re
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _declarations as c
from .errors import Error, Unavailable, of_status

if TYPE_CHECKING:
    import pandas

#: What takes long takes one of these: a function of the step, what is done and the whole, which may return False to
#: stop; True for a line on standard error; None for neither. Ctrl-C stops long work whichever it is.
Progress = Union[Callable[[str, float, float], object], bool, None]

Array = NDArray[Any]
Maybe = Optional[Array]  #: None where the library has none
Found = TypeVar("Found", Array, Maybe)

_SERIES = ".".join(c.VERSION.split(".")[:2])  # of versions with the same binary interface
CORE, FILES = f"libsynfire.so.{_SERIES}", f"libsynfire-io.so.{_SERIES}"


# ---- the library ----

def _folders() -> Iterable[pathlib.Path]:
    """Where the library may be, but for what the dynamic linker knows."""
    given = os.environ.get("SYNFIRE_LIBRARY")
    if given:  # a folder, or the file itself
        path = pathlib.Path(given)
        yield path if path.is_dir() else path.parent
        return
    yield pathlib.Path(__file__).parent / "lib"
    command = shutil.which("synfire")  # installed together, as by cmake --install --prefix ~/.local
    if command:
        prefix = pathlib.Path(command).resolve().parent.parent
        yield from sorted(path.parent for path in prefix.glob(f"lib*/**/{CORE}") if len(path.parts) - len(prefix.parts) <= 3)


def _open_core() -> tuple[ctypes.CDLL, pathlib.Path | None]:
    for folder in _folders():
        if (folder / CORE).exists():
            return ctypes.CDLL(str(folder / CORE)), folder
    if os.environ.get("SYNFIRE_LIBRARY"):
        raise ImportError(f"SYNFIRE_LIBRARY is {os.environ['SYNFIRE_LIBRARY']}, and there is no {CORE}")
    try:
        return ctypes.CDLL(CORE), None
    except OSError as reason:
        raise ImportError(f"no {CORE} in the package, beside the command synfire, or where the dynamic linker looks "
                          f"({reason}): install synfire, or let SYNFIRE_LIBRARY name the library's folder") from None


def _open_files(folder: pathlib.Path | None) -> tuple[ctypes.CDLL | None, str]:
    """The library that reads and writes files, or why there is none: it needs HDF5 and others."""
    try:
        return ctypes.CDLL(str(folder / FILES) if folder else FILES), ""
    except OSError as reason:
        return None, str(reason)


_core, folder = _open_core()
_files, _no_files = _open_files(folder)


def _missing(name: str) -> Callable[..., int]:
    def refuse(*_: object) -> int:
        raise Unavailable(f"this synfire has no files, which need {FILES} ({_no_files}); "
                          "spikes in memory are taken by Recording.from_arrays", name)
    return refuse


class _Functions:
    """The functions of the library by their names, with what they take and return."""

    def __init__(self) -> None:
        for name, (result, parameters) in c.FUNCTIONS.items():
            function: Any
            if hasattr(_core, name):
                function = getattr(_core, name)
            elif _files is not None:
                function = getattr(_files, name)
            else:
                setattr(self, name, _missing(name))
                continue
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # for type checkers: all are set above
        raise AttributeError(name)


lib = _Functions()
VERSION = lib.sf_version().decode()
if VERSION.split(".")[:2] != c.VERSION.split(".")[:2]:
    raise ImportError(f"this package is for libsynfire {_SERIES}, and {folder or 'the linker'} has {VERSION}")


def has_files() -> bool:
    """Whether this installation reads and writes files."""
    return _files is not None


# ---- words ----

def text_of(value: bytes | None) -> str:
    return value.decode(errors="surrogateescape") if value else ""


def text_or_none(value: bytes | None) -> str | None:
    return None if value is None else text_of(value)


def bytes_of(value: str | None) -> bytes | None:
    return None if value is None else value.encode(errors="surrogateescape")


def path_of(path: str | os.PathLike[str]) -> bytes:
    return os.fsencode(path)


def word(enum: str, value: str) -> int:
    """A member of an enum as people write it, without what the names begin with: "drop-oldest", "top_down"."""
    names = c.ENUMS[enum]
    shared = os.path.commonprefix(list(names)).rpartition("_")[0] + "_"
    members = {name[len(shared):].lower().replace("_", "-"): number for name, number in names.items()}
    try:
        return members[value.lower().replace("_", "-")]
    except (KeyError, AttributeError):
        raise of_status(c.SF_USAGE, f"found {value!r}, expected {', '.join(members)}", "") from None


# ---- calls ----

_log = logging.getLogger("synfire")
_LEVELS = {c.SF_LOG_ERROR: logging.ERROR, c.SF_LOG_WARNING: logging.WARNING, c.SF_LOG_INFO: logging.INFO,
           c.SF_LOG_DEBUG: logging.DEBUG}
_draining = threading.Lock()


def _log_line(_user: object, level: int, line: bytes) -> None:
    _log.log(_LEVELS.get(level, logging.INFO), "%s", text_of(line))


_take_line = c.sf_log_handler(_log_line)


def drain_log() -> None:
    """Hands what the library's threads have said to the logger `synfire`."""
    if _draining.acquire(blocking=False):
        try:
            lost = lib.sf_log_drain(_take_line, None)
            if lost:
                _log.warning("%d lines of the log were lost", lost)
        finally:
            _draining.release()


_OPTION = re.compile(r"--(stream|rate|columns|units|kind|recorded|positions)\b(?: (HZ|A:B|FILE|[^ ]*,[^ ]*))?")


def as_keywords(text: str) -> str:
    """What the command calls `--rate HZ` is `rate=HZ` here."""
    return _OPTION.sub(lambda found: f"{found[1]}={found[2] or ''}", text)


def check(status: int, error: c.sf_error) -> int:
    """What is no failure is handed on."""
    if status < 0:
        raise of_status(status, as_keywords(text_of(error.text)), text_of(error.place))
    return status


def former(old: str, of: Any, new: str) -> Any:
    """What an attribute is that had another name in the release before."""
    warnings.warn(f"{type(of).__name__}.{old} is called {new} now", DeprecationWarning, stacklevel=3)
    return getattr(of, new)


def call(function: Callable[..., int], *arguments: Any) -> int:
    """Calls what ends with an error, and raises it."""
    error = c.sf_error()
    return check(function(*arguments, ctypes.byref(error)), error)


def table_of(get: Callable[..., None], handle: Handle, *, by_column: bool = False) -> Any:
    """The rows of a result's table as dictionaries, or of each column that CSV has all values."""
    table = c.sf_table()
    get(handle.pointer, ctypes.byref(table))
    return json_of(table, by_column=by_column)


def json_of(table: Any, *, by_column: bool = False) -> Any:
    """The same of a table that is there."""
    text = ctypes.c_char_p()
    call(lib.sf_table_json, ctypes.byref(table), by_column, ctypes.byref(text))
    try:
        return json.loads(text.value or b"null")
    finally:
        lib.sf_release(text)


def _array(column: dict[str, Any]) -> Array:
    """The values of a column in an array of its type, rows or none: NaN, of texts None, is null, and makes counts reals."""
    values = column["values"]
    if column["type"] == "text":
        return np.array(values, object)
    if column["type"] == "flag":
        return np.array(values, object if column["nullable"] else np.bool_)
    if column["type"] in ("real", "time") or None in values:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return np.array(values, np.uint64)


def frame_of(get: Callable[..., None], handle: Handle, **more: Any) -> pandas.DataFrame:
    """The table with the columns that CSV has, and what else is given."""
    return frame_of_columns(table_of(get, handle, by_column=True), **more)


def frame_of_columns(columns: dict[str, Any], **more: Any) -> pandas.DataFrame:
    """The same of columns as table_of has them."""
    import pandas
    return pandas.DataFrame({**{name: _array(column) for name, column in columns.items()}, **more})


class Bar:
    """A line on standard error that says how far the work is."""

    def __init__(self) -> None:
        self.shown = ""

    def __call__(self, what: str, done: float, total: float) -> None:
        line = f"{what} {100 * done / total:3.0f} %" if total > 0 else what
        if line != self.shown:
            print(f"\r{line:<40}", end="", file=sys.stderr, flush=True)
            self.shown = line

    def end(self) -> None:
        if self.shown:
            print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)


class Watch:
    """The sf_progress of one call: tells the caller's function how far it is, and hears of Ctrl-C.

    The library asks it on the thread that called the library, so that Python runs its signal handlers there. One that
    raised there would raise inside ctypes, which cannot hand it on: while the work goes on Ctrl-C only stops it, and
    what was the handler before is called at the end. What the caller's function raises stops it likewise.
    """

    def __init__(self, progress: Progress) -> None:
        self.tell: Any = Bar() if progress is True else progress or None
        self.raised: BaseException | None = None
        self.interrupts: list[tuple[int, Any]] = []
        self.handler: Any = None
        kind: Any = c.sf_progress._fields_[0][1]
        self.struct: Any = c.sf_progress(kind(self.update), None)

    def update(self, _user: object, what: bytes, done: float, total: float) -> bool:
        if self.interrupts or self.raised is not None:
            return False
        try:
            return self.tell is None or self.tell(text_of(what), done, total) is not False
        except BaseException as raised:  # of whatever kind: it goes on where the work was called
            self.raised = raised
            return False

    @property
    def pointer(self) -> Any:
        return ctypes.pointer(self.struct)

    def interrupted(self, number: int, frame: Any) -> None:
        self.interrupts.append((number, frame))

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self.handler = handler
                signal.signal(signal.SIGINT, self.interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)
        if isinstance(self.tell, Bar):
            self.tell.end()
        for number, frame in self.interrupts:
            self.handler(number, frame)
        if self.raised is not None:
            raise self.raised


def work(function: Callable[..., int], *arguments: Any, progress: Progress = None, stopped_is_fine: bool = False) -> int:
    """Calls what ends with a progress and an error. `stopped_is_fine`: SF_CANCELLED is handed on."""
    watch = Watch(progress)
    return work_with(watch, function, *arguments, watch.pointer, stopped_is_fine=stopped_is_fine)


def work_with(watch: Watch, function: Callable[..., int], *arguments: Any, stopped_is_fine: bool = False) -> int:
    """The same where the progress of `watch` is somewhere among the arguments."""
    error = c.sf_error()
    with watch:
        status = function(*arguments, ctypes.byref(error))
    drain_log()
    return status if stopped_is_fine and status == c.SF_CANCELLED else check(status, error)


# ---- what the library owns ----

class Handle:
    """An object of the library, freed once neither this nor an array over its memory is left.

    `needs` are the objects that it refers to, which live as long.
    """

    def __init__(self, kind: Any, free: Callable[[Any], Any], *needs: object) -> None:
        self.pointer = ctypes.POINTER(kind)()
        self._free = free
        self._needs = needs

    @property
    def out(self) -> Any:
        """For a function that hands an object over."""
        return ctypes.byref(self.pointer)

    def __bool__(self) -> bool:
        return bool(self.pointer)

    def __del__(self) -> None:
        if self.pointer:
            self._free(self.pointer)


def columns_of(kind: Any, get: Callable[..., None], handle: Handle) -> Any:
    """The columns of a result, which `handle` keeps."""
    columns = kind(size=ctypes.sizeof(kind))
    get(handle.pointer, ctypes.byref(columns))
    return columns


def dtype_of(struct: Any) -> np.dtype[Any]:
    """A struct as NumPy has it, text as bytes."""
    fields = [(field[0], getattr(struct, field[0]), field[1]) for field in struct._fields_]
    return np.dtype({
        "names": [name for name, _, _ in fields], "offsets": [place.offset for _, place, _ in fields],
        "formats": [f"S{place.size}" if getattr(kind, "_type_", None) is ctypes.c_char else kind
                    for _, place, kind in fields], "itemsize": ctypes.sizeof(struct)})


class _Memory:
    """Memory of the library as NumPy asks for it; every array over it holds `owner`."""

    def __init__(self, address: int, count: int, itemsize: int, owner: object) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": (count,),
                                    "typestr": f"|V{itemsize}"}


def view(pointer: Any, shape: int | tuple[int, ...], owner: object, dtype: Any = None) -> Any:
    """A read-only array over `pointer`, without a copy; None where that is NULL."""
    if not pointer:
        return None
    kind = np.dtype(dtype if dtype is not None else pointer._type_)
    shape = (shape,) if isinstance(shape, int) else shape
    count = int(np.prod(shape, dtype=object))
    if count == 0:
        return np.empty(shape, kind)
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    assert address is not None
    return np.asarray(_Memory(address, count, kind.itemsize, owner)).view(kind).reshape(shape)


class Column(Generic[Found]):
    """An attribute that is an array: a value for each item of the object, as its `_column(name, dtype)` gives it.

        p_first = Column[Maybe]("p with only the first unit moved")
    """

    def __init__(self, about: str = "", dtype: Any = None, name: str = "") -> None:
        self.__doc__, self._dtype, self._name = about, dtype, name

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = self._name or name

    @overload
    def __get__(self, of: None, owner: type) -> Column[Found]: ...
    @overload
    def __get__(self, of: object, owner: type) -> Found: ...

    def __get__(self, of: Any, owner: type) -> Any:
        return self if of is None else of._column(self._name, self._dtype)

    def __set__(self, of: object, value: Found) -> None:
        raise AttributeError(f"{type(of).__name__}.{self._name} cannot be set")


def pointer_to(array: Any, kind: Any) -> Any:
    """The memory of a contiguous array for a function of the library, which copies it or returns before it goes."""
    if not array.size:
        return ctypes.POINTER(kind)()
    pointer: Any = ctypes.pointer(kind.from_address(array.__array_interface__["data"][0]))
    pointer._array = array  # as long as the pointer; numpy's data_as makes a cycle, which the garbage collector has to find
    return pointer


def options_of(kind: Any, /, **fields: Any) -> Any:
    """A struct of options with its defaults, and these fields where they are not None."""
    initialise = getattr(lib, f"{kind.__name__}_init", None)
    options = kind()
    if initialise is not None:
        initialise(ctypes.byref(options), ctypes.sizeof(kind))
    else:
        options.size = ctypes.sizeof(kind)
    for name, value in fields.items():
        if value is not None:
            setattr(options, name, bytes_of(value) if isinstance(value, str) else value)
    return options


__all__ = ["Bar", "Error", "Handle", "Progress", "Watch"]
