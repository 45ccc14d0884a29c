"""Judging a sampler of your own, in Python: its exact law, a verdict, and the smallest counterexample; and judging a model.

A kernel that draws through a `Lottery` is judged in this process:

    from tempera import check, exact

    def step(case, state, lottery):
        (record,) = state                       # one record for each power of the case
        ...
        if lottery.happens(probability): ...    # every random decision goes through the lottery
        return [record]

    verdict = check.judge(step, exact.FiniteModel.open("toy_models/four_state.json"), horizon=2, powers=[2])
    assert verdict.sound, verdict.explanation

The step is run again for every outcome of every decision, from every state, so its law is known in fractions.

A sampler that draws by `random`, NumPy or torch is judged as it is: Python's sources of chance are replaced, so that every
decision can be taken in turn.

    PYTHONPATH=python tempera check --program "python3 -m tempera.check my_sampler.py:step"

needs no line of this package in the sampler; `serve(step)` is the same from within a program. `law(f)` gives the exact
law of what f() returns, in this process. What is imported first does not matter. docs/howto/check_protocol.md says the rest.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from tempera.check import own_code
from tempera.check.finite_model import Model
from tempera.check.lab import merge
from tempera.check.law import law
from tempera.check.lazy import Real, uniform
from tempera.check.serving import keep_output, serve

if TYPE_CHECKING:
    from tempera.check.judging import Case, Failure, Lottery, Record, State, Step, Verdict, fault, judge, model, shrink
    from tempera.check.of_transformers import CausalLM, Tokenizer

__all__ = [
    "Case", "CausalLM", "Failure", "Lottery", "Model", "Real", "Record", "State", "Step", "Tokenizer", "Verdict", "fault",
    "judge", "law", "merge", "model", "serve", "shrink", "uniform",
]  # fmt: skip

# These are imported when they are first asked for: of_transformers imports torch, and judging the compiled half.
_PLACES = {"CausalLM": "of_transformers", "Tokenizer": "of_transformers"}

if os.environ.get("TEMPERA_CHECK"):  # set by `tempera check` for the program that it starts
    keep_output()
    own_code.import_from_text()
    own_code.refuse_stale()


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module(f"tempera.check.{_PLACES.get(name, 'judging')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
