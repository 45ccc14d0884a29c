"""The compiled half that computes on a device: `_tempera` on the host, `_tempera_cuda` on a GPU."""

from __future__ import annotations

import importlib
import re
from typing import Any

from tempera.errors import BadInput, DeviceError


def native(device: str | None = None) -> Any:
    """The extension for "host", "cuda" or "cuda:N", loaded when it is first asked for.

    Raises BadInput if the device is not known, and DeviceError if this package was built without kernels for it.
    """
    if device is not None and not re.fullmatch("host|cuda(:[0-9]+)?", device):
        raise BadInput("device", f'"{device}" is not known', 'give "host", "cuda" or "cuda:N"')
    if device is None or device == "host":
        return importlib.import_module("tempera._tempera")
    try:
        return importlib.import_module("tempera._tempera_cuda")
    except ModuleNotFoundError:
        raise DeviceError(
            f"device {device}: this package was built without kernels for CUDA; put nvcc on the path and build it again "
            "(docs/python.md), or leave it out: the host gives the same bits"
        ) from None


def set_threads(threads: int | None) -> None:
    """The most threads of this machine that sampling and scoring take; None for all. It changes no bit."""
    if threads is not None and not (isinstance(threads, int) and threads > 0):
        raise BadInput("threads", f"{threads!r} is no number of threads", "give at least 1, or None for all")
    native().set_threads(threads)
