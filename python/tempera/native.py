"""The compiled half that computes on a device: `_tempera` on the host, `_tempera_cuda` on a GPU."""

from __future__ import annotations

import importlib
from typing import Any

from tempera.errors import BadInput


def native(device: str | None = None) -> Any:
    """The extension for "host" or "cuda", loaded when it is first asked for. Raises BadInput if it is not there."""
    if device not in (None, "host", "cuda"):
        raise BadInput("device", f'"{device}" is not known', 'give "host" or "cuda"')
    if device != "cuda":
        return importlib.import_module("tempera._tempera")
    try:
        return importlib.import_module("tempera._tempera_cuda")
    except ModuleNotFoundError:
        raise BadInput(
            "device", "this wheel has no kernels for CUDA", "build it where nvcc and a GPU are, with pip install ."
        ) from None


def set_threads(threads: int | None) -> None:
    """The most threads of this machine that sampling and scoring take; None for all. It changes no bit."""
    if threads is not None and not (isinstance(threads, int) and threads > 0):
        raise BadInput("threads", f"{threads!r} is no number of threads", "give at least 1, or None for all")
    native().set_threads(threads)
