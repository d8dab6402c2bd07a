# SPDX-License-Identifier: Apache-2.0
"""Live analysis: spikes go in while they happen; counts, triggers, graphs and densities come out as messages."""
from __future__ import annotations

import ctypes
import json
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _declarations as c
from ._library import (Array, Handle, bytes_of, call, check, drain_log, lib, options_of, pointer_to, text_or_none, view, word)
from .errors import UsageError
from .recording import SPIKE, Recording, _markers, _spikes, nanoseconds

_TOPICS = [name[len("SF_TOPIC_"):].lower() for name in c.ENUMS["sf_topic"] if name != "SF_TOPIC_COUNT"]
_PROMISES_NOTHING, _ENDED = -2**63, 2**63 - 1


# ---- options ----

def _fill(struct: Any, given: Mapping[str, Any], place: str = "") -> None:
    """Sets the fields of a struct of options, and of the structs and lists in it, by their names."""
    kinds = dict(struct._fields_)
    for name, value in given.items():
        if name not in kinds or name == "size" or name.endswith("_count"):
            known = ", ".join(key for key in kinds if key != "size" and not key.endswith("_count"))
            raise UsageError(f"is not an option, expected one of {known}", f"{place}{name}")
        try:
            _set(struct, name, kinds[name], value, f"{place}{name}")
        except (TypeError, ValueError, ctypes.ArgumentError) as wrong:
            if isinstance(wrong, UsageError) and wrong.place:
                raise
            raise UsageError(f"found {value!r}: {wrong}", f"{place}{name}") from None


def _length_of(kinds: Mapping[str, Any], name: str) -> str | None:
    """Of a list of a struct the field of its length: of `patterns` it is `pattern_count`."""
    for counted in (f"{name}_count", f"{name[:-1]}_count"):
        if counted in kinds:
            return counted
    return None


def _set(struct: Any, name: str, kind: Any, value: Any, place: str) -> None:
    enum = c.ENUM_FIELDS.get(f"{type(struct).__name__}.{name}")
    if isinstance(kind, type) and issubclass(kind, ctypes._Pointer):
        if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
            value = [value]
        setattr(struct, name, _list(kind._type_, value, place))
        counted = _length_of(dict(struct._fields_), name)  # thresholds are as many as labels, less one
        if counted is not None:
            setattr(struct, counted, len(value))
    elif isinstance(kind, type) and issubclass(kind, ctypes.Structure):
        if not isinstance(value, Mapping):
            raise UsageError(f"found {value!r}, expected a mapping", place)
        _fill(getattr(struct, name), value, f"{place}.")
    elif enum is not None and isinstance(value, str):
        setattr(struct, name, word(enum, value))
    else:
        setattr(struct, name, bytes_of(value) if isinstance(value, str) else value)


def _list(item: Any, values: Sequence[Any], place: str) -> Any:
    made = (item * len(values))()
    for i, value in enumerate(values):
        if isinstance(value, Mapping):
            if item is c.sf_live_density:
                made[i] = lib.sf_live_density_default(word("sf_quantity", value.get("quantity", "isi")))
            for (field, _), default in zip(item._fields_, c.DEFAULTS.get(f"{item.__name__.upper()}_DEFAULTS", ())):
                if default:  # a pointer has none
                    setattr(made[i], field, default)
            _fill(made[i], value, f"{place}.{i}.")
        else:
            made[i] = bytes_of(str(value)) if item is ctypes.c_char_p else value
    return made


def _sources(units: Any, sources: Sequence[Mapping[str, Any]] | None, virtual_clock: bool) -> Any:
    """An array of sf_live_source."""
    if (units is None) == (sources is None):
        raise UsageError("give the units of the only source, or several sources", "units")
    given = [{"units": units, "virtual_clock": virtual_clock}] if sources is None else sources
    made = (c.sf_live_source * len(given))()
    for i, source in enumerate(given):
        about = dict(source)
        about["units"] = [unit if isinstance(unit, Mapping) else {"name": unit} for unit in _names(about.get("units", []))]
        for unit in about["units"]:
            unit.setdefault("x_um", float("nan"))
            unit.setdefault("y_um", float("nan"))
        if not about["units"]:
            del about["units"]
        _fill(made[i], about, f"sources.{i}.")
    return made


def _names(units: Any) -> list[Any]:
    if isinstance(units, Recording):
        return [{"name": name, "x_um": x, "y_um": y} for name, (x, y) in zip(units.names, units.positions.tolist())]
    return [dict(unit) if isinstance(unit, Mapping) else str(unit) for unit in units]


# ---- messages ----

class Message(Mapping[str, Any]):
    """One message: a mapping with the fields of docs/messages.md, read when first asked for.

    `topic` is episodes, trigger, density, graph, status or another of that page; `array` is that of a density, without a copy.
    """

    def __init__(self, live: Live, pointer: Any) -> None:
        self._live: Live | None = live
        self._handle = _Message(pointer)
        self._fields: dict[str, Any] | None = None
        raw = pointer.contents
        self.topic: str = _TOPICS[raw.topic]
        self.seq: int = raw.seq
        self.time_ns: int = raw.time_ns

    @property
    def raw(self) -> Any:
        """The message as the library has it, an sf_message of include/synfire/live.h; alive while this is."""
        return self._handle.pointer.contents

    @property
    def fields(self) -> dict[str, Any]:
        if self._fields is None:
            assert self._live is not None
            text = ctypes.c_char_p()
            call(lib.sf_live_json, self._live._pointer, self._handle.pointer, ctypes.byref(text))
            try:
                self._fields = json.loads(text.value or b"null")
            finally:
                lib.sf_release(text)
            self._live = None
        return self._fields

    @property
    def array(self) -> Array | None:
        """Of a density its values: a line, or rows of a plane."""
        if self.topic != "density":
            return None
        told = self.raw.density
        count = int(told.count)
        return view(told.values, (int(told.rows), count // int(told.rows)) if told.rows else count, self._handle)

    def __getitem__(self, key: str) -> Any:
        return self.fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<Message {self.topic} {self.seq} at {self.time_ns / 1e9:.6g} s>"


class _Message(Handle):
    """A reference to a message."""

    def __init__(self, pointer: Any) -> None:
        super().__init__(c.sf_message, lib.sf_message_release)
        self.pointer = pointer


# ---- a loop ----

class Room:
    """Memory for the spikes of one push after the other. `Live.room` makes one.

    Fill `times` (ns), `units` and, where there are some, `amplitudes` from 0 on, and push so many: nothing is converted or
    checked, and nothing is allocated for it but Python's own numbers. `triggers` are structs sf_message of
    include/synfire/live.h, which a tick fills: `triggers[0].time_ns`, `triggers[0].trigger.name`.
    """

    def __init__(self, live: Live, size: int, source: int, triggers: int) -> None:
        self.spikes = np.zeros(size, SPIKE)
        self.spikes["amplitude"] = np.nan
        self.times, self.units, self.amplitudes = (self.spikes[name] for name in ("time_ns", "unit", "amplitude"))
        self.triggers = (c.sf_message * triggers)()
        self._live, self._source, self._most = live, source, triggers
        self._pointer = pointer_to(self.spikes, c.sf_spike)
        self._error = c.sf_error()
        self._to_error = ctypes.byref(self._error)
        self._taken = ctypes.c_size_t()
        self._to_taken = ctypes.byref(self._taken)

    def push(self, count: int, until: int) -> None:
        """The first `count` spikes; nothing before `until` (ns) will follow. Where there is no room yet it waits, as Live.push."""
        if lib.sf_live_push(self._live._pointer, self._source, self._pointer, count, until, self._to_error) != c.SF_OK:
            self._live._push(self.spikes[:count], until, self._source)

    def tick(self, count: int, until: int) -> int:
        """Pushes likewise and says how many triggers wait, which are then in `triggers`, in one call of the library.

        By the thread that calls Live.next, which gives all other messages and hands on the log. More triggers than
        there is room for, and those that another thread of the run has just seen, come with a later tick.
        """
        if lib.sf_live_tick(self._live._pointer, self._source, self._pointer, count, until, self.triggers, self._most,
                            self._to_taken, self._to_error) != c.SF_OK:
            self._live._push(self.spikes[:count], until, self._source)
        return self._taken.value


# ---- a run ----

class Live:
    """A run of analyses with threads of its own. `synfire.live` opens one.

    Push spikes from one thread for each source, and take messages from one thread, which may be the same. As a
    context manager it closes at the end, and an iteration ends with the run.
    """

    def __init__(self, options: Any) -> None:
        self._options = options  # borrowed by the run
        self._pointer = ctypes.POINTER(c.sf_live)()
        self._waiting: deque[Message] = deque()
        self._taking = threading.Lock()
        self._messages: weakref.WeakSet[Message] = weakref.WeakSet()
        self._ended = False
        self._error = c.sf_error()  # of taking messages, which one thread does at a time
        self._to_error = ctypes.byref(self._error)
        self._expect()
        call(lib.sf_live_open, ctypes.byref(self._pointer), ctypes.byref(options))

    # ---- in ----

    def push(self, times: Any, units: Any = None, *, until: float | int | None = None, amplitudes: Any = None,
             source: int = 0) -> None:
        """Hands spikes over, in time order and with the source's own unit numbers.

        Times are as in Recording.from_arrays, or `times` is an array of the dtype SPIKE, which is not copied here.
        `until`: nothing before this time will follow (seconds, or whole nanoseconds); a window is told once all
        sources have come so far. Where the run cannot take more yet this waits, and keeps the messages that come
        meanwhile.
        """
        spikes = _spikes(times, units if units is not None or getattr(times, "dtype", None) == SPIKE else [], None, amplitudes)
        watermark = (_PROMISES_NOTHING if until is None else int(until) if isinstance(until, (int, np.integer))
                     else nanoseconds(until))
        self._push(spikes, watermark, source)

    def room(self, size: int, source: int = 0, triggers: int = 16) -> Room:
        """Memory for spikes that are pushed again and again, and for triggers: for loops that have no time for more."""
        return Room(self, size, source, triggers)

    def end(self, source: int = 0) -> None:
        """The source has ended: nothing of it follows."""
        self._push(np.empty(0, SPIKE), _ENDED, source)

    def mark(self, markers: Any, *, source: int = 0) -> None:
        """Hands markers over, as in Recording.from_arrays."""
        made = _markers(markers)
        self._until_taken(lambda error: lib.sf_live_mark(self._open(), source, pointer_to(made, c.sf_marker), len(made), error))

    def _push(self, spikes: Array, watermark: int, source: int) -> None:
        self._until_taken(lambda error: lib.sf_live_push(self._open(), source, pointer_to(spikes, c.sf_spike), len(spikes),
                                                         watermark, error))

    def _until_taken(self, give: Any) -> None:
        error = c.sf_error()
        while True:
            status = check(give(ctypes.byref(error)), error)
            if status == c.SF_END:
                self.close()  # says why, where it failed
                raise UsageError("the run has ended")
            if status != c.SF_AGAIN:
                return
            if self._taking.acquire(blocking=False):  # else another thread takes messages
                try:
                    self._waiting.extend(self._take_all())
                finally:
                    self._taking.release()
            time.sleep(0.0005)

    # ---- out ----

    def _expect(self) -> None:
        """Room for the next message, which that one keeps."""
        self._next_pointer = ctypes.POINTER(c.sf_message)()
        self._to_next = ctypes.byref(self._next_pointer)

    def _next(self, timeout_ms: int) -> Message | None:
        """The next message of the run; None where none came. Notes the end."""
        status = lib.sf_live_next(self._open(), self._to_next, timeout_ms, self._to_error)
        if status == c.SF_AGAIN:
            return None
        check(status, self._error)
        self._ended = self._ended or status == c.SF_END
        if status != c.SF_OK:
            return None
        message = Message(self, self._next_pointer)
        self._expect()
        self._messages.add(message)
        return message

    def _take_all(self) -> Iterator[Message]:
        while True:
            message = self._next(0)
            if message is None:
                return
            yield message

    def next(self, timeout: float | None = None) -> Message | None:
        """The next message; None where none comes within `timeout` seconds, or none will. Without one it waits."""
        if timeout == 0 and not self._waiting and not self._ended and self._pointer:
            with self._taking:
                message = self._next(0)
            if message is None:
                drain_log()
            return message
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._taking:
                if self._waiting:
                    return self._waiting.popleft()
                left = 0.1 if until is None else min(0.1, max(0.0, until - time.monotonic()))
                message = None if self._ended or not self._pointer else self._next(int(left * 1000))  # Ctrl-C between
            if message is not None:
                return message
            drain_log()
            if self._ended or not self._pointer or (until is not None and time.monotonic() >= until):
                return None

    def poll(self) -> Iterator[Message]:
        """The messages that are there now."""
        while True:
            message = self.next(0)
            if message is None:
                return
            yield message

    def __iter__(self) -> Iterator[Message]:
        """Every message until the run ends; `finish` ends it."""
        while True:
            message = self.next()
            if message is None:
                return
            yield message

    def feed(self, recording: Recording, *, step: int = 4096, source: int = 0) -> Iterator[Message]:
        """Pushes a recording, ends, and gives all messages on the way.

        With `virtual_clock` it is as fast as possible, and the messages are always the same.
        """
        spikes = recording.spikes
        for start in range(0, len(spikes), step):
            part = spikes[start:start + step]
            self._push(part, int(part[-1]["time_ns"]), source)
            yield from self.poll()
        self.end(source)
        self.finish()
        yield from self

    def unit_name(self, unit: int) -> str | None:
        """The name of a unit in the run's own numbering."""
        return text_or_none(lib.sf_live_unit_name(self._open(), unit))

    # ---- the end ----

    def finish(self) -> None:
        """No source goes on: what was pushed is worked off, and iterating gives what comes of it and then ends."""
        lib.sf_live_finish(self._open())

    def close(self) -> None:
        """Ends the run. The first failure of it, if any, is raised."""
        if not self._pointer:
            return
        for message in list(self._messages):
            message.fields  # as long as the run can tell
        pointer, self._pointer = self._pointer, ctypes.POINTER(c.sf_live)()
        error = c.sf_error()
        status = lib.sf_live_close(pointer, ctypes.byref(error))
        drain_log()
        check(status, error)

    def _open(self) -> Any:
        if not self._pointer:
            raise UsageError("the run is closed")
        return self._pointer

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.close()
        except Exception:
            if kind is None:  # else what went wrong inside is told
                raise

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            lib.sf_live_close(self._pointer, None)


def live(units: Any = None, *, track: Sequence[str] | str = (), watch: Sequence[str] | str = (),
         sources: Sequence[Mapping[str, Any]] | None = None, virtual_clock: bool = False,
         topics: Sequence[str] | None = None, **options: Any) -> Live:
    """Opens a live run: counts in a sliding window, triggers, the connectivity graph, densities, while spikes come.

    `units` are names, mappings with name, x_um and y_um, or a Recording whose units they are; `sources` instead where
    there are several, each a mapping with units, name, ring, policy, virtual_clock. `track` are episodes that are
    counted at every hop, `watch` those that trigger the moment they complete (`triggers` have names and conditions). `virtual_clock`: time is what the spikes
    say, and the results are always the same. `topics`: only messages of these. All else is as struct sf_live_options
    of include/synfire/live.h has it, its groups as mappings:

    >>> with live(["A", "B"], watch="A -(0,5]-> B", window={"length_s": 1, "hop_s": 1}, mine={"every": 0},
    ...           virtual_clock=True, topics=["trigger"]) as run:
    ...     run.push([0.100, 0.103], [0, 1])
    ...     run.finish()
    ...     for message in run:
    ...         print(message.topic, message["spike_times_ns"])
    trigger [100000000, 103000000]
    """
    struct = options_of(c.sf_live_options)
    if topics is not None:
        unknown = [topic for topic in topics if topic not in _TOPICS]
        if unknown:
            raise UsageError(f"found {unknown[0]!r}, expected {', '.join(_TOPICS)}", "topics")
        struct.topics = sum(1 << _TOPICS.index(topic) for topic in set(topics))
    for name in ("on_trigger", "user", "motif_new", "topics", "sources"):
        if name in options:
            raise UsageError("is not an option here", name)
    _fill(struct, {"track": track, "watch": watch, **options})
    made = _sources(units, sources, virtual_clock)
    struct.sources, struct.source_count = made, len(made)
    return Live(struct)


__all__ = ["Live", "Message", "live"]
