# SPDX-License-Identifier: Apache-2.0
"""How timing and places of spikes are distributed: bandwidths, densities, and answers from a density."""
from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _declarations as c
from ._library import (Array, Handle, Progress, Watch, call, columns_of, lib, options_of, path_of, pointer_to, text_of,
                       text_or_none, view, word, work, work_with)
from .episodes import EpisodeLike, raw_episode
from .errors import DataError, UsageError
from .recording import Recording, nanoseconds

if TYPE_CHECKING:
    import matplotlib.axes

_DOMAINS = {"linear": c.SF_DOMAIN_LINE, "log": c.SF_DOMAIN_LOG, "reflect": c.SF_DOMAIN_REFLECT}


# ---- samples ----

class _Series:
    """The samples of one or more series."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.columns = columns_of(c.sf_series_columns, lib.sf_series_get_columns, handle)

    @property
    def count(self) -> int:
        return int(self.columns.count)


def _series(samples: Any, quantity: str | None, episode: EpisodeLike | None, window: float) -> _Series:
    handle = Handle(c.sf_series, lib.sf_series_free)
    if isinstance(samples, Recording):
        if quantity is None:
            raise UsageError("expected isi, delay, rate or position of a recording", "quantity")
        raw = None if episode is None else ctypes.byref(raw_episode(samples, episode))
        if quantity == "delay" and raw is None:
            raise UsageError("delay needs an episode", "episode")
        call(lib.sf_series_of_recording, handle.out, samples._handle.pointer, word("sf_quantity", quantity),
             raw, nanoseconds(window), None)
        return _Series(handle)
    if quantity is not None or episode is not None:
        raise UsageError("is for recordings", "quantity")
    if isinstance(samples, (str, os.PathLike)):
        call(lib.sf_series_open, handle.out, path_of(samples))
        return _Series(handle)
    values = np.ascontiguousarray(samples, np.float64)
    if values.ndim not in (1, 2):
        raise UsageError(f"found {values.ndim} dimensions, expected n numbers or n rows of d", "samples")
    d = 1 if values.ndim == 1 else values.shape[1]
    call(lib.sf_series_new, handle.out, pointer_to(values, ctypes.c_double), len(values), d)
    return _Series(handle)


# ---- bandwidths and densities ----

@dataclass(frozen=True)
class Aggregate:
    """An answer from a density, beside that from the samples."""

    estimate: float
    sampling_error: float
    smoothing_error: float
    exact: float
    share: float


class Density:
    """The density of one series of samples with Gaussian kernels, and how its bandwidth was found.

    `h` is in the unit of the samples (of their logarithm in the domain "log"), of several columns the factor of the
    covariance root. `x`, `values` (and of two columns `y`) are there where it was evaluated. Of several series one
    may have no bandwidth: then `h` is NaN, and `error` says why.
    """

    def __init__(self, series: _Series, place: int, method: str, options: Any, progress: Progress) -> None:
        told = series.columns
        self.name = text_of(told.names[place]) or None
        self._place = place
        self.unit: int | None = told.units[place] if told.units and told.units[place] >= 0 else None
        self.n = int(told.first[place + 1] - told.first[place])
        self.d = int(told.d)
        self.method = method
        self.error: str | None = None
        self.domain = next(name for name, value in _DOMAINS.items() if value == options.domain)
        self._series = series
        self._handle = Handle(c.sf_density, lib.sf_density_free, series.handle)
        watch = Watch(progress)
        options.progress = watch.pointer
        try:
            work_with(watch, lib.sf_density_find, self._handle.out, series.handle.pointer, place, ctypes.byref(options))
        except DataError as refused:
            if series.count == 1:
                raise
            self.error = refused.text
        finally:
            options.progress = None
        self._read()

    def _read(self) -> None:
        self._columns = (columns_of(c.sf_density_columns, lib.sf_density_get_columns, self._handle) if self._handle
                         else c.sf_density_columns(h=math.nan, h_relative=math.nan, h0=math.nan, objective=math.nan,
                                                   outside=math.nan))

    def __repr__(self) -> str:
        of = f" of {self.name}" if self.name else ""
        return f"<Density{of}: {self.n} samples, h {self.h:.6g} ({self.method})>"

    @property
    def samples(self) -> Array:
        """What it is the density of: n numbers, or n rows of d."""
        told = self._series.columns
        whole = view(told.values, (int(told.first[self._series.count]), self.d), self._series.handle)
        first = int(told.first[self._place])
        rows: Array = whole[first:first + self.n]
        return rows[:, 0] if self.d == 1 else rows

    @property
    def h(self) -> float:
        """As found; once evaluated as it was evaluated with, no less than the clock's step."""
        return float(self._columns.h if self.values is None else max(self._columns.h, self._columns.h_least))

    @property
    def h_relative(self) -> float:
        """The kernel's covariance is h_relative^2 times that of the samples."""
        return float(self._columns.h_relative)

    @property
    def h0(self) -> float:
        return float(self._columns.h0)

    @property
    def objective(self) -> float:
        """What the method minimised; NaN where it minimises nothing."""
        return float(self._columns.objective)

    @property
    def at_edge(self) -> bool:
        """The lowest score lies at the edge of the range that was searched."""
        return bool(self._columns.at_edge)

    @property
    def note(self) -> str | None:
        """What one must know of this bandwidth."""
        return text_or_none(self._columns.note)

    @property
    def minima(self) -> list[tuple[float, float]]:
        """Local minima: bandwidth and score."""
        return [(self._columns.minimum_h[i], self._columns.minimum_score[i])
                for i in range(int(self._columns.minimum_count))]

    @property
    def curve(self) -> Array | None:
        """Bandwidths and scores that the method looked at, a row each, where asked for."""
        if not self._columns.curve_h:
            return None
        return np.column_stack([view(pointer, int(self._columns.curve_count), self._handle)
                                for pointer in (self._columns.curve_h, self._columns.curve_score)])

    @property
    def device(self) -> str:
        return text_of(self._columns.ran.device)

    @property
    def seconds(self) -> float:
        return float(self._columns.ran.seconds)

    @property
    def x(self) -> Array | None:
        return view(self._columns.x, int(self._columns.x_count), self._handle)

    @property
    def y(self) -> Array | None:
        return view(self._columns.y, int(self._columns.y_count), self._handle)

    @property
    def values(self) -> Array | None:
        """At each x; of two columns a row for each y. Per unit of the axis: of the logarithm in the domain "log"."""
        rows, columns = int(self._columns.y_count), int(self._columns.x_count)
        return view(self._columns.values, (rows, columns) if rows else columns, self._handle)

    @property
    def outside(self) -> float:
        """The share that lies outside the points."""
        return float(self._columns.outside)

    def aggregate(self, op: str, low: float | Sequence[float], high: float | Sequence[float], *,
                  progress: Progress = None) -> Aggregate:
        """COUNT, SUM, AVERAGE or VARIANCE of the samples between `low` and `high`, from the density."""
        from_, to = (np.ascontiguousarray(np.atleast_1d(bound), np.float64) for bound in (low, high))
        answer = options_of(c.sf_aggregate)
        if not self._handle:
            raise UsageError(self.error or "has no bandwidth")
        work(lib.sf_density_aggregate, self._handle.pointer, word("sf_aggregate_kind", op),
             pointer_to(from_, ctypes.c_double), pointer_to(to, ctypes.c_double), len(from_), ctypes.byref(answer),
             progress=progress)
        return Aggregate(answer.estimate, answer.sampling_error, answer.smoothing_error, answer.exact, answer.share)

    def plot(self, axes: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draws it with matplotlib: a curve, or of two columns a map."""
        import matplotlib.pyplot as plt
        axes = axes if axes is not None else plt.gca()
        if self.values is None or self.x is None:
            raise UsageError("was not evaluated: take it from synfire.density")
        if self.y is not None:
            axes.pcolormesh(self.x, self.y, self.values)
        else:
            axes.plot(self.x, self.values, label=self.name)
            if self.domain == "log":
                axes.set_xscale("log")
        return axes


def _find(series: _Series, method: str | float | None, domain: int, exact: bool, curve: bool, device: str | None,
          threads: int, progress: Progress) -> tuple[list[Density], Any]:
    given = isinstance(method, (int, float, np.number)) and not isinstance(method, bool)
    options = options_of(c.sf_density_options, domain=domain, exact=exact, curve=curve, device=device, threads=threads,
                         h=float(method or 0) if given else None, method=None if given else method)
    if given and not options.h > 0:
        raise UsageError(f"found {method}, expected more than 0", "bandwidth")
    call(lib.sf_density_find, ctypes.byref(ctypes.POINTER(c.sf_density)()), None, 0, ctypes.byref(options))
    told = "given" if given else str(method or ("isj" if series.columns.d == 1 else "silverman"))
    return [Density(series, i, told, options, progress) for i in range(series.count)], options


def _domain(name: str | None, otherwise: int) -> int:
    if name is None:
        return otherwise
    if name not in _DOMAINS:
        raise UsageError(f"found {name!r}, expected {', '.join(_DOMAINS)}", "domain")
    return _DOMAINS[name]


@overload
def bandwidth(samples: Recording, *, quantity: str, episode: EpisodeLike | None = ..., window: float = ...,
              method: str | None = ..., domain: str | None = ..., exact: bool = ..., curve: bool = ...,
              device: str | None = ..., threads: int = ..., progress: Progress = ...) -> list[Density]: ...
@overload
def bandwidth(samples: Any, *, method: str | None = ..., domain: str | None = ..., exact: bool = ..., curve: bool = ...,
              device: str | None = ..., threads: int = ..., progress: Progress = ...) -> Density: ...


def bandwidth(samples: Any, *, quantity: str | None = None, episode: EpisodeLike | None = None, window: float = 1.0,
              method: str | None = None, domain: str | None = None, exact: bool = False, curve: bool = False,
              device: str | None = None, threads: int = 0, progress: Progress = None) -> Density | list[Density]:
    """The kernel bandwidth of samples: numbers, n rows of d, or the path of a file of them.

    Of a Recording, a list: the `quantity` "isi" (s) or "rate" (Hz in windows of `window` s) of each unit, "delay" (s)
    of each link of `episode`, or "position" (um) of all spikes. `method` is isj, plugin, lscv, lscv-paper, silverman
    or scott; `domain` "linear", "log" or "reflect".

    >>> import numpy as np
    >>> found = bandwidth(np.random.default_rng(1).normal(size=1000), method="silverman")
    >>> round(found.h, 3), found.n
    (0.263, 1000)
    """
    series = _series(samples, quantity, episode, window)
    found, _ = _find(series, method, _domain(domain, c.SF_DOMAIN_LINE), exact, curve, device, threads, progress)
    return found if isinstance(samples, Recording) else found[0]


@overload
def density(samples: Recording, bandwidth: float | str | None = ..., *, quantity: str, episode: EpisodeLike | None = ...,
            window: float = ..., grid: Any = ..., domain: str | None = ..., exact: bool = ..., device: str | None = ...,
            threads: int = ..., progress: Progress = ...) -> list[Density]: ...
@overload
def density(samples: Any, bandwidth: float | str | None = ..., *, grid: Any = ..., domain: str | None = ...,
            exact: bool = ..., device: str | None = ..., threads: int = ..., progress: Progress = ...) -> Density: ...


def density(samples: Any, bandwidth: float | str | None = None, *, quantity: str | None = None,
            episode: EpisodeLike | None = None, window: float = 1.0, grid: Any = None, domain: str | None = None,
            exact: bool = False, device: str | None = None, threads: int = 0,
            progress: Progress = None) -> Density | list[Density]:
    """The density of samples (as of `bandwidth`) at points: those of several series at the same ones.

    `bandwidth` is a number or a method. `grid` is (from, to, points), of two columns two of these; a number of points
    at most; or None: wherever there are samples. Without a `domain` that of the quantity: intervals are on a
    logarithmic axis.
    """
    series = _series(samples, quantity, episode, window)
    found, options = _find(series, bandwidth, _domain(domain, int(series.columns.domain)), exact, False, device, threads,
                           progress)
    axes = () if grid is None or np.isscalar(grid) else (grid,) if np.isscalar(grid[0]) else tuple(grid)
    if len(axes) > 2 or (axes and len(axes) != int(series.columns.d)):
        raise UsageError(f"found {len(axes)} axes for {int(series.columns.d)} columns", "grid")
    if grid is not None and not axes:
        options.most_points = int(grid)
    options.axis_count = len(axes)
    for i, (low, high, points) in enumerate(axes):
        options.from_[i], options.to[i], options.point_count[i] = low, high, int(points)
    evaluated = [one for one in found if one._handle]
    handles = (ctypes.POINTER(c.sf_density) * len(evaluated))(*(one._handle.pointer for one in evaluated))
    if evaluated:
        watch = Watch(progress)
        options.progress = watch.pointer
        work_with(watch, lib.sf_density_evaluate, handles, len(evaluated), ctypes.byref(options))
    for one in evaluated:
        one._read()
    return found if isinstance(samples, Recording) else found[0]
