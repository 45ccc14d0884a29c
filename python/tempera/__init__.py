"""Parallel Power Tempering for language models.

    import tempera

    model = tempera.Model.open("smollm2")
    for answer in model.sample("4+7+9?", powers=[1, 2, 4], horizon=28, samples=4, seed=1):
        print(answer.text, answer.log_p0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tempera.errors import BadInput, Bug, DeviceError, Error, ModelError

if TYPE_CHECKING:
    from tempera.model import Acceptance, Answer, Model, Scores

__all__ = ["Acceptance", "Answer", "BadInput", "Bug", "DeviceError", "Error", "Model", "ModelError", "Scores"]


def __getattr__(name: str) -> Any:
    # The compiled half is opened when it is first asked for: tempera.eval can grade without it.
    if name in ("Acceptance", "Answer", "Model", "Scores"):
        from tempera import model

        return getattr(model, name)
    raise AttributeError(f"module 'tempera' has no attribute {name!r}")
