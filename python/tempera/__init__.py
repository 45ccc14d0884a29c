"""Parallel Power Tempering for language models.

    import tempera

    model = tempera.Model.open("smollm2")
    for answer in model.sample("The capital of France is", powers=[1, 2, 4], horizon=28, samples=4, seed=1):
        print(answer.text, answer.log_p0)

`tempera.tempering` finds ladders, `tempera.coupling` bounds how far a run is from its target, `tempera.exact`, `tempera.law` and `tempera.check` compute laws in fractions, and
`tempera.eval` grades benchmarks.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tempera.errors import BadInput, Bug, DeviceError, Error, ModelError

if TYPE_CHECKING:
    __version__: str
    from tempera import check, coupling, diagnostics, exact, law, partition, tempering
    from tempera.model import Acceptance, Answer, Model, RungRecord, Scores
    from tempera.native import set_threads
    from tempera.run_folder import RunFolder
    from tempera.server import Server
    from tempera.session import Session

__all__ = [
    "Acceptance", "Answer", "BadInput", "Bug", "DeviceError", "Error", "Model", "ModelError", "RunFolder", "RungRecord",
    "Scores", "Server", "Session", "check", "coupling", "diagnostics", "exact", "law", "partition", "set_threads", "tempering",
]  # fmt: skip

# What is opened when it is first asked for, and where it is: tempera.eval can grade without the compiled halves, and
# who samples does without the one that links GMP.
_PLACES = {
    "Acceptance": "model", "Answer": "model", "Model": "model", "RungRecord": "model", "Scores": "model",
    "RunFolder": "run_folder", "Server": "server", "Session": "session", "set_threads": "native",
}  # fmt: skip
_MODULES = ("check", "coupling", "diagnostics", "exact", "law", "partition", "tempering")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("tempera.native").compiled_half("_tempera").version()
    if name in ("_exact", "_tempera"):
        return importlib.import_module("tempera.native").compiled_half(name)
    if name in _PLACES:
        return getattr(importlib.import_module(f"tempera.{_PLACES[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"tempera.{name}")
    raise AttributeError(f"module 'tempera' has no attribute {name!r}")
