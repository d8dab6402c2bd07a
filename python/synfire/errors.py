# SPDX-License-Identifier: Apache-2.0
"""What can go wrong: the library's sentence, and the class by what kind of failure it is."""
from __future__ import annotations

from . import _declarations as c

__all__ = ["Cancelled", "CannotCreate", "ConfigurationError", "DataError", "Error", "InputOutputError", "InternalError",
           "NoInput", "NoMemory", "Unavailable", "UsageError"]


class Error(Exception):
    """The base of all that the library refuses or fails at.

    `code` is the library's status, `place` the file, option or key where something is wrong ("" where there is none)
    and `text` one sentence: what was found and what was expected.
    """

    code = c.SF_INTERNAL

    def __init__(self, text: str, place: str = "") -> None:
        super().__init__(f"{place}: {text}" if place else text)
        self.text = text
        self.place = place


class UsageError(Error, ValueError):
    """An argument or option is wrong."""

    code = c.SF_USAGE


class DataError(Error, ValueError):
    """Input is damaged, or not what it should be."""

    code = c.SF_DATA


class NoInput(Error, OSError):
    """Input cannot be opened."""

    code = c.SF_NO_INPUT


class Unavailable(Error, RuntimeError):
    """A service, a device or a part of the library that is needed is missing."""

    code = c.SF_UNAVAILABLE


class NoMemory(Error, MemoryError):
    """There was no memory for it."""

    code = c.SF_NO_MEMORY


class Cancelled(Error):
    """A progress function returned False."""

    code = c.SF_CANCELLED


class CannotCreate(Error, OSError):
    """Output cannot be created."""

    code = c.SF_CANNOT_CREATE


class InputOutputError(Error, OSError):
    """Reading or writing failed."""

    code = c.SF_IO


class ConfigurationError(Error, ValueError):
    """An option of a live run is wrong."""

    code = c.SF_CONFIG


class InternalError(Error, RuntimeError):
    """A defect of synfire."""

    code = c.SF_INTERNAL


_BY_CODE: dict[int, type[Error]] = {
    kind.code: kind for kind in (UsageError, DataError, NoInput, Unavailable, NoMemory, Cancelled, CannotCreate,
                                 InputOutputError, ConfigurationError, InternalError)}


def of_status(status: int, text: str, place: str) -> Error:
    """The exception for what a function of the library returned."""
    return _BY_CODE.get(status, InternalError)(text or f"status {status}", place)
