"""Judges samplers as they are: stands in for Python's sources of chance, so that every decision can be taken in turn.

    PYTHONPATH=python tempera check --program "python3 -m tempera_check my_sampler.py:step"

needs no line of this package in the sampler; `serve(step)` is the same from within a program. `law(f)` gives the exact
law of what f() returns, in this process. What is imported first does not matter. docs/howto/check_protocol.md says the rest.
"""
import os

from .lab import merge
from .law import law
from .lazy import Real, uniform
from .model import Model
from .serving import keep_output, serve

__all__ = ["CausalLM", "Model", "Real", "Tokenizer", "law", "merge", "serve", "uniform"]

if os.environ.get("TEMPERA_CHECK"):  # set by `tempera check` for the program that it starts
    keep_output()


def __getattr__(name):
    if name in ("CausalLM", "Tokenizer"):
        from . import of_transformers  # which imports torch and transformers

        return getattr(of_transformers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
