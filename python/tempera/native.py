"""The compiled half that computes on a device: `_tempera` on the host, `_tempera_cuda` on a GPU."""

from __future__ import annotations

import importlib
import os
import re
import warnings
from typing import Any

from tempera.errors import BadInput, DeviceError, shown
from tempera.wishes import whole


def native(device: str | None = None) -> Any:
    """The extension for "host", "cuda" or "cuda:N", loaded when it is first asked for.

    Raises BadInput if the device is not known, and DeviceError if this package was built without kernels for it.
    """
    if device is not None and not (isinstance(device, str) and re.fullmatch("host|cuda(:[0-9]{1,9})?", device)):
        raise BadInput("device", f"{shown(device)} is not known", 'give "host", "cuda" or "cuda:N"')
    if device is None or device == "host":
        return _module("_tempera")
    try:
        return _module("_tempera_cuda")
    except ModuleNotFoundError:
        raise DeviceError(
            f"device {device}: this package was built without kernels for CUDA; put nvcc on the path and build it again "
            "(docs/howto/python.md), or leave it out: the host gives the same bits"
        ) from None


def compiled_half(name: str) -> Any:
    """The extension `_tempera` or `_exact`. Raises ImportError, with one line, where this package is a source tree's."""
    try:
        return importlib.import_module(f"tempera.{name}")
    except ModuleNotFoundError:
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        raise ImportError(
            f"tempera: the package in {folder} has no compiled half {name}; run pip install . in its source tree, and "
            f"leave {folder} out of PYTHONPATH"
        ) from None


#: The extensions that know the template engine and what os.fork calls.
_ready: dict[str, Any] = {}


def _module(name: str) -> Any:
    whole_name = f"tempera.{name}"
    # Not sys.modules: compiled_half, which tells the version, loads the module and no more.
    if name in _ready:
        return _ready[name]
    module = compiled_half(name) if name == "_tempera" else importlib.import_module(whole_name)
    module.use_template_engine(_rendered, warnings.warn)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=module.wait_for_turns,
            after_in_parent=lambda: module.forked(False),
            after_in_child=lambda: module.forked(True),
        )
    _ready[name] = module
    return module


def _rendered(task: str) -> str:
    """Answers a task of the compiled half by Jinja2, in this process."""
    from tempera.template_engine import answer

    try:
        return answer(task)
    except ModuleNotFoundError:
        raise BadInput("the chat template", "is rendered by Jinja2, which is not installed", "pip install jinja2") from None


def set_threads(threads: int | None) -> None:
    """The most threads of this machine that sampling and scoring take; None for all. No result depends on it."""
    native().set_threads(None if threads is None else whole("threads", threads, 1, 2**16))
