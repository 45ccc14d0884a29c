"""Stands in for the usual sources of chance, so that `tempera check` can take every decision of a sampler as it is.

Import it before the sampler: it replaces the functions of `random`, and serve() those of `numpy.random` and `torch` where
the sampler has imported them. A categorical draw asks tempera for a winner. A uniform is an interval that is split exactly where the
program compares it (tempera_check.lazy.Real). Then `serve(step)` speaks the protocol of docs/check_protocol.md, where
step(model, state) is one step of the sampler; `model` is a tempera_check.Model.
"""
import json
import math
import sys
from fractions import Fraction

from . import lab, stand_ins
from .lazy import Real, uniform

__all__ = ["Model", "Real", "serve", "uniform"]


class Model:
    """The finite model that stands in for the language model. Prefixes are lists of token numbers."""

    def __init__(self, case):
        self.vocabulary = case["vocabulary"]
        self.terminal = case["terminal"]
        self.horizon = case["horizon"]
        self.powers = [float(Fraction(power)) for power in case["powers"]]

    def fractions(self, prefix):
        """p0(. | prefix), exactly."""
        return [Fraction(p) for p in lab.ask({"next": list(prefix)})["p"]]

    def probabilities(self, prefix):
        """p0(. | prefix) as doubles."""
        return [float(p) for p in self.fractions(prefix)]

    def logits(self, prefix):
        """log p0(. | prefix) as doubles, -inf for probability 0."""
        return [-math.inf if x is None else x for x in lab.ask({"logits": list(prefix)})["logits"]]

    def is_ended(self, record):
        """Whether a record has its terminal token or T tokens."""
        return len(record) >= self.horizon or bool(record) and record[-1] in self.terminal


def serve(step):
    """Runs step(model, state) for every state that tempera asks for, until it asks no more."""
    stand_ins.install()  # in what has been imported since
    model = Model(json.loads(lab.lines.readline()))
    for line in lab.lines:
        state = json.loads(line)["state"]
        lab.write({"end": [[int(t) for t in r] if isinstance(r, (list, tuple)) else int(r) for r in step(model, state)]})


# What the program prints must not run between the lines.
lab.lines, lab.out = sys.stdin, sys.stdout
sys.stdout = sys.stderr
stand_ins.install()
