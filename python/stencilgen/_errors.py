"""Exceptions: one for each status of the library, with the library's text."""

from __future__ import annotations

from . import _abi


class Error(Exception):
    """What every error of stencilgen is. `status` is the name of the C library's status, "SG_ERROR_SPEC"."""

    status = "SG_ERROR_USAGE"


class CheckError(Error, AssertionError):
    """A kernel's result is wrong. `result` has the numbers."""

    status = "SG_ERROR_CHECK"
    result: object = None


class UsageError(Error, ValueError):
    """An argument or an option."""

    status = "SG_ERROR_USAGE"


class SpecError(Error, ValueError):
    """The spec; the text begins with file:line."""

    status = "SG_ERROR_SPEC"


class PlanError(Error, ValueError):
    """The schedule cannot serve the spec; the text says why."""

    status = "SG_ERROR_PLAN"


class DataError(Error, ValueError):
    """A data file or an array."""

    status = "SG_ERROR_DATA"


class FileError(Error, OSError):
    """A file cannot be read or written."""

    status = "SG_ERROR_IO"


class DeviceError(Error, RuntimeError):
    """The driver or the device."""

    status = "SG_ERROR_DEVICE"


class CompilerError(Error, RuntimeError):
    """NVRTC or the host's compiler; the text holds its log."""

    status = "SG_ERROR_COMPILER"


class OutOfMemoryError(Error, MemoryError):
    """Host memory."""

    status = "SG_ERROR_MEMORY"


_classes: tuple[type[Error], ...] = (
    CheckError, UsageError, SpecError, PlanError, DataError, FileError, DeviceError, CompilerError, OutOfMemoryError,
)  # fmt: skip
_by_status = {_abi.VALUES[c.status]: c for c in _classes}


def error_of(status: int, context: int | None) -> Error:
    """The exception of a failed call, with this thread's text."""
    text = _abi.lib.sg_error(context).decode() if context else ""
    text = text.removeprefix("error: ") or _abi.lib.sg_status_name(status).decode()
    return _by_status.get(status, Error)(text)
